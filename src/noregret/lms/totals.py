"""What a net's state comes to, as its theorems need it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from noregret._ops.continuum import (
    BUDGETS,
    COUNTS,
    GAME,
    LOSS,
    MIX,
    PAID,
    PEAK,
    PRIOR,
    RANGE,
    RATE,
    WORST,
)
from noregret.lms.comparators import Seen
from noregret.lms.family import FamilyNetState
from noregret.lms.gaussians import GaussianNetState
from noregret.types import Vector

__all__ = ["Budgets", "NetTotals", "seen_by", "totals_of"]


@dataclass(frozen=True, slots=True)
class Budgets:
    """L-hat and H-hat, where the user gave them."""

    loss: float
    norm: float


@dataclass(frozen=True, slots=True, eq=False)
class NetTotals:
    """A net's book, added up."""

    rounds: int
    loss: float
    mix: float
    worst: float
    worst_round: int
    low: float
    high: float
    price: float  # c
    eta: float
    peak: float  # X^2, the largest k(x, x)
    alphas: Vector
    weights: Vector
    paid: Vector
    budgeted: bool
    budgets: Budgets | None


def seen_by(held: GaussianNetState | FamilyNetState) -> Seen:
    """The stream as comparators see it."""
    return Seen.of(held.patterns(), held.facts, complete=float(held.book[PEAK, 1]) == 0.0)


def totals_of(held: GaussianNetState | FamilyNetState) -> NetTotals:
    """The book, added up."""
    book, cells = held.book, held.cells
    L_hat, H_hat = book[BUDGETS].tolist()
    return NetTotals(
        rounds=int(book[COUNTS, 0]),
        loss=math.fsum(book[LOSS]),
        mix=math.fsum(book[MIX]),
        worst=float(book[WORST, 0]),
        worst_round=int(book[WORST, 1]),
        low=float(book[RANGE, 0]),
        high=float(book[RANGE, 1]),
        price=float(book[GAME, 0]),
        eta=float(book[RATE, 0]),
        peak=float(book[PEAK, 0]),
        alphas=held.alphas,
        weights=np.exp(cells[PRIOR]),
        paid=cells[PAID] + cells[PAID + 1],
        budgeted=float(book[RATE, 1]) > 0.0,
        budgets=Budgets(L_hat, H_hat) if H_hat > 0.0 else None,
    )
