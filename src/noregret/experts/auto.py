"""Auto, the learner without knobs: a grid of linear cells under Fixed Share.

Each feature is measured in units of its own first value that is not 0, so that the grid of
prior precisions and drifts means the same whatever the units.  With `kernels=True`, polynomials
and random cosines of the features in running standard units join in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from noregret._ops.grid import within
from noregret._ops.layout import EXACT_INTEGER
from noregret.budgets import FeatureMap, Polynomial, RandomFourier
from noregret.certificates import Certificate
from noregret.errors import FeatureError, ParameterError, abbreviated
from noregret.experts.core_grid import CoreGrid
from noregret.experts.pool import Pool
from noregret.experts.theorems import chain, statements
from noregret.experts.units import Units
from noregret.gaussian.base import NotFitted
from noregret.inputs import values as features
from noregret.inputs.spaces import Names, Positions, space_for_table
from noregret.learner.holder import Holder
from noregret.learner.replay import Replay, library_of
from noregret.losses import LARGEST, game
from noregret.types import Matrix, Vector

__all__ = ["Auto"]

PRECISIONS = (1e-6, 10.0**-3.5, 1e-1, 10.0**1.5, 1e4)
DRIFTS = (0.0, 1e-5, 1e-3, 1e-1)
SHARE = 1e-4
CHUNK = 2048  # rows between which memory is let go

KERNEL_PRECISIONS = (1e-2, 1.0, 100.0)  # no drift: it costs n^3 flops a round on that many features
WIDTHS = (0.5, 1.0, 2.0)  # in units of sqrt(n)
COSINES = 128
LARGEST_MAP = 300  # features that a map may have


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """What Auto has learned; features that are new make a larger one."""

    space: Positions | Names
    units: Units
    maps: tuple[FeatureMap, ...]
    cells: tuple[CoreGrid, ...]  # on the features themselves, then on each map
    pool: Pool

    @classmethod
    def start(cls, space: Positions | Names, outcome_range: Any, *, kernels: bool) -> State:
        """A state that has seen nothing, for the features behind a space."""
        n = space.size
        cells, maps = [CoreGrid(PRECISIONS, DRIFTS, n + 1)], []
        for label, map_ in _maps(n) if kernels else ():
            size = map_.features(np.zeros((1, n))).shape[1]
            if size <= LARGEST_MAP:
                maps.append(map_)
                cells.append(CoreGrid(KERNEL_PRECISIONS, (0.0,), size, label))
        N = sum(len(group.names) for group in cells)
        pool = Pool.start(game("square", outcome_range), np.full(N, 1.0 / N), SHARE)
        return cls(space, Units.of(n), tuple(maps), tuple(cells), pool)

    def copy(self) -> State:
        """A state that shares nothing that changes."""
        cells = tuple(group.copy() for group in self.cells)
        return replace(self, cells=cells, pool=self.pool.copy())

    def with_space(self, space: Any) -> State:
        """The same state, or a larger copy where the space knows more features."""
        k = space.size - self.space.size
        if not k:
            return self
        if self.maps:
            raise FeatureError(f"x has {k} new features: with kernels=True features must stay")
        cells = tuple(group.extended(k) for group in self.cells)
        return replace(self, space=space, units=self.units.extended(k), cells=cells)

    def encode(self, x: Any) -> tuple[State, Vector]:
        """x by position, in a state that knows all of its features."""
        space, fast = self.space, None
        if type(x) is np.ndarray and type(space) is Positions:
            fast = x if x.dtype == np.float64 and x.shape == (space.size,) else None
        elif type(x) is dict and type(space) is Names:
            fast = space.encode_fast(x)
        if fast is not None and within(fast, EXACT_INTEGER):
            return self, fast
        vector, new, key = self.space.encode(x)[:3]
        if not new.size:
            return self, vector
        return self.with_space(self.space.extended(key)), np.concatenate([vector, new])

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

    def learn(self, vector: Vector, y: float) -> State:
        """Learn one round, in place; the state that goes on."""
        said, units = self.look(vector)
        self.pool.learn(said, y)
        for group in self.cells:
            group.absorb(y)
        return self if units is self.units else replace(self, units=units)

    def replay(self, xs: Matrix, ys: Vector) -> tuple[State, Vector, Vector]:
        """Predict-then-learn over rows, on a copy; the state that goes on, forecasts, losses."""
        state, forecasts, losses = self.copy(), [], []
        for start in range(0, len(xs), CHUNK):
            part = slice(start, start + CHUNK)
            found, units = state.inputs(xs[part])
            said = np.hstack([c.replay(rows, ys[part]) for c, rows in zip(state.cells, found)])
            g, loss, _ = state.pool.replay(said, ys[part])
            forecasts.append(g)
            losses.append(loss)
            state = replace(state, units=units)
        return state, np.concatenate(forecasts), np.concatenate(losses)


class Auto(RegressorMixin, Holder):  # type: ignore[misc]  # scikit-learn is untyped
    """Forecasts without knobs: 40 linear experts under Fixed Share, nothing to scale or to tune.

    The experts are a grid of prior precisions (1e-6 to 1e4) x drifts (0, 1e-5 to 1e-1) x two
    rules (ridge clipped to the outcomes seen, and AAR), on the features and a constant.  A
    feature may be given in any unit; outcomes in another unit give forecasts in that unit.

    Its certificate: sum (y - g)^2 is at most that of the best sequence of experts, plus
    (hi-lo)^2/2 ln N for the first and ln(N/s) for each change, plus what rounds beyond the range
    then known cost.  Each AAR expert has its own bound against the best regressor in hindsight;
    `certificates()` puts the two together.

    Cost: 20 cores of 3.5 n^2 flops a round each and about 50 n^2 numbers, whatever the length of
    the stream.

    Parameters
    ----------
    outcome_range : Y for [-Y, Y], a pair (lo, hi), or None: learned.
    kernels : polynomials of degree 2 and 3 and random cosines of three widths join in, with up
        to 300 features and 6 experts each; features must then stay the same.

    >>> auto = Auto()
    >>> for t in range(200):
    ...     x = {"hour": float(t % 24), "load": 1000.0 + t % 7}
    ...     forecast = auto.predict_one(x)
    ...     auto.learn_one(x, 50.0 + 2.0 * (t % 24))
    >>> round(auto.predict_one({"hour": 12.0, "load": 1003.0}), 1)
    74.0
    >>> auto.certificate().holds
    True
    """

    _state: State | None
    _alone = "it is a pool with drifting experts, and both depend on the order of one stream"

    def __init__(self, outcome_range: Any = None, *, kernels: bool = False) -> None:
        self.outcome_range = outcome_range
        self.kernels = kernels

    def _begin(self, space: Positions | Names) -> State:
        if not isinstance(self.kernels, bool | np.bool_):
            raise ParameterError(f"kernels = {abbreviated(self.kernels)}: it must be True or False")
        return State.start(space, self.outcome_range, kernels=bool(self.kernels))

    def _for_one(self, x: Any) -> State:
        if self._state is not None:
            return self._state
        mapping = features.as_mapping(x)
        return self._begin(Positions(features.row(x).size) if mapping is None else Names(mapping))

    def _learned(self) -> State:
        if self._state is None:
            raise NotFitted("this Auto has learned nothing yet: call learn_one or fit first")
        return self._state

    # One round ------------------------------------------------------------------------------

    def predict_one(self, x: Any) -> float:
        """Forecast the outcome at x: a 1-D array, or a mapping of feature name to number."""
        with self._lock:
            state, vector = self._for_one(x).encode(x)
            return state.pool.forecast(state.look(vector)[0])

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn that x had the outcome y."""
        with self._lock:
            before = self._for_one(x)
            outcome = before.pool.game.outcome(features.outcome(y))
            state, vector = before.encode(x)
            self._state = state.learn(vector, outcome)

    def _takes(self, y: float) -> bool:
        """Whether a round is sure to be learned whose x has just been forecast."""
        return abs(y) <= LARGEST

    # Many rounds ----------------------------------------------------------------------------

    def replay(self, X: Any, y: Any) -> Replay:
        """Predict-then-learn over all rows at array speed, as the loop over rounds would go."""
        with self._lock:
            forecasts, losses = self._run(self._state, X, y)
            pool = self._learned().pool
            certificate = statements(pool.game, pool.totals())[0]
        return Replay(
            forecast=forecasts,
            mean=None,
            spread=None,
            loss=losses,
            certificate=certificate,
            library=library_of(X),
        )

    def _run(self, state: State | None, X: Any, y: Any) -> tuple[Vector, Vector]:
        X = features.as_frame(X)
        if state is None:
            state = self._begin(space_for_table(X)[0])
        xs, space, _ = state.space.encode_rows(X)
        if not len(xs):
            raise FeatureError("X has no rows: give at least one round")
        column = features.outcome_column(y, len(xs))
        ys = np.array([state.pool.game.outcome(value) for value in column.tolist()])
        self._state, forecasts, losses = state.with_space(space).replay(xs, ys)
        return forecasts, losses

    def predict(self, X: Any) -> Vector:
        """Forecasts at every row, from what has been learned so far; nothing is learned."""
        with self._lock:
            learned = self._learned()
            xs, space, _ = learned.space.encode_rows(X)
            state = learned.with_space(space)
            return state.pool.predict_rows(np.array([state.look(x)[0] for x in xs]))

    # What was learned -----------------------------------------------------------------------

    @property
    def weights_(self) -> dict[str, float]:
        """The weights by expert, adding up to 1."""
        with self._lock:
            state = self._learned()
            names = [name for group in state.cells for name in group.names]
            return dict(zip(names, state.pool.weights().tolist()))

    @property
    def losses_(self) -> dict[str, float]:
        """What each expert has lost so far."""
        with self._lock:
            state = self._learned()
            names = [name for group in state.cells for name in group.names]
            return dict(zip(names, state.pool.totals().paid.tolist()))

    @property
    def n_features_in_(self) -> int:
        """How many features have been seen, the constant one not counted."""
        with self._lock:
            return self._learned().space.size

    @property
    def n_samples_seen_(self) -> int:
        """How many rounds have been learned."""
        with self._lock:
            return self._learned().pool.totals().rounds

    def certificates(self) -> list[Certificate]:
        """Every statement that applies, the main one first."""
        with self._lock:
            state = self._learned()
            game_, totals = state.pool.game, state.pool.totals()
            cells = [cell for group in state.cells for cell in group.certificates()]
        return [*statements(game_, totals), *chain(game_, totals, cells)]

    def certificate(self) -> Certificate:
        """The main certificate: Fixed Share over the experts."""
        with self._lock:
            state = self._learned()
            return statements(state.pool.game, state.pool.totals())[0]


def _maps(n: int) -> list[tuple[str, FeatureMap]]:
    """Polynomials and random cosines on n features in standard units."""
    if not n:
        return []
    found = [(f"polynomial {d} ", Polynomial(d).map(n)) for d in (2, 3) if n**d <= 4 * LARGEST_MAP]
    cosines = {w: RandomFourier(COSINES, width=w * math.sqrt(n)) for w in WIDTHS}
    return [*found, *((f"cosines {w:g} ", budget.map(n)) for w, budget in cosines.items())]
