"""What kernel LMS competes with: finite kernel expansions, given or found in hindsight."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from noregret._native.lms import COUNT, MEAN, SPREAD
from noregret.errors import ParameterError, abbreviated
from noregret.inputs.values import number, table
from noregret.kernels import Inputs
from noregret.types import Matrix, Vector

__all__ = ["Expansion", "Seen", "best_expansion", "checked"]

SPAN = 512  # patterns that may carry a comparator found in hindsight
RANK = 1e-13  # directions of the kernel matrix below this share of the largest are left out

Values: TypeAlias = Callable[[Inputs, Inputs], Matrix]
"""k(X, Z) -> matrix, of inputs of any kind."""


@dataclass(frozen=True, slots=True, eq=False)
class Expansion:
    """h = sum_i coefficients_i k(points_i, .), at a width alpha in [0, 1] where there are many.

    A point may come twice, once with each sign: that is how to give a decomposition h = h+ + h-
    with a smaller surfeit.

    >>> h = Expansion([[0.0], [1.0]], [2.0, -1.0], width=0.5)
    >>> h.coefficients
    array([ 2., -1.])
    """

    points: Inputs
    coefficients: Vector | Sequence[float]
    width: float | None = None

    def __post_init__(self) -> None:
        given = [number(b, f"coefficients[{i}]") for i, b in enumerate(self.coefficients)]
        object.__setattr__(self, "coefficients", np.array(given, dtype=np.float64))
        if len(self.points) != len(given) or not given:
            raise ParameterError(
                f"an expansion has {len(self.points)} points and {len(given)} coefficients: "
                "give one coefficient per point, and at least one"
            )
        if self.width is not None and not 0.0 <= self.width <= 1.0:
            raise ParameterError(f"width = {abbreviated(self.width)}: it must be alpha in [0, 1]")


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """The stream as comparators see it: each pattern, how often, its outcomes' mean and spread."""

    patterns: Inputs
    counts: Vector
    means: Vector
    spread: float
    complete: bool  # nothing has been forgotten

    @classmethod
    def of(cls, patterns: Inputs, facts: Matrix, *, complete: bool) -> Seen:
        """From the facts that a layer keeps."""
        used = facts[: len(patterns)]
        spread = math.fsum(used[:, SPREAD].tolist())
        return cls(patterns, used[:, COUNT].copy(), used[:, MEAN].copy(), spread, complete)

    def loss(self, values: Vector) -> float:
        """sum (y - h(x))^2, from h at each pattern."""
        return math.fsum((self.counts * (self.means - values) ** 2).tolist()) + self.spread


def checked(points: Inputs, patterns: Inputs) -> Inputs:
    """The points of an expansion, as the kernel takes them."""
    if not isinstance(patterns, np.ndarray):
        return list(points)
    rows, _ = table(points)
    if rows.shape[1] != patterns.shape[1]:
        raise ParameterError(
            f"points have {rows.shape[1]} features, but the stream has {patterns.shape[1]}"
        )
    return rows


def best_expansion(
    k: Values, seen: Seen, a: float, width: float | None, norm: float | None = None
) -> Expansion:
    """argmin L(h) + a|h|^2 over expansions on the patterns, at most 512 of them, evenly chosen.

    With `norm`, a is raised until |h| <= norm.  Orthonormal features of the patterns' span make it
    a ridge regression: phi = k(., S) U l^-1/2 with k(S, S) = U l U'.
    """
    m = len(seen.patterns)
    chosen = np.unique(np.linspace(0, m - 1, min(m, SPAN)).round().astype(int))
    S = (
        seen.patterns[chosen]
        if isinstance(seen.patterns, np.ndarray)
        else [seen.patterns[i] for i in chosen]
    )
    l, U = np.linalg.eigh(k(S, S))
    U, l = U[:, l > RANK * l[-1]], l[l > RANK * l[-1]]
    back = U / np.sqrt(l)
    phi = k(seen.patterns, S) @ back
    root = np.sqrt(seen.counts)
    left, s, right = np.linalg.svd(root[:, None] * phi, full_matrices=False)
    target = left.T @ (root * seen.means)

    def weights(a: float) -> Vector:
        found: Vector = right.T @ (s / (s * s + a) * target)
        return found

    w = weights(a)
    if norm is not None and np.linalg.norm(w) > norm:
        low, high = math.log(a), math.log(a) + 1.0
        while np.linalg.norm(weights(math.exp(high))) > norm:
            high += 5.0
        for _ in range(60):
            middle = 0.5 * (low + high)
            outside = np.linalg.norm(weights(math.exp(middle))) > norm
            low, high = (middle, high) if outside else (low, middle)
        w = weights(math.exp(high))
    c = back @ w
    if norm is not None:  # what rounding adds must not take h beyond the norm
        c *= min(1.0, norm / max(math.sqrt(c @ k(S, S) @ c), 1e-300))
    return Expansion(S, c, width)
