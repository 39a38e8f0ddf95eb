"""The past of a series on its grid: outcomes, levels, seasonal means, features; as far as needed.

One column per step.  A step without an outcome (a gap) takes that of one season before, or the last
one where there is no season, so that a lag is always a time and never a row; nobody learns it and
no forecast of it is scored.  Before the first step everything is as it was there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from noregret.declare.fields import Array, Count, Mismatch
from noregret.types import Integers, Matrix, Vector

__all__ = ["History"]

Y, REAL, QUICK, SLOW, MEAN, SCALE, LOW, HIGH, OFFSET, FIXED = range(10)
"""Rows: the outcome (filled), whether there was one, two exponential means, the mean so far, the
deviation so far, the range so far, the offset of the clock; then those of seasons and features."""
RATES = {QUICK: 0.2, SLOW: 0.02}
LEAST = 0.1  # of a new turn in a seasonal mean, once it is older
EXACT = 1e-9  # of the deviation: outcomes that differ by less are the same
OWN = 3  # rows per feature: value, mean, deviation


class History:
    """A table (rows as above, steps), the newest step last, and the sums that go on.

    For each of `echoes`, periods in steps, it counts how many outcomes in a row were exactly those
    of one period before.
    """

    __slots__ = ("echoes", "features", "seasons", "size", "sums", "table")

    FIELDS = (
        Array("table", ("rows", "steps")),
        Array("sums", ("one and features", 4)),
        Array("periods", ("seasons",), of="seasons"),
        Array("echoes", ("echoes",)),
        Count("size"),
        Count("features"),
    )

    def __init__(
        self, seasons: Sequence[float], echoes: Sequence[float], features: int, reach: int
    ) -> None:
        self.seasons, self.echoes = np.array(seasons, dtype=float), np.array(echoes, dtype=float)
        self.features = features
        self.size = 0  # steps so far
        rows = FIXED + len(seasons) + len(echoes) + OWN * features
        self.table = np.zeros((rows, reach))
        self.sums = np.zeros((1 + features, 4))  # count, shift, sum and square sum about the shift

    @classmethod
    def restored(
        cls, table: Matrix, sums: Matrix, periods: Vector, echoes: Vector, size: int, features: int
    ) -> History:
        """The history of these values."""
        rows = FIXED + len(periods) + len(echoes) + OWN * features
        if table.shape[0] != rows or not table.shape[1] or len(sums) != 1 + features:
            raise Mismatch("has a table for other seasons or features")
        both = np.concatenate([periods, echoes])
        if not ((both >= 1.0) & (both == np.floor(both)) & (both <= table.shape[1])).all():
            raise Mismatch("has an invalid season")
        history = cls(periods.tolist(), echoes.tolist(), features, 1)
        history.table, history.sums, history.size = table, sums, size
        return history

    def copy(self) -> History:
        """One that shares nothing with this one; `extended` never writes into an old table."""
        return History.restored(
            self.table, self.sums.copy(), self.seasons, self.echoes, self.size, self.features
        )

    @property
    def start(self) -> int:
        """The step that the first column stands for; negative while the past is short."""
        return self.size - self.table.shape[1]

    def columns(self, steps: Integers) -> Integers:
        """Where these steps are; those before the table are at its first column."""
        found: Integers = np.maximum(steps - self.start, 0)
        return found

    def row(self, season: int) -> int:
        """The row of a season's mean, by its place."""
        return FIXED + season

    def run(self, echo: int) -> int:
        """The row of an echo, by its place."""
        return FIXED + len(self.seasons) + echo

    def own(self, feature: int) -> int:
        """The first row of a feature."""
        return FIXED + len(self.seasons) + len(self.echoes) + OWN * feature

    def trimmed(self, reach: int) -> None:
        """Keep no more than so many steps."""
        self.table = self.table[:, -reach:].copy()

    def extend(self, ys: Vector, xs: Matrix, offsets: Vector) -> None:
        """Go on by steps; y is NaN and x is NaN where a step has none."""
        old, T = self.table, len(ys)
        R = old.shape[1]
        table = np.empty((len(old), R + T))
        if self.size == 0:
            old = np.zeros_like(old)
            old[[Y, QUICK, SLOW, MEAN, LOW, HIGH]] = ys[0]
            old[SCALE] = abs(ys[0]) or 1.0
            old[FIXED : FIXED + len(self.seasons)] = ys[0]
            old[OFFSET] = offsets[0]
            for j in range(self.features):
                old[self.own(j)] = old[self.own(j) + 1] = xs[0, j]
                old[self.own(j) + 2] = 1.0
        table[:, :R] = old
        new = table[:, R:]
        real = ~np.isnan(ys)
        new[REAL], new[OFFSET] = real, offsets
        filled = table[Y]
        filled[R:] = ys
        back = int(self.seasons[0]) if len(self.seasons) else 1
        for t in (R + np.flatnonzero(~real)).tolist():
            filled[t] = filled[t - min(back, R)]
        for row, rate in RATES.items():
            new[row] = _exponential(float(old[row, -1]), new[Y], rate)
        for k, season in enumerate(self.seasons.astype(int).tolist()):
            self._seasonal(table[self.row(k)], filled, season, R)
        known = np.where(real, ys, old[MEAN, -1])
        new[LOW] = np.minimum(np.minimum.accumulate(np.where(real, ys, math.inf)), old[LOW, -1])
        new[HIGH] = np.maximum(np.maximum.accumulate(np.where(real, ys, -math.inf)), old[HIGH, -1])
        new[MEAN], new[SCALE] = self._moments(0, known, real, float(old[SCALE, -1]))
        for k, echo in enumerate(self.echoes.astype(int).tolist()):
            same = np.abs(filled[R:] - filled[R - echo : -echo]) <= EXACT * new[SCALE]
            same &= real & (self.size + np.arange(T) >= echo)
            new[self.run(k)] = _runs(float(old[self.run(k), -1]), same)
        for j in range(self.features):
            row = self.own(j)
            x = table[row]
            x[R:] = xs[:, j]
            for t in (R + np.flatnonzero(np.isnan(xs[:, j]))).tolist():
                x[t] = x[t - 1]
            new[row + 1], new[row + 2] = self._moments(1 + j, x[R:], real, float(old[row + 2, -1]))
        self.table, self.size = table, self.size + T

    def _seasonal(self, mean: Vector, y: Vector, season: int, R: int) -> None:
        """M_t = M_(t-S) + a (y_t - M_(t-S)): the plain mean of the first turns, then a = LEAST."""
        for t in range(R, len(y), season):
            stop = min(t + season, len(y))
            turn = (self.size + np.arange(t - R, stop - R)) // season
            before = mean[t - season : stop - season] if t >= season else np.full(stop - t, mean[0])
            rate = np.maximum(1.0 / (turn + 1.0), LEAST)
            mean[t:stop] = before + rate * (y[t:stop] - before)

    def _moments(self, k: int, values: Vector, real: Vector, scale: float) -> tuple[Vector, Vector]:
        """Mean and deviation so far, after each step; a step without outcome adds nothing."""
        count, shift, total, square = self.sums[k].tolist()
        if count == 0.0:
            shift = float(values[0])
        apart = np.where(real, values - shift, 0.0)
        counts = count + np.cumsum(real)
        totals = np.cumsum(np.concatenate([[total], apart]))[1:]
        with np.errstate(over="ignore"):
            squares = np.cumsum(np.concatenate([[square], apart * apart]))[1:]
            mean = totals / np.maximum(counts, 1.0)
            spread = np.sqrt(np.maximum(squares / np.maximum(counts, 1.0) - mean * mean, 0.0))
        self.sums[k] = counts[-1], shift, totals[-1], squares[-1]
        known = spread > 1e-12 * (np.abs(shift) + np.abs(mean))
        return shift + mean, np.where(known, spread, scale)


def _runs(run: float, same: Vector) -> Vector:
    """How many in a row are true, up to each."""
    places = np.arange(1.0, len(same) + 1.0)
    broken = np.maximum.accumulate(np.where(same, -run, places))
    found: Vector = places - broken
    return found


def _exponential(level: float, values: Vector, rate: float) -> Vector:
    found = np.empty(len(values))
    for t, value in enumerate(values.tolist()):
        level += rate * (value - level)
        found[t] = level
    return found
