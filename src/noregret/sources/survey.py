"""What the columns of a file are, by a sample of its rows rather than by one cell.

- a column is numbers, times or text by what most of its values are; the others are bad cells
- numbers with a comma or marks in them are read as all of them can be; where two readings are
  possible (1,234), another column decides, or it is left open and the remedy said
- text of which most values differ (names, comments, identifiers) makes no useful feature
- a column called time, or declared as one, whose numbers may count seconds from 1970 is times
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from noregret.errors import abbreviated
from noregret.sources.cells import (
    ISO,
    NUMBER,
    NUMERIC,
    TEXT,
    TIME,
    Numbers,
    kind_of_text,
    numbers_like,
)
from noregret.sources.dates import Dates, dates_like, epoch_like

__all__ = ["CELLS", "ROWS", "Declared", "Found", "Style", "survey"]

ROWS = 1_000  # rows of a sample at most,
CELLS = 100_000  # and cells, though never fewer than
LEAST = 100  # rows
MANY = 50  # different values that a text column may have however few rows there are
FEW = 3  # words for missing that a column of numbers may have
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

Style = Numbers | Dates
Cells = list[tuple[int, str]]


@dataclass(frozen=True, slots=True)
class Declared:
    """What the user said about a file's columns."""

    numbers: Numbers | None = None
    dates: Dates | None = None
    text: tuple[str, ...] = ()
    time: str | None = None


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


def survey(columns: dict[str, Cells], declared: Declared, *, typed: bool) -> dict[str, Found]:
    """The columns that have a value; cells are those that are not missing, with their places."""
    found = {
        name: _column(name, cells, declared, typed=typed)
        for name, cells in columns.items()
        if cells
    }
    if not typed and declared.numbers is None:
        _agree(found, columns)
    return found


def _column(name: str, cells: Cells, declared: Declared, *, typed: bool) -> Found:
    texts = [text for _, text in cells]
    kinds = [_kind(text, declared, typed=typed) for text in texts]
    count = Counter(kinds)
    numbers, most = count[NUMBER], len(cells) / 2
    dates = None
    if numbers < most or declared.time == name:
        dates = declared.dates if declared.dates and declared.time == name else None
        dates = dates or dates_like(texts)
        if dates is None and declared.dates is not None:
            read = sum(declared.dates.read(text) is not None for text in texts)
            dates = declared.dates if read > most else None
    if dates is not None:
        return _times(dates, declared, texts)
    style = declared.numbers
    if numbers < len(cells) and declared.numbers is None and not typed:
        marked = _marked(texts, all_of_them=numbers > most)
        if marked is not None:
            return marked
    word = _word_for_missing(texts, kinds)
    if numbers > most or (2 * numbers == len(cells) and kinds[0] == NUMBER) or word:
        unit = _unit(name, texts, declared, style)
        if unit is not None:
            return Found(TIME, Dates(unit))
        mixed = f"{numbers:,} numbers and {len(cells) - numbers:,} text"
        return Found(NUMBER, style, counts=mixed if numbers < len(cells) else "")
    return Found(TEXT, unique=_unique(texts))


def _kind(text: str, declared: Declared, *, typed: bool) -> str:
    if declared.numbers is not None and not typed:
        return NUMBER if declared.numbers.read(text) is not None else TEXT
    kind = kind_of_text(text)
    return TEXT if typed and kind == NUMBER else kind


def _times(dates: Dates, declared: Declared, texts: list[str]) -> Found:
    asked = ""
    if dates.other:
        if declared.dates is not None and declared.dates.form in (dates.form, dates.other):
            dates = declared.dates
        else:
            pair = "d{0}m{0}Y or m{0}d{0}Y".format("/" if "/" in texts[0] else "-")
            asked = (
                f"{abbreviated(texts[0])} has its day first or its month: give --date-format {pair}"
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
    shown = abbreviated(odd[0])
    comma = f"give --decimal {ways[0].decimal} or --thousands {ways[0].decimal}"
    return Found(NUMBER, ways[0], open=f"{shown} can be read in two ways: {comma}", counts=mixed)


def _agree(found: dict[str, Found], columns: dict[str, Cells]) -> None:
    """Let the columns whose decimal mark is certain decide for those where it is not."""
    sure = {one.style for one in found.values() if isinstance(one.style, Numbers) and not one.open}
    commas = any(style.decimal == "," for style in sure if isinstance(style, Numbers))
    points = any(style.thousands == "," for style in sure if isinstance(style, Numbers))
    for name, one in found.items():
        if one.kind != NUMBER:
            continue
        if one.open and commas != points:
            one.style = Numbers(",", "") if commas else Numbers(".", ",")
            one.open = ""
        elif one.style is None and commas and not points:
            dotted = [text for _, text in columns[name] if "." in text]
            if dotted and all(Numbers(",", ".").read(text) is not None for text in dotted):
                one.open = (
                    f"{abbreviated(dotted[0])} in a file with decimal commas can be read in two "
                    "ways: give --decimal , and --thousands ."
                )


def _word_for_missing(texts: list[str], kinds: list[str]) -> bool:
    """Whether a column is numbers and a word or two that must mean that there is none."""
    words = {text for text, kind in zip(texts, kinds) if kind != NUMBER}
    numbers = {text for text, kind in zip(texts, kinds) if kind == NUMBER}
    return 0 < len(words) <= FEW and len(numbers) > 10


def _unit(name: str, texts: list[str], declared: Declared, style: Style | None) -> str | None:
    """The unit of a column of numbers that counts from 1970."""
    if style is not None or not (name == declared.time or name.lower() in CALLED_TIME):
        return None
    plain = [text for text in texts if NUMERIC.fullmatch(text)]
    return epoch_like(float(text) for text in plain)


def _unique(texts: list[str]) -> str:
    different = len(set(texts))
    if different <= max(MANY, len(texts) // 2) or all(ISO.fullmatch(text) for text in texts):
        return ""
    return f"is text, and {different:,} of {len(texts):,} values differ"
