"""Many linear cells that share their input: a stack of fixed cores, a stack of drifting ones.

Core c speaks twice, as two experts: ridge clipped to the outcomes seen, then AAR.  `seen` is
(smallest outcome, largest outcome, rounds).
"""

from __future__ import annotations

import numba as nb

from noregret._ops import ANY, BLOCK, ROW, compiled
from noregret._ops.door import norm
from noregret._ops.layout import AT, DRIFT, MEAN, NORM, OK, OVERFLOW, PEAK, ROOT, X, Y
from noregret._ops.rounds import absorb_drifting, absorb_fixed, book, diffuse, look_drifting
from noregret._ops.rounds import look_fixed as look_fixed
from noregret.types import Matrix, Vector

CUBE = nb.float64[:, :, ::1]
ROWS_OF_ANY = nb.types.Array(nb.float64, 2, "A", readonly=True)


@compiled(nb.boolean(ANY, nb.float64))
def within(x: Vector, limit: float) -> bool:
    """Whether every entry is a number of at most this size."""
    fits = True
    for j in range(x.shape[0]):
        fits = fits and abs(x[j]) <= limit  # not so for NaN
    return fits


@compiled(nb.void(ROWS_OF_ANY, ROW, nb.float64, BLOCK))
def measure(xs: Matrix, scale: Vector, constant: float, rows: Matrix) -> None:
    """A constant, then each feature in its unit; a unit of 0 is not known and counts as 1."""
    for t in range(xs.shape[0]):
        rows[t, 0] = constant
        for j in range(xs.shape[1]):
            rows[t, 1 + j] = xs[t, j] / scale[j] if scale[j] > 0.0 else xs[t, j]


@compiled(nb.void(BLOCK, ROW, nb.float64, nb.float64), forceinline=False)
def place(work: Matrix, x: Vector, peak: float, size: float) -> None:
    """Put x where a core looks for it."""
    for k in range(x.shape[0]):
        work[X, k] = x[k]
    work[AT, PEAK] = peak
    work[AT, NORM] = size


@compiled(nb.void(BLOCK, ROW, ROW, nb.int64))
def speak(work: Matrix, seen: Vector, said: Vector, c: int) -> None:
    """What the two rules make of a look."""
    mean, root = work[MEAN, 0], work[AT, ROOT]
    said[2 * c] = min(max(mean, seen[0]), seen[1])
    said[2 * c + 1] = mean / root / root


@compiled(nb.int64(CUBE, CUBE, CUBE, CUBE, ROW, ROW, ROW), forceinline=False)
def look(
    fixed: Matrix,
    fixed_work: Matrix,
    moving: Matrix,
    moving_work: Matrix,
    x: Vector,
    seen: Vector,
    said: Vector,
) -> int:
    """Every core looks at x and says two forecasts; OK, or OVERFLOW if one does not fit."""
    peak = 0.0
    for k in range(x.shape[0]):
        peak = max(peak, abs(x[k]))
    size = norm(x, peak)
    C = fixed.shape[0]
    for c in range(C):
        place(fixed_work[c], x, peak, size)
        if look_fixed(fixed[c], fixed_work[c]) != OK:
            return OVERFLOW
        speak(fixed_work[c], seen, said, c)
    for c in range(moving.shape[0]):
        place(moving_work[c], x, peak, size)
        if look_drifting(moving[c], moving_work[c]) != OK:
            return OVERFLOW
        speak(moving_work[c], seen, said, C + c)
    return OK


@compiled(nb.void(CUBE, CUBE, CUBE, CUBE, CUBE, ROW, nb.float64), forceinline=False)
def absorb(
    fixed: Matrix,
    fixed_work: Matrix,
    moving: Matrix,
    moving_work: Matrix,
    ledgers: Matrix,
    seen: Vector,
    y: float,
) -> None:
    """Every core learns y at the x that it looked at last, and books AAR's round."""
    C = fixed.shape[0]
    for c in range(C):
        fixed_work[c, Y, 0] = y
        book(ledgers[c], fixed_work[c], absorb_fixed(fixed[c], fixed_work[c]))
    for c in range(moving.shape[0]):
        work = moving_work[c]
        work[Y, 0] = y
        book(ledgers[C + c], work, absorb_drifting(moving[c], work))
        diffuse(moving[c], work, work[AT, DRIFT])
    seen[0] = y if seen[2] == 0.0 else min(seen[0], y)
    seen[1] = y if seen[2] == 0.0 else max(seen[1], y)
    seen[2] += 1.0


@compiled(nb.int64(CUBE, CUBE, CUBE, CUBE, CUBE, ROW, BLOCK, ROW, BLOCK))
def replay(
    fixed: Matrix,
    fixed_work: Matrix,
    moving: Matrix,
    moving_work: Matrix,
    ledgers: Matrix,
    seen: Vector,
    xs: Matrix,
    ys: Vector,
    said: Matrix,
) -> int:
    """Look and absorb row by row; -1, or the first row that overflows."""
    for t in range(xs.shape[0]):
        if look(fixed, fixed_work, moving, moving_work, xs[t], seen, said[t]) != OK:
            return t
        absorb(fixed, fixed_work, moving, moving_work, ledgers, seen, ys[t])
    return -1
