"""Other forecasters, walked forward over the same origins: naive ones, ridge, statsforecast."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from time import perf_counter

import numpy as np
import pandas as pd
from sklearn.linear_model import RidgeCV
from statsforecast import StatsForecast
from statsforecast.models import MSTL, AutoARIMA, AutoETS

MOST = 8_000  # rows that a ridge is fitted to


def filled(y: np.ndarray) -> np.ndarray:
    """Gaps interpolated, for forecasters that need every step."""
    return pd.Series(y).interpolate().to_numpy()


def naive(y: np.ndarray, origins: np.ndarray, H: int, seasons: list[int]) -> dict[str, np.ndarray]:
    """(origins, H) by name; an origin is the last step known."""
    target = origins[:, None] + np.arange(1, H + 1)
    mean = np.cumsum(y) / np.arange(1, len(y) + 1)
    found = {
        "mean so far": np.repeat(mean[origins][:, None], H, axis=1),
        "last value": np.repeat(y[origins][:, None], H, axis=1),
    }
    for season in seasons:
        back = season * -(-np.arange(1, H + 1) // season)
        if origins.min() - season >= 0:
            found[f"{season} steps before"] = y[target - back]
    return found


def ridge(y: np.ndarray, origins: np.ndarray, H: int, seasons: list[int], refit: int) -> np.ndarray:
    """One RidgeCV per horizon on lags and indicators of the phase, fitted anew every `refit`."""
    season, most = seasons[0], max(s for s in seasons if s <= 350)
    phases = np.eye(most)[np.arange(len(y) + H) % most]
    said = np.empty((len(origins), H))
    for h in range(1, H + 1):
        lags = [h, h + 1, h + 2, season * -(-h // season), most * -(-h // most)]
        lags += [season * -(-h // season) + season, most * -(-h // most) + most]
        lags = sorted({*lags})
        rows = np.arange(max(lags), len(y))
        X = np.column_stack([*(y[rows - lag] for lag in lags), phases[rows]])
        for start in range(0, len(origins), refit):
            last = origins[start]
            known = np.flatnonzero(rows <= last)[-MOST:]
            model = RidgeCV(np.logspace(-2, 4, 7)).fit(X[known], y[rows[known]])
            some = origins[start : start + refit] + h
            said[start : start + refit, h - 1] = model.predict(X[some - rows[0]])
    return said


def statistical(
    name: str,
    y: np.ndarray,
    origins: np.ndarray,
    H: int,
    seasons: list[int],
    refit: int,
    window: int,
) -> np.ndarray:
    """statsforecast's models, fitted every `refit` origins and only updated in between."""
    season, short = seasons[0], [s for s in seasons if s <= 350]
    makers: dict[str, Callable[[], object]] = {
        "AutoETS": lambda: AutoETS(season_length=season),
        "AutoARIMA": lambda: AutoARIMA(season_length=season, approximation=True),
        "MSTL": lambda: MSTL(season_length=short if len(short) > 1 else short[0]),
    }
    gap = int(origins[1] - origins[0])
    end = int(origins[-1]) + H + 1
    frame = pd.DataFrame({"unique_id": "y", "ds": pd.RangeIndex(end).to_numpy() + 1, "y": y[:end]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = StatsForecast([makers[name]()], freq=1, n_jobs=1).cross_validation(
            df=frame, h=H, step_size=gap, n_windows=len(origins), refit=refit,
            input_size=min(window, int(origins[0]) + 1),
        )  # fmt: skip
    said = found.sort_values(["cutoff", "ds"])[name].to_numpy().reshape(len(origins), H)
    assert (np.unique(found["cutoff"]) == origins + 1).all()
    return said


def timed(work: Callable[[], np.ndarray]) -> tuple[np.ndarray, float]:
    start = perf_counter()
    return work(), perf_counter() - start
