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
from noregret._ops.account import LOGDET, PRICE
from noregret._ops.door import admit
from noregret._ops.families import BENT, LOGISTIC, PROBIT, bend
from noregret._ops.layout import AT, FRESH, MEAN, OK, ROOT, V, X, Y
from noregret._ops.ledger import add
from noregret._ops.primal import absorb, look
from noregret.types import Matrix, Vector

ADF = 0
LAPLACE = 1
AIOLI = 2

SLIGHT = 1e-30  # curvature below this is rounding whatever the prior
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
def smooth_logistic(mu: float, q: float) -> tuple[float, float, float]:
    """-ln E sigma(a) for a ~ N(mu, q), and its first two derivatives in mu.

    sqrt(q) <= 1: the trapezoidal rule over a, half a deviation apart, whose error is below 1e-12.
    Larger: sigma is the distribution function of a logistic variable L, so
    E sigma(a) = E Phi((mu - L)/sqrt q), an integral over L that is as smooth as L's density.
    """
    s = math.sqrt(q)
    if s < 1e-10:
        return bend(LOGISTIC, mu)
    total = first = square = second = 0.0
    if s <= 1.0:
        a = mu
        for _ in range(20):  # the peak of N(a; mu, q) sigma(a)
            _, slope, curve = bend(LOGISTIC, a)
            move = ((a - mu) / q + slope) / (1.0 / q + curve)
            a -= move
            if abs(move) <= 1e-3 * s:
                break
        top = -0.5 * ((a - mu) / s) ** 2 - bend(LOGISTIC, a)[0]
        h = 0.5 * s
        for k in range(-19, 20):
            point = a + k * h
            loss, slope, curve = bend(LOGISTIC, point)
            weight = math.exp(-0.5 * ((point - mu) / s) ** 2 - loss - top)
            total += weight
            first += weight * slope
            square += weight * slope * slope
            second += weight * curve
        log_z = top + math.log(total * h / s) - 0.5 * math.log(2.0 * math.pi)
    else:
        low, high = min(mu, 0.0) - 100.0 - 2.0 * s, 0.0
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
        for k in range(parts + 1):
            L = start + k * h
            loss, slope, curve = bend(PROBIT, (mu - L) / s)
            e = math.exp(-abs(L))
            weight = math.exp(-abs(L) - 2.0 * math.log1p(e) - loss - top)
            total += weight
            first += weight * slope / s
            square += weight * slope * slope / q
            second += weight * curve / q
        log_z = top + math.log(total * h)
    mean = first / total
    return -log_z, mean, second / total - (square / total - mean * mean)


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


@compiled(nb.int64(BLOCK, BLOCK, ANY))
def view(factor: Matrix, work: Matrix, x: Vector) -> int:
    """Admit x and look at it."""
    status = admit(work, x, factor.shape[0])
    if status == OK and work[AT, FRESH] == 0.0:
        status = look(factor, work)
    return status


@compiled(nb.float64(nb.int64, nb.int64, nb.float64, nb.float64))
def chance(kind: int, family: int, mu: float, root: float) -> float:
    """The probability of label 1."""
    q = max(root * root - 1.0, 0.0)
    if kind == AIOLI:
        loss = bend(family, improper(mu, q))[0]
    elif kind == LAPLACE:
        loss = bend(family, mu)[0]
    else:
        loss = smooth(family, mu, q)[0]
    return math.exp(-loss)


@compiled(nb.float64(nb.int64, nb.int64, BLOCK, BLOCK, ANY))
def predict(kind: int, family: int, factor: Matrix, work: Matrix, x: Vector) -> float:
    """The probability of label 1 at x; NaN when x is refused."""
    if view(factor, work, x) != OK:
        return math.nan
    return chance(kind, family, work[MEAN, 0], work[AT, ROOT])


@compiled(nb.float64(nb.int64, nb.int64, nb.float64, BLOCK, BLOCK, BLOCK, ANY, nb.float64))
def learn(
    kind: int,
    family: int,
    bound: float,
    factor: Matrix,
    work: Matrix,
    book: Matrix,
    x: Vector,
    sign: float,
) -> float:
    """Learn that x had the label of this sign; its log loss, or NaN.  `bound` is AIOLI's C."""
    if view(factor, work, x) != OK:
        return math.nan
    n = factor.shape[0]
    mu, root = sign * work[MEAN, 0], work[AT, ROOT]
    q = max(root * root - 1.0, 0.0)
    price = 0.0
    if kind == AIOLI:
        point = improper(mu, q)
        loss, slope, curve = bend(family, point)
        c = max(curve / (1.0 + bound), SLIGHT)
        p = 1.0 + slope  # probability given to what happened
        price = 0.5 * (p * p * (q / (1.0 + c * q)) - (2.0 * p - 1.0) ** 2 * q)
    elif kind == LAPLACE:
        loss = bend(family, mu)[0]
        point = proximal(family, mu, q)
        _, slope, curve = bend(family, point)
        c = max(curve, SLIGHT)
    else:
        loss, slope, curve = smooth(family, mu, q)
        point = mu
        left = 1.0 - curve * q  # what remains of the variance of w'x
        c = max(curve / max(left, 1e-15), SLIGHT)  # 1/(1/curve - q)
        slope *= 1.0 + c * q  # the gain of the rotation is c/(1 + c q)
    thin = math.sqrt(c)
    target = sign * (point - slope / c)
    for k in range(n):
        work[X, k] *= thin
        work[V, k] *= thin
    work[Y, 0] = thin * target
    absorb(factor, work)
    work[AT, FRESH] = 0.0
    add(book, PRICE, price)
    add(book, LOGDET, math.log1p(c * q))
    return loss
