"""Parameters: what each name means, which values it takes, how it is written in text.

One table for everyone: learners check their parameters with it when learning starts, the registry
and the command line read text with it, documentation prints its help.  Defaults and types stand in
each learner's `__init__`.  A class whose parameter of that name means something else lists it in
its own `_parameters`.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import ClassVar

from noregret.declare.record import Record
from noregret.errors import ParameterError, abbreviated

__all__ = [
    "PARAMETERS",
    "SHARE",
    "Budget",
    "Choice",
    "Flag",
    "Fractions",
    "Kind",
    "Number",
    "Parameter",
    "Range",
    "Schedule",
    "Text",
    "Whole",
    "Wholes",
    "checked",
    "positive",
]


class Kind(Record):
    """Which values a parameter takes.

    `check` gives the value as learners use it, or a ParameterError that names the parameter; `read`
    gives the value in a text, or a ValueError.
    """

    metavar: ClassVar[str] = "TEXT"  # what stands for a value in the help of a command

    def check(self, name: str, value: object) -> object:  # noqa: ARG002  # children look at it
        """The value itself: the learner checks it where it is used."""
        return value

    def read(self, text: str) -> object:
        """The text itself."""
        return text


Text = Kind


def _refused(name: str, value: object, words: str) -> ParameterError:
    return ParameterError(f"{name} = {abbreviated(value)}: it must be {words}")


class Number(Kind):
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
    signed: bool = False  # the limits are those of its size
    metavar: ClassVar[str] = "NUMBER"

    def check(self, name: str, value: object) -> float:
        """The number as a float."""
        taken = math.nan
        if isinstance(value, Real) and not isinstance(value, bool):
            try:
                taken = float(value)
            except OverflowError:
                taken = math.inf
        if self.low <= (abs(taken) if self.signed else taken) <= self.high:
            return taken
        raise _refused(name, value, self.words)

    def read(self, text: str) -> float:
        """The number in a text."""
        return float(text)


class NumberOr(Kind):
    """A number within limits, or one of several words.

    >>> NumberOr(Number(0.0, 1.0, 'a number from 0 to 1, or "half"'), ("half",)).check("x", "half")
    'half'
    """

    number: Number
    words: tuple[str, ...]

    def check(self, name: str, value: object) -> float | str:
        """The number as a float, or the word."""
        if isinstance(value, str) and value in self.words:
            return value
        return self.number.check(name, value)

    def read(self, text: str) -> float | str:
        """The number in a text, or the word."""
        return text if text in self.words else float(text)


class Share(NumberOr):
    """A number from 0 to less than 1, or the word that stands for 1/(t + 1) after round t."""

    metavar: ClassVar[str] = "NUMBER|falling"


class Hint(NumberOr):
    """A number, or how a guess is made of the outcomes before."""

    metavar: ClassVar[str] = "NUMBER|last|midrange"


class Schedule(Kind):
    """A number, or a function of the round, whose values are checked when it is asked."""

    number: Number
    metavar: ClassVar[str] = "NUMBER"

    def check(self, name: str, value: object) -> object:
        """The number as a float, or the function."""
        return value if callable(value) else self.number.check(name, value)

    def read(self, text: str) -> float:
        """The number in a text."""
        return float(text)


class Whole(Kind):
    """A whole number within limits."""

    low: int
    high: float
    words: str
    metavar: ClassVar[str] = "N"

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


class Wholes(Kind):
    """A list of whole numbers, no two of them the same."""

    each: Whole
    metavar: ClassVar[str] = "N,N,..."

    def check(self, name: str, value: object) -> list[int]:
        """The numbers as a list of ints."""
        if isinstance(value, list | tuple | range) or getattr(value, "ndim", 0) == 1:
            taken = [self.each.check(name, one) for one in value]  # type: ignore[attr-defined]  # so it has
            if taken and len({*taken}) == len(taken):
                return taken
        raise _refused(name, value, f"a list, each {self.each.words}, none twice")

    def read(self, text: str) -> list[int]:
        """The numbers in a text, with commas between them."""
        return [int(one) for one in text.split(",")]


class Fractions(Kind):
    """A number between 0 and 1, or a list of them, no two of them the same.

    >>> Fractions().check("coverage", 0.9), Fractions().check("coverage", [0.5, 0.9])
    ([0.9], [0.5, 0.9])
    """

    smallest: float = 1e-6  # as close to 0 and 1 as they may be
    metavar: ClassVar[str] = "P,P,..."

    def each(self) -> Number:
        """What every one of them must be."""
        words = f"a number between 0 and 1 ({self.smallest:g} away from both), or a list of such"
        return Number(self.smallest, 1.0 - self.smallest, words)

    def check(self, name: str, value: object) -> list[float]:
        """The numbers as a list of floats."""
        each = self.each()
        if isinstance(value, Real):
            return [each.check(name, value)]
        if isinstance(value, list | tuple) or getattr(value, "ndim", 0) == 1:
            taken = [each.check(name, one) for one in value]  # type: ignore[attr-defined]  # so it has
            if 0 < len({*taken}) == len(taken) <= 1000:
                return taken
        raise _refused(name, value, f"{each.words}, none twice")

    def read(self, text: str) -> list[float]:
        """The numbers in a text, with commas between them."""
        return [float(one) for one in text.split(",")]


class Percentages(Fractions):
    """A percentage from 1 to 99.9, or a list of them, no two of them the same.

    >>> Percentages().check("intervals", 90), Percentages().check("intervals", [50, 90])
    ([90.0], [50.0, 90.0])
    """

    def each(self) -> Number:
        """What every one of them must be."""
        return Number(1.0, 99.9, "a percentage from 1 to 99.9, or a list of such")


class Flag(Kind):
    """True or False."""

    metavar: ClassVar[str] = ""

    def check(self, name: str, value: object) -> bool:
        """The flag as a bool; NumPy's will do."""
        type_ = type(value)
        if type_ is bool or (type_.__module__ == "numpy" and type_.__name__ in ("bool", "bool_")):
            return bool(value)
        raise _refused(name, value, "True or False")

    def read(self, text: str) -> bool:
        """yes, true, no or false."""
        if text.lower() not in ("yes", "true", "no", "false"):
            raise ValueError(text)
        return text.lower() in ("yes", "true")


class Choice(Kind):
    """One of several words."""

    words: tuple[str, ...]

    def check(self, name: str, value: object) -> str:
        """The word."""
        if isinstance(value, str) and value in self.words:
            return value
        raise ParameterError(f"{name} = {abbreviated(value)}: give one of {', '.join(self.words)}")


class Range(Kind):
    """Y for [-Y, Y], a pair (lo, hi), or None.

    >>> Range().check("outcome_range", 2)
    (-2.0, 2.0)
    """

    narrowest: float = 1e-100
    largest: float = 1e150
    metavar: ClassVar[str] = "Y|LO,HI"

    def check(self, name: str, value: object) -> tuple[float, float] | None:
        """(lo, hi); None stays None."""
        if value is None:
            return None
        end = Number(-self.largest, self.largest, "a finite number")
        pair = [value] if isinstance(value, Real) else value
        try:
            ends = [end.check(name, one) for one in pair]  # type: ignore[attr-defined]  # we try
        except TypeError:
            ends = []
        if not ends or len(ends) > 2 or (len(ends) == 1) != isinstance(value, Real):
            words = "give Y for [-Y, Y], a pair (lo, hi), or None"
            raise ParameterError(f"{name} = {abbreviated(value)}: {words}")
        low, high = ends if len(ends) == 2 else (-ends[0], ends[0])
        if not self.narrowest <= high - low <= self.largest:
            words = f"hi - lo must be from {self.narrowest:g} to {self.largest:g}"
            raise ParameterError(f"{name} = {abbreviated(value)}: {words}")
        return low, high

    def read(self, text: str) -> object:
        """One number, or two with a comma between them."""
        ends = [float(end) for end in text.split(",")]
        if len(ends) > 2:
            raise ValueError(text)
        return ends[0] if len(ends) == 1 else (ends[0], ends[1])


class Passes(Kind):
    """A whole number, or infinity for the limit."""

    metavar: ClassVar[str] = "N|inf"

    def check(self, name: str, value: object) -> float:
        """The number as a float."""
        if isinstance(value, float) and value == math.inf:
            return value
        words = "a whole number >= 1, or math.inf for the limit"
        return float(Whole(1, 10**9, words).check(name, value))

    def read(self, text: str) -> float:
        """inf, or a whole number."""
        return math.inf if text == "inf" else int(text)


class Budget(Kind):
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


class Parameter(Record):
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
SHARE = Share(
    Number(
        0.0, math.nextafter(1.0, 0.0), 'a number from 0 to less than 1, or "falling": 1/(t + 1)'
    ),
    ("falling",),
)
HINT = Hint(
    Number(0.0, 2.0**511, 'a number (of size up to 6e153), "last" or "midrange"', signed=True),
    ("last", "midrange"),
)
LAG = Whole(1, 100_000, "a whole number, 1 to 100,000")

PARAMETERS: dict[str, Parameter] = {
    "prior_precision": Parameter(POSITIVE, "a > 0: what a unit of squared weight costs an expert"),
    "drift": Parameter(
        Schedule(Number(0.0, 1e300, "a number >= 0, or a function of the round")),
        "1/a_t >= 0: how cheaply experts may change; 0: they are fixed",
    ),
    "discount": Parameter(
        Number(0.001, 1.0, "a number from 0.001 to 1, or None"),
        "gam: what a round still counts a round later; 1: the past does not fade",
    ),
    "hint": Parameter(
        HINT, "what AAR forecasts around: a number, last outcome or midrange so far; 0 if not given"
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
        Number(1e-300, 1e100, "a number other than 0, up to 1e100", signed=True),
        "weights before the first round",
    ),
    "floor": Parameter(
        Number(0.0, 1e100, "a number >= 0, up to 1e100"),
        "least |w| in OSLOG's D: no weight is ever lost",
    ),
    "loss": Parameter(Choice(("square", "log", "brier")), "square, log or brier"),
    "share": Parameter(SHARE, "weight that returns to the prior after each round, or falling"),
    "level": Parameter(Text(), "of pinball loss, between 0 and 1: which quantile"),
    "width": Parameter(POSITIVE, "of Huber loss: errors beyond it cost in proportion"),
    "outcome_range": Parameter(Range(), "Y for [-Y, Y], or LO,HI; learned where it is not given"),
    "kernels": Parameter(Flag(), "let polynomials and random cosines join in"),
    "effort": Parameter(
        Choice(("low", "normal", "high", "linear")),
        "low, normal or high: how many groups of experts; linear: 40 linear experts alone",
    ),
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
    "norm_bound": Parameter(
        Number(1e-100, 1e100, "a number > 0 (1e-100 to 1e100)"), "largest |x|, or sqrt k(x, x)"
    ),
    "precisions": Parameter(
        Whole(1, 60, "a whole number from 1 to 60"),
        "how many prior precisions, each twice the last",
    ),
    "trees": Parameter(Whole(1, 1000, "a whole number from 1 to 1000"), "how many trees"),
    "node": Parameter(Choice(("ridge", "mean")), "what forecasts in a cell: ridge or mean"),
    "price": Parameter(
        Number(1e-6, 1e6, "a number from 1e-6 to 1e6"), "of a unit of a tree's time, in nats"
    ),
    "prior_count": Parameter(POSITIVE, "how many labels the prior of a cell counts for"),
    "max_nodes": Parameter(
        Whole(1, 2**40, "a whole number of at least 1"), "how many nodes all trees may have"
    ),
    "copies": Parameter(Flag(), "a copy of the learner for each forecast that waits"),
    "max_pending": Parameter(
        Whole(1, 2**53, "a whole number of at least 1"), "how many forecasts may wait"
    ),
    "overflow": Parameter(Choice(("refuse", "drop")), "what happens to one forecast more"),
    "learner": Parameter(Text(), "the learner inside; it is copied, and the copy learns"),
    "lags": Parameter(
        Wholes(LAG), "which past outcomes are features, such as [1, 2]; 1 is the last one known"
    ),
    "coverage": Parameter(Fractions(), "how often intervals should cover, such as 0.9"),
    "levels": Parameter(Fractions(), "levels of quantiles, such as 0.1,0.5,0.9"),
    "forecast": Parameter(Text(), "where in x somebody else's forecast is"),
    "horizon": Parameter(LAG, "how many rounds ahead"),
    "time": Parameter(Text(), "the column with times; without it rows are counted"),
    "every": Parameter(Text(), 'the step between rows, such as "30 min"; inferred if not given'),
    "calendar": Parameter(Text(), 'auto, or some of "day", "week", "year" as features'),
    "known": Parameter(
        Text(), "features that are known at the forecast's time; the others are late"
    ),
    "intervals": Parameter(Percentages(), "coverage of the intervals, in percent"),
    "gaps": Parameter(Choice(("fill", "refuse")), "steps without a row: fill or refuse"),
    "late": Parameter(
        Choice(("refuse", "skip")), "rows that are not after the last one: refuse or skip"
    ),
    "experts": Parameter(Text(), "learners, functions and names of forecasts in x"),
    "prior": Parameter(Text(), "weights of the experts before the first round"),
    "domain": Parameter(Text(), "(x1, x2): the box that inputs are in, for the quadrature error"),
    "substitution": Parameter(Flag(), "merge by substitution: (hi-lo)^2/2 per nat, not 2(hi-lo)^2"),
}


def positive(name: str, value: object) -> float:
    """A number that must be > 0, neither it nor its inverse out of reach."""
    return POSITIVE.check(name, value)


def checked(learner: object, name: str) -> object:
    """A parameter of a learner as it is used, or a ParameterError that names it."""
    own: Mapping[str, Parameter] = getattr(learner, "_parameters", {})
    return (own.get(name) or PARAMETERS[name]).kind.check(name, getattr(learner, name))
