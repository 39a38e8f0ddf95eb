"""--state remembers how a run was made, and refuses rows that it has learned."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import noregret as nr
from commands import forecasts, noregret

START = datetime(2024, 1, 1)  # noqa: DTZ001  # as files have them


def series(first: int, last: int, *, minutes: int = 30) -> pl.DataFrame:
    t = np.arange(first, last)
    times = [f"{START + timedelta(minutes=minutes * int(k)):%Y-%m-%d %H:%M}" for k in t]
    colour = ["red" if k % 3 else "blue" for k in t]
    return pl.DataFrame({"t": times, "a": np.sin(t / 5), "colour": colour, "y": np.cos(t / 7)})


def day(folder: Path, name: str, first: int, last: int) -> Path:
    path = folder / name
    series(first, last).write_csv(path)
    return path


def said(capsys, *arguments: object, code: int = 2) -> str:
    capsys.readouterr()
    assert noregret(*arguments) == code
    shown = capsys.readouterr()
    assert shown.err.count("\n") == (code == 2)
    return shown.err + shown.out


CHOSEN = [
    ["--time", "t", "--lags", "1-3,5", "-m", "aar", "--drift", "0.01", "--drop", "colour"],
    ["-m", "bayesian-ridge", "--noise-var", "0.2", "--fit-intercept", "--features", "a,colour"],
    ["-m", "auto", "--missing", "mean", "--lags", "2,3", "--horizon", "2"],
]


@pytest.mark.parametrize("chosen", CHOSEN, ids=" ".join)
def test_the_state_is_enough(tmp_path: Path, chosen: list[str]) -> None:
    one, two = day(tmp_path, "1.csv", 0, 100), day(tmp_path, "2.csv", 100, 160)
    whole = day(tmp_path, "all.csv", 0, 160)
    state = ("--state", tmp_path / "s.nr", "-q", "--out")
    assert noregret("run", one, "-y", "y", *chosen, *state, tmp_path / "1o.csv") == 0
    assert noregret("run", two, *state, tmp_path / "2o.csv") == 0
    assert noregret("run", whole, "-y", "y", *chosen, "-q", "--out", tmp_path / "o.csv") == 0
    parts = [forecasts(tmp_path / f"{k}o.csv") for k in (1, 2)]
    assert np.array_equal(np.concatenate(parts), forecasts(tmp_path / "o.csv"), equal_nan=True)


def test_what_is_given_goes_before_what_is_remembered(tmp_path: Path, capsys) -> None:
    one, two = day(tmp_path, "1.csv", 0, 50), day(tmp_path, "2.csv", 50, 90)
    state = ("--state", tmp_path / "s.nr", "-q")
    assert noregret("run", one, "-y", "y", "--lags", "1,2", "--prior-precision", "2", *state) == 0
    assert "asks for" in said(capsys, "run", two, "--lags", "1,3", *state)
    assert "asks for" in said(capsys, "run", two, "-m", "ridge", *state)
    assert "target = 'y', and this one has 'a'" in said(capsys, "run", two, "-y", "a", *state)
    assert noregret("run", two, "-y", "y", "--lags", "1-2", *state) == 0
    assert nr.load(tmp_path / "s.nr").n_samples_seen_ == 90


def test_how_cells_are_written_is_remembered(tmp_path: Path, capsys) -> None:
    """Of the second day alone nobody could tell what its commas and its dates mean."""
    one, two, state = tmp_path / "1.csv", tmp_path / "2.csv", tmp_path / "s.nr"
    one.write_text("t;a;y\n29/01/2024;2,5;1\n30/01/2024;3,25;2\n31/01/2024;1,5;0\n")
    two.write_text("t;a;y\n01/02/2024;1,125;1\n02/02/2024;7,125;2\n")
    assert noregret("run", one, "-y", "y", "--time", "t", "--state", state, "-q") == 0
    out = tmp_path / "o.csv"
    assert noregret("run", two, "--state", state, "-q", "--out", out) == 0
    assert pl.read_csv(out)["time"].to_list() == ["2024-02-01", "2024-02-02"]
    fresh = said(capsys, "run", two, "-y", "y", "--time", "t")
    assert "give --d" in fresh


def test_an_open_question_stays_open(tmp_path: Path, capsys) -> None:
    """Times of which nobody said whether days come first are not taken to, a run later."""
    one, two, state = tmp_path / "1.csv", tmp_path / "2.csv", tmp_path / "s.nr"
    one.write_text("t,a,y\n01/02/2024,1,1\n02/02/2024,2,2\n")
    two.write_text("t,a,y\n03/01/2024,1,1\n04/01/2024,2,2\n")
    question = "column 't': '01/02/2024' has its day first or its month: give --date-format"
    assert question in said(capsys, "run", one, "-y", "y", "--state", state, code=0)
    shown = said(capsys, "run", two, "--state", state, code=0)
    assert "column 't': days or months come first: give --date-format d/m/Y or m/d/Y" in shown
    assert "go back" not in shown
    more = ("--state", state, "--date-format", "d/m/Y", "--late", "learn")
    two.write_text(two.read_text() + "02/01/2024,2,2\n")
    assert "times go back in 1 of 1 rows" not in said(capsys, "run", two, *more, code=0)


@pytest.mark.parametrize("declared", [True, False])
def test_an_old_file_is_refused(tmp_path: Path, capsys, declared: bool) -> None:
    one, two = day(tmp_path, "1.csv", 0, 100), day(tmp_path, "2.csv", 100, 160)
    state = ("--state", tmp_path / "s.nr")
    more = ("--time", "t") if declared else ()
    assert noregret("run", one, "-y", "y", *more, *state) == 0
    assert noregret("run", two, *state) == 0
    kept = (tmp_path / "s.nr").read_bytes()
    line = said(capsys, "run", one, *state)
    assert "1.csv was learned before, up to line 101" in line
    assert "--late skip" in line
    late = day(tmp_path, "late.csv", 150, 170)
    line = said(capsys, "run", late, *state)
    assert "10 rows are not newer than what --state has learned (up to 2024-01-04 07:30)" in line
    assert "the first in line 2 (2024-01-04 03:00)" in line
    assert (tmp_path / "s.nr").read_bytes() == kept
    shown = said(capsys, "run", late, *state, "--late", "skip", code=0)
    assert "10 late rows left out" in shown
    assert nr.load(tmp_path / "s.nr").n_samples_seen_ == 170
    assert noregret("run", late.rename(tmp_path / "again.csv"), *state, "--late", "learn") == 0
    assert nr.load(tmp_path / "s.nr").n_samples_seen_ == 190


def test_a_file_that_begins_like_one_that_was_learned(tmp_path: Path, capsys) -> None:
    """Daily exports of everything so far, without times, under a new name each day."""
    frame = series(0, 160).drop("t")
    one, two, state = tmp_path / "1.csv", tmp_path / "2.csv", tmp_path / "s.nr"
    frame[:100].write_csv(one)
    frame.write_csv(two)
    assert noregret("run", one, "-y", "y", "--state", state, "-q") == 0
    line = said(capsys, "run", two, "--state", state)
    assert f"begins like {one}, learned before, up to line 101" in line
    assert noregret("run", two, "--state", state, "--late", "skip", "-q") == 0
    assert nr.load(state).n_samples_seen_ == 160
    once = tmp_path / "once.nr"
    assert noregret("run", two, "-y", "y", "--state", once, "-q") == 0
    assert nr.load(state).coef_.tolist() == nr.load(once).coef_.tolist()


def test_shuffled_times_are_refused_where_the_time_is_declared(tmp_path: Path, capsys) -> None:
    path = tmp_path / "d.csv"
    frame = series(0, 100)
    pl.concat([frame[:40], frame[60:], frame[40:60]]).write_csv(path)
    line = said(capsys, "run", path, "-y", "y", "--time", "t")
    assert "20 rows are not newer than a row before, the first in line 82" in line
    assert "sort the rows" in line
    assert "times go back in 20 of 100 rows" in said(capsys, "run", path, "-y", "y", code=0)
    shown = said(capsys, "run", path, "-y", "y", "--time", "t", "--late", "skip", code=0)
    assert "20 late rows left out" in shown
    assert " 80 rows" in shown


def test_gaps_and_repeated_times_are_counted(tmp_path: Path, capsys) -> None:
    path = tmp_path / "d.csv"
    frame = series(0, 100)
    pl.concat([frame[:10], frame[13:50], frame[49:50], frame[51:]]).write_csv(path)
    shown = said(capsys, "run", path, "-y", "y", "--time", "t", code=0)
    assert "1 of 97 rows have the time of a row before" in shown
    assert "2 gaps in time (4 rows missing, one every 30 min), the first before" in shown
    assert "line 12" in " ".join(shown.split())  # a long path may wrap it


def test_the_hour_that_clocks_go_back_is_no_disorder(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    hours = ["01:00", "01:30", "02:00", "02:30", "02:00", "02:30", "03:00"]
    rows = "".join(f"2024-10-27 {hour},{k},{k % 3}\n" for k, hour in enumerate(hours))
    path.write_text("t,a,y\n" + rows)
    assert noregret("run", path, "-y", "y", "--time", "t", "-q") == 0
    path.write_text("t,a,y\n" + rows.replace(":00,", ":00+00:00,").replace(":30,", ":30+00:00,"))
    assert noregret("run", path, "-y", "y", "--time", "t", "-q") == 2


def test_rows_to_forecast_only_go_with_a_state(tmp_path: Path) -> None:
    one, two = day(tmp_path, "1.csv", 0, 50), tmp_path / "2.csv"
    series(50, 60).with_columns(y=pl.lit(None)).write_csv(two)
    state = ("--state", tmp_path / "s.nr", "-q")
    assert noregret("run", one, "-y", "y", *state) == 0
    assert noregret("run", two, *state, "--out", tmp_path / "o.csv") == 0
    assert np.isfinite(forecasts(tmp_path / "o.csv")).all()
    assert nr.load(tmp_path / "s.nr").n_samples_seen_ == 50
