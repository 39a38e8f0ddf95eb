"""What a new user ran into: each with the friendly outcome."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

import noregret as nr
from commands import noregret
from noregret.cli import session
from noregret.errors import ParameterError
from noregret.running.player import Player


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("NOREGRET_MODEL", "auto")
    monkeypatch.chdir(tmp_path)


def failing(capsys, *arguments: object) -> str:
    """The one line that a mistake gets."""
    capsys.readouterr()
    assert noregret(*arguments) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said


def shown(capsys, *arguments: object) -> str:
    """The screen, without the breaks of long lines."""
    capsys.readouterr()
    assert noregret(*arguments) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    return text.replace("\n    ", " ")


# Far horizons ---------------------------------------------------------------------------------


def test_a_horizon_is_capped_in_the_library() -> None:
    with pytest.raises(ParameterError, match=r"horizon = 1001: .* 1 to 1,000"):
        nr.Forecaster(horizon=1001).learn_one(None, 1.0)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no such timers")
def test_a_signal_ends_a_piece_that_takes_long(monkeypatch) -> None:
    Path("d.csv").write_text("a,y\n" + "2,3\n" * 30)

    def slow(*_: object) -> None:
        signal.raise_signal(signal.SIGTERM)
        time.sleep(30)

    monkeypatch.setattr(session, "GRACE", 0.01)
    monkeypatch.setattr(Player, "play", slow)
    with pytest.raises(SystemExit) as ended:
        noregret("run", "d.csv", "--target", "y")
    assert ended.value.code == 128 + signal.SIGTERM
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
