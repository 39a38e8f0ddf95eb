"""Learners in other processes: forks while a call is under way, joblib's workers."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.learner import locks
from stored import CASES, bits, extended, proofs

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")


def in_child(work: Callable[[], Any]) -> bytes:
    """What `work` gives as bytes, in a child that is forked now; a hang is an error."""
    out, into = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12: threads, and a fork
        pid = os.fork()
    if pid == 0:
        code = 1
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(60)
            os.write(into, work())
            code = 0
        except BaseException:
            traceback.print_exc(file=sys.__stderr__)
        finally:
            os._exit(code)
    os.close(into)
    with os.fdopen(out, "rb") as file:
        said = file.read()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    return said


def one_more(case: Any, learner: Any) -> bytes:
    """Learn a round, forecast the next one; the model file."""
    xs, ys = case.xs(14), case.ys(14)
    case.predict(learner, xs[12])
    case.learn(learner, xs[12], ys[12])
    case.predict(learner, xs[13])
    return learner.to_bytes()


@needs_fork
def test_a_child_forked_while_locks_are_held_can_use_its_copies() -> None:
    cases = [case for name, case in CASES.items() if name != "auto, kernels"]
    learners, twins = [extended(case) for case in cases], [extended(case) for case in cases]
    held, free = threading.Event(), threading.Event()

    def holder() -> None:
        for learner in learners:
            learner._lock.acquire()
        held.set()
        free.wait(60)
        for learner in learners:
            learner._lock.release()

    thread = threading.Thread(target=holder)
    thread.start()
    assert held.wait(60)
    threading.Timer(0.2, free.set).start()

    def use() -> bytes:
        for case, learner, twin in zip(cases, learners, twins):
            assert one_more(case, learner) == one_more(case, twin), type(learner)
        return b"used"

    assert in_child(use) == b"used"
    thread.join()
    for case, learner, twin in zip(cases, learners, twins):  # the parent is as it was
        assert one_more(case, learner) == one_more(case, twin)


class Slow:
    """A kernel that takes its time, once it is told to."""

    def __init__(self) -> None:
        self.wait = False
        self.inside, self.go = threading.Event(), threading.Event()

    def __deepcopy__(self, _: Any) -> Slow:
        return self  # a pool makes its own learners of those that it is given

    def __call__(self, X: Any, Z: Any) -> Any:
        if self.wait:
            self.inside.set()
            assert self.go.wait(60)
        return np.asarray(X) @ np.asarray(Z).T


@needs_fork
@pytest.mark.parametrize(
    "make",
    [
        lambda kernel: nr.Ridge(kernel=kernel),
        lambda kernel: nr.AAR(kernel=kernel, budget=nr.Nystrom(5)),
        lambda kernel: nr.KernelLMS(kernel, 0.01),
        lambda kernel: nr.AggregatingAlgorithm(
            [nr.AAR(kernel=kernel), nr.Ridge()], outcome_range=9.0
        ),
        lambda kernel: nr.Lagged(nr.AAR(kernel=kernel), [1]),
    ],
)
def test_a_fork_in_the_middle_of_a_call_gives_whole_rounds(make: Callable[[Any], Any]) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(12, 2)), rng.normal(size=12)
    slow = Slow()
    learner, twin = make(slow), make(Slow())
    for one in (learner, twin):
        one.replay(X[:5], y[:5])
    slow.wait = True
    thread = threading.Thread(target=learner.replay, args=(X[5:10], y[5:10]))
    thread.start()
    assert slow.inside.wait(60)

    def release() -> None:
        slow.wait = False
        slow.go.set()

    threading.Timer(0.2, release).start()

    def use() -> bytes:
        learner.learn_one(X[10], float(y[10]))
        certificate = learner.certificates()[0]
        said = [learner.predict_one(X[11]), certificate.loss, certificate.rounds]
        return np.array(said, dtype=float).tobytes()

    found = np.frombuffer(in_child(use))
    thread.join()
    twin.replay(X[5:10], y[5:10])
    twin.learn_one(X[10], float(y[10]))
    certificate = twin.certificates()[0]
    expected = [twin.predict_one(X[11]), certificate.loss, certificate.rounds]
    np.testing.assert_array_equal(found, expected)


@needs_fork
def test_a_fork_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that lasts longer than a fork waits keeps its own learner only."""
    monkeypatch.setattr(locks, "WAIT", 0.05)
    busy, other = nr.AAR(), nr.Ridge()
    with busy._lock:
        start = time.monotonic()

        def use() -> bytes:
            other.learn_one([1.0, 2.0], 3.0)
            assert busy._lock.locked()  # this thread holds it, in the child too
            return b"used"

        assert in_child(use) == b"used"
        assert time.monotonic() - start < 60
    busy.learn_one([1.0], 1.0)


@needs_fork
def test_forks_from_several_threads() -> None:
    learner = nr.AAR(drift=0.01)
    learner.learn_one([1.0, 2.0], 3.0)
    done: list[bytes] = []

    def work() -> bytes:
        learner.learn_one([1.0, 2.0], 3.0)
        return b"used"

    threads = [threading.Thread(target=lambda: done.append(in_child(work))) for _ in range(3)]
    for thread in threads:
        thread.start()
    learner.replay(np.ones((50, 2)), np.ones(50))
    for thread in threads:
        thread.join(60)
    assert done == [b"used"] * 3
    learner.learn_one([1.0, 2.0], 3.0)


def worker(name: str, learner: Any) -> tuple[str, Any, bytes]:
    return name, learner, one_more(CASES[name], learner)


@pytest.mark.slow
def test_joblib_workers_take_and_return_every_learner() -> None:
    joblib = pytest.importorskip("joblib")
    names = [name for name in CASES if name != "auto, kernels"]
    learners = {name: extended(CASES[name]) for name in names}
    with joblib.Parallel(n_jobs=2, backend="loky", max_nbytes=1000) as parallel:
        found = parallel(joblib.delayed(worker)(name, learners[name]) for name in names)
    assert [name for name, *_ in found] == names
    wrong = []
    for name, back, file in found:
        case = CASES[name]
        same = file == one_more(case, learners[name])
        same = same and proofs(back) == proofs(learners[name])
        xs, ys = case.xs(16), case.ys(16)
        said = []
        for one in (back, learners[name]):  # it goes on as if it had never been away
            case.learn(one, xs[13], ys[13])
            said.append(bits(case.predict(one, xs[14])))
            case.learn(one, xs[14], ys[14])
        if not (same and said[0] == said[1] and back.to_bytes() == learners[name].to_bytes()):
            wrong.append(name)
    assert wrong == []
