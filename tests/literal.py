"""Certificates read literally: the printed sentence, evaluated with plain NumPy.

A statement is `left <= right` or `left = right`.  Each phrase in it has a name below, and each name
a value in the world of a stream, computed from the rounds alone by dense formulas; what is left
over must be arithmetic.  A statement with a phrase that nobody has evaluated cannot be read, which
is an error.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from noregret.certificates import Certificate
from noregret.reference import fading, logistic
from noregret.reference.hints import hints
from noregret.reference.prior_free import prior_free

FIXED = re.escape("min_w (sum (y - w'x)^2 + a|w|^2)")
MOVING = re.escape(
    "min over th_1, th_2, ... of (sum (y_t - (th_1+...+th_t)'x_t)^2 + sum a_t|th_t|^2)"
)
FUNCTION = re.escape("min_f (sum (y - f(x))^2 + a|f|^2)")
FUNCTIONS = re.escape(
    "min over f_1, f_2, ... of (sum (y_t - (f_1+...+f_t)(x_t))^2 + sum a_t|f_t|^2)"
)
MERGED = re.escape("the merged learners' own minima of sum (y - w'x)^2 + a|w|^2, and later growth")
FADING = re.escape(
    "min over u_1, ..., u_T of (sum (y_t - u_t'x_t)^2 + a|u_1|^2 + "
    "gam sum_{t<T} (F_t(u_{t+1}) - F_t(u_t)))"
)
NAT = r"(?:\(hi-lo\)\^2/2 |1/2 )?ln"

# Phrase -> name, the longer ones first.
PHRASES: list[tuple[str, str]] = [
    (r"; the comparator told is the loss less its exact price, by \(14\.3\)", ""),
    (r"; the minima add up to at most .*$", ""),
    (r"; z = \(30, x_1/c_1, x_2/c_2, \.\.\.\), c_j feature j's first size above 0, units_", ""),
    (r"; z the \d+ features of .* in running standard units of x", ""),
    (r" \+ what rounds beyond the range cost", " + BEYOND"),
    (r"mean over \d+ trees of min over prunings P of \(L_P \+ (?:\S+ )?ln 1/p_P\)", "BEST_PRUNING"),
    (r"mean over \d+ trees of min over prunings P of \(sum over .* ln 1/p_P\)", "BEST_CELLS"),
    (r"mean over \d+ trees of -1/eta ln sum_P p_P exp\(-eta L_P\), eta = \S+", "EVIDENCE"),
    (r"mean over \d+ trees of -ln sum_P p_P exp\(-L_P\)", "EVIDENCE"),
    (r", by which the right side grew when eta fell", ""),
    (r"sum_t mix_t", "MIXES"),
    (r"min over sequences of experts(?: and rules)? of .*; here \d+ switches", "BEST_SEQUENCE"),
    (r"-ln sum_j p_j exp\(-L_j\) <= min_j \(L_j \+ ln 1/p_j\)", "MIXTURE"),
    (rf"min_j \(L_j \+ {NAT} [^\]]*?\)(?= \+ BEYOND|$)", "BEST_EXPERT"),
    (r"min_j \(L_j \+ \(1/eta\) ln 1/p_j\)", "BEST_EXPERT"),
    (r"min_j \(L_j \+ 2 \(hi-lo\)\^2 ln 1/w_j\) over \d+ widths, L_j .*$", "BEST_WIDTH"),
    (r"-1/eta ln sum_j p_j exp\(-eta L_j\), eta = \S+", "MIXTURE"),
    (r"-1/eta ln \(9/10 exp\(-eta L_rules\) \+ sum_j p_j/10 exp\(-eta L_j\)\), eta = \S+",
     "MIXTURE"),
    (r"-c ln sum_j w_j exp\(-L_j/c\), c = \S+", "WIDTHS"),
    (r"eta T \(hi-lo\)\^4/8, eta = \S+", "HOEFFDING"),
    (r", eta = \S+$", ""),
    (r", s\^2 = \S+$", ""),
    (r"L\(h\)/\(1 - eta X\^2\) \+ \|h\|\^2/eta for every h; here .*$", "BEST_LMS"),
    (r"L\(f\) \+ \S+ Y c\|f\| sqrt\(T\).* for every f, k = .*$", "ZV19"),
    (r"(?:4 |m )?sum \(hi_t - lo_t\)\^2 \(1 - 1/d_t\) \+ (\S+), by which rounds .* cost more",
     r"SPANS + \1"),
    (r" for every f of the kernel's space, missed = .*$", ""),
    (r"\(sqrt L\(f\) \+ \|f\| sqrt\(missed\)\)\^2 \+ a\|f\|\^2", "WHOLE"),
    (FIXED.replace("x", "z"), "V"), (MOVING.replace("'x", "'z"), "V"),
    (FIXED, "V"), (MOVING, "V"), (FADING, "V"), (FUNCTION, "V"), (FUNCTIONS, "V"), (MERGED, "V"),
    (r"ln det\(I \+ (?:X'X|K|Z'Z)/a\)", "LOGDET"),
    (r"sum ln d\b", "LOGDET"),
    (r"sum \(y - h\)\^2 \(1 - 1/d\)", "HINT_CHARGE"),
    (r"sum \(d - 1\) \(g - h\)\^2", "HINT_RELIEF"),
    (r"(?:each learner's )?\|y_1\|\^2 \(1 - 1/d_1\)", "OPENING"),
    (r"\(sum_k D_k\^2\)", "D2"), (r"m D\^2", "D2"), (r"D\^2", "D2"),
    (r"sum \(1 - 1/d\)", "LEVERAGE"),
    (r"min_w sum \(y - w'x\)\^2", "LEAST_SQUARES"),
    (r"sum y\^2 \(1 - 1/d\)", "CHARGE"),
    (r"sum \(d - 1\) g\^2", "RELIEF"),
    (r"sum \(y - m\)\^2/d", "WEIGHTED"),
    (r"sum \(y - m\)\^2", "SQUARES_OF_MEANS"),
    (r"sum \(y - g\)\^2", "LOSS"),
    (r"log loss", "LOGLOSS"),
    (r"p n ln\(1 \+ T X\^2/\(p a\)\), p = \d+", "HADAMARD_X"),
    (r"p n ln\(1 \+ T Z\^2/n/\(p a\)\), p = \d+", "HADAMARD_Z"),
    (r"n ln\(1 \+ T X\^2/a\)", "HADAMARD_X"),
    (r"n ln\(1 \+ T Z\^2/n/a\)", "HADAMARD_Z"),
    (r"T ln\(1 \+ c\^2/a\)", "HADAMARD_C"),
    (r"c\^2 sum_t sum_\{s<=t\} 1/a_s", "PRIORS"),
    (r"c\^2 T/a", "PRIORS"),
    (r"\(1 \+ [cZ]\^2 / a\)", "STRETCH"), (r"\(1 \+ Z\^2/a\)", "STRETCH"),
    (r"\(1 \+ [cZ]\^2 sum 1/a_t\)", "STRETCH"),
    (r"T/2 ln\(2 pi s\^2\)", "CONSTANT"),
    (r"- (?:1|m)/2 sum ln w", "- LOGWEIGHTS"),
    (r"\(sum_k Y_k\^2\)", "Y2"), (r"m Y\^2", "Y2"), (r"Y\^2", "Y2"),
    (r"\bs\^2", "S2"), (r"\bm\b", "M"),
    (r"min_w \(L\(w\) \+ \|w\|\^2/\(2 nu\^2\)\), Z = \S+", "MINF"),
    (r"min_w F\(w\)", "MINF"),
    (r"1/2 ln det\(I \+ \S+ nu\^2 sum xx'\)", "LOGIT_LOGDET"),
    (r"n/2 ln\(1 \+ T c nu\^2 Z\^2/n\), c = .*$", "LOGIT_KN"),
    (r"sum \(l_t\(w_\{t-1\}\) - l_t\(w_t\)\)", "LIVE"),
    (r"4 L\(w\) \+ 2\|w\|\^2/nu\^2 \+ 2n ln\(1 \+ T nu\^2/n\)", "KN33"),
    (r"L\(w\) \+ \S+\|w\|\^2 for every w with \|w'x\| <= C = \S+ in all rounds", "AIOLI_BEST"),
    (r"\(1\+C\) ln det\(A_T/A_0\)", "AIOLI_LOGDET"),
    (r"\(1\+C\) n ln\(1 \+ sum \|x\|\^2/\(8 n lambda \(1\+C\)\)\)", "AIOLI_PRIORI"),
]  # fmt: skip
ARITHMETIC = re.compile(r"[A-Z_0-9a-z.+\-*/() ]*")


class UnreadableError(AssertionError):
    """A statement with a phrase that has no evaluator."""


class World(dict):
    """Values by name, each computed when it is first asked for, from a method of the same name."""

    def __missing__(self, name: str) -> float:
        self[name] = value = float(getattr(self, name)())
        return value


def expression(words: str) -> str:
    """Words as arithmetic on names: neighbours are multiplied."""
    for pattern, name in PHRASES:
        words = re.sub(pattern, name, words)
    if re.search(r"[a-z](?!\d)|[^A-Z_0-9a-z.+\-*/() ]", re.sub(r"\d\.?\d*e[+-]?\d+", "1", words)):
        raise UnreadableError(f"no evaluator for {words!r}")
    atoms = re.findall(r"[A-Z][A-Z_0-9]*|\d+\.?\d*(?:e[+-]?\d+)?|[()+*/-]", words)
    out: list[str] = []
    for atom in atoms:
        if out and out[-1] not in "(+-*/" and atom not in ")+-*/":
            out.append("*")
        out.append(atom)
    return " ".join(out)


def sides(c: Certificate, world: World) -> tuple[float, str, float]:
    """Both sides of the printed sentence, and the sign between them."""
    words = c.statement.rsplit("own rounds: ", 1)[-1].rsplit(
        "own rounds (figures of the first): ", 1
    )[-1]
    words = words.split("(issued_): ", 1)[-1]
    chained = re.search(r"\[([^\]]*?): (.*)\] \+ .* = (\S+) \+ (\S+)( \+ what rounds.*)?$", words)
    if chained:  # an expert's own bound, and what the pool charges for that expert
        name, inner, bound, price, beyond = chained.groups()
        own = _value(inner, world.inner(name))
        assert math.isclose(own, float(bound), rel_tol=1e-4, abs_tol=1e-9), (own, bound)
        assert float(price) <= world.price(name) * (1.0 + 1e-5) + 1e-9
        left = _value(words.split("<=", 1)[0], world)
        return left, "<=", own + world.price(name) + (world["BEYOND"] if beyond else 0.0)
    if words.startswith("max_t"):
        return float(world["WORST"]), "<=", 0.0
    sign = "<=" if re.search(r"^[^=]*<=", words) else "="
    left, right = words.split(sign, 1)
    return _value(left, world), sign, _value(right, world)


def _value(words: str, world: World) -> float:
    return float(eval(expression(words), {"__builtins__": {}}, world))  # arithmetic


def is_true(c: Certificate, world: World, size: float) -> bool:
    """Whether the sentence is true of the rounds, up to rounding in figures of this size."""
    left, sign, right = sides(c, world)
    slack = 1e-6 * (abs(left) + abs(right) + size) + 1e-9  # figures are printed with 6 digits
    return left <= right + slack if sign == "<=" else abs(left - right) <= slack


# Worlds ---------------------------------------------------------------------------------------


class GaussianWorld(World):
    """Rounds of a Gaussian learner: K of its features or its kernel, scaled by S_t."""

    def __init__(
        self, K: np.ndarray, y: np.ndarray, g: np.ndarray, *, S: np.ndarray, X: np.ndarray,
        a: float, clip: float | None = None, noise: float = 1.0, parts: Any = None,
        weights: np.ndarray | None = None, hint: float | str = 0.0,
    ) -> None:  # fmt: skip
        super().__init__()
        self.K, self.X, self.a, self.S, self.hint = K, X, a, S, hint
        self.full = K  # of a budget, the kernel that its features stand for
        self.y = y.reshape(len(y), -1)
        self.g = g.reshape(len(y), -1)
        self.clip, self.noise = clip, noise
        self.parts = [np.arange(len(y))] if parts is None else parts
        self.w = np.ones(len(y)) if weights is None else weights
        self.m, self.d = np.zeros_like(self.y), np.ones(len(y))
        for part in self.parts:
            self._looks(part)

    def _looks(self, part: np.ndarray) -> None:
        """m_t and d_t by solving with I + Kbar of the rounds before: nothing recursive."""
        for i, t in enumerate(part):
            past = part[:i]
            G = np.eye(i) + self.Kbar(past, past)
            k = self.Kbar(past, np.array([t]))[:, 0]
            solved = (
                np.linalg.solve(G, np.column_stack([self.y[past], k])) if i else np.zeros((0, 2))
            )
            own = self.S[t] * self.K[t, t]
            self.m[t] = k @ solved[:, :-1] if i else 0.0
            self.d[t] = 1.0 + own - (k @ solved[:, -1] if i else 0.0)

    def Kbar(self, rows: np.ndarray, cols: np.ndarray) -> np.ndarray:
        """S_min(i,j) k(x_i, x_j)."""
        return np.minimum.outer(self.S[rows], self.S[cols]) * self.K[np.ix_(rows, cols)]

    def V(self) -> float:
        found = 0.0
        for part in self.parts:
            G = np.eye(len(part)) + self.Kbar(part, part)
            found += (self.y[part] * np.linalg.solve(G, self.y[part])).sum()
        return found

    def LOGDET(self) -> float:
        return sum(
            np.linalg.slogdet(np.eye(len(part)) + self.Kbar(part, part))[1] for part in self.parts
        )

    def LEVERAGE(self) -> float:
        return (1.0 - 1.0 / self.d).sum()

    def CHARGE(self) -> float:
        return (self.y**2 * (1.0 - 1.0 / self.d)[:, None]).sum()

    def RELIEF(self) -> float:
        return ((self.d - 1.0)[:, None] * (self.m / self.d[:, None]) ** 2).sum()

    def off(self) -> np.ndarray:
        """y - h."""
        return np.vstack([self.y[part] - hints(self.y[part], self.hint) for part in self.parts])

    def HINT_CHARGE(self) -> float:
        return (self.off() ** 2 * (1.0 - 1.0 / self.d)[:, None]).sum()

    def HINT_RELIEF(self) -> float:
        return ((self.d - 1.0)[:, None] * (self.off() - self.y + self.g) ** 2).sum()

    def OPENING(self) -> float:
        firsts = [part[0] for part in self.parts]
        return (self.y[firsts] ** 2 * (1.0 - 1.0 / self.d[firsts])[:, None]).sum()

    def D2(self) -> float:
        opens = [part[0] for part in self.parts] if isinstance(self.hint, str) else []
        return (np.abs(np.delete(self.off(), opens, axis=0)).max(axis=0, initial=0.0) ** 2).sum()

    def WEIGHTED(self) -> float:
        return ((self.y - self.m) ** 2 / self.d[:, None]).sum()

    def SQUARES_OF_MEANS(self) -> float:
        return ((self.y - self.m) ** 2).sum()

    def LOSS(self) -> float:
        return ((self.y - self.g) ** 2).sum()

    def LOGLOSS(self) -> float:
        var = self.noise * self.d[:, None]
        terms = 0.5 * np.log(2.0 * math.pi * var) + (self.y - self.m) ** 2 / (2.0 * var)
        return terms.sum() - 0.5 * self.y.shape[1] * np.log(self.w).sum()

    def LOGWEIGHTS(self) -> float:
        return 0.5 * self.y.shape[1] * np.log(self.w).sum()

    def Y2(self) -> float:
        if self.clip is not None:
            return self.y.shape[1] * self.clip**2
        return (np.abs(self.y).max(axis=0) ** 2).sum()

    def S2(self) -> float:
        return self.noise

    def WHOLE(self) -> float:
        """Least of (sqrt L(f) + |f| sqrt(missed))^2 + a|f|^2 over ridge functions of the space."""
        K, found = self.full, []
        missed = max(float(np.trace(K) - (self.X**2).sum()), 0.0)
        for a in self.a * 10.0 ** np.linspace(-3, 3, 13):
            beta = np.linalg.solve(K + a * np.eye(len(K)), self.y[:, 0])
            loss, norm2 = ((self.y[:, 0] - K @ beta) ** 2).sum(), max(beta @ K @ beta, 0.0)
            found.append((math.sqrt(loss) + math.sqrt(norm2 * missed)) ** 2 + self.a * norm2)
        return min(found)

    def M(self) -> float:
        return self.y.shape[1]

    def CONSTANT(self) -> float:
        return 0.5 * len(self.y) * math.log(2.0 * math.pi * self.noise)

    def HADAMARD_X(self) -> float:
        T, n, p = len(self.y), self.X.shape[1], len(self.parts)
        return p * n * math.log1p(T * np.abs(self.X).max() ** 2 / (p * self.a))

    def HADAMARD_Z(self) -> float:
        T, n, p = len(self.y), self.X.shape[1], len(self.parts)
        return p * n * math.log1p(T * (self.X**2).sum(axis=1).max() / (n * p * self.a))

    def HADAMARD_C(self) -> float:
        return len(self.y) * math.log1p(np.diagonal(self.K).max() / self.a)

    def PRIORS(self) -> float:
        return np.diagonal(self.K).max() * self.S.sum()

    def STRETCH(self) -> float:
        return 1.0 + np.diagonal(self.K).max() * self.S.max()


class FadingWorld(GaussianWorld):
    """Rounds of a learner whose past fades."""

    def __init__(
        self, gam: float, X: np.ndarray, y: np.ndarray, g: np.ndarray, **more: Any
    ) -> None:
        self.gam = gam
        super().__init__(X @ X.T, y, g, X=X, S=np.ones(len(y)), **more)

    def _looks(self, part: np.ndarray) -> None:
        self.m[part], self.d[part] = fading.looks(self.X[part], self.y[part], self.a, self.gam)

    def V(self) -> float:
        """What the sequence of leaders pays; no other pays less (docs/theory.md, 23)."""
        path = fading.leaders(self.X, self.y, self.a, self.gam)
        return fading.path_loss(self.X, self.y, self.a, self.gam, path)

    def LOGDET(self) -> float:
        return np.log(self.d).sum()


class PoolWorld(World):
    """Rounds of a pool: forecasts of the experts, NaN asleep, its own, and how weights move."""

    def __init__(
        self, said: np.ndarray, y: np.ndarray, g: np.ndarray, *, prior: np.ndarray,
        span: tuple[float, float] | None, share: float | str = 0.0, costs: np.ndarray | None = None,
        rate: float | None = None, worlds: dict[str, Callable[[], World]] | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.worlds = worlds or {}
        self.names = list(self.worlds)
        self.costs = (y[:, None] - said) ** 2 if costs is None else costs
        self.log, self.y, self.g, self.p = costs is not None, y, g, prior
        self.share, self.span, self.said = share, span, said
        self.eta = rate if rate is not None else (1.0 if self.log else self._rate())
        self._run()

    def _rate(self) -> float:
        lo, hi = self.span or (0.0, self._widths()[-1])
        return 2.0 / (hi - lo) ** 2 if hi > lo else math.inf

    def _widths(self) -> list[float]:
        """2^k times the first width, after each round."""
        width, found = 0.0, []
        for t in range(len(self.y)):
            spread = float(self.y[: t + 1].max() - self.y[: t + 1].min())
            width = width or spread
            while 0.0 < width < spread:
                width *= 2.0
            found.append(width)
        return found

    def _run(self) -> None:
        """Weights as they are, in plain numbers: mixes and losses of the rounds."""
        widths = [self.span[1] - self.span[0]] * len(self.y) if self.span else None
        if self.span is None and not self.log:
            widths = [0.0, *self._widths()[:-1]]
        excess, self.mix = np.zeros(len(self.p)), []
        self.paid = np.zeros(len(self.p))
        for t, cost in enumerate(self.costs):
            eta = self.eta if widths is None or self.span else math.inf
            if widths is not None and self.span is None and widths[t] > 0.0:
                eta = 2.0 / widths[t] ** 2
            awake = ~np.isnan(cost)
            if eta == math.inf:
                mix = float((excess + cost)[awake].min() - excess[awake].min())
            else:
                w = (np.log(self.p) - eta * excess)[awake]
                after = np.logaddexp.reduce(w - eta * cost[awake])
                mix = float(np.logaddexp.reduce(w) - after) / eta
            charged = np.where(awake, np.nan_to_num(cost), mix)
            self.paid += charged
            excess = np.where(awake, excess + charged - mix, excess)
            self.mix.append(mix)
            s = 1.0 / (t + 2) if self.share == "falling" else float(self.share)
            if s and eta < math.inf:
                excess = -np.logaddexp(math.log1p(-s) - eta * excess, math.log(s)) / eta
            elif s:
                excess = np.zeros(len(self.p))
            after = self._widths()[t] if self.span is None and not self.log else 0.0
            if after and (eta == math.inf or after > widths[t]):
                new = 2.0 / after**2
                excess = excess + np.logaddexp.reduce(np.log(self.p) - new * excess) / new
        self.charged = np.where(np.isnan(self.costs), np.array(self.mix)[:, None], self.costs)

    def LOSS(self) -> float:
        return ((self.y - self.g) ** 2).sum()

    def LOGLOSS(self) -> float:
        return sum(self.mix)

    def _losses(self) -> np.ndarray:
        return np.array(self.mix) if self.log else (self.y - self.g) ** 2

    def _outside(self) -> np.ndarray:
        if self.log:
            return np.zeros(len(self.y), dtype=bool)
        if self.span:
            return (self.y < self.span[0]) | (self.y > self.span[1])
        widths, found = self._widths(), [True]
        for t in range(1, len(self.y)):
            lo, hi = self.y[:t].min(), self.y[:t].max()
            middle, width = 0.5 * (lo + hi), widths[t - 1]
            inside = min(lo, middle - width / 2) <= self.y[t] <= max(hi, middle + width / 2)
            found.append(not (inside and width > 0.0))
        return np.array(found)

    def BEYOND(self) -> float:
        gaps = self._losses() - np.array(self.mix)
        return np.maximum(gaps, 0.0)[self._outside()].sum()

    def WORST(self) -> float:
        inside = ~self._outside()
        size = np.maximum(self._losses(), np.abs(self.mix)) + 1.0 / self.eta + (self.y**2) * 1e-9
        gaps = (self._losses() - np.array(self.mix)) / size
        return max(gaps[inside].max(initial=-math.inf) - 1e-9, -1e300)

    def _stay(self) -> float | np.ndarray:
        T = len(self.y)
        if self.share == "falling":
            return math.log(T)
        s = float(self.share)
        return -(T - 1) * np.log(1.0 - s + s * self.p)

    def price(self, name: str) -> float:
        """What keeping to one expert costs, by name."""
        prices = (np.log(1.0 / self.p) + self._stay()) / self.eta
        return float(prices[self.names.index(name)])

    def inner(self, name: str) -> World:
        """The world of one expert, by name."""
        return self.worlds[name]()

    def BEST_EXPERT(self) -> float:
        price = (np.log(1.0 / self.p) + self._stay()) / self.eta
        return (self.paid + price).min()

    def MIXTURE(self) -> float:
        best = self.paid.min()
        if self.eta == math.inf:
            return best
        return best - math.log((self.p * np.exp(-self.eta * (self.paid - best))).sum()) / self.eta

    def HOEFFDING(self) -> float:
        lo, hi = self.span
        return self.eta * len(self.y) * (hi - lo) ** 4 / 8.0

    def BEST_SEQUENCE(self) -> float:
        """Over all N^T sequences of short streams: losses and printed prices, added up."""
        T, N = self.charged.shape
        best = math.inf
        if N**T <= 3000:
            paths = itertools.product(range(N), repeat=T)
        else:  # any sequences do: the sentence says min, so more would only lower the right side
            rng = np.random.default_rng(T)
            greedy = self.charged.argmin(axis=1)
            paths = [[j] * T for j in range(N)]
            for _ in range(30):
                cut = int(rng.integers(1, T))
                first, second = (
                    int(self.charged[a:b].sum(axis=0).argmin()) for a, b in ((0, cut), (cut, T))
                )
                paths.append([first] * cut + [second] * (T - cut))
            paths.append(greedy.tolist())
        for path in paths:
            nats = -math.log(self.p[path[0]])
            for t in range(1, T):
                i, j = path[t - 1], path[t]
                s = 1.0 / (t + 1) if self.share == "falling" else float(self.share)
                if i != j:
                    nats -= math.log(s * self.p[j])
                else:
                    nats -= math.log(
                        1.0 - s if self.share == "falling" else 1.0 - s + s * self.p[j]
                    )
            loss = sum(self.charged[t, j] for t, j in enumerate(path))
            best = min(best, loss + nats / self.eta)
        return best


class RulePoolWorld(PoolWorld):
    """A pool of rules: the last expert is what the rules make of those given."""

    def BEST_EXPERT(self) -> float:
        price = (np.log(1.0 / self.p) + self._stay()) / self.eta
        return (self.paid + price)[:-1].min()


class ClippedWorld(GaussianWorld):
    """Ridge clipped to the outcomes seen before, as an expert of Auto is."""

    def SPANS(self) -> float:
        y, total = self.y[:, 0], 0.0
        for t in range(1, len(y)):
            total += (y[:t].max() - y[:t].min()) ** 2 * (1.0 - 1.0 / self.d[t])
        return total


class MixtureWorld(PoolWorld):
    """A pool over ridge parameters, with the experts that (19) speaks of."""

    X: np.ndarray
    norm: float

    def ZV19(self) -> float:
        """The right side at ridge experts of many parameters, the least of them."""
        found, T, n = [], len(self.y), self.X.shape[1]
        lo, hi = self.span
        Y = max(abs(lo), abs(hi))
        for a in 10.0 ** np.linspace(-4, 3, 22):
            w = np.linalg.solve(a * np.eye(n) + self.X.T @ self.X, self.X.T @ self.y)
            size = self.norm * float(np.linalg.norm(w))
            k = max(math.ceil(Y * math.sqrt(T) / size), 1) if size > 1e-12 else math.inf
            if k <= 2 ** (len(self.p) - 0.5):
                grid = (math.sqrt(2) + math.sqrt(0.5)) * Y * size * math.sqrt(T) + size**2
                price = (hi - lo) ** 2 / 2 * math.log(k * (k + 1))
                found.append(((self.y - self.X @ w) ** 2).sum() + grid + price)
        return min(found, default=math.inf)


class KernelLMSWorld(World):
    """Kernel LMS: min over h of L(h)/(1 - eta X^2) + |h|^2/eta is a ridge problem."""

    def __init__(self, K: np.ndarray, y: np.ndarray, g: np.ndarray, eta: float) -> None:
        super().__init__()
        self.K, self.y, self.g, self.eta = K, y, g, eta

    def LOSS(self) -> float:
        return ((self.y - self.g) ** 2).sum()

    def BEST_LMS(self) -> float:
        rest = 1.0 - self.eta * np.diagonal(self.K).max()
        a = rest / self.eta
        return self.y @ np.linalg.solve(np.eye(len(self.y)) + self.K / a, self.y) / rest


class NetWorld(World):
    """K-LMS-NET: kernel LMS at every width, clipped, and their mixture."""

    def __init__(
        self, outputs: np.ndarray, y: np.ndarray, g: np.ndarray, w: np.ndarray,
        span: tuple[float, float],
    ) -> None:  # fmt: skip
        super().__init__()
        self.costs = (y[:, None] - np.clip(outputs, *span)) ** 2
        self.paid, self.w = self.costs.sum(axis=0), w
        self.losses, self.c = (y - g) ** 2, 2.0 * (span[1] - span[0]) ** 2

    def LOSS(self) -> float:
        return self.losses.sum()

    def BEST_WIDTH(self) -> float:
        return (self.paid + self.c * np.log(1.0 / self.w)).min()

    def WIDTHS(self) -> float:
        return -self.c * math.log((self.w * np.exp(-self.paid / self.c)).sum())

    def WORST(self) -> float:
        before = np.vstack([np.zeros(len(self.w)), np.cumsum(self.costs, axis=0)])
        total = -self.c * np.log((self.w * np.exp(-before / self.c)).sum(axis=1))
        return float((self.losses - np.diff(total)).max() / self.c) - 1e-9


class PriorFreeWorld(World):
    """Rounds of AAR without a prior, by exact least squares before each."""

    def __init__(self, X: np.ndarray, y: np.ndarray, g: np.ndarray, h: np.ndarray) -> None:
        super().__init__()
        self.y, self.g, self.h = y, np.asarray(g), h
        _, shares, best = prior_free(X, y, h)
        self.shares, self["LEAST_SQUARES"] = np.array([float(s) for s in shares]), float(best)

    def LOSS(self) -> float:
        return ((self.y - self.g) ** 2).sum()

    def D2(self) -> float:
        return ((self.y - self.h) ** 2).max()

    def LEVERAGE(self) -> float:
        return (1.0 - self.shares).sum()

    def HINT_CHARGE(self) -> float:
        return ((self.y - self.h) ** 2 * (1.0 - self.shares)).sum()

    def HINT_RELIEF(self) -> float:
        old = self.shares > 0.0  # where d is infinite g = h
        return ((1.0 / self.shares[old] - 1.0) * (self.g - self.h)[old] ** 2).sum()


class BinaryWorld(World):
    """Labels +-1, probabilities given to what happened, and modes by dense Newton."""

    def __init__(
        self, X: np.ndarray, s: np.ndarray, p: np.ndarray, nu2: float, *, bound: float = 0.0,
        weight: float = 1.0,
    ) -> None:  # fmt: skip
        super().__init__()
        self.X, self.s, self.p, self.nu2, self.bound, self.weight = X, s, p, nu2, bound, weight

    def LOGLOSS(self) -> float:
        return -np.log(self.p).sum()

    def MINF(self) -> float:
        return logistic.mode(self.X, self.s, self.nu2)[1]

    def LIVE(self) -> float:
        total = 0.0
        for t, (x, s) in enumerate(zip(self.X, self.s)):
            w = logistic.mode(self.X[:t], self.s[:t], self.nu2)[0] if t else 0.0 * x
            after = logistic.mode(self.X[: t + 1], self.s[: t + 1], self.nu2)[0]
            total += float(np.logaddexp(0, -s * (x @ w)) - np.logaddexp(0, -s * (x @ after)))
        return total

    def LOGIT_LOGDET(self) -> float:
        n = self.X.shape[1]
        return 0.5 * np.linalg.slogdet(np.eye(n) + 0.25 * self.nu2 * self.X.T @ self.X)[1]

    def LOGIT_KN(self) -> float:
        T, n = self.X.shape
        return 0.5 * n * math.log1p(T * 0.25 * self.nu2 * (self.X**2).sum(axis=1).max() / n)

    def KN33(self) -> float:
        T, n = self.X.shape
        return 4.0 * self["MINF"] + 2.0 * n * math.log1p(T * self.nu2 / n)

    def AIOLI_BEST(self) -> float:
        """At modes shrunk until no margin is beyond the bound: each is one such w."""
        found = []
        for shrink in np.linspace(0.0, 1.0, 11):
            w = shrink * logistic.mode(self.X, self.s, 0.5 / self.weight)[0]
            w = w * min(1.0, self.bound / max(np.abs(self.X @ w).max(), 1e-300))
            loss = np.logaddexp(0, -self.s * (self.X @ w)).sum()
            found.append(loss + self.weight * w @ w)
        return min(found)

    def AIOLI_LOGDET(self) -> float:
        A = 2.0 * self.weight * np.eye(self.X.shape[1])
        start = np.linalg.slogdet(A)[1]
        for x, p in zip(self.X, self.p):
            A = A + p * (1.0 - p) / (1.0 + self.bound) * np.outer(x, x)
        return (1.0 + self.bound) * (np.linalg.slogdet(A)[1] - start)

    def AIOLI_PRIORI(self) -> float:
        n, C = self.X.shape[1], self.bound
        return (1 + C) * n * math.log1p((self.X**2).sum() / (8 * n * self.weight * (1 + C)))
