"""KernelLMS as its users see it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from noregret._ops.ledger import add
from noregret.certificates import Certificate
from noregret.errors import FeatureError, NumericalError
from noregret.gaussian.base import NotFitted, positive
from noregret.inputs.kernel_spaces import KernelInputs
from noregret.inputs.values import as_frame, outcome, outcome_column
from noregret.kernels import Kernel, together
from noregret.learner.holder import Holder
from noregret.learner.replay import Replay
from noregret.lms.build import inputs_for_many, inputs_for_one
from noregret.lms.comparators import Expansion, Seen, best_expansion
from noregret.lms.kernels import KernelLayer
from noregret.lms.rates import budgets_of, rate_of, window_of
from noregret.lms.theorems import kernel_lms, kernel_lms_budgets
from noregret.lms.totals import Budgets
from noregret.types import Matrix, Vector

__all__ = ["KernelLMS"]

LOSS, PEAK = 0, 1  # rows of the book: what was paid; the largest k(x, x)


@dataclass(slots=True, eq=False)
class Held:
    """Everything that kernel LMS has learned."""

    kernel: Kernel  # as it was when the first round came
    layer: KernelLayer
    book: Matrix
    eta: float
    window: int
    budgets: Budgets | None
    peak: float  # X^2 that the rate relies on

    def copy(self) -> Held:
        """One that shares nothing with this one."""
        return replace(self, layer=self.layer.copy(), book=self.book.copy())

    def outputs(self, xs: Any) -> Vector:
        """The function learned so far at every input."""
        found: Vector = self.layer.outputs([self.kernel], xs)[0]
        return found

    def seen(self) -> Seen:
        """The stream as comparators see it."""
        rounds = float(self.layer.facts[: self.layer.size, 0].sum())
        complete = rounds == self.layer.rounds
        return Seen.of(self.layer.patterns(), self.layer.facts, complete=complete)


class KernelLMS(RegressorMixin, Holder):  # type: ignore[misc]  # scikit-learn is untyped
    """Gradient descent in the space of one kernel: f <- f + eta (y - f(x)) k(x, .).

    For every h, loss <= L(h)/(1 - eta X^2) + |h|^2/eta where X^2 is the largest k(x, x) and
    eta X^2 < 1 (Cesa-Bianchi, Long and Warmuth 1996): no assumption on outcomes, no inverse.

    Cost: one kernel value and one product a round for each distinct pattern kept, one number each.
    A pattern seen before costs no memory.  A certificate solves for the best h among expansions on
    at most 512 patterns.

    Parameters
    ----------
    kernel : any callable k(X, Z) -> matrix, or a name, as for Ridge.
    learning_rate : eta; None: from the budgets, or 1/(2 peak).
    loss_budget, norm_budget : L-hat and H-hat.  With them eta = 1/((1 + sqrt(L^)/(H^ X)) X^2), and
        the regret against any h with L(h) <= L^, |h| <= H^ is at most 2 sqrt(L^) H^ X + H^2 X^2.
    peak : X^2, a bound on k(x, x) that the rate relies on where it is not given.
    budget : Window(size) keeps the patterns met last; certificates then are reports.

    >>> import numpy as np
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> X = np.linspace(0.0, 1.0, 200)[:, None]
    >>> learner = KernelLMS(RBF(0.2), 0.5).fit(X, np.sin(6.0 * X[:, 0]))
    >>> round(learner.predict_one([0.9]), 2)
    -0.64
    >>> print(learner.certificate().holds)
    True
    """

    _state: Held | None

    def __init__(
        self,
        kernel: Any,
        learning_rate: float | None = None,
        *,
        loss_budget: float | None = None,
        norm_budget: float | None = None,
        peak: float = 1.0,
        budget: Any = None,
    ) -> None:
        self.kernel = kernel
        self.learning_rate = learning_rate
        self.loss_budget = loss_budget
        self.norm_budget = norm_budget
        self.peak = peak
        self.budget = budget

    def _begin(self, kernel: Kernel, inputs: KernelInputs) -> Held:
        budgets = budgets_of(self.loss_budget, self.norm_budget)
        peak = positive("peak", self.peak)
        eta = rate_of(self.learning_rate, budgets, peak)
        layer, book = KernelLayer.start(inputs, 1), np.zeros((2, 2))
        return Held(kernel, layer, book, eta, window_of(self.budget), budgets, peak)

    def _learned(self) -> Held:
        if self._state is None or not self._state.layer.rounds:
            raise NotFitted("this KernelLMS has learned nothing yet: call learn_one or fit first")
        return self._state

    def _for_one(self, x: Any) -> Held:
        if self._state is not None:
            return self._state
        kernel = Kernel(self.kernel)
        return self._begin(kernel, inputs_for_one(x, vectors=bool(kernel.vectors)))

    # One round ------------------------------------------------------------------------------

    def predict_one(self, x: Any) -> float:
        """Forecast the outcome at x: whatever the kernel takes."""
        with self._lock:
            held = self._for_one(x)
            point = held.layer.inputs.encode(x)
            return _finite(float(held.outputs(together([point]))[0]))

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn that x had the outcome y."""
        with self._lock:
            held = self._for_one(x)
            value = outcome(y)
            point = held.layer.inputs.encode(x)
            self._rounds(held, together([point]), np.array([value]))
            self._state = held

    def _rounds(self, held: Held, xs: Any, ys: Vector) -> tuple[Vector, Vector]:
        raws, peak = held.layer.learn([held.kernel], xs, ys, held.eta, held.window)
        losses = (ys - raws[:, 0]) ** 2
        for loss in losses.tolist():
            add(held.book, LOSS, loss)
        held.book[PEAK, 0] = max(held.book[PEAK, 0], peak)
        return raws[:, 0], losses

    # Many rounds ----------------------------------------------------------------------------

    def replay(self, X: Any, y: Any) -> Replay:
        """Predict-then-learn over all rows, as the loop would go."""
        with self._lock:
            return self._run(self._state, X, y)

    def _run(self, held: Any, X: Any, y: Any) -> Replay:
        X = as_frame(X)
        if held is None:
            kernel = Kernel(self.kernel)
            held = self._begin(kernel, inputs_for_many(X, vectors=bool(kernel.vectors)))
        xs = held.layer.inputs.encode_rows(X)
        if not len(xs):
            raise FeatureError("X has no rows: give at least one round")
        ys = outcome_column(y, len(xs))
        after = held.copy()
        forecasts, losses = self._rounds(after, xs, ys)
        self._state = after
        library = type(X).__module__.partition(".")[0]
        return Replay(
            forecast=forecasts.copy(),
            mean=None,
            spread=None,
            loss=losses,
            certificate=self._certificates(after)[0],
            library=library if library in ("pandas", "polars") else "pandas",
        )

    def predict(self, X: Any) -> Vector:
        """Forecasts at every row, from what has been learned so far; nothing is learned."""
        with self._lock:
            held = self._learned()
            forecasts = held.outputs(held.layer.inputs.encode_rows(X))
            for t in np.flatnonzero(~np.isfinite(forecasts))[:1]:
                _finite(float(forecasts[t]))
            return forecasts

    # What was learned -----------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = self.budget is not None  # a window forgets
        return tags

    @property
    def n_samples_seen_(self) -> int:
        """How many rounds have been learned."""
        with self._lock:
            return self._learned().layer.rounds

    @property
    def n_features_in_(self) -> int:
        """How many features an input has, where inputs are vectors."""
        space = self._learned().layer.inputs.space
        if space is None:
            raise NotFitted("inputs are objects, which have no number of features")
        return space.size

    @property
    def learning_rate_(self) -> float:
        """eta."""
        return self._learned().eta

    @property
    def patterns_(self) -> int:
        """How many distinct patterns are kept."""
        return self._learned().layer.size

    def expansion(self) -> Expansion:
        """The function learned so far."""
        with self._lock:
            layer = self._learned().layer
            return Expansion(layer.patterns().copy(), layer.coefs[0, : layer.size].copy())

    def hindsight(self, *, norm: float | None = None) -> Expansion:
        """The h that makes the certificate's right side least, or the best with |h| <= norm."""
        with self._lock:
            return self._best(self._learned(), norm)

    def _best(self, held: Held, norm: float | None) -> Expansion:
        """argmin L(h)/(1 - eta X^2) + |h|^2/eta: kernel ridge with a = (1 - eta X^2)/eta."""
        room = 1.0 - held.eta * float(held.book[PEAK, 0])
        a = max(room, 1e-12) / held.eta if norm is None else 1e-12
        return best_expansion(held.kernel.cross, held.seen(), a, None, norm)

    def certificates(self, *, comparator: Expansion | None = None) -> list[Certificate]:
        """For every h; shown for the best in hindsight, or for the one given."""
        with self._lock:
            return self._certificates(self._learned(), comparator)

    def certificate(self, *, comparator: Expansion | None = None) -> Certificate:
        """L <= L(h)/(1 - eta X^2) + |h|^2/eta; with budgets, the one that they make."""
        return self.certificates(comparator=comparator)[0]

    def _certificates(self, held: Held, h: Expansion | None = None) -> list[Certificate]:
        k, seen, rounds = held.kernel.cross, held.seen(), held.layer.rounds
        loss, peak = math.fsum(held.book[LOSS]), float(held.book[PEAK, 0])
        best = self._best(held, None) if h is None else h
        found = [kernel_lms(k, seen, best, rounds, loss, held.eta, peak)]
        if held.budgets is not None:
            best = self._best(held, held.budgets.norm) if h is None else h
            given, budgets = held.peak, held.budgets
            found.insert(0, kernel_lms_budgets(k, seen, best, rounds, loss, peak, given, budgets))
        return found


def _finite(forecast: float) -> float:
    if not math.isfinite(forecast):
        raise NumericalError(
            "the forecast at x does not fit in float64: lower learning_rate, or rescale the kernel"
        )
    return forecast
