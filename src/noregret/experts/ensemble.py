"""Auto's state: groups of experts that a team merges, behind Fixed Share with its proof.

Every group forecasts by experts of its own: linear in the units of first values, naive forecasts,
linear with lags, hinges, values of whole-valued features, waves, boosted trees on the last rows;
and trees on what all of them leave.
A team (team.py) merges them; what it says, the linear experts and the groups are the experts of
an outermost pool, and what is proved is proved of that.  The team speaks in the pool's place as
long as that cannot cost much more (guard.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from noregret._native import views as ops
from noregret._native.rows import EnsembleRounds, RenewedRounds
from noregret.budgets import FeatureMap
from noregret.certificates import Certificate
from noregret.declare.fields import Array, Group, Groups, Part, require
from noregret.errors import FeatureError
from noregret.experts.boosted_group import BOOSTED, BoostedGroup
from noregret.experts.core_grid import CoreGrid
from noregret.experts.expert_group import WAVES, ExpertGroup, described, recipes
from noregret.experts.guard import Guard
from noregret.experts.mondrian import Growth, MondrianState
from noregret.experts.pool import Pool
from noregret.experts.pooled import PooledState
from noregret.experts.team import Team
from noregret.experts.theorems import BUDGET, certified, statements
from noregret.experts.units import CONSTANT, Units
from noregret.experts.views import Seen, Views
from noregret.inputs.spaces import FeatureSpace, Names, Positions
from noregret.learner.saving import revived
from noregret.losses import LARGEST, game
from noregret.types import Matrix, Vector

__all__ = ["EnsembleState"]

MERGED = 0.9  # of the outermost prior, to the team; of the rest half to the linear experts
SHARE = "falling"
CHUNK = 2048  # rows between which memory is let go
FIRST_PLAN = 32  # rounds after which values are looked for, then twice as many, and so on
NOTHING = np.empty(0)
NAIVE = "naive forecasts"
LINEAR = "linear"
TEAM = "all groups together"
TREES = {"normal": 1, "high": 4}
FAR, WIDE = 5.0, 3.0  # what trees learn and say of an error, at most, in units of recent ones


class Looked(NamedTuple):
    """What was said of one row, and by what it is judged."""

    seen: Seen
    units: Units
    span: tuple[Vector, Vector]  # the outcomes that the guard is ready for
    safe: float  # by the outermost pool
    said: Vector  # by the experts of all groups
    merged: Vector  # by their team
    near: Vector  # how far off it was of late
    off: Vector  # by trees, of the team's error
    outer: Vector  # by the experts of the outermost pool


@dataclass(slots=True, eq=False)
class EnsembleState(PooledState):
    """What the groups, their team and the outermost pool have learned."""

    space: FeatureSpace
    units: Units
    linear: CoreGrid
    views: Views
    groups: Sequence[ExpertGroup]
    waves: Matrix
    team: Team
    trees: Sequence[MondrianState]
    last: Team
    pool: Pool
    guard: Guard
    boosted: Sequence[BoostedGroup]
    fast: RenewedRounds = field(default_factory=RenewedRounds, init=False, repr=False)

    SCRATCH = ("fast",)  # rounds in the arrays of all others
    FIELDS = (
        Part("space", ("Positions", "Names")),
        Part("units", ("Units",)),
        Part("linear", ("Cells",)),
        Group("views", Views),
        Groups("groups", ExpertGroup),
        Array("waves", ("W", "columns")),
        Group("team", Team),
        Groups("trees", MondrianState),
        Group("last", Team),
        Part("pool", ("Pool",)),
        Group("guard", Guard, later=True),
        Groups("boosted", BoostedGroup, later=True),
    )

    def __post_init__(self) -> None:
        self.renew()

    @classmethod
    def start(
        cls,
        space: FeatureSpace,
        outcome_range: object,
        effort: str,
        linear: CoreGrid,
        maps: Sequence[tuple[str, FeatureMap, int]],
    ) -> EnsembleState:
        """A state that has seen nothing: a grid of linear experts, an effort's groups, maps."""
        n, played = space.size, game("square", outcome_range)
        groups = [ExpertGroup.of(name, effort, n) for name in recipes(effort)]
        groups += [ExpertGroup.mapped(name, effort, map_, size) for name, map_, size in maps]
        boosted = [BoostedGroup.of(name, effort, n) for name in BOOSTED.get(effort, ())]
        team = Team.of(_sizes(linear, groups, boosted))
        G, N = team.sizes.size, 2 * linear.size
        rest = (1.0 - MERGED) / 2.0
        prior = np.r_[np.full(N, rest / N), np.full(G, rest / G), MERGED]
        pool = Pool.start(played, prior, SHARE)
        trees = [_planted(space, TREES[effort])] if n and effort in TREES else []
        waves = _waves(np.zeros((WAVES, 0)), space)
        units, views, last = Units.of(n), Views.of(n), Team.of([1, 1])
        fields = space, units, linear, views, groups, waves, team, trees, last, pool
        return cls(*fields, Guard.of(), boosted)

    def stored(self) -> tuple[object, ...]:
        """The values of FIELDS; what files of before lack is left out where it is empty."""
        fields = [getattr(self, name.name) for name in self.FIELDS]
        idle = Guard.of(self.pool.totals().loss)
        guard = None if self.guard.same(idle) else self.guard
        return *fields[:-2], guard, self.boosted or None

    def __reduce__(self) -> tuple[object, ...]:
        return revived, (EnsembleState, *(getattr(self, field.name) for field in self.FIELDS))

    @classmethod
    def restored(
        cls,
        space: FeatureSpace,
        units: Units,
        linear: CoreGrid,
        views: Views,
        groups: Sequence[ExpertGroup],
        waves: Matrix,
        team: Team,
        trees: Sequence[MondrianState],
        last: Team,
        pool: Pool,
        guard: Guard | None,
        boosted: Sequence[BoostedGroup] | None,
    ) -> EnsembleState:
        """The state of these fields; in files without a guard the pool has always spoken."""
        boosted = boosted or []
        n, wide = space.size, waves.shape[1] == space.size + 1
        require(units.scale.size == n and len(views.features) == n, "has units of other features")
        require(linear.features == n + 1 and wide, "has cells for other features")
        require(all(group.fits(n, len(waves)) for group in groups), "has columns of nothing")
        sizes = _sizes(linear, groups, boosted)
        require(team.sizes.tolist() == sizes, "has another number of experts")
        require(pool.size == 2 * linear.size + team.sizes.size + 1, "has a pool of other experts")
        require(last.sizes.tolist() == [1.0, 1.0], "merges trees with something else")
        alike = all(tree.space.size == n and tree.rounds <= pool.rounds for tree in trees)
        require(len(trees) <= 1 and alike, "has other trees")
        require(views.rounds == pool.rounds, "has seen another number of rounds")
        known = all(group.fits(n, pool.rounds) for group in boosted)
        require(known, "has boosted trees of other features")
        guard = guard or Guard.of(pool.totals().loss)
        fields = space, units, linear, views, groups, waves, team, trees, last, pool
        return cls(*fields, guard, boosted)

    def copy(self) -> EnsembleState:
        """A state that shares nothing that changes."""
        return EnsembleState(
            self.space,
            self.units,
            self.linear.copy(),
            self.views.copy(),
            [group.copy() for group in self.groups],
            self.waves,
            self.team.copy(),
            [tree.copy() for tree in self.trees],
            self.last.copy(),
            self.pool.copy(),
            self.guard.copy(),
            [group.copy() for group in self.boosted],
        )

    def with_space(self, space: FeatureSpace) -> EnsembleState:
        """A larger copy: what is new has been 0 so far."""
        before, after = self.space.size, space.size
        if any(group.map is not None for group in self.groups):
            k = after - before
            raise FeatureError(f"x has {k} new features: with kernels=True features must stay")
        return EnsembleState(
            space,
            self.units.extended(after - before),
            self.linear.extended(after - before),
            self.views.extended(after - before),
            [group.extended(before, after) for group in self.groups],
            _waves(self.waves[:, 1:], space),
            self.team.copy(),
            [_grown(tree, space) for tree in self.trees],
            self.last.copy(),
            self.pool.copy(),
            self.guard.copy(),
            [group.extended(after - before) for group in self.boosted],
        )

    # One round ------------------------------------------------------------------------------

    def renew(self) -> None:
        """Begin compiled rounds anew; with maps there are none."""
        if not isinstance(self.space, Positions | Names) or any(
            group.map is not None for group in self.groups
        ):
            return
        limits = BUDGET, FAR, WIDE, LARGEST, self.rounds + _until_plan(self.rounds) - 1
        rounds = EnsembleRounds(
            self.space.reader,
            scale=self.units.scale,
            constant=CONSTANT,
            linear=self.linear.arrays,
            features=self.views.features,
            outcomes=self.views.outcomes,
            groups=[group.compiled for group in self.groups],
            boosted=[group.compiled for group in self.boosted],
            waves=self.waves,
            team=(self.team.memory, self.team.sizes),
            last=(self.last.memory, self.last.sizes),
            tree=self.trees[0].forest if self.trees else None,
            pool=self.pool,
            guard=(self.guard.account, self.guard.over, self.guard.paid),
            span=self.pool.game.span,
            limits=tuple(map(float, limits)),
        )
        self.fast.renew(rounds)

    def look(self, x: Vector) -> Looked:
        """What everybody says of x; nothing is learned."""
        seen = self.views.copy().observe(np.array(x[None]), NOTHING)
        rows, units = self.units.measured(x[None])
        parts = [self.linear.look(rows[0]), seen.naive[0]]
        parts += [group.look(seen, self.waves) for group in self.groups]
        said = np.concatenate([*parts, *(group.look(seen) for group in self.boosted)])
        heard, near = self.team.measured(said[None], NOTHING)
        final = merged = heard[:, -1]
        off = np.array([tree.predict_vector(x) for tree in self.trees])
        if self.trees:
            off = _cut(off, WIDE * near)
            final = self.last.replay(_both(merged, off), NOTHING)[:, -1]
        outer = self._outer(said[None], heard, final)[0]
        span, safe = Guard.spans(self.pool, NOTHING), self.pool.forecast(outer)
        return Looked(seen, units, span, safe, said, merged, near, off, outer)

    def _outer(self, said: Matrix, heard: Matrix, final: Vector) -> Matrix:
        """What the experts of the outermost pool say."""
        return np.column_stack([said[:, : 2 * self.linear.size], heard[:, :-1], final])

    def predict_vector(self, x: Vector) -> float:
        """The pool's forecast at x, or the team's in its place."""
        looked = self.look(x)
        return self.guard.forecast(float(looked.outer[-1]), looked.safe, looked.span)

    def learn_vector(self, x: Vector, y: float) -> None:
        """Learn one round: the pool, then everybody."""
        looked, ys = self.look(x), np.array([y])
        safe, _ = self.pool.learn(looked.outer, y)
        self.guard.replay(looked.outer[-1:], np.array([safe]), ys, looked.span)
        self.team.replay(looked.said[None], ys)
        for tree in self.trees:
            self.last.replay(_both(looked.merged, looked.off), ys)
            tree.learn_vector(x, float(_cut(ys - looked.merged, FAR * looked.near)[0]))
        seen = self.views.observe(np.array(x[None]), ys)
        self.linear.absorb(y)
        for group in self.groups:
            group.absorb(y, float(seen.soft[0]), float(self.views.outcomes[ops.FIRST]))
        for trees in self.boosted:
            trees.learn(looked.seen, y)
        self.units = looked.units
        self._plan()

    def _plan(self) -> None:
        """After 32 rounds, 64, 128, ...: columns for the values that have come up."""
        if _plans(self.rounds):
            values = self.views.values()
            self.groups = [group.knowing(values, self.rounds) for group in self.groups]

    # Many rounds ----------------------------------------------------------------------------

    def run(self, xs: Matrix, ys: Vector) -> tuple[Vector, Vector]:
        """Predict-then-learn over rows, in place: forecasts and losses."""
        forecasts, losses = np.empty(len(ys)), np.empty(len(ys))
        start = 0
        while start < len(ys):
            part = slice(start, start + min(CHUNK, _until_plan(self.rounds)))
            forecasts[part], losses[part] = self._run(np.ascontiguousarray(xs[part]), ys[part])
            start += len(ys[part])
            self._plan()
        self.renew()
        return forecasts, losses

    def _run(self, xs: Matrix, ys: Vector) -> tuple[Vector, Vector]:
        rows, units = self.units.measured(xs)
        seen: Seen = self.views.observe(xs, ys)
        first = float(self.views.outcomes[ops.FIRST])
        parts = [self.linear.replay(rows, ys), seen.naive]
        parts += [group.replay(seen, self.waves, ys, first) for group in self.groups]
        parts += [group.replay(seen, ys) for group in self.boosted]
        said = np.hstack(parts)
        heard, near = self.team.measured(said, ys)
        final = heard[:, -1]
        for tree in self.trees:
            off, _ = tree.run(xs, _cut(ys - final, FAR * near))
            final = self.last.replay(_both(final, _cut(off, WIDE * near)), ys)[:, -1]
        span = Guard.spans(self.pool, ys)
        safe, _, _ = self.pool.replay(self._outer(said, heard, final), ys)
        self.units = units
        return self.guard.replay(final, safe, ys, span)

    # What is proved, and who speaks -----------------------------------------------------------

    @property
    def names(self) -> list[str]:
        """The experts of the outermost pool."""
        return [*self.linear.names, *self.called, TEAM]

    @property
    def called(self) -> list[str]:
        """The groups."""
        return [LINEAR, NAIVE, *(g.name for g in self.groups), *(g.name for g in self.boosted)]

    def certificate(self) -> Certificate:
        """The main certificate: Fixed Share over the experts."""
        return statements(self.pool.game, self.guard.totals(self.pool))[0]

    def certificates(self) -> list[Certificate]:
        """Every statement that applies, the main one first."""
        totals = self.guard.totals(self.pool)
        return certified(self.pool.game, totals, self.linear.certificates())

    def explain(self) -> str:
        """Which groups carry the forecast of the row learned last, and what is proved, in words."""
        t = self.guard.totals(self.pool)
        lines = [f"{self.rounds} rounds, RMSE {math.sqrt(t.loss / max(t.rounds, 1)):.4g}"]
        weights, errors = self.shares()
        order = np.argsort(-np.abs(weights), kind="stable")
        lines += [
            f"{described(self.called[k])}: {100.0 * weights[k]:.0f} % of the forecast, "
            f"recent RMSE {math.sqrt(errors[k]):.4g}"
            for k in order.tolist()
            if abs(weights[k]) >= 0.005
        ]
        return "\n".join([*lines, *self._promise()])

    def shares(self) -> tuple[Vector, Vector]:
        """By group its weight in the team, and its recent mean square error."""
        asleep = [False, False, *(group.asleep for group in self.groups)]
        asleep += [trees.asleep for trees in self.boosted]
        said = np.repeat(np.where(asleep, np.nan, 0.0), self.team.sizes.astype(int))
        return self.team.weights(said)

    def _promise(self) -> list[str]:
        """Who spoke, and what is proved, in words."""
        totals, spoke = self.guard.totals(self.pool), int(self.guard.over[1])
        lines = [
            f"all together spoke in {spoke} of {self.rounds} rounds, else the pool with the proof"
        ]
        if self.trees:
            part = self.last.weights(np.zeros(2))[0][1]
            lines.append(
                f"trees that learn what these leave: {100.0 * part:.0f} % of them is added"
            )
        words = [c.words for c in statements(self.pool.game, totals)[:2] if c.beside]
        return [*lines, *(f"proved: {text}" for text in words if text)]


def _nodes(n: int) -> int:
    """How many nodes trees on n features may have: some 2 million numbers, 4000 nodes at most."""
    return min(4000, max(2_000_000 // ((n + 1) * (n + 2)), 8))


def _planted(space: FeatureSpace, trees: int) -> MondrianState:
    """Trees that have seen nothing."""
    growth = Growth(trees, _nodes(space.size), linear=True, precision=10.0, price=0.3, seed=0)
    return MondrianState.start(space, game("square", None), growth)


def _grown(tree: MondrianState, space: FeatureSpace) -> MondrianState:
    """Trees with more features; new ones where the old would take too much memory."""
    fits = tree.growth.cap <= 4 * _nodes(space.size)
    return tree.with_space(space) if fits else _planted(space, tree.growth.trees)


def _cut(errors: Vector, most: Vector) -> Vector:
    """No error larger than the most."""
    return np.minimum(np.maximum(errors, -most), most)


def _both(merged: Vector, off: Vector) -> Matrix:
    """The team's forecasts, and the same with what trees say of its errors."""
    return np.column_stack([merged, merged + off])


def _sizes(
    linear: CoreGrid, groups: Sequence[ExpertGroup], boosted: Sequence[BoostedGroup]
) -> list[int]:
    """How many experts each group of the team has."""
    experts = [group.recipe.experts for group in groups]
    return [2 * linear.size, ops.PAST + 1, *experts, *(1 for _ in boosted)]


def _plans(rounds: int) -> bool:
    return rounds >= FIRST_PLAN and rounds & (rounds - 1) == 0


def _until_plan(rounds: int) -> int:
    """How many rounds there are until values are looked for."""
    after = FIRST_PLAN
    while after <= rounds:
        after *= 2
    return after - rounds


def _waves(held: Matrix, space: FeatureSpace) -> Matrix:
    """Phases, and frequencies by feature: those held, then new ones, about one turn per sqrt(n)."""
    k, n = held.shape[1], space.size
    phases = np.random.default_rng(0).random(WAVES)
    scale = 1.0 / (2.0 * math.pi * math.sqrt(max(n, 1)))
    drawn = [np.random.default_rng([1, j]).standard_normal(WAVES) for j in range(k, n)]
    return np.ascontiguousarray(np.column_stack([phases, held, *(scale * w for w in drawn)]))
