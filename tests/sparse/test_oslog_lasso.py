"""Passes lead to the lasso: against scikit-learn, against its conditions, pass by pass."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import Lasso

import noregret as nr
from noregret._native import sparse as ops
from noregret._native.sparse import MOMENT, STATE_ROWS, WEIGHTS
from noregret._native.sparse import SWEEPS as MOST
from noregret.errors import FeatureError, OutcomeError, ParameterError
from noregret.reference import oslog as twin
from strategies import Rows, rows

# T, n, a, and how strongly the columns are correlated; T < n where the solution is unique.
PROBLEMS = [
    (30, 5, 0.5, 0.0),
    (30, 5, 20.0, 0.0),
    (100, 10, 3.0, 1.0),
    (100, 10, 1e-2, 0.0),
    (60, 10, 10.0, 2.0),
    (15, 25, 0.5, 0.0),
    (15, 25, 5.0, 0.0),
    (12, 20, 1.0, 1.0),
    (50, 3, 1e-3, 3.0),
    (60, 8, 100.0, 0.0),
    (60, 8, 1e3, 0.0),
    (10, 12, 0.05, 0.0),
    (80, 12, 20.0, 5.0),
    (40, 1, 1.0, 0.0),
    (1, 1, 0.01, 0.0),
    (2, 6, 0.3, 0.0),
    (100, 2, 5.0, 30.0),
    (70, 6, 0.1, 10.0),
    (25, 25, 2.0, 0.0),
    (64, 16, 8.0, 0.5),
]
problems = pytest.mark.parametrize("k", range(len(PROBLEMS)), ids=lambda k: str(PROBLEMS[k]))


def problem(k: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Half of the true weights are 0, and columns share a part."""
    T, n, a, correlated = PROBLEMS[k]
    rng = np.random.default_rng(k)
    X = rng.normal(size=(T, n)) + correlated * rng.normal(size=(T, 1))
    w = rng.normal(size=n) * (rng.random(n) < 0.5)
    return X, X @ w + 0.3 * rng.normal(size=T), a


def lasso(X: np.ndarray, y: np.ndarray, a: float, *, intercept: bool = False) -> Lasso:
    model = Lasso(alpha=a / len(y), fit_intercept=intercept, tol=1e-14, max_iter=10**6)
    return model.fit(X, y)


# The fixed point ----------------------------------------------------------------------------


@problems
def test_endless_passes_are_the_lasso(k: int) -> None:
    X, y, a = problem(k)
    expected = lasso(X, y, a).coef_
    learner = nr.OSLOG(a, passes=math.inf, start=0.3).fit(X, y)
    assert_allclose(learner.coef_, expected, rtol=0.0, atol=1e-6)
    assert learner.passes_ < MOST
    zero = 1e-6 * a / (X * X).sum(axis=0).max()
    assert twin.unrest(X, y, learner.coef_, a, zero) < 1e-8
    batch = nr.SLOG(a).fit(X, y)
    assert_allclose(batch.coef_, expected, rtol=0.0, atol=1e-6)
    assert_array_equal(batch.coef_ == 0.0, np.abs(expected) < 1e-9)
    assert batch.intercept_ == 0.0
    assert twin.unrest(X, y, batch.coef_, a) < 1e-8
    assert_allclose(batch.predict(X), X @ batch.coef_)
    assert batch.sparsity_ == (expected == 0.0).mean()


@problems
def test_slog_with_an_intercept_is_the_lasso(k: int) -> None:
    X, y, a = problem(k)
    X, y = X + np.arange(X.shape[1]), y + 3.0
    expected = lasso(X, y, a, intercept=True)
    found = nr.SLOG(a, fit_intercept=True).fit(X, y)
    assert_allclose(found.coef_, expected.coef_, rtol=0.0, atol=1e-6)
    assert found.intercept_ == pytest.approx(expected.intercept_, abs=1e-5)
    assert_allclose(found.predict(X), expected.predict(X), rtol=0.0, atol=1e-5)


@pytest.mark.parametrize("k", [0, 2, 4, 9, 13, 16, 19])
def test_the_twin_comes_to_the_same_point(k: int) -> None:
    X, y, a = problem(k)
    w, _ = twin.fixed_point(X.T @ X, X.T @ y, np.ones(X.shape[1]), a)
    assert_allclose(nr.SLOG(a).fit(X, y).coef_, w, rtol=0.0, atol=1e-6)


@pytest.mark.data
def test_every_tenth_prefix_of_real_data(shared_data: Path) -> None:
    data = np.genfromtxt(shared_data / "ise.csv", delimiter=",", skip_header=1)[:, 1:]
    X, y, a = np.ascontiguousarray(data[:, :-1]), np.ascontiguousarray(data[:, -1]), 1e-3
    path = nr.OSLOG(a, passes=math.inf).replay(X, y).weights
    for t in range(10, len(y) + 1, 10):
        w = path[t - 1]
        assert_allclose(w, lasso(X[:t], y[:t], a).coef_, rtol=0.0, atol=1e-6, err_msg=f"{t}")
        assert twin.unrest(X[:t], y[:t], w, a, zero=1e-9) < 1e-8
        assert_allclose(nr.SLOG(a).fit(X[:t], y[:t]).coef_, w, rtol=0.0, atol=1e-6)
    fitted = nr.SLOG(a, fit_intercept=True).fit(X, y)
    expected = lasso(X, y, a, intercept=True)
    assert_allclose(fitted.coef_, expected.coef_, rtol=0.0, atol=1e-6)
    assert fitted.intercept_ == pytest.approx(expected.intercept_, abs=1e-8)


def test_endless_passes_revive_weights_that_died() -> None:
    """Features that are 0 in the first round: one pass leaves them dead, the limit does not."""
    X, y, a = problem(2)
    X[0, 3:] = 0.0
    y = y + X[:, 4]
    once, limit = nr.OSLOG(a).fit(X, y), nr.OSLOG(a, passes=math.inf).fit(X, y)
    assert once.dead_ == 7
    assert_allclose(limit.coef_, lasso(X, y, a).coef_, rtol=0.0, atol=1e-6)


# Pass by pass -------------------------------------------------------------------------------


def state_of(X: np.ndarray, y: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    state = np.zeros((STATE_ROWS, X.shape[1]))
    state[MOMENT], state[WEIGHTS] = X.T @ y, w
    return X.T @ X, state


@settings(max_examples=150, deadline=None)
@given(rows(), st.sampled_from([1e-3, 0.1, 1.0, 50.0]), st.integers(0, 2**32 - 1))
def test_the_objective_never_rises(data: Rows, a: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = data.X.shape[1]
    w = rng.normal(size=n) * 10.0 ** rng.integers(-12, 3, n) * (rng.random(n) < 0.8)
    gram, state = state_of(data.X, data.y, w)
    assume(max(np.abs(w).max(), 1.0) * np.trace(gram) < 1e10 * a)  # else rounding shows
    square, root = float(data.y @ data.y), np.zeros((n, n))
    before = twin.objective(gram, state[MOMENT], square, w, a)
    for _ in range(12):
        largest = np.abs(state[WEIGHTS]).max()
        assert ops.refine(gram, state, root, a, 0.0, 2.0) == 2  # the first is counted as made
        largest = max(largest, np.abs(state[WEIGHTS]).max()) ** 2 * np.trace(gram)
        after = twin.objective(gram, state[MOMENT], square, state[WEIGHTS], a)
        assert after <= before + 1e-12 * (square + largest)
        before = after


@problems
def test_more_passes_are_nearer_to_the_lasso(k: int) -> None:
    """From one state in order; and at the end of a stream the limit is below them all."""
    X, y, a = problem(k)
    square = float(y @ y)
    learner = nr.OSLOG(a, start=0.3).fit(X, y)
    reached = []
    for passes in (1.0, 2.0, 5.0, 50.0, math.inf):
        gram, state = state_of(X, y, learner.coef_)
        ops.refine(gram, state, np.zeros_like(gram), a, 0.0, passes)
        reached.append(twin.objective(gram, state[MOMENT], square, state[WEIGHTS], a))
    assert (np.diff(reached) <= 1e-9 * square).all()
    ends = [nr.OSLOG(a, passes=p, start=0.3).fit(X, y).coef_ for p in (1, 5, math.inf)]
    one, five, limit = (twin.objective(X.T @ X, X.T @ y, square, w, a) for w in ends)
    assert limit <= min(one, five) + 1e-9 * square


def test_passes_are_passes() -> None:
    X, y, a = problem(0)
    for passes in (1, 2, 5):
        learner, w = nr.OSLOG(a, passes=passes, start=0.4), np.full(X.shape[1], 0.4)
        for t in range(1, 8):
            learner.learn_one(X[t - 1], float(y[t - 1]))
            for _ in range(passes):
                w = twin.one_pass(X[:t].T @ X[:t], X[:t].T @ y[:t], w, a)
            assert_allclose(learner.coef_, w, rtol=1e-9, atol=1e-12)
        assert learner.passes_ == passes


# Where the limit is hard to reach -----------------------------------------------------------


def test_endless_passes_end_with_a_floor() -> None:
    """with a floor the lasso's conditions cannot hold; every round takes a million passes."""
    X, y, a = problem(0)
    learner = nr.OSLOG(a, passes=math.inf, floor=1e-3).fit(X[:1], y[:1])
    assert learner.passes_ < MOST


def test_endless_passes_end_where_rounding_hides_the_conditions() -> None:
    """b/a = 1e10, so that 1e-9 of a is lost in b - Mw; a million passes without effect."""
    X, y, _ = problem(3)
    model = nr.SLOG(1e-8).fit(X[:, :3], y)
    assert model.n_iter_ < MOST


def test_endless_passes_end_at_the_edge() -> None:
    """x = y = a = 1 has |b| = a, the weight falls like 1/passes and 1e-6 is left of it."""
    learner = nr.OSLOG(1.0, passes=math.inf)
    learner.learn_one([1.0], 1.0)
    assert learner.passes_ < MOST
    assert learner.coef_[0] == pytest.approx(0.0, abs=1e-8)


def test_endless_passes_reach_the_lasso_where_descent_crawls() -> None:
    """36 rows, 40 features: 3000 passes are enough, 1000 and 100000 sweeps are not."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(36, 40)) + rng.normal(size=(36, 1))
    y = X @ rng.normal(size=40)
    assert twin.unrest(X, y, nr.SLOG(1e-2).fit(X, y).coef_, 1e-2) < 1e-8


# SLOG as an estimator -----------------------------------------------------------------------


def test_slog_is_an_estimator() -> None:
    X, y, a = problem(0)
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = nr.SLOG(a, fit_intercept=True).fit(frame, y)
    assert model.feature_names_in_.tolist() == list("abcde")
    assert model.n_features_in_ == 5
    assert model.score(frame, y) > 0.6
    again = clone(model)
    assert again.get_params() == {"shrinkage": a, "fit_intercept": True}
    assert_array_equal(again.fit(X, y).coef_, model.coef_)
    with pytest.raises(AttributeError, match="call fit first"):
        nr.SLOG().predict(X)
    with pytest.raises(FeatureError, match="give a frame"):
        model.predict(X)
    with pytest.raises(FeatureError, match="X has 2 features, but it is expecting 5 features"):
        again.predict(X[:, :2])


def test_slog_refuses_what_makes_no_sense() -> None:
    for bad in (0.0, -1.0, math.nan, math.inf, "1", None, 1j, True):
        with pytest.raises(ParameterError, match="shrinkage = "):
            nr.SLOG(bad).fit([[1.0]], [1.0])
    for X, shown in (
        ([[math.nan]], "X[0, 0] = nan"),
        ([[None]], "X[0, 0] = None"),
        ([["1"]], "X[0, 0] = '1'"),
        ([[1e141]], "x has an entry of size 1e+141"),
        (np.empty((1, 0)), "shape=(1, 0)"),
        ([1.0], "X[0] = 1.0"),
    ):
        with pytest.raises(FeatureError) as caught:
            nr.SLOG().fit(X, [1.0])
        assert shown in str(caught.value)
    for y, shown in (([math.inf], "y[0] = inf"), ([1e141], "y = 1e+141"), ([1.0, 2.0], "y has")):
        with pytest.raises(OutcomeError) as wrong:
            nr.SLOG().fit([[1.0]], y)
        assert shown in str(wrong.value)
    with pytest.raises(OutcomeError, match="one outcome per round"):
        nr.SLOG().fit([[1.0]], [[1.0, 2.0]])


def test_slog_takes_identical_columns_under_a_small_shrinkage() -> None:
    """M + aI is singular in float64, and LinAlgError comes out."""
    X = np.full((50, 2), 1e5)
    model = nr.SLOG(1e-6).fit(X, np.ones(50))
    assert model.coef_.sum() == pytest.approx(1e-5)


def test_slog_predicts_frames_by_name() -> None:
    """Columns in another order go by their names."""
    X, y, a = problem(0)
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = nr.SLOG(a).fit(frame, y)
    assert_allclose(model.predict(frame[list("edcba")]), model.predict(frame))


def test_slog_refuses_an_intercept_that_is_neither() -> None:
    """ "no" counts as True; Ridge refuses it."""
    with pytest.raises(ParameterError, match="fit_intercept = 'no'"):
        nr.SLOG(fit_intercept="no").fit([[1.0], [2.0]], [1.0, 2.0])
