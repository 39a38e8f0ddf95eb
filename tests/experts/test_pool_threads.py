"""Threads that share a pool: some serial order, no round lost, certificates at any time."""

from __future__ import annotations

import math
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

import noregret as nr

X = np.random.default_rng(0).normal(size=(60, 4))
Y = (X[:, 0] / 2.0).clip(-1.5, 1.5)


@pytest.fixture
def restless() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("restless")
@pytest.mark.parametrize("kind", ["names", "learners"])
def test_two_threads_on_one_pool(kind: str) -> None:
    """Some serial order: sums over rounds do not depend on which."""
    experts: Any = ["p", "q", "r", "s"] if kind == "names" else nr.over(nr.AAR, drift=[0.0, 0.1])
    pool = nr.AggregatingAlgorithm(experts, outcome_range=1.5)
    errors: list[BaseException] = []

    def work(rows: slice) -> None:
        try:
            for x, y in zip(X[rows], Y[rows].tolist(), strict=True):
                assert math.isfinite(pool.predict_one(x))
                pool.learn_one(x, y)
                assert sum(pool.weights_.values()) == pytest.approx(1.0, abs=1e-12)
                assert pool.certificate().holds
        except BaseException as error:
            errors.append(error)

    halves = [slice(0, 30), slice(30, 60)] * 2
    threads = [threading.Thread(target=work, args=(half,), daemon=True) for half in halves]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60.0)
        assert not thread.is_alive(), "deadlock"
    assert not errors
    assert pool.n_samples_seen_ == 120
    assert [c.holds for c in pool.certificates()] == [True] * len(pool.certificates())
    if kind == "names":
        alone = clone(pool).fit(X, Y).partial_fit(X, Y)
        for one, other in ((pool.losses_, alone.losses_), (pool.weights_, alone.weights_)):
            assert_allclose(list(one.values()), list(other.values()), rtol=1e-9, atol=1e-12)
    else:
        assert [e.n_samples_seen_ for e in pool.experts_.values()] == [120, 120]


@pytest.mark.usefixtures("restless")
def test_longer_calls_among_rounds() -> None:
    """One thread learns round by round, one replays, one copies and reads: whole rounds only."""
    pool = nr.AggregatingAlgorithm([nr.AAR(), nr.Ridge()], outcome_range=1.5).fit(X[:1], Y[:1])
    errors: list[BaseException] = []

    def learn() -> None:
        for x, y in zip(X, Y.tolist(), strict=True):
            pool.learn_one(x, y)

    def replay() -> None:
        for t in range(0, 60, 6):
            pool.replay(X[t : t + 6], Y[t : t + 6])

    def read() -> None:
        for _ in range(40):
            other = pickle.loads(pickle.dumps(pool))
            rounds = other.n_samples_seen_
            assert [e.n_samples_seen_ for e in other.experts_.values()] == [rounds, rounds]
            assert [c.holds for c in other.certificates()] == [True] * 4
            assert np.isfinite(pool.predict(X[:3])).all()

    def run(task: Callable[[], None]) -> None:
        try:
            task()
        except BaseException as error:
            errors.append(error)

    threads = [
        threading.Thread(target=run, args=(task,), daemon=True) for task in (learn, replay, read)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60.0)
        assert not thread.is_alive(), "deadlock"
    assert not errors
    assert pool.n_samples_seen_ == 121
    assert [e.n_samples_seen_ for e in pool.experts_.values()] == [121, 121]
