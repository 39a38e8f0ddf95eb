"""Yes-or-no learners without a history: a Gaussian state [R z] and one scalar problem a round.

A look at x gives the mean mu and the variance q of w'x.  Each rule finds a point, a slope and a
curvature c there; then the row sqrt(c) x with target sqrt(c) (point - slope/c) goes into [R z]:

    ADF       c, g from the mean and variance of w'x given the label         (moment matching)
    LAPLACE   the mode of w'x given the label, curvature there               (online Newton)
    AIOLI     point = mu - q tanh(point/2), c = l''/(1 + C)                  (Jezequel et al. 2020)
"""

from __future__ import annotations

import math

import numba as nb

from noregret._ops import ANY, BLOCK, compiled
from noregret._ops.account import LOGDET, PRICE, note
from noregret._ops.door import admit
from noregret._ops.families import BENT, HALF_LOG_2PI, LOGISTIC, PROBIT, bend
from noregret._ops.layout import AT, CEILING, FRESH, MEAN, OK, ROOT, V, X, Y
from noregret._ops.ledger import add
from noregret._ops.primal import absorb, look
from noregret.types import Matrix, Vector

ADF = 0
LAPLACE = 1
AIOLI = 2

SLIGHT = 1e-30  # of c q, which is what a round adds to what is known in its direction
DROP = 40.0  # the part of a density below e^-40 of its peak is left out


@compiled(nb.float64(nb.float64, nb.float64, nb.float64))
def profile(L: float, mu: float, s: float) -> float:
    """ln of the logistic density at L times Phi((mu - L)/s)."""
    e = math.exp(-abs(L))
    return -abs(L) - 2.0 * math.log1p(e) - bend(PROBIT, (mu - L) / s)[0]


@compiled(nb.float64(nb.float64, nb.float64, nb.float64, nb.float64, nb.float64))
def edge(peak: float, top: float, mu: float, s: float, side: float) -> float:
    """How far from its peak the profile has dropped by DROP, at least."""
    reach = 1.0
    while profile(peak + side * reach, mu, s) > top - DROP and reach < 1e300:
        reach *= 2.0
    low = 0.5 * reach
    for _ in range(6):
        middle = 0.5 * (low + reach)
        if profile(peak + side * middle, mu, s) > top - DROP:
            low = middle
        else:
            reach = middle
    return reach


@compiled(BENT(nb.float64, nb.float64))
def narrow(mu: float, s: float) -> tuple[float, float, float]:
    """ln Z, Z'/Z and -(ln Z)'' for Z = E sigma(a), a ~ N(mu, s^2), mu <= 0.

    The trapezoidal rule over u = (a - mu)/s about the peak; the poles of sigma, pi/s away from
    the real line, ask for a spacing below 0.53/s, and then the error is below 1e-13.
    """
    peak = 0.0
    for _ in range(12):  # u = s sigma(-a)
        _, slope, curve = bend(LOGISTIC, mu + s * peak)
        peak = min(max(peak - (peak + s * slope) / (1.0 + s * s * curve), 0.0), s)
    h = min(0.6, 0.53 / s)
    half = math.ceil(9.0 / h)
    u = peak - half * h
    top = -0.5 * peak * peak + mu + s * peak
    e, ratio = math.exp(mu + s * u), math.exp(s * h)  # e is exp(a)
    total = yes = no = squares = 0.0
    for k in range(2 * half + 1):
        u = peak + (k - half) * h
        chance = 1.0 / (1.0 + e)
        weight = math.exp(-0.5 * u * u + mu + s * u - top) * chance
        total += weight
        no += weight * chance  # of 1 - sigma
        chance *= e
        yes += weight * chance  # of sigma
        squares += weight * chance * chance
        e *= ratio
    mean = yes / total
    bent = mean - 2.0 * squares / total + mean * mean  # E sigma(1 - sigma) - Var sigma
    return top + math.log(total * h) - HALF_LOG_2PI, no / total, bent


@compiled(BENT(nb.float64, nb.float64))
def wide(mu: float, s: float) -> tuple[float, float, float]:
    """The same where s is large.

    sigma is the distribution function of a logistic variable L, so Z = E Phi((mu - L)/s), an
    integral over L that is as smooth as L's density.  With s beyond all measure it is Phi(mu/s).
    """
    if s > 1e10 and -mu <= 1e-9 * s * s:
        loss, slope, curve = bend(PROBIT, mu / s)
        return -loss, -slope / s, curve / (s * s)
    low, high = mu - 100.0 - 2.0 * s, 0.0
    for _ in range(200):  # the peak: -tanh(L/2) falls, the hazard rises
        L = 0.5 * (low + high)
        if -math.tanh(0.5 * L) + bend(PROBIT, (mu - L) / s)[1] / s > 0.0:
            low = L
        else:
            high = L
        if high - low <= 1e-3:
            break
    peak = 0.5 * (low + high)
    top = profile(peak, mu, s)
    start, end = peak - edge(peak, top, mu, s, -1.0), peak + edge(peak, top, mu, s, 1.0)
    parts = int(min(max((end - start) / 0.5, 40.0), 600.0))
    h = (end - start) / parts
    total = first = square = second = 0.0
    for k in range(parts + 1):
        L = start + k * h
        loss, slope, curve = bend(PROBIT, (mu - L) / s)
        weight = math.exp(-abs(L) - 2.0 * math.log1p(math.exp(-abs(L))) - loss - top)
        total += weight
        first -= weight * slope
        square += weight * slope * slope
        second += weight * curve
    mean = first / total
    bent = second / total - (square / total - mean * mean)
    return top + math.log(total * h), mean / s, bent / (s * s)


@compiled(BENT(nb.float64, nb.float64))
def smooth_logistic(mu: float, q: float) -> tuple[float, float, float]:
    """-ln E sigma(a) for a ~ N(mu, q), and its first two derivatives in mu.

    Where the probability is above 1/2 it is 1 - Z with Z that of the other label, so that neither
    end is lost.
    """
    s = math.sqrt(q)
    if s < 1e-10:
        return bend(LOGISTIC, mu)
    log_z, rise, bent = narrow(-abs(mu), s) if s <= 16.0 else wide(-abs(mu), s)
    if mu <= 0.0:
        return -log_z, -rise, bent
    Z = math.exp(log_z)
    odds = Z / (1.0 - Z)
    return -math.log1p(-Z), -odds * rise, odds * (rise * rise - bent + odds * rise * rise)


@compiled(BENT(nb.int64, nb.float64, nb.float64))
def smooth(family: int, mu: float, q: float) -> tuple[float, float, float]:
    """-ln E P(a) for a ~ N(mu, q), and its first two derivatives in mu."""
    if family == LOGISTIC:
        return smooth_logistic(mu, q)
    d = math.sqrt(1.0 + q)
    loss, slope, curve = bend(PROBIT, mu / d)
    return loss, slope / d, curve / (d * d)


@compiled(nb.float64(nb.int64, nb.float64, nb.float64))
def proximal(family: int, mu: float, q: float) -> float:
    """The a with (a - mu)/q + l'(a) = 0: the mode of N(a; mu, q) P(a)."""
    if q == 0.0:
        return mu
    low, high = mu, mu - q * bend(family, mu)[1]
    a = mu
    for _ in range(200):
        _, slope, curve = bend(family, a)
        gap = (a - mu) + q * slope
        if gap > 0.0:
            high = min(high, a)
        else:
            low = max(low, a)
        new = a - gap / (1.0 + q * curve)
        if not low < new < high:
            new = 0.5 * (low + high)
        if abs(new - a) <= 1e-15 * (1.0 + abs(a)):
            return new
        a = new
    return a


@compiled(nb.float64(nb.float64, nb.float64))
def improper(mu: float, q: float) -> float:
    """The a with a + q tanh(a/2) = mu."""
    low, high = min(mu, 0.0), max(mu, 0.0)
    a = mu / (1.0 + 0.5 * q)
    for _ in range(200):
        t = math.tanh(0.5 * a)
        gap = a + q * t - mu
        if gap > 0.0:
            high = min(high, a)
        else:
            low = max(low, a)
        new = a - gap / (1.0 + 0.5 * q * (1.0 - t * t))
        if not low < new < high:
            new = 0.5 * (low + high)
        if abs(new - a) <= 1e-15 * (1.0 + abs(a)):
            return new
        a = new
    return a


@compiled(nb.int64(BLOCK, BLOCK, ANY, nb.float64))
def view(factor: Matrix, work: Matrix, x: Vector, ceiling: float) -> int:
    """Admit x, no feature of which is larger than `ceiling`, and look at it."""
    work[AT, CEILING] = ceiling
    status = admit(work, x, factor.shape[0])
    if status == OK and work[AT, FRESH] == 0.0:
        status = look(factor, work)
    return status


@compiled(nb.float64(nb.int64, nb.int64, nb.float64, nb.float64))
def cost(kind: int, family: int, mu: float, root: float) -> float:
    """What the label costs towards which mu points: -ln of its probability."""
    q = max(root * root - 1.0, 0.0)
    if kind == AIOLI:
        return bend(family, improper(mu, q))[0]
    if kind == LAPLACE:
        return bend(family, mu)[0]
    return smooth(family, mu, q)[0]


@compiled(nb.float64(nb.int64, nb.int64, BLOCK, BLOCK, ANY, nb.float64))
def predict(
    kind: int, family: int, factor: Matrix, work: Matrix, x: Vector, ceiling: float
) -> float:
    """The probability of label 1 at x; NaN when x is refused."""
    if view(factor, work, x, ceiling) != OK:
        return math.nan
    return math.exp(-cost(kind, family, work[MEAN, 0], work[AT, ROOT]))


@compiled(nb.float64(nb.int64, nb.int64, BLOCK, BLOCK, ANY, nb.float64, nb.float64))
def price_of(
    kind: int, family: int, factor: Matrix, work: Matrix, x: Vector, ceiling: float, sign: float
) -> float:
    """What the label of this sign would cost at x; NaN when x is refused."""
    if view(factor, work, x, ceiling) != OK:
        return math.nan
    return cost(kind, family, sign * work[MEAN, 0], work[AT, ROOT])


@compiled(
    nb.float64(
        nb.int64, nb.int64, nb.float64, BLOCK, BLOCK, BLOCK, BLOCK, ANY, nb.float64, nb.float64
    )
)
def learn(
    kind: int,
    family: int,
    bound: float,
    factor: Matrix,
    work: Matrix,
    book: Matrix,
    scatter: Matrix,
    x: Vector,
    ceiling: float,
    sign: float,
) -> float:
    """Learn and book that x had the label of this sign; its log loss, or NaN: nothing is learned.

    `bound` is AIOLI's C.
    """
    if view(factor, work, x, ceiling) != OK:
        return math.nan
    n = factor.shape[0]
    mu, root = sign * work[MEAN, 0], work[AT, ROOT]
    q = max(root * root - 1.0, 0.0)
    slight = SLIGHT / max(q, SLIGHT)
    price = 0.0
    if kind == AIOLI:
        point = improper(mu, q)
        loss, slope, curve = bend(family, point)
        c = max(curve / (1.0 + bound), slight)
        p = 1.0 + slope  # probability given to what happened
        price = 0.5 * (p * p * (q / (1.0 + c * q)) - (2.0 * p - 1.0) ** 2 * q)
    elif kind == LAPLACE:
        loss = bend(family, mu)[0]
        point = proximal(family, mu, q)
        _, slope, curve = bend(family, point)
        c = max(curve, slight)
    else:
        loss, slope, curve = smooth(family, mu, q)
        point = mu
        left = 1.0 - curve * q  # what remains of the variance of w'x
        c = max(curve / max(left, 1e-15), slight)  # 1/(1/curve - q)
        slope *= 1.0 + c * q  # the gain of the rotation is c/(1 + c q)
    thin = math.sqrt(c)
    target = sign * (point - slope / c)
    if not math.isfinite(loss + thin * target):
        return math.nan
    note(book, scatter, work[X, :n], loss, sign)
    for k in range(n):
        work[X, k] *= thin
        work[V, k] *= thin
    work[Y, 0] = thin * target
    absorb(factor, work)
    work[AT, FRESH] = 0.0
    add(book, PRICE, price)
    add(book, LOGDET, math.log1p(c * q))
    return loss
