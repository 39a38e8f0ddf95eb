"""SLOG: the fixed point of OSLOG's passes on a batch."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np

from noregret._native import sparse as ops
from noregret._native.sparse import MOMENT, STATE_ROWS, WEIGHTS
from noregret.declare.fields import Array, Count, Group, Part, Real
from noregret.declare.parameters import POSITIVE, Parameter
from noregret.errors import FeatureError
from noregret.inputs.spaces import FeatureSpace, space_for_table
from noregret.inputs.values import outcome_column
from noregret.learner.base import Stateful
from noregret.learner.estimator import Regressor
from noregret.sparse.state import check_features, check_outcome, sparsity
from noregret.types import Outcomes, Table, Vector

__all__ = ["SLOG", "SLOGState"]


class SLOGState:
    """What SLOG found; it never changes."""

    __slots__ = ("coef", "intercept", "n_iter", "space")

    FIELDS = (
        Part("door", ("Positions", "Names"), of="space", size="n"),
        Array("coef", ("n",)),
        Real("intercept"),
        Count("n_iter"),
    )

    def __init__(self, space: FeatureSpace, coef: Vector, intercept: float, n_iter: int) -> None:
        self.space, self.coef, self.intercept, self.n_iter = space, coef, intercept, n_iter

    def copy(self) -> Self:
        """One that shares nothing with this one."""
        return type(self)(self.space, self.coef.copy(), self.intercept, self.n_iter)

    def predict_rows(self, X: Table) -> Vector:
        """X w, plus the intercept."""
        xs, space, _ = self.space.encode_rows(X)
        if space.size != self.space.size:
            raise FeatureError(f"X has {space.size} features, SLOG has {self.space.size}")
        forecasts: Vector = xs @ self.coef + self.intercept
        return forecasts


class SLOG(Regressor, Stateful[SLOGState]):
    """Shrinkage via the limit of Gibbs on a batch: the fixed point itself, which is the lasso.

    Makes |y - Xw|^2 + 2a|w|_1 least, a = `shrinkage`: scikit-learn's Lasso with alpha = a/T.

    Parameters
    ----------
    shrinkage : a > 0.
    fit_intercept : centre X and y first; the intercept is not penalised.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> model = SLOG(shrinkage=20.0).fit(X, X @ [2.0, 0.0, 0.0, -1.0, 0.0])
    >>> model.coef_.round(2)
    array([ 1.79,  0.  ,  0.  , -0.89,  0.  ])
    """

    STATE = Group("state", SLOGState)
    _merge_refusal = "it keeps its weights, not the batch"
    _parameters: ClassVar[Mapping[str, Parameter]] = {
        "shrinkage": Parameter(POSITIVE, "a > 0: the more, the sparser")
    }

    def __init__(self, shrinkage: float = 1.0, *, fit_intercept: bool = False) -> None:
        self.shrinkage = shrinkage
        self.fit_intercept = fit_intercept

    def fit(self, X: Table, y: Outcomes) -> Self:
        """Find the fixed point, from the ridge solution on."""
        a, centred = self._checked("shrinkage"), self._checked("fit_intercept")
        space, (xs, _) = space_for_table(X)
        ys = outcome_column(y, len(xs))
        check_features(xs)
        check_outcome(float(np.abs(ys).max()))
        centre = (xs.mean(axis=0), ys.mean()) if centred else (0.0, 0.0)
        F, v = xs - centre[0], ys - centre[1]
        n = F.shape[1]
        gram, state = F.T @ F, np.zeros((STATE_ROWS, n))
        state[MOMENT] = F.T @ v
        unit = 1.0 / np.sqrt(np.diagonal(gram) + a)  # columns may be of any size
        lot = unit[:, None] * (gram + a * np.eye(n)) * unit
        state[WEIGHTS] = unit * np.linalg.lstsq(lot, unit * state[MOMENT])[0]
        passes = int(ops.refine(gram, state, np.zeros((n, n)), a, 0.0, math.inf))
        w: Vector = state[WEIGHTS].copy()
        w[np.abs(w) * np.diagonal(gram) <= ops.LIVE * a] = 0.0
        intercept = float(centre[1] - np.dot(w, np.broadcast_to(centre[0], n)))
        with self._lock:
            self._state = SLOGState(space, w, intercept, passes)
        return self

    # What was learned: one state, which never changes, so that no lock is needed ---------------

    @property
    def coef_(self) -> Vector:
        """The weights."""
        return self._learned().coef

    @property
    def intercept_(self) -> float:
        """What is added to x'w."""
        return self._learned().intercept

    @property
    def n_iter_(self) -> int:
        """How many passes it took."""
        return self._learned().n_iter

    @property
    def sparsity_(self) -> float:
        """The share of weights below 1e-6 of the largest."""
        return sparsity(self.coef_)
