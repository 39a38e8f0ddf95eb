"""Who takes part in kernel_losses.py, and the settings each may choose from.

The first setting of each is the fixed one, written down before any file was looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
from river import forest, linear_model, neighbors, preprocessing
from sklearn.gaussian_process.kernels import RBF, DotProduct

import noregret as nr

LINEAR, KAAR, NYSTROM, KAARCH = "AAR, linear", "KAAR", "KAAR, Nystrom(300)", "KAARCh"
BAYES, KNN, ARF = "river Bayesian linear", "river KNN", "river ARF"
KERNELS = (KAAR, NYSTROM, KAARCH)

Play = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Inputs and outcomes -> the square loss of each round, predict then learn."""


def settings(n: int) -> dict[str, list[Play]]:
    """For n inputs: every contestant's settings, the fixed one first."""
    spaces = list(product((0.1, 1.0, 0.01), _kernels(n)))
    return {
        LINEAR: [_ours(a) for a in (1.0, 0.1, 0.01, 10.0)],
        KAAR: [_ours(a, kernel=k) for a, k in spaces],
        NYSTROM: [_ours(a, kernel=k, budget=nr.Nystrom(300)) for a, k in spaces],
        KAARCH: [_ours(a, kernel=k, drift=d) for d in (1e-2, 1e-3, 1e-4) for a, k in spaces],
        BAYES: [_river(lambda a=a: linear_model.BayesianLinearRegression(a)) for a in (1, 0.1, 10)],
        KNN: [_river(lambda k=k: _nearest(k)) for k in (5, 3, 10, 20)],
        ARF: [_river(lambda g=g: forest.ARFRegressor(grace_period=g, seed=0)) for g in (50, 20)],
    }


def _kernels(n: int) -> list:
    widths = [c * np.sqrt(n) for c in (1.0, 0.5, 2.0)]
    linear = DotProduct(0.0, "fixed")
    return [
        *(RBF(w, "fixed") for w in widths),
        *(RBF(w, "fixed") + linear for w in widths),
    ]


def _nearest(k: int) -> neighbors.KNNRegressor:
    """The exact search: river's default one is approximate and differs from run to run."""
    return neighbors.KNNRegressor(k, engine=neighbors.LazySearch(window_size=1000))


def _ours(a: float, **space) -> Play:
    return lambda X, y: nr.AAR(a, fit_intercept=True, **space).replay(X, y).loss


def _river(make: Callable) -> Play:
    def play(X: np.ndarray, y: np.ndarray) -> np.ndarray:
        model = preprocessing.StandardScaler() | make()
        names = [f"x{j}" for j in range(X.shape[1])]
        errors = []
        for row, outcome in zip(X.tolist(), y.tolist()):
            x = dict(zip(names, row))
            errors.append(outcome - model.predict_one(x))
            model.learn_one(x, outcome)
        return np.square(errors)

    return play
