"""How experts drift: 1/a_t for t >= 2, a number or a function of t."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from noregret.errors import ParameterError, abbreviated, wrapping
from noregret.types import Vector

__all__ = ["Drift", "steps"]

Drift = float | Callable[[int], float]


def steps(drift: Drift, first: int, rounds: int) -> Vector:
    """1/a_t for t = first, ..., first + rounds - 1, checked.

    >>> steps(lambda t: 1.0 / t, 2, 3).round(3)
    array([0.5  , 0.333, 0.25 ])
    """
    if not callable(drift):
        return np.full(rounds, drift)
    found = np.empty(rounds)
    for k in range(rounds):
        with wrapping("drift at round", ParameterError, first + k):
            step = drift(first + k)
        if not (isinstance(step, int | float | np.number) and 0.0 <= step < math.inf):
            raise ParameterError(
                f"drift({first + k}) = {abbreviated(step)}: a drift must be a finite number >= 0"
            )
        found[k] = step
    return found
