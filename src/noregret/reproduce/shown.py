"""A table to be shown: published figures beside ours."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Shown"]


@dataclass(frozen=True, slots=True)
class Shown:
    """A table, and below it what must be said."""

    title: str
    head: list[str]
    rows: list[list[str]]
    notes: list[str] = field(default_factory=list)
