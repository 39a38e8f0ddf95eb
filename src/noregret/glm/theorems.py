"""What is proved of yes-or-no learners; F(w) = L(w) + |w|^2/(2 nu^2), L the log loss of fixed w.

KN is Kakade and Ng; docs/theory.md has the derivations.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from noregret._ops import newton
from noregret._ops.account import EXCESS, LOGDET, LONGEST, LOSS, PRICE
from noregret.certificates import Assumption, Certificate, Kind
from noregret.glm.exact import Exact
from noregret.glm.families import Family
from noregret.glm.posteriors import History, Mode, Recursive
from noregret.types import Matrix, Vector

__all__ = ["averaging", "best", "gaussian_bound", "improper", "mode", "plain"]


def _state(belief: Any, name: str, kind: Kind, **more: Any) -> Certificate:
    loss = float(belief.book[LOSS].sum())
    return Certificate.of(name=name, kind=kind, rounds=belief.rounds, loss=loss, **more)


def plain(belief: Any, name: str) -> Certificate:
    """The loss alone: nothing is known to compare it with."""
    loss = float(belief.book[LOSS].sum())
    words = "log loss; no history is kept, so that the best expert in hindsight is not known"
    return _state(belief, name, "report", comparator=0.0, bound=loss, statement=words)


def best(history: History, family: Family, nu2: float) -> tuple[float, float]:
    """min F and how far below it might be, from the gradient at the point found."""
    n = history.held.shape[1]
    w, curve, work = np.zeros(n), np.zeros((n, n)), np.zeros((2, n))
    rows = history.rows
    F, _, gradient, _ = newton.mode(
        family.code, rows, 1.0 / nu2, w, curve, work, np.empty_like(rows)
    )
    return F, 0.5 * nu2 * gradient * gradient


def _length(belief: Any) -> float:
    return float(belief.book[LONGEST, 0])


def _log_det(scatter: Matrix, scale: float) -> float:
    n = len(scatter)
    return float(np.linalg.slogdet(np.eye(n) + scale * scatter)[1])


def mode(belief: Any) -> list[Certificate]:
    """Exact MAP: be-the-leader and stability, and KN Theorem 3.3."""
    posterior: Mode = belief.posterior
    family, nu2 = posterior.family, 1.0 / posterior.precision
    F = posterior.F
    Z = _length(belief)
    solved = Assumption(
        f"the mode is exact: |gradient| = {posterior.gradient:.2g}, so min F is right to "
        f"{0.5 * nu2 * posterior.gradient**2:.2g}",
        met=0.5 * nu2 * posterior.gradient**2 <= 1e-9 * max(F, 1.0),
    )
    found = [
        _state(
            belief,
            "MAP, live form",
            "upper bound",
            comparator=F,
            bound=F + float(belief.book[EXCESS].sum()),
            statement="log loss <= min_w F(w) + sum (l_t(w_{t-1}) - l_t(w_t))",
            assumptions=(solved,),
        )
    ]
    if family.name != "logistic":
        return found
    z = nu2 * Z * Z
    factor = 1.0 + z * min(1.0, 0.4074 * math.exp(min(z, 700.0)))
    n, T = belief.space.size, belief.rounds
    published = 4.0 * F + 2.0 * n * math.log1p(T * nu2 / n) if n else 4.0 * F
    small = Assumption(f"prior_var <= 1/4: it is {nu2:.6g}", met=nu2 <= 0.25)
    short = Assumption(f"|x| <= 1: the largest so far is {Z:.6g}", met=Z <= 1.0)
    return [
        _state(
            belief,
            "MAP, (1 + nu^2 Z^2) min F",
            "upper bound",
            comparator=F,
            bound=factor * F,
            statement=f"log loss <= {factor:.6g} min_w (L(w) + |w|^2/(2 nu^2)), Z = {Z:.6g}",
            assumptions=(solved,),
        ),
        *found,
        _state(
            belief,
            "Kakade-Ng Theorem 3.3",
            "upper bound",
            comparator=F,
            bound=published,
            statement="log loss <= 4 L(w) + 2|w|^2/nu^2 + 2n ln(1 + T nu^2/n)",
            assumptions=(small, short, solved),
        ),
    ]


def averaging(belief: Any) -> list[Certificate]:
    """Averaging: both sides of min F <= loss <= min F + 1/2 ln det(I + c nu^2 sum xx'), KN 2.2."""
    posterior = belief.posterior
    if isinstance(posterior, Recursive):
        return [plain(belief, "moment matching, no theorem")]
    family, nu2 = posterior.family, 1.0 / posterior.precision
    exact = isinstance(posterior, Exact)
    F, _ = best(posterior.history, family, nu2)
    kind: Kind = "upper bound" if exact else "report"
    n, T, Z = belief.space.size, belief.rounds, _length(belief)
    how = f"{type(posterior).__name__}: the theorem speaks of exact averaging"
    approximate = () if exact else (Assumption(how, met=True),)
    c = family.curvature
    spread = 0.5 * _log_det(belief.scatter, c * nu2)
    published = 0.5 * n * math.log1p(T * c * nu2 * Z * Z / n) if n else 0.0
    found = [
        _state(
            belief,
            "Bayesian averaging, data-dependent",
            kind,
            comparator=F,
            bound=F + spread,
            statement=f"log loss <= min_w F(w) + 1/2 ln det(I + {c:g} nu^2 sum xx')",
            assumptions=approximate,
        ),
        _state(
            belief,
            "Kakade-Ng Theorem 2.2",
            kind,
            comparator=F,
            bound=F + published,
            statement=(
                f"log loss <= min_w F(w) + n/2 ln(1 + T c nu^2 Z^2/n), c = {c:g}, Z = {Z:.6g} "
                "(printed for Z = 1)"
            ),
            assumptions=approximate,
        ),
    ]
    if exact:
        loss = float(belief.book[LOSS].sum())
        found.append(
            Certificate.of(
                name="Bayesian averaging, from below",
                kind="upper bound",
                rounds=T,
                loss=F,
                comparator=F,
                bound=loss,
                statement="min_w F(w) <= log loss",
                scale=max(loss, 1.0),
            )
        )
    return found


def improper(belief: Any) -> list[Certificate]:
    """AIOLI: the exact account, and the determinant form that bounds it.

    The comparator is the minimum of the quadratic minorants: at most L(w) + lambda|w|^2 for every
    w with |w'x| <= C in all rounds.
    """
    bound, weight = belief.posterior.bound, 0.5 * belief.posterior.core.prior_precision
    loss = float(belief.book[LOSS].sum())
    price = float(belief.book[PRICE].sum())
    log_det = float(belief.book[LOGDET].sum())
    n = belief.space.size
    widest = float(np.trace(belief.scatter))
    C1 = 1.0 + bound
    a_priori = n * math.log1p(widest / (8.0 * n * weight * C1)) if n else 0.0
    words = f"L(w) + {weight:g}|w|^2 for every w with |w'x| <= C = {bound:g} in all rounds"
    return [
        _state(
            belief,
            name,
            "upper bound",
            comparator=loss - price,
            bound=loss - price + charge,
            statement=f"log loss <= {words} + {text}",
        )
        for name, charge, text in (
            ("AIOLI", C1 * log_det, "(1+C) ln det(A_T/A_0)"),
            ("AIOLI, a priori", C1 * a_priori, "(1+C) n ln(1 + sum |x|^2/(8 n lambda (1+C)))"),
        )
    ]


def gaussian_bound(
    X: Matrix, labels: Vector, mean: Vector, cov: Matrix, *, prior_var: float, family: Family
) -> float:
    """KN Lemma 2.1: L_Q + KL(Q | prior) for Q = N(mean, cov), which exact averaging stays under.

    >>> from noregret.glm.families import LOGISTIC
    >>> X, labels = np.array([[1.0], [-1.0]]), np.array([1, 0])
    >>> round(gaussian_bound(X, labels, np.zeros(1), np.eye(1), prior_var=1.0, family=LOGISTIC), 4)
    1.6121
    """
    n = len(mean)
    total = 0.0
    for x, label in zip(np.asarray(X, dtype=float), labels):
        centre, sd = float(x @ mean), math.sqrt(max(float(x @ cov @ x), 0.0))
        total += _expected(family, centre if label else -centre, sd)
    log_det = float(np.linalg.slogdet(cov)[1])
    gap = (float(np.trace(cov)) + float(mean @ mean)) / prior_var - n
    return total + 0.5 * (gap + n * math.log(prior_var) - log_det)


BENDS = (-40.0, -20.0, -8.0, -4.0, -2.0, 0.0, 2.0, 4.0, 8.0, 20.0, 40.0)
NODES, WEIGHTS = np.polynomial.legendre.leggauss(20)


def _expected(family: Family, centre: float, sd: float) -> float:
    """E l(a) for a ~ N(centre, sd^2): Gauss's rule between points a deviation apart.

    And between those where the loss bends, so that no panel is longer than what happens in it.
    """
    if sd == 0.0:
        return family.loss_and_derivatives(centre)[0]
    ends = centre + sd * np.arange(-12.0, 13.0)
    inside = [a for a in BENDS if ends[0] < a < ends[-1]]
    cuts = np.unique(np.concatenate([ends, inside]))
    half = 0.5 * np.diff(cuts)[:, None]
    a = (0.5 * (cuts[1:] + cuts[:-1])[:, None] + half * NODES).ravel()
    density = np.exp(-0.5 * ((a - centre) / sd) ** 2) / (sd * math.sqrt(2.0 * math.pi))
    losses = np.array([family.loss_and_derivatives(z)[0] for z in a.tolist()])
    return float(((half * WEIGHTS).ravel() * density) @ losses)
