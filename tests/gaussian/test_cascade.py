"""Fixed experts, by panels and many rounds at a time: the bits of one rotation after another."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from noregret.errors import NumericalError
from noregret.gaussian.cores import PrimalCore

WIDTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 18, 20, 23, 45, 60]


def round_by_round(core: PrimalCore, X: np.ndarray, Y: np.ndarray) -> tuple[Any, ...]:
    means, roots, left = [], [], []
    for x, y in zip(X, Y):
        look = core.look(x)
        means.append(look.mean)
        roots.append(look.root)
        left.append(core.absorb(x, y))
    return np.array(means), np.array(roots), left


def by_hand(R: list[list[float]], x: list[float], y: list[float]) -> tuple[list[float], float]:
    """The rotations as native/primal.hpp has them above its code, number by number."""
    n, m = len(x), len(y)
    u, mean, square, beta = [*x, *y], [0.0] * m, 1.0, 1.0
    for i, row in enumerate(R):
        v = u[i] * (1.0 / row[i])
        square += v * v
        if v == 0.0:
            continue
        grown = math.sqrt(square)
        keep, take = beta * (1.0 / grown), v * (1.0 / beta) * (1.0 / grown)
        mean = [mean[k] + v * row[n + k] for k in range(m)]
        for k in range(i, n + m):
            r, a = row[k], u[k]
            row[k], u[k] = keep * r + take * a, a - v * r
        u[i], beta = 0.0, grown
    return mean, beta


@pytest.mark.parametrize("m", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("n", WIDTHS)
def test_the_bits_of_one_number_after_another(n: int, m: int) -> None:
    rng = np.random.default_rng(1000 * m + n)
    X, Y = rng.standard_normal((11, n)), rng.standard_normal((11, m))
    X[3:6][rng.random((3, n)) < 0.7] = 0.0
    X[6, : n // 2] = 0.0  # panels without anything to do
    core = PrimalCore(0.5, n, m)
    R = core.factor.tolist()
    means, roots, _ = round_by_round(core, X, Y)
    for t, (x, y) in enumerate(zip(X.tolist(), Y.tolist())):
        mean, root = by_hand(R, x, y)
        assert mean == means[t].tolist()
        assert root == roots[t]
    assert core.factor.tolist() == R


@pytest.mark.parametrize("m", [1, 3, 4, 5])
@pytest.mark.parametrize("n", WIDTHS)
@pytest.mark.parametrize("rounds", [1, 2, 3, 4, 5, 8, 17])
def test_the_same_bits(n: int, m: int, rounds: int) -> None:
    rng = np.random.default_rng(100 * n + rounds)
    X, Y = rng.standard_normal((rounds, n)), rng.standard_normal((rounds, m))
    X[rng.random(X.shape) < 0.2] = 0.0  # rows of R that a round leaves alone
    one, many = PrimalCore(0.5, n, m), PrimalCore(0.5, n, m)
    means, roots, left = round_by_round(one, X, Y)
    track = many.replay(X, Y)
    assert track.mean.tobytes() == means.tobytes()
    assert track.root.tobytes() == roots.tobytes()
    assert track.fit == pytest.approx(sum(left), rel=1e-13)
    assert many.factor.tobytes() == one.factor.tobytes()
    assert not np.tril(many.factor[:, :n], -1).any()


@pytest.mark.parametrize("n", [6, 21])
@pytest.mark.parametrize("size", [1e150, 1e200, 1e250])
def test_the_same_bits_where_squares_overflow(size: float, n: int) -> None:
    X = size * np.random.default_rng(0).standard_normal((9, n))
    X[2] = 0.0
    Y = np.ones((9, 1))
    one, many = PrimalCore(1.0, n, 1), PrimalCore(1.0, n, 1)
    means, roots, _ = round_by_round(one, X, Y)
    track = many.replay(X, Y)
    assert np.isfinite(roots).all()
    assert track.mean.tobytes() == means.tobytes()
    assert track.root.tobytes() == roots.tobytes()
    assert many.factor.tobytes() == one.factor.tobytes()


@pytest.mark.parametrize("m", [1, 2])
@pytest.mark.parametrize("n", [3, 7, 9, 12, 22])
@pytest.mark.parametrize("prior", [1.0, 1e-300])
@pytest.mark.parametrize("scale", [400, 30])
def test_rows_of_every_size_that_leave_some_of_r_alone(
    n: int, m: int, prior: float, scale: int
) -> None:
    """Products of v overflow and underflow, beside zeros."""
    rng = np.random.default_rng(n)
    X = rng.standard_normal((20, n)) * 10.0 ** rng.integers(-scale, 160, (20, n))
    X[rng.random(X.shape) < 0.4] = 0.0
    X *= math.sqrt(prior)
    Y = rng.standard_normal((20, m))
    one, many = PrimalCore(prior, n, m), PrimalCore(prior, n, m)
    means, roots, _ = round_by_round(one, X, Y)
    track = many.replay(X, Y)
    assert track.mean.tobytes() == means.tobytes()
    assert track.root.tobytes() == roots.tobytes()
    assert many.factor.tobytes() == one.factor.tobytes()
    assert not np.tril(one.factor[:, :n], -1).any()


def test_a_row_beside_products_that_overflow_is_left_alone() -> None:
    core = PrimalCore(1.0, 7, 1)
    core.absorb(np.array([1e200, 1.7e200, 0.0, 1.0, 0.0, 0.0, 0.0]), np.ones(1))
    assert core.factor[2, 2] == core.factor[4, 4] == core.factor[6, 6] == 1.0


@pytest.mark.parametrize("n", [4, 9])
@pytest.mark.parametrize("bad", range(6))
def test_the_first_row_that_overflows_is_named(bad: int, n: int) -> None:
    core = PrimalCore(1e-300, n, 1)
    X = 1e-140 * np.random.default_rng(1).standard_normal((6, n))
    X[bad] = 1e200
    before = core.factor.tobytes()
    with pytest.raises(NumericalError, match=f"row {bad}:"):
        core.replay(X, np.ones((6, 1)))
    assert core.factor.tobytes() == before


@pytest.mark.parametrize("n", [4, 9])
@pytest.mark.parametrize("bad", range(1, 6))
def test_a_mean_that_overflows_beside_a_spread_that_does_not(bad: int, n: int) -> None:
    core = PrimalCore(1.0, n, 1)
    X, Y = np.random.default_rng(1).standard_normal((6, n)), np.ones((6, 1))
    Y[0] = 1e200
    X[bad] *= 1e150
    with pytest.raises(NumericalError, match=f"row {bad}:"):
        core.replay(X, Y)
    assert np.isfinite(core.factor).all()


def test_no_features_at_all() -> None:
    track = PrimalCore(1.0, 0, 2).replay(np.zeros((5, 0)), np.ones((5, 2)))
    assert track.mean.tolist() == [[0.0, 0.0]] * 5
    assert track.root.tolist() == [1.0] * 5
    assert track.fit == 10.0
