"""From the first round to how inputs reach a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from noregret.inputs import values as features
from noregret.inputs.kernel_spaces import KernelInputs
from noregret.inputs.spaces import Names, Positions, space_for_row, space_for_table

__all__ = ["inputs_for_many", "inputs_for_one"]


def inputs_for_one(x: Any, *, vectors: bool) -> KernelInputs:
    """For rounds that look like x; objects go as they are unless only vectors will do."""
    if not vectors and _is_object(x):
        return KernelInputs(None)
    mapping = features.as_mapping(x)
    if mapping is not None:
        return KernelInputs(Names(mapping))
    space = space_for_row(x)
    assert isinstance(space, Positions)
    return KernelInputs(space)


def inputs_for_many(X: Any, *, vectors: bool) -> KernelInputs:
    """For many rounds that look like X."""
    if not vectors and isinstance(X, list | tuple) and X and _is_object(X[0]):
        return KernelInputs(None)
    return KernelInputs(space_for_table(X)[0])


def _is_object(x: Any) -> bool:
    """Whether only the kernel understands x."""
    if isinstance(x, np.ndarray):
        return x.dtype.kind not in "biuf" or x.ndim != 1
    if isinstance(x, Mapping | str | bytes):
        return True
    if features.as_mapping(x) is not None:
        return False
    return not (
        isinstance(x, list | tuple) and all(isinstance(v, int | float | np.number) for v in x)
    )
