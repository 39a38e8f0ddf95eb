"""Mondrian: random trees that grow by x alone, with ridge in every node, mixed over all prunings.

A tree splits boxes of inputs at random times (Roy and Teh 2009; Lakshminarayanan, Roy and Teh
2014), and a pruning pays for it: P(go on below a node) = exp(-price (its time - its parent's)).
With this prior the evidence of all prunings stays what it was when a split is put in anywhere, so
that mixes telescope and the Aggregating Algorithm's bound holds for the tree as it is at the end.
docs/theory.md has the proof; native/mondrian.hpp, prunings.hpp and forest.hpp have the rounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from noregret._native import mixing, mondrian
from noregret._native.mondrian import COLUMNS, FIRST, TIME, WIDENED, Forest
from noregret._native.rows import ForestRounds, RenewedRounds
from noregret.certificates import Audit, Certificate, rounding
from noregret.declare.fields import Array, Count, Group, Part, Real, Truth, require
from noregret.declare.parameters import Parameter, Whole
from noregret.errors import NumericalError
from noregret.experts.pool import Pool, PoolTotals
from noregret.experts.theorems import every_round, stated
from noregret.inputs.spaces import FeatureSpace, Names, Positions
from noregret.inputs.values import outcome, outcome_column
from noregret.learner.base import OnlineLearner
from noregret.learner.estimator import Regressor
from noregret.learner.saving import revived
from noregret.learner.state import VectorState
from noregret.losses import LARGEST, Game, game
from noregret.types import Matrix, Outcome, Outcomes, Vector

__all__ = ["Mondrian"]

TOO_LARGE = "the look at x does not fit in float64: rescale the features"
MOST_SEEDS = 2**53


@dataclass(frozen=True, slots=True)
class Growth:
    """How trees grow and what their nodes are."""

    trees: int
    cap: int  # nodes of all trees together
    linear: bool  # nodes are ridge learners, or means
    precision: float  # a
    price: float  # of a unit of a tree's time, in nats
    seed: int

    FIELDS = (
        Count("trees", 1, 1000),
        Count("cap", 1),
        Truth("linear"),
        Real("precision", 1e-300, 1e300),
        Real("price", 1e-6, 1e6),
        Count("seed"),
    )

    def forest(self, features: int, *arrays: Matrix) -> Forest:
        """Trees that go on from these arrays."""
        settings = self.trees, self.cap, self.linear, self.precision, self.price, self.seed
        return Forest(features, *settings, *arrays)


@dataclass(slots=True, eq=False)
class MondrianState(VectorState):
    """What the trees have learned; features that are new make a larger state."""

    space: FeatureSpace
    game: Game
    growth: Growth
    forest: Forest
    fast: RenewedRounds = field(default_factory=RenewedRounds, init=False, repr=False)

    SCRATCH = ("fast",)
    FIELDS = (
        Part("space", ("Positions", "Names")),
        Part("game", ("Game",)),
        Group("growth", Growth),
        Array("nodes", ("N", COLUMNS), finite=False, of="forest"),
        Array("boxes", ("N", "sides"), of="forest"),
        Array("factors", ("N", "m", "columns"), of="forest"),
        Array("units", (2, "n"), of="forest"),
        Array("book", (mondrian.BOOK_ROWS, 2), finite=False, of="forest"),
    )

    def __post_init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Begin compiled rounds anew, in the forest as it is."""
        if isinstance(self.space, Positions | Names):
            self.fast.renew(ForestRounds(self.space.reader, self.forest))

    @classmethod
    def start(cls, space: FeatureSpace, played: Game, growth: Growth) -> MondrianState:
        """Nothing learned."""
        n, m = space.size, space.size + 1 if growth.linear else 1
        book = np.zeros((mondrian.BOOK_ROWS, 2))
        book[: mixing.BOOK_ROWS] = Pool.start(played, np.ones(1)).book
        empty = np.zeros((0, COLUMNS)), np.zeros((0, 2 * n)), np.zeros((0, m, m + 1))
        forest = growth.forest(n, *empty, np.zeros((2, n)), book)
        return cls(space, played, growth, forest)

    def stored(self) -> tuple[object, ...]:
        """The values of FIELDS."""
        return self.space, self.game, self.growth, *self.forest.arrays()

    @classmethod
    def restored(
        cls, space: FeatureSpace, played: Game, growth: Growth, *arrays: Matrix
    ) -> MondrianState:
        """The state of these values."""
        nodes, boxes, factors, units, book = arrays
        n, m = space.size, space.size + 1 if growth.linear else 1
        alike = boxes.shape[1] == 2 * n and factors.shape[1:] == (m, m + 1) and units.shape[1] == n
        require(alike, "has trees for other features")
        require(bool(np.isfinite(np.delete(nodes, TIME, axis=1)).all()), "has a node of no number")
        require(bool((boxes[:, :n] <= boxes[:, n:]).all()), "has a box without an inside")
        require(bool((np.diagonal(factors, axis1=1, axis2=2) > 0.0).all()), "has no triangles")
        require(bool((units[1] >= 0.0).all()), "has units below 0")
        Pool.restored(played, np.zeros((mixing.POOL_ROWS, 1)), book[: mixing.BOOK_ROWS])
        require((book[mixing.ROUNDS, 0] > 0.0) == (len(nodes) > 0), "has rounds without trees")
        try:
            forest = growth.forest(n, *(np.array(part) for part in arrays))
        except ValueError:
            require(possible=False, wrong="has nodes that are no trees")
        return cls(space, played, growth, forest)

    def __reduce__(self) -> tuple[object, ...]:
        return revived, (MondrianState.restored, *self.stored())

    def copy(self) -> MondrianState:
        """A state that shares nothing that changes."""
        return MondrianState(self.space, self.game, self.growth, self.forest.copy())

    def with_space(self, space: FeatureSpace) -> MondrianState:
        """A larger copy: what is new has been 0 so far, and no box has gone that way."""
        nodes, boxes, factors, units, book = self.forest.arrays()
        n, k = self.space.size, space.size - self.space.size
        low, high, new = boxes[:, :n], boxes[:, n:], np.zeros((len(boxes), k))
        boxes = np.hstack([low, new, high, new])
        if self.growth.linear:
            m = n + 1
            larger = np.zeros((len(factors), m + k, m + k + 1))
            larger[:, :m, :m], larger[:, :m, -1] = factors[:, :, :m], factors[:, :, m]
            larger[:, range(m, m + k), range(m, m + k)] = np.sqrt(self.growth.precision)
            factors = larger
        units = np.hstack([units, np.zeros((2, k))])
        forest = self.growth.forest(space.size, nodes, boxes, factors, units, book)
        return MondrianState(space, self.game, self.growth, forest)

    @property
    def rounds(self) -> int:
        """How many rounds have been learned."""
        return int(self.forest.book()[mixing.ROUNDS, 0])

    def target(self, y: Outcome) -> float:
        """The outcome, if a pool can take it."""
        return self.game.outcome(outcome(y))

    def targets(self, y: Outcomes, rounds: int) -> Vector:
        """The outcomes of many rounds, if a pool can take them."""
        return np.array([self.game.outcome(v) for v in outcome_column(y, rounds).tolist()])

    # Rounds ---------------------------------------------------------------------------------

    def predict_vector(self, x: Vector) -> float:
        """The mean of the trees' forecasts."""
        forecast = self.forest.look(x)
        if forecast != forecast:
            raise NumericalError(TOO_LARGE)
        return forecast

    def learn_vector(self, x: Vector, y: float) -> None:
        """Learn one round, in every tree."""
        self.predict_vector(x)
        self.forest.settle(y)

    def run(self, xs: Matrix, ys: Vector) -> tuple[Vector, Vector]:
        """Predict-then-learn over rows, in place: forecasts and losses."""
        forecasts, losses = np.empty(len(ys)), np.empty(len(ys))
        failed = self.forest.replay(xs, ys, forecasts, losses)
        if failed >= 0:
            raise NumericalError(f"row {failed}: {TOO_LARGE}")
        return forecasts, losses

    # What is proved -------------------------------------------------------------------------

    def certificates(self) -> list[Certificate]:
        """Every statement that applies, the main one first."""
        book = self.forest.book()
        first, widened = float(book[FIRST, 0]), float(book[WIDENED].sum())
        potential, price, course, linear, fit = self.forest.reckoned()
        paid = first + potential  # in the very first round all prunings lose the same
        t = self._totals(book, widened, paid)
        trees = f"mean over {self.growth.trees} trees of"
        evidence = f"{trees} -1/eta ln sum_P p_P exp(-eta L_P), eta = {t.rate:.6g}"
        cells = (
            "sum over their cells of [min_w (sum (y - w'z)^2 + a|w - w_0|^2) + sum (hi_t - lo_t)^2 "
            "(1 - 1/d_t), or what ridge cost more in rounds with y beyond [lo_t, hi_t], the "
            "outcomes before]"
        )
        best, price_in_nats = f"{trees} min over prunings P of", "(hi-lo)^2/2 ln 1/p_P"
        below = [
            ("", course + first, price + first, f"{best} (L_P + {price_in_nats})"),
            (", mixture form", course + first, paid, evidence),
            (" and ridge in every cell", fit, linear, f"{best} ({cells} + {price_in_nats})"),
        ]
        found = [
            stated(
                self.game,
                t,
                f"Mondrian trees{name}",
                "upper bound",
                comparator=comparator,
                bound=bound,
                statement=f"sum (y - g)^2 <= {statement}",
            )
            for name, comparator, bound, statement in below
        ]
        fell = f" + {widened:.6g}, by which the right side grew when eta fell" if widened else ""
        telescopes = Certificate.of(
            name="Mondrian trees, telescoping",
            kind="equality",
            rounds=t.rounds,
            loss=t.mix + widened,
            comparator=course + first,
            bound=paid,
            statement=f"sum_t mix_t{fell} = {evidence}",
            scale=found[0].scale,
        )
        mix = f"{trees} -1/eta ln sum_P weight_P exp(-eta loss_tP)"
        return [*found, telescopes, every_round(t, mix)]

    def _totals(self, book: Matrix, widened: float, paid: float) -> PoolTotals:
        """The book as that of a pool, with a check of the trees against it."""
        cells = np.zeros((mixing.POOL_ROWS, 1))
        t = Pool(self.game, cells, book[: mixing.BOOK_ROWS]).totals()
        size = abs(paid) + abs(t.mix) + (1.0 / t.rate if t.rate > 0.0 else 0.0)
        off = abs(t.mix + widened - paid)
        check = Audit("mixes and -1/eta ln W agree", off, rounding(size, t.rounds))
        ranges = [a for a in t.audit if "hi" in a.name]
        return replace(t, audit=(*ranges, check))


class Mondrian(Regressor, OnlineLearner[MondrianState]):
    """Random trees with ridge in every node, mixed over all their prunings: bends and steps in x.

    Trees split the inputs at random, by x alone; a cell forecasts by ridge on its own rounds,
    clipped to the outcomes seen.  A pruning P of a tree has the prior weight p_P, a product of
    exp(-price (time - parent's time)) for going on below a node; with outcomes in [lo, hi],
    on any data,

        sum (y - g)^2 <= mean over trees of min_P (L_P + (hi-lo)^2/2 ln 1/p_P)

    and every L_P is at most that of the best linear function in each cell, plus what ridge costs.
    Features and outcomes may be in any unit and about any origin.  Same seed, same bits.

    Cost: 7 n^2 flops for each node on the paths of x, 65 per tree at most, some 15 as a rule;
    memory n^2 + 4 n numbers for each of up to `max_nodes` nodes.  When there are so many, trees
    stop splitting and go on learning; the bound speaks of the trees as they are.

    Parameters
    ----------
    outcome_range : Y for [-Y, Y], a pair (lo, hi), or None: learned, as in AggregatingAlgorithm.
    trees : how many, whose forecasts are averaged.
    node : "ridge", on all features, or "mean".
    prior_precision : a: what a unit of squared weight costs in a cell, on features
        z = (1, (x_1 - o_1)/c_1, ...): o the first x, c_j the first distance above 0 from it.
        A new cell starts from the weights w_0 of the cell beside it, the first one from y_1.
    price : of a unit of a tree's time, in nats; the larger, the fewer and larger the cells.
    max_nodes : of all trees together.
    seed : of the trees.

    >>> trees = Mondrian()
    >>> for t in range(500):
    ...     x = [(37 * t % 100) / 100.0]
    ...     forecast = trees.predict_one(x)
    ...     trees.learn_one(x, 1.0 if x[0] > 0.6 else -x[0])
    >>> round(trees.predict_one([0.3]), 1), round(trees.predict_one([0.9]), 1)
    (-0.3, 1.0)
    >>> trees.certificate().holds
    True
    """

    STATE = Group("state", MondrianState)
    _parameters = {  # noqa: RUF012  # as the class above has it
        "seed": Parameter(Whole(0, MOST_SEEDS, "a whole number, 0 to 2^53"), "of the trees")
    }
    _merge_refusal = "its trees and weights depend on the order of one stream"

    def __init__(
        self,
        outcome_range: object = None,
        *,
        trees: int = 5,
        node: str = "ridge",
        prior_precision: float = 0.01,
        price: float = 0.3,
        max_nodes: int = 10_000,
        seed: int = 0,
    ) -> None:
        self.outcome_range = outcome_range
        self.trees = trees
        self.node = node
        self.prior_precision = prior_precision
        self.price = price
        self.max_nodes = max_nodes
        self.seed = seed

    def _start(self, space: FeatureSpace) -> MondrianState:
        names = "prior_precision", "price", "seed"
        growth = Growth(
            self._checked("trees"),
            self._checked("max_nodes"),
            self._checked("node") == "ridge",
            *map(self._checked, names),
        )
        return MondrianState.start(space, game("square", self.outcome_range), growth)

    def _takes(self, y: float) -> bool:
        """Whether a round is sure to be learned whose x has just been forecast."""
        return abs(y) <= LARGEST

    @property
    def nodes_(self) -> int:
        """How many nodes the trees have, all together."""
        with self._lock:
            return self._learned().forest.size()
