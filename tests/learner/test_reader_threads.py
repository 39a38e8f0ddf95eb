"""While one thread fits a learner to two streams by turns, every read is of one or of the other.

The streams differ in the number of features, rounds and outcomes, in scale and in labels.  What a
read gives, or why it is refused, must be what it would be on the one stream or on the other: no
weights of one with the intercept of the other, no certificate of a stream that was not replayed.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import noregret as nr
from conformance import LEARNERS
from noregret.errors import NoRegretError

rng = np.random.default_rng(0)
SHAPES = (12, 2), (17, 3)
ROWS = tuple(rng.normal(size=shape) for shape in SHAPES)
SCALES = 1.0, 300.0
NUMBERS = tuple(scale * X[:, 0].clip(-1.0, 1.0) for X, scale in zip(ROWS, SCALES))
SEVERAL = NUMBERS[0], np.column_stack([NUMBERS[1], 2.0 * NUMBERS[1]])
WORDS = (NUMBERS[0] > 0.0).astype(int), np.where(NUMBERS[1] > 0.0, "yes", "no")

MORE: dict[str, Callable[[], Any]] = {
    "Ridge, two outcomes": lambda: nr.Ridge(0.3, fit_intercept=True, clip=900.0),
    "BayesianRidge, two outcomes": lambda: nr.BayesianRidge(0.3, fit_intercept=True),
    "AAR, kernel, two outcomes": lambda: nr.AAR(0.3, kernel=RBF()),
    "KLMSNet, family": lambda: nr.KLMSNet(800.0, family=near, nodes=4),
    "Lagged": lambda: nr.Lagged(nr.AAR(), [1, 2]),
    "Lagged, horizon": lambda: nr.Lagged(nr.Ridge(), [1], 2),
    "pool with a net": lambda: nr.AggregatingAlgorithm([nr.AAR(), nr.KLMSNet(800.0, nodes=4)]),
}


def near(alpha: float, U: Any, V: Any) -> Any:
    return np.exp(-alpha * np.abs(np.subtract.outer(U[:, 0], V[:, 0])))


def streams(name: str, learner: Any) -> list[tuple[Any, Any]]:
    kind = NUMBERS
    if hasattr(type(learner), "predict_proba"):
        kind = WORDS
    elif "two outcomes" in name:
        kind = SEVERAL
    return list(zip(ROWS, kind))


METHODS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "certificate": ((), {}),
    "certificates": ((), {}),
    "hindsight": ((), {}),
    "expansion": ((), {}),
    **{f"predict {k}": ((X,), {}) for k, X in enumerate(ROWS)},
    **{f"predict_proba {k}": ((X,), {}) for k, X in enumerate(ROWS)},
    **{f"predict_one {k}": ((X[0],), {}) for k, X in enumerate(ROWS)},
    **{f"predictive {k}": ((X[0],), {}) for k, X in enumerate(ROWS)},
}


def reads(learner: Any) -> dict[str, Callable[[], Any]]:
    """Every public property, and every method that only reads."""
    kind, found = type(learner), {}
    for name in dir(kind):
        public = name.endswith("_") and not name.startswith("_")
        if public and isinstance(getattr(kind, name), property):
            found[name] = lambda name=name: getattr(learner, name)
    for label, (given, named) in METHODS.items():
        name = label.split()[0]
        if hasattr(kind, name):
            found[label] = lambda name=name, a=given, k=named: getattr(learner, name)(*a, **k)
    if isinstance(learner, nr.BayesianRidge):
        for k, X in enumerate(ROWS):
            found[f"predict {k}, std"] = lambda X=X: learner.predict(X, return_std=True)
    if isinstance(learner, nr.SLOG):
        found |= {name: lambda n=name: getattr(learner, n) for name in ("coef_", "intercept_")}
    return found


def plain(value: Any) -> Any:
    """What a read gave, such that == compares every number."""
    if isinstance(value, np.ndarray):
        return value.shape, value.tolist()
    if isinstance(value, Mapping):
        return {name: plain(v) for name, v in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(v) for v in value]
    if is_dataclass(value):
        return {part.name: plain(getattr(value, part.name)) for part in fields(value)}
    return type(value).__name__ if hasattr(value, "get_params") else value


def outcome_of(read: Callable[[], Any]) -> Any:
    try:
        return plain(read())
    except NoRegretError as refusal:
        return type(refusal), str(refusal)


@pytest.fixture(autouse=True)
def _restless() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


class Fitting:
    """A thread that fits by turns."""

    def __init__(self, turns: Sequence[Callable[[], Any]]) -> None:
        self.turns, self.stop, self.failed = turns, threading.Event(), []
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        try:
            while not self.stop.is_set():
                for turn in self.turns:
                    turn()
        except BaseException as failure:
            self.failed.append(failure)

    def __enter__(self) -> None:
        self.thread.start()

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self.thread.join(timeout=60.0)
        assert not self.thread.is_alive(), "deadlock"
        assert not self.failed


def check(name: str, make: Callable[[], Any], seconds: float) -> None:
    learner, given = make(), streams(name, make())
    expected = []
    for X, y in given:
        twin = make().fit(X, y)
        expected.append({label: outcome_of(read) for label, read in reads(twin).items()})
    learner.fit(*given[0])
    found, end = reads(learner), time.monotonic() + seconds
    with Fitting([lambda pair=pair: learner.fit(*pair) for pair in given]):
        while time.monotonic() < end:
            for label, read in found.items():
                seen = outcome_of(read)
                assert seen in (expected[0][label], expected[1][label]), label


def with_a_turn(
    learner: Any, read: Callable[[], Any], turn: Callable[[], Any], place: int
) -> tuple[Any, int]:
    """What a read gives if a fit comes at this place of it; how many places there are.

    A place is where a function of the library begins or ends and another thread could have the
    learner.
    """
    lock, places = getattr(learner, "_lock", None), 0

    def watch(frame: Any, event: str, _: Any) -> None:
        nonlocal places
        ours = str(frame.f_globals.get("__name__")).startswith("noregret")
        if ours and event in ("call", "return") and not (lock is not None and lock.locked()):
            places += 1
            if places == place:
                sys.setprofile(None)
                turn()
                sys.setprofile(watch)

    sys.setprofile(watch)
    try:
        return outcome_of(read), places
    finally:
        sys.setprofile(None)


# Parameters that are set anew before each fit: a read must not take those of the other.
SET: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "Ridge, clip": ({"clip": 0.2, "fit_intercept": True}, {"clip": 90.0, "fit_intercept": False}),
    "Ridge, two outcomes": ({"fit_intercept": True}, {"fit_intercept": False}),
    "BayesianRidge, noise": (
        {"noise_var": 0.2, "fit_intercept": True},
        {"noise_var": 7.0, "fit_intercept": False},
    ),
    "AAR, kernel": ({"kernel": RBF()}, {"kernel": None}),
}


def check_turns(name: str, make: Callable[[], Any], most: int) -> None:
    learner, given = make(), streams(name, make())
    parameters = SET.get(name, ({}, {}))

    def fit(k: int) -> None:
        learner.set_params(**parameters[k]).fit(*given[k])

    expected = []
    for k in range(2):
        fit(k)
        expected.append({label: outcome_of(read) for label, read in reads(learner).items()})
    for label, read in reads(learner).items():
        places = with_a_turn(learner, read, lambda: None, 0)[1]
        near = range(1, places + 1)
        chosen = near if places <= most else [*near[: most // 2], *near[-(most // 2) :]]
        for place in chosen:
            fit(0)
            seen, _ = with_a_turn(learner, read, lambda: fit(1), place)
            assert seen in (expected[0][label], expected[1][label]), (label, place)


ALL = LEARNERS | MORE
QUICK = [name for name in ALL if "tierney" not in name and name != "SafeLogistic, prior"]


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_a_fit_in_the_midst_of_a_read(name: str) -> None:
    check_turns(name, ALL[name], 6)


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_reads_are_of_one_stream(name: str) -> None:
    check(name, ALL[name], 0.03)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_reads_are_of_one_stream_for_longer(name: str) -> None:
    check_turns(name, ALL[name], 200)
    check(name, ALL[name], 3.0)
    if not name.startswith("SLOG"):
        check_replays(name, ALL[name], 2.0)


def check_replays(name: str, make: Callable[[], Any], seconds: float) -> None:
    """A replay of rows of the small stream has a certificate of that stream."""
    learner, given = make(), streams(name, make())
    X, y = given[0]
    learner.fit(X, y)
    end = time.monotonic() + seconds
    with Fitting([lambda pair=pair: learner.fit(*pair) for pair in given]):
        while time.monotonic() < end:
            learner.fit(X, y)
            try:
                replay = learner.replay(X[:1], y[:1])
            except NoRegretError:
                continue  # it knew the other stream
            assert replay.certificate.rounds == len(X) + 1


@pytest.mark.parametrize("name", [name for name in QUICK if not name.startswith("SLOG")])
def test_a_replay_has_the_certificate_of_its_stream(name: str) -> None:
    check_replays(name, ALL[name], 0.03)


def test_the_river_adapter() -> None:
    pytest.importorskip("river")
    from noregret.adapters.river import RiverRegressor

    pd = pytest.importorskip("pandas")
    names = ["a", "b"], ["a", "b", "c"]
    frames = [pd.DataFrame(X, columns=n) for X, n in zip(ROWS, names)]
    model = RiverRegressor(nr.BayesianRidge())
    turns = [lambda k=k: model.model.fit(frames[k], NUMBERS[k]) for k in range(2)]
    x = frames[0].iloc[0].to_dict()
    calls = {
        "one": lambda: model.predict_one(x),
        "many": lambda: model.predict_many(frames[0]).to_numpy(),
        "distribution": lambda: model.predict_one(x, with_dist=True).sigma,
        "certificates": model.certificates,
    }
    expected: list[Any] = []
    for turn in turns:
        turn()
        expected.append({label: outcome_of(call) for label, call in calls.items()})
    end = time.monotonic() + 0.2
    with Fitting(turns):
        while time.monotonic() < end:
            for label, call in calls.items():
                assert outcome_of(call) in (expected[0][label], expected[1][label]), label
