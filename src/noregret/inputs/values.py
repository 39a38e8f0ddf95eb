"""Values: whatever the caller holds becomes float64, exactly, or is refused by name.

A number is taken when float64 holds it: floats, booleans, integers up to 2^53 and larger ones
that happen to be exact, fractions and decimals (to the nearest float64, as a literal would be).
Text, None, complex numbers, dates, masked values, NaN and infinities are refused.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeGuard, cast

import numpy as np

from noregret._native.layout import EXACT_INTEGER, LARGEST_FEATURE, LARGEST_OUTCOME
from noregret.declare.extras import loaded, module
from noregret.errors import FeatureError, FeatureTypeError, InputError, OutcomeError, abbreviated
from noregret.types import Matrix, Outcome, Outcomes, Row, Table, Vector

if TYPE_CHECKING:
    from decimal import Decimal
    from fractions import Fraction

    from noregret.inputs.tables import Frame

__all__ = [
    "Mapped",
    "ReadTable",
    "abbreviated",
    "as_frame",
    "as_mapping",
    "frame_columns",
    "frame_names",
    "number",
    "outcome",
    "outcome_column",
    "outcome_table",
    "outcomes",
    "require_rows",
    "row",
    "table",
    "table_with_gaps",
    "warn_of_column",
    "within",
]

Mapped: TypeAlias = Mapping[object, object]
"""One round by name."""
AnyArray: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.generic]]
Refusal: TypeAlias = type[InputError]

RESHAPE = "Reshape your data: X[None] is one row, X[:, None] one feature"
COLUMN = "A column-vector y was passed when a 1d array was expected: give y with shape (n_samples,)"


def warn_of_column() -> None:
    """Say that y is a column of a table; by scikit-learn's warning, where it is loaded."""
    theirs = loaded("sklearn.exceptions")
    kind = theirs.DataConversionWarning if theirs else UserWarning
    warnings.warn(COLUMN, kind, stacklevel=6)


def _decimal_or_fraction(value: object) -> TypeGuard[Decimal | Fraction]:
    """Whether it is a decimal or a fraction: where their modules are not loaded, nothing is."""
    modules = (("decimal", "Decimal"), ("fractions", "Fraction"))
    types = (getattr(loaded(module), name, ()) for module, name in modules)
    return isinstance(value, tuple(types))


def number(value: object, field: str, error: Refusal = FeatureError) -> float:
    """One number, exactly.

    >>> number(3, "x['age']")
    3.0
    >>> number("3", "x['age']")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    noregret.errors.FeatureTypeError: x['age'] = '3' is not a number (str): ...
    """
    if isinstance(value, np.ndarray) and value is np.ma.masked:  # asked of others, it takes 10 ms
        raise error(f"{field} is masked: leave the round out, or impute the value")
    if isinstance(value, np.generic | np.ndarray) and value.ndim == 0:
        value = value.item() if value.dtype.kind in "biufc" else value
    if not isinstance(value, bool | int | float | np.floating) and not _decimal_or_fraction(value):
        kind = type(value).__name__
        raise (FeatureTypeError if error is FeatureError else error)(
            f"{field} = {abbreviated(value)} is not a number ({kind}): convert it to float first; "
            "an argument must be no string and no object, but a number"
        )
    try:
        taken = float(value)
    except OverflowError:  # a whole number or a fraction that is larger than any float64
        taken = math.inf
    except ValueError:  # a signalling NaN
        taken = math.nan
    if isinstance(value, int) and taken != value:
        raise error(
            f"{field} = {abbreviated(value)} is an integer that float64 cannot hold: "
            "round it or scale it down"
        )
    if not math.isfinite(taken):
        raise error(
            f"{field} = {abbreviated(value)}: only finite numbers can be learned from, no NaN or "
            "inf; leave the round out, or impute the value"
        )
    if isinstance(value, np.longdouble) and taken != value:
        raise error(f"{field} = {abbreviated(value)} has more digits than float64: round it first")
    return taken


def within(value: float, field: str) -> float:
    """A feature that is not beyond 2^1000."""
    if abs(value) > LARGEST_FEATURE:
        raise FeatureError(
            f"{field} = {value!r} is beyond 2^1000: rescale the feature so that sums of its "
            "squares can be told apart"
        )
    return value


def outcome(y: Outcome, field: str = "y") -> float:
    """One outcome: a number whose square float64 can hold."""
    taken = number(y, field, OutcomeError)
    if abs(taken) > LARGEST_OUTCOME:
        raise OutcomeError(
            f"{field} = {taken!r}: its square overflows float64, so no loss could be booked; "
            "rescale the outcomes"
        )
    return taken


def outcomes(y: Outcome) -> Vector:
    """Several outcomes of one round, as a vector."""
    if isinstance(y, Mapping | str | bytes) or not isinstance(y, Iterable):
        raise OutcomeError(
            f"y = {abbreviated(y)} is not a vector of outcomes: give one number each"
        )
    if getattr(y, "ndim", 1) != 1:
        shape = getattr(y, "shape", "?")
        raise OutcomeError(f"y has shape {shape}: one round has a 1-D vector of outcomes")
    taken = np.array([outcome(value, f"y[{k}]") for k, value in enumerate(y)], dtype=np.float64)
    if taken.size == 0:
        raise OutcomeError("y is empty: a round needs at least one outcome")
    return taken


def as_mapping(x: Row) -> Mapped | None:
    """x by name, if it has names: a mapping, a pandas row, a frame of one row; else None."""
    if isinstance(x, Mapping):
        return x
    columns, frame = frame_names(x), cast("Frame", x)
    if columns is not None:
        if len(frame) != 1:
            raise FeatureError(
                f"x is a frame of {len(frame)} rows: one round is one row; "
                "for many use predict, partial_fit or replay"
            )
        return None if _positions(columns) else {name: _entries(frame[name])[0] for name in columns}
    index = getattr(x, "index", None)
    if index is not None and hasattr(x, "to_dict") and not callable(index):  # a pandas Series
        names = _unique(list(index), "x has two entries")
        named: Mapped | None = None if _positions(names) else x.to_dict()
        return named
    return None


def _entries(column: Any) -> list[object]:
    """A column of a frame as a list, entries as the library gives them."""
    listed: list[object] = (column.to_list if hasattr(column, "to_list") else column.to_pylist)()
    return listed


def frame_names(X: Table) -> list[object] | None:
    """The column names of a frame (pandas, Polars, Arrow and what looks like them), else None."""
    if hasattr(X, "column_names") and hasattr(X, "schema"):  # Arrow
        return _unique(list(X.column_names), "X has two columns")
    # A pandas row with a feature called "columns" has an attribute of that name, but is no frame.
    if not (hasattr(X, "to_numpy") and len(getattr(X, "shape", ())) == 2 and hasattr(X, "columns")):
        return None
    return _unique(list(X.columns), "X has two columns")


def _unique(names: list[object], complaint: str) -> list[object]:
    seen: set[object] = set()
    for name in names:
        if name in seen:
            raise FeatureError(f"{complaint} of the same name, {name!r}: make the names unique")
        seen.add(name)
    return names


def _positions(names: list[object]) -> bool:
    """Whether names are just 0, 1, 2, ..., as pandas counts where the user named nothing."""
    return names == list(range(len(names)))


def row(x: Row) -> Vector:
    """One round's features by position: a contiguous float64 vector."""
    if frame_names(x) is not None:  # one row without names
        rows, _ = table(x)
        return rows.ravel()
    textual = isinstance(x, str | bytes | bytearray)
    if not isinstance(x, list | tuple) and not hasattr(x, "__array__"):
        try:
            memoryview(x)  # type: ignore[arg-type]  # we try
        except TypeError:
            textual = True
    if textual:
        kind = type(x).__name__
        raise FeatureError(
            f"x = {abbreviated(x)} ({kind}) is neither a vector nor a mapping of names to numbers: "
            "give a 1-D array or a dict"
        )
    taken = _floats(x, "x", 1, FeatureError)
    bad = ~(np.abs(taken) <= LARGEST_FEATURE)
    if bad.any():
        i = int(np.argmax(bad))
        within(number(float(taken[i]), f"x[{i}]"), f"x[{i}]")
    return taken


def _floats(values: object, field: str, ndim: int, error: Refusal) -> Matrix:
    """An array or nested list of ndim dimensions as float64; exact or refused."""
    if isinstance(values, list | tuple):
        return _listed(values, field, ndim, error)
    array = _array(values, field, error)
    if array.ndim != ndim:
        what = f"has shape {array.shape}" if array.ndim else f"= {abbreviated(values)} is no array"
        many = f"one row per round. {RESHAPE}"
        one = "one round; for many use predict or replay"
        raise error(f"{field} {what}: it must be {ndim}-D, {many if ndim == 2 else one}")
    return _exact(array, field, error)


def _listed(
    values: Sequence[object], field: str, ndim: int, error: Refusal, stem: str = ""
) -> Matrix:
    """A list of numbers, or of rows of numbers; `stem` is the place of the list in a larger one."""
    if ndim == 1:
        if {*map(type, values)} == {float}:
            return np.array(values)
        flat = [number(v, f"{field}[{stem}{i}]", error) for i, v in enumerate(values)]
        return np.array(flat, dtype=np.float64)
    rows = []
    for t, v in enumerate(values):
        if isinstance(v, list | tuple):
            rows.append(_listed(v, field, 1, error, stem=f"{t}, "))
        elif hasattr(v, "__array__") and getattr(v, "ndim", 1) > 0:
            rows.append(_floats(v, f"{field}[{t}]", 1, error))
        else:
            kind = type(v).__name__
            raise error(
                f"{field}[{t}] = {abbreviated(v)} ({kind}) is not a row of numbers: "
                f"{field} must be 2-D, one row per round"
            )
        if rows[t].size != rows[0].size:
            raise error(
                f"{field}[{t}] has {rows[t].size} entries and {field}[0] has {rows[0].size}: "
                "give rows of one length"
            )
    if not rows:
        raise error(f"{field} is empty: give at least one row")
    return np.array(rows)


def _array(values: object, field: str, error: Refusal) -> AnyArray:
    """Whatever NumPy takes for an array, as it is."""
    odd = isinstance(values, np.ndarray) and type(values) is not np.ndarray
    if odd and isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise error(f"{field} has masked entries: leave those rounds out, or impute the values")
    try:
        return np.asarray(values)
    except (ValueError, TypeError) as ragged:
        raise error(f"{field} is not an array: {ragged}") from None


def _exact(array: AnyArray, field: str, error: Refusal) -> Matrix:
    """An array as float64, itself if compiled code may have it; every entry exact or refused."""
    kind = array.dtype.kind
    if kind == "O":
        flat = [
            number(v, f"{field}[{_place(i, array.shape)}]", error) for i, v in enumerate(array.flat)
        ]
        return np.array(flat, dtype=np.float64).reshape(array.shape)
    if kind not in "fiub":
        first = f", {abbreviated(array.flat[0])} the first" if array.size else ""
        why = " (Complex data not supported)" if kind == "c" else ""
        raise error(
            f"{field} holds {array.dtype} values{first}, which are not real numbers{why}: "
            "convert them to float first"
        )
    with np.errstate(over="ignore"):  # a longdouble beyond float64 is refused below
        taken: Matrix = np.require(array, np.float64, ["C", "A", "W"])
    if kind in "iu" or array.dtype.itemsize > 8:  # may not fit
        for i in np.flatnonzero(np.abs(taken) >= EXACT_INTEGER if kind in "iu" else taken != array):
            number(array.flat[i], f"{field}[{_place(int(i), array.shape)}]", error)
    return taken


def _first_beyond(limit: float, values: Matrix) -> int | None:
    """The flat index of the first value that is NaN or beyond the limit; None, and no copy made."""
    if values.size == 0 or (np.max(values) <= limit and np.min(values) >= -limit):
        return None
    return int(np.argmax(~(np.abs(values) <= limit)))


def _place(flat: int, shape: tuple[int, ...]) -> str:
    return ", ".join(str(int(i)) for i in np.unravel_index(flat, shape))


def _columns(X: Table, field: str, names: list[object], error: Refusal) -> Matrix:
    """A frame, column by column: no column is read through the type of another."""
    frame = cast("Frame", X)
    taken = np.empty((len(frame), len(names)))
    for j, name in enumerate(names):
        taken[:, j] = _floats(np.asarray(frame[name]), f"{field}[{name!r}]", 1, error)
    return taken


def frame_columns(X: Table, names: list[object]) -> Matrix:
    """Some columns of a frame, as numbers up to the largest that a feature may be."""
    taken = _columns(X, "X", names, FeatureError)
    i = _first_beyond(LARGEST_FEATURE, taken)
    if i is not None:
        t, j = divmod(i, taken.shape[1])
        field = f"row {t}, X[{names[j]!r}]"
        within(number(float(taken[t, j]), field), field)
    return taken


class ReadTable(NamedTuple):
    """Many rounds that were read and checked: a float64 matrix, and names of its columns if any."""

    rows: Matrix
    names: list[object] | None


def table(X: Table) -> ReadTable:
    """Many rounds: a float64 matrix, and the names of its columns if they have any.

    A frame whose columns are numbered 0, 1, 2, ... has positions, not names.
    """
    if isinstance(X, ReadTable):
        return X
    X = as_frame(X)
    names = frame_names(X)
    if names is not None:
        taken = _columns(X, "X", names, FeatureError)
        names = None if _positions(names) else names
    elif isinstance(X, Mapping):
        raise FeatureError("X is one mapping: give a list of mappings, one per round, or a frame")
    elif isinstance(X, Sequence) and (rows := [as_mapping(x) for x in X]).count(None) < len(X):
        taken, names = _by_name(X, rows)
    else:
        taken = _floats(X, "X", 2, FeatureError)
    i = _first_beyond(LARGEST_FEATURE, taken)
    if i is not None:
        t, j = divmod(i, taken.shape[1])
        field = f"X[{t}, {j}]" if names is None else f"row {t}, X[{names[j]!r}]"
        within(number(float(taken[t, j]), field), field)
    return ReadTable(taken, names)


def _by_name(X: Sequence[object], rows: list[Mapped | None]) -> tuple[Matrix, list[object]]:
    """Many mappings: a column for every name, in the order of their arrival."""
    slots: dict[object, int] = {}
    for t, x in enumerate(rows):
        if x is None:
            raise FeatureError(
                f"X[{t}] = {abbreviated(X[t])} is not a mapping, but other rows are: "
                "give every row its names"
            )
        for name in x:
            slots.setdefault(name, len(slots))
    taken = np.zeros((len(X), len(slots)))
    for t, x in enumerate(rows):
        for name, value in (x or {}).items():
            taken[t, slots[name]] = number(value, f"X[{t}][{name!r}]")
    return taken, list(slots)


def require_rows(shape: tuple[int, ...]) -> None:
    """Refuse a table without rows or without features."""
    if 0 in shape:
        raise FeatureError(
            f"X has {shape[1]} feature(s) (shape={shape}) while a minimum of 1 is required: "
            "give at least one row and one feature"
        )


def as_frame(X: Table) -> Table:
    """X, or what it gives away as a stream of Arrow batches; sparse matrices as they read."""
    if isinstance(X, np.ndarray | list | tuple) or frame_names(X) is not None:  # read ones too
        return X
    if hasattr(X, "toarray") and hasattr(X, "nnz"):  # SciPy's sparse matrices
        X = X.toarray()
    elif hasattr(X, "__arrow_c_stream__"):
        X = module("pyarrow", "reading what streams Arrow").table(X)
    return X


def outcome_column(y: Outcomes, rounds: int) -> Vector:
    """Many rounds' outcomes, one per round; a column of a table is taken with a warning."""
    taken, scalar = outcome_table(y, rounds)
    if not scalar:
        if taken.shape[1] != 1:
            raise OutcomeError(
                f"y has shape {taken.shape}: this learner takes one outcome per round"
            )
        warn_of_column()
    return np.ascontiguousarray(taken[:, 0])


def table_with_gaps(values: object, field: str) -> tuple[Matrix, list[object] | None]:
    """A table (2-D, or 3-D as an array) of numbers where NaN and None mean that there is none."""
    names = frame_names(values)
    if names is not None:
        return _columns(values, field, names, InputError), names
    if isinstance(values, np.ndarray) and values.dtype == object:
        values = values.tolist()
    if not isinstance(values, list | tuple):
        return _exact(_array(values, field, InputError), field, InputError), None
    try:
        return np.array(_nested(values, field, ""), dtype=np.float64), None
    except ValueError as ragged:
        if isinstance(ragged, InputError):
            raise
        raise InputError(f"{field} is ragged: give rows of one length") from None


def _nested(values: object, field: str, place: str) -> object:
    """Lists of lists of numbers, NaN where there is none."""
    if isinstance(values, list | tuple):
        if place.count(",") > 2:  # a list may even hold itself
            raise InputError(f"{field} is nested too deeply: give rows of numbers")
        return [
            _nested(v, field, f"{place}, {i}" if place else str(i)) for i, v in enumerate(values)
        ]
    if isinstance(values, np.ndarray) and values.ndim:
        return _exact(_array(values, field, InputError), f"{field}[{place}]", InputError)
    if values is None or (isinstance(values, float | np.floating) and not math.isfinite(values)):
        return math.nan if values is None else float(values)
    return number(values, f"{field}[{place}]", InputError)


def outcome_table(y: Outcomes, rounds: int, field: str = "y") -> tuple[Matrix, bool]:
    """Many rounds' outcomes as a matrix (T, m), and whether they were scalars."""
    if y is None:
        raise OutcomeError(
            "y is missing: every round needs its outcome; "
            "learning requires y to be passed, but the target y is None"
        )
    names = frame_names(y)
    if names is not None:
        taken = _columns(y, field, names, OutcomeError)
    elif isinstance(y, list | tuple):
        nested = any(isinstance(v, list | tuple) or getattr(v, "ndim", 0) > 0 for v in y)
        taken = _listed(y, field, 2 if nested else 1, OutcomeError)
    else:
        array = _array(y, field, OutcomeError)
        if array.ndim == 0:
            raise OutcomeError(
                f"{field} = {abbreviated(y)} is not a column of outcomes: give one per row of X"
            )
        taken = _exact(array, field, OutcomeError)
    shape = taken.shape
    if len(shape) not in (1, 2) or shape[0] != rounds or 0 in shape[1:]:
        raise OutcomeError(
            f"{field} has shape {shape}: {rounds} rows of X need {rounds} outcomes, as shape "
            f"({rounds},), or ({rounds}, m) for m outcomes per round"
        )
    i = _first_beyond(LARGEST_OUTCOME, taken)
    if i is not None:
        outcome(float(taken.flat[i]), f"{field}[{_place(i, shape)}]")
    return taken.reshape(rounds, *(shape[1:] or (1,))), len(shape) == 1
