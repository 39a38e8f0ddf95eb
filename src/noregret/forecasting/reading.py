"""Rows as callers hold them: their times, and their features as numbers in a fixed order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from noregret.errors import FeatureError, InputError, abbreviated
from noregret.forecasting.times import Moments, counted, read
from noregret.inputs import values
from noregret.inputs.values import Mapped
from noregret.types import Matrix, Row, Table

__all__ = ["Rows", "read_row", "read_table"]


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows: their times, the names of their features (None: by position), and the numbers."""

    times: Moments
    names: list[str] | None
    xs: Matrix

    def ordered(self, features: Sequence[str]) -> Matrix:
        """The numbers in the order of the features that were learned; others are refused."""
        names = self.names or [f"feature {j}" for j in range(self.xs.shape[1])]
        if list(features) == names:
            return self.xs
        missing = [name for name in features if name not in names]
        new = [name for name in names if name not in features]
        if missing:
            raise FeatureError(
                f"x has no {missing[0]!r}: every row needs the features of the first"
            )
        if new:
            raise FeatureError(f"x has {new[0]!r}, which the first rows had not: leave it out")
        return np.ascontiguousarray(self.xs[:, [names.index(name) for name in features]])


def read_row(x: Row, time: object, first: int) -> Rows:
    """One row."""
    mapping = None if x is None else values.as_mapping(x)
    return read_table([x if mapping is None else mapping], time, first)


def read_table(X: Table, time: object, first: int, rows: int | None = None) -> Rows:
    """Many rows; X may be None where `rows` says how many there are."""
    if X is None:
        X = [None] * (rows or 0)
    X = values.as_frame(X)
    names = values.frame_names(X)
    if names is not None and not isinstance(X, values.ReadTable):
        index = None if time in names else _index(X, time)
        if time is not None and time not in names and index is None:
            raise InputError(
                f"X has no column {time!r}{_near(time, names)}: it must hold the times"
            )
        named = [name for name in names if name != time]
        xs = values.frame_columns(X, named) if named else np.empty((len(X), 0))  # type: ignore[arg-type]  # a frame
        if index is not None:
            taken = read(index, "the index of X")
        elif time is not None:
            taken = read(_column(X, time), f"time {time!r}")
        else:
            taken = counted(first, len(xs))
        return Rows(taken, [str(name) for name in named], xs)
    if isinstance(X, list | tuple) and len(X) and any(_mapping(x) for x in X):
        return _mappings([values.as_mapping(x) for x in X], time, first)
    if time is not None:
        raise InputError(
            f"time = {time!r} names a column, but X = {abbreviated(X)} has no names: give mappings "
            "or a frame"
        )
    bare = isinstance(X, list | tuple) and all(
        x is None or (hasattr(x, "__len__") and not len(x)) for x in X
    )
    xs = np.empty((len(X), 0)) if bare else values.table(X)[0]  # type: ignore[arg-type]  # a list
    return Rows(counted(first, len(xs)), None, xs)


def _mapping(x: object) -> bool:
    return x is not None and values.as_mapping(x) is not None


def _mappings(given: Sequence[Mapped | None], time: object, first: int) -> Rows:
    """Rows by name; every one has the names of the first."""
    rows = [row for row in given if row is not None]
    if len(rows) < len(given):
        raise FeatureError("some rows are mappings and others are not: give every row its names")
    named = [name for name in rows[0] if name != time]
    xs = np.empty((len(rows), len(named)))
    for t, row in enumerate(rows):
        if time is not None and time not in row:
            raise InputError(f"row {t} has no {time!r}{_near(time, row)}: it must hold the time")
        for name in row:
            if name != time and name not in rows[0]:
                raise FeatureError(f"row {t} has {name!r}, which the first had not: leave it out")
        for j, name in enumerate(named):
            if name not in row:
                raise FeatureError(f"row {t} has no {name!r}: every row needs what the first has")
            xs[t, j] = values.within(values.number(row[name], f"row {t}, {name!r}"), str(name))
    if time is None:
        return Rows(counted(first, len(rows)), [str(name) for name in named], xs)
    return Rows(read([row[time] for row in rows], f"time {time!r}"), [str(n) for n in named], xs)


def _column(X: Any, name: object) -> Iterable[object]:
    column = X[name]
    arrow = hasattr(column, "combine_chunks")
    found: Iterable[object] = column.to_numpy(zero_copy_only=False) if arrow else column
    return found


def _index(X: object, time: object) -> Iterable[object] | None:
    """The index of a frame of pandas where it holds the times: it is called so, or has dates."""
    index = getattr(X, "index", None)
    dates = getattr(getattr(index, "dtype", None), "kind", "") == "M"
    called = time is not None and getattr(index, "name", None) == time
    return index if called or (time is None and dates) else None


def _near(name: object, known: Iterable[object]) -> str:
    """A suggestion."""
    found = get_close_matches(str(name), [str(one) for one in known], 1)
    return f" (did you mean {found[0]!r}?)" if found else ""
