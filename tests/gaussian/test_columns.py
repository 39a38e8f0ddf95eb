"""Many rounds booked at once: the ledger of one round after another, to the last bit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import noregret as nr
from noregret._native.layout import FIT, LOSS, MARK, OUTCOMES, WEIGHTED

LEARNERS = {
    "aar": lambda: nr.AAR(prior_precision=0.3),
    "ridge": lambda: nr.Ridge(prior_precision=2.0),
    "clipped": lambda: nr.Ridge(clip=0.7),
    "bayesian": lambda: nr.BayesianRidge(noise_var=0.2),
    "noise unknown": lambda: nr.BayesianRidge(noise_var=None),
    "hinted": lambda: nr.AAR(hint="last"),
    "fading": lambda: nr.AAR(discount=0.99),
    "drifting": lambda: nr.AAR(drift=1e-3),
}


@pytest.mark.parametrize("n", [1, 3, 20, 30])
@pytest.mark.parametrize("rounds", [1, 63, 64, 65, 200])
@pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)
def test_the_ledger_of_the_loop(make: Callable[[], nr.AAR], rounds: int, n: int) -> None:
    rng = np.random.default_rng(rounds)
    X, y = rng.standard_normal((rounds, n)), rng.standard_normal(rounds)
    y[rounds // 2] *= 1e8  # so that compensations are not all 0
    many, one = make(), make()
    replayed = many.replay(X, y)
    forecasts = []
    for x, outcome in zip(X, y):
        forecasts.append(one.predict_one(x))
        one.learn_one(x, outcome)
    assert replayed.forecast.tolist() == forecasts
    booked = [state.ledger.copy() for state in (many._state, one._state)]
    for ledger in booked:  # audits on the way are made before the rows of a replay, not in between
        ledger[MARK] = 0.0
    assert booked[0].tolist() == booked[1].tolist()


def test_sums_that_overflow_are_infinite_and_nothing_else() -> None:
    X, y = np.eye(8), np.full(8, 6e153)  # their squares fit, the sum of six does not
    many, one = nr.Ridge(), nr.Ridge()
    many.replay(X, y)
    for x, outcome in zip(X, y):
        one.learn_one(x, outcome)
    ledger = many._state.ledger
    assert np.array_equal(ledger, one._state.ledger, equal_nan=True)
    assert ledger[LOSS].tolist() == [np.inf, 0.0]
    assert np.isfinite(ledger[WEIGHTED]).all()
    assert np.isfinite(ledger[FIT]).all()
    assert ledger[OUTCOMES, 0] == 6e153
