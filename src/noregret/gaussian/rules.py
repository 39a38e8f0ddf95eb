"""Rules: what to forecast once a core has looked at x, and what one round of it costs.

Each rule turns (mean m, spread d) into a forecast.  Next to each stands the price of one round:
by how much its loss may exceed e^2/d, e = y - m, whose sum is the best expert's regularised
loss.  The compiled twin, for one-at-a-time rounds, is noregret._native.rules.

    ridge     g = m             (y - g)^2 = e^2/d + e^2 (1 - 1/d)
    clipped   g = clip(m)       (y - g)^2 <= e^2/d + 4Y^2 (1 - 1/d),  |y| <= Y
    AAR       g = m/d           (y - g)^2 = e^2/d + y^2 (1 - 1/d) - (d - 1) g^2
    hinted    g = h + (m - h)/d (y - g)^2 = e^2/d + (y - h)^2 (1 - 1/d) - (d - 1) (g - h)^2
    Bayes     N(m, s^2 d)       -ln density = (e^2/d)/(2s^2) + ln(2 pi s^2)/2 + ln(d)/2
    Student   s^2 unknown       -ln density from W = sum e^2/d so far, see native/student.hpp
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from noregret._native import layout
from noregret.declare.fields import Count, Mismatch, Real
from noregret.types import Matrix, Vector

__all__ = ["Rule"]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule by number, and the level it needs: where to clip, the noise variance, or a hint.

    >>> Rule(layout.AAR).forecast(np.array([[4.0]]), np.array([2.0]))
    array([[1.]])
    >>> Rule(layout.CLIPPED, 1.5).forecast(np.array([[4.0]]), np.array([2.0]))
    array([[1.5]])
    >>> Rule(layout.AROUND, 3.0).forecast(np.array([[4.0]]), np.array([2.0]), np.array([3.0]))
    array([[3.25]])
    """

    FIELDS = (Count("code", 0, layout.MIDRANGE), Real("level", -1e300, 1e300))

    code: int
    level: float = 0.0

    @classmethod
    def restored(cls, code: int, level: float) -> Rule:
        """The rule of these values."""
        if code in (layout.CLIPPED, layout.BAYES):
            fits = level > 0.0
        else:
            fits = level == 0.0 or (code == layout.AROUND and abs(level) <= layout.LARGEST_OUTCOME)
        if not fits:
            raise Mismatch("has a level that does not go with it")
        return cls(code, level)

    @property
    def clip(self) -> float | None:
        """Where forecasts are clipped, if they are."""
        return self.level if self.code == layout.CLIPPED else None

    @property
    def noise_var(self) -> float:
        """The noise variance of the Bayesian rule, 1 for the others."""
        return self.level if self.code == layout.BAYES else 1.0

    @property
    def hinted(self) -> bool:
        """Whether this is AAR around a hint."""
        return self.code >= layout.AROUND

    @property
    def hint(self) -> str:
        """The hint in words."""
        return {
            layout.AROUND: f"h = {self.level:.6g}",
            layout.LAST: "h the outcome before, 0 in round 1",
            layout.MIDRANGE: "h the middle of the least and the largest before, 0 in round 1",
        }.get(self.code, "")

    def forecast(self, mean: Matrix, root: Vector, hint: Vector | None = None) -> Matrix:
        """Point forecasts for means (T, m) and root spreads (T,), around hints (m,) or (T, m)."""
        if hint is not None and self.hinted:
            return hint + (mean - hint) / root[:, None] / root[:, None]
        if self.code == layout.AAR:
            return mean / root[:, None] / root[:, None]
        if self.code == layout.CLIPPED:
            return np.clip(mean, -self.level, self.level)
        return mean

    def loss(self, mean: Matrix, root: Vector, y: Matrix, hint: Vector | None = None) -> Vector:
        """Loss of each round, summed over its outcomes: square loss, or log loss for Bayes.

        That of Student depends on the rounds before: noregret.reference.student has it.
        """
        if self.code == layout.BAYES:
            e = (y - mean) / root[:, None]
            constant = 0.5 * math.log(2.0 * math.pi * self.level) + np.log(root)
            total: Vector = (constant[:, None] + 0.5 * e * e / self.level).sum(axis=1)
            return total
        paid: Vector = ((y - self.forecast(mean, root, hint)) ** 2).sum(axis=1)
        return paid
