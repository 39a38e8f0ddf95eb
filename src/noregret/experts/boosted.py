"""Boosted trees on a window of the last rounds, an expert of AutoClassifier.

Nothing is proved of it: a pool that has it carries the proof.  See native/boosting.hpp.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from noregret._native import boosting
from noregret._native.boosting import Booster
from noregret.declare.fields import Array, Real, require
from noregret.learner.saving import revived
from noregret.types import Matrix, Vector

__all__ = ["Boosted", "Shape"]


class Shape(NamedTuple):
    """How many trees of how many leaves on how many rounds, and how they are made.

    They are made anew whenever `part` of the rounds is new, each by `step` of Newton's step.
    """

    trees: int
    leaves: int
    window: int
    part: float
    step: float


LABELS = Shape(100, 24, 4096, 0.1, 0.1)


@dataclass(slots=True, eq=False)
class Boosted:
    """100 trees on up to 4,096 rounds, made anew whenever a tenth of them is new.

    >>> trees = Boosted.start(1)
    >>> for t in range(100):
    ...     trees.learn(np.array([t % 10 / 10.0]), 1.0 if 2 < t % 10 < 6 else -1.0)
    >>> trees.log_odds(np.array([0.4])) > 1.0 > -1.0 > trees.log_odds(np.array([0.8]))
    True
    """

    booster: Booster

    FIELDS = (
        Array("rows", ("m", "n"), of="booster"),
        Array("signs", ("m",), of="booster"),
        Array("nodes", ("N", boosting.COLUMNS), of="booster"),
        Real("since", 0.0, 2.0**53, of="booster"),
    )

    @classmethod
    def start(cls, n: int) -> Boosted:
        """Nothing learned."""
        nothing = np.zeros((0, n)), np.zeros(0), np.zeros((0, boosting.COLUMNS))
        return cls(Booster(*LABELS, True, n, *nothing, 0.0))  # labels

    def stored(self) -> tuple[Matrix, Vector, Matrix, float]:
        """The values of FIELDS."""
        return self.booster.arrays()

    @classmethod
    def restored(cls, rows: Matrix, signs: Vector, nodes: Matrix, since: float) -> Boosted:
        """The trees of these values."""
        require(bool((np.abs(signs) == 1.0).all()), "has labels that are none")
        try:
            return cls(Booster(*LABELS, True, rows.shape[1], rows, signs, nodes, since))  # labels
        except ValueError:
            require(possible=False, wrong="has nodes that are no trees")
            raise

    def __reduce__(self) -> tuple[object, ...]:
        return revived, (Boosted.restored, *self.stored())

    @property
    def size(self) -> int:
        """How many features there are."""
        return int(self.stored()[0].shape[1])

    def copy(self) -> Boosted:
        """Trees that share nothing that changes."""
        return Boosted(self.booster.copy())

    def extended(self, k: int) -> Boosted:
        """A copy with k features more, which have been 0 so far."""
        rows, signs, nodes, since = self.stored()
        rows = np.hstack([rows, np.zeros((len(rows), k))])
        return Boosted.restored(rows, signs, nodes, since)

    def log_odds(self, x: Vector) -> float:
        """ln of the odds of the positive label at x."""
        return self.booster.look(x)

    def learn(self, x: Vector, sign: float) -> None:
        """Learn one round."""
        self.booster.learn(x, sign)
