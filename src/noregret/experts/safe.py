"""Learners without a guarantee beside one that has it, merged so that the guarantee stays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from noregret import losses
from noregret.certificates import Certificate
from noregret.declare.fields import Group, Mismatch
from noregret.experts.aggregating import PoolLearner
from noregret.experts.aggregation import Aggregation
from noregret.experts.members import Member
from noregret.experts.pool import Pool
from noregret.experts.state import PoolState
from noregret.gaussian.learners import AAR
from noregret.glm.labels import classes_of, column, sign_of
from noregret.glm.learners import BayesianLogistic, MAPLogistic
from noregret.inputs.values import as_frame
from noregret.learner.base import Learner
from noregret.learner.estimator import Classifier
from noregret.learner.replay import Replay
from noregret.learner.saving import revived
from noregret.losses import Game
from noregret.sparse import OSLOG
from noregret.types import Matrix, Outcome, Outcomes, Row, Table, Vector

__all__ = ["SafeLogistic", "SafeOSLOG"]

Labels = tuple[object, object]
"""The two labels of binary outcomes, the positive one second."""


class SafePool(PoolLearner):
    """A pool with experts of its own; its certificate goes all the way to the best regressor."""

    @property
    def experts(self) -> dict[str, Learner]:
        """The experts by name, as parameters make them."""
        raise NotImplementedError

    def _accept(self, state: PoolState) -> None:
        if not set(self.experts) <= set(state.members):
            raise Mismatch("lacks one of its experts")
        self._state = state

    def certificates(self) -> list[Certificate]:
        """Every statement that applies, the one against the best regressor in hindsight first."""
        with self._lock:
            return self._statements(self._learned())

    def _statements(self, state: PoolState) -> list[Certificate]:
        return sorted(state.certificates(), key=lambda c: not c.name.startswith("the pool"))

    def _told(self, replay: Replay) -> Replay:
        return replace(replay, certificate=self._statements(self._learned())[0])

    def certificate(self) -> Certificate:  # type: ignore[override]  # a pool takes no bounds
        """The main certificate: against the best regressor in hindsight."""
        return self.certificates()[0]


class SafeOSLOG(SafePool):
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

    def __init__(
        self,
        shrinkage: float = 1.0,
        prior_precision: float = 1.0,
        outcome_range: object = None,
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
    def experts(self) -> dict[str, Learner]:
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
        with self._lock:
            state = self._learned()
            leads = state.pool.weights()[list(state.members).index("OSLOG")] >= 0.5
            return float(state.members["OSLOG"].model.sparsity_) if leads else 0.0


class BinaryPoolState(PoolState):
    """A pool whose outcomes are two labels."""

    __slots__ = ("labels",)

    SCRATCH = ("fast", "labels")  # files keep the labels beside the state

    def __init__(
        self, members: dict[str, Member], pool: Pool, labels: Labels | None = (0, 1)
    ) -> None:
        super().__init__(members, pool)
        self.labels = labels  # None: those that the first table has

    def __reduce__(self) -> tuple[object, ...]:
        return revived, (type(self), self.members, self.pool, self.labels)

    def renew(self) -> None:
        """Nothing: labels are read in Python."""

    def copy(self) -> Self:
        """A state that shares nothing that changes with this one."""
        copied = super().copy()
        copied.labels = self.labels
        return copied

    def target(self, y: Outcome) -> float:
        """0 or 1 for the label."""
        return 0.5 + 0.5 * sign_of(y, self.labels or (0, 1))

    def targets(self, y: Outcomes, rounds: int) -> Vector:
        """0 or 1 for every label."""
        return super().targets(np.array([self.target(label) for label in column(y)]), rounds)

    def replay(self, X: Table, y: Outcomes, classes: Outcomes = None) -> tuple[Self, Aggregation]:
        """Predict-then-learn over rows, on a copy; the first rows may say what the labels are."""
        after = self.copy()
        after.labels = self.labels or classes_of(column(y), classes)
        return after, after.run(X, y)


class SafeLogistic(Classifier, SafePool):
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

    STATE = Group("state", BinaryPoolState)
    BESIDE = ("labels",)

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
    def experts(self) -> dict[str, Learner]:
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
        return losses.LOG

    # Labels ---------------------------------------------------------------------------------

    def _start_row(self, x: Row = None, y: Outcome = None) -> BinaryPoolState:
        state = super()._start_row(x, y)
        return BinaryPoolState(state.members, state.pool)

    def _start_table(self, X: Table, y: Outcomes) -> tuple[BinaryPoolState, Table]:
        state = self._start_row(X, y)
        state.labels = None
        return state, X

    @property
    def _labels(self) -> Labels:
        """The two labels; the caller holds the lock."""
        return getattr(self._state, "labels", None) or (0, 1)

    def _accept(self, state: PoolState, labels: object = None) -> None:
        super()._accept(state)
        if not isinstance(labels, tuple) or len(labels) != 2:
            raise Mismatch("has labels that are not two")
        self._state = BinaryPoolState(state.members, state.pool, labels)

    @property
    def classes_(self) -> npt.NDArray[np.generic]:
        """The two labels, the positive one second."""
        with self._lock:
            self._learned()
            return np.array(self._labels)

    def partial_fit(self, X: Table, y: Outcomes, classes: Outcomes = None) -> Self:
        """Learn all rows, in order, on top of what was learned before."""
        self._run(X, y, classes=classes)
        return self

    def predict_proba(self, X: Table) -> Matrix:
        """Probabilities of both classes at every row; nothing is learned."""
        p = super().predict(X)
        return np.column_stack([1.0 - p, p])

    def predict(self, X: Table) -> Any:
        """The likelier class at every row."""
        with self._lock:
            p, labels = self._learned().predict_rows(as_frame(X)), np.array(self._labels)
        return labels[(p > 0.5).astype(int)]
