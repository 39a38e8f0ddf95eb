"""Pools by the gradient trick as learners: MLpol and BOA, for any convex loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from noregret.certificates import Certificate
from noregret.declare.fields import Group, Part, Special
from noregret.declare.parameters import Parameter, Text
from noregret.errors import NotLearnedError
from noregret.experts.aggregating import PoolLearner
from noregret.experts.convex import ConvexLoss, convex
from noregret.experts.members import MemberList, members
from noregret.experts.merged import GradientAggregation, merged
from noregret.experts.pool import Pool
from noregret.experts.reading import prior_of
from noregret.experts.regret_pool import RegretPool, regret_statements
from noregret.experts.state import RuleState
from noregret.types import Matrix, Mixture, Outcome, Row, Vector

__all__ = ["BOA", "GradientState", "MLpol"]


class GradientState(RuleState):
    """The members by name as they are now, and the pool of their regrets."""

    __slots__ = ()

    FIELDS = (Special("experts", MemberList(), of="members"), Part("pool", ("RegretPool",)))
    pool: RegretPool

    def _merged(
        self, said: Matrix, ys: Vector, names: Sequence[str]
    ) -> tuple[Pool, GradientAggregation]:
        return merged(self.pool, said, ys, names)

    def certificates(self) -> list[Certificate]:
        """Every statement that applies, the main one first."""
        return regret_statements(self.pool.game, self.pool.totals())


class GradientLearner(PoolLearner):
    """What MLpol and BOA share."""

    RULE: ClassVar[str]
    STATE: ClassVar[Group] = Group("state", GradientState)
    _parameters: ClassVar = {
        "loss": Parameter(Text(), "square, absolute, pinball, huber, or a pair (loss, slope)")
    }

    def __init__(
        self,
        experts: object,
        *,
        loss: object = "square",
        level: float | None = None,
        width: float | None = None,
        prior: object = None,
    ) -> None:
        self.experts = experts
        self.loss = loss
        self.level = level
        self.width = width
        self.prior = prior

    def _convex(self) -> ConvexLoss:
        return convex(self.loss, self.level, self.width)

    def _start_row(self, x: Row = None, y: Outcome = None) -> GradientState:  # noqa: ARG002
        """The experts as they were given, and a pool that has seen nothing."""
        loss, found = self._convex(), members(self.experts)
        return GradientState(
            found, RegretPool.begin(loss, prior_of(self.prior, list(found)), self.RULE)
        )

    def certificate(self) -> Certificate:  # type: ignore[override]  # a pool takes no bounds
        """The main certificate."""
        return self.certificates()[0]

    def predictive(self, x: Row) -> Mixture:  # noqa: ARG002  # as pools of distributions have it
        """Refuse: these pools merge numbers."""
        raise NotLearnedError("only pools of distributions under log loss have a mixture")


class MLpol(GradientLearner):
    """Weights in proportion to the regret to each expert, where positive: no rate to choose.

    Gaillard, Stoltz and van Erven (2014), by the gradient trick: with r_kt = l'(g_t) (g_t - f_kt),
    R_k = sum_t r_kt and D_k = sum_t r_kt^2 + max r^2, weights are p_k ~ prior_k (R_k)+ / D_k, and
    on any data, for any convex loss,

        loss <= min_k (L_k + sqrt(D_k/prior_k sum_t sum_j prior_j r_jt^2/D_j,t-1))

    and the same for every convex combination of the experts.  No range of outcomes is needed, and
    forecasts do not depend on units.

    Cost: what the experts cost, 10 flops and 8 numbers per expert.

    Parameters
    ----------
    experts : as in AggregatingAlgorithm.
    loss : "square", "absolute", "pinball" (with `level`), "huber" (with `width`), a pair of
        functions (loss, slope) of g and y, or an object with `loss(g, y)` and `slope(g, y)`.
    level : of pinball loss, between 0 and 1: the forecast is that quantile.
    width : of Huber loss: errors beyond it cost in proportion.
    prior : weights before the first round, by expert; equal by default.

    An expert whose forecast is None, absent or NaN sleeps: it counts as saying what the pool says.

    >>> pool = MLpol(["model", "operator"], loss="absolute")
    >>> for t in range(100):
    ...     x = {"model": 5.0 + t % 2, "operator": 5.5}
    ...     pool.learn_one(x, 5.0 + t % 2)
    >>> {name: round(weight, 3) for name, weight in pool.weights_.items()}
    {'model': 1.0, 'operator': 0.0}
    >>> print(pool.certificate())
    MLpol: holds after 100 rounds [upper bound]
      sum |y - g| <= min_k (L_k + sqrt(D_k/p_k sum_t sum_j p_j r_jt^2/D_j,t-1))
      loss 0.25, best in hindsight 0, bound 0.353553 (slack 0.104)
    """

    RULE = "mlpol"


class BOA(GradientLearner):
    """Bernstein online aggregation: exponential weights of second order, a rate for each expert.

    Wintenberger (2017), by the gradient trick: with r_kt = l'(g_t) (g_t - f_kt), rates
    eta_kt = 1/sqrt(2.2 sum_s<=t r_ks^2) and E_k = sum_t (r_kt - eta_kt r_kt^2), weights are
    p_k ~ prior_k eta_k exp(eta_k E_k), and on any data, for any convex loss,

        loss <= min_k (L_k + sum_t eta_kt r_kt^2 + ln(S/prior_k)/eta_k)

    with S measured, about ln T (docs/theory.md 22), and the same for every convex combination.

    Cost: what the experts cost, two exponentials and 8 numbers per expert.

    Parameters
    ----------
    experts, loss, level, width, prior : as in MLpol.

    >>> pool = BOA(["model", "operator"], loss="pinball", level=0.9)
    >>> for t in range(100):
    ...     pool.learn_one({"model": 5.0 + t % 2, "operator": 5.5}, 5.0 + t % 2)
    >>> max(pool.weights_, key=pool.weights_.get), pool.certificate().holds
    ('model', True)
    """

    RULE = "boa"
