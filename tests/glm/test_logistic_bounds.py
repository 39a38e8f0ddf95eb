"""What is proved of yes-or-no learners, on every kind of stream, recomputed from the data."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import noregret as nr
from noregret.errors import NumericalError
from noregret.reference import logistic as twin

SHAPES = (
    "random",
    "alternating",
    "separable",
    "switching",
    "collinear",
    "scaled",
    "long",
    "zeros",
    "surprise",
)
PRIOR_VARS = (1e-3, 0.01, 0.05, 0.25, 0.7, 1.0, 4.0, 16.0, 64.0)


@dataclass(frozen=True, eq=False)
class Labels:
    """X (T, n), signs, and what shaped them."""

    X: np.ndarray
    signs: np.ndarray
    shape: str

    @property
    def y(self) -> np.ndarray:
        return (self.signs > 0.0).astype(int)

    def __repr__(self) -> str:
        return f"Labels({self.shape}, X={self.X.tolist()}, signs={self.signs.tolist()})"


@st.composite
def labels(draw, features: int = 4, rounds: int = 24, longest: float = 30.0) -> Labels:
    n, T = draw(st.integers(1, features)), draw(st.integers(1, rounds))
    shape = draw(st.sampled_from(SHAPES))
    size = min(longest, draw(st.sampled_from([0.1, 1.0, 5.0, 30.0])))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(-1024, 1025, size=(T, n)) / 1024.0
    w = 4.0 * rng.normal(size=n)
    signs = np.where(rng.random(T) < 0.5, 1.0, -1.0)
    if shape == "alternating":
        X[:] = X[0]
        signs = np.where(np.arange(T) % 2, -1.0, 1.0)
    elif shape == "separable":
        signs = np.where(X @ w > 0.0, 1.0, -1.0)
    elif shape == "switching":
        change = np.where(np.arange(T) < T // 2, 1.0, -1.0)
        signs = np.where(change * (X @ w) > 0.0, 1.0, -1.0)
    elif shape == "collinear":
        X[:, -1] = X[:, 0] + 1e-6 * rng.normal(size=T)
        signs = np.where(X @ w + rng.normal(size=T) > 0.0, 1.0, -1.0)
    elif shape == "scaled":
        X = X * 2.0 ** rng.integers(-14, 1, size=n)
    elif shape == "long":
        X[:] = 1.0
    elif shape == "zeros":
        X[rng.random((T, n)) < 0.6] = 0.0
    elif shape == "surprise":  # learned on short x, failed at the longest
        X = 0.03 * np.abs(X) + 0.01
        X[-1] = 1.0
        signs = np.append(np.ones(T - 1), -1.0)
    X = X * size / max(1.0, float(np.linalg.norm(X, axis=1).max()))
    return Labels(np.ascontiguousarray(X), signs, shape)


prior_vars = st.sampled_from(PRIOR_VARS)


def named(learner, name: str):
    return next(c for c in learner.certificates() if c.name.startswith(name))


# MAP ----------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(labels(), prior_vars)
def test_bounds_of_the_mode(stream: Labels, prior_var: float) -> None:
    X, signs = stream.X, stream.signs
    learner = nr.MAPLogistic(prior_var)
    learner.replay(X, stream.y)
    L, (_, F, _) = learner.log_loss_, twin.mode(X, signs, prior_var)
    z = prior_var * float((X * X).sum(axis=1).max())
    first = (1.0 + z * min(1.0, 0.4074 * math.exp(min(z, 700.0)))) * F
    tiny = 1e-9 * max(1.0, L, F)
    assert first + tiny >= L
    certificate = named(learner, "MAP, (1 +")
    assert certificate.holds is True, str(certificate)
    assert_allclose(certificate.comparator, F, rtol=1e-9, atol=1e-12)
    assert_allclose(certificate.bound, first, rtol=1e-9)

    live = named(learner, "MAP, live form")
    assert live.holds is True, str(live)
    assert live.bound <= certificate.bound * (1.0 + 1e-9)


@settings(max_examples=20, deadline=None)
@given(labels(rounds=10), prior_vars)
def test_the_live_form_from_the_modes(stream: Labels, prior_var: float) -> None:
    X, signs = stream.X, stream.signs
    learner = nr.MAPLogistic(prior_var)
    learner.replay(X, stream.y)
    ends = range(1, len(X) + 1)
    ws = [np.zeros(X.shape[1]), *(twin.mode(X[:t], signs[:t], prior_var)[0] for t in ends)]
    before = sum(twin.loss(s * (x @ w)) for x, s, w in zip(X, signs, ws))
    after = sum(twin.loss(s * (x @ w)) for x, s, w in zip(X, signs, ws[1:]))
    F = twin.objective(ws[-1], X, signs, prior_var)
    assert_allclose(learner.log_loss_, before, rtol=1e-7, atol=1e-9)
    live = named(learner, "MAP, live form")
    assert_allclose(live.bound, F + before - after, rtol=1e-7, atol=1e-8)


@settings(max_examples=80, deadline=None)
@given(labels(longest=1.0), prior_vars)
def test_theorem_3_3_where_it_applies(stream: Labels, prior_var: float) -> None:
    T, n = stream.X.shape
    learner = nr.MAPLogistic(prior_var)
    learner.replay(stream.X, stream.y)
    certificate = named(learner, "Kakade-Ng Theorem 3.3")
    if prior_var > 0.25 or np.linalg.norm(stream.X, axis=1).max() > 1.0 + 1e-12:
        assert certificate.holds is None
        assert certificate.bound is None
        return
    F = twin.mode(stream.X, stream.signs, prior_var)[1]
    right = 4.0 * F + 2.0 * n * math.log1p(T * prior_var / n)
    if np.linalg.norm(stream.X, axis=1).max() <= 1.0 - 1e-12:
        assert certificate.holds is True
        assert_allclose(certificate.bound, right, rtol=1e-9)
    assert learner.log_loss_ <= right + 1e-9


def test_theorem_3_3_is_withdrawn_once_x_is_long() -> None:
    learner = nr.MAPLogistic(0.25)
    learner.learn_one(np.array([1.0, 0.0]), 1)
    assert named(learner, "Kakade-Ng").holds is True
    learner.learn_one(np.array([1.0, 0.1]), 1)
    certificate = named(learner, "Kakade-Ng")
    assert (certificate.holds, certificate.bound) == (None, None)
    assert "|x| <= 1: the largest so far is" in str(certificate)
    wide = nr.MAPLogistic(0.26)
    wide.learn_one(np.array([0.5]), 1)
    assert named(wide, "Kakade-Ng").holds is None


@settings(max_examples=40, deadline=None)
@given(labels(features=3, rounds=14), prior_vars)
def test_the_live_form_for_probit(stream: Labels, prior_var: float) -> None:
    learner = nr.MAPLogistic(prior_var, family="probit")
    learner.replay(stream.X, stream.y)
    (certificate,) = learner.certificates()
    assert certificate.holds is True, str(certificate)


def test_online_newton_claims_nothing() -> None:
    learner = nr.MAPLogistic(2.0, history=False)
    learner.learn_one(np.ones(2), 1)
    (certificate,) = learner.certificates()
    assert (certificate.kind, certificate.holds) == ("report", None)


# Averaging ----------------------------------------------------------------------------------


def averages(stream: Labels, prior_var: float, family: str = "logistic") -> None:
    X = stream.X
    T, n = X.shape
    learner = nr.BayesianLogistic(prior_var, method="exact", family=family)
    try:
        learner.replay(X, stream.y)
    except NumericalError as refusal:
        assert "too narrow for a grid" in str(refusal)  # noqa: PT017  # it says what to do
        return
    for certificate in learner.certificates():
        assert certificate.holds is True, str(certificate)
    if family == "logistic":
        L, F = learner.log_loss_, twin.mode(X, stream.signs, prior_var)[1]
        spread = 0.5 * np.linalg.slogdet(np.eye(n) + 0.25 * prior_var * X.T @ X)[1]
        Z2 = float((X * X).sum(axis=1).max())
        published = 0.5 * n * math.log1p(0.25 * T * prior_var * Z2 / n)
        tiny = 1e-8 * max(1.0, L)
        assert F - tiny <= L <= F + spread + tiny
        assert spread <= published + tiny
        main = learner.certificate()
        assert_allclose(main.bound, F + spread, rtol=1e-8, atol=1e-9)
        assert_allclose(named(learner, "Kakade-Ng").bound, F + published, rtol=1e-8, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(labels(features=1, rounds=20), prior_vars)
def test_averaging_is_between_its_bounds(stream: Labels, prior_var: float) -> None:
    averages(stream, prior_var)


@settings(max_examples=15, deadline=None)
@given(labels(features=2, rounds=8, longest=5.0), st.sampled_from(PRIOR_VARS[:7]))
def test_averaging_of_two_weights_is_between_its_bounds(stream: Labels, prior_var: float) -> None:
    averages(stream, prior_var)


@settings(max_examples=15, deadline=None)
@given(labels(features=1, rounds=10, longest=5.0), prior_vars)
def test_averaging_of_probits_is_between_its_bounds(stream: Labels, prior_var: float) -> None:
    averages(stream, prior_var, "probit")


@pytest.mark.parametrize("method", ["tierney-kadane", "smc", "adf"])
def test_approximations_show_the_bound_as_a_report_only(method: str) -> None:
    learner = nr.BayesianLogistic(4.0, method=method, particles=50)
    learner.replay(np.ones((9, 3)), np.arange(9) % 2)
    for certificate in learner.certificates():
        assert certificate.kind == "report"
        assert certificate.holds is None


# AIOLI --------------------------------------------------------------------------------------

bounds = st.sampled_from([0.3, 2.0, 7.0, 25.0])
weights = st.sampled_from([0.01, 0.4, 3.0])


@settings(max_examples=120, deadline=None)
@given(labels(rounds=40), bounds, weights, st.integers(0, 2**32 - 1))
def test_bounds_of_improper_learning(
    stream: Labels, bound: float, weight: float, seed: int
) -> None:
    X, signs = stream.X, stream.signs
    n = X.shape[1]
    learner = nr.ImproperLogistic(bound, regularisation=weight)
    losses = learner.replay(X, stream.y).loss
    L = learner.log_loss_
    for certificate in learner.certificates():
        assert certificate.holds is True, str(certificate)

    # A_t from the forecasts alone: l'' = p (1 - p)
    A = 2.0 * weight * np.eye(n)
    for x, loss in zip(X, losses):
        p = math.exp(-loss)
        A += p * -math.expm1(-loss) / (1.0 + bound) * np.outer(x, x)
    log_det = float(np.linalg.slogdet(A)[1]) - n * math.log(2.0 * weight)
    top = n * math.log1p(float((X * X).sum()) / (8.0 * n * weight * (1.0 + bound)))
    assert log_det <= top + 1e-9

    rng = np.random.default_rng(seed)
    best = twin.mode(X, signs, 1.0 / (2.0 * weight))[0]
    for k in range(12):
        w = best.copy() if k == 0 else best + rng.normal(size=n) * 10.0 ** rng.uniform(-2, 1)
        widest = float(np.abs(X @ w).max())
        if widest > bound:
            w *= bound / widest
        expert = float(twin.loss(signs * (X @ w)).sum() + weight * (w @ w))
        assert expert + (1.0 + bound) * log_det + 1e-9 * max(1.0, L) >= L
        assert learner.certificate().comparator <= expert + 1e-9 * max(1.0, L)


@settings(max_examples=15, deadline=None)
@given(labels(features=3, rounds=12), bounds, weights)
def test_the_exact_account_of_improper_learning(
    stream: Labels, bound: float, weight: float
) -> None:
    """Log loss = the least of the minorants + the price."""
    right = twin.improper(stream.X, stream.signs, bound, weight)
    learner = nr.ImproperLogistic(bound, regularisation=weight)
    learner.replay(stream.X, stream.y)
    certificate = learner.certificate()
    scale = max(1.0, learner.log_loss_)
    assert_allclose(learner.log_loss_, right.losses.sum(), rtol=0.0, atol=1e-8 * scale)
    assert_allclose(certificate.comparator, right.least, rtol=0.0, atol=1e-8 * scale)
    slack = certificate.bound - certificate.comparator
    assert_allclose(slack, (1.0 + bound) * right.log_det, rtol=1e-7, atol=1e-9)


# SafeLogistic -------------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(labels(features=3), prior_vars)
def test_bounds_of_safe_learning(stream: Labels, prior_var: float) -> None:
    X, y = stream.X, stream.y
    learner = nr.SafeLogistic(prior_var, method="adf")
    learner.replay(X, y)
    certificate = learner.certificate()
    assert certificate.holds is True, str(certificate)
    L = certificate.loss
    F = twin.mode(X, stream.signs, prior_var)[1]
    z = prior_var * float((X * X).sum(axis=1).max())
    factor = 1.0 + z * min(1.0, 0.4074 * math.exp(min(z, 700.0)))
    tiny = 1e-8 * max(1.0, L)
    assert factor * F + math.log(2.0) + tiny >= L
    for other in (nr.BayesianLogistic(prior_var, method="adf"), nr.MAPLogistic(prior_var)):
        other.replay(X, y)
        assert other.log_loss_ + math.log(2.0) + tiny >= L


@pytest.mark.parametrize("way", ["loop", "replay"])
def test_a_pool_charges_the_mode_what_it_lost(way: str) -> None:
    """A forecast that rounds to 1 costs what its margin says, not infinity."""
    X = np.append(np.ones(10), 30.0)[:, None]
    y = np.append(np.ones(10), 0.0)
    learner = nr.SafeLogistic(64.0, method="adf")
    if way == "replay":
        learner.replay(X, y)
    else:
        for x, label in zip(X, y):
            learner.learn_one(x, label)
    assert math.isfinite(learner.losses_["MAP"])
    assert_allclose(learner.losses_["MAP"], learner.experts_["MAP"].log_loss_, rtol=1e-9)
    assert learner.weights_["MAP"] > 0.0


def test_a_safe_certificate_says_what_is_added() -> None:
    learner = nr.SafeLogistic(0.25, method="adf")
    learner.learn_one(np.ones(1), 1.0)
    assert "ln 1/p_j" in learner.certificate().statement


def test_a_pool_takes_an_approximation_that_is_sure() -> None:
    """Moment matching that is sure of a label says 1, which is a probability."""
    learner = nr.SafeLogistic(4.0, method="adf")
    rng = np.random.default_rng(0)
    for _ in range(300):
        learner.learn_one(np.ones(1), float(rng.random() < 0.73))
    for far in (40.0, 50.0, 60.0, 100.0):
        assert 0.0 <= learner.predict_one(np.array([far])) <= 1.0
