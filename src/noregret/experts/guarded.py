"""The pool of rules as a learner, and its replays: what `aggregate` does by default."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from noregret import losses
from noregret.certificates import Certificate
from noregret.declare.fields import Group, Part, Special
from noregret.declare.parameters import Choice, Parameter
from noregret.experts.aggregating import PoolLearner
from noregret.experts.aggregation import Aggregation, account
from noregret.experts.comparators import Comparator, combinations
from noregret.experts.guarded_pool import GUARDED, GuardedPool, guarded_statements
from noregret.experts.members import MemberList, members
from noregret.experts.pool import Pool
from noregret.experts.reading import prior_of
from noregret.experts.state import RuleState, own_certificates
from noregret.losses import Game
from noregret.types import Matrix, Outcome, Row, Vector

__all__ = ["GuardedAggregation", "GuardedState", "RulePool", "guarded"]


@dataclass(frozen=True, eq=False)
class GuardedAggregation(Aggregation):
    """A replay of a pool of rules: weights, comparators in hindsight.

    A row of `weights` adds up to 1; a weight may be negative, by stacking.

    >>> import numpy as np, noregret as nr
    >>> y = np.sin(np.arange(300.0))
    >>> result = nr.aggregate(np.column_stack([y + 1.0, y - 2.0]), y)
    >>> bool(abs(result.forecast[-1] - y[-1]) < 0.02), result.weights[-1].round(2).tolist()
    (True, [0.67, 0.33])
    >>> [f"{c.name}: {c.loss:.0f}" for c in result.hindsight()[:3]]
    ['best expert: expert_0: 300', 'uniform: 75', 'best convex: 0']
    """

    @property
    def expert_losses(self) -> Matrix:
        """What each expert lost in each round; NaN where it slept."""
        if self.said.ndim == 2:
            return super().expert_losses
        lost: Matrix = ((self.y[:, None, :] - self.said) ** 2).sum(axis=2)
        return lost

    def hindsight(self) -> list[Comparator]:
        """The best expert, the plain mean, the best convex and the best linear combination.

        An expert that sleeps says what the pool said; there is no best linear combination then.
        """
        flat = self.said.ndim == 2
        said = self.said[:, :, None] if flat else self.said
        forecast = self.forecast[:, None] if flat else self.forecast
        gaps = np.isnan(said).any(axis=2, keepdims=True)
        filled = np.where(gaps, forecast[:, None, :], said)
        rows = np.moveaxis(filled, 1, 2).reshape(-1, said.shape[1])
        found = combinations(rows, self.y.reshape(-1), self.experts)
        return found[:-1] if gaps.any() else found


def guarded(
    pool: GuardedPool, said: Matrix, ys: Matrix, names: Sequence[str]
) -> tuple[GuardedPool, GuardedAggregation]:
    """A pool after these rounds, and the account of them."""
    after = pool.copy()
    rounds = after.replay(said, ys)
    kept = {"said": said, "y": ys, "start": pool, "pool": after}
    return after, account(GuardedAggregation, rounds, guarded_statements(after), names, kept)


class GuardedState(RuleState):
    """The members by name as they are now, the outermost weights and the rules."""

    __slots__ = ()

    FIELDS = (Special("experts", MemberList(), of="members"), Part("pool", ("GuardedPool",)))
    pool: GuardedPool

    def _merged(
        self, said: Matrix, ys: Vector, names: Sequence[str]
    ) -> tuple[Pool, GuardedAggregation]:
        return guarded(self.pool, said, ys, names)

    def certificates(self) -> list[Certificate]:
        """Every statement that applies, the main one first."""
        return guarded_statements(self.pool, own_certificates(self.members))


class RulePool(PoolLearner):
    """Several rules to merge experts, merged in turn, behind the Aggregating Algorithm.

    Exponential weights at the rate of their own error, with a small and a large share; MLpol;
    and stacking: ridge on how far each expert is from MLpol's forecast, whose weights add up to 1
    and may be negative.  What they make of the experts, merged, has 9/10 of the prior of an
    outermost Aggregating Algorithm, the experts the rest.  So on any data, with outcomes less the
    median of the experts' forecasts in a range [lo, hi],

        sum (y - g)^2 <= min_j sum (y - g_j)^2 + (hi-lo)^2/2 (ln 10 N + ln T)

    and experts may take turns as under Fixed Share; see docs/theory.md, section 23.  Nothing is
    proved of the rules themselves, only that they cost no more than this.

    Cost: what the experts cost, seven exponentials, a logarithm and (but for rule="adaptive") 3.5 N
    flops per expert; 2 N + 40 numbers per expert.

    Parameters
    ----------
    experts : as in AggregatingAlgorithm.
    rule : "rules", all of them; "adaptive", exponential weights alone; "stacking", stacking and
        MLpol, its centre.
    outcome_range : Y for [-Y, Y], a pair (lo, hi), or None: learned, around their median; give
        it where most experts may be absurd.
    share : of the outermost pool, as in AggregatingAlgorithm.
    prior : weights of the experts before the first round; equal by default.

    An expert whose forecast is None, absent or NaN sleeps: its weight stays as it is.

    >>> pool = RulePool(["low", "high"])
    >>> for t in range(300):
    ...     pool.learn_one({"low": t % 7 - 1.0, "high": t % 7 + 2.0}, t % 7)
    >>> f"{pool.predict_one({'low': 2.0, 'high': 5.0}):.2f}"
    '3.00'
    >>> pool.certificate().holds
    True
    """

    STATE: ClassVar[Group] = Group("state", GuardedState)
    _parameters: ClassVar = {
        "rule": Parameter(Choice(tuple(GUARDED)), "which rules merge the experts")
    }

    def __init__(
        self,
        experts: object,
        *,
        rule: str = "rules",
        outcome_range: object = None,
        share: float | str = "falling",
        prior: object = None,
    ) -> None:
        self.experts = experts
        self.rule = rule
        self.outcome_range = outcome_range
        self.share = share
        self.prior = prior

    def _game(self) -> Game:
        return losses.game("square", self.outcome_range)

    def _start_row(self, x: Row = None, y: Outcome = None) -> GuardedState:  # noqa: ARG002
        """The experts as they were given, and a pool that has seen nothing."""
        rule, share = self._checked("rule"), self._checked("share")
        found, game = members(self.experts), self._game()
        return GuardedState(
            found, GuardedPool.begin(game, prior_of(self.prior, list(found)), rule, share)
        )

    def certificate(self) -> Certificate:  # type: ignore[override]  # a pool takes no bounds
        """The main certificate."""
        return self.certificates()[0]
