"""KernelLMS as its users see it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from noregret.budgets import Window
from noregret.certificates import Certificate
from noregret.declare.fields import Group
from noregret.inputs.kernel_spaces import KernelInputs
from noregret.inputs.spaces import FeatureSpace
from noregret.kernels import Kernel
from noregret.lms.base import LMSLearner
from noregret.lms.comparators import Expansion
from noregret.lms.layer import KernelLayer
from noregret.lms.rates import budgets_of, rate_of, window_of
from noregret.lms.state import KernelLMSState

__all__ = ["KernelLMS"]


class KernelLMS(LMSLearner[KernelLMSState]):
    """Gradient descent in the space of one kernel: f <- f + eta (y - f(x)) k(x, .).

    For every h, loss <= L(h)/(1 - eta X^2) + |h|^2/eta where X^2 is the largest k(x, x) and
    eta X^2 < 1 (Cesa-Bianchi, Long and Warmuth 1996): no assumption on outcomes, no inverse.

    Cost per round: a kernel value and a product for each distinct pattern kept, one number each.
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

    STATE = Group("state", KernelLMSState)

    def __init__(
        self,
        kernel: str | Callable[..., object],
        learning_rate: float | None = None,
        *,
        loss_budget: float | None = None,
        norm_budget: float | None = None,
        peak: float = 1.0,
        budget: Window | None = None,
    ) -> None:
        self.kernel = kernel
        self.learning_rate = learning_rate
        self.loss_budget = loss_budget
        self.norm_budget = norm_budget
        self.peak = peak
        self.budget = budget

    def _start(self, space: FeatureSpace | None) -> KernelLMSState:
        kernel, peak = Kernel(self.kernel), self._checked("peak")
        budgets = budgets_of(self.loss_budget, self.norm_budget)
        eta, window = rate_of(self.learning_rate, budgets, peak), window_of(self.budget)
        layer = KernelLayer.start(KernelInputs(space), 1)
        return KernelLMSState(kernel, layer, np.zeros((2, 2)), eta, window, budgets, peak)

    def _vectors(self) -> bool:
        return bool(Kernel(self.kernel).vectors)

    # What was learned -----------------------------------------------------------------------

    def expansion(self) -> Expansion:
        """The function learned so far."""
        with self._lock:
            layer = self._learned().layer
            return Expansion(layer.patterns().copy(), layer.coefs[0, : layer.size].copy())

    def hindsight(self, *, norm: float | None = None) -> Expansion:
        """The h that makes the certificate's right side least, or the best with |h| <= norm."""
        with self._lock:
            return self._learned().best(norm)

    def certificates(self, *, comparator: Expansion | None = None) -> list[Certificate]:
        """L <= L(h)/(1 - eta X^2) + |h|^2/eta for every h; with budgets, first the one they make.

        Shown for the best h in hindsight, or for the one given.
        """
        with self._lock:
            return self._learned().certificates(comparator)
