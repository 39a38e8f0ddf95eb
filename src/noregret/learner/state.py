"""What a learner has learned: the state protocol, and what states on vectors share.

A state is all that the data did; parameters stand beside it, in the learner.  It has one owner,
which holds the lock: no state locks anything itself, and no two states share an array.  Every call
is checked whole before anything is written, so that a refused one leaves no trace.
"""

from __future__ import annotations

import math
from typing import Protocol, Self

import numpy as np

from noregret.certificates import Certificate
from noregret.inputs.spaces import FeatureSpace, plain
from noregret.inputs.values import outcome, outcome_column, require_rows
from noregret.learner.replay import Replay
from noregret.types import Forecast, Matrix, Outcome, Outcomes, Row, Table, Vector

__all__ = ["Batch", "State", "VectorState"]


class Batch(Protocol):
    """What every state can do, also one that was learned from a batch and not round by round."""

    @property
    def space(self) -> FeatureSpace | None:
        """How x becomes a vector; None where inputs are objects."""
        ...

    def copy(self) -> Self:
        """A state that shares nothing that changes with this one."""
        ...

    def predict_rows(self, X: Table) -> Vector:
        """Forecasts at every row; nothing is learned."""
        ...


class State(Batch, Protocol):
    """What the state of every online learner can do.

    One that has an attribute `fast`, rounds of noregret._native.rows in its own arrays, is asked
    there first, without a lock; those arrays then stay where they are as long as the state lives.
    """

    @property
    def rounds(self) -> int:
        """How many rounds have been learned."""
        ...

    def predict(self, x: Row) -> Forecast:
        """The forecast at x; nothing is learned."""
        ...

    def learn(self, x: Row, y: Outcome) -> Self:
        """Learn one round; the state that goes on: this one, or a larger one."""
        ...

    def replay(self, X: Table, y: Outcomes) -> tuple[Self, Replay]:
        """Predict-then-learn over rows: the state that goes on, and what was said and paid."""
        ...

    def certificates(self) -> list[Certificate]:
        """Every statement that applies, the main one first."""
        ...


class VectorState:
    """A state whose inputs are vectors of a feature space, which may grow.

    Two ways in.  The fast one takes plain float64 vectors, and mappings with just the known names,
    straight to compiled code, which declines where a closer look is needed.  The careful one
    encodes value by value, names what is wrong, and extends the space by names that are new.

    A child writes `copy`, `with_space`, `predict_vector`, `learn_vector` and `certificates`; the
    fast ways and `run`, many rounds at once, where it has something better than a loop.
    """

    __slots__ = ()

    space: FeatureSpace

    def copy(self) -> Self:
        """A state that shares nothing that changes with this one."""
        raise NotImplementedError

    def with_space(self, space: FeatureSpace) -> Self:
        """A larger copy: what is new has been 0 so far."""
        raise NotImplementedError

    def certificates(self) -> list[Certificate]:
        """Every statement that applies, the main one first."""
        raise NotImplementedError

    def certificate(self) -> Certificate:
        """The main one, where it can be had for less."""
        return self.certificates()[0]

    def target(self, y: Outcome) -> float:
        """The outcome as this state learns it, or an OutcomeError."""
        return outcome(y)

    def targets(self, y: Outcomes, rounds: int) -> Vector:
        """The outcomes of many rounds, or an OutcomeError."""
        return outcome_column(y, rounds)

    # One round ------------------------------------------------------------------------------

    def predict_vector(self, x: Vector) -> float:
        """The forecast at a vector of the space; nothing is learned."""
        raise NotImplementedError

    def learn_vector(self, x: Vector, y: float) -> None:
        """Learn one round, in place; refused before the first write."""
        raise NotImplementedError

    def predict_fast(self, x: Vector) -> float:  # noqa: ARG002  # some have no faster way
        """The forecast at a plain x; NaN where a closer look is needed."""
        return math.nan

    def learn_fast(self, x: Vector, y: Outcome) -> bool:  # noqa: ARG002
        """Learn a plain round; False, and nothing learned, where a closer look is needed."""
        return False

    def encoded(self, x: Row) -> tuple[Self, Vector]:
        """A state that knows all features of x, and x as its vector."""
        vector, new, key = self.space.encode(x)[:3]
        if not new.size:
            return self, vector
        return self.with_space(self.space.extended(key)), np.concatenate([vector, new])

    def predict(self, x: Row) -> float:
        """The forecast at x; nothing is learned."""
        fast = plain(self.space, x)
        if fast is not None:
            forecast = self.predict_fast(fast)
            if forecast == forecast:
                return forecast
        state, vector = self.encoded(x)
        return state.predict_vector(vector)

    def learn(self, x: Row, y: Outcome) -> Self:
        """Learn one round; the state that goes on."""
        fast = plain(self.space, x)
        if fast is not None and self.learn_fast(fast, y):
            return self
        target = self.target(y)
        state, vector = self.encoded(x)
        state.learn_vector(vector, target)
        return state

    # Many rounds ----------------------------------------------------------------------------

    def _in_space(self, X: Table) -> tuple[Self, Matrix]:
        """A state that knows all columns of X, and its rows."""
        xs, space, _ = self.space.encode_rows(X)
        return (self if space is self.space else self.with_space(space)), xs

    def predict_rows(self, X: Table) -> Vector:
        """Forecasts at every row; nothing is learned."""
        state, xs = self._in_space(X)
        return np.array([state.predict_vector(x) for x in xs])

    def replay(self, X: Table, y: Outcomes) -> tuple[Self, Replay]:
        """Predict-then-learn over rows: the state that goes on, and what was said and paid."""
        state, xs = self._in_space(X)
        require_rows(xs.shape)
        ys = self.targets(y, len(xs))
        state = state.copy() if state is self else state
        forecasts, losses = state.run(np.ascontiguousarray(xs), ys)
        return state, state.replayed(forecasts, losses, xs, ys)

    def run(self, xs: Matrix, ys: Vector) -> tuple[Vector, Vector]:
        """Predict-then-learn over vectors, in place: forecasts and square losses."""
        forecasts = np.empty(len(ys))
        for t, (x, y) in enumerate(zip(xs, ys.tolist(), strict=True)):
            forecasts[t] = self.predict_vector(x)
            self.learn_vector(x, y)
        return forecasts, (ys - forecasts) ** 2

    def replayed(self, forecasts: Vector, losses: Vector, xs: Matrix, ys: Vector) -> Replay:  # noqa: ARG002
        """What a replay gives back."""
        return Replay(
            forecast=forecasts,
            mean=None,
            spread=None,
            loss=losses,
            certificate=self.certificate(),
        )
