"""What a replay of a pool reads and fills in, laid out as compiled code takes it."""

from __future__ import annotations

import numpy as np

from noregret.types import Matrix, Vector

__all__ = ["Tables"]


class Tables:
    """Forecasts, T x N, or T x N x k of k outcomes per round, and room for the results."""

    __slots__ = ("flat", "forecasts", "losses", "said", "weights", "ys")

    def __init__(self, said: Matrix, y: Matrix, *, weights: bool) -> None:
        T, N = said.shape[:2]
        self.flat = said.ndim == 2
        self.said = np.ascontiguousarray(said[:, :, None] if self.flat else said)
        self.ys = np.ascontiguousarray(y[:, None] if self.flat else y)
        self.forecasts, self.losses = np.empty(self.ys.shape), np.empty(T)
        self.weights = np.empty((T if weights else 0, N))

    def filled(self) -> tuple[Matrix, Vector, Matrix]:
        """Forecasts, as many per round as there are outcomes, losses and weights."""
        forecasts = self.forecasts[:, 0].copy() if self.flat else self.forecasts
        return forecasts, self.losses, self.weights
