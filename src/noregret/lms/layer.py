"""One layer of kernel LMS for kernels that are callables: a coefficient per pattern and kernel."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeAlias

import numpy as np

from noregret._native import lms as ops
from noregret._native.layout import LARGEST_FEATURE, LARGEST_OUTCOME
from noregret._native.lms import COUNT, FACTS, LAST, MEAN, SPREAD
from noregret.declare.fields import Array, Count, Part, Points, require, require_spread
from noregret.errors import NumericalError
from noregret.inputs.kernel_spaces import KernelInputs
from noregret.kernels import Kernel, Point, is_vector, together
from noregret.types import Matrix, Vector

__all__ = ["Inputs", "KernelLayer", "check_patterns", "whole"]

CHUNK = 256  # rounds whose kernel values are asked for together
LARGEST = 1e150  # of an output: its square fits in float64
EXACT = 2**53  # up to here float64 can count
FIRST = 64  # patterns that a new layer has room for

Inputs: TypeAlias = "Matrix | list[object]"
"""Inputs as kernels take them: vectors as the rows of a matrix, objects as they are."""


class KernelLayer:
    """One coefficient for each pattern and kernel.  Kernels are handed in: none is kept here."""

    __slots__ = ("_index", "coefs", "facts", "inputs", "points", "rounds", "size")

    FIELDS = (
        Part("inputs", ("Inputs",)),
        Points("points"),
        Array("coefs", ("kernels", "size")),
        Array("facts", ("size", FACTS), finite=False),
        Count("rounds", 1),
    )
    SCRATCH = ("_index", "size")  # they follow from the points; room to grow is not stored

    def __init__(
        self, inputs: KernelInputs, points: Inputs, coefs: Matrix, facts: Matrix, rounds: int
    ) -> None:
        self.inputs, self.points, self.coefs, self.facts = inputs, points, coefs, facts
        self.rounds, self.size = rounds, 0
        self._index: dict[Hashable, int] = {}  # where a pattern is

    @classmethod
    def start(cls, inputs: KernelInputs, kernels: int) -> KernelLayer:
        """Nothing learned."""
        points: Inputs = [] if inputs.space is None else np.zeros((FIRST, inputs.space.size))
        return cls(inputs, points, np.zeros((kernels, FIRST)), np.zeros((FIRST, FACTS)), 0)

    def copy(self) -> KernelLayer:
        """One that shares nothing with this one."""
        arrays = self.points.copy(), self.coefs.copy(), self.facts.copy()
        twin = KernelLayer(self.inputs, *arrays, self.rounds)
        twin.size, twin._index = self.size, self._index.copy()
        return twin

    def stored(self) -> tuple[object, ...]:
        """The values of FIELDS."""
        size = self.size
        return self.inputs, self.patterns(), self.coefs[:, :size], self.facts[:size], self.rounds

    @classmethod
    def restored(
        cls, inputs: KernelInputs, points: Inputs, coefs: Matrix, facts: Matrix, rounds: int
    ) -> KernelLayer:
        """The layer of these values."""
        due = None if inputs.space is None else (len(facts), inputs.space.size)
        alike = len(points) == len(facts) and getattr(points, "shape", None) == due
        require(alike, "has patterns of another number or kind")
        largest = np.abs(points).max(initial=0.0) if isinstance(points, np.ndarray) else 0.0
        require(largest <= LARGEST_FEATURE, "has a pattern that could not have been learned")
        keys = {slot: key for slot, x in enumerate(points) if (key := _key(x)) is not None}
        require_spread(keys.values())
        layer = cls(inputs, points, coefs, facts, rounds)
        layer.size = len(points)
        layer._index = {key: slot for slot, key in keys.items()}
        require(len(layer._index) == len(keys), "has a pattern twice")
        return layer

    def patterns(self) -> Inputs:
        """The patterns kept."""
        return self.points[: self.size]

    @property
    def forgotten(self) -> float:
        """How many rounds were about patterns that are no longer kept."""
        return self.rounds - float(self.facts[: self.size, COUNT].sum())

    # Rounds ---------------------------------------------------------------------------------

    @np.errstate(over="ignore", invalid="ignore")  # what does not fit is refused
    def outputs(self, kernels: Sequence[Kernel], xs: Inputs) -> Matrix:
        """(1) for every kernel (rows) at every input (columns)."""
        out = np.zeros((len(kernels), len(xs)))
        if self.size:
            for j, kernel in enumerate(kernels):
                out[j] = self.coefs[j, : self.size] @ kernel.cross(self.patterns(), xs)
        return out

    def learn(
        self, kernels: Sequence[Kernel], xs: Inputs, ys: Vector, eta: float, window: int
    ) -> tuple[Matrix, float]:
        """Predict-then-learn over inputs: outputs, one row per round, and the largest k(x, x)."""
        raws, peak, most = np.empty((len(ys), len(kernels))), 0.0, 1 if window else CHUNK
        for begin in range(0, len(ys), most):
            part = slice(begin, begin + most)
            raws[part], high = self._chunk(kernels, together(list(xs[part])), ys[part], eta, window)
            peak = max(peak, high)
        return raws, peak

    @np.errstate(over="ignore", invalid="ignore")  # what does not fit is refused
    def _chunk(
        self, kernels: Sequence[Kernel], xs: Inputs, ys: Vector, eta: float, window: int
    ) -> tuple[Matrix, float]:
        T, peak = len(ys), 0.0
        raws, steps = np.empty((T, len(kernels))), np.empty((T, len(kernels)))
        known = self.outputs(kernels, xs)
        both = np.empty((2, T))
        for j, kernel in enumerate(kernels):
            gram = np.ascontiguousarray(kernel.gram(xs))
            peak = max(peak, float(np.max(np.diagonal(gram))))
            both[0] = known[j]
            ops.follow(gram, ys, eta, both)
            raws[:, j], steps[:, j] = both
        fits = (np.abs(raws) <= LARGEST) & (np.abs(steps) <= LARGEST)  # not so for NaN
        for t in np.flatnonzero(~fits.all(axis=1))[:1]:
            raise NumericalError(
                f"round {self.rounds + t + 1}: the outputs do not fit in float64: lower "
                "learning_rate below 1/k(x, x), or rescale the kernel"
            )
        for t in range(T):
            self._keep(xs[t], float(ys[t]), steps[t], window)
        return raws, peak

    def _keep(self, x: Point, y: float, step: Vector, window: int) -> None:
        """(3): the step goes to the pattern's coefficients."""
        key = _key(x)
        slot = None if key is None else self._index.get(key)
        if slot is None:
            slot = self._slot(x, window)
            if key is not None:
                self._index[key] = slot
        self.coefs[:, slot] += step
        ops.remember(self.facts, slot, y)
        self.rounds += 1
        self.facts[slot, LAST] = self.rounds

    def _slot(self, x: Point, window: int) -> int:
        """A place for a new pattern: the oldest one's where the window is full."""
        if 0 < window <= self.size:
            slot = int(ops.oldest(self.facts, self.size))
            self._index.pop(_key(self.points[slot]), None)
            self.coefs[:, slot], self.facts[slot] = 0.0, 0.0
        else:
            slot, self.size = self.size, self.size + 1
            self._reserve()
        if isinstance(self.points, list):
            self.points[slot : slot + 1] = [x]
        else:
            self.points[slot] = x
        return slot

    def _reserve(self) -> None:
        room = len(self.facts)
        if self.size <= room:
            return
        more = max(room // 2, 1)
        self.coefs = np.pad(self.coefs, ((0, 0), (0, more)))
        self.facts = np.pad(self.facts, ((0, more), (0, 0)))
        if isinstance(self.points, np.ndarray):
            self.points = np.pad(self.points, ((0, more), (0, 0)))


def _key(x: object) -> Hashable:
    """By what a pattern is known again; None for what cannot be hashed safely."""
    if isinstance(x, np.ndarray) and is_vector(x):
        return (x + 0.0).tobytes()  # -0.0 is 0.0
    return (type(x), x) if isinstance(x, str | bytes | int | float) else None


# What a stored layer must fulfil ------------------------------------------------------------


def whole(*values: float | Vector) -> bool:
    """Whether these are whole numbers that float64 can count with."""
    found = np.concatenate([np.ravel(v) for v in values])
    return bool(((found >= 0.0) & (found <= EXACT) & (found == np.floor(found))).all())


def check_patterns(facts: Matrix, rounds: int, window: int) -> None:
    """Refuse facts that no stream of so many rounds could have left."""
    size, counts, last = len(facts), facts[:, COUNT], facts[:, LAST]
    fits = 1 <= size <= rounds and (window == 0 or size <= window)
    require(fits, f"has {size} patterns after {rounds} rounds")
    counted = whole(counts, last) and counts.min() >= 1.0 and last.min() >= 1.0
    require(counted, "has an invalid count of rounds")
    order = last.max() <= rounds and np.unique(last).size == size
    require(order, "has two patterns in one round, or one that is still to come")
    total = counts.sum()
    complete = total <= rounds if window else total == rounds
    require(complete, f"has {total:.0f} rounds of {rounds}")
    outcomes = (np.abs(facts[:, MEAN]) <= LARGEST_OUTCOME) & (facts[:, SPREAD] >= 0.0)
    require(bool(outcomes.all()), "has invalid outcomes")
