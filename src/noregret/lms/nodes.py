"""Where the widths of K-LMS-NET lie, and what each weighs: quadrature on [0, 1].

Gauss's nodes are the best, but each would need an exponential a pattern.  On nodes whose steps are
powers of two of one unit a few exponentials and their products serve all nodes.  So: the steps of
Chebyshev's points, dense at both ends, each rounded to a power of two; and on these nodes the
weights nearest to the trapezoidal ones that integrate all polynomials up to a degree, the highest
found that keeps every weight at least a quarter of the trapezoidal one.  64 nodes reach degree 47.

Weights are positive and add up to 1: they are the prior of a finite mixture, whose guarantee owes
nothing to quadrature.

The audit has nodes between these nodes, four to a step.  Outputs of layer one are smooth in alpha,
so they need not be computed there: polynomials through the nodes say what they are.  What is not
smooth, clipping, then happens on the finer grid.  There are two audits, one with the least-squares
polynomial of the rule's degree, right to the last digits where outputs are tame everywhere, and
one with a polynomial through the 6 nodes around, which what happens elsewhere cannot spoil.  Both
see the rule's error and add that of their polynomials: the smaller one is the estimate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from noregret.errors import ParameterError, abbreviated
from noregret.types import Integers, Matrix, Vector

__all__ = ["FEWEST", "MOST", "NodeRule", "grid", "nodes_for", "weights_for"]

FEWEST, MOST = 4, 512
FINE = 128  # up to so many nodes the audit has four nodes a step, beyond two
NEAR = 6
LEAST_SHARE = 0.25  # of the trapezoidal weight
SAFETY = 2.0  # kinks: errors measured were up to 1.04 (hi - lo)/nodes^2
LADDER = (32, 48, 64, 96, 128, 192, 256, 384, MOST)


@dataclass(frozen=True, slots=True, eq=False)
class NodeRule:
    """Nodes, weights, steps; and the audit: its weights, and how to get its outputs."""

    alphas: Vector
    weights: Vector
    kinds: Vector  # sizes of steps, from small to large
    levels: Integers  # of which size the step to node j is
    finer: Vector  # the audit's nodes
    audit: Vector  # and weights
    lift: Matrix  # (2, audit's nodes, nodes): outputs at the nodes -> at the audit's nodes

    def rates(self, scale: float) -> Matrix:
        """s0 step for each size of a step, and how often to square the one before to have it.

        A square doubles an exponential's rounding: none is more than three squares away, and one
        where steps are many.
        """
        limit = 3.0 if self.kinds.size <= 5 else 1.0
        table, away = np.column_stack([scale * self.kinds, np.zeros(self.kinds.size)]), 0.0
        for q in range(1, self.kinds.size):
            squares = float(round(math.log2(self.kinds[q] / self.kinds[q - 1])))
            away = away + squares if away + squares <= limit and squares <= 2.0 else 0.0
            table[q, 1] = squares if away else 0.0
        return table


@lru_cache(maxsize=32)
def grid(nodes: int) -> NodeRule:
    """The rule with so many nodes, and its audit.

    >>> g = grid(64)
    >>> g.alphas.size, g.finer.size, round(float(g.weights.sum()), 12)
    (64, 253, 1.0)
    """
    alphas, kinds, levels = _nodes(nodes)
    weights, degree = weights_for(alphas, nodes - 1)
    parts = 4 if nodes <= FINE else 2
    finer = np.interp(np.arange(parts * (nodes - 1) + 1) / parts, np.arange(nodes), alphas)
    audit, _ = weights_for(finer, min(2 * degree, finer.size - 1))
    V, plain = _orthonormal(alphas, degree), _trapezoidal(alphas)
    fitted = _orthonormal(finer, degree).T @ np.linalg.solve((V * plain) @ V.T, V * plain)
    lift = np.stack([fitted, _near(alphas, finer)])
    return NodeRule(alphas, weights, kinds, levels, finer, audit, lift)


def _near(alphas: Vector, finer: Vector) -> Matrix:
    """Lagrange's polynomial through the 6 nodes around each of the finer ones."""
    m = min(NEAR, alphas.size)
    table = np.zeros((finer.size, alphas.size))
    for i, x in enumerate(finer):
        first = min(max(int(np.searchsorted(alphas, x)) - m // 2, 0), alphas.size - m)
        near = alphas[first : first + m]
        for k in range(m):
            others = np.delete(near, k)
            table[i, first + k] = np.prod((x - others) / (near[k] - others))
    return table


def _nodes(nodes: int) -> tuple[Vector, Vector, Integers]:
    """Nodes from 0 to 1, the sizes of their steps, and which size each step has."""
    x = (1.0 - np.cos(np.pi * np.arange(nodes) / (nodes - 1))) / 2.0
    gaps = np.diff(x)
    steps = 2.0 ** np.floor(np.log2(gaps / gaps.min()) + 0.5)
    kinds, levels = np.unique(steps, return_inverse=True)
    alphas = np.concatenate([[0.0], np.cumsum(steps)]) / steps.sum()
    return alphas, kinds / steps.sum(), np.concatenate([[0], levels]).astype(np.int64)


def weights_for(alphas: Vector, highest: int) -> tuple[Vector, int]:
    """Positive weights on given nodes, and up to which degree they are exact.

    >>> weights_for(np.array([0.0, 0.5, 1.0]), 2)[0].round(6)     # Simpson's
    array([0.166667, 0.666667, 0.166667])
    """
    plain = _trapezoidal(alphas)
    found = _exact(alphas, plain, highest)
    if found is not None:
        return found, highest
    best, low, high = plain, 1, highest
    while high - low > 1:
        degree = (low + high) // 2
        found = _exact(alphas, plain, degree)
        if found is None:
            high = degree
        else:
            best, low = found, degree
    return best, low


def _trapezoidal(alphas: Vector) -> Vector:
    gaps = np.diff(alphas)
    return np.asarray(0.5 * (np.append(gaps, 0.0) + np.append(0.0, gaps)))


def _orthonormal(alphas: Vector, degree: int) -> Matrix:
    """Legendre's polynomials on [0, 1], a row each."""
    k = np.arange(degree + 1)
    V = np.polynomial.legendre.legvander(2.0 * alphas - 1.0, degree) * np.sqrt(2.0 * k + 1.0)
    return np.asarray(V.T)


def _exact(alphas: Vector, plain: Vector, degree: int) -> Vector | None:
    """min sum (w - w0)^2/w0 with all moments up to the degree right; None if a weight is small."""
    V = _orthonormal(alphas, degree)
    moments = np.zeros(degree + 1)
    moments[0] = 1.0
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
        if SAFETY * width / nodes**2 > tolerance:
            continue
        alphas, _, _ = _nodes(nodes)
        weights, _ = weights_for(alphas, nodes - 1)
        if np.abs(np.exp(-s[:, None] * alphas) @ weights - truth).max() * width <= 0.1 * tolerance:
            return nodes
    least = SAFETY * width / MOST**2
    raise ParameterError(
        f"tolerance = {abbreviated(tolerance)}: even {MOST} nodes are not known to reach it "
        f"(at best {least:.2g} for this range); give nodes= and see error_"
    )
