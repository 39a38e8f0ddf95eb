"""SLOG: the fixed point of OSLOG's passes on a batch."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from noregret._ops import sparse as ops
from noregret._ops.sparse import MOMENT, STATE_ROWS, WEIGHTS
from noregret.errors import FeatureError, MergeError, ParameterError, abbreviated
from noregret.gaussian.base import NotFitted, positive
from noregret.inputs.spaces import Names, space_for_table
from noregret.inputs.values import outcome_column
from noregret.learner.saving import Saveable
from noregret.sparse.state import check_features, check_outcome, sparsity
from noregret.types import Vector

__all__ = ["SLOG"]


class SLOG(RegressorMixin, Saveable, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
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

    coef_: Vector
    intercept_: float
    n_iter_: int
    n_features_in_: int
    _fit: tuple[Any, Vector, float]  # what all forecasts are made from

    def __init__(self, shrinkage: float = 1.0, *, fit_intercept: bool = False) -> None:
        self.shrinkage = shrinkage
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any) -> Self:
        """Find the fixed point, from the ridge solution on."""
        a = positive("shrinkage", self.shrinkage)
        if not isinstance(self.fit_intercept, bool | np.bool_):
            raise ParameterError(
                f"fit_intercept = {abbreviated(self.fit_intercept)}: it must be True or False"
            )
        space, (xs, _) = space_for_table(X)
        ys = outcome_column(y, len(xs))
        check_features(xs)
        check_outcome(float(np.abs(ys).max()))
        centre = (xs.mean(axis=0), ys.mean()) if self.fit_intercept else (0.0, 0.0)
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
        self._keep(space, w, float(centre[1] - np.dot(w, np.broadcast_to(centre[0], n))), passes)
        return self

    def _keep(self, space: Any, w: Vector, intercept: float, passes: int) -> None:
        """Take over the result of a fit; other threads see the one before or this one."""
        kept = {"coef_": w, "intercept_": intercept, "n_iter_": passes, "n_features_in_": w.size}
        if isinstance(space, Names) and all(isinstance(name, str) for name in space.slots):
            kept["feature_names_in_"] = np.array(list(space.slots), dtype=object)
        else:
            self.__dict__.pop("feature_names_in_", None)
        self.__dict__.update(kept, _fit=(space, w, intercept))

    def predict(self, X: Any) -> Vector:
        """X w, plus the intercept."""
        if not hasattr(self, "_fit"):
            raise NotFitted("this SLOG has learned nothing yet: call fit first")
        known, w, intercept = self._fit
        xs, space, _ = known.encode_rows(X)
        if space.size != w.size:
            raise FeatureError(f"X has {space.size} features, SLOG has {w.size}")
        forecasts: Vector = xs @ w + intercept
        return forecasts

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def merge(self, other: Any) -> Self:  # noqa: ARG002  # as those that can merge have it
        """Refuse to merge, and say why."""
        raise MergeError("SLOG cannot be merged exactly: it keeps its weights, not the batch")

    @property
    def sparsity_(self) -> float:
        """The share of weights below 1e-6 of the largest."""
        return sparsity(self.coef_)
