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

from noregret.budgets import Nystrom, Window
from noregret.errors import FeatureError
from noregret.gaussian.kernel_stream import KernelStream
from noregret.gaussian.stream import Plan, Stream
from noregret.inputs import values as features
from noregret.inputs.kernel_spaces import KernelInputs, MappedSpace, NystromSpace
from noregret.inputs.spaces import FeatureSpace, Names, Positions, space_for_row, space_for_table
from noregret.inputs.values import outcome_table

__all__ = ["AnyStream", "stream_for_row", "stream_for_table"]

AnyStream = Stream | KernelStream


def stream_for_row(plan: Plan, x: Any, m: int = 1, *, scalar: bool = True) -> AnyStream:
    """An empty stream for rounds that look like x."""
    if plan.kernel is None and plan.budget is None:
        return Stream.start(plan, space_for_row(x), m, scalar=scalar)
    space: Positions | Names | None = None
    if _is_vector(plan, x):
        mapping = features.as_mapping(x)
        if mapping is not None:
            space = Names(mapping)
        else:
            opened = space_for_row(x)
            assert isinstance(opened, Positions)
            space = opened
    return _behind(plan, KernelInputs(space), m, scalar=scalar)


def stream_for_table(plan: Plan, X: Any, y: Any) -> AnyStream:
    """An empty stream for many rounds that look like X and y."""
    weights = plan.kernel is None and plan.budget is None
    if not weights and plan.kernel is not None and not plan.kernel.vectors and _is_list(X):
        first = next(iter(X), None)
        if not _is_vector(plan, first):
            ys, scalar = outcome_table(y, len(X))
            return _behind(plan, KernelInputs(None), ys.shape[1], scalar=scalar)
    space, (xs, _) = space_for_table(X)
    ys, scalar = outcome_table(y, len(xs))
    if weights:
        return Stream.start(plan, space, ys.shape[1], scalar=scalar)
    return _behind(plan, KernelInputs(space), ys.shape[1], scalar=scalar)


def _behind(plan: Plan, inputs: KernelInputs, m: int, *, scalar: bool) -> AnyStream:
    budget = plan.budget
    if budget is None or isinstance(budget, Window):
        return KernelStream.start(plan, inputs, m, scalar=scalar)
    space: FeatureSpace
    if isinstance(budget, Nystrom):
        assert plan.kernel is not None
        space = NystromSpace(budget, plan.kernel, inputs, [], np.zeros((0, 0), order="F"))
    else:
        if inputs.space is None:
            raise FeatureError(f"{budget!r} maps vectors: give arrays, or mappings of numbers")
        map_ = budget.map(inputs.space.size)
        size = map_.features(np.zeros((1, inputs.space.size))).shape[1]
        space = MappedSpace(inputs, map_, size)
    return Stream.start(plan, space, m, scalar=scalar)


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
