"""Reading what a pool is given: tables of forecasts, outcomes, priors."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from noregret._native import mixing
from noregret._native.mixing import LIKELIHOOD
from noregret.errors import InputError, OutcomeError, ParameterError, abbreviated
from noregret.inputs import values as features
from noregret.losses import LARGEST, Game
from noregret.types import Matrix, Outcomes, Table, Vector

__all__ = ["SMALLEST", "prior_of", "probabilities", "read"]

SMALLEST = 1e-300  # share of all weight: its inverse must fit in float64


def read(
    played: Game, forecasts: Table, y: Outcomes
) -> tuple[Matrix, Matrix | None, tuple[str, ...], Vector]:
    """Forecasts, losses in a likelihood game, names and outcomes, checked."""
    said, names = features.table_with_gaps(forecasts, "forecasts")
    normal = said.ndim == 3
    if said.ndim not in (2, 3) or 0 in said.shape or (normal and said.shape[2] != 2):
        raise InputError(
            f"forecasts has shape {said.shape}: give one row per round and one column per expert"
        )
    variances = np.ascontiguousarray(said[:, :, 1]) if normal else None
    said = np.ascontiguousarray(said[:, :, 0] if normal else said)
    labels = tuple(map(str, names)) if names else tuple(f"expert_{j}" for j in range(said.shape[1]))
    where = mixing.beyond(said, LARGEST)
    if where >= 0:
        t, j = divmod(where, said.shape[1])
        raise InputError(
            f"forecasts[{t}, {labels[j]!r}] = {float(said[t, j])!r}: a pool takes numbers up to "
            "1e150; NaN means that the expert sleeps"
        )
    table, scalar = features.outcome_table(y, len(said))
    if not scalar:
        raise OutcomeError(f"y has shape {table.shape}: a pool takes one outcome per round")
    ys = np.ascontiguousarray(table[:, 0])
    if np.abs(ys).max() > LARGEST or played.binary:
        for value in ys.tolist():
            played.outcome(value)
    if normal and played.kind != LIKELIHOOD:
        raise InputError("forecasts are means and variances: that is for loss='log'")
    costs = None
    if played.kind == LIKELIHOOD:
        costs = (
            _normal_losses(said, variances, ys)
            if variances is not None
            else probabilities(said, ys)
        )
    return said, costs, labels, ys


def probabilities(said: Matrix, ys: Vector, names: Sequence[str] = ()) -> Matrix:
    """Log losses of the probabilities given to outcome 1."""
    if not np.isin(ys, (0.0, 1.0)).all():
        bad = int(np.argmin(np.isin(ys, (0.0, 1.0))))
        raise OutcomeError(
            f"y[{bad}] = {float(ys[bad])!r}: probabilities are for outcomes 0 and 1; "
            "give densities for others"
        )
    outside = (said < 0.0) | (said > 1.0)
    if outside.any():
        t, j = (int(i) for i in np.unravel_index(int(np.argmax(outside)), said.shape))
        who = f"the forecast of expert {names[j]!r}" if names else f"forecasts[{t}, {j}]"
        raise InputError(f"{who} = {float(said[t, j])!r} is not a probability: give 0 to 1")
    with np.errstate(divide="ignore"):
        losses: Matrix = -np.where(ys[:, None] == 1.0, np.log(said), np.log1p(-said))
    return losses


def _normal_losses(mean: Matrix, var: Matrix, ys: Vector) -> Matrix:
    wrong = ~((var > 0.0) & np.isfinite(var)) & ~np.isnan(mean)
    if wrong.any():
        t, j = (int(i) for i in np.unravel_index(int(np.argmax(wrong)), var.shape))
        raise InputError(
            f"forecasts[{t}, {j}, 1] = {float(var[t, j])!r} is not a variance: give it > 0"
        )
    with np.errstate(over="ignore"):  # a density that underflows is 0
        half = 0.5 * (math.log(2.0 * math.pi) + np.log(var))
        losses: Matrix = half + 0.5 * (ys[:, None] - mean) ** 2 / var
    return losses


def _between(value: Any, low: float, high: float) -> bool:
    """Whether low <= value < high; a number beyond float64 is not below infinity."""
    return bool(low <= value < min(high, sys.float_info.max))


def prior_of(prior: object, names: Sequence[str]) -> Vector:
    """Prior weights by expert, made to add up to 1; equal where none are given."""
    N = len(names)
    if prior is None:
        return np.full(N, 1.0 / N)
    if isinstance(prior, Mapping):
        if set(prior) != set(names):
            raise ParameterError(f"prior names {list(prior)}, the experts are {list(names)}")
        prior = [prior[name] for name in names]
    one = isinstance(prior, str) or getattr(prior, "ndim", 1) == 0
    listed = list(prior) if isinstance(prior, Iterable) and not one else []
    real = all(isinstance(p, Real) and p != 0 and _between(p, 0.0, math.inf) for p in listed)
    if len(listed) != N or not real:
        raise ParameterError(
            f"prior = {abbreviated(prior)}: give {N} positive numbers, one per expert"
        )
    weights = np.array([float(p) for p in listed])
    weights /= weights.max()
    weights /= weights.sum()
    if not weights.min() >= SMALLEST:
        raise ParameterError(
            f"prior = {abbreviated(prior)}: no expert's share may be below 1e-300 of all"
        )
    return weights
