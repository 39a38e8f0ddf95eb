"""Opening a stream: from a plan and the first round to the right kind of stream.

no kernel                     weight space, features by position or by name
a kernel                      the exact core, which keeps every input
a kernel and Window           the exact core on the last rounds
a kernel and Nystrom          weight space behind a dictionary
RandomFourier, Taylor, ...    weight space behind an explicit map
"""

from __future__ import annotations

from collections.abc import Iterable, Sized
from typing import TypeGuard

import numpy as np

from noregret.budgets import Nystrom, Window
from noregret.errors import FeatureError
from noregret.gaussian.kernel_stream import KernelStream
from noregret.gaussian.stream import Plan, Stream
from noregret.inputs import values as features
from noregret.inputs.kernel_spaces import KernelInputs, MappedSpace, NystromSpace, is_numbers
from noregret.inputs.spaces import Names, Positions, space_for_row, space_for_table
from noregret.inputs.values import outcome_table
from noregret.types import Outcomes, Row, Table

__all__ = ["AnyStream", "stream_for_row", "stream_for_table"]

AnyStream = Stream | KernelStream


def stream_for_row(plan: Plan, x: Row, m: int = 1, *, scalar: bool = True) -> AnyStream:
    """An empty stream for rounds that look like x."""
    if plan.kernel is None and plan.budget is None:
        return Stream.start(plan, space_for_row(x), m, scalar=scalar)
    space: Positions | Names | None = None
    if _is_vector(plan, x):
        mapping = features.as_mapping(x)
        space = space_for_row(x) if mapping is None else Names(mapping)
    return _behind(plan, KernelInputs(space), m, scalar=scalar)


def stream_for_table(plan: Plan, X: Table, y: Outcomes) -> tuple[AnyStream, Table]:
    """An empty stream for many rounds that look like X and y; and X as it was read."""
    if plan.kernel is not None and not plan.kernel.vectors and _is_list(X):
        rows = list(X)
        if not _is_vector(plan, rows[0] if rows else None):
            ys, scalar = outcome_table(y, len(rows))
            return _behind(plan, KernelInputs(None), ys.shape[1], scalar=scalar), rows
    space, read = space_for_table(X)
    ys, scalar = outcome_table(y, len(read.rows))
    if plan.kernel is None and plan.budget is None:
        return Stream.start(plan, space, ys.shape[1], scalar=scalar), read
    return _behind(plan, KernelInputs(space), ys.shape[1], scalar=scalar), read


def _behind(plan: Plan, inputs: KernelInputs, m: int, *, scalar: bool) -> AnyStream:
    budget = plan.budget
    if budget is None or isinstance(budget, Window):
        return KernelStream.start(plan, inputs, m, scalar=scalar)
    if isinstance(budget, Nystrom):
        assert plan.kernel is not None
        kept = NystromSpace(budget, plan.kernel, inputs, [], np.zeros((0, 0), order="F"))
        return Stream.start(plan, kept, m, scalar=scalar)
    if inputs.space is None:
        raise FeatureError(f"{budget!r} maps vectors: give arrays, or mappings of numbers")
    mapped = MappedSpace(inputs, budget.map(inputs.space.size))
    return Stream.start(plan, mapped, m, scalar=scalar)


def _is_list(X: Table) -> TypeGuard[Iterable[Row]]:
    """Whether X is a sequence of inputs rather than a table of numbers."""
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and X.dtype.kind in "OUS"
    return isinstance(X, Sized) and isinstance(X, Iterable) and features.frame_names(X) is None


def _is_vector(plan: Plan, x: Row) -> bool:
    """Whether x goes to the kernel as a vector of numbers rather than as it is."""
    return plan.kernel is None or plan.kernel.vectors or is_numbers(x)
