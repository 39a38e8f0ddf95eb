"""The naive forecasts beside a learner's: is it any good?  O(1) per row.

The mean of the outcomes so far (of labels: the share of 1 so far) and the last outcome, each known
before the next one comes, scored on the same rows as the learner.  Where forecasts of others are
merged, these too, each on the rows that it has, and their plain mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from noregret.forecasting.scores import add_errors
from noregret.types import Matrix, Vector

__all__ = ["Baselines", "Errors"]

NAMES = ("forecast", "mean so far", "last value")
BUCKETS = 128  # an even number


@dataclass(frozen=True, slots=True)
class Errors:
    """What one forecast got wrong: on all rows, and on the last stretch."""

    name: str
    rmse: float
    mae: float
    last_rmse: float
    log_loss: float = math.nan  # per row, of probabilities
    right: float = math.nan  # the share of labels that were the likelier one


@dataclass(slots=True)
class Baselines:
    """Sums of errors of the learner and of both naive forecasts.

    >>> beside = Baselines()
    >>> beside.add(np.array([1.0, 3.0, 5.0]), np.array([0.0, 3.0, 5.0]))
    >>> [(one.name, round(one.rmse, 3)) for one in beside.errors()]
    [('forecast', 0.0), ('mean so far', 2.55), ('last value', 2.0)]
    """

    rows: int = 0  # outcomes so far
    total: float = 0.0
    last: float = 0.0
    others: tuple[str, ...] = ()  # whose forecasts are merged
    sums: Matrix = field(init=False)  # by forecast: e^2, |e|, rounds
    labels: Matrix = field(init=False)  # of 0/1, of the first three: log losses, hits
    length: int = 1  # rows of a bucket
    buckets: Matrix = field(init=False)  # of sums, by row // length

    def __post_init__(self) -> None:
        K = len(self.names)
        self.sums, self.labels = np.zeros((K, 3)), np.zeros((3, 2))
        self.buckets = np.zeros((BUCKETS, K, 3))

    @property
    def names(self) -> tuple[str, ...]:
        """Whose errors are added up."""
        return (*NAMES, *self.others, "their mean") if self.others else NAMES

    def add(self, y: Vector, forecast: Vector, said: Matrix | None = None) -> None:
        """Rows in a row that have outcomes; the first outcome of all is not scored.

        `said` has the forecasts of the others, NaN where there is none.
        """
        before = np.cumsum(np.concatenate([[self.total], y]))
        rows = self.rows + np.arange(len(y))
        mean = before[:-1] / np.maximum(rows, 1)
        last = np.concatenate([[self.last], y])[:-1]
        columns = [forecast, mean, last]
        if said is not None and self.others:
            columns += [*said.T, _plain_mean(said)]
        errors = y[:, None] - np.column_stack(columns)
        scored = (rows > 0) & ~np.isnan(forecast)
        add_errors(self.sums, errors[scored])
        if np.isin(y, (0.0, 1.0)).all():
            share = (before[:-1] + 0.5) / (rows + 1.0)  # Krichevsky and Trofimov's
            said = np.column_stack([forecast, share, last])[scored]
            with np.errstate(divide="ignore", invalid="ignore"):
                chances = np.where(y[scored, None] == 1.0, said, 1.0 - said)
                self.labels[:, 0] -= np.log(chances).sum(axis=0)
            self.labels[:, 1] += (chances > 0.5).sum(axis=0)
        self.rows, self.total, self.last = self.rows + len(y), float(before[-1]), float(y[-1])
        while (self.rows - 1) // self.length >= BUCKETS:
            self.length *= 2
            joined = self.buckets[0::2] + self.buckets[1::2]
            self.buckets = np.concatenate([joined, np.zeros_like(joined)])
        homes = rows // self.length
        for home in np.unique(homes).tolist():
            add_errors(self.buckets[home], errors[scored & (homes == home)])

    @property
    def late(self) -> int:
        """From which bucket on the last stretch is: a tenth of all, at least."""
        return 9 * self.rows // (10 * self.length)

    @property
    def stretch(self) -> int:
        """How many rows the last stretch has."""
        return self.rows - self.late * self.length

    def errors(self) -> list[Errors]:
        """Of the learner first."""
        late = self.buckets[self.late :].sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            known = np.where(self.labels.any(), self.labels, np.nan)  # else outcomes are numbers
            labels = (known / self.sums[:3, 2:]).tolist()
        return [
            Errors(name, *_means(self.sums[k]), _means(late[k])[0], *(labels[k] if k < 3 else ()))
            for k, name in enumerate(self.names)
        ]


def _plain_mean(said: Matrix) -> Vector:
    """Of the forecasts that there are."""
    there = ~np.isnan(said)
    count = there.sum(axis=1)
    mean: Vector = np.where(there, said, 0.0).sum(axis=1) / np.maximum(count, 1)
    return np.where(count > 0, mean, np.nan)


def _means(sums: Vector) -> tuple[float, float]:
    square, absolute, rounds = sums.tolist()
    return (math.sqrt(square / rounds), absolute / rounds) if rounds else (math.nan, math.nan)
