"""(mean, root spread) -> forecast and loss; the compiled twin of noregret.gaussian.rules."""

from __future__ import annotations

import math

import numba as nb

from noregret._ops import compiled
from noregret._ops.layout import AAR, CLIPPED


@compiled(nb.float64(nb.int64, nb.float64, nb.float64, nb.float64))
def forecast(rule: int, level: float, mean: float, root: float) -> float:
    """The point forecast; `level` is where the clipped rule clips."""
    if rule == AAR:
        return mean / root / root
    if rule == CLIPPED:
        return min(max(mean, -level), level)
    return mean


@compiled(nb.float64(nb.float64, nb.float64, nb.float64, nb.float64))
def log_loss(noise_var: float, mean: float, root: float, y: float) -> float:
    """Log loss of the Bayesian rule; the others pay the square loss of their forecast."""
    e = (y - mean) / root
    return 0.5 * math.log(2.0 * math.pi * noise_var) + math.log(root) + 0.5 * e * e / noise_var
