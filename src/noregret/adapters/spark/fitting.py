"""One pass over any number of rows, in any number of partitions: triangles merged in a tree."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from noregret.adapters.spark.columns import Columns
from noregret.declare.extras import module
from noregret.errors import InputError, MergeError, abbreviated
from noregret.gaussian.base import Gaussian
from noregret.gaussian.learners import BayesianRidge
from noregret.gaussian.ledger import totals
from noregret.inputs.values import ReadTable
from noregret.snapshot import from_bytes
from noregret.wrappers.merging import merge

__all__ = ["SparkFit", "fit"]

FAN = 32
"""How many blocks are merged into one at a step of the tree."""
BLOCKS = "part long, block binary"


@dataclass(frozen=True, slots=True, eq=False)
class SparkFit:
    """A learner of all rows, and what does not depend on their order or on the partitions.

    best_loss is min_w sum (y - w'x)^2 + a|w|^2, log_det is ln det(I + X'X/a), and log_loss the
    cumulative log loss of one BayesianRidge of known noise over all rows; None of other learners.
    """

    learner: Any
    rows: int
    best_loss: float
    log_det: float
    log_loss: float | None


def fit(
    df: Any,
    features: Sequence[str] | str,
    target: str,
    learner: Any,
    *,
    width: int | None = None,
) -> SparkFit:
    """Learn all rows of a DataFrame in one pass: the learner that would have seen them all.

    Every partition is learned by a copy that has seen nothing; their triangles are merged on the
    executors, 32 at a time, until 32 are left for the driver.  Where there are more partitions than
    cores, neighbours are read by one task, without a shuffle: to begin a task in Python takes as
    long as to learn 100,000 rows.  What the learner itself had learned
    before counts once; it is left alone.  Weights, `best_loss`, `log_det` and `log_loss` equal
    those of one learner, to rounding.  Losses and certificates are sums over the partitions, and
    say so: each partition's forecasts knew its own rows only.

    A wrong row (null, NaN, another width) ends the job; its error names the row.

    Parameters
    ----------
    df : a DataFrame of Spark.
    features : names of columns of numbers; or one column of vectors, with `width`.
    target : the column of outcomes.
    learner : nr.Ridge, nr.AAR or nr.BayesianRidge in weight space without drift; others do not
        merge exactly, and are refused.
    width : how many numbers each vector has, where `features` is one column.

    >>> import noregret as nr
    >>> from pyspark.sql import SparkSession
    >>> from noregret.adapters import spark
    >>> session = SparkSession.builder.getOrCreate()
    >>> rows = [(1.0, 2.0), (2.0, 4.0), (3.0, 6.0)]
    >>> df = session.createDataFrame(rows, "heat double, load double")
    >>> found = spark.fit(df, ["heat"], "load", nr.BayesianRidge(0.5))
    >>> found.rows, round(found.learner.predict_one({"heat": 1.0}), 6)
    (3, 1.931034)
    """
    columns = Columns.of(df, features, target, width=width)
    empty = _empty(learner, columns)
    rows = _one_task_per_core(columns.chosen(df))
    blocks = rows.mapInArrow(partial(_learn, columns, empty), BLOCKS).rdd
    parts = blocks.getNumPartitions()
    while parts > FAN:  # a shuffle of kilobytes at each step
        parts = -(-parts // FAN)
        blocks = blocks.groupBy(_branch, parts).map(_merged)
    found = sorted((part, bytes(block)) for part, block in blocks.collect())
    if not found:
        raise InputError("df has no rows: give at least one")
    return _fitted(merge([copy.deepcopy(learner), *(from_bytes(block) for _, block in found)]))


def _one_task_per_core(rows: Any) -> Any:
    """The rows in no more partitions than there are cores, where their number is fixed."""
    session = rows.sparkSession
    if session.conf.get("spark.dynamicAllocation.enabled", "false") == "true":
        return rows
    return rows.coalesce(session.sparkContext.defaultParallelism)


def _empty(learner: Any, columns: Columns) -> Any:
    """A copy that has learned nothing, of a learner that merges; the error if it does not."""
    if not isinstance(learner, Gaussian):
        reason = getattr(learner, "_merge_refusal", "it is no learner that could")
        raise MergeError(
            f"learner = {abbreviated(learner)} cannot be merged exactly: {reason}; take Ridge, AAR "
            "or BayesianRidge, or replay() for one learner per key"
        )
    empty = type(learner)(**learner.get_params(deep=False))
    n = len(columns.features) if columns.width is None else columns.width
    trial = copy.deepcopy(empty).fit(columns.table(np.zeros((1, n))), [0.0])
    merge([learner, trial, trial])  # kernels, budgets, drift, other features say why they cannot
    return empty


def _learn(columns: Columns, empty: Any, batches: Iterable[Any]) -> Iterator[Any]:
    """On an executor: one partition becomes one block."""
    part = module("pyspark", "fit").TaskContext.get().partitionId()
    learner, rows = copy.deepcopy(empty), 0
    names: list[object] | None = None if columns.width is not None else list(columns.features)
    for batch in batches:
        if not batch.num_rows:
            continue
        read = columns.read(batch, f"row {{}} of task {part}", rows)
        for message in read.wrong.values():
            raise InputError(message)
        learner.partial_fit(ReadTable(read.X, names), read.y)
        rows += batch.num_rows
    if rows:
        arrow = module("pyarrow", "fit")
        block = [arrow.array([part], arrow.int64()), arrow.array([learner.to_bytes()])]
        yield arrow.RecordBatch.from_arrays(block, names=["part", "block"])


def _branch(row: Any) -> int:
    branch: int = row[0] // FAN
    return branch


def _merged(group: tuple[int, Iterable[Any]]) -> tuple[int, bytes]:
    """On an executor: some blocks become one, merged in the order of their partitions."""
    part, rows = group
    blocks = sorted((row[0], bytes(row[1])) for row in rows)
    return part, merge([from_bytes(block) for _, block in blocks]).to_bytes()


def _fitted(learner: Any) -> SparkFit:
    with learner._lock:
        stream = learner._learned()
        with stream.closed():
            sums, core = totals(stream.ledger), stream.core
            log_det = core.log_determinant()
    known = isinstance(learner, BayesianRidge) and stream.plan.rule.level > 0.0
    log_loss = learner.log_loss_ if known else None
    return SparkFit(learner, sums.rounds, sums.best, log_det, log_loss)
