"""Slots of numbers, one per key, whatever learners the numbers are of.

Slots lie in blocks of 1,024, which never move: a fleet grows without copying what it has, and a
file is opened by taking its pages for blocks.
"""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np

from noregret._native.fleet import BLOCK, Desks, Slots
from noregret.errors import FeatureError, InputError, NumericalError
from noregret.inputs.spaces import Names, Positions, space_for_table
from noregret.inputs.values import outcome_table
from noregret.types import Integers, Matrix, Outcomes, Table, Vector

__all__ = ["NOTHING", "Layout", "OverflowsError", "SlotStore", "Space"]

Space = Positions | Names
NOTHING: Vector = np.zeros(0)
TOGETHER = 64  # blocks that are made at once: the system gives large arrays large pages


class OverflowsError(NumericalError):
    """Some row's look does not fit in float64; `row` says which."""

    row = -1


class Layout(Protocol):
    """Where each number of a state stands in a slot, for the features of a space."""

    @property
    def space(self) -> Space:
        """The features."""
        ...

    @property
    def extra(self) -> tuple[int, ...]:
        """Numbers that only learners put in needed."""
        ...

    @property
    def wide(self) -> int:
        """Numbers in a slot, the clock included."""
        ...

    def blank(self) -> Vector:
        """The slot of a learner that has learned nothing."""
        ...

    def moved(self, rows: Matrix, old: Any) -> Matrix:
        """Slots of an older layout in this one."""
        ...


class SlotStore:
    """The states of a fleet, by slot; a child says what is in a slot and does the rounds."""

    __slots__ = ("blocks", "like", "packing", "slots", "threads")

    packing: Any  # a Layout; None until features are known
    slots: Any  # Slots or Desks, from then on

    def __init__(self, like: Any, threads: int) -> None:
        self.like, self.threads = like, threads
        self.packing, self.slots = None, None
        self.blocks: list[Matrix] = []

    def packing_of(self, space: Space, extra: tuple[int, ...] = ()) -> Layout:
        """A layout for these features."""
        raise NotImplementedError

    def slots_of(self, packing: Any) -> Slots | Desks:
        """An empty store of such slots."""
        raise NotImplementedError

    # Rows -----------------------------------------------------------------------------------

    def read(self, X: Table, y: Outcomes) -> tuple[Space, Matrix, Vector]:
        """The features and outcomes of a call, checked, and the space that knows them all."""
        if self.packing is None:
            space, read = space_for_table(X)
            xs = read.rows
        else:
            xs, space, _ = self.packing.space.encode_rows(X)
        return space, np.ascontiguousarray(xs), self.outcomes(y, len(xs))

    def outcomes(self, y: Outcomes, rows: int) -> Vector:
        """One outcome per row, as rounds take them."""
        ys, scalar = outcome_table(y, rows)
        if not scalar:
            raise InputError(f"y has shape {ys.shape}: a fleet takes one outcome per row")
        return np.ascontiguousarray(ys[:, 0])

    def settle(self, space: Space) -> None:
        """Let slots have this space, larger ones than before if it has grown."""
        old = self.packing
        if old is None or old.space is not space:
            self.repack(self.packing_of(space, old.extra if old else ()))

    def repack(self, packing: Layout) -> None:
        """Move all slots into a wider packing."""
        slots, old, blocks = self.slots_of(packing), self.packing, []
        for block in self.blocks:
            assert old is not None
            blocks.append(packing.moved(block, old))
            slots.add(blocks[-1])
        self.packing, self.slots, self.blocks = packing, slots, blocks

    def mark(self) -> tuple[Any, ...]:
        """What `settle` may change, for `back`."""
        return self.packing, self.slots, self.blocks

    def back(self, mark: tuple[Any, ...]) -> None:
        """Go back to a mark."""
        self.packing, self.slots, self.blocks = mark

    def clear(self, where: Integers) -> None:
        """Let slots be those of new learners."""
        self.slots.clear(where)

    def reserve(self, count: int) -> None:
        """Have room for so many slots."""
        assert self.packing is not None
        fresh = self.packing.blank()
        while len(self.blocks) * BLOCK < count:
            lacking = -(-count // BLOCK) - len(self.blocks)
            arena = np.empty((min(lacking, TOGETHER), BLOCK, self.packing.wide))
            arena[:] = fresh
            for block in arena:
                self.attach(block)

    def attach(self, block: Matrix) -> None:
        """Take a block of slots as it is."""
        self.slots.add(block)
        self.blocks.append(block)

    # States ---------------------------------------------------------------------------------

    def take(self, where: Integers) -> Matrix:
        """The numbers of some slots."""
        assert self.packing is not None
        rows = np.empty((len(where), self.packing.wide))
        self.slots.take(np.ascontiguousarray(where), rows)
        return rows

    def seen(self, where: Integers) -> Vector:
        """When each slot learned last."""
        return self.take(where)[:, -1] if where.size else NOTHING

    def state_learner(self, state: Any) -> Any:
        """An ordinary learner that goes on from a state."""
        learner = type(self.like)(**self.like.get_params(deep=False))
        learner._accept(state)
        return learner

    def empty_learner(self) -> Any:
        """A learner that has learned nothing and knows the features, for a file."""
        raise NotImplementedError

    # Other stores ---------------------------------------------------------------------------

    def joint(self, other: Any) -> Space:
        """The space of both; slots have it from now on."""
        mine: Space = other if self.packing is None else self.packing.space
        if mine != other:
            if not isinstance(mine, Names) or not isinstance(other, Names):
                raise FeatureError(
                    f"the features differ: {_spoken(mine)} here, {_spoken(other)} there"
                )
            one, two = list(mine.slots), list(other.slots)
            if one[: len(two)] != two[: len(one)]:
                raise FeatureError(
                    f"the features came in other orders: {one[:5]} ... here, {two[:5]} ... there"
                )
            mine = mine if len(one) >= len(two) else other
        self.settle(mine)
        return mine

    def joint_with(self, other: Self) -> None:
        """Let slots have the features of another store too."""
        if other.packing is not None:
            self.joint(other.packing.space)

    def insert(
        self, at: Integers, other: Self, which: Integers, priors: Integers | None = None
    ) -> None:
        """Copy slots of another store into slots of this one; where its priors are in this one."""
        self.joint_with(other)
        assert self.packing is not None
        assert other.packing is not None
        extra = tuple(sorted({*self.packing.extra, *other.packing.extra}))
        if extra != self.packing.extra:
            self.repack(self.packing_of(self.packing.space, extra))
        self.reserve(int(at.max(initial=-1)) + 1)
        for start in range(0, len(at), BLOCK):
            rows = other.take(which[start : start + BLOCK])
            if self.packing.wide != other.packing.wide:
                rows = self.packing.moved(rows, other.packing)
            if priors is not None:
                rows[:, -2] = priors[rows[:, -2].astype(np.int64)]
            self.slots.put(np.ascontiguousarray(at[start : start + BLOCK]), rows)


def _spoken(space: Space) -> str:
    if isinstance(space, Names):
        return f"the names {list(space.slots)[:5]}"
    return f"{space.size} by position"
