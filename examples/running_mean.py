"""A learner in one file: the mean of the outcomes so far, with a certificate."""

from __future__ import annotations

from typing import Self

import numpy as np

from noregret.certificates import Certificate
from noregret.declare.fields import Array, Count, Group, Part
from noregret.inputs.spaces import FeatureSpace
from noregret.learner.base import OnlineLearner
from noregret.learner.estimator import Regressor
from noregret.learner.state import VectorState
from noregret.types import Vector

WEIGHTED, FIRST, APART, SQUARES = range(4)  # what `sums` adds up


class MeanState(VectorState):
    """What was learned: how many rounds, and four sums."""

    __slots__ = ("rounds", "space", "sums")
    FIELDS = (Part("space", ("Positions", "Names")), Count("rounds"), Array("sums", (4,)))

    def __init__(self, space: FeatureSpace, rounds: int, sums: Vector) -> None:
        self.space, self.rounds, self.sums = space, rounds, sums

    def with_space(self, space: FeatureSpace) -> Self:
        return type(self)(space, self.rounds, self.sums.copy())

    def copy(self) -> Self:
        return self.with_space(self.space)

    def predict_vector(self, _: Vector) -> float:
        return float(self.sums[FIRST] + self.sums[APART] / max(self.rounds, 1))

    def learn_vector(self, x: Vector, y: float) -> None:
        error = y - self.predict_vector(x)
        self.rounds += 1
        if self.rounds == 1:
            self.sums[FIRST] = y  # sums of y - first outcome lose no digits to a common offset
        apart, weight = y - float(self.sums[FIRST]), 1.0 - 1.0 / self.rounds
        self.sums[[WEIGHTED, APART, SQUARES]] += weight * error * error, apart, apart * apart

    def certificates(self) -> list[Certificate]:
        t, (loss, _, apart, squares) = self.rounds, self.sums.tolist()
        best = squares - apart * apart / t
        sides = {"loss": loss, "comparator": best, "bound": best}
        says = "sum (1 - 1/t) (y - mean so far)^2 = min_c sum (y - c)^2"
        return [Certificate.of(name="mean", kind="equality", rounds=t, statement=says, **sides)]


class RunningMean(Regressor, OnlineLearner[MeanState]):
    """The mean of the outcomes so far, whatever x is; 0 before the first."""

    STATE = Group("state", MeanState)

    def _start(self, space: FeatureSpace) -> MeanState:
        return MeanState(space, 0, np.zeros(4))
