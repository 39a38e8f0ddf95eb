"""A core in weight space as model files keep it: the factor, and how it is to be read.

A core's `work` is scratch, except for a few scalars in work[AT].  A look that `predict_one` left
there is not stored, since a file is what was learned and a look that is made anew has the same
bits; files of earlier releases may hold one.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np

from noregret._native.layout import (
    AT,
    DRIFT,
    FADE,
    FRESH,
    NORM,
    PASSED,
    PEAK,
    ROOT,
    ROOTED,
    ROWS,
    SCALARS,
)
from noregret.declare.fields import Array, Count, Mismatch, Real, Truth
from noregret.gaussian.cores.drift import DriftCore
from noregret.gaussian.cores.primal import PrimalCore
from noregret.gaussian.cores.schedule import Drift
from noregret.types import Matrix

__all__ = ["StoredCore"]

OLD_ROWS, OLD_SCALARS = 6, 13  # of the scratch array, in files of releases that stored it


@dataclass(frozen=True, slots=True)
class StoredCore:
    """The fields of a core; what holds it knows its prior, its drift and its shape."""

    FIELDS = (
        Array("factor", ("tall", "wide")),
        Array("look", ("rows", "columns"), finite=False, optional=True),
        Truth("rooted"),
        Count("passed"),
        Real("drift", 0.0, sys.float_info.max),
        Real("walked", 0.0),
    )

    factor: Matrix
    look: Matrix | None
    rooted: bool
    passed: int
    drift: float
    walked: float

    @classmethod
    def of(cls, core: PrimalCore | DriftCore) -> StoredCore:
        """The core as it is now; it may go on meanwhile."""
        at = core.work[AT]
        walked = core._walked if isinstance(core, DriftCore) else 0.0
        settings = bool(at[ROOTED]), int(at[PASSED]), float(at[DRIFT])
        return cls(core.factor.copy(), None, *settings, walked)

    def core(
        self, precision: float, drift: Drift, n: int, m: int, discount: float | None = None
    ) -> PrimalCore | DriftCore:
        """The core that goes on from here, for n features and m outcomes."""
        if callable(drift) or drift > 0.0:
            return self.drifting(precision, drift, n, m)
        return self.fixed(precision, n, m, discount)

    def fixed(self, precision: float, n: int, m: int, discount: float | None = None) -> PrimalCore:
        """The core of fixed experts, or of those whose past fades."""
        if self.factor.shape != (n, n + m) or self.walked != 0.0:
            raise Mismatch("has a core of another shape, or one that drifts")
        work = self._work(0, n + m)
        work[AT, FADE] = discount or 0.0
        return PrimalCore.over(precision, self.factor, work)

    def drifting(self, precision: float, drift: Drift, n: int, m: int) -> DriftCore:
        """The core of experts that change."""
        if self.factor.shape != (n + m, n):
            raise Mismatch("has a core of another shape")
        if not callable(drift) and self.drift != drift:
            raise Mismatch("has another drift than its plan")
        work = self._work(n, n + m)
        return DriftCore.over(precision, drift, self.factor, work, self.walked)

    def _work(self, more: int, width: int) -> Matrix:
        """The scratch array, `more` rows of it for noise; a look that a file holds is made anew."""
        columns = max(width, SCALARS)
        if self.look is not None:
            if self.look.shape != (OLD_ROWS + more, max(width, OLD_SCALARS)):
                raise Mismatch("has a look of another shape")
            sizes, fresh = self.look[AT, [ROOT, NORM, PEAK]], self.look[AT, FRESH]
            if not ((sizes >= 0.0) & (sizes < math.inf)).all() or fresh not in (0.0, 1.0):
                raise Mismatch("has an invalid look")
        work = np.zeros((ROWS + more, columns))
        work[AT, [ROOTED, PASSED, DRIFT]] = self.rooted, self.passed, self.drift
        return work
