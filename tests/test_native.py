"""Compiled sums and searches go by blocks of eight: whole blocks and what is left over agree."""

from __future__ import annotations

import math

import numpy as np
import pytest

import noregret as nr
from noregret._native import mixing, vectors

WIDTHS = [1, 7, 8, 9, 15, 16, 17, 23, 24, 26]


@pytest.mark.parametrize("n", WIDTHS)
def test_a_sum_of_exponentials_of_any_width(n: int) -> None:
    x = np.random.default_rng(n).uniform(-3.0, 0.0, n)
    found = x.copy()
    assert vectors.exponentials(found, 0.0) == pytest.approx(math.fsum(np.exp(x)), rel=1e-14)


def pool(n: int) -> np.ndarray:
    """A pool of n experts awake, each of prior 1/n."""
    cells = np.zeros((mixing.POOL_ROWS, n))
    cells[mixing.PRIOR] = cells[mixing.AWAKE] = -math.log(n)
    return cells


@pytest.mark.parametrize("n", WIDTHS)
def test_the_leader_of_any_number_of_experts(n: int) -> None:
    cells = pool(n)
    for best in range(n):
        cells[mixing.EXCESS] = 1.0 + np.arange(n)
        cells[mixing.EXCESS, best] = 0.5
        assert mixing.leader(cells, 0.0) == best


@pytest.mark.parametrize("n", WIDTHS)
def test_weights_of_any_number_of_experts(n: int) -> None:
    cells, book, weights = pool(n), np.zeros((mixing.BOOK_ROWS, 2)), np.empty(n)
    book[mixing.RATE, 0] = 1.0
    for best in range(n):
        cells[mixing.EXCESS] = 2000.0
        cells[mixing.EXCESS, best] = 0.0
        mixing.shares(cells, book, weights)
        assert weights.tolist() == np.eye(n)[best].tolist()


@pytest.mark.parametrize("n", WIDTHS)
def test_a_drifting_learner_of_any_width_is_a_kalman_filter(n: int) -> None:
    rng, a, q = np.random.default_rng(n), 0.7, 0.05
    learner = nr.BayesianRidge(a, drift=q)
    P, w = np.eye(n) / a, np.zeros(n)
    for _ in range(5):
        x, y = rng.normal(size=n), float(rng.normal())
        p = P @ x
        d = 1.0 + x @ p
        look = learner.predictive(x)
        assert look.mean == pytest.approx(w @ x, rel=1e-11, abs=1e-12)
        assert look.var == pytest.approx(d, rel=1e-12)
        learner.learn_one(x, y)
        w += p * ((y - w @ x) / d)
        P += q * np.eye(n) - np.outer(p, p) / d
