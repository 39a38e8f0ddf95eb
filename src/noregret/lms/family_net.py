"""The state of K-LMS-NET with any family of kernels k_alpha, and inputs of any kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from noregret._native import continuum as ops
from noregret._native.continuum import COUNTS, PEAK, RATE, RAW
from noregret.declare.fields import Part, Value, require
from noregret.kernels import Kernel, together
from noregret.lms.comparators import Values
from noregret.lms.layer import Inputs, KernelLayer, check_patterns
from noregret.lms.net_state import NODES, NetState, check_book, check_nodes
from noregret.lms.state import LayerState
from noregret.types import Matrix, Vector

__all__ = ["Family", "FamilyNetState"]

Family = Callable[[float, Inputs, Inputs], Matrix]
"""(alpha, X, Z) -> matrix, X and Z as the caller has inputs."""


@dataclass(slots=True, eq=False)
class FamilyNetState(NetState, LayerState):
    """Everything that a net over a family of kernels has learned."""

    family: Family  # as it was when the first round came
    layer: KernelLayer
    kernels: list[Kernel] = field(init=False, repr=False)

    FIELDS = (Value("family"), Part("layer", ("KernelLayer",)), *NODES)
    SCRATCH = ("said", "heard", "kernels")
    CHANGING = ("cells", "finer", "book", "layer")
    seen = LayerState.seen

    def __post_init__(self) -> None:
        NetState.__post_init__(self)
        self.kernels = [Kernel(partial(self.family, float(alpha))) for alpha in self.alphas]

    def stored(self) -> tuple[object, ...]:
        """The values of FIELDS."""
        return self.family, self.layer, self.alphas, self.cells, self.finer, self.book

    @classmethod
    def restored(
        cls, family: Family, layer: KernelLayer, alphas: Vector, *learned: Matrix
    ) -> FamilyNetState:
        """The state of these values."""
        cells, finer, book = learned
        check_nodes(alphas, cells, finer)
        rounds, size, window = check_book(book)
        require(callable(family), "has no function")
        alike = (len(layer.coefs), layer.size, layer.rounds) == (alphas.size, size, rounds)
        require(alike, "has a layer of another size")
        check_patterns(layer.facts, rounds, window)
        require(book[PEAK, 1] == layer.forgotten, "has forgotten what it has not")
        return cls(cells, finer, book, family, layer)

    def forecasts(self, xs: Inputs) -> Vector:
        """Forecasts at every input; nothing is learned."""
        raws = self.layer.outputs(self.kernels, xs)
        forecasts = np.empty(len(xs))
        for t in range(len(xs)):
            self.said[RAW] = raws[:, t]
            ops.clip(self.book, self.said)
            total = ops.weigh(self.cells, self.book, self.said)
            forecasts[t] = ops.merged(self.book, self.said, total)
        return forecasts

    def run(self, xs: Inputs, ys: Vector) -> tuple[Vector, Vector]:
        """Predict-then-learn over inputs, in place."""
        eta, window = self.book[RATE].tolist()
        raws, peak = self.layer.learn(self.kernels, together(list(xs)), ys, eta, int(window))
        forecasts = np.empty(len(ys))
        scratch = self.said, self.heard, self.rule.lift
        ops.settle_all(self.cells, self.finer, self.book, *scratch, raws, ys, forecasts)
        self.book[COUNTS, 1] = self.layer.size
        self.book[PEAK] = max(self.book[PEAK, 0], peak), self.layer.forgotten
        return forecasts, (ys - forecasts) ** 2

    def kernel_at(self, alpha: float) -> Values:
        """k_alpha(X, Z)."""
        return Kernel(partial(self.family, alpha)).cross
