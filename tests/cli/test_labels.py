"""--binary: any two labels, which of them counts as 1, and what a target of 0 and 1 is told."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from commands import forecasts, noregret


def labelled(folder: Path, zero: object, one: object, T: int = 60) -> Path:
    rng = np.random.default_rng(3)
    a = rng.standard_normal(T)
    y = (a + 0.5 * rng.standard_normal(T)) > 0
    path = folder / "d.csv"
    rows = "".join(f"{x},{one if v else zero}\n" for x, v in zip(a, y))
    path.write_text("a,y\n" + rows)
    return path


@pytest.mark.parametrize(
    ("zero", "one"),
    [
        ("no", "yes"),
        ("0", "1"),
        ("-1", "1"),
        ("1", "2"),
        ("ok", "fault"),
        ("ham", "spam"),
        ("False", "True"),
        ("a", "b"),
        ("DOWN", "UP"),
    ],
)
def test_two_labels_of_any_kind(tmp_path: Path, zero: str, one: str, capsys) -> None:
    out = tmp_path / "o.csv"
    run = ("run", "--target", "y", "--binary", "--out", out)
    assert noregret(*run, labelled(tmp_path, "0", "1"), "-q") == 0
    expected = forecasts(out)
    assert noregret(*run, labelled(tmp_path, zero, one)) == 0
    assert np.array_equal(forecasts(out), expected)
    assert set(pl.read_csv(out)["y"]) == {0.0, 1.0}
    said = f"target y: {one!r} counts as 1, {zero!r} as 0"
    assert (said in capsys.readouterr().out) == ((zero, one) != ("0", "1"))


def test_the_label_that_counts_as_1_can_be_given(tmp_path: Path) -> None:
    out, path = tmp_path / "o.csv", labelled(tmp_path, "no", "yes")
    assert noregret("run", path, "-y", "y", "--binary", "-q", "--out", out) == 0
    y = pl.read_csv(out)["y"].to_numpy()
    more = ("--positive", "no", "-q", "--out", out)
    assert noregret("run", path, "-y", "y", "--binary", *more) == 0
    assert np.array_equal(pl.read_csv(out)["y"].to_numpy(), 1.0 - y)


def test_compare_takes_labels_too(tmp_path: Path, capsys) -> None:
    path = labelled(tmp_path, "cold", "warm", 30)
    assert noregret("compare", path, "-y", "y", "--binary") == 0
    assert "'warm' counts as 1" in capsys.readouterr().out


def test_a_third_label_is_a_bad_row(tmp_path: Path, capsys) -> None:
    path = labelled(tmp_path, "no", "yes", 1_500)
    path.write_text(path.read_text() + "1,maybe\n")
    assert noregret("run", path, "-y", "y", "--binary") == 2
    assert "line 1502, column 'y': 'maybe' is neither 'no' nor 'yes'" in capsys.readouterr().err
    out = tmp_path / "o.csv"
    run = ("run", path, "-y", "y", "--binary", "--skip-bad", "1", "-q", "--out", out)
    assert noregret(*run) == 0
    assert len(forecasts(out)) == 1_500


def test_labels_are_remembered_by_a_state(tmp_path: Path) -> None:
    """The second file has one label only, and it is the one that counts as 1."""
    state, out = tmp_path / "s.nr", tmp_path / "o.csv"
    path = labelled(tmp_path, "cold", "warm")
    assert noregret("run", path, "-y", "y", "--binary", "--state", state, "-q") == 0
    path = tmp_path / "2.csv"
    path.write_text("a,y\n1,warm\n2,warm\n")
    assert noregret("run", path, "--state", state, "-q", "--out", out) == 0
    assert pl.read_csv(out)["y"].to_list() == [1.0, 1.0]


def test_a_target_of_0_and_1_is_told_of_binary(tmp_path: Path, capsys) -> None:
    assert noregret("run", labelled(tmp_path, "0", "1"), "-y", "y") == 0
    assert "y is 0 or 1 in all rows: --binary forecasts probabilities" in capsys.readouterr().out


def test_one_label_that_says_nothing_is_asked_for(tmp_path: Path, capsys) -> None:
    path = tmp_path / "d.csv"
    path.write_text("a,y\n1,warm\n2,warm\n")
    assert noregret("run", path, "-y", "y", "--binary") == 2
    assert "only one label so far ('warm'): give --positive LABEL" in capsys.readouterr().err
    assert noregret("run", path, "-y", "y", "--binary", "--positive", "warm", "-q") == 0
    path.write_text("a,y\n1,no\n2,no\n")
    assert noregret("run", path, "-y", "y", "--binary", "-q") == 0


def test_the_page_and_json_say_what_the_screen_says(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.setenv("NOREGRET_MODEL", "auto")
    page, path = tmp_path / "p.html", labelled(tmp_path, "ok", "fault", 120)
    run = ("run", path, "--target", "y", "--binary")
    assert noregret(*run, "--report", page) == 0
    screen = capsys.readouterr().out.splitlines()
    head = next(k for k, line in enumerate(screen) if "log loss" in line and "Brier" in line)
    text = page.read_text()
    for line in screen[head + 1 : head + 4]:
        log, brier, right = line.removesuffix("   <-").removesuffix(" %").split()[-3:]
        log = log if log == "-" else f"{float(log):.3g}"
        cells = f"<td>{log}</td><td>{float(brier):.3g}</td><td>{right} %</td>"
        assert cells in text
    assert next(line.strip() for line in screen if "AUC" in line) in text
    assert "RMSE" not in text[text.index("<main>") : text.index("<script")]
    assert "have a log loss of" in text
    assert "Are as many outcomes inside each interval" not in text
    assert noregret(*run, "--format", "json") == 0
    said = json.loads(capsys.readouterr().out)
    found = said.get("learners", [said])[0] if "errors" not in said else said
    ours, share, last = found["errors"]
    assert found["skill"] == pytest.approx(1.0 - ours["log_loss"] / share["log_loss"], rel=1e-12)
    assert (share["name"], last["name"]) == ("share so far", "last label")
    assert ours["brier"] == ours["rmse"] ** 2
