"""What Auto is measured against: each peer forecasts every row from the rows before it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np

RATES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
LAGS = (1, 2, 24)
Forecasts = np.ndarray


def refits(T: int) -> list[int]:
    """Rows after which batch models are fitted again."""
    return [25, 50, 100, *range(200, T, 200)]


def naive(y: np.ndarray) -> dict[str, Forecasts]:
    T = len(y)
    before = np.r_[0.0, np.cumsum(y)[:-1]] / np.maximum(np.arange(T), 1)
    return {"last": np.r_[0.0, y[:-1]], "mean": before}


def one_by_one(model, X: np.ndarray, y: np.ndarray) -> Forecasts:
    """A model of river."""
    names, said = [f"x{j}" for j in range(X.shape[1])], np.zeros(len(y))
    for t, (row, v) in enumerate(zip(X.tolist(), y.tolist())):
        x = dict(zip(names, row))
        said[t] = model.predict_one(x)
        model.learn_one(x, v)
    return said


def sgd(X: np.ndarray, y: np.ndarray) -> Forecasts:
    """The best of seven rates, in hindsight."""
    from river.linear_model import LinearRegression
    from river.optim import SGD
    from river.preprocessing import StandardScaler

    found = []
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for rate in RATES:
            said = one_by_one(StandardScaler() | LinearRegression(SGD(rate)), X, y)
            found.append(np.where(np.isfinite(said) & (np.abs(said) < 1e100), said, 1e100))
        return min(found, key=lambda f: float(((f[20:] - y[20:]) ** 2).sum()))


def river_models() -> dict[str, Callable[[], object]]:
    from river.ensemble import SRPRegressor
    from river.forest import AMFRegressor, ARFRegressor
    from river.linear_model import BayesianLinearRegression
    from river.tree import HoeffdingTreeRegressor

    return {
        "bayes": BayesianLinearRegression,
        "AMF": lambda: AMFRegressor(seed=0),
        "ARF": lambda: ARFRegressor(seed=0),
        "SRP": lambda: SRPRegressor(HoeffdingTreeRegressor(), n_models=10, seed=0),
    }


def refitted(
    make: Callable[[], object], X: np.ndarray, y: np.ndarray, last: int | None = None
) -> Forecasts:
    """A batch model, fitted again now and then on all rows before, or on the last ones."""
    said, model = naive(y)["mean"], None  # before the first fit
    edges = [*refits(len(y)), len(y)]
    for start, stop in zip([0, *edges], edges):
        if start > 0:
            model = make()
            rows = slice(max(start - last, 0) if last else 0, start)
            model.fit(X[rows], y[rows])
        if model is not None:
            said[start:stop] = model.predict(X[start:stop])
    return said


def lagged(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The features with lags of y."""
    return np.column_stack([X, *(np.r_[np.zeros(lag), y[:-lag]][: len(y)] for lag in LAGS)])


def batch_models() -> dict[str, Callable[[], object]]:
    from lightgbm import LGBMRegressor
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return {
        "LightGBM": lambda: LGBMRegressor(verbose=-1, min_child_samples=5, n_jobs=1),
        "RidgeCV": lambda: make_pipeline(StandardScaler(), RidgeCV(np.logspace(-4, 4, 17))),
    }


def everybody(
    X: np.ndarray, y: np.ndarray, *, series: bool, without: Sequence[str] = ()
) -> dict[str, Forecasts]:
    """What every peer says."""
    said = naive(y) | {"sgd": sgd(X, y)}
    models = {name: make for name, make in river_models().items() if name not in without}
    said |= {name: one_by_one(make(), X, y) for name, make in models.items()}
    for name, make in batch_models().items():
        said[name] = refitted(make, X, y)
        if series:
            said[f"{name}+"] = refitted(make, lagged(X, y), y)
    said["RidgeCV, last 500"] = refitted(batch_models()["RidgeCV"], X, y, 500)
    return said
