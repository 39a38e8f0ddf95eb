"""Blocks: fleets as bytes in DataFrames, so that a fleet file and a Spark state are one thing.

A key lives in the shard crc32(key) mod shards: the same in Spark's SQL and here.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from noregret.adapters.spark.columns import quoted
from noregret.declare.extras import module
from noregret.errors import InputError, abbreviated
from noregret.fleet.fleet import Fleet
from noregret.types import Integers

__all__ = [
    "certificates",
    "checked_shards",
    "initial_blocks",
    "shard_column",
    "shards_of",
    "states",
    "to_fleet",
]

SPLIT = "shard int, block binary"
CERTIFIED = (
    "rounds bigint, loss double, comparator double, bound double, slack double, holds boolean"
)


def checked_shards(shards: Any) -> int:
    """A number of shards."""
    if type(shards) is not int or not 1 <= shards <= 2**31 - 1:
        raise InputError(
            f"shards = {abbreviated(shards)}: give a whole number, one shard per 500 keys or so"
        )
    return shards


def shard_column(key: str, shards: int) -> Any:
    """The shard of a key, as a column of Spark."""
    functions = module("pyspark.sql.functions", "noregret.adapters.spark")
    text = functions.col(quoted(key)).cast("string").cast("binary")
    shard = functions.pmod(functions.crc32(text), functions.lit(shards)).cast("int")
    return functions.coalesce(shard, functions.lit(0)).alias("shard")  # null keys go somewhere


def shards_of(keys: Iterable[Any], shards: int) -> Integers:
    """The shards of keys, as Spark works them out.

    >>> shards_of(["store 7", 12], 256).tolist()
    [242, 205]
    """
    found = [zlib.crc32(str(key).encode()) % shards for key in keys]
    return np.array(found, dtype=np.int64)


def initial_blocks(session: Any, initial: Any, shards: int) -> Any:
    """A fleet, or a DataFrame of blocks, cut by shards."""
    if isinstance(initial, Fleet):
        return session.createDataFrame(_split(initial, shards), SPLIT)
    return initial.mapInArrow(partial(_resharded, shards), SPLIT)


def _resharded(shards: int, batches: Iterable[Any]) -> Iterator[Any]:
    """On an executor: every block cut by shards."""
    arrow = module("pyarrow", "noregret.adapters.spark")
    for block in _listed(batches):
        places, blocks = zip(*_split(Fleet.from_bytes(block), shards))
        parts = [arrow.array(places, arrow.int32()), arrow.array(blocks, arrow.binary())]
        yield arrow.RecordBatch.from_arrays(parts, ["shard", "block"])


def _split(fleet: Fleet, shards: int) -> list[tuple[int, bytes]]:
    """The blocks of a fleet by shards."""
    keys = fleet.keys()
    places = shards_of(keys, shards)
    order = np.argsort(places, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(places[order])) + 1)
    return [
        (int(places[part[0]]), fleet.take([keys[i] for i in part]).to_bytes())
        for part in parts
        if part.size
    ]


def _listed(batches: Iterable[Any]) -> Iterator[bytes]:
    for batch in batches:
        yield from batch.column(batch.schema.get_field_index("block")).to_pylist()


def states(session: Any, checkpoint: Any, *, operator: int = 0) -> Any:
    """The states in the checkpoint of a `stream`, as a DataFrame of blocks.

    `operator` is Spark's number of the stream, where a query has several that keep states.
    """
    source = session.read.format("statestore").option("operatorId", operator)
    return source.option("stateVarName", "shard").load(str(checkpoint)).select("value.block")


def to_fleet(blocks: Any) -> Fleet:
    """The fleet whose blocks are in a DataFrame, here: `to_fleet(...).save(path)` makes a file.

    >>> import noregret as nr
    >>> from pyspark.sql import SparkSession
    >>> from noregret.adapters import spark
    >>> session = SparkSession.builder.getOrCreate()
    >>> rows = [("a", 1, 1.0, 1.0), ("b", 1, 1.0, 9.0), ("a", 2, 1.0, 1.0)]
    >>> df = session.createDataFrame(rows, "shop string, day int, heat double, sales double")
    >>> blocks = spark.replay(df, "shop", ["heat"], "sales", "day", nr.Ridge()).blocks
    >>> sorted(spark.to_fleet(blocks))
    ['a', 'b']
    """
    found = [Fleet.from_bytes(bytes(row["block"])) for row in blocks.select("block").collect()]
    if not found:
        raise InputError("blocks is empty: nothing has been learned yet")
    return Fleet.merged(found)


def certificates(blocks: Any, *, keys: str | None = None) -> Any:
    """The main certificate of every key in blocks, as a DataFrame of one row per key.

    `keys` is the type of Spark that they have; None: it is read from the first block.

    >>> import noregret as nr
    >>> from pyspark.sql import SparkSession
    >>> from noregret.adapters import spark
    >>> session = SparkSession.builder.getOrCreate()
    >>> rows = [("a", 1, 1.0, 1.0), ("b", 1, 1.0, 9.0), ("a", 2, 1.0, 1.0)]
    >>> df = session.createDataFrame(rows, "shop string, day int, heat double, sales double")
    >>> blocks = spark.replay(df, "shop", ["heat"], "sales", "day", nr.Ridge()).blocks
    >>> [(row.key, row.rounds) for row in spark.certificates(blocks).orderBy("key").collect()]
    [('a', 2), ('b', 1)]
    """
    if keys is None:
        first = blocks.select("block").first()
        if first is None:
            raise InputError("blocks is empty: nothing has been learned yet")
        texts = isinstance(Fleet.from_bytes(bytes(first["block"])).keys()[0], str)
        keys = "string" if texts else "bigint"
    return blocks.select("block").mapInArrow(_certified, f"key {keys}, {CERTIFIED}")


def _certified(batches: Iterable[Any]) -> Iterator[Any]:
    """On an executor: the certificates of blocks."""
    arrow = module("pyarrow", "noregret.adapters.spark")
    for block in _listed(batches):
        table = Fleet.from_bytes(block).certificates().as_dict()
        yield arrow.RecordBatch.from_pydict(
            {name: arrow.array(column, from_pandas=True) for name, column in table.items()}
        )
