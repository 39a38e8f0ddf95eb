"""Intervals and quantiles: the identity on any data, order, units, delay, files, refusals."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret._native import tracker as at
from noregret.errors import InputError, NumericalError, OutcomeError, ParameterError
from noregret.wrappers.tracking import Trackers

SHAPES = ("normal", "cauchy", "constant", "zero", "jumps", "growing", "tiny", "ties")


def errors(shape: str, T: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if shape == "cauchy":
        return rng.standard_cauchy(T)
    if shape == "constant":
        return np.full(T, 3.0)
    if shape == "zero":
        return np.where(rng.random(T) < 0.1, 1.0, 0.0) * (np.arange(T) > T // 2)
    if shape == "jumps":
        return np.where(np.arange(T) % 40 < 20, 0.01, 100.0) * rng.normal(size=T)
    if shape == "growing":
        return 1.1 ** np.arange(T) * rng.choice([-1.0, 1.0], T)
    if shape == "tiny":
        return 1e-200 * rng.normal(size=T)
    if shape == "ties":
        return rng.integers(-2, 3, T) * 1.0
    return rng.normal(size=T)


streams = st.builds(errors, st.sampled_from(SHAPES), st.integers(1, 300), st.integers(0, 2**32 - 1))
coverages = st.lists(
    st.sampled_from([0.1, 0.5, 0.8, 0.9, 0.99]), min_size=1, max_size=3, unique=True
)


def all_hold(learner) -> None:
    for one in learner.certificates():
        assert one.holds is not False, one
    identities = [c for c in learner.certificates() if "coverage identity" in c.name]
    assert identities
    assert all(c.holds is True for c in identities)


@settings(deadline=None, max_examples=60)
@given(e=streams, coverage=coverages, seed=st.integers(0, 99))
def test_the_identity_on_any_data(e, coverage, seed) -> None:
    """Misses counted by the caller, against the positions of the trackers."""
    g = np.random.default_rng(seed).normal(size=len(e))
    learner = nr.Intervals(None, coverage)
    replay = learner.replay(g, g + e)
    all_hold(learner)
    book = learner._state.trackers.book
    for k, c in enumerate(coverage):
        missed = len(e) - int(replay.covered[:, k].sum())
        pair = np.flatnonzero(np.isclose(book[:, at.ALPHA], 0.5 * (1.0 - c)))
        r = book[pair, at.LAST].sum()
        assert missed - (1.0 - c) * len(e) == pytest.approx(r / at.ETA, abs=1e-9 * len(e))
        assert missed == book[pair, at.MISSES].sum()


@pytest.mark.parametrize("always", [True, False])
def test_an_adversary_that_always_or_never_misses(always: bool) -> None:
    learner, T = nr.Intervals(None, 0.9), 60
    for t in range(T):
        low, high = learner.interval_one(0.0)
        inside = 0.5 * (low + high) if math.isfinite(low) else 1.0
        beyond = math.nextafter(high, math.inf) if math.isfinite(high) else 1.0
        learner.learn_one(0.0, beyond if always and t else inside)
    all_hold(learner)
    assert learner.certificate().loss == (T - 1 if always else 0)


@settings(deadline=None, max_examples=40)
@given(e=streams, coverage=coverages, cut=st.integers(0, 300))
def test_the_loop_is_the_replay_also_after_save_and_load(e, coverage, cut) -> None:
    replayed = nr.Intervals(None, coverage)
    said = replayed.replay(np.zeros(len(e)), e)
    looped = nr.Intervals(None, coverage)
    for t, one in enumerate(e.tolist()):
        if t == cut:
            looped = nr.from_bytes(looped.to_bytes())
        now = looped.interval_one(0.0)
        assert np.array_equal(now.low, said.low[t])
        assert np.array_equal(now.high, said.high[t])
        looped.learn_one(0.0, one)
    assert looped.to_bytes() == replayed.to_bytes()


@settings(deadline=None, max_examples=40)
@given(e=streams, levels=st.lists(st.floats(0.01, 0.99), min_size=1, max_size=6, unique=True))
def test_quantiles_never_cross(e, levels) -> None:
    learner = nr.Quantiles(None, levels)
    said = learner.replay(np.zeros(len(e)), e).quantiles
    assert not np.isnan(said).any()
    assert (said[:, 1:] >= said[:, :-1]).all()
    all_hold(learner)


@settings(deadline=None, max_examples=40)
@given(e=streams, coverage=coverages)
def test_coverages_are_nested(e, coverage) -> None:
    said = nr.Intervals(None, coverage).replay(np.zeros(len(e)), e)
    order = np.argsort(coverage)
    low, high = said.low[:, order], said.high[:, order]
    assert (low <= high).all()
    assert (high[:, 1:] >= high[:, :-1]).all()
    assert (low[:, 1:] <= low[:, :-1]).all()


@pytest.mark.parametrize("factor", [1024.0, 1000.0, 2.0**-40])
def test_outcomes_in_another_unit(factor: float) -> None:
    e = errors("jumps", 500, 0)
    one = nr.Intervals(None, [0.5, 0.9]).replay(np.zeros(500), e)
    two = nr.Intervals(None, [0.5, 0.9]).replay(np.zeros(500), factor * e)
    assert factor * one.high == pytest.approx(two.high, rel=1e-9)
    assert np.array_equal(one.covered, two.covered)


def test_before_anything_is_known_intervals_are_infinite_never_nan() -> None:
    learner = nr.Intervals(nr.AAR(), [0.5, 0.9])
    x = np.array([1.0])
    assert not learner.interval_one(x).known
    assert str(learner.interval_one(x)).endswith("nothing is known yet")
    learner.learn_one(x, 0.0)  # forecast exactly: still no error
    assert not learner.interval_one(x).known
    learner.learn_one(x, 1.0)
    assert learner.interval_one(x).known


@pytest.mark.parametrize("h", [1, 2, 5])
def test_ends_know_no_outcome_that_the_forecast_does_not(h: int) -> None:
    rng = np.random.default_rng(0)
    y = np.cumsum(rng.normal(size=120))
    one = nr.Intervals(nr.Lagged(nr.AAR(), [1, 2], h), 0.8)
    X = np.ones((120, 1))
    low = one.replay(X, y).low
    all_hold(one)
    for t in (30, 77):
        other = y.copy()
        other[t] += 50.0
        again = nr.Intervals(nr.Lagged(nr.AAR(), [1, 2], h), 0.8).replay(X, other).low
        assert np.array_equal(again[: t + h], low[: t + h])
        assert not np.array_equal(again[t + h :], low[t + h :])


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), late=st.integers(0, 8))
def test_the_identity_with_outcomes_that_come_late_in_any_order(seed, late) -> None:
    rng = np.random.default_rng(seed)
    delayed, waiting, missed, settled = nr.Delayed(nr.Intervals(nr.AAR(), 0.8)), [], 0, 0
    for _ in range(150):
        x = rng.normal(size=2)
        waiting.append((delayed.predict_one(x), float(x.sum() + rng.standard_cauchy())))
        if len(waiting) > late:
            ticket, y = waiting.pop(int(rng.integers(len(waiting))))
            missed += y not in ticket.interval
            settled += 1
            delayed.learn_one(ticket, y)
        if settled == 60:
            delayed = nr.from_bytes(delayed.to_bytes())
    certificate = delayed.certificate()
    assert certificate.rounds == settled
    assert certificate.loss == missed
    assert certificate.holds


def test_units_of_the_learner_s_own_spread() -> None:
    """Where the forecast is less sure, the interval is as much wider."""
    rng = np.random.default_rng(1)
    learner = nr.Intervals(nr.BayesianRidge(noise_var=None), 0.9)
    learner.replay(rng.normal(size=(200, 1)), rng.normal(size=200))
    near, far = learner.interval_one(np.array([0.0])), learner.interval_one(np.array([300.0]))
    roots = [learner.learner_._state.look(np.array([v])).root for v in (0.0, 300.0)]
    assert far.width / near.width == pytest.approx(roots[1] / roots[0])


@pytest.mark.parametrize("learner", [nr.AAR(0.5), nr.Ridge(drift=0.1), nr.Auto(effort="linear")])
def test_forecasts_stay_the_learner_s(learner) -> None:
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    said = nr.Intervals(learner, 0.9).replay(X, y)
    alone = copy.deepcopy(learner).replay(X, y)
    assert np.array_equal(said.forecast, alone.forecast)
    assert said.to_frame().columns.tolist()[-3:] == ["low", "high", "covered"]


def test_forecasts_of_somebody_else_by_name_position_and_bare() -> None:
    rng = np.random.default_rng(3)
    g = rng.normal(size=50)
    y = g + rng.normal(size=50)
    bare = nr.Intervals(coverage=0.5).replay(g, y).low
    by_place = nr.Intervals(coverage=0.5, forecast=1).replay(np.column_stack([y, g]), y).low
    rows = [{"other": 1.0, "ours": v} for v in g]
    named = nr.Intervals(coverage=0.5, forecast="ours").replay(rows, y).low
    assert np.array_equal(bare, by_place)
    assert np.array_equal(bare, named)
    with pytest.raises(InputError, match="no column 'theirs'"):
        nr.Intervals(forecast="theirs").replay(rows, y)
    with pytest.raises(InputError, match="no forecast 'theirs'"):
        nr.Intervals(forecast="theirs").predict_one(rows[0])


@pytest.mark.parametrize(
    "bad", [0.0, 1.0, -1.0, math.nan, "much", [], [0.5, 0.5], [[0.5]], None, True, [0.5, 2.0]]
)
def test_coverages_that_make_no_sense(bad) -> None:
    with pytest.raises(ParameterError, match="coverage"):
        nr.Intervals(nr.AAR(), bad).interval_one(np.ones(1))


def test_learners_that_cannot_be_wrapped() -> None:
    for learner in (nr.MAPLogistic(), nr.Delayed(nr.AAR()), nr.AAR, 3.0):
        with pytest.raises(ParameterError, match="learner ="):
            nr.Intervals(learner).interval_one(np.ones(1))
    with pytest.raises(ParameterError, match="forecast = 'a'"):
        nr.Intervals(nr.AAR(), forecast="a").interval_one(np.ones(1))
    pairs = nr.Intervals(nr.AAR())
    with pytest.raises(InputError):
        pairs.learn_one(np.ones(1), [1.0, 2.0])


@pytest.mark.parametrize("y", [math.nan, math.inf, -math.inf, 1e300, "x", None, [1.0, 2.0]])
def test_a_refused_outcome_leaves_no_trace(y) -> None:
    learner = nr.Intervals(nr.AAR(), 0.9)
    for t in range(20):
        learner.learn_one(np.array([t / 20.0]), math.sin(t))
    before = learner.to_bytes()
    with pytest.raises((OutcomeError, NumericalError)):
        learner.learn_one(np.array([0.5]), y)
    assert learner.to_bytes() == before


def test_an_error_beyond_all_units_is_refused_by_name() -> None:
    learner = nr.Intervals(None, 0.9)
    learner.learn_one(0.0, 1e-200)
    before = learner.to_bytes()
    for call in (lambda: learner.learn_one(0.0, 1.0), lambda: learner.replay([0.0], [1.0])):
        with pytest.raises(NumericalError, match=r"y = 1\.0"):
            call()
    assert learner.to_bytes() == before


def test_windows_are_the_worst_in_a_row() -> None:
    e = errors("jumps", 1200, 4)
    learner = nr.Intervals(None, 0.9)
    missed = (~learner.replay(np.zeros(1200), e).covered).astype(int)
    found = {c.name: c.loss for c in learner.certificates()}
    for size in (100, 500):
        worst = np.convolve(missed, np.ones(size, int), "valid").max()
        assert found[f"90 % intervals, worst {size} in a row"] == worst


def test_trackers_equal_the_formulas() -> None:
    """(1) to (3) of native/tracker.hpp in plain Python, one level."""
    e, alpha = errors("normal", 300, 5), 0.1
    trackers = Trackers.start([0.9], [alpha])
    ends = trackers.replay(e, np.zeros(300), np.ones(300))[:, 0]
    keep = [0.5 ** (1.0 / h) for h in (1, 4, 16)] + [1.0]
    lives = [0, 1, 2, 3, 1, 2, 3, 3]
    steps = [0.05, 0.05, 0.05, 0.01, 0.05, 0.05, 0.01, 0.2]
    theta = np.full(8, trackers.book[0, at.START])
    R, D, peak, p, r = np.zeros(8), np.zeros(8), 0.0, np.full(8, 0.125), 0.0
    count, mean, size, apart = np.zeros(4), np.zeros(4), np.zeros(4), np.zeros(4)
    for t, s in enumerate(e):
        end = math.inf
        if size[3] > 0.0:
            Q = np.array(
                [mean[h] + theta[k] * apart[h] if k < 4 else theta[k] * size[h]
                 for k, h in enumerate(lives)]
            )  # fmt: skip
            P = p @ Q
            end = P + r * size[3] * (1.0 + 1500.0 / (t + 100))
            slope = (alpha - (s > P)) / size[3]
            rk = slope * (P - Q)
            grew = max(peak, (rk**2).max()) - peak
            peak += grew
            R, D = R + rk, D + rk**2 + grew
            w = np.maximum(R, 0.0) / D
            p = w / w.sum() if w.sum() > 0.0 else np.full(8, 0.125)
            theta += np.maximum(steps, 1.0 / (1.0 + alpha * t)) * ((s > Q) - alpha)
        assert ends[t] == pytest.approx(end, rel=1e-9)
        r += at.ETA * (float(s > end) - alpha)
        count = np.array(keep) * count + 1.0
        apart += (np.abs(s - mean) - apart) / count
        mean += (s - mean) / count
        size += (abs(s) - size) / count


def test_recalibrated_distribution() -> None:
    learner = nr.Intervals(None, [0.5, 0.9])
    learner.replay(np.zeros(500), errors("normal", 500, 6))
    found, interval = learner.predictive(0.0), learner.interval_one(0.0)
    assert found.quantile(0.95) == interval.high[1]
    assert found.quantile(0.25) == interval.low[0]
    assert interval.low[0] < found.median < interval.high[0]
    assert found.cdf(found.quantile(0.6)) == pytest.approx(0.6)
    with pytest.raises(ParameterError, match=r"level = 0\.99"):
        found.quantile(0.99)


@pytest.mark.parametrize(
    "make",
    [
        lambda: nr.AAR(0.3),
        lambda: nr.Ridge(0.3, drift=0.01),
        lambda: nr.BayesianRidge(0.3, noise_var=None),
        lambda: nr.Auto(effort="linear"),
        lambda: nr.OSLOG(2.0),
        lambda: nr.AggregatingAlgorithm([nr.AAR(0.1), nr.Ridge(10.0)], outcome_range=9.0),
    ],
    ids=["AAR", "drift", "Student", "Auto", "OSLOG", "pool"],
)
def test_compiled_rounds_have_the_bits_of_careful_ones(make) -> None:
    """A subclass of float is looked at in Python, so its round goes the careful way."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(60, 3)), rng.standard_cauchy(60).clip(-9, 9)
    quick, careful = nr.Intervals(make(), [0.5, 0.9]), nr.Intervals(make(), [0.5, 0.9])
    careless = type("Own", (float,), {})
    for t, (x, target) in enumerate(zip(X, y.tolist())):
        quick.learn_one(x, target)
        careful.learn_one(x, careless(target))
        if t in (7, 30):
            quick = nr.from_bytes(quick.to_bytes())
            careful = pickle.loads(pickle.dumps(careful))
        if t == 40:
            before = quick.to_bytes()
            with pytest.raises(nr.errors.InputError):
                quick.learn_one(x, math.nan)
            with pytest.raises(nr.errors.InputError):
                quick.learn_one([*x[:2], math.inf], 1.0)
            assert quick.to_bytes() == before
    assert quick.to_bytes() == careful.to_bytes()
    compiled = not hasattr(make(), "predictive") or isinstance(make(), nr.BayesianRidge)
    assert (quick._state.fast.predict(X[0]) is not None) == compiled


def test_a_learner_taught_behind_the_back_of_its_intervals_is_noticed() -> None:
    learner = nr.Intervals(nr.AAR())
    learner.learn_one([1.0], 1.0)
    inside = learner.learner_
    inside.fit([[1.0], [2.0]], [3.0, 4.0])  # it has another state now
    learner.learn_one([1.0], 5.0)
    again = nr.AAR().fit([[1.0], [2.0], [1.0]], [3.0, 4.0, 5.0])
    assert inside.predict_one([1.0]) == again.predict_one([1.0])


def test_a_replay_that_is_refused_leaves_no_trace() -> None:
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    learner = nr.Intervals(nr.AAR(0.3)).fit(X, y)
    before = learner.to_bytes()
    far = y.copy()
    far[20] = 1e152  # AAR takes it; the trackers do not
    with pytest.raises(nr.errors.NumericalError):
        learner.replay(X, far)
    assert learner.to_bytes() == before
    learner.learn_one(X[0], 1.0)
    assert learner.n_samples_seen_ == 31


def test_experts_of_a_pool_may_sleep() -> None:
    rng = np.random.default_rng(5)
    y = rng.normal(size=60)
    frame = pd.DataFrame({"a": y + rng.normal(size=60), "b": y + 1.0})
    frame.loc[10:20, "a"] = np.nan
    replay = nr.Intervals(nr.RulePool(["a", "b"]), 0.9).replay(frame, y)
    alone = nr.RulePool(["a", "b"]).replay(frame, y)
    assert np.array_equal(replay.forecast, alone.forecast)
    with pytest.raises(InputError, match="row 10"):
        nr.Intervals(nr.AAR()).replay(frame, y)


@pytest.mark.parametrize("levels", [[0.05, 0.95], [0.3, 0.9], [0.1, 0.5, 0.9]])
@pytest.mark.parametrize("kind", ["normal", "zero", "turns", "spikes", "tiny"])
def test_both_ends_abreast_have_the_bits_of_one_after_the_other(levels, kind) -> None:
    """A replay of two levels tracks them together; `learn` takes level after level."""
    rng, T = np.random.default_rng(5), 700
    y = {
        "normal": rng.normal(size=T),
        "zero": np.where(np.arange(T) < 40, 0.0, rng.normal(size=T)),
        "turns": np.where(np.arange(T) % 100 < 50, 50.0, -50.0) + rng.normal(size=T),
        "spikes": rng.standard_cauchy(T) ** 3,
        "tiny": 5e-324 * rng.integers(-3, 4, size=T),
    }[kind]
    g, roots = rng.normal(size=T) * (kind == "normal"), 1.0 + rng.random(T)
    alphas = [min(level, 1.0 - level) for level in levels]
    at_once, one_by_one = (Trackers.start(levels, alphas, windows=1) for _ in range(2))
    ends = at_once.replay(y, g, roots)
    for t in range(T):
        assert np.array_equal(one_by_one.issue(g[t], roots[t]), ends[t]), t
        one_by_one.learn(y[t], g[t], roots[t])
    for a, b in zip(at_once.stored(), one_by_one.stored(), strict=True):
        assert np.array_equal(a, b)
