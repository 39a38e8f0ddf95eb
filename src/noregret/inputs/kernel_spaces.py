"""Feature spaces of a budget: from inputs to finitely many features of a kernel."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from noregret.budgets import FeatureMap, Nystrom
from noregret.declare.fields import Array, Mismatch, Part, Points
from noregret.errors import FeatureError, NoRegretError
from noregret.inputs.spaces import NOTHING, Encoded, FeatureSpace
from noregret.kernels import Inputs, Kernel, Point, together
from noregret.numerics.triangles import solve_lower
from noregret.types import Gaps, Matrix, Row, Table, Vector

__all__ = ["KernelInputs", "MappedSpace", "NystromSpace"]

CHUNK = 256  # rows that a dictionary looks at together


class KernelInputs:
    """How inputs reach a kernel: as vectors through a space of fixed width, or as they are."""

    __slots__ = ("space",)

    FIELDS = (Part("door", ("Positions", "Names"), optional=True, of="space"),)

    def __init__(self, space: FeatureSpace | None) -> None:
        self.space = space  # None: objects that only the kernel understands

    def encode(self, x: Row) -> Point:
        """One input."""
        if self.space is None:
            return x
        vector, new, key = self.space.encode(x)[:3]
        if new.size:
            raise FeatureError(f"x has new features {key!r}: a kernel's inputs keep their features")
        return vector

    def encode_rows(self, X: Table) -> Inputs:
        """Many inputs."""
        if self.space is None:
            if not isinstance(X, Iterable) or isinstance(X, str | bytes):
                raise FeatureError(f"X = {X!r} is not a sequence of inputs: give a list of them")
            return list(X)
        xs, space, _ = self.space.encode_rows(X)
        if space is not self.space:
            raise FeatureError("X has new columns: a kernel's inputs keep their features")
        return xs

    def stored_points(self, points: Inputs) -> Inputs:
        """Inputs as a file keeps them: vectors as a matrix, anything else as a list."""
        return np.array(points) if len(points) and self.space is not None else list(points)

    def restored_points(self, points: Inputs) -> Inputs:
        """Inputs from a file, if they could have come this way."""
        if isinstance(points, list):
            if points and self.space is not None:
                raise Mismatch("has objects where vectors are due")
        elif self.space is None or points.shape[1] != self.space.size:
            raise Mismatch("has vectors of another width")
        return points


class MappedSpace:
    """An explicit feature map behind a space of fixed width."""

    __slots__ = ("inputs", "map", "size")

    FIELDS = (Part("inputs", ("Inputs",)), Part("map", ("Fourier", "Monomials")))
    SCRATCH = ("size",)

    def __init__(self, inputs: KernelInputs, map_: FeatureMap) -> None:
        self.inputs, self.map, self.size = inputs, map_, map_.shape[1]

    @classmethod
    def restored(cls, inputs: KernelInputs, map_: FeatureMap) -> MappedSpace:
        """The space of these values."""
        if inputs.space is None or inputs.space.size != map_.shape[0]:
            raise Mismatch("has a map for other inputs")
        return cls(inputs, map_)

    def __eq__(self, other: object) -> bool:
        """The same features, given the same budget."""
        return isinstance(other, MappedSpace) and other.inputs.space == self.inputs.space

    def __hash__(self) -> int:
        return hash(self.size)

    @np.errstate(over="ignore", invalid="ignore")  # a look at what overflows is refused
    def encode(self, x: Row) -> Encoded:
        """The features of x."""
        row = self.inputs.encode(x)[None]
        phi = self.map.features(row)[0]
        return Encoded(phi, NOTHING, None, float(self.map.peak(row)[0] - phi @ phi))

    def extended(self, key: object) -> MappedSpace:
        """A map never grows."""
        raise FeatureError(f"a feature map has {self.size} features: {key!r} is no more")

    @np.errstate(over="ignore", invalid="ignore")
    def encode_rows(self, X: Table) -> tuple[Matrix, MappedSpace, float]:
        """The features of many inputs."""
        xs = self.inputs.encode_rows(X)
        rows = self.map.features(xs)
        return rows, self, float(self.map.peak(xs).sum() - np.vdot(rows, rows))

    def encode_known(self, X: Table) -> tuple[Matrix, Vector]:
        """The features of many inputs; nothing in them is new."""
        rows, _, _ = self.encode_rows(X)
        return rows, np.zeros(len(rows))


class NystromSpace:
    """Cholesky coordinates of the projection on a dictionary that grows with the stream.

    With L L' = k(D, D), the coordinates of x are l = L^-1 k(D, x), and |l|^2 is the part of k(x, x)
    that the dictionary spans.  What joins is one coordinate more, sqrt(k(x, x) - |l|^2), which
    was 0 for all before it.
    """

    __slots__ = ("budget", "inputs", "kept", "kernel", "triangle")

    FIELDS = (
        Part("budget", ("Nystrom",)),
        Part("kernel", ("Kernel",)),
        Part("inputs", ("Inputs",)),
        Points("kept"),
        Array("triangle", ("s", "s")),
    )

    def __init__(
        self,
        budget: Nystrom,
        kernel: Kernel,
        inputs: KernelInputs,
        kept: list[Point],
        triangle: Matrix,
    ) -> None:
        self.budget, self.kernel, self.inputs = budget, kernel, inputs
        self.kept, self.triangle = kept, triangle  # D, and L' column-major

    def stored(self) -> tuple[object, ...]:
        """The values of FIELDS."""
        kept = self.inputs.stored_points(self.kept)
        return self.budget, self.kernel, self.inputs, kept, self.triangle

    @classmethod
    def restored(
        cls, budget: Nystrom, kernel: Kernel, inputs: KernelInputs, points: Inputs, triangle: Matrix
    ) -> NystromSpace:
        """The space of these values."""
        kept = list(inputs.restored_points(points))
        if len(kept) != len(triangle):
            raise Mismatch(f"has {len(kept)} inputs for {len(triangle)} coordinates")
        try:
            budget.check()
        except NoRegretError as wrong:
            raise Mismatch(f"has a budget that makes no sense: {wrong}") from None
        return cls(budget, kernel, inputs, kept, np.asfortranarray(triangle))

    @property
    def size(self) -> int:
        """How many inputs are in the dictionary."""
        return len(self.kept)

    def _coordinates(self, xs: Inputs) -> Matrix:
        """(size, T)."""
        if not self.kept:
            return np.zeros((0, len(xs)))
        K = self.kernel.cross(together(self.kept), xs)
        return solve_lower(self.triangle.T, K)

    def encode(self, x: Row) -> Encoded:
        """The coordinates of x; its own new one if it would join."""
        point = self.inputs.encode(x)
        l = self._coordinates(together([point]))[:, 0]
        itself = self.kernel.itself(point)
        residual = itself - float(l @ l)
        if self._joins(residual, itself):
            root = math.sqrt(residual)
            return Encoded(l, np.array([root]), (point, l, root))
        return Encoded(l, NOTHING, None, max(residual, 0.0))

    def _joins(self, residual: float | Vector, itself: float | Vector) -> bool | Gaps:
        """Whether what has so much outside of the span would join; of one input or of many."""
        return (residual > self.budget.tolerance * itself) & (self.size < self.budget.size)

    def extended(self, key: tuple[Point, Vector, float]) -> NystromSpace:
        """The space whose dictionary has one input more."""
        point, l, root = key
        point = point.copy() if isinstance(point, np.ndarray) else point
        s = self.size
        triangle = np.zeros((s + 1, s + 1), order="F")
        triangle[:s, :s] = self.triangle
        triangle[:s, s], triangle[s, s] = l, root
        return NystromSpace(self.budget, self.kernel, self.inputs, [*self.kept, point], triangle)

    def encode_rows(self, X: Table) -> tuple[Matrix, NystromSpace, float]:
        """The coordinates of many inputs, each in the dictionary of its own round."""
        xs = self.inputs.encode_rows(X)
        space, missed, blocks = self, 0.0, []
        for start in range(0, len(xs), CHUNK):
            part = xs[start : start + CHUNK]
            phi = space._coordinates(part)
            itself = self.kernel.diagonal(part)
            residual = itself - (phi * phi).sum(axis=0)
            first = 0
            while space.size < self.budget.size:
                late = residual[first:] > self.budget.tolerance * itself[first:]
                if not late.any():
                    break
                j = first + int(np.argmax(late))
                root = math.sqrt(residual[j])
                new = np.zeros(len(part))
                overlap = self.kernel.column(part[j:], part[j]) - phi[:, j] @ phi[:, j:]
                new[j:] = overlap / root
                new[j] = root
                space = space.extended((part[j], phi[:, j], root))
                phi = np.vstack([phi, new])
                residual[j:] -= new[j:] ** 2
                residual[j] = 0.0
                first = j + 1
            missed += float(np.maximum(residual, 0.0).sum())
            blocks.append(phi)
        rows = np.zeros((len(xs), space.size))
        for start, phi in zip(range(0, len(xs), CHUNK), blocks, strict=True):
            rows[start : start + phi.shape[1], : phi.shape[0]] = phi.T
        return rows, space, missed

    def encode_known(self, X: Table) -> tuple[Matrix, Vector]:
        """The coordinates of many inputs, and what each would add by joining."""
        xs = self.inputs.encode_rows(X)
        phi = self._coordinates(xs)
        itself = self.kernel.diagonal(xs)
        residual = itself - (phi * phi).sum(axis=0)
        joins = self._joins(residual, itself)
        return np.ascontiguousarray(phi.T), np.sqrt(np.where(joins, residual, 0.0))
