"""The best convex combination of experts in hindsight, for any convex loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from noregret.experts.comparators import Comparator, convex_weights
from noregret.experts.convex import ConvexLoss
from noregret.types import Matrix, Vector

__all__ = ["convex_combinations", "mixtures"]

PASSES = 200
STEPS = 8  # of Newton's method at each point of the path


def convex_combinations(
    loss: ConvexLoss, F: Matrix, y: Matrix, names: Sequence[str]
) -> list[Comparator]:
    """The best expert, the plain mean and the best convex combination; F is T x N or T x N x k."""
    N = F.shape[1]
    rows = F if F.ndim == 2 else np.moveaxis(F, 1, 2).reshape(-1, N)
    target = y.reshape(-1)
    best = int(np.argmin([loss.values(rows[:, j], target).sum() for j in range(N)]))
    choices = {f"best expert: {names[best]}": np.eye(N)[best], "uniform": np.full(N, 1.0 / N)}
    start = min(choices.values(), key=lambda w: float(loss.values(rows @ w, target).sum()))
    choices["best convex"] = _best(loss, rows, target, start)
    found = []
    for name, w in choices.items():
        g = (rows @ w).reshape(y.shape)
        found.append(Comparator(name, w, g, float(loss.values(g, y).sum())))
    return found


def mixtures(costs: Matrix, F: Matrix, names: Sequence[str]) -> list[Comparator]:
    """The best expert, the even and the best mixture for log losses T x N; F has forecasts.

    A mixture has the density sum_j w_j exp(-costs_j), which is concave in w.

    >>> costs = -np.log([[0.9, 0.2], [0.2, 0.9], [0.9, 0.2]])
    >>> [f"{c.name}: {c.loss:.3f}" for c in mixtures(costs, np.exp(-costs), ["a", "b"])]
    ['best expert: a: 1.820', 'uniform: 1.794', 'best mixture: 1.624']
    """
    N = costs.shape[1]
    least = costs.min(axis=1)  # finite: a pool refuses what all its experts think impossible
    shares = np.exp(-(costs - least[:, None]))
    best = int(np.argmin(costs.sum(axis=0)))
    even = np.full(N, 1.0 / N)
    choices = {f"best expert: {names[best]}": np.eye(N)[best], "uniform": even}
    choices["best mixture"] = _along_pairs(_log_slopes, shares, np.zeros(len(shares)), even)
    found = []
    for name, w in choices.items():
        with np.errstate(divide="ignore"):
            loss = float((least - np.log(shares @ w)).sum())
        found.append(Comparator(name, w, F @ w, loss))
    return found


def _best(loss: ConvexLoss, F: Matrix, y: Vector, start: Vector) -> Vector:
    if loss.name == "square":
        return convex_weights(F, y)
    if loss.given is not None:
        return _along_pairs(loss.slopes, F, y, start)
    return _central(loss, F, y, start)


def _central(loss: ConvexLoss, F: Matrix, y: Vector, w: Vector) -> Vector:
    """Newton's method along the central path: loss - mu sum ln w_k on sum w = 1, mu towards 0.

    |e| is rounded off to sqrt(e^2 + c^2), c towards 0 with mu; pinball loss is |e|/2 + lean e.  In
    units of w, M = WF'CFW + mu I, what is solved stays well-conditioned as weights vanish.
    """
    N = F.shape[1]
    best, total = w, float(loss.values(F @ w, y).sum())
    least, w = total, 0.5 * w + 0.5 / N
    size = float(np.abs(F @ w - y).mean())
    if not total > 0.0:
        return best
    for part in np.geomspace(1.0, 1e-8, 17):
        mu, corner = part * total / N, part * size

        def merit(w: Vector, mu: float = mu, corner: float = corner) -> float:
            return _rounded(loss, F @ w - y, corner)[0] - mu * float(np.log(w).sum())

        for _ in range(STEPS):
            _, slope, bend = _rounded(loss, F @ w - y, corner)
            G = np.sqrt(bend)[:, None] * F * w
            M = G.T @ G + mu * np.eye(N)
            steep = w * (F.T @ slope) - mu
            try:
                u, v = np.linalg.solve(M, np.column_stack([steep, w])).T
            except np.linalg.LinAlgError:  # as far as float64 goes
                return best
            z = v * (float(w @ u) / float(w @ v)) - u  # dw = w z, sum dw = 0
            falls = float(steep @ z)
            step, here = min(1.0, 0.95 / max(float(-z.min()), 1e-300)), merit(w)
            while step > 1e-9 and not merit(w * (1.0 + step * z)) <= here + 0.1 * step * falls:
                step *= 0.5
            if step <= 1e-9 or -falls <= 1e-3 * mu:
                break
            w = w * (1.0 + step * z)
            w /= w.sum()
        cost = float(loss.values(F @ w, y).sum())
        if cost < least:
            best, least = w, cost
    return best


def _rounded(loss: ConvexLoss, e: Vector, corner: float) -> tuple[float, Vector, Vector]:
    """The sum of losses without corners, its slopes and its curvatures."""
    if loss.name == "huber":
        inside = (np.abs(e) <= loss.level).astype(np.float64)
        return float(loss.values(e, 0.0).sum()), np.clip(e, -loss.level, loss.level), inside
    lean, half = (0.5 - loss.level, 0.5) if loss.name == "pinball" else (0.0, 1.0)
    h = np.hypot(e, corner)
    return float((half * h + lean * e).sum()), half * e / h + lean, half * (corner / h) ** 2 / h


def _log_slopes(density: Vector, _: Vector) -> Vector:
    with np.errstate(divide="ignore"):
        return -1.0 / density


def _along_pairs(
    slope: Callable[[Vector, Vector], Matrix], F: Matrix, y: Vector, w: Vector
) -> Vector:
    """Weight goes from the worst expert that has some to the best, as far as it helps."""
    for _ in range(PASSES):
        slopes = F.T @ slope(F @ w, y)
        to = int(np.argmin(slopes))
        source = int(np.argmax(np.where(w > 0.0, slopes, -np.inf)))
        if not slopes[source] > slopes[to]:
            break
        along, low, high = F[:, to] - F[:, source], 0.0, float(w[source])
        g = F @ w
        for _ in range(40):
            middle = 0.5 * (low + high)
            if float(along @ slope(g + middle * along, y)) < 0.0:
                low = middle
            else:
                high = middle
        if low == 0.0:
            break
        w = w.copy()
        w[source] -= low
        w[to] += low
    return w
