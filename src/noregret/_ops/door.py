"""Admit x: check it, copy it into the work array, measure it."""

from __future__ import annotations

import math

import numba as nb

from noregret._ops import ANY, BLOCK, FUSED, ROW, compiled
from noregret._ops.layout import (
    AT,
    BUSY,
    CEILING,
    CLOSED,
    FRESH,
    LIMIT,
    NORM,
    OFFSET,
    OK,
    PEAK,
    WIDTH,
    X,
)
from noregret.types import Matrix, Vector

SAFE = 2.0**500  # squares of numbers up to here neither overflow alone nor in a sum


@compiled(nb.float64(nb.float64, nb.float64, nb.float64))
def lengthened(square: float, beta: float, v: float) -> float:
    """beta_i = sqrt(1 + v_1^2 + ... + v_i^2), given the sum, beta_{i-1} and v_i.

    The sum is what the next step waits for, not the root; where it is too large to be trusted,
    hypot squares nothing.
    """
    return math.sqrt(square) if square < SAFE * SAFE else math.hypot(beta, v)


@compiled(nb.float64(ROW), fastmath=FUSED)
def length(v: Vector) -> float:
    """sqrt(1 + |v|^2), in the same steps."""
    square = beta = 1.0
    for k in range(v.shape[0]):
        square += v[k] * v[k]
    if square < SAFE * SAFE:
        return math.sqrt(square)
    square = 1.0
    for k in range(v.shape[0]):
        square += v[k] * v[k]
        beta = lengthened(square, beta, v[k])
    return beta


@compiled(nb.float64(ROW, nb.float64))
def norm(x: Vector, peak: float) -> float:
    """|x|_2, given peak = |x|_inf."""
    if peak == 0.0:
        return 0.0
    total = 0.0
    if 1.0 / SAFE < peak < SAFE:
        for k in range(x.shape[0]):
            total += x[k] * x[k]
        return math.sqrt(total)
    for k in range(x.shape[0]):
        total += (x[k] / peak) ** 2
    return peak * math.sqrt(total)


@compiled(nb.int64(BLOCK, ANY, nb.int64))
def admit(work: Matrix, x: Vector, n: int) -> int:
    """Put x into work[X], behind the constant feature if any; keep a look already there."""
    at = work[AT]
    if at[CLOSED] == 1.0:
        return BUSY
    offset, ceiling = int(at[OFFSET]), at[CEILING]
    if x.shape[0] + offset != n:
        return WIDTH
    row = work[X, :n]
    if at[FRESH] == 1.0 and at[PEAK] <= ceiling:
        same = True
        for k in range(x.shape[0]):
            if row[offset + k] != x[k]:
                same = False
                break
        if same:
            return OK
    peak = float(offset)
    for k in range(x.shape[0]):
        size = abs(x[k])
        if not size <= ceiling:  # NaN too
            return LIMIT
        peak = max(peak, size)
    at[FRESH] = 0.0
    for k in range(offset):
        row[k] = 1.0
    for k in range(x.shape[0]):
        row[offset + k] = x[k]
    at[PEAK] = peak
    at[NORM] = norm(row, peak)
    return OK
