"""Statements of the papers that are used here as they stand: horizons, limits, distributions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import NotLearnedError, ParameterError
from noregret.kernels import clipped_precision, decaying_change, horizon_drift, horizon_precision


def rbf(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return np.exp(-0.5 * ((A[:, None] - B[None]) ** 2).sum(axis=2))


def named(learner, name: str) -> nr.Certificate:
    (found,) = [c for c in learner.certificates() if c.name == name]
    return found


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 40))
def test_clipped_kernel_ridge_at_a_known_horizon(seed: int, T: int) -> None:
    """ZV section 6: a = c sqrt(T) gives L(f) + c (|f|^2 + 4Y^2) sqrt(T) for every f."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(T, 2)), rng.uniform(-1, 1, T)
    a = clipped_precision(T)
    learner = nr.Ridge(a, kernel="rbf", clip=1.0).fit(X, y)
    K = rbf(X, X)
    loss = learner.certificate().loss
    for _ in range(10):
        beta = rng.normal(size=T)
        norm2 = float(beta @ K @ beta)
        rival = ((y - K @ beta) ** 2).sum() + (norm2 + 4.0) * math.sqrt(T)
        assert loss <= rival + 1e-9
    c = named(learner, "Zhdanov-Vovk Corollary 4, horizon form")
    best = y @ np.linalg.solve(np.eye(T) + K / a, y)
    assert c.holds is True
    assert c.bound == pytest.approx(best + 4.0 * math.sqrt(T), rel=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 40), st.floats(0.05, 1.0))
def test_experts_whose_changes_decay(seed: int, T: int, decay: float) -> None:
    """BK Corollary 3: changes of at most d/T^(1/2+e) cost sqrt(2) Y c d T^(1-e) at the most."""
    rng = np.random.default_rng(seed)
    Y, d1, d = 1.0, 1.5, 0.7
    s = decaying_change(T, step=d, decay=decay)
    a1 = horizon_precision(T, Y, norm=d1)
    walk = horizon_drift(T, Y, change=s)
    X, y = rng.normal(size=(T, 2)), rng.uniform(-Y, Y, T)
    loss = nr.AAR(a1, drift=walk, kernel="rbf").fit(X, y).certificate().loss
    K = rbf(X, X)
    price = 2 * Y * d1 * math.sqrt(T) + math.sqrt(2) * Y * d * T ** (1 - decay)
    for _ in range(5):
        f = np.zeros(T)
        rival = 0.0
        for t in range(T):
            beta = rng.normal(size=T)
            size = d1 if t == 0 else d / T ** (0.5 + decay)
            f = f + K @ (beta * size / math.sqrt(beta @ K @ beta))
            rival += (y[t] - f[t]) ** 2
        assert loss <= rival + price + 1e-9


def test_the_ratio_of_corollary_3_tends_to_1() -> None:
    """ZV Corollary 3, part 2; part 1: with a perfect expert the loss stays finite."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (20_000, 2))
    noisy, perfect = X @ [1.0, -1.0] + rng.normal(size=20_000), X @ [1.0, -1.0]
    ratios = []
    for T in (20, 200, 20_000):
        c = nr.Ridge().fit(X[:T], noisy[:T]).loss_ratio()
        assert c.holds is None
        ratios.append(c.loss / c.comparator)
        assert f"so far it is {ratios[-1]:.6g}" in c.statement
    assert ratios == sorted(ratios, reverse=True)
    assert 1.0 <= ratios[-1] < 1.002
    losses = [nr.Ridge().replay(X[:T], perfect[:T]).loss.sum() for T in (1_000, 20_000)]
    assert losses[1] == pytest.approx(losses[0], rel=1e-2)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 30), st.booleans())
def test_lemma_21_against_any_gaussian_over_experts(seed: int, T: int, merged: bool) -> None:
    """KN Lemma 2.1 and the equality behind it, both sides from plain formulas."""
    rng = np.random.default_rng(seed)
    n, a, s2 = 3, 10.0 ** rng.uniform(-1, 1), 10.0 ** rng.uniform(-1, 1)
    X, y = rng.normal(size=(T, n)), rng.normal(size=T)
    learner = nr.BayesianRidge(a, noise_var=s2).fit(X, y)
    if merged and T > 1:
        parts = [nr.BayesianRidge(a, noise_var=s2).fit(X[k::2], y[k::2]) for k in range(2)]
        learner = nr.merge(parts)
    mu, C = rng.normal(size=n), rng.normal(size=(n, n))
    S = C @ C.T + 0.1 * np.eye(n)
    S = 0.5 * (S + S.T)
    bound, exact = learner.certificates_against(mu, S)
    loss_q = 0.5 * T * math.log(2 * math.pi * s2)
    loss_q += (((y - X @ mu) ** 2).sum() + np.trace(X @ S @ X.T)) / (2 * s2)
    prior, post = s2 / a * np.eye(n), s2 * np.linalg.inv(a * np.eye(n) + X.T @ X)
    w = np.linalg.solve(a * np.eye(n) + X.T @ X, X.T @ y)
    G = np.eye(T) * s2 + s2 / a * X @ X.T
    evidence = 0.5 * (
        T * math.log(2 * math.pi) + np.linalg.slogdet(G)[1] + y @ np.linalg.solve(G, y)
    )
    assert bound.loss == pytest.approx(evidence, rel=1e-9, abs=1e-9)
    assert bound.comparator == pytest.approx(loss_q, rel=1e-9)
    assert bound.bound == pytest.approx(loss_q + kl(mu, S, np.zeros(n), prior), rel=1e-8)
    assert bound.holds is True
    assert exact.bound == pytest.approx(bound.bound - kl(mu, S, w, post), rel=1e-8, abs=1e-8)
    assert exact.holds is True


def kl(mu: np.ndarray, S: np.ndarray, nu: np.ndarray, P: np.ndarray) -> float:
    """KL(N(mu, S) | N(nu, P))."""
    gap = mu - nu
    trace = np.trace(np.linalg.solve(P, S)) + gap @ np.linalg.solve(P, gap)
    return 0.5 * (trace - len(mu) + np.linalg.slogdet(P)[1] - np.linalg.slogdet(S)[1])


def test_the_posterior_itself_makes_lemma_21_an_equality() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    learner = nr.BayesianRidge(2.0).fit(X, y)
    A = 2.0 * np.eye(2) + X.T @ X
    S = np.linalg.inv(A)
    bound, _ = learner.certificates_against(learner.coef_, 0.5 * (S + S.T))
    assert bound.bound == pytest.approx(bound.loss, rel=1e-9)


def test_distributions_that_are_none_are_refused() -> None:
    learner = nr.BayesianRidge().fit([[1.0, 2.0]], [1.0])
    for mean, covariance in (
        ([0.0], -1.0),
        ([0.0, 0.0, 0.0], 1.0),
        (0.0, [[1.0, 2.0], [0.0, 1.0]]),
    ):
        with pytest.raises(ParameterError):
            learner.certificates_against(mean, covariance)
    with pytest.raises(NotLearnedError):
        nr.BayesianRidge(drift=0.1).fit([[1.0]], [1.0]).certificates_against(0.0, 1.0)
