"""Experts that change with time: AARCh's random walk as a Kalman filter.

An expert is a sequence th_1, th_2, ... that forecasts (th_1 + ... + th_t)'x_t and is charged
sum a_t |th_t|^2 (Busuttil and Kalnishkan, section 3).  Its Gaussian twin has

    P_{1|0} = I/a_1,     P_{t|t-1} = P_{t-1} + I/a_t,     m = w'x,     d = 1 + x'Px

Form: a triangle of P itself while sum_j P_jj x_j^2 <= 1e3, which costs 3.5 n^2 flops per round and
at most 1e3 eps of accuracy; else a triangular root T with P = T'T, updated by Carlson's formula and
by Householder reflections of [T; sqrt(1/a_t) I], which costs (2/3) n^3 flops per round.  The root
is symmetric and positive whatever rounding does, and the triangle of P never comes near to losing
that.  The switch is made by the state alone, never by a forecast.

Measured against rational arithmetic (docs/accuracy.md, 25 rounds): forecasts right to 1e-14 on
columns 1e-8 apart, columns scaled 2^-20..2^20, features of mean 1e6, a_1 = 1e-16 and a row of
1e200, at drifts from 1e-12 to 1e-2, where P without a root is off by 1e-7, by 1, or NaN.  Over 200
rounds 4e-13, and 1e-10 on features of mean 1e6 at drift 1e-12, where one unit in the last place
of X does as much.
"""

from __future__ import annotations

import math

import numpy as np

from noregret._native import drift as ops
from noregret._native.layout import AT, DRIFT, PASSED, ROOTED, ROWS, SCALARS, Y
from noregret.gaussian.cores.core import Core
from noregret.gaussian.cores.schedule import Drift, steps
from noregret.types import Matrix, Vector

__all__ = ["GAUGE", "DriftCore"]

GAUGE = 1e3  # times eps: the most that a round may lose, as in native/drift.hpp


class DriftCore(Core):
    """[P or T; w] for n features and m outcomes; (n + m) n numbers and as many of scratch.

    `drift` is 1/a_t for t >= 2: a number, or a function of t.

    >>> core = DriftCore(prior_precision=1.0, drift=lambda t: 0.5, n=1, m=1)
    >>> core.absorb(np.array([1.0]), np.array([1.0]))  # e^2/d = 1/2
    0.4999999999999999
    >>> round(core.look(np.array([1.0])).spread, 12)   # 1 + (1/2 + drift)
    2.0
    """

    __slots__ = ("_walked", "alone", "drift", "factor", "prior_precision", "work")

    ops = ops
    drifts = True

    def __init__(self, prior_precision: float, drift: Drift, n: int, m: int) -> None:
        self.prior_precision = prior_precision
        self.drift = drift
        self.alone = not callable(drift)  # a compiled round does all that there is to do
        self._walked = 0.0  # sum of 1/a_t, t >= 2, when drift is a function
        self.factor: Matrix = np.zeros((n + m, n))
        np.fill_diagonal(self.factor, 1.0 / prior_precision)
        self.work: Matrix = np.zeros((ROWS + n, max(n + m, SCALARS)))
        self.work[AT, DRIFT] = 0.0 if callable(drift) else drift

    @classmethod
    def over(
        cls, prior_precision: float, drift: Drift, factor: Matrix, work: Matrix, walked: float = 0.0
    ) -> DriftCore:
        """A core that goes on in arrays as they are."""
        core: DriftCore = object.__new__(cls)
        core.prior_precision, core.drift, core.alone = prior_precision, drift, not callable(drift)
        core.factor, core.work, core._walked = factor, work, walked
        return core

    @property
    def rounds(self) -> int:
        """How many rounds have been absorbed."""
        return int(self.work[AT, PASSED])

    def prepare(self) -> None:
        """Put the drift that follows the next round where the compiled round finds it."""
        if callable(self.drift):
            self.work[AT, DRIFT] = steps(self.drift, self.rounds + 2, 1)[0]

    def moved(self) -> None:
        """Add up the drift that followed the round just absorbed."""
        if callable(self.drift):
            self._walked += float(self.work[AT, DRIFT])

    def absorb(self, x: Vector, y: Vector) -> float:
        """Fold y in and drift on to the next round; return the sum of e^2/d."""
        self.prepare()
        self.look(x)
        self.work[Y, : y.size] = y
        left = ops.absorb(self.factor, self.work)
        ops.diffuse(self.factor, self.work, self.work[AT, DRIFT])
        self.moved()
        return left

    def _stream(self, xs: Matrix, ys: Matrix, mean: Matrix, root: Vector, fit: Vector) -> int:
        """One compiled loop, the drift after each round included."""
        drifts = steps(self.drift, self.rounds + 2, len(xs))
        failed = ops.stream(self.factor, self.work, xs, ys, drifts, mean, root, fit)
        if failed < 0 and callable(self.drift):  # as the loop over rounds would have left it
            self._walked += math.fsum(drifts)
            self.work[AT, DRIFT] = drifts[-1]
        return failed

    def extended(self, k: int) -> DriftCore:
        """A copy with k features more, whose weights have drifted unseen since round 1."""
        n, m = self.shape
        larger = DriftCore(self.prior_precision, self.drift, n + k, m)
        prior_var = self.prior_var()
        rooted = self.work[AT, ROOTED] == 1.0
        np.fill_diagonal(larger.factor, math.sqrt(prior_var) if rooted else prior_var)
        larger.factor[:n, :n] = self.factor[:n]
        larger.factor[n + k :, :n] = self.factor[n:]
        larger._go_on_from(self)
        larger._walked = self._walked
        return larger

    def coefficients(self) -> Matrix:
        """The filtered weights, one row per outcome."""
        n, _ = self.shape
        return self.factor[n:].copy()

    def prior_var(self) -> float:
        """sum_{s<=t} 1/a_s, up to the round to come."""
        walked = self._walked if callable(self.drift) else self.drift * self.rounds
        return 1.0 / self.prior_precision + walked
