"""The Spark adapter, measured: `fit`, `stream` and its states; writes its part of docs/scale.md.

    python benchmarks/spark.py [fit] [stream] [shards]

Each part writes its figures between its marks.  Every figure is from runs side by side in one
session, local[2]: wall time, and for `fit` the CPU time of Java and Python together, which other
work on the machine changes less; medians of three runs after two.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from marks import put

import noregret as nr

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "adapters" / "spark"))

from spark_session import started  # noqa: E402

from noregret.adapters import spark  # noqa: E402
from noregret.adapters.spark.streaming import SHARDS  # noqa: E402

PAGE = ROOT / "docs" / "scale.md"
N = 8
NAMES = [f"x{j}" for j in range(N)]
ROWS, PARTS = 2_000_000, 16
KEYS = 100_000
SPREAD = 20_000  # keys of the states that are weighed
ALONE = 4_000  # keys that have a Spark state each
CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"


def cpu() -> float:
    """CPU seconds of this process and of all that it has started."""
    held: dict[int, tuple[int, int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        held[int(entry.name)] = int(words[1]), int(words[11]) + int(words[12])

    def ours(process: int) -> bool:
        while process in held and process != os.getpid():
            process = held[process][0]
        return process == os.getpid()

    ticks = sum(spent for process, (_, spent) in held.items() if ours(process))
    return ticks / os.sysconf("SC_CLK_TCK")


def timed(run: Callable[[], Any]) -> tuple[float, float, Any]:
    start, begun = time.perf_counter(), cpu()
    found = run()
    return time.perf_counter() - start, cpu() - begun, found


# One learner of all rows -----------------------------------------------------------------------


def products(batches: Iterator[Any]) -> Iterator[Any]:
    """X'X of a partition by NumPy: what a merge of triangles competes with."""
    import pyarrow as pa

    total = np.zeros((N + 1, N + 1))
    for batch in batches:
        rows = np.column_stack([column.to_numpy() for column in batch.columns])
        total += rows.T @ rows
    yield pa.RecordBatch.from_pydict({"sums": pa.array([total.ravel().tolist()])})


def counted(batches: Iterator[Any]) -> Iterator[Any]:
    """How many rows have come: the hand-over to Python alone."""
    import pyarrow as pa

    yield pa.RecordBatch.from_pydict({"rows": pa.array([sum(b.num_rows for b in batches)])})


def fit(session: Any, folder: Path) -> list[str]:
    from pyspark.ml.feature import VectorAssembler
    from pyspark.ml.regression import LinearRegression
    from pyspark.sql import functions as f

    path = str(folder / "rows")
    made = session.range(0, ROWS, 1, PARTS)
    made = made.select(*(f.randn(j).alias(name) for j, name in enumerate(NAMES)))
    made = made.withColumn("y", sum((f.col(name) for name in NAMES), f.randn(99)))
    made.write.parquet(path)
    session.conf.set("spark.sql.files.minPartitionNum", PARTS)
    df = session.read.parquet(path)
    columns = [*NAMES, "y"]
    pairs = [f.sum(f.col(a) * f.col(b)) for i, a in enumerate(columns) for b in columns[i:]]
    vectors = VectorAssembler(inputCols=NAMES, outputCol="x").transform(df)
    squares = LinearRegression(featuresCol="x", labelCol="y", solver="normal", regParam=1e-6)
    runs = {
        "spark.fit": lambda: spark.fit(df, NAMES, "y", nr.BayesianRidge()),
        "X'X in SQL": lambda: df.agg(*pairs).collect(),
        "MLlib's LinearRegression, normal equations": lambda: squares.fit(vectors),
        "X'X by NumPy": lambda: df.mapInArrow(products, "sums array<double>").collect(),
        "rows handed to Python and counted": lambda: df.mapInArrow(counted, "rows long").collect(),
    }
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in runs}
    for _ in range(5):
        for name, run in runs.items():
            seconds, spent, found = timed(run)
            times[name].append((seconds, spent))
            if name == "spark.fit":
                fitted = found
    frame = df.toPandas()
    whole = nr.BayesianRidge().fit(frame[NAMES], frame["y"])
    worst = max(
        np.abs(fitted.learner.coef_ / whole.coef_ - 1.0).max(),
        abs(fitted.log_loss / whole.log_loss_ - 1.0),
        abs(fitted.best_loss / whole.hindsight().regularised_loss - 1.0),
    )
    assert worst < 1e-9, worst
    least = {name: np.median(taken[2:], axis=0).tolist() for name, taken in times.items()}
    lines = [
        f"`fit`, {ROWS:,} rows x {N} in {df.rdd.getNumPartitions()} partitions of Parquet files:",
        f"the largest relative difference from one learner is {worst:.1e}.",
        "",
        "| | seconds | CPU seconds | spark.fit takes | in CPU |",
        "|---|---|---|---|---|",
    ]
    for name, taken in least.items():
        ratios = [ours / theirs for ours, theirs in zip(least["spark.fit"], taken, strict=True)]
        lines.append(
            f"| {name} | {taken[0]:.1f} | {taken[1]:.1f} | {ratios[0]:.2f}x | {ratios[1]:.2f}x |"
        )
    return lines


# Streams ----------------------------------------------------------------------------------------

SCHEMA = "shop bigint, at bigint, " + ", ".join(f"{name} double" for name in [*NAMES, "y"])


class OneKey:
    """The same job with one Spark state per key: a learner as bytes."""

    def init(self, handle: Any) -> None:
        self.state = handle.getValueState("learner", "learner binary")

    def close(self) -> None:
        pass

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Any]:  # noqa: ARG002
        import pandas as pd

        frame = pd.concat(list(rows)).sort_values("at")
        stored = self.state.get()
        learner = nr.AAR() if stored is None else nr.from_bytes(bytes(stored[0]))
        replay = learner.replay(frame[NAMES], frame["y"].to_numpy())
        self.state.update((learner.to_bytes(),))
        yield frame[["shop", "at", "y"]].assign(forecast=replay.forecast)


def feed(folder: Path, k: int, keys: np.ndarray) -> None:
    import pandas as pd

    rng = np.random.default_rng(k)
    frame = pd.DataFrame(rng.normal(size=(len(keys), N + 1)), columns=[*NAMES, "y"])
    frame = frame.assign(shop=keys.astype(np.int64), at=np.arange(len(keys)) + k * 10**9)
    ready = folder / f"{k}.tmp"
    frame.to_parquet(ready)
    (folder / "in").mkdir(exist_ok=True)
    ready.rename(folder / "in" / f"{k}.parquet")


def run(session: Any, folder: Path, batches: list[np.ndarray], shards: int | None) -> list[Any]:
    """Seconds and bytes of states written, per micro-batch."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for k, keys in enumerate(batches):
        feed(folder, k, keys)
    rows = session.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    rows = rows.parquet(str(folder / "in"))
    if shards is None:
        kept = "shop bigint, at bigint, y double, forecast double"
        found = rows.groupBy("shop").transformWithStateInPandas(OneKey(), kept, "Append", "None")
    else:
        found = spark.stream(rows, "shop", NAMES, "y", "at", nr.AAR(), shards=shards)
    writer = found.writeStream.option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.trigger(availableNow=True).format("parquet").start(str(folder / "out"))
    query.awaitTermination()
    found = []
    for progress in query.recentProgress:
        if progress.numInputRows:
            seconds = progress.durationMs["triggerExecution"] / 1e3
            found.append((seconds, written(folder, progress.batchId + 1)))
    return found


def written(folder: Path, version: int) -> int:
    """Bytes of the changes of one micro-batch; what RocksDB uploads later comes on top."""
    files = (folder / "checkpoint" / "state" / "0").glob(f"*/{version}*.changelog")
    return sum(file.stat().st_size for file in files)


def stream(session: Any, folder: Path) -> list[str]:
    rng = np.random.default_rng(0)
    sharded = [rng.permutation(KEYS) for _ in range(3)]
    alone = [rng.permutation(ALONE) for _ in range(2)]
    ours = run(session, folder / "ours", sharded, SHARDS)
    theirs = run(session, folder / "theirs", alone, None)
    rate, other = KEYS / ours[-1][0], ALONE / theirs[-1][0]
    return [
        f"`stream`, one event per key and micro-batch: {KEYS:,} keys in {SHARDS} shards,",
        f"{rate:,.0f} events/s; one Spark state per key ({ALONE:,} keys, the same learner),",
        f"{other:,.0f} events/s: {rate / other:.1f} times as many.",
    ]


def shards(session: Any, folder: Path) -> list[str]:
    rng = np.random.default_rng(1)
    events = (20, 200, 2_000)
    batches = [rng.permutation(SPREAD), *(rng.choice(SPREAD, e, replace=False) for e in events)]
    lines = [
        f"States written, {SPREAD:,} keys: kB per event and seconds per micro-batch, by events.",
        "",
        "| keys per shard | shards | kB, 20 | 200 | 2,000 | s, 20 / 200 / 2,000 |",
        "|---|---|---|---|---|---|",
    ]
    for size in (64, 256, 1024):
        count = -(-SPREAD // size)
        found = run(session, folder / "shards", batches, count)
        each = [found[k][1] / len(batches[k]) for k in (1, 2, 3)]
        cells = " | ".join(f"{value / 1e3:,.1f}" for value in each)
        took = " / ".join(f"{found[k][0]:.1f}" for k in (1, 2, 3))
        lines.append(f"| {size} | {count} | {cells} | {took} |")
        print(lines[-1], flush=True)
    return lines


def main(names: list[str]) -> None:
    session = started("local[2]", **{CHANGELOG: "true", "spark.driver.extraJavaOptions": ""})
    parts = {"fit": fit, "stream": stream, "shards": shards}
    with tempfile.TemporaryDirectory() as folder:
        for name in names or parts:
            put(PAGE, f"spark {name}", "\n".join(parts[name](session, Path(folder))))
    session.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
