"""Blocks: fleets as bytes in DataFrames, so that a fleet file and a Spark state are one thing.

A key lives in the shard crc32(key) mod shards: the same in Spark's SQL and here.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from noregret.declare.extras import module
from noregret.errors import InputError, abbreviated
from noregret.fleet.fleet import Fleet
from noregret.types import Integers

__all__ = [
    "certificate_table",
    "checked_shards",
    "fleet_in",
    "initial_blocks",
    "shard_column",
    "shards_of",
    "states",
]

SPLIT = "_shard int, block binary"


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
    text = functions.col(key).cast("string").cast("binary")
    return functions.pmod(functions.crc32(text), functions.lit(shards)).cast("int").alias("_shard")


def shards_of(keys: Iterable[Any], shards: int) -> Integers:
    """The shards of keys, as Spark works them out.

    >>> shards_of(["store 7", 12], 256).tolist()
    [242, 205]
    """
    found = [zlib.crc32(str(key).encode()) % shards for key in keys]
    return np.array(found, dtype=np.int64)


def initial_blocks(session: Any, initial: Any, shards: int) -> Any:
    """A fleet, or a DataFrame of blocks, as one block per shard."""
    if isinstance(initial, Fleet):
        return session.createDataFrame(_split(initial, shards), SPLIT)
    return initial.mapInArrow(partial(_resharded, shards), SPLIT)


def _resharded(shards: int, batches: Iterable[Any]) -> Iterator[Any]:
    """On an executor: every block cut by shards."""
    arrow = module("pyarrow", "noregret.adapters.spark")
    for batch in batches:
        for block in batch.column(batch.schema.get_field_index("block")).to_pylist():
            places, blocks = zip(*_split(Fleet.from_bytes(block), shards))
            parts = [arrow.array(places, arrow.int32()), arrow.array(blocks, arrow.binary())]
            yield arrow.RecordBatch.from_arrays(parts, ["_shard", "block"])


def _split(fleet: Fleet, shards: int) -> list[tuple[int, bytes]]:
    """The blocks of a fleet by shards."""
    keys = list(fleet.keys())
    places = shards_of(keys, shards)
    order = np.argsort(places, kind="stable")
    cuts = np.flatnonzero(np.diff(places[order])) + 1
    return [
        (int(places[part[0]]), fleet.take([keys[i] for i in part]).to_bytes())
        for part in np.split(order, cuts)
        if part.size
    ]


def fleet_in(blocks: Any) -> Fleet:
    """The fleet whose blocks are in a DataFrame."""
    found = [Fleet.from_bytes(bytes(row["block"])) for row in blocks.select("block").collect()]
    if not found:
        raise InputError("there are no blocks: nothing has been learned yet")
    return Fleet.merged(found)


def states(session: Any, checkpoint: Any, *, operator: int = 0) -> Any:
    """The states in a checkpoint of `stream`, as a DataFrame of blocks."""
    source = session.read.format("statestore").option("operatorId", operator)
    return source.option("stateVarName", "shard").load(str(checkpoint)).select("value.block")


def certificate_table(blocks: Any) -> Any:
    """One row per key."""
    raise NotImplementedError
