"""What every learner can do: go into a model file."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["Saveable", "ours"]

FILES = "noregret.snapshot"  # it knows all learners, so that none can know it beforehand


class Saveable:
    """`save` and `to_bytes` as methods; all else about model files is in noregret.snapshot."""

    __slots__ = ()

    def save(self, path: Any) -> None:
        """Store the learner in a file, whole or not at all; `noregret.load` reads it back."""
        import_module(FILES).save(self, path)

    def to_bytes(self) -> bytes:
        """The learner as the bytes of a model file; `noregret.from_bytes` reads them back."""
        data: bytes = import_module(FILES).to_bytes(self)
        return data


def ours(model: Any) -> bool:
    """Whether a model is a learner of this library, and not somebody's child of one."""
    return isinstance(model, Saveable) and type(model).__module__.startswith("noregret.")
