"""What every learner can do: go into a model file."""

from __future__ import annotations

from typing import Any

__all__ = ["Stored"]


class Stored:
    """`save` and `to_bytes` as methods; all else about model files is in noregret.snapshot."""

    __slots__ = ()

    def save(self, path: Any) -> None:
        """Store this learner in a file, whole or not at all; `noregret.load` reads it back."""
        import noregret  # the list of learners stands above all learners

        noregret.save(self, path)

    def to_bytes(self) -> bytes:
        """The learner as the bytes of a model file; `noregret.from_bytes` reads them back."""
        import noregret

        return noregret.to_bytes(self)
