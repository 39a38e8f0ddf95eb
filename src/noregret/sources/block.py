"""What every source yields: blocks of rows whose columns are numbers, text or times.

The rules, the same for every format and however the rows are cut into blocks:

- a column's kind is inferred from its first value that is not missing: a number, a date or time in
  ISO 8601, or text; a later value that does not fit makes its row a bad one
- a value is missing if it is null, absent, empty, or one of the words for it ("NA", "null")
- NaN and infinities are invalid: a row with one is bad, unless "NaN" is a word for missing
- booleans count as 0 and 1; whole numbers must fit in float64
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from noregret.errors import SourceError
from noregret.inputs.values import abbreviated
from noregret.types import Integers, Vector

__all__ = [
    "ISO",
    "NUMBER",
    "OTHER",
    "TEXT",
    "TIME",
    "Block",
    "Column",
    "Gaps",
    "Reading",
    "kind_of_text",
    "number_in",
]

NUMBER, TEXT, TIME, OTHER = "number", "text", "time", "other"
WORDS = ("", "NA", "null")
ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)?)?")
NUMERIC = re.compile(
    r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity|nan)", re.IGNORECASE
)
Column = Vector | list[str | None]
"""The values of a column: numbers, NaN where missing, or text, None where missing."""
Gaps = npt.NDArray[np.bool_]
"""Where a column has no value."""
COMMA = re.compile(r"[+-]?\d[\d.]*,\d[\d.,]*")  # 2,5 or 1,000 or 1.000,5


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Some rows, by column.

    `places` are line numbers in text, row numbers in tables, both from 1.
    `open` says that columns may join later: they exist from their first value on.
    `whole` are columns of numbers that are known to have no gap.
    """

    columns: dict[str, Column]
    kinds: dict[str, str]
    places: Integers
    open: bool = False
    whole: frozenset[str] = frozenset()

    def gaps(self, name: str) -> Gaps | None:
        """Where a column has no value; None if it has one everywhere."""
        if name in self.whole:
            return None
        values = self.columns[name]
        if isinstance(values, np.ndarray):
            found = np.isnan(values)
        else:
            found = np.array([value is None for value in values], dtype=bool)
        return found if found.any() else None

    def __len__(self) -> int:
        return len(self.places)

    def kept(self, keep: Gaps | slice) -> Block:
        """The rows that a mask or a slice keeps."""
        rows = range(len(self))[keep] if isinstance(keep, slice) else np.flatnonzero(keep).tolist()
        columns: dict[str, Column] = {
            name: values[keep] if isinstance(values, np.ndarray) else [values[i] for i in rows]
            for name, values in self.columns.items()
        }
        return Block(columns, self.kinds, self.places[keep], self.open, self.whole)


@dataclass(slots=True)
class Reading:
    """What is known while a source is read: its name, the kinds so far, bad rows."""

    name: str
    unit: str = "line"
    allowed: int = 0  # bad rows that are tolerated
    words: frozenset[str] = frozenset(WORDS)
    kinds: dict[str, str] = field(default_factory=dict)
    wanted: frozenset[str] | None = None  # columns that are read; None: all
    names: list[str] = field(default_factory=list)  # all columns
    text: tuple[str, ...] = ()  # columns that were said to be text
    past: int = 0  # the last line or row that an earlier run took
    bad: int = 0
    first: str = ""  # what was wrong with the first bad row
    waiting: Callable[[], AbstractContextManager[None]] = nullcontext
    """Held while nothing is under way but a wait for rows: only there may a signal raise."""

    def place(self, number: int, column: str | None = None) -> str:
        """The place in words."""
        where = f"{self.name}, {self.unit} {number}"
        return where if column is None else f"{where}, column {abbreviated(column)}"

    def skip(self, number: int, complaint: str, column: str | None = None) -> None:
        """Count a bad row, or refuse it."""
        if number <= self.past:
            return
        message = f"{self.place(number, column)}: {complaint}"
        if self.bad >= self.allowed:
            count = f" (bad row number {self.bad + 1}, {self.allowed} tolerated)"
            raise SourceError(message + (count if self.allowed else ""))
        self.bad += 1
        self.first = self.first or message

    def fail(self, complaint: str, number: int | None = None) -> SourceError:
        """An error that no tolerance helps against."""
        return SourceError(f"{self.name if number is None else self.place(number)}: {complaint}")

    def name_columns(self, names: Sequence[str], number: int | None = None) -> None:
        """Take the names of the columns: each has one, and no two the same."""
        self.names = list(names)
        for i, name in enumerate(names):
            if not name:
                where = "" if number is None else " of the header"
                raise self.fail(f"column {i + 1}{where} has no name", number)
            if name in self.names[:i]:
                first = self.names.index(name) + 1
                complaint = f"columns {first} and {i + 1} are both called {abbreviated(name)}"
                raise self.fail(complaint, number)

    def uses(self, column: str) -> bool:
        """Whether a column is read; what is in the others does not matter."""
        return self.wanted is None or column in self.wanted

    def infer_kind(self, column: str, value: object) -> str:
        """The kind of a column, by its first value."""
        kind = self.kinds.get(column)
        if kind is None:
            if isinstance(value, str):
                kind = kind_of_text(value)
            else:
                kind = NUMBER if isinstance(value, bool | int | float) else OTHER
            self.kinds[column] = kind
        return kind

    def block(
        self,
        names: Sequence[str],
        rows: Iterable[tuple[int, Sequence[object]]],
        *,
        typed: bool,
        open_: bool = False,
    ) -> Block:
        """Rows of Python values, checked one by one; with `typed`, text is never a number."""
        places: list[int] = []
        used = [j for j, name in enumerate(names) if self.uses(name)]
        names = [names[j] for j in used]
        columns: list[list[Any]] = [[] for _ in names]  # each of float, or of str
        for place, row in rows:
            taken = self._row(names, place, [row[j] for j in used], typed=typed)
            if taken is not None:
                places.append(place)
                for column, value in zip(columns, taken):
                    column.append(value)
        found: dict[str, Column] = dict(zip(names, columns))
        for name, values in zip(names, columns):
            if self.kinds.get(name, NUMBER) == NUMBER:
                numbers = [math.nan if v is None else v for v in values]
                found[name] = np.array(numbers, dtype=np.float64)
        return Block(found, dict(self.kinds), np.array(places, dtype=np.int64), open_)

    def _row(
        self, names: Sequence[str], place: int, row: Sequence[object], *, typed: bool
    ) -> list[float | str | None] | None:
        taken: list[float | str | None] = []
        inferred = []
        for name, given in zip(names, row):
            value = given.strip() if isinstance(given, str) else given
            if self.missing(value):
                taken.append(None)
                continue
            fresh = name not in self.kinds
            if fresh:
                inferred.append(name)
                if typed and isinstance(value, str) and kind_of_text(value) == NUMBER:
                    self.kinds[name] = TEXT
            kind = self.infer_kind(name, value)
            try:
                if fresh and kind == TEXT and not typed and COMMA.fullmatch(str(value)):
                    raise ValueError(
                        f"{abbreviated(value)} looks like a number with a comma: write numbers as "
                        "1234.5, or, if it is a code, name its column in --text"
                    )
                taken.append(_fitting(kind, value, typed=typed))
            except ValueError as refused:
                for column in inferred:  # nothing is inferred from a bad row
                    del self.kinds[column]
                self.skip(place, str(refused), name)
                return None
        return taken

    def missing(self, value: object) -> bool:
        """Whether there is no value."""
        if value is None:
            return True
        if isinstance(value, str):
            return value in self.words
        return isinstance(value, float) and math.isnan(value) and "NaN" in self.words


def kind_of_text(value: str) -> str:
    """What a piece of text is.

    >>> [kind_of_text(v) for v in ("1e3", "2024-02-29T12:00", "red")]
    ['number', 'time', 'text']
    """
    if NUMERIC.fullmatch(value):
        return NUMBER
    return TIME if ISO.fullmatch(value) else TEXT


def _fitting(kind: str, value: object, *, typed: bool) -> float | str:
    """The value as its column has it, or the reason why it cannot be."""
    if kind == NUMBER:
        return number_in(value, typed=typed)
    if kind == OTHER:
        raise ValueError(f"{abbreviated(value)} is neither a number nor text")
    if not isinstance(value, str):
        what = "times" if kind == TIME else "text"
        raise ValueError(f"{abbreviated(value)} in a column of {what}")  # noqa: TRY004  # a bad row
    if kind == TIME and not ISO.fullmatch(value):
        raise ValueError(
            f"{abbreviated(value)} in a column of times: write them as 2024-02-29T12:00"
        )
    return value


def number_in(value: object, *, typed: bool) -> float:
    """A finite float64, exactly what was written.

    >>> number_in("2.5", typed=False)
    2.5
    """
    if isinstance(value, str) and not typed and NUMERIC.fullmatch(value):
        taken = float(value)
    elif isinstance(value, bool | int | float):
        try:
            taken = float(value)
        except OverflowError:
            taken = math.inf
        if isinstance(value, int) and taken != value:
            raise ValueError(f"{abbreviated(value)} is a whole number that float64 cannot hold")
    else:
        raise ValueError(f"{abbreviated(value)} in a column of numbers")  # a bad row
    if not math.isfinite(taken):
        raise ValueError(f"{abbreviated(value)} is not a finite number")
    return taken
