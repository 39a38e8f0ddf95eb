"""No file that is written may be one that is read, by whatever name."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import IO

from noregret.errors import ParameterError
from noregret.sources import Source

__all__ = ["keep_apart"]

Identity = tuple[int, int] | Path


def keep_apart(source: Source, **places: str | None) -> None:
    """Refuse an output that is the data, or another output: same path, link or inode."""
    read = source.data.partition(":")[2] if source.database else source.data
    data = _identity(sys.stdin if source.live else read) if read else None
    taken: dict[Identity, str] = {} if data is None else {data: "the data"}
    for option, place in places.items():
        own = None if place is None else _identity(sys.stdout if place == "-" else place)
        if place is None or own is None:
            continue
        if own in taken:
            raise ParameterError(f"--{option} {place} is {taken[own]} too: give another file")
        named = not read and Path(place).name in (source.query or "")
        if named and place != "-" and Path(place).exists():
            raise ParameterError(
                f"--{option} {place} is there, and the query names it: give another file"
            )
        taken[own] = f"--{option}"


def _identity(place: str | IO[str] | None) -> Identity | None:
    """What two names of one file share; None for what cannot be written over, as a terminal."""
    if place is None:
        return None
    try:
        facts = Path(place).stat() if isinstance(place, str) else os.fstat(place.fileno())
    except (OSError, ValueError):  # there is no such file yet; a stream without a file
        return Path(place).resolve() if isinstance(place, str) else None
    return (facts.st_dev, facts.st_ino) if stat.S_ISREG(facts.st_mode) else None
