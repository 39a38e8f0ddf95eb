"""One stream being learned with a kernel: the exact core, rule and ledger together.

The same calls as stream.Stream, on a core that keeps every input (or a window of them).
A call that is refused leaves the stream as it was; every call holds the learner's lock.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from noregret._ops import layout, rounds
from noregret._ops.layout import AT, LEVEL, MEAN, NORM, PEAK, ROOT, RULE, SCALARS, Y
from noregret.errors import FeatureError, InputError, MergeError
from noregret.gaussian.cores.dual import DualCore
from noregret.gaussian.ledger import add, open_ledger
from noregret.gaussian.stream import CAREFUL, Plan, outcome_rows_like, outcomes_like
from noregret.inputs.kernel_spaces import KernelInputs
from noregret.types import Forecast, Look, Matrix, Track, Vector

__all__ = ["KernelStream"]


class KernelStream:
    """A dual core, a ledger, and how inputs and outcomes are given."""

    __slots__ = ("core", "inputs", "ledger", "plan", "scalar", "work")

    lane = CAREFUL

    def __init__(
        self, plan: Plan, core: DualCore, ledger: Matrix, inputs: KernelInputs, *, scalar: bool
    ) -> None:
        self.plan, self.core, self.ledger, self.inputs = plan, core, ledger, inputs
        self.scalar = scalar
        self.work: Matrix = np.zeros((layout.ROWS, max(core.outcomes, SCALARS)))
        self.work[AT, RULE], self.work[AT, LEVEL] = plan.rule.code, plan.rule.level

    @classmethod
    def start(cls, plan: Plan, inputs: KernelInputs, m: int, *, scalar: bool) -> KernelStream:
        """An empty stream of m outcomes a round."""
        assert plan.kernel is not None
        window = None if plan.budget is None else int(plan.budget.size)
        core = DualCore(plan.kernel, plan.prior_precision, plan.drift, m, window)
        return cls(plan, core, open_ledger(m), inputs, scalar=scalar)

    @property
    def space(self) -> Any:
        """The space that inputs come through, if they are vectors."""
        return self.inputs.space

    def copy(self) -> KernelStream:
        """A stream that shares nothing with this one."""
        return KernelStream(
            self.plan, self.core.copy(), self.ledger.copy(), self.inputs, scalar=self.scalar
        )

    @contextmanager
    def closed(self) -> Iterator[list[Any]]:
        """Nothing to do: every call holds the lock."""
        yield [self]

    def retire(self) -> None:
        """Nothing to do: every call holds the lock."""

    # One round ------------------------------------------------------------------------------

    def look(self, x: Any) -> Look:
        """Look at x; nothing is learned."""
        return self.core.look(self.inputs.encode(x))

    def forecast(self, x: Any) -> Forecast:
        """The point forecast at x."""
        look = self.look(x)
        g = self.plan.rule.forecast(look.mean[None], np.array([look.root]))[0]
        return float(g[0]) if self.scalar else g.copy()  # the look itself is kept

    def learn(self, x: Any, y: Any) -> KernelStream:
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
        return self

    # Many rounds ----------------------------------------------------------------------------

    def replay(
        self, X: Any, y: Any, weights: Any = None
    ) -> tuple[KernelStream, Track, Matrix, Vector]:
        """Predict-then-learn over rows; the stream that goes on, looks, forecasts, losses."""
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
        forecasts, losses = np.empty(ys.shape), np.empty(len(ys))
        rounds.settle(
            stream.ledger, self.work, sizes, ys, track.mean, track.root, forecasts, losses
        )
        add(stream.ledger, layout.FIT, track.fit)
        return stream, track, forecasts, losses

    def look_rows(self, X: Any) -> tuple[Matrix, Vector]:
        """Means and root spreads at every row; nothing is learned."""
        return self.core.look_rows(self.inputs.encode_rows(X))

    def merge(self, other: Any) -> KernelStream:
        """Kernel learners keep what they saw in order, and do not merge."""
        raise MergeError(
            f"kernel learners of {self.core.rounds} and {other.core.rounds} rounds cannot be "
            "merged: their factor depends on the order; give both a budget= with an explicit map"
        )


def _one_by_one(core: DualCore, xs: Any, ys: Matrix) -> Track:
    mean, root, fit = np.empty(ys.shape), np.empty(len(ys)), 0.0
    for t, (x, y) in enumerate(zip(xs, ys, strict=True)):
        look = core.look(x)
        mean[t], root[t] = look.mean, look.root
        fit += core.absorb(x, y)
    return Track(mean, root, fit)
