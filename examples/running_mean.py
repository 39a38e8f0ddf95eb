"""A learner in one file: the mean of the outcomes so far, with a certificate."""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.base import RegressorMixin

from noregret.certificates import Certificate
from noregret.inputs.spaces import FeatureSpace
from noregret.learner.base import OnlineLearner
from noregret.learner.fields import Array, Count, Group, Part
from noregret.learner.state import VectorState
from noregret.types import Vector

WEIGHTED, FIRST, APART, SQUARES = range(4)  # what `sums` adds up


class MeanState(VectorState):
    """What was learned: how many rounds, and four sums."""

    __slots__ = ("rounds", "space", "sums")
    FIELDS = (Part("space", ("Positions", "Names")), Count("rounds"), Array("sums", (4,)))

    def __init__(self, space: FeatureSpace, rounds: int = 0, sums: Vector | None = None) -> None:
        self.space, self.rounds = space, rounds
        self.sums: Vector = np.zeros(4) if sums is None else sums

    def with_space(self, space: FeatureSpace) -> Self:
        return type(self)(space, self.rounds, self.sums.copy())

    def copy(self) -> Self:
        return self.with_space(self.space)

    def predict_vector(self, _: Vector) -> float:
        return float(self.sums[FIRST] + self.sums[APART] / max(self.rounds, 1))

    def learn_vector(self, x: Vector, y: float) -> None:
        loss = (y - self.predict_vector(x)) ** 2
        first = self.sums[FIRST] if self.rounds else y  # sums about the first outcome are exact
        apart = y - first
        self.sums[FIRST], self.rounds = first, self.rounds + 1
        self.sums[[WEIGHTED, APART, SQUARES]] += (1.0 - 1.0 / self.rounds) * loss, apart, apart**2

    def certificates(self) -> list[Certificate]:
        t, (weighted, _, apart, squares) = self.rounds, self.sums.tolist()
        statement = "sum (1 - 1/t) (y - mean so far)^2 = min_c sum (y - c)^2"
        best = squares - apart**2 / t
        numbers = {"rounds": t, "loss": weighted, "comparator": best, "bound": best}
        return [Certificate.of(name="mean so far", kind="equality", statement=statement, **numbers)]


class RunningMean(RegressorMixin, OnlineLearner[MeanState]):  # type: ignore[misc]  # untyped base
    """The mean of the outcomes so far, whatever x is; 0 before the first."""

    STATE = Group("state", MeanState)

    def _start(self, space: FeatureSpace) -> MeanState:
        return MeanState(space)
