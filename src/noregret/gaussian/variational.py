"""Kakade and Ng's Lemma 2.1: Bayesian ridge against any Gaussian distribution over the experts.

For every distribution Q over weights, with p_0 the prior and p_T the posterior after T rounds,

    log loss = L_Q + KL(Q | p_0) - KL(Q | p_T) <= L_Q + KL(Q | p_0)

where L_Q is the mean log loss under Q of the experts N(w'x, s^2).  For Q = N(mu, S) all of it
follows from the triangle [R z] of the fixed core, R'R = A = aI + X'X, and the best expert's V:

    |y - X mu|^2 = |R mu - z|^2 + V - a|mu|^2,      tr(X S X') = tr(A S) - a tr(S)
"""

from __future__ import annotations

import math

import numpy as np

from noregret.certificates import Certificate
from noregret.errors import NotLearnedError, ParameterError, abbreviated
from noregret.gaussian.build import AnyStream
from noregret.gaussian.cores import PrimalCore
from noregret.gaussian.ledger import totals
from noregret.types import Matrix, Vector

__all__ = ["against"]


def against(stream: AnyStream, loss: float, mean: object, covariance: object) -> list[Certificate]:
    """Lemma 2.1 for Q = N(mean, covariance), and the equality behind it."""
    core = stream.core
    if not isinstance(core, PrimalCore) or stream.plan.budget is not None:
        raise NotLearnedError("distributions over experts need fixed weights: no kernel, no drift")
    n, m = core.shape
    if m != 1:
        raise NotLearnedError("distributions over experts are for one outcome per round")
    mu, root = _gaussian(mean, covariance, n)
    s2, a, t = stream.plan.rule.level, stream.plan.prior_precision, totals(stream.ledger)
    R, z = np.triu(core.factor[:, :n]), core.factor[:, n]
    apart = R @ mu - z
    trace, within = float((root * root).sum()), float(((R @ root) ** 2).sum())  # tr S, tr A S
    square = float(apart @ apart) + t.best - a * float(mu @ mu) + within - a * trace
    mean_loss = 0.5 * t.rounds * math.log(2.0 * math.pi * s2) + square / (2.0 * s2)
    log_det = 2.0 * float(np.log(np.diagonal(root)).sum())
    diagonal = np.abs(np.diagonal(R))
    prior = _divergence((a * (trace + float(mu @ mu))) / s2, n * math.log(s2 / a) - log_det, n)
    volume = n * math.log(s2) - 2.0 * float(np.log(diagonal).sum()) - log_det
    posterior = _divergence((within + float(apart @ apart)) / s2, volume, n)
    size = abs(mean_loss) + (t.best + within + float(mu @ mu) * a) / s2 + abs(prior)
    words = "mean log loss under Q + KL(Q | prior)"
    return [
        Certificate.of(
            name="Kakade-Ng Lemma 2.1",
            kind="upper bound",
            bound=mean_loss + prior,
            statement=f"log loss <= {words}, Q the Gaussian given over the experts w",
            rounds=t.rounds,
            loss=loss,
            comparator=mean_loss,
            scale=size,
        ),
        Certificate.of(
            name="Kakade-Ng Lemma 2.1, exact",
            kind="equality",
            bound=mean_loss + prior - posterior,
            statement=f"log loss = {words} - KL(Q | posterior), Q the Gaussian given",
            rounds=t.rounds,
            loss=loss,
            comparator=mean_loss,
            scale=size,
        ),
    ]


def _divergence(quadratic: float, volume: float, n: int) -> float:
    """KL of Gaussians from tr(P^-1 S) + |mu|^2 in units of P, and ln det P - ln det S."""
    return 0.5 * (quadratic - n + volume)


def _gaussian(mean: object, covariance: object, n: int) -> tuple[Vector, Matrix]:
    """The mean, and the lower root of the covariance: a number, a vector of variances, a matrix."""
    try:
        mu = np.broadcast_to(np.asarray(mean, dtype=np.float64), (n,))
        given = np.asarray(covariance, dtype=np.float64)
        S = np.diag(np.broadcast_to(given, (n,))) if given.ndim < 2 else given
        root = np.linalg.cholesky(S)
    except (TypeError, ValueError, np.linalg.LinAlgError) as wrong:
        raise ParameterError(
            f"mean = {abbreviated(mean)}, covariance = {abbreviated(covariance)}: give {n} numbers "
            f"and a positive definite matrix, as many variances, or one number > 0"
        ) from wrong
    fits = S.shape == (n, n) and np.array_equal(S, S.T)
    if not (fits and np.isfinite(mu).all() and np.isfinite(root).all()):
        raise ParameterError(
            f"covariance = {abbreviated(covariance)}: it must be symmetric, {n} x {n} and finite"
        )
    return mu, np.asarray(root, dtype=np.float64)
