"""What is kept of one learner while it plays, in bounded memory: all that a report draws."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from noregret.certificates import Certificate
from noregret.errors import NotLearnedError
from noregret.forecasting.forecaster import Forecaster
from noregret.running.calibration import Intervals, Reliability
from noregret.running.covering import Covering
from noregret.running.inside import proofs, within
from noregret.running.traces import Tail, Timeline, Trace
from noregret.types import Matrix, Vector

__all__ = ["LEVEL", "Checkpoint", "Played", "Recording"]

LEVEL, REACH = 0.9, 1.64485362695147
"""The interval that is drawn, and how many standard deviations it reaches to either side."""
NAIVE = ("mean so far", "last value")  # what every learner is drawn beside
CHECKPOINTS = 400  # snapshots that are kept at most
SHOWN = 4  # certificates that are followed over time
WIDEST = 4096  # coefficients that are followed at most
CURVE, DETAIL, LAST = 1000, 2000, 500  # buckets of a curve, of the forecasts; rows kept whole


class Played(NamedTuple):
    """What a learner did with some rows; NaN where there is nothing to say."""

    forecast: Vector
    std: Vector
    loss: Vector
    bound: Vector
    spread: Vector
    low: Vector  # the interval, where the learner issues one; the widest where it issues several
    high: Vector
    ends: Matrix  # of several coverages, each with its lower and its upper end
    quantiles: Matrix  # where the learner forecasts quantiles, one column per level

    @classmethod
    def empty(cls, rows: int, coverages: int = 0, levels: int = 0) -> Played:
        """Nothing yet."""
        forecast, std, loss, bound, spread, low, high = np.full((7, rows), math.nan)
        ends = np.full((rows, 2 * coverages), math.nan)
        quantiles = np.full((rows, levels), math.nan)
        return cls(forecast, std, loss, bound, spread, low, high, ends, quantiles)

    def take_ends(self, coverages: list[float], low: Any, high: Any) -> None:
        """Put in the intervals of these coverages."""
        widest = coverages.index(max(coverages))
        for k in range(len(coverages)):
            self.ends[:, 2 * k] = np.reshape(low, (-1, len(coverages)))[:, k]
            self.ends[:, 2 * k + 1] = np.reshape(high, (-1, len(coverages)))[:, k]
        self.low[:], self.high[:] = self.ends[:, 2 * widest], self.ends[:, 2 * widest + 1]

    def pairs(self) -> Iterator[tuple[Vector, Vector]]:
        """Lower and upper ends of every coverage."""
        return zip(self.ends[:, 0::2].T, self.ends[:, 1::2].T)

    def rows(self, start: int, stop: int) -> Played:
        """Some of the rows, to be filled in here."""
        return Played(*(column[start:stop] for column in self))

    def fill(self, other: Played) -> None:
        """Take over what was said elsewhere of these rows."""
        for column, values in zip(self, other):
            column[:] = values


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """A learner at some row: the first certificates, coefficients and weights, if it has them."""

    row: int
    certificates: tuple[Certificate, ...]
    coefficients: Vector | None
    weights: dict[str, float] | None


class Recording:
    """One learner's run: curves with every extreme, checkpoints, calibration.

    Rows cost O(1) each, checkpoints what `certificates()` and `coef_` cost; a recording
    holds some 60,000 numbers and at most 400 checkpoints, however long the run.

    >>> import noregret as nr
    >>> recording = nr.report.play(nr.AAR(), [[1.0], [1.0], [1.0]], [1.0, 1.0, 1.0])
    >>> recording.rounds, round(recording.squares, 4)
    (3, 1.6944)
    >>> [x.round(2).tolist() for x in recording.curves["leverage"].points()]
    [[1, 2, 3], [0.5, 0.33, 0.25]]
    """

    def __init__(self, name: str, *, binary: bool = False, every: int = 1) -> None:
        self.name, self.binary = name, binary
        self.rows = self.rounds = 0
        self.paid = self.squares = 0.0  # what is compared; sum (y - forecast)^2
        self.seconds = 0.0
        self.learner: object = None
        self.curves = {key: Trace(CURVE) for key in ("loss", "average", "leverage", *NAIVE)}
        self.timeline = Timeline()
        self.naive = [0.0, 0.0, 0.0, 0.0]  # losses of both naive forecasts; sum of y, last y
        self.curves |= {key: Trace(DETAIL) for key in ("y", "forecast", "low", "high")}
        self.curves |= {key: Trace(CURVE) for key in ("inside", "width")}
        self.covering: list[Covering] = []  # of the intervals that the learner issues
        self.drawn = Covering(LEVEL)  # of those that are drawn
        self.tail = Tail(LAST, columns=4)  # y, forecast, low, high
        self.calibration = Reliability() if binary else Intervals()
        self.checkpoints: list[Checkpoint] = []
        self.every = every  # rows from one moment to the next

    # Taking ---------------------------------------------------------------------------------

    def cuts(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Where rows start..stop of a piece must be cut for a moment to be looked at in between."""
        while start < stop:
            end = min(stop, start + self.every - self.rows % self.every)
            yield start, end
            start = end

    def expect(self, rows: int) -> None:
        """So many rows come at once: make room for them beforehand."""
        for trace in self.curves.values():
            trace.reserve(self.rows + rows)
        while (self.rows + rows) // self.every > CHECKPOINTS:
            self._thin()

    def take(
        self,
        learner: object,
        *,
        y: Vector,
        forecast: Vector,
        std: Vector,
        loss: Vector,
        spread: Vector,
        low: Vector,
        high: Vector,
    ) -> None:
        """The next rows, NaN where there is nothing; the learner as it is after them."""
        self.learner = learner
        at, known = self.rows, np.isfinite(y) & np.isfinite(forecast)
        squares = np.where(known, (y - forecast) ** 2, 0.0)
        paid = np.where(known, loss, 0.0) if self.binary else squares
        with np.errstate(all="ignore"):  # what overflows is infinite, and not drawn
            sums, n = self.paid + np.cumsum(paid), self.rounds + np.cumsum(known)
            self.curves["loss"].add(at, np.where(known, sums, np.nan))
            self.curves["average"].add(at, np.where(known, sums / np.maximum(n, 1), np.nan))
            self.curves["leverage"].add(at, 1.0 - 1.0 / spread)
            low = np.where(np.isnan(low), forecast - REACH * std, low)
            high = np.where(np.isnan(high), forecast + REACH * std, high)
        if known.any():
            self._beside(at, y, known)
            self._cover(at, y, low, high)
        said = {"y": y, "forecast": forecast, "low": low, "high": high}
        for key, values in said.items():
            self.curves[key].add(at, values)
        self.tail.add(at, np.column_stack(list(said.values())))
        if isinstance(self.calibration, Reliability):
            self.calibration.add(y, forecast)
        else:
            self.calibration.add(y, forecast, std)
        self.paid, self.rounds = float(sums[-1]), int(n[-1])
        self.squares += float(squares.sum())
        self.rows += len(y)
        if not self.rows % self.every:
            self.checkpoints.append(checkpoint(self.learner, self.rows))
            if len(self.checkpoints) > CHECKPOINTS:
                self._thin()

    def _beside(self, at: int, y: Vector, known: npt.NDArray[np.bool_]) -> None:
        """What the naive forecasts would have lost on these rows, but for the first of all."""
        *paid, total, last = self.naive
        ys = y[known]
        counts = self.rounds + np.arange(len(ys))
        with np.errstate(all="ignore"):
            mean = (total + np.concatenate([[0.0], np.cumsum(ys)[:-1]])) / np.maximum(counts, 1)
            before = np.concatenate([[last], ys[:-1]])
            for k, (name, said) in enumerate(zip(NAIVE, (mean, before))):
                sums = paid[k] + np.cumsum(np.where(counts > 0, (ys - said) ** 2, 0.0))
                column = np.full(len(y), math.nan)
                column[known] = sums
                self.curves[name].add(at, column)
                self.naive[k] = float(sums[-1])
            self.naive[2:] = [total + float(ys.sum()), float(ys[-1])]

    def _cover(self, at: int, y: Vector, low: Vector, high: Vector) -> None:
        """The share of outcomes inside so far, and how wide intervals are."""
        one = self.drawn
        one.asked = self.level
        some = np.isfinite(y) & ~np.isnan(low) & ~np.isnan(high)
        inside = (low <= y) & (y <= high) & some
        before = one.outcomes - one.below - one.above
        share = (before + np.cumsum(inside)) / np.maximum(one.outcomes + np.cumsum(some), 1)
        self.curves["inside"].add(at, np.where(some, share, np.nan))
        self.curves["width"].add(at, np.where(np.isfinite(high - low), high - low, np.nan))
        one.add(y, low, high)

    def _thin(self) -> None:
        self.every *= 2
        self.checkpoints = [one for one in self.checkpoints if not one.row % self.every]

    # Reading --------------------------------------------------------------------------------

    @property
    def level(self) -> float:
        """The coverage of the interval that is drawn: the widest, where there are several."""
        return max((one.asked for one in self.covering), default=LEVEL)

    @property
    def rmse(self) -> float:
        """Root of the mean square error of the point forecasts."""
        return math.sqrt(self.squares / self.rounds) if self.rounds else math.nan

    def path(self) -> list[Checkpoint]:
        """The checkpoints, the last row included."""
        if not self.rows or (self.checkpoints and self.checkpoints[-1].row == self.rows):
            return self.checkpoints
        return [*self.checkpoints, checkpoint(self.learner, self.rows)]

    def names(self) -> list[str]:
        """What the coefficients of the last checkpoint are called; earlier ones may have fewer."""
        path = self.path()
        last = path[-1].coefficients if path else None
        return [] if last is None else _names(_inner(self.learner), last.size)

    def certificates(self) -> list[Certificate]:
        """All of them, at the end."""
        return _certificates(self.learner)


def checkpoint(learner: object, row: int) -> Checkpoint:
    """What a learner has to show."""
    inner = _inner(learner)
    weights = _asked(inner, "weights_")
    return Checkpoint(
        row,
        tuple(_certificates(learner, SHOWN)),
        _coefficients(inner),
        None if weights is None else dict(weights),
    )


def _asked(learner: object, name: str) -> Any:
    """An attribute of a learner, None of those that have none or have learned nothing."""
    try:
        return getattr(learner, name, None)
    except NotLearnedError:
        return None


def _inner(learner: object) -> object:
    """The learner that learned, inside its intervals and its lags."""
    found = within(learner)
    return _asked(found, "learner_") if hasattr(found, "lags") else found


def _certificates(learner: object, most: int | None = None) -> list[Certificate]:
    """All of them; of a Forecaster that of the horizon that is played."""
    try:
        if isinstance(learner, Forecaster):
            return [learner.certificate(horizon=learner.horizon)]
        found = proofs(learner) if hasattr(learner, "certificates") else iter(())
        return list(islice(found, most))
    except NotLearnedError:
        return []


def _coefficients(learner: object) -> Vector | None:
    """The constant's first, if there is one; None of learners that weigh no features."""
    if getattr(learner, "budget", None) is not None:  # those of a map's features
        return None
    found = _asked(learner, "coef_")
    if found is None:
        return None
    values = np.asarray(found, dtype=np.float64).ravel()
    if getattr(learner, "fit_intercept", False):
        values = np.concatenate([[_asked(learner, "intercept_")], values])
    return values if 0 < values.size <= WIDEST else None


def _names(learner: object, size: int) -> list[str]:
    """What the coefficients are called, or their numbers."""
    constant = ["(constant)"] if getattr(learner, "fit_intercept", False) else []
    named = _asked(learner, "feature_names_in_")
    if named is not None and len(constant) + len(named) == size:
        return [*constant, *named]
    return [*constant, *(f"feature {k + 1}" for k in range(size - len(constant)))]
