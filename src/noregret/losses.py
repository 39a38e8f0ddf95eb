"""Losses that can be mixed: what a forecast costs, and the learning rate a pool may use for it.

A loss is eta-mixable if for any weights on any forecasts some single forecast costs, whatever
happens, at most -(1/eta) ln sum_j weight_j exp(-eta loss_j).  The largest such eta gives the
Aggregating Algorithm its guarantee, loss <= best expert + ln N/eta (Vovk 1990, 1998):

    square     (y - g)^2, y in [lo, hi]        eta = 2/(hi - lo)^2
    Brier      (y - g)^2, y in {0, 1}          eta = 2: the square loss on [0, 1]
    log        -ln(density or probability)     eta = 1: the mixture itself

Weighted means of forecasts within [lo, hi] need an exp-concave loss: eta = 1/(2 (hi - lo)^2).
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from numbers import Real
from typing import Any

from noregret._ops.mixing import AVERAGED, LIKELIHOOD, NARROW, SUBSTITUTED
from noregret.errors import OutcomeError, ParameterError, abbreviated

__all__ = ["LARGEST", "Game", "averaged", "game"]

LARGEST = 1e150  # of outcomes and forecasts in a pool: squares then add up within float64


@dataclass(frozen=True, slots=True)
class Game:
    """A loss with its range and its learning rate.

    >>> game("square", (0.0, 2.0)).rate
    0.5
    >>> game("brier", None).rate
    2.0
    """

    loss: str
    kind: int  # how forecasts are mixed
    span: tuple[float, float] | None  # None: learned, or no range at all
    scale: float  # eta times (hi - lo)^2; eta itself for log loss

    @property
    def rate(self) -> float:
        """eta; infinite while a range that is to be learned is not known."""
        if self.kind == LIKELIHOOD:
            return self.scale
        if self.span is None:
            return math.inf
        return self.scale / (self.span[1] - self.span[0]) ** 2

    @property
    def learned(self) -> bool:
        """Whether the range is learned."""
        return self.span is None and self.kind != LIKELIHOOD

    @property
    def binary(self) -> bool:
        """Whether outcomes must be 0 or 1."""
        return self.loss == "brier"

    def outcome(self, y: float) -> float:
        """y, if the game is played with such outcomes."""
        if self.binary and y not in (0.0, 1.0):
            raise OutcomeError(f"y = {y!r}: Brier loss is for outcomes 0 and 1; give one of them")
        if not abs(y) <= LARGEST:
            raise OutcomeError(f"y = {y!r}: a pool takes outcomes up to 1e150; rescale them")
        return y


def game(loss: Any, outcome_range: Any) -> Game:
    """The game of the Aggregating Algorithm for a loss by name."""
    if not isinstance(loss, str) or loss not in ("square", "log", "brier"):
        raise ParameterError(f"loss = {abbreviated(loss)}: give 'square', 'log' or 'brier'")
    if loss == "square":
        return Game(loss, SUBSTITUTED, span(outcome_range), 2.0)
    if outcome_range is not None:
        raise ParameterError(
            f"outcome_range = {abbreviated(outcome_range)}: {loss} loss needs none; leave it out"
        )
    if loss == "brier":
        return Game(loss, SUBSTITUTED, (0.0, 1.0), 2.0)
    return Game(loss, LIKELIHOOD, None, 1.0)


def averaged(outcome_range: Any, learning_rate: Any) -> Game:
    """The game of exponential weights: square loss, weighted means."""
    limits = span(outcome_range)
    if limits is None:
        raise ParameterError("outcome_range = None: exponential weights need a range given")
    scale = 0.5
    if learning_rate is not None:
        scale = _number("learning_rate", learning_rate) * (limits[1] - limits[0]) ** 2
        if not 1e-300 < scale < 1e300:
            raise ParameterError(
                f"learning_rate = {abbreviated(learning_rate)}: it must be a number > 0"
            )
    return Game("square", AVERAGED, limits, scale)


def span(outcome_range: Any) -> tuple[float, float] | None:
    """(lo, hi) from a pair, or from a number Y for [-Y, Y]; None stays None."""
    if outcome_range is None:
        return None
    if isinstance(outcome_range, Real):
        high = _number("outcome_range", outcome_range)
        low = -high
    else:
        try:
            low, high = (_number("outcome_range", end) for end in outcome_range)
        except ParameterError:
            raise
        except (TypeError, ValueError):
            raise ParameterError(
                f"outcome_range = {abbreviated(outcome_range)}: give Y for [-Y, Y], a pair (lo, hi), "
                "or None"
            ) from None
    if not NARROW <= high - low <= LARGEST:
        raise ParameterError(
            f"outcome_range = {abbreviated(outcome_range)}: hi - lo must be from 1e-100 to 1e150"
        )
    return low, high


def _number(name: str, value: Any) -> float:
    if isinstance(value, Real) and not isinstance(value, bool):
        with suppress(OverflowError):
            taken = float(value)
            if abs(taken) <= LARGEST:
                return taken
    raise ParameterError(f"{name} = {abbreviated(value)}: it must be a finite number")
