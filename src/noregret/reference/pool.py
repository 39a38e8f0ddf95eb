"""Pools of experts from the formulas, in 50 digits; the best in hindsight by brute force.

A weight is p_j exp(-eta L_j) as it stands: mpmath's exponents have no end, so that nothing has to
be kept as a logarithm.  A forecast or a loss that is NaN is of an expert asleep: it is charged
what the mixture of those awake pays.  50 digits do for forecasts up to 1e15 widths of the range
away.  mpmath comes with the dependencies of the tests.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import mpmath  # type: ignore[import-untyped]  # it has no types
import numpy as np

from noregret.types import Integers, Matrix, Vector

__all__ = [
    "Account",
    "aggregating",
    "bayesian",
    "best_convex",
    "best_sequence",
    "best_shared",
    "exponential_weights",
    "fixed_share",
    "generalised",
    "learned_range",
    "substitution",
]

DIGITS = 50
Number = Any  # a float, or one of mpmath's, which has no types
Numbers = Sequence[Number]
Prior = Numbers | None
Share = float | Literal["falling"]


class Account(NamedTuple):
    """Round by round: forecast, mix, -(1/eta) ln of all weight so far, weights of the forecast.

    >>> Account(np.zeros(1), np.ones(1), np.ones(1), np.ones((1, 1))).mix
    array([1.])
    """

    forecast: Vector
    mix: Vector
    potential: Vector
    weights: Matrix


def generalised(weights: Numbers, said: Numbers, w: Number, eta: Number) -> Number:
    """g(w) = -(1/eta) ln sum_j p_j exp(-eta (w - G_j)^2).

    >>> float(generalised([0.5, 0.5], [1.0, 1.0], 3.0, 0.25))
    4.0
    """
    with mpmath.workdps(DIGITS):
        chances = (p * mpmath.exp(-eta * (w - mpmath.mpf(G)) ** 2) for p, G in zip(weights, said))
        return -mpmath.log(mpmath.fsum(chances)) / eta


def substitution(weights: Numbers, said: Numbers, lo: Number, hi: Number) -> Number:
    """(g(lo) - g(hi))/(2(hi - lo)) + (lo + hi)/2, where eta = 2/(hi - lo)^2.

    >>> float(substitution([0.5, 0.5], [0.0, 1.0], 0.0, 1.0))
    0.5
    """
    with mpmath.workdps(DIGITS):
        low, high = mpmath.mpf(lo), mpmath.mpf(hi)
        eta = 2 / (high - low) ** 2
        fall = generalised(weights, said, low, eta) - generalised(weights, said, high, eta)
        return fall / (2 * (high - low)) + (low + high) / 2


def aggregating(
    said: Matrix, y: Vector, lo: float, hi: float, *, prior: Prior = None, share: Share = 0.0
) -> Account:
    """The Aggregating Algorithm for square loss; after each round a share of all weight goes to p.

    >>> account = aggregating(np.array([[0.0, 1.0], [0.0, 1.0]]), np.ones(2), 0.0, 1.0)
    >>> account.forecast.round(4), account.weights.round(4).tolist()
    (array([0.5   , 0.8313]), [[0.5, 0.5], [0.1192, 0.8808]])
    """
    with mpmath.workdps(DIGITS):
        p = _prior(prior, said.shape[1])
        eta = 2 / (mpmath.mpf(hi) - mpmath.mpf(lo)) ** 2
        v, rounds = p, []
        for G, outcome, s in zip(said.tolist(), y.tolist(), _shares(share)):
            weights, loss = _awake(v, G), _squares(G, outcome)
            g = substitution(*_heard(weights, G), lo, hi)
            mix = _mix(weights, loss, eta)
            v = _charged(v, loss, mix, eta)
            rounds.append((g, mix, -mpmath.log(mpmath.fsum(v)) / eta, weights))
            v = _back(v, p, s)
        return _account(rounds)


def fixed_share(
    said: Matrix, y: Vector, lo: float, hi: float, share: Share, *, prior: Prior = None
) -> Account:
    """Fixed Share as what it is: the Aggregating Algorithm over all N^T sequences of experts.

    A sequence begins with an expert drawn from p; after each round it jumps with probability
    `share` to one drawn from p, and stays where it is otherwise.

    >>> said, y = np.array([[0.0, 1.0]] * 3), np.array([0.0, 1.0, 1.0])
    >>> fixed_share(said, y, 0.0, 1.0, 0.3).forecast.round(4)
    array([0.5   , 0.2846, 0.604 ])
    """
    N = said.shape[1]
    with mpmath.workdps(DIGITS):
        p = _prior(prior, N)
        eta = 2 / (mpmath.mpf(hi) - mpmath.mpf(lo)) ** 2
        v = p  # probability times exp(-eta loss) of each sequence
        paths: list[tuple[int, ...]] = [(j,) for j in range(N)]
        rounds = []
        for G, outcome, s in zip(said.tolist(), y.tolist(), _shares(share)):
            told = [G[path[-1]] for path in paths]
            weights, loss = _awake(v, told), _squares(told, outcome)
            g = substitution(*_heard(weights, told), lo, hi)
            mix = _mix(weights, loss, eta)
            v = _charged(v, loss, mix, eta)
            by_expert = [
                sum(w for w, path in zip(weights, paths) if path[-1] == j) for j in range(N)
            ]
            rounds.append((g, mix, -mpmath.log(mpmath.fsum(v)) / eta, by_expert))
            v = [
                w * (s * p[j] + (1 - s) * (path[-1] == j))
                for w, path in zip(v, paths)
                for j in range(N)
            ]
            paths = [(*path, j) for path in paths for j in range(N)]
        return _account(rounds)


def bayesian(costs: Matrix, *, prior: Prior = None, share: Share = 0.0) -> Vector:
    """The mixture's log loss in each round, -ln sum_j weight_j exp(-cost_j).

    >>> bayesian(-np.log(np.array([[0.5, 0.25], [0.5, 0.25]]))).round(4)
    array([0.9808, 0.8755])
    """
    with mpmath.workdps(DIGITS):
        p = _prior(prior, costs.shape[1])
        v, losses = p, []
        for cost, s in zip(costs.tolist(), _shares(share)):
            losses.append(_mix(_awake(v, cost), cost, 1))
            v = _charged(v, cost, losses[-1], 1)
            v = _back(v, p, s)
        return _floats(losses)


def exponential_weights(said: Matrix, y: Vector, eta: float, *, prior: Prior = None) -> Account:
    """Weights p_j exp(-eta L_j), and their mean as the forecast.

    >>> account = exponential_weights(np.array([[0.0, 1.0], [0.0, 1.0]]), np.ones(2), 0.5)
    >>> account.forecast.round(4)
    array([0.5   , 0.6225])
    """
    with mpmath.workdps(DIGITS):
        v, rounds = _prior(prior, said.shape[1]), []
        for G, outcome in zip(said.tolist(), y.tolist()):
            weights, loss = _awake(v, G), _squares(G, outcome)
            g = mpmath.fdot(*_heard(weights, G))
            mix = _mix(weights, loss, eta)
            v = _charged(v, loss, mix, eta)
            rounds.append((g, mix, -mpmath.log(mpmath.fsum(v)) / eta, weights))
        return _account(rounds)


def learned_range(
    said: Matrix, y: Vector, *, prior: Prior = None, share: Share = 0.0
) -> tuple[Account, float]:
    """The Aggregating Algorithm where the range is learned, and what rounds beyond it cost.

    The range lies about the middle of the outcomes seen and is 2^k times as wide as their first
    width that is not 0.  A weight is p_j exp(-eta u_j), eta = 2/width^2; when the width grows the
    excesses u_j stay, less what makes the weights add up to 1 again.  Before there is a width eta
    is infinite: the first forecast is the mean by p, later ones are the only outcome seen, unless
    all say the same.  A round beyond the range costs what its loss is above its mix.

    >>> said = np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
    >>> account, over = learned_range(said, np.array([0.0, 1.0, 1.0]))
    >>> account.forecast, account.mix.round(4), over
    (array([0.5, 0. , 0.5]), array([0.    , 1.    , 0.2831]), 0.25)
    """
    with mpmath.workdps(DIGITS):
        p = _prior(prior, said.shape[1])
        u = [mpmath.mpf(0)] * len(p)
        seen: list[Number] = []
        rounds = []
        width = over = total = mpmath.mpf(0)
        eta = mpmath.inf
        for G, outcome, s in zip(said.tolist(), y.tolist(), _shares(share)):
            middle = (min(seen) + max(seen)) / 2 if seen else mpmath.mpf(0)
            lo, hi = middle - width / 2, middle + width / 2
            loss = _squares(G, outcome)
            if width:
                weights = _awake([q * mpmath.exp(-eta * x) for q, x in zip(p, u)], G)
                g = substitution(*_heard(weights, G), lo, hi)
                mix = _mix(weights, loss, eta)
            else:
                weights = _awake(p, G)
                told = _heard(weights, G)
                g = seen[0] if seen and len(set(told[1])) > 1 else mpmath.fdot(*told)
                mix = min(x + l for x, l in zip(u, loss) if l == l)
                mix -= min(x for x, l in zip(u, loss) if l == l)
            if not (width and lo <= outcome <= hi):
                over += max((outcome - g) ** 2 - mix, 0)
            total += mix
            rounds.append((g, mix, total, weights))
            u = [x + l - mix if l == l else x for x, l in zip(u, loss)]
            if s and width:
                u = [-mpmath.log((1 - s) * mpmath.exp(-eta * x) + s) / eta for x in u]
            elif s:
                u = [mpmath.mpf(0)] * len(p)  # what the line above tends to
            seen.append(mpmath.mpf(outcome))
            spread = max(seen) - min(seen)
            if width < spread:
                width = width or spread
                while width < spread:
                    width *= 2
                eta = 2 / width**2
                weight = mpmath.fsum(q * mpmath.exp(-eta * x) for q, x in zip(p, u))
                u = [x + mpmath.log(weight) / eta for x in u]
        return _account(rounds), float(over)


# In hindsight -------------------------------------------------------------------------------


def best_sequence(losses: Matrix, switches: int) -> tuple[Integers, float]:
    """The best of all N^T sequences of experts that change at most so many times.

    >>> best_sequence(np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]), 2)
    (array([0, 1, 0]), 0.0)
    """
    T, N = losses.shape
    few = (path for path in _paths(T, N) if (np.diff(path) != 0).sum() <= switches)
    return _least((path, _loss(losses, path)) for path in few)


def best_shared(losses: Matrix, eta: float, share: Share, *, prior: Prior = None) -> float:
    """min over all N^T sequences of loss + (1/eta) ln(1/their probability).

    The probability is p_j of the first expert, then s p_j where the sequence changes to j and
    1 - s + s p_j where it stays with j; 1 - s where s falls.

    >>> round(best_shared(np.array([[0.0, 1.0], [0.0, 1.0]]), 1.0, 0.5), 6)  # ln 2 + ln 4/3
    0.980829
    """
    T, N = losses.shape
    p = np.full(N, 1.0 / N) if prior is None else np.asarray(prior) / np.sum(prior)

    s = np.array([float(value) for value in itertools.islice(_shares(share), T - 1)])

    def price(path: Integers) -> float:
        stay = 1.0 - s if share == "falling" else 1.0 - s + s * p[path[1:]]
        steps = np.where(np.diff(path) != 0, s * p[path[1:]], stay)
        return -float(np.log(p[path[0]]) + np.log(steps).sum()) / eta

    return _least((path, _loss(losses, path) + price(path)) for path in _paths(T, N))[1]


def best_convex(F: Matrix, y: Vector) -> tuple[Vector, float]:
    """argmin |y - Fw|^2 over w >= 0 that add up to 1, and the loss: every support is tried.

    On a support the w that add up to 1 have no other bound: w = (1 - sum v, v), v by least squares.

    >>> w, loss = best_convex(np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 5.0]]), np.array([0.25, 0.75]))
    >>> w.round(12), round(loss, 12)
    (array([0.75, 0.25, 0.  ]), 0.0)
    """
    N = F.shape[1]
    best, least = np.zeros(N), math.inf
    for size in range(1, N + 1):
        for support in itertools.combinations(range(N), size):
            first, *others = support
            apart = F[:, others] - F[:, [first]]
            v = np.linalg.lstsq(apart, y - F[:, first], rcond=None)[0] if others else np.zeros(0)
            w = np.zeros(N)
            w[first], w[others] = 1.0 - v.sum(), v
            loss = float(((y - F @ w) ** 2).sum())
            if (w >= 0.0).all() and loss < least:
                best, least = w, loss
    return best, least


# Inside -------------------------------------------------------------------------------------


def _prior(prior: Prior, N: int) -> list[Number]:
    given = [mpmath.mpf(1)] * N if prior is None else [mpmath.mpf(float(q)) for q in prior]
    return [q / mpmath.fsum(given) for q in given]


def _awake(v: Numbers, said: Numbers) -> list[Number]:
    """The weights of those awake, adding up to 1, and 0 for the others."""
    total = mpmath.fsum(w for w, G in zip(v, said) if G == G)
    return [w / total if G == G else mpmath.mpf(0) for w, G in zip(v, said)]


def _heard(weights: Numbers, said: Numbers) -> tuple[list[Number], list[Number]]:
    """Weights and forecasts of those awake alone."""
    awake = [(w, mpmath.mpf(G)) for w, G in zip(weights, said) if G == G]
    return [w for w, _ in awake], [G for _, G in awake]


def _squares(said: Numbers, y: float) -> list[Number]:
    return [(mpmath.mpf(y) - mpmath.mpf(G)) ** 2 for G in said]


def _mix(weights: Numbers, losses: Numbers, eta: Number) -> Number:
    """-(1/eta) ln sum_j weight_j exp(-eta loss_j) of those awake."""
    chances = (w * _exp(-eta * l) for w, l in zip(weights, losses) if l == l)
    return -mpmath.log(mpmath.fsum(chances)) / eta


def _charged(v: Numbers, losses: Numbers, mix: Number, eta: Number) -> list[Number]:
    """v_j exp(-eta loss_j), the mix where j slept."""
    return [w * _exp(-eta * (l if l == l else mix)) for w, l in zip(v, losses)]


def _shares(share: Share) -> Iterator[Number]:
    """The share after each round: always the same, or 1/(t + 1)."""
    for t in itertools.count(1):
        yield 1 / mpmath.mpf(t + 1) if share == "falling" else mpmath.mpf(share)


def _back(v: Numbers, p: Numbers, s: Number) -> list[Number]:
    """A share s of all weight goes back to the prior."""
    total = mpmath.fsum(v)
    return [(1 - s) * w + s * q * total for w, q in zip(v, p)]


def _exp(x: Number) -> Number:
    return mpmath.mpf(0) if x == -mpmath.inf else mpmath.exp(x)


def _floats(values: Numbers) -> Vector:
    return np.array([float(value) for value in values])


def _account(rounds: Sequence[tuple[Number, Number, Number, Numbers]]) -> Account:
    forecasts, mixes, potentials, weights = zip(*rounds)
    return Account(
        _floats(forecasts),
        _floats(mixes),
        _floats(potentials),
        np.array([_floats(row) for row in weights]),
    )


def _paths(T: int, N: int) -> Iterator[Integers]:
    return (np.array(path) for path in itertools.product(range(N), repeat=T))


def _loss(losses: Matrix, path: Integers) -> float:
    return float(losses[np.arange(len(path)), path].sum())


def _least(found: Iterator[tuple[Integers, float]]) -> tuple[Integers, float]:
    return min(found, key=lambda each: each[1])
