"""Engines: ways to hold a posterior over weights and to forecast the probability of label 1.

Each has `chance(x)`, `learn(x, sign) -> log loss` and `grown(k)`; x is a float64 vector, a sign is
+1 or -1.  A learner keeps the account beside it.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np

from noregret._ops import margin, newton, particles
from noregret._ops.account import EXCESS
from noregret._ops.layout import AT, CEILING, LARGEST_FEATURE
from noregret._ops.ledger import add
from noregret.cores.primal import PrimalCore
from noregret.errors import NumericalError
from noregret.glm.families import Family
from noregret.types import Matrix, Vector

__all__ = ["Engine", "History", "Mode", "Particles", "Recursive", "TierneyKadane"]

TOO_LARGE = "the look at x does not fit in float64: rescale the features"


class Engine(Protocol):
    """What every engine can do."""

    def chance(self, x: Vector) -> float:
        """The probability of label 1 at x."""
        ...

    def learn(self, x: Vector, sign: float, book: Matrix) -> float:
        """Learn one round; the log loss of the probability it had given to what happened."""
        ...

    def grown(self, k: int) -> Any:
        """A copy with k features more, which have been 0 so far."""
        ...


class Recursive:
    """No history: a Gaussian state and one scalar problem a round, O(n^2)."""

    __slots__ = ("bound", "core", "family", "kind")

    def __init__(self, kind: int, family: Family, core: PrimalCore, bound: float = 0.0) -> None:
        self.kind, self.family, self.core, self.bound = kind, family, core, bound
        core.work[AT, CEILING] = LARGEST_FEATURE

    @classmethod
    def start(cls, kind: int, family: Family, precision: float, n: int, bound: float) -> Recursive:
        """The prior: precision `precision` in every direction."""
        return cls(kind, family, PrimalCore(precision, n, 1), bound)

    def chance(self, x: Vector) -> float:
        """The probability of label 1 at x."""
        p = margin.predict(self.kind, self.family.code, self.core.factor, self.core.work, x)
        if p != p:
            raise NumericalError(TOO_LARGE)
        return p

    def learn(self, x: Vector, sign: float, book: Matrix) -> float:
        """Learn one round."""
        core = self.core
        loss = margin.learn(
            self.kind, self.family.code, self.bound, core.factor, core.work, book, x, sign
        )
        if loss != loss:
            raise NumericalError(TOO_LARGE)
        return loss

    def grown(self, k: int) -> Recursive:
        """A copy with k features more."""
        return Recursive(self.kind, self.family, self.core.grown(k), self.bound)

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

    def grown(self, k: int) -> History:
        """A copy with k features more."""
        larger = History(0)
        larger.count = self.count
        larger.held = np.hstack([self.held, np.zeros((len(self.held), k))])
        larger.scratch = np.zeros_like(larger.held)
        return larger


class Mode:
    """The exact mode of the posterior, by Newton steps on the history: O(t n^2) a round."""

    __slots__ = ("F", "curve", "family", "gradient", "history", "log_det", "precision", "w", "work")

    def __init__(self, family: Family, precision: float, n: int) -> None:
        self.family, self.precision = family, precision
        self.history = History(n)
        self.w, self.curve, self.work = np.zeros(n), np.zeros((n, n)), np.zeros((2, n))
        self.F = self.gradient = 0.0
        self.log_det = n * math.log(precision)

    def chance(self, x: Vector) -> float:
        """The probability of label 1 under the mode."""
        return math.exp(-self.family.bend(float(self.w @ x))[0])

    def fit(self, count: int) -> tuple[float, float, float]:
        """Move to the mode of the first so many rows: F, ln det, |gradient|."""
        h = self.history
        F, log_det, gradient, _ = newton.mode(
            self.family.code,
            h.held[:count],
            self.precision,
            self.w,
            self.curve,
            self.work,
            h.scratch[:count],
        )
        if not math.isfinite(F + log_det + gradient):
            raise NumericalError(TOO_LARGE)
        return F, log_det, gradient

    def learn(self, x: Vector, sign: float, book: Matrix) -> float:
        """Learn one round; what the round costs less under the new mode goes to the book."""
        row, before = sign * x, self.w.copy()
        loss = self.family.bend(float(row @ before))[0]
        self.history.append(row)
        try:
            self.F, self.log_det, self.gradient = self.fit(self.history.count)
        except NumericalError:
            self.history.count -= 1
            self.w = before
            raise
        add(book, EXCESS, loss - self.family.bend(float(row @ self.w))[0])
        return loss

    def grown(self, k: int) -> Any:
        """A copy with k features more."""
        larger = type(self)(self.family, self.precision, self.w.size + k)
        larger.history = self.history.grown(k)
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
        h = self.history
        h.held[h.count] = row
        here = self.w
        self.w = here.copy()
        try:
            F, log_det, _ = self.fit(h.count + 1)
        finally:
            self.w = here
        return -F - 0.5 * log_det

    def chance(self, x: Vector) -> float:
        """The probability of label 1: the two evidences, normalised."""
        gap = self.evidence(-x) - self.evidence(x)
        return 1.0 / (1.0 + math.exp(gap)) if gap < 700.0 else 0.0

    def learn(self, x: Vector, sign: float, book: Matrix) -> float:
        """Learn one round."""
        gap = self.evidence(-sign * x) - self.evidence(sign * x)
        loss = math.log1p(math.exp(-abs(gap))) + max(gap, 0.0)
        super().learn(x, sign, book)
        return loss


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

    def chance(self, x: Vector) -> float:
        """The weighted mean of the probability of label 1."""
        p = particles.chance(self.family.code, self.cloud, self.logs, np.ascontiguousarray(x))
        return min(p, 1.0)

    def learn(self, x: Vector, sign: float, book: Matrix) -> float:  # noqa: ARG002
        """Weigh the particles by the round; resample and move where it has become too few."""
        row = sign * x
        p = particles.chance(self.family.code, self.cloud, self.logs, row)
        if not p > 0.0:
            raise NumericalError(TOO_LARGE)
        self.history.append(row)
        worth = particles.weigh(self.family.code, self.cloud, self.logs, row)
        if worth < 0.5 * len(self.logs):
            self._renew()
        return -math.log(min(p, 1.0))

    def _renew(self) -> None:
        """Systematic resampling, then Metropolis steps of the cloud's own shape."""
        N, n = self.cloud.shape
        weights = np.exp(self.logs)
        centre = weights @ self.cloud
        apart = self.cloud - centre
        cov = (apart * weights[:, None]).T @ apart
        jitter = 1e-12 * (np.trace(cov) / n + 1.0 / self.precision)  # of the proposal only
        root = np.linalg.cholesky(cov + jitter * np.eye(n)).T * (2.38 / math.sqrt(n))
        places = (self.rng.random() + np.arange(N)) / N
        chosen = np.searchsorted(np.cumsum(weights) / weights.sum(), places)
        self.cloud = self.cloud[np.minimum(chosen, N - 1)]
        self.logs = np.full(N, -math.log(N))
        steps = 6
        particles.move(
            self.family.code,
            self.history.rows,
            self.precision,
            self.cloud,
            np.ascontiguousarray(root),
            self.rng.standard_normal((steps * N, n)),
            self.rng.random((steps, N)),
        )
        self.moves += 1

    def grown(self, k: int) -> Particles:
        """A copy with k features more: their weights are the prior's."""
        larger = Particles(self.family, self.precision, 0, 1, 0)
        larger.rng = np.random.default_rng()
        larger.rng.bit_generator.state = self.rng.bit_generator.state
        size = (len(self.logs), k)
        fresh = (
            larger.rng.standard_normal(size) / math.sqrt(self.precision) if k else np.zeros(size)
        )
        larger.cloud = np.hstack([self.cloud, fresh])
        larger.logs, larger.history = self.logs.copy(), self.history.grown(k)
        larger.moves = self.moves
        return larger

    def weights(self) -> Vector:
        """The mean of the cloud."""
        w: Vector = np.exp(self.logs) @ self.cloud
        return w
