"""The ledger: what was paid and what the theorems need, in O(1) memory.

Each column is a compensated sum (Neumaier), so that a million rounds lose nothing; which row
is what is in noregret._native.layout.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from noregret._native import layout
from noregret._native.ledger import add
from noregret.declare.fields import Mismatch
from noregret.types import Matrix

__all__ = ["Totals", "add", "check_stored", "merged", "open_ledger", "totals"]


@dataclass(frozen=True, slots=True)
class Totals:
    """The columns of a ledger, added up."""

    rounds: int
    outcomes: int  # m, how many outcomes a round has
    loss: float  # what the rule paid
    square_loss: float  # square loss of the point forecasts
    fit: float  # the best expert's regularised loss in hindsight, from the core's factor;
    #             after a merge, the sum over the learners of each one's own best
    best: float  # that of the one best expert for all rounds, merged ones included
    weighted: float  # sum e^2/d, from the looks
    log_det: float  # sum ln d
    leverage: float  # sum 1 - 1/d
    charge: float  # sum y^2 (1 - 1/d)
    relief: float  # sum (d - 1) (m/d)^2
    squared_norms: float  # sum |x|_2^2
    widest: float  # largest |x|_inf
    longest: float  # largest |x|_2
    largest: float  # largest |y| of any outcome
    missed: float  # of the sum of k(x, x), what a budget left out
    outcome_square: float  # sum over the outcomes k of max |y_k|^2
    workers: int  # streams that were merged into this one, itself included


def open_ledger(m: int) -> Matrix:
    """An empty ledger for m outcomes."""
    ledger = np.zeros((layout.OUTCOMES + m, 2))
    ledger[layout.ROUNDS, 1] = 1.0  # one worker so far
    return ledger


def check_stored(ledger: Matrix, m: int) -> None:
    """Refuse an array from a file that cannot be the ledger of m outcomes."""
    if ledger.shape != (layout.OUTCOMES + m, 2):
        raise Mismatch("has a ledger of another shape")
    counts = ledger[layout.ROUNDS]
    if not ((counts >= 0.0) & (counts <= 2.0**53) & (counts == np.floor(counts))).all():
        raise Mismatch("has invalid counts of rounds")


def totals(ledger: Matrix) -> Totals:
    """Add up the columns."""
    value, largest = ledger.sum(axis=1).tolist(), ledger[layout.OUTCOMES :, 0]
    return Totals(
        rounds=int(ledger[layout.ROUNDS, 0]),
        outcomes=largest.size,
        loss=value[layout.LOSS],
        square_loss=value[layout.SQUARE],
        fit=value[layout.FIT],
        best=value[layout.FIT] + value[layout.JOINT],
        weighted=value[layout.WEIGHTED],
        log_det=value[layout.LOGDET],
        leverage=value[layout.LEVERAGE],
        charge=value[layout.CHARGE],
        relief=value[layout.RELIEF],
        squared_norms=value[layout.NORMS],
        widest=float(ledger[layout.WIDEST, 0]),
        longest=float(ledger[layout.LONGEST, 0]),
        largest=max(largest.tolist(), default=0.0),
        missed=value[layout.MISSED],
        outcome_square=float(largest @ largest),
        workers=int(ledger[layout.ROUNDS, 1]),
    )


def merged(one: Matrix, other: Matrix, grew: float) -> Matrix:
    """The ledger of two streams learned apart: sums add and maxima compare.

    Every loss was paid under its own learner's forecasts, so all sums stay sums per learner.
    `grew` is how much more the best expert for all rounds pays than each learner's own best.
    """
    both = one.copy()
    for row in (*range(layout.WIDEST), layout.JOINT, layout.MISSED):
        for part in other[row]:
            add(both, row, float(part))
    add(both, layout.JOINT, grew)
    both[layout.ROUNDS] += other[layout.ROUNDS]
    for row in (layout.WIDEST, layout.LONGEST, *range(layout.OUTCOMES, len(both))):
        both[row, 0] = max(one[row, 0], other[row, 0])
    return both
