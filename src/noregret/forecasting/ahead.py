"""All that is kept for one horizon: linear models, weights, the pool with the proof, its guard.

Four layers make the forecast of a step from what was known h steps before.

1. Experts: the naive forecasts, linear models that learn each outcome when it comes, the learners.
2. Exponential weights on discounted losses, at a rate in units of the best expert's own error, for
   several discounts and powers; merged once more by the same rule.  Where the series has repeated
   itself exactly for a whole period, that repetition is followed.
3. The Aggregating Algorithm over the experts, in h copies that take turns: the copy of step s has
   learned steps s - h, s - 2h, ..., all known by then, so each has its theorem.
4. The guard: layer 2 speaks as long as it cannot lose more than a budget more than layer 3.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from noregret._native import leaders, mixing
from noregret._native.ledger import add
from noregret.certificates import Assumption, Certificate
from noregret.declare.fields import Array, Count, Mismatch, Part
from noregret.experts.core_grid import CoreGrid
from noregret.experts.pool import Pool
from noregret.forecasting.design import FAR, Design
from noregret.forecasting.history import HIGH, LOW, REAL, History, Y
from noregret.losses import game
from noregret.types import Integers, Matrix, Vector

__all__ = ["Ahead"]

PRECISIONS = (1.0, 30.0)
DRIFTS = (0.0, 1e-5, 1e-3)
CELLS = len(PRECISIONS) * len(DRIFTS)
MERGES = np.array([[d, p] for d in (1.0, 0.998, 0.98) for p in (0.5, 0.05)])  # discount, power
LAST = np.array([[0.998, 0.25]])
BUDGET = 4.0  # of the squared range, per copy: as much as eight nats
SQUARE = game("square", None)


class Ahead:
    """The state at one horizon; K experts, G ways to merge them."""

    __slots__ = (
        "accounts", "books", "cells", "counts", "discounted", "grid", "horizon", "loss",
        "over", "said", "tops",
    )  # fmt: skip

    FIELDS = (
        Count("horizon", 1, 100_000),
        Part("grid", ("Cells",)),
        Array("discounted", ("G", "K")),
        Array("tops", ("one", "G")),
        Array("counts", ("G and one",)),
        Array("said", ("waiting", "K and G")),
        Array("cells", ("h", mixing.POOL_ROWS, "K"), finite=False),
        Array("books", ("h", mixing.BOOK_ROWS, 2), finite=False),
        Array("accounts", ("h",)),
        Array("over", (2,)),
        Array("loss", (1, 2)),
    )

    def __init__(self, horizon: int, features: int, baselines: int, learners: int) -> None:
        ours, G = CELLS + learners, len(MERGES)
        K = baselines + ours
        self.horizon = horizon
        self.grid = CoreGrid(PRECISIONS, DRIFTS, features + 1)
        self.discounted, self.tops = np.zeros((G, K)), np.zeros((1, G))
        self.counts = np.zeros(G + 1)
        self.said = np.zeros((0, K + G))  # of the last h - 1 steps: experts, then merges
        half = np.r_[np.full(baselines, 0.5 / baselines), np.full(ours, 0.5 / ours)]
        pool = Pool.start(SQUARE, half)
        self.cells = np.repeat(pool.cells[None], horizon, axis=0)
        self.books = np.repeat(pool.book[None], horizon, axis=0)
        self.accounts = np.zeros(horizon)
        self.over = np.zeros(2)  # what outcomes beyond the range cost the guard; rounds followed
        self.loss = np.zeros((1, 2))

    @classmethod
    def restored(cls, *values: object) -> Ahead:
        """The state of these values."""
        found: Ahead = object.__new__(cls)
        for name, value in zip((f.name for f in cls.FIELDS), values, strict=True):
            setattr(found, name, value)
        K, G, h = found.discounted.shape[1], len(MERGES), found.horizon
        waits = len(found.said)
        if len(found.discounted) != G or found.counts.shape != (G + 1,) or waits >= max(h, 2):
            raise Mismatch("has other ways to merge")
        if found.said.shape[1] != K + G or len(found.cells) != h or found.grid.size != CELLS:
            raise Mismatch("has other experts")
        if (waits and h == 1) or len(found.tops) != 1:
            raise Mismatch("has steps that wait at horizon 1")
        return found

    def copy(self) -> Ahead:
        """One that shares nothing with this one."""
        grid = self.grid.copy()
        arrays = (getattr(self, f.name) for f in self.FIELDS[2:])
        return Ahead.restored(self.horizon, grid, *(array.copy() for array in arrays))

    # Many steps -----------------------------------------------------------------------------

    def run(
        self, design: Design, past: History, first: int, learners: Sequence[Vector]
    ) -> tuple[Vector, Matrix]:
        """Forecast and learn the steps from `first` on: forecasts issued, and naive ones.

        learners : what each learner says of these steps.
        """
        h, size = self.horizon, past.size
        wait = min(h - 1, first)
        steps = np.arange(first - wait, size)
        T = size - first
        y = self._outcomes(design, past, steps)
        rows, base, unit = design.rows(past, steps, h)
        target = np.clip((y - base) / unit, -FAR, FAR)
        heard = self.grid.late(_constant(rows), target, T, h)[:, ::2]
        naive = design.naive(past, steps[wait:], h)
        linear = base[wait:, None] + unit[wait:, None] * heard
        experts = np.column_stack([naive, linear, *learners])
        K = experts.shape[1]
        said = np.empty((wait + T, K + len(MERGES)))
        said[:wait], said[wait:, :K] = self.said[len(self.said) - wait :], experts
        said[wait:, K:], quick = self._merge(said, y, T, h)
        quick = self._echo(design, past, steps[wait:], naive, quick)
        now = y[wait:]
        safe = self._aggregate(experts, now, first)
        at = past.columns(steps[wait:] - h)
        issued = np.empty(T)
        leaders.guard(
            quick, safe, now, past.table[LOW, at], past.table[HIGH, at], BUDGET, first,
            self.accounts, self.over, issued,
        )  # fmt: skip
        paid = (now - issued) ** 2
        for loss in paid[~np.isnan(paid)].tolist():  # one by one: cuts leave no trace
            add(self.loss, 0, loss)
        self.said = said[len(said) - min(h - 1, size) :].copy()
        return issued, naive

    def _outcomes(self, design: Design, past: History, steps: Integers) -> Vector:
        """The outcomes of steps that could be forecast, NaN for others."""
        at = past.columns(steps)
        scored = (past.table[REAL, at] > 0.0) & (steps >= max(self.horizon, design.warm))
        y: Vector = np.where(scored, past.table[Y, at], np.nan)
        return y

    def _merge(self, said: Matrix, y: Vector, T: int, delay: int) -> tuple[Matrix, Vector]:
        """Both levels of weights, on the last T rows."""
        K, G = self.discounted.shape[1], len(MERGES)
        merged, quick = np.empty((T, G)), np.empty((T, 1))
        low, top = np.ascontiguousarray(said[:, :K]), said[:, K:].copy()
        leaders.late(low, y, delay, MERGES, self.counts[:G], self.discounted, merged)
        top[len(top) - T :] = merged
        leaders.late(top, y, delay, LAST, self.counts[G:], self.tops, quick)
        return merged, quick[:, 0]

    def _echo(
        self, design: Design, past: History, steps: Integers, naive: Matrix, quick: Vector
    ) -> Vector:
        """Follow a period that has repeated itself exactly, the shortest of several."""
        origin = past.columns(steps - self.horizon)
        for k in reversed(range(len(design.echoes))):
            exact = past.table[past.run(k), origin] >= design.turns[k]
            quick = np.where(exact, naive[:, 2 + k], quick)
        return np.clip(quick, 0.0, 1.0) if design.binary else quick

    def _aggregate(self, experts: Matrix, y: Vector, first: int) -> Vector:
        """The Aggregating Algorithm's forecasts, each copy on its own steps."""
        h = self.horizon
        safe = np.full(len(y), np.nan)
        real = ~np.isnan(y)
        for start in range(min(h, len(y))):
            mine = start + h * np.flatnonzero(real[start::h])
            if not mine.size:
                continue
            copy = (first + start) % h
            g, loss = np.empty(mine.size), np.empty(mine.size)
            none = np.empty((0, experts.shape[1]))
            given = np.ascontiguousarray(experts[mine])
            mixing.replay(self.cells[copy], self.books[copy], given, none, y[mine], g, loss, none)
            safe[mine] = g
        return safe

    # A step to come -------------------------------------------------------------------------

    def forecast(
        self, design: Design, past: History, learners: Sequence[float], given: Matrix | None
    ) -> float:
        """The forecast h steps after the last outcome, from all that is known now."""
        h, now = self.horizon, past.size - 1
        target = np.array([now + h])
        steps = np.arange(max(now - h + 2, 0), now + 1)  # known, but not yet learned
        y = self._outcomes(design, past, steps)
        real = ~np.isnan(y)
        rows, base, unit = design.rows(past, target, h, given)
        grid = self.grid
        if real.any():
            grid = grid.copy()
            before, level, size = design.rows(past, steps[real], h)
            fresh = np.clip((y[real] - level) / size, -FAR, FAR)
            grid.replay(_constant(before), fresh)
        heard = grid.look(_constant(rows)[0])[::2]
        naive = design.naive(past, target, h)
        experts = np.r_[naive[0], base[0] + unit[0] * heard, learners]
        quick = self._merged_now(experts, y)
        quick = self._echo(design, past, target, naive, quick)
        copy = int(target[0]) % h
        safe = Pool(SQUARE, self.cells[copy], self.books[copy]).forecast(experts)
        issued = np.empty(1)
        low, high = past.table[[LOW, HIGH], -1]
        leaders.guard(
            quick, np.array([safe]), np.array([np.nan]), np.array([low]), np.array([high]), BUDGET,
            copy, self.accounts, self.over, issued,
        )  # fmt: skip
        return float(issued[0])

    def _merged_now(self, experts: Vector, y: Vector) -> Vector:
        """Both levels of weights after the steps that wait are learned, on copies."""
        K, G = len(experts), len(MERGES)
        waiting = self.said[len(self.said) - len(y) :]
        counts, forecasts = self.counts.copy(), experts
        for losses, rates, count, said in (
            (self.discounted.copy(), MERGES, counts[:G], waiting[:, :K]),
            (self.tops.copy(), LAST, counts[G:], waiting[:, K:]),
        ):
            rows = np.vstack([said, forecasts])
            merged = np.empty((len(rows), len(rates)))
            leaders.late(rows, np.r_[y, np.nan], 1, rates, count, losses, merged)
            forecasts = merged[-1]
        return forecasts

    def paid(self) -> Vector:
        """What each expert has lost."""
        total: Vector = self.cells[:, mixing.PAID : mixing.PAID + 2].sum(axis=(0, 1))
        return total

    # What is proved -------------------------------------------------------------------------

    def certificate(self, experts: Sequence[str], past: History) -> Certificate:
        """(21.2), for the forecasts issued: best expert, h copies, the guard's budget."""
        played = self.books[:, mixing.ROUNDS, 0] > 0.0  # of the copies; all at once: there are h
        books, paid = self.books[played], self.paid()
        rate = books[:, mixing.RATE, :1]
        price = np.sum(np.abs(self.cells[played, mixing.PRIOR]) / rate, axis=0)
        over = float(sum(books[:, mixing.OVER].sum(axis=1).tolist())) + float(self.over[0])
        low, high = past.table[[LOW, HIGH], -1]
        budget = BUDGET * float(high - low) ** 2 * len(books)
        h = self.horizon
        rounds = int(books[:, mixing.ROUNDS, 0].sum())
        copies = "" if h == 1 else f"{h} copies of "
        return Certificate.of(
            name="Aggregating Algorithm, guarded" + (f", {h} steps ahead" if h > 1 else ""),
            kind="upper bound",
            rounds=rounds,
            loss=float(self.loss.sum()),
            comparator=float(np.min(paid)),
            bound=float(np.min(paid + price)) + budget + over,
            statement=(
                f"sum (y - g)^2 <= min_j (L_j + {copies}W^2/2 ln 1/p_j) + {copies}{BUDGET:g} "
                f"(hi-lo)^2 + what rounds beyond the range cost; {len(experts)} experts, best: "
                f"{experts[int(np.argmin(paid))]}"
            ),
            assumptions=(
                Assumption(
                    f"range learned: outcomes from lo = {low:.6g} to hi = {high:.6g}, W = "
                    f"{books[:, mixing.WIDTH, 0].max(initial=0.0):.6g} at most; rounds beyond "
                    f"the range then known cost {over:.6g}",
                    met=True,
                ),
                Assumption(
                    f"forecasts as issued, {h} step{'s' * (h > 1)} before the outcome"
                    + (
                        f": {h} copies of the pool take turns, each has one step of {h}"
                        if h > 1
                        else ""
                    ),
                    met=True,
                ),
            ),
        )


def _constant(rows: Matrix) -> Matrix:
    """The constant feature, then the others."""
    return np.column_stack([np.ones(len(rows)), rows])
