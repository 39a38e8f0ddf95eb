"""Which things a model file may hold, and how each is written and read: a closed list.

A thing is stored as {"is": its kind, field: ...}.  A kind is registered with two functions, one
that writes the fields and one that reads them.  The reader is handed `Fields`, which checks each
value for its type, range and shape; a kind that is not on the list does not exist.
"""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret.errors import SnapshotError
from noregret.inputs.values import abbreviated
from noregret.kernels import KERNELS, SKLEARN
from noregret.learner.base import Stateful
from noregret.learner.saving import Saveable
from noregret.snapshot.fields import (
    read_fields,
    read_kernel,
    read_learner,
    write_fields,
    write_kernel,
    write_learner,
)
from noregret.snapshot.values import decoded, encoded, forged, spread
from noregret.types import Matrix

__all__ = ["Fields", "Reader", "Writer", "register"]

LARGEST_COUNT = 2**53
LONGEST_NAME = 1000  # of a function


@dataclass(frozen=True, slots=True)
class Kind:
    """One entry of the list."""

    name: str
    type: type
    write: Callable[[Writer, object], dict[str, object]]
    read: Callable[[Fields], object]


HOMES: dict[str, str] = {
    "AAR": "gaussian.learners.AAR",
    "BayesianRidge": "gaussian.learners.BayesianRidge",
    "DictionaryDoor": "inputs.kernel_spaces.NystromSpace",
    "Fourier": "budgets._Fourier",
    "Inputs": "inputs.kernel_spaces.KernelInputs",
    "Kernel": "kernels.Kernel",
    "KernelStream": "gaussian.kernel_stream.KernelStream",
    "MapDoor": "inputs.kernel_spaces.MappedSpace",
    "Monomials": "budgets._Monomials",
    "Names": "inputs.spaces.Names",
    "Nystrom": "budgets.Nystrom",
    "Plan": "gaussian.plan.Plan",
    "PriorFreeAAR": "gaussian.prior_free.PriorFreeAAR",
    "Polynomial": "budgets.Polynomial",
    "Positions": "inputs.spaces.Positions",
    "RandomFourier": "budgets.RandomFourier",
    "Ridge": "gaussian.learners.Ridge",
    "Rule": "gaussian.rules.Rule",
    "Stream": "gaussian.stream.Stream",
    "Taylor": "budgets.Taylor",
    "Window": "budgets.Window",
    **{f"sklearn.{name}": f"{SKLEARN}.{name}" for name in KERNELS},
    "BayesianLogistic": "glm.learners.BayesianLogistic",
    "Belief": "glm.binary.PosteriorState",
    "Exact": "glm.exact.Exact",
    "Family": "glm.families.Family",
    "History": "glm.posteriors.History",
    "ImproperLogistic": "glm.learners.ImproperLogistic",
    "MAPLogistic": "glm.learners.MAPLogistic",
    "Mode": "glm.posteriors.Mode",
    "Particles": "glm.posteriors.Particles",
    "Recursive": "glm.posteriors.Recursive",
    "TierneyKadane": "glm.posteriors.TierneyKadane",
    "Every": "forecasting.times.Every",
    "Forecaster": "forecasting.forecaster.Forecaster",
    "Forecaster.History": "forecasting.history.History",
    "Forecaster.Running": "forecasting.state.Running",
    "Delayed": "wrappers.delayed.Delayed",
    "Intervals": "wrappers.intervals.Intervals",
    "Lagged": "wrappers.lagged.Lagged",
    "Quantiles": "wrappers.quantiles.Quantiles",
    "OSLOG": "sparse.oslog.OSLOG",
    "SLOG": "sparse.slog.SLOG",
    "Gaussians": "lms.gaussian_net.GaussianNetState",
    "KLMSNet": "lms.net.KLMSNet",
    "KernelFamily": "lms.family_net.FamilyNetState",
    "KernelLMS": "lms.kernel_lms.KernelLMS",
    "KernelLayer": "lms.layer.KernelLayer",
    "LinearQuantiles": "gradient.quantiles.LinearQuantiles",
    "AggregatingAlgorithm": "experts.aggregating.AggregatingAlgorithm",
    "Auto": "experts.auto.Auto",
    "Auto.Ensemble": "experts.ensemble.EnsembleState",
    "Auto.State": "experts.auto.AutoState",
    "AutoClassifier": "experts.classifier.AutoClassifier",
    "AutoClassifier.State": "experts.classifier.ClassifierState",
    "BOA": "experts.rules.BOA",
    "Boosted": "experts.boosted.Boosted",
    "BayesianAlgorithm": "experts.aggregating.BayesianAlgorithm",
    "CRPSPool": "experts.crps_pool.CRPSPool",
    "Cells": "experts.core_grid.CoreGrid",
    "DistributionPool": "experts.distributions.DistributionPool",
    "ExponentialWeights": "experts.aggregating.ExponentialWeights",
    "Game": "losses.Game",
    "GuardedPool": "experts.guarded_pool.GuardedPool",
    "MLpol": "experts.rules.MLpol",
    "Mondrian": "experts.mondrian.Mondrian",
    "MondrianClassifier": "experts.mondrian_classifier.MondrianClassifier",
    "MondrianClassifier.State": "experts.mondrian_classifier.LabelTrees",
    "Pool": "experts.pool.Pool",
    "RegretPool": "experts.regret_pool.RegretPool",
    "ConvexLoss": "experts.convex.ConvexLoss",
    "RulePool": "experts.guarded.RulePool",
    "SafeLogistic": "experts.safe.SafeLogistic",
    "SafeOSLOG": "experts.safe.SafeOSLOG",
    "RidgeMixture": "experts.ridge_mixture.RidgeMixture",
    "Units": "experts.units.Units",
}
"""Every kind that declares its fields, by its name in files: where it is.  A closed list."""
NAMES = {home: name for name, home in HOMES.items()}

BY_TYPE: dict[type, Kind] = {}
BY_NAME: dict[str, Kind] = {}


def register(
    type_: type,
    write: Callable[[Writer, object], dict[str, object]],
    read: Callable[[Fields], object],
    name: str | None = None,
) -> None:
    """Put a kind on the list."""
    kind = Kind(name or type_.__name__, type_, write, read)
    assert kind.name not in BY_NAME, kind.name
    BY_TYPE[type_] = BY_NAME[kind.name] = kind


def is_learner(type_: type) -> bool:
    """Whether things of this type are learners, which a file may hold by themselves."""
    return issubclass(type_, Saveable) and kind_of(type_) is not None


def kind_called(name: str) -> Kind:
    """The kind of this name: one that declares its fields is loaded when it is first met."""
    if name not in BY_NAME:
        module, _, called = HOMES[name].rpartition(".")
        home = module if module == SKLEARN else f"noregret.{module}"
        declare(name, getattr(importlib.import_module(home), called))
    return BY_NAME[name]


def kind_in(stored: object) -> Kind | None:
    """The kind of an object in a file, if it is on the list."""
    name = stored.get("is") if type(stored) is dict else None
    on_list = type(name) is str and (name in BY_NAME or name in HOMES)
    return kind_called(str(name)) if on_list else None


def declare(name: str, type_: type) -> None:
    """Put a type with declared fields on the list."""
    if issubclass(type_, Stateful):
        register(type_, write_learner, lambda f: read_learner(f, type_), name)
    elif type_.__module__ == SKLEARN:
        register(type_, write_kernel, lambda f: read_kernel(f, type_), name)
    else:
        register(type_, write_fields, lambda f: read_fields(f, type_), name)


def kind_of(type_: type) -> Kind | None:
    """The kind of this type, if it is on the list."""
    if type_ not in BY_TYPE:
        home = f"{type_.__module__.removeprefix('noregret.')}.{type_.__qualname__}"
        if home in NAMES:
            kind_called(NAMES[home])
    return BY_TYPE.get(type_)


def _called(thing: object) -> str:
    """A function by its full name."""
    owner = thing if hasattr(thing, "__qualname__") else type(thing)
    return f"{owner.__module__}.{owner.__qualname__}"


class Writer:
    """Turns things into fields, and gathers their numbers in the order of writing."""

    __slots__ = ("pieces",)

    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    def numbers(self, array: Matrix) -> list[int]:
        """Keep an array of float64; its shape."""
        assert array.dtype == np.float64
        self.pieces.append(array.tobytes())  # C order
        return list(array.shape)

    def thing(self, value: object) -> object:
        """A thing whose kind is on the list, or None."""
        if value is None:
            return None
        kind = kind_of(type(value))
        assert kind is not None, type(value)
        return {"is": kind.name, **kind.write(self, value)}

    def value(self, value: object, where: str) -> object:
        """Whatever the user chose: a plain value, a thing, a function, or containers of them."""
        return encoded(value, where, self._beyond)

    def _beyond(self, value: object, where: str) -> object:
        if kind_of(type(value)) is not None:
            return self.thing(value)
        if callable(value) and not isinstance(value, type):
            return self.foreign(value, where)
        raise SnapshotError(
            f"{where} = {abbreviated(value)} cannot be stored: it is a {_called(type(value))}, "
            "whose state noregret does not know; take it out, or save it by its own means"
        )

    def foreign(self, function: object, where: str) -> dict[str, object]:
        """A function cannot be stored: only what it is called, so that it can be given back."""
        key = re.search(r"\['(.*)'\]$", where)
        role = key.group(1) if key else where
        if not role.isidentifier() and not key:
            role = getattr(function, "__name__", type(function).__name__)
        called = _called(function)
        if max(len(role), len(called)) > LONGEST_NAME:
            raise SnapshotError(
                f"{abbreviated(where)} is a function whose name has over {LONGEST_NAME} letters: "
                "rename it"
            )
        return {"given": role, "called": called}


class Reader:
    """Turns fields into things, and hands out the numbers in the order of writing."""

    __slots__ = ("_given", "_left", "_used")

    def __init__(self, numbers: bytes, given: dict[str, object]) -> None:
        self._left = np.frombuffer(numbers, dtype="<f8")
        self._given, self._used = given, set[str]()

    @property
    def left(self) -> int:
        """How many numbers are still to be taken."""
        return self._left.size

    def take(self, shape: tuple[int, ...], where: str) -> Matrix:
        """The next numbers, as an array of its own."""
        size = math.prod(shape)
        if size > self._left.size:
            raise forged(where, f"has {size} numbers, {self._left.size} are left")
        part, self._left = self._left[:size], self._left[size:]
        return np.array(part, dtype=np.float64).reshape(shape)

    def part(self, stored: Any, kinds: tuple[str, ...], where: str) -> object:
        """An object of one of these kinds."""
        name = stored.get("is") if type(stored) is dict else None
        if name not in kinds:
            raise forged(where, f"= {abbreviated(stored)} is no {' or '.join(kinds)}")
        return self._read(kind_called(str(name)), stored, where)

    def _read(self, kind: Kind, stored: dict[str, object], where: str) -> object:
        return kind.read(Fields(self, stored, f"{where}.{kind.name}"))

    def learner(self, stored: Any, where: str) -> object:
        """A learner of any kind."""
        kind = kind_in(stored)
        if kind is None or not is_learner(kind.type):
            raise forged(where, f"= {abbreviated(stored)} is no learner")
        return self._read(kind, stored, where)

    def value(self, stored: object, where: str) -> object:
        """Whatever the user chose."""
        return decoded(stored, where, self._beyond)

    def _beyond(self, stored: Any, where: str) -> object:
        if type(stored) is dict and "given" in stored:
            return self.foreign(stored, where)
        kind = kind_in(stored)
        if kind is None:
            raise forged(where, f"= {abbreviated(stored)} is no value")
        return self._read(kind, stored, where)

    def foreign(self, stored: Any, where: str) -> object:
        """A function that the caller gives back."""
        role, called = stored.get("given"), stored.get("called")
        if type(role) is not str or type(called) is not str or len(stored) != 2:
            raise forged(where, f"= {abbreviated(stored)} names no function")
        if max(len(role), len(called)) > LONGEST_NAME:
            raise forged(where, f"= {abbreviated(stored)} has a name too long for a function")
        for name in (role, called, called.rpartition(".")[2]):
            if name in self._given:
                self._used.add(name)
                if not callable(self._given[name]):
                    raise SnapshotError(
                        f"{name} = {abbreviated(self._given[name])}: give the function {called}"
                    )
                return self._given[name]
        how = f"{role}=..." if role.isidentifier() else f"**{{{role!r}: ...}}"
        raise SnapshotError(
            f"{where} is the function {called}, which a file cannot hold: load(path, {how}) "
            "gives it back"
        )

    def finish(self) -> None:
        """Whatever the file holds or the caller gave must have found its place."""
        if self._left.size:
            raise forged("the file", f"has {self._left.size} numbers too many")
        for name in set(self._given) - self._used:
            raise SnapshotError(
                f"{name} = {abbreviated(self._given[name])}: the file asks for no such"
            )


class Fields:
    """The fields of one thing, each read once and checked."""

    __slots__ = ("_stored", "reader", "where")

    def __init__(self, reader: Reader, stored: dict[str, Any], where: str) -> None:
        self.reader, self.where = reader, where
        self._stored = {name: value for name, value in stored.items() if name != "is"}

    def _take(self, name: str) -> tuple[Any, str]:
        where = f"{self.where}.{name}"
        if name not in self._stored:
            raise forged(where, "is missing")
        return self._stored.pop(name), where

    def done(self) -> None:
        """No field may be left."""
        for name in self._stored:
            raise forged(f"{self.where}.{abbreviated(name)}", "is unknown")

    def inner(self, name: str) -> Fields:
        """Fields within these, to be read by the caller."""
        stored, where = self._take(name)
        if type(stored) is not dict:
            raise forged(where, "has no fields")
        return Fields(self.reader, stored, where)

    def inners(self, name: str) -> list[Fields]:
        """A list of fields within these, to be read by the caller."""
        stored, where = self._take(name)
        if type(stored) is not list or not all(type(inner) is dict for inner in stored):
            raise forged(where, "is no list of fields")
        return [Fields(self.reader, inner, f"{where}[{k}]") for k, inner in enumerate(stored)]

    def named(self, name: str) -> dict[object, Fields]:
        """Fields within these by name, stored as pairs, to be read by the caller."""
        stored, where = self._take(name)
        pairs = type(stored) is list and all(
            type(pair) is list and len(pair) == 2 and type(pair[1]) is dict for pair in stored
        )
        if not pairs:
            raise forged(where, "is no list of names and fields")
        names = [self.reader.value(pair[0], f"{where}[{k}]") for k, pair in enumerate(stored)]
        try:
            spread(names)
        except TypeError as unhashable:
            raise forged(where, f"has an invalid name: {unhashable}") from None
        if len(set(names)) != len(names):
            raise forged(where, "has the same name twice")
        places = (f"{where}[{k}]" for k in range(len(names)))
        return {n: Fields(self.reader, p[1], at) for n, p, at in zip(names, stored, places)}

    def function(self, name: str) -> object:
        """A function that the caller gives back."""
        stored, where = self._take(name)
        if type(stored) is not dict:
            raise forged(where, "names no function")
        return self.reader.foreign(stored, where)

    def has(self, name: str) -> bool:
        """Whether a field of this name is still to be read."""
        return name in self._stored

    def optional(self, name: str) -> Fields | None:
        """Fields within these, or None."""
        return None if self.absent(name) else self.inner(name)

    def value(self, name: str) -> object:
        """Whatever the user chose."""
        return self.reader.value(*self._take(name))

    def values(self, name: str) -> dict[str, object]:
        """Whatever the user chose, by name."""
        stored, where = self._take(name)
        if type(stored) is not dict:
            raise forged(where, "is no list of names")
        return {key: self.reader.value(v, key[:60]) for key, v in stored.items()}

    def whole(self, name: str, low: int = 0, high: int = LARGEST_COUNT) -> int:
        """A whole number within limits."""
        stored, where = self._take(name)
        if type(stored) is not int or not low <= stored <= high:
            raise forged(where, f"= {abbreviated(stored)} is no whole number from {low} to {high}")
        return stored

    def number(self, name: str, low: float = -math.inf, high: float = math.inf) -> float:
        """A float within limits."""
        stored, where = self._take(name)
        value = decoded(stored, where)
        if type(value) is not float or not low <= value <= high:
            raise forged(where, f"= {abbreviated(value)} is no float from {low!r} to {high!r}")
        return value

    def flag(self, name: str) -> bool:
        """True or False."""
        stored, where = self._take(name)
        if type(stored) is not bool:
            raise forged(where, f"= {abbreviated(stored)} is neither true nor false")
        return stored

    def kept(self, name: str) -> tuple[object, str]:
        """A field as it is stored, and where it stands."""
        return self._take(name)

    def text(self, name: str, choices: Iterable[str] | None = None) -> str:
        """A text, one of the choices if there are some."""
        stored, where = self._take(name)
        if type(stored) is not str or (choices is not None and stored not in choices):
            raise forged(where, f"= {abbreviated(stored)} is unknown")
        return stored

    def shape(self, name: str, sides: int) -> tuple[int, ...]:
        """The shape of the numbers to come, so many sides; the numbers are still to be taken."""
        where = f"{self.where}.{name}"
        stored = self._stored.get(name)
        whole = type(stored) is list and all(
            type(s) is int and 0 <= s <= LARGEST_COUNT for s in stored
        )
        if not whole or stored is None or len(stored) != sides:
            raise forged(where, f"= {abbreviated(stored)} is no shape of {sides} sides")
        return tuple(stored)

    def numbers(self, name: str, *shape: int, finite: bool = True) -> Matrix:
        """An array of just this shape."""
        stored, where = self._take(name)
        if stored != list(shape):
            raise forged(where, f"has shape {abbreviated(stored)}, and {list(shape)} is due")
        array = self.reader.take(shape, where)
        if finite and not np.isfinite(array).all():
            raise forged(where, "has numbers that are not finite")
        return array

    def absent(self, name: str) -> bool:
        """Whether a field is there and says None; it is then read."""
        if name in self._stored and self._stored[name] is None:
            self._take(name)
            return True
        return False

    def part(self, name: str, kinds: tuple[str, ...], *, optional: bool = False) -> Any:
        """An object of one of these kinds, or None where that may be."""
        stored, where = self._take(name)
        if optional and stored is None:
            return None
        return self.reader.part(stored, kinds, where)

    def parts(self, name: str, kinds: tuple[str, ...]) -> list[object]:
        """A list of objects."""
        stored, where = self._take(name)
        if type(stored) is not list:
            raise forged(where, "is no list")
        return [self.reader.part(s, kinds, f"{where}[{k}]") for k, s in enumerate(stored)]

    def learner(self, name: str, *, optional: bool = False) -> object:
        """A learner of any kind, or None where that may be."""
        stored, where = self._take(name)
        return None if optional and stored is None else self.reader.learner(stored, where)

    def records(self, name: str, width: int) -> list[list[object]]:
        """A list of records, each of as many values."""
        stored, where = self._take(name)
        if type(stored) is not list or any(type(s) is not list or len(s) != width for s in stored):
            raise forged(where, f"is no list of records of {width} values")
        return [[self.reader.value(v, where) for v in s] for s in stored]

    def wrong(self, what: str) -> SnapshotError:
        """The error for fields that do not go together."""
        return forged(self.where, what)
