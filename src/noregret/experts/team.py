"""Groups of experts merged by several rules, in native/team.hpp; nothing is proved of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from noregret._native import team as ops
from noregret.declare.fields import Array, require
from noregret.types import Matrix, Vector

__all__ = ["Team"]


class Team:
    """All that the merging of groups knows, in one array.

    >>> team = Team.of([2, 1])
    >>> y = np.arange(50.0)
    >>> heard = team.replay(np.column_stack([y + 1.0, y - 9.0, y + 3.0]), y)
    >>> heard[-1].round(1)  # what the groups say, then all together
    array([50., 52., 50.])
    """

    __slots__ = ("memory", "sizes")

    FIELDS = (Array("sizes", ("G",)), Array("memory", ("M",), finite=False))

    def __init__(self, sizes: Vector, memory: Vector) -> None:
        self.sizes, self.memory = sizes, memory

    @classmethod
    def of(cls, sizes: Sequence[int]) -> Team:
        """A team that has seen nothing, of groups of so many experts."""
        counts = np.array(sizes, dtype=np.float64)
        memory = np.zeros(ops.size(counts))
        ops.start(memory, counts)
        return cls(counts, memory)

    @classmethod
    def restored(cls, sizes: Vector, memory: Vector) -> Team:
        """The team of these fields."""
        whole = (sizes == np.round(sizes)) & (sizes >= 1.0) & (sizes <= 1e4)
        require(bool(whole.all()) and 1 <= sizes.size <= 100, "has impossible groups")
        require(memory.size == ops.size(sizes), "has a memory of another size")
        require(not np.isnan(memory).any() or memory[0] >= 0.0, "has an invalid count of rounds")
        return cls(sizes, memory)

    def copy(self) -> Team:
        """A team that shares nothing with this one."""
        return Team(self.sizes, self.memory.copy())

    def replay(self, said: Matrix, ys: Vector) -> Matrix:
        """By row what the groups say and, last, the team; without outcomes nothing is learned."""
        return self.measured(said, ys)[0]

    def measured(self, said: Matrix, ys: Vector) -> tuple[Matrix, Vector]:
        """The same, and how far off the team was of late, before each row."""
        heard = np.empty((len(said), self.sizes.size + 2))
        memory = self.memory if len(ys) else self.memory.copy()
        ops.replay(memory, self.sizes, np.ascontiguousarray(said), ys, heard)
        return heard[:, :-1], heard[:, -1]

    def weights(self, said: Vector) -> tuple[Vector, Vector]:
        """The groups' weights in a forecast from these words, and their mean square errors."""
        weights, errors = np.empty(self.sizes.size), np.empty(self.sizes.size)
        ops.weights(self.memory.copy(), self.sizes, said, weights, errors)
        return weights, errors
