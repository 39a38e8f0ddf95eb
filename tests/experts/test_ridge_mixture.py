"""The mixture over the ridge parameter: ZV (19) and (20), from their formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import ParameterError


def stream(seed: int, T: int, n: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(T, n))
    X /= 1.001 * np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1.0)
    w = rng.normal(size=n) * 10.0 ** rng.uniform(-1, 1)
    return X, np.clip(X @ w + 0.3 * rng.normal(size=T), -1.0, 1.0)


def side(loss: float, norm: float, Y: float, c: float, T: int) -> float:
    """(19) as it is derived in docs/theory.md, section 12."""
    k = max(math.ceil(Y * math.sqrt(T) / (c * norm)), 1)
    grid = (math.sqrt(2) + math.sqrt(0.5)) * Y * c * norm * math.sqrt(T) + (c * norm) ** 2
    return loss + grid + 2 * Y * Y * math.log(k * (k + 1))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 80))
def test_the_loss_is_within_19_of_every_expert_the_grid_reaches(seed: int, T: int) -> None:
    X, y = stream(seed, T)
    learner = nr.RidgeMixture(1.0, 1.0).fit(X, y)
    loss = learner.certificate().loss
    rng = np.random.default_rng(seed)
    for _ in range(50):
        w = rng.normal(size=3) * 10.0 ** rng.uniform(-2, 2)
        norm = float(np.linalg.norm(w))
        if math.sqrt(T) / norm <= 2**15.5:
            assert loss <= side(((y - X @ w) ** 2).sum(), norm, 1.0, 1.0, T) + 1e-9
    assert all(c.holds is not False for c in learner.certificates())


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([None, 1.0, (-1.0, 2.0)]), st.booleans())
def test_every_certificate_holds(seed: int, outcome_range, kernel: bool) -> None:
    X, y = stream(seed, 40)
    learner = nr.RidgeMixture(
        1.0, outcome_range, precisions=6, kernel="rbf" if kernel else None
    ).fit(X, y)
    for c in learner.certificates():
        unmet = any(not a.met for a in c.assumptions)
        assert c.holds is (None if unmet else True), str(c)
    chained, every = learner.certificates()[:2]
    assert chained.name.startswith("the pool and Busuttil-Kalnishkan Theorem")
    assert every.name == "Zhdanov-Vovk (19)"


def test_the_certificate_is_19_at_the_expert_that_it_names() -> None:
    X, y = stream(5, 100)
    learner = nr.RidgeMixture(1.0, 1.0).fit(X, y)
    (c,) = [c for c in learner.certificates() if c.name == "Zhdanov-Vovk (19)"]
    norm = float(c.statement.split("|f| = ")[1].split(",")[0])
    assert c.bound == pytest.approx(side(c.comparator, norm, 1.0, 1.0, 100), rel=1e-5)


def test_what_the_chain_says_from_the_formula() -> None:
    """min over j of V(a_j) + Y^2 ln det(I + X'X/a_j) + 2Y^2 ln 1/p_j."""
    X, y = stream(6, 60)
    chained = nr.RidgeMixture(1.0, 1.0, precisions=5).fit(X, y).certificates()[0]
    found = []
    for j, p in enumerate([1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 16]):
        a = 2.0**j
        A = a * np.eye(3) + X.T @ X
        w = np.linalg.solve(A, X.T @ y)
        V = ((y - X @ w) ** 2).sum() + a * w @ w
        price = (y**2).max() * np.linalg.slogdet(A / a)[1]
        found.append(V + price + 2 * math.log(1 / p))
    assert chained.bound == pytest.approx(min(found), rel=1e-9)


def test_the_price_per_round_vanishes_so_that_20_follows() -> None:
    """(20): for every f the right side of (19) is L(f) + o(T)."""
    rates = [side(0.0, 10.0, 1.0, 1.0, T) / T for T in (10**3, 10**5, 10**7, 10**9)]
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] < 1e-3


def test_a_norm_beyond_the_bound_withdraws_19_but_not_the_chain() -> None:
    X, y = stream(7, 30)
    learner = nr.RidgeMixture(0.1, 1.0).fit(X, y)
    chained, every = learner.certificates()[:2]
    assert chained.holds is True
    assert every.holds is None
    assert "|x| <= c = 0.1, as given: the stream reached" in str(every)


def test_an_expert_beyond_the_grid_is_not_claimed() -> None:
    X, _ = stream(8, 50)
    learner = nr.RidgeMixture(1.0, 1.0, precisions=1).fit(X, np.full(50, 1e-6))
    (every,) = [c for c in learner.certificates() if c.name == "Zhdanov-Vovk (19)"]
    assert every.holds is None


def test_bad_parameters_are_named() -> None:
    for bad, word in (
        ({"norm_bound": 0.0}, "norm_bound"),
        ({"precisions": 0}, "precisions"),
        ({"outcome_range": -1.0}, "outcome_range"),
    ):
        with pytest.raises(ParameterError, match=word):
            nr.RidgeMixture(**bad).learn_one([1.0], 1.0)
