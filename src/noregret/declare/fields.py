"""Fields: what a model file keeps of a state, declared once, beside the class.

A class that is stored has

    FIELDS      its fields in the order in which they are written; `of` names the attribute (the
                slot) that a field comes from, where it is called otherwise
    SCRATCH     slots that hold nothing learned, and are made anew
    stored()    the values of FIELDS, in order; without it, the attributes of these names
    restored()  a classmethod from those values back to the object; without it, the constructor.
                Values that do not go together are refused: `raise Mismatch("what is wrong")`

noregret.snapshot writes and reads by them, each value checked for type, range and shape.  A test
compares the declarations with `__slots__`, so that no attribute can be forgotten.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Protocol

from noregret.declare.record import Record

__all__ = [
    "AnyLearner",
    "Array",
    "Count",
    "Field",
    "FieldReader",
    "FieldWriter",
    "Form",
    "Group",
    "Groups",
    "Labels",
    "Mismatch",
    "Part",
    "Parts",
    "Points",
    "Real",
    "Records",
    "Special",
    "Truth",
    "Value",
    "Word",
    "require",
    "require_spread",
]

LARGEST_COUNT = 2**53
ALIKE = 64  # keys that may have the same hash; floats of our own can be 17


class Mismatch(ValueError):  # noqa: N818  # it becomes a SnapshotError, which says where
    """Stored values that no learner of ours would have written together."""


def require(possible: bool, wrong: str) -> None:  # noqa: FBT001  # it reads as a sentence
    """Refuse stored values unless they are possible."""
    if not possible:
        raise Mismatch(wrong)


def require_spread(keys: Iterable[Hashable], called: str = "keys") -> None:
    """Refuse keys made to have one hash, which would take a dict hours; unhashable: TypeError."""
    most = max(Counter(map(hash, keys)).values(), default=0)
    require(most <= ALIKE, f"has {most} {called} with the same hash")


class Field(Record, kw_only=True):
    """One field: its name in the file, and the slot or slots that it comes from."""

    of: str | tuple[str, ...] | None = None  # several slots need `stored`
    later: bool = False  # files of before lack it: None, and then it is not written either


class Array(Field):
    """An array of float64.

    `shape` has a number for each side, or a letter: the same letter means the same length
    throughout the object; a letter that a Part names is that part's `size`.
    """

    name: str
    shape: tuple[int | str, ...]
    finite: bool = True
    optional: bool = False


class Part(Field):
    """Another stored object, of one of these kinds; `size` is the letter for its `size`."""

    name: str
    kinds: tuple[str, ...]
    optional: bool = False
    size: str | None = None


class Parts(Field):
    """A list of stored objects."""

    name: str
    kinds: tuple[str, ...]


class AnyLearner(Field):
    """A learner of any kind; one that files cannot hold is refused by name when it is written."""

    name: str
    optional: bool = False


class Group(Field):
    """Fields within these that are no object of their own kind; `type_` declares them."""

    name: str
    type_: type


class Groups(Field):
    """A list of such groups."""

    name: str
    type_: type


class Count(Field):
    """A whole number within limits."""

    name: str
    low: int = 0
    high: int = LARGEST_COUNT
    squared: bool = False  # as many numbers as its square follow in the file


class Real(Field):
    """A float within limits."""

    name: str
    low: float = -math.inf
    high: float = math.inf


class Truth(Field):
    """True or False."""

    name: str


class Word(Field):
    """A text, one of the choices if there are some."""

    name: str
    choices: Iterable[str] | None = None


class Value(Field):
    """Whatever the user chose: plain values, stored objects, functions that are given back."""

    name: str
    called: str | None = None  # in messages and for `load(path, called=...)`


class Labels(Field):
    """A list of names, all different: text, numbers, whatever a dictionary takes."""

    name: str
    called: str  # in messages: "the feature name"


class Points(Field):
    """Inputs of a kernel: a matrix of vectors, or a list of objects."""

    name: str


class Records(Field):
    """A list of records, each of as many values; `called` says what each is in messages."""

    name: str
    called: tuple[str, ...]


class FieldWriter(Protocol):
    """What writes the values of fields; noregret.snapshot has it."""

    def value(self, value: object, where: str) -> object:
        """A plain value, as JSON has it."""
        ...

    def thing(self, value: object) -> object:
        """An object with FIELDS, or a learner."""
        ...

    def foreign(self, function: object, where: str) -> dict[str, object]:
        """A function, by the name under which it is given back."""
        ...


class FieldReader(Protocol):
    """What reads them, and refuses what cannot be; noregret.snapshot has it."""

    def has(self, name: str) -> bool:
        """Whether there is a field of this name."""
        ...

    def value(self, name: str) -> Any:
        """A plain value."""
        ...

    def kept(self, name: str) -> tuple[object, str]:
        """What stands there, unchecked, and where that is."""
        ...

    def whole(self, name: str, low: int, high: int) -> int:
        """A whole number within limits."""
        ...

    def function(self, name: str) -> Any:
        """A function that the caller gave back."""
        ...

    def learner(self, name: str) -> Any:
        """A learner."""
        ...

    def named(self, name: str) -> Mapping[Any, FieldReader]:
        """Groups of fields by name."""
        ...

    def done(self) -> None:
        """Refuse fields that nobody has asked for."""
        ...


class Form(Protocol):
    """How a field is written that has a form of its own."""

    def write(self, w: FieldWriter, value: Any, /) -> object:
        """The value, as JSON has it."""
        ...

    def read(self, f: FieldReader, name: str, /) -> object:
        """The value of the field of this name."""
        ...


class Special(Field):
    """A field with a form of its own."""

    name: str
    form: Form
