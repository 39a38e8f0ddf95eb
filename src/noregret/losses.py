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
from dataclasses import dataclass

from noregret._native.mixing import AVERAGED, LIKELIHOOD, NARROW, SUBSTITUTED
from noregret.declare.fields import Count, FieldReader, Mismatch, Real, Special, Word
from noregret.declare.parameters import PARAMETERS, Range, positive
from noregret.errors import OutcomeError, ParameterError, abbreviated

__all__ = ["LARGEST", "Game", "averaged", "game", "span"]

LARGEST = 1e150  # of outcomes and forecasts in a pool: squares then add up within float64
KINDS = {"square": (SUBSTITUTED, AVERAGED), "brier": (SUBSTITUTED,), "log": (LIKELIHOOD,)}


class Ends:
    """lo and hi as files keep them: two floats in a list, or nothing."""

    def write(self, _: object, ends: tuple[float, float] | None) -> list[float] | None:
        """What stands in the file."""
        return None if ends is None else list(map(float, ends))

    def read(self, f: FieldReader, name: str) -> object:
        """What stands there; `Game.restored` checks it."""
        return f.kept(name)[0]


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

    FIELDS = (
        Word("loss", tuple(KINDS)),
        Count("kind", 0, LIKELIHOOD),
        Special("span", Ends()),
        Real("scale", 1e-300, 1e300),
    )

    @classmethod
    def restored(cls, loss: str, kind: int, ends: object, scale: float) -> Game:
        """The game of these fields."""
        may_lack = kind == LIKELIHOOD or (loss == "square" and kind == SUBSTITUTED)
        if kind not in KINDS[loss] or (not may_lack if ends is None else kind == LIKELIHOOD):
            raise Mismatch("is played in no such way")
        if ends is None:
            return cls(loss, kind, None, scale)
        if type(ends) is not list or [type(end) for end in ends] != [float, float]:
            raise Mismatch("has an invalid range")
        if not (NARROW <= ends[1] - ends[0] <= LARGEST and max(map(abs, ends)) <= LARGEST):
            raise Mismatch("has an invalid range")
        return cls(loss, kind, (ends[0], ends[1]), scale)

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


def game(loss: object, outcome_range: object) -> Game:
    """The game of the Aggregating Algorithm for a loss by name."""
    loss = str(PARAMETERS["loss"].kind.check("loss", loss))
    if loss == "square":
        return Game(loss, SUBSTITUTED, span(outcome_range), 2.0)
    if outcome_range is not None:
        raise ParameterError(
            f"outcome_range = {abbreviated(outcome_range)}: {loss} loss needs none; leave it out"
        )
    if loss == "brier":
        return Game(loss, SUBSTITUTED, (0.0, 1.0), 2.0)
    return LOG


LOG = Game("log", LIKELIHOOD, None, 1.0)
"""The game of the Bayesian Algorithm."""


def averaged(outcome_range: object, learning_rate: object) -> Game:
    """The game of exponential weights: square loss, weighted means."""
    limits = span(outcome_range)
    if limits is None:
        raise ParameterError("outcome_range = None: exponential weights need a range given")
    scale = 0.5
    if learning_rate is not None:
        scale = positive("learning_rate", learning_rate) * (limits[1] - limits[0]) ** 2
        if not 1e-300 < scale < 1e300:
            raise ParameterError(
                f"learning_rate = {abbreviated(learning_rate)}: it must be from 1e-300 to 1e300 "
                "times 1/(hi - lo)^2"
            )
    return Game("square", AVERAGED, limits, scale)


def span(outcome_range: object) -> tuple[float, float] | None:
    """(lo, hi) from a pair, or from a number Y for [-Y, Y]; None stays None."""
    return Range(NARROW, LARGEST).check("outcome_range", outcome_range)
