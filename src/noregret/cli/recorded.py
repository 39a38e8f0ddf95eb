"""What a report is drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret.types import Vector

__all__ = ["Recorded", "recorded"]


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


def recorded(session: Any) -> list[Recorded]:
    """All learners of a session."""
    y = np.concatenate(session.outcomes) if session.outcomes else np.empty(0)
    found = []
    for player in session.players:
        columns = [
            np.concatenate([getattr(one, name) for one in player.columns] or [np.empty(0)])
            for name in ("forecast", "std", "loss", "bound")
        ]
        found.append(Recorded(player.name, player.learner, y, *columns))
    return found
