"""Engines: ways to hold a posterior over weights and to forecast the probability of label 1.

Each has `chance(x)`, `learn(x, sign) -> log loss` and `extended(k)`; x is a float64 vector, a sign is
+1 or -1.  A learner keeps the account beside it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

import numpy as np

from noregret._ops import bare, margin, newton, particles
from noregret._ops.account import EXCESS, note
from noregret._ops.layout import EXACT_INTEGER, LARGEST_FEATURE
from noregret._ops.ledger import add
from noregret.errors import NumericalError
from noregret.gaussian.cores.primal import PrimalCore
from noregret.glm.families import LOGISTIC, Family
from noregret.types import Matrix, Vector

__all__ = ["History", "Mode", "Particles", "Posterior", "Recursive", "TierneyKadane"]

TOO_LARGE = "the look at x does not fit in float64: rescale the features"

_predict = bare(margin.predict)
_learn = bare(margin.learn)


def sound(value: float) -> float:
    """The number, if it is one."""
    if value != value:
        raise NumericalError(TOO_LARGE)
    return value


class Posterior(Protocol):
    """What every posterior can do."""

    def probability(self, x: Vector) -> float:
        """The probability of label 1 at x."""
        ...

    def log_odds(self, x: Vector) -> float:
        """ln of the odds of label 1 at x, exact where the probability rounds to 0 or 1."""
        ...

    def learn(self, x: Vector, sign: float, book: Matrix, scatter: Matrix) -> float:
        """Learn and book one round; the log loss of the probability that it had given."""
        ...

    def extended(self, k: int) -> Any:
        """A copy with k features more, which have been 0 so far."""
        ...


class Recursive:
    """No history: a Gaussian state and one scalar problem a round, O(n^2)."""

    __slots__ = ("bound", "core", "family", "kind")

    def __init__(self, kind: int, family: Family, core: PrimalCore, bound: float = 0.0) -> None:
        self.kind, self.family, self.core, self.bound = kind, family, core, bound

    @classmethod
    def start(cls, kind: int, family: Family, precision: float, n: int, bound: float) -> Recursive:
        """The prior: precision `precision` in every direction."""
        return cls(kind, family, PrimalCore(precision, n, 1), bound)

    def predict_fast(self, x: Vector) -> float:
        """The probability of label 1 at a plain x; NaN where a closer look is needed."""
        core = self.core
        return _predict(self.kind, self.family.code, core.factor, core.work, x, EXACT_INTEGER)

    def probability(self, x: Vector) -> float:
        """The probability of label 1 at x."""
        core = self.core
        return sound(
            margin.predict(self.kind, self.family.code, core.factor, core.work, x, LARGEST_FEATURE)
        )

    def log_odds(self, x: Vector) -> float:
        """ln of the odds of label 1 at x."""
        core, code = self.core, self.family.code
        no, yes = (
            margin.price_of(self.kind, code, core.factor, core.work, x, LARGEST_FEATURE, sign)
            for sign in (-1.0, 1.0)
        )
        return sound(no - yes)

    def learn_fast(
        self, x: Vector, sign: float, book: Matrix, scatter: Matrix, ceiling: float = EXACT_INTEGER
    ) -> float:
        """Learn and book one round; NaN where x is not plain: nothing is learned then."""
        core = self.core
        return _learn(
            self.kind,
            self.family.code,
            self.bound,
            core.factor,
            core.work,
            book,
            scatter,
            x,
            ceiling,
            sign,
        )

    def learn(self, x: Vector, sign: float, book: Matrix, scatter: Matrix) -> float:
        """Learn and book one round."""
        return sound(self.learn_fast(x, sign, book, scatter, LARGEST_FEATURE))

    def extended(self, k: int) -> Recursive:
        """A copy with k features more."""
        return Recursive(self.kind, self.family, self.core.extended(k), self.bound)

    def weights(self) -> Vector:
        """The mean of the weights."""
        w: Vector = self.core.coefficients()[0]
        return w


class History:
    """The rounds so far as rows s x, in an array that doubles when it is full."""

    __slots__ = ("count", "held", "scratch")

    def __init__(self, n: int) -> None:
        self.count = 0
        self.held: Matrix = np.zeros((16, n))
        self.scratch: Matrix = np.zeros((16, n))

    @property
    def rows(self) -> Matrix:
        """The rounds."""
        return self.held[: self.count]

    def append(self, row: Vector) -> None:
        """One round more."""
        if self.count + 1 >= len(self.held):  # a place is kept for a row that is only tried
            self.held = np.vstack([self.held, np.zeros_like(self.held)])
            self.scratch = np.zeros_like(self.held)
        self.held[self.count] = row
        self.count += 1

    def extended(self, k: int) -> History:
        """A copy with k features more."""
        larger = History(0)
        larger.count = self.count
        larger.held = np.hstack([self.held, np.zeros((len(self.held), k))])
        larger.scratch = np.zeros_like(larger.held)
        return larger


class Found(NamedTuple):
    """A mode: where it is, the factor of the curvature there, F, ln det, |gradient|."""

    w: Vector
    curve: Matrix
    F: float
    log_det: float
    gradient: float


class Mode:
    """The exact mode of the posterior, by Newton steps on the history: O(t n^2) a round."""

    __slots__ = ("F", "curve", "family", "gradient", "history", "log_det", "precision", "w", "work")

    def __init__(self, family: Family, precision: float, n: int) -> None:
        self.family, self.precision = family, precision
        self.history = History(n)
        self.w, self.curve, self.work = np.zeros(n), np.zeros((n, n)), np.zeros((2, n))
        self.F = self.gradient = 0.0
        self.log_det = n * math.log(precision)

    def probability(self, x: Vector) -> float:
        """The probability of label 1 under the mode."""
        return math.exp(-self.family.loss_and_derivatives(float(self.w @ x))[0])

    def log_odds(self, x: Vector) -> float:
        """ln of the odds of label 1 under the mode."""
        z = float(self.w @ x)
        return self.family.loss_and_derivatives(-z)[0] - self.family.loss_and_derivatives(z)[0]

    def fit(self, count: int) -> Found:
        """The mode of the first so many rows; nothing is kept but scratch."""
        h, w, curve = self.history, self.w.copy(), np.empty_like(self.curve)
        F, log_det, gradient, _ = newton.mode(
            self.family.code,
            h.held[:count],
            self.precision,
            w,
            curve,
            self.work,
            h.scratch[:count],
        )
        if not math.isfinite(F + log_det + gradient):
            raise NumericalError(TOO_LARGE)
        return Found(w, curve, F, log_det, gradient)

    def tried(self, row: Vector) -> Found:
        """The mode with one row more, in the place that is kept for it."""
        h = self.history
        h.held[h.count] = row
        return self.fit(h.count + 1)

    def price(self, row: Vector) -> float:
        """What the label of this row costs before it is known."""
        return self.family.loss_and_derivatives(float(row @ self.w))[0]

    def learn(self, x: Vector, sign: float, book: Matrix, scatter: Matrix) -> float:
        """Learn and book one round, and what it costs less under the new mode."""
        row = sign * x
        found = self.tried(row)
        loss, plain = self.price(row), self.family.loss_and_derivatives(float(row @ self.w))[0]
        self.history.append(row)
        self.w, self.curve, self.F, self.log_det, self.gradient = found
        add(book, EXCESS, plain - self.family.loss_and_derivatives(float(row @ self.w))[0])
        note(book, scatter, x, loss, sign)
        return loss

    def extended(self, k: int) -> Any:
        """A copy with k features more."""
        larger = type(self)(self.family, self.precision, self.w.size + k)
        larger.history = self.history.extended(k)
        larger.w[: self.w.size] = self.w
        larger.F, larger.gradient = self.F, self.gradient
        larger.log_det = self.log_det + k * math.log(self.precision)
        return larger

    def weights(self) -> Vector:
        """The mode."""
        return self.w.copy()


class TierneyKadane(Mode):
    """The posterior mean of the probability as a ratio of two Laplace evidences."""

    __slots__ = ()

    def evidence(self, row: Vector) -> float:
        """ln of the Laplace evidence with one row more, up to what all rows share."""
        found = self.tried(row)
        return -found.F - 0.5 * found.log_det

    def log_odds(self, x: Vector) -> float:
        """ln of the odds of label 1: the gap between the two evidences."""
        return self.evidence(x) - self.evidence(-x)

    def probability(self, x: Vector) -> float:
        """The probability of label 1: the two evidences, normalised."""
        return math.exp(-LOGISTIC.loss_and_derivatives(self.log_odds(x))[0])

    def price(self, row: Vector) -> float:
        """What the label of this row costs before it is known."""
        return LOGISTIC.loss_and_derivatives(self.log_odds(row))[0]


class Particles:
    """A cloud of weighted particles; where few carry the weight, resample and move."""

    __slots__ = ("cloud", "family", "history", "logs", "moves", "precision", "rng")

    def __init__(self, family: Family, precision: float, n: int, size: int, seed: int) -> None:
        self.family, self.precision = family, precision
        self.rng = np.random.default_rng(seed)
        self.cloud: Matrix = self.rng.standard_normal((size, n)) / math.sqrt(precision)
        self.logs: Vector = np.full(size, -math.log(size))
        self.history = History(n)
        self.moves = 0

    def price(self, row: Vector) -> float:
        """-ln of the weighted mean of the probability of this row's label."""
        return particles.price(self.family.code, self.cloud, self.logs, row)

    def probability(self, x: Vector) -> float:
        """The weighted mean of the probability of label 1."""
        return math.exp(-self.price(np.ascontiguousarray(x)))

    def log_odds(self, x: Vector) -> float:
        """ln of the odds of label 1."""
        return self.price(-x) - self.price(np.ascontiguousarray(x))

    def learn(self, x: Vector, sign: float, book: Matrix, scatter: Matrix) -> float:
        """Weigh the particles by the round, in parts where it is too much for them at once.

        A part is a power of the likelihood that leaves the weights worth a fifth of the particles;
        after each the cloud is resampled and moved.  The least part is 2^-40, and doubles after
        40 parts, so that 81 are the most.
        """
        row = sign * x
        loss = sound(self.price(row))
        before = self.cloud, self.logs.copy(), self.rng.bit_generator.state, self.moves
        self.history.append(row)
        try:
            self._weigh(row)
        except np.linalg.LinAlgError:
            self.history.count -= 1
            self.cloud, self.logs, self.rng.bit_generator.state, self.moves = before
            raise NumericalError(TOO_LARGE) from None
        note(book, scatter, x, loss, sign)
        return loss

    def _weigh(self, row: Vector) -> None:
        """Take the newest round into the weights, part by part."""
        left, parts = 1.0, 0
        while left > 0.0:
            least = 2.0 ** max(parts - 80, -40)
            part = particles.bearable(self.family.code, self.cloud, self.logs, row, left, least)
            worth = particles.weigh(self.family.code, self.cloud, self.logs, row, part)
            left, parts = left - part, parts + 1
            if left > 0.0 or worth < 0.5 * len(self.logs):
                self._renew(1.0 - left)

    def _renew(self, part: float) -> None:
        """Systematic resampling, then Metropolis steps of the cloud's own shape.

        `part` is how much of the newest round counts so far.
        """
        N, n = self.cloud.shape
        weights = np.exp(self.logs)
        centre = weights @ self.cloud
        apart = self.cloud - centre
        cov = (apart * weights[:, None]).T @ apart
        least = 1e-12 * (np.trace(cov) / n + 1.0 / self.precision)  # of the proposal only
        root = np.linalg.cholesky(cov + least * np.eye(n)).T * (2.38 / math.sqrt(n))
        places = (self.rng.random() + np.arange(N)) / N
        chosen = np.searchsorted(np.cumsum(weights) / weights.sum(), places)
        self.cloud = self.cloud[np.minimum(chosen, N - 1)]
        self.logs = np.full(N, -math.log(N))
        steps = 6
        particles.move(
            self.family.code,
            self.history.rows,
            self.precision,
            part,
            self.cloud,
            np.ascontiguousarray(root),
            self.rng.standard_normal((steps * N, n)),
            self.rng.random((steps, N)),
        )
        self.moves += 1

    def extended(self, k: int) -> Particles:
        """A copy with k features more: their weights are the prior's."""
        larger = Particles(self.family, self.precision, 0, 1, 0)
        larger.rng = np.random.default_rng()
        larger.rng.bit_generator.state = self.rng.bit_generator.state
        size = (len(self.logs), k)
        fresh = (
            larger.rng.standard_normal(size) / math.sqrt(self.precision) if k else np.zeros(size)
        )
        larger.cloud = np.hstack([self.cloud, fresh])
        larger.logs, larger.history = self.logs.copy(), self.history.extended(k)
        larger.moves = self.moves
        return larger

    def weights(self) -> Vector:
        """The mean of the cloud."""
        w: Vector = np.exp(self.logs) @ self.cloud
        return w
