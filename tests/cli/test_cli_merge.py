"""noregret merge: forecasts of others in columns of a file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import noregret as nr
from commands import noregret

T = 300


@pytest.fixture
def vendors(tmp_path: Path, monkeypatch) -> pl.DataFrame:
    """A is good first, then B; A is absent for a while; C comes late; the last rows lie ahead."""
    monkeypatch.chdir(tmp_path)
    rng, t = np.random.default_rng(3), np.arange(T)
    y = 50.0 + 10.0 * np.sin(t / 9.0) + rng.normal(size=T)
    a = y + rng.normal(size=T) * np.where(t < 150, 1.0, 6.0)
    b = y + rng.normal(size=T) * np.where(t < 150, 6.0, 1.0)
    c = y + 2.0 + rng.normal(size=T)
    frame = pl.DataFrame(
        {
            "day": [str(np.datetime64("2024-01-01") + int(k)) for k in t],
            "actual": np.where(t < T - 5, y, np.nan),
            "A": np.where((t > 60) & (t < 90), np.nan, a),
            "B": b,
            "C": np.where(t < 20, np.nan, c),
        }
    )
    frame.fill_nan(None).write_csv("all.csv")
    return frame


def test_forecasts_are_those_of_the_library(vendors: pl.DataFrame, capsys) -> None:
    assert noregret("merge", "all.csv", "-y", "actual", "--intervals", "90", "-q") == 0
    assert noregret("merge", "all.csv", "--target", "actual", "--out", "m.csv") == 0
    text = capsys.readouterr().out
    for words in ("forecasts A, B, C", "Weights now: ", "their mean", "best of 3 forecasts"):
        assert words in text
    assert max(map(len, text.splitlines())) <= 80
    known = vendors[: T - 5]
    said, y = known.select("A", "B", "C").to_pandas(), known["actual"].to_numpy()
    pool = nr.RulePool(["A", "B", "C"])
    forecast = pool.replay(said, y).forecast
    assert pl.read_csv("m.csv")["time"].to_list() == vendors["day"].to_list()
    found = pl.read_csv("m.csv")["forecast"].to_numpy()
    assert found[: T - 5].tolist() == forecast.tolist()
    ahead = vendors.select("A", "B", "C").to_dicts()[T - 5 :]
    assert found[T - 5 :].tolist() == [pool.predict_one(row) for row in ahead]


def test_the_index_of_a_frame_is_no_forecast(vendors: pl.DataFrame) -> None:
    vendors.with_row_index("").fill_nan(None).write_csv("indexed.csv")
    for file in ("all", "indexed"):
        assert noregret("merge", f"{file}.csv", "-y", "actual", "--out", f"{file}.out.csv") == 0
    assert Path("indexed.out.csv").read_text() == Path("all.out.csv").read_text()


def test_errors_are_on_the_rows_that_each_has(vendors: pl.DataFrame, capsys) -> None:
    assert noregret("merge", "all.csv", "-y", "actual", "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)
    errors = {one["name"]: one["rmse"] for one in found["errors"]}
    known = vendors[1 : T - 5]  # the first outcome is not scored
    y = known["actual"].to_numpy()
    for name in ("A", "B", "C"):
        gap = known[name].to_numpy() - y
        assert errors[name] == pytest.approx(np.sqrt(np.nanmean(gap**2)), rel=1e-12)
    mean = np.nanmean(known.select("A", "B", "C").to_numpy(), axis=1)
    assert errors["their mean"] == pytest.approx(np.sqrt(np.mean((mean - y) ** 2)), rel=1e-12)
    assert errors["forecast"] < min(errors[name] for name in "ABC")
    assert sum(found["weights"].values()) == pytest.approx(1.0, abs=1e-9)


def test_day_by_day_is_the_same_also_without_a_column(vendors: pl.DataFrame, capsys) -> None:
    vendors[:200].fill_nan(None).write_csv("one.csv")
    vendors[200:250].drop("A").write_csv("two.csv")  # A has sent nothing
    absent = vendors[:250].with_columns(
        A=pl.when(pl.int_range(pl.len()) < 200).then(pl.col("A")).otherwise(None)
    )
    absent.fill_nan(None).write_csv("both.csv")
    assert noregret("merge", "one.csv", "-y", "actual", "--state", "s.nr") == 0
    assert noregret("merge", "two.csv", "--state", "s.nr", "--out", "two-out.csv") == 0
    assert noregret("merge", "both.csv", "-y", "actual", "--out", "both-out.csv") == 0
    two, both = (pl.read_csv(f"{name}-out.csv")["forecast"].to_list() for name in ("two", "both"))
    assert two == both[200:]
    capsys.readouterr()
    assert noregret("merge", "two.csv", "--state", "s.nr") == 0  # it is known
    assert "no new rows" in capsys.readouterr().out
    vendors[250:280].with_columns(D=pl.lit(50.0)).fill_nan(None).write_csv("three.csv")
    assert noregret("merge", "three.csv", "--state", "s.nr") == 0
    assert "column 'D' is not among the forecasts" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("all.csv",), "say what to forecast with --target"),
        (("all.csv", "-y", "actual", "--forecasts", "A,D"), "no column 'D'"),
        (("all.csv", "-y", "actual", "--forecasts", "A"), "nothing to merge in A"),
        (("all.csv", "-y", "actual", "--forecasts", "A,actual"), "has the target 'actual'"),
        (("all.csv", "-y", "actual", "--lags", "1"), "go with noregret run"),
        (("-", "-y", "actual"), "name the columns to merge with --forecasts"),
    ],
)
def test_mistakes(vendors: pl.DataFrame, capsys, arguments: tuple[str, ...], words: str) -> None:
    assert noregret("merge", *arguments) == 2
    assert words in capsys.readouterr().err


def test_a_row_in_which_all_sleep_is_left_out(vendors: pl.DataFrame, capsys) -> None:
    text = Path("all.csv").read_text()
    lines = text.splitlines()
    lines[40] = "2024-02-09,50.0,,,"
    lines[-1] = "2024-10-26,,,,"
    Path("all.csv").write_text("\n".join(lines))
    assert noregret("merge", "all.csv", "-y", "actual") == 0
    said = capsys.readouterr().out.replace("\n    ", " ")
    assert "2 rows have none of the forecasts, and get none: left out; the first: all.csv" in said
    assert "line 41\n" in said
