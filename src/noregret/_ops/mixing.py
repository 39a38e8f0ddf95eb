"""A pool of experts: weights in the log domain, mixed forecasts, and what a round costs.

Expert j's weight is p_j exp(-eta u_j), p_j its prior and u_j its *excess*: its loss less that of
the pool's mixture, in units of loss.  The weights add up to 1.  A round with losses l_j has

    mix = -(1/eta) ln sum_j weight_j exp(-eta l_j),      u_j <- u_j + l_j - mix

and the mixes add up to -(1/eta) ln sum_j p_j exp(-eta L_j).  When eta falls because the range
of outcomes grew, the excesses stay: by Jensen, sum_j p_j exp(-eta u_j) <= 1 for the smaller eta, so
normalising again only lowers them.  An expert that sleeps is charged the mix: its excess stays.

Fixed Share moves a share s of all weight to the prior after each round,
exp(-eta u_j) <- (1 - s) exp(-eta u_j) + s.  TRACK is the cheapest sequence of experts that ends
in j, with what the theorem charges for it: (1/eta) ln(1/(1 - s + s p_j)) to stay,
(1/eta) ln(1/(s p_i)) to leave i.  docs/theory.md derives all of it.
"""

from __future__ import annotations

import math

import numba as nb

from noregret._ops import BLOCK, ROW, compiled
from noregret._ops.ledger import add
from noregret._ops.vectors import NUMBERS, exponentials, place
from noregret.types import Matrix, Vector

# Rows of `pool`, one column an expert.
PRIOR = 0  # ln p_j
EXCESS = 1  # u_j
PAID = 2  # loss so far, the pool's mix where j slept; next row: what rounding took from it
TRACK = 4  # the cheapest sequence that ends in j, price included
COURSE = 5  # the loss of that sequence alone
TURNS = 6  # how often it changed expert
SAID = 7  # forecasts of the round; NaN: asleep
COST = 8  # losses of the round
MASS = 9  # weights of the round, in units of the largest
STAY = 10  # ln(1 - s + s p_j)
AWAKE = 11  # ln p_j of those awake in the round, -infinity of the others
POOL_ROWS = 12

# Rows of `book`, two entries each.
LOSS = 0  # what the pool paid, compensated
MIX = 1  # sum of the mixes, compensated
OVER = 2  # by how much rounds outside the range cost more than their mix, compensated
WORST = 3  # largest (loss - mix) of a round inside the range in units of its size, and the round
SEEN = 4  # smallest and largest outcome
RANGE = 5  # the outcomes that the next forecast is prepared for
WIDTH = 6  # hi - lo that eta is made for, and whether it is learned
RATE = 7  # eta, and the share
ROUNDS = 8  # how many, and how many of them outside the range
GAME = 9  # SUBSTITUTED, AVERAGED or LIKELIHOOD; and how much eta is of 1/width^2
BEST = 10  # the best sequence, price included; and its loss alone
CHANGES = 11  # how often it changed expert; and the first round outside the range
REACH = 12  # largest loss of any expert in a round; and the sum of 1/eta under Fixed Share
BOOK_ROWS = 13

SUBSTITUTED = 0  # square loss, Aggregating Algorithm
AVERAGED = 1  # square loss, weighted mean
LIKELIHOOD = 2  # log loss: the mixture's loss is the mix itself

NARROW = 1e-100  # a narrower range is one point: 1/width^2 must fit in float64


@compiled(nb.int64(BLOCK))
def wake(pool: Matrix) -> int:
    """Before all else in a round: tell who sleeps (SAID is NaN) and return how many are awake."""
    said, prior, awake = pool[SAID], pool[PRIOR], pool[AWAKE]
    N = 0
    for j in range(said.shape[0]):
        speaks = said[j] == said[j]
        awake[j] = prior[j] if speaks else -math.inf
        said[j] = said[j] if speaks else 0.0
        N += speaks
    return N


@compiled(nb.int64(BLOCK, nb.float64), fastmath=NUMBERS)
def leader(pool: Matrix, charged: float) -> int:
    """Who of those awake has the least excess, this round's loss included where charged; or -1.

    An expert whose loss was infinite has no weight left and does not count.
    """
    excess, cost, awake, mass = pool[EXCESS], pool[COST], pool[AWAKE], pool[MASS]
    least = math.inf
    for j in range(mass.shape[0]):
        held = excess[j] + charged * cost[j]
        mass[j] = held if awake[j] > -math.inf else math.inf
        least = min(least, mass[j])
    return place(mass, least) if least < math.inf else -1


@compiled(nb.float64(BLOCK, nb.float64, nb.int64, nb.float64), fastmath=NUMBERS)
def log_sum(pool: Matrix, eta: float, r: int, charged: float) -> float:
    """ln sum of p_j exp(-eta (u_j + l_j - u_r - l_r)) over those awake; l if charged.

    MASS keeps each exponential in units of the largest.
    """
    excess, cost, awake, mass = pool[EXCESS], pool[COST], pool[AWAKE], pool[MASS]
    u0, l0, top = excess[r], cost[r], -math.inf
    for j in range(mass.shape[0]):
        mass[j] = awake[j] - eta * ((excess[j] - u0) + charged * (cost[j] - l0))
        top = max(top, mass[j])
    return top + math.log(exponentials(mass, top))


@compiled(nb.float64(BLOCK, BLOCK))
def average(pool: Matrix, book: Matrix) -> float:
    """The weighted mean of those awake, about the leader's forecast, so that agreement is exact."""
    eta, said, mass = book[RATE, 0], pool[SAID], pool[MASS]
    r = leader(pool, 0.0)
    if r < 0:
        return math.nan
    log_sum(pool, eta if eta < math.inf else 0.0, r, 0.0)
    off = weight = 0.0
    for j in range(mass.shape[0]):
        weight += mass[j]
        off += mass[j] * (said[j] - said[r])
    g: float = said[r] + off / weight
    return g


@compiled(nb.float64(BLOCK, BLOCK), fastmath=NUMBERS)
def substitute(pool: Matrix, book: Matrix) -> float:
    """The forecast g with (y - g)^2 <= mix for every y in [lo, hi] (Vovk 1990, 2001).

    With g0 = said_r, d_j = said_j - g0 and E(y) = ln sum_j weight_j exp(eta d_j (2(y - g0) - d_j)),
    g = g0 + (E(hi) - E(lo))/(2 eta (hi - lo)): where all agree, g is what they say.
    """
    N = pool.shape[1]
    eta, lo, hi = book[RATE, 0], book[RANGE, 0], book[RANGE, 1]
    excess, said, awake, low, high = pool[EXCESS], pool[SAID], pool[AWAKE], pool[COST], pool[MASS]
    middle = 0.5 * lo + 0.5 * hi
    best = math.inf
    for j in range(N):
        merit = excess[j] + (middle - said[j]) * (middle - said[j])
        high[j] = merit if awake[j] > -math.inf else math.inf
        best = min(best, high[j])
    if not best < math.inf:
        return math.inf
    r = place(high, best)  # the expert that matters most, so that nothing large cancels
    g0, p0, u0 = said[r], awake[r], excess[r]
    top, bottom = -math.inf, -math.inf
    for j in range(N):  # d (2(y - g0) - d) = d ((lo + hi) - (g0 + said_j)) +- d (hi - lo)
        d = said[j] - g0
        weight = (awake[j] - p0) - eta * (excess[j] - u0)
        base = weight + eta * (d * ((lo + hi) - (g0 + said[j])))
        tilt = eta * (d * (hi - lo))
        high[j] = base + tilt
        low[j] = base - tilt
        top = max(top, high[j])
        bottom = max(bottom, low[j])
    above, below = exponentials(high, top), exponentials(low, bottom)
    lean = (top - bottom) + (math.log(above) - math.log(below))
    g: float = g0 + lean / (2.0 * eta * (hi - lo))
    return g


@compiled(nb.float64(BLOCK, BLOCK))
def forecast(pool: Matrix, book: Matrix) -> float:
    """The pool's forecast, after `wake`; NaN where nobody awake has any weight."""
    eta = book[RATE, 0]
    if book[GAME, 0] != SUBSTITUTED or (book[ROUNDS, 0] == 0.0 and eta == math.inf):
        return average(pool, book)
    if eta < math.inf:
        g = substitute(pool, book)
        return g if abs(g) < math.inf else math.nan
    r = leader(pool, 0.0)
    if r < 0:
        return math.nan
    agreed: float = pool[SAID, r]  # the range is one point: that point, unless all agree on another
    for j in range(pool.shape[1]):
        if pool[AWAKE, j] > -math.inf and pool[SAID, j] != pool[SAID, r]:
            agreed = book[RANGE, 0]
    return agreed


@compiled(nb.float64(BLOCK, BLOCK, nb.int64))
def absorb(pool: Matrix, book: Matrix, asleep: int) -> float:
    """Move the excesses by the round's losses; return the mix."""
    eta = book[RATE, 0]
    excess, cost, awake = pool[EXCESS], pool[COST], pool[AWAKE]
    r = leader(pool, 1.0)
    before = left = 0.0
    if asleep > 0 or eta == math.inf:  # weights are relative to those awake
        r0 = leader(pool, 0.0)
        before = excess[r0]
        if eta < math.inf:
            left = -log_sum(pool, eta, r0, 0.0) / eta
    if eta < math.inf:  # all weight is with the least loss otherwise
        left += log_sum(pool, eta, r, 1.0) / eta
    u0, l0 = excess[r], cost[r]
    for j in range(excess.shape[0]):
        moved = (excess[j] - u0) + (cost[j] - l0) + (before + left)
        excess[j] = moved if awake[j] > -math.inf else excess[j]
    mix: float = (u0 - before) + l0 - left
    return mix


@compiled(nb.void(BLOCK, BLOCK))
def share(pool: Matrix, book: Matrix) -> None:
    """Fixed Share, and the best sequence of experts with its price."""
    N = pool.shape[1]
    eta, s = book[RATE, 0], book[RATE, 1]
    prior, excess, track, cost, mass = (
        pool[PRIOR],
        pool[EXCESS],
        pool[TRACK],
        pool[COST],
        pool[MASS],
    )
    course, turns = pool[COURSE], pool[TURNS]
    best = math.inf
    for j in range(N):
        track[j] += cost[j]
        course[j] += cost[j]
        mass[j] = track[j] - prior[j] / eta
        best = min(best, mass[j])
    r = place(mass, best)
    book[BEST, 0], book[BEST, 1], book[CHANGES, 0] = best, course[r], turns[r]
    book[REACH, 1] += 1.0 / eta
    arrive, behind, changes = best - math.log(s) / eta, course[r], turns[r] + 1.0
    for j in range(N):
        stay = track[j] - pool[STAY, j] / eta
        track[j] = stay
        if arrive < stay:
            track[j], course[j], turns[j] = arrive, behind, changes
    if eta == math.inf:
        for j in range(N):
            excess[j] = 0.0
        return
    for j in range(N):
        mass[j] = -eta * excess[j]
    exponentials(mass, 0.0)
    for j in range(N):
        excess[j] = -math.log((1.0 - s) * mass[j] + s) / eta


@compiled(nb.void(BLOCK, nb.float64))
def normalise(pool: Matrix, eta: float) -> None:
    """Make the weights of all experts, asleep or not, add up to 1 at a new eta."""
    N = pool.shape[1]
    top = -math.inf
    for j in range(N):
        top = max(top, pool[PRIOR, j] - eta * pool[EXCESS, j])
    total = 0.0
    for j in range(N):
        total += math.exp(pool[PRIOR, j] - eta * pool[EXCESS, j] - top)
    for j in range(N):
        pool[EXCESS, j] += (top + math.log(total)) / eta


@compiled(nb.void(BLOCK, BLOCK, nb.float64))
def widen(pool: Matrix, book: Matrix, y: float) -> None:
    """Learn the range: the outcomes seen, as wide as 2^k times their first width."""
    first = book[ROUNDS, 0] == 0.0
    lo = y if first else min(y, book[SEEN, 0])
    hi = y if first else max(y, book[SEEN, 1])
    book[SEEN, 0], book[SEEN, 1] = lo, hi
    if book[WIDTH, 1] == 0.0:
        return
    width = book[WIDTH, 0]
    if width == 0.0 and hi - lo >= NARROW:
        width = hi - lo
    while width < hi - lo and width > 0.0:
        width *= 2.0
    middle = 0.5 * lo + 0.5 * hi
    book[RANGE, 0] = min(lo, middle - 0.5 * width)
    book[RANGE, 1] = max(hi, middle + 0.5 * width)
    if width != book[WIDTH, 0]:
        book[WIDTH, 0] = width
        book[RATE, 0] = book[GAME, 1] / (width * width)
        normalise(pool, book[RATE, 0])


@compiled(nb.void(BLOCK, nb.float64), fastmath=NUMBERS)
def charge(pool: Matrix, y: float) -> None:
    """Square losses of the round."""
    said, cost = pool[SAID], pool[COST]
    for j in range(said.shape[0]):
        cost[j] = (y - said[j]) * (y - said[j])


@compiled(nb.float64(BLOCK, nb.float64), fastmath={"nnan", "nsz"})
def pay(pool: Matrix, mix: float) -> float:
    """Add the round's losses up, those who slept pay the mix; return the largest of the others."""
    cost, awake, paid, lost = pool[COST], pool[AWAKE], pool[PAID], pool[PAID + 1]
    most = 0.0
    for j in range(cost.shape[0]):
        speaks = awake[j] > -math.inf
        most = max(most, cost[j] if speaks else 0.0)
        l = cost[j] if speaks else mix
        cost[j] = l
        held = paid[j] + l
        added = held - paid[j]
        slip = (paid[j] - (held - added)) + (l - added)
        lost[j] += slip if held < math.inf else 0.0  # of an infinite sum nothing is kept
        paid[j] = held
    return most


@compiled(nb.float64(BLOCK, BLOCK, nb.float64, nb.float64, nb.int64))
def settle(pool: Matrix, book: Matrix, y: float, g: float, asleep: int) -> float:
    """Learn that the forecast g, made from SAID, met y; return what it cost.

    Of a likelihood game the caller has put the losses into COST.
    """
    eta = book[RATE, 0]
    likelihood = book[GAME, 0] == LIKELIHOOD
    if not likelihood:
        charge(pool, y)
    mix = absorb(pool, book, asleep)
    loss = mix if likelihood else (y - g) ** 2
    book[REACH, 0] = max(book[REACH, 0], pay(pool, mix))
    inside = likelihood or (book[RANGE, 0] <= y <= book[RANGE, 1] and eta < math.inf)
    if inside:
        size = max(loss, abs(mix), 1.0 / eta)
        rounded = 4.5e-16 * abs(y - g) * max(abs(y), abs(g))  # what rounding of g may cost
        worst = (loss - mix - rounded) / size
        if worst > book[WORST, 0] or book[WORST, 1] == 0.0:
            book[WORST, 0], book[WORST, 1] = worst, book[ROUNDS, 0] + 1.0
    else:
        add(book, OVER, max(loss - mix, 0.0))
        book[ROUNDS, 1] += 1.0
        if book[CHANGES, 1] == 0.0:
            book[CHANGES, 1] = book[ROUNDS, 0] + 1.0
    add(book, LOSS, loss)
    add(book, MIX, mix)
    if book[RATE, 1] > 0.0:
        share(pool, book)
    widen(pool, book, y)
    book[ROUNDS, 0] += 1.0
    return loss


@compiled(nb.void(BLOCK, BLOCK, ROW))
def shares(pool: Matrix, book: Matrix, weights: Vector) -> None:
    """The weights of those awake, adding up to 1; before the first range is known, the prior's."""
    eta = book[RATE, 0]
    r = leader(pool, 0.0)
    log_sum(pool, eta if eta < math.inf else 0.0, r, 0.0)
    total = 0.0
    for j in range(weights.shape[0]):
        total += pool[MASS, j]
    for j in range(weights.shape[0]):
        weights[j] = pool[MASS, j] / total


@compiled(nb.int64(BLOCK, BLOCK, BLOCK, BLOCK, ROW, ROW, ROW, BLOCK))
def replay(
    pool: Matrix,
    book: Matrix,
    said: Matrix,
    costs: Matrix,
    y: Vector,
    forecasts: Vector,
    losses: Vector,
    weights: Matrix,
) -> int:
    """Every row: forecast, then learn; -1, or the first row that nobody with weight can forecast.

    T more than that is a row where every expert gave what happened no chance.  `costs` has rows
    for a likelihood game, `weights` where they are wanted.
    """
    T, N = said.shape
    failed = -1
    for t in range(T):
        for j in range(N):
            pool[SAID, j] = said[t, j]
        asleep = N - wake(pool)
        g = forecast(pool, book)
        if g != g:
            failed = t
            break
        forecasts[t] = g
        if weights.shape[0] > 0:
            shares(pool, book, weights[t])
        if costs.shape[0] > 0:
            for j in range(N):
                pool[COST, j] = costs[t, j]
            if leader(pool, 1.0) < 0:
                failed = T + t
                break
        losses[t] = settle(pool, book, y[t], g, asleep)
    return failed


@compiled(nb.void(BLOCK, BLOCK, BLOCK, ROW))
def survey(pool: Matrix, book: Matrix, said: Matrix, forecasts: Vector) -> None:
    """Forecast from every row and learn nothing."""
    for t in range(said.shape[0]):
        for j in range(said.shape[1]):
            pool[SAID, j] = said[t, j]
        wake(pool)
        forecasts[t] = forecast(pool, book)


@compiled(nb.int64(BLOCK, nb.float64))
def beyond(said: Matrix, limit: float) -> int:
    """The place t N + j of a forecast beyond the limit in the first such row, or -1; NaN sleeps."""
    T, N = said.shape
    where = -1
    for t in range(T):
        for j in range(N):
            if abs(said[t, j]) > limit:
                where = t * N + j
        if where >= 0:
            break
    return where
