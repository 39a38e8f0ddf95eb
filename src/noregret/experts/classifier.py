"""AutoClassifier, Auto for labels: logistic learners, trees and naive ones in one mixture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from noregret._native import account, margin
from noregret.certificates import Certificate
from noregret.declare.fields import Array, Mismatch, Part, Parts, Value
from noregret.experts.boosted import Boosted
from noregret.experts.mondrian_classifier import LabelGrowth, LabelTrees
from noregret.experts.pool import Pool
from noregret.experts.theorems import certified, statements
from noregret.experts.units import Units
from noregret.gaussian.cores import PrimalCore
from noregret.glm.binary import BinaryLearner, LabelState, PosteriorState, require_labels
from noregret.glm.families import LOGISTIC
from noregret.glm.posteriors import Recursive
from noregret.inputs.spaces import FeatureSpace, Positions
from noregret.learner.estimator import not_fitted
from noregret.losses import LOG
from noregret.types import Bernoulli, Matrix, Row, Vector

__all__ = ["AutoClassifier"]

RAW = (1.0,)  # prior variances of adf on the features as they are
STANDARD = (0.05, 1.0, 20.0)  # and in standard units
BENT = (0.05, 0.5)  # and with the cube root and the sign of each beside it
STACK = (0.1, 1.0)  # and on what the others say
MARGIN = 10.0  # of AIOLI
FAR = 8.0  # standard units are cut there
SURE = 12.0  # and log odds that others say
SHARE = 1e-3
GROWN = 4_000_000  # numbers that the nodes of trees may take, all together
NAIVE = ["base rate", "last label"]
LINEAR = [
    *(f"adf, prior_var={v:g}" for v in RAW),
    *(f"adf in standard units, prior_var={v:g}" for v in STANDARD),
    "adf with the last label",
    "AIOLI in standard units",
]
FEWER = [*LINEAR, *NAIVE]  # all that older files have
BENDING = [f"adf with cube roots and signs, prior_var={v:g}" for v in BENT]
TREES = ["Mondrian trees", "boosted trees"]
STACKED = [f"adf on what the others say, prior_var={v:g}" for v in STACK]
NAMES = [*LINEAR, *BENDING, *TREES, *STACKED, *NAIVE]
HEARD = [NAMES.index(name) for name in (LINEAR[2], LINEAR[4], *BENDING, *TREES)]  # by the stack
COUNTED, POSITIVE, SAME, LAST, RIGHT = range(5)
BINS, WIDEST = 400, 10.0  # of the log odds, for the area under the curve


@dataclass(slots=True, eq=False)
class ClassifierState(LabelState):
    """What AutoClassifier has learned; features that are new make a larger one."""

    space: FeatureSpace
    classes: tuple[object, object]
    units: Units
    logistics: Sequence[PosteriorState]
    pool: Pool
    book: Matrix  # log loss, Brier score, rounds: the rows of every binary learner's
    counts: Vector  # rounds, positive labels, labels as the one before, the last, right guesses
    odds: Matrix  # (2, BINS): how often log odds were there, by label
    trees: LabelTrees | None = None  # None, and no stack: an older file
    boosted: Boosted | None = None

    FIELDS = (
        Part("door", ("Positions", "Names"), of="space"),
        Value("classes"),
        Part("units", ("Units",)),
        Parts("logistics", ("Belief",)),
        Part("pool", ("Pool",)),
        Array("book", (account.BOOK_ROWS, 2), finite=False),
        Array("counts", (5,)),
        Array("odds", (2, BINS)),
        Part("trees", ("MondrianClassifier.State",), later=True),
        Part("boosted", ("Boosted",), later=True),
    )

    @classmethod
    def start(cls, space: FeatureSpace) -> ClassifierState:
        """A state that has seen nothing, for the features of a space."""
        n = space.size + 1
        priors = [
            *(_adf(v, n) for v in (*RAW, *STANDARD)),
            _adf(1.0, n + 1),
            Recursive(margin.AIOLI, LOGISTIC, PrimalCore(2.0, n, 1), MARGIN),
            *(_adf(v, 3 * n - 2) for v in BENT),
            *(_adf(v, len(HEARD) + 2) for v in STACK),
        ]
        logistics = [
            PosteriorState(
                Positions(p.size),
                (0, 1),
                p,
                np.zeros((account.BOOK_ROWS, 2)),
                np.zeros((p.size, p.size)),
            )
            for p in priors
        ]
        pool = Pool.start(LOG, np.full(len(NAMES), 1.0 / len(NAMES)), SHARE)
        book, odds = np.zeros((account.BOOK_ROWS, 2)), np.zeros((2, BINS))
        growth = LabelGrowth(10, GROWN // (2 * n + 12), 0.5, 0.05, 0)
        return cls(
            space,
            (0, 1),
            Units.of(space.size),
            logistics,
            pool,
            book,
            np.zeros(5),
            odds,
            LabelTrees.start(Positions(space.size), growth),
            Boosted.start(space.size),
        )

    @classmethod
    def restored(cls, *fields: Any) -> ClassifierState:
        """The state of these fields."""
        state = cls(*fields)
        n = state.space.size
        require_labels(state.classes)
        sizes = [n + 1] * 4 + [n + 2, n + 1]
        if state.trees is not None and state.boosted is not None:
            sizes += [3 * n + 1] * len(BENT) + [len(HEARD) + 2] * len(STACK)
            if state.trees.space.size != n or state.boosted.size != n:
                raise Mismatch("has trees for other features")
        elif state.trees is not None or state.boosted is not None:
            raise Mismatch("has some trees and lacks others")
        if state.units.scale.size != n or [s.space.size for s in state.logistics] != sizes:
            raise Mismatch("has experts for other features")
        if state.pool.size != len(state.names):
            raise Mismatch("has another number of experts")
        return state

    @property
    def names(self) -> list[str]:
        """What the experts are called."""
        return FEWER if self.trees is None else NAMES

    def copy(self) -> ClassifierState:
        """A state that shares nothing that changes."""
        return replace(
            self,
            logistics=[s.copy() for s in self.logistics],
            pool=self.pool.copy(),
            book=self.book.copy(),
            counts=self.counts.copy(),
            odds=self.odds.copy(),
            trees=self.trees and self.trees.copy(),
            boosted=self.boosted and self.boosted.copy(),
        )

    def with_space(self, space: FeatureSpace) -> ClassifierState:
        """A larger copy: what is new has been 0 so far."""
        k, state = space.size - self.space.size, self.copy()
        state.space, state.units = space, self.units.extended(k)
        more = [k] * len(LINEAR) + [3 * k] * len(BENT) + [0] * len(STACK)
        state.logistics = [
            s.with_space(Positions(s.space.size + j)) if j else s
            for s, j in zip(state.logistics, more)
        ]
        if state.trees is not None and state.boosted is not None:
            state.trees = state.trees.with_space(Positions(space.size))
            state.boosted = state.boosted.extended(k)
        return state

    # One round ------------------------------------------------------------------------------

    def rows(self, x: Vector) -> tuple[list[Vector], Units]:
        """What each logistic expert sees of x, and what is known of units then.

        The last label comes first, and what bends a feature beside it, so that features that are
        new come at the end of every row.
        """
        measured, units = self.units.measured(x[None])
        z, units = units.standardised(measured)
        standard = np.concatenate([[1.0], np.clip(z[0], -FAR, FAR)])
        late = np.concatenate([[self.counts[LAST]], standard])
        raw = np.concatenate([[1.0], x])
        rows = [raw] * len(RAW) + [standard] * len(STANDARD) + [late, standard]
        if self.trees is not None:
            z = standard[1:]
            beside = np.column_stack([z, np.sign(z), np.cbrt(z)]).ravel()
            rows += [np.concatenate([[1.0], beside])] * len(BENT)
        return rows, units

    def said(self, x: Vector, rows: list[Vector]) -> tuple[Vector, Vector, Vector]:
        """By every expert: the probability of the positive class, and both log losses.

        What the stack sees, once the others have spoken, is added to `rows`.
        """
        counted, positive, same, last, _ = self.counts.tolist()
        repeats = (same + 0.5) / (counted + 1.0)
        naive = np.array([(positive + 0.5) / (counted + 1.0), 0.5])
        if counted:
            naive[1] = repeats if last > 0.0 else 1.0 - repeats
        odds = np.array([s.posterior.log_odds(row) for s, row in zip(self.logistics, rows)])
        if self.trees is not None and self.boosted is not None:
            odds = np.concatenate([odds, [self.trees.log_odds(x), self.boosted.log_odds(x)]])
            heard = np.clip(odds[HEARD], -SURE, SURE)
            mean = float(heard.mean())
            stack = np.concatenate([[0.3], heard - mean, [3.0 * mean]])
            odds = np.concatenate(
                [odds, [s.posterior.log_odds(stack) for s in self.logistics[-len(STACK) :]]]
            )
            rows += [stack] * len(STACK)
        odds = np.concatenate([odds, np.log(naive) - np.log1p(-naive)])
        if_no, if_yes = np.logaddexp(0.0, odds), np.logaddexp(0.0, -odds)
        return np.exp(-if_yes), if_no, if_yes

    def predict_vector(self, x: Vector) -> float:
        """The mixture's probability of the positive class."""
        return self.pool.forecast(self.said(x, self.rows(x)[0])[0])

    def learn_vector(self, x: Vector, y: float) -> None:
        """Learn one round whose label has the sign y."""
        self.step(x, y)

    def step(self, x: Vector, sign: float) -> tuple[float, float]:
        """Learn one round: the probability that was said, and its log loss."""
        rows, units = self.rows(x)
        said, if_no, if_yes = self.said(x, rows)
        p, loss = self.pool.learn(said, float(sign > 0.0), if_yes if sign > 0.0 else if_no)
        for expert, row in zip(self.logistics, rows):
            expert.learn_vector(row, sign)
        if self.trees is not None and self.boosted is not None:
            self.trees.learn_vector(x, sign)
            self.boosted.learn(x, sign)
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

    def run(self, xs: Matrix, ys: Vector) -> tuple[Vector, Vector]:
        """Predict-then-learn over vectors, in place: probabilities and log losses."""
        both = np.array([self.step(x, sign) for x, sign in zip(xs, ys.tolist(), strict=True)])
        return both[:, 0].copy(), both[:, 1].copy()

    def certificate(self) -> Certificate:
        """The main certificate: Fixed Share over the experts."""
        return statements(LOG, self.pool.totals())[0]

    def certificates(self) -> list[Certificate]:
        """Every statement that applies, the main one first."""
        trees = [] if self.trees is None else [self.trees.certificates(), []]
        told = [s.certificates() for s in self.logistics]
        told[len(LINEAR) + len(BENT) :] = [*trees, *told[len(LINEAR) + len(BENT) :]]
        told += [[] for _ in NAIVE]
        return certified(LOG, self.pool.totals(), list(zip(self.names, told, strict=True)))


def _adf(prior_var: float, n: int) -> Recursive:
    return Recursive(margin.ADF, LOGISTIC, PrimalCore(1.0 / prior_var, n, 1))


def _by_name(state: ClassifierState, values: Vector) -> dict[str, float]:
    return dict(zip(state.names, values.tolist(), strict=True))


class AutoClassifier(BinaryLearner):
    """Labels without knobs: logistic learners, trees, a stack of them and naive ones, mixed.

    The 14 experts: Bayesian logistic regression by moment matching (adf), on the features as they
    are, in running standard units at three prior variances, once with the last label as a feature,
    and at two more with the sign and the cube root of each feature beside it; AIOLI, which has a
    bound against every logistic regressor; Mondrian trees that count labels (MondrianClassifier);
    100 boosted trees on the last 4,096 rounds, made anew whenever a tenth of them is new; adf on
    the log odds that six of these say, at two prior variances; the share of positive labels so far;
    and the last label, with the share of repetitions so far as its probability.

    Its certificate: the log loss is at most that of the best sequence of experts, plus ln 14 for
    the first and ln(14/s) for each change, s = 0.001; `certificates()` goes on to the best logistic
    regressor by AIOLI's own and to the best pruning of the trees by theirs.

    Any two labels will do; a table shows them, `learn_one` takes 0 and 1.  A file from before there
    were trees among the experts loads, and goes on with the eight that it has.

    `log_loss_`, `brier_` are sums over all rounds, `accuracy_` and `auc_` shares.

    Cost: 24 n^2 numbers and six cores of 5 n^2 flops and two of 45 n^2 per round; boosted trees
    cost more in the rounds that make them anew, some 1000 n flops a round on average.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = 1000.0 + rng.normal(size=(500, 2))
    >>> y = np.where(X[:, 0] > 1000.0 + 0.3 * rng.normal(size=500), "up", "down")
    >>> model = AutoClassifier()
    >>> replay = model.replay(X, y)
    >>> round(model.accuracy_, 2), model.classes_.tolist()
    (0.9, ['down', 'up'])
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
            return _by_name(self._own(), self._own().pool.weights())

    @property
    def losses_(self) -> dict[str, float]:
        """The log loss of each expert."""
        with self._lock:
            return _by_name(self._own(), self._own().pool.totals().paid)

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
        """It has none: its experts have theirs."""
        raise not_fitted("AutoClassifier has no coef_: it is a mixture of experts")
