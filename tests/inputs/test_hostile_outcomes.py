"""Hostile outcomes of one round, numbers and vectors, in mid-stream and at the start."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

import noregret as nr
from hostile import (
    DIGITS,
    FLOAT,
    IMPUTE,
    SCALAR,
    SQUARE,
    VECTORIAL,
    Anew,
    Case,
    Kind,
    Same,
    bad_y,
    cases,
    check,
    every_kind,
    first_calls,
    fresh,
    refused,
    some_kinds,
    stays_fresh,
)
from hostile_inputs import DAY, GOOD, INF, LONG, NAN, WIDE_FLOAT, Rude, masked, named, read_only

EMPTY = bad_y("y is empty", "at least one outcome")

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
    "timedelta64": (np.timedelta64(1, "s"), bad_y("y = np.timedelta64(1,'s')", FLOAT)),
    "Decimal sNaN": (Decimal("sNaN"), bad_y("y = Decimal('sNaN')", IMPUTE)),
    "Fraction 10^400": (Fraction(10**400), bad_y("y = Fraction(1", IMPUTE)),
    "mapping": ({"y": 1.0}, bad_y("y = {'y': 1.0}", FLOAT)),
    "set": ({1.0}, bad_y("y = {1.0}", FLOAT)),
    "generator": (Anew(lambda: (v for v in (1.0,))), bad_y("y = <generator", FLOAT)),
    "a class that cannot be printed": (Rude(), bad_y("y = a Rude", FLOAT)),
    "vector": ([1.0, 2.0], bad_y("y = [1.0, 2.0]", "were numbers, keep to that", always=False)),
    "1-element list": ([1.0], bad_y("y = [1.0]", "were numbers, keep to that", always=False)),
    "1-element array": (np.array([1.0]), bad_y("y = array([1.])", "keep to that", always=False)),
    "empty list": ([], EMPTY),
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
    "None": SCALARS["None"],
    "a number": (1.0, bad_y("y = 1.0", "were vectors of 2, keep to that", always=False)),
    "too long": ([1.0, 2.0, 3.0], bad_y("y = [1.0, 2.0, 3.0]", "vectors of 2", always=False)),
    "too short": ([1.0], bad_y("y = [1.0]", "vectors of 2", always=False)),
    "empty": ([], EMPTY),
    "empty array": (np.array([]), EMPTY),
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


@some_kinds(SCALAR)
@cases(SCALARS)
def test_outcome_of_one_round(case: Case, kind: Kind) -> None:
    hostile, outcome = case
    check(kind, outcome, learn_outcome(kind), fresh(hostile))


@some_kinds(VECTORIAL)
@cases(VECTORS)
def test_outcomes_of_one_round(case: Case, kind: Kind) -> None:
    hostile, outcome = case
    check(kind, outcome, learn_outcome(kind), fresh(hostile))


@cases(first_calls({**SCALARS, **VECTORS}))
def test_a_refused_first_outcome_leaves_the_learner_fresh(case: Case) -> None:
    hostile, outcome = case
    learner, twin = nr.AAR(0.5), nr.AAR(0.5)
    refused(outcome, lambda: learner.learn_one(np.array(GOOD), fresh(hostile)))
    refused(outcome, lambda: learner.learn_one(named(), fresh(hostile)))
    stays_fresh(learner, twin)


@every_kind
def test_a_bad_outcome_brings_no_new_name(kind: Kind) -> None:
    """The features are new and good, the outcome is not: the names must stay new."""
    x = named(new=1.0) if kind.named else np.array(GOOD)
    check(kind, bad_y("y = None"), lambda learner, y: learner.learn_one(x, y), None)
