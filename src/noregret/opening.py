"""Opening a stream: from a plan and the first round to the right kind of stream.

no kernel                     weight space, features by position or by name
a kernel                      the exact core, which keeps every input
a kernel and Window           the exact core on the last rounds
a kernel and Nystrom          weight space behind a dictionary
RandomFourier, Taylor, ...    weight space behind an explicit map
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from typing import Any

import numpy as np

from noregret import features
from noregret.budgets import Nystrom, Window
from noregret.doors import Door, Names, Positions, door_for, door_for_many
from noregret.errors import FeatureError
from noregret.features import outcome_table
from noregret.kernel_stream import KernelStream
from noregret.maps import DictionaryDoor, Inputs, MapDoor
from noregret.stream import Plan, Stream

__all__ = ["AnyStream", "open_for_many", "open_for_one"]

AnyStream = Stream | KernelStream


def open_for_one(plan: Plan, x: Any, m: int = 1, *, scalar: bool = True) -> AnyStream:
    """An empty stream for rounds that look like x."""
    if plan.kernel is None and plan.budget is None:
        return Stream.start(plan, door_for(x), m, scalar=scalar)
    door: Positions | Names | None = None
    if _is_vector(plan, x):
        mapping = features.as_mapping(x)
        if mapping is not None:
            door = Names(mapping)
        else:
            opened = door_for(x)
            assert isinstance(opened, Positions)
            door = opened
    return _behind(plan, Inputs(door), m, scalar=scalar)


def open_for_many(plan: Plan, X: Any, y: Any) -> AnyStream:
    """An empty stream for many rounds that look like X and y."""
    weights = plan.kernel is None and plan.budget is None
    if not weights and plan.kernel is not None and not plan.kernel.vectors and _is_list(X):
        first = next(iter(X), None)
        if not _is_vector(plan, first):
            ys, scalar = outcome_table(y, len(X))
            return _behind(plan, Inputs(None), ys.shape[1], scalar=scalar)
    door, xs = door_for_many(X)
    ys, scalar = outcome_table(y, len(xs))
    if weights:
        return Stream.start(plan, door, ys.shape[1], scalar=scalar)
    return _behind(plan, Inputs(door), ys.shape[1], scalar=scalar)


def _behind(plan: Plan, inputs: Inputs, m: int, *, scalar: bool) -> AnyStream:
    budget = plan.budget
    if budget is None or isinstance(budget, Window):
        return KernelStream.start(plan, inputs, m, scalar=scalar)
    door: Door
    if isinstance(budget, Nystrom):
        assert plan.kernel is not None
        door = DictionaryDoor(budget, plan.kernel, inputs, [], np.zeros((0, 0), order="F"))
    else:
        if inputs.door is None:
            raise FeatureError(f"{budget!r} maps vectors: give arrays, or mappings of numbers")
        map_ = budget.map(inputs.door.size)
        size = map_.features(np.zeros((1, inputs.door.size))).shape[1]
        door = MapDoor(inputs, map_, size)
    return Stream.start(plan, door, m, scalar=scalar)


def _is_list(X: Any) -> bool:
    """Whether X is a sequence of inputs rather than a table of numbers."""
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and X.dtype.kind in "OUS"
    return isinstance(X, Sized) and isinstance(X, Iterable) and features.frame_names(X) is None


def _is_vector(plan: Plan, x: Any) -> bool:
    """Whether x goes to the kernel as a vector of numbers rather than as it is."""
    if plan.kernel is None or plan.kernel.vectors:
        return True
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "biuf" and x.ndim == 1
    if isinstance(x, Mapping | str | bytes):
        return False
    if features.as_mapping(x) is not None:  # a row of a frame
        return True
    return isinstance(x, list | tuple) and all(isinstance(v, int | float | np.number) for v in x)
