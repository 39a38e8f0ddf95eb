"""A series as a stream: past outcomes become features, at any horizon.

At horizon h the forecast of round t may know the outcomes up to round t - h and no others.  So the
last h - 1 rounds wait in a line: neither are their outcomes features, nor has the learner learned
them.  Lag k is the k-th last outcome that is known: y_(t-h+1-k), 0 where there was no such round.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from noregret.certificates import Assumption, Certificate
from noregret.errors import (
    InputError,
    NotLearnedError,
    NumericalError,
    OutcomeError,
    ParameterError,
    abbreviated,
    wrapping,
)
from noregret.gaussian.base import NotFitted
from noregret.inputs import values as features
from noregret.inputs.tables import Frame
from noregret.learner.holder import Holder
from noregret.learner.replay import Replay
from noregret.learner.saving import ours
from noregret.types import Matrix, Vector

__all__ = ["LagBuffer", "Lagged"]

LONGEST = 100_000  # the longest lag


class LagBuffer:
    """The learner, the outcomes that it may know, and the rounds that wait to be known.

    `ahead` is a twin that learns every round at once and forecasts nothing.  What it takes, the
    learner takes too when its time comes, as it will then be where the twin was; and it knows the
    best expert for all rounds.  At horizon 1 there is none.
    """

    __slots__ = ("ahead", "learner", "loss", "past", "rounds", "waiting")

    def __init__(self, learner: Any, reach: int, ahead: Any = None) -> None:
        self.learner, self.ahead = learner, ahead
        self.past: Vector = np.zeros(reach)  # the last outcomes that are known, the newest last
        self.waiting: list[tuple[Any, float]] = []  # (x with its lags, y), the oldest first
        self.rounds = 0
        self.loss: Vector = np.zeros(2)  # square loss at horizons > 1; compensated

    def forecast(self, full: Any) -> float:
        """The learner's forecast at x with its lags."""
        with wrapping("the learner", InputError):
            said = self.learner.predict_one(full)
        return said if type(said) is float else features.number(said, "the forecast", InputError)

    def sure(self, y: float) -> bool:
        """Whether the learner is one of ours and sure to learn what it has forecast."""
        return ours(self.learner) and self.learner._takes(y)

    def learn_ahead(self, full: Any, y: float, known: Any, value: float) -> None:
        """The twin learns a round and the learner one that is known now; or neither does.

        The twin goes first.  What it took, the learner takes too, unless it runs a caller's code
        or nothing is known of it: then the twin learns as a copy.
        """
        ahead = self.ahead if known is None or self.sure(y) else copy.deepcopy(self.ahead)
        with wrapping("the learner", InputError):
            ahead.learn_one(full, y)
            if known is not None:
                self.learner.learn_one(known, value)
        self.ahead = ahead


class Lagged(RegressorMixin, Holder):  # type: ignore[misc]  # scikit-learn is untyped
    """Past outcomes as features for any learner, with no look into the future.

    x may be empty (None, an empty mapping or vector): a bare series.  Lags come after the features
    of x; by name they are "lag 1", "lag 2", ...  At horizon 1 certificates are the learner's: its
    experts forecast from x and the lags.  At larger horizons no theorem speaks of forecasts from
    weights that are h - 1 rounds old, so the certificate is a report.

    Cost: that of the learner with len(lags) features more, twice that at horizons > 1; and
    max(lags) + horizon rounds of memory.

    Parameters
    ----------
    learner : the learner; it is copied, and the copy learns.
    lags : which past outcomes; 1 is the last one known.
    horizon : h >= 1, how many rounds ahead; forecasts of round t use outcomes up to t - h only.

    >>> import numpy as np
    >>> import noregret as nr
    >>> series = np.sin(np.arange(200.0) / 3.0)
    >>> learner = nr.Lagged(nr.AAR(1e-3), lags=[1, 2])
    >>> replay = learner.replay(None, series)
    >>> bool(replay.loss[100:].max() < 1e-3), replay.certificate.holds
    (True, True)
    >>> ahead = nr.Lagged(nr.AAR(1e-3), lags=[1, 2], horizon=24).replay(None, series)
    >>> ahead.certificate.kind
    'report'
    """

    _state: LagBuffer | None

    def __init__(self, learner: Any, lags: Sequence[int] = (1,), horizon: int = 1) -> None:
        self.learner = learner
        self.lags = lags
        self.horizon = horizon

    def _lags(self) -> list[int]:
        lags = self.lags
        if (
            not isinstance(lags, list | tuple | range | np.ndarray)
            or getattr(lags, "ndim", 1) != 1
            or not len(lags)
        ):
            raise ParameterError(
                f"lags = {abbreviated(lags)}: give a list of whole numbers, such as [1, 2]"
            )
        for k in lags:
            if not isinstance(k, Integral) or isinstance(k, bool) or not 1 <= int(k) <= LONGEST:
                raise ParameterError(
                    f"lags = {abbreviated(lags)}: each a whole number, 1 to {LONGEST:,}"
                )
        if len({int(k) for k in lags}) != len(lags):
            raise ParameterError(f"lags = {abbreviated(lags)}: a lag comes twice")
        return [int(k) for k in lags]

    def _horizon(self) -> int:
        h = self.horizon
        if not isinstance(h, Integral) or isinstance(h, bool) or not 1 <= int(h) <= LONGEST:
            raise ParameterError(
                f"horizon = {abbreviated(h)}: it must be a whole number, 1 to {LONGEST:,}"
            )
        return int(h)

    def _begin(self) -> LagBuffer:
        given = self.learner
        if not hasattr(given, "predict_one") or isinstance(given, type):
            raise ParameterError(f"learner = {features.abbreviated(given)}: give a learner")
        if isinstance(given, Holder) and given._tickets:
            raise ParameterError(
                f"learner = {features.abbreviated(given)}: it forecasts by ticket; give the Lagged to "
                "Delayed instead"
            )
        with wrapping("a copy of the learner", ParameterError):
            twin = copy.deepcopy(given) if self._horizon() > 1 else None
            return LagBuffer(copy.deepcopy(given), max(self._lags()), twin)

    def _learned(self) -> LagBuffer:
        if self._state is None:
            raise NotFitted("this Lagged has learned nothing yet: call learn_one or fit first")
        return self._state

    # One round ------------------------------------------------------------------------------

    def _with_lags(self, x: Any, past: Vector) -> Any:
        """x and the lags."""
        lags = self._lags()
        values = [float(past[-k]) for k in lags]
        if x is None:
            return np.array(values)
        mapping = features.as_mapping(x)
        if mapping is None:
            return np.concatenate([np.empty(0) if _empty(x) else features.row(x), values])
        return {**mapping, **_named(mapping, lags, values)}

    def predict_one(self, x: Any = None) -> float:
        """Forecast the outcome of the round to come, h rounds after the last that is used."""
        with self._lock:
            line = self._state or self._begin()
            return line.forecast(self._with_lags(x, line.past))

    def predictive(self, x: Any = None) -> Any:
        """The forecast as a distribution, where the learner has one."""
        with self._lock:
            line = self._state or self._begin()
            full = self._with_lags(x, line.past)
            if not hasattr(line.learner, "predictive"):
                raise NotLearnedError(f"{type(line.learner).__name__} forecasts no distribution")
            with wrapping("the learner", InputError):
                return line.learner.predictive(full)

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn that the round had x and the outcome y; at horizon h it counts h - 1 rounds on."""
        with self._lock:
            line = self._state or self._begin()
            self._step(line, x, features.outcome(y))
            self._state = line

    def _step(self, line: LagBuffer, x: Any, y: float) -> float:
        """One round; its forecast.  What is refused changes nothing."""
        full = self._with_lags(x, line.past)
        forecast = line.forecast(full)
        known, value = full, y
        if line.ahead is not None:  # else the learner keeps its own books
            apart = y - forecast
            loss = apart * apart
            if not math.isfinite(loss):
                raise NumericalError(
                    f"y = {y!r}: the square of its distance from the forecast {forecast!r} does "
                    "not fit in float64; rescale the features"
                )
            waiting = [*line.waiting, (full, y)]
            due = len(waiting) >= self._horizon()
            known, value = waiting.pop(0) if due else (None, math.nan)
            line.learn_ahead(full, y, known, value)
            line.waiting = waiting
            _add(line.loss, loss)
        else:
            with wrapping("the learner", InputError):
                line.learner.learn_one(full, y)
        if known is not None:
            line.past = np.append(line.past[1:], value)
        line.rounds += 1
        return forecast

    def _takes(self, y: float) -> bool:
        """Whether a round is sure to be learned whose x has just been forecast."""
        line = self._state
        return line is not None and line.ahead is None and line.sure(y)

    # Many rounds ----------------------------------------------------------------------------

    def replay(self, X: Any, y: Any) -> Replay:
        """Predict-then-learn over all rows, as the loop over rounds would go; X None: a series."""
        with self._lock:
            return self._run(self._state, X, y)

    def _run(self, held: Any, X: Any, y: Any) -> Replay:
        line = copy.deepcopy(held) or self._begin()
        xs, names, ys = self._rows(X, y)
        if self._horizon() == 1:
            replay = self._at_once(line, xs, names, ys)
        else:
            replay = self._one_by_one(line, xs, names, ys)
        self._state = line
        return replay

    def _rows(self, X: Any, y: Any) -> tuple[Matrix, list[Any] | None, Vector]:
        X = features.as_frame(X)
        size = _length(y, "y") if X is None else _length(X, "X")
        if not size:
            raise InputError("there are no rows: give at least one round")
        table, scalar = features.outcome_table(y, size)
        if not scalar:
            raise OutcomeError(
                f"y has {table.shape[1]} outcomes a round: Lagged takes one outcome a round"
            )
        if X is None:
            return np.empty((size, 0)), None, table[:, 0]
        xs, names = _table(X)
        return xs, names, table[:, 0]

    def _at_once(self, line: LagBuffer, xs: Matrix, names: list[Any] | None, ys: Vector) -> Replay:
        """Horizon 1: every lag is an outcome of an earlier round, so all rows are known."""
        lags = self._lags()
        series = np.concatenate([line.past, ys])
        reach, T = len(line.past), len(ys)
        columns = [series[reach - k : reach - k + T] for k in lags]
        full = np.column_stack([xs, *columns])
        table: Any = full
        if names is not None:
            extra = _named(dict.fromkeys(names), lags, lags)
            table = Frame([*names, *extra], full)
        if not hasattr(line.learner, "replay"):
            raise InputError(
                f"{type(line.learner).__name__} has no replay: learn its rounds one by one"
            )
        with wrapping("the learner", InputError):
            replay: Replay = line.learner.replay(table, ys)
        line.past = series[-reach:].copy()
        line.rounds += T
        return replay

    def _one_by_one(
        self, line: LagBuffer, xs: Matrix, names: list[Any] | None, ys: Vector
    ) -> Replay:
        forecasts = np.empty(len(ys))
        for t, (row, y) in enumerate(zip(xs, ys.tolist())):
            x: Any = row if names is None else dict(zip(names, row.tolist()))
            forecasts[t] = self._step(line, x, y)
        return Replay(
            forecast=forecasts,
            mean=None,
            spread=None,
            loss=(ys - forecasts) ** 2,
            certificate=self._report(line),
        )

    def predict(self, X: Any) -> Vector:
        """Forecasts of the round to come at every row of X, all from the outcomes known now."""
        with self._lock:
            line = self._learned()
            xs, names = _table(features.as_frame(X))
            rows: list[Any] = list(xs)
            if names is not None:
                rows = [dict(zip(names, row.tolist())) for row in xs]
            return np.array([line.forecast(self._with_lags(row, line.past)) for row in rows])

    # What was learned -----------------------------------------------------------------------

    @property
    def learner_(self) -> Any:
        """The learner, which has learned."""
        return self._learned().learner

    @property
    def n_samples_seen_(self) -> int:
        """How many rounds have been seen, those that wait included."""
        return self._learned().rounds

    def certificates(self) -> list[Certificate]:
        """Those of the learner at horizon 1; else a report."""
        with self._lock:
            line = self._learned()
            if self._horizon() > 1:
                return [self._report(line)]
            found: list[Certificate] = line.learner.certificates()
            return found

    def certificate(self) -> Certificate:
        """The main certificate."""
        return self.certificates()[0]

    def _report(self, line: LagBuffer) -> Certificate:
        """What was paid at horizon h, beside the best expert in hindsight."""
        h = self._horizon()
        return Certificate(
            name=f"horizon {h}, no theorem",
            kind="report",
            rounds=line.rounds,
            loss=float(line.loss.sum()),
            comparator=line.ahead.certificate().comparator,
            bound=None,
            statement=f"sum (y - g)^2, forecasts made {h} rounds ahead; no bound is known",
            assumptions=(Assumption("forecasts follow the last outcome", met=False),),
        )


def _length(rows: Any, field: str) -> int:
    if not hasattr(rows, "__len__"):
        raise InputError(
            f"{field} = {features.abbreviated(rows)} has no length: give a list or an array"
        )
    return len(rows)


def _table(X: Any) -> tuple[Matrix, list[Any] | None]:
    """Rows and the names of columns; there may be no columns at all."""
    names = features.frame_names(X)
    bare = names == [] or (isinstance(X, np.ndarray) and X.ndim == 2 and not X.shape[1])
    if not bare and isinstance(X, list | tuple):
        bare = all(isinstance(x, list | tuple | np.ndarray | Mapping) and len(x) == 0 for x in X)
    return (np.empty((_length(X, "X"), 0)), names) if bare else features.table(X)


def _named(taken: Mapping[Any, Any], lags: list[int], values: Sequence[Any]) -> dict[str, Any]:
    """The lags by name."""
    named = {f"lag {k}": value for k, value in zip(lags, values)}
    for name in named:
        if name in taken:
            raise InputError(f"x has a feature called {name!r}, which is the name of a lag")
    return named


def _empty(x: Any) -> bool:
    return hasattr(x, "__len__") and not isinstance(x, str | bytes) and len(x) == 0


def _add(total: Vector, term: float) -> None:
    """Compensated (Neumaier)."""
    s = total[0] + term
    small = (total[0] - s) + term if abs(total[0]) >= abs(term) else (term - s) + total[0]
    if math.isfinite(s):
        total[1] += small
    total[0] = s
