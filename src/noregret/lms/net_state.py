"""What the states of K-LMS-NET share: nodes, what each has paid, and the book."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import ClassVar, Self

import numpy as np

from noregret._native import continuum as ops
from noregret._native.mixing import NARROW
from noregret.certificates import Certificate
from noregret.declare.fields import Array, require
from noregret.errors import OutcomeError, ParameterError
from noregret.inputs.values import outcome, outcome_column
from noregret.learner.replay import Replay
from noregret.learner.saving import revived
from noregret.lms.comparators import Expansion, Seen, Values, best_expansion
from noregret.lms.layer import Inputs, whole
from noregret.lms.nodes import FEWEST, MOST, NodeRule, grid
from noregret.lms.rates import HIGHEST, SLOWEST
from noregret.lms.theorems import each_round, expansion_bounds, finite_mixture, potential
from noregret.lms.totals import Budgets, totals_of
from noregret.losses import LARGEST
from noregret.types import Matrix, Outcome, Outcomes, Vector

__all__ = ["NODES", "NetReplay", "NetState", "check_book", "check_nodes", "opened"]

AUDITS = 2  # see nodes.py
NODES = (
    Array("alphas", ("nodes",), of="rule"),
    Array("cells", (ops.CELLS, "nodes")),
    Array("finer", ("audits", ops.CELLS, "finer")),
    Array("book", (ops.BOOK, 2)),
)
"""What model files keep of either net.  Nodes, steps and the audits' polynomials follow from their
number; the widths are stored all the same, and must be those: coefficients belong to them."""


@dataclass(frozen=True, eq=False)
class NetReplay(Replay):
    """A replay of K-LMS-NET: also how far the forecasts may be from the integral's."""

    error: float = field(default=0.0)
    """Largest distance so far between a forecast and the audit's; 0 without an audit."""


def price_of(low: float, high: float, *, substitution: bool) -> float:
    """c: exponential weights pay c ln(1/w_j)."""
    r = high - low
    return r * r * (0.5 if substitution else 2.0)


def opened(
    rule: NodeRule,
    limits: tuple[float, float],
    eta: float,
    budgets: Budgets | None,
    *,
    window: int,
    substitution: bool,
    audit: bool,
) -> tuple[Matrix, Matrix, Matrix]:
    """Cells of the nodes and of the audits, and the book, before the first round."""
    cells, book = np.zeros((ops.CELLS, rule.alphas.size)), np.zeros((ops.BOOK, 2))
    finer = np.zeros((AUDITS if audit else 0, ops.CELLS, rule.finer.size))
    cells[ops.PRIOR], finer[:, ops.PRIOR] = np.log(rule.weights), np.log(rule.audit)
    book[ops.RANGE] = limits
    book[ops.GAME] = price_of(*limits, substitution=substitution), substitution
    book[ops.RATE] = eta, window
    if budgets is not None:
        book[ops.BUDGETS] = budgets.loss, budgets.norm
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
        self.said = np.zeros((ops.SAID, self.alphas.size))
        self.heard = np.zeros((AUDITS, ops.SAID, self.finer.shape[2]))

    def __reduce__(self) -> tuple[object, ...]:
        parts = (getattr(self, part.name) for part in fields(self) if part.init)
        return revived, (type(self), *parts)

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
        return int(self.book[ops.COUNTS, 0])

    @property
    def size(self) -> int:
        """How many patterns are kept."""
        return int(self.book[ops.COUNTS, 1])

    @property
    def eta(self) -> float:
        """The learning rate."""
        return float(self.book[ops.RATE, 0])

    @property
    def error(self) -> float:
        """The estimate of the quadrature error; 0 without an audit."""
        return float(self.book[ops.ERROR].min())

    # Outcomes -------------------------------------------------------------------------------

    def in_range(self, y: float) -> bool:
        """Whether y may be learned."""
        low, high = self.book[ops.RANGE].tolist()
        return bool(low <= y <= high)

    def target(self, y: Outcome) -> float:
        """The outcome, if it is in the range."""
        return float(self._inside(np.array([outcome(y)]), "y")[0])

    def targets(self, y: Outcomes, rounds: int) -> Vector:
        """The outcomes of many rounds, if all are in the range."""
        return self._inside(outcome_column(y, rounds), "y[{}]")

    def _inside(self, ys: Vector, name: str) -> Vector:
        low, high = self.book[ops.RANGE].tolist()
        for t in np.flatnonzero(~((ys >= low) & (ys <= high)))[:1]:
            raise OutcomeError(
                f"round {self.rounds + 1 + t}: {name.format(t)} = {float(ys[t])!r} is outside "
                f"outcome_range = [{low!r}, {high!r}]: give a range that holds every outcome, or "
                "clip it yourself"
            )
        return ys

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
    require(FEWEST <= J <= MOST and audits in (0, AUDITS), f"has {J} nodes and {audits} audits")
    same = np.array_equal(alphas, grid(J).alphas) and finer.shape[2] == grid(J).finer.size
    require(same, "has other widths than these nodes have here")
    for some in (cells, *finer):
        priors = np.exp(np.minimum(some[ops.PRIOR], 1.0))  # all are below 0, if they are right
        possible = (some[ops.PAID] >= 0.0).all() and abs(priors.sum() - 1.0) <= 1e-9
        require(possible, "has weights that do not add up to 1, or a loss below 0")


def check_book(book: Matrix) -> tuple[int, int, int]:
    """Rounds, patterns and window of a book, if everything in it is possible."""
    row = book.tolist()
    (low, high), (price, substitution), (eta, window) = row[ops.RANGE], row[ops.GAME], row[ops.RATE]
    (rounds, size), (peak, forgotten), (_, worst) = row[ops.COUNTS], row[ops.PEAK], row[ops.WORST]
    counts = whole(rounds, size, window, forgotten, worst)
    require(counts, "has an invalid count of rounds or patterns")
    past = 1.0 <= worst <= rounds and forgotten <= rounds
    require(past, "knows of a round that is still to come")
    limits = max(abs(low), abs(high)) <= LARGEST and NARROW <= high - low <= LARGEST
    require(limits, "has an invalid range")
    due = price_of(low, high, substitution=substitution == 1.0)
    require(substitution in (0.0, 1.0) and price == due, "has another price than its game")
    rate = SLOWEST <= eta <= HIGHEST and peak >= 0.0 and (book[ops.ERROR] >= 0.0).all()
    require(rate, "has an invalid rate, peak or error")
    L_hat, H_hat = row[ops.BUDGETS]
    budgets = 0.0 <= L_hat <= HIGHEST and 0.0 <= H_hat <= HIGHEST
    require(budgets and (L_hat > 0.0) == (H_hat > 0.0), "has invalid budgets")
    return int(rounds), int(size), int(window)
