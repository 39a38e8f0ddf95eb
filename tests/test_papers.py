"""Small statements of the five papers, each checked as printed, or shown false by its numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret.reference import linear
from noregret.reference import pool as twin

seeds = st.integers(0, 10**6)
few = settings(max_examples=40, deadline=None)


def spd(rng: np.random.Generator, n: int) -> np.ndarray:
    C = rng.normal(size=(n, n))
    return C @ C.T + 0.1 * np.eye(n)


def integral(f, reach: float = 60.0, points: int = 40_001) -> float:
    w = np.linspace(-reach, reach, points)
    return float(np.trapezoid(f(w), w))


# Zhdanov and Vovk -----------------------------------------------------------------------------


@few
@given(seeds)
def test_zv_bayesian_algorithm_on_a_line(seed: int) -> None:
    """ZV (8)-(13), Lemmas 1, 2 and 3, Remark 1 for n = 1: every integral by quadrature."""
    rng = np.random.default_rng(seed)
    T, a, s2 = int(rng.integers(1, 5)), 10.0 ** rng.uniform(-0.5, 1), 10.0 ** rng.uniform(-0.5, 0.5)
    x, y = rng.uniform(0.2, 2, T), rng.normal(size=T)
    learner = nr.BayesianRidge(a, noise_var=s2)

    def prior(w):
        return np.sqrt(a / (2 * math.pi * s2)) * np.exp(-a * w**2 / (2 * s2))

    def expert(w, t, v):
        return np.exp(-((v - w * x[t]) ** 2) / (2 * s2)) / math.sqrt(2 * math.pi * s2)

    def weights(w, t):  # (8): exp(-L_t(w)) P_0
        out = prior(w)
        for i in range(t):
            out = out * expert(w, i, y[i])
        return out

    loss = 0.0
    for t in range(T):
        mass = integral(lambda w, t=t: weights(w, t))
        density = integral(lambda w, t=t: expert(w, t, y[t]) * weights(w, t)) / mass  # (9)
        normal = learner.predictive([x[t]])  # (12), (13), Lemma 2
        assert math.exp(normal.log_density(y[t])) == pytest.approx(density, rel=1e-6)
        loss -= math.log(density)
        learner.learn_one([x[t]], y[t])
    total = -math.log(integral(lambda w: weights(w, T)))  # (10)
    assert loss == pytest.approx(total, rel=1e-6)
    assert learner.log_loss_ == pytest.approx(total, rel=1e-6)
    A, b = (a + (x**2).sum()) / (2 * s2), -(x @ y) / s2
    lemma_3 = math.exp(b * b / (4 * A)) * math.sqrt(math.pi / A)
    assert integral(lambda w: np.exp(-A * w**2 - b * w)) == pytest.approx(lemma_3, rel=1e-6)
    mean = integral(lambda w: w * weights(w, T)) / integral(lambda w: weights(w, T))  # Remark 1
    assert learner.coef_[0] == pytest.approx(mean, rel=1e-5, abs=1e-7)


@few
@given(seeds, st.integers(1, 30), st.integers(1, 5))
def test_zv_3_and_16(seed: int, T: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    X, a = rng.normal(size=(T, n)), 10.0 ** rng.uniform(-2, 2)
    log_det = np.linalg.slogdet(np.eye(n) + X.T @ X / a)[1]
    assert log_det <= n * math.log1p(T * np.abs(X).max() ** 2 / a) + 1e-12
    _, d = linear.looks(X, np.zeros((T, 1)), a)
    assert np.log(d).sum() == pytest.approx(log_det, rel=1e-9, abs=1e-12)


# Kakade and Ng --------------------------------------------------------------------------------


def test_kn_curvatures() -> None:
    """KN (1)-(3): f'' is 1/s^2 for the Gaussian, at most 1 (indeed 1/4) for the logistic."""
    z, h = np.linspace(-8, 8, 401), 1e-4
    for f, largest in (
        (lambda z: (z - 0.3) ** 2 / (2 * 0.5) + 0.5 * math.log(2 * math.pi * 0.5), 2.0),
        (lambda z: np.log1p(np.exp(-z)), 0.25),
        (lambda z: np.log1p(np.exp(z)), 0.25),
    ):
        second = (f(z + h) - 2 * f(z) + f(z - h)) / h**2
        assert second.max() == pytest.approx(largest, rel=1e-4)


@few
@given(seeds, st.integers(1, 5))
def test_kn_5_divergence_from_the_prior(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    mu, nu, e = rng.normal(size=n), *(10.0 ** rng.uniform(-1, 1, 2))
    printed = n * math.log(nu) + (mu @ mu + n * e * e) / (2 * nu * nu) - n / 2 - n * math.log(e)
    S, P = e * e * np.eye(n), nu * nu * np.eye(n)
    exact = 0.5 * (np.trace(S) / nu**2 + mu @ mu / nu**2 - n)
    exact += 0.5 * (np.linalg.slogdet(P)[1] - np.linalg.slogdet(S)[1])
    assert printed == pytest.approx(exact, rel=1e-9, abs=1e-9)


def test_kn_b_without_the_noise_breaks_corollary_31() -> None:
    """KN section 3.1 prints b_t = sum xy; x = y = 1, T = 20, nu = 1, s = 0.1: 9.81 > 4.34."""
    T, nu2, s2 = 20, 1.0, 0.01
    lost = {}
    for divide in (1.0, s2):
        A, b, total = 1 / nu2, 0.0, 0.0
        for _ in range(T):
            total += 0.5 * (1.0 - b / A) ** 2
            A, b = A + 1 / s2, b + 1.0 / divide
        lost[divide] = total
    gamma2 = s2 + nu2
    bound = 0.5 * gamma2 / nu2 + 0.5 * gamma2 * math.log1p(T * nu2 / s2)
    assert lost[1.0] == pytest.approx(9.81, abs=0.005)
    assert bound == pytest.approx(4.34, abs=0.005)
    assert lost[s2] <= bound < lost[1.0]


@few
@given(seeds)
def test_kn_6_to_11_are_bayesian_ridge(seed: int) -> None:
    rng = np.random.default_rng(seed)
    T, nu2, s2 = 8, *(10.0 ** rng.uniform(-1, 1, 2))
    X, y = rng.normal(size=(T, 2)), rng.normal(size=T)
    learner = nr.BayesianRidge(s2 / nu2, noise_var=s2)
    A, b, bma = np.eye(2) / nu2, np.zeros(2), 0.0
    for x, v in zip(X, y):
        mean, var = x @ np.linalg.solve(A, b), x @ np.linalg.solve(A, x) + s2  # (7), b with 1/s^2
        normal = learner.predictive(x)
        assert (normal.mean, normal.var) == pytest.approx((mean, var), rel=1e-9, abs=1e-12)
        bma += (v - mean) ** 2 / (2 * var) + 0.5 * math.log(2 * math.pi * var)  # (9), 1/s_t^2
        learner.learn_one(x, v)
        A, b = A + np.outer(x, x) / s2, b + x * v / s2
    assert learner.log_loss_ == pytest.approx(bma, rel=1e-9)
    assert learner.coef_ == pytest.approx(np.linalg.solve(A, b), rel=1e-8)  # (6)


# Busuttil and Kalnishkan ----------------------------------------------------------------------


@few
@given(seeds, st.integers(1, 4), st.integers(1, 4))
def test_bk_lemmas_of_the_appendix(seed: int, n: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    A, b, x, a = spd(rng, n), rng.normal(size=n), rng.normal(size=n), 10.0 ** rng.uniform(-1, 1)

    def least(c: np.ndarray) -> float:
        return float(-0.25 * c @ np.linalg.solve(A, c))

    assert least(b + x) - least(b - x) == pytest.approx(  # Lemma 2
        -b @ np.linalg.solve(A, x), rel=1e-8, abs=1e-10
    )
    M = rng.normal(size=(n, m))
    left = np.linalg.solve(M @ M.T + a * np.eye(n), M)
    assert left == pytest.approx(M @ np.linalg.inv(M.T @ M + a * np.eye(m)), rel=1e-8)  # Lemma 3
    one, other = np.eye(m) + M.T @ M, np.eye(n) + M @ M.T
    assert np.linalg.slogdet(one)[1] == pytest.approx(np.linalg.slogdet(other)[1], rel=1e-9)  # 4
    scale, c = 10.0 ** rng.uniform(-1, 1), float(rng.normal())
    gauss = integral(lambda w: np.exp(-scale * w**2 - c * w), 60.0 / math.sqrt(scale))  # Lemma 1
    assert gauss == pytest.approx(
        math.exp(c * c / (4 * scale)) * math.sqrt(math.pi / scale), rel=1e-6
    )


@few
@given(seeds)
def test_bk_2_and_3_square_loss_is_mixable_at_the_rate_and_not_above(seed: int) -> None:
    rng = np.random.default_rng(seed)
    Y, N = 10.0 ** rng.uniform(-1, 1), 3
    eta, p, said = 1 / (2 * Y * Y), rng.dirichlet(np.ones(N)), Y * rng.uniform(-1.5, 1.5, N)
    g = float(twin.substitution(p.tolist(), said.tolist(), -Y, Y))
    for v in np.linspace(-Y, Y, 41):
        mix = float(twin.generalised(p.tolist(), said.tolist(), v, eta))
        assert (v - g) ** 2 <= mix + 1e-9 * Y * Y
    high, two = 1.02 * eta, [-0.2 * Y, 0.2 * Y]
    mixes = [float(twin.generalised([0.5, 0.5], two, v, high)) for v in (-Y, Y)]
    assert math.sqrt(mixes[0]) + math.sqrt(mixes[1]) < 2 * Y  # no g is near enough to both


def test_bk_8_as_printed_is_false() -> None:
    """With f_t alone: x = 1, y = (-1)^t, a_t = 3, T = 200, f_t = y_t/4: 267.28 > 263.48."""
    T, a = 200, 3.0
    y = np.array([(-1.0) ** t for t in range(1, T + 1)])
    f = y / 4.0
    learner = nr.AAR(a, drift=1 / a, kernel="linear")
    loss = float(learner.replay(np.ones((T, 1)), y).loss.sum())
    S = np.arange(1, T + 1) / a
    log_det = np.linalg.slogdet(np.eye(T) + np.minimum.outer(S, S))[1]
    printed = ((y - f) ** 2).sum() + a * (f**2).sum() + log_det
    corrected = ((y - np.cumsum(f)) ** 2).sum() + a * (f**2).sum() + log_det
    assert loss == pytest.approx(267.28, abs=0.005)
    assert printed == pytest.approx(263.48, abs=0.005)
    assert printed < loss <= corrected


# Herbster -------------------------------------------------------------------------------------


@few
@given(seeds)
def test_h_lemma_1_and_the_inequalities_of_its_proof(seed: int) -> None:
    """H (9)-(17): loss and norm of an expansion at a slightly narrower width."""
    rng = np.random.default_rng(seed)
    m, T, n, s0, c = 3, 6, 2, float(rng.uniform(1, 3)), float(rng.uniform(0.1, 1))
    V, X, beta = rng.random((m, n)), rng.random((T, n)), 2.0 * rng.normal(size=m)
    y = rng.uniform(-1, 1, T)

    def k(A, B, alpha):
        return np.exp(-s0 * alpha * ((A[:, None] - B[None]) ** 2).sum(axis=2))

    alpha = float(rng.random() * 0.5)
    norm2 = float(beta @ k(V, V, alpha) @ beta)
    if norm2 < 1.0:
        beta = beta * math.sqrt(1.01 / norm2)
        norm2 = 1.01
    plus, minus = np.maximum(beta, 0), np.minimum(beta, 0)
    surfeit = plus @ k(V, V, alpha) @ plus + minus @ k(V, V, alpha) @ minus  # (8), (14)
    delta = c / (5 * s0 * T * 1.0 * n * 1.0 * surfeit)
    eps = s0 * delta * n
    before, after = k(X, V, alpha) @ beta, k(X, V, alpha + delta) @ beta
    ups = k(X, V, alpha) @ plus
    assert (ups >= k(X, V, alpha + delta) @ plus - 1e-12).all()  # (15)
    assert (k(X, V, alpha + delta) @ plus >= (1 - eps) * ups - 1e-12).all()
    largest = np.maximum(ups, np.abs(k(X, V, alpha) @ minus))
    assert (np.abs(before - after) <= eps * largest + 1e-12).all()  # (16)
    assert ((y - after) ** 2).sum() <= ((y - before) ** 2).sum() + c  # (11)
    narrower = float(beta @ k(V, V, alpha + delta) @ beta)
    assert narrower <= norm2 + eps * surfeit + 1e-12  # (17)
    assert narrower <= norm2 + c  # (12)
    u = rng.normal() * 3
    assert 1 + u <= math.exp(u)  # (13)


# Jamil and Bouchachia -------------------------------------------------------------------------


@few
@given(seeds, st.integers(1, 4))
def test_jb_lemmas_1_and_2(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    M, D, a = spd(rng, n), rng.uniform(0.1, 2, n), 10.0 ** rng.uniform(-1, 1)
    root = np.sqrt(D)
    left = np.linalg.inv(a * np.diag(1 / D) + M)
    inner = np.linalg.inv(a * np.eye(n) + np.outer(root, root) * M)
    assert left == pytest.approx(np.outer(root, root) * inner, rel=1e-7, abs=1e-10)
    x, b = rng.normal(size=n), rng.normal(size=n)
    w = np.linalg.solve(M, b)
    assert x @ M @ x - 2 * b @ x == pytest.approx((x - w) @ M @ (x - w) - b @ w, rel=1e-7, abs=1e-9)


def jb_integral(a: float, eta: float, *, normalised: bool) -> float:
    """log_beta of the integral of Lemma 4 in round 1: x = 1, y = -1, D = 1."""
    constant = math.sqrt(a * eta / math.pi) if normalised else a * eta / 2

    def inside(w):
        return constant * np.exp(-a * eta * w**2 - eta * (-1.0 - w) ** 2)

    return -math.log(integral(inside)) / eta


def test_jb_2_is_no_density_and_lemma_4_no_identity() -> None:
    """One round, x = 1, y = -1, a = 1: OSLOG loses 4; the integral says 12.56, normalised 3.27."""
    mass = integral(lambda w: (100.0 / 2) * np.exp(-100.0 * w**2))
    assert mass == pytest.approx(8.86, abs=0.005)  # a eta = 100, D = 1
    loss = float(nr.OSLOG(1.0).replay([[1.0]], [-1.0]).loss.sum())
    assert loss == 4.0
    assert jb_integral(1.0, 1 / 8, normalised=False) == pytest.approx(12.56, abs=0.005)
    assert jb_integral(1.0, 1 / 8, normalised=True) == pytest.approx(3.27, abs=0.005)


def test_jb_12_needs_every_weight() -> None:
    """w = (1, 1e-6), a = C = 1, X = 0: ln det A = 13.8 > 0."""
    w, a, C, n = np.array([1.0, 1e-6]), 1.0, 1.0, 2
    log_det = float(np.log(a / np.abs(w)).sum())
    assert np.abs(w).sum() >= C
    assert log_det == pytest.approx(13.8, abs=0.05)
    assert log_det > n * math.log((a + 0.0) / C)


def test_jb_corollary_1_and_theorem_3() -> None:
    """x = 1/2, y = 1, a = 10.2, T = 200: 57.86 > 22.11, and > AAR's bound 35.66."""
    T, a, x = 200, 10.2, 0.5  # a >= 32/pi, as Theorem 3 asks
    learner = nr.OSLOG(a)
    X, y = np.full((T, 1), x), np.ones(T)
    replay = learner.replay(X, y)
    loss = float(((np.clip(replay.forecast, -1, 1) - y) ** 2).sum())
    size = float(np.abs(replay.weights[-2, 0]))  # w_(T-1)
    assert size == pytest.approx(1.79, abs=0.005)
    w = T * x / (T * x * x + a / size)
    charged = T * (1 - w * x) ** 2 + a * w * w / size
    right = charged + math.log(32 * (a + size * T * x * x) / (a * a * size * math.pi))
    aar = nr.AAR(a).fit(X, y).certificate(outcome_bound=1.0)
    assert loss == pytest.approx(57.86, abs=0.005)
    assert right == pytest.approx(22.11, abs=0.02)
    assert aar.bound == pytest.approx(35.66, abs=0.005)
    assert loss > aar.bound > right
