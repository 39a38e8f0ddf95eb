"""Whether forecasts that are distributions mean what they say, as counts.

Under a distribution that is right, the share of outcomes below its p-quantile is p: the
probability integral transform F_t(y_t) is uniform on [0, 1].  Of the probability of a binary
outcome: the share of outcomes 1 among forecasts near p is p.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from noregret.types import Integers, Vector

__all__ = ["LEVELS", "Intervals", "Reliability"]

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
"""Central intervals whose coverage is counted."""

_HALF_WIDTHS = (0.674489750196082, 1.28155156554460, 1.64485362695147, 1.95996398454005)
HALF_WIDTHS = (*_HALF_WIDTHS, 2.57582930354890)
"""What a central interval of each level reaches to on either side, in standard deviations."""


@cache
def _quantiles(bins: int) -> Vector:
    """Where a standard normal is cut into bins of the same probability."""
    from statistics import NormalDist

    return np.array([NormalDist().inv_cdf(k / bins) for k in range(1, bins)])


class Intervals:
    """Normal forecasts against outcomes: the histogram of F(y), and coverage.

    >>> intervals = Intervals(bins=4)
    >>> intervals.add(np.array([0.0, 0.1, 3.0]), np.zeros(3), np.ones(3))
    >>> intervals.pit.tolist()
    [0, 0, 2, 1]
    >>> intervals.coverage().round(2).tolist()        # of 50 %, 80 %, 90 %, 95 %, 99 %
    [0.67, 0.67, 0.67, 0.67, 0.67]
    """

    __slots__ = ("covered", "pit", "rounds")

    def __init__(self, bins: int = 20) -> None:
        self.pit: Integers = np.zeros(bins, dtype=np.int64)
        self.covered: Integers = np.zeros(len(LEVELS), dtype=np.int64)
        self.rounds = 0

    def add(self, y: Vector, mean: Vector, std: Vector) -> None:
        """Rounds; those without outcome or distribution do not count."""
        some = np.isfinite(y) & np.isfinite(mean) & (std > 0.0)
        if not some.any():
            return
        z = (y[some] - mean[some]) / std[some]
        bins = len(self.pit)
        self.pit += np.bincount(np.searchsorted(_quantiles(bins), z, side="right"), None, bins)
        self.covered += (np.abs(z)[:, None] <= np.array(HALF_WIDTHS)).sum(axis=0)
        self.rounds += int(some.sum())

    def coverage(self) -> Vector:
        """The share of outcomes inside the central interval of each level."""
        return self.covered / max(self.rounds, 1)

    def band(self) -> tuple[float, float]:
        """Where a bar of the histogram is in 95 of 100 cases under independent, right forecasts."""
        p = 1.0 / len(self.pit)
        off = 1.96 * math.sqrt(p * (1.0 - p) / max(self.rounds, 1)) / p
        return max(0.0, 1.0 - off), 1.0 + off


class Reliability:
    """Probabilities of 1 against what came.

    >>> table = Reliability(bins=2)
    >>> table.add(np.array([0.0, 1.0, 1.0]), np.array([0.25, 0.25, 0.75]))
    >>> [x.tolist() for x in table.curve()]
    [[0.25, 0.75], [0.5, 1.0], [2, 1]]
    """

    __slots__ = ("count", "ones", "said")

    def __init__(self, bins: int = 20) -> None:
        self.count: Integers = np.zeros(bins, dtype=np.int64)
        self.said, self.ones = np.zeros(bins), np.zeros(bins)

    @property
    def rounds(self) -> int:
        """How many forecasts were counted."""
        return int(self.count.sum())

    def add(self, y: Vector, chance: Vector) -> None:
        """Rounds; those without outcome do not count."""
        some = np.isfinite(y) & np.isfinite(chance)
        bins = len(self.count)
        home = np.clip((chance[some] * bins).astype(np.int64), 0, bins - 1)
        self.count += np.bincount(home, None, bins)
        self.said += np.bincount(home, chance[some], bins)
        self.ones += np.bincount(home, y[some], bins)

    def curve(self) -> tuple[Vector, Vector, Integers]:
        """Mean forecast, share of 1 and number of rounds, of every bin that has any."""
        some = self.count > 0
        n = self.count[some]
        return self.said[some] / n, self.ones[some] / n, n
