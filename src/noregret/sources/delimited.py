"""CSV: large pieces are parsed by Polars; where it is content and nothing is odd, that is taken.

Everything else (a bad cell, a row that is too short, blank lines, line breaks inside quotes) is
read again by the standard library's reader, which knows the line and the column of what is wrong.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, islice
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from noregret.sources.block import ISO, NUMBER, TIME, Block, Column, Reading
from noregret.sources.dialect import DELIMITERS, SHOWN, delimiter_of, looks_like_data
from noregret.sources.lines import LONGEST, Lines, breaks_in, well_quoted
from noregret.sources.parser import polars_for
from noregret.sources.survey import rows_of

if TYPE_CHECKING:
    from polars import DataFrame

__all__ = ["SAMPLE", "first_rows", "look", "read_delimited"]

SAMPLE = 1 << 20  # bytes of a file that decide what its columns are
JSON = re.compile(r'\s*\{\s*"[^"]*"\s*:')  # an object
SPREAD = 20  # lines of one row, beyond which a quote may be missing
END = "\n\0"  # a row of its own, unless a quote is open; NUL is in no text that comes here


def read_delimited(
    blocks: Iterator[Lines],
    reading: Reading,
    delimiter: str | None,
    names: Sequence[str] | None,
    *,
    sample: int = 0,
) -> Iterator[Block]:
    """Blocks of a CSV file; names from the first line unless they are given."""
    csv.field_size_limit(LONGEST)
    blocks, names, delimiter = look(blocks, reading, delimiter, names, sample=sample)
    for text, number, breaks in blocks:
        if text:
            rows = breaks + (not text.endswith(b"\n"))
            polars = polars_for(text)
            block = polars and _fast(polars, text, rows, number, reading, delimiter, names)
            yield block or _careful(text, number, reading, delimiter, names)


def look(
    blocks: Iterator[Lines],
    reading: Reading,
    delimiter: str | None,
    names: Sequence[str] | None,
    *,
    sample: int,
) -> tuple[Iterator[Lines], list[str], str]:
    """Names, delimiter and kinds of the columns, by the first blocks; and the rows again.

    The first blocks are those that have a row, and so many bytes if they are to be had.
    """
    held: list[Lines] = []
    size, first = 0, 0  # bytes of rows; the line of the header
    header = "" if names is None else None
    skipped = 0  # lines above the header
    for lines, start, count in blocks:
        text, number, breaks = lines, start, count
        if header == "":
            text, number, skipped = _below(lines, start, skipped, reading.skip_lines)
            header, text, number = _header(text, number)
            breaks = breaks_in(text, quoted=True)
            first = number - 1
        if text:
            held.append((text, number, breaks))
            size += len(text)
        if size > sample:
            break
    if header == "":
        raise reading.fail("the file is empty: there is not even a header line")
    begin = b"".join(text for text, _, _ in held)[: max(sample, 1 << 12)]
    if header is not None and JSON.match(header):
        raise reading.fail("this looks like JSON lines, not CSV: give --input-format jsonl", first)
    if header is not None:
        shown = begin[: 1 << 16].decode(errors="replace").splitlines()
        delimiter = delimiter or delimiter_of(header, shown[:SHOWN])
        reading.header = _elsewhere(header, shown[:SHOWN], first, delimiter)
        names = _names(header, delimiter, first, reading)
    elif delimiter is None:
        delimiter = delimiter_of(",".join(names or ()), ()) if not begin else _guess(begin, names)
    reading.names, reading.delimiter = list(names or ()), delimiter
    if held:
        # Lone carriage returns make many rows of a line; what is bad is told when it is read.
        _infer_kinds(begin, reading, delimiter, reading.names)
        if sample:
            reading.empty = frozenset(n for n in reading.names if n not in reading.kinds)
    return chain(held, blocks), reading.names, delimiter


def first_rows(
    blocks: Iterator[Lines], reading: Reading, delimiter: str | None, names: Sequence[str] | None
) -> Block:
    """The rows of a sample, one by one: what is bad in them is told."""
    csv.field_size_limit(LONGEST)
    found, names, delimiter = look(blocks, reading, delimiter, names, sample=SAMPLE)
    rows: list[tuple[int, list[str]]] = []
    most = rows_of(names)
    for text, number, _ in found:
        some = _rows(text, number, reading, delimiter, names)
        rows += islice(some, most + 1 - len(rows))
        if len(rows) > most:
            break
    else:
        reading.complete = True
    return reading.block(names, rows[:most], typed=False)


def _guess(begin: bytes, names: Sequence[str] | None) -> str:
    """The delimiter of rows without a header: one that gives a cell for each name."""
    line = begin.partition(b"\n")[0].decode(errors="replace")
    wanted = len(names or ()) - 1
    return next((d for d in DELIMITERS if wanted and line.count(d) == wanted), ",")


def _below(lines: bytes, number: int, skipped: int, skip: int) -> tuple[bytes, int, int]:
    """What is below the lines to skip, the number of its first line, and how many were skipped."""
    while lines and skipped < skip:
        lines = lines.partition(b"\n")[2]
        number, skipped = number + 1, skipped + 1
    return lines, number, skipped


def _elsewhere(header: str, lines: Sequence[str], first: int, chosen: str) -> str:
    """Where the header seems to be: a line with more cells than this one, as many as the next."""
    names = [name.strip() for name in header.split(chosen)]
    fits = sum(line.count(chosen) == len(names) - 1 for line in lines)
    if len(names) > 1 and all(names[1:-1]) and 2 * fits > len(lines):
        return ""
    for delimiter in DELIMITERS:
        given, *rows = [[c.strip() for c in line.split(delimiter)] for line in (header, *lines)]
        named = sum(map(bool, given))
        for k, (row, *after) in enumerate(zip(rows, rows[1:], rows[2:])):
            if len(row) > max(named, 1) and all(row) and all(len(r) == len(row) for r in after):
                place = first + k + 1
                if not looks_like_data(row):
                    return (
                        f"; the header seems to be in line {place}: give --skip-lines {place - 1}"
                    )
                break
    return ""


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
    return reading.names


def _fast(
    polars: ModuleType,
    lines: bytes,
    rows: int,
    number: int,
    reading: Reading,
    delimiter: str,
    names: Sequence[str],
) -> Block | None:
    """What Polars makes of it; None if anything is odd."""
    if b'"' in lines and not well_quoted(lines, delimiter):
        return None
    _infer_kinds(lines[:SAMPLE], reading, delimiter, names)
    kinds = {name: reading.kinds.get(name) for name in names if reading.uses(name)}
    if None in kinds.values():  # nothing but missing values so far
        return None
    numbers = {n for n, kind in kinds.items() if kind == NUMBER and n not in reading.styles}
    try:
        frame = polars.read_csv(
            lines,
            has_header=False,
            separator=delimiter,
            null_values=sorted(reading.words),
            schema={name: polars.Float64 if name in numbers else polars.String for name in names},
        )
    except polars.exceptions.PolarsError:
        return None
    if frame.height != rows:
        return None
    # Polars fills a row that is too short with nulls: then its last cell is one.  In a file of one
    # column a blank line is a null to it.
    if frame[names[-1]].null_count() and (
        b'"' in lines
        or len(names) == 1
        or lines.count(delimiter.encode()) != rows * (len(names) - 1)
    ):
        return None
    if _repeats(frame, names, numbers, reading.words):
        return None
    columns: dict[str, Column] = {}
    whole = []
    for name, kind in kinds.items():
        series = frame[name]
        if name in numbers:
            values = series.to_numpy()
            nulls = series.null_count()
            if np.count_nonzero(np.isfinite(values)) != rows - nulls:
                return None
            columns[name] = values
            if not nulls:
                whole.append(name)
        else:
            series = series.str.strip_chars()
            styled = name in reading.styles
            if (
                kind == TIME
                and not styled
                and not series.drop_nulls().str.contains(f"^(?:{ISO.pattern})$").all()
            ):
                return None
            texts: list[str | None] = series.to_list()
            if not reading.words.isdisjoint(texts):  # blanks around a word for missing
                return None
            read = reading.converted(name, texts) if styled else texts
            if read is None:
                return None
            columns[name] = read
    places = np.arange(number, number + rows, dtype=np.int64)
    return Block(columns, dict(reading.kinds), places, whole=frozenset(whole))


def _repeats(
    frame: DataFrame, names: Sequence[str], numbers: Collection[str], words: Collection[str]
) -> bool:
    """Whether some row seems to be the header again; names may be years, or words for missing."""
    rows = frame
    for name in names:
        cells = rows[name]
        if name in words:
            rows = rows.filter(cells.is_null())
        elif name not in numbers:
            rows = rows.filter(cells.str.strip_chars() == name)
        elif (value := _number(name)) is not None:
            rows = rows.filter(cells == value)
        else:
            return False
        if rows.is_empty():
            return False
    return True


def _number(name: str) -> float | None:
    try:
        return float(name)
    except ValueError:
        return None


def _infer_kinds(lines: bytes, reading: Reading, delimiter: str, names: Sequence[str]) -> None:
    """Find the kind of every column whose kind is not known yet, from some of the lines."""
    if any(reading.uses(name) and name not in reading.kinds for name in names):
        whole = lines[: lines.rfind(b"\n") + 1] or lines.decode(errors="ignore").encode()
        probe = Reading("", allowed=len(lines) + 1)  # what is bad is told when it is read
        reading.survey(names, _rows(whole, 0, probe, delimiter, names), typed=False)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


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
        if row[0].strip() == names[0] and [cell.strip() for cell in row] == list(names):
            reading.skip(place, "this line repeats the header: --skip-bad 1 leaves it out")
            continue
        if len(row) != len(names):
            cells, wanted = _count(len(row), "cell"), _count(len(names), "column")
            reading.skip(place, f"{cells} in a file of {wanted}")
            continue
        if (taken := number + reader.line_num - place) > SPREAD and not reading.spread:
            reading.spread = (
                f"line {place}: a cell in quotes goes on for {taken:,} lines, which are one row; "
                "if that is not meant, a quote is missing or too many"
            )
        yield place, row
