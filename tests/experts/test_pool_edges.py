"""Pools: cases that once went wrong.

First what must not be claimed, then numbers, then refusals.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import SGDClassifier, SGDRegressor

import noregret as nr
from noregret.errors import InputError, NoRegretError, ParameterError
from noregret.reference import pool as twin
from pools import state

AA, NAN = nr.AggregatingAlgorithm, math.nan


# What must not be claimed -------------------------------------------------------------------


def test_the_chain_takes_a_certificate_about_another_loss() -> None:
    X, signs = 2.0 ** np.arange(20.0)[:, None], (-1.0) ** np.arange(20)
    for unit in (1.0, 1e-6):
        pool = AA(nr.over(nr.Ridge, prior_precision=[1.0, 2.0]), outcome_range=unit)
        assert False not in [c.holds for c in pool.fit(X, unit * signs).certificates()]


def test_the_chain_takes_every_round_for_a_bound_on_the_loss() -> None:
    y = 1e-7 * np.random.default_rng(0).uniform(-1, 1, 1000)
    inner = [AA(["a", "b"], outcome_range=8e-8) for _ in range(2)]
    pool = AA(inner, outcome_range=1e-7).fit(np.column_stack([0.0 * y, 0.0 * y + 5e-8]), y)
    assert [c.holds for c in pool.certificates()] == [True] * 3


def test_the_chain_forgets_what_exponential_weights_assume() -> None:
    grid = nr.over(nr.AAR, prior_precision=[1e-3, 1.0, 1e3])
    pool = nr.ExponentialWeights(grid, outcome_range=1.0, learning_rate=1e6)
    pool.fit(np.ones((200, 1)), (-1.0) ** np.arange(200))
    assert [c.holds for c in pool.certificates()] == [True]


def test_tracking_forgets_what_exponential_weights_assume() -> None:
    pool = nr.ExponentialWeights(["a", "b"], outcome_range=1.0, learning_rate=1e3)
    y = np.concatenate([[1.0], (-1.0) ** np.arange(199)])
    result = pool.replay(np.array([[1.0, -1.0]] * 200), y)
    assert result.tracking(0).holds is True


def test_tracking_switches_without_a_share_makes_no_claim() -> None:
    certificate = nr.aggregate(
        [[0.0, 1.0]] * 3, [1.0] * 3, rule="aggregating", outcome_range=(0, 1)
    ).tracking(1)
    assert certificate.holds is None


@pytest.mark.parametrize("offset", [1e8, 1e12])
def test_every_round_fails_for_outcomes_far_from_zero(offset: float) -> None:
    rng = np.random.default_rng(0)
    y = offset + rng.integers(0, 2, 200)
    said = offset + np.column_stack([np.zeros(200), np.ones(200), rng.integers(0, 2, 200)])
    for span in (None, (offset, offset + 1.0)):
        result = nr.aggregate(said, y, rule="aggregating", outcome_range=span)
        assert [c.holds for c in result.certificates] == [True] * 3


# Numbers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("miss", "span"), [(1e12, 1e-6), (1e17, 1.0), (5e149, 1e-100)])
def test_experts_on_opposite_sides_meet_in_the_middle(miss: float, span: float) -> None:
    said = np.array([[miss, -miss]])
    result = nr.aggregate(said, [0.0], rule="aggregating", outcome_range=span)
    assert abs(result.forecast[0]) <= 1e-9 * miss  # by symmetry
    if miss < 1e100:
        assert abs(twin.aggregating(said, np.zeros(1), -span, span).forecast[0]) <= 1e-9 * miss


@pytest.mark.parametrize("loss", ["square", "log"])
def test_a_tiny_prior_under_fixed_share_is_refused(loss: str) -> None:
    with pytest.raises(ParameterError, match="no expert's share may be below 1e-300"):
        nr.aggregate(
            [[0.5, 0.5]], [1.0], rule="aggregating", loss=loss, share=0.1, prior=[1e-310, 1.0]
        )


def test_priors_whose_sum_is_beyond_float64() -> None:
    result = nr.aggregate(
        [[0.0, 1.0]], [1.0], rule="aggregating", outcome_range=1.0, prior=[1e308, 1e308]
    )
    assert result.weights[0].tolist() == [0.5, 0.5]


def test_priors_whose_share_is_beyond_float64_are_refused() -> None:
    with pytest.raises(ParameterError, match="no expert's share may be below 1e-300"):
        nr.aggregate(
            [[0.0, 1.0]], [1.0], rule="aggregating", outcome_range=1.0, prior=[1e-300, 1e300]
        )


def test_a_potential_of_experts_beyond_float64() -> None:
    result = nr.aggregate(
        [[1e150, 0.0]] * 3, [0.0] * 3, rule="aggregating", outcome_range=(0.0, 1e-6)
    )
    assert [c.holds for c in result.certificates] == [True] * 3


def test_a_normal_forecast_that_is_infinitely_wrong() -> None:
    said = np.array([[[0.0, 1e-310], [0.0, 1.0]]])
    assert np.isfinite(nr.aggregate(said, [1.0], loss="log").loss).all()


# All or nothing -----------------------------------------------------------------------------


class Stubborn:
    """An expert of somebody else's that forecasts but will not learn."""

    def predict_one(self, _: Any) -> float:
        return 0.0

    def learn_one(self, _: Any, __: float) -> None:
        raise ValueError("not today")


def test_a_round_that_an_expert_refuses_is_learned_by_nobody() -> None:
    pool = AA([nr.AAR(), Stubborn(), nr.Ridge()], outcome_range=1.0)
    pool.join(nr.AAR(3.0), 0.5)
    before = state(pool)
    with pytest.raises(ValueError, match="not today"):
        pool.learn_one({"a": 2.0}, 1.0)
    assert state(pool) == before


def test_a_copy_of_a_pool_shares_nothing_with_it() -> None:
    pool = AA(["a", "b"], outcome_range=1.0, share=0.1)
    pool.learn_one({"a": 0.5, "b": -0.5}, 0.25)
    held = pool._state.pool
    copied = held.copy()
    before = copied.cells.tobytes(), copied.book.tobytes()
    assert before == (held.cells.tobytes(), held.book.tobytes())
    held.cells += 1.0
    held.book += 1.0
    assert (copied.cells.tobytes(), copied.book.tobytes()) == before


def test_no_expert_vanishes_behind_a_name() -> None:
    pool = AA(["a", "a #2", "a"], outcome_range=1.0)
    pool.learn_one({"a": 0.5, "a #2": 0.0}, 1.0)
    assert len(pool.weights_) == 3


BAD_TABLES: dict[str, Any] = {
    "text of numbers": [["1.0", "2.0"]],
    "text": [["a", "b"]],
    "complex": np.array([[1.0 + 1j, 2.0]]),
    "list of complex": [[1j, 2.0]],
    "dates": np.array([["2024-02-29", "2024-03-01"]], dtype="M8[D]"),
    "masked": np.ma.array([[1.0, 2.0]], mask=[[True, False]]),
    "inexact": np.array([[2**53 + 1, 0]]),
    "ragged": [[1.0, 2.0], [1.0]],
}


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("said", BAD_TABLES.values(), ids=BAD_TABLES)
def test_tables_of_forecasts_are_read_by_numpy(said: Any) -> None:
    with pytest.raises(InputError):
        nr.aggregate(said, [1.0] * len(said), rule="aggregating", outcome_range=2.0)


@pytest.mark.parametrize("x", [3.0, None, [], [0.5], [0.5, 0.5, 0.5], {1, 2}], ids=repr)
def test_rows_of_forecasts_that_are_no_rows(x: Any) -> None:
    pool = AA(["a", "b"], outcome_range=1.0)
    with pytest.raises(InputError):
        pool.predict_one(x)


def test_names_that_sleep_in_a_frame() -> None:
    frame = pd.DataFrame({"a": [NAN, 0.5], "b": [1.0, 1.0]})
    result = AA(["a", "b"], outcome_range=1.0).replay(frame, [0.0, 1.0])
    assert_allclose(
        result.forecast,
        nr.aggregate(frame, [0.0, 1.0], rule="aggregating", outcome_range=1.0).forecast,
    )


def test_a_float32_nan_sleeps_in_a_replay_but_not_in_a_round() -> None:
    rows = np.array([[NAN, 0.5]], dtype=np.float32)
    assert AA(["a", "b"], outcome_range=1.0).replay(rows, [0.0]).forecast[0] == 0.5
    assert AA(["a", "b"], outcome_range=1.0).predict_one(rows[0]) == 0.5


def test_a_function_that_says_nan_sleeps() -> None:
    pool = AA([lambda _: NAN, lambda _: 0.5], outcome_range=1.0)
    assert pool.predict_one(None) == 0.5


@pytest.mark.parametrize("columns", [["u", "v"], [0, 1]])
def test_a_frame_and_an_estimator(columns: list[Any]) -> None:
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.zeros(20)
    frame = pd.DataFrame(X, columns=columns)
    by_array, by_frame = (
        AA([SGDRegressor(random_state=0), nr.AAR()], outcome_range=1.0) for _ in range(2)
    )
    expected = by_array.replay(X, y).forecast
    assert by_frame.replay(frame, y).forecast.tolist() == expected.tolist()


def test_a_classifier_under_brier_loss_gives_labels() -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    pool = AA([SGDClassifier(loss="log_loss", random_state=0), lambda _: 0.5], loss="brier")
    said = pool.replay(X, (X[:, 0] > 0).astype(float)).said[1:, 0]
    assert ((said > 0.0) & (said < 1.0)).any()


def test_no_rows_to_predict() -> None:
    pool = AA(["a", "b"], outcome_range=1.0).fit([[0.0, 1.0]], [1.0])
    assert pool.predict(np.empty((0, 2))).shape == (0,)


def test_no_rows_to_learn() -> None:
    for call in ("fit", "replay", "partial_fit"):
        pool = AA(["a", "b"], outcome_range=1.0)
        with pytest.raises(NoRegretError):
            getattr(pool, call)(np.empty((0, 2)), [])


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize(
    "options",
    [
        {"prior": "12"},
        {"prior": ["1", "2"]},
        {"prior": {1: 0.5, "a": 0.5}},
        {"prior": np.array([1.0 + 1j, 1.0])},
        {"share": np.complex128(0.1 + 1j)},
        {"outcome_range": np.complex128(1.0 + 1j)},
    ],
    ids=str,
)
def test_parameters_that_are_no_numbers(options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        nr.aggregate([[0.0, 1.0]], [1.0], rule="aggregating", **{"outcome_range": 1.0, **options})


@pytest.mark.parametrize("losses", [[1.0, 2.0], np.empty((0, 2)), np.empty((2, 0))])
def test_losses_that_are_no_table(losses: Any) -> None:
    with pytest.raises(NoRegretError):
        nr.best_sequence(losses, 1)


# What is said -------------------------------------------------------------------------------


def test_messages_show_plain_numbers() -> None:
    with pytest.raises(nr.errors.OutcomeError, match=r"y\[0\] = 1\.0: every expert awake"):
        nr.aggregate([[0.0, 0.0]], [1.0], loss="log")


def test_a_replay_blames_the_outcome_where_only_the_dead_are_awake() -> None:
    pool = AA(["a", "b"], loss="log").fit([[0.0, 0.5]], [1.0])
    with pytest.raises(InputError, match="only experts without any weight are awake"):
        pool.learn_one([0.5, None], 1.0)
    with pytest.raises(InputError, match="only experts without any weight are awake"):
        pool.replay([[0.5, NAN]], [1.0])


def test_a_probability_that_is_none_names_its_expert() -> None:
    with pytest.raises(InputError, match=r"'b'.*1\.5"):
        AA(["a", "b"], loss="log").learn_one({"a": 0.5, "b": 1.5}, 1.0)
