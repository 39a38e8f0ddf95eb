"""Mutants of mixing: weights, ranges, Fixed Share, what a pool's book says."""

from __future__ import annotations

POOL = ("experts/test_bounds_pools.py", "experts/test_pool_edges.py")

MUTANTS = {
    "_ops/mixing.py": (
        POOL,
        [
            ("said[j] if speaks else 0.0", "said[j]", "NaN is mixed"),
            (
                "awake[j] = prior[j] if speaks else -math.inf",
                "awake[j] = prior[j]",
                "sleepers are heard",
            ),
            (
                "held = excess[j] + charged * cost[j]",
                "held = excess[j]",
                "the leader before the round",
            ),
            ("charged * (cost[j] - l0))", "(cost[j] - l0))", "losses that are not known yet"),
            ("g: float = said[r] + off / weight", "g: float = said[r] + off", "an unweighted mean"),
            (
                "middle = 0.5 * lo + 0.5 * hi\n    best",
                "middle = lo\n    best",
                "where merit is judged",
            ),
            ("lean / (2.0 * eta * (hi - lo))", "lean / (eta * (hi - lo))", "the substitution"),
            (
                "weight = (awake[j] - p0) - eta * (excess[j] - u0)",
                "weight = -eta * (excess[j] - u0)",
                "the prior is dropped",
            ),
            (
                "            agreed = book[RANGE, 0]",
                "            agreed = 0.0",
                "a range of one point",
            ),
            ("if asleep > 0 or eta == math.inf:", "if eta == math.inf:", "sleepers dilute the mix"),
            (
                "        excess[j] = moved if awake[j] > -math.inf else excess[j]",
                "        excess[j] = moved",
                "sleepers are charged",
            ),
            (
                "mix: float = (u0 - before) + l0 - left",
                "mix: float = u0 + l0 - left",
                "the mix with sleepers",
            ),
            (
                "        track[j] += cost[j]\n",
                "        track[j] = cost[j]\n",
                "tracks are overwritten",
            ),
            (
                "mass[j] = track[j] - prior[j] / eta",
                "mass[j] = track[j]",
                "the first expert is free",
            ),
            ("turns[r] + 1.0", "turns[r]", "turns not counted"),
            ("    book[REACH, 1] += 1.0 / eta\n", "", "staying is not charged"),
            (
                "best - math.log(s) / eta",
                "best - 2.0 * math.log(s) / eta",
                "switching costs double",
            ),
            ("stay = track[j] - pool[STAY, j] / eta", "stay = track[j]", "staying is free"),
            ("if arrive < stay:", "if arrive <= stay:", "a tie changes experts"),
            ("(1.0 - s) * mass[j] + s)", "mass[j] + s)", "weights grow"),
            (
                "        course[j] += cost[j]\n",
                "        course[j] = cost[j]\n",
                "the loss of the best sequence is overwritten",
            ),
            (
                "    for j in range(N):\n        pool[EXCESS, j] += (top + math.log(total)) / eta",
                "    for j in range(0):\n        pool[EXCESS, j] += (top + math.log(total)) / eta",
                "no normalising at a new rate",
            ),
            (
                "        width *= 2.0\n",
                "        width = hi - lo\n",
                "the range is followed exactly",
            ),
            (
                "book[RANGE, 0] = min(lo, middle - 0.5 * width)",
                "book[RANGE, 0] = lo",
                "the range is the outcomes seen",
            ),
            (
                "lo = y if first else min(y, book[SEEN, 0])",
                "lo = min(y, book[SEEN, 0])",
                "0 is taken for an outcome seen",
            ),
            ("if width != book[WIDTH, 0]:", "if width > 0.0:", "normalised in every round"),
            (
                "        added = held - paid[j]\n        slip = (paid[j] - (held - added)) + (l - added)",
                "        added = held - paid[j]\n        slip = (paid[j] - (held - added)) - (l - added)",
                "sign of the compensation",
            ),
            ("lost[j] += slip if held < math.inf else 0.0", "lost[j] += 0.0", "no compensation"),
            ("l = cost[j] if speaks else mix", "l = cost[j] if speaks else 0.0", "sleep is free"),
            (
                "most = max(most, cost[j] if speaks else 0.0)",
                "most = max(most, cost[j])",
                "sleepers count for the reach",
            ),
            (
                "if worst > book[WORST, 0] or",
                "if worst < book[WORST, 0] or",
                "the best round for the worst",
            ),
            (
                "add(book, OVER, max(loss - mix, 0.0))",
                "add(book, OVER, loss - mix)",
                "a cheap round beyond the range pays for others",
            ),
            ("        book[ROUNDS, 1] += 1.0\n", "", "rounds beyond the range not counted"),
            (
                "        if book[CHANGES, 1] == 0.0:\n",
                "        if True:\n",
                "the last round beyond the range for the first",
            ),
            (
                "    add(book, LOSS, loss)\n",
                "    book[LOSS, 0] = loss\n",
                "the loss is overwritten",
            ),
            ("    add(book, MIX, mix)\n", "    add(book, MIX, loss)\n", "the loss for the mix"),
            ("loss = mix if likelihood else (y - g) ** 2", "loss = mix", "the mix for the loss"),
            (
                "book[RANGE, 0] <= y <= book[RANGE, 1] and eta",
                "y <= book[RANGE, 1] and eta",
                "outcomes below the range",
            ),
            ("failed = T + t", "failed = t", "which refusal it was"),
            (
                "            if abs(said[t, j]) > limit:",
                "            if said[t, j] > limit:",
                "forecasts far below",
            ),
        ],
    ),
    "experts/pool.py": (
        POOL,
        [
            (
                "cells[mixing.STAY] = np.log1p(-share * (1.0 - prior))",
                "cells[mixing.STAY] = np.log1p(-share)",
                "what it costs to stay",
            ),
            ("cells[mixing.PRIOR, :-1] += math.log1p(-weight)", "pass", "a joiner takes nothing"),
            (
                "            cells[row, -1] = totals.mix\n",
                "            cells[row, -1] = 0.0\n",
                "a joiner has paid nothing",
            ),
            (
                "max(book[mixing.REACH, 1] - 1.0 / book[mixing.RATE, 0], 0.0)",
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
                "np.log1p(-totals.share * -np.expm1(cells[mixing.PRIOR]))",
                "np.log1p(-totals.share * cells[mixing.PRIOR])",
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
