"""Every recursion equals a dense twin that solves over the whole history in every round."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import noregret as nr
from noregret.reference import exact, linear
from strategies import Rows, drift_schedules, precisions, rows

RTOL = 1e-9


def one_at_a_time(learner, data: Rows) -> np.ndarray:
    forecasts = []
    for x, y in zip(data.X, data.y, strict=True):
        forecasts.append(learner.predict_one(x))
        learner.learn_one(x, float(y))
    return np.array(forecasts)


def scale(data: Rows, *others: np.ndarray) -> float:
    """What an error is relative to: the largest forecast or outcome of the stream."""
    return max(float(np.abs(v).max()) for v in (data.Y, *others)) or 1.0


def floats(values) -> np.ndarray:
    return np.array([float(v) for v in values])


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(rows(), precisions)
def test_fixed_experts_equal_rational_arithmetic(data: Rows, a: float) -> None:
    means, spreads = exact.looks(data.X.tolist(), data.y.tolist(), a)
    m, d = floats(means), floats(spreads)
    g = floats(p / q for p, q in zip(means, spreads, strict=True))
    atol = RTOL * scale(data, m)
    assert_allclose(one_at_a_time(nr.Ridge(a), data), m, rtol=RTOL, atol=atol)
    assert_allclose(one_at_a_time(nr.AAR(a), data), g, rtol=RTOL, atol=atol)
    assert_allclose(one_at_a_time(nr.Ridge(a, clip=0.5), data), m.clip(-0.5, 0.5), atol=atol)
    replay = nr.BayesianRidge(a, noise_var=0.3).replay(data.X, data.y)
    assert_allclose(replay.mean, m, rtol=RTOL, atol=atol)
    assert_allclose(replay.spread, d, rtol=RTOL)


@settings(max_examples=150, deadline=None)
@given(st.data(), rows(max_rounds=10, max_features=3))
def test_changing_experts_equal_rational_arithmetic(data_, data: Rows) -> None:
    a_t = data_.draw(drift_schedules(len(data.X) + 1))
    means, spreads = exact.changing_looks(data.X.tolist(), data.y.tolist(), a_t[:-1].tolist())
    m, d = floats(means), floats(spreads)
    atol = RTOL * scale(data, m)

    def drift(t: int) -> float:
        return 1.0 / a_t[t - 1]

    assert_allclose(one_at_a_time(nr.Ridge(a_t[0], drift=drift), data), m, rtol=RTOL, atol=atol)
    assert_allclose(one_at_a_time(nr.AAR(a_t[0], drift=drift), data), m / d, rtol=RTOL, atol=atol)
    replay = nr.BayesianRidge(a_t[0], drift=drift).replay(data.X, data.y)
    assert_allclose(replay.mean, m, rtol=RTOL, atol=atol)
    assert_allclose(replay.spread, d, rtol=RTOL)


@settings(max_examples=60, deadline=None)
@given(rows(max_rounds=20, max_features=4, max_outcomes=3), precisions)
def test_dense_twins_in_float64_agree_on_several_outcomes(data: Rows, a: float) -> None:
    """The float64 twins are for users' audits; they must be right where A is not extreme."""
    if data.shape in ("scaled", "outlier", "offset", "alternating"):
        data = Rows(data.X / np.abs(data.X).max(initial=1.0), data.Y, data.shape)
    mean, spread = linear.looks(data.X, data.Y, a)
    replay = nr.Ridge(a).replay(data.X, data.Y)
    atol = RTOL * scale(data, mean)
    assert_allclose(replay.forecast, mean, rtol=RTOL, atol=atol)
    assert_allclose(replay.spread, spread, rtol=RTOL)


@settings(max_examples=60, deadline=None)
@given(st.data(), rows(max_rounds=8, max_features=3))
def test_aarch_equals_the_papers_primal_and_dual_formulas(data_, data: Rows) -> None:
    """Busuttil and Kalnishkan (4) and (5), on streams where their matrices are well behaved."""
    X = data.X / max(np.abs(data.X).max(), 1.0)
    a_t = data_.draw(drift_schedules(len(X) + 1)).clip(1e-2, 1e4)
    learner = nr.AAR(a_t[0], drift=lambda t: 1.0 / a_t[t - 1])
    ours = one_at_a_time(learner, Rows(X, data.Y, data.shape))
    atol = RTOL * scale(data, ours)
    assert_allclose(ours, linear.aarch_primal(X, data.y, a_t[:-1]), rtol=RTOL, atol=atol)
    assert_allclose(ours, linear.aarch_dual(X, data.y, a_t[:-1]), rtol=RTOL, atol=atol)
    # The comparator is the real minimiser over all sequences of experts.
    best = linear.best_changing_loss(X, data.Y, a_t[:-1])
    size = 1e-9 * max(best, float((data.Y**2).sum()))
    assert learner.certificate().comparator == pytest.approx(best, rel=1e-9, abs=size)


@settings(max_examples=80, deadline=None)
@given(rows(max_rounds=20), precisions, st.booleans())
def test_drift_zero_is_the_fixed_core(data: Rows, a: float, intercept: bool) -> None:
    fixed = nr.Ridge(a, fit_intercept=intercept).replay(data.X, data.y)
    still = nr.Ridge(a, fit_intercept=intercept, drift=lambda _: 0.0).replay(data.X, data.y)
    atol = RTOL * scale(data, fixed.mean)
    assert_allclose(still.mean, fixed.mean, rtol=RTOL, atol=atol)
    assert_allclose(still.spread, fixed.spread, rtol=RTOL)


@settings(max_examples=60, deadline=None)
@given(rows(), precisions)
def test_intercept_is_a_constant_feature(data: Rows, a: float) -> None:
    with_ones = np.hstack([np.ones((len(data.X), 1)), data.X])
    explicit = nr.AAR(a).replay(with_ones, data.y)
    learner = nr.AAR(a, fit_intercept=True)
    implicit = learner.replay(data.X, data.y)
    assert_allclose(implicit.forecast, explicit.forecast, rtol=0, atol=0)
    twin = nr.AAR(a).fit(with_ones, data.y)
    assert learner.intercept_ == twin.coef_[0]
    assert_allclose(learner.coef_, twin.coef_[1:], rtol=0, atol=0)
    assert twin.intercept_ == 0.0


def test_coefficients_are_the_batch_solution() -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((50, 6)), rng.standard_normal((50, 2))
    learner = nr.Ridge(0.3).fit(X, Y)
    w = np.linalg.solve(0.3 * np.eye(6) + X.T @ X, X.T @ Y).T
    assert_allclose(learner.coef_, w, rtol=1e-12)
    assert_allclose(learner.predict(X), X @ w.T, rtol=1e-11)
    single = nr.Ridge(0.3).fit(X, Y[:, 0])
    assert_allclose(single.coef_, w[0], rtol=1e-12)
    assert single.coef_.shape == (6,)


def test_bayesian_ridge_equals_scikit_learn_gaussian_process() -> None:
    """An independent oracle: a Gaussian process with a linear kernel."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import DotProduct

    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((30, 3)), rng.standard_normal(30)
    a, noise = 0.7, 0.4  # prior N(0, noise/a) on weights
    kernel = (noise / a) * DotProduct(sigma_0=0.0, sigma_0_bounds="fixed")
    peer = GaussianProcessRegressor(kernel, alpha=noise, optimizer=None).fit(X, y)
    mean, std = peer.predict(X[:5], return_std=True)
    ours, ours_std = nr.BayesianRidge(a, noise_var=noise).fit(X, y).predict(X[:5], return_std=True)
    assert_allclose(ours, mean, rtol=1e-10)
    assert_allclose(ours_std, np.sqrt(std**2 + noise), rtol=1e-10)
