"""One stream being learned with a kernel: the exact core, rule and ledger together.

The same calls as stream.Stream, on a core that keeps every input (or a window of them).
A call that is refused leaves the stream as it was; every call holds the learner's lock.
"""

from __future__ import annotations

import math
import sys

import numpy as np

from noregret._native import layout, rounds
from noregret._native.layout import AT, HIGH, LEVEL, LOW, MEAN, NORM, PEAK, ROOT, RULE, SCALARS, Y
from noregret.budgets import Window
from noregret.declare.fields import Array, Count, Mismatch, Part, Points, Real, Truth
from noregret.errors import FeatureError, InputError, MergeError, NoRegretError
from noregret.gaussian.cores.dual import DualCore
from noregret.gaussian.hints import restored_ends
from noregret.gaussian.ledger import add, open_ledger, restored_ledger, stored_ledger
from noregret.gaussian.outcomes import outcome_rows_like, outcomes_like
from noregret.gaussian.stream import (
    MOST,
    GaussianStream,
    Plan,
)
from noregret.inputs.kernel_spaces import KernelInputs
from noregret.inputs.spaces import FeatureSpace
from noregret.kernels import Inputs
from noregret.learner.replay import Replay
from noregret.types import Look, Matrix, Outcome, Outcomes, Row, Table, Track, Vector

__all__ = ["KernelStream"]


class KernelStream(GaussianStream):
    """A dual core, a ledger, and how inputs and outcomes are given."""

    __slots__ = ("core", "inputs", "ledger", "plan", "scalar", "work")

    FIELDS = (
        Part("plan", ("Plan",)),
        Part("inputs", ("Inputs",)),
        Truth("scalar"),
        Count("outcomes", 1, MOST, of="core"),
        Count("rounds", of="core"),
        Count("size", 1, of="core"),
        Real("prior", 0.0, sys.float_info.max, of="core"),
        Real("priors", 0.0, of="core"),
        Array("ledger", ("rows", 2), finite=False),
        Points("points", of="core"),
        Array("triangle", ("packed",), of="core"),
        Array("z", ("t", "m"), of="core"),
        Array("row_priors", ("t",), of="core"),
        Array("hint", (2, "m"), of="work", optional=True, later=True),
    )
    core: DualCore

    def __init__(
        self, plan: Plan, core: DualCore, ledger: Matrix, inputs: KernelInputs, *, scalar: bool
    ) -> None:
        self.plan, self.core, self.ledger, self.inputs = plan, core, ledger, inputs
        self.scalar = scalar
        self.work: Matrix = np.zeros((layout.ROWS, max(core.outcomes, SCALARS)))
        self.work[AT, RULE], self.work[AT, LEVEL] = plan.rule.code, plan.rule.level
        if plan.rule.code == layout.AROUND:
            self.ends[:] = plan.rule.level

    @classmethod
    def start(cls, plan: Plan, inputs: KernelInputs, m: int, *, scalar: bool) -> KernelStream:
        """An empty stream of m outcomes per round."""
        return cls(plan, _core(plan, m), open_ledger(m), inputs, scalar=scalar)

    def stored(self) -> tuple[object, ...]:
        """The values of FIELDS, without the room that arrays have to grow."""
        core = self.core
        counts = core.outcomes, core.rounds, core.size, core.prior, core.priors
        points = self.inputs.stored_points(core.inputs)
        ledger = stored_ledger(self.ledger)
        rows = *core.rows(), self._stored_ends()
        return self.plan, self.inputs, self.scalar, *counts, ledger, points, *rows

    @classmethod
    def restored(
        cls,
        plan: Plan,
        inputs: KernelInputs,
        scalar: bool,  # noqa: FBT001  # values come in the order of FIELDS
        m: int,
        counted: int,
        size: int,
        prior: float,
        priors: int,
        ledger: Matrix,
        stored: object,
        *rest: *tuple[Vector, Matrix, Vector, Matrix | None],
    ) -> KernelStream:
        """The stream of these values."""
        *rows, ends = rest
        if plan.kernel is None or not isinstance(plan.budget, Window | None):
            raise Mismatch("has no kernel, or a budget that makes no sense")
        if scalar and m != 1:
            raise Mismatch(f"has {m} outcomes that are one number")
        try:
            core = _core(plan, m)
        except NoRegretError as wrong:
            raise Mismatch(f"has a budget that makes no sense: {wrong}") from None
        kept = range(1, min(counted, core.window) + 1) if core.window else [counted]
        if size not in kept:
            raise Mismatch(f"keeps {size} of {counted} rounds")
        ledger = restored_ledger(ledger, m)
        points = inputs.restored_points(stored)
        shapes = [(size * (size + 1) // 2,), (size, m), (size,)]
        if len(points) != size or [row.shape for row in rows] != shapes:
            raise Mismatch(f"has {len(points)} inputs or other rows for {size} rounds")
        core.rounds, core.size, core.prior, core.priors = counted, size, prior, priors
        core.go_on(points, *rows)
        stream = cls(plan, core, ledger, inputs, scalar=scalar)
        stream.ends[:] = restored_ends(ends, plan.rule, m)
        return stream

    @property
    def ends(self) -> Matrix:
        """What the hint is the middle of (2, m)."""
        return self.work[LOW : HIGH + 1, : self.core.outcomes]

    @property
    def space(self) -> FeatureSpace | None:
        """The space that inputs come through, if they are vectors."""
        return self.inputs.space

    def copy(self) -> KernelStream:
        """A stream that shares nothing with this one."""
        twin = KernelStream(
            self.plan, self.core.copy(), self.ledger.copy(), self.inputs, scalar=self.scalar
        )
        twin.ends[:] = self.ends
        return twin

    # One round ------------------------------------------------------------------------------

    def look(self, x: Row) -> Look:
        """Look at x; nothing is learned."""
        return self.core.look(self.inputs.encode(x))

    def learn(self, x: Row, y: Outcome) -> KernelStream:
        """Learn one round."""
        m = self.core.outcomes
        ys = outcomes_like(y, m, scalar=self.scalar)
        point = self.inputs.encode(x)
        look = self.core.look(point)
        size = math.sqrt(max(self.core.peak, 0.0))
        fit = self.core.absorb(point, ys)
        at = self.work[AT]
        at[ROOT], at[NORM], at[PEAK] = look.root, size, size
        self.work[MEAN, :m], self.work[Y, :m] = look.mean, ys
        rounds.book(self.ledger, self.work, fit)
        self._note_excess()
        return self

    def _note_excess(self) -> None:
        """Keep the worst k(x, z)^2 > k(x, x) k(z, z), and up to which round it was seen."""
        if self.core.excess > max(self.ledger[layout.WORST, 0], 1.0):
            self.ledger[layout.WORST] = self.core.excess, self.rounds

    # Many rounds ----------------------------------------------------------------------------

    def replay(
        self, X: Table, y: Outcomes, weights: Outcomes = None, *, proved: bool = True
    ) -> tuple[KernelStream, Replay]:
        """Predict-then-learn over rows: the stream that goes on, and what was said and paid."""
        if weights is not None:
            raise InputError(
                "sample_weight: a kernel learner takes none; repeat the rounds, or give it a "
                "budget= with an explicit map"
            )
        xs = self.inputs.encode_rows(X)
        if not len(xs):
            raise FeatureError("X has no rows: give at least one round")
        ys = outcome_rows_like(y, len(xs), self.core.outcomes, scalar=self.scalar)
        sizes = np.sqrt(np.maximum(self.core.kernel.diagonal(xs), 0.0))[:, None]
        stream = self
        if self.core.window is None:
            track = self.core.replay(xs, ys)
        else:
            stream = self.copy()
            track = _one_by_one(stream.core, xs, ys)
        add(stream.ledger, layout.FIT, track.fit)
        replay = stream.book_rows(stream.work, sizes, ys, track, proved=proved)
        stream._note_excess()
        return stream, replay

    def look_rows(self, X: Table) -> tuple[Matrix, Vector]:
        """Means and root spreads at every row; nothing is learned."""
        return self.core.look_rows(self.inputs.encode_rows(X))

    def merge(self, other: GaussianStream) -> KernelStream:
        """Kernel learners keep what they saw in order, and do not merge."""
        raise MergeError(
            f"kernel learners of {self.rounds} and {other.rounds} rounds cannot be "
            "merged: their factor depends on the order; give both a budget= with an explicit map"
        )


def _core(plan: Plan, m: int) -> DualCore:
    """An empty core of m outcomes."""
    assert plan.kernel is not None
    window = None
    if isinstance(plan.budget, Window):
        plan.budget.check()
        window = int(plan.budget.size)
    return DualCore(plan.kernel, plan.prior_precision, plan.drift, m, window)


def _one_by_one(core: DualCore, xs: Inputs, ys: Matrix) -> Track:
    mean, root, fit, excess = np.empty(ys.shape), np.empty(len(ys)), 0.0, 0.0
    for t, (x, y) in enumerate(zip(xs, ys, strict=True)):
        look = core.look(x)
        mean[t], root[t] = look.mean, look.root
        excess = max(excess, core.excess)
        fit += core.absorb(x, y)
    core.excess = excess
    return Track(mean, root, fit)
