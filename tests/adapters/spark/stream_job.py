"""A stream that its test kills: `python stream_job.py folder moment`.

It reads folder/in, writes folder/out and folder/checkpoint, and runs until it is killed.  At one
moment of one micro-batch it says so (folder/here) and waits for its end.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from spark_session import started
from traffic import NAMES, learner

from noregret.adapters import spark

SCHEMA = "a double, b double, c double, shop bigint, at bigint, y double"
SHARDS = 16


def pausing(here: Path, at: int, end: bool, batches: Iterator[Any]) -> Iterator[Any]:
    """Pass batches on; stop for good when a row of that time has come, or when all have."""
    seen = False
    for batch in batches:
        seen = seen or at in batch.column(batch.schema.get_field_index("at")).to_pylist()
        if seen and not end:
            stop(here)
        yield batch
    if seen and end:
        stop(here)


def stop(here: Path) -> None:
    parent = os.getppid()
    here.touch()
    while os.getppid() == parent:
        time.sleep(0.02)
    os._exit(1)


def main() -> None:
    folder, moment, at = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    session = started("local[2]", **{"spark.sql.shuffle.partitions": 2})
    rows = session.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    rows = rows.parquet(str(folder / "in"))
    if moment == "before":
        rows = rows.mapInArrow(partial(pausing, folder / "here", at, False), SCHEMA)
    found = spark.stream(rows, "shop", NAMES, "y", "at", learner(), shards=SHARDS)
    if moment in ("amid", "end"):
        kept = "shop bigint, at bigint, y double, forecast double, error string"
        found = found.mapInArrow(partial(pausing, folder / "here", at, moment == "end"), kept)
    writer = found.writeStream.option("checkpointLocation", str(folder / "checkpoint"))
    writer.format("parquet").start(str(folder / "out")).awaitTermination()


if __name__ == "__main__":
    main()
