"""The bound of the main certificate after every round, for Gaussian learners.

Each is a formula in V = sum e^2/d and Lam = sum ln d, and both are sums over rounds, so a replay
gives them round by round: the same numbers that `certificate()` would have given there.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from noregret.gaussian import AAR, BayesianRidge, Ridge
from noregret.ledger import Totals, totals
from noregret.replay import Replay
from noregret.types import Vector

__all__ = ["before", "bounds"]


def before(learner: Any) -> Totals | None:
    """The sums so far; None where nothing was learned, or for learners of another kind."""
    stream = getattr(learner, "_stream", None)
    return None if stream is None else totals(stream.ledger)


def bounds(learner: Any, so_far: Totals | None, replay: Replay, y: Vector) -> Vector | None:
    """The bound after every round of a replay; None where no formula is at hand."""
    if type(learner) not in (AAR, Ridge, BayesianRidge) or replay.certificate.bound is None:
        return None
    with np.errstate(all="ignore"):  # what overflows is infinite here and refused elsewhere
        assert replay.spread is not None
        assert replay.mean is not None
        d, e = replay.spread, y - replay.mean
        V = np.cumsum(e * e / d) + (so_far.fit if so_far else 0.0)
        Lam = np.cumsum(np.log(d)) + (so_far.log_det if so_far else 0.0)
        if type(learner) is AAR:
            largest = np.maximum.accumulate(np.abs(y))
            Y = np.maximum(largest, so_far.largest if so_far else 0.0)
            found = V + Y * Y * Lam
        elif type(learner) is BayesianRidge:
            s2, t = learner.noise_var, np.arange(1, len(y) + 1) + (so_far.rounds if so_far else 0)
            found = 0.5 * t * math.log(2.0 * math.pi * s2) + V / (2.0 * s2) + 0.5 * Lam
        elif learner.clip is not None:
            found = V + 4.0 * learner.clip**2 * Lam
        else:
            found = V
    found[-1] = replay.certificate.bound
    return found
