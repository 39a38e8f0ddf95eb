"""The few words that every room shares: what a forecast, a look and a distribution are."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "Bernoulli",
    "Forecast",
    "Gaps",
    "Integers",
    "Interval",
    "Json",
    "Labels",
    "Look",
    "Matrix",
    "Mixture",
    "Normal",
    "Outcome",
    "Outcomes",
    "Row",
    "Student",
    "Table",
    "Track",
    "Vector",
]

Vector = npt.NDArray[np.float64]
"""A 1-D array of float64."""
Matrix = npt.NDArray[np.float64]
"""A 2-D array of float64."""
Integers = npt.NDArray[np.int64]
Gaps = npt.NDArray[np.bool_]
"""Which of many: True or False of each."""
Labels = npt.NDArray[np.generic]
"""Labels of classes, numbers or words."""
Forecast: TypeAlias = float | Vector
"""A float, or a vector of floats when the outcomes are vectors."""
Json: TypeAlias = dict[str, Any]
"""An object as JSON has it; who takes something out of it knows or checks what it is."""
Row: TypeAlias = object
"""What a caller holds for one round: a mapping of name to number, a 1-D array, a frame's row."""
Table: TypeAlias = object
"""What a caller holds for many rounds: a 2-D array, a frame, a list of rows."""
Outcome: TypeAlias = object
"""One round's outcome: any real number, a vector of them, or a label."""
Outcomes: TypeAlias = object
"""Many rounds' outcomes: an array, a column of a frame, a list."""


@dataclass(frozen=True, slots=True)
class Look:
    """What a core says of x before y is known: means m of the outcomes and root spread sqrt(d).

    The spread itself may overflow (features of size 1e200), so its root is carried.

    >>> Look(mean=np.array([0.5]), root=2.0).spread
    4.0
    """

    mean: Vector
    root: float

    @property
    def spread(self) -> float:
        """d = 1 + x'A^-1 x, at least 1."""
        return self.root * self.root


@dataclass(frozen=True, slots=True)
class Normal:
    """A normal forecast. `var` is a variance; with vector outcomes, the variance of each.

    >>> Normal(mean=1.0, var=4.0).std
    2.0
    >>> round(Normal(mean=0.0, var=1.0).log_density(0.0), 6)
    -0.918939
    """

    mean: Forecast
    var: float

    @property
    def std(self) -> float:
        """The standard deviation."""
        return math.sqrt(self.var)

    def log_density(self, y: Forecast) -> float:
        """ln of the density at y, summed over the outcomes of one round."""
        e = np.atleast_1d(np.subtract(y, self.mean)) / self.std
        return float(-0.5 * (e @ e) - e.size * (0.5 * math.log(2.0 * math.pi) + math.log(self.std)))

    def quantile(self, level: float) -> Forecast:
        """The quantile of a level.

        >>> round(Normal(mean=1.0, var=4.0).quantile(0.975), 4)
        4.9199
        """
        from statistics import NormalDist  # which loads much that nobody else needs

        return self.mean + self.std * NormalDist().inv_cdf(level)


@dataclass(frozen=True, slots=True)
class Student:
    """A forecast by Student's distribution; with vector outcomes, all share one unknown scale.

    `scale` is infinite before anything is known.  The variance exists from 3 degrees on.

    >>> forecast = Student(mean=1.0, scale=2.0, degrees=4.0)
    >>> round(forecast.std, 6), round(forecast.quantile(0.95), 4)
    (2.828427, 5.2637)
    >>> round(forecast.log_density(1.0), 6)
    -1.673976
    """

    mean: Forecast
    scale: float
    degrees: float

    @property
    def var(self) -> float:
        """The variance; infinite below 3 degrees."""
        if self.degrees <= 2.0:
            return math.inf
        return self.scale * self.scale * self.degrees / (self.degrees - 2.0)

    @property
    def std(self) -> float:
        """The standard deviation; infinite below 3 degrees."""
        return math.sqrt(self.var)

    def log_density(self, y: Forecast) -> float:
        """ln of the density at y; of all outcomes of one round together."""
        if math.isinf(self.scale):
            return -math.inf
        e = np.atleast_1d(np.subtract(y, self.mean)) / self.scale
        nu, m = self.degrees, e.size
        gammas = math.lgamma(0.5 * (nu + m)) - math.lgamma(0.5 * nu)
        units = m * (0.5 * math.log(nu * math.pi) + math.log(self.scale))
        return gammas - units - 0.5 * (nu + m) * math.log1p(float(e @ e) / nu)

    def cdf(self, y: float) -> float:
        """The probability of an outcome up to y.

        >>> round(Student(mean=0.0, scale=1.0, degrees=1.0).cdf(1.0), 12)
        0.75
        """
        t, nu = float(y - self.mean) / self.scale, self.degrees
        if t * t < nu:
            half = 0.5 * _beta(0.5, 0.5 * nu, t * t / (nu + t * t))
            return 0.5 + math.copysign(half, t)
        tail = 0.5 * _beta(0.5 * nu, 0.5, nu / (nu + t * t))
        return tail if t < 0.0 else 1.0 - tail

    def quantile(self, level: float) -> Forecast:
        """The quantile of a level."""
        if math.isinf(self.scale):
            return self.mean + math.copysign(math.inf, level - 0.5)
        unit = Student(0.0, 1.0, self.degrees)
        target, low, high = min(level, 1.0 - level), -1.0, 0.0
        while unit.cdf(low) > target:
            low, high = 2.0 * low, low
        for _ in range(100):  # halves down to neighbouring numbers
            middle = 0.5 * (low + high)
            low, high = (middle, high) if unit.cdf(middle) < target else (low, middle)
        return self.mean + self.scale * math.copysign(high, level - 0.5)


def _beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, by its continued fraction (Lentz)."""
    if x <= 0.0 or x >= 1.0:
        return 0.0 if x <= 0.0 else 1.0
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - _beta(b, a, 1.0 - x)
    ends = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(ends + a * math.log(x) + b * math.log1p(-x)) / a
    c, d = 1.0, 1.0 / (1.0 - (a + b) * x / (a + 1.0))
    found = d
    for k in range(1, 500):
        for term in (
            k * (b - k) * x / ((a + 2 * k - 1.0) * (a + 2 * k)),
            -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1.0)),
        ):
            d, c = 1.0 / (1.0 + term * d), 1.0 + term / c
            found *= c * d
        if abs(c * d - 1.0) < 1e-16:
            break
    return front * found


@dataclass(frozen=True, slots=True)
class Interval:
    """From low to high, both included; arrays where there are several.

    >>> low, high = Interval(1.0, 3.0)
    >>> 2.0 in Interval(1.0, 3.0), Interval(1.0, 3.0).width
    (True, 2.0)
    >>> print(Interval(-math.inf, math.inf))
    (-inf, inf): nothing is known yet
    """

    low: Forecast
    high: Forecast

    @property
    def width(self) -> Forecast:
        """high - low."""
        return self.high - self.low

    @property
    def known(self) -> bool:
        """Whether all ends are finite: before the first error is known none is."""
        return bool(np.isfinite(self.low).all() and np.isfinite(self.high).all())

    def __contains__(self, y: Any) -> bool:
        return bool(np.all((self.low <= y) & (y <= self.high)))

    def __iter__(self) -> Iterator[Forecast]:
        return iter((self.low, self.high))

    def __str__(self) -> str:
        return f"({self.low}, {self.high})" + ("" if self.known else ": nothing is known yet")


@dataclass(frozen=True, slots=True)
class Bernoulli:
    """A forecast of a label 0 or 1; `probability` is that of 1.

    Where the probability rounds to 0 or 1, `log_odds` still says what a surprise costs.

    >>> Bernoulli(0.25).var
    0.1875
    >>> round(Bernoulli(0.25).log_density(0.0), 6)
    -0.287682
    >>> Bernoulli(1.0, log_odds=800.0).log_density(0.0)
    -800.0
    """

    probability: float
    log_odds: float | None = None

    @property
    def mean(self) -> float:
        """The probability."""
        return self.probability

    @property
    def var(self) -> float:
        """p (1 - p)."""
        return self.probability * (1.0 - self.probability)

    @property
    def std(self) -> float:
        """The standard deviation."""
        return math.sqrt(self.var)

    def log_density(self, y: Forecast) -> float:
        """ln of the probability of the label y."""
        if self.log_odds is not None:
            margin = self.log_odds if y else -self.log_odds
            return min(margin, 0.0) - math.log1p(math.exp(-abs(margin)))
        chance = self.probability if y else 1.0 - self.probability
        return math.log(chance) if chance > 0.0 else -math.inf


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """A mixture of distributions, such as a pool's forecast under log loss.

    >>> mixture = Mixture(np.array([0.5, 0.5]), (Normal(-1.0, 1.0), Normal(1.0, 1.0)))
    >>> mixture.mean, mixture.var
    (0.0, 2.0)
    >>> round(mixture.log_density(0.0), 6)
    -1.418939
    """

    weights: Vector
    components: tuple[Any, ...]

    @property
    def mean(self) -> float:
        """The weighted mean of the means."""
        return float(self.weights @ [c.mean for c in self.components])

    @property
    def var(self) -> float:
        """The variance: within the components, and between their means."""
        apart = [c.var + (c.mean - self.mean) ** 2 for c in self.components]
        return float(self.weights @ apart)

    @property
    def std(self) -> float:
        """The standard deviation."""
        return math.sqrt(self.var)

    def log_density(self, y: float) -> float:
        """ln of the density at y."""
        logs = np.array([c.log_density(y) for c in self.components])
        top = float(np.max(logs))
        if top == -math.inf:
            return top
        return top + math.log(float(self.weights @ np.exp(logs - top)))


@dataclass(frozen=True, slots=True)
class Track:
    """What a core saw while it replayed T rounds of m outcomes.

    mean (T, m), root (T,), and fit: the regularised loss of the best expert in hindsight,
    by how much it grew.
    """

    mean: Matrix
    root: Vector
    fit: float
