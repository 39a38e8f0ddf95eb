"""Fuzz the reader of model files: `make fuzz`.

    python tests/fuzz_snapshot.py SECONDS

Three mutations in four give the file a right digest again, so that they reach what lies behind it.
Anything but SnapshotError ends the run, and so does a file that takes over five seconds or 2 GB.
"""

from __future__ import annotations

import random
import struct
import sys
from typing import Any

import fuzzing

NAMES = 158 + 10  # bytes before the header of a file
TOKENS = [
    *(b"null", b"-1", b"1e308", b"1e999", b"NaN", b"[]", b"{}", b'"is"', b"18446744073709551616"),
    *(b"true", b"[" * 200, b'["dict",', b"[],[],[]", b'"\\ud800"', b"\\", b'"'),
]


def split(data: bytes) -> tuple[bytes, bytes] | None:
    """Header and numbers of a file that is whole, whatever they say."""
    if len(data) < 400:
        return None
    length = struct.unpack_from("<I", data, 22)[0] - 128
    after = NAMES + length
    if length < 0 or after + 200 > len(data):
        return None
    count = struct.unpack_from("<I", data, after + 22)[0] - 128
    start = after + NAMES + 1
    if count < 0 or start + count > len(data):
        return None
    return data[NAMES:after], data[start : start + count]


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Some bytes changed, cut or doubled."""
    at = rng.randrange(len(data) + 1)
    end = min(len(data), at + rng.randrange(16))
    choice = rng.random()
    if choice < 0.5:
        return data[:at] + rng.randbytes(end - at) + data[end:]
    return data[:at] + data[end:] if choice < 0.8 else data[:end] + data[at:end] + data[end:]


def main() -> None:
    import noregret as nr
    from noregret.errors import SnapshotError

    for name in set(nr.__all__) - {"from_bytes", "load", "save", "to_bytes"}:
        getattr(nr, name)  # all learners, so that no compiled code is watched
    with fuzzing.instrumented(["noregret.snapshot", "json"]):
        from noregret.snapshot import frame
    from stored import CASES, extended

    given: dict[str, Any] = {}
    for case in CASES.values():
        given |= case.given

    def mutate(data: bytes, rng: random.Random) -> bytes:
        parts = split(data)
        if parts is None or rng.random() < 0.25:
            return damaged(data, rng)
        header, numbers = parts
        choice = rng.random()
        if choice < 0.3:
            header = damaged(header, rng)
        elif choice < 0.7 and header:
            at = rng.randrange(len(header))
            token = rng.choice([*TOKENS, header[(k := rng.randrange(len(header))) : k + 12]])
            header = header[:at] + token + header[at + rng.randrange(8) :]
        elif choice < 0.9:
            numbers = damaged(numbers, rng)
            numbers = numbers[: len(numbers) // 8 * 8]
        else:
            cut = 8 * rng.randrange(1 + len(numbers) // 8)
            numbers = numbers[:cut] + bytes(8 * rng.randrange(3))
        return frame.pack(header, [numbers])

    def one(data: bytes) -> bool:
        try:
            # Whatever the file asks for is given; what it does not ask for is an error of its own.
            wanted = {name: f for name, f in given.items() if name.encode() in data}
            nr.from_bytes(data, **wanted)
        except SnapshotError as refusal:
            return "asks for no such" in str(refusal)  # it was read to its end
        return True

    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 600
    seeds = [
        extended(case, 3).to_bytes() for name, case in CASES.items() if name != "auto, kernels"
    ]
    fuzzing.run("snapshot", one, mutate, seeds, seconds, ["noregret.snapshot"])


if __name__ == "__main__":
    main()
