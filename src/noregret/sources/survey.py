"""What the columns of a file are, by a sample of its rows rather than by one cell.

- a column is numbers, times or text by what most of its values are; the others are bad cells
- numbers with a comma or marks in them are read as all of them can be; where two readings are
  possible (1,234, or 1.234 in a European file), another column decides, or it is left open and
  the remedy said
- numbers with one unit (15.1 kW, $20), all of them or some, are numbers; different units are left
  open
- some numbers in brackets, (4.50), are negative
- text of which most values differ (names, comments, identifiers) makes no useful feature
- a column called time, or declared as one, whose numbers may count seconds from 1970 is times; one
  called year, where a forecaster looks for the time, that has each year once
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from noregret.errors import abbreviated
from noregret.sources.cells import (
    ISO,
    MARKED,
    NUMBER,
    NUMERIC,
    TEXT,
    TIME,
    Numbers,
    kind_of_text,
    numbers_like,
    unbracketed,
    unit_in,
)
from noregret.sources.dates import SHORT_YEAR, Dates, dates_like, epoch_like, years_like

__all__ = ["CELLS", "ROWS", "Declared", "Found", "Style", "survey", "unit_of"]

ROWS = 1_000  # rows of a sample at most,
CELLS = 100_000  # and cells, though never fewer than
LEAST = 100  # rows
MANY = 50  # different values that a text column may have however few rows there are
SHARES = ("%", "\u2030")
COMPACT = "%Y%m%d"  # 20240229
FEW = 3  # words for missing that a column of numbers may have
GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}")  # 1.517: a thousand, or one and a half?
SMALL = re.compile(r"[+-]?\d{1,3}")  # whole numbers that would have no mark between thousands
CALLED_TIME = frozenset(
    (
        "time",
        "timestamp",
        "ts",
        "date",
        "datetime",
        "epoch",
        "unix",
        "unixtime",
        "unix_time",
        "unix_timestamp",
        "epoch_ms",
        "time_ms",
        "timestamp_ms",
        "date_time",
        "utc",
    )
)
CALLED_YEAR = frozenset(("year", "yr", "jahr", "ann\u00e9e", "annee", "a\u00f1o", "anno", "jaar"))

Style = Numbers | Dates
Cells = list[tuple[int, str]]


@dataclass(frozen=True, slots=True)
class Declared:
    """What the user said about a file's columns."""

    numbers: Numbers | None = None
    dates: Dates | None = None
    text: tuple[str, ...] = ()
    time: str | None = None
    series: bool = False  # whether a column of years is the time of a row


@dataclass(slots=True)
class Found:
    """A column as it seems to be."""

    kind: str
    style: Style | None = None  # where it is not numbers as 1234.5, or ISO 8601
    open: str = ""  # what must be said before its cells can be read
    counts: str = ""  # "49 numbers and 1 text" where it is mixed
    unique: str = ""  # why it makes no feature, if it is text of which most values differ

    @property
    def open_order(self) -> bool:
        """Whether day and month may be either way round."""
        return bool(self.open) and isinstance(self.style, Dates)


def rows_of(names: Sequence[str]) -> int:
    """How many rows a sample of so many columns has."""
    return min(ROWS, max(LEAST, CELLS // max(len(names), 1)))


def survey(
    columns: dict[str, Cells], declared: Declared, *, typed: bool, delimiter: str = ""
) -> dict[str, Found]:
    """The columns that have a value; cells are those that are not missing, with their places."""
    found = {
        name: _column(name, cells, declared, typed=typed)
        for name, cells in columns.items()
        if cells
    }
    if not typed and declared.numbers is None:
        _agree(found, columns, delimiter)
    return found


def _column(name: str, cells: Cells, declared: Declared, *, typed: bool) -> Found:
    texts = [text for _, text in cells]
    opened = texts if typed else [unbracketed(text) for text in texts]
    changed = sum(a != b for a, b in zip(opened, texts))
    if not 0 < changed < len(texts):  # where all are in brackets, who knows what these mean
        return _found(name, texts, declared, typed=typed)
    found = _found(name, opened, declared, typed=typed)
    if found.kind != NUMBER or found.open_order:
        return _found(name, texts, declared, typed=typed)
    style = found.style if isinstance(found.style, Numbers) else Numbers()
    found.style = replace(style, brackets=True)
    return found


def _found(name: str, texts: list[str], declared: Declared, *, typed: bool) -> Found:
    kinds = [_kind(text, declared, typed=typed) for text in texts]
    count = Counter(kinds)
    numbers, most = count[NUMBER], len(texts) / 2
    dates = None
    if numbers < most or declared.time == name:
        dates = declared.dates
        if dates is not None and declared.time != name:
            dates = dates if sum(dates.read(text) is not None for text in texts) > most else None
        dates = dates or dates_like(texts)
    if dates is not None:
        return _times(dates, texts)
    style = declared.numbers
    if numbers < len(texts) and declared.numbers is None and not typed:
        marked = _marked(texts, all_of_them=numbers > most)
        marked = marked or _with_unit(texts)
        if marked is not None:
            return marked
    word = _word_for_missing(texts, kinds)
    if numbers > most or (2 * numbers == len(texts) and kinds[0] == NUMBER) or word:
        unit = _unit(name, texts, declared, style)
        if unit is not None:
            return Found(TIME, Dates(unit))
        mixed = f"{numbers:,} numbers and {len(texts) - numbers:,} text"
        return Found(NUMBER, style, counts=mixed if numbers < len(texts) else "")
    return Found(TEXT, unique=_unique(texts))


def _kind(text: str, declared: Declared, *, typed: bool) -> str:
    if declared.numbers is not None and not typed:
        return NUMBER if declared.numbers.read(text) is not None else TEXT
    kind = kind_of_text(text)
    return TEXT if typed and kind == NUMBER else kind


def _times(dates: Dates, texts: list[str]) -> Found:
    asked = ""
    if dates.other:
        shown = next(text for text in texts if dates.read(text) is not None)
        mark = next(mark for mark in "/-." if mark in shown)
        forms = ["d{0}m{0}Y", "m{0}d{0}Y"]
        asked = "has its day first or its month"
        if SHORT_YEAR.match(shown):
            asked = "may have its day, month or year first"
            forms = ["d{0}m{0}y", *["m{0}d{0}y"] * (mark != "."), "y{0}m{0}d"]
        asked = (
            f"{abbreviated(shown)} {asked}: give --date-format {' or '.join(forms).format(mark)}"
        )
    plain = dates.form == "iso"
    return Found(TIME, None if plain else dates, open=asked)


def _marked(texts: list[str], *, all_of_them: bool) -> Found | None:
    """A column of numbers, some with commas or marks between thousands; plain ones fit as well."""
    like = [text for text in texts if numbers_like([text])]
    odd = [text for text in like if not NUMERIC.fullmatch(text)]
    if not odd or 2 * len(like) <= len(texts):
        return None
    ways = numbers_like(like) or (numbers_like(odd) if not all_of_them else [])
    if not ways:
        return None
    rest = len(texts) - sum(ways[0].read(text) is not None for text in texts)
    mixed = f"{len(texts) - rest:,} numbers and {rest:,} text" if rest else ""
    if len(ways) == 1:
        return Found(NUMBER, ways[0], counts=mixed)
    return Found(NUMBER, ways[0], open=_two_ways(odd, ways), counts=mixed)


def _two_ways(texts: list[str], ways: list[Numbers]) -> str:
    if len(ways) < 2:
        return ""
    comma = f"give --decimal {ways[0].decimal} or --thousands {ways[0].decimal}"
    return f"{abbreviated(texts[0])} can be read in two ways: {comma}"


def _with_unit(texts: list[str]) -> Found | None:
    """A column of numbers with their unit; None if these are codes, such as 7A and 8B."""
    pairs = [pair for pair in map(unit_in, texts) if pair is not None]
    units = dict.fromkeys(unit for _, unit in pairs)
    bare = _bare(texts, len(pairs), *units) if len(units) == 1 else []
    numbers = [number for number, _ in pairs] + bare
    if 2 * len(numbers) <= len(texts) or not 0 < len(units) <= FEW:
        return None
    plain = all(NUMERIC.fullmatch(number) for number in numbers)
    ways = [Numbers()] if plain else numbers_like(numbers)
    if len(units) > 1:
        measured = len(set(numbers)) > 10 and any("." in n or "," in n for n in numbers)
        shown = ", ".join(map(repr, units))
        asked = f"its numbers have different units ({shown}): bring them to one unit first"
        return Found(TEXT, open=asked) if measured else None
    if not ways:
        return None
    partly = f"{len(pairs):,} of {len(numbers):,}" if bare else ""
    style = replace(ways[0], unit=next(iter(units)), partly=partly)
    rest = len(texts) - len(numbers)
    mixed = f"{len(numbers):,} numbers with a unit and {rest:,} other" if rest else ""
    return Found(NUMBER, style, open=_two_ways(numbers, ways), counts=mixed)


def _bare(texts: list[str], having: int, unit: str) -> list[str]:
    """The numbers for which a unit goes that others have: 12 beside 12 kW, not 7 beside 7A.

    Not shares: 12 beside 12 % may be 1,200 %.
    """
    marked = [text for text in texts if unit_in(text) is not None]
    sure = len(unit) > 1 or not unit.isalpha() or all(" " in text for text in marked)
    bare = [text for text in texts if unit_in(text) is None and MARKED.fullmatch(text)]
    least = max(FEW, len(texts) / 50)  # fewer, and they are slips
    return bare if sure and unit not in SHARES and min(having, len(bare)) >= least else []


def _agree(found: dict[str, Found], columns: dict[str, Cells], delimiter: str) -> None:
    """Let the columns whose decimal mark is certain decide for those where it is not."""
    sure = {one.style for one in found.values() if isinstance(one.style, Numbers) and not one.open}
    commas = any(style.decimal == "," for style in sure if isinstance(style, Numbers))
    points = any(style.thousands == "," for style in sure if isinstance(style, Numbers))
    plain = {name: _points(columns[name]) for name, one in found.items() if _is_plain(one)}
    european = delimiter == ";" or any(
        isinstance(one.style, Dates) and one.style.form == "dmY" for one in found.values()
    )
    asked = european and False not in plain.values() and not points
    for name, one in found.items():
        if one.kind != NUMBER:
            continue
        if one.open and commas != points and isinstance(one.style, Numbers) and not one.style.unit:
            marks = (",", "") if commas else (".", ",")
            one.style = replace(one.style, decimal=marks[0], thousands=marks[1])
            one.open = ""
        elif asked and not commas and plain.get(name):
            text = next(text for _, text in columns[name] if "." in text)
            one.open = (
                f"{abbreviated(text)} can be read in two ways: give --thousands . or --decimal ."
            )
        elif _is_plain(one) and commas and not points:
            dotted = [text for _, text in columns[name] if "." in text]
            if dotted and all(Numbers(",", ".").read(text) is not None for text in dotted):
                one.open = (
                    f"{abbreviated(dotted[0])} in a file with decimal commas can be read in two "
                    "ways: give --decimal , and --thousands ."
                )


def _is_plain(one: Found) -> bool:
    """Whether a column is numbers such as 1234.5, as far as can be seen."""
    plain = one.style is None or (isinstance(one.style, Numbers) and one.style.plain)
    return one.kind == NUMBER and plain


def _points(cells: Cells) -> bool | None:
    """Whether points may be between thousands: True, False if not, None if there is no point."""
    numbers = [text for _, text in cells if NUMERIC.fullmatch(text)]
    pointed = [text for text in numbers if "." in text]
    if not pointed:
        return None
    whole = (text for text in numbers if text.lstrip("+-").isdigit())
    return all(map(GROUPED.fullmatch, pointed)) and all(map(SMALL.fullmatch, whole))


def _word_for_missing(texts: list[str], kinds: list[str]) -> bool:
    """Whether a column is numbers and a word or two that must mean that there is none."""
    words = {text for text, kind in zip(texts, kinds) if kind != NUMBER}
    numbers = {text for text, kind in zip(texts, kinds) if kind == NUMBER}
    return 0 < len(words) <= FEW and len(numbers) > 10


def _unit(name: str, texts: list[str], declared: Declared, style: Style | None) -> str | None:
    """The unit of a column of numbers that counts from 1970."""
    plain = [text for text in texts if NUMERIC.fullmatch(text)]
    if style is not None:
        return None
    if (
        _called_time(name, declared)
        and plain
        and all(len(t) == 8 and Dates(COMPACT).read(t) for t in plain)
    ):
        return COMPACT
    return unit_of(name, [float(text) for text in plain], declared)


def unit_of(name: str, values: Sequence[float], declared: Declared) -> str | None:
    """The unit of numbers that count from 1970, or "year", by the name of their column."""
    year = declared.series and declared.time is None and name.lower() in CALLED_YEAR
    if (year or name == declared.time) and years_like(values):
        return "year"
    return epoch_like(values) if _called_time(name, declared) else None


def _called_time(name: str, declared: Declared) -> bool:
    return name == declared.time or name.lower() in CALLED_TIME


def _unique(texts: list[str]) -> str:
    different = len(set(texts))
    if different <= max(MANY, len(texts) // 2) or all(ISO.fullmatch(text) for text in texts):
        return ""
    short = " (dates? --date-format d.m.y, m/d/y or y/m/d)" * bool(SHORT_YEAR.match(texts[0]))
    return f"is text, and {different:,} of {len(texts):,} values differ{short}"
