"""Good features, tables and outcomes, and the odd values and arrays of hostile input."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

NAN, INF = float("nan"), float("inf")
NAMES = ("a", "b", "c")
WIDE_FLOAT = np.finfo(np.longdouble).nmant > 52  # else longdouble is float64 by another name

GOOD = [1.0, 2.0, 3.0]  # looked at before each hostile call; many of those resemble it
TABLE = np.random.default_rng(11).normal(size=(4, 3)).round(3)
TABLE[1] = GOOD
COLUMN = [0.5, -1.0, 0.0, 0.25]

LONG = np.longdouble
DAY = np.datetime64("2024-02-29")


def unaligned(values: Any) -> np.ndarray:
    plain = np.ascontiguousarray(values, dtype=np.float64)
    shifted = np.frombuffer(b"x" + plain.tobytes(), dtype=np.uint8)[1:].view(np.float64)
    assert not shifted.flags.aligned
    return shifted.reshape(plain.shape)


def read_only(values: Any) -> np.ndarray:
    taken = np.array(values, dtype=np.float64)
    taken.flags.writeable = False
    return taken


def matrix(values: Any) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        return np.matrix(values)


def masked(values: Any, mask: Any) -> Any:
    return np.ma.array(values, mask=mask)


class Subclass(np.ndarray):
    """Somebody's own array."""


class Rude:
    """An object that cannot even be printed."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


def named(**changes: Any) -> dict[str, Any]:
    return {**dict(zip(NAMES, GOOD, strict=True)), **changes}


def changed(t: int, j: int, value: Any) -> list[list[Any]]:
    rows = TABLE.tolist()
    rows[t][j] = value
    return rows


def changed_array(t: int, j: int, value: Any, dtype: Any = None) -> np.ndarray:
    return np.array(changed(t, j, value), dtype=dtype)
