"""A distribution by its tracked quantiles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from noregret.errors import ParameterError
from noregret.types import Vector

__all__ = ["Recalibrated"]


@dataclass(frozen=True, slots=True, eq=False)
class Recalibrated:
    """What is known of an outcome: its quantiles at some levels, each of which tracks its misses.

    Between two levels quantiles lie on a straight line; beyond the outermost nothing is claimed.

    >>> found = Recalibrated(np.array([0.05, 0.95]), np.array([10.0, 19.0]))
    >>> found.quantile(0.5), round(found.cdf(11.0), 3), found.median
    (14.5, 0.15, 14.5)
    """

    levels: Vector
    ends: Vector  # ascending

    def quantile(self, level: float) -> float:
        """The quantile of a level between the outermost ones."""
        if not self.levels[0] <= level <= self.levels[-1]:
            raise ParameterError(
                f"level = {level!r}: quantiles from {self.levels[0]:g} to {self.levels[-1]:g} are "
                "tracked; ask for a larger coverage"
            )
        if not np.isfinite(self.ends).all():
            return float(self.ends[0] if level < 0.5 else self.ends[-1])
        return float(np.interp(level, self.levels, self.ends))

    def cdf(self, y: float) -> float:
        """The probability of an outcome up to y, within the outermost levels."""
        if not np.isfinite(self.ends).all():
            return 0.5
        return float(np.interp(y, self.ends, self.levels))

    @property
    def median(self) -> float:
        """The quantile of 1/2, where it lies between two levels."""
        return self.quantile(0.5)
