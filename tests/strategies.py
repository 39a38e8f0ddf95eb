"""The one place where random streams are made: benign, adversarial, collinear, scaled, drifting."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

SHAPES = (
    "random",
    "alternating",
    "collinear",
    "identical",
    "scaled",
    "offset",
    "zeros",
    "drifting",
    "outlier",
    "constant",
)


@dataclass(frozen=True, eq=False)
class Rows:
    """A stream: X (T, n), Y (T, m), and what shaped it."""

    X: np.ndarray
    Y: np.ndarray
    shape: str

    @property
    def y(self) -> np.ndarray:
        return self.Y[:, 0]

    def __repr__(self) -> str:
        return f"Rows({self.shape}, X={self.X.tolist()}, Y={self.Y.tolist()})"


precisions = st.sampled_from([1e-6, 1e-3, 0.1, 0.7, 1.0, 3.0, 10.0, 1e3])
drifts = st.sampled_from([1e-8, 1e-3, 0.05, 1.0, 30.0])


@st.composite
def rows(draw, max_rounds: int = 14, max_features: int = 4, max_outcomes: int = 1) -> Rows:
    """A short stream of one of the SHAPES; numbers are multiples of 2^-10 before shaping."""
    T = draw(st.integers(1, max_rounds))
    n = draw(st.integers(1, max_features))
    m = draw(st.integers(1, max_outcomes))
    shape = draw(st.sampled_from(SHAPES))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))

    def grid(*size: int) -> np.ndarray:
        return rng.integers(-2048, 2049, size=size) / 1024.0

    X = grid(T, n)
    w = grid(n, m)
    Y = X @ w + grid(T, m) / 4.0
    if shape == "alternating":  # Vovk's stream: growing inputs, outcomes of changing sign
        X = np.broadcast_to(2.0 ** np.arange(T)[:, None] % 1e3, (T, n)).copy()
        Y = np.where(np.arange(T)[:, None] % 2, -1.0, 1.0) * np.ones((T, m))
    elif shape == "collinear":
        X[:, -1] = X[:, 0] + 1e-6 * grid(T)
    elif shape == "identical":
        X[:, -1] = X[:, 0]
    elif shape == "scaled":
        X = X * 2.0 ** rng.integers(-20, 21, size=n)
        Y = grid(T, m)
    elif shape == "offset":
        X[:, 0] = 1.0
        X[:, 1:] += 1024.0
    elif shape == "zeros":
        X[rng.random((T, n)) < 0.6] = 0.0
    elif shape == "drifting":
        walk = np.cumsum(grid(T, n) / 4.0, axis=0)
        Y = (X * walk).sum(axis=1, keepdims=True) + grid(T, m) / 8.0
    elif shape == "outlier":
        X[rng.integers(T)] *= 2.0**17
        Y[rng.integers(T)] *= 2.0**7
    elif shape == "constant":
        X[:] = X[0]
        Y[:] = Y[0]
    return Rows(np.ascontiguousarray(X), np.ascontiguousarray(Y), shape)


@st.composite
def drift_schedules(draw, rounds: int) -> np.ndarray:
    """a_1, a_2, ..., all positive: constant, growing or at random."""
    kind = draw(st.sampled_from(["constant", "growing", "random"]))
    first = draw(precisions)
    if kind == "constant":
        rest = np.full(rounds, 1.0 / draw(drifts))
    elif kind == "growing":
        rest = np.arange(2.0, rounds + 2.0) ** 1.5
    else:
        rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
        rest = 10.0 ** rng.uniform(-1.5, 4.0, size=rounds)
    return np.concatenate([[first], rest])[:rounds]


@st.composite
def normal_tables(draw, lo: float, hi: float) -> tuple[np.ndarray, np.ndarray]:
    """Normal experts, sharp and vague, far off and near, some asleep; outcomes of any kind."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    T, N = draw(st.integers(1, 12)), draw(st.integers(1, 5))
    y = draw(
        st.sampled_from(
            [rng.uniform(lo, hi, T), np.full(T, hi), np.where(rng.random(T) < 0.5, lo, hi)]
        )
    )
    means = rng.normal(size=(T, N)) * 10.0 ** draw(st.integers(-1, 2))
    said = np.stack([means, 10.0 ** rng.uniform(-8, 3, (T, N))], axis=2)
    gone = rng.random((T, N)) < draw(st.sampled_from([0.0, 0.4]))
    gone[np.arange(T), rng.integers(0, N, T)] = False
    said[gone] = np.nan
    return said, y
