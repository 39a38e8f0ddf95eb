"""scikit-learn's habits, without scikit-learn: parameters by name, text, scores, tags.

scikit-learn asks an estimator what it is by methods, not by its parents: `clone`, pipelines,
searches and `check_estimator` take any class that has these.  It is imported by what
nobody but scikit-learn calls: `__sklearn_tags__` and metadata routing (routing.py).

>>> import noregret as nr
>>> nr.AAR(2.0, drift=0.1).set_params(prior_precision=3.0)
AAR(drift=0.1, prior_precision=3.0)
"""

from __future__ import annotations

import inspect
import warnings
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from noregret.declare.extras import loaded
from noregret.errors import NotLearnedError, ParameterError
from noregret.inputs.values import outcome_column, outcome_table
from noregret.learner.routing import Routed
from noregret.types import Outcomes, Table

if TYPE_CHECKING:
    from sklearn.utils import Tags

__all__ = ["Classifier", "Estimator", "Regressor", "not_fitted"]


def not_fitted(message: str) -> NotLearnedError:
    """The error for what only data can give; scikit-learn's NotFittedError too, where it is loaded.

    >>> raise not_fitted("call fit first")
    Traceback (most recent call last):
    noregret.learner.unfitted.NotFitted: call fit first
    """
    if loaded("sklearn.exceptions"):
        from noregret.learner.unfitted import NotFitted

        return NotFitted(message)
    return NotLearnedError(message)


class Estimator(Routed):
    """What `__init__` takes, by name."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """The parameters of `__init__`, sorted; the name is scikit-learn's."""
        if cls.__init__ is object.__init__:
            return []
        taken = inspect.signature(cls.__init__).parameters.values()
        return sorted(p.name for p in taken if p.name != "self" and p.kind != p.VAR_KEYWORD)

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: FBT001, FBT002  # as it is there
        """The parameters by name; with `deep` also those of what they hold, as name__inner."""
        found: dict[str, object] = {}
        for name in self._get_param_names():
            value = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                inner = value.get_params().items()
                found |= {f"{name}__{key}": held for key, held in inner}
            found[name] = value
        return found

    def set_params(self, **params: object) -> Self:
        """Set parameters by name, and those of what they hold by name__inner."""
        known = self.get_params(deep=True) if params else {}
        inner: dict[str, dict[str, object]] = {}
        for key, value in params.items():
            name, nested, rest = key.partition("__")
            if name not in known:
                raise ParameterError(
                    f"Invalid parameter {name!r} for estimator {self}. "
                    f"Valid parameters are: {self._get_param_names()!r}."
                )
            if nested:
                inner.setdefault(name, {})[rest] = value
            else:
                setattr(self, name, value)
                known[name] = value
        for name, chosen in inner.items():
            known[name].set_params(**chosen)
        return self

    def __repr__(self) -> str:
        from noregret.learner.shown import shown

        return shown(self)

    def _repr_html_(self) -> str | None:
        """For notebooks: scikit-learn's diagram where it is loaded, else None, which means text."""
        if not loaded("sklearn.base"):
            return None
        from sklearn.utils import estimator_html_repr

        diagram: str = estimator_html_repr(self)
        return diagram

    def __sklearn_tags__(self) -> object:  # scikit-learn is untyped
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=InputTags(sparse=True),
        )


class Regressor:
    """A learner of numbers, as scikit-learn sees it."""

    def score(self: Any, X: Table, y: Outcomes, sample_weight: Outcomes = None) -> float:
        """R^2 of the forecasts at X: 1 - sum (y - g)^2 / sum (y - mean)^2, at best 1.

        Several outcomes per round: the mean of theirs.
        """
        forecast = np.asarray(self.predict(X), dtype=np.float64)
        rows = len(forecast)
        truth, _ = outcome_table(y, rows)
        if rows < 2:
            warnings.warn("R^2 is not defined with fewer than two rows", stacklevel=2)
            return float("nan")
        w = np.ones(rows) if sample_weight is None else outcome_column(sample_weight, rows)
        w = w[:, None]
        left = (w * (truth - forecast.reshape(truth.shape)) ** 2).sum(axis=0)
        total = (w * (truth - (w * truth).sum(axis=0) / w.sum()) ** 2).sum(axis=0)
        share = np.divide(left, total, out=(left > 0.0).astype(float), where=total > 0.0)
        return float(np.mean(1.0 - share))

    def __sklearn_tags__(self) -> Tags:
        from sklearn.utils import RegressorTags

        tags = super().__sklearn_tags__()  # type: ignore[misc]  # Estimator has it
        tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        tags.target_tags.required = True
        return tags


class Classifier:
    """A learner of labels, as scikit-learn sees it."""

    def score(self: Any, X: Table, y: Outcomes, sample_weight: Outcomes = None) -> float:
        """The share of rows of X whose label is y."""
        right = np.asarray(self.predict(X)) == np.asarray(y)
        w = None if sample_weight is None else outcome_column(sample_weight, len(right))
        return float(np.average(right, weights=w))

    def __sklearn_tags__(self) -> object:
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()  # type: ignore[misc]  # Estimator has it
        tags.estimator_type = "classifier"
        tags.classifier_tags = ClassifierTags(multi_class=False)
        tags.target_tags.required = True
        return tags
