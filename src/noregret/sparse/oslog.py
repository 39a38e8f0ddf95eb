"""OSLOG as its users see it."""

from __future__ import annotations

from noregret._native.sparse import PASSES, WEIGHTS
from noregret.certificates import Certificate
from noregret.declare.fields import Group
from noregret.declare.parameters import positive
from noregret.inputs.spaces import FeatureSpace
from noregret.learner.base import OnlineLearner
from noregret.learner.estimator import Regressor
from noregret.sparse.path import ShrinkageReplay
from noregret.sparse.state import OSLOGState, sparsity
from noregret.types import Normal, Row, Vector

__all__ = ["OSLOG", "ShrinkageReplay"]


class OSLOG(Regressor, OnlineLearner[OSLOGState]):
    """Online shrinkage via the limit of Gibbs: sparse weights, one pass a round (Algorithm 1).

    Its published loss bound (Theorem 2) is false: one round with x = 1, y = -1, a = 1 has loss 4
    and bound 3.51, and there are streams with regret linear in T.  It is shown as a report; for a
    bound that is true take SafeOSLOG.

    Two traps.  A weight that reaches 0 stays 0, so a feature that is 0 in round 1 is dead for ever;
    and a weight that has shrunk needs many rounds to grow back.  `floor` avoids both: take it about
    1e-3 of the weights that you expect.  And with start = 1 the first forecast is the sum of the
    features.

    At n = 100 weights that nearly vanish amplify rounding: two correct implementations agree step
    by step, not over long streams.

    Cost: k^3/3 + 6 n^2 flops a round for k live weights of n, 2 n^2 numbers.

    Parameters
    ----------
    shrinkage : a > 0; the more, the sparser.
    passes : how often the last line of Algorithm 1 is done a round; math.inf: until the lasso's
        conditions for |y - Xw|^2 + 2a|w|_1 hold to 1e-9, reviving weights where they ask for it;
        where passes crawl, coordinate descent finishes.
    start : the weights before the first round.
    floor : D = diag(max(|w|, floor)); 0 is the paper's algorithm.
    noise_var : s^2 of the predictive distribution N(w'x, s^2 (1 + x'A^-1 x)), A = M + a D^-1.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 20))
    >>> y = 3.0 * X[:, 4] - 2.0 * X[:, 7] + 0.1 * rng.normal(size=300)
    >>> learner = OSLOG(shrinkage=5.0, start=0.05).fit(X, y)
    >>> learner.coef_[[4, 7]].round(1), learner.sparsity_
    (array([ 3., -2.]), 0.9)
    >>> print(learner.certificate().kind)
    report
    """

    STATE = Group("state", OSLOGState)
    _merge_refusal = (
        "its weights are the end of a path of passes, which another order would not have taken"
    )

    def __init__(
        self,
        shrinkage: float = 1.0,
        *,
        passes: float = 1,
        start: float = 1.0,
        floor: float = 0.0,
        noise_var: float = 1.0,
    ) -> None:
        self.shrinkage = shrinkage
        self.passes = passes
        self.start = start
        self.floor = floor
        self.noise_var = noise_var

    def _start(self, space: FeatureSpace) -> OSLOGState:
        settings = (self._checked(name) for name in ("shrinkage", "floor", "passes", "start"))
        return OSLOGState.start(space, *settings)

    def predictive(self, x: Row) -> Normal:
        """N(w'x, s^2 (1 + x'A^-1 x)): the posterior for a fixed D, with the corrected variance."""
        noise_var = self._checked("noise_var")
        with self._lock:
            state, vector = (self._state or self._start_row(x)).encoded(x)
            return Normal(state.predict_vector(vector), noise_var * state.spread(vector))

    # What was learned -----------------------------------------------------------------------

    @property
    def coef_(self) -> Vector:
        """The weights."""
        with self._lock:
            w: Vector = self._learned().state[WEIGHTS].copy()
            return w

    @property
    def sparsity_(self) -> float:
        """The share of weights below 1e-6 of the largest."""
        return sparsity(self.coef_)

    @property
    def dead_(self) -> int:
        """How many weights are exactly 0: without a floor they stay so."""
        return int((self.coef_ == 0.0).sum())

    @property
    def passes_(self) -> int:
        """The most passes that a round has taken."""
        with self._lock:
            return int(self._learned().book[PASSES, 1])

    def certificates(self, *, outcome_bound: float | None = None) -> list[Certificate]:
        """The published bound as a report, and the regret against the best ridge expert."""
        bound = None if outcome_bound is None else positive("outcome_bound", outcome_bound)
        with self._lock:
            return self._learned().certificates(bound)
