"""Replay, partial_fit and fit go exactly as the loop over single rounds does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import noregret as nr
from noregret.errors import NumericalError
from noregret.gaussian.audits import EPS, looseness
from noregret.gaussian.cores import blocks
from noregret.gaussian.cores.blocks import BLOCK, CROSSOVER, LEVERAGE
from strategies import Rows, precisions, rows

LEARNERS = [nr.Ridge, nr.BayesianRidge, nr.AAR]


def loop(learner, X, y):
    forecasts = np.empty(np.shape(y))
    for t, (x, outcome) in enumerate(zip(X, y, strict=True)):
        forecasts[t] = learner.predict_one(x)
        learner.learn_one(x, float(outcome) if np.ndim(outcome) == 0 else outcome)
    return forecasts


@settings(max_examples=60, deadline=None)
@given(
    rows(max_rounds=30, max_outcomes=2),
    precisions,
    st.sampled_from(LEARNERS),
    st.sampled_from([0.0, 0.01]),
    st.booleans(),
)
def test_replay_is_the_loop_to_the_bit(data: Rows, a, kind, drift, intercept) -> None:
    settings_ = {"prior_precision": a, "drift": drift, "fit_intercept": intercept}
    one, many = kind(**settings_), kind(**settings_)
    y = data.y if data.Y.shape[1] == 1 else data.Y
    forecasts = loop(one, data.X, y)
    half = len(data.X) // 2
    parts = [many.replay(data.X[s], y[s]) for s in (slice(half), slice(half, None)) if len(y[s])]
    assert_array_equal(np.concatenate([p.forecast for p in parts]), forecasts)
    assert_array_equal(many.coef_, one.coef_)
    assert_array_equal(many.predict(data.X), [one.predict_one(x) for x in data.X])
    assert many.certificates() == one.certificates()


@pytest.mark.parametrize("shape", ["random", "collinear", "scaled", "small prior", "first huge"])
@pytest.mark.parametrize("kind", LEARNERS)
def test_blocks_equal_the_loop(shape: str, kind) -> None:
    n, T = CROSSOVER + 3, 2 * BLOCK + 37
    rng = np.random.default_rng(3)
    X = rng.standard_normal((T, n))
    a = 2.5
    if shape == "collinear":
        X[:, 1] = X[:, 0] + 1e-6 * rng.standard_normal(T)
    elif shape == "scaled":
        X *= 2.0 ** rng.integers(-6, 7, size=n)
    elif shape == "small prior":
        a = 1e-8  # leverages beyond LEVERAGE: the first blocks go row by row
    elif shape == "first huge":
        X[0] *= 1e180
    Y = rng.standard_normal((T, 2))
    one, many = kind(a, fit_intercept=True), kind(a, fit_intercept=True)
    forecasts = loop(one, X, Y)
    replay = many.replay(X, Y)
    scale = np.abs(forecasts).max()
    assert_allclose(replay.forecast, forecasts, rtol=1e-10, atol=1e-10 * scale)
    assert_allclose(many.coef_, one.coef_, rtol=1e-10, atol=1e-10 * np.abs(one.coef_).max())
    for c, d in zip(one.certificates(), many.certificates(), strict=True):
        assert d.holds in (True, None)
        assert d.holds == c.holds
        assert d.comparator == pytest.approx(c.comparator, rel=1e-10)
        assert d.loss == pytest.approx(c.loss, rel=1e-10)


def test_small_priors_do_send_blocks_to_the_loop() -> None:
    """The guard is reached: under a = 1e-8 the first leverages are far beyond LEVERAGE."""
    X = np.random.default_rng(0).standard_normal((BLOCK, CROSSOVER))
    replay = nr.Ridge(1e-8).replay(X, X[:, 0])
    assert replay.spread.max() > LEVERAGE
    assert replay.certificate.holds is True


@pytest.mark.parametrize("kind", LEARNERS)
def test_nearly_collinear_columns_among_many_stay_as_accurate_as_alone(kind) -> None:
    """Leverages are small after the first block: a block would blur what is between the two."""
    T, rng = 3 * BLOCK, np.random.default_rng(0)
    apart, along = rng.standard_normal((2, T))
    few = np.column_stack([1e9 * along, 1e9 * along + apart])
    y = along + apart + rng.standard_normal(T)
    many = np.zeros((T, CROSSOVER))
    many[:, [0, -1]] = few
    alone, among = kind(1.0), kind(1.0)
    forecasts = alone.replay(few, y).forecast
    replay = among.replay(many, y)
    assert replay.spread[BLOCK:].max() < LEVERAGE
    assert_allclose(replay.forecast, forecasts, rtol=0.0, atol=1e-10 * np.abs(forecasts).max())
    assert_allclose(among.coef_[[0, -1]], alone.coef_, rtol=1e-10)
    assert not among.coef_[1:-1].any()


@pytest.mark.parametrize("a", [0.1, 10.0])
@pytest.mark.parametrize("n", [3, 40, CROSSOVER + 20])
@pytest.mark.parametrize("kind", LEARNERS)
def test_batch_learning_equals_row_by_row(a: float, n: int, kind) -> None:
    """A known bug of a peer, whose batches use 1/a; to 1e-12."""
    rng = np.random.default_rng(n)
    X, y = rng.standard_normal((3 * n, n)), rng.standard_normal(3 * n)
    rows_, batch, batches = kind(a), kind(a), kind(a)
    for x, outcome in zip(X, y, strict=True):
        rows_.learn_one(x, float(outcome))
    batch.fit(X, y)
    for part in np.array_split(np.arange(3 * n), 5):
        batches.partial_fit(X[part], y[part])
    for other in (batch, batches):
        assert_allclose(other.coef_, rows_.coef_, rtol=1e-12, atol=1e-12)
        assert_allclose(other.predict(X[:5]), rows_.predict(X[:5]), rtol=1e-12, atol=1e-12)
    w = np.linalg.solve(a * np.eye(n) + X.T @ X, X.T @ y)
    assert_allclose(batch.coef_, w, rtol=1e-9, atol=1e-11)


def test_a_state_once_learned_in_blocks_is_audited_as_such(monkeypatch) -> None:
    X = np.random.default_rng(0).standard_normal((2 * BLOCK, blocks.FORMER))
    learner = nr.Ridge(0.1)
    with monkeypatch.context() as then:
        then.setattr(blocks, "CROSSOVER", blocks.FORMER)
        learner.replay(X, X[:, 0])
    assert looseness(learner._state.core) == EPS * BLOCK * LEVERAGE
    assert all(c.holds is not False for c in learner.certificates())


def test_fit_forgets_and_partial_fit_does_not() -> None:
    X, y = np.eye(3), np.arange(3.0)
    learner = nr.AAR().fit(X, y).fit(X, y)
    assert learner.n_samples_seen_ == 3
    assert learner.partial_fit(X, y).n_samples_seen_ == 6
    assert learner.n_features_in_ == 3


def test_replay_that_overflows_midway_changes_nothing() -> None:
    learner = nr.Ridge(1e-300).fit([[1.0, 0.0]], [1.0])
    before = learner.coef_.copy(), learner.certificate().to_json()
    with pytest.raises(NumericalError, match="row 1"):
        learner.replay([[1.0, 0.0], [0.0, -1e200]], [1.0, 1.0])
    assert_array_equal(learner.coef_, before[0])
    assert learner.certificate().to_json() == before[1]


def test_a_row_of_a_replay_in_blocks_is_named() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, CROSSOVER + 10))
    X[:, -1] = 0.0
    X[200, -1] = 1e300
    with pytest.raises(NumericalError, match="row 200"):
        nr.Ridge(1e-300).replay(X, np.zeros(300))


def test_frames_come_back_in_the_callers_library() -> None:
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    columns = {"a": [1.0, 2.0, 3.0], "b": [0.5, 0.0, 1.0]}
    y = [1.0, 2.0, 3.0]
    for library in (pandas, polars):
        frame = nr.AAR().replay(library.DataFrame(columns), y).to_frame()
        assert isinstance(frame, library.DataFrame)
        assert list(frame.columns) == ["forecast", "mean", "spread", "loss"]
    several = nr.AAR().replay(np.ones((3, 2)), np.ones((3, 2)))
    assert list(several.to_frame().columns)[:2] == ["forecast_0", "forecast_1"]
    assert len(several) == 3


def test_plot_draws_loss_comparator_and_bound() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    replay = nr.AAR().replay(np.ones((5, 1)), np.ones(5))
    ax = replay.plot()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["loss paid", "best in hindsight", "bound"]
    assert ax.lines[0].get_ydata()[-1] == pytest.approx(replay.loss.sum())
    matplotlib.pyplot.close(ax.figure)
