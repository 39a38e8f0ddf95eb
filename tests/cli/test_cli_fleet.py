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
    assert "line 3 has no 'shop'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "--key COLUMN"),
        (("--key", "y"), "is the target"),
        (("--key", "shp"), "shop"),
        (("--key", "shop", "--late", "skip"), "as they come"),
        (("--key", "shop", "--intervals", "90"), "noregret run has them"),
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
