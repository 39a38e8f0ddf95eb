"""What is proved of kernel LMS and of K-LMS-NET: from a state to certificates.

Kernel LMS (Cesa-Bianchi, Long and Warmuth 1996): for k(x, x) <= X^2 and eta X^2 < 1, every h has
L <= L(h)/(1 - eta X^2) + |h|^2/eta.  The net is exponential weights over its nodes, so it pays
c ln(1/w_j) more than node j, whatever the quadrature (Kivinen and Warmuth 1999; Vovk 1990).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from noregret.certificates import SQUARE, Assumption, Certificate, Kind
from noregret.lms.comparators import Expansion, Seen, Values, checked
from noregret.lms.totals import Budgets, NetTotals, Totals
from noregret.types import Vector

__all__ = [
    "each_round",
    "expansion_bounds",
    "finite_mixture",
    "kernel_lms",
    "kernel_lms_budgets",
    "potential",
]


class Measured(NamedTuple):
    """L(h), |h|^2, and the bound on the surfeit's square that the given signs make."""

    loss: float
    square: float
    surfeit: float

    @property
    def norm(self) -> float:
        """|h|."""
        return math.sqrt(self.square)


def measured(k: Values, seen: Seen, h: Expansion) -> Measured:
    """What h costs on the stream."""
    points, b = checked(h.points, seen.patterns), h.coefficients
    gram = k(points, points)
    plus, minus = np.maximum(b, 0.0), np.minimum(b, 0.0)
    surfeit = float(plus @ gram @ plus + minus @ gram @ minus)
    loss = seen.loss(k(seen.patterns, points) @ b)
    return Measured(loss, max(float(b @ gram @ b), 0.0), surfeit)


def _against(
    name: str,
    t: Totals,
    seen: Seen,
    comparator: float,
    bound: float,
    statement: str,
    assumptions: tuple[Assumption, ...],
) -> Certificate:
    """A statement about expansions; a report where the budget has forgotten patterns."""
    about = "" if seen.complete else "; a report: L(h) is over the patterns that the budget kept"
    return Certificate.of(
        name=name,
        kind=_kind(seen),
        rounds=t.rounds,
        loss=t.loss,
        comparator=comparator,
        bound=bound,
        statement=statement + about,
        assumptions=assumptions,
        about=SQUARE,
    )


def _kind(seen: Seen) -> Kind:
    return "upper bound" if seen.complete else "report"


# Kernel LMS ---------------------------------------------------------------------------------


def _rate(t: Totals) -> Assumption:
    return Assumption(
        f"eta X^2 = {t.eta * t.peak:.6g} < 1, X^2 = {t.peak:.6g} the largest k(x, x)",
        met=t.eta * t.peak < 1.0,
    )


def kernel_lms(k: Values, seen: Seen, h: Expansion, t: Totals) -> Certificate:
    """L <= L(h)/(1 - eta X^2) + |h|^2/eta, for the h that makes the right side least."""
    at = measured(k, seen, h)
    room = max(1.0 - t.eta * t.peak, 0.0)
    bound = at.loss / room + at.square / t.eta if room > 0.0 else math.inf
    statement = (
        "sum (y - g)^2 <= L(h)/(1 - eta X^2) + |h|^2/eta for every h; here "
        f"L(h) = {at.loss:.6g}, |h| = {at.norm:.6g}, eta = {t.eta:.6g}"
    )
    return _against("kernel LMS", t, seen, at.loss, bound, statement, (_rate(t),))


def kernel_lms_budgets(
    k: Values, seen: Seen, h: Expansion, t: Totals, given: float, budgets: Budgets
) -> Certificate:
    """CLW with (7): L <= L(h) + 2 sqrt(L^) H^ X + H^2 X^2 for L(h) <= L^, |h| <= H^, X^2 given."""
    at = measured(k, seen, h)
    loss, norm = at.loss, at.norm
    bound = loss + _tuned(budgets, given)
    statement = (
        "sum (y - g)^2 <= L(h) + 2 sqrt(L^) H^ X + H^2 X^2 for every h with L(h) <= L^ and "
        "|h| <= H^"
    )
    assumptions = (
        Assumption(f"L(h) = {loss:.6g} <= L^ = {budgets.loss:.6g}", met=loss <= budgets.loss),
        Assumption(
            f"|h| = {norm:.6g} <= H^ = {budgets.norm:.6g}", met=norm <= budgets.norm * (1 + 1e-12)
        ),
        Assumption(
            f"k(x, x) <= X^2 = {given:.6g}: the largest was {t.peak:.6g}",
            met=t.peak <= given * (1.0 + 1e-12),
        ),
    )
    return _against("kernel LMS, budgets", t, seen, loss, bound, statement, assumptions)


def _tuned(budgets: Budgets, peak: float) -> float:
    """2 sqrt(L^) H^ X + H^2 X^2."""
    reach = budgets.norm * math.sqrt(peak)
    return 2.0 * math.sqrt(budgets.loss) * reach + reach * reach


# The finite mixture -------------------------------------------------------------------------


def _nat(t: NetTotals) -> str:
    return "(hi-lo)^2/2" if t.price < (t.high - t.low) ** 2 else "2 (hi-lo)^2"


def _mixture(name: str, t: NetTotals, bound: float, statement: str) -> Certificate:
    return Certificate.of(
        name=name,
        kind="upper bound",
        rounds=t.rounds,
        loss=t.loss,
        comparator=float(np.min(t.paid)),
        bound=bound,
        statement=statement,
        scale=t.price,  # of a logarithm of weights
        about=SQUARE,
    )


def finite_mixture(t: NetTotals) -> Certificate:
    """L <= min_j [L_j + c ln(1/w_j)]: exact, no quadrature in it."""
    as_it_ran = " (each node as it ran, with its budget)" if t.budgeted else ""
    statement = (
        f"sum (y - g)^2 <= min_j (L_j + {_nat(t)} ln 1/w_j) over {t.paid.size} widths, L_j "
        f"the loss of clipped kernel LMS at width j{as_it_ran}"
    )
    bound = float(np.min(t.paid - t.price * np.log(t.weights)))
    return _mixture("K-LMS-NET, best width", t, bound, statement)


def potential(t: NetTotals) -> Certificate:
    """L <= -c ln sum_j w_j exp(-L_j/c), all widths at once."""
    statement = f"sum (y - g)^2 <= -c ln sum_j w_j exp(-L_j/c), c = {t.price:.6g}"
    return _mixture("K-LMS-NET, mixture form", t, _soft(t, t.paid), statement)


def _soft(t: NetTotals, losses: Vector) -> float:
    """-c ln sum_j w_j exp(-losses_j/c)."""
    best = float(np.min(losses))
    return best - t.price * math.log(math.fsum(t.weights * np.exp((best - losses) / t.price)))


def each_round(t: NetTotals) -> Certificate:
    """The inequality behind the bound in its worst round, and that the mixes add up."""
    return Certificate.of(
        name="K-LMS-NET, every round",
        kind="upper bound",
        rounds=t.rounds,
        loss=t.worst,
        comparator=0.0,
        bound=0.0,
        statement=(
            "max_t (loss_t - mix_t)/c <= 0, mix_t = -c ln sum_j v_j exp(-loss_tj/c); worst in "
            f"round {t.worst_round}"
        ),
        scale=1.0,
    )


# Herbster's theorems ------------------------------------------------------------------------


def expansion_bounds(
    matrix: Callable[[float], Values],
    t: NetTotals,
    seen: Seen,
    h: Expansion,
    box: tuple[float, float] | None,
    scale: float,
    spans: tuple[float, float],
) -> list[Certificate]:
    """Theorem 1 in both forms, and Theorem 2 where kernels are Gaussian (`box` is then given).

    Theorem 1 speaks of one function for each width; here all have the coefficients of h.  `spans`:
    the smallest and largest entry of any x or point of h.
    """
    assert h.width is not None
    at = measured(matrix(h.width), seen, h)
    about = (
        f"h of {len(h.coefficients)} terms at alpha = {h.width:.6g} has L(h) = {at.loss:.6g}, "
        f"|h| = {at.norm:.6g}, surfeit <= {math.sqrt(at.surfeit):.6g}"
    )
    nodes = [measured(matrix(float(alpha)), seen, h) for alpha in t.alphas]
    found = [_any_rate(t, seen, about, at, nodes)]
    if t.budgets is not None:
        found.append(_theorem_1(t, seen, about, at, nodes, t.budgets))
    if box is not None:
        own = found[0].bound
        found.append(_theorem_2(t, seen, about, at, own, h.width, box, scale, spans))
    return found


def _any_rate(
    t: NetTotals, seen: Seen, about: str, at: Measured, nodes: Sequence[Measured]
) -> Certificate:
    """Theorem 1 for a given rate, over the nodes: -c ln sum_j w_j exp(-B_j/c)."""
    room = max(1.0 - t.eta * t.peak, 1e-300)
    charged = np.array([loss / room + square / t.eta for loss, square, _ in nodes])
    statement = (
        "sum (y - g)^2 <= -c ln sum_j w_j exp(-B_j/c), B_j = L(h_j)/(1 - eta X^2) + "
        f"|h_j|^2/eta, h_j with the coefficients of h at width j; {about}"
    )
    bound = _soft(t, charged)
    return _against("Theorem 1, any rate", t, seen, at.loss, bound, statement, (_rate(t),))


def _theorem_1(
    t: NetTotals,
    seen: Seen,
    about: str,
    at: Measured,
    nodes: Sequence[Measured],
    budgets: Budgets,
) -> Certificate:
    """(5) with (6) and (7) as they must read: 2 sqrt(L^) H^ X^, k(x, x) <= X^2.

    A is the set of nodes that makes the bound least among those where (6) holds.
    """
    loss, norm = np.array([v.loss for v in nodes]), np.array([v.norm for v in nodes])
    fits = (loss <= budgets.loss) & (norm <= budgets.norm)
    order = np.argsort(np.where(fits, loss, math.inf))[: int(fits.sum())]
    sup, mass = loss[order], np.cumsum(t.weights[order])
    totals = sup - t.price * np.log(mass)
    best = int(np.argmin(totals)) if totals.size else -1
    comparator = float(sup[best]) if totals.size else at.loss
    bound = (float(totals[best]) if totals.size else 0.0) + _tuned(budgets, 1.0)
    statement = (
        f"sum (y - g)^2 <= sup_A L(h) + 2 sqrt(L^) H^ + H^2 + {_nat(t)} ln 1/w(A), A of "
        f"{best + 1} widths; {about}"
    )
    assumptions = (
        Assumption(
            f"(6) L(h) <= L^ = {budgets.loss:.6g} and |h| <= H^ = {budgets.norm:.6g} at "
            f"{int(fits.sum())} of {fits.size} widths, at least one",
            met=bool(fits.any()),
        ),
        Assumption(f"(6) k(x, x) <= 1: the largest was {t.peak:.6g}", met=t.peak <= 1 + 1e-12),
    )
    return _against("Theorem 1", t, seen, comparator, bound, statement, assumptions)


def _theorem_2(
    t: NetTotals,
    seen: Seen,
    about: str,
    at: Measured,
    own: float | None,
    alpha: float,
    box: tuple[float, float],
    scale: float,
    spans: tuple[float, float],
) -> Certificate:
    """(19), with the two hypotheses that it forgets, |h| >= 1 and max|r| >= 1.

    (19) is proved for the integral; the finite mixture that ran is covered where its own bound is
    no larger.
    """
    (loss, square, surfeit), norm, r = at, at.norm, max(abs(t.low), abs(t.high))
    budgets = t.budgets or Budgets(loss + 1.0, norm + 2.0)
    L_hat, H_hat = budgets.loss, budgets.norm
    c = min(1.0, t.price, H_hat - 1.0, H_hat**2 - square, L_hat - loss)
    c = c * (1.0 - 1e-9) if c > 0.0 else 1.0
    n, side = seen.patterns.shape[1], box[1] - box[0]
    reach = 5.0 * scale * t.rounds * r * n * side * side * surfeit / c  # 1/delta
    bound = loss + 2.0 * math.sqrt(L_hat) * H_hat + H_hat**2 + c
    bound += t.price * math.log(max(reach, 1e-300))
    most = 1.0 - 1.0 / max(reach, 1e-300)
    covered = own is not None and own <= bound
    statement = (
        f"sum (y - g)^2 <= L(h) + 2 sqrt(L^) H^ + H^2 + c + {_nat(t)} ln(5 s0 T max|r| n "
        f"(x2-x1)^2 S(h)^2 / c), c = {c:.6g}; {about}"
    )
    assumptions = (
        Assumption("(18) eta comes from loss_budget and norm_budget", met=t.budgets is not None),
        Assumption(f"L(h) + c = {loss + c:.6g} <= L^ = {L_hat:.6g}", met=loss + c <= L_hat),
        Assumption(
            f"|h|^2 + c = {square + c:.6g} <= H^2 = {H_hat**2:.6g}", met=square + c <= H_hat**2
        ),
        Assumption(f"H^ = {H_hat:.6g} >= 1 + c = {1 + c:.6g}", met=H_hat >= 1.0 + c),
        Assumption(
            f"(20) alpha = {alpha:.6g} <= 1 - {1.0 / max(reach, 1e-300):.6g}", met=alpha <= most
        ),
        Assumption(f"|h| = {norm:.6g} >= 1", met=norm >= 1.0),
        Assumption(f"max|r| = {r:.6g} >= 1", met=r >= 1.0),
        Assumption(f"s0 = {scale:.6g} >= 1", met=scale >= 1.0),
        Assumption(
            f"all inputs and points of h in [{box[0]:.6g}, {box[1]:.6g}]^n: they reach from "
            f"{spans[0]:.6g} to {spans[1]:.6g}",
            met=box[0] <= spans[0] and spans[1] <= box[1],
        ),
        Assumption(
            "the widths that ran are fine enough: their own bound is no larger", met=covered
        ),
    )
    return _against("Theorem 2", t, seen, loss, bound, statement, assumptions)
