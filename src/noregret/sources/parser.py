"""Who parses a piece of CSV: Polars where it is installed and pays for its start, else Python.

Python's own reader, row by row, is the rule; Polars gives the same numbers, faster (delimited.py).
"""

from __future__ import annotations

from types import ModuleType

from noregret.declare.extras import loaded, optional

__all__ = ["LARGE", "polars_for"]

LARGE = 1 << 20  # bytes that take Python about as long as Polars takes to be imported


def polars_for(text: bytes) -> ModuleType | None:
    """Polars, or None where it is not installed or the text is too short to be worth its start."""
    return optional("polars") if len(text) >= LARGE or loaded("polars") else None
