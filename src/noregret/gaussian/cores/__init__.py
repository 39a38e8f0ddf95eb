"""Cores: Gaussian states that turn x into a look and absorb y.

`PrimalCore` is fixed experts with weights in R^n, `DriftCore` experts that change with time.
Both keep what they learned in one array, `factor`, and share one scratch array, `work`
(see noregret._ops.layout), so that a round is a single compiled call.
"""

from __future__ import annotations

from typing import Protocol

from noregret.gaussian.cores.drift import DriftCore as DriftCore
from noregret.gaussian.cores.primal import PrimalCore as PrimalCore
from noregret.types import Look, Matrix, Track, Vector

__all__ = ["Core", "DriftCore", "PrimalCore"]


class Core(Protocol):
    """What a weight-space core can do; n features and m outcomes."""

    factor: Matrix
    work: Matrix
    drifts: bool  # experts may change
    alone: bool  # a compiled round does all that there is to do

    @property
    def shape(self) -> tuple[int, int]:
        """(n, m)."""
        ...

    def prepare(self) -> None:
        """What must be known before a compiled round."""
        ...

    def moved(self) -> None:
        """What must be counted after one."""
        ...

    def look(self, x: Vector) -> Look:
        """Mean and root spread at x, whose entries are finite."""
        ...

    def absorb(self, x: Vector, y: Vector) -> float:
        """Learn the round; return by how much the best expert's regularised loss grew."""
        ...

    def replay(self, xs: Matrix, ys: Matrix, fit: Vector | None = None) -> Track:
        """Look at and absorb every row; on failure the state is as before.

        `fit` (2,), a sum with its compensation, goes on from where the rounds before left it.
        """
        ...

    def extended(self, k: int) -> Core:
        """A copy with k features more, which have been 0 so far."""
        ...

    def coefficients(self) -> Matrix:
        """The weights, (m, n)."""
        ...

    def prior_var(self) -> float:
        """Variance, in units of the noise, of the weight of a feature not seen yet."""
        ...
