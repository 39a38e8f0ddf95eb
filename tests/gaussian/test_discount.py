"""Learners whose past fades: twins, the best path, late and silent features, files, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import InputError, MergeError, NotLearnedError, ParameterError
from noregret.reference import fading
from noregret.reference.hints import forecasts, hints
from strategies import Rows, precisions, rows

GAMS = st.sampled_from([0.999, 0.9, 0.5, 0.05])


def played(learner, X, Y) -> np.ndarray:
    said = []
    for x, y in zip(X, Y):
        said.append(np.zeros(np.shape(y)) + learner.predict_one(x))
        learner.learn_one(x, y)
    return np.array(said).reshape(len(X), -1)


@settings(max_examples=150, deadline=None)
@given(rows(max_outcomes=2), st.sampled_from([1e-3, 0.7, 10.0]), GAMS)
def test_looks_and_the_best_path_equal_the_dense_twin(data: Rows, a: float, gam: float) -> None:
    mean, spread = fading.looks(data.X, data.Y, a, gam)
    learner = nr.Ridge(a, discount=gam)
    replay = learner.replay(data.X, data.Y)
    size = 1.0 + np.abs(data.Y).max()
    np.testing.assert_allclose(replay.spread, spread, rtol=1e-9)
    off = np.abs(replay.mean.reshape(mean.shape) - mean) / np.sqrt(spread)[:, None]
    assert off.max() <= 1e-9 * size
    best, energy = fading.best_loss(data.X, data.Y, a, gam), float((data.Y**2).sum())
    c = learner.certificate()
    assert c.comparator == pytest.approx(best, rel=1e-9, abs=1e-9 * energy)
    path = fading.leaders(data.X, data.Y, a, gam)
    pays = fading.path_loss(data.X, data.Y, a, gam, path)
    assert pays == pytest.approx(best, rel=1e-8, abs=1e-8 * energy)


@settings(max_examples=80, deadline=None)
@given(rows(), st.sampled_from([1e-3, 0.7, 10.0]), GAMS, st.integers(0, 2**32 - 1))
def test_no_path_pays_less(data: Rows, a: float, gam: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    V = nr.AAR(a, discount=gam).fit(data.X, data.y).certificate().comparator
    best = fading.leaders(data.X, data.Y, a, gam)
    for size in (0.0, 1e-3, 1.0):
        path = [u + size * rng.normal(size=u.shape) for u in best]
        pays = fading.path_loss(data.X, data.Y, a, gam, path)
        worst = sum(
            abs(fading.charge(data.X, data.Y, a, gam, t + 1, u)) for t, u in enumerate(path)
        )
        assert pays + 1e-9 * (abs(pays) + worst) >= V


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(rows(max_outcomes=2), precisions, GAMS, st.sampled_from([None, "last", "midrange", 4.0]))
def test_every_certificate_holds_in_every_round(data: Rows, a: float, gam: float, hint) -> None:
    Y = max(float(np.abs(data.Y).max()), 1e-3)
    for learner in (
        nr.AAR(a, discount=gam, hint=hint, fit_intercept=True),
        nr.Ridge(a, discount=gam),
        nr.Ridge(a, discount=gam, clip=Y),
    ):
        for x, y in zip(data.X, data.Y):
            learner.learn_one(x, y)
            for c in learner.certificates():
                assert c.holds is True, str(c)
                assert "discounted" in c.name or "clipped" in c.name


@settings(max_examples=60, deadline=None)
@given(rows(max_outcomes=2), st.sampled_from([1e-3, 0.7]), GAMS, st.sampled_from(["last", 3.0]))
def test_aar_equals_the_dense_twin(data: Rows, a: float, gam: float, hint) -> None:
    mean, spread = fading.looks(data.X, data.Y, a, gam)
    wanted = forecasts(mean, spread, hints(data.Y, hint))
    size = 1.0 + np.abs(data.Y).max()
    said = played(nr.AAR(a, discount=gam, hint=hint), data.X, data.Y)
    np.testing.assert_allclose(said, wanted, rtol=1e-9, atol=1e-9 * size)


@settings(max_examples=60, deadline=None)
@given(rows(max_outcomes=2), precisions, GAMS)
def test_replay_is_the_loop_to_the_last_bit(data: Rows, a: float, gam: float) -> None:
    one, many = nr.AAR(a, discount=gam), nr.AAR(a, discount=gam)
    said = played(one, data.X, data.Y)
    cut = len(data.X) // 2
    halves = [h for h in (slice(0, cut), slice(cut, None)) if len(data.X[h])]
    replayed = np.vstack([many.replay(data.X[h], data.Y[h]).forecast for h in halves])
    np.testing.assert_array_equal(replayed, said)
    np.testing.assert_array_equal(many._state.core.factor, one._state.core.factor)
    assert many.certificate().bound == one.certificate().bound


def test_1_is_no_discount_to_the_last_bit() -> None:
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    one, other = nr.AAR(0.3, discount=1.0).fit(X, y), nr.AAR(0.3).fit(X, y)
    assert one.predict_one(X[0]) == other.predict_one(X[0])
    assert one.certificate() == other.certificate()


def test_a_late_feature_is_exact() -> None:
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    X[:20, 1] = 0.0
    late, early = nr.AAR(0.5, discount=0.8), nr.AAR(0.5, discount=0.8)
    for t, (x, v) in enumerate(zip(X, y)):
        named = {"a": x[0], "b": x[1]}
        row = {"a": x[0]} if t < 20 else named
        assert late.predict_one(row) == pytest.approx(early.predict_one(named), rel=1e-9, abs=1e-12)
        late.learn_one(row, v)
        early.learn_one(named, v)
    assert late.certificate().bound == pytest.approx(early.certificate().bound, rel=1e-9)
    assert all(c.holds for c in late.certificates())


def test_a_feature_that_is_silent_for_ever_so_long() -> None:
    """The prior has faded to nothing long ago; its pivot stays, and all certificates hold."""
    rng = np.random.default_rng(6)
    T = 4000
    X = np.column_stack([rng.normal(size=T), np.zeros(T)])
    y = X[:, 0] + 0.1 * rng.normal(size=T)
    learner = nr.AAR(1.0, discount=0.3).fit(X, y)
    pivots = np.abs(np.diagonal(learner._state.core.factor))
    assert 2.0**-500 <= pivots[1] <= 2.0**-499
    learner.learn_one([0.5, 1.0], 2.0)
    np.testing.assert_allclose(learner.coef_, [1.0, 1.5], atol=0.2)
    for c in learner.certificates():
        assert c.holds is True, str(c)


def test_it_follows_a_change_that_plain_aar_does_not() -> None:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(600, 3))
    w = np.where(np.arange(600)[:, None] < 300, [1.0, -1.0, 0.5], [-1.0, 1.0, 0.0])
    y = (X * w).sum(axis=1) + 0.1 * rng.normal(size=600)
    plain, fades = nr.AAR().replay(X, y), nr.AAR(discount=0.95).replay(X, y)
    assert fades.loss.sum() < 0.25 * plain.loss.sum()
    assert fades.certificate.holds is True


def test_a_damaged_state_is_found() -> None:
    rng = np.random.default_rng(8)
    learner = nr.AAR(discount=0.9).fit(rng.normal(size=(50, 3)), rng.normal(size=50))
    assert learner.certificate().holds is True
    learner._state.core.factor[0, 1] += 1e-3
    assert learner.certificate().holds is not True


def test_what_goes_together() -> None:
    X, y = np.eye(3), [1.0, 2.0, 3.0]
    with pytest.raises(ParameterError, match=r"discount = 0\.9 .* leave drift=0"):
        nr.AAR(discount=0.9, drift=0.1).fit(X, y)
    with pytest.raises(ParameterError, match=r"discount = 0\.9 .* leave kernel=None"):
        nr.AAR(discount=0.9, kernel="rbf").fit(X, y)
    for wrong in (0.0, 1.5, -1, "much", float("nan"), True):
        with pytest.raises(ParameterError, match=r"discount = .*0\.001 to 1"):
            nr.Ridge(discount=wrong).fit(X, y)
    assert nr.AAR(discount=0.9, budget=nr.Taylor(2)).fit(X, y).certificate().holds is True


def test_what_is_refused() -> None:
    one, other = (nr.AAR(discount=0.9).fit([[1.0]], [1.0]) for _ in range(2))
    before = one.to_bytes()
    with pytest.raises(MergeError, match="discount"):
        one.merge(other)
    with pytest.raises(InputError, match="sample_weight"):
        one.partial_fit([[1.0]], [2.0], sample_weight=[2.0])
    with pytest.raises(NotLearnedError):
        one.hindsight()
    assert one.to_bytes() == before
