"""Pools as learners: the Aggregating Algorithm, the Bayesian Algorithm, exponential weights."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from noregret import losses
from noregret._ops.mixing import LIKELIHOOD
from noregret.certificates import Certificate
from noregret.errors import (
    FeatureError,
    InputError,
    NotLearnedError,
    ParameterError,
    abbreviated,
    wrapping,
)
from noregret.experts.aggregation import Aggregation, replayed
from noregret.experts.members import (
    Member,
    as_numbers,
    collect,
    member,
    members,
    replays,
    rows_of,
)
from noregret.experts.pool import Pool
from noregret.experts.reading import SMALLEST, prior_of, probabilities, share_of
from noregret.experts.theorems import chain, statements
from noregret.gaussian.base import NotFitted
from noregret.inputs import values as features
from noregret.learner.holder import Holder
from noregret.learner.saving import ours
from noregret.losses import Game
from noregret.types import Mixture, Vector

__all__ = ["AggregatingAlgorithm", "BayesianAlgorithm", "ExponentialWeights", "PoolLearner"]


class PoolLearner(RegressorMixin, Holder):  # type: ignore[misc]  # scikit-learn is untyped
    """What all pools share; a child says which game is played."""

    experts: Any
    prior: Any
    _state: tuple[dict[str, Member], Pool] | None
    _alone = "its weights rest on losses that the experts paid in the order of one stream"

    def _game(self) -> Game:
        raise NotImplementedError

    def _share(self) -> float:
        return 0.0

    def _begin(self) -> tuple[dict[str, Member], Pool]:
        """The experts as they were given, and a pool that has seen nothing."""
        found = members(self.experts)
        return found, Pool.start(self._game(), prior_of(self.prior, list(found)), self._share())

    def _learned(self) -> tuple[dict[str, Member], Pool]:
        if self._state is None:
            raise NotFitted(
                f"this {type(self).__name__} has learned nothing yet: call learn_one or fit first"
            )
        return self._state

    # One round ------------------------------------------------------------------------------

    def predict_one(self, x: Any) -> float:
        """The pool's forecast at x; under log loss the mean, or the probability of outcome 1.

        x goes to each expert as it is.  Where experts are names, x gives their forecasts: a
        mapping of expert to forecast, or a row in the experts' order.
        """
        with self._lock:
            experts, pool = self._state or self._begin()
            return pool.forecast(_forecasts(experts, pool, x)[0])

    def predictive(self, x: Any) -> Mixture:
        """The mixture of the experts' distributions at x; only under log loss."""
        with self._lock:
            experts, pool = self._state or self._begin()
            numbers, said = _forecasts(experts, pool, x)
            if pool.game.kind != LIKELIHOOD or not any(hasattr(s, "log_density") for s in said):
                raise NotLearnedError("only pools of distributions under log loss have a mixture")
            pool.forecast(numbers)  # somebody with weight must be awake
            weights = pool.weights(numbers)[~np.isnan(numbers)]
            return Mixture(weights, tuple(s for s, g in zip(said, numbers) if g == g))

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn that x had the outcome y; every learner among the experts learns it too."""
        with self._lock:
            experts, pool = self._state or self._begin()
            outcome = pool.game.outcome(self._outcome(y))
            numbers, said = _forecasts(experts, pool, x)
            costs = _costs(said, outcome, experts) if pool.game.kind == LIKELIHOOD else None
            after = pool.copy()
            after.learn(numbers, outcome, costs)
            _teach(experts, x, outcome)
            self._state = experts, after

    def _outcome(self, y: Any) -> float:
        """The outcome as a number."""
        return features.outcome(y)

    # Many rounds ----------------------------------------------------------------------------

    def replay(self, X: Any, y: Any) -> Aggregation:
        """Predict-then-learn over all rows, as the loop over rounds would go.

        Experts that can replay do so at array speed; the pool itself runs compiled.
        """
        with self._lock:
            return self._run(self._state, X, y)

    def _run(self, held: Any, X: Any, y: Any) -> Aggregation:
        experts, pool = copy.deepcopy(held) or self._begin()
        X = features.as_frame(X)
        rows = rows_of(X)
        if not len(rows):
            raise InputError("X has no rows: give at least one round")
        _as_wide(rows, experts)
        column = features.outcome_column(y, len(rows))
        ys = np.array([pool.game.outcome(value) for value in column.tolist()])
        heard = replays(experts, pool.game, X, rows, ys)
        said = np.column_stack([as_numbers(h, [n] * len(ys)) for h, n in zip(heard, experts)])
        costs = None
        if pool.game.kind == LIKELIHOOD:
            rounds = zip(zip(*heard), ys.tolist())
            costs = np.array([_costs(spoken, v, experts) for spoken, v in rounds])
        after, result = replayed(pool, said, costs, ys, list(experts), X)
        self._state = experts, after
        return result

    def predict(self, X: Any) -> Vector:
        """Forecasts at every row, from what has been learned so far; nothing is learned."""
        with self._lock:
            return self._forecasts(X)

    def _forecasts(self, X: Any) -> Vector:
        """Forecasts at every row; the caller holds the lock."""
        experts, pool = self._learned()
        rows = rows_of(X)
        _as_wide(rows, experts)
        heard = [_forecasts(experts, pool, x)[0] for x in rows]
        return pool.predict_rows(np.array(heard).reshape(len(heard), pool.size))

    # Experts --------------------------------------------------------------------------------

    def join(self, expert: Any, weight: float, *, name: str | None = None) -> None:
        """Let one more expert in, with this share of all weight (between 0 and 1) from now on.

        It counts as having slept so far; the others' weights shrink by 1 - weight.
        """
        if not isinstance(weight, int | float | np.number) or not 0.0 < weight < 1.0:
            raise ParameterError(
                f"weight = {abbreviated(weight)}: it must be a number between 0 and 1"
            )
        with self._lock:
            experts, pool = self._state or self._begin()
            label = name or next(iter(members([expert])))
            if label in experts:
                raise ParameterError(f"name = {label!r}: an expert of this name is here already")
            larger = pool.joined(float(weight))
            if not np.min(larger.totals().log_prior) >= math.log(SMALLEST):
                raise ParameterError(
                    f"weight = {abbreviated(weight)}: no expert's share may be below 1e-300 of all"
                )
            self._state = experts | {label: member(expert, pool.size)}, larger

    @property
    def experts_(self) -> dict[str, Any]:
        """The experts by name, as they are now."""
        with self._lock:
            return {name: expert.model for name, expert in self._learned()[0].items()}

    @property
    def weights_(self) -> dict[str, float]:
        """The weights by expert, adding up to 1."""
        with self._lock:
            experts, pool = self._learned()
            return dict(zip(experts, pool.weights().tolist()))

    @property
    def losses_(self) -> dict[str, float]:
        """What each expert has lost so far; the pool's own mix where it slept."""
        with self._lock:
            experts, pool = self._learned()
            return dict(zip(experts, pool.totals().paid.tolist()))

    @property
    def n_features_in_(self) -> int:
        """How many features the experts have seen, those that count them."""
        with self._lock:
            width = _width(self._learned()[0])
        if width is None:
            raise NotFitted("no expert of this pool counts its features")
        return width

    @property
    def n_samples_seen_(self) -> int:
        """How many rounds have been learned."""
        with self._lock:
            return self._learned()[1].totals().rounds

    # Certificates ---------------------------------------------------------------------------

    def certificates(self) -> list[Certificate]:
        """Every statement that applies, the main one first."""
        with self._lock:
            experts, pool = self._learned()
            totals = pool.totals()
            cells = [(name, _certificates(e.model)) for name, e in experts.items()]
        return [*statements(pool.game, totals), *chain(pool.game, totals, cells)]

    def certificate(self) -> Certificate:
        """The main certificate."""
        with self._lock:
            pool = self._learned()[1]
            return statements(pool.game, pool.totals())[0]


def _width(experts: dict[str, Member]) -> int | None:
    """How many features the experts have seen, if any of them counts."""
    models = [expert.model for expert in experts.values()]
    counts = [int(m.n_features_in_) for m in models if hasattr(m, "n_features_in_")]
    return max(counts, default=None)


def _as_wide(rows: Any, experts: dict[str, Member]) -> None:
    """Rows of an array must have as many features as before."""
    width = _width(experts)
    if width is not None and isinstance(rows, np.ndarray) and rows.shape[1] != width:
        raise FeatureError(
            f"X has {rows.shape[1]} features, but it is expecting {width} features as input"
        )


def _forecasts(experts: dict[str, Member], pool: Pool, x: Any) -> tuple[Vector, list[Any]]:
    """What each expert says of x, as numbers and as it is."""
    said = collect(experts, pool.game, x)
    return as_numbers(said, list(experts)), said


def _teach(experts: dict[str, Member], x: Any, y: float) -> None:
    """Let every expert learn a round that all have forecast; if one refuses it, none has learned.

    Those that may refuse go first, and all of them but the last can go back.  The last are those
    that are dearest to copy: pools, then models of other libraries.  Such a model, if it is alone
    and fails halfway, is the only one that has changed.
    """
    unsure = [name for name, expert in experts.items() if not expert.takes(y)]
    unsure.sort(key=lambda name: _dear(experts[name]))
    marks: list[tuple[Member, Any]] = []
    try:
        for name in unsure:
            expert = experts[name]
            with wrapping("expert", InputError, name):
                if name != unsure[-1]:
                    marks.append((expert, expert.mark()))
                expert.learn(x, y)
    except BaseException:
        for expert, mark in marks:
            expert.restore(mark)
        raise
    for name, expert in experts.items():
        if name not in unsure:
            expert.learn(x, y)


def _dear(expert: Member) -> int:
    """How dear a copy is."""
    return int(isinstance(expert.model, PoolLearner)) if ours(expert.model) else 2


def _certificates(model: Any) -> Sequence[Certificate]:
    try:
        found: Sequence[Certificate] = model.certificates()
    except (AttributeError, NotLearnedError):
        return ()
    return found


def _costs(said: Sequence[Any], y: float, names: Iterable[str]) -> Vector:
    """The log losses of the experts' forecasts; NaN of those who sleep."""
    return np.array([_cost(value, y, name) for value, name in zip(said, names)])


def _cost(said: Any, y: float, name: str) -> float:
    if said is None or (not hasattr(said, "log_density") and said != said):
        return math.nan
    if hasattr(said, "log_density"):
        with wrapping("the density of expert", InputError, name):
            density = float(said.log_density(y))
        if math.isnan(density) or density == math.inf:
            raise InputError(f"expert {name!r} gives y = {y!r} a log density of {density!r}")
        return -density
    table = np.array([[said]], dtype=np.float64)
    return float(probabilities(table, np.array([y]), [name])[0, 0])


class AggregatingAlgorithm(PoolLearner):
    """Vovk's Aggregating Algorithm: forecasts of anything, merged.

    With N experts and outcomes in [lo, hi] the square loss satisfies, on any data,

        sum (y - g)^2 <= min_j sum (y - g_j)^2 + (hi-lo)^2/2 ln N

    and loss_t <= -(1/eta) ln sum_j weight_j exp(-eta loss_tj) in every single round.  Weights are
    kept as logarithms; g comes from the substitution function, so experts may leave [lo, hi].

    Cost: what the experts cost, and three exponentials an expert; 12 numbers an expert.

    Parameters
    ----------
    experts : a list, or a mapping by name, of learners, scikit-learn estimators, functions of x,
        and strings: names of forecasts that the caller gives in x.  They are copied.
    outcome_range : Y for [-Y, Y], a pair (lo, hi), or None: learned as the stream goes, as 2^k
        times the first width that was seen; the certificate adds what rounds beyond it cost.
    loss : "square", "log" (distributions or probabilities) or "brier" (probabilities).
    share : Fixed Share: this part of all weight returns to the prior after each round, so that
        experts may take turns; the certificate compares with sequences of experts.
    prior : weights before the first round, by expert; equal by default.

    An expert whose forecast is None, absent or NaN sleeps: its weight stays as it is.

    >>> pool = AggregatingAlgorithm(["model", "operator"], outcome_range=(0.0, 10.0))
    >>> for t in range(100):
    ...     x = {"model": 5.0 + t % 2, "operator": 5.5}
    ...     forecast = pool.predict_one(x)
    ...     pool.learn_one(x, 5.0 + t % 2)
    >>> {name: round(weight, 3) for name, weight in pool.weights_.items()}
    {'model': 0.622, 'operator': 0.378}
    >>> print(pool.certificate())
    Aggregating Algorithm: holds after 100 rounds [upper bound]
      sum (y - g)^2 <= min_j (L_j + (hi-lo)^2/2 ln 1/p_j)
      loss 4.87205, best in hindsight 0, bound 34.6574 (slack 29.8)
      [x] 0 <= y <= 10, as given
    """

    def __init__(
        self,
        experts: Any,
        *,
        outcome_range: Any = None,
        loss: str = "square",
        share: float = 0.0,
        prior: Any = None,
    ) -> None:
        self.experts = experts
        self.outcome_range = outcome_range
        self.loss = loss
        self.share = share
        self.prior = prior

    def _game(self) -> Game:
        return losses.game(self.loss, self.outcome_range)

    def _share(self) -> float:
        return share_of(self.share)


class BayesianAlgorithm(PoolLearner):
    """The Bayesian mixture of distributions: log loss, learning rate 1.

    Its forecast is the mixture sum_j weight_j density_j, and on any data

        log loss = -ln sum_j p_j exp(-L_j) <= min_j (L_j + ln 1/p_j)

    Cost: what the experts cost, and an exponential an expert; 12 numbers an expert.

    Parameters
    ----------
    experts : as in AggregatingAlgorithm; each forecasts a distribution (`predictive`, or anything
        with `log_density`), or the probability of outcome 1.
    prior : weights before the first round, by expert; equal by default.

    >>> import noregret as nr
    >>> pool = BayesianAlgorithm(nr.over(nr.BayesianRidge, noise_var=[0.01, 1.0, 100.0]))
    >>> for t in range(50):
    ...     pool.learn_one({"one": 1.0}, float(t % 3))
    >>> max(pool.weights_, key=pool.weights_.get)
    'BayesianRidge()'
    >>> pool.predictive({"one": 1.0})
    Mixture(...
    >>> certificate = pool.certificate()
    >>> certificate.kind, certificate.holds
    ('equality', True)
    """

    def __init__(self, experts: Any, *, prior: Any = None) -> None:
        self.experts = experts
        self.prior = prior

    def _game(self) -> Game:
        return losses.game("log", None)


class ExponentialWeights(PoolLearner):
    """Exponential weights with the weighted mean as forecast.

    With forecasts and outcomes in [lo, hi] and learning rate eta = 1/(2 (hi-lo)^2), at which
    exp(-eta (y - g)^2) is concave in g,

        sum (y - g)^2 <= min_j (L_j + 2 (hi-lo)^2 ln 1/p_j)

    four times what the Aggregating Algorithm needs.  Other rates up to that pay ln(1/p_j)/eta;
    larger ones eta T (hi-lo)^4/8 on top.

    Cost: what the experts cost, and two exponentials an expert; 12 numbers an expert.

    Parameters
    ----------
    experts : as in AggregatingAlgorithm.
    outcome_range : Y for [-Y, Y], or a pair (lo, hi).
    learning_rate : eta; 1/(2 (hi-lo)^2) by default.
    prior : weights before the first round, by expert; equal by default.

    >>> pool = ExponentialWeights(["a", "b"], outcome_range=(0, 1))
    >>> for t in range(20):
    ...     pool.learn_one({"a": 1.0, "b": 0.0}, 1.0)
    >>> print(pool.certificate())
    exponential weights: holds after 20 rounds [upper bound]
      sum (y - g)^2 <= min_j (L_j + (1/eta) ln 1/p_j), eta = 0.5
      loss 0.521733, best in hindsight 0, bound 1.38629 (slack 0.865)
      [x] 0 <= y <= 1, as given
      [x] |y - g_j| <= hi - lo = 1 for every expert: the largest was 1
    """

    def __init__(
        self,
        experts: Any,
        *,
        outcome_range: Any,
        learning_rate: float | None = None,
        prior: Any = None,
    ) -> None:
        self.experts = experts
        self.outcome_range = outcome_range
        self.learning_rate = learning_rate
        self.prior = prior

    def _game(self) -> Game:
        return losses.averaged(self.outcome_range, self.learning_rate)
