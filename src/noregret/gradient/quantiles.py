"""Linear quantiles, learned directly by gradients."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from noregret.declare.fields import Group
from noregret.errors import FeatureError
from noregret.gradient.coins import CoinState
from noregret.inputs.spaces import FeatureSpace
from noregret.inputs.values import as_frame
from noregret.learner.base import OnlineLearner
from noregret.learner.estimator import Regressor
from noregret.learner.replay import BandReplay
from noregret.types import Matrix, Outcomes, Row, Table, Vector

__all__ = ["LinearQuantiles"]


class LinearQuantiles(Regressor, OnlineLearner[CoinState]):
    """Several quantiles of the outcome, each linear in x, in order by construction.

    Online quantile regression without a rate or a scale to choose: each weight is learned by
    betting on the slopes of the pinball loss.  For all weights u, whatever the data,

        pinball loss <= that of u + sum (stake - W) - u'G

    where the stake is the size of the first outcome, W what each weight's gambler has and G the sum
    of the slopes; `regret_bound(u)` is the difference.  It grows like |u_i| sqrt(sum g_i^2 ln) for
    each weight.  Forecasts scale with the outcomes, and do not change when a feature is measured in
    other units.  `nr.Quantiles` has quantiles about another learner's forecasts, with coverage.

    `predict_one` is the quantile whose level is nearest to 1/2.

    Cost: 48 logarithms per level and feature in a round, some 60 numbers of memory each.

    Parameters
    ----------
    levels : between 0 and 1, such as [0.1, 0.5, 0.9].
    fit_intercept : add the constant feature 1.

    >>> import numpy as np
    >>> import noregret as nr
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(3000, 2))
    >>> y = X @ [1.0, 2.0] * (1.0 + rng.exponential(size=3000))
    >>> learner = nr.LinearQuantiles([0.1, 0.5, 0.9])
    >>> said = learner.replay(X, y).quantiles
    >>> bool((np.abs((y[:, None] <= said).mean(axis=0) - [0.1, 0.5, 0.9]) < 0.03).all())
    True
    >>> learner.quantiles_one(X[0]).shape, learner.certificate().holds
    ((3,), True)
    """

    STATE = Group("state", CoinState)

    def __init__(
        self, levels: Sequence[float] = (0.1, 0.5, 0.9), *, fit_intercept: bool = True
    ) -> None:
        self.levels = levels
        self.fit_intercept = fit_intercept

    def _start(self, space: FeatureSpace) -> CoinState:
        levels, constant = sorted(self._checked("levels")), self._checked("fit_intercept")
        return CoinState.start(space, levels, constant=constant)

    def quantiles_one(self, x: Row = None) -> Vector:
        """The quantiles at x, ascending."""
        with self._lock:
            state, vector = (self._state or self._start_row(x)).encoded(x)
            return np.sort(state.quantiles_vector(vector)[0])

    def quantiles(self, X: Table) -> Matrix:
        """Quantiles at every row, one row each, from what is known now; nothing is learned."""
        X = as_frame(X)
        with self._lock:
            state, xs = self._learned()._in_space(X)
            return state.quantiles_rows(xs)

    def replay(self, X: Table, y: Outcomes) -> BandReplay:
        """Predict-then-learn over all rows; `quantiles` are those issued before each outcome."""
        found = self._run(X, y)
        assert isinstance(found, BandReplay)
        return found

    def regret_bound(self, coef: Sequence[float] | Vector, intercept: float = 0.0) -> Vector:
        """By level, the most by which the pinball loss so far can exceed that of these weights.

        Of the forecasts before they are put in order, which lowers the sum over all levels.
        """
        with self._lock:
            state = self._learned()
            weights = np.asarray(coef, dtype=np.float64)
            if weights.shape != (state.space.size,):
                raise FeatureError(
                    f"coef has shape {weights.shape}: this learner has {state.space.size} features"
                )
            constant = [intercept] if state.constant else []
            return state.price(np.concatenate([constant, weights]))
