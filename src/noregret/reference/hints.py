"""AAR around a hint, from its definition: every hint from all outcomes before, anew."""

from __future__ import annotations

import numpy as np

from noregret.types import Matrix, Vector

__all__ = ["forecasts", "hints"]


def hints(y: Matrix, hint: float | str) -> Matrix:
    """h_t for outcomes (T, m): a number, or of y_1..y_{t-1} the last or the middle; h_1 = 0.

    >>> hints(np.array([[1.0], [5.0], [2.0], [0.0]]), "midrange").ravel()
    array([0., 1., 3., 3.])
    """
    if not isinstance(hint, str):
        return np.full(y.shape, hint)
    h = np.zeros(y.shape)
    for t in range(1, len(y)):
        before = y[:t]
        last = hint == "last"
        h[t] = before[-1] if last else (before.min(axis=0) + before.max(axis=0)) / 2.0
    return h


def forecasts(mean: Matrix, spread: Vector, h: Matrix) -> Matrix:
    """(m + (d - 1) h)/d."""
    d = spread[:, None]
    return (mean + (d - 1.0) * h) / d
