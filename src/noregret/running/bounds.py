"""The bound of the main certificate after every round, for Gaussian learners.

Each is a formula in V = sum e^2/d and Lam = sum ln d, and both are sums over rounds, so a replay
gives them round by round: the same numbers that `certificate()` would have given there, up to
rounding.  However the rounds are cut into replays, and runs, the bits are the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret.gaussian.learners import AAR, BayesianRidge, Ridge
from noregret.gaussian.ledger import totals
from noregret.learner.replay import Replay
from noregret.types import Vector

__all__ = ["Running"]

Sum = tuple[float, float]
"""A sum, and what rounding took from it."""


@dataclass(slots=True)
class Running:
    """The sums so far."""

    V: Sum = (0.0, 0.0)
    Lam: Sum = (0.0, 0.0)
    largest: float = 0.0
    rounds: int = 0

    @property
    def finite(self) -> bool:
        """Whether nothing overflowed."""
        return all(map(math.isfinite, (*self.V, *self.Lam, self.largest)))

    @classmethod
    def of(cls, learner: Any) -> Running:
        """Those of a learner as it is; of nothing, where it has learned none or is another kind."""
        stream = getattr(learner, "_state", None)
        if stream is None or not hasattr(stream, "ledger"):
            return cls()
        t = totals(stream.ledger)
        return cls((t.fit, 0.0), (t.log_det, 0.0), t.largest, t.rounds)

    def bounds(self, learner: Any, replay: Replay, y: Vector) -> Vector | None:
        """The bound after every round of a replay; None where no formula is at hand."""
        if type(learner) not in (AAR, Ridge, BayesianRidge) or replay.certificate.bound is None:
            return None
        with np.errstate(all="ignore"):  # what overflows is infinite here and refused elsewhere
            assert replay.spread is not None
            assert replay.mean is not None
            d, e = replay.spread, y - replay.mean
            V, self.V = _summed(self.V, e * e / d)
            Lam, self.Lam = _summed(self.Lam, np.log(d))
            Y = np.maximum(np.maximum.accumulate(np.abs(y)), self.largest)
            t = np.arange(1, len(y) + 1) + self.rounds
            self.largest, self.rounds = float(Y[-1]), int(t[-1])
            if type(learner) is AAR:
                return np.asarray(V + Y * Y * Lam)
            if type(learner) is BayesianRidge:
                s2 = learner.noise_var
                return np.asarray(
                    0.5 * t * math.log(2.0 * math.pi * s2) + V / (2.0 * s2) + 0.5 * Lam
                )
            return V if learner.clip is None else np.asarray(V + 4.0 * learner.clip**2 * Lam)


def _summed(held: Sum, terms: Vector) -> tuple[Vector, Sum]:
    """The sum after every term, compensated (Neumaier); one term after the other."""
    sums = np.cumsum(np.concatenate([held[:1], terms]))
    before, after = sums[:-1], sums[1:]
    larger = np.abs(before) >= np.abs(terms)
    lost = np.where(larger, (before - after) + terms, (terms - after) + before)
    taken = np.cumsum(np.concatenate([held[1:], np.where(np.isfinite(after), lost, 0.0)]))
    return after + taken[1:], (float(after[-1]), float(taken[-1]))
