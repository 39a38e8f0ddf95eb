"""Exact averaging for one or two weights: the trapezoidal rule around the posterior.

The posterior is analytic and log-concave, so the rule converges faster than any power of the
spacing.  The box ends where the density is below e^-45 of its peak; the spacing is halved until
the rule on every second node agrees to TOLERANCE at the inputs seen last.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from noregret._ops import particles
from noregret.errors import NumericalError
from noregret.glm.engines import Mode
from noregret.glm.families import Family
from noregret.types import Matrix, Vector

__all__ = ["Exact"]

DROP = 45.0
TOLERANCE = 1e-9
LARGEST_GRID = 4_000_000


class Exact(Mode):
    """The posterior mean of the probability, by quadrature; the history is kept."""

    __slots__ = ("error", "logs", "nodes", "parity", "spacing")

    def __init__(self, family: Family, precision: float, n: int) -> None:
        super().__init__(family, precision, n)
        self.nodes: Matrix | None = None  # made when they are needed
        self.logs: Vector = np.zeros(0)
        self.parity: Any = np.zeros(0)  # which nodes are those of the coarser grid
        self.spacing, self.error = 1.0, 0.0

    def _height(self, nodes: Matrix) -> Vector:
        found = np.empty(len(nodes))
        rows = self.history.rows
        particles.heights(
            self.family.code, rows, self.precision, np.ascontiguousarray(nodes), found
        )
        return found

    def _box(self, axes: Matrix) -> Matrix:
        """How far the density reaches along each axis, (n, 2)."""
        peak = float(self._height(self.w[None])[0])
        n = self.w.size
        reach = np.empty((n, 2))
        for k, side in itertools.product(range(n), range(2)):
            step = (2 * side - 1) * axes[:, k]
            size = 1.0 / math.sqrt(self.precision)
            while float(self._height((self.w + size * step)[None])[0]) > peak - DROP:
                size *= 1.5
            while float(self._height((self.w + 0.8 * size * step)[None])[0]) < peak - DROP:
                size *= 0.8
            reach[k, side] = 1.2 * size  # level sets lean a little
        return reach

    def _lay(self, spacing: float) -> None:
        """A grid along the posterior's own axes."""
        rows = self.history.rows
        n = self.w.size
        curve = rows.T @ (self.family.curvature * rows) + self.precision * np.eye(n)
        axes = np.linalg.eigh(curve)[1]
        reach = self._box(axes)
        lines, marks = [], []
        for k in range(n):
            along = rows @ axes[:, k]
            widest = float(np.max(np.abs(along), initial=0.0))
            sharp = 1.0 / math.sqrt(self.precision + self.family.curvature * float(along @ along))
            h = spacing * min(sharp, 1.2 / widest if widest else math.inf)
            low, high = -math.ceil(reach[k, 0] / h), math.ceil(reach[k, 1] / h)
            lines.append(h * np.arange(low, high + 1))
            marks.append(np.arange(low, high + 1) % 2 == 0)
        if math.prod(len(line) for line in lines) > LARGEST_GRID:
            raise NumericalError(
                "the posterior is too narrow for a grid: take method='tierney-kadane', or rescale x"
            )
        mesh = np.stack([g.ravel() for g in np.meshgrid(*lines, indexing="ij")], axis=1)
        even = np.stack([g.ravel() for g in np.meshgrid(*marks, indexing="ij")], axis=1)
        self.nodes, self.parity = np.ascontiguousarray(self.w + mesh @ axes.T), even.all(axis=1)
        logs = self._height(self.nodes)
        top = float(logs.max())
        self.logs = logs - (top + math.log(float(np.exp(logs - top).sum())))

    def _mean(self, x: Vector, chosen: Any) -> float:
        assert self.nodes is not None
        nodes, logs = self.nodes[chosen], self.logs[chosen]
        total = float(np.exp(logs).sum())
        return particles.chance(self.family.code, nodes, logs, np.ascontiguousarray(x)) / total

    def chance(self, x: Vector) -> float:
        """The probability of label 1, averaged over the posterior."""
        if self.nodes is None:
            self._lay(0.45)
        spacing = 0.45
        while True:
            p = self._mean(x, slice(None))
            self.error = abs(p - self._mean(x, self.parity))
            if self.error <= TOLERANCE or spacing < 0.1:
                return min(p, 1.0)
            spacing *= 0.5
            self._lay(spacing)

    def learn(self, x: Vector, sign: float, book: Matrix) -> float:
        """Learn one round."""
        p = self.chance(sign * x)
        super().learn(x, sign, book)
        self.nodes = None
        if not p > 0.0:
            raise NumericalError("the probability given to what happened is 0 in float64")
        return -math.log(p)
