"""Rules that merge the forecasts of experts: pools, and linear learners."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import noregret as nr
from noregret.certificates import Certificate
from noregret.declare.extras import module
from noregret.experts.auto import DRIFTS, PRECISIONS
from noregret.running.player import Playable
from noregret.types import Vector

RANGE = (3e4, 1e5)  # MW: of the load, in round numbers
APART = 1e4  # MW: how far the load may be from the experts' mean, in round numbers
UNIT = 1e4  # MW: in which linear learners are given loads
Range = tuple[float, float] | float
SHARES = (0.001, 0.01, 0.1)

Said = tuple[Vector, str]
"""Forecasts, and what became of the certificates."""
Rule = Callable[["Experts"], Said]

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Experts:
    """A file: forecasts by expert, outcomes, and what else there is."""

    forecasts: pd.DataFrame
    y: Vector
    rest: pd.DataFrame

    @classmethod
    def read(cls, path: Path, other: tuple[str, ...]) -> Experts:
        """A CSV file; y is the outcome, the `other` columns are no experts."""
        frame = module("pandas", "reading experts").read_csv(path)
        y = frame.pop("y").to_numpy(dtype=np.float64)
        return cls(frame.drop(columns=[*other]).astype(np.float64), y, frame[[*other]])

    def around(self) -> tuple[Experts, Vector]:
        """Forecasts and outcomes less the mean forecast, and that mean."""
        mean = self.forecasts.to_numpy().mean(axis=1)
        return Experts(self.forecasts.sub(mean, axis=0), self.y - mean, self.rest), mean

    def rmse(self, g: Vector, start: int = 0) -> float:
        """Root mean square error from a round on."""
        return float(np.sqrt(np.mean((self.y - g)[start:] ** 2)))

    def mape(self, g: Vector, rows: slice = slice(None)) -> float:
        """Mean absolute percentage error, in per cent."""
        return 100.0 * float(np.mean(np.abs(1.0 - g[rows] / self.y[rows])))


def pool(outcome_range: Range | None = None, share: float = 0.0) -> Rule:
    """The Aggregating Algorithm, or Fixed Share."""

    def rule(e: Experts) -> Said:
        result = nr.aggregate(
            e.forecasts, e.y, rule="aggregating", outcome_range=outcome_range, share=share
        )
        return result.forecast, verdict(result.certificates)

    return rule


def averaged(outcome_range: Range) -> Rule:
    """Exponential weights."""

    def rule(e: Experts) -> Said:
        names = list(e.forecasts.columns)
        return learned(nr.ExponentialWeights(names, outcome_range=outcome_range), e, 1.0)

    return rule


def linear(make: Callable[[], Playable], unit: float = UNIT) -> Rule:
    """A learner on the experts' forecasts as features."""
    return lambda e: learned(make(), e, unit)


def learned(learner: Playable, e: Experts, unit: float) -> Said:
    """Forecasts of a learner that is given loads in a unit."""
    result = learner.replay(e.forecasts / unit, e.y / unit)
    return unit * result.forecast, verdict(learner.certificates())


def verdict(certificates: Iterable[Certificate]) -> str:
    """Whether all hold; a bound is withdrawn when one of its assumptions fails."""
    holds = [c.holds for c in certificates]
    return "**fail**" if False in holds else "withdrawn" if None in holds else "hold"


def grid(*classes: type, intercept: bool = True) -> Callable[[], nr.AggregatingAlgorithm]:
    """Learners at every point of Auto's grid, in one pool."""
    axes = {"prior_precision": PRECISIONS, "drift": DRIFTS, "fit_intercept": intercept}
    return lambda: nr.AggregatingAlgorithm([e for cls in classes for e in nr.over(cls, **axes)])


def around(rule: Rule) -> Rule:
    """The same rule on what is left after the experts' mean is taken out."""

    def shifted(e: Experts) -> Said:
        apart, mean = e.around()
        g, holds = rule(apart)
        return mean + g, holds

    return shifted


def named(name: str | None, **loss: Any) -> Rule:
    """A rule of `aggregate` by name; None is its default."""

    def rule(e: Experts) -> Said:
        result = nr.aggregate(e.forecasts, e.y, rule=name, **loss)
        return result.forecast, verdict(result.certificates)

    return rule


def pools(outcome_range: Range) -> dict[str, Rule]:
    """Pools whose weights are fixed, or shared."""
    shared = {f"Fixed Share {s:g}, range learned": pool(share=s) for s in SHARES}
    given = {f"Fixed Share {s:g}, range given": pool(outcome_range, s) for s in SHARES}
    return {
        "Aggregating Algorithm, range learned": pool(),
        "Aggregating Algorithm, range given": pool(outcome_range),
        **shared,
        **given,
        "ExponentialWeights, range given": averaged(outcome_range),
    }


LEARNERS = {
    "AAR": linear(nr.AAR),
    "AAR, drift 0.001": linear(lambda: nr.AAR(drift=1e-3)),
    "Ridge": linear(nr.Ridge),
    "Ridge, drift 0.001": linear(lambda: nr.Ridge(drift=1e-3)),
    "BayesianRidge": linear(nr.BayesianRidge),
    "BayesianRidge, drift 0.001": linear(lambda: nr.BayesianRidge(drift=1e-3)),
    "pool of AAR": linear(grid(nr.AAR)),
    "pool of Ridge": linear(grid(nr.Ridge)),
    "pool of AAR and Ridge": linear(grid(nr.AAR, nr.Ridge)),
    "Auto": linear(nr.Auto, 1.0),
    "Auto, kernels=True": linear(lambda: nr.Auto(kernels=True), 1.0),
}
TABLES: dict[str, dict[str, Rule]] = {
    "Pools of rules": {
        "nr.aggregate, its default": named(None),
        'rule="adaptive"': named("adaptive"),
        'rule="stacking"': named("stacking"),
        "BOA": named("boa"),
    },
    "Pools": pools(RANGE),
    "Pools, around the mean": {k: around(v) for k, v in pools(APART).items()},
    "Linear learners": LEARNERS,
    "Linear learners, around the mean": {k: around(v) for k, v in LEARNERS.items()},
}
