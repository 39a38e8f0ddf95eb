"""Many learners over one stream, on all cores: for sweeps over parameters.

Threads share the rows; compiled replays let go of Python's lock, so that they run side by side.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from time import perf_counter
from typing import TypeVar, overload

from noregret.errors import InputError, abbreviated
from noregret.inputs.values import as_frame, table
from noregret.learner.replay import Replay
from noregret.running.player import Playable
from noregret.types import Outcomes, Table

K = TypeVar("K")

__all__ = ["parallel"]


@overload
def parallel(
    learners: Mapping[K, Playable],
    X: Table,
    y: Outcomes,
    *,
    threads: int | None = None,
    progress: bool | None = None,
) -> dict[K, Replay]: ...
@overload
def parallel(
    learners: Sequence[Playable],
    X: Table,
    y: Outcomes,
    *,
    threads: int | None = None,
    progress: bool | None = None,
) -> list[Replay]: ...
def parallel(
    learners: Mapping[K, Playable] | Sequence[Playable],
    X: Table,
    y: Outcomes,
    *,
    threads: int | None = None,
    progress: bool | None = None,
) -> dict[K, Replay] | list[Replay]:
    """Replay one stream by many learners, each forecasting it as if it were alone.

    learners : a list of them, or a mapping of names to them; the replays come in the same form.
        Every learner has learned all rows afterwards, or none of them where it refuses.
    threads : as many as there are cores where it is None.  Ridge, AAR, BayesianRidge, Auto and the
        logistic learners run side by side; of others only what is compiled.
    progress : a line on standard error; None: where that is a terminal.

    Results do not depend on the number of threads.  If learners refuse the rows, the refusal of the
    first of them is raised when all others are done.

    >>> import noregret as nr
    >>> X, y = [[1.0], [2.0], [1.0]], [1.0, 2.0, 1.5]
    >>> sweep = nr.parallel({a: nr.Ridge(a) for a in (0.1, 1.0, 10.0)}, X, y)
    >>> {a: round(float(replay.loss.sum()), 2) for a, replay in sweep.items()}
    {0.1: 1.3, 1.0: 2.44, 10.0: 5.67}
    """
    names = list(learners) if isinstance(learners, Mapping) else None
    each = list(learners.values()) if isinstance(learners, Mapping) else list(learners)
    for learner in each:
        if not callable(getattr(learner, "replay", None)):
            raise InputError(f"learner = {abbreviated(learner)} has no replay: give learners")
    if len({id(learner) for learner in each}) < len(each):
        raise InputError("learners has one learner twice: give each name its own")
    if threads is not None and (type(threads) is not int or threads < 1):
        raise InputError(f"threads = {abbreviated(threads)}: give a whole number >= 1, or None")
    rows = table(as_frame(X))  # read once, for all
    told = _Told(len(each), progress)
    with ThreadPoolExecutor(threads or _cores(), "noregret parallel") as pool:
        coming = [pool.submit(learner.replay, rows, y) for learner in each]
        for _ in as_completed(coming):
            told.one_more()
    told.end()
    found = [one.result() for one in coming]
    return found if names is None else dict(zip(names, found, strict=True))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Told:
    """A line that says how many are done, where somebody is looking."""

    def __init__(self, total: int, wanted: bool | None) -> None:  # noqa: FBT001  # None is neither
        looking = sys.stderr is not None and sys.stderr.isatty()
        self.on = looking if wanted is None else wanted and sys.stderr is not None
        self.total, self.done, self.begin = total, 0, perf_counter()

    def one_more(self) -> None:
        """One learner is done."""
        self.done += 1
        if self.on:
            spent = perf_counter() - self.begin
            sys.stderr.write(f"\r{self.done}/{self.total} learners, {spent:,.0f} s")
            sys.stderr.flush()

    def end(self) -> None:
        """All are."""
        if self.on:
            sys.stderr.write("\n")
