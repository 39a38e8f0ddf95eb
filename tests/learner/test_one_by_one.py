"""predict_one and learn_one as methods of a C base type: who may use them, what they decline."""

from __future__ import annotations

import copy
import gc
import inspect
import pickle
import threading
import weakref
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import noregret as nr
from noregret._native.learner import Lock
from noregret.errors import NoRegretError

REGRESSION: dict[str, Any] = {
    "AAR": lambda: nr.AAR(0.5),
    "Ridge, clip": lambda: nr.Ridge(clip=1.0, fit_intercept=True),
    "BayesianRidge": lambda: nr.BayesianRidge(noise_var=0.5),
    "AAR, drift": lambda: nr.AAR(drift=0.1),
    "OSLOG": lambda: nr.OSLOG(0.1, start=0.5),
}
BINARY: dict[str, Any] = {
    "adf": lambda: nr.BayesianLogistic(method="adf"),
    "probit": lambda: nr.BayesianLogistic(method="adf", family="probit"),
    "newton": lambda: nr.MAPLogistic(history=False),
    "improper": nr.ImproperLogistic,
}
ALL = REGRESSION | BINARY


def stream(name: str, n: int = 3, rounds: int = 12) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    X = rng.integers(-3, 4, (rounds, n)).astype(float)
    return X, (rng.random(rounds) < 0.5).astype(float) if name in BINARY else X[:, 0] - 0.5


def learned(name: str) -> Any:
    learner = ALL[name]()
    for x, y in zip(*stream(name)):
        learner.learn_one(x, y)
    return learner


def compiled(learner: Any) -> bool:
    return getattr(learner._state, "fast", None) is not None


# The same numbers, whatever holds them ------------------------------------------------------

NAMES = ["a", "b", "c"]
FORMS: dict[str, Any] = {
    "array": lambda x: x,
    "strided": lambda x: np.repeat(x, 2)[::2],
    "float32": lambda x: x.astype(np.float32),
    "int64": lambda x: x.astype(np.int64),
    "read-only": lambda x: np.frombuffer(x.tobytes()),
    "list": lambda x: x.tolist(),
    "tuple of NumPy numbers": tuple,
    "mapping": lambda x: dict(zip(NAMES, x.tolist())),
    "mapping of NumPy numbers": lambda x: dict(zip(NAMES, x)),
    "mapping in another order": lambda x: dict(zip(NAMES[::-1], x.tolist()[::-1])),
}
OUTCOMES: list[Any] = [float, np.float64, np.float32, np.array]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ALL)
def test_the_compiled_way_is_the_careful_one(name: str, form: str) -> None:
    fast, careful = ALL[name](), ALL[name]()
    for t, (x, y) in enumerate(zip(*stream(name))):
        given = FORMS[form](x)
        outcome = OUTCOMES[t % (3 if name in BINARY else 4)](y)  # a label is no array
        assert fast.predict_one(given) == careful._predict_carefully(given)
        fast.learn_one(given, outcome)
        careful._learn_carefully(given, outcome)
    assert compiled(fast)
    assert fast.to_bytes() == careful.to_bytes()


@pytest.mark.parametrize("kind", [bool, int, np.bool_, np.int64, np.uint8, np.float32])
@pytest.mark.parametrize("name", BINARY)
def test_labels_of_every_type(name: str, kind: Any) -> None:
    fast, plain = BINARY[name](), BINARY[name]()
    for x, y in zip(*stream(name)):
        fast.learn_one(x, kind(y))
        plain._learn_carefully(x, int(y))
    assert fast.to_bytes() == plain.to_bytes()


@pytest.mark.parametrize("label", [0.5, 2, -1, np.float64(3.0), np.nan])
@pytest.mark.parametrize("name", BINARY)
def test_labels_that_are_none(name: str, label: Any) -> None:
    learner = learned(name)
    before = learner.to_bytes()
    with pytest.raises(NoRegretError):
        learner.learn_one(np.ones(3), label)
    assert learner.to_bytes() == before


@pytest.mark.parametrize("name", ALL)
def test_a_replay_is_the_loop_to_the_last_bit(name: str) -> None:
    loop, table = ALL[name](), ALL[name]()
    X, y = stream(name, rounds=30)
    said = []
    for x, outcome in zip(X, y):
        said.append(loop.predict_one(x))
        loop.learn_one(x, outcome)
    assert table.replay(X, y).forecast == pytest.approx(said, rel=1e-14)
    assert table.to_bytes() == loop.to_bytes()


# What is declined ---------------------------------------------------------------------------

RAN: list[str] = []


class Float(float):
    def __float__(self) -> float:
        RAN.append("float")
        return 1.0


class Acts:
    def __float__(self) -> float:
        RAN.append("acts")
        return 1.0

    __index__ = __float__


class Text(str):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        RAN.append("text")
        return str.__eq__(self, other)

    __hash__ = str.__hash__


class Rows(list):
    def __getitem__(self, k: Any) -> Any:
        RAN.append("list")
        return super().__getitem__(k)


@pytest.mark.parametrize("name", ALL)
def test_code_of_the_caller_runs_on_the_careful_way_only(name: str) -> None:
    learner = learned(name)
    rounds = learner._state.fast
    before = learner.to_bytes()
    RAN.clear()
    for x in ([Acts(), 1.0, 1.0], Rows([1.0, 1.0, 1.0]), (1.0, Float(2.0), 0.0)):
        assert rounds.predict(x) is None
        assert not rounds.learn(x, 1.0)
    for y in (Acts(), Float(1.0), None, "1", [1.0], np.ones(1), 1j):
        assert not rounds.learn([1.0, 1.0, 1.0], y)
    named = ALL[name]()
    named.learn_one({"a": 1.0, "b": 2.0}, 1)
    named.learn_one({"a": 1.0, "b": 2.0}, 1)
    assert named._state.fast.predict({Text("a"): 1.0, "b": 2.0}) is None
    assert not named._state.fast.learn({"a": 1.0, Text("b"): 2.0}, 1)
    assert RAN == []
    assert learner.to_bytes() == before


@pytest.mark.parametrize(
    "x", [[1.0, np.nan, 0.0], [1.0, np.inf, 0.0], [1.0], None, "abc", {"a": 1}]
)
@pytest.mark.parametrize("name", ALL)
def test_a_refused_round_leaves_no_trace(name: str, x: Any) -> None:
    learner = learned(name)
    before = learner.to_bytes()
    with pytest.raises(NoRegretError):
        learner.predict_one(x)
    with pytest.raises(NoRegretError):
        learner.learn_one(x, 1.0)
    with pytest.raises(NoRegretError):
        learner.learn_one(np.ones(3), np.inf)
    assert learner.to_bytes() == before


def test_oslog_with_more_passes_takes_the_lock() -> None:
    learner = nr.OSLOG(passes=3)
    learner.learn_one([1.0, 2.0], 1.0)
    assert not compiled(learner)


def test_experts_that_walk_as_a_function_says_need_python() -> None:
    fast, twin = nr.AAR(drift=lambda t: 0.1 * t), nr.AAR(drift=lambda t: 0.1 * t)
    X, y = stream("AAR")
    for x, outcome in zip(X, y):
        fast.learn_one(x, outcome)
    twin.fit(X, y)
    assert fast.predict_one(X[0]) == twin.predict_one(X[0])


# Threads ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_while_the_lock_is_held_a_round_waits(name: str) -> None:
    learner = learned(name)
    x, before, started = np.ones(3), learner.n_samples_seen_, threading.Event()

    def learn() -> None:
        started.set()
        learner.learn_one(x, 1.0)

    thread = threading.Thread(target=learn)
    with learner._lock:
        thread.start()
        started.wait()
        thread.join(timeout=0.05)
        assert thread.is_alive()
        assert learner._state.rounds == before
    thread.join(timeout=60.0)
    assert learner.n_samples_seen_ == before + 1


@pytest.mark.parametrize("name", ALL)
def test_threads_that_share_a_learner_lose_no_round(name: str) -> None:
    learner = learned(name)
    before = learner.n_samples_seen_
    X, y = stream(name, rounds=50)

    def work() -> None:
        for x, outcome in zip(X, y):
            learner.predict_one(x)
            learner.learn_one(x, outcome)
            copy.copy(learner)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert learner.n_samples_seen_ == before + 200


def test_a_lock_is_a_lock() -> None:
    lock = Lock()
    with pytest.raises(RuntimeError, match="unlocked"):
        lock.release()
    assert lock.acquire()
    assert lock.locked()
    assert not lock.acquire(blocking=False)
    lock.release()
    with lock:
        assert lock.locked()
    assert not lock.locked()
    seen = weakref.ref(lock)
    del lock
    assert seen() is None


# A class like any other ---------------------------------------------------------------------


def test_help_and_signatures() -> None:
    assert list(inspect.signature(nr.AAR.predict_one).parameters) == ["self", "x"]
    assert list(inspect.signature(nr.AAR().learn_one).parameters) == ["x", "y"]
    assert "outcome" in inspect.getdoc(nr.AAR.learn_one)


def test_arguments_by_name_and_wrong_ones() -> None:
    learner = nr.AAR()
    learner.learn_one(y=1.0, x=[1.0])
    learner.learn_one([1.0], y=1.0)
    assert learner.predict_one(x=[1.0]) == learner.predict_one([1.0])
    for call in (
        learner.predict_one,
        lambda: learner.predict_one([1.0], 2.0),
        lambda: learner.predict_one(z=[1.0]),
        lambda: learner.learn_one([1.0]),
        lambda: learner.learn_one([1.0], x=[1.0]),
        lambda: learner.learn_one([1.0], 1.0, y=1.0),
    ):
        with pytest.raises(TypeError, match="argument"):
            call()
    assert learner.n_samples_seen_ == 2


class Counting(nr.AAR):
    def learn_one(self, x: Any, y: Any) -> None:
        self.__dict__["count"] = self.__dict__.get("count", 0) + 1
        super().learn_one(x, y)


def test_a_child_in_python() -> None:
    child, plain = Counting(0.5), nr.AAR(0.5)
    for x, y in zip(*stream("AAR")):
        child.learn_one(x, y)
        plain.learn_one(x, y)
        assert child.predict_one(x) == plain.predict_one(x)
    assert child.count == 12


@pytest.mark.parametrize("name", ALL)
def test_copies_pickles_and_clones(name: str) -> None:
    learner = learned(name)
    said = learner.predict_one(np.ones(3))
    for twin in (copy.copy(learner), copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))):
        assert twin.predict_one(np.ones(3)) == said
        twin.learn_one(np.ones(3), 1.0)  # the first does not learn it
        assert compiled(twin)
        assert learner.predict_one(np.ones(3)) == said
    assert clone(learner)._state is None


def test_rounds_go_to_the_state_that_is_there() -> None:
    learner = learned("AAR")
    mark = learner._mark()
    learner.learn_one(np.ones(3), 5.0)
    learner._restore(mark)
    assert learner.n_samples_seen_ == 12
    learner.learn_one(np.ones(3), 5.0)
    assert learner.n_samples_seen_ == 13
    learner.fit(np.ones((2, 2)), np.ones(2))  # another width
    learner.learn_one(np.ones(2), 1.0)
    assert learner.n_samples_seen_ == 3


def test_a_learner_that_holds_itself_is_collected() -> None:
    learner = learned("AAR")
    learner.__dict__["me"] = learner
    seen = weakref.ref(learner)
    del learner
    gc.collect()
    assert seen() is None


def test_lock_and_state_are_what_they_must_be() -> None:
    learner = nr.AAR()
    with pytest.raises(TypeError, match="lock"):
        learner._lock = threading.Lock()
    with pytest.raises(AttributeError):
        del learner._state
    assert learner._state is None


def test_a_refused_table_does_not_change_the_labels() -> None:
    learner = nr.ImproperLogistic()
    learner.learn_one([1.0, 2.0], 1)
    learner._restore(learner._start_row([1.0, 2.0]))
    with pytest.raises(NoRegretError):
        learner.replay([[1.0, np.nan]] * 2, ["no", "yes"])
    learner.learn_one([1.0, 2.0], 1)
    assert learner.classes_.tolist() == [0, 1]
