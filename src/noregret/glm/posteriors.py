"""Posteriors over weights: ways to hold one, and to forecast the probability of label 1.

x is a float64 vector without gaps, a sign is +1 or -1.  The account of a learner, `book` and
`scatter`, stands beside its posterior: see noregret._native.account.
"""

from __future__ import annotations

import copy
import math
import sys
from typing import NamedTuple, Self, TypeVar

import numpy as np

from noregret._native import margin, newton, particles
from noregret._native.account import EXCESS, note
from noregret._native.layout import LARGEST_FEATURE
from noregret._native.ledger import add
from noregret._native.rows import MarginRounds, Reader, Rounds
from noregret.declare.fields import Array, Count, Group, Mismatch, Part, Real, Word
from noregret.errors import NumericalError
from noregret.gaussian.cores.primal import PrimalCore
from noregret.gaussian.cores.stored import StoredCore
from noregret.glm.families import LOGISTIC, Family
from noregret.types import Matrix, Vector

__all__ = ["LARGEST", "History", "Mode", "Particles", "Posterior", "Recursive", "TierneyKadane"]

LARGEST = 1e100  # of a feature: squares then add up within float64
TOO_LARGE = "the look at x does not fit in float64: rescale the features"
FAMILY = Part("family", ("Family",))
PRECISION = Real("prior_precision", 1e-300, sys.float_info.max, of="precision")


def sound(value: float) -> float:
    """The number, unless it is NaN."""
    if value != value:
        raise NumericalError(TOO_LARGE)
    return value


class Posterior:
    """What every posterior can do; a child has either `price` or both forms of its forecast."""

    __slots__ = ()

    family: Family
    history: History

    @property
    def method(self) -> str:
        """What it is called as a parameter of a learner."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """How many features it knows."""
        return self.history.size

    def price(self, row: Vector) -> float:
        """The log loss of label 1 at x = `row`; at -x it is that of label 0."""
        raise NotImplementedError

    def probability(self, x: Vector) -> float:
        """The probability of label 1 at x."""
        return math.exp(-self.price(x))

    def log_odds(self, x: Vector) -> float:
        """ln of the odds of label 1 at x, exact where the probability rounds to 0 or 1."""
        return self.price(-x) - self.price(x)

    def learn(self, x: Vector, sign: float, book: Matrix, scatter: Matrix) -> float:
        """Learn and book one round; the log loss of the probability that it had given."""
        raise NotImplementedError

    def replay(
        self, xs: Matrix, signs: Vector, book: Matrix, scatter: Matrix
    ) -> tuple[Vector, Vector]:
        """Learn and book many rounds; the probabilities of label 1, and log losses."""
        probabilities, losses = np.empty(len(signs)), np.empty(len(signs))
        for t, (x, sign) in enumerate(zip(xs, signs.tolist(), strict=True)):
            losses[t] = loss = self.learn(x, sign, book, scatter)
            probabilities[t] = math.exp(-loss) if sign > 0.0 else -math.expm1(-loss)
        return probabilities, losses

    def rounds(self, reader: Reader, book: Matrix, scatter: Matrix) -> Rounds | None:  # noqa: ARG002
        """Compiled rounds one at a time; most posteriors have none."""
        return None

    def copy(self) -> Self:
        """A posterior that shares nothing that changes with this one."""
        return copy.deepcopy(self)

    def extended(self, k: int) -> Posterior:
        """A copy with k features more, which have been 0 so far."""
        raise NotImplementedError

    def weights(self) -> Vector:
        """The mean or the mode of the weights."""
        raise NotImplementedError


class Recursive(Posterior):
    """No history: a Gaussian state and one scalar problem per round, O(n^2)."""

    __slots__ = ("bound", "core", "family", "kind")

    FIELDS = (
        Count("kind", margin.ADF, margin.AIOLI),
        FAMILY,
        Real("bound", 0.0, 1e300),
        Real("prior_precision", PRECISION.low, PRECISION.high, of="core"),
        Group("core", StoredCore),
    )

    def __init__(self, kind: int, family: Family, core: PrimalCore, bound: float = 0.0) -> None:
        self.kind, self.family, self.core, self.bound = kind, family, core, bound

    def stored(self) -> tuple[object, ...]:
        """The values of FIELDS."""
        core = self.core
        return self.kind, self.family, self.bound, core.prior_precision, StoredCore.of(core)

    @classmethod
    def restored(
        cls, kind: int, family: Family, bound: float, precision: float, core: StoredCore
    ) -> Recursive:
        """The posterior of these values."""
        return cls(kind, family, core.fixed(precision, len(core.factor), 1), bound)

    @property
    def method(self) -> str:
        """Which of the three recursions it is."""
        return {margin.ADF: "adf", margin.LAPLACE: "newton", margin.AIOLI: "aioli"}[self.kind]

    @property
    def size(self) -> int:
        """How many features it knows."""
        return len(self.core.factor)

    def probability(self, x: Vector) -> float:
        """The probability of label 1 at x."""
        core, code = self.core, self.family.code
        return sound(margin.predict(self.kind, code, core.factor, core.work, x, LARGEST_FEATURE))

    def log_odds(self, x: Vector) -> float:
        """ln of the odds of label 1 at x."""
        core, code = self.core, self.family.code
        negative, positive = (
            margin.price_of(self.kind, code, core.factor, core.work, x, LARGEST_FEATURE, sign)
            for sign in (-1.0, 1.0)
        )
        return sound(negative - positive)

    def learn(self, x: Vector, sign: float, book: Matrix, scatter: Matrix) -> float:
        """Learn and book one round."""
        return float(self.replay(x[None], np.array([sign]), book, scatter)[1][0])

    def replay(
        self, xs: Matrix, signs: Vector, book: Matrix, scatter: Matrix
    ) -> tuple[Vector, Vector]:
        """Learn and book many rounds in one compiled call."""
        core, settings = self.core, (self.kind, self.family.code, self.bound)
        probabilities, losses = np.empty(len(signs)), np.empty(len(signs))
        given = xs, signs, probabilities, losses
        if margin.replay(*settings, core.factor, core.work, book, scatter, *given) >= 0:
            raise NumericalError(TOO_LARGE)
        return probabilities, losses

    def rounds(self, reader: Reader, book: Matrix, scatter: Matrix) -> Rounds:
        """Compiled rounds one at a time."""
        core, settings = self.core, (self.kind, self.family.code, self.bound)
        return MarginRounds(reader, *settings, core.factor, core.work, book, scatter)

    def copy(self) -> Recursive:
        """A posterior that shares nothing that changes with this one."""
        return self.extended(0)

    def extended(self, k: int) -> Recursive:
        """A copy with k features more."""
        return Recursive(self.kind, self.family, self.core.extended(k), self.bound)

    def weights(self) -> Vector:
        """The mean of the weights."""
        w: Vector = self.core.coefficients()[0]
        return w


class History:
    """The rounds so far as rows s x, in an array that doubles when it is full."""

    __slots__ = ("count", "held")

    FIELDS = (Array("rows", ("t", "n"), of="held"),)
    SCRATCH = ("count",)  # that of the rows

    def __init__(self, rows: Matrix) -> None:
        room, self.count = 16, len(rows)
        while room <= self.count:  # a place is kept for a row that is only tried
            room *= 2
        self.held: Matrix = np.zeros((room, rows.shape[1]))
        self.held[: self.count] = rows

    def stored(self) -> tuple[Matrix]:
        """The values of FIELDS."""
        return (self.rows,)

    @classmethod
    def restored(cls, rows: Matrix) -> History:
        """The history of these rounds."""
        if rows.size and not np.abs(rows).max() <= LARGEST:
            raise Mismatch("has a round that could not have been learned")
        return cls(rows)

    @property
    def size(self) -> int:
        """How many features it knows."""
        return int(self.held.shape[1])

    @property
    def rows(self) -> Matrix:
        """The rounds."""
        return self.held[: self.count]

    def append(self, row: Vector) -> None:
        """Take one round more."""
        if self.count + 1 >= len(self.held):
            self.held = np.vstack([self.held, np.zeros_like(self.held)])
        self.held[self.count] = row
        self.count += 1

    def extended(self, k: int) -> History:
        """A copy with k features more."""
        return History(np.hstack([self.rows, np.zeros((self.count, k))]))


class Found(NamedTuple):
    """A mode: where it is, the factor of the curvature there, F, ln det, |gradient| there."""

    w: Vector
    curve: Matrix
    F: float
    log_det: float
    gradient: float
    kept: Matrix  # the sums there


M = TypeVar("M", bound="Mode")


class Mode(Posterior):
    """The exact mode of the posterior, by Newton steps on the history: O(t n^2) per round."""

    __slots__ = (
        "F",
        "curve",
        "family",
        "gradient",
        "history",
        "kept",
        "log_det",
        "precision",
        "w",
        "work",
    )

    FIELDS: tuple[object, ...] = (
        FAMILY,
        PRECISION,
        Part("history", ("History",), size="n"),
        Array("w", ("n",)),
        Array("curve", ("n", "n"), finite=False),
        Real("F"),
        Real("gradient"),
        Real("log_det"),
    )
    SCRATCH = ("kept", "work")
    FOUND: tuple[str, ...] = ("w", "curve", "F", "gradient", "log_det")
    method = "map"

    def __init__(self, family: Family, precision: float, n: int) -> None:
        self.family, self.precision = family, precision
        self.history = History(np.zeros((0, n)))
        self.w, self.curve, self.work = np.zeros(n), np.zeros((n, n)), np.zeros((2, n))
        self.kept: Matrix | None = None  # sums over the history at w, where they are at hand
        self.F = self.gradient = 0.0
        self.log_det = n * math.log(precision)

    @classmethod
    def restored(cls, family: Family, precision: float, history: History, *found: object) -> Self:
        """The posterior of these values."""
        made = cls(family, precision, history.size)
        made.history = history
        for name, value in zip(cls.FOUND, found, strict=True):
            setattr(made, name, value)
        return made

    def price(self, row: Vector) -> float:
        """The log loss of label 1 at x = `row`, under the mode."""
        return self.family.loss_and_derivatives(float(row @ self.w))[0]

    def tried(self, row: Vector) -> Found:
        """The mode with one row more, in the place that is kept for it; nothing else is written."""
        h, w, curve = self.history, self.w.copy(), np.empty_like(self.curve)
        h.held[h.count] = row
        rows = h.held[: h.count + 1]
        if self.kept is None:
            kept, known = np.empty((self.size + 1, newton.width(self.size))), -1
        else:
            kept, known = self.kept.copy(), h.count
        F, log_det, gradient, _ = newton.mode(
            self.family.code, rows, self.precision, w, curve, self.work, kept, known
        )
        if not math.isfinite(F + log_det + gradient):
            raise NumericalError(TOO_LARGE)
        return Found(w, curve, F, log_det, gradient, kept)

    def learn(self, x: Vector, sign: float, book: Matrix, scatter: Matrix) -> float:
        """Learn and book one round, and what it costs less under the new mode."""
        row = sign * x
        found = self.tried(row)
        loss, before = self.price(row), Mode.price(self, row)
        self.history.append(row)
        self.w, self.curve, self.F, self.log_det, gradient, self.kept = found
        self.gradient = max(self.gradient, gradient)  # be-the-leader needs every round's mode
        add(book, EXCESS, before - Mode.price(self, row))
        note(book, scatter, x, loss, sign)
        return loss

    def extended(self, k: int) -> Mode:
        """A copy with k features more."""
        return self.passed_to(type(self)(self.family, self.precision, self.size + k))

    def passed_to(self, larger: M) -> M:
        """A posterior that knows more features, with the past of this one."""
        k = larger.size - self.size
        larger.history = self.history.extended(k)
        larger.w[: self.size] = self.w
        larger.F, larger.gradient = self.F, self.gradient
        larger.log_det = self.log_det + k * math.log(self.precision)
        return larger

    def weights(self) -> Vector:
        """The mode."""
        return self.w.copy()


class TierneyKadane(Mode):
    """The posterior mean of the probability as a ratio of two Laplace evidences."""

    __slots__ = ()

    method = "tierney-kadane"

    def evidence(self, row: Vector) -> float:
        """ln of the Laplace evidence with one row more, up to what all rows share."""
        found = self.tried(row)
        return -found.F - 0.5 * found.log_det

    def log_odds(self, x: Vector) -> float:
        """ln of the odds of label 1: the gap between the two evidences."""
        return self.evidence(x) - self.evidence(-x)

    def price(self, row: Vector) -> float:
        """The log loss of label 1 at x = `row`: the two evidences, normalised."""
        return LOGISTIC.loss_and_derivatives(self.log_odds(row))[0]


class Particles(Posterior):
    """A cloud of weighted particles; where few carry the weight, resample and move."""

    __slots__ = ("cloud", "family", "history", "logs", "moves", "precision", "rng")

    FIELDS = (
        FAMILY,
        PRECISION,
        Part("history", ("History",), size="n"),
        Array("cloud", ("N", "n")),
        Array("logs", ("N",)),
        Count("moves"),
        Word("generator", ("PCG64",), of="rng"),
        Count("state", 0, 2**128 - 1, of="rng"),
        Count("inc", 0, 2**128 - 1, of="rng"),
        Count("has_uint32", 0, 1, of="rng"),
        Count("uinteger", 0, 2**32 - 1, of="rng"),
    )
    method = "smc"

    def __init__(self, family: Family, precision: float, n: int, size: int, seed: int) -> None:
        self.family, self.precision = family, precision
        self.rng = np.random.default_rng(seed)
        self.cloud: Matrix = self.rng.standard_normal((size, n)) / math.sqrt(precision)
        self.logs: Vector = np.full(size, -math.log(size))
        self.history = History(np.zeros((0, n)))
        self.moves = 0

    def stored(self) -> tuple[object, ...]:
        """The values of FIELDS."""
        rng = dict(self.rng.bit_generator.state)
        numbers = rng["state"]["state"], rng["state"]["inc"], rng["has_uint32"], rng["uinteger"]
        learned = self.history, self.cloud, self.logs, self.moves
        return self.family, self.precision, *learned, rng["bit_generator"], *numbers

    @classmethod
    def restored(
        cls,
        family: Family,
        precision: float,
        history: History,
        cloud: Matrix,
        logs: Vector,
        moves: int,
        generator: str,
        *numbers: int,
    ) -> Particles:
        """The posterior of these values."""
        if not logs.size:
            raise Mismatch("has no particles")
        made = cls(family, precision, 0, 1, 0)
        made.history, made.cloud, made.logs, made.moves = history, cloud, logs, moves
        state, inc, has_uint32, uinteger = numbers
        made.rng.bit_generator.state = {
            "bit_generator": generator,
            "state": {"state": state, "inc": inc},
            "has_uint32": has_uint32,
            "uinteger": uinteger,
        }
        return made

    def price(self, row: Vector) -> float:
        """-ln of the weighted mean of the probability of label 1 at x = `row`."""
        return particles.price(self.family.code, self.cloud, self.logs, row)

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
        larger = self.copy()
        fresh = larger.rng.standard_normal((len(self.logs), k)) / math.sqrt(self.precision)
        larger.cloud, larger.history = np.hstack([self.cloud, fresh]), self.history.extended(k)
        return larger

    def weights(self) -> Vector:
        """The mean of the cloud."""
        w: Vector = np.exp(self.logs) @ self.cloud
        return w
