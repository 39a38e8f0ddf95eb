"""--intervals on the command line: those of nr.Intervals, in files, on the screen, on the page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import noregret as nr
from commands import noregret, shown

T = 700


def outcomes() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(T, 2))
    return X, X @ [1.0, -2.0] + rng.standard_t(3, size=T)


@pytest.fixture
def file(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    X, y = outcomes()
    pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y}).write_csv("data.csv")
    return tmp_path / "data.csv"


@pytest.mark.parametrize(
    ("model", "options", "learner"),
    [
        ("ridge", (), nr.Ridge()),
        ("aar", ("--lags", "1,2"), nr.Lagged(nr.AAR(), [1, 2])),
        ("bayesian-ridge", ("--noise-var", "2"), nr.BayesianRidge(noise_var=2.0)),
        ("auto", ("--alone",), nr.Auto()),
        ("ridge", ("--lags", "2,3", "--horizon", "2"), nr.Lagged(nr.Ridge(), [1, 2], 2)),
    ],
)
def test_columns_are_those_of_the_library(file: Path, capsys, model, options, learner) -> None:
    shown(
        capsys, "run", file, "--target", "y", "--model", model, "--intervals", "50,90", *options,
        "--out", "out.csv",
    )  # fmt: skip
    X, y = outcomes()
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    said = nr.Intervals(learner, [0.5, 0.9]).replay(frame, y)
    out = pl.read_csv("out.csv", schema_overrides={"low_50": pl.String, "high_90": pl.String})
    for k, percent in enumerate((50, 90)):
        low = out[f"low_{percent}"].cast(pl.Float64).to_numpy()
        high = out[f"high_{percent}"].cast(pl.Float64).to_numpy()
        assert np.array_equal(low, said.low[:, k]), percent
        assert np.array_equal(high, said.high[:, k]), percent
    assert np.array_equal(out["forecast"].to_numpy(), said.forecast)


def test_the_sentence_counts_what_the_file_has(file: Path, capsys) -> None:
    text = shown(
        capsys, "run", file, "-y", "y", "-m", "aar", "--intervals", "90%", "--out", "o.parquet"
    )
    out = pl.read_parquet("o.parquet")
    inside = ((out["low"] <= out["y"]) & (out["y"] <= out["high"])).to_numpy()
    worst = min(inside[t : t + 500].mean() for t in range(T - 499))
    words = f"90 % intervals covered {100 * inside.mean():.1f} % of {T:,} outcomes; worst 500 in a"
    assert f"{words} row: {100 * worst:.0f} %;" in " ".join(text.split())
    found = json.loads(
        shown(capsys, "run", file, "-y", "y", "-m", "aar", "--intervals", "90", "--format", "json")
    )
    assert found["intervals"]["covered"] == pytest.approx(inside.mean(), abs=1e-12)
    assert found["intervals"]["worst"] == pytest.approx(worst, abs=1e-12)
    assert found["guarantee"]["name"] == nr.AAR().replay(*outcomes()).certificate.name


def test_a_state_goes_on_with_its_intervals(file: Path, capsys) -> None:
    options = ("--target", "y", "--model", "aar", "--intervals", "80")
    shown(capsys, "run", file, *options, "--out", "whole.csv")
    frame = pl.read_csv(file)
    frame[:300].write_csv("one.csv")
    frame[300:].write_csv("two.csv")
    shown(capsys, "run", "one.csv", *options, "--state", "s.nr", "--out", "one_out.csv")
    shown(capsys, "run", "two.csv", "--state", "s.nr", "--out", "two_out.csv")
    whole = Path("whole.csv").read_text().splitlines()[1:]
    parts = [Path(f"{part}_out.csv").read_text().splitlines()[1:] for part in ("one", "two")]
    ends = [[line.split(",")[2:5] for line in lines] for lines in (whole, parts[0] + parts[1])]
    assert ends[0] == ends[1]
    assert isinstance(nr.load("s.nr"), nr.Intervals)
    assert noregret("run", "two.csv", *options[:-1], "90", "--state", "s.nr") == 2


def test_compare_shows_coverage_and_width_of_all(file: Path, capsys) -> None:
    text = shown(
        capsys, "compare", file, "-y", "y", "--models", "aar,ridge", "--intervals", "90",
        "--out", "c.csv",
    )  # fmt: skip
    assert "in 90 %" in text
    assert "width" in text
    out = pl.read_csv("c.csv", infer_schema_length=None)
    for name in ("aar", "ridge"):
        inside = (out[f"{name} low"] <= out["y"]) & (out["y"] <= out[f"{name} high"])
        row = re.search(rf"^ +{name} .*$", text, re.MULTILINE)
        assert row is not None
        assert f"{100 * inside.mean():.1f} %" in row[0]
    two = ("compare", file, "-y", "y", "--models", "aar,ridge", "--intervals", "50,90")
    lines = shown(capsys, *two).splitlines()[1:]  # the first has the name of the file
    assert max(map(len, lines)) <= 80
    assert any("in 50 %" in line and "in 90 %" in line for line in lines)


def test_rows_without_an_outcome_have_intervals(file: Path, capsys) -> None:
    frame = pl.read_csv(file)
    more = pl.DataFrame({"a": [1.0, 2.0], "b": [0.0, 1.0], "y": [None, None]})
    pl.concat([frame, more.cast({"y": pl.Float64})]).write_csv("more.csv")
    shown(
        capsys, "run", "more.csv", "-y", "y", "-m", "ridge", "--intervals", "90", "--out", "o.csv"
    )
    learner = nr.Intervals(nr.Ridge(), 0.9)
    learner.replay(frame.select("a", "b"), frame["y"].to_numpy())
    out = pl.read_csv("o.csv")
    for row, x in zip(out[-2:].iter_rows(named=True), more.iter_rows(named=True), strict=True):
        low, high = learner.interval_one({"a": x["a"], "b": x["b"]})
        assert (row["low"], row["high"]) == (low, high)


@pytest.mark.slow
def test_the_page_draws_coverage_widths_and_where_outcomes_fell(file: Path, capsys) -> None:
    shown(capsys, "run", file, "-y", "y", "-m", "aar", "--intervals", "50,90", "--report", "p.html")
    page = Path("p.html").read_text()
    for words in ("90 % intervals covered", "95 % by chance", "inside so far",
                  "where outcomes fell", "90 % interval"):  # fmt: skip
        assert words in page, words


@pytest.mark.parametrize("value", ["0", "100", "90,90", "ninety", "", "nan"])
def test_percentages_that_are_none(file: Path, capsys, value: str) -> None:
    assert noregret("run", file, "-y", "y", "-m", "aar", "--intervals", value) == 2
    assert "percentages" in capsys.readouterr().err


@pytest.mark.slow
def test_auto_has_several_coverages(file: Path, capsys) -> None:
    X, y = outcomes()
    said = nr.Forecaster(intervals=[90, 50]).replay(pl.DataFrame({"a": X[:, 0], "b": X[:, 1]}), y)
    options = ("-y", "y", "-m", "auto", "--intervals", "90,50")
    text = shown(capsys, "run", file, *options, "--out", "out.csv", "--state", "s.nr")
    assert "90 % intervals covered" in text
    assert "50 % intervals covered" in text
    out = pl.read_csv("out.csv", infer_schema_length=None)
    for k, percent in enumerate((90, 50)):
        known = np.isfinite(said.low[:, 0, k])
        assert np.array_equal(out[f"low_{percent}"].to_numpy()[known], said.low[known, 0, k])
        assert np.array_equal(out[f"high_{percent}"].to_numpy()[known], said.high[known, 0, k])
    pl.DataFrame({"y": y}).write_csv("series.csv")
    ahead = ("forecast", "series.csv", "-y", "y", "--steps", "2", "--intervals", "90,50")
    shown(capsys, *ahead, "--out", "n.csv")
    names = ["time", "forecast", "low_90", "high_90", "low_50", "high_50"]
    assert pl.read_csv("n.csv").columns == names
    found = json.loads(shown(capsys, *ahead, "--format", "json"))["coming"][0]
    assert found["low"] == found["low_90"] <= found["low_50"] <= found["high_50"] <= found["high"]
    text = shown(capsys, "compare", file, "-y", "y", "--models", "aar", "--intervals", "50,90")
    assert "auto" in text


def test_quantiles_are_those_of_the_library(file: Path, capsys) -> None:
    X, y = outcomes()
    said = nr.LinearQuantiles([0.2, 0.7]).replay(pl.DataFrame({"a": X[:, 0], "b": X[:, 1]}), y)
    pl.read_csv(file).head(T // 2).write_csv("half.csv")
    options = ("-y", "y", "-m", "linear-quantiles", "--levels", "0.7,0.2", "--state", "s.nr")
    shown(capsys, "run", "half.csv", *options, "--out", "a.csv")
    pl.read_csv(file).tail(T - T // 2).write_csv("rest.csv")
    text = shown(
        capsys, "run", "rest.csv", *options, "--late", "learn", "--out", "b.csv", "--proofs"
    )
    assert "linear quantiles, regret" in text
    out = pl.concat([pl.read_csv(name)["q_0.2", "q_0.7"] for name in ("a.csv", "b.csv")])
    assert np.array_equal(out.to_numpy(), said.quantiles)
    assert noregret("run", file, "-y", "y", "-m", "linear-quantiles", "--lags", "1") == 2
    assert noregret("compare", file, "-y", "y", "--models", "linear-quantiles,aar") == 2


def test_labels_say_what_they_cannot(file: Path, capsys) -> None:
    frame = pl.read_csv(file).with_columns(y=(pl.col("y") > 0).cast(pl.Int64))
    frame.write_csv("labels.csv")
    assert noregret("run", "labels.csv", "-y", "y", "--binary", "--intervals", "90") == 2
    assert "probabilities" in capsys.readouterr().err
