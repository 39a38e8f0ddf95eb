"""Units in which features are measured, from the stream itself.

A feature's unit is its first value that is not 0, for good: before, it had no say, so that fixed
experts stay fixed.  Standard units run along: less the mean so far, over the deviation so far.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from noregret._native.grid import measure
from noregret.declare.fields import Array, Count, Mismatch
from noregret.errors import NumericalError
from noregret.types import Matrix, Vector

__all__ = ["Units"]

CONSTANT = 30.0  # the constant feature: a level is cheap to learn and quick to move


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """What is known of the features' sizes; a method that learns more of them gives new Units.

    >>> units = Units.of(2)
    >>> rows, units = units.measured(np.array([[0.0, 5.0], [-2.0, 10.0]]))
    >>> rows
    array([[30.,  0.,  1.],
           [30., -1.,  2.]])
    >>> units.scale
    array([2., 5.])
    """

    scale: Vector  # 0: not known yet
    count: int
    shift: Vector  # a point near the data, about which the sums are taken
    total: Vector
    square: Vector

    FIELDS = (
        Count("count"),
        Array("rows", (4, "n"), finite=False, of=("scale", "shift", "total", "square")),
    )

    def stored(self) -> tuple[int, Matrix]:
        """The values of FIELDS."""
        return self.count, np.stack([self.scale, self.shift, self.total, self.square])

    @classmethod
    def restored(cls, count: int, rows: Matrix) -> Units:
        """The units of these values."""
        scale, shift, total, square = (row.copy() for row in rows)
        if not (scale >= 0.0).all():
            raise Mismatch("has units below 0")
        return cls(scale, count, shift, total, square)

    @classmethod
    def of(cls, n: int) -> Units:
        """Of n features nothing is known."""
        return cls(np.zeros(n), 0, np.zeros(n), np.zeros(n), np.zeros(n))

    def extended(self, k: int) -> Units:
        """For k features more, which have been 0 so far."""
        count, rows = self.stored()
        return Units.restored(count, np.hstack([rows, np.zeros((4, k))]))

    def measured(self, xs: Matrix) -> tuple[Matrix, Units]:
        """The constant feature, then the rows in units; what is first not 0 sets its unit."""
        units = self
        if not self.scale.all():
            scale = self.scale.copy()
            for j in np.flatnonzero(scale == 0.0):
                found = np.flatnonzero(xs[:, j])
                if found.size:
                    scale[j] = abs(xs[found[0], j])
            units = replace(self, scale=scale)
        rows = np.empty((xs.shape[0], xs.shape[1] + 1))
        measure(xs, units.scale, CONSTANT, rows)
        return rows, units

    def standardised(self, rows: Matrix) -> tuple[Matrix, Units]:
        """Measured rows in running standard units, each from what came up to it."""
        rows = rows[:, 1:]
        shift = self.shift if self.count else rows[0].copy()
        apart = rows - shift
        counts = self.count + np.arange(1, len(rows) + 1)[:, None]
        with np.errstate(over="ignore"):
            totals = self.total + np.cumsum(apart, axis=0)
            squares = self.square + np.cumsum(apart * apart, axis=0)
        if not np.isfinite(squares).all():
            raise NumericalError("squares of the features do not fit in float64: rescale them")
        means = totals / counts
        spread = np.sqrt(np.maximum(squares / counts - means * means, 0.0))
        known = spread > 1e-7 * np.sqrt(squares / counts)
        z: Matrix = np.where(known, (apart - means) / np.where(known, spread, 1.0), 0.0)
        after = Units(self.scale, int(counts[-1, 0]), shift, totals[-1], squares[-1])
        return z, after
