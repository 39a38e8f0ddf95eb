"""MLpol and BOA from the formulas of docs/theory.md 22, in plain sums over the whole history."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from noregret.types import Matrix, Vector

__all__ = ["Account", "boa", "mlpol", "pinball"]

Slope = Callable[[Matrix, Matrix], Matrix]
Flags = npt.NDArray[np.bool_]
Weigh = Callable[[Matrix, Flags], Vector]
STEP, CLOSEST = 2.2, 1e-6


class Account(NamedTuple):
    """Forecasts, weights, linearised regrets r (T x N), and what the theorem allows for sum r."""

    forecasts: Matrix
    weights: Matrix
    r: Matrix
    allowed: Vector


def pinball(level: float) -> Slope:
    """The slope of pinball loss."""
    return lambda g, y: np.where(g > y, 1.0 - level, np.where(g < y, -level, 0.0))


def mlpol(said: Matrix, y: Vector, slope: Slope, prior: Vector | None = None) -> Account:
    """p_k ~ prior_k (R_k)+/D_k, D_k = sum r_k^2 + max r^2; NaN sleeps."""
    p0 = _even(said, prior)

    def weigh(r: Matrix, awake: Flags) -> Vector:  # noqa: ARG001  # BOA's looks at it
        D = _worth(r)
        w: Vector = p0 * np.maximum(r.sum(axis=0), 0.0) / np.where(D > 0.0, D, 1.0)
        return w

    g, weights, r = _played(said, y, slope, p0, weigh)
    first = _first(r)
    price = sum(
        float((p0 * r[t] ** 2 / _worth(r[: t + (t == first)])).sum()) for t in range(first, len(r))
    )
    return Account(g, weights, r, np.sqrt(_worth(r) / p0 * price))


def boa(said: Matrix, y: Vector, slope: Slope, prior: Vector | None = None) -> Account:
    """p_k ~ prior_k eta_k exp(eta_k E_k), E_k = sum r - eta r^2, 1/eta_k^2 = 2.2 sum r_k^2."""
    p0 = _even(said, prior)

    def weigh(r: Matrix, awake: Flags) -> Vector:
        if _first(r) == len(r):
            return np.zeros(p0.size)
        eta, E = _edges(r)
        exponents = np.log(p0 * eta) + eta * E
        w: Vector = np.exp(np.minimum(exponents - exponents[awake].max(), 0.0))
        return w

    g, weights, r = _played(said, y, slope, p0, weigh)
    first = _first(r)
    if first == len(r):
        return Account(g, weights, r, np.zeros(p0.size))
    potential, S = np.ones(p0.size), 1.0
    for t in range(first, len(r)):
        due = potential.copy()
        if t > first:
            due *= 1.0 + _edges(r[:t])[0] * r[t]
        eta, E = _edges(r[: t + 1])
        potential = np.exp(eta * E)
        S += float((p0 * np.maximum(potential - due, 0.0)).sum())
    return Account(g, weights, r, r.sum(axis=0) - E + np.log(S / p0) / eta)


def _even(said: Matrix, prior: Vector | None) -> Vector:
    N = said.shape[1]
    return np.full(N, 1.0 / N) if prior is None else np.asarray(prior) / np.sum(prior)


def _first(r: Matrix) -> int:
    """The first round with an r other than 0."""
    found = np.flatnonzero(r.any(axis=1))
    return int(found[0]) if found.size else len(r)


def _worth(r: Matrix) -> Vector:
    total: Vector = (r**2).sum(axis=0) + (r**2).max(initial=0.0)
    return total


def _edges(r: Matrix) -> tuple[Vector, Vector]:
    """The rates and E after these rounds."""
    first = _first(r)
    start = r[first] ** 2
    D = np.where(start == 0.0, start.max(), np.maximum(start, CLOSEST * start.max()))
    E = r[first] - r[first] ** 2 / np.sqrt(STEP * D)
    for row in r[first + 1 :]:
        D = D + row**2
        E = E + row - row**2 / np.sqrt(STEP * D)
    return 1.0 / np.sqrt(STEP * D), E


def _played(
    said: Matrix, y: Vector, slope: Slope, p0: Vector, weigh: Weigh
) -> tuple[Vector, Matrix, Matrix]:
    g, weights, r = np.zeros(len(y)), np.zeros(said.shape), np.zeros(said.shape)
    for t, f in enumerate(said):
        awake = ~np.isnan(f)
        w = np.where(awake, weigh(r[:t], awake), 0.0)
        w = w if w.any() else np.where(awake, p0, 0.0)
        weights[t] = w / w.sum()
        g[t] = weights[t, awake] @ f[awake]
        r[t, awake] = slope(g[t], y[t]) * (g[t] - f[awake])
    return g, weights, r
