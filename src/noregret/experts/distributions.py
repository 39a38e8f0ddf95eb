"""Pools of distributions on CRPS: tables of them, and one round at a time as a learner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from noregret import losses
from noregret.certificates import Certificate
from noregret.declare.fields import Group, Part, Special
from noregret.declare.parameters import Fractions
from noregret.errors import (
    FeatureError,
    InputError,
    OutcomeError,
    ParameterError,
    abbreviated,
    wrapping,
)
from noregret.experts.aggregating import PoolLearner
from noregret.experts.crps import (
    DistributionAggregation,
    Steps,
    crps,
    normal_steps,
    quantile_steps,
    steps_of,
)
from noregret.experts.crps_pool import CRPSPool
from noregret.experts.members import MemberList, Said, check_row, members
from noregret.experts.reading import prior_of
from noregret.experts.state import PoolState
from noregret.inputs import values as features
from noregret.losses import Game
from noregret.types import Integers, Matrix, Outcome, Outcomes, Row, Table, Vector

__all__ = ["DistributionPool", "DistributionState", "aggregate_distributions"]


class DistributionState(PoolState):
    """The members by name as they are now, and the pool of what their distributions cost."""

    __slots__ = ()

    FIELDS = (Special("experts", MemberList(), of="members"), Part("pool", ("CRPSPool",)))
    pool: CRPSPool

    def renew(self) -> None:
        """There are no compiled rounds."""
        self.fast.renew(None)

    def heard(self, x: Row) -> tuple[Matrix, list[Said]]:
        """The distribution functions of the members at x, one row each, and what they are of."""
        check_row(self.members, x)
        edges, said, F = self.pool.edges, [], []
        for name, expert in self.members.items():
            with wrapping("expert", InputError, name):
                said.append(expert.forecast(x, losses.LOG))  # a distribution where it has one
                F.append(steps_of(said[-1], self.pool.levels, 0.5 * (edges[1:] + edges[:-1])))
        return np.array(F), said

    def predict_rows(self, X: Table) -> Vector:
        """Means of the pool's distributions at every row; nothing is learned."""
        return np.array([self.predict(x) for x in self._rows(X)], dtype=np.float64)

    def run(self, X: Table, y: Outcomes) -> DistributionAggregation:  # type: ignore[override]  # as `aggregate` has it
        """Predict-then-learn over rows, in place."""
        rows = self._rows(X)
        if not len(rows):
            raise FeatureError("X has no rows: give at least one round")
        ys = self.targets(y, len(rows)).tolist()
        course = Course(self.pool, len(ys), list(self.members))
        for x, target in zip(rows, ys, strict=True):
            F, said = self.heard(x)
            course.look(F, target)
            self.learn_heard(x, target, F, said)
        return course.result(self.pool)

    def certificates(self) -> list[Certificate]:
        """The bound on CRPS."""
        return [self.pool.certificate()]


class DistributionPool(PoolLearner):
    """Distributions of anything, merged on the continuous ranked probability score (CRPS).

    With outcomes in [lo, hi] and experts of prior weights p_j, on any data (V'yugin and Trunov),

        sum CRPS <= min_j (sum CRPS_j + (hi-lo)/2 ln 1/p_j)

    Weights are w_j ~ p_j exp(-eta CRPS_j) at eta = 2/(hi-lo), and the merged distribution function
    F = 1/2 - 1/4 ln [sum w_j exp(-2 F_j^2) / sum w_j exp(-2 (1 - F_j)^2)].  Distributions are taken
    as steps on 256 cells of [lo, hi], and the theorem speaks of these.

    `predictive` is the merged distribution (`cdf`, `quantile`, `mean`, `std`), `predict_one` its
    mean.  `nr.aggregate(..., loss="crps")` merges tables of distributions.

    Cost: what the experts cost, 512 exponentials per expert in a round, 2 numbers for each.

    Parameters
    ----------
    experts : as in AggregatingAlgorithm.  An expert says a distribution (`predictive`, or anything
        with `cdf`), quantiles at `levels`, or a number, which is a point.
    outcome_range : Y for [-Y, Y], or a pair (lo, hi); outcomes beyond it are refused.
    levels : ascending, of experts that say quantiles.
    prior : weights before the first round, by expert; equal by default.

    An expert whose forecast is None, absent or NaN sleeps: it counts as saying what the pool says.

    >>> import numpy as np
    >>> import noregret as nr
    >>> experts = {f"{s} x": nr.BayesianRidge(noise_var=s * s) for s in (0.1, 1.0, 10.0)}
    >>> pool = nr.DistributionPool(experts, outcome_range=10.0)
    >>> rng = np.random.default_rng(0)
    >>> for x in rng.normal(size=(200, 2)):
    ...     pool.learn_one(x, float(x @ [1.0, 2.0] + rng.normal()))
    >>> max(pool.weights_, key=pool.weights_.get)
    '1.0 x'
    >>> round(pool.predictive([1.0, 1.0]).quantile(0.9), 1), pool.certificate().holds
    (4.3, True)
    """

    STATE: ClassVar[Group] = Group("state", DistributionState)

    def __init__(
        self,
        experts: object,
        *,
        outcome_range: object,
        levels: Sequence[float] | None = None,
        prior: object = None,
    ) -> None:
        self.experts = experts
        self.outcome_range = outcome_range
        self.levels = levels
        self.prior = prior

    def _start_row(self, x: Row = None, y: Outcome = None) -> DistributionState:  # noqa: ARG002
        """The experts as they were given, and a pool that has seen nothing."""
        found, game = members(self.experts), _game(self.outcome_range)
        levels = _levels("levels", self.levels)
        return DistributionState(
            found, CRPSPool.begin(game, prior_of(self.prior, list(found)), levels)
        )

    def certificate(self) -> Certificate:  # type: ignore[override]  # a pool takes no bounds
        """The bound on CRPS."""
        return self.certificates()[0]

    def predictive(self, x: Row) -> Steps:  # type: ignore[override]  # another distribution
        """The merged distribution at x."""
        with self._lock:
            state = self._state or self._start_row(x)
            return Steps(state.pool.edges, state.pool.merged(state.heard(x)[0]))  # type: ignore[attr-defined]  # its own state


class Course:
    """What a pool of distributions said, round after round, and what it cost."""

    def __init__(self, pool: CRPSPool, rounds: int, names: Sequence[str]) -> None:
        self.pool, self.names = pool, names
        self.t, self.edges = 0, pool.edges
        self.weights, self.costs = np.empty((rounds, pool.size)), np.empty((rounds, pool.size))
        self.cdf, self.losses = np.empty((rounds, len(self.edges) - 1)), np.empty(rounds)

    def look(self, F: Matrix, y: float) -> None:
        """A round that is about to be learned."""
        t = self.t
        self.weights[t], self.cdf[t] = self.pool.weights(F), self.pool.merged(F)
        self.costs[t] = crps(F, y, self.edges)  # NaN of those who sleep
        self.losses[t] = crps(self.cdf[t : t + 1], y, self.edges)[0]
        self.t = t + 1

    def result(self, pool: CRPSPool) -> DistributionAggregation:
        """All rounds, and what is proved of the pool after them."""
        found = pool.certificate()
        return DistributionAggregation(
            forecast=self.edges[-1] - self.cdf @ np.diff(self.edges),  # E y = hi - int F
            mean=None,
            spread=None,
            loss=self.losses,
            certificate=found,
            experts=tuple(self.names),
            certificates=(found,),
            weights=self.weights,
            expert_losses=self.costs,
            cdf=self.cdf,
            edges=self.edges,
        )


def aggregate_distributions(
    forecasts: object, y: Outcomes, outcome_range: object, prior: object, level: object
) -> DistributionAggregation:
    """Merge T x N x 2 normal means and variances, or T x N x k quantiles at these levels."""
    game, levels = _game(outcome_range), _levels("level", level)
    said, names = _table(forecasts, levels)
    ys = features.outcome_column(y, len(said)).tolist()
    assert game.span is not None
    low, high = game.span
    for t, target in enumerate(ys):
        if not low <= target <= high:
            raise OutcomeError(f"y[{t}] = {target!r} is outside outcome_range ({low:g}, {high:g})")
    pool = CRPSPool.begin(game, prior_of(prior, names), levels)
    course = Course(pool, len(ys), names)
    middles = 0.5 * (pool.edges[1:] + pool.edges[:-1])
    for row, target in zip(said, ys, strict=True):
        awake = ~np.isnan(row).any(axis=1)
        F, part = np.full((len(row), len(middles)), np.nan), row[awake]
        quantiles = len(levels) > 0
        F[awake] = (
            quantile_steps(part, levels, middles) if quantiles else normal_steps(part, middles)
        )
        course.look(F, target)
        pool.learn(F, target)
    return course.result(pool)


def _game(outcome_range: object) -> Game:
    """The range, as pools keep it."""
    if outcome_range is None:
        raise ParameterError("outcome_range = None: CRPS needs Y or (lo, hi)")
    return losses.game("square", outcome_range)


def _levels(word: str, levels: object) -> Vector:
    taus = np.array([] if levels is None else Fractions().check(word, levels), dtype=np.float64)
    if not (np.diff(taus) > 0.0).all():
        raise ParameterError(f"{word} = {abbreviated(levels)}: give the levels ascending")
    return taus


def _table(forecasts: object, levels: Vector) -> tuple[Matrix, tuple[str, ...]]:
    """Forecasts T x N x k and the names of the experts, checked."""
    said, _ = features.table_with_gaps(forecasts, "forecasts")
    columns = len(levels) or 2
    if said.ndim != 3 or said.shape[2] != columns or 0 in said.shape:
        raise InputError(
            f"forecasts has shape {said.shape}: give T x N x {columns}, "
            + ("a quantile for each level" if len(levels) else "normal means and variances")
        )
    known = np.array([[not np.isnan(one).any() for one in row] for row in said])
    silent = [t for t, row in enumerate(known) if not row.any()]
    if silent:
        t = silent[0]
        raise InputError(f"forecasts[{t}]: every expert sleeps; leave the round out")
    wrong = known & ((np.diff(said) < 0.0).any(axis=2) if len(levels) else said[..., 1] <= 0.0)
    if wrong.any():
        where: Integers = np.argwhere(wrong)[0]
        what = "quantiles that are not ascending" if len(levels) else "a variance that is not > 0"
        raise InputError(f"forecasts[{where[0]}, {where[1]}] has {what}")
    return said, tuple(f"expert_{j}" for j in range(said.shape[1]))
