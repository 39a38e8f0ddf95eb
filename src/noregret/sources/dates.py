"""Dates and times in the common forms, made ISO 8601: 31.12.2024 13:45, 12/31/2024 1:45 PM, ...

Months, quarters and dates with the month's name are in periods.py.  24:00 is the end of a day.

Whether 03/04/2024 is in March or in April no reader can know: the order of a column is decided by
all cells of a sample, and stays open where none of them has a day beyond 12.  A year of two digits
comes last if there are fewer different ones than days; 69 to 99 are of the last century.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

from noregret.sources.cells import ISO
from noregret.sources.periods import named, period

__all__ = [
    "EPOCHS",
    "SHORT_YEAR",
    "Dates",
    "at_clock",
    "clock_of",
    "dates_like",
    "epoch_like",
    "format_of",
    "years_like",
]

CLOCK = (
    r"(?:(?:T|,? +)(?P<H>\d{1,2}):(?P<M>\d\d)(?::(?P<S>\d\d)(?P<F>[.,]\d{1,6})?)?"
    r"(?: ?(?P<P>[AaPp])\.?[Mm]\.?)?(?P<Z> ?(?:Z|UTC|[+-]\d\d:?\d\d))?)?"
)
DAY_FIRST = re.compile(
    r"(?P<a>\d{1,2})(?P<sep>[./-])(?P<b>\d{1,2})(?P=sep)(?P<y>\d{4}|\d\d)" + CLOCK
)
SHORT_YEAR = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d\d)(?!\d)")
YEAR_FIRST = re.compile(r"(?P<y>\d{4})(?P<sep>[./-])(?P<a>\d{1,2})(?P=sep)(?P<b>\d{1,2})" + CLOCK)
PLAIN = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?")  # a time of day as ISO 8601 has it
ORDERS = ("Ymd", "dmY", "mdY")
FORMS = (*ORDERS, "named", "period")
MIDNIGHT = re.compile(r"24:00(?::00(?:[.,]0+)?)?")  # the end of a day
EPOCHS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
"""Units of times that count from 1970, and how many of them are a second."""
YEARS = (1700, 2200)  # whole numbers that are taken for years
SPAN = (1e8, 5e9)  # seconds from 1970 that are taken for times: 1973 to 2128


@dataclass(frozen=True, slots=True)
class Dates:
    """How the times of a column are written; read gives ISO 8601.

    >>> Dates("dmY").read("1.12.2024 13:45"), Dates("mdY").read("12/31/2024 1:45 PM")
    ('2024-12-01T13:45', '2024-12-31T13:45')
    >>> Dates("s").read("86400"), Dates("%d %b %y").read("29 Feb 24")
    ('1970-01-02T00:00:00+00:00', '2024-02-29T00:00:00')
    >>> Dates("year").read("1984"), Dates("year").read("1984.0"), Dates("year").read("1984.5")
    ('1984-01-01', '1984-01-01', None)
    """

    form: str = "iso"  # or an order of day, month and year; a unit of time; a format of strptime
    other: str = ""  # the order that is as possible as this one

    def read(self, text: str) -> str | None:
        """The time as ISO 8601, as it is while two orders are possible; None if there is none."""
        if self.other:
            orders = Dates(self.form), Dates(self.other)
            return text if any(one.read(text) is not None for one in orders) else None
        if self.form == "iso":
            return text if ISO.fullmatch(text) else None
        try:
            if self.form in EPOCHS:
                return epoch(float(text), self.form)
            if self.form == "year":
                year = float(text)
                return f"{int(year):04d}-01-01" if year.is_integer() and 0 < year < 1e4 else None
            if self.form == "period":
                return period(text)
            if self.form == "named":
                plain = named(text)
                return None if plain is None else _ordered(plain, "Ymd")
            if self.form in ORDERS:
                day, _, clock = text.partition(" ")
                when, rest = _date(day, self.form), PLAIN.fullmatch(clock)
                return f"{when}T{clock}" if when and rest else _ordered(text, self.form)
            return datetime.strptime(text, self.form).isoformat()  # noqa: DTZ007  # as it is written
        except (ValueError, OverflowError, OSError):
            return None


def epoch(value: float, unit: str) -> str:
    """A time that is counted from 1970."""
    seconds = value / EPOCHS[unit]
    return datetime.fromtimestamp(seconds, UTC).isoformat()


@lru_cache(maxsize=1 << 12)
def _date(text: str, order: str) -> str | None:
    """A date without a time; files have many times of one day."""
    try:
        return _ordered(text, order)
    except ValueError:
        return None


def _ordered(text: str, order: str) -> str | None:
    found = (YEAR_FIRST if order == "Ymd" else DAY_FIRST).fullmatch(text)
    if found is None:
        return None
    month, day = ("b", "a") if order == "dmY" else ("a", "b")
    hour, half = int(found["H"] or 0), (found["P"] or "").upper()
    if half and not 1 <= hour <= 12:
        return None
    hour = hour % 12 + 12 * (half == "P") if half else hour
    year = (
        found["y"] if len(found["y"]) == 4 else f"{'20' if found['y'] < '69' else '19'}{found['y']}"
    )
    when = f"{year}-{int(found[month]):02d}-{int(found[day]):02d}"
    if found["H"] is None:
        datetime.fromisoformat(when)  # the 31st of February is none
        return when
    clock = f"{hour:02d}:{found['M']}"
    if found["S"]:
        clock += f":{found['S']}{(found['F'] or '').replace(',', '.')}"
    zone = (found["Z"] or "").strip().replace("UTC", "Z")
    made = at_clock(when, clock) + zone
    datetime.fromisoformat(made)
    return made


def at_clock(day: str, clock: str) -> str:
    """A day and a time of day, both as ISO 8601 has them; 24:00 is the start of the next day.

    >>> at_clock("2024-02-29", "13:45"), at_clock("2024-02-29", "24:00")
    ('2024-02-29T13:45', '2024-03-01T00:00')
    """
    if MIDNIGHT.fullmatch(clock):
        return f"{date.fromisoformat(day) + timedelta(days=1)}T00{clock[2:]}"
    return f"{day}T{clock}"


def clock_of(text: str) -> str | None:
    """A time of day as ISO 8601 has it.

    >>> clock_of("7:30"), clock_of("07:30:15 PM"), clock_of("24:00"), clock_of("noon")
    ('07:30', '19:30:15', '24:00', None)
    """
    if PLAIN.fullmatch(text) or MIDNIGHT.fullmatch(text):
        return text
    try:
        found = _ordered(f"2000-01-01 {text}", "Ymd")
    except ValueError:
        return None
    return found[11:] if found is not None and PLAIN.fullmatch(found[11:]) else None


def dates_like(texts: Iterable[str]) -> Dates | None:
    """How these texts are written if most are times; `other` is set where two orders are possible.

    >>> dates_like(["3/4/2024", "13/4/2024"]), dates_like(["3/4/2024"]), dates_like(["3.4.2024"])
    (Dates(form='dmY', other=''), Dates(form='dmY', other='mdY'), Dates(form='dmY', other=''))
    """
    held = list(texts)
    readers = {form: Dates(form) for form in ("iso", *FORMS)}
    fits = {form: sum(r.read(text) is not None for text in held) for form, r in readers.items()}
    best = max(fits, key=lambda form: fits[form])
    if best == "iso" and any(MIDNIGHT.match(text[11:]) for text in held):
        best = "Ymd"  # it goes on to the next day
    if 2 * fits[best] < len(held) + (readers[best].read(held[0]) is None if held else 1):
        return None
    tie = best == "dmY" and fits["mdY"] == fits["dmY"] and not any("." in t[:3] for t in held)
    if best in ("dmY", "mdY") and (short := [m for m in map(SHORT_YEAR.match, held) if m]):
        day = 1 if best == "dmY" else 3
        if len({m[4] for m in short}) >= len({m[day] for m in short}):  # the year may come first
            return Dates("dmY", "mdY") if all(":" in m.string for m in short) else None
    # Where day and month are the same in every text there is nothing to decide.
    differ = any(readers["dmY"].read(text) != readers["mdY"].read(text) for text in held)
    return Dates(best, "mdY" if tie and differ else "")


def epoch_like(values: Iterable[float]) -> str | None:
    """The unit if all of these may be times counted from 1970."""
    held = list(values)
    for unit, many in EPOCHS.items():
        if held and all(SPAN[0] <= value / many <= SPAN[1] for value in held):
            return unit
    return None


def years_like(values: Iterable[float]) -> bool:
    """Whether these may be years, one row for each."""
    held = list(values)
    whole = all(YEARS[0] <= value <= YEARS[1] and float(value).is_integer() for value in held)
    return len(held) > 1 and whole and len(set(held)) == len(held)


WORDS = {"iso": "iso"} | {unit: unit for unit in EPOCHS} | {"epoch": "s"}
LETTERS = {"d": "%d", "m": "%m", "Y": "%Y", "y": "%y", "H": "%H", "M": "%M", "S": "%S", "b": "%b"}


def format_of(given: str) -> Dates:
    """What --date-format says: d/m/Y, d.m.Y H:M, a format of strptime, iso, s, ms.

    >>> format_of("d/m/Y"), format_of("%d %b %Y"), format_of("ms")
    (Dates(form='dmY', other=''), Dates(form='%d %b %Y', other=''), Dates(form='ms', other=''))
    """
    if given in WORDS:
        return Dates(WORDS[given])
    letters = re.sub(r"%(.)", r"\1", given)
    day = re.fullmatch(r"([dmY])([./-])([dmY])\2([dmYy])([ T]H:M(:S)?)?", letters)
    if day and (order := day[1] + day[3] + day[4].replace("y", "Y")) in ORDERS:
        return Dates(order)
    made = given if "%" in given else re.sub(r"[A-Za-z]", lambda m: LETTERS.get(m[0], "?"), given)
    try:
        written = datetime(2024, 2, 29, 13, 45).strftime(made)  # noqa: DTZ001  # any will do
        datetime.strptime(written, made)  # noqa: DTZ007
    except (ValueError, re.error):
        made = "?"
    if "?" in made or "%" not in made:
        raise ValueError(
            f"--date-format {given}: give d/m/Y, m/d/Y, d.m.y, d.m.Y H:M, Y-m-d, %d %b %Y, iso, s "
            "or ms"
        )
    return Dates(made)
