"""A pytest plugin: compiled functions run as plain Python, so that a mutant needs no compiler.

Numbers stay float64 with the rules of machine code: 1/0 is infinite, ln 0 is -infinity, nothing
warns.  Only what the compiler alone decides (the order of sums, fused products) is not the same.
"""

from __future__ import annotations

import functools
import math
from types import SimpleNamespace

import numba
import numba.extending
import numpy as np
import plain

DEPTH = [0]  # compiled functions under way: only the outermost gives Python's own numbers back


def _machine(function):
    """A function of `math` that answers as machine code does, where Python raises."""

    def answer(*numbers):
        try:
            found = function(*numbers)
        except (ValueError, OverflowError, ZeroDivisionError):
            with np.errstate(all="ignore"):
                found = getattr(np, function.__name__)(*map(np.float64, numbers))
        return found if isinstance(found, int) else np.float64(found)

    return answer


def _mathematics() -> SimpleNamespace:
    names = {name: getattr(math, name) for name in dir(math) if not name.startswith("_")}
    for name in ("exp", "log", "log1p", "expm1", "sqrt", "hypot", "tanh", "copysign", "erfc"):
        names[name] = _machine(names[name])
    return SimpleNamespace(**names)


MATH = _mathematics()


def compiled(signature, **_):
    """In the place of `noregret._native.compiled`: the function itself, its answer as declared."""
    kind = {"float64": float, "int64": int, "bool": bool}.get(str(signature.return_type))

    def wrap(function):
        if "math" in function.__globals__:
            function.__globals__["math"] = MATH

        @functools.wraps(function)
        def call(*given):
            numbers = [np.float64(v) if isinstance(v, float) else v for v in given]
            if DEPTH[0]:
                return function(*numbers)
            DEPTH[0] = 1
            try:
                with np.errstate(all="ignore"):
                    found = function(*numbers)
            finally:
                DEPTH[0] = 0
            return found if kind is None else kind(found)

        return call

    return wrap


def _power(_):
    """2^k from SHIFT + k, for `noregret._native.vectors`."""
    return lambda shifted: math.ldexp(1.0, max(int(shifted - 1.5 * 2.0**52), -2000))


def pytest_configure() -> None:
    """Before anything of noregret is imported."""
    plain.pytest_configure()
    numba.extending.intrinsic = _power
    from noregret import _ops

    _ops.compiled, _ops.bare = compiled, lambda function: function
