"""The state of K-LMS-NET with any family of kernels k_alpha: the same calls as `GaussianNetState`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from noregret._ops import continuum as ops
from noregret._ops.continuum import COUNTS, PEAK, RATE, RAW, SAID
from noregret._ops.lms import COUNT
from noregret.inputs.kernel_spaces import KernelInputs
from noregret.kernels import Kernel, together
from noregret.lms.gaussians import AUDITS, NetGame, opened
from noregret.lms.kernels import KernelLayer, family_kernels
from noregret.lms.nodes import NodeRule, grid
from noregret.types import Matrix, Vector

__all__ = ["FamilyNetState"]


@dataclass(slots=True, eq=False)
class FamilyNetState:
    """Everything that a net over a family of kernels has learned."""

    family: Callable[[float, Any, Any], Any]  # as it was when the first round came
    layer: KernelLayer
    alphas: Vector
    cells: Matrix
    finer: Any  # the audits' cells
    book: Matrix
    # Scratch: nothing learned is in it.
    said: Matrix = field(init=False, repr=False)
    heard: Any = field(init=False, repr=False)
    lift: Any = field(init=False, repr=False)
    kernels: list[Kernel] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.kernels = family_kernels(self.family, self.alphas)
        self.said = np.zeros((SAID, self.alphas.size))
        self.heard = np.zeros((AUDITS, SAID, self.finer.shape[2]))
        self.lift = grid(self.alphas.size).lift

    def __reduce__(self) -> tuple[Any, ...]:
        return FamilyNetState, (
            self.family,
            self.layer,
            self.alphas,
            self.cells,
            self.finer,
            self.book,
        )

    @classmethod
    def start(
        cls,
        game: NetGame,
        rule: NodeRule,
        family: Callable[[float, Any, Any], Any],
        inputs: KernelInputs,
    ) -> FamilyNetState:
        """Nothing learned."""
        layer = KernelLayer.start(inputs, rule.alphas.size)
        return cls(family, layer, rule.alphas, *opened(game, rule))

    @property
    def inputs(self) -> KernelInputs:
        """How inputs reach the kernels."""
        return self.layer.inputs

    @property
    def size(self) -> int:
        """How many patterns are kept."""
        return self.layer.size

    @property
    def facts(self) -> Matrix:
        """What is known of each pattern's outcomes."""
        return self.layer.facts

    def patterns(self) -> Any:
        """The patterns kept."""
        return self.layer.patterns()

    def copy(self) -> FamilyNetState:
        """One that shares nothing with this one."""
        names = "layer", "cells", "finer", "book"
        return replace(self, **{name: getattr(self, name).copy() for name in names})

    def predict_rows(self, xs: Any) -> Vector:
        """Forecasts at every input; nothing is learned."""
        raws = self.layer.outputs(self.kernels, xs)
        forecasts = np.empty(len(xs))
        for t in range(len(xs)):
            self.said[RAW] = raws[:, t]
            ops.clip(self.book, self.said)
            total = ops.weigh(self.cells, self.book, self.said)
            forecasts[t] = ops.merged(self.book, self.said, total)
        return forecasts

    def replay(self, xs: Any, ys: Vector) -> Vector:
        """Predict-then-learn over inputs, in place; a failure leaves all as it was if it is one."""
        eta, window = self.book[RATE].tolist()
        raws, peak = self.layer.learn(self.kernels, together(list(xs)), ys, eta, int(window))
        forecasts = np.empty(len(ys))
        scratch = self.said, self.heard, self.lift
        ops.settle_all(self.cells, self.finer, self.book, *scratch, raws, ys, forecasts)
        counted = float(self.layer.facts[: self.layer.size, COUNT].sum())
        self.book[COUNTS, 1] = self.layer.size
        self.book[PEAK] = max(self.book[PEAK, 0], peak), self.layer.rounds - counted
        return forecasts
