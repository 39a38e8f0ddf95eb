"""Triangular matrices of any size: solving, factors, and a triangle with rows below it made one.

Taken apart into pieces of SIZE columns: compiled code (native/triangles.hpp) does what is on the
diagonal, and NumPy's matrix product, its own BLAS-3, all the rest.
"""

from __future__ import annotations

import numpy as np

from noregret._native import triangles as ops
from noregret.types import Matrix

__all__ = ["absorb_rows", "factor", "solve_lower", "solve_upper"]

SIZE = 64


def solve_lower(L: Matrix, B: Matrix) -> Matrix:
    """L^-1 B, as a new matrix; what is above the diagonal of L is not read.

    >>> solve_lower(np.array([[2.0, 9.0], [1.0, 4.0]]), np.array([[2.0], [9.0]]))
    array([[1.],
           [2.]])
    """
    X = np.array(B, order="C")
    for start in range(0, len(X), SIZE):
        piece = slice(start, start + SIZE)
        if start:
            X[piece] -= L[piece, :start] @ X[:start]
        ops.solve_lower(L[piece, piece], X[piece])
    return X


def solve_upper(U: Matrix, B: Matrix) -> Matrix:
    """U^-1 B, as a new matrix; what is below the diagonal of U is not read.

    >>> solve_upper(np.array([[4.0, 1.0], [9.0, 2.0]]), np.array([[9.0], [2.0]]))
    array([[2.],
           [1.]])
    """
    X = np.array(B, order="C")
    for end in range(len(X), 0, -SIZE):
        piece = slice(max(end - SIZE, 0), end)
        if end < len(X):
            X[piece] -= U[piece, end:] @ X[end:]
        ops.solve_upper(U[piece, piece], X[piece])
    return X


def factor(A: Matrix) -> int:
    """The lower triangle of A becomes L with A = LL', 0 above it; -1, or the first bad pivot.

    >>> A = np.array([[4.0, 0.0], [2.0, 10.0]])
    >>> factor(A), A.tolist()
    (-1, [[2.0, 0.0], [1.0, 3.0]])
    """
    n = len(A)
    for start in range(0, n, SIZE):
        end = min(start + SIZE, n)
        piece, rest = slice(start, end), slice(end, n)
        if start:
            A[start:, piece] -= A[start:, :start] @ A[piece, :start].T
        corner = A[piece, piece].copy()
        bad = ops.factor(corner)
        if bad >= 0:
            return start + bad
        A[piece, piece], A[piece, rest] = corner, 0.0
        below = A[rest, piece].T.copy()
        ops.solve_lower(corner, below)
        A[rest, piece] = below.T
    return -1


def absorb_rows(top: Matrix, columns: Matrix, panel: int) -> None:
    """Reflect rows into the triangle on top of them, in place, `panel` columns at a time.

    `top` is [R z] with n rows; `columns` are those of the rows [X y] below it, as a C-ordered
    matrix: one row per column, which BLAS reads and writes faster.  Afterwards R is the triangle of
    the QR factorisation of [R; X], and [z; y] has been turned alike: y is what is left of it.

    >>> top, columns = np.array([[3.0, 1.0]]), np.array([[4.0], [7.0]])
    >>> absorb_rows(top, columns, 32)
    >>> top.round(12).tolist(), columns[1:].round(12).tolist()
    ([[-5.0, -6.2]], [[3.4]])
    """
    n = len(top)
    change = np.empty_like(columns)
    for start in range(0, n, panel):
        end = min(start + panel, n)
        piece, rest = slice(start, end), slice(end, None)
        R, C = top[piece, piece].copy(), columns[piece]
        T = np.zeros((len(R), len(R)))
        ops.reflect(R, C, T)
        top[piece, piece] = R
        turned = T.T @ (top[piece, rest] + C @ columns[rest].T)  # T'V'[z; y]
        top[piece, rest] -= turned
        columns[rest] -= np.matmul(turned.T, C, out=change[rest])
