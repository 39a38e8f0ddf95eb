"""What could have been in hindsight: combinations of experts, and experts that take turns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from noregret.errors import InputError, ParameterError, abbreviated
from noregret.inputs import values as features
from noregret.types import Integers, Matrix, Vector

__all__ = ["Comparator", "best_sequence", "combinations"]


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
        "best convex": _convex(F, y),
        "best linear": np.linalg.lstsq(F, y, rcond=None)[0],
    }
    found = []
    for name, w in choices.items():
        g = F @ w
        found.append(Comparator(name, w, g, float(((y - g) ** 2).sum())))
    return found


def _convex(F: Matrix, y: Vector) -> Vector:
    """argmin |y - Fw| over w >= 0 that add up to 1.

    On such w, Fw - y = Ew with E = F - y1'.  The v >= 0 that makes |Ev|^2 + (1'v - 1)^2 least
    points the same way: for v = sw the best s leaves q/(1 + q), which grows with q = |Ew|^2.
    """
    E = F - y[:, None]
    scale = np.linalg.norm(E) / math.sqrt(E.size) or 1.0
    rows = np.vstack([np.linalg.qr(E / scale, mode="r"), np.ones(E.shape[1])])
    target = np.zeros(len(rows))
    target[-1] = 1.0
    v, _ = nnls(rows, target)
    weights: Vector = v / v.sum()
    return weights


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
    losses = np.where(np.isnan(losses), np.inf, losses)
    T, N = losses.shape
    if not isinstance(switches, int | np.integer) or switches < 0:
        raise ParameterError(f"switches = {abbreviated(switches)}: it must be a whole number >= 0")
    K = min(int(switches), T - 1) if N > 1 else 0
    total = np.full((K + 1, N), np.inf)
    total[0] = losses[0]
    turned = np.zeros((T, K + 1, N), dtype=bool)
    origin = np.zeros((T, K + 1), dtype=np.int32)
    second = np.zeros((T, K + 1), dtype=np.int32)
    for t in range(1, T):
        came = np.full((K + 1, N), np.inf)
        if K:
            two = np.argpartition(total[:-1], 1, axis=1)[:, :2]
            values = np.take_along_axis(total[:-1], two, axis=1)
            two = np.take_along_axis(two, np.argsort(values, axis=1), axis=1)
            first, other = two[:, 0], two[:, 1]
            origin[t, 1:], second[t, 1:] = first, other
            came[1:] = total[np.arange(K), first][:, None]
            came[np.arange(1, K + 1), first] = total[np.arange(K), other]
        turned[t] = came < total
        total = np.where(turned[t], came, total) + losses[t]
    k, j = (int(i) for i in np.unravel_index(int(np.argmin(total)), total.shape))
    least = float(total[k, j])
    path = np.empty(T, dtype=np.int64)
    for t in range(T - 1, -1, -1):
        path[t] = j
        if t and turned[t, k, j]:
            j = int(origin[t, k] if origin[t, k] != j else second[t, k])
            k -= 1
    return path, least
