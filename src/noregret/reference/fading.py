"""Experts whose past fades, from definitions: F_t is minimised anew in every round.

F_t(u) = gam^(t-1) a|u|^2 + sum_{s<=t} gam^(t-s) |y_s - u'x_s|^2, for X (T, n) and y (T, m).
"""

from __future__ import annotations

import numpy as np

from noregret.types import Matrix, Vector

__all__ = ["best_loss", "charge", "leaders", "looks", "path_loss"]


def _history(X: Matrix, y: Matrix, a: float, gam: float, t: int) -> tuple[Matrix, Matrix]:
    """Rows and outcomes whose squares add up to F_t, t >= 1; for t = 0 to a|u|^2."""
    n, age = X.shape[1], np.arange(t)[::-1]
    root = np.sqrt(gam) ** age[:, None]
    prior = np.sqrt(a) * np.sqrt(gam) ** max(t - 1, 0) * np.eye(n)
    return np.vstack([prior, root * X[:t]]), np.vstack([np.zeros((n, y.shape[1])), root * y[:t]])


def charge(X: Matrix, y: Matrix, a: float, gam: float, t: int, u: Matrix) -> float:
    """F_t(u), u (n, m)."""
    history, target = _history(X, y, a, gam, t)
    return float(((target - history @ u) ** 2).sum())


def leaders(X: Matrix, y: Matrix, a: float, gam: float) -> list[Matrix]:
    """u_t = argmin F_t, t = 1, 2, ..., by least squares."""
    rows = (_history(X, y, a, gam, t) for t in range(1, len(X) + 1))
    return [np.asarray(np.linalg.lstsq(H, b, rcond=None)[0], dtype=float) for H, b in rows]


def looks(X: Matrix, y: Matrix, a: float, gam: float) -> tuple[Matrix, Vector]:
    """m_t and d_t = 1 + x'A^-1 x, A = gam^(t-1) aI + sum_{s<t} gam^(t-s) xx'."""
    mean, spread = np.zeros(y.shape), np.ones(len(X))
    for t, x in enumerate(X):
        history, target = _history(X, y, a, gam, t)
        if t:
            history, target = np.sqrt(gam) * history, np.sqrt(gam) * target
        Q, R = np.linalg.qr(history)
        v = np.linalg.solve(R.T, x)
        mean[t], spread[t] = v @ (Q.T @ target), 1.0 + v @ v
    return mean, spread


def path_loss(X: Matrix, y: Matrix, a: float, gam: float, path: list[Matrix]) -> float:
    """sum |y_t - u_t'x_t|^2 + a|u_1|^2 + gam sum_{t<T} (F_t(u_{t+1}) - F_t(u_t)), as it stands."""
    total = sum(float(((y[t] - X[t] @ u) ** 2).sum()) for t, u in enumerate(path))
    total += a * float((path[0] ** 2).sum())
    for t in range(1, len(path)):
        after, before = (charge(X, y, a, gam, t, u) for u in (path[t], path[t - 1]))
        total += gam * (after - before)
    return total


def best_loss(X: Matrix, y: Matrix, a: float, gam: float) -> float:
    """min F_T + (1 - gam) sum_{t<T} min F_t, which the leaders' path pays."""
    found = [charge(X, y, a, gam, t, u) for t, u in enumerate(leaders(X, y, a, gam), 1)]
    return found[-1] + (1.0 - gam) * sum(found[:-1])
