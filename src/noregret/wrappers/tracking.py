"""Trackers of quantiles: the state that intervals and quantiles share, in O(1) memory.

Compiled, see native/tracker.hpp: for every level, eight trackers of different scales and steps,
merged on pinball loss, and a tracker last.  Whatever the errors are, its position r says how often
an end was missed: misses - alpha T = (r - r_1)/eta.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self

import numpy as np

from noregret._native import tracker as at
from noregret.declare.fields import Array, require
from noregret.errors import NumericalError
from noregret.types import Matrix, Vector

__all__ = ["Trackers"]

MOST = 1000  # levels in a file
NOW = np.empty(0)  # "the ends that are issued now"


class Trackers:
    """Ends of errors at several levels, each missed as often as its level says.

    A round has a forecast and a root spread, the learner's own unit for that round (1 where it has
    none).  `issue` gives the end of every level, ascending; `learn` takes the outcome, and the ends
    that were issued if that was some rounds ago.

    Cost: about 40 ns per round and level; 86 numbers per level and 505 per window, for ever.

    >>> trackers = Trackers.start([0.05, 0.95], [0.05, 0.05], windows=1)
    >>> trackers.issue(10.0, 1.0)
    array([-inf,  inf])
    >>> for t in range(1000):
    ...     trackers.learn(10.0 + math.sin(t * t), 10.0, 1.0)
    >>> trackers.issue(10.0, 1.0).round(1), trackers.misses.tolist()
    (array([ 9., 11.]), [50.0, 50.0])
    """

    __slots__ = ("book", "ring", "scale", "track")

    FIELDS = (
        Array("scale", (at.SCALE_ROWS, at.LIVES)),
        Array("track", ("levels", at.TRACK_ROWS, at.TRACKERS)),
        Array("book", ("levels", at.BOOK_COLUMNS)),
        Array("ring", ("windows", at.RING)),
    )

    def __init__(self, scale: Matrix, track: Matrix, book: Matrix, ring: Matrix) -> None:
        self.scale, self.track, self.book, self.ring = scale, track, book, ring

    @classmethod
    def start(cls, levels: Sequence[float], alphas: Sequence[float], windows: int = 0) -> Self:
        """Trackers of these levels, ascending; each end may be missed at the rate alpha.

        Window c watches the levels c and -1 - c together.
        """
        from statistics import NormalDist  # which loads much that nobody else needs

        book = np.zeros((len(levels), at.BOOK_COLUMNS))
        track = np.zeros((len(levels), at.TRACK_ROWS, at.TRACKERS))
        book[:, at.LEVEL], book[:, at.ALPHA] = levels, alphas
        book[:, at.SIDE] = np.where(book[:, at.LEVEL] < 0.5, -1.0, 1.0)
        # 1.2 times what normal errors need, whose mean size is sqrt(2/pi) of their deviation
        start = [1.2 * math.sqrt(math.pi / 2) * NormalDist().inv_cdf(1.0 - a) for a in alphas]
        for column in (at.START, at.LOW, at.HIGH):
            book[:, column] = start
        track[:, at.THETA] = book[:, at.START, None]
        track[:, at.WEIGHT] = 1.0 / at.TRACKERS
        ring = np.zeros((windows, at.RING))
        return cls(np.zeros((at.SCALE_ROWS, at.LIVES)), track, book, ring)

    def stored(self) -> tuple[Matrix, ...]:
        """The values of FIELDS, without what the last look left behind."""
        track, book = self.track.copy(), self.book.copy()
        track[:, at.SAID] = 0.0
        book[:, at.OWN :] = 0.0
        return self.scale, track, book, self.ring

    @classmethod
    def restored(cls, scale: Matrix, track: Matrix, book: Matrix, ring: Matrix) -> Self:
        """The trackers of these values."""
        levels, alphas, place = book[:, at.LEVEL], book[:, at.ALPHA], ring[:, at.PLACE]
        require(1 <= len(levels) <= MOST, "has no levels, or too many")
        inside = bool(((levels > 0.0) & (levels < 1.0)).all() and (np.diff(levels) > 0.0).all())
        require(inside, "has levels that are not in order")
        require(bool(((alphas > 0.0) & (alphas <= 0.5)).all()), "has an invalid rate of misses")
        sides = np.where(levels < 0.5, -1.0, 1.0)
        require(np.array_equal(book[:, at.SIDE], sides), "has a level on the wrong side")
        require(2 * len(ring) <= len(levels), "has too many windows")
        whole = (place == np.floor(place)) & (place >= 0.0) & (place < at.LONG)
        require(bool(whole.all()), "has a window that ends nowhere")
        require(bool((scale[[at.SIZE, at.APART, at.COUNT]] >= 0.0).all()), "has invalid scales")
        require(bool((track[:, at.WEIGHT] >= 0.0).all()), "has a weight below 0")
        return cls(scale, track, book, ring)

    def copy(self) -> Self:
        """Trackers that share nothing with these."""
        return type(self)(*(part.copy() for part in self.arrays))

    @property
    def arrays(self) -> tuple[Matrix, Matrix, Matrix, Matrix]:
        """What compiled rounds work in."""
        return self.scale, self.track, self.book, self.ring

    @property
    def levels(self) -> Vector:
        """The levels, ascending."""
        return self.book[:, at.LEVEL]

    @property
    def rounds(self) -> int:
        """How many rounds have been learned."""
        return int(self.scale[at.COUNT, -1])

    @property
    def misses(self) -> Vector:
        """How often each end was missed."""
        return self.book[:, at.MISSES].copy()

    def issue(self, forecast: float, root: float) -> Vector:
        """The end of every level about a forecast, ascending; infinite before the first error."""
        ends = np.empty(len(self.book))
        at.issue(self.scale, self.track, self.book, forecast, root, ends)
        return ends

    def learn(self, y: float, forecast: float, root: float, ends: Vector = NOW) -> None:
        """Learn the outcome of a round; with its ends, if they were issued some rounds ago."""
        if not at.learn(*self.arrays, y, forecast, root, ends):
            raise too_far(y, forecast)

    def check(self, y: float, forecast: float, root: float) -> None:
        """Refuse what `learn` would refuse."""
        if not at.fits(self.scale, y - forecast, root):
            raise too_far(y, forecast)

    def replay(self, ys: Vector, forecasts: Vector, roots: Vector) -> Matrix:
        """Issue and learn, round after round: the ends, one row per round."""
        ends = np.empty((len(self.book), len(ys)))
        done = at.replay(*self.arrays, ys, forecasts, roots, ends)
        if done < len(ys):
            raise too_far(float(ys[done]), float(forecasts[done]))
        return ends.T


def too_far(y: float, forecast: float) -> NumericalError:
    """The error that names an outcome."""
    return NumericalError(
        f"y = {y!r}: its distance from the forecast {forecast!r} does not fit in float64 in units "
        "of the errors before; rescale the outcomes, or start anew"
    )
