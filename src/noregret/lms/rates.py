"""The learning rate: given, or from budgets by formula (7), or one half."""

from __future__ import annotations

import math
import sys

from noregret.budgets import Window
from noregret.declare.parameters import positive
from noregret.errors import ParameterError, abbreviated
from noregret.lms.totals import Budgets

__all__ = ["DEFAULT", "HIGHEST", "SLOWEST", "budgets_of", "rate_of", "window_of"]

EXACT = 2**53  # rounds that float64 can count: a longer window forgets nothing either
SLOWEST = sys.float_info.min  # 1/eta fits in float64
HIGHEST = 1e300  # of a rate, a budget or a peak
DEFAULT = 0.5
"""Without budgets: every h then has L <= 2 L(h) + 2|h|^2 where k(x, x) <= 1."""


def budgets_of(loss_budget: float | None, norm_budget: float | None) -> Budgets | None:
    """L-hat and H-hat; both or none."""
    if loss_budget is None and norm_budget is None:
        return None
    if loss_budget is None or norm_budget is None:
        raise ParameterError(
            f"loss_budget = {abbreviated(loss_budget)}, norm_budget = {abbreviated(norm_budget)}: "
            "give both or none"
        )
    return Budgets(positive("loss_budget", loss_budget), positive("norm_budget", norm_budget))


def rate_of(learning_rate: float | None, budgets: Budgets | None, peak: float = 1.0) -> float:
    """eta; (7) is 1/((1 + sqrt(L^)/(H^ X)) X^2) with X^2 = peak."""
    if budgets is None:
        return DEFAULT / peak if learning_rate is None else positive("learning_rate", learning_rate)
    if learning_rate is not None:
        raise ParameterError(
            f"learning_rate = {abbreviated(learning_rate)} and budgets: budgets make a rate of "
            "their own; leave learning_rate=None, or give no budgets"
        )
    rate = 1.0 / ((1.0 + math.sqrt(budgets.loss / peak) / budgets.norm) * peak)
    if rate < SLOWEST:
        raise ParameterError(
            f"loss_budget = {budgets.loss!r}, norm_budget = {budgets.norm!r}: the rate that they "
            "make does not fit in float64; rescale the outcomes"
        )
    return rate


def window_of(budget: Window | None) -> int:
    """How many patterns are kept; 0 for all."""
    if budget is None:
        return 0
    if not isinstance(budget, Window):
        raise ParameterError(
            f"budget = {abbreviated(budget)}: give Window(size), or None to keep everything"
        )
    budget.check()
    return min(int(budget.size), EXACT)
