"""The state of a pool of rules behind the Aggregating Algorithm; docs/theory.md section 23.

The outermost pool has one column more than there are experts: the last is what the pool of rules
makes of them.  `memory` is all that the rules know, see noregret._native.rule_pool.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from noregret._native import adaptive, guarded, rule_pool
from noregret.certificates import Certificate
from noregret.declare.fields import Array, Mismatch
from noregret.experts.convex import convex
from noregret.experts.pool import Pool, PoolTotals
from noregret.experts.regret_pool import RegretPool
from noregret.experts.tables import Tables
from noregret.experts.theorems import Cells, chain, statements
from noregret.losses import Game
from noregret.types import Matrix, Vector

__all__ = ["GUARDED", "GuardedPool", "guarded_statements"]

GUARDED = {
    "rules": (0.25, 0.25, 0.25, 0.25),
    "adaptive": (0.5, 0.5, 0.0, 0.0),
    "stacking": (0.0, 0.0, 0.5, 0.5),
}
"""By name, the prior weights of exponential weights (steady, agile), MLpol and stacking."""
PART = 0.1  # of the outermost prior, to the experts; the rest to the rules


class GuardedPool(Pool):
    """The outermost pool's weights and book, and the memory of the rules."""

    __slots__ = ("memory",)

    FIELDS = (*Pool.FIELDS, Array("memory", ("M",), finite=False))  # type: ignore[assignment]  # one more

    def __init__(self, game: Game, cells: Matrix, book: Matrix, memory: Vector) -> None:
        super().__init__(game, cells, book)
        self.memory = memory

    @classmethod
    def begin(cls, game: Game, prior: Vector, rule: str, share: float | str) -> GuardedPool:
        """A pool that has seen nothing; `prior` adds up to 1."""
        outer = Pool.start(game, np.append(PART * prior, 1.0 - PART), share)
        memory = np.zeros(rule_pool.size(prior.size, _outcomes(game)))
        rule_pool.start(memory, prior, np.array(GUARDED[rule]), _outcomes(game))
        return cls(game, outer.cells, outer.book, memory)

    @classmethod
    def restored(cls, game: Game, cells: Matrix, book: Matrix, memory: Vector) -> GuardedPool:  # type: ignore[override]  # a field more
        """The pool of these fields."""
        outer = Pool.restored(game, cells, book)
        N = cells.shape[1] - 1
        if game.scale != 2.0 or N < 1 or memory.size != rule_pool.size(N, 1):
            raise Mismatch("has another number of experts than its rules")
        pool = cls(game, outer.cells, outer.book, memory)
        playing, scalars = pool.part(rule_pool.PLAYING), pool.part(rule_pool.SCALARS)
        weights = np.hstack([pool.part(i)[: adaptive.MASS] for i in _MASSES])
        totals = [pool.part(i)[: adaptive.MASS].sum(axis=1) for i in _MASSES]
        if not (weights >= 0.0).all() or not np.allclose(totals, 1.0, rtol=0.0, atol=1e-6):
            raise Mismatch("has weights that do not add up to 1")
        if not ((scalars >= 0.0) & (scalars < np.inf)).all() or not np.isin(playing, (0, 1)).all():
            raise Mismatch("has invalid errors, shares or rules")
        if not np.isfinite(pool.part(rule_pool.FACTOR)).all():
            raise Mismatch("has a stack that is not finite")
        RegretPool.restored(convex("square"), *pool._regrets())
        return pool

    def copy(self) -> GuardedPool:
        """A pool that shares nothing with this one."""
        return GuardedPool(self.game, self.cells.copy(), self.book.copy(), self.memory.copy())

    def view(self) -> GuardedPool:
        """A pool of the same arrays, which learns in arrays of its own."""
        return GuardedPool(self.game, self.cells, self.book, self.memory)

    def adopt(self, after: Pool) -> None:
        """Be what another pool has become."""
        super().adopt(after)
        assert isinstance(after, GuardedPool)
        self.memory = after.memory

    @property
    def size(self) -> int:
        """How many experts there are."""
        return int(self.cells.shape[1]) - 1

    def part(self, i: int) -> Matrix:
        """Part i of the memory, where it lies."""
        at, rows, cols = rule_pool.part(self.size, _outcomes(self.game), i)
        return self.memory[at : at + rows * cols].reshape(rows, cols)

    def _regrets(self) -> tuple[Matrix, Matrix]:
        return self.part(rule_pool.REGRET_CELLS), self.part(rule_pool.REGRET_BOOK)

    # One round ------------------------------------------------------------------------------

    def forecast(self, said: Vector) -> float:
        """The pool's forecast from those of the experts, NaN for those who sleep."""
        return float(self._means(said[:, None])[0])

    def _means(self, said: Matrix, where: str = "") -> Vector:
        g = np.empty(said.shape[1])
        trial = self.copy()
        if not guarded.forecast(trial.cells, trial.book, trial.memory, said, g):
            self._nobody(np.full(1, math.nan), where)
        return g

    def learn(self, said: Vector, y: float, costs: Vector | None = None) -> tuple[float, float]:  # noqa: ARG002  # no likelihoods
        """Learn one round; its forecast and its loss."""
        after, g = self.copy(), np.empty(1)
        table = np.ascontiguousarray(said[:, None])
        loss = guarded.learn(after.cells, after.book, after.memory, table, np.array([y]), g)
        if loss != loss:
            self._nobody(said)
        self.adopt(after)
        return float(g[0]), loss

    def weights(self, said: Vector | None = None) -> Vector:
        """The experts' weights, adding up to 1; some may be negative, by stacking."""
        words = np.zeros((self.size, 1)) if said is None else np.ascontiguousarray(said[:, None])
        trial, weights = self.copy(), np.empty(self.size)
        guarded.weights(trial.cells, trial.book, trial.memory, words, weights)
        return weights

    # Many rounds ----------------------------------------------------------------------------

    def replay(
        self,
        said: Matrix,
        y: Matrix,
        costs: Matrix | None = None,  # noqa: ARG002  # no likelihoods
        *,
        weights: bool = False,
    ) -> tuple[Matrix, Vector, Matrix]:
        """Forecast-then-learn over rows, T x N or T x N x k: forecasts, losses, weights."""
        t, after = Tables(said, y, weights=weights), self.copy()
        parts = after.cells, after.book, after.memory
        failed = guarded.replay(*parts, t.said, t.ys, t.forecasts, t.losses, t.weights)
        if failed >= 0:
            self._nobody(np.full(1, math.nan), f" in row {failed}")
        self.adopt(after)
        return t.filled()

    def predict_rows(self, said: Matrix) -> Vector:
        """Forecasts from every row; nothing is learned."""
        rows = (self._means(row[:, None], f" in row {t}")[0] for t, row in enumerate(said))
        return np.array(list(rows), dtype=np.float64)

    # Experts that join ----------------------------------------------------------------------

    def joined(self, weight: float) -> GuardedPool:
        """A pool with one more expert, of this share of each rule's weight from now on.

        In the outermost pool it has the part of it that all experts have, and counts as having
        slept: it has paid what the pool's mixture paid.
        """
        outer, N = super().joined(PART * weight), self.size
        order = [*range(N), N + 1, N]  # the rules stay last
        cells = np.ascontiguousarray(outer.cells[:, order])
        larger = GuardedPool(self.game, cells, outer.book, np.zeros(rule_pool.size(N + 1, 1)))
        for i in (rule_pool.MERGER_CELLS, rule_pool.SCALARS, rule_pool.PLAYING):
            larger.part(i)[:] = self.part(i)
        for i in (rule_pool.STEADY_CELLS, rule_pool.AGILE_CELLS):
            larger.part(i)[:, :N] = (1.0 - weight) * self.part(i)
            larger.part(i)[: adaptive.MASS, N] = weight
        regret = RegretPool(convex("square"), *self._regrets()).joined(weight)
        for mine, theirs in zip(larger._regrets(), (regret.cells, regret.book)):
            mine[:] = theirs
        now, then = larger.part(rule_pool.FACTOR), self.part(rule_pool.FACTOR)
        work, settings = larger.part(rule_pool.WORK), self.part(rule_pool.WORK)[rule_pool.AT]
        now[:N, :N], now[N + 1, :N] = then[:N], then[N]
        now[N, N] = 1.0 / rule_pool.PRECISION
        if settings[rule_pool.ROOTED]:
            now[N, N] = math.sqrt(now[N, N])
        for entry in (rule_pool.ROOTED, rule_pool.PASSED):
            work[rule_pool.AT, entry] = settings[entry]
        return larger

    def totals(self) -> PoolTotals:
        """The book, added up; the last expert is the pool of rules."""
        return replace(super().totals(), guarded=True)


_MASSES = (rule_pool.STEADY_CELLS, rule_pool.AGILE_CELLS, rule_pool.MERGER_CELLS)


def _outcomes(game: Game) -> int:
    """How many outcomes a round has: the rate is 2/(k (hi-lo)^2)."""
    return round(2.0 / game.scale)


def guarded_statements(pool: GuardedPool, cells: Cells = ()) -> list[Certificate]:
    """What is proved of the outermost pool, and what follows from its experts' certificates."""
    totals = pool.totals()
    return [*statements(pool.game, totals), *chain(pool.game, totals, cells)]
