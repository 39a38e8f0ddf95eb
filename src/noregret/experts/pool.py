"""The state of a pool: one array of experts, one book of sums; see noregret._native.mixing.

A call that is refused, and one that only asks, leaves both as they were: such a call works on a
copy, since some rows of the array belong to the round in hand, and a model file holds them too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from noregret._native import mixing
from noregret.certificates import Audit
from noregret.declare.fields import Array, Mismatch, Part
from noregret.errors import InputError, OutcomeError
from noregret.experts.audits import audits_of
from noregret.losses import Game
from noregret.types import Matrix, Vector

__all__ = ["Pool", "PoolTotals"]


@dataclass(frozen=True, slots=True)
class PoolTotals:
    """A pool's book, added up."""

    rounds: int
    loss: float
    mix: float  # -(1/eta) ln sum_j p_j exp(-eta L_j), round by round
    over: float  # what rounds outside the range cost more than their mix
    worst: float  # largest (loss - mix) of a round inside, in units of its size
    worst_round: int
    outside: int  # rounds outside the range
    first_outside: int
    seen: tuple[float, float]  # smallest and largest outcome
    width: float  # hi - lo that eta is made for
    rate: float  # eta
    share: float  # of all weight, to the prior after each round; FALLING: 1/(t + 1)
    paid: Vector  # by expert, the pool's mix where it slept
    log_prior: Vector
    best_sequence: float  # under Fixed Share, price included
    best_course: float  # the loss of that sequence alone
    switches: int
    reach: float  # largest loss of any expert in a round
    staying: Vector  # by expert, what Fixed Share charges for keeping to it all the time
    audit: tuple[Audit, ...] = ()
    guarded: bool = False  # whether the last expert is a pool of rules, see guarded_pool
    own_loss: float | None = None  # of the pool itself, where others speak in its place, see guard
    beyond: float = 0.0  # what outcomes beyond those seen cost them more than the pool

    @property
    def led(self) -> float:
        """By how much those who speak in the pool's place have lost more than it, if so."""
        return 0.0 if self.own_loss is None else max(self.loss - self.own_loss, 0.0)

    @property
    def falling(self) -> bool:
        """Whether the share falls, so that no rate of changes had to be named."""
        return self.share == mixing.FALLING


class Pool:
    """Weights in the log domain, what each expert paid, and the book of the pool."""

    __slots__ = ("book", "cells", "game")

    FIELDS = (
        Part("game", ("Game",)),
        Array("cells", (mixing.POOL_ROWS, "N"), finite=False),
        Array("book", (mixing.BOOK_ROWS, 2), finite=False),
    )

    def __init__(self, game: Game, cells: Matrix, book: Matrix) -> None:
        self.game, self.cells, self.book = game, cells, book

    @classmethod
    def start(cls, game: Game, prior: Vector, share: float | str = 0.0) -> Pool:
        """A pool that has seen nothing; `prior` adds up to 1, a share may be "falling"."""
        share = mixing.FALLING if isinstance(share, str) else share
        cells = np.zeros((mixing.POOL_ROWS, prior.size))
        cells[mixing.PRIOR] = np.log(prior)
        cells[mixing.STAY] = _stay(share, 1.0 - prior)
        book = np.zeros((mixing.BOOK_ROWS, 2))
        low, high = game.span or (0.0, 0.0)
        book[mixing.GAME] = game.kind, game.scale
        book[mixing.RATE] = game.rate, share
        book[mixing.RANGE] = low, high
        book[mixing.WIDTH] = high - low, game.learned
        book[mixing.WORST, 0] = -math.inf
        return cls(game, cells, book)

    @classmethod
    def restored(cls, game: Game, cells: Matrix, book: Matrix) -> Pool:
        """The pool of these fields."""
        counts = np.array([*book[mixing.ROUNDS], *book[mixing.CHANGES], book[mixing.WORST, 1]])
        if not cells.shape[1] or not ((counts >= 0.0) & (counts <= 2.0**53)).all():
            raise Mismatch("has no experts, or an invalid count of rounds")
        if book[mixing.GAME, 0] != game.kind or not 0.0 <= book[mixing.RATE, 1] <= 1.0:
            raise Mismatch("plays another game")
        return cls(game, cells, book)

    def copy(self) -> Pool:
        """A pool that shares nothing with this one."""
        return Pool(self.game, self.cells.copy(), self.book.copy())

    def view(self) -> Pool:
        """A pool of the same arrays, which learns in arrays of its own."""
        return Pool(self.game, self.cells, self.book)

    def adopt(self, after: Pool) -> None:
        """Be what another pool has become."""
        self.cells, self.book = after.cells, after.book

    @property
    def size(self) -> int:
        """How many experts there are."""
        return int(self.cells.shape[1])

    @property
    def rounds(self) -> int:
        """How many rounds have been learned."""
        return int(self.book[mixing.ROUNDS, 0])

    # One round ------------------------------------------------------------------------------

    def forecast(self, said: Vector) -> float:
        """The pool's forecast from those of the experts, NaN for those who sleep."""
        return self._forecast(self.cells.copy(), said)

    def _forecast(self, cells: Matrix, said: Vector) -> float:
        cells[mixing.SAID] = said
        g = mixing.forecast(cells, self.book)
        if g != g:
            self._nobody(said)
        return g

    def learn(self, said: Vector, y: float, costs: Vector | None = None) -> tuple[float, float]:
        """Learn one round; its forecast and its loss.  A likelihood game needs the losses too."""
        cells, book = self.cells.copy(), self.book.copy()
        g = self._forecast(cells, said)
        asleep = int(np.isnan(said).sum())
        if costs is not None:
            cells[mixing.COST] = costs
            if mixing.leader(cells, 1.0) < 0:
                raise OutcomeError(
                    f"y = {y!r}: every expert awake gave it probability 0, so no mixture can go "
                    "on; give each expert some chance of every outcome"
                )
        loss = mixing.settle(cells, book, y, g, asleep)
        self.cells, self.book = cells, book
        return g, loss

    def weights(self, said: Vector | None = None) -> Vector:
        """The weights, adding up to 1: of all experts, or of those awake."""
        cells = self.cells.copy()
        cells[mixing.SAID] = 0.0 if said is None else said
        mixing.wake(cells)
        weights = np.empty(self.size)
        mixing.shares(cells, self.book, weights)
        return weights

    # Many rounds ----------------------------------------------------------------------------

    def replay(
        self, said: Matrix, y: Vector, costs: Matrix | None = None, *, weights: bool = False
    ) -> tuple[Vector, Vector, Matrix]:
        """Forecast-then-learn over rows: forecasts, losses and, if wanted, weights."""
        forecasts, losses = np.empty(len(y)), np.empty(len(y))
        kept = np.empty((len(y) if weights else 0, self.size))
        none = np.empty((0, self.size))
        given = none if costs is None else costs
        cells, book = self.cells.copy(), self.book.copy()
        failed = mixing.replay(cells, book, said, given, y, forecasts, losses, kept)
        if failed >= 0:
            if failed >= len(y):
                t = failed - len(y)
                raise OutcomeError(
                    f"y[{t}] = {float(y[t])!r}: every expert awake gave it probability 0"
                )
            self._nobody(said[failed], f" in row {failed}")
        self.cells, self.book = cells, book
        return forecasts, losses, kept

    def predict_rows(self, said: Matrix) -> Vector:
        """Forecasts from every row; nothing is learned."""
        forecasts = np.empty(len(said))
        mixing.survey(self.cells.copy(), self.book, said, forecasts)
        failed = np.isnan(forecasts)
        if failed.any():
            t = int(np.argmax(failed))
            self._nobody(said[t], f" in row {t}")
        return forecasts

    def _nobody(self, said: Vector, where: str = "") -> None:
        if np.isnan(said).all():
            raise InputError(
                f"every expert sleeps{where}: at least one must forecast, or leave it out"
            )
        raise InputError(
            f"only experts without any weight are awake{where}: each gave probability 0 to what "
            "happened before; share > 0 would let them come back"
        )

    # Experts that join ----------------------------------------------------------------------

    def joined(self, weight: float) -> Pool:
        """A pool with one more expert, of this share of all weight from now on.

        The others' priors shrink by 1 - weight, and the newcomer counts as having slept: it has
        paid what the pool's mixture paid.
        """
        totals = self.totals()
        cells = np.hstack([self.cells, np.zeros((mixing.POOL_ROWS, 1))])
        cells[mixing.PRIOR, :-1] += math.log1p(-weight)
        cells[mixing.PRIOR, -1] = math.log(weight)
        cells[mixing.STAY] = _stay(totals.share, -np.expm1(cells[mixing.PRIOR]))
        for row in (mixing.PAID, mixing.TRACK, mixing.COURSE):
            cells[row, -1] = totals.mix
        return Pool(self.game, cells, self.book.copy())

    def totals(self) -> PoolTotals:
        """The book, added up."""
        book, cells = self.book, self.cells
        rate, share = float(book[mixing.RATE, 0]), float(book[mixing.RATE, 1])
        falls = share == mixing.FALLING and self.rounds > 0
        last = (math.log1p(1.0 / self.rounds) if falls else 1.0) / rate  # after it nothing is paid
        stays = max(book[mixing.REACH, 1] - last, 0.0)
        return PoolTotals(
            rounds=self.rounds,
            loss=float(book[mixing.LOSS].sum()),
            mix=float(book[mixing.MIX].sum()),
            over=float(book[mixing.OVER].sum()),
            worst=float(book[mixing.WORST, 0]),
            worst_round=int(book[mixing.WORST, 1]),
            outside=int(book[mixing.ROUNDS, 1]),
            first_outside=int(book[mixing.CHANGES, 1]),
            seen=(float(book[mixing.SEEN, 0]), float(book[mixing.SEEN, 1])),
            width=float(book[mixing.WIDTH, 0]),
            rate=rate,
            share=share,
            paid=cells[mixing.PAID] + cells[mixing.PAID + 1],
            log_prior=cells[mixing.PRIOR].copy(),
            best_sequence=float(book[mixing.BEST, 0]),
            best_course=float(book[mixing.BEST, 1]),
            switches=int(book[mixing.CHANGES, 0]),
            reach=float(book[mixing.REACH, 0]),
            staying=np.abs(cells[mixing.STAY]) * stays,
            audit=audits_of(cells, book),
        )

    @property
    def excess(self) -> Vector:
        """u_j: each expert's loss less that of the mixture, as far as it is remembered."""
        excess: Vector = self.cells[mixing.EXCESS].copy()
        return excess


def _stay(share: float, others: Vector) -> Vector:
    """The row STAY: ln(1 - s + s p_j), from the weight of all others; -1 of a falling share."""
    falls = np.full(others.size, -1.0)
    return falls if share == mixing.FALLING else np.log1p(-share * others)
