"""OSLOG as its users see it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from noregret import features
from noregret._ops import bare
from noregret._ops import sparse as ops
from noregret._ops.grid import within as within_limit
from noregret._ops.layout import EXACT_INTEGER
from noregret._ops.sparse import LARGEST, PASSES, WEIGHTS
from noregret.certificates import Certificate
from noregret.doors import door_for, door_for_many, plain
from noregret.errors import FeatureError, ParameterError, short
from noregret.features import outcome, outcome_column
from noregret.holder import Holder
from noregret.online import NotFitted, positive
from noregret.replay import Replay, library_of, module
from noregret.sparse.shrinking import Shrinking, finite, outcome_within, sparsity, within
from noregret.sparse.statements import published, regret_meter
from noregret.types import Matrix, Normal, Vector

__all__ = ["OSLOG", "ShrinkageReplay"]

_predict, _round = bare(ops.predict), bare(ops.round_)


@dataclass(frozen=True, eq=False)
class ShrinkageReplay(Replay):
    """A replay of OSLOG: also the path of its weights."""

    before: Shrinking | None = field(default=None, repr=False)
    xs: Matrix = field(default_factory=lambda: np.empty((0, 0)), repr=False)
    ys: Vector = field(default_factory=lambda: np.empty(0), repr=False)

    @property
    def weights(self) -> Matrix:
        """The weights after each round, a row a round; worked out anew at each call."""
        assert self.before is not None
        path = np.empty(self.xs.shape)
        self.before.copy().replay(self.xs, self.ys, path)
        return path

    def plot_weights(self, ax: Any = None) -> Any:
        """The weights over the rounds, a line a feature; returns the axes."""
        if ax is None:
            _, ax = module("matplotlib.pyplot", "plot_weights").subplots()
        ax.plot(np.arange(1, len(self) + 1), self.weights, linewidth=0.8)
        ax.axhline(0.0, color="grey", linewidth=0.5)
        ax.set(xlabel="round", ylabel="weight", title="weights of OSLOG")
        return ax


class OSLOG(RegressorMixin, Holder):  # type: ignore[misc]  # scikit-learn is untyped
    """Online shrinkage via the limit of Gibbs: sparse weights, one pass a round (Algorithm 1).

    Its published loss bound (Theorem 2) is false: one round with x = 1, y = -1, a = 1 has loss 4
    and bound 3.51, and there are streams with regret linear in T.  It is shown as a report; for a
    bound that is true take SafeOSLOG.

    Two traps.  A weight that reaches 0 stays 0, so a feature that is 0 in round 1 is dead for ever;
    and a weight that has shrunk needs many rounds to grow back.  `floor` avoids both: take it about
    1e-3 of the weights that you expect.  And with start = 1 the first forecast is the sum of the
    features.

    At n = 100 weights that nearly vanish amplify rounding: two correct implementations agree step
    by step, not over long streams.

    Cost: k^3/3 + 6 n^2 flops a round for k live weights of n, 2 n^2 numbers.

    Parameters
    ----------
    shrinkage : a > 0; the more, the sparser.
    passes : how often the last line of Algorithm 1 is done a round; math.inf: until the lasso's
        conditions for |y - Xw|^2 + 2a|w|_1 hold to 1e-9, reviving weights where they ask for it;
        where passes crawl, coordinate descent finishes.
    start : the weights before the first round.
    floor : D = diag(max(|w|, floor)); 0 is the paper's algorithm.
    noise_var : s^2 of the predictive distribution N(w'x, s^2 (1 + x'A^-1 x)), A = M + a D^-1.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 20))
    >>> y = 3.0 * X[:, 4] - 2.0 * X[:, 7] + 0.1 * rng.normal(size=300)
    >>> learner = OSLOG(shrinkage=5.0, start=0.05).fit(X, y)
    >>> learner.coef_[[4, 7]].round(1), learner.sparsity_
    (array([ 3., -2.]), 0.9)
    >>> print(learner.certificate().kind)
    report
    """

    _held: Shrinking | None
    _alone = "its weights are the end of a path of passes, which another order would not have taken"

    def __init__(
        self,
        shrinkage: float = 1.0,
        *,
        passes: float = 1,
        start: float = 1.0,
        floor: float = 0.0,
        noise_var: float = 1.0,
    ) -> None:
        self.shrinkage = shrinkage
        self.passes = passes
        self.start = start
        self.floor = floor
        self.noise_var = noise_var

    def _begin(self, door: Any) -> Shrinking:
        a = positive("shrinkage", self.shrinkage)
        if not 1e-100 <= a <= 1e100:
            raise ParameterError(f"shrinkage = {short(a)}: it must be from 1e-100 to 1e100")
        passes = self.passes
        whole = isinstance(passes, int | np.integer) and not isinstance(passes, bool)
        if not (whole and 1 <= passes <= 10**9) and not (
            isinstance(passes, float) and passes == math.inf
        ):
            raise ParameterError(
                f"passes = {features.short(passes)}: it must be a whole number >= 1, or math.inf "
                "for the limit"
            )
        return Shrinking.start(door, a, self._floor(), float(passes), self._start())

    def _start(self) -> float:
        start = _real(self.start)
        if 1e-300 <= abs(start) <= 1e100:
            return start
        raise ParameterError(
            f"start = {short(self.start)}: it must be a number other than 0, up to 1e100"
        )

    def _floor(self) -> float:
        floor = _real(self.floor)
        if 0.0 <= floor <= 1e100:
            return floor
        raise ParameterError(f"floor = {short(self.floor)}: it must be a number >= 0, up to 1e100")

    def _learned(self) -> Shrinking:
        if self._held is None:
            raise NotFitted("this OSLOG has learned nothing yet: call learn_one or fit first")
        return self._held

    def _admit(self, x: Any) -> tuple[Shrinking, Vector]:
        """x by position, and a state that knows all of its features."""
        held = self._held or self._begin(door_for(x))
        vector, new, key = held.door.admit(x)[:3]
        if new.size:
            held = held.behind(held.door.grown(key), self._start())
            vector = np.concatenate([vector, new])
        within(vector)
        return held, vector

    # One round ------------------------------------------------------------------------------

    def predict_one(self, x: Any) -> float:
        """Forecast the outcome at x: a 1-D array, or a mapping of feature name to number."""
        with self._lock:
            vector = _plain(self._held, x)
            if vector is not None and self._held is not None:
                forecast = _predict(self._held.block, vector)
                if forecast == forecast:
                    return forecast
            held, vector = self._admit(x)
            return finite(ops.predict(held.block, vector))

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn that x had the outcome y."""
        with self._lock:
            held: Any = self._held
            vector = _plain(held, x) if type(y) is float else None
            if vector is not None and _round(held.block, held.book, vector, y):
                return
            value = outcome_within(outcome(y))
            held, vector = self._admit(x)
            held.learn(vector, value)
            self._held = held

    def predictive(self, x: Any) -> Normal:
        """N(w'x, s^2 (1 + x'A^-1 x)): the posterior for a fixed D, with the corrected variance."""
        noise_var = positive("noise_var", self.noise_var)
        with self._lock:
            held, vector = self._admit(x)
            mean = finite(ops.predict(held.block, vector))
            return Normal(mean, noise_var * held.spread(vector))

    # Many rounds ----------------------------------------------------------------------------

    def replay(self, X: Any, y: Any) -> ShrinkageReplay:
        """Predict-then-learn over all rows in one compiled call, as the loop would go."""
        with self._lock:
            return self._run(self._held, X, y)

    def _run(self, held: Any, X: Any, y: Any) -> ShrinkageReplay:
        X = features.as_frame(X)
        if held is None:
            held = self._begin(door_for_many(X)[0])
        xs, door, _ = held.door.many(X)
        if not len(xs):
            raise FeatureError("X has no rows: give at least one round")
        ys = outcome_column(y, len(xs))
        for t in np.flatnonzero(np.abs(ys) > LARGEST)[:1]:
            outcome_within(float(ys[t]), f"y[{t}]")
        within(xs)
        before = held.behind(door, self._start())
        after = before.copy()
        forecasts = after.replay(np.ascontiguousarray(xs), ys, np.empty((0, 0)))
        self._held = after
        return ShrinkageReplay(
            forecast=forecasts,
            mean=None,
            spread=None,
            loss=(ys - forecasts) ** 2,
            certificate=published(after, None),
            library=library_of(X),
            before=before,
            xs=xs.copy(),
            ys=ys.copy(),
        )

    def predict(self, X: Any) -> Vector:
        """Forecasts at every row, from what has been learned so far; nothing is learned."""
        with self._lock:
            held = self._learned()
            xs, _ = held.door.survey(X)
            within(xs)
            with np.errstate(over="ignore", invalid="ignore"):
                forecasts: Vector = xs @ held.state[WEIGHTS]
            for t in np.flatnonzero(~np.isfinite(forecasts))[:1]:
                finite(float(forecasts[t]))
            return forecasts

    # What was learned -----------------------------------------------------------------------

    @property
    def coef_(self) -> Vector:
        """The weights."""
        with self._lock:
            w: Vector = self._learned().state[WEIGHTS].copy()
            return w

    @property
    def sparsity_(self) -> float:
        """The share of weights below 1e-6 of the largest."""
        return sparsity(self.coef_)

    @property
    def dead_(self) -> int:
        """How many weights are exactly 0: without a floor they stay so."""
        return int((self.coef_ == 0.0).sum())

    @property
    def n_features_in_(self) -> int:
        """How many features have been seen."""
        return int(self._learned().door.size)

    @property
    def n_samples_seen_(self) -> int:
        """How many rounds have been learned."""
        return self._learned().rounds

    @property
    def passes_(self) -> int:
        """The most passes that a round has taken."""
        return int(self._learned().book[PASSES, 1])

    def certificates(self, *, outcome_bound: float | None = None) -> list[Certificate]:
        """The published bound as a report, and the regret against the best ridge expert."""
        bound = None if outcome_bound is None else positive("outcome_bound", outcome_bound)
        with self._lock:
            held = self._learned()
            return [published(held, bound), regret_meter(held)]

    def certificate(self, *, outcome_bound: float | None = None) -> Certificate:
        """The published bound as a report: it is not true in general."""
        return self.certificates(outcome_bound=outcome_bound)[0]


def _plain(held: Shrinking | None, x: Any) -> Any:
    """x as a vector if it is plain and all of it is known; else None."""
    if held is None:
        return None
    vector = plain(held.door, x)
    if type(x) is dict and (vector is None or not within_limit(vector, EXACT_INTEGER)):
        return None  # digits may be lost
    return vector


def _real(value: Any) -> float:
    """A real number as a float; NaN for what is none."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf
