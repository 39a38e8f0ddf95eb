"""One stream being learned: where core, rule and ledger meet.

A `Plan` is what the user chose, checked and frozen; a stream is what the data did.  Every
call is checked whole before anything is written: one that is refused leaves the stream as it
was, to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Self

import numpy as np

from noregret._native import audit, layout, rounds
from noregret._native.layout import AT, CEILING, CLOSED, DRIFT, HIGH, LEVEL, LOW, OFFSET, OK, RULE
from noregret._native.rows import GaussianRounds, Rounds
from noregret.certificates import Certificate
from noregret.declare.fields import Array, Count, Group, Mismatch, Part, Truth
from noregret.errors import FeatureError, InputError, MergeError, NumericalError
from noregret.gaussian.audits import audited_before, audits_of, looseness
from noregret.gaussian.cores import DriftCore, PrimalCore
from noregret.gaussian.cores.dual import DualCore
from noregret.gaussian.cores.stored import StoredCore
from noregret.gaussian.facts import StreamFacts
from noregret.gaussian.hints import merged_ends, most_hint, restored_ends
from noregret.gaussian.ledger import (
    add,
    extend,
    merged,
    note_weights,
    open_ledger,
    probe,
    restored_ledger,
    stored_ledger,
    totals,
)
from noregret.gaussian.outcomes import outcome_rows_like, outcomes_like
from noregret.gaussian.plan import Budget, Plan
from noregret.gaussian.theorems import statements, theorems_of
from noregret.inputs.spaces import FeatureSpace, Names, Positions
from noregret.inputs.values import outcome_table
from noregret.learner.replay import Replay
from noregret.learner.saving import revived
from noregret.types import (
    Forecast,
    Integers,
    Look,
    Matrix,
    Outcome,
    Outcomes,
    Row,
    Table,
    Track,
    Vector,
)

__all__ = ["MOST", "Budget", "GaussianStream", "Plan", "Stream"]

MOST = 2**26  # outcomes per round, in a file


class GaussianStream:
    """What streams share: a plan, a core whose looks become forecasts, a ledger."""

    __slots__ = ()

    plan: Plan
    core: PrimalCore | DriftCore | DualCore
    ledger: Matrix
    scalar: bool  # an outcome is a number, not a vector

    @property
    def rounds(self) -> int:
        """How many rounds have been learned."""
        return int(self.ledger[layout.ROUNDS, 0])

    def look(self, x: Row) -> Look:
        """Look at x; nothing is learned, so what is new stays new."""
        raise NotImplementedError

    def look_rows(self, X: Table) -> tuple[Matrix, Vector]:
        """Means and root spreads at every row; nothing is learned."""
        raise NotImplementedError

    @contextmanager
    def closed(self) -> Iterator[list[Self]]:
        """Keep rounds that take no lock out; nothing to do where every round takes it."""
        yield [self]

    def retire(self) -> None:
        """Let no round in any more: another stream takes the place of this one."""

    @property
    def ends(self) -> Matrix:
        """What the hint is the middle of (2, m), in the scratch array of compiled rounds."""
        raise NotImplementedError

    def _stored_ends(self) -> Matrix | None:
        """What a file keeps of the hint: nothing where there is none, or a number."""
        return self.ends.copy() if self.plan.rule.code > layout.AROUND else None

    def _hint(self) -> Vector | None:
        """The hint for the round to come, by outcome."""
        low, high = self.ends
        return low + 0.5 * (high - low) if self.plan.rule.hinted else None

    def predict(self, x: Row) -> Forecast:
        """The point forecast at x."""
        look = self.look(x)
        g = self.plan.rule.forecast(look.mean[None], np.array([look.root]), self._hint())[0]
        return float(g[0]) if self.scalar else g.copy()  # a look may be kept

    def predict_rows(self, X: Table) -> Matrix:
        """Forecasts at every row; nothing is learned."""
        with self.closed():
            return self.flat(self.plan.rule.forecast(*self.look_rows(X), self._hint()))

    def flat(self, values: Matrix) -> Matrix:
        """(T, m), or (T,) where an outcome is a number."""
        return values[:, 0] if self.scalar else values

    def facts(self, **bounds: float) -> StreamFacts:
        """The stream as the theorems see it; the caller holds the lock and has closed it."""
        sums, plan, core = totals(self.ledger), self.plan, self.core
        if plan.discount is not None:  # FIT is the whole story, see ledger.hpp on JOINT
            sums = replace(sums, best=sums.fit)
        features, priors = (0, core.priors) if isinstance(core, DualCore) else (core.shape[0], 0.0)
        return StreamFacts(
            totals=sums,
            features=features,
            prior_precision=plan.prior_precision,
            prior_var=core.prior_var(),
            drifting=core.drifts,
            discount=plan.discount,
            rule=layout.AAR if plan.rule.hinted else plan.rule.code,
            hint=plan.rule.hint,
            opens=plan.rule.code > layout.AROUND,
            most_hint=most_hint(plan.rule, sums),
            noise_var=plan.rule.noise_var,
            clip=plan.rule.clip,
            kernel=isinstance(core, DualCore),
            priors=priors,
            budget=plan.budget,
            audit=audits_of(core, self.ledger, plan.prior_precision),
            looseness=0.0 if isinstance(core, DualCore) else looseness(core),
            best_norm=_best_norm(core, plan),
            **bounds,
        )

    def certificates(self) -> list[Certificate]:
        """Every statement that applies, the main one first."""
        with self.closed():
            facts = self.facts()
        return statements(facts)

    def book_rows(
        self, work: Matrix, xs: Matrix, ys: Matrix, track: Track, *, proved: bool
    ) -> Replay:
        """Book what the core has replayed, its fit aside; what a replay gives back.

        Without its certificate where that is not asked for.
        """
        forecasts, losses = np.empty(ys.shape), np.empty(len(ys))
        rounds.book_rows(self.ledger, work, xs, ys, track.mean, track.root, forecasts, losses)
        with np.errstate(over="ignore"):  # a spread beyond float64 is infinite, its root is not
            spread = np.multiply(track.root, track.root, out=track.root)  # nobody reads it again
        main = self._main() if proved else None
        return Replay(self.flat(forecasts), self.flat(track.mean), spread, losses, main)  # type: ignore[arg-type]  # see above

    def _main(self) -> Certificate:
        """The first certificate; the caller holds the lock and has closed the stream."""
        facts = self.facts()
        return theorems_of(facts)[0](facts)


class Stream(GaussianStream):
    """A core, a ledger, and how features and outcomes are given."""

    __slots__ = ("core", "fast", "ledger", "plan", "scalar", "space")

    FIELDS = (
        Part("plan", ("Plan",)),
        Part("door", ("Positions", "Names", "MapDoor", "DictionaryDoor"), of="space"),
        Truth("scalar"),
        Count("outcomes", 1, MOST, of="core"),
        Array("ledger", ("rows", 2), finite=False),
        Group("core", StoredCore),
        Array("hint", (2, "m"), of="core", optional=True, later=True),
    )
    SCRATCH = ("fast",)  # rounds in the arrays of the core and the ledger

    core: PrimalCore | DriftCore

    def __init__(
        self,
        plan: Plan,
        core: PrimalCore | DriftCore,
        ledger: Matrix,
        space: FeatureSpace,
        *,
        scalar: bool,
    ) -> None:
        self.plan, self.core, self.ledger, self.space = plan, core, ledger, space
        self.scalar = scalar
        at = core.work[AT]
        at[OFFSET], at[RULE], at[LEVEL] = plan.intercept, plan.rule.code, plan.rule.level
        at[CEILING], at[CLOSED] = layout.LARGEST_FEATURE, 0.0
        if plan.rule.code == layout.AROUND:
            self.ends[:] = plan.rule.level
        self.fast: Rounds | None = None
        if scalar and isinstance(space, Positions | Names):
            self.fast = GaussianRounds(space.reader, core.factor, core.work, ledger, core.alone)

    def __reduce__(self) -> tuple[object, ...]:
        opened = partial(Stream, scalar=self.scalar)
        return revived, (opened, self.plan, self.core, self.ledger, self.space)

    @classmethod
    def start(cls, plan: Plan, space: FeatureSpace, m: int = 1, *, scalar: bool = True) -> Stream:
        """An empty stream behind a space, of m outcomes per round."""
        core = plan.core(space.size + plan.intercept, m)
        ledger = open_ledger(m, core.shape[0], plan.prior_precision)
        return cls(plan, core, ledger, space, scalar=scalar)

    def stored(self) -> tuple[object, ...]:
        """The values of FIELDS; copies, since rounds that take no lock may follow."""
        with self.closed():
            core, ledger = StoredCore.of(self.core), stored_ledger(self.ledger)
            ends = self._stored_ends()
        return self.plan, self.space, self.scalar, self.core.shape[1], ledger, core, ends

    @classmethod
    def restored(
        cls,
        plan: Plan,
        space: FeatureSpace,
        scalar: bool,  # noqa: FBT001  # values come in the order of FIELDS
        m: int,
        ledger: Matrix,
        stored: StoredCore,
        ends: Matrix | None,
    ) -> Stream:
        """The stream of these values."""
        if scalar and m != 1:
            raise Mismatch(f"has {m} outcomes that are one number")
        ledger = restored_ledger(ledger, m)
        n, a = space.size + plan.intercept, plan.prior_precision
        core = stored.core(a, plan.drift, n, m, plan.discount)
        stream = cls(plan, core, ledger, space, scalar=scalar)
        stream.ends[:] = restored_ends(ends, plan.rule, m)
        return stream

    @property
    def ends(self) -> Matrix:
        """What the hint is the middle of (2, m)."""
        return self.core.work[LOW : HIGH + 1, : self.core.shape[1]]

    @contextmanager
    def closed(self) -> Iterator[list[Stream]]:
        """Keep rounds that take no lock out while the state is read or written in several steps.

        The caller puts a stream that takes the place of this one into the list: then this one
        stays closed, so that no round is learned by a stream that nobody holds any more.
        """
        at = self.core.work[AT]
        before, at[CLOSED] = at[CLOSED], 1.0
        successor = [self]
        try:
            yield successor
        except BaseException:
            successor[:] = [self]
            raise
        finally:
            if successor[-1] is self:
                at[CLOSED] = before

    def retire(self) -> None:
        """Let no round in any more: another stream takes the place of this one."""
        self.core.work[AT, CLOSED] = 1.0

    def copy(self) -> Stream:
        """A stream that shares nothing with this one."""
        with self.closed():
            return Stream(
                self.plan, self.core.extended(0), self.ledger.copy(), self.space, scalar=self.scalar
            )

    # One round ------------------------------------------------------------------------------

    def look(self, x: Row) -> Look:
        """Look at x; nothing is learned, so what is new stays new."""
        vector, new = self.space.encode(x)[:2]
        core = self.core
        seen = np.empty(core.shape[1] + 1)
        self._answer(rounds.look_at(core.factor, core.work, vector, seen), vector)
        mean, root = seen[:-1], float(seen[-1])
        for value in new.tolist():
            root = math.hypot(root, value * math.sqrt(core.prior_var()))
        if not math.isfinite(root):
            raise NumericalError("the spread at x does not fit in float64: rescale the features")
        return Look(mean, root)

    def learn(self, x: Row, y: Outcome) -> Stream:
        """Learn one round; the stream that goes on: this one, or a copy with more features."""
        ys = outcomes_like(y, self.core.shape[1], scalar=self.scalar)
        vector, new, key, missed = self.space.encode(x)
        if not new.size:
            self._learn(vector, ys)
            if missed:
                add(self.ledger, layout.MISSED, missed)
            return self
        with self.closed() as successor:
            extended = self._extended(self.space.extended(key))
            successor.append(extended._learn(np.concatenate([vector, new]), ys))
        return successor[-1]

    def _learn(self, vector: Vector, ys: Vector) -> Stream:
        self._answer(self._round(vector, ys), vector)
        return self

    def _round(self, vector: Vector, ys: Vector) -> int:
        """A compiled round, and the drift that follows it; a refused one leaves that as it was."""
        core = self.core
        at = core.work[AT]
        before = at[DRIFT]
        core.prepare()
        status = rounds.learn_any(core.factor, core.work, self.ledger, vector, ys)
        if status == OK:
            core.moved()
        else:
            at[DRIFT] = before
        return status

    def _answer(self, status: int, vector: Vector) -> None:
        """Raise what a compiled round answered."""
        if status != OK:  # all else was checked on the way in
            size = np.abs(vector).max(initial=0.0)
            raise NumericalError(
                f"the look at x does not fit in float64 (|x| = {size:.3g}, "
                f"prior_precision = {self.plan.prior_precision:.3g}): rescale the features "
                "or raise prior_precision"
            )

    def _extended(self, space: FeatureSpace) -> Stream:
        """A copy behind a larger space; what is new was 0 so far, so it is exact."""
        core = self.core.extended(space.size - self.space.size)
        ledger, a = self.ledger.copy(), self.plan.prior_precision
        if self.plan.discount is not None:
            a = 1.0 / core.prior_var()  # what is left of it
        extend(ledger, self.core.shape[0], core.shape[0], a)
        return Stream(self.plan, core, ledger, space, scalar=self.scalar)

    # Many rounds ----------------------------------------------------------------------------

    def replay(
        self, X: Table, y: Outcomes, weights: Outcomes = None, *, proved: bool = True
    ) -> tuple[Stream, Replay]:
        """Predict-then-learn over rows: the stream that goes on, and what was said and paid.

        A round of weight w is the round (sqrt(w) x, sqrt(w) y) for all that follows.
        """
        xs, space, missed = self.space.encode_rows(X)
        if not len(xs):
            raise FeatureError("X has no rows: give at least one round")
        ys = outcome_rows_like(y, len(xs), self.core.shape[1], scalar=self.scalar)
        roots = None if weights is None else _roots(weights, len(xs), self.plan)
        with self.closed() as successor:
            stream = self if space is self.space else self._extended(space)
            successor.append(stream)
            rows, core = stream._with_constant(xs), stream.core
            if roots is not None:
                counted = roots[:, 0] > 0.0
                rows, ys = (rows * roots)[counted], (ys * roots)[counted]
            fit = stream.ledger[layout.FIT].copy()  # goes on, so that cuts leave no trace
            audited = audited_before(core, stream.ledger, rows, ys)
            track = core.replay(rows, ys, fit)
            stream.ledger[layout.FIT] = fit
            stream.ledger[layout.MARK : layout.WORST + 1] = audited
            if roots is not None:
                note_weights(stream.ledger, roots[counted, 0])
            if missed:
                add(stream.ledger, layout.MISSED, missed)
            return stream, stream.book_rows(core.work, rows, ys, track, proved=proved)

    def look_rows(self, X: Table) -> tuple[Matrix, Vector]:
        """Means and root spreads at every row; nothing is learned."""
        xs, beyond = self.space.encode_known(X)
        core = self.core
        means, roots = np.empty((len(xs), core.shape[1])), np.empty(len(xs))
        failed = rounds.look_rows(core.factor, core.work, self._with_constant(xs), means, roots)
        if failed >= 0:
            self._answer(layout.OVERFLOW, xs[failed])
        with np.errstate(over="ignore"):
            roots = np.hypot(roots, beyond * math.sqrt(core.prior_var()))
        if not np.isfinite(roots).all():
            self._answer(layout.OVERFLOW, xs[int(np.argmin(np.isfinite(roots)))])
        return means, roots

    def _with_constant(self, xs: Matrix) -> Matrix:
        """The rows behind the constant feature, if there is one."""
        return np.hstack([np.ones((len(xs), 1)), xs]) if self.plan.intercept else xs

    # Two streams ----------------------------------------------------------------------------

    def merge(self, other: Stream) -> Stream:
        """The stream that one learner would have after both, in any order."""
        if not isinstance(self.core, PrimalCore) or not isinstance(other.core, PrimalCore):
            raise MergeError(
                "learners with drift cannot be merged: what a round teaches depends on when it was"
            )
        if self.plan.discount is not None:
            raise MergeError(
                "learners with a discount cannot be merged: what a round counts depends on its age"
            )
        if self.core.shape[1] != other.core.shape[1] or self.scalar != other.scalar:
            raise MergeError("the learners have different numbers of outcomes")
        named = isinstance(self.space, Names), isinstance(other.space, Names)
        if named[0] != named[1]:
            raise MergeError("one learner knows its features by name, the other by position")
        if not all(named) and self.space != other.space:
            if not isinstance(self.space, Positions):
                raise MergeError("the learners' features differ: each has a dictionary of its own")
            raise MergeError(
                f"one learner has {self.space.size} features by position, "
                f"the other {other.space.size}"
            )
        with self.closed() as successor:
            successor.append(self._merged(other))
        return successor[-1]

    def _merged(self, other: Stream) -> Stream:
        assert isinstance(self.core, PrimalCore)
        assert isinstance(other.core, PrimalCore)
        space, offset = self.space, int(self.plan.intercept)
        slots = list(range(other.space.size))
        if isinstance(space, Names) and isinstance(other.space, Names):
            space = space.extended([name for name in other.space.slots if name not in space.slots])
            slots = [space.slots[name] for name in other.space.slots]
        core = self.core.extended(space.size - self.space.size)
        places = np.array([*range(offset), *(offset + slot for slot in slots)], dtype=np.int64)
        mine, theirs = self.ledger.copy(), other.ledger.copy()
        audit.check(self.core.factor, mine, looseness(self.core))
        audit.check(other.core.factor, theirs, looseness(other.core))
        extend(mine, self.core.shape[0], core.shape[0], self.plan.prior_precision)
        _move_probe(other.core, theirs, places, core.shape[0])
        ledger = merged(mine, theirs, core.merge(other.core, places))
        both = Stream(self.plan, core, ledger, space, scalar=self.scalar)
        both.ends[:] = merged_ends(self.plan.rule, self, other)
        return both


def _move_probe(core: PrimalCore, ledger: Matrix, places: Integers, n: int) -> None:
    """Put the sums of the probe in terms of other places, without one prior.

    What they say differs from what the state says by as much as before.
    """
    m = core.shape[1]
    here, there = probe(len(places)), probe(n)[places]
    R, z = core.factor[:, :-m], core.factor[:, -m:]
    before, after = R @ here, R @ there
    add(ledger, layout.PROBE, float(after @ after) - float(before @ before))
    add(ledger, layout.PROBE, -core.prior_precision * float(there @ there))
    add(ledger, layout.CROSS, float((after - before) @ (z @ probe(m))))


def _best_norm(core: PrimalCore | DriftCore | DualCore, plan: Plan) -> float:
    """|w| of the best expert, where a statement needs it: behind a budget of features."""
    if not isinstance(core, PrimalCore) or plan.budget is None:
        return math.nan
    return float(np.linalg.norm(core.coefficients()))


def _roots(weights: Outcomes, rounds_: int, plan: Plan) -> Matrix:
    """The square roots of the rounds' weights, as a column."""
    if plan.rule.clip is not None:
        raise InputError("sample_weight: a clipped learner takes none; leave clip=None")
    if plan.rule.hinted:
        raise InputError(
            "sample_weight: a hint is about y and not about sqrt(w) y; leave hint=None, or repeat "
            "the rounds"
        )
    if plan.changing or plan.discount is not None:
        raise InputError(
            "sample_weight: experts that change do so every round, so that a round of weight 2 is "
            "not two rounds; leave drift=0 and discount=None, or repeat the rounds"
        )
    taken, scalar = outcome_table(weights, rounds_, "sample_weight")
    if not scalar or (taken < 0.0).any() or not (taken > 0.0).any():
        raise InputError("sample_weight must be one number >= 0 per row, and not every weight zero")
    return np.sqrt(taken)
