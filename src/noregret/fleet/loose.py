"""Learners that have no compiled slots: an object for each key, taught in a plain loop."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np

from noregret.errors import InputError, NoRegretError
from noregret.inputs.values import as_frame, table
from noregret.types import Integers, Matrix, Outcomes, Table, Vector

__all__ = ["Loose", "rows_of"]


class Loose:
    """The learners of a fleet, by slot; an empty slot is None."""

    __slots__ = ("learners", "like", "times")

    def __init__(self, like: Any) -> None:
        self.like = like
        self.learners: list[Any] = []
        self.times: list[float] = []

    def new(self) -> Any:
        """A learner that has learned nothing."""
        return deepcopy(self.like)

    # Rows -----------------------------------------------------------------------------------

    def read(self, X: Table, y: Outcomes) -> tuple[None, list[Any], list[Any]]:
        """Rows as learners take them one by one, and their outcomes."""
        rows = rows_of(X)
        ys = list(y.tolist() if hasattr(y, "tolist") else y)  # type: ignore[arg-type]
        if len(ys) != len(rows):
            raise InputError(
                f"y has {len(ys)} entries and X has {len(rows)} rows: give one per row"
            )
        return None, rows, ys

    def known(self, X: Table) -> tuple[list[Any], None]:
        """Rows as learners take them."""
        return rows_of(X), None

    def settle(self, space: None) -> None:
        """Nothing: every learner has its own features."""

    def mark(self) -> None:
        """Nothing: `learn` goes back by itself."""

    def back(self, mark: None) -> None:
        """Nothing."""

    def reserve(self, count: int) -> None:
        """Have so many slots."""
        while len(self.learners) < count:
            self.learners.append(None)
            self.times.append(0.0)

    def clear(self, where: Integers) -> None:
        """Forget the learners of some slots."""
        for slot in where.tolist():
            self.learners[slot] = None

    # Rounds ---------------------------------------------------------------------------------

    def learn(
        self,
        where: Integers,
        rows: list[Any],
        ys: list[Any],
        now: float,
        ends: Matrix | None = None,
    ) -> Vector:
        """Forecast and learn every row, and say its ends; all of them or none."""
        marks: dict[int, Any] = {}
        forecasts = []
        try:
            for t, slot in enumerate(where.tolist()):
                learner = self.learners[slot] or self.new()
                if slot not in marks:
                    marks[slot] = None if self.learners[slot] is None else learner._mark()
                forecasts.append(learner.predict_one(rows[t]))
                if ends is not None:
                    ends[t] = learner._ends(rows[t])[1]
                learner.learn_one(rows[t], ys[t])
                self.learners[slot] = learner
        except BaseException as wrong:
            for slot, mark in marks.items():
                if mark is None:
                    self.learners[slot] = None
                else:
                    self.learners[slot]._restore(mark)
            if isinstance(wrong, NoRegretError):
                wrong.row = t  # type: ignore[attr-defined]
            raise
        for slot in marks:
            self.times[slot] = now
        return np.array(forecasts)

    def predict(
        self,
        where: Integers,
        rows: list[Any],
        beyond: None,  # noqa: ARG002  # as other stores have it
        ends: Matrix | None = None,
    ) -> Vector:
        """Forecast every row, and say its ends."""
        pairs = zip(where.tolist(), rows, strict=True)
        found = [((self.learners[s] if s >= 0 else None) or self.new(), row) for s, row in pairs]
        for t, (learner, row) in enumerate(found if ends is not None else ()):
            ends[t] = learner._ends(row)[1]  # type: ignore[index]  # shown above
        return np.array([learner.predict_one(row) for learner, row in found])

    # States ---------------------------------------------------------------------------------

    def seen(self, where: Integers) -> Vector:
        """When each slot learned last."""
        return np.array([self.times[slot] for slot in where.tolist()])

    def learner(self, slot: int) -> Any:
        """A copy of a learner."""
        return deepcopy(self.learners[slot])

    def fits(self, learner: Any, name: object) -> Any:
        """A copy of a learner with the parameters of the fleet's."""
        if type(learner) is not type(self.like) or _plain(learner) != _plain(self.like):
            raise InputError(
                f"the learner for key {name!r} has other parameters than the fleet's: {self.like!r}"
            )
        return deepcopy(learner)

    def put(self, slot: int, learner: Any, now: float) -> None:
        """Let a slot have this learner."""
        self.learners[slot], self.times[slot] = learner, now

    def joint_with(self, other: Loose) -> None:
        """Nothing: every learner has its own features."""

    def insert(self, at: Integers, other: Loose, which: Integers) -> None:
        """Copy learners of another store into slots of this one."""
        self.reserve(int(at.max(initial=-1)) + 1)
        for slot, there in zip(at.tolist(), which.tolist(), strict=True):
            self.put(slot, other.learner(there), other.times[there])


def _plain(learner: Any) -> dict[str, object]:
    """The parameters that are plain values."""
    given = learner.get_params(deep=False).items()
    return {k: v for k, v in given if isinstance(v, str | float | int | None)}


def rows_of(X: Table) -> list[Any]:
    """Rows as learners take them one by one."""
    rows, names = table(as_frame(X))
    if names is None:
        return list(rows)
    return [dict(zip(names, row, strict=True)) for row in rows.tolist()]
