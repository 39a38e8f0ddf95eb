"""Times and their frequency: what a row's time is, and which step of a regular grid that makes it.

A time is a moment (datetime, date, ISO text, a column of datetimes), a number (any axis), or there
is none and rows are counted.  Moments are kept in UTC, so that a step is the same length when
clocks change, with the offset of the wall clock beside them, so that the calendar is the local one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from noregret.declare.fields import Count, Mismatch, Real, Word
from noregret.errors import InputError, ParameterError, abbreviated
from noregret.types import Integers, Vector

__all__ = ["DAY", "ROWS", "Every", "Moments", "Truths", "infer", "read"]

Truths = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
SECOND = 1_000_000  # times are whole microseconds
DAY = 86_400 * SECOND
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
UNITS = {
    "s": SECOND, "sec": SECOND, "second": SECOND, "min": 60 * SECOND, "minute": 60 * SECOND,
    "h": 3600 * SECOND, "hour": 3600 * SECOND, "d": DAY, "day": DAY, "w": 7 * DAY,
    "week": 7 * DAY,
}  # fmt: skip
MONTHS = {"month": 1, "quarter": 3, "year": 12}
WEEKDAYS = ("weekday", "workday", "businessday", "bday")  # Monday to Friday
FORMS = (
    'every is a timedelta, a number, or a text such as "30 min", "1 h", "1 day", "1 weekday", '
    '"1 month"'
)
RIGHT = 0.5  # of the differences must agree before a frequency is inferred
ENOUGH = 10  # rows, without a weekend among them, show that there will be none
OFTEN = 0.2  # of the differences, from which a smaller step is taken


@dataclass(frozen=True, slots=True)
class Moments:
    """Times of rows: microseconds since 1970 in UTC, or numbers; offsets of the wall clock."""

    kind: str  # "moment", "number" or "rows"
    at: Vector  # float64 holds whole microseconds exactly until the year 2255
    offset: Vector  # local less UTC, in microseconds
    zone: str = ""  # a name such as "Europe/Paris", where it is known

    def __len__(self) -> int:
        return len(self.at)

    def part(self, rows: slice | Truths) -> Moments:
        """Some of the rows."""
        return replace(self, at=self.at[rows], offset=self.offset[rows])


def counted(first: int, rows: int) -> Moments:
    """Rows that have no times."""
    return Moments("rows", np.arange(first, first + rows, dtype=float), np.zeros(rows))


def read(column: Iterable[object], field: str) -> Moments:
    """Times in any of their forms, or an InputError that names the first that is none."""
    zone = _zone(getattr(getattr(column, "dtype", None), "tz", None))
    array = np.asarray(column)
    if array.dtype.kind == "M":  # NumPy's datetimes, in UTC where the column has a zone
        if np.isnat(array).any():
            raise InputError(f"{field}: row {int(np.argmax(np.isnat(array)))} has no time")
        at = array.astype("datetime64[us]").astype(np.int64).astype(float)
        return Moments("moment", at, _offsets(at, zone), zone)
    if array.dtype.kind in "iuf" and array.ndim == 1:
        at = array.astype(float)
        if not np.isfinite(at).all():
            raise InputError(f"{field}: row {int(np.argmin(np.isfinite(at)))} has no time")
        return Moments("number", at, np.zeros(len(at)))
    return _one_by_one(list(column), field)


def _one_by_one(column: Sequence[object], field: str) -> Moments:
    """Objects and texts."""
    found = [_moment(value, f"{field}, row {t}") for t, value in enumerate(column)]
    if len({type(value) for value in found}) > 1:
        raise InputError(f"{field} has both numbers and dates: give one of them")
    if found and isinstance(found[0], float):
        return Moments("number", np.array(found), np.zeros(len(found)))
    pairs = [_utc(value) for value in found if isinstance(value, datetime)]
    at, offset = np.array(pairs, dtype=float).reshape(-1, 2).T
    last = found[-1] if found else None
    return Moments("moment", at, offset, _zone(last.tzinfo if isinstance(last, datetime) else None))


def _moment(value: object, field: str) -> datetime | float:
    """One time, as a datetime or as a number."""
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)  # noqa: DTZ001  # a day of the wall clock
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value.strip())
        except ValueError:
            pass
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    raise InputError(
        f"{field} = {abbreviated(value)} is no time: give a datetime, a number, or ISO text such "
        "as 2024-12-31T13:00"
    )


def _utc(moment: datetime) -> tuple[float, float]:
    """Microseconds since 1970 in UTC, and the offset; without one the clock is taken for UTC's."""
    shift = moment.utcoffset() or timedelta(0)
    bare = moment.replace(tzinfo=UTC)
    return float((bare - shift - EPOCH) // timedelta(microseconds=1)), shift / timedelta(
        microseconds=1
    )


def _zone(zone: tzinfo | None) -> str:
    """The name of a time zone that has rules, else nothing."""
    name = str(getattr(zone, "key", None) or getattr(zone, "zone", None) or "")
    try:
        return name if name and ZoneInfo(name) else ""
    except (ZoneInfoNotFoundError, ValueError):
        return ""


def _offsets(at: Vector, zone: str) -> Vector:
    """The offsets of a zone at these moments."""
    if not zone:
        return np.zeros(len(at))
    info = ZoneInfo(zone)
    hours, back = np.unique(
        np.floor(at / (900 * SECOND)), return_inverse=True
    )  # clocks change then
    found = []
    for quarter in hours.tolist():
        shift = datetime.fromtimestamp(quarter * 900.0, info).utcoffset() or timedelta(0)
        found.append(shift / timedelta(microseconds=1))
    return np.array(found)[back]


@dataclass(frozen=True, slots=True)
class Every:
    """How far apart rows are: microseconds, months, weekdays, units of a number, or just rows.

    >>> Every.of("30 min")
    Every(unit='moment', step=1800000000.0, months=0)
    >>> print(Every.of("30 min"), "|", Every.of("1 month"), "|", Every.of(0.5))
    30 min | 1 month | 0.5
    """

    unit: str  # "moment", "number" or "rows"
    step: float
    months: int = 0
    weekday: int | None = field(default=None, repr=False)
    """Where steps go from Monday to Friday, which of these the first one is, from 0 on."""

    FIELDS = (
        Word("unit", ("moment", "number", "rows")),
        Real("step", 0.0, 1e300),
        Count("months", 0, 1200),
        Count("weekday", 0, 4, later=True),
    )

    @classmethod
    def restored(cls, unit: str, step: float, months: int, weekday: int | None) -> Every:
        """The frequency of these values."""
        if not (step > 0.0 or months):
            raise Mismatch("has no step")
        if weekday is not None and (unit, step, months) != ("moment", DAY, 0):
            raise Mismatch("has weekdays that are no days")
        return cls(unit, step, months, weekday)

    @classmethod
    def of(cls, every: object) -> Every:
        """From what a caller writes."""
        if isinstance(every, timedelta) and every > timedelta(0):
            return cls("moment", every / timedelta(microseconds=1))
        if isinstance(every, int | float) and not isinstance(every, bool) and 0 < every < 1e300:
            return cls("number", float(every))
        if isinstance(every, str):
            found = re.fullmatch(r"\s*(\d*\.?\d*)\s*([a-zA-Z]+?)s?\s*", every)
            size, word = (found[1] or "1", found[2].lower()) if found else ("0", "")
            if re.sub(r"^\s*1?\s*", "", every.lower()).replace(" ", "").rstrip("s") in WEEKDAYS:
                return cls("moment", float(DAY), weekday=0)
            if word in MONTHS and size.isdigit() and int(size):
                return cls("moment", 0.0, MONTHS[word] * int(size))
            if word in UNITS and size != "." and float(size) > 0.0:
                return cls("moment", float(round(float(size) * UNITS[word])))
        raise ParameterError(f"every = {abbreviated(every)}: {FORMS}")

    def __str__(self) -> str:
        if self.weekday is not None:
            return "weekday"
        if self.months:
            for word, size in (("year", 12), ("quarter", 3), ("month", 1)):
                if self.months % size == 0:
                    return f"{self.months // size} {word}"
        if self.unit == "moment":
            for word, size in (("day", DAY), ("h", 3600 * SECOND), ("min", 60 * SECOND)):
                if self.step % size == 0:
                    return f"{self.step / size:g} {word}"
            return f"{self.step / SECOND:g} s"
        return "row" if self.unit == "rows" else f"{self.step:g}"

    # The grid -------------------------------------------------------------------------------

    def slots(self, times: Moments, origin: float) -> Integers:
        """Which step of the grid each time is nearest to, counted from the origin."""
        if self.months:
            base = _months(np.array([origin]))[0]
            apart = (_months(times.at + times.offset) - base) / self.months
            return np.asarray(np.rint(apart), dtype=np.int64)
        found: Integers = np.rint((times.at - origin) / self.step).astype(np.int64)
        if self.weekday is not None:
            week, day = np.divmod(self.weekday + found, 7)
            found = 5 * week + np.minimum(day, 4) - self.weekday
        return found

    def weekend(self, times: Moments, origin: float) -> Truths:
        """Which times are on a weekend that the steps leave out."""
        if self.weekday is None:
            return np.zeros(len(times), dtype=bool)
        days = np.rint((times.at - origin) / self.step).astype(np.int64)
        off: Truths = (self.weekday + days) % 7 > 4
        return off

    def begun(self, times: Moments) -> Every:
        """Weekdays counted from the first of these times."""
        if self.weekday is None:
            return self
        first = int(_weekdays(times)[0])
        if first > 4:
            raise InputError('the first row is on a weekend: give every="1 day"')
        return replace(self, weekday=first)

    def at(self, slots: Integers, origin: float) -> Vector:
        """The times of steps; months keep the day of the month where they have it."""
        if self.weekday is not None:
            week, weekday = np.divmod(self.weekday + np.asarray(slots), 5)
            slots = 7 * week + weekday - self.weekday
        if not self.months:
            return np.asarray(origin + slots * self.step, dtype=np.float64)
        start = EPOCH + timedelta(microseconds=origin)
        found = []
        for slot in np.asarray(slots).tolist():
            year, month = divmod(start.year * 12 + start.month - 1 + slot * self.months, 12)
            last = (datetime(year + month // 11, (month + 1) % 12 + 1, 1, tzinfo=UTC) - EPOCH).days
            first = (datetime(year, month + 1, 1, tzinfo=UTC) - EPOCH).days
            day = min(start.day, last - first)
            moment = start.replace(year=year, month=month + 1, day=day)
            found.append((moment - EPOCH) / timedelta(microseconds=1))
        return np.array(found, dtype=float)


ROWS = Every("rows", 1.0)


def _weekdays(times: Moments) -> Vector:
    """The days of the week by the wall clock, Monday is 0."""
    local = times.at + times.offset
    found: Vector = (np.floor(local / DAY) + 3.0) % 7.0  # 1 January 1970 was a Thursday
    return found


def _months(at: Vector) -> Vector:
    """Months since 1970, with the part of the month that has gone."""
    days = at / DAY
    months = np.floor(days).astype("datetime64[D]").astype("datetime64[M]")
    first = months.astype("datetime64[D]").astype(float)
    length = (months + 1).astype("datetime64[D]").astype(float) - first
    found: Vector = months.astype(float) + np.clip((days - first) / length, 0.0, 0.999)
    return found


def infer(times: Moments) -> Every:
    """The frequency that most differences agree on; months and years by the calendar.

    Days are weekdays where two weeks of them have no weekend.

    >>> infer(read(["2024-01-01", "2024-01-02", "2024-01-05", "2024-01-06"], "time"))
    Every(unit='moment', step=86400000000.0, months=0)
    >>> print(infer(read(["2024-01-31", "2024-02-29", "2024-03-31"], "time")))
    1 month
    >>> print(infer(read(["2024-01-%02d" % d for d in (*range(1, 6), *range(8, 13))], "time")))
    weekday
    """
    if times.kind == "rows":
        return ROWS
    steps = np.abs(np.diff(times.at))
    steps = steps[steps > 0.0]
    if not len(steps):
        return ROWS
    if times.kind == "moment":
        days = steps / DAY
        for months, low, high in ((1, 28, 31), (3, 89, 92), (6, 181, 184), (12, 365, 366)):
            near = (days > low - 0.2) & (days < high + 0.2)
            if near.mean() > RIGHT and (months > 1 or np.unique(np.rint(days[near])).size > 1):
                return Every("moment", 0.0, months)
        steps = np.where(steps >= 10 * SECOND, np.rint(steps / SECOND) * SECOND, steps)
    found, counts = np.unique(steps, return_counts=True)
    step = float(found[np.argmax(counts)])
    for less, count in zip(found.tolist(), counts.tolist()):  # one on whose grid all times lie
        off = np.abs(steps / less - np.rint(steps / less)) >= 0.1
        if count >= OFTEN * len(steps) and not off.any():
            step = less
            break
    multiple = np.abs(steps / step - np.rint(steps / step)) < 0.1  # gaps agree too
    if multiple.mean() <= RIGHT or steps.min() < 0.5 * step:
        step = float(np.median(steps))
        if np.mean(np.abs(steps / step - 1.0) < 0.1) <= RIGHT:
            return ROWS
    single = steps[steps < 1.5 * step]
    if times.kind == "moment" and np.mean(single == step) < RIGHT + 0.4:  # a clock that jitters
        for unit in (DAY, 3600 * SECOND, 60 * SECOND, SECOND):
            whole = round(step / unit) * unit
            if whole and abs(whole - step) <= 0.05 * step:
                return Every(times.kind, float(whole))
    daily = times.kind == "moment" and step == DAY and len(times) >= ENOUGH
    if daily and (_weekdays(times) < 5.0).all():
        weekdays = Every("moment", step, weekday=0).begun(times)
        if np.mean(np.diff(weekdays.slots(times, float(times.at[0]))) == 1) > RIGHT:
            return weekdays
    return Every(times.kind, step)
