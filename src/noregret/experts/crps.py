"""Merging distributions on continuous ranked probability score; docs/theory.md, section 22.4.

Distribution functions are taken as steps on CELLS equal cells of [lo, hi], each expert's at the
middle of each cell; then all integrals are sums, and the theorem holds for what is computed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from noregret.certificates import Assumption, Certificate
from noregret.declare.parameters import Fractions
from noregret.errors import InputError, OutcomeError, ParameterError, abbreviated, wrapping
from noregret.experts.reading import prior_of
from noregret.inputs import values as features
from noregret.learner.replay import Replay
from noregret.types import Integers, Matrix, Outcomes, Vector

__all__ = ["DistributionAggregation", "aggregate_distributions", "crps"]

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
    mean, std = said[:, :1], np.sqrt(said[:, 1:])
    with np.errstate(all="ignore"):
        z = (mean - middles) / (std * math.sqrt(2.0))
    return 0.5 * np.asarray(_erfc(z), dtype=np.float64)


def quantile_steps(said: Matrix, levels: Vector, middles: Vector) -> Matrix:
    """The same of quantiles N x k: straight lines between them, 0 before and 1 after them."""
    return np.array([np.interp(middles, row, levels, left=0.0, right=1.0) for row in said])


def aggregate_distributions(
    forecasts: object, y: Outcomes, outcome_range: object, prior: object, levels: object
) -> DistributionAggregation:
    """Merge T x N x 2 normal means and variances, or T x N x k quantiles at these levels."""
    said, names, edges, taus = _checked(forecasts, outcome_range, levels)
    ys = _outcomes(y, len(said), edges)
    T, N = said.shape[:2]
    middles, eta = 0.5 * (edges[1:] + edges[:-1]), 2.0 / float(edges[-1] - edges[0])
    start = np.log(prior_of(prior, names))
    log_w, weights = start.copy(), np.zeros((T, N))
    losses, costs, cdf = np.empty(T), np.full((T, N), np.nan), np.empty((T, CELLS))
    for t in range(T):
        awake = ~np.isnan(said[t]).any(axis=1)
        if not awake.any():
            raise InputError(f"forecasts[{t}]: every expert sleeps; leave the round out")
        part = said[t, awake]
        F = normal_steps(part, middles) if taus is None else quantile_steps(part, taus, middles)
        w = np.exp(log_w[awake] - log_w[awake].max())
        weights[t, awake] = w / w.sum()
        cdf[t] = substitution(weights[t, awake], F)
        costs[t, awake] = crps(F, ys[t], edges)
        losses[t] = crps(cdf[t : t + 1], ys[t], edges)[0]
        log_w -= eta * np.where(awake, costs[t], losses[t])  # a sleeper says what the pool says
    found = _certificate(losses, costs, start, edges)
    means = edges[-1] - cdf @ np.diff(edges)  # E y = hi - the integral of F
    return DistributionAggregation(
        forecast=means,
        mean=None,
        spread=None,
        loss=losses,
        certificate=found,
        experts=names,
        certificates=(found,),
        weights=weights,
        expert_losses=costs,
        cdf=cdf,
        edges=edges,
    )


def _certificate(losses: Vector, costs: Matrix, start: Vector, edges: Vector) -> Certificate:
    """(22.9)."""
    width = float(edges[-1] - edges[0])
    totals = np.where(np.isnan(costs), losses[:, None], costs).sum(axis=0)
    return Certificate.of(
        name="CRPS of merged distributions",
        kind="upper bound",
        rounds=len(losses),
        loss=float(losses.sum()),
        comparator=float(totals.min()),
        bound=float((totals - 0.5 * width * start).min()),
        statement=(
            f"CRPS <= min_j (CRPS_j + (hi-lo)/2 ln 1/p_j), distributions as {CELLS} steps on "
            "[lo, hi]; where expert j slept, the pool's own"
        ),
        assumptions=(Assumption(f"{edges[0]:g} <= y <= {edges[-1]:g}, as given", met=True),),
    )


def _checked(
    forecasts: object, outcome_range: object, levels: object
) -> tuple[Matrix, tuple[str, ...], Vector, Vector | None]:
    """The table, names, edges of the cells, and levels where forecasts are quantiles."""
    span: object = outcome_range
    if isinstance(span, int | float):
        span = (-span, span)
    if not isinstance(span, tuple | list) or len(span) != 2:
        raise ParameterError(
            f'outcome_range = {abbreviated(outcome_range)}: loss="crps" needs Y or (lo, hi)'
        )
    with wrapping("outcome_range", ParameterError):
        lo, hi = map(float, span)
    if not -math.inf < lo < hi < math.inf:
        raise ParameterError(
            f"outcome_range = {abbreviated(outcome_range)}: lo must be below hi, both finite"
        )
    said, _ = features.table_with_gaps(forecasts, "forecasts")
    taus = None if levels is None else np.array(Fractions().check("level", levels))
    if taus is not None and not (np.diff(taus) > 0.0).all():
        raise ParameterError(f"level = {abbreviated(levels)}: give the levels ascending")
    columns = 2 if taus is None else len(taus)
    if said.ndim != 3 or said.shape[2] != columns or 0 in said.shape:
        raise InputError(
            f"forecasts has shape {said.shape}: give T x N x {columns}, "
            + ("normal means and variances" if taus is None else "a quantile for each level")
        )
    known = ~np.isnan(said).any(axis=2)
    wrong = known & ((said[..., 1] <= 0.0) if taus is None else (np.diff(said) < 0.0).any(axis=2))
    if wrong.any():
        where: Integers = np.argwhere(wrong)[0]
        what = "a variance that is not > 0" if taus is None else "quantiles that are not ascending"
        raise InputError(f"forecasts[{where[0]}, {where[1]}] has {what}")
    names = tuple(f"expert_{j}" for j in range(said.shape[1]))
    return said, names, np.linspace(lo, hi, CELLS + 1), taus


def _outcomes(y: Outcomes, rounds: int, edges: Vector) -> Vector:
    ys = features.outcome_column(y, rounds)
    outside = (ys < edges[0]) | (ys > edges[-1])
    if outside.any():
        t = int(outside.argmax())
        raise OutcomeError(
            f"y[{t}] = {float(ys[t])!r} is outside outcome_range ({edges[0]:g}, {edges[-1]:g})"
        )
    return ys
