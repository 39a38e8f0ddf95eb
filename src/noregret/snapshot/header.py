"""The schema of a model file as JSON: weighed before it is parsed, and before it is written.

A few bytes of JSON can take many in memory (`[],` takes 64).  So values and nesting are counted
first, outside of strings, and what would take more than ROOM to parse is refused.  The same
header is refused when it is written: whatever `save` writes can be read back.
"""

from __future__ import annotations

import json

import numpy as np

from noregret.errors import SnapshotError
from noregret.inputs.values import abbreviated
from noregret.snapshot.values import forged
from noregret.types import Json

__all__ = ["DEEPEST", "ROOM", "measured", "parsed", "written"]

ROOM = 48 * 2**20
"""Bytes that a header may take at the most while it is read."""
DEEPEST = 128
"""Lists and mappings within one another."""

TEXT, WIDE = 4, 7  # bytes for each byte of a header: itself, decoded, its strings, what they hold
VALUE = 256  # bytes for each value, in JSON and as the object that it becomes
MARKS = np.zeros(256, dtype=np.int64)  # how many values a character outside of strings stands for
MARKS[[ord(c) for c in "[,:"]] = 1
MARKS[ord("{")] = 4
STEPS = np.zeros(256, dtype=np.int64)  # by how much it nests
STEPS[[ord(c) for c in "[{"]] = 1
STEPS[[ord(c) for c in "]}"]] = -1
CHUNK = 1 << 18

ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


def written(schema: Json) -> bytes:
    """The header for a schema; what could not be read back is refused."""
    try:
        header = ENCODER.encode(schema).encode()
    except (TypeError, ValueError, RecursionError) as wrong:  # all but `extra` is ours
        raise SnapshotError(
            f"extra cannot be stored ({abbreviated(wrong)}): give what JSON can hold"
        ) from None
    if complaint := _weighed(header):
        raise SnapshotError(
            f"the names, labels and objects of this learner, or its extra, {complaint}: a model "
            "file cannot hold them; give kernels of objects a budget=, or keep extra elsewhere"
        )
    return header


def parsed(header: bytes) -> Json:
    """The schema in a header."""
    if complaint := _weighed(header):
        raise forged("the header", complaint)
    try:
        schema = json.loads(header, parse_constant=_no_constant)
    except (ValueError, RecursionError, MemoryError) as wrong:
        raise forged("the header", f"cannot be read: {abbreviated(wrong)}") from None
    if type(schema) is not dict:
        raise forged("the header", "has no fields")
    return schema


def _no_constant(text: str) -> object:
    raise forged("the header", f"has {text}, which is not JSON")


def _weighed(header: bytes) -> str | None:
    """Why a header is too much to parse; None if it is not."""
    if not header.isascii():
        return "are not ASCII, as JSON is written here"
    weight, deepest = measured(header)
    if deepest > DEEPEST:
        return f"are nested more than {DEEPEST} deep"
    return f"would take more than {ROOM >> 20} MiB to read" if weight > ROOM else None


def measured(header: bytes) -> tuple[int, int]:
    """How many bytes a header would take, and how deep it is nested.

    >>> measured(b'[[],"[,"]')  # three values: two lists, one text
    (804, 2)
    """
    plain = header
    if b"\\" in header:  # escaped quotes end no string
        plain = plain.replace(b"\\\\", b"  ").replace(b'\\"', b"  ")
    weight = len(header) * (WIDE if b"\\u" in header else TEXT)
    depth = deepest = inside = 0
    for start in range(0, len(plain), CHUNK):
        piece = np.frombuffer(plain, np.uint8, min(CHUNK, len(plain) - start), start)
        quotes = np.bitwise_xor.accumulate(piece == ord('"')) ^ bool(inside)
        inside = int(quotes[-1])
        piece = piece[~quotes]
        if piece.size:
            nested = depth + np.cumsum(STEPS[piece])
            deepest, depth = max(deepest, int(nested.max())), int(nested[-1])
            weight += VALUE * int(MARKS[piece].sum())
    return weight, deepest
