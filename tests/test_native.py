"""Compiled loops by themselves: sums by blocks of eight, how rows are read, edges."""

from __future__ import annotations

import math

import numpy as np
import pytest

import noregret as nr
from noregret._native import families, layout, mixing, particles, rows, sparse, vectors
from noregret.experts.core_grid import CoreGrid

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


CLOUD = np.array([[0.3, -1.0], [1.5, 0.2], [-0.7, 2.0], [0.0, 0.4]])
ROW = np.array([0.8, -1.3])


def test_small_and_large_chances_of_a_cloud() -> None:
    logs = np.log([0.1, 0.2, 0.3, 0.4])
    for size in (-40.0, -1.0, 1.0, 40.0):
        z = size * (np.abs(CLOUD) @ np.abs(ROW))
        right = -np.logaddexp.reduce(logs - np.logaddexp(0.0, -z))
        if size > 1.0:  # what is missing to 1
            right = -np.log1p(-np.exp(np.logaddexp.reduce(logs - np.logaddexp(0.0, z))))
        found = particles.price(families.LOGISTIC, np.abs(CLOUD), logs, size * np.abs(ROW))
        assert found == pytest.approx(right, rel=1e-12)


def test_a_power_of_a_round_in_the_weights_of_a_cloud() -> None:
    logs = np.log([0.1, 0.2, 0.3, 0.4])
    right = logs - 0.25 * np.logaddexp(0.0, -(CLOUD @ ROW))
    right -= np.logaddexp.reduce(right)
    worth = particles.weigh(families.LOGISTIC, CLOUD, logs, ROW, 0.25)
    assert logs == pytest.approx(right, rel=1e-12)
    assert worth == pytest.approx(1.0 / np.exp(2.0 * right).sum(), rel=1e-12)


def test_a_power_that_a_cloud_can_bear() -> None:
    """The largest 1/2^k that leaves weights worth a fifth of the particles."""
    cloud = np.random.default_rng(0).normal(size=(50, 2)) - [2.4, -1.8]
    part, row = 1.0, np.array([40.0, -30.0])
    even = np.full(50, -math.log(50.0))
    while particles.weigh(families.LOGISTIC, cloud, even.copy(), row, part) < 10.0:
        part *= 0.5
    assert part < 1.0
    assert particles.bearable(families.LOGISTIC, cloud, even, row, 1.0, 1e-6) == part


def test_particles_move_by_the_rule_of_metropolis() -> None:
    rng, a, part = np.random.default_rng(1), 0.5, 0.25
    rows_, root = rng.normal(size=(6, 2)), np.array([[0.9, 0.1], [0.0, 0.7]])
    noise, luck, cloud = rng.normal(size=(12, 2)), rng.uniform(size=(3, 4)), CLOUD.copy()

    def height(w: np.ndarray) -> float:
        losses = np.logaddexp(0.0, -(rows_ @ w)) * np.array([1.0] * 5 + [part])
        return -0.5 * a * float(w @ w) - float(losses.sum())

    right, count = CLOUD.copy(), 0
    for i in range(4):
        for k in range(3):
            trial = right[i] + noise[k * 4 + i] @ root
            if math.log(luck[k, i]) < height(trial) - height(right[i]):
                right[i], count = trial, count + 1
    found = particles.move(families.LOGISTIC, rows_, a, part, cloud, root, noise, luck)
    assert found == count
    assert 0 < count < 12
    assert cloud == pytest.approx(right, rel=1e-12)


def test_the_last_row_of_a_posterior_counts_in_part() -> None:
    """With a part of 0 it has no say: a step that it forbids is taken."""
    cloud, luck = np.array([[0.5]]), np.array([[0.5]])
    given = np.array([[0.0], [100.0]]), 1e-300, 0.0
    root, noise = np.array([[1.0]]), np.array([[-1.0]])
    assert particles.move(families.LOGISTIC, *given, cloud, root, noise, luck) == 1
    assert cloud[0, 0] == -0.5


def test_who_sleeps_is_not_mixed_in() -> None:
    pool = nr.ExponentialWeights(["a", "b"], outcome_range=(0.0, 1.0))
    pool.learn_one({"a": 0.5, "b": 0.75}, 0.5)
    assert pool.predict_one({"a": 0.25, "b": None}) == 0.25


def test_while_all_outcomes_were_one_point_that_is_the_forecast() -> None:
    pool = nr.AggregatingAlgorithm(["a", "b"])
    pool.learn_one([1.0, 2.0], 5.0)
    assert pool.predict_one([1.0, 2.0]) == 5.0
    assert pool.predict_one([3.0, 3.0]) == 3.0  # unless all agree


def test_every_core_of_a_grid_keeps_its_own_book() -> None:
    grid = CoreGrid([0.1, 1.0], [0.0, 0.5], 2)
    rng = np.random.default_rng(0)
    for _ in range(5):
        grid.look(rng.standard_normal(2))
        grid.absorb(float(rng.standard_normal()))
    books = grid.ledgers
    assert books[:, layout.ROUNDS, 0].tolist() == [5.0] * 4
    assert len({book.tobytes() for book in books}) == 4
