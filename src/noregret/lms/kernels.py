"""Kernel LMS for kernels that are callables: one, or one for each node of a net."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from noregret._ops import lms as ops
from noregret._ops.lms import FACTS, LAST
from noregret.errors import NumericalError
from noregret.inputs.kernel_spaces import KernelInputs
from noregret.kernels import Kernel, is_vector, together
from noregret.types import Matrix, Vector

__all__ = ["KernelLayer", "family_kernels", "pattern_key"]

CHUNK = 256  # rounds whose kernel values are asked for together
LARGEST = 1e150  # of an output: its square fits in float64
FIRST = 64  # patterns that a new layer has room for


def family_kernels(family: Callable[[float, Any, Any], Any], alphas: Vector) -> list[Kernel]:
    """One kernel for each alpha."""
    return [Kernel(partial(family, float(alpha))) for alpha in alphas]


class KernelLayer:
    """One coefficient for each pattern and node.  Kernels are handed in: none is kept here."""

    __slots__ = ("_index", "coefs", "facts", "inputs", "points", "rounds", "size")

    def __init__(
        self,
        inputs: KernelInputs,
        points: Any,
        coefs: Matrix,
        facts: Matrix,
        size: int,
        rounds: int,
    ) -> None:
        self.inputs, self.points, self.coefs, self.facts = inputs, points, coefs, facts
        self.size, self.rounds = size, rounds
        self._index: dict[Any, int] = {}  # where a pattern is; made anew from `points`
        for slot in range(size):
            self._name(points[slot], slot)

    def __reduce__(self) -> tuple[Any, ...]:
        parts = self.inputs, self.points, self.coefs, self.facts, self.size, self.rounds
        return KernelLayer, parts

    @classmethod
    def start(cls, inputs: KernelInputs, nodes: int) -> KernelLayer:
        """Nothing learned."""
        points: Any = [] if inputs.space is None else np.zeros((FIRST, inputs.space.size))
        return cls(inputs, points, np.zeros((nodes, FIRST)), np.zeros((FIRST, FACTS)), 0, 0)

    def copy(self) -> KernelLayer:
        """One that shares nothing with this one."""
        arrays = self.points.copy(), self.coefs.copy(), self.facts.copy()
        twin = KernelLayer(self.inputs, *arrays, 0, self.rounds)
        twin.size, twin._index = self.size, self._index.copy()
        return twin

    def patterns(self) -> Any:
        """The patterns kept."""
        return self.points[: self.size]

    def _name(self, x: Any, slot: int) -> None:
        key = pattern_key(x)
        if key is not None:
            self._index[key] = slot

    # Rounds ---------------------------------------------------------------------------------

    @np.errstate(over="ignore", invalid="ignore")  # what does not fit is refused
    def outputs(self, kernels: Sequence[Kernel], xs: Any) -> Matrix:
        """(1) for every node (rows) at every input (columns)."""
        out = np.zeros((len(kernels), len(xs)))
        if self.size:
            for j, kernel in enumerate(kernels):
                out[j] = self.coefs[j, : self.size] @ kernel.cross(self.patterns(), xs)
        return out

    def learn(
        self, kernels: Sequence[Kernel], xs: Any, ys: Vector, eta: float, window: int
    ) -> tuple[Matrix, float]:
        """Predict-then-learn over inputs: outputs, a row a round, and the largest k(x, x)."""
        raws, peak, most = np.empty((len(ys), len(kernels))), 0.0, 1 if window else CHUNK
        for begin in range(0, len(ys), most):
            part = slice(begin, begin + most)
            raws[part], high = self._chunk(kernels, together(list(xs[part])), ys[part], eta, window)
            peak = max(peak, high)
        return raws, peak

    @np.errstate(over="ignore", invalid="ignore")  # what does not fit is refused
    def _chunk(
        self, kernels: Sequence[Kernel], xs: Any, ys: Vector, eta: float, window: int
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

    def _keep(self, x: Any, y: float, step: Vector, window: int) -> None:
        """(3): the step goes to the pattern's coefficients."""
        key = pattern_key(x)
        slot = None if key is None else self._index.get(key)
        if slot is None:
            slot = self._slot(x, window)
            if key is not None:
                self._index[key] = slot
        self.coefs[:, slot] += step
        ops.remember(self.facts, slot, y)
        self.rounds += 1
        self.facts[slot, LAST] = self.rounds

    def _slot(self, x: Any, window: int) -> int:
        """A place for a new pattern: the oldest one's where the window is full."""
        if 0 < window <= self.size:
            slot = int(ops.oldest(self.facts, self.size))
            old = pattern_key(self.points[slot])
            if old is not None:
                del self._index[old]
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
        if not isinstance(self.points, list):
            self.points = np.pad(self.points, ((0, more), (0, 0)))


def pattern_key(x: Any) -> Any:
    """By what a pattern is known again; None for what cannot be hashed safely."""
    if is_vector(x):
        return (x + 0.0).tobytes()  # -0.0 is 0.0
    return (type(x), x) if isinstance(x, str | bytes | int | float) else None
