"""AAR without a prior, from its definition: least squares anew before every round, exactly."""

from __future__ import annotations

from fractions import Fraction

from noregret.types import Matrix, Vector

__all__ = ["prior_free"]

Row = list[Fraction]


def _reduced(rows: list[Row]) -> list[tuple[int, Row]]:
    """Row echelon form: the pivots' places and the rows, each 1 at its pivot."""
    left, found = [row.copy() for row in rows], []
    for j in range(len(rows[0]) if rows else 0):
        at = next((i for i, row in enumerate(left) if row[j]), None)
        if at is None:
            continue
        row = left.pop(at)
        row = [v / row[j] for v in row]
        left = [[a - other[j] * b for a, b in zip(other, row)] for other in left]
        found.append((j, row))
    return found


def _solved(A: list[Row], b: Row) -> Row | None:
    """Some w with Aw = b; None where there is none."""
    n = len(b)
    w = [Fraction(0)] * n
    for j, row in reversed(_reduced([[*row, v] for row, v in zip(A, b)])):
        if j == n:
            return None
        w[j] = row[n] - sum((row[i] * w[i] for i in range(j + 1, n)), Fraction(0))
    return w


def _product(a: Row, b: Row) -> Fraction:
    return sum((p * q for p, q in zip(a, b)), Fraction(0))


def prior_free(
    X: Matrix, y: Vector, hint: Vector
) -> tuple[list[Fraction], list[Fraction], Fraction]:
    """Forecasts h + (m - h)/d, the shares 1/d (0 in a new direction), and min_w sum (y - w'x)^2."""
    n = X.shape[1]
    A = [[Fraction(0)] * n for _ in range(n)]
    b, energy = [Fraction(0)] * n, Fraction(0)
    forecasts, shares = [], []
    for row, outcome, guess in zip(X.tolist(), y.tolist(), hint.tolist()):
        x, v, h = [Fraction(value) for value in row], Fraction(outcome), Fraction(guess)
        t, w = _solved(A, x), _solved(A, b)
        assert w is not None
        share = Fraction(0) if t is None else 1 / (1 + _product(x, t))
        mean = _product(x, w)
        forecasts.append(h + (mean - h) * share)
        shares.append(share)
        A = [[A[i][j] + x[i] * x[j] for j in range(n)] for i in range(n)]
        b = [b[i] + v * x[i] for i in range(n)]
        energy += v * v
    w = _solved(A, b)
    assert w is not None
    return forecasts, shares, energy - _product(b, w)
