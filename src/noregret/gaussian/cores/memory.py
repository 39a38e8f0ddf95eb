"""Whether a large array will fit, asked before it is made."""

from __future__ import annotations

import os

from noregret.errors import NumericalError

__all__ = ["available", "enough"]


def available() -> int | None:
    """Bytes that could be had without swapping; None where the system does not say."""
    from pathlib import Path

    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        for line in meminfo.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return None


def enough(numbers: int, what: str) -> None:
    """Refuse to go on when so many float64 would not fit."""
    needed, free = 8 * numbers, available()
    if free is not None and needed > free:
        raise NumericalError(
            f"{what} needs {needed / 1e9:.1f} GB and {free / 1e9:.1f} GB are free: "
            "give the learner a budget= (Nystrom, RandomFourier, Taylor, Window)"
        )
