"""The state of a pool of distributions: what each expert and the pool paid; docs/theory.md 22.4."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from noregret.certificates import Assumption, Certificate
from noregret.declare.fields import Array, Mismatch, Part
from noregret.errors import InputError, OutcomeError
from noregret.experts.crps import CELLS, crps, substitution
from noregret.experts.pool import Pool
from noregret.losses import Game
from noregret.types import Matrix, Vector

__all__ = ["CRPSPool", "CRPSTotals"]

PRIOR, PAID = range(2)  # rows of `cells`: ln of the prior, CRPS so far
ROUNDS, LOSS = range(2)  # of `book`


@dataclass(frozen=True, slots=True)
class CRPSTotals:
    """A pool's book."""

    rounds: int
    loss: float
    paid: Vector  # by expert, the pool's own loss where it slept
    log_prior: Vector


class CRPSPool(Pool):
    """Weights w_j ~ p_j exp(-eta CRPS_j), eta = 2/(hi - lo).

    Distributions are steps on CELLS cells of [lo, hi], one row per expert, NaN where one sleeps.
    """

    __slots__ = ("levels",)

    FIELDS = (  # type: ignore[assignment]  # one more than a pool's
        Part("game", ("Game",)),  # its range is what is asked of it
        Array("cells", (2, "N")),
        Array("book", (2,)),
        Array("levels", ("levels",)),
    )

    def __init__(self, game: Game, cells: Matrix, book: Vector, levels: Vector) -> None:
        super().__init__(game, cells, book)
        self.levels = levels  # of experts that give quantiles; none: nobody may

    @classmethod
    def begin(cls, game: Game, prior: Vector, levels: Vector) -> CRPSPool:
        """A pool that has seen nothing; `prior` adds up to 1."""
        return cls(game, np.stack([np.log(prior), np.zeros(prior.size)]), np.zeros(2), levels)

    @classmethod
    def restored(cls, game: Game, cells: Matrix, book: Vector, levels: Vector) -> CRPSPool:  # type: ignore[override]  # more fields
        """The pool of these fields."""
        if game.span is None or not cells.shape[1]:
            raise Mismatch("has no experts, or no range of outcomes")
        if not 0.0 <= book[ROUNDS] <= 2.0**53 or (cells[PRIOR] > 0.0).any():
            raise Mismatch("has an invalid count of rounds, or no prior weights")
        inside = bool(((levels > 0.0) & (levels < 1.0)).all() and (np.diff(levels) > 0.0).all())
        if not inside:
            raise Mismatch("has levels that are not in order")
        return cls(game, cells, book, levels)

    def copy(self) -> CRPSPool:
        """A pool that shares nothing that changes with this one."""
        return CRPSPool(self.game, self.cells.copy(), self.book.copy(), self.levels)

    def view(self) -> CRPSPool:
        """A pool of the same arrays, which learns in arrays of its own."""
        return CRPSPool(self.game, self.cells, self.book, self.levels)

    @property
    def rounds(self) -> int:
        """How many rounds have been learned."""
        return int(self.book[ROUNDS])

    @property
    def edges(self) -> Vector:
        """Where the cells begin and end."""
        assert self.game.span is not None
        return np.linspace(*self.game.span, CELLS + 1)

    # One round ------------------------------------------------------------------------------

    def weights(self, said: Matrix | None = None) -> Vector:
        """The weights, adding up to 1: of all experts, or of those awake."""
        edges = self.edges
        logs = self.cells[PRIOR] - 2.0 / float(edges[-1] - edges[0]) * self.cells[PAID]
        if said is not None:
            logs = np.where(np.isnan(said).any(axis=1), -np.inf, logs)
        if not logs.max() > -np.inf:
            raise InputError("every expert sleeps; leave the round out")
        found: Vector = np.exp(logs - logs.max())
        found /= found.sum()
        return found

    def merged(self, said: Matrix) -> Vector:
        """The pool's distribution from those of the experts."""
        weights = self.weights(said)
        awake = weights > 0.0
        return substitution(weights[awake], said[awake])

    def forecast(self, said: Matrix) -> float:
        """The mean of the pool's distribution: E y = hi - the integral of F."""
        edges = self.edges
        return float(edges[-1] - self.merged(said) @ np.diff(edges))

    def learn(self, said: Matrix, y: float, costs: Vector | None = None) -> tuple[float, float]:  # noqa: ARG002  # no likelihoods
        """Learn one round; its forecast and its loss."""
        edges = self.edges
        if not edges[0] <= y <= edges[-1]:
            raise OutcomeError(f"y = {y!r} is outside outcome_range ({edges[0]:g}, {edges[-1]:g})")
        merged = self.merged(said)
        loss = float(crps(merged[None], y, edges)[0])
        each = crps(said, y, edges)
        paid = np.where(np.isnan(each), loss, each)  # a sleeper says what the pool says
        self.cells = self.cells + np.stack([np.zeros_like(paid), paid])
        self.book = self.book + np.array([1.0, loss])
        return float(edges[-1] - merged @ np.diff(edges)), loss

    def joined(self, weight: float) -> CRPSPool:
        """A pool with one more expert, which counts as having slept so far."""
        cells = np.hstack([self.cells, [[np.log(weight)], [self.book[LOSS]]]])
        cells[PRIOR, :-1] += np.log1p(-weight)
        return CRPSPool(self.game, cells, self.book.copy(), self.levels)

    # What is proved -------------------------------------------------------------------------

    def totals(self) -> CRPSTotals:  # type: ignore[override]  # another book
        """The book."""
        paid, log_prior = self.cells[PAID].copy(), self.cells[PRIOR].copy()
        return CRPSTotals(self.rounds, float(self.book[LOSS]), paid, log_prior)

    def certificate(self) -> Certificate:
        """(22.9)."""
        edges, found = self.edges, self.totals()
        half = 0.5 * float(edges[-1] - edges[0])
        return Certificate.of(
            name="CRPS of merged distributions",
            kind="upper bound",
            rounds=found.rounds,
            loss=found.loss,
            comparator=float(found.paid.min()),
            bound=float((found.paid - half * found.log_prior).min()),
            statement=(
                f"CRPS <= min_j (CRPS_j + (hi-lo)/2 ln 1/p_j), distributions as {CELLS} steps on "
                "[lo, hi]; where expert j slept, the pool's own"
            ),
            assumptions=(Assumption(f"{edges[0]:g} <= y <= {edges[-1]:g}, as given", met=True),),
        )
