"""Learners without a guarantee beside one that has it, merged so that the guarantee stays."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from noregret import losses
from noregret.certificates import Certificate
from noregret.experts.aggregating import PoolLearner
from noregret.experts.aggregation import Aggregation
from noregret.gaussian.learners import AAR
from noregret.glm.labels import classes_of, column, sign_of
from noregret.glm.learners import BayesianLogistic, MAPLogistic
from noregret.losses import Game
from noregret.sparse import OSLOG
from noregret.types import Matrix

__all__ = ["SafeLogistic", "SafeOSLOG"]


class SafeOSLOG(PoolLearner):
    """OSLOG beside AAR: as sparse as OSLOG where it wins, within (hi-lo)^2/2 ln 2 of AAR's bound.

    On any data with |y| <= Y (2 Y^2 ln 2 when outcome_range = Y)

        sum (y - g)^2 <= min_w (L(w) + a|w|^2) + Y^2 ln det(I + X'X/a) + (hi-lo)^2/2 ln 2

    which OSLOG's own theorem claims in vain.

    Cost: that of OSLOG and of AAR.

    Parameters
    ----------
    shrinkage : OSLOG's a.
    prior_precision : AAR's a.
    outcome_range : Y for [-Y, Y], a pair (lo, hi), or None: learned; then what rounds beyond the
        range cost is added.
    start, floor : OSLOG's.

    >>> import numpy as np
    >>> learner = SafeOSLOG(outcome_range=1.0)
    >>> for t in range(100):                # OSLOG loses 1 in every later round
    ...     learner.learn_one(np.array([1.0]), float(t > 0))
    >>> print(learner.certificate())
    the pool and Busuttil-Kalnishkan Theorem 1: holds after 100 rounds [upper bound]
      ...
    >>> {name: round(weight, 2) for name, weight in learner.weights_.items()}
    {'OSLOG': 0.0, 'AAR': 1.0}
    """

    prior = None

    def __init__(
        self,
        shrinkage: float = 1.0,
        prior_precision: float = 1.0,
        outcome_range: Any = None,
        *,
        start: float = 1.0,
        floor: float = 0.0,
    ) -> None:
        self.shrinkage = shrinkage
        self.prior_precision = prior_precision
        self.outcome_range = outcome_range
        self.start = start
        self.floor = floor

    @property
    def experts(self) -> dict[str, Any]:
        """OSLOG and AAR."""
        return {
            "OSLOG": OSLOG(self.shrinkage, start=self.start, floor=self.floor),
            "AAR": AAR(self.prior_precision),
        }

    def _game(self) -> Game:
        return losses.game("square", self.outcome_range)

    @property
    def sparsity_(self) -> float:
        """The share of negligible weights of OSLOG where it has most weight; else 0."""
        leads = self.weights_["OSLOG"] >= 0.5
        return float(self.experts_["OSLOG"].sparsity_) if leads else 0.0

    def certificates(self) -> list[Certificate]:
        """Every statement that applies, the one against the best regressor first."""
        return _chain_first(super().certificates())

    def certificate(self) -> Certificate:
        """The main certificate: against the best regressor in hindsight."""
        return self.certificates()[0]


class SafeLogistic(ClassifierMixin, PoolLearner):  # type: ignore[misc]  # scikit-learn is untyped
    """An approximation to Bayesian averaging beside exact MAP, under the Bayesian Algorithm.

    Whatever the approximation does, on any labels (nu^2 = prior_var, Z the largest |x|)

        log loss <= (1 + nu^2 Z^2 min(1, 0.4074 exp(nu^2 Z^2))) min_w (L(w) + |w|^2/(2 nu^2)) + ln 2

    and within ln 2 of the approximation itself.

    Cost: that of both; exact MAP keeps the history.

    Parameters
    ----------
    prior_var : nu^2 of both.
    method : of BayesianLogistic.
    particles, seed, horizon : of BayesianLogistic.

    >>> learner = SafeLogistic(prior_var=0.25, method="adf")
    >>> for t in range(40):
    ...     learner.learn_one({"one": 1.0, "late": t / 40.0}, float(t >= 20))
    >>> round(learner.predict_one({"one": 1.0, "late": 1.0}), 2)
    0.65
    >>> certificate = learner.certificate()
    >>> certificate.name, certificate.holds
    ('the pool and MAP, (1 + nu^2 Z^2) min F', True)
    """

    prior = None

    def __init__(
        self,
        prior_var: float = 0.25,
        *,
        method: str = "auto",
        particles: int = 1000,
        seed: int = 0,
        horizon: int | None = None,
    ) -> None:
        self.prior_var = prior_var
        self.method = method
        self.particles = particles
        self.seed = seed
        self.horizon = horizon

    @property
    def experts(self) -> dict[str, Any]:
        """The approximation and exact MAP."""
        average = BayesianLogistic(
            self.prior_var,
            method=self.method,
            particles=self.particles,
            seed=self.seed,
            horizon=self.horizon,
        )
        return {"averaging": average, "MAP": MAPLogistic(self.prior_var)}

    def _game(self) -> Game:
        return losses.game("log", None)

    # Labels ---------------------------------------------------------------------------------

    @property
    def _labels(self) -> tuple[Any, Any]:
        labels: tuple[Any, Any] = self.__dict__.get("_classes", (0, 1))
        return labels

    @property
    def classes_(self) -> Any:
        """The two labels, the positive one second."""
        with self._lock:
            self._learned()
            return np.array(self._labels)

    def _outcome(self, y: Any) -> float:
        return 0.5 + 0.5 * sign_of(y, self._labels)

    def _run(self, held: Any, X: Any, y: Any, classes: Any = None) -> Aggregation:
        given = column(y)
        labels = self._labels if held is not None else classes_of(given, classes)
        numbers = np.array([0.5 + 0.5 * sign_of(label, labels) for label in given])
        found = super()._run(held, X, numbers)
        self._classes = labels
        return found

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn all rows, in order, on top of what was learned before."""
        with self._lock:
            self._run(self._state, X, y, classes)
        return self

    def predict_proba(self, X: Any) -> Matrix:
        """Probabilities of both classes at every row; nothing is learned."""
        with self._lock:
            p = self._forecasts(X)
        return np.column_stack([1.0 - p, p])

    def predict(self, X: Any) -> Any:
        """The likelier class at every row."""
        with self._lock:
            p, labels = self._forecasts(X), np.array(self._labels)
        return labels[(p > 0.5).astype(int)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _beside(self) -> dict[str, Any]:
        return {"classes": self._labels}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._classes = state["classes"]

    def certificates(self) -> list[Certificate]:
        """Every statement that applies, the one against the best weights in hindsight first."""
        return _chain_first(super().certificates())

    def certificate(self) -> Certificate:
        """The main certificate: against the best weights in hindsight."""
        return self.certificates()[0]


def _chain_first(found: list[Certificate]) -> list[Certificate]:
    """The certificate that goes all the way to the best regressor before the others."""
    return sorted(found, key=lambda c: not c.name.startswith("the pool"))
