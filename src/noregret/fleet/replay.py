"""Rounds of a fleet from frames, batches and files, a piece at a time.

    a frame (pandas, Polars, Arrow)        one call: all of it or nothing
    Arrow batches, whatever streams them   a reader, a relation of DuckDB, a list of batches
    data.parquet data.arrow                typed: whole numbers or texts as keys
    data.csv data.jsonl duckdb:file.db     as `noregret run` reads them; keys are texts

Rows without an outcome are forecast and not learned.  The next piece is read while the last one is
learned, so that memory does not grow with the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from noregret.declare.extras import module
from noregret.errors import InputError, NumericalError, abbreviated, suggestion
from noregret.fleet.keys import Keys, read_keys
from noregret.inputs.values import ReadTable, frame_names, outcome_table, table
from noregret.sources import Source
from noregret.sources.block import Block, Reading
from noregret.sources.encoding import Encoding
from noregret.sources.prefetch import prefetch
from noregret.types import Integers, Matrix, Table, Vector

if TYPE_CHECKING:
    from noregret.fleet.fleet import Fleet

__all__ = ["FleetReplay", "Part", "parts_of_source", "play", "replay"]

ROWS = 1 << 16  # of a Parquet file, at a time


class Part(NamedTuple):
    """Some rows: y is NaN where there is no outcome, places count rows or lines from 1."""

    keys: Keys
    X: Table
    y: Vector
    places: Integers


@dataclass(frozen=True, slots=True, eq=False)
class FleetReplay:
    """What came of a replay; forecasts are kept for a frame, whose rows they are."""

    rows: int
    learned: int
    square_loss: float
    forecast: Vector | None


def replay(
    fleet: Fleet,
    data: Any,
    *,
    key: str,
    target: str,
    features: Sequence[str] | None,
    query: str | None,
    each: Callable[[Part, Vector], object] | None,
) -> FleetReplay:
    """Forecast and learn all rows of `data`, in their order."""
    columns = _Columns(key, target, None if features is None else list(features))
    frame = not isinstance(data, str | Path) and frame_names(data) is not None
    parts = iter([columns.part(data, 0)]) if frame else _parts(data, columns, query)
    rows = learned = 0
    loss, last = 0.0, None
    for part in parts if frame else prefetch(parts):
        last = play(fleet, part)
        met = ~np.isnan(part.y)
        rows, learned = rows + len(part.y), learned + int(met.sum())
        loss += float(((part.y - last)[met] ** 2).sum())
        if each is not None:
            each(part, last)
    return FleetReplay(rows, learned, loss, last if frame else None)


def play(fleet: Fleet, part: Part, bands: tuple[Matrix, Matrix] | None = None) -> Vector:
    """The forecasts of some rows; those that have an outcome are learned.

    `bands` is room for lower and upper ends of intervals, a column for each coverage.
    """
    met = ~np.isnan(part.y)
    forecasts = np.empty(len(part.y))
    cuts = np.flatnonzero(np.diff(met)) + 1
    for a, b in zip([0, *cuts.tolist()], [*cuts.tolist(), len(met)], strict=True):
        if a == b:
            continue
        X = part.X if b - a == len(met) else _cut(part.X, a, b)
        try:
            keys, found = part.keys[a:b], None
            if not met[a]:
                forecasts[a:b] = fleet.predict(keys, X)
                found = None if bands is None else fleet.intervals(keys, X)
            elif bands is None:
                forecasts[a:b] = fleet.round(keys, X, part.y[a:b])
            else:
                forecasts[a:b], found = fleet.round_intervals(keys, X, part.y[a:b])
            if bands is not None and found is not None:
                bands[0][a:b] = np.reshape(found.low, (b - a, -1))
                bands[1][a:b] = np.reshape(found.high, (b - a, -1))
        except (InputError, NumericalError) as wrong:
            raise type(wrong)(
                f"in rows {part.places[a]:,} to {part.places[b - 1]:,}, counted from the first "
                f"of them as row 0: {wrong}"
            ) from None
    return forecasts


def _cut(X: Table, a: int, b: int) -> Table:
    read = table(X)
    return ReadTable(read.rows[a:b], read.names)


class _Columns(NamedTuple):
    """Which columns are what."""

    key: str
    target: str
    features: list[str] | None

    def of(self, names: list[Any]) -> list[Any]:
        """The features, if all columns are there."""
        for name in (self.key, self.target, *(self.features or ())):
            if name not in names:
                known = [n for n in names if isinstance(n, str)]
                raise InputError(
                    f"there is no column {name!r}{suggestion(name, known)}: "
                    f"the columns are {abbreviated(names)}"
                )
        if self.features is not None:
            return self.features
        return [name for name in names if name not in (self.key, self.target)]

    def part(self, frame: Any, done: int) -> Part:
        """A frame or a batch of Arrow."""
        features = self.of(frame_names(frame) or [])
        y = np.asarray(frame[self.target])
        if y.dtype.kind != "f":  # exact, or it is said why not
            y = outcome_table(y, len(y))[0][:, 0]
        chosen = frame.select(features) if hasattr(frame, "select") else frame[features]
        keys, X = read_keys(frame[self.key]), table(chosen)
        return Part(keys, X, y.astype(np.float64), np.arange(done + 1, done + 1 + len(y)))


def _parts(data: Any, columns: _Columns, query: str | None) -> Iterator[Part]:
    done = 0
    if isinstance(data, str | Path):
        source = Source(str(data), query=query, text=(columns.key,))
        if source.database or source.kind() not in ("parquet", "arrow"):
            reading, encoding = (
                source.reading(),
                Encoding(columns.target, columns.features, drop=[columns.key], late="learn"),
            )
            yield from parts_of_source(source, reading, encoding, columns.key)
            return
        source.require()
        data = _batches(Path(data), source.kind(), columns)
    elif hasattr(data, "__arrow_c_stream__"):
        data = module("pyarrow", "reading what streams Arrow").RecordBatchReader.from_stream(data)
    elif not isinstance(data, Iterable):
        raise InputError(f"data = {abbreviated(data)}: give a frame, batches, or a file's name")
    for batch in data:
        yield columns.part(batch, done)
        done += len(batch)


def _batches(path: Path, kind: str, columns: _Columns) -> Iterator[Any]:
    if kind == "arrow":
        dataset = module("pyarrow.dataset", "reading Arrow").dataset(path, format="ipc")
        yield from dataset.to_batches(batch_size=ROWS)
        return
    with module("pyarrow.parquet", "reading Parquet").ParquetFile(path) as file:
        names = file.schema_arrow.names
        used = [columns.key, columns.target, *columns.of(names)]
        yield from file.iter_batches(batch_size=ROWS, columns=used)


def parts_of_source(
    source: Source, reading: Reading, encoding: Encoding, key: str
) -> Iterator[Part]:
    """A file as `noregret run` reads it: bad rows are named or left out, text is one-hot."""
    if encoding.features is not None:
        reading.wanted = frozenset((*(encoding.wanted() or ()), key))
    for block in source.blocks(reading):
        if key not in block.columns:
            raise reading.fail(f"there is no column {key!r}{suggestion(key, reading.names)}")
        named = _named(block, reading, key)
        keys = named.columns[key]
        for piece in encoding.pieces(named, reading):
            at = np.searchsorted(named.places, piece.places)
            yield Part([keys[i] for i in at.tolist()], piece.frame, piece.y, piece.places)
    encoding.finish(reading)


def _named(block: Block, reading: Reading, key: str) -> Block:
    """The rows that have a key; one without is a bad row."""
    gaps = block.gaps(key)
    if gaps is None:
        return block
    for place in block.places[gaps].tolist():
        reading.skip(place, "the value is missing: every row needs its key", key)
    return block.kept(~gaps)
