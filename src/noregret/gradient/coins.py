"""Linear quantiles by betting: the state of LinearQuantiles; docs/theory.md, section 20.5.

Each weight w_i of each level has a gambler of its own.  It starts with the stake and bets on the
slopes g_i of the pinball loss, whose size |g_i| <= h_i = |x_i| max(tau, 1 - tau) is known before y
is: 48 fixed fractions v of its wealth, both signs, as a portfolio,

    W = stake sum_v p_v prod (1 - g_i v),    w_i = stake sum_v p_v v prod (1 - g_i v)        (20.8)

where a fraction sits out rounds with |v| h_i > 1/2, so that no factor is below 1/2.
"""

from __future__ import annotations

import math
from typing import Self

import numpy as np

from noregret.certificates import Certificate
from noregret.declare.fields import Array, Count, Part, Real, Truth, require
from noregret.errors import NumericalError
from noregret.inputs.spaces import FeatureSpace
from noregret.learner.replay import BandReplay, Replay
from noregret.learner.state import VectorState
from noregret.types import Matrix, Vector

__all__ = ["CoinState", "pinball"]

HALF = 0.5 ** np.arange(-3.0, 21.0)  # 8, 4, ..., 2^-20: fractions, in units of the first |x_i|
FRACTIONS = np.concatenate([HALF, -HALF])
FAIR = -math.log(len(FRACTIONS))  # ln p_v
OWN, ISSUED, ZERO, PAID = range(4)  # columns of `book`: pinball losses, and sum g'w
MOST = 1000  # levels in a file


def pinball(levels: Vector, y: float, said: Vector) -> Vector:
    """max(tau e, (tau - 1) e), e = y - said."""
    e = y - said
    loss: Vector = np.maximum(levels * e, (levels - 1.0) * e)
    return loss


class CoinState(VectorState):
    """Wealth by level, feature and fraction, in logarithms; sums of slopes and losses by level."""

    __slots__ = (
        "anchor",
        "book",
        "constant",
        "levels",
        "rounds",
        "slopes",
        "space",
        "stake",
        "wealth",
    )
    FIELDS = (
        Part("space", ("Positions", "Names")),
        Count("rounds"),
        Truth("constant"),
        Real("stake", low=0.0),
        Array("levels", ("levels",)),
        Array("anchor", ("weights",)),
        Array("wealth", ("levels", "weights", len(FRACTIONS))),
        Array("slopes", ("levels", "weights")),
        Array("book", ("levels", 4)),
    )

    def __init__(
        self,
        space: FeatureSpace,
        rounds: int,
        constant: bool,  # noqa: FBT001  # in the order of FIELDS
        stake: float,
        levels: Vector,
        anchor: Vector,
        wealth: Matrix,
        slopes: Matrix,
        book: Matrix,
    ) -> None:
        self.space, self.rounds, self.constant, self.stake = space, rounds, constant, stake
        self.levels, self.anchor, self.wealth = levels, anchor, wealth
        self.slopes, self.book = slopes, book

    @classmethod
    def start(cls, space: FeatureSpace, levels: list[float], *, constant: bool) -> Self:
        """Nothing learned; levels ascending, the constant feature first where there is one."""
        L, n = len(levels), space.size + constant
        wealth = np.full((L, n, len(FRACTIONS)), FAIR)
        taus, book = np.array(levels), np.zeros((L, 4))
        return cls(space, 0, constant, 0.0, taus, np.zeros(n), wealth, np.zeros((L, n)), book)

    @classmethod
    def restored(cls, space: FeatureSpace, rounds: int, constant: bool, *rest: object) -> Self:  # noqa: FBT001
        """The state of these values."""
        found = cls(space, rounds, constant, *rest)  # type: ignore[arg-type]  # in the order of FIELDS
        tau = found.levels
        require(1 <= len(tau) <= MOST, "has no levels, or too many")
        inside = bool(((tau > 0.0) & (tau < 1.0)).all() and (np.diff(tau) > 0.0).all())
        require(inside, "has levels that are not in order")
        require(len(found.anchor) == space.size + constant, "has weights of other features")
        require(bool((found.anchor >= 0.0).all()), "has a feature of negative size")
        return found

    def with_space(self, space: FeatureSpace) -> Self:
        """A larger copy: what is new has been 0 so far, and nobody has bet on it."""
        L, more = len(self.levels), space.size + self.constant - len(self.anchor)
        wealth = np.concatenate([self.wealth, np.full((L, more, len(FRACTIONS)), FAIR)], axis=1)
        return type(self)(
            space,
            self.rounds,
            self.constant,
            self.stake,
            self.levels.copy(),
            np.concatenate([self.anchor, np.zeros(more)]),
            wealth,
            np.concatenate([self.slopes, np.zeros((L, more))], axis=1),
            self.book.copy(),
        )

    def copy(self) -> Self:
        """A state that shares nothing that changes with this one."""
        return self.with_space(self.space)

    # One round ------------------------------------------------------------------------------

    def _bets(self, x: Vector) -> tuple[Vector, Matrix, Matrix]:
        """x with its constant, the fractions that are bet, and the weights of every level."""
        full = np.concatenate([[1.0], x]) if self.constant else x
        anchor = np.where(self.anchor > 0.0, self.anchor, np.abs(full))
        with np.errstate(all="ignore"):  # what is not finite is not bet
            v = FRACTIONS / anchor[:, None]
            most = np.maximum(self.levels, 1.0 - self.levels)[:, None] * np.abs(full)  # h_i
            v = np.where(np.abs(v) * most[..., None] <= 0.5, v, 0.0)
            weights = self.stake * (np.exp(self.wealth) * v).sum(axis=2)  # (20.8)
        return full, v, weights

    def quantiles_vector(self, x: Vector) -> tuple[Vector, Matrix, Matrix, Vector]:
        """Every level's own forecast at x, and how it came about."""
        full, v, weights = self._bets(x)
        with np.errstate(all="ignore"):
            said = weights @ full
        if not np.isfinite(said).all():
            raise NumericalError("the quantiles at x do not fit in float64: rescale the features")
        return said, v, weights, full

    def predict_vector(self, x: Vector) -> float:
        """The quantile whose level is nearest to the median's."""
        said = np.sort(self.quantiles_vector(x)[0])
        return float(said[np.argmin(np.abs(self.levels - 0.5))])

    def learn_vector(self, x: Vector, y: float) -> None:
        """Learn one round: every gambler is paid."""
        self.play(x, y)

    def play(self, x: Vector, y: float) -> Vector:
        """The quantiles at x, ascending; then learn y."""
        said, v, weights, full = self.quantiles_vector(x)
        issued = np.sort(said)
        tau = self.levels
        slope = np.where(y < said, 1.0 - tau, -tau)  # of the loss at the forecast
        with np.errstate(all="ignore"):
            g = slope[:, None] * full
            losses = [pinball(tau, y, one) for one in (said, issued, np.zeros_like(said))]
            book = self.book + np.stack([*losses, (g * weights).sum(axis=1)], axis=1)
            slopes = self.slopes + g
        if not (np.isfinite(book).all() and np.isfinite(slopes).all()):
            raise NumericalError(f"y = {y!r}: its losses do not fit in float64; rescale")
        if self.stake > 0.0:
            self.wealth += np.log1p(-g[..., None] * v)
        else:
            self.stake = abs(y)  # the first outcome that is not 0 says what is much
        self.anchor = np.where(self.anchor > 0.0, self.anchor, np.abs(full))
        self.book, self.slopes = book, slopes
        self.rounds += 1
        return issued

    # Many rounds ----------------------------------------------------------------------------

    def quantiles_rows(self, xs: Matrix) -> Matrix:
        """Quantiles at every row, ascending; nothing is learned."""
        found = [np.sort(self.quantiles_vector(x)[0]) for x in xs]
        return np.array(found).reshape(-1, len(self.levels))

    def run(self, xs: Matrix, ys: Vector) -> tuple[Vector, Vector]:
        """Quantiles of every round, as they were issued, and their pinball losses."""
        rounds = zip(xs, ys.tolist(), strict=True)
        said = np.array([self.play(x, y) for x, y in rounds]).reshape(-1, len(self.levels))
        e = ys[:, None] - said
        return said, np.maximum(self.levels * e, (self.levels - 1.0) * e).sum(axis=1)

    def replayed(self, forecasts: Matrix, losses: Vector, xs: Matrix, ys: Vector) -> Replay:  # noqa: ARG002
        """What a replay gives back."""
        return BandReplay(
            forecast=forecasts[:, np.argmin(np.abs(self.levels - 0.5))],
            mean=None,
            spread=None,
            loss=losses,
            certificate=self.certificate(),
            quantiles=forecasts,
        )

    # What is proved -------------------------------------------------------------------------

    def spent(self) -> Matrix:
        """stake - W, by level and weight: what each gambler has lost."""
        wealth: Matrix = np.exp(self.wealth).sum(axis=2)
        return self.stake * (1.0 - wealth)

    def price(self, weights: Vector) -> Vector:
        """(20.10): by level, the most that the loss can be above that of these weights."""
        found: Vector = self.spent().sum(axis=1) - self.slopes @ weights
        return found

    def certificates(self) -> list[Certificate]:
        """Against all weights, here those that are 0; and the identity that it rests on."""
        own, issued, zero, paid = self.book.sum(axis=0).tolist()
        spent, size = float(self.spent().sum()), self.stake * self.slopes.size
        return [
            Certificate.of(
                name="linear quantiles, regret",
                kind="upper bound",
                rounds=self.rounds,
                loss=issued,
                comparator=zero,
                bound=zero + spent,
                statement=(
                    "pinball loss <= that of u + sum (stake - W) - u'G for all weights u of every "
                    "level; here u = 0"
                ),
                scale=own + size,
            ),
            Certificate.of(
                name="linear quantiles, bets",
                kind="equality",
                rounds=self.rounds,
                loss=paid,
                comparator=0.0,
                bound=spent,
                statement="sum g'w = sum (stake - W)",
                scale=own + zero + size,
            ),
        ]
