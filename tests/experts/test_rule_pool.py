"""The pool of rules: equal to its formulas, certificates on any stream, sleepers, joiners."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret._native import rule_pool
from noregret.declare.fields import Mismatch
from noregret.errors import InputError, NotLearnedError, ParameterError
from noregret.experts.guarded_pool import GUARDED, GuardedPool
from noregret.losses import game as play
from noregret.reference.rules import rules as twin
from pools import Game, games, refused, seeds, shares

names = st.sampled_from(list(GUARDED))


def noisy(seed: int, T: int, k: int = 1, asleep: float = 0.0, N: int = 4) -> tuple[Any, Any]:
    """Biased and noisy experts of k outcomes that lie far from 0."""
    rng = np.random.default_rng(seed)
    y = 3.0 * rng.normal(size=(T, k)) + rng.choice([0.0, 50.0])
    said = y[:, None, :] + rng.uniform(0.1, 2.0, (N, 1)) * rng.normal(size=(T, N, k))
    said += rng.normal(size=(N, 1))
    naps = rng.random((T, N)) < asleep
    naps[np.arange(T), rng.integers(0, N, T)] = False
    said[naps] = np.nan
    return said, y


@pytest.mark.slow
@given(seed=seeds, rule=names, k=st.sampled_from([1, 1, 2, 5]), asleep=st.sampled_from([0.0, 0.4]))
@settings(max_examples=25, deadline=None)
def test_equal_to_the_formulas(seed: int, rule: str, k: int, asleep: float) -> None:
    """Beyond round 100, where stacking speaks; the outermost pool is a mixture of mixtures."""
    said, y = noisy(seed, 130, k, asleep)
    prior = np.random.default_rng(seed).uniform(0.01, 1.0, 4)
    prior /= prior.sum()
    flat = (said[:, :, 0], y[:, 0]) if k == 1 else (said, y)
    result = nr.aggregate(*flat, rule=rule, prior=prior)
    dense, _, each = twin(said, y, prior, np.array(GUARDED[rule]))
    np.testing.assert_allclose(result.forecast.reshape(y.shape), dense, rtol=1e-9, atol=1e-9)
    spoken = result.pool.part(rule_pool.SPOKEN)
    playing = np.array(GUARDED[rule]) > 0.0
    np.testing.assert_allclose(spoken[playing], each[-1][playing], rtol=1e-9, atol=1e-9)
    weights = result.weights
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-12)
    assert (weights[np.isnan(said[:, :, 0])] == 0.0).all()
    assert all(c.holds for c in result.certificates)


@given(game=games(), rule=names, share=shares, given_range=st.booleans(), asleep=st.booleans(),
       seed=seeds)  # fmt: skip
@settings(max_examples=200, deadline=None)
def test_certificates_hold_on_any_stream(
    game: Game, rule: str, share: Any, given_range: bool, asleep: bool, seed: int
) -> None:
    game = game.asleep(seed) if asleep else game
    span = game.range if given_range else None
    result = nr.aggregate(
        game.said, game.y, rule=rule, outcome_range=span, share=share, prior=game.prior
    )
    assert all(c.holds for c in result.certificates), result.certificates
    assert np.isfinite(result.forecast).all()
    # (23.3) from the rounds alone, where nobody sleeps
    one = next(c for c in result.certificates if "min_j (L_j" in c.statement)
    totals = result.pool.totals()
    if not asleep:
        lost = game.losses.sum(axis=0)
        np.testing.assert_allclose(totals.paid[:-1], lost, rtol=1e-9, atol=1e-300)
        nats = np.log(10.0 / game.p) + (np.log(len(game.y)) if share == "falling" else 0.0)
        if share in (0.0, "falling") and totals.rate < np.inf:
            width = game.hi - game.lo if given_range else totals.width
            bound = (lost + 0.5 * width**2 * nats).min() + (0.0 if given_range else totals.over)
            assert one.bound <= bound * (1.0 + 1e-9)
            if given_range or share == 0.0:  # staying is charged less while eta was larger
                assert one.bound == pytest.approx(bound, rel=1e-9)


@given(seed=seeds, share=shares, k=st.integers(2, 4), given_range=st.booleans())
@settings(max_examples=40, deadline=None)
def test_several_outcomes_pay_no_more_than_k_times_the_price(
    seed: int, share: Any, k: int, given_range: bool
) -> None:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, (40, k)) * 1.0  # at the ends of the range
    said = rng.choice([0.0, 1.0, 0.5, 4.0], (40, 3, k))
    span = (0.0, 1.0) if given_range else None
    result = nr.aggregate(said, y, share=share, outcome_range=span)
    assert all(c.holds for c in result.certificates)
    assert f"{k} (hi-lo)^2/2 ln 10" in result.certificate.statement
    np.testing.assert_allclose(result.loss, ((y - result.forecast) ** 2).sum(axis=1), rtol=1e-12)
    lost = ((y[:, None, :] - said) ** 2).sum(axis=(0, 2))
    np.testing.assert_allclose(result.pool.totals().paid[:-1], lost, rtol=1e-9)


def adversary(rule: str, T: int, N: int, seed: int) -> tuple[Any, Any]:
    """Outcomes that are as far as can be from the forecast of the moment."""
    rng = np.random.default_rng(seed)
    said, y = rng.uniform(-1.0, 1.0, (T, N)), np.zeros(T)
    pool = nr.RulePool([f"e{j}" for j in range(N)], rule=rule, outcome_range=1.0)
    for t in range(T):
        y[t] = -1.0 if pool.predict_one(said[t]) > 0.0 else 1.0
        pool.learn_one(said[t], y[t])
    return said, y


@pytest.mark.parametrize("rule", GUARDED)
def test_adversaries_constants_and_the_huge(rule: str) -> None:
    said, y = adversary(rule, 200, 4, 1)
    drifting = np.where(np.arange(200) < 100, 1e-60, 1e30)
    streams = [
        (said, y),
        (np.ones((130, 3)), np.ones(130)),
        (np.ones((130, 3)), np.zeros(130)),
        (1e140 * said, 1e140 * y),
        (1e-140 * said, 1e-140 * y),
        (drifting[:, None] * said, drifting * y),
        (said + 1e9, y + 1e9),
        (np.column_stack([said, said, np.full(200, 1e150)]), y),
        (y[:, None] + [1e-9, -1e-9], y),
    ]
    for words, outcomes in streams:
        result = nr.aggregate(words, outcomes, rule=rule)
        assert np.isfinite(result.forecast).all()
        for c in result.certificates:
            assert c.holds is True, c


def test_rounding_around_a_large_centre_is_no_loss() -> None:
    """Experts that differ by rounding alone: the range is not narrower than what g can hold."""
    rng = np.random.default_rng(0)
    y = 1e9 + rng.normal(size=2000)
    said = y[:, None] + np.spacing(1e9) * rng.integers(-3, 4, (2000, 3))
    result = nr.aggregate(said, y)
    assert all(c.holds for c in result.certificates)
    assert result.pool.totals().width >= 1e9 * 2.0**-26


@pytest.mark.parametrize("rule", GUARDED)
def test_where_all_agree_the_forecast_is_theirs(rule: str) -> None:
    said = np.repeat(np.random.default_rng(0).normal(size=(150, 1)), 3, axis=1)
    result = nr.aggregate(said, np.arange(150.0), rule=rule)
    np.testing.assert_allclose(result.forecast, said[:, 0], rtol=1e-12, atol=1e-13)


@given(seed=seeds, rule=names, k=st.integers(-40, 40))
@settings(max_examples=30, deadline=None)
def test_units_do_not_matter(seed: int, rule: str, k: int) -> None:
    said, y = noisy(seed, 120)
    one = nr.aggregate(said[:, :, 0], y[:, 0], rule=rule)
    two = nr.aggregate(2.0**k * said[:, :, 0], 2.0**k * y[:, 0], rule=rule)
    assert (two.forecast == 2.0**k * one.forecast).all()


def test_one_by_one_is_all_at_once_and_others_are_not_touched() -> None:
    said, y = noisy(3, 130, asleep=0.3)
    whole = nr.aggregate(said[:, :, 0], y[:, 0])
    pool = nr.RulePool([f"e{j}" for j in range(4)])
    for t, row in enumerate(said[:, :, 0]):
        assert pool.predict_one(row) == whole.forecast[t]
        pool.learn_one(row, float(y[t, 0]))
    for key in ("cells", "book", "memory"):
        mine, theirs = getattr(pool._state.pool, key), getattr(whole.pool, key)
        if key != "memory":
            np.testing.assert_array_equal(mine, theirs)
        else:
            assert np.array_equal(mine, theirs, equal_nan=True)
    before = pool._state.pool.copy()
    refused(pool, InputError, ("every expert sleeps",), lambda: pool.learn_one([np.nan] * 4, 0.0))
    refused(pool, InputError, ("y = 1e+200",), lambda: pool.learn_one([0.0] * 4, 1e200))
    assert np.array_equal(before.memory, pool._state.pool.memory, equal_nan=True)


def test_what_joins_counts_as_having_slept() -> None:
    said, y = noisy(5, 240)
    F, ys = said[:, :, 0], y[:, 0]
    pool = nr.RulePool(["e0", "e1", "e2"])
    for t in range(120):
        pool.learn_one(F[t, :3], ys[t])
    before = pool.predict_one({"e0": 1.0, "e1": 2.0, "e2": 4.0})
    pool.join("e3", 0.25)
    after = pool.predict_one({"e0": 1.0, "e1": 2.0, "e2": 4.0})  # it sleeps
    assert after == pytest.approx(before, rel=1e-9)
    weights = pool.weights_
    assert sum(weights.values()) == pytest.approx(1.0)
    for t in range(120, 240):
        pool.learn_one(F[t], ys[t])
    assert all(c.holds for c in pool.certificates())
    assert pool.losses_["e3"] > 0.0
    joined = GuardedPool.begin(play("square", None), np.full(3, 1 / 3), "rules", 0.1).joined(0.25)
    assert np.exp(joined.totals().log_prior).sum() == pytest.approx(1.0, rel=1e-14)
    assert joined.part(rule_pool.STEADY_CELLS)[0].sum() == pytest.approx(1.0, rel=1e-14)


def test_stacking_finds_what_no_mean_of_experts_can() -> None:
    """y is outside the experts' hull: twice the one less the other."""
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(2, 600))
    y = 2.0 * a - b + 0.01 * rng.normal(size=600)
    result = nr.aggregate(np.column_stack([a, b]), y)
    late = (result.loss[400:] ** 0.5).mean()
    convex = nr.aggregate(np.column_stack([a, b]), y, rule="mlpol").loss[400:] ** 0.5
    assert late < 0.2 * convex.mean()
    assert result.weights[-1] == pytest.approx([2.0, -1.0], abs=0.2)


def test_agile_weights_follow_experts_that_take_turns() -> None:
    rng = np.random.default_rng(4)
    y = rng.normal(size=1000)
    turn = (np.arange(1000) // 250) % 2
    noise = np.where(turn[:, None] == [0, 1], 0.1, 2.0)
    said = y[:, None] + noise * rng.normal(size=(1000, 2))
    adaptive = nr.aggregate(said, y, rule="adaptive")
    plain = nr.aggregate(said, y, rule="aggregating")
    assert adaptive.loss.sum() < 0.2 * plain.loss.sum()
    k = adaptive.tracking(3)
    assert k.holds
    assert "(10N T)^4" in k.statement
    assert k.bound - k.comparator == pytest.approx(
        0.5 * adaptive.pool.totals().width ** 2 * 4 * np.log(20 * 1000)
        + adaptive.pool.totals().over
    )


def test_hindsight_counts_a_sleeper_as_saying_what_the_pool_said() -> None:
    said, y = noisy(6, 60, 2, asleep=0.3)
    result = nr.aggregate(said, y)
    found = {c.name.partition(":")[0]: c for c in result.hindsight()}
    assert list(found) == ["best expert", "uniform", "best convex"]
    filled = np.where(np.isnan(said), result.forecast[:, None, :], said)
    lost = ((y[:, None, :] - filled) ** 2).sum(axis=(0, 2))
    assert found["best expert"].loss == pytest.approx(lost.min())
    assert found["best convex"].loss <= min(found["uniform"].loss, lost.min())
    assert result.expert_losses.shape == (60, 4)


@pytest.mark.parametrize(
    ("part", "value"),
    [
        (rule_pool.STEADY_CELLS, -1.0),
        (rule_pool.AGILE_CELLS, np.nan),
        (rule_pool.MERGER_CELLS, 0.5),
        (rule_pool.SCALARS, -1.0),
        (rule_pool.SCALARS, np.inf),
        (rule_pool.PLAYING, 0.5),
        (rule_pool.FACTOR, np.nan),
        (rule_pool.REGRET_CELLS, 0.0),
    ],
)
def test_fields_that_no_rounds_could_leave_are_refused(part: int, value: float) -> None:
    said, y = noisy(8, 20)
    pool = nr.aggregate(said[:, :, 0], y[:, 0]).pool
    again = GuardedPool.restored(pool.game, pool.cells, pool.book, pool.memory)
    assert again.forecast(said[0, :, 0]) == pool.forecast(said[0, :, 0])
    pool.part(part)[0, 0] = value
    with pytest.raises(Mismatch):
        GuardedPool.restored(pool.game, pool.cells, pool.book, pool.memory)
    with pytest.raises(Mismatch, match="number of experts"):
        GuardedPool.restored(pool.game, pool.cells, pool.book, pool.memory[:-1])


def test_the_default_by_loss() -> None:
    said, y = np.array([[0.2, 0.9], [0.4, 0.7]]), np.array([1.0, 0.0])
    assert nr.aggregate(said, y).certificate.name == "pool of rules"
    assert nr.aggregate(said, y, loss="log").certificate.name == "Bayesian Algorithm"
    assert nr.aggregate(said, y, loss="brier").certificate.name == "Aggregating Algorithm"
    assert nr.aggregate(said, y, loss="absolute").certificate.name == "MLpol"
    same = nr.aggregate(said, y, rule="rules", share="falling")
    np.testing.assert_array_equal(nr.aggregate(said, y).forecast, same.forecast)


def test_refusals() -> None:
    said, y = noisy(7, 10)
    for wrong, words in (
        ({"rule": "rules", "loss": "absolute"}, 'rule="rules" is for "square"'),
        ({"rule": "stacking", "level": 0.5}, 'it is for rule="mlpol"'),
        ({"share": 1.5}, "share = 1.5"),
        ({"outcome_range": (1.0, 0.0)}, "outcome_range"),
    ):
        with pytest.raises(ParameterError, match=words):
            nr.aggregate(said[:, :, 0], y[:, 0], **wrong)
    with pytest.raises(InputError, match="every expert sleeps in row 2"):
        nr.aggregate([[1.0], [2.0], [np.nan]], [1.0, 2.0, 3.0])
    with pytest.raises(ParameterError, match="rule = 'best'"):
        nr.RulePool(["a"], rule="best").learn_one([1.0], 1.0)
    with pytest.raises(NotLearnedError, match="log loss"):
        nr.RulePool(["a"]).predictive([1.0])
