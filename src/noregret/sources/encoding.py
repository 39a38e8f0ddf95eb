"""From columns to rounds: which columns are features, and what text, times and gaps become.

- a number is a feature of its column's name
- text is one-hot on the fly: the feature "colour=red" exists from the first row that is red
- dates and times are not features; with `calendar` the time column gives hour, weekday and time
  of year
- columns that make no useful feature are left out, and it is said why: the index of a frame, text
  of which most values differ; a text column may have `max_values` different values
- rows without an outcome are forecast but not learned
- a row without one of its features is bad, unless `missing` says what to take: zero; last, the
  last value seen; mean, the mean of the values seen before.  Text goes by its one-hot features.
  Among forecasts that are merged, the one that is missing sleeps (NaN)

Whatever the blocks, the rounds are the same to the last bit: a feature is born in the row of its
first value, and features are in the order of their birth.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import InitVar, dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from noregret.errors import abbreviated
from noregret.inputs.tables import Frame
from noregret.sources.block import NUMBER, TEXT, TIME, Block, Column, Gaps, Reading
from noregret.sources.calendar import CALENDAR, calendar_of, dated, found_apart, joined, parts_of
from noregret.sources.clock import Clock, seconds_of
from noregret.sources.columns import absent, check_features, check_target
from noregret.sources.labels import Labels
from noregret.sources.survey import ROWS
from noregret.types import Integers, Json, Matrix, Vector

__all__ = ["MISSING", "SLEEP", "Encoding", "Piece"]

MISSING = ("refuse", "zero", "last", "mean")
NOT_MERGED = "is not among the forecasts that the state merges"
SLEEP = "sleep"  # what is missing stays missing: experts that sleep


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
    drop: Sequence[str] = ()  # columns that are not to be features
    time: str | None = None
    calendar: bool = False
    missing: str = "refuse"
    max_features: int = 2_000
    max_values: int = 200  # different ones in a column of text
    late: InitVar[str] = "refuse"
    labels: Labels | None = None  # where outcomes are two labels
    series: bool = False  # for a Forecaster: the time column is found, features stay as they begin
    apart: str | None = None  # the date and the hour, where two columns were found to be the time
    fixed: bool = False  # whether a series has its features
    counted: str = ""  # why rows are counted though there are times
    unseen: dict[str, int] = field(
        default_factory=dict
    )  # cells of text that came too late, by column
    slots: dict[str, int] = field(default_factory=dict)  # by name, in the order of birth
    numbers: dict[str, int] = field(default_factory=dict)  # column -> slot
    categories: dict[str, dict[str, int]] = field(default_factory=dict)  # column -> value -> slot
    last: dict[int, float] = field(default_factory=dict)  # by slot
    sums: dict[int, float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)  # by column: values seen
    left_out: dict[str, str] = field(default_factory=dict)  # columns, and why
    ignored: list[str] = field(default_factory=list)  # those that an earlier run left out
    kinds: dict[str, str] = field(default_factory=dict)  # of columns that have had a value
    met: bool = False  # the target has been there
    rows: int = 0  # that have come in this reading
    outcomes: int = 0  # values of the target
    summed: float = 0.0  # of the outcomes in this reading,
    final: float = 0.0  # the last of them,
    peak: float = 0.0  # and the largest of those before it, without signs
    silent: int = 0  # rows without any of the forecasts that are merged: left out,
    silent_at: str = ""  # and the first of them
    filled: dict[str, int] = field(default_factory=dict)  # cells that --missing filled, by column
    distinct: set[float] = field(default_factory=set)  # different ones in this reading, up to 3
    stamp: str | None = None  # of labels: the column of times, if there is one
    clock: Clock = field(init=False)

    def __post_init__(self, late: str) -> None:
        self.clock = Clock(late)

    def memory(self) -> Json:
        """All that must be kept to go on later, as JSON has it, however the rows were cut."""
        return {
            "slots": list(self.slots),
            "numbers": dict(self.numbers),
            "categories": {name: dict(values) for name, values in self.categories.items()},
            "last": [[slot, value] for slot, value in sorted(self.last.items())],
            "sums": [[slot, value] for slot, value in sorted(self.sums.items())],
            "counts": {name: count for name, count in sorted(self.counts.items()) if count},
            "met": self.met,
            "ignored": sorted({*self.ignored, *(n for n in self.left_out if n != self.time)}),
            "clock": self.clock.memory(),
            "labels": None if self.labels is None else self.labels.memory(),
        }

    def recall(self, memory: Json) -> None:
        """Go on from a memory."""
        self.slots = {name: slot for slot, name in enumerate(memory["slots"])}
        self.numbers, self.categories = memory["numbers"], memory["categories"]
        self.last = {int(slot): value for slot, value in memory["last"]}
        self.sums = {int(slot): value for slot, value in memory["sums"]}
        self.counts, self.met = memory["counts"], memory["met"]
        self.ignored = memory.get("ignored", [])
        self.fixed = self.series or self.missing == SLEEP
        self.outcomes = 1  # there were some: these rows may be for forecasts only
        if self.labels is not None and memory.get("labels"):
            self.labels.recall(memory["labels"])

    def pieces(
        self, block: Block, reading: Reading, most: Callable[[], int] | None = None
    ) -> Iterator[Piece]:
        """The rounds of a block; `most` says, before each piece, how many rows it may have."""
        if not len(block):
            return
        first, kinds = self._first(block), block.kinds
        self.rows += len(block)
        if self.target in block.columns:
            gaps = block.gaps(self.target)
            self.outcomes += len(block) - (0 if gaps is None else int(gaps.sum()))
        if self.labels is not None:
            block = self.labels.block(block, self.target, reading)
        if self.time is None and self.series and not self.slots:
            self.time = self.apart = found_apart(block, (self.target, *self.drop))
        if self.time is not None and self.time not in block.columns:
            block = joined(block, self.time, reading)
        used = self._used(block, reading)
        if self.calendar:
            assert self.time is not None
            block = dated(block, self.time, reading)
        block, clock, seconds = self._timed(block, reading)
        self.stamp = clock if self.labels is not None else None
        keep = self._complete(block, used, reading)
        if not keep.all():
            block, seconds = block.kept(keep), seconds[keep]
        if not len(block):
            return
        births = self._births(block, used)
        ahead = self._ahead(block)
        cuts = sorted({0, len(block), ahead, *(birth.row for birth in births)})
        for begin, stop in pairwise(cuts):
            born = [birth for birth in births if birth.row == begin]
            self._encoded(born, reading, int(block.places[begin]))
            start = begin
            while start < stop:
                end = stop if most is None else min(stop, start + most())
                part = block.kept(slice(start, end))
                piece = self._piece(part, used, edge=end == stop)
                if clock is not None:
                    passed = part.columns[clock], seconds[start:end], part.places
                    self.clock.pass_by(*passed, reading, ahead=start >= ahead)
                for name in [name for name in first if first[name] <= piece.places[-1]]:
                    self.kinds[name] = kinds[name]
                    del first[name]
                yield piece
                start = end

    def _ahead(self, block: Block) -> int:
        """Where the rows of a series begin that lie after the last outcome; others have none."""
        if not self.series or self.target not in block.columns:
            return len(block)
        gaps = block.gaps(self.target)
        if gaps is None or gaps.all():
            return len(block) if gaps is None else 0
        return len(block) - int(np.argmin(gaps[::-1]))

    def _timed(self, block: Block, reading: Reading) -> tuple[Block, str | None, Vector]:
        """The rows that are not too late, the column that says so, and its times in seconds."""
        name = self.clock.column(block, self.time, reading)
        if name is None:
            return block, None, np.zeros(len(block))
        seconds = seconds_of(block.columns[name])
        declared, self.clock.in_order = self.time == name, self.series and not self.counted
        if self.series and declared and not self.counted and np.isnan(seconds).any():
            block = dated(block, name, reading)
            seconds = seconds_of(block.columns[name])
        keep = self.clock.screen(block, name, seconds, reading, declared=declared)
        return (block, name, seconds) if keep.all() else (block.kept(keep), name, seconds[keep])

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
        X = np.full((len(block), len(self.slots)), self._empty, order="F")
        for name in used:
            self._fill(X, block, name)
        if self.calendar:
            assert self.time is not None
            X[:, : len(CALENDAR)] = calendar_of(block.columns[self.time])
        y = np.asarray(block.columns.get(self.target, np.full(len(block), np.nan)), np.float64)
        while len(self.distinct) < 3:
            new = y[~np.isnan(y) & ~np.isin(y, list(self.distinct))]
            if not len(new):
                break
            self.distinct.add(float(new[0]))
        if len(known := y[~np.isnan(y)]):
            self.peak = max(self.peak, abs(self.final), np.abs(known[:-1]).max(initial=0.0))
            self.summed, self.final = self.summed + float(known.sum()), float(known[-1])
        clock = self.time or self.stamp
        times = None if clock is None else block.columns.get(clock)
        return Piece(Frame(list(self.slots), X), y, block.places, times, edge)

    def wanted(self) -> frozenset[str] | None:
        """The columns that matter; None: all."""
        if self.features is None or (self.calendar and self.time is None):
            return None
        times = () if self.time is None else (self.time, *parts_of(self.time, ()))
        return frozenset((self.target, *self.features, *times))

    def finish(self, reading: Reading) -> None:
        """Nothing more will come."""
        if self.rows and self.met and not self.outcomes:
            raise reading.fail(
                f"the target {self.target!r} has no value in any row: give another --target"
            )
        if not self.rows and not self.met and not reading.past and not reading.bad:
            raise reading.fail("there is not one row in it")
        if self.rows and not self.met:
            raise reading.fail(f"there is not one row with a column {self.target!r}")

    # Columns --------------------------------------------------------------------------------

    def _used(self, block: Block, reading: Reading) -> list[str]:
        """The columns that are features."""
        columns, kinds = block.columns, block.kinds
        dated = [n for n in columns if kinds.get(n) == TIME and n not in self.drop]
        if self.time is None and self.series and not self.slots and dated:
            if len(dated) > 1:  # a year beside a date says nothing more
                dated = [n for n in dated if not reading.yearly(n)] or dated
            if len(dated) > 1:
                raise reading.fail(
                    f"there are {len(dated)} columns of times ({', '.join(dated)}): which is the "
                    "time of a row? give --time"
                )
            self.time = dated[0]
        if self.time is None and self.calendar:
            if len(dated) != 1:
                found = f"there are {len(dated)} columns of times"
                raise reading.fail(f"--calendar needs a time column, and {found}: give --time")
            self.time = dated[0]
        wanted = [self.target, *(self.features or ()), *([self.time] if self.time else ())]
        if not block.open:
            if self.missing not in ("zero", SLEEP):  # what a state has learned from must go on
                wanted += [*self.numbers, *self.categories]
            there = {*columns, *reading.names}
            missed = [name for name in wanted if name not in columns]
            missed += [n for n in (*reading.declared.text, *self.drop) if n not in there]
            if missed:
                raise absent(missed[0], list(reading.names or columns), reading)
        if self.series and self.time is not None and kinds.get(self.time) == TEXT:
            given = next((v for v in columns[self.time] if v is not None), None)
            raise reading.fail(
                f"column {abbreviated(self.time)}: {abbreviated(given)} is no time as it stands: "
                "give --date-format, such as d.m.y, y.m.d or %d %b %Y"
            )
        self.met = self.met or self.target in columns
        check_target(block, self.target, reading)
        if self.missing == SLEEP:
            used = [name for name in self.numbers if name in columns]
            new = {n for n, kind in kinds.items() if kind == NUMBER} - {*used, *wanted, *self.drop}
            self.left_out |= dict.fromkeys(sorted(new) if self.fixed else (), NOT_MERGED)
        elif self.features is not None:
            used = [name for name in self.features if name in columns]
        else:
            used = [name for name in columns if self._is_feature(name, kinds, reading)]
        check_features([name for name in used if name not in self.categories], kinds, reading)
        for name in dict.fromkeys([self.target, *used, *parts_of(self.time, reading.names)]):
            if asked := reading.undecided(name):
                raise reading.fail(f"column {abbreviated(name)}: {asked}")
        if self.calendar and not self.slots:
            self.slots = {name: slot for slot, name in enumerate(CALENDAR)}
        if self.series and not self.fixed:
            self._fix(block, used, reading)
        return used

    def _fix(self, block: Block, used: list[str], reading: Reading) -> None:
        """A series' features are those of its first rows: of text, the values in the sample."""
        self.fixed = True
        gaps = block.gaps(self.target) if self.target in block.columns else None
        times = block.columns.get(self.time, ()) if self.time is not None else ()
        if _repeated([t for i, t in enumerate(times) if gaps is None or not gaps[i]]):
            self.counted = "many rows have the time of the row before"
        if self.time is not None and isinstance(times, np.ndarray) and _wanders(times):
            self.counted = (
                f"column {abbreviated(self.time)} goes back again and again, so it is no time"
            )
        for name in used:
            values = block.columns[name]
            known: Sequence[str | None] = [None]
            if not isinstance(values, np.ndarray):
                known = list(dict.fromkeys(v for v in values[:ROWS] if v is not None))
            births = [Birth(0, 0, name, value) for value in known]
            self._encoded(births, reading, int(block.places[0]))

    def _is_feature(self, name: str, kinds: dict[str, str], reading: Reading) -> bool:
        """Whether a column is one by default; if it is left out, the reason is kept."""
        if name in (self.target, self.time, *self.drop):
            return False
        if name in self.numbers or name in self.categories:
            return True
        if kinds.get(name) == TIME:
            self.left_out[name] = "holds times, which are not features"
        elif name in reading.empty and (self.series or self.missing == "refuse"):
            self.left_out[name] = (
                "is empty in the first rows" if not reading.complete else "is empty"
            )
        elif name in reading.unused:
            self.left_out[name] = reading.unused[name]
        elif name in self.ignored:
            self.left_out[name] = "was left out by the run that --state is of"
        elif self.fixed:
            self.left_out[name] = "is new: a series keeps the features that it began with"
        return name not in self.left_out

    def _complete(self, block: Block, used: list[str], reading: Reading) -> Gaps:
        """Which rows have all of their features."""
        keep = np.ones(len(block), dtype=bool)
        if self.missing == SLEEP:
            return self._awake(block, used, reading)
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
                if block.kinds.get(missed) == TEXT:  # comments, perhaps
                    complaint += f", or leave the column out with --drop {shlex.quote(missed)}"
                reading.skip(int(block.places[i]), complaint, missed)
            elif block.open:
                known.update(n for n in used if n not in gaps or not gaps[n][i])
        return keep

    def _awake(self, block: Block, used: list[str], reading: Reading) -> Gaps:
        """Which rows have one of the forecasts that are merged; the others are counted."""
        keep = np.zeros(len(block), dtype=bool)
        for name in used:
            gaps = block.gaps(name)
            keep |= True if gaps is None else ~gaps
        if not keep.all():
            self.silent += int((~keep).sum())
            self.silent_at = self.silent_at or reading.place(int(block.places[np.argmin(keep)]))
        return keep

    def _births(self, block: Block, used: list[str]) -> list[Birth]:
        """The features that are new, in the order of their birth."""
        found: list[Birth] = []
        if self.series:
            return found
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
                known = self.categories.setdefault(name, {})
                if len(known) >= self.max_values:
                    raise reading.fail(
                        f"column {abbreviated(name)} has more than {self.max_values} different "
                        f"values, {abbreviated(value)} the next: leave it out with --drop, or "
                        "raise --max-values",
                        place,
                    )
                known[value] = slot

    def _fill(self, X: Matrix, block: Block, name: str) -> None:
        """Write one column's features into X."""
        values, gaps = block.columns[name], block.gaps(name)
        if gaps is not None and self.missing != SLEEP:
            self.filled[name] = self.filled.get(name, 0) + int(gaps.sum())
        if isinstance(values, np.ndarray):
            slots = [self.numbers[name]] if name in self.numbers else []
            if slots:
                X[:, slots[0]] = values if gaps is None else np.where(gaps, self._empty, values)
        else:
            places = self.categories.get(name, {})
            slots = list(places.values())
            rows = [i for i, value in enumerate(values) if value in places]
            X[rows, [places[value] for value in values if value in places]] = 1.0
            late = sum(value is not None for value in values) - len(rows)
            if late:  # a series: none of the values that it began with
                self.unseen[name] = self.unseen.get(name, 0) + late
        if self.missing in ("last", "mean"):
            gaps = np.zeros(len(values), dtype=bool) if gaps is None else gaps
            for slot in slots:
                self._remember(X[:, slot], gaps, slot, self.counts.get(name, 0))
            self.counts[name] = self.counts.get(name, 0) + int((~gaps).sum())

    @property
    def _empty(self) -> float:
        """What a feature is where there is no value for it."""
        return np.nan if self.missing == SLEEP else 0.0

    def merge(self, names: Sequence[str]) -> None:
        """Take these columns for forecasts, which may be missing in any row, or altogether."""
        self.missing = SLEEP
        self.slots = {name: slot for slot, name in enumerate(names)}
        self.numbers = dict(self.slots)

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


def _repeated(times: Sequence[object]) -> bool:
    """Whether rows share their times: several series in one file, or a clock too coarse."""
    return len(times) > 20 and len(set(times)) < 0.95 * len(times)


def _wanders(times: Vector) -> bool:
    """Whether numbers go back so often that they cannot be times."""
    steps = np.diff(times[~np.isnan(times)])
    return bool((steps < 0.0).sum() > 0.05 * len(steps))
