"""A grid of linear cells that share their input: prior precisions x drifts, two rules each.

Each core speaks as two experts, ridge clipped to the outcomes seen and AAR.  A round is one
compiled call for all of them, on stacks of arrays that the grid alone owns: `cores` are views,
made when they are asked for and never kept, so that no copy can part them from the stacks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from noregret._ops import grid as ops
from noregret._ops import layout
from noregret._ops.layout import AT, OK, RULE
from noregret.certificates import Certificate
from noregret.errors import NumericalError
from noregret.gaussian.cores import Core, DriftCore, PrimalCore
from noregret.gaussian.facts import StreamFacts
from noregret.gaussian.ledger import open_ledger, totals
from noregret.gaussian.theorems import aar_bound
from noregret.types import Matrix, Vector

__all__ = ["CoreGrid"]

TOO_LARGE = "the look at x does not fit in float64: rescale the features"


class CoreGrid:
    """Cores for every pair of a prior precision and a drift, on n features.

    >>> cells = CoreGrid([0.1, 10.0], [0.0, 0.01], n=2)
    >>> cells.names[:3]
    ['ridge a=0.1', 'AAR a=0.1', 'ridge a=10']
    >>> cells.look(np.array([1.0, 2.0])).shape
    (8,)
    """

    __slots__ = (
        "drifts",
        "fixed",
        "fixed_work",
        "label",
        "ledgers",
        "moving",
        "moving_work",
        "precisions",
        "seen",
    )

    def __init__(
        self, precisions: Sequence[float], drifts: Sequence[float], n: int, label: str = ""
    ) -> None:
        self.label = label
        still = [PrimalCore(a, n, 1) for q in drifts if q == 0.0 for a in precisions]
        walks = [DriftCore(a, q, n, 1) for q in drifts if q > 0.0 for a in precisions]
        self.ledgers = np.stack([open_ledger(1) for _ in (*still, *walks)])
        self.seen = np.zeros(3)
        self._stack([*still, *walks])

    def _stack(self, cores: Sequence[PrimalCore | DriftCore]) -> None:
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
    def cores(self) -> list[PrimalCore | DriftCore]:
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
        """The experts: two a core."""
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
        larger: CoreGrid = object.__new__(CoreGrid)
        larger.label = self.label
        larger.ledgers, larger.seen = self.ledgers.copy(), self.seen.copy()
        larger._stack([core.extended(k) for core in self.cores])
        return larger

    def look(self, x: Vector) -> Vector:
        """What every cell says of x."""
        said = np.empty(2 * self.size)
        status = ops.look(
            self.fixed, self.fixed_work, self.moving, self.moving_work, x, self.seen, said
        )
        if status != OK:
            raise NumericalError(TOO_LARGE)
        return said

    def absorb(self, y: float) -> None:
        """Learn that the x looked at last had the outcome y."""
        ops.absorb(
            self.fixed,
            self.fixed_work,
            self.moving,
            self.moving_work,
            self.ledgers,
            self.seen,
            y,
        )

    def replay(self, xs: Matrix, ys: Vector) -> Matrix:
        """What every cell says in every row, learning as the rows go."""
        said = np.empty((len(xs), 2 * self.size))
        failed = ops.replay(
            self.fixed,
            self.fixed_work,
            self.moving,
            self.moving_work,
            self.ledgers,
            self.seen,
            xs,
            ys,
            said,
        )
        if failed >= 0:
            raise NumericalError(f"row {failed}: {TOO_LARGE}")
        return said

    def certificates(self) -> list[tuple[str, list[Certificate]]]:
        """By expert: AAR's bound for every second one."""
        found: list[tuple[str, list[Certificate]]] = []
        names = self.names
        for c, (core, ledger) in enumerate(zip(self.cores, self.ledgers)):
            facts = StreamFacts(
                totals=totals(ledger),
                features=core.shape[0],
                prior_precision=core.prior_precision,
                prior_var=core.prior_var(),
                drifting=core.drifts,
            )
            clipped, aar = names[2 * c : 2 * c + 2]
            found += [(clipped, []), (aar, [aar_bound(facts)])]
        return found


def _together(cores: Sequence[Core]) -> tuple[Matrix, Matrix]:
    """Copies of the cores' factors in one array, and of their work in another."""
    if not cores:
        return np.zeros((0, 1, 1)), np.zeros((0, 1, 1))
    factors, works = np.stack([c.factor for c in cores]), np.stack([c.work for c in cores])
    works[:, AT, RULE] = layout.AAR
    return factors, works
