"""Pools as learners: the Aggregating Algorithm, the Bayesian Algorithm, exponential weights."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, ClassVar, TypeVar

import numpy as np

from noregret import losses
from noregret._native.mixing import LIKELIHOOD
from noregret.certificates import Certificate
from noregret.declare.fields import Group
from noregret.declare.parameters import Number
from noregret.errors import NotLearnedError, ParameterError, abbreviated
from noregret.experts.members import member, members
from noregret.experts.pool import Pool
from noregret.experts.reading import SMALLEST, prior_of
from noregret.experts.state import PoolState
from noregret.experts.theorems import statements
from noregret.learner.base import OnlineLearner
from noregret.learner.estimator import Regressor, not_fitted
from noregret.learner.state import State
from noregret.losses import Game
from noregret.types import Mixture, Outcome, Outcomes, Row, Table

__all__ = ["AggregatingAlgorithm", "BayesianAlgorithm", "ExponentialWeights", "PoolLearner"]

S = TypeVar("S", bound=State)
WEIGHT = Number(5e-324, math.nextafter(1.0, 0.0), "a number between 0 and 1")


class MixingLearner(Regressor, OnlineLearner[S]):
    """What pools and Auto share: experts by name, each with a weight and a loss."""

    def _experts(self) -> tuple[Iterable[str], Pool]:
        """The experts' names and their pool; the caller holds the lock."""
        raise NotImplementedError

    @property
    def weights_(self) -> dict[str, float]:
        """The weights by expert, adding up to 1."""
        with self._lock:
            names, pool = self._experts()
            return dict(zip(names, pool.weights().tolist()))

    @property
    def losses_(self) -> dict[str, float]:
        """What each expert has lost so far; the pool's own mix where it slept."""
        with self._lock:
            names, pool = self._experts()
            return dict(zip(names, pool.totals().paid.tolist()))

    def certificate(self) -> Certificate:  # type: ignore[override]  # a pool takes no bounds
        """The main certificate."""
        with self._lock:
            _, pool = self._experts()
            return statements(pool.game, pool.totals())[0]


class PoolLearner(MixingLearner[PoolState]):
    """What all pools share; a child says which game is played.

    x goes to each expert as it is.  Where experts are names, x gives their forecasts: a mapping of
    expert to forecast, or a row in the experts' order.  Under log loss a forecast is the mean, or
    the probability of outcome 1.
    """

    experts: Any  # of a Safe learner, a property
    prior: object = None
    share: float | str = 0.0
    STATE: ClassVar[Group] = Group("state", PoolState)
    _merge_refusal = "its weights rest on losses that the experts paid in the order of one stream"

    def _game(self) -> Game:
        raise NotImplementedError

    def _start_row(self, x: Row = None, y: Outcome = None) -> PoolState:  # noqa: ARG002
        """The experts as they were given, and a pool that has seen nothing."""
        found, game = members(self.experts), self._game()
        prior = prior_of(self.prior, list(found))
        return PoolState(found, Pool.start(game, prior, self._checked("share")))

    def _start_table(self, X: Table, y: Outcomes) -> tuple[PoolState, Table]:
        return self._start_row(X, y), X

    def _experts(self) -> tuple[Iterable[str], Pool]:
        state = self._learned()
        return state.members, state.pool

    def predictive(self, x: Row) -> Mixture:
        """The mixture of the experts' distributions at x; only under log loss."""
        with self._lock:
            state = self._state or self._start_row(x)
            numbers, said = state.heard(x)
            pool = state.pool
            if pool.game.kind != LIKELIHOOD or not any(hasattr(s, "log_density") for s in said):
                raise NotLearnedError("only pools of distributions under log loss have a mixture")
            pool.forecast(numbers)  # somebody with weight must be awake
            weights = pool.weights(numbers)[~np.isnan(numbers)]
            return Mixture(weights, tuple(s for s, g in zip(said, numbers) if g == g))

    def join(self, expert: object, weight: float, *, name: str | None = None) -> None:
        """Let one more expert in, with this share of all weight (between 0 and 1) from now on.

        It counts as having slept so far; the others' weights shrink by 1 - weight.
        """
        part = WEIGHT.check("weight", weight)
        with self._lock:
            state = self._state or self._start_row()
            label = name or next(iter(members([expert])))
            if label in state.members:
                raise ParameterError(f"name = {label!r}: an expert of this name is here already")
            larger = state.pool.joined(part)
            if not np.min(larger.totals().log_prior) >= math.log(SMALLEST):
                raise ParameterError(
                    f"weight = {abbreviated(weight)}: no expert's share may be below 1e-300 of all"
                )
            state.members = state.members | {label: member(expert, state.pool.size)}
            state.pool, self._state = larger, state
            state.renew()

    @property
    def experts_(self) -> dict[str, object]:
        """The experts by name, as they are now."""
        with self._lock:
            return {name: expert.model for name, expert in self._learned().members.items()}

    @property
    def n_features_in_(self) -> int:
        """How many features the experts have seen, those that count them."""
        with self._lock:
            width = self._learned().width
        if width is None:
            raise not_fitted("no expert of this pool counts its features")
        return width


class AggregatingAlgorithm(PoolLearner):
    """Vovk's Aggregating Algorithm: forecasts of anything, merged.

    With N experts and outcomes in [lo, hi] the square loss satisfies, on any data,

        sum (y - g)^2 <= min_j sum (y - g_j)^2 + (hi-lo)^2/2 ln N

    and loss_t <= -(1/eta) ln sum_j weight_j exp(-eta loss_tj) in every single round.  Weights are
    kept as logarithms; g comes from the substitution function, so experts may leave [lo, hi].

    Cost: what the experts cost, three exponentials and 12 numbers per expert.

    Parameters
    ----------
    experts : a list, or a mapping by name, of learners, scikit-learn estimators, functions of x,
        and strings: names of forecasts that the caller gives in x.  They are copied.
    outcome_range : Y for [-Y, Y], a pair (lo, hi), or None: learned as the stream goes, as 2^k
        times the first width that was seen; the certificate adds what rounds beyond it cost.
    loss : "square", "log" (distributions or probabilities) or "brier" (probabilities).
    share : Fixed Share: this part of all weight returns to the prior after each round, so that
        experts may take turns.  The certificate compares with sequences of experts; with k changes
        they cost (hi-lo)^2/2 times (k+1) ln N + k ln 1/s + (T-1-k) ln 1/(1-s+s/N): the last term
        is linear in T.  "falling" is 1/(t+1) after round t and asks for no rate:
        (k+1) (ln N + ln T) for every k at once.
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
        experts: object,
        *,
        outcome_range: object = None,
        loss: str = "square",
        share: float | str = 0.0,
        prior: object = None,
    ) -> None:
        self.experts = experts
        self.outcome_range = outcome_range
        self.loss = loss
        self.share = share
        self.prior = prior

    def _game(self) -> Game:
        return losses.game(self.loss, self.outcome_range)


class BayesianAlgorithm(PoolLearner):
    """The Bayesian mixture of distributions: log loss, learning rate 1.

    Its forecast is the mixture sum_j weight_j density_j, and on any data

        log loss = -ln sum_j p_j exp(-L_j) <= min_j (L_j + ln 1/p_j)

    Cost: what the experts cost, one exponential and 12 numbers per expert.

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

    def __init__(self, experts: object, *, prior: object = None) -> None:
        self.experts = experts
        self.prior = prior

    def _game(self) -> Game:
        return losses.LOG


class ExponentialWeights(PoolLearner):
    """Exponential weights with the weighted mean as forecast.

    With forecasts and outcomes in [lo, hi] and learning rate eta = 1/(2 (hi-lo)^2), at which
    exp(-eta (y - g)^2) is concave in g,

        sum (y - g)^2 <= min_j (L_j + 2 (hi-lo)^2 ln 1/p_j)

    four times what the Aggregating Algorithm needs.  Other rates up to that pay ln(1/p_j)/eta;
    larger ones eta T (hi-lo)^4/8 on top.

    Cost: what the experts cost, two exponentials and 12 numbers per expert.

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
        experts: object,
        *,
        outcome_range: object,
        learning_rate: float | None = None,
        prior: object = None,
    ) -> None:
        self.experts = experts
        self.outcome_range = outcome_range
        self.learning_rate = learning_rate
        self.prior = prior

    def _game(self) -> Game:
        return losses.averaged(self.outcome_range, self.learning_rate)
