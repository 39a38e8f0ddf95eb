"""Feature spaces: from what the caller holds to the vector that a core sees.

A space knows its features, by position or by name.  What it has not met before it hands over
apart: the value is new, its past is 0, so a core can grow by it exactly.  Spaces never change; one
that has met new features is another space.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple, Protocol

import numpy as np

from noregret._native.rows import Reader
from noregret.declare.fields import Array, Count, Labels, Mismatch
from noregret.errors import FeatureError
from noregret.inputs import values as features
from noregret.inputs.values import ReadTable
from noregret.types import Matrix, Row, Table, Vector

__all__ = [
    "Encoded",
    "FeatureSpace",
    "Names",
    "Positions",
    "plain",
    "space_for_row",
    "space_for_table",
]


class Encoded(NamedTuple):
    """One x: the known features, the values of new ones, and what the space must learn of them."""

    vector: Vector
    new: Vector
    key: Any
    missed: float = 0.0  # of k(x, x), what a budget leaves out


NOTHING: Vector = np.zeros(0)


class FeatureSpace(Protocol):
    """What every space can do."""

    @property
    def size(self) -> int:
        """How many features it knows."""
        ...

    def encode(self, x: Row) -> Encoded:
        """One round's features."""
        ...

    def extended(self, key: Any) -> FeatureSpace:
        """The space that also knows what was new."""
        ...

    def encode_rows(self, X: Table) -> tuple[Matrix, FeatureSpace, float]:
        """The features of many rounds, the space that knows them all, and what a budget missed."""
        ...

    def encode_known(self, X: Table) -> tuple[Matrix, Vector]:
        """The known features of many rounds, and how long each one's new part is."""
        ...


def space_for_row(x: Row) -> Positions | Names:
    """A space that has met nothing yet, for rounds that look like x."""
    if features.as_mapping(x) is not None:
        return Names(())
    n = features.row(x).size
    if n == 0:
        raise FeatureError("x is empty: give at least one feature")
    return Positions(n)


def space_for_table(X: Table) -> tuple[Positions | Names, ReadTable]:
    """A space for rounds that look like X, knowing all of their features; and X as it was read."""
    read = features.table(X)
    features.require_rows(read.rows.shape)
    space = Positions(read.rows.shape[1]) if read.names is None else Names(read.names)
    return space, read


def plain(space: object, x: Row) -> Vector | None:
    """x as a vector, if it is plain numbers in places or by names that are known; else None."""
    return space.encode_fast(x) if isinstance(space, Positions | Names) else None


class Positions:
    """Features by position: n of them, no more and no fewer.

    >>> Positions(2).encode([1, 2]).vector
    array([1., 2.])
    """

    __slots__ = ("_reader", "size")

    FIELDS = (Count("size", 0, 2**40),)
    SCRATCH = ("_reader",)

    def __init__(self, size: int) -> None:
        self.size = size
        self._reader: Reader | None = None

    def __reduce__(self) -> tuple[object, ...]:
        return Positions, (self.size,)

    @property
    def reader(self) -> Reader:
        """What reads whatever numbers a caller holds."""
        if self._reader is None:
            self._reader = Reader(self.size)
        return self._reader

    def encode_fast(self, x: Row) -> Vector | None:
        """x as a vector when it is so many plain numbers; else None."""
        return self.reader.read(x)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Positions) and other.size == self.size

    def __hash__(self) -> int:
        return hash(self.size)

    def encode(self, x: Row) -> Encoded:
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
        return Encoded(vector, NOTHING, None)

    def extended(self, key: object) -> Positions:
        """Positions never grow."""
        raise FeatureError(f"this learner has {self.size} features by position: {key!r} is no more")

    def encode_rows(self, X: Table) -> tuple[Matrix, Positions, float]:
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

    def encode_known(self, X: Table) -> tuple[Matrix, Vector]:
        """X itself; nothing in it is new."""
        xs, _, _ = self.encode_rows(X)
        return xs, np.zeros(len(xs))


class Names:
    """Feature names in the order in which they arrived, and a fast way from a mapping to x.

    >>> names = Names(["hot", "wet"])
    >>> names.encode_fast({"wet": 2.0, "hot": 1.0})
    array([1., 2.])
    >>> names.encode_fast({"wet": 2.0, "new": 1.0}) is None     # not these names exactly
    True
    """

    __slots__ = ("_reader", "remembered", "size", "slots")

    FIELDS = (
        Labels("names", "the feature name", of="slots"),
        Array("last", ("k",), finite=False, of="remembered"),
    )
    SCRATCH = ("_reader", "size")

    def __init__(self, names: Iterable[Hashable], remembered: Vector = NOTHING) -> None:
        self.slots = {name: slot for slot, name in enumerate(names)}
        self.size = len(self.slots)
        self._reader: Reader | None = None
        # What a file of an earlier release kept of the last row: it goes back as it was.
        self.remembered = remembered

    def stored(self) -> tuple[list[Hashable], Vector]:
        """The values of FIELDS."""
        return list(self.slots), self.remembered

    @classmethod
    def restored(cls, names: list[Hashable], last: Vector) -> Names:
        """The space of these values."""
        if last.size not in (0, len(names)):
            raise Mismatch("remembers a row of another width")
        return cls(names, last)

    def __reduce__(self) -> tuple[object, ...]:
        return Names, self.stored()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Names) and list(other.slots) == list(self.slots)

    def __hash__(self) -> int:
        return hash(tuple(self.slots))

    @property
    def reader(self) -> Reader:
        """What reads mappings with just these names."""
        if self._reader is None:
            self._reader = Reader(self.slots)
        return self._reader

    def encode_fast(self, x: Row) -> Vector | None:
        """x as a vector when it has just these names and plain numbers; else None."""
        return self.reader.read(x)

    def encode(self, x: Row) -> Encoded:
        """x by name, checked value by value; a name that is absent counts as 0."""
        mapping = features.as_mapping(x)
        if mapping is None:
            features.row(x)  # says what is wrong with an x that is no array either
            raise FeatureError(
                "x is an array, but this learner knows its features by name: give a mapping"
            )
        vector = np.zeros(self.size)
        new: dict[Hashable, float] = {}
        for name, value in mapping.items():
            field = f"x[{name!r}]"
            checked = features.within(features.number(value, field), field)
            slot = self.slots.get(name)
            if slot is None:
                new[name] = checked
            else:
                vector[slot] = checked
        return Encoded(vector, np.fromiter(new.values(), np.float64, len(new)), list(new))

    def extended(self, key: Any) -> Names:
        """These names, then the new ones."""
        return Names([*self.slots, *key])

    def encode_rows(self, X: Table) -> tuple[Matrix, Names, float]:
        """Every column in its slot; columns not met before get slots of their own."""
        xs, names = self._columns(X)
        new = [name for name in names if name not in self.slots]
        space = self.extended(new) if new else self
        slots = [space.slots[name] for name in names]
        if slots == list(range(space.size)):
            return xs, space, 0.0
        rows = np.zeros((len(xs), space.size))
        rows[:, slots] = xs
        return rows, space, 0.0

    def encode_known(self, X: Table) -> tuple[Matrix, Vector]:
        """Every known column in its slot, and the length of the others, row by row."""
        xs, names = self._columns(X)
        rows, beyond = np.zeros((len(xs), self.size)), np.zeros(len(xs))
        for j, name in enumerate(names):
            if name in self.slots:
                rows[:, self.slots[name]] = xs[:, j]
            else:
                beyond = np.hypot(beyond, xs[:, j])
        return rows, beyond

    def _columns(self, X: Table) -> tuple[Matrix, list[Hashable]]:
        xs, names = features.table(X)
        if names is None:
            raise FeatureError(
                "X is an array, but this learner knows its features by name: give a frame"
            )
        return xs, names
