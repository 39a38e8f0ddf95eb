"""What Auto's groups see of a round: features in running units, the past of y; native/views.hpp."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from noregret._native import views as ops
from noregret.declare.fields import Array, require
from noregret.types import Matrix, Vector

__all__ = ["Seen", "Views"]


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """Rows of x, and what was seen of them before their outcomes."""

    x: Matrix
    standard: Matrix  # (x - mean)/deviation
    robust: Matrix  # 1.35 (x - median)/(quartile range) of the last 128 rows
    past: Matrix  # lags and exponential means of y, in standard units of y
    naive: Matrix  # the same as they are, and the mean of all
    first: Vector  # y_1 where it is known, 0 in the very first round
    soft: Vector  # the outcomes as the twins learn them; none where nothing is learned


class Views:
    """What is known of every feature and of the outcomes, in memory that does not grow.

    >>> views = Views.of(1)
    >>> seen = views.observe(np.array([[5.0], [7.0], [9.0]]), np.array([1.0, 2.0, 4.0]))
    >>> seen.standard[:, 0].round(2), seen.naive[:, 0]
    (array([0.  , 1.  , 1.22]), array([0., 1., 2.]))
    """

    __slots__ = ("features", "outcomes")

    FIELDS = (
        Array("features", ("n", ops.FEATURE), finite=False),
        Array("outcomes", (ops.OUTCOMES,)),
    )

    def __init__(self, features: Matrix, outcomes: Vector) -> None:
        self.features, self.outcomes = features, outcomes

    @classmethod
    def restored(cls, features: Matrix, outcomes: Vector) -> Views:
        """The views of these fields."""
        kinds, counts = features[:, ops.KINDS], outcomes[[ops.ROUNDS, ops.RUN]]
        possible = (kinds == np.round(kinds)) & (kinds >= -1.0) & (kinds <= ops.MOST_VALUES)
        require(bool(possible.all()), "has an impossible number of values")
        whole = (counts == np.round(counts)) & (counts >= 0.0) & (counts <= 2.0**53)
        require(bool(whole.all()) and counts[1] <= 1000.0, "has an invalid count of rounds")
        return cls(features, outcomes)

    @classmethod
    def of(cls, n: int) -> Views:
        """Of n features nothing is known."""
        return cls(np.zeros((n, ops.FEATURE)), np.zeros(ops.OUTCOMES))

    def copy(self) -> Views:
        """Views that share nothing with these."""
        return Views(self.features.copy(), self.outcomes.copy())

    def extended(self, k: int) -> Views:
        """With k features more, which have been 0 so far."""
        new = np.zeros((k, ops.FEATURE))
        new[:, ops.KINDS] = min(self.rounds, 1)
        return Views(np.vstack([self.features, new]), self.outcomes.copy())

    @property
    def rounds(self) -> int:
        """How many outcomes were seen."""
        return int(self.outcomes[ops.ROUNDS])

    def observe(self, xs: Matrix, ys: Vector) -> Seen:
        """Take in rows and their outcomes; or one row alone, without its outcome."""
        T, n = xs.shape
        before = self.rounds
        z, r = np.empty((T, n)), np.empty((T, n))
        past, naive, soft = np.empty((T, ops.PAST)), np.empty((T, ops.PAST + 1)), np.empty(len(ys))
        ops.observe(self.features, self.outcomes, xs, ys, z, r, past, naive, soft)
        first = np.full(T, self.outcomes[ops.FIRST])
        if before == 0:
            first[0] = 0.0
        return Seen(xs, z, r, past, naive, first, soft)

    def values(self) -> list[Vector]:
        """By feature, the values of one that has taken 3 to 32, all of them whole; else none."""
        found = []
        for row in self.features:
            count = int(row[ops.KINDS])
            found.append(row[ops.VALUES : ops.VALUES + count].copy() if count >= 3 else row[:0])
        return found
