"""Streams of every kind, in bounded memory: files, pipes and queries become blocks of rows.

    data.csv data.csv.gz data.tsv     CSV, any delimiter, gzip or not
    data.parquet  data.arrow          Parquet; Arrow files and streams (.feather, .ipc)
    data.jsonl                        JSON lines (.ndjson)
    data.npz                          NumPy arrays of one length
    data.svm                          libsvm text (.libsvm, .svmlight)
    -                                 standard input, as it arrives
    sqlite:file.db  duckdb:file.db    with a query

What the cells mean is in block.py, how columns become features in encoding.py.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from noregret.errors import SourceError
from noregret.sources.block import WORDS, Block, Reading
from noregret.sources.delimited import read_delimited
from noregret.sources.lines import chunks_of_file, chunks_of_pipe, whole_lines
from noregret.sources.objects import read_json_lines, read_libsvm
from noregret.sources.prefetch import prefetch
from noregret.sources.queries import read_query
from noregret.sources.tables import read_arrow, read_npz, read_parquet

__all__ = ["FORMATS", "Block", "Source"]

FORMATS = {
    "csv": (".csv", ".tsv", ".txt", ".tab", ".dat"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc", ".arrows"),
    "jsonl": (".jsonl", ".ndjson"),
    "npz": (".npz",),
    "libsvm": (".svm", ".libsvm", ".svmlight"),
}
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
            text=tuple(self.text),
        )

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
        reading = reading or self.reading()
        found = self._blocks(reading)
        # Bad rows are counted where they are read, and a state file must not count ahead.
        if self.live or self.skip_bad or self.database:
            return found
        return prefetch(found, reading.waiting)

    def _blocks(self, reading: Reading) -> Iterator[Block]:
        if self.database:
            if not self.query:
                raise SourceError(f"{self.data}: say which rows with --query")
            place = self.data.partition(":")[2]
            yield from read_query(self.database, place, self.query, reading)
            return
        if self.query:
            raise SourceError(
                f"{self.data}: a query needs a database: give sqlite:FILE or duckdb:FILE"
            )
        kind, path = self.kind(), Path(self.data)
        if not self.live and not path.is_file():
            if not path.exists():
                raise SourceError(f"{self.data}: there is no such file")
            what = "a folder" if path.is_dir() else "no plain file: pipe it in, and give -"
            raise SourceError(f"{self.data} is {what}")
        if self.live and sys.stdin is None:
            raise SourceError("standard input is closed")
        if kind in ("parquet", "arrow", "npz"):
            if self.live:
                raise SourceError(f"{kind} cannot be read from a pipe: give a file")
            tables = {"parquet": read_parquet, "arrow": read_arrow, "npz": read_npz}
            yield from tables[kind](path, reading)
            return
        stream = sys.stdin.buffer if self.live else None
        chunks = chunks_of_pipe(stream, reading) if stream else chunks_of_file(path, reading)
        lines = whole_lines(chunks, reading, quoted=kind == "csv")
        if kind == "csv":
            yield from read_delimited(lines, reading, self._delimiter(), self.names)
        else:
            yield from (read_json_lines if kind == "jsonl" else read_libsvm)(lines, reading)

    def _delimiter(self) -> str | None:
        if self.delimiter is None:
            tabs = self.data.lower().removesuffix(".gz").endswith((".tsv", ".tab"))
            return "\t" if tabs else None
        taken = {"\\t": "\t", "tab": "\t", "space": " "}.get(self.delimiter, self.delimiter)
        if len(taken) != 1 or taken in '"\r\n' or not taken.isascii():
            raise SourceError(f"delimiter {self.delimiter!r}: give one character, or tab")
        return taken
