"""Layer two of K-LMS-NET: clipped outputs of many widths merged by exponential weights.

`cells` has a row a quantity and a column a node: the prior in the log domain, and what the node
has paid as a compensated sum.  `finer` is the same for the nodes of two audits, whose outputs are
`lift` times those of the nodes.  `said`, `heard` (the audits') and `at` are scratch: the last look
at x.  `book` has a row a sum.
"""

from __future__ import annotations

import math

import numba as nb

from noregret._ops import ANY, BLOCK, ROW, compiled
from noregret._ops.layout import LARGEST_FEATURE
from noregret._ops.ledger import add
from noregret._ops.lms import CUBE, LAST, LEVELS, SUMS, keep, oldest, outputs
from noregret._ops.vectors import exponentials
from noregret.types import Integers, Matrix, Vector

# Rows of `cells`.
PRIOR = 0  # ln w_j
PAID = 1  # (2 rows) sum of (y - clip(p_j))^2, and its compensation
CELLS = 3

# Rows of `said`.
RAW = 0  # p_j
CLIPPED = 1
WEIGHT = 2  # scratch
LOGS = 3  # scratch
SAID = 4

# Entries of `at`; then x.
FRESH = 0
MATCH = 1  # which pattern x is, -1 if it is new
FORECAST = 2  # of the last round learned
AT = 3

# Rows of `book`.
RANGE = 0  # lo, hi
GAME = 1  # c: what a nat costs; 1.0 if forecasts are substituted rather than averaged
RATE = 2  # eta; how many patterns are kept, 0 for all
LOSS = 3
MIX = 4  # sum of -c ln sum_j v_j exp(-loss_j/c)
WORST = 5  # largest (loss - mix)/c of a round, and which
ERROR = 6  # largest distance between forecast and each of the two audits
COUNTS = 7  # rounds, patterns kept
BOX = 8  # smallest and largest entry of any x
PEAK = 9  # largest k(x, x); patterns forgotten
BUDGETS = 10  # L-hat and H-hat, 0 where there are none
BOOK = 11

# What a round answers.
OK = 0
OUTSIDE = 1  # y is not in the range
FULL = 2  # no room for one more pattern
WIDTH = 3  # wrong number of features
LIMIT = 4  # some feature is not a number within 2^1000


@compiled(nb.float64(BLOCK, BLOCK, BLOCK), forceinline=False)
def weigh(cells: Matrix, book: Matrix, said: Matrix) -> float:
    """said[WEIGHT] <- weights up to a factor; return the log of their sum.  LOGS keeps the logs."""
    J, c = cells.shape[1], book[GAME, 0]
    best = 0
    for j in range(1, J):
        if cells[PAID, j] + cells[PAID + 1, j] < cells[PAID, best] + cells[PAID + 1, best]:
            best = j
    logs, weight = said[LOGS], said[WEIGHT]
    paid, rest = cells[PAID, best], cells[PAID + 1, best]
    top = -math.inf
    for j in range(J):
        over = (cells[PAID, j] - paid) + (cells[PAID + 1, j] - rest)
        logs[j] = cells[PRIOR, j] - over / c
        top = max(top, logs[j])
    for j in range(J):
        logs[j] -= top
        weight[j] = max(logs[j], -800.0)
    return math.log(exponentials(weight, 0.0))


@compiled(nb.float64(BLOCK, BLOCK, nb.float64, nb.float64), forceinline=False)
def mixed(book: Matrix, said: Matrix, y: float, total: float) -> float:
    """-c ln sum_j v_j exp(-(y - clip(p_j))^2/c), given the log of the sum of the weights."""
    c, logs, weight, clipped = book[GAME, 0], said[LOGS], said[WEIGHT], said[CLIPPED]
    top = -math.inf
    for j in range(logs.shape[0]):
        top = max(top, logs[j] - (y - clipped[j]) ** 2 / c)
    for j in range(logs.shape[0]):
        weight[j] = max(logs[j] - (y - clipped[j]) ** 2 / c - top, -800.0)
    mix: float = -c * (math.log(exponentials(weight, 0.0)) + top - total)
    return mix


@compiled(nb.float64(BLOCK, BLOCK, nb.float64), forceinline=False)
def merged(book: Matrix, said: Matrix, total: float) -> float:
    """(2), or the Aggregating Algorithm's substitution, for the weights that `weigh` left."""
    low, high = book[RANGE, 0], book[RANGE, 1]
    if book[GAME, 1] == 1.0:
        low_mix, high_mix = mixed(book, said, low, total), mixed(book, said, high, total)
        middle: float = 0.5 * (low + high) + (low_mix - high_mix) / (2.0 * (high - low))
        return middle
    above = below = 0.0
    for j in range(said.shape[1]):
        above += said[WEIGHT, j] * (said[CLIPPED, j] - low)
        below += said[WEIGHT, j]
    mean: float = low + above / below
    return mean


@compiled(nb.void(BLOCK, BLOCK), forceinline=False)
def clip(book: Matrix, said: Matrix) -> None:
    """Layer one's outputs within the range."""
    for j in range(said.shape[1]):
        said[CLIPPED, j] = min(max(said[RAW, j], book[RANGE, 0]), book[RANGE, 1])


@compiled(nb.void(BLOCK, BLOCK, nb.float64), forceinline=False)
def charge(cells: Matrix, said: Matrix, y: float) -> None:
    """Every node pays (y - clip(p_j))^2."""
    for j in range(cells.shape[1]):
        held, term = cells[PAID, j], (y - said[CLIPPED, j]) ** 2
        grown = held + term
        cells[PAID, j] = grown
        cells[PAID + 1, j] += (held - grown) + term if held >= term else (term - grown) + held


@compiled(nb.void(BLOCK, ROW, ROW), fastmath=SUMS, forceinline=False)
def product(lift: Matrix, raw: Vector, out: Vector) -> None:
    """out = lift raw."""
    for i in range(out.shape[0]):
        row, added = lift[i], 0.0
        for j in range(raw.shape[0]):
            added += row[j] * raw[j]
        out[i] = added


@compiled(nb.void(CUBE, BLOCK, BLOCK, CUBE, CUBE, nb.float64, nb.float64), forceinline=False)
def audit(
    finer: Matrix, book: Matrix, said: Matrix, heard: Matrix, lift: Matrix, y: float, g: float
) -> None:
    """How far the forecast is from the audits', whose nodes then pay too."""
    for a in range(finer.shape[0]):
        cells, words = finer[a], heard[a]
        product(lift[a], said[RAW], words[RAW])
        clip(book, words)
        off = abs(merged(book, words, weigh(cells, book, words)) - g)
        charge(cells, words, y)
        book[ERROR, a] = max(book[ERROR, a], off)


@compiled(nb.float64(BLOCK, CUBE, BLOCK, BLOCK, CUBE, CUBE, nb.float64), forceinline=False)
def settle(
    cells: Matrix,
    finer: Matrix,
    book: Matrix,
    said: Matrix,
    heard: Matrix,
    lift: Matrix,
    y: float,
) -> float:
    """Forecast from said[RAW], then charge everybody for y; return the forecast."""
    clip(book, said)
    c = book[GAME, 0]
    total = weigh(cells, book, said)
    g = merged(book, said, total)
    mix = mixed(book, said, y, total)
    audit(finer, book, said, heard, lift, y, g)
    loss = (y - g) ** 2
    t = book[COUNTS, 0] + 1.0
    add(book, LOSS, loss)
    add(book, MIX, mix)
    if t == 1.0 or (loss - mix) / c > book[WORST, 0]:
        book[WORST, 0], book[WORST, 1] = (loss - mix) / c, t
    book[COUNTS, 0] = t
    charge(cells, said, y)
    return g


@compiled(nb.void(BLOCK, CUBE, BLOCK, BLOCK, CUBE, CUBE, BLOCK, ROW, ROW), forceinline=False)
def settle_all(
    cells: Matrix,
    finer: Matrix,
    book: Matrix,
    said: Matrix,
    heard: Matrix,
    lift: Matrix,
    raws: Matrix,
    ys: Vector,
    forecasts: Vector,
) -> None:
    """Round by round, from outputs of layer one that are known already, a row a round."""
    for t in range(ys.shape[0]):
        for j in range(raws.shape[1]):
            said[RAW, j] = raws[t, j]
        forecasts[t] = settle(cells, finer, book, said, heard, lift, ys[t])


@compiled(nb.int64(CUBE, CUBE, BLOCK, BLOCK, LEVELS, BLOCK, BLOCK, ROW, ANY), forceinline=False)
def look(
    points: Matrix,
    coefs: Matrix,
    book: Matrix,
    rates: Matrix,
    levels: Integers,
    work: Matrix,
    said: Matrix,
    at: Vector,
    x: Vector,
) -> int:
    """Layer one's outputs at x; those of the last look where x is the same."""
    n, old = points.shape[1], at[AT:]
    if x.shape[0] != n:
        return WIDTH
    same = at[FRESH] == 1.0
    for i in range(n):
        if not abs(x[i]) <= LARGEST_FEATURE:
            return LIMIT
        same = same and old[i] == x[i]
    if same:
        return OK
    at[FRESH] = 0.0
    for i in range(n):
        old[i] = x[i] + 0.0  # -0.0 is 0.0
    size = int(book[COUNTS, 1])
    at[MATCH] = outputs(points, coefs, size, old, rates, levels, work, said[RAW])
    at[FRESH] = 1.0
    return OK


@compiled(nb.float64(CUBE, CUBE, BLOCK, BLOCK, BLOCK, LEVELS, BLOCK, BLOCK, ROW, ANY))
def predict(
    points: Matrix,
    coefs: Matrix,
    cells: Matrix,
    book: Matrix,
    rates: Matrix,
    levels: Integers,
    work: Matrix,
    said: Matrix,
    at: Vector,
    x: Vector,
) -> float:
    """The forecast at x; NaN where the careful lane must look at x."""
    if look(points, coefs, book, rates, levels, work, said, at, x) != OK:
        return math.nan
    clip(book, said)
    return merged(book, said, weigh(cells, book, said))


@compiled(
    nb.int64(
        *(CUBE, CUBE, BLOCK, BLOCK, CUBE, BLOCK),
        *(BLOCK, LEVELS, BLOCK, BLOCK, CUBE, CUBE, ROW, ANY, nb.float64),
    ),
    forceinline=False,
)
def learn(
    points: Matrix,
    coefs: Matrix,
    facts: Matrix,
    cells: Matrix,
    finer: Matrix,
    book: Matrix,
    rates: Matrix,
    levels: Integers,
    work: Matrix,
    said: Matrix,
    heard: Matrix,
    lift: Matrix,
    at: Vector,
    x: Vector,
    y: float,
) -> int:
    """One round; every check comes before the first write."""
    if not book[RANGE, 0] <= y <= book[RANGE, 1]:
        return OUTSIDE
    answer = look(points, coefs, book, rates, levels, work, said, at, x)
    if answer != OK:
        return answer
    size, window = int(book[COUNTS, 1]), int(book[RATE, 1])
    slot, known = int(at[MATCH]), 1
    if slot < 0:
        slot, known = size, 0
        if 0 < window <= size:
            slot = oldest(facts, size)
        elif size >= facts.shape[0]:
            return FULL
    at[FRESH] = 0.0
    book[PEAK, 0] = 1.0
    at[FORECAST] = settle(cells, finer, book, said, heard, lift, y)
    if known == 0:
        if slot == size:
            book[COUNTS, 1] += 1.0
        else:
            book[PEAK, 1] += 1.0
    old = at[AT:]
    keep(points, coefs, facts, slot, known, old, said[RAW], y, book[RATE, 0])
    facts[slot, LAST] = book[COUNTS, 0]
    for i in range(old.shape[0]):
        first = book[COUNTS, 0] == 1.0 and i == 0
        book[BOX, 0] = old[i] if first else min(book[BOX, 0], old[i])
        book[BOX, 1] = old[i] if first else max(book[BOX, 1], old[i])
    return OK


@compiled(
    nb.int64(
        *(CUBE, CUBE, BLOCK, BLOCK, CUBE, BLOCK),
        *(BLOCK, LEVELS, BLOCK, BLOCK, CUBE, CUBE, ROW, BLOCK, ROW, ROW),
    )
)
def replay(
    points: Matrix,
    coefs: Matrix,
    facts: Matrix,
    cells: Matrix,
    finer: Matrix,
    book: Matrix,
    rates: Matrix,
    levels: Integers,
    work: Matrix,
    said: Matrix,
    heard: Matrix,
    lift: Matrix,
    at: Vector,
    xs: Matrix,
    ys: Vector,
    forecasts: Vector,
) -> int:
    """Predict-then-learn over rows that are known to be good; how many went before it was full."""
    for t in range(ys.shape[0]):
        answer = learn(
            points,
            coefs,
            facts,
            cells,
            finer,
            book,
            rates,
            levels,
            work,
            said,
            heard,
            lift,
            at,
            xs[t],
            ys[t],
        )
        if answer != OK:
            return t
        forecasts[t] = at[FORECAST]
    return len(ys)
