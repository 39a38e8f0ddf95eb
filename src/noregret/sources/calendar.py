"""Features of the calendar: hour, weekday and time of year, as the clock on the wall has them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime

import numpy as np

from noregret.errors import abbreviated
from noregret.sources.block import TIME, Block, Column, Reading
from noregret.sources.dates import at_clock, clock_of
from noregret.types import Matrix

__all__ = ["CALENDAR", "calendar_of", "dated", "found_apart", "joined", "parts_of"]

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
CALLED_HOUR = frozenset(("hour", "hr", "he", "hour ending", "hour_ending", "hourending", "stunde"))
CALENDAR = (
    *("day sin", "day cos", "half-day sin", "half-day cos", "year sin", "year cos"),
    *(f"weekday={day}" for day in WEEKDAYS),
)


def parts_of(time: str | None, names: Sequence[str]) -> list[str]:
    """The columns that make a time: one, or that of the date and that of the hour, as Date,Time.

    >>> parts_of("Date,Time", ["Date", "Time"]), parts_of("a,b", ["a,b"]), parts_of(None, [])
    (['Date', 'Time'], ['a,b'], [])
    """
    if time is None:
        return []
    parts = [part.strip() for part in time.split(",")]
    return [time] if time in names or len(parts) != 2 else parts


def found_apart(block: Block, drop: Sequence[str]) -> str | None:
    """Date,Time where a column of days without hours goes with one of times of day."""
    texts = {
        name: [value for value in column if value is not None]
        for name, column in block.columns.items()
        if name not in drop and not isinstance(column, np.ndarray)
    }
    days = [n for n, cells in texts.items() if block.kinds.get(n) == TIME and _days(cells)]
    hours = [n for n, cells in texts.items() if cells and all(map(clock_of, cells))]
    hours += [n for n, column in block.columns.items() if n not in drop and _hours(n, column)]
    return f"{days[0]},{hours[0]}" if len(days) == len(hours) == 1 else None


def _hours(name: str, column: Column) -> bool:
    """Whether a column of numbers is called an hour, and has whole ones from 0 to 24."""
    if name.strip().lower() not in CALLED_HOUR or not isinstance(column, np.ndarray):
        return False
    known = column[~np.isnan(column)]
    return bool(len(known)) and bool(np.isin(known, np.arange(25.0)).all())


def _days(cells: Sequence[str]) -> bool:
    """Whether these are days without an hour, some of them of several rows."""
    return len(set(cells)) < len(cells) and all(len(cell) == len("2024-12-31") for cell in cells)


def joined(block: Block, time: str, reading: Reading) -> Block:
    """The same rows, with one column of times where date and hour had two."""
    date, *hour = parts_of(time, list(block.columns))
    if not hour or not {date, hour[0]} <= block.columns.keys():
        return block
    found: list[str | None] = []
    keep = np.ones(len(block), dtype=bool)
    for i, (day, clock) in enumerate(zip(block.columns[date], block.columns[hour[0]])):
        found.append(_joined(day, clock))
        if found[-1] is None:
            keep[i] = False
            said = f"{abbreviated(day)} and {abbreviated(clock)} are not a date and a time of day"
            reading.skip(int(block.places[i]), said, time)
    rest = {n: column for n, column in block.columns.items() if n not in (date, *hour)}
    kinds = block.kinds | {time: TIME}
    made = Block(rest | {time: found}, kinds, block.places, block.open, block.whole)
    return made if keep.all() else made.kept(keep)


def _joined(day: object, clock: object) -> str | None:
    """A day and a time of day as one; None if they are not that."""
    whole = isinstance(clock, float) and clock in range(25)
    text = None if day is None else clock_of(f"{clock:02.0f}:00" if whole else str(clock))
    try:
        return at_clock(str(day), text) if text else None
    except (ValueError, OverflowError):  # the end of a day that there is not, or of the last one
        return None


def dated(block: Block, time: str, reading: Reading) -> Block:
    """The rows whose time is one."""
    if block.kinds.get(time) not in (TIME, None) or time not in block.columns:
        raise reading.fail(f"column {time!r} is not a column of times: --calendar needs one")
    keep = np.ones(len(block), dtype=bool)
    for i, value in enumerate(block.columns[time]):
        try:
            datetime.fromisoformat(value)
        except (ValueError, TypeError):
            keep[i] = False
            gap = value is None or value != value  # NaN
            said = "the time is missing" if gap else f"{abbreviated(value)} is not a time"
            reading.skip(int(block.places[i]), f"{said}; --skip-bad 1 leaves the row out", time)
    return block if keep.all() else block.kept(keep)


def calendar_of(times: Column) -> Matrix:
    """Hour, weekday and time of year as the clock on the wall has them."""
    rows = np.zeros((len(times), len(CALENDAR)))
    for row, text in zip(rows, times):
        time = datetime.fromisoformat(text)
        day = 2.0 * math.pi * (time.hour + time.minute / 60.0 + time.second / 3600.0) / 24.0
        year = 2.0 * math.pi * (time.timetuple().tm_yday - 1) / 365.25
        row[:6] = [f(angle) for angle in (day, 2.0 * day, year) for f in (math.sin, math.cos)]
        row[6 + time.weekday()] = 1.0
    return rows
