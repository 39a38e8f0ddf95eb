"""`stream`: killed and started again, it is as if nothing had happened."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.testing import assert_array_equal
from traffic import expected, same_states, traffic

from noregret.adapters import spark

HERE = Path(__file__).parent
BATCHES = 7


class Job:
    """The stream in a process of its own, with its JVM."""

    def __init__(self, folder: Path, moment: str = "never", at: int = -1) -> None:
        self.folder = folder
        (folder / "here").unlink(missing_ok=True)
        command = [sys.executable, str(HERE / "stream_job.py"), str(folder), moment, str(at)]
        self.log = (folder / "log").open("ab")
        self.process = subprocess.Popen(
            command, stdout=self.log, stderr=self.log, start_new_session=True
        )

    def wait(self, until: Callable[[], bool]) -> None:
        give_up = time.monotonic() + 200.0
        while not until():
            assert self.process.poll() is None, (self.folder / "log").read_text()[-3000:]
            assert time.monotonic() < give_up, (self.folder / "log").read_text()[-3000:]
            time.sleep(0.01)

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.log.close()


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
        job = Job(tmp_path, moment, feed(k))
        job.wait((tmp_path / "here").exists)
        assert begun(k)
        assert not committed(k)
        job.kill()
    # Between two micro-batches, while there is nothing to do.
    job = Job(tmp_path)
    job.wait(lambda: committed(3))
    job.kill()
    # When the forecasts of a micro-batch are written, whatever else is.
    job = Job(tmp_path)
    feed(4)
    job.wait((tmp_path / "out" / "_spark_metadata" / "4").exists)
    job.kill()
    job = Job(tmp_path)
    for k in range(5, BATCHES):
        feed(k)
    job.wait(lambda: committed(BATCHES - 1))
    job.kill()

    found = session.read.parquet(str(tmp_path / "out")).toPandas().sort_values("at")
    forecasts, fleet = expected(frame)
    assert_array_equal(found["at"].to_numpy(), frame["at"].to_numpy())  # each row once
    assert_array_equal(found["forecast"].to_numpy(), forecasts)
    assert same_states(spark.to_fleet(spark.states(session, tmp_path / "checkpoint")), fleet)
