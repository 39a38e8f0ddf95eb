"""Hostile features of many rounds by name: frames of pandas and Polars, lists of mappings."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from hostile import (
    BY_NAME,
    DIGITS,
    FLOAT,
    FLOATS,
    IMPUTE,
    MANY,
    RESCALE,
    TWO_D,
    Case,
    Kind,
    Same,
    bad_x,
    call_many,
    cases,
    check_many,
    fresh,
    some_kinds,
    started,
)
from hostile_inputs import GOOD, NAMES, NAN, TABLE, named


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
        else:
            check_many(kind, outcome, call, method, fresh(hostile))
