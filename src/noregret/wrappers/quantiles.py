"""Several quantiles of the outcome, in order by construction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from noregret.learner.base import Learner
from noregret.types import Matrix, Row, Table, Vector
from noregret.wrappers.banded import TrackedWrapper
from noregret.wrappers.tracking import Trackers

__all__ = ["Quantiles"]


class Quantiles(TrackedWrapper):
    """Quantiles of the outcome about the forecasts of any learner, or somebody else's.

    Each is tracked as the ends of `nr.Intervals` are, so that it is exceeded as often as its level
    says, on any data; quantiles of one round never cross.  Before the first error is known they are
    infinite.

    Cost: that of the learner and about 0.07 us per level in a replay; 90 numbers per level.

    Parameters
    ----------
    learner : anything with predict_one and learn_one; it is copied.  None: forecasts come with x.
    levels : between 0 and 1, such as [0.1, 0.5, 0.9].
    forecast : where in x the forecast is, if there is no learner: a name, a position, or None where
        x is the forecast itself.

    >>> import numpy as np
    >>> import noregret as nr
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(3000, 2))
    >>> y = X @ [1.0, 2.0] + rng.exponential(size=3000)
    >>> learner = nr.Quantiles(nr.AAR(), levels=[0.1, 0.5, 0.9])
    >>> said = learner.replay(X, y).quantiles
    >>> (y[:, None] <= said).mean(axis=0).round(2)
    array([0.1, 0.5, 0.9])
    >>> learner.quantiles_one(X[0]).shape, learner.certificate().holds
    ((3,), True)
    """

    def __init__(
        self,
        learner: Learner | None = None,
        levels: Sequence[float] = (0.1, 0.5, 0.9),
        *,
        forecast: object = None,
    ) -> None:
        self.learner = learner  # type: ignore[assignment]  # None: forecasts come with x
        self.levels = levels
        self.forecast = forecast

    def _trackers(self) -> tuple[Trackers, Vector, bool]:
        levels = sorted(self._checked("levels"))
        alphas = [min(level, 1.0 - level) for level in levels]
        return Trackers.start(levels, alphas), np.empty(0), False

    def quantiles_one(self, x: Row = None) -> Vector:
        """The quantiles at x, ascending."""
        return self._ends(x)[1]

    def quantiles(self, X: Table) -> Matrix:
        """Quantiles at every row, one row each, from what is known now; nothing is learned."""
        return self._ends_rows(X)[1]
