"""One Spark session for all tests; a clear word where there is none."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

HERE = (__file__.rpartition("/")[0], "noregret/adapters/spark")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder is slow, needs Spark, and hears Spark's own warnings."""
    for item in items:
        if str(item.path).startswith(HERE[0]):
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.spark)
            item.add_marker(pytest.mark.filterwarnings("default"))


@pytest.fixture(scope="session", autouse=True)
def java_and_pyspark() -> None:
    if shutil.which("java") is None:
        pytest.skip("Java is absent: Spark needs Java 17")
    if importlib.util.find_spec("pyspark") is None:
        pytest.skip("PySpark is absent: `make spark` has an environment with it")


@pytest.fixture(scope="session")
def session(java_and_pyspark: None) -> Iterator[Any]:
    from spark_session import started

    found = started("local[2]")
    yield found
    found.stop()
