"""Which numbers of a state a slot keeps, for learners of other kinds than packing.py's.

    BayesianLogistic(method="adf"), ImproperLogistic, MAPLogistic(history=False)
    Auto(effort="linear"), AAR and Ridge with a hint or a discount
    Intervals about Auto(effort="linear") or a Gaussian learner in weight space

Their states have one size, whatever the length of the stream, and compiled rounds of their own.  A
slot keeps what rounds change and what lasts; the rest is scratch, or the same in all states.  What
is twice in a state (half of a symmetric matrix) is once in a slot.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from noregret._native import layout, mixing, tracker
from noregret._native.fleet import Desks
from noregret._native.layout import AT, HIGH, LOW, PASSED, ROOTED
from noregret.certificates import Certificate
from noregret.errors import NumericalError
from noregret.experts.auto import LINEAR, Auto, AutoState
from noregret.experts.core_grid import CoreGrid
from noregret.fleet.packing import booked, triangle
from noregret.fleet.slots import Space
from noregret.gaussian.base import Gaussian
from noregret.gaussian.stream import Stream
from noregret.glm.binary import PosteriorState
from noregret.glm.learners import BayesianLogistic, ImproperLogistic, MAPLogistic
from noregret.glm.posteriors import Recursive
from noregret.types import Integers, Matrix, Vector
from noregret.wrappers.intervals import Intervals
from noregret.wrappers.tracked import TrackedState

__all__ = [
    "DAMAGED",
    "DeskPacking",
    "blank_state",
    "has_desk",
    "is_binary",
    "main_of",
    "space_known",
]


DAMAGED = "the state of this key is damaged: take another copy of the fleet"


def has_desk(learner: object) -> bool:
    """Whether slots can hold the states of such a learner."""
    if isinstance(learner, Intervals):
        inner = learner.learner
        return learner.forecast is None and not is_binary(inner) and has_desk(inner)
    if isinstance(learner, Gaussian):
        plan = learner._plan()
        return plan.kernel is None and plan.budget is None and not callable(plan.drift)
    if isinstance(learner, Auto):
        return learner.effort == LINEAR and not learner.kernels
    return is_binary(learner)


def is_binary(learner: object) -> bool:
    """Whether a learner is one of labels that slots can hold."""
    if isinstance(learner, BayesianLogistic):
        return learner.method == "adf"
    if isinstance(learner, MAPLogistic):
        return learner.history is False
    return isinstance(learner, ImproperLogistic)


def blank_state(learner: Any, space: Space) -> Any:
    """The state of a learner that has learned nothing and knows these features."""
    if isinstance(learner, Gaussian):
        return Stream.start(learner._plan(), space)
    if not isinstance(learner, Intervals):
        return learner._start(space)
    state = learner._begin()
    inner: Any = state.learner
    inner._state = blank_state(inner, space)
    state.renew()
    return state


def space_known(state: Any, space: Space) -> Any:
    """A state that knows these features too, which have been 0 so far."""
    if isinstance(state, TrackedState):
        inner: Any = state.learner
        inner._state = space_known(inner._state, space)
        state.renew()
        return state
    if state.space == space:
        return state
    return state._extended(space) if isinstance(state, Stream) else state.with_space(space)


def main_of(state: Any, *, inside: bool = False) -> Certificate:
    """The main certificate of a state, or of the learner inside, where it can be had for less."""
    if isinstance(state, TrackedState):
        inner: Any = state.learner
        return main_of(inner._state) if inside else state.main()
    certificate: Certificate = (
        state.certificates()[0] if isinstance(state, Stream) else state.certificate()
    )
    return certificate


class Kept(NamedTuple):
    """Runs (place, length) of an array that slots keep; twins (place, place, length) of these."""

    array: Any
    runs: list[tuple[int, int]]
    twins: list[tuple[int, int, int]]


@singledispatch
def _kept(state: object) -> Iterator[Kept]:
    raise NotImplementedError(type(state).__name__)


@_kept.register
def _of_stream(state: Stream) -> Iterator[Kept]:
    core = state.core
    width = core.work.shape[1]
    yield Kept(core.factor, list(triangle(core.shape[0], drifts=_square_root(core.factor))), [])
    yield Kept(state.ledger, [(0, state.ledger.size)], [])
    ends = [(LOW * width, 1), (HIGH * width, 1)] if state.plan.rule.hinted else []
    yield Kept(core.work, [(AT * width + ROOTED, 1), (AT * width + PASSED, 1), *ends], [])


@_kept.register
def _of_labels(state: PosteriorState) -> Iterator[Kept]:
    assert isinstance(state.posterior, Recursive)
    n = state.posterior.size
    yield Kept(state.posterior.core.factor, list(triangle(n, drifts=False)), [])
    yield Kept(state.book, [(0, state.book.size)], [])
    below = [(i * n + j, j * n + i, 1) for i in range(n) for j in range(i + 1, n)]
    yield Kept(state.scatter, [(i * n + i, n - i) for i in range(n)], below)


@_kept.register
def _of_auto(state: AutoState) -> Iterator[Kept]:
    (grid,) = state.cells
    yield Kept(state.units.scale, [(0, state.units.scale.size)], [])
    yield from _of_grid(grid)
    N = state.pool.size
    learned = [(mixing.EXCESS * N, (mixing.TURNS + 1 - mixing.EXCESS) * N)]
    yield Kept(state.pool.cells, learned, [])
    yield Kept(state.pool.book, [(0, state.pool.book.size)], [])


def _of_grid(grid: CoreGrid) -> Iterator[Kept]:
    n = grid.features
    for stack in (grid.fixed, grid.moving):
        places = list(triangle(n, drifts=stack is grid.moving))
        each = [(c * n * (n + 1) + at, k) for c in range(len(stack)) for at, k in places]
        yield Kept(stack, each, [])
    size, width = grid.moving_work[0].size, grid.moving_work.shape[2]
    flags = [c * size + AT * width + at for c in range(len(grid.moving)) for at in (ROOTED, PASSED)]
    yield Kept(grid.moving_work, [(at, 1) for at in flags], [])
    runs: list[tuple[int, int]] = []
    twins: list[tuple[int, int, int]] = []
    for c, ledger in enumerate(grid.ledgers):
        at = c * ledger.size
        sums = booked(layout.AAR, drifts=c >= len(grid.fixed))
        runs += [(at + k, 1) for k in sorted(set(sums))]
        twins += [(at + 2 * layout.LOSS, at + 2 * layout.SQUARE, 2)]  # AAR pays the square loss
    yield Kept(grid.ledgers, runs, twins)
    yield Kept(grid.clips, [(0, grid.clips.size)], [])
    yield Kept(grid.seen, [(0, grid.seen.size)], [])


@_kept.register
def _of_intervals(state: TrackedState) -> Iterator[Kept]:
    inner: Any = state.learner
    yield from _kept(inner._state)
    trackers = state.trackers
    levels = range(len(trackers.book))
    yield Kept(trackers.scale, [(0, trackers.scale.size)], [])
    size, learned = trackers.track[0].size, tracker.SAID * tracker.TRACKERS
    yield Kept(trackers.track, [(level * size, learned) for level in levels], [])
    columns = tracker.OWN - tracker.LAST
    starts = [level * tracker.BOOK_COLUMNS + tracker.LAST for level in levels]
    yield Kept(trackers.book, [(at, columns) for at in starts], [])
    yield Kept(trackers.ring, [(0, trackers.ring.size)], [])


def _square_root(factor: Matrix) -> bool:
    """Whether a factor is that of a drifting core: one row more than columns, not one less."""
    rows, columns = factor.shape
    return bool(rows > columns)


@dataclass(frozen=True, slots=True)
class DeskPacking:
    """Where each number of a slot stands in the arrays of a state."""

    like: Any
    space: Space
    pieces: Integers  # (k, 4): place in the slot, array, place in the array, length
    wide: int  # numbers in a slot, the clock included
    extra: tuple[int, ...] = ()

    @classmethod
    def of(cls, like: Any, space: Space) -> DeskPacking:
        """The packing for learners like this one and these features."""
        pieces: list[list[int]] = []
        at = 0
        for number, (_, runs, twins) in enumerate(_kept(blank_state(like, space))):
            where: dict[int, int] = {}
            for to, length in runs:
                last = pieces[-1] if pieces else None
                if last is not None and last[1] == number and last[2] + last[3] == to:
                    last[3] += length
                else:
                    pieces.append([at, number, to, length])
                where.update((to + k, at + k) for k in range(length))
                at += length
            pieces += [[where[one], number, other, length] for one, other, length in twins]
        return cls(like, space, np.array(pieces, dtype=np.int64), at + 1)

    def slots(self, threads: int) -> Desks:
        """An empty store of slots, with a desk for each thread."""
        desks: list[Any] = []
        for _ in range(threads):
            state = blank_state(self.like, self.space)
            desks.append((state.fast, [_flat(kept.array) for kept in _kept(state)], state))
        return Desks(desks, self.blank(), self.pieces.ravel())

    def blank(self) -> Vector:
        """The slot of a learner that has learned nothing."""
        return self.packed(blank_state(self.like, self.space), 0.0)

    def packed(self, state: Any, now: float) -> Vector:
        """A state as a slot."""
        arrays, slot = [_flat(kept.array) for kept in _kept(state)], np.empty(self.wide)
        for at, number, to, length in self.pieces.tolist():
            slot[at : at + length] = arrays[number][to : to + length]
        slot[-1] = now
        return slot

    def state(self, slot: Vector) -> Any:
        """The state in a slot."""
        state = blank_state(self.like, self.space)
        arrays = [_flat(kept.array) for kept in _kept(state)]
        for at, number, to, length in self.pieces.tolist():
            arrays[number][to : to + length] = slot[at : at + length]
        _check_windows(state)
        return state

    def moved(self, rows: Matrix, old: DeskPacking) -> Matrix:
        """Slots of a packing with fewer features in this one: what is new has been 0."""
        new = np.tile(self.blank(), (len(rows), 1))
        for t in np.flatnonzero((rows != old.blank()).any(axis=1)).tolist():
            new[t] = self.packed(space_known(old.state(rows[t]), self.space), rows[t, -1])
        return new


def _check_windows(state: Any) -> None:
    """Compiled rounds write where a window says: one that a changed file has is refused."""
    if isinstance(state, TrackedState):
        place = state.trackers.ring[:, tracker.PLACE]
        if not ((place >= 0.0) & (place < tracker.LONG)).all():
            raise NumericalError(DAMAGED)


def _flat(array: Any) -> Vector:
    """An array without gaps as one vector, which is the array itself."""
    flat: Vector = array.reshape(-1)
    assert np.shares_memory(flat, array) or not flat.size
    return flat
