"""What a state comes to, as its theorems need it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from noregret._native import continuum as ops
from noregret.types import Vector

if TYPE_CHECKING:
    from noregret.lms.net_state import NetState

__all__ = ["Budgets", "NetTotals", "Totals", "totals_of"]


@dataclass(frozen=True, slots=True)
class Budgets:
    """L-hat and H-hat, where the user gave them."""

    loss: float
    norm: float


@dataclass(frozen=True, slots=True, eq=False)
class Totals:
    """What kernel LMS and the net have in common."""

    rounds: int
    loss: float
    eta: float
    peak: float  # X^2, the largest k(x, x)


@dataclass(frozen=True, slots=True, eq=False)
class NetTotals(Totals):
    """A net's book, added up."""

    mix: float
    worst: float
    worst_round: int
    low: float
    high: float
    price: float  # c
    alphas: Vector
    weights: Vector
    paid: Vector
    budgeted: bool
    budgets: Budgets | None


def totals_of(net: NetState) -> NetTotals:
    """The book, added up."""
    book, cells = net.book, net.cells
    (low, high), (price, _), (eta, window) = book[[ops.RANGE, ops.GAME, ops.RATE]].tolist()
    L_hat, H_hat = book[ops.BUDGETS].tolist()
    return NetTotals(
        rounds=int(book[ops.COUNTS, 0]),
        loss=math.fsum(book[ops.LOSS]),
        eta=eta,
        peak=float(book[ops.PEAK, 0]),
        mix=math.fsum(book[ops.MIX]),
        worst=float(book[ops.WORST, 0]),
        worst_round=int(book[ops.WORST, 1]),
        low=low,
        high=high,
        price=price,
        alphas=net.alphas,
        weights=np.exp(cells[ops.PRIOR]),
        paid=cells[ops.PAID] + cells[ops.PAID + 1],
        budgeted=window > 0.0,
        budgets=Budgets(L_hat, H_hat) if H_hat > 0.0 else None,
    )
