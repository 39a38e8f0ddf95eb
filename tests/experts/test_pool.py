"""Pools under square loss: equal to their twins in noregret.reference.pool, and as proved."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import noregret as nr
from noregret.reference import pool as twin
from pools import MAD, RANGES, Game, expert, games, seeds, shares

RTOL = 1e-9
SMALL = ((-1.0, 1.0), (-0.25, 3.5), (-3e-7, 5e-7), (1e6, 1e6 + 1.0))
tiny = games(max_rounds=5, max_experts=3, spans=SMALL)


def merged(game: Game, share: float | str = 0.0, **options) -> nr.Aggregation:
    return nr.aggregate(
        game.said,
        game.y,
        rule="aggregating",
        outcome_range=game.range,
        prior=game.prior,
        share=share,
        **options,
    )


def in_order(result: nr.Aggregation) -> None:
    """Weights are weights, and every certificate holds."""
    weights = result.weights
    assert np.isfinite(weights).all()
    assert (weights >= 0.0).all()
    assert_allclose(weights.sum(axis=1), 1.0, rtol=0.0, atol=1e-12)
    assert [c.holds for c in result.certificates] == [True] * len(result.certificates)


def below(loss: np.ndarray | float, bound: np.ndarray | float, size: float) -> None:
    """loss <= bound, up to rounding in terms of this size."""
    assert np.all(loss <= bound + RTOL * np.maximum(np.abs(bound), size))


@settings(max_examples=100, deadline=None)
@given(games(), shares)
def test_forecasts_weights_and_mixes_are_those_of_the_twin(game: Game, share: float | str) -> None:
    result = merged(game, share)
    account = twin.aggregating(*rounds(game), prior=game.prior, share=share)
    assert_allclose(result.forecast, account.forecast, rtol=0.0, atol=RTOL * game.size)
    assert_allclose(result.weights, account.weights, rtol=0.0, atol=1e-12)
    in_order(result)
    nat = 1.0 / game.eta
    potential = np.concatenate([[0.0], account.potential])
    below(result.loss, np.diff(potential), nat + np.abs(potential).max() * 1e-6)
    below(result.loss, account.mix, nat)
    below(np.cumsum(result.loss), account.potential, nat)
    assert result.pool is not None
    assert result.pool.totals().mix == pytest.approx(
        account.potential[-1], rel=RTOL, abs=nat * RTOL
    )
    if not share:
        losses = game.losses.sum(axis=0)
        bounds = losses + nat * np.log(1.0 / game.p)
        below(result.loss.sum(), bounds.min(), nat)
        assert result.certificate.comparator == pytest.approx(losses.min(), rel=1e-12, abs=1e-300)
        assert result.certificate.bound == pytest.approx(bounds.min(), rel=1e-12)


def rounds(game: Game) -> tuple[np.ndarray, np.ndarray, float, float]:
    return game.said, game.y, game.lo, game.hi


@settings(max_examples=60, deadline=None)
@given(tiny, st.sampled_from([0.01, 0.3, 0.9, "falling"]), seeds)
def test_fixed_share_is_the_mixture_over_all_sequences(
    game: Game, share: float | str, seed: int
) -> None:
    for each in (game, game.asleep(seed)):
        every = twin.fixed_share(*rounds(each), share, prior=each.prior)
        account = twin.aggregating(*rounds(each), prior=each.prior, share=share)
        for one, other in zip(every, account, strict=True):
            assert_allclose(one, other, rtol=1e-12, atol=1e-12 * each.size)
        result = merged(each, share)
        assert_allclose(result.forecast, every.forecast, rtol=0.0, atol=RTOL * each.size)
        below(result.loss, every.mix, 1.0 / each.eta)
        in_order(result)


@settings(max_examples=60, deadline=None)
@given(tiny, st.sampled_from([0.01, 0.3, 0.9, "falling"]))
def test_the_best_sequence_with_its_price_is_found_as_the_rounds_go(
    game: Game, share: float | str
) -> None:
    result = merged(game, share)
    assert result.pool is not None
    totals = result.pool.totals()
    best = twin.best_shared(game.losses, game.eta, share, prior=game.prior)
    assert totals.best_sequence == pytest.approx(best, rel=RTOL)
    assert totals.best_course <= totals.best_sequence * (1.0 + RTOL)
    (certificate,) = [c for c in result.certificates if c.name == "Fixed Share"]
    assert certificate.bound == totals.best_sequence
    below(result.loss.sum(), best, 1.0 / game.eta)


@settings(max_examples=80, deadline=None)
@given(games(max_rounds=6, max_experts=3, mad=False), st.integers(0, 6), seeds)
def test_the_best_sequence_is_the_best_of_all(game: Game, switches: int, seed: int) -> None:
    losses = game.losses
    losses[np.random.default_rng(seed).random(losses.shape) < 0.1] = np.nan  # asleep: not to be had
    path, loss = nr.best_sequence(losses, switches)
    assert loss == pytest.approx(
        twin.best_sequence(np.where(np.isnan(losses), np.inf, losses), switches)[1], rel=1e-12
    )
    if math.isfinite(loss):
        assert loss == pytest.approx(losses[np.arange(len(path)), path].sum(), rel=1e-12)
        assert (np.diff(path) != 0).sum() <= switches


@settings(max_examples=60, deadline=None)
@given(games(), st.sampled_from([0.01, 0.3, 0.99]))
def test_tracking_bounds_for_up_to_ten_switches(game: Game, share: float | str) -> None:
    even = Game(game.said, game.y, game.lo, game.hi, None, game.kinds)
    result = merged(even, share)
    T, N = game.said.shape
    for k in range(11):
        best = nr.best_sequence(game.losses, k)[1]
        stays = math.log(1.0 / (1.0 - share + share / N))
        nats = (k + 1) * math.log(N) + k * math.log(1.0 / share) + (T - 1 - k) * stays
        below(result.loss.sum(), best + nats / game.eta, 1.0 / game.eta)
        certificate = result.tracking(k)
        assert certificate.holds is True
        assert certificate.comparator == best
        assert certificate.bound == pytest.approx(best + nats / game.eta, rel=1e-12)


def test_tracking_needs_equal_priors_and_the_whole_story() -> None:
    said, y = np.array([[0.0, 1.0]] * 5), np.ones(5)
    uneven = nr.aggregate(
        said, y, rule="aggregating", outcome_range=(0, 1), share=0.1, prior=[1.0, 2.0]
    ).tracking(1)
    assert uneven.holds is None
    assert uneven.bound is None
    assert [a.met for a in uneven.assumptions] == [True, False, True]
    pool = nr.AggregatingAlgorithm(["a", "b"], outcome_range=(0, 1), share=0.1).fit(said, y)
    with pytest.raises(nr.errors.NotLearnedError, match="learned before this replay"):
        pool.replay(said, y).tracking(1)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([*RANGES, None]),
    st.integers(1, 12),
    shares,
    st.sampled_from([*MAD, "noisy", "constant", "outside"]),
    seeds,
)
def test_experts_that_agree_are_taken_at_their_word(
    span: tuple[float, float] | None, N: int, share: float | str, kind: str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    lo, hi = span or (-2.0, 5.0)
    y = rng.uniform(lo, hi, 30)
    said = expert(kind, y, lo, hi, rng)
    prior = rng.random(N) + 0.01
    result = nr.aggregate(
        np.column_stack([said] * N),
        y,
        rule="aggregating",
        outcome_range=span,
        share=share,
        prior=prior,
    )
    assert (result.forecast == said).all()
    in_order(result)


# Exponential weights ------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(games(max_experts=8, mad=False), st.sampled_from([None, 0.01, 0.7, 1.0, 3.0, 50.0]))
def test_exponential_weights_and_their_bound(game: Game, factor: float | None) -> None:
    """Rates in units of 1/(2 (hi - lo)^2), the largest at which the loss is exp-concave."""
    width = game.hi - game.lo
    eta = (factor or 1.0) / (2.0 * width**2)
    names = [f"e{j}" for j in range(game.said.shape[1])]
    pool = nr.ExponentialWeights(
        names,
        outcome_range=game.range,
        learning_rate=None if factor is None else eta,
        prior=game.prior,
    )
    result = pool.replay(game.said, game.y)
    account = twin.exponential_weights(game.said, game.y, eta, prior=game.prior)
    assert_allclose(result.forecast, account.forecast, rtol=0.0, atol=RTOL * game.size)
    assert_allclose(result.weights, account.weights, rtol=0.0, atol=1e-12)
    bounds = game.losses.sum(axis=0) + np.log(1.0 / game.p) / eta
    extra = eta * len(game.y) * width**4 / 8.0 if eta * width**2 > 0.51 else 0.0
    within = math.sqrt(game.losses.max()) <= width * (1.0 + 1e-12)
    certificate = result.certificate
    assert certificate.assumptions[-1].met == within
    assert f"the largest was {math.sqrt(game.losses.max()):.6g}" in certificate.assumptions[-1].text
    if within:
        below(result.loss.sum(), bounds.min() + extra, width**2)
        assert certificate.holds is True
        assert certificate.bound == pytest.approx(bounds.min() + extra, rel=1e-12)
    else:
        assert certificate.holds is None
        assert certificate.bound is None


# Ranges that are broken, Brier --------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(games(max_rounds=20), shares, st.integers(0, 10**6), st.sampled_from([-1.0, 1.0]))
def test_a_broken_range_is_named_and_withdraws_the_bound(
    game: Game, share: float | str, where: int, side: float
) -> None:
    y, t = game.y.copy(), where % len(game.y)
    y[t] = (game.hi if side > 0 else game.lo) + side * (game.hi - game.lo)
    result = nr.aggregate(game.said, y, rule="aggregating", outcome_range=game.range, share=share)
    *claims, every_round = result.certificates
    for certificate in claims:
        assert certificate.holds is None
        assert certificate.bound is None
        assert not certificate.assumptions[0].met
        assert f"1 outcomes were outside, the first in round {t + 1}" in str(certificate)
    assert every_round.holds is True
    assert f"{len(y) - 1} rounds had y in the range" in str(every_round)
    assert np.isfinite(result.weights).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(1, 6), shares, seeds)
def test_brier_is_the_square_loss_of_probabilities(
    T: int, N: int, share: float | str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    said, y = rng.choice([0.0, 0.1, 0.5, 0.9, 1.0], (T, N)), rng.integers(0, 2, T).astype(float)
    result = nr.aggregate(said, y, loss="brier", share=share)
    account = twin.aggregating(said, y, 0.0, 1.0, share=share)
    assert_allclose(result.forecast, account.forecast, rtol=0.0, atol=1e-12)
    below(result.loss, account.mix, 0.5)
    in_order(result)
    if not share:
        assert result.loss.sum() <= ((y[:, None] - said) ** 2).sum(axis=0).min() + math.log(N) / 2
        assert "1/2 ln 1/p_j" in result.certificate.statement


# In hindsight -------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(games(max_rounds=20, max_experts=5, mad=False))
def test_combinations_in_hindsight(game: Game) -> None:
    best, uniform, convex, linear = merged(game).hindsight()
    losses = game.losses.sum(axis=0)
    assert best.loss == pytest.approx(losses.min(), rel=1e-12)
    assert uniform.loss == pytest.approx(((game.y - game.said.mean(axis=1)) ** 2).sum(), rel=1e-9)
    _, least = twin.best_convex(game.said, game.y)
    size = RTOL * float(losses.max())
    assert convex.loss == pytest.approx(least, rel=RTOL, abs=size)
    assert convex.weights is not None
    assert (convex.weights >= 0.0).all()
    assert convex.weights.sum() == pytest.approx(1.0)
    assert linear.loss <= convex.loss + size
    assert convex.loss <= best.loss + size
    for each in (best, uniform, convex, linear):
        assert each.rmse == pytest.approx(math.sqrt(each.loss / len(game.y)))
