"""How good the forecasts were: errors by horizon, beside the naive ones, on the same steps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from noregret.declare.fields import Array, Count
from noregret.learner.replay import module
from noregret.types import Integers, Matrix

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Score", "Scores", "Tally", "add_errors"]

BUCKETS = 30  # of the last stretch


class Tally:
    """Sums of square and absolute errors by horizon and forecast, and those of the last stretch."""

    __slots__ = ("buckets", "labels", "length", "skip", "sums")

    FIELDS = (
        Array("sums", ("H", "forecasts", 3)),
        Array("buckets", (BUCKETS, "H", "forecasts", 3)),
        Array("labels", (BUCKETS,)),
        Count("length", 1),
        Count("skip"),
    )

    def __init__(
        self, sums: Matrix, buckets: Matrix, labels: Matrix, length: int, skip: int
    ) -> None:
        self.sums, self.buckets, self.labels = sums, buckets, labels  # square, absolute, rounds
        self.length, self.skip = length, skip

    @classmethod
    def start(cls, horizon: int, forecasts: int, stretch: int, skip: int) -> Tally:
        """Nothing has been forecast."""
        sums = np.zeros((horizon, forecasts, 3))
        buckets = np.zeros((BUCKETS, horizon, forecasts, 3))
        return cls(sums, buckets, np.full(BUCKETS, -1.0), max(stretch // BUCKETS, 1), skip)

    def copy(self) -> Tally:
        """One that shares nothing with this one."""
        return Tally(
            self.sums.copy(), self.buckets.copy(), self.labels.copy(), self.length, self.skip
        )

    def book(self, h: int, steps: Integers, errors: Matrix) -> None:
        """Add the errors of steps at horizon h, one column per forecast; NaN: there is none."""
        real = (steps >= self.skip) & ~np.isnan(errors[:, 0])
        steps, errors = steps[real], errors[real]
        if not len(steps):
            return
        add_errors(self.sums[h - 1], errors)
        buckets = steps // self.length
        for label in np.unique(buckets)[-BUCKETS:].tolist():
            place = label % BUCKETS
            if self.labels[place] != label:
                self.labels[place], self.buckets[place] = label, 0.0
            add_errors(self.buckets[place, h - 1], errors[buckets == label])

    def last(self) -> Matrix:
        """The sums of the last stretch."""
        recent = self.labels > self.labels.max() - BUCKETS
        total: Matrix = self.buckets[recent].sum(axis=0)
        return total


def add_errors(sums: Matrix, errors: Matrix) -> None:
    """Add squares, sizes and counts, one row after the other: cuts leave no trace.

    NaN stands for a forecast that was not there.
    """
    there = ~np.isnan(errors)
    errors = np.where(there, errors, 0.0)
    sums[:, 0] = np.cumsum(np.vstack([sums[:, 0], errors**2]), axis=0)[-1]
    sums[:, 1] = np.cumsum(np.vstack([sums[:, 1], np.abs(errors)]), axis=0)[-1]
    sums[:, 2] += there.sum(axis=0)


@dataclass(frozen=True, slots=True)
class Score:
    """The errors of one forecast at one horizon."""

    name: str
    horizon: int
    rmse: float
    mae: float
    last_rmse: float
    last_mae: float
    rounds: int


@dataclass(frozen=True, slots=True)
class Scores:
    """Errors of the forecasts issued and of every baseline, by horizon, on the same steps.

    table : one Score for each horizon and forecast; "forecast" is the forecasts issued.
    left_out : how many steps at the start are not scored.
    stretch : what the last stretch is called.
    """

    table: tuple[Score, ...]
    left_out: int
    stretch: str

    @classmethod
    def of(cls, tally: Tally, names: Sequence[str], stretch: str) -> Scores:
        """From the sums."""
        last = tally.last()
        table = [
            Score(name, h, *_errors(whole[j]), *_errors(late[j]), int(whole[j, 2]))
            for h, (whole, late) in enumerate(zip(tally.sums, last), 1)
            for j, name in enumerate(names)
        ]
        return cls(tuple(table), tally.skip, stretch)

    def at(self, horizon: int) -> list[Score]:
        """The scores at one horizon, the forecasts issued first."""
        return [score for score in self.table if score.horizon == horizon]

    def best(self, horizon: int) -> Score:
        """The baseline with the least RMSE at a horizon."""
        return min(self.at(horizon)[1:], key=lambda s: s.rmse if s.rmse == s.rmse else math.inf)

    def skill(self, horizon: int) -> float:
        """1 - RMSE / RMSE of the best baseline; NaN where that is 0 or nothing was scored."""
        best = self.best(horizon).rmse
        return 1.0 - self.at(horizon)[0].rmse / best if best > 0.0 else math.nan

    def to_frame(self) -> pd.DataFrame:
        """A pandas frame, one row per horizon and forecast."""
        columns = Score.__slots__
        rows = {name: [getattr(score, name) for score in self.table] for name in columns}
        return module("pandas", "to_frame").DataFrame(rows)

    def __str__(self) -> str:
        horizons = sorted({score.horizon for score in self.table})
        shown = horizons if len(horizons) <= 2 else [horizons[0], horizons[-1]]
        lines = []
        for h in shown:
            lines.append(f"{h} step{'s' * (h > 1)} ahead{'':<15} RMSE       MAE  {self.stretch}")
            lines += [
                f"  {s.name:<22}{s.rmse:>10.4g}{s.mae:>10.4g}{s.last_rmse:>14.4g}"
                for s in self.at(h)
            ]
        return "\n".join(lines)


def _errors(sums: Matrix) -> tuple[float, float]:
    square, absolute, rounds = sums.tolist()
    if not rounds:
        return math.nan, math.nan
    return math.sqrt(square / rounds), absolute / rounds
