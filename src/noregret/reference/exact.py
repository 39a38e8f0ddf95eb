"""The same formulas in rational arithmetic: every float64 is a fraction, nothing is rounded.

>>> means, spreads = looks([[1.0], [1.0]], [1.0, 1.0], 1.0)
>>> means, spreads
([Fraction(0, 1), Fraction(1, 2)], [Fraction(2, 1), Fraction(3, 2)])
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

__all__ = ["best_loss", "changing_looks", "coefficients", "determinant", "looks", "solve"]

Row = Sequence[float]


def solve(A: list[list[Fraction]], B: list[list[Fraction]]) -> list[list[Fraction]]:
    """A^-1 B for a symmetric positive definite A, by elimination."""
    n = len(A)
    M = [[*A[i], *B[i]] for i in range(n)]
    for i in range(n):
        pivot = M[i][i]
        for j in range(i + 1, n):
            if M[j][i]:
                factor = M[j][i] / pivot
                M[j] = [p - factor * q for p, q in zip(M[j], M[i], strict=True)]
    X: list[list[Fraction]] = [[] for _ in range(n)]
    for i in reversed(range(n)):
        known = [
            sum((M[i][j] * X[j][k] for j in range(i + 1, n)), Fraction(0)) for k in range(len(B[0]))
        ]
        X[i] = [(M[i][n + k] - known[k]) / M[i][i] for k in range(len(B[0]))]
    return X


def looks(X: Sequence[Row], y: Row, a: float) -> tuple[list[Fraction], list[Fraction]]:
    """ZV Algorithm 1: m_t = b'A^-1 x_t and d_t = 1 + x_t'A^-1 x_t."""
    n = len(X[0])
    A = [[Fraction(a if i == j else 0) for j in range(n)] for i in range(n)]
    b = [Fraction(0)] * n
    means, spreads = [], []
    for row, outcome in zip(X, y, strict=True):
        x, target = [Fraction(v) for v in row], Fraction(outcome)
        Ax = [r[0] for r in solve(A, [[v] for v in x])]
        means.append(sum((p * q for p, q in zip(b, Ax, strict=True)), Fraction(0)))
        spreads.append(1 + sum((p * q for p, q in zip(x, Ax, strict=True)), Fraction(0)))
        for i in range(n):
            b[i] += target * x[i]
            for j in range(n):
                A[i][j] += x[i] * x[j]
    return means, spreads


def coefficients(
    gram: Sequence[Sequence[int | Fraction]], moment: Sequence[int | Fraction], a: float
) -> list[Fraction]:
    """(aI + X'X)^-1 X'y from exact X'X and X'y."""
    n = len(moment)
    A = [
        [Fraction(gram[i][j]) + (Fraction(a) if i == j else 0) for j in range(n)] for i in range(n)
    ]
    return [r[0] for r in solve(A, [[Fraction(v)] for v in moment])]


def best_loss(X: Sequence[Row], y: Row, a: float) -> Fraction:
    """min_w sum (y - w'x)^2 + a|w|^2 = y'y - b'A^-1 b."""
    x, target = [[Fraction(v) for v in row] for row in X], [Fraction(v) for v in y]
    columns = list(zip(*x, strict=True))
    gram = [[_dot(p, q) for q in columns] for p in columns]
    moment = [_dot(p, target) for p in columns]
    return _dot(target, target) - _dot(moment, coefficients(gram, moment, a))


def determinant(X: Sequence[Row], a: float) -> Fraction:
    """det(I + X'X/a), by elimination."""
    columns = list(zip(*[[Fraction(v) for v in row] for row in X], strict=True))
    n = len(columns)
    A = [
        [_dot(columns[i], columns[j]) / Fraction(a) + (i == j) for j in range(n)] for i in range(n)
    ]
    product = Fraction(1)
    for i in range(n):
        product *= A[i][i]
        for j in range(i + 1, n):
            factor = A[j][i] / A[i][i]
            A[j] = [p - factor * q for p, q in zip(A[j], A[i], strict=True)]
    return product


def changing_looks(
    X: Sequence[Row], y: Row, a_t: Sequence[float]
) -> tuple[list[Fraction], list[Fraction]]:
    """Means and spreads of changing experts: covariance (sum_{s<=min(i,j)} 1/a_s) x_i'x_j."""
    x = [[Fraction(v) for v in row] for row in X]
    outcomes = [Fraction(v) for v in y]
    S: list[Fraction] = []
    for a in a_t:
        S.append((S[-1] if S else Fraction(0)) + 1 / Fraction(a))
    means, spreads = [], []
    L: list[list[Fraction]] = []  # unit lower triangle of I + K = L D L'
    D: list[Fraction] = []
    e: list[Fraction] = []  # L^-1 y: the innovations
    for t, row in enumerate(x):
        k = [S[s] * _dot(x[s], row) for s in range(t)]
        c: list[Fraction] = []  # L D l = k
        for s in range(t):
            c.append(k[s] - sum((L[s][j] * c[j] for j in range(s)), Fraction(0)))
        line = [c[s] / D[s] for s in range(t)]
        d = 1 + S[t] * _dot(row, row) - _dot(line, c)
        mean = _dot(line, e)
        means.append(mean)
        spreads.append(d)
        L.append(line)
        D.append(d)
        e.append(outcomes[t] - mean)
    return means, spreads


def _dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((p * q for p, q in zip(a, b, strict=True)), Fraction(0))
