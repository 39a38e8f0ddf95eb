"""The statements about Gaussian learners, each a function from one stream's totals.

V is the regularised loss of the best expert in hindsight, Lam = sum ln d.  After a merge, losses,
V and Lam on the right are sums over the learners, each of its own rounds, while the comparator is
the one best expert for all rounds.  Numbers refer to the papers: ZV Zhdanov and
Vovk, KN Kakade and Ng, BK Busuttil and Kalnishkan; docs/theory.md has the derivations.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

from noregret._native.layout import AAR, BAYES, CLIPPED, STUDENT
from noregret.budgets import Nystrom, RandomFourier, Taylor, Window
from noregret.certificates import LOG, MEANS, SQUARE, Assumption, Certificate, Kind
from noregret.gaussian.facts import StreamFacts, declared_bound
from noregret.types import Vector

__all__ = [
    "Theorem",
    "aar_bound",
    "aar_side",
    "bayesian_side",
    "clipped_side",
    "ridge_ratio_report",
    "statements",
    "theorems_of",
]

Theorem = Callable[[StreamFacts], Certificate]
N = TypeVar("N", float, Vector)
HINTED = "AAR around a hint"


def aar_side(V: N, square: N, price: N) -> N:
    """AAR's side of its theorems, V + Y^2 times a price: of numbers, or of arrays by round."""
    return V + square * price


def clipped_side(V: N, Y: float, price: N, outcomes: int = 1) -> N:
    """Clipped ridge's side, V + 4 m Y^2 times a price."""
    return V + 4.0 * outcomes * Y * Y * price


def bayesian_side(V: N, rounds: N, noise_var: float, price: N, outcomes: int = 1) -> N:
    """Bayesian ridge's side, m T/2 ln(2 pi s^2) + V/(2 s^2) + m/2 times a price."""
    constant = 0.5 * rounds * outcomes * math.log(2.0 * math.pi * noise_var)
    return constant + V / (2.0 * noise_var) + 0.5 * outcomes * price


def statements(s: StreamFacts) -> list[Certificate]:
    """Every statement that applies, the main one first."""
    return [*(theorem(s) for theorem in theorems_of(s)), *whole_space(s), *budget_report(s)]


def theorems_of(s: StreamFacts) -> list[Theorem]:
    """Which theorems apply to a rule and its experts, the main one first."""
    found: list[Theorem]
    if s.rule == AAR:
        found = [aar_bound, aar_leverage_bound, aar_exact_loss, ridge_equality]
        if s.kernel:
            found.append(kernel_aar_horizon_bound)
        elif not s.drifting:
            found.append(aar_determinant_bound)
    elif s.rule == BAYES:
        found = [bayesian_equality, ridge_equality, ridge_norm_bound]
        if not s.drifting:
            found.append(bayesian_determinant_bound)
        if s.linear:
            found += [kakade_ng_log_loss_bound, kakade_ng_square_loss_bound]
    elif s.rule == STUDENT:
        found = [ridge_equality, ridge_norm_bound]
        if s.totals.workers == 1:
            found.insert(0, student_equality)
    elif s.rule == CLIPPED:
        found = [clipped_bound, clipped_leverage_bound, ridge_equality]
        if not s.drifting:
            found.insert(2, clipped_determinant_bound)
        if s.kernel:
            found.append(clipped_horizon_bound)
    else:
        found = [ridge_equality]
        if s.discount is None:  # the prior fades, and with it what bounds the spread
            found.append(ridge_norm_bound)
        if s.linear:
            found.append(kakade_ng_square_loss_bound)
    return found


def _state(
    s: StreamFacts,
    name: str,
    kind: Kind,
    *,
    loss: float,
    bound: float,
    statement: str,
    comparator: float | None = None,
    assumptions: tuple[Assumption, ...] = (),
    size: float = 0.0,
    factor: float = 1.0,
    about: str = SQUARE,
) -> Certificate:
    """A statement, with what a budget and a merge add; the comparator is the best expert.

    V is in it `factor` times, and all its other terms add up to at most `size` beside both sides.
    """
    if isinstance(s.budget, Window):
        kind = "report"
        forgets = f"no round is forgotten: a window keeps the last {s.budget.size} only"
        assumptions = (*assumptions, Assumption(forgets, met=s.totals.rounds <= s.budget.size))
    elif s.budget is not None:
        assumptions = (*assumptions, Assumption(_span(s), met=True))
    assumptions = (*assumptions, *s.faded(), *s.is_a_kernel(), *s.weighted())
    if s.totals.workers > 1:
        shared = f"losses were paid by {s.totals.workers} merged learners, each in its own rounds"
        assumptions = (*assumptions, Assumption(shared, met=True))
    return Certificate.of(
        name=name,
        kind=kind,
        rounds=s.totals.rounds,
        loss=loss,
        comparator=s.totals.best if comparator is None else comparator,
        bound=bound,
        statement=statement,
        assumptions=assumptions,
        about=about,
        taken=s.taken(size + abs(loss) + abs(bound), factor),
        audit=s.audit,
    )


def _span(s: StreamFacts) -> str:
    """Which experts a budget leaves, in words."""
    if isinstance(s.budget, Nystrom):
        return (
            f"experts are w'phi(x), phi the {s.features} features of {s.budget!r}, each 0 in the "
            "rounds before its input joined"
        )
    return f"experts are functions of the {s.features} features of {s.budget!r}"


# Ridge ------------------------------------------------------------------------------------


def ridge_equality(s: StreamFacts) -> Certificate:
    """ZV Theorem 1 (1): sum (y - m)^2/d = V.  For experts that change, the same identity."""
    t = s.totals
    return _state(
        s,
        _named(s, "Zhdanov-Vovk Theorem 1", "Zhdanov-Vovk Theorem 3", "ridge identity"),
        "equality",
        loss=t.weighted,
        bound=t.fit,
        statement=f"sum (y - m)^2/d = {s.best}",
        about=MEANS,
    )


def ridge_norm_bound(s: StreamFacts) -> Certificate:
    """ZV Corollary 2 (4): d <= 1 + Z^2/a, so loss <= (1 + Z^2/a) V; no bound on y needed."""
    t = s.totals
    Z, known = s.length()
    factor = 1.0 + Z * Z * s.prior_var
    return _state(
        s,
        _named(s, "Zhdanov-Vovk Corollary 2", "kernel norm bound", "ridge norm bound"),
        "upper bound",
        loss=t.square_loss,
        bound=factor * t.fit,
        statement=(
            f"sum (y - m)^2 <= (1 + {'c' if s.kernel else 'Z'}^2 "
            f"{'sum 1/a_t' if s.drifting else '/ a'}) {s.best}"
        ),
        assumptions=(known,),
        factor=factor,
    )


def kakade_ng_square_loss_bound(s: StreamFacts) -> Certificate:
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
        bound=(1.0 + Z * Z / a) * (t.fit + s.noise_var * t.outcomes * log),
        statement=(
            f"sum (y - m)^2 <= (1 + Z^2/a) ({s.best} + s^2 {s.m}{s.log_a_priori('Z^2/n')}), "
            f"s^2 = {s.noise_var:.6g}"
        ),
        assumptions=(known,),
        factor=1.0 + Z * Z / a,
    )


def ridge_ratio_report(s: StreamFacts) -> Certificate:
    """ZV Corollary 3: with bounded |x| the ratio of the two sides tends to 1, or both stay finite.

    A limit says nothing of finitely many rounds: no claim, the ratio to watch.
    """
    t = s.totals
    ratio = t.square_loss / t.fit if t.fit > 0.0 else math.nan
    return _state(
        s,
        "Zhdanov-Vovk Corollary 3",
        "report",
        loss=t.square_loss,
        bound=t.fit,
        statement=(
            f"sum (y - m)^2 over {s.best} tends to 1 if |x| is bounded and no w has a finite loss "
            f"for ever; so far it is {ratio:.6g}"
        ),
    )


# Clipped ridge ----------------------------------------------------------------------------


def _clipped(
    s: StreamFacts, name: str, price: float, statement: str, *more: Assumption
) -> Certificate:
    t = s.totals
    Y = s.clip if s.clip is not None else math.inf
    return _state(
        s,
        name,
        "upper bound",
        loss=t.loss,
        bound=clipped_side(t.fit, Y, price, t.outcomes),
        statement=f"sum (y - g)^2 <= {s.best} + 4 {s.m}Y^2 {statement}",
        assumptions=(declared_bound("|y|", "Y", Y, t.largest), *more),
    )


def clipped_bound(s: StreamFacts) -> Certificate:
    """ZV Corollary 1 (2): V + 4Y^2 Lam."""
    name = _named(s, "Zhdanov-Vovk Corollary 1", "Zhdanov-Vovk Corollary 4", "clipped ridge")
    return _clipped(s, name, s.totals.log_det, s.log)


def clipped_leverage_bound(s: StreamFacts) -> Certificate:
    """Sharper: (y - g)^2 = (y - g)^2/d + (y - g)^2 (1 - 1/d) <= e^2/d + 4Y^2 (1 - 1/d)."""
    return _clipped(s, "clipped ridge, leverage form", s.totals.leverage, "sum (1 - 1/d)")


def clipped_determinant_bound(s: StreamFacts) -> Certificate:
    """ZV Corollary 1 with (3): V + 4Y^2 n ln(1 + T X^2/a)."""
    X, known = s.width()
    name = f"Zhdanov-Vovk Corollary {4 if s.kernel else 1}, a priori"
    return _clipped(s, name, s.determinant_bound(X * X), s.log_a_priori("X^2"), known)


def clipped_horizon_bound(s: StreamFacts) -> Certificate:
    """ZV section 6: Lam <= c^2 sum_t sum_{s<=t} 1/a_s, which is c^2 T/a for fixed functions.

    With a = c sqrt(T), see `noregret.kernels.clipped_precision`, the regret against every f is
    c (|f|^2 + 4Y^2) sqrt(T) at the announced T.
    """
    c, known = s.length()
    sums = "c^2 sum_t sum_{s<=t} 1/a_s" if s.drifting else "c^2 T/a"
    name = "clipped ridge" if s.drifting else "Zhdanov-Vovk Corollary 4"
    return _clipped(s, f"{name}, horizon form", c * c * s.priors, sums, known)


# Bayesian ridge ---------------------------------------------------------------------------


def _bayesian(
    s: StreamFacts, name: str, kind: Kind, price: float, statement: str, *known: Assumption
) -> Certificate:
    t = s.totals
    sign = "=" if kind == "equality" else "<="
    constant = 0.5 * t.rounds * t.outcomes * math.log(2.0 * math.pi * s.noise_var)
    half = "1/2" if t.outcomes == 1 else "m/2"
    return _state(
        s,
        name,
        kind,
        loss=t.loss - s.log_weights,
        comparator=s.log_loss(t.best),
        bound=bayesian_side(t.fit, float(t.rounds), s.noise_var, price, t.outcomes) - s.log_weights,
        statement=(
            f"log loss {sign} {s.m}T/2 ln(2 pi s^2) + ({s.best})/(2 s^2) + {half} {statement}"
            f"{f' - {half} sum ln w' if t.light else ''}"
        ),
        assumptions=known,
        size=(abs(constant) + 0.5 * t.outcomes * (price + t.log_det) + abs(s.log_weights)),
        factor=1.0 / (2.0 * s.noise_var),
        about=LOG,
    )


def bayesian_equality(s: StreamFacts) -> Certificate:
    """ZV Theorem 2 (14): log loss = min (L(w) + a|w|^2/(2s^2)) + Lam/2."""
    name = _named(s, "Zhdanov-Vovk Theorem 2", "Zhdanov-Vovk Theorem 4", "Bayesian identity")
    return _bayesian(s, name, "equality", s.totals.log_det, s.log)


def bayesian_determinant_bound(s: StreamFacts) -> Certificate:
    """ZV (15): Lam <= n ln(1 + T X^2/a)."""
    X, known = s.width()
    name = "Zhdanov-Vovk Theorem 4, a priori" if s.kernel else "Zhdanov-Vovk Theorem 2 (15)"
    price, words = s.determinant_bound(X * X), s.log_a_priori("X^2")
    return _bayesian(s, name, "upper bound", price, words, known)


def kakade_ng_log_loss_bound(s: StreamFacts) -> Certificate:
    """KN Theorem 2.2 for Gaussian regression, c = 1/s^2 and |x| <= Z."""
    Z, known = s.length()
    price = s.determinant_bound(Z * Z / s.features) if s.features else 0.0
    words = s.log_a_priori("Z^2/n")
    return _bayesian(s, "Kakade-Ng Theorem 2.2", "upper bound", price, words, known)


def student_equality(s: StreamFacts) -> Certificate:
    """(19.4): log loss after the first informative round f = Phi(T) - Phi(f), of V and Lam."""
    t, m = s.totals, s.totals.outcomes
    k = t.rounds - t.first + 1  # rounds from the first informative one on
    if t.first == 0:  # none yet: no round was charged
        now = then = 0.0
    else:
        now = student_side(t.fit, m * k, t.log_det, m)
        then = student_side(t.first_weighted, m, t.first_log_det, m)
    return _state(
        s,
        _named(s, "Student identity", "Student identity, kernel", "Student identity"),
        "equality",
        loss=t.loss,
        comparator=now - then,
        bound=now - then,
        statement=(
            f"log loss = Phi(T) - Phi({t.first}), Phi(t) = nu/2 ln(pi V) - ln Gamma(nu/2) + "
            f"{'1/2' if m == 1 else 'm/2'} {s.log}, nu = {s.m}(t - {t.first} + 1)"
        ),
        assumptions=(
            Assumption(
                f"round {t.first} sets the unit of the noise and is not charged, nor are those "
                "before it",
                met=True,
            ),
        ),
        size=abs(now) + abs(then),
        factor=0.5 * m * k / t.fit if t.first else 1.0,
        about=LOG,
    )


def student_side(V: float, nu: float, log_det: float, m: int) -> float:
    """Phi: minus the log of the likelihood that is left when s^2 is integrated out by ds^2/s^2."""
    return 0.5 * (nu * math.log(math.pi * V) + m * log_det) - math.lgamma(0.5 * nu)


# AAR --------------------------------------------------------------------------------------


def _aar(
    s: StreamFacts, name: str, form: str, price: float, statement: str, *more: Assumption
) -> Certificate:
    """V + Y^2 times a price; around a hint V + D^2 times it, |y - h| <= D (E1), by another name."""
    t = s.totals
    Y2, known = s.outcome_square()
    return _state(
        s,
        f"{_aar_named(s, name)}{form}",
        "upper bound",
        loss=t.loss,
        bound=aar_side(t.fit + t.opening, Y2, price),
        statement=f"sum (y - g)^2 <= {s.best} + {s.outcome_words} {statement}",
        assumptions=(known, *more),
        size=s.hint_rounding(t.loss),
    )


def _aar_named(s: StreamFacts, name: str) -> str:
    """The name of a statement without a hint and without a discount, or that of another."""
    if s.discount is not None:
        name = "AAR"
    return f"{HINTED if s.hint else name}{'' if s.discount is None else ', discounted'}"


def aar_bound(s: StreamFacts) -> Certificate:
    """BK Theorem 1 (Vovk 2001), or Theorem 3 (6) for AARCh: V + Y^2 Lam."""
    number = (4 if s.kernel else 3) if s.drifting else (2 if s.kernel else 1)
    return _aar(s, f"Busuttil-Kalnishkan Theorem {number}", "", s.totals.log_det, s.log)


def aar_leverage_bound(s: StreamFacts) -> Certificate:
    """Sharper: V + Y^2 sum (1 - 1/d), since 1 - 1/d <= ln d."""
    return _aar(s, "AAR", ", leverage form", s.totals.leverage, "sum (1 - 1/d)")


def aar_determinant_bound(s: StreamFacts) -> Certificate:
    """BK Theorem 1 with Lam <= n ln(1 + T X^2/a)."""
    X, known = s.width()
    name, form = "Busuttil-Kalnishkan Theorem 1", ", a priori"
    return _aar(s, name, form, s.determinant_bound(X * X), s.log_a_priori("X^2"), known)


def kernel_aar_horizon_bound(s: StreamFacts) -> Certificate:
    """BK Corollary 1, or (9) and Corollary 2 with drift: Lam <= c^2 sum_t sum_{s<=t} 1/a_s.

    That is c^2 T/a for fixed experts.  With a = (Y c/d) sqrt(T), see
    `noregret.kernels.horizon_precision`, KAAR's regret against functions of norm at most d is then
    2 Y c d sqrt(T) at the announced T; `horizon_drift` does the same for changes.
    """
    c, known = s.length()
    number = "2 (9)" if s.drifting else "1"
    sums = "c^2 sum_t sum_{s<=t} 1/a_s" if s.drifting else "c^2 T/a"
    name, form = f"Busuttil-Kalnishkan Corollary {number}", ", horizon form" if s.hint else ""
    return _aar(s, name, form, c * c * s.priors, sums, known)


def whole_space(s: StreamFacts) -> list[Certificate]:
    """A budget against every f of the kernel's space, from what it left out (18.9).

    V <= (sqrt L(f) + |f| sqrt(missed))^2 + a|f|^2, filled in for the best function of the features.
    While a dictionary grew, f said more than its features did, and only a bound on L(f) is known.
    """
    t = s.totals
    if not isinstance(s.budget, Nystrom | Taylor) or s.drifting:
        return []
    norm, charge = s.best_norm, s.prior_precision * s.best_norm**2
    beyond, root = norm * math.sqrt(max(t.missed, 0.0)), math.sqrt(max(t.best - charge, 0.0))
    sign = "="
    if isinstance(s.budget, Nystrom):
        root, sign = root + beyond, "<="
    side = (root + beyond) ** 2 + charge
    words = "(sqrt L(f) + |f| sqrt(missed))^2 + a|f|^2"
    if t.workers > 1:
        side += t.fit - t.best
        words += " + the learners' own minima less that of all rounds"
    unit = Assumption("every round had weight 1", met=not t.light)
    assumptions: tuple[Assumption, ...] = (unit,)
    if s.rule == AAR:
        Y2, known = s.outcome_square()
        bound = aar_side(side + t.opening, Y2, t.log_det)
        left, assumptions = "sum (y - g)^2", (known, unit)
        words += f" + {s.outcome_words} {s.log}"
    elif s.rule == CLIPPED:
        Y = s.clip if s.clip is not None else math.inf
        bound, left = clipped_side(side, Y, t.log_det, t.outcomes), "sum (y - g)^2"
        words += f" + 4 {s.m}Y^2 {s.log}"
        assumptions = (declared_bound("|y|", "Y", Y, t.largest), unit)
    else:
        bound, left = side, "what the best expert of the features is charged"
    return [
        _state(
            s,
            "budget against the whole space",
            "upper bound",
            loss=t.loss if s.rule in (AAR, CLIPPED) else t.fit,
            bound=bound,
            comparator=root * root + charge,
            statement=(
                f"{left} <= {words} for every f of the kernel's space, missed = {t.missed:.6g}; "
                f"here f is the best function of the features, L(f) {sign} {root * root:.6g}, "
                f"|f| = {norm:.6g}"
            ),
            assumptions=assumptions,
            about=SQUARE if s.rule in (AAR, CLIPPED) else "",
        )
    ]


def budget_report(s: StreamFacts) -> list[Certificate]:
    """How much of the kernel a budget has left out: no claim, a number to watch."""
    if s.budget is None or isinstance(s.budget, Window):
        return []
    t = s.totals
    total = t.missed + t.squared_norms
    statement = "sum of k(x, x) - |features of x|^2, against the sum of k(x, x)"
    if isinstance(s.budget, RandomFourier):
        statement += "; cosines and sines add up to 1 always, so it tells nothing here"
    return [
        Certificate.of(
            name="what the budget left out",
            kind="report",
            rounds=t.rounds,
            loss=t.missed,
            comparator=total,
            bound=total,
            statement=statement,
        )
    ]


def _named(s: StreamFacts, fixed: str, kernel: str, moving: str) -> str:
    """The name of a statement for fixed experts, for a kernel's, for changing ones."""
    if s.drifting:
        return f"{moving} for changing experts{'' if s.discount is None else ', discounted'}"
    return kernel if s.kernel else fixed


def aar_exact_loss(s: StreamFacts) -> Certificate:
    """(y - m/d)^2 - (y - m)^2/d = y^2 (1 - 1/d) - (d - 1)(m/d)^2, summed; no bound on y needed.

    Around a hint h the same of y - h and m - h, which leaves y - g and y - m as they are.
    """
    t = s.totals
    charge, relief = ("(y - h)^2", "(g - h)^2") if s.hint else ("y^2", "g^2")
    return _state(
        s,
        f"{_aar_named(s, 'AAR')}, exact loss",
        "equality",
        loss=t.loss,
        bound=t.fit + t.charge - t.relief,
        statement=f"sum (y - g)^2 = {s.best} + sum {charge} (1 - 1/d) - sum (d - 1) {relief}",
        assumptions=(Assumption(s.hint, met=True),) if s.hint else (),
        size=t.charge + t.relief + s.hint_rounding(t.loss),
    )
