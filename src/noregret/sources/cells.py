"""What the text in a cell is: a number, a date or time, text, or nothing.

Numbers are written as 1234.5 unless a column's `Numbers` says otherwise: with a decimal comma, with
marks between thousands.  Which of them a column has is found out in survey.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

__all__ = [
    "ISO",
    "MARKED",
    "NUMBER",
    "NUMERIC",
    "OTHER",
    "TEXT",
    "TIME",
    "WORDS",
    "Numbers",
    "kind_of_text",
    "numbers_like",
    "unbracketed",
    "unit_in",
]

NUMBER, TEXT, TIME, OTHER = "number", "text", "time", "other"
WORDS = (
    *("", "NA", "N/A", "n/a", "n.a.", "N.A.", "NaN", "nan", "NAN", "null", "NULL", "Null", "None"),
    *("-", "--", "?", "#N/A", "#NA", "#NV", "<NA>"),
)
"""The usual words for a value that is missing."""
ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d(:\d\d(:\d\d([.,]\d+)?)?)?(Z|[+-]\d\d:?\d\d)?)?")
NUMERIC = re.compile(
    r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity|nan)", re.IGNORECASE
)
MARKED = re.compile(
    r"[+-]?\d[\d.,'\u2019 \u00a0\u202f]*(?:[eE][+-]?\d+)?"
)  # perhaps with marks in it

WITH_UNIT = re.compile(
    r"([+-]?\d[\d.,']*)[ \u00a0\u202f]?"
    r"([^\W\d_]{1,8}\d?(?:/[^\W\d_]{1,8}\d?)?|[%\u2030$\u20ac\u00a3\u00b0][A-Z]?)"
)
AFTER_UNIT = re.compile(
    r"([+-]?)([$\u20ac\u00a3\u00a5]|[A-Z]{3}(?=[ \u00a0]))[ \u00a0]?([+-]?\d[\d.,']*)"
)  # $1,234.50, EUR 12
BRACKETS = re.compile(
    r"([$\u20ac\u00a3\u00a5]?)\([ \u00a0]?"
    r"((?:[$\u20ac\u00a3\u00a5]|[A-Z]{3}(?=[ \u00a0]))?[ \u00a0]?\d[^()]*?)[ \u00a0]?\)"
)


@dataclass(frozen=True, slots=True)
class Numbers:
    """How the numbers of a column are written, perhaps with one unit at them all, or at some.

    >>> Numbers(",", ".").read("1.234,5")
    1234.5
    >>> Numbers(",", ".").read("12.34,5") is None, Numbers(unit="kW").read("1.5 kW")
    (True, 1.5)
    >>> Numbers(thousands=",", unit="$").read("-$1,234.50")
    -1234.5
    >>> Numbers(thousands=",", unit="$", brackets=True).read("($1,234.50)")
    -1234.5
    """

    decimal: str = "."
    thousands: str = ""
    unit: str = ""
    partly: str = field(default="", repr=False)
    """How many cells of the sample have the unit, where not all do."""
    brackets: bool = field(default=False, repr=False)
    """Whether (4.50) stands for -4.50, as accountants write it."""

    def read(self, text: str) -> float | None:
        """The number in a text; None if there is none."""
        if self.brackets:
            text = unbracketed(text)
        if self.unit:
            pair = unit_in(text)
            if pair is not None and pair[1] == self.unit:
                text = pair[0]
            elif not self.partly:
                return None
        if not _pattern(self.decimal, self.thousands).fullmatch(text):
            return None
        if self.thousands:
            text = text.replace(self.thousands, "")
        return float(text.replace(self.decimal, "."))

    def read_all(self, texts: list[str]) -> list[float] | None:
        """The numbers in many texts; None if one of them has none."""
        if self.unit or self.brackets:
            read = [self.read(text) for text in texts]
            found = [value for value in read if value is not None]
            return found if len(found) == len(texts) else None
        lines = "\n".join(texts)
        if lines.count("\n") != len(texts) - 1 or not _lines(
            self.decimal, self.thousands
        ).fullmatch(lines):
            return None
        plain = lines.replace(self.thousands, "") if self.thousands else lines
        return [float(text) for text in plain.replace(self.decimal, ".").split("\n")]

    @property
    def plain(self) -> bool:
        """Whether numbers are written as 1234.5, but for brackets."""
        return (self.decimal, self.thousands, self.unit) == (".", "", "")

    @property
    def said(self) -> str:
        """How numbers are written, for a message."""
        return self.example + (f" (decimal {self.decimal!r})" if self.decimal != "." else "")

    @property
    def example(self) -> str:
        """A number as the column has it."""
        return f"1{self.thousands}234{self.decimal}5{self.unit and ' '}{self.unit}"


STYLES = (
    *(Numbers(",", ""), Numbers(".", ","), Numbers(",", "."), Numbers(",", " "), Numbers(".", " ")),
    *(Numbers(d, t) for t in ("\u00a0", "\u202f", "'", "\u2019") for d in ".,"),
)
"""What is tried where numbers have marks in them."""


@lru_cache(maxsize=64)
def _pattern(decimal: str, thousands: str) -> re.Pattern[str]:
    whole = r"\d+"
    if thousands:
        whole = rf"(?:\d{{1,3}}(?:{re.escape(thousands)}\d{{3}})+|\d+)"
    point = re.escape(decimal)
    return re.compile(rf"[+-]?(?:{whole}(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+)?")


@lru_cache(maxsize=64)
def _lines(decimal: str, thousands: str) -> re.Pattern[str]:
    number = _pattern(decimal, thousands).pattern
    return re.compile(rf"(?:{number}\n)*+{number}")


def numbers_like(texts: list[str]) -> list[Numbers]:
    """The ways of writing numbers that fit all of these texts, no two of which agree on them.

    >>> numbers_like(["2,5", "10"]), len(numbers_like(["1,234"]))
    ([Numbers(decimal=',', thousands='', unit='')], 2)
    """
    if not all(MARKED.fullmatch(text) for text in texts):
        return []
    found: dict[tuple[float, ...], Numbers] = {}
    for style in STYLES:
        values = [style.read(text) for text in texts]
        if None not in values:
            found.setdefault(tuple(v for v in values if v is not None), style)
    return list(found.values())


def unit_in(text: str) -> tuple[str, str] | None:
    """A number and the unit after it, or the currency before it; None if there are not both.

    >>> unit_in("16.8 m/s"), unit_in("12%"), unit_in("-$1,234.50"), unit_in("red"), unit_in("7")
    (('16.8', 'm/s'), ('12', '%'), ('-1,234.50', '$'), None, None)
    """
    if found := WITH_UNIT.fullmatch(text):
        return found[1], found[2]
    found = AFTER_UNIT.fullmatch(text)
    if found is None or (found[1] and found[3][0] in "+-"):
        return None
    return found[1] + found[3], found[2]


def unbracketed(text: str) -> str:
    """A number in brackets with a minus instead; any other text as it is.

    >>> unbracketed("(4.50)"), unbracketed("$(4.50)"), unbracketed("(4 EUR)"), unbracketed("(a)")
    ('-4.50', '-$4.50', '-4 EUR', '(a)')
    """
    found = BRACKETS.fullmatch(text)
    return text if found is None else f"-{found[1]}{found[2]}"


def kind_of_text(value: str) -> str:
    """What a piece of text is.

    >>> [kind_of_text(v) for v in ("1e3", "2024-02-29T12:00", "red")]
    ['number', 'time', 'text']
    """
    if NUMERIC.fullmatch(value):
        return NUMBER
    return TIME if ISO.fullmatch(value) else TEXT
