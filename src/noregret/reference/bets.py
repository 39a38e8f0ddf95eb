"""Linear quantiles by betting, from (20.8): products over the whole history, no logarithms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from noregret.types import Matrix, Vector

__all__ = ["wealth_and_forecasts"]

SIZES = [2.0**-k for k in range(-3, 21)]


def wealth_and_forecasts(X: Matrix, y: Vector, tau: float) -> tuple[Sequence[float], list[float]]:
    """W of every coordinate at the end, and the forecast of every round, at one level."""
    T, n = X.shape
    stake, said = 0.0, list[float]()
    slopes: list[Vector] = []  # g_t
    bets = [[sign * size for sign in (1.0, -1.0) for size in SIZES] for _ in range(n)]
    factors = [[1.0] * 48 for _ in range(n)]
    start: list[float] = [0.0] * n
    for t in range(T):
        weights = []
        for i in range(n):
            start[i] = start[i] or abs(X[t, i])
            h = abs(X[t, i]) * max(tau, 1.0 - tau)
            scaled = [v / start[i] if start[i] else 0.0 for v in bets[i]]
            played = [v if abs(v) * h <= 0.5 else 0.0 for v in scaled]
            weights.append(stake * sum(f * v for f, v in zip(factors[i], played)) / 48.0)
        said.append(float(np.dot(weights, X[t])))
        slopes.append(-(tau - (y[t] < said[-1])) * X[t])
        if not stake:
            stake = abs(float(y[t]))
            continue
        for i in range(n):
            h = abs(X[t, i]) * max(tau, 1.0 - tau)
            for k, v in enumerate(bets[i]):
                if start[i] and abs(v) / start[i] * h <= 0.5:
                    factors[i][k] *= 1.0 - slopes[-1][i] * v / start[i]
    return [stake * sum(one) / 48.0 for one in factors], said
