"""Doors to the finitely many dimensions of a budget: from inputs to the features of a kernel."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.linalg import blas

from noregret.budgets import FeatureMap, Nystrom
from noregret.doors import NOTHING, Admitted, Names, Positions
from noregret.errors import FeatureError
from noregret.kernels import Kernel, together
from noregret.types import Matrix, Vector

__all__ = ["DictionaryDoor", "Inputs", "MapDoor"]

CHUNK = 256  # rows that a dictionary looks at together


class Inputs:
    """How inputs reach a kernel: as vectors through a door of fixed width, or as they are."""

    __slots__ = ("door",)

    def __init__(self, door: Positions | Names | None) -> None:
        self.door = door  # None: objects that only the kernel understands

    def one(self, x: Any) -> Any:
        """One input."""
        if self.door is None:
            return x
        vector, new, key = self.door.admit(x)[:3]
        if new.size:
            raise FeatureError(f"x has new features {key!r}: a kernel's inputs keep their features")
        return vector

    def many(self, X: Any) -> Any:
        """Many inputs."""
        if self.door is None:
            if not isinstance(X, Iterable) or isinstance(X, str | bytes):
                raise FeatureError(f"X = {X!r} is not a sequence of inputs: give a list of them")
            return list(X)
        xs, door, _ = self.door.many(X)
        if door is not self.door:
            raise FeatureError("X has new columns: a kernel's inputs keep their features")
        return xs


class MapDoor:
    """An explicit feature map behind a door of fixed width."""

    __slots__ = ("inputs", "map", "size")

    def __init__(self, inputs: Inputs, map_: FeatureMap, size: int) -> None:
        self.inputs, self.map, self.size = inputs, map_, size

    def __eq__(self, other: object) -> bool:
        """The same features, given the same budget."""
        return isinstance(other, MapDoor) and other.inputs.door == self.inputs.door

    def __hash__(self) -> int:
        return hash(self.size)

    @np.errstate(over="ignore", invalid="ignore")  # a look at what overflows is refused
    def admit(self, x: Any) -> Admitted:
        """The features of x."""
        row = self.inputs.one(x)[None]
        phi = self.map.features(row)[0]
        return Admitted(phi, NOTHING, None, float(self.map.peak(row)[0] - phi @ phi))

    def grown(self, key: Any) -> MapDoor:
        """A map never grows."""
        raise FeatureError(f"a feature map has {self.size} features: {key!r} is no more")

    @np.errstate(over="ignore", invalid="ignore")
    def many(self, X: Any) -> tuple[Matrix, MapDoor, float]:
        """The features of many inputs."""
        xs = self.inputs.many(X)
        rows = self.map.features(xs)
        return rows, self, float(self.map.peak(xs).sum() - np.vdot(rows, rows))

    def survey(self, X: Any) -> tuple[Matrix, Vector]:
        """The features of many inputs; nothing in them is new."""
        rows, _, _ = self.many(X)
        return rows, np.zeros(len(rows))


class DictionaryDoor:
    """Cholesky coordinates of the projection on a dictionary that grows with the stream.

    With L L' = k(D, D), the coordinates of x are l = L^-1 k(D, x), and |l|^2 is the part of k(x, x)
    that the dictionary spans.  What joins is one coordinate more, sqrt(k(x, x) - |l|^2), which
    was 0 for all before it.
    """

    __slots__ = ("budget", "inputs", "kept", "kernel", "triangle")

    def __init__(
        self, budget: Nystrom, kernel: Kernel, inputs: Inputs, kept: list[Any], triangle: Matrix
    ) -> None:
        self.budget, self.kernel, self.inputs = budget, kernel, inputs
        self.kept, self.triangle = kept, triangle  # D, and L' column-major

    @property
    def size(self) -> int:
        """How many inputs are in the dictionary."""
        return len(self.kept)

    def _coordinates(self, xs: Any) -> Matrix:
        """(size, T)."""
        if not self.kept:
            return np.zeros((0, len(xs)))
        K = self.kernel.cross(together(self.kept), xs)
        return np.asarray(blas.dtrsm(1.0, self.triangle, K, trans_a=1))

    def admit(self, x: Any) -> Admitted:
        """The coordinates of x; its own new one if it would join."""
        point = self.inputs.one(x)
        l = self._coordinates(together([point]))[:, 0]
        itself = self.kernel.itself(point)
        residual = itself - float(l @ l)
        if self._joins(residual, itself, self.size):
            root = math.sqrt(residual)
            return Admitted(l, np.array([root]), (point, l, root))
        return Admitted(l, NOTHING, None, max(residual, 0.0))

    def _joins(self, residual: Any, itself: Any, size: int) -> Any:
        return (residual > self.budget.tolerance * itself) & (size < self.budget.size)

    def grown(self, key: Any) -> DictionaryDoor:
        """The door whose dictionary has one input more."""
        point, l, root = key
        point = point.copy() if isinstance(point, np.ndarray) else point
        s = self.size
        triangle = np.zeros((s + 1, s + 1), order="F")
        triangle[:s, :s] = self.triangle
        triangle[:s, s], triangle[s, s] = l, root
        return DictionaryDoor(self.budget, self.kernel, self.inputs, [*self.kept, point], triangle)

    def many(self, X: Any) -> tuple[Matrix, DictionaryDoor, float]:
        """The coordinates of many inputs, each in the dictionary of its own round."""
        xs = self.inputs.many(X)
        door, missed, blocks = self, 0.0, []
        for start in range(0, len(xs), CHUNK):
            part = xs[start : start + CHUNK]
            phi = door._coordinates(part)
            itself = self.kernel.diagonal(part)
            residual = itself - (phi * phi).sum(axis=0)
            first = 0
            while door.size < self.budget.size:
                late = residual[first:] > self.budget.tolerance * itself[first:]
                if not late.any():
                    break
                j = first + int(np.argmax(late))
                root = math.sqrt(residual[j])
                new = np.zeros(len(part))
                overlap = self.kernel.column(part[j:], part[j]) - phi[:, j] @ phi[:, j:]
                new[j:] = overlap / root
                new[j] = root
                door = door.grown((part[j], phi[:, j], root))
                phi = np.vstack([phi, new])
                residual[j:] -= new[j:] ** 2
                residual[j] = 0.0
                first = j + 1
            missed += float(np.maximum(residual, 0.0).sum())
            blocks.append(phi)
        rows = np.zeros((len(xs), door.size))
        for start, phi in zip(range(0, len(xs), CHUNK), blocks, strict=True):
            rows[start : start + phi.shape[1], : phi.shape[0]] = phi.T
        return rows, door, missed

    def survey(self, X: Any) -> tuple[Matrix, Vector]:
        """The coordinates of many inputs, and what each would add by joining."""
        xs = self.inputs.many(X)
        phi = self._coordinates(xs)
        itself = self.kernel.diagonal(xs)
        residual = itself - (phi * phi).sum(axis=0)
        joins = self._joins(residual, itself, self.size)
        return np.ascontiguousarray(phi.T), np.sqrt(np.where(joins, residual, 0.0))
