"""The running columns of one stream: compensated sums (Neumaier) and maxima."""

from __future__ import annotations

import math

import numba as nb

from noregret._ops import BLOCK, compiled
from noregret._ops.layout import (
    AT,
    CHARGE,
    FIT,
    LEVERAGE,
    LOGDET,
    LONGEST,
    LOSS,
    MEAN,
    NORM,
    NORMS,
    OUTCOMES,
    PEAK,
    RELIEF,
    ROOT,
    ROUNDS,
    SQUARE,
    WEIGHTED,
    WIDEST,
    Y,
)
from noregret.types import Matrix


@compiled(nb.void(BLOCK, nb.int64, nb.float64))
def add(ledger: Matrix, row: int, term: float) -> None:
    """Add a term to a running sum and what rounding took from it to the compensation."""
    held = ledger[row, 0]
    total = held + term
    ledger[row, 0] = total
    lost = (held - total) + term if abs(held) >= abs(term) else (term - total) + held
    ledger[row, 1] = ledger[row, 1] + lost if math.isfinite(total) else 0.0


@compiled(nb.void(BLOCK, BLOCK, nb.float64, nb.float64, nb.float64))
def post(ledger: Matrix, work: Matrix, loss: float, square: float, fit: float) -> None:
    """Book one round: what was paid, and what the look at x and the outcomes say."""
    at, mean, y = work[AT], work[MEAN], work[Y]
    beta = at[ROOT]
    shrunk = 1.0 / beta
    leverage = 1.0 - shrunk * shrunk
    add(ledger, LOSS, loss)
    add(ledger, SQUARE, square)
    if fit != 0.0:  # many rounds at once have theirs booked together
        add(ledger, FIT, fit)
    add(ledger, LEVERAGE, leverage)
    add(ledger, NORMS, at[NORM] ** 2)
    weighted = charge = relief = 0.0
    for k in range(ledger.shape[0] - OUTCOMES):
        weighted += ((y[k] - mean[k]) * shrunk) ** 2
        charge += leverage * y[k] ** 2
        relief += leverage * (mean[k] * shrunk) ** 2  # (d - 1) (m/d)^2
        ledger[OUTCOMES + k, 0] = max(ledger[OUTCOMES + k, 0], abs(y[k]))
    add(ledger, WEIGHTED, weighted)
    add(ledger, LOGDET, 2.0 * math.log(beta))
    add(ledger, CHARGE, charge)
    add(ledger, RELIEF, relief)
    ledger[WIDEST, 0] = max(ledger[WIDEST, 0], at[PEAK])
    ledger[LONGEST, 0] = max(ledger[LONGEST, 0], at[NORM])
    ledger[ROUNDS, 0] += 1.0
