"""Weight-space formulas with a solve over the whole history in every round.

Letters as in the papers: X (T, n), y (T, m), a the prior precision, a_t those of changing experts.
"""

from __future__ import annotations

import numpy as np

from noregret.reference import kernel
from noregret.types import Matrix, Vector

__all__ = [
    "aarch_dual",
    "aarch_primal",
    "best_changing_loss",
    "best_loss",
    "changing_kernel",
    "changing_looks",
    "log_determinant",
    "looks",
]


def looks(X: Matrix, y: Matrix, a: float) -> tuple[Matrix, Vector]:
    """ZV Algorithm 1: m_t = b'A^-1 x_t and d_t = 1 + x_t'A^-1 x_t, A = aI + sum_{s<t} xx'.

    A is never formed: with the QR factorisation of [sqrt(a) I; X], A = R'R.
    """
    T, n = X.shape
    mean, spread = np.zeros(y.shape), np.ones(T)
    for t in range(T):
        history = np.vstack([np.sqrt(a) * np.eye(n), X[:t]])
        target = np.vstack([np.zeros((n, y.shape[1])), y[:t]])
        Q, R = np.linalg.qr(history)
        v = np.linalg.solve(R.T, X[t])
        mean[t] = v @ (Q.T @ target)
        spread[t] = 1.0 + v @ v
    return mean, spread


def best_loss(X: Matrix, y: Matrix, a: float) -> float:
    """min_w sum |y - w'x|^2 + a|w|^2, by least squares on [sqrt(a) I; X]."""
    n = X.shape[1]
    history = np.vstack([np.sqrt(a) * np.eye(n), X])
    target = np.vstack([np.zeros((n, y.shape[1])), y])
    w = np.linalg.lstsq(history, target, rcond=None)[0]
    return float(((target - history @ w) ** 2).sum())


def log_determinant(X: Matrix, a: float) -> float:
    """ln det(I + X'X/a), from the singular values of X."""
    return float(np.log1p(np.linalg.svd(X, compute_uv=False) ** 2 / a).sum())


def changing_kernel(X: Matrix, a_t: Vector) -> Matrix:
    """Kbar_ij = (sum_{s<=min(i,j)} 1/a_s) x_i'x_j (BK section 3.3)."""
    return kernel.extended(X @ X.T, a_t)


def changing_looks(X: Matrix, y: Matrix, a_t: Vector) -> tuple[Matrix, Vector]:
    """m_t and d_t of the Gaussian process with covariance Kbar and unit noise."""
    K = changing_kernel(X, a_t)
    mean, spread = np.zeros(y.shape), np.ones(len(X))
    for t in range(len(X)):
        G = np.eye(t) + K[:t, :t]
        mean[t] = K[t, :t] @ np.linalg.solve(G, y[:t])
        spread[t] = 1.0 + K[t, t] - K[t, :t] @ np.linalg.solve(G, K[:t, t])
    return mean, spread


def best_changing_loss(X: Matrix, y: Matrix, a_t: Vector) -> float:
    """min over th_1.. of sum (y_t - (th_1+...+th_t)'x_t)^2 + sum a_t|th_t|^2, solved outright."""
    T, n = X.shape
    design = np.zeros((T, T * n))  # z_t'L of BK section 3.1
    for t in range(T):
        design[t, : (t + 1) * n] = np.tile(X[t], t + 1)
    history = np.vstack([np.diag(np.sqrt(np.repeat(a_t, n))), design])
    target = np.vstack([np.zeros((T * n, y.shape[1])), y])
    theta = np.linalg.lstsq(history, target, rcond=None)[0]
    return float(((target - history @ theta) ** 2).sum())


def aarch_primal(X: Matrix, y: Vector, a_t: Vector) -> Vector:
    """BK (4): (sum_{t<T} y_t z_t') L (L' sum zz' L + A)^-1 L'z_T, as it stands, every T."""
    T, n = X.shape
    forecasts = np.zeros(T)
    for last in range(1, T + 1):
        L = np.kron(np.tril(np.ones((last, last))), np.eye(n))
        z = np.zeros((last, last * n))
        for t in range(last):
            z[t, t * n : (t + 1) * n] = X[t]
        A = np.diag(np.repeat(a_t[:last], n))
        b = (y[: last - 1, None] * z[: last - 1]).sum(axis=0)
        forecasts[last - 1] = b @ L @ np.linalg.solve(L.T @ z.T @ z @ L + A, L.T @ z[-1])
    return forecasts


def aarch_dual(X: Matrix, y: Vector, a_t: Vector) -> Vector:
    """BK (5): KAARCh with the kernel x'z."""
    return kernel.kaarch(X @ X.T, y, a_t)
