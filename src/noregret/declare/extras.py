"""Libraries that only some calls need: the call imports its own, or says how to get it.

A plain `pip install noregret` brings NumPy, and Click and Rich for the command line.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

from noregret.errors import NoRegretError

__all__ = ["lacking", "loaded", "module", "optional"]

EXTRAS = {
    "duckdb": "io",
    "matplotlib": "plot",
    "pandas": "frames",
    "polars": "io",
    "pyarrow": "io",
    "pyspark": "spark",
    "river": "river",
    "scipy": "scipy",
    "sklearn": "sklearn",
    "threadpoolctl": "sklearn",
}
"""Every library that is not always there: the extra of pyproject.toml that brings it."""
CALLED = {"sklearn": "scikit-learn"}


def module(name: str, wanted_by: str) -> ModuleType:
    """A module that only some calls need, or the error that says how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise lacking(name, wanted_by) from None


def lacking(name: str, wanted_by: str) -> NoRegretError:
    """The error for a module that is not installed."""
    package = name.partition(".")[0]
    how = f"'noregret[{EXTRAS[package]}]'" if package in EXTRAS else package
    return NoRegretError(f"{wanted_by} needs {CALLED.get(package, package)}: pip install {how}")


def optional(name: str) -> ModuleType | None:
    """A module that a call can do without, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def loaded(name: str) -> ModuleType | None:
    """A module if it is loaded, else None: before that nobody can hold anything of it."""
    return sys.modules.get(name)
