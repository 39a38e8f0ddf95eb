"""What a fleet keeps of a Gaussian learner: the numbers in which two of them can differ.

A state is [factor | ledger | rooted, passed] (native/fleet.hpp).  Half of its triangle is 0, and
most rows of a ledger are for merges, budgets, weights or other rules.  A slot of the fleet holds
the rest, and one number more: when the key learned last.  At n = 8: 44 numbers of [R z], 30 of the
ledger, the clock: 600 bytes.

A learner that was put into a fleet may differ in more (it was merged, say): then all slots get
wider by those numbers, and stay exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from noregret._native import layout
from noregret._native.fleet import Slots
from noregret._native.layout import AT, PASSED, ROOTED
from noregret.fleet.slots import Space
from noregret.gaussian.stream import Plan, Stream
from noregret.types import Integers, Matrix, Vector

__all__ = ["Packing", "booked", "drift_of", "state_of", "triangle"]


def state_of(stream: Stream) -> Vector:
    """All that a stream has learned, as one vector."""
    at = stream.core.work[AT]
    return np.concatenate([stream.core.factor.ravel(), stream.ledger.ravel(), at[[ROOTED, PASSED]]])


@dataclass(frozen=True, slots=True)
class Packing:
    """Where each number of a slot stands in a state, for one plan and one feature space."""

    plan: Plan
    space: Space
    fresh: Vector  # the state of a learner that has learned nothing
    runs: Integers  # (k, 3): so many numbers from here in the slot stand there in the state
    extra: tuple[int, ...]  # rows of the ledger's numbers that only learners put in needed
    wide: int  # numbers in a slot, the clock included
    versions: bool = False  # whether slots say which prior they have, before the clock; -1: none

    @classmethod
    def of(
        cls, plan: Plan, space: Space, extra: tuple[int, ...] = (), *, versions: bool = False
    ) -> Packing:
        """The packing of a plan, with room for more numbers of the ledger."""
        fresh = state_of(Stream.start(plan, space))
        n = space.size + plan.intercept
        places = [*triangle(n, drifts=_drifts(plan))]
        ledger = n * (n + 1)
        kept = sorted({*booked(plan.rule.code, drifts=_drifts(plan)), *extra})
        runs: list[list[int]] = []
        at = 0
        for to, length in [*places, *((ledger + k, 1) for k in kept)]:
            if runs and length == 1 and runs[-1][1] + runs[-1][2] == to and to > ledger:
                runs[-1][2] += 1
            else:
                runs.append([at, to, length])
            at += length
        if _drifts(plan):
            runs.append([at, ledger + 2 * (layout.OUTCOMES + 1), 2])
            at += 2
        if 2 * layout.SQUARE not in kept:  # what is paid is the square loss
            paid = sum(length for _, length in places)
            runs.append([paid, ledger + 2 * layout.SQUARE, 2])
        return cls(
            plan, space, fresh, np.array(runs, dtype=np.int64), extra, at + 1 + versions, versions
        )

    def slots(self) -> Slots:
        """An empty store of slots."""
        plan = self.plan
        return Slots(
            self.space.size + plan.intercept,
            _drifts(plan),
            plan.rule.code,
            plan.rule.level,
            drift_of(plan),
            1.0 / plan.prior_precision,
            int(plan.intercept),
            self.fresh,
            self.runs.ravel(),
            self.wide,
        )

    def blank(self) -> Vector:
        """The slot of a learner that has learned nothing."""
        return self.packed(self.fresh, 0.0)

    def packed(self, state: Vector, now: float, version: float = -1.0) -> Vector:
        """A state as a slot."""
        slot = np.empty(self.wide)
        for at, to, length in self.runs.tolist():
            slot[at : at + length] = state[to : to + length]
        slot[-1 - self.versions :] = [version, now][1 - self.versions :]
        return slot

    def unpacked(self, slot: Vector) -> Vector:
        """The state in a slot."""
        state = self.fresh.copy()
        for at, to, length in self.runs.tolist():
            state[to : to + length] = slot[at : at + length]
        return state

    def lacks(self, state: Vector) -> tuple[int, ...]:
        """Which numbers of a ledger a slot would lose."""
        kept = self.unpacked(self.packed(state, 0.0))
        lost = np.flatnonzero(kept.view(np.int64) != state.view(np.int64))
        n = self.features
        return tuple((lost - n * (n + 1)).tolist())

    def stream(self, slot: Vector) -> Stream:
        """The stream of an ordinary learner in the state of a slot."""
        state, stream = self.unpacked(slot), Stream.start(self.plan, self.space)
        core, ledger = stream.core, stream.ledger
        core.factor[...] = state[: core.factor.size].reshape(core.factor.shape)
        ledger[...] = state[core.factor.size : -2].reshape(ledger.shape)
        core.work[AT, [ROOTED, PASSED]] = state[-2:]
        return stream

    @property
    def features(self) -> int:
        """How many features there are, the constant one included."""
        return self.space.size + self.plan.intercept

    @property
    def drifts(self) -> bool:
        """Whether experts change."""
        return _drifts(self.plan)

    def ledgers(self, rows: Matrix) -> tuple[Matrix, Vector]:
        """The ledgers of many slots, (k, rows, 2), and the rounds that their cores have passed."""
        states = np.tile(self.fresh, (len(rows), 1))
        for at, to, length in self.runs.tolist():
            states[:, to : to + length] = rows[:, at : at + length]
        n = self.features
        return states[:, n * (n + 1) : -2].reshape(len(rows), -1, 2), states[:, -1]

    def moved(self, rows: Matrix, old: Packing) -> Matrix:
        """Slots of an older packing in this one: with more features, or more numbers kept.

        A feature that is new was 0 in every round so far, so the past stays exact.
        """
        if self.space.size == old.space.size:
            return np.stack([self.packed(old.unpacked(row), row[-1], row[-2]) for row in rows])
        grown = [(state_of(old.stream(row)._extended(self.space)), row) for row in rows]
        return np.stack([self.packed(state, row[-1], row[-2]) for state, row in grown])


def drift_of(plan: Plan) -> float:
    """The drift, which is a number here."""
    assert not callable(plan.drift)
    return plan.drift


def _drifts(plan: Plan) -> bool:
    return drift_of(plan) > 0.0


def triangle(n: int, *, drifts: bool) -> Iterator[tuple[int, int]]:
    """Where the numbers of a core begin in each row of its factor, and how many they are."""
    if not drifts:  # [R z]
        yield from ((i * (n + 1) + i, n + 1 - i) for i in range(n))
        return
    yield from ((i * n, i + 1) for i in range(n))  # P or T
    yield n * n, n  # w


def booked(rule: int, *, drifts: bool) -> Iterator[int]:
    """Which numbers of its ledger a round by this rule may change."""
    own_loss = rule in (layout.BAYES, layout.STUDENT)
    sums = [
        layout.LOSS,
        *range(layout.FIT, layout.WIDEST),
        layout.ENERGY,
        layout.PROBE,
        layout.CROSS,
    ]
    sums += [layout.SQUARE] if own_loss else []
    sums += [] if drifts else [layout.MARK, layout.WORST]
    for row in sums:
        yield from (2 * row, 2 * row + 1)
    yield from (2 * row for row in (layout.WIDEST, layout.LONGEST, layout.ROUNDS, layout.OUTCOMES))
    if rule == layout.STUDENT:  # see native/student.hpp
        yield from (2 * row + 1 for row in (layout.WIDEST, layout.LONGEST, layout.OUTCOMES))
