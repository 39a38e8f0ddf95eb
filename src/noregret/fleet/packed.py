"""Gaussian learners side by side in compiled arrays: one slot of numbers per key."""

from __future__ import annotations

import numpy as np

from noregret._native import layout
from noregret._native.fleet import BLOCK, LEARN, PREDICT, Slots
from noregret.errors import FeatureError, InputError, MergeError
from noregret.fleet.packing import Packing, drift_of, state_of
from noregret.fleet.priors import Priors
from noregret.fleet.slots import NOTHING, OverflowsError, SlotStore, Space
from noregret.gaussian.base import Gaussian
from noregret.gaussian.stream import Plan, Stream
from noregret.inputs.spaces import Positions, space_for_table
from noregret.types import Integers, Matrix, Table, Vector

__all__ = ["Packed", "plan_of"]

CALM = 2.0**200
"""No look at features, outcomes and priors up to here can overflow: |v| <= |x|/sqrt(a), |z|^2 <=
sum y^2, P <= S I.  A call with larger ones keeps what it changes until it is done."""
ROWS = 1 << 14  # slots that are looked at together


def plan_of(learner: object) -> Plan | None:
    """The plan of a learner that slots can hold; None for all others."""
    if not isinstance(learner, Gaussian):
        return None
    plan = learner._plan()
    plain = plan.kernel is None and plan.budget is None and not callable(plan.drift)
    still = plan.discount is None and not plan.rule.hinted  # slots have no room for what these keep
    return plan if plain and still else None


class Packed(SlotStore):
    """The states of a fleet of Gaussian learners, by slot."""

    __slots__ = ("peak", "plan", "priors")

    packing: Packing | None
    slots: Slots

    def __init__(
        self, like: Gaussian, plan: Plan, threads: int, priors: Priors | None = None
    ) -> None:
        super().__init__(like, threads)
        self.plan, self.priors = plan, priors
        self.peak = max(plan.prior_precision, 1.0 / plan.prior_precision, drift_of(plan))

    def packing_of(self, space: Space, extra: tuple[int, ...] = ()) -> Packing:
        """A packing of this plan."""
        return Packing.of(self.plan, space, extra, versions=self.priors is not None)

    def slots_of(self, packing: Packing) -> Slots:
        """An empty store of such slots."""
        return packing.slots()

    # Rows -----------------------------------------------------------------------------------

    def known(self, X: Table) -> tuple[Matrix, Vector]:
        """The known features of rows to forecast, and how long the new part of each is."""
        space = space_for_table(X)[0] if self.packing is None else self.packing.space
        xs, beyond = space.encode_known(X)
        return np.ascontiguousarray(xs), beyond if beyond.any() else NOTHING

    def settle(self, space: Space) -> None:
        """Let slots have this space, larger ones than before if it has grown."""
        old = self.packing
        grows = old is not None and old.space is not space
        if grows and self.priors and self.priors.known:
            raise FeatureError(
                'a feature is new, but with prior="fleet" the features stay as they begin'
            )
        super().settle(space)

    def clear(self, where: Integers) -> None:
        """Let slots be those of new learners."""
        super().clear(where)
        if self.priors is not None:
            self.set_versions(where, np.full(len(where), -1.0))

    # Rounds ---------------------------------------------------------------------------------

    def learn(self, where: Integers, xs: Matrix, ys: Vector, now: float) -> Vector:
        """Forecast and learn every row; all of them or none."""
        if self.priors is None:
            return self._learn(where, xs, ys, now)
        versions = self.versions(where)
        base, turned = self.priors.turn(versions, xs, self.plan.prior_precision)
        forecasts = base + self._learn(where, turned, ys - base, now)
        self.set_versions(where, versions)
        self.priors.rounds += len(ys)
        if self.priors.due(self):
            self.priors.learn(self)
        return forecasts

    def _learn(self, where: Integers, xs: Matrix, ys: Vector, now: float) -> Vector:
        peak = max(self.peak, _peak(xs), _peak(ys))
        touched = None
        if peak > CALM:
            touched = np.unique(where)
            before = self.take(touched)
        forecasts = np.empty(len(ys))
        failed = self.slots.run(LEARN, where, xs, ys, NOTHING, forecasts, now, self.threads)
        if failed >= 0:
            if touched is not None:
                self.slots.put(touched, before)
            raise _overflows(failed, xs)
        self.peak = peak
        return forecasts

    def predict(self, where: Integers, xs: Matrix, beyond: Vector) -> Vector:
        """Forecast every row; a slot of -1 is that of a new learner."""
        forecasts, slots = np.empty(len(where)), self.slots
        if self.packing is None:  # nothing has been learned
            slots = self.packing_of(Positions(xs.shape[1])).slots()
        base: Vector = np.zeros(len(where))
        if self.priors is not None and self.packing is not None:
            base, xs = self.priors.turn(self.versions(where), xs, self.plan.prior_precision)
        failed = slots.run(PREDICT, where, xs, NOTHING, beyond, forecasts, 0.0, self.threads)
        if failed >= 0:
            raise _overflows(failed, xs)
        return forecasts if self.priors is None else base + forecasts

    def versions(self, where: Integers) -> Integers:
        """Which prior each slot has; that of today for slots that have learned nothing."""
        assert self.priors is not None
        held = np.full(len(where), -1.0)
        old = np.flatnonzero(where >= 0)
        for k in range(0, len(old), ROWS):
            part = old[k : k + ROWS]
            held[part] = self.take(where[part])[:, -2]
        return np.where(held < 0.0, len(self.priors.known), held).astype(np.int64)

    def set_versions(self, where: Integers, versions: Vector | Integers) -> None:
        """Note which prior each slot has."""
        for block in np.unique(where // BLOCK).tolist():
            here = where // BLOCK == block
            self.blocks[block][where[here] % BLOCK, -2] = versions[here]

    # States ---------------------------------------------------------------------------------

    def learner(self, slot: int) -> Gaussian:
        """An ordinary learner in the state of a slot."""
        assert self.packing is not None
        learner: Gaussian = self.state_learner(self.packing.stream(self.take(np.array([slot]))[0]))
        return learner

    def empty_learner(self) -> Gaussian:
        """A learner that has learned nothing and knows the features, for a file."""
        assert self.packing is not None
        learner: Gaussian = self.state_learner(Stream.start(self.plan, self.packing.space))
        return learner

    def fits(self, learner: Gaussian, name: object) -> Stream:
        """A copy of a learner's stream in this fleet's features, or an error."""
        stream = learner._mark()
        if stream is None and self.packing is not None:
            stream = Stream.start(self.plan, self.packing.space)
        if not isinstance(stream, Stream) or stream.plan != self.plan or not stream.scalar:
            raise InputError(
                f"the learner for key {name!r} has other parameters than fleet.learner, or several "
                "outcomes, or has learned nothing: give one that could have learned in the fleet"
            )
        if self.packing is not None and stream.space == self.packing.space:
            return stream
        space = self.joint(stream.space)
        return stream if space == stream.space else stream._extended(space)

    def put(self, slot: int, stream: Stream, now: float) -> None:
        """Let a slot go on from a stream that `fits`."""
        assert self.packing is not None
        state = state_of(stream)
        lost = self.packing.lacks(state)
        if lost:
            extra = tuple(sorted({*self.packing.extra, *lost}))
            self.repack(self.packing_of(self.packing.space, extra))
        largest = float(stream.ledger[[layout.WIDEST, layout.OUTCOMES], 0].max())
        self.peak = max(self.peak, largest)
        self.slots.put(np.array([slot]), self.packing.packed(state, now)[None])

    # Other stores ---------------------------------------------------------------------------

    def insert(
        self, at: Integers, other: Packed, which: Integers, priors: Integers | None = None
    ) -> None:
        """Copy slots of another store into slots of this one."""
        if (self.priors is None) != (other.priors is None):
            raise MergeError('one fleet has prior="fleet", the other has not')
        self.joint_with(other)
        if self.priors is not None:
            priors = self.priors.adopt(other.priors)
        self.peak = max(self.peak, other.peak)
        super().insert(at, other, which, priors)


def _peak(values: Matrix) -> float:
    return max(float(values.max()), -float(values.min())) if values.size else 0.0


def _overflows(row: int, xs: Matrix) -> OverflowsError:
    error = OverflowsError(
        f"the look at x does not fit in float64 (|x| = {np.abs(xs[row]).max(initial=0.0):.3g}): "
        "rescale the features or raise prior_precision"
    )
    error.row = row
    return error
