"""Merging distributions on continuous ranked probability score; docs/theory.md, section 22.4.

Distribution functions are taken as steps on CELLS equal cells of [lo, hi], each expert's at the
middle of each cell; then all integrals are sums, and the theorem holds for what is computed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from noregret.certificates import Certificate
from noregret.declare.parameters import Fractions
from noregret.errors import InputError
from noregret.experts.members import Said
from noregret.inputs import values as features
from noregret.learner.replay import Replay
from noregret.types import Matrix, Mixture, Normal, Vector

__all__ = ["CELLS", "DistributionAggregation", "Steps", "crps", "steps_of", "substitution"]

CELLS = 256
_erfc = np.frompyfunc(math.erfc, 1, 1)


@dataclass(frozen=True, eq=False)
class DistributionAggregation(Replay):
    """A replay of a pool of distributions: `quantiles`, `cdf`, and weights of the experts.

    forecast : (T,), the mean of each round's merged distribution; loss : its CRPS.

    >>> import numpy as np, noregret as nr
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=400).clip(-4, 4)
    >>> said = np.stack([np.zeros((400, 2)), np.tile([1.0, 9.0], (400, 1))], axis=2)
    >>> result = nr.aggregate(said, y, loss="crps", outcome_range=(-4, 4))
    >>> result.quantiles([0.1, 0.9])[-1].round(1), result.certificate.holds
    (array([-1.3,  1.3]), True)
    """

    experts: Sequence[str] = ()
    certificates: Sequence[Certificate] = ()
    weights: Matrix = field(default_factory=lambda: np.empty((0, 0)), repr=False)
    expert_losses: Matrix = field(default_factory=lambda: np.empty((0, 0)), repr=False)
    cdf: Matrix = field(default_factory=lambda: np.empty((0, 0)), repr=False)
    edges: Vector = field(default_factory=lambda: np.empty(0), repr=False)

    def quantiles(self, levels: Sequence[float]) -> Matrix:
        """inf {u: F(u) >= level} of every round's distribution, one column per level."""
        each = Fractions().check("levels", list(levels))
        found = [self.edges[(self.cdf < level).sum(axis=1)] for level in each]
        return np.column_stack(found)

    def hindsight(self) -> tuple[str, float]:
        """The best expert and its CRPS, a sleeper's rounds counted as the pool's."""
        asleep = np.isnan(self.expert_losses)
        totals = np.where(asleep, self.loss[:, None], self.expert_losses).sum(axis=0)
        best = int(np.argmin(totals))
        return self.experts[best], float(totals[best])


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """A distribution on [lo, hi], whose distribution function is constant in each cell.

    >>> found = Steps(np.array([0.0, 1.0, 2.0]), np.array([0.25, 1.0]))
    >>> found.mean, found.cdf(0.5), found.quantile(0.5)
    (0.75, 0.25, 1.0)
    """

    edges: Vector
    steps: Vector

    def cdf(self, y: float) -> float:
        """The probability of an outcome up to y."""
        cell = int(np.searchsorted(self.edges, y, side="right")) - 1
        return 0.0 if cell < 0 else 1.0 if cell >= len(self.steps) else float(self.steps[cell])

    def quantile(self, level: float) -> float:
        """inf {u: F(u) >= level}."""
        (tau,) = Fractions().check("level", level)
        return float(self.edges[int((self.steps < tau).sum())])

    @property
    def mean(self) -> float:
        """E y = hi - the integral of F."""
        return float(self.edges[-1] - self.steps @ np.diff(self.edges))

    @property
    def var(self) -> float:
        """E y^2 - (E y)^2, where E y^2 = hi^2 - the integral of 2 u F(u), about the mean."""
        apart = self.edges - self.mean
        return max(float(apart[-1] ** 2 - self.steps @ np.diff(apart * apart)), 0.0)

    @property
    def std(self) -> float:
        """The standard deviation."""
        return math.sqrt(self.var)


def crps(F: Matrix, y: float, edges: Vector) -> Vector:
    """The integral of (F(u) - 1{u >= y})^2 of step functions, one row each; exact."""
    width = np.diff(edges)
    above = np.clip((edges[1:] - y) / width, 0.0, 1.0)  # the share of each cell that is above y
    found: Vector = ((1.0 - above) * F * F + above * (1.0 - F) ** 2) @ width
    return found


def substitution(weights: Vector, F: Matrix) -> Vector:
    """(22.8): the merged distribution function, from those of the experts, one row each."""
    zero, one = weights @ np.exp(-2.0 * F * F), weights @ np.exp(-2.0 * (1.0 - F) ** 2)
    merged: Vector = 0.5 - 0.25 * np.log(zero / one)
    return np.clip(merged, 0.0, 1.0)  # by rounding alone


def normal_steps(said: Matrix, middles: Vector) -> Matrix:
    """Distribution functions of normals N x (mean, variance) at the middles of the cells."""
    with np.errstate(all="ignore"):
        z = (said[:, :1] - middles) / (np.sqrt(said[:, 1:]) * math.sqrt(2.0))
    return 0.5 * np.asarray(_erfc(z), dtype=np.float64)


def quantile_steps(said: Matrix, levels: Vector, middles: Vector) -> Matrix:
    """The same of quantiles N x k: straight lines between them, 0 before and 1 after them."""
    return np.array([np.interp(middles, row, levels, left=0.0, right=1.0) for row in said])


def steps_of(said: Said, levels: Vector, middles: Vector) -> Vector:
    """What one expert says, at the middles of the cells; NaN where it sleeps.

    A distribution (normal, a mixture, or anything with `cdf`), quantiles at the levels, or a
    number, which is a point.
    """
    if said is None:
        return np.full(len(middles), np.nan)
    found: Vector
    if isinstance(said, Normal):
        found = normal_steps(np.array([[said.mean, said.var]], dtype=np.float64), middles)[0]
    elif isinstance(said, Mixture):
        each = np.array([steps_of(one, levels, middles) for one in said.components])
        found = said.weights @ each
    elif hasattr(said, "cdf"):
        found = np.array([said.cdf(u) for u in middles.tolist()], dtype=np.float64)
    elif np.ndim(said):
        row = features.table_with_gaps(np.asarray(said)[None], "quantiles")[0][0]
        if row.shape != levels.shape:
            raise InputError(f"{len(row)} quantiles for {len(levels)} levels: see levels=")
        if (np.diff(row) < 0.0).any():
            raise InputError("quantiles that are not ascending")
        if np.isnan(row).any():
            return np.full(len(middles), np.nan)
        found = quantile_steps(row[None], levels, middles)[0]
    else:
        number = said if isinstance(said, float) else features.number(said, "forecast", InputError)
        if math.isnan(number):
            return np.full(len(middles), np.nan)
        found = (middles >= number).astype(np.float64)
    if not ((found >= 0.0).all() and (found <= 1.0).all() and (np.diff(found) >= 0.0).all()):
        raise InputError("a distribution function that does not rise from 0 to 1")
    return found
