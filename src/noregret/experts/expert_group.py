"""Groups of linear experts, each on columns of its own: a plan of columns and a grid of cores.

A group says `y_1 + ridge`, which makes it blind to where 0 is.  Columns may come later, when values
of a feature are known; before its first such column a group sleeps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from noregret._native import views as ops
from noregret.budgets import FeatureMap
from noregret.declare.fields import Array, Part, Truth, Word, require
from noregret.experts.core_grid import CoreGrid
from noregret.experts.views import Seen
from noregret.types import Matrix, Vector

__all__ = ["ExpertGroup", "Recipe", "hinged", "recipes"]

LEVEL = 5.0  # the constant column
KNOTS = (-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5)
HINGES = 80  # columns
WAVES = 64
ALONE, TOGETHER = 64, 300  # columns of values, and with pairs of values
PAIRED = 256  # rounds before there are pairs


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a group is made of: kinds of columns, precisions x drifts."""

    kinds: tuple[int, ...]
    precisions: tuple[float, ...]
    drifts: tuple[float, ...]
    twin: bool = False  # learns outcomes cut where they are outliers

    @property
    def experts(self) -> int:
        """How many experts the group has."""
        return len(self.precisions) * len(self.drifts)


_LAGGED = (ops.BEFORE, ops.STANDARD)
_LOW = {
    "standard units": Recipe((ops.STANDARD,), (1e-3, 1.0), (0.0, 1e-4)),
    "lags": Recipe(_LAGGED, (1e-3, 1.0), (0.0, 1e-3)),
    "robust units": Recipe((ops.ROBUST,), (1.0,), (1e-5,)),
    "outlier twins": Recipe((ops.STANDARD,), (1.0,), (1e-5,), twin=True),
}
_NORMAL = {
    "standard units": Recipe((ops.STANDARD,), (1e-3, 0.1, 10.0), (0.0, 1e-4)),
    "free weights": Recipe((ops.STANDARD,), (1e-8, 1e-5), (0.0, 1e-6, 1e-2)),
    "lags": Recipe(_LAGGED, (1e-3, 0.1, 10.0), (0.0, 1e-5, 1e-3)),
    "hinges": Recipe((ops.BEFORE, ops.HINGE), (1.0,), (0.0, 1e-4, 1e-3)),
    "values": Recipe((*_LAGGED, ops.IS), (1.0, 10.0), (0.0, 1e-3)),
    "pairs of values": Recipe((*_LAGGED, ops.IS, ops.BOTH), (1.0,), (0.0,)),
    "robust units": Recipe((ops.ROBUST,), (0.1, 10.0), (0.0, 1e-4)),
    "outlier twins": Recipe((ops.STANDARD,), (0.1, 10.0), (0.0, 1e-4), twin=True),
    "waves": Recipe((ops.STANDARD, ops.WAVE), (0.1,), (0.0, 1e-4)),
}
_HIGH = _NORMAL | {
    "hinges": Recipe((ops.BEFORE, ops.HINGE), (1.0, 100.0), (0.0, 1e-4, 1e-3)),
    "values": Recipe((*_LAGGED, ops.IS), (0.01, 1.0, 100.0), (0.0, 1e-4, 1e-3)),
    "pairs of values": Recipe((*_LAGGED, ops.IS, ops.BOTH), (0.1, 10.0), (0.0,)),
    "waves": Recipe((ops.STANDARD, ops.WAVE), (0.01, 1.0), (0.0, 1e-4)),
}
RECIPES = {"low": _LOW, "normal": _NORMAL, "high": _HIGH}
MAPPED = Recipe((), (1e-2, 1.0, 100.0), (0.0,))  # a group on a map of the features


WORDS = {
    "linear": "linear in the features as they are",
    "naive forecasts": "past outcomes and their means",
    "standard units": "linear in the features, each in deviations from its mean",
    "free weights": "linear in the features, with weights of any size",
    "lags": "linear in past outcomes and the features",
    "hinges": "lines with bends in each feature",
    "values": "a level for each value of whole-numbered features",
    "pairs of values": "a level for each pair of such values",
    "robust units": "linear in the features, in quartiles of the last 128 rows",
    "outlier twins": "linear in the features, with outlying outcomes cut",
    "waves": "smooth curves in all features together",
    "boosted trees": "many small trees on the last rows, one after the other",
    "boosted changes": "such trees for the change since the last outcome",
}


def described(group: str) -> str:
    """What a group does in words, and its name in `weights_`."""
    words = WORDS.get(group, "curves in all features together")
    return words if words == group else f"{words} ({group})"


def recipes(effort: str) -> dict[str, Recipe]:
    """The groups of an effort."""
    return RECIPES[effort]


def hinged(n: int) -> int:
    """How many knots each of n features has."""
    return min(len(KNOTS), HINGES // n) if n else 0


class ExpertGroup:
    """A plan of columns, rows (kind, j, a, l, b), and the cores that learn on them."""

    __slots__ = ("cells", "effort", "map", "name", "plan", "twin")

    FIELDS = (
        Word("name"),
        Word("effort", RECIPES),
        Array("plan", ("C", ops.PLAN)),
        Part("cells", ("Cells",), optional=True),
        Part("map", ("Fourier", "Monomials"), optional=True),
        Truth("twin"),
    )

    def __init__(
        self,
        name: str,
        effort: str,
        plan: Matrix,
        cells: CoreGrid | None,
        map_: FeatureMap | None = None,
        twin: bool = False,  # noqa: FBT001, FBT002  # in the order of the fields
    ) -> None:
        self.name, self.effort, self.plan, self.twin = name, effort, plan, twin
        self.cells, self.map = cells, map_

    @classmethod
    def of(cls, name: str, effort: str, n: int) -> ExpertGroup:
        """A group that has seen nothing, of n features."""
        recipe = RECIPES[effort][name]
        plan = [_column(ops.ONE, at=LEVEL)]
        if ops.BEFORE in recipe.kinds:
            plan += [_column(ops.BEFORE, k) for k in range(ops.PAST)]
        if ops.WAVE in recipe.kinds:
            plan += [_column(ops.WAVE, k, (2.0 / WAVES) ** 0.5) for k in range(WAVES)]
        group = cls(name, effort, np.array(plan), None, None, recipe.twin)
        group.plan = np.vstack([group.plan, *group._of_features(range(n), hinged(n))])
        if ops.IS not in recipe.kinds:
            group._wake()
        return group

    @classmethod
    def mapped(cls, name: str, effort: str, map_: FeatureMap, size: int) -> ExpertGroup:
        """A group on a map of the features in standard units."""
        cells = CoreGrid(MAPPED.precisions, MAPPED.drifts, size, name + " ")
        return cls(name, effort, np.zeros((0, ops.PLAN)), cells, map_)

    @classmethod
    def restored(
        cls,
        name: str,
        effort: str,
        plan: Matrix,
        cells: CoreGrid | None,
        map_: FeatureMap | None,
        twin: bool,  # noqa: FBT001  # in the order of the fields
    ) -> ExpertGroup:
        """The group of these fields."""
        group = cls(name, effort, plan, cells, map_, twin)
        require(map_ is not None or name in RECIPES[effort], "is a group of another kind")
        known = (plan[:, 0] == np.round(plan[:, 0])) & (plan[:, 0] >= 0) & (plan[:, 0] <= ops.WAVE)
        require(bool(known.all()) and bool((plan[:, [1, 3]] >= 0.0).all()), "has unknown columns")
        if cells is not None:
            require(cells.size == group.recipe.experts, "has another number of experts")
            require(map_ is not None or cells.features == len(plan), "has cells for other columns")
        return group

    @property
    def recipe(self) -> Recipe:
        """What the group is made of."""
        return MAPPED if self.map is not None else RECIPES[self.effort][self.name]

    def fits(self, features: int, waves: int) -> bool:
        """Whether every column speaks of something that there is."""
        of, also = self.plan[:, 1], self.plan[:, 3]
        limits = {ops.BEFORE: ops.PAST, ops.WAVE: waves, ops.ONE: 1}
        most = [limits.get(int(kind), features) for kind in self.plan[:, 0]]
        return bool((of < most).all() and (also < max(features, 1)).all())

    def _wake(self) -> None:
        recipe = self.recipe
        label = self.name + " "
        self.cells = CoreGrid(recipe.precisions, recipe.drifts, len(self.plan), label)

    def _of_features(self, features: Sequence[int], knots: int) -> list[Matrix]:
        """The columns that features bring along as they come."""
        kinds, found = self.recipe.kinds, []
        for j in features:
            if ops.STANDARD in kinds or ops.HINGE in kinds:
                found.append(_column(ops.STANDARD, j))
            if ops.ROBUST in kinds:
                found.append(_column(ops.ROBUST, j))
            if ops.HINGE in kinds:
                spread = KNOTS if knots == len(KNOTS) else np.linspace(-1.5, 1.5, knots + 2)[1:-1]
                found += [_column(ops.HINGE, j, float(knot)) for knot in spread]
        return [np.array(found)] if found else []

    def copy(self) -> ExpertGroup:
        """A group that shares nothing that changes with this one."""
        cells = None if self.cells is None else self.cells.copy()
        return ExpertGroup(self.name, self.effort, self.plan, cells, self.map, self.twin)

    def extended(self, before: int, after: int) -> ExpertGroup:
        """With features more, which have been 0 so far; hinges while there is room for them."""
        room = HINGES - int((self.plan[:, 0] == ops.HINGE).sum())
        knots = min(len(KNOTS), room // (after - before))
        return self._with(self._of_features(range(before, after), knots))

    def _with(self, columns: Sequence[Matrix]) -> ExpertGroup:
        plan = np.vstack([self.plan, *columns])
        larger = ExpertGroup(self.name, self.effort, plan, None, None, self.twin)
        if self.cells is not None:
            larger.cells = self.cells.extended(len(plan) - len(self.plan))
        return larger

    def knowing(self, values: Sequence[Vector], rounds: int) -> ExpertGroup:
        """With columns for values that have come up; itself if none has.

        Pairs come later, and of features alone whose values were all known the last time.
        """
        kinds = self.recipe.kinds
        if ops.IS not in kinds:
            return self
        known = {tuple(row) for row in self.plan.tolist()}
        alone, both = (int((self.plan[:, 0] == kind).sum()) for kind in (ops.IS, ops.BOTH))
        new = []
        order = sorted((len(v), j) for j, v in enumerate(values) if len(v))
        held = self.plan[self.plan[:, 0] == ops.IS, 1]
        still = [(size, j) for size, j in order if (held == j).sum() == size]
        still = still if rounds >= PAIRED else []
        pairs = sorted((a * b, i, j) for b, j in still for a, i in still if i < j)
        for _, j in order:
            new += [_column(ops.IS, j, v) for v in values[j].tolist()]
        new = [c for c in new if c not in known][: max(ALONE - alone, 0)]
        room = TOGETHER - alone - both - len(new) if ops.BOTH in kinds else 0
        for _, i, j in pairs:
            fresh = [
                column
                for v in values[i].tolist()
                for w in values[j].tolist()
                if (column := _column(ops.BOTH, i, v, j, w)) not in known
            ]
            if len(fresh) <= room:
                new += fresh
                room -= len(fresh)
        if not new:
            return self
        larger = self._with([np.array(new)])
        if larger.cells is None:
            larger._wake()
        return larger

    # Rounds ---------------------------------------------------------------------------------

    @property
    def compiled(self) -> tuple[object, ...]:
        """What compiled rounds ask for: columns, twin, experts, and arrays unless it sleeps."""
        arrays = None if self.cells is None else self.cells.arrays
        return self.plan, self.twin, self.recipe.experts, arrays

    @property
    def asleep(self) -> bool:
        """Whether it waits for its first column."""
        return self.cells is None

    def rows(self, seen: Seen, waves: Matrix) -> Matrix:
        """The columns of every row."""
        if self.map is not None:
            return np.ascontiguousarray(self.map.features(seen.standard))
        rows = np.empty((len(seen.x), len(self.plan)))
        ops.fill(self.plan, waves, seen.x, seen.standard, seen.robust, seen.past, rows)
        return rows

    def replay(self, seen: Seen, waves: Matrix, ys: Vector, first: float) -> Matrix:
        """What the experts say in every row, learning as the rows go; NaN: they sleep."""
        if self.cells is None:
            return np.full((len(ys), self.recipe.experts), np.nan)
        target = (seen.soft if self.twin else ys) - first
        return seen.first[:, None] + self.cells.replay(self.rows(seen, waves), target)[:, ::2]

    def look(self, seen: Seen, waves: Matrix) -> Vector:
        """What the experts say of one row."""
        if self.cells is None:
            return np.full(self.recipe.experts, np.nan)
        said: Vector = seen.first[0] + self.cells.look(self.rows(seen, waves)[0])[::2]
        return said

    def absorb(self, y: float, soft: float, first: float) -> None:
        """Learn that the row looked at last had the outcome y."""
        if self.cells is not None:
            self.cells.absorb((soft if self.twin else y) - first)


def _column(
    kind: int, of: int = 0, at: float = 0.0, also: int = 0, other: float = 0.0
) -> tuple[float, ...]:
    return float(kind), float(of), at, float(also), other
