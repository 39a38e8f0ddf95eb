"""Yes-or-no learners from their formulas: dense, slow, obvious; labels are signs s = +-1.

    l(z) = ln(1 + e^-z),   F(w) = |w|^2/(2 nu^2) + sum_t l(s_t x_t'w)

Averages are sums over a tensor grid that spans the prior, in the log domain, so that a posterior
far from where it was is seen too; minima are SciPy's, polished by its root finder.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from noregret.declare.extras import module
from noregret.types import Matrix, Vector

__all__ = [
    "Improper",
    "averaging",
    "gaussian_gap",
    "grid",
    "improper",
    "log_evidence",
    "loss",
    "minorant",
    "mode",
    "moment_matching",
    "objective",
    "posterior_divergence",
    "smallest",
    "tierney_kadane",
    "tilted",
]

Numbers = Any  # a float or an array, and the same comes back


def loss(z: Numbers) -> Numbers:
    """l(z), of numbers or arrays.

    >>> float(loss(0.0)) == math.log(2.0)
    True
    """
    return np.logaddexp(0.0, -np.asarray(z))


def _slope(z: Numbers) -> Numbers:
    """l'(z) = -1/(1 + e^z)."""
    return -np.exp(-np.logaddexp(0.0, z))


def _curvature(z: Numbers) -> Numbers:
    """l''(z) = 1/((1 + e^z)(1 + e^-z))."""
    return np.exp(-np.logaddexp(0.0, z) - np.logaddexp(0.0, -np.asarray(z)))


# Averaging ----------------------------------------------------------------------------------


def grid(n: int, prior_var: float, points: int, reach: float = 10.0) -> tuple[Matrix, Vector]:
    """Nodes (points^n, n) on [-reach nu, reach nu]^n, and ln of the prior's share of each.

    >>> nodes, logs = grid(2, 4.0, 101)
    >>> nodes.shape, round(float(np.exp(logs).sum()), 12)
    ((10201, 2), 1.0)
    """
    line = reach * math.sqrt(prior_var) * np.linspace(-1.0, 1.0, points)
    mesh = np.meshgrid(*[line] * n, indexing="ij")
    nodes = np.stack([side.ravel() for side in mesh], axis=1)
    logs = -0.5 * (nodes * nodes).sum(axis=1) / prior_var
    return nodes, logs - _log_sum(logs)


def _log_sum(logs: Vector) -> float:
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).sum()))


def averaging(X: Matrix, signs: Vector, prior_var: float, points: int) -> Vector:
    """The log loss of exact averaging in every round.

    >>> averaging(np.array([[1.0]]), np.array([1.0]), 1.0, 1001).round(12)
    array([0.69314718])
    """
    nodes, logs = grid(X.shape[1], prior_var, points)
    found = np.empty(len(X))
    for t, (x, s) in enumerate(zip(X, signs)):
        logs = logs - loss(s * (nodes @ x))
        found[t] = -_log_sum(logs)
        logs += found[t]
    return found


def log_evidence(X: Matrix, signs: Vector, prior_var: float, points: int) -> float:
    """ln of the likelihood of all labels, averaged over the prior at once.

    >>> X, signs = np.array([[1.0], [-2.0]]), np.array([1.0, -1.0])
    >>> total = float(averaging(X, signs, 1.0, 1001).sum())
    >>> abs(log_evidence(X, signs, 1.0, 1001) + total) < 1e-12
    True
    """
    nodes, logs = grid(X.shape[1], prior_var, points)
    for x, s in zip(X, signs):
        logs -= loss(s * (nodes @ x))
    return _log_sum(logs)


def gaussian_gap(mean: Vector, cov: Matrix, prior_var: float) -> float:
    """KL(N(mean, cov) | N(0, prior_var I)).

    >>> gaussian_gap(np.zeros(2), np.eye(2), 1.0)
    0.0
    """
    n = len(mean)
    log_det = float(np.linalg.slogdet(cov)[1])
    size = (float(np.trace(cov)) + float(mean @ mean)) / prior_var
    return 0.5 * (size - n + n * math.log(prior_var) - log_det)


def posterior_divergence(
    X: Matrix, signs: Vector, mean: float, var: float, prior_var: float, points: int
) -> tuple[float, float]:
    """L_Q and KL(Q | posterior) for one weight, Q = N(mean, var), by sums over a grid of Q.

    >>> X, signs = np.array([[1.0]]), np.array([1.0])
    >>> L, gap = posterior_divergence(X, signs, 0.3, 0.5, 1.0, 4001)
    >>> prior = gaussian_gap(np.array([0.3]), np.array([[0.5]]), 1.0)
    >>> round(L + prior - gap, 10) == round(math.log(2.0), 10)
    True
    """
    nodes, share = grid(1, var, points)
    w = mean + nodes[:, 0]
    weights = np.exp(share)
    costs = sum(loss(s * x[0] * w) for x, s in zip(X, signs))
    L = float(weights @ costs)
    # ln Q - ln p_T, p_T = prior e^-costs / evidence
    log_q = -0.5 * (w - mean) ** 2 / var - 0.5 * math.log(var)
    log_p = -0.5 * w * w / prior_var - 0.5 * math.log(prior_var) - costs
    evidence = log_evidence(X, signs, prior_var, points)
    return L, float(weights @ (log_q - log_p)) + evidence


# The mode -----------------------------------------------------------------------------------


def smallest(
    value: Callable[[Vector], float],
    slope: Callable[[Vector], Vector],
    curve: Callable[[Vector], Matrix],
    n: int,
) -> Vector:
    """Where a strictly convex function is smallest.

    >>> smallest(lambda w: float(w @ w), lambda w: 2.0 * w, lambda w: 2.0 * np.eye(len(w)), 2)
    array([0., 0.])
    """
    optimize = module("scipy.optimize", "the reference mode")
    rough = optimize.minimize(
        value, np.zeros(n), jac=slope, hess=curve, method="trust-exact", options={"gtol": 1e-10}
    ).x
    fine = optimize.root(slope, rough, jac=curve, tol=1e-15).x
    better = np.linalg.norm(slope(fine)) <= np.linalg.norm(slope(rough))
    found: Vector = fine if better else rough
    return found


def objective(w: Vector, X: Matrix, signs: Vector, prior_var: float) -> float:
    """F(w).

    >>> objective(np.array([2.0]), np.zeros((0, 1)), np.zeros(0), 2.0)
    1.0
    """
    return float(0.5 * (w @ w) / prior_var + loss(signs * (X @ w)).sum())


def mode(X: Matrix, signs: Vector, prior_var: float) -> tuple[Vector, float, float]:
    """argmin F, min F, and ln det of the curvature there.

    >>> w, F, log_det = mode(np.array([[1.0], [1.0]]), np.array([1.0, -1.0]), 2.0)
    >>> float(w[0]), F == 2.0 * math.log(2.0), log_det
    (0.0, True, 0.0)
    """
    rows = signs[:, None] * X
    n = X.shape[1]

    def slope(w: Vector) -> Vector:
        found: Vector = w / prior_var + _slope(rows @ w) @ rows
        return found

    def curve(w: Vector) -> Matrix:
        found: Matrix = np.eye(n) / prior_var + (rows.T * _curvature(rows @ w)) @ rows
        return found

    w = smallest(lambda v: objective(v, X, signs, prior_var), slope, curve, n)
    return w, objective(w, X, signs, prior_var), float(np.linalg.slogdet(curve(w))[1])


def tierney_kadane(X: Matrix, signs: Vector, x: Vector, prior_var: float) -> float:
    """P(label 1 | x): e^-F det^-1/2 with the label 1 and with the label 0, normalised.

    >>> tierney_kadane(np.zeros((0, 1)), np.zeros(0), np.array([3.0]), 1.0)
    0.5
    """
    found = []
    for s in (1.0, -1.0):
        _, F, log_det = mode(np.vstack([X, x]), np.append(signs, s), prior_var)
        found.append(-F - 0.5 * log_det)
    return math.exp(-float(loss(found[0] - found[1])))


# Moment matching ----------------------------------------------------------------------------


def tilted(mu: float, q: float, points: int = 200_001) -> tuple[float, float, float]:
    """ln E sigma(a), and mean and variance of a ~ N(mu, q) given the label 1.

    The density is below e^-72 of its peak outside [mu - 12 sd, mu + q + 12 sd].

    >>> log_p, mean, var = tilted(0.0, 1.0)
    >>> round(math.exp(log_p), 9), round(var + mean * mean, 9)
    (0.5, 1.0)
    """
    sd = math.sqrt(q)
    a = np.linspace(mu - 12.0 * sd, mu + q + 12.0 * sd, points)
    logs = -0.5 * ((a - mu) / sd) ** 2 - loss(a)
    total = _log_sum(logs)
    weights = np.exp(logs - total)
    mean = float(weights @ a)
    step = float(a[1] - a[0])
    log_p = total + math.log(step / sd) - 0.5 * math.log(2.0 * math.pi)
    return log_p, mean, float(weights @ (a - mean) ** 2)


def moment_matching(
    X: Matrix, signs: Vector, prior_var: float
) -> tuple[Vector, list[tuple[Vector, Matrix]]]:
    """ADF: losses, and mean and covariance of the weights after every round.

    w = m + Px (a - mu)/q + what is independent of a = w'x ~ N(mu, q).

    >>> losses, states = moment_matching(np.array([[1.0]]), np.array([1.0]), 1.0)
    >>> round(float(losses[0]), 10), float(states[0][0][0]) > 0.0
    (0.6931471806, True)
    """
    n = X.shape[1]
    m, P = np.zeros(n), prior_var * np.eye(n)
    losses, states = np.empty(len(X)), []
    for t, (x, s) in enumerate(zip(X, signs)):
        row = s * x
        mu, q = float(row @ m), float(row @ P @ row)
        if q > 0.0:
            log_p, mean, var = tilted(mu, q)
            gain = P @ row / q
            m = m + gain * (mean - mu)
            P = P + np.outer(gain, gain) * (var - q)
        else:
            log_p = -float(loss(mu))
        losses[t] = -log_p
        states.append((m.copy(), P.copy()))
    return losses, states


# AIOLI --------------------------------------------------------------------------------------


def minorant(a: Numbers, z: Numbers, bound: float) -> Numbers:
    """l(z) + l'(z)(a - z) + l''(z)(a - z)^2/(2(1 + C)), which is at most l(a) for |a| <= C.

    >>> bool(minorant(1.0, -3.0, 2.0) <= loss(1.0))
    True
    """
    gap = np.asarray(a) - z
    return loss(z) + _slope(z) * gap + _curvature(z) * gap * gap / (2.0 * (1.0 + bound))


class Improper(NamedTuple):
    """What AIOLI does on a stream."""

    chances: Vector  # of the label 1
    losses: Vector
    least: float  # min of lambda|w|^2 + the minorants
    log_det: float  # of A_T/A_0


def improper(X: Matrix, signs: Vector, bound: float, weight: float) -> Improper:
    """AIOLI: every forecast from a minimum over w of the stated objective.

    >>> improper(np.array([[1.0]]), np.array([1.0]), 2.0, 1.0).chances
    array([0.5])
    """
    n = X.shape[1]
    points: list[float] = []
    chances, losses = np.empty(len(X)), np.empty(len(X))

    def past(w: Vector) -> float:
        margins = signs[: len(points)] * (X[: len(points)] @ w)
        return float(weight * (w @ w) + minorant(margins, np.array(points), bound).sum())

    def pull(w: Vector) -> Vector:
        k = len(points)
        rows = signs[:k, None] * X[:k]
        z = np.array(points)
        gaps = rows @ w - z
        found: Vector = 2.0 * weight * w + (_slope(z) + _curvature(z) * gaps / (1.0 + bound)) @ rows
        return found

    def stiff() -> Matrix:
        k = len(points)
        c = _curvature(np.array(points)) / (1.0 + bound)
        found: Matrix = 2.0 * weight * np.eye(n) + (X[:k].T * c) @ X[:k]
        return found

    for t, (x, s) in enumerate(zip(X, signs)):
        A = stiff()

        def value(w: Vector, x: Vector = x) -> float:
            z = float(x @ w)
            return past(w) + float(loss(z) + loss(-z))

        def slope(w: Vector, x: Vector = x) -> Vector:
            z = float(x @ w)
            found: Vector = pull(w) + (_slope(z) - _slope(-z)) * x
            return found

        def curve(w: Vector, x: Vector = x, A: Matrix = A) -> Matrix:
            found: Matrix = A + 2.0 * _curvature(float(x @ w)) * np.outer(x, x)
            return found

        z = float(x @ smallest(value, slope, curve, n))
        chances[t], losses[t] = math.exp(-float(loss(z))), float(loss(s * z))
        points.append(s * z)
    A = stiff()
    w: Vector = np.linalg.solve(A, -pull(np.zeros(n))).astype(np.float64)
    log_det = float(np.linalg.slogdet(A)[1]) - n * math.log(2.0 * weight)
    return Improper(chances, losses, past(w), log_det)
