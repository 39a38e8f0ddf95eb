"""Hostile input is exactly right or refused by name, and a refusal changes nothing: the checks."""

from __future__ import annotations

import functools
import pickle
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import noregret as nr
from hostile_inputs import COLUMN, GOOD, NAMES
from noregret._native import layout
from noregret.errors import (
    FeatureError,
    FeatureTypeError,
    NoRegretError,
    NotLearnedError,
    OutcomeError,
)
from noregret.learner.replay import Replay

# What messages must say.
FLOAT = "convert it to float first"
FLOATS = "convert them to float first"
IMPUTE = "leave the round out, or impute the value"
DIGITS = "round it or scale it down"
VECTOR = "give a 1-D array or a dict"
ONE_ROUND = "must be 1-D, one round; for many use predict or replay"
POSITIONS = "arrays go by position"
TWO_D = "must be 2-D, one row per round"
RESCALE = "rescale the feature"
SQUARE = "its square overflows float64"


# The state and the twin ---------------------------------------------------------------------


def state_bytes(learner: Any) -> bytes:
    """All that was learned, and how the space is set: two learners alike here go on alike."""
    stream = learner._state
    if stream is None:
        return b"fresh"
    core, at = stream.core, stream.core.work[layout.AT]
    names = "OFFSET", "CEILING", "RULE", "LEVEL", "CLOSED", "ROOTED", "PASSED"
    settings = [getattr(layout, name) for name in names]
    slots = list(stream.space.slots.items()) if hasattr(stream.space, "slots") else None
    counters = (core.rounds, core._walked) if core.drifts else ()
    words = (
        core.factor.shape,
        stream.ledger.shape,
        slots,
        stream.scalar,
        type(stream.fast),
        counters,
    )
    arrays = (core.factor, stream.ledger, at[settings])
    return pickle.dumps(words) + b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)


def bits(result: Any) -> Any:
    """What a call gave, such that == compares bits."""
    if isinstance(result, float):
        return struct.pack("=d", result)
    if isinstance(result, np.ndarray):
        assert result.dtype == np.float64
        return result.shape, result.tobytes()
    if isinstance(result, Replay):
        return tuple(bits(v) for v in (result.forecast, result.mean, result.spread, result.loss))
    return None  # learn_one, fit, partial_fit


@dataclass(frozen=True)
class Kind:
    """A learner, how its features are given, and how many outcomes a round has (0: a number)."""

    make: Callable[[], Any]
    named: bool = False
    outcomes: int = 0

    def x(self, values: Any) -> Any:
        if isinstance(values, dict):
            return values
        values = [float(v) for v in values]
        return dict(zip(NAMES, values, strict=True)) if self.named else np.array(values)

    def y(self, value: float) -> Any:
        return np.array([value, 1.0 - value]) if self.outcomes else value

    def table(self, rows: Any) -> Any:
        X = np.array(rows, dtype=np.float64)
        return [dict(zip(NAMES, x)) for x in X.tolist()] if self.named else X

    def column(self, values: Any) -> np.ndarray:
        y = np.array(values, dtype=np.float64)
        return np.column_stack([y, 1.0 - y]) if self.outcomes else y


KINDS = {
    "arrays, fixed": Kind(lambda: nr.AAR(0.7)),
    "arrays, drift": Kind(lambda: nr.Ridge(0.7, drift=0.1)),
    "arrays, vector": Kind(
        lambda: nr.BayesianRidge(2.0, noise_var=0.3, fit_intercept=True), False, 2
    ),
    "names, fixed": Kind(lambda: nr.Ridge(0.7, fit_intercept=True), named=True),
    "names, drift": Kind(lambda: nr.AAR(0.7, drift=lambda t: 0.1 / t), named=True),
    "names, vector": Kind(lambda: nr.Ridge(2.0, drift=0.05), True, 2),
}
BY_POSITION = [name for name, kind in KINDS.items() if not kind.named]
BY_NAME = [name for name, kind in KINDS.items() if kind.named]
SCALAR = [name for name, kind in KINDS.items() if not kind.outcomes]
VECTORIAL = [name for name, kind in KINDS.items() if kind.outcomes]

HISTORY = np.random.default_rng(7).normal(size=(6, 4))


def started(kind: Kind) -> Any:
    """A learner in the middle of its stream, which has just looked at GOOD."""
    learner = kind.make()
    for *x, y in HISTORY[:3]:
        learner.learn_one(kind.x(x), kind.y(float(y)))
    learner.predict_one(kind.x(GOOD))
    return learner


def go_on(learner: Any, kind: Kind) -> list[Any]:
    """More good rounds: what they gave, and the state after them."""
    learner.learn_one(kind.x(GOOD), kind.y(0.5))  # may use the look from before
    other = kind.x([0.5, -1.0, 0.25])
    forecast = learner.predict_one(other)
    learner.learn_one(other, kind.y(-0.75))
    return [bits(forecast), state_bytes(learner)]


# What comes of a case -----------------------------------------------------------------------
#
# Every case says what must come of it: `Same(x)`, to the last bit what the plain float64 input x
# gives, or `Refused(error, words)`, with an error of just that class whose message has the words:
# field, value, remedy.  After every call the learner must go on, bit for bit, like a twin that
# never saw a refused call.


@dataclass(frozen=True)
class Same:
    """Taken, exactly as this plain input."""

    x: Any


@dataclass(frozen=True)
class Refused:
    """An error of just this class that has all the words."""

    error: type[Exception]
    words: tuple[str, ...]
    always: bool = True  # whatever the learner has seen before, a first call included


def bad_x(*words: str, always: bool = True) -> Refused:
    return Refused(FeatureError, words, always)


def bad_y(*words: str, always: bool = True) -> Refused:
    return Refused(OutcomeError, words, always)


@dataclass(frozen=True)
class Anew:
    """An input that one call uses up."""

    make: Callable[[], Any]


Case = tuple[Any, Same | Refused]


def fresh(hostile: Any) -> Any:
    return hostile.make() if isinstance(hostile, Anew) else hostile


@functools.cache
def undisturbed(kind: Kind) -> tuple[bytes, list[Any]]:
    """The state of a started learner, and how it goes on when nothing hostile comes."""
    twin = started(kind)
    return state_bytes(twin), go_on(twin, kind)


def check(kind: Kind, outcome: Same | Refused, call: Callable[..., Any], given: Any) -> None:
    """Call a started learner with the hostile input and hold it against its twin."""
    learner = started(kind)
    if isinstance(outcome, Refused):
        before, after = undisturbed(kind)
        assert state_bytes(learner) == before
        message = refused(outcome, lambda: call(learner, given))
        assert state_bytes(learner) == before, message
        assert go_on(learner, kind) == after, message
    else:
        twin = started(kind)
        assert bits(call(learner, given)) == bits(call(twin, outcome.x))
        assert state_bytes(learner) == state_bytes(twin)
        assert go_on(learner, kind) == go_on(twin, kind)


def refused(outcome: Refused, call: Callable[[], Any]) -> str:
    with pytest.raises(NoRegretError) as caught:
        call()
    message = str(caught.value)
    assert type(caught.value) in (outcome.error, FeatureTypeError), message
    assert isinstance(caught.value, outcome.error), message
    for word in outcome.words:
        assert word in message
    assert len(message) < 300
    return message


def stays_fresh(learner: Any, twin: Any) -> None:
    assert state_bytes(learner) == b"fresh"
    for what in ("coef_", "intercept_", "n_features_in_", "n_samples_seen_", "feature_names_in_"):
        with pytest.raises(NotLearnedError, match="learned nothing yet"):
            getattr(learner, what)
    with pytest.raises(NotLearnedError, match="call learn_one or fit first"):
        learner.certificate()
    for each in (learner, twin):
        each.learn_one(np.array(GOOD), 1.0)
    assert state_bytes(learner) == state_bytes(twin)


# Tables of cases ----------------------------------------------------------------------------


def cases(table: dict[str, Case]) -> Any:
    return pytest.mark.parametrize("case", table.values(), ids=table.keys())


def some_kinds(names: list[str]) -> Any:
    return pytest.mark.parametrize("kind", [KINDS[n] for n in names], ids=names)


every_kind = some_kinds(list(KINDS))


def first_calls(table: dict[str, Case]) -> dict[str, Case]:
    """What is refused on a first call too."""
    return {
        name: case
        for name, case in table.items()
        if isinstance(case[1], Refused) and case[1].always
    }


# Calls --------------------------------------------------------------------------------------

ONE = ("predict_one", "learn_one")
MANY = ("predict", "partial_fit", "replay", "fit")
LEARNING = ("partial_fit", "replay", "fit")
one_at_a_time = pytest.mark.parametrize("method", ONE)
batch = pytest.mark.parametrize("method", MANY)
learning = pytest.mark.parametrize("method", LEARNING)


def call_one(method: str, kind: Kind) -> Callable[[Any, Any], Any]:
    if method == "predict_one":
        return lambda learner, x: learner.predict_one(x)
    return lambda learner, x: learner.learn_one(x, kind.y(0.25))


def plain(kind: Kind, outcome: Same | Refused) -> Same | Refused:
    return Same(kind.x(outcome.x)) if isinstance(outcome, Same) else outcome


def call_many(method: str, kind: Kind) -> Callable[[Any, Any], Any]:
    if method == "predict":
        return lambda learner, X: learner.predict(X)
    return lambda learner, X: getattr(learner, method)(X, kind.column(COLUMN))


def check_one_round(case: Case, kind: Kind) -> None:
    hostile, outcome = case
    for method in ONE:
        check(kind, plain(kind, outcome), call_one(method, kind), fresh(hostile))


def check_many(
    kind: Kind, outcome: Same | Refused, call: Callable[..., Any], method: str, given: Any
) -> None:
    """As `check`; but `fit` forgets the past, and what was refused for its sake is welcome."""
    if method == "fit" and isinstance(outcome, Refused) and not outcome.always:
        learner = started(kind)
        call(learner, given)
        assert learner.n_samples_seen_ == 4
    else:
        check(kind, outcome, call, given)
