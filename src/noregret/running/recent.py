"""Which keys of a fleet have become worse of late."""

from __future__ import annotations

import numpy as np

from noregret.types import Integers, Vector

__all__ = ["Recent"]

MEMORY = 32.0  # rounds: how far the recent loss goes back


class Recent:
    """How the last rounds of every key went beside all its rounds: three numbers per key.

    >>> recent = Recent()
    >>> for loss in (1.0, 1.0, 4.0):
    ...     recent.add(np.array([0]), np.array([loss]))
    >>> recent.ratio(np.array([0])).round(3)
    array([0.547])
    """

    __slots__ = ("loss", "recent", "rounds")

    def __init__(self) -> None:
        self.recent: Vector = np.zeros(0)
        self.loss: Vector = np.zeros(0)
        self.rounds: Vector = np.zeros(0)

    def add(self, where: Integers, losses: Vector) -> None:
        """Some rounds, by slot."""
        size = max(int(where.max(initial=-1)) + 1, len(self.loss))
        grown = (np.pad(a, (0, size - len(a))) for a in (self.recent, self.loss, self.rounds))
        self.recent, self.loss, self.rounds = grown
        count = np.bincount(where, minlength=size)
        total = np.bincount(where, losses, minlength=size)
        mean = np.divide(total, count, out=np.zeros(size), where=count > 0)
        left = np.where(self.rounds > 0, (1.0 - 1.0 / MEMORY) ** count, 0.0)
        met = count > 0
        self.recent[met] = (left * self.recent + (1.0 - left) * mean)[met]
        self.loss, self.rounds = self.loss + total, self.rounds + count

    def ratio(self, where: Integers) -> Vector:
        """Recent over mean loss, NaN for a key that had no round or no loss."""
        padded = (np.pad(a, (0, 1)) for a in (self.recent, self.loss, self.rounds))
        at = np.minimum(where, len(self.loss))
        recent, loss, rounds = (a[at] for a in padded)
        mean = np.divide(loss, rounds, out=np.zeros(len(at)), where=rounds > 0)
        found: Vector = np.divide(recent, mean, out=np.full(len(at), np.nan), where=mean > 0)
        return found
