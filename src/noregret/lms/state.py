"""States whose inputs are whatever a kernel takes, vectors or objects; and that of KernelLMS."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from noregret._native.ledger import add
from noregret.certificates import Certificate
from noregret.declare.fields import Array, Count, Part, Real, require
from noregret.errors import FeatureError, NumericalError
from noregret.inputs.spaces import FeatureSpace
from noregret.kernels import Kernel, together
from noregret.learner.replay import Replay
from noregret.learner.state import VectorState
from noregret.lms.comparators import Expansion, Seen, best_expansion
from noregret.lms.layer import Inputs, KernelLayer, check_patterns
from noregret.lms.rates import HIGHEST, SLOWEST
from noregret.lms.theorems import kernel_lms, kernel_lms_budgets
from noregret.lms.totals import Budgets, Totals
from noregret.types import Matrix, Outcome, Outcomes, Row, Table, Vector

__all__ = ["KernelLMSState", "LayerState"]

LOSS, PEAK = 0, 1  # rows of the book: what was paid; the largest k(x, x)


class LayerState(VectorState):
    """A state on a `KernelLayer`; a child writes `copy`, `forecasts`, `run` and `certificates`."""

    __slots__ = ()

    layer: KernelLayer

    @property
    def space(self) -> FeatureSpace | None:  # type: ignore[override]  # objects have no space
        """How x becomes a vector; None where inputs are objects."""
        return self.layer.inputs.space

    @property
    def rounds(self) -> int:
        """How many rounds have been learned."""
        return self.layer.rounds

    @property
    def size(self) -> int:
        """How many patterns are kept."""
        return self.layer.size

    def seen(self) -> Seen:
        """The stream as comparators see it."""
        layer = self.layer
        return Seen.of(layer.patterns(), layer.facts, complete=layer.forgotten == 0.0)

    def forecasts(self, xs: Inputs) -> Vector:
        """Forecasts at every input; nothing is learned."""
        raise NotImplementedError

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


Settings = tuple[float, int, float, float, float]
"""eta, window, budgets of loss and norm, and the largest k(x, x), as files keep them."""


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
        cls, kernel: Kernel, layer: KernelLayer, book: Matrix, *settings: *Settings
    ) -> KernelLMSState:
        """The state of these values."""
        eta, window, loss, norm, peak = settings
        require(len(layer.coefs) == 1, f"has {len(layer.coefs)} functions")
        paid = 0.0 <= book[PEAK, 0] < math.inf and book[LOSS, 0] >= 0.0
        require(paid, "has an invalid loss or peak")
        require((loss > 0.0) == (norm > 0.0), "has one budget without the other")
        check_patterns(layer.facts, layer.rounds, window)
        return cls(kernel, layer, book, eta, window, Budgets(loss, norm) if norm else None, peak)

    def copy(self) -> KernelLMSState:
        """One that shares nothing with this one."""
        return replace(self, layer=self.layer.copy(), book=self.book.copy())

    def forecasts(self, xs: Inputs) -> Vector:
        """The function learned so far at every input."""
        found: Vector = self.layer.outputs([self.kernel], xs)[0]
        if not all(map(math.isfinite, found.tolist())):
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

    def best(self, norm: float | None = None) -> Expansion:
        """argmin L(h)/(1 - eta X^2) + |h|^2/eta: kernel ridge with a = (1 - eta X^2)/eta."""
        room = 1.0 - self.eta * float(self.book[PEAK, 0])
        a = max(room, 1e-12) / self.eta if norm is None else 1e-12
        return best_expansion(self.kernel.cross, self.seen(), a, None, norm)

    def certificates(self, comparator: Expansion | None = None) -> list[Certificate]:
        """For every h; shown for the best in hindsight, or for the one given."""
        k, seen, h = self.kernel.cross, self.seen(), comparator
        t = Totals(self.rounds, math.fsum(self.book[LOSS]), self.eta, float(self.book[PEAK, 0]))
        found = [kernel_lms(k, seen, h or self.best(), t)]
        if self.budgets is not None:
            h = h or self.best(self.budgets.norm)
            found.insert(0, kernel_lms_budgets(k, seen, h, t, self.peak, self.budgets))
        return found
