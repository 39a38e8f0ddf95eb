"""Lagged: past outcomes as features, nothing from the future, at any horizon."""

from __future__ import annotations

import copy
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

import noregret as nr
from noregret.errors import FeatureError, InputError, OutcomeError, ParameterError


def series(T: int = 60, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.sin(np.arange(T) / 4.0) + 0.1 * rng.normal(size=T)


def dense(make, lags: list[int], h: int, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Forecasts by the definition: round t from scratch, on rounds up to t - h."""
    T = len(y)

    def features(t: int) -> np.ndarray:
        past = [y[t - h + 1 - k] if t - h + 1 - k >= 0 else 0.0 for k in lags]
        return np.concatenate([X[t], past])

    forecasts = np.empty(T)
    for t in range(T):
        learner = make()
        for s in range(t - h + 1):
            learner.learn_one(features(s), y[s])
        forecasts[t] = learner.predict_one(features(t))
    return forecasts


@pytest.mark.parametrize("h", [1, 2, 5])
@pytest.mark.parametrize("make", [lambda: nr.AAR(0.3), lambda: nr.Ridge(2.0, drift=0.01)], ids="ab")
def test_equals_the_definition(h: int, make) -> None:
    y = series(40)
    X = np.random.default_rng(1).normal(size=(40, 2))
    lags = [1, 3, 7]
    expected = dense(make, lags, h, X, y)
    looped = nr.Lagged(make(), lags, h)
    for t in range(40):
        assert looped.predict_one(X[t]) == pytest.approx(expected[t], abs=1e-12)
        looped.learn_one(X[t], y[t])
    replayed = nr.Lagged(make(), lags, h).replay(X, y)
    assert replayed.forecast == pytest.approx(expected, abs=1e-12)
    assert replayed.loss == pytest.approx((y - expected) ** 2, abs=1e-12)


@settings(deadline=None)
@given(
    lags=st.lists(st.integers(1, 12), min_size=1, max_size=4, unique=True),
    h=st.integers(1, 4),
    t=st.integers(0, 39),
    outcome=st.floats(-5.0, 5.0),
)
def test_what_is_not_known_yet_changes_nothing(lags, h, t, outcome) -> None:
    """Changing y_t leaves all forecasts up to round t + h - 1 as they were, to the last bit."""
    y = series(40)
    other = y.copy()
    other[t] = outcome
    one = nr.Lagged(nr.AAR(), lags, h).replay(None, y).forecast
    two = nr.Lagged(nr.AAR(), lags, h).replay(None, other).forecast
    assert np.array_equal(one[: t + h], two[: t + h])


@settings(deadline=None)
@given(cuts=st.sets(st.integers(1, 59)), h=st.sampled_from([1, 3]))
def test_pieces_are_the_whole_to_the_last_bit(cuts, h) -> None:
    y = series(60)
    X = np.random.default_rng(2).normal(size=(60, 2))
    whole = nr.Lagged(nr.AAR(0.1), [1, 2, 10], h).replay(X, y).forecast
    learner = nr.Lagged(nr.AAR(0.1), [1, 2, 10], h)
    ends = [0, *sorted(cuts), 60]
    parts = [learner.replay(X[a:b], y[a:b]).forecast for a, b in itertools.pairwise(ends)]
    assert np.array_equal(np.concatenate(parts), whole)


def test_names_positions_and_a_bare_series() -> None:
    y = series(30)
    bare = nr.Lagged(nr.AAR(), [1, 2])
    named = nr.Lagged(nr.AAR(), [1, 2])
    empty = nr.Lagged(nr.AAR(), [1, 2])
    for value in y.tolist():
        assert bare.predict_one() == named.predict_one({}) == empty.predict_one([])
        bare.learn_one(None, value)
        named.learn_one({}, value)
        empty.learn_one([], value)
    mixed = nr.Lagged(nr.AAR(), [2])
    mixed.learn_one({"hot": 1.0}, 2.0)
    assert list(mixed.learner_.feature_names_in_) == ["hot", "lag 2"]


def test_certificates_are_the_learners_at_horizon_1_and_a_report_beyond() -> None:
    y = series(50)
    learner = nr.Lagged(nr.AAR(), [1, 2])
    learner.replay(None, y)
    assert next(c.holds for c in learner.certificates()) is True
    assert learner.certificate().rounds == 50
    ahead = nr.Lagged(nr.AAR(), [1, 2], 3)
    replay = ahead.replay(None, y)
    report = ahead.certificate()
    assert (report.kind, report.holds, report.bound, report.rounds) == ("report", None, None, 50)
    assert report.loss == pytest.approx(replay.loss.sum(), rel=1e-12)
    assert ahead.n_samples_seen_ == 50
    assert ahead.learner_.n_samples_seen_ == 48


def test_a_refused_round_changes_nothing() -> None:
    learner = nr.Lagged(nr.AAR(), [1, 2], 2)
    learner.replay(None, series(10))
    before = learner.to_bytes()
    for x, y in ((None, "3"), (None, np.nan), ([np.nan], 1.0), ({"lag 1": 1.0}, 1.0)):
        with pytest.raises((InputError, OutcomeError)):
            learner.learn_one(x, y)
    with pytest.raises(InputError):
        learner.replay(None, [1.0, np.inf])
    assert learner.to_bytes() == before


@pytest.mark.parametrize(
    "chosen",
    [
        {"lags": []},
        {"lags": [0]},
        {"lags": [1, 1]},
        {"lags": 3},
        {"lags": [1.5]},
        {"lags": [1], "horizon": 0},
        {"lags": [1], "horizon": True},
    ],
    ids=str,
)
def test_parameters_are_checked(chosen) -> None:
    with pytest.raises(ParameterError):
        nr.Lagged(nr.AAR(), **chosen).predict_one()
    with pytest.raises(ParameterError, match="give a learner"):
        nr.Lagged("aar", [1]).predict_one()


@pytest.mark.parametrize("h", [1, 4])
def test_goes_on_from_a_model_file_and_a_copy(h: int) -> None:
    y = series(40)
    learner = nr.Lagged(nr.BayesianRidge(0.5), [1, 5], h)
    learner.replay(None, y[:20])
    twins = [nr.from_bytes(learner.to_bytes()), copy.deepcopy(learner)]
    rest = learner.replay(None, y[20:]).forecast
    for twin in twins:
        assert np.array_equal(twin.replay(None, y[20:]).forecast, rest)
    assert clone(learner).get_params()["horizon"] == h


@pytest.mark.data
def test_water_flow(shared_data) -> None:
    """A time and an outcome, nothing else: lags beat the mean by far."""
    lines = (shared_data / "water_flow.csv").read_text().splitlines()[1:]
    y = np.array([float(line.rpartition(",")[2]) for line in lines])
    replay = nr.Lagged(nr.AAR(fit_intercept=True), [1, 2, 24]).replay(None, y)
    late = slice(len(y) // 2, None)
    assert np.sqrt(replay.loss[late].mean()) < 0.5 * y[late].std()
    assert replay.certificate.holds is True


def test_an_x_without_a_length_is_refused_by_name() -> None:
    learner = nr.Lagged(nr.AAR(), [1], 2)
    for x in (np.array(1.0), 3.0, sparse.csr_array([[1.0, 2.0]])[0]):
        with pytest.raises(FeatureError):
            learner.learn_one(x, 1.0)
    learner.learn_one([], 1.0)  # lags alone
    assert learner.n_samples_seen_ == 1
