"""Parameters: what each name means, which values it takes, how it is written in text.

One table for everyone: learners check their parameters with it when learning starts, the registry
and the command line read text with it, documentation prints its help.  Defaults and types stand in
each learner's `__init__`.  A class whose parameter of that name means something else lists it in
its own `_parameters`.
"""

from __future__ import annotations

import importlib
import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Protocol

from noregret.errors import ParameterError, abbreviated

__all__ = [
    "PARAMETERS",
    "SHARE",
    "Budget",
    "Choice",
    "Flag",
    "Kind",
    "Number",
    "Parameter",
    "Range",
    "Text",
    "Whole",
    "checked",
    "positive",
]


class Kind(Protocol):
    """Which values a parameter takes."""

    @property
    def metavar(self) -> str:
        """What stands for a value in the help of a command."""
        ...

    def check(self, name: str, value: object) -> object:
        """The value as learners use it, or a ParameterError that names it."""
        ...

    def read(self, text: str) -> object:
        """The value from text; a ValueError where it says nothing."""
        ...


def _real(value: object) -> float:
    """A real number as a float, infinite beyond float64; NaN for anything else."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _refused(name: str, value: object, words: str) -> ParameterError:
    return ParameterError(f"{name} = {abbreviated(value)}: it must be {words}")


@dataclass(frozen=True, slots=True)
class Number:
    """A real number within limits.

    >>> Number(0.0, 1.0, "a number from 0 to 1").check("share", 0.5)
    0.5
    >>> Number(0.0, 1.0, "a number from 0 to 1").check("share", "half")
    Traceback (most recent call last):
    noregret.errors.ParameterError: share = 'half': it must be a number from 0 to 1
    """

    low: float
    high: float
    words: str
    metavar: str = "NUMBER"

    def check(self, name: str, value: object) -> float:
        """The number as a float."""
        taken = _real(value)
        if self.low <= taken <= self.high:
            return taken
        raise _refused(name, value, self.words)

    def read(self, text: str) -> float:
        """The number in a text."""
        return float(text)


@dataclass(frozen=True, slots=True)
class NonZero(Number):
    """A real number whose size is within limits, of either sign."""

    def check(self, name: str, value: object) -> float:
        """The number as a float."""
        taken = _real(value)
        if self.low <= abs(taken) <= self.high:
            return taken
        raise _refused(name, value, self.words)


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number within limits."""

    low: int
    high: int
    words: str
    metavar: str = "N"

    def check(self, name: str, value: object) -> int:
        """The number as an int."""
        if isinstance(value, Integral) and not isinstance(value, bool):
            taken = int(value)
            if self.low <= taken <= self.high:
                return taken
        raise _refused(name, value, self.words)

    def read(self, text: str) -> int:
        """The number in a text."""
        return int(text)


@dataclass(frozen=True, slots=True)
class Flag:
    """True or False."""

    metavar: str = ""

    def check(self, name: str, value: object) -> bool:
        """The flag as a bool; NumPy's will do."""
        if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):
            return bool(value)
        raise _refused(name, value, "True or False")

    def read(self, text: str) -> bool:
        """yes, true, no or false."""
        try:
            return {"yes": True, "true": True, "no": False, "false": False}[text.lower()]
        except KeyError:
            raise ValueError(text) from None


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several words."""

    words: tuple[str, ...]
    metavar: str = "TEXT"

    def check(self, name: str, value: object) -> str:
        """The word."""
        if isinstance(value, str) and value in self.words:
            return value
        raise ParameterError(f"{name} = {abbreviated(value)}: give one of {', '.join(self.words)}")

    def read(self, text: str) -> str:
        """The text itself; `check` knows the words."""
        return text


@dataclass(frozen=True, slots=True)
class Text:
    """Whatever the learner understands; it is checked where it is used."""

    metavar: str = "TEXT"

    def check(self, name: str, value: object) -> object:  # noqa: ARG002  # as every kind has it
        """The value itself."""
        return value

    def read(self, text: str) -> object:
        """The text itself."""
        return text


@dataclass(frozen=True, slots=True)
class Range:
    """Y for [-Y, Y], a pair (lo, hi), or None.

    >>> Range().check("outcome_range", 2)
    (-2.0, 2.0)
    """

    narrowest: float = 1e-100
    largest: float = 1e150
    metavar: str = "Y|LO,HI"

    def check(self, name: str, value: object) -> tuple[float, float] | None:
        """(lo, hi); None stays None."""
        if value is None:
            return None
        ends: Any = (value, value) if isinstance(value, Real) else value
        try:
            low, high = (self._end(name, end) for end in ends)
        except ParameterError:
            raise
        except (TypeError, ValueError):
            words = "give Y for [-Y, Y], a pair (lo, hi), or None"
            raise ParameterError(f"{name} = {abbreviated(value)}: {words}") from None
        low = -high if isinstance(value, Real) else low
        if not self.narrowest <= high - low <= self.largest:
            words = f"hi - lo must be from {self.narrowest:g} to {self.largest:g}"
            raise ParameterError(f"{name} = {abbreviated(value)}: {words}")
        return low, high

    def _end(self, name: str, value: object) -> float:
        return Number(-self.largest, self.largest, "a finite number").check(name, value)

    def read(self, text: str) -> object:
        """One number, or two with a comma between them."""
        ends = [float(end) for end in text.split(",")]
        if len(ends) > 2:
            raise ValueError(text)
        return ends[0] if len(ends) == 1 else (ends[0], ends[1])


@dataclass(frozen=True, slots=True)
class Passes:
    """A whole number, or infinity for the limit."""

    metavar: str = "N|inf"

    def check(self, name: str, value: object) -> float:
        """The number as a float."""
        if isinstance(value, float) and value == math.inf:
            return value
        words = "a whole number >= 1, or math.inf for the limit"
        return float(Whole(1, 10**9, words).check(name, value))

    def read(self, text: str) -> float:
        """inf, or a whole number."""
        return math.inf if text == "inf" else int(text)


@dataclass(frozen=True, slots=True)
class Budget(Text):
    """A budget as name:size[:width]; the learner checks which ones it takes."""

    def read(self, text: str) -> object:
        """nystrom:N, window:N, fourier:N[:WIDTH], taylor:D[:WIDTH] or polynomial:D."""
        kinds: dict[str, tuple[str, tuple[type, ...]]] = {
            "nystrom": ("Nystrom", (int,)),
            "window": ("Window", (int,)),
            "fourier": ("RandomFourier", (int, float)),
            "taylor": ("Taylor", (int, float)),
            "polynomial": ("Polynomial", (int,)),
        }
        name, *sizes = text.split(":")
        maker, types = kinds.get(name, ("", ()))
        if not 1 <= len(sizes) <= len(types):
            raise ValueError(text)
        make = getattr(importlib.import_module("noregret.budgets"), maker)
        made: object = make(*(type_(size) for type_, size in zip(types, sizes)))
        return made


@dataclass(frozen=True, slots=True)
class Parameter:
    """One name: its kind, and a line of help."""

    kind: Kind
    help: str

    def read(self, name: str, text: str) -> object:
        """The value from text, or a ParameterError with the help."""
        try:
            return self.kind.read(text)
        except ValueError:
            raise ParameterError(f"{name} = {text!r}: {self.help}") from None


POSITIVE = Number(1e-300, 1e300, "a number > 0 (1e-300 to 1e300)")
SHARE = Number(0.0, math.nextafter(1.0, 0.0), "a number from 0 to less than 1")

PARAMETERS: dict[str, Parameter] = {
    "prior_precision": Parameter(POSITIVE, "a > 0: what a unit of squared weight costs an expert"),
    "drift": Parameter(
        Number(0.0, 1e300, "a number >= 0, or a function of the round"),
        "1/a_t >= 0: how cheaply experts may change; 0: they are fixed",
    ),
    "clip": Parameter(POSITIVE, "forecasts are clipped to [-CLIP, CLIP]"),
    "noise_var": Parameter(POSITIVE, "variance of one outcome about its mean"),
    "fit_intercept": Parameter(Flag(), "add the constant feature 1"),
    "kernel": Parameter(Text(), "experts are functions of its space: rbf, matern, linear, ..."),
    "budget": Parameter(
        Budget(),
        "a constant cost with a kernel: nystrom:N or window:N; without one: fourier:N[:WIDTH], "
        "taylor:D[:WIDTH], polynomial:D",
    ),
    "shrinkage": Parameter(
        Number(1e-100, 1e100, "a number > 0 (1e-100 to 1e100)"), "a > 0: the more, the sparser"
    ),
    "passes": Parameter(Passes(), "passes of OSLOG per round, or inf for the lasso"),
    "start": Parameter(
        NonZero(1e-300, 1e100, "a number other than 0, up to 1e100"),
        "weights before the first round",
    ),
    "floor": Parameter(
        Number(0.0, 1e100, "a number >= 0, up to 1e100"),
        "least |w| in OSLOG's D: no weight is ever lost",
    ),
    "loss": Parameter(Choice(("square", "log", "brier")), "square, log or brier"),
    "share": Parameter(SHARE, "how much weight returns to the prior after each round"),
    "outcome_range": Parameter(Range(), "Y for [-Y, Y], or LO,HI; learned where it is not given"),
    "kernels": Parameter(Flag(), "let polynomials and random cosines join in"),
    "prior_var": Parameter(POSITIVE, "variance of the prior on the weights"),
    "method": Parameter(
        Choice(("auto", "exact", "tierney-kadane", "smc", "adf")),
        "auto, exact, tierney-kadane, smc or adf",
    ),
    "family": Parameter(Text(), "logistic or probit"),
    "history": Parameter(Flag(), "keep all rounds, so that the mode is exact"),
    "margin_bound": Parameter(POSITIVE, "largest |w'x| of an expert"),
    "regularisation": Parameter(POSITIVE, "what a unit of squared weight costs"),
    "learning_rate": Parameter(POSITIVE, "eta of gradient descent; 1/2 where it is not given"),
    "scale": Parameter(POSITIVE, "s0: the narrowest kernel is exp(-s0 |x - z|^2)"),
    "nodes": Parameter(Whole(4, 512, "a whole number from 4 to 512"), "how many kernel widths"),
    "audit": Parameter(Flag(), "estimate the quadrature error"),
    "tolerance": Parameter(POSITIVE, "quadrature error to keep below, instead of nodes"),
    "loss_budget": Parameter(POSITIVE, "largest loss of an expert to compete with"),
    "norm_budget": Parameter(POSITIVE, "largest norm of an expert to compete with"),
    "peak": Parameter(POSITIVE, "a bound on k(x, x)"),
    "particles": Parameter(
        Whole(2, 10**9, "a whole number >= 2"), "how many particles method smc keeps"
    ),
    "seed": Parameter(Whole(0, 2**128, "a whole number >= 0"), "where random numbers start"),
    "max_pending": Parameter(
        Whole(1, 2**53, "a whole number of at least 1"), "how many forecasts may wait"
    ),
    "overflow": Parameter(Choice(("refuse", "drop")), "what happens to one forecast more"),
    "horizon": Parameter(
        Whole(1, 100_000, "a whole number, 1 to 100,000"), "how many rounds ahead"
    ),
    "substitution": Parameter(Flag(), "merge by substitution: (hi-lo)^2/2 per nat, not 2(hi-lo)^2"),
}


def positive(name: str, value: object) -> float:
    """A number that must be > 0, neither it nor its inverse out of reach."""
    return POSITIVE.check(name, value)


def checked(learner: object, name: str) -> object:
    """A parameter of a learner as it is used, or a ParameterError that names it."""
    own: dict[str, Parameter] = getattr(learner, "_parameters", {})
    return (own.get(name) or PARAMETERS[name]).kind.check(name, getattr(learner, name))
