"""Intervals until better ones come: tracked multiples of the mean absolute error, per horizon.

Each side is k times the mean absolute error m, and k is tracked (Gibbs and Candes 2021):
k <- k + STEP (missed - alpha/2).  So on any data the share of misses on a side differs from alpha/2
by (k_now - k_first)/(STEP T), exactly.  Of several coverages a wider one never ends inside a
narrower one; misses are those of the ends as issued, so each keeps its identity.
"""

from __future__ import annotations

import math
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
        alphas = [0.5 * (1.0 - coverage) for coverage in coverages]
        outward = np.argsort(coverages).tolist()
        tracks, found = self.track.reshape(7, C, H), np.empty((T, H, C, 2))
        before, issued = self.issued.reshape(H, C, H, 2), np.empty((H, C, H, 2))
        for h in range(H):  # plain numbers: a step is too little for arrays
            track = tracks[:, :, h].T.tolist()
            after = [before[:, c, h].tolist() for c in range(C)]  # the oldest first
            _tracked(track, after, errors[:, h].tolist(), alphas, outward, h)
            for c in range(C):
                found[:, h, c] = after[c][H - 1 - h : H - 1 - h + T]  # issued h + 1 steps before
                issued[:, c, h], tracks[:, c, h] = after[c][T:], track[c]
        self.issued = issued.reshape(H, C * H, 2)
        return found


def _tracked(
    tracks: list[list[float]],
    issued: list[list[list[float]]],
    errors: list[float],
    alphas: list[float],
    outward: list[int],
    h: int,
) -> None:
    """Go on with the trackers, and append what is issued after each step, by coverage."""
    H = len(issued[0])
    for s, e in enumerate(errors):
        least, most = -math.inf, -math.inf  # the ends of the next narrower interval
        for c in outward:
            known, level, below, above, inside, width, scored = tracks[c]
            found, alpha = issued[c], alphas[c]
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
                tracks[c] = [known, level, below, above, inside, width, scored]
            size = level if known > 0.0 else math.inf
            least, most = max(below * size, least), max(above * size, most)
            found.append([least, most])


def _apart(ends: Matrix, coverages: int) -> Matrix:
    """(..., C H, 2) as (..., H, C, 2)."""
    return np.swapaxes(ends.reshape(*ends.shape[:-2], coverages, -1, 2), -3, -2)


def summary(bands: Bands) -> tuple[Matrix, Matrix]:
    """(H, C): the share of outcomes inside, and the mean width."""
    track = bands.track.reshape(7, -1, len(bands.issued))
    scored = np.maximum(track[SCORED], 1.0)
    return (track[INSIDE] / scored).T, (track[WIDTH] / scored).T
