"""Ranges that are learned, units that are changed, and pools that run long or far."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import noregret as nr
from noregret.experts.pool import Pool
from noregret.losses import LARGEST, game
from noregret.reference import pool as twin
from pools import learned, seeds, shares

STREAMS = ("random", "drifting", "exploding", "constant", "offset", "pauses", "spike")


def stream(shape: str, T: int, N: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Experts and outcomes of an unknown range; some experts are as far off as outcomes move."""
    noise = rng.normal(size=T)
    y = {
        "random": lambda: noise,
        "drifting": lambda: np.cumsum(noise),
        "exploding": lambda: noise * 2.0 ** (np.arange(T) // 3),
        "constant": lambda: np.full(T, rng.normal()),
        "offset": lambda: 1e6 + noise,
        "pauses": lambda: np.repeat(rng.normal(size=-(-T // 7)), 7)[:T],
        "spike": lambda: noise + 1e4 * (np.arange(T) == T // 2),
    }[shape]()
    unit = 1.0 + np.abs(np.diff(y, prepend=y[0]))
    off = rng.choice([0.0, 0.1, 1.0, 9.0], N)
    return y[:, None] + unit[:, None] * rng.normal(size=(T, N)) * off, y


shapes = st.sampled_from(STREAMS)


@settings(max_examples=120, deadline=None)
@given(shapes, st.integers(1, 40), st.integers(1, 6), shares, st.booleans(), seeds)
def test_a_learned_range_is_that_of_the_twin(
    shape: str, T: int, N: int, share: float, drowsy: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    said, y = stream(shape, T, N, rng)
    if drowsy:
        naps = rng.random((T, N)) < 0.4
        naps[np.arange(T), rng.integers(0, N, T)] = False
        said[naps] = np.nan
    prior = rng.random(N) + 0.01
    result = nr.aggregate(said, y, rule="aggregating", prior=prior, share=share)
    account, over = twin.learned_range(said, y, prior=prior, share=share)
    size = float(max(np.nanmax(said), y.max()) - min(np.nanmin(said), y.min()))
    tiny = 1e-9 * size**2 + 1e-90
    assert_allclose(result.forecast, account.forecast, rtol=1e-15, atol=1e-9 * size)
    assert_allclose(result.weights, account.weights, rtol=0.0, atol=1e-9)
    assert_allclose(result.weights.sum(axis=1), 1.0, rtol=0.0, atol=1e-12)
    assert [c.holds for c in result.certificates] == [True] * len(result.certificates)
    assert result.pool is not None
    totals = result.pool.totals()
    assert totals.over == pytest.approx(over, rel=1e-9, abs=tiny)
    assert totals.mix == pytest.approx(account.potential[-1], rel=1e-9, abs=tiny)
    widths = np.maximum.accumulate(y) - np.minimum.accumulate(y)
    if widths[-1] > 0.0:  # the least 2^k times the first width that will do
        doublings = math.log2(totals.width / widths[widths > 0.0][0])
        assert doublings == round(doublings)
        assert totals.width >= widths[-1]
        assert doublings == 0 or totals.width / 2.0 < widths[-1]
    if not share:  # the bound, from the twin's numbers alone
        paid = np.where(np.isnan(said), account.mix[:, None], (y[:, None] - said) ** 2)
        nats = np.log(prior.sum() / prior)
        bound = (paid.sum(axis=0) + totals.width**2 / 2.0 * nats).min() + over
        assert result.loss.sum() <= bound + 1e-9 * bound + tiny


# Units --------------------------------------------------------------------------------------


@settings(max_examples=80, deadline=None)
@given(shapes, st.integers(1, 40), st.integers(1, 6), shares, st.integers(-250, 250), seeds)
def test_forecasts_are_in_the_units_of_the_outcomes(
    shape: str, T: int, N: int, share: float, k: int, seed: int
) -> None:
    said, y = stream(shape, T, N, np.random.default_rng(seed))
    plain = nr.aggregate(said, y, rule="aggregating", share=share)
    scaled = nr.aggregate(said * 2.0**k, y * 2.0**k, rule="aggregating", share=share)
    assert (scaled.forecast == plain.forecast * 2.0**k).all()
    assert (scaled.weights == plain.weights).all()
    assert scaled.certificate.holds is True
    thousand = nr.aggregate(said * 1000.0, y * 1000.0, rule="aggregating", share=share)
    size = np.ptp(np.append(said, y)) * 1000.0
    assert_allclose(thousand.forecast, plain.forecast * 1000.0, rtol=1e-12, atol=1e-9 * size)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(1, 6), shares, st.integers(-150, 150), seeds)
def test_a_declared_range_scales_and_shifts_too(
    T: int, N: int, share: float, k: int, seed: int
) -> None:
    said, y = stream("random", T, N, np.random.default_rng(seed))
    plain = nr.aggregate(said, y, rule="aggregating", outcome_range=(-6.0, 5.0), share=share)
    span = -6.0 * 2.0**k, 5.0 * 2.0**k
    scaled = nr.aggregate(
        said * 2.0**k, y * 2.0**k, rule="aggregating", outcome_range=span, share=share
    )
    assert (scaled.forecast == plain.forecast * 2.0**k).all()
    shifted = nr.aggregate(
        said + 3.0, y + 3.0, rule="aggregating", outcome_range=(-3.0, 8.0), share=share
    )
    assert_allclose(shifted.forecast, plain.forecast + 3.0, rtol=0.0, atol=1e-9 * 11.0)


# Far ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.0, 0.01])
@pytest.mark.parametrize("span", [None, 4e149, 1.0])
def test_losses_of_any_size_that_is_taken(span: float | None, share: float) -> None:
    """Forecasts of 1e150 lose 1e300 a round; a pool with one good expert does not notice."""
    rng = np.random.default_rng(0)
    width = span or LARGEST
    y = width * rng.random(500)
    mad = LARGEST * rng.choice([-1.0, 1.0], (500, 3))
    said = np.column_stack([mad, y * 0.99, np.full(500, width / 2.0), mad[:, 0]])
    result = nr.aggregate(said, y, rule="aggregating", outcome_range=span, share=share)
    assert np.isfinite(result.forecast).all()
    assert np.isfinite(result.weights).all()
    assert_allclose(result.weights.sum(axis=1), 1.0, rtol=0.0, atol=1e-12)
    assert [c.holds for c in result.certificates] == [True] * len(result.certificates)
    assert result.pool is not None
    assert np.isfinite(result.pool.excess).all()
    assert np.abs(result.forecast[5:] - y[5:]).max() <= width


def test_outcomes_that_double_until_they_are_refused() -> None:
    y = 2.0 ** np.arange(-300, 498) * np.where(np.arange(798) % 2, 1.0, -1.0)
    said = np.column_stack([np.roll(y, 1), np.zeros(798), -np.roll(y, 1) * 2.0])
    for share in (0.0, 0.1):
        result = nr.aggregate(said, y, rule="aggregating", share=share)
        assert [c.holds for c in result.certificates] == [True] * len(result.certificates)
        assert_allclose(result.weights.sum(axis=1), 1.0, rtol=0.0, atol=1e-12)
        assert np.isfinite(result.forecast).all()


# Long ---------------------------------------------------------------------------------------


def potential(losses: np.ndarray, eta: float) -> float:
    """-(1/eta) ln of the mean of exp(-eta L_j)."""
    best = losses.min()
    return float(best - math.log(np.exp(-eta * (losses - best)).mean()) / eta)


def recovery(eta: float, share: float, p: float, gap: float) -> int:
    """By which round after the change the better expert must have had half the weight.

    While it has less, a round costs at least c = -(1/eta) ln(1/2 + exp(-eta gap)/2) more than it
    does; m rounds may cost (1/eta)(ln 1/(s p) + (m - 1) ln 1/(1 - s + s p)) more in all.
    """
    c = -math.log(0.5 + 0.5 * math.exp(-eta * gap))
    stay = -math.log(1.0 - share + share * p)
    assert c > stay
    return math.ceil((-math.log(share * p) - stay) / (c - stay)) + 1


@pytest.mark.parametrize("share", [1e-6, 0.01, 0.3])
@pytest.mark.parametrize("miss", [2.0, 2.0**15])
def test_fixed_share_recovers_as_fast_as_the_theory_says(miss: float, share: float) -> None:
    """An expert that was 4 or 1e9 a round better than the others becomes worse by as much."""
    half = 100_000
    said = np.zeros((2 * half, 3))
    said[:half, 1:], said[half:, [0, 2]] = miss, miss
    result = nr.aggregate(
        said, np.zeros(2 * half), rule="aggregating", outcome_range=1.0, share=share
    )
    weights = result.weights
    m = recovery(0.5, share, 1.0 / 3.0, miss**2)
    assert weights[half - 1, 0] > 0.5
    assert weights[half + m :, 1].min() > 0.5
    assert (weights[half : half + m, 1] > 0.5).any()
    assert_allclose(weights.sum(axis=1), 1.0, rtol=0.0, atol=1e-12)
    assert [c.holds for c in result.certificates] == [True] * len(result.certificates)
    assert result.loss[half + m :].max() < 1.0


@pytest.mark.parametrize("miss", [1.0, 2.0**15])
def test_without_a_share_the_past_counts_in_full(miss: float) -> None:
    half = 100_000
    said = np.zeros((2 * half, 2))
    said[:half, 1], said[half:, 0] = miss, miss
    result = nr.aggregate(said, np.zeros(2 * half), rule="aggregating", outcome_range=1.0)
    assert (result.weights[half] == [1.0, 0.0]).all()
    assert result.pool is not None
    assert_allclose(result.pool.weights(), 0.5, rtol=0.0, atol=1e-12)
    totals = result.pool.totals()
    assert totals.mix == pytest.approx(potential(totals.paid, totals.rate), rel=1e-9)


def test_sleep_does_not_wear_the_weights_out() -> None:
    """Half a million rounds of naps: weights of all, asleep or not, still add up to 1."""
    rng = np.random.default_rng(1)
    T, N = 500_000, 5
    y = rng.uniform(-1, 1, T)
    said = y[:, None] + rng.normal(0, np.linspace(0.1, 0.2, N), (T, N))
    naps = rng.random((T, N)) < 0.5
    naps[naps.all(axis=1)] = False
    said[naps] = np.nan
    result = nr.aggregate(said, y, rule="aggregating", outcome_range=1.0)
    assert result.pool is not None
    totals = result.pool.totals()
    total = np.exp(totals.log_prior - totals.rate * result.pool.excess).sum()
    assert total == pytest.approx(1.0, abs=1e-9)
    assert totals.mix == pytest.approx(potential(totals.paid, totals.rate), rel=1e-9)
    assert [c.holds for c in result.certificates] == [True] * 3


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 1e-4])
def test_ten_million_rounds(share: float) -> None:
    """In chunks through one pool; the leader falls behind half-way, losses are no round numbers."""
    chunks, T, N = 10, 1_000_000, 4
    rng = np.random.default_rng(2)
    pool = Pool.start(game("square", (-1.0, 1.0)), np.full(N, 1.0 / N), share)
    losses, paid, worst = np.zeros(N, dtype=np.longdouble), np.longdouble(0.0), -math.inf
    for chunk in range(chunks):
        y = rng.uniform(-1, 1, T)
        off = [0.1, 0.3, 0.5, 1e5] if chunk < chunks / 2 else [0.3, 0.1, 0.5, 1e5]
        said = y[:, None] + np.array(off) * rng.choice([-1.0, 1.0], (T, N))
        _, cost, _ = pool.replay(said, y)
        losses += ((y[:, None] - said) ** 2).sum(axis=0, dtype=np.longdouble)
        paid += cost.sum(dtype=np.longdouble)
        worst = max(worst, float(cost.max()))
        assert pool.weights().sum() == pytest.approx(1.0, abs=1e-12)
        assert np.isfinite(pool.cells).all()
    totals = pool.totals()
    assert totals.rounds == chunks * T
    assert totals.loss == pytest.approx(float(paid), rel=1e-12)
    assert_allclose(totals.paid, losses.astype(np.float64), rtol=1e-12)
    assert worst < 1.0
    if share:
        assert pool.weights()[1] > 0.99
        assert totals.loss <= totals.mix * (1.0 + 1e-9)
        assert totals.mix <= totals.best_sequence * (1.0 + 1e-9)
        assert totals.switches == 1
    else:
        bound = potential(losses.astype(np.float64), totals.rate)
        assert totals.mix == pytest.approx(bound, rel=1e-9)
        assert totals.loss <= bound * (1.0 + 1e-9)


def test_chunks_are_one_replay() -> None:
    rng = np.random.default_rng(3)
    y = rng.normal(size=1000)
    said = y[:, None] + rng.normal(size=(1000, 3))
    pool = nr.AggregatingAlgorithm(["a", "b", "c"], share=0.01)
    parts = [pool.replay(said[t : t + 70], y[t : t + 70]).forecast for t in range(0, 1000, 70)]
    whole = nr.aggregate(said, y, rule="aggregating", share=0.01)
    assert np.concatenate(parts).tolist() == whole.forecast.tolist()
    assert whole.pool is not None
    assert learned(pool._state.pool) == learned(whole.pool)
