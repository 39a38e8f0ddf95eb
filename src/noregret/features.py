"""The door: whatever the caller holds becomes float64, exactly, or is refused by name.

A number is taken when float64 holds it: floats, booleans, integers up to 2^53 and larger ones
that happen to be exact, fractions and decimals (to the nearest float64, as a literal would be).
Text, None, complex numbers, dates, NaN and infinities are refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from operator import itemgetter
from struct import Struct
from struct import error as struct_error
from typing import Any

import numpy as np

from noregret._ops.layout import EXACT_INTEGER, LARGEST_FEATURE, LARGEST_OUTCOME
from noregret.errors import FeatureError, InputError, OutcomeError
from noregret.types import Matrix, Vector

frombuffer = np.frombuffer

__all__ = [
    "Names",
    "as_mapping",
    "frame_names",
    "number",
    "outcome",
    "outcome_table",
    "outcomes",
    "row",
    "table",
]

Mapped = Mapping[Any, Any]


def number(value: Any, field: str, error: type[InputError] = FeatureError) -> float:
    """One number, exactly.

    >>> number(3, "x['age']")
    3.0
    >>> number("3", "x['age']")
    Traceback (most recent call last):
    noregret.errors.FeatureError: x['age'] = '3' is not a number (str): convert it to float first
    """
    if isinstance(value, np.generic | np.ndarray) and value.ndim == 0:
        value = value.item() if value.dtype.kind in "biufc" else value
    if isinstance(value, bool | int):
        try:
            exact = float(value)
        except OverflowError:
            exact = math.inf
        if exact == value:
            return exact
        raise error(
            f"{field} = {value!r} is an integer that float64 cannot hold: round it or scale it down"
        )
    if not isinstance(value, float | np.floating | Decimal | Fraction):
        kind = type(value).__name__
        raise error(
            f"{field} = {_short(value)} is not a number ({kind}): convert it to float first"
        )
    taken = float(value)
    if not math.isfinite(taken):
        raise error(
            f"{field} = {taken!r}: only finite numbers can be learned from; "
            "leave the round out, or impute the value"
        )
    return taken


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _within(value: float, field: str) -> float:
    if abs(value) > LARGEST_FEATURE:
        raise FeatureError(
            f"{field} = {value!r} is beyond 2^1000: rescale the feature so that sums of its "
            "squares can be told apart"
        )
    return value


def outcome(y: Any, field: str = "y") -> float:
    """One outcome: a number whose square float64 can hold."""
    taken = number(y, field, OutcomeError)
    if abs(taken) > LARGEST_OUTCOME:
        raise OutcomeError(
            f"{field} = {taken!r}: its square overflows float64, so no loss could be booked; "
            "rescale the outcomes"
        )
    return taken


def outcomes(y: Any) -> Vector:
    """Several outcomes of one round, as a vector."""
    if isinstance(y, Mapping | str | bytes) or not isinstance(y, Iterable):
        raise OutcomeError(f"y = {_short(y)} is not a vector of outcomes: give one number each")
    if getattr(y, "ndim", 1) != 1:
        shape = getattr(y, "shape", "?")
        raise OutcomeError(f"y has shape {shape}: one round has a 1-D vector of outcomes")
    taken = np.array([outcome(value, f"y[{k}]") for k, value in enumerate(y)], dtype=np.float64)
    if taken.size == 0:
        raise OutcomeError("y is empty: a round needs at least one outcome")
    return taken


def as_mapping(x: Any) -> Mapped | None:
    """x by name, if it has names: a mapping, a pandas row, a frame of one row; else None."""
    if isinstance(x, Mapping):
        return x
    columns = frame_names(x)
    if columns is not None:
        if len(x) != 1:
            raise FeatureError(
                f"x is a frame of {len(x)} rows: one round is one row; "
                "for many use predict, partial_fit or replay"
            )
        return {name: x[name].to_list()[0] for name in columns}
    index = getattr(x, "index", None)
    if index is not None and hasattr(x, "to_dict") and not callable(index):  # a pandas Series
        if not index.is_unique:
            raise FeatureError("x has two entries of the same name: make the names unique")
        if list(index) == list(range(len(x))):
            return None  # no names but positions
        named: Mapped = x.to_dict()
        return named
    return None


def frame_names(X: Any) -> list[Any] | None:
    """The column names of a frame (pandas, Polars), else None."""
    if not (hasattr(X, "columns") and hasattr(X, "to_numpy")):
        return None
    names = list(X.columns)
    if len(set(names)) != len(names):
        raise FeatureError("X has two columns of the same name: make the names unique")
    return names


def row(x: Any) -> Vector:
    """One round's features by position: a contiguous float64 vector."""
    if isinstance(x, list | tuple):
        return np.array([_within(number(v, f"x[{i}]"), f"x[{i}]") for i, v in enumerate(x)])
    if not hasattr(x, "__array__") and not hasattr(x, "__array_interface__"):
        try:
            memoryview(x)
        except TypeError:
            kind = type(x).__name__
            raise FeatureError(
                f"x = {_short(x)} ({kind}) is neither a vector nor a mapping of names to numbers: "
                "give a 1-D array or a dict"
            ) from None
    taken = _floats(x, "x", 1, FeatureError)
    bad = ~(np.abs(taken) <= LARGEST_FEATURE)
    if bad.any():
        i = int(np.argmax(bad))
        _within(number(float(taken[i]), f"x[{i}]"), f"x[{i}]")
    return taken


def _floats(values: Any, field: str, ndim: int, error: type[InputError]) -> Matrix:
    """An array as contiguous float64 without a copy if it is that already; exact or refused."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise error(f"{field} has masked entries: leave those rounds out, or impute the values")
    try:
        array = np.asarray(values)
    except (ValueError, TypeError) as ragged:
        raise error(f"{field} is not an array: {ragged}") from None
    if array.ndim != ndim:
        raise error(
            f"{field} has shape {array.shape}: it must be {ndim}-D"
            + (", one row a round" if ndim == 2 else ", one round; for many use predict or replay")
        )
    kind = array.dtype.kind
    if kind == "O" or (kind in "fiu" and isinstance(values, list | tuple)):
        array = np.asarray(values, dtype=object)
        if array.ndim != ndim:
            raise error(f"{field} has shape {array.shape}: it must be {ndim}-D, all rows alike")
        flat = [
            number(v, f"{field}[{_place(i, array.shape)}]", error) for i, v in enumerate(array.flat)
        ]
        return np.array(flat, dtype=np.float64).reshape(array.shape)
    if kind not in "fiub":
        raise error(
            f"{field} holds {array.dtype} values, which are not real numbers: "
            "convert them to float first"
        )
    taken = np.ascontiguousarray(array, dtype=np.float64)
    if kind in "iu" or array.dtype.itemsize > 8:  # may not fit
        for i in np.flatnonzero(np.abs(taken) > EXACT_INTEGER if kind in "iu" else taken != array):
            number(array.flat[i], f"{field}[{_place(int(i), array.shape)}]", error)
            if kind == "f" and np.isfinite(array.flat[i]):
                raise error(f"{field} holds {array.dtype} values: round them to float64 first")
    return taken


def _place(flat: int, shape: tuple[int, ...]) -> str:
    return ", ".join(str(int(i)) for i in np.unravel_index(flat, shape))


def table(X: Any) -> tuple[Matrix, list[Any] | None]:
    """Many rounds: a float64 matrix, and the names of its columns if they have any."""
    names = frame_names(X)
    if names is not None:
        columns = [np.asarray(X[name]) for name in names]
        taken = np.empty((len(X), len(names)))
        for j, (name, column) in enumerate(zip(names, columns, strict=True)):
            taken[:, j] = _floats(column, f"X[{name!r}]", 1, FeatureError)
    elif isinstance(X, Sequence) and len(X) > 0 and all(isinstance(x, Mapping) for x in X):
        slots: dict[Any, int] = {}
        for x in X:
            for name in x:
                slots.setdefault(name, len(slots))
        names = list(slots)
        taken = np.zeros((len(X), len(names)))
        for t, x in enumerate(X):
            for name, value in x.items():
                taken[t, slots[name]] = number(value, f"X[{t}][{name!r}]")
    else:
        taken = _floats(X, "X", 2, FeatureError)
    bad = ~(np.abs(taken) <= LARGEST_FEATURE)
    if bad.any():
        t, j = (int(i) for i in np.unravel_index(int(np.argmax(bad)), taken.shape))
        field = f"X[{t}, {j}]" if names is None else f"row {t}, X[{names[j]!r}]"
        _within(number(float(taken[t, j]), field), field)
    return taken, names


def outcome_table(y: Any, rounds: int) -> tuple[Matrix, bool]:
    """Many rounds' outcomes as a matrix (T, m), and whether they were scalars."""
    if y is None:
        raise OutcomeError("y is missing: every round needs its outcome")
    plain = y.to_numpy() if hasattr(y, "to_numpy") else y
    shape = np.shape(plain) if not isinstance(plain, np.ndarray) else plain.shape
    if len(shape) not in (1, 2) or shape[0] != rounds or 0 in shape[1:]:
        raise OutcomeError(f"y has shape {shape}: {rounds} rows of X need {rounds} outcomes")
    taken = _floats(plain, "y", len(shape), OutcomeError)
    bad = ~(np.abs(taken) <= LARGEST_OUTCOME)
    if bad.any():
        i = int(np.argmax(bad))
        outcome(float(taken.flat[i]), f"y[{_place(i, taken.shape)}]")
    return taken.reshape(rounds, -1), len(shape) == 1


class Names:
    """Feature names in the order in which they arrived, and a fast way from a mapping to x.

    >>> names = Names(["hot", "wet"])
    >>> names.encode({"wet": 2.0, "hot": 1.0})
    array([1., 2.])
    >>> names.encode({"wet": 2.0, "new": 1.0}) is None     # not these names exactly
    True
    """

    __slots__ = ("_last", "_pack", "_pick", "_size", "slots")

    def __init__(self, names: Iterable[Any]) -> None:
        self.slots = {name: slot for slot, name in enumerate(names)}
        self._size = len(self.slots)
        self._pack = Struct(f"={self._size}d").pack
        self._pick = itemgetter(*self.slots) if self._size > 1 else None
        self._last: tuple[tuple[Any, ...], Vector] = ((), np.zeros(0))

    def __reduce__(self) -> tuple[Any, ...]:
        return Names, (list(self.slots),)

    def encode(self, x: Mapped) -> Vector | None:
        """x as a vector when it has just these names and plain numbers; else None.

        Integers beyond 2^53 may have lost digits: the caller lets no such size pass unseen.
        """
        if len(x) != self._size or self._pick is None:
            return None
        try:
            values = self._pick(x)
            seen, vector = self._last  # learning mostly follows a forecast at the same x
            if values == seen:
                return vector
            kind = type(sum(values))
            if kind is not float and kind is not int:  # complex numbers and other odd company
                return None
            vector = frombuffer(self._pack(*values))
        except (KeyError, TypeError, ValueError, struct_error):
            return None
        self._last = values, vector
        return vector

    def sort_out(self, x: Mapped) -> tuple[Vector, dict[Any, float]]:
        """x as a vector, checked value by value, and the features not seen before."""
        taken = np.zeros(len(self.slots))
        new: dict[Any, float] = {}
        for name, value in x.items():
            field = f"x[{name!r}]"
            checked = _within(number(value, field), field)
            slot = self.slots.get(name)
            if slot is None:
                new[name] = checked
            else:
                taken[slot] = checked
        return taken, new
