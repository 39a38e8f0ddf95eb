"""Many rows at once into the triangle [R z], by BLAS-3.

For a block of B rows X with outcomes y, V = R^-T X' gives the covariance I + V'V of the
outcomes, in units of the noise.  With its Cholesky factor L and s = L^-1 (y - V'z), all
one-step-ahead looks inside the block come at once:

    root spread of row t  L_tt,        mean of row t  (V'z)_t + sum_{s<t} L_ts s_s

and one QR of [R; X] (LAPACK's dtpqrt), applied to [z; y], absorbs the block; the squares that it
leaves of y add up to the growth of the best expert's regularised loss.  A row costs
3 n^2 + nB + B^2/3 flops.

L is as good as rotations while the leverages |v|^2 are moderate: a block in which one exceeds
LEVERAGE (the first rows under a small prior) goes row by row instead.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, lapack

from noregret._ops.layout import AT, FRESH
from noregret._ops.primal import stream
from noregret.types import Matrix, Vector

__all__ = ["CROSSOVER", "stream_in_blocks"]

CROSSOVER = 160  # features from which blocks beat the compiled loop (benchmarks/replay_blocks.py)
BLOCK = 128  # rows in a block
PANEL = 32  # columns that dtpqrt takes at a time
LEVERAGE = 1e3  # 1e3 eps B is 3e-11, the most that a block may add to the error of a look


def stream_in_blocks(
    factor: Matrix, work: Matrix, xs: Matrix, ys: Matrix, mean: Matrix, root: Vector, fit: Vector
) -> int:
    """The same as noregret._ops.primal.stream; -1, or the first row that overflows."""
    T, n = xs.shape
    R, z = np.asfortranarray(factor[:, :n]), np.asfortranarray(factor[:, n:])
    for start in range(0, T, BLOCK):
        rows = slice(start, min(start + BLOCK, T))
        if not _block(R, z, xs[rows], ys[rows], mean[rows], root[rows], fit):
            factor[:, :n], factor[:, n:] = R, z
            failed = stream(factor, work, xs[rows], ys[rows], mean[rows], root[rows], fit)
            if failed >= 0:
                return start + failed
            R[:], z[:] = factor[:, :n], factor[:, n:]
    factor[:, :n], factor[:, n:] = R, z
    work[AT, FRESH] = 0.0
    return -1


def _block(
    R: Matrix, z: Matrix, xs: Matrix, ys: Matrix, mean: Matrix, root: Vector, fit: Vector
) -> bool:
    """Take one block into R and z in place; False, and nothing done, if it is not safe."""
    B, n = xs.shape
    V = blas.dtrsm(1.0, R, xs.T, trans_a=1)
    G = blas.dsyrk(1.0, V, trans=1, lower=1)
    if not np.all(np.diagonal(G) <= LEVERAGE):  # NaN and infinity too
        return False
    G[np.diag_indices(B)] += 1.0
    L, _ = lapack.dpotrf(G, lower=1, overwrite_a=1)
    prior = V.T @ z
    s = blas.dtrsm(1.0, L, ys - prior, lower=1)
    mean[:] = prior + np.tril(L, -1) @ s
    root[:] = np.diagonal(L)
    _, reflectors, T, _ = lapack.dtpqrt(0, min(PANEL, n), R, xs, overwrite_a=1)
    _, left, _ = lapack.dtpmqrt(0, reflectors, T, z, ys, trans="T", overwrite_a=1)
    fit[0] += float((left * left).sum())
    return True
