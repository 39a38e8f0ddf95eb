"""From the first round to how inputs reach a kernel: as vectors of a space, or as they are."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from noregret.inputs.spaces import FeatureSpace, Names, space_for_row, space_for_table
from noregret.inputs.values import as_mapping
from noregret.types import Row, Table

__all__ = ["kernel_space_for_row", "kernel_space_for_table"]


def kernel_space_for_row(x: Row, *, vectors: bool) -> FeatureSpace | None:
    """For rounds that look like x; None for objects, unless only vectors will do."""
    if not vectors and _is_object(x):
        return None
    mapping = as_mapping(x)
    return space_for_row(x) if mapping is None else Names(mapping)


def kernel_space_for_table(X: Table, *, vectors: bool) -> tuple[FeatureSpace | None, Table]:
    """For many rounds that look like X, and X as it was read on the way."""
    if not vectors and isinstance(X, list | tuple) and X and _is_object(X[0]):
        return None, X
    return space_for_table(X)


def _is_object(x: Row) -> bool:
    """Whether only the kernel understands x."""
    if isinstance(x, np.ndarray):
        return x.dtype.kind not in "biuf" or x.ndim != 1
    if isinstance(x, Mapping | str | bytes):
        return True
    if as_mapping(x) is not None:
        return False
    return not (
        isinstance(x, list | tuple) and all(isinstance(v, int | float | np.number) for v in x)
    )
