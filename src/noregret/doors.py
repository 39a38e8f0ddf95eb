"""Doors: from what the caller holds to the vector that a core sees.

A door knows its features, by position or by name.  What it has not met before it hands over
apart: the value is new, its past is 0, so a core can grow by it exactly.  Doors never change; one
that has met new features is another door.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from struct import Struct
from struct import error as struct_error
from typing import Any, NamedTuple, Protocol

import numpy as np

from noregret import features
from noregret.errors import FeatureError
from noregret.features import Mapped
from noregret.types import Matrix, Vector

__all__ = ["Admitted", "Door", "Names", "Positions", "door_for", "door_for_many", "plain"]

frombuffer = np.frombuffer
ndarray, float64 = np.ndarray, np.dtype(np.float64)


class Admitted(NamedTuple):
    """One x: the known features, the values of new ones, and what the door must learn of them."""

    vector: Vector
    new: Vector
    key: Any
    missed: float = 0.0  # of k(x, x), what a budget leaves out


NOTHING: Vector = np.zeros(0)


class Door(Protocol):
    """What every door can do."""

    @property
    def size(self) -> int:
        """How many features it knows."""
        ...

    def admit(self, x: Any) -> Admitted:
        """One round's features."""
        ...

    def grown(self, key: Any) -> Door:
        """The door that also knows what was new."""
        ...

    def many(self, X: Any) -> tuple[Matrix, Door, float]:
        """The features of many rounds, the door that knows them all, and what a budget missed."""
        ...

    def survey(self, X: Any) -> tuple[Matrix, Vector]:
        """The known features of many rounds, and how long each one's new part is."""
        ...


def door_for(x: Any) -> Door:
    """A door that has met nothing yet, for rounds that look like x."""
    if features.as_mapping(x) is not None:
        return Names(())
    n = features.row(x).size
    if n == 0:
        raise FeatureError("x is empty: give at least one feature")
    return Positions(n)


def door_for_many(X: Any) -> tuple[Positions | Names, Matrix]:
    """A door for rounds that look like X, knowing all of their features; and X as it reads."""
    xs, names = features.table(X)
    features.filled(xs.shape)
    return (Positions(xs.shape[1]) if names is None else Names(names)), xs


def plain(door: Any, x: Any) -> Any:
    """x as a vector if it is a plain one or has just the known names; else None.

    From a dict, integers beyond 2^53 may have lost digits: see `Names.encode`.
    """
    if type(x) is dict:
        return door.encode(x) if type(door) is Names else None
    if type(x) is ndarray and x.dtype is float64 and x.ndim == 1:
        return x if type(door) is Positions else None
    return None


class Positions:
    """Features by position: n of them, no more and no fewer.

    >>> Positions(2).admit([1, 2]).vector
    array([1., 2.])
    """

    __slots__ = ("size",)

    def __init__(self, size: int) -> None:
        self.size = size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Positions) and other.size == self.size

    def __hash__(self) -> int:
        return hash(self.size)

    def admit(self, x: Any) -> Admitted:
        """x itself, if it has the right width."""
        if features.as_mapping(x) is not None:
            raise FeatureError(
                "x has names, but this learner was given arrays and knows positions only: "
                "give arrays, or start a new learner with mappings"
            )
        vector = features.row(x)
        if vector.size != self.size:
            raise FeatureError(
                f"x has {vector.size} features, but it is expecting {self.size} features as input: "
                "arrays go by position; give mappings if features come and go"
            )
        return Admitted(vector, NOTHING, None)

    def grown(self, key: Any) -> Positions:
        """Positions never grow."""
        raise FeatureError(f"this learner has {self.size} features by position: {key!r} is no more")

    def many(self, X: Any) -> tuple[Matrix, Positions, float]:
        """X itself, if it has the right width."""
        xs, names = features.table(X)
        if names is not None:
            raise FeatureError(
                "X has names, but this learner was given arrays and knows positions only: "
                "give arrays, or start a new learner with frames"
            )
        if xs.shape[1] != self.size:
            raise FeatureError(
                f"X has {xs.shape[1]} features, but it is expecting {self.size} features as input: "
                "arrays go by position"
            )
        return xs, self, 0.0

    def survey(self, X: Any) -> tuple[Matrix, Vector]:
        """X itself; nothing in it is new."""
        xs, _, _ = self.many(X)
        return xs, np.zeros(len(xs))


class Names:
    """Feature names in the order in which they arrived, and a fast way from a mapping to x.

    >>> names = Names(["hot", "wet"])
    >>> names.encode({"wet": 2.0, "hot": 1.0})
    array([1., 2.])
    >>> names.encode({"wet": 2.0, "new": 1.0}) is None     # not these names exactly
    True
    """

    __slots__ = ("_last", "_pack", "_pick", "remembered", "size", "slots")

    def __init__(self, names: Iterable[Any], remembered: Vector = NOTHING) -> None:
        self.slots = {name: slot for slot, name in enumerate(names)}
        self.size = len(self.slots)
        self._pack = Struct(f"={self.size}d").pack
        self._pick = itemgetter(*self.slots) if self.size > 1 else None
        self._last: tuple[bytes, Vector] = (b"", NOTHING)
        # What a file of an earlier release kept of the last row: it goes back as it was.
        self.remembered = remembered

    def __reduce__(self) -> tuple[Any, ...]:
        return Names, (list(self.slots), self.remembered)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Names) and list(other.slots) == list(self.slots)

    def __hash__(self) -> int:
        return hash(tuple(self.slots))

    def encode(self, x: Mapped) -> Vector | None:
        """x as a vector when it has just these names and plain numbers; else None.

        Integers beyond 2^53 may have lost digits: the caller lets no such size pass unseen.
        """
        if len(x) != self.size or self._pick is None:
            return None
        try:
            values = self._pick(x)
            if type(sum(values, 0.0)) is not float:  # complex numbers and other odd company
                return None
            packed = self._pack(*values)
            seen, vector = self._last  # learning mostly follows a forecast at the same x
            if packed == seen:
                return vector
            vector = frombuffer(packed)
        except (KeyError, TypeError, ValueError, ArithmeticError, RuntimeWarning, struct_error):
            return None
        self._last = packed, vector
        return vector

    def admit(self, x: Any) -> Admitted:
        """x by name, checked value by value; a name that is absent counts as 0."""
        mapping = features.as_mapping(x)
        if mapping is None:
            features.row(x)  # says what is wrong with an x that is no array either
            raise FeatureError(
                "x is an array, but this learner knows its features by name: give a mapping"
            )
        vector = np.zeros(self.size)
        new: dict[Any, float] = {}
        for name, value in mapping.items():
            field = f"x[{name!r}]"
            checked = features.within(features.number(value, field), field)
            slot = self.slots.get(name)
            if slot is None:
                new[name] = checked
            else:
                vector[slot] = checked
        return Admitted(vector, np.fromiter(new.values(), np.float64, len(new)), list(new))

    def grown(self, key: Any) -> Names:
        """These names, then the new ones."""
        return Names([*self.slots, *key])

    def many(self, X: Any) -> tuple[Matrix, Names, float]:
        """Every column in its slot; columns not met before get slots of their own."""
        xs, names = self._columns(X)
        new = [name for name in names if name not in self.slots]
        door = self.grown(new) if new else self
        slots = [door.slots[name] for name in names]
        if slots == list(range(door.size)):
            return xs, door, 0.0
        rows = np.zeros((len(xs), door.size))
        rows[:, slots] = xs
        return rows, door, 0.0

    def survey(self, X: Any) -> tuple[Matrix, Vector]:
        """Every known column in its slot, and the length of the others, row by row."""
        xs, names = self._columns(X)
        rows, beyond = np.zeros((len(xs), self.size)), np.zeros(len(xs))
        for j, name in enumerate(names):
            if name in self.slots:
                rows[:, self.slots[name]] = xs[:, j]
            else:
                beyond = np.hypot(beyond, xs[:, j])
        return rows, beyond

    def _columns(self, X: Any) -> tuple[Matrix, list[Any]]:
        xs, names = features.table(X)
        if names is None:
            raise FeatureError(
                "X is an array, but this learner knows its features by name: give a frame"
            )
        return xs, names
