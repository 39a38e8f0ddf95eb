"""KLMSNet as its users see it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from noregret._ops.continuum import BOX, COUNTS, ERROR, OK, RANGE, RATE
from noregret._ops.grid import within as within_limit
from noregret._ops.layout import EXACT_INTEGER
from noregret.certificates import Certificate
from noregret.errors import FeatureError, OutcomeError, ParameterError
from noregret.gaussian.base import NotFitted, positive
from noregret.inputs.kernel_spaces import KernelInputs
from noregret.inputs.spaces import plain
from noregret.inputs.values import abbreviated, as_frame, outcome, outcome_column
from noregret.kernels import Kernel, together
from noregret.learner.holder import Holder
from noregret.learner.replay import Replay
from noregret.lms.build import inputs_for_many, inputs_for_one
from noregret.lms.comparators import Expansion, Values, best_expansion, checked
from noregret.lms.family import FamilyNetState
from noregret.lms.gaussians import GaussianNetState, NetGame
from noregret.lms.nodes import FEWEST, MOST, grid, nodes_for
from noregret.lms.rates import budgets_of, rate_of, window_of
from noregret.lms.theorems import each_round, expansion_bounds, finite_mixture, potential
from noregret.lms.totals import NetTotals, seen_by, totals_of
from noregret.losses import span
from noregret.types import Vector

__all__ = ["KLMSNet", "NetReplay"]


@dataclass(frozen=True, eq=False)
class NetReplay(Replay):
    """A replay of K-LMS-NET: also how far the forecasts may be from the integral's."""

    error: float = field(default=0.0)
    """Largest distance so far between a forecast and the audit's; 0 without an audit."""


class KLMSNet(RegressorMixin, Holder):  # type: ignore[misc]  # scikit-learn is untyped
    """Kernel LMS for every width alpha in [0, 1] of exp(-s0 alpha |x - z|^2), merged.

    The user never chooses a width: exponential weights over all of them pay at most
    2 (hi-lo)^2 ln(1/w_j) more than width j ever would have (Herbster 2004).

    Two accuracies.  The widths are `nodes` points of a quadrature rule with positive weights w_j,
    and the guarantee of this finite mixture is exact: no quadrature in it.  How far forecasts are
    from the integral over all widths is estimated by rules with four times the nodes, at which
    outputs are interpolated: `error_` is the largest distance so far.

    Cost: nodes times distinct patterns a round, and as many numbers; 8 nodes^2 more for the audit.
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
    substitution : merge by the Aggregating Algorithm's substitution: (hi-lo)^2/2 a nat.
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

    _state: GaussianNetState | FamilyNetState | None

    def __init__(
        self,
        outcome_range: Any,
        *,
        scale: float = 1.0,
        learning_rate: float | None = None,
        loss_budget: float | None = None,
        norm_budget: float | None = None,
        nodes: int = 64,
        tolerance: float | None = None,
        substitution: bool = False,
        family: Callable[[float, Any, Any], Any] | None = None,
        budget: Any = None,
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

    def _begin(self, inputs: KernelInputs) -> GaussianNetState | FamilyNetState:
        limits = span(self.outcome_range)
        if limits is None:
            raise ParameterError("outcome_range = None: give Y for [-Y, Y], or (lo, hi)")
        scale = positive("scale", self.scale)
        for name in ("substitution", "audit"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                odd = abbreviated(getattr(self, name))
                raise ParameterError(f"{name} = {odd}: it must be True or False")
        budgets = budgets_of(self.loss_budget, self.norm_budget)
        eta = rate_of(self.learning_rate, budgets)
        if self.family is None and eta >= 1.0:
            raise ParameterError(
                f"learning_rate = {abbreviated(eta)}: it must be below 1, as k(x, x) = 1"
            )
        given = (0.0, 0.0) if budgets is None else (budgets.loss, budgets.norm)
        window, audit = window_of(self.budget), bool(self.audit)
        game = NetGame(*limits, eta, bool(self.substitution), window, given, audit)
        low, high = self._domain()
        n = 0 if inputs.space is None or self.family is not None else inputs.space.size
        count = self._count(limits[1] - limits[0], scale * n * (high - low) ** 2)
        rule = grid(count)
        if self.family is not None:
            if not callable(self.family):
                raise ParameterError(
                    f"family = {abbreviated(self.family)}: give a callable (alpha, X, Z) -> matrix"
                )
            return FamilyNetState.start(game, rule, self.family, inputs)
        return GaussianNetState.start(game, rule, scale, inputs)

    def _count(self, width: float, spread: float) -> int:
        if self.tolerance is not None:
            return nodes_for(positive("tolerance", self.tolerance), width, spread)
        nodes = self.nodes
        whole = isinstance(nodes, int | np.integer) and not isinstance(nodes, bool)
        if not (whole and FEWEST <= nodes <= MOST):
            raise ParameterError(
                f"nodes = {abbreviated(nodes)}: it must be a whole number from {FEWEST} to {MOST}"
            )
        return int(nodes)

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

    def _learned(self) -> GaussianNetState | FamilyNetState:
        if self._state is None:
            raise NotFitted("this KLMSNet has learned nothing yet: call learn_one or fit first")
        return self._state

    def _for_one(self, x: Any) -> GaussianNetState | FamilyNetState:
        if self._state is not None:
            return self._state
        return self._begin(inputs_for_one(x, vectors=self.family is None))

    # One round ------------------------------------------------------------------------------

    def predict_one(self, x: Any) -> float:
        """Forecast the outcome at x: a 1-D array, a mapping, or what the family takes."""
        with self._lock:
            held: Any = self._state
            vector = _plain(held, x)
            if vector is not None:
                forecast: float = held.predict(vector)
                if forecast == forecast:
                    return forecast
            held = self._for_one(x)
            point = held.inputs.encode(x)
            if isinstance(held, GaussianNetState):
                return held.predict(point)
            return float(held.predict_rows(together([point]))[0])

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn that x had the outcome y."""
        with self._lock:
            held: Any = self._state
            vector = _plain(held, x) if type(y) is float else None
            if vector is not None and held.learn(vector, y) == OK:
                return
            held = self._for_one(x)
            value = _inside(outcome(y), held, "y", 0)
            point = held.inputs.encode(x)
            if isinstance(held, GaussianNetState):
                answer = held.learn(point, value)
                assert answer == OK
            else:
                held.replay(together([point]), np.array([value]))
            self._state = held

    def _takes(self, y: float) -> bool:
        """Whether a round is sure to be learned whose x has just been forecast."""
        held = self._state
        if not isinstance(held, GaussianNetState) or not held.has_room():
            return False
        low, high = held.book[RANGE].tolist()
        return bool(low <= y <= high)

    # Many rounds ----------------------------------------------------------------------------

    def replay(self, X: Any, y: Any) -> NetReplay:
        """Predict-then-learn over all rows in one compiled call, as the loop would go."""
        with self._lock:
            return self._run(self._state, X, y)

    def _run(self, held: Any, X: Any, y: Any) -> NetReplay:
        X = as_frame(X)
        if held is None:
            held = self._begin(inputs_for_many(X, vectors=self.family is None))
        xs = held.inputs.encode_rows(X)
        if not len(xs):
            raise FeatureError("X has no rows: give at least one round")
        ys = outcome_column(y, len(xs))
        low, high = held.book[RANGE].tolist()
        for t in np.flatnonzero(~((ys >= low) & (ys <= high)))[:1]:
            _inside(float(ys[t]), held, f"y[{t}]", int(t))
        after = held.copy()
        if isinstance(after, GaussianNetState):
            xs = np.ascontiguousarray(xs)
        forecasts = after.replay(xs, ys)
        self._state = after
        library = type(X).__module__.partition(".")[0]
        return NetReplay(
            forecast=forecasts,
            mean=None,
            spread=None,
            loss=(ys - forecasts) ** 2,
            certificate=finite_mixture(totals_of(after)),
            library=library if library in ("pandas", "polars") else "pandas",
            error=float(after.book[ERROR].min()),
        )

    def predict(self, X: Any) -> Vector:
        """Forecasts at every row, from what has been learned so far; nothing is learned."""
        with self._lock:
            held = self._learned()
            return held.predict_rows(held.inputs.encode_rows(X))

    # What was learned -----------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = self.budget is not None  # a window forgets
        return tags

    @property
    def n_samples_seen_(self) -> int:
        """How many rounds have been learned."""
        with self._lock:
            return int(self._learned().book[COUNTS, 0])

    @property
    def n_features_in_(self) -> int:
        """How many features an input has, where inputs are vectors."""
        space = self._learned().inputs.space
        if space is None:
            raise NotFitted("inputs are objects, which have no number of features")
        return space.size

    @property
    def patterns_(self) -> int:
        """How many distinct patterns are kept."""
        with self._lock:
            return self._learned().size

    @property
    def learning_rate_(self) -> float:
        """eta."""
        return float(self._learned().book[RATE, 0])

    @property
    def error_(self) -> float | None:
        """Largest distance so far between a forecast and the audit's; None without the audit.

        An estimate of the distance from the integral, not a bound; too large rather than too small
        where the nodes are too few for the outputs to be interpolated.
        """
        with self._lock:
            held = self._learned()
            return float(held.book[ERROR].min()) if held.finer.size else None

    @property
    def widths_(self) -> Vector:
        """alpha of every node."""
        with self._lock:
            return totals_of(self._learned()).alphas.copy()

    @property
    def weights_(self) -> Vector:
        """The posterior weights of the widths, adding up to 1."""
        with self._lock:
            t = totals_of(self._learned())
        logs = np.log(t.weights) - (t.paid - t.paid.min()) / t.price
        found = np.exp(logs - logs.max())
        return np.asarray(found / found.sum())

    @property
    def losses_(self) -> Vector:
        """What every width has paid, its outputs clipped."""
        with self._lock:
            return totals_of(self._learned()).paid

    def hindsight(self, width: float | None = None, *, norm: float | None = None) -> Expansion:
        """The best expansion at a width alpha: kernel ridge with a = (1 - eta X^2)/eta.

        It makes L(h)/(1 - eta X^2) + |h|^2/eta least; with `norm`, the best with |h| <= norm.
        Without a width, that of the node which has paid least.
        """
        with self._lock:
            held = self._learned()
            t = totals_of(held)
            alpha = float(t.alphas[np.argmin(t.paid)]) if width is None else width
            room = max(1.0 - t.eta * t.peak, 1e-12)
            a = room / t.eta if norm is None else 1e-12
            return best_expansion(self._values(held, alpha), seen_by(held), a, alpha, norm)

    def _values(self, held: GaussianNetState | FamilyNetState, alpha: float) -> Values:
        if isinstance(held, GaussianNetState):
            return partial(held.matrix, alpha)
        return Kernel(partial(held.family, alpha)).cross

    def certificates(self, *, comparator: Expansion | None = None) -> list[Certificate]:
        """The finite mixture in three forms; for a given expansion, Theorems 1 and 2 too."""
        with self._lock:
            held = self._learned()
            t = totals_of(held)
            found = [finite_mixture(t), potential(t), each_round(t)]
            if comparator is not None:
                found += self._theorems(held, t, comparator)
            return found

    def certificate(self) -> Certificate:
        """L <= min_j (L_j + c ln 1/w_j)."""
        return self.certificates()[0]

    def _theorems(
        self, held: GaussianNetState | FamilyNetState, t: NetTotals, h: Expansion
    ) -> Sequence[Certificate]:
        if h.width is None:
            raise ParameterError("comparator: give the expansion a width= in [0, 1]")
        box, spans, scale = None, (0.0, 0.0), 1.0
        if isinstance(held, GaussianNetState):
            points = checked(h.points, held.patterns())
            low, high = held.book[BOX].tolist()
            spans = min(low, float(points.min())), max(high, float(points.max()))
            box, scale = self._domain(), held.scale
        values = partial(self._values, held)
        return expansion_bounds(values, t, seen_by(held), h, box, scale, spans)


def _plain(held: Any, x: Any) -> Any:
    """x as a vector if it is plain and a Gaussian net knows it; else None."""
    if type(held) is not GaussianNetState:
        return None
    vector = plain(held.inputs.space, x)
    if type(x) is dict and (vector is None or not within_limit(vector, EXACT_INTEGER)):
        return None  # digits may be lost
    return vector


def _inside(y: float, held: Any, name: str, ahead: int) -> float:
    """y, if it is in the range."""
    low, high = held.book[RANGE].tolist()
    if low <= y <= high:
        return y
    round_ = int(held.book[COUNTS, 0]) + 1 + ahead
    raise OutcomeError(
        f"round {round_}: {name} = {y!r} is outside outcome_range = [{low!r}, {high!r}]: give a "
        "range that holds every outcome, or clip it yourself"
    )
