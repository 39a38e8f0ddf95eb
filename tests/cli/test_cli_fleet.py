"""`noregret fleet`: forecasts of separate learners, a state that goes on, keys ranked."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import noregret as nr
from commands import noregret, stream, write


def keyed(T: int = 300, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    shops = pl.Series("shop", rng.choice(["north", "south", "<b>&", "007"], T))
    return stream(T, seed).drop("colour").with_columns(shops)


def separate(frame: pl.DataFrame) -> np.ndarray:
    fleet = nr.Fleet(nr.AAR())
    return fleet.round(frame["shop"], frame[["a", "b"]], frame["y"].to_numpy())


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_forecasts_and_screen(tmp_path, capsys, ending) -> None:
    frame = keyed()
    data, out = write(frame, tmp_path / f"data.{ending}"), tmp_path / "preds.parquet"
    assert noregret("fleet", data, "--key", "shop", "--target", "y", "--out", out) == 0
    said = capsys.readouterr().out
    assert "300 rows" in said
    assert "4 keys" in said
    assert "summed over 4 keys: holds" in said
    preds = pl.read_parquet(out)
    np.testing.assert_allclose(preds["forecast"].to_numpy(), separate(frame), rtol=1e-12)
    assert preds["shop"].to_list() == frame["shop"].to_list()


def test_a_state_goes_on(tmp_path) -> None:
    frame, state = keyed(), tmp_path / "fleet.nr"
    found = []
    for k, part in enumerate((frame[:120], frame[120:])):
        data, out = write(part, tmp_path / f"{k}.csv"), tmp_path / f"{k}.preds.csv"
        options = ("--key", "shop", "--target", "y", "--state", state, "--out", out, "-q")
        assert noregret("fleet", data, *options) == 0
        found.append(pl.read_csv(out)["forecast"].to_numpy())
    np.testing.assert_allclose(np.concatenate(found), separate(frame), rtol=1e-12)
    assert len(nr.Fleet.open(state)) == 4


def test_the_page_ranks_keys(tmp_path) -> None:
    data, page = write(keyed(), tmp_path / "data.csv"), tmp_path / "page.html"
    assert noregret("fleet", data, "--key", "shop", "--target", "y", "--report", page, "-q") == 0
    text = page.read_text()
    assert "Most lost" in text
    assert "&lt;b&gt;&amp;" in text
    assert "<b>&" not in text
    assert text.count("<tbody>") >= 3


def test_gaps_and_bad_rows(tmp_path, capsys) -> None:
    path = tmp_path / "data.csv"
    path.write_text("shop,a,y\nn,1,2\nn,x,3\nn,2,\ns,1,1\n")
    out = tmp_path / "preds.csv"
    options = ("--key", "shop", "--target", "y")
    assert noregret("fleet", path, *options) == 2
    assert "line 3" in capsys.readouterr().err
    assert noregret("fleet", path, *options, "--skip-bad", 1, "--out", out) == 0
    assert pl.read_csv(out)["line"].to_list() == [2, 4, 5]
    assert "1 bad line left out" in capsys.readouterr().out
    path.write_text("shop,a,y\nn,1,2\n,1,3\n")
    assert noregret("fleet", path, *options) == 2
    assert "line 3, column 'shop': the value is missing" in capsys.readouterr().err
    assert noregret("fleet", path, *options, "--skip-bad", 1) == 0
    assert "1 bad line left out" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "--key COLUMN"),
        (("--key", "y"), "is the target"),
        (("--key", "shp"), "shop"),
        (("--key", "shop", "--late", "skip"), "as they come"),
        (("--key", "shop", "--intervals", "190"), "percentages from 1 to 99.9"),
        (("--key", "shop", "-m", "bayesian-logistic"), "labels"),
    ],
)
def test_mistakes(tmp_path, capsys, options, words) -> None:
    data = write(keyed(20), tmp_path / "data.csv")
    assert noregret("fleet", data, "--target", "y", *options) == 2
    assert words in capsys.readouterr().err


def test_another_model_than_the_state(tmp_path, capsys) -> None:
    data, state = write(keyed(20), tmp_path / "data.csv"), tmp_path / "fleet.nr"
    options = ("--key", "shop", "--target", "y", "--state", state, "-q")
    assert noregret("fleet", data, *options, "-m", "ridge", "--drift", 0.1) == 0
    assert noregret("fleet", data, *options) == 0
    assert nr.Fleet.open(state)["007"].drift == 0.1
    assert noregret("fleet", data, *options, "-m", "aar") == 2
    assert "is a fleet of Ridge" in capsys.readouterr().err


def test_lags_go_through_a_loop(tmp_path) -> None:
    data = write(keyed(60), tmp_path / "data.csv")
    assert noregret("fleet", data, "--key", "shop", "--target", "y", "--lags", "1,2", "-q") == 0


def test_intervals_and_a_state(tmp_path, capsys) -> None:
    """Columns low and high are those of separate learners; the coverages come from the state."""
    frame, state, page = keyed(), tmp_path / "fleet.nr", tmp_path / "page.html"
    fleet = nr.Fleet(nr.Intervals(nr.AAR(), [0.5, 0.9]))
    X, y = frame[["a", "b"]], frame["y"].to_numpy()
    _, expected = fleet.round_intervals(frame["shop"], X, y)
    found = []
    for k, part in enumerate((frame[:120], frame[120:])):
        data, out = write(part, tmp_path / f"{k}.csv"), tmp_path / f"{k}.preds.csv"
        options = ["--key", "shop", "--target", "y", "--state", state, "--out", out]
        options += ["--report", page, *(("--intervals", "50,90") if k == 0 else ())]
        assert noregret("fleet", data, *options) == 0
        said = capsys.readouterr().out
        assert "90 % intervals covered" in said
        assert f"of {len(part)} outcomes" in said
        assert "50 % intervals, coverage identity, summed over 4 keys: holds" in said
        assert "inside, asked 50 %" in said
        assert "plain loop" not in said
        found.append(pl.read_csv(out))
    both = pl.concat(found)
    low = both[["low_50", "low_90"]].to_numpy()
    np.testing.assert_allclose(low, expected.low, rtol=1e-12)
    text = page.read_text()
    assert "Do intervals cover?" in text
    assert "50 % intervals covered" in text
    options = ("--key", "shop", "--target", "y", "--state", state, "--intervals", "80")
    assert noregret("fleet", data, *options) == 2
    assert "is a fleet of Intervals" in capsys.readouterr().err


def test_one_coverage_and_the_loop_says_so(tmp_path, capsys) -> None:
    """A row without an outcome has an interval too; lags go through the loop."""
    frame, out = keyed(60), tmp_path / "preds.csv"
    frame = frame.with_columns(y=pl.when(pl.int_range(60) == 50).then(None).otherwise(pl.col("y")))
    data, options = write(frame, tmp_path / "data.csv"), ("--key", "shop", "--target", "y")
    assert noregret("fleet", data, *options, "--lags", "1", "--intervals", "90", "--out", out) == 0
    said = capsys.readouterr().out
    assert "through a plain loop" in said
    preds = pl.read_csv(out)
    assert preds.columns == ["line", "shop", "y", "forecast", "low", "high", "loss"]
    assert preds["y"][50] is None
    assert preds["low"][50] < preds["high"][50]
