"""One round, compiled: the only file of this folder where core, rule and ledger meet.

A factor that is wider than tall is [R z] of fixed experts, one that is taller than wide is
[T; w] of drifting ones.  Every check comes before the first write to `factor` or `ledger`, so
a round that is refused leaves both as they were.
"""

from __future__ import annotations

import math

import numba as nb

from noregret._ops import ANY, BLOCK, ROW, compiled, drift, primal
from noregret._ops.door import admit, norm
from noregret._ops.layout import (
    AT,
    BAYES,
    CEILING,
    DRIFT,
    FRESH,
    LARGEST_FEATURE,
    LARGEST_OUTCOME,
    LEVEL,
    MEAN,
    NORM,
    OK,
    OUTCOME,
    OUTCOMES,
    PEAK,
    ROOT,
    RULE,
    STATUS,
    X,
    Y,
)
from noregret._ops.ledger import post
from noregret._ops.rules import forecast, log_loss
from noregret.types import Matrix, Vector

look_fixed, absorb_fixed = primal.look, primal.absorb
look_drifting, absorb_drifting, diffuse = drift.look, drift.absorb, drift.diffuse


@compiled(nb.int64(BLOCK, BLOCK, ANY))
def view(factor: Matrix, work: Matrix, x: Vector) -> int:
    """Admit x and look at it; the look stays in work[MEAN] and work[AT, ROOT]."""
    tall, wide = factor.shape
    status = admit(work, x, min(tall, wide))
    if status == OK and work[AT, FRESH] == 0.0:
        status = look_fixed(factor, work) if tall < wide else look_drifting(factor, work)
    return status


@compiled(nb.float64(BLOCK, BLOCK, ANY))
def predict(factor: Matrix, work: Matrix, x: Vector) -> float:
    """The forecast of the first outcome; NaN when x is refused, why in work[AT, STATUS]."""
    at = work[AT]
    status = view(factor, work, x)
    at[STATUS] = status
    if status != OK:
        return math.nan
    return forecast(int(at[RULE]), at[LEVEL], work[MEAN, 0], at[ROOT])


@compiled(nb.int64(BLOCK, BLOCK, ANY, ROW))
def gaze(factor: Matrix, work: Matrix, x: Vector, seen: Vector) -> int:
    """Look at an x of any size; means and root spread go to the caller's own `seen`."""
    at = work[AT]
    ceiling = at[CEILING]
    at[CEILING] = LARGEST_FEATURE
    status = view(factor, work, x)
    at[CEILING] = ceiling
    if status == OK:
        for k in range(seen.shape[0] - 1):
            seen[k] = work[MEAN, k]
        seen[seen.shape[0] - 1] = at[ROOT]
    return status


@compiled(nb.float64(BLOCK, BLOCK, nb.float64))
def book(ledger: Matrix, work: Matrix, fit: float) -> float:
    """Book the round that lies in `work`; return what the rule paid."""
    at = work[AT]
    rule, level, root = int(at[RULE]), at[LEVEL], at[ROOT]
    paid = square = 0.0
    for k in range(ledger.shape[0] - OUTCOMES):
        mean, y = work[MEAN, k], work[Y, k]
        e = (y - forecast(rule, level, mean, root)) ** 2
        square += e
        paid += log_loss(level, mean, root, y) if rule == BAYES else e
    post(ledger, work, paid, square, fit)
    return paid


@compiled(nb.int64(BLOCK, BLOCK, BLOCK, ANY, nb.float64))
def learn(factor: Matrix, work: Matrix, ledger: Matrix, x: Vector, y: float) -> int:
    """Look at x, absorb y, book what it cost, drift on to the next round.

    Of several outcomes, the caller has put those after the first into work[Y].
    """
    tall, wide = factor.shape
    work[Y, 0] = y
    for k in range(abs(tall - wide)):
        if not abs(work[Y, k]) <= LARGEST_OUTCOME:  # NaN too
            return OUTCOME
    status = view(factor, work, x)
    if status != OK:
        return status
    if tall < wide:
        book(ledger, work, absorb_fixed(factor, work))
    else:
        book(ledger, work, absorb_drifting(factor, work))
        diffuse(factor, work, work[AT, DRIFT])
    return OK


@compiled(nb.int64(BLOCK, BLOCK, BLOCK, ANY, ROW))
def learn_any(factor: Matrix, work: Matrix, ledger: Matrix, x: Vector, ys: Vector) -> int:
    """Learn an x of any size and any number of outcomes, in one step for other threads."""
    at = work[AT]
    for k in range(ys.shape[0]):
        work[Y, k] = ys[k]
    ceiling = at[CEILING]
    at[CEILING] = LARGEST_FEATURE
    status = learn(factor, work, ledger, x, ys[0])
    at[CEILING] = ceiling
    return status


@compiled(nb.void(BLOCK, BLOCK, BLOCK, BLOCK, BLOCK, ROW, BLOCK, ROW))
def settle(
    ledger: Matrix,
    work: Matrix,
    xs: Matrix,
    ys: Matrix,
    means: Matrix,
    roots: Vector,
    forecasts: Matrix,
    losses: Vector,
) -> None:
    """Book the rounds that a core has replayed; fill in forecasts and losses.

    The fit comes from the core for all rounds together and is booked apart.
    """
    T, m = ys.shape
    rule, level = int(work[AT, RULE]), work[AT, LEVEL]
    for t in range(T):
        x = xs[t]
        peak = 0.0
        for k in range(x.shape[0]):
            peak = max(peak, abs(x[k]))
        work[AT, PEAK] = peak
        work[AT, NORM] = norm(x, peak)
        work[AT, ROOT] = roots[t]
        for k in range(m):
            work[MEAN, k] = means[t, k]
            work[Y, k] = ys[t, k]
            forecasts[t, k] = forecast(rule, level, means[t, k], roots[t])
        losses[t] = book(ledger, work, 0.0)
    work[AT, FRESH] = 0.0


@compiled(nb.int64(BLOCK, BLOCK, BLOCK, BLOCK, ROW))
def survey(factor: Matrix, work: Matrix, xs: Matrix, means: Matrix, roots: Vector) -> int:
    """Look at every row and learn nothing; -1, or the first row that overflows."""
    tall, wide = factor.shape
    for t in range(xs.shape[0]):
        for k in range(xs.shape[1]):
            work[X, k] = xs[t, k]
        status = look_fixed(factor, work) if tall < wide else look_drifting(factor, work)
        if status != OK:
            return t
        for k in range(means.shape[1]):
            means[t, k] = work[MEAN, k]
        roots[t] = work[AT, ROOT]
    work[AT, FRESH] = 0.0
    return -1
