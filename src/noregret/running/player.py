"""Feeding learners: pieces of a stream in, forecasts, losses and bounds out.

However a stream is cut, the forecasts are the same to the last bit, because every learner's
replay is.  Where it is not (kernels, budgets, very many features: blocks of BLAS-3), rows go one
by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from noregret.certificates import Certificate
from noregret.errors import InputError, NotLearnedError, NumericalError, OutcomeError, SourceError
from noregret.forecasting.forecaster import Forecaster
from noregret.forecasting.results import ForecastReplay
from noregret.forecasting.stream import WARM
from noregret.forecasting.times import infer, read
from noregret.gaussian.cores.blocks import in_blocks
from noregret.gradient.quantiles import LinearQuantiles
from noregret.inputs.tables import Frame, TimedFrame
from noregret.inputs.values import outcome_table
from noregret.learner.base import Learner
from noregret.learner.replay import BandReplay, Replay, RunningBound, StoredSums
from noregret.running.baselines import Baselines
from noregret.running.covering import Covering
from noregret.running.inside import given, proofs, within
from noregret.running.recording import Played, Recording
from noregret.sources.block import Block, Reading
from noregret.sources.clock import seconds_of
from noregret.sources.encoding import Encoding, Piece
from noregret.types import Outcomes, Table, Vector
from noregret.wrappers.intervals import Intervals
from noregret.wrappers.lagged import Lagged

__all__ = ["Playable", "Player", "play", "rounds_of"]


class Playable(Learner, Protocol):
    """A learner that takes many rounds at once, and says what is proved of it."""

    def replay(self, X: Table, y: Outcomes) -> Replay:
        """Predict-then-learn over all rows."""
        ...

    def certificates(self) -> list[Certificate]:
        """Every statement that applies, the main one first."""
        ...


RECENT = 100  # forecasts that are compared with their own intervals
KEPT = 10_000  # forecasts after the last outcome that are kept to be shown


class Later(NamedTuple):
    """The forecast of a row after the last outcome; `at` is its time, or its place."""

    at: str
    forecast: float
    low: float
    high: float


@dataclass(slots=True)
class Player:
    """A learner in a run, by its name."""

    name: str
    learner: Playable
    loss: float = 0.0  # so far in this run
    errors: float = 0.0  # sum (y - forecast)^2
    binary: bool = False  # outcomes must be 0 or 1
    rounds: int = 0
    certificate: Certificate | None = None
    recording: Recording | None = None  # what a report draws, if one is wanted
    running: RunningBound | None = None  # where the bound of every round is known
    every_bound: bool = False  # work it out for every round, one by one where it is not known
    baselines: Baselines = field(default_factory=Baselines)  # the naive forecasts of these rounds
    covering: list[Covering] = field(default_factory=list)  # of the intervals, if there are any
    latest: Frame | None = None  # the last row,
    ahead: list[Frame] = field(default_factory=list)  # and those after the last outcome
    later: list[Later] = field(default_factory=list)  # likewise, what was said of them
    astray: Vector = field(default_factory=lambda: np.empty(0))  # of the last RECENT forecasts,
    # whether they were below (-1) or above (1) their own intervals
    beyond: int = 0  # rows without an outcome that are further ahead than the learner's horizon

    @property
    def rmse(self) -> float:
        """Of the rounds of this run."""
        return math.sqrt(self.errors / self.rounds) if self.rounds else math.nan

    def begin(self, time: str | None, piece: Piece) -> None:
        """Tell a Forecaster that has learned nothing which column has the times.

        Where the first piece has weekends, though not in its first rows, days are all days.
        """
        learner = self.learner
        if not isinstance(learner, Forecaster) or learner.__sklearn_is_fitted__():
            return
        learner.time = time
        if time is None or learner.every is not None or piece.times is None:
            return
        known = [t for t, y in zip(piece.times, piece.y.tolist()) if t is not None and y == y]
        first = infer(read(known[:WARM], time)) if len(known) > WARM else None
        if first is not None and first.weekday is not None:
            times = read(known, time)
            if first.weekend(times, float(times.at[0])).any():
                learner.every = "1 day"

    def resume(self, stored: StoredSums) -> None:
        """Go on with the running bound of an earlier run."""
        self.running = _running_bound(self.learner)
        if self.running is not None:
            self.running.resume(stored)

    def certificates(self) -> list[Certificate]:
        """What is proved of the learner; nothing before its first round in this run."""
        return [] if self.certificate is None else list(proofs(self.learner))

    def of_loss(self) -> list[Certificate]:
        """What is proved of the learner's loss, and not of intervals."""
        return [] if self.certificate is None else within(self.learner).certificates()

    @property
    def coverages(self) -> list[float]:
        """Those of the intervals that are issued with the forecasts, as shares."""
        found = self.learner
        if isinstance(found, Forecaster):
            return found._coverages()
        return found._checked("coverage") if isinstance(found, Intervals) else []

    @property
    def levels(self) -> list[float]:
        """Those of the quantiles that are forecast, ascending."""
        found = self.learner
        return sorted(found._checked("levels")) if isinstance(found, LinearQuantiles) else []

    def play(self, piece: Piece, reading: Reading | None = None) -> Played:
        """Forecast every row, and learn those that have an outcome.

        With a reading, rows that the learner refuses are bad rows; without one they are errors.
        """
        T = len(piece.y)
        if not piece.frame.shape[1] and not isinstance(within(self.learner), Lagged | Forecaster):
            none = (
                "there is no feature to forecast from, or none has a value yet: give --lags, "
                "--calendar or other --features, or leave the first rows out"
            )
            raise SourceError(none) if reading is None else reading.fail(none, piece.places[0])
        played = Played.empty(T, len(self.coverages), len(self.levels))
        self.latest = piece.frame.part(T - 1, T)
        for start, stop, known in self._parts(piece.y):
            part, said = piece.part(start, stop), played.rows(start, stop)
            if known:
                self._learn(part, said, reading)
                each = self.running is not None or self._one_by_one(part)
                if stop == T and not piece.edge and not each:
                    played.bound[-1] = math.nan  # where bounds are must not depend on the clock
            else:
                self._forecast(part, said, reading)
            if self.recording is not None and part.times is not None:
                self.recording.timeline.add(self.recording.rows, seconds_of(part.times))
            self._record(part.y, said)
        return played

    def replay(self, X: Table, y: Vector) -> Played:
        """Learn rows that all have an outcome; the sums of this run go on."""
        running = self.running or _running_bound(self.learner)
        fresh = isinstance(self.learner, Forecaster) and not self.learner.__sklearn_is_fitted__()
        replay = self.learner.replay(X, y)
        self.certificate = replay.certificate
        said = Played.empty(len(y), len(self.coverages), len(self.levels))
        said.forecast[:], said.loss[:] = replay.forecast, replay.loss
        if isinstance(replay, ForecastReplay):
            self._issued(replay, said, y, fresh=fresh)
        elif isinstance(replay, BandReplay) and isinstance(self.learner, Intervals):
            self.certificate = within(self.learner).certificate()
            said.take_ends(self.coverages, replay.low, replay.high)
        elif isinstance(replay, BandReplay) and self.levels:
            said.quantiles[:] = replay.quantiles
        if replay.spread is not None:
            said.spread[:] = replay.spread
            noise = getattr(given(self.learner), "noise_var", None)
            if noise is not None:
                said.std[:] = np.sqrt(noise * replay.spread)
        bounds = None if running is None else running.after(replay, y)
        if bounds is not None:
            self.running = running
            said.bound[:] = bounds
        elif self.certificate.bound is not None:
            said.bound[-1] = self.certificate.bound
        known = ~np.isnan(said.forecast)  # a Forecaster has none for its first steps
        self.loss += float(said.loss[known].sum())
        self.errors += float(((y - said.forecast)[known] ** 2).sum())
        self.rounds += int(known.sum())
        merged = X.values if isinstance(X, Frame) and self.baselines.others else None
        self.baselines.add(y, said.forecast, merged)
        self.covering = self.covering or [Covering(asked) for asked in self.coverages]
        for one, (low, high) in zip(self.covering, said.pairs()):
            one.add(y, low, high)
        off = np.where(said.forecast < said.low, -1.0, 1.0 * (said.forecast > said.high))
        self.astray = np.concatenate([self.astray, off])[-RECENT:]
        self.ahead.clear()
        self.later.clear()
        return said

    def _issued(self, replay: ForecastReplay, said: Played, y: Vector, *, fresh: bool) -> None:
        """The forecasts that a Forecaster issued at its horizon, with their intervals."""
        assert isinstance(self.learner, Forecaster)
        assert replay.ahead is not None
        h = self.learner.horizon
        if h > 1:  # else it is that of the replay
            self.certificate = self.learner.certificate(horizon=h)
        said.forecast[:] = replay.ahead[:, -1]
        if fresh:
            said.forecast[0] = math.nan  # nothing was known
        said.loss[:] = (y - said.forecast) ** 2
        if replay.low is not None and replay.high is not None:
            said.take_ends(self.coverages, replay.low[:, -1], replay.high[:, -1])

    def _record(self, y: Vector, said: Played) -> None:
        if self.recording is not None:
            self.recording.covering = self.covering
            drawn = said._asdict()
            del drawn["bound"], drawn["ends"], drawn["quantiles"]
            self.recording.take(self.learner, y=y, **drawn)

    def _parts(self, y: Vector) -> Iterator[tuple[int, int, bool]]:
        """Rows in a row that have, or have not, an outcome; shorter where a report looks in."""
        if self.recording is not None:
            self.recording.expect(len(y))
        known = ~np.isnan(y)
        ends = [0, *(np.flatnonzero(known[1:] != known[:-1]) + 1).tolist(), len(y)]
        for start, stop in pairwise(ends):
            cuts = [(start, stop)] if self.recording is None else self.recording.cuts(start, stop)
            for first, last in cuts:
                yield first, last, bool(known[start])

    def _learn(self, part: Piece, said: Played, reading: Reading | None) -> None:
        """Replay rows; those that the learner refuses are found one by one."""
        y, complaint = part.y, ""
        if self.binary and not np.isin(y, (0.0, 1.0)).all():
            complaint = f"the outcome {y[0]:g} is neither 0 nor 1"
        elif len(y) == 1 or not self._one_by_one(part):
            try:
                said.fill(self.replay(self._table(part), y))
            except (InputError, NumericalError) as refused:  # the learner is as it was
                complaint = str(refused)
                complaint = complaint.replace(" in row 0", "") if len(y) == 1 else complaint
            else:
                return
        if len(y) > 1:
            for t in range(len(y)):
                self._learn(part.part(t, t + 1), said.rows(t, t + 1), reading)
        elif reading is None:
            raise SourceError(f"row {part.places[0]}: {complaint}")
        else:
            reading.skip(int(part.places[0]), complaint)

    def _one_by_one(self, part: Piece) -> bool:
        """Whether rows are learned one at a time: for their bounds, or since cuts would show."""
        if self.every_bound and (self.running or _running_bound(self.learner)) is None:
            return True
        return _cuts_show(self.learner, part.frame.shape[1])

    def _table(self, part: Piece) -> Table:
        """The rows as the learner takes them: a Forecaster with their times."""
        if isinstance(self.learner, Forecaster) and self.learner.time is not None:
            times: Any = part.times
            return TimedFrame(part.frame.columns, part.frame.values, str(self.learner.time), times)
        return part.frame

    def _forecast(self, part: Piece, said: Played, reading: Reading | None) -> None:
        if isinstance(self.learner, Forecaster):
            before = sum(map(len, self.ahead))
            self.ahead.append(part.frame)
            after = before + len(part.y)
            self.beyond += max(after - max(before, self.learner.horizon), 0)
            if self.learner.__sklearn_is_fitted__():  # else nothing is known yet
                said.forecast[:] = self.learner.predict(self._table(part))
                self._ends_ahead(before, min(after, self.learner.horizon), said)
            return
        normal = hasattr(given(self.learner), "noise_var")
        predictive = within(self.learner).predictive if normal else None
        for t, row in enumerate(part.frame.values.tolist()):
            x = dict(zip(part.frame.columns, row))
            try:
                said.forecast[t] = float(self.learner.predict_one(x))
            except InputError as refused:
                if reading is None:
                    raise
                reading.skip(int(part.places[t]), str(refused))
                continue
            if predictive is not None:
                said.std[t] = predictive(x).std
            if isinstance(self.learner, LinearQuantiles):
                said.quantiles[t] = self.learner.quantiles_one(x)
            if isinstance(self.learner, Intervals):
                said.rows(t, t + 1).take_ends(self.coverages, *self.learner.interval_one(x))
        self._keep(part, said, "row" if reading is None else reading.unit)

    def _keep(self, part: Piece, said: Played, unit: str) -> None:
        """Keep the first forecasts after the last outcome."""
        room = min(KEPT - len(self.later), len(part.y))
        for t in range(max(room, 0)):
            at = f"{unit} {int(part.places[t])}" if part.times is None else str(part.times[t])
            ends = float(said.low[t]), float(said.high[t])
            self.later.append(Later(at, float(said.forecast[t]), *ends))

    def _ends_ahead(self, start: int, stop: int, said: Played) -> None:
        """Intervals of rows to come, from the start-th on, as far as the horizon reaches."""
        assert isinstance(self.learner, Forecaster)
        ends = self.learner._ends_about(said.forecast[: max(stop - start, 0)], start)
        if ends is not None:
            said.rows(0, stop - start).take_ends(self.coverages, *ends)


def play(learner: Playable, X: Table, y: Outcomes, *, name: str | None = None) -> Recording:
    """Replay X and y as `learner.replay` does, and keep what plots and reports are made of.

    Forecasts are those of one replay to the last bit, sums to rounding (with a kernel or a budget
    both to rounding).

    >>> import noregret as nr
    >>> run = play(nr.BayesianRidge(noise_var=0.1), [[1.0], [2.0], [3.0]], [1.1, 2.0, 2.9])
    >>> run.name, run.rounds, run.names(), run.path()[-1].coefficients.round(3).tolist()
    ('BayesianRidge', 3, ['feature 1'], [0.92])
    """
    size = len(y)  # type: ignore[arg-type]  # what has no length is a TypeError
    table, scalar = outcome_table(y, size)
    if not scalar:
        raise OutcomeError(f"y has shape {np.shape(table)}: plots take one outcome per round")
    name = name or type(learner).__name__
    recording = Recording(name, binary=hasattr(learner, "predict_proba"))
    player = Player(name, learner, recording=recording)
    recording.expect(size)
    rows: Any = getattr(X, "iloc", X)
    for start, stop in recording.cuts(0, size):
        part = None if rows is None else rows[start:stop]
        outcomes = table[start:stop, 0]
        player._record(outcomes, player.replay(part, outcomes))
    return recording


def _running_bound(learner: Playable) -> RunningBound | None:
    """The bound of every round, of a learner as it is now; None where it is not known."""
    now = within(learner)
    if isinstance(now, Lagged):
        if now.horizon != 1:
            return None
        try:
            now = now.learner_
        except NotLearnedError:
            now = now.learner
    found: RunningBound | None = getattr(now, "running_bound", lambda: None)()
    return found


def _cuts_show(learner: Playable, width: int) -> bool:
    """Whether where a replay is cut shows in the last bits of its forecasts."""
    if any(getattr(given(learner), name, None) is not None for name in ("kernel", "budget")):
        return True
    return in_blocks(width + len(getattr(within(learner), "lags", ())) + 1)


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
