"""The state of K-LMS-NET with Gaussian kernels: tiles of patterns, one column of sums per node."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import Self

import numpy as np

from noregret._native import continuum as ops
from noregret._native.continuum import AT, BOX, FRESH, FULL, OK, PEAK, RATE
from noregret._native.layout import LARGEST_FEATURE
from noregret._native.lms import COUNT, FACTS, STEPS, TILE
from noregret._native.rows import NetRounds, RenewedRounds
from noregret.declare.fields import Array, Mismatch, Part, Real, require
from noregret.errors import FeatureError
from noregret.gaussian.cores.memory import enough
from noregret.inputs.kernel_spaces import KernelInputs
from noregret.inputs.spaces import FeatureSpace, Names, Positions
from noregret.learner.state import VectorState
from noregret.lms.comparators import Expansion, Seen, Values, checked
from noregret.lms.layer import check_patterns
from noregret.lms.net_state import NODES, NetState, check_book, check_nodes
from noregret.lms.rates import HIGHEST
from noregret.types import Matrix, Outcome, Row, Vector

__all__ = ["GaussianNetState"]

_predict, _learn = ops.predict, ops.learn


@dataclass(slots=True, eq=False)
class GaussianNetState(NetState, VectorState):
    """Everything that a net of Gaussian widths has learned."""

    space: FeatureSpace
    scale: float  # s0
    points: Matrix  # (tiles, n, TILE)
    coefs: Matrix  # (tiles, nodes, TILE)
    facts: Matrix
    # Scratch: nothing learned is in it.
    rates: Matrix = field(init=False, repr=False)
    work: Matrix = field(init=False, repr=False)
    at: Vector = field(init=False, repr=False)
    fast: RenewedRounds = field(default_factory=RenewedRounds, init=False, repr=False)

    FIELDS = (
        Part("inputs", ("Inputs",), of="space"),
        Real("scale", 1e-300, HIGHEST),
        *NODES,
        Array("points", ("size", "n")),
        Array("coefs", ("nodes", "size")),
        Array("facts", ("size", FACTS)),
    )
    SCRATCH = ("said", "heard", "rates", "work", "at", "fast")
    CHANGING = ("cells", "finer", "book", "points", "coefs", "facts")

    def __post_init__(self) -> None:
        NetState.__post_init__(self)
        self.rates = self.rule.rates(self.scale)
        self.work = np.zeros((STEPS + len(self.rates), TILE))
        self.at = np.zeros(AT + self.space.size)
        self.renew()

    def renew(self) -> None:
        """Begin compiled rounds anew, in the arrays as they are."""
        assert isinstance(self.space, Positions | Names)
        learned = self.points, self.coefs, self.facts, self.cells, self.finer, self.book
        steps = self.rates, self.rule.levels
        scratch = self.work, self.said, self.heard, self.rule.lift, self.at
        self.fast.renew(NetRounds(self.space.reader, *learned, *steps, *scratch))

    @classmethod
    def start(
        cls, nodes: tuple[Matrix, Matrix, Matrix], scale: float, space: FeatureSpace
    ) -> GaussianNetState:
        """Nothing learned."""
        tile = np.zeros((1, space.size, TILE)), np.zeros((1, nodes[0].shape[1], TILE))
        return cls(*nodes, space, scale, *tile, np.zeros((TILE, FACTS)))

    def stored(self) -> tuple[object, ...]:
        """The values of FIELDS."""
        size, J = self.size, self.alphas.size
        coefs = self.coefs.transpose(1, 0, 2).reshape(J, -1)[:, :size]
        nodes = self.alphas, self.cells, self.finer, self.book
        inputs = KernelInputs(self.space)
        return inputs, self.scale, *nodes, self.patterns(), coefs, self.facts[:size]

    @classmethod
    def restored(cls, inputs: KernelInputs, scale: float, *arrays: Matrix) -> GaussianNetState:
        """The state of these values."""
        alphas, cells, finer, book, points, coefs, facts = arrays
        check_nodes(alphas, cells, finer)
        rounds, size, window = check_book(book)
        space, (low, high) = inputs.space, book[BOX].tolist()
        if space is None or points.shape != (size, space.size):
            raise Mismatch("has patterns of another number, or objects where vectors are due")
        check_patterns(facts, rounds, window)
        require(-LARGEST_FEATURE <= low <= high <= LARGEST_FEATURE, "has an invalid box")
        inside = ((low <= points) & (points <= high)).all()
        require(inside, "has a pattern outside of its box")
        kept = (book[PEAK, 1] > 0.0) == (facts[:, COUNT].sum() < rounds)
        require(book[RATE, 0] < 1.0 and kept, "has an invalid rate, or forgot what it did not")
        tiles, (n, J) = -(-size // TILE), (space.size, alphas.size)
        room = tiles * TILE - size
        points = np.pad(points, ((0, room), (0, 0))).reshape(tiles, TILE, n).transpose(0, 2, 1)
        coefs = np.pad(coefs, ((0, 0), (0, room))).reshape(J, tiles, TILE).transpose(1, 0, 2)
        both = np.ascontiguousarray(points), np.ascontiguousarray(coefs)
        return cls(cells, finer, book, space, scale, *both, np.pad(facts, ((0, room), (0, 0))))

    def with_space(self, space: FeatureSpace) -> GaussianNetState:
        """A kernel's inputs never grow."""
        assert isinstance(space, Names)
        new = list(space.slots)[self.space.size :]
        raise FeatureError(f"x has new features {new!r}: a kernel's inputs keep their features")

    # Room -----------------------------------------------------------------------------------

    def has_room(self) -> bool:
        """Whether one more pattern fits without asking for memory."""
        return self.size < len(self.points) * TILE

    def _make_room(self) -> None:
        """For one more pattern at least."""
        have, J, n = len(self.points), self.alphas.size, self.space.size
        if self.has_room():
            return
        tiles = max(have + 1, have + have // 2)
        enough(tiles * TILE * (J + n), f"a net with room for {tiles * TILE} patterns")
        more = ((0, tiles - have), (0, 0), (0, 0))
        self.points, self.coefs = np.pad(self.points, more), np.pad(self.coefs, more)
        self.facts = np.pad(self.facts, ((0, (tiles - have) * TILE), (0, 0)))
        self.renew()

    # One round ------------------------------------------------------------------------------

    def predict(self, x: Row) -> float:
        """The forecast at x; nothing is learned."""
        forecast = self.fast.predict(x)
        return VectorState.predict(self, x) if forecast is None else forecast

    def learn(self, x: Row, y: Outcome) -> Self:
        """Learn one round."""
        return self if self.fast.learn(x, y) else VectorState.learn(self, x, y)

    def predict_vector(self, x: Vector) -> float:
        """The forecast at x; NaN where x is not good."""
        return _predict(
            self.points,
            self.coefs,
            self.cells,
            self.book,
            self.rates,
            self.rule.levels,
            self.work,
            self.said,
            self.at,
            x,
        )

    def learn_vector(self, x: Vector, y: float) -> None:
        """Learn one round, x and y checked."""
        while True:
            answer = _learn(
                self.points,
                self.coefs,
                self.facts,
                self.cells,
                self.finer,
                self.book,
                self.rates,
                self.rule.levels,
                self.work,
                self.said,
                self.heard,
                self.rule.lift,
                self.at,
                x,
                y,
            )
            if answer != FULL:
                break
            self._make_room()
        assert answer == OK

    # Many rounds ----------------------------------------------------------------------------

    def run(self, xs: Matrix, ys: Vector) -> tuple[Vector, Vector]:
        """Predict-then-learn over rows, in place."""
        forecasts = np.empty(len(ys))
        self.at[FRESH] = 0.0
        begin = 0
        while begin < len(ys):
            learned = self.points, self.coefs, self.facts, self.cells, self.finer, self.book
            scratch = self.work, self.said, self.heard, self.rule.lift, self.at
            rest = xs[begin:], ys[begin:], forecasts[begin:]
            begin += ops.replay(*learned, self.rates, self.rule.levels, *scratch, *rest)
            if begin < len(ys):
                self._make_room()
        return forecasts, (ys - forecasts) ** 2

    # What the theorems ask for --------------------------------------------------------------

    def patterns(self) -> Matrix:
        """The patterns kept, one per row."""
        rows: Matrix = self.points.transpose(0, 2, 1).reshape(-1, self.space.size)[: self.size]
        return np.ascontiguousarray(rows)

    def seen(self) -> Seen:
        """The stream as comparators see it."""
        return Seen.of(self.patterns(), self.facts, complete=float(self.book[PEAK, 1]) == 0.0)

    def reach(
        self, h: Expansion, domain: tuple[float, float]
    ) -> tuple[tuple[float, float] | None, float, tuple[float, float]]:
        """Theorem 2's box, s0, and where inputs and points of h lie."""
        points = checked(h.points, self.patterns())
        low, high = self.book[BOX].tolist()
        return domain, self.scale, (min(low, float(points.min())), max(high, float(points.max())))

    def kernel_at(self, alpha: float) -> Values:
        """k_alpha(X, Z)."""
        return partial(self._matrix, alpha)

    @np.errstate(over="ignore")  # what is so far away has the kernel 0
    def _matrix(self, alpha: float, X: Matrix, Z: Matrix) -> Matrix:
        square = _squares(X, Z)
        if np.isinf(square).any():  # then the rate first: 0 times infinity is no number
            root = math.sqrt(self.scale * alpha)
            return np.exp(-_squares(root * X, root * Z))
        return np.exp(-self.scale * alpha * square)


def _squares(X: Matrix, Z: Matrix) -> Matrix:
    """|x - z|^2 of every two rows."""
    found = np.zeros((len(X), len(Z)))
    for i in range(X.shape[1]):
        found += np.subtract.outer(X[:, i], Z[:, i]) ** 2
    return found
