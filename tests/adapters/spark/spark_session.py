"""Sessions on this machine alone: every socket on the loopback address."""

from __future__ import annotations

import os
import sys
from typing import Any

os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def started(master: str, **settings: object) -> Any:
    from pyspark.sql import SparkSession

    from noregret.adapters import spark

    builder = SparkSession.builder.master(master).appName("noregret")
    quiet = {
        "spark.ui.enabled": False,
        "spark.ui.showConsoleProgress": False,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": 4,
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # start fast
    }
    for name, value in {**quiet, **spark.SETTINGS, **settings}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session
