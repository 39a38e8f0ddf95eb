"""A Gaussian learner as its users see it: one round, many rounds, what was learned, proofs.

Threads that share a learner learn in some serial order: a compiled round is one step for all
other threads, and whatever takes several steps holds the lock and closes the state to rounds
that take none.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import NotFittedError

from noregret._ops import bare, rounds
from noregret._ops.layout import OK
from noregret.certificates import Certificate
from noregret.doors import Names, door_for
from noregret.errors import MergeError, NotLearnedError, ParameterError
from noregret.ledger import totals
from noregret.replay import Replay
from noregret.rules import Rule
from noregret.stream import ARRAYS, NAMES, Plan, Stream, one_outcome
from noregret.theorems import Scene, Theorem
from noregret.types import Forecast, Matrix, Track, Vector

__all__ = ["Drift", "Gaussian", "positive"]

Drift = float | Callable[[int], float]
ndarray, float64 = np.ndarray, np.dtype(np.float64)
_predict, _learn = bare(rounds.predict), bare(rounds.learn)


class NotFitted(NotLearnedError, NotFittedError):  # type: ignore[misc]  # noqa: N818
    """Nothing has been learned yet; scikit-learn's NotFittedError too."""


def positive(name: str, value: Any) -> float:
    """A parameter that must be a positive number, neither it nor its inverse out of reach."""
    if isinstance(value, int | float | np.number) and not isinstance(value, bool):
        taken = float(value)
        if 1e-300 <= taken <= 1e300:
            return taken
    raise ParameterError(f"{name} = {value!r}: it must be a number > 0 (1e-300 to 1e300)")


class Gaussian(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """What all Gaussian learners share; a child says which rule and which theorems are its own."""

    # State is in slots: `__init__` sets parameters and nothing else, as scikit-learn asks.
    __slots__ = ("_lock", "_stream")

    prior_precision: float
    kernel: Any
    drift: Drift
    fit_intercept: bool
    budget: Any
    _lock: Lock
    _stream: Stream | None

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """A learner that has seen nothing."""
        self: Self = super().__new__(cls)
        self._lock, self._stream = Lock(), None
        return self

    def _rule(self) -> Rule:
        raise NotImplementedError

    def _plan(self) -> Plan:
        """The parameters, checked."""
        for name in ("kernel", "budget"):
            if getattr(self, name) is not None:
                raise ParameterError(
                    f"{name} = {getattr(self, name)!r}: only None is supported yet"
                )
        drift = self.drift
        if not callable(drift):
            number = isinstance(drift, int | float | np.number) and not isinstance(drift, bool)
            if not (number and 0.0 <= drift <= 1e300):
                raise ParameterError(
                    f"drift = {drift!r}: it must be a number >= 0, or a function of the round"
                )
            drift = float(drift)
        if not isinstance(self.fit_intercept, bool | np.bool_):
            raise ParameterError(
                f"fit_intercept = {self.fit_intercept!r}: it must be True or False"
            )
        precision = positive("prior_precision", self.prior_precision)
        return Plan(self._rule(), precision, drift, bool(self.fit_intercept))

    # One round ------------------------------------------------------------------------------

    def predict_one(self, x: Any) -> Forecast:
        """Forecast the outcome at x: a 1-D array, or a mapping of feature name to number."""
        stream = self._stream
        if stream is not None:
            vector = None
            if stream.lane == ARRAYS:
                if type(x) is ndarray and x.dtype is float64 and x.ndim == 1:
                    vector = x
            elif stream.lane == NAMES and type(x) is dict:
                vector = stream.door.encode(x)  # type: ignore[attr-defined]  # names, in this lane
            if vector is not None:
                core = stream.core
                forecast = _predict(core.factor, core.work, vector)
                if forecast == forecast:  # else it was refused: see why below
                    return forecast
        with self._lock:
            return (self._stream or Stream.start(self._plan(), door_for(x))).forecast(x)

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn that x had the outcome y: a number, or a vector of several outcomes."""
        stream = self._stream
        if stream is not None and type(y) is float:
            vector = None
            if stream.lane == ARRAYS:
                if type(x) is ndarray and x.dtype is float64 and x.ndim == 1:
                    vector = x
            elif stream.lane == NAMES and type(x) is dict:
                vector = stream.door.encode(x)  # type: ignore[attr-defined]  # names, in this lane
            if vector is not None:
                core = stream.core
                if core.alone:
                    if _learn(core.factor, core.work, stream.ledger, vector, y) == OK:
                        return
                else:
                    with self._lock:
                        if stream is self._stream and stream.absorb(vector, y) == OK:
                            return
        with self._lock:
            if self._stream is None:
                ys, scalar = one_outcome(y)
                stream = Stream.start(self._plan(), door_for(x), ys.size, scalar=scalar)
                self._stream = stream.learn(x, y)
            else:
                self._stream = self._stream.learn(x, y)

    # Many rounds ----------------------------------------------------------------------------

    def replay(self, X: Any, y: Any) -> Replay:
        """Predict-then-learn over all rows at array speed, as the loop over rounds would go.

        X is an array (T, n), a frame, or a list of mappings; y has one outcome a row, or one
        row of outcomes.  The certificate speaks of all that this learner has seen.
        """
        stream, track, forecasts, losses = self._run(X, y)
        flat = (forecasts[:, 0], track.mean[:, 0]) if stream.scalar else (forecasts, track.mean)
        library = type(X).__module__.partition(".")[0]
        with np.errstate(over="ignore"):  # a spread beyond float64 is infinite, its root is not
            spread = track.root * track.root
        return Replay(
            forecast=flat[0],
            mean=flat[1],
            spread=spread,
            loss=losses,
            certificate=self.certificate(),
            library=library if library in ("pandas", "polars") else "pandas",
        )

    def _run(self, X: Any, y: Any, *, afresh: bool = False) -> tuple[Stream, Track, Matrix, Vector]:
        with self._lock:
            stream = None if afresh else self._stream
            if stream is None:
                stream = Stream.for_table(self._plan(), X, y)
            result = stream.replay(X, y)
            self._stream = result[0]
        return result

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Learn all rows, in order, on top of what was learned before."""
        self._run(X, y)
        return self

    def fit(self, X: Any, y: Any) -> Self:
        """Forget everything, then learn all rows in order."""
        self._run(X, y, afresh=True)
        return self

    def predict(self, X: Any) -> Matrix:
        """Forecasts at every row, from what has been learned so far; nothing is learned."""
        means, roots = self._survey(X)
        stream = self._learned()
        forecasts = stream.plan.rule.forecast(means, roots)
        return forecasts[:, 0] if stream.scalar else forecasts

    def _survey(self, X: Any) -> tuple[Matrix, Vector]:
        with self._lock:
            stream = self._learned()
            with stream.closed():
                return stream.survey(X)

    # What was learned -----------------------------------------------------------------------

    def _learned(self) -> Stream:
        if self._stream is None:
            raise NotFitted(
                f"this {type(self).__name__} has learned nothing yet: call learn_one or fit first"
            )
        return self._stream

    def __sklearn_is_fitted__(self) -> bool:
        return self._stream is not None

    @property
    def n_features_in_(self) -> int:
        """How many features have been seen, the constant one not counted."""
        return self._learned().door.size

    @property
    def feature_names_in_(self) -> Any:
        """The names of the features in the order of their arrival, if they are all strings."""
        door = self._learned().door
        if not isinstance(door, Names) or not all(isinstance(name, str) for name in door.slots):
            raise NotFitted("the features of this learner have no names, or not all are strings")
        return np.array(list(door.slots), dtype=object)

    @property
    def n_samples_seen_(self) -> int:
        """How many rounds have been learned."""
        return totals(self._learned().ledger).rounds

    @property
    def coef_(self) -> Matrix:
        """The weights: (n,), or (m, n) for m outcomes; the constant feature's is intercept_."""
        w = self._weights()[:, self._learned().plan.intercept :]
        return w[0] if self._learned().scalar else w

    @property
    def intercept_(self) -> Forecast:
        """The weight of the constant feature, 0 without one."""
        w, stream = self._weights(), self._learned()
        constant = w[:, 0] if stream.plan.intercept else np.zeros(len(w))
        return float(constant[0]) if stream.scalar else constant

    def _weights(self) -> Matrix:
        with self._lock:
            stream = self._learned()
            with stream.closed():
                return stream.core.coefficients()

    # Certificates ---------------------------------------------------------------------------

    def _theorems(self, *, drifting: bool) -> list[Theorem]:
        raise NotImplementedError

    def certificates(
        self,
        *,
        outcome_bound: float | None = None,
        feature_bound: float | None = None,
        norm_bound: float | None = None,
    ) -> list[Certificate]:
        """Every statement that applies, the main one first.

        Bounds on |y|, |x|_inf and |x|_2 (the constant feature included) are taken from the
        stream so far.  Where you vouch for one beforehand, say so here: a certificate whose bound
        the stream has broken names it and claims nothing.  A clipped learner's bound on |y| is
        its clip.
        """
        given = {
            "outcome_bound": outcome_bound,
            "feature_bound": feature_bound,
            "norm_bound": norm_bound,
        }
        bounds = {k: None if v is None else positive(k, v) for k, v in given.items()}
        with self._lock:
            stream = self._learned()
            with stream.closed():
                sums = totals(stream.ledger)
            core = stream.core
            rule = stream.plan.rule
            scene = Scene(
                totals=sums,
                features=core.shape[0],
                prior_precision=stream.plan.prior_precision,
                prior_var=core.prior_var(),
                drifting=core.drifts,
                noise_var=rule.noise_var,
                clip=rule.clip,
                **bounds,
            )
        return [theorem(scene) for theorem in self._theorems(drifting=scene.drifting)]

    def certificate(
        self,
        *,
        outcome_bound: float | None = None,
        feature_bound: float | None = None,
        norm_bound: float | None = None,
    ) -> Certificate:
        """The main certificate; see `certificates` for the bounds you may vouch for."""
        return self.certificates(
            outcome_bound=outcome_bound, feature_bound=feature_bound, norm_bound=norm_bound
        )[0]

    # Copies, threads, merging ---------------------------------------------------------------

    def merge(self, other: Self) -> Self:
        """Take in what another learner of the same kind has learned from its own rounds.

        The result equals one learner that saw both streams, to rounding.  Losses are the sums of
        what each paid under its own forecasts, and the certificates say so.
        """
        if type(other) is not type(self):
            raise MergeError(
                f"cannot merge {type(other).__name__} into {type(self).__name__}: kinds must agree"
            )
        with other._lock:
            theirs = other._stream and other._stream.copy()
        with self._lock:
            plan = self._plan() if self._stream is None else self._stream.plan
            if theirs is None:
                return self
            if theirs.plan != plan:
                raise MergeError(f"the learners' parameters differ: {plan} and {theirs.plan}")
            self._stream = theirs if self._stream is None else self._stream.merge(theirs)
        return self

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            stream = self._stream and self._stream.copy()
            return {"parameters": self.get_params(deep=False), "stream": stream}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state["parameters"])
        self._stream = state["stream"]
