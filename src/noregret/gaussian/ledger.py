"""The ledger: what was paid and what the theorems need, in O(1) memory.

Each column is a compensated sum (Neumaier), so that a million rounds lose nothing; which row
is what is in noregret._native.layout.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from noregret._native import audit, layout
from noregret._native.ledger import add
from noregret.declare.fields import Mismatch
from noregret.types import Matrix, Vector

__all__ = [
    "Totals",
    "add",
    "extend",
    "merged",
    "note_weights",
    "open_ledger",
    "probe",
    "restored_ledger",
    "stored_ledger",
    "totals",
]

FORMER = 14  # where the outcomes stood before sums for audits were booked


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
    charge: float  # sum (y - h)^2 (1 - 1/d), h = 0 without a hint
    relief: float  # sum (d - 1) ((m - h)/d)^2
    squared_norms: float  # sum |x|_2^2
    widest: float  # largest |x|_inf
    longest: float  # largest |x|_2
    largest: float  # largest |y - h| of any outcome, once there was a hint
    missed: float  # of the sum of k(x, x), what a budget left out
    outcome_square: float  # sum over the outcomes k of max |y_k - h_k|^2
    workers: int  # streams that were merged into this one, itself included
    first: int = 0  # of the Student rule: the first round with e != 0, 0 before it
    first_weighted: float = 0.0  # its e^2/d, and the log-determinant up to it
    first_log_det: float = 0.0
    energy: float = math.nan  # sum |y|^2; not known of streams from files of release 1
    probe: float = math.nan  # a|r|^2 + sum (r'x)^2
    cross: float = math.nan  # sum (r'x)(r'y)
    worst: float = 0.0  # the largest failure of an audit on the way, in units of what is allowed
    worst_round: int = 0
    log_weights: float = 0.0  # sum ln w over rounds that had a weight
    light: int = 0  # rounds whose weight was not 1
    opening: float = 0.0  # what the charge was before there was a hint

    @property
    def most_energy(self) -> float:
        """sum |y|^2, or where it is not known a bound on it."""
        known = not math.isnan(self.energy)
        return self.energy if known else self.rounds * self.outcome_square


def probe(n: int) -> Vector:
    """The probe r for n features, or as many outcomes: fixed numbers with no structure."""
    r = np.empty(n)
    audit.probe(r)
    return r


def open_ledger(m: int, n: int = 0, prior_precision: float = 0.0) -> Matrix:
    """An empty ledger for m outcomes and n features, whose weights have a prior."""
    ledger = np.zeros((layout.OUTCOMES + m, 2))
    ledger[layout.ROUNDS, 1] = 1.0  # one worker so far
    return extend(ledger, 0, n, prior_precision)


def extend(ledger: Matrix, before: int, after: int, prior_precision: float) -> Matrix:
    """Charge the probe for features that are new; the ledger itself."""
    r = probe(after)[before:]
    add(ledger, layout.PROBE, prior_precision * float(r @ r))
    return ledger


def restored_ledger(ledger: Matrix, m: int) -> Matrix:
    """The ledger of m outcomes that an array from a file is; what it lacks is not known."""
    if ledger.shape == (FORMER + m, 2):
        unknown = np.zeros((layout.OUTCOMES - FORMER, 2))
        unknown[[row - FORMER for row in (layout.ENERGY, layout.PROBE, layout.CROSS)], 0] = math.nan
        ledger = np.vstack([ledger[:FORMER], unknown, ledger[FORMER:]])
    if ledger.shape != (layout.OUTCOMES + m, 2):
        raise Mismatch("has a ledger of another shape")
    counts = ledger[layout.ROUNDS]
    if not ((counts >= 0.0) & (counts <= 2.0**53) & (counts == np.floor(counts))).all():
        raise Mismatch("has invalid counts of rounds")
    first, weighted = ledger[layout.WIDEST, 1], ledger[layout.LONGEST, 1]
    if not (0.0 <= first <= counts[0] and first == np.floor(first) and weighted >= 0.0):
        raise Mismatch("has an invalid first round of its noise")
    if first > 0.0 and not weighted > 0.0:
        raise Mismatch("has an invalid first round of its noise")
    return ledger


def stored_ledger(ledger: Matrix) -> Matrix:
    """The ledger as a file keeps it: one that lacks the sums for audits is written as it was."""
    added = slice(FORMER, layout.OUTCOMES)
    if math.isnan(ledger[layout.ENERGY, 0]) and not np.nansum(np.abs(ledger[added])):
        return np.delete(ledger, added, axis=0)
    return ledger.copy()


def note_weights(ledger: Matrix, roots: Vector) -> None:
    """Book the weights of rounds, given their square roots; none is 0."""
    for part in (2.0 * np.log(roots)).tolist():
        add(ledger, layout.LOGWEIGHT, part)
    ledger[layout.LIGHT, 0] += np.count_nonzero(roots != 1.0)


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
        first=int(ledger[layout.WIDEST, 1]),
        first_weighted=float(ledger[layout.LONGEST, 1]),
        first_log_det=float(ledger[layout.OUTCOMES, 1]),
        energy=value[layout.ENERGY],
        probe=value[layout.PROBE],
        cross=value[layout.CROSS],
        worst=float(ledger[layout.WORST, 0]),
        worst_round=int(ledger[layout.WORST, 1]),
        log_weights=value[layout.LOGWEIGHT],
        light=int(ledger[layout.LIGHT, 0]),
        opening=float(ledger[layout.LIGHT, 1]),
    )


def merged(one: Matrix, other: Matrix, grew: float) -> Matrix:
    """The ledger of two streams learned apart: sums add and maxima compare.

    Every loss was paid under its own learner's forecasts, so all sums stay sums per learner.
    `grew` is how much more the best expert for all rounds pays than each learner's own best.
    """
    both = one.copy()
    for row in (*range(layout.WIDEST), *range(layout.JOINT, layout.MARK)):
        for part in other[row]:
            add(both, row, float(part))
    add(both, layout.JOINT, grew)
    both[layout.ROUNDS] += other[layout.ROUNDS]
    for row in (layout.WIDEST, layout.LONGEST, *range(layout.OUTCOMES, len(both))):
        both[row, 0] = max(one[row, 0], other[row, 0])
    for part in other[layout.LOGWEIGHT]:
        add(both, layout.LOGWEIGHT, float(part))
    both[layout.LIGHT] += other[layout.LIGHT]
    both[layout.MARK] = np.maximum(one[layout.MARK], other[layout.MARK])
    if other[layout.WORST, 0] > one[layout.WORST, 0]:
        both[layout.WORST] = other[layout.WORST]
    return both
