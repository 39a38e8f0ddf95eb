"""Feeding learners: pieces of a stream in, forecasts, losses and bounds out.

However a stream is cut, the forecasts are the same to the last bit, because every learner's
replay is.  Where it is not (kernels, budgets, very many features: blocks of BLAS-3), rows go one
by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from noregret.errors import InputError, NumericalError, SourceError
from noregret.gaussian.cores.blocks import CROSSOVER
from noregret.inputs.tables import Frame
from noregret.running.bounds import Running
from noregret.sources.block import Block, Reading
from noregret.sources.encoding import Encoding, Piece
from noregret.types import Vector
from noregret.wrappers.lagged import Lagged

__all__ = ["Played", "Player", "rounds_of"]

Refuse = Callable[[int, str], None]
"""What to do with a row that a learner refuses."""


@dataclass(frozen=True, slots=True, eq=False)
class Played:
    """What a learner did with a piece; NaN where there is nothing to say."""

    forecast: Vector
    std: Vector
    loss: Vector
    bound: Vector
    spread: Vector


@dataclass(slots=True)
class Player:
    """A learner in a run, by its name."""

    name: str
    learner: Any
    loss: float = 0.0  # so far in this run
    errors: float = 0.0  # sum (y - forecast)^2
    yes_no: bool = False  # outcomes must be 0 or 1
    rounds: int = 0
    certificate: Any = None
    recording: Any = None  # what a report draws, if one is wanted
    running: Running | None = None  # the sums of the running bound

    @property
    def rmse(self) -> float:
        """Of the rounds of this run."""
        return math.sqrt(self.errors / self.rounds) if self.rounds else math.nan

    def play(self, piece: Piece, reading: Reading | None = None) -> Played:
        """Forecast every row, and learn those that have an outcome.

        With a reading, rows that the learner refuses are bad rows; without one they are errors.
        """

        def refuse(row: int, complaint: str) -> None:
            if reading is None:
                raise SourceError(f"row {row}: {complaint}")
            reading.skip(int(piece.places[row]), complaint)

        T = len(piece.y)
        if not piece.frame.shape[1] and not isinstance(self.learner, Lagged):
            raise SourceError(
                "there is no feature to forecast from: give --lags, --calendar or other --features"
            )
        played = Played(*(np.full(T, math.nan) for _ in range(5)))
        for start, stop, known in self._parts(piece.y):
            frame, y = piece.frame.part(start, stop), piece.y[start:stop]
            if known:
                self._learn(frame, y, played, start, refuse)
                if stop == T and not piece.edge and not self._bounds_each(frame):
                    played.bound[-1] = math.nan  # where bounds are must not depend on the clock
            else:
                said = self._forecast(frame, played.std[start:stop])
                played.forecast[start:stop] = said
            if self.recording is not None:
                rows = slice(start, stop)
                self.recording.take(
                    self.learner,
                    y=y,
                    forecast=played.forecast[rows],
                    std=played.std[rows],
                    loss=played.loss[rows],
                    spread=played.spread[rows],
                )
        return played

    def _bounds_each(self, frame: Frame) -> bool:
        """Whether every row has its bound."""
        return self.running is not None or _one_by_one(self.learner, frame.shape[1])

    def _parts(self, y: Vector) -> Iterator[tuple[int, int, bool]]:
        """Rows in a row that have, or have not, an outcome; shorter where a report looks in."""
        if self.recording is not None:
            self.recording.expect(len(y))
        for start, stop, known in _runs(y):
            if self.recording is None:
                yield start, stop, known
            else:
                for first, last in self.recording.cuts(start, stop):
                    yield first, last, known

    def _learn(self, frame: Frame, y: Vector, played: Played, at: int, refuse: Refuse) -> None:
        """Replay rows; those that the learner refuses are found one by one."""
        if len(y) > 1 and _one_by_one(self.learner, frame.shape[1]):
            return self._each(frame, y, played, at, refuse)
        if self.yes_no and not np.isin(y, (0.0, 1.0)).all():
            if len(y) > 1:
                return self._each(frame, y, played, at, refuse)
            return refuse(at, f"the outcome {y[0]:g} is neither 0 nor 1")
        inner = _inner(self.learner)
        running = self.running or Running.of(_now(self.learner))
        try:
            replay = self.learner.replay(frame, y)
        except (InputError, NumericalError) as refused:
            if len(y) > 1:  # the learner is as it was
                return self._each(frame, y, played, at, refuse)
            return refuse(at, str(refused))
        rows = slice(at, at + len(y))
        played.forecast[rows] = replay.forecast
        played.loss[rows] = replay.loss
        if replay.spread is not None:
            played.spread[rows] = replay.spread
        noise = getattr(inner, "noise_var", None)
        if replay.spread is not None and noise is not None:
            played.std[rows] = np.sqrt(noise * replay.spread)
        self.certificate = replay.certificate
        found = running.bounds(_now(self.learner), replay, y)
        if found is not None:
            self.running = running
            played.bound[rows] = found
        elif self.certificate.bound is not None:
            played.bound[rows.stop - 1] = self.certificate.bound
        self.loss += float(replay.loss.sum())
        self.errors += float(((y - replay.forecast) ** 2).sum())
        self.rounds += len(y)
        return None

    def _each(self, frame: Frame, y: Vector, played: Played, at: int, refuse: Refuse) -> None:
        for t in range(len(y)):
            self._learn(frame.part(t, t + 1), y[t : t + 1], played, at + t, refuse)

    def _forecast(self, frame: Frame, std: Vector) -> list[float]:
        said = []
        spoken = hasattr(_inner(self.learner), "noise_var")
        for t, row in enumerate(frame.values.tolist()):
            x = dict(zip(frame.columns, row))
            said.append(float(self.learner.predict_one(x)))
            if spoken:
                std[t] = self.learner.predictive(x).std
        return said


def _inner(learner: Any) -> Any:
    """The learner as it was given, inside its lags."""
    return learner.learner if isinstance(learner, Lagged) else learner


def _now(learner: Any) -> Any:
    """The learner as it is now; None for what has no running bound."""
    if not isinstance(learner, Lagged):
        return learner
    if learner.horizon > 1 or learner._state is None:
        return None
    return learner._state.learner


def _one_by_one(learner: Any, width: int) -> bool:
    inner = _inner(learner)
    if any(getattr(inner, name, None) is not None for name in ("kernel", "budget")):
        return True
    return width + len(getattr(learner, "lags", ())) + 1 >= CROSSOVER


def _runs(y: Vector) -> Iterator[tuple[int, int, bool]]:
    """Rows in a row that have, or have not, an outcome."""
    known = ~np.isnan(y)
    cuts = [0, *(np.flatnonzero(known[1:] != known[:-1]) + 1).tolist(), len(y)]
    for start, stop in pairwise(cuts):
        yield start, stop, bool(known[start])


def rounds_of(
    blocks: Iterator[Block],
    encoding: Encoding,
    reading: Reading,
    most: Callable[[], int] | None = None,
) -> Iterator[Piece]:
    """The rounds of a source after those that an earlier run took, some rows at a time."""
    for block in blocks:
        new = block
        if reading.past and len(block) and block.places[0] <= reading.past:
            new = block.kept(block.places > reading.past)
        yield from encoding.pieces(new, reading, most)
    encoding.finish(reading)
