"""Rows as text without Polars: numbers so that they read back as they were, gaps as nothing."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable

from noregret.sources.block import Column
from noregret.types import Integers

__all__ = ["csv_text", "json_lines"]

Columns = dict[str, Column | Integers]


def _rows(columns: Columns) -> Iterable[tuple[object, ...]]:
    """The rows as Python values, None where there is none."""
    lists = (c if isinstance(c, list) else c.tolist() for c in columns.values())
    return zip(*([None if v != v else v for v in values] for values in lists))


def csv_text(columns: Columns, *, header: bool) -> str:
    r"""Rows of CSV.

    >>> csv_text({"y": [1.5, float("nan")], "colour": ["deep, red", None]}, header=True)
    'y,colour\n1.5,"deep, red"\n,\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if header:
        writer.writerow(columns)
    writer.writerows(_rows(columns))
    return text.getvalue()


def json_lines(columns: Columns) -> str:
    r"""Rows as JSON objects, one a line.

    >>> json_lines({"y": [1.5, float("nan")], "colour": ["red", None]})
    '{"y":1.5,"colour":"red"}\n{"y":null,"colour":null}\n'
    """
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
    return "".join(f"{encode(dict(zip(columns, row)))}\n" for row in _rows(columns))
