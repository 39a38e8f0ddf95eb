"""Experts that change: the Kalman filter of a random walk, by a triangular root of P.

`factor` (n + m, n) holds T, lower triangular with P = T'T, then one row of weights an outcome.

Measurement (Carlson): with f = T x and beta_i^2 = 1 + f_1^2 + ... + f_i^2, row i of T becomes

    T_i <- T_i beta_{i-1}/beta_i - b f_i/(beta_{i-1} beta_i),      b <- b + T_i(old) f_i

and b ends as P x, so that w <- w + b e/d.  Nothing is subtracted from P itself.

Time: P <- P + q I, by Householder reflections that fold the square sqrt(q) I into T from the
last column to the first.  Both triangles keep their zeros, which makes it (2/3) n^3 flops.
"""

from __future__ import annotations

import math

import numba as nb

from noregret._ops import BLOCK, ROW, compiled
from noregret._ops.door import length, lengthened, norm
from noregret._ops.layout import AT, FRESH, MEAN, OK, OVERFLOW, ROOT, ROWS, U, V, X, Y
from noregret.types import Matrix, Vector


@compiled(nb.float64(ROW, ROW), fastmath={"reassoc"})
def dot(a: Vector, b: Vector) -> float:
    """a'b; the order of the sum is the compiler's choice, so that it may use vectors."""
    total = 0.0
    for k in range(a.shape[0]):
        total += a[k] * b[k]
    return total


@compiled(nb.int64(BLOCK, BLOCK))
def look(factor: Matrix, work: Matrix) -> int:
    """f = T x, mean = w'x, root = sqrt(1 + |f|^2)."""
    n = factor.shape[1]
    m = factor.shape[0] - n
    x, f, mean, at = work[X], work[V], work[MEAN], work[AT]
    for i in range(n):
        f[i] = dot(factor[i, : i + 1], x[: i + 1])
    beta = length(f[:n])
    if not math.isfinite(beta):
        return OVERFLOW
    for k in range(m):
        mean[k] = dot(factor[n + k], x[:n])
        if not math.isfinite(mean[k]):
            return OVERFLOW
    at[ROOT] = beta
    at[FRESH] = 1.0
    return OK


@compiled(nb.float64(BLOCK, BLOCK))
def absorb(factor: Matrix, work: Matrix) -> float:
    """Fold y in, given the look at x; return the sum of (e/sqrt(d))^2."""
    n = factor.shape[1]
    m = factor.shape[0] - n
    f, mean, y = work[V], work[MEAN], work[Y]
    b = work[U, :n]
    for k in range(n):
        b[k] = 0.0
    square = beta = 1.0
    for i in range(n):
        fi = f[i]
        if fi == 0.0:
            continue
        square += fi * fi
        grown = lengthened(square, beta, fi)
        keep = beta / grown
        take = fi / grown / beta
        row = factor[i, : i + 1]
        bi = b[: i + 1]
        for k in range(row.shape[0]):
            r = row[k]
            p = bi[k]
            row[k] = keep * r - take * p
            bi[k] = p + fi * r
        beta = grown
    left = 0.0
    for k in range(m):
        gain = (y[k] - mean[k]) / beta
        left += gain * gain
        gain /= beta
        w = factor[n + k]
        for j in range(n):
            w[j] += b[j] * gain
    work[AT, FRESH] = 0.0
    return left


@compiled(nb.void(BLOCK, BLOCK, nb.float64))
def diffuse(factor: Matrix, work: Matrix, q: float) -> None:
    """P <- P + q I."""
    if q == 0.0:
        return
    n = factor.shape[1]
    noise = work[ROWS:]
    sigma = math.sqrt(q)
    for r in range(n):
        for k in range(r):
            noise[r, k] = 0.0
        noise[r, r] = sigma
    v, w = work[V], work[U]
    for j in range(n - 1, -1, -1):
        peak = 0.0
        for r in range(j, n):  # column j of what is left of the noise
            v[r] = noise[r, j]
            peak = max(peak, abs(v[r]))
        size = norm(v[j:n], peak)
        diagonal = abs(factor[j, j])
        length = math.hypot(diagonal, size)
        # Reflect (T_jj, noise) onto (length, 0): I - 2 hh'/h'h with h = (h0, v / size)
        h0 = -size / (diagonal + length)
        if factor[j, j] < 0.0:
            h0 = -h0
        scale = 2.0 / (1.0 + h0 * h0)
        row = factor[j, :j]
        wj = w[:j]
        for k in range(j):
            wj[k] = h0 * row[k]
        for r in range(j, n):
            v[r] /= size
            vr = v[r]
            below = noise[r, :j]
            for k in range(j):
                wj[k] += vr * below[k]
        for k in range(j):
            wj[k] *= scale
            row[k] -= h0 * wj[k]
        for r in range(j, n):
            vr = v[r]
            below = noise[r, :j]
            for k in range(j):
                below[k] -= vr * wj[k]
        factor[j, j] = math.copysign(length, factor[j, j])
    work[AT, FRESH] = 0.0


@compiled(nb.int64(BLOCK, BLOCK, BLOCK, BLOCK, ROW, BLOCK, ROW, ROW))
def stream(
    factor: Matrix,
    work: Matrix,
    xs: Matrix,
    ys: Matrix,
    drift: Vector,
    mean: Matrix,
    root: Vector,
    fit: Vector,
) -> int:
    """Look, absorb, diffuse for every row; -1, or the first row that overflows.

    drift[t] is 1/a of the round after row t.  fit (2,) is the running sum of e^2/d with its
    compensation.
    """
    T, n = xs.shape
    m = ys.shape[1]
    for t in range(T):
        for k in range(n):
            work[X, k] = xs[t, k]
        for k in range(m):
            work[Y, k] = ys[t, k]
        if look(factor, work) != OK:
            return t
        for k in range(m):
            mean[t, k] = work[MEAN, k]
        root[t] = work[AT, ROOT]
        left = absorb(factor, work)
        diffuse(factor, work, drift[t])
        total = fit[0] + left
        if math.isfinite(total):
            fit[1] += (fit[0] - total) + left if fit[0] >= left else (left - total) + fit[0]
        fit[0] = total
    return -1
