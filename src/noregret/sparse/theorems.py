"""What was claimed of OSLOG, and what can be said: reports, no proofs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from noregret._native import sparse as ops
from noregret._native.sparse import IDLE, LARGEST_SEEN, LOSS, MOMENT, SCALES, SQUARE, WEIGHTS
from noregret.certificates import Assumption, Certificate
from noregret.gaussian.facts import declared_bound

if TYPE_CHECKING:
    from noregret.sparse.state import OSLOGState

__all__ = ["published", "regret_meter"]


def published(held: OSLOGState, outcome_bound: float | None) -> Certificate:
    """JB Theorem 2 (9): shown, never relied on.

    loss <= inf_w (L(w) + a|D^-1/2 w|^2) + Y^2 (2n ln(16Y^2/(a sqrt pi)) + ln det(A/(8Y^2))),
    D = diag|w_{T-1}|, A = M + a D^-1.
    """
    state, book, n = held.state, held.book, held.space.size
    a, floor, passes = held.settings
    seen = float(book[LARGEST_SEEN, 0])
    Y = seen if outcome_bound is None else outcome_bound
    scales, w = state[SCALES], state[WEIGHTS]
    k = ops.factor(held.gram, state, held.root, state[IDLE], a)
    alive = bool((scales > 0.0).all()) and k >= 0 and Y > 0.0
    loss = float(book[LOSS].sum())
    fit = price = 0.0
    if alive:
        pulled = float(w @ held.gram @ w) - 2.0 * float(state[MOMENT] @ w)
        fit = float(book[SQUARE].sum()) + pulled + a * float((w * (w / scales)).sum())
        log_det = 2.0 * float(np.log(np.diagonal(held.root)[:k]).sum()) + (n - k) * math.log(a)
        square = 2.0 * math.log(Y)  # Y^2 itself may underflow
        log_det -= float(np.log(scales).sum()) + n * (math.log(8.0) + square)
        ratio = math.log(16.0) + square - math.log(a) - 0.5 * math.log(math.pi)
        price = Y * Y * (2.0 * n * ratio + log_det)
    held_up = "it held" if loss <= fit + price else "it FAILED"
    known = Assumption(f"|y| <= Y = {Y:.6g}, the largest so far", met=True)
    return Certificate.of(
        name="OSLOG Theorem 2 as published",
        kind="report",
        rounds=held.rounds,
        loss=loss,
        comparator=fit,
        bound=fit + price,
        statement=(
            "sum (y - g)^2 <= inf_w (L(w) + a|D^-1/2 w|^2) + Y^2 (2n ln(16Y^2/(a sqrt pi)) + "
            f"ln det(A/(8Y^2))); on this stream {held_up if alive else 'it does not speak'}. It is "
            "false in general: one round with x = 1, y = -1, a = 1 has loss 4 and bound 3.51, and "
            "regret can be linear in T. SafeOSLOG has a bound that is true"
        ),
        assumptions=(
            known if outcome_bound is None else declared_bound("|y|", "Y", outcome_bound, seen),
            Assumption("no weight was 0 before the last round", met=bool((scales > 0.0).all())),
            Assumption("one pass a round, no floor", met=passes == 1.0 and floor == 0.0),
        ),
    )


def regret_meter(held: OSLOGState) -> Certificate:
    """The regret against min_w (L(w) + a|w|^2), the best ridge expert: a number, no claim."""
    a, n = held.settings[0], held.space.size
    b, square = held.state[MOMENT], float(held.book[SQUARE].sum())
    unit = 1.0 / np.sqrt(np.diagonal(held.gram) + a)  # columns may be of any size
    lot = unit[:, None] * (held.gram + a * np.eye(n)) * unit
    best = square - float((unit * b) @ np.linalg.lstsq(lot, unit * b)[0]) if n else square
    loss = float(held.book[LOSS].sum())
    return Certificate.of(
        name="regret meter",
        kind="report",
        rounds=held.rounds,
        loss=loss,
        comparator=max(best, 0.0),
        bound=max(best, 0.0),
        statement="sum (y - g)^2 beside min_w (sum (y - w'x)^2 + a|w|^2)",
    )
