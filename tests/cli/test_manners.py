"""Manners: names of papers, ranges of lags, groups of options, completion, numbers for people."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import noregret as nr
from commands import noregret, shown, stream, write
from noregret.cli import show
from noregret.cli.grouped import GROUPS
from noregret.cli.names import PAPERS, WHEN
from noregret.registry import MODELS
from noregret.running.player import Player


@pytest.mark.parametrize(
    "name", ["KAAR", "AARCh", "KAARCh", "VAW", "ORR", "RLS", "Kalman", "BMA", "Hedge", "EWA"]
)
def test_models_are_found_by_the_names_of_papers(name: str, capsys) -> None:
    said = shown(capsys, "models", name)
    model = PAPERS[name.lower()].model
    assert f"noregret run data.csv --target y --model {model}" in said
    assert f"\n{model}  (" in said


@pytest.mark.parametrize("name", PAPERS)
def test_what_is_said_of_a_paper_can_be_typed(name: str, tmp_path: Path) -> None:
    paper = PAPERS[name]
    path = tmp_path / "d.csv"
    path.write_text("a,b,y\n" + "".join(f"{t % 3},{t % 5},{t % 2}\n" for t in range(8)))
    options = paper.options.replace("Y", "2").split()
    binary = ["--binary"] if MODELS[paper.model].binary else []
    assert noregret("run", path, "-y", "y", "-q", "-m", paper.model, *options, *binary) == 0


def test_every_model_says_when_to_take_it(capsys) -> None:
    assert WHEN.keys() == MODELS.keys()
    said = shown(capsys, "models")
    assert all(words in said for words in WHEN.values())


def test_lags_as_ranges(tmp_path: Path) -> None:
    path = write(stream(60), tmp_path / "d.csv")
    for lags, state in (("1-4,24", "a.nr"), ("1,2,3,4,24", "b.nr")):
        run = ("run", path, "-y", "y", "--lags", lags, "--state", tmp_path / state, "-q")
        assert noregret(*run) == 0
    assert nr.load(tmp_path / "a.nr").lags == nr.load(tmp_path / "b.nr").lags == [1, 2, 3, 4, 24]


def test_the_basics_come_first_in_help(capsys) -> None:
    for command in ("run", "compare"):
        said = shown(capsys, command, "--help")
        heads = [said.index(f"\n{head}:\n") for head in GROUPS]
        assert heads == sorted(heads)
        assert heads[0] < said.index("--target") < heads[1] < said.index("--lags") < heads[2]
        assert all(len(line) <= 100 for line in said.splitlines())


# Completion ---------------------------------------------------------------------------------


def completed(words: str, folder: Path) -> list[str]:
    environment = os.environ | {
        "_NOREGRET_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-m", "noregret"],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


def test_completion(tmp_path: Path, capsys) -> None:
    (tmp_path / "d.csv").write_text("time,load,loss,y\n2024-01-01,1,2,3\n")
    assert completed("noregret com", tmp_path) == ["compare"]
    assert completed("noregret run d.csv --target lo", tmp_path) == ["load", "loss"]
    assert completed("noregret run d.csv --features load,t", tmp_path) == ["load,time"]
    assert completed("noregret run d.csv --model bay", tmp_path) == [
        "bayesian-ridge",
        "bayesian-logistic",
    ]
    assert "--date-format" in completed("noregret run d.csv --da", tmp_path)
    assert completed("noregret run nothing.csv --target lo", tmp_path) == []
    for shell in ("bash", "zsh", "fish"):
        said = shown(capsys, "--show-completion", shell)
        assert f"_NOREGRET_COMPLETE={shell}_source noregret" in said
    script = subprocess.run(
        [sys.executable, "-m", "noregret"],
        env=os.environ | {"_NOREGRET_COMPLETE": "zsh_source"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "compdef" in script.stdout


# Numbers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "scale", "words"),
    [
        (1559.7, 0.0, "1,560"),
        (-0.0, 0.0, "0"),
        (-3.6e-12, 41.0, "0"),
        (-4.55767e-05, 1e6, "0"),
        (-4.55767e-05, 1.0, "-4.56e-05"),
        (0.5, 1.0, "0.5"),
        (999.9, 0.0, "1,000"),
        (float("nan"), 1.0, "-"),
        (None, 1.0, "-"),
    ],
)
def test_numbers_for_people(value: float | None, scale: float, words: str) -> None:
    assert show.number(value, scale) == words


def test_an_exact_fit_shows_no_rounding(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)  # a path may hold anything
    Path("d.csv").write_text("a,y\n" + "".join(f"{t},{3 * t}\n" for t in range(1, 200)))
    said = shown(capsys, "run", "d.csv", "-y", "y", "-m", "ridge")
    assert not re.search(r"\de-\d|-0\b", said)


@pytest.mark.parametrize("model", ["aar", "auto", "ridge", "bayesian-ridge"])
def test_the_progress_line_compares_both_sides_of_one_theorem(model: str) -> None:
    from noregret.registry import make

    player = Player(model, make(model))
    frame = stream(50)
    from noregret.inputs.tables import Frame

    X = Frame(["a", "b"], frame.select("a", "b").to_numpy())
    player.replay(X, frame["y"].to_numpy())
    player.loss *= 10.0  # the sum of a run is not what a certificate is about
    words = show.progress(50, 2.0, player)
    assert words.startswith("50 rows, 25/s, RMSE ")
    one = player.certificate
    assert ("of at most" in words) == (one.kind == "upper bound")
    assert f"loss {show.number(player.loss)}" not in words


def test_a_slow_run_says_so_without_a_terminal(tmp_path: Path, monkeypatch, capsys) -> None:
    path = write(stream(60), tmp_path / "d.csv")
    now = time.perf_counter()
    ticks = iter(range(0, 10_000, 5))
    monkeypatch.setattr(show, "perf_counter", lambda: now + next(ticks))
    assert noregret("run", path, "-y", "y", "--out", tmp_path / "o.csv") == 0
    said = capsys.readouterr().err
    assert "noregret: " in said
    assert " rows, " in said
    assert noregret("run", path, "-y", "y", "-q") == 0
    assert capsys.readouterr().err == ""


def test_what_was_left_out_is_said(tmp_path: Path, capsys) -> None:
    path = tmp_path / "d.csv"
    rows = "".join(f"{t},2024-01-01T00:{t:02d},name {t},{t % 4},{t % 3}\n" for t in range(60))
    path.write_text(",time,who,a,y\n" + rows)
    said = shown(capsys, "run", path, "-y", "y")
    assert "column 'index' has no name and comes first: taken for the index of" in said
    assert "column 'time' holds times, which are not features: left out (--calendar)" in said
    assert "column 'who' is text, and 60 of 60 values differ: left out (--text takes it)" in said
    assert " 60 rows" in said
    assert "features a" in said


def test_a_constant_target_is_said(tmp_path: Path, capsys) -> None:
    path = tmp_path / "d.csv"
    path.write_text("a,y\n1,5\n2,5\n3,5\n")
    assert "y is 5 in all rows" in shown(capsys, "run", path, "-y", "y")


def test_a_late_contradiction_in_a_pipe_is_a_bad_row(tmp_path: Path) -> None:
    """A pipe's columns are what its first rows say: what comes later must fit, and is named."""
    run = [sys.executable, "-m", "noregret", "run", "-", "-y", "y", "-q"]
    with subprocess.Popen(
        [*run], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write("a;y\n1,5;2\n")
        process.stdin.flush()
        assert process.stdout.readline().startswith("line,y,forecast")
        assert process.stdout.readline().startswith("2,2.0,")
        process.stdin.write("2,5;3\nabc;4\n")
        process.stdin.close()
        assert process.stdout.read().startswith("")
        said = process.stderr.read()
    assert process.returncode == 2
    assert "standard input, line 4, column 'a': 'abc' in a column of numbers" in said
    assert "give --na abc" in said


@pytest.mark.parametrize("command", ["run", "forecast", "fleet", "compare", "merge", "models"])
def test_help_has_80_columns_and_no_empty_heading(command: str, capsys) -> None:
    assert noregret(command, "--help") == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    basics = shown.partition("Basics:")[2].partition("\n\n")[0]
    assert command == "models" or "--help" in basics
    assert ("Parameters of the learners" in shown) == (command in ("run", "fleet"))
    assert command != "merge" or "--forecasts" in basics
