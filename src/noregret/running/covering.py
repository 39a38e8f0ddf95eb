"""Whether intervals cover as often as they say, counted as they are issued."""

from __future__ import annotations

import math

import numpy as np

from noregret.types import Vector

__all__ = ["LONG", "Covering", "pit"]

LONG = 500  # outcomes in a row whose coverage is watched


class Covering:
    """Intervals of one coverage against the outcomes: counts, widths, the worst stretch.

    O(1) per row, 500 whole numbers of memory.

    >>> one = Covering(0.5)
    >>> one.add(np.array([1.0, 2.0, 9.0]), np.zeros(3), np.full(3, 4.0))
    >>> one.share, one.above, one.half_width, one.worst
    (0.6666666666666667, 1, 2.0, nan)
    """

    __slots__ = ("above", "asked", "below", "fewest", "finite", "outcomes", "recent", "width")

    def __init__(self, asked: float) -> None:
        self.asked = asked
        self.outcomes = self.below = self.above = self.finite = 0
        self.width = 0.0  # of the finite ones, summed
        self.fewest = LONG  # that were inside, of LONG in a row
        self.recent = np.empty(0, dtype=np.int64)  # whether the last ones were inside

    def add(self, y: Vector, low: Vector, high: Vector) -> None:
        """Rows; those without outcome or interval do not count."""
        some = np.isfinite(y) & ~np.isnan(low) & ~np.isnan(high)
        if not some.any():
            return
        y, low, high = y[some], low[some], high[some]
        below, above = y < low, y > high
        with np.errstate(over="ignore", invalid="ignore"):
            wide = high - low
        finite = np.isfinite(wide)
        self.outcomes += len(y)
        self.below += int(below.sum())
        self.above += int(above.sum())
        self.finite += int(finite.sum())
        self.width += float(wide[finite].sum())
        inside = np.concatenate([self.recent, (~below & ~above).astype(np.int64)])
        if len(inside) >= LONG:
            sums = np.cumsum(np.concatenate([[0], inside]))
            self.fewest = min(self.fewest, int((sums[LONG:] - sums[:-LONG]).min()))
        self.recent = inside[-(LONG - 1) :]

    @property
    def share(self) -> float:
        """Of the outcomes, inside; NaN before the first."""
        return 1.0 - (self.below + self.above) / self.outcomes if self.outcomes else math.nan

    @property
    def half_width(self) -> float:
        """On average, of the intervals that are finite."""
        return 0.5 * self.width / self.finite if self.finite else math.nan

    @property
    def worst(self) -> float:
        """The least share inside of LONG in a row; NaN before there are so many."""
        return self.fewest / LONG if self.outcomes >= LONG else math.nan


def pit(found: list[Covering]) -> tuple[Vector, Vector]:
    """Edges in [0, 1], and the share of outcomes between each two, over what it should be.

    >>> one = Covering(0.5)
    >>> one.add(np.array([-1.0, 1.0, 1.0, 9.0]), np.zeros(4), np.full(4, 4.0))
    >>> [part.tolist() for part in pit([one])]
    [[0.0, 0.25, 0.75, 1.0], [1.0, 1.0, 1.0]]
    """
    outward = sorted(found, key=lambda one: -one.asked)
    tails = np.array([0.5 * (1.0 - one.asked) for one in outward])
    n = outward[0].outcomes
    below = np.array([one.below for one in outward]) / n
    above = np.array([one.above for one in outward]) / n
    edges = np.concatenate([[0.0], tails, 1.0 - tails[::-1], [1.0]])
    upto = np.concatenate([[0.0], below, 1.0 - above[::-1], [1.0]])
    return edges, np.diff(upto) / np.diff(edges)
