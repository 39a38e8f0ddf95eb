"""What states have in common whose forecasts come from a pool of their own experts."""

from __future__ import annotations

import math
from typing import Self

import numpy as np

from noregret._native.grid import within
from noregret._native.layout import EXACT_INTEGER
from noregret._native.rows import RenewedRounds
from noregret.experts.pool import Pool
from noregret.inputs.values import outcome, outcome_column
from noregret.learner.state import VectorState
from noregret.types import Outcome, Outcomes, Row, Vector

__all__ = ["PooledState"]


class PooledState(VectorState):
    """A state with a pool, which counts the rounds and says what outcomes it takes."""

    __slots__ = ()

    pool: Pool
    fast: RenewedRounds  # rounds in the state's arrays

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

    def predict(self, x: Row) -> float:
        """The forecast at x; nothing is learned."""
        forecast = self.fast.predict(x)
        return VectorState.predict(self, x) if forecast is None else forecast

    def learn(self, x: Row, y: Outcome) -> Self:
        """Learn one round; the state that goes on."""
        if self.fast.learn(x, y):
            return self
        state = VectorState.learn(self, x, y)
        state.renew()
        return state

    def renew(self) -> None:
        """Begin compiled rounds anew."""
        raise NotImplementedError

    def _known(self, x: Vector) -> bool:
        """Whether a plain x needs no closer look."""
        return x.size == self.space.size and within(x, EXACT_INTEGER)

    def predict_fast(self, x: Vector) -> float:
        """The forecast at a plain x; NaN where a closer look is needed."""
        return self.predict_vector(x) if self._known(x) else math.nan

    def learn_fast(self, x: Vector, y: Outcome) -> bool:
        """Learn a plain round; False where a closer look is needed."""
        if not self._known(x):
            return False
        self.learn_vector(x, self.target(y))
        return True
