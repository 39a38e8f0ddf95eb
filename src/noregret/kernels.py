"""What a kernel is: any callable k(X, Z) -> matrix, on vectors or on any other objects.

Every kernel of `sklearn.gaussian_process.kernels`, sums and products included, works as it is:

>>> import numpy as np, noregret as nr
>>> from sklearn.gaussian_process.kernels import RBF, DotProduct
>>> t = np.linspace(0.0, 10.0, 200)[:, None]
>>> trend_and_wave = 0.1 * DotProduct(1.0) + RBF(1.0)
>>> replay = nr.Ridge(0.1, kernel=trend_and_wave).replay(t, t[:, 0] + np.sin(t[:, 0]))
>>> print(f"{replay.loss[100:].mean():.1e}", replay.certificate.holds)
6.9e-03 True

So does a function of two sequences of strings, graphs or dicts; inputs are then kept as a list, as
they are: do not change one that was learned.  Documents that forecast a number:

>>> def common_words(X, Z):
...     return np.array([[len(set(x.split()) & set(z.split())) for z in Z] for x in X], float)
>>> stars = nr.Ridge(0.1, kernel=common_words)
>>> for text, star in [("a good film", 4.0), ("a bad film", 1.0), ("good fun", 5.0)]:
...     stars.learn_one(text, star)
>>> round(stars.predict_one("good film"), 2), round(stars.predict_one("bad film"), 2)
(3.35, 0.43)
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from noregret.declare.extras import loaded, module
from noregret.declare.fields import Mismatch, Truth, Value
from noregret.errors import FeatureError, ParameterError, SnapshotError, abbreviated, wrapping
from noregret.types import Matrix, Vector

__all__ = [
    "KERNELS",
    "NAMED",
    "SKLEARN",
    "Inputs",
    "Kernel",
    "chosen_in",
    "clipped_precision",
    "decaying_change",
    "horizon_drift",
    "horizon_precision",
    "is_vector",
    "kernel_of",
    "together",
]

Inputs: TypeAlias = Any
"""Many inputs as a kernel takes them: a matrix of vectors, or a list of objects."""

Point: TypeAlias = Any
"""One of them: a vector, or an object that only the kernel understands."""

SKLEARN = "sklearn.gaussian_process.kernels"
Made: TypeAlias = Any
"""A kernel of scikit-learn, which is untyped."""
NAMED: dict[str, Callable[[ModuleType], Made]] = {
    "linear": lambda sk: sk.DotProduct(sigma_0=0.0, sigma_0_bounds="fixed"),
    "matern": lambda sk: sk.Matern(),
    "polynomial": lambda sk: sk.DotProduct(sigma_0=1.0) ** 2,
    "rational-quadratic": lambda sk: sk.RationalQuadratic(),
    "rbf": lambda sk: sk.RBF(),
}
"""Kernels by name, where a string must do: made by scikit-learn's module of kernels."""

SIZES = {
    "ConstantKernel": ("constant_value",),
    "DotProduct": ("sigma_0",),
    "ExpSineSquared": ("length_scale", "periodicity"),
    "Exponentiation": ("exponent",),
    "Matern": ("length_scale", "nu"),
    "PairwiseKernel": ("gamma",),
    "Product": (),
    "RBF": ("length_scale",),
    "RationalQuadratic": ("alpha", "length_scale"),
    "Sum": (),
    "WhiteKernel": ("noise_level",),
}
"""scikit-learn's kernels that model files may hold, each with its parameters that are numbers."""
KERNELS = tuple(SIZES)


def is_vector(x: object) -> TypeGuard[Vector]:
    """Whether an input is a vector of numbers rather than an object."""
    return isinstance(x, np.ndarray) and x.ndim == 1 and x.dtype == np.float64


def together(inputs: list[Point]) -> Inputs:
    """Inputs as a kernel takes them: vectors as a matrix, anything else as a list."""
    if not inputs or not is_vector(inputs[0]):
        return inputs
    try:
        matrix = np.array(inputs)
    except ValueError:  # vectors of several lengths, or objects among them
        return inputs
    return matrix if matrix.dtype == np.float64 and matrix.ndim == 2 else inputs


class Kernel:
    """A kernel with its answers checked.

    >>> import numpy as np
    >>> Kernel("rbf").gram(np.array([[0.0], [1.0]])).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    >>> def shared(X, Z):
    ...     return np.array([[len(set(x) & set(z)) for z in Z] for x in X], dtype=float)
    >>> Kernel(shared).column(["cat", "tac"], "act")
    array([3., 3.])
    """

    __slots__ = ("constant", "function", "known", "vectors")

    FIELDS = (Value("function", called="kernel"), Truth("constant"))
    SCRATCH = ("known", "vectors")

    def __init__(self, kernel: str | Made, *, constant: bool = False) -> None:
        if isinstance(kernel, str):
            if kernel not in NAMED:
                raise ParameterError(
                    f"kernel = {abbreviated(kernel)}: the names are {', '.join(NAMED)}"
                )
            kernel = NAMED[kernel](module(SKLEARN, f"kernel = {kernel!r}"))
        if not callable(kernel):
            raise ParameterError(
                f"kernel = {abbreviated(kernel)}: give a callable k(X, Z), or a name"
            )
        # A copy, so that set_params on the caller's kernel does not reach what was learned with it.
        self.function = _copied(kernel) if _theirs(kernel) else kernel
        self.constant = float(constant)  # 1.0 adds the constant functions to the space
        # scikit-learn's kernels say whether they take vectors; any other callable takes what
        # comes, and vectors when numbers come.
        self.vectors: bool | None = getattr(kernel, "requires_vector_input", None) or None
        self.known = _known(self.function)  # scikit-learn's own: it does the same every time

    def stored(self) -> tuple[object, ...]:
        """The values of FIELDS."""
        return self.function, bool(self.constant)

    @classmethod
    def restored(cls, function: object, constant: bool) -> Kernel:  # noqa: FBT001  # by FIELDS
        """The kernel of these values."""
        if not callable(function):
            raise Mismatch("has no function")
        return cls(function, constant=constant)

    def gram(self, X: Inputs) -> Matrix:
        """k(x_i, x_j), all pairs."""
        with wrapping("the kernel", FeatureError):
            values = self.function(X, X) if self._plain() else self.function(X)
        return self._checked(values, len(X))

    def cross(self, X: Inputs, Z: Inputs) -> Matrix:
        """k(x_i, z_j)."""
        with wrapping("the kernel", FeatureError):
            values = self.function(X, Z)
        return self._checked(values, len(X), len(Z))

    def column(self, X: Inputs, z: object) -> Vector:
        """k(x_i, z)."""
        return self.cross(X, together([z]))[:, 0]

    def itself(self, z: object) -> float:
        """k(z, z)."""
        return float(self.gram(together([z]))[0, 0])  # as `diagonal` has it, white noise included

    def diagonal(self, X: Inputs) -> Vector:
        """k(x_i, x_i)."""
        if not self._plain():
            with wrapping("the kernel", FeatureError):
                values = np.asarray(self.function.diag(X), dtype=np.float64)[:, None]
            return self._finite(values)[:, 0] + self.constant
        return np.array([self.itself(x) for x in X])

    def _plain(self) -> bool:
        """Whether this is a plain function rather than one of scikit-learn's kernels."""
        return not _theirs(self.function)

    def _checked(self, values: object, *shape: int) -> Matrix:
        wanted = shape if len(shape) == 2 else (shape[0], shape[0])
        try:
            matrix = np.asarray(values, dtype=np.float64)
        except Exception as error:  # `values` may be of any kind
            raise FeatureError(f"the kernel gave no matrix of numbers: {error}") from error
        if matrix.shape != wanted:
            raise FeatureError(
                f"the kernel gave a matrix of shape {matrix.shape} for {wanted[0]} by {wanted[1]} "
                "inputs: k(X, Z) must give one row for each x and one column for each z"
            )
        self._finite(matrix)
        return matrix + self.constant if self.constant else matrix

    def _finite(self, matrix: Matrix) -> Matrix:
        if not np.isfinite(matrix).all():
            i, j = (int(v) for v in np.argwhere(~np.isfinite(matrix))[0])
            raise FeatureError(
                f"the kernel gave {float(matrix[i, j])!r} at ({i}, {j}): "
                "rescale the inputs, or mend it"
            )
        return matrix

    def lends(self) -> bool:
        """Whether a matrix from here may be somebody else's, so that it must not be written to."""
        return self._plain() and not self.constant

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Kernel)
            and self.function == other.function
            and self.constant == other.constant
        )

    def __hash__(self) -> int:
        return hash((type(self.function), self.constant))


def _theirs(kernel: object) -> bool:
    """Whether a kernel is scikit-learn's, or a child of one."""
    sk = loaded(SKLEARN)
    return sk is not None and isinstance(kernel, sk.Kernel)


def _copied(kernel: Made) -> Made:
    from sklearn.base import clone

    return clone(kernel)


def _known(kernel: Made) -> bool:
    """Whether a kernel and all parts of it are scikit-learn's."""
    if not _theirs(kernel) or type(kernel).__module__ != SKLEARN:
        return False
    parts = kernel.get_params(deep=False).values()
    return all(_known(part) for part in parts if _theirs(part) or callable(part))


# scikit-learn's kernels in model files -----------------------------------------------------------


def chosen_in(kernel: Made) -> dict[str, object]:
    """The parameters of one of scikit-learn's kernels, as a file keeps them."""
    chosen: dict[str, object] = kernel.get_params(deep=False)
    if chosen.get("pairwise_kernels_kwargs") is not None:
        raise SnapshotError(
            f"kernel = {abbreviated(kernel)} cannot be stored: it has keywords of its own"
        )
    return chosen


def kernel_of(type_: type[Made], chosen: dict[str, object]) -> Made:
    """The kernel of these parameters, each checked."""
    names = set(inspect.signature(type_).parameters)
    parts = [chosen.get(name) for name in ("k1", "k2", "kernel") if name in names]
    if set(chosen) != names or not all(_theirs(part) for part in parts):
        raise Mismatch("has other parameters")
    if chosen.get("pairwise_kernels_kwargs") is not None:
        raise Mismatch("has extra keywords")
    if type(chosen.get("metric", "")) is not str:
        raise Mismatch("has an invalid metric")
    for name in SIZES[type_.__name__]:
        if not _size(chosen[name]):
            raise Mismatch(f"has {name} = {abbreviated(chosen[name])}")
    try:
        return type_(**chosen)
    except (TypeError, ValueError, AttributeError) as wrong:
        raise Mismatch(f"makes no kernel: {wrong}") from None


def _size(value: object) -> bool:
    """Whether a parameter of a kernel is a number, or an array of numbers."""
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind in "iuf" and value.ndim <= 1
    if isinstance(value, list | tuple):
        return all(isinstance(v, int | float) for v in value)
    return isinstance(value, int | float) and not isinstance(value, bool)


def horizon_precision(
    rounds: int, outcome_bound: float, *, norm: float = 1.0, peak: float = 1.0
) -> float:
    """a = (Y c/d) sqrt(T), which makes KAAR's regret 2 Y c d sqrt(T) at the announced T.

    For |y| <= outcome_bound = Y, functions of norm at most `norm` = d and a kernel whose k(x, x)
    never exceeds `peak`^2 = c^2 (Busuttil and Kalnishkan, Corollary 1).

    >>> horizon_precision(10_000, outcome_bound=2.0, norm=4.0)
    50.0
    """
    return outcome_bound * peak / norm * math.sqrt(rounds)


def horizon_drift(rounds: int, outcome_bound: float, *, change: float, peak: float = 1.0) -> float:
    """1/a for t >= 2, which makes the price of change 2 Y c sqrt(s T(T-1)/2) at the announced T.

    For experts whose changes satisfy sum_{t>=2} |f_t|^2 <= `change` = s (Busuttil and Kalnishkan,
    Corollary 2); a_1 is `horizon_precision`.

    >>> round(horizon_drift(100, outcome_bound=1.0, change=0.01), 6)
    0.001421
    """
    return math.sqrt(2.0 * change / (rounds * (rounds - 1))) / (outcome_bound * peak)


def clipped_precision(rounds: int, *, peak: float = 1.0) -> float:
    """a = c sqrt(T), which makes clipped kernel ridge's regret c (|f|^2 + 4Y^2) sqrt(T).

    Against every function f at once, at the announced T alone, for |y| <= `clip` = Y and a kernel
    whose k(x, x) never exceeds `peak`^2 = c^2 (Zhdanov and Vovk, section 6).

    >>> clipped_precision(10_000, peak=0.5)
    50.0
    """
    return peak * math.sqrt(rounds)


def decaying_change(rounds: int, *, step: float = 1.0, decay: float = 0.5) -> float:
    """s for `horizon_drift` where every change satisfies |f_t| <= d/T^(1/2 + e), t >= 2.

    `step` = d, `decay` = e > 0.  Changes then cost at most sqrt(2) Y c d T^(1-e) at the announced T
    (Busuttil and Kalnishkan, Corollary 3).

    >>> round(decaying_change(100, step=2.0, decay=0.25), 6)
    0.396
    """
    return (rounds - 1) * step * step / math.pow(rounds, 1.0 + 2.0 * decay)
