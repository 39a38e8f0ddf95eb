"""Anything that forecasts as an expert: learners, estimators, functions, names, all at once."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier, SGDRegressor

import noregret as nr
from noregret.errors import NotLearnedError
from pools import bits_of, state

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = (X @ [0.5, -0.3, 0.0, 0.2] + 0.2 * RNG.normal(size=60)).clip(-1.5, 1.5)
ROWS = [dict(zip("abcd", x)) for x in X.tolist()]
LATE = [  # a feature comes in round 20, another leaves in round 40
    {k: v for k, v in x.items() if (k != "d" or t >= 20) and (k != "a" or t < 40)}
    for t, x in enumerate(ROWS)
]


def total(x: Any) -> float:
    return float(sum(x.values() if isinstance(x, dict) else x))


def shy(x: Any) -> float | None:
    """Speaks only now and then."""
    said = total(x)
    return said if said > 0.0 else None


def zero(_: Any) -> float:
    return 0.0


def sgd() -> SGDRegressor:
    return SGDRegressor(random_state=0)


OURS = [nr.AAR(0.3), nr.Ridge(2.0, clip=1.0), nr.BayesianRidge(drift=0.01, fit_intercept=True)]
POOLS: dict[str, Callable[[], Any]] = {
    "ours": lambda: nr.AggregatingAlgorithm(OURS, outcome_range=1.5),
    "learned range": lambda: nr.AggregatingAlgorithm(OURS, share=0.01),
    "kernels": lambda: nr.AggregatingAlgorithm([nr.AAR(kernel="rbf"), nr.Ridge()], prior=[1, 2]),
    "functions": lambda: nr.AggregatingAlgorithm([total, shy, zero], outcome_range=(-2, 3)),
    "mean": lambda: nr.ExponentialWeights([nr.Ridge(clip=1.0), zero], outcome_range=2.0),
    "nested": lambda: nr.AggregatingAlgorithm(
        {"one": nr.AggregatingAlgorithm(OURS, outcome_range=1.5), "other": nr.AAR(9.0)}
    ),
    "bayes": lambda: nr.BayesianAlgorithm(
        nr.over(nr.BayesianRidge, prior_precision=[0.1, 3.0], noise_var=[0.01, 0.1])
    ),
}
BY_POSITION: dict[str, Callable[[], Any]] = {
    "scikit-learn": lambda: nr.AggregatingAlgorithm([sgd(), nr.AAR()], outcome_range=1.5),
    "names": lambda: nr.AggregatingAlgorithm(["p", "q", "r", "s"], outcome_range=1.5),
    "mixed": lambda: nr.AggregatingAlgorithm(
        {"aar": nr.AAR(), "sgd": sgd(), "shy": shy, "said": "said"}, share=0.05
    ),
}


def loop(pool: Any, rows: Any, y: np.ndarray) -> np.ndarray:
    forecasts = []
    for x, outcome in zip(rows, y.tolist(), strict=True):
        forecasts.append(pool.predict_one(x))
        pool.learn_one(x, outcome)
    return np.array(forecasts)


@pytest.mark.parametrize("make", [*POOLS.values(), *BY_POSITION.values()])
def test_replay_is_the_loop(make: Callable[[], Any]) -> None:
    replayed, looped = make(), make()
    result = replayed.replay(X[:40], Y[:40])
    again = replayed.replay(X[40:], Y[40:])
    said = loop(looped, X, Y)
    assert_allclose(result.forecast, said[:40], rtol=1e-12, atol=1e-12)
    assert_allclose(again.forecast, said[40:], rtol=1e-12, atol=1e-12)
    assert list(replayed.weights_) == list(looped.weights_)
    for one, other in ((replayed.weights_, looped.weights_), (replayed.losses_, looped.losses_)):
        assert_allclose(list(one.values()), list(other.values()), rtol=1e-9, atol=1e-12)
    for pool in (replayed, looped):
        assert pool.n_samples_seen_ == 60
        assert [c.holds for c in pool.certificates()] == [True] * len(pool.certificates())
    assert_allclose(replayed.predict(X), [looped.predict_one(x) for x in X], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("name", POOLS)
def test_replay_is_the_loop_over_mappings(name: str, late: bool) -> None:
    rows = LATE if late and name != "kernels" else ROWS  # a kernel's inputs keep their features
    replayed, looped = POOLS[name](), POOLS[name]()
    result = replayed.replay(rows, Y)
    assert_allclose(result.forecast, loop(looped, rows, Y), rtol=1e-11, atol=1e-11)
    assert [c.holds for c in looped.certificates()] == [True] * len(looped.certificates())
    if rows is ROWS:
        for frame in (pd.DataFrame(X, columns=[*"abcd"]), pl.DataFrame(X, schema=[*"abcd"])):
            again = POOLS[name]().replay(frame, Y)
            assert_allclose(again.forecast, result.forecast, rtol=1e-12, atol=1e-12)


def test_rivers_learners_are_experts() -> None:
    linear_model = pytest.importorskip("river.linear_model")
    theirs = linear_model.LinearRegression()
    pool = nr.AggregatingAlgorithm([theirs, nr.AAR()], outcome_range=1.5)
    said, alone = loop(pool, ROWS, Y), linear_model.LinearRegression()
    for x, y in zip(ROWS, Y.tolist(), strict=True):
        alone.learn_one(x, y)
    assert next(iter(pool.experts_.values())).weights == alone.weights
    assert dict(theirs.weights) == {}
    again = nr.AggregatingAlgorithm([theirs, nr.AAR()], outcome_range=1.5).replay(ROWS, Y)
    assert_allclose(again.forecast, said, rtol=1e-12)


def test_an_estimator_sleeps_until_its_first_round() -> None:
    pool = nr.AggregatingAlgorithm([sgd(), zero], outcome_range=1.5)
    assert pool.predict_one(X[0]) == 0.0
    result = pool.replay(X, Y)
    assert np.isnan(result.said[0, 0])
    alone = sgd().partial_fit(X[:1], Y[:1])
    assert result.said[1, 0] == alone.predict(X[1:2])[0]
    binary = (Y > 0).astype(float)
    judge = SGDClassifier(loss="log_loss", random_state=0)
    chances = nr.BayesianAlgorithm([judge, lambda _: 0.5])
    account = chances.replay(X, binary)
    assert ((account.forecast > 0.0) & (account.forecast < 1.0)).all()
    assert account.certificate.holds is True


# Grids and the chain ------------------------------------------------------------------------


def test_over_makes_every_combination() -> None:
    grid = nr.over(nr.AAR, prior_precision=[0.1, 1.0], drift=(0.0, 0.1, 0.2), fit_intercept=True)
    found = [(a.prior_precision, a.drift, a.fit_intercept) for a in grid]
    assert found == [(a, q, True) for a in (0.1, 1.0) for q in (0.0, 0.1, 0.2)]
    assert [r.prior_precision for r in nr.over(nr.Ridge)] == [1.0]
    with pytest.raises(nr.errors.ParameterError, match=r"drift = \[\]: give at least one value"):
        nr.over(nr.AAR, prior_precision=[1.0], drift=[])


def about(learner: Any, loss: float) -> list[nr.Certificate]:
    """What is proved of this very loss."""
    found = [c for c in learner.certificates() if c.kind != "report" and c.bound is not None]
    return [c for c in found if c.loss == pytest.approx(loss, rel=1e-12)]


@pytest.mark.parametrize("span", [1.5, None])
def test_from_the_pool_to_the_best_cell_to_its_best_expert(span: float | None) -> None:
    grid = nr.over(nr.AAR, prior_precision=[0.01, 1.0, 100.0], drift=[0.0, 0.01])
    pool = nr.AggregatingAlgorithm(grid, outcome_range=span).fit(X, Y)
    *_, chain = pool.certificates()
    assert chain.name == f"the pool and {nr.AAR().fit(X, Y).certificate().name}"
    assert chain.holds is True
    width = 3.0 if span else pool._state.pool.totals().width
    over = 0.0 if span else pool._state.pool.totals().over
    alone = [clone(cell).fit(X, Y) for cell in grid]
    losses = [float(cell.replay(X, Y).loss.sum()) for cell in map(clone, grid)]
    bounds = [about(cell, loss)[0].bound for cell, loss in zip(alone, losses, strict=True)]
    assert chain.bound == pytest.approx(min(bounds) + width**2 / 2.0 * math.log(6) + over, rel=1e-9)
    assert repr(grid[int(np.argmin(bounds))]) in chain.statement
    assert chain.loss == pytest.approx(pool.certificate().loss)
    assert "1/p" in chain.statement


def test_the_chain_under_log_loss() -> None:
    grid = nr.over(nr.BayesianRidge, prior_precision=[0.1, 1.0], noise_var=[0.01, 0.04, 1.0])
    pool = nr.BayesianAlgorithm(grid).fit(X, Y)
    equality, chain = pool.certificates()
    assert (equality.kind, equality.holds) == ("equality", True)
    assert chain.name.startswith("the pool and")
    assert chain.holds is True
    bounds = []
    for cell in grid:
        alone = clone(cell).fit(X, Y)
        bounds.append(about(alone, alone.certificate().loss)[0].bound)
    assert chain.bound == pytest.approx(min(bounds) + math.log(6), rel=1e-9)
    mixture = pool.predictive(X[0])
    assert mixture.weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert mixture.mean == pytest.approx(pool.predict_one(X[0]), rel=1e-12)


# Copies -------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [*POOLS.values(), *BY_POSITION.values()])
def test_the_callers_experts_stay_as_they_were(make: Callable[[], Any]) -> None:
    pool = make()
    given = pool.experts
    held = list(given.values() if isinstance(given, dict) else given)
    learners = [expert for expert in held if hasattr(expert, "partial_fit")]
    before = [bits_of(expert) for expert in learners]
    pool.fit(X, Y).predict(X)
    loop(pool, X, Y)
    pool.partial_fit(X, Y)
    assert pool.experts is given
    assert [bits_of(expert) for expert in learners] == before
    for ours, theirs in zip(pool.experts_.values(), held, strict=True):
        assert (ours is not theirs) == hasattr(theirs, "partial_fit")


def test_an_expert_that_has_learned_before_goes_on_from_there() -> None:
    veteran = nr.AAR(0.5).fit(X[:30], Y[:30])
    before = bits_of(veteran)
    pool = nr.AggregatingAlgorithm([veteran, zero], outcome_range=1.5)
    result = pool.replay(X[30:], Y[30:])
    assert bits_of(veteran) == before
    alone = copy.deepcopy(veteran).replay(X[30:], Y[30:])
    assert_allclose(result.said[:, 0], alone.forecast, rtol=1e-12)
    assert [c.name for c in pool.certificates()][-1] == "every round"  # no chain for its past


DUPLICATES: dict[str, Callable[[Any], Any]] = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda pool: pickle.loads(pickle.dumps(pool)),
}


@pytest.mark.parametrize("duplicate", DUPLICATES.values(), ids=DUPLICATES)
@pytest.mark.parametrize("name", [*POOLS, *BY_POSITION])
def test_a_copy_goes_on_bit_for_bit_and_shares_nothing(
    name: str, duplicate: Callable[[Any], Any]
) -> None:
    pool = (POOLS | BY_POSITION)[name]().fit(X[:30], Y[:30])
    before = state(pool)
    other = duplicate(pool)
    assert type(other) is type(pool)
    assert other.get_params().keys() == pool.get_params().keys()
    assert state(other) == before
    said = loop(other, X[30:], Y[30:])
    assert state(pool) == before
    assert loop(pool, X[30:], Y[30:]).tolist() == said.tolist()
    assert state(pool) == state(other)


@pytest.mark.parametrize("name", [*POOLS, *BY_POSITION])
def test_clone_fit_and_parameters(name: str) -> None:
    pool = (POOLS | BY_POSITION)[name]().fit(X, Y)
    learned = state(pool)
    other = clone(pool)
    assert state(other) is None
    with pytest.raises(NotLearnedError, match="call learn_one or fit first"):
        other.certificate()
    other.partial_fit(X[:7], Y[:7]).fit(X, Y)  # fit begins again
    assert state(other) == learned
    pool.predict(X)
    for x in X[:5]:
        pool.predict_one(x)
    assert state(pool) == learned  # forecasting changes nothing
    pool.join(zero if name != "bayes" else nr.BayesianRidge(7.0), 0.1, name="newcomer")
    assert len(pool.weights_) == len(other.weights_) + 1
    assert state(pool.fit(X, Y)) == learned  # a newcomer was not among the experts given
    before = pool.weights_, pool.certificates()
    pool.set_params(prior=list(range(3, len(pool.weights_) + 3)))
    assert (pool.weights_, pool.certificates()) == before  # until the next fit
    assert pool.fit(X, Y).weights_ != before[0]
