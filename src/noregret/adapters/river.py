"""Learners as River's regressors and classifiers: pipelines, progressive validation, ensembles.

Any River model is an expert of `AggregatingAlgorithm` as it is; this is the other way round.

>>> from river import preprocessing
>>> import noregret as nr
>>> model = preprocessing.StandardScaler() | RiverRegressor(nr.AAR())
>>> for x, y in [({"heat": 20.0}, 3.0), ({"heat": 10.0}, 1.0), ({"heat": 30.0}, 5.0)]:
...     model.learn_one(x, y)
>>> model["RiverRegressor"].certificate().holds
True
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

try:
    from river import base, proba
    from sklearn.base import clone
except ImportError as absent:
    from noregret.declare.extras import lacking

    raise lacking(absent.name or "river", "noregret.adapters.river") from None

from noregret.certificates import Certificate
from noregret.declare.extras import module
from noregret.errors import OutcomeError
from noregret.gaussian.learners import AAR
from noregret.glm.labels import label_of
from noregret.glm.learners import ImproperLogistic
from noregret.inputs.values import abbreviated
from noregret.learner.base import Learner
from noregret.types import Outcome, Outcomes

__all__ = ["RiverClassifier", "RiverRegressor"]


Named = dict[Any, Any]
"""A row as River has it."""
Frame = Any  # of pandas
Label = Any  # a number, a word, True or False


class _Adapter:
    """What both share: the learner as it was given, and a copy of it that learns."""

    def __init__(self, learner: Learner) -> None:
        self.learner = learner  # River clones parameters: this one never learns
        self.model = clone(learner)

    def certificate(self) -> Certificate:
        """The learner's main certificate."""
        found: Certificate = self.model.certificate()
        return found

    def certificates(self) -> list[Certificate]:
        """Every statement that applies, the main one first."""
        found: list[Certificate] = self.model.certificates()
        return found

    def _fitted(self) -> bool:
        return bool(getattr(self.model, "__sklearn_is_fitted__", lambda: True)())

    def _rows(self, X: Frame) -> list[Named]:
        rows: list[Named] = X.to_dict(orient="records")
        return rows


class RiverRegressor(_Adapter, base.MiniBatchRegressor):
    """A noregret learner as a River regressor.

    `model` is the learner that learns, with its certificates; `learner` stays as it was given.
    The cost is that of the learner and a call.

    Parameters
    ----------
    learner : any learner of numbers: nr.AAR(), nr.BayesianRidge(drift=0.01), nr.Auto(), ...

    >>> import noregret as nr
    >>> model = RiverRegressor(nr.BayesianRidge())
    >>> model.learn_one({"heat": 1.0}, 3.0)
    >>> model.predict_one({"heat": 1.0})
    1.5
    >>> model.predict_one({"heat": 1.0}, with_dist=True).mu
    1.5
    """

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Learner]]:
        yield {"learner": AAR()}

    def learn_one(self, x: Named, y: Outcome) -> None:
        """Learn one round."""
        self.model.learn_one(x, y)

    def predict_one(self, x: Named, with_dist: bool = False) -> Any:  # noqa: FBT001, FBT002  # River's
        """Forecast; with `with_dist` River's Gaussian, of learners that have a distribution."""
        if not with_dist:
            return self.model.predict_one(x)
        if not hasattr(self.model, "predictive"):
            raise NotImplementedError(
                f"{type(self.model).__name__} has no predictive distribution: take BayesianRidge"
            )
        normal = self.model.predictive(x)
        return proba.Gaussian._from_state(n=1, m=normal.mean, var=normal.var, ddof=0)

    def learn_many(self, X: Frame, y: Outcomes) -> None:
        """Learn all rows of a frame, in order."""
        self.model.partial_fit(X, y)

    def predict_many(self, X: Frame) -> Any:
        """Forecasts at all rows of a frame, as a Series with its index."""
        if self._fitted():
            found = self.model.predict(X)
        else:
            found = [self.model.predict_one(x) for x in self._rows(X)]
        return module("pandas", "predict_many").Series(found, index=X.index)


class RiverClassifier(_Adapter, base.MiniBatchClassifier):
    """A learner of binary outcomes as a River classifier of two classes.

    Labels are False and True (or 0 and 1), or any two: the first that comes is the negative one.

    Parameters
    ----------
    learner : nr.ImproperLogistic(), nr.BayesianLogistic(method="adf"), nr.MAPLogistic(), ...

    >>> import noregret as nr
    >>> model = RiverClassifier(nr.BayesianLogistic(method="adf"))
    >>> model.learn_one({"heat": 1.0}, True)
    >>> {label: round(p, 3) for label, p in model.predict_proba_one({"heat": 1.0}).items()}
    {False: 0.413, True: 0.587}
    """

    def __init__(self, learner: Learner) -> None:
        super().__init__(learner)
        self.labels: list[Label] = []

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Learner]]:
        yield {"learner": ImproperLogistic()}

    @property
    def _multiclass(self) -> bool:
        return False

    def _labels_with(self, y: Outcome, labels: list[Label]) -> list[Label]:
        """The labels, once y is among them."""
        label = label_of(y)
        if label is None:
            raise OutcomeError(
                f"y = {abbreviated(y)}: a label is a number or a word; leave out rounds without one"
            )
        if not labels and label in (0, 1):
            return [False, True]
        if label in labels:
            return labels
        if len(labels) == 2:
            raise OutcomeError(
                f"y = {abbreviated(y)}: the labels are {labels[0]!r} and {labels[1]!r}, give one"
            )
        return [*labels, label]

    def learn_one(self, x: Named, y: Outcome) -> None:
        """Learn one round."""
        labels = self._labels_with(y, self.labels)
        self.model.learn_one(x, labels.index(y))
        self.labels = labels

    def predict_proba_one(self, x: Named, **_: object) -> dict[Label, float]:
        """The probabilities of both labels; of one alone while no other has been seen."""
        labels = self.labels
        if len(labels) == 1:
            return {labels[0]: 1.0}
        p = self.model.predict_one(x)
        no, yes = labels or (False, True)
        return {no: 1.0 - p, yes: p}

    def learn_many(self, X: Frame, y: Iterable[Label]) -> None:
        """Learn all rows of a frame, in order."""
        labels, numbers = self.labels, []
        for label in y:
            labels = self._labels_with(label, labels)
            numbers.append(labels.index(label))
        self.model.partial_fit(X, numbers)
        self.labels = labels

    def predict_proba_many(self, X: Frame) -> Any:
        """The probabilities of both labels at all rows of a frame."""
        rows = [self.predict_proba_one(x) for x in self._rows(X)]
        return module("pandas", "predict_proba_many").DataFrame(rows, index=X.index)

    def predict_many(self, X: Frame) -> Any:
        """The likelier label at all rows of a frame."""
        found = [self.predict_one(x) for x in self._rows(X)]
        return module("pandas", "predict_many").Series(found, index=X.index)
