"""The state of OSLOG, and the limits of what it takes; see noregret._native.sparse."""

from __future__ import annotations

import math

import numpy as np

from noregret._native import sparse as ops
from noregret._native.rows import SparseRounds
from noregret._native.sparse import (
    BOOK_ROWS,
    LARGEST,
    LARGEST_SEEN,
    MOMENT,
    PASSES,
    SCALES,
    SETTINGS,
    STATE_ROWS,
    WEIGHTS,
)
from noregret.certificates import Certificate
from noregret.declare.fields import Array, Mismatch, Part
from noregret.errors import FeatureError, NumericalError, OutcomeError
from noregret.inputs.spaces import FeatureSpace, Names, Positions
from noregret.inputs.values import outcome, outcome_column, require_rows
from noregret.learner.state import VectorState
from noregret.numerics.triangles import solve_lower
from noregret.sparse import theorems
from noregret.sparse.path import ShrinkageReplay
from noregret.types import Matrix, Outcome, Outcomes, Row, Table, Vector

__all__ = ["OSLOGState", "check_features", "check_outcome", "finite", "sparsity"]

KEPT = [MOMENT, WEIGHTS, SCALES]  # rows of `state` that outlast a round
NEGLIGIBLE = 1e-6
"""A weight below this share of the largest counts as 0 in `sparsity_`."""
TOO_LARGE = "the round does not fit in float64: rescale the features or the outcomes"


class OSLOGState(VectorState):
    """What OSLOG has learned; features that are new make a larger one."""

    __slots__ = ("block", "book", "first", "space")

    FIELDS = (
        Part("door", ("Positions", "Names"), of="space", size="n"),
        Array("gram", ("n", "n"), of="block"),
        Array("rows", (3, "n"), of="block"),  # the other rows of `state`, and `root`, are scratch
        Array("book", (BOOK_ROWS, 2), finite=False),
    )
    SCRATCH = ("first",)  # no round has been learned with it once there is one

    def __init__(self, space: FeatureSpace, block: Matrix, book: Matrix, first: float) -> None:
        self.space = space
        self.block = block  # gram, root, state and a row for x, one below the other
        self.book = book
        self.first = first  # weights before the first round

    @classmethod
    def start(
        cls, space: FeatureSpace, a: float, floor: float, passes: float, first: float
    ) -> OSLOGState:
        """Nothing learned, all weights at `first`."""
        n = space.size
        new = cls(space, np.zeros((2 * n + STATE_ROWS + 1, n)), np.zeros((BOOK_ROWS, 2)), first)
        new.state[WEIGHTS] = first
        new.state[SCALES] = max(abs(first), floor)
        new.book[SETTINGS], new.book[PASSES, 0] = (a, floor), passes
        return new

    def stored(self) -> tuple[object, ...]:
        """The values of FIELDS."""
        return self.space, self.gram, self.state[KEPT], self.book

    @classmethod
    def restored(cls, space: FeatureSpace, gram: Matrix, rows: Matrix, book: Matrix) -> OSLOGState:
        """The state of these values."""
        (a, floor), (passes, _) = book[SETTINGS], book[PASSES]
        if not (1e-100 <= a <= 1e100 and 0.0 <= floor <= 1e100):
            raise Mismatch("has settings that make no sense")
        if not (1.0 <= passes <= 1e9 and passes == np.floor(passes)) and passes != np.inf:
            raise Mismatch("makes no number of passes")
        if not (0.0 <= book[LARGEST_SEEN, 1] <= 2.0**53 and (rows[2] >= 0.0).all()):
            raise Mismatch("counts rounds that are none, or has scales below 0")
        found = cls(space, np.zeros((2 * space.size + STATE_ROWS + 1, space.size)), book, 0.0)
        found.gram[:] = gram
        found.state[KEPT] = rows
        return found

    @property
    def gram(self) -> Matrix:
        """M = sum xx'."""
        return self.block[: self.space.size]

    @property
    def root(self) -> Matrix:
        """Scratch for the factor."""
        return self.block[self.space.size : 2 * self.space.size]

    @property
    def state(self) -> Matrix:
        """One row per quantity."""
        n = 2 * self.space.size
        return self.block[n : n + STATE_ROWS]

    def copy(self) -> OSLOGState:
        """One that shares nothing with this one."""
        return OSLOGState(self.space, self.block.copy(), self.book.copy(), self.first)

    def with_space(self, space: FeatureSpace) -> OSLOGState:
        """A larger copy.

        What is new has been 0 so far.  Before the first round it starts like the rest; later its
        weight is 0, like that of a feature that was given as 0.
        """
        n = self.space.size
        larger = OSLOGState.start(space, *self.settings, 0.0 if self.rounds else self.first)
        larger.gram[:n, :n] = self.gram
        larger.state[:, :n] = self.state
        larger.book[:] = self.book
        return larger

    @property
    def settings(self) -> tuple[float, float, float]:
        """a, the floor and the passes."""
        a, floor = self.book[SETTINGS].tolist()
        return a, floor, float(self.book[PASSES, 0])

    @property
    def rounds(self) -> int:
        """How many rounds have been learned."""
        return int(self.book[LARGEST_SEEN, 1])

    # One round ------------------------------------------------------------------------------

    def target(self, y: Outcome) -> float:
        """y, if OSLOG can take it."""
        return check_outcome(outcome(y))

    def encoded(self, x: Row) -> tuple[OSLOGState, Vector]:
        """A state that knows all features of x, and x as its vector."""
        state, vector = super().encoded(x)
        check_features(vector)
        return state, vector

    @property
    def fast(self) -> SparseRounds | None:
        """Compiled rounds; several passes may take long, so that they hold the lock."""
        if self.settings[2] != 1.0 or not isinstance(self.space, Positions | Names):
            return None
        return SparseRounds(self.space.reader, self.block, self.book)

    def predict_vector(self, x: Vector) -> float:
        """w'x."""
        return finite(ops.predict(self.block, x))

    def learn_vector(self, x: Vector, y: float) -> None:
        """Learn one round."""
        if not ops.round_(self.block, self.book, x, y):
            raise NumericalError(TOO_LARGE)

    # Many rounds ----------------------------------------------------------------------------

    def targets(self, y: Outcomes, rounds: int) -> Vector:
        """The outcomes of many rounds, if OSLOG can take them."""
        ys = outcome_column(y, rounds)
        for t in np.flatnonzero(np.abs(ys) > LARGEST)[:1]:
            check_outcome(float(ys[t]), f"y[{t}]")
        return ys

    def _in_space(self, X: Table) -> tuple[OSLOGState, Matrix]:
        state, xs = super()._in_space(X)
        check_features(xs)
        return state, xs

    def predict_rows(self, X: Table) -> Vector:
        """X w."""
        xs, _ = self.space.encode_known(X)
        check_features(xs)
        with np.errstate(over="ignore", invalid="ignore"):
            forecasts: Vector = xs @ self.state[WEIGHTS]
        for t in np.flatnonzero(~np.isfinite(forecasts))[:1]:
            finite(float(forecasts[t]))
        return forecasts

    def replay(self, X: Table, y: Outcomes) -> tuple[OSLOGState, ShrinkageReplay]:
        """Predict-then-learn over rows in one compiled call, on a copy."""
        before, xs = self._in_space(X)
        require_rows(xs.shape)
        ys = self.targets(y, len(xs))
        after = before.copy()
        forecasts, losses = after.run(np.ascontiguousarray(xs), ys)
        return after, ShrinkageReplay(
            forecast=forecasts,
            mean=None,
            spread=None,
            loss=losses,
            certificate=theorems.published(after, None),
            before=before,
            xs=xs.copy(),
            ys=ys.copy(),
        )

    def run(self, xs: Matrix, ys: Vector, path: Matrix | None = None) -> tuple[Vector, Vector]:
        """Predict-then-learn over rows, in place; `path` takes the weights after each round."""
        forecasts = np.empty(len(ys))
        path = np.empty((0, 0)) if path is None else path
        failed = ops.replay(self.block, self.book, xs, ys, forecasts, path)
        if failed >= 0:
            raise NumericalError(f"row {failed}: {TOO_LARGE}")
        return forecasts, (ys - forecasts) ** 2

    def certificates(self, outcome_bound: float | None = None) -> list[Certificate]:
        """The published bound as a report, and the regret against the best ridge expert."""
        return [theorems.published(self, outcome_bound), theorems.regret_meter(self)]

    def spread(self, vector: Vector) -> float:
        """1 + x'A^-1 x with A = M + a D^-1 for the D that w was found with; O(n^3)."""
        s = np.sqrt(self.state[SCALES])
        lot = self.settings[0] * np.eye(s.size) + s[:, None] * self.gram * s
        try:
            lower = np.linalg.cholesky(lot)
        except np.linalg.LinAlgError:
            raise NumericalError(TOO_LARGE) from None
        v = solve_lower(lower, (s * vector)[:, None])[:, 0]
        return 1.0 + float(v @ v)


def check_outcome(y: float, field: str = "y") -> float:
    """y, if OSLOG can take it."""
    if not abs(y) <= LARGEST:
        raise OutcomeError(f"{field} = {y!r}: OSLOG takes outcomes up to 1e140; rescale them")
    return y


def check_features(xs: Matrix) -> None:
    """Refuse features that OSLOG cannot take."""
    if xs.size and not np.abs(xs).max() <= LARGEST:
        worst = float(np.abs(xs).max())
        raise FeatureError(f"x has an entry of size {worst!r}: OSLOG takes up to 1e140; rescale it")


def finite(forecast: float) -> float:
    """The forecast, if it fits."""
    if not math.isfinite(forecast):
        raise NumericalError("the forecast at x does not fit in float64: rescale the features")
    return forecast


def sparsity(w: Vector) -> float:
    """The share of negligible weights."""
    largest = float(np.max(np.abs(w), initial=0.0))
    return float((np.abs(w) <= NEGLIGIBLE * largest).mean()) if w.size else 0.0
