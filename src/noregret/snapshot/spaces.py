"""How doors, kernels, budgets and feature maps are stored."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.gaussian_process import kernels as sk

from noregret.budgets import (
    FeatureMap,
    Nystrom,
    Polynomial,
    RandomFourier,
    Taylor,
    Window,
    _Fourier,
    _Monomials,
)
from noregret.errors import NoRegretError, SnapshotError
from noregret.inputs.kernel_spaces import KernelInputs, MappedSpace, NystromSpace
from noregret.inputs.spaces import Names, Positions
from noregret.inputs.values import abbreviated
from noregret.kernels import Kernel
from noregret.snapshot.kinds import Fields, Writer, register
from noregret.snapshot.values import spread

__all__ = ["BUDGETS", "KERNELS", "MAPS", "SPACES", "read_points", "width", "write_points"]

BUDGETS = (Nystrom, RandomFourier, Taylor, Polynomial, Window)
SPACES = (Positions, Names)
MAPS = (_Fourier, _Monomials)
KERNELS = (
    sk.ConstantKernel,
    sk.DotProduct,
    sk.ExpSineSquared,
    sk.Exponentiation,
    sk.Matern,
    sk.PairwiseKernel,
    sk.Product,
    sk.RBF,
    sk.RationalQuadratic,
    sk.Sum,
    sk.WhiteKernel,
)

SIZES = {
    "alpha",
    "constant_value",
    "exponent",
    "gamma",
    "length_scale",
    "noise_level",
    "nu",
    "periodicity",
    "sigma_0",
}

# Doors --------------------------------------------------------------------------------------


def _write_positions(_: Writer, space: Positions) -> dict[str, Any]:
    return {"size": space.size}


def _read_positions(f: Fields) -> Positions:
    space = Positions(f.whole("size", 0, 2**40))
    f.done()
    return space


def _write_names(w: Writer, space: Names) -> dict[str, Any]:
    names = [
        name if type(name) is str else w.value(name, f"the feature name {name!r}")
        for name in space.slots
    ]
    return {"names": ["list", *names], "last": w.numbers(space.remembered)}


def _read_names(f: Fields) -> Names:
    names = f.value("names")
    if type(names) is not list:
        raise f.wrong("has no list of names")
    try:
        spread(names)
        space = Names(names)
    except TypeError as unhashable:
        raise f.wrong(f"has a name that cannot be one: {unhashable}") from None
    if space.size != len(names):
        raise f.wrong("has a name twice")
    if f.shape("last", 1) not in ((0,), (space.size,)):
        raise f.wrong("remembers a row of another width")
    last = f.numbers("last", *f.shape("last", 1), finite=False)
    f.done()
    return Names(names, last)


register(Positions, _write_positions, _read_positions)
register(Names, _write_names, _read_names)


def _write_inputs(w: Writer, inputs: KernelInputs) -> dict[str, Any]:
    return {"door": w.thing(inputs.space)}


def _read_inputs(f: Fields) -> KernelInputs:
    inputs = KernelInputs(f.thing("door", *SPACES, optional=True))
    f.done()
    return inputs


register(KernelInputs, _write_inputs, _read_inputs, "Inputs")

# Kernels ------------------------------------------------------------------------------------


def _write_kernel(w: Writer, kernel: Kernel) -> dict[str, Any]:
    return {"function": w.value(kernel.function, "kernel"), "constant": bool(kernel.constant)}


def _read_kernel(f: Fields) -> Kernel:
    function = f.value("function")
    if not callable(function):
        raise f.wrong("has no function")
    kernel = Kernel(function, constant=f.flag("constant"))
    f.done()
    return kernel


def _size(value: Any) -> bool:
    """Whether a parameter of a kernel is a number, or an array of numbers."""
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind in "iuf" and value.ndim <= 1
    if isinstance(value, list | tuple):
        return all(isinstance(v, int | float) for v in value)
    return isinstance(value, int | float) and not isinstance(value, bool)


def _write_sklearn(w: Writer, kernel: Any) -> dict[str, Any]:
    chosen = kernel.get_params(deep=False)
    if chosen.get("pairwise_kernels_kwargs") is not None:
        raise SnapshotError(
            f"kernel = {abbreviated(kernel)} cannot be stored: it has keywords of its own"
        )
    return {"parameters": {name: w.value(value, name) for name, value in chosen.items()}}


def _read_sklearn(type_: Any) -> Callable[[Fields], Any]:
    names = set(inspect.signature(type_).parameters)

    def read(f: Fields) -> Any:
        chosen = f.values("parameters")
        f.done()
        parts = [chosen.get(name) for name in ("k1", "k2", "kernel") if name in names]
        if set(chosen) != names or not all(isinstance(part, sk.Kernel) for part in parts):
            raise f.wrong("has other parameters")
        if chosen.get("pairwise_kernels_kwargs") is not None:
            raise f.wrong("has extra keywords")
        if type(chosen.get("metric", "")) is not str:
            raise f.wrong("has a metric that is none")
        for name in SIZES & names:
            if not _size(chosen[name]):
                raise f.wrong(f"has {name} = {abbreviated(chosen[name])}")
        try:
            return type_(**chosen)
        except (TypeError, ValueError, AttributeError) as wrong:
            raise f.wrong(f"makes no kernel: {wrong}") from None

    return read


register(Kernel, _write_kernel, _read_kernel)
for _type in KERNELS:
    register(_type, _write_sklearn, _read_sklearn(_type), f"sklearn.{_type.__name__}")

# Budgets and maps ---------------------------------------------------------------------------


def _write_budget(w: Writer, budget: Any) -> dict[str, Any]:
    return {name: w.value(getattr(budget, name), name) for name in type(budget).__slots__}


def _read_budget(type_: Any) -> Callable[[Fields], Any]:
    def read(f: Fields) -> Any:
        chosen = {name: f.value(name) for name in type_.__slots__}
        f.done()
        return type_(**chosen)  # checked when it is used

    return read


for _type in BUDGETS:
    register(_type, _write_budget, _read_budget(_type))


def _write_fourier(w: Writer, map_: _Fourier) -> dict[str, Any]:
    return {"frequencies": w.numbers(map_.frequencies)}  # NumPy's random numbers may change


def _read_fourier(f: Fields) -> _Fourier:
    map_ = _Fourier(f.numbers("frequencies", *f.shape("frequencies", 2)))
    f.done()
    return map_


def _write_monomials(_: Writer, map_: _Monomials) -> dict[str, Any]:
    inputs = 1 + max((variable for _, variable in map_.terms), default=-1)
    return {
        "inputs": inputs,
        "degree": map_.degree,
        "width": map_.width,
        "size": len(map_.weights),
    }


def _read_monomials(f: Fields) -> _Monomials:
    n, degree = f.whole("inputs", 1, 2**20), f.whole("degree", 1, 2**10)
    # A core of size x size numbers follows, wherever a map is stored.
    size = f.whole("size", 1, math.isqrt(f.reader.left))
    width = f.value("width")
    f.done()
    if width is not None and not (type(width) is float and 1e-30 <= width <= 1e30):
        raise f.wrong("has a width that is none")
    if math.comb(n + degree, degree) != size:
        raise f.wrong(f"has {size} monomials, which {n} inputs of degree {degree} do not have")
    try:
        return _Monomials(n, degree, width)
    except ArithmeticError as beyond:
        raise f.wrong(f"does not fit in float64: {beyond}") from None


register(_Fourier, _write_fourier, _read_fourier, "Fourier")
register(_Monomials, _write_monomials, _read_monomials, "Monomials")


def width(map_: FeatureMap) -> tuple[int, int]:
    """How many inputs a map takes, and how many features it gives."""
    if isinstance(map_, _Fourier):
        return map_.frequencies.shape[0], 2 * map_.frequencies.shape[1]
    assert isinstance(map_, _Monomials)
    return 1 + max(variable for _, variable in map_.terms), len(map_.weights)


def _write_mapped(w: Writer, space: MappedSpace) -> dict[str, Any]:
    return {"inputs": w.thing(space.inputs), "map": w.thing(space.map)}


def _read_mapped(f: Fields) -> MappedSpace:
    inputs, map_ = f.thing("inputs", KernelInputs), f.thing("map", *MAPS)
    f.done()
    n, size = width(map_)
    if inputs.space is None or inputs.space.size != n:
        raise f.wrong("has a map for other inputs")
    return MappedSpace(inputs, map_, size)


def _write_dictionary(w: Writer, space: NystromSpace) -> dict[str, Any]:
    return {
        "budget": w.thing(space.budget),
        "kernel": w.thing(space.kernel),
        "inputs": w.thing(space.inputs),
        "kept": write_points(w, space.kept, space.inputs),
        "triangle": w.numbers(space.triangle),
    }


def _read_dictionary(f: Fields) -> NystromSpace:
    budget, kernel = f.thing("budget", Nystrom), f.thing("kernel", Kernel)
    inputs = f.thing("inputs", KernelInputs)
    kept = list(read_points(f, "kept", inputs))
    s = len(kept)
    triangle = np.asfortranarray(f.numbers("triangle", s, s))
    f.done()
    try:
        budget.check()
    except NoRegretError as wrong:
        raise f.wrong(f"has a budget that makes no sense: {wrong}") from None
    return NystromSpace(budget, kernel, inputs, kept, triangle)


register(MappedSpace, _write_mapped, _read_mapped, "MapDoor")
register(NystromSpace, _write_dictionary, _read_dictionary, "DictionaryDoor")


def write_points(w: Writer, points: Any, inputs: KernelInputs) -> Any:
    """Inputs of a kernel: vectors as numbers, anything else as it is."""
    if len(points) and inputs.space is not None:
        return {"as": "vectors", "points": w.numbers(np.array(points))}
    listed = [w.value(x, f"input {t}") for t, x in enumerate(points)]
    return {"as": "objects", "points": listed}


def read_points(f: Fields, name: str, inputs: KernelInputs) -> Any:
    """A matrix, or a list of objects, as the space has it."""
    inner = f.inner(name)
    if inner.text("as", ("vectors", "objects")) == "vectors":
        count, n = inner.shape("points", 2)
        if inputs.space is None or n != inputs.space.size:
            raise f.wrong("has vectors of another width")
        points = inner.numbers("points", count, n)
        inner.done()
        return points
    listed, where = inner.kept("points")
    inner.done()
    if type(listed) is not list or (listed and inputs.space is not None):
        raise f.wrong("has objects where vectors are due")
    return [f.reader.value(x, f"{where}[{t}]") for t, x in enumerate(listed)]
