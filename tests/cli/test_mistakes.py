"""Typical mistakes: one line with a remedy, exit code 2, and nothing heavy is loaded for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from mistakes import HEAVY, MISTAKES, files

from commands import noregret

SCRIPT = """
import contextlib, io, sys
sys.path[:0] = sys.argv[1:2]
from mistakes import HEAVY, MISTAKES
from noregret.cli import call
for words in MISTAKES:
    if words.startswith("certify"):
        continue
    with contextlib.redirect_stderr(io.StringIO()):
        call(words.split())
    loaded = [name for name in HEAVY if name in sys.modules]
    if loaded:
        sys.exit(f"{words}: loads {', '.join(loaded)}")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("mistakes")
    files(made)
    return made


def test_there_are_enough_of_them() -> None:
    assert len(MISTAKES) >= 40


@pytest.mark.parametrize("words", MISTAKES)
def test_a_mistake_is_one_line(words: str, folder: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(folder)
    before = {path.name for path in folder.iterdir()}
    assert noregret(*words.split()) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("noregret: ")
    assert shown.err.count("\n") == 1
    assert MISTAKES[words] in shown.err
    assert {path.name for path in folder.iterdir()} == before


def test_nothing_heavy_is_loaded_for_a_mistake(folder: Path) -> None:
    assert HEAVY
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(Path(__file__).parent)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
