"""The usual picks of other libraries, as learners that prove nothing."""

from __future__ import annotations

import math
from importlib.util import find_spec

import numpy as np

from noregret.certificates import Certificate
from noregret.inputs import values as features
from noregret.learner.replay import Replay
from noregret.types import Matrix, Outcome, Outcomes, Row, Table

__all__ = ["peers"]


class Peer:
    """A model of another library: predict_one and learn_one from mappings, and a loop."""

    def __init__(self, *, binary: bool) -> None:
        self.binary, self.rounds, self.loss = binary, 0, 0.0

    def predict_one(self, x: Row) -> float:
        """The forecast."""
        raise NotImplementedError

    def learn_one(self, x: Row, y: Outcome) -> None:
        """Learn one round."""
        raise NotImplementedError

    def replay(self, X: Table, y: Outcomes) -> Replay:
        """Predict, then learn, row by row."""
        xs, names = features.table(X)
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
    chance = min(max(p if y else 1.0 - p, 1e-15), 1.0)
    return -math.log(chance)


class River(Peer):
    """A scaler and a linear model trained by gradient steps."""

    def __init__(self, *, binary: bool) -> None:
        super().__init__(binary=binary)
        from river import linear_model, preprocessing

        kind = linear_model.LogisticRegression if binary else linear_model.LinearRegression
        self.model = preprocessing.StandardScaler() | kind()

    def predict_one(self, x: Row) -> float:
        """The forecast, or the probability of 1."""
        assert isinstance(x, dict)
        if self.binary:
            return float(self.model.predict_proba_one(x).get(True, 0.5))
        return float(self.model.predict_one(x))

    def learn_one(self, x: Row, y: Outcome) -> None:
        """One gradient step."""
        assert isinstance(x, dict)
        self.model.learn_one(x, bool(y) if self.binary else y)


class Sklearn(Peer):
    """A scaler and SGD; its features are those of the first round, as it cannot grow."""

    def __init__(self, *, binary: bool) -> None:
        super().__init__(binary=binary)
        from sklearn.linear_model import SGDClassifier, SGDRegressor
        from sklearn.preprocessing import StandardScaler

        self.scaler = StandardScaler()
        self.model = SGDClassifier(loss="log_loss") if binary else SGDRegressor()
        self.names: list[str] | None = None

    def _row(self, x: Row) -> Matrix:
        assert isinstance(x, dict)
        self.names = self.names or list(x)
        return np.array([[x.get(name, 0.0) for name in self.names]])

    def predict_one(self, x: Row) -> float:
        """The forecast, or the probability of 1."""
        row = self._row(x)
        if not hasattr(self.model, "coef_"):
            return 0.5 if self.binary else 0.0
        scaled = self.scaler.transform(row)
        if self.binary:
            return float(self.model.predict_proba(scaled)[0, 1])
        return float(self.model.predict(scaled)[0])

    def learn_one(self, x: Row, y: Outcome) -> None:
        """One gradient step."""
        row = self._row(x)
        scaled = self.scaler.partial_fit(row).transform(row)
        self.model.partial_fit(scaled, [y], **({"classes": [0, 1]} if self.binary else {}))


def peers(*, binary: bool) -> dict[str, Peer]:
    """Those that are installed."""
    found: dict[str, Peer] = {"scikit-learn: scaler, SGD": Sklearn(binary=binary)}
    if find_spec("river") is not None:
        found["river: scaler, SGD"] = River(binary=binary)
    return found
