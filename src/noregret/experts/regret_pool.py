"""The state of a pool by the gradient trick; see noregret._native.regrets, docs/theory.md 22."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from noregret._native import regrets
from noregret.certificates import SQUARE, Assumption, Certificate, rounding
from noregret.declare.fields import Array, Mismatch, Part
from noregret.errors import NumericalError
from noregret.experts.convex import ConvexLoss
from noregret.experts.pool import Pool
from noregret.experts.tables import Tables
from noregret.types import Matrix, Vector

__all__ = ["RULES", "RegretPool", "RegretTotals", "regret_statements"]

RULES = {"mlpol": regrets.MLPOL, "boa": regrets.BOA}
NAMES = ("MLpol", "BOA")


@dataclass(frozen=True, slots=True)
class RegretTotals:
    """A pool's book, added up."""

    rule: int
    rounds: int
    loss: float
    paid: Vector  # by expert, the pool's own loss where it slept
    regret: Vector  # R_k, linearised
    price: Vector  # what (22.4) or (22.7) allows for R_k
    log_prior: Vector
    reach: float  # the largest |r| of each round, added up
    slept: int  # rounds with a sleeper
    concave: int  # rounds in which the caller's loss was not convex


class RegretPool(Pool):
    """Linearised regrets, what each expert paid, and the book of the pool."""

    __slots__ = ()

    FIELDS = (
        Part("game", ("ConvexLoss",)),
        Array("cells", (regrets.CELL_ROWS, "N"), finite=False),
        Array("book", (regrets.BOOK_ROWS, 2), finite=False),
    )
    game: ConvexLoss  # type: ignore[assignment]  # pools are asked for kind, binary and outcome

    def __init__(self, game: ConvexLoss, cells: Matrix, book: Matrix) -> None:
        super().__init__(game, cells, book)  # type: ignore[arg-type]  # as above

    @classmethod
    def begin(cls, loss: ConvexLoss, prior: Vector, rule: str) -> RegretPool:
        """A pool that has seen nothing; `prior` adds up to 1."""
        cells = np.zeros((regrets.CELL_ROWS, prior.size))
        cells[regrets.PRIOR] = prior
        book = np.zeros((regrets.BOOK_ROWS, 2))
        book[regrets.GAME] = RULES[rule], loss.code
        book[regrets.LEVEL, 0] = loss.level
        return cls(loss, cells, book)

    @classmethod
    def restored(cls, game: ConvexLoss, cells: Matrix, book: Matrix) -> RegretPool:  # type: ignore[override]  # as above
        """The pool of these fields."""
        counts = book[regrets.ROUNDS]
        if not cells.shape[1] or not ((counts >= 0.0) & (counts <= 2.0**53)).all():
            raise Mismatch("has no experts, or an invalid count of rounds")
        same = book[regrets.GAME, 1] == game.code and book[regrets.GAME, 0] in RULES.values()
        if not same or (game.given is None and book[regrets.LEVEL, 0] != game.level):
            raise Mismatch("is played for another loss")
        prior, worth = cells[regrets.PRIOR], cells[regrets.WORTH]
        if (
            not (prior > 0.0).all()
            or not (worth > 0.0 if book[regrets.UNIT, 0] else worth == 0.0).all()
        ):
            raise Mismatch("has no prior weights, or no scale")
        return cls(game, cells, book)

    def copy(self) -> RegretPool:
        """A pool that shares nothing with this one."""
        return RegretPool(self.game, self.cells.copy(), self.book.copy())

    def view(self) -> RegretPool:
        """A pool of the same arrays, which learns in arrays of its own."""
        return RegretPool(self.game, self.cells, self.book)

    @property
    def rounds(self) -> int:
        """How many rounds have been learned."""
        return int(self.book[regrets.ROUNDS, 0])

    # One round ------------------------------------------------------------------------------

    def forecast(self, said: Vector) -> float:
        """The pool's forecast from those of the experts, NaN for those who sleep."""
        return float(self._means(self.cells.copy(), said[:, None])[0])

    def _means(self, cells: Matrix, said: Matrix, where: str = "") -> Vector:
        g = np.empty(said.shape[1])
        if not regrets.forecast(cells, self.book, said, g):
            self._nobody(np.full(1, math.nan), where)
        return g

    def learn(self, said: Vector, y: float, costs: Vector | None = None) -> tuple[float, float]:  # noqa: ARG002  # no likelihoods
        """Learn one round; its forecast and its loss."""
        cells, book = self.cells.copy(), self.book.copy()
        table, ys = said[:, None], np.array([y])
        g = self._means(cells, table)
        loss = self._settle(cells, book, table, ys, g)
        self.cells, self.book = cells, book
        return float(g[0]), loss

    def _settle(
        self, cells: Matrix, book: Matrix, said: Matrix, ys: Vector, g: Vector, where: str = ""
    ) -> float:
        costs, slopes = np.empty(self.size), np.empty(g.size)
        if self.game.given is None:
            loss = regrets.learn(cells, book, said, ys, g, slopes, costs)
        else:
            slopes = self.game.slopes(g, ys)
            each, mine = self.game.values(said, ys), self.game.values(g, ys)
            loss, costs = float(mine.sum()), each.sum(axis=1)
            with np.errstate(over="ignore", invalid="ignore"):
                under = mine - each - slopes * (g - said)
                sizes = np.abs(each) + np.abs(mine) + np.abs(slopes) * (np.abs(g) + np.abs(said))
                book[regrets.LEVEL, 0] += bool((under > 1e3 * rounding(1.0) * sizes).any())
            if not regrets.settle(cells, book, said, g, slopes, loss, costs):
                loss = math.nan
        if loss != loss:
            raise _beyond(where)
        return loss

    def weights(self, said: Vector | None = None) -> Vector:
        """The weights, adding up to 1: of all experts, or of those awake."""
        cells = self.cells.copy()
        self._means(cells, np.zeros((self.size, 1)) if said is None else said[:, None])
        weights: Vector = cells[regrets.WEIGHT].copy()
        return weights

    # Many rounds ----------------------------------------------------------------------------

    def replay(
        self,
        said: Matrix,
        y: Matrix,
        costs: Matrix | None = None,  # noqa: ARG002  # no likelihoods
        *,
        weights: bool = False,
    ) -> tuple[Matrix, Vector, Matrix]:
        """Forecast-then-learn over rows, T x N or T x N x k: forecasts, losses, weights."""
        T, at = len(y), Tables(said, y, weights=weights)
        cells, book = self.cells.copy(), self.book.copy()
        if self.game.given is None:
            results = at.forecasts, at.losses, at.weights
            failed = regrets.replay(cells, book, at.said, at.ys, *results)
            if failed >= T:
                raise _beyond(f" in row {failed - T}")
            if failed >= 0:
                self._nobody(np.full(1, math.nan), f" in row {failed}")
        else:
            held = RegretPool(self.game, cells, book)
            for t in range(T):
                where = f" in row {t}"
                g = at.forecasts[t] = held._means(cells, at.said[t], where)
                if weights:
                    at.weights[t] = cells[regrets.WEIGHT]
                at.losses[t] = self._settle(cells, book, at.said[t], at.ys[t], g, where)
        self.cells, self.book = cells, book
        return at.filled()

    def predict_rows(self, said: Matrix) -> Vector:
        """Forecasts from every row; nothing is learned."""
        cells = self.cells.copy()
        means = [self._means(cells, row[:, None], f" in row {t}")[0] for t, row in enumerate(said)]
        return np.array(means, dtype=np.float64)

    # Experts that join ----------------------------------------------------------------------

    def joined(self, weight: float) -> RegretPool:
        """A pool with one more expert, of this share of the prior from now on.

        The others' priors shrink by 1 - weight, the potential with them, and the newcomer counts
        as having slept: it has paid what the pool paid.
        """
        cells = np.hstack([self.cells, np.zeros((regrets.CELL_ROWS, 1))])
        book = self.book.copy()
        cells[regrets.PRIOR, :-1] *= 1.0 - weight
        cells[regrets.PRIOR, -1] = weight
        cells[regrets.WORTH, -1] = book[regrets.UNIT, 1]
        cells[regrets.PAID : regrets.PAID + 2, -1] = book[regrets.LOSS]
        book[regrets.PRICE] *= 1.0 - weight
        return RegretPool(self.game, cells, book)

    def totals(self) -> RegretTotals:  # type: ignore[override]  # another book
        """The book, added up."""
        cells, book = self.cells, self.book
        unit, price = float(book[regrets.UNIT, 0]), float(book[regrets.PRICE].sum())
        prior, worth = cells[regrets.PRIOR], cells[regrets.WORTH]
        with np.errstate(all="ignore"):
            if book[regrets.GAME, 0] == regrets.MLPOL:
                allowed = np.sqrt(worth) * np.sqrt(price / prior)  # (22.4)
            else:  # (22.7): sum eta r^2 = R - E
                nats = np.log1p(price) - np.log(prior)
                squares = cells[regrets.REGRET] - cells[regrets.EDGE]
                allowed = squares + np.sqrt(regrets.STEP * worth) * nats
            return RegretTotals(
                rule=int(book[regrets.GAME, 0]),
                rounds=self.rounds,
                loss=float(book[regrets.LOSS].sum()),
                paid=cells[regrets.PAID] + cells[regrets.PAID + 1],
                regret=unit * cells[regrets.REGRET],
                price=unit * allowed,
                log_prior=np.log(prior),
                reach=float(book[regrets.LEVEL, 1]),
                slept=int(book[regrets.ROUNDS, 1]),
                concave=int(book[regrets.LEVEL, 0]) if self.game.given is not None else 0,
            )


def _beyond(where: str) -> NumericalError:
    return NumericalError(f"a slope times a difference does not fit in float64{where}: rescale")


def regret_statements(loss: ConvexLoss, t: RegretTotals) -> list[Certificate]:
    """What is proved of a pool by the gradient trick, the main statement first."""
    if t.rule not in RULES.values():
        raise NumericalError(f"the book of this pool names no rule ({t.rule}): it has been changed")
    name = NAMES[t.rule]
    words = {
        regrets.MLPOL: "sqrt(D_k/p_k sum_t sum_j p_j r_jt^2/D_j,t-1)",
        regrets.BOA: "sum_t eta_kt r_kt^2 + ln(S/p_k)/eta_k",
    }[t.rule]
    paid = {"square": "sum (y - g)^2", "absolute": "sum |y - g|"}.get(
        loss.name, f"{loss.name} loss"
    )
    assumptions: tuple[Assumption, ...] = ()
    if loss.given is not None:
        assumptions = (
            Assumption(
                "the loss lies above its tangents, as a convex one does, at every forecast seen",
                met=not t.concave,
            ),
        )
    slack = rounding(t.reach + t.loss + float(np.max(np.abs(t.paid))), t.log_prior.size + t.rounds)
    best = int(np.argmin(t.paid + t.price))
    steepest = int(np.argmax(t.regret))
    return [
        Certificate.of(
            name=name,
            kind="upper bound",
            rounds=t.rounds,
            loss=t.loss,
            comparator=float(np.min(t.paid)),
            bound=float(t.paid[best] + t.price[best]),
            statement=f"{paid} <= min_k (L_k + {words})",
            assumptions=assumptions,
            taken=slack,
            about=SQUARE if loss.name == "square" else "",
        ),
        Certificate.of(
            name=f"{name}, convex combinations",
            kind="upper bound",
            rounds=t.rounds,
            loss=float(t.regret[steepest]),
            comparator=0.0,
            bound=float(np.max(t.price)),
            statement=(
                f"regret to every convex combination <= max_k R_k <= max_k {words}, R = sum r"
            ),
            assumptions=assumptions,
            taken=slack,
        ),
    ]
