"""The Aggregating Algorithm for several outcomes a round, with weights that they share.

Square loss added up over k outcomes, outcome i in a range of width W_i.  By Hoelder's inequality
with the powers eta_i/eta, eta_i = 2/W_i^2 and 1/eta = sum 1/eta_i, docs/theory.md (23.6),

    sum_i -(1/eta_i) ln sum_j w_j exp(-eta_i l_ji) <= -(1/eta) ln sum_j w_j exp(-eta sum_i l_ji)

and each term on the left is at least (y_i - g_i)^2 for the g_i of one outcome alone, (12.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from noregret.certificates import Assumption, Certificate
from noregret.errors import InputError, ParameterError
from noregret.experts.aggregation import account
from noregret.experts.convex import ConvexLoss, convex
from noregret.experts.merged import GradientAggregation
from noregret.losses import span
from noregret.types import Matrix, Vector

__all__ = ["VectorAggregation", "aggregate_vectors", "ranges_of"]

SEQUENCES = (list, tuple, np.ndarray)


@dataclass(frozen=True, eq=False)
class VectorAggregation(GradientAggregation):
    """A replay of the Aggregating Algorithm over k outcomes a round: `forecast` is T x k."""

    ranges: Matrix = field(default_factory=lambda: np.empty((0, 2)), repr=False)
    prior: Vector = field(default_factory=lambda: np.empty(0), repr=False)

    @property
    def _game(self) -> ConvexLoss:
        return convex("square")

    @property
    def weights(self) -> Matrix:
        """The weights that each round's forecast was made with, worked out anew at each call."""
        return _replay(self.said, self.y, self.ranges, self.prior)[2]


def ranges_of(outcome_range: Any, k: int) -> Matrix:
    """(k, 2): lo and hi of every outcome, from one range for all or one for each."""
    if outcome_range is None:
        raise ParameterError(
            "outcome_range = None: the Aggregating Algorithm needs it for several outcomes; give "
            'Y, (lo, hi), or a pair for each; rule="rules" learns it'
        )
    several = getattr(outcome_range, "ndim", 1) > 0 and isinstance(outcome_range, SEQUENCES)
    pairs = several and all(isinstance(one, SEQUENCES) for one in outcome_range)
    each = [tuple(one) for one in outcome_range] if pairs else [outcome_range] * k
    if len(each) != k:
        raise ParameterError(f"outcome_range has {len(each)} pairs: give one for each of {k}")
    return np.array([span(one) for one in each])


def aggregate_vectors(
    said: Matrix, ys: Matrix, names: Sequence[str], ranges: Matrix, prior: Vector
) -> VectorAggregation:
    """Merge T x N x k forecasts of T x k outcomes; an expert sleeps where one of its k is NaN."""
    asleep = np.isnan(said).any(axis=2)
    silent = np.all(asleep, axis=1)
    if silent.any():
        t = int(np.argmax(silent))
        raise InputError(f"forecasts[{t}]: all experts sleep; give one whole forecast at least")
    forecast, mixed, _ = _replay(said, ys, ranges, prior)
    losses = ((ys - forecast) ** 2).sum(axis=1)
    paid = np.where(asleep, mixed[:, None], ((said - ys[:, None, :]) ** 2).sum(axis=2)).sum(axis=0)
    width = float(((ranges[:, 1] - ranges[:, 0]) ** 2).sum())
    inside = bool(((ys >= ranges[:, 0]) & (ys <= ranges[:, 1])).all())
    sleepers = " (who sleeps loses what the mixture does)" if asleep.any() else ""
    found = Certificate.of(
        name="Aggregating Algorithm, several outcomes",
        kind="upper bound",
        rounds=len(ys),
        loss=float(losses.sum()),
        comparator=float(paid.min()),
        bound=float((paid - 0.5 * width * np.log(prior)).min()),
        statement="sum |y - g|^2 <= min_j (L_j + sum_i (hi_i-lo_i)^2/2 ln 1/p_j)" + sleepers,
        assumptions=(Assumption("every outcome is in its range, as given", met=inside),),
        scale=width,
    )
    kept = {"said": said, "y": ys, "ranges": ranges, "prior": prior}
    return account(VectorAggregation, (forecast, losses, ys), [found], names, kept)


def _replay(
    said: Matrix, ys: Matrix, ranges: Matrix, prior: Vector
) -> tuple[Matrix, Vector, Matrix]:
    """Forecasts, losses of the mixture, and weights, round after round."""
    T, N, k = said.shape
    lo, hi = ranges.T
    rates = 2.0 / (hi - lo) ** 2
    eta = 1.0 / (1.0 / rates).sum()
    forecast, mixed, weights = np.empty((T, k)), np.empty(T), np.empty((T, N))
    logs = np.log(prior)  # of the weights, but for a factor
    for t, (given, y) in enumerate(zip(said, ys)):
        weights[t] = np.exp(logs - logs.max())
        weights[t] /= weights[t].sum()
        awake = ~np.isnan(given).any(axis=1)
        f, now = given[awake], logs[awake] - _log_sum(logs[awake])
        low = -_log_sum((now - rates[:, None] * ((f - lo) ** 2).T).T) / rates
        high = -_log_sum((now - rates[:, None] * ((f - hi) ** 2).T).T) / rates
        forecast[t] = 0.5 * (lo + hi) + 0.5 * (low - high) / (hi - lo)
        losses = ((f - y) ** 2).sum(axis=1)
        mixed[t] = -_log_sum(now - eta * losses) / eta
        logs[awake] -= eta * losses
        logs[~awake] -= eta * mixed[t]
    return forecast, mixed, weights


def _log_sum(logs: Matrix) -> Vector:
    """ln sum exp over the first side."""
    top = logs.max(axis=0)
    found: Vector = top + np.log(np.exp(logs - top).sum(axis=0))
    return found
