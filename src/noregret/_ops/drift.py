"""Experts that change: the Kalman filter of a random walk, in two forms.

`factor` (n + m, n) holds n rows of a lower triangle, then one row of weights an outcome.

Covariance form, O(n^2) a round: the triangle is P itself, and

    look  p = P x, d = 1 + x'p;   absorb  w += p e/d, P -= p p'/d;   diffuse  P += q I

Each round loses about eps sum_j P_jj x_j^2, a number that no scaling of features changes.  While
it is at most GAUGE this is harmless.  Beyond, the round is done in

Root form, (2/3) n^3 flops a round: the triangle is T with P = T'T.  With f = T x and
beta_i^2 = 1 + f_1^2 + ... + f_i^2, row i of T becomes (Carlson)

    T_i <- T_i beta_{i-1}/beta_i - b f_i/(beta_{i-1} beta_i),      b <- b + T_i(old) f_i

and b ends as P x.  Nothing is subtracted from P, so it stays positive and no condition number is
squared.  P <- P + q I folds the square sqrt(q) I into T by Householder reflections, last
column first; both triangles keep their zeros.

Every RECHECK rounds the root form asks whether the covariance would do again.
"""

from __future__ import annotations

import math

import numba as nb

from noregret._ops import BLOCK, ROW, compiled
from noregret._ops.door import length, lengthened, norm
from noregret._ops.layout import (
    AT,
    FRESH,
    MEAN,
    OK,
    OVERFLOW,
    PASSED,
    ROOT,
    ROOTED,
    ROWS,
    U,
    V,
    X,
    Y,
)
from noregret.types import Matrix, Vector

GAUGE = 1e3  # times eps: 2e-13, the most that a round in covariance form may lose
RECHECK = 32


@compiled(nb.float64(ROW, ROW), fastmath={"reassoc"})
def dot(a: Vector, b: Vector) -> float:
    """a'b; the order of the sum is the compiler's choice, so that it may use vectors."""
    total = 0.0
    for k in range(a.shape[0]):
        total += a[k] * b[k]
    return total


@compiled(nb.void(BLOCK, nb.int64))
def take_root(triangle: Matrix, n: int) -> None:
    """P <- T with P = T'T, in place, last row first."""
    for i in range(n - 1, -1, -1):
        row = triangle[i, : i + 1]
        for k in range(i + 1, n):
            below = triangle[k, : i + 1]
            c = below[i]
            for j in range(row.shape[0]):
                row[j] -= c * below[j]
        root = math.sqrt(row[i])
        for j in range(row.shape[0]):
            row[j] /= root


@compiled(nb.void(BLOCK, nb.int64))
def square(triangle: Matrix, n: int) -> None:
    """T <- P = T'T, in place, first row first."""
    for i in range(n):
        row = triangle[i, : i + 1]
        c = row[i]
        for j in range(row.shape[0]):
            row[j] *= c
        for k in range(i + 1, n):
            below = triangle[k, : i + 1]
            c = below[i]
            for j in range(row.shape[0]):
                row[j] += c * below[j]


@compiled(nb.int64(BLOCK, BLOCK))
def look(factor: Matrix, work: Matrix) -> int:
    """mean = w'x, root = sqrt(1 + x'Px); V keeps P x in covariance form and T x in root form.

    Where the covariance will not do, its root is taken beside it, in the square of noise: a look
    changes no state.
    """
    n = factor.shape[1]
    m = factor.shape[0] - n
    x, v, mean, at = work[X, :n], work[V, :n], work[MEAN], work[AT]
    at[FRESH] = 0.0
    beta = math.inf
    if at[ROOTED] == 0.0:
        gauge = 0.0
        for i in range(n):
            gauge += factor[i, i] * x[i] * x[i]
        if gauge <= GAUGE:  # not so for NaN
            for i in range(n):
                xi = x[i]
                row, above = factor[i, :i], v[:i]
                v[i] = dot(row, x[:i]) + factor[i, i] * xi
                for k in range(i):
                    above[k] += xi * row[k]
            beta = math.sqrt(1.0 + dot(x, v))
        else:
            noise = work[ROWS:]
            for i in range(n):
                for k in range(i + 1):
                    noise[i, k] = factor[i, k]
            take_root(noise, n)
            for i in range(n):
                v[i] = dot(noise[i, : i + 1], x[: i + 1])
            beta = length(v)
        work[U, 0] = gauge
    else:
        for i in range(n):
            v[i] = dot(factor[i, : i + 1], x[: i + 1])
        beta = length(v)
    if not math.isfinite(beta):
        return OVERFLOW
    for k in range(m):
        mean[k] = dot(factor[n + k], x)
        if not math.isfinite(mean[k]):
            return OVERFLOW
    at[ROOT] = beta
    at[FRESH] = 1.0
    return OK


@compiled(nb.void(BLOCK, ROW, ROW))
def shrink(factor: Matrix, f: Vector, b: Vector) -> None:
    """Carlson's update of T for f = T x; b becomes P x."""
    for k in range(b.shape[0]):
        b[k] = 0.0
    total = beta = 1.0
    for i in range(b.shape[0]):
        fi = f[i]
        if fi == 0.0:
            continue
        total += fi * fi
        grown = lengthened(total, beta, fi)
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


@compiled(nb.float64(BLOCK, BLOCK))
def absorb(factor: Matrix, work: Matrix) -> float:
    """Fold y in, given the look at x; return the sum of (e/sqrt(d))^2."""
    n = factor.shape[1]
    m = factor.shape[0] - n
    v, mean, y, at = work[V, :n], work[MEAN], work[Y], work[AT]
    beta = at[ROOT]
    if at[ROOTED] == 0.0 and work[U, 0] <= GAUGE:
        px = v
        for i in range(n):
            row = factor[i, : i + 1]
            c = v[i] / beta / beta
            for k in range(row.shape[0]):
                row[k] -= c * v[k]
    else:
        if at[ROOTED] == 0.0:  # the look has taken the root
            for i in range(n):
                for k in range(i + 1):
                    factor[i, k] = work[ROWS + i, k]
            at[ROOTED] = 1.0
        px = work[U, :n]
        shrink(factor, v, px)
    left = 0.0
    for k in range(m):
        gain = (y[k] - mean[k]) / beta
        left += gain * gain
        gain /= beta
        w = factor[n + k]
        for j in range(n):
            w[j] += px[j] * gain
    at[FRESH] = 0.0
    at[PASSED] += 1.0
    if at[ROOTED] == 1.0 and at[PASSED] % RECHECK == 0.0:
        gauge = 0.0
        for j in range(n):
            column = 0.0
            for i in range(j, n):
                column += factor[i, j] * factor[i, j]
            gauge += column * work[X, j] * work[X, j]
        if gauge <= GAUGE / 4.0:
            square(factor, n)
            at[ROOTED] = 0.0
    return left


@compiled(nb.void(BLOCK, BLOCK, nb.float64))
def diffuse(factor: Matrix, work: Matrix, q: float) -> None:
    """P <- P + q I."""
    if q == 0.0:
        return
    n = factor.shape[1]
    work[AT, FRESH] = 0.0
    if work[AT, ROOTED] == 0.0:
        for i in range(n):
            factor[i, i] += q
        return
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
