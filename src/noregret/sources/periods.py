"""Months and quarters as they are written, and dates with the month's name, made ISO 8601.

    2016-01  2016/1  2016M01  01/2016  2016Q1  2016-Q1  Q1 2016  Jan 2016  January 2016  2016 Jan
    2016-W01  2016W1
    31 Dec 2024  31-Dec-2024 13:45  Dec 31, 2024  December 31st, 2024 1:45 PM

A month, a quarter or a week is its first day.  Years have four digits: no reader can know what
Jan-16 is, and 2016.01
is a number.
"""

from __future__ import annotations

import re
from datetime import date

__all__ = ["named", "period"]

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
LONG = ("uary", "ruary", "ch", "il", "", "e", "y", "ust", "tember", "ober", "ember", "ember")
NAME = "(?P<b>" + "|".join(f"{m}(?:{rest})?" for m, rest in zip(MONTHS, LONG)) + r"|sept)\.?"
FLAGS = re.IGNORECASE | re.ASCII
YEAR = r"(?P<y>[12]\d{3})"
MONTH = (
    re.compile(rf"{YEAR}(?:[/-]|-?M)(?P<m>\d\d?)", FLAGS),
    re.compile(rf"(?P<m>\d\d?)[/-]{YEAR}", FLAGS),
    re.compile(rf"{NAME}[ ./-]*{YEAR}", FLAGS),
    re.compile(rf"{YEAR}[ ./-]*{NAME}", FLAGS),
)
QUARTER = (
    re.compile(rf"{YEAR}[ ./-]?Q(?P<q>[1-4])", FLAGS),
    re.compile(rf"Q(?P<q>[1-4])[ ./-]?{YEAR}", FLAGS),
)
WEEK = re.compile(rf"{YEAR}-?W(?P<w>\d\d?)", FLAGS)
DAY = (
    re.compile(rf"(?P<d>\d\d?)(?:st|nd|rd|th)?[. -]*{NAME}[, -]*{YEAR}(?P<clock>.*)", FLAGS),
    re.compile(rf"{NAME} ?(?P<d>\d\d?)(?:st|nd|rd|th)?,? {YEAR}(?P<clock>.*)", FLAGS),
)


def period(text: str) -> str | None:
    """The first day of a month, a quarter or a week; None if the text is none of them.

    >>> [period(text) for text in ("2016-01", "Q3 2016", "2016Q4", "February 2016", "2016-13")]
    ['2016-01-01', '2016-07-01', '2016-10-01', '2016-02-01', None]
    """
    for pattern in QUARTER:
        if found := pattern.fullmatch(text):
            return f"{found['y']}-{3 * int(found['q']) - 2:02d}-01"
    for pattern in MONTH:
        if found := pattern.fullmatch(text):
            month = _number(found["b"]) if "b" in pattern.groupindex else int(found["m"])
            return f"{found['y']}-{month:02d}-01" if 1 <= month <= 12 else None
    if found := WEEK.fullmatch(text):
        try:
            return f"{date.fromisocalendar(int(found['y']), int(found['w']), 1)}"
        except ValueError:
            return None
    return None


def named(text: str) -> str | None:
    """A date with its month's name, as 2024-12-31 and what follows; None if it is none.

    >>> named("31-Dec-2024 13:45"), named("Dec 31, 2024"), named("31. Brumaire 2024")
    ('2024-12-31 13:45', '2024-12-31', None)
    """
    for pattern in DAY:
        if found := pattern.fullmatch(text):
            when = f"{found['y']}-{_number(found['b']):02d}-{int(found['d']):02d}"
            return when + found["clock"]
    return None


def _number(name: str) -> int:
    return MONTHS.index(name[:3].lower()) + 1
