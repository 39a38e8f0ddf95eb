"""OSLOG, one pass: w <- D^1/2 (aI + D^1/2 M D^1/2)^-1 D^1/2 b with D = diag(max(|w|, floor)).

The same as a D^-1 w + M w = b.  Coordinates whose d_i M_ii exceeds LIVE a are solved for by a
Cholesky factor; for the others that equation is its own remedy, w_i = d_i (b_i - (M w)_i)/a, a
contraction by LIVE.  Three rounds of both leave LIVE^2 of the answer and less, so tiny weights stay
exact and can grow back; none is ever dropped.  The cost follows the k live weights: k^3/3 +
6 n (n - k) flops.

`state` has one row a quantity, `gram` is M = sum xx', full.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np

from noregret._ops import ANY, BLOCK, ROW, compiled
from noregret._ops.ledger import add
from noregret._ops.vectors import NUMBERS
from noregret.types import Matrix, Vector

# Rows of `state`.
MOMENT = 0  # b = sum yx
WEIGHTS = 1  # w
SCALES = 2  # the d that w was found with
NEW = 3  # scratch: the weights to come
ROOTS = 4  # scratch: sqrt(d) of the live ones
LIST = 5  # scratch: which coordinates are live
SIDE = 6  # scratch: right-hand sides
IDLE = 7  # a row of 0: no new data
KEPT = 8  # scratch: the d before a round
STATE_ROWS = 9

# Rows of `book`, two entries each.
LOSS = 0  # square loss of the forecasts, compensated
SQUARE = 1  # sum y^2, compensated
LARGEST_SEEN = 2  # largest |y|; and how many rounds
SETTINGS = 3  # a; and the floor
PASSES = 4  # how many are wanted; and the most that a round took
BOOK_ROWS = 5

LARGEST = 1e140  # of features and outcomes: their products then add up within float64
LIVE = 1e-8
SETTLED = 1e-9  # how nearly the lasso's conditions must hold, in units of a
PATIENCE = 1_000  # passes in a round, where their number is not given
TURN = 50  # then coordinate descent and passes take turns
SWEEPS = 100_000  # of both together
LARGE = 128  # live coordinates from which LAPACK is worth a copy


@compiled(nb.float64(ROW, ROW), fastmath=NUMBERS)
def dot(a: Vector, b: Vector) -> float:
    """a'b."""
    total = 0.0
    for k in range(a.shape[0]):
        total += a[k] * b[k]
    return total


@compiled(nb.int64(BLOCK, nb.int64), forceinline=False)
def large(root: Matrix, k: int) -> int:
    """The same factor by LAPACK, for many live coordinates; k, or -1."""
    lower = np.empty((k, k))
    for r in range(k):
        for c in range(r, k):
            if not abs(root[r, c]) < math.inf:
                return -1
            lower[c, r] = lower[r, c] = root[r, c]
    try:
        found = np.linalg.cholesky(lower)
    except Exception:  # noqa: BLE001  # all that Numba can catch
        return -1
    for r in range(k):
        for c in range(r, k):
            root[r, c] = found[c, r]
    return k


@compiled(nb.int64(BLOCK, BLOCK, BLOCK, ROW, nb.float64))
def factor(gram: Matrix, state: Matrix, root: Matrix, x: Vector, a: float) -> int:
    """U with U'U = aI + D^1/2 (M + xx') D^1/2 on the live coordinates; how many, or -1."""
    n = gram.shape[0]
    scales, roots, live = state[SCALES], state[ROOTS], state[LIST]
    k = 0
    for i in range(n):
        if scales[i] * (gram[i, i] + x[i] * x[i]) > LIVE * a:
            live[k], roots[k] = float(i), math.sqrt(scales[i])
            k += 1
    for r in range(k):
        i = int(live[r])
        row, source, scale, xi = root[r], gram[i], roots[r], x[i]
        if k == n:
            for j in range(r, n):
                row[j] = scale * roots[j] * (source[j] + xi * x[j])
        else:
            for c in range(r, k):
                j = int(live[c])
                row[c] = scale * roots[c] * (source[j] + xi * x[j])
        row[r] += a
    if k > LARGE:
        return large(root, k)
    for r in range(k):
        row = root[r, r:k]
        pivot = row[0]
        if not 0.0 < pivot < math.inf:
            return -1
        shrunk = 1.0 / math.sqrt(pivot)
        for c in range(row.shape[0]):
            row[c] *= shrunk
        for q in range(1, row.shape[0]):
            below, part, share = root[r + q, r + q : k], row[q:], row[q]
            for c in range(below.shape[0]):
                below[c] -= share * part[c]
    return k


@compiled(nb.void(BLOCK, ROW, nb.int64))
def solve(root: Matrix, side: Vector, k: int) -> None:
    """side <- (U'U)^-1 side."""
    for r in range(k):
        row, rest = root[r, r:k], side[r:k]
        rest[0] /= row[0]
        share = rest[0]
        for c in range(1, row.shape[0]):
            rest[c] -= share * row[c]
    for r in range(k - 1, -1, -1):
        row, rest = root[r, r:k], side[r:k]
        rest[0] = (rest[0] - dot(row[1:], rest[1:])) / row[0]


@compiled(nb.boolean(BLOCK, BLOCK, ROW, nb.float64, nb.float64), forceinline=False)
def rescue(gram: Matrix, state: Matrix, x: Vector, y: float, a: float) -> bool:
    """The same pass where a is lost beside D^1/2 M D^1/2: along the axes that data have moved.

    b is in the range of M, but M alone may not tell where it ends: what comes out must satisfy the
    equation to rounding, or is refused.
    """
    n = gram.shape[0]
    lot, side = np.empty((n, n)), np.empty(n)
    for i in range(n):
        r = math.sqrt(state[SCALES, i])
        side[i] = r * (state[MOMENT, i] + y * x[i])
        for j in range(n):
            lot[i, j] = r * math.sqrt(state[SCALES, j]) * (gram[i, j] + x[i] * x[j])
            if not abs(lot[i, j]) < math.inf:
                return False
    try:
        sizes, axes = np.linalg.eigh(lot)
    except Exception:  # noqa: BLE001  # all that Numba can catch
        return False
    for i in range(n):
        state[NEW, i] = 0.0
    for k in range(n):
        if sizes[k] > 1e-15 * n * sizes[n - 1]:
            along = 0.0
            for i in range(n):
                along += axes[i, k] * side[i]
            along /= sizes[k] + a
            for i in range(n):
                state[NEW, i] += math.sqrt(state[SCALES, i]) * axes[i, k] * along
    fits = True
    for i in range(n):  # a D^-1 w + M w = b, to rounding, or not at all
        rest = state[MOMENT, i] + y * x[i]
        size = abs(rest)
        for j in range(n):
            term = (gram[i, j] + x[i] * x[j]) * state[NEW, j]
            rest -= term
            size += abs(term)
        if state[SCALES, i] > 0.0:
            rest -= a * (state[NEW, i] / state[SCALES, i])
            fits = fits and abs(rest) <= 1e-12 * size  # not so for NaN
        else:
            fits = fits and state[NEW, i] == 0.0
    return fits


@compiled(nb.boolean(BLOCK, BLOCK, BLOCK, ROW, nb.float64, nb.float64))
def step(gram: Matrix, state: Matrix, root: Matrix, x: Vector, y: float, a: float) -> bool:
    """NEW <- the weights after one pass with M + xx' and b + yx; False where they do not fit."""
    n = gram.shape[0]
    moment, scales, new = state[MOMENT], state[SCALES], state[NEW]
    roots, live, side = state[ROOTS], state[LIST], state[SIDE]
    k = factor(gram, state, root, x, a)
    if k < 0:
        return rescue(gram, state, x, y, a)
    for i in range(n):
        new[i] = 0.0
    taken = 0.0  # x'w of those not live
    for turn in range(3):
        for r in range(k):
            new[int(live[r])] = 0.0
        for r in range(k):
            i = int(live[r])
            rest = moment[i] + y * x[i]
            if turn > 0:
                rest -= dot(gram[i], new) + x[i] * taken
            side[r] = roots[r] * rest
        solve(root, side, k)
        for r in range(k):
            new[int(live[r])] = roots[r] * side[r]
        if k == n:
            break
        along, c = dot(x, new), 0
        for i in range(n):
            if c < k and live[c] == i:
                c += 1
            elif scales[i] > 0.0:
                rest = moment[i] + y * x[i] - dot(gram[i], new) - x[i] * along
                along -= x[i] * new[i]
                taken -= x[i] * new[i]
                new[i] = scales[i] * (rest / a)
                along += x[i] * new[i]
                taken += x[i] * new[i]
    fits = True
    for i in range(n):
        fits = fits and math.isfinite(new[i])
    return fits


@compiled(nb.void(BLOCK, nb.float64))
def rescale(state: Matrix, floor: float) -> None:
    """d <- max(|w|, floor)."""
    for i in range(state.shape[1]):
        state[SCALES, i] = max(abs(state[WEIGHTS, i]), floor)


@compiled(nb.void(BLOCK, BLOCK, ROW, nb.float64))
def commit(gram: Matrix, state: Matrix, x: Vector, y: float) -> None:
    """M += xx', b += yx, w <- NEW."""
    n = gram.shape[0]
    for i in range(n):
        state[WEIGHTS, i] = state[NEW, i]
        state[MOMENT, i] += y * x[i]
        row, xi = gram[i], x[i]
        if xi != 0.0:
            for j in range(n):
                row[j] += xi * x[j]


@compiled(nb.float64(BLOCK, BLOCK, nb.float64))
def unrest(gram: Matrix, state: Matrix, a: float) -> float:
    """How far w is from the lasso's conditions for |y - Xw|^2 + 2a|w|_1, in units of a.

    b - Mw must be a sign(w_i) where w_i counts, and at most a in size elsewhere.
    """
    n = gram.shape[0]
    w = state[WEIGHTS]
    worst = 0.0
    for i in range(n):
        pull = (state[MOMENT, i] - dot(gram[i], w)) / a
        if abs(w[i]) * gram[i, i] > LIVE * a:
            worst = max(worst, abs(pull - math.copysign(1.0, w[i])))
        else:
            worst = max(worst, abs(pull) - 1.0)
    return worst


@compiled(nb.void(BLOCK, BLOCK, nb.float64))
def revive(gram: Matrix, state: Matrix, a: float) -> None:
    """Give weights that count for nothing, but should not, what they would be alone."""
    w = state[WEIGHTS]
    for i in range(gram.shape[0]):
        if abs(w[i]) * gram[i, i] <= LIVE * a:
            pull = state[MOMENT, i] - dot(gram[i], w)
            if abs(pull) > (1.0 + SETTLED) * a:
                w[i] = (pull - math.copysign(a, pull)) / gram[i, i]


@compiled(nb.int64(BLOCK, BLOCK, nb.float64, nb.int64))
def sweep(gram: Matrix, state: Matrix, a: float, most: int) -> int:
    """Coordinate descent to the same limit, where passes crawl: sweeps made.

    Ends when the lasso's conditions hold, or nothing moves any more.
    """
    n = gram.shape[0]
    w = state[WEIGHTS]
    for made in range(most):
        if unrest(gram, state, a) <= SETTLED:
            return made
        moved = largest = 0.0
        for i in range(n):
            if gram[i, i] > 0.0:
                alone = state[MOMENT, i] - dot(gram[i], w) + gram[i, i] * w[i]
                new = math.copysign(max(abs(alone) - a, 0.0), alone) / gram[i, i]
                moved, largest = max(moved, abs(new - w[i])), max(largest, abs(new))
                w[i] = new
            else:
                w[i] = 0.0
        if moved <= 1e-15 * largest:
            return made + 1
    return most


@compiled(nb.int64(BLOCK, BLOCK, BLOCK, nb.float64, nb.float64, nb.float64))
def refine(gram: Matrix, state: Matrix, root: Matrix, a: float, floor: float, passes: float) -> int:
    """More passes on what is known; how many there were with the first.

    Without a limit they go on until the lasso's conditions hold, and weights that died are
    let in again where the conditions ask for them; with a floor, until the weights rest.  What
    PATIENCE passes have not done, coordinate descent and passes by turns do.
    """
    n = gram.shape[0]
    made, endless = 1, passes == math.inf
    limit = min(passes, PATIENCE) if endless else passes
    while True:
        while made < limit:
            if endless and floor == 0.0:
                if unrest(gram, state, a) <= SETTLED:
                    return made
                revive(gram, state, a)
            rescale(state, floor)
            if not step(gram, state, root, state[IDLE], 0.0, a):
                return made
            moved = largest = 0.0
            for i in range(n):
                moved = max(moved, abs(state[NEW, i] - state[WEIGHTS, i]))
                largest = max(largest, abs(state[NEW, i]))
                state[WEIGHTS, i] = state[NEW, i]
            made += 1
            if endless and floor > 0.0 and moved <= 1e-12 * largest:
                return made
        if not endless or floor > 0.0:
            return made
        swept = sweep(gram, state, a, TURN)
        made += swept
        if swept < TURN or made >= SWEEPS:
            return made
        limit = float(made + TURN)


@compiled(nb.int64(BLOCK, BLOCK, BLOCK, ROW, nb.float64, nb.float64, nb.float64, nb.float64))
def learn(
    gram: Matrix,
    state: Matrix,
    root: Matrix,
    x: Vector,
    y: float,
    a: float,
    floor: float,
    passes: float,
) -> int:
    """One round; how many passes it took, or 0 where the first does not fit in float64.

    Then nothing has changed but scratch.
    """
    for i in range(gram.shape[0]):
        state[KEPT, i] = state[SCALES, i]
    rescale(state, floor)
    if not step(gram, state, root, x, y, a):
        for i in range(gram.shape[0]):
            state[SCALES, i] = state[KEPT, i]
        return 0
    commit(gram, state, x, y)
    return refine(gram, state, root, a, floor, passes)


# What a learner keeps lies in one block of width n, so that a call has few arguments to look at:
# `gram` (n rows), `root` (n rows, scratch), `state`, and a row for x.


@compiled(nb.float64(BLOCK, ANY))
def predict(block: Matrix, x: Vector) -> float:
    """w'x; NaN where x does not fit."""
    n = block.shape[1]
    weights = block[2 * n + WEIGHTS]
    if x.shape[0] != n:
        return math.nan
    total = 0.0
    for i in range(n):
        if not abs(x[i]) <= LARGEST:
            return math.nan
        total += weights[i] * x[i]
    return total if abs(total) < math.inf else math.nan


@compiled(nb.int64(BLOCK, BLOCK, ANY, nb.float64))
def round_(block: Matrix, book: Matrix, x: Vector, y: float) -> int:
    """One round, booked; 1, or 0 where it is refused and nothing has changed but scratch."""
    n = block.shape[1]
    g = predict(block, x)
    loss = (y - g) * (y - g)
    if not loss < math.inf or not abs(y) <= LARGEST:  # NaN too
        return 0
    gram, root, state = block[:n], block[n : 2 * n], block[2 * n : 2 * n + STATE_ROWS]
    row = block[2 * n + STATE_ROWS]
    for i in range(n):
        row[i] = x[i]
    a, floor, passes = book[SETTINGS, 0], book[SETTINGS, 1], book[PASSES, 0]
    made = learn(gram, state, root, row, y, a, floor, passes)
    if made == 0:
        return 0
    add(book, LOSS, loss)
    add(book, SQUARE, y * y)
    book[LARGEST_SEEN, 0] = max(book[LARGEST_SEEN, 0], abs(y))
    book[LARGEST_SEEN, 1] += 1.0
    book[PASSES, 1] = max(book[PASSES, 1], float(made))
    return 1


@compiled(nb.int64(BLOCK, BLOCK, BLOCK, ROW, ROW, BLOCK))
def replay(
    block: Matrix, book: Matrix, xs: Matrix, ys: Vector, forecasts: Vector, path: Matrix
) -> int:
    """Every row: forecast, then learn; -1, or the first row refused.

    `path` gets the weights after each round if it has rows.
    """
    n = xs.shape[1]
    for t in range(xs.shape[0]):
        forecasts[t] = predict(block, xs[t])
        if round_(block, book, xs[t], ys[t]) == 0:
            return t
        if path.shape[0] > 0:
            for i in range(n):
                path[t, i] = block[2 * n + WEIGHTS, i]
    return -1
