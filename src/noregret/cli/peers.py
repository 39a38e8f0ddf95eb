"""The usual picks of other libraries, as learners that prove nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

from noregret.certificates import Certificate
from noregret.inputs.values import table
from noregret.learner.replay import Replay
from noregret.types import Matrix, Outcome, Outcomes, Row, Table

__all__ = ["peers"]

Named = dict[str, float]


class Peer:
    """A model of another library, of which nothing is proved: a loop over its rounds."""

    def __init__(
        self, predict: Callable[[Named], float], learn: Callable[[Named, float], object]
    ) -> None:
        self.predict, self.learn = predict, learn
        self.binary, self.rounds, self.loss = False, 0, 0.0

    def predict_one(self, x: Row) -> float:
        """The forecast, or the probability of 1."""
        assert isinstance(x, dict)
        return float(self.predict(x))

    def learn_one(self, x: Row, y: Outcome) -> None:
        """One gradient step."""
        assert isinstance(x, dict)
        assert isinstance(y, float)
        self.learn(x, y)

    def replay(self, X: Table, y: Outcomes) -> Replay:
        """Predict, then learn, row by row."""
        xs, names = table(X)
        keys = names if names is not None else [str(k) for k in range(xs.shape[1])]
        forecasts, losses = np.empty(len(xs)), np.empty(len(xs))
        for t, (row, outcome) in enumerate(zip(xs.tolist(), np.asarray(y).tolist())):
            x = dict(zip(keys, row))
            forecasts[t] = g = self.predict_one(x)
            losses[t] = _log_loss(g, outcome) if self.binary else (outcome - g) ** 2
            self.learn_one(x, outcome)
        self.rounds += len(losses)
        self.loss += float(losses.sum())
        return Replay(
            forecast=forecasts, mean=None, spread=None, loss=losses, certificate=self.certificate()
        )

    def certificates(self) -> list[Certificate]:
        """None: nothing is proved."""
        return []

    def certificate(self) -> Certificate:
        """A report of the loss."""
        return Certificate(
            "no theorem", "report", self.rounds, self.loss, math.nan, None, "nothing is proved", ()
        )


def _log_loss(p: float, y: float) -> float:
    return -math.log(min(max(p if y else 1.0 - p, 1e-15), 1.0))


def river(*, binary: bool) -> Peer:
    """River's scaler and linear model, trained by gradient steps."""
    from river import linear_model, preprocessing

    if not binary:
        regression = preprocessing.StandardScaler() | linear_model.LinearRegression()
        return Peer(regression.predict_one, regression.learn_one)
    model = preprocessing.StandardScaler() | linear_model.LogisticRegression()
    return Peer(
        lambda x: model.predict_proba_one(x).get(True, 0.5),
        lambda x, y: model.learn_one(x, bool(y)),
    )


def sklearn(*, binary: bool) -> Peer:
    """Scikit-learn's scaler and SGD; its features are those of the first round: it cannot grow."""
    from sklearn.linear_model import SGDClassifier, SGDRegressor
    from sklearn.preprocessing import StandardScaler

    scaler, names = StandardScaler(), list[str]()
    model = SGDClassifier(loss="log_loss") if binary else SGDRegressor()
    classes = {"classes": [0, 1]} if binary else {}

    def row(x: Named) -> Matrix:
        if not names:
            names.extend(x)
        return np.array([[x.get(name, 0.0) for name in names]])

    def predict(x: Named) -> float:
        xs = row(x)
        if not hasattr(model, "coef_"):
            return 0.5 if binary else 0.0
        scaled = scaler.transform(xs)
        return float(model.predict_proba(scaled)[0, 1] if binary else model.predict(scaled)[0])

    def learn(x: Named, y: float) -> None:
        xs = row(x)
        model.partial_fit(scaler.partial_fit(xs).transform(xs), [y], **classes)

    return Peer(predict, learn)


def peers(*, binary: bool) -> dict[str, Peer]:
    """Those that are installed."""
    found = {}
    if find_spec("sklearn") is not None:
        found["scikit-learn: scaler, SGD"] = sklearn(binary=binary)
    if find_spec("river") is not None:
        found["river: scaler, SGD"] = river(binary=binary)
    for peer in found.values():
        peer.binary = binary
    return found
