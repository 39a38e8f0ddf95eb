"""Losses of a margin z = s w'x, s = +-1: l(z) = -ln P(s | x, w), its slope and its curvature.

A new family is one branch in `bend`, a number here, and a line in noregret.glm.families.
"""

from __future__ import annotations

import math

import numba as nb

from noregret._ops import compiled

LOGISTIC = 0  # P = 1/(1 + exp(-z)),       0 < l'' <= 1/4
PROBIT = 1  # P = Phi(z),                  0 < l'' < 1

HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)
BENT = nb.types.UniTuple(nb.float64, 3)  # type: ignore[no-untyped-call]  # Numba's


@compiled(BENT(nb.int64, nb.float64))
def bend(family: int, z: float) -> tuple[float, float, float]:
    """l(z), l'(z), l''(z)."""
    if family == LOGISTIC:
        e = math.exp(-abs(z))
        small = e / (1.0 + e)  # sigma(-|z|)
        loss = math.log1p(e) + max(-z, 0.0)
        slope = -small if z > 0.0 else small - 1.0
        return loss, slope, small * (1.0 - small)
    if z < -35.0:  # Phi(z) = phi(z)/(-z) (1 - short), an asymptotic series
        r = 1.0 / (z * z)
        short = r * (1.0 - 3.0 * r * (1.0 - 5.0 * r * (1.0 - 7.0 * r * (1.0 - 9.0 * r))))
        hazard = -z / (1.0 - short)  # phi/Phi
        loss = 0.5 * z * z + HALF_LOG_2PI + math.log(hazard)
        return loss, -hazard, hazard * (-z * short / (1.0 - short))
    if z > 0.0:
        loss = -math.log1p(-0.5 * math.erfc(z / math.sqrt(2.0)))
    else:
        loss = -math.log(0.5 * math.erfc(-z / math.sqrt(2.0)))
    hazard = math.exp(loss - 0.5 * z * z - HALF_LOG_2PI)
    return loss, -hazard, hazard * (hazard + z)
