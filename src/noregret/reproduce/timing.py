"""Fair timing on a busy machine: contestants take turns, and only ratios are trusted.

Each repetition runs every contestant once, back to back, so that all of them see the same
weather.  What is reported is the median, with its quartiles, of the ratio within repetitions.
Time is that of the processor, which waits for nobody; where the disk matters, `clock=perf_counter`.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter, process_time

import numpy as np

Job = Callable[[int], object]
"""Runs the given number of rounds."""
Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times faster: median and quartiles over repetitions."""

    low: float
    median: float
    high: float

    def __str__(self) -> str:
        digits = 2 if self.median < 2 else 1 if self.median < 20 else 0
        return f"{self.median:.{digits}f} ({self.low:.{digits}f} to {self.high:.{digits}f})"


@dataclass(frozen=True, slots=True)
class Race:
    """Seconds per round, an array by contestant, one entry per repetition."""

    seconds: dict[str, np.ndarray]

    def microseconds(self, name: str) -> float:
        """The median of one round."""
        return 1e6 * float(np.median(self.seconds[name]))

    def speed(self, name: str, baseline: str) -> Ratio:
        """The speed of `name` as a multiple of the baseline's."""
        return quartiles(self.seconds[baseline] / self.seconds[name])


def quartiles(values: np.ndarray) -> Ratio:
    """The three quartiles."""
    return Ratio(*(float(q) for q in np.quantile(values, [0.25, 0.5, 0.75])))


def race(
    jobs: dict[str, Job], *, seconds: float, slot: float = 0.004, clock: Clock = process_time
) -> Race:
    """Let jobs take turns of about `slot` seconds each until `seconds` are gone."""
    rounds = {name: _rounds_in(job, slot, clock) for name, job in jobs.items()}
    return race_rounds(jobs, rounds, seconds=seconds, clock=clock)


def race_rounds(
    jobs: dict[str, Job],
    rounds: dict[str, int],
    *,
    seconds: float,
    least: int = 7,
    clock: Clock = process_time,
) -> Race:
    """Let jobs take turns of a fixed number of rounds each; at least `least` repetitions."""
    taken: dict[str, list[float]] = {name: [] for name in jobs}
    order = list(jobs)
    with _no_collection():
        started = perf_counter()
        while perf_counter() - started < seconds or len(taken[order[0]]) < least:
            for name in order:
                begin = clock()
                jobs[name](rounds[name])
                taken[name].append((clock() - begin) / rounds[name])
            order.append(order.pop(0))  # nobody always follows the same neighbour's cold cache
    return Race({name: np.array(times) for name, times in taken.items()})


def _rounds_in(job: Job, slot: float, clock: Clock) -> int:
    """How many rounds fill a slot; warms the job up on the way.

    The most of three tries: a first round that makes the state, or a pause, is not the job's pace.
    """
    return max(_filling(job, slot, clock) for _ in range(3))


def _filling(job: Job, slot: float, clock: Clock) -> int:
    rounds = 1
    while True:
        begin = clock()
        job(rounds)
        spent = clock() - begin
        if spent > slot / 4:
            return max(1, round(rounds * slot / spent))
        rounds *= 2


@contextmanager
def _no_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
