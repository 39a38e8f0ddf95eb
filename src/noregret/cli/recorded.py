"""What a report is drawn from, and the one door to whoever draws it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret.cli.engine import Player
from noregret.errors import SourceError
from noregret.replay import module
from noregret.types import Vector

__all__ = ["Recorded", "write_report"]


@dataclass(frozen=True, slots=True, eq=False)
class Recorded:
    """One learner of a run: itself, and one entry a round, NaN where there is none."""

    name: str
    learner: Any
    y: Vector
    forecast: Vector
    std: Vector
    loss: Vector
    bound: Vector


def write_report(path: str, players: Sequence[Player], y: Vector) -> None:
    """The page about a run; drawing it is another module's business."""
    runs = []
    for player in players:
        columns = [
            np.concatenate([getattr(one, name) for one in player.columns] or [np.empty(0)])
            for name in ("forecast", "std", "loss", "bound")
        ]
        runs.append(Recorded(player.name, player.learner, y, *columns))
    try:
        write = module("noregret.report", "--report").write
    except Exception:  # noqa: BLE001  # there is no such module, or it cannot be loaded
        raise SourceError("--report: this release cannot write reports") from None
    write(path, runs)
