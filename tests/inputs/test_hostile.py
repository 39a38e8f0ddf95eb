"""All or nothing: a bad batch or drift changes nothing; the arrays stay the caller's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import noregret as nr
from hostile import IMPUTE, bad_x, bad_y, batch, bits, learning, refused, state_bytes
from hostile_inputs import COLUMN, GOOD, INF, NAN, TABLE, named, read_only
from noregret.errors import NotLearnedError, ParameterError
from noregret.gaussian.cores.blocks import CROSSOVER


@batch
def test_a_batch_of_no_rounds(method: str) -> None:
    learner = nr.Ridge().fit(TABLE, COLUMN)
    before = state_bytes(learner)
    if method == "predict":
        assert learner.predict(np.empty((0, 3))).shape == (0,)
    else:
        refused(
            bad_x("X ", "give at least one"),
            lambda: getattr(learner, method)(np.empty((0, 3)), []),
        )
    assert state_bytes(learner) == before


@batch
def test_a_batch_of_no_features(method: str) -> None:
    learner = nr.Ridge()
    if method == "predict":
        with pytest.raises(NotLearnedError):
            learner.predict(np.empty((4, 0)))
    else:
        refused(
            bad_x("shape=(4, 0)", "at least one row and one feature"),
            lambda: getattr(learner, method)(np.empty((4, 0)), COLUMN),
        )
    assert state_bytes(learner) == b"fresh"


@learning
@pytest.mark.parametrize("drift", [0.0, 0.1])
@pytest.mark.parametrize("bad", ["X", "y"])
def test_a_bad_row_in_the_middle_of_many_changes_nothing(
    bad: str, drift: float, method: str
) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(500, 5)), rng.normal(size=500)
    learner, twin = (nr.AAR(0.3, drift=drift).fit(X[:50], y[:50]) for _ in range(2))
    spoiled_X, spoiled_y = X.copy(), y.copy()
    if bad == "X":
        spoiled_X[250, 2] = NAN
        outcome = bad_x("X[250, 2] = nan", IMPUTE)
    else:
        spoiled_y[250] = INF
        outcome = bad_y("y[250] = inf", IMPUTE)
    before = state_bytes(learner)
    refused(outcome, lambda: getattr(learner, method)(spoiled_X, spoiled_y))
    assert state_bytes(learner) == before
    assert bits(learner.replay(X, y)) == bits(twin.replay(X, y))


def test_read_only_rows_in_blocks() -> None:
    """Memory-mapped and shared arrays are read-only; in blocks BLAS reads them."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(300, CROSSOVER)), rng.normal(size=300)
    learner, twin = nr.Ridge(), nr.Ridge()
    assert bits(learner.replay(read_only(X), read_only(y))) == bits(twin.replay(X, y))
    assert state_bytes(learner) == state_bytes(twin)


def test_the_callers_arrays_are_never_written_to() -> None:
    X, y = TABLE.copy(), np.array(COLUMN)
    x = np.array(GOOD)
    for drift in (0.0, 0.1):
        learner = nr.AAR(drift=drift, fit_intercept=True)
        learner.fit(X, y).predict(X)
        learner.learn_one(x, 1.0)
    assert np.array_equal(X, TABLE)
    assert y.tolist() == COLUMN
    assert x.tolist() == GOOD


def test_a_learner_keeps_nothing_of_the_callers_arrays() -> None:
    """An array that the caller changes after the call is another x."""
    x = np.array(GOOD)
    learner, twin = nr.AAR(), nr.AAR()
    for each in (learner, twin):
        each.learn_one(np.array([0.5, 1.0, 0.0]), 1.0)
    learner.predict_one(x)
    x[:] = [3.0, 0.0, 1.0]
    learner.learn_one(x, 1.0)
    twin.learn_one(x.copy(), 1.0)
    assert state_bytes(learner) == state_bytes(twin)
    point = named()
    learner, twin = nr.AAR(), nr.AAR()
    for each in (learner, twin):
        each.learn_one(named(a=0.5), 1.0)
    learner.predict_one(point)
    point["a"] = 7.0
    learner.learn_one(point, 1.0)
    twin.learn_one(dict(point), 1.0)
    assert state_bytes(learner) == state_bytes(twin)


def test_a_pandas_row_may_have_a_feature_called_columns() -> None:
    learner, twin = nr.Ridge(), nr.Ridge()
    values = {"columns": 1.0, "index": 2.0, "shape": 3.0}
    learner.learn_one(pd.Series(values), 1.0)
    twin.learn_one(values, 1.0)
    assert state_bytes(learner) == state_bytes(twin)


@pytest.mark.parametrize("drift", [-1.0, NAN, INF, None, "0.1", 1j])
def test_a_drift_that_makes_no_sense_is_refused_when_it_is_asked_for(drift: Any) -> None:
    """A function of t whose value at some round is no drift: that round is refused."""
    schedule = {"now": 0.1}
    learner, twin = (nr.Ridge(drift=lambda _: schedule["now"]) for _ in range(2))
    for each in (learner, twin):
        for x in TABLE:
            each.learn_one(x, 1.0)
    before = state_bytes(learner)
    schedule["now"] = drift
    for call in (
        lambda: learner.learn_one(np.array(GOOD), 1.0),
        lambda: learner.replay(TABLE, COLUMN),
    ):
        with pytest.raises(ParameterError, match=r"drift\(6\) = .*: a drift must be"):
            call()
    assert state_bytes(learner) == before
    schedule["now"] = 0.1
    assert bits(learner.replay(TABLE, COLUMN)) == bits(twin.replay(TABLE, COLUMN))
