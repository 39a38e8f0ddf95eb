"""Where the widths of K-LMS-NET lie, and what each weighs: quadrature on [0, 1].

Gauss's nodes are the best, but each would need an exponential a pattern.  On nodes whose steps are
powers of two of one unit a few exponentials and their products serve all nodes.  So: the steps of
Chebyshev's points, dense at both ends, each rounded to a power of two; and on these nodes the
weights nearest to the trapezoidal ones that integrate all polynomials up to a degree, the highest
that keeps every weight at least a quarter of the trapezoidal one.  64 nodes reach degree 47.

Weights are positive and add up to 1: they are the prior of a finite mixture, whose guarantee owes
nothing to quadrature.  The audit is the same rule with a node in the middle of every step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from noregret.errors import ParameterError
from noregret.types import Integers, Matrix, Vector

__all__ = ["FEWEST", "MOST", "Grid", "grid", "nodes_for", "weights_for"]

FEWEST, MOST = 4, 512
LEAST_SHARE = 0.25  # of the trapezoidal weight
SAFETY = 2.0  # kinks: errors measured were up to 1.04 (hi - lo)/nodes^2
LADDER = (16, 24, 32, 48, 64, 96, 128, 192, 256, 384, MOST)


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Nodes of the audit's rule, and both rules' weights; those of the net have weight > 0."""

    alphas: Vector
    weights: Vector  # 0 where only the audit has a node
    audit: Vector
    kinds: Vector  # sizes of steps, from small to large
    levels: Integers  # of which size the step to node j is

    def rates(self, scale: float) -> Matrix:
        """s0 step for each size of a step, and 1.0 where it is the square of the one before."""
        table = np.column_stack([scale * self.kinds, np.zeros(self.kinds.size)])
        for q in range(1, self.kinds.size):
            twice = self.kinds[q] == 2.0 * self.kinds[q - 1]
            table[q, 1] = float(twice and table[q - 1, 1] == 0.0)
        return table


@lru_cache(maxsize=32)
def grid(nodes: int, *, audited: bool = True) -> Grid:
    """The rule with so many nodes, and its audit.

    >>> g = grid(64)
    >>> int((g.weights > 0).sum()), g.alphas.size, round(float(g.weights.sum()), 12)
    (64, 127, 1.0)
    """
    x = (1.0 - np.cos(np.pi * np.arange(nodes) / (nodes - 1))) / 2.0
    gaps = np.diff(x)
    steps = 2.0 ** np.floor(np.log2(gaps / gaps.min()) + 0.5)
    every = 1
    if audited:
        steps, every = np.repeat(steps, 2), 2
    alphas = np.concatenate([[0.0], np.cumsum(steps)]) / steps.sum()
    weights = np.zeros(alphas.size)
    weights[::every] = weights_for(alphas[::every])
    audit = weights_for(alphas) if audited else weights
    kinds, levels = np.unique(steps, return_inverse=True)
    levels = np.concatenate([[0], levels]).astype(np.int64)
    return Grid(alphas, weights, audit, kinds / steps.sum(), levels)


def weights_for(alphas: Vector) -> Vector:
    """Positive weights on given nodes, exact for polynomials of the highest degree found."""
    gaps = np.diff(alphas)
    plain = 0.5 * (np.append(gaps, 0.0) + np.append(0.0, gaps))
    best, low, high = plain, 1, alphas.size
    while high - low > 1:
        degree = (low + high) // 2
        found = _exact(alphas, plain, degree)
        if found is None:
            high = degree
        else:
            best, low = found, degree
    return np.asarray(best / best.sum())


def _exact(alphas: Vector, plain: Vector, degree: int) -> Vector | None:
    """min sum (w - w0)^2/w0 with all moments up to the degree right; None if a weight is small."""
    k = np.arange(degree + 1)
    V = (np.polynomial.legendre.legvander(2.0 * alphas - 1.0, degree) * np.sqrt(2.0 * k + 1.0)).T
    moments = (k == 0).astype(np.float64)  # of orthonormal polynomials
    w = plain.copy()
    try:
        for _ in range(2):  # the second time for what rounding left
            w = w + plain * (V.T @ np.linalg.solve((V * plain) @ V.T, moments - V @ w))
    except np.linalg.LinAlgError:
        return None
    if not (w >= LEAST_SHARE * plain).all() or np.abs(V @ w - moments).max() > 1e-12:
        return None
    return w


def nodes_for(tolerance: float, width: float, spread: float) -> int:
    """How many nodes a tolerance asks for, as far as can be known before the stream.

    Known: one kernel value exp(-s alpha) with s up to `spread` must integrate to a tenth of the
    tolerance, and where outputs of layer one are clipped the integrand has kinks, which cost about
    (hi - lo)/nodes^2 at most on the streams measured.  What the stream will do is not known: the
    audit says.
    """
    s = np.append(0.0, np.geomspace(1e-3, max(spread, 1e-2), 200))
    truth = np.append(1.0, -np.expm1(-s[1:]) / s[1:])
    for nodes in LADDER:
        rule = grid(nodes, audited=False)
        off = np.abs(np.exp(-s[:, None] * rule.alphas) @ rule.weights - truth).max()
        if off * width <= 0.1 * tolerance and SAFETY * width / nodes**2 <= tolerance:
            return nodes
    least = SAFETY * width / MOST**2
    raise ParameterError(
        f"tolerance = {tolerance!r}: even {MOST} nodes are not known to reach it "
        f"(at best {least:.2g} for this range); give nodes= and see error_"
    )
