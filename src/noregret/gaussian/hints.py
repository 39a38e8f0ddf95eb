"""Hints: what AAR forecasts around, the middle of two ends that rounds move (native/hint.hpp).

`ends` (2, m) has the lower and the upper one of every outcome.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from noregret._native import layout
from noregret.declare.fields import Mismatch
from noregret.gaussian.ledger import Totals
from noregret.gaussian.rules import Rule
from noregret.types import Matrix

__all__ = ["hints", "merged_ends", "most_hint", "restored_ends"]


class Hinted(Protocol):
    """What has ends, and rounds that moved them."""

    @property
    def ends(self) -> Matrix:
        """(2, m)."""
        ...

    @property
    def rounds(self) -> int:
        """How many."""
        ...


def hints(rule: Rule, ends: Matrix, y: Matrix, *, first: bool) -> Matrix:
    """The hint of each round (T, m), from where it stood; `first`: no outcome came before.

    >>> hints(Rule(layout.LAST), np.zeros((2, 1)), np.array([[3.0], [4.0]]), first=True)
    array([[0.],
           [3.]])
    """
    low, high = ends
    before = y[:-1]
    if rule.code == layout.LAST:
        low, high = np.vstack([low, before]), np.vstack([high, before])
    elif rule.code == layout.MIDRANGE:
        low = np.minimum.accumulate(np.vstack([y[0] if first else low, before]))
        high = np.maximum.accumulate(np.vstack([y[0] if first else high, before]))
        if first:
            low[0] = high[0] = 0.0
    found: Matrix = low + 0.5 * (high - low) + np.zeros_like(y)
    return found


def most_hint(rule: Rule, sums: Totals) -> float:
    """A bound on the size of all hints so far: the number, or outcomes."""
    if not rule.hinted:
        return 0.0
    return abs(rule.level) if rule.code == layout.AROUND else math.sqrt(sums.energy)


def merged_ends(rule: Rule, one: Hinted, other: Hinted) -> Matrix:
    """Where the hint stands when the other's rounds came after the one's."""
    if rule.code == layout.MIDRANGE and one.rounds and other.rounds:
        (low, high), (least, most) = one.ends, other.ends
        return np.array([np.minimum(low, least), np.maximum(high, most)])
    return other.ends if other.rounds else one.ends


def restored_ends(ends: Matrix | None, rule: Rule, m: int) -> Matrix:
    """What a hint from a file is the middle of, (2, m)."""
    if (ends is not None) != (rule.code > layout.AROUND):
        raise Mismatch("has a hint that does not go with its rule")
    if ends is None:
        return np.full((2, m), rule.level if rule.code == layout.AROUND else 0.0)
    sizes = np.abs(ends)
    if ends.shape != (2, m) or (ends[0] > ends[1]).any() or sizes.max() > layout.LARGEST_OUTCOME:
        raise Mismatch("has a hint that no outcomes have left")
    return ends
