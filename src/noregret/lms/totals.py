"""What a net's state comes to, as its theorems need it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

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
from noregret.types import Matrix, Vector

__all__ = ["Budgets", "NetTotals", "totals_of"]


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


class Net(Protocol):
    """What is added up of a net."""

    cells: Matrix
    book: Matrix

    @property
    def alphas(self) -> Vector:
        """The widths."""
        ...


def totals_of(net: Net) -> NetTotals:
    """The book, added up."""
    book, cells = net.book, net.cells
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
        alphas=net.alphas,
        weights=np.exp(cells[PRIOR]),
        paid=cells[PAID] + cells[PAID + 1],
        budgeted=float(book[RATE, 1]) > 0.0,
        budgets=Budgets(L_hat, H_hat) if H_hat > 0.0 else None,
    )
