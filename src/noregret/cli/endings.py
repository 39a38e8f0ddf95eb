"""Formats of forecasts by the ending of a file's name."""

from __future__ import annotations

from pathlib import Path

from noregret.errors import ParameterError

__all__ = ["ending"]

ENDINGS = {".csv": "csv", ".parquet": "parquet", ".pq": "parquet", ".jsonl": "jsonl"}


def ending(place: str) -> str:
    """The format that a name asks for."""
    kind = ENDINGS.get(Path(place).suffix.lower())
    if kind is None:
        raise ParameterError(f"--out {place}: end it in .csv, .parquet or .jsonl, or take - ")
    return kind
