"""The contestants: each forecasts x, then learns its outcome, in two calls."""

from __future__ import annotations

import numpy as np


class NumpyRLS:
    """Recursive least squares as a page of NumPy: Sherman-Morrison on P = A^-1.

    It forecasts what AAR forecasts, m/d, and learning reuses what forecasting computed.
    """

    def __init__(self, n: int, prior_precision: float = 1.0) -> None:
        self.w = np.zeros(n)
        self.P = np.eye(n) / prior_precision

    def predict(self, x: np.ndarray) -> float:
        self.Px = self.P @ x
        self.d = 1.0 + x @ self.Px
        self.m = self.w @ x
        return self.m / self.d

    def learn(self, x: np.ndarray, y: float) -> None:  # noqa: ARG002  # the look at x is kept
        gain = self.Px / self.d
        self.w += gain * (y - self.m)
        self.P -= np.outer(self.Px, gain)


class PadasipRLS:
    """padasip's RLS filter without forgetting."""

    def __init__(self, n: int, prior_precision: float = 1.0) -> None:
        from padasip.filters import FilterRLS

        self.filter = FilterRLS(n, mu=1.0, eps=prior_precision, w="zeros")

    @property
    def w(self) -> np.ndarray:
        return self.filter.w

    def predict(self, x: np.ndarray) -> float:
        return self.filter.predict(x)

    def learn(self, x: np.ndarray, y: float) -> None:
        self.filter.adapt(y, x)


class RandomWalkKalman:
    """filterpy's Kalman filter with weights as its state: F = I, Q = drift I, H = x, R = 1."""

    def __init__(self, n: int, drift: float, prior_precision: float = 1.0) -> None:
        from filterpy.kalman import KalmanFilter

        self.filter = KalmanFilter(dim_x=n, dim_z=1)
        self.filter.P = np.eye(n) / prior_precision
        self.filter.Q = drift * np.eye(n)

    @property
    def w(self) -> np.ndarray:
        return self.filter.x[:, 0]

    def predict(self, x: np.ndarray) -> float:
        return float(x @ self.filter.x[:, 0])

    def learn(self, x: np.ndarray, y: float) -> None:
        self.filter.update(y, H=x[None, :])
        self.filter.predict()
