"""Streams of every kind, in bounded memory: files, pipes and queries become blocks of rows.

    data.csv data.csv.gz data.tsv     CSV, any delimiter, gzip or not
    data.parquet  data.arrow          Parquet; Arrow files and streams (.feather, .ipc)
    data.jsonl                        JSON lines (.ndjson)
    data.npz                          NumPy arrays of one length
    data.svm                          libsvm text (.libsvm, .svmlight)
    data.xlsx                         a sheet of an Excel workbook, the first if none is named
    -                                 standard input, as it arrives
    sqlite:file.db  duckdb:file.db    with a query

What cells mean is in cells.py and dates.py, what columns are in survey.py, how they become features
in encoding.py.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

from noregret.errors import SourceError
from noregret.sources.block import Block, Reading
from noregret.sources.cells import WORDS, Numbers
from noregret.sources.dates import format_of
from noregret.sources.dialect import decoded, encoding_of, known_as
from noregret.sources.lines import Lines, chunks_of_file, chunks_of_pipe, unpacked, whole_lines
from noregret.sources.survey import Declared

__all__ = ["FORMATS", "Block", "Source", "near"]

FORMATS = {
    "csv": (".csv", ".tsv", ".txt", ".tab", ".dat"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc", ".arrows"),
    "jsonl": (".jsonl", ".ndjson", ".json"),
    "npz": (".npz",),
    "libsvm": (".svm", ".libsvm", ".svmlight"),
    "excel": (".xlsx", ".xlsm"),
}
TABLES = ("parquet", "arrow", "npz", "excel")
DATABASES = ("sqlite", "duckdb")


@dataclass(frozen=True, slots=True)
class Source:
    r"""Where rows come from; `blocks` reads them once.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "data.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("a,colour,y\n1,red,2\n3,blue,4\n")
    ...     block, = Source(path).blocks()
    >>> block.columns["a"], block.columns["colour"], block.places
    (array([1., 3.]), ['red', 'blue'], array([2, 3]))
    """

    data: str
    format: str | None = None
    delimiter: str | None = None
    names: Sequence[str] | None = None
    query: str | None = None
    missing_words: Sequence[str] = ()
    text: Sequence[str] = ()  # columns that are text whatever they look like
    skip_bad: int = 0
    encoding: str | None = None  # of text; else UTF-8, or UTF-16 by its first bytes
    decimal: str | None = None
    thousands: str | None = None
    date_format: str | None = None
    skip_lines: int = 0  # above the header of CSV
    sheet: str | None = None  # of an Excel workbook; else the first that has rows

    @property
    def database(self) -> str | None:
        """The kind of database, if it is one."""
        kind, colon, _ = self.data.partition(":")
        return kind if colon and kind in DATABASES else None

    @property
    def live(self) -> bool:
        """Whether rows arrive while they are read."""
        return self.data == "-"

    @property
    def key(self) -> str:
        """What tells this source from another when a run is resumed; empty for a pipe."""
        if self.live:
            return ""
        if self.database:
            return f"{self.data} {self.query}"
        return str(Path(self.data).resolve())

    @property
    def headed(self) -> bool:
        """Whether the first line names the columns."""
        return self.kind() == "csv" and self.names is None and not self.database

    def reading(self) -> Reading:
        """A reading that has read nothing."""
        text = self.kind() in ("csv", "jsonl", "libsvm") and not self.database
        return Reading(
            "standard input" if self.live else self.data,
            unit="line" if text else "row",
            allowed=self.skip_bad,
            words=frozenset((*WORDS, *self.missing_words)),
            kinds=dict.fromkeys(self.text, "text"),
            declared=self._declared(),
            skip_lines=self.skip_lines,
        )

    def _declared(self) -> Declared:
        """What was said about how cells are written, or the reason why it makes no sense."""
        numbers = None
        for option in ("decimal", "thousands"):
            mark = getattr(self, option)
            if mark and (len(mark) != 1 or mark.isalnum() or mark in '+-"\r\n'):
                raise SourceError(f"--{option} {mark}: give one character, such as , or .")
        if self.decimal or self.thousands:
            decimal = self.decimal or ("," if self.thousands == "." else ".")
            if decimal == self.thousands:
                raise SourceError(f"--decimal and --thousands are both {decimal!r}: give two")
            numbers = Numbers(decimal, self.thousands or "")
        try:
            dates = format_of(self.date_format) if self.date_format else None
            encoding_of(self.encoding)
        except ValueError as wrong:
            raise SourceError(str(wrong)) from None
        return Declared(numbers, dates, tuple(self.text))

    def kind(self) -> str:
        """The format: as given, or by the name of the file."""
        if self.format is not None:
            if self.format not in FORMATS:
                raise SourceError(f"format {self.format!r}: give one of {', '.join(FORMATS)}")
            return self.format
        name = self.data.lower().removesuffix(".gz")
        for kind, endings in FORMATS.items():
            if name.endswith(endings):
                return kind
        return "csv"

    def blocks(self, reading: Reading | None = None) -> Iterator[Block]:
        """The rows, a block at a time; an error says where."""
        from noregret.sources.prefetch import prefetch

        reading = reading or self.reading()
        found = self._blocks(reading)
        # Bad rows are counted where they are read, and a state file must not count ahead.
        if self.live or self.skip_bad or self.database:
            return found
        return prefetch(found, reading.waiting)

    def _blocks(self, reading: Reading) -> Iterator[Block]:
        self.require()
        if self.database:
            from noregret.sources.queries import read_query

            place = self.data.partition(":")[2]
            yield from read_query(self.database, place, self.query or "", reading)
            return
        kind, path = self.kind(), Path(self.data)
        if kind in TABLES:
            from noregret.sources import excel, tables

            if kind == "excel":
                yield from excel.read_excel(path, reading, self.sheet)
                return
            readers = {"parquet": tables.read_parquet, "arrow": tables.read_arrow}
            readers |= {"npz": tables.read_npz}
            yield from readers[kind](path, reading)
            return
        lines = self._lines(reading)
        if kind == "csv":
            from noregret.sources.delimited import SAMPLE, read_delimited

            sample = 0 if self.live else SAMPLE
            yield from read_delimited(lines, reading, self._delimiter(), self.names, sample=sample)
        else:
            from noregret.sources.objects import read_json_lines, read_libsvm

            yield from (read_json_lines if kind == "jsonl" else read_libsvm)(lines, reading)

    def _lines(self, reading: Reading) -> Iterator[Lines]:
        stream = sys.stdin.buffer if self.live else None
        path = Path(self.data)
        chunks = chunks_of_pipe(stream, reading) if stream else chunks_of_file(path, reading)
        text = decoded(unpacked(chunks, reading), encoding_of(self.encoding), reading)
        return whole_lines(text, reading, quoted=self.kind() == "csv")

    def require(self) -> None:
        """Refuse what cannot be read, by a look at names and first bytes."""
        if self.database:
            if not self.query:
                raise SourceError(f"{self.data}: say which rows with --query")
            return
        if self.query:
            raise SourceError(
                f"{self.data}: a query needs a database: give sqlite:FILE or duckdb:FILE"
            )
        kind, path = self.kind(), Path(self.data)
        if self.sheet is not None and kind != "excel":
            raise SourceError(f"{self.data}: --sheet {self.sheet} is for Excel workbooks")
        if self.live:
            if sys.stdin is None:
                raise SourceError("standard input is closed")
            if kind in TABLES:
                raise SourceError(f"{kind} cannot be read from a pipe: give a file")
            return
        if not path.is_file():
            if not path.exists():
                raise SourceError(f"{self.data}: there is no such file{near(path)}")
            what = "a folder" if path.is_dir() else "no plain file: pipe it in, and give -"
            raise SourceError(f"{self.data} is {what}")
        if kind not in TABLES:
            with self.reading().readable(), path.open("rb") as file:
                found = known_as(file.read(16), self.data)
            if found:
                raise SourceError(f"{self.data}: {found}")

    def peek(self, reading: Reading) -> Block | None:
        """The first rows, read as all of them will be; None where that would take long.

        `reading.complete` says whether they are all.
        """
        self.require()
        if self.live or self.database or self.kind() == "excel":
            return None
        if self.kind() in TABLES:
            return next(self._blocks(reading), None)
        from noregret.sources.delimited import SAMPLE, first_rows
        from noregret.sources.objects import read_json_lines, read_libsvm

        if self.kind() == "csv":
            return first_rows(self._lines(reading), reading, self._delimiter(), self.names)
        read = read_json_lines if self.kind() == "jsonl" else read_libsvm
        start = (
            (text[: text.rfind(b"\n", 0, SAMPLE) + 1] or text, *more)
            for text, *more in self._lines(reading)
        )
        return next(read(start, reading), None)  # type: ignore[arg-type]

    def _delimiter(self) -> str | None:
        if self.delimiter is None:
            tabs = self.data.lower().removesuffix(".gz").endswith((".tsv", ".tab"))
            return "\t" if tabs else None
        taken = {"\\t": "\t", "tab": "\t", "space": " "}.get(self.delimiter, self.delimiter)
        if len(taken) != 1 or taken in '"\r\n' or not taken.isascii():
            raise SourceError(f"delimiter {self.delimiter!r}: give one character, or tab")
        return taken


def near(path: Path) -> str:
    """A file beside it whose name is much the same, as a suggestion."""
    try:
        beside = [one.name for one in islice(path.parent.iterdir(), 5_000)]
    except OSError:
        return ""
    close = get_close_matches(path.name, beside, 1, 0.7)
    return f"; did you mean {path.with_name(close[0])}?" if close else ""
