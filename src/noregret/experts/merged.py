"""Replays of pools by the gradient trick, and several quantiles at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from noregret.certificates import Certificate
from noregret.errors import NotLearnedError
from noregret.experts.aggregation import Aggregation, account
from noregret.experts.best_convex import convex_combinations
from noregret.experts.comparators import Comparator
from noregret.experts.convex import ConvexLoss
from noregret.experts.regret_pool import RegretPool, regret_statements
from noregret.learner.replay import Replay
from noregret.types import Matrix, Vector

__all__ = ["GradientAggregation", "QuantileAggregation", "merged", "quantiles_of"]


@dataclass(frozen=True, eq=False)
class GradientAggregation(Aggregation):
    """A replay of MLpol or BOA: weights, comparators in hindsight, for any convex loss.

    >>> import numpy as np, noregret as nr
    >>> said = np.array([[0.0, 1.0], [0.2, 0.8], [0.1, 0.9]])
    >>> result = nr.aggregate(said, [1.0, 1.0, 1.0], rule="mlpol", loss="absolute")
    >>> result.forecast, result.weights.round(2).tolist()
    (array([0.5, 0.8, 0.9]), [[0.5, 0.5], [0.0, 1.0], [0.0, 1.0]])
    >>> [f"{c.name}: {c.loss:.3f}" for c in result.hindsight()]
    ['best expert: expert_1: 0.300', 'uniform: 1.500', 'best convex: 0.300']
    """

    @property
    def _played(self) -> RegretPool:
        assert isinstance(self.pool, RegretPool)
        return self.pool

    @property
    def _game(self) -> ConvexLoss:
        return self._played.game

    @property
    def expert_losses(self) -> Matrix:
        """What each expert lost in each round; NaN where it slept."""
        values = self._game.values
        if self.said.ndim == 2:
            return values(self.said, self.y[:, None])
        total: Matrix = values(self.said, self.y[:, None, :]).sum(axis=2)
        return total

    def hindsight(self) -> list[Comparator]:
        """The best expert, the plain mean and the best convex combination, for the loss.

        An expert that sleeps says what the pool said: so the certificates count it.
        """
        flat = self.said.ndim == 2
        forecast = self.forecast[:, None] if flat else self.forecast[:, None, :]
        gaps = np.isnan(self.said) if flat else np.isnan(self.said).any(axis=2, keepdims=True)
        filled = np.where(gaps, forecast, self.said)
        return convex_combinations(self._game, filled, self.y, self.experts)

    def tracking(self, switches: int) -> Certificate:
        """Refuse: these rules say nothing about experts that take turns."""
        raise NotLearnedError(
            f'tracking({switches}) is for rule="aggregating" with share > 0; see sequence()'
        )


def merged(
    pool: RegretPool, said: Matrix, ys: Matrix, names: Sequence[str]
) -> tuple[RegretPool, GradientAggregation]:
    """A pool after these rounds, and the account of them."""
    after = pool.copy()
    rounds = after.replay(said, ys)
    found = regret_statements(after.game, after.totals())
    kept = {"said": said, "y": ys, "start": pool, "pool": after}
    return after, account(GradientAggregation, rounds, found, names, kept)


@dataclass(frozen=True, eq=False)
class QuantileAggregation(Replay):
    """Quantiles at several levels, one pool each, sorted in every round: no two of them cross.

    Sorting never raises the pinball loss added up over the levels (Chernozhukov, Fernandez-Val and
    Galichon 2010), so that the bounds of the levels, added up, hold for what is issued.

    >>> import numpy as np, noregret as nr
    >>> rng = np.random.default_rng(0)
    >>> said, y = np.tile(np.linspace(-2.0, 2.0, 9), (500, 1)), rng.normal(size=500)
    >>> result = nr.aggregate(said, y, rule="boa", loss="pinball", level=[0.1, 0.5, 0.9])
    >>> bool((np.diff(result.forecast, axis=1) >= 0.0).all()), result.certificate.holds
    (True, True)
    """

    levels: Sequence[float] = ()
    at: Sequence[GradientAggregation] = field(default=(), repr=False)
    certificates: Sequence[Certificate] = ()


def quantiles_of(found: Sequence[GradientAggregation]) -> QuantileAggregation:
    """Replays at ascending levels, sorted round by round."""
    games = [one._played.game for one in found]
    ordered = np.sort(np.column_stack([one.forecast for one in found]), axis=1)
    columns = [game.values(ordered[:, j], found[0].y) for j, game in enumerate(games)]
    losses: Vector = np.sum(columns, axis=0)
    each = [one.certificate for one in found]
    total = Certificate.of(
        name=f"{each[0].name}, quantiles that do not cross",
        kind="upper bound",
        rounds=len(losses),
        loss=float(losses.sum()),
        comparator=sum(c.comparator for c in each),
        bound=sum(np.nan if c.bound is None else c.bound for c in each),
        statement=f"pinball loss of all levels <= sum of their bounds; each: {each[0].statement}",
        taken=sum(c.allowance for c in each),
    )
    return QuantileAggregation(
        forecast=ordered,
        mean=None,
        spread=None,
        loss=losses,
        certificate=total,
        levels=tuple(game.level for game in games),
        at=tuple(found),
        certificates=(total, *each),
    )
