"""Merging a table of forecasts by one of the rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, overload

import numpy as np

from noregret.declare.parameters import PARAMETERS, SHARE, Choice, Fractions
from noregret.errors import InputError, ParameterError, abbreviated
from noregret.experts.aggregation import Aggregation, replayed
from noregret.experts.convex import ConvexLoss, convex
from noregret.experts.crps import DistributionAggregation
from noregret.experts.distributions import aggregate_distributions
from noregret.experts.guarded import guarded
from noregret.experts.guarded_pool import GUARDED, GuardedPool
from noregret.experts.merged import (
    GradientAggregation,
    QuantileAggregation,
    merged,
    quantiles_of,
)
from noregret.experts.pool import Pool
from noregret.experts.reading import prior_of, read
from noregret.experts.regret_pool import RULES, RegretPool
from noregret.experts.vectors import VectorAggregation, aggregate_vectors, ranges_of
from noregret.inputs import values as features
from noregret.learner.replay import library_of
from noregret.losses import LARGEST, game
from noregret.types import Matrix, Outcomes, Table

__all__ = ["aggregate"]

RULE = Choice((*GUARDED, "aggregating", *RULES))
WINNERS = {"square": "rules", "log": "aggregating", "brier": "aggregating"}
"""The default by loss; of any other, MLpol."""


@overload
def aggregate(
    forecasts: Table,
    y: Outcomes,
    *,
    outcome_range: object,
    loss: Literal["crps"],
    prior: object = ...,
    level: Sequence[float] | None = ...,
) -> DistributionAggregation: ...


@overload
def aggregate(
    forecasts: Table,
    y: Outcomes,
    *,
    outcome_range: object = ...,
    loss: Any = ...,
    share: float | str | None = ...,
    prior: object = ...,
    rule: str | None = ...,
    level: Sequence[float],
    width: None = ...,
) -> QuantileAggregation: ...


@overload
def aggregate(
    forecasts: Table,
    y: Outcomes,
    *,
    outcome_range: object = ...,
    loss: Any = ...,
    share: float | str | None = ...,
    prior: object = ...,
    rule: str | None = ...,
    level: float | None = ...,
    width: float | None = ...,
) -> Aggregation: ...


def aggregate(
    forecasts: Table,
    y: Outcomes,
    *,
    outcome_range: object = None,
    loss: object = "square",
    share: float | str | None = None,
    prior: object = None,
    rule: str | None = None,
    level: float | Sequence[float] | None = None,
    width: float | None = None,
) -> Aggregation | QuantileAggregation | DistributionAggregation:
    """Merge a T x N table of forecasts, in compiled code.

    forecasts : one column per expert, an array or a frame; NaN where an expert sleeps.  For
        loss="log" probabilities of outcome 1, or an array T x N x 2 of normal means and variances.
        Of square and convex losses also T x N x k: k outcomes a round, y is T x k, with weights
        that they share.
    y : the outcomes.
    rule : "rules", several rules merged behind the Aggregating Algorithm as in `RulePool`, or some
        of them: "adaptive", "stacking"; "aggregating", the Aggregating Algorithm alone; "mlpol" or
        "boa" for any convex loss.  By default "rules" for square loss, "aggregating" for "log" and
        "brier", "mlpol" for every other.
    loss : "square"; "log" or "brier" of "aggregating"; "crps", to merge distributions: T x N x 2
        normal means and variances, or T x N x k quantiles at k levels.  Of "mlpol" and "boa" also
        "absolute", "pinball" with `level`, "huber" with `width`, a pair of functions (loss, slope)
        of g and y, or an object with `loss(g, y)` and `slope(g, y)`.
    outcome_range : Y for [-Y, Y], a pair (lo, hi), or None: learned as the rounds go, by all but
        "aggregating" around the median of the forecasts.  "mlpol" and "boa" need none; for several
        outcomes a round "aggregating" needs it: one for all, or k pairs.
    share : how much weight goes back to the prior after each round (Fixed Share); "falling":
        1/(t+1) after round t, for every number of switches at once, the default except of
        "aggregating", where it is 0.  Not of "mlpol" and "boa".
    prior : weights of the experts before the first round; equal by default.
    level : of pinball loss; several of them give quantiles that do not cross.
    width : of Huber loss.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.uniform(-1, 1, 500)
    >>> said = y[:, None] + rng.normal(0, [0.1, 0.5], (500, 2))
    >>> merged = aggregate(said, y)
    >>> print(f"{merged.loss.sum():.2f}: {merged.certificate.statement}")
    4.77: sum (y - g)^2 <= min_j (L_j + (hi-lo)^2/2 ln 10T/p_j) + what rounds beyond the range cost
    >>> print(aggregate(said, y, rule="aggregating", outcome_range=1.0).certificate)
    Aggregating Algorithm: holds after 500 rounds [upper bound]
      sum (y - g)^2 <= min_j (L_j + (hi-lo)^2/2 ln 1/p_j)
      loss 4.88861, best in hindsight 4.77838, bound 6.16467 (slack 1.28)
      [x] -1 <= y <= 1, as given
    >>> aggregate(said, y, rule="mlpol", loss="absolute").certificate.holds
    True
    """
    if isinstance(loss, str) and loss == "crps":
        return _distributions(forecasts, y, outcome_range, share, prior, rule, level, width)
    if rule is None:
        rule = WINNERS.get(loss, "mlpol") if isinstance(loss, str) else "mlpol"
    if RULE.check("rule", rule) == "aggregating":
        _refuse('rule="mlpol" or "boa"', level=level, width=width)
        if loss == "square" and _deep(forecasts):
            return _vectors(forecasts, y, outcome_range, share, prior)
        played = game(PARAMETERS["loss"].kind.check("loss", loss), outcome_range)
        said, costs, names, ys = read(played, forecasts, y)
        shared = SHARE.check("share", 0.0 if share is None else share)
        pool = Pool.start(played, prior_of(prior, names), shared)
        result = replayed(pool, said, costs, ys, names)[1]
        return replace(result, library=library_of(forecasts))
    if rule in GUARDED:
        _refuse('rule="mlpol" or "boa"', level=level, width=width)
        return _guarded(forecasts, y, rule, loss, outcome_range, share, prior)
    _refuse('rule="rules" or "aggregating"', outcome_range=outcome_range, share=share or None)
    several = level is not None and not np.isscalar(level)
    levels = sorted(Fractions().check("level", level)) if several else [level]
    losses = [convex(loss, one, width) for one in levels]
    said, names, outcomes = _table(losses[0], forecasts, y)
    weights = prior_of(prior, names)
    found: list[GradientAggregation] = []
    for one in losses:
        result = merged(RegretPool.begin(one, weights, rule), said, outcomes, names)[1]
        found.append(replace(result, library=library_of(forecasts)))
    if not several:
        return found[0]
    if said.ndim == 3:
        raise InputError(
            f"forecasts has shape {said.shape}: several levels are for one outcome a round"
        )
    return replace(quantiles_of(found), library=library_of(forecasts))


def _deep(forecasts: Any) -> bool:
    """Whether there are several forecasts per round and expert; frames have one."""
    if isinstance(forecasts, list | tuple):
        forecasts = np.asarray(forecasts[:1])
    return isinstance(forecasts, np.ndarray) and forecasts.ndim == 3


def _vectors(
    forecasts: Table, y: Outcomes, outcome_range: object, share: object, prior: object
) -> VectorAggregation:
    """The Aggregating Algorithm alone, for several outcomes a round."""
    if share not in (None, 0):
        raise ParameterError(
            f"share = {abbreviated(share)}: of several outcomes a round it is for "
            'rule="rules", "adaptive" or "stacking"; leave it out'
        )
    said, names, ys = _table(convex("square"), forecasts, y)
    ranges = ranges_of(outcome_range, said.shape[2])
    found = aggregate_vectors(said, ys, names, ranges, prior_of(prior, names))
    return replace(found, library=library_of(forecasts))


def _guarded(
    forecasts: Table,
    y: Outcomes,
    rule: str,
    loss: object,
    outcome_range: object,
    share: float | str | None,
    prior: object,
) -> Aggregation:
    """Several rules behind the Aggregating Algorithm."""
    if loss != "square":
        raise ParameterError(
            f'loss = {abbreviated(loss)}: rule="{rule}" is for "square"; give another rule'
        )
    played = game("square", outcome_range)
    said, names, ys = _table(convex("square"), forecasts, y)
    if said.ndim == 3:  # (23.5)
        played = replace(played, scale=2.0 / said.shape[2])
    shared = SHARE.check("share", "falling" if share is None else share)
    pool = GuardedPool.begin(played, prior_of(prior, names), rule, shared)
    return replace(guarded(pool, said, ys, names)[1], library=library_of(forecasts))


def _distributions(
    forecasts: Table,
    y: Outcomes,
    outcome_range: object,
    share: object,
    prior: object,
    rule: str | None,
    level: object,
    width: object,
) -> DistributionAggregation:
    """The pool of distributions, which has one rule."""
    if rule is not None and RULE.check("rule", rule) != "aggregating":
        raise ParameterError(f'rule = {rule!r}: loss="crps" is for rule="aggregating"')
    _refuse("other losses", share=share or None, width=width)
    found = aggregate_distributions(forecasts, y, outcome_range, prior, level)
    return replace(found, library=library_of(forecasts))


def _refuse(where: str, **options: object) -> None:
    """Refuse what another rule takes."""
    for word, value in options.items():
        if value is not None:
            raise ParameterError(f"{word} = {abbreviated(value)}: it is for {where}; leave it out")


def _table(
    loss: ConvexLoss, forecasts: Table, y: Outcomes
) -> tuple[Matrix, tuple[str, ...], Matrix]:
    """Forecasts, names and outcomes, checked; T x N x k with (T, k) outcomes too."""
    said, names = features.table_with_gaps(forecasts, "forecasts")
    if said.ndim != 3:
        flat, _, labels, ys = read(loss, said, y)  # type: ignore[arg-type]  # it asks no more
        return flat, tuple(map(str, names)) if names else labels, ys
    table, _ = features.outcome_table(y, len(said))
    if table.shape != (said.shape[0], said.shape[2]) or 0 in said.shape:
        raise InputError(
            f"forecasts has shape {said.shape} and y {table.shape}: give T x N x k and T x k; "
            "means and variances are for loss='log' or loss='crps'"
        )
    where = np.abs(said) > LARGEST
    if where.any() or np.abs(table).max() > LARGEST:
        raise InputError(
            "forecasts or y exceed 1e150 in size: a pool takes numbers up to it; rescale"
        )
    labels = tuple(f"expert_{j}" for j in range(said.shape[1]))
    return np.ascontiguousarray(said), labels, np.ascontiguousarray(table)
