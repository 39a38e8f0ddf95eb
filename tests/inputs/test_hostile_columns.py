"""Hostile outcomes of many rounds, columns of numbers and of vectors."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from hostile import (
    DIGITS,
    FLOAT,
    FLOATS,
    IMPUTE,
    LEARNING,
    SCALAR,
    SQUARE,
    VECTORIAL,
    Anew,
    Case,
    Kind,
    Same,
    bad_y,
    cases,
    check_many,
    fresh,
    some_kinds,
)
from hostile_inputs import COLUMN, DAY, INF, NAN, TABLE, masked, read_only, unaligned

FOUR = "4 rows of X need 4 outcomes"

COLUMNS: dict[str, Case] = {
    "missing": (None, bad_y("y is missing", "every round needs its outcome")),
    "too short": (COLUMN[:3], bad_y("y has shape (3,)", FOUR)),
    "too long": (np.zeros(5), bad_y("y has shape (5,)", FOUR)),
    "(1, T)": (np.array([COLUMN]), bad_y("y has shape (1, 4)", FOUR)),
    "(1, T) list": ([COLUMN], bad_y("y has shape (1, 4)", FOUR)),
    "(T, 0)": (np.empty((4, 0)), bad_y("y has shape (4, 0)", FOUR)),
    "(T, 1, 1)": (np.zeros((4, 1, 1)), bad_y("y has shape (4, 1, 1)", FOUR)),
    "a number": (1.0, bad_y("y = 1.0", "give one per row of X")),
    "text": ("abcd", bad_y("y = 'abcd'", "give one per row of X")),
    "mapping": ({"y": COLUMN}, bad_y("y = {'y'", "give one per row of X")),
    "set": (set(COLUMN), bad_y("y = {", "give one per row of X")),
    "generator": (Anew(lambda: iter(COLUMN)), bad_y("iterator", "give one per row of X")),
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

ONE_COLUMN = bad_y("y has shape (4, 1)", "were numbers", "(4,)", always=False)
PLAIN = Same(np.array(COLUMN))
SCALAR_COLUMNS: dict[str, Case] = {
    **COLUMNS,
    "(T, 1)": (
        np.array(COLUMN)[:, None],
        ONE_COLUMN,
    ),
    "(T, 2)": (np.zeros((4, 2)), bad_y("y has shape (4, 2)", "were numbers", "(4,)", always=False)),
    "frame of one column": (
        pd.DataFrame({"y": COLUMN}),
        ONE_COLUMN,
    ),
    "list": (list(COLUMN), PLAIN),
    "tuple": (tuple(COLUMN), PLAIN),
    "integers": (range(4), Same(np.arange(4.0))),
    "bools": ([True, False, True, True], Same(np.array([1.0, 0.0, 1.0, 1.0]))),
    "float32": (np.array(COLUMN, np.float32), PLAIN),
    "big-endian": (np.array(COLUMN, ">f8"), PLAIN),
    "strided": (np.repeat(COLUMN, 2)[::2], PLAIN),
    "read-only": (read_only(COLUMN), PLAIN),
    "unaligned": (unaligned(COLUMN), PLAIN),
    "object array": (np.array(COLUMN, object), PLAIN),
    "Decimals": ([Decimal(v) for v in COLUMN], PLAIN),
    "pandas Series": (pd.Series(COLUMN), PLAIN),
    "pandas Series, odd index": (pd.Series(COLUMN, index=[3, 1, 2, 0]), PLAIN),
    "pandas Float64": (pd.Series(COLUMN, dtype="Float64"), PLAIN),
    "Polars Series": (pl.Series(COLUMN), PLAIN),
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


def check_columns(case: Case, kind: Kind, method: str) -> None:
    hostile, outcome = case

    def call(learner: Any, y: Any) -> Any:
        return getattr(learner, method)(kind.table(TABLE), y)

    check_many(kind, outcome, call, method, fresh(hostile))


@some_kinds(SCALAR)
@cases(SCALAR_COLUMNS)
def test_outcomes_of_many_rounds(case: Case, kind: Kind) -> None:
    for method in LEARNING:
        check_columns(case, kind, method)


@some_kinds(VECTORIAL)
@cases(VECTOR_COLUMNS)
def test_vectors_of_outcomes_of_many_rounds(case: Case, kind: Kind) -> None:
    for method in LEARNING:
        check_columns(case, kind, method)
