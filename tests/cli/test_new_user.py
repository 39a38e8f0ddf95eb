"""What a new user ran into: each with the friendly outcome."""

from __future__ import annotations

import contextlib
import signal
import sqlite3
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import noregret as nr
from commands import flat, narrow, noregret
from noregret.cli import session
from noregret.cli.show import number
from noregret.errors import ParameterError
from noregret.running.player import Player


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("NOREGRET_MODEL", "auto")
    monkeypatch.chdir(tmp_path)


def failing(capsys, *arguments: object) -> str:
    """The one line that a mistake gets."""
    capsys.readouterr()
    assert noregret(*arguments) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said


def shown(capsys, *arguments: object) -> str:
    """The screen, without the breaks of long lines."""
    return flat(narrow(capsys, *arguments))


# Far horizons ---------------------------------------------------------------------------------


def test_a_horizon_is_capped_in_the_library() -> None:
    with pytest.raises(ParameterError, match=r"horizon = 1001: .* 1 to 1,000"):
        nr.Forecaster(horizon=1001).learn_one(None, 1.0)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no such timers")
def test_a_signal_ends_a_piece_that_takes_long(monkeypatch) -> None:
    Path("d.csv").write_text("a,y\n" + "2,3\n" * 30)

    def slow(*_: object) -> None:
        signal.raise_signal(signal.SIGTERM)
        time.sleep(30)

    monkeypatch.setattr(session, "GRACE", 0.01)
    monkeypatch.setattr(Player, "play", slow)
    with pytest.raises(SystemExit) as ended:
        noregret("run", "d.csv", "--target", "y")
    assert ended.value.code == 128 + signal.SIGTERM
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


# Merging --------------------------------------------------------------------------------------


def vendors(rows: int = 40, extra: str = "") -> None:
    """Forecasts of two vendors; the first row is far off, one row has neither."""
    lines = [f"{k},{100 + k % 7},{103 + k % 7},{101 + k % 7}" for k in range(rows)]
    lines[0] = "0,500,100,101"
    lines[20] = "20,,,107"
    Path("v.csv").write_text("\n".join(["week,A,B,y", *lines, *extra.splitlines()]) + "\n")


def test_a_row_without_any_forecast_is_left_out_and_said(capsys) -> None:
    vendors()
    words = ("merge", "v.csv", "--target", "y", "--forecasts", "A,B", "--out", "o.csv")
    said = shown(capsys, *words)
    assert "! 1 row has none of the forecasts, and get none: left out: v.csv, line 22" in said
    places = [int(line.split(",")[0]) for line in Path("o.csv").read_text().splitlines()[1:]]
    assert places == [k for k in range(2, 42) if k != 22]


def test_what_is_left_out_of_a_table_is_said_and_numbers_agree(capsys) -> None:
    vendors()
    said = shown(capsys, "merge", "v.csv", "--target", "y", "--forecasts", "A,B", "--out", "o.csv")
    assert "Typical error, each on the rows it has (first 1 left out)" in said
    assert "Beside the best of 2 forecasts, had you known it (" in said
    assert "), on all rows learned:\n" in said
    rows = [line.split(",") for line in Path("o.csv").read_text().splitlines()]
    square = [(float(one[1]) - float(one[2])) ** 2 for one in rows[1:]]
    assert f"  RMSE {number((sum(square) / len(square)) ** 0.5)}, " in said
    assert f"  this forecast{number((sum(square[1:]) / len(square[1:])) ** 0.5):>21}" in said


def test_a_column_that_counts_the_rows_is_no_forecast(capsys) -> None:
    vendors()
    said = shown(capsys, "merge", "v.csv", "--target", "y")
    assert "! week is merged too, and does not look like a forecast of y: --forecasts A,B" in said
    assert "does not look" not in shown(capsys, "merge", "v.csv", "--target", "y", "--drop", "week")


# Years ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Year", "jahr"])
def test_a_column_of_years_is_the_time(capsys, name: str) -> None:
    rows = [f"{1950 + k},{100 + 3 * k}" for k in range(40) if k != 30]
    Path("a.csv").write_text("\n".join([f"{name},y", *rows]) + "\n")
    said = shown(capsys, "forecast", "a.csv", "--target", "y", "--steps", "2", "--out", "n.csv")
    assert "39 rows, 1950 to 1989, every 1 year, 1 step missing" in said
    assert "\nNext   1990 " in said
    assert "RMSE       MAE\n" in said  # the last 30 rows are all that were scored
    times = [line.split(",")[0] for line in Path("n.csv").read_text().splitlines()]
    assert times == ["time", "1990", "1991"]
    words = ("run", "a.csv", "--target", "y", "--out", "o.csv")
    assert f"column '{name}': years are the times of rows" in shown(capsys, *words)
    assert Path("o.csv").read_text().splitlines()[3].startswith("4,1952,106.0,")
    assert shown(capsys, *words) == shown(capsys, *words, "--time", name).replace(
        f" --time {name}", ""
    )


def test_years_of_long_ago_are_times_too(capsys) -> None:
    rows = [f"{1724 + k},{100 + 3 * k}" for k in range(60)]
    Path("a.csv").write_text("\n".join(["Year,y", *rows]) + "\n")
    assert "\nNext   1784 " in shown(capsys, "forecast", "a.csv", "--target", "y", "--steps", "2")


def test_years_that_come_again_or_beside_a_date_are_not_the_time(capsys) -> None:
    months = [f"{2000 + k // 12},{k % 12 + 1},{k}" for k in range(48)]
    Path("m.csv").write_text("\n".join(["year,month,y", *months]) + "\n")
    assert "features year, month" in shown(capsys, "run", "m.csv", "--target", "y")
    days = [f"{1950 + k},{1950 + k}-12-31,{k}" for k in range(30)]
    Path("d.csv").write_text("\n".join(["Year,day,y", *days]) + "\n")
    assert "1950-12-31 to 1979-12-31" in shown(capsys, "run", "d.csv", "--target", "y")
    assert "features Year" in shown(capsys, "run", "d.csv", "--target", "y", "--model", "ridge")


def test_years_of_a_table_are_the_time(capsys) -> None:
    years = list(range(1950, 1990))
    pl.DataFrame({"Year": years, "y": [float(y % 7) for y in years]}).write_parquet("a.parquet")
    said = shown(capsys, "run", "a.parquet", "--target", "y")
    assert "40 rows, 1950 to 1989, every 1 year, no gaps" in said


# Times that were there before -----------------------------------------------------------------


def hours(name: str, *, back: bool = False, first: int = 0) -> None:
    """Thirty hours, the newest first if wanted."""
    start = np.datetime64("2024-03-01T00", "h") + first
    rows = [f"{start + k},{100 + k % 24}" for k in range(30)]
    Path(name).write_text("\n".join(["time,y", *(reversed(rows) if back else rows)]) + "\n")


def test_the_newest_row_first_is_said_with_the_remedy(capsys) -> None:
    hours("r.csv", back=True)
    said = failing(capsys, "run", "r.csv", "--target", "y")
    assert "r.csv: the newest row comes first, by 'time'" in said
    assert "(head -n 1 r.csv; tail -n +2 r.csv | tac) > sorted.csv" in said


@pytest.mark.parametrize("model", ["auto", "ridge"])
def test_late_learn_is_offered_only_where_it_will_do(capsys, model: str) -> None:
    hours("a.csv")
    words = ("--target", "y", "--model", model, "--state", "s.nr", "--time", "time")
    more = () if model == "auto" else ("--calendar",)
    assert noregret("run", "a.csv", *words, *more) == 0
    hours("b.csv", first=30)
    assert noregret("run", "b.csv", *words, *more) == 0
    said = failing(capsys, "run", "a.csv", *words, *more)
    assert ("--late learn" in said) == (model == "ridge")
    assert ("another --state all of it anew" in said) == (model == "auto")


def test_a_file_that_changed_is_named_once(capsys) -> None:
    hours("a.csv")
    words = ("run", "a.csv", "--target", "y", "--state", "s.nr")
    assert noregret(*words) == 0
    Path("a.csv").write_text(Path("a.csv").read_text().replace("103", "104"))
    assert failing(capsys, *words).startswith("noregret: a.csv: it does not begin as it did")


# Files that are something else ----------------------------------------------------------------


def test_sheets_of_a_workbook_are_named_and_chosen(capsys) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "notes"
    for name, scale in (("first", 1.0), ("second", 10.0)):
        sheet = book.create_sheet(name)
        sheet.append(["a", "y"])
        for k in range(20):
            sheet.append([k % 3, scale * k])
    book.save("b.xlsx")
    words = ("run", "b.xlsx", "--target", "y", "--model", "ridge")
    said = shown(capsys, *words)
    assert "! sheet first is read; --sheet takes another: notes, second" in said
    said = shown(capsys, *words, "--sheet", "second")
    assert "mean 95" in said
    assert "sheet first" not in said
    assert "the columns are a, y; sheet first" in failing(capsys, *words[:3], "z")
    assert "did you mean 'second'?" in failing(capsys, *words, "--sheet", "secnd")


# Columns without a value ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["sqlite", "parquet"])
@pytest.mark.parametrize("model", ["auto", "ridge"])
def test_a_column_of_nulls_is_left_out_and_said(capsys, kind: str, model: str) -> None:
    rows = [(float(k % 3), float(k % 7), None) for k in range(30)]
    if kind == "sqlite":
        with contextlib.closing(sqlite3.connect("s.db")) as base, base:
            base.execute("CREATE TABLE s (a REAL, y REAL, note REAL)")
            base.executemany("INSERT INTO s VALUES (?, ?, ?)", rows)
        words = ["sqlite:s.db", "--query", "SELECT * FROM s"]
    else:
        kinds = {"a": pl.Float64, "y": pl.Float64, "note": pl.Float64}
        pl.DataFrame(rows, schema=kinds, orient="row").write_parquet("s.parquet")
        words = ["s.parquet"]
    said = shown(capsys, "run", *words, "--target", "y", "--model", model)
    assert "! column 'note' is empty in the first rows: left out" in said


def test_all_of_a_column_is_a_hundred_percent(capsys) -> None:
    cells = ["1", *[""] * 299]
    rows = "".join(f"{cell},{k % 5}\n" for k, cell in enumerate(cells))
    Path("d.csv").write_text("a,y\n" + rows)
    said = shown(capsys, "run", "d.csv", "--target", "y", "--missing", "last", "--model", "ridge")
    assert "filled 299 cells (100 %) of a" in said


def test_numbers_that_go_up_and_down_are_no_time(capsys) -> None:
    rows = "".join(f"{(37 * k) % 101},{k % 5}\n" for k in range(60))
    Path("d.csv").write_text("temperature,y\n" + rows)
    said = shown(capsys, "run", "d.csv", "--target", "y", "--time", "temperature")
    assert "! column 'temperature' goes back again and again, so it is no time: rows are" in said
    assert "irregular" not in said


def test_a_season_that_had_not_been_there_yet_is_said(capsys) -> None:
    start = np.datetime64("2024-03-01T00", "h")
    rows = [f"{start + k},{k % 24 + k % 7}" for k in range(400)]
    Path("w.csv").write_text("\n".join(["time,y", *rows]) + "\n")
    said = shown(capsys, "run", "w.csv", "--target", "y")
    assert "! same time last week is same time yesterday in the first 143 steps" in said


def test_a_feature_without_a_value_in_the_first_row_is_the_reason(capsys) -> None:
    rows = [f"{'' if k == 0 else k},{100 + 3 * k}" for k in range(30)]
    Path("a.csv").write_text("\n".join(["x,y", *rows]) + "\n")
    said = failing(capsys, "run", "a.csv", "--target", "y", "--model", "ridge", "--missing", "last")
    assert "line 2: there is no feature to forecast from, or none has a value yet" in said
