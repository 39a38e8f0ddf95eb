"""JSON lines and libsvm text: rows whose columns come and go."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator

import numpy as np

from noregret.declare.extras import module
from noregret.errors import abbreviated
from noregret.sources.block import NUMBER, Block, Column, Reading
from noregret.sources.lines import Lines
from noregret.types import Vector

__all__ = ["read_json_lines", "read_libsvm"]

OUTCOME = "y"  # libsvm's first number


def read_json_lines(blocks: Iterator[Lines], reading: Reading) -> Iterator[Block]:
    """One object per line; a key that is absent is missing, a new one joins."""
    names: dict[str, None] = {}
    seen = False
    for lines, number, _ in blocks:
        if not seen and lines.lstrip()[:1] == b"[":
            raise reading.fail(
                "this is one JSON array: write one object per line (jq -c '.[]' does)", number
            )
        rows = []
        for place, line in enumerate(lines.split(b"\n"), number):
            if line.strip():
                seen = True
                found = _object(line, place, reading)
                if found is not None:
                    names.update(dict.fromkeys(found))
                    rows.append((place, found))
        known = reading.names = list(names)
        values = ((place, [row.get(name) for name in known]) for place, row in rows)
        yield reading.block(known, values, typed=True, open_=True)
    if not seen:
        raise reading.fail("the file is empty: there is not one object in it")


def _object(line: bytes, place: int, reading: Reading) -> dict[str, object] | None:
    try:
        found = json.loads(line, parse_constant=_constant, object_pairs_hook=_pairs)
    except json.JSONDecodeError as problem:
        reading.skip(place, f"{problem.msg} at character {problem.pos + 1}: not JSON")
        return None
    except (ValueError, RecursionError) as problem:
        reading.skip(place, str(problem) or "too deep")
        return None
    if not isinstance(found, dict):
        reading.skip(place, f"{abbreviated(found)} is not an object: give one object per line")
        return None
    return found


def _constant(word: str) -> float:
    if word == "NaN":
        return math.nan  # a value that is missing
    raise ValueError(f"{word} is not a finite number")


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {abbreviated(twice)} comes twice")
    return found


def read_libsvm(blocks: Iterator[Lines], reading: Reading) -> Iterator[Block]:
    """`outcome index:value ...`; a feature's name is its index, and absent means 0."""
    columns: dict[int, None] = {}
    seen = False
    for lines, number, _ in blocks:
        found = [
            (place, line)
            for place, line in enumerate(lines.split(b"\n"), number)
            if line.partition(b"#")[0].strip()
        ]
        parsed = _parsed([line for _, line in found], columns)
        if parsed is None:  # some line is bad: which?
            kept = []
            for place, line in found:
                one = _parsed([line], dict(columns))
                if one is None:
                    reading.skip(
                        place, f"{abbreviated(line.decode())} is not `outcome index:value ...`"
                    )
                else:
                    kept.append((place, line))
            found = kept
            parsed = _parsed([line for _, line in found], columns)
            assert parsed is not None
        seen = seen or bool(found)
        reading.names = list(parsed)
        used: dict[str, Column] = {n: column for n, column in parsed.items() if reading.uses(n)}
        reading.kinds.update(dict.fromkeys(used, NUMBER))
        places = np.array([place for place, _ in found], dtype=np.int64)
        yield Block(used, dict(reading.kinds), places, open=True)
    if not seen and not reading.bad:
        raise reading.fail("the file is empty: there is not one row in it")


def _parsed(lines: list[bytes], columns: dict[int, None]) -> dict[str, Vector] | None:
    """Dense columns; None if a line is bad."""
    datasets = module("sklearn.datasets", "reading libsvm")
    if not lines:
        return {OUTCOME: np.empty(0)} | {str(index): np.empty(0) for index in columns}
    try:
        X, y = datasets.load_svmlight_file(io.BytesIO(b"\n".join(lines)), zero_based=True)
    except (ValueError, OverflowError, MemoryError, TypeError):
        return None
    if len(y) != len(lines) or not np.isfinite(y).all() or not np.isfinite(X.data).all():
        return None
    known = set(columns)
    columns.update(dict.fromkeys(np.unique(X.indices[X.data != 0.0]).tolist()))
    X = X.tocsc()
    found = {OUTCOME: y}
    for index in columns:
        inside = index < X.shape[1]
        column = X[:, [index]].toarray()[:, 0] if inside else np.zeros(len(y))
        if index not in known:  # it is not there yet before its first value
            column[: int(np.argmax(column != 0.0))] = np.nan
        found[str(index)] = column
    return found
