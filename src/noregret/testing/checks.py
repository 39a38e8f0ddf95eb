"""What every learner must pass, whatever its mathematics; run it on your own too.

>>> import noregret as nr
>>> from noregret.testing import CHECKS
>>> for check in CHECKS:
...     check(nr.AAR(prior_precision=0.3, fit_intercept=True))
"""

from __future__ import annotations

import copy
import inspect
import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.testing import assert_allclose

from noregret.errors import FeatureError, InputError, NoRegretError, NotLearnedError
from noregret.learner.base import OnlineLearner
from noregret.learner.state import State
from noregret.types import Matrix, Outcome, Row, Vector

__all__ = ["CHECKS", "Check"]

Subject = OnlineLearner[State]
Check = Callable[[Subject], None]


@contextmanager
def refused_as(error: type[Exception]) -> Iterator[None]:
    """The block raises this error; like pytest.raises, which these checks do without."""
    try:
        yield
    except error:
        return
    raise AssertionError(f"{error.__name__} was not raised")


def _stream(learner: Subject, rounds: int = 40, seed: int = 0) -> tuple[Matrix, Vector]:
    """Rows, and outcomes of the kind that the learner takes: numbers in [-1, 1], or labels."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, size=(rounds, 3))
    y = np.clip(X @ [0.5, -0.3, 0.1] + 0.1 * rng.standard_normal(rounds), -1.0, 1.0)
    binary = hasattr(_inner(learner), "predict_proba")
    return X, (y > 0.0).astype(np.float64) if binary else y


def _inner(learner: Subject) -> object:
    """The learner that a wrapper was given."""
    return getattr(learner, "learner", learner)


def _named(x: Vector) -> dict[str, float]:
    return {f"x{i}": float(v) for i, v in enumerate(x)}


def _predict(learner: Subject, x: Row) -> float:
    """The forecast at x; one that waits for its outcome is dropped again."""
    said = learner.predict_one(x)
    if hasattr(said, "number"):
        getattr(learner, "drop")(said)  # noqa: B009  # a Delayed has it
    return float(said)


def _learn(learner: Subject, x: Row, y: Outcome) -> None:
    """Learn a round; where outcomes go by ticket, that of a forecast made now."""
    learner.learn_one(learner.predict_one(x) if _by_ticket(learner) else x, y)


def _by_ticket(learner: Subject) -> bool:
    """Whether outcomes go by ticket, so that no table can be replayed."""
    return hasattr(learner, "drop")


def check_forecasts_before_it_has_learned(learner: Subject) -> None:
    """A stream starts with a forecast."""
    X, _ = _stream(learner)
    assert np.isfinite(_predict(copy.deepcopy(learner), X[0]))
    assert np.isfinite(_predict(copy.deepcopy(learner), _named(X[0])))


def check_forecasting_changes_nothing(learner: Subject) -> None:
    """Any number of forecasts between two rounds leaves the next ones as they were."""
    X, y = _stream(learner)
    quiet, chatty = copy.deepcopy(learner), copy.deepcopy(learner)
    for x, outcome in zip(X, y, strict=True):
        _learn(quiet, x, outcome)
        for probe in X[:3]:
            _predict(chatty, probe)
        _learn(chatty, x, outcome)
        assert _predict(quiet, x) == _predict(chatty, x)


def check_replay_is_the_loop(learner: Subject) -> None:
    """Many rounds at once go as they would one at a time; where outcomes go by ticket: refused."""
    X, y = _stream(learner)
    one, many = copy.deepcopy(learner), copy.deepcopy(learner)
    if _by_ticket(learner):
        for call in (many.fit, many.partial_fit):
            with refused_as(InputError):
                call(X, y)
        return
    forecasts = []
    for x, outcome in zip(X, y, strict=True):
        forecasts.append(_predict(one, x))
        _learn(one, x, outcome)
    replay = many.replay(X, y)
    assert_allclose(replay.forecast, forecasts, rtol=1e-10, atol=1e-12)
    assert_allclose(many.predict(X), one.predict(X), rtol=1e-10, atol=1e-12)
    assert replay.certificate.rounds == len(X)
    assert replay.certificate == many.certificate()
    assert many.n_samples_seen_ == one.n_samples_seen_ == len(X)


def check_names_and_positions_agree(learner: Subject) -> None:
    """The order of names never matters, and names forecast what positions do."""
    X, y = _stream(learner)
    positions, names = copy.deepcopy(learner), copy.deepcopy(learner)
    for x, outcome in zip(X, y, strict=True):
        shuffled = dict(reversed(_named(x).items()))
        assert_allclose(_predict(names, shuffled), _predict(positions, x), rtol=1e-12)
        _learn(positions, x, outcome)
        _learn(names, _named(x), outcome)


def check_one_feature_by_name(learner: Subject) -> None:
    """A mapping with one name is a vector with one entry."""
    X, y = _stream(learner)
    positions, names = copy.deepcopy(learner), copy.deepcopy(learner)
    for x, outcome in zip(X[:10, :1], y, strict=False):
        assert _predict(names, {"x0": float(x[0])}) == _predict(positions, x)
        _learn(positions, x, outcome)
        _learn(names, {"x0": float(x[0])}, outcome)


def check_certificates_hold(learner: Subject) -> None:
    """Every certificate holds in every round, and is plain JSON."""
    X, y = _stream(learner)
    for t, (x, outcome) in enumerate(zip(X, y, strict=True), start=1):
        _predict(learner, x)
        _learn(learner, x, outcome)
        assert learner.certificate() == learner.certificates()[0]
        for certificate in learner.certificates():
            assert certificate.holds is not False, str(certificate)
            assert certificate.rounds == t
            assert json.loads(certificate.to_json())["name"] == certificate.name


def check_refusals_change_nothing(learner: Subject) -> None:
    """A round that is refused leaves no trace."""
    X, y = _stream(learner)
    clean, tried = copy.deepcopy(learner), copy.deepcopy(learner)
    for t, (x, outcome) in enumerate(zip(X, y, strict=True)):
        bad: list[tuple[Row, Outcome]] = [
            (x * np.nan, 0.0),
            (x, np.nan),
            (x, None),
            (x.astype(str), 0.0),
        ]
        if t:  # a first round of two features is no error
            bad.append((x[:2], 0.0))
        for bad_x, bad_y in bad:
            twin = copy.deepcopy(tried) if _by_ticket(tried) else tried  # a ticket was issued
            with refused_as(InputError):
                _learn(twin, bad_x, bad_y)
        _learn(clean, x, outcome)
        _learn(tried, x, outcome)
        assert _predict(clean, X[0]) == _predict(tried, X[0])


def check_copies_are_independent(learner: Subject) -> None:
    """A copy goes on bit for bit, and neither sees what the other learns."""
    X, y = _stream(learner)
    for x, outcome in zip(X[:20], y, strict=False):
        _learn(learner, x, outcome)
    before = _predict(learner, X[0])
    one, other = copy.deepcopy(learner), copy.deepcopy(learner)
    for x, outcome in zip(X[20:], y[20:], strict=True):
        _learn(one, x, outcome)
    assert _predict(learner, X[0]) == before
    for x, outcome in zip(X[20:], y[20:], strict=True):
        _learn(other, x, outcome)
    assert [_predict(one, x) for x in X] == [_predict(other, x) for x in X]


def check_empty_tables_are_refused(learner: Subject) -> None:
    """A table without rows is refused as features are, before and after learning."""
    if _by_ticket(learner):
        return
    X, y = _stream(learner)
    for one in (copy.deepcopy(learner), copy.deepcopy(learner).fit(X, y)):
        for call in (one.fit, one.partial_fit, one.replay):
            with refused_as(FeatureError):
                call(X[:0], y[:0])


def check_tables_come_back_in_their_library(learner: Subject) -> None:
    """A replay of a frame of pandas, Polars or Arrow gives one of the same library.

    Libraries that are not loaded are left out.
    """
    if _by_ticket(learner):
        return
    X, y = _stream(learner)
    columns = {f"x{i}": X[:, i] for i in range(3)}
    for library, make in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")):
        module = sys.modules.get(library)
        if module is None:
            continue
        one = copy.deepcopy(learner)
        replay = one.replay(getattr(module, make)(columns), y)
        assert type(replay.to_frame()).__module__.partition(".")[0] == library
        _knows_its_features(one)


def check_features_are_counted_and_named(learner: Any) -> None:
    """What goes in is counted, by position or by name, and names are kept; none before learning."""
    X, y = _stream(learner)
    positions, names = copy.deepcopy(learner), copy.deepcopy(learner)
    for one in (positions, names):
        for attribute in ("n_features_in_", "feature_names_in_"):
            with refused_as(NotLearnedError):
                getattr(one, attribute)
    _learn(positions, X[0], y[0])
    _learn(names, _named(X[0]), y[0])
    assert positions.n_features_in_ == 3
    assert not hasattr(positions, "feature_names_in_")
    _knows_its_features(names)


def _knows_its_features(learner: Any) -> None:
    assert learner.n_features_in_ == 3
    assert list(learner.feature_names_in_) == ["x0", "x1", "x2"]


class _Once:
    """A table that can be read a single time, as a stream can."""

    def __init__(self, X: Matrix) -> None:
        self.X, self.shape, self.reads = X, X.shape, 0

    def __len__(self) -> int:
        return len(self.X)

    def __array__(self, *_: object, **__: object) -> Matrix:
        self.reads += 1
        assert self.reads == 1, "the table was read a second time"
        return self.X.copy()


def check_tables_are_read_once(learner: Any) -> None:
    """What can be read only once is enough for every call that takes a table."""
    if _by_ticket(learner):
        return
    X, y = _stream(learner)
    one, twin = copy.deepcopy(learner), copy.deepcopy(learner)
    for call in ("fit", "partial_fit", "replay"):
        getattr(one, call)(_Once(X), y)
        getattr(twin, call)(X, y)
    assert_allclose(one.predict(_Once(X)), twin.predict(X), rtol=0.0, atol=0.0)


def check_readers_see_one_state(learner: Any) -> None:
    """While another thread fits two streams by turns, a read is of the one or of the other."""
    if _by_ticket(learner):
        return
    X, y = _stream(learner, 12)
    streams = [(X[:, :2], y), (X[:9], y[:9])]
    reads = _reads(learner, X)
    expected = []
    for stream in streams:
        twin = copy.deepcopy(learner).fit(*stream)
        expected.append([_said(read, twin) for read in reads])
    learner.fit(*streams[0])
    stop = threading.Event()

    def fit_by_turns() -> None:
        while not stop.is_set():
            for stream in streams:
                learner.fit(*stream)

    thread, interval = threading.Thread(target=fit_by_turns), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread.start()
    try:
        for _ in range(3):
            for k, read in enumerate(reads):
                assert _said(read, learner) in [said[k] for said in expected]
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(interval)


def _reads(learner: Any, X: Matrix) -> list[Callable[[object], object]]:
    """What can be asked of this learner that has several parts."""
    found: list[Callable[[Any], object]] = [
        lambda one: one.predict(X[:, :2]),
        lambda one: one.predict(X),
        lambda one: one.n_features_in_,
        lambda one: str(one.certificate()),
    ]
    if hasattr(type(learner), "coef_"):
        found.append(lambda one: one.coef_)
    if hasattr(type(learner), "predict_proba"):
        found.append(lambda one: one.predict_proba(X))
    if "return_std" in inspect.signature(learner.predict).parameters:
        found.append(lambda one: np.array(one.predict(X, return_std=True)))
    return found


def _said(read: Callable[[object], object], learner: object) -> object:
    """What a read gives, such that == compares all of it; or which error."""
    try:
        said = read(learner)
    except NoRegretError as refusal:
        return type(refusal)
    return said.tolist() if isinstance(said, np.ndarray) else said


CHECKS: tuple[Check, ...] = (
    check_forecasts_before_it_has_learned,
    check_forecasting_changes_nothing,
    check_replay_is_the_loop,
    check_names_and_positions_agree,
    check_one_feature_by_name,
    check_certificates_hold,
    check_refusals_change_nothing,
    check_copies_are_independent,
    check_empty_tables_are_refused,
    check_tables_come_back_in_their_library,
    check_features_are_counted_and_named,
    check_tables_are_read_once,
    check_readers_see_one_state,
)
