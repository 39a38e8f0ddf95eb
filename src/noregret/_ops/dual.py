"""Loops over packed triangles: row i of L lies at i(i+1)/2, i + 1 numbers long."""

from __future__ import annotations

import math

import numba as nb

from noregret._ops import BLOCK, ROW, compiled
from noregret.types import Matrix, Vector


@compiled(nb.void(BLOCK, ROW))
def extend_in_time(K: Matrix, priors: Vector) -> None:
    """The lower triangle of K becomes I + S_min(i,j) K_ij; priors are S_1, S_2, ..."""
    for i in range(K.shape[0]):
        row = K[i, : i + 1]
        for j in range(row.shape[0]):
            row[j] *= priors[j]  # j <= i, and S grows
        row[i] += 1.0


@compiled(nb.void(ROW, BLOCK, BLOCK))
def pack(packed: Vector, earlier: Matrix, L: Matrix) -> None:
    """Append the rows [earlier, L] behind the t rows that are there, t the width of `earlier`."""
    t = earlier.shape[1]
    at = t * (t + 1) // 2
    for i in range(L.shape[0]):
        row = packed[at : at + t + i + 1]
        for j in range(t):
            row[j] = earlier[i, j]
        fresh = row[t:]
        source = L[i, : i + 1]
        for j in range(source.shape[0]):
            fresh[j] = source[j]
        at += t + i + 1


@compiled(nb.void(ROW, BLOCK, nb.int64))
def drop_first(packed: Vector, z: Matrix, t: int) -> None:
    """Delete row and column 0 of L (t rows): rotate l21 into L22, and z_1 into z_2 alike.

    Row i of the new L overwrites row i of the old, whose own numbers have been read by then.
    """
    m = z.shape[1]
    size = t - 1
    cosine, sine = [0.0] * size, [0.0] * size
    for i in range(size):
        old = packed[(i + 1) * (i + 2) // 2 :]
        new = packed[i * (i + 1) // 2 :]
        v = old[0]  # l21
        for k in range(i):
            entry = old[1 + k]
            new[k] = cosine[k] * entry + sine[k] * v
            v = cosine[k] * v - sine[k] * entry
        diagonal = old[1 + i]
        root = math.hypot(diagonal, v)
        cosine[i], sine[i] = diagonal / root, v / root
        new[i] = root
    for k in range(m):
        carried = z[0, k]
        for i in range(size):
            entry = z[i + 1, k]
            z[i, k] = cosine[i] * entry + sine[i] * carried
            carried = cosine[i] * carried - sine[i] * entry
