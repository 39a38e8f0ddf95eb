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
from noregret.adapters.spark.columns import KEYS, WHOLE, Columns
from noregret.adapters.spark.replaying import checked_bad_rows, result_schema
from noregret.adapters.spark.shard import NO_KEY, NO_TARGET, NO_TIME, Shard
from noregret.declare.extras import module
from noregret.errors import InputError, abbreviated
from noregret.fleet.fleet import Fleet

__all__ = ["SETTINGS", "SHARDS", "stream"]

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
    result_schema(df, columns)
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
        _span(name, value, timed=timed)
        for name, value in (("late_after", late_after), ("expire_after", expire_after))
    )
    shard = Shard(columns, learner, shards, bad_rows == "fail", timed, late, expiry)
    begun = None
    if initial is not None:
        begun = initial_blocks(df.sparkSession, initial, shards).groupBy("_shard")
    found = (
        df.select(*_sent(columns, types, shards, timed=timed))
        .groupBy("_shard")
        .transformWithStateInPandas(
            shard,
            f"`{key}` {types[key]}, `{order_by}` bigint, `{target}` {types[target]}, "
            "_nulls int, forecast double, error string",
            "Append",
            "None",
            begun,
        )
    )
    return found.select(*_received(columns, types, timed=timed))


def _span(name: str, value: timedelta | int | None, *, timed: bool) -> int | None:
    """How long, in the units of the column of times."""
    if value is None:
        return None
    if timed and isinstance(value, timedelta) and value >= timedelta(0):
        return value // timedelta(microseconds=1)
    if not timed and type(value) is int and value >= 0:
        return value
    kind = "a timedelta" if timed else "a whole number"
    raise InputError(f"{name} = {abbreviated(value)}: give {kind} >= 0, as order_by is")


def _sent(columns: Columns, types: dict[str, str], shards: int, *, timed: bool) -> list[Any]:
    """What goes to the shards: numbers and words without nulls, and where there were some."""
    f = module("pyspark.sql.functions", "noregret.adapters.spark")
    key, order, target = str(columns.key), columns.order[0], columns.target
    nulls = f.lit(0)
    for name, bit in ((key, NO_KEY), (order, NO_TIME), (target, NO_TARGET)):
        nulls += f.when(f.col(_quoted(name)).isNull(), bit).otherwise(0)
    missing = [f.when(f.col(_quoted(name)).isNull(), f.lit(name)) for name in columns.features]
    sent = [shard_column(key, shards), nulls.alias("_nulls"), f.coalesce(*missing).alias("_missing")]
    for name in columns.used:
        column = f.col(_quoted(name))
        if name == order:
            column = f.unix_micros(column) if timed else column.cast("bigint")
        if types[name] in (*KEYS, "boolean") or name == order:
            zero = {"string": "", "boolean": False}.get(types[name], 0)
            column = f.coalesce(column, f.lit(zero).cast(types[name] if name != order else "bigint"))
        sent.append(column.alias(name))
    return sent


def _received(columns: Columns, types: dict[str, str], *, timed: bool) -> list[Any]:
    """What comes back, with its nulls and its own times."""
    f = module("pyspark.sql.functions", "noregret.adapters.spark")
    bits = {columns.key: NO_KEY, columns.order[0]: NO_TIME, columns.target: NO_TARGET}
    found = []
    for name in columns.kept:
        column = f.col(_quoted(name))
        if name == columns.order[0]:
            column = f.timestamp_micros(column) if timed else column.cast(types[name])
        found.append(f.when(f.col("_nulls").bitwiseAND(bits[name]) == 0, column).alias(name))
    return [*found, "forecast", "error"]


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
