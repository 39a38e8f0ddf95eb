"""Approximations to Bayesian averaging against exact averaging: Tierney-Kadane, particles, ADF."""

from __future__ import annotations

import math
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from test_logistic import KINDS, stream

import noregret as nr
from noregret import snapshot
from noregret.reference import logistic as twin

T = 60
POINTS = {1: 8001, 2: 701}
PROBLEMS = [
    (n, kind, prior_var, seed)
    for n, seeds in ((1, (0, 1)), (2, (2,)))
    for kind in KINDS
    for prior_var in (0.25, 4.0, 64.0)
    for seed in seeds
]


@cache
def exact(n: int, kind: str, prior_var: float, seed: int) -> float:
    X, signs = stream(kind, n, T, seed)
    return -twin.log_evidence(X, signs, prior_var, POINTS[n])


@pytest.mark.parametrize("n", [1, 3, 4, 7, 8, 13])
@pytest.mark.parametrize("method", ["map", "tierney-kadane"])
def test_sums_at_the_last_mode_go_on_with_the_bits_of_sums_begun_anew(n: int, method: str) -> None:
    """A learner from a file has no such sums at hand: it adds up all rounds at each mode."""
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(40, n)), rng.integers(0, 2, size=40)
    make = nr.MAPLogistic if method == "map" else partial(nr.BayesianLogistic, method=method)
    one, other = make(prior_var=4.0), make(prior_var=4.0)
    for x, label in zip(X, y.tolist()):
        one.learn_one(x, label)
        other.learn_one(x, label)
        other = snapshot.from_bytes(other.to_bytes())
        assert one.predict_one(x) == other.predict_one(x)
        assert one.coef_.tolist() == other.coef_.tolist()
    assert one.to_bytes() == other.to_bytes()


def excess(learner: Any, n: int, kind: str, prior_var: float, seed: int) -> float:
    """Nats above exact averaging."""
    X, signs = stream(kind, n, T, seed)
    learner.replay(X, (signs > 0.0).astype(int))
    return float(learner.log_loss_ - exact(n, kind, prior_var, seed))


def survey(make: Any) -> np.ndarray:
    return np.array([excess(make(problem[2]), *problem) for problem in PROBLEMS])


def told(record: Any, name: str, found: np.ndarray) -> None:
    """What was found, into the report of the run."""
    numbers = (
        f"max {found.max():+.3f} min {found.min():+.3f} median |.| {np.median(abs(found)):.3f}"
    )
    record(name, numbers)
    print(f"{name}: {numbers}")  # noqa: T201  # shown with -s


# Against the formula ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "prior_var"), [(1, 9.0), (3, 0.5)])
def test_tierney_kadane_is_its_formula(n: int, prior_var: float, kind: str) -> None:
    X, signs = stream(kind, n, 15, seed=1)
    X = X * 2.0
    learner = nr.BayesianLogistic(prior_var, method="tierney-kadane")
    for t, (x, s) in enumerate(zip(X, signs)):
        right = twin.tierney_kadane(X[:t], signs[:t], x, prior_var)
        assert_allclose(learner.predict_one(x), right, rtol=0.0, atol=1e-8)
        before = learner.log_loss_ if t else 0.0
        learner.learn_one(x, int(s > 0.0))
        paid = -math.log(right if s > 0.0 else 1.0 - right)
        assert_allclose(learner.log_loss_ - before, paid, rtol=0.0, atol=1e-7)
    assert_allclose(learner.coef_[0], twin.mode(X, signs, prior_var)[0], rtol=0.0, atol=1e-8)


@pytest.mark.slow
def test_the_grid_that_judges_is_dense_enough() -> None:
    """A denser one says the same."""
    X, signs = stream("switching", 2, T, 2)
    coarse = twin.log_evidence(X, signs, 64.0, POINTS[2])
    assert_allclose(coarse, twin.log_evidence(X, signs, 64.0, 951), rtol=0.0, atol=1e-9)


# Against exact averaging --------------------------------------------------------------------


@pytest.mark.slow
def test_tierney_kadane_is_near_exact_averaging(record_property: Any) -> None:
    found = survey(lambda v: nr.BayesianLogistic(v, method="tierney-kadane"))
    told(record_property, "tierney-kadane", found)
    assert found.max() <= 0.2, PROBLEMS[int(found.argmax())]


@pytest.mark.slow
def test_a_thousand_particles_are_near_exact_averaging(record_property: Any) -> None:
    found = survey(lambda v: nr.BayesianLogistic(v, method="smc", particles=1000, seed=3))
    told(record_property, "smc", found)
    assert found.max() <= 0.3, PROBLEMS[int(found.argmax())]


@pytest.mark.slow
def test_more_particles_are_nearer() -> None:
    problem = (1, "switching", 64.0, 0)
    errors = [
        np.mean(
            [
                abs(excess(nr.BayesianLogistic(64.0, method="smc", particles=N, seed=s), *problem))
                for s in range(30)
            ]
        )
        for N in (30, 300, 3000)
    ]
    assert errors[2] < 0.6 * errors[1] < 0.36 * errors[0]  # 1/sqrt(10) each in theory


@pytest.mark.slow
def test_learners_without_a_bound_on_their_excess(record_property: Any) -> None:
    """Reported, not bounded: they may do better than exact averaging, or worse."""
    for name, make in {
        "adf": lambda v: nr.BayesianLogistic(v, method="adf"),
        "online newton": lambda v: nr.MAPLogistic(v, history=False),
        "map": nr.MAPLogistic,
        "safe": lambda v: nr.SafeLogistic(v, method="adf"),
    }.items():
        found = []
        for problem in PROBLEMS:
            learner = make(problem[2])
            X, signs = stream(problem[1], problem[0], T, problem[3])
            learner.replay(X, (signs > 0.0).astype(float))
            found.append(learner.certificate().loss - exact(*problem))
        told(record_property, name, np.array(found))
        assert np.isfinite(found).all()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["separable", "switching", "iid"])
def test_five_weights_against_importance_sampling(kind: str) -> None:
    """Evidence by a wide t around the mode: -ln of it is what exact averaging loses in all."""
    n, prior_var = 5, 4.0
    X, signs = stream(kind, n, T, seed=4)
    w, F, _ = twin.mode(X, signs, prior_var)
    rng = np.random.default_rng(0)
    p = 1.0 / (1.0 + np.exp(-(X @ w)))
    curve = np.eye(n) / prior_var + (X.T * (p * (1.0 - p))) @ X
    root = np.linalg.cholesky(np.linalg.inv(curve))
    N, free = 400_000, 8.0
    z = rng.standard_normal((N, n)) / np.sqrt(rng.chisquare(free, size=N) / free)[:, None]
    draws = w + z @ root.T
    height = -0.5 * (draws * draws).sum(axis=1) / prior_var
    for x, s in zip(X, signs):
        height -= twin.loss(s * (draws @ x))
    log_t = (
        math.lgamma((free + n) / 2.0)
        - math.lgamma(free / 2.0)
        - 0.5 * n * math.log(free * math.pi)
        - float(np.linalg.slogdet(root)[1])
        - 0.5 * (free + n) * np.log1p((z * z).sum(axis=1) / free)
    )
    logs = height + F - 0.5 * n * math.log(2.0 * math.pi * prior_var) - log_t
    ratio = np.exp(logs - logs.max())
    right = F - logs.max() - math.log(float(ratio.mean()))
    assert ratio.std() / ratio.mean() / math.sqrt(N) < 2e-3
    y = (signs > 0.0).astype(int)
    for learner, allowed in (
        (nr.BayesianLogistic(prior_var, method="tierney-kadane"), 0.25),
        (nr.BayesianLogistic(prior_var, method="smc", particles=1000, seed=1), 0.4),
    ):
        learner.replay(X, y)
        print(kind, learner.method, learner.log_loss_ - right)  # noqa: T201  # shown with -s
        assert abs(learner.log_loss_ - right) <= allowed
