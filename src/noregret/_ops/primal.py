"""Fixed experts: QR-RLS in information form, by rows.

`factor` (n, n + m) holds [R z]: R upper triangular with R'R = A = aI + sum xx', z = R^-T b with
one column an outcome.  With v = R^-T x and beta_i^2 = 1 + v_1^2 + ... + v_i^2, the n rotations
that fold [x | y] into [R z] act on row i as

    row_i <- row_i beta_{i-1}/beta_i + u v_i/(beta_{i-1} beta_i),     u <- u - v_i row_i(old)

so that no feature is ever squared, each row takes one pass, and what is left of y is e, of
which e/beta_n = e/sqrt(d) is the new entry below z.
"""

from __future__ import annotations

import math

import numba as nb

from noregret._ops import BLOCK, FUSED, ROW, compiled
from noregret._ops.door import length, lengthened
from noregret._ops.layout import AT, FRESH, MEAN, OK, OVERFLOW, ROOT, U, V, X, Y
from noregret.types import Matrix, Vector


@compiled(nb.int64(BLOCK, BLOCK), fastmath=FUSED)
def look(factor: Matrix, work: Matrix) -> int:
    """Solve R'v = x by forward substitution, row by row; mean = v'z, root = sqrt(1 + |v|^2)."""
    n = factor.shape[0]
    m = factor.shape[1] - n
    v, mean, at = work[V], work[MEAN], work[AT]
    at[FRESH] = 0.0
    u = work[U, :n]
    for k in range(n):
        u[k] = work[X, k]
    for k in range(m):
        mean[k] = 0.0
    for i in range(n):
        row = factor[i, i:n]
        ui = u[i:]
        vi = ui[0] * (1.0 / row[0])  # the division does not wait for the rows above
        v[i] = vi
        if vi == 0.0:
            continue
        for k in range(row.shape[0]):
            ui[k] -= vi * row[k]
        z = factor[i, n:]
        for k in range(m):
            mean[k] += vi * z[k]
    beta = length(v[:n])
    for k in range(m):
        if not math.isfinite(mean[k]):
            return OVERFLOW
    if not math.isfinite(beta):
        return OVERFLOW
    at[ROOT] = beta
    at[FRESH] = 1.0
    return OK


@compiled(nb.float64(BLOCK, BLOCK), fastmath=FUSED)
def absorb(factor: Matrix, work: Matrix) -> float:
    """Rotate [x | y] into [R z], given the look at x; return the sum of (e/sqrt(d))^2."""
    n = factor.shape[0]
    m = factor.shape[1] - n
    v = work[V]
    u = work[U, : n + m]
    for k in range(n):
        u[k] = work[X, k]
    for k in range(m):
        u[n + k] = work[Y, k]
    square = beta = before = 1.0  # before is 1/beta
    for i in range(n):
        vi = v[i]
        if vi == 0.0:
            continue
        square += vi * vi
        grown = lengthened(square, beta, vi)
        shrunk = 1.0 / grown
        keep = beta * shrunk
        take = vi * before * shrunk
        row = factor[i, i:]
        ui = u[i:]
        for k in range(row.shape[0]):
            r = row[k]
            a = ui[k]
            row[k] = keep * r + take * a
            ui[k] = a - vi * r
        beta, before = grown, shrunk
    work[AT, FRESH] = 0.0
    left = 0.0
    for k in range(m):
        left += (u[n + k] / beta) ** 2
    return left


@compiled(nb.float64(BLOCK, BLOCK))
def remove(factor: Matrix, work: Matrix) -> float:
    """Take the row [x | 0] out of [R z], given the look at x; return the sum of m^2/(1 - |v|^2).

    The rotations of `absorb` with x^2 -> -x^2: alpha_i^2 = 1 - v_1^2 - ... - v_i^2.  Only for a
    row whose removal leaves at least half of A in every direction, alpha^2 >= 1/2: then it is
    as accurate as adding one.
    """
    n = factor.shape[0]
    m = factor.shape[1] - n
    v = work[V]
    u = work[U, : n + m]
    for k in range(n):
        u[k] = work[X, k]
    for k in range(m):
        u[n + k] = 0.0
    square = 1.0
    for i in range(n):
        vi = v[i]
        if vi == 0.0:
            continue
        alpha = math.sqrt(square)
        square -= vi * vi
        shrunk = math.sqrt(square)
        keep = alpha / shrunk
        take = vi / shrunk / alpha
        row = factor[i, i:]
        ui = u[i:]
        for k in range(row.shape[0]):
            r = row[k]
            a = ui[k]
            row[k] = keep * r - take * a
            ui[k] = a - vi * r
    work[AT, FRESH] = 0.0
    left = 0.0
    for k in range(m):
        left += u[n + k] ** 2 / square
    return left


@compiled(nb.int64(BLOCK, BLOCK, BLOCK, BLOCK, BLOCK, ROW, ROW), fastmath=FUSED)
def stream(
    factor: Matrix, work: Matrix, xs: Matrix, ys: Matrix, mean: Matrix, root: Vector, fit: Vector
) -> int:
    """Look at and absorb every row in one pass a row; -1, or the first row that overflows.

    The same operations in the same order as `look` then `absorb`, so the same bits.
    fit (2,) is the running sum of (e/sqrt(d))^2 with its compensation.
    """
    T, n = xs.shape
    m = ys.shape[1]
    u = work[U, : n + m]
    for t in range(T):
        for k in range(n):
            u[k] = xs[t, k]
        mean_t = mean[t]
        for k in range(m):
            u[n + k] = ys[t, k]
            mean_t[k] = 0.0
        square = beta = before = 1.0
        for i in range(n):
            row = factor[i, i:]
            ui = u[i:]
            vi = ui[0] * (1.0 / row[0])
            if vi == 0.0:
                continue
            z = factor[i, n:]
            for k in range(m):
                mean_t[k] += vi * z[k]
            square += vi * vi
            grown = lengthened(square, beta, vi)
            shrunk = 1.0 / grown
            keep = beta * shrunk
            take = vi * before * shrunk
            for k in range(row.shape[0]):
                r = row[k]
                a = ui[k]
                row[k] = keep * r + take * a
                ui[k] = a - vi * r
            beta, before = grown, shrunk
        if not math.isfinite(beta):
            return t
        root[t] = beta
        left = 0.0
        for k in range(m):
            if not math.isfinite(mean_t[k]):
                return t
            left += (u[n + k] / beta) ** 2
        total = fit[0] + left
        if math.isfinite(total):
            fit[1] += (fit[0] - total) + left if fit[0] >= left else (left - total) + fit[0]
        fit[0] = total
    work[AT, FRESH] = 0.0
    return -1
