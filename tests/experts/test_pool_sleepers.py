"""Experts that sleep, join or die; log loss, where the pool's loss is known to the last digit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import logsumexp
from scipy.stats import norm

import noregret as nr
from noregret.errors import InputError, OutcomeError
from noregret.reference import pool as twin
from pools import Game, games, learned, seeds, shares, state

EXACT = 1e-10


# Sleepers under square loss -----------------------------------------------------------------


@settings(max_examples=80, deadline=None)
@given(games(max_rounds=40), shares, seeds)
def test_sleepers_are_charged_the_mix(game: Game, share: float, seed: int) -> None:
    drowsy = game.asleep(seed)
    result = nr.aggregate(
        drowsy.said,
        game.y,
        rule="aggregating",
        outcome_range=game.range,
        prior=game.prior,
        share=share,
    )
    account = twin.aggregating(drowsy.said, game.y, game.lo, game.hi, prior=game.prior, share=share)
    assert_allclose(result.forecast, account.forecast, rtol=0.0, atol=1e-9 * game.size)
    assert_allclose(result.weights, account.weights, rtol=0.0, atol=1e-12)
    assert (result.weights[np.isnan(drowsy.said)] == 0.0).all()
    assert [c.holds for c in result.certificates] == [True] * len(result.certificates)
    nat = 1.0 / game.eta
    assert (result.loss <= account.mix + 1e-9 * np.maximum(np.abs(account.mix), nat)).all()
    if not share:
        for j, p in enumerate(game.p):
            awake = ~np.isnan(drowsy.said[:, j])
            theirs = drowsy.losses[awake, j].sum()
            regret = result.loss[awake].sum() - theirs
            assert regret <= nat * math.log(1.0 / p) + 1e-9 * max(theirs, nat)


@pytest.mark.parametrize("nothing", [None, math.nan, np.float64("nan"), "absent"])
def test_three_ways_to_sleep(nothing: Any) -> None:
    pool = nr.AggregatingAlgorithm(["a", "b", "c"], outcome_range=1.0)
    rows = np.random.default_rng(0).uniform(-1, 1, (20, 3))
    rows[rows > 0.6] = np.nan
    rows[:, 1] = 0.25
    y = np.random.default_rng(1).uniform(-1, 1, 20)
    forecasts = []
    for row, outcome in zip(rows.tolist(), y.tolist()):
        x = {name: nothing if said != said else said for name, said in zip("abc", row)}
        x = {name: said for name, said in x.items() if said != "absent"}
        forecasts.append(pool.predict_one(x))
        pool.learn_one(x, outcome)
    table = nr.aggregate(rows, y, rule="aggregating", outcome_range=1.0)
    assert forecasts == table.forecast.tolist()
    assert table.pool is not None
    assert learned(pool._state.pool) == learned(table.pool)


@pytest.mark.parametrize("loss", ["square", "log", "brier"])
def test_everybody_asleep_is_refused(loss: str) -> None:
    pool = nr.AggregatingAlgorithm(["a", "b"], loss=loss)
    pool.learn_one({"a": 0.5, "b": 0.25}, 1.0)
    before = state(pool)
    empty: list[Any] = [{}, {"a": None}, {"a": math.nan, "b": None}, [math.nan, math.nan]]
    for x in empty:
        for call in (
            lambda x=x: pool.predict_one(x),
            lambda x=x: pool.learn_one(x, 1.0),
            lambda x=x: pool.predict([x]),
            lambda x=x: pool.replay([{"a": 0.5}, x], [1.0, 1.0]),
        ):
            with pytest.raises(InputError, match="every expert sleeps"):
                call()
    with pytest.raises(InputError, match="every expert sleeps in row 1: at least one must"):
        nr.aggregate([[0.5, 0.1], [math.nan, math.nan]], [0.0, 1.0], rule="aggregating", loss=loss)
    assert state(pool) == before


# Joiners ------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(games(max_rounds=40, max_experts=5), st.integers(0, 39), st.floats(0.01, 0.99))
def test_a_joiner_has_slept_so_far(game: Game, when: int, weight: float) -> None:
    T, N = game.said.shape
    when = min(when, T - 1)
    names = [f"e{j}" for j in range(N)]
    late = game.y + 0.1 * (game.hi - game.lo)
    pool = nr.AggregatingAlgorithm(names, outcome_range=game.range, prior=game.prior)
    wide = np.column_stack([game.said, late])
    if when:
        pool.fit(game.said[:when], game.y[:when])
    pool.join("late", weight)
    assert pool.weights_["late"] == pytest.approx(weight, rel=1e-9)
    result = pool.replay(wide[when:], game.y[when:])
    drowsy = wide.copy()
    drowsy[:when, -1] = np.nan
    account = twin.aggregating(
        drowsy, game.y, game.lo, game.hi, prior=[*((1.0 - weight) * game.p), weight]
    )
    assert_allclose(result.forecast, account.forecast[when:], rtol=0.0, atol=1e-9 * game.size)
    theirs = ((game.y[when:] - late[when:]) ** 2).sum()
    nat = 1.0 / game.eta
    assert result.loss.sum() <= theirs + nat * math.log(1.0 / weight) + 1e-9 * max(theirs, nat)
    assert [c.holds for c in pool.certificates()] == [True] * 3
    assert sum(pool.weights_.values()) == pytest.approx(1.0, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 30), st.floats(0.01, 0.5), shares, seeds)
def test_joiners_of_every_pool_keep_the_certificates(
    T: int, weight: float, share: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    y = rng.uniform(-1, 1, 3 * T)
    said = y[:, None] + rng.normal(0, [0.1, 0.5, 0.05, 0.02], (3 * T, 4))
    for pool in (
        nr.AggregatingAlgorithm(["a", "b"], outcome_range=1.0, share=share),
        nr.AggregatingAlgorithm(["a", "b"], share=share),
        nr.ExponentialWeights(["a", "b"], outcome_range=(-3.0, 3.0)),
    ):
        for part, newcomer in enumerate(("c", "d", None)):
            rows = slice(part * T, (part + 1) * T)
            pool.partial_fit(said[rows, : 2 + part], y[rows])
            assert [c.holds for c in pool.certificates()] == [True] * len(pool.certificates())
            if newcomer:
                pool.join(newcomer, weight)
                assert pool.weights_[newcomer] == pytest.approx(weight, rel=1e-9)


# Log loss -----------------------------------------------------------------------------------


def equality(result: Any, costs: np.ndarray, p: np.ndarray) -> None:
    """loss = -ln sum_j p_j exp(-L_j), the pool's own loss in L_j where j slept."""
    paid = np.where(np.isnan(costs), result.loss[:, None], costs)
    total = -logsumexp(-paid.sum(axis=0), b=p)
    assert result.loss.sum() == pytest.approx(total, rel=EXACT, abs=EXACT)
    certificate = result.certificate
    assert (certificate.kind, certificate.holds) == ("equality", True)
    assert certificate.loss == pytest.approx(total, rel=EXACT, abs=EXACT)
    assert certificate.bound == pytest.approx(total, rel=EXACT, abs=EXACT)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 60), st.integers(1, 12), st.booleans(), st.booleans(), shares, seeds)
def test_the_bayesian_equality(
    T: int, N: int, normals: bool, drowsy: bool, share: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    p = rng.random(N) + 0.01
    p /= p.sum()
    if normals:
        mean, var = rng.normal(size=(T, N)), 10.0 ** rng.uniform(-6, 3, (T, N))
        y = rng.normal(size=T)
        costs = -norm.logpdf(y[:, None], mean, np.sqrt(var))
        said = np.stack([mean, var], axis=2)
    else:
        said, y = rng.choice([1e-9, 0.1, 0.5, 0.9, 1.0 - 1e-9], (T, N)), rng.integers(0, 2, T)
        costs = -np.log(np.where(y[:, None] == 1, said, 1.0 - said))
    if drowsy:
        naps = rng.random((T, N)) < 0.4
        naps[:, 0] = False
        costs[naps] = np.nan
        said[naps] = np.nan
    result = nr.aggregate(said, y, loss="log", prior=p, share=share)
    mixture = twin.bayesian(costs, prior=p, share=share)
    assert_allclose(
        result.loss, mixture, rtol=EXACT, atol=EXACT * max(np.nanmax(np.abs(costs)), 1.0)
    )
    assert [c.holds for c in result.certificates] == [True] * len(result.certificates)
    if share:
        assert result.certificate.name == "Fixed Share"
    else:
        equality(result, costs, p)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 30), st.floats(0.01, 0.99), seeds)
def test_the_bayesian_equality_with_joiners_and_sleepers(T: int, weight: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, y = [], rng.normal(size=2 * T)
    for _ in range(2 * T):
        row: dict[str, Any] = {name: nr.Normal(rng.normal(), rng.uniform(0.1, 2)) for name in "abc"}
        rows.append(row | {"b": row["b"] if rng.random() < 0.7 else None})
    pool = nr.BayesianAlgorithm(["a", "b"], prior={"b": 1.0, "a": 3.0})
    first = pool.replay(rows[:T], y[:T])
    pool.join("c", weight)
    second = pool.replay(rows[T:], y[T:])
    loss = np.concatenate([first.loss, second.loss])
    costs = np.array(
        [
            [-row[n].log_density(v) if row[n] and (n != "c" or t >= T) else np.nan for n in "abc"]
            for t, (row, v) in enumerate(zip(rows, y.tolist()))
        ]
    )
    p = np.array([0.75 * (1.0 - weight), 0.25 * (1.0 - weight), weight])
    assert_allclose(loss, twin.bayesian(costs, prior=p), rtol=EXACT, atol=EXACT)
    paid = np.where(np.isnan(costs), loss[:, None], costs).sum(axis=0)
    assert loss.sum() == pytest.approx(-logsumexp(-paid, b=p), rel=EXACT, abs=EXACT)
    assert list(pool.losses_.values()) == pytest.approx(paid.tolist(), rel=EXACT, abs=EXACT)
    assert (pool.certificate().kind, pool.certificate().holds) == ("equality", True)


def test_probability_zero_kills_and_a_share_revives() -> None:
    said, y = np.array([[0.0, 0.5]] + [[0.9, 0.5]] * 20), np.ones(21)
    dead = nr.aggregate(said, y, loss="log")
    assert (dead.weights[1:] == [0.0, 1.0]).all()
    assert_allclose(dead.forecast[1:], 0.5, rtol=0.0, atol=0.0)
    assert dead.certificate.holds is True
    assert dead.certificate.comparator == pytest.approx(21 * math.log(2.0))
    alive = nr.aggregate(said, y, loss="log", share=0.05)
    costs = np.where(said > 0.0, -np.log(np.maximum(said, 1e-300)), np.inf)
    assert_allclose(alive.loss, twin.bayesian(costs, share=0.05), rtol=EXACT)
    assert alive.weights[1, 0] == pytest.approx(0.025)
    assert alive.weights[-1, 0] > 0.9
    assert [c.holds for c in alive.certificates] == [True] * len(alive.certificates)


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_an_outcome_that_nobody_thought_possible_is_refused(share: float) -> None:
    pool = nr.AggregatingAlgorithm(["a", "b"], loss="log", share=share)
    pool.learn_one([0.5, 0.3], 1.0)
    before = state(pool)
    with pytest.raises(OutcomeError, match=r"y = 1.0: every expert awake gave it probability 0"):
        pool.learn_one([0.0, 0.0], 1.0)
    with pytest.raises(OutcomeError, match="every expert awake gave it probability 0"):
        pool.learn_one([0.0, math.nan], 1.0)
    with pytest.raises(OutcomeError, match=r"y\[1\] = .*1.0.*: every expert awake gave it"):
        pool.replay([[0.5, 0.5], [0.0, 0.0]], [1.0, 1.0])
    with pytest.raises(OutcomeError, match="every expert awake gave it probability 0"):
        pool.partial_fit([[0.5, 0.5], [1.0, 1.0]], [1.0, 0.0])
    assert state(pool) == before
    pool.learn_one([0.0, 0.4], 0.0)
    assert pool.n_samples_seen_ == 2


def test_only_the_dead_are_awake() -> None:
    pool = nr.AggregatingAlgorithm(["a", "b"], loss="log")
    pool.learn_one([0.0, 0.5], 1.0)
    before = state(pool)
    for call in (
        lambda: pool.predict_one([0.5, None]),
        lambda: pool.learn_one([0.5, None], 1.0),
        lambda: pool.predict([[0.5, math.nan]]),
        lambda: pool.replay([[0.5, math.nan]], [1.0]),
    ):
        with pytest.raises(InputError):
            call()
    assert state(pool) == before
