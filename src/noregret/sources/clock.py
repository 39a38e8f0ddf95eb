"""Times that should go forward: rows that are late, repeated or missing, found and said.

The clock is the time column that was declared, or the only column of times that there is.  A row
is late if it is older than a row before it.  In a column that was declared, and where a state file
goes on from rows that were in order, late rows are refused unless --late says otherwise; in a
column that was only found they are counted.  Within an hour, times without an offset may go back:
clocks do.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np

from noregret.errors import abbreviated
from noregret.sources.block import TIME, Block, Column, Gaps, Reading
from noregret.types import Integers, Json, Vector

__all__ = ["LATE", "Clock", "seconds_of", "span"]

LATE = ("refuse", "skip", "learn")
HOUR = 3600.0
AHEAD = 100_000  # rows without an outcome that are waited with
OFFSET = re.compile(r"(?:Z|[+-]\d\d:?\d\d)$")  # of ISO 8601
DISTINCT = 1_000  # sizes of steps that are counted
KEPT = ("last", "shown", "rows", "backward", "repeated")


Passed = tuple[Column, Vector, Integers]  # times, in seconds, and where they stand


@dataclass(slots=True)
class Clock:
    """What is known of the times so far; `memory` is all that must be kept."""

    late: str = "refuse"
    in_order: bool = False  # whether rows can be learned in the order of their times only
    edge: float | None = None  # up to where an earlier run has learned
    last: float | None = None  # seconds from 1970, the largest so far
    shown: str = ""  # the same as it was written
    rows: int = 0
    backward: int = 0  # rows that were older than one before them, and learned all the same
    repeated: int = 0  # rows with the time of the row before
    steps: dict[float, int] = field(default_factory=dict)  # forward ones, and how often they came
    places: dict[float, str] = field(default_factory=dict)  # where they first came in this run
    skipped: int = 0  # late rows that were left out in this run
    first: str = ""  # the place of the first late row in this run
    changed: str = ""  # why rows that were learned come again, where that is known
    again: int = 0  # rows of this run whose time, or a later one, had come,
    again_at: str = ""  # the first of them,
    far: bool = False  # and whether one was more than an hour late
    offsets: list[str] = field(default_factory=list)  # from UTC, of this run, the latest last
    ahead: list[Passed] = field(default_factory=list)  # after the last outcome: nothing is learned

    def memory(self) -> Json:
        """What a later run needs."""
        kept = {name: getattr(self, name) for name in KEPT}
        return kept | {"steps": [[size, n] for size, n in self.steps.items()]}

    def recall(self, memory: Json, *, elsewhere: bool) -> None:
        """Go on from an earlier run, over other rows or the same file."""
        for name in KEPT:
            setattr(self, name, memory[name])
        self.steps = {float(size): int(n) for size, n in memory["steps"]}
        self.edge = self.last if elsewhere and not self.backward else None

    def column(self, block: Block, declared: str | None, reading: Reading) -> str | None:
        """The column whose times are looked at, if there is one."""
        dated = [n for n, kind in block.kinds.items() if kind == TIME and n in block.columns]
        name = declared if declared is not None else dated[0] if len(dated) == 1 else None
        return None if name not in dated or reading.undecided(name) else name

    def screen(
        self, block: Block, name: str, seconds: Vector, reading: Reading, *, declared: bool
    ) -> Gaps:
        """Which rows are learned; those that are late are refused, left out or kept."""
        before = -np.inf if self.last is None else self.last
        largest = np.fmax.accumulate(np.concatenate([[before], seconds]))[:-1]
        behind = largest - seconds  # NaN where there is no time
        late = np.zeros(len(block), dtype=bool)
        if declared:
            naive = _naive(block.columns[name])
            late = behind > (HOUR if naive else 0.0)
        if self.edge is not None:
            old = seconds < self.edge if self.repeated else seconds <= self.edge
            late |= old
        if late.any() and (self.late == "refuse" or (self.in_order and self.late == "learn")):
            if self.edge is None and _backward(seconds):
                raise reading.fail(_reversed(name, reading))
            raise reading.fail(self._refusal(block, name, late, reading.unit))
        if late.any() and not self.first:
            self.first = reading.place(int(block.places[int(np.argmax(late))]))
        if self.late == "skip":
            self.skipped += int(late.sum())
            return ~late
        return np.ones(len(block), dtype=bool)

    def _refusal(self, block: Block, name: str, late: Gaps, unit: str) -> str:
        row, many = int(np.argmax(late)), int(late.sum())
        count = "1 row is" if many == 1 else f"{many:,} rows are"
        where = f"{unit} {int(block.places[row])} ({block.columns[name][row]})"
        remedy = "sort the rows, or give --late skip"
        if not self.in_order:
            remedy += " or --late learn"
        than = "a row before"
        if self.edge is not None:
            than = f"what --state has learned (up to {self.shown})"
            remedy = "give --late skip to leave them out" + ", or --late learn" * (
                not self.in_order
            )
        why = f"{self.changed}. " if self.changed else ""
        return f"{why}{count} not newer than {than}, the first in {where}: {remedy}"

    def pass_by(
        self, times: Column, seconds: Vector, places: Integers, reading: Reading, *, ahead: bool
    ) -> None:
        """Rows have come; those ahead of all outcomes count when an outcome comes after them."""
        if ahead:
            self.ahead.append((times, seconds, places))
        if not ahead or sum(len(part[2]) for part in self.ahead) > AHEAD:
            for part in self.ahead:
                self.advance(*part, reading)
            self.ahead.clear()
        if not ahead:
            self.advance(times, seconds, places, reading)

    def advance(self, times: Column, seconds: Vector, places: Integers, reading: Reading) -> None:
        """Rows were learned."""
        known = np.flatnonzero(~np.isnan(seconds))
        if not len(known):
            return
        at = seconds[known]
        for k in (known[0], known[-1]):
            if (end := OFFSET.search(str(times[k]))) and end[0] not in self.offsets[-1:]:
                self.offsets.append(end[0])
        self.rows += len(at)
        before = at[0] if self.last is None else self.last
        largest = np.maximum.accumulate(np.concatenate([[before], at]))
        step = at - largest[:-1]
        if self.last is None:
            step, known = step[1:], known[1:]
        self.backward += int((step < 0.0).sum())
        self.repeated += int((step == 0.0).sum())
        if (late := step <= 0.0).any():
            k = int(known[int(np.argmax(late))])
            shown = str(times[k]).replace("T", " ")
            self.again_at = self.again_at or f"{shown} in {reading.unit} {int(places[k]):,}"
            self.again += int(late.sum())
            self.far = self.far or bool((step < -HOUR).any())
        values, first, counts = np.unique(step, return_index=True, return_counts=True)
        for k in np.argsort(first).tolist():
            size = float(values[k])
            if size > 0.0 and (size in self.steps or len(self.steps) < DISTINCT):
                self.steps[size] = self.steps.get(size, 0) + int(counts[k])
                self.places.setdefault(size, reading.place(int(places[known[first[k]]])))
        if self.last is None or at.max() >= self.last:
            self.last = float(at.max())
            self.shown = str(times[int(np.flatnonzero(seconds == self.last)[-1])])

    @property
    def utc(self) -> bool:
        """Whether the last time was written as UTC's: 12:00Z, 12:00+00:00."""
        return self.shown.endswith(("Z", "+00:00"))

    @property
    def every(self) -> float:
        """Seconds between most rows; 0 where there are no two times."""
        return max(self.steps, key=lambda size: (self.steps[size], -size), default=0.0)

    @property
    def gaps(self) -> dict[float, int]:
        """How often there were steps that are longer than most; none where most differ."""
        if 2 * self.steps.get(self.every, 0) < sum(self.steps.values()):
            return {}
        return {size: n for size, n in self.steps.items() if size > 1.5 * self.every}

    def said(self, *, series: bool = False) -> list[str]:
        """What is worth knowing about the times; of each that comes twice, a series keeps one."""
        lines = []
        if 0 < self.again <= self.rows / 100 and not self.far:
            come = "1 time comes" if self.again == 1 else f"{self.again:,} times come"
            kept = "the first is kept" if series else "both are learned"
            lines.append(f"{come} twice, {self.again_at} (clock change?): {kept}")
        else:
            if self.backward:
                back = f"times go back in {self.backward:,} of {self.rows:,} rows"
                lines.append(f"{back}: is it sorted?")
            if self.repeated:
                again = f"{self.repeated:,} of {self.rows:,} rows"
                lines.append(f"{again} have the time of a row before")
        if series and len(set(self.offsets)) > 1:
            both = " and ".join(dict.fromkeys(self.offsets))
            lines.append(f"times have the offsets {both}: all are shown with that of the last row")
        if gaps := self.gaps:
            many, lost = (
                sum(gaps.values()),
                sum(n * (s / self.every - 1.0) for s, n in gaps.items()),
            )
            first = next((self.places[size] for size in self.places if size in gaps), "")
            where = f", the first before {first}" if first else ""
            count = "1 gap" if many == 1 else f"{many:,} gaps"
            lost_rows = "1 row" if round(lost) == 1 else f"{round(lost):,} rows"
            lines.append(
                f"{count} in time ({lost_rows} missing, one every {span(self.every)}){where}; "
                "lags count rows"
            )
        if self.skipped:
            late = "1 late row" if self.skipped == 1 else f"{self.skipped:,} late rows"
            lines.append(f"{late} left out, the first {self.first}")
        return lines


def _backward(seconds: Vector) -> bool:
    """Whether times go back from row to row, but for a few."""
    steps = np.diff(seconds[~np.isnan(seconds)])
    return bool((steps < 0.0).sum() > max(0.9 * len(steps), 1))


def _reversed(name: str, reading: Reading) -> str:
    """What helps where the newest row comes first."""
    file = shlex.quote(reading.name)
    remedy = "sort them by it"
    if reading.unit == "line" and not reading.name.endswith((".gz", "input")):
        remedy += f", as (head -n 1 {file}; tail -n +2 {file} | tac) > sorted.csv does"
    return f"the newest row comes first, by {abbreviated(name)}: the oldest must, so {remedy}"


def span(seconds: float) -> str:
    """A length of time in words.

    >>> [span(s) for s in (86400.0, 1800.0, 7200.0, 0.5)]
    ['day', '30 min', '2 h', '0.5 s']
    """
    for unit, size in (("day", 86400.0), ("h", HOUR), ("min", 60.0)):
        if seconds >= size and not seconds % size:
            many = round(seconds / size)
            return unit if many == 1 and unit == "day" else f"{many} {unit}{'s' * (unit == 'day')}"
    return f"{seconds:g} s"


def seconds_of(times: Sequence[str | None] | Vector) -> Vector:
    """Seconds from 1970; NaN where there is no time."""
    if len(times) and _naive(times):
        try:
            stamps = np.array(times, dtype="datetime64[us]")
        except (ValueError, TypeError):  # an odd one: one by one
            pass
        else:
            return np.where(np.isnat(stamps), np.nan, stamps.astype(np.int64) / 1e6)
    found = np.full(len(times), np.nan)
    for i, text in enumerate(times):
        if isinstance(text, str):
            try:
                time = datetime.fromisoformat(text)
            except ValueError:
                continue
            found[i] = (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    return found


def _naive(times: Sequence[str | None] | Vector) -> bool:
    """Whether no time has an offset, or a comma."""
    texts = (text for text in times if isinstance(text, str))
    return not any(t[-1:] == "Z" or "+" in t or "-" in t[10:] or "," in t for t in texts)
