"""Rows on their way from Spark to learners: exactly right, or named; no Spark is needed for it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

import noregret as nr
from noregret.adapters import spark
from noregret.adapters.spark.blocks import checked_shards, shards_of
from noregret.adapters.spark.columns import Columns
from noregret.errors import InputError, MergeError

NAN, INF = float("nan"), float("inf")
SCHEMA = {
    "shop": "string",
    "day": "int",
    "a": "double",
    "k": "bigint",
    "x": "array<double>",
    "y": "double",
    "price": "decimal(10,2)",
}


def frame(**types: str) -> Any:
    """As much of a DataFrame as its schema."""
    fields = [
        SimpleNamespace(name=name, dataType=SimpleNamespace(simpleString=lambda kind=kind: kind))
        for name, kind in types.items()
    ]
    return SimpleNamespace(schema=SimpleNamespace(fields=fields))


def columns(**options: Any) -> Columns:
    given = {"features": ["a", "k"], "target": "y", "width": None, **options}
    return Columns.of(frame(**SCHEMA), given.pop("features"), given.pop("target"), **given)


KEYED = {"key": "shop", "order_by": "day"}


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"features": ["A"]}, "features: the DataFrame has no column 'A'; did you mean 'a'?"),
        ({"features": ["shop"]}, "column 'shop' is of type string, which is none of tinyint"),
        ({"features": ["price"]}, "cast it first"),
        ({"features": "x"}, "give width="),
        ({"features": "a", "width": 2}, "column 'a' is of type double, which is none of array<"),
        ({"width": 2}, "width is for one column of vectors: leave it out"),
        ({"features": ["a", "y"]}, "'y' is the target or the key"),
        ({"features": []}, "features = []: give names of columns"),
        ({"features": ["a", "a"]}, "a column occurs twice"),
        ({"target": "z"}, "target: the DataFrame has no column 'z'"),
        ({"key": "a"}, "key: column 'a' is of type double, which is none of string"),
        ({"key": "shop", "order_by": ["day", "Day"]}, "order_by: the DataFrame has no column"),
    ],
)
def test_wrong_columns_are_named(options: Any, why: str) -> None:
    with pytest.raises(InputError) as refusal:
        columns(**options)
    assert why in str(refusal.value)


def batch(*rows: Any) -> Any:
    kinds = [
        pa.string(),
        pa.int32(),
        pa.float64(),
        pa.int64(),
        pa.list_(pa.float64()),
        pa.float64(),
    ]
    parts = [pa.array(part, kind) for part, kind in zip(zip(*rows, strict=True), kinds)]
    return pa.RecordBatch.from_arrays(parts, ["shop", "day", "a", "k", "x", "y"])


RIGHT = ("s", 1, 1.5, 2**53, [1.0, 2.0], 3.0)


def test_right_rows_as_arrays() -> None:
    rows = batch(RIGHT, ("t", 2, -1.0, -(2**53), [3.0, 4.0], 0.0))
    read = columns(**KEYED).read(rows)
    assert_array_equal(read.X, [[1.5, 2.0**53], [-1.0, -(2.0**53)]])
    assert_array_equal(read.y, [3.0, 0.0])
    assert (read.keys.tolist(), read.wrong, read.right().tolist()) == (["s", "t"], {}, [True] * 2)
    vectors = columns(features="x", width=2).read(rows)
    assert_array_equal(vectors.X, [[1.0, 2.0], [3.0, 4.0]])
    assert vectors.keys is None
    sliced = columns(features="x", width=2).read(rows.slice(1))
    assert_array_equal(sliced.X, [[3.0, 4.0]])


@pytest.mark.parametrize(
    ("place", "value", "why"),
    [
        ("a", None, "X['a'] is null"),
        ("a", NAN, "X['a'] = nan: only finite numbers"),
        ("a", -INF, "X['a'] = -inf: only finite numbers"),
        ("a", 1e302, "X['a'] = 1e+302 is beyond 2^1000"),
        ("k", None, "X['k'] is null"),
        ("k", 2**53 + 1, "an integer that float64 cannot hold"),
        ("y", None, "'y' is null"),
        ("y", NAN, "'y' = nan: only finite numbers"),
        ("y", 1e200, "'y' = 1e+200: its square overflows"),
    ],
)
def test_a_wrong_row_is_named_and_the_others_are_read(place: str, value: Any, why: str) -> None:
    slot = ["shop", "day", "a", "k", "x", "y"].index(place)
    row = [*RIGHT[:slot], value, *RIGHT[slot + 1 :]]
    for options, where in ((KEYED, "key 's', row with day = 1: "), ({}, "row 11 of it: ")):
        read = columns(**options).read(batch(RIGHT, row, RIGHT), "row {} of it", 10)
        assert list(read.wrong) == [1]
        assert read.wrong[1].startswith(where)
        assert why in read.wrong[1]
        assert_array_equal(read.X[read.right()], [[1.5, 2.0**53]] * 2)


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ((None, *RIGHT[1:]), "key None, row with day = 1: 'shop' is null"),
        (("s", None, *RIGHT[2:]), "key 's', row with day = None: 'day' is null"),
    ],
)
def test_a_row_without_key_or_order_is_named(row: Any, why: str) -> None:
    read = columns(**KEYED).read(batch(RIGHT, row))
    assert read.wrong[1].startswith(why)


@pytest.mark.parametrize(
    ("vector", "why"),
    [
        (None, "'x' is null"),
        ([], "x has 0 numbers, but width = 2"),
        ([1.0, 2.0, 3.0], "x has 3 numbers, but width = 2"),
        ([1.0, None], "x[1] is null"),
        ([NAN, 1.0], "x[0] = nan"),
    ],
)
def test_a_wrong_vector_is_named_and_the_others_are_read(vector: Any, why: str) -> None:
    rows = batch(RIGHT, (*RIGHT[:4], vector, 3.0), (*RIGHT[:4], [5.0, 6.0], 3.0))
    read = columns(features="x", width=2).read(rows)
    assert list(read.wrong) == [1]
    assert f"row 1: {why}" in read.wrong[1]
    assert_array_equal(read.X[read.right()], [[1.0, 2.0], [5.0, 6.0]])


def test_shards() -> None:
    assert checked_shards(7) == 7
    for shards in (0, 2**31, True, 1.0):
        with pytest.raises(InputError, match="one shard per 500 keys"):
            checked_shards(shards)
    assert np.bincount(shards_of(range(10_000), 10), minlength=10).min() > 800


def linear(X: Any, Z: Any) -> Any:
    return np.asarray(X) @ np.asarray(Z).T


@pytest.mark.parametrize(
    ("learner", "why"),
    [
        (nr.AAR(drift=0.1), "learners with drift cannot be merged"),
        (nr.AAR(kernel=linear), "kernel"),
        (nr.OSLOG(), "cannot be merged exactly: its weights are the end of a path"),
        (nr.AAR().fit([[1.0, 2.0]], [1.0]), "knows its features by name, the other by position"),
        ("Ridge", "it is no learner that could"),
    ],
)
def test_fit_refuses_learners_that_do_not_merge(learner: Any, why: str) -> None:
    with pytest.raises(MergeError, match=why):
        spark.fit(frame(**SCHEMA), ["a"], "y", learner)
