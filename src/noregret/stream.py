"""One stream being learned: where core, rule and ledger meet.

A `Plan` is what the user chose, checked and frozen; a `Stream` is what the data did.  Every
call is checked whole before anything is written: one that is refused leaves the stream as it
was, to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret import features
from noregret._ops import bare, layout, rounds
from noregret._ops.layout import AT, CEILING, CLOSED, LEVEL, MEAN, OFFSET, OK, ROOT, RULE, Y
from noregret.cores import DriftCore, PrimalCore
from noregret.errors import FeatureError, MergeError, NumericalError, OutcomeError
from noregret.features import Names
from noregret.ledger import add, merged, open_ledger
from noregret.rules import Rule
from noregret.types import Forecast, Look, Matrix, Track, Vector

__all__ = ["ARRAYS", "CAREFUL", "NAMES", "Plan", "Stream"]

CAREFUL, ARRAYS, NAMES = range(3)  # lanes: vectors of outcomes; numbers from arrays; from names
_learn = bare(rounds.learn)


@dataclass(frozen=True, slots=True)
class Plan:
    """What the user chose: core x rule, and whether a constant feature stands first."""

    rule: Rule
    prior_precision: float
    drift: float | Callable[[int], float] = 0.0
    intercept: bool = False

    def core(self, n: int, m: int) -> PrimalCore | DriftCore:
        """A core for n features, the constant one included, and m outcomes."""
        if callable(self.drift) or self.drift > 0.0:
            return DriftCore(self.prior_precision, self.drift, n, m)
        return PrimalCore(self.prior_precision, n, m)


class Stream:
    """A core, a ledger, and how features and outcomes are given."""

    __slots__ = ("core", "lane", "ledger", "names", "plan", "scalar")

    def __init__(
        self,
        plan: Plan,
        core: PrimalCore | DriftCore,
        ledger: Matrix,
        names: Names | None,
        *,
        scalar: bool,
    ) -> None:
        self.plan, self.core, self.ledger = plan, core, ledger
        self.names = names  # None: features go by position
        self.scalar = scalar  # an outcome is a number, not a vector
        at = core.work[AT]
        at[OFFSET], at[RULE], at[LEVEL] = plan.intercept, plan.rule.code, plan.rule.level
        # An integer that was packed into a vector unseen may have lost digits beyond 2^53.
        at[CEILING] = layout.LARGEST_FEATURE if names is None else layout.EXACT_INTEGER
        at[CLOSED] = 0.0
        self.lane = CAREFUL if not scalar else ARRAYS if names is None else NAMES

    @classmethod
    def start(
        cls, plan: Plan, n: int, m: int = 1, *, names: Names | None = None, scalar: bool = True
    ) -> Stream:
        """An empty stream of n features, the constant one not counted, and m outcomes."""
        return cls(plan, plan.core(n + plan.intercept, m), open_ledger(m), names, scalar=scalar)

    @classmethod
    def like(cls, plan: Plan, x: Any, m: int = 1, *, scalar: bool = True) -> Stream:
        """An empty stream for rounds that look like x."""
        if features.as_mapping(x) is not None:
            return cls.start(plan, 0, m, names=Names(()), scalar=scalar)
        n = features.row(x).size
        if n == 0:
            raise FeatureError("x is empty: give at least one feature")
        return cls.start(plan, n, m, scalar=scalar)

    @property
    def features(self) -> int:
        """How many features the user has given so far."""
        return self.core.shape[0] - self.plan.intercept

    @contextmanager
    def closed(self) -> Iterator[list[Stream]]:
        """Keep rounds that take no lock out while the state is read or written in several steps.

        The caller puts a stream that takes the place of this one into the list: then this one
        stays closed, so that no round is learned by a stream that nobody holds any more.
        """
        at = self.core.work[AT]
        at[CLOSED] = 1.0
        successor = [self]
        try:
            yield successor
        except BaseException:
            successor[:] = [self]
            raise
        finally:
            if successor[-1] is self:
                at[CLOSED] = 0.0

    def copy(self) -> Stream:
        """A stream that shares nothing with this one."""
        with self.closed():
            return Stream(
                self.plan, self.core.grown(0), self.ledger.copy(), self.names, scalar=self.scalar
            )

    # One round ------------------------------------------------------------------------------

    def look(self, x: Any) -> Look:
        """Look at x; nothing is learned, so names that are new stay new."""
        vector, new = self._admit(x)
        core = self.core
        with self._any_size():
            self._answer(rounds.view(core.factor, core.work, vector), vector)
        mean = core.work[MEAN, : core.shape[1]].copy()
        root = float(core.work[AT, ROOT])
        for value in new.values():
            root = math.hypot(root, value * math.sqrt(core.prior_var()))
        if not math.isfinite(root):
            raise NumericalError("the spread at x does not fit in float64: rescale the features")
        return Look(mean, root)

    def forecast(self, x: Any) -> Forecast:
        """The point forecast at x."""
        look = self.look(x)
        g = self.plan.rule.forecast(look.mean[None], np.array([look.root]))[0]
        return float(g[0]) if self.scalar else g

    def learn(self, x: Any, y: Any) -> Stream:
        """Learn one round; the stream that goes on: this one, or a copy with more features."""
        ys, scalar = one_outcome(y)
        m = self.core.shape[1]
        if scalar != self.scalar or ys.size != m:
            now = "numbers" if self.scalar else f"vectors of {m}"
            raise OutcomeError(f"y = {y!r}: the outcomes so far were {now}, keep to that")
        vector, new = self._admit(x)
        if not new:
            return self._learn(vector, ys)
        vector = np.concatenate([vector, list(new.values())])
        with self.closed() as successor:
            successor.append(self._grown(list(new))._learn(vector, ys))
        return successor[-1]

    def _learn(self, vector: Vector, ys: Vector) -> Stream:
        self.core.work[Y, : ys.size] = ys
        with self._any_size():
            self._answer(self.absorb(vector, float(ys[0])), vector)
        return self

    def absorb(self, vector: Vector, y: float) -> int:
        """The compiled round: OK, or why it was refused.  The caller holds the lock."""
        core = self.core
        core.prepare()
        status = _learn(core.factor, core.work, self.ledger, vector, y)
        if status == OK:
            core.moved()
        return status

    def _admit(self, x: Any) -> tuple[Vector, dict[Any, float]]:
        """x as a vector, and the features that are new here."""
        mapping = features.as_mapping(x)
        if mapping is None:
            if self.names is not None:
                raise FeatureError(
                    "x is an array, but this learner knows its features by name: give a mapping"
                )
            vector = features.row(x)
            if vector.size != self.features:
                raise FeatureError(
                    f"x has {vector.size} features, but this learner has {self.features}: "
                    "arrays go by position; give mappings if features come and go"
                )
            return vector, {}
        if self.names is None:
            raise FeatureError(
                "x has names, but this learner was given arrays and knows positions only: "
                "give arrays, or start a new learner with mappings"
            )
        return self.names.sort_out(mapping)

    @contextmanager
    def _any_size(self) -> Iterator[None]:
        """For values that were checked one by one: integers beyond 2^53 are exact ones."""
        at = self.core.work[AT]
        ceiling, at[CEILING] = at[CEILING], layout.LARGEST_FEATURE
        try:
            yield
        finally:
            at[CEILING] = ceiling

    def _answer(self, status: int, vector: Vector) -> None:
        """Raise what a compiled round answered."""
        if status != OK:  # all else was checked on the way in
            raise NumericalError(
                f"the look at x does not fit in float64 (|x| = {np.abs(vector).max():.3g}, "
                f"prior_precision = {self.plan.prior_precision:.3g}): rescale the features "
                "or raise prior_precision"
            )

    def _grown(self, new: list[Any]) -> Stream:
        """A copy that also knows these names; their past is 0, so it is exact."""
        assert self.names is not None
        names = Names([*self.names.slots, *new])
        return Stream(self.plan, self.core.grown(len(new)), self.ledger, names, scalar=self.scalar)

    # Many rounds ----------------------------------------------------------------------------

    def replay(
        self, xs: Matrix, names: list[Any] | None, ys: Matrix, *, scalar: bool
    ) -> tuple[Stream, Track, Matrix, Vector]:
        """Predict-then-learn over rows; the stream that goes on, looks, forecasts, losses."""
        if scalar != self.scalar or ys.shape[1] != self.core.shape[1]:
            raise OutcomeError(
                f"y has {ys.shape[1]} outcomes a round, but this learner has {self.core.shape[1]}"
            )
        self._same_kind(xs, names)
        known = self.names.slots if self.names is not None else {}
        new = [name for name in names or () if name not in known]
        with self.closed() as successor:
            stream = self._grown(new) if new else self
            successor.append(stream)
            rows, core = stream._in_place(xs, names), stream.core
            track = core.replay(rows, ys)
            forecasts, losses = np.empty(ys.shape), np.empty(len(ys))
            rounds.settle(
                stream.ledger, core.work, rows, ys, track.mean, track.root, forecasts, losses
            )
            add(stream.ledger, layout.FIT, track.fit)
        return stream, track, forecasts, losses

    def survey(self, xs: Matrix, names: list[Any] | None) -> tuple[Matrix, Vector]:
        """Means and root spreads at every row; nothing is learned."""
        self._same_kind(xs, names)
        known = self.names.slots if self.names is not None else {}
        unknown = [j for j, name in enumerate(names or ()) if name not in known]
        seen = [j for j in range(xs.shape[1]) if j not in set(unknown)]
        kept = None if names is None else [names[j] for j in seen]
        rows = self._in_place(xs[:, seen] if unknown else xs, kept)
        means, roots = np.empty((len(xs), self.core.shape[1])), np.empty(len(xs))
        failed = rounds.survey(self.core.factor, self.core.work, rows, means, roots)
        if failed >= 0:
            self._answer(layout.OVERFLOW, xs[failed])
        for j in unknown:
            roots = np.hypot(roots, xs[:, j] * math.sqrt(self.core.prior_var()))
        return means, roots

    def _same_kind(self, xs: Matrix, names: list[Any] | None) -> None:
        if names is None and self.names is not None:
            raise FeatureError(
                "X is an array, but this learner knows its features by name: give a frame"
            )
        if names is not None and self.names is None:
            raise FeatureError(
                "X has names, but this learner was given arrays and knows positions only: "
                "give arrays, or start a new learner with frames"
            )
        if names is None and xs.shape[1] != self.features:
            raise FeatureError(
                f"X has {xs.shape[1]} features, but this learner has {self.features}: "
                "arrays go by position"
            )

    def _in_place(self, xs: Matrix, names: list[Any] | None) -> Matrix:
        """The rows with every feature in its slot behind the constant one; xs itself if so."""
        offset = int(self.plan.intercept)
        slots = range(xs.shape[1])
        if names is not None and self.names is not None:
            slots_of = self.names.slots
            slots = [slots_of[name] for name in names]  # type: ignore[assignment]
        if not offset and xs.shape[1] == self.features and list(slots) == list(range(len(slots))):
            return xs
        rows = np.zeros((len(xs), self.core.shape[0]))
        rows[:, :offset] = 1.0
        rows[:, [offset + slot for slot in slots]] = xs
        return rows

    # Two streams ----------------------------------------------------------------------------

    def merge(self, other: Stream) -> Stream:
        """The stream that one learner would have after both, in any order."""
        if not isinstance(self.core, PrimalCore) or not isinstance(other.core, PrimalCore):
            raise MergeError(
                "learners with drift cannot be merged: what a round teaches depends on when it was"
            )
        if (self.names is None) != (other.names is None):
            raise MergeError("one learner knows its features by name, the other by position")
        if self.core.shape[1] != other.core.shape[1] or self.scalar != other.scalar:
            raise MergeError("the learners have different numbers of outcomes")
        if self.names is None and self.features != other.features:
            raise MergeError(
                f"one learner has {self.features} features by position, the other {other.features}"
            )
        with self.closed() as successor:
            successor.append(self._merged(other))
        return successor[-1]

    def _merged(self, other: Stream) -> Stream:
        assert isinstance(self.core, PrimalCore)
        assert isinstance(other.core, PrimalCore)
        core, names = self.core.grown(0), self.names
        slots = np.arange(other.core.shape[0])
        if names is not None and other.names is not None:
            new = [name for name in other.names.slots if name not in names.slots]
            core, names = self.core.grown(len(new)), Names([*names.slots, *new])
            offset = int(self.plan.intercept)
            slots = np.array(
                [*range(offset), *(offset + names.slots[name] for name in other.names.slots)],
                dtype=np.int64,
            )
        ledger = merged(self.ledger, other.ledger, core.merge(other.core, slots))
        return Stream(self.plan, core, ledger, names, scalar=self.scalar)


def one_outcome(y: Any) -> tuple[Vector, bool]:
    """The outcomes of one round, and whether it was a plain number."""
    if isinstance(y, list | tuple) or (hasattr(y, "ndim") and y.ndim > 0):
        return features.outcomes(y), False
    return np.array([features.outcome(y)]), True
