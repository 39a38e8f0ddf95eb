"""A round that one expert refuses: nobody has learned it, one at a time or in a replay."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.errors import ParameterError
from pools import state

AA = nr.AggregatingAlgorithm
X = np.random.default_rng(0).normal(size=(8, 2))
Y = X[:, 0].clip(-1.0, 1.0)


class Foreign:
    """Somebody else's learner, which refuses to learn beyond so many rounds."""

    def __init__(self, last: float = math.inf) -> None:
        self.rounds_, self.last = 0, last

    def __repr__(self) -> str:
        return "Foreign"

    def predict_one(self, _: Any) -> float:
        return 0.0

    def learn_one(self, _: Any, __: float) -> None:
        if self.rounds_ >= self.last:
            raise ValueError("not today")
        self.rounds_ += 1

    def partial_fit(self, rows: Any, y: Any) -> None:  # so that pools.state looks at it
        for x, outcome in zip(rows, y):
            self.learn_one(x, outcome)


def fading(t: int) -> float:
    return 0.1 if t < 6 else math.nan  # asked one round ahead


POOLS: dict[str, Callable[[], Any]] = {
    "one of theirs": lambda: AA([nr.AAR(), Foreign(4), nr.Ridge()], outcome_range=1.0),
    "two of theirs": lambda: AA([Foreign(), Foreign(4)], outcome_range=1.0),
    "a pool": lambda: AA([nr.AAR(), AA([Foreign(4)], outcome_range=1.0)], outcome_range=1.0),
    "a drift": lambda: AA([nr.AAR(), nr.Ridge(drift=fading)], outcome_range=1.0),
}


@pytest.mark.parametrize("make", POOLS.values(), ids=POOLS)
def test_a_replay_that_an_expert_refuses_is_learned_by_nobody(make: Callable[[], Any]) -> None:
    pool, twin = make().fit(X[:3], Y[:3]), make().fit(X[:3], Y[:3])
    before = state(pool)
    for call in (pool.replay, pool.partial_fit, pool.fit):
        with pytest.raises(ValueError, match=r"not today|drift"):
            call(X, Y)
        assert state(pool) == before
    assert pool.replay(X[3:4], Y[3:4]).forecast == twin.replay(X[3:4], Y[3:4]).forecast
    assert state(pool) == state(twin)


@pytest.mark.parametrize("make", POOLS.values(), ids=POOLS)
def test_a_round_that_an_expert_refuses_is_learned_by_nobody(make: Callable[[], Any]) -> None:
    pool = make().fit(X[:4], Y[:4])
    before = state(pool)
    with pytest.raises(ValueError, match=r"not today|drift"):
        pool.learn_one(X[4], float(Y[4]))
    assert state(pool) == before


def test_a_newcomer_of_next_to_no_weight_is_refused() -> None:
    pool = AA(["a", "b"], outcome_range=1.0, share=0.1).fit([[0.0, 0.0]], [0.0])
    before = state(pool)
    with pytest.raises(ParameterError, match="weight = 1e-310"):
        pool.join("c", 1e-310)
    assert state(pool) == before


@pytest.mark.parametrize("nothing", [None, math.nan])
def test_a_sleeper_in_an_array_of_objects(nothing: float | None) -> None:
    rows = [[nothing, 0.5], [0.25, 0.5]]
    expected = nr.aggregate(
        rows, [1.0, 1.0], rule="aggregating", outcome_range=1.0
    ).forecast.tolist()
    objects = np.array(rows, dtype=object)
    assert (
        nr.aggregate(objects, [1.0, 1.0], rule="aggregating", outcome_range=1.0).forecast.tolist()
        == expected
    )


def test_a_variance_near_the_largest_float64() -> None:
    result = nr.aggregate([[[0.0, 1e308], [0.0, 1.0]]], [1.0], loss="log")
    expected = -nr.Normal(0.0, 1e308).log_density(1.0)
    assert result.expert_losses[0, 0] == pytest.approx(expected, rel=1e-12)


def test_a_message_of_thousands_of_numbers() -> None:
    with pytest.raises(nr.errors.InputError) as caught:
        AA(["a", "b"], outcome_range=1.0).predict_one([0.5] * 5000)
    assert len(str(caught.value)) < 300
