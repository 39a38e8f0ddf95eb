"""One learner per key over a stream: state per shard of keys, exactly once per checkpoint.

Spark keeps one value per shard: a fleet of its keys, as bytes.  A micro-batch reads the shards
that have rows, learns these in the order of their times, and writes the shards back; Spark commits
forecasts and shards together, so that a job which was killed goes on as if nothing had happened.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from noregret.adapters.spark.blocks import checked_shards, initial_blocks, shard_column
from noregret.adapters.spark.columns import WHOLE, Columns
from noregret.adapters.spark.packets import PACKED, packets, rows_in
from noregret.adapters.spark.replaying import checked_bad_rows, result_schema
from noregret.adapters.spark.shard import Shard
from noregret.errors import InputError, abbreviated
from noregret.fleet.fleet import Fleet

__all__ = ["SETTINGS", "SHARDS", "span", "stream"]

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
SETTINGS = {
    PROVIDER: "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
}
"""What a session needs for `stream`, by name."""
SHARDS = 256


def stream(
    df: Any,
    key: str,
    features: Sequence[str] | str,
    target: str,
    order_by: str,
    learner: Any,
    *,
    width: int | None = None,
    shards: int = SHARDS,
    initial: Any = None,
    bad_rows: str = "fail",
    late_after: timedelta | int | None = None,
    expire_after: timedelta | int | None = None,
) -> Any:
    """Forecasts of a stream as a streaming DataFrame: key, order, target, forecast, error.

    Inside a micro-batch the rows of a key are learned in the order of `order_by`; a row that comes
    in a later micro-batch is learned then, and certificates speak of the order of learning.
    Started again from its checkpoint, a job that was killed gives the same forecasts and states as
    one that was not, whatever Spark had to repeat.

    The session needs RocksDB (`SETTINGS`); `states` reads the fleet from a checkpoint.

    Parameters
    ----------
    df : a streaming DataFrame.
    key, features, target, width, bad_rows : as in `replay`.
    order_by : the column of times: timestamps or whole numbers.
    learner : what every key gets a copy of.
    shards : into how many shards the keys go, one per 256 to 1,024 keys; fixed for a checkpoint.
    initial : a fleet, or a DataFrame of blocks, to go on from; read when a checkpoint is new.
    late_after : a row is late that is older by more than this than the newest one that its shard
        had before the micro-batch, and treated as `bad_rows` says; None: nothing is late.
    expire_after : a key is forgotten that had no row for so long, by the newest row of its shard;
        if it comes again it begins anew.  None: never.

    >>> import noregret as nr
    >>> from pyspark.sql import SparkSession
    >>> from noregret.adapters import spark
    >>> session = SparkSession.builder.getOrCreate()
    >>> session.conf.set(*next(iter(spark.SETTINGS.items())))
    >>> rows = session.readStream.format("rate").load().selectExpr(
    ...     "value % 10 AS shop", "timestamp AS at", "rand() AS heat", "rand() AS sales"
    ... )
    >>> spark.stream(rows, "shop", ["heat"], "sales", "at", nr.AAR()).columns
    ['shop', 'at', 'sales', 'forecast', 'error']
    """
    columns = Columns.of(df, features, target, width=width, key=key, order_by=order_by)
    checked_bad_rows(bad_rows)
    checked_shards(shards)
    Fleet(learner)  # which says what is wrong with it
    schema = result_schema(df, columns)
    types = {field.name: field.dataType.simpleString() for field in df.schema.fields}
    timed = types[order_by] == "timestamp"
    if not timed and types[order_by] not in WHOLE:
        raise InputError(
            f"order_by: column {order_by!r} is of type {types[order_by]}: give timestamps or "
            "whole numbers"
        )
    provider = df.sparkSession.conf.get(PROVIDER, None)
    if provider != SETTINGS[PROVIDER]:
        raise InputError(
            f"the session keeps states by {provider}: set {PROVIDER} to {SETTINGS[PROVIDER]} "
            "(noregret.adapters.spark.SETTINGS has it)"
        )
    late, expiry = (
        span(name, value, timed=timed)
        for name, value in (("late_after", late_after), ("expire_after", expire_after))
    )
    shard = Shard(columns, learner, shards, bad_rows == "fail", late, expiry)
    begun = None
    if initial is not None:
        begun = initial_blocks(df.sparkSession, initial, shards).groupBy("shard")
    sent = columns.chosen(df, shard_column(key, shards)).mapInArrow(packets, PACKED)
    found = sent.groupBy("shard").transformWithStateInPandas(
        shard, "packet binary", "Append", "None", begun
    )
    return found.mapInArrow(rows_in, schema)


def span(name: str, value: timedelta | int | None, *, timed: bool) -> int | None:
    """How long, in the units of the column of times."""
    if value is None:
        return None
    if timed and isinstance(value, timedelta) and value >= timedelta(0):
        return value // timedelta(microseconds=1)
    if not timed and type(value) is int and value >= 0:
        return value
    kind = "a timedelta" if timed else "a whole number"
    raise InputError(f"{name} = {abbreviated(value)}: give {kind} >= 0, as order_by is")
