"""What could have been in hindsight: combinations of experts, and experts that take turns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from noregret._native import sequence
from noregret.errors import InputError, ParameterError, abbreviated
from noregret.inputs import values as features
from noregret.types import Integers, Matrix, Vector

__all__ = ["Comparator", "best_sequence", "combinations", "convex_weights"]


@dataclass(frozen=True, slots=True, eq=False)
class Comparator:
    """A way to combine the experts that could have been chosen in hindsight."""

    name: str
    weights: Vector | None  # None where they change from round to round
    forecast: Vector
    loss: float  # cumulative

    @property
    def rmse(self) -> float:
        """Root mean square error."""
        return math.sqrt(self.loss / len(self.forecast))


def combinations(F: Matrix, y: Vector, names: Sequence[str]) -> list[Comparator]:
    """The best expert, the plain mean, the best convex and the best linear combination."""
    N = F.shape[1]
    best = int(np.argmin(((y[:, None] - F) ** 2).sum(axis=0)))
    choices = {
        f"best expert: {names[best]}": np.eye(N)[best],
        "uniform": np.full(N, 1.0 / N),
        "best convex": convex_weights(F, y),
        "best linear": np.linalg.lstsq(F, y, rcond=None)[0],
    }
    found = []
    for name, w in choices.items():
        g = F @ w
        found.append(Comparator(name, w, g, float(((y - g) ** 2).sum())))
    return found


def convex_weights(F: Matrix, y: Vector) -> Vector:
    """argmin |y - Fw| over w >= 0 that add up to 1.

    On such w, Fw - y = Ew with E = F - y1'.  The v >= 0 that makes |Ev|^2 + (1'v - 1)^2 least
    points the same way: for v = sw the best s leaves q/(1 + q), which grows with q = |Ew|^2.
    """
    E = F - y[:, None]
    scale = np.linalg.norm(E) / math.sqrt(E.size) or 1.0
    rows = np.vstack([np.linalg.qr(E / scale, mode="r"), np.ones(E.shape[1])])
    target = np.zeros(len(rows))
    target[-1] = 1.0
    v = _nonnegative(rows, target)
    weights: Vector = v / v.sum()
    return weights


def _nonnegative(A: Matrix, b: Vector) -> Vector:
    """argmin |Av - b| over v >= 0 (Lawson and Hanson 1974, ch. 23): a set of free entries grows.

    The entry at which the slope is steepest becomes free.  Where the best free entries are not all
    positive, v goes towards them as far as it may, and what reached 0 is free no more.

    >>> _nonnegative(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([2.0, -1.0]))
    array([2., 0.])
    """
    n = A.shape[1]
    v, free, barred = np.zeros(n), np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    tiny = 10.0 * np.finfo(np.float64).eps * float(np.linalg.norm(A, 1)) * max(A.shape)
    for _ in range(3 * n):
        slope = np.where(free | barred, -np.inf, A.T @ (b - A @ v))
        j = int(np.argmax(slope))
        if slope[j] <= tiny:
            break
        free[j] = True
        while free.any():
            best = np.zeros(n)
            best[free] = np.linalg.lstsq(A[:, free], b, rcond=None)[0]
            short = free & (best <= 0.0)
            if not short.any():
                v, barred = best, np.zeros(n, dtype=bool)
                break
            barred[j] = short[j]  # by rounding alone: another one's turn
            step = float(np.min(v[short] / (v[short] - best[short])))
            v = v + step * (best - v)
            free &= v > tiny
            v[~free] = 0.0
    return v


def best_sequence(losses: Matrix, switches: int) -> tuple[Integers, float]:
    """The sequence of experts with the least loss among those that change at most k times.

    Dynamic programming over (round, changes so far, expert): O(T k N) time and T k N bytes.

    >>> import numpy as np
    >>> best_sequence(np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), 1)
    (array([0, 0, 1]), 0.0)
    """
    losses, _ = features.table_with_gaps(losses, "losses")
    if losses.ndim != 2 or 0 in losses.shape:
        raise InputError(
            f"losses has shape {losses.shape}: give one row per round, one column per expert"
        )
    losses = np.ascontiguousarray(np.where(np.isnan(losses), np.inf, losses))
    T, N = losses.shape
    if not isinstance(switches, int | np.integer) or switches < 0:
        raise ParameterError(f"switches = {abbreviated(switches)}: it must be a whole number >= 0")
    K = min(int(switches), T - 1) if N > 1 else 0
    path = np.empty(T)
    least = sequence.best(losses, K, path)
    return path.astype(np.int64), least
