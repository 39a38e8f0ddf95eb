"""Intervals until better ones come: tracked multiples of the mean absolute error, per horizon.

Each side is k times the mean absolute error m, and k is tracked (Gibbs and Candes 2021):
k <- k + STEP (missed - alpha/2).  So on any data the share of misses on a side differs from alpha/2
by (k_now - k_first)/(STEP T), exactly.
"""

from __future__ import annotations

import math

import numpy as np

from noregret.declare.fields import Array
from noregret.types import Matrix, Vector

__all__ = ["Bands"]

STEP, RATE, START = 0.05, 0.01, 2.0
KNOWN, LEVEL, BELOW, ABOVE, INSIDE, WIDTH, SCORED = range(7)


class Bands:
    """The state of the trackers at H horizons: `track` has a column for each."""

    __slots__ = ("issued", "track")

    FIELDS = (Array("track", (7, "H")), Array("issued", ("H", "horizons", 2), finite=False))

    def __init__(self, track: Matrix, issued: Matrix) -> None:
        self.track, self.issued = track, issued

    @classmethod
    def start(cls, horizon: int) -> Bands:
        """Nothing is known: intervals are infinite."""
        track = np.zeros((7, horizon))
        track[[BELOW, ABOVE]] = START
        return cls(track, np.full((horizon, horizon, 2), np.inf))

    def copy(self) -> Bands:
        """One that shares nothing with this one."""
        return Bands(self.track.copy(), self.issued.copy())

    def now(self) -> Matrix:
        """(H, 2): how far below and above a forecast issued now its interval ends."""
        t = self.track
        wide = np.where(t[KNOWN] > 0.0, t[LEVEL], np.inf)
        return np.stack([t[BELOW] * wide, t[ABOVE] * wide], axis=1)

    def run(self, errors: Matrix, coverage: float) -> Matrix:
        """Learn y - forecast, (T, H), NaN where there is none; the widths as issued, (T, H, 2)."""
        T, H = errors.shape
        alpha, found = 0.5 * (1.0 - coverage), np.empty((T, H, 2))
        issued = np.empty((H, H, 2))
        for h in range(H):  # plain numbers: a step is too little for arrays
            before = self.issued[:, h].tolist()  # after each of the last H steps, the oldest first
            track = self.track[:, h].tolist()
            after = _tracked(track, before, errors[:, h].tolist(), alpha, h)
            found[:, h] = after[H - 1 - h : H - 1 - h + T]  # issued h + 1 steps before
            issued[:, h], self.track[:, h] = after[T:], track
        self.issued = issued
        return found


def _tracked(
    track: list[float],
    issued: list[list[float]],
    errors: list[float],
    alpha: float,
    h: int,
) -> list[list[float]]:
    """What is issued after each step, behind what was issued before; `track` goes on in place."""
    known, level, below, above, inside, width, scored = track
    found, H = list(issued), len(issued)
    for s, e in enumerate(errors):
        if e == e:
            low, high = found[H + s - 1 - h]
            if known > 0.0:
                below += STEP * ((-e > low) - alpha)
                above += STEP * ((e > high) - alpha)
            level += max(1.0 / (known + 1.0), RATE) * (abs(e) - level)
            known += 1.0
            if low < math.inf:
                inside += -e <= low and e <= high
                width += low + high
                scored += 1.0
        size = level if known > 0.0 else math.inf
        found.append([below * size, above * size])
    track[:] = known, level, below, above, inside, width, scored
    return found


def summary(bands: Bands) -> tuple[Vector, Vector]:
    """By horizon: the share of outcomes inside, and the mean width."""
    scored = np.maximum(bands.track[SCORED], 1.0)
    return bands.track[INSIDE] / scored, bands.track[WIDTH] / scored
