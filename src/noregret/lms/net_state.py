"""What the states of K-LMS-NET share: nodes, what each has paid, and the book."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import ClassVar, Self

import numpy as np

from noregret._ops.continuum import (
    BOOK,
    BUDGETS,
    CELLS,
    COUNTS,
    ERROR,
    GAME,
    PAID,
    PEAK,
    PRIOR,
    RANGE,
    RATE,
    SAID,
    WORST,
)
from noregret._ops.mixing import NARROW
from noregret.certificates import Certificate
from noregret.errors import OutcomeError, ParameterError
from noregret.inputs.values import outcome, outcome_column
from noregret.learner.fields import Array, Mismatch
from noregret.learner.replay import Replay
from noregret.lms.comparators import Expansion, Seen, Values, best_expansion
from noregret.lms.layer import Inputs, whole
from noregret.lms.nodes import FEWEST, MOST, NodeRule, grid
from noregret.lms.rates import HIGHEST, SLOWEST
from noregret.lms.theorems import each_round, expansion_bounds, finite_mixture, potential
from noregret.lms.totals import Budgets, totals_of
from noregret.losses import LARGEST
from noregret.types import Matrix, Outcome, Outcomes, Vector

__all__ = ["NODES", "NetGame", "NetReplay", "NetState", "check_book", "check_nodes", "opened"]

AUDITS = 2  # see nodes.py
NODES = (
    Array("alphas", ("nodes",), of="rule"),
    Array("cells", (CELLS, "nodes")),
    Array("finer", ("audits", CELLS, "finer")),
    Array("book", (BOOK, 2)),
)
"""What model files keep of either net.  Nodes, steps and the audits' polynomials follow from their
number; the widths are stored all the same, and must be those: coefficients belong to them."""


@dataclass(frozen=True, slots=True)
class NetGame:
    """What the parameters come to: range, rate, price of a nat, window."""

    low: float
    high: float
    eta: float
    substitution: bool
    window: int  # 0: every pattern is kept
    budgets: Budgets | None = None
    audit: bool = True

    @property
    def price(self) -> float:
        """c: exponential weights pay c ln(1/w_j)."""
        r = self.high - self.low
        return r * r * (0.5 if self.substitution else 2.0)


@dataclass(frozen=True, eq=False)
class NetReplay(Replay):
    """A replay of K-LMS-NET: also how far the forecasts may be from the integral's."""

    error: float = field(default=0.0)
    """Largest distance so far between a forecast and the audit's; 0 without an audit."""


def opened(game: NetGame, rule: NodeRule) -> tuple[Matrix, Matrix, Matrix]:
    """Cells of the nodes and of the audits, and the book, before the first round."""
    cells, book = np.zeros((CELLS, rule.alphas.size)), np.zeros((BOOK, 2))
    finer = np.zeros((AUDITS if game.audit else 0, CELLS, rule.finer.size))
    cells[PRIOR], finer[:, PRIOR] = np.log(rule.weights), np.log(rule.audit)
    book[RANGE] = game.low, game.high
    book[GAME] = game.price, game.substitution
    book[RATE] = game.eta, game.window
    if game.budgets is not None:
        book[BUDGETS] = game.budgets.loss, game.budgets.norm
    return cells, finer, book


@dataclass(slots=True, eq=False)
class NetState:
    """Nodes, what each has paid, and the book; a child has the patterns and their coefficients."""

    cells: Matrix
    finer: Matrix  # the audits' cells
    book: Matrix
    # Scratch: nothing learned is in it.
    rule: NodeRule = field(init=False, repr=False)
    said: Matrix = field(init=False, repr=False)
    heard: Matrix = field(init=False, repr=False)

    CHANGING: ClassVar[tuple[str, ...]]  # what a copy must not share

    def __post_init__(self) -> None:
        self.rule = grid(self.cells.shape[1])
        self.said = np.zeros((SAID, self.alphas.size))
        self.heard = np.zeros((AUDITS, SAID, self.finer.shape[2]))

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), tuple(getattr(self, part.name) for part in fields(self) if part.init)

    def copy(self) -> Self:
        """One that shares nothing with this one."""
        return replace(self, **{name: getattr(self, name).copy() for name in self.CHANGING})

    @property
    def alphas(self) -> Vector:
        """The widths."""
        return self.rule.alphas

    @property
    def rounds(self) -> int:
        """How many rounds have been learned."""
        return int(self.book[COUNTS, 0])

    @property
    def size(self) -> int:
        """How many patterns are kept."""
        return int(self.book[COUNTS, 1])

    @property
    def error(self) -> float:
        """The estimate of the quadrature error; 0 without an audit."""
        return float(self.book[ERROR].min())

    # Outcomes -------------------------------------------------------------------------------

    def in_range(self, y: float) -> bool:
        """Whether y may be learned."""
        low, high = self.book[RANGE].tolist()
        return bool(low <= y <= high)

    def target(self, y: Outcome) -> float:
        """The outcome, if it is in the range."""
        return self._inside(outcome(y), "y", 0)

    def targets(self, y: Outcomes, rounds: int) -> Vector:
        """The outcomes of many rounds, if all are in the range."""
        ys = outcome_column(y, rounds)
        low, high = self.book[RANGE].tolist()
        for t in np.flatnonzero(~((ys >= low) & (ys <= high)))[:1]:
            self._inside(float(ys[t]), f"y[{t}]", int(t))
        return ys

    def _inside(self, y: float, name: str, ahead: int) -> float:
        if self.in_range(y):
            return y
        low, high = self.book[RANGE].tolist()
        raise OutcomeError(
            f"round {self.rounds + 1 + ahead}: {name} = {y!r} is outside outcome_range = "
            f"[{low!r}, {high!r}]: give a range that holds every outcome, or clip it yourself"
        )

    def replayed(self, forecasts: Vector, losses: Vector, xs: Inputs, ys: Vector) -> NetReplay:  # noqa: ARG002  # as other states have it
        """What a replay gives back."""
        return NetReplay(
            forecast=forecasts,
            mean=None,
            spread=None,
            loss=losses,
            certificate=finite_mixture(totals_of(self)),
            error=self.error,
        )

    # What the theorems ask for --------------------------------------------------------------

    def seen(self) -> Seen:
        """The stream as comparators see it."""
        raise NotImplementedError

    def kernel_at(self, alpha: float) -> Values:
        """k_alpha(X, Z)."""
        raise NotImplementedError

    def reach(
        self,
        h: Expansion,  # noqa: ARG002  # Gaussian nets look at it
        domain: tuple[float, float],  # noqa: ARG002
    ) -> tuple[tuple[float, float] | None, float, tuple[float, float]]:
        """Theorem 2's box (None: it does not apply), s0, and where inputs and points of h lie."""
        return None, 1.0, (0.0, 0.0)

    def best(self, width: float | None, norm: float | None) -> Expansion:
        """The best expansion at a width, or at that of the node which has paid least."""
        t = totals_of(self)
        alpha = float(t.alphas[np.argmin(t.paid)]) if width is None else width
        a = max(1.0 - t.eta * t.peak, 1e-12) / t.eta if norm is None else 1e-12
        return best_expansion(self.kernel_at(alpha), self.seen(), a, alpha, norm)

    def certificates(
        self, comparator: Expansion | None = None, domain: tuple[float, float] = (0.0, 1.0)
    ) -> list[Certificate]:
        """The finite mixture in three forms; for a given expansion, Theorems 1 and 2 too."""
        t = totals_of(self)
        found = [finite_mixture(t), potential(t), each_round(t)]
        if comparator is None:
            return found
        if comparator.width is None:
            raise ParameterError("comparator: give the expansion a width= in [0, 1]")
        about = self.reach(comparator, domain)
        return found + expansion_bounds(self.kernel_at, t, self.seen(), comparator, *about)


# What a stored net must fulfil --------------------------------------------------------------


def check_nodes(alphas: Vector, cells: Matrix, finer: Matrix) -> None:
    """Refuse nodes that no rule has, and what they could not have paid."""
    J, audits = alphas.size, len(finer)
    if not FEWEST <= J <= MOST or audits not in (0, AUDITS):
        raise Mismatch(f"has {J} nodes and {audits} audits")
    if not np.array_equal(alphas, grid(J).alphas) or finer.shape[2] != grid(J).finer.size:
        raise Mismatch("has other widths than these nodes have here")
    for some in (cells, *finer):
        priors = np.exp(np.minimum(some[PRIOR], 1.0))  # all are below 0, if they are right
        if not (some[PAID] >= 0.0).all() or abs(priors.sum() - 1.0) > 1e-9:
            raise Mismatch("has weights that do not add up to 1, or a loss below 0")


def check_book(book: Matrix) -> tuple[int, int, int]:
    """Rounds, patterns and window of a book, if everything in it is possible."""
    (low, high), (price, substitution), (eta, window) = book[[RANGE, GAME, RATE]].tolist()
    (rounds, size), (peak, forgotten) = book[[COUNTS, PEAK]].tolist()
    if not whole(rounds, size, window, forgotten, book[WORST, 1]):
        raise Mismatch("has an invalid count of rounds or patterns")
    if not 1.0 <= book[WORST, 1] <= rounds or forgotten > rounds:
        raise Mismatch("knows of a round that is still to come")
    if not (abs(low) <= LARGEST and abs(high) <= LARGEST and NARROW <= high - low <= LARGEST):
        raise Mismatch("has an invalid range")
    game = NetGame(low, high, eta, substitution == 1.0, int(window))
    if substitution not in (0.0, 1.0) or price != game.price:
        raise Mismatch("has another price than its game")
    if not (SLOWEST <= eta <= HIGHEST and peak >= 0.0 and (book[ERROR] >= 0.0).all()):
        raise Mismatch("has an invalid rate, peak or error")
    L_hat, H_hat = book[BUDGETS].tolist()
    if not (0.0 <= L_hat <= HIGHEST and 0.0 <= H_hat <= HIGHEST and (L_hat > 0.0) == (H_hat > 0.0)):
        raise Mismatch("has invalid budgets")
    return int(rounds), int(size), int(window)
