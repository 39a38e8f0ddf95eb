"""Grids of learners: every combination of the parameters listed."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TypeVar

from noregret.errors import ParameterError

L = TypeVar("L")

__all__ = ["over"]


def over(learner_class: Callable[..., L], **grid: object) -> list[L]:
    """A learner for every combination; a parameter that is no list is the same for all.

    Under the Aggregating Algorithm they stand for averaging over parameters instead of choosing
    them, at a price of (hi-lo)^2/2 ln N.

    >>> import noregret as nr
    >>> over(nr.AAR, prior_precision=[0.1, 10.0], drift=[0.0, 0.01], fit_intercept=True)[1]
    AAR(drift=0.01, fit_intercept=True, prior_precision=0.1)
    >>> pool = nr.AggregatingAlgorithm(nr.over(nr.AAR, prior_precision=[0.1, 1.0, 10.0]))
    >>> result = pool.replay([[1.0], [2.0], [3.0]], [2.0, 4.0, 6.0])
    >>> [c.name for c in pool.certificates()][-1]
    'the pool and Busuttil-Kalnishkan Theorem 1'
    """
    lists = {name: list(v) if isinstance(v, list | tuple) else [v] for name, v in grid.items()}
    empty = [name for name, values in lists.items() if not values]
    if empty:
        raise ParameterError(f"{empty[0]} = []: give at least one value")
    return [
        learner_class(**dict(zip(lists, values))) for values in itertools.product(*lists.values())
    ]
