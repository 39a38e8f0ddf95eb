"""One Spark session for all tests of this folder; a clear word where there is none."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder is slow and needs Spark."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.spark)


@pytest.fixture(scope="session", autouse=True)
def java_and_pyspark() -> None:
    if importlib.util.find_spec("pyspark") is None:
        pytest.skip("PySpark is absent: `make spark` has an environment with it")
    if shutil.which("java") is None:
        pytest.skip("Java is absent: Spark needs Java 17")


@pytest.fixture(scope="session")
def session(java_and_pyspark: None) -> Iterator[Any]:
    from spark_session import started

    found = started("local[2]")
    yield found
    found.stop()
