"""Many rounds of fixed experts, four rows at a time: the bits of one round after another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from noregret.errors import NumericalError
from noregret.gaussian.cores import PrimalCore

WIDTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 20, 45, 60]


def round_by_round(core: PrimalCore, X: np.ndarray, Y: np.ndarray) -> tuple[Any, ...]:
    means, roots, left = [], [], []
    for x, y in zip(X, Y):
        look = core.look(x)
        means.append(look.mean)
        roots.append(look.root)
        left.append(core.absorb(x, y))
    return np.array(means), np.array(roots), left


@pytest.mark.parametrize("m", [1, 3])
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


@pytest.mark.parametrize("size", [1e150, 1e200, 1e250])
def test_the_same_bits_where_squares_overflow(size: float) -> None:
    X = size * np.random.default_rng(0).standard_normal((9, 6))
    X[2] = 0.0
    Y = np.ones((9, 1))
    one, many = PrimalCore(1.0, 6, 1), PrimalCore(1.0, 6, 1)
    means, roots, _ = round_by_round(one, X, Y)
    track = many.replay(X, Y)
    assert np.isfinite(roots).all()
    assert track.mean.tobytes() == means.tobytes()
    assert track.root.tobytes() == roots.tobytes()
    assert many.factor.tobytes() == one.factor.tobytes()


@pytest.mark.parametrize("bad", range(6))
def test_the_first_row_that_overflows_is_named(bad: int) -> None:
    core = PrimalCore(1e-300, 4, 1)
    X = 1e-140 * np.random.default_rng(1).standard_normal((6, 4))
    X[bad] = 1e200
    before = core.factor.tobytes()
    with pytest.raises(NumericalError, match=f"row {bad}:"):
        core.replay(X, np.ones((6, 1)))
    assert core.factor.tobytes() == before


def test_no_features_at_all() -> None:
    track = PrimalCore(1.0, 0, 2).replay(np.zeros((5, 0)), np.ones((5, 2)))
    assert track.mean.tolist() == [[0.0, 0.0]] * 5
    assert track.root.tolist() == [1.0] * 5
    assert track.fit == 10.0
