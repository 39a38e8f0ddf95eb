"""Intervals of other libraries about the same forecasts, where they are installed."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from noregret.declare.extras import module, optional
from noregret.types import Vector

Ends = tuple[Vector, Vector]
"""Lower and upper ends."""
__all__ = ["PEERS", "installed", "jackknife", "mapie"]


def mapie(y: Vector, forecasts: Vector, start: int) -> Ends:
    """MAPIE's TimeSeriesRegressor, ACI with gamma 0.005, adapted and updated after every row.

    Where it gives an infinite end, the largest error before `start` takes its place.
    """
    base = module("sklearn.base", "the model of MAPIE")

    class Given(base.RegressorMixin, base.BaseEstimator):  # type: ignore[misc,name-defined]  # theirs
        """Forecasts that are in the only column of X."""

        def fit(self, X: object, y: object) -> Given:  # noqa: ARG002  # nothing to learn
            self.n_features_in_ = 1
            return self

        def predict(self, X: object) -> object:
            return np.asarray(X)[:, 0]

        def __sklearn_is_fitted__(self) -> bool:
            return True

    low, high = np.full(len(y), np.nan), np.full(len(y), np.nan)
    regressor = module("mapie.regression", "MAPIE's intervals").TimeSeriesRegressor
    model = regressor(Given(), method="aci", cv="prefit")
    model.fit(forecasts[:start, None], y[:start])
    for t in range(start, len(y)):
        x = forecasts[t : t + 1, None]
        _, ends = model.predict(x, confidence_level=0.9, allow_infinite_bounds=True)
        low[t], high[t] = ends[0, 0, 0], ends[0, 1, 0]
        model.adapt_conformal_inference(x, y[t : t + 1], gamma=0.005, confidence_level=0.9)
        with (
            warnings.catch_warnings()
        ):  # `update` adapted too, once; it says that it no longer does
            warnings.simplefilter("ignore", UserWarning)
            model.update(x, y[t : t + 1])
    far = np.abs(y - forecasts)[:start].max()
    return (
        np.where(np.isfinite(low), low, forecasts - far),
        np.where(np.isfinite(high), high, forecasts + far),
    )


class GivenOnline:
    """Forecasts that are in x, as a model of river."""

    def predict_one(self, x: dict[str, float]) -> float:
        """The forecast."""
        return x["g"]

    def learn_one(self, x: dict[str, float], y: float) -> None:
        """Nothing to learn."""


def jackknife(y: Vector, forecasts: Vector, start: int) -> Ends:  # noqa: ARG001  # it needs none
    """river's RegressionJackknife, which keeps all errors."""
    made = module("river.conf", "river's intervals").RegressionJackknife
    model, ends = made(GivenOnline(), confidence_level=0.9), []
    for said, outcome in zip(forecasts.tolist(), y.tolist()):
        x = {"g": said}
        interval = model.predict_one(x, with_interval=True)
        ends.append((interval.lower, interval.upper))
        model.learn_one(x, outcome)
    low, high = np.array(ends).T
    return low, high


PEERS: dict[str, tuple[str, Callable[[Vector, Vector, int], Ends]]] = {
    "MAPIE": ("mapie", mapie),
    "river's jackknife": ("river", jackknife),
}
"""By name: the library, and its intervals."""


def installed() -> dict[str, Callable[[Vector, Vector, int], Ends]]:
    """Those whose library is there."""
    return {name: made for name, (library, made) in PEERS.items() if optional(library)}
