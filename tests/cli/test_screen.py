"""The first screen: what a forecaster asks first, in 80 columns, the same as in the files."""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
from datetime import datetime
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import noregret as nr
from commands import noregret, shown

DAYS = 40


def load(T: int = 24 * DAYS) -> pl.DataFrame:
    """An hourly load with a day and a week in it, and the weather."""
    rng = np.random.default_rng(7)
    t = np.arange(T)
    warm = 10.0 + 5.0 * np.sin(2 * np.pi * t / 24 - 1.0) + np.cumsum(rng.normal(0, 0.1, T))
    y = 500.0 + 80.0 * np.sin(2 * np.pi * t / 24) + 30.0 * (t // 24 % 7 < 5) + 2.0 * warm
    hours = [str(np.datetime64("2024-01-01T00") + int(k)) + ":00" for k in t]
    return pl.DataFrame({"time": hours, "MW": y + rng.normal(0, 3.0, T), "warm": warm})


@pytest.fixture
def file(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.setenv("NOREGRET_MODEL", "auto")
    monkeypatch.chdir(tmp_path)
    load().write_csv("load.csv")
    return tmp_path / "load.csv"


def test_the_screen_answers_in_order_within_80_columns(file: Path, capsys) -> None:
    text = shown(capsys, "run", file.name, "--target", "MW")
    order = [
        "960 rows, 2024-01-01 to 2024-02-09 23:00, every 1 h, no gaps",
        "target MW",
        "! warm is used at the forecast's time: is it known then?",
        "Typical error, one step ahead",
        "this forecast",
        "same time yesterday",
        "lower RMSE than the best naive forecast",
        "90 % intervals",
        "Next   2024-02-10 00:00",
        "Beside the best of 13 models, had you known it",
        "proven, whatever the data",
        "noregret forecast load.csv --target MW --steps 24",
    ]
    places = [text.find(words) for words in order]
    assert -1 not in places, order[places.index(-1)]
    assert places == sorted(places)
    assert max(map(len, text.splitlines())) <= 80
    assert "same time last year" not in text  # there is no year in the file


def test_numbers_on_the_screen_are_those_of_json_and_of_the_library(file: Path, capsys) -> None:
    text = shown(capsys, "run", file.name, "--target", "MW")
    found = json.loads(shown(capsys, "run", file.name, "--target", "MW", "--format", "json"))
    rmse = found["errors"][0]["rmse"]
    assert f"{rmse:.3g}" in re.search(r"this forecast +(\S+)", text)[1]
    frame = load()
    learner = nr.Forecaster(time="time", late="skip")
    learner.replay(frame.drop("MW"), frame["MW"].to_numpy())
    assert learner.scores().at(1)[0].rmse == pytest.approx(rmse, rel=1e-12)
    assert found["skill"] == pytest.approx(learner.scores().skill(1), rel=1e-12)
    assert found["guarantee"]["holds"] is True
    assert found["certificates"] == []
    with_proofs = shown(capsys, "run", file.name, "-y", "MW", "--format", "json", "--proofs")
    assert json.loads(with_proofs)["certificates"][0]["holds"] is True


def test_the_next_command_can_be_pasted(file: Path, capsys) -> None:
    frame = load().rename({"MW": "load (MW)"})
    Path("my load.csv").write_bytes(
        frame.write_csv().replace("warm", "W\u00e4rme").encode("cp1252")
    )
    options = ("my load.csv", "-y", "load (MW)", "--encoding", "cp1252", "--na", "x,y", "--na", "z")
    text = " ".join(shown(capsys, "run", *options).split())
    command = (
        "noregret forecast 'my load.csv' --target 'load (MW)' --na x,y --na z --encoding cp1252"
    )
    assert f"More steps: {command} --steps 24" in text
    assert noregret(*shlex.split(command)[1:], "--steps", "3") == 0


def test_date_and_hour_in_two_columns_are_one_time(file: Path, capsys) -> None:
    """Days repeat in 24 rows, and the hours are written as many meters write them."""
    frame = load()
    times = [datetime.fromisoformat(text) for text in frame["time"]]
    apart = frame.drop("time").with_columns(
        Date=pl.Series([f"{t:%d/%m/%Y}" for t in times]),
        Time=pl.Series([f"{t:%I:%M %p}" for t in times]),
    )
    apart.write_csv("apart.csv")
    text = shown(capsys, "run", "apart.csv", "--target", "MW")
    assert "960 rows, 2024-01-01 to 2024-02-09 23:00, every 1 h, no gaps" in text
    assert "! columns Date,Time together are the time of a row (--time)" in text
    assert "Date" not in text.split("features")[1].split("!")[0]
    together = shown(capsys, "run", file.name, "--target", "MW")
    row = r"this forecast .*"
    assert re.search(row, text)[0] == re.search(row, together)[0]


def test_a_naive_forecast_that_wins_is_said(tmp_path: Path, capsys) -> None:
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.normal(size=400))
    path = tmp_path / "walk.csv"
    pl.DataFrame({"a": rng.normal(size=400), "y": walk}).write_csv(path)
    text = shown(capsys, "run", path, "-y", "y", "-m", "ridge")
    assert "! last value has been better: its RMSE is" in text


def test_the_next_steps_beat_the_naive_ones(file: Path, capsys) -> None:
    """The day that was held back: features of it are there, its outcomes are not."""
    frame = load()
    held = frame.with_columns(
        MW=pl.when(pl.int_range(pl.len()) < 24 * (DAYS - 1)).then(pl.col("MW"))
    )
    held.write_csv("held.csv")
    shown(
        capsys,
        *("forecast", "held.csv", "-y", "MW", "--steps", "24", "--known", "warm"),
        *("--out", "next.csv"),
    )
    found = pl.read_csv("next.csv")
    truth = frame["MW"].to_numpy()[-24:]
    errors = truth - found["forecast"].to_numpy()
    naive = truth - frame["MW"].to_numpy()[-48:-24]
    assert np.sqrt((errors**2).mean()) < 0.8 * np.sqrt((naive**2).mean())
    inside = (found["low"].to_numpy() <= truth) & (truth <= found["high"].to_numpy())
    assert inside.mean() > 0.7
    assert found["time"][0] == "2024-02-09 00:00:00"


def test_rows_ahead_of_the_horizon_are_not_forecast_in_silence(file: Path, capsys) -> None:
    frame = load().with_columns(MW=pl.when(pl.int_range(pl.len()) < 900).then(pl.col("MW")))
    frame.write_csv(file)
    text = shown(capsys, "run", file.name, "-y", "MW")
    words = " ".join(text.split())
    assert "59 rows without an outcome are more than 1 step ahead, which no model here" in words
    assert "noregret forecast --steps 60 has one for each step" in words


def test_a_lag_below_the_horizon_is_refused(file: Path, capsys) -> None:
    for model in ("ridge", "auto"):
        code = noregret("run", file, "-y", "MW", "-m", model, "--lags", "1,48", "--horizon", "48")
        assert code == 2
        assert "is below" in capsys.readouterr().err


def test_a_lag_counts_back_from_the_forecasts_time(tmp_path: Path, capsys) -> None:
    """A series that repeats itself after 7 rows is known 7 rows ahead by its lag 7."""
    path = tmp_path / "seven.csv"
    pl.DataFrame({"y": [float(t % 7) for t in range(200)]}).write_csv(path)
    out = tmp_path / "o.csv"
    chosen = ("-m", "ridge", "--prior-precision", "1e-9", "--lags", "7", "--horizon", "7")
    assert noregret("run", path, "-y", "y", *chosen, "--out", out, "-q") == 0
    found = pl.read_csv(out)
    assert np.abs(found["y"] - found["forecast"])[50:].max() < 1e-6
    capsys.readouterr()


def test_the_page_begins_with_the_verdict(file: Path, capsys) -> None:
    shown(capsys, "run", file.name, "-y", "MW", "--report", "page.html")
    page = Path("page.html").read_text()
    verdict, plot = page.index('id="verdict"'), page.index('id="forecasts"')
    assert verdict < plot < page.index('id="losses"') < page.index('id="run"')
    assert "% less than the best naive forecast" in page
    clock = json.loads(re.search(r'id="clock">(.*?)</script>', page)[1])
    assert clock["rows"][0] == 1
    assert clock["at"][1] - clock["at"][0] == 3600.0


def test_what_only_auto_knows_is_refused_elsewhere(file: Path, capsys) -> None:
    assert noregret("run", file, "-y", "MW", "-m", "ridge", "--known", "warm") == 2
    assert "--known goes with --model auto" in capsys.readouterr().err
    assert noregret("forecast", file, "-y", "MW") == 2
    assert "--steps 48" in capsys.readouterr().err


def test_alone_is_plain_auto(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "o.csv"
    assert noregret("run", file, "-y", "MW", "--alone", "--out", out, "-q") == 0
    frame = load()
    expected = nr.Auto().replay(frame.select("warm"), frame["MW"].to_numpy()).forecast
    assert np.array_equal(pl.read_csv(out)["forecast"].to_numpy(), expected)


def test_the_best_of_so_many_models_is_the_best_of_them(file: Path, capsys) -> None:
    """It was the error of models that take turns, and not of any one of them."""
    told = json.loads(shown(capsys, "run", file, "-y", "MW", "--alone", "--format", "json"))
    auto, frame = nr.Auto(), load()
    auto.replay(frame.select("warm"), frame["MW"].to_numpy())
    one, best = told["guarantee"], min(auto.losses_.values())
    assert one["models"] == len(auto.losses_)
    assert one["best"] == pytest.approx((best / len(frame)) ** 0.5, rel=1e-12)
    assert one["actual"] <= one["bound"]


def test_a_state_of_auto_goes_on(file: Path, tmp_path: Path, capsys) -> None:
    """Two days' files and one state: the forecasts of one run."""
    frame = load()
    frame[:500].write_csv("one.csv")
    frame[500:].write_csv("two.csv")
    parts = []
    for name in ("one.csv", "two.csv"):
        more = ("-y", "MW") if name == "one.csv" else ()
        assert noregret("run", name, *more, "--state", "s.nr", "--out", f"o-{name}", "-q") == 0
        parts.append(pl.read_csv(f"o-{name}")["forecast"].to_numpy())
    assert noregret("run", file, "-y", "MW", "--out", "whole.csv", "-q") == 0
    whole = pl.read_csv("whole.csv")["forecast"].to_numpy()
    assert np.array_equal(np.concatenate(parts), whole, equal_nan=True)
    assert noregret("run", "one.csv", "--state", "s.nr", "-q") == 2
    assert "learned" in capsys.readouterr().err


def test_values_that_come_late_are_none_of_the_first_ones(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("NOREGRET_MODEL", "auto")
    frame = pl.DataFrame(
        {"y": np.sin(np.arange(1500.0)), "kind": ["a", "b"] * 700 + ["late"] * 100}
    )
    path, out = tmp_path / "d.csv", tmp_path / "o.csv"
    frame.write_csv(path)
    assert noregret("run", path, "-y", "y", "--out", out, "-q") == 0
    assert len(pl.read_csv(out)) == 1500


def test_features_said_to_be_known_must_be_there(file: Path, capsys) -> None:
    for printed in ("text", "json"):
        chosen = ("--steps", "3", "--known", "warm", "--format", printed)
        assert noregret("forecast", file, "-y", "MW", *chosen) == 2
        assert "must end with 3 rows that have it" in capsys.readouterr().err


def weather_days(tmp_path: Path) -> tuple[pl.DataFrame, list[pl.DataFrame]]:
    """A past that ends with a day of weather without a load, and two mornings after it."""
    frame = load(24 * 20)
    blank = frame.with_columns(MW=pl.lit(None, dtype=pl.Float64))
    ends = [24 * 17, 24 * 18, 24 * 19]
    starts = [0, *ends[:-1]]
    days = [
        pl.concat([frame[start:end], blank[end : end + 24]]) for start, end in zip(starts, ends)
    ]
    return frame, days


@pytest.mark.slow
@pytest.mark.parametrize("how", ["a file each", "one file overwritten", "one file that grows"])
def test_rows_ahead_come_again_with_their_outcomes(
    tmp_path: Path, monkeypatch, capsys, how: str
) -> None:
    """Weather rows of tomorrow once kept tomorrow's outcomes from being learned."""
    monkeypatch.chdir(tmp_path)
    frame, days = weather_days(tmp_path)
    learned = [24 * 17, 24 * 18, 24 * 19]
    for k, day in enumerate(days):
        path = f"day{k}.csv" if how == "a file each" else "day.csv"
        whole = day
        if how == "one file that grows":
            whole = pl.concat([frame[: learned[k]], day[-24:]])
        whole.write_csv(path)
        options = ["--target", "MW", "--steps", "24", "--known", "warm"] if not k else []
        more = ("--state", "s.nr", "--format", "json", "--out", "next.csv")
        found = json.loads(shown(capsys, "forecast", path, *options, *more))
        assert found["learned"] in (0, learned[k])
        assert found["rows"] == (learned[0] if not k else 24)
        assert found["coming"][0]["at"] == f"{frame['time'][learned[k]].replace('T', ' ')}:00"
        assert not any("times go back" in one for one in found["notes"])
    once = pl.concat([frame[: learned[-1]], days[-1][-24:]])
    once.write_csv("once.csv")
    shown(
        capsys,
        *("forecast", "once.csv", "--target", "MW", "--steps", "24", "--known", "warm"),
        *("--out", "once-next.csv"),
    )
    assert Path("next.csv").read_text() == Path("once-next.csv").read_text()


@pytest.mark.slow
def test_intervals_come_with_the_forecasts_and_not_after(file: Path) -> None:
    frame = load(240)
    blank = frame.with_columns(MW=pl.lit(None, dtype=pl.Float64))
    twice = [part for k in range(240) for part in (blank[k : k + 1], frame[k : k + 1])]
    pl.concat(twice).write_csv("twice.csv")
    assert noregret("run", "twice.csv", "-y", "MW", "--out", "out.csv") == 0
    out = pl.read_csv("out.csv", infer_schema_length=None).select("forecast", "low", "high")
    asked, told = out[60::2], out[61::2]  # with nothing known there is no interval
    assert asked.null_count().sum_horizontal()[0] == 0
    assert asked.rows() == told.rows()


def test_irregular_times_are_counted_and_it_is_said(tmp_path: Path, capsys) -> None:
    rng = np.random.default_rng(1)
    seconds = np.cumsum(rng.exponential(100.0, 200)).astype(int)
    times = [str(np.datetime64("2026-03-01T00:00:00") + int(s)) for s in seconds]
    pl.DataFrame({"t": times, "v": 10.0 + rng.normal(size=200)}).write_csv(tmp_path / "e.csv")
    text = shown(capsys, "forecast", tmp_path / "e.csv", "-y", "v", "--steps", "2")
    assert "! times are irregular: rows are counted" in text
    assert "gaps in time" not in text
    assert "Next   200 " in text


def test_json_is_json_also_when_nothing_is_new(file: Path, capsys) -> None:
    shown(capsys, "run", file.name, "-y", "MW", "--state", "s.nr", "-q")
    found = json.loads(shown(capsys, "run", file.name, "--state", "s.nr", "--format", "json"))
    assert found == {"rows": 0, "notes": ["load.csv: no new rows"]}
    assert noregret("run", file.name, "-y", "MW", "--format", "json", "--quiet") == 2


def test_too_few_rows_are_refused_in_words(tmp_path: Path, capsys) -> None:
    load(5).write_csv(tmp_path / "five.csv")
    assert noregret("forecast", tmp_path / "five.csv", "-y", "MW", "--steps", "24") == 2
    assert "5 rows with an outcome are too few for a forecast" in capsys.readouterr().err


def test_a_refused_run_leaves_the_old_output(file: Path, capsys) -> None:
    Path("old.csv").write_text("yesterday")
    load()[::-1].write_csv(file)
    arguments = ("run", file.name, "-y", "MW", "--time", "time")
    assert noregret(*arguments, "--out", "old.csv") == 2
    assert "the newest row comes first, by 'time'" in capsys.readouterr().err
    assert noregret(*arguments, "--out", "old.csv", "--late", "learn") == 2
    assert "load.csv" in capsys.readouterr().err
    assert Path("old.csv").read_text() == "yesterday"


def test_a_column_that_is_new_to_a_state_is_said(file: Path, capsys) -> None:
    load(24 * DAYS + 24)[-24:].with_columns(wet=pl.lit(0.5)).write_csv("next.csv")
    shown(capsys, "run", file.name, "-y", "MW", "--state", "s.nr", "-q")
    text = " ".join(shown(capsys, "run", "next.csv", "--state", "s.nr").split())
    assert "! column 'wet' is new: a series keeps the features that it began with" in text


@pytest.mark.slow
@pytest.mark.parametrize("hole", [49, 50, 97])
def test_one_hole_early_on_does_not_stop_long_horizons(file: Path, capsys, hole: int) -> None:
    """The first batch at a long horizon may have no row at all."""
    lines = Path("load.csv").read_text().splitlines()[:400]
    del lines[hole]
    Path("hole.csv").write_text("\n".join(lines))
    shown(capsys, "forecast", "hole.csv", "-y", "MW", "--steps", "48", "-q")


def test_a_state_of_a_database(file: Path, capsys) -> None:
    with sqlite3.connect("load.db") as base:
        load(300).to_pandas().to_sql("load", base, index=False)
    base.close()
    query = ("--query", "SELECT time, MW FROM load ORDER BY time")
    options = ("-y", "MW", "--state", "s.nr")
    shown(capsys, "run", "sqlite:load.db", *query, *options, "-q")
    assert "no new rows" in shown(capsys, "run", "sqlite:load.db", *query, *options)


def test_one_step_suggests_more_of_the_same_file(file: Path, capsys) -> None:
    text = shown(capsys, "forecast", file.name, "-y", "MW", "--steps", "1")
    assert "More steps: noregret forecast load.csv --target MW --steps 24" in text


def test_every_third_half_hour_missing_is_still_half_hours(tmp_path: Path, capsys) -> None:
    times = [np.datetime64("2024-01-01T00:00") + 30 * k for k in range(600) if k % 3]
    y = 10.0 + np.sin(np.arange(len(times)))
    pl.DataFrame({"t": [str(t) for t in times], "y": y}).write_csv(tmp_path / "q.csv")
    text = shown(capsys, "run", tmp_path / "q.csv", "-y", "y", "-m", "auto")
    assert "every 30 min" in " ".join(text.split())
    assert "repeat a time" not in text
