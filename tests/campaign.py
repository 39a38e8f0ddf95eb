"""A hostile campaign over every public learner, pool and wrapper, counted (`make campaign`).

    python tests/campaign.py [at least so many calls]

Every call of hostile_calls.py is made to every case of the state machine: to a learner that has
seen nothing, and to one in the middle of its stream.  What was refused must have changed nothing;
what was accepted must forecast on.  Exits with 1 if anything was

    poisoned   a later forecast is no number, or what must be refused was accepted
    half done  a refused call changed the file, or parts of a learner count other rounds
    foreign    an exception that is not one of noregret's, or a warning
    slow       more than a second of processor time
    large      more than 256 MB
"""

from __future__ import annotations

import functools
import gc
import signal
import sys
import time
import tracemalloc
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

import noregret as nr
from hostile_calls import LARGE, NEVER, OUTCOMES, calls, columns, tables
from machine import CASES, LOT, asked, rounds
from noregret.errors import NoRegretError
from stored import Case, issue

SECONDS, MEGABYTES = 1.0, 256
THINNED = 3
PATIENCE = 30  # seconds before a call is stopped
AT_LEAST = 40_000
STARTS = (0, 8)  # rounds learned before the call


class Stopped(BaseException):
    """A call that did not come back."""


def stop(*_: Any) -> None:
    raise Stopped


def started(case: Case, T: int) -> Any:
    """A learner that has seen T rounds."""
    learner = case.make()
    for x, y in zip(case.xs(LOT)[:T], case.ys(LOT)):
        if case.predict is issue:
            case.predict(learner, x)
        case.learn(learner, x, y)
    return learner


def measured(call: Callable[[], Any]) -> tuple[BaseException | None, float, float]:
    """What a call raised, the seconds and the megabytes that it took."""
    tracemalloc.reset_peak()
    held, _ = tracemalloc.get_traced_memory()
    raised: BaseException | None = None
    signal.alarm(PATIENCE)
    begin = time.process_time()
    try:
        call()
    except (Exception, Stopped) as failure:
        raised = failure
        failure.__traceback__ = None  # it would keep what the call held
    finally:
        took = time.process_time() - begin
        signal.alarm(0)
    return raised, took, (tracemalloc.get_traced_memory()[1] - held) / 1e6


class Count:
    """What came of all calls."""

    def __init__(self) -> None:
        self.calls = self.accepted = 0
        self.found: Counter[tuple[str, str]] = Counter()

    def fault(self, kind: str, name: str, what: str) -> None:
        if not self.found[kind, f"{name}: {what}"]:
            print(f"  {kind}: {name}: {what}", flush=True)
        self.found[kind, f"{name}: {what}"] += 1

    def judged(self, name: str, what: str, call: Callable[[], Any]) -> bool:
        """Make a call; whether it was accepted."""
        self.calls += 1
        raised, took, size = measured(call)
        if isinstance(raised, MemoryError):
            self.fault("large", name, f"{what}: {raised}")
        elif isinstance(raised, Stopped):
            self.fault("slow", name, f"{what}: stopped after {PATIENCE} s")
        elif raised is not None and not isinstance(raised, NoRegretError):
            self.fault("foreign", name, f"{what}: {type(raised).__name__}: {raised}"[:160])
        if took > SECONDS and measured(call)[1] > SECONDS:  # the first time may compile
            self.fault("slow", name, f"{what}: {took:.1f} s")
        if size > MEGABYTES:
            self.fault("large", name, f"{what}: {size:.0f} MB")
        self.accepted += raised is None
        return raised is None


def attacked(count: Count, name: str, case: Case, T: int) -> None:
    """Every hostile call to one learner; it is made anew where a call was accepted."""
    xs, ys = case.xs(LOT), case.ys(LOT)
    probe = xs[0]
    learner = started(case, T)
    before = learner.to_bytes(), rounds(learner)
    # One call in THINNED: which of them differs from case to case.
    lot = [*calls(learner, xs[T : T + 3], ys[T + 2 : T + 5], T % 2)]
    for call in lot[(T + len(name)) % THINNED :: THINNED]:
        what = f"after {T} rounds, {call.kind}"
        taken = count.judged(name, what, functools.partial(call, learner))
        if not taken:
            if (learner.to_bytes(), rounds(learner)) != before:
                count.fault("half done", name, what)
                taken = True
        elif call.never:
            count.fault("poisoned", name, f"{what}: accepted")
        if taken:
            alive(count, name, what, learner, probe)
            learner = started(case, T)
            before = learner.to_bytes(), rounds(learner)
    twin = started(case, T)
    for x, y in zip(xs[T:], ys[T:]):  # after all that it goes on like one that was left alone
        for each in (learner, twin):
            if case.predict is issue:
                case.predict(each, x)
            case.learn(each, x, y)
    if learner.to_bytes() != twin.to_bytes():
        count.fault("poisoned", name, f"after {T} rounds and all refusals it learns otherwise")


def alive(count: Count, name: str, what: str, learner: Any, probe: Any) -> None:
    """A learner that accepted something strange gives numbers, or refuses by name."""
    try:
        said = asked(learner, probe)
        learner.to_bytes()
    except NoRegretError:
        return
    except Exception as failure:
        count.fault("poisoned", name, f"{what}: then {type(failure).__name__}: {failure}"[:160])
        return
    if said is not None and not np.isfinite(np.frombuffer(said)).all():
        count.fault("poisoned", name, f"{what}: then the forecast {np.frombuffer(said)}")


MADE: dict[str, Callable[[], Any]] = {
    **{kind.__name__: kind for kind in (nr.Ridge, nr.BayesianRidge, nr.AAR, nr.OSLOG, nr.SLOG)},
    **{kind.__name__: kind for kind in (nr.MAPLogistic, nr.BayesianLogistic, nr.ImproperLogistic)},
    **{kind.__name__: kind for kind in (nr.Auto, nr.SafeOSLOG, nr.SafeLogistic)},
    "KernelLMS": lambda: nr.KernelLMS("rbf"),
    "KLMSNet": lambda: nr.KLMSNet(1.0, nodes=5),
    "AggregatingAlgorithm": lambda: nr.AggregatingAlgorithm([nr.AAR()]),
    "BayesianAlgorithm": lambda: nr.BayesianAlgorithm([nr.BayesianRidge()]),
    "ExponentialWeights": lambda: nr.ExponentialWeights([nr.AAR()], outcome_range=1.0),
    "MLpol": lambda: nr.MLpol([nr.AAR(), nr.Ridge()]),
    "RulePool": lambda: nr.RulePool([nr.AAR(), nr.Ridge()], outcome_range=1.0),
    "BOA": lambda: nr.BOA([nr.AAR(), nr.Ridge()], loss="huber", width=0.5),
    "Delayed": lambda: nr.Delayed(nr.AAR()),
    "Lagged": lambda: nr.Lagged(nr.AAR()),
}


def parameters(count: Count) -> None:
    """Hostile parameters: refused at the first call, or used."""
    x, X, y = np.array([1.0, 2.0]), np.array([[1.0, 2.0], [0.5, 1.0], [2.0, 0.0]]), [0.0, 1.0, 0.0]

    def used(make: Callable[[], Any], **given: Any) -> None:
        learner = make().set_params(**given)
        if isinstance(learner, nr.SLOG):
            learner.fit(X, y)
        else:
            ticket = learner.predict_one(x)
            learner.learn_one(ticket if isinstance(learner, nr.Delayed) else x, 1.0)

    for name, make in MADE.items():
        for parameter in make().get_params(deep=False):
            for what, value in {**NEVER, **LARGE}.items():

                def call(make: Any = make, parameter: str = parameter, value: Any = value) -> None:
                    used(make, **{parameter: value()})

                count.judged(name, f"{parameter} {what}", call)


def forecasts(count: Count) -> None:
    """`aggregate` and what takes tables of forecasts."""
    rows = [np.array([0.1, 0.9, 0.5]), np.array([0.2, 0.8, 0.5]), np.array([0.3, 0.7, 0.5])]
    ys = [0.0, 1.0, 1.0]
    for loss in ("square", "log", "brier"):
        for k in range(3):
            for kind, table in tables(rows, k).items():
                count.judged(
                    "aggregate",
                    f"{loss}, forecasts {kind}",
                    _aggregated(table, lambda: ys, loss=loss),
                )
        for kind, column in columns(ys).items():
            count.judged(
                "aggregate",
                f"{loss}, y {kind}",
                _aggregated(lambda: np.array(rows), column, loss=loss),
            )
    for name in ("outcome_range", "loss", "share", "prior"):
        for kind, value in {**NEVER, **LARGE, **OUTCOMES}.items():
            count.judged(
                "aggregate",
                f"{name} {kind}",
                lambda n=name, v=value: nr.aggregate(np.array(rows), ys, **{n: v()}),
            )
    for kind, table in tables(rows, 0).items():
        count.judged("best_sequence", f"losses {kind}", lambda t=table: nr.best_sequence(t(), 1))
        count.judged("merge", f"learners {kind}", lambda t=table: nr.merge(t()))
        count.judged("from_bytes", f"data {kind}", lambda t=table: nr.from_bytes(t()))
        count.judged("over", f"values {kind}", lambda t=table: nr.over(nr.AAR, prior_precision=t()))
    for kind, value in {**NEVER, **LARGE}.items():
        count.judged(
            "best_sequence",
            f"switches {kind}",
            lambda v=value: nr.best_sequence(np.array(rows), v()),
        )


def _aggregated(table: Any, column: Any, **given: Any) -> Callable[[], Any]:
    def call() -> Any:
        found = nr.aggregate(table(), column(), **given)
        if not np.isfinite(found.forecast).all():
            raise FloatingPointError("a forecast that is no number")
        return found

    return call


def main(at_least: int) -> int:
    warnings.simplefilter("error")
    signal.signal(signal.SIGALRM, stop)
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (12 * 2**30, resource.RLIM_INFINITY))
    except (ImportError, ValueError):
        pass
    for case in CASES.values():  # compile before anything is measured
        asked(started(case, 3), case.xs(3)[0])
    tracemalloc.start()
    count = Count()
    parameters(count)
    forecasts(count)
    for name, case in CASES.items():
        for T in STARTS:
            attacked(count, name, case, T)
            gc.collect()
    print(f"{count.calls:,} hostile calls, {count.accepted:,} of them accepted")
    for kind in ("poisoned", "half done", "foreign", "slow", "large"):
        print(f"{sum(n for (k, _), n in count.found.items() if k == kind):8,} {kind}")
    if count.calls < at_least:
        print(f"fewer than {at_least:,} calls were made")
    return int(bool(count.found) or count.calls < at_least)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if sys.argv[1:] else AT_LEAST))
