"""What cores in weight space share; n features and m outcomes."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from noregret._native.layout import AT, FRESH, HIGH, LOW, MEAN, OK, ROOT, SCALARS, X
from noregret.errors import NumericalError
from noregret.types import Look, Matrix, Track, Vector

__all__ = ["Core"]


class Core:
    """A Gaussian state: what was learned in `factor`, scratch in `work` (noregret._native.layout).

    A child writes `absorb`, `_stream`, `extended` (a copy with k features more, which have been 0
    so far), `coefficients` (m, n) and `prior_var` (of the weight of a feature not seen yet).
    """

    __slots__ = ()

    ops: ModuleType  # the compiled look and absorb
    drifts: bool  # experts may change
    prior_precision: float
    factor: Matrix
    work: Matrix

    @property
    def shape(self) -> tuple[int, int]:
        """(n, m)."""
        tall, wide = self.factor.shape
        return min(tall, wide), abs(tall - wide)

    def look(self, x: Vector) -> Look:
        """Mean and root spread at x, whose entries are finite."""
        n, m = self.shape
        self.work[X, :n] = x
        if self.ops.look(self.factor, self.work) != OK:
            raise NumericalError("the look at x does not fit in float64")
        return Look(self.work[MEAN, :m].copy(), float(self.work[AT, ROOT]))

    def replay(self, xs: Matrix, ys: Matrix, fit: Vector | None = None) -> Track:
        """Look at and absorb every row; on failure the state is as before.

        `fit` (2,), a sum with its compensation, goes on from where the rounds before left it.
        """
        fit = np.zeros(2) if fit is None else fit
        mean, root = np.empty(ys.shape), np.empty(len(xs))
        before = self.factor.copy(), self.work[AT].copy()
        failed = self._stream(xs, ys, mean, root, fit)
        if failed >= 0:
            self.factor[:], self.work[AT] = before
            self.work[AT, FRESH] = 0.0
            raise NumericalError(
                f"row {failed}: the look at x does not fit in float64; rescale the features or "
                f"raise prior_precision ({self.prior_precision!r})"
            )
        return Track(mean, root, float(fit.sum()))

    def _stream(self, xs: Matrix, ys: Matrix, mean: Matrix, root: Vector, fit: Vector) -> int:
        """Fill in means and roots; -1, or the first row that overflows."""
        raise NotImplementedError

    def _go_on_from(self, core: Core) -> None:
        """Take over another core's scalars and hints, not its look."""
        _, m = core.shape
        self.work[LOW : HIGH + 1, :m] = core.work[LOW : HIGH + 1, :m]
        self.work[AT, :SCALARS] = core.work[AT, :SCALARS]
        self.work[AT, FRESH] = 0.0
