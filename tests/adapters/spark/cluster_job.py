"""Two executors, each a process of its own; one of them is killed while it replays."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from numpy.testing import assert_array_equal
from spark_session import started
from traffic import NAMES, expected, learner, same_states, traffic

from noregret.adapters import spark

SCHEMA = "a double, b double, c double, shop bigint, at bigint, y double"


def deadly(mark: Path, batches: Iterator[Any]) -> Iterator[Any]:
    """Pass batches on; the first to come here takes its executor with it."""
    for batch in batches:
        yield batch
        try:
            mark.touch(exist_ok=False)
        except FileExistsError:
            continue
        daemon = os.getppid()
        executor = int(Path(f"/proc/{daemon}/stat").read_text().rpartition(")")[2].split()[1])
        mark.write_text(str(executor))
        os.kill(executor, signal.SIGKILL)


def main() -> None:
    session = started("local-cluster[2,1,1024]", **{"spark.executor.memory": "900m"})
    frame = traffic(keys=1_000, rows=200)
    forecasts, fleet = expected(frame)
    df = session.createDataFrame(frame.sample(frac=1.0, random_state=0)).repartition(4)
    with tempfile.TemporaryDirectory() as folder:
        mark = Path(folder) / "mark"
        found = spark.replay(
            df.mapInArrow(partial(deadly, mark), SCHEMA), "shop", NAMES, "y", "at", learner()
        )
        rows = found.rows.toPandas()
        assert int(mark.read_text()) > 1
    blocks = session.createDataFrame(rows.loc[rows["block"].notna(), ["block"]])
    rows = rows[rows["block"].isna()].sort_values("at")
    assert_array_equal(rows["at"].astype(int), frame["at"])
    assert_array_equal(rows["forecast"], forecasts)
    assert same_states(spark.to_fleet(blocks), fleet)
    session.stop()
    print("an executor was killed; all is equal")  # noqa: T201


if __name__ == "__main__":
    main()
