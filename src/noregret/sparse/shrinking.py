"""The state of OSLOG, and the limits of what it takes; see noregret._ops.sparse."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from noregret._ops import sparse as ops
from noregret._ops.sparse import (
    BOOK_ROWS,
    LARGEST,
    LARGEST_SEEN,
    PASSES,
    SCALES,
    SETTINGS,
    STATE_ROWS,
    WEIGHTS,
)
from noregret.errors import FeatureError, NumericalError, OutcomeError
from noregret.types import Matrix, Vector

__all__ = ["Shrinking", "finite", "outcome_within", "sparsity", "within"]

NEGLIGIBLE = 1e-6
"""A weight below this share of the largest counts as 0 in `sparsity_`."""
TOO_LARGE = "the round does not fit in float64: rescale the features or the outcomes"


@dataclass(frozen=True, slots=True, eq=False)
class Shrinking:
    """What OSLOG has learned; features that are new make a larger one."""

    door: Any
    block: Matrix  # gram, root, state and a row for x, one below the other
    book: Matrix

    @classmethod
    def start(cls, door: Any, a: float, floor: float, passes: float, start: float) -> Shrinking:
        """Nothing learned, all weights at `start`."""
        n = door.size
        new = cls(door, np.zeros((2 * n + STATE_ROWS + 1, n)), np.zeros((BOOK_ROWS, 2)))
        new.state[WEIGHTS] = start
        new.state[SCALES] = max(abs(start), floor)
        new.book[SETTINGS], new.book[PASSES, 0] = (a, floor), passes
        return new

    @property
    def gram(self) -> Matrix:
        """M = sum xx'."""
        return self.block[: self.door.size]

    @property
    def root(self) -> Matrix:
        """Scratch for the factor."""
        return self.block[self.door.size : 2 * self.door.size]

    @property
    def state(self) -> Matrix:
        """One row a quantity."""
        n = 2 * self.door.size
        return self.block[n : n + STATE_ROWS]

    def copy(self) -> Shrinking:
        """One that shares nothing with this one."""
        return replace(self, block=self.block.copy(), book=self.book.copy())

    def behind(self, door: Any, start: float) -> Shrinking:
        """The same, or a larger copy where the door knows more features.

        What is new has been 0 so far.  Before the first round it starts like the rest; later its
        weight is 0, like that of a feature that was given as 0.
        """
        n, k = self.door.size, door.size - self.door.size
        if not k:
            return self
        larger = Shrinking.start(door, *self.settings, start if self.rounds == 0 else 0.0)
        larger.gram[:n, :n] = self.gram
        larger.state[:, :n] = self.state
        larger.book[:] = self.book
        return larger

    @property
    def settings(self) -> tuple[float, float, float]:
        """a, the floor and the passes."""
        a, floor = self.book[SETTINGS].tolist()
        return a, floor, float(self.book[PASSES, 0])

    @property
    def rounds(self) -> int:
        """How many rounds have been learned."""
        return int(self.book[LARGEST_SEEN, 1])

    def learn(self, vector: Vector, y: float) -> None:
        """Learn one round."""
        if not ops.round_(self.block, self.book, vector, y):
            raise NumericalError(TOO_LARGE)

    def replay(self, xs: Matrix, ys: Vector, path: Matrix) -> Vector:
        """Predict-then-learn over rows, in place."""
        forecasts = np.empty(len(ys))
        failed = ops.replay(self.block, self.book, xs, ys, forecasts, path)
        if failed >= 0:
            raise NumericalError(f"row {failed}: {TOO_LARGE}")
        return forecasts

    def spread(self, vector: Vector) -> float:
        """1 + x'A^-1 x with A = M + a D^-1 for the D that w was found with; O(n^3)."""
        s = np.sqrt(self.state[SCALES])
        lot = self.settings[0] * np.eye(s.size) + s[:, None] * self.gram * s
        try:
            lower = np.linalg.cholesky(lot)
        except np.linalg.LinAlgError:
            raise NumericalError(TOO_LARGE) from None
        v = solve_triangular(lower, s * vector, lower=True)
        return 1.0 + float(v @ v)


def outcome_within(y: float, field: str = "y") -> float:
    """y, if OSLOG can take it."""
    if not abs(y) <= LARGEST:
        raise OutcomeError(f"{field} = {y!r}: OSLOG takes outcomes up to 1e140; rescale them")
    return y


def within(xs: Matrix) -> None:
    """Refuse features that OSLOG cannot take."""
    if xs.size and not np.abs(xs).max() <= LARGEST:
        worst = float(np.abs(xs).max())
        raise FeatureError(f"x has an entry of size {worst!r}: OSLOG takes up to 1e140; rescale it")


def finite(forecast: float) -> float:
    """The forecast, if it fits."""
    if not math.isfinite(forecast):
        raise NumericalError("the forecast at x does not fit in float64: rescale the features")
    return forecast


def sparsity(w: Vector) -> float:
    """The share of negligible weights."""
    largest = float(np.max(np.abs(w), initial=0.0))
    return float((np.abs(w) <= NEGLIGIBLE * largest).mean()) if w.size else 0.0
