"""Keeping what a report is drawn from while learners play, and the one door to whoever draws it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from noregret import report
from noregret.errors import SourceError
from noregret.running.player import Player

__all__ = ["record", "write_report"]


def record(path: str, players: Sequence[Player]) -> None:
    """Keep what the page at this path needs, in bounded memory, from now on."""
    folder = Path(path).parent
    if not folder.is_dir():
        raise SourceError(f"--report {path}: there is no folder {folder}")
    for player in players:
        player.recording = report.Recording(player.name, yes_no=player.yes_no)


def write_report(
    path: str, players: Sequence[Player], title: str, about: Mapping[str, str]
) -> None:
    """The page about a run; drawing it is another module's business."""
    report.write(path, [player.recording for player in players], title=title, about=about)
