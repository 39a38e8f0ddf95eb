"""A series as a stream: past outcomes become features, at any horizon.

At horizon h the forecast of round t may know the outcomes up to round t - h and no others.  So the
last h - 1 rounds wait in a line: neither are their outcomes features, nor has the learner learned
them.  Lag k is the k-th last outcome that is known: y_(t-h+1-k), 0 where there was no such round.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Self, TypeVar

import numpy as np

from noregret._native.ledger import add
from noregret.certificates import Assumption, Certificate
from noregret.declare.fields import AnyLearner, Array, Count, Group, Mismatch, Records
from noregret.errors import (
    FeatureError,
    InputError,
    NotLearnedError,
    NumericalError,
    abbreviated,
    wrapping,
)
from noregret.inputs import values
from noregret.inputs.spaces import FeatureSpace, Names, Positions
from noregret.inputs.tables import Frame
from noregret.learner.base import Learner
from noregret.learner.estimator import Regressor
from noregret.learner.replay import Replay
from noregret.learner.saving import ours
from noregret.types import Bernoulli, Matrix, Mixture, Normal, Outcome, Outcomes, Row, Table, Vector
from noregret.wrappers.inner import Wrapper, certificates_of, forecast_of, private_copy, space_of

__all__ = ["LagBuffer", "Lagged"]

V = TypeVar("V")


class LagBuffer:
    """The learner, the outcomes that it may know, and the rounds that wait to be known.

    `ahead` is a twin that learns every round at once and forecasts nothing.  What it takes, the
    learner takes too when its time comes, as it will then be where the twin was; and it knows the
    best expert for all rounds.  At horizon 1 there is none.
    """

    __slots__ = ("ahead", "horizon", "lags", "learner", "loss", "past", "rounds", "waiting")

    FIELDS = (
        AnyLearner("learner"),
        AnyLearner("ahead", optional=True),
        Array("past", ("longest lag",)),
        Records("waiting", ("a round that waits", "y")),
        Count("rounds"),
        Array("loss", (2,), finite=False),
    )
    SCRATCH = ("horizon", "lags")  # as the parameters say

    def __init__(
        self, learner: Learner, lags: list[int], horizon: int, ahead: Learner | None = None
    ) -> None:
        self.learner, self.ahead = learner, ahead
        self.lags, self.horizon = lags, horizon
        self.past: Vector = np.zeros(max(lags))  # the last outcomes known, the newest last
        self.waiting: list[tuple[Row, float]] = []  # (x with its lags, y), the oldest first
        self.rounds = 0
        self.loss: Vector = np.zeros(2)  # square loss at horizons > 1; compensated

    @classmethod
    def restored(
        cls,
        learner: Learner,
        ahead: Learner | None,
        past: Vector,
        waiting: Iterable[tuple[Row, object]],
        rounds: int,
        loss: Vector,
    ) -> Self:
        """The state of these values; the learner around it knows lags and horizon."""
        found = cls(learner, [1], 1, ahead)
        found.past, found.rounds, found.loss = past, rounds, loss
        for x, y in waiting:
            if type(y) is not float or not isinstance(x, np.ndarray | dict):
                raise Mismatch("has an invalid round that waits")
            found.waiting.append((x, y))
        if ahead is not None and type(ahead) is not type(learner):
            raise Mismatch("has a twin of another kind")
        return found

    def set_lags(self, lags: list[int], horizon: int) -> None:
        """Go on with these, which must be those that this was learned with."""
        if len(self.past) != max(lags) or (self.ahead is None) != (horizon == 1):
            raise Mismatch("was learned with other lags or at another horizon")
        if len(self.waiting) > min(self.rounds, horizon - 1):
            raise Mismatch("has too many rounds that wait")
        self.lags, self.horizon = lags, horizon

    @property
    def space(self) -> FeatureSpace | None:
        """The features of x: those of the learner without the lags."""
        space = space_of(self.learner if self.ahead is None else self.ahead)
        if isinstance(space, Names):
            lags = {f"lag {k}" for k in self.lags}
            return Names(name for name in space.slots if name not in lags)
        return None if space is None else Positions(space.size - len(self.lags))

    def copy(self) -> Self:
        """One that shares nothing with this one."""
        return copy.deepcopy(self)

    # One round ------------------------------------------------------------------------------

    def with_lags(self, x: Row) -> Row:
        """x and the lags."""
        known = [float(self.past[-k]) for k in self.lags]
        if x is None:
            return np.array(known)
        mapping = values.as_mapping(x)
        if mapping is not None:
            return dict(mapping) | self._by_name(mapping, known)
        size = x.size if isinstance(x, np.ndarray) else 1
        if isinstance(x, list | tuple):
            size = len(x)
        return np.concatenate([values.row(x) if size else np.empty(0), known])

    def _by_name(self, taken: Collection[object], given: Sequence[V]) -> dict[str, V]:
        """What is given for each lag, by its name, which no feature of x may have taken."""
        named = {f"lag {k}": value for k, value in zip(self.lags, given)}
        for name in named:
            if name in taken:
                raise InputError(f"x has a feature called {name!r}, which is the name of a lag")
        return named

    def predict(self, x: Row) -> float:
        """The forecast at x."""
        return self._forecast(self.with_lags(x))

    def _forecast(self, full: Row) -> float:
        """The learner's forecast at x with its lags."""
        said = forecast_of(self.learner, full)
        return said if type(said) is float else values.number(said, "the forecast", InputError)

    def learn(self, x: Row, y: Outcome) -> Self:
        """Learn one round."""
        self.step(x, values.outcome(y))
        return self

    def step(self, x: Row, y: float) -> float:
        """Learn one round; its forecast.  What is refused changes nothing."""
        full = self.with_lags(x)
        forecast = self._forecast(full)
        known, value = full, y
        if self.ahead is not None:  # else the learner keeps its own books
            apart = y - forecast
            loss = apart * apart
            if not math.isfinite(loss):
                raise NumericalError(
                    f"y = {y!r}: the square of its distance from the forecast {forecast!r} does "
                    "not fit in float64; rescale the features"
                )
            waiting = [*self.waiting, (full, y)]
            due = len(waiting) >= self.horizon
            known, value = waiting.pop(0) if due else (None, math.nan)
            self._learn_both(self.ahead, full, y, known, value)
            self.waiting = waiting
            add(self.loss[None], 0, loss)
        else:
            with wrapping("the learner", InputError):
                self.learner.learn_one(full, y)
        if known is not None:
            self.past = np.append(self.past[1:], value)
        self.rounds += 1
        return forecast

    def _learn_both(self, ahead: Learner, full: Row, y: float, known: Row, value: float) -> None:
        """The twin learns a round and the learner one that is known now; or neither does.

        The twin goes first.  What it took, the learner takes too, unless it runs a caller's code
        or nothing is known of it: then the twin learns as a copy.
        """
        ahead = ahead if known is None or self.sure(y) else copy.deepcopy(ahead)
        with wrapping("the learner", InputError):
            ahead.learn_one(full, y)
            if known is not None:
                self.learner.learn_one(known, value)
        self.ahead = ahead

    def sure(self, y: float) -> bool:
        """Whether the learner is one of ours and sure to learn what it has forecast."""
        return ours(self.learner) and self.learner._takes(y)

    # Many rounds ----------------------------------------------------------------------------

    def predict_rows(self, X: Table) -> Vector:
        """Forecasts of the round to come at every row, all from the outcomes known now."""
        return np.array([self.predict(x) for x in _rows(*_table(X))])

    def replay(self, X: Table, y: Outcomes) -> tuple[Self, Replay]:
        """Predict-then-learn over rows, on a copy."""
        size = _length(y, "y") if X is None else _length(X, "X")
        if not size:
            raise FeatureError("there are no rows: give at least one round")
        ys = values.outcome_column(y, size)
        xs, names = (np.empty((size, 0)), None) if X is None else _table(X)
        after = self.copy()
        run = after._at_once if self.horizon == 1 else after._one_by_one
        return after, run(xs, names, ys)

    def _at_once(self, xs: Matrix, names: list[object] | None, ys: Vector) -> Replay:
        """Horizon 1: every lag is an outcome of an earlier round, so all rows are known."""
        series = np.concatenate([self.past, ys])
        reach, T = len(self.past), len(ys)
        full = np.column_stack([xs, *(series[reach - k : reach - k + T] for k in self.lags)])
        table: Table = full
        if names is not None:
            table = Frame([*names, *self._by_name(names, self.lags)], full)
        if not hasattr(self.learner, "replay"):
            raise InputError(
                f"{type(self.learner).__name__} has no replay: learn its rounds one by one"
            )
        with wrapping("the learner", InputError):
            replay: Replay = self.learner.replay(table, ys)
        self.past = series[-reach:].copy()
        self.rounds += T
        return replay

    def _one_by_one(self, xs: Matrix, names: list[object] | None, ys: Vector) -> Replay:
        rounds = zip(_rows(xs, names), ys.tolist(), strict=True)
        forecasts = np.array([self.step(x, y) for x, y in rounds])
        return Replay(
            forecast=forecasts,
            mean=None,
            spread=None,
            loss=(ys - forecasts) ** 2,
            certificate=self.certificates()[0],
        )

    def certificates(self) -> list[Certificate]:
        """Those of the learner at horizon 1; else what was paid beside the best in hindsight."""
        if self.ahead is None:
            return certificates_of(self.learner)
        h = self.horizon
        report = Certificate(
            name=f"horizon {h}, no theorem",
            kind="report",
            rounds=self.rounds,
            loss=float(self.loss.sum()),
            comparator=next((c.comparator for c in certificates_of(self.ahead)), math.nan),
            bound=None,
            statement=f"sum (y - g)^2, forecasts made {h} rounds ahead; no bound is known",
            assumptions=(Assumption("forecasts follow the last outcome", met=False),),
        )
        return [report]


class Lagged(Regressor, Wrapper[LagBuffer]):
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

    STATE = Group("state", LagBuffer)

    def __init__(self, learner: Learner, lags: Sequence[int] = (1,), horizon: int = 1) -> None:
        self.learner = learner
        self.lags = lags
        self.horizon = horizon

    def _begin(self) -> LagBuffer:
        lags, horizon = self._checked("lags"), self._checked("horizon")
        ahead = private_copy(self.learner) if horizon > 1 else None
        return LagBuffer(private_copy(self.learner), lags, horizon, ahead)

    def _accept(self, state: LagBuffer) -> None:
        state.set_lags(self._checked("lags"), self._checked("horizon"))
        self._state = state

    def predict_one(self, x: Row = None) -> float:
        """Forecast the outcome of the round to come, h rounds after the last that is used."""
        with self._lock:
            return (self._state or self._begin()).predict(x)

    def predictive(self, x: Row = None) -> Normal | Bernoulli | Mixture:
        """The forecast as a distribution, where the learner has one."""
        with self._lock:
            state = self._state or self._begin()
            full = state.with_lags(x)
            if not hasattr(state.learner, "predictive"):
                raise NotLearnedError(f"{type(state.learner).__name__} has no distribution")
            with wrapping("the learner", InputError):
                forecast: Normal | Bernoulli | Mixture = state.learner.predictive(full)
                return forecast

    def _takes(self, y: float) -> bool:
        """Whether a round is sure to be learned whose x has just been forecast."""
        state = self._state
        return state is not None and state.ahead is None and state.sure(y)

    @property
    def learner_(self) -> Learner:
        """The learner, which has learned."""
        return self._learned().learner


def _length(rows: Table, field: str) -> int:
    if not hasattr(rows, "__len__"):
        raise InputError(f"{field} = {abbreviated(rows)} has no length: give a list or an array")
    return len(rows)


def _table(X: Table) -> tuple[Matrix, list[object] | None]:
    """Rows and the names of columns; there may be no columns at all."""
    names = values.frame_names(X)
    bare = names == [] or (isinstance(X, np.ndarray) and X.ndim == 2 and not X.shape[1])
    if not bare and isinstance(X, list | tuple):
        bare = all(isinstance(x, list | tuple | np.ndarray | Mapping) and len(x) == 0 for x in X)
    return (np.empty((_length(X, "X"), 0)), names) if bare else values.table(X)


def _rows(xs: Matrix, names: list[object] | None) -> Iterator[Row]:
    """Row by row, by name where there are names."""
    return iter(xs) if names is None else (dict(zip(names, row.tolist())) for row in xs)
