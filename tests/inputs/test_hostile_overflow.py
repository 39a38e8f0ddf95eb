"""Extreme rows are right, as rational arithmetic has it, or refused and nothing changes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import noregret as nr
from hostile import (
    HISTORY,
    Kind,
    Refused,
    bits,
    call_one,
    learning,
    one_at_a_time,
    refused,
    state_bytes,
)
from hostile_inputs import NAMES, named
from noregret.errors import NumericalError

TOO_LARGE = Refused(NumericalError, ("does not fit in float64", "rescale the features"))


def rational_weights(X: np.ndarray, y: np.ndarray, a: float, drift: float) -> list[Fraction]:
    """The Kalman filter of the random walk in rational arithmetic; drift 0 is ridge."""
    n = X.shape[1]
    q = Fraction(drift)
    P = [[Fraction(i == j) / Fraction(a) for j in range(n)] for i in range(n)]
    w = [Fraction(0)] * n
    for row, outcome in zip(X.tolist(), y.tolist(), strict=True):
        x = [Fraction(v) for v in row]
        Px = [sum(P[i][j] * x[j] for j in range(n)) for i in range(n)]
        d = 1 + sum(x[i] * Px[i] for i in range(n))
        e = Fraction(outcome) - sum(w[i] * x[i] for i in range(n))
        w = [w[i] + Px[i] * e / d for i in range(n)]
        P = [[P[i][j] - Px[i] * Px[j] / d + q * (i == j) for j in range(n)] for i in range(n)]
    return w


@pytest.mark.parametrize("drift", [0.0, 0.25])
@pytest.mark.parametrize("by", ["learn_one", "learn_one by name", "replay"])
@pytest.mark.parametrize(
    "row",
    [
        [1e200, 2.0, 3.0],
        [1e200, -2e200, 3e200],
        [1e300, 1.0, -1e300],
        [2.0**1000, 1.0, 1.0],
        [5e-324, 1e-310, 1.0],
        [1e-160, 1e160, 1.0],
        [0.0, 0.0, 0.0],
        [2.0**53, 1.0, 0.0],
    ],
    ids=str,
)
def test_extreme_rows_are_right(row: list[float], by: str, drift: float) -> None:
    """The weights after an extreme row in mid-stream, against rational arithmetic."""
    X, y = HISTORY[:, :3].copy(), HISTORY[:, 3].copy()
    X[3] = row
    learner = nr.Ridge(0.5, drift=drift)
    if by == "replay":
        learner.replay(X, y)
    else:
        for x, outcome in zip(X, y, strict=True):
            learner.learn_one(named(**dict(zip(NAMES, x.tolist()))) if "name" in by else x, outcome)
    w = rational_weights(X, y, 0.5, drift)
    error = [abs(float(Fraction(float(got)) - want)) for got, want in zip(learner.coef_, w)]
    assert max(error) <= 1e-12 * max(abs(float(v)) for v in w)


@learning
@pytest.mark.parametrize(("n", "drift"), [(3, 0.0), (3, 0.1), (200, 0.0)])
def test_an_overflow_in_the_middle_of_many_changes_nothing(
    n: int, drift: float, method: str
) -> None:
    """Finite rows whose look does not fit in float64, in the compiled loops and in blocks."""
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(300, n)), rng.normal(size=300)
    X[:, -1] = 0.0
    learner, twin = (nr.Ridge(1e-300, drift=drift).fit(X[:20], y[:20]) for _ in range(2))
    spoiled = X.copy()
    spoiled[150, -1] = 1e300
    before = state_bytes(learner)
    outcome = Refused(NumericalError, ("row 150", "does not fit in float64", "rescale", "1e-300"))
    refused(outcome, lambda: getattr(learner, method)(spoiled, y))
    assert state_bytes(learner) == before
    assert bits(learner.replay(X, y)) == bits(twin.replay(X, y))
    assert state_bytes(learner) == state_bytes(twin)


@one_at_a_time
@pytest.mark.parametrize("drift", [0.0, 0.1])
@pytest.mark.parametrize("by_name", [False, True])
def test_an_overflow_of_one_round_changes_nothing(by_name: bool, drift: float, method: str) -> None:
    """One forecast too large for float64; a new name that overflows stays new."""
    kind = Kind(lambda: nr.Ridge(1e-300, drift=drift), named=by_name)
    x = named(new=1e300) if by_name else np.array([1.0, 2.0, 1e300])
    first, second = ([1.0, 2.0, 0.0], [2.0, -1.0, 0.0])
    learner, twin = kind.make(), kind.make()
    for each in (learner, twin):
        for values in (first, second):
            each.learn_one(kind.x(values), 1.0)
        each.predict_one(kind.x(first))
    before = state_bytes(learner)
    refused(TOO_LARGE, lambda: call_one(method, kind)(learner, x))
    assert state_bytes(learner) == before
    for each in (learner, twin):
        each.learn_one(kind.x(first), -1.0)
    assert state_bytes(learner) == state_bytes(twin)


@pytest.mark.parametrize("drift", [0.0, 0.1])
def test_a_batch_forecast_at_an_unknown_name_that_overflows(drift: float) -> None:
    """As one at a time: the spread does not fit in float64, and nothing warns or answers inf."""
    learner = nr.Ridge(1e-300, drift=drift)
    learner.learn_one({"a": 1.0}, 1.0)
    before = state_bytes(learner)
    refused(TOO_LARGE, lambda: learner.predict_one({"a": 1.0, "new": 1e300}))
    refused(TOO_LARGE, lambda: learner.predict([{"a": 1.0}, {"a": 1.0, "new": 1e300}]))
    assert state_bytes(learner) == before


@pytest.mark.parametrize("drift", [0.0, 0.1])
@pytest.mark.parametrize("method", ["predict", "replay"])
def test_an_overflow_leaves_no_stale_look_behind(method: str, drift: float) -> None:
    """The row that overflowed must be refused again, not met with the look at another row."""
    learner, twin = nr.Ridge(1e-300, drift=drift), nr.Ridge(1e-300, drift=drift)
    bad, good = np.array([1e300, 1.0, 2.0]), np.array([1.0, 0.0, 0.0])
    for each in (learner, twin):
        each.learn_one(np.zeros(3), 1.0)
        each.predict_one(good)
    arguments = ([bad],) if method == "predict" else ([bad], [1.0])
    refused(TOO_LARGE, lambda: getattr(learner, method)(*arguments))
    refused(TOO_LARGE, lambda: learner.predict_one(bad))
    refused(TOO_LARGE, lambda: getattr(learner, method)(*arguments))
    refused(TOO_LARGE, lambda: learner.learn_one(bad, 1.0))
    for each in (learner, twin):
        each.learn_one(good, 1.0)
    assert state_bytes(learner) == state_bytes(twin)
