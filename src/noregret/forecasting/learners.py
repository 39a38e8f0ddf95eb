"""Copies of the learner, each for a block of horizons: 1, 2, 3-4, 5-8, ..., up to the last.

The copy of a block learns at its longest horizon k and forecasts for the whole block, so that what
it says of a step was known k steps before.  Beyond horizon 1 it learns in batches of 32 steps or k,
since a batch costs hardly more than a round; its forecasts come from what it had learned then.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from noregret.declare.fields import AnyLearner, Count
from noregret.errors import InputError, wrapping
from noregret.forecasting.design import FAR, AsTheyAre, Design
from noregret.forecasting.history import MEAN, REAL, History, Y
from noregret.learner.base import Learner
from noregret.learner.saving import ours
from noregret.types import Integers, Matrix, Vector

__all__ = ["Block", "blocks_of"]

BATCH = 32
FEW = 8  # rows that are learned one by one: a replay begins with a copy


def blocks_of(horizon: int) -> list[int]:
    """The longest horizon of each block.

    >>> blocks_of(1), blocks_of(24)
    ([1], [1, 2, 4, 8, 16, 24])
    """
    found = [1]
    while found[-1] < horizon:
        found.append(min(2 * found[-1], horizon))
    return found


class Block:
    """A learner at one horizon, and how many steps it has learned."""

    __slots__ = ("horizon", "learned", "learner")
    learner: Any  # what it has beside predict_one and learn_one is asked

    FIELDS = (Count("horizon", 1, 100_000), AnyLearner("learner"), Count("learned"))

    def __init__(self, horizon: int, learner: Learner, learned: int = 0) -> None:
        self.horizon, self.learner, self.learned = horizon, learner, learned

    def copy(self) -> Block:
        """One that shares nothing with this one."""
        copied = copy.copy if ours(self.learner) else copy.deepcopy  # ours copy their states
        return Block(self.horizon, copied(self.learner), self.learned)

    def asked(self) -> Block:
        """One to be asked where no outcomes come: at horizon 1 nothing is learned from others."""
        if self.horizon > 1:
            return self.copy()
        return Block(self.horizon, self.learner, self.learned)

    @property
    def sure(self) -> bool:
        """Whether the learner is one of ours and sure to learn what it has forecast."""
        return ours(self.learner) and self.learner._takes(FAR)

    @property
    def binary(self) -> bool:
        """Whether outcomes are labels 0 and 1, and forecasts probabilities of 1."""
        return hasattr(self.learner, "predict_proba")

    def run(self, design: Design | AsTheyAre, past: History, first: int) -> Vector:
        """What the learner says of the steps from `first` on, learning as they become known."""
        k, said = self.horizon, np.empty(past.size - first)
        batch = 1 if k == 1 else max(k, BATCH)
        if k == 1 and hasattr(self.learner, "replay"):
            return self._at_once(design, past, first, said)
        start = first
        while start < past.size:
            stop = min((start // batch + 1) * batch, past.size)
            steps = np.arange(start, stop)
            said[start - first : stop - first] = self.said(design, past, steps)
            if stop % batch == 0:
                self._learn(design, past, stop - k + 1)
            start = stop
        return said

    def _at_once(
        self, design: Design | AsTheyAre, past: History, first: int, said: Vector
    ) -> Vector:
        """Horizon 1: predict-then-learn over all real steps; others are forecast in between."""
        steps = np.arange(first, past.size)
        real = (past.table[REAL, past.columns(steps)] > 0.0) & (steps >= design.first)
        rows, base, unit = design.rows(past, steps, 1)
        said[:] = self._idle(past, steps)
        if real.any():
            target = self._target(design, past, steps[real], base[real], unit[real])
            with wrapping("the learner", InputError):
                if len(target) <= FEW:
                    heard = np.empty(len(target))
                    for t, (x, y) in enumerate(zip(rows[real], target.tolist())):
                        heard[t] = self.learner.predict_one(x)
                        self.learner.learn_one(x, y)
                else:
                    heard = self.learner.replay(rows[real], target).forecast
            said[real] = self._heard(heard, base[real], unit[real])
        if real.any() or self.learned > 1:
            self.learned = past.size
        return said

    def _idle(self, past: History, steps: Integers) -> Vector:
        """A forecast without the learner: the mean of labels, the last outcome of numbers."""
        known: Vector = past.table[MEAN if self.binary else Y, past.columns(steps - self.horizon)]
        return known

    def _target(
        self,
        design: Design | AsTheyAre,
        past: History,
        steps: Integers,
        base: Vector,
        unit: Vector,
    ) -> Vector:
        y: Vector = past.table[Y, past.columns(steps)]
        return y if self.binary else design.target(y, base, unit)

    def _heard(self, heard: Vector, base: Vector, unit: Vector) -> Vector:
        """What the learner said, as a forecast of the outcome."""
        return np.asarray(heard) if self.binary else base + unit * heard

    def _learn(self, design: Design | AsTheyAre, past: History, stop: int) -> None:
        """Learn the steps before `stop` that are not learned yet."""
        steps = np.arange(max(self.learned, self.horizon, past.start), stop)
        real = steps[past.table[REAL, past.columns(steps)] > 0.0]
        if real.size:
            rows, base, unit = design.rows(past, real, self.horizon)
            target = self._target(design, past, real, base, unit)
            with wrapping("the learner", InputError):
                if self.binary and hasattr(self.learner, "partial_fit"):
                    self.learner.partial_fit(rows, target, classes=[0, 1])
                elif hasattr(self.learner, "partial_fit"):
                    self.learner.partial_fit(rows, target)
                else:
                    for x, y in zip(rows, target.tolist()):
                        self.learner.learn_one(x, y)
        if real.size or self.learned > self.horizon:
            self.learned = max(self.learned, stop)

    def said(
        self,
        design: Design | AsTheyAre,
        past: History,
        steps: Integers,
        given: Matrix | None = None,
    ) -> Vector:
        """What the learner says of steps at its horizon, from what it has learned."""
        rows, base, unit = design.rows(past, steps, self.horizon, given)
        if self.learned <= self.horizon:
            return self._idle(past, steps)
        with wrapping("the learner", InputError):
            if self.binary:
                heard = np.asarray(self.learner.predict_proba(rows), dtype=float)[:, 1]
            elif len(rows) == 1 and ours(self.learner):  # compiled
                heard = np.array([self.learner.predict_one(rows[0])])
            elif hasattr(self.learner, "predict"):
                heard = np.asarray(self.learner.predict(rows), dtype=float)
            else:
                heard = np.array([float(self.learner.predict_one(x)) for x in rows])
        return self._heard(heard, base, unit)
