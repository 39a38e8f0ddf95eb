"""Noise of unknown variance, dense: the density of all outcomes together, s^2 integrated out."""

from __future__ import annotations

import math

import numpy as np

from noregret.types import Matrix, Vector

__all__ = ["log_losses"]


def log_losses(X: Matrix, y: Vector, prior_precision: float) -> Vector:
    """Log loss of every round: y given the rounds before is Student's about the ridge mean.

    Covariance of y_1..y_t is s^2 (I + XX'/a) with ds^2/s^2 on s^2, so that their density is
    proportional to Gamma(t/2) (pi y'K^-1 y)^(-t/2) det(K)^(-1/2); each round is a ratio of two.
    Rounds up to the first with y'K^-1 y > 0 cost nothing.
    """
    K = np.eye(len(y)) + X @ X.T / prior_precision
    sides, first = [], 0
    for t in range(1, len(y) + 1):
        part, outcomes = K[:t, :t], y[:t]
        fit = float(outcomes @ np.linalg.solve(part, outcomes))
        if first == 0 and fit > 0.0:
            first = t
        nu = t - first + 1
        log_det = float(np.linalg.slogdet(part)[1])
        sides.append(
            0.5 * (nu * math.log(math.pi * fit) + log_det) - math.lgamma(0.5 * nu) if first else 0.0
        )
    found = np.diff(sides, prepend=0.0)
    if first:
        found[first - 1] = 0.0
    return found
