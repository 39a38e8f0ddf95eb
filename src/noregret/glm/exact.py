"""Exact averaging for one or two weights: the evidence by the trapezoidal rule.

The posterior is analytic and log-concave, so the rule converges faster than any power of the
spacing.  The box ends where the density is below e^-45 of its peak; the spacing is halved until
the rule on every second node agrees to TOLERANCE.

A row s x turns the density near w'x = 0, within 1/|x| of it.  Along an axis where even nodes of
that spacing would be too many, they are even in u, c = sinh(u)/|x|: close where the density turns,
and ever wider apart beyond.  What even then takes too many nodes is refused before anything is
made.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from noregret._native import particles
from noregret.declare.fields import Real, Truth
from noregret.errors import FeatureError, NumericalError
from noregret.glm.families import LOGISTIC, Family
from noregret.glm.posteriors import TOO_LARGE, TierneyKadane
from noregret.types import Integers, Matrix, Vector

__all__ = ["Exact"]

DROP = 45.0
TOLERANCE = 1e-10
TRIALS = 24  # of a box or a spacing
TOO_NARROW = "the posterior is too narrow for a grid: take method='tierney-kadane', or rescale x"
SPACING = 0.45  # to begin with, in units
EVEN = 2000  # nodes along an axis from which they are even in u
FEWEST_NODES, MOST_NODES = 2**16, 2**20  # that a grid may always have, and that it may ever have
EVALUATIONS = 2**24  # of a row at a node, where there are more nodes than that


class Axis(NamedTuple):
    """One axis of the box: where the mode is, how far it reaches, and how nodes lie on it."""

    mode: float
    low: float
    high: float
    unit: float  # what spacings are measured in
    steepest: float  # the largest |x| along it

    def bent(self) -> bool:
        """Whether nodes are even in u."""
        return self.steepest > 0.0 and self.low + self.high > EVEN * SPACING * self.unit

    def ends(self, spacing: float) -> tuple[float, float]:
        """The numbers of the first node and of the last; node 0 is the mode, or u = 0."""
        a, b = self.mode - self.low, self.mode + self.high
        if self.bent():
            h = 0.5 * spacing
            return math.asinh(a * self.steepest) / h, math.asinh(b * self.steepest) / h
        return -self.low / (spacing * self.unit), self.high / (spacing * self.unit)

    def nodes(self, spacing: float) -> tuple[Integers, Vector, Vector]:
        """Their numbers, their places, and ln of what each stands for."""
        first, last = self.ends(spacing)
        numbers: Integers = np.arange(math.floor(first), math.ceil(last) + 1)
        steps = numbers.astype(np.float64)
        if not self.bent():
            h = spacing * self.unit
            return numbers, self.mode + steps * h, np.full(steps.size, math.log(h))
        u = steps * (0.5 * spacing)
        logs = np.log(np.cosh(u)) + math.log(0.5 * spacing / self.steepest)
        return numbers, np.sinh(u) / self.steepest, logs


class Exact(TierneyKadane):
    """The posterior mean of the probability, a ratio of two evidences; the history is kept."""

    __slots__ = ("error", "strict")

    FIELDS = (*TierneyKadane.FIELDS, Real("error"), Truth("strict"))
    FOUND = (*TierneyKadane.FOUND, "error", "strict")
    method = "exact"

    def __init__(self, family: Family, precision: float, n: int, *, strict: bool = True) -> None:
        super().__init__(family, precision, n)
        self.error = 0.0  # what the last rule of the last round was off by on every second node
        self.strict = strict  # two features at the most; else go on with Laplace's evidences

    def evidence(self, row: Vector) -> float:
        """ln of the integral of exp(-F) with one row more."""
        return self._evidence(row)[0]

    def probability(self, x: Vector) -> float:
        """The probability of label 1 at x; `error` stays that of the last round."""
        return math.exp(-super().price(x))

    def price(self, row: Vector) -> float:
        """The log loss of label 1 at x = `row`; `error` becomes that of this round."""
        positive, (negative, self.error) = self._evidence(row)[0], self._evidence(-row)
        return LOGISTIC.loss_and_derivatives(positive - negative)[0]

    def _evidence(self, row: Vector) -> tuple[float, float]:
        w = self.tried(row).w
        return self._integral(self.history.held[: self.history.count + 1], w)

    def _height(self, rows: Matrix, nodes: Matrix) -> Vector:
        found = np.empty(len(nodes))
        inner = np.ascontiguousarray(nodes)
        particles.heights(self.family.code, rows, self.precision, inner, found)
        return found

    def _integral(self, rows: Matrix, w: Vector) -> tuple[float, float]:
        """ln of the integral, and by how much the rule on every second node differs."""
        c, n = self.family.curvature, w.size
        if not n:  # no weights: a point
            return float(self._height(rows, w[None])[0]), 0.0
        axes = np.linalg.eigh(rows.T @ (c * rows) + self.precision * np.eye(n))[1]
        reach = self._box(rows, w, axes)
        along = rows @ axes
        widest = np.abs(along).max(axis=0, initial=0.0)
        sharp = reach.sum(axis=1) / 23.0  # the deviation of a Gaussian that reaches as far
        with np.errstate(over="ignore", divide="ignore"):  # what hardly moves asks for no unit
            unit = np.minimum(sharp, 1.2 / widest)
        spacing = SPACING
        for _ in range(TRIALS):
            box = np.column_stack([w @ axes, reach, unit, widest]).tolist()
            fine, coarse, high = self._rule(rows, axes, [Axis(*line) for line in box], spacing)
            if high.any():  # level sets lean: the box must reach further there
                reach[high] *= 1.5
                continue
            if abs(fine - coarse) <= TOLERANCE:
                return fine, abs(fine - coarse)
            spacing *= 0.5
        raise NumericalError(TOO_NARROW)

    def _box(self, rows: Matrix, w: Vector, axes: Matrix) -> Matrix:
        """How far the density reaches along each axis, (n, 2)."""
        peak = float(self._height(rows, w[None])[0])
        # exp(-F) is below the prior, which alone has dropped as far from here on.
        furthest = float(np.linalg.norm(w)) + math.sqrt(2.0 * (DROP - peak) / self.precision)

        def low(size: float, step: Vector) -> bool:
            return float(self._height(rows, (w + size * step)[None])[0]) < peak - DROP

        reach = np.empty((w.size, 2))
        for k, side in itertools.product(range(w.size), range(2)):
            step, size = (2 * side - 1) * axes[:, k], 1.0 / math.sqrt(self.precision)
            while not low(size, step):
                if not size <= 2.0 * furthest:  # NaN too
                    raise NumericalError(TOO_LARGE)
                size *= 1.5
            while low(0.8 * size, step):
                size *= 0.8
            reach[k, side] = 1.2 * size  # level sets lean a little
        return reach

    def _rule(
        self, rows: Matrix, axes: Matrix, box: list[Axis], spacing: float
    ) -> tuple[float, float, npt.NDArray[np.bool_]]:
        """ln of the integral by all nodes and by every second one; which sides are too near."""
        most = min(max(EVALUATIONS // len(rows), FEWEST_NODES), MOST_NODES)
        ends = [axis.ends(spacing) for axis in box]
        if not math.prod(last - first + 3.0 for first, last in ends) <= most:
            raise NumericalError(TOO_NARROW)
        numbers, places, shares = zip(*(axis.nodes(spacing) for axis in box))
        mesh = np.stack([g.ravel() for g in np.meshgrid(*places, indexing="ij")], axis=1)
        grid = self._height(rows, mesh @ axes.T).reshape([part.size for part in places])
        logs = grid + sum(np.ix_(*shares))
        top = float(np.max(logs))
        weights = np.exp(logs - top)
        even = float(weights[np.ix_(*(part % 2 == 0 for part in numbers))].sum())
        fine = top + math.log(float(weights.sum()))
        coarse = top + len(box) * math.log(2.0) + math.log(max(even, 1e-300))
        limit = float(np.max(grid)) - DROP + 5.0
        edges = [[grid.take(0, axis=k), grid.take(-1, axis=k)] for k in range(len(box))]
        high = np.array([[float(np.max(e)) > limit for e in pair] for pair in edges])
        return fine, coarse, high

    def extended(self, k: int) -> TierneyKadane:
        """A copy with k features more; beyond two, Laplace's evidences take over, or a refusal."""
        n = self.w.size + k
        if n > 2 and self.strict:
            raise FeatureError(
                f"x makes {n} features: exact averaging is for 1 or 2; take 'tierney-kadane'"
            )
        if n > 2:
            return self.passed_to(TierneyKadane(self.family, self.precision, n))
        return self.passed_to(Exact(self.family, self.precision, n, strict=self.strict))
