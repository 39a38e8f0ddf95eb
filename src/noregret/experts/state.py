"""The state of a pool: its members and their weights.  A refused round is learned by no member."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Self

import numpy as np

from noregret._native.mixing import LIKELIHOOD
from noregret._native.rows import RenewedRounds
from noregret.certificates import Certificate
from noregret.declare.fields import Mismatch, Part, Special
from noregret.errors import FeatureError, InputError, NotLearnedError, wrapping
from noregret.experts.aggregation import Aggregation, replayed
from noregret.experts.members import (
    LearnerMember,
    Member,
    MemberList,
    Said,
    Spoken,
    as_numbers,
    check_row,
    replays,
    rows_of,
)
from noregret.experts.pool import Pool
from noregret.experts.reading import probabilities
from noregret.experts.rounds import pool_rounds
from noregret.experts.theorems import Cells, certified
from noregret.inputs.spaces import FeatureSpace
from noregret.inputs.values import outcome, outcome_column
from noregret.learner.saving import revived
from noregret.types import Matrix, Outcome, Outcomes, Row, Table, Vector

__all__ = ["PoolState", "own_certificates"]


class PoolState:
    """The members by name as they are now, and the pool of their weights."""

    __slots__ = ("fast", "members", "pool")

    FIELDS = (Special("experts", MemberList(), of="members"), Part("pool", ("Pool",)))
    SCRATCH: ClassVar[tuple[str, ...]] = ("fast",)  # rounds in the arrays of members and weights

    def __init__(self, members: dict[str, Member], pool: Pool) -> None:
        self.members, self.pool = members, pool
        self.fast = RenewedRounds()
        self.renew()

    def __reduce__(self) -> tuple[object, ...]:
        return revived, (type(self), self.members, self.pool)

    @classmethod
    def restored(cls, members: dict[str, Member], pool: Pool) -> Self:
        """The state of these fields."""
        if pool.size != len(members):
            raise Mismatch(f"has {len(members)} experts for {pool.size} weights")
        return cls(members, pool)

    def copy(self) -> Self:
        """A state that shares nothing that changes with this one."""
        members = {name: expert.copy() for name, expert in self.members.items()}
        return type(self)(members, self.pool.copy())

    @property
    def rounds(self) -> int:
        """How many rounds have been learned."""
        return self.pool.rounds

    @property
    def space(self) -> FeatureSpace | None:
        """That of the first member that has one; None where no member has."""
        owns = (e.own for e in self.members.values() if isinstance(e, LearnerMember))
        spaces = (getattr(own._state, "space", None) for own in owns if own is not None)
        return next((space for space in spaces if space is not None), None)

    @property
    def width(self) -> int | None:
        """How many features the members have seen, if any of them counts."""
        models = (expert.model for expert in self.members.values())
        counts = [int(m.n_features_in_) for m in models if hasattr(m, "n_features_in_")]
        return max(counts, default=None)

    def target(self, y: Outcome) -> float:
        """The outcome as a number."""
        return outcome(y)

    def targets(self, y: Outcomes, rounds: int) -> Vector:
        """The outcomes of many rounds as numbers."""
        return outcome_column(y, rounds)

    # One round ------------------------------------------------------------------------------

    def heard(self, x: Row) -> tuple[Vector, list[Said]]:
        """What each member says of x, as numbers and as it is."""
        check_row(self.members, x)
        said = []
        for name, expert in self.members.items():
            with wrapping("expert", InputError, name):
                said.append(expert.forecast(x, self.pool.game))
        return as_numbers(said, list(self.members)), said

    def predict(self, x: Row) -> float:
        """The pool's forecast at x; nothing is learned."""
        forecast = self.fast.predict(x)
        if forecast is not None:
            return forecast
        return self.pool.forecast(self.heard(x)[0])

    def learn(self, x: Row, y: Outcome) -> Self:
        """Learn one round, all members or none."""
        if self.fast.learn(x, y):
            return self
        pool = self.pool
        target = pool.game.outcome(self.target(y))
        numbers, said = self.heard(x)
        costs = _costs(said, target, self.members) if pool.game.kind == LIKELIHOOD else None
        after = pool.view()  # it learns in arrays of its own
        after.learn(numbers, target, costs)
        _teach(self.members, x, target)
        pool.adopt(after)
        self.renew()
        return self

    def renew(self) -> None:
        """Begin compiled rounds anew, where there are any."""
        self.fast.renew(pool_rounds(self.members, self.pool))

    # Many rounds ----------------------------------------------------------------------------

    def _rows(self, X: Table) -> Sequence[Row] | Matrix:
        """The rounds of a table; rows of an array must have as many features as before."""
        rows, width = rows_of(X), self.width
        if width is not None and isinstance(rows, np.ndarray) and rows.shape[1] != width:
            raise FeatureError(
                f"X has {rows.shape[1]} features, but it is expecting {width} features as input"
            )
        return rows

    def predict_rows(self, X: Table) -> Vector:
        """Forecasts at every row; nothing is learned."""
        heard = [self.heard(x)[0] for x in self._rows(X)]
        return self.pool.predict_rows(np.array(heard).reshape(len(heard), self.pool.size))

    def replay(self, X: Table, y: Outcomes) -> tuple[Self, Aggregation]:
        """Predict-then-learn over rows, on a copy; the pool itself runs compiled."""
        after = self.copy()
        return after, after.run(X, y)

    def run(self, X: Table, y: Outcomes) -> Aggregation:
        """Predict-then-learn over rows, in place; members that can replay do so."""
        members, game = self.members, self.pool.game
        rows = self._rows(X)
        if not len(rows):
            raise FeatureError("X has no rows: give at least one round")
        ys = np.array([game.outcome(value) for value in self.targets(y, len(rows)).tolist()])
        table = rows if isinstance(rows, np.ndarray) else X  # what was read is read no more
        quick, slow = replays(members, game, table, rows, ys)
        numbers = {name: as_numbers(heard, [name] * len(ys)) for name, heard in slow.items()}
        for name, heard in slow.items():
            rounds = zip(heard, ys.tolist())
            likely = game.kind == LIKELIHOOD
            cost = np.array([_cost(g, v, name) for g, v in rounds]) if likely else None
            quick[name] = Spoken(numbers[name], cost)
        said = np.column_stack([quick[name].numbers for name in members])
        paid = [c for name in members if (c := quick[name].costs) is not None]
        costs = np.column_stack(paid) if paid else None
        after, result = self._replayed(said, costs, ys, list(members))
        self.pool = after.copy()  # the result keeps the pool as it is now
        self.renew()
        return result

    def _replayed(
        self, said: Matrix, costs: Matrix | None, ys: Vector, names: Sequence[str]
    ) -> tuple[Pool, Aggregation]:
        return replayed(self.pool, said, costs, ys, names)

    def certificates(self) -> list[Certificate]:
        """Every statement that applies, the main one first."""
        return certified(self.pool.game, self.pool.totals(), own_certificates(self.members))


def _teach(members: Mapping[str, Member], x: Row, y: float) -> None:
    """Let every member learn a round that all have forecast; if one refuses it, none has learned.

    Those that may refuse go first, and all of them but the last can go back.  The last are those
    that are dearest to copy: pools, then models of other libraries.  Such a model, if it is alone
    and fails halfway, is the only one that has changed.
    """
    unsure = [name for name, expert in members.items() if not expert.takes(y)]
    unsure.sort(key=lambda name: _dear(members[name]))
    marks: list[tuple[Member, object]] = []
    try:
        for name in unsure:
            expert = members[name]
            with wrapping("expert", InputError, name):
                if name != unsure[-1]:
                    marks.append((expert, expert.mark()))
                expert.learn(x, y)
    except BaseException:
        for expert, mark in marks:
            expert.restore(mark)
        raise
    for name, expert in members.items():
        if name not in unsure:
            expert.learn(x, y)


def _dear(expert: Member) -> int:
    """How dear a copy is."""
    own = expert.own if isinstance(expert, LearnerMember) else None
    return 2 if own is None else int(isinstance(own._state, PoolState))


def own_certificates(members: Mapping[str, Member]) -> Cells:
    """The members by name, each with its own certificates."""
    return [(name, _certificates(e.model)) for name, e in members.items()]


def _certificates(model: object) -> Sequence[Certificate]:
    try:
        found: Sequence[Certificate] = model.certificates()  # type: ignore[attr-defined]  # or none
    except (AttributeError, NotLearnedError):
        return ()
    return found


def _costs(said: Sequence[Said], y: float, names: Iterable[str]) -> Vector:
    """The log losses of the members' forecasts; NaN of those who sleep."""
    return np.array([_cost(value, y, name) for value, name in zip(said, names)])


def _cost(said: Said, y: float, name: str) -> float:
    if said is None or (not hasattr(said, "log_density") and said != said):
        return math.nan
    if hasattr(said, "log_density"):
        with wrapping("the density of expert", InputError, name):
            density = float(said.log_density(y))
        if math.isnan(density) or density == math.inf:
            raise InputError(f"expert {name!r} gives y = {y!r} a log density of {density!r}")
        return -density
    table = np.array([[said]], dtype=np.float64)
    return float(probabilities(table, np.array([y]), [name])[0, 0])
