"""Jamil and Bouchachia, Online Bayesian shrinkage regression, Tables 1 and 2: losses, times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from noregret.gaussian.learners import AAR, Ridge
from noregret.reproduce.shown import Shown
from noregret.reproduce.timing import Job, quartiles, race_rounds
from noregret.running.player import Playable
from noregret.sparse.oslog import OSLOG
from noregret.types import Matrix, Vector

__all__ = ["GRID", "MAKERS", "PUBLISHED", "SHARE", "TIMES", "File", "correlation", "run"]

GRID = np.geomspace(1e-6, 1.0, 241)
SHARE = 0.2  # of the rounds, to choose a

# Table 1 of the paper, ISE: CSL, R2, mean, variance.
PUBLISHED = {
    "AAR": ("0.032", "0.873", "0.002", "0.0003"),
    "ORR": ("0.0232", "0.903", "0.002", "0.0004"),
    "OSLOG": ("0.0210", "0.912", "0.002", "0.0004"),
}
MAKERS: dict[str, Callable[[float], Playable]] = {"AAR": AAR, "ORR": Ridge, "OSLOG": OSLOG}
# Medians of Table 2 in milliseconds, of AAR, ORR and OSLOG.
TIMES = {"gaze": (119.80, 124.11, 72.78), "ISE": (118.17, 117.60, 82.59)}


@dataclass(frozen=True, slots=True)
class File:
    """ise.csv: 8 features, the lira return of the same index among them, in time order."""

    X: Matrix
    y: Vector

    @property
    def early(self) -> int:
        """How many rounds choose a."""
        return round(SHARE * len(self.y))

    def choose(self, make: Callable[[float], Playable]) -> float:
        """The a with the least loss on the first rounds."""
        X, y = self.X[: self.early], self.y[: self.early]
        return float(GRID[int(np.argmin([make(a).replay(X, y).loss.sum() for a in GRID]))])

    def figures(self, forecasts: Vector) -> list[str]:
        """What Table 1 has, and the same without round 1."""
        y, loss = self.y, (self.y - forecasts) ** 2
        fit = 1.0 - loss.sum() / ((y - y.mean()) ** 2).sum()
        return [
            *(f"{value:.5f}" for value in (loss.sum(), loss[1:].sum())),
            *(f"{value:.4f}" for value in (correlation(forecasts, y), self.later(forecasts), fit)),
            *(f"{forecasts.mean():.4f}", f"{forecasts.var(ddof=1):.5f}"),
        ]

    def later(self, forecasts: Vector) -> float:
        """The same without round 1."""
        return correlation(forecasts[1:], self.y[1:])

    def without_lira(self) -> float:
        """The least loss of any learner with any a, with 7 features."""
        X = np.ascontiguousarray(self.X[:, 1:])
        return min(
            float(make(a).replay(X, self.y).loss.sum()) for make in MAKERS.values() for a in GRID
        )


def correlation(g: Vector, y: Vector) -> float:
    """Squared."""
    return float(np.corrcoef(g, y)[0, 1] ** 2)


def run(make: Callable[[], object], rows: list[tuple[Vector, float]]) -> Vector:
    """Predict then learn, from nothing; the forecasts."""
    learner: Any = make()
    predict = getattr(learner, "predict_one", None) or learner.predict
    learn = getattr(learner, "learn_one", None) or learner.learn
    forecasts = np.empty(len(rows))
    for t, (x, y) in enumerate(rows):
        forecasts[t] = predict(x)
        learn(x, y)
    return forecasts


def table1(X: Matrix, y: Vector) -> list[Shown]:
    """Losses on ise.csv, a tuned on the first 20 %."""
    file = File(X, y)
    rows = []
    for name, make in MAKERS.items():
        a = file.choose(make)
        replay = make(a).replay(X, y)
        csl, r2, mean, variance = PUBLISHED[name]
        g = replay.forecast
        ours = [f"{a:.3g}", f"{replay.loss.sum():.4f}", f"{correlation(g, y):.3f}"]
        ours += [f"{g.mean():.3f}", f"{g.var(ddof=1):.4f}"]
        rows += [[f"{name}, published", "", csl, r2, mean, variance], [f"{name}, ours", *ours]]
        if name == "OSLOG":
            late = [f"{replay.loss[1:].sum():.4f}", f"{file.later(g):.3f}"]
            rows.append(["OSLOG, round 1 not counted", f"{a:.3g}", *late, "", ""])
    notes = [
        f"{len(y)} rounds, {X.shape[1]} features, no intercept, time order.",
        f"a has the least loss on the first {100 * SHARE:.0f} % of the rounds, of {len(GRID)}.",
        "AAR's and ORR's losses come out as printed, AAR's R2 (squared correlation) but for a unit",
        "in the last digit. OSLOG differs: its weights start at 1, so its first forecast is the",
        "sum of the features, and that round costs a fifth of the whole. The printed figures are",
        "those without round 1, or of another start. The gaze data are not to be had.",
    ]
    head = ["", "a", "CSL", "R2", "mean", "variance"]
    return [Shown("Table 1: losses", head, rows, notes)]


def table2(X: Matrix, y: Vector, *, seconds: float = 3.0) -> list[Shown]:
    """Times of a run, as multiples of AAR's."""
    file = File(X, y)
    pairs = list(zip(list(X), y.tolist()))
    made = {name: partial(make, file.choose(make)) for name, make in MAKERS.items()}

    def loop(make: Callable[[], Playable], _: int) -> object:
        return run(make, pairs)

    def replay(make: Callable[[], Playable], _: int) -> object:
        return make().replay(X, y)

    ways: dict[str, dict[str, Job]] = {
        "one at a time": {name: partial(loop, make) for name, make in made.items()},
        "replay": {name: partial(replay, make) for name, make in made.items()},
    }
    rows = [
        [f"{data}, published", *(f"{value / times[0]:.2f}" for value in times)]
        for data, times in TIMES.items()
    ]
    for way, jobs in ways.items():
        for job in jobs.values():
            job(1)
        race = race_rounds(jobs, dict.fromkeys(jobs, 1), seconds=seconds)
        ratios = [quartiles(race.seconds[name] / race.seconds["AAR"]) for name in MAKERS]
        rows.append([f"ISE, ours, {way}", *map(str, ratios)])
    notes = [
        "A run's time as a multiple of AAR's: median and quartiles over repetitions in turns.",
        "In the paper all three solve a system every round. AAR and ridge here update a factor",
        "instead, in O(n^2); OSLOG has no such update, so it costs more, not less.",
    ]
    return [Shown("Table 2: times", ["", *MAKERS], rows, notes)]
