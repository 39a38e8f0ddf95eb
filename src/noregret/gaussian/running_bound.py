"""The main theorem's bound after every round of a replay, not only after the last.

Each is a formula in V = sum e^2/d and Lam = sum ln d, and both are sums over rounds, so a replay
gives them round by round: the same numbers that `certificate()` would have given there, up to
rounding.  However the rounds are cut into replays, and runs, the bits are the same.
"""

from __future__ import annotations

import math

import numpy as np

from noregret._native import layout
from noregret.gaussian import theorems
from noregret.gaussian.hints import hints
from noregret.gaussian.ledger import Totals
from noregret.gaussian.rules import Rule
from noregret.learner.replay import Replay, StoredSums
from noregret.types import Matrix, Vector

__all__ = ["RunningSums"]

Sum = tuple[float, float]
"""A sum, and what rounding took from it."""


class RunningSums:
    """The sums so far, from those of a learner as it is."""

    __slots__ = ("Lam", "V", "ends", "largest", "rounds", "rule")

    def __init__(self, rule: Rule, so_far: Totals | None, ends: Matrix | None = None) -> None:
        self.rule = rule
        self.ends = np.full((2, 1), rule.level) if ends is None else ends.copy()
        self.V = (0.0 if so_far is None else so_far.fit + so_far.opening, 0.0)
        self.Lam = (0.0 if so_far is None else so_far.log_det, 0.0)
        self.largest = 0.0 if so_far is None else so_far.largest
        self.rounds = 0 if so_far is None else so_far.rounds

    def after(self, replay: Replay, y: Vector) -> Vector | None:
        """The bound after every round of a replay; None where it is withdrawn."""
        if replay.certificate.bound is None or replay.spread is None or replay.mean is None:
            return None
        with np.errstate(all="ignore"):  # what overflows is infinite here and refused elsewhere
            d, e = replay.spread, y - replay.mean
            off, opening = self._off(y)
            V, self.V = _summed(self.V, e * e / d + opening * opening * (1.0 - 1.0 / d))
            Lam, self.Lam = _summed(self.Lam, np.log(d))
            Y = np.maximum(np.maximum.accumulate(np.abs(off)), self.largest)
            t = np.arange(1.0, len(y) + 1.0) + self.rounds
            self.largest, self.rounds = float(Y[-1]), int(t[-1])
            return self._bound(V, Lam, Y, t)

    def _off(self, y: Vector) -> tuple[Vector, Vector]:
        """y - h of every round, and apart from it that of a round without a hint; else 0."""
        if not self.rule.hinted:
            return y, np.zeros_like(y)
        first = self.rounds == 0 and self.rule.code > layout.AROUND
        h = hints(self.rule, self.ends, y[:, None], first=first)[:, 0]
        off, opening = y - h, np.zeros_like(y)
        if first:
            off[0], opening[0] = 0.0, y[0]
        if self.rule.code == layout.MIDRANGE:
            seen = np.concatenate([y, self.ends[:, 0] if not first else y[:0]])
            self.ends = np.array([[seen.min()], [seen.max()]])
        elif self.rule.code == layout.LAST:
            self.ends = np.full((2, 1), y[-1])
        return off, opening

    def _bound(self, V: Vector, Lam: Vector, Y: Vector, t: Vector) -> Vector:
        level = self.rule.level
        if self.rule.code == layout.AAR or self.rule.hinted:
            return theorems.aar_side(V, Y * Y, Lam)
        if self.rule.code == layout.CLIPPED:
            return theorems.clipped_side(V, level, Lam)
        if self.rule.code == layout.BAYES:
            return theorems.bayesian_side(V, t, level, Lam)
        return V

    def stored(self) -> StoredSums | None:
        """The sums for a state file; None if one overflowed."""
        finite = all(map(math.isfinite, (*self.V, *self.Lam, self.largest)))
        return (self.V, self.Lam, self.largest, self.rounds) if finite else None

    def resume(self, stored: StoredSums) -> None:
        """Go on from stored sums."""
        (V, lost_V), (Lam, lost_Lam), largest, rounds = stored
        self.V, self.Lam = (float(V), float(lost_V)), (float(Lam), float(lost_Lam))
        self.largest, self.rounds = float(largest), int(rounds)


def _summed(held: Sum, terms: Vector) -> tuple[Vector, Sum]:
    """The sum after every term, compensated (Neumaier); one term after the other."""
    sums = np.cumsum(np.concatenate([held[:1], terms]))
    before, after = sums[:-1], sums[1:]
    larger = np.abs(before) >= np.abs(terms)
    lost = np.where(larger, (before - after) + terms, (terms - after) + before)
    taken = np.cumsum(np.concatenate([held[1:], np.where(np.isfinite(after), lost, 0.0)]))
    return after + taken[1:], (float(after[-1]), float(taken[-1]))
