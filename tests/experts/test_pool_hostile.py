"""Hostile input to pools: refused by name with the right error, and nothing has changed."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import SGDRegressor

import noregret as nr
from hostile_inputs import INF, NAN
from noregret.errors import (
    FeatureError,
    InputError,
    NotLearnedError,
    OutcomeError,
    ParameterError,
)
from pools import refused, state

T = 6
TABLE = np.random.default_rng(0).uniform(0.1, 0.9, (T, 2))
COLUMN = [0.0, 1.0, 1.0, 0.0, 1.0, 0.0]
NAMED = [dict(zip("ab", row)) for row in TABLE.tolist()]
AA = nr.AggregatingAlgorithm


def total(x: Any) -> float:
    return float(sum(x))


POOLS: dict[str, Callable[[], Any]] = {
    "square": lambda: AA(["a", "b"], outcome_range=(-1.0, 2.0), share=0.1),
    "learned": lambda: AA(["a", "b"], prior=[1.0, 2.0]),
    "brier": lambda: AA(["a", "b"], loss="brier"),
    "log": lambda: AA(["a", "b"], loss="log", share=0.01),
    "mean": lambda: nr.ExponentialWeights(["a", "b"], outcome_range=1.0),
    "learners": lambda: AA([nr.AAR(), SGDRegressor(random_state=0), total], outcome_range=2.0),
    "bayes": lambda: nr.BayesianAlgorithm(nr.over(nr.BayesianRidge, noise_var=[0.1, 1.0])),
}
every_pool = pytest.mark.parametrize("make", POOLS.values(), ids=POOLS)
names_pool = pytest.mark.parametrize(
    "make", [POOLS[k] for k in ("square", "learned", "brier", "log", "mean")]
)


def started(make: Callable[[], Any]) -> Any:
    return make().fit(TABLE, COLUMN)


def spoiled(rows: Any, t: int, value: Any) -> list[Any]:
    rows = list(rows)
    rows[t] = value
    return rows


# Outcomes -----------------------------------------------------------------------------------

OUTCOMES: dict[str, tuple[Any, str]] = {
    "NaN": (NAN, "nan"),
    "infinity": (-INF, "-inf"),
    "nothing": (None, "None"),
    "text": ("1", "'1'"),
    "complex": (1j, "1j"),
    "huge": (1e151, "1e+151"),
    "squares overflow": (1e200, "1e+200"),
    "inexact": (2**53 + 1, "9007199254740993"),
    "masked": (np.ma.masked, "y"),
    "date": (np.datetime64("2024-02-29"), "2024"),
    "decimal": (Decimal("NaN"), "NaN"),
}


@every_pool
@pytest.mark.parametrize("case", OUTCOMES.values(), ids=OUTCOMES)
def test_outcomes_that_are_none(make: Callable[[], Any], case: tuple[Any, str]) -> None:
    y, shown = case
    pool = started(make)
    column = spoiled(COLUMN, 3, y)
    refused(
        pool,
        OutcomeError,
        ("y", shown),
        lambda: pool.learn_one(TABLE[0], y),
        lambda: pool.replay(TABLE, column),
        lambda: pool.partial_fit(TABLE, column),
        lambda: pool.fit(TABLE, column),
    )
    fresh = make()
    refused(fresh, OutcomeError, (shown,), lambda: fresh.learn_one(TABLE[0], y))
    assert state(fresh) is None


@every_pool
def test_outcomes_of_the_wrong_shape(make: Callable[[], Any]) -> None:
    pool = started(make)
    refused(
        pool,
        OutcomeError,
        ("y",),
        lambda: pool.learn_one(TABLE[0], [1.0]),
        lambda: pool.learn_one(TABLE[0], np.array([1.0, 0.0])),
        lambda: pool.replay(TABLE, COLUMN[1:]),
        lambda: pool.replay(TABLE, np.ones((T, 2))),
        lambda: pool.replay(TABLE, 1.0),
        lambda: pool.fit(TABLE, None),
    )


@pytest.mark.parametrize("loss", ["brier", "log"])
def test_outcomes_that_are_neither_0_nor_1(loss: str) -> None:
    pool = started(POOLS[loss])
    for y in (0.5, -1.0, 2.0):
        refused(
            pool,
            OutcomeError,
            (repr(y), "0 and 1"),
            lambda y=y: pool.learn_one(TABLE[0], y),
            lambda y=y: pool.replay(TABLE, spoiled(COLUMN, 2, y)),
            lambda y=y: nr.aggregate(TABLE, spoiled(COLUMN, 2, y), rule="aggregating", loss=loss),
        )


# Forecasts ----------------------------------------------------------------------------------

FORECASTS: dict[str, tuple[Any, str]] = {
    "infinity": (INF, "inf"),
    "minus infinity": (np.float64(-INF), "-inf"),
    "text": ("0.5", "'0.5'"),
    "complex": (0.5j, "0.5j"),
    "huge": (-1e151, "-1e+151"),
    "inexact": (2**53 + 1, "9007199254740993"),
    "array": (np.array([0.5]), "array([0.5])"),
    "list": ([0.5], "[0.5]"),
    "masked": (np.ma.masked, "masked"),
    "decimal": (Decimal("-Infinity"), "-Infinity"),
    "missing": (pd.NA, "<NA>"),
}


@names_pool
@pytest.mark.parametrize("case", FORECASTS.values(), ids=FORECASTS)
def test_forecasts_that_are_none(make: Callable[[], Any], case: tuple[Any, str]) -> None:
    value, shown = case
    pool = started(make)
    x = {"a": 0.5, "b": value}
    rows = spoiled(NAMED, 4, x)
    refused(
        pool,
        InputError,
        ("the forecast of expert 'b'", shown),
        lambda: pool.predict_one(x),
        lambda: pool.learn_one(x, 1.0),
        lambda: pool.predict(rows),
        lambda: pool.replay(rows, COLUMN),
        lambda: pool.partial_fit(rows, COLUMN),
        lambda: pool.fit(rows, COLUMN),
    )
    given = make()
    given.set_params(experts={"fine": lambda _: 0.5, "odd": lambda _: value})
    refused(
        given,
        InputError,
        ("the forecast of expert 'odd'", shown),
        lambda: given.predict_one(None),
        lambda: given.learn_one(None, 1.0),
        lambda: given.fit([None], [1.0]),
    )


def test_probabilities_that_are_none() -> None:
    pool = started(POOLS["log"])
    for p in (-0.1, 1.0000001, 7.0):
        refused(
            pool,
            InputError,
            (repr(p), "is not a probability"),
            lambda p=p: pool.learn_one({"a": p, "b": 0.5}, 1.0),
            lambda p=p: pool.replay([{"a": 0.5}, {"a": p}], [1.0, 1.0]),
            lambda p=p: nr.aggregate([[0.5, 0.5], [0.5, p]], [1.0, 0.0], loss="log"),
        )


def test_learners_refuse_for_the_pool() -> None:
    """What an expert refuses before anything was learned is refused by the pool."""
    pool = started(lambda: AA([nr.AAR(), nr.Ridge()], outcome_range=2.0))
    for x, words in (
        ([NAN, 1.0], ("x[0] = nan",)),
        ([1.0, 2.0, 3.0], ("3", "2")),
        ("ab", ("'ab'",)),
        (None, ("None",)),
        ([1.0, 1j], ("1j",)),
    ):
        refused(
            pool,
            FeatureError,
            words,
            lambda x=x: pool.predict_one(x),
            lambda x=x: pool.learn_one(x, 1.0),
        )
    bad = TABLE.copy()
    bad[3, 1] = INF
    refused(pool, FeatureError, ("inf",), lambda: pool.replay(bad, COLUMN))
    refused(pool, FeatureError, ("inf",), lambda: pool.fit(bad, COLUMN))


# Tables -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "y", "loss", "error", "words"),
    [
        ([[0.5, INF]], [1.0], "square", InputError, ("forecasts[0, 'expert_1'] = inf",)),
        ([[0.5], [-1e151]], [1.0] * 2, "square", InputError, ("forecasts[1, 'expert_0']",)),
        ([0.5, 0.5], [1.0], "square", InputError, ("forecasts has shape (2,)",)),
        (0.5, [1.0], "square", InputError, ("forecasts has shape ()",)),
        (np.empty((0, 2)), [], "square", InputError, ("forecasts has shape (0, 2)",)),
        (np.empty((2, 0)), [1.0] * 2, "square", InputError, ("forecasts has shape (2, 0)",)),
        (np.ones((1, 2, 2)), [1.0], "square", InputError, ("means and variances",)),
        (np.ones((1, 2, 3)), [1.0], "log", InputError, ("forecasts has shape (1, 2, 3)",)),
        ([[[0.0, 0.0]]], [1.0], "log", InputError, ("forecasts[0, 0, 1] = 0.0", "variance")),
        ([[[0.0, NAN]]], [1.0], "log", InputError, ("forecasts[0, 0, 1] = nan", "variance")),
        ([[[0.0, -1.0]]], [1.0], "log", InputError, ("forecasts[0, 0, 1] = -1.0", "variance")),
        ([[0.5, 0.5]], [NAN], "square", OutcomeError, ("y[0] = nan",)),
        ([[0.5, 0.5]], [1e151], "square", OutcomeError, ("y = 1e+151",)),
        ([[0.5, 0.5]], [1.0, 1.0], "square", OutcomeError, ("y has shape (2,)",)),
        ([[0.5, 0.5]], [[1.0]], "square", OutcomeError, ("y has shape (1, 1)",)),
    ],
)
def test_tables_that_are_none(
    said: Any, y: Any, loss: str, error: type[Exception], words: tuple[str, ...]
) -> None:
    with pytest.raises(error) as caught:
        nr.aggregate(said, y, rule="aggregating", loss=loss)
    assert isinstance(caught.value, error)
    for word in words:
        assert word in str(caught.value)


def test_frames_with_two_columns_of_one_name() -> None:
    frame = pd.DataFrame([[0.5, 0.5]], columns=["a", "a"])
    with pytest.raises(FeatureError, match="two columns of the same name, 'a'"):
        nr.aggregate(frame, [1.0], rule="aggregating")
    with pytest.raises(FeatureError, match="two columns of the same name, 'a'"):
        AA(["a", "b"]).replay(frame, [1.0])


@every_pool
def test_newcomers_that_are_none(make: Callable[[], Any]) -> None:
    pool = started(make)
    for weight in (0.0, 1.0, -1.0, 2.0, NAN, INF, "0.5", None, 1j):
        refused(pool, ParameterError, ("weight = ",), lambda w=weight: pool.join("c", w))
    first = next(iter(pool.weights_))
    refused(pool, ParameterError, ("already",), lambda: pool.join(total, 0.5, name=first))
    refused(pool, ParameterError, ("3",), lambda: pool.join(3, 0.5))


@every_pool
def test_what_only_rounds_can_give(make: Callable[[], Any]) -> None:
    pool = make()
    for what in ("weights_", "losses_", "experts_", "n_samples_seen_"):
        with pytest.raises(NotLearnedError, match="learned nothing yet"):
            getattr(pool, what)
    for call in (pool.certificate, pool.certificates, lambda: pool.predict(TABLE)):
        with pytest.raises(NotLearnedError, match="call learn_one or fit first"):
            call()
    assert math.isfinite(pool.predict_one(TABLE[0]))
    assert state(pool) is None


def test_an_expert_that_cannot_be_looked_at_is_refused_by_name() -> None:
    class Rude:
        def __getattr__(self, name: str) -> None:
            raise RuntimeError("no")

    pool = nr.AggregatingAlgorithm(["a"])
    with pytest.raises(ParameterError, match="raised RuntimeError: no"):
        pool.join(Rude(), 0.5)
    with pytest.raises(ParameterError, match="raised RuntimeError: no"):
        nr.Lagged(Rude(), [1]).learn_one([1.0], 2.0)
