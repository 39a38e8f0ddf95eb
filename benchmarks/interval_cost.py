"""What intervals cost: rounds with them and without, side by side in one run.

    python benchmarks/interval_cost.py

Prints the paragraph that benchmarks/intervals.py puts into docs/intervals.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import noregret as nr

FEATURES, ROWS, ROUNDS, PAIRS = 20, 20_000, 2_000, 41


def stream() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, FEATURES))
    return X, X @ rng.normal(size=FEATURES) + rng.standard_t(3, size=ROWS)


def seconds(play: Callable[[], object]) -> float:
    begin = time.thread_time()
    play()
    return time.thread_time() - begin


def paired(plain: Callable[[], object], more: Callable[[], object]) -> tuple[float, float]:
    """Medians over pairs of runs: seconds of the plain one, and what the other adds to it."""
    pairs = np.array([(seconds(plain), seconds(more)) for _ in range(PAIRS)])
    return float(np.median(pairs[:, 0])), float(np.median(pairs[:, 1] / pairs[:, 0])) - 1.0


def one_by_one(learner: nr.AAR | nr.Intervals, X: np.ndarray, y: np.ndarray) -> None:
    for x, outcome in zip(X, y.tolist()):
        learner.learn_one(x, outcome)


def cost() -> str:
    """The paragraph."""
    X, y = stream()
    whole, share = paired(
        lambda: nr.AAR().replay(X, y), lambda: nr.Intervals(nr.AAR()).replay(X, y)
    )
    few, ys = X[:ROUNDS], y[:ROUNDS]
    alone, slower = paired(
        lambda: one_by_one(nr.AAR(), few, ys), lambda: one_by_one(nr.Intervals(nr.AAR()), few, ys)
    )
    us, each = whole / ROWS * 1e6, alone / ROUNDS * 1e6
    return (
        f"One coverage around `nr.AAR` with {FEATURES} features adds {100 * share:.0f} % to a "
        f"replay ({us:.2f} us per\nround without) and {slower * each:.2f} us to a `learn_one` "
        f"({each:.2f} us without): medians of {PAIRS} pairs of\nruns, side by side."
    )


if __name__ == "__main__":
    print(cost())
