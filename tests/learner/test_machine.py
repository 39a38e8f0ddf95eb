"""Every learner, pool and wrapper through the state machine of machine.py.

200 short runs, always the same, in CI; NOREGRET_EXPLORE=10000 gives so many of 50 steps, with
seeds that are new each time and printed (`make explore`).
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from conftest import EXPLORE, SEED
from machine import CASES, Machine

SLOW = {
    "averaging, auto",
    "averaging, exact",
    "auto, kernels",
    "averaging, defaults",
    "safe logistic, defaults",
}
APART = {
    "forecaster, times": "a time that has been learned cannot be asked about again",
    "delayed, copies": "a forecast that waits decides which copy the next one comes from",
}
"""Learners of which asking twice is not asking the same; tests of their own are in their rooms."""
RUNS = EXPLORE or 200
STEPS = 50 if EXPLORE else 30


def runs(name: str) -> int:
    """How many runs a case gets of all: slow ones a fifth of the others' share."""
    shares = {case: 1 if case in SLOW else 5 for case in CASES}
    return -(-RUNS * shares[name] // sum(shares.values()))


@pytest.fixture(autouse=True)
def restless() -> Iterator[None]:
    """Let the interpreter switch threads as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CASES if name not in APART])
def test_whatever_is_done_to_a_learner_it_equals_its_plain_twin(name: str) -> None:
    machine = type("Machine", (Machine,), {"name": name, "case": CASES[name]})
    run_state_machine_as_test(
        seed(SEED + zlib.crc32(name.encode()))(machine),
        settings=settings(
            max_examples=runs(name),
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
