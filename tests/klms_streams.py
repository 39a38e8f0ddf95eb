"""Streams for K-LMS-NET: smooth ones, and ones whose outputs are clipped."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Stream:
    X: np.ndarray
    y: np.ndarray
    scale: float
    eta: float
    span: tuple[float, float]

    def __str__(self) -> str:
        return f"n{self.X.shape[1]}-s{self.scale:g}-eta{self.eta:g}"


def _stream(seed: int, n: int, scale: float, rounds: int = 50) -> Stream:
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(rounds, n))
    f = 0.5 * np.sin(6.0 * X[:, 0]) + 0.3 * (X.sum(axis=1) - n / 2.0) / np.sqrt(n)
    noisy = np.clip(f + 0.1 * rng.standard_normal(rounds), -1.0, 1.0)
    y, span = (
        (noisy, (-1.0, 1.0)),
        (2.0 * np.clip(1.6 * f, -0.5, 0.5), (-1.0, 1.0)),  # often at an end of the range
        (3.0 * (f > 0.0), (0.0, 3.0)),  # always
    )[seed % 3]
    return Stream(X, y, scale, (0.5, 0.2, 0.8)[seed % 3], span)


STREAMS = [
    _stream(seed, n, scale)
    for seed, (n, scale) in enumerate(
        [
            *((1, 0.1), (2, 0.1), (5, 0.1), (1, 1.0), (3, 1.0), (5, 1.0), (2, 3.0)),
            *((1, 10.0), (2, 10.0), (5, 10.0), (4, 25.0), (1, 50.0), (3, 50.0), (5, 50.0)),
            *((2, 50.0), (4, 0.5)),
        ]
    )
]
