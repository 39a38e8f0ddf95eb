"""States whose inputs are whatever a kernel takes, vectors or objects; and that of KernelLMS."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from noregret._ops.ledger import add
from noregret.certificates import Certificate
from noregret.errors import FeatureError, NumericalError
from noregret.inputs.spaces import FeatureSpace
from noregret.inputs.values import outcome, outcome_column
from noregret.kernels import Kernel, together
from noregret.learner.fields import Array, Count, Mismatch, Part, Real
from noregret.learner.replay import Replay
from noregret.lms.comparators import Expansion, Seen, best_expansion
from noregret.lms.layer import Inputs, KernelLayer, check_patterns
from noregret.lms.rates import HIGHEST, SLOWEST
from noregret.lms.theorems import kernel_lms, kernel_lms_budgets
from noregret.lms.totals import Budgets
from noregret.types import Matrix, Outcome, Outcomes, Row, Table, Vector

__all__ = ["KernelLMSState", "LayerState"]

LOSS, PEAK = 0, 1  # rows of the book: what was paid; the largest k(x, x)


class LayerState:
    """A state on a `KernelLayer`; a child writes `copy`, `forecasts`, `run` and `certificates`."""

    __slots__ = ()

    layer: KernelLayer

    @property
    def space(self) -> FeatureSpace | None:
        """How x becomes a vector; None where inputs are objects."""
        return self.layer.inputs.space

    @property
    def rounds(self) -> int:
        """How many rounds have been learned."""
        return self.layer.rounds

    def copy(self) -> Self:
        """One that shares nothing with this one."""
        raise NotImplementedError

    def certificates(self) -> list[Certificate]:
        """Every statement that applies, the main one first."""
        raise NotImplementedError

    def forecasts(self, xs: Inputs) -> Vector:
        """Forecasts at every input; nothing is learned."""
        raise NotImplementedError

    def run(self, xs: Inputs, ys: Vector) -> tuple[Vector, Vector]:
        """Predict-then-learn over inputs, in place: forecasts and losses.

        A single round that is refused leaves all as it was.
        """
        raise NotImplementedError

    def target(self, y: Outcome) -> float:
        """The outcome as this state learns it, or an OutcomeError."""
        return outcome(y)

    def targets(self, y: Outcomes, rounds: int) -> Vector:
        """The outcomes of many rounds, or an OutcomeError."""
        return outcome_column(y, rounds)

    def predict(self, x: Row) -> float:
        """The forecast at x; nothing is learned."""
        return float(self.forecasts(together([self.layer.inputs.encode(x)]))[0])

    def learn(self, x: Row, y: Outcome) -> Self:
        """Learn one round."""
        target = self.target(y)
        self.run(together([self.layer.inputs.encode(x)]), np.array([target]))
        return self

    def predict_rows(self, X: Table) -> Vector:
        """Forecasts at every row; nothing is learned."""
        return self.forecasts(self.layer.inputs.encode_rows(X))

    def replay(self, X: Table, y: Outcomes) -> tuple[Self, Replay]:
        """Predict-then-learn over rows, on a copy."""
        xs = self.layer.inputs.encode_rows(X)
        if not len(xs):
            raise FeatureError("X has no rows: give at least one round")
        ys, after = self.targets(y, len(xs)), self.copy()
        return after, after.replayed(*after.run(xs, ys), xs, ys)

    def replayed(self, forecasts: Vector, losses: Vector, xs: Inputs, ys: Vector) -> Replay:  # noqa: ARG002  # as VectorState has it
        """What a replay gives back."""
        best = self.certificates()[0]
        return Replay(forecast=forecasts, mean=None, spread=None, loss=losses, certificate=best)


@dataclass(slots=True, eq=False)
class KernelLMSState(LayerState):
    """Everything that kernel LMS has learned."""

    kernel: Kernel  # as it was when the first round came
    layer: KernelLayer
    book: Matrix
    eta: float
    window: int  # 0: every pattern is kept
    budgets: Budgets | None
    peak: float  # X^2 that the rate relies on

    FIELDS = (
        Part("kernel", ("Kernel",)),
        Part("layer", ("KernelLayer",)),
        Array("book", (2, 2), finite=False),
        Real("eta", SLOWEST, HIGHEST),
        Count("window"),
        Real("loss_budget", 0.0, HIGHEST, of="budgets"),  # 0 where there is none
        Real("norm_budget", 0.0, HIGHEST, of="budgets"),
        Real("peak", 1e-300, HIGHEST),
    )

    def stored(self) -> tuple[object, ...]:
        """The values of FIELDS."""
        given = (0.0, 0.0) if self.budgets is None else (self.budgets.loss, self.budgets.norm)
        return self.kernel, self.layer, self.book, self.eta, self.window, *given, self.peak

    @classmethod
    def restored(
        cls,
        kernel: Kernel,
        layer: KernelLayer,
        book: Matrix,
        eta: float,
        window: int,
        loss: float,
        norm: float,
        peak: float,
    ) -> KernelLMSState:
        """The state of these values."""
        if len(layer.coefs) != 1:
            raise Mismatch(f"has {len(layer.coefs)} functions")
        if not (0.0 <= book[PEAK, 0] < math.inf and book[LOSS, 0] >= 0.0):
            raise Mismatch("has an invalid loss or peak")
        if (loss > 0.0) != (norm > 0.0):
            raise Mismatch("has one budget without the other")
        check_patterns(layer.facts, layer.rounds, window)
        return cls(kernel, layer, book, eta, window, Budgets(loss, norm) if norm else None, peak)

    def copy(self) -> KernelLMSState:
        """One that shares nothing with this one."""
        return replace(self, layer=self.layer.copy(), book=self.book.copy())

    def forecasts(self, xs: Inputs) -> Vector:
        """The function learned so far at every input."""
        found: Vector = self.layer.outputs([self.kernel], xs)[0]
        if not np.isfinite(found).all():
            raise NumericalError(
                "the forecast at x does not fit in float64: lower learning_rate, or rescale the "
                "kernel"
            )
        return found

    def run(self, xs: Inputs, ys: Vector) -> tuple[Vector, Vector]:
        """Predict-then-learn over inputs, in place."""
        raws, peak = self.layer.learn([self.kernel], xs, ys, self.eta, self.window)
        losses = (ys - raws[:, 0]) ** 2
        for loss in losses.tolist():
            add(self.book, LOSS, loss)
        self.book[PEAK, 0] = max(self.book[PEAK, 0], peak)
        return raws[:, 0].copy(), losses

    def seen(self) -> Seen:
        """The stream as comparators see it."""
        layer = self.layer
        return Seen.of(layer.patterns(), layer.facts, complete=layer.forgotten == 0.0)

    def best(self, norm: float | None = None) -> Expansion:
        """argmin L(h)/(1 - eta X^2) + |h|^2/eta: kernel ridge with a = (1 - eta X^2)/eta."""
        room = 1.0 - self.eta * float(self.book[PEAK, 0])
        a = max(room, 1e-12) / self.eta if norm is None else 1e-12
        return best_expansion(self.kernel.cross, self.seen(), a, None, norm)

    def certificates(self, comparator: Expansion | None = None) -> list[Certificate]:
        """For every h; shown for the best in hindsight, or for the one given."""
        k, seen, h = self.kernel.cross, self.seen(), comparator
        loss, peak = math.fsum(self.book[LOSS]), float(self.book[PEAK, 0])
        found = [kernel_lms(k, seen, h or self.best(), self.rounds, loss, self.eta, peak)]
        if self.budgets is not None:
            h = h or self.best(self.budgets.norm)
            paid = self.rounds, loss, peak, self.peak
            found.insert(0, kernel_lms_budgets(k, seen, h, *paid, self.budgets))
        return found
