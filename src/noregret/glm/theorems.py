"""What is proved of binary learners; F(w) = L(w) + |w|^2/(2 nu^2), L the log loss of fixed w.

KN is Kakade and Ng; docs/theory.md has the derivations.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from noregret._native import newton
from noregret._native.account import EXCESS, LOGDET, LONGEST, LOSS, PRICE
from noregret.certificates import LOG, Assumption, Certificate, Kind
from noregret.glm.audits import audits_of
from noregret.glm.exact import TOLERANCE, Exact
from noregret.glm.families import Family
from noregret.glm.posteriors import History, Mode, Particles, Recursive
from noregret.types import Matrix, Vector

if TYPE_CHECKING:
    from noregret.glm.binary import PosteriorState

__all__ = ["averaging", "best", "certificates", "gaussian_bound", "improper", "mode", "report"]


def certificates(state: PosteriorState) -> list[Certificate]:
    """Every statement that applies to a posterior of this kind, the main one first."""
    posterior = state.posterior
    if isinstance(posterior, Recursive):
        if posterior.method == "aioli":
            return improper(state, posterior)
        called = {"adf": "moment matching", "newton": "online Newton"}[posterior.method]
        return [report(state, f"{called}, no theorem")]
    assert isinstance(posterior, Mode | Particles)
    if isinstance(posterior, Mode) and posterior.method == "map":
        return mode(state, posterior)
    return averaging(state, posterior)


def _certificate(
    state: PosteriorState,
    kind: Kind,
    comparator: float,
    name: str,
    bound: float,
    statement: str,
    assumptions: tuple[Assumption, ...] = (),
) -> Certificate:
    return Certificate.of(
        name=name,
        kind=kind,
        rounds=state.rounds,
        loss=_total(state, LOSS),
        comparator=comparator,
        bound=bound,
        statement=statement,
        assumptions=assumptions,
        about=LOG,
        audit=audits_of(state),
    )


def _total(state: PosteriorState, row: int) -> float:
    return float(state.book[row].sum())


def report(state: PosteriorState, name: str) -> Certificate:
    """The loss alone: nothing is known to compare it with."""
    words = "log loss; no history is kept, so that the best expert in hindsight is not known"
    return _certificate(state, "report", 0.0, name, _total(state, LOSS), words)


def best(history: History, family: Family, nu2: float) -> float:
    """min F."""
    n, rows = history.size, history.rows
    w, curve, work = np.zeros(n), np.zeros((n, n)), np.zeros((2, n))
    kept = np.empty((n + 1, newton.width(n)))
    return newton.mode(family.code, rows, 1.0 / nu2, w, curve, work, kept, -1)[0]


def mode(state: PosteriorState, posterior: Mode) -> list[Certificate]:
    """Exact MAP: be-the-leader and stability, and KN Theorem 3.3."""
    family, nu2, F = posterior.family, 1.0 / posterior.precision, posterior.F
    off = 0.5 * nu2 * posterior.gradient**2 * state.rounds
    solved = Assumption(
        f"every round's mode is exact: |gradient| <= {posterior.gradient:.2g} in all of them, so "
        f"that the sums are right to {off:.2g}",
        met=off <= 1e-9 * max(F, 1.0),
    )
    live = "log loss <= min_w F(w) + sum (l_t(w_{t-1}) - l_t(w_t))"
    bounds: list[tuple[str, float, str, tuple[Assumption, ...]]] = [
        ("MAP, live form", F + _total(state, EXCESS), live, (solved,))
    ]
    if family.name == "logistic":
        Z = float(state.book[LONGEST, 0])
        z = nu2 * Z * Z
        factor = 1.0 + z * min(1.0, 0.4074 * math.exp(min(z, 700.0)))
        main = f"log loss <= {factor:.6g} min_w (L(w) + |w|^2/(2 nu^2)), Z = {Z:.6g}"
        bounds.insert(0, ("MAP, (1 + nu^2 Z^2) min F", factor * F, main, (solved,)))
        n, T = state.space.size, state.rounds
        published = 4.0 * F + 2.0 * n * math.log1p(T * nu2 / n) if n else 4.0 * F
        words = "log loss <= 4 L(w) + 2|w|^2/nu^2 + 2n ln(1 + T nu^2/n)"
        small = Assumption(f"prior_var <= 1/4: it is {nu2:.6g}", met=nu2 <= 0.25)
        short = Assumption(f"|x| <= 1: the largest so far is {Z:.6g}", met=Z <= 1.0)
        bounds.append(("Kakade-Ng Theorem 3.3", published, words, (small, short, solved)))
    return [_certificate(state, "upper bound", F, *bound) for bound in bounds]


def averaging(state: PosteriorState, posterior: Mode | Particles) -> list[Certificate]:
    """Averaging: both sides of min F <= loss <= min F + 1/2 ln det(I + c nu^2 sum xx'), KN 2.2."""
    family, nu2 = posterior.family, 1.0 / posterior.precision
    exact = isinstance(posterior, Exact)
    F = best(posterior.history, family, nu2)
    kind: Kind = "upper bound" if exact else "report"
    n, T, Z = state.space.size, state.rounds, float(state.book[LONGEST, 0])
    how = f"{type(posterior).__name__}: the theorem speaks of exact averaging"
    if exact:
        how = (
            "integrals by the trapezoidal rule: the logarithm of each is right to about "
            f"{TOLERANCE:g}, by which half as many nodes differ at the most"
        )
    approximate = (Assumption(how, met=True),)
    c = family.curvature
    spread = 0.5 * float(np.linalg.slogdet(np.eye(n) + c * nu2 * state.scatter)[1])
    published = 0.5 * n * math.log1p(T * c * nu2 * Z * Z / n) if n else 0.0
    first = f"log loss <= min_w F(w) + 1/2 ln det(I + {c:g} nu^2 sum xx')"
    second = (
        f"log loss <= min_w F(w) + n/2 ln(1 + T c nu^2 Z^2/n), c = {c:g}, Z = {Z:.6g} "
        "(printed for Z = 1)"
    )
    found = [
        _certificate(state, kind, F, name, F + charge, statement, approximate)
        for name, charge, statement in (
            ("Bayesian averaging, data-dependent", spread, first),
            ("Kakade-Ng Theorem 2.2", published, second),
        )
    ]
    if exact:
        loss = _total(state, LOSS)
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
                audit=audits_of(state),
            )
        )
    return found


def improper(state: PosteriorState, posterior: Recursive) -> list[Certificate]:
    """AIOLI: the exact account, and the determinant form that bounds it.

    The comparator is the minimum of the quadratic minorants: at most L(w) + lambda|w|^2 for every
    w with |w'x| <= C in all rounds.
    """
    bound, weight = posterior.bound, 0.5 * posterior.core.prior_precision
    loss, price, log_det = (_total(state, row) for row in (LOSS, PRICE, LOGDET))
    comparator = loss - price
    n = state.space.size
    C1 = 1.0 + bound
    widest = float(np.trace(state.scatter))
    a_priori = n * math.log1p(widest / (8.0 * n * weight * C1)) if n else 0.0
    expert = f"L(w) + {weight:g}|w|^2 for every w with |w'x| <= C = {bound:g} in all rounds"
    told = "; the comparator told is the loss less its exact price, by (14.3)"
    words = f"log loss <= {expert} + "
    return [
        _certificate(
            state, "upper bound", comparator, name, comparator + charge, words + text + told
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
