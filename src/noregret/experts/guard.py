"""Who speaks: rules of which nothing is proved, while the pool with the proof stands guard.

The loss of a forecast q exceeds that of s by (q - s)(q + s - 2y), which is linear in y: for y in
[lo, hi] it is at most |q - s| max(|q + s - 2 lo|, |q + s - 2 hi|).  q is issued where what it has
cost more than s so far and this add up to at most BUDGET (hi - lo)^2; else s.  docs/theory.md,
section 24.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from noregret._native import leaders, mixing
from noregret.declare.fields import Array, require
from noregret.experts.pool import Pool, PoolTotals
from noregret.experts.theorems import BUDGET
from noregret.types import Matrix, Vector

__all__ = ["Guard"]

UNKNOWN = np.array([np.nan])


class Guard:
    """The account of what was issued in a pool's place.

    >>> from noregret.losses import game
    >>> pool, guard = Pool.start(game("square", (0.0, 10.0)), np.array([0.5, 0.5])), Guard.of()
    >>> said, y = np.array([[4.0, 6.0]] * 3), np.array([6.0, 6.0, 6.0])
    >>> span = guard.spans(pool, y)
    >>> safe = pool.replay(said, y)[0]
    >>> guard.replay(said[:, 1], safe, y, span)[0]  # the second expert speaks
    array([6., 6., 6.])
    """

    __slots__ = ("account", "over", "paid")

    FIELDS = (Array("account", (1,)), Array("over", (2,)), Array("paid", (1, 2)))

    def __init__(self, account: Vector, over: Vector, paid: Matrix) -> None:
        self.account, self.over, self.paid = account, over, paid

    @classmethod
    def of(cls, paid: float = 0.0) -> Guard:
        """A guard that has let nothing pass, of a pool that has paid so much."""
        return cls(np.zeros(1), np.zeros(2), np.array([[paid, 0.0]]))

    @classmethod
    def restored(cls, account: Vector, over: Vector, paid: Matrix) -> Guard:
        """The guard of these fields."""
        require(bool((over >= 0.0).all()), "has an impossible account")
        return cls(account, over, paid)

    def copy(self) -> Guard:
        """A guard that shares nothing with this one."""
        return Guard(self.account.copy(), self.over.copy(), self.paid.copy())

    def same(self, other: Guard) -> bool:
        """Whether another guard has let the same pass."""
        pairs = zip((self.account, self.over, self.paid), (other.account, other.over, other.paid))
        return all(np.array_equal(mine, others) for mine, others in pairs)

    @staticmethod
    def spans(pool: Pool, ys: Vector) -> tuple[Vector, Vector]:
        """By row the outcomes that a pool is ready for: the range given, or what was seen before.

        Before the first outcome it is one point.
        """
        T, span = max(len(ys), 1), pool.game.span
        if span is not None:
            return np.full(T, span[0]), np.full(T, span[1])
        if not len(ys):
            low, high = pool.book[mixing.SEEN].tolist() if pool.rounds else (0.0, 0.0)
            return np.array([low]), np.array([high])
        low, high = (
            np.r_[seen, ys] if pool.rounds else ys for seen in pool.book[mixing.SEEN].tolist()
        )
        low, high = np.minimum.accumulate(low), np.maximum.accumulate(high)
        if not pool.rounds:
            low, high = np.r_[0.0, low], np.r_[0.0, high]
        return low[:T], high[:T]

    def forecast(self, quick: float, safe: float, span: tuple[Vector, Vector]) -> float:
        """What is issued in the round to come."""
        issued = self._issued(np.array([quick]), np.array([safe]), UNKNOWN, span)
        return float(issued[0])

    def replay(
        self, quick: Vector, safe: Vector, ys: Vector, span: tuple[Vector, Vector]
    ) -> tuple[Vector, Vector]:
        """What is issued in rounds that are learned, and its losses."""
        issued, losses = self._issued(quick, safe, ys, span), np.empty(len(ys))
        leaders.pay(issued, ys, self.paid, losses)
        return issued, losses

    def _issued(
        self, quick: Vector, safe: Vector, ys: Vector, span: tuple[Vector, Vector]
    ) -> Vector:
        issued = np.empty(len(safe))
        leaders.guard(
            np.ascontiguousarray(quick), safe, ys, *span, BUDGET, 0, self.account, self.over, issued
        )
        return issued

    def totals(self, pool: Pool) -> PoolTotals:
        """The book of a pool in whose place this was issued."""
        totals = pool.totals()
        paid, beyond = float(self.paid.sum()), float(self.over[0])
        return replace(totals, loss=paid, own_loss=totals.loss, beyond=beyond)
