"""Tables that have types: Parquet, Arrow, NumPy's .npz."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from noregret._native.layout import EXACT_INTEGER
from noregret.declare.extras import module
from noregret.errors import SourceError, abbreviated
from noregret.sources.block import NUMBER, OTHER, TEXT, TIME, Block, Column, Gaps, Reading
from noregret.sources.survey import rows_of
from noregret.types import Vector

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ROWS", "batches", "damaged", "read_arrow", "read_npz", "read_parquet"]

Cells = npt.NDArray[np.generic]
ROWS = 1 << 14  # rows at a time
ODD = (
    *(OSError, ValueError, TypeError, LookupError, EOFError, ArithmeticError, MemoryError),
    *(zlib.error, NotImplementedError, SyntaxError, AttributeError, UserWarning),
)
"""What reading a file that is not what it says can raise."""


def read_parquet(path: Path, reading: Reading) -> Iterator[Block]:
    """Row groups, some rows at a time."""
    parquet, arrow = module("pyarrow.parquet", "reading Parquet"), module("pyarrow", "Parquet")
    with (
        damaged(reading, arrow.ArrowException),
        parquet.ParquetFile(path, page_checksum_verification=True) as file,
    ):
        reading.name_columns(file.schema_arrow.names)
        used = [name for name in reading.names if reading.uses(name)]
        yield from batches(file.iter_batches(batch_size=ROWS, columns=used), reading)


def read_arrow(path: Path, reading: Reading) -> Iterator[Block]:
    """An Arrow file (Feather 2), or an Arrow stream."""
    ipc, arrow = module("pyarrow.ipc", "reading Arrow"), module("pyarrow", "reading Arrow")
    with damaged(reading, arrow.ArrowException), arrow.memory_map(str(path)) as file:
        magic = file.read(6)
        file.seek(0)
        if magic == b"ARROW1":
            reader = ipc.open_file(file)
            found = (reader.get_batch(i) for i in range(reader.num_record_batches))
        else:
            reader = ipc.open_stream(file)
            found = iter(reader)
        reading.name_columns(reader.schema.names)
        yield from batches(found, reading)


@contextmanager
def damaged(reading: Reading, *kinds: type[Exception]) -> Iterator[None]:
    """Whatever a damaged table makes a library raise is an error in that file."""
    caught: tuple[type[Exception], ...] = (*kinds, *ODD)
    try:
        yield
    except SourceError:
        raise
    except caught as problem:
        said = " ".join(str(problem).split())[:300] or type(problem).__name__
        raise reading.fail(said) from None


def batches(found: Iterable[pa.RecordBatch], reading: Reading) -> Iterator[Block]:
    """Record batches of Arrow as blocks."""
    done = 0
    for batch in found:
        for start in range(0, batch.num_rows, ROWS):
            part = batch.slice(start, ROWS)
            part.validate(full=True)  # a damaged file can hold anything
            block = _block(part, done, reading)
            if not done:
                reading.note_empty(block)
            yield block
            done += part.num_rows


def _block(batch: pa.RecordBatch, done: int, reading: Reading) -> Block:
    """One record batch; rows with NaN, infinities or integers that do not fit are bad."""
    columns: dict[str, Column] = {}
    bad = np.zeros(batch.num_rows, dtype=bool)
    _survey(batch, done, reading)
    for name, array in zip(batch.schema.names, batch.columns):
        if not reading.uses(name):
            continue
        kind = reading.kinds.get(name) or _kind(array.type)
        if kind is None:  # a column of nulls so far
            columns[name] = np.full(batch.num_rows, np.nan)
            continue
        reading.kinds[name] = kind
        if name in reading.styles:
            columns[name] = _styled(name, array, done, reading, bad)
        elif kind == NUMBER:
            columns[name], wrong = _numbers(array, reading)
            for row in np.flatnonzero(wrong & ~bad):
                value = array[int(row)].as_py()
                reading.skip(
                    done + int(row) + 1, f"{abbreviated(value)} is not a finite float64", name
                )
            bad |= wrong
        elif kind == OTHER:
            columns[name] = [None] * batch.num_rows
        else:
            columns[name] = _texts(array, kind, reading)
    places = np.arange(done + 1, done + 1 + batch.num_rows, dtype=np.int64)
    block = Block(columns, dict(reading.kinds), places)
    return block.kept(~bad) if bad.any() else block


def _survey(batch: pa.RecordBatch, done: int, reading: Reading) -> None:
    """What columns of text are, and numbers that are called times, by the first rows."""
    for name, array in zip(batch.schema.names, batch.columns):
        if name in reading.kinds or not reading.uses(name):
            continue
        kind, head = _kind(array.type), array.slice(0, rows_of(batch.schema.names))
        if kind == TEXT:
            numbered = enumerate(([value] for value in head.to_pylist()), done + 1)
            reading.survey([name], numbered, typed=True)
        elif kind == NUMBER:
            known = [v for v in head.to_pylist() if not reading.missing(v)]
            reading.count_from_1970(name, known)


def _styled(name: str, array: pa.Array, done: int, reading: Reading, bad: Gaps) -> list[str | None]:
    """Times that are written in a column's own way."""
    found: list[str | None] = []
    for row, value in enumerate(array.to_pylist()):
        text = value.strip() if isinstance(value, str) else value
        missing = reading.missing(text)
        read = None if missing else reading.styles[name].read(str(text))
        if read is None and not missing and not bad[row]:
            bad[row] = True
            reading.skip(done + row + 1, f"{abbreviated(text)} in a column of times", name)
        found.append(None if read is None else str(read))
    return found


def _kind(type_: pa.DataType) -> str | None:
    import pyarrow as pa

    types = pa.types
    if types.is_null(type_):
        return None
    number = types.is_boolean, types.is_integer, types.is_floating, types.is_decimal
    if any(is_one(type_) for is_one in number):
        return NUMBER
    if types.is_dictionary(type_):
        return _kind(type_.value_type)
    if types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_):
        return TEXT
    return TIME if types.is_date(type_) or types.is_timestamp(type_) else OTHER


def _numbers(array: pa.Array, reading: Reading) -> tuple[Vector, Gaps]:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    null = np.asarray(array.is_null())
    if pa.types.is_boolean(array.type):
        array = array.cast(pa.int8())
    whole = pa.types.is_integer(array.type)
    if pa.types.is_null(array.type):
        return np.full(len(array), np.nan), np.zeros(len(array), dtype=bool)
    filled = pc.fill_null(array, 0).cast(pa.float64(), safe=False)
    values = np.array(filled.to_numpy(zero_copy_only=False), dtype=np.float64)
    wrong = ~np.isfinite(values)
    if "NaN" in reading.words:
        null |= np.isnan(values)
        wrong &= ~np.isnan(values)
    if whole:
        for row in np.flatnonzero(np.abs(values) >= EXACT_INTEGER):
            wrong[row] = int(values[row]) != array[int(row)].as_py()
    values[null] = np.nan
    return values, wrong & ~null


def _texts(array: pa.Array, kind: str, reading: Reading) -> list[str | None]:
    dated = kind == TIME and _kind(array.type) == TIME
    shown = (lambda v: v.isoformat()) if dated else (lambda v: str(v).strip())
    found = [None if v is None else shown(v) for v in array.to_pylist()]
    return [None if v is None or v in reading.words else v for v in found]


def read_npz(path: Path, reading: Reading) -> Iterator[Block]:
    """Arrays of one length: a 1-D one is a column, a 2-D one the columns name_0, name_1, ..."""
    with damaged(reading, zipfile.BadZipFile), zipfile.ZipFile(path) as archive:
        arrays = {
            name.removesuffix(".npy"): _Array(archive, name, reading)
            for name in archive.namelist()
            if name.endswith(".npy")
        }
        yield from _together(arrays, reading)


class _Array:
    """One array of an archive, read from its beginning a few rows at a time."""

    def __init__(self, archive: zipfile.ZipFile, name: str, reading: Reading) -> None:
        from numpy.lib import format as npy

        self.file = archive.open(name)
        version = npy.read_magic(self.file)
        header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        self.shape, fortran, self.type = header(self.file)
        if self.type.kind not in "biufUM" or self.type.hasobject or len(self.shape) not in (1, 2):
            raise reading.fail(
                f"array {name} has shape {self.shape} of {self.type}: give 1-D or 2-D numbers"
            )
        self.whole: Cells | None = None
        if fortran and len(self.shape) == 2:  # columns come first: it must be had whole
            self.whole = self._read(int(np.prod(self.shape))).reshape(self.shape, order="F")
        self.at = 0

    def _read(self, count: int) -> Cells:
        size = count * self.type.itemsize
        raw = self.file.read(size)
        if len(raw) != size:
            raise ValueError("an array ends early: the file is damaged")
        return np.frombuffer(raw, self.type)

    def rows(self, count: int) -> Cells:
        """The next rows, as a 2-D array."""
        start, self.at = self.at, self.at + count
        if self.whole is not None:
            return self.whole[start : self.at]
        width = self.shape[1] if len(self.shape) == 2 else 1
        return self._read(count * width).reshape(count, width)


def _together(arrays: dict[str, _Array], reading: Reading) -> Iterator[Block]:
    import pyarrow as pa

    if not arrays:
        raise reading.fail("there is no array in it")
    lengths = {name: array.shape[0] for name, array in arrays.items()}
    T = next(iter(lengths.values()))
    if set(lengths.values()) != {T}:
        raise reading.fail(f"the arrays have different lengths, {lengths}: give one row per round")
    for start in range(0, T, ROWS):
        columns = {}
        for name, array in arrays.items():
            rows = array.rows(min(ROWS, T - start))
            one = len(array.shape) == 1
            for j in range(rows.shape[1]):
                columns[name if one else f"{name}_{j}"] = pa.array(np.ascontiguousarray(rows[:, j]))
        reading.names = list(columns)
        yield _block(pa.RecordBatch.from_pydict(columns), start, reading)
