"""States that come out of a mapped file: their arrays are read-only, and compiled code writes."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["writable_copy"]


def writable_copy(value: Any) -> Any:
    """A state whose arrays are plain and may be written to, as those of a mapped file may not."""
    if isinstance(value, np.ndarray):
        plain = type(value) is np.ndarray and value.flags.writeable
        return value if plain or value.dtype == object else np.array(value, subok=False)
    if isinstance(value, list):
        return [writable_copy(v) for v in value]
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(writable_copy(v) for v in value)
    if isinstance(value, dict):
        return {k: writable_copy(v) for k, v in value.items()}
    if type(value).__module__.startswith("noregret.") and not hasattr(value, "get_params"):
        names = [n for kind in type(value).__mro__ for n in getattr(kind, "__slots__", ())]
        for name in (*names, *getattr(value, "__dict__", ())):
            if hasattr(value, name):
                object.__setattr__(value, name, writable_copy(getattr(value, name)))
    return value
