"""The outcomes of a round or of many: numbers, or vectors, as those before were."""

from __future__ import annotations

import numpy as np

from noregret.errors import OutcomeError
from noregret.inputs.values import outcome, outcome_table, outcomes
from noregret.types import Matrix, Outcome, Outcomes, Vector

__all__ = ["one_outcome", "outcome_rows_like", "outcomes_like"]


def one_outcome(y: Outcome) -> tuple[Vector, bool]:
    """The outcomes of one round, and whether it was a plain number."""
    if isinstance(y, list | tuple) or (hasattr(y, "ndim") and y.ndim > 0):
        return outcomes(y), False
    return np.array([outcome(y)]), True


def outcomes_like(y: Outcome, m: int, *, scalar: bool) -> Vector:
    """The outcomes of one round, given what they were before."""
    ys, number = one_outcome(y)
    if number != scalar or ys.size != m:
        now = "numbers" if scalar else f"vectors of {m}"
        raise OutcomeError(f"y = {y!r}: the outcomes so far were {now}, keep to that")
    return ys


def outcome_rows_like(y: Outcomes, rounds_: int, m: int, *, scalar: bool) -> Matrix:
    """The outcomes of many rounds, given what they were before."""
    ys, numbers = outcome_table(y, rounds_)
    if numbers != scalar or ys.shape[1] != m:
        shape = f"({rounds_},)" if scalar else f"({rounds_}, {m})"
        raise OutcomeError(
            f"y has shape {ys.shape[: 2 - numbers]}: the outcomes so far were "
            f"{'numbers' if scalar else f'vectors of {m}'}, so give it shape {shape}"
        )
    return ys
