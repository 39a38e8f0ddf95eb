"""Learners of binary outcomes: losses on real files, approximations against exact averaging, speed.

    python benchmarks/logistic.py [--data FOLDER] [--speed]

Writes docs/logistic.md; with --speed only the last two sections of the page that is there.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import data
import numpy as np
import scipy.linalg  # noqa: F401  # its BLAS must be there when threads are limited
from logistic_losses import losses
from logistic_speed import TITLE, mappings, newton
from page import Section, machine
from threadpoolctl import threadpool_limits

import noregret as nr
from noregret.errors import NumericalError

PAGE = Path(__file__).resolve().parents[1] / "docs" / "logistic.md"
ROUNDS = 60
PRIOR_VARS = (0.25, 4.0, 64.0)
KINDS = ("alternating", "separable", "switching", "iid in x", "iid, nine in ten", "coin")
METHODS = {
    "tierney-kadane": lambda v: nr.BayesianLogistic(v, method="tierney-kadane"),
    "smc": lambda v: nr.BayesianLogistic(v, method="smc"),
    "adf": lambda v: nr.BayesianLogistic(v, method="adf"),
    "MAP": nr.MAPLogistic,
    "MAP, history=False": lambda v: nr.MAPLogistic(v, history=False),
}
INTRODUCTION = """\
# Binary outcomes

Written by `make logistic`. One BLAS thread; trust ratios of times, not microseconds.
"""


def labels(kind: str, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    early, right = np.arange(len(X)) < len(X) // 2, X[:, 0] > 0.0
    if kind == "alternating":
        return np.arange(len(X)) % 2
    if kind == "separable":
        return right.astype(int)
    if kind == "switching":
        return (right == early).astype(int)
    chances = {"iid in x": 1.0 / (1.0 + np.exp(-3.0 * X[:, 0])), "coin": 0.5}
    chance = chances.get(kind, 0.9)
    return (rng.random(len(X)) < chance).astype(int)


def problems() -> Iterator[tuple[str, float, np.ndarray, np.ndarray]]:
    """Kind, prior_var, inputs with |x| <= 1, labels."""
    rng = np.random.default_rng(0)
    for n in (1, 2):
        for prior_var in PRIOR_VARS:
            for kind in KINDS:
                X = rng.uniform(-1.0, 1.0, (ROUNDS, n))
                X /= np.maximum(1.0, np.linalg.norm(X, axis=1))[:, None]
                if kind == "alternating":
                    X = np.full((ROUNDS, n), 1.0 / np.sqrt(n))
                yield kind, prior_var, X, labels(kind, X, rng)


def approximations() -> Section:
    """By how much more each method loses than exact averaging."""
    excess = {name: {v: [] for v in PRIOR_VARS} for name in METHODS}
    apart = dict.fromkeys(METHODS, 0.0)
    count, refused = 0, []
    for kind, prior_var, X, y in problems():
        try:
            exact = nr.BayesianLogistic(prior_var, method="exact").replay(X, y)
        except NumericalError:
            refused.append(f"{kind}, n = {X.shape[1]}, prior_var {prior_var:g}")
            continue
        count += 1
        for name, make in METHODS.items():
            replay = make(prior_var).replay(X, y)
            excess[name][prior_var].append(float(replay.loss.sum() - exact.loss.sum()))
            gap = np.abs(np.asarray(replay.forecast) - np.asarray(exact.forecast)).max()
            apart[name] = max(apart[name], float(gap))
    section = Section(
        "Approximations against exact averaging",
        f"""
{count} problems of {ROUNDS} rounds with one or two weights and |x| at most 1: alternating labels at
one x, labels by the sign of the first feature, the same with the sign turned half-way, labels drawn
from a logistic model in x, labels that are 1 nine times in ten whatever x, and a fair coin's; each
with prior_var {", ".join(f"{v:g}" for v in PRIOR_VARS)}. Cumulative log loss beyond that of
`method="exact"`, in nats (below 0: lucky), the largest for each prior_var, and the largest
difference of a probability in any round. smc has 1,000 particles.
""",
        [
            "",
            "worst excess",
            "median",
            "least",
            *(f"worst, prior_var {v:g}" for v in PRIOR_VARS),
            "largest error of a probability",
        ],
    )
    if refused:
        section.notes.append(f"Refused by exact averaging, and left out: {'; '.join(refused)}.")
    for name, found in excess.items():
        values = np.concatenate(list(found.values()))
        figures = [values.max(), np.median(values), values.min(), *map(max, found.values())]
        section.rows.append([name, *(f"{v:+.3f}" for v in figures), f"{apart[name]:.3f}"])
    return section


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=data.FOLDER)
    parser.add_argument("--speed", action="store_true", help="measure times only")
    options = parser.parse_args()
    if not options.speed and not data.there(options.data):
        return
    begin = perf_counter()
    with threadpool_limits(1):
        speed = [section.markdown() for section in (mappings(), newton())]
        print(*speed, f"speed  {perf_counter() - begin:.0f} s", sep="\n", flush=True)
        if options.speed:
            head = PAGE.read_text(encoding="utf-8").partition(f"## {TITLE}")[0]
        else:
            study = approximations().markdown()
            print(study, f"approximations  {perf_counter() - begin:.0f} s", sep="\n", flush=True)
            parts = [INTRODUCTION, machine(), *losses(options.data), study, ""]
            head = "\n".join(parts)
    PAGE.write_text(head + "\n".join(speed), encoding="utf-8")
    print(f"wrote docs/{PAGE.name} after {perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
