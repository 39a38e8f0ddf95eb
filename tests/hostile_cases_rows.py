"""One round by position: features that are no numbers, no row or no float64, and odd good ones."""

from __future__ import annotations

import array
import datetime as dt
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl

from hostile import (
    DIGITS,
    FLOAT,
    FLOATS,
    IMPUTE,
    ONE_ROUND,
    POSITIONS,
    RESCALE,
    VECTOR,
    Anew,
    Case,
    Same,
    bad_x,
)
from hostile_inputs import (
    DAY,
    GOOD,
    INF,
    LONG,
    NAMES,
    NAN,
    WIDE_FLOAT,
    Rude,
    Subclass,
    masked,
    matrix,
    read_only,
    unaligned,
)

HAS_NAMES = bad_x("x has names", "give arrays", always=False)
TWO_ROWS = bad_x("x is a frame of 2 rows", "use predict")

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
        [np.timedelta64(1, "s"), 2.0, 3.0],
        bad_x("x[0] = np.timedelta64(1,'s')", FLOAT),
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
        bad_x("x has 4 features, but it is expecting 3 features", POSITIONS, always=False),
    ),
    "too narrow": (
        np.array([1.0, 2.0]),
        bad_x("x has 2 features, but it is expecting 3 features", POSITIONS, always=False),
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
        HAS_NAMES,
    ),
    "empty mapping": ({}, HAS_NAMES),
    "pandas Series with names": (
        pd.Series(GOOD, index=list(NAMES)),
        HAS_NAMES,
    ),
    "pandas frame of one row": (
        pd.DataFrame([GOOD], columns=list(NAMES)),
        HAS_NAMES,
    ),
    "Polars frame of one row": (
        pl.DataFrame({"a": [1.0], "b": [2.0], "c": [3.0]}),
        HAS_NAMES,
    ),
    "pandas frame of two rows": (
        pd.DataFrame([GOOD, GOOD], columns=list(NAMES)),
        TWO_ROWS,
    ),
    "pandas frame of two rows without names": (
        pd.DataFrame([GOOD, GOOD]),
        TWO_ROWS,
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
