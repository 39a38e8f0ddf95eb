"""MondrianClassifier: random trees whose nodes count labels, mixed over all prunings by log loss.

The trees and the prior of Mondrian; losses are log losses, for which mixing needs no range and no
substitution.  docs/theory.md has the proof; native/counting.hpp has the rounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from noregret._native import account, counting, mondrian
from noregret._native.counting import Counts
from noregret._native.rows import CountRounds, RenewedRounds
from noregret.certificates import LOG, Audit, Certificate, rounding
from noregret.declare.fields import Array, Count, Group, Part, Real, Value, require
from noregret.declare.parameters import Parameter, Whole
from noregret.errors import NumericalError
from noregret.experts.mondrian import MOST_SEEDS
from noregret.glm.binary import BinaryLearner, LabelState, require_labels
from noregret.inputs.spaces import FeatureSpace, Names, Positions
from noregret.learner.estimator import not_fitted
from noregret.learner.saving import revived
from noregret.types import Bernoulli, Matrix, Row, Vector

__all__ = ["LabelGrowth", "LabelTrees", "MondrianClassifier"]


@dataclass(frozen=True, slots=True)
class LabelGrowth:
    """How trees grow and what their nodes count from."""

    trees: int
    cap: int  # nodes of all trees together
    prior_count: float  # a
    price: float  # of a unit of a tree's time, in nats
    seed: int

    FIELDS = (
        Count("trees", 1, 1000),
        Count("cap", 1),
        Real("prior_count", 1e-300, 1e300),
        Real("price", 1e-6, 1e6),
        Count("seed"),
    )

    def forest(self, features: int, *arrays: Matrix) -> Counts:
        """Trees that go on from these arrays."""
        return Counts(
            features, self.trees, self.cap, self.prior_count, self.price, self.seed, *arrays
        )


@dataclass(slots=True, eq=False)
class LabelTrees(LabelState):
    """What the trees have learned; features that are new make a larger state."""

    space: FeatureSpace
    classes: tuple[object, object]
    growth: LabelGrowth
    forest: Counts
    fast: RenewedRounds = field(default_factory=RenewedRounds, init=False, repr=False)

    SCRATCH = ("fast",)
    FIELDS = (
        Part("door", ("Positions", "Names"), of="space"),
        Value("classes"),
        Group("growth", LabelGrowth),
        Array("nodes", ("N", counting.COUNTS), finite=False, of="forest"),
        Array("boxes", ("N", "sides"), of="forest"),
        Array("units", (counting.UNIT_ROWS, "n"), of="forest"),
        Array("book", (counting.BOOK_ROWS, 2), of="forest"),
    )

    def __post_init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Begin compiled rounds anew, in the trees as they are."""
        if self.classes == (0, 1) and isinstance(self.space, Positions | Names):
            self.fast.renew(CountRounds(self.space.reader, self.forest))

    @classmethod
    def start(cls, space: FeatureSpace, growth: LabelGrowth) -> LabelTrees:
        """Nothing learned."""
        n = space.size
        sides = (0, counting.COUNTS), (0, 2 * n), (counting.UNIT_ROWS, n), (counting.BOOK_ROWS, 2)
        return cls(space, (0, 1), growth, growth.forest(n, *map(np.zeros, sides)))

    def stored(self) -> tuple[object, ...]:
        """The values of FIELDS."""
        return self.space, self.classes, self.growth, *self.forest.arrays()

    @classmethod
    def restored(
        cls,
        space: FeatureSpace,
        classes: tuple[object, object],
        growth: LabelGrowth,
        *arrays: Matrix,
    ) -> LabelTrees:
        """The state of these values."""
        nodes, boxes, units, book = arrays
        n = space.size
        require_labels(classes)
        require(boxes.shape[1] == 2 * n and units.shape[1] == n, "has trees for other features")
        plain = np.delete(nodes, mondrian.TIME, axis=1)
        require(bool(np.isfinite(plain).all()), "has a node of no number")
        counts, start = nodes[:, [counting.YES, counting.NO]], nodes[:, counting.START]
        require(bool((counts >= 0.0).all()), "has counts below 0")
        require(bool(((start > 0.0) & (start < 1.0)).all()), "has a prior that excludes a label")
        require(bool((boxes[:, :n] <= boxes[:, n:]).all()), "has a box without an inside")
        rounds, positive = book[account.ROUNDS].tolist()
        require(0.0 <= positive <= rounds <= 2.0**53, "has an invalid count of rounds")
        require((rounds > 0.0) == (len(nodes) > 0), "has rounds without trees")
        try:
            forest = growth.forest(n, *(np.array(part) for part in arrays))
        except ValueError:
            require(possible=False, wrong="has nodes that are no trees")
        return cls(space, classes, growth, forest)

    def __reduce__(self) -> tuple[object, ...]:
        return revived, (LabelTrees.restored, *self.stored())

    def copy(self) -> LabelTrees:
        """A state that shares nothing that changes."""
        return LabelTrees(self.space, self.classes, self.growth, self.forest.copy())

    def _called(self, classes: tuple[object, object]) -> LabelTrees:
        return LabelTrees(self.space, classes, self.growth, self.forest.copy())

    def with_space(self, space: FeatureSpace) -> LabelTrees:
        """A larger copy: what is new has been 0 so far, and no box has gone that way."""
        nodes, boxes, units, book = self.forest.arrays()
        n, k = self.space.size, space.size - self.space.size
        new = np.zeros((len(boxes), k))
        boxes = np.hstack([boxes[:, :n], new, boxes[:, n:], new])
        units = np.hstack([units, np.zeros((len(units), k))])
        forest = self.growth.forest(space.size, nodes, boxes, units, book)
        return LabelTrees(space, self.classes, self.growth, forest)

    @property
    def book(self) -> Matrix:  # type: ignore[override]  # it is the trees'
        """The account."""
        return self.forest.book()

    # Rounds ---------------------------------------------------------------------------------

    def predict_vector(self, x: Vector) -> float:
        """The mean of the trees' probabilities of the positive label."""
        p = self.forest.look(x)
        if p != p:
            raise NumericalError("x does not fit: features of size up to 1e100 can be taken")
        return p

    def log_odds(self, x: Vector) -> float:
        """ln of its odds."""
        self.predict_vector(x)
        return self.forest.log_odds(x)

    def learn_vector(self, x: Vector, y: float) -> None:
        """Learn one round whose label has the sign y, in every tree."""
        self.predict_vector(x)
        self.forest.settle(float(y > 0.0))

    def run(self, xs: Matrix, ys: Vector) -> tuple[Vector, Vector]:
        """Predict-then-learn over rows, in place: probabilities and log losses."""
        said, losses = np.empty(len(ys)), np.empty(len(ys))
        failed = self.forest.replay(xs, (ys > 0.0).astype(float), said, losses)
        if failed >= 0:
            raise NumericalError(f"row {failed} does not fit in float64: rescale the features")
        return said, losses

    # What is proved -------------------------------------------------------------------------

    def certificates(self) -> list[Certificate]:
        """Every statement that applies, the main one first."""
        book = self.forest.book()
        rounds, loss = self.rounds, float(book[account.LOSS].sum())
        mix = float(book[counting.MIX].sum())
        potential, price, course, _, _ = self.forest.reckoned()
        trees = f"mean over {self.growth.trees} trees of"
        evidence = f"{trees} -ln sum_P p_P exp(-L_P)"
        size = abs(mix) + abs(potential) + 1.0
        audit = (Audit("mixes and -ln W agree", abs(mix - potential), rounding(size, rounds)),)
        found = [
            ("", "upper bound", loss, price, f"{trees} min over prunings P of (L_P + ln 1/p_P)"),
            (", mixture form", "upper bound", loss, potential, evidence),
            (", telescoping", "equality", mix, potential, evidence),
        ]
        return [
            Certificate.of(
                name=f"Mondrian trees for labels{name}",
                kind=kind,  # type: ignore[arg-type]  # one of the two above
                rounds=rounds,
                loss=paid,
                comparator=course,
                bound=bound,
                statement=f"{'sum_t mix_t =' if kind == 'equality' else 'log loss <='} {right}",
                about=LOG,
                scale=1.0,
                audit=audit,
            )
            for name, kind, paid, bound, right in found
        ]


class MondrianClassifier(BinaryLearner):
    """Random trees whose cells count labels, mixed over all their prunings; for two labels.

    Trees split the inputs at random, more often in features whose class means have been far apart;
    a cell says the share of positive labels in it, smoothed.  A pruning P of a tree has the prior
    weight p_P, a product of exp(-price (time - parent's time)) for going on below a node; on any
    data

        log loss <= mean over trees of min_P (L_P + ln 1/p_P)

    for the trees as they are at the end, and the mixes of a tree add up to -ln of the evidence of
    all its prunings, to rounding.  Features may be in any unit.  Same seed, same bits.

    Cost: 4 n flops for each node on the paths of x, 65 per tree at most, some 15 as a rule; memory
    2 n + 14 numbers for each of up to `max_nodes` nodes.  When there are so many, trees stop
    splitting and go on learning.

    Parameters
    ----------
    trees : how many, whose probabilities are averaged.
    prior_count : a: a cell with k positive labels of m says (k + a q)/(m + a), where q is what the
        cell beside it said when it began; 1/2 at first.
    price : of a unit of a tree's time, in nats; the larger, the fewer and larger the cells.
    max_nodes : of all trees together.
    seed : of the trees.

    >>> trees = MondrianClassifier()
    >>> for t in range(500):
    ...     x = [(37 * t % 100) / 100.0]
    ...     p = trees.predict_one(x)
    ...     trees.learn_one(x, int(0.3 < x[0] < 0.6))
    >>> trees.predict_one([0.45]) > 0.9, trees.predict_one([0.9]) < 0.1
    (True, True)
    >>> trees.certificate().holds
    True
    """

    STATE = Part("trees", ("MondrianClassifier.State",))
    METHODS = frozenset[str]()
    _parameters = {  # noqa: RUF012  # as the class above has it
        "seed": Parameter(Whole(0, MOST_SEEDS, "a whole number, 0 to 2^53"), "of the trees"),
    }
    _merge_refusal = "its trees and weights depend on the order of one stream"

    def __init__(
        self,
        *,
        trees: int = 10,
        prior_count: float = 0.5,
        price: float = 0.05,
        max_nodes: int = 50_000,
        seed: int = 0,
    ) -> None:
        self.trees = trees
        self.prior_count = prior_count
        self.price = price
        self.max_nodes = max_nodes
        self.seed = seed

    def _start(self, space: FeatureSpace) -> LabelTrees:  # type: ignore[override]  # its own state
        names = "trees", "max_nodes", "prior_count", "price", "seed"
        return LabelTrees.start(space, LabelGrowth(*map(self._checked, names)))

    def _accept(self, state: LabelTrees) -> None:  # type: ignore[override]  # its own state
        self._state = state  # type: ignore[assignment]  # as above

    def _takes(self, y: float) -> bool:
        """Whether a round is sure to be learned whose x has just been forecast."""
        return y in (0.0, 1.0)

    def predictive(self, x: Row) -> Bernoulli:
        """The forecast at x as a distribution over 0 and 1."""
        with self._lock:
            start: LabelTrees = self._state or self._start_row(x)  # type: ignore[assignment]  # as above
            state, vector = start.encoded(x)
            return Bernoulli(state.predict_vector(vector), state.log_odds(vector))

    @property
    def nodes_(self) -> int:
        """How many nodes the trees have, all together."""
        with self._lock:
            state: LabelTrees = self._learned()  # type: ignore[assignment]  # as above
            return state.forest.size()

    @property
    def coef_(self) -> Matrix:
        """It has none: cells have counts."""
        raise not_fitted("MondrianClassifier has no coef_: its cells count labels")
