"""Binary learners against their dense twins: families, the mode, averaging, AIOLI, ADF."""

from __future__ import annotations

import math
import warnings
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import integrate
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

import noregret as nr
from noregret._native.margin import smooth_logistic
from noregret.glm.families import LOGISTIC, PROBIT, Family
from noregret.glm.theorems import gaussian_bound
from noregret.reference import logistic as twin

FAMILIES = pytest.mark.parametrize("family", [LOGISTIC, PROBIT], ids=lambda f: f.name)
MARGINS = [
    *(-(10.0**k) for k in (4, 3.5, 3, 2.5, 2, 1.7)),
    *np.linspace(-40.0, 40.0, 161).tolist(),
    *np.linspace(-36.0, -34.0, 41).tolist(),
    *(10.0**k for k in (1.7, 2, 2.5, 3)),
    -1e-9,
    1e-9,
    -1e-300,
]


# Families -----------------------------------------------------------------------------------


def in_digits(family: Family, z: float) -> tuple[Any, Any, Any]:
    """l, l' and l'' in 60 digits."""
    with mpmath.workdps(60):
        v = mpmath.mpf(z)
        if family is LOGISTIC:
            small = 1 / (1 + mpmath.exp(v))
            return mpmath.log1p(mpmath.exp(-v)), -small, small * (1 - small)
        # erfc(-z/sqrt 2)/2, and phi/Phi
        P = mpmath.erfc(-v / mpmath.sqrt(2)) / 2
        hazard = mpmath.exp(-v * v / 2) / mpmath.sqrt(2 * mpmath.pi) / P
        loss = -mpmath.log1p(-mpmath.erfc(v / mpmath.sqrt(2)) / 2) if z > 0 else -mpmath.log(P)
        return loss, -hazard, hazard * (hazard + v)


@FAMILIES
def test_loss_and_slope_of_a_margin(family: Family) -> None:
    for z in MARGINS:
        loss, slope, _ = family.loss_and_derivatives(z)
        right = in_digits(family, z)
        near = 1e-13 + 4e-16 * z * z  # rounding z/sqrt 2 alone moves the tail by z^2 eps
        assert_allclose(loss, float(right[0]), rtol=near, atol=1e-307, err_msg=f"l({z})")
        assert_allclose(slope, float(right[1]), rtol=1e-11, atol=1e-307, err_msg=f"l'({z})")


@FAMILIES
def test_curvature_of_a_margin(family: Family) -> None:
    """Relative to the bound on it; and positive, as the algorithms need."""
    for z in MARGINS:
        curve = family.loss_and_derivatives(z)[2]
        right = float(in_digits(family, z)[2])
        assert_allclose(curve, right, rtol=1e-9, atol=1e-12 * family.curvature, err_msg=f"{z}")
        assert 0.0 <= curve <= family.curvature


@FAMILIES
@given(st.floats(-1e4, 1e3))
def test_the_curvature_never_exceeds_its_bound(family: Family, z: float) -> None:
    loss, slope, curve = family.loss_and_derivatives(z)
    assert loss >= 0.0
    assert slope <= 0.0
    assert 0.0 <= curve <= family.curvature


def test_each_bound_on_the_curvature_is_the_least() -> None:
    assert LOGISTIC.loss_and_derivatives(0.0)[2] == LOGISTIC.curvature
    assert PROBIT.loss_and_derivatives(-1e4)[2] > 0.99999 * PROBIT.curvature


# Streams ------------------------------------------------------------------------------------


def stream(kind: str, n: int, T: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """X with |x| <= 1 and signs."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(T, n))
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1))[:, None]
    w = rng.normal(size=n) * 3.0
    if kind == "alternating":
        X[:] = X[0] / np.linalg.norm(X[0])
        signs = np.where(np.arange(T) % 2, -1.0, 1.0)
    elif kind == "separable":
        signs = np.where(X @ w > 0.0, 1.0, -1.0)
    elif kind == "switching":
        change = np.where(np.arange(T) < T // 2, 1.0, -1.0)
        signs = np.where(rng.random(T) < 1.0 / (1.0 + np.exp(-3.0 * change * (X @ w))), 1.0, -1.0)
    else:
        signs = np.where(rng.random(T) < 1.0 / (1.0 + np.exp(-(X @ w))), 1.0, -1.0)
    return X, signs


KINDS = ("alternating", "separable", "switching", "iid")


def run(learner: Any, X: np.ndarray, signs: np.ndarray) -> Any:
    learner.replay(X, (signs > 0.0).astype(int))
    return learner


# The mode -----------------------------------------------------------------------------------


def peer(X: np.ndarray, signs: np.ndarray, prior_var: float) -> np.ndarray:
    if len(set(signs.tolist())) == 1:
        return twin.mode(X, signs, prior_var)[0]
    model = LogisticRegression(
        C=prior_var, fit_intercept=False, tol=1e-12, solver="newton-cholesky", max_iter=500
    )
    with warnings.catch_warnings():  # its line search may give up where float64 ends
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, signs).coef_[0]


@pytest.mark.parametrize(
    ("kind", "n", "prior_var"),
    [
        ("iid", 3, 0.25),
        ("alternating", 2, 4.0),
        ("separable", 4, 16.0),
        ("switching", 3, 1.0),
        ("iid", 1, 64.0),
    ],
)
def test_the_mode_is_scikit_learns_at_every_prefix(kind: str, n: int, prior_var: float) -> None:
    X, signs = stream(kind, n, 30, seed=5)
    learner = nr.MAPLogistic(prior_var)
    for t, (x, s) in enumerate(zip(X, signs), start=1):
        learner.learn_one(x, int(s > 0.0))
        right = peer(X[:t], signs[:t], prior_var)
        assert_allclose(learner.coef_[0], right, rtol=0.0, atol=1e-8)
        assert learner._state.posterior.gradient <= 1e-11 * t
        F = twin.objective(learner.coef_[0], X[:t], signs[:t], prior_var)
        assert_allclose(learner._state.posterior.F, F, rtol=1e-13)


@pytest.mark.parametrize("scale", [1e-6, 1e-2, 30.0, 1e4])
def test_the_mode_with_badly_scaled_columns(scale: float) -> None:
    X, signs = stream("iid", 3, 25, seed=2)
    X = X * [1.0, scale, 1.0 / scale]
    learner = run(nr.MAPLogistic(2.0), X, signs)
    w = learner.coef_[0]
    slope = w / 2.0 - (signs * X.T) @ (1.0 / (1.0 + np.exp(signs * (X @ w))))
    assert np.linalg.norm(slope) <= 1e-9 * np.abs(X).max()
    assert learner.certificate().holds is True


# Exact averaging ----------------------------------------------------------------------------

POINTS = {1: 8001, 2: 801}


@pytest.mark.slow
@pytest.mark.parametrize("prior_var", [0.25, 4.0, 64.0])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2])
def test_exact_averaging_is_a_dense_sum(n: int, kind: str, prior_var: float) -> None:
    X, signs = stream(kind, n, 12 if n == 2 else 60, seed=3)
    learner = nr.BayesianLogistic(prior_var, method="exact")
    losses = learner.replay(X, (signs > 0.0).astype(int)).loss
    assert_allclose(losses, twin.averaging(X, signs, prior_var, POINTS[n]), rtol=0.0, atol=1e-8)


@pytest.mark.parametrize(("n", "prior_var"), [(1, 0.5), (1, 30.0), (2, 5.0)])
def test_the_chain_rule(n: int, prior_var: float) -> None:
    X, signs = stream("switching", n, 20, seed=8)
    learner = run(nr.BayesianLogistic(prior_var, method="exact"), X, signs)
    evidence = twin.log_evidence(X, signs, prior_var, POINTS[n])
    assert_allclose(learner.log_loss_, -evidence, rtol=0.0, atol=1e-8)


@pytest.mark.parametrize("n", [1, 2])
def test_the_order_of_rounds_does_not_matter_to_the_total(n: int) -> None:
    X, signs = stream("iid", n, 20, seed=9)
    totals = [
        run(nr.BayesianLogistic(9.0, method="exact"), X[order], signs[order]).log_loss_
        for order in (slice(None), slice(None, None, -1), np.random.default_rng(0).permutation(20))
    ]
    assert_allclose(totals, totals[0], rtol=0.0, atol=1e-8)


def surprised(learner: Any, T: int, far: float) -> tuple[float, np.ndarray, np.ndarray]:
    """Three of four labels are 1 at x = 1; then the label 0 at x = far; the last log loss."""
    X = np.append(np.ones(T), far)[:, None]
    labels = np.append(np.arange(T) % 4 > 0, False).astype(int)
    return float(learner.replay(X, labels).loss[-1]), X, 2.0 * labels - 1.0


@pytest.mark.parametrize(("T", "far"), [(40, 30.0), (100, 1e3), (300, 1e3)])
def test_exact_averaging_of_a_great_surprise(T: int, far: float) -> None:
    """What happened has its probability far out in the posterior, where the grid must reach."""
    last, X, signs = surprised(nr.BayesianLogistic(4.0, method="exact"), T, far)
    right = twin.averaging(X, signs, 4.0, 80_001)[-1]
    assert_allclose(last, right, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("far", [10.0, 30.0, 100.0, 1e3])
@pytest.mark.parametrize("prior_var", [1.0, 64.0])
def test_exact_averaging_at_an_x_longer_than_all_before(prior_var: float, far: float) -> None:
    """sigma(w x) is sharp in w where x is long: the grid must be as fine as x asks."""
    X, signs = np.array([[1.0], [0.3], [0.5], [far]]), np.array([1.0, -1.0, 1.0, 1.0])
    learner = run(nr.BayesianLogistic(prior_var, method="exact"), X[:3], signs[:3])
    right = math.exp(-twin.averaging(X, signs, prior_var, 200_001)[-1])
    assert_allclose(learner.predict_one(X[3]), right, rtol=0.0, atol=1e-8)


def test_bounds_of_exact_averaging_after_a_great_surprise() -> None:
    learner = nr.BayesianLogistic(4.0, method="exact")
    surprised(learner, 300, 1e3)
    for certificate in learner.certificates():
        assert certificate.holds is True, str(certificate)


def test_exact_forecasts_do_not_depend_on_what_else_was_asked() -> None:
    """A probe may refine the grid; what is forecast elsewhere must stay as it was."""
    learner = nr.BayesianLogistic(64.0, method="exact")
    learner.learn_one(np.array([1.0]), 1)
    learner.learn_one(np.array([0.3]), 0)
    before = learner.predict_one(np.array([0.7]))
    for probe in (30.0, 1e3, 1e-3):
        learner.predict_one(np.array([probe]))
    assert learner.predict_one(np.array([0.7])) == before


# AIOLI --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("bound", "weight"), [(0.5, 0.1), (3.0, 2.0), (40.0, 0.03)])
@pytest.mark.parametrize("kind", KINDS)
def test_improper_forecasts_minimise_the_stated_objective(
    kind: str, bound: float, weight: float
) -> None:
    X, signs = stream(kind, 3, 25, seed=4)
    X = X * 4.0
    right = twin.improper(X, signs, bound, weight)
    learner = nr.ImproperLogistic(bound, regularisation=weight)
    replay = learner.replay(X, (signs > 0.0).astype(int))
    assert_allclose(replay.forecast, right.chances, rtol=0.0, atol=1e-8)
    assert_allclose(replay.loss, right.losses, rtol=1e-8, atol=1e-8)
    main = learner.certificate()
    assert_allclose(main.comparator, right.least, rtol=0.0, atol=1e-8)  # log loss = least + price
    assert_allclose(main.bound, right.least + (1.0 + bound) * right.log_det, rtol=1e-10, atol=1e-8)


def test_the_minorant_stays_below_on_a_dense_grid() -> None:
    far = np.linspace(80.0, 200.0, 241)
    z = np.concatenate([-far[::-1], np.linspace(-80.0, 80.0, 1601), far])[None]
    for bound in (0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0):
        a = np.linspace(-bound, bound, 401)[:, None]
        assert (twin.loss(a) - twin.minorant(a, z, bound)).min() >= -1e-13


# Moment matching ----------------------------------------------------------------------------


def smoothed(mu: float, q: float) -> tuple[float, float, float]:
    """-ln E sigma(a) and two derivatives in mu, in 30 digits."""
    with mpmath.workdps(30):
        m, s = mpmath.mpf(mu), mpmath.sqrt(mpmath.mpf(q))
        peak = m
        for _ in range(60):  # of N(a; mu, q) sigma(a)
            g = (peak - m) / q - 1 / (1 + mpmath.exp(peak))
            e = mpmath.exp(-abs(peak))
            peak -= g / (1 / mpmath.mpf(q) + e / (1 + e) ** 2)
            if not m <= peak <= m + q:
                peak = m if peak < m else m + q
        cuts = sorted(
            {peak + k * s for k in (-14, -7, -3, -1, 0, 1, 3, 7, 14)}
            | ({mpmath.mpf(k) for k in (-60, -20, -5, 0, 5, 20, 60) if abs(peak - k) < 14 * s})
        )

        def part(f: Any) -> Any:
            return mpmath.quad(
                lambda a: (
                    f(a) * mpmath.exp(-((a - m) ** 2) / (2 * q) + ((peak - m) ** 2) / (2 * q))
                ),
                cuts,
            )

        def sigma(a: Any) -> Any:
            return 1 / (1 + mpmath.exp(-a))

        Z0 = part(sigma)
        Z1 = part(lambda a: sigma(a) * (a - m) / q)
        Z2 = part(lambda a: sigma(a) * (((a - m) / q) ** 2 - 1 / mpmath.mpf(q)))
        log_z = mpmath.log(Z0) - ((peak - m) ** 2) / (2 * q)
        log_z -= mpmath.log(2 * mpmath.pi * q) / 2
        return float(-log_z), float(-Z1 / Z0), float(-(Z2 / Z0 - (Z1 / Z0) ** 2))


@pytest.mark.slow
@pytest.mark.parametrize("q", [1e-8, 1e-4, 0.1, 0.999, 1.001, 4.0, 50.0, 256.0, 1e3, 1e4])
@pytest.mark.parametrize("mu", [-40.0, -15.0, -3.0, 0.0, 0.5, 8.0, 40.0])
def test_the_smoothed_logistic(mu: float, q: float) -> None:
    loss, slope, curve = smooth_logistic(mu, q)
    right = smoothed(mu, q)
    assert_allclose(loss, right[0], rtol=1e-9, atol=1e-9)
    assert_allclose(slope, right[1], rtol=1e-9, atol=1e-9)
    assert_allclose(curve, right[2], rtol=1e-9, atol=1e-9)


@given(st.floats(-60.0, 700.0), st.floats(-19.9, 4.0))
def test_the_smoothed_logistic_is_a_probability(mu: float, scale: float) -> None:
    loss, slope, curve = smooth_logistic(mu, 10.0**scale)
    assert loss >= 0.0
    assert -1.0 <= slope <= 0.0
    assert -1e-12 <= curve <= 0.25 + 1e-12


def test_moment_matching_never_forecasts_more_than_1() -> None:
    learner = nr.BayesianLogistic(4.0, method="adf")
    rng = np.random.default_rng(0)
    for _ in range(500):
        learner.learn_one(np.ones(1), int(rng.random() < 0.73))
    for far in (10.0, 30.0, 40.0, 50.0, 60.0, 100.0, 1e3):
        assert 0.0 <= learner.predict_one(np.array([far])) <= 1.0
        assert 0.0 <= learner.predict_one(np.array([-far])) <= 1.0


@pytest.mark.parametrize("prior_var", [0.05, 1.0, 30.0])
@pytest.mark.parametrize("kind", KINDS)
def test_moment_matching_keeps_the_moments(kind: str, prior_var: float) -> None:
    X, signs = stream(kind, 3, 12, seed=6)
    learner = nr.BayesianLogistic(prior_var, method="adf")
    losses, states = twin.moment_matching(X, signs, prior_var)
    for x, s, loss, (mean, cov) in zip(X, signs, losses, states):
        before = learner.log_loss_ if learner.__sklearn_is_fitted__() else 0.0
        learner.learn_one(x, int(s > 0.0))
        assert_allclose(learner.log_loss_ - before, loss, rtol=0.0, atol=1e-9)
        assert_allclose(learner.coef_[0], mean, rtol=1e-7, atol=1e-8 * math.sqrt(prior_var))
        root = learner._state.posterior.core.factor[:, :3]
        found = np.linalg.inv(root.T @ root)
        assert_allclose(found, cov, rtol=1e-6, atol=1e-7 * prior_var)


@pytest.mark.parametrize("size", [1.0, 1e8, 1e14, 3e15, 1e20, 1e50])
def test_moment_matching_with_huge_features(size: float) -> None:
    """Features of any size: a label is a sign of w'x, and Phi(mu/sqrt q) = Phi(1.324) of it."""
    learner = nr.BayesianLogistic(1e6, method="adf")
    learner.learn_one(np.array([size]), 1)
    m, v = math.sqrt(2.0 / math.pi), 1.0 - 2.0 / math.pi  # of |N(0, 1)|
    right = 0.5 * math.erfc(-m / math.sqrt(2.0 * v))
    assert_allclose(learner.predict_one(np.array([size])), right, atol=1e-5)


# Lemma 2.1 ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n", [1, 2])
def test_lemma_2_1(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, signs = stream(KINDS[seed % 4], n, 12, seed=seed)
    labels = (signs > 0.0).astype(int)
    prior_var = float(10.0 ** rng.uniform(-0.5, 1.2))
    exact = run(nr.BayesianLogistic(prior_var, method="exact"), X, signs).log_loss_
    for _ in range(5):
        half = rng.normal(size=(n, n))
        cov = half @ half.T * 10.0 ** rng.uniform(-2.0, 0.5) + 1e-3 * np.eye(n)
        mean = rng.normal(size=n)
        bound = gaussian_bound(X, labels, mean, cov, prior_var=prior_var, family=LOGISTIC)
        assert exact <= bound + 1e-9
        right = twin.gaussian_gap(mean, cov, prior_var)
        for x, s in zip(X, signs):
            m, sd = s * float(x @ mean), math.sqrt(float(x @ cov @ x))
            right += integrate.quad(
                lambda z, m=m, sd=sd: twin.loss(m + sd * z) * math.exp(-0.5 * z * z),
                -12.0,
                12.0,
                epsabs=1e-12,
                epsrel=1e-12,
                limit=200,
                points=[-m / sd] if abs(m / sd) < 12.0 else None,
            )[0] / math.sqrt(2.0 * math.pi)
        assert_allclose(bound, right, rtol=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_lemma_2_1_as_an_equality(seed: int) -> None:
    """L_BMA = L_Q + KL(Q | p_0) - KL(Q | p_T)."""
    rng = np.random.default_rng(seed)
    X, signs = stream(KINDS[seed], 1, 20, seed=seed)
    mean, var, prior_var = float(rng.normal()), float(rng.uniform(0.1, 2.0)), 3.0
    learner = run(nr.BayesianLogistic(prior_var, method="exact"), X, signs)
    L, left = twin.posterior_divergence(X, signs, mean, var, prior_var, 20_001)
    prior = twin.gaussian_gap(np.array([mean]), np.array([[var]]), prior_var)
    assert left >= 0.0
    assert_allclose(learner.log_loss_, L + prior - left, rtol=0.0, atol=1e-8)


@pytest.mark.parametrize(("mean", "sd"), [(0.0, 10.0), (0.0, 100.0), (-38.0, 245.0)])
def test_gaussian_bound_with_a_wide_gaussian(mean: float, sd: float) -> None:
    """To a wide Gaussian l is a kink: the quadrature must not end up below the bound."""
    X, labels = np.array([[1.0]]), np.array([1])
    m, cov = np.array([mean]), np.array([[sd * sd]])
    bound = gaussian_bound(X, labels, m, cov, prior_var=sd * sd, family=LOGISTIC)
    a = np.linspace(mean - 12.0 * sd, mean + 12.0 * sd, 1_000_001)
    weights = np.exp(-0.5 * ((a - mean) / sd) ** 2)
    right = float(weights @ twin.loss(a) / weights.sum()) + twin.gaussian_gap(m, cov, sd * sd)
    assert_allclose(bound, right, rtol=1e-6)
