"""AutoClassifier, Auto for labels: logistic learners and naive ones under one Bayesian mixture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret._native import account, margin
from noregret.certificates import Certificate
from noregret.declare.fields import Array, Mismatch, Part, Parts, Value
from noregret.experts.pool import Pool
from noregret.experts.theorems import certified, statements
from noregret.experts.units import Units
from noregret.gaussian.cores import PrimalCore
from noregret.glm.binary import BinaryLearner, PosteriorState, checked
from noregret.glm.families import LOGISTIC
from noregret.glm.labels import classes_of, column, sign_of
from noregret.glm.posteriors import Recursive
from noregret.inputs.spaces import FeatureSpace, Positions
from noregret.learner.estimator import not_fitted
from noregret.learner.replay import Replay
from noregret.learner.state import VectorState
from noregret.losses import LOG
from noregret.types import Bernoulli, Matrix, Outcome, Outcomes, Row, Table, Vector

__all__ = ["AutoClassifier"]

RAW = (1.0,)  # prior variances of adf on the features as they are
STANDARD = (0.05, 1.0, 20.0)  # and in standard units
MARGIN = 10.0  # of AIOLI
FAR = 8.0  # standard units are cut there
SHARE = 1e-3
NAMES = [
    *(f"adf, prior_var={v:g}" for v in RAW),
    *(f"adf in standard units, prior_var={v:g}" for v in STANDARD),
    "adf with the last label",
    "AIOLI in standard units",
    "base rate",
    "last label",
]
LOGISTICS = len(NAMES) - 2
COUNTED, POSITIVE, SAME, LAST, RIGHT = range(5)
BINS, WIDEST = 400, 10.0  # of the log odds, for the area under the curve


@dataclass(slots=True, eq=False)
class ClassifierState(VectorState):
    """What AutoClassifier has learned; features that are new make a larger one."""

    space: FeatureSpace
    classes: tuple[object, object]
    units: Units
    logistics: Sequence[PosteriorState]
    pool: Pool
    book: Matrix  # log loss, Brier score, rounds: the rows of every binary learner's
    counts: Vector  # rounds, positive labels, labels as the one before, the last, right guesses
    odds: Matrix  # (2, BINS): how often log odds were there, by label

    FIELDS = (
        Part("door", ("Positions", "Names"), of="space"),
        Value("classes"),
        Part("units", ("Units",)),
        Parts("logistics", ("Belief",)),
        Part("pool", ("Pool",)),
        Array("book", (account.BOOK_ROWS, 2), finite=False),
        Array("counts", (5,)),
        Array("odds", (2, BINS)),
    )

    @classmethod
    def start(cls, space: FeatureSpace) -> ClassifierState:
        """A state that has seen nothing, for the features of a space."""
        n = space.size + 1
        makers = [
            *(_adf(v, n) for v in (*RAW, *STANDARD)),
            _adf(1.0, n + 1),
            Recursive(margin.AIOLI, LOGISTIC, PrimalCore(2.0, n, 1), MARGIN),
        ]
        logistics = [
            PosteriorState(
                Positions(p.size),
                (0, 1),
                p,
                np.zeros((account.BOOK_ROWS, 2)),
                np.zeros((p.size, p.size)),
            )
            for p in makers
        ]
        pool = Pool.start(LOG, np.full(len(NAMES), 1.0 / len(NAMES)), SHARE)
        book, odds = np.zeros((account.BOOK_ROWS, 2)), np.zeros((2, BINS))
        units = Units.of(space.size)
        return cls(space, (0, 1), units, logistics, pool, book, np.zeros(5), odds)

    @classmethod
    def restored(cls, *fields: Any) -> ClassifierState:
        """The state of these fields."""
        state = cls(*fields)
        n = state.space.size
        sizes = [n + 1] * (LOGISTICS - 2) + [n + 2, n + 1]
        if type(state.classes) is not tuple or len(state.classes) != 2:
            raise Mismatch("has not two labels")
        if state.units.scale.size != n or [s.space.size for s in state.logistics] != sizes:
            raise Mismatch("has experts for other features")
        if state.pool.size != len(NAMES):
            raise Mismatch("has another number of experts")
        return state

    def copy(self) -> ClassifierState:
        """A state that shares nothing that changes."""
        return ClassifierState(
            self.space,
            self.classes,
            self.units,
            [s.copy() for s in self.logistics],
            self.pool.copy(),
            self.book.copy(),
            self.counts.copy(),
            self.odds.copy(),
        )

    def with_space(self, space: FeatureSpace) -> ClassifierState:
        """A larger copy: what is new has been 0 so far."""
        k, state = space.size - self.space.size, self.copy()
        state.space, state.units = space, self.units.extended(k)
        state.logistics = [s.with_space(Positions(s.space.size + k)) for s in state.logistics]
        return state

    @property
    def rounds(self) -> int:
        """How many rounds have been learned."""
        return int(self.book[account.ROUNDS, 0])

    # One round ------------------------------------------------------------------------------

    def encoded(self, x: Row) -> tuple[ClassifierState, Vector]:
        """A state that knows all features of x, and x as its vector."""
        state, vector = VectorState.encoded(self, x)
        return state, checked(vector)

    def _in_space(self, X: Table) -> tuple[ClassifierState, Matrix]:
        state, xs = VectorState._in_space(self, X)
        return state, checked(xs)

    def target(self, y: Outcome) -> float:
        """+1 for the positive class, -1 for the other."""
        return sign_of(y, self.classes)

    def rows(self, x: Vector) -> tuple[list[Vector], Units]:
        """What each logistic expert sees of x, and what is known of units then.

        The last label comes first, so that features that are new come at the end of every row.
        """
        measured, units = self.units.measured(x[None])
        z, units = units.standardised(measured)
        standard = np.concatenate([[1.0], np.clip(z[0], -FAR, FAR)])
        late = np.concatenate([[self.counts[LAST]], standard])
        raw = np.concatenate([[1.0], x])
        return [raw] * len(RAW) + [standard] * len(STANDARD) + [late, standard], units

    def said(self, rows: Sequence[Vector]) -> tuple[Vector, Vector, Vector]:
        """By every expert: the probability of the positive class, and both log losses."""
        counted, positive, same, last, _ = self.counts.tolist()
        repeats = (same + 0.5) / (counted + 1.0)
        naive = np.array([(positive + 0.5) / (counted + 1.0), 0.5])
        if counted:
            naive[1] = repeats if last > 0.0 else 1.0 - repeats
        odds = np.array([s.posterior.log_odds(row) for s, row in zip(self.logistics, rows)])
        odds = np.concatenate([odds, np.log(naive) - np.log1p(-naive)])
        if_no, if_yes = np.logaddexp(0.0, odds), np.logaddexp(0.0, -odds)
        return np.exp(-if_yes), if_no, if_yes

    def predict_vector(self, x: Vector) -> float:
        """The mixture's probability of the positive class."""
        return self.pool.forecast(self.said(self.rows(x)[0])[0])

    def learn_vector(self, x: Vector, y: float) -> None:
        """Learn one round whose label has the sign y."""
        self.step(x, y)

    def step(self, x: Vector, sign: float) -> tuple[float, float]:
        """Learn one round: the probability that was said, and its log loss."""
        rows, units = self.rows(x)
        said, if_no, if_yes = self.said(rows)
        p, loss = self.pool.learn(said, float(sign > 0.0), if_yes if sign > 0.0 else if_no)
        for expert, row in zip(self.logistics, rows):
            expert.learn_vector(row, sign)
        self.units = units
        counts = self.counts
        counts[SAME] += counts[LAST] == sign
        counts[COUNTED] += 1.0
        counts[POSITIVE] += sign > 0.0
        counts[LAST] = sign
        counts[RIGHT] += (p > 0.5) == (sign > 0.0)
        self.book[account.LOSS, 0] += loss
        self.book[account.BRIER, 0] += (float(sign > 0.0) - p) ** 2
        self.book[account.ROUNDS, 0] += 1.0
        tiny = 1e-300
        odds = math.log(max(p, tiny)) - math.log(max(1.0 - p, tiny))
        place = int((min(max(odds / WIDEST, -1.0), 1.0) + 1.0) / 2.0 * (BINS - 1) + 0.5)
        self.odds[int(sign > 0.0), place] += 1.0
        return p, loss

    # Many rounds ----------------------------------------------------------------------------

    def replay(
        self, X: Table, y: Outcomes, *, classes: Outcomes = None
    ) -> tuple[ClassifierState, Replay]:
        """Predict-then-learn over rows; the first labels, or those given, say what the two are."""
        labels = column(y)
        if not self.rounds:
            self.classes = classes_of(labels, classes)
        signs = np.array([self.target(label) for label in labels])
        return VectorState.replay(self, X, signs)

    def run(self, xs: Matrix, ys: Vector) -> tuple[Vector, Vector]:
        """Predict-then-learn over vectors, in place: probabilities and log losses."""
        both = np.array([self.step(x, sign) for x, sign in zip(xs, ys.tolist(), strict=True)])
        return both[:, 0].copy(), both[:, 1].copy()

    def certificate(self) -> Certificate:
        """The main certificate: Fixed Share over the experts."""
        return statements(LOG, self.pool.totals())[0]

    def certificates(self) -> list[Certificate]:
        """Every statement that applies, the main one first."""
        cells = [(name, s.certificates()) for name, s in zip(NAMES, self.logistics)]
        return certified(LOG, self.pool.totals(), [*cells, *((name, []) for name in NAMES[-2:])])


def _adf(prior_var: float, n: int) -> Recursive:
    return Recursive(margin.ADF, LOGISTIC, PrimalCore(1.0 / prior_var, n, 1))


class AutoClassifier(BinaryLearner):
    """Labels without knobs: six logistic learners, base rate and last label in one mixture.

    The experts: Bayesian logistic regression by moment matching (adf), on the features as they are
    and in running standard units at three prior variances, once with the last label as a feature;
    AIOLI, which has a bound against every logistic regressor; the share of positive labels so far;
    and the last label, with the share of repetitions so far as its probability.

    Its certificate: the log loss is at most that of the best sequence of experts, plus ln 8 for the
    first and ln(8/s) for each change, s = 0.001; `certificates()` goes on to the best logistic
    regressor by AIOLI's own.

    Any two labels will do; a table shows them, `learn_one` takes 0 and 1.

    `log_loss_`, `brier_` are sums over all rounds, `accuracy_` and `auc_` shares.

    Cost: six cores of 5 n^2 flops per round, 6 n^2 numbers.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = 1000.0 + rng.normal(size=(500, 2))
    >>> y = np.where(X[:, 0] > 1000.0 + 0.3 * rng.normal(size=500), "up", "down")
    >>> model = AutoClassifier()
    >>> replay = model.replay(X, y)
    >>> round(model.accuracy_, 2), model.classes_.tolist()
    (0.91, ['down', 'up'])
    >>> model.certificate().holds
    True
    """

    STATE = Part("classifier", ("AutoClassifier.State",))
    METHODS = frozenset[str]()
    _merge_refusal = "it is a pool, whose weights rest on the order of one stream"

    def __init__(self) -> None:
        pass

    def _start(self, space: FeatureSpace) -> ClassifierState:  # type: ignore[override]  # its own state
        return ClassifierState.start(space)

    def _accept(self, state: ClassifierState) -> None:  # type: ignore[override]  # its own state
        self._state = state  # type: ignore[assignment]  # as above

    def _own(self) -> ClassifierState:
        state: ClassifierState = self._learned()  # type: ignore[assignment]  # as above
        return state

    def _takes(self, y: float) -> bool:
        """Whether a round is sure to be learned whose x has just been forecast."""
        return y in (0.0, 1.0)

    def predictive(self, x: Row) -> Bernoulli:
        """The forecast at x as a distribution over 0 and 1."""
        return Bernoulli(float(self.predict_one(x)))

    @property
    def weights_(self) -> dict[str, float]:
        """The weights by expert, adding up to 1."""
        with self._lock:
            return dict(zip(NAMES, self._own().pool.weights().tolist()))

    @property
    def losses_(self) -> dict[str, float]:
        """The log loss of each expert."""
        with self._lock:
            return dict(zip(NAMES, self._own().pool.totals().paid.tolist()))

    @property
    def accuracy_(self) -> float:
        """The share of rounds in which the likelier class came."""
        with self._lock:
            counts = self._own().counts
            return float(counts[RIGHT] / max(counts[COUNTED], 1.0))

    @property
    def auc_(self) -> float:
        """The area under the ROC curve, from log odds in 400 bins; NaN for one class."""
        with self._lock:
            no, yes = self._own().odds
        below = np.cumsum(no) - 0.5 * no
        pairs = float(no.sum() * yes.sum())
        return float(yes @ below) / pairs if pairs else math.nan

    @property
    def coef_(self) -> Matrix:
        """It has none: eight experts have theirs."""
        raise not_fitted("AutoClassifier has no coef_: it is a mixture of experts")
