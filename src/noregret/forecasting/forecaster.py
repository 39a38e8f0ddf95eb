"""Forecaster: rows with times in, forecasts 1..H steps ahead out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Real
from typing import ClassVar

import numpy as np

from noregret.certificates import Certificate
from noregret.declare.fields import Group
from noregret.declare.parameters import LAG, Parameter, Text, Whole
from noregret.errors import InputError, ParameterError, abbreviated
from noregret.experts.auto import Auto
from noregret.forecasting.bands import summary
from noregret.forecasting.design import Design
from noregret.forecasting.history import MEAN
from noregret.forecasting.results import Facts, Forecasts, clock
from noregret.forecasting.scores import Scores
from noregret.forecasting.seasons import parts_of, seasons_of, stretch_of
from noregret.forecasting.state import Running
from noregret.forecasting.stream import WARM, ForecasterState
from noregret.forecasting.times import ROWS, Moments
from noregret.learner.base import Learner
from noregret.learner.estimator import Regressor
from noregret.types import Labels, Matrix, Row, Table, Vector
from noregret.wrappers.inner import Wrapper, private_copy

__all__ = ["FARTHEST", "Forecaster"]

FARTHEST = 1_000  # steps ahead: memory grows with the square of the horizon


class Forecaster(Regressor, Wrapper[ForecasterState]):
    """Rows with times in, forecasts for 1..H steps ahead out, never much worse than naive ones.

    A row is a mapping (or a line of a frame) with its time and its features; without times rows are
    counted.  The step between rows is inferred from the first 10 or given (`every`).  Lags,
    seasonal means and the calendar become features by themselves.  Each horizon has models of its
    own, which learn an outcome when it comes and are scored at that horizon.

    Every horizon plays, beside the learner and six linear models, the naive forecasts: mean so far,
    last value, same time yesterday, last week, last year, as far as the frequency has them.  They
    are merged by weights at the rate of the best one's own error, and the Aggregating Algorithm
    stands guard: `certificate(horizon=h)` bounds the loss of the forecasts as issued by that of
    the best expert.  A series that repeats itself exactly is forecast exactly after two periods.

    predict_one(row), predict(rows)  forecasts of rows to come, at the horizon their times say
    learn_one(row, y), replay(rows, y)  learn; replay has `.ahead`, (T, H), and `.low`, `.high`
    forecast(steps, rows=None)  the next steps: `.times .forecast .low .high .to_frame()`
    scores()  RMSE and MAE by horizon of these forecasts and of every baseline; `.skill(h)`
    facts()  rows, frequency, gaps, features, and which of these are assumed to be known ahead
    coverage_, width_  of the intervals, by horizon; losses_(horizon) by expert

    Cost: at each horizon six linear cores of 3.5 n^2 flops per row and about 15 merging weights;
    the learner once per block of horizons (1, 2, 4, 8, ..., H), Auto() twice one step ahead.  With
    n about 20 features, 50,000 rows take some 30 s at H = 1 and a minute or two at H = 48.  Memory:
    one longest lag (a year where the frequency has one), about 100 n^2 numbers per horizon, and 200
    h at horizon h, whose pool has h copies that take turns: 20 MB at H = 100, 1 GB at H = 1,000.

    Parameters
    ----------
    learner : the learner that plays beside the rest, Auto() by default; it is copied.  Auto plays
        twice one step ahead, unless lags are given: on past outcomes and features in running
        units, and on the features as they are.  The default one is Auto(effort="linear") further
        ahead, and where the frequency has no season on the first of these.  With a learner for
        labels, such as AutoClassifier(), outcomes are any two labels, forecasts are probabilities
        of the second, and losses are Brier scores.
    time : the name of the column with times (or of the index of pandas): datetimes, ISO text, or
        numbers.  None: the index where it has dates, else rows are counted.
    every : the step between rows: a timedelta, "30 min", "1 day", "1 weekday" (Monday to Friday),
        "1 month", or a number where times are numbers.  None: inferred.
    horizon : H, how many steps ahead, up to 1,000; for more take a longer step, as days of hours.
    lags : which outcomes before the forecast's time are features, each at least H; "auto": those of
        the seasons and the last known ones, at each horizon.
    calendar : "auto", None, or some of "day", "week", "year".
    known : features that are known at the forecast's time: "all", or a list of names.  The others
        are used as they were at the last row known.
    intervals : coverage of the intervals in percent; or a list of several, which stay nested: then
        the ends of intervals have one more side, with an entry for each.
    gaps : steps without a row: "fill" them with the season before (they are neither learned nor
        scored), or "refuse".
    late : a row whose time is not after the last one: "refuse", or "skip" (NaN in a replay).

    >>> import numpy as np
    >>> times = np.arange("2024-01-01", "2024-01-29", dtype="datetime64[h]")
    >>> load = 100.0 + 10.0 * np.sin(np.arange(len(times)) * 2 * np.pi / 24)
    >>> rows = [{"at": time} for time in times]
    >>> model = Forecaster(time="at", horizon=24)
    >>> replay = model.replay(rows, load)
    >>> print(model.forecast(steps=3))
    time                   forecast   90 % interval
    2024-01-29 00:00            100   100 to 100
    2024-01-29 01:00         102.59   102.59 to 102.59
    2024-01-29 02:00            105   105 to 105
    >>> model.facts().every, model.certificate(horizon=24).holds
    ('1 h', True)
    """

    STATE = Group("state", ForecasterState)
    _merge_refusal = "what a row teaches it depends on the rows before"
    _parameters: ClassVar[dict[str, Parameter]] = {
        "lags": Parameter(Text(), 'past outcomes that are features: "auto", or steps before'),
        "horizon": Parameter(
            Whole(1, FARTHEST, f"a whole number, 1 to {FARTHEST:,}"), "steps ahead"
        ),
    }

    def __init__(
        self,
        learner: Learner | None = None,
        *,
        time: object = None,
        every: object = None,
        horizon: int = 1,
        lags: object = "auto",
        calendar: object = "auto",
        known: object = "all",
        intervals: float | Sequence[float] = 90,
        gaps: str = "fill",
        late: str = "refuse",
    ) -> None:
        self.learner = learner  # type: ignore[assignment]  # None: Auto()
        self.time = time
        self.every = every
        self.horizon = horizon
        self.lags = lags
        self.calendar = calendar
        self.known = known
        self.intervals = intervals
        self.gaps = gaps
        self.late = late

    # Parameters -----------------------------------------------------------------------------

    def _inner(self, *, near: bool = False) -> Learner:
        """The learner of past outcomes and features in units; near: one step ahead, in seasons."""
        if self.learner is not None:
            return self.learner
        return Auto() if near and self._lags() is None else Auto(effort="linear")  # lags are given

    def _plain(self) -> Learner | None:
        """A learner of features as they are, one step ahead: Auto, which has a memory of its own.

        Lags that were given are all that shall be seen of the past.
        """
        chosen = Auto() if self.learner is None else self.learner
        fits = isinstance(chosen, Auto) and chosen.effort != "linear" and self._lags() is None
        return private_copy(chosen) if fits else None

    @property
    def _binary(self) -> bool:
        return hasattr(self._inner(), "predict_proba")

    def _coverages(self) -> list[float]:
        return [percent / 100.0 for percent in self._checked("intervals")]

    @property
    def _several(self) -> bool:
        return not isinstance(self.intervals, Real)

    def _lags(self) -> tuple[int, ...] | None:
        """The lags as given, none below the horizon; None: "auto"."""
        if isinstance(self.lags, str) and self.lags == "auto":
            return None
        given = [self.lags] if isinstance(self.lags, int) else self.lags
        if not isinstance(given, Iterable) or isinstance(given, str):
            raise ParameterError(f'lags = {abbreviated(self.lags)}: give "auto" or whole numbers')
        lags = [LAG.check("lags", lag) for lag in given]
        H = self._checked("horizon")
        for lag in lags:
            if lag < H:
                raise ParameterError(
                    f"lags: {lag} is below horizon = {H}. A lag counts back from the forecast's "
                    f"time, so the outcome {lag} step{'s' * (lag > 1)} before it is not known "
                    f'{H} steps ahead; give lags >= {H}, or lags="auto"'
                )
        if not lags or len({*lags}) != len(lags):
            raise ParameterError(f"lags = {abbreviated(self.lags)}: give some, none of them twice")
        return tuple(lags)

    def _known(self, features: Sequence[str]) -> tuple[bool, ...]:
        if isinstance(self.known, str) and self.known == "all":
            return (True,) * len(features)
        if (
            self.known is None
            or isinstance(self.known, str)
            or not isinstance(self.known, Iterable)
        ):
            raise ParameterError(
                f'known = {abbreviated(self.known)}: give "all", or a list of feature names'
            )
        chosen = [str(name) for name in self.known]
        for name in chosen:
            if name not in features:
                raise ParameterError(
                    f"known: there is no feature {name!r}; there are: {', '.join(features)}"
                )
        return tuple(name in chosen for name in features)

    def _design(self, state: ForecasterState) -> Design:
        """All that follows from the parameters, the grid and the features."""
        every = state.every or ROWS
        return Design(
            every=every,
            origin=state.first,
            zone=state.zone,
            seasons=tuple(seasons_of(every)),
            lags=self._lags(),
            parts=tuple(parts_of(self.calendar, every)),
            features=tuple(state.features),
            ahead=self._known(state.features),
            binary=self._binary,
            warm=state.warm,
        )

    def _begin(self) -> ForecasterState:
        self._lags()
        for name in ("horizon", "intervals", "gaps", "late"):
            self._checked(name)
        private_copy(self._inner())  # refused before any row is read
        return ForecasterState(self)

    def _accept(self, state: ForecasterState) -> None:
        state.chosen = self
        if state.running is not None:
            state.running.accept(
                self._design(state), self._checked("horizon"), len(self._coverages())
            )
        self._state = state

    def __setstate__(self, stored: dict[str, object]) -> None:
        super().__setstate__(stored)
        if self._state is not None:
            self._state.chosen = self

    # Forecasts ------------------------------------------------------------------------------

    def predict_one(self, x: Row = None) -> float:
        """The forecast of a row to come, at the horizon that its time says."""
        with self._lock:
            return (self._state or self._begin()).predict(x)

    def forecast(self, steps: int | None = None, rows: Table = None) -> Forecasts:
        """Forecasts and intervals of the next steps, all up to the horizon by default.

        rows : the features of these steps, where some are used at the forecast's time.
        """
        with self._lock:
            H = self._checked("horizon")
            count = (
                H
                if steps is None
                else Whole(1, FARTHEST, "a whole number >= 1").check("steps", steps)
            )
            return self._learned().forecast(count, rows)

    def _ends_about(self, forecasts: Vector, start: int) -> tuple[Matrix, Matrix] | None:
        """Ends of intervals about forecasts of steps to come after the first `start`, if known."""
        running = self._learned().running
        if running is None or not len(forecasts):
            return None
        widths = running.bands.now(self._coverages())[start : start + len(forecasts)]
        return self._learned()._ends(forecasts, widths)

    # What was learned -----------------------------------------------------------------------

    def certificate(self, *, horizon: int = 1) -> Certificate:  # type: ignore[override]
        """What is proved of the forecasts issued at a horizon."""
        with self._lock:
            return self._learned().certificate(self._within(horizon))

    def _within(self, horizon: object) -> int:
        H = self._checked("horizon")
        return Whole(1, H, f"a horizon from 1 to {H}").check("horizon", horizon)

    def _ran(self) -> Running:
        running = self._learned().running
        if running is None:
            raise InputError(f"the first {WARM} rows show the frequency: learn more")
        return running

    def scores(self) -> Scores:
        """Errors of the forecasts issued and of every baseline, by horizon."""
        with self._lock:
            running = self._ran()
            design = running.design
            return Scores.of(
                running.tally, ["forecast", *design.baselines], stretch_of(design.every)[1]
            )

    def losses_(self, horizon: int = 1) -> dict[str, float]:
        """What each expert has lost at a horizon; the forecasts issued: `certificate().loss`."""
        with self._lock:
            running = self._ran()
            h = self._within(horizon)
            return dict(zip(running.experts(h), running.aheads[h - 1].paid().tolist()))

    @property
    def classes_(self) -> Labels:
        """The two labels, the second one forecast; only with a learner for labels."""
        if not self._binary:
            raise AttributeError("classes_ is for labels: give a learner such as AutoClassifier()")
        with self._lock:
            return np.array(self._learned().labels)

    @property
    def coverage_(self) -> Vector:
        """By horizon, the share of outcomes inside their intervals; (H, C) of several coverages."""
        return self._by_horizon(0)

    @property
    def width_(self) -> Vector:
        """By horizon, the mean width of the intervals; (H, C) of several coverages."""
        return self._by_horizon(1)

    def _by_horizon(self, which: int) -> Vector:
        with self._lock:
            found = summary(self._ran().bands)[which]
            return found if self._several else found[:, 0]

    def facts(self) -> Facts:
        """What was found in the rows."""
        with self._lock:
            state = self._learned()
            running = state.running
            if running is None:
                return Facts(
                    state.rows, "", None, None, 0, 0, (), (), (), tuple(state.features), ()
                )
            design = running.design
            known = [
                state.first,
                float(design.times(np.array([running.history.size - 1]), 0.0).at[0]),
            ]
            ends = Moments(
                design.every.unit, np.array(known), np.full(2, state.offset), design.zone
            )
            named, counted = isinstance(self.known, str), design.every.unit == "rows"
            lags = design.lags or [
                int(name[4:]) for name in design.names(1) if name.startswith("lag ")
            ]
            return Facts(
                rows=state.rows,
                every=str(design.every),
                first=None if counted else clock(ends)[0],
                last=None if counted else clock(ends)[1],
                gaps=state.gaps,
                skipped=state.skipped,
                seasons=tuple(s.name for s in design.seasons),
                lags=tuple(sorted({*lags})),
                calendar=design.parts,
                features=design.features,
                assumed=design.features if named else (),
                irregular=counted and state.kind != "rows",
                weekends=state.weekends or 0,
                mean=float(running.history.table[MEAN, -1]),
            )
