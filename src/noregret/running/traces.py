"""Curves in bounded memory that lose no extreme, however long the stream.

A trace cuts the rows into buckets of equal width and keeps of each its least and its greatest
value with their rows, and the mean.  When the buckets run out, neighbours are joined and the width
doubles; least, greatest and sum of a union are those of its parts, so that it does not matter when
that happens.  Up to as many rows as there are buckets, nothing is left out.
"""

from __future__ import annotations

import numpy as np

from noregret.types import Integers, Vector

__all__ = ["Tail", "Timeline", "Trace"]


class Trace:
    """One number per row.  Values that are not finite are left out.

    Cost: 6 numbers per bucket; O(1) per row.

    >>> trace = Trace(buckets=4)
    >>> trace.add(0, np.array([0.0, 9.0, 1.0, 2.0, -5.0, 0.0, 0.0, 3.0, 4.0]))
    >>> trace.width
    4
    >>> rows, values = trace.points()                 # rows count from 1
    >>> rows.tolist(), values.tolist()
    ([1, 2, 5, 8, 9], [0.0, 9.0, -5.0, 3.0, 4.0])
    """

    __slots__ = ("buckets", "count", "first", "high", "last", "low", "total", "width")

    def __init__(self, buckets: int = 1000) -> None:
        self.buckets = buckets + buckets % 2
        self.width = 1
        self.low = np.full((2, self.buckets), np.nan)  # value, row
        self.high = np.full((2, self.buckets), np.nan)
        self.total = np.zeros(self.buckets)
        self.count = np.zeros(self.buckets)
        self.first: tuple[int, float] | None = None
        self.last: tuple[int, float] | None = None

    def add(self, row: int, values: Vector) -> None:
        """The values of rows row, row + 1, ... counted from 0; rows only ever go up."""
        known = np.flatnonzero(np.isfinite(values))
        if not known.size:
            return
        rows, kept = known + row, values[known]
        if self.first is None:
            self.first = int(rows[0]), float(kept[0])
        self.last = int(rows[-1]), float(kept[-1])
        self.reserve(int(rows[-1]) + 1)
        homes = rows // self.width
        starts = np.flatnonzero(np.diff(homes, prepend=-1))
        for b, start, stop in zip(homes[starts], starts, [*starts[1:], len(kept)]):
            part = kept[start:stop]
            low, high = start + int(part.argmin()), start + int(part.argmax())
            if not kept[low] >= self.low[0, b]:
                self.low[:, b] = kept[low], rows[low]
            if not kept[high] <= self.high[0, b]:
                self.high[:, b] = kept[high], rows[high]
            with np.errstate(over="ignore"):
                self.total[b] += part.sum()
            self.count[b] += len(part)

    def reserve(self, rows: int) -> None:
        """Make the buckets wide enough for so many rows; sooner is faster, and no different."""
        while (rows - 1) // self.width >= self.buckets:
            self._double()

    def _double(self) -> None:
        self.width *= 2
        half = self.buckets // 2
        for ends, better in ((self.low, np.less), (self.high, np.greater)):
            left, right = ends[:, 0::2].copy(), ends[:, 1::2].copy()
            take = np.isnan(left[0]) | better(right[0], left[0])
            ends[:, :half] = np.where(take, right, left)
            ends[:, half:] = np.nan
        for sums in (self.total, self.count):
            sums[:half] = sums[0::2] + sums[1::2]
            sums[half:] = 0.0

    def points(self) -> tuple[Integers, Vector]:
        """First, last, least and greatest of every bucket, in the order of the rows (from 1)."""
        ends = np.hstack([self.low, self.high])
        ends = ends[:, ~np.isnan(ends[0])]
        extra = [(value, at) for at, value in filter(None, (self.first, self.last))]
        every = np.hstack([ends, np.array(extra).reshape(-1, 2).T])
        rows, where = np.unique(every[1].astype(np.int64), return_index=True)
        return rows + 1, every[0][where]

    def ends(self, *, greatest: bool) -> tuple[Integers, Vector]:
        """The least, or the greatest, of every bucket: one side of a band."""
        ends = self.high if greatest else self.low
        ends = ends[:, ~np.isnan(ends[0])]
        return ends[1].astype(np.int64) + 1, ends[0]

    def means(self) -> tuple[Vector, Vector]:
        """The mean of every bucket, at its middle."""
        some = self.count > 0
        middle = (np.arange(self.buckets, dtype=np.float64) + 0.5) * self.width + 0.5
        if self.last is not None:
            np.minimum(middle, self.last[0] + 1.0, out=middle)
        return middle[some], self.total[some] / self.count[some]

    def __len__(self) -> int:
        return int(self.count.sum())


class Tail:
    """The last rows, all of them.

    >>> tail = Tail(2, columns=1)
    >>> tail.add(0, np.array([[1.0], [2.0], [3.0]]))
    >>> tail.rows().tolist(), tail.table().tolist()
    ([2, 3], [[2.0], [3.0]])
    """

    __slots__ = ("kept", "size", "stop")

    def __init__(self, size: int, columns: int) -> None:
        self.size, self.stop = size, 0
        self.kept = np.empty((0, columns))

    def add(self, row: int, table: Vector) -> None:
        """Rows row, row + 1, ... counted from 0."""
        self.stop = row + len(table)
        self.kept = np.vstack([self.kept, table])[-self.size :]

    def rows(self) -> Integers:
        """Which they are, counted from 1."""
        return np.arange(self.stop - len(self.kept), self.stop) + 1

    def table(self) -> Vector:
        """Their values, one row each."""
        return self.kept


class Timeline:
    """Which time each row has: of every so many rows one, so that dates can stand on an axis.

    >>> line = Timeline(most=2)
    >>> line.add(0, np.array([0.0, 60.0, 120.0, 180.0, 240.0]))
    >>> line.rows, line.at
    ([1, 5], [0.0, 240.0])
    """

    __slots__ = ("at", "every", "most", "rows")

    def __init__(self, most: int = 2000) -> None:
        self.most, self.every = most, 1
        self.rows: list[int] = []  # counted from 1
        self.at: list[float] = []  # seconds from 1970

    def add(self, row: int, seconds: Vector) -> None:
        """The times of rows row, row + 1, ... counted from 0; NaN where there is none."""
        first = -row % self.every
        for k in range(first, len(seconds), self.every):
            if seconds[k] == seconds[k]:
                self.rows.append(row + k + 1)
                self.at.append(float(seconds[k]))
        while len(self.rows) > self.most:
            self.every *= 2
            kept = [(r, t) for r, t in zip(self.rows, self.at) if (r - 1) % self.every == 0]
            self.rows, self.at = [r for r, _ in kept], [t for _, t in kept]
