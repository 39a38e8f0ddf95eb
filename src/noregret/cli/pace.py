"""How many rows a learner takes in a moment: pieces are bounded by time as well as by size."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

__all__ = ["Pace"]

MOMENT = 0.2  # seconds that a piece should take at most
FIRST = 16


class Pace:
    """The rows of the next piece: twice as many as long as they are quick."""

    def __init__(self) -> None:
        self.rows = FIRST

    @contextmanager
    def taken(self, rows: int) -> Iterator[None]:
        """Time a piece of so many rows."""
        begin = perf_counter()
        yield
        seconds = perf_counter() - begin
        if seconds > MOMENT:
            self.rows = max(1, int(rows * MOMENT / seconds / 2))
        elif rows == self.rows and seconds < MOMENT / 2:
            self.rows *= 2
