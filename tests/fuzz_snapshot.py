"""Fuzz the reader of model files, guided by coverage: `make fuzz`.

Three mutations in four give the file a right digest again, so that they reach what lies behind it.
Anything but SnapshotError ends the run, and so does a file that takes over a second or 2 GB.
"""

from __future__ import annotations

import random
import struct
import sys
import tempfile
from pathlib import Path
from typing import Any

NAMES = 158 + 10  # bytes before the header of a file


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


def main() -> None:
    import atheris

    import noregret as nr
    from noregret.errors import SnapshotError
    from stored import CASES, grown

    for name in set(nr.__all__) - {"from_bytes", "load", "save", "to_bytes"}:
        getattr(nr, name)  # all learners, so that no compiled code is instrumented
    with atheris.instrument_imports(include=["noregret.snapshot", "json"]):
        from noregret.snapshot import frame

    given: dict[str, Any] = {}
    for case in CASES.values():
        given |= case.given
    tokens = [b"null", b"-1", b"1e308", b"[]", b"{}", b'"is"', b"18446744073709551616", b"true"]

    def mutate(data: bytes, size: int, seed: int) -> bytes:
        rng = random.Random(seed)
        parts = split(data)
        if parts is None or rng.random() < 0.25:
            return atheris.Mutate(data, size)
        header, numbers = parts
        choice = rng.random()
        if choice < 0.4:
            header = atheris.Mutate(header, len(header) + 64)
        elif choice < 0.7 and header:
            at = rng.randrange(len(header))
            token = rng.choice([*tokens, header[(k := rng.randrange(len(header))) : k + 12]])
            header = header[:at] + token + header[at + rng.randrange(8) :]
        elif choice < 0.9:
            numbers = atheris.Mutate(numbers, len(numbers) + 64)
            numbers = numbers[: len(numbers) // 8 * 8]
        else:
            cut = 8 * rng.randrange(1 + len(numbers) // 8)
            numbers = numbers[:cut] + bytes(8 * rng.randrange(3))
        return frame.pack(header, numbers)

    counts = {"read": 0, "refused": 0}

    def one(data: bytes) -> None:
        try:
            # Whatever the file asks for is given; what it does not ask for is an error of its own.
            wanted = {name: f for name, f in given.items() if name.encode() in data}
            nr.from_bytes(data, **wanted)
            counts["read"] += 1
        except SnapshotError:
            counts["refused"] += 1

    seconds = sys.argv[1] if len(sys.argv) > 1 else "600"
    with tempfile.TemporaryDirectory() as folder:
        for k, (name, case) in enumerate(CASES.items()):
            if name != "auto, kernels":
                (Path(folder) / str(k)).write_bytes(grown(case, 3).to_bytes())
        arguments = [
            sys.argv[0],
            folder,
            f"-max_total_time={seconds}",
            "-timeout=1",
            "-rss_limit_mb=2048",
            "-max_len=40000",
            "-print_final_stats=1",
            f"-artifact_prefix={folder}-",
        ]
        atheris.Setup(arguments, one, custom_mutator=mutate)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
