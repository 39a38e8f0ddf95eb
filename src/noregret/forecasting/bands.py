"""Intervals until better ones come: tracked multiples of the mean absolute error, per horizon.

Each side is k times the mean absolute error m, and k is tracked (Gibbs and Candes 2021):
k <- k + STEP (missed - alpha/2).  So on any data the share of misses on a side differs from alpha/2
by (k_now - k_first)/(STEP T), exactly.
"""

from __future__ import annotations

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
        widths = np.empty((T + H, H, 2))  # row t + H: issued after step t, the oldest first
        widths[:H] = self.issued
        found, alpha = np.empty((T, H, 2)), 0.5 * (1.0 - coverage)
        every, t = np.arange(H), self.track
        for s in range(T):
            issued = widths[H + s - 1 - every, every]  # h steps before: row s - h
            found[s] = issued
            e = errors[s]
            real = ~np.isnan(e)
            if real.any():
                error = np.where(real, e, 0.0)
                size = np.abs(error)
                started = real & (t[KNOWN] > 0.0)
                t[BELOW] += STEP * np.where(started, (-error > issued[:, 0]) - alpha, 0.0)
                t[ABOVE] += STEP * np.where(started, (error > issued[:, 1]) - alpha, 0.0)
                rate = np.where(real, np.maximum(1.0 / (t[KNOWN] + 1.0), RATE), 0.0)
                t[LEVEL] += rate * (size - t[LEVEL])
                t[KNOWN] += real
                finite = real & np.isfinite(issued[:, 0])
                inside = finite & (-error <= issued[:, 0]) & (error <= issued[:, 1])
                t[INSIDE] += inside
                t[WIDTH] += np.where(finite, issued.sum(axis=1), 0.0)
                t[SCORED] += finite
            widths[H + s] = self.now()
        self.issued = widths[T:].copy()
        return found


def summary(bands: Bands) -> tuple[Vector, Vector]:
    """By horizon: the share of outcomes inside, and the mean width."""
    scored = np.maximum(bands.track[SCORED], 1.0)
    return bands.track[INSIDE] / scored, bands.track[WIDTH] / scored
