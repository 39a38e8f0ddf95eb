"""AAR without a prior: exact twins, the identity, what linear maps of features change (nothing)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret._native import free_of_prior as ops
from noregret.reference.hints import hints
from noregret.reference.prior_free import prior_free

HINTS = st.sampled_from([None, 0.75, "last", "midrange"])


def stream(seed: int, T: int, n: int, *, rank: int | None = None):
    """Small whole numbers, so that ranks are exact; of a lower rank where that is asked for."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 5, size=(T, n)).astype(float)
    if rank is not None:
        X = rng.integers(-2, 3, (T, rank)) @ rng.integers(-2, 3, (rank, n)).astype(float)
    X[rng.random(T) < 0.1] = 0.0
    return X, rng.integers(-8, 9, T) / 4.0


def guesses(y: np.ndarray, hint: object) -> np.ndarray:
    return hints(y[:, None], 0.0 if hint is None else hint)[:, 0]  # type: ignore[arg-type]


@given(st.integers(0, 10**6), st.integers(1, 20), st.integers(1, 5), st.booleans(), HINTS)
def test_rounds_are_those_of_exact_least_squares(seed, T, n, thin, hint) -> None:
    X, y = stream(seed, T, n, rank=max(n // 2, 1) if thin else None)
    h = guesses(y, hint)
    said, shares, best = prior_free(X, y, h)
    learner = nr.PriorFreeAAR(hint=hint)
    replay = learner.replay(X, y)
    np.testing.assert_allclose(replay.forecast, [float(g) for g in said], rtol=1e-9, atol=1e-9)
    book = learner._state.book
    assert book[ops.FIT].sum() == pytest.approx(float(best), rel=1e-9, abs=1e-9)
    assert book[ops.SHARE].sum() == pytest.approx(float(T - sum(shares)), rel=1e-9, abs=1e-9)
    assert book[ops.WIDEST, 1] == np.linalg.matrix_rank(X)
    assert all(c.holds for c in learner.certificates())


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 4), HINTS)
def test_the_identity_and_the_bound_hold_exactly(seed, T, n, hint) -> None:
    """In rational numbers: no rounding at all."""
    X, y = stream(seed, T, n)
    h = guesses(y, hint)
    said, shares, best = prior_free(X, y, h)
    loss = charge = relief = price = Fraction(0)
    widest = max(abs(Fraction(v) - Fraction(u)) for v, u in zip(y.tolist(), h.tolist()))
    for g, share, v, u in zip(said, shares, map(Fraction, y.tolist()), map(Fraction, h.tolist())):
        loss += (v - g) ** 2
        charge += (v - u) ** 2 * (1 - share)
        relief += (1 / share - 1) * (g - u) ** 2 if share else 0
        price += 1 - share
    assert loss == best + charge - relief
    assert loss <= best + widest**2 * price


@given(st.integers(0, 10**6), st.integers(2, 4), HINTS)
def test_a_linear_map_of_the_features_changes_nothing(seed, n, hint) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, n)), rng.normal(size=40)
    M = rng.normal(size=(n, n)) + 3.0 * np.eye(n)
    plain = nr.PriorFreeAAR(hint=hint).replay(X, y)
    turned = nr.PriorFreeAAR(hint=hint).replay(X @ M, y)
    units = nr.PriorFreeAAR(hint=hint).replay(X * 10.0 ** rng.integers(-90, 90, n), y)
    for other in (turned, units):
        np.testing.assert_allclose(other.forecast, plain.forecast, rtol=1e-6, atol=1e-7)


def test_a_new_direction_is_forecast_by_the_hint() -> None:
    learner = nr.PriorFreeAAR(hint=5.0)
    for x in ([1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [1.0, 1.0, 1e-6]):
        assert learner.predict_one(x) == 5.0
        learner.learn_one(x, 4.0)
    assert learner.predict_one([3.0, 1.0, 0.0]) != 5.0
    assert learner._state.book[ops.SHARE].sum() == 3.0


def test_features_that_repeat_others_find_no_direction() -> None:
    """What rounding leaves of a direction seen before is not a new one."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(200, 2))
    X = np.column_stack([x, x @ [0.1, 0.7], 3.3 * x[:, 0], np.ones(200)])
    y = x @ [1.0, -2.0] + 0.5
    learner = nr.PriorFreeAAR()
    learner.replay(X, y)
    assert learner._state.book[ops.WIDEST, 1] == 3
    assert learner._state.book[ops.FIT].sum() == pytest.approx(0.0, abs=1e-20)
    assert all(c.holds for c in learner.certificates())


def test_one_by_one_is_the_replay_and_files_go_on() -> None:
    X, y = stream(3, 60, 3)
    whole, single = nr.PriorFreeAAR(hint="midrange"), nr.PriorFreeAAR(hint="midrange")
    said = whole.replay(X, y).forecast
    for t, (x, v) in enumerate(zip(X, y.tolist())):
        if t == 30:
            single = nr.from_bytes(single.to_bytes())
        assert single.predict_one(x) == said[t]
        single.learn_one(x, v)
    assert single.to_bytes() == whole.to_bytes()


def test_a_new_feature_has_been_0_all_along() -> None:
    X, y = stream(4, 40, 3)
    X[:20, 2] = 0.0
    known, late = (nr.PriorFreeAAR(fit_intercept=True) for _ in range(2))
    for t, (x, v) in enumerate(zip(X.tolist(), y.tolist())):
        row = dict(zip("abc", x))
        known.learn_one(row, v)
        late.learn_one(row if t >= 20 else {"a": x[0], "b": x[1]}, v)
    np.testing.assert_array_equal(late._state.factor, known._state.factor)
    np.testing.assert_array_equal(late._state.book, known._state.book)


def test_coefficients_are_least_squares() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(50, 3))
    learner = nr.PriorFreeAAR(fit_intercept=True).fit(X, X @ [1.0, 2.0, 3.0] + 4.0)
    np.testing.assert_allclose(learner.coef_, [1.0, 2.0, 3.0], rtol=1e-9)
    assert learner.intercept_ == pytest.approx(4.0)


def test_a_state_that_is_not_what_was_booked_fails() -> None:
    X, y = stream(6, 40, 3)
    learner = nr.PriorFreeAAR().fit(X, y)
    learner._state.factor[0, -1] *= 1.5
    assert learner.certificate().holds is False


def test_numbers_that_do_not_fit_are_refused_and_leave_no_trace() -> None:
    X, y = stream(7, 30, 3)
    learner = nr.PriorFreeAAR().fit(X, y)
    before = learner.to_bytes()
    for x, v in [([1e308, 0, 0], 1.0), ([0.0, 1.0, 0.0], 1e300), ([math.nan, 0.0, 0.0], 1.0)]:
        with pytest.raises(nr.errors.NoRegretError):
            learner.learn_one(x, v)
    assert learner.to_bytes() == before


def first_feature(x: np.ndarray) -> float:
    return float(x[0]) / 2.0


def test_a_hint_may_be_a_function_of_x() -> None:
    X, y = stream(9, 40, 3)
    said, _, _ = prior_free(X, y, X[:, 0] / 2.0)
    whole, single = (nr.PriorFreeAAR(hint=first_feature, fit_intercept=False) for _ in range(2))
    forecasts = whole.replay(X, y).forecast
    np.testing.assert_allclose(forecasts, [float(g) for g in said], rtol=1e-9, atol=1e-9)
    for x, v, wanted in zip(X, y.tolist(), forecasts):
        assert single.predict_one(x) == wanted
        single.learn_one(x, v)
    assert single.to_bytes() == whole.to_bytes()
    assert all(c.holds for c in single.certificates())
    assert "the function given" in single.certificate().assumptions[0].text
    again = nr.from_bytes(single.to_bytes(), hint=first_feature)
    assert again.predict_one(X[3]) == single.predict_one(X[3])
    with pytest.raises(nr.errors.SnapshotError):
        nr.from_bytes(single.to_bytes())


@pytest.mark.parametrize("wrong", [math.nan, 1e300, "high"])
def test_a_function_that_says_no_number_is_refused_and_leaves_no_trace(wrong: object) -> None:
    answers: list[object] = [0.5, 0.5]
    learner = nr.PriorFreeAAR(hint=lambda _: answers.pop(0) if answers else wrong)
    learner.learn_one([1.0, 2.0], 1.0)
    answers.clear()
    book, factor = learner._state.book.copy(), learner._state.factor.copy()
    with pytest.raises(nr.errors.NoRegretError):
        learner.learn_one([1.0, 0.0], 1.0)
    np.testing.assert_array_equal(learner._state.book, book)
    np.testing.assert_array_equal(learner._state.factor, factor)


@pytest.mark.parametrize("wrong", ["lower", "unused", "hint", "rounds", "shape", "function"])
def test_states_that_cannot_be_are_refused(wrong: str) -> None:
    X, y = stream(8, 30, 3, rank=2)
    state = nr.PriorFreeAAR().fit(X, y)._state
    space, rule, intercept, factor, book, guess = (getattr(state, f.name) for f in state.FIELDS)
    factor, book = factor.copy(), book.copy()
    if wrong == "lower":
        factor[2, 0] = 1.0
    elif wrong == "unused":
        factor[np.flatnonzero(np.diagonal(factor) == 0.0)[0], -1] = 1.0
    elif wrong == "hint":
        book[ops.ENDS] = 1.0
    elif wrong == "rounds":
        book[ops.ROUNDS, 0] = -1.0
    elif wrong == "function":
        guess = first_feature
    else:
        factor = factor[:, :-1]
    with pytest.raises(ValueError, match="has"):
        type(state).restored(space, rule, intercept, factor, book, guess)
