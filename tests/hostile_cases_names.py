"""One round by name: each hostile value in several places of a mapping, and odd mappings."""

from __future__ import annotations

from collections import ChainMap, OrderedDict, UserDict
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl

from hostile import DIGITS, FLOAT, IMPUTE, RESCALE, Case, Same, bad_x
from hostile_cases_rows import ROWS
from hostile_inputs import DAY, GOOD, INF, LONG, NAMES, NAN, WIDE_FLOAT, Rude, named

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
    "timedelta64": (np.timedelta64(1, "s"), ("np.timedelta64(1,'s')", FLOAT)),
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
    "pandas frame of two rows": ROWS["pandas frame of two rows"],
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
