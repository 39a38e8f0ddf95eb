"""From columns to rounds: which columns are features, and what text, times and gaps become.

- a number is a feature of its column's name
- text is one-hot on the fly: the feature "colour=red" exists from the first row that is red
- dates and times are not features; with `calendar` the time column gives hour, weekday and time
  of year
- rows without an outcome are forecast but not learned
- a row without one of its features is bad, unless `missing` says what to take: zero; last, the
  last value seen; mean, the mean of the values seen before.  Text goes by its one-hot features

Whatever the blocks, the rounds are the same to the last bit: a feature is born in the row of its
first value, and features are in the order of their birth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from noregret.inputs.tables import Frame
from noregret.inputs.values import abbreviated
from noregret.sources.block import NUMBER, OTHER, TIME, Block, Column, Gaps, Reading
from noregret.types import Integers, Matrix, Vector

__all__ = ["MISSING", "Encoding", "Piece"]

MISSING = ("refuse", "zero", "last", "mean")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
CALENDAR = (
    *("day sin", "day cos", "half-day sin", "half-day cos", "year sin", "year cos"),
    *(f"weekday={day}" for day in WEEKDAYS),
)


class Piece(NamedTuple):
    """Rounds that have the same features; y is NaN where there is no outcome."""

    frame: Frame
    y: Vector
    places: Integers
    times: Column | None
    edge: bool = True  # that of a block, or before a feature is born; else cut off for time's sake

    def part(self, start: int, stop: int) -> Piece:
        """Some of the rounds."""
        rows = slice(start, stop)
        times = None if self.times is None else self.times[rows]
        return Piece(
            self.frame.part(start, stop), self.y[rows], self.places[rows], times, self.edge
        )


class Birth(NamedTuple):
    """A feature that is new: a number, or a value of a text column."""

    row: int
    column: int
    name: str
    value: str | None


@dataclass(slots=True)
class Encoding:
    """What the features are, and what must be remembered from row to row.

    When a piece is out, the memory is that of its last row: a run may stop there and go on later.
    """

    target: str
    features: Sequence[str] | None = None
    time: str | None = None
    calendar: bool = False
    missing: str = "refuse"
    max_features: int = 2_000
    slots: dict[str, int] = field(default_factory=dict)  # by name, in the order of birth
    numbers: dict[str, int] = field(default_factory=dict)  # column -> slot
    categories: dict[str, dict[str, int]] = field(default_factory=dict)  # column -> value -> slot
    last: dict[int, float] = field(default_factory=dict)  # by slot
    sums: dict[int, float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)  # by column: values seen
    left_out: dict[str, None] = field(default_factory=dict)  # times, which are not features
    kinds: dict[str, str] = field(default_factory=dict)  # of columns that have had a value
    met: bool = False  # the target has been there
    rows: int = 0  # that have come in this reading

    def memory(self) -> dict[str, Any]:
        """All that must be kept to go on later, as JSON has it, however the rows were cut."""
        return {
            "slots": list(self.slots),
            "numbers": dict(self.numbers),
            "categories": {name: dict(values) for name, values in self.categories.items()},
            "last": [[slot, value] for slot, value in sorted(self.last.items())],
            "sums": [[slot, value] for slot, value in sorted(self.sums.items())],
            "counts": {name: count for name, count in sorted(self.counts.items()) if count},
            "met": self.met,
        }

    def recall(self, memory: dict[str, Any]) -> None:
        """Go on from a memory."""
        self.slots = {name: slot for slot, name in enumerate(memory["slots"])}
        self.numbers, self.categories = memory["numbers"], memory["categories"]
        self.last = {int(slot): value for slot, value in memory["last"]}
        self.sums = {int(slot): value for slot, value in memory["sums"]}
        self.counts, self.met = memory["counts"], memory["met"]

    def pieces(
        self, block: Block, reading: Reading, most: Callable[[], int] | None = None
    ) -> Iterator[Piece]:
        """The rounds of a block; `most` says, before each piece, how many rows it may have."""
        if not len(block):
            return
        first = self._first(block)
        self.rows += len(block)
        used = self._used(block, reading)
        if self.calendar:
            block = self._dated(block, reading)
        keep = self._complete(block, used, reading)
        if not keep.all():
            block = block.kept(keep)
        if not len(block):
            return
        births = self._births(block, used)
        cuts = sorted({0, len(block), *(birth.row for birth in births)})
        for begin, stop in pairwise(cuts):
            born = [birth for birth in births if birth.row == begin]
            self._encoded(born, reading, int(block.places[begin]))
            start = begin
            while start < stop:
                end = stop if most is None else min(stop, start + most())
                piece = self._piece(block.kept(slice(start, end)), used, edge=end == stop)
                for name in [name for name in first if first[name] <= piece.places[-1]]:
                    self.kinds[name] = block.kinds[name]
                    del first[name]
                yield piece
                start = end

    def _first(self, block: Block) -> dict[str, int]:
        """Where columns that had no value before have their first."""
        found = {}
        for name in block.columns:
            if name not in self.kinds and name in block.kinds:
                gaps = block.gaps(name)
                if gaps is None or not gaps.all():
                    found[name] = int(block.places[0 if gaps is None else int(np.argmin(gaps))])
        return found

    def _piece(self, block: Block, used: list[str], *, edge: bool) -> Piece:
        """Rows whose features are all there."""
        X = np.zeros((len(block), len(self.slots)), order="F")
        for name in used:
            self._fill(X, block, name)
        if self.calendar:
            assert self.time is not None
            X[:, : len(CALENDAR)] = _calendar(block.columns[self.time])
        y = np.asarray(block.columns.get(self.target, np.full(len(block), np.nan)), np.float64)
        times = None if self.time is None else block.columns.get(self.time)
        return Piece(Frame(list(self.slots), X), y, block.places, times, edge)

    def wanted(self) -> frozenset[str] | None:
        """The columns that matter; None: all."""
        if self.features is None or (self.calendar and self.time is None):
            return None
        return frozenset((self.target, *self.features, *([self.time] if self.time else ())))

    def finish(self, reading: Reading) -> None:
        """Nothing more will come."""
        if not self.rows and not self.met and not reading.past and not reading.bad:
            raise reading.fail("there is not one row in it")
        if self.rows and not self.met:
            raise reading.fail(f"there is not one row with a column {self.target!r}")

    # Columns --------------------------------------------------------------------------------

    def _used(self, block: Block, reading: Reading) -> list[str]:
        """The columns that are features."""
        columns, kinds = block.columns, block.kinds
        if self.time is None and self.calendar:
            dated = [name for name in columns if kinds.get(name) == TIME]
            if len(dated) != 1:
                found = f"there are {len(dated)} columns of times"
                raise reading.fail(f"--calendar needs a time column, and {found}: give --time")
            self.time = dated[0]
        wanted = [self.target, *(self.features or ()), *([self.time] if self.time else ())]
        if not block.open:
            if self.missing != "zero":  # what a state file has learned from must go on
                wanted += [*self.numbers, *self.categories]
            there = {*columns, *reading.names}
            absent = [name for name in wanted if name not in columns]
            absent += [name for name in reading.text if name not in there]
            if absent:
                known = ", ".join(reading.names or columns)
                known = known if len(known) <= 300 else f"{known[:300]}..."
                raise reading.fail(f"there is no column {absent[0]!r}; the columns are {known}")
        self.met = self.met or self.target in columns
        if kinds.get(self.target, NUMBER) != NUMBER:
            values = columns[self.target]
            row = next((i for i, v in enumerate(values) if v is not None), None)
            found = "" if row is None else f" ({abbreviated(values[row])} in it)"
            raise reading.fail(
                f"the target {self.target!r} is not a column of numbers{found}: "
                "code it as numbers first, binary outcomes as 0 and 1",
                None if row is None else int(block.places[row]),
            )
        if self.features is not None:
            used = [name for name in self.features if name in columns]
        else:
            used = [name for name in columns if name not in (self.target, self.time)]
            dated = [name for name in used if kinds.get(name) == TIME]
            self.left_out.update(dict.fromkeys(dated))
            used = [name for name in used if kinds.get(name) != TIME]
        for name in used:
            if kinds.get(name) in (OTHER, TIME):
                what = "times" if kinds[name] == TIME else "neither numbers nor text"
                raise reading.fail(
                    f"column {abbreviated(name)} holds {what}: leave it out of --features"
                )
        if self.calendar and not self.slots:
            self.slots = {name: slot for slot, name in enumerate(CALENDAR)}
        return used

    def _dated(self, block: Block, reading: Reading) -> Block:
        """The rows whose time is one."""
        assert self.time is not None
        if block.kinds.get(self.time) not in (TIME, None) or self.time not in block.columns:
            raise reading.fail(
                f"column {self.time!r} is not a column of times: --calendar needs one"
            )
        keep = np.ones(len(block), dtype=bool)
        for i, value in enumerate(block.columns[self.time]):
            try:
                datetime.fromisoformat(value)
            except (ValueError, TypeError):
                keep[i] = False
                gap = value is None or value != value  # NaN
                said = "the time is missing" if gap else f"{abbreviated(value)} is not a time"
                reading.skip(int(block.places[i]), said, self.time)
        return block if keep.all() else block.kept(keep)

    def _complete(self, block: Block, used: list[str], reading: Reading) -> Gaps:
        """Which rows have all of their features."""
        keep = np.ones(len(block), dtype=bool)
        if self.missing != "refuse":
            return keep
        gaps = {name: gap for name in used if (gap := block.gaps(name)) is not None}
        if not gaps:
            return keep
        known = {n for n in used if not block.open or n in self.numbers or n in self.categories}
        some = np.flatnonzero(np.any(list(gaps.values()), axis=0)).tolist()
        for i in range(len(block)) if block.open else some:
            missed = next((n for n in gaps if n in known and gaps[n][i]), None)
            if missed is not None:
                keep[i] = False
                complaint = "the value is missing: choose one with --missing zero|last|mean"
                reading.skip(int(block.places[i]), complaint, missed)
            elif block.open:
                known.update(n for n in used if n not in gaps or not gaps[n][i])
        return keep

    def _births(self, block: Block, used: list[str]) -> list[Birth]:
        """The features that are new, in the order of their birth."""
        found = []
        for j, name in enumerate(used):
            values = block.columns[name]
            if isinstance(values, np.ndarray):
                there = None if name in self.numbers else ~np.isnan(values)
                if there is not None and there.any():
                    found.append(Birth(int(np.argmax(there)), j, name, None))
                continue
            known = self.categories.get(name, {})
            new = [v for v in dict.fromkeys(values) if v is not None and v not in known]
            if new:
                first = {v: i for i, v in zip(range(len(values) - 1, -1, -1), reversed(values))}
                found += [Birth(first[value], j, name, value) for value in new]
        return sorted(found, key=lambda birth: birth[:2])

    def _encoded(self, births: list[Birth], reading: Reading, place: int) -> None:
        """Give features that are born now their slots."""
        for _, _, name, value in births:
            feature = name if value is None else f"{name}={value}"
            slot = len(self.slots)
            if feature in self.slots:
                raise reading.fail(
                    f"two features would be called {abbreviated(feature)}: rename a column", place
                )
            if slot >= self.max_features:
                raise reading.fail(
                    f"more than {self.max_features} features, {abbreviated(feature)} the next: "
                    "leave columns out with --features, or raise --max-features",
                    place,
                )
            self.slots[feature] = slot
            if value is None:
                self.numbers[name] = slot
            else:
                self.categories.setdefault(name, {})[value] = slot

    def _fill(self, X: Matrix, block: Block, name: str) -> None:
        """Write one column's features into X."""
        values, gaps = block.columns[name], block.gaps(name)
        if isinstance(values, np.ndarray):
            slots = [self.numbers[name]] if name in self.numbers else []
            if slots:
                X[:, slots[0]] = values if gaps is None else np.where(gaps, 0.0, values)
        else:
            places = self.categories.get(name, {})
            slots = list(places.values())
            rows = [i for i, value in enumerate(values) if value is not None]
            X[rows, [places[value] for value in values if value is not None]] = 1.0
        if self.missing in ("last", "mean"):
            gaps = np.zeros(len(values), dtype=bool) if gaps is None else gaps
            for slot in slots:
                self._remember(X[:, slot], gaps, slot, self.counts.get(name, 0))
            self.counts[name] = self.counts.get(name, 0) + int((~gaps).sum())

    def _remember(self, column: Vector, gaps: Gaps, slot: int, before: int) -> None:
        """Fill the gaps of one feature from what came before them."""
        there = ~gaps
        if self.missing == "mean":
            sums = np.cumsum(np.concatenate([[self.sums.get(slot, 0.0)], column]))
            counts = before + np.concatenate([[0], np.cumsum(there)])
            column[gaps] = (sums[:-1] / np.maximum(counts[:-1], 1))[gaps]
            self.sums[slot] = float(sums[-1])
        else:
            held = np.concatenate([[self.last.get(slot, 0.0)], column])
            seen = np.where(np.concatenate([[True], there]), np.arange(len(held)), 0)
            column[:] = held[np.maximum.accumulate(seen)][1:]
            self.last[slot] = float(column[-1])


def _calendar(times: Column) -> Matrix:
    """Hour, weekday and time of year as the clock on the wall has them."""
    rows = np.zeros((len(times), len(CALENDAR)))
    for row, text in zip(rows, times):
        time = datetime.fromisoformat(text)
        day = 2.0 * math.pi * (time.hour + time.minute / 60.0 + time.second / 3600.0) / 24.0
        year = 2.0 * math.pi * (time.timetuple().tm_yday - 1) / 365.25
        row[:6] = [f(angle) for angle in (day, 2.0 * day, year) for f in (math.sin, math.cos)]
        row[6 + time.weekday()] = 1.0
    return rows
