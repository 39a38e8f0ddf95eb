"""Are a pool's weights what its experts paid?  O(N), docs/theory.md section 18."""

from __future__ import annotations

import math

import numpy as np

from noregret._native import mixing
from noregret.certificates import Audit, rounding
from noregret.types import Matrix

__all__ = ["audits_of"]


def audits_of(cells: Matrix, book: Matrix) -> tuple[Audit, ...]:
    """Every check that a pool allows, from its arrays."""
    rate, share = book[mixing.RATE].tolist()
    rounds, prior, excess = float(book[mixing.ROUNDS, 0]), cells[mixing.PRIOR], cells[mixing.EXCESS]
    steps = rounds + prior.size
    with np.errstate(all="ignore"):
        mass = np.exp(prior)
        audits = [Audit("sum p_j = 1", abs(float(mass.sum()) - 1.0), rounding(1.0, steps))]
        if rate == math.inf or not rounds:
            return tuple(audits)
        audits += _of_the_range(book)
        reach, mix = float(book[mixing.REACH, 0]), float(book[mixing.MIX].sum())
        total = float(np.exp(prior - rate * excess).sum())
        allowed = rounding(1.0 + rate * reach, steps)
        audits.append(Audit("sum p_j exp(-eta u_j) = 1", abs(total - 1.0), allowed))
        if share > 0.0:  # what moved from expert to expert is in the best sequences
            name, charged = "mix + u_j <= the best sequence that ends in j", cells[mixing.TRACK]
        else:
            name, charged = "mix + u_j = L_j", cells[mixing.PAID] + cells[mixing.PAID + 1]
        off = mix + excess - charged
        if share > 0.0 or book[mixing.WIDTH, 1] != 0.0:  # a rate that fell lowers excesses
            name, off = name.replace(" = ", " <= "), np.maximum(off, 0.0)
        known = np.isfinite(off)
        sizes = np.abs(charged) + np.abs(excess) + abs(mix) + reach
        ratio = np.where(known, np.abs(off) / rounding(1.0, steps) / sizes, 0.0)
        worst = int(np.argmax(ratio))
        if known[worst]:
            allowance = rounding(float(sizes[worst]), steps)
            audits.append(Audit(name, float(abs(off[worst])), allowance))
    return tuple(audits)


def _of_the_range(book: Matrix) -> list[Audit]:
    """The rate is made for the width, and the width is that of the range."""
    if book[mixing.GAME, 0] == mixing.LIKELIHOOD:
        return []
    (low, high), width = book[mixing.RANGE].tolist(), float(book[mixing.WIDTH, 0])
    scale, rate = float(book[mixing.GAME, 1]), float(book[mixing.RATE, 0])
    off = abs(rate * width * width / scale - 1.0)
    apart, size = abs((high - low) - width), abs(low) + abs(high) + width
    return [
        Audit("eta (hi-lo)^2 is that of the loss", off, rounding(1.0)),
        Audit("hi - lo is that of the range", apart, rounding(size)),
    ]
