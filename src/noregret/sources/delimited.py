"""CSV: Polars parses, and where it is content and nothing is odd, its numbers are taken.

Everything else (a bad cell, a row that is too short, blank lines, line breaks inside quotes) is
read again by the standard library's reader, which knows the line and the column of what is wrong.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from noregret.learner.replay import module
from noregret.sources.block import ISO, NUMBER, TIME, Block, Column, Reading
from noregret.sources.lines import LONGEST, Lines

__all__ = ["read_delimited"]

DELIMITERS = ",;\t|"
END = "\n\0"  # a row of its own, unless a quote is open; NUL is in no text that comes here


def read_delimited(
    blocks: Iterator[Lines], reading: Reading, delimiter: str | None, names: Sequence[str] | None
) -> Iterator[Block]:
    """Blocks of a CSV file; names from the first line unless they are given."""
    csv.field_size_limit(LONGEST)
    polars = module("polars", "reading CSV")
    for lines, start, count in blocks:
        text, number, breaks = lines, start, count
        if names is None:
            header, text, number = _header(lines, start)
            breaks = text.count(b"\n")
            if not header:
                continue
            delimiter = delimiter or max(DELIMITERS, key=header.count)
            names = _names(header, delimiter, number - 1, reading)
        reading.names = list(names)
        delimiter = delimiter or ","
        if text:
            rows = breaks + (not text.endswith(b"\n"))
            block = _fast(polars, text, rows, number, reading, delimiter, names)
            yield block or _careful(text, number, reading, delimiter, names)
    if names is None:
        raise reading.fail("the file is empty: there is not even a header line")


def _header(lines: bytes, number: int) -> tuple[str, bytes, int]:
    """The first line that is not blank, what follows it, and the number of the next."""
    while lines:
        line, _, lines = lines.partition(b"\n")
        number += 1
        if line.strip():
            return line.decode().strip("\r"), lines, number
    return "", b"", number


def _names(header: str, delimiter: str, number: int, reading: Reading) -> list[str]:
    try:
        names = [name.strip() for name in next(csv.reader([header], delimiter=delimiter))]
    except csv.Error as problem:
        raise reading.fail(f"the header cannot be read: {problem}", number) from None
    reading.name_columns(names, number)
    return names


def _fast(
    polars: Any,
    lines: bytes,
    rows: int,
    number: int,
    reading: Reading,
    delimiter: str,
    names: Sequence[str],
) -> Block | None:
    """What Polars makes of it; None if anything is odd."""
    if lines.count(b'"') % 2:  # a quote that does not close, perhaps
        return None
    _infer_kinds(lines, reading, delimiter, names)
    kinds = {name: reading.kinds.get(name) for name in names if reading.uses(name)}
    if None in kinds.values():  # nothing but missing values so far
        return None
    try:
        frame = polars.read_csv(
            lines,
            has_header=False,
            separator=delimiter,
            null_values=sorted(reading.words),
            schema={
                name: polars.Float64 if kinds.get(name) == NUMBER else polars.String
                for name in names
            },
        )
    except polars.exceptions.PolarsError:
        return None
    if frame.height != rows:
        return None
    # Polars fills a row that is too short with nulls: then its last cell is one.
    if frame[names[-1]].null_count() and (
        b'"' in lines or lines.count(delimiter.encode()) != rows * (len(names) - 1)
    ):
        return None
    columns: dict[str, Column] = {}
    whole = []
    for name, kind in kinds.items():
        series = frame[name]
        if kind == NUMBER:
            values = series.to_numpy()
            nulls = series.null_count()
            if np.count_nonzero(np.isfinite(values)) != rows - nulls:
                return None
            columns[name] = values
            if not nulls:
                whole.append(name)
        else:
            series = series.str.strip_chars()
            if kind == TIME and not series.drop_nulls().str.contains(f"^(?:{ISO.pattern})$").all():
                return None
            columns[name] = texts = series.to_list()
            if not reading.words.isdisjoint(texts):  # blanks around a word for missing
                return None
    places = np.arange(number, number + rows, dtype=np.int64)
    return Block(columns, dict(reading.kinds), places, whole=frozenset(whole))


def _infer_kinds(lines: bytes, reading: Reading, delimiter: str, names: Sequence[str]) -> None:
    """Find the kind of every column whose kind is not known yet."""
    if any(reading.uses(name) and name not in reading.kinds for name in names):
        head = lines[: lines.find(b"\n") + 1] or lines
        # Lone carriage returns make many rows of a line; what is bad is told when it is read.
        probe = Reading("", "", len(head), reading.words, reading.kinds, reading.wanted)
        _careful(head, 0, probe, delimiter, names)


def _careful(
    lines: bytes, number: int, reading: Reading, delimiter: str, names: Sequence[str]
) -> Block:
    """Row by row; bad rows are counted or refused."""
    return reading.block(names, _rows(lines, number, reading, delimiter, names), typed=False)


def _rows(
    lines: bytes, number: int, reading: Reading, delimiter: str, names: Sequence[str]
) -> Iterator[tuple[int, list[str]]]:
    text = lines.decode()
    text += END if '"' in text else ""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    while True:
        place = number + reader.line_num
        try:
            row = next(reader, None)
        except csv.Error as problem:
            reading.skip(place, f"cannot be read: {problem}")
            continue
        if row is None or row == ["\0"]:
            return
        if row and row[-1].endswith(END):
            reading.skip(place, "a quote opens in this row and never closes")
            return
        if not row or (len(row) == 1 and not row[0].strip() and len(names) > 1):
            continue
        if len(row) != len(names):
            wanted = f"{len(names)} columns"
            reading.skip(place, f"{len(row)} cells in a file of {wanted}")
            continue
        yield place, row
