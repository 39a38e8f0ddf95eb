"""Hostile features of many rounds by position: arrays, lists and frames without names."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl

from hostile import (
    BY_POSITION,
    DIGITS,
    FLOAT,
    FLOATS,
    IMPUTE,
    MANY,
    POSITIONS,
    RESCALE,
    TWO_D,
    Anew,
    Case,
    Kind,
    Same,
    bad_x,
    call_many,
    cases,
    check_many,
    fresh,
    some_kinds,
)
from hostile_inputs import (
    DAY,
    GOOD,
    INF,
    LONG,
    NAMES,
    NAN,
    TABLE,
    changed,
    changed_array,
    masked,
    matrix,
    named,
    read_only,
    unaligned,
)

HAS_NAMES = bad_x("X has names", "give arrays", always=False)

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
        bad_x("X has 4 features, but it is expecting 3 features", POSITIONS, always=False),
    ),
    "too narrow": (
        TABLE[:, :2],
        bad_x("X has 2 features, but it is expecting 3 features", POSITIONS, always=False),
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
    "mappings": ([named()] * 4, HAS_NAMES),
    "pandas frame with names": (
        pd.DataFrame(TABLE, columns=list(NAMES)),
        HAS_NAMES,
    ),
    "Polars frame": (
        pl.DataFrame(TABLE, schema=list(NAMES)),
        HAS_NAMES,
    ),
    "pandas rows with names": (
        [pd.Series(x, index=list(NAMES)) for x in TABLE],
        HAS_NAMES,
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


@some_kinds(BY_POSITION)
@cases(TABLES)
def test_many_rounds_by_position(case: Case, kind: Kind) -> None:
    hostile, outcome = case
    for method in MANY:
        check_many(kind, outcome, call_many(method, kind), method, fresh(hostile))
