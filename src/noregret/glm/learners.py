"""MAPLogistic, BayesianLogistic, ImproperLogistic: which posterior, which theorems."""

from __future__ import annotations

import math
from typing import ClassVar

from noregret._native import margin
from noregret.declare.parameters import Number, Parameter
from noregret.errors import FeatureError
from noregret.gaussian.cores.primal import PrimalCore
from noregret.glm.binary import BinaryLearner
from noregret.glm.exact import Exact
from noregret.glm.families import LOGISTIC, Family, family_of
from noregret.glm.posteriors import Mode, Particles, Posterior, Recursive, TierneyKadane

__all__ = ["BayesianLogistic", "ImproperLogistic", "MAPLogistic"]

LONG = 1_000  # rounds from which a history is too dear to keep unasked


class MAPLogistic(BinaryLearner):
    """The mode of the posterior, N(0, prior_var I) times the likelihood, each round.

    On any data with |x| <= Z (nu^2 = prior_var, Z^2 the largest |x|^2)

        log loss <= (1 + nu^2 Z^2 min(1, 0.4074 exp(nu^2 Z^2))) min_w (L(w) + |w|^2/(2 nu^2))

    (Kakade and Ng's Theorem 3.3 is shown too.)  With history=False the posterior is kept as a
    Gaussian and moved by one exact scalar step per round: O(n^2), no history, and no theorem.

    Cost: O(t n^2) in round t and t n numbers; history=False: 5 n^2 flops and n^2 numbers.

    Parameters
    ----------
    prior_var : nu^2.
    history : keep the rounds, so that the mode is exact.
    family : "logistic" or "probit".

    >>> learner = MAPLogistic(prior_var=4.0)
    >>> for t in range(40):
    ...     learner.learn_one({"one": 1.0, "late": t / 40.0}, t >= 20)
    >>> round(learner.predict_one({"one": 1.0, "late": 1.0}), 3)
    0.944
    >>> learner.certificate().holds
    True
    """

    METHODS = frozenset(("map", "newton"))

    def __init__(
        self, prior_var: float = 0.25, *, history: bool = True, family: str | Family = "logistic"
    ) -> None:
        self.prior_var = prior_var
        self.history = history
        self.family = family

    def _prior(self, n: int) -> Posterior:
        family, precision = family_of(self.family), 1.0 / self._checked("prior_var")
        if self._checked("history"):
            return Mode(family, precision, n)
        return Recursive(margin.LAPLACE, family, PrimalCore(precision, n, 1))


class BayesianLogistic(BinaryLearner):
    """Bayesian model averaging: the posterior mean of the probability, prior N(0, prior_var I).

    Exact averaging satisfies, on any data (nu^2 = prior_var, F(w) = L(w) + |w|^2/(2 nu^2)),

        min F <= log loss <= min F + 1/2 ln det(I + nu^2/4 sum xx')

    Approximations show the same numbers as a report: the theorem speaks of exact averaging.

    Parameters
    ----------
    prior_var : nu^2.
    method : "exact" (quadrature, up to 2 features), "tierney-kadane" (ratio of Laplace evidences),
        "smc" (particles), "adf" (moment matching, no history), or "auto": exact for up to 2
        features, else tierney-kadane for a `horizon` of up to 1,000 rounds, else adf.
    particles, seed : for "smc".
    horizon : how many rounds will come, if known; for "auto".
    family : "logistic" or "probit".

    Cost per round: exact O(t) times a grid of up to some 10^4; tierney-kadane two Newton solves,
    O(t n^2); smc O(N n), with moves O(N t n); all keep the history, t n numbers.  adf 5 n^2 flops
    and n^2 numbers.

    >>> learner = BayesianLogistic(prior_var=4.0, method="adf")
    >>> for t in range(40):
    ...     learner.learn_one({"one": 1.0, "late": t / 40.0}, t >= 20)
    >>> round(learner.predict_one({"one": 1.0, "late": 1.0}), 3)
    0.957
    >>> learner
    BayesianLogistic(method='adf', prior_var=4.0)
    """

    METHODS = frozenset(("exact", "tierney-kadane", "smc", "adf"))
    _parameters: ClassVar[dict[str, Parameter]] = {
        "horizon": Parameter(
            Number(5e-324, math.inf, "a number > 0, or None"), "how many rounds will come"
        )
    }

    def __init__(
        self,
        prior_var: float = 1.0,
        *,
        method: str = "auto",
        particles: int = 1000,
        seed: int = 0,
        horizon: int | None = None,
        family: str | Family = "logistic",
    ) -> None:
        self.prior_var = prior_var
        self.method = method
        self.particles = particles
        self.seed = seed
        self.horizon = horizon
        self.family = family

    def _prior(self, n: int) -> Posterior:
        family, precision = family_of(self.family), 1.0 / self._checked("prior_var")
        asked, size, seed = (self._checked(name) for name in ("method", "particles", "seed"))
        horizon, method = math.inf if self.horizon is None else self._checked("horizon"), asked
        if asked == "auto":
            method = "exact" if n <= 2 else "tierney-kadane" if horizon <= LONG else "adf"
        if method == "exact":
            if n > 2:
                raise FeatureError(
                    f"x has {n} features: exact averaging is for 1 or 2; take 'tierney-kadane'"
                )
            return Exact(family, precision, n, strict=asked == "exact")
        if method == "tierney-kadane":
            return TierneyKadane(family, precision, n)
        if method == "smc":
            return Particles(family, precision, n, size, seed)
        return Recursive(margin.ADF, family, PrimalCore(precision, n, 1))

    def __repr__(self) -> str:
        text: str = super().__repr__()
        state = self._state
        if self.method == "auto" and state is not None:
            return f"{text}  # runs {state.posterior.method!r}"
        return text


class ImproperLogistic(BinaryLearner):
    """AIOLI (Jezequel, Gaillard and Rudi 2020): improper, so that its worst case is better.

    Forecasts sigma(x'w_t), w_t = argmin of quadratic minorants of the past losses + lambda|w|^2
    + l(x'w) + l(-x'w): both labels of the round to come are counted.  With A_0 = 2 lambda I,
    A_t = A_{t-1} + l''/(1+C) xx', for every w with |w'x_t| <= C in all rounds

        log loss <= L(w) + lambda|w|^2 + (1+C) ln det(A_T/A_0)

    where ln det <= n ln(1 + sum|x|^2/(8 n lambda (1+C))): logarithmic in T, and C enters as a
    factor, not as exp(C), which no proper learner achieves in worst-case regret.  On a given stream
    others may lose less (docs/logistic.md).  docs/theory.md derives it.

    Cost: 5 n^2 flops per round and n^2 numbers.

    Parameters
    ----------
    margin_bound : C, the largest |w'x| of the experts to compete with (B R for |w| <= B, |x| <= R).
    regularisation : lambda.

    >>> learner = ImproperLogistic(margin_bound=5.0)
    >>> for t in range(40):
    ...     learner.learn_one({"one": 1.0, "late": t / 40.0}, t >= 20)
    >>> round(learner.predict_one({"one": 1.0, "late": 1.0}), 3)
    0.876
    >>> learner.certificate().holds
    True
    """

    METHODS = frozenset(("aioli",))

    def __init__(self, margin_bound: float = 10.0, *, regularisation: float = 1.0) -> None:
        self.margin_bound = margin_bound
        self.regularisation = regularisation

    def _prior(self, n: int) -> Posterior:
        bound, precision = self._checked("margin_bound"), 2.0 * self._checked("regularisation")
        return Recursive(margin.AIOLI, LOGISTIC, PrimalCore(precision, n, 1), bound)
