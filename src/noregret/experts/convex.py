"""Convex losses with their slopes: what pools by the gradient trick are played for.

square     (y - g)^2                            2 (g - y)
absolute   |y - g|                              sign(g - y)
pinball    (1{y < g} - level) (g - y)           1{y < g} - level, 0 at y = g
huber      e^2/2 up to width, e = |y - g|,      g - y, within [-width, width]
           width (e - width/2) beyond
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from noregret._native import regrets
from noregret._native.mixing import AVERAGED
from noregret.declare.fields import Mismatch, Real, Value, Word
from noregret.declare.parameters import POSITIVE, Number
from noregret.errors import InputError, OutcomeError, ParameterError, abbreviated, wrapping
from noregret.losses import LARGEST
from noregret.types import Matrix

__all__ = ["LEVEL", "ConvexLoss", "convex"]

CODES = {
    "square": regrets.SQUARE,
    "absolute": regrets.ABSOLUTE,
    "pinball": regrets.PINBALL,
    "huber": regrets.HUBER,
    "given": regrets.GIVEN,
}
LEVEL = Number(1e-6, 1.0 - 1e-6, "a number between 0 and 1 (1e-6 away from both)")
Function = Callable[[float, float], float]


@dataclass(frozen=True, slots=True)
class ConvexLoss:
    """A loss by name, with its level or width; or the caller's.

    >>> pinball = convex("pinball", 0.9)
    >>> float(pinball.values(1.0, 3.0)), float(pinball.slopes(1.0, 3.0))
    (1.8, -0.9)
    """

    name: str
    level: float = 0.0  # of pinball; of huber, the width
    given: object = None  # a pair of functions of g and y, or an object with `loss` and `slope`

    FIELDS = (Word("name", tuple(CODES)), Real("level"), Value("given", called="loss"))
    kind: ClassVar[int] = AVERAGED  # weighted means
    binary: ClassVar[bool] = False

    @classmethod
    def restored(cls, name: str, level: float, given: object) -> ConvexLoss:
        """The loss of these fields."""
        try:
            again = convex(*_asked(name, level, given))
        except ParameterError as error:
            raise Mismatch(f"is no loss: {error}") from None
        return again

    @property
    def code(self) -> int:
        """What compiled code calls it."""
        return CODES[self.name]

    def outcome(self, y: float) -> float:
        """y, if it is one that pools take."""
        if not abs(y) <= LARGEST:
            raise OutcomeError(f"y = {y!r}: a pool takes outcomes up to 1e150; rescale them")
        return y

    def values(self, g: ArrayLike, y: ArrayLike) -> Matrix:
        """What forecasts cost."""
        if self.name == "given":
            return self._each(_functions(self.given)[0], "loss", g, y)
        e: Matrix = np.asarray(np.subtract(g, y))
        size = np.abs(e)
        with np.errstate(over="ignore"):
            if self.name == "square":
                return np.asarray(e * e)
            if self.name == "pinball":
                return np.where(e > 0.0, (1.0 - self.level) * e, -self.level * e)
            if self.name == "huber":
                far = self.level * (size - 0.5 * self.level)
                return np.where(size <= self.level, 0.5 * e * e, far)
            return np.asarray(size)

    def slopes(self, g: ArrayLike, y: ArrayLike) -> Matrix:
        """The slope of the loss in g, or one of its slopes."""
        if self.name == "given":
            return self._each(_functions(self.given)[1], "slope", g, y)
        e = np.subtract(g, y, dtype=np.float64)
        if self.name == "square":
            return np.asarray(2.0 * e)
        if self.name == "huber":
            return np.asarray(np.clip(e, -self.level, self.level))
        if self.name == "pinball":
            return np.where(e == 0.0, 0.0, (e > 0.0) - self.level)
        return np.asarray(np.sign(e))

    def _each(self, function: Function, word: str, g: ArrayLike, y: ArrayLike) -> Matrix:
        """The caller's function, pair by pair; NaN of those who sleep."""
        gs, ys = np.broadcast_arrays(np.asarray(g, dtype=np.float64), y)
        found = np.full(gs.shape, np.nan)
        for place in np.ndindex(*gs.shape):
            if gs[place] == gs[place]:
                with wrapping(f"the {word}", InputError):
                    found[place] = float(function(float(gs[place]), float(ys[place])))
                if not np.isfinite(found[place]):
                    raise InputError(
                        f"the {word} of g = {float(gs[place])!r}, y = {float(ys[place])!r} is "
                        f"{float(found[place])!r}: it must be finite; rescale"
                    )
        return found


def _functions(given: Any) -> tuple[Function, Function]:
    if isinstance(given, tuple | list):
        return given[0], given[1]
    return given.loss, given.slope


def _asked(name: str, level: float, given: object) -> tuple[object, object, object]:
    """The arguments of `convex` that a loss was made from."""
    loss = given if name == "given" else name
    return loss, level if name == "pinball" else None, level if name == "huber" else None


def convex(loss: object, level: object = None, width: object = None) -> ConvexLoss:
    """A loss by name, or the caller's: a pair (loss, slope), or an object that has both."""
    pair = isinstance(loss, tuple | list) and len(loss) == 2 and all(map(callable, loss))
    with wrapping("loss", ParameterError):
        own = pair or all(callable(getattr(loss, word, None)) for word in ("loss", "slope"))
    name = "given" if own and not isinstance(loss, str) else loss
    if not (isinstance(name, str) and name in CODES) or loss == "given":
        raise ParameterError(
            f"loss = {abbreviated(loss)}: give square, absolute, pinball or huber, a pair of "
            "functions (loss, slope) of g and y, or an object with both"
        )
    for word, value, of in (("level", level, "pinball"), ("width", width, "huber")):
        if value is not None and name != of:
            raise ParameterError(
                f'{word} = {abbreviated(value)}: it is for loss="{of}"; leave it out'
            )
    if name == "pinball":
        if level is None:
            raise ParameterError('level = None: loss="pinball" needs one, such as 0.9')
        return ConvexLoss(name, LEVEL.check("level", level))
    if name == "huber":
        if width is None:
            raise ParameterError('width = None: loss="huber" needs one: where it becomes linear')
        return ConvexLoss(name, POSITIVE.check("width", width))
    return ConvexLoss(name, 0.0, loss if name == "given" else None)
