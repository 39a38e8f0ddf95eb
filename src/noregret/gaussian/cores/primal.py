"""Fixed experts with weights in R^n: QR-RLS in information form.

The state is the triangle [R z] with R'R = A = aI + sum xx' and z = R^-T b, b = sum yx, updated by
rotations (Zhdanov and Vovk, Algorithm 1).  It is never squared and never inverted:

    look    v = R^-T x,  mean m = v'z,  spread d = 1 + |v|^2
    absorb  rotate [x | y] into [R z];  e/sqrt(d) is left over, and rotations keep length, so
            sum e^2/d = min_w sum (y - w'x)^2 + a|w|^2                                 (ZV 1)

With a discount gam, [R z] <- sqrt(gam) [R z] after each round, so that experts may change.

Rotation by rotation the arithmetic is in noregret._native.primal; many rows at once in blocks.py.
"""

from __future__ import annotations

import math

import numpy as np

from noregret._native import primal as ops
from noregret._native.layout import AT, FADE, PASSED, ROWS, SCALARS, Y
from noregret.gaussian.cores.blocks import in_blocks, stream_in_blocks
from noregret.gaussian.cores.core import Core
from noregret.numerics.triangles import solve_upper
from noregret.types import Integers, Matrix, Vector

__all__ = ["PrimalCore"]


class PrimalCore(Core):
    """[R z] for n features and m outcomes; (n + m) n numbers, 3.5 n^2 flops per round.

    >>> core = PrimalCore(prior_precision=1.0, n=1, m=1)
    >>> core.look(np.array([1.0]))
    Look(mean=array([0.]), root=1.4142135623730951)
    >>> round(core.absorb(np.array([1.0]), np.array([1.0])), 12)  # e^2/d = 1/2
    0.5
    >>> core.coefficients().round(12)
    array([[0.5]])
    """

    __slots__ = ("factor", "prior_precision", "work")

    ops = ops
    alone = True  # a compiled round does all that there is to do

    def __init__(
        self, prior_precision: float, n: int, m: int, discount: float | None = None
    ) -> None:
        self.prior_precision = prior_precision
        self.factor: Matrix = np.zeros((n, n + m))
        np.fill_diagonal(self.factor, math.sqrt(prior_precision))
        self.work: Matrix = np.zeros((ROWS, max(n + m, SCALARS)))
        self.work[AT, FADE] = discount or 0.0

    @property
    def drifts(self) -> bool:  # type: ignore[override]  # experts may change where the past fades
        """Whether the past fades, so that experts may change."""
        return bool(self.work[AT, FADE])

    @property
    def _faded(self) -> float:
        """ln gam, as often as the state has faded; 0 where it does not."""
        gam, times = self.work[AT, [FADE, PASSED]].tolist()
        return times * math.log(gam) if gam else 0.0

    @classmethod
    def over(cls, prior_precision: float, factor: Matrix, work: Matrix) -> PrimalCore:
        """A core that goes on in arrays as they are."""
        core: PrimalCore = object.__new__(cls)
        core.prior_precision, core.factor, core.work = prior_precision, factor, work
        return core

    def absorb(self, x: Vector, y: Vector) -> float:
        """Rotate [x | y] into [R z]; return the sum of e^2/d."""
        self.look(x)
        self.work[Y, : y.size] = y
        return ops.absorb(self.factor, self.work)

    def prepare(self) -> None:
        """Nothing: fixed experts do not drift."""

    def moved(self) -> None:
        """Nothing: fixed experts do not count rounds."""

    def _stream(self, xs: Matrix, ys: Matrix, mean: Matrix, root: Vector, fit: Vector) -> int:
        """A compiled loop, or blocks in BLAS-3 for large n."""
        stream = stream_in_blocks if in_blocks(xs.shape[1]) else ops.stream
        if self.drifts:
            stream = ops.fading
        return stream(self.factor, self.work, xs, ys, mean, root, fit)

    def extended(self, k: int) -> PrimalCore:
        """A copy with k features more: their past is 0, so [R z] gains sqrt(a) I and rows of 0.

        What has faded of the rest has faded of sqrt(a).
        """
        n, m = self.shape
        larger = PrimalCore(self.prior_precision, n + k, m)
        if self.drifts:
            np.fill_diagonal(larger.factor, self._pivot())
        larger.factor[:n, :n] = self.factor[:, :n]
        larger.factor[:n, n + k :] = self.factor[:, n:]
        larger._go_on_from(self)
        return larger

    def coefficients(self) -> Matrix:
        """w = R^-1 z, one row per outcome."""
        n, m = self.shape
        if n == 0:
            return np.zeros((m, 0))
        w = solve_upper(self.factor[:, :n], self.factor[:, n:])
        return np.ascontiguousarray(w.T)

    def _pivot(self) -> float:
        """What is left of sqrt(a) in the pivot of a feature that was never seen."""
        return max(math.sqrt(self.prior_precision) * math.exp(0.5 * self._faded), ops.FAINT)

    def prior_var(self) -> float:
        """1/a; of what is left of a where the past fades."""
        return self._pivot() ** -2 if self.drifts else 1.0 / self.prior_precision

    @property
    def faint(self) -> bool:
        """Whether a pivot may have been kept from fading."""
        a = self.prior_precision
        return 0.5 * (math.log(a) + self._faded) < math.log(2.0 * ops.FAINT)

    def merge(self, other: PrimalCore, slots: Integers) -> float:
        """Stack the two triangles and rotate; return by how much the regularised loss grew.

        slots[j] is where the other's feature j stands here.  The rows of the other's [R z] are
        absorbed like data.  Its prior sqrt(a) I is in them, so for its features the prior now
        counts twice and is taken out once: at most half of A in any direction, which is safe.
        """
        n, m = self.shape
        extended = 0.0
        for row in other.factor:
            x = np.zeros(n)
            x[slots] = row[:-m]
            extended += self.absorb(x, row[-m:])
        for slot in slots:
            x = np.zeros(n)
            x[slot] = math.sqrt(self.prior_precision)
            self.look(x)
            extended -= ops.remove(self.factor, self.work)
        return extended

    def log_determinant(self) -> float:
        """ln det(I + X'X/a), from the triangle itself."""
        n, _ = self.shape
        diagonal = np.abs(np.diagonal(self.factor[:, :n]))
        prior = math.log(self.prior_precision) + self._faded
        return float(2.0 * np.log(diagonal).sum() - n * prior)

    def log_size(self) -> float:
        """What the terms of `log_determinant` add up to, whatever their signs."""
        n, _ = self.shape
        logs = np.log(np.abs(np.diagonal(self.factor[:, :n])))
        prior = abs(math.log(self.prior_precision)) + abs(self._faded)
        return float(2.0 * np.abs(logs).sum()) + n * prior
