"""Budgets: kernels on streams without end, at a cost per round that does not grow.

A budget replaces the space of a kernel by one of finitely many dimensions, and runs the
weight-space core there; or it forgets all but the last rounds.  Certificates of a budgeted
learner speak of the functions that it really competes with.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from noregret.declare.fields import Array, Count, Mismatch, Value
from noregret.declare.parameters import Number, Whole
from noregret.errors import ParameterError, abbreviated
from noregret.types import Matrix, Vector

__all__ = ["FeatureMap", "Nystrom", "Polynomial", "RandomFourier", "Taylor", "Window"]


CHUNK = 512  # rows whose features are made together, so that they stay in cache


WHOLE = Whole(1, math.inf, "a whole number of at least 1")
WIDTH = Number(1e-30, 1e30, "a number > 0 (1e-30 to 1e30)")


class FeatureMap:
    """An explicit map from inputs of n numbers to features; `peak` is what k(x, x) would be."""

    __slots__ = ()

    def features(self, X: Matrix) -> Matrix:
        """(T, n) -> (T, size)."""
        raise NotImplementedError

    def peak(self, X: Matrix) -> Vector:
        """k(x, x) of the kernel that the map stands for."""
        raise NotImplementedError

    @property
    def shape(self) -> tuple[int, int]:
        """How many inputs it takes, and how many features it gives."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Nystrom:
    """Up to `size` inputs of the stream span the space of functions; any kernel.

    An input joins when it has a share of more than `tolerance` outside the span of those before,
    k(x, x) - |projection|^2 > tolerance k(x, x), until there are `size`.

    >>> Nystrom(300)
    Nystrom(size=300, tolerance=1e-06)
    """

    FIELDS = (Value("size"), Value("tolerance"))

    size: int
    tolerance: float = 1e-6

    def check(self) -> None:
        """Raise if the numbers make no sense."""
        WHOLE.check("size", self.size)
        if not (isinstance(self.tolerance, int | float) and 0.0 <= self.tolerance < 1.0):
            raise ParameterError(
                f"tolerance = {abbreviated(self.tolerance)}: it must be a number in [0, 1)"
            )


@dataclass(frozen=True, slots=True)
class RandomFourier:
    """Random cosines and sines for the Gaussian kernel exp(-|x - z|^2 / (2 width^2)).

    `size` features, half of them cosines; their products average to the kernel.

    >>> RandomFourier(300, width=0.5).map(2).features(np.zeros((1, 2))).shape
    (1, 300)
    """

    FIELDS = (Value("size"), Value("width"), Value("seed"))

    size: int
    width: float = 1.0
    seed: int = 0

    def map(self, n: int) -> FeatureMap:
        """The map for inputs of n numbers."""
        half, odd = divmod(WHOLE.check("size", self.size), 2)
        if odd:
            raise ParameterError(
                f"size = {abbreviated(self.size)}: cosines come with sines, give an even one"
            )
        if not (isinstance(self.seed, int | np.integer) and self.seed >= 0):
            raise ParameterError(
                f"seed = {abbreviated(self.seed)}: it must be a whole number of at least 0"
            )
        rng = np.random.default_rng(self.seed)
        return _Fourier(rng.standard_normal((n, half)) / WIDTH.check("width", self.width))


class _Fourier(FeatureMap):
    __slots__ = ("frequencies",)
    FIELDS = (Array("frequencies", ("n", "k")),)  # NumPy's random numbers may change

    def __init__(self, frequencies: Matrix) -> None:
        self.frequencies = frequencies

    @property
    def shape(self) -> tuple[int, int]:
        n, half = self.frequencies.shape
        return n, 2 * half

    def features(self, X: Matrix) -> Matrix:
        half = self.frequencies.shape[1]
        rows = np.empty((len(X), 2 * half))
        for start in range(0, len(X), CHUNK):
            part = rows[start : start + CHUNK]
            angles = X[start : start + CHUNK] @ self.frequencies
            np.cos(angles, out=part[:, :half])
            np.sin(angles, out=part[:, half:])
            part /= math.sqrt(half)
        return rows

    def peak(self, X: Matrix) -> Vector:
        return np.ones(len(X))


@dataclass(frozen=True, slots=True)
class Taylor:
    """The Gaussian kernel's own Taylor series up to a degree: exp(-|x|^2/2w^2) times monomials.

    >>> Taylor(degree=2, width=1.0).map(9).features(np.zeros((1, 9))).shape
    (1, 55)
    """

    FIELDS = (Value("degree"), Value("width"))

    degree: int
    width: float = 1.0

    def map(self, n: int) -> FeatureMap:
        """The map for inputs of n numbers."""
        return _Monomials(n, WHOLE.check("degree", self.degree), WIDTH.check("width", self.width))


@dataclass(frozen=True, slots=True)
class Polynomial:
    """The kernel (1 + x'z)^degree, exactly: its weighted monomials.

    >>> x, z = np.array([[0.5, -1.0]]), np.array([[2.0, 1.0]])
    >>> phi = Polynomial(3).map(2)
    >>> (phi.features(x) @ phi.features(z).T).round(12)     # (1 + 0)^3
    array([[1.]])
    """

    FIELDS = (Value("degree"),)

    degree: int

    def map(self, n: int) -> FeatureMap:
        """The map for inputs of n numbers."""
        return _Monomials(n, WHOLE.check("degree", self.degree), None)


class _Monomials(FeatureMap):
    """Monomials up to a degree with the weights of (1 + x'z)^degree or of the Gaussian kernel."""

    __slots__ = ("degree", "terms", "weights", "width")
    FIELDS = (
        Count("inputs", 1, 2**20, of="shape"),
        Count("degree", 1, 2**10),
        Value("width"),
        Count("size", 1, squared=True, of="shape"),  # a core follows, wherever a map is stored
    )
    SCRATCH = ("terms", "weights")  # worked out from the others

    def __init__(self, n: int, degree: int, width: float | None) -> None:
        self.degree, self.width = degree, width
        self.terms: list[tuple[int, int]] = []  # each term is an earlier term times a variable
        weights = [1.0]
        index: dict[tuple[int, ...], int] = {(): 0}
        for d in range(1, degree + 1):
            for powers in combinations_with_replacement(range(n), d):
                self.terms.append((index[powers[:-1]], powers[-1]))
                index[powers] = len(index)
                repeats = math.prod(math.factorial(powers.count(i)) for i in set(powers))
                if width is None:  # degree! / (d0! d1! ... ) with d0 = degree - d
                    number = math.factorial(degree) // math.factorial(degree - d) / repeats
                else:  # exp(x'z/w^2) = sum (x'z)^d / (w^2d d!), and (x'z)^d = sum d!/prod ...
                    number = 1.0 / (repeats * width ** (2 * d))
                weights.append(math.sqrt(number))
        self.weights = np.array(weights)

    def stored(self) -> tuple[object, ...]:
        n, size = self.shape
        return n, self.degree, self.width, size

    @classmethod
    def restored(cls, n: int, degree: int, width: float | None, size: int) -> _Monomials:
        if width is not None and not (type(width) is float and 1e-30 <= width <= 1e30):
            raise Mismatch("has an invalid width")
        if math.comb(n + degree, degree) != size:
            raise Mismatch(f"has {size} monomials, which {n} inputs of degree {degree} do not have")
        try:
            return cls(n, degree, width)
        except ArithmeticError as beyond:
            raise Mismatch(f"does not fit in float64: {beyond}") from None

    @property
    def shape(self) -> tuple[int, int]:
        return 1 + max((variable for _, variable in self.terms), default=-1), len(self.weights)

    @np.errstate(over="ignore", invalid="ignore")  # who looks at what overflows refuses it
    def features(self, X: Matrix) -> Matrix:
        rows = np.empty((len(X), len(self.weights)))
        for start in range(0, len(X), CHUNK):
            part = X[start : start + CHUNK]
            columns = np.empty((len(self.weights), len(part)))
            columns[0] = 1.0
            for k, (parent, variable) in enumerate(self.terms, start=1):
                np.multiply(columns[parent], part[:, variable], out=columns[k])
            columns *= self.weights[:, None]
            if self.width is not None:
                columns *= np.exp(-(part * part).sum(axis=1) / (2.0 * self.width**2))
            rows[start : start + CHUNK] = columns.T
        return rows

    @np.errstate(over="ignore")
    def peak(self, X: Matrix) -> Vector:
        if self.width is not None:
            return np.ones(len(X))
        return np.asarray((1.0 + (X * X).sum(axis=1)) ** self.degree)


@dataclass(frozen=True, slots=True)
class Window:
    """Only the last `size` rounds are remembered; any kernel.  A report, not a proof.

    >>> Window(500)
    Window(size=500)
    """

    FIELDS = (Value("size"),)

    size: int

    def check(self) -> None:
        """Raise if the number makes no sense."""
        WHOLE.check("size", self.size)
