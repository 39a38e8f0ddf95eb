"""Compiled inner loops behind plain functions.

Each function is compiled by Numba for one signature and kept in Numba's on-disk cache. All of
them hold the interpreter lock, so one call is one indivisible step for every other thread.

`layout` says what lies where in the two scratch arrays that the functions share, `door` admits
x, `primal` and `drift` are the two weight-space cores, `rules` and `ledger` the other two
parts of a round, and `rounds` is the one place where core, rule and ledger meet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

__all__ = ["ANY", "BLOCK", "FUSED", "ROW", "bare", "compiled"]

F = TypeVar("F", bound=Callable[..., Any])

BLOCK = numba.float64[:, ::1]
"""A C-ordered matrix that the callee may write to."""
ROW = numba.float64[::1]
"""A contiguous vector that the callee may write to."""
ANY = numba.types.Array(numba.float64, 1, "A", readonly=True)
"""A vector from the user: strided or read-only as it may be."""
FUSED = {"contract"}
"""A product and the sum it goes into may be rounded once, where the machine can."""


def compiled(signature: Any, **options: Any) -> Callable[[F], F]:
    """Compile for one signature, on disk where a cache can be written and in memory elsewhere."""
    settings = {"error_model": "numpy", "forceinline": True, **options}

    def wrap(function: F) -> F:
        try:
            dispatcher: F = numba.njit(signature, cache=True, **settings)(function)
        except RuntimeError as refusal:  # neither __pycache__ nor the user's cache is writable
            if "no locator" not in str(refusal):
                raise
            dispatcher = numba.njit(signature, **settings)(function)
        return dispatcher

    return wrap


def bare(function: F) -> F:
    """The machine code behind a compiled function, without the look at each argument's type.

    It saves 150 ns a call.  The caller vouches for type, dtype and number of dimensions.
    """
    (overload,) = function.overloads.values()  # type: ignore[attr-defined]  # Numba's
    entry: F = overload.entry_point
    return entry
