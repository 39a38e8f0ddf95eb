"""Hostile input: each is exactly right or refused by name, and a refusal changes nothing.

Every case says what must come of it: `Same(x)`, to the last bit what the plain float64 input x
gives, or `Refused(error, words)`, with an error of just that class whose message has the words:
field, value, remedy.  After every call the learner must go on, bit for bit, like a twin that
never saw a refused call.
"""

from __future__ import annotations

import array
import contextlib
import datetime as dt
import functools
import pickle
import struct
import warnings
from collections import ChainMap, OrderedDict, UserDict
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
import pytest

import noregret as nr
from noregret._ops import layout
from noregret.errors import (
    FeatureError,
    NoRegretError,
    NotLearnedError,
    NumericalError,
    OutcomeError,
    ParameterError,
)
from noregret.replay import Replay

NAN, INF = float("nan"), float("inf")
NAMES = ("a", "b", "c")
WIDE_FLOAT = np.finfo(np.longdouble).nmant > 52  # else longdouble is float64 by another name

# What messages must say.
FLOAT = "convert it to float first"
FLOATS = "convert them to float first"
IMPUTE = "leave the round out, or impute the value"
DIGITS = "round it or scale it down"
VECTOR = "give a 1-D array or a dict"
ONE_ROUND = "must be 1-D, one round; for many use predict or replay"
POSITIONS = "arrays go by position"
TWO_D = "must be 2-D, one row a round"
RESCALE = "rescale the feature"


# The state and the twin ---------------------------------------------------------------------


def state_bytes(learner: Any) -> bytes:
    """All that was learned, and how the door is set: two learners alike here go on alike."""
    stream = learner._stream
    if stream is None:
        return b"fresh"
    core, at = stream.core, stream.core.work[layout.AT]
    names = "OFFSET", "CEILING", "RULE", "LEVEL", "CLOSED", "ROOTED", "PASSED"
    settings = [getattr(layout, name) for name in names]
    slots = list(stream.door.slots.items()) if hasattr(stream.door, "slots") else None
    counters = (core.rounds, core._walked) if core.drifts else ()
    words = (core.factor.shape, stream.ledger.shape, slots, stream.scalar, stream.lane, counters)
    arrays = (core.factor, stream.ledger, at[settings])
    return pickle.dumps(words) + b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)


def bits(result: Any) -> Any:
    """What a call gave, such that == compares bits."""
    if isinstance(result, float):
        return struct.pack("=d", result)
    if isinstance(result, np.ndarray):
        assert result.dtype == np.float64
        return result.shape, result.tobytes()
    if isinstance(result, Replay):
        return tuple(bits(v) for v in (result.forecast, result.mean, result.spread, result.loss))
    return None  # learn_one, fit, partial_fit


@dataclass(frozen=True)
class Kind:
    """A learner, how its features are given, and how many outcomes a round has (0: a number)."""

    make: Callable[[], Any]
    named: bool = False
    outcomes: int = 0

    def x(self, values: Any) -> Any:
        if isinstance(values, dict):
            return values
        values = [float(v) for v in values]
        return dict(zip(NAMES, values, strict=True)) if self.named else np.array(values)

    def y(self, value: float) -> Any:
        return np.array([value, 1.0 - value]) if self.outcomes else value

    def table(self, rows: Any) -> Any:
        X = np.array(rows, dtype=np.float64)
        return [dict(zip(NAMES, x)) for x in X.tolist()] if self.named else X

    def column(self, values: Any) -> np.ndarray:
        y = np.array(values, dtype=np.float64)
        return np.column_stack([y, 1.0 - y]) if self.outcomes else y


KINDS = {
    "arrays, fixed": Kind(lambda: nr.AAR(0.7)),
    "arrays, drift": Kind(lambda: nr.Ridge(0.7, drift=0.1)),
    "arrays, vector": Kind(
        lambda: nr.BayesianRidge(2.0, noise_var=0.3, fit_intercept=True), False, 2
    ),
    "names, fixed": Kind(lambda: nr.Ridge(0.7, fit_intercept=True), named=True),
    "names, drift": Kind(lambda: nr.AAR(0.7, drift=lambda t: 0.1 / t), named=True),
    "names, vector": Kind(lambda: nr.Ridge(2.0, drift=0.05), True, 2),
}
BY_POSITION = [name for name, kind in KINDS.items() if not kind.named]
BY_NAME = [name for name, kind in KINDS.items() if kind.named]

GOOD = [1.0, 2.0, 3.0]  # looked at before each hostile call; many of those resemble it
HISTORY = np.random.default_rng(7).normal(size=(6, 4))


def started(kind: Kind) -> Any:
    """A learner in the middle of its stream, which has just looked at GOOD."""
    learner = kind.make()
    for *x, y in HISTORY[:3]:
        learner.learn_one(kind.x(x), kind.y(float(y)))
    learner.predict_one(kind.x(GOOD))
    return learner


def go_on(learner: Any, kind: Kind) -> list[Any]:
    """More good rounds: what they gave, and the state after them."""
    learner.learn_one(kind.x(GOOD), kind.y(0.5))  # may use the look from before
    other = kind.x([0.5, -1.0, 0.25])
    forecast = learner.predict_one(other)
    learner.learn_one(other, kind.y(-0.75))
    return [bits(forecast), state_bytes(learner)]


# What comes of a case -----------------------------------------------------------------------


@dataclass(frozen=True)
class Same:
    """Taken, exactly as this plain input."""

    x: Any


@dataclass(frozen=True)
class Refused:
    """An error of just this class that has all the words."""

    error: type[Exception]
    words: tuple[str, ...]
    always: bool = True  # whatever the learner has seen before, a first call included


def bad_x(*words: str, always: bool = True) -> Refused:
    return Refused(FeatureError, words, always)


def bad_y(*words: str, always: bool = True) -> Refused:
    return Refused(OutcomeError, words, always)


@dataclass(frozen=True)
class Anew:
    """An input that one call uses up."""

    make: Callable[[], Any]


Case = tuple[Any, Same | Refused]


def fresh(hostile: Any) -> Any:
    return hostile.make() if isinstance(hostile, Anew) else hostile


@functools.cache
def undisturbed(kind: Kind) -> tuple[bytes, list[Any]]:
    """The state of a started learner, and how it goes on when nothing hostile comes."""
    twin = started(kind)
    return state_bytes(twin), go_on(twin, kind)


def check(kind: Kind, outcome: Same | Refused, call: Callable[..., Any], given: Any) -> None:
    """Call a started learner with the hostile input and hold it against its twin."""
    learner = started(kind)
    if isinstance(outcome, Refused):
        before, after = undisturbed(kind)
        assert state_bytes(learner) == before
        message = refused(outcome, lambda: call(learner, given))
        assert state_bytes(learner) == before, message
        assert go_on(learner, kind) == after, message
    else:
        twin = started(kind)
        assert bits(call(learner, given)) == bits(call(twin, outcome.x))
        assert state_bytes(learner) == state_bytes(twin)
        assert go_on(learner, kind) == go_on(twin, kind)


def refused(outcome: Refused, call: Callable[[], Any]) -> str:
    with pytest.raises(NoRegretError) as caught:
        call()
    message = str(caught.value)
    assert type(caught.value) is outcome.error, message
    for word in outcome.words:
        assert word in message
    assert len(message) < 300
    return message


def cases(table: dict[str, Case]) -> Any:
    return pytest.mark.parametrize("case", table.values(), ids=table.keys())


def some_kinds(names: list[str]) -> Any:
    return pytest.mark.parametrize("kind", [KINDS[n] for n in names], ids=names)


ONE = ("predict_one", "learn_one")
MANY = ("predict", "partial_fit", "replay", "fit")
one_at_a_time = pytest.mark.parametrize("method", ONE)
batch = pytest.mark.parametrize("method", MANY)


# Hostile makers -----------------------------------------------------------------------------


def unaligned(values: Any) -> np.ndarray:
    plain = np.ascontiguousarray(values, dtype=np.float64)
    shifted = np.frombuffer(b"x" + plain.tobytes(), dtype=np.uint8)[1:].view(np.float64)
    assert not shifted.flags.aligned
    return shifted.reshape(plain.shape)


def read_only(values: Any) -> np.ndarray:
    taken = np.array(values, dtype=np.float64)
    taken.flags.writeable = False
    return taken


def matrix(values: Any) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        return np.matrix(values)


def masked(values: Any, mask: Any) -> Any:
    return np.ma.array(values, mask=mask)


class Subclass(np.ndarray):
    """Somebody's own array."""


class Rude:
    """An object that cannot even be printed."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


LONG = np.longdouble
DAY = np.datetime64("2024-02-29")


# One round by position ----------------------------------------------------------------------

ROWS: dict[str, Case] = {
    # not finite
    "nan": (np.array([1.0, NAN, 3.0]), bad_x("x[1] = nan", IMPUTE)),
    "nan in a list": ([1.0, NAN, 3.0], bad_x("x[1] = nan", IMPUTE)),
    "inf": (np.array([INF, 2.0, 3.0]), bad_x("x[0] = inf", IMPUTE)),
    "-inf": (np.array([1.0, 2.0, -INF]), bad_x("x[2] = -inf", IMPUTE)),
    "float16 inf": (np.array([INF, 2, 3], np.float16), bad_x("x[0] = inf", IMPUTE)),
    # text, None, dates and other things that are no numbers
    "text": ("abc", bad_x("x = 'abc' (str)", VECTOR)),
    "text in a list": ([1.0, "hot", 3.0], bad_x("x[1] = 'hot'", "(str)", FLOAT)),
    "numeric text": (["1.5", 2.0, 3.0], bad_x("x[0] = '1.5'", "(str)", FLOAT)),
    "np.str_": ([np.str_("1"), 2.0, 3.0], bad_x("x[0] = np.str_('1')", FLOAT)),
    "array of text": (np.array(["1", "2", "3"]), bad_x("x holds <U1", "'1'", FLOATS)),
    "array of StringDType": (
        np.array(["1", "2", "3"], dtype=np.dtypes.StringDType()),
        bad_x("x holds StringDType()", "'1'", FLOATS),
    ),
    "bytes": (b"abc", bad_x("x = b'abc' (bytes)", VECTOR)),
    "bytearray": (bytearray(b"abc"), bad_x("x = bytearray(b'abc')", VECTOR)),
    "bytes in a list": ([b"1", 2.0, 3.0], bad_x("x[0] = b'1'", "(bytes)", FLOAT)),
    "array of bytes": (np.array([b"1", b"2", b"3"]), bad_x("x holds |S1", FLOATS)),
    "None": (None, bad_x("x = None", VECTOR)),
    "None in a list": ([None, 2.0, 3.0], bad_x("x[0] = None", FLOAT)),
    "None in an object array": (
        np.array([1.0, 2.0, None], dtype=object),
        bad_x("x[2] = None", FLOAT),
    ),
    "text in an object array": (
        np.array([1.0, "2", 3.0], dtype=object),
        bad_x("x[1] = '2'", FLOAT),
    ),
    "datetime64": (np.array([DAY] * 3), bad_x("x holds datetime64[D]", "2024", FLOATS)),
    "timedelta64": (
        np.array([1, 2, 3], dtype="m8[s]"),
        bad_x("x holds timedelta64[s]", "timedelta64(1,'s')", FLOATS),
    ),
    "datetime64 in a list": ([1.0, DAY, 3.0], bad_x("x[1] = np.datetime64", FLOAT)),
    "timedelta64 in a list": (
        [np.timedelta64(1), 2.0, 3.0],
        bad_x("x[0] = np.timedelta64(1)", FLOAT),
    ),
    "date": ([dt.date(2024, 2, 29), 2.0, 3.0], bad_x("x[0] = datetime.date", FLOAT)),
    "structured array": (
        np.array([(1.0, 2.0)] * 3, dtype=[("a", "f8"), ("b", "f8")]),
        bad_x("x holds [('a'", FLOATS),
    ),
    "void array": (np.zeros(3, dtype="V8"), bad_x("x holds |V8", FLOATS)),
    "a class that cannot be printed": ([Rude(), 2.0, 3.0], bad_x("x[0] = a Rude", FLOAT)),
    "a number": (3.0, bad_x("x = 3.0 (float)", VECTOR)),
    "a function": (len, bad_x("x = <built-in function len>", VECTOR)),
    "set": ({1.0, 2.0, 3.0}, bad_x("x = {1.0, 2.0, 3.0} (set)", VECTOR)),
    "generator": (Anew(lambda: (v for v in GOOD)), bad_x("generator", VECTOR)),
    "Polars LazyFrame": (pl.DataFrame({"a": [1.0]}).lazy(), bad_x("(LazyFrame)", VECTOR)),
    # complex
    "complex array": (np.array([1j, 2, 3]), bad_x("x holds complex128", "1j", FLOATS)),
    "complex64 array": (np.array(GOOD, np.complex64), bad_x("x holds complex64", FLOATS)),
    "complex in a list": ([1 + 0j, 2.0, 3.0], bad_x("x[0] = (1+0j)", "complex", FLOAT)),
    "np.complex128 in a list": ([1.0, np.complex128(2), 3.0], bad_x("x[1]", "2", FLOAT)),
    "complex in an object array": (
        np.array([1.0, 2.0, 3 + 0j], dtype=object),
        bad_x("x[2] = (3+0j)", FLOAT),
    ),
    # shapes and widths
    "empty array": (np.array([]), bad_x("x ", "give")),
    "empty list": ([], bad_x("x ", "give")),
    "too wide": (
        [1.0, 2.0, 3.0, 4.0],
        bad_x("x has 4 features, but this learner has 3", POSITIONS, always=False),
    ),
    "too narrow": (
        np.array([1.0, 2.0]),
        bad_x("x has 2 features, but this learner has 3", POSITIONS, always=False),
    ),
    "0-d array": (np.array(1.0), bad_x("x = array(1.)", ONE_ROUND)),
    "(1, 3) array": (np.array([GOOD]), bad_x("x has shape (1, 3)", ONE_ROUND)),
    "(3, 1) array": (np.array(GOOD)[:, None], bad_x("x has shape (3, 1)", ONE_ROUND)),
    "np.matrix": (matrix([GOOD]), bad_x("x has shape (1, 3)", ONE_ROUND)),
    "nested list": ([GOOD], bad_x("x[0] = [1.0, 2.0, 3.0]", "(list)", FLOAT)),
    "ragged list": ([1.0, (2.0,), 3.0], bad_x("x[1] = (2.0,)", "(tuple)", FLOAT)),
    "list of 1-element arrays": ([np.array([v]) for v in GOOD], bad_x("x[0] = array([1.])", FLOAT)),
    # integers and wider types that float64 cannot hold
    "2^53 + 1 in a list": ([2**53 + 1, 2, 3], bad_x("x[0] = 9007199254740993", DIGITS)),
    "-2^53 - 1 in a list": ([1, -(2**53) - 1, 3], bad_x("-9007199254740993", DIGITS)),
    "2^53 + 1 among floats": ([2**53 + 1, 2.5, 3.0], bad_x("x[0] = 900719", DIGITS)),
    "2^53 + 1 as np.int64": ([np.int64(2**53 + 1), 2.0, 3.0], bad_x("x[0] =", DIGITS)),
    "2^53 + 1 in an int64 array": (
        np.array([1, 2**53 + 1, 3]),
        bad_x("x[1] = 9007199254740993", DIGITS),
    ),
    "2^53 + 1 in a big-endian array": (
        np.array([1, 2**53 + 1, 3], dtype=">i8"),
        bad_x("x[1] = 9007199254740993", DIGITS),
    ),
    "2^53 + 1 in a Polars Series": (
        pl.Series([2**53 + 1, 2, 3]),
        bad_x("x[0] = 9007199254740993", DIGITS),
    ),
    "2^53 + 1 in array.array": (
        array.array("q", [2**53 + 1, 2, 3]),
        bad_x("x[0] = 9007199254740993", DIGITS),
    ),
    "2^64 - 1 in a uint64 array": (
        np.array([1, 2, 2**64 - 1], dtype=np.uint64),
        bad_x("x[2] = 18446744073709551615", DIGITS),
    ),
    "10^300": ([10**300, 2, 3], bad_x("x[0] = 10^300", DIGITS)),
    "10^400": ([10**400, 2, 3], bad_x("x[0] = 10^400", DIGITS)),
    "-10^5000": ([1, 2, -(10**5000)], bad_x("x[2] = -10^5000", DIGITS)),
    "2^1001": ([2**1001, 2, 3], bad_x("x[0] = 2.1430172143725346e+301", RESCALE)),
    "1e308": (np.array([1.0, 2.0, 1e308]), bad_x("x[2] = 1e+308", RESCALE)),
    "Decimal NaN": ([Decimal("NaN"), 2, 3], bad_x("x[0] = Decimal('NaN')", IMPUTE)),
    "Decimal sNaN": ([Decimal("sNaN"), 2, 3], bad_x("x[0] = Decimal('sNaN')", IMPUTE)),
    "Decimal inf": ([1, Decimal("-Infinity"), 3], bad_x("Decimal('-Infinity')", IMPUTE)),
    "Decimal 1e400": ([Decimal("1e400"), 2, 3], bad_x("Decimal('1E+400')", IMPUTE)),
    "Fraction 10^400": ([Fraction(10**400), 2, 3], bad_x("x[0] = Fraction(1", IMPUTE)),
    "Fraction 10^5000": ([Fraction(10**5000), 2, 3], bad_x("x[0] = a Fraction", IMPUTE)),
    # missing values of other libraries
    "masked array": (masked(GOOD, [0, 1, 0]), bad_x("x has masked entries", "impute")),
    "np.ma.masked in a list": ([1.0, np.ma.masked, 3.0], bad_x("x[1] is masked", IMPUTE)),
    "pd.NA in a list": ([1.0, pd.NA, 3.0], bad_x("x[1] = <NA>", FLOAT)),
    "pd.NaT in a list": ([1.0, 2.0, pd.NaT], bad_x("x[2] = NaT", FLOAT)),
    "pandas Int64 with NA": (pd.Series([1, None, 3], dtype="Int64"), bad_x("x[1] =")),
    "pandas Float64 with NA": (pd.Series([1, None], dtype="Float64"), bad_x("x[1] =")),
    "pandas object with None": (
        pd.Series([1.0, 2.0, None], dtype=object),
        bad_x("x[2] = None", FLOAT),
    ),
    "pandas text": (pd.Series(["1", "2", "3"]), bad_x("x[0] = '1'", FLOAT)),
    "pandas dates": (
        pd.Series(pd.to_datetime(["2020", "2021", "2022"])),
        bad_x("x holds datetime64", FLOATS),
    ),
    "Polars Series with null": (pl.Series([1.0, None, 3.0]), bad_x("x[1] = nan", IMPUTE)),
    "Polars Series of text": (pl.Series(["1", "2", "3"]), bad_x("x holds", "'1'", FLOATS)),
    # names given to a learner that goes by position
    "mapping": (
        dict(zip(NAMES, GOOD, strict=True)),
        bad_x("x has names", "give arrays", always=False),
    ),
    "empty mapping": ({}, bad_x("x has names", "give arrays", always=False)),
    "pandas Series with names": (
        pd.Series(GOOD, index=list(NAMES)),
        bad_x("x has names", "give arrays", always=False),
    ),
    "pandas frame of one row": (
        pd.DataFrame([GOOD], columns=list(NAMES)),
        bad_x("x has names", "give arrays", always=False),
    ),
    "Polars frame of one row": (
        pl.DataFrame({"a": [1.0], "b": [2.0], "c": [3.0]}),
        bad_x("x has names", "give arrays", always=False),
    ),
    "pandas frame of two rows": (
        pd.DataFrame([GOOD, GOOD], columns=list(NAMES)),
        bad_x("x is a frame of 2 rows", "use predict"),
    ),
    "pandas frame of two rows without names": (
        pd.DataFrame([GOOD, GOOD]),
        bad_x("x is a frame of 2 rows", "use predict"),
    ),
    "pandas Series with one name twice": (
        pd.Series(GOOD, index=["a", "b", "b"]),
        bad_x("two entries of the same name, 'b'", "make the names unique"),
    ),
    # odd, and exactly right
    "bool": ([True, False, True], Same([1.0, 0.0, 1.0])),
    "bool array": (np.array([True, False, True]), Same([1.0, 0.0, 1.0])),
    "np.bool_": ([np.True_, 2.0, np.False_], Same([1.0, 2.0, 0.0])),
    "integers": ([1, 2, 3], Same(GOOD)),
    "int8 array": (np.array([1, 2, -128], np.int8), Same([1.0, 2.0, -128.0])),
    "2^53": ([2**53, 2, 3], Same([2.0**53, 2.0, 3.0])),
    "2^60": ([1, 2**60, 3], Same([1.0, 2.0**60, 3.0])),
    "2^60 among floats": ([2**60, 2.5, 3], Same([2.0**60, 2.5, 3.0])),
    "2^60 in an int64 array": (np.array([2**60, 2, 3]), Same([2.0**60, 2.0, 3.0])),
    "-2^63 in an int64 array": (np.array([-(2**63), 2, 3]), Same([-(2.0**63), 2.0, 3.0])),
    "2^63 in a uint64 array": (np.array([2**63, 2, 3], dtype=np.uint64), Same([2.0**63, 2.0, 3.0])),
    "2^900": ([2**900, 2, 3], Same([2.0**900, 2.0, 3.0])),
    "denormals": ([5e-324, -1e-310, 3.0], Same([5e-324, -1e-310, 3.0])),
    "1e300": ([1e300, 2.0, 3.0], Same([1e300, 2.0, 3.0])),
    "a row of 1e200": ([1e200, -2e200, 3e200], Same([1e200, -2e200, 3e200])),
    "zeros": ([0, 0, 0], Same([0.0, 0.0, 0.0])),
    "negative zero": (np.array([-0.0, 2.0, 3.0]), Same([0.0, 2.0, 3.0])),
    "tuple": ((1.0, 2.0, 3.0), Same(GOOD)),
    "object array": (np.array([1, 2.5, Fraction(1, 4)], dtype=object), Same([1.0, 2.5, 0.25])),
    "float16": (np.array([0.1, 2, 3], np.float16), Same([0.0999755859375, 2.0, 3.0])),
    "float32": (np.array([0.1, 2, 3], np.float32), Same([float(np.float32(0.1)), 2, 3])),
    "longdouble": (np.array([0.1, 2, 3], LONG), Same([0.1, 2.0, 3.0])),
    "big-endian floats": (np.array(GOOD, dtype=">f8"), Same(GOOD)),
    "big-endian integers": (np.array([1, 2, 3], dtype=">i4"), Same(GOOD)),
    "strided": (np.repeat(GOOD, 2)[::2], Same(GOOD)),
    "reversed": (np.array(GOOD[::-1])[::-1], Same(GOOD)),
    "column of a matrix": (np.outer(GOOD, [1.0, 7.0])[:, 0], Same(GOOD)),
    "broadcast": (np.broadcast_to(2.0, 3), Same([2.0, 2.0, 2.0])),
    "read-only": (read_only(GOOD), Same(GOOD)),
    "unaligned": (unaligned(GOOD), Same(GOOD)),
    "subclass of ndarray": (np.array(GOOD).view(Subclass), Same(GOOD)),
    "masked array with nothing masked": (masked(GOOD, [0, 0, 0]), Same(GOOD)),
    "0-d arrays in a list": ([np.array(1.0), np.array(2), 3.0], Same(GOOD)),
    "Decimal": ([Decimal("0.1"), 2, 3], Same([0.1, 2.0, 3.0])),
    "Fraction": ([Fraction(1, 3), 2, 3], Same([1 / 3, 2.0, 3.0])),
    "array.array": (array.array("d", GOOD), Same(GOOD)),
    "memoryview": (memoryview(np.array(GOOD)), Same(GOOD)),
    "pandas Series without names": (pd.Series(GOOD), Same(GOOD)),
    "pandas Int64 Series": (pd.Series([1, 2, 3], dtype="Int64"), Same(GOOD)),
    "pandas object Series": (pd.Series([1, 2.0, Decimal(3)], dtype=object), Same(GOOD)),
    "pandas frame of one row without names": (pd.DataFrame([GOOD]), Same(GOOD)),
    "Polars Series": (pl.Series(GOOD), Same(GOOD)),
    "Polars Series of integers": (pl.Series([1, 2, 3]), Same(GOOD)),
}
if WIDE_FLOAT:
    ROWS |= {
        "longdouble 1/3": (np.array([1, 2, 3], LONG) / 3, bad_x("x[0] =", "round it")),
        "longdouble 1/3 in a list": ([LONG(1) / 3, 2, 3], bad_x("x[0] =", "round it")),
        "longdouble 1e400": (np.array([1, 2, LONG("1e400")]), bad_x("1e+400", IMPUTE)),
        "longdouble 1e400 in a list": ([LONG("1e400"), 2], bad_x("1e+400", IMPUTE)),
        "longdouble nan": (np.array([1, NAN, 3], LONG), bad_x("x[1]", "nan", IMPUTE)),
    }


def call_one(method: str, kind: Kind) -> Callable[[Any, Any], Any]:
    if method == "predict_one":
        return lambda learner, x: learner.predict_one(x)
    return lambda learner, x: learner.learn_one(x, kind.y(0.25))


def plain(kind: Kind, outcome: Same | Refused) -> Same | Refused:
    return Same(kind.x(outcome.x)) if isinstance(outcome, Same) else outcome


@some_kinds(BY_POSITION)
@cases(ROWS)
def test_one_round_by_position(case: Case, kind: Kind) -> None:
    hostile, outcome = case
    for method in ONE:
        check(kind, plain(kind, outcome), call_one(method, kind), fresh(hostile))


# One round by name --------------------------------------------------------------------------


def named(**changes: Any) -> dict[str, Any]:
    return {**dict(zip(NAMES, GOOD, strict=True)), **changes}


VALUES: dict[str, tuple[Any, tuple[str, ...] | float]] = {
    "nan": (NAN, ("nan", IMPUTE)),
    "inf": (INF, ("inf", IMPUTE)),
    "-inf": (-INF, ("-inf", IMPUTE)),
    "np.float64 nan": (np.float64("nan"), ("nan", IMPUTE)),
    "text": ("hot", ("'hot'", "(str)", FLOAT)),
    "numeric text": ("1.0", ("'1.0'", "(str)", FLOAT)),
    "np.str_": (np.str_("1"), ("np.str_('1')", FLOAT)),
    "bytes": (b"1", ("b'1'", FLOAT)),
    "None": (None, ("None", FLOAT)),
    "complex": (1 + 0j, ("(1+0j)", "(complex)", FLOAT)),
    "np.complex128": (np.complex128(1), ("1", "(complex)", FLOAT)),
    "0-d complex array": (np.array(1 + 0j), ("1", "(complex)", FLOAT)),
    "list": ([1.0], ("[1.0]", "(list)", FLOAT)),
    "1-element array": (np.array([1.0]), ("array([1.])", "(ndarray)", FLOAT)),
    "one that equals everything": (mock.ANY, ("<ANY>", FLOAT)),
    "np.ma.masked": (np.ma.masked, ("is masked", IMPUTE)),
    "pd.NA": (pd.NA, ("<NA>", FLOAT)),
    "pd.NaT": (pd.NaT, ("NaT", FLOAT)),
    "datetime64": (DAY, ("2024-02-29", FLOAT)),
    "timedelta64": (np.timedelta64(1), ("np.timedelta64(1)", FLOAT)),
    "2^60 + 1": (2**60 + 1, ("1152921504606846977", DIGITS)),
    "np.int64 2^60 + 1": (np.int64(2**60 + 1), ("1152921504606846977", DIGITS)),
    "10^400": (10**400, ("10^400", DIGITS)),
    "10^5000": (10**5000, ("10^5000", DIGITS)),
    "1e308": (1e308, ("1e+308", RESCALE)),
    "np.float64 1.7e308": (np.float64(1.7e308), ("1.7e+308", RESCALE)),
    "Decimal sNaN": (Decimal("sNaN"), ("Decimal('sNaN')", IMPUTE)),
    "Decimal 1e400": (Decimal("1e400"), ("Decimal('1E+400')", IMPUTE)),
    "Fraction 10^400": (Fraction(10**400), ("Fraction(1", IMPUTE)),
    "a class that cannot be printed": (Rude(), ("a Rude", FLOAT)),
    "bool": (True, 1.0),
    "np.bool_": (np.True_, 1.0),
    "integer": (1, 1.0),
    "2^53": (2**53, 2.0**53),
    "2^60": (2**60, 2.0**60),
    "2^60 as a float": (2.0**60, 2.0**60),
    "2^900": (2**900, 2.0**900),
    "np.int64 2^62": (np.int64(2**62), 2.0**62),
    "denormal": (5e-324, 5e-324),
    "1e300": (1e300, 1e300),
    "1e200": (1e200, 1e200),
    "zero": (0, 0.0),
    "np.float16": (np.float16(6e4), 6e4),
    "np.float32": (np.float32(0.1), float(np.float32(0.1))),
    "np.float64": (np.float64(0.1), 0.1),
    "longdouble": (LONG(0.1), 0.1),
    "0-d array": (np.array(1.5), 1.5),
    "Decimal": (Decimal("0.1"), 0.1),
    "Fraction": (Fraction(1, 3), 1 / 3),
}
if WIDE_FLOAT:
    VALUES["longdouble 1/3"] = (LONG(1) / 3, ("0.333", "round it first"))


def value_cases() -> dict[str, Case]:
    """Each value once alone among good ones, once in every place, once under a new name."""
    table: dict[str, Case] = {}
    for label, (value, expected) in VALUES.items():
        alone, new = named(b=value), named(new=value)
        everywhere = dict.fromkeys(NAMES, value)
        if isinstance(expected, tuple):
            table[label] = (alone, bad_x("x['b']", *expected))
            table[f"{label}, everywhere"] = (everywhere, bad_x("x['a']", *expected))
            table[f"{label}, under a new name"] = (new, bad_x("x['new']", *expected))
        else:
            table[label] = (alone, Same(named(b=expected)))
            table[f"{label}, everywhere"] = (everywhere, Same([expected] * 3))
    return table


MAPPINGS: dict[str, Case] = {
    **value_cases(),
    "array after mappings": (
        np.array(GOOD),
        bad_x("x is an array", "by name", "give a mapping", always=False),
    ),
    "list after mappings": (GOOD, bad_x("x is an array", "a mapping", always=False)),
    "empty list after mappings": ([], bad_x("x is an array", "a mapping", always=False)),
    "pandas Series without names": (
        pd.Series(GOOD),
        bad_x("x is an array", "give a mapping", always=False),
    ),
    "Polars Series": (pl.Series(GOOD), bad_x("x is an array", always=False)),
    "None": (None, bad_x("x ", "mapping")),
    "set of names": (set(NAMES), bad_x("x ", "mapping")),
    "list of pairs": (list(named().items()), bad_x("x")),
    "pandas row with NA": (
        pd.Series([1, None, 3], index=list(NAMES), dtype="Int64"),
        bad_x("x['b'] =", FLOAT),
    ),
    "pandas row with text": (
        pd.DataFrame([[1.0, "t", 3.0]], columns=list(NAMES)).iloc[0],
        bad_x("x['b'] = 't'", FLOAT),
    ),
    "pandas row with one name twice": (
        pd.Series(GOOD, index=["a", "b", "a"]),
        bad_x("two entries of the same name, 'a'", "make the names unique"),
    ),
    "pandas frame with one name twice": (
        pd.DataFrame([GOOD], columns=["a", "b", "b"]),
        bad_x("two columns of the same name, 'b'", "make the names unique"),
    ),
    "pandas frame of two rows": (
        pd.DataFrame([GOOD, GOOD], columns=list(NAMES)),
        bad_x("x is a frame of 2 rows", "use predict"),
    ),
    "pandas frame of no rows": (
        pd.DataFrame([], columns=list(NAMES)),
        bad_x("x is a frame of 0 rows", "one round is one row"),
    ),
    "Polars row with null": (
        pl.DataFrame({"a": [1.0], "b": [None], "c": [3.0]}).row(0, named=True),
        bad_x("x['b'] = None", FLOAT),
    ),
    "Polars frame of one row with null": (
        pl.DataFrame({"a": [1.0], "b": [None], "c": [3.0]}),
        bad_x("x['b'] = None", FLOAT),
    ),
    "Polars frame of one row with text": (
        pl.DataFrame({"a": [1.0], "b": ["t"], "c": [3.0]}),
        bad_x("x['b'] = 't'", FLOAT),
    ),
    "empty mapping": ({}, Same([0.0, 0.0, 0.0])),
    "another order": ({"c": 3.0, "a": 1.0, "b": 2.0}, Same(GOOD)),
    "one missing": ({"a": 1.0, "c": 3.0}, Same([1.0, 0.0, 3.0])),
    "OrderedDict": (OrderedDict(named()), Same(GOOD)),
    "MappingProxyType": (MappingProxyType(named()), Same(GOOD)),
    "UserDict": (UserDict(named()), Same(GOOD)),
    "ChainMap": (ChainMap({"a": 1.0}, named(a=7.0)), Same(GOOD)),
    "np.float64 values": ({k: np.float64(v) for k, v in named().items()}, Same(GOOD)),
    "pandas Series": (pd.Series(GOOD, index=list(NAMES)), Same(GOOD)),
    "pandas Series, another order": (pd.Series([3.0, 1.0, 2.0], index=["c", "a", "b"]), Same(GOOD)),
    "pandas row of mixed columns": (
        pd.DataFrame({"a": [1], "b": [2.0], "c": [Decimal(3)]}).iloc[0],
        Same(GOOD),
    ),
    "pandas frame of one row": (pd.DataFrame([GOOD], columns=list(NAMES)), Same(GOOD)),
    "Polars row": (pl.DataFrame({"a": [1], "b": [2.0], "c": [3]}).row(0, named=True), Same(GOOD)),
    "Polars frame of one row": (pl.DataFrame({"c": [3], "a": [1.0], "b": [2.0]}), Same(GOOD)),
}


@some_kinds(BY_NAME)
@cases(MAPPINGS)
def test_one_round_by_name(case: Case, kind: Kind) -> None:
    hostile, outcome = case
    for method in ONE:
        check(kind, plain(kind, outcome), call_one(method, kind), fresh(hostile))


@one_at_a_time
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
@pytest.mark.parametrize("big", [2**53 + 1, -(2**53) - 1, 2**54 + 1, 2**63 + 1])
def test_an_integer_that_float64_cannot_hold(big: int, kind: Kind, method: str) -> None:
    """2^53 + 1 rounds to 2^53, which no look at the rounded value can tell from the real one."""
    x = named(a=big) if kind.named else [big, *GOOD[1:]]
    check(kind, bad_x("= " + str(big), DIGITS), call_one(method, kind), x)


@one_at_a_time
@some_kinds(BY_NAME)
def test_an_inexact_integer_after_its_exact_neighbour(kind: Kind, method: str) -> None:
    """The look at 2^60 that is still at hand is not a look at 2^60 + 1."""
    learner, twin = started(kind), started(kind)
    for each in (learner, twin):
        each.predict_one(named(a=2**60))
    outcome = bad_x("x['a'] = 1152921504606846977", DIGITS)
    refused(outcome, lambda: call_one(method, kind)(learner, named(a=2**60 + 1)))
    assert go_on(learner, kind) == go_on(twin, kind)


FIRST = {
    name: case
    for name, case in {**ROWS, **{f"by name: {k}": v for k, v in MAPPINGS.items()}}.items()
    if isinstance(case[1], Refused) and case[1].always
}


@cases(FIRST)
def test_a_refused_first_call_leaves_the_learner_fresh(case: Case) -> None:
    hostile, outcome = case
    learner, twin = nr.AAR(0.5), nr.AAR(0.5)
    refused(outcome, lambda: learner.predict_one(fresh(hostile)))
    refused(outcome, lambda: learner.learn_one(fresh(hostile), 1.0))
    refused(outcome, lambda: learner.learn_one(fresh(hostile), [1.0, 2.0]))
    stays_fresh(learner, twin)


def stays_fresh(learner: Any, twin: Any) -> None:
    assert state_bytes(learner) == b"fresh"
    for what in ("coef_", "intercept_", "n_features_in_", "n_samples_seen_", "feature_names_in_"):
        with pytest.raises(NotLearnedError, match="learned nothing yet"):
            getattr(learner, what)
    with pytest.raises(NotLearnedError, match="call learn_one or fit first"):
        learner.certificate()
    for each in (learner, twin):
        each.learn_one(np.array(GOOD), 1.0)
    assert state_bytes(learner) == state_bytes(twin)


# Extreme, yet right -------------------------------------------------------------------------


def rational_weights(X: np.ndarray, y: np.ndarray, a: float, drift: float) -> list[Fraction]:
    """The Kalman filter of the random walk in rational arithmetic; drift 0 is ridge."""
    n = X.shape[1]
    q = Fraction(drift)
    P = [[Fraction(i == j) / Fraction(a) for j in range(n)] for i in range(n)]
    w = [Fraction(0)] * n
    for row, outcome in zip(X.tolist(), y.tolist(), strict=True):
        x = [Fraction(v) for v in row]
        Px = [sum(P[i][j] * x[j] for j in range(n)) for i in range(n)]
        d = 1 + sum(x[i] * Px[i] for i in range(n))
        e = Fraction(outcome) - sum(w[i] * x[i] for i in range(n))
        w = [w[i] + Px[i] * e / d for i in range(n)]
        P = [[P[i][j] - Px[i] * Px[j] / d + q * (i == j) for j in range(n)] for i in range(n)]
    return w


@pytest.mark.parametrize("drift", [0.0, 0.25])
@pytest.mark.parametrize("by", ["learn_one", "learn_one by name", "replay"])
@pytest.mark.parametrize(
    "row",
    [
        [1e200, 2.0, 3.0],
        [1e200, -2e200, 3e200],
        [1e300, 1.0, -1e300],
        [2.0**1000, 1.0, 1.0],
        [5e-324, 1e-310, 1.0],
        [1e-160, 1e160, 1.0],
        [0.0, 0.0, 0.0],
        [2.0**53, 1.0, 0.0],
    ],
    ids=str,
)
def test_extreme_rows_are_right(row: list[float], by: str, drift: float) -> None:
    """The weights after an extreme row in mid-stream, against rational arithmetic."""
    X, y = HISTORY[:, :3].copy(), HISTORY[:, 3].copy()
    X[3] = row
    learner = nr.Ridge(0.5, drift=drift)
    if by == "replay":
        learner.replay(X, y)
    else:
        for x, outcome in zip(X, y, strict=True):
            learner.learn_one(named(**dict(zip(NAMES, x.tolist()))) if "name" in by else x, outcome)
    w = rational_weights(X, y, 0.5, drift)
    error = [abs(float(Fraction(float(got)) - want)) for got, want in zip(learner.coef_, w)]
    assert max(error) <= 1e-12 * max(abs(float(v)) for v in w)


# Many rounds by position --------------------------------------------------------------------

TABLE = np.random.default_rng(11).normal(size=(4, 3)).round(3)
TABLE[1] = GOOD
COLUMN = [0.5, -1.0, 0.0, 0.25]


def changed(t: int, j: int, value: Any) -> list[list[Any]]:
    rows = TABLE.tolist()
    rows[t][j] = value
    return rows


def changed_array(t: int, j: int, value: Any, dtype: Any = None) -> np.ndarray:
    return np.array(changed(t, j, value), dtype=dtype)


TABLES: dict[str, Case] = {
    "nan": (changed_array(2, 1, NAN), bad_x("X[2, 1] = nan", IMPUTE)),
    "inf": (changed_array(0, 2, INF), bad_x("X[0, 2] = inf", IMPUTE)),
    "nan in a list": (changed(2, 1, NAN), bad_x("X[2, 1] = nan", IMPUTE)),
    "None": (None, bad_x("X = None", TWO_D)),
    "None in a list": (changed(2, 1, None), bad_x("X[2, 1] = None", FLOAT)),
    "None as a row": ([[1.0, 2.0, 3.0], None], bad_x("X[1] = None", TWO_D)),
    "text": ("abc", bad_x("X = 'abc'", TWO_D)),
    "bytes": (b"abc", bad_x("X = b'abc'", TWO_D)),
    "text in a list": (changed(1, 0, "1.0"), bad_x("X[1, 0] = '1.0'", FLOAT)),
    "text in an object array": (
        changed_array(3, 2, "hot", object),
        bad_x("X[3, 2] = 'hot'", FLOAT),
    ),
    "array of text": (TABLE.astype(str), bad_x("X holds <U", FLOATS)),
    "complex array": (TABLE + 0j, bad_x("X holds complex128", FLOATS)),
    "complex in a list": (changed(1, 0, 1 + 0j), bad_x("X[1, 0] = (1+0j)", FLOAT)),
    "dates": (np.full((4, 3), DAY), bad_x("X holds datetime64[D]", "2024", FLOATS)),
    "2^53 + 1 in a list": (changed(3, 2, 2**53 + 1), bad_x("X[3, 2] = 90071", DIGITS)),
    "2^53 + 1 in an int64 array": (
        np.array([[1, 2, 3], [1, 2**53 + 1, 3]] * 2),
        bad_x("X[1, 1] = 9007199254740993", DIGITS),
    ),
    "2^53 + 1 in a list of arrays": (
        [np.array([1, 2, 3]), np.array([1, 2**53 + 1, 3])] * 2,
        bad_x("X[1][1] = 9007199254740993", DIGITS),
    ),
    "10^400": (changed(3, 2, 10**400), bad_x("X[3, 2] = 10^400", DIGITS)),
    "1e308": (changed_array(3, 2, 1e308), bad_x("X[3, 2] = 1e+308", RESCALE)),
    "masked array": (masked(TABLE, TABLE > 0), bad_x("X has masked entries", "impute")),
    "list of masked arrays": (
        [*TABLE[:3], masked(GOOD, [0, 1, 0])],
        bad_x("X[3] has masked entries", "impute"),
    ),
    "np.ma.masked in a list": (changed(0, 1, np.ma.masked), bad_x("X[0, 1] is masked")),
    "pd.NA in a list": (changed(0, 1, pd.NA), bad_x("X[0, 1] = <NA>", FLOAT)),
    "too wide": (
        np.ones((4, 4)),
        bad_x("X has 4 features, but this learner has 3", POSITIONS, always=False),
    ),
    "too narrow": (
        TABLE[:, :2],
        bad_x("X has 2 features, but this learner has 3", POSITIONS, always=False),
    ),
    "one row only": (np.array(GOOD), bad_x("X has shape (3,)", TWO_D)),
    "list of numbers": (GOOD, bad_x("X[0] = 1.0 (float)", TWO_D)),
    "three dimensions": (TABLE[None], bad_x("X has shape (1, 4, 3)", TWO_D)),
    "nested too deep": ([[[1.0], [2.0], [3.0]]] * 4, bad_x("X[0, 0] = [1.0]", FLOAT)),
    "0-d array": (np.array(1.0), bad_x("X = array(1.)", TWO_D)),
    "ragged": ([[1.0, 2.0, 3.0], [1.0]], bad_x("X[1] has 1", "3", "of one length")),
    "empty list": ([], bad_x("X is empty", "give at least one row")),
    "set": ({1.0, 2.0}, bad_x("X = {1.0, 2.0}", TWO_D)),
    "generator": (Anew(lambda: (r for r in TABLE)), bad_x("X = <generator", TWO_D)),
    "one mapping": ({"a": [1.0]}, bad_x("X is one mapping", "a list of mappings")),
    "mappings and arrays": (
        [named(), GOOD, named(), named()],
        bad_x("X[1] = [1.0, 2.0, 3.0]", "give every row its names"),
    ),
    "mappings": ([named()] * 4, bad_x("X has names", "give arrays", always=False)),
    "pandas frame with names": (
        pd.DataFrame(TABLE, columns=list(NAMES)),
        bad_x("X has names", "give arrays", always=False),
    ),
    "Polars frame": (
        pl.DataFrame(TABLE, schema=list(NAMES)),
        bad_x("X has names", "give arrays", always=False),
    ),
    "pandas rows with names": (
        [pd.Series(x, index=list(NAMES)) for x in TABLE],
        bad_x("X has names", "give arrays", always=False),
    ),
    "pandas frame without names, with text": (
        pd.DataFrame(changed(2, 1, "t")),
        bad_x("X[1][2] = 't'", FLOAT),
    ),
    "pandas frame without names, 2^53 + 1 beside floats": (
        pd.DataFrame({0: [2**53 + 1] * 4, 1: [0.5] * 4, 2: [1.0] * 4}),
        bad_x("X[0][0] = 9007199254740993", DIGITS),
    ),
    "lists": (TABLE.tolist(), Same(TABLE)),
    "tuples": (tuple(map(tuple, TABLE.tolist())), Same(TABLE)),
    "list of arrays": (list(TABLE), Same(TABLE)),
    "list of Polars Series": ([pl.Series(x) for x in TABLE], Same(TABLE)),
    "list of pandas Series without names": ([pd.Series(x) for x in TABLE], Same(TABLE)),
    "object array": (TABLE.astype(object), Same(TABLE)),
    "bool array": (TABLE > 0, Same((TABLE > 0).astype(float))),
    "bool list": ((TABLE > 0).tolist(), Same((TABLE > 0).astype(float))),
    "integers": (np.arange(12).reshape(4, 3), Same(np.arange(12.0).reshape(4, 3))),
    "2^60": (changed(0, 0, 2**60), Same(changed_array(0, 0, 2.0**60))),
    "2^60 in an int64 array": (
        np.array([[2**60, 2, 3]] * 4),
        Same(np.array([[2.0**60, 2.0, 3.0]] * 4)),
    ),
    "float32": (TABLE.astype(np.float32), Same(TABLE.astype(np.float32).astype(np.float64))),
    "longdouble": (TABLE.astype(LONG), Same(TABLE)),
    "big-endian": (TABLE.astype(">f8"), Same(TABLE)),
    "Fortran order": (np.asfortranarray(TABLE), Same(TABLE)),
    "strided": (np.repeat(TABLE, 2, axis=0)[::2], Same(TABLE)),
    "reversed": (TABLE[::-1, ::-1].copy()[::-1, ::-1], Same(TABLE)),
    "read-only": (read_only(TABLE), Same(TABLE)),
    "broadcast": (np.broadcast_to(GOOD, (4, 3)), Same(np.array([GOOD] * 4))),
    "unaligned": (unaligned(TABLE), Same(TABLE)),
    "np.matrix": (matrix(TABLE), Same(TABLE)),
    "masked array with nothing masked": (masked(TABLE, False), Same(TABLE)),
    "pandas frame without names": (pd.DataFrame(TABLE), Same(TABLE)),
    "denormals": (changed(0, 0, 5e-324), Same(changed_array(0, 0, 5e-324))),
    "1e300": (changed(0, 0, 1e300), Same(changed_array(0, 0, 1e300))),
    "zeros": (np.zeros((4, 3), dtype=int), Same(np.zeros((4, 3)))),
}


def call_many(method: str, kind: Kind) -> Callable[[Any, Any], Any]:
    if method == "predict":
        return lambda learner, X: learner.predict(X)
    return lambda learner, X: getattr(learner, method)(X, kind.column(COLUMN))


@some_kinds(BY_POSITION)
@cases(TABLES)
def test_many_rounds_by_position(case: Case, kind: Kind) -> None:
    hostile, outcome = case
    for method in MANY:
        if method == "fit" and isinstance(outcome, Refused) and not outcome.always:
            learner = started(kind)  # forgets the past: wider rows, or names, are welcome
            learner.fit(fresh(hostile), kind.column(COLUMN))
            assert learner.n_samples_seen_ == 4
        else:
            check(kind, outcome, call_many(method, kind), fresh(hostile))


# Many rounds by name ------------------------------------------------------------------------


def frame(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({**dict(zip(NAMES, TABLE.T, strict=True)), **columns})


def polars_frame(**columns: Any) -> pl.DataFrame:
    return pl.DataFrame({**dict(zip(NAMES, TABLE.T, strict=True)), **columns}, strict=False)


RECORDS = [dict(zip(NAMES, x, strict=True)) for x in TABLE.tolist()]

FRAMES: dict[str, Case] = {
    "nan": (frame(b=[1.0, NAN, 2.0, 3.0]), bad_x("row 1", "X['b'] = nan", IMPUTE)),
    "text column": (frame(b=["1", "2", "3", "4"]), bad_x("X['b'][0] = '1'", FLOAT)),
    "object column": (frame(b=[1, 2.0, "t", 4]), bad_x("X['b'][2] = 't'", FLOAT)),
    "object column with None": (
        frame(b=pd.Series([1, None, 2, 3], dtype=object)),
        bad_x("X['b'][1] = None", FLOAT),
    ),
    "nullable column": (frame(b=pd.array([1, 2, None, 4], dtype="Int64")), bad_x("X['b']", "2")),
    "categories": (frame(b=pd.Categorical(list("uvuv"))), bad_x("X['b'][0] = 'u'", FLOAT)),
    "dates": (frame(b=pd.date_range("2024", periods=4)), bad_x("X['b'] holds", FLOATS)),
    "complex column": (frame(b=TABLE[:, 1] + 0j), bad_x("X['b'] holds complex", FLOATS)),
    "2^53 + 1 beside floats": (
        frame(b=[1, 2, 3, 2**53 + 1]),
        bad_x("X['b'][3] = 9007199254740993", DIGITS),
    ),
    "1e308": (frame(b=[1.0, 1e308, 2.0, 3.0]), bad_x("row 1", "X['b'] = 1e+308", RESCALE)),
    "one name twice": (
        pd.DataFrame(TABLE, columns=["a", "b", "a"]),
        bad_x("two columns of the same name, 'a'", "make the names unique"),
    ),
    "array": (TABLE, bad_x("X is an array", "by name", "give a frame", always=False)),
    "frame without names": (
        pd.DataFrame(TABLE),
        bad_x("X is an array", "give a frame", always=False),
    ),
    "Polars text column": (polars_frame(b=list("wxyz")), bad_x("X['b'] holds", "'w'")),
    "Polars null": (polars_frame(b=[1.0, None, 2.0, 3.0]), bad_x("row 1", "X['b'] = nan", IMPUTE)),
    "Polars null among integers": (
        polars_frame(b=[1, None, 2, 3]),
        bad_x("row 1", "X['b'] = nan", IMPUTE),
    ),
    "Polars 2^53 + 1": (
        polars_frame(b=[1, 2, 2**53 + 1, 4]),
        bad_x("X['b'][2] = 9007199254740993", DIGITS),
    ),
    "Polars dates": (
        polars_frame(b=[dt.date(2024, 1, 1)] * 4),
        bad_x("X['b'] holds datetime64", FLOATS),
    ),
    "Polars lists": (polars_frame(b=[[1.0], [2.0], [3.0], [4.0]]), bad_x("X['b']", FLOAT)),
    "Polars LazyFrame": (polars_frame().lazy(), bad_x("X =", TWO_D)),
    "text in a mapping": (
        [*RECORDS[:2], named(b="2.0"), RECORDS[3]],
        bad_x("X[2]['b'] = '2.0'", FLOAT),
    ),
    "None in a mapping": ([named(c=None), *RECORDS[1:]], bad_x("X[0]['c'] = None", FLOAT)),
    "complex in a mapping": ([*RECORDS[:3], named(a=1 + 0j)], bad_x("X[3]['a'] = (1+0j)", FLOAT)),
    "2^53 + 1 in a mapping": (
        [*RECORDS[:3], named(a=2**53 + 1)],
        bad_x("X[3]['a'] = 9007199254740993", DIGITS),
    ),
    "nan under a new name": ([*RECORDS[:3], named(new=NAN)], bad_x("X[3]['new'] = nan", IMPUTE)),
    "a list among mappings": (
        [*RECORDS[:3], GOOD],
        bad_x("X[3] = [1.0, 2.0, 3.0]", "give every row its names"),
    ),
    "None among mappings": ([*RECORDS[:3], None], bad_x("X[3] = None", "its names")),
    "mappings": (RECORDS, Same(None)),
    "tuple of mappings": (tuple(RECORDS), Same(None)),
    "mappings, other orders": (
        [RECORDS[0], *({k: x[k] for k in "cba"} for x in RECORDS[1:])],
        Same(None),
    ),
    "pandas rows": ([row for _, row in frame().iterrows()], Same(None)),
    "Polars rows": (list(polars_frame().iter_rows(named=True)), Same(None)),
    "Polars frame": (polars_frame(), Same(None)),
    "columns in another order": (frame()[["c", "a", "b"]], Same(None)),
    "Polars columns in another order": (polars_frame()[["c", "b", "a"]], Same(None)),
    "float32 column": (
        frame(b=TABLE[:, 1].astype(np.float32)),
        Same(frame(b=TABLE[:, 1].astype(np.float32).astype(np.float64))),
    ),
    "nullable column with nothing missing": (
        frame(b=pd.array([1, 2, 3, 4], dtype="Int64")),
        Same(frame(b=[1.0, 2.0, 3.0, 4.0])),
    ),
    "bool column": (frame(b=[True, False, True, True]), Same(frame(b=[1.0, 0.0, 1.0, 1.0]))),
    "object column of numbers": (
        frame(b=pd.Series([1, Decimal("0.1"), 2.0, True], dtype=object)),
        Same(frame(b=[1.0, 0.1, 2.0, 1.0])),
    ),
    "Polars integers": (polars_frame(b=[1, 2, 3, 4]), Same(frame(b=[1.0, 2.0, 3.0, 4.0]))),
    "Polars bools": (
        polars_frame(b=[True, False, True, True]),
        Same(frame(b=[1.0, 0.0, 1.0, 1.0])),
    ),
    "2^60 in a mapping": ([named(a=2**60), *RECORDS[1:]], Same([named(a=2.0**60), *RECORDS[1:]])),
    "missing column": (frame()[["a", "c"]], Same(frame(b=0.0))),
    "missing in mappings": ([{"a": x["a"], "c": x["c"]} for x in RECORDS], Same(frame(b=0.0))),
}


def same_features(learner: Any, twin: Any) -> None:
    """After `fit`, slots are in the order of arrival: compare by name, to rounding."""
    mine, theirs = (
        {name: w.tolist() for name, w in zip(each.feature_names_in_, np.atleast_2d(each.coef_).T)}
        for each in (learner, twin)
    )
    mine = {name: mine.get(name, np.zeros_like(w).tolist()) for name, w in theirs.items()}
    for name, w in theirs.items():
        np.testing.assert_allclose(mine[name], w, rtol=1e-12, atol=1e-14)


@some_kinds(BY_NAME)
@cases(FRAMES)
def test_many_rounds_by_name(case: Case, kind: Kind) -> None:
    hostile, outcome = case
    if isinstance(outcome, Same) and outcome.x is None:
        outcome = Same(frame())
    for method in MANY:
        call = call_many(method, kind)
        if method == "fit" and isinstance(outcome, Same):
            learner, twin = started(kind), started(kind)
            call(learner, fresh(hostile))
            call(twin, outcome.x)
            same_features(learner, twin)
        elif method == "fit" and not outcome.always:
            learner = started(kind)
            call(learner, fresh(hostile))
            assert learner.n_samples_seen_ == 4
        else:
            check(kind, outcome, call, fresh(hostile))


# Outcomes of one round ----------------------------------------------------------------------

SQUARE = "its square overflows float64"

SCALARS: dict[str, Case] = {
    "None": (None, bad_y("y = None", FLOAT)),
    "nan": (NAN, bad_y("y = nan", IMPUTE)),
    "inf": (INF, bad_y("y = inf", IMPUTE)),
    "-inf": (-INF, bad_y("y = -inf", IMPUTE)),
    "np.float64 nan": (np.float64("nan"), bad_y("y = nan", IMPUTE)),
    "1e300": (1e300, bad_y("y = 1e+300", SQUARE, "rescale the outcomes")),
    "-1e155": (-1e155, bad_y("y = -1e+155", SQUARE, "rescale the outcomes")),
    "10^200": (2**600, bad_y("y = 4.14951556888099", SQUARE, "rescale")),
    "text": ("abc", bad_y("y = 'abc'", "(str)", FLOAT)),
    "numeric text": ("1.5", bad_y("y = '1.5'", "(str)", FLOAT)),
    "np.str_": (np.str_("1"), bad_y("y = np.str_('1')", FLOAT)),
    "bytes": (b"1", bad_y("y = b'1'", FLOAT)),
    "complex": (1 + 0j, bad_y("y = (1+0j)", "(complex)", FLOAT)),
    "np.complex128": (np.complex128(1), bad_y("y = ", "(complex)", FLOAT)),
    "2^53 + 1": (2**53 + 1, bad_y("y = 9007199254740993", DIGITS)),
    "np.int64 2^53 + 1": (np.int64(2**53 + 1), bad_y("9007199254740993", DIGITS)),
    "10^400": (10**400, bad_y("y = 10^400", DIGITS)),
    "10^5000": (10**5000, bad_y("y = 10^5000", DIGITS)),
    "pd.NA": (pd.NA, bad_y("y = <NA>", FLOAT)),
    "pd.NaT": (pd.NaT, bad_y("y = NaT", FLOAT)),
    "np.ma.masked": (np.ma.masked, bad_y("y is masked", IMPUTE)),
    "datetime64": (DAY, bad_y("y = np.datetime64('2024-02-29')", FLOAT)),
    "timedelta64": (np.timedelta64(1), bad_y("y = np.timedelta64(1)", FLOAT)),
    "Decimal sNaN": (Decimal("sNaN"), bad_y("y = Decimal('sNaN')", IMPUTE)),
    "Fraction 10^400": (Fraction(10**400), bad_y("y = Fraction(1", IMPUTE)),
    "mapping": ({"y": 1.0}, bad_y("y = {'y': 1.0}", FLOAT)),
    "set": ({1.0}, bad_y("y = {1.0}", FLOAT)),
    "generator": (Anew(lambda: (v for v in (1.0,))), bad_y("y = <generator", FLOAT)),
    "a class that cannot be printed": (Rude(), bad_y("y = a Rude", FLOAT)),
    "vector": ([1.0, 2.0], bad_y("y = [1.0, 2.0]", "were numbers, keep to that", always=False)),
    "1-element list": ([1.0], bad_y("y = [1.0]", "were numbers, keep to that", always=False)),
    "1-element array": (np.array([1.0]), bad_y("y = array([1.])", "keep to that", always=False)),
    "empty list": ([], bad_y("y is empty", "at least one outcome")),
    "pandas Series": (pd.Series([1.0]), bad_y("y = 0 ", "keep to that", always=False)),
    "Polars Series": (pl.Series([1.0]), bad_y("y = ")),
    "integer": (2, Same(2.0)),
    "bool": (True, Same(1.0)),
    "np.bool_": (np.True_, Same(1.0)),
    "2^60": (2**60, Same(2.0**60)),
    "0-d array": (np.array(0.5), Same(0.5)),
    "np.float32": (np.float32(0.1), Same(float(np.float32(0.1)))),
    "np.float64": (np.float64(0.1), Same(0.1)),
    "Decimal": (Decimal("0.1"), Same(0.1)),
    "Fraction": (Fraction(1, 3), Same(1 / 3)),
    "denormal": (5e-324, Same(5e-324)),
    "2^511": (2**511, Same(2.0**511)),
    "zero": (0, Same(0.0)),
}
if WIDE_FLOAT:
    SCALARS["longdouble 1/3"] = (LONG(1) / 3, bad_y("y = ", "0.333", "round it first"))

VECTORS: dict[str, Case] = {
    "None": (None, bad_y("y = None", FLOAT)),
    "a number": (1.0, bad_y("y = 1.0", "were vectors of 2, keep to that", always=False)),
    "too long": ([1.0, 2.0, 3.0], bad_y("y = [1.0, 2.0, 3.0]", "vectors of 2", always=False)),
    "too short": ([1.0], bad_y("y = [1.0]", "vectors of 2", always=False)),
    "empty": ([], bad_y("y is empty", "at least one outcome")),
    "empty array": (np.array([]), bad_y("y is empty", "at least one outcome")),
    "nan": ([1.0, NAN], bad_y("y[1] = nan", IMPUTE)),
    "nan array": (np.array([NAN, 1.0]), bad_y("y[0] = nan", IMPUTE)),
    "inf": ([-INF, 1.0], bad_y("y[0] = -inf", IMPUTE)),
    "1e300": ([1.0, 1e300], bad_y("y[1] = 1e+300", SQUARE)),
    "None inside": ([None, 1.0], bad_y("y[0] = None", FLOAT)),
    "text": ("12", bad_y("y = '12'", FLOAT)),
    "text inside": ([1.0, "2"], bad_y("y[1] = '2'", FLOAT)),
    "bytes": (b"12", bad_y("y = b'12'", FLOAT)),
    "complex": ([1.0, 2 + 0j], bad_y("y[1] = (2+0j)", FLOAT)),
    "complex array": (np.array([1j, 2.0]), bad_y("y[0] = 1j", FLOAT)),
    "2^53 + 1": (np.array([2**53 + 1, 2]), bad_y("y[0] = 9007199254740993", DIGITS)),
    "(1, 2) array": (np.ones((1, 2)), bad_y("y has shape (1, 2)", "1-D vector")),
    "(2, 1) array": (np.ones((2, 1)), bad_y("y has shape (2, 1)", "1-D vector")),
    "nested list": ([[1.0, 2.0]], bad_y("y[0] = [1.0, 2.0]", FLOAT)),
    "masked": (masked([1.0, 2.0], [0, 1]), bad_y("y[1] is masked", IMPUTE)),
    "mapping": ({"u": 1.0, "v": 2.0}, bad_y("y = {'u': 1.0, 'v': 2.0}")),
    "set": ({1.0, 2.0}, bad_y("y = {1.0, 2.0}")),
    "pandas NA": (pd.Series([1, None], dtype="Int64"), bad_y("y[1] = <NA>", FLOAT)),
    "pandas frame": (
        pd.DataFrame({"u": [1.0], "v": [2.0]}),
        bad_y("y has shape (1, 2)", "1-D vector"),
    ),
    "list": ([1.0, 2.0], Same([1.0, 2.0])),
    "tuple of integers": ((1, 2), Same([1.0, 2.0])),
    "int array": (np.array([1, 2]), Same([1.0, 2.0])),
    "strided": (np.array([1.0, 9.0, 2.0])[::2], Same([1.0, 2.0])),
    "float32": (np.array([0.5, 2], np.float32), Same([0.5, 2.0])),
    "object array": (np.array([Decimal("0.1"), True], object), Same([0.1, 1.0])),
    "read-only": (read_only([1.0, 2.0]), Same([1.0, 2.0])),
    "pandas Series": (pd.Series([1.0, 2.0], index=["u", "v"]), Same([1.0, 2.0])),
}


def learn_outcome(kind: Kind) -> Callable[[Any, Any], Any]:
    return lambda learner, y: learner.learn_one(kind.x(GOOD), y)


@some_kinds([name for name, kind in KINDS.items() if not kind.outcomes])
@cases(SCALARS)
def test_outcome_of_one_round(case: Case, kind: Kind) -> None:
    hostile, outcome = case
    check(kind, outcome, learn_outcome(kind), fresh(hostile))


@some_kinds([name for name, kind in KINDS.items() if kind.outcomes])
@cases(VECTORS)
def test_outcomes_of_one_round(case: Case, kind: Kind) -> None:
    hostile, outcome = case
    check(kind, outcome, learn_outcome(kind), fresh(hostile))


FIRST_OUTCOMES = {
    name: case
    for name, case in {**SCALARS, **VECTORS}.items()
    if isinstance(case[1], Refused) and case[1].always
}


@cases(FIRST_OUTCOMES)
def test_a_refused_first_outcome_leaves_the_learner_fresh(case: Case) -> None:
    hostile, outcome = case
    learner, twin = nr.AAR(0.5), nr.AAR(0.5)
    refused(outcome, lambda: learner.learn_one(np.array(GOOD), fresh(hostile)))
    refused(outcome, lambda: learner.learn_one(named(), fresh(hostile)))
    stays_fresh(learner, twin)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_a_bad_outcome_brings_no_new_name(kind: Kind) -> None:
    """The features are new and good, the outcome is not: the names must stay new."""
    x = named(new=1.0) if kind.named else np.array(GOOD)
    check(kind, bad_y("y = None"), lambda learner, y: learner.learn_one(x, y), None)


# Outcomes of many rounds --------------------------------------------------------------------

FOUR = "4 rows of X need 4 outcomes"

COLUMNS: dict[str, Case] = {
    "missing": (None, bad_y("y is missing", "every round needs its outcome")),
    "too short": (COLUMN[:3], bad_y("y has shape (3,)", FOUR)),
    "too long": (np.zeros(5), bad_y("y has shape (5,)", FOUR)),
    "(1, T)": (np.array([COLUMN]), bad_y("y has shape (1, 4)", FOUR)),
    "(1, T) list": ([COLUMN], bad_y("y has shape (1, 4)", FOUR)),
    "(T, 0)": (np.empty((4, 0)), bad_y("y has shape (4, 0)", FOUR)),
    "(T, 1, 1)": (np.zeros((4, 1, 1)), bad_y("y has shape (4, 1, 1)", FOUR)),
    "a number": (1.0, bad_y("y = 1.0", "give one a row of X")),
    "text": ("abcd", bad_y("y = 'abcd'", "give one a row of X")),
    "mapping": ({"y": COLUMN}, bad_y("y = {'y'", "give one a row of X")),
    "set": (set(COLUMN), bad_y("y = {", "give one a row of X")),
    "generator": (Anew(lambda: iter(COLUMN)), bad_y("iterator", "give one a row of X")),
    "nan": ([0.5, NAN, 0.0, 1.0], bad_y("y[1] = nan", IMPUTE)),
    "nan array": (np.array([0.5, 1.0, NAN, 1.0]), bad_y("y[2] = nan", IMPUTE)),
    "inf": ([0.5, 0.0, 1.0, -INF], bad_y("y[3] = -inf", IMPUTE)),
    "1e300": ([0.5, 1e300, 0.0, 1.0], bad_y("y[1] = 1e+300", SQUARE)),
    "None inside": ([0.5, None, 0.0, 1.0], bad_y("y[1] = None", FLOAT)),
    "nothing but None": ([None] * 4, bad_y("y[0] = None", FLOAT)),
    "text inside": ([0.5, "1", 0.0, 1.0], bad_y("y[1] = '1'", FLOAT)),
    "list of text": (list("1234"), bad_y("y[0] = '1'", FLOAT)),
    "array of text": (np.array(list("1234")), bad_y("y holds <U1", "'1'", FLOATS)),
    "complex": ([0.5, 0.0, 1 + 0j, 1.0], bad_y("y[2] = (1+0j)", FLOAT)),
    "complex array": (np.array(COLUMN) + 0j, bad_y("y holds complex128", FLOATS)),
    "dates": (np.array([DAY] * 4), bad_y("y holds datetime64", FLOATS)),
    "2^53 + 1": ([1, 2, 3, 2**53 + 1], bad_y("y[3] = 9007199254740993", DIGITS)),
    "2^53 + 1 in an array": (np.array([2**53 + 1, 2, 3, 4]), bad_y("y[0] = 9", DIGITS)),
    "ragged": ([[1.0], [1.0, 2.0], [1.0], [1.0]], bad_y("y[1] has 2", "of one length")),
    "numbers and lists": ([1.0, [2.0], 3.0, 4.0], bad_y("y[0] = 1.0", "row of numbers")),
    "masked": (masked(COLUMN, [0, 1, 0, 0]), bad_y("y has masked entries", "impute")),
    "np.ma.masked inside": ([1.0, np.ma.masked, 2.0, 3.0], bad_y("y[1] is masked")),
    "pandas NA": (pd.Series([1, None, 2, 3], dtype="Int64"), bad_y("y[1] =")),
    "pandas text": (pd.Series(list("1234")), bad_y("y[0] = '1'", FLOAT)),
    "Polars null": (pl.Series([1.0, None, 2.0, 3.0]), bad_y("y[1] = nan", IMPUTE)),
    "Polars text": (pl.Series(list("1234")), bad_y("y holds", "'1'", FLOATS)),
    "frame with text": (
        pd.DataFrame({"u": COLUMN, "v": list("1234")}),
        bad_y("y['v'][0] = '1'", FLOAT),
    ),
    "frame with 2^53 + 1 beside floats": (
        pl.DataFrame({"u": COLUMN, "v": [1, 2, 3, 2**53 + 1]}),
        bad_y("y['v'][3] = 9007199254740993", DIGITS),
    ),
}
SCALAR_COLUMNS: dict[str, Case] = {
    **COLUMNS,
    "(T, 1)": (
        np.array(COLUMN)[:, None],
        bad_y("y has shape (4, 1)", "were numbers", "(4,)", always=False),
    ),
    "(T, 2)": (np.zeros((4, 2)), bad_y("y has shape (4, 2)", "were numbers", "(4,)", always=False)),
    "frame of one column": (
        pd.DataFrame({"y": COLUMN}),
        bad_y("y has shape (4, 1)", "were numbers", "(4,)", always=False),
    ),
    "list": (list(COLUMN), Same(np.array(COLUMN))),
    "tuple": (tuple(COLUMN), Same(np.array(COLUMN))),
    "integers": (range(4), Same(np.arange(4.0))),
    "bools": ([True, False, True, True], Same(np.array([1.0, 0.0, 1.0, 1.0]))),
    "float32": (np.array(COLUMN, np.float32), Same(np.array(COLUMN))),
    "big-endian": (np.array(COLUMN, ">f8"), Same(np.array(COLUMN))),
    "strided": (np.repeat(COLUMN, 2)[::2], Same(np.array(COLUMN))),
    "read-only": (read_only(COLUMN), Same(np.array(COLUMN))),
    "unaligned": (unaligned(COLUMN), Same(np.array(COLUMN))),
    "object array": (np.array(COLUMN, object), Same(np.array(COLUMN))),
    "Decimals": ([Decimal(v) for v in COLUMN], Same(np.array(COLUMN))),
    "pandas Series": (pd.Series(COLUMN), Same(np.array(COLUMN))),
    "pandas Series, odd index": (pd.Series(COLUMN, index=[3, 1, 2, 0]), Same(np.array(COLUMN))),
    "pandas Float64": (pd.Series(COLUMN, dtype="Float64"), Same(np.array(COLUMN))),
    "Polars Series": (pl.Series(COLUMN), Same(np.array(COLUMN))),
}
PAIRS = np.column_stack([COLUMN, COLUMN[::-1]])
VECTOR_COLUMNS: dict[str, Case] = {
    **COLUMNS,
    "(T,)": (COLUMN, bad_y("y has shape (4,)", "vectors of 2", "(4, 2)", always=False)),
    "(T, 3)": (
        np.zeros((4, 3)),
        bad_y("y has shape (4, 3)", "vectors of 2", "(4, 2)", always=False),
    ),
    "lists": (PAIRS.tolist(), Same(PAIRS)),
    "list of arrays": (list(PAIRS), Same(PAIRS)),
    "Fortran order": (np.asfortranarray(PAIRS), Same(PAIRS)),
    "read-only": (read_only(PAIRS), Same(PAIRS)),
    "pandas frame": (pd.DataFrame(PAIRS), Same(PAIRS)),
    "Polars frame": (pl.DataFrame(PAIRS), Same(PAIRS)),
}

LEARNING = ("partial_fit", "replay", "fit")
learning = pytest.mark.parametrize("method", LEARNING)


def check_columns(case: Case, kind: Kind, method: str) -> None:
    hostile, outcome = case

    def call(learner: Any, y: Any) -> Any:
        return getattr(learner, method)(kind.table(TABLE), y)

    if method == "fit" and isinstance(outcome, Refused) and not outcome.always:
        learner = started(kind)
        call(learner, fresh(hostile))
        assert learner.n_samples_seen_ == 4
    else:
        check(kind, outcome, call, fresh(hostile))


@some_kinds([name for name, kind in KINDS.items() if not kind.outcomes])
@cases(SCALAR_COLUMNS)
def test_outcomes_of_many_rounds(case: Case, kind: Kind) -> None:
    for method in LEARNING:
        check_columns(case, kind, method)


@some_kinds([name for name, kind in KINDS.items() if kind.outcomes])
@cases(VECTOR_COLUMNS)
def test_vectors_of_outcomes_of_many_rounds(case: Case, kind: Kind) -> None:
    for method in LEARNING:
        check_columns(case, kind, method)


# All or nothing -----------------------------------------------------------------------------


@batch
def test_a_batch_of_no_rounds(method: str) -> None:
    learner = nr.Ridge().fit(TABLE, COLUMN)
    before = state_bytes(learner)
    if method == "predict":
        assert learner.predict(np.empty((0, 3))).shape == (0,)
    else:
        refused(
            bad_x("X ", "give at least one"),
            lambda: getattr(learner, method)(np.empty((0, 3)), []),
        )
    assert state_bytes(learner) == before


@batch
def test_a_batch_of_no_features(method: str) -> None:
    learner = nr.Ridge()
    if method == "predict":
        with pytest.raises(NotLearnedError):
            learner.predict(np.empty((4, 0)))
    else:
        refused(
            bad_x("X has shape (4, 0)", "at least one row and one feature"),
            lambda: getattr(learner, method)(np.empty((4, 0)), COLUMN),
        )
    assert state_bytes(learner) == b"fresh"


@learning
@pytest.mark.parametrize("drift", [0.0, 0.1])
@pytest.mark.parametrize("bad", ["X", "y"])
def test_a_bad_row_in_the_middle_of_many_changes_nothing(
    bad: str, drift: float, method: str
) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(500, 5)), rng.normal(size=500)
    learner, twin = (nr.AAR(0.3, drift=drift).fit(X[:50], y[:50]) for _ in range(2))
    spoiled_X, spoiled_y = X.copy(), y.copy()
    if bad == "X":
        spoiled_X[250, 2] = NAN
        outcome = bad_x("X[250, 2] = nan", IMPUTE)
    else:
        spoiled_y[250] = INF
        outcome = bad_y("y[250] = inf", IMPUTE)
    before = state_bytes(learner)
    refused(outcome, lambda: getattr(learner, method)(spoiled_X, spoiled_y))
    assert state_bytes(learner) == before
    assert bits(learner.replay(X, y)) == bits(twin.replay(X, y))


@learning
@pytest.mark.parametrize(("n", "drift"), [(3, 0.0), (3, 0.1), (200, 0.0)])
def test_an_overflow_in_the_middle_of_many_changes_nothing(
    n: int, drift: float, method: str
) -> None:
    """Finite rows whose look does not fit in float64, in the compiled loops and in blocks."""
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(300, n)), rng.normal(size=300)
    X[:, -1] = 0.0
    learner, twin = (nr.Ridge(1e-300, drift=drift).fit(X[:20], y[:20]) for _ in range(2))
    spoiled = X.copy()
    spoiled[150, -1] = 1e300
    before = state_bytes(learner)
    outcome = Refused(NumericalError, ("row 150", "does not fit in float64", "rescale", "1e-300"))
    refused(outcome, lambda: getattr(learner, method)(spoiled, y))
    assert state_bytes(learner) == before
    assert bits(learner.replay(X, y)) == bits(twin.replay(X, y))
    assert state_bytes(learner) == state_bytes(twin)


@one_at_a_time
@pytest.mark.parametrize("drift", [0.0, 0.1])
@pytest.mark.parametrize("by_name", [False, True])
def test_an_overflow_of_one_round_changes_nothing(by_name: bool, drift: float, method: str) -> None:
    """One forecast too large for float64; a new name that overflows stays new."""
    kind = Kind(lambda: nr.Ridge(1e-300, drift=drift), named=by_name)
    x = named(new=1e300) if by_name else np.array([1.0, 2.0, 1e300])
    first, second = ([1.0, 2.0, 0.0], [2.0, -1.0, 0.0])
    learner, twin = kind.make(), kind.make()
    for each in (learner, twin):
        for values in (first, second):
            each.learn_one(kind.x(values), 1.0)
        each.predict_one(kind.x(first))
    before = state_bytes(learner)
    outcome = Refused(NumericalError, ("does not fit in float64", "rescale the features"))
    refused(outcome, lambda: call_one(method, kind)(learner, x))
    assert state_bytes(learner) == before
    for each in (learner, twin):
        each.learn_one(kind.x(first), -1.0)
    assert state_bytes(learner) == state_bytes(twin)


@pytest.mark.parametrize("drift", [0.0, 0.1])
def test_a_batch_forecast_at_an_unknown_name_that_overflows(drift: float) -> None:
    """As one at a time: the spread does not fit in float64, and nothing warns or answers inf."""
    learner = nr.Ridge(1e-300, drift=drift)
    learner.learn_one({"a": 1.0}, 1.0)
    before = state_bytes(learner)
    outcome = Refused(NumericalError, ("does not fit in float64", "rescale the features"))
    refused(outcome, lambda: learner.predict_one({"a": 1.0, "new": 1e300}))
    refused(outcome, lambda: learner.predict([{"a": 1.0}, {"a": 1.0, "new": 1e300}]))
    assert state_bytes(learner) == before


@pytest.mark.parametrize("drift", [0.0, 0.1])
@pytest.mark.parametrize("method", ["predict", "replay"])
def test_an_overflow_leaves_no_stale_look_behind(method: str, drift: float) -> None:
    """The row that overflowed must be refused again, not met with the look at another row."""
    learner, twin = nr.Ridge(1e-300, drift=drift), nr.Ridge(1e-300, drift=drift)
    bad, good = np.array([1e300, 1.0, 2.0]), np.array([1.0, 0.0, 0.0])
    for each in (learner, twin):
        each.learn_one(np.zeros(3), 1.0)
        each.predict_one(good)
    outcome = Refused(NumericalError, ("does not fit in float64", "rescale the features"))
    arguments = ([bad],) if method == "predict" else ([bad], [1.0])
    refused(outcome, lambda: getattr(learner, method)(*arguments))
    refused(outcome, lambda: learner.predict_one(bad))
    refused(outcome, lambda: getattr(learner, method)(*arguments))
    refused(outcome, lambda: learner.learn_one(bad, 1.0))
    for each in (learner, twin):
        each.learn_one(good, 1.0)
    assert state_bytes(learner) == state_bytes(twin)


def test_read_only_rows_in_blocks() -> None:
    """Memory-mapped and shared arrays are read-only; from n = 160 on BLAS reads them."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(300, 200)), rng.normal(size=300)
    learner, twin = nr.Ridge(), nr.Ridge()
    assert bits(learner.replay(read_only(X), read_only(y))) == bits(twin.replay(X, y))
    assert state_bytes(learner) == state_bytes(twin)


def test_the_callers_arrays_are_never_written_to() -> None:
    X, y = TABLE.copy(), np.array(COLUMN)
    x = np.array(GOOD)
    for drift in (0.0, 0.1):
        learner = nr.AAR(drift=drift, fit_intercept=True)
        learner.fit(X, y).predict(X)
        learner.learn_one(x, 1.0)
    assert np.array_equal(X, TABLE)
    assert y.tolist() == COLUMN
    assert x.tolist() == GOOD


def test_a_learner_keeps_nothing_of_the_callers_arrays() -> None:
    """An array that the caller changes after the call is another x."""
    x = np.array(GOOD)
    learner, twin = nr.AAR(), nr.AAR()
    for each in (learner, twin):
        each.learn_one(np.array([0.5, 1.0, 0.0]), 1.0)
    learner.predict_one(x)
    x[:] = [3.0, 0.0, 1.0]
    learner.learn_one(x, 1.0)
    twin.learn_one(x.copy(), 1.0)
    assert state_bytes(learner) == state_bytes(twin)
    point = named()
    learner, twin = nr.AAR(), nr.AAR()
    for each in (learner, twin):
        each.learn_one(named(a=0.5), 1.0)
    learner.predict_one(point)
    point["a"] = 7.0
    learner.learn_one(point, 1.0)
    twin.learn_one(dict(point), 1.0)
    assert state_bytes(learner) == state_bytes(twin)


def test_a_pandas_row_may_have_a_feature_called_columns() -> None:
    learner, twin = nr.Ridge(), nr.Ridge()
    values = {"columns": 1.0, "index": 2.0, "shape": 3.0}
    learner.learn_one(pd.Series(values), 1.0)
    twin.learn_one(values, 1.0)
    assert state_bytes(learner) == state_bytes(twin)


@pytest.mark.parametrize("drift", [-1.0, NAN, INF, None, "0.1", 1j])
def test_a_drift_that_makes_no_sense_is_refused_when_it_is_asked_for(drift: Any) -> None:
    """A function of t whose value at some round is no drift: that round is refused."""
    schedule = {"now": 0.1}
    learner, twin = (nr.Ridge(drift=lambda _: schedule["now"]) for _ in range(2))
    for each in (learner, twin):
        for x in TABLE:
            each.learn_one(x, 1.0)
    before = state_bytes(learner)
    schedule["now"] = drift
    for call in (
        lambda: learner.learn_one(np.array(GOOD), 1.0),
        lambda: learner.replay(TABLE, COLUMN),
    ):
        with pytest.raises(ParameterError, match=r"drift\(6\) = .*: a drift must be"):
            call()
    assert state_bytes(learner) == before
    schedule["now"] = 0.1
    assert bits(learner.replay(TABLE, COLUMN)) == bits(twin.replay(TABLE, COLUMN))


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_many_refusals_in_a_row_change_nothing(kind: Kind) -> None:
    """All of them, one after another, on one learner."""
    learner, twin = started(kind), started(kind)
    table = MAPPINGS if kind.named else ROWS
    before, refusals = state_bytes(learner), 0
    for hostile, outcome in table.values():
        if isinstance(outcome, Refused):
            for call in (learner.predict_one, lambda x: learner.learn_one(x, kind.y(1.0))):
                with contextlib.suppress(FeatureError):
                    call(fresh(hostile))
                    pytest.fail(f"not refused: {outcome}")
                refusals += 1
    assert refusals > 40
    assert state_bytes(learner) == before
    assert go_on(learner, kind) == go_on(twin, kind)
