"""Intervals about any forecast that cover as often as they say, on any data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from noregret.learner.base import Learner
from noregret.types import Interval, Row, Table, Vector
from noregret.wrappers.banded import TrackedWrapper
from noregret.wrappers.tracked import TrackedState
from noregret.wrappers.tracking import Trackers

__all__ = ["Intervals"]


class Intervals(TrackedWrapper):
    """Intervals about the forecasts of any learner, or about somebody else's.

    Each end is a tracked quantile of the errors so far, in units of the learner's own spread where
    it has one: eight trackers of different scales and steps, merged on pinball loss, and a tracker
    last.  So the intervals as issued keep, on any data whatever,

        misses/T - (1 - coverage) = (r_low + r_high)/(0.02 T)

    where the r are the positions of the two last trackers: `certificate()` has both sides.  Before
    the first error is known intervals are infinite, and say so.  Several coverages stay nested.

    `predict_one` stays the learner's forecast.  With `nr.Lagged(learner, horizon=h)` inside, ends
    know what forecasts know, outcomes up to h rounds ago; late outcomes: `nr.Delayed(nr.Intervals(
    learner))`, whose tickets have an `interval`.

    Cost: that of the learner and 0.1 to 0.2 us per coverage in a replay, 0.5 us round by round; 680
    numbers per coverage, whatever the length of the stream.

    Parameters
    ----------
    learner : anything with predict_one and learn_one; it is copied.  None: forecasts come with x.
    coverage : how often intervals should cover, such as 0.9; or a list of several.
    forecast : where in x the forecast is, if there is no learner: a name, a position, or None where
        x is the forecast itself.

    >>> import numpy as np
    >>> import noregret as nr
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 3))
    >>> y = X @ [1.0, 2.0, 3.0] + rng.standard_t(3, size=2000)
    >>> learner = nr.Intervals(nr.AAR(), coverage=0.9)
    >>> print(learner.interval_one(X[0]))
    (-inf, inf): nothing is known yet
    >>> replay = learner.replay(X, y)
    >>> print(f"{replay.covered.mean():.3f}")
    0.900
    >>> low, high = learner.interval_one(X[0])
    >>> bool(low < learner.predict_one(X[0]) < high), learner.certificate().holds
    (True, True)
    """

    def __init__(
        self,
        learner: Learner | None = None,
        coverage: float | Sequence[float] = 0.9,
        *,
        forecast: object = None,
    ) -> None:
        self.learner = learner  # type: ignore[assignment]  # None: forecasts come with x
        self.coverage = coverage
        self.forecast = forecast

    def _trackers(self) -> tuple[Trackers, Vector, bool]:
        given = self._checked("coverage")
        alphas = [0.5 * (1.0 - c) for c in sorted(given, reverse=True)]
        levels = alphas + [1.0 - a for a in reversed(alphas)]
        trackers = Trackers.start(levels, alphas + alphas[::-1], windows=len(alphas))
        return trackers, np.array(given), isinstance(self.coverage, int | float)

    def interval_one(self, x: Row = None) -> Interval:
        """The interval at x; with several coverages its ends are arrays, in their order."""
        return _interval(*self._ends(x))

    def intervals(self, X: Table) -> Interval:
        """Intervals at every row, from what is known now; nothing is learned."""
        state, ends = self._ends_rows(X)
        low, high = state.bands(ends)
        return Interval(low[:, 0], high[:, 0]) if state.scalar else Interval(low, high)

    def _interval(self, ends: Vector) -> Interval:
        with self._lock:
            return _interval(self._state or self._begin(), ends)


def _interval(state: TrackedState, ends: Vector) -> Interval:
    low, high = state.bands(ends)
    return Interval(float(low[0]), float(high[0])) if state.scalar else Interval(low, high)
