"""Which columns of a DataFrame are what; and a batch of them as arrays, with what is wrong in it.

A row is exactly right or it is named: nulls, NaN, infinities, integers beyond 2^53, vectors of
another width.  Whoever asked decides whether a wrong row ends the job or is reported beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret._native.layout import EXACT_INTEGER, LARGEST_FEATURE, LARGEST_OUTCOME
from noregret.errors import FeatureError, InputError, suggestion
from noregret.inputs.tables import Frame
from noregret.inputs.values import abbreviated, number, outcome, within
from noregret.types import Matrix, Table, Vector

__all__ = ["Columns", "Rows", "quoted"]

WHOLE = ("tinyint", "smallint", "int", "bigint")
NUMBERS = (*WHOLE, "boolean", "float", "double")
KEYS = ("string", *WHOLE)


@dataclass(frozen=True, slots=True)
class Rows:
    """A batch: keys (none of `fit`), features, outcomes, and a message for each wrong row."""

    keys: Any
    X: Matrix
    y: Vector
    wrong: dict[int, str]

    def right(self) -> Any:
        """Which rows are right, as a mask."""
        mask = np.ones(len(self.y), dtype=bool)
        mask[list(self.wrong)] = False
        return mask


@dataclass(frozen=True, slots=True)
class Columns:
    """Names of the columns: features (one of vectors where `width` is given), target, key, order.

    >>> columns = Columns(("heat",), "load")
    >>> columns.used
    ['load', 'heat']
    """

    features: tuple[str, ...]
    target: str
    width: int | None = None
    key: str | None = None
    order: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        df: Any,
        features: Sequence[str] | str,
        target: str,
        *,
        width: int | None,
        key: str | None = None,
        order_by: Sequence[str] | str = (),
    ) -> Columns:
        """The columns, checked against the schema of a DataFrame."""
        vectors = isinstance(features, str)
        if vectors and (type(width) is not int or width < 1):
            raise InputError(
                f"width = {abbreviated(width)}: features={features!r} is one column of vectors, so "
                "give width=, how many numbers each of them has; or a list of columns of numbers"
            )
        if not vectors and width is not None:
            raise InputError("width is for one column of vectors: leave it out")
        names = _names("features", features)
        order = _names("order_by", order_by) if order_by else ()
        types = {field.name: field.dataType.simpleString() for field in df.schema.fields}
        wide = tuple(f"array<{kind}>" for kind in ("float", "double"))
        for name in names:
            _typed(types, "features", name, wide if vectors else NUMBERS)
        _typed(types, "target", target, NUMBERS)
        if key is not None:
            _typed(types, "key", key, KEYS)
        for name in order:
            _typed(types, "order_by", name, None)
        for name in names:
            if name in (target, key):
                raise InputError(f"features: {name!r} is the target or the key: leave it out")
        return cls(names, target, width, key, order)

    @property
    def used(self) -> list[str]:
        """Every column, once."""
        return list(dict.fromkeys([*self.kept, *self.features]))

    def chosen(self, df: Any, *more: Any) -> Any:
        """A DataFrame of these columns alone, after some more."""
        return df.select(*more, *map(quoted, self.used))

    @property
    def kept(self) -> list[str]:
        """What results say of a row: its key, its order and its outcome."""
        key = () if self.key is None else (self.key,)
        return list(dict.fromkeys([*key, *self.order, self.target]))

    def table(self, X: Matrix) -> Table:
        """Features as learners take them: by name, or by position where they were vectors."""
        return X if self.width is not None else Frame(self.features, X)

    def read(self, batch: Any, place: str = "row {}", first: int = 0) -> Rows:
        """A batch as arrays; rows are counted from `first`, and `place` says where they are."""
        if self.width is None:
            parts = [_numbers(_named(batch, name), LARGEST_FEATURE) for name in self.features]
            X = np.empty((batch.num_rows, len(parts)))
            for j, (values, _) in enumerate(parts):
                X[:, j] = values
            doubtful = {int(i) for _, rows in parts for i in rows}
        else:
            X, doubtful = _vectors(_named(batch, self.features[0]), self.width)
        y, rows = _numbers(_named(batch, self.target), LARGEST_OUTCOME)
        doubtful.update(rows.tolist())
        for name in self.kept[:-1]:
            doubtful.update(_nulls(_named(batch, name)).tolist())
        wrong = {}
        for i in sorted(doubtful):
            message = self._complaint(batch, i)
            if message is not None:
                wrong[i] = f"{self.where(batch, i, place.format(first + i))}: {message}"
        keys = None if self.key is None else _keys(_named(batch, self.key))
        return Rows(keys, X, y, wrong)

    def _complaint(self, batch: Any, i: int) -> str | None:
        """What is wrong in a row, in the words that learners use; None: nothing."""
        try:
            for name in self.kept[:-1]:
                _filled(_named(batch, name)[i].as_py(), name)
            if self.width is None:
                for name in self.features:
                    _feature(_named(batch, name)[i].as_py(), f"X[{name!r}]")
            else:
                self._vector(_named(batch, self.features[0])[i].as_py())
            outcome(_filled(_named(batch, self.target)[i].as_py(), self.target), repr(self.target))
        except InputError as refusal:
            return str(refusal)
        return None

    def _vector(self, vector: Any) -> None:
        name = self.features[0]
        for j, value in enumerate(_filled(vector, name)):
            _feature(value, f"{name}[{j}]")
        if len(vector) != self.width:
            raise FeatureError(
                f"{name} has {len(vector)} numbers, but width = {self.width}: "
                "give every row as many"
            )

    def where(self, batch: Any, i: int, place: str = "") -> str:
        """Which row it is: by its key and its order, if it has them."""
        if self.key is None:
            return place
        key = abbreviated(_named(batch, self.key)[i].as_py())
        order = [f"{name} = {_named(batch, name)[i].as_py()}" for name in self.order]
        return f"key {key}, row with {', '.join(order)}" if order else f"key {key}"


def quoted(name: str) -> str:
    """A name as Spark's expressions have it, whatever is in it."""
    return "`" + name.replace("`", "``") + "`"


def _names(field: str, names: Sequence[str] | str) -> tuple[str, ...]:
    """Names of columns, as a tuple without repetitions."""
    taken = (names,) if isinstance(names, str) else tuple(names)
    if not taken or not all(isinstance(name, str) for name in taken):
        raise InputError(f"{field} = {abbreviated(names)}: give names of columns")
    if len(set(taken)) < len(taken):
        raise InputError(f"{field} = {abbreviated(names)}: a column occurs twice")
    return taken


def _typed(types: dict[str, str], field: str, name: str, allowed: tuple[str, ...] | None) -> None:
    if name not in types:
        raise InputError(
            f"{field}: the DataFrame has no column {name!r}{suggestion(name, types)}; "
            f"it has {', '.join(sorted(types))}"
        )
    if allowed is not None and types[name] not in allowed:
        raise InputError(
            f"{field}: column {name!r} is of type {types[name]}, which is none of "
            f"{', '.join(allowed)}: cast it first"
        )


def _named(batch: Any, name: str) -> Any:
    return batch.column(batch.schema.get_field_index(name))


def _numbers(column: Any, limit: float) -> tuple[Vector, Any]:
    """A column as float64, and the rows that need a closer look."""
    nulls = column.null_count
    filled = column.fill_null(0) if nulls else column
    values = filled.to_numpy(zero_copy_only=False)
    taken = values.astype(np.float64, copy=False)
    if values.dtype.kind in "iu":
        limit = min(limit, EXACT_INTEGER)
    doubtful = ~(np.abs(taken) <= limit)
    if nulls:
        doubtful[_nulls(column)] = True
    return taken, np.flatnonzero(doubtful)


def _nulls(column: Any) -> Any:
    """The rows that are null."""
    return np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))


def _keys(column: Any) -> Any:
    """Keys as an array; null ones are 0 or empty, and their rows are wrong."""
    filled = column.fill_null("" if str(column.type).endswith("string") else 0)
    return filled.to_numpy(zero_copy_only=False)


def _vectors(column: Any, width: int) -> tuple[Matrix, set[int]]:
    """A column of vectors as a matrix, and the rows that need a closer look, which are 0 there."""
    lengths = column.value_lengths().fill_null(-1).to_numpy(zero_copy_only=False)
    X = np.zeros((len(column), width))
    fits = lengths == width
    flat = column.filter(fits).flatten() if not fits.all() else column.flatten()
    values, doubtful = _numbers(flat, LARGEST_FEATURE)
    X[fits] = values.reshape(-1, width)
    rows = np.flatnonzero(fits)
    return X, {int(i) for i in (*np.flatnonzero(~fits), *rows[doubtful // width])}


def _filled(value: Any, name: str) -> Any:
    if value is None:
        raise InputError(f"{name!r} is null: leave the row out, or impute the value")
    return value


def _feature(value: Any, field: str) -> None:
    if value is None:
        raise FeatureError(f"{field} is null: leave the row out, or impute the value")
    within(number(value, field), field)
