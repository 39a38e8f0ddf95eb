"""Replays of pools, and what could have been in hindsight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from noregret.certificates import Certificate
from noregret.declare.extras import module
from noregret.errors import NotLearnedError
from noregret.experts.best_convex import mixtures
from noregret.experts.comparators import Comparator, best_sequence, combinations
from noregret.experts.pool import Pool
from noregret.experts.theorems import statements, tracking
from noregret.learner.replay import Replay
from noregret.types import Integers, Matrix, Vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Aggregation", "account", "replayed"]

A = TypeVar("A", bound="Aggregation")


@dataclass(frozen=True, eq=False)
class Aggregation(Replay):
    """A replay of a pool: also the weights of the experts, and comparators in hindsight.

    >>> import noregret as nr
    >>> said, y = [[0.0, 1.0], [0.2, 0.8]], [1.0, 1.0]
    >>> result = nr.aggregate(said, y, rule="aggregating", outcome_range=(0, 1))
    >>> result.forecast.round(4), result.weights.round(4).tolist()
    (array([0.5   , 0.7172]), [[0.5, 0.5], [0.1192, 0.8808]])
    >>> [f"{c.name}: {c.loss:.3f}" for c in result.hindsight()]
    ['best expert: expert_1: 0.040', 'uniform: 0.500', 'best convex: 0.040', 'best linear: 0.000']
    """

    experts: Sequence[str] = ()
    certificates: Sequence[Certificate] = ()
    said: Matrix = field(default_factory=lambda: np.empty((0, 0)), repr=False)
    y: Vector = field(default_factory=lambda: np.empty(0), repr=False)
    costs: Matrix | None = field(default=None, repr=False)
    start: Pool | None = field(default=None, repr=False)
    pool: Pool | None = field(default=None, repr=False)

    @property
    def weights(self) -> Matrix:
        """The weights that each round's forecast was made with, one row per round.

        They are worked out anew at each call, so that a long replay does not have to keep them.
        """
        assert self.start is not None
        again: Matrix = self.start.copy().replay(self.said, self.y, self.costs, weights=True)[2]
        return again

    @property
    def expert_losses(self) -> Matrix:
        """What each expert lost in each round; NaN where it slept."""
        if self.costs is not None:
            return self.costs
        gaps: Matrix = (self.y[:, None] - self.said) ** 2
        return gaps

    def hindsight(self) -> list[Comparator]:
        """The best expert, the plain mean, the best convex and the best linear combination.

        Of log loss the best expert, the even and the best mixture.  An expert that sleeps says what
        the pool said, as the certificates count it; there is no best linear combination then.
        """
        asleep = np.isnan(self.said)
        filled = np.where(asleep, self.forecast[:, None], self.said)
        if self.costs is not None:
            return mixtures(np.where(asleep, self.loss[:, None], self.costs), filled, self.experts)
        found = combinations(filled, self.y, self.experts)
        return found[:-1] if asleep.any() else found

    def sequence(self, switches: int) -> tuple[Integers, float]:
        """The best sequence of experts with at most so many switches, and its loss."""
        return best_sequence(self.expert_losses, switches)

    def tracking(self, switches: int) -> Certificate:
        """Fixed Share's bound against the best sequence with at most so many switches."""
        assert self.pool is not None
        assert self.start is not None
        totals = self.pool.totals()
        if self.start.totals().rounds:
            raise NotLearnedError("the pool had learned before this replay: its past is not here")
        return tracking(self.pool.game, totals, switches, self.sequence(switches)[1])

    def plot_weights(self, ax: Axes | None = None) -> Axes:
        """The weights as bands over the rounds, the heaviest at the end below; returns the axes."""
        if ax is None:
            _, ax = module("matplotlib.pyplot", "plot_weights").subplots()
        weights = self.weights
        order = np.argsort(-weights[-1])
        rounds = np.arange(1, len(self) + 1)
        names = [self.experts[j] if i < 10 else "_" for i, j in enumerate(order)]
        ax.stackplot(rounds, weights[:, order].T, labels=names, linewidth=0.0)
        ax.set(xlabel="round", ylabel="weight", ylim=(0, 1), xlim=(1, max(len(self), 2)))
        ax.legend(loc="upper left", fontsize="small")
        return ax


def replayed(
    pool: Pool, said: Matrix, costs: Matrix | None, ys: Vector, names: Sequence[str]
) -> tuple[Pool, Aggregation]:
    """A pool after these rounds, and the account of them."""
    after = pool.copy()
    rounds = after.replay(said, ys, costs)
    found = statements(after.game, after.totals())
    kept = {"said": said, "y": ys, "costs": costs, "start": pool, "pool": after}
    return after, account(Aggregation, rounds, found, names, kept)


def account(
    made: type[A],
    rounds: tuple[Matrix, Vector, Matrix],
    found: Sequence[Certificate],
    names: Sequence[str],
    kept: Mapping[str, Any],
) -> A:
    """A replay from forecasts and losses, certificates, and what it keeps of the pool."""
    return made(
        forecast=rounds[0],
        mean=None,
        spread=None,
        loss=rounds[1],
        certificate=found[0],
        experts=tuple(names),
        certificates=tuple(found),
        **kept,
    )
