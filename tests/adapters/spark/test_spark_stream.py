"""`stream`: killed and started again, it is as if nothing had happened."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from traffic import NAMES, expected, learner, same_states, traffic

import noregret as nr
from noregret.adapters import spark
from noregret.errors import InputError

HERE = Path(__file__).parent
BATCHES = 7


class Job:
    """The stream in a process of its own, with its JVM."""

    def __init__(self, folder: Path, moment: str = "never", at: int = -1) -> None:
        self.folder = folder
        (folder / "here").unlink(missing_ok=True)
        self.command = [sys.executable, str(HERE / "stream_job.py"), str(folder), moment, str(at)]
        self.start()

    def start(self) -> None:
        self.log = (self.folder / "log").open("wb")
        self.process = subprocess.Popen(
            self.command, stdout=self.log, stderr=self.log, start_new_session=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Kill it, whatever it is doing."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.log.close()

    def wait(self, until: Callable[[], bool]) -> None:
        give_up = time.monotonic() + 400.0
        while not until():
            told = (self.folder / "log").read_text()
            assert time.monotonic() < give_up, told
            if (
                self.process.poll() is not None
            ):  # a busy machine: Spark waits for its workers, not for ever
                assert "Python worker failed to connect back" in told, told
                self.log.close()
                self.start()
            time.sleep(0.02)


def test_five_kills_leave_no_trace(session: Any, tmp_path: Path) -> None:
    frame = traffic(keys=90, rows=70)
    parts = np.array_split(np.arange(len(frame)), BATCHES)
    for folder in ("in", "ready"):
        (tmp_path / folder).mkdir()

    def feed(k: int) -> int:
        """Let the stream see file k, whole; the time of its first row."""
        part = frame.iloc[parts[k]].sample(frac=1.0, random_state=k)
        part.to_parquet(tmp_path / "ready" / f"{k}.parquet")
        (tmp_path / "ready" / f"{k}.parquet").rename(tmp_path / "in" / f"{k}.parquet")
        return int(parts[k][0])

    def committed(k: int) -> bool:
        return (tmp_path / "checkpoint" / "commits" / str(k)).exists()

    def begun(k: int) -> bool:
        return (tmp_path / "checkpoint" / "offsets" / str(k)).exists()

    # Inside a micro-batch: before anything is learned; when forecasts of the first shards have
    # come; when a partition has committed its states, and the micro-batch has not.
    feed(0)
    for k, moment in enumerate(("before", "amid", "end"), start=1):
        with Job(tmp_path, moment, feed(k)) as job:
            job.wait((tmp_path / "here").exists)
            assert begun(k)
            assert not committed(k)
    # Between two micro-batches, while there is nothing to do.
    with Job(tmp_path) as job:
        job.wait(lambda: committed(3))
    # When the forecasts of a micro-batch are written, whatever else is.
    feed(4)
    with Job(tmp_path) as job:
        job.wait((tmp_path / "out" / "_spark_metadata" / "4").exists)
    for k in range(5, BATCHES):
        feed(k)
    with Job(tmp_path) as job:
        job.wait(lambda: committed(BATCHES - 1))

    found = session.read.parquet(str(tmp_path / "out")).toPandas().sort_values("at")
    forecasts, fleet = expected(frame)
    assert_array_equal(found["at"].to_numpy(), frame["at"].to_numpy())  # each row once
    assert_array_equal(found["forecast"].to_numpy(), forecasts)
    assert same_states(spark.to_fleet(spark.states(session, tmp_path / "checkpoint")), fleet)


def streamed(session: Any, folder: Path, df: Any, **options: Any) -> Any:
    """The forecasts of rows at rest, streamed from a new checkpoint in this folder."""
    df.write.parquet(str(folder / "in"))
    rows = session.readStream.schema(df.schema).parquet(str(folder / "in"))
    found = spark.stream(rows, "shop", NAMES, "y", "at", learner(), shards=8, **options)
    writer = found.writeStream.option("checkpointLocation", str(folder / "checkpoint"))
    writer = writer.trigger(availableNow=True).format("parquet")
    writer.start(str(folder / "out")).awaitTermination()
    return session.read.parquet(str(folder / "out")).toPandas().sort_values("at")


def test_a_fleet_goes_from_the_laptop_to_spark_and_back(session: Any, tmp_path: Path) -> None:
    from pyspark.sql import functions as f

    frame = traffic(keys=50, rows=30)
    forecasts, whole = expected(frame)
    third = len(frame) // 3
    df = session.createDataFrame(frame).withColumn("at", f.timestamp_micros("at"))
    at = f.unix_micros("at")
    # A file from here goes on there,
    expected(frame[:third])[1].save(tmp_path / "fleet.nr")
    fleet = nr.Fleet.open(tmp_path / "fleet.nr")
    second = df.where((at >= third) & (at < 2 * third))
    found = streamed(session, tmp_path / "one", second, initial=fleet)
    assert_array_equal(found["forecast"], forecasts[third : 2 * third])
    blocks = spark.states(session, tmp_path / "one" / "checkpoint")
    # its states go on in another stream, without passing through here,
    found = streamed(session, tmp_path / "two", df.where(at >= 2 * third), initial=blocks)
    assert_array_equal(found["forecast"], forecasts[2 * third :])
    assert_array_equal(found["at"].astype("datetime64[us]").astype(int), frame["at"][2 * third :])
    last = spark.states(session, tmp_path / "two" / "checkpoint")
    assert same_states(spark.to_fleet(last), whole)
    # or here.
    back = spark.to_fleet(blocks)
    rest = frame[2 * third :]
    here = back.round(rest["shop"].to_numpy(), rest[NAMES], rest["y"].to_numpy())
    assert_array_equal(here, forecasts[2 * third :])
    table = spark.certificates(last)
    assert table.where("holds").count() == 50
    assert dict(table.dtypes)["key"] == "bigint"


def test_wrong_options_are_named(session: Any) -> None:
    rows = session.readStream.format("rate").load()
    rows = rows.selectExpr("value AS shop", "timestamp AS at", "1D AS x", "2D AS y", "'a' AS word")
    given = {"key": "shop", "features": ["x"], "target": "y", "order_by": "at"}
    given |= {"learner": nr.AAR()}
    for options, why in (
        ({"order_by": "word"}, "'word' is of type string: give timestamps or whole numbers"),
        ({"shards": 0}, "one shard per 500 keys"),
        ({"late_after": 7}, "late_after = 7: give a timedelta"),
        ({"bad_rows": "drop"}, "give 'fail' or 'report'"),
    ):
        with pytest.raises(InputError, match=why):
            spark.stream(rows, **{**given, **options})
    name, value = next(iter(spark.SETTINGS.items()))
    session.conf.unset(name)
    session.conf.set(name, "org.example.Heap")
    try:
        with pytest.raises(InputError, match=r"keeps states by org\.example\.Heap: set spark\.sql"):
            spark.stream(rows, **given)
    finally:
        session.conf.set(name, value)
