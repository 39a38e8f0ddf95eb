"""Forecasts on their way out: CSV, Parquet, JSON lines, standard output."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np

from noregret.errors import ParameterError
from noregret.learner.replay import module
from noregret.sources.block import NUMBER, kind_of_text

__all__ = ["Lines", "Output", "Parquet", "named", "open_output", "placed"]

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # how a cell begins that a spreadsheet works out


class Output(Protocol):
    """Where forecasts go."""

    def write(self, columns: dict[str, Any]) -> None:
        """Some rows, by column."""
        ...

    def mark(self) -> dict[str, Any] | None:
        """How far it is on the disk; None where no run can go on with it."""
        ...

    def close(self) -> None:
        """All is written."""
        ...


class Nowhere:
    """Nobody asked for forecasts."""

    def mark(self) -> None:
        """There is no place."""

    def write(self, columns: dict[str, Any]) -> None:
        """Forget them."""

    def close(self) -> None:
        """Nothing to do."""


class Lines:
    """CSV or JSON lines, to a file or to standard output, handed over after every piece."""

    def __init__(self, file: IO[bytes], kind: str, *, header: bool) -> None:
        self.file, self.kind, self.header = file, kind, header
        self.polars = module("polars", "writing forecasts")

    def write(self, columns: dict[str, Any]) -> None:
        """Append; numbers are written so that they read back as they were."""
        if self.kind == "csv":
            columns = {
                name: list(map(harmless, values)) if isinstance(values, list) else values
                for name, values in columns.items()
            }
        frame = self.polars.DataFrame(
            {name: _series(self.polars, values) for name, values in columns.items()}
        )
        if self.kind == "csv":
            text = frame.write_csv(include_header=self.header)
            self.header = False
        else:
            text = frame.write_ndjson()
        self._put(text.encode())

    def mark(self) -> dict[str, Any] | None:
        """A stream has no place to go back to."""
        return None

    def _put(self, text: bytes) -> None:
        self.file.write(text)
        self.file.flush()

    def close(self) -> None:
        """Let the file go."""
        if sys.stdout is None or self.file is not sys.stdout.buffer:
            self.file.close()


class Parquet:
    """A Parquet file, some ten thousand rows to a group."""

    ROWS = 1 << 16

    def __init__(self, path: Path) -> None:
        self.path = path
        self.writer: Any = None
        self.arrow = module("pyarrow", "writing Parquet")
        self.parquet = module("pyarrow.parquet", "writing Parquet")
        self.held: list[Any] = []

    def write(self, columns: dict[str, Any]) -> None:
        """Hold rows until there are enough of them for a group."""
        arrays = {
            name: self.arrow.array(values, from_pandas=True) for name, values in columns.items()
        }
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

    def mark(self) -> None:
        """Without its footer it is nothing."""

    def close(self) -> None:
        """Write what is held, and the footer."""
        self._flush()
        if self.writer is not None:
            self.writer.close()


def harmless(text: Any) -> Any:
    """Text for a cell of CSV that no spreadsheet takes for a formula; numbers stay as they are.

    >>> [harmless(text) for text in ("=1+1", "@a", "-3.5", "+1e3", "2024-02-29", "-3.5+cmd()")]
    ["'=1+1", "'@a", '-3.5', '+1e3', '2024-02-29', "'-3.5+cmd()"]
    """
    formula = isinstance(text, str) and text.startswith(FORMULA) and kind_of_text(text) != NUMBER
    return f"'{text}" if formula else text


def _series(polars: Any, values: Any) -> Any:
    if isinstance(values, np.ndarray) and values.dtype == np.float64:
        return polars.Series(values).fill_nan(None)
    return polars.Series(values, dtype=None if isinstance(values, np.ndarray) else polars.String)


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
        return Nowhere()
    if place == "-":
        if kind == "parquet":
            raise ParameterError("--out - writes CSV or JSON lines: Parquet needs a file")
        if sys.stdout is None:
            raise ParameterError("--out -: standard output is closed")
        return Lines(sys.stdout.buffer, kind or "csv", header=True)
    path, kind = placed(place, kind)
    if kind == "parquet":
        return Parquet(path)
    return Lines(path.open("wb"), kind, header=True)


def placed(place: str, kind: str | None) -> tuple[Path, str]:
    """A file for forecasts and its format, given or by its name."""
    path = Path(place)
    endings = {".csv": "csv", ".parquet": "parquet", ".pq": "parquet", ".jsonl": "jsonl"}
    kind = kind or endings.get(path.suffix.lower())
    if kind is None:
        raise ParameterError(f"--out {place}: end it in .csv, .parquet or .jsonl, or take - ")
    if not path.parent.is_dir():
        raise ParameterError(f"--out {place}: there is no such folder")
    return path, kind
