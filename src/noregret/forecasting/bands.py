"""Intervals until better ones come: tracked multiples of the mean absolute error, per horizon.

Each side is k times the mean absolute error m, and k is tracked (Gibbs and Candes 2021):
k <- k + STEP (missed - alpha/2).  So on any data the share of misses on a side differs from alpha/2
by (k_now - k_first)/(STEP T), exactly.  Of several coverages a wider one never ends inside a
narrower one; misses are those of the ends as issued, so each keeps its identity.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from noregret.declare.fields import Array
from noregret.types import Matrix

__all__ = ["Bands"]

STEP, RATE, START = 0.05, 0.01, 2.0  # at first, for 90 %
KNOWN, LEVEL, BELOW, ABOVE, INSIDE, WIDTH, SCORED = range(7)


class Bands:
    """The state of the trackers: `track` has a column for each horizon, coverage by coverage."""

    __slots__ = ("issued", "track")

    FIELDS = (Array("track", (7, "ends")), Array("issued", ("H", "ends", 2), finite=False))

    def __init__(self, track: Matrix, issued: Matrix) -> None:
        self.track, self.issued = track, issued

    @classmethod
    def start(cls, horizon: int, coverages: Sequence[float] = (0.9,)) -> Bands:
        """Nothing is known: intervals are infinite."""
        from statistics import NormalDist  # which loads much that nobody else needs

        wide = [NormalDist().inv_cdf(0.5 + 0.5 * c) / NormalDist().inv_cdf(0.95) for c in coverages]
        track = np.zeros((7, len(coverages) * horizon))
        track[[BELOW, ABOVE]] = START * np.repeat(wide, horizon)
        return cls(track, np.full((horizon, len(coverages) * horizon, 2), np.inf))

    def copy(self) -> Bands:
        """One that shares nothing with this one."""
        return Bands(self.track.copy(), self.issued.copy())

    def now(self, coverages: Sequence[float]) -> Matrix:
        """(H, C, 2): how far below and above a forecast issued now its intervals end."""
        return _apart(self._now(coverages), len(coverages))

    def _now(self, coverages: Sequence[float]) -> Matrix:
        t = self.track
        wide = np.where(t[KNOWN] > 0.0, t[LEVEL], np.inf)
        found = np.stack([t[BELOW] * wide, t[ABOVE] * wide], axis=1)
        if len(coverages) > 1:
            each, outward = found.reshape(len(coverages), -1, 2), np.argsort(coverages)
            each[outward] = np.maximum.accumulate(each[outward], axis=0)
        return found

    def run(self, errors: Matrix, coverages: Sequence[float]) -> Matrix:
        """Learn y - forecast, (T, H), NaN where there is none; the widths issued, (T, H, C, 2)."""
        (T, H), C = errors.shape, len(coverages)
        widths = np.empty((T + H, C * H, 2))  # row t + H: issued after step t, the oldest first
        widths[:H] = self.issued
        found, alpha = np.empty((T, C * H, 2)), 0.5 * (1.0 - np.repeat(coverages, H))
        every, back, t = np.arange(C * H), np.tile(np.arange(H), C), self.track
        errors = np.tile(errors, C)
        for s in range(T):
            issued = widths[H + s - 1 - back, every]  # h steps before: row s - h
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
            widths[H + s] = self._now(coverages)
        self.issued = widths[T:].copy()
        return _apart(found, C)


def _apart(ends: Matrix, coverages: int) -> Matrix:
    """(..., C H, 2) as (..., H, C, 2)."""
    return np.swapaxes(ends.reshape(*ends.shape[:-2], coverages, -1, 2), -3, -2)


def summary(bands: Bands) -> tuple[Matrix, Matrix]:
    """(H, C): the share of outcomes inside, and the mean width."""
    track = bands.track.reshape(7, -1, len(bands.issued))
    scored = np.maximum(track[SCORED], 1.0)
    return (track[INSIDE] / scored).T, (track[WIDTH] / scored).T
