"""A grid of linear cells that share their input: prior precisions x drifts, two rules each.

Each core speaks as two experts, ridge clipped to the outcomes seen and AAR.  A round is one
compiled call for all of them, on stacks of arrays that the grid alone owns: `cores` are views,
made when they are asked for and never kept, so that no copy can part them from the stacks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from noregret._native import grid as ops
from noregret._native import layout
from noregret._native.layout import AT, OK, RULE
from noregret.certificates import SQUARE, Certificate
from noregret.declare.fields import Array, Count, Groups, Mismatch, Real, Word
from noregret.errors import NumericalError
from noregret.experts.units import CONSTANT
from noregret.gaussian.audits import audits_of, looseness
from noregret.gaussian.cores import Core, DriftCore, PrimalCore
from noregret.gaussian.cores.stored import StoredCore
from noregret.gaussian.facts import StreamFacts
from noregret.gaussian.ledger import (
    extend,
    open_ledger,
    restored_ledger,
    stored_ledger,
    totals,
)
from noregret.gaussian.theorems import aar_bound
from noregret.types import Matrix, Vector

__all__ = ["CoreGrid"]

LinearCore = PrimalCore | DriftCore
TOO_LARGE = "the look at x does not fit in float64: rescale the features"


@dataclass(frozen=True, slots=True)
class StoredCell:
    """A core of a grid as files keep it, with its precision and drift, 0 for none."""

    core: LinearCore

    FIELDS = (
        Real("prior_precision", 1e-300, 1e300),
        Real("walk", 0.0, 1e300),
        *StoredCore.FIELDS,
    )

    def stored(self) -> tuple[object, ...]:
        """The values of FIELDS."""
        core, kept = self.core, StoredCore.of(self.core)
        walk = core.drift if isinstance(core, DriftCore) else 0.0
        return core.prior_precision, walk, *(getattr(kept, f.name) for f in StoredCore.FIELDS)

    @staticmethod
    def restored(precision: float, walk: float, factor: Matrix, *more: Any) -> LinearCore:
        """The core of these values, of whatever size it is."""
        return StoredCore(factor, *more).core(precision, walk, min(factor.shape), 1)


class CoreGrid:
    """Cores for every pair of a prior precision and a drift, on n features.

    >>> cells = CoreGrid([0.1, 10.0], [0.0, 0.01], n=2)
    >>> cells.names[:3]
    ['ridge a=0.1', 'AAR a=0.1', 'ridge a=10']
    >>> cells.look(np.array([1.0, 2.0])).shape
    (8,)
    """

    CORES = ("drifts", "fixed", "fixed_work", "moving", "moving_work", "precisions")
    __slots__ = (*CORES, "clips", "label", "ledgers", "seen")

    FIELDS = (
        Word("label"),
        Count("features", 1, 2**31, of=()),
        Array("seen", (3,)),
        Array("ledgers", ("c", "rows", 2), finite=False),
        Groups("cores", StoredCell, of=CORES),
        Array("clips", ("c", 3, 2), finite=False, later=True),
    )

    def __init__(
        self, precisions: Sequence[float], drifts: Sequence[float], n: int, label: str = ""
    ) -> None:
        self.label = label
        still = [PrimalCore(a, n, 1) for q in drifts if q == 0.0 for a in precisions]
        walks = [DriftCore(a, q, n, 1) for q in drifts if q > 0.0 for a in precisions]
        self.ledgers = np.stack([open_ledger(1, n, c.prior_precision) for c in (*still, *walks)])
        self.clips = np.zeros((len(self.ledgers), 3, 2))
        self.seen = np.zeros(3)
        self._stack([*still, *walks])

    def stored(self) -> tuple[object, ...]:
        """The values of FIELDS."""
        cores = [StoredCell(core) for core in self.cores]
        clips = self.clips if np.isfinite(self.clips).all() else None
        ledgers = np.stack([stored_ledger(ledger) for ledger in self.ledgers])
        return self.label, self.features, self.seen, ledgers, cores, clips

    @classmethod
    def restored(
        cls,
        label: str,
        features: int,
        seen: Vector,
        ledgers: Matrix,
        cores: Sequence[LinearCore],
        clips: Matrix | None,
    ) -> CoreGrid:
        """The grid of these values; without `clips` nothing is known of the clipped experts."""
        drifts = [core.drifts for core in cores]
        if not cores or len(cores) != len(ledgers):
            raise Mismatch("does not have one ledger per core")
        ledgers = np.stack([restored_ledger(ledger, 1) for ledger in ledgers])
        if drifts != sorted(drifts) or any(core.shape[0] != features for core in cores):
            raise Mismatch("has its cores in another order, or for other features")
        grid: CoreGrid = object.__new__(cls)
        grid.label, grid.seen, grid.ledgers = label, seen, ledgers
        grid.clips = np.full((len(cores), 3, 2), np.nan) if clips is None else clips
        grid._stack(cores)
        return grid

    def _stack(self, cores: Sequence[LinearCore]) -> None:
        """Go on where these cores are, fixed ones first, in arrays of its own."""
        still = [core for core in cores if isinstance(core, PrimalCore)]
        walks = [core for core in cores if isinstance(core, DriftCore)]
        self.precisions = tuple(core.prior_precision for core in cores)
        self.drifts = tuple(core.drift for core in walks)
        self.fixed, self.fixed_work = _together(still)
        self.moving, self.moving_work = _together(walks)

    @property
    def size(self) -> int:
        """How many cores there are."""
        return len(self.precisions)

    @property
    def features(self) -> int:
        """How many features each core has."""
        return self.cores[0].shape[0]

    @property
    def cores(self) -> list[LinearCore]:
        """The cores as views of the stacks, in the order of the ledgers."""
        still = zip(self.precisions, self.fixed, self.fixed_work)
        precisions = self.precisions[len(self.fixed) :]
        walks = zip(precisions, self.drifts, self.moving, self.moving_work)
        return [
            *(PrimalCore.over(a, factor, work) for a, factor, work in still),
            *(DriftCore.over(a, q, factor, work) for a, q, factor, work in walks),
        ]

    @property
    def names(self) -> list[str]:
        """The experts: two per core."""
        found = []
        for core in self.cores:
            drift = f" drift={core.drift:.3g}" if isinstance(core, DriftCore) else ""
            where = f"{self.label}a={core.prior_precision:.3g}{drift}"
            found += [f"ridge {where}", f"AAR {where}"]
        return found

    def copy(self) -> CoreGrid:
        """Cells that share nothing with these."""
        return self.extended(0)

    def extended(self, k: int) -> CoreGrid:
        """Cells with k features more, which have been 0 so far."""
        cores = [core.extended(k) for core in self.cores]
        n, ledgers = cores[0].shape[0], self.ledgers.copy()
        for core, ledger in zip(cores, ledgers):
            extend(ledger, n - k, n, core.prior_precision)
        kept = self.seen.copy(), ledgers, cores, self.clips.copy()
        return CoreGrid.restored(self.label, n, *kept)

    @property
    def _stacks(self) -> tuple[Matrix, Matrix, Matrix, Matrix]:
        return self.fixed, self.fixed_work, self.moving, self.moving_work

    @property
    def arrays(self) -> tuple[Matrix, Matrix, Matrix, Matrix, Matrix, Matrix, Vector]:
        """All that rounds work in: the stacks, ledgers, sums of clipped ones, outcomes seen."""
        return *self._stacks, self.ledgers, self.clips, self.seen

    def look(self, x: Vector) -> Vector:
        """What every cell says of x."""
        said = np.empty(2 * self.size)
        if ops.look(*self._stacks, x, self.seen, said) != OK:
            raise NumericalError(TOO_LARGE)
        return said

    def absorb(self, y: float) -> None:
        """Learn that the x looked at last had the outcome y."""
        ops.absorb(*self._stacks, self.ledgers, self.clips, self.seen, y)

    def replay(self, xs: Matrix, ys: Vector) -> Matrix:
        """What every cell says in every row, learning as the rows go."""
        said = np.empty((len(xs), 2 * self.size))
        failed = ops.replay(*self._stacks, self.ledgers, self.clips, self.seen, xs, ys, said)
        if failed >= 0:
            raise NumericalError(f"row {failed}: {TOO_LARGE}")
        return said

    def late(self, xs: Matrix, ys: Vector, rows: int, delay: int) -> Matrix:
        """What every cell says of the last rows, where outcomes come `delay` rows late.

        After a row is looked at, the one delay - 1 before it is learned, if it has an outcome.
        """
        said, scratch = np.empty((rows, 2 * self.size)), np.empty(2 * self.size)
        failed = ops.late(
            *self._stacks, self.ledgers, self.clips, self.seen, xs, ys, delay, said, scratch
        )
        if failed >= 0:
            raise NumericalError(f"row {failed}: {TOO_LARGE}")
        return said

    @property
    def inputs(self) -> str:
        """What the cores see of the user's x, in words."""
        if self.label:
            return f"z the {self.features} features of {self.label}in running standard units of x"
        return (
            f"z = ({CONSTANT:g}, x_1/c_1, x_2/c_2, ...), c_j feature j's first size above 0, units_"
        )

    def certificates(self) -> list[tuple[str, list[Certificate]]]:
        """By expert, its own bound; features are called z, and the statement says what they are."""
        found: list[tuple[str, list[Certificate]]] = []
        names = iter(self.names)
        for core, ledger, clip in zip(self.cores, self.ledgers, self.clips.sum(axis=2).tolist()):
            facts = StreamFacts(
                totals=totals(ledger),
                features=core.shape[0],
                prior_precision=core.prior_precision,
                prior_var=core.prior_var(),
                drifting=core.drifts,
                audit=audits_of(core, ledger, core.prior_precision),
                looseness=looseness(core),
            )
            cell = [_clipped(facts, *clip)] if math.isfinite(sum(clip)) else []
            cells = (cell, [aar_bound(facts)])
            found += [(next(names), [self._spoken(c) for c in each]) for each in cells]
        return found

    def _spoken(self, c: Certificate) -> Certificate:
        """A statement about x as one about z."""
        words = c.statement.replace("'x", "'z").replace("X'X", "Z'Z")
        return replace(c, statement=f"{words}; {self.inputs}")


def _clipped(s: StreamFacts, loss: float, price: float, over: float) -> Certificate:
    """Ridge clipped to the outcomes seen: V + sum (hi_t - lo_t)^2 (1 - 1/d_t), and what it missed.

    With y in [lo, hi] clipping brings the forecast nearer, and both are in it: as ZV Corollary 1.
    """
    return Certificate.of(
        name="clipped ridge, range seen",
        kind="upper bound",
        rounds=s.totals.rounds,
        loss=loss,
        comparator=s.totals.best,
        bound=s.totals.fit + price + over,
        statement=(
            f"sum (y - g)^2 <= {s.best} + sum (hi_t - lo_t)^2 (1 - 1/d_t) + {over:.6g}, by which "
            "rounds with y beyond [lo_t, hi_t], the outcomes before, cost more"
        ),
        about=SQUARE,
        taken=s.taken(loss + price + over),
        audit=s.audit,
    )


def _together(cores: Sequence[Core]) -> tuple[Matrix, Matrix]:
    """Copies of the cores' factors in one array, and of their work in another."""
    if not cores:
        return np.zeros((0, 1, 1)), np.zeros((0, 1, 1))
    factors, works = np.stack([c.factor for c in cores]), np.stack([c.work for c in cores])
    works[:, AT, RULE] = layout.AAR
    return factors, works
