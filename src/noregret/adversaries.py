"""The streams of the lower-bound proofs: what a learner, or any learner, cannot do better.

ZV are Zhdanov and Vovk, KN Kakade and Ng.  Streams are arrays (X, y); an opponent chooses y after
it has seen the forecast; `play` plays a learner against either.  With prior precision a,
V = min_w (sum (y - w'x)^2 + a|w|^2).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from noregret.declare.parameters import Number, Whole
from noregret.errors import InputError, ParameterError
from noregret.learner.base import Learner
from noregret.types import Matrix, Normal, Vector

__all__ = [
    "ADVERSARIES",
    "Adversary",
    "BayesOpponent",
    "Duel",
    "bayes_sample",
    "doubling",
    "play",
    "reversal",
]

STEPS = (1.0, -1.0, 0.5, -0.5, 0.0)  # where BayesOpponent looks, in standard deviations
WIDER = tuple(sign * k / 8.0 for k in range(1, 65) for sign in (1.0, -1.0))
NEAR = 1e-12  # log densities that agree to this are the same


@runtime_checkable
class Distribution(Protocol):
    """A forecast of one outcome that is more than a number."""

    def log_density(self, y: float) -> float:
        """ln of the density at y."""
        ...


def doubling(
    rounds: int, *, prior_precision: float = 1.0, outcome_bound: float = 1.0
) -> tuple[Matrix, Vector]:
    """Growing inputs, outcomes of changing sign: clipped ridge needs a factor near 3/(2 ln 2).

    x_t = sqrt(a) 2^t, y_t = (-1)^t Y.  The forecasts of ridge tend to -y_t, so that T rounds cost
    4Y^2 T - O(1), with or without clipping, while V = (T - 1/3) Y^2 + o(1) and
    ln det(I + X'X/a) = ln((4^(T+1) - 1)/3) = 2T ln 2 + O(1).  So the 4 in

        sum (y - g)^2 <= V + 4Y^2 ln det(I + X'X/a)                         ZV Corollary 1 (2)

    cannot be replaced by any number below 3/(2 ln 2) = 2.1640 (ZV, after (3); Vovk 2001, Theorem
    3).  That is a limit from below: the factor is 1.846 at T = 10, 2.156 at T = 400 and 2.161 at
    T = 1000.  AAR, whose theorem has Y^2 for the 4Y^2, needs 9/(32 ln 2) = 0.406 here.

    sqrt(a) 2^T must not exceed 2^1000, beyond which learners refuse features: T <= 1000 at a = 1.

    >>> import noregret as nr
    >>> certificate = nr.Ridge(clip=1.0).replay(*doubling(400)).certificate
    >>> print(f"{certificate.regret / math.log((4**401 - 1) / 3):.3f}")
    2.156
    """
    T = _whole("rounds", rounds)
    a, Y = _positive("prior_precision", prior_precision), _positive("outcome_bound", outcome_bound)
    most = math.floor(1000 - 0.5 * math.log2(a))  # learners refuse features beyond 2^1000
    if most < T:
        raise ParameterError(
            f"rounds = {rounds!r}: x = sqrt(a) 2^rounds must not exceed 2^1000, "
            f"so give at most {most} at prior_precision = {a:g}"
        )
    t = np.arange(1, T + 1)
    return np.ldexp(math.sqrt(a), t)[:, None], np.where(t % 2, -Y, Y)


def reversal(
    rounds: int, *, norm_bound: float = 1.0, outcome_bound: float = 1.0
) -> tuple[Matrix, Vector]:
    """Many small hints, then one large input that belies them: ridge pays Omega(T), KN Theorem 3.2.

    T = rounds - 1 times x = Z/sqrt(T), y = Y, then once x = Z, y = 0.  Ridge with prior precision a
    forecasts sqrt(T) Y z/(1 + z) at last, z = Z^2/a.  In units of Y^2 T (derived here for any z)

        V = (1 + z)/(1 + 2z),     sum (y - m)^2 >= (1 + z + z^2)/(1 + z)^2,
        regret >= z^3/((1 + z)^2 (1 + 2z)) > 0

    KN have z = 1 and halved losses: L_MAP >= 3T/8, as printed; but inf = T/3, where T/4 forgets the
    last round, and so a gap of T/24, not T/8.  Clipped ridge pays Y^2 at most in the last round,
    and AAR's regret is at most Y^2 ln(1 + 2z) whatever T; at z = 1 and T > 11 it pays less than V.

    >>> import noregret as nr
    >>> for learner in (nr.Ridge(), nr.Ridge(clip=1.0), nr.AAR()):
    ...     X, y = reversal(1201)
    ...     loss = play((X, y), learner).loss.sum()
    ...     print(f"{loss / 2:.1f} - {learner.certificate().comparator / 2:.1f}")
    450.2 - 400.0
    300.7 - 400.0
    367.0 - 400.0
    """
    T = _whole("rounds", rounds, least=2) - 1
    Z, Y = _positive("norm_bound", norm_bound), _positive("outcome_bound", outcome_bound)
    X, y = np.full((T + 1, 1), Z / math.sqrt(T)), np.full(T + 1, Y)
    X[T], y[T] = Z, 0.0
    return X, y


def bayes_sample(
    rounds: int,
    features: int = 1,
    *,
    prior_precision: float = 1.0,
    noise_var: float = 1.0,
    seed: int = 0,
) -> tuple[Matrix, Vector]:
    """Outcomes drawn from the Bayesian's own prior: nobody beats Bayes on average, KN Theorem 2.3.

    Inputs as for `BayesOpponent`; y = w'x + noise with w ~ N(0, s^2/a I), noise ~ N(0, s^2).  Then
    for every predictive density q whatever, normal or not,

        E sum -ln q(y) >= E sum -ln p(y),    p of BayesianRidge(a, noise_var=s^2)

    since the difference is a Kullback-Leibler divergence, the normalisation of KN's proof.  Also
    E sum (y - g)^2 >= E sum (y - m)^2 = s^2 sum d for every g: m, ridge's forecast, is p's mean.

    >>> import noregret as nr
    >>> for make in (nr.Ridge, nr.AAR):
    ...     losses = [play(bayes_sample(40, 2, seed=k), make()).loss.sum() for k in range(200)]
    ...     print(f"{np.mean(losses):.1f}")
    45.8
    46.3
    """
    T, n = _whole("rounds", rounds), _whole("features", features)
    a, s2 = _positive("prior_precision", prior_precision), _positive("noise_var", noise_var)
    rng = np.random.default_rng(_whole("seed", seed, least=0))
    X = np.eye(n)[np.arange(T) * n // T]
    w = math.sqrt(s2 / a) * rng.standard_normal(n)
    return X, X @ w + math.sqrt(s2) * rng.standard_normal(T)


class BayesOpponent:
    """Answers every forecast by an outcome on which Bayes does no worse, KN Theorem 2.3.

    `ask` gives x, `answer` takes the forecast and gives y.  x = e_k in n blocks of T_k = floor(T/n)
    rounds or one more.  Bayesian ridge forecasts p = N(m, s^2 d), and then, whatever y is,

        sum -ln p(y) = best + margin,     margin = 1/2 sum_k ln(1 + T_k/a),
        best = inf_w (log loss of N(w'x, s^2) + a|w|^2/(2 s^2))

    Densities q and p both integrate to 1, so q(y) <= p(y) for some y.  If q = N(u, v), y = m is one
    where v > s^2 d, else the y one standard deviation of p from m, away from u.  `answer` takes the
    one of m and m +- 1/2, 1 deviations with the largest p(y)/q(y); if q is above p in all of them,
    as no normal q is, the nearest of many more.  Round after round so, and not only on average,

        sum -ln q(y) >= best + margin >= best + n/2 ln(1 + floor(T/n)/a)

    KN have a = s^2 = 1, the equality for n = 1, and "floor(T/n) subsequences" for the n blocks.
    If n divides T, this is the regret that KN Theorem 2.2 allows: Bayes is minimax.  Outcomes are
    real, not labels.  A number g counts as N(g, s^2), so sum (y - g)^2 >= V + 2 s^2 margin.
    Distributions need `log_density`, `mean` and `var`.

    >>> import noregret as nr
    >>> for learner in (nr.BayesianRidge(), nr.Ridge(), nr.AAR()):
    ...     opponent = BayesOpponent(90, features=3)
    ...     loss = play(opponent, learner).loss.sum()
    ...     print(f"regret {loss - opponent.best:.3f}, at least {opponent.margin:.3f}")
    regret 5.151, at least 5.151
    regret 5.992, at least 5.151
    regret 23.933, at least 5.151
    """

    def __init__(
        self,
        rounds: int,
        features: int = 1,
        *,
        prior_precision: float = 1.0,
        noise_var: float = 1.0,
    ) -> None:
        self.rounds, self.features = _whole("rounds", rounds), _whole("features", features)
        self.prior_precision = _positive("prior_precision", prior_precision)
        self.noise_var = _positive("noise_var", noise_var)
        self.played = 0
        self._count, self._sum = np.zeros(self.features), np.zeros(self.features)  # T_k, b_k
        self._fit = 0.0  # V = sum e^2/d, ZV Theorem 1 (1)

    @property
    def best(self) -> float:
        """inf_w of log loss + a|w|^2/(2 s^2), over the rounds played."""
        s2 = self.noise_var
        return 0.5 * self.played * math.log(2.0 * math.pi * s2) + self._fit / (2.0 * s2)

    @property
    def margin(self) -> float:
        """1/2 ln det(I + X'X/a), over the rounds played."""
        return 0.5 * float(np.log1p(self._count / self.prior_precision).sum())

    def _block(self) -> int:
        if self.played >= self.rounds:
            raise ParameterError(
                f"rounds = {self.rounds!r}: all have been played; make a new opponent"
            )
        return self.played * self.features // self.rounds

    def _bayes(self, k: int) -> Normal:
        """N(m, s^2 d) at x = e_k: m = b_k/(a + T_k), d = 1 + 1/(a + T_k)."""
        A = self.prior_precision + self._count[k]
        return Normal(mean=float(self._sum[k] / A), var=float(self.noise_var * (1.0 + 1.0 / A)))

    def ask(self) -> Vector:
        """x = e_k; asking twice changes nothing."""
        x = np.zeros(self.features)
        x[self._block()] = 1.0
        return x

    def answer(self, forecast: object) -> float:
        """A y with q(y) <= p(y); the round is over."""
        k, q = self._block(), self._distribution(forecast)
        p = self._bayes(k)
        y = _least_likely(q, p)
        self._fit += (y - float(p.mean)) ** 2 * (self.noise_var / p.var)  # e^2/d
        self._count[k] += 1.0
        self._sum[k] += y
        self.played += 1
        return y

    def loss(self, forecast: object, y: float) -> float:
        """-ln q(y)."""
        return -self._distribution(forecast).log_density(y)

    def _distribution(self, forecast: object) -> Distribution:
        if isinstance(forecast, int | float | np.number):
            forecast = Normal(mean=float(forecast), var=self.noise_var)
        mean, var = getattr(forecast, "mean", math.nan), getattr(forecast, "var", math.nan)
        whole = np.ndim(mean) == 0 and math.isfinite(mean) and 0.0 < var < math.inf
        if whole and isinstance(forecast, Distribution):
            return forecast
        raise InputError(
            f"forecast = {forecast!r}: give a finite number, or the distribution of one outcome"
        )


def _least_likely(q: Distribution, p: Normal) -> float:
    """The y near p's mean with the largest ln p(y)/q(y), or the nearest where that is not < 0."""
    mean = float(p.mean)
    side = -p.std if mean > 0.0 else p.std  # towards 0 first: y stays small where both sides do
    ys = [mean + z * side for z in STEPS]
    gains = [p.log_density(y) - q.log_density(y) for y in ys]
    best = max(gains)
    if best >= -NEAR:
        return next(y for y, gain in zip(ys, gains) if gain >= best - NEAR)
    for y in (mean + z * side for z in WIDER):
        if q.log_density(y) <= p.log_density(y):
            return y
    raise InputError(
        f"forecast = {q!r}: it is above Bayes at each of {len(WIDER)} points, a comb; "
        "play bayes_sample, which needs no such search"
    )


Adversary = tuple[Matrix, Vector] | BayesOpponent


@dataclass(frozen=True, slots=True, eq=False)
class Duel:
    """What was played: X (T, n), y (T,), and the loss (T,) of each round."""

    X: Matrix
    y: Vector
    loss: Vector


def play(adversary: Adversary, learner: Learner) -> Duel:
    """Round by round x -> forecast -> y -> learn; the learner goes on from where it is.

    Against a stream (X, y) the loss is square, against `BayesOpponent` it is log loss.  The learner
    needs `predict_one` and `learn_one`; with `predictive`, its distribution is scored there.

    >>> import noregret as nr
    >>> play(doubling(3), nr.AAR()).loss.round(3)
    array([1.   , 1.907, 1.412])
    """
    if isinstance(adversary, tuple):
        X, y = adversary
        forecasts = []
        for x, outcome in zip(X, y.tolist(), strict=True):
            forecasts.append(learner.predict_one(x))
            learner.learn_one(x, outcome)
        return Duel(X, y, (y - np.array(forecasts)) ** 2)
    forecast_at = getattr(learner, "predictive", learner.predict_one)
    played = []
    for _ in range(adversary.rounds):
        x = adversary.ask()
        forecast = forecast_at(x)
        outcome = adversary.answer(forecast)
        learner.learn_one(x, outcome)
        played.append((x, outcome, adversary.loss(forecast, outcome)))
    xs, ys, losses = zip(*played, strict=True)
    return Duel(np.array(xs), np.array(ys), np.array(losses))


ADVERSARIES: dict[str, Callable[..., Adversary]] = {
    "bayes": BayesOpponent,
    "bayes-sample": bayes_sample,
    "doubling": doubling,
    "reversal": reversal,
}
"""Name -> maker; each takes the number of rounds first and has defaults for the rest."""


def _whole(name: str, value: object, *, least: int = 1) -> int:
    return Whole(least, 10**15, f"a whole number of at least {least}").check(name, value)


def _positive(name: str, value: object) -> float:
    return Number(1e-100, 1e100, "a number > 0 (1e-100 to 1e100)").check(name, value)
