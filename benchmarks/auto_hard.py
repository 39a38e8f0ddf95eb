"""Streams with something wrong: wild values, offsets, outliers, shifts, heavy tails."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

__all__ = ["Case", "cases"]

FIRST, ROWS = 20, 2_000
CLEAN = "clean"


def rmse(errors: np.ndarray) -> float:
    return float(np.sqrt(np.mean(errors**2)))


def median(errors: np.ndarray) -> float:
    return float(np.median(np.abs(errors)))


class Case(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    first: int = FIRST  # the first row that counts
    score: Callable[[np.ndarray], float] = rmse
    harmless: bool = False  # asked: within 5 % of the clean run

    def scored(self, said: np.ndarray) -> float:
        return self.score(self.y[self.first :] - said[self.first :])


def cases() -> dict[str, Case]:
    """A clean linear stream, and what may be wrong with one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 5))
    X[:, ::2] += 2.0
    f = 5.0 + X @ [1.0, -2.0, 0.5, 3.0, 0.0]
    y = f + 0.5 * rng.normal(size=ROWS)

    def put(row: int, column: int | slice, value: float) -> np.ndarray:
        Z = X.copy()
        Z[row, column] = value
        return Z

    def harmless(Z: np.ndarray) -> Case:
        return Case(Z, y, harmless=True)

    step, spike = y.copy(), y.copy()
    step[1000:] += 30.0
    spike[100] = 1e6
    found = {CLEAN: Case(X, y)}
    found |= {f"first value {v:g}": harmless(put(0, 0, v)) for v in (1e-6, 1e-12, 1e3, 1e6)}
    found |= {f"first row {v:g}": harmless(put(0, slice(None), v)) for v in (1e-6, 1e4, 1e6)}
    found |= {f"features + {v:g}": harmless(X + v) for v in (1e3, 1e5)}
    found |= {
        "y + 30 from row 1,000, rows after": Case(X, step, 1000),
        "y = 1e6 in row 100, rows after": Case(X, spike, 101),
        "y = 1e6 in row 100, rows 1,000 on": Case(X, spike, 1000),
        "a feature = 1e6 in row 100, rows after": Case(put(100, 0, 1e6), y, 101),
        "50 irrelevant features": Case(np.hstack([X, rng.normal(size=(ROWS, 50))]), y),
        "five constant columns": Case(np.hstack([X, np.tile(np.arange(1.0, 6.0), (ROWS, 1))]), y),
        "every column three times": Case(np.hstack([X] * 3), y),
        "noise t with 2 degrees": Case(X, f + 0.5 * rng.standard_t(2, ROWS)),
    }
    cauchy = f + 0.5 * rng.standard_cauchy(ROWS)
    level, effects = rng.integers(0, 200, 3000), 2.0 * rng.normal(size=200)
    one_hot = np.eye(200)[level]
    return found | {
        "Cauchy noise, median absolute error": Case(X, cauchy, score=median),
        "one-hot of 200 levels, 3,000 rows": Case(
            one_hot, effects[level] + 0.5 * rng.normal(size=3000)
        ),
    }
