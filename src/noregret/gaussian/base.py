"""A Gaussian learner as its users see it: one round, many rounds, what was learned, proofs.

Threads that share a learner learn in some serial order: a compiled round is one step for all
other threads, and whatever takes several steps holds the lock and closes the state to rounds
that take none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from noregret._native import layout
from noregret.budgets import Nystrom, Polynomial, RandomFourier, Taylor, Window
from noregret.certificates import Audit, Certificate
from noregret.declare.fields import Mismatch, Part
from noregret.declare.parameters import positive
from noregret.errors import MergeError, ParameterError, abbreviated
from noregret.gaussian.audits import fresh_kernel
from noregret.gaussian.build import AnyStream, stream_for_row, stream_for_table
from noregret.gaussian.cores.dual import DualCore
from noregret.gaussian.cores.schedule import Drift
from noregret.gaussian.hindsight import Hindsight, hindsight_of
from noregret.gaussian.kernel_stream import KernelStream
from noregret.gaussian.ledger import totals
from noregret.gaussian.outcomes import one_outcome
from noregret.gaussian.rules import Rule
from noregret.gaussian.running_bound import RunningSums
from noregret.gaussian.stream import Budget, Plan, Stream
from noregret.gaussian.theorems import statements
from noregret.inputs.kernel_spaces import MappedSpace, NystromSpace
from noregret.inputs.spaces import FeatureSpace
from noregret.kernels import Kernel
from noregret.learner.base import OnlineLearner
from noregret.learner.estimator import Regressor, not_fitted
from noregret.types import Forecast, Matrix, Outcome, Outcomes, Row, Table

if TYPE_CHECKING:
    from sklearn.utils import Tags

__all__ = ["Gaussian"]

BUDGETS = (Nystrom, RandomFourier, Taylor, Polynomial, Window)
EXPLICIT = (RandomFourier, Taylor, Polynomial)


class Gaussian(Regressor, OnlineLearner[AnyStream]):
    """What all Gaussian learners share; a child says which rule is its own."""

    STATE = Part("stream", ("Stream", "KernelStream"))
    RULES: ClassVar[tuple[int, ...]]  # the codes of the rules that are its own
    discount: float | None = None  # of learners that take one

    def __init__(
        self,
        prior_precision: float = 1.0,
        *,
        kernel: object = None,
        drift: Drift = 0.0,
        fit_intercept: bool = False,
        budget: Budget | None = None,
    ) -> None:
        self.prior_precision = prior_precision
        self.kernel = kernel
        self.drift = drift
        self.fit_intercept = fit_intercept
        self.budget = budget

    def _rule(self) -> Rule:
        raise NotImplementedError

    def _plan(self) -> Plan:
        """The parameters, checked."""
        drift, intercept = self._checked("drift"), self._checked("fit_intercept")
        precision, rule = self._checked("prior_precision"), self._rule()
        discount = None if self.discount is None else self._checked("discount")
        if discount == 1.0:
            discount = None
        plan = Plan(rule, precision, drift, intercept, *self._kernel_and_budget(), discount)
        if discount is not None and (plan.changing or plan.dual):
            instead = "leave drift=0" if plan.changing else "leave kernel=None, or give a budget="
            raise ParameterError(
                f"discount = {discount!r} is for weights that have no drift: {instead}"
            )
        return plan

    def _kernel_and_budget(self) -> tuple[Kernel | None, Budget | None]:
        """The kernel and the budget, checked together."""
        kernel, budget = self.kernel, self.budget
        named = f"budget = {abbreviated(budget)}"
        if budget is not None and not isinstance(budget, BUDGETS):
            names = ", ".join(kind.__name__ for kind in BUDGETS)
            raise ParameterError(f"{named}: give one of {names}")
        if isinstance(budget, EXPLICIT):
            if kernel is not None:
                raise ParameterError(f"{named} stands for a kernel of its own: leave kernel=None")
            return None, budget
        if kernel is None:
            if budget is not None:
                raise ParameterError(f"{named} needs a kernel: give kernel=")
            return None, None
        if budget is not None:
            budget.check()
        exact = not isinstance(budget, Nystrom)  # a dictionary has a constant feature instead
        return Kernel(kernel, constant=exact and bool(self.fit_intercept)), budget

    def _start_row(self, x: Row, y: Outcome = None) -> AnyStream:
        m, scalar = 1, True
        if y is not None:
            ys, scalar = one_outcome(y)
            m = ys.size
        return stream_for_row(self._plan(), x, m, scalar=scalar)

    def _start_table(self, X: Table, y: Outcomes) -> tuple[AnyStream, Table]:
        return stream_for_table(self._plan(), X, y)

    def _accept(self, state: AnyStream) -> None:
        if state.plan.rule.code not in self.RULES:
            raise Mismatch("has the rule of another learner")
        self._state = state

    # Many rounds ----------------------------------------------------------------------------

    def fit(self, X: Table, y: Outcomes, sample_weight: Outcomes = None) -> Self:
        """Forget everything, then learn all rows in order; weights as in `partial_fit`."""
        self._run(X, y, afresh=True, weights=sample_weight, proved=False)
        return self

    def running_bound(self) -> RunningSums | None:
        """What works out the bound after every round of the replays to come.

        None where the noise is learned: that bound is known after the last round only.
        """
        with self._lock:
            rule = self._rule() if self._state is None else self._state.plan.rule
            if rule.code == layout.STUDENT:
                return None
            if self._state is None:
                return RunningSums(rule, None)
            return RunningSums(rule, totals(self._state.ledger), self._state.ends)

    def partial_fit(self, X: Table, y: Outcomes, sample_weight: Outcomes = None) -> Self:
        """Learn all rows, in order, on top of what was learned before.

        A row of weight w counts as w times the square loss (for BayesianRidge, noise of variance
        noise_var/w), and one of weight 0 not at all.  Certificates then speak of the weighted
        stream, sqrt(w) x and sqrt(w) y: all losses in them are sums of w (y - g)^2, of forecasts
        that knew w, and Y is the largest sqrt(w)|y|.
        """
        self._run(X, y, weights=sample_weight, proved=False)
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        # A budget forgets, and experts that change follow the last rows: neither needs to fit all
        # rows of a table, which scikit-learn's check_regressors_train asks of a regressor.
        changing = callable(self.drift) or self.drift != 0.0
        fades = self.discount is not None
        tags.regressor_tags.poor_score = self.budget is not None or changing or fades
        return tags

    # What was learned -----------------------------------------------------------------------

    def _features(self) -> FeatureSpace:
        """The space that the user's own features come through."""
        space: FeatureSpace | None = super()._features()
        if isinstance(space, MappedSpace | NystromSpace):
            space = space.inputs.space
        if space is None:
            raise not_fitted("the inputs of this learner are objects, not vectors of features")
        return space

    @property
    def coef_(self) -> Matrix:
        """The weights: (n,), or (m, n) for m outcomes; the constant feature's is intercept_."""
        w, intercept, scalar = self._weights()
        w = w[:, intercept:]
        return w[0] if scalar else w

    @property
    def intercept_(self) -> Forecast:
        """The weight of the constant feature, 0 without one."""
        w, intercept, scalar = self._weights()
        constant = w[:, 0] if intercept else np.zeros(len(w))
        return float(constant[0]) if scalar else constant

    def _weights(self) -> tuple[Matrix, bool, bool]:
        """All weights, whether the first is a constant's, and whether an outcome is a number."""
        with self._lock:
            stream = self._learned()
            if isinstance(stream, KernelStream):
                raise not_fitted("a kernel learner has no coefficients: see hindsight()")
            with stream.closed():
                return stream.core.coefficients(), stream.plan.intercept, stream.scalar

    def certificates(
        self,
        *,
        outcome_bound: float | None = None,
        feature_bound: float | None = None,
        norm_bound: float | None = None,
    ) -> list[Certificate]:
        """Every statement that applies, the main one first.

        Bounds on |y|, |x|_inf and |x|_2 (the constant feature included) are taken from the
        stream so far.  Where you vouch for one beforehand, say so here: a certificate whose bound
        the stream has broken names it and claims nothing.  A clipped learner's bound on |y| is
        its clip.
        """
        given = {
            "outcome_bound": outcome_bound,
            "feature_bound": feature_bound,
            "norm_bound": norm_bound,
        }
        bounds = {name: positive(name, v) for name, v in given.items() if v is not None}
        with self._lock:
            stream = self._learned()
            with stream.closed():
                facts = stream.facts(**bounds)
        return statements(facts)

    def audit(self) -> tuple[Audit, ...]:
        """Every check of the state: those of `certificate().audit`, and what costs more.

        With a kernel, V from both sides by kernel values worked out anew: t^2 of them.

        >>> import numpy as np, noregret as nr
        >>> learner = nr.AAR(kernel="rbf").fit(np.eye(3), [1.0, 2.0, 3.0])
        >>> all(check.ok for check in learner.audit())
        True
        """
        with self._lock:
            stream = self._learned()
            with stream.closed():
                found, core = stream.facts().audit, stream.core
                return (*found, *fresh_kernel(core)) if isinstance(core, DualCore) else found

    def hindsight(self) -> Hindsight:
        """The best expert in hindsight: what this learner is compared with.

        Kernel learners know its values at their inputs; weight-space learners keep no inputs, so
        they know its weights (`coef_`), and experts that change only with a kernel.
        """
        with self._lock:
            stream = self._learned()
            with stream.closed():
                return hindsight_of(stream)

    # Several learners together --------------------------------------------------------------

    def _takes(self, y: float) -> bool:  # noqa: ARG002  # every outcome that is a number will do
        """Whether a round is sure to be learned whose x has just been forecast."""
        stream = self._state
        if stream is None:
            return self.kernel is None and not callable(self.drift)
        kernel, drift = stream.plan.kernel, stream.plan.drift
        if not stream.scalar or callable(drift) or not (kernel is None or kernel.known):
            return False
        return isinstance(stream, Stream) or stream.core.has_room()

    def _restore(self, mark: AnyStream | None) -> None:
        """Go back to a mark; no round is learned any more by the stream that goes."""
        with self._lock:
            if self._state is not None:
                self._state.retire()
            self._state = mark

    def merge(self, other: Self) -> Self:
        """Take in what another learner of the same kind has learned from its own rounds.

        The result equals one learner that saw both streams, to rounding.  Losses are the sums of
        what each paid under its own forecasts, and the certificates say so.
        """
        if type(other) is not type(self):
            raise MergeError(
                f"cannot merge {type(other).__name__} into {type(self).__name__}: kinds must agree"
            )
        theirs = other._mark()
        with self._lock:
            plan = self._plan() if self._state is None else self._state.plan
            if theirs is None:
                return self
            if theirs.plan != plan:
                raise MergeError(f"the learners' parameters differ: {plan} and {theirs.plan}")
            mine: Any = self._state  # of one plan, so of one kind of stream
            self._state = theirs if mine is None else mine.merge(theirs)
        return self
