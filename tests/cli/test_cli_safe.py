"""Sources that cannot write, outputs that are never the data, text that is no formula."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import polars as pl
import pytest

from commands import noregret, stream, write
from noregret.cli.output import open_output
from noregret.errors import SourceError
from noregret.sources import Source

# Outputs and data ---------------------------------------------------------------------------


def complaint(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The one line that a refused command leaves."""
    assert noregret(*arguments) == 2
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1
    return shown


@pytest.mark.parametrize("option", ["--out", "--report", "--state"])
@pytest.mark.parametrize("ending", [".csv", ".parquet", ".jsonl"])
def test_no_output_is_another_name_of_the_data(
    option: str, ending: str, tmp_path: Path, capsys
) -> None:
    path = write(stream(20), tmp_path / f"data{ending}")
    before = path.read_bytes()
    hard, soft, folder = tmp_path / f"hard{ending}", tmp_path / f"soft{ending}", tmp_path / "other"
    hard.hardlink_to(path)
    soft.symlink_to(hard)
    folder.symlink_to(tmp_path, target_is_directory=True)
    for place in (path, hard, soft, folder / hard.name):
        said = complaint(capsys, "run", path, "--target", "y", option, place)
        assert f"{option} {place} is the data too" in said
    assert path.read_bytes() == before
    assert path.samefile(hard)


def test_outputs_that_are_one_file(tmp_path: Path, capsys) -> None:
    path, out = write(stream(20), tmp_path / "data.csv"), tmp_path / "o.csv"
    out.write_text("old")
    link = tmp_path / "link.html"
    link.hardlink_to(out)
    said = complaint(capsys, "run", path, "--target", "y", "--out", out, "--report", link)
    assert f"--report {link} is --out too" in said
    assert out.read_text() == "old"


def test_standard_input_and_output_that_are_files(tmp_path: Path, capsys, monkeypatch) -> None:
    path = write(stream(20), tmp_path / "data.csv")
    before = path.read_bytes()
    with path.open() as data, monkeypatch.context() as patch:
        patch.setattr("sys.stdin", data)
        said = complaint(capsys, "run", "-", "--target", "y", "--out", path)
    assert "is the data too" in said
    with path.open("a") as data, monkeypatch.context() as patch:
        patch.setattr("sys.stdout", data)
        assert noregret("run", path, "--target", "y", "--out", "-") == 2
    assert "--out - is the data too" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_a_file_that_a_query_names_is_not_written(
    tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("duckdb")
    monkeypatch.chdir(tmp_path)
    path = write(stream(20), tmp_path / "data.parquet")
    before = path.read_bytes()
    run = ("run", "duckdb:", "--query", "SELECT * FROM 'data.parquet'", "--target", "y", "--out")
    assert "the query names it" in complaint(capsys, *run, "data.parquet")
    assert path.read_bytes() == before
    assert noregret(*run, "forecasts.parquet", "-q") == 0
    assert len(pl.read_parquet("forecasts.parquet")) == 20


# Queries ------------------------------------------------------------------------------------

WRITING = {
    "sqlite": (
        "VACUUM INTO 'new.db'",
        "VACUUM",
        "ATTACH 'new.db' AS other",
        "ATTACH ':memory:' AS other",
        "PRAGMA journal_mode = WAL",
        "PRAGMA user_version = 7",
        "PRAGMA writable_schema = 1",
        "PRAGMA temp_store_directory = '.'",
        "INSERT INTO t VALUES (1, 2) RETURNING *",
        "DELETE FROM t RETURNING a",
        "UPDATE t SET a = 2 RETURNING a",
        "CREATE TABLE u AS SELECT * FROM t",
        "CREATE TEMP TABLE u AS SELECT * FROM t",
        "CREATE VIRTUAL TABLE u USING fts5(x)",
        "DROP TABLE t",
        "BEGIN",
        "REINDEX",
        "ANALYZE",
        "SELECT load_extension('new')",
        "SELECT * FROM t; DELETE FROM t",
        "EXPLAIN DELETE FROM t",
        "",
    ),
    "duckdb": (
        "COPY t TO 'new.csv'",
        "COPY (SELECT 1 AS a) TO 'new.parquet'",
        "EXPORT DATABASE 'new'",
        "ATTACH 'new.db'",
        "ATTACH ':memory:' AS other",
        "INSTALL sqlite",
        "LOAD sqlite",
        "SET threads = 1",
        "PRAGMA enable_profiling",
        "CALL enable_logging(storage = 'file', storage_config = {'path': 'new'})",
        "SELECT * FROM enable_logging(storage = 'file', storage_config = {'path': 'new'})",
        "SELECT * FROM enable_profiling(save_location = 'new.json')",
        "SELECT * FROM query('COPY (SELECT 1) TO ''new.csv''')",
        "EXPLAIN ANALYZE COPY (SELECT 1 AS a) TO 'new.csv'",
        "SELECT 1 AS a; COPY (SELECT 1) TO 'new.csv'",
        "INSERT INTO t VALUES (1, 2) RETURNING *",
        "CREATE TABLE u AS SELECT 1 AS a",
        "CREATE TEMP TABLE u AS SELECT 1 AS a",
        "CHECKPOINT",
        "BEGIN",
        "DROP TABLE t",
        "",
        ";",
    ),
}


def database(kind: str, path: Path) -> None:
    rows = "CREATE TABLE t (a DOUBLE, y DOUBLE); INSERT INTO t VALUES (1, 2), (3, 4);"
    if kind == "sqlite":
        connection = sqlite3.connect(path)
        connection.executescript(rows)
    else:
        connection = pytest.importorskip("duckdb").connect(str(path))
        connection.execute(rows)
    connection.close()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "duckdb", "duckdb without a file"])
def test_a_query_writes_nothing(kind: str, tmp_path: Path, monkeypatch) -> None:
    kind, _, bare = kind.partition(" ")
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(work)
    path = work / "data.db"
    database(kind, path)
    before = path.read_bytes()
    place = f"{kind}:" if bare else f"{kind}:{path}"
    for query in WRITING[kind]:
        with pytest.raises(SourceError) as refused:
            list(Source(place, query=query).blocks())
        assert "Traceback" not in str(refused.value)
        assert [p.name for p in work.iterdir()] == ["data.db"], query
        assert path.read_bytes() == before, query
    assert not list(home.iterdir())


READING = {
    "sqlite": (
        "SELECT * FROM t",
        "WITH u AS (SELECT * FROM t) SELECT a, max(y) AS y FROM u GROUP BY a ORDER BY a",
        """WITH RECURSIVE u(a) AS (VALUES (1) UNION ALL SELECT a + 2 FROM u LIMIT 2)
        SELECT u.a, y FROM u JOIN t ON u.a = t.a""",
        "SELECT a, y FROM (SELECT *, row_number() OVER (ORDER BY y) AS k FROM t)",
    ),
    "duckdb": (
        "SELECT * FROM t",
        "FROM t -- the short way",
        "WITH u AS (SELECT * FROM t) SELECT a, max(y) AS y FROM u GROUP BY a ORDER BY a",
    ),
}


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_query_reads_its_file(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    database(kind, path)
    for query in READING[kind]:
        (block,) = Source(f"{kind}:{path}", query=query).blocks()
        assert block.columns["a"].tolist() == [1.0, 3.0], query
        assert block.columns["y"].tolist() == [2.0, 4.0], query


def test_a_named_database_is_all_that_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    database("duckdb", path)
    csv = write(stream(5), tmp_path / "data.csv")
    with pytest.raises(SourceError, match="Cannot access file"):
        list(Source(f"duckdb:{path}", query=f"SELECT * FROM '{csv}'").blocks())
    (block,) = Source("duckdb:", query=f"SELECT * FROM '{csv}'").blocks()
    assert len(block) == 5


# Spreadsheets -------------------------------------------------------------------------------

TEXTS = {
    "=HYPERLINK(1)": "'=HYPERLINK(1)",
    "+cmd": "'+cmd",
    "-cmd": "'-cmd",
    "@SUM(1)": "'@SUM(1)",
    "\tx": "'\tx",
    "\rx": "'\rx",
    "-3.5": "-3.5",
    "+1e3": "+1e3",
    "-3.5+cmd": "'-3.5+cmd",
    "-inf": "-inf",
    "2024-02-29": "2024-02-29",
    "x=1": "x=1",
    "": "",
}


def test_text_in_csv_is_no_formula(tmp_path: Path) -> None:
    for ending in (".csv", ".jsonl", ".parquet"):
        path = tmp_path / f"o{ending}"
        output = open_output(str(path), None)
        output.write({"time": [*TEXTS, None], "y": pl.Series([-3.5] * 14).to_numpy()})
        output.close()
    read = pl.read_csv(tmp_path / "o.csv", schema={"time": pl.String, "y": pl.Float64})
    assert read["time"].to_list()[:-2] == list(TEXTS.values())[:-1]
    assert read["y"].to_list() == [-3.5] * 14
    assert "'-3.5," not in (tmp_path / "o.csv").read_text()
    assert pl.read_ndjson(tmp_path / "o.jsonl")["time"].to_list() == [*TEXTS, None]
    assert pl.read_parquet(tmp_path / "o.parquet")["time"].to_list() == [*TEXTS, None]


def test_a_text_column_as_time(tmp_path: Path) -> None:
    data, out = tmp_path / "data.csv", tmp_path / "o.csv"
    data.write_text("when,a,y\n\"=cmd|' /C calc'!A0\",1,-2.5\n@x,-2,3\nplain,1,-0.5\n")
    run = ("run", data, "--target", "y", "--time", "when", "--out", out, "-q")
    assert noregret(*run) == 0
    read = pl.read_csv(out)
    assert read["time"].to_list() == ["'=cmd|' /C calc'!A0", "'@x", "plain"]
    assert read["y"].to_list() == [-2.5, 3.0, -0.5]
    # A time that is a number is written as one, and a negative one stays a number.
    data.write_text("when,a,y\n-2,1,-2.5\n-1.5,-2,3\n")
    assert noregret(*run) == 0
    assert pl.read_csv(out)["time"].to_list() == [-2.0, -1.5]
