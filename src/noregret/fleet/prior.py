"""`prior="fleet"`: what new keys start from, learned from the keys before them.

A prior says that the weights of a key are near m, to within a precision P: experts pay
(w - m)'P(w - m) instead of a|w|^2.  A learner with such a prior is an ordinary one that sees

    x' = sqrt(a) L^-1 x,     y' = y - m'x,     where P = LL':      with v = L'(w - m)/sqrt(a),

    (w - m)'x = v'x',        (w - m)'P(w - m) = a|v|^2

and whose forecasts have m'x added.  So every theorem and every audit holds as it is, of x' and y'.

m is the weight of all rounds merged, P = k G with G the mean of xx' over them: worth k rounds.  k
is the likeliest of 19 powers of two for the keys so far, if their weights are normal about m with
covariance s^2 P^-1 and noise of variance s^2 (empirical Bayes; s^2 too is the likeliest).  With
S = X'X of a key, r = X'(y - Xm), e = |y - Xm|^2, and C = L^-1 S L^-T for G = LL':

    - 2 ln likelihood = sum over keys ln det(I + C/k)  +  T ln sum V,     V = e - q'(C + kI)^-1 q,
                                                                          q = L^-1 r
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from noregret.numerics.triangles import factor, solve_lower, solve_upper
from noregret.types import Matrix, Vector

__all__ = ["Moments", "Prior", "learned"]

STRENGTHS = 2.0 ** np.arange(-6.0, 13.0)
"""What is tried for k: how many rounds a prior is worth."""


@dataclass(frozen=True, slots=True, eq=False)
class Prior:
    """What a key started from: weights near `mean`, to within `precision`.

    keys, rounds : how many keys and rounds it was learned from, all before the key's own first.
    """

    mean: Vector
    precision: Matrix
    keys: int
    rounds: int

    def root(self) -> Matrix:
        """L with P = LL'."""
        L: Matrix = self.precision.copy()
        if factor(L) >= 0:
            raise ValueError("the precision is not positive definite")
        return np.tril(L)

    def turned(self, X: Matrix, a: float) -> Matrix:
        """sqrt(a) L^-1 x for every row."""
        found: Matrix = math.sqrt(a) * solve_lower(self.root(), np.ascontiguousarray(X.T)).T
        return found


class Moments(NamedTuple):
    """What a key has seen: X'X, X'y, |y|^2, and in how many rounds."""

    S: Matrix
    b: Vector
    square: float
    rounds: int

    @classmethod
    def of(cls, R: Matrix, z: Vector, energy: float, rounds: int, a: float) -> Moments:
        """Those of a learner that started at a|w|^2, from its triangle."""
        return cls(R.T @ R - a * np.eye(len(R)), R.T @ z, energy, rounds)

    def turned_back(self, prior: Prior, a: float) -> Moments:
        """Those of x and y, where these are of x' and y'."""
        L = prior.root() / math.sqrt(a)
        S, m = L @ self.S @ L.T, prior.mean
        b = L @ self.b + S @ m
        return Moments(S, b, self.square + 2.0 * float(m @ b) - float(m @ S @ m), self.rounds)


def learned(keys: Iterable[Moments], a: float, count: int) -> Prior | None:
    """The prior for the next key, after `count` keys of which these are some.

    None where float64 does not hold it: sums overflow, or features are too near to collinear.

    >>> many = [Moments(np.eye(1) * 9, np.array([18.0]), 37.0, 9) for _ in range(5)]
    >>> prior = learned(many, 1e-9, 5)  # all have the weight 2
    >>> prior.mean.round(3), round(float(prior.precision[0, 0]), 3)
    (array([2.]), 4096.0)
    """
    known = list(keys)
    n, rounds = len(known[0].b), sum(key.rounds for key in known)
    G = (sum((key.S for key in known), np.zeros((n, n))) + a * np.eye(n)) / rounds
    L: Matrix = G.copy()
    if not np.isfinite(G).all() or factor(L) >= 0:
        return None
    b = sum((key.b for key in known), np.zeros(n))[:, None] / rounds
    half = solve_lower(L, b)
    mean: Vector = solve_upper(np.ascontiguousarray(L.T), half)[:, 0]
    dets, V = np.zeros(len(STRENGTHS)), np.zeros(len(STRENGTHS))
    for key in known:
        r = key.b - key.S @ mean
        e = key.square - float(mean @ (key.b + r))
        half = solve_lower(L, np.ascontiguousarray(solve_lower(L, key.S.copy()).T))
        size, turn = np.linalg.eigh(half)
        size = np.maximum(size, 0.0)
        q = turn.T @ solve_lower(L, r[:, None])[:, 0]
        dets += np.log1p(size[:, None] / STRENGTHS).sum(axis=0)
        V += np.maximum(e - (q[:, None] ** 2 / (size[:, None] + STRENGTHS)).sum(axis=0), 0.0)
    with np.errstate(divide="ignore"):  # nothing is left to explain: any strength will do
        best = int(np.argmin(dets + rounds * np.log(V)))
    return Prior(mean, STRENGTHS[best] * G, count, rounds)
