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

from noregret._native.layout import AAR, BAYES, CLIPPED
from noregret.budgets import RandomFourier, Window
from noregret.certificates import Assumption, Certificate, Kind
from noregret.gaussian.facts import StreamFacts, declared_bound
from noregret.types import Vector

__all__ = [
    "Theorem",
    "aar_bound",
    "aar_side",
    "bayesian_side",
    "clipped_side",
    "statements",
    "theorems_of",
]

Theorem = Callable[[StreamFacts], Certificate]
N = TypeVar("N", float, Vector)


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
    return [*(theorem(s) for theorem in theorems_of(s)), *budget_report(s)]


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
    elif s.rule == CLIPPED:
        found = [clipped_bound, clipped_leverage_bound, ridge_equality]
        if not s.drifting:
            found.insert(2, clipped_determinant_bound)
    else:
        found = [ridge_equality, ridge_norm_bound]
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
    scale: float = 0.0,
) -> Certificate:
    """A statement, with what a budget and a merge add; the comparator is the best expert."""
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
        comparator=s.totals.best if comparator is None else comparator,
        bound=bound,
        statement=statement,
        assumptions=assumptions,
        scale=scale,
    )


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


# Bayesian ridge ---------------------------------------------------------------------------


def _bayesian(
    s: StreamFacts, name: str, kind: Kind, price: float, statement: str, *known: Assumption
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
        bound=bayesian_side(t.fit, float(t.rounds), s.noise_var, price, t.outcomes),
        statement=(
            f"log loss {sign} {s.m}T/2 ln(2 pi s^2) + ({s.best})/(2 s^2) + {half} {statement}"
        ),
        assumptions=known,
        scale=abs(s.log_loss(0.0)) + t.fit / (2.0 * s.noise_var) + 0.5 * t.outcomes * price,
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


# AAR --------------------------------------------------------------------------------------


def _aar(s: StreamFacts, name: str, price: float, statement: str, *more: Assumption) -> Certificate:
    t = s.totals
    Y2, known = s.outcome_square()
    return _state(
        s,
        name,
        "upper bound",
        loss=t.loss,
        bound=aar_side(t.fit, Y2, price),
        statement=f"sum (y - g)^2 <= {s.best} + {s.outcome_words} {statement}",
        assumptions=(known, *more),
    )


def aar_bound(s: StreamFacts) -> Certificate:
    """BK Theorem 1 (Vovk 2001), or Theorem 3 (6) for AARCh: V + Y^2 Lam."""
    number = (4 if s.kernel else 3) if s.drifting else (2 if s.kernel else 1)
    return _aar(s, f"Busuttil-Kalnishkan Theorem {number}", s.totals.log_det, s.log)


def aar_leverage_bound(s: StreamFacts) -> Certificate:
    """Sharper: V + Y^2 sum (1 - 1/d), since 1 - 1/d <= ln d."""
    return _aar(s, "AAR, leverage form", s.totals.leverage, "sum (1 - 1/d)")


def aar_determinant_bound(s: StreamFacts) -> Certificate:
    """BK Theorem 1 with Lam <= n ln(1 + T X^2/a)."""
    X, known = s.width()
    name = "Busuttil-Kalnishkan Theorem 1, a priori"
    return _aar(s, name, s.determinant_bound(X * X), s.log_a_priori("X^2"), known)


def kernel_aar_horizon_bound(s: StreamFacts) -> Certificate:
    """BK Corollary 1, or (9) and Corollary 2 with drift: Lam <= c^2 sum_t sum_{s<=t} 1/a_s.

    That is c^2 T/a for fixed experts.  With a = (Y c/d) sqrt(T), see
    `noregret.kernels.horizon_precision`, KAAR's regret against functions of norm at most d is then
    2 Y c d sqrt(T) at the announced T; `horizon_drift` does the same for changes.
    """
    c, known = s.length()
    number = "2 (9)" if s.drifting else "1"
    sums = "c^2 sum_t sum_{s<=t} 1/a_s" if s.drifting else "c^2 T/a"
    return _aar(s, f"Busuttil-Kalnishkan Corollary {number}", c * c * s.priors, sums, known)


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
        return f"{moving} for changing experts"
    return kernel if s.kernel else fixed


def aar_exact_loss(s: StreamFacts) -> Certificate:
    """(y - m/d)^2 - (y - m)^2/d = y^2 (1 - 1/d) - (d - 1)(m/d)^2, summed; no bound on y needed."""
    t = s.totals
    return _state(
        s,
        "AAR, exact loss",
        "equality",
        loss=t.loss,
        bound=t.fit + t.charge - t.relief,
        statement=f"sum (y - g)^2 = {s.best} + sum y^2 (1 - 1/d) - sum (d - 1) g^2",
    )
