"""Fuzz CSV and JSON lines through the readers of the command line: `make fuzz`.

    python tests/fuzz_sources.py csv|jsonl SECONDS

Anything but a SourceError, an error that does not say where, a number that is not finite, and an
input that takes over five seconds or 2 GB end the run.
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
from pathlib import Path

import fuzzing

TOKENS = [
    *(
        b"NaN",
        b"nan",
        b"-inf",
        b"Infinity",
        b"1e999",
        b"-1e-999",
        b"1_000",
        b"0x1p3",
        b"1,5",
        b"+.5",
    ),
    *(b"9007199254740993", b"9" * 400, b"2024-02-29", b"2024-02-30T25:00", b"NA", b"null", b"true"),
    *(b"\xef\xbb\xbf", b"\0", b"\xff", b"\xed\xa0\x80", b"\xc3", b"\r", b"\r\n", b"\n", b"\n\n"),
    *(
        b'"',
        b'""',
        b"'",
        b",",
        b";",
        b"\t",
        b"|",
        b" ",
        b"\\",
        b"\\u0000",
        b"\\ud800",
        b"\x1a",
        b"\x0b",
    ),
    *(b"[", b"[" * 2000, b"{", b'{"a":' * 500, b"]", b"}", b":", b'{"a":1,"a":2}', b'{"":1}'),
    *("\u2028".encode(), "\u00a0".encode(), "\u0661".encode(), "\ufeff".encode(), b"x" * 3000),
    *(b"\x1f\x8b", b"=1+1", b"a=red"),
]
SEEDS = {
    "csv": [
        b"a,colour,y\n1,red,2\n3,blue,4\n-5.5,red,1e3\n",
        b"\xef\xbb\xbfa;time;y\r\n1;2024-02-29T12:00;2\r\n;2024-03-01;NA\r\n",
        b'a,"b ""x""",y\n1,"two\nlines",2\n"3",x,4\n',
        b"y\ta\n1\t2\n3\t\n\n5\t6",
        b"a,y\n" + b"1,2\n" * 300,
    ],
    "jsonl": [
        b'{"a":1,"y":2,"c":"red"}\n{"a":3.5,"y":null}\n{"y":1e3,"c":"blue","new":true}\n',
        b'{"t":"2024-02-29T12:00","y":-1}\r\n\r\n{"y":7,"t":null,"deep":[1,{"x":[]}]}',
        b'{"a":"\\u00e9\\ud83d\\ude00","y":0.1}\n' * 40,
    ],
}
PLACED = re.compile(r"fuzzed\.\w+(, (line|row) \d+)?(, column .+)?: ", re.DOTALL)
WHOLE = re.compile(  # what is wrong with a file rather than with a line
    r"file is empty|not one row|there is no column|"
    r"holds (times|neither)|gzip|needs a time column|no column of times|no value in any row|"
    r"can be read in two ways|has its day first|values differ|this is |is not utf-"
)


def checked(kind: str, path: Path, data: bytes, rng: random.Random) -> bool:
    """Read data as the command does; whether it was read."""
    import numpy as np

    from noregret.errors import SourceError
    from noregret.sources import Source
    from noregret.sources.encoding import MISSING, Encoding

    path.write_bytes(data)
    source = Source(str(path), format=kind, skip_bad=rng.choice([0, 0, 3, 10**9]))
    encoding = Encoding("y", missing=rng.choice(MISSING), max_features=50)
    try:
        reading = source.reading()
        last = 0
        for block in source.blocks(reading):
            for piece in encoding.pieces(block, reading):
                assert np.isfinite(piece.frame.to_numpy()).all()
                assert not np.isinf(piece.y).any()
                places = piece.places.tolist()
                assert places == sorted(places), places
                assert places[0] > last, (places[0], last)
                last = places[-1]
        encoding.finish(reading)
    except SourceError as refusal:
        text = str(refusal)
        assert len(text) < 1000, text
        assert WHOLE.search(text) or (PLACED.search(text) and re.search(r"(line|row) \d+", text)), (
            text
        )
        return False
    assert last <= data.count(b"\n") + data.count(b"\r") + 1
    return True


def mutated(data: bytes, rng: random.Random, kind: str) -> bytes:
    """One change or several, of the sort that breaks readers."""
    for _ in range(rng.choice([1, 1, 2, 5])):
        at = rng.randrange(len(data) + 1)
        match rng.randrange(6):
            case 0:
                data = data[:at] + rng.choice(TOKENS) + data[at:]
            case 1:
                data = data[:at] + rng.choice(TOKENS) + data[at + rng.randrange(8) :]
            case 2:
                end = min(len(data), at + rng.randrange(40))
                data = data[:at] + data[end:]
            case 3:
                end = min(len(data), at + rng.randrange(200))
                data = data[:end] + data[at:end] + data[end:]
            case 4:
                lines = data.split(b"\n")
                rng.shuffle(lines)
                data = b"\n".join(lines)
            case _:
                other = rng.choice(SEEDS[kind])
                data = data[:at] + other[rng.randrange(len(other)) :]
    if rng.random() < 0.002:  # longer than a line may be
        at = rng.randrange(len(data) + 1)
        data = data[:at] + rng.choice([b"x", b'"', b"[", b"1"]) * ((1 << 20) + 7) + data[at:]
    return data


def main() -> None:
    kind, seconds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 600
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"fuzzed.{kind}"

        def one(data: bytes) -> bool:
            return checked(kind, path, data, random.Random(len(data)))

        def mutate(data: bytes, rng: random.Random) -> bytes:
            return mutated(data, rng, kind)

        fuzzing.run(kind, one, mutate, SEEDS[kind], seconds, ["noregret.sources"])


if __name__ == "__main__":
    main()
