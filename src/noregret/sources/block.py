"""What every source yields: blocks of rows whose columns are numbers, text or times.

The rules, the same for every format and however the rows are cut into blocks:

- a column's kind is found from a sample of its values (survey.py), a column that has none in the
  sample goes by its first one; a value that does not fit makes its row a bad one
- a value is missing if it is null, absent, empty, or one of the words for it ("NA", "NaN", "-")
- infinities are invalid: a row with one is bad
- booleans count as 0 and 1; whole numbers must fit in float64
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any

import numpy as np
import numpy.typing as npt

from noregret.errors import SourceError, abbreviated
from noregret.sources.cells import (
    ISO,
    NUMBER,
    NUMERIC,
    OTHER,
    TEXT,
    TIME,
    WORDS,
    Numbers,
    kind_of_text,
    unbracketed,
)
from noregret.sources.dates import Dates, dates_like
from noregret.sources.fitting import fitted
from noregret.sources.survey import Declared, Found, Style, rows_of, survey, unit_of
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
]

Column = Vector | list[str | None]
"""The values of a column: numbers, NaN where missing, or text, None where missing."""
INDEX = re.compile(r"Unnamed: 0(\.\d+)?|__index_level_\d+__")  # as pandas writes and reads them
FEW = 10  # rows that do not show yet that a column is empty
Gaps = npt.NDArray[np.bool_]
"""Where a column has no value."""


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
    delimiter: str = ""  # of CSV
    said: str = ""  # what was chosen where there was a choice
    skip_lines: int = 0  # above the header of CSV
    header: str = ""  # where it seems to be, if not where it was looked for, and the remedy
    empty: frozenset[str] = frozenset()  # columns without a value in the whole sample
    declared: Declared = field(default_factory=Declared)  # what was said about columns
    styles: dict[str, Style] = field(default_factory=dict)  # where a kind is written in its own way
    found: dict[str, Found] = field(default_factory=dict)  # what a sample says of columns
    unused: dict[str, str] = field(default_factory=dict)  # columns that are no features, and why
    complete: bool = False  # a look at the first rows saw all of them
    past: int = 0  # the last line or row that an earlier run took
    bad: int = 0
    first: str = ""  # what was wrong with the first bad row
    spread: str = ""  # where a cell goes on for many lines, and what that may mean
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
            if self.allowed:
                message = message.replace("--skip-bad 1", f"--skip-bad {self.bad + 1}")
                message += f" (bad row number {self.bad + 1}, {self.allowed} tolerated)"
            raise SourceError(message)
        self.bad += 1
        self.first = self.first or message

    def fail(self, complaint: str, number: int | None = None) -> SourceError:
        """An error that no tolerance helps against."""
        return SourceError(f"{self.name if number is None else self.place(number)}: {complaint}")

    @contextmanager
    def readable(self) -> Iterator[None]:
        """Say which file it is that cannot be opened or read."""
        try:
            yield
        except OSError as problem:
            raise self.fail(f"cannot be read: {problem.strerror or problem}") from None

    def name_columns(self, names: Sequence[str], number: int | None = None) -> None:
        """Take the names of the columns: each has one, and no two the same."""
        names = self.names = list(names)
        if number is not None and len(names) > 1:
            self._name_edges(names)
        for name in names:
            if INDEX.fullmatch(name):
                self.unused[name] = "is the index of a frame"
        for i, name in enumerate(names):
            if not name:
                where = "" if number is None else " of the header"
                raise self.fail(f"column {i + 1}{where} has no name{self.header}", number)
            if name in self.names[:i]:
                first = self.names.index(name) + 1
                complaint = f"columns {first} and {i + 1} are both called {abbreviated(name)}"
                complaint += self.header
                raise self.fail(complaint, number)

    def _name_edges(self, names: list[str]) -> None:
        """Name a first column without a name, as `df.to_csv()` writes, and one after the last."""
        if not names[0]:
            free = ("index", *(f"index {k}" for k in range(2, len(names) + 2)))
            names[0] = next(name for name in free if name not in names)
            self.unused[names[0]] = "has no name and comes first: taken for the index of the rows"
        if not names[-1] and f"column {len(names)}" not in names:
            names[-1] = f"column {len(names)}"
            self.unused[names[-1]] = "has no name"

    def uses(self, column: str) -> bool:
        """Whether a column is read; what is in the others does not matter."""
        return self.wanted is None or column in self.wanted

    def survey(
        self, names: Sequence[str], rows: Iterable[tuple[int, Sequence[object]]], *, typed: bool
    ) -> None:
        """Find the kinds of columns from a sample of rows; those that are known stay."""
        unknown = [j for j, n in enumerate(names) if self.uses(n) and n not in self.kinds]
        if not unknown:
            return
        cells: dict[str, list[tuple[int, Any]]] = {names[j]: [] for j in unknown}
        rows = iter(rows)
        for place, row in islice(rows, rows_of(names)):
            for j in unknown:
                given = row[j]
                value = given.strip() if isinstance(given, str) else given
                if not self.missing(value):
                    cells[names[j]].append((place, value))
        texts = {n: c for n, c in cells.items() if all(isinstance(v, str) for _, v in c)}
        for name, found in survey(
            texts, self.declared, typed=typed, delimiter=self.delimiter
        ).items():
            self.take(name, found)
        if undecided := [n for n in texts if n in self.found and self.found[n].open_order]:
            more = {n: [text for _, text in texts[n]] for n in undecided}
            for _, row in rows:  # a day beyond 12 may come later
                for name in undecided:
                    more[name].append(str(row[names.index(name)]).strip())
            for name in undecided:
                known = [text for text in more[name] if not self.missing(text)]
                dates = dates_like(known)
                if dates is not None and not dates.other:
                    self.take(name, Found(TIME, dates))
        for name in cells.keys() - texts.keys():
            self.count_from_1970(name, [value for _, value in cells[name]])

    def take(self, name: str, found: Found) -> None:
        """A column is what a sample says."""
        self.found[name], self.kinds[name] = found, found.kind
        if found.style is not None:
            self.styles[name] = found.style
        if found.unique and name not in self.unused:
            self.unused[name] = found.unique

    def undecided(self, name: str) -> str:
        """What must be said before the cells of a column can be read; nothing if all is clear."""
        if name in self.found:
            return self.found[name].open
        style = self.styles.get(name)
        open_order = isinstance(style, Dates) and bool(style.other)
        return "days or months come first: give --date-format d/m/Y or m/d/Y" if open_order else ""

    def count_from_1970(self, name: str, values: Sequence[object]) -> bool:
        """Whether a column of numbers is times, by its name and its values."""
        numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
        whole = len(numbers) == len(values)
        unit = unit_of(name, numbers, self.declared) if whole else None
        if unit is not None:
            self.take(name, Found(TIME, Dates(unit)))
        return unit is not None

    def note_empty(self, block: Block) -> None:
        """Remember which columns have no value in the first rows of a table, if these are some."""
        if len(block) > FEW:
            gaps = {name: block.gaps(name) for name in block.columns}
            self.empty = frozenset(n for n, gap in gaps.items() if gap is not None and gap.all())

    def yearly(self, name: str | None) -> bool:
        """Whether a column's times are years, as 1984."""
        style = self.styles.get(name or "")
        return isinstance(style, Dates) and style.form == "year"

    def converted(self, name: str, texts: list[str | None]) -> Column | None:
        """The cells of a column with a style; None if one of them is odd."""
        style, known = self.styles[name], [text for text in texts if text is not None]
        if isinstance(style, Numbers) and len(known) == len(texts):
            found = style.read_all(known)
            return None if found is None or math.inf in map(abs, found) else np.array(found)
        read: list[Any] = [None if text is None else style.read(text) for text in texts]
        if any(value is None and text is not None for value, text in zip(read, texts)):
            return None
        if self.kinds[name] != NUMBER:
            return read
        numbers = np.array([math.nan if v is None else v for v in read], dtype=np.float64)
        return None if np.isinf(numbers).any() else numbers

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
        sample = list(islice(iter(rows := iter(rows)), rows_of(names)))
        self.survey(names, sample, typed=typed)
        rows = chain(sample, rows)
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
            if name not in self.kinds:
                inferred.append(name)
                if typed and isinstance(value, str) and kind_of_text(value) == NUMBER:
                    self.kinds[name] = TEXT
            kind = self.infer_kind(name, value)
            if kind == NUMBER and not typed and isinstance(value, str) and value[-1] == ")":
                self._bracketed(name, value)
            try:
                taken.append(fitted(kind, value, self.styles.get(name), typed=typed))
            except ValueError as refused:
                for column in inferred:  # nothing is inferred from a bad row
                    del self.kinds[column]
                if self._worded(names, row):
                    self.skip(place, "no number in this row (units?): --skip-bad 1 leaves it out")
                else:
                    self.skip(place, f"{refused}{self._remedy(name, value, typed=typed)}", name)
                return None
        return taken

    def _bracketed(self, name: str, value: str) -> None:
        """Read numbers of a column in brackets as negative from the first one on."""
        style = self.styles.get(name, Numbers())
        if isinstance(style, Numbers) and not style.brackets and unbracketed(value) != value:
            self.styles[name] = replace(style, brackets=True)

    def _worded(self, names: Sequence[str], row: Sequence[object]) -> bool:
        """Whether a row has words in all columns of numbers and times that it has a cell in."""
        used = [n for n in names if self.kinds.get(n) in (NUMBER, TIME)]
        cells = [c.strip() for n, c in zip(names, row) if n in used and isinstance(c, str)]
        filled = [cell for cell in cells if not self.missing(cell)]
        return len(filled) > 1 and not any(re.search(r"\d{2}|^\W*\d", cell) for cell in filled)

    def _remedy(self, name: str, value: object, *, typed: bool) -> str:
        """What helps against a value that does not fit its column."""
        if self.kinds.get(name) == TIME:
            return "; --skip-bad 1 leaves the row out"
        if not isinstance(value, str) or self.kinds.get(name, NUMBER) != NUMBER or typed:
            return ""
        style = self.styles.get(name)
        if NUMERIC.fullmatch(value) and not (isinstance(style, Numbers) and style.unit):
            return ""
        mixed = self.found[name].counts if name in self.found else ""
        word = shlex.quote(value) if len(value) <= 20 and value.isprintable() else "WORD"
        counts = f" ({mixed})" if mixed else ""
        return f"{counts}: give --na {word} if it means missing, --skip-bad 1, or --text"

    def missing(self, value: object) -> bool:
        """Whether there is no value."""
        if value is None:
            return True
        if isinstance(value, str):
            return value in self.words
        return isinstance(value, float) and math.isnan(value) and "NaN" in self.words
