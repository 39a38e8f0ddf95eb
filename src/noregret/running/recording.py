"""What is kept of one learner while it plays, in bounded memory: all that a report draws."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret.certificates import Certificate
from noregret.errors import NotLearnedError, OutcomeError
from noregret.inputs import values as features
from noregret.running.calibration import Intervals, Reliability
from noregret.running.traces import Tail, Trace
from noregret.types import Vector

__all__ = ["LEVEL", "Checkpoint", "Recording", "play"]

LEVEL, REACH = 0.9, 1.64485362695147
"""The interval that is drawn, and how many standard deviations it reaches to either side."""
CHECKPOINTS = 400  # snapshots that are kept at most
SHOWN = 4  # certificates that are followed over time
WIDEST = 4096  # coefficients that are followed at most
CURVE, DETAIL, LAST = 1000, 2000, 500  # buckets of a curve, of the forecasts; rows kept whole


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
    >>> recording = play(nr.AAR(), [[1.0], [1.0], [1.0]], [1.0, 1.0, 1.0])
    >>> recording.rounds, round(recording.squares, 4)
    (3, 1.6944)
    >>> [x.round(2).tolist() for x in recording.curves["leverage"].points()]
    [[1, 2, 3], [0.5, 0.33, 0.25]]
    """

    def __init__(self, name: str, *, yes_no: bool = False) -> None:
        self.name, self.yes_no = name, yes_no
        self.rows = self.rounds = 0
        self.paid = self.squares = 0.0  # what is compared; sum (y - forecast)^2
        self.seconds = 0.0
        self.learner: Any = None
        self.curves = {key: Trace(CURVE) for key in ("loss", "average", "leverage")}
        self.curves |= {key: Trace(DETAIL) for key in ("y", "forecast", "low", "high")}
        self.tail = Tail(LAST, columns=4)  # y, forecast, low, high
        self.calibration = Reliability() if yes_no else Intervals()
        self.checkpoints: list[Checkpoint] = []
        self.every = 1  # rows from one moment to the next

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
        learner: Any,
        *,
        y: Vector,
        forecast: Vector,
        std: Vector,
        loss: Vector,
        spread: Vector,
    ) -> None:
        """The next rows, NaN where there is nothing; the learner as it is after them."""
        self.learner = learner
        at, known = self.rows, np.isfinite(y) & np.isfinite(forecast)
        squares = np.where(known, (y - forecast) ** 2, 0.0)
        paid = np.where(known, loss, 0.0) if self.yes_no else squares
        with np.errstate(all="ignore"):  # what overflows is infinite, and not drawn
            sums, n = self.paid + np.cumsum(paid), self.rounds + np.cumsum(known)
            self.curves["loss"].add(at, np.where(known, sums, np.nan))
            self.curves["average"].add(at, np.where(known, sums / np.maximum(n, 1), np.nan))
            self.curves["leverage"].add(at, 1.0 - 1.0 / spread)
            low, high = forecast - REACH * std, forecast + REACH * std
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
            self._look()

    def _look(self) -> None:
        self.checkpoints.append(checkpoint(self.learner, self.rows))
        if len(self.checkpoints) > CHECKPOINTS:
            self._thin()

    def _thin(self) -> None:
        self.every *= 2
        self.checkpoints = [one for one in self.checkpoints if not one.row % self.every]

    # Reading --------------------------------------------------------------------------------

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
        """What the coefficients of the last moment are called; earlier checkpoints may have fewer."""
        path = self.path()
        last = path[-1].coefficients if path else None
        return [] if last is None else _names(_inner(self.learner), last.size)

    def certificates(self) -> list[Certificate]:
        """All of them, at the end."""
        return _certificates(self.learner)


def play(learner: Any, X: Any, y: Any, *, name: str | None = None) -> Recording:
    """Replay X and y as `learner.replay` does, and keep what plots and reports are made of.

    Forecasts are those of one replay to the last bit, sums to rounding (with a kernel or a budget
    both to rounding).

    >>> import noregret as nr
    >>> run = play(nr.BayesianRidge(noise_var=0.1), [[1.0], [2.0], [3.0]], [1.1, 2.0, 2.9])
    >>> run.name, run.rounds, run.names(), run.path()[-1].coefficients.round(3).tolist()
    ('BayesianRidge', 3, ['feature 1'], [0.92])
    """
    size = len(y)
    table, scalar = features.outcome_table(y, size)
    if not scalar:
        raise OutcomeError(f"y has shape {np.shape(y)}: plots take one outcome a round")
    recording = Recording(name or type(learner).__name__, yes_no=hasattr(learner, "predict_proba"))
    recording.expect(size)
    for start, stop in recording.cuts(0, size):
        part = X if X is None else (X.iloc if hasattr(X, "iloc") else X)[start:stop]
        replay = learner.replay(part, table[start:stop, 0])
        nothing = np.full(stop - start, np.nan)
        spread = nothing if replay.spread is None else replay.spread
        noise = getattr(_inner(learner), "noise_var", math.nan)
        recording.take(
            learner,
            y=table[start:stop, 0],
            forecast=replay.forecast,
            std=np.sqrt(noise * spread),
            loss=replay.loss,
            spread=spread,
        )
    return recording


def checkpoint(learner: Any, row: int) -> Checkpoint:
    """What a learner has to show."""
    shown = tuple(_certificates(learner)[:SHOWN])
    return Checkpoint(row, shown, _coefficients(_inner(learner)), _weights(_inner(learner)))


def _inner(learner: Any) -> Any:
    """The learner that learned, inside its lags."""
    try:
        return learner.learner_ if hasattr(learner, "lags") else learner
    except NotLearnedError:
        return None


def _certificates(learner: Any) -> list[Certificate]:
    try:
        return list(learner.certificates())
    except (AttributeError, NotLearnedError):
        return []


def _weights(learner: Any) -> dict[str, float] | None:
    try:
        return dict(learner.weights_)
    except (AttributeError, NotLearnedError):
        return None


def _coefficients(learner: Any) -> Vector | None:
    """The constant's first, if there is one; None of learners that weigh no features."""
    if getattr(learner, "budget", None) is not None:  # those of a map's features
        return None
    try:
        values = np.asarray(learner.coef_, dtype=np.float64).ravel()
    except (AttributeError, NotLearnedError):
        return None
    if getattr(learner, "fit_intercept", False):
        values = np.concatenate([[learner.intercept_], values])
    return values if 0 < values.size <= WIDEST else None


def _names(learner: Any, size: int) -> list[str]:
    """What the coefficients are called, or their numbers."""
    constant = ["(constant)"] if getattr(learner, "fit_intercept", False) else []
    try:
        named = [*constant, *map(str, learner._learned().space.slots)]
    except (AttributeError, NotLearnedError):
        named = []
    if len(named) == size:
        return named
    return [*constant, *(f"feature {k + 1}" for k in range(size - len(constant)))]
