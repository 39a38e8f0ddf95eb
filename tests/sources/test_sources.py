"""Sources: one stream in every format is one stream; what cells mean; memory is bounded."""

from __future__ import annotations

import gzip
import json
import sqlite3
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commands import stream, write
from noregret.errors import SourceError
from noregret.sources import Source, lines
from noregret.sources.encoding import Encoding


def rounds(source: Source, **chosen) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray]:
    """Names, X, y and places of all rounds, late features 0 before their birth."""
    encoding = Encoding(**({"target": "y"} | chosen))
    reading = source.reading()
    reading.wanted = encoding.wanted()
    pieces = [p for block in source.blocks(reading) for p in encoding.pieces(block, reading)]
    encoding.finish(reading)
    names = list(encoding.slots)
    X = np.zeros((sum(len(p.y) for p in pieces), len(names)))
    at = 0
    for piece in pieces:
        assert piece.frame.columns == names[: piece.frame.shape[1]]
        X[at : at + len(piece.y), : piece.frame.shape[1]] = piece.frame.values
        at += len(piece.y)
    y, places = (np.concatenate([getattr(p, k) for p in pieces]) for k in ("y", "places"))
    return names, X, y, places


def csv_of(tmp_path: Path, content: str, **chosen) -> Source:
    path = tmp_path / "data.csv"
    path.write_text(content)
    return Source(str(path), **chosen)


@pytest.fixture
def frame() -> pl.DataFrame:
    return stream(300)


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow", ".jsonl"])
def test_every_format_gives_the_same_rounds(tmp_path: Path, frame, ending: str) -> None:
    names, X, y, _ = rounds(Source(str(write(frame, tmp_path / f"data{ending}"))))
    assert names[:3] == ["a", "b", f"colour={frame['colour'][0]}"]
    assert np.array_equal(X[:, 0], frame["a"].to_numpy())
    assert np.array_equal(y, frame["y"].to_numpy())
    for j, name in enumerate(names[2:], 2):
        assert np.array_equal(X[:, j] == 1.0, (frame["colour"] == name.removeprefix("colour=")))


def test_gzip_delimiters_quotes_and_line_ends(tmp_path: Path, frame) -> None:
    expected = rounds(Source(str(write(frame, tmp_path / "data.csv"))))
    packed = tmp_path / "packed.csv.gz"
    raw = (tmp_path / "data.csv").read_bytes()
    packed.write_bytes(gzip.compress(raw[:5000]) + gzip.compress(raw[5000:]))  # two members
    frame.write_csv(tmp_path / "tabs.tsv", separator="\t")
    frame.write_csv(tmp_path / "semi.csv", separator=";")
    frame.write_csv(tmp_path / "quoted.csv", quote_style="always")
    (tmp_path / "dos.csv").write_bytes(b"\xef\xbb\xbf" + raw.replace(b"\n", b"\r\n"))
    (tmp_path / "spaces.csv").write_bytes(raw.replace(b",", b" , "))
    for name in ("packed.csv.gz", "tabs.tsv", "semi.csv", "quoted.csv", "dos.csv", "spaces.csv"):
        found = rounds(Source(str(tmp_path / name)))
        assert found[0] == expected[0], name
        assert all(np.array_equal(a, b) for a, b in zip(found[1:], expected[1:])), name


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_queries(tmp_path: Path, frame, kind: str) -> None:
    expected = rounds(Source(str(write(frame, tmp_path / "data.csv"))))
    path = tmp_path / "data.db"
    if kind == "sqlite":
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE t (a REAL, b REAL, colour TEXT, y REAL)")
            connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", frame.rows())
        connection.close()
    else:
        duckdb = pytest.importorskip("duckdb")
        with duckdb.connect(str(path)) as connection:
            connection.execute(f"CREATE TABLE t AS SELECT * FROM '{tmp_path / 'data.csv'}'")
    found = rounds(Source(f"{kind}:{path}", query="SELECT * FROM t"))
    assert found[0] == expected[0]
    assert all(np.array_equal(a, b) for a, b in zip(found[1:3], expected[1:3]))
    for query in ("SELECT * FROM nothing", "SELEC", "CREATE TABLE u (a INT)", "SELECT 1 a, 2 a"):
        with pytest.raises(SourceError, match=r"data\.db"):
            rounds(Source(f"{kind}:{path}", query=query))
    with pytest.raises(SourceError, match="--query"):
        rounds(Source(f"{kind}:{path}"))


@pytest.mark.parametrize("order", ["C", "F"])
def test_npz(tmp_path: Path, order: str) -> None:
    X = np.asarray(np.arange(40_000.0).reshape(20_000, 2), order=order)
    np.savez(tmp_path / "data.npz", X=X, y=np.arange(20_000))
    names, found, y, places = rounds(Source(str(tmp_path / "data.npz")))
    assert names == ["X_0", "X_1"]
    assert np.array_equal(found, X)
    assert np.array_equal(y, np.arange(20_000.0))
    assert places[-1] == 20_000
    np.savez(tmp_path / "bad.npz", X=X, y=np.arange(3))
    with pytest.raises(SourceError, match="different lengths"):
        rounds(Source(str(tmp_path / "bad.npz")))
    np.savez(tmp_path / "object.npz", X=np.array([{}, {}]))
    with pytest.raises(SourceError, match="1-D or 2-D numbers"):
        rounds(Source(str(tmp_path / "object.npz")))


def test_libsvm(tmp_path: Path) -> None:
    path = tmp_path / "data.svm"
    path.write_text("# comment\n1 3:2.5\n-1 1:1 3:4 # more\n\n0.5 7:1e-3\n2\n")
    names, X, y, places = rounds(Source(str(path)))
    assert names == ["3", "1", "7"]
    assert X.tolist() == [[2.5, 0, 0], [4, 1, 0], [0, 0, 1e-3], [0, 0, 0]]
    assert y.tolist() == [1, -1, 0.5, 2]
    assert places.tolist() == [2, 3, 5, 6]


def test_json_lines_columns_come_and_go(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text('{"y":1,"a":true}\n\n{"y":2,"a":0,"new":5}\n{"y":null,"a":1,"new":6}\n')
    names, X, y, places = rounds(Source(str(path)))
    assert names == ["a", "new"]
    assert X.tolist() == [[1, 0], [0, 5], [1, 6]]
    assert np.array_equal(y, [1, 2, np.nan], equal_nan=True)
    assert places.tolist() == [1, 3, 4]
    path.write_text('{"y":1,"a":1,"new":5}\n{"y":2,"a":0}\n')
    with pytest.raises(SourceError, match="line 2, column 'new': the value is missing"):
        rounds(Source(str(path)))


@pytest.mark.slow
@settings(deadline=None)
@given(size=st.integers(1, 400), missing=st.sampled_from(["refuse", "zero", "last", "mean"]))
def test_how_bytes_arrive_changes_nothing(tmp_path_factory, size: int, missing: str) -> None:
    """Files read in pieces of any size give the same rounds, to the last bit."""
    folder = tmp_path_factory.mktemp("pieces")
    text = stream(60).write_csv()
    rows = text.splitlines()
    if missing != "refuse":
        rows[3] = rows[3].replace(rows[3].split(",")[0], "", 1)
        rows[1] = "," + rows[1].partition(",")[2]
        for t in (2, 9, 10, 40):
            cells = rows[t].split(",")
            rows[t] = ",".join([*cells[:2], "", cells[3]])
        rows[20] = rows[20].rpartition(",")[0] + ","
    rows[30] = ""
    rows[35] = rows[35].replace(rows[35].split(",")[2], '"two\nlines, quoted"')
    path = folder / "data.csv"
    path.write_text("\n".join(rows) + "\n")
    whole = rounds(Source(str(path)), missing=missing)
    read, lines.READ = lines.READ, size
    try:
        parts = rounds(Source(str(path)), missing=missing)
    finally:
        lines.READ = read
    assert parts[0] == whole[0]
    for a, b in zip(parts[1:], whole[1:]):
        assert np.array_equal(a, b, equal_nan=True)


def test_missing_values(tmp_path: Path) -> None:
    text = "a,c,y\n,red,1\n2,,2\n,blue,3\n4,red,\n NA ,red,5\n"
    for missing, a, red in (
        ("zero", [0, 2, 0, 4, 0], [1, 0, 0, 1, 1]),
        ("last", [0, 2, 2, 4, 4], [1, 1, 0, 1, 1]),
        ("mean", [0, 2, 2, 4, 3], [1, 1, 0, 1, 1]),
    ):
        names, X, y, _ = rounds(csv_of(tmp_path, text), missing=missing)
        column = dict(zip(names, X.T.tolist()))
        assert column["a"] == a, missing
        assert column["c=red"] == red, missing
        assert np.array_equal(y, [1, 2, 3, np.nan, 5], equal_nan=True)
    with pytest.raises(SourceError, match="line 2, column 'a': the value is missing"):
        rounds(csv_of(tmp_path, text))
    found = rounds(csv_of(tmp_path, text, skip_bad=4))
    assert found[3].tolist() == [5]


def test_kinds_of_columns(tmp_path: Path) -> None:
    text = "code,when,y\n7,2024-02-29T12:00+01:00,1\n8,2024-03-01,2\n"
    names, *_ = rounds(csv_of(tmp_path, text))
    assert names == ["code"]
    names, *_ = rounds(csv_of(tmp_path, text, text=["code"]))
    assert names == ["code=7", "code=8"]
    names, X, *_ = rounds(csv_of(tmp_path, text), calendar=True)
    table = dict(zip(names, X.T.tolist()))
    assert table["weekday=Thursday"] == [1, 0]
    assert table["day cos"] == pytest.approx([-1, 1])
    names, X, *_ = rounds(csv_of(tmp_path, "1,2\n3,4\n", names=["a", "y"]))
    assert (names, X.tolist()) == (["a"], [[1], [3]])
    names, X, *_ = rounds(
        csv_of(tmp_path, "a,y\nNaN,1\n3,4\n", missing_words=["NaN"]), missing="zero"
    )
    assert X.tolist() == [[0], [3]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,y\n1,2\nx,3\n", "line 3, column 'a': 'x' in a column of numbers"),
        ("a,y\nx,2\n1,3\n2024-13-01,4\n", None),
        ("t,y\n2024-01-01,1\nred,2\n", "line 3, column 't': 'red' in a column of times"),
        ("a,y\n1,2\n3\n", "line 3: 1 cell in a file of 2 columns"),
        ("a,y\n1,2\n\n3,4,5\n", "line 4: 3 cells"),
        ('a,y\n"1\n2",3\n4,x\n', "line 4, column 'y'"),
        ("a,a\n1,2\n", "line 1: columns 1 and 2 are both called 'a'"),
        ("a,,y\n", "line 1: column 2 of the header has no name"),
        ("a,z\n1,2\n", "no column 'y'; the columns are a, z"),
        ("a,y\n", "there is not one row in it"),
        ("", "the file is empty"),
        ("a=b,a,y\n1,b,2\n", "two features would be called 'a=b'"),
        ("y\nred\n", "the target 'y' is not a column of numbers"),
    ],
    ids=range(13),
)
def test_a_bad_row_has_its_place(tmp_path: Path, text: str, message: str | None) -> None:
    if message is None:
        rounds(csv_of(tmp_path, text))
        return
    with pytest.raises(SourceError) as caught:
        rounds(csv_of(tmp_path, text))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bad_rows_are_counted(tmp_path: Path) -> None:
    text = "a,y\n1,2\nx,3\n4\n5,6\nNaN,1\n7,8\n"
    source = csv_of(tmp_path, text, skip_bad=3)
    assert rounds(source)[3].tolist() == [2, 5, 7]
    with pytest.raises(SourceError, match=r"line 6.*bad row number 3, 2 tolerated"):
        rounds(csv_of(tmp_path, text, skip_bad=2))
    (tmp_path / "data.csv").write_bytes(b"a,y\n1,2\n\xff,3\n4\0,5\n6,7\n")
    assert rounds(Source(str(tmp_path / "data.csv"), skip_bad=2))[3].tolist() == [2, 5]
    long = b"a,y\n1,2\n" + b"3" * 3_000_000 + b",4\n5,6\n"
    (tmp_path / "data.csv").write_bytes(long)
    assert rounds(Source(str(tmp_path / "data.csv"), skip_bad=1))[3].tolist() == [2, 4]
    (tmp_path / "data.csv").write_bytes(b'a,y\n1,2\n"3,4\n' + b"5,6\n" * 400_000)
    found = rounds(Source(str(tmp_path / "data.csv"), skip_bad=1))
    assert found[3].tolist() == [2, *range(4, 400_004)]


def test_too_many_features_are_an_error(tmp_path: Path) -> None:
    text = "id,y\n" + "".join(f"n{t},{t}\n" for t in range(30))
    with pytest.raises(SourceError, match="more than 20 features, 'id=n20' the next"):
        rounds(csv_of(tmp_path, text), max_features=20)


@pytest.mark.parametrize("kind", ["jsonl", "sqlite"])
def test_text_is_never_a_number_where_values_have_types(tmp_path: Path, kind: str) -> None:
    def given(*values: float | str) -> Source:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.{kind}"
        if kind == "jsonl":
            path.write_text("".join(json.dumps({"a": v, "y": 1.0}) + "\n" for v in values))
            return Source(str(path))
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE t (a, y)")
            connection.executemany("INSERT INTO t VALUES (?, 1.0)", [(v,) for v in values])
        connection.close()
        return Source(f"sqlite:{path}", query="SELECT a, y FROM t")

    assert rounds(given("7", "8"))[0] == ["a=7", "a=8"]
    with pytest.raises(SourceError, match="2, column 'a': '2' in a column of numbers"):
        rounds(given(1.0, "2"))
    with pytest.raises(SourceError, match="2, column 'a': 2 in a column of text"):
        rounds(given("1", 2))


def test_integers_that_float64_cannot_hold_are_bad(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    pl.DataFrame({"a": [1, 2**53 + 1], "y": [1.0, 2.0]}).write_parquet(path)
    with pytest.raises(SourceError, match="row 2, column 'a'"):
        rounds(Source(str(path)))
    pl.DataFrame({"a": [1.0, float("nan")], "y": [1.0, 2.0]}).write_parquet(path)
    with pytest.raises(SourceError, match="row 2, column 'a': the value is missing"):
        rounds(Source(str(path)))
    assert rounds(Source(str(path)), missing="last")[1].tolist() == [[1], [1]]
    pl.DataFrame({"a": [1.0, float("inf")], "y": [1.0, 2.0]}).write_parquet(path)
    with pytest.raises(SourceError, match="row 2, column 'a': inf is not a finite"):
        rounds(Source(str(path)))
    pl.DataFrame({"a": [[1], [2]], "y": [1.0, 2.0]}).write_parquet(path)
    with pytest.raises(SourceError, match="column 'a' holds neither numbers nor text"):
        rounds(Source(str(path)))


def test_whole_numbers_of_json_must_fit(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(f'{{"a":1,"y":1}}\n{{"a":{2**53 + 1},"y":2}}\n')
    with pytest.raises(SourceError, match="line 2, column 'a': 9007199254740993 is a whole number"):
        rounds(Source(str(path)))


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".jsonl", ".arrow"])
def test_columns_that_are_not_used_do_not_matter(tmp_path: Path, ending: str) -> None:
    frame = pl.DataFrame(
        {"a": [1.0, 2.0], "junk": [None, "x"], "odd": ["2024-01-01", "red"], "y": [3.0, 4.0]}
    )
    source = Source(str(write(frame, tmp_path / f"data{ending}")))
    names, X, y, _ = rounds(source, features=["a"])
    assert (names, X.tolist(), y.tolist()) == (["a"], [[1], [2]], [3, 4])
    with pytest.raises(SourceError):
        rounds(source)
    with pytest.raises(SourceError, match="'absent'"):
        rounds(source, features=["none"], target="absent")


def test_bad_rows_between_lone_carriage_returns_are_named(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(b"a;time;y\r\n1;2024-02-2\r:\r:")
    with pytest.raises(SourceError, match=r"data\.csv, line 2: 2 cells in a file of 3 columns"):
        rounds(Source(str(path)))


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_cell_of_a_million_digits_is_refused_at_once(kind: str, tmp_path: Path) -> None:
    """In the time of a hang, a pattern that tries every way to cut the digits would take hours."""
    path = tmp_path / f"data.{kind}"
    digits = "1" * 1_000_000 + "x"
    row = {"csv": f"a,y\n1,2\n{digits},2\n", "jsonl": f'{{"a":1,"y":2}}\n{{"a":"{digits}","y":2}}'}
    path.write_text(row[kind])
    with pytest.raises(
        SourceError, match=r"line \d, column 'a': '1111+\.\.\. in a column of numbers"
    ):
        rounds(Source(str(path)))
