"""KLMSNet as its users see it."""

from __future__ import annotations

import numpy as np

from noregret.budgets import Window
from noregret.certificates import Certificate
from noregret.declare.fields import Part
from noregret.errors import ParameterError, abbreviated
from noregret.inputs.kernel_spaces import KernelInputs
from noregret.inputs.spaces import FeatureSpace
from noregret.lms.base import LMSLearner
from noregret.lms.comparators import Expansion
from noregret.lms.family_net import Family, FamilyNetState
from noregret.lms.gaussian_net import GaussianNetState
from noregret.lms.layer import KernelLayer
from noregret.lms.net_state import NetReplay, opened
from noregret.lms.nodes import grid, nodes_for
from noregret.lms.rates import budgets_of, rate_of, window_of
from noregret.lms.totals import NetTotals, totals_of
from noregret.losses import span
from noregret.types import Vector

__all__ = ["KLMSNet", "NetReplay"]

AnyNet = GaussianNetState | FamilyNetState


class KLMSNet(LMSLearner[AnyNet]):
    """Kernel LMS for every width alpha in [0, 1] of exp(-s0 alpha |x - z|^2), merged.

    The user never chooses a width: exponential weights over all of them pay at most
    2 (hi-lo)^2 ln(1/w_j) more than width j ever would have (Herbster 2004).

    Two accuracies.  The widths are `nodes` points of a quadrature rule with positive weights w_j,
    and the guarantee of this finite mixture is exact: no quadrature in it.  How far forecasts are
    from the integral over all widths is estimated by rules with four times the nodes, at which
    outputs are interpolated: `error_` is the largest distance so far.

    Cost per round: nodes times distinct patterns, and as many numbers; 8 nodes^2 for the audit.
    A pattern seen before takes no more memory.

    Parameters
    ----------
    outcome_range : Y for [-Y, Y], or (lo, hi); an outcome outside is refused.
    scale : s0; the narrowest kernel is exp(-s0 |x - z|^2).
    learning_rate : eta in (0, 1); None: from the budgets, or 1/2, with which every width's loss is
        at most 2 L(h) + 2|h|^2 for every h of its kernel.
    loss_budget, norm_budget : L-hat and H-hat of Theorems 1 and 2; eta = 1/(1 + sqrt(L^)/H^).
    nodes : how many widths.
    tolerance : instead of `nodes`: as many as are known, before the stream, to keep the
        quadrature error below it for inputs in the box `domain`; see `error_` for what came true.
    substitution : merge by the Aggregating Algorithm's substitution: (hi-lo)^2/2 per nat.
    family : a callable (alpha, X, Z) -> matrix instead of Gaussian kernels, inputs of any kind.
    budget : Window(size) keeps the patterns met last.  The guarantee is then about widths that
        forget, and statements about expansions become reports.
    domain : (x1, x2), the box [x1, x2]^n of Theorem 2 and of `tolerance`.
    audit : whether to estimate the quadrature error.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(300, 1))
    >>> y = np.sign(np.sin(20.0 * X[:, 0]))
    >>> net = KLMSNet(1.0, scale=300.0)
    >>> replay = net.replay(X, y)
    >>> float(replay.loss[:100].mean().round(2)), float(replay.loss[-100:].mean().round(2))
    (0.4, 0.14)
    >>> net.certificate().holds, net.error_ < 1e-3
    (True, True)
    >>> net.learn_one([0.5], 2.0)
    Traceback (most recent call last):
    noregret.errors.OutcomeError: round 301: y = 2.0 is outside outcome_range = [-1.0, 1.0]: \
give a range that holds every outcome, or clip it yourself
    """

    STATE = Part("net", ("Gaussians", "KernelFamily"))

    def __init__(
        self,
        outcome_range: float | tuple[float, float],
        *,
        scale: float = 1.0,
        learning_rate: float | None = None,
        loss_budget: float | None = None,
        norm_budget: float | None = None,
        nodes: int = 64,
        tolerance: float | None = None,
        substitution: bool = False,
        family: Family | None = None,
        budget: Window | None = None,
        domain: tuple[float, float] = (0.0, 1.0),
        audit: bool = True,
    ) -> None:
        self.outcome_range = outcome_range
        self.scale = scale
        self.learning_rate = learning_rate
        self.loss_budget = loss_budget
        self.norm_budget = norm_budget
        self.nodes = nodes
        self.tolerance = tolerance
        self.substitution = substitution
        self.family = family
        self.budget = budget
        self.domain = domain
        self.audit = audit

    # From parameters to a state -------------------------------------------------------------

    def _start(self, space: FeatureSpace | None) -> AnyNet:
        limits = span(self.outcome_range)
        if limits is None:
            raise ParameterError("outcome_range = None: give Y for [-Y, Y], or (lo, hi)")
        scale, budgets = self._checked("scale"), budgets_of(self.loss_budget, self.norm_budget)
        eta, (low, high) = rate_of(self.learning_rate, budgets), self._domain()
        flags = {name: self._checked(name) for name in ("substitution", "audit")}
        n = 0 if space is None or self.family is not None else space.size
        rule = grid(self._count(limits[1] - limits[0], scale * n * (high - low) ** 2))
        nodes = opened(rule, limits, eta, budgets, window=window_of(self.budget), **flags)
        if self.family is None:
            if eta >= 1.0:
                raise ParameterError(
                    f"learning_rate = {abbreviated(eta)}: it must be below 1, as k(x, x) = 1"
                )
            assert space is not None
            return GaussianNetState.start(nodes, scale, space)
        if not callable(self.family):
            raise ParameterError(
                f"family = {abbreviated(self.family)}: give a callable (alpha, X, Z) -> matrix"
            )
        layer = KernelLayer.start(KernelInputs(space), rule.alphas.size)
        return FamilyNetState(*nodes, self.family, layer)

    def _vectors(self) -> bool:
        return self.family is None

    def _count(self, width: float, spread: float) -> int:
        if self.tolerance is not None:
            return nodes_for(self._checked("tolerance"), width, spread)
        nodes: int = self._checked("nodes")
        return nodes

    def _domain(self) -> tuple[float, float]:
        try:
            limits = span(self.domain) if isinstance(self.domain, tuple | list) else None
        except ParameterError:
            limits = None
        if limits is None:
            raise ParameterError(
                f"domain = {abbreviated(self.domain)}: give the pair (x1, x2) of the box, x1 < x2"
            )
        return limits

    def _takes(self, y: float) -> bool:
        """Whether a round is sure to be learned whose x has just been forecast."""
        net = self._state
        return isinstance(net, GaussianNetState) and net.has_room() and net.in_range(y)

    # What was learned -----------------------------------------------------------------------

    def _totals(self) -> NetTotals:
        with self._lock:
            return totals_of(self._learned())

    @property
    def error_(self) -> float | None:
        """Largest distance so far between a forecast and the audit's; None without the audit.

        An estimate of the distance from the integral, not a bound; too large rather than too small
        where the nodes are too few for the outputs to be interpolated.
        """
        with self._lock:
            net = self._learned()
            return net.error if net.finer.size else None

    @property
    def widths_(self) -> Vector:
        """alpha of every node."""
        return self._totals().alphas.copy()

    @property
    def weights_(self) -> Vector:
        """The posterior weights of the widths, adding up to 1."""
        t = self._totals()
        logs = np.log(t.weights) - (t.paid - t.paid.min()) / t.price
        found = np.exp(logs - logs.max())
        return np.asarray(found / found.sum())

    @property
    def losses_(self) -> Vector:
        """What every width has paid, its outputs clipped."""
        return self._totals().paid

    def hindsight(self, width: float | None = None, *, norm: float | None = None) -> Expansion:
        """The best expansion at a width alpha: kernel ridge with a = (1 - eta X^2)/eta.

        It makes L(h)/(1 - eta X^2) + |h|^2/eta least; with `norm`, the best with |h| <= norm.
        Without a width, that of the node which has paid least.
        """
        with self._lock:
            return self._learned().best(width, norm)

    def certificates(self, *, comparator: Expansion | None = None) -> list[Certificate]:
        """The finite mixture in three forms, L <= min_j (L_j + c ln 1/w_j) the first.

        For a given expansion, Theorems 1 and 2 too.
        """
        with self._lock:
            return self._learned().certificates(comparator, self._domain())
