"""A Gaussian learner as its users see it: one round, many rounds, what was learned, proofs.

Threads that share a learner learn in some serial order: a compiled round is one step for all
other threads, and whatever takes several steps holds the lock and closes the state to rounds
that take none.
"""

from __future__ import annotations

import math
from contextlib import suppress
from numbers import Real
from threading import Lock
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import NotFittedError

from noregret._ops import bare, rounds
from noregret._ops.layout import OK
from noregret.budgets import Nystrom, Polynomial, RandomFourier, Taylor, Window
from noregret.certificates import Certificate
from noregret.errors import MergeError, NotLearnedError, ParameterError
from noregret.gaussian import theorems
from noregret.gaussian.build import AnyStream, stream_for_row, stream_for_table
from noregret.gaussian.cores.dual import DualCore
from noregret.gaussian.cores.schedule import Drift
from noregret.gaussian.facts import StreamFacts
from noregret.gaussian.hindsight import Hindsight, hindsight_of
from noregret.gaussian.kernel_stream import KernelStream
from noregret.gaussian.ledger import totals
from noregret.gaussian.rules import Rule
from noregret.gaussian.stream import ARRAYS, NAMES, Plan, Stream, one_outcome
from noregret.gaussian.theorems import Theorem
from noregret.inputs.spaces import Names, Positions
from noregret.inputs.values import abbreviated, as_frame
from noregret.kernels import Kernel
from noregret.learner.locks import new_lock
from noregret.learner.replay import Replay, library_of
from noregret.learner.saving import Saveable, writable_copy
from noregret.types import Forecast, Matrix, Track, Vector

__all__ = ["Drift", "Gaussian", "positive"]

BUDGETS = (Nystrom, RandomFourier, Taylor, Polynomial, Window)
EXPLICIT = (RandomFourier, Taylor, Polynomial)
ndarray, float64 = np.ndarray, np.dtype(np.float64)
_predict, _learn = bare(rounds.predict), bare(rounds.learn)


# scikit-learn is untyped, and its name for this ends without Error too
class NotFitted(NotLearnedError, NotFittedError):  # type: ignore[misc]  # noqa: N818
    """Nothing has been learned yet; scikit-learn's NotFittedError too."""


def positive(name: str, value: Any) -> float:
    """A parameter that must be a positive number, neither it nor its inverse out of reach."""
    taken = math.nan
    if isinstance(value, Real) and not isinstance(value, bool):
        with suppress(OverflowError):
            taken = float(value)
    if 1e-300 <= taken <= 1e300:
        return taken
    raise ParameterError(
        f"{name} = {abbreviated(value)}: it must be a number > 0 (1e-300 to 1e300)"
    )


class Gaussian(RegressorMixin, Saveable, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """What all Gaussian learners share; a child says which rule and which theorems are its own."""

    # State is in slots: `__init__` sets parameters and nothing else, as scikit-learn asks.
    __slots__ = ("_lock", "_state")

    prior_precision: float
    kernel: Any
    drift: Drift
    fit_intercept: bool
    budget: Any
    _lock: Lock
    _state: AnyStream | None

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """A learner that has seen nothing."""
        self: Self = super().__new__(cls)
        self._lock, self._state = new_lock(), None
        return self

    def _rule(self) -> Rule:
        raise NotImplementedError

    def _plan(self) -> Plan:
        """The parameters, checked."""
        drift = self.drift
        if not callable(drift):
            number = isinstance(drift, Real) and not isinstance(drift, bool)
            if not (number and 0.0 <= drift <= 1e300):
                raise ParameterError(
                    f"drift = {abbreviated(drift)}: it must be a number >= 0, or a function of the round"
                )
            drift = float(drift)
        if not isinstance(self.fit_intercept, bool | np.bool_):
            raise ParameterError(
                f"fit_intercept = {abbreviated(self.fit_intercept)}: it must be True or False"
            )
        precision = positive("prior_precision", self.prior_precision)
        return Plan(self._rule(), precision, drift, bool(self.fit_intercept), *self._space())

    def _space(self) -> tuple[Kernel | None, Any]:
        """The kernel and the budget, checked together."""
        budget = self.budget
        if budget is not None and not isinstance(budget, BUDGETS):
            names = ", ".join(kind.__name__ for kind in BUDGETS)
            raise ParameterError(f"budget = {abbreviated(budget)}: give one of {names}")
        if isinstance(budget, EXPLICIT):
            if self.kernel is not None:
                raise ParameterError(
                    f"budget = {abbreviated(budget)} stands for a kernel of its own: leave kernel=None"
                )
            return None, budget
        if self.kernel is None:
            if budget is not None:
                raise ParameterError(f"budget = {abbreviated(budget)} needs a kernel: give kernel=")
            return None, None
        if budget is not None:
            budget.check()
        exact = not isinstance(budget, Nystrom)  # a dictionary has a constant feature instead
        return Kernel(self.kernel, constant=exact and bool(self.fit_intercept)), budget

    # One round ------------------------------------------------------------------------------

    def predict_one(self, x: Any) -> Forecast:
        """Forecast the outcome at x: a 1-D array, or a mapping of feature name to number."""
        stream: Any = self._state  # a weight-space one in the fast lanes
        if stream is not None:
            vector = None
            if stream.lane == ARRAYS:
                if type(x) is ndarray and x.dtype is float64 and x.ndim == 1:
                    vector = x
            elif stream.lane == NAMES and type(x) is dict:
                vector = stream.space.encode_fast(x)
            if vector is not None:
                core = stream.core
                forecast = _predict(core.factor, core.work, vector)
                if forecast == forecast:  # else it was refused: see why below
                    return forecast
        with self._lock:
            return (self._state or stream_for_row(self._plan(), x)).forecast(x)

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn that x had the outcome y: a number, or a vector of several outcomes."""
        stream: Any = self._state  # a weight-space one in the fast lanes
        if stream is not None and type(y) is float:
            vector = None
            if stream.lane == ARRAYS:
                if type(x) is ndarray and x.dtype is float64 and x.ndim == 1:
                    vector = x
            elif stream.lane == NAMES and type(x) is dict:
                vector = stream.space.encode_fast(x)
            if vector is not None:
                core = stream.core
                if core.alone:
                    if _learn(core.factor, core.work, stream.ledger, vector, y) == OK:
                        return
                else:
                    with self._lock:
                        current: Any = self._state
                        if current is stream and current.absorb(vector, y) == OK:
                            return
        with self._lock:
            if self._state is None:
                ys, scalar = one_outcome(y)
                stream = stream_for_row(self._plan(), x, ys.size, scalar=scalar)
                self._state = stream.learn(x, y)
            else:
                self._state = self._state.learn(x, y)

    # Many rounds ----------------------------------------------------------------------------

    def replay(self, X: Any, y: Any) -> Replay:
        """Predict-then-learn over all rows at array speed, as the loop over rounds would go.

        X is an array (T, n), a frame, or a list of mappings; y has one outcome a row, or one
        row of outcomes.  The certificate speaks of all that this learner has seen.
        """
        X = as_frame(X)
        with self._lock:
            (stream, track, forecasts, losses), facts = self._run(X, y)
        flat = (forecasts[:, 0], track.mean[:, 0]) if stream.scalar else (forecasts, track.mean)
        with np.errstate(over="ignore"):  # a spread beyond float64 is infinite, its root is not
            spread = track.root * track.root
        return Replay(
            forecast=flat[0],
            mean=flat[1],
            spread=spread,
            loss=losses,
            certificate=self._theorems(facts)[0](facts),
            library=library_of(X),
        )

    def _run(
        self, X: Any, y: Any, weights: Any = None, *, afresh: bool = False
    ) -> tuple[tuple[AnyStream, Track, Matrix, Vector], StreamFacts]:
        """Learn all rows, and see the stream as it then is; the caller holds the lock."""
        stream = None if afresh else self._state
        if stream is None:
            stream = stream_for_table(self._plan(), X, y)
        with stream.closed() as successor:
            result: Any = stream.replay(X, y, weights)
            facts = _scene(result[0], {})
            successor.append(result[0])
            self._state = result[0]
        return result, facts

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn all rows, in order, on top of what was learned before.

        A row of weight w counts as w times the square loss (for BayesianRidge, noise of variance
        noise_var/w), and one of weight 0 not at all.  Certificates then speak of the weighted
        stream, sqrt(w) x and sqrt(w) y: all losses in them are sums of w (y - g)^2, of forecasts
        that knew w, and Y is the largest sqrt(w)|y|.
        """
        X = as_frame(X)
        with self._lock:
            self._run(X, y, sample_weight)
        return self

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn all rows in order; weights as in `partial_fit`."""
        X = as_frame(X)
        with self._lock:
            self._run(X, y, sample_weight, afresh=True)
        return self

    def predict(self, X: Any) -> Matrix:
        """Forecasts at every row, from what has been learned so far; nothing is learned."""
        stream, means, roots = self._look_rows(X)
        forecasts = stream.plan.rule.forecast(means, roots)
        return forecasts[:, 0] if stream.scalar else forecasts

    def _look_rows(self, X: Any) -> tuple[AnyStream, Matrix, Vector]:
        """Means and root spreads at every row, and the stream that they come from."""
        with self._lock:
            stream = self._learned()
            with stream.closed():
                return stream, *stream.look_rows(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.regressor_tags.poor_score = self.budget is not None  # a budget forgets
        tags.input_tags.sparse = True
        return tags

    # What was learned -----------------------------------------------------------------------

    def _learned(self) -> AnyStream:
        if self._state is None:
            raise NotFitted(
                f"this {type(self).__name__} has learned nothing yet: call learn_one or fit first"
            )
        return self._state

    def __sklearn_is_fitted__(self) -> bool:
        return self._state is not None

    @property
    def n_features_in_(self) -> int:
        """How many features have been seen, the constant one not counted."""
        return self._raw_space().size

    @property
    def feature_names_in_(self) -> Any:
        """The names of the features in the order of their arrival, if they are all strings."""
        space = self._raw_space()
        if not isinstance(space, Names) or not all(isinstance(name, str) for name in space.slots):
            raise NotFitted("the features of this learner have no names, or not all are strings")
        return np.array(list(space.slots), dtype=object)

    def _raw_space(self) -> Positions | Names:
        """The space that the user's own features come through."""
        space: Any = self._learned().space
        space = space.inputs.space if hasattr(space, "inputs") else space
        if space is None:
            raise NotFitted("the inputs of this learner are objects, not vectors of features")
        return space  # type: ignore[no-any-return]  # one of the two

    @property
    def n_samples_seen_(self) -> int:
        """How many rounds have been learned."""
        with self._lock:
            return totals(self._learned().ledger).rounds

    @property
    def coef_(self) -> Matrix:
        """The weights: (n,), or (m, n) for m outcomes; the constant feature's is intercept_."""
        stream, w = self._weights()
        w = w[:, stream.plan.intercept :]
        return w[0] if stream.scalar else w

    @property
    def intercept_(self) -> Forecast:
        """The weight of the constant feature, 0 without one."""
        stream, w = self._weights()
        constant = w[:, 0] if stream.plan.intercept else np.zeros(len(w))
        return float(constant[0]) if stream.scalar else constant

    def _weights(self) -> tuple[AnyStream, Matrix]:
        """All weights, and the stream that they come from."""
        with self._lock:
            stream = self._learned()
            if isinstance(stream, KernelStream):
                raise NotFitted("a kernel learner has no coefficients: see hindsight()")
            with stream.closed():
                return stream, stream.core.coefficients()

    # Certificates ---------------------------------------------------------------------------

    def _theorems(self, facts: StreamFacts) -> list[Theorem]:
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
            facts = _scene(self._learned(), bounds)
        found = [theorem(facts) for theorem in self._theorems(facts)]
        return [*found, *theorems.budget_report(facts)]

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

    def hindsight(self) -> Hindsight:
        """The best expert in hindsight: what this learner is compared with.

        Kernel learners know its values at their inputs; weight-space learners keep no inputs, so
        they know its weights (`coef_`), and experts that change only with a kernel.
        """
        with self._lock:
            stream = self._learned()
            with stream.closed():
                return hindsight_of(stream)

    # One round of several learners together ---------------------------------------------------

    def _takes(self, y: float) -> bool:  # noqa: ARG002  # every outcome that is a number will do
        """Whether a round is sure to be learned whose x has just been forecast."""
        stream = self._state
        if stream is None:
            return self.kernel is None and not callable(self.drift)
        kernel, drift = stream.plan.kernel, stream.plan.drift
        if not stream.scalar or callable(drift) or not (kernel is None or kernel.known):
            return False
        return isinstance(stream, Stream) or stream.core.has_room()

    def _mark(self) -> Any:
        """The state as it is now, for `_restore` to come back to."""
        with self._lock:
            return self._state and self._state.copy()

    def _restore(self, mark: Any) -> None:
        """Go back to a mark; no round is learned any more by the stream that goes."""
        with self._lock:
            if self._state is not None:
                self._state.retire()
            self._state = mark

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
            theirs = other._state and other._state.copy()
        with self._lock:
            plan = self._plan() if self._state is None else self._state.plan
            if theirs is None:
                return self
            if theirs.plan != plan:
                raise MergeError(f"the learners' parameters differ: {plan} and {theirs.plan}")
            mine: Any = self._state
            self._state = theirs if mine is None else mine.merge(theirs)
        return self

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            stream = self._state and self._state.copy()
            return {"parameters": self.get_params(deep=False), "stream": stream}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state["parameters"])
        self._state = writable_copy(state["stream"])


def _scene(stream: AnyStream, bounds: dict[str, float | None]) -> StreamFacts:
    """The stream as the theorems see it; the caller holds the lock."""
    with stream.closed():
        sums = totals(stream.ledger)
    plan, core = stream.plan, stream.core
    exact = isinstance(core, DualCore)
    return StreamFacts(
        totals=sums,
        features=0 if isinstance(core, DualCore) else core.shape[0],
        prior_precision=plan.prior_precision,
        prior_var=core.prior_var(),
        drifting=core.drifts,
        noise_var=plan.rule.noise_var,
        clip=plan.rule.clip,
        kernel=exact,
        priors=core.priors if isinstance(core, DualCore) else 0.0,
        budget=plan.budget,
        **bounds,
    )
