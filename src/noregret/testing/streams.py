"""Streams on which recursions lose their digits, small enough for rational arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from noregret.types import Matrix, Vector

__all__ = ["HARD_STREAMS", "HardStream"]


@dataclass(frozen=True, slots=True, eq=False)
class HardStream:
    """Rows X (T, n), outcomes y (T,), and the prior precision that makes it hard."""

    X: Matrix
    y: Vector
    prior_precision: float
    tolerance: float  # relative error of forecasts that a learner may show


def _linear(X: Matrix, seed: int) -> Vector:
    """Outcomes of a linear model whose terms are all of one size, with noise of a tenth."""
    rng = np.random.default_rng(seed)
    w = rng.standard_normal(X.shape[1]) / np.maximum(np.abs(X).max(axis=0), 1e-300)
    return np.asarray(X @ w + 0.1 * rng.standard_normal(len(X)))


def collinear(seed: int = 0) -> HardStream:
    """Two columns 1e-8 apart under a prior precision of 1e-10."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 4))
    X[:, 1] = X[:, 0] + 1e-8 * rng.standard_normal(60)
    return HardStream(X, _linear(X, seed + 1), 1e-10, 1e-9)


def identical_columns(seed: int = 0) -> HardStream:
    """Two columns the same under a prior precision of 1e-10."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 4))
    X[:, 1] = X[:, 0]
    return HardStream(X, _linear(X, seed + 1), 1e-10, 1e-12)


def scaled(seed: int = 0) -> HardStream:
    """Columns scaled from 2^-20 to 2^20."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 5)) * 2.0 ** np.array([-20, -10, 0, 10, 20])
    return HardStream(X, _linear(X, seed + 1), 1e-10, 1e-12)


def offset(seed: int = 0) -> HardStream:
    """A constant feature, features of mean 1e6, weights of size 1.

    With outcomes of size 1 instead, changing X by one unit in the last place moves the exact
    forecasts by 5e-11: nothing that reads X as float64 can then do better.
    """
    rng = np.random.default_rng(seed)
    X = np.hstack([np.ones((60, 1)), 1e6 + rng.standard_normal((60, 3))])
    y = X @ rng.standard_normal(4) + 0.1 * rng.standard_normal(60)
    return HardStream(X, y, 1.0, 1e-12)


def tiny_prior(seed: int = 0) -> HardStream:
    """A prior precision of 1e-16 and 12 rows."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 4))
    return HardStream(X, _linear(X, seed + 1), 1e-16, 1e-13)


def huge_row(seed: int = 0) -> HardStream:
    """One row of size 1e200 among ordinary ones; its square overflows."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 4))
    y = _linear(X, seed + 1)
    X[20] *= 1e200
    return HardStream(X, y, 1.0, 1e-13)


HARD_STREAMS: dict[str, Callable[[int], HardStream]] = {
    "collinear": collinear,
    "identical columns": identical_columns,
    "scaled": scaled,
    "offset": offset,
    "tiny prior": tiny_prior,
    "huge row": huge_row,
}
