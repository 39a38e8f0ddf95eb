"""The mode of F(w) = a|w|^2/2 + sum_s l(s x'w), and its curvature there: damped Newton steps.

`rows` holds s x, so that a margin is rows[i]'w.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np

from noregret._ops import BLOCK, ROW, compiled
from noregret._ops.families import bend
from noregret._ops.sparse import dot
from noregret.types import Matrix, Vector

STEPS = 200  # at most


@compiled(nb.float64(nb.int64, BLOCK, nb.float64, ROW, BLOCK, ROW, BLOCK))
def expand(
    family: int,
    rows: Matrix,
    a: float,
    w: Vector,
    curve: Matrix,
    slope: Vector,
    scaled: Matrix,
) -> float:
    """F at w, its gradient and its second derivative; `scaled` is scratch like `rows`."""
    T, n = rows.shape
    total = 0.5 * a * dot(w, w)
    for j in range(n):
        slope[j] = a * w[j]
    for i in range(T):
        row, line = rows[i], scaled[i]
        loss, first, second = bend(family, dot(row, w))
        total += loss
        for j in range(n):
            slope[j] += first * row[j]
            line[j] = second * row[j]
    curve[:] = np.dot(rows.T, scaled)  # BLAS
    for j in range(n):
        curve[j, j] += a
    return total


@compiled(nb.float64(BLOCK, ROW))
def descend(curve: Matrix, step: Vector) -> float:
    """Factor the curvature as U'U in place; step <- curvature^-1 step; return ln det."""
    n = step.shape[0]
    log_det = 0.0
    for r in range(n):
        row = curve[r, r:]
        pivot = row[0]
        if not 0.0 < pivot < math.inf:
            return math.nan
        log_det += math.log(pivot)
        shrunk = 1.0 / math.sqrt(pivot)
        for c in range(row.shape[0]):
            row[c] *= shrunk
        for q in range(1, row.shape[0]):
            below, part, share = curve[r + q, r + q :], row[q:], row[q]
            for c in range(below.shape[0]):
                below[c] -= share * part[c]
    for r in range(n):
        row, rest = curve[r, r:], step[r:]
        rest[0] /= row[0]
        share = rest[0]
        for c in range(1, row.shape[0]):
            rest[c] -= share * row[c]
    for r in range(n - 1, -1, -1):
        row, rest = curve[r, r:], step[r:]
        rest[0] = (rest[0] - dot(row[1:], rest[1:])) / row[0]
    return log_det


FOUND = nb.types.UniTuple(nb.float64, 4)  # type: ignore[no-untyped-call]  # Numba's


@compiled(FOUND(nb.int64, BLOCK, nb.float64, ROW, BLOCK, BLOCK, BLOCK), forceinline=False)
def mode(
    family: int,
    rows: Matrix,
    a: float,
    w: Vector,
    curve: Matrix,
    work: Matrix,
    scaled: Matrix,
) -> tuple[float, float, float, float]:
    """Move w to the mode; F there, ln det of the curvature, |gradient|, steps made.

    A step that raises F is halved until it does not.  Once a step promises less than rounding
    takes, one more is made and that is that.  In any case min F >= F - |gradient|^2/(2a).
    `curve` ends as the factor U of the curvature; `work` has two rows of scratch.
    """
    n = w.shape[0]
    step, before = work[0], work[1]
    made, last, held, rate = 0.0, False, math.inf, 1.0
    while True:
        F = expand(family, rows, a, w, curve, step, scaled)
        if held < F and not last and rate > 1e-15:  # too far: halfway back
            rate *= 0.5
            for j in range(n):
                w[j] = 0.5 * (w[j] + before[j])
            continue
        size = math.sqrt(dot(step, step))
        for j in range(n):
            before[j] = step[j]
        log_det = descend(curve, step)
        decrement = dot(before, step)
        if last or not decrement > 0.0 or made >= STEPS:  # NaN too
            return F, log_det, size, made
        last, held, rate = decrement <= 1e-14 * (1.0 + abs(F)), F, 1.0
        for j in range(n):
            before[j] = w[j]
            w[j] -= step[j]
        made += 1.0
