"""One learner per key over a table that is at rest: forecasts, certificates, states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from noregret.adapters.spark.blocks import certificates, to_fleet
from noregret.adapters.spark.columns import Columns, Rows, quoted
from noregret.declare.extras import module
from noregret.errors import InputError, abbreviated
from noregret.fleet.fleet import Fleet
from noregret.types import Integers, Vector

__all__ = ["SparkReplay", "checked_bad_rows", "replay", "result_schema", "results", "rounds"]

RESERVED = ("forecast", "error", "block")


@dataclass(frozen=True, slots=True, eq=False)
class SparkReplay:
    """What a replay gives: DataFrames, which Spark works out when they are asked for.

    All come from one job, `rows`: `rows.persist()` keeps it where more than one of them is read.
    """

    rows: Any

    @property
    def forecasts(self) -> Any:
        """One row per round: key, order, target, forecast, error (null where all was right)."""
        return self.rows.where("block IS NULL").drop("block")

    @property
    def blocks(self) -> Any:
        """The states, as blocks of a fleet: what `stream` and `fleet` take."""
        return self.rows.where("block IS NOT NULL").select("block")

    @property
    def certificates(self) -> Any:
        """One row per key: rounds, loss, best in hindsight, bound, and whether it holds."""
        return certificates(self.blocks, keys=self.rows.schema[0].dataType.simpleString())

    @property
    def fleet(self) -> Fleet:
        """The states of all keys as one fleet, here."""
        return to_fleet(self.blocks)


def replay(
    df: Any,
    key: str,
    features: Sequence[str] | str,
    target: str,
    order_by: Sequence[str] | str,
    learner: Any,
    *,
    width: int | None = None,
    partitions: int | None = None,
    bad_rows: str = "fail",
) -> SparkReplay:
    """Predict-then-learn over the rows of every key, in the order of `order_by`.

    Rows go to partitions by their keys and through one `nr.Fleet` in each; forecasts equal
    those of one fleet, and of separate learners, bit for bit, whatever the partitions.  Rows of a
    key that `order_by` does not tell apart come in the order of their features and outcomes, so
    that the result is the same every time.

    Parameters
    ----------
    df : a DataFrame of Spark.
    key : the column of keys, strings or integers.
    features : names of columns of numbers; or one column of vectors, with `width`.
    target : the column of outcomes.
    order_by : the columns that say which row of a key comes first.
    learner : what every key gets a copy of.
    width : how many numbers each vector has, where `features` is one column.
    partitions : into how many the keys go; None: as many as `spark.sql.shuffle.partitions`.
    bad_rows : "fail": a wrong row (null, NaN, another width) ends the job with an error that names
        its key and its place; "report": it is not learned, and `error` says what was wrong.

    >>> import noregret as nr
    >>> from pyspark.sql import SparkSession
    >>> from noregret.adapters import spark
    >>> session = SparkSession.builder.getOrCreate()
    >>> rows = [("a", 1, 1.0, 1.0), ("b", 1, 1.0, 9.0), ("a", 2, 1.0, 1.0)]
    >>> df = session.createDataFrame(rows, "shop string, day int, heat double, sales double")
    >>> found = spark.replay(df, "shop", ["heat"], "sales", "day", nr.Ridge())
    >>> for row in found.forecasts.orderBy("shop", "day").collect():
    ...     row.shop, row.day, row.forecast
    ('a', 1, 0.0)
    ('a', 2, 0.5)
    ('b', 1, 0.0)
    """
    columns = Columns.of(df, features, target, width=width, key=key, order_by=order_by)
    checked_bad_rows(bad_rows)
    Fleet(learner)  # which says what is wrong with it
    schema = result_schema(df, columns) + ", block binary"
    spread, by = columns.chosen(df), quoted(key)
    spread = spread.repartition(by) if partitions is None else spread.repartition(partitions, by)
    order = (*columns.order, *columns.features, target)
    ordered = spread.sortWithinPartitions(by, *map(quoted, order))
    run = partial(_replay, columns, learner, bad_rows == "fail")
    return SparkReplay(ordered.mapInArrow(run, schema))


def checked_bad_rows(bad_rows: str) -> None:
    """Refuse what is no policy."""
    if bad_rows not in ("fail", "report"):
        raise InputError(f"bad_rows = {abbreviated(bad_rows)}: give 'fail' or 'report'")


def result_schema(df: Any, columns: Columns) -> str:
    """Key, order, target, forecast and error, as Spark declares them."""
    for name in columns.kept:
        if name in RESERVED:
            raise InputError(f"column {name!r}: results have a column of that name, rename it")
    types = {field.name: field.dataType.simpleString() for field in df.schema.fields}
    kept = [f"{quoted(name)} {types[name]}" for name in columns.kept]
    return ", ".join([*kept, "forecast double", "error string"])


def rounds(
    columns: Columns,
    fleet: Fleet,
    read: Rows,
    strict: bool,  # noqa: FBT001
    order: Integers | None = None,
    now: float | None = None,
) -> tuple[Vector, list[Any]]:
    """Predict-then-learn of the right rows: forecasts, and what is wrong with the others."""
    errors: list[Any] = [None] * len(read.y)
    for i, message in read.wrong.items():
        if strict:
            raise InputError(message)
        errors[i] = message
    right, forecast = read.right(), np.full(len(read.y), np.nan)
    rows = np.flatnonzero(right) if order is None else order[right[order]]
    if rows.size:
        X, y = columns.table(read.X[rows]), read.y[rows]
        forecast[rows] = fleet.round(read.keys[rows], X, y, now=now)
    return forecast, errors


def results(columns: Columns, batch: Any, forecast: Vector, errors: list[Any]) -> Any:
    """A batch of results: key, order, target, forecast and error."""
    arrow = module("pyarrow", "noregret.adapters.spark")
    kept = [batch.column(batch.schema.get_field_index(name)) for name in columns.kept]
    wrong = np.array([message is not None for message in errors], dtype=bool)
    found = [arrow.array(forecast, mask=wrong), arrow.array(errors, arrow.string())]
    return arrow.RecordBatch.from_arrays([*kept, *found], [*columns.kept, "forecast", "error"])


def _replay(columns: Columns, learner: Any, strict: bool, batches: Iterable[Any]) -> Iterator[Any]:  # noqa: FBT001
    """On an executor: one partition through one fleet, and its state at the end."""
    arrow = module("pyarrow", "noregret.adapters.spark")
    fleet, found = Fleet(learner, threads=1), None
    for batch in batches:
        found = results(columns, batch, *rounds(columns, fleet, columns.read(batch), strict))
        yield found.append_column("block", arrow.nulls(batch.num_rows, arrow.binary()))
    if found is not None and len(fleet):
        ends = [arrow.nulls(1, column.type) for column in found.columns]
        block = arrow.array([fleet.to_bytes()], arrow.binary())
        yield arrow.RecordBatch.from_arrays([*ends, block], [*found.schema.names, "block"])
