"""What states have in common whose forecasts come from a pool of their own experts."""

from __future__ import annotations

import numpy as np

from noregret.experts.pool import Pool
from noregret.inputs.values import outcome, outcome_column
from noregret.learner.state import VectorState
from noregret.types import Outcome, Outcomes, Vector

__all__ = ["PooledState"]


class PooledState(VectorState):
    """A state with a pool, which counts the rounds and says what outcomes it takes."""

    __slots__ = ()

    pool: Pool

    @property
    def rounds(self) -> int:
        """How many rounds have been learned."""
        return self.pool.rounds

    def target(self, y: Outcome) -> float:
        """The outcome, if a pool can take it."""
        return self.pool.game.outcome(outcome(y))

    def targets(self, y: Outcomes, rounds: int) -> Vector:
        """The outcomes of many rounds, if a pool can take them."""
        game_ = self.pool.game
        return np.array([game_.outcome(value) for value in outcome_column(y, rounds).tolist()])
