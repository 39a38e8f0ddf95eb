"""Learners whose states have one size, one slot of numbers per key: see desks.py for which."""

from __future__ import annotations

from typing import Any

import numpy as np

from noregret._native.fleet import LEARN, PREDICT, Desks
from noregret.errors import InputError, NoRegretError
from noregret.fleet.desks import DAMAGED, DeskPacking, blank_state, is_binary, space_known
from noregret.fleet.loose import rows_of
from noregret.fleet.slots import NOTHING, OverflowsError, SlotStore, Space
from noregret.glm.binary import checked
from noregret.glm.labels import column, sign_of
from noregret.inputs.spaces import Positions, space_for_table
from noregret.types import Integers, Matrix, Outcomes, Table, Vector
from noregret.wrappers.intervals import Intervals

__all__ = ["Laid"]

NO_ENDS: Matrix = np.empty((0, 0))
LABELS = (0, 1)


class Laid(SlotStore):
    """The states of a fleet, by slot."""

    __slots__ = ()

    packing: DeskPacking | None
    slots: Desks

    def packing_of(self, space: Space, extra: tuple[int, ...] = ()) -> DeskPacking:  # noqa: ARG002
        """A packing of learners like the fleet's."""
        return DeskPacking.of(self.like, space)

    def slots_of(self, packing: DeskPacking) -> Desks:
        """An empty store of such slots."""
        return packing.slots(self.threads)

    # Rows -----------------------------------------------------------------------------------

    def read(self, X: Table, y: Outcomes) -> tuple[Space, Matrix, Vector]:
        """The features and outcomes of a call, checked, and the space that knows them all."""
        space, xs, ys = super().read(X, y)
        return space, self._within(xs), ys

    def outcomes(self, y: Outcomes, rows: int) -> Vector:
        """One outcome per row; labels are 0 and 1."""
        if not is_binary(self.like):
            return super().outcomes(y, rows)
        if isinstance(y, np.ndarray) and y.shape == (rows,) and y.dtype.kind in "bif":
            plain = (y == 0) | (y == 1)
            if plain.all():
                return y.astype(np.float64)
        labels = column(y)
        if len(labels) != rows:
            raise InputError(f"y has {len(labels)} entries and X has {rows} rows: give one per row")
        found = np.empty(rows)
        for t, label in enumerate(labels):
            try:
                found[t] = sign_of(label, LABELS) > 0.0
            except NoRegretError as wrong:
                raise _in_row(wrong, t) from None
        return found

    def known(self, X: Table) -> tuple[Matrix, list[Any] | None]:
        """The known features of rows to forecast; and the rows, where some have new ones."""
        space = space_for_table(X)[0] if self.packing is None else self.packing.space
        xs, beyond = space.encode_known(X)
        return self._within(np.ascontiguousarray(xs)), rows_of(X) if beyond.any() else None

    def _within(self, xs: Matrix) -> Matrix:
        """Features that learners of labels take."""
        if is_binary(self.like) and xs.size:
            worst = int(np.abs(xs).max(axis=1).argmax())
            try:
                checked(xs[worst])
            except NoRegretError as wrong:
                raise _in_row(wrong, worst) from None
        return xs

    # Rounds ---------------------------------------------------------------------------------

    @property
    def ends(self) -> int:
        """How many ends there are about a forecast."""
        return len(self.like._trackers()[0].levels) if isinstance(self.like, Intervals) else 0

    def learn(
        self, where: Integers, xs: Matrix, ys: Vector, now: float, ends: Matrix = NO_ENDS
    ) -> Vector:
        """Forecast and learn every row, and say its ends; all of them or none."""
        touched = np.unique(where)
        before, forecasts = self.take(touched), np.empty(len(ys))
        failed = self.slots.run(LEARN, where, xs, ys, forecasts, ends, now)
        if failed >= 0:
            wrong = self._refusal(failed, int(where[failed]), xs[failed], float(ys[failed]))
            self.slots.put(touched, before)
            raise wrong
        return forecasts

    def predict(
        self, where: Integers, xs: Matrix, rows: list[Any] | None, ends: Matrix = NO_ENDS
    ) -> Vector:
        """Forecast every row; a slot of -1 is that of a new learner."""
        if rows is not None:  # with features that slots have no place for
            return self._one_by_one(where, rows, ends)
        forecasts, slots = np.empty(len(where)), self.slots
        if self.packing is None:  # nothing has been learned
            slots = self.slots_of(self.packing_of(Positions(xs.shape[1])))
        failed = slots.run(PREDICT, where, xs, NOTHING, forecasts, ends, 0.0)
        if failed >= 0:
            raise self._refusal(failed, int(where[failed]), xs[failed])
        return forecasts

    def _one_by_one(self, where: Integers, rows: list[Any], ends: Matrix) -> Vector:
        forecasts = np.empty(len(rows))
        for t, (slot, row) in enumerate(zip(where.tolist(), rows, strict=True)):
            learner = self._learner_or_new(slot)
            try:
                forecasts[t] = learner.predict_one(row)
                if ends.size:
                    ends[t] = learner._ends(row)[1]
            except NoRegretError as wrong:
                raise _in_row(wrong, t) from None
        return forecasts

    def _learner_or_new(self, slot: int) -> Any:
        return self.learner(slot) if slot >= 0 else self.new()

    def _refusal(self, t: int, slot: int, x: Vector, y: float | None = None) -> NoRegretError:
        """What a learner by itself says to a row that rounds would not take."""
        space = Positions(len(x)) if self.packing is None else self.packing.space
        row = x if isinstance(space, Positions) else dict(zip(space.slots, x.tolist(), strict=True))
        try:
            learner: Any = self._learner_or_new(slot)
            learner.predict_one(row)
            if y is not None:
                learner.learn_one(row, y)
        except NoRegretError as wrong:
            return _in_row(wrong, t)
        return _in_row(OverflowsError(DAMAGED), t)

    # States ---------------------------------------------------------------------------------

    def new(self) -> Any:
        """A learner that has learned nothing."""
        return type(self.like)(**self.like.get_params(deep=False))

    def state(self, slot: int) -> Any:
        """The state in a slot."""
        assert self.packing is not None
        return self.packing.state(self.take(np.array([slot]))[0])

    def learner(self, slot: int) -> Any:
        """An ordinary learner in the state of a slot."""
        return self.state_learner(self.state(slot))

    def empty_learner(self) -> Any:
        """A learner that has learned nothing and knows the features, for a file."""
        assert self.packing is not None
        return self.state_learner(blank_state(self.like, self.packing.space))

    def fits(self, learner: Any, name: object) -> Any:
        """A copy of a learner's state in this fleet's features, or an error."""
        state = learner._mark()
        if state is None and self.packing is not None:
            state = blank_state(self.like, self.packing.space)
        same = state is not None and repr(learner) == repr(self.like)
        if not same or getattr(state, "classes", LABELS) != LABELS or not _scalar(state):
            raise InputError(
                f"the learner for key {name!r} has other parameters than fleet.learner, or "
                "outcomes of another kind, or has learned nothing: give one that could have "
                "learned in the fleet"
            )
        return space_known(state, self.joint(state.space))

    def put(self, slot: int, state: Any, now: float) -> None:
        """Let a slot go on from a state that `fits`."""
        assert self.packing is not None
        self.slots.put(np.array([slot]), self.packing.packed(state, now)[None])


def _scalar(state: Any) -> bool:
    inner = getattr(getattr(state, "learner", None), "_state", state)
    return bool(getattr(inner, "scalar", True))


def _in_row(wrong: NoRegretError, t: int) -> NoRegretError:
    wrong.row = t  # type: ignore[attr-defined]  # Fleet puts key and row before the words
    return wrong
