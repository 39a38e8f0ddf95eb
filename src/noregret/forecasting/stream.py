"""Rows become steps of a grid: the state of a Forecaster, also before its grid is known."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Self

import numpy as np

from noregret.certificates import Certificate
from noregret.declare.fields import Array, Count, Labels, Mismatch, Part, Real, Value, Word
from noregret.errors import FeatureError, InputError, OutcomeError, ParameterError, abbreviated
from noregret.forecasting.design import Design
from noregret.forecasting.learners import FEW, blocks_of
from noregret.forecasting.reading import Rows, read_row, read_table
from noregret.forecasting.results import ForecastReplay, Forecasts, clock
from noregret.forecasting.state import Running
from noregret.forecasting.times import ROWS, Every, Moments, Truths, infer
from noregret.glm.labels import classes_of, column, sign_of
from noregret.inputs import values
from noregret.inputs.spaces import FeatureSpace, Names, Positions
from noregret.learner.replay import Replay
from noregret.types import Integers, Matrix, Outcome, Outcomes, Row, Table, Vector
from noregret.wrappers.inner import private_copy

if TYPE_CHECKING:
    from noregret.forecasting.forecaster import Forecaster

__all__ = ["WARM", "ForecasterState"]

WARM = 10  # rows from which the frequency is inferred
LARGEST = 1e100  # of outcomes and features: sums of squares then fit in float64
WIDEST = 1_000_000  # steps that a gap may have


class ForecasterState:
    """The grid of times, and all that was learned on it; before it is known, the first rows."""

    __slots__ = (
        "chosen",
        "every",
        "features",
        "first",
        "gaps",
        "kind",
        "labels",
        "offset",
        "rows",
        "running",
        "skipped",
        "waiting",
        "warm",
        "weekends",
        "zone",
    )

    FIELDS = (
        Word("kind", ("", "moment", "number", "rows")),
        Word("zone"),
        Part("every", ("Every",), optional=True),
        Labels("features", "the feature name"),
        Value("labels"),
        Real("first"),
        Real("offset"),
        Count("rows"),
        Count("gaps"),
        Count("skipped"),
        Count("warm", 0, WARM),
        Array("waiting", ("rows that wait", "columns")),
        Part("running", ("Forecaster.Running",), optional=True),
        Count("weekends", later=True),
    )
    SCRATCH = ("chosen",)  # the parameters

    def __init__(self, chosen: Forecaster) -> None:
        self.chosen = chosen
        self.kind, self.zone, self.every = "", "", None  # type: str, str, Every | None
        self.features: list[str] = []
        self.labels: tuple[object, object] = (0, 1)  # where the learner is one for labels
        self.first, self.offset = 0.0, 0.0  # the time of step 0; the last offset of the clock
        self.rows = self.gaps = self.skipped = self.warm = 0
        self.waiting: Matrix = np.empty((0, 3))  # time, offset, y, features
        self.running: Running | None = None
        self.weekends: int | None = None  # rows on days that the steps leave out, if any came

    @classmethod
    def restored(cls, *fields: object) -> Self:
        """The state of these values; the Forecaster around it knows the parameters."""
        state: Self = object.__new__(cls)
        for name, value in zip((f.name for f in cls.FIELDS), fields, strict=True):
            setattr(state, name, value)
        state.features = list(state.features)
        if not all(type(name) is str for name in state.features):
            raise Mismatch("has features whose names are no texts")
        if type(state.labels) is not tuple or len(state.labels) != 2:
            raise Mismatch("has labels that are not two")
        if (state.running is not None) and (state.every is None or not state.rows):
            raise Mismatch("has learned on no grid")
        if state.running is None and state.waiting.shape[1] < 3:
            raise Mismatch("has invalid rows that wait")
        return state

    def copy(self) -> Self:
        """One that shares nothing with this one."""
        state: Self = object.__new__(type(self))
        for name in self.__slots__:
            setattr(state, name, getattr(self, name))
        state.running = None if self.running is None else self.running.copy()
        return state

    @property
    def space(self) -> FeatureSpace | None:
        """The features of a row, without its time."""
        counted = [f"feature {j}" for j in range(len(self.features))]
        return Positions(len(counted)) if self.features == counted else Names(self.features)

    @property
    def rounds(self) -> int:
        """How many rows have been learned."""
        return self.rows

    # The grid -------------------------------------------------------------------------------

    def _meet(self, rows: Rows) -> Matrix:
        """The features of rows, in order; the first rows say which there are."""
        if not self.kind:
            self.kind, self.zone = rows.times.kind, rows.times.zone
            self.features = rows.names or [f"feature {j}" for j in range(rows.xs.shape[1])]
            self.waiting = np.empty((0, 3 + len(self.features)))
            self.first = float(rows.times.at[0])
            if self.kind == "rows" or self.chosen.every is not None:
                self._begin(ROWS if self.kind == "rows" else self._given(rows.times))
        if rows.times.kind != self.kind:
            raise InputError(
                f"times are of the kind {rows.times.kind!r}, those learned before {self.kind!r}"
            )
        return rows.ordered(self.features)

    def _given(self, times: Moments) -> Every:
        every = Every.of(self.chosen.every)
        if every.unit != times.kind:
            raise ParameterError(
                f"every = {abbreviated(self.chosen.every)}, but the times are "
                f"{'numbers' if times.kind == 'number' else 'dates'}: give the step in their unit"
            )
        return every.begun(times)

    def _begin(self, every: Every) -> None:
        """The grid is known: start to learn on it."""
        self.every = every
        design, horizon = self.chosen._design(self), self.chosen._checked("horizon")
        near = [k == 1 and bool(design.seasons) for k in blocks_of(horizon)]
        learners = [private_copy(self.chosen._inner(near=one)) for one in near]
        self.running = Running.start(
            design, horizon, learners, self.chosen._plain(), self.chosen._coverages()
        )

    def _steps(self, times: Moments) -> Integers:
        """The step of each time; rows are counted where times have no grid."""
        assert self.every is not None
        if self.every.unit == "rows":
            known = 0 if self.running is None else self.running.history.size
            return known + np.arange(len(times))
        return self.every.slots(times, self.first)

    def _weekend(self, times: Moments) -> Truths:
        """Which rows are on days that the steps leave out."""
        assert self.every is not None
        return self.every.weekend(times, self.first)

    # Rows that are known --------------------------------------------------------------------

    def learn(self, x: Row, y: Outcome) -> Self:
        """Learn one row."""
        rows = read_row(x, self.chosen.time, self.rows)
        number = self._number(y) if self.chosen._binary else values.outcome(y)
        return self._play(rows, np.array([number]))[0]

    def _number(self, label: object) -> float:
        """0 or 1 for a label."""
        return 0.5 + 0.5 * sign_of(label, self.labels)

    def replay(self, X: Table, y: Outcomes) -> tuple[Self, Replay]:
        """Predict-then-learn over rows."""
        size = len(y) if X is None and hasattr(y, "__len__") else None
        rows = read_table(X, self.chosen.time, self.rows, size)
        if not len(rows.times):
            raise FeatureError("there are no rows: give at least one")
        labels = self.labels
        if self.chosen._binary:
            given = column(y)
            labels = labels if self.rows else classes_of(given, None)
            y = [0.5 + 0.5 * sign_of(label, labels) for label in given]
        ys = values.outcome_column(y, len(rows.times))
        state, said, ahead, widths = self._play(rows, ys, whole=True)
        state.labels = labels
        low, high = self._ends(ahead, widths)
        replay = ForecastReplay(
            forecast=said,
            mean=None,
            spread=None,
            loss=(ys - said) ** 2,
            certificate=state.certificate(1),
            ahead=ahead,
            low=low,
            high=high,
        )
        return state, replay

    def _play(
        self, rows: Rows, ys: Vector, *, whole: bool = False
    ) -> tuple[Self, Vector, Matrix, Matrix]:
        """Forecast, then learn rows: the state that goes on, forecasts, by horizon, widths."""
        state: Self = object.__new__(type(self))
        for name in self.__slots__:
            setattr(state, name, getattr(self, name))
        if whole and state.running is not None and not (state.running.sure and len(ys) <= FEW):
            state.running = state.running.copy()  # it may refuse a row when others are learned
        xs = state._meet(rows)
        for values_, error, name in ((ys, OutcomeError, "y"), (xs, FeatureError, "x")):
            if values_.size and not np.abs(values_).max() <= LARGEST:
                raise error(
                    f"{name} has {np.abs(values_).max():g}: up to 1e100 can be taken; rescale"
                )
        H = state.chosen._checked("horizon")
        ahead = np.full((len(ys), H), math.nan)
        C = len(state.chosen._coverages())
        widths, said = np.full((len(ys), H, C, 2), math.inf), np.full(len(ys), math.nan)
        start = 0
        if state.running is None:
            start = min(WARM - len(state.waiting), len(ys))
            part = slice(0, start)
            new = np.column_stack([rows.times.at, rows.times.offset, ys, xs])[part]
            last = np.r_[state.waiting[-1, 2] if len(state.waiting) else 0.0, new[:-1, 2]]
            said[part] = last
            state.waiting = np.vstack([state.waiting, new])
            if len(state.waiting) == WARM:
                state._decide()
            state.rows += start
        if start < len(ys):
            part = slice(start, None)
            said[part], ahead[part], widths[part] = state._learn(
                rows.times.part(part), xs[part], ys[part]
            )
            if start == 0 and self.rows == 0:
                said[0] = 0.0
        return state, said, ahead, widths

    def _decide(self) -> None:
        """Infer the frequency from the rows that wait, and learn them."""
        w = self.waiting
        times = Moments(self.kind, w[:, 0], w[:, 1], self.zone)
        back = np.flatnonzero(np.diff(times.at) <= 0.0)
        if back.size and self.chosen._checked("late") == "refuse":
            t = int(back[0]) + 1
            raise InputError(
                f"row {t}: its time {_shown(times, t)} is not after the one before; sort the rows, "
                'or late="skip" leaves such rows out'
            )
        self.warm, self.waiting = WARM, np.empty((0, w.shape[1]))
        self._begin(infer(times))
        self._learn(times, w[:, 3:], w[:, 2], waited=True)

    def _learn(
        self, times: Moments, xs: Matrix, ys: Vector, *, waited: bool = False
    ) -> tuple[Vector, Matrix, Matrix]:
        """Learn rows on the grid, in place: what was said of each row, by horizon, and widths."""
        running = self.running
        assert running is not None
        steps, size = self._steps(times), running.history.size
        last = np.maximum.accumulate(np.r_[size - 1, steps])[:-1]
        late = steps <= last
        weekend = self._weekend(times)
        if weekend.any() and self.chosen._checked("late") == "refuse":
            t = int(np.argmax(weekend))
            raise InputError(
                f"row {t}: {_shown(times, t)} is on a weekend, and the first rows had weekdays "
                'only: every="1 day" takes all days, late="skip" leaves such rows out'
            )
        late |= weekend
        if late.any() and self.chosen._checked("late") == "refuse":
            t = int(np.argmax(late))
            raise InputError(
                f"row {t}: its time {_shown(times, t)} is not after the last one learned"
                + (
                    " (clocks that go back repeat an hour: give times with their offset)"
                    if steps[t] == last[t]
                    else ""
                )
                + '; sort the rows, or late="skip" leaves such rows out'
            )
        if weekend.any():
            self.weekends = (self.weekends or 0) + int(weekend.sum())
        self.skipped += int((late & ~weekend).sum())
        kept = ~late
        new = steps[kept]
        if not new.size:
            H = running.horizon
            nothing = np.full((len(ys), H), math.nan)
            return nothing[:, 0], nothing, np.full((len(ys), H, 2), math.inf)
        T = int(new[-1]) - size + 1
        gaps = T - new.size
        if gaps and (self.chosen._checked("gaps") == "refuse" or gaps > WIDEST):
            apart = np.diff(np.r_[size - 1, new])
            t = int(np.argmax(apart > 1)) if gaps <= WIDEST else int(np.argmax(apart))
            raise InputError(
                f"before {_shown(times.part(kept), t)} there is a gap of {int(apart[t]) - 1} "
                f"steps of {self.every}: "
                + (
                    'gaps="fill" goes on'
                    if gaps <= WIDEST
                    else "is that the right step? give every="
                )
            )
        at = new - size
        full_y, full_x = np.full(T, math.nan), np.full((T, xs.shape[1]), math.nan)
        offsets = np.full(T, math.nan)
        full_y[at], full_x[at], offsets[at] = ys[kept], xs[kept], times.offset[kept]
        offsets = _carried(offsets, self.offset)
        played = running.run(full_y, full_x, offsets, self.chosen._coverages())
        self.offset = float(offsets[-1])
        self.gaps += gaps
        self.rows += 0 if waited else int(kept.sum())
        H = running.horizon
        ahead = np.full((len(ys), H), math.nan)
        widths = np.full((len(ys), *played.widths.shape[1:]), math.inf)
        ahead[kept], widths[kept] = played.ahead[at], played.widths[at]
        after = np.minimum(np.diff(np.r_[size - 1, new]), H)  # steps since the row before
        said = np.full(len(ys), math.nan)
        said[kept] = played.ahead[at, after - 1]
        return said, ahead, widths

    # Steps to come --------------------------------------------------------------------------

    def predict(self, x: Row) -> float:
        """The forecast of one row to come, at the horizon that its time says."""
        return float(self._ahead(read_row(x, self.chosen.time, self.rows))[0])

    def predict_rows(self, X: Table) -> Vector:
        """Forecasts of rows to come; rows without times are the next ones, in order."""
        return self._ahead(read_table(X, self.chosen.time, self.rows))

    def _ahead(self, rows: Rows) -> Vector:
        if self.running is None or self.running.history.size == 0:
            last = float(self.waiting[-1, 2]) if len(self.waiting) else 0.0
            return np.full(len(rows.times), last)
        xs = rows.ordered(self.features)
        steps = self._steps(rows.times) - self.running.history.size + 1
        H, weekend = self.running.horizon, self._weekend(rows.times)
        fills = self.chosen._checked("gaps") == "fill"
        for t, h in enumerate(steps.tolist()):
            when = f"row {t}, {_shown(rows.times, t)}"
            if weekend[t]:
                raise InputError(f"{when}: it is on a weekend, and the steps are weekdays")
            if h < 1:
                raise InputError(f"{when}: a forecast must be after the last time learned")
            if h > H and (not fills or h > WIDEST):
                raise InputError(
                    f"{when}: it is {h} steps after the last one learned, and horizon = {H}"
                )
        return self._reached(steps.tolist(), xs)

    def _reached(self, steps: list[int], given: Matrix) -> Vector:
        """Forecasts steps ahead; beyond the horizon as if the steps before had no rows."""
        assert self.running is not None
        running, gone, found = self.running, 0, []  # gone on by so many steps, on a copy
        for t, h in enumerate(steps):
            beyond = max(h - running.horizon, 0)
            if beyond < gone:
                running, gone = self.running, 0
            if more := beyond - gone:
                running = running if gone else running.copy(asked=True)
                none = np.full((more, len(self.features)), math.nan)
                offsets = np.full(more, self.offset)
                running.run(np.full(more, math.nan), none, offsets, self.chosen._coverages())
                gone = beyond
            found.append(running.forecast(h - gone, given[[t]]))
        return np.array(found)

    def forecast(self, steps: int, rows: Table) -> Forecasts:
        """The next steps; `rows` has the features that are known ahead."""
        running = self.running
        if running is None or running.history.size == 0:
            raise InputError(
                f"{self.rows} rows have been learned: forecasts of the next steps need {WARM} or "
                "every=, which says how far apart rows are"
            )
        if steps > running.horizon:
            raise InputError(
                f"steps = {steps}: this Forecaster learns up to horizon = {running.horizon}"
            )
        design = running.design
        given: Matrix | None = None
        needed = [name for name, ahead in zip(design.features, design.ahead) if ahead]
        if rows is not None:
            read = read_table(rows, self.chosen.time if _timed(rows, self.chosen.time) else None, 0)
            if len(read.xs) < steps:
                raise InputError(
                    f"rows has {len(read.xs)} rows: give one for each of {steps} steps"
                )
            self._next(read, steps)
            given = _filled(read, design)
        elif needed:
            raise InputError(
                f"{needed[0]!r} is used at the forecast's time: give rows= with its next {steps} "
                "values, or say known=[...] without it"
            )
        found = [
            running.forecast(h, None if given is None else given[[h - 1]])
            for h in range(1, steps + 1)
        ]
        size = running.history.size
        at = design.times(size - 1 + np.arange(1, steps + 1), self.offset)
        g, coverages = np.array(found), self.chosen._coverages()
        low, high = self._ends(g, running.bands.now(coverages)[:steps])
        several = self.chosen._several
        return Forecasts(clock(at), g, low, high, tuple(coverages) if several else coverages[0])

    def _ends(self, forecasts: Matrix, widths: Matrix) -> tuple[Matrix, Matrix]:
        """The ends of intervals; with a side for the coverages if they were given as a list."""
        ends = forecasts[..., None] - widths[..., 0], forecasts[..., None] + widths[..., 1]
        return ends if self.chosen._several else (ends[0][..., 0], ends[1][..., 0])

    def _next(self, rows: Rows, steps: int) -> None:
        """Refuse rows whose times are not those of the next steps."""
        assert self.running is not None
        if rows.times.kind != self.kind:  # they have no times of their own
            return
        found = self._steps(rows.times)[:steps] - self.running.history.size + 1
        wrong = np.flatnonzero(found != np.arange(1, steps + 1))
        if wrong.size:
            t = int(wrong[0])
            raise InputError(
                f"rows: row {t}, {_shown(rows.times, t)}, is step {found[t]} after the last row "
                f"learned, not step {t + 1}: give the rows of the next {steps} steps in their order"
            )

    def certificates(self) -> list[Certificate]:
        """One for each horizon."""
        return [self.certificate(1)] if self.running is None else self.running.certificates()

    def certificate(self, h: int) -> Certificate:
        """That of a horizon."""
        if self.running is not None:
            return self.running.certificate(h)
        return Certificate(
            name="the frequency is not known yet",
            kind="report",
            rounds=0,
            loss=0.0,
            comparator=0.0,
            bound=None,
            statement=f"{len(self.waiting)} of {WARM} rows seen",
            assumptions=(),
        )


def _carried(values_: Vector, before: float) -> Vector:
    """NaN becomes the value before it."""
    found = values_.copy()
    for t in np.flatnonzero(np.isnan(found)).tolist():
        found[t] = found[t - 1] if t else before
    return found


def _shown(times: Moments, t: int) -> str:
    return str(clock(times.part(slice(t, t + 1)))[0])


def _timed(rows: Table, time: object) -> bool:
    names = values.frame_names(rows)
    if names is None and isinstance(rows, list | tuple) and rows and isinstance(rows[0], dict):
        names = list(rows[0])
    return time is not None and names is not None and time in names


def _filled(read: Rows, design: Design) -> Matrix:
    """What is given ahead, a column for each feature; those not known ahead are not looked at."""
    names = read.names or [f"feature {j}" for j in range(read.xs.shape[1])]
    given = np.zeros((len(read.xs), len(design.features)))
    for j, (name, ahead) in enumerate(zip(design.features, design.ahead)):
        if ahead and name not in names:
            raise InputError(f"rows has no {name!r}, which is used at the forecast's time")
        if name in names:
            given[:, j] = read.xs[:, names.index(name)]
    return given
