"""OSLOG from the formula: dense passes, the same in fractions, the published bound in 50 digits.

    w <- D^1/2 (aI + D^1/2 M D^1/2)^-1 D^1/2 b,   D = diag(max(|w|, floor))

Every weight is solved for, however small it is.  mpmath comes with the dependencies of the tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import mpmath  # type: ignore[import-untyped]  # it has no types
import numpy as np

from noregret.reference import exact
from noregret.types import Matrix, Vector

__all__ = [
    "Account",
    "account",
    "exact_pass",
    "fixed_point",
    "objective",
    "one_pass",
    "spread",
    "unrest",
]

DIGITS = 50
Number = Any  # a float, a Fraction, or one of mpmath's
Numbers = Sequence[Number]


# One pass -----------------------------------------------------------------------------------


def one_pass(gram: Matrix, moment: Vector, w: Vector, a: float, floor: float = 0.0) -> Vector:
    """The formula as it stands, in float64.

    >>> one_pass(np.array([[3.0]]), np.array([6.0]), np.array([1.0]), 1.0)
    array([1.5])
    """
    s = np.sqrt(np.maximum(np.abs(w), floor))
    new: Vector = s * np.linalg.solve(a * np.eye(len(w)) + np.outer(s, s) * gram, s * moment)
    return new


def exact_pass(
    gram: Sequence[Numbers], moment: Numbers, w: Numbers, a: float, floor: float = 0.0
) -> list[Fraction]:
    """The same in fractions: D (aI + MD)^-1 b needs no roots.

    aI + MD is no symmetric matrix, but a positive definite one in other units, so that
    elimination meets no pivot that is 0.

    >>> exact_pass([[3.0]], [6.0], [1.0], 1.0)
    [Fraction(3, 2)]
    """
    n = len(moment)
    d = [max(abs(Fraction(v)), Fraction(floor)) for v in w]
    A = [
        [Fraction(gram[i][j]) * d[j] + (Fraction(a) if i == j else 0) for j in range(n)]
        for i in range(n)
    ]
    z = exact.solve(A, [[Fraction(v)] for v in moment])
    return [d[i] * z[i][0] for i in range(n)]


def spread(gram: Matrix, scales: Vector, x: Vector, a: float) -> float:
    """1 + x'A^-1 x with A = M + a D^-1, all of it in 50 digits.

    >>> spread(np.array([[3.0]]), np.array([0.5]), np.array([1.0]), 1.0)
    1.2
    """
    with mpmath.workdps(DIGITS):
        live = np.flatnonzero(scales)  # where d = 0 A^-1 is 0
        if not live.size:
            return 1.0
        A = mpmath.matrix(gram[np.ix_(live, live)].tolist())
        for k, i in enumerate(live.tolist()):
            A[k, k] += mpmath.mpf(a) / mpmath.mpf(float(scales[i]))
        v = mpmath.matrix(x[live].tolist())
        return float(1 + (v.T * mpmath.lu_solve(A, v))[0])


# Many passes --------------------------------------------------------------------------------


def fixed_point(
    gram: Matrix, moment: Vector, w: Vector, a: float, passes: int = 10_000
) -> tuple[Vector, int]:
    """Passes until no weight moves by more than 1e-15 of the largest; and how many there were.

    >>> w, passes = fixed_point(np.eye(2), np.array([3.0, 0.5]), np.ones(2), 1.0)
    >>> w.round(9)                      # b - a sign(b), or 0
    array([2., 0.])
    """
    for k in range(1, passes + 1):
        new = one_pass(gram, moment, w, a)
        moved = float(np.abs(new - w).max())
        w = new
        if moved <= 1e-15 * float(np.abs(w).max()):
            return w, k
    return w, passes


def objective(gram: Matrix, moment: Vector, square: float, w: Vector, a: float) -> float:
    """|y - Xw|^2 + 2a|w|_1 from M = X'X, b = X'y and y'y.

    >>> objective(np.array([[2.0]]), np.array([3.0]), 5.0, np.array([1.0]), 0.5)
    2.0
    """
    return float(square - 2.0 * moment @ w + w @ gram @ w + 2.0 * a * np.abs(w).sum())


def unrest(X: Matrix, y: Vector, w: Vector, a: float, zero: float = 0.0) -> float:
    """How far w is from the conditions of the lasso, in units of a.

    X'(y - Xw) must be a sign(w_i) where |w_i| > zero, and at most a in size elsewhere.

    >>> unrest(np.eye(2), np.array([3.0, 0.5]), np.array([2.0, 0.0]), 1.0)
    0.0
    """
    pull = X.T @ (y - X @ w) / a
    counts = np.abs(w) > zero
    return float(np.where(counts, np.abs(pull - np.sign(w)), np.abs(pull) - 1.0).clip(0.0).max())


# The published bound ------------------------------------------------------------------------


class Account(NamedTuple):
    """A stream in 50 digits: loss, the right side of (9), of its natural repair, last weights.

    >>> Account(mpmath.mpf(4), mpmath.mpf(3), mpmath.mpf(3), ()).loss
    mpf('4.0')
    """

    loss: Number
    published: Number
    repaired: Number
    weights: tuple[tuple[Number, ...], ...]  # after each round


def account(X: Numbers, y: Numbers, a: Number, Y: Number = 1, start: Number = 1) -> Account:
    """Algorithm 1, and JB Theorem 2 (9) at its end with D = diag|w_{T-1}|.

    (9): inf_w (L(w) + a|D^-1/2 w|^2) + Y^2 (2n ln(16Y^2/(a sqrt pi)) + ln det(A/(8Y^2))).
    Its repair has the prior normalised and 1/(2 eta) = 4Y^2 throughout: 4Y^2 ln det(AD/a).
    Numbers may be floats, strings or mpmath's.

    >>> found = account([[1]], [-1], 1)
    >>> float(found.loss), round(float(found.published), 4), round(float(found.repaired), 4)
    (4.0, 3.5142, 3.2726)
    """
    with mpmath.workdps(DIGITS):
        a, Y, n = mpmath.mpf(a), mpmath.mpf(Y), len(X[0])
        w = mpmath.matrix([mpmath.mpf(start)] * n)
        M, b = mpmath.zeros(n), mpmath.zeros(n, 1)
        loss = square = mpmath.mpf(0)
        path = []
        for row, outcome in zip(X, y):
            x, v = mpmath.matrix([mpmath.mpf(k) for k in row]), mpmath.mpf(outcome)
            loss += (v - (w.T * x)[0]) ** 2
            square += v**2
            M, b = M + x * x.T, b + v * x
            d = [abs(k) for k in w]
            A = M + mpmath.diag([a / k for k in d])
            w = mpmath.lu_solve(A, b)
            path.append(tuple(w))
        best = square - (b.T * w)[0]  # at w = A^-1 b
        det = mpmath.det(A)
        price = 2 * n * mpmath.log(16 * Y**2 / (a * mpmath.sqrt(mpmath.pi)))
        price += mpmath.log(det / (8 * Y**2) ** n)
        repair = mpmath.log(det * mpmath.fprod(d) / a**n)
        return Account(loss, best + Y**2 * price, best + 4 * Y**2 * repair, tuple(path))
