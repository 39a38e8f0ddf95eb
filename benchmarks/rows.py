"""Rows to learn from, and one learner's turn at them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

import numpy as np

from noregret.reproduce.timing import Job


@dataclass(frozen=True, slots=True)
class Rows:
    """A linear stream with noise; |x| is about 1 whatever n, so that no peer diverges."""

    X: np.ndarray
    y: np.ndarray

    @property
    def arrays(self) -> list[tuple[np.ndarray, float]]:
        return list(zip(list(self.X), self.y.tolist()))

    @property
    def mappings(self) -> list[tuple[dict[str, float], float]]:
        names = [f"x{j}" for j in range(self.X.shape[1])]
        return [(dict(zip(names, x.tolist())), y) for x, y in self.arrays]


def draw(rounds: int, n: int) -> Rows:
    rng = np.random.default_rng(n)
    X = rng.standard_normal((rounds, n)) / np.sqrt(n)
    return Rows(X, X @ rng.standard_normal(n) + 0.1 * rng.standard_normal(rounds))


def turns(
    predict: Callable[[Any], Any], learn: Callable[[Any, float], Any], rows: list[tuple[Any, float]]
) -> Job:
    """Forecast, then learn, going round the rows for ever."""
    stream = cycle(rows)

    def job(rounds: int) -> None:
        for x, y in islice(stream, rounds):
            predict(x)
            learn(x, y)

    return job


def must_agree(name: str, ours: np.ndarray, theirs: np.ndarray) -> None:
    """Stop the run when a peer has not learned what we have."""
    apart = float(np.abs(ours - theirs).max() / np.abs(ours).max())
    if not apart <= 1e-8:
        raise SystemExit(f"{name} solves another problem: {apart:.1e} apart")
