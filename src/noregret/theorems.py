"""The statements about Gaussian learners, each a function from one stream's totals.

V is the regularised loss of the best expert in hindsight, Lam = sum ln d.  After a merge, losses,
V and Lam on the right are sums over the learners, each of its own rounds, while the comparator is
the one best expert for all rounds.  Numbers refer to the papers: ZV Zhdanov and
Vovk, KN Kakade and Ng, BK Busuttil and Kalnishkan; docs/theory.md has the derivations.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from noregret.budgets import Window
from noregret.certificates import Assumption, Certificate, Kind
from noregret.ledger import Totals

__all__ = [
    "Scene",
    "Theorem",
    "aar_bound",
    "aar_determinant_bound",
    "aar_exact_loss",
    "aar_leverage_bound",
    "bayesian_determinant_bound",
    "bayesian_equality",
    "budget_report",
    "clipped_bound",
    "clipped_determinant_bound",
    "clipped_leverage_bound",
    "kakade_ng_log_loss_bound",
    "kakade_ng_square_loss_bound",
    "kernel_aar_horizon_bound",
    "ridge_equality",
    "ridge_norm_bound",
]

Theorem = Callable[["Scene"], Certificate]
KERNEL_FIXED = "min_f (sum (y - f(x))^2 + a|f|^2)"
KERNEL_MOVING = "min over f_1, f_2, ... of (sum (y_t - (f_1+...+f_t)(x_t))^2 + sum a_t|f_t|^2)"
FIXED = "min_w (sum (y - w'x)^2 + a|w|^2)"
MOVING = "min over th_1, th_2, ... of (sum (y_t - (th_1+...+th_t)'x_t)^2 + sum a_t|th_t|^2)"


@dataclass(frozen=True, slots=True)
class Scene:
    """A stream so far, the learner that forecast it, and the bounds that its user vouches for."""

    totals: Totals
    features: int  # n, the constant feature included
    prior_precision: float  # a, or a_1
    prior_var: float  # sum of 1/a_s up to the round to come
    drifting: bool
    noise_var: float = 1.0
    clip: float | None = None
    outcome_bound: float | None = None  # Y
    feature_bound: float | None = None  # X
    norm_bound: float | None = None  # Z; of sqrt k(x, x) with a kernel, then called c
    kernel: bool = False  # the exact kernel core
    priors: float = 0.0  # sum_t sum_{s<=t} 1/a_s, with the exact kernel core
    budget: Any = None

    @property
    def linear(self) -> bool:
        """Whether experts are fixed weights, so that n counts dimensions."""
        return not self.kernel and not self.drifting

    @property
    def best(self) -> str:
        """V in words."""
        if self.kernel:
            return KERNEL_MOVING if self.drifting else KERNEL_FIXED
        if self.totals.workers > 1:
            return "the merged learners' own minima of sum (y - w'x)^2 + a|w|^2, and later growth"
        return MOVING if self.drifting else FIXED

    @property
    def m(self) -> str:
        """How often a price counts, in words: once an outcome."""
        return "" if self.totals.outcomes == 1 else "m "

    @property
    def log(self) -> str:
        """Lam in words."""
        if self.drifting or self.totals.workers > 1:
            return "sum ln d"
        return "ln det(I + K/a)" if self.kernel else "ln det(I + X'X/a)"

    def log_a_priori(self, square: str) -> str:
        """The bound on Lam in words."""
        p = self.totals.workers
        if self.kernel:
            return "T ln(1 + c^2/a)"
        if p == 1:
            return f"n ln(1 + T {square}/a)"
        return f"p n ln(1 + T {square}/(p a)), p = {p}"

    def log_loss(self, square: float) -> float:
        """Log loss of experts whose square losses add up to `square`."""
        t = self.totals
        constant = 0.5 * t.rounds * t.outcomes * math.log(2.0 * math.pi * self.noise_var)
        return constant + square / (2.0 * self.noise_var)

    def outcome_square(self) -> tuple[float, Assumption]:
        """Y^2, summed over the outcomes, and on what authority."""
        t, Y = self.totals, self.outcome_bound
        if Y is None:
            return t.outcome_square, Assumption(
                f"|y| <= Y = {t.largest:.6g}, the largest so far", met=True
            )
        return t.outcomes * Y * Y, _vouched("|y|", "Y", Y, t.largest)

    @property
    def outcome_words(self) -> str:
        """Y^2 in words."""
        if self.totals.outcomes == 1:
            return "Y^2"
        return "m Y^2" if self.outcome_bound is not None else "(sum_k Y_k^2)"

    def width(self) -> tuple[float, Assumption]:
        """X, and on what authority; c with a kernel."""
        if self.kernel:
            return self.length()
        return _either("|x|_inf", "X", self.feature_bound, self.totals.widest)

    def length(self) -> tuple[float, Assumption]:
        """Z, and on what authority; c with a kernel."""
        what, letter = ("sqrt k(x, x)", "c") if self.kernel else ("|x|_2", "Z")
        return _either(what, letter, self.norm_bound, self.totals.longest)

    def determinant_bound(self, square: float) -> float:
        """n ln(1 + T X^2/a), a bound on Lam by Hadamard (ZV 3); merged workers share the rounds."""
        w = self.totals.workers
        if self.kernel:  # K_tt <= c^2 on the diagonal
            return self.totals.rounds * math.log1p(square / self.prior_precision)
        return (
            w * self.features * math.log1p(self.totals.rounds * square / (w * self.prior_precision))
        )


def _vouched(what: str, letter: str, given: float, seen: float) -> Assumption:
    if seen <= given:
        return Assumption(f"{what} <= {letter} = {given:.6g}, as given", met=True)
    return Assumption(
        f"{what} <= {letter} = {given:.6g}, as given: the stream reached {seen:.6g}", met=False
    )


def _either(what: str, letter: str, given: float | None, seen: float) -> tuple[float, Assumption]:
    if given is None:
        return seen, Assumption(f"{what} <= {letter} = {seen:.6g}, the largest so far", met=True)
    return given, _vouched(what, letter, given, seen)


def _state(
    s: Scene,
    name: str,
    kind: Kind,
    *,
    loss: float,
    comparator: float,
    bound: float,
    statement: str,
    assumptions: tuple[Assumption, ...] = (),
    scale: float = 0.0,
) -> Certificate:
    if isinstance(s.budget, Window):
        kind = "report"
        forgets = f"no round is forgotten: a window keeps the last {s.budget.size} only"
        assumptions = (*assumptions, Assumption(forgets, met=s.totals.rounds <= s.budget.size))
    elif s.budget is not None:
        span = f"experts are functions of the {s.features} features of {s.budget!r}"
        assumptions = (*assumptions, Assumption(span, met=True))
    if s.totals.workers > 1:
        shared = f"losses were paid by {s.totals.workers} merged learners, each in its own rounds"
        assumptions = (*assumptions, Assumption(shared, met=True))
    return Certificate.of(
        name=name,
        kind=kind,
        rounds=s.totals.rounds,
        loss=loss,
        comparator=comparator,
        bound=bound,
        statement=statement,
        assumptions=assumptions,
        scale=scale,
    )


# Ridge ------------------------------------------------------------------------------------


def ridge_equality(s: Scene) -> Certificate:
    """ZV Theorem 1 (1): sum (y - m)^2/d = V.  For experts that change, the same identity."""
    t = s.totals
    return _state(
        s,
        _named(s, "Zhdanov-Vovk Theorem 1", "Zhdanov-Vovk Theorem 3", "ridge identity"),
        "equality",
        loss=t.weighted,
        comparator=t.best,
        bound=t.fit,
        statement=f"sum (y - m)^2/d = {s.best}",
    )


def ridge_norm_bound(s: Scene) -> Certificate:
    """ZV Corollary 2 (4): d <= 1 + Z^2/a, so loss <= (1 + Z^2/a) V; no bound on y needed."""
    t = s.totals
    Z, known = s.length()
    factor = 1.0 + Z * Z * s.prior_var
    return _state(
        s,
        _named(s, "Zhdanov-Vovk Corollary 2", "kernel norm bound", "ridge norm bound"),
        "upper bound",
        loss=t.square_loss,
        comparator=t.best,
        bound=factor * t.fit,
        statement=(
            f"sum (y - m)^2 <= (1 + {'c' if s.kernel else 'Z'}^2 "
            f"{'sum 1/a_t' if s.drifting else '/ a'}) {s.best}"
        ),
        assumptions=(known,),
    )


def kakade_ng_square_loss_bound(s: Scene) -> Certificate:
    """KN Corollary 3.1 for |x| <= Z, with the sigma^2 that the display in its proof drops.

    For a learner without a noise variance sigma^2 = 1; ZV Corollary 2 is sharper for any.
    """
    t = s.totals
    Z, known = s.length()
    a, n = s.prior_precision, s.features
    log = s.determinant_bound(Z * Z / n) if n else 0.0
    return _state(
        s,
        "Kakade-Ng Corollary 3.1",
        "upper bound",
        loss=t.square_loss,
        comparator=t.best,
        bound=(1.0 + Z * Z / a) * (t.fit + s.noise_var * t.outcomes * log),
        statement=(
            f"sum (y - m)^2 <= (1 + Z^2/a) ({s.best} + s^2 {s.m}{s.log_a_priori('Z^2/n')}), "
            f"s^2 = {s.noise_var:.6g}"
        ),
        assumptions=(known,),
    )


# Clipped ridge ----------------------------------------------------------------------------


def _clipped(s: Scene, name: str, price: float, statement: str, *more: Assumption) -> Certificate:
    t = s.totals
    Y = s.clip if s.clip is not None else math.inf
    return _state(
        s,
        name,
        "upper bound",
        loss=t.loss,
        comparator=t.best,
        bound=t.fit + 4.0 * t.outcomes * Y * Y * price,
        statement=f"sum (y - g)^2 <= {s.best} + 4 {s.m}Y^2 {statement}",
        assumptions=(_vouched("|y|", "Y", Y, t.largest), *more),
    )


def clipped_bound(s: Scene) -> Certificate:
    """ZV Corollary 1 (2): V + 4Y^2 Lam."""
    name = _named(s, "Zhdanov-Vovk Corollary 1", "Zhdanov-Vovk Corollary 4", "clipped ridge")
    return _clipped(s, name, s.totals.log_det, s.log)


def clipped_leverage_bound(s: Scene) -> Certificate:
    """Sharper: (y - g)^2 = (y - g)^2/d + (y - g)^2 (1 - 1/d) <= e^2/d + 4Y^2 (1 - 1/d)."""
    return _clipped(s, "clipped ridge, leverage form", s.totals.leverage, "sum (1 - 1/d)")


def clipped_determinant_bound(s: Scene) -> Certificate:
    """ZV Corollary 1 with (3): V + 4Y^2 n ln(1 + T X^2/a)."""
    X, known = s.width()
    return _clipped(
        s,
        f"Zhdanov-Vovk Corollary {4 if s.kernel else 1}, a priori",
        s.determinant_bound(X * X),
        s.log_a_priori("X^2"),
        known,
    )


# Bayesian ridge ---------------------------------------------------------------------------


def _bayesian(
    s: Scene, name: str, kind: Kind, price: float, statement: str, *known: Assumption
) -> Certificate:
    t = s.totals
    sign = "=" if kind == "equality" else "<="
    half = "1/2" if t.outcomes == 1 else "m/2"
    return _state(
        s,
        name,
        kind,
        loss=t.loss,
        comparator=s.log_loss(t.best),
        bound=s.log_loss(t.fit) + 0.5 * t.outcomes * price,
        statement=(
            f"log loss {sign} {s.m}T/2 ln(2 pi s^2) + ({s.best})/(2 s^2) + {half} {statement}"
        ),
        assumptions=known,
        scale=abs(s.log_loss(0.0)) + t.fit / (2.0 * s.noise_var) + 0.5 * t.outcomes * price,
    )


def bayesian_equality(s: Scene) -> Certificate:
    """ZV Theorem 2 (14): log loss = min (L(w) + a|w|^2/(2s^2)) + Lam/2."""
    name = _named(s, "Zhdanov-Vovk Theorem 2", "Zhdanov-Vovk Theorem 4", "Bayesian identity")
    return _bayesian(s, name, "equality", s.totals.log_det, s.log)


def bayesian_determinant_bound(s: Scene) -> Certificate:
    """ZV (15): Lam <= n ln(1 + T X^2/a)."""
    X, known = s.width()
    return _bayesian(
        s,
        "Zhdanov-Vovk Theorem 4, a priori" if s.kernel else "Zhdanov-Vovk Theorem 2 (15)",
        "upper bound",
        s.determinant_bound(X * X),
        s.log_a_priori("X^2"),
        known,
    )


def kakade_ng_log_loss_bound(s: Scene) -> Certificate:
    """KN Theorem 2.2 for Gaussian regression, c = 1/s^2 and |x| <= Z."""
    Z, known = s.length()
    price = s.determinant_bound(Z * Z / s.features) if s.features else 0.0
    return _bayesian(
        s,
        "Kakade-Ng Theorem 2.2",
        "upper bound",
        price,
        s.log_a_priori("Z^2/n"),
        known,
    )


# AAR --------------------------------------------------------------------------------------


def _aar(s: Scene, name: str, price: float, statement: str, *more: Assumption) -> Certificate:
    t = s.totals
    Y2, known = s.outcome_square()
    return _state(
        s,
        name,
        "upper bound",
        loss=t.loss,
        comparator=t.best,
        bound=t.fit + Y2 * price,
        statement=f"sum (y - g)^2 <= {s.best} + {s.outcome_words} {statement}",
        assumptions=(known, *more),
    )


def aar_bound(s: Scene) -> Certificate:
    """BK Theorem 1 (Vovk 2001), or Theorem 3 (6) for AARCh: V + Y^2 Lam."""
    number = (4 if s.kernel else 3) if s.drifting else (2 if s.kernel else 1)
    return _aar(s, f"Busuttil-Kalnishkan Theorem {number}", s.totals.log_det, s.log)


def aar_leverage_bound(s: Scene) -> Certificate:
    """Sharper: V + Y^2 sum (1 - 1/d), since 1 - 1/d <= ln d."""
    return _aar(s, "AAR, leverage form", s.totals.leverage, "sum (1 - 1/d)")


def aar_determinant_bound(s: Scene) -> Certificate:
    """BK Theorem 1 with Lam <= n ln(1 + T X^2/a)."""
    X, known = s.width()
    return _aar(
        s,
        "Busuttil-Kalnishkan Theorem 1, a priori",
        s.determinant_bound(X * X),
        s.log_a_priori("X^2"),
        known,
    )


def kernel_aar_horizon_bound(s: Scene) -> Certificate:
    """BK Corollary 1, or (9) and Corollary 2 with drift: Lam <= c^2 sum_t sum_{s<=t} 1/a_s.

    That is c^2 T/a for fixed experts.  With a = (Y c/d) sqrt(T), see
    `noregret.kernels.horizon_precision`, KAAR's regret against functions of norm at most d is then
    2 Y c d sqrt(T) at the announced T; `horizon_drift` does the same for changes.
    """
    c, known = s.length()
    name = (
        "Busuttil-Kalnishkan Corollary 2 (9)" if s.drifting else "Busuttil-Kalnishkan Corollary 1"
    )
    sums = "c^2 sum_t sum_{s<=t} 1/a_s" if s.drifting else "c^2 T/a"
    return _aar(s, name, c * c * s.priors, sums, known)


def budget_report(s: Scene) -> list[Certificate]:
    """How much of the kernel a budget has left out: no claim, a number to watch."""
    if s.budget is None or isinstance(s.budget, Window):
        return []
    t = s.totals
    return [
        Certificate.of(
            name="what the budget left out",
            kind="report",
            rounds=t.rounds,
            loss=t.missed,
            comparator=t.missed + t.squared_norms,
            bound=t.missed + t.squared_norms,
            statement="sum of k(x, x) - |features of x|^2, against the sum of k(x, x)",
        )
    ]


def _named(s: Scene, fixed: str, kernel: str, moving: str) -> str:
    """The name of a statement for fixed experts, for a kernel's, for changing ones."""
    if s.drifting:
        return f"{moving} for changing experts"
    return kernel if s.kernel else fixed


def aar_exact_loss(s: Scene) -> Certificate:
    """(y - m/d)^2 - (y - m)^2/d = y^2 (1 - 1/d) - (d - 1)(m/d)^2, summed; no bound on y needed."""
    t = s.totals
    return _state(
        s,
        "AAR, exact loss",
        "equality",
        loss=t.loss,
        comparator=t.best,
        bound=t.fit + t.charge - t.relief,
        statement=(f"sum (y - g)^2 = {s.best} + sum y^2 (1 - 1/d) - sum (d - 1) g^2"),
    )
