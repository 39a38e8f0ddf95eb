"""What binary learners share: labels, probabilities, the account, scikit-learn's habits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from noregret._native import account
from noregret._native.account import BOOK_ROWS, ROUNDS
from noregret._native.rows import Rounds
from noregret.certificates import Certificate
from noregret.declare.fields import LARGEST_COUNT, Array, Mismatch, Part, Value
from noregret.errors import FeatureError
from noregret.glm import theorems
from noregret.glm.labels import classes_of, column, sign_of
from noregret.glm.posteriors import LARGEST, Posterior
from noregret.inputs.spaces import FeatureSpace, Names, Positions, space_for_row
from noregret.inputs.values import as_frame
from noregret.learner.base import OnlineLearner
from noregret.learner.estimator import Classifier
from noregret.learner.replay import Replay
from noregret.learner.state import VectorState
from noregret.types import Bernoulli, Labels, Matrix, Outcome, Outcomes, Row, Table, Vector

__all__ = ["BinaryLearner", "PosteriorState"]

POSTERIORS = ("Recursive", "Mode", "TierneyKadane", "Exact", "Particles")


@dataclass(slots=True, eq=False)
class PosteriorState(VectorState):
    """What a binary learner has learned."""

    FIELDS = (
        Part("door", ("Positions", "Names"), of="space", size="n"),
        Value("classes"),
        Part("engine", POSTERIORS, of="posterior"),
        Array("book", (BOOK_ROWS, 2), finite=False),
        Array("scatter", ("n", "n")),
    )

    space: FeatureSpace
    classes: tuple[object, object]  # the two labels, the positive one second
    posterior: Posterior
    book: Matrix
    scatter: Matrix  # sum xx'

    @classmethod
    def restored(
        cls, *values: *tuple[FeatureSpace, tuple[object, object], Posterior, Matrix, Matrix]
    ) -> PosteriorState:
        """The state of these values."""
        state = cls(*values)
        n, posterior = state.space.size, state.posterior
        if type(state.classes) is not tuple or len(state.classes) != 2:
            raise Mismatch("has not two labels")
        if posterior.size != n:
            raise Mismatch(f"has a posterior of {posterior.size} features for {n}")
        if not 0.0 <= state.book[ROUNDS, 0] <= LARGEST_COUNT:
            raise Mismatch("has an invalid count of rounds")
        return state

    @property
    def rounds(self) -> int:
        """How many rounds have been learned."""
        return int(self.book[ROUNDS, 0])

    def copy(self) -> PosteriorState:
        """A state that shares nothing that changes with this one."""
        posterior, book, scatter = self.posterior.copy(), self.book.copy(), self.scatter.copy()
        return PosteriorState(self.space, self.classes, posterior, book, scatter)

    def with_space(self, space: FeatureSpace) -> PosteriorState:
        """A larger copy: what is new has been 0 so far."""
        k = space.size - self.space.size
        posterior, scatter = self.posterior.extended(k), np.pad(self.scatter, (0, k))
        return PosteriorState(space, self.classes, posterior, self.book.copy(), scatter)

    # One round ------------------------------------------------------------------------------

    def encoded(self, x: Row) -> tuple[PosteriorState, Vector]:
        """A state that knows all features of x, and x as its vector."""
        state, vector = VectorState.encoded(self, x)
        return state, checked(vector)

    def target(self, y: Outcome) -> float:
        """+1 for the positive class, -1 for the other."""
        return sign_of(y, self.classes)

    @property
    def fast(self) -> Rounds | None:
        """Compiled rounds, where labels are 0 and 1 and the posterior has any."""
        if self.classes != (0, 1) or not isinstance(self.space, Positions | Names):
            return None
        return self.posterior.rounds(self.space.reader, self.book, self.scatter)

    def predict_vector(self, x: Vector) -> float:
        """The probability of the positive class."""
        return self.posterior.probability(x)

    def learn_vector(self, x: Vector, y: float) -> None:
        """Learn one round whose label has the sign y."""
        self.posterior.learn(x, y, self.book, self.scatter)

    # Many rounds ----------------------------------------------------------------------------

    def _in_space(self, X: Table) -> tuple[PosteriorState, Matrix]:
        state, xs = VectorState._in_space(self, X)
        return state, checked(xs)

    def replay(
        self, X: Table, y: Outcomes, *, classes: Outcomes = None
    ) -> tuple[PosteriorState, Replay]:
        """Predict-then-learn over rows; the first labels, or those given, say what the two are."""
        labels = column(y)
        state = self if self.rounds else replace(self, classes=classes_of(labels, classes))
        signs = np.array([state.target(label) for label in labels])
        return VectorState.replay(state, X, signs)

    def run(self, xs: Matrix, ys: Vector) -> tuple[Vector, Vector]:
        """Predict-then-learn over vectors, in place: probabilities and log losses."""
        return self.posterior.replay(xs, ys, self.book, self.scatter)

    def certificates(self) -> list[Certificate]:
        """Every statement that applies, the main one first."""
        return theorems.certificates(self)


class BinaryLearner(Classifier, OnlineLearner[PosteriorState]):
    """What all binary learners share; a child says which posterior it runs on."""

    STATE = Part("belief", ("Belief",))
    METHODS: ClassVar[frozenset[str]]  # of the posteriors that it may run on
    _merge_refusal = (
        "its posterior is no Gaussian, so that what a round adds depends on those before"
    )

    def _prior(self, n: int) -> Posterior:
        """The prior on n weights; the parameters are checked here."""
        raise NotImplementedError

    def _start(self, space: FeatureSpace) -> PosteriorState:
        n = space.size
        prior = self._prior(n)
        return PosteriorState(space, (0, 1), prior, np.zeros((BOOK_ROWS, 2)), np.zeros((n, n)))

    def _start_row(self, x: Row, y: Outcome = None) -> PosteriorState:  # noqa: ARG002  # as all have it
        """A state that knows all features of x: how many there are may decide the method."""
        space = space_for_row(x)
        _, new, key = space.encode(x)[:3]
        return self._start(space.extended(key) if new.size else space)

    def _accept(self, state: PosteriorState) -> None:
        if state.posterior.method not in self.METHODS:
            raise Mismatch("has the posterior of another learner")
        super()._accept(state)

    def predictive(self, x: Row) -> Bernoulli:
        """The forecast at x as a distribution over 0 and 1."""
        with self._lock:
            state, vector = (self._state or self._start_row(x)).encoded(x)
            return Bernoulli(state.predict_vector(vector), state.posterior.log_odds(vector))

    def partial_fit(self, X: Table, y: Outcomes, classes: Outcomes = None) -> Self:
        """Learn all rows, in order, on top of what was learned before."""
        self._run(X, y, classes=classes)
        return self

    def predict_proba(self, X: Table) -> Matrix:
        """Probabilities of both classes at every row; nothing is learned."""
        p = self._probabilities(X)[0]
        return np.column_stack([1.0 - p, p])

    def predict(self, X: Table) -> Any:
        """The likelier class at every row."""
        p, classes = self._probabilities(X)
        return np.array(classes)[(p > 0.5).astype(int)]

    def _probabilities(self, X: Table) -> tuple[Vector, tuple[object, object]]:
        """Probabilities of the positive class at every row, and the two classes."""
        X = as_frame(X)
        with self._lock:
            state = self._learned()
            return state.predict_rows(X), state.classes

    # What was learned -----------------------------------------------------------------------

    @property
    def classes_(self) -> Labels:
        """The two labels, the positive one second."""
        with self._lock:
            return np.array(self._learned().classes)

    @property
    def coef_(self) -> Matrix:
        """The mean or the mode of the weights, as one row."""
        with self._lock:
            return self._learned().posterior.weights()[None]

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


def checked(xs: Matrix) -> Matrix:
    """Features without gaps between them, if they are within limits."""
    if xs.size and not np.abs(xs).max() <= LARGEST:
        worst = float(np.abs(xs).max())
        raise FeatureError(
            f"x has an entry of size {worst!r}: up to 1e100 can be taken; rescale it"
        )
    return np.ascontiguousarray(xs)
