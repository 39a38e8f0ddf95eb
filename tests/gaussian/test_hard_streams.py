"""Streams on which other recursions lose their digits, against rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose

import noregret as nr
from noregret.reference import exact
from noregret.testing import HARD_STREAMS


def relative(ours: np.ndarray, truth: list[Fraction]) -> float:
    """The largest error, relative to the largest forecast."""
    right = np.array([float(v) for v in truth])
    return float(np.abs(ours - right).max() / np.abs(right).max())


def one_at_a_time(learner, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    forecasts = []
    for x, outcome in zip(X, y, strict=True):
        forecasts.append(learner.predict_one(x))
        learner.learn_one(x, float(outcome))
    return np.array(forecasts)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", HARD_STREAMS)
def test_fixed_experts(name: str, seed: int) -> None:
    s = HARD_STREAMS[name](seed)
    means, spreads = exact.looks(s.X.tolist(), s.y.tolist(), s.prior_precision)
    shrunk = [m / d for m, d in zip(means, spreads, strict=True)]
    a = s.prior_precision
    assert relative(one_at_a_time(nr.Ridge(a), s.X, s.y), means) <= s.tolerance
    rows = [{f"x{i}": v for i, v in enumerate(x)} for x in s.X.tolist()]
    assert relative(one_at_a_time(nr.Ridge(a), np.array(rows), s.y), means) <= s.tolerance
    assert relative(nr.Ridge(a).replay(s.X, s.y).forecast, means) <= s.tolerance
    # AAR divides by the spread, which on the offset stream moves by 1e-10 when X moves by one
    # unit in its last place: no recursion that reads X as float64 can do better than that.
    tolerance = max(s.tolerance, 4.0 * sensitivity(s, shrunk) if name == "offset" else 0.0)
    assert relative(one_at_a_time(nr.AAR(a), s.X, s.y), shrunk) <= tolerance
    assert relative(nr.AAR(a).replay(s.X, s.y).forecast, shrunk) <= tolerance


def sensitivity(s, shrunk: list[Fraction]) -> float:
    """How far the exact forecasts move when X moves by one unit in its last place."""
    nudged = np.nextafter(s.X, np.inf * np.where(s.X % 2 < 1, 1.0, -1.0))
    means, spreads = exact.looks(nudged.tolist(), s.y.tolist(), s.prior_precision)
    moved = np.array([float(m / d) for m, d in zip(means, spreads, strict=True)])
    return relative(moved, shrunk)


@pytest.mark.slow
@pytest.mark.parametrize("drift", [1e-12, 1e-6, 1e-2])
@pytest.mark.parametrize("name", HARD_STREAMS)
def test_changing_experts(name: str, drift: float) -> None:
    """The square root of P keeps 1e-12 where P itself is off by 1e-7 to NaN."""
    s = HARD_STREAMS[name](0)
    X, y, a = s.X[:25], s.y[:25], s.prior_precision
    a_t = [Fraction(a), *([1 / Fraction(drift)] * (len(X) - 1))]
    means, _ = exact.changing_looks(X.tolist(), y.tolist(), a_t)
    assert relative(one_at_a_time(nr.Ridge(a, drift=drift), X, y), means) <= 1e-12


@pytest.mark.slow
def test_a_million_rounds_keep_the_coefficients() -> None:
    """Integer data, so that X'X and X'y are exact; coefficients to 1e-12."""
    rng = np.random.default_rng(0)
    T, n = 1_000_000, 10
    X = rng.integers(-500, 501, size=(T, n))
    y = X @ rng.integers(-9, 10, size=n) + rng.integers(-2000, 2001, size=T)
    truth = exact.coefficients((X.T @ X).tolist(), (X.T @ y).tolist(), 1.0)
    w = np.array([float(v) for v in truth])
    xs, ys = X.astype(float), y.astype(float)
    assert_allclose(nr.AAR(1.0).fit(xs, ys).coef_, w, rtol=1e-12)
    learner = nr.AAR(1.0)
    for x, outcome in zip(xs, ys.tolist(), strict=True):
        learner.learn_one(x, outcome)
    assert_allclose(learner.coef_, w, rtol=1e-12)
    for certificate in learner.certificates():
        assert certificate.holds is True, str(certificate)


@pytest.mark.slow
def test_drift_without_excitation_stays_finite_and_recovers() -> None:
    """A hundred thousand identical rows, then rich ones: finite throughout, right afterwards."""
    rng = np.random.default_rng(1)
    n, dull, rich = 4, 100_000, 40
    X = np.vstack([np.tile([1.0, 0.0, 0.0, 0.0], (dull, 1)), rng.standard_normal((rich, n))])
    w = np.array([1.0, -2.0, 0.5, 3.0])
    y = X @ w + 1e-3 * rng.standard_normal(len(X))
    learner = nr.Ridge(1.0, drift=1e-3)
    replay = learner.replay(X, y)
    assert np.isfinite(replay.forecast).all()
    assert np.isfinite(replay.spread).all()
    assert np.abs(replay.forecast[-5:] - y[-5:]).max() < 0.05
    assert learner.certificate().holds is True
