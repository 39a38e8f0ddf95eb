"""The frame of a model file: an npz that is stored, not compressed, in one canonical form.

    header.npy    uint8    the schema as JSON: what is stored, in which version
    numbers.npy   float64  every array of the learner, one after another
    digest.npy    uint8    SHA-256 of all bytes before this member

For given contents only one file is right, down to the last bit, so whatever was changed is seen: a
payload by its digest, the rest because it is made anew and compared.  The digest guards against
damage, not against forgery: what the schema says is checked apart, value by value.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from typing import Protocol
from zlib import crc32

from noregret.errors import SnapshotError

__all__ = ["LARGEST_FILE", "LARGEST_HEADER", "Source", "pack", "unpack"]

LARGEST_HEADER = 8 * 2**20
"""Bytes of JSON at the most: names, labels, inputs that are objects."""
LARGEST_FILE = 2**32 - 2**16
"""What a zip without extensions can hold."""

LOCAL, CENTRAL, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
MEMBERS = (b"header.npy", b"numbers.npy", b"digest.npy")
KINDS = ("|u1", "<f8", "|u1")
NPY = 128  # bytes before the data of a member
DIGEST = 32


class Source(Protocol):
    """Something to read from."""

    def read(self, size: int, /) -> bytes:
        """Up to so many bytes."""
        ...


def _opening(kind: str, count: int) -> bytes:
    """What stands before the data of an array in NumPy's format 1.0, always as long."""
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({count},), }}"
    return b"\x93NUMPY\x01\x00\x76\x00" + text.encode().ljust(NPY - 11) + b"\n"


def _facts(crc: int, size: int, name: bytes) -> bytes:
    """Stored, dated 1980-01-01, with its checksum and its size, twice."""
    return struct.pack("<HHHHIIIHH", 0, 0, 0, 33, crc, size, size, len(name), 0)


def _member(k: int, data: Sequence[bytes], width: int) -> tuple[bytes, bytes, int]:
    """The local header with the opening of the array, the facts, and how long the data are."""
    size = sum(map(len, data))
    opening = _opening(KINDS[k], size // width)
    crc = crc32(opening)
    for piece in data:
        crc = crc32(piece, crc)
    facts = _facts(crc, NPY + size, MEMBERS[k])
    return LOCAL + struct.pack("<H", 20) + facts + MEMBERS[k] + opening, facts, size


def _directory(facts: list[bytes], starts: list[int], end: int) -> bytes:
    """The list of members at the end of a zip."""
    lines = [
        CENTRAL + struct.pack("<HH", 20, 20) + fact + struct.pack("<HHHII", 0, 0, 0, 0, at) + name
        for fact, at, name in zip(facts, starts, MEMBERS, strict=True)
    ]
    listed = b"".join(lines)
    return listed + END + struct.pack("<HHHHIIH", 0, 0, 3, 3, len(listed), end, 0)


def _frame(header: bytes, numbers: Sequence[bytes]) -> tuple[bytes, bytes, bytes]:
    """What stands before the header, before the numbers, and after them."""
    first, one, length = _member(0, [header], 1)
    second, two, count = _member(1, numbers, 8)
    starts = [0, len(first) + length]
    starts.append(starts[1] + len(second) + count)
    digest = hashlib.sha256(first)
    for piece in (header, second, *numbers):
        digest.update(piece)
    last = digest.digest()
    third, three, _ = _member(2, [last], 1)
    end = starts[2] + len(third) + DIGEST
    return first, second, third + last + _directory([one, two, three], starts, end)


def pack(header: bytes, numbers: Sequence[bytes]) -> bytes:
    """The file with this schema and these numbers, given in pieces.

    >>> import io, numpy as np
    >>> file = pack(b"{}", [np.array([1.0]).tobytes(), np.array([2.0]).tobytes()])
    >>> np.load(io.BytesIO(file), allow_pickle=False)["numbers"]
    array([1., 2.])
    """
    if len(header) > LARGEST_HEADER:
        raise SnapshotError(
            f"the names, labels and objects of this learner take {len(header)} bytes: a model "
            f"file holds up to {LARGEST_HEADER} of them"
        )
    size = sum(map(len, numbers))
    if len(header) + size > LARGEST_FILE - 2**16:
        raise SnapshotError(
            f"this learner has {size} bytes of numbers: a model file holds less than 4 GiB;"
            " give kernel learners a budget="
        )
    first, second, last = _frame(header, numbers)
    return b"".join([first, header, second, *numbers, last])


def unpack(source: Source, size: int) -> tuple[bytes, bytes]:
    """Schema and numbers of a file of so many bytes; nothing is read that cannot be right."""
    lead = len(LOCAL) + 2 + 24 + NPY
    head = _exactly(source, lead + len(MEMBERS[0]), size)
    length = _claimed(head, 0)
    if length > LARGEST_HEADER:
        raise SnapshotError(
            f"the header of the model file claims {length} bytes, more than {LARGEST_HEADER}"
        )
    if length > size:
        raise _damaged(f"its header claims {length} bytes of {size}")
    header = _exactly(source, length, size)
    middle = _exactly(source, lead + len(MEMBERS[1]), size)
    count = _claimed(middle, 1)
    rest = lead + len(MEMBERS[2]) + DIGEST
    rest += sum(46 + len(name) for name in MEMBERS) + 22  # the directory
    whole = len(head) + length + len(middle) + count + rest
    if count % 8 or whole != size:
        raise _damaged(f"it has {size} bytes and claims {whole}")
    numbers = _exactly(source, count, size)
    end = _exactly(source, rest, size)
    if (head, middle, end) != _frame(header, [numbers]):
        raise _damaged("its digest is not that of its contents")
    return header, numbers


def _claimed(head: bytes, k: int) -> int:
    """How many bytes of data a local header claims; only a stored member of ours will do."""
    name = MEMBERS[k]
    if head[:4] != LOCAL or head[30 : 30 + len(name)] != name:
        raise SnapshotError("this is not a model file of noregret: write one with save")
    size: int = struct.unpack_from("<I", head, 22)[0]
    if head[8:10] != b"\0\0" or size < NPY:
        raise _damaged("a member is compressed or too short")
    return size - NPY


def _exactly(source: Source, length: int, size: int) -> bytes:
    parts: list[bytes] = []
    missing = length
    while missing > 0:
        part = source.read(missing)
        if not part:
            raise _damaged(f"it ends after {size} bytes")
        parts.append(part)
        missing -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _damaged(why: str) -> SnapshotError:
    return SnapshotError(f"the model file is damaged: {why}; take another copy of it")
