"""What every learner can do with itself: go into a model file, and come out of one."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, TypeGuard, TypeVar

import numpy as np

if TYPE_CHECKING:
    from noregret.learner.base import OnlineLearner
    from noregret.learner.state import State

__all__ = ["Saveable", "ours", "revived", "writable_copy"]

FILES = "noregret.snapshot"  # it knows all learners, so that none can know it beforehand
V = TypeVar("V")


class Saveable:
    """`save` and `to_bytes` as methods; all else about model files is in noregret.snapshot."""

    __slots__ = ()

    def save(self, path: str | PathLike[str]) -> None:
        """Store the learner in a file, whole or not at all; `noregret.load` reads it back."""
        import_module(FILES).save(self, path)

    def to_bytes(self) -> bytes:
        """The learner as the bytes of a model file; `noregret.from_bytes` reads them back."""
        data: bytes = import_module(FILES).to_bytes(self)
        return data


def ours(model: object) -> TypeGuard[OnlineLearner[State]]:
    """Whether a model is a learner of this library, and not somebody's child of one."""
    return isinstance(model, Saveable) and type(model).__module__.startswith("noregret.")


def revived(kind: Callable[..., V], *values: object) -> V:
    """A state from a pickle, made of arrays that may be written to."""
    return kind(*map(writable_copy, values))


def writable_copy(value: V) -> V:
    """A state whose arrays are plain and may be written to, as those of a mapped file may not."""
    new: object = value
    if isinstance(value, np.ndarray):
        plain = type(value) is np.ndarray and value.flags.writeable
        new = value if plain or value.dtype == object else np.array(value, subok=False)
    elif isinstance(value, list):
        new = [writable_copy(v) for v in value]
    elif isinstance(value, tuple) and type(value) is tuple:
        new = tuple(writable_copy(v) for v in value)
    elif isinstance(value, dict):
        new = {k: writable_copy(v) for k, v in value.items()}
    elif type(value).__module__.startswith("noregret.") and not hasattr(value, "get_params"):
        names = [n for kind in type(value).__mro__ for n in getattr(kind, "__slots__", ())]
        for name in (*names, *getattr(value, "__dict__", ())):
            if hasattr(value, name):
                object.__setattr__(value, name, writable_copy(getattr(value, name)))
    return new  # type: ignore[return-value]  # of the same kind
