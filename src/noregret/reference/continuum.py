"""K-LMS-NET with every integral done by adaptive quadrature, and kernel LMS from its formula.

Layer one at any alpha is a recursion over the whole history.  The integrand of layer two is smooth
between the widths where some output crosses an end of the range: these kinks are found on a dense
grid, bisected, and [0, 1] is split there; every piece gets a Gauss-Legendre rule.
"""

from __future__ import annotations

import numpy as np

from noregret.types import Matrix, Vector

__all__ = ["kernel_lms", "kinks", "layer_one", "merged", "net"]

DENSE = 4096  # cells of the grid on which kinks are looked for
GAUSS = 20  # nodes a piece
HALVINGS = 46


def kernel_lms(K: Matrix, y: Vector, eta: float) -> Vector:
    """p_t = eta sum_{s<t} (y_s - p_s) k(x_s, x_t)."""
    p = np.zeros(len(y))
    for t in range(len(y)):
        p[t] = eta * ((y[:t] - p[:t]) * K[:t, t]).sum()
    return p


def layer_one(X: Matrix, y: Vector, eta: float, scale: float, alphas: Vector) -> Matrix:
    """(1): outputs, one row per round and one column per alpha."""
    square = ((X[:, None] - X[None]) ** 2).sum(-1)
    p, residuals = np.zeros((len(y), len(alphas))), np.zeros((len(y), len(alphas)))
    for t in range(len(y)):
        k = np.exp(-scale * square[:t, t][:, None] * alphas)
        p[t] = eta * (residuals[:t] * k).sum(axis=0)
        residuals[t] = y[t] - p[t]
    return p


def merged(
    p: Matrix, y: Vector, weights: Vector, span: tuple[float, float], *, substitution: bool = False
) -> Vector:
    """(2) and (4) with clipped losses, for nodes with weights; or the substitution."""
    low, high = span
    c = (high - low) ** 2 * (0.5 if substitution else 2.0)
    said = np.clip(p, low, high)
    paid = np.vstack([np.zeros(p.shape[1]), np.cumsum((y[:, None] - said) ** 2, axis=0)[:-1]])
    logs = np.log(weights) - paid / c
    v = np.exp(logs - logs.max(axis=1, keepdims=True))
    v /= v.sum(axis=1, keepdims=True)
    if not substitution:
        return np.asarray((v * said).sum(axis=1))

    def mix(outcome: float) -> Vector:
        return np.asarray(-c * np.log((v * np.exp(-((outcome - said) ** 2) / c)).sum(axis=1)))

    return np.asarray((low + high) / 2.0 + (mix(low) - mix(high)) / (2.0 * (high - low)))


def kinks(X: Matrix, y: Vector, eta: float, scale: float, span: tuple[float, float]) -> Vector:
    """The widths at which some round's output crosses an end of the range."""
    dense = np.unique(np.append(np.linspace(0.0, 1.0, DENSE + 1), np.geomspace(1e-4, 1.0, 400)))
    p = layer_one(X, y, eta, scale, dense)
    found = [np.zeros(0)]
    for level in span:
        side = p > level
        t, j = np.nonzero(side[:, :-1] != side[:, 1:])
        if not t.size:
            continue
        low, high, first = dense[j], dense[j + 1], side[t, j]
        for _ in range(HALVINGS):
            middle = (low + high) / 2.0
            above = layer_one(X, y, eta, scale, middle)[t, np.arange(t.size)] > level
            low, high = (
                np.where(above == first, middle, low),
                np.where(above == first, high, middle),
            )
        found.append((low + high) / 2.0)
    return np.unique(np.concatenate(found))


def net(
    X: Matrix,
    y: Vector,
    eta: float,
    scale: float,
    span: tuple[float, float],
    *,
    substitution: bool = False,
) -> Vector:
    """The forecasts of K-LMS-NET itself, over the continuum of widths."""
    split = kinks(X, y, eta, scale, span)
    edges = np.concatenate([[0.0], 2.0 ** -np.arange(9.0), np.linspace(0.0, 1.0, 9), split])
    edges = np.unique(edges)
    nodes, weights = np.polynomial.legendre.leggauss(GAUSS)
    half = np.diff(edges) / 2.0
    alphas = (edges[:-1, None] + half[:, None] * (nodes + 1.0)).ravel()
    w = (half[:, None] * weights).ravel()
    p = layer_one(X, y, eta, scale, alphas)
    return merged(p, y, w, span, substitution=substitution)
