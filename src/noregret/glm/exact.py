"""Exact averaging for one or two weights: the evidence by the trapezoidal rule.

The posterior is analytic and log-concave, so the rule converges faster than any power of the
spacing.  The box ends where the density is below e^-45 of its peak; the spacing is halved until
the rule on every second node agrees to TOLERANCE.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from noregret._ops import particles
from noregret.errors import FeatureError, NumericalError
from noregret.glm.engines import TierneyKadane
from noregret.glm.families import Family
from noregret.types import Matrix, Vector

__all__ = ["Exact"]

DROP = 45.0
TOLERANCE = 1e-10
LARGEST_GRID = 4_000_000


class Exact(TierneyKadane):
    """The posterior mean of the probability, a ratio of two evidences; the history is kept."""

    __slots__ = ("error", "strict")

    def __init__(self, family: Family, precision: float, n: int, *, strict: bool = True) -> None:
        super().__init__(family, precision, n)
        self.error = 0.0  # what the last rule on every second node was off by
        self.strict = strict  # two features at the most; else go on with Laplace's evidences

    def evidence(self, row: Vector) -> float:
        """ln of the integral of exp(-F) with one row more."""
        h = self.history
        h.held[h.count] = row
        here = self.w
        self.w = here.copy()
        try:
            self.fit(h.count + 1)
            return self._integral(h.held[: h.count + 1], self.w)
        finally:
            self.w = here

    def _height(self, rows: Matrix, nodes: Matrix) -> Vector:
        found = np.empty(len(nodes))
        inner = np.ascontiguousarray(nodes)
        particles.heights(self.family.code, rows, self.precision, inner, found)
        return found

    def _integral(self, rows: Matrix, w: Vector) -> float:
        c, n = self.family.curvature, w.size
        axes = np.linalg.eigh(rows.T @ (c * rows) + self.precision * np.eye(n))[1]
        reach = self._box(rows, w, axes)
        along = rows @ axes
        widest = np.abs(along).max(axis=0, initial=0.0)
        sharp = 1.0 / np.sqrt(self.precision + c * (along * along).sum(axis=0))
        unit = np.minimum(sharp, np.divide(1.2, widest, out=np.full(n, np.inf), where=widest > 0))
        spacing = 0.45
        while True:
            fine, coarse, high = self._rule(rows, w, axes, reach, spacing * unit)
            if high.any():  # level sets lean: the box must reach further there
                reach[high] *= 1.5
                continue
            self.error = abs(fine - coarse)
            if self.error <= TOLERANCE:
                return fine
            spacing *= 0.5

    def _box(self, rows: Matrix, w: Vector, axes: Matrix) -> Matrix:
        """How far the density reaches along each axis, (n, 2)."""
        peak = float(self._height(rows, w[None])[0])

        def low(size: float, step: Vector) -> bool:
            return float(self._height(rows, (w + size * step)[None])[0]) < peak - DROP

        reach = np.empty((w.size, 2))
        for k, side in itertools.product(range(w.size), range(2)):
            step, size = (2 * side - 1) * axes[:, k], 1.0 / math.sqrt(self.precision)
            while not low(size, step):
                size *= 1.5
            while low(0.8 * size, step):
                size *= 0.8
            reach[k, side] = 1.2 * size  # level sets lean a little
        return reach

    def _rule(
        self, rows: Matrix, w: Vector, axes: Matrix, reach: Matrix, h: Vector
    ) -> tuple[float, float, Any]:
        """ln of the integral by all nodes and by every second one; which sides are too near."""
        counts = np.ceil(reach / h[:, None]).astype(int)
        lines = [np.arange(-low, high + 1) for low, high in counts]
        if math.prod(len(line) for line in lines) > LARGEST_GRID:
            raise NumericalError(
                "the posterior is too narrow for a grid: take method='tierney-kadane', or rescale x"
            )
        mesh = np.stack([g.ravel() for g in np.meshgrid(*lines, indexing="ij")], axis=1)
        logs = self._height(rows, w + (mesh * h) @ axes.T)
        top, volume = float(np.max(logs)), float(np.log(h).sum())
        weights = np.exp(logs - top)
        even = (mesh % 2 == 0).all(axis=1)
        fine = top + volume + math.log(float(weights.sum()))
        doubled = volume + w.size * math.log(2.0)
        coarse = top + doubled + math.log(float(weights[even].sum()))
        grid = logs.reshape([len(line) for line in lines])
        edges = [[grid.take(0, axis=k), grid.take(-1, axis=k)] for k in range(w.size)]
        high = np.array([[float(np.max(e)) > top - DROP + 5.0 for e in pair] for pair in edges])
        return fine, coarse, high

    def grown(self, k: int) -> TierneyKadane:
        """A copy with k features more; beyond two, Laplace's evidences take over, or a refusal."""
        n = self.w.size + k
        if n > 2 and self.strict:
            raise FeatureError(
                f"x makes {n} features: exact averaging is for 1 or 2; take 'tierney-kadane'"
            )
        kind = TierneyKadane if n > 2 else Exact
        larger = kind(self.family, self.precision, n)
        if isinstance(larger, Exact):
            larger.strict = self.strict
        larger.history = self.history.grown(k)
        larger.w[: self.w.size] = self.w
        larger.F, larger.gradient = self.F, self.gradient
        larger.log_det = self.log_det + k * math.log(self.precision)
        return larger
