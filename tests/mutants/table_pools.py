"""Mutants of mixing: weights, ranges, Fixed Share, what a pool's book says."""

from __future__ import annotations

POOL = ("test_native.py", "experts/test_bounds_pools.py", "experts/test_pool_edges.py")

MUTANTS = {
    "experts/pool.py": (
        POOL,
        [
            (
                "cells[mixing.STAY] = _stay(share, 1.0 - prior)",
                "cells[mixing.STAY] = _stay(share, np.ones(prior.size))",
                "what it costs to stay",
            ),
            ("cells[mixing.PRIOR, :-1] += math.log1p(-weight)", "pass", "a joiner takes nothing"),
            (
                "            cells[row, -1] = totals.mix\n",
                "            cells[row, -1] = 0.0\n",
                "a joiner has paid nothing",
            ),
            (
                "max(book[mixing.REACH, 1] - last, 0.0)",
                "book[mixing.REACH, 1]",
                "one stay too many",
            ),
            (
                "paid=cells[mixing.PAID] + cells[mixing.PAID + 1]",
                "paid=cells[mixing.PAID]",
                "compensation dropped",
            ),
            (
                "loss=float(book[mixing.LOSS].sum())",
                "loss=float(book[mixing.LOSS, 0])",
                "compensation dropped, loss",
            ),
            (
                "        self.cells, self.book = cells, book\n        return forecasts",
                "        return forecasts",
                "a replay is not learned",
            ),
            (
                "Pool(self.game, self.cells.copy(), self.book.copy())",
                "Pool(self.game, self.cells, self.book)",
                "copies share",
            ),
            (
                "best_course=float(book[mixing.BEST, 1])",
                "best_course=float(book[mixing.BEST, 0])",
                "the price is in the comparator",
            ),
            (
                "switches=int(book[mixing.CHANGES, 0])",
                "switches=int(book[mixing.CHANGES, 1])",
                "switches",
            ),
            (
                "_stay(totals.share, -np.expm1(cells[mixing.PRIOR]))",
                "_stay(totals.share, cells[mixing.PRIOR])",
                "what it costs to stay after a joiner",
            ),
        ],
    ),
    "experts/units.py": (
        ("experts/test_auto.py",),
        [
            ("scale[j] = abs(xs[found[0], j])", "scale[j] = xs[found[0], j]", "units with a sign"),
            (
                "shift = self.shift if self.count else rows[0].copy()",
                "shift = rows[0].copy()",
                "the shift moves",
            ),
            (
                "counts = self.count + np.arange(1,",
                "counts = self.count + np.arange(0,",
                "one round behind",
            ),
        ],
    ),
}
