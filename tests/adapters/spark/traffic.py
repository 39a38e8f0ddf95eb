"""Rows for many keys, and what one fleet says of them."""

from __future__ import annotations

from typing import Any

import numpy as np

import noregret as nr

NAMES = ["a", "b", "c"]


def traffic(keys: int, rows: int, seed: int = 0) -> Any:
    """rows per key, in an order of times that mixes the keys; a frame of pandas."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    key = rng.permutation(np.repeat(np.arange(keys), rows))
    X = rng.normal(size=(len(key), 3))
    y = X @ [1.0, -2.0, 0.5] + 0.1 * key % 7 + rng.normal(size=len(key))
    frame = pd.DataFrame(X, columns=NAMES).assign(shop=key, at=np.arange(len(key)), y=y)
    return frame.astype({"shop": "int64", "at": "int64"})


def learner() -> nr.AAR:
    return nr.AAR(0.7, fit_intercept=True)


def expected(frame: Any) -> tuple[Any, nr.Fleet]:
    """Forecasts in the order of the frame, and the fleet after it."""
    fleet = nr.Fleet(learner())
    return fleet.round(frame["shop"].to_numpy(), frame[NAMES], frame["y"].to_numpy()), fleet


def same_states(one: nr.Fleet, other: nr.Fleet) -> bool:
    """Whether two fleets know the same keys, to the last bit."""
    return sorted(one.keys()) == sorted(other.keys()) and all(
        one[key].to_bytes() == other[key].to_bytes() for key in one
    )
