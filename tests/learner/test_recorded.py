"""Forecasts of every learner are those that were recorded."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import recorded
from noregret import __file__ as package
from stored import CASES

WANTED = recorded.recorded()


def test_there_are_at_least_fifty_streams_and_one_of_every_case() -> None:
    assert len(WANTED) >= 50
    assert set(WANTED) == set(CASES)
    assert all(np.isfinite(values).all() and len(values) >= 6 for values in WANTED.values())


@pytest.mark.parametrize("name", WANTED)
def test_forecasts_are_those_recorded_but_for_a_processors_rounding(name: str) -> None:
    said = recorded.forecasts(name, CASES[name])
    assert len(said) == len(WANTED[name])
    assert recorded.apart(said, WANTED[name]) <= recorded.CLOSE


@pytest.mark.slow
def test_forecasts_are_those_recorded_to_the_last_bit() -> None:
    """On the arithmetic that they were recorded with, which another process has."""
    versions = json.loads(recorded.RECORDED.read_text())["versions"]
    if versions != recorded.versions():
        pytest.skip(f"recorded with {versions}, and this is {recorded.versions()}")
    if "avx2" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("recorded on a processor with AVX2, which this one has not")
    environment = recorded.narrow() | {"PYTHONPATH": str(Path(package).parents[1])}
    done = subprocess.run(
        [sys.executable, recorded.__file__, "compare"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
