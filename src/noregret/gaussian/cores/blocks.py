"""Many rows at once into the triangle [R z], by BLAS-3.

For a block of B rows X with outcomes y, V = R^-T X' gives the covariance I + V'V of the
outcomes, in units of the noise.  With its Cholesky factor L and s = L^-1 (y - V'z), all
one-step-ahead looks inside the block come at once:

    root spread of row t  L_tt,        mean of row t  (V'z)_t + sum_{s<t} L_ts s_s

and one QR of [R; X], applied to [z; y], absorbs the block; the squares that it
leaves of y add up to the growth of the best expert's regularised loss.  A row costs
3 n^2 + nB + B^2/3 flops.

Reflections keep a matrix accurate as a whole, rotations row by row keep each row accurate.
So a block goes row by row instead where that matters: when a leverage |v|^2 exceeds LEVERAGE
(the first rows under a small prior), or when a column of [R; X] is longer than TILT times its
diagonal entry (nearly collinear columns, one huge row).
"""

from __future__ import annotations

import numpy as np

from noregret._native.layout import AT, FRESH
from noregret._native.primal import stream
from noregret.numerics.triangles import absorb_rows, factor, solve_lower
from noregret.types import Matrix, Vector

__all__ = ["CROSSOVER", "in_blocks", "once_in_blocks", "stream_in_blocks"]

CROSSOVER = 640  # features from which blocks beat the compiled loop (benchmarks/replay_blocks.py)
FORMER = 320  # what it was when the loop was slower: states in files may have been learned so
BLOCK = 128  # rows in a block
PANEL = 32  # columns that are reflected at a time
LEVERAGE = 1e3  # times eps B: 3e-11, the most that a block may add to the error of a look
TILT = 1e4  # times eps B: 3e-10 of the small rows is what a reflection may blur


def in_blocks(features: int) -> bool:
    """Whether rows of so many features are replayed in blocks: cuts show in the last bits."""
    return features >= CROSSOVER


def once_in_blocks(features: int) -> bool:
    """Whether a state of so many features may have been learned in blocks, perhaps long ago."""
    return features >= FORMER


def stream_in_blocks(
    triangle: Matrix, work: Matrix, xs: Matrix, ys: Matrix, mean: Matrix, root: Vector, fit: Vector
) -> int:
    """The same as noregret._native.primal.stream; -1, or the first row that overflows."""
    T, n = xs.shape
    R = triangle[:, :n]
    with np.errstate(over="ignore"):
        squares = np.einsum("ij,ij->j", R, R)
    for start in range(0, T, BLOCK):
        rows = slice(start, min(start + BLOCK, T))
        with np.errstate(over="ignore"):
            squares += np.einsum("ij,ij->j", xs[rows], xs[rows])
        level = np.all(np.sqrt(squares) <= TILT * np.abs(np.diagonal(R)))  # not so if infinite
        if not level or not _block(triangle, xs[rows], ys[rows], mean[rows], root[rows], fit):
            failed = stream(triangle, work, xs[rows], ys[rows], mean[rows], root[rows], fit)
            if failed >= 0:
                return start + failed
    work[AT, FRESH] = 0.0
    return -1


def _block(
    triangle: Matrix, xs: Matrix, ys: Matrix, mean: Matrix, root: Vector, fit: Vector
) -> bool:
    """Take one block into [R z] in place; False, and nothing done, if it is not safe."""
    B, n = xs.shape
    columns = np.empty((triangle.shape[1], B))
    columns[:n], columns[n:] = xs.T, ys.T
    V = solve_lower(triangle[:, :n].T, columns[:n])
    G = V.T @ V
    diagonal = np.einsum("ii->i", G)
    if not np.all(diagonal <= LEVERAGE):  # NaN and infinity too
        return False
    diagonal += 1.0
    factor(G)  # I + V'V: every pivot is at least 1
    prior = V.T @ triangle[:, n:]
    s = solve_lower(G, ys - prior)
    root[:] = diagonal
    diagonal[:] = 0.0
    mean[:] = prior + G @ s
    absorb_rows(triangle, columns, PANEL)
    fit[0] += float((columns[n:] ** 2).sum())
    return True
