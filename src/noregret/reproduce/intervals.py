"""Intervals about stored forecasts of electricity demand: published methods beside ours.

Scores per side, y - f and f - y, half of the misses on each; figures from row 300 on.  ACI: Gibbs
and Candes (2021); quantile tracker: Angelopoulos, Candes and Tibshirani (2023); SF-OGD: Bhatnagar,
Wang, Xiong and Bai (2023); DtACI: Gibbs and Candes (2024).
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import noregret as nr
from noregret.reproduce import interval_peers
from noregret.reproduce.shown import Shown
from noregret.types import Vector

__all__ = ["GIVEN", "METHODS", "Bands", "Figures", "aci", "dtaci", "measured", "sf_ogd", "tables"]

BURN_IN = 300  # rows
GIVEN = {
    "ACI(0.005)": "0.903 / 0.1035 / 0.1283",
    "tracker(0.1)": "0.900 / 0.0950 / 0.1228",
    "SF-OGD": "0.901 / 0.1212 / 0.1640",
    "DtACI": "",
    "nr.Intervals": "",
}
Side = Callable[[Vector, float, int], Vector]


class Bands(NamedTuple):
    """Lower and upper ends."""

    low: Vector
    high: Vector


class Figures(NamedTuple):
    """How well intervals did from some row on."""

    cover: float
    width: float
    winkler: float
    worst: float  # coverage of the worst 500 rounds in a row

    def __str__(self) -> str:
        return f"{self.cover:.3f} / {self.width:.4f} / {self.winkler:.4f}"


def measured(y: Vector, bands: Bands, alpha: float = 0.1, start: int = BURN_IN) -> Figures:
    """Coverage, mean width and mean Winkler score: width + 2/alpha times how far y is outside."""
    y, low, high = y[start:], bands.low[start:], bands.high[start:]
    covered, width = (low <= y) & (y <= high), high - low
    outside = np.maximum(low - y, 0.0) + np.maximum(y - high, 0.0)
    sums = np.concatenate([[0.0], np.cumsum(covered)])
    window = min(500, len(y))
    worst = float((sums[window:] - sums[:-window]).min()) / window
    score = float((width + 2.0 / alpha * outside).mean())
    return Figures(float(covered.mean()), float(width.mean()), score, worst)


def aci(scores: Vector, alpha: float, burn_in: int = BURN_IN, gamma: float = 0.005) -> Vector:
    """Adaptive conformal inference: quantiles of all scores before, at a level that adapts."""
    ends, level = np.full(len(scores), np.inf), alpha
    ordered: list[float] = []
    for t, s in enumerate(scores.tolist()):
        if t > burn_in:
            ends[t] = _quantile(ordered, level)
            level += gamma * (alpha - (s > ends[t]))
        elif t > math.ceil(1.0 / alpha):
            ends[t] = np.quantile(ordered, 1.0 - alpha)
        bisect.insort(ordered, s)
    return ends


def _quantile(ordered: list[float], level: float) -> float:
    """The score that a share 1 - level does not exceed, the higher of two; infinite beyond."""
    if level <= 1.0 / (len(ordered) + 1):
        return math.inf
    place = math.ceil((len(ordered) - 1) * (1.0 - min(level, 1.0)))
    return ordered[place]


def tracker(scores: Vector, alpha: float, burn_in: int = BURN_IN) -> Vector:
    """The quantile tracker: steps of a tenth of the range of the scores before, the first 0.1."""
    ends, end = np.zeros(len(scores)), 0.0
    for t, s in enumerate(scores.tolist()):
        ends[t] = end
        step = 0.1 * np.ptp(scores[max(t - burn_in, 0) : t]) if t else 0.1
        end += step * ((s > end) - alpha)
    return ends


def sf_ogd(scores: Vector, alpha: float, burn_in: int = BURN_IN) -> Vector:
    """Scale-free gradient descent; its one step size is the largest score of the burn-in."""
    ends, end, squares = np.zeros(len(scores)), 0.0, 0.0
    size = float(np.abs(scores[:burn_in]).max())
    for t, s in enumerate(scores.tolist()):
        ends[t] = end
        slope = alpha - (s > end)
        squares += slope * slope
        end -= size * slope / math.sqrt(squares)
    return ends


def dtaci(scores: Vector, alpha: float, burn_in: int = BURN_IN) -> Vector:
    """Dynamically tuned ACI: eight rates under Fixed Share on the pinball loss of levels."""
    gammas, interval = 0.001 * 2.0 ** np.arange(8), 100
    spread = (1.0 - alpha) ** 2 * alpha**3 + alpha**2 * (1.0 - alpha) ** 3
    rate = math.sqrt(3.0 / interval * (math.log(2.0 * 8 * interval) + 1.0) / spread)
    share, levels, weights = 1.0 / (2.0 * interval), np.full(8, alpha), np.full(8, 0.125)
    ends = np.full(len(scores), np.inf)
    ordered: list[float] = []
    for t, s in enumerate(scores.tolist()):
        n = len(ordered)
        if t > math.ceil(1.0 / alpha):
            ends[t] = _quantile(ordered, float(weights @ levels))
            best = (n - bisect.bisect_left(ordered, s)) / (n + 1.0)  # the level s would have
            loss = alpha * (best - levels) - np.minimum(0.0, best - levels)
            weights = weights * np.exp(-rate * (loss - loss.min()))
            weights = (1.0 - share) * weights / weights.sum() + share / 8
            levels = levels + gammas * (alpha - (levels > best))
        bisect.insort(ordered, s)
        if n >= burn_in:
            del ordered[bisect.bisect_left(ordered, float(scores[t - burn_in]))]
    return ends


def per_side(method: Side, y: Vector, forecasts: Vector, burn_in: int = BURN_IN) -> Bands:
    """A method on both sides, half of 10 % each; infinite ends at the largest score so far."""
    ends = []
    for sign in (-1.0, 1.0):
        scores = sign * (y - forecasts)
        largest = np.maximum.accumulate(np.concatenate([[0.0], np.abs(scores)]))[:-1]
        found = method(scores, 0.05, burn_in)
        ends.append(forecasts + sign * np.where(np.isinf(found), largest, found))
    return Bands(*ends)


METHODS: dict[str, Side] = {
    "ACI(0.005)": aci,
    "tracker(0.1)": tracker,
    "SF-OGD": sf_ogd,
    "DtACI": dtaci,
}


def tables(forecasts: Vector, y: Vector) -> list[Shown]:
    """Published figures beside ours."""
    found = {name: measured(y, per_side(method, y, forecasts)) for name, method in METHODS.items()}
    replay = nr.Intervals(coverage=0.9).replay(forecasts, y)
    assert replay.low is not None
    assert replay.high is not None
    found["nr.Intervals"] = measured(y, Bands(replay.low, replay.high))
    for name, made in interval_peers.installed().items():
        found[name] = measured(y, Bands(*made(y, forecasts, BURN_IN)))
    rows = [[name, GIVEN.get(name, ""), str(figures)] for name, figures in found.items()]
    notes = [
        "Cover / mean width / mean Winkler score of 90 % intervals, rows 300 to 1999.",
        "Steps of the tracker: a tenth of the range of 300 scores; of SF-OGD: the largest of 300.",
        "MAPIE's TimeSeriesRegressor (ACI) and river's jackknife where they are installed.",
    ]
    return [Shown("elec2 demand, stored AR forecasts", ["", "given", "redone"], rows, notes)]
