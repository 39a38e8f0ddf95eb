"""The first screen in less usual cases: labels, merging, few rows, states, weekdays, bias."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from commands import flat, narrow, noregret


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("NOREGRET_MODEL", "auto")
    monkeypatch.chdir(tmp_path)


def halves(name: str, first: int, last: int, start: str = "2024-03-01") -> None:
    """Half-hours from one to another, in a file."""
    k = np.arange(first, last)
    times = [str(np.datetime64(start, "m") + 30 * int(t)) for t in k]
    pl.DataFrame({"time": times, "MW": 100.0 + k}).write_csv(name)


def test_the_chance_of_the_next_rows_is_narrow(capsys) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=200)
    rows = [f"{a:.3f},{'FAULT' if a > 0 else 'OK'}" for a in x]
    Path("m.csv").write_text("\n".join(["x,state", *rows, "3.0,", "-3.0,"]) + "\n")
    words = ("run", "m.csv", "--target", "state", "--binary", "--model", "improper-logistic")
    text = narrow(capsys, *words, "--out", "o.csv")
    said = pl.read_csv("o.csv")["forecast"].to_numpy()[-2:]
    assert f"Next   line 202{said[0]:>19.3g}   chance of FAULT" in text
    assert f"       line 203{said[1]:>19.3g}   chance of FAULT" in text


def test_merged_forecasts_of_rows_ahead_are_narrow(capsys) -> None:
    days = [str(np.datetime64("2024-01-01") + k) for k in range(40)]
    y = [*np.arange(38.0).tolist(), None, None]
    a = np.arange(40.0)
    pl.DataFrame({"day": days, "y": y, "A": a, "B": a + 1.0}).write_csv("v.csv")
    text = narrow(capsys, "merge", "v.csv", "--target", "y", "--out", "o.csv")
    said = pl.read_csv("o.csv")["forecast"].to_numpy()[-2:]
    assert f"Next   2024-02-08 {said[0]:>16.3g}\n       2024-02-09 {said[1]:>16.3g}\n" in text


def test_few_rows_say_why_there_is_no_forecast(capsys) -> None:
    halves("few.csv", 0, 7)
    text = narrow(capsys, "run", "few.csv", "--target", "MW")
    assert "too few for a forecast; the first 10 show the step between them" in flat(text)
    assert "\n\n\n" not in text


def test_the_mean_is_that_of_all_rows_learned(capsys) -> None:
    halves("one.csv", 0, 100)
    halves("two.csv", 100, 110)
    assert noregret("run", "one.csv", "--target", "MW", "--state", "s.nr", "-q") == 0
    text = flat(narrow(capsys, "run", "two.csv", "--state", "s.nr"))
    assert "10 new rows; 110 learned in all" in text
    assert f"(mean {100.0 + np.arange(110).mean():.3g})" in text


def test_rows_ahead_whose_features_are_not_used_are_said(capsys) -> None:
    t = np.arange(100)
    hours = [str(np.datetime64("2024-01-01T00") + int(k)) + ":00" for k in t]
    y = [float(k % 24) if k < 98 else None for k in t]
    pl.DataFrame({"time": hours, "y": y, "warm": 1.0 * (t % 5)}).write_csv("w.csv")
    words = ("forecast", "w.csv", "--target", "y", "--steps", "2")
    text = flat(narrow(capsys, *words))
    assert "! after the last outcome 2 rows have warm: --known warm uses it" in text
    assert "after the last outcome" not in narrow(capsys, *words, "--known", "warm")


def test_a_forecast_outside_its_own_interval_is_said(capsys) -> None:
    rows = "".join(f"{k % 7 + 0.5},{500 + k % 13}\n" for k in range(400))
    Path("b.csv").write_text("a,y\n" + rows)
    words = ("run", "b.csv", "--target", "y", "--model", "aar", "--intervals", "90")
    text = flat(narrow(capsys, *words))
    assert (
        "of the last 100 rows the forecast was outside its own interval: the model is too low"
        in text
    )
    assert "outside its own" not in flat(narrow(capsys, *words, "--fit-intercept"))


def test_weekdays_are_said_and_weekends_are_no_gaps(capsys) -> None:
    days = np.arange("2024-01-01", "2024-06-01", dtype="datetime64[D]")
    open_ = [str(d) for d in days if np.is_busday(d)]
    rows = [f"{d},{100 + k % 5}" for k, d in enumerate(open_)]
    Path("p.csv").write_text("\n".join(["Date,Close", *rows]) + "\n")
    text = narrow(capsys, "forecast", "p.csv", "--target", "Close", "--steps", "2")
    assert "every weekday, no gaps" in flat(text)
    assert "in time (" not in text
    assert "Next   2024-06-03 " in text
    assert "       2024-06-04 " in text
    rows.insert(30, "2024-02-10,100")  # a Saturday within the first rows that are read: all days
    Path("q.csv").write_text("\n".join(["Date,Close", *rows]) + "\n")
    words = ("run", "q.csv", "--target", "Close", "--state", "q.nr")
    assert "every 1 day" in narrow(capsys, *words)
    Path("r.csv").write_text("Date,Close\n2024-06-01,100\n2024-06-03,101\n")
    assert "learned in all" in narrow(capsys, "run", "r.csv", "--state", "q.nr")


# Output and state -------------------------------------------------------------------------------


def test_one_output_of_many_files(capsys) -> None:
    halves("one.csv", 0, 60)
    halves("two.csv", 60, 100)
    halves("three.csv", 100, 130)
    halves("all.csv", 0, 130)
    words = ("--state", "s.nr", "--out", "o.csv")
    assert noregret("run", "one.csv", "--target", "MW", *words, "-q") == 0
    text = narrow(capsys, "run", "two.csv", *words, "--append")
    assert "--append" not in text
    assert "o.csv had the forecasts" not in text
    assert noregret("run", "three.csv", *words, "--append", "-q") == 0
    assert noregret("run", "all.csv", "--target", "MW", "--out", "whole.csv", "-q") == 0
    both = [pl.read_csv(name)["forecast"].to_numpy() for name in ("o.csv", "whole.csv")]
    np.testing.assert_array_equal(*both)


def test_an_output_that_is_replaced_is_said(capsys) -> None:
    halves("one.csv", 0, 60)
    halves("two.csv", 60, 100)
    words = ("--state", "s.nr", "--out", "o.csv")
    assert noregret("run", "one.csv", "--target", "MW", *words, "-q") == 0
    text = flat(narrow(capsys, "run", "two.csv", *words))
    assert "! o.csv had the forecasts of the run before, and now has these: --append adds" in text
    assert len(pl.read_csv("o.csv")) == 40


@pytest.mark.parametrize("words", [(), ("--out", "o.csv"), ("--state", "s.nr")])
def test_append_needs_an_output_and_a_state(words: tuple[str, ...], capsys) -> None:
    halves("one.csv", 0, 60)
    assert noregret("run", "one.csv", "--target", "MW", "--append", *words) == 2
    assert "--append goes on with a file: give --out FILE, and --state" in capsys.readouterr().err


def test_a_file_that_gains_a_column_says_why_its_rows_are_old(capsys) -> None:
    halves("grow.csv", 0, 60)
    assert noregret("run", "grow.csv", "--target", "MW", "--state", "s.nr", "-q") == 0
    halves("grow.csv", 0, 62)
    pl.read_csv("grow.csv").with_columns(flag=pl.lit(1)).write_csv("grow.csv")
    assert noregret("run", "grow.csv", "--state", "s.nr") == 2
    error = " ".join(capsys.readouterr().err.split())
    assert "does not begin as it did (it has a new column 'flag'), so all of it" in error
    assert "--late skip" in error
    assert "2 new rows" in narrow(capsys, "run", "grow.csv", "--state", "s.nr", "--late", "skip")
