"""Ridge, BayesianRidge and AAR: one core, three rules.

Each forecasts a stream round by round and carries certificates of how it did against the best
expert of its class in hindsight.  Experts are all w in R^n, or all functions of a kernel's space;
with `drift`, all sequences of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

from noregret._native import layout
from noregret.certificates import Certificate
from noregret.gaussian.base import Gaussian
from noregret.gaussian.cores import PrimalCore
from noregret.gaussian.cores.schedule import Drift
from noregret.gaussian.ledger import Totals, totals
from noregret.gaussian.rules import Rule
from noregret.gaussian.stream import Budget
from noregret.gaussian.theorems import ridge_ratio_report
from noregret.gaussian.variational import against
from noregret.inputs.values import as_frame
from noregret.types import Matrix, Normal, Row, Student, Table, Vector

__all__ = ["AAR", "BayesianRidge", "Ridge"]


class Ridge(Gaussian):
    """Online ridge regression, clipped to [-clip, clip] on request.

    Forecasts m_t = w'x_t with w = argmin sum_{s<t} (y - w'x)^2 + a|w|^2, a = `prior_precision`.
    Its certificate is an equality, on any data whatever (Zhdanov and Vovk, Theorem 1):

        sum (y_t - m_t)^2 / d_t = min_w (sum (y_t - w'x_t)^2 + a|w|^2),   d_t = 1 + x'A^-1 x

    and with |y| <= clip, loss <= that minimum + 4 clip^2 ln det(I + X'X/a) (Corollary 1).

    Cost: 3.5 n^2 flops per round and n^2 numbers, whatever the length of the stream; with `drift`
    the same, but (2/3) n^3 flops in rounds whose accuracy asks for it (see cores/drift.py).

    Parameters
    ----------
    prior_precision : a > 0, what a unit of squared weight costs an expert; a_1 with drift.
    kernel : experts are functions of its space: a kernel of scikit-learn, any k(X, Z) -> matrix, or
        a name.  Then t^2 flops and t numbers of memory in round t.
    drift : 1/a_t for t >= 2, a number or a function of t: how cheaply experts may change.
    discount : gam from 0.001 to 1: after each round all that was learned counts gam times as much,
        a included; the best expert is then the best sequence u_1, u_2, ... (docs/theory.md,
        section 26).  3.5 n^2 flops as ever; no drift, no kernel without a budget of features.
    clip : forecasts are clipped to [-clip, clip]; None for no clipping.
    fit_intercept : add the constant feature 1, penalised like the rest.
    budget : Nystrom, RandomFourier, Taylor, Polynomial or Window: a constant cost with a kernel.

    >>> learner = Ridge(prior_precision=1.0, clip=1.0)
    >>> for t in range(100):
    ...     x = {"hour": (t % 24) / 24, "one": 1.0}
    ...     forecast = learner.predict_one(x)
    ...     learner.learn_one(x, 0.5 + 0.25 * x["hour"])
    >>> certificate = learner.certificate()
    >>> certificate.name, certificate.holds
    ('Zhdanov-Vovk Corollary 1', True)
    >>> print(f"{certificate.loss:.3f} <= {certificate.bound:.3f}")
    0.485 <= 27.930
    """

    RULES = (layout.RIDGE, layout.CLIPPED)
    LATER: ClassVar[Mapping[str, object]] = {"discount": None}

    def __init__(
        self,
        prior_precision: float = 1.0,
        *,
        kernel: object = None,
        drift: Drift = 0.0,
        discount: float | None = None,
        clip: float | None = None,
        fit_intercept: bool = False,
        budget: Budget | None = None,
    ) -> None:
        super().__init__(
            prior_precision, kernel=kernel, drift=drift, fit_intercept=fit_intercept, budget=budget
        )
        self.discount = discount
        self.clip = clip

    def loss_ratio(self) -> Certificate:
        """Square loss over the best expert's, which tends to 1 (ZV Corollary 3): a report.

        >>> print(Ridge().fit([[1.0], [1.0], [1.0]], [1.0, 0.0, 1.0]).loss_ratio().kind)
        report
        """
        with self._lock:
            stream = self._learned()
            with stream.closed():
                return ridge_ratio_report(stream.facts())

    def _rule(self) -> Rule:
        if self.clip is None:
            return Rule(layout.RIDGE)
        return Rule(layout.CLIPPED, self._checked("clip"))


class BayesianRidge(Gaussian):
    """Online Bayesian ridge regression: a normal distribution for every outcome.

    Forecasts N(m_t, s^2 d_t) with s^2 = `noise_var` and prior N(0, s^2/a) on the weights.  Its
    cumulative log loss equals, on any data (Zhdanov and Vovk, Theorem 2),

        min_w (log loss of N(w'x, s^2) + a|w|^2/(2 s^2)) + 1/2 ln det(I + X'X/a)

    `predict_one` is the mean, `predictive` the distribution.  With several outcomes they share
    d_t and are independent given x.

    Cost: 3.5 n^2 flops per round and n^2 numbers; with `drift` the same, but (2/3) n^3 flops in
    rounds whose accuracy asks for it (see cores/drift.py).

    Parameters
    ----------
    prior_precision : a > 0; a_1 with drift.
    noise_var : s^2, the variance of one outcome about its mean.  None: learned.  Forecasts are then
        Student's distributions, in any unit of y: the prior on s^2 has no unit either (ds^2/s^2),
        so the first round that is not forecast exactly sets the unit and is not charged.
    kernel : experts are functions of its space; t^2 flops and t numbers of memory in round t.
    drift : 1/a_t for t >= 2, a number or a function of t.
    fit_intercept : add the constant feature 1, penalised like the rest.
    budget : Nystrom, RandomFourier, Taylor, Polynomial or Window: a constant cost with a kernel.

    >>> import numpy as np
    >>> learner = BayesianRidge(prior_precision=0.1, noise_var=0.25)
    >>> for x in (1.0, 2.0, 3.0):
    ...     learner.learn_one(np.array([x]), 2.0 * x)
    >>> forecast = learner.predictive(np.array([4.0]))
    >>> round(forecast.mean, 3), round(forecast.std, 3)
    (7.943, 0.731)
    >>> learner.certificate().holds
    True
    """

    RULES = (layout.BAYES, layout.STUDENT)

    def __init__(
        self,
        prior_precision: float = 1.0,
        *,
        noise_var: float | None = 1.0,
        kernel: object = None,
        drift: Drift = 0.0,
        fit_intercept: bool = False,
        budget: Budget | None = None,
    ) -> None:
        super().__init__(
            prior_precision, kernel=kernel, drift=drift, fit_intercept=fit_intercept, budget=budget
        )
        self.noise_var = noise_var

    def _rule(self) -> Rule:
        if self.noise_var is None:
            return Rule(layout.STUDENT)
        return Rule(layout.BAYES, self._checked("noise_var"))

    def predictive(self, x: Row) -> Normal | Student:
        """The forecast at x: normal, of variance noise_var times the spread; or Student's."""
        with self._lock:
            stream = self._state or self._start_row(x)
            look = stream.look(x)
            mean = float(look.mean[0]) if stream.scalar else look.mean.copy()
            if stream.plan.rule.code == layout.BAYES:
                return Normal(mean=mean, var=stream.plan.rule.level * look.spread)
            noise, degrees = _noise(totals(stream.ledger))
            return Student(mean=mean, scale=math.sqrt(noise) * look.root, degrees=degrees)

    @property
    def log_loss_(self) -> float:
        """The cumulative log loss of one learner over all rounds, merged ones included.

        The chain rule makes it the same in any order: m/2 (T ln(2 pi s^2) + ln det) + V/(2 s^2).
        It is that of the densities of y itself, N(m, s^2 d/w) in a round of weight w.
        """
        with self._lock:
            stream = self._learned()
            s2 = stream.plan.rule.level
            with stream.closed():
                t, core = totals(stream.ledger), stream.core
                weights = 0.5 * t.outcomes * t.log_weights
                if t.workers == 1 or not isinstance(core, PrimalCore) or s2 == 0.0:
                    return t.loss - weights
                log_det = core.log_determinant()
        m = t.outcomes
        constant = t.rounds * math.log(2.0 * math.pi * s2)
        return 0.5 * (m * (constant + log_det) + t.best / s2) - weights

    def certificates_against(self, mean: object, covariance: object) -> list[Certificate]:
        """What is proved against a Gaussian distribution over the experts w (KN Lemma 2.1).

        covariance : a matrix, as many variances as weights, or one variance; the intercept's weight
        comes first.  Fixed weights and one outcome per round.

        >>> learner = BayesianRidge(0.5).fit([[1.0], [2.0], [3.0]], [1.0, 2.5, 2.5])
        >>> bound, exact = learner.certificates_against([0.9], 0.1)
        >>> bound.holds, exact.kind, exact.holds
        (True, 'equality', True)
        """
        loss = self.log_loss_
        with self._lock:
            stream = self._learned()
            with stream.closed():
                return against(stream, loss, mean, covariance)

    def predict(  # type: ignore[override]  # scikit-learn's habit: one array, or two
        self,
        X: Table,
        return_std: bool = False,  # noqa: FBT001, FBT002  # their habit too
    ) -> Matrix | tuple[Matrix, Vector]:
        """Means at every row; with return_std, standard deviations too, as scikit-learn does."""
        with self._lock:
            stream = self._learned()
            with stream.closed():
                means, roots = stream.look_rows(as_frame(X))
                mean, noise = stream.flat(means), stream.plan.rule.level
                if noise == 0.0:
                    noise, degrees = _noise(totals(stream.ledger))
                    noise *= degrees / (degrees - 2.0) if degrees > 2.0 else math.inf
        return (mean, math.sqrt(noise) * roots) if return_std else mean


def _noise(t: Totals) -> tuple[float, float]:
    """What Student's rule knows of s^2, and its degrees; infinite before the first error."""
    if not t.first:
        return math.inf, 1.0
    degrees = float(t.outcomes * (t.rounds - t.first + 1))
    return t.best / degrees, degrees


class AAR(Gaussian):
    """The Aggregating Algorithm for Regression (Vovk-Azoury-Warmuth); with drift, AARCh.

    Forecasts m_t/d_t: ridge, shrunk by how new x_t is.  On any data with |y| <= Y (Vovk 2001;
    Busuttil and Kalnishkan, Theorems 1 and 3)

        sum (y_t - g_t)^2 <= min_w (sum (y_t - w'x_t)^2 + a|w|^2) + Y^2 ln det(I + X'X/a)

    The learner needs no Y; the certificate takes the largest |y| so far.  Experts that change,
    th_1 + ... + th_t at round t, pay sum a_t |th_t|^2 instead.

    Cost: 3.5 n^2 flops per round and n^2 numbers; with `drift` the same, but (2/3) n^3 flops in
    rounds whose accuracy asks for it (see cores/drift.py).

    Parameters
    ----------
    prior_precision : a > 0; a_1 with drift.
    kernel : experts are functions of its space; t^2 flops and t numbers of memory in round t.
    drift : 1/a_t for t >= 2, a number or a function of t.
    discount : gam from 0.001 to 1: after each round all that was learned counts gam times as much,
        a included; the best expert is then the best sequence u_1, u_2, ... (docs/theory.md,
        section 26).  3.5 n^2 flops as ever; no drift, no kernel without a budget of features.
    hint : a guess h of y_t that is known before it, by outcome: a number, "last" (the outcome
        before) or "midrange" (of the outcomes before).  Forecasts are h + (m_t - h)/d_t, and the
        price is D^2 instead of Y^2, |y_t - h_t| <= D: it no longer depends on where 0 is.
    fit_intercept : add the constant feature 1, penalised like the rest.
    budget : Nystrom, RandomFourier, Taylor, Polynomial or Window: a constant cost with a kernel.

    >>> import numpy as np
    >>> learner = AAR(prior_precision=1.0)
    >>> for y in (1.0, 1.0, -1.0):
    ...     learner.learn_one(np.array([1.0]), y)
    >>> round(learner.predict_one(np.array([1.0])), 12)
    0.2
    >>> print(learner.certificate())
    Busuttil-Kalnishkan Theorem 1: holds after 3 rounds [upper bound]
      sum (y - g)^2 <= min_w (sum (y - w'x)^2 + a|w|^2) + Y^2 ln det(I + X'X/a)
      loss 3.69444, best in hindsight 2.75, bound 4.13629 (slack 0.442)
      [x] |y| <= Y = 1, the largest so far
    >>> far = AAR(hint=100.0).fit([[1.0]] * 4, [99.0, 101.0, 100.0, 101.0]).certificate()
    >>> far.name, f"{far.loss:.1f} <= {far.bound:.1f}", far.assumptions[0].text
    ('AAR around a hint', '4668.8 <= 8044.4', '|y - h| <= D = 1, the largest so far; h = 100')
    """

    RULES = (layout.AAR, layout.AROUND, layout.LAST, layout.MIDRANGE)
    LATER: ClassVar[Mapping[str, object]] = {"hint": None, "discount": None}

    def __init__(
        self,
        prior_precision: float = 1.0,
        *,
        kernel: object = None,
        drift: Drift = 0.0,
        discount: float | None = None,
        hint: float | str | None = None,
        fit_intercept: bool = False,
        budget: Budget | None = None,
    ) -> None:
        super().__init__(
            prior_precision, kernel=kernel, drift=drift, fit_intercept=fit_intercept, budget=budget
        )
        self.discount = discount
        self.hint = hint

    def _rule(self) -> Rule:
        if self.hint is None:
            return Rule(layout.AAR)
        hint = self._checked("hint")
        codes = {"last": layout.LAST, "midrange": layout.MIDRANGE}
        if isinstance(hint, str):
            return Rule(codes[hint])
        return Rule(layout.AROUND, hint) if hint else Rule(layout.AAR)
