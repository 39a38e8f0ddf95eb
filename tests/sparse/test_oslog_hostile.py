"""Hostile input to OSLOG and SafeOSLOG: refused by name, and nothing has changed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import noregret as nr
from hostile_inputs import COLUMN, GOOD, INF, NAMES, NAN, TABLE, named
from noregret._native.sparse import SCALES, WEIGHTS
from noregret.errors import (
    FeatureError,
    FeatureTypeError,
    InputError,
    NoRegretError,
    NotLearnedError,
    NumericalError,
    OutcomeError,
    ParameterError,
)

MAKERS: dict[str, Callable[[], Any]] = {
    "OSLOG": lambda: nr.OSLOG(0.3, start=0.1),
    "floor": lambda: nr.OSLOG(0.3, floor=1e-3, passes=2),
    "lasso": lambda: nr.OSLOG(0.5, passes=math.inf),
    "safe": lambda: nr.SafeOSLOG(0.3, 2.0),
}
every = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def learned(learner: Any) -> bytes | None:
    """All that was learned, as its file has it; None where nothing has been."""
    return learner.to_bytes() if learner.__sklearn_is_fitted__() else None


def refused(learner: Any, error: type, words: tuple[str, ...], *calls: Callable[[], Any]) -> None:
    """Each call raises just this error with all the words, and changes nothing."""
    before = learned(learner)
    for call in calls:
        with pytest.raises(NoRegretError) as caught:
            call()
        message = str(caught.value)
        pooled = isinstance(learner, nr.SafeOSLOG) and type(caught.value) is InputError
        assert type(caught.value) in (error, FeatureTypeError) or pooled, message
        assert isinstance(caught.value, error) or pooled, message
        for word in words:
            assert word in message
        assert len(message) < 500
        assert learned(learner) == before, message


def by_position(make: Callable[[], Any]) -> Any:
    return make().fit(TABLE, COLUMN)


def by_name(make: Callable[[], Any]) -> Any:
    return make().fit([dict(zip(NAMES, row)) for row in TABLE.tolist()], COLUMN)


# Features -----------------------------------------------------------------------------------

VALUES: dict[str, tuple[Any, str]] = {
    "NaN": (NAN, "nan"),
    "infinity": (-INF, "-inf"),
    "nothing": (None, "None"),
    "text": ("1.5", "'1.5'"),
    "complex": (1j, "1j"),
    "inexact": (2**53 + 1, "9007199254740993"),
    "huge": (1e141, "1e+141"),
    "beyond": (1e305, "1e+305"),
    "enormous": (10**400, "10^400"),
    "date": (np.datetime64("2024-02-29"), "2024"),
}
values = pytest.mark.parametrize("case", VALUES.values(), ids=VALUES)


@every
@values
def test_features_that_are_no_numbers(make: Callable[[], Any], case: tuple[Any, str]) -> None:
    value, shown = case
    x, rows = [1.0, value, 3.0], [*TABLE.tolist()[:2], [1.0, value, 3.0], GOOD]
    learner, fresh = by_position(make), make()
    for each in (learner, fresh):
        refused(
            each,
            FeatureError,
            ("x", shown),
            lambda each=each: each.learn_one(x, 1.0),
            lambda each=each: each.predict_one(x),
        )
    if isinstance(value, float):  # the fast lane
        refused(
            learner,
            FeatureError,
            ("x", shown),
            lambda: learner.learn_one(np.array(x), 1.0),
            lambda: learner.predict_one(np.array(x)),
        )
    refused(
        learner,
        FeatureError,
        (shown,),
        lambda: learner.replay(rows, COLUMN),
        lambda: learner.partial_fit(rows, COLUMN),
        lambda: learner.fit(rows, COLUMN),
        lambda: learner.predict(rows),
    )
    if isinstance(learner, nr.OSLOG):
        refused(learner, FeatureError, (shown,), lambda: learner.predictive(x))
    assert learned(fresh) is None


@every
@values
def test_named_features_that_are_no_numbers(make: Callable[[], Any], case: tuple[Any, str]) -> None:
    value, shown = case
    learner = by_name(make)
    for x in (named(b=value), named(new=value), {"b": value}):
        refused(
            learner,
            FeatureError,
            ("x", shown),
            lambda x=x: learner.learn_one(x, 1.0),
            lambda x=x: learner.predict_one(x),
        )
    refused(
        learner,
        FeatureError,
        (shown,),
        lambda: learner.replay([named(), named(b=value)], [1.0, 2.0]),
        lambda: learner.fit([named(), named(new=value)], [1.0, 2.0]),
    )


@every
def test_features_of_the_wrong_shape(make: Callable[[], Any]) -> None:
    learner = by_position(make)
    for x in ([1.0], np.ones(4), np.empty(0), np.ones((1, 3)), 1.0, "abc", None, named()):
        refused(
            learner,
            FeatureError,
            ("x",),
            lambda x=x: learner.learn_one(x, 1.0),
            lambda x=x: learner.predict_one(x),
        )
    for X in (np.ones((4, 2)), np.ones((4, 4)), np.ones((4, 3, 1)), np.ones(4)):
        refused(
            learner,
            FeatureError,
            ("features",) if X.ndim == 2 else (),
            lambda X=X: learner.replay(X, COLUMN),
            lambda X=X: learner.predict(X),
        )
    names = by_name(make)
    refused(
        names,
        FeatureError,
        ("by name",),
        lambda: names.learn_one(np.array(GOOD), 1.0),
        lambda: names.predict_one(GOOD),
        lambda: names.replay(TABLE, COLUMN),
        lambda: names.predict(TABLE),
    )


# Outcomes -----------------------------------------------------------------------------------


@every
@values
def test_outcomes_that_are_no_numbers(make: Callable[[], Any], case: tuple[Any, str]) -> None:
    y, shown = case
    learner, fresh = by_position(make), make()
    column = [*COLUMN[:2], y, 1.0]
    for each in (learner, fresh):
        refused(
            each,
            OutcomeError,
            ("y", shown),
            lambda each=each: each.learn_one(GOOD, y),
            lambda each=each: each.learn_one(np.array(GOOD), y),
            lambda each=each: each.replay(TABLE, column),
            lambda each=each: each.fit(TABLE, column),
        )
    assert learned(fresh) is None


@every
def test_outcomes_of_the_wrong_shape(make: Callable[[], Any]) -> None:
    learner = by_position(make)
    refused(
        learner,
        OutcomeError,
        ("y",),
        lambda: learner.learn_one(GOOD, [1.0]),
        lambda: learner.learn_one(GOOD, np.array([1.0, 2.0])),
        lambda: learner.replay(TABLE, COLUMN[1:]),
        lambda: learner.replay(TABLE, np.ones((4, 2))),
        lambda: learner.replay(TABLE, 1.0),
        lambda: learner.fit(TABLE, None),
    )


@every
def test_batches_of_nothing(make: Callable[[], Any]) -> None:
    learner = by_position(make)
    for X in (np.empty((0, 3)), []):
        refused(learner, FeatureError, ("X",), lambda X=X: learner.replay(X, []))
        refused(learner, FeatureError, ("X",), lambda X=X: learner.fit(X, []))
    fresh = make()
    refused(fresh, FeatureError, ("shape=(4, 0)",), lambda: fresh.fit(np.ones((4, 0)), COLUMN))
    for ask in (lambda: fresh.predict(TABLE), fresh.certificate, lambda: fresh.n_samples_seen_):
        with pytest.raises(NotLearnedError, match="learned nothing yet"):
            ask()


def test_a_huge_negative_outcome_is_shown_as_it_is() -> None:
    """of a table the largest |y| is shown, without its sign or its row."""
    learner = by_position(MAKERS["OSLOG"])
    refused(learner, OutcomeError, ("-1e+141",), lambda: learner.replay(TABLE, [1, 2, -1e141, 3]))


# Rounds that do not fit ---------------------------------------------------------------------


def test_a_round_that_does_not_fit_changes_neither_gram_nor_weights() -> None:
    learner = nr.OSLOG(0.3, start=1e40).fit(TABLE, COLUMN)
    learner._state.state[[WEIGHTS, SCALES]] = 1e40
    refused(
        learner,
        NumericalError,
        ("does not fit in float64",),
        lambda: learner.learn_one(np.full(3, 1e140), 1.0),
        lambda: learner.learn_one([1e140, 1e140, 1e140], 1),
        lambda: learner.replay([[1e140, 1e140, 1e140], GOOD], [1.0, 2.0]),
    )


def test_a_refused_round_does_not_change_what_the_learner_says() -> None:
    """`learn` rescales D before it knows whether the round fits; variance and report move."""
    learner = nr.OSLOG(0.3, start=0.5).fit([[1.0, 1.0], [1.0, -1.0]], [4e29, 0.0])
    before = learned(learner), learner.predictive([3.0, 1.0]), learner.certificate()
    x = np.array([1e140, -1e140])  # d x^2 = 1e309
    assert abs(learner.predict_one(x)) < 1e154
    with pytest.raises(NumericalError):
        learner.learn_one(x, 1.0)
    assert (learned(learner), learner.predictive([3.0, 1.0]), learner.certificate()) == before


@pytest.mark.parametrize("n", [2, 129])
def test_a_first_round_of_rank_1_is_learned(n: int) -> None:
    """a + d M loses a in float64, the factor fails: NumericalError, or LAPACK's LinAlgError.

    AAR takes the same round; SafeOSLOG does not.
    """
    x = np.full(n, 1e5)
    x[0] = 2e5
    nr.AAR(1e-6).learn_one(x, 1.0)
    nr.SafeOSLOG(1e-6, 1e-6).learn_one(x, 1.0)


@pytest.mark.parametrize("small", [1e-3, 1e-9])
def test_a_pass_that_cannot_be_right_is_refused(small: float) -> None:
    """Axes below 1e-15 of the largest would be left out, and the third weight's is one of them.

    What is left out is not in the null space of M where weights are of different sizes.
    """
    X, y = [[0.0, 0.0, 1.0], [2e6, 1e6, 1.0]], [5.0, 1.0]
    learner = nr.OSLOG(1e-6).fit(X[:1], y[:1])
    learner._state.state[WEIGHTS] = [1.0, 1.0, small]
    before = learned(learner)
    with pytest.raises(NumericalError, match="does not fit in float64"):
        learner.learn_one(np.array(X[1]), y[1])
    assert learned(learner) == before


def test_what_lapack_cannot_factor_is_no_torn_round() -> None:
    """LinAlgError of the second pass comes out when M and b have the round, the book not."""
    rng = np.random.default_rng(0)
    learner = nr.OSLOG(1e-3, passes=3, start=1e-6)
    learner.learn_one(1e-3 * rng.normal(size=140), 1e-3)
    before = learned(learner)
    error: Exception | None = None
    try:
        learner.learn_one(1e5 * rng.normal(size=140), 1e9)
    except Exception as caught:
        error = caught
    assert (learned(learner) == before) == (error is not None)
    assert error is None or isinstance(error, NumericalError)


def test_forecasts_that_do_not_fit_are_refused_in_every_lane() -> None:
    """the fast lane gives inf, and `predict` inf with a warning; other lanes refuse."""
    learner = nr.OSLOG(1e-100, start=1e100)
    learner.learn_one([1e-140], 1e140)
    refused(
        learner,
        NumericalError,
        ("does not fit in float64",),
        lambda: learner.predict_one([1e140]),
        lambda: learner.predictive([1e140]),
        lambda: learner.predict_one(np.array([1e140])),
        lambda: learner.predict(np.array([[1e140]])),
    )


# Parameters ---------------------------------------------------------------------------------

NEVER = (NAN, -INF, None, "1", 1j, [1.0], True)
PARAMETERS: dict[str, tuple[Any, ...]] = {
    "shrinkage": (*NEVER, 0.0, -1.0, INF, 1e-101, 1e101),
    "passes": (NAN, -INF, None, "1", 1j, [1], 0, -1, 1.5, 2.0),
    "start": (*NEVER, 0, 0.0, INF, 1e-301, 1e101),
    "floor": (*NEVER, -1e-9, INF, 1e101),
}
parameters = [(name, value) for name, bad in PARAMETERS.items() for value in bad]


@pytest.mark.parametrize(("name", "value"), parameters)
def test_parameters_that_make_no_sense(name: str, value: Any) -> None:
    makers = [nr.OSLOG] if name == "passes" else [nr.OSLOG, nr.SafeOSLOG]
    for make in makers:
        learner = make(**{name: value})
        refused(
            learner,
            ParameterError,
            (f"{name} = {value!r}",),
            lambda learner=learner: learner.learn_one(GOOD, 1.0),
            lambda learner=learner: learner.predict_one(named()),
            lambda learner=learner: learner.fit(TABLE, COLUMN),
        )
        assert learned(learner) is None


@pytest.mark.parametrize("value", [0.0, -1.0, NAN, INF, None, "1", True])
def test_a_noise_variance_that_makes_no_sense(value: Any) -> None:
    learner = nr.OSLOG(noise_var=value).fit(TABLE, COLUMN)
    refused(learner, ParameterError, (f"noise_var = {value!r}",), lambda: learner.predictive(GOOD))


@pytest.mark.parametrize("value", [0.0, NAN, "1", 1j, (1.0, 0.0), (0.0, INF)])
def test_a_range_that_makes_no_sense(value: Any) -> None:
    learner = nr.SafeOSLOG(outcome_range=value)
    refused(learner, ParameterError, ("outcome_range",), lambda: learner.learn_one(GOOD, 1.0))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("shrinkage", 10**400),
        ("passes", 10**400),
        ("passes", True),
        ("shrinkage", np.complex128(1.0)),
        ("start", np.complex128(1j)),
        ("floor", np.complex128(1.0)),
    ],
    ids=lambda value: str(value)[:12],
)
def test_numbers_that_are_none_are_refused_as_parameters(name: str, value: Any) -> None:
    """OverflowError or NumPy's ComplexWarning come out, and True counts as 1 pass."""
    learner = nr.OSLOG(**{name: value})
    refused(learner, ParameterError, (f"{name} = ",), lambda: learner.learn_one(GOOD, 1.0))


@pytest.mark.parametrize("name", ["shrinkage", "start", "floor"])
def test_parameters_in_single_precision_are_numbers(name: str) -> None:
    """np.float32 meets 1e100 in single precision: "overflow encountered in cast"."""
    learner, plain = nr.OSLOG(**{name: np.float32(0.5)}), nr.OSLOG(**{name: 0.5})
    for each in (learner, plain):
        each.fit(TABLE, COLUMN)
    assert learner.coef_.tolist() == plain.coef_.tolist()
    assert learner.certificates() == plain.certificates()
