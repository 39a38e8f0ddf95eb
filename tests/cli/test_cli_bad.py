"""Bad files: each is one line with its place and exit code 2, whatever was done to it."""

from __future__ import annotations

import gzip
import io
import sqlite3
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from commands import noregret, stream, write

GOOD = b"a,b,y\n" + b"".join(b"%d,%d,%d\n" % (t, t * t % 7, t % 5) for t in range(50))
PACKED = gzip.compress(GOOD)

BAD = {
    "truncated.csv.gz": (PACKED[: len(PACKED) // 2], "truncated gzip: it ends after"),
    "damaged.csv.gz": (PACKED[:60] + b"xx" + PACKED[62:], "gzip"),
    "nul.csv": (GOOD.replace(b"7,0,2", b"7\0,0,2"), "line 9: byte 2 of the line is NUL"),
    "latin.csv": (
        GOOD.replace(b"8,1,3", b"8,\xe9,3"),
        "0xe9, which is not UTF-8: try --encoding cp1252 ('é')",
    ),
    "utf16.csv": (GOOD.decode().encode("utf-16-le"), "line 1: byte 2 of the line is NUL"),
    "odd16.csv": (GOOD.decode().encode("utf-16")[:-1], "is not utf-16: give another --encoding"),
    "short.csv": (GOOD.replace(b"\n9,4,4\n", b"\n9,4\n"), "line 11: 2 cells in a file of 3"),
    "long.csv": (GOOD.replace(b"\n9,4,4\n", b"\n9,4,4,5\n"), "line 11: 4 cells in a file of 3"),
    "twice.csv": (b"a,a,y\n1,2,3\n", "line 1: columns 1 and 2 are both called 'a'"),
    "nameless.csv": (b"a,,y\n1,2,3\n", "line 1: column 2 of the header has no name"),
    "empty.csv": (b"", "the file is empty"),
    "blank.csv": (b"\n\n \n", "the file is empty"),
    "header.csv": (b"a,b,y\n", "there is not one row"),
    "huge.csv": (GOOD + b"1" * 10_000_000 + b",2,3\n", "line 52: the line is longer"),
    "nan.csv": (GOOD.replace(b"\n9,4,4\n", b"\n9,NaN,4\n"), "line 11, column 'b': the value is"),
    "inf.csv": (GOOD.replace(b"\n9,4,4\n", b"\n9,inf,4\n"), "line 11, column 'b': 'inf' is not"),
    "1e999.csv": (GOOD.replace(b"\n9,4,4\n", b"\n9,4,1e999\n"), "line 11, column 'y': '1e999'"),
    "target.csv": (b"a,b\n1,2\n", "there is no column 'y'; the columns are a, b"),
    "text.csv": (GOOD.replace(b"\n9,4,4\n", b"\n9,red,4\n"), "line 11, column 'b': 'red' in a"),
    "quote.csv": (GOOD.replace(b"\n9,4,4\n", b'\n9,"4,4\n'), "line 11"),
    "bad.jsonl": (b'{"a":1,"y":2}\n{"a":1,\n', "line 2: "),
    "nan.jsonl": (b'{"a":1,"y":2}\n{"a":NaN,"y":3}\n', "line 2, column 'a': the value is"),
    "bad.svm": (b"1 1:2 3:4\n1 a:b\n", "line 2: '1 a:b'"),
    "bad.parquet": (b"PAR1" + b"x" * 100, "bad.parquet: "),
    "bad.arrow": (b"ARROW1" + b"x" * 100, "bad.arrow: "),
    "bad.npz": (b"PK" + b"x" * 100, "bad.npz: "),
    "empty.parquet": (b"", "empty.parquet: "),
    "empty.jsonl": (b"", "the file is empty"),
    "empty.svm": (b"", "the file is empty"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_one_line_with_its_place(name: str, tmp_path: Path, capsys) -> None:
    content, message = BAD[name]
    path = tmp_path / name
    path.write_bytes(content)
    assert noregret("run", path, "--target", "y") == 2
    shown = capsys.readouterr()
    assert shown.err.startswith(f"noregret: {path}")
    assert message in shown.err
    assert shown.err.count("\n") == 1
    assert shown.out == ""


def seeds(folder: Path) -> dict[str, bytes]:
    """Small files of every kind to start from."""
    frame = stream(25)
    dated = frame.with_columns(
        time=pl.Series([f"2024-01-{t % 28 + 1:02d}T10:00" for t in range(25)])
    )
    found = {}
    for ending in (".csv", ".parquet", ".arrow", ".jsonl"):
        path = write(dated if ending == ".csv" else frame, folder / f"seed{ending}")
        found[ending] = path.read_bytes()
    found[".csv.gz"] = gzip.compress(found[".csv"])
    found[".tsv"] = found[".csv"].replace(b",", b"\t").replace(b"red", b'"re\nd"')
    held = io.BytesIO()
    np.savez(held, X=np.arange(50.0).reshape(25, 2), y=np.arange(25))
    found[".npz"] = held.getvalue()
    found[".svm"] = b"".join(b"%d 1:%d 5:0.5\n" % (t % 3, t) for t in range(25))
    with sqlite3.connect(folder / "seed.db") as connection:
        connection.execute("CREATE TABLE t (a REAL, colour TEXT, y REAL)")
        connection.executemany(
            "INSERT INTO t VALUES (?, ?, ?)", frame.select("a", "colour", "y").rows()
        )
    connection.close()
    found[".db"] = (folder / "seed.db").read_bytes()
    return found


JUNK = (b"\0", b"\n", b",", b'"', b"NaN", b"1e999", b"-", b"\xff\xfe", b"\r", b"{", b"9" * 40, b":")


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """A few small changes, anywhere."""
    held = bytearray(content)
    for _ in range(int(rng.integers(1, 5))):
        at, other = sorted(rng.integers(0, len(held) + 1, 2).tolist())
        match int(rng.integers(0, 6)):
            case 0 if at < len(held):
                held[at] ^= 1 << int(rng.integers(0, 8))
            case 1:
                del held[at : min(other, at + 20)]
            case 2:
                held[at:at] = JUNK[int(rng.integers(0, len(JUNK)))]
            case 3:
                held[at:at] = held[at : min(other, at + 60)]
            case 4 if rng.random() < 0.3:
                del held[at:]
            case _ if at < len(held):
                held[at] = int(rng.integers(0, 256))
    return bytes(held)


def fuzz(folder: Path, capsys, files: int) -> None:
    rng = np.random.default_rng(1)
    starts = seeds(folder)
    options = [[], ["--skip-bad", "1000"], ["--missing", "mean"], ["--lags", "1,2"], ["--calendar"]]
    codes = {0: 0, 2: 0}
    for k in range(files):
        ending = list(starts)[k % len(starts)]
        path = folder / f"mutant{ending}"
        path.write_bytes(mutated(starts[ending], rng))
        data = [f"sqlite:{path}", "--query", "SELECT * FROM t"] if ending == ".db" else [path]
        more = options[int(rng.integers(0, len(options)))]
        try:
            code = noregret("run", *data, "--target", "y", "-q", *more)
        except BaseException:
            (folder / f"crash{k}{ending}").write_bytes(path.read_bytes())
            raise
        shown = capsys.readouterr()
        assert code in codes, (k, ending, more, code, shown.err)
        assert shown.err.count("\n") == (code == 2), (k, ending, more, shown.err)
        assert "Traceback" not in shown.err
        codes[code] += 1
    assert min(codes.values()) > files // 20, codes


@pytest.mark.slow
def test_mutated_files_are_read_or_refused(tmp_path: Path, capsys) -> None:
    fuzz(tmp_path, capsys, 300)


@pytest.mark.slow
def test_ten_thousand_mutated_files(tmp_path: Path, capsys) -> None:
    fuzz(tmp_path, capsys, 10_000)
