"""PriorFreeAAR: AAR that charges experts nothing for their weights, in no unit whatever.

After Gaillard, Gerchinovitz, Huard and Stoltz (2019); docs/theory.md has the proof and
native/free.hpp the rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret._native import free_of_prior as ops
from noregret._native import layout
from noregret.certificates import SQUARE, Assumption, Audit, Certificate, rounding
from noregret.declare.fields import Array, Group, Part, Truth, Value, require
from noregret.errors import NumericalError, OutcomeError, ParameterError
from noregret.gaussian.rules import Rule
from noregret.inputs.spaces import FeatureSpace
from noregret.inputs.values import outcome
from noregret.learner.base import OnlineLearner
from noregret.learner.estimator import Regressor
from noregret.learner.state import VectorState
from noregret.types import Matrix, Outcome, Vector

__all__ = ["PriorFreeAAR"]

CODES = {"last": layout.LAST, "midrange": layout.MIDRANGE}
Guess = Callable[[Vector], float]


@dataclass(slots=True, eq=False)
class PriorFreeState(VectorState):
    """[R z] from nothing, and the account; features that are new make a larger state."""

    space: FeatureSpace
    rule: Rule
    intercept: bool
    factor: Matrix  # (k, k + 1)
    book: Matrix  # see native/free.hpp
    guess: Guess | None = None  # the hint as a function of x; ENDS are 0 between rounds then

    FIELDS = (
        Part("space", ("Positions", "Names")),
        Part("rule", ("Rule",)),
        Truth("intercept"),
        Array("factor", ("k", "columns")),
        Array("book", (ops.BOOK_ROWS, 2)),
        Value("guess", called="hint", later=True),
    )

    @classmethod
    def start(
        cls, space: FeatureSpace, rule: Rule, guess: Guess | None, *, intercept: bool
    ) -> PriorFreeState:
        """Nothing learned."""
        k, book = space.size + intercept, np.zeros((ops.BOOK_ROWS, 2))
        book[ops.ENDS] = rule.level
        return cls(space, rule, intercept, np.zeros((k, k + 1)), book, guess)

    @classmethod
    def restored(cls, *fields: Any) -> PriorFreeState:
        """The state of these values."""
        space, rule, intercept, factor, book, guess = fields
        k = space.size + intercept
        require(factor.shape == (k, k + 1), "has a triangle for other features")
        require(rule.code == layout.AAR or rule.hinted, "has the rule of another learner")
        unused = factor[np.diagonal(factor) == 0.0]
        upper = not np.tril(factor[:, :k], -1).any()
        require(upper and not unused.any(), "has no triangle")
        rounds, (low, high) = book[ops.ROUNDS, 0], book[ops.ENDS]
        require(0.0 <= rounds <= 2.0**53, "has an invalid count of rounds")
        moves = rule.code > layout.AROUND
        require(low <= high and (moves or low == high == rule.level), "has a hint of another rule")
        plain = rule == Rule(layout.AROUND)
        require(callable(guess) == plain and (plain or guess is None), "has no hint of its rule")
        return cls(space, rule, intercept, factor, book, guess)

    def copy(self) -> PriorFreeState:
        """A state that shares nothing that changes."""
        arrays = self.factor.copy(), self.book.copy()
        return PriorFreeState(self.space, self.rule, self.intercept, *arrays, self.guess)

    def with_space(self, space: FeatureSpace) -> PriorFreeState:
        """A larger copy: what is new has been 0 so far, and no row of R has gone that way."""
        state = PriorFreeState.start(space, self.rule, self.guess, intercept=self.intercept)
        old, k = self.factor, len(self.factor)
        state.factor[:k, :k], state.factor[:k, -1] = old[:, :k], old[:, k]
        state.book = self.book.copy()
        return state

    @property
    def rounds(self) -> int:
        """How many rounds have been learned."""
        return int(self.book[ops.ROUNDS, 0])

    def target(self, y: Outcome) -> float:
        """The outcome, if it is within limits."""
        value = outcome(y)
        if not abs(value) <= layout.LARGEST_OUTCOME:
            raise OutcomeError(f"y = {value!r}: sizes up to 2^511 can be taken; rescale it")
        return value

    def _rows(self, xs: Matrix) -> Matrix:
        """With the constant feature, if there is one, in front."""
        return np.column_stack([np.ones(len(xs)), xs]) if self.intercept else xs

    @contextmanager
    def _hinted(self, x: Vector) -> Iterator[None]:
        """Where the function's hint at x stands for one round."""
        if self.guess is None:
            yield
            return
        h = outcome(self.guess(x.copy()))
        if not abs(h) <= layout.LARGEST_OUTCOME:
            raise ParameterError(f"hint: the function says {h!r}; sizes up to 2^511 can be taken")
        self.book[ops.ENDS] = h
        try:
            yield
        finally:
            self.book[ops.ENDS] = 0.0

    def predict_vector(self, x: Vector) -> float:
        """h + (m - h)/d."""
        with self._hinted(x):
            forecast = ops.predict(self.factor, self.book, self._rows(x[None])[0])
        if forecast != forecast:
            raise NumericalError("the look at x does not fit in float64: rescale the features")
        return forecast

    def learn_vector(self, x: Vector, y: float) -> None:
        """Learn one round."""
        self.run(x[None], np.array([y]))

    def run(self, xs: Matrix, ys: Vector) -> tuple[Vector, Vector]:
        """Predict-then-learn over rows, in place: forecasts and losses."""
        g, losses, rows = np.empty(len(ys)), np.empty(len(ys)), self._rows(xs)
        step = len(ys) if self.guess is None else 1
        for t in range(0, len(ys), step or 1):
            now = slice(t, t + step)
            with self._hinted(xs[t]):
                arrays = rows[now], ys[now], g[now], losses[now]
                failed = ops.replay(self.rule.code, self.factor, self.book, *arrays)
            if failed >= 0:
                raise NumericalError(f"row {t + failed} does not fit in float64: rescale it")
        return g, losses

    # What is proved -------------------------------------------------------------------------

    def certificates(self) -> list[Certificate]:
        """Every statement that applies, the main one first."""
        sums = self.book[: ops.ENERGY + 1].sum(axis=1)
        loss, fit, share, charge, relief, energy = sums.tolist()
        widest, rounds = float(self.book[ops.WIDEST, 0]), self.rounds
        kept = float(np.square(self.factor[:, -1]).sum())
        size = energy + kept + fit
        audit = Audit("|z|^2 + V = sum y^2", abs(energy - kept - fit), rounding(size, rounds))
        words = self.rule.hint if self.guess is None else "h what the function given says of x"
        hint = f"; {words}" if self.rule.hinted else ", h = 0"
        best = "min_w sum (y - w'x)^2"
        found = [
            (
                "AAR without a prior",
                "upper bound",
                fit + widest * widest * share,
                f"{best} + D^2 sum (1 - 1/d)",
                (Assumption(f"|y - h| <= D = {widest:.6g}, the largest so far{hint}", met=True),),
            ),
            (
                "AAR without a prior, exactly",
                "equality",
                fit + charge - relief,
                f"{best} + sum (y - h)^2 (1 - 1/d) - sum (d - 1) (g - h)^2",
                (),
            ),
        ]
        return [
            Certificate.of(
                name=name,
                kind=kind,  # type: ignore[arg-type]  # one of the two above
                rounds=rounds,
                loss=loss,
                comparator=fit,
                bound=bound,
                statement=f"sum (y - g)^2 {'=' if kind == 'equality' else '<='} {right}",
                assumptions=assumptions,
                scale=energy + charge + relief,
                about=SQUARE,
                audit=(audit,),
            )
            for name, kind, bound, right, assumptions in found
        ]


class PriorFreeAAR(Regressor, OnlineLearner[PriorFreeState]):
    """AAR without a prior: no weight costs anything, and no linear change of features matters.

    Forecasts m_t/d_t as AAR does, m and d from the rounds so far alone; where x_t has a part that
    no x before had, 0.  On any data with |y| <= Y (Gaillard, Gerchinovitz, Huard and Stoltz 2019)

        sum (y_t - g_t)^2 <= min_w sum (y_t - w'x_t)^2 + Y^2 sum (1 - 1/d_t)

    for all w at once, with no a|w|^2: features need no unit and no scale, and a map of them by any
    invertible matrix changes no forecast but by rounding.  The price is one round at Y^2 for each
    direction that is new.

    Cost: 4 n^2 flops per round and n^2 numbers.  An entry below 2^-40 of the terms that it is the
    difference of counts as 0: smaller ones are what rounding leaves of directions seen before.

    Parameters
    ----------
    hint : a guess h of y_t that is known before it: a number, "last" (the outcome before),
        "midrange" (of the outcomes before), or a function from x, the features as a vector in the
        order of their arrival, to a number.  Forecasts are h + (m_t - h)/d_t, and the price is D^2
        instead of Y^2, |y_t - h_t| <= D.  A function is asked at each forecast and once more when
        the round is learned, before y; a file keeps its name, and `load(path, hint=f)` gives it
        back.
    fit_intercept : add the constant feature 1.

    >>> learner = PriorFreeAAR(fit_intercept=True)
    >>> for t in range(100):
    ...     x = {"far": 1e9 + t % 7, "tiny": 1e-9 * (t % 3)}
    ...     forecast = learner.predict_one(x)
    ...     learner.learn_one(x, 2.0 * (t % 7) - (t % 3))
    >>> round(learner.predict_one({"far": 1e9 + 5.0, "tiny": 2e-9}), 1)
    7.7
    >>> [certificate.holds for certificate in learner.certificates()]
    [True, True]
    """

    STATE = Group("state", PriorFreeState)
    _merge_refusal = "which directions were new depends on the order of one stream"

    def __init__(
        self, *, hint: float | str | Guess | None = None, fit_intercept: bool = False
    ) -> None:
        self.hint = hint
        self.fit_intercept = fit_intercept

    def _start(self, space: FeatureSpace) -> PriorFreeState:
        intercept, guess = self._checked("fit_intercept"), None
        if callable(self.hint):
            rule, guess = Rule(layout.AROUND), self.hint
        else:
            hint = 0.0 if self.hint is None else self._checked("hint")
            if isinstance(hint, str):
                rule = Rule(CODES[hint])
            else:
                rule = Rule(layout.AROUND, hint) if hint else Rule(layout.AAR)
        return PriorFreeState.start(space, rule, guess, intercept=intercept)

    @property
    def coef_(self) -> Vector:
        """Weights of the best expert so far; of several the smallest, in units of the features."""
        return self._weights()[1]

    @property
    def intercept_(self) -> float:
        """The weight of the constant feature; 0 without one."""
        return self._weights()[0]

    def _weights(self) -> tuple[float, Vector]:
        with self._lock:
            state = self._learned()
            used = np.diagonal(state.factor) != 0.0
            rows = state.factor[used]
            sizes = np.abs(rows[:, :-1]).max(axis=0, initial=0.0)
            scale = np.where(sizes > 0.0, sizes, 1.0)
            w = np.linalg.lstsq(rows[:, :-1] / scale, rows[:, -1], rcond=None)[0] / scale
            constant = state.intercept
        return (float(w[0]), w[1:]) if constant else (0.0, w)
