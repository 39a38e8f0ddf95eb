"""Kernel formulas with a full solve over the history in every round.

K is the whole kernel matrix of the stream; a the prior precision, a_t those of changing experts.
"""

from __future__ import annotations

import numpy as np

from noregret.types import Matrix, Vector

__all__ = ["best_loss", "extended", "kaarch", "looks"]


def extended(K: Matrix, a_t: Vector) -> Matrix:
    """Kbar_ij = (sum_{s<=min(i,j)} 1/a_s) K_ij (BK section 3.3)."""
    S, i = np.cumsum(1.0 / a_t), np.arange(len(K))
    return np.asarray(S[np.minimum(i[:, None], i[None, :])] * K)


def looks(K: Matrix, y: Matrix, a: float) -> tuple[Matrix, Vector]:
    """ZV section 6: m = Y'(aI + K)^-1 k and d = 1 + (k(x, x) - k'(aI + K)^-1 k)/a."""
    mean, spread = np.zeros(y.shape), np.ones(len(K))
    for t in range(len(K)):
        A = a * np.eye(t) + K[:t, :t]
        solved = np.linalg.solve(A, np.column_stack([y[:t], K[:t, t]]))
        mean[t] = K[t, :t] @ solved[:, :-1]
        spread[t] = 1.0 + (K[t, t] - K[t, :t] @ solved[:, -1]) / a
    return mean, spread


def kaarch(K: Matrix, y: Vector, a_t: Vector) -> Vector:
    """BK section 3.3: y~'(Kbar + I)^-1 kbar with y~ = (y_1, ..., y_{T-1}, 0), every T."""
    Kbar = extended(K, a_t)
    forecasts = np.zeros(len(K))
    for last in range(1, len(K) + 1):
        known = np.append(y[: last - 1], 0.0)
        G = Kbar[:last, :last] + np.eye(last)
        forecasts[last - 1] = known @ np.linalg.solve(G, Kbar[:last, last - 1])
    return forecasts


def best_loss(K: Matrix, y: Matrix, a: float) -> float:
    """min_f sum (y - f(x))^2 + a|f|^2 = a y'(aI + K)^-1 y."""
    return float(a * (y * np.linalg.solve(a * np.eye(len(K)) + K, y)).sum())
