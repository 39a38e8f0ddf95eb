"""A fleet as bytes and as a file: docs/scale.md has the format.

    NRFLEET1 | length of the header | header | keys | zeros | rows | digests

The header is JSON; the learner, its parameters and features are a model file within it, so that
what can be read here is what can be read there, and nothing is executed.  Rows begin at a multiple
of 4,096 bytes: a file is opened by mapping them, which takes no longer for ten million keys than
for ten.  Two digests (SHA-256): of all before the rows, checked always, and of the rows, checked
for bytes and with `verify=True`.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import stat
import struct
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from noregret import snapshot
from noregret._native.fleet import BLOCK
from noregret.errors import NoRegretError, SnapshotError
from noregret.fleet.fleet import Fleet
from noregret.fleet.keys import Keys, index_for
from noregret.fleet.laid import Laid
from noregret.fleet.loose import Loose
from noregret.fleet.packed import Packed
from noregret.fleet.prior import Prior
from noregret.fleet.priors import Priors
from noregret.fleet.slots import SlotStore
from noregret.snapshot import files
from noregret.snapshot.header import parsed, written
from noregret.types import Integers, Matrix, Vector

__all__ = ["opened", "pieces", "restored", "write"]

MAGIC = b"NRFLEET1"
PAGE = 4096
DIGEST = 32
FIELDS = {
    "priors",
    "version",
    "release",
    "learner",
    "settled",
    "clock",
    "peak",
    "extra",
    "texts",
    "keys",
    "rows",
}


def pieces(fleet: Fleet) -> Iterator[bytes]:
    """The bytes of a fleet, one piece after the other; the caller holds its lock."""
    where = fleet._slots()
    keys = fleet._keys(where)
    kept, texts = _stored_keys(keys)
    body, size, more = _packed(fleet, where) if fleet.compiled else _loose(fleet, where)
    schema = {
        "version": 1,
        "release": snapshot.RELEASE,
        "clock": fleet._clock,
        "texts": texts,
        "keys": [len(keys), len(kept)],
        "rows": size,
        **more,
    }
    header = written(schema)
    head = MAGIC + struct.pack("<Q", len(header)) + header + kept
    head += bytes(-(len(head) + DIGEST) % PAGE)
    yield head + hashlib.sha256(head).digest()
    digest = hashlib.sha256()
    for piece in body:
        digest.update(piece)
        yield piece
    yield digest.digest()


def _stored_keys(keys: Keys) -> tuple[bytes, bool]:
    if not isinstance(keys, list):
        return keys.astype("<i8").tobytes(), False
    texts = [key.encode() for key in keys]
    lengths = np.array([len(text) for text in texts], dtype="<i8")
    return lengths.tobytes() + b"".join(texts), True


def _packed(fleet: Fleet, where: Integers) -> tuple[Iterator[bytes], int, dict[str, Any]]:
    store = fleet._store
    assert isinstance(store, SlotStore)
    packing = store.packing
    learner = fleet._new() if packing is None else store.empty_learner()
    wide = 0 if packing is None else packing.wide
    blocks = (where[k : k + BLOCK] for k in range(0, len(where), BLOCK))
    return (
        (store.take(block).astype("<f8", copy=False).tobytes() for block in blocks),
        8 * wide * len(where),
        {
            "version": 1 if isinstance(store, Packed) else 2,
            "learner": b64encode(learner.to_bytes()).decode(),
            "settled": packing is not None,
            "peak": store.peak if isinstance(store, Packed) else 0.0,
            "extra": list(packing.extra) if packing is not None else [],
            "priors": _stored_priors(getattr(store, "priors", None)),
        },
    )


def _stored_priors(priors: Priors | None) -> list[Any] | None:
    if priors is None:
        return None
    each = [
        [
            one.keys,
            one.rounds,
            *(b64encode(a.tobytes()).decode() for a in (one.mean, one.precision)),
        ]
        for one in priors.known
    ]
    return [priors.rounds, priors.next, each]


def _restore_priors(priors: Priors, stored: Any, n: int) -> None:
    priors.rounds, priors.next = _counts(stored[:2])
    for keys, rounds, *arrays in stored[2]:
        mean, precision = (np.frombuffer(b64decode(a, validate=True)).copy() for a in arrays)
        one = Prior(mean.reshape(n), precision.reshape(n, n), *_counts([keys, rounds]))
        one.root()  # or it is none
        priors.known.append(one)


def _check_versions(versions: Vector, count: int) -> None:
    if not ((versions >= 0) & (versions <= count) & (versions % 1 == 0)).all():
        raise _damaged("a key has a prior that is not there")


def _loose(fleet: Fleet, where: Integers) -> tuple[Iterator[bytes], int, dict[str, Any]]:
    store = fleet._store
    assert isinstance(store, Loose)
    models = [store.learners[slot].to_bytes() for slot in where.tolist()]
    lengths = np.array([len(model) for model in models], dtype="<i8").tobytes()
    body = [lengths, store.seen(where).astype("<f8").tobytes(), *models]
    more = {"learner": b64encode(fleet._new().to_bytes()).decode(), "settled": False}
    return iter(body), sum(map(len, body)), {**more, "peak": 0.0, "extra": [], "priors": None}


def write(fleet: Fleet, path: Any) -> None:
    """Put a fleet into a file, whole or not at all; the caller holds its lock."""
    files.write_pieces(files.place(path), pieces(fleet))


def restored(data: Any) -> Fleet:
    """The fleet of these bytes, which are checked whole."""
    if not isinstance(data, bytes | bytearray | memoryview):
        raise SnapshotError("a fleet is stored as bytes: give what to_bytes has made")
    return _read(memoryview(data), np.array, verify=True)


def opened(path: Any, *, verify: bool) -> Fleet:
    """The fleet of a file, whose rows are mapped: they are read when they are needed."""
    place = files.place(path)
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        fd = os.open(place, flags | getattr(os, "O_CLOEXEC", 0))
        try:
            facts = os.fstat(fd)
            if not stat.S_ISREG(facts.st_mode) or not facts.st_size:
                raise SnapshotError(
                    f"{place} is no plain file with something in it: a fleet is one"
                )
            mapped = mmap.mmap(fd, 0, access=mmap.ACCESS_COPY)
        finally:
            os.close(fd)
    except (OSError, ValueError) as refusal:
        raise SnapshotError(f"{_named(place)} cannot be read: {refusal}") from refusal
    return _read(memoryview(mapped), lambda rows: rows, verify=verify)


def _named(place: Path) -> str:
    return f"{place}, which is a link," if place.is_symlink() else str(place)


def _read(data: memoryview, own: Callable[[Matrix], Matrix], *, verify: bool) -> Fleet:
    if bytes(data[:8]) != MAGIC or len(data) < 16:
        raise SnapshotError("this is no fleet of noregret: write one with save or to_bytes")
    (length,) = struct.unpack_from("<Q", data, 8)
    if length > len(data) - 16:
        raise _damaged(f"its header claims {length} bytes of {len(data)}")
    schema = parsed(bytes(data[16 : 16 + length]))
    if set(schema) != FIELDS or schema["version"] not in (1, 2):
        raise _damaged("its header has other fields, or it is of a later release")
    count, size = _counts(schema["keys"])
    rows = _counts([schema["rows"], 0])[0]
    start = 16 + length + size + DIGEST
    start += -start % PAGE
    if start + rows + DIGEST != len(data):
        raise _damaged(f"it has {len(data)} bytes and claims {start + rows + DIGEST}")
    if hashlib.sha256(data[: start - DIGEST]).digest() != data[start - DIGEST : start]:
        raise _damaged("the digest of its keys is not theirs")
    body = data[start : start + rows]
    if verify and hashlib.sha256(body).digest() != data[start + rows :]:
        raise _damaged("the digest of its rows is not theirs")
    try:
        return _fleet(schema, data[16 + length : 16 + length + size], count, body, own)
    except (ValueError, TypeError, KeyError, NoRegretError) as wrong:
        raise _damaged(str(wrong)) from None


def _fleet(
    schema: dict[str, Any], keys: memoryview, count: int, body: memoryview, own: Any
) -> Fleet:
    learner = snapshot.from_bytes(b64decode(schema["learner"], validate=True))
    mark = learner._mark()
    learner._restore(None)
    fleet = Fleet(learner, prior=None if schema["priors"] is None else "fleet")
    fleet._clock = float(schema["clock"])
    named = _read_keys(keys, count, texts=schema["texts"])
    if count:
        fleet._index = index_for(named)
        fleet._index.give(named)
        if fleet._index.size() != count:
            raise _damaged("two of its keys are the same")
    store = fleet._store
    if isinstance(store, Loose) or (isinstance(store, Laid) and schema["version"] == 1):
        return _with_models(fleet, store, count, body)
    assert isinstance(store, SlotStore)
    if mark is not None:
        extra = tuple(int(k) for k in schema["extra"])
        store.repack(store.packing_of(mark.space, extra))
        if isinstance(store, Packed):
            store.peak = float(schema["peak"])
        rows = np.frombuffer(body, "<f8").reshape(count, store.packing.wide)
        if isinstance(store, Packed) and store.priors is not None:
            assert store.packing is not None
            _restore_priors(store.priors, schema["priors"], store.packing.features)
            _check_versions(rows[:, -2], len(store.priors.known))
        whole = count - count % BLOCK
        mapped = own(rows[:whole])
        for k in range(0, whole, BLOCK):
            store.attach(mapped[k : k + BLOCK])
        if count > whole:
            store.reserve(count)
            store.blocks[-1][: count - whole] = rows[whole:]
    elif count:
        raise _damaged("it has keys and no features")
    return fleet


def _with_models(fleet: Fleet, store: Loose | Laid, count: int, body: memoryview) -> Fleet:
    lengths = np.frombuffer(body, "<i8", count)
    times = np.frombuffer(body, "<f8", count, offset=8 * count)
    if (lengths < 0).any() or 16 * count + int(lengths.sum()) != len(body):
        raise _damaged("its learners have other lengths")
    ends = accumulate([16 * count, *lengths.tolist()])
    for slot, (start, end) in enumerate(pairwise(ends)):
        state = store.fits(snapshot.from_bytes(bytes(body[start:end])), slot)
        store.reserve(count)
        store.put(slot, state, float(times[slot]))
    return fleet


def _read_keys(kept: memoryview, count: int, *, texts: bool) -> Keys:
    if not texts:
        return np.frombuffer(kept, "<i8").astype(np.int64)
    lengths = np.frombuffer(kept, "<i8", count)
    if (lengths < 0).any() or 8 * count + int(lengths.sum()) != len(kept):
        raise _damaged("its keys have other lengths")
    ends = accumulate([8 * count, *lengths.tolist()])
    return [str(kept[start:end], "utf-8") for start, end in pairwise(ends)]


def _counts(pair: Any) -> tuple[int, int]:
    if type(pair) is not list or len(pair) != 2 or not all(type(n) is int and n >= 0 for n in pair):
        raise _damaged("its counts are no whole numbers")
    return pair[0], pair[1]


def _damaged(why: str) -> SnapshotError:
    return SnapshotError(f"the fleet is damaged: {why}; take another copy of it")
