"""The few words that every room shares: what a forecast, a look and a distribution are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "Bernoulli",
    "Forecast",
    "Integers",
    "Look",
    "Matrix",
    "Mixture",
    "Normal",
    "Outcome",
    "Outcomes",
    "Row",
    "Table",
    "Track",
    "Vector",
]

Vector = npt.NDArray[np.float64]
"""A 1-D array of float64."""
Matrix = npt.NDArray[np.float64]
"""A 2-D array of float64."""
Integers = npt.NDArray[np.int64]
Forecast = Any
"""A float, or a vector of floats when the outcomes are vectors."""
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
    """What a core says of x before y is known: mean m and root spread sqrt(d).

    The spread itself may overflow (features of size 1e200), so its root is carried.

    >>> Look(mean=0.5, root=2.0).spread
    4.0
    """

    mean: Forecast
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
