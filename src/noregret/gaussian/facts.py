"""A stream as the theorems see it: its totals, its learner, and the bounds its user vouches for."""

from __future__ import annotations

import math
from dataclasses import dataclass

from noregret._native.layout import AAR
from noregret.budgets import Nystrom
from noregret.certificates import EPS, LEAST, Assumption, Audit, rounding
from noregret.gaussian.ledger import Totals

__all__ = ["StreamFacts", "declared_bound"]

KERNEL_FIXED = "min_f (sum (y - f(x))^2 + a|f|^2)"
KERNEL_MOVING = "min over f_1, f_2, ... of (sum (y_t - (f_1+...+f_t)(x_t))^2 + sum a_t|f_t|^2)"
FIXED = "min_w (sum (y - w'x)^2 + a|w|^2)"
MOVING = "min over th_1, th_2, ... of (sum (y_t - (th_1+...+th_t)'x_t)^2 + sum a_t|th_t|^2)"


FADING = (
    "min over u_1, ..., u_T of (sum (y_t - u_t'x_t)^2 + a|u_1|^2 + "
    "gam sum_{t<T} (F_t(u_{t+1}) - F_t(u_t)))"
)


@dataclass(frozen=True, slots=True)
class StreamFacts:
    """A stream so far, the learner that forecast it, and the bounds that its user vouches for."""

    totals: Totals
    features: int  # n, the constant feature included
    prior_precision: float  # a, or a_1
    prior_var: float  # sum of 1/a_s up to the round to come
    drifting: bool  # experts may change
    rule: int = AAR  # which rule made the forecasts
    hint: str = ""  # what AAR forecast around, in words
    opens: bool = False  # a round without a hint is charged apart
    most_hint: float = 0.0  # no hint so far was larger
    noise_var: float = 1.0
    clip: float | None = None
    outcome_bound: float | None = None  # Y
    feature_bound: float | None = None  # X
    norm_bound: float | None = None  # Z; of sqrt k(x, x) with a kernel, then called c
    kernel: bool = False  # the exact kernel core
    priors: float = 0.0  # sum_t sum_{s<=t} 1/a_s, with the exact kernel core
    budget: object = None
    audit: tuple[Audit, ...] = ()
    looseness: float = 0.0  # the error of a look that rows taken in blocks may add, relative
    best_norm: float = math.nan  # |w| of the best expert, behind a budget
    discount: float | None = None  # gam, where the past fades

    @property
    def linear(self) -> bool:
        """Whether experts are fixed weights, so that n counts dimensions."""
        return not self.kernel and not self.drifting

    @property
    def best(self) -> str:
        """V in words."""
        if self.discount is not None:
            return FADING
        if self.kernel:
            return KERNEL_MOVING if self.drifting else KERNEL_FIXED
        if self.totals.workers > 1:
            return "the merged learners' own minima of sum (y - w'x)^2 + a|w|^2, and later growth"
        return MOVING if self.drifting else FIXED

    @property
    def m(self) -> str:
        """How often a price counts, in words: once per outcome."""
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
        return constant + square / (2.0 * self.noise_var) - self.log_weights

    @property
    def log_weights(self) -> float:
        """1/2 sum ln w by outcome: by so much the density of y is larger than that of sqrt(w) y."""
        return 0.5 * self.totals.outcomes * self.totals.log_weights

    def taken(self, size: float, factor: float = 1.0) -> float:
        """What rounding may take from a statement that has `factor` times V in it.

        The looks' sum e^2/d and V differ by what (18.5) says; all else is sums of terms whose
        absolute values add up to `size`.
        """
        t = self.totals
        energy, steps = t.most_energy, 1 + (t.rounds if self.kernel else self.features)
        loose = 4.0 * EPS * steps + self.looseness
        delta = loose * math.sqrt(energy * (1.0 + t.leverage))
        looks = 2.0 * math.sqrt(max(t.fit, 0.0)) * delta + delta * delta
        return factor * (looks + rounding(energy + t.fit)) + rounding(size) + t.rounds * LEAST

    def weighted(self) -> tuple[Assumption, ...]:
        """That some rounds had weights, and what letters then mean."""
        if not self.totals.light:
            return ()
        text = (
            "x and y stand for sqrt(w) x and sqrt(w) y, in all sums and bounds: "
            f"{self.totals.light} rounds had a weight w other than 1"
        )
        return (Assumption(text, met=True),)

    def faded(self) -> tuple[Assumption, ...]:
        """That the past fades, and what letters then mean."""
        if self.discount is None:
            return ()
        text = (
            f"gam = {self.discount:.6g}, F_t(u) = gam^(t-1) a|u|^2 + "
            "sum_{s<=t} gam^(t-s) (y_s - u'x_s)^2"
        )
        return (Assumption(text, met=True),)

    def is_a_kernel(self) -> tuple[Assumption, ...]:
        """That k is a kernel, and what the stream has shown against it."""
        if not self.kernel and not isinstance(self.budget, Nystrom):
            return ()
        t, text = self.totals, "k is a kernel: symmetric and positive semi-definite"
        if self.kernel and t.worst > 1.0:
            text += f"; but k(x, z)^2 > k(x, x) k(z, z) for an x of round {t.worst_round}"
            return (Assumption(text, met=False),)
        over = t.fit - t.energy > self.taken(t.fit)
        if over:
            text += "; but f = 0 pays less than the least that any f could"
        return (Assumption(text, met=not over),)

    def outcome_square(self) -> tuple[float, Assumption]:
        """Y^2, summed over the outcomes, and on what authority; with a hint D^2, of y - h."""
        t, Y = self.totals, self.outcome_bound
        square = t.outcome_square if Y is None else t.outcomes * Y * Y
        if not self.hint:
            return square, _either(self._of("|y|"), "Y", Y, t.largest)[1]
        what = "|y - h| from round 2 on" if self.opens else "|y - h|"
        known = _either(what, "D", Y, t.largest)[1]
        return square, Assumption(f"{known.text}; {self.hint}", met=known.met)

    def hint_rounding(self, loss: float) -> float:
        """The size of terms that hints far from the outcomes bring in: sum |h| |y - g|."""
        return self.most_hint * math.sqrt(self.totals.rounds * max(loss, 0.0))

    def _of(self, what: str) -> str:
        """A size in words, of what was learned: with weights, sqrt(w) times what was given."""
        return f"sqrt(w) {what}" if self.totals.light else what

    @property
    def outcome_words(self) -> str:
        """Y^2 in words, D^2 with a hint; what a round without a hint was charged comes first."""
        Y = "D" if self.hint else "Y"
        words = f"{Y}^2"
        if self.totals.outcomes > 1:
            words = f"m {Y}^2" if self.outcome_bound is not None else f"(sum_k {Y}_k^2)"
        if not self.opens:
            return words
        each = "" if self.totals.workers == 1 else "each learner's "
        return f"{each}|y_1|^2 (1 - 1/d_1) + {words}"

    def width(self) -> tuple[float, Assumption]:
        """X, and on what authority; c with a kernel."""
        if self.kernel:
            return self.length()
        return _either(self._of("|x|_inf"), "X", self.feature_bound, self.totals.widest)

    def length(self) -> tuple[float, Assumption]:
        """Z, and on what authority; c with a kernel."""
        what, letter = ("sqrt k(x, x)", "c") if self.kernel else ("|x|_2", "Z")
        return _either(self._of(what), letter, self.norm_bound, self.totals.longest)

    def determinant_bound(self, square: float) -> float:
        """n ln(1 + T X^2/a), a bound on Lam by Hadamard (ZV 3); merged workers share the rounds."""
        w = self.totals.workers
        if self.kernel:  # K_tt <= c^2 on the diagonal
            return self.totals.rounds * math.log1p(square / self.prior_precision)
        return (
            w * self.features * math.log1p(self.totals.rounds * square / (w * self.prior_precision))
        )


def declared_bound(what: str, letter: str, given: float, seen: float) -> Assumption:
    """A bound that somebody gave beforehand, and whether the stream has kept to it."""
    if seen <= given:
        return Assumption(f"{what} <= {letter} = {given:.6g}, as given", met=True)
    return Assumption(
        f"{what} <= {letter} = {given:.6g}, as given: the stream reached {seen:.6g}", met=False
    )


def _either(what: str, letter: str, given: float | None, seen: float) -> tuple[float, Assumption]:
    if given is None:
        return seen, Assumption(f"{what} <= {letter} = {seen:.6g}, the largest so far", met=True)
    return given, declared_bound(what, letter, given, seen)
