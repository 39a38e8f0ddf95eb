"""Forecasts on their way out: CSV, Parquet, JSON lines, standard output."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import IO, TYPE_CHECKING

from noregret.cli.endings import ending
from noregret.cli.plain_text import csv_text, json_lines
from noregret.declare.extras import module, optional
from noregret.errors import ParameterError
from noregret.sources.block import NUMBER, Column, kind_of_text
from noregret.types import Integers

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet as pq

__all__ = ["Lines", "Mark", "Output", "Parquet", "Written", "named", "open_output", "placed"]

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # how a cell begins that a spreadsheet works out
Mark = dict[str, str | int]
"""How far an output was: path, kind, length and sha256."""
Written = Column | Integers
"""A column on its way out."""


class Output:
    """Where forecasts go; by itself, nowhere."""

    resumed = False  # whether there were forecasts of an earlier run in it

    def write(self, columns: dict[str, Written]) -> None:
        """Some rows, by column."""

    def mark(self) -> Mark | None:
        """How far it is on the disk; None where no run can go on with it."""
        return None

    def close(self) -> None:
        """All is written."""


class Lines(Output):
    """CSV or JSON lines, to a file or to standard output, handed over after every piece."""

    def __init__(self, file: IO[bytes], kind: str, *, header: bool) -> None:
        self.file, self.kind, self.header = file, kind, header
        self.polars = optional("polars")  # many rows are faster with it

    def write(self, columns: dict[str, Written]) -> None:
        """Append; numbers are written so that they read back as they were."""
        if self.kind == "csv":
            columns = {name: _harmless(values) for name, values in columns.items()}
        polars = self.polars
        text = self._text(columns) if polars is None else self._by_polars(polars, columns)
        self._put(text.encode())
        self.header = False

    def _text(self, columns: dict[str, Written]) -> str:
        if self.kind == "csv":
            return csv_text(columns, header=self.header)
        return json_lines(columns)

    def _by_polars(self, polars: ModuleType, columns: dict[str, Written]) -> str:
        frame = polars.DataFrame({k: _series(polars, v) for k, v in columns.items()})
        text: str = (
            frame.write_csv(include_header=self.header)
            if self.kind == "csv"
            else frame.write_ndjson()
        )
        return text

    def _put(self, text: bytes) -> None:
        self.file.write(text)
        self.file.flush()

    def close(self) -> None:
        """Let the file go."""
        if sys.stdout is None or self.file is not sys.stdout.buffer:
            self.file.close()


class Begun(Lines):
    """A file that takes the place of the old one with its first row: a refused run leaves that."""

    def __init__(self, path: Path, kind: str) -> None:
        with path.open("ab"):  # a place that cannot be written to is said before anything is read
            pass
        self.path: Path | None = path
        super().__init__(io.BytesIO(), kind, header=True)

    def _put(self, text: bytes) -> None:
        self._begin()
        super()._put(text)

    def _begin(self) -> None:
        if self.path is not None:
            self.file, self.path = self.path.open("wb"), None

    def close(self) -> None:
        """Let the file go."""
        if sys.exc_info()[0] is None:  # without a row it is empty
            self._begin()
        super().close()


class Parquet(Output):
    """A Parquet file, some ten thousand rows to a group."""

    ROWS = 1 << 16

    def __init__(self, path: Path) -> None:
        self.path = path
        self.writer: pq.ParquetWriter | None = None
        self.arrow = module("pyarrow", "writing Parquet")
        self.parquet = module("pyarrow.parquet", "writing Parquet")
        self.held: list[pa.Table] = []

    def write(self, columns: dict[str, Written]) -> None:
        """Hold rows until there are enough of them for a group."""
        arrays = {k: self.arrow.array(values, from_pandas=True) for k, values in columns.items()}
        self.held.append(self.arrow.table(arrays))
        if sum(table.num_rows for table in self.held) >= self.ROWS:
            self._flush()

    def _flush(self) -> None:
        if self.held:
            table = self.arrow.concat_tables(self.held, promote_options="permissive")
            self.held = []
            if self.writer is None:
                self.writer = self.parquet.ParquetWriter(self.path, table.schema)
            self.writer.write_table(table.cast(self.writer.schema))

    def close(self) -> None:
        """Write what is held, and the footer."""
        self._flush()
        if self.writer is not None:
            self.writer.close()


def _series(polars: ModuleType, values: Written) -> pl.Series:
    kind = polars.String if isinstance(values, list) else None
    series: pl.Series = polars.Series(values, dtype=kind)
    return series.fill_nan(None) if series.dtype == polars.Float64 else series


def _harmless(values: Written) -> Written:
    return list(map(harmless, values)) if isinstance(values, list) else values


def harmless(text: str | None) -> str | None:
    """Text for a cell of CSV that no spreadsheet takes for a formula; numbers stay as they are.

    >>> [harmless(text) for text in ("=1+1", "@a", "-3.5", "+1e3", "2024-02-29", "-3.5+cmd()")]
    ["'=1+1", "'@a", '-3.5', '+1e3', '2024-02-29', "'-3.5+cmd()"]
    """
    formula = text is not None and text.startswith(FORMULA) and kind_of_text(text) != NUMBER
    return f"'{text}" if formula else text


@contextmanager
def named(place: str | None) -> Iterator[None]:
    """Say which file it is that cannot be written; that a reader has left is no error."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as problem:
        said = problem.strerror or problem
        raise ParameterError(f"--out {place} cannot be written: {said}") from None


def open_output(place: str | None, kind: str | None) -> Output:
    """Where forecasts go, by name."""
    if place is None:
        return Output()
    if place == "-":
        if kind == "parquet":
            raise ParameterError("--out - writes CSV or JSON lines: Parquet needs a file")
        if sys.stdout is None:
            raise ParameterError("--out -: standard output is closed")
        return Lines(sys.stdout.buffer, kind or "csv", header=True)
    path, kind = placed(place, kind)
    return Parquet(path) if kind == "parquet" else Begun(path, kind)


def placed(place: str, kind: str | None) -> tuple[Path, str]:
    """A file for forecasts and its format, given or by its name."""
    path = Path(place)
    kind = kind or ending(place)
    if not path.parent.is_dir():
        raise ParameterError(f"--out {place}: there is no such folder")
    return path, kind
