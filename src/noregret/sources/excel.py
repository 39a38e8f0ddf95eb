"""Excel workbooks: the first sheet that has rows, read by openpyxl, or by Polars with fastexcel."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from zipfile import BadZipFile

from noregret.errors import abbreviated, first_of, suggestion
from noregret.sources.block import Block, Reading
from noregret.sources.tables import ROWS, damaged

__all__ = ["read_excel"]

NEEDED = "an Excel workbook needs openpyxl: pip install openpyxl, or save the sheet as CSV"


def read_excel(path: Path, reading: Reading, sheet: str | None = None) -> Iterator[Block]:
    """The rows below the first row that has something in it, which names the columns."""
    with damaged(reading, BadZipFile, KeyError):
        if find_spec("openpyxl") is not None:
            yield from _blocks(_rows(path, reading, sheet), reading)
        elif find_spec("fastexcel") is not None and find_spec("polars") is not None:
            import polars as pl

            frame = pl.read_excel(path, sheet_name=sheet)
            yield from _blocks(iter([tuple(frame.columns), *frame.iter_rows()]), reading)
        else:
            raise reading.fail(NEEDED)


def _rows(path: Path, reading: Reading, chosen: str | None) -> Iterator[tuple[object, ...]]:
    import openpyxl

    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    try:
        names = [sheet.title for sheet in book.worksheets]
        if chosen is not None and chosen not in names:
            near = suggestion(chosen, names) or f"; there are {', '.join(names)}"
            raise reading.fail(f"there is no sheet {abbreviated(chosen)}{near}")
        for sheet in book.worksheets:
            if chosen is not None and sheet.title != chosen:
                continue
            rows = sheet.iter_rows(values_only=True)
            first = next((row for row in rows if any(cell is not None for cell in row)), None)
            if first is not None:
                others = [name for name in names if name != sheet.title]
                if others and chosen is None:
                    listed = first_of(others)
                    reading.said = f"sheet {sheet.title} is read; --sheet takes another: {listed}"
                yield first
                yield from rows
                return
    finally:
        book.close()


def _blocks(rows: Iterator[tuple[object, ...]], reading: Reading) -> Iterator[Block]:
    header = next(rows, None)
    if header is None:
        raise reading.fail("the workbook is empty")
    names = ["" if cell is None else str(cell).strip() for cell in header]
    while names and not names[-1]:
        names.pop()
    reading.name_columns(names, 1)
    names = reading.names
    done = 1
    while some := list(islice(rows, ROWS)):
        placed = [(done + k, _cells(row, len(names))) for k, row in enumerate(some, 1)]
        full = ((place, row) for place, row in placed if any(cell is not None for cell in row))
        block = reading.block(names, full, typed=True)
        if done == 1:
            reading.note_empty(block)
        yield block
        done += len(some)


def _cells(row: tuple[object, ...], width: int) -> list[object]:
    cells = [*row[:width], *[None] * (width - len(row))]
    return [c.isoformat() if isinstance(c, date | datetime | time) else c for c in cells]
