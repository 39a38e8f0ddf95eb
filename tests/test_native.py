"""Compiled loops by themselves: sums by blocks of eight, how rows are read, edges of OSLOG."""

from __future__ import annotations

import math

import numpy as np
import pytest

import noregret as nr
from noregret._native import mixing, rows, sparse, vectors

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


@pytest.mark.parametrize("kind", [int, np.int64, np.uint64])
def test_whole_numbers_are_read_where_they_are_exact(kind: type) -> None:
    largest = 2**53 - 1
    assert rows.number(kind(largest)) == largest
    assert rows.number(kind(largest + 2)) is None


@pytest.mark.parametrize("kind", [np.int64, np.uint64])
def test_arrays_of_whole_numbers_are_read_where_they_are_exact(kind: type) -> None:
    x = np.array([1, 2**53 - 1, 3], dtype=kind)
    found = rows.Reader(3).read(x)
    assert found is not None
    assert found.tolist() == [1.0, 2.0**53 - 1.0, 3.0]
    for k in range(3):
        x[:] = np.where(np.arange(3) == k, 2**53 + 2, 1)
        assert rows.Reader(3).read(x) is None


@pytest.mark.parametrize("kind", ["i1", "u2", "i4", "u8", "f4", "f8"])
def test_vectors_are_read_along_their_stride(kind: str) -> None:
    wide = np.arange(1, 13).astype(kind)
    for view in (wide[::4], wide[2::-1], wide.reshape(3, 4)[:, 1]):
        found = rows.Reader(3).read(view)
        assert found is not None
        assert found.tolist() == view.tolist()


@pytest.mark.parametrize("kind", [">f8", ">f4", ">i8"])
def test_the_other_byte_order_needs_a_closer_look(kind: str) -> None:
    assert rows.Reader(2).read(np.array([1.0, 2.0]).astype(kind)) is None


def test_mappings_are_read_by_name_in_any_order() -> None:
    reader = rows.Reader({"a": 0, "b": 1, "c": 2})
    found = reader.read({"c": 3.0, "a": 1.0, "b": 2.0})
    assert found is not None
    assert found.tolist() == [1.0, 2.0, 3.0]
    assert reader.read({"a": 1.0, "b": 2.0}) is None
    assert reader.read({"a": 1.0, "b": 2.0, "d": 3.0}) is None


@pytest.mark.parametrize("last", [1.0, math.inf])
def test_what_has_no_cholesky_factor_is_told(last: float) -> None:
    gram, root = np.array([[1.0, 2.0], [2.0, last]]), np.zeros((2, 2))
    state = np.zeros((sparse.STATE_ROWS, 2))
    state[sparse.SCALES] = 1.0
    assert sparse.factor(gram, state, root, np.zeros(2), 1e-3) == -1


def test_a_weight_of_zero_comes_back_where_the_lasso_asks_for_it() -> None:
    """b - Mw is 1.2 a there: 0.2 a more than the lasso allows for a zero."""
    gram, root, state = 4.0 * np.eye(2), np.zeros((2, 2)), np.zeros((sparse.STATE_ROWS, 2))
    state[sparse.MOMENT], state[sparse.WEIGHTS] = [10.0, 1.2], [2.25, 0.0]
    assert sparse.refine(gram, state, root, 1.0, 0.0, math.inf) > 1
    assert state[sparse.WEIGHTS] == pytest.approx([2.25, 0.05], abs=1e-9)
