"""The main theorem's bound after every round of a replay, not only after the last.

Each is a formula in V = sum e^2/d and Lam = sum ln d, and both are sums over rounds, so a replay
gives them round by round: the same numbers that `certificate()` would have given there, up to
rounding.  However the rounds are cut into replays, and runs, the bits are the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from noregret._native import layout
from noregret.gaussian import theorems
from noregret.gaussian.ledger import Totals
from noregret.gaussian.rules import Rule
from noregret.learner.replay import Replay
from noregret.types import Vector

__all__ = ["RunningSums"]

Sum = tuple[float, float]
"""A sum, and what rounding took from it."""


class RunningSums:
    """The sums so far, from those of a learner as it is."""

    __slots__ = ("Lam", "V", "largest", "rounds", "rule")

    def __init__(self, rule: Rule, so_far: Totals | None) -> None:
        self.rule = rule
        self.V = (0.0 if so_far is None else so_far.fit, 0.0)
        self.Lam = (0.0 if so_far is None else so_far.log_det, 0.0)
        self.largest = 0.0 if so_far is None else so_far.largest
        self.rounds = 0 if so_far is None else so_far.rounds

    def after(self, replay: Replay, y: Vector) -> Vector | None:
        """The bound after every round of a replay; None where it is withdrawn."""
        if replay.certificate.bound is None or replay.spread is None or replay.mean is None:
            return None
        if self.rule.code == layout.STUDENT:  # only after the last round
            return None
        with np.errstate(all="ignore"):  # what overflows is infinite here and refused elsewhere
            d, e = replay.spread, y - replay.mean
            V, self.V = _summed(self.V, e * e / d)
            Lam, self.Lam = _summed(self.Lam, np.log(d))
            Y = np.maximum(np.maximum.accumulate(np.abs(y)), self.largest)
            t = np.arange(1.0, len(y) + 1.0) + self.rounds
            self.largest, self.rounds = float(Y[-1]), int(t[-1])
            return self._bound(V, Lam, Y, t)

    def _bound(self, V: Vector, Lam: Vector, Y: Vector, t: Vector) -> Vector:
        level = self.rule.level
        if self.rule.code == layout.AAR:
            return theorems.aar_side(V, Y * Y, Lam)
        if self.rule.code == layout.CLIPPED:
            return theorems.clipped_side(V, level, Lam)
        if self.rule.code == layout.BAYES:
            return theorems.bayesian_side(V, t, level, Lam)
        return V

    def stored(self) -> list[Any] | None:
        """The sums for a state file; None if one overflowed."""
        finite = all(map(math.isfinite, (*self.V, *self.Lam, self.largest)))
        return [[*self.V], [*self.Lam], self.largest, self.rounds] if finite else None

    def resume(self, stored: Sequence[Any]) -> None:
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
