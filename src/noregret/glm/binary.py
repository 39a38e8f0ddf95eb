"""What yes-or-no learners share: labels, probabilities, the account, scikit-learn's habits."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from noregret._ops import account
from noregret._ops.account import BOOK_ROWS, ROUNDS
from noregret.certificates import Certificate
from noregret.errors import FeatureError, OutcomeError
from noregret.gaussian.base import NotFitted
from noregret.glm.labels import classes_of, column, sign_of
from noregret.glm.posteriors import Posterior, Recursive
from noregret.inputs.spaces import plain, space_for_row, space_for_table
from noregret.inputs.values import as_frame
from noregret.learner.holder import Holder
from noregret.learner.replay import Replay, library_of
from noregret.types import Bernoulli, Matrix, Vector

__all__ = ["BinaryLearner", "PosteriorState"]

LARGEST = 1e100  # of a feature: squares then add up within float64
LABELS = frozenset((bool, int, float, np.bool_, np.int64, np.float64))
SIGNS = {0: -1.0, 1: 1.0}


@dataclass(frozen=True, slots=True, eq=False)
class PosteriorState:
    """What a yes-or-no learner has learned."""

    space: Any
    posterior: Any
    book: Matrix
    scatter: Matrix  # sum xx'
    classes: tuple[Any, Any]

    def copy(self) -> PosteriorState:
        """One that shares nothing with this one."""
        quick = type(self.posterior) is Recursive
        posterior = self.posterior.extended(0) if quick else copy.deepcopy(self.posterior)
        return replace(
            self, posterior=posterior, book=self.book.copy(), scatter=self.scatter.copy()
        )

    def extended(self, space: Any, make: Callable[[int], Posterior]) -> PosteriorState:
        """The same, or a larger copy where the space knows more features."""
        k = space.size - self.space.size
        if not k:
            return self
        posterior = self.posterior.extended(k) if self.rounds else make(space.size)
        scatter = np.zeros((space.size, space.size))
        scatter[: self.space.size, : self.space.size] = self.scatter
        return replace(
            self, space=space, posterior=posterior, scatter=scatter, book=self.book.copy()
        )

    @property
    def rounds(self) -> int:
        """How many rounds have been learned."""
        return int(self.book[ROUNDS, 0])

    def encode(self, x: Any, make: Callable[[int], Posterior]) -> tuple[PosteriorState, Vector]:
        """x by position, and a belief that knows all of its features."""
        vector, new, key = self.space.encode(x)[:3]
        belief = self
        if new.size:
            belief = self.extended(self.space.extended(key), make)
            vector = np.concatenate([vector, new])
        _within(vector)
        return belief, np.ascontiguousarray(vector)

    def sign(self, y: Any) -> float:
        """+1 for the positive class, -1 for the other."""
        return sign_of(y, self.classes)

    def learn(self, vector: Vector, sign: float) -> float:
        """Learn one round, in place; its log loss."""
        loss: float = self.posterior.learn(vector, sign, self.book, self.scatter)
        return loss


class BinaryLearner(ClassifierMixin, Holder):  # type: ignore[misc]  # scikit-learn is untyped
    """What all yes-or-no learners share; a child says which posterior it runs on."""

    _state: PosteriorState | None
    _alone = "its posterior is no Gaussian, so that what a round adds depends on those before"

    def _maker(self) -> Callable[[int], Posterior]:
        raise NotImplementedError

    def _begin(self, space: Any, classes: tuple[Any, Any] = (0, 1)) -> PosteriorState:
        n = space.size
        posterior = self._maker()(n)
        return PosteriorState(space, posterior, np.zeros((BOOK_ROWS, 2)), np.zeros((n, n)), classes)

    def _learned(self) -> PosteriorState:
        if self._state is None:
            raise NotFitted(
                f"this {type(self).__name__} has learned nothing yet: call learn_one or fit first"
            )
        return self._state

    # One round ------------------------------------------------------------------------------

    def predict_one(self, x: Any) -> float:
        """The probability of the positive class at x."""
        with self._lock:
            held: Any = self._state
            vector = _plain(held, x)
            if vector is not None:
                chance: float = held.posterior.predict_fast(vector)
                if chance == chance:
                    return chance
            belief, vector = (held or self._begin(space_for_row(x))).encode(x, self._maker())
            return float(belief.posterior.probability(vector))

    def predictive(self, x: Any) -> Bernoulli:
        """The forecast at x as a distribution over 0 and 1."""
        with self._lock:
            belief, vector = (self._state or self._begin(space_for_row(x))).encode(x, self._maker())
            return Bernoulli(
                belief.posterior.probability(vector), belief.posterior.log_odds(vector)
            )

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn that x had the label y."""
        with self._lock:
            held: Any = self._state
            vector = _plain(held, x) if type(y) in LABELS else None
            if vector is not None and held.classes == (0, 1) and y in SIGNS:
                loss = held.posterior.learn_fast(vector, SIGNS[y], held.book, held.scatter)
                if loss == loss:
                    return
            held = held or self._begin(space_for_row(x))
            sign = held.sign(y)
            belief, vector = held.encode(x, self._maker())
            belief.learn(vector, sign)
            self._state = belief

    # Many rounds ----------------------------------------------------------------------------

    def replay(self, X: Any, y: Any) -> Replay:
        """Predict-then-learn over all rows, as the loop over rounds would go."""
        with self._lock:
            return self._run(self._state, X, y)

    def _run(self, held: Any, X: Any, y: Any, classes: Any = None) -> Replay:
        X, labels = as_frame(X), column(y)
        if held is None:
            held = self._begin(space_for_table(X)[0], classes_of(labels, classes))
        xs, space, _ = held.space.encode_rows(X)
        if len(labels) != len(xs) or not labels:
            raise OutcomeError(f"y has {len(labels)} labels for {len(xs)} rows of X")
        _within(xs)
        belief = held.copy().extended(space, self._maker())
        signs = [belief.sign(label) for label in labels]
        chances, losses = np.empty(len(xs)), np.empty(len(xs))
        for t, (row, sign) in enumerate(zip(np.ascontiguousarray(xs), signs)):
            losses[t] = belief.learn(row, sign)
            p = math.exp(-losses[t])
            chances[t] = p if sign > 0.0 else -math.expm1(-losses[t])
        self._state = belief
        return Replay(
            forecast=chances,
            mean=None,
            spread=None,
            loss=losses,
            certificate=self._certificates(belief)[0],
            library=library_of(X),
        )

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn all rows, in order, on top of what was learned before."""
        with self._lock:
            self._run(self._state, X, y, classes)
        return self

    def predict_proba(self, X: Any) -> Matrix:
        """Probabilities of both classes at every row; nothing is learned."""
        p = self._chances(X)[0]
        return np.column_stack([1.0 - p, p])

    def predict(self, X: Any) -> Any:
        """The likelier class at every row."""
        p, classes = self._chances(X)
        return np.array(classes)[(p > 0.5).astype(int)]

    def _chances(self, X: Any) -> tuple[Vector, tuple[Any, Any]]:
        """Probabilities of the positive class at every row, and the two classes."""
        with self._lock:
            learned = self._learned()
            xs, space, _ = learned.space.encode_rows(X)
            _within(xs)
            belief = learned.extended(space, self._maker())
            p = np.array([belief.posterior.probability(row) for row in np.ascontiguousarray(xs)])
            return p, learned.classes

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags

    # What was learned -----------------------------------------------------------------------

    @property
    def classes_(self) -> Any:
        """The two labels, the positive one second."""
        return np.array(self._learned().classes)

    @property
    def coef_(self) -> Matrix:
        """The mean or the mode of the weights, as one row."""
        with self._lock:
            w: Vector = self._learned().posterior.weights()
            return w[None]

    @property
    def n_features_in_(self) -> int:
        """How many features have been seen."""
        return int(self._learned().space.size)

    @property
    def n_samples_seen_(self) -> int:
        """How many rounds have been learned."""
        return self._learned().rounds

    @property
    def log_loss_(self) -> float:
        """The cumulative log loss of the forecasts."""
        with self._lock:
            return float(self._learned().book[account.LOSS].sum())

    @property
    def brier_(self) -> float:
        """The cumulative Brier score, sum (label - p)^2."""
        with self._lock:
            return float(self._learned().book[account.BRIER].sum())

    def _certificates(self, belief: PosteriorState) -> list[Certificate]:
        raise NotImplementedError

    def certificates(self) -> list[Certificate]:
        """Every statement that applies, the main one first."""
        with self._lock:
            return self._certificates(self._learned())

    def certificate(self) -> Certificate:
        """The main certificate."""
        return self.certificates()[0]


def _plain(held: PosteriorState | None, x: Any) -> Any:
    """x as a vector if it is plain, all of it is known and the posterior is quick; else None."""
    if held is None or type(held.posterior) is not Recursive:
        return None
    return plain(held.space, x)


def _within(xs: Matrix) -> None:
    if xs.size and not np.abs(xs).max() <= LARGEST:
        worst = float(np.abs(xs).max())
        raise FeatureError(
            f"x has an entry of size {worst!r}: up to 1e100 can be taken; rescale it"
        )
