"""OSLOG against its dense twins, one pass at a time; and as a learner among learners.

Passes are compared from given states, never whole streams: weights that nearly vanish amplify
rounding, so that two correct implementations part company (the test of one ulp shows it).
"""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import noregret as nr
from noregret._native.sparse import LIST, MOMENT, SCALES, WEIGHTS, factor
from noregret.errors import NumericalError
from noregret.inputs.spaces import Positions
from noregret.reference import oslog as twin
from noregret.sparse.state import OSLOGState
from noregret.testing import CHECKS
from strategies import Rows, rows

SIZES = (0.0, 1e-300, 1e-150, 1e-20, 1e-9, 1.0, 1e3)
DENORMAL = 2.0**-1074


@dataclass(frozen=True, eq=False)
class State:
    """What OSLOG may have come to, and the round that comes next."""

    X: np.ndarray
    y: np.ndarray
    w: np.ndarray
    a: float
    floor: float

    def learner(self) -> nr.OSLOG:
        """All rows but the last are known, and the weights are w."""
        learner, past = nr.OSLOG(self.a, floor=self.floor), self.X[:-1]
        held = OSLOGState.start(Positions(self.w.size), self.a, self.floor, 1.0, 1.0)
        held.gram[:] = past.T @ past
        held.state[MOMENT] = past.T @ self.y[:-1]
        held.state[WEIGHTS] = self.w
        learner._state = held
        return learner

    def exact(self) -> tuple[list, list, list]:
        """M, b and d of the pass to come, as fractions."""
        held, x = self.learner()._state, [Fraction(v) for v in self.X[-1].tolist()]
        M = [[Fraction(v) + p * q for v, q in zip(r, x)] for r, p in zip(held.gram.tolist(), x)]
        b = held.state[MOMENT].tolist()
        b = [Fraction(v) + Fraction(float(self.y[-1])) * p for v, p in zip(b, x)]
        return M, b, [max(abs(Fraction(v)), Fraction(self.floor)) for v in self.w.tolist()]


@st.composite
def states(draw, max_features: int = 5) -> State:
    data = draw(rows(max_rounds=10, max_features=max_features))
    n = data.X.shape[1]
    weights = st.tuples(st.sampled_from(SIZES), st.floats(0.5, 2.0), st.sampled_from([-1.0, 1.0]))
    w = np.array([math.prod(draw(weights)) for _ in range(n)])
    a = draw(st.sampled_from([1e-6, 1e-3, 0.1, 1.0, 30.0, 1e4]))
    return State(data.X, data.y, w, a, draw(st.sampled_from([0.0, 0.0, 1e-12, 1e-3, 2.0])))


def check_pass(state: State) -> None:
    """Componentwise to 1e-13 of the terms a weight is made of; normwise as conditions allow."""
    M, b, d = state.exact()
    condition = 1.0 + float(sum(d[i] * M[i][i] for i in range(len(b)))) / state.a
    learner = state.learner()
    try:
        learner.learn_one(state.X[-1], float(state.y[-1]))
    except NumericalError:  # the factor was lost to rounding
        assert condition > 1e15
        return
    found = learner.coef_
    w = twin.exact_pass(M, b, state.w.tolist(), state.a, state.floor)
    small = Fraction(DENORMAL) * 4 * (1 + int(1.0 / state.a))
    for i, value in enumerate(found.tolist()):
        terms = abs(b[i]) + sum(abs(m) * abs(v) for m, v in zip(M[i], w))
        error = abs(Fraction(value) - w[i])
        assert error <= terms * d[i] / Fraction(state.a) * Fraction(1e-13) + small
    largest = float(max(map(abs, w)))
    allowed = max(1e-10, 1e-13 * condition) * largest + float(small)
    assert_allclose(found, [float(v) for v in w], rtol=0.0, atol=allowed)
    if condition < 1e12:
        gram, moment = np.array(M, dtype=float), np.array(b, dtype=float)
        dense = twin.one_pass(gram, moment, state.w, state.a, state.floor)
        assert_allclose(found, dense, rtol=0.0, atol=allowed)


@settings(max_examples=400, deadline=None)
@given(states())
def test_one_pass_from_any_state_is_the_formula(state: State) -> None:
    check_pass(state)


@settings(max_examples=10, deadline=None)
@given(states(max_features=12))
def test_one_pass_with_more_features(state: State) -> None:
    check_pass(state)


@pytest.mark.parametrize(("n", "idle"), [(140, 0), (200, 40), (130, 1), (129, 0), (128, 0)])
def test_one_pass_with_many_live_weights(n: int, idle: int) -> None:
    """LAPACK factors where more than 128 weights are live; the equation a w/d + Mw = b holds."""
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(300, n)), rng.normal(size=300)
    w = rng.normal(size=n)
    w[:idle] *= 10.0 ** -rng.integers(12, 200, idle).astype(float)
    state = State(X, y, rng.permutation(w), 3.0, 0.0)
    learner = state.learner()
    learner.learn_one(X[-1], float(y[-1]))
    held = learner._state
    assert factor(held.gram, held.state, held.root, np.zeros(n), 3.0) == n - idle
    assert len(set(held.state[LIST, : n - idle].tolist())) == n - idle
    M, b, found = X.T @ X, X.T @ y, learner.coef_
    dense = twin.one_pass(M, b, state.w, 3.0)
    assert_allclose(found, dense, rtol=0.0, atol=1e-10 * np.abs(dense).max())
    M, b, v = M.astype(np.longdouble), b.astype(np.longdouble), found.astype(np.longdouble)
    pulled = 3.0 * v / np.abs(state.w)
    rest = pulled + M @ v - b
    assert (np.abs(rest) <= 1e-12 * (np.abs(pulled) + np.abs(M) @ np.abs(v) + np.abs(b))).all()


def test_a_weight_that_only_idle_ones_drive_is_exact_too() -> None:
    """b_1 = 0, so that w_1 answers to w_2 alone, and is solved for with w_2's first guess."""
    check_pass(
        State(
            np.array([[1.0, 1000.0], [1.0, -500.0]]),
            np.array([1.0, -1.0]),
            np.array([1.0, 6e-15]),
            1.0,
            0.0,
        )
    )


def test_a_tiny_weight_is_not_lost_where_d_times_b_underflows() -> None:
    """d b/a = 1e-290 1e-50 / 1e-60 is 1e-280, but d b is 0 in float64."""
    state = State(np.array([[1e-20]]), np.array([1e-30]), np.array([1e-290]), 1e-60, 0.0)
    learner = state.learner()
    learner.learn_one(state.X[-1], 1e-30)
    assert learner.coef_[0] == pytest.approx(1e-280, rel=1e-9, abs=0.0)


def test_an_ulp_in_one_weight_becomes_a_different_stream() -> None:
    """Why streams are not compared: n = 100, half of the true weights are 0."""
    rng = np.random.default_rng(0)
    X, true = rng.normal(size=(500, 100)), rng.normal(size=100) * (rng.random(100) < 0.5)
    y = X @ true + 0.1 * rng.normal(size=500)
    one, other = (nr.OSLOG(0.1).fit(X[:1], y[:1]) for _ in range(2))
    weights = other._state.state[WEIGHTS]
    weights[:] = np.nextafter(weights, 2.0)
    apart = np.abs(one.replay(X[1:], y[1:]).forecast - other.replay(X[1:], y[1:]).forecast)
    assert apart[:20].max() < 1e-10
    assert apart.max() > 1e-9


# The predictive distribution ----------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(rows(max_rounds=8), st.sampled_from([0.05, 1.0, 40.0]), st.sampled_from([0.0, 1e-3]))
def test_the_variance_is_the_dense_formula(data: Rows, a: float, floor: float) -> None:
    learner = nr.OSLOG(a, floor=floor, noise_var=0.3, start=0.5)
    for x, y in zip(data.X, data.y.tolist()):
        before = learner.predictive(x)
        assert before.mean == learner.predict_one(x)
        learner.learn_one(x, y)
    held = learner._state
    for x in (data.X[0], data.X[-1], np.ones(data.X.shape[1])):
        dense = twin.spread(held.gram, held.state[SCALES], x, a)
        condition = 1.0 + float(held.state[SCALES] @ np.diagonal(held.gram)) / a
        assert learner.predictive(x).var == pytest.approx(0.3 * dense, rel=1e-9 + 1e-14 * condition)


def test_the_variance_is_right_where_live_and_idle_weights_meet() -> None:
    """what is between live and idle weights in x'A^-1 x is left out; it may be 1e-4 of it."""
    learner = nr.OSLOG(1.0).fit([[1.0, 1.0], [1.0, 0.5]], [1.0, 1.0])
    held, x = learner._state, np.array([1.0, 1e4])
    held.state[SCALES] = [1.0, 7e-9]
    dense = twin.spread(held.gram, held.state[SCALES], x, 1.0)
    assert learner.predictive(x).var == pytest.approx(dense, rel=1e-9)


def test_the_variance_is_not_that_of_lemma_3() -> None:
    """MATH.md, JB Lemma 3 and Theorem 1, sigma^2 = 3: 3.159, not 0.009."""
    learner = nr.OSLOG(1.0, noise_var=3.0)
    learner.learn_one([math.sqrt(8.26)], 1.0)  # A = 8.26 + 1
    found = learner.predictive([0.7])
    assert found.var == pytest.approx(3.0 * (1.0 + 0.49 / 9.26), rel=1e-14)
    assert round(found.var, 3) == 3.159
    printed = 0.49 / 9.26 / (2.0 * 3.0)
    assert round(printed, 3) == 0.009
    assert learner.set_params(noise_var=0.5).predictive([0.7]).var == pytest.approx(found.var / 6.0)


def test_before_the_first_round_the_variance_is_that_of_the_start() -> None:
    found = nr.OSLOG(2.0, start=-0.5, noise_var=3.0).predictive({"a": 2.0, "b": 1.0})
    assert found == nr.Normal(-1.5, 3.0 * (1.0 + 5.0 * 0.5 / 2.0))


# A learner among learners -------------------------------------------------------------------

MAKERS: dict[str, Callable[[], Any]] = {
    "floor": lambda: nr.OSLOG(0.3, start=0.1, floor=1e-3),
    "passes": lambda: nr.OSLOG(2.0, passes=3),
    "lasso": lambda: nr.OSLOG(0.5, passes=math.inf),
    "safe": lambda: nr.SafeOSLOG(0.3, 2.0),
    "safe, range": lambda: nr.SafeOSLOG(outcome_range=1.5, floor=1e-3),
}
every = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
alone = pytest.mark.parametrize("make", [MAKERS[k] for k in ("floor", "passes")])


@every
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_contract_of_learners(make: Callable[[], Any], check: Callable[[Any], None]) -> None:
    check(make())


def stream(T: int = 60, n: int = 5) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(T, n))
    return X, np.clip(X[:, 0] - 0.5 * X[:, 2] + 0.1 * rng.normal(size=T), -1.5, 1.5)


@alone
@settings(max_examples=60, deadline=None)
@given(data=rows())
def test_replay_is_the_loop_bit_for_bit(make: Callable[[], Any], data: Rows) -> None:
    one, many = make(), make()
    forecasts, path = [], []
    for x, y in zip(data.X, data.y.tolist()):
        forecasts.append(one.predict_one(x))
        one.learn_one(x, y)
        path.append(one.coef_)
    replay = many.replay(data.X, data.y)
    assert_array_equal(replay.forecast, forecasts)
    assert_array_equal(replay.loss, (data.y - replay.forecast) ** 2)
    assert_array_equal(replay.weights, path)
    assert many.to_bytes() == one.to_bytes()
    assert many.certificates() == one.certificates()
    assert replay.certificate == one.certificate()


def test_replay_goes_on_from_what_was_learned() -> None:
    X, y = stream()
    for make in MAKERS.values():
        whole, parts = make(), make()
        at_once = whole.replay(X, y)
        first, second = parts.replay(X[:25], y[:25]), parts.replay(X[25:], y[25:])
        assert_array_equal(at_once.forecast, np.concatenate([first.forecast, second.forecast]))
        assert whole.certificate().loss == parts.certificate().loss
        best = whole.certificate().comparator
        assert best == pytest.approx(parts.certificate().comparator, rel=1e-12)
        if isinstance(whole, nr.OSLOG):
            assert_array_equal(at_once.weights, np.vstack([first.weights, second.weights]))
            assert_array_equal(at_once.weights[-1], whole.coef_)
            assert at_once.weights is not at_once.weights


def test_weights_of_a_replay_do_not_follow_the_callers_arrays() -> None:
    """the rows are kept as the caller's own array."""
    X, y = stream()
    replay = nr.OSLOG(0.3, start=0.1).replay(X, y)
    before = replay.weights
    X[:], y[:] = 0.0, 0.0
    assert_array_equal(replay.weights, before)


def test_frames_of_a_replay() -> None:
    X, y = stream(T=12, n=3)
    replay = nr.OSLOG().replay(pd.DataFrame(X, columns=list("abc")), y)
    assert list(replay.to_frame().columns) == ["forecast", "loss"]
    assert replay.weights.shape == (12, 3)
    assert len(replay.plot_weights().lines) == 4


@alone
def test_forecasts_change_nothing(make: Callable[[], Any]) -> None:
    X, y = stream()
    learner = make().fit(X, y)
    before = learner.to_bytes()
    for ask in (learner.predict_one, lambda x: learner.predict(x[None])[0]):
        assert ask(X[3]) == pytest.approx(float(learner.predict(X)[3]), rel=1e-12)
    assert learner.to_bytes() == before


@alone
def test_late_names_have_been_zeros(make: Callable[[], Any]) -> None:
    X, y = stream()
    X[:20, 3:], X[:30, 4] = 0.0, 0.0
    names, positions = make(), make()
    for t, (x, outcome) in enumerate(zip(X, y.tolist())):
        known = 3 + (t >= 20) + (t >= 30)
        mapping = {"abcde"[i]: float(x[i]) for i in range(known)}
        assert names.predict_one(mapping) == pytest.approx(positions.predict_one(x), rel=1e-12)
        names.learn_one(mapping, outcome)
        positions.learn_one(x, outcome)
    assert_allclose(names.coef_, positions.coef_, rtol=1e-9)
    assert names.n_features_in_ == 5
    frame = pd.DataFrame(X, columns=list("abcde"))
    assert_allclose(names.predict(frame[list("ecabd")]), positions.predict(X), rtol=1e-9)
    assert_allclose(make().fit(frame, y).coef_, positions.coef_, rtol=1e-9)
    assert names.dead_ == positions.dead_ == (2 if names.floor == 0.0 else 0)


@every
def test_fit_resets_and_copies_go_on(make: Callable[[], Any]) -> None:
    X, y = stream()
    learner = make().fit(X[:30], y[:30])
    others = [copy.copy(learner), copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))]
    expected = learner.replay(X[30:], y[30:]).forecast
    for other in others:
        assert other.get_params() == learner.get_params()
        assert_array_equal(other.replay(X[30:], y[30:]).forecast, expected)
    assert learner.fit(X, y).n_samples_seen_ == len(X)
    assert_array_equal(learner.predict(X), make().fit(X, y).predict(X))
    fresh = clone(learner)
    assert fresh.get_params() == learner.get_params()
    assert not fresh.__sklearn_is_fitted__()
    assert fresh.partial_fit(X, y).certificate() == learner.certificate()
