"""Auto, the learner without knobs: groups of experts (ensemble.py), or a grid of linear cells.

Of the grid under Fixed Share (effort="linear"): each feature is measured in units of its own first
value that is not 0, so that prior precisions and drifts mean the same whatever the units.  With
`kernels=True`, polynomials and random cosines of the features in running standard units join in.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from noregret._native.rows import AutoRounds, RenewedRounds
from noregret.budgets import FeatureMap, Polynomial, RandomFourier
from noregret.certificates import Certificate
from noregret.declare.fields import Mismatch, Part, Parts
from noregret.errors import FeatureError
from noregret.experts.aggregating import MixingLearner
from noregret.experts.core_grid import CoreGrid
from noregret.experts.ensemble import EnsembleState
from noregret.experts.pool import Pool
from noregret.experts.pooled import PooledState
from noregret.experts.theorems import certified, statements
from noregret.experts.units import CONSTANT, Units
from noregret.inputs.spaces import FeatureSpace, Names, Positions
from noregret.inputs.values import as_mapping, row
from noregret.learner.saving import revived
from noregret.losses import LARGEST, game
from noregret.types import Matrix, Outcome, Row, Table, Vector

__all__ = ["Auto"]

PRECISIONS = (1e-6, 10.0**-3.5, 1e-1, 10.0**1.5, 1e4)
DRIFTS = (0.0, 1e-5, 1e-3, 1e-1)
SHARE = "falling"
LINEAR = "linear"  # the effort that is the grid alone
FEWER: Mapping[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "low": ((1e-6, 1e-1, 1e4), (0.0, 1e-4, 1e-1))  # by effort, where not all of them
}
CHUNK = 2048  # rows between which memory is let go

KERNEL_PRECISIONS = (
    1e-2,
    1.0,
    100.0,
)  # no drift: it costs n^3 flops per round on that many features
WIDTHS = (0.5, 1.0, 2.0)  # in units of sqrt(n)
COSINES = 128
LARGEST_MAP = 300  # features that a map may have


@dataclass(slots=True, eq=False)
class AutoState(PooledState):
    """What Auto has learned; features that are new make a larger one."""

    space: FeatureSpace
    units: Units
    maps: Sequence[FeatureMap]
    cells: Sequence[CoreGrid]  # on the features themselves, then on each map
    pool: Pool
    fast: RenewedRounds = field(default_factory=RenewedRounds, init=False, repr=False)

    SCRATCH = ("fast",)  # rounds in the arrays of the cells and the pool, which units still fit
    FIELDS = (
        Part("door", ("Positions", "Names"), of="space"),
        Part("units", ("Units",)),
        Parts("maps", ("Fourier", "Monomials")),
        Parts("cells", ("Cells",)),
        Part("pool", ("Pool",)),
    )

    def __post_init__(self) -> None:
        self.renew()

    @classmethod
    def start(cls, space: FeatureSpace, outcome_range: object, *, kernels: bool) -> AutoState:
        """A state that has seen nothing, for the features of a space."""
        n = space.size
        cells, maps = [CoreGrid(PRECISIONS, DRIFTS, n + 1)], []
        for label, map_ in _maps(n) if kernels else ():
            size = _size(map_, n)
            if size <= LARGEST_MAP:
                maps.append(map_)
                cells.append(CoreGrid(KERNEL_PRECISIONS, (0.0,), size, label))
        N = sum(2 * group.size for group in cells)
        pool = Pool.start(game("square", outcome_range), np.full(N, 1.0 / N), SHARE)
        return cls(space, Units.of(n), maps, cells, pool)

    def __reduce__(self) -> tuple[object, ...]:
        return revived, (AutoState, self.space, self.units, self.maps, self.cells, self.pool)

    @classmethod
    def restored(cls, *fields: Any) -> AutoState:
        """The state of these fields."""
        state = cls(*fields)
        n, cells = state.space.size, state.cells
        if state.units.scale.size != n or len(cells) != 1 + len(state.maps):
            raise Mismatch("has units for other features, or not cells for every map")
        try:
            sizes = [n + 1, *(_size(map_, n) for map_ in state.maps)]
        except (ValueError, IndexError):
            raise Mismatch("has a map for other inputs") from None
        if [group.features for group in cells] != sizes:
            raise Mismatch("has cells for other features")
        if state.pool.size != sum(2 * group.size for group in cells):
            raise Mismatch("has another number of experts")
        return state

    def copy(self) -> AutoState:
        """A state that shares nothing that changes."""
        cells = [group.copy() for group in self.cells]
        return AutoState(self.space, self.units, self.maps, cells, self.pool.copy())

    def with_space(self, space: FeatureSpace) -> AutoState:
        """A larger copy: what is new has been 0 so far."""
        k = space.size - self.space.size
        if self.maps:
            raise FeatureError(f"x has {k} new features: with kernels=True features must stay")
        cells = [group.extended(k) for group in self.cells]
        return AutoState(space, self.units.extended(k), (), cells, self.pool.copy())

    # One round ------------------------------------------------------------------------------

    def renew(self) -> None:
        """Begin compiled rounds anew; with maps there are none."""
        if not self.maps and isinstance(self.space, Positions | Names):
            units, arrays = self.units.scale, self.cells[0].arrays
            rounds = AutoRounds(self.space.reader, units, CONSTANT, *arrays, self.pool, LARGEST)
            self.fast.renew(rounds)

    def inputs(self, xs: Matrix) -> tuple[list[Matrix], Units]:
        """What each group of cells sees of the rows, and what is known of units then."""
        rows, units = self.units.measured(xs)
        found = [rows]
        if self.maps:
            z, units = units.standardised(rows)
            found += [np.ascontiguousarray(map_.features(z)) for map_ in self.maps]
        return found, units

    def look(self, vector: Vector) -> tuple[Vector, Units]:
        """What every expert says of x."""
        found, units = self.inputs(vector[None])
        said = [group.look(row[0]) for group, row in zip(self.cells, found)]
        return (said[0] if len(said) == 1 else np.concatenate(said)), units

    def predict_vector(self, x: Vector) -> float:
        """The pool's forecast at x."""
        return self.pool.forecast(self.look(x)[0])

    def learn_vector(self, x: Vector, y: float) -> None:
        """Learn one round: the pool, then every cell."""
        said, units = self.look(x)
        self.pool.learn(said, y)
        for group in self.cells:
            group.absorb(y)
        self.units = units

    # Many rounds ----------------------------------------------------------------------------

    def predict_rows(self, X: Table) -> Vector:
        """Forecasts at every row; nothing is learned."""
        state, xs = self._in_space(X)
        if state.maps or not state.units.scale.all():  # each row may set a unit of its own
            said = [state.look(x)[0] for x in xs]
        else:
            said = [state.cells[0].look(row) for row in state.units.measured(xs)[0]]
        return self.pool.predict_rows(np.array(said).reshape(len(said), self.pool.size))

    def run(self, xs: Matrix, ys: Vector) -> tuple[Vector, Vector]:
        """Predict-then-learn over rows, in place: forecasts and losses."""
        forecasts, losses = np.empty(len(ys)), np.empty(len(ys))
        for start in range(0, len(xs), CHUNK):
            part = slice(start, start + CHUNK)
            found, units = self.inputs(xs[part])
            said = np.hstack([c.replay(rows, ys[part]) for c, rows in zip(self.cells, found)])
            forecasts[part], losses[part], _ = self.pool.replay(said, ys[part])
            self.units = units
        self.renew()
        return forecasts, losses

    def certificate(self) -> Certificate:
        """The main certificate: Fixed Share over the experts."""
        return statements(self.pool.game, self.pool.totals())[0]

    def certificates(self) -> list[Certificate]:
        """Every statement that applies, the main one first."""
        cells = [cell for group in self.cells for cell in group.certificates()]
        return certified(self.pool.game, self.pool.totals(), cells)


class Auto(MixingLearner[AutoState | EnsembleState]):
    """Forecasts without knobs: groups of experts of many kinds, merged; nothing to scale or tune.

    Linear experts at 5 prior precisions x 4 drifts x two rules (ridge clipped to the outcomes seen,
    and AAR) in units of the features' first values; naive forecasts (13 lags, three exponential
    means, the mean); linear ones in standard units, with lags of y, on hinges (z - k)+, on values
    of whole-valued features and pairs of them (as they turn up), in robust units, on waves;
    twins that learn outliers cut; and boosted trees on the last 2,048 rows, made anew whenever a
    third of them is new.  A Mondrian tree learns what they leave.  Each group merges its
    experts at the rate of its own error; the groups are merged by exponential weights, MLpol and
    stacking, and these once more (docs/theory.md, section 24).  `explain()` says which groups carry
    the forecast.  Features may be in any unit and about any origin, may have a wild first value,
    and may turn up later.

    What is proved is proved of an outermost pool over the linear experts, the groups and the team
    of all groups.  Its loss is at most that of the best sequence of experts with k changes plus
    (hi-lo)^2/2 of ln 1/p_j for each that they come to and (k+1) ln T, for every k at once, plus
    what rounds beyond the range then known cost; p is 0.9 for the team, 0.05 for all linear ones
    and for all groups.  The team speaks in the pool's place as long as that is sure to cost at most
    (hi-lo)^2 more: a wild outcome harms the pool for long, and the team little.  Linear
    experts have bounds of their own against the best regressor in
    hindsight, and `certificates()` puts the two together; such a statement is about
    z = (30, x_1/c_1, ...), where `units_` has c_j, so that a weight w_j of feature j itself is
    charged a (c_j w_j)^2.

    Cost: some 45 cores of 3.5 m^2 flops per round on m = n + 1 to 100 columns, 300 with pairs of
    values, and 300 numbers per feature; trees take 7 n^2 flops per node on the path of x and up to
    2 million numbers.  The window of the boosted trees is 2,048 (n + 1) numbers (8,192 with
    effort="high", twice; fewer rows from 256 features on), and making 40 trees of 16 leaves of it
    takes milliseconds, in one round of some hundred.  Whatever the length of the stream.

    Parameters
    ----------
    outcome_range : Y for [-Y, Y], a pair (lo, hi), or None: learned.
    kernels : polynomials of degree 2 and 3 and random cosines of three widths join in, with up
        to 300 features each; features must then stay the same.
    effort : "low", without hinges, values, waves and trees, at a fifth of the cost; "normal";
        "high", with more experts in each group and more trees, on the last 8,192 rows and also of
        changes since the last outcome, at five times the cost; "linear", the 40 linear experts
        under Fixed Share and nothing else, which is all that there was before.

    >>> auto = Auto()
    >>> for t in range(200):
    ...     x = {"hour": float(t % 24), "load": 1000.0 + t % 7}
    ...     forecast = auto.predict_one(x)
    ...     auto.learn_one(x, 50.0 + 2.0 * (t % 24))
    >>> round(auto.predict_one({"hour": 8.0, "load": 1004.0}))
    66
    >>> auto.certificate().holds
    True
    """

    STATE = Part("auto", ("Auto.State", "Auto.Ensemble"))
    LATER: ClassVar[Mapping[str, object]] = {"effort": LINEAR}  # all that there was
    _merge_refusal = (
        "it is a pool with drifting experts, and both depend on the order of one stream"
    )

    def __init__(
        self, outcome_range: object = None, *, kernels: bool = False, effort: str = "normal"
    ) -> None:
        self.outcome_range = outcome_range
        self.kernels = kernels
        self.effort = effort

    def _start(self, space: FeatureSpace) -> AutoState | EnsembleState:
        effort, kernels, n = self._checked("effort"), self._checked("kernels"), space.size
        if effort == LINEAR:
            return AutoState.start(space, self.outcome_range, kernels=kernels)
        if isinstance(space, Names):  # whatever order they came in
            space = Names(dict.fromkeys(sorted(space.slots, key=str), 0.0))
        precisions, drifts = FEWER.get(effort, (PRECISIONS, DRIFTS))
        linear = CoreGrid(precisions, drifts, n + 1)
        maps = [(name.strip(), map_, _size(map_, n)) for name, map_ in _maps(n) if kernels]
        maps = [found for found in maps if found[2] <= LARGEST_MAP]
        return EnsembleState.start(space, self.outcome_range, effort, linear, maps)

    def _start_row(self, x: Row, y: Outcome = None) -> AutoState | EnsembleState:  # noqa: ARG002
        """A state for all features of x at once: maps are made for so many."""
        mapping = as_mapping(x)
        return self._start(Positions(row(x).size) if mapping is None else Names(mapping))

    def _takes(self, y: float) -> bool:
        """Whether a round is sure to be learned whose x has just been forecast."""
        return abs(y) <= LARGEST

    @property
    def units_(self) -> dict[object, float]:
        """The unit of each feature, by name or place: the size of its first value that is not 0.

        0 where a feature has been 0 in every round.
        """
        with self._lock:
            state = self._learned()
            space = state.space
            names = list(space.slots) if isinstance(space, Names) else range(space.size)
            return dict(zip(names, state.units.scale.tolist()))

    def _experts(self) -> tuple[Iterable[str], Pool]:
        state = self._learned()
        if isinstance(state, EnsembleState):
            return state.names, state.pool
        return [name for group in state.cells for name in group.names], state.pool

    def certificate(self) -> Certificate:  # type: ignore[override]  # a pool takes no bounds
        """The main certificate."""
        with self._lock:
            return self._learned().certificate()

    def explain(self) -> str:
        """Which groups of experts carry the forecast, in words and numbers, and what is proved.

        With effort="linear" there are no groups, only experts: see `weights_`.
        """
        with self._lock:
            state = self._learned()
            if isinstance(state, EnsembleState):
                return state.explain()
            names, pool = self._experts()
            weights = dict(zip(names, pool.weights().tolist()))
            best = sorted(weights, key=weights.__getitem__, reverse=True)[:5]
            return "\n".join(
                f"{name}: {100.0 * weights[name]:.0f} % of all weight" for name in best
            )


def _size(map_: FeatureMap, n: int) -> int:
    """How many features a map makes of n."""
    return int(map_.features(np.zeros((1, n))).shape[1])


def _maps(n: int) -> list[tuple[str, FeatureMap]]:
    """Polynomials and random cosines on n features in standard units."""
    if not n:
        return []
    found = [(f"polynomial {d} ", Polynomial(d).map(n)) for d in (2, 3) if n**d <= 4 * LARGEST_MAP]
    cosines = {w: RandomFourier(COSINES, width=w * math.sqrt(n)) for w in WIDTHS}
    return [*found, *((f"cosines {w:g} ", budget.map(n)) for w, budget in cosines.items())]
