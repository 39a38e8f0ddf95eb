"""Forecaster: what it promises of every series, and the mistakes that it answers with words."""

from __future__ import annotations

import copy
import pickle
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import FeatureError, InputError, OutcomeError, ParameterError
from noregret.forecasting.bands import Bands
from noregret.forecasting.state import Running

START = datetime(2024, 1, 1)  # noqa: DTZ001  # a wall clock without a zone


def hourly(T: int) -> list[dict[str, object]]:
    return [{"at": START + timedelta(hours=t)} for t in range(T)]


def daily_wave(T: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return 100.0 + 20.0 * np.sin(np.arange(T) * 2 * np.pi / 24) + rng.normal(size=T)


def ridge() -> nr.Ridge:
    return nr.Ridge(1.0, fit_intercept=True)


# Exact repetition -------------------------------------------------------------------------------


@pytest.mark.parametrize("horizon", [1, 3, 7])
@pytest.mark.parametrize(
    "shape", [lambda t: t % 7, lambda t: (t * t) % 7 - 1e6, lambda t: 1e-9 * ((3 * t) % 7) + 5.0]
)
def test_a_series_of_period_7_is_exact_after_two_periods(horizon, shape):
    y = np.array([float(shape(t)) for t in range(70)])
    model = nr.Forecaster(horizon=horizon, lags=7)
    ahead = model.replay(None, y).ahead
    scale = np.abs(y).max()
    for h in range(1, horizon + 1):
        assert np.abs(ahead[14 + h - 1 :, h - 1] - y[14 + h - 1 :]).max() <= 1e-14 * scale
    coming = np.array([float(shape(t)) for t in range(70, 70 + horizon)])
    assert np.abs(model.forecast().forecast - coming).max() <= 1e-14 * scale
    assert all(c.holds for c in model.certificates())


@pytest.mark.parametrize(("step", "period"), [("1 day", 7), ("1 h", 24), ("1 month", 12)])
def test_the_frequency_finds_the_period(step, period):
    """At horizons beyond the period too: the season two turns before."""
    horizon, T = period + 3, 6 * period
    every = {"1 day": "D", "1 h": "h", "1 month": "MS"}[step]
    times = pd.date_range("2023-01-01", periods=T, freq=every)
    y = np.array([float((t % period) ** 2) for t in range(T)])
    model = nr.Forecaster(ridge(), time="t", horizon=horizon)
    ahead = model.replay(pd.DataFrame({"t": times}), y).ahead
    assert model.facts().every == step
    for h in (1, period, horizon):
        assert np.abs(ahead[2 * period + h :, h - 1] - y[2 * period + h :]).max() <= 1e-12


# Day ahead ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_48_rows_without_outcome_after_7999():
    """Each row is forecast at its own horizon: better than yesterday's, and no flat line."""
    rng = np.random.default_rng(5)
    T, H = 7_999, 48
    t = np.arange(T + H)
    level = np.cumsum(rng.normal(size=T + H)) * 20.0
    weekend = (t // 48) % 7 >= 5
    y = (
        5000
        + level
        + 800 * np.sin(t * 2 * np.pi / 48)
        - 500 * weekend
        + rng.normal(size=T + H) * 40
    )
    times = pd.date_range("2024-01-01", periods=T + H, freq="30min")
    model = nr.Forecaster(ridge(), time="time", horizon=H)
    model.replay(pd.DataFrame({"time": times[:T]}), y[:T])
    rows = [{"time": time} for time in times[T:]]
    said = np.array([model.predict_one(row) for row in rows])
    assert said == pytest.approx(model.forecast(48).forecast, abs=0.0)
    assert said == pytest.approx(model.predict(pd.DataFrame({"time": times[T:]})), abs=0.0)
    rmse = np.sqrt(np.mean((said - y[T:]) ** 2))
    yesterday = np.sqrt(np.mean((y[T - H : T] - y[T:]) ** 2))
    assert rmse < yesterday
    assert np.std(said) > 0.5 * np.std(y[T:])
    scores = model.scores()
    for h in (1, 24, 48):
        assert scores.skill(h) > 0.0
    assert scores.at(1)[0].rmse < 0.5 * scores.at(48)[0].rmse  # each is scored at its own horizon


def test_no_look_into_the_future():
    """Outcomes that come later change no forecast that was issued before."""
    y = daily_wave(300)
    other = y.copy()
    other[200:] += 1000.0
    first = nr.Forecaster(ridge(), time="at", horizon=5).replay(hourly(300), y).ahead
    second = nr.Forecaster(ridge(), time="at", horizon=5).replay(hourly(300), other).ahead
    for h in range(1, 6):
        assert np.array_equal(
            first[: 200 + h - 1, h - 1], second[: 200 + h - 1, h - 1], equal_nan=True
        )
        assert first[200 + h, h - 1] != second[200 + h, h - 1]


@pytest.mark.slow
@pytest.mark.parametrize("known", ["all", ["warm"], []])
def test_the_loop_is_the_replay(known):
    """One by one, in pieces or at once: the same forecasts, scores and certificates."""
    rng = np.random.default_rng(3)
    T = 120
    y = daily_wave(T)
    rows = [
        r | {"warm": float(w), "wet": float(v)}
        for r, (w, v) in zip(hourly(T), rng.normal(size=(T, 2)))
    ]
    make = lambda: nr.Forecaster(ridge(), time="at", horizon=3, known=known)  # noqa: E731
    whole, pieces, single = make(), make(), make()
    replay = whole.replay(rows, y)
    parts = [pieces.replay(rows[a:b], y[a:b]) for a, b in [(0, 4), (4, 33), (33, 34), (34, T)]]
    looped = []
    for row, outcome in zip(rows, y):
        looped.append(single.predict_one(row))
        single.learn_one(row, outcome)
    ahead = np.concatenate([p.ahead for p in parts])
    assert np.allclose(ahead, replay.ahead, rtol=1e-10, atol=0.0, equal_nan=True)
    assert np.allclose(looped, replay.forecast, rtol=1e-10, atol=0.0)
    for other in (pieces, single):
        for a, b in zip(whole.certificates(), other.certificates()):
            assert (a.rounds, a.holds) == (b.rounds, True)
            assert a.loss == pytest.approx(b.loss, rel=1e-9)
            assert a.bound == pytest.approx(b.bound, rel=1e-9)
        assert other.scores().at(3)[0].rmse == pytest.approx(whole.scores().at(3)[0].rmse, rel=1e-9)
        assert other.coverage_ == pytest.approx(whole.coverage_)
        assert other.facts() == whole.facts()
    future = [{"warm": 1.0, "wet": -1.0}] * 3
    assert whole.forecast(rows=future).forecast == pytest.approx(
        single.forecast(rows=future).forecast
    )


def test_forecast_is_what_the_next_replay_says():
    """What `forecast` promises now is what is scored later."""
    y = daily_wave(200)
    model = nr.Forecaster(ridge(), time="at", horizon=4)
    model.replay(hourly(195), y[:195])  # no batch of the learner ends in the next four steps
    now = model.forecast()
    later = model.replay(hourly(200)[195:], y[195:])
    for h in range(1, 5):
        assert now.forecast[h - 1] == pytest.approx(later.ahead[h - 1, h - 1], rel=1e-12)
        assert now.low[h - 1] == pytest.approx(later.low[h - 1, h - 1], rel=1e-12)
    assert now.times[0] == START + timedelta(hours=195)
    assert list(now.to_frame().columns) == ["time", "forecast", "low", "high"]
    assert len(str(now).splitlines()) == 5


# The certificate ----------------------------------------------------------------------------------

HARD = st.lists(
    st.sampled_from([0.0, 1.0, -1.0, 5.0, 1e3, -1e3, 1e6, 1e-6]), min_size=30, max_size=80
)


@settings(max_examples=30, deadline=None)
@given(ys=HARD, horizon=st.integers(1, 4))
def test_the_certificate_holds_on_anything(ys, horizon):
    model = nr.Forecaster(ridge(), horizon=horizon, lags=[horizon, horizon + 3])
    replay = model.replay(None, ys)
    for h, c in enumerate(model.certificates(), 1):
        assert c.holds
        assert c.rounds == len(ys) - h
        said = replay.ahead[h:, h - 1]
        assert c.loss == pytest.approx(float(np.sum((np.array(ys)[h:] - said) ** 2)), rel=1e-9)
        assert c.comparator == pytest.approx(min(model.losses_(h).values()), rel=1e-9)


@pytest.mark.slow
def test_an_adversary_is_held_by_the_guard():
    """An outcome that is always the end farther from the forecast: the proof holds, and binds."""
    model = nr.Forecaster(ridge())
    for t in range(400):
        y = 1.0 if t == 0 else (-1.0 if model.predict_one() > 0.0 else 1.0)
        model.learn_one(None, y)
    certificate = model.certificate()
    assert certificate.holds
    assert certificate.loss >= 399.0


def test_never_much_worse_than_the_best_baseline():
    """On a random walk the last value is hard to beat; on noise, the mean."""
    rng = np.random.default_rng(2)
    for y in (np.cumsum(rng.normal(size=1500)), rng.normal(size=1500)):
        model = nr.Forecaster(ridge(), horizon=3, lags="auto")
        model.replay(None, y)
        for h in (1, 3):
            assert model.scores().skill(h) > -0.03


# Times --------------------------------------------------------------------------------------------


def test_gaps_are_filled_and_counted():
    y = daily_wave(24 * 30)
    rows = hourly(24 * 30)
    kept = [t for t in range(24 * 30) if not 300 <= t < 312]
    model = nr.Forecaster(ridge(), time="at", horizon=2)
    model.replay([rows[t] for t in kept], y[kept])
    facts = model.facts()
    assert (facts.gaps, facts.rows, facts.every) == (12, len(kept), "1 h")
    assert model.certificate().rounds == len(kept) - 10  # those that showed the frequency
    assert model.scores().skill(1) > 0.0
    for horizon in (1, 20):  # the loop reaches over the gap as the replay does
        single = nr.Forecaster(ridge(), time="at", horizon=horizon, every="1 h")
        said = single.replay([rows[t] for t in kept[:305]], y[kept[:305]]).forecast
        single = nr.Forecaster(ridge(), time="at", horizon=horizon, every="1 h")
        single.replay([rows[t] for t in kept[:300]], y[kept[:300]])
        assert single.predict_one(rows[kept[300]]) == pytest.approx(said[300], rel=1e-9)
    refusing = nr.Forecaster(ridge(), time="at", gaps="refuse")
    with pytest.raises(
        InputError, match="before 2024-01-14 00:00:00 there is a gap of 12 steps of 1 h"
    ):
        refusing.replay([rows[t] for t in kept], y[kept])


def test_late_rows():
    y = daily_wave(40)
    rows = hourly(40)
    model = nr.Forecaster(ridge(), time="at")
    model.replay(rows, y)
    before = nr.to_bytes(model)
    for row in (rows[-1], rows[3]):
        with pytest.raises(InputError, match="is not after the last one learned"):
            model.learn_one(row, 1.0)
    assert nr.to_bytes(model) == before
    skipping = nr.Forecaster(ridge(), time="at", late="skip")
    order = [*range(20), 5, 19, *range(20, 40)]
    replay = skipping.replay([rows[t] for t in order], y[order])
    assert np.flatnonzero(np.isnan(replay.forecast)).tolist() == [20, 21]
    assert skipping.facts().skipped == 2
    assert skipping.certificate().loss == pytest.approx(model.certificate().loss, rel=1e-12)


def test_clocks_that_change():
    """With a zone or offsets an hour is an hour, and the calendar follows the wall clock."""
    utc = pd.date_range("2024-03-25", periods=24 * 14, freq="h", tz="UTC")
    local = utc.tz_convert("Europe/Paris")
    y = 100.0 + 10.0 * (local.hour >= 8)
    zoned = nr.Forecaster(ridge(), time="t", horizon=2)
    zoned.replay(pd.DataFrame({"t": local}), y)
    written = nr.Forecaster(ridge(), time="t", horizon=2)
    written.replay([{"t": time.isoformat()} for time in local], y)
    for model in (zoned, written):
        assert (model.facts().gaps, model.facts().every) == (0, "1 h")
        first = model.forecast().times[0]
        assert first.astimezone(UTC) == utc[-1].to_pydatetime() + timedelta(hours=1)
        assert first.utcoffset() == timedelta(hours=2)


@pytest.mark.parametrize(
    ("times", "every"),
    [
        (pd.date_range("2020-01-31", periods=15, freq="ME"), "1 month"),
        (pd.date_range("2020-01-01", periods=15, freq="QS"), "1 quarter"),
        (pd.date_range("1990-01-01", periods=15, freq="YS"), "1 year"),
        (pd.date_range("2020-01-01", periods=15, freq="W"), "7 day"),
        (pd.date_range("2020-01-01", periods=15, freq="15min"), "15 min"),
        (np.arange(15) * 0.25, "0.25"),
        (np.array([0, 1, 2, 3, 5, 6, 7, 8, 9, 20, 21, 22, 23, 24, 25]), "1"),
        (np.exp(np.arange(15.0)), "row"),
        (
            pd.Timestamp("2024-01-01")
            + pd.to_timedelta([60 * t + (t % 3) for t in range(15)], "s"),
            "1 min",
        ),
    ],
)
def test_frequencies(times, every):
    model = nr.Forecaster(ridge(), time="t", horizon=2)
    model.replay(pd.DataFrame({"t": times}), np.arange(15.0))
    assert model.facts().every == every
    assert len(model.forecast().times) == 2


def test_month_ends_stay_month_ends():
    model = nr.Forecaster(ridge(), time="t", horizon=3)
    times = pd.date_range("2023-01-31", periods=24, freq="ME")
    model.replay(pd.DataFrame({"t": times}), np.arange(24.0))
    assert [f"{t:%m-%d}" for t in model.forecast().times] == ["01-31", "02-28", "03-31"]


def test_no_time_of_day_on_daily_data():
    model = nr.Forecaster(ridge(), time="t")
    model.replay(pd.DataFrame({"t": pd.date_range("2024-01-01", periods=30)}), np.arange(30.0))
    assert model.facts().calendar == ("week", "year")
    wrong = nr.Forecaster(ridge(), time="t", calendar="day", every="1 day")
    with pytest.raises(
        ParameterError, match="calendar = 'day' says nothing of rows that are 1 day apart"
    ):
        wrong.learn_one({"t": START}, 1.0)


# Features -----------------------------------------------------------------------------------------


def test_what_is_not_known_ahead_is_used_late():
    """y is the feature itself: known ahead it is exact, else it is worth nothing."""
    rng = np.random.default_rng(11)
    x = rng.normal(size=600)
    frame = pd.DataFrame({"at": pd.date_range("2024-01-01", periods=600, freq="h"), "x": x})
    told = nr.Forecaster(ridge(), time="at")
    told.replay(frame, x)
    assert told.scores().skill(1) > 0.8
    assert told.facts().assumed == ("x",)
    untold = nr.Forecaster(ridge(), time="at", known=[])
    untold.replay(frame, x)
    assert abs(untold.scores().skill(1)) < 0.05
    assert untold.facts().assumed == ()
    with pytest.raises(InputError, match="'x' is used at the forecast's time: give rows="):
        told.forecast(1)
    assert told.forecast(1, rows=[{"x": 2.0}]).forecast[0] == pytest.approx(2.0, abs=0.2)
    untold.forecast(1)


# Mistakes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"lags": [1, 48], "horizon": 48}, "lags: 1 is below horizon = 48"),
        ({"lags": "many"}, "lags = 'many': give \"auto\" or whole numbers"),
        ({"lags": [3, 3]}, "none of them twice"),
        ({"horizon": 0}, "horizon = 0: it must be a whole number"),
        ({"intervals": 100}, "intervals = 100: it must be a percentage"),
        ({"every": "often", "time": "at"}, "every = 'often': every is a timedelta"),
        ({"every": 3, "time": "at"}, "every = 3, but the times are dates"),
        ({"calendar": ["moon"], "every": "1 h", "time": "at"}, "calendar = "),
        ({"known": ["wram"], "every": "1 h", "time": "at"}, "known: there is no feature 'wram'"),
        ({"gaps": "ignore"}, "gaps = 'ignore': give one of fill, refuse"),
        ({"late": "learn"}, "late = 'learn': give one of refuse, skip"),
        ({"learner": nr.Ridge}, "give a learner"),
    ],
)
def test_parameters_are_refused_by_name(parameters, words):
    with pytest.raises(ParameterError, match=words.replace("(", r"\(")):
        nr.Forecaster(**parameters).learn_one({"at": START, "warm": 1.0}, 1.0)


def test_rows_are_refused_by_name():
    model = nr.Forecaster(ridge(), time="at", every="1 h")
    for t in range(3):
        model.learn_one({"at": START + timedelta(hours=t), "warm": 1.0}, float(t))
    before = nr.to_bytes(model)
    good = {"at": START + timedelta(hours=3), "warm": 1.0}
    mistakes: list[tuple[object, object, type[Exception], str]] = [
        ({"att": START, "warm": 1.0}, 1.0, InputError, "row 0 has no 'at' .did you mean 'att'"),
        ({"at": "31/12/2024", "warm": 1.0}, 1.0, InputError, "'31/12/2024' is no time"),
        ({"at": 3.0, "warm": 1.0}, 1.0, InputError, "times are of the kind 'number'"),
        ({"at": good["at"]}, 1.0, FeatureError, "x has no 'warm'"),
        (good | {"wet": 1.0}, 1.0, FeatureError, "x has 'wet'"),
        (good | {"warm": float("nan")}, 1.0, FeatureError, "warm"),
        (good, None, OutcomeError, "y"),
        (good, float("nan"), OutcomeError, "y"),
        (good, "high", OutcomeError, "y"),
        (good, 1e101, OutcomeError, "up to 1e100"),
        (good | {"warm": -1e101}, 1.0, FeatureError, "up to 1e100"),
        ([1.0, 2.0], 1.0, InputError, "names a column"),
    ]
    for x, y, error, words in mistakes:
        with pytest.raises(error, match=words):
            model.learn_one(x, y)
    with pytest.raises(InputError, match="a forecast must be after the last time learned"):
        model.predict_one({"at": START, "warm": 1.0})
    far = {"at": START + timedelta(hours=7), "warm": 1.0}
    assert np.isfinite(model.predict_one(far))  # as if the hours before it had no rows
    strict = nr.Forecaster(ridge(), time="at", every="1 h", gaps="refuse")
    strict.learn_one({"at": START, "warm": 1.0}, 1.0)
    with pytest.raises(InputError, match="7 steps after the last one learned, and horizon = 1"):
        strict.predict_one(far)
    with pytest.raises(InputError, match="steps = 2: this Forecaster learns up to horizon = 1"):
        model.forecast(2)
    assert nr.to_bytes(model) == before


@pytest.mark.parametrize("size", [1e-100, 1e99])
def test_the_smallest_and_the_largest(size):
    """Nothing overflows, and certificates hold or say that a sum does not fit."""
    y = daily_wave(80) * size / 200.0
    model = nr.Forecaster(ridge(), horizon=2)
    replay = model.replay(None, y)
    assert np.isfinite(replay.ahead[2:]).all()
    assert all(c.holds is not False for c in model.certificates())


def test_a_learner_that_fails_leaves_no_trace():
    class Moody:
        def __init__(self) -> None:
            self.rounds = 0

        def predict_one(self, _x):
            return 0.0

        def learn_one(self, _x, _y):
            self.rounds += 1
            if self.rounds == 29:
                raise ValueError("not today")

    model = nr.Forecaster(Moody())
    for t in range(29):
        model.learn_one(None, float(t))
    before = model.certificate().loss
    for _ in range(2):  # again and again, since the learner is where it was
        with pytest.raises(InputError, match="not today"):
            model.learn_one(None, 29.0)
    assert (model.certificate().loss, model.n_samples_seen_) == (before, 29)


# Copies and files ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("rows", [0, 4, 10, 60])
def test_copies_and_files_go_on(rows, tmp_path):
    y = daily_wave(80)
    model = nr.Forecaster(nr.Auto(), time="at", horizon=3, late="skip")
    for row, outcome in zip(hourly(rows), y):
        model.learn_one(row, outcome)
    model.save(tmp_path / "model.nr")
    copies = [
        copy.deepcopy(model),
        pickle.loads(pickle.dumps(model)),
        nr.load(tmp_path / "model.nr"),
    ]
    rest = hourly(80)[rows:]
    wanted = model.replay(rest, y[rows:]).ahead
    for other in copies:
        assert repr(other) == repr(model)
        got = other.replay(rest, y[rows:]).ahead
        assert np.allclose(got, wanted, rtol=1e-12, atol=0.0, equal_nan=True)
        assert other.forecast().forecast == pytest.approx(model.forecast().forecast, rel=1e-12)


def test_units_change_nothing():
    y = daily_wave(300)
    small, large = (nr.Forecaster(ridge(), time="at", horizon=2) for _ in range(2))
    one, thousand = small.replay(hourly(300), y), large.replay(hourly(300), 1000.0 * y)
    assert np.allclose(1000.0 * one.ahead, thousand.ahead, rtol=1e-9, equal_nan=True)
    assert small.scores().skill(2) == pytest.approx(large.scores().skill(2), rel=1e-9)


def test_intervals_keep_their_coverage():
    y = daily_wave(4000)
    model = nr.Forecaster(ridge(), time="at", horizon=3, intervals=80)
    replay = model.replay(hourly(4000), y)
    assert model.coverage_ == pytest.approx(0.8, abs=0.01)
    inside = (replay.low <= y[:, None]) & (y[:, None] <= replay.high)
    assert inside[100:].mean(axis=0) == pytest.approx(0.8, abs=0.02)
    assert np.isinf(replay.low[10, 0])  # the first error is not known yet


def test_several_coverages_are_nested_and_keep_theirs():
    y = daily_wave(1500)
    model = nr.Forecaster(ridge(), time="at", horizon=2, intervals=[50, 90, 80])
    first = model.replay(hourly(1500)[:700], y[:700])
    model = nr.from_bytes(nr.to_bytes(model))
    rest = model.replay(hourly(1500)[700:], y[700:])
    low, high = np.vstack([first.low, rest.low]), np.vstack([first.high, rest.high])
    assert low.shape == (1500, 2, 3)
    known = ~np.isnan(low).any(axis=(1, 2))
    finite = np.isfinite(low).all(axis=(1, 2))
    assert finite.sum() > 1400
    assert (np.diff(low[finite][..., [1, 2, 0]]) >= 0.0).all()
    assert (np.diff(high[finite][..., [0, 2, 1]]) >= 0.0).all()
    coverages, now = [0.5, 0.9, 0.8], model._state.running.bands.track[3]
    moved = (now - Bands.start(2, coverages).track[3]).reshape(3, 2)
    for k, coverage in enumerate(coverages):  # misses - alpha T = (k_now - k_first)/step, exactly
        for h in range(2):
            rounds = known.sum() - 1  # the first error is a unit, and no round of the trackers
            above = (y > high[:, h, k])[known].sum() - 0.5 * (1 - coverage) * rounds
            assert moved[k, h] == pytest.approx(0.05 * above, abs=1e-9)
    assert model.coverage_ == pytest.approx(np.tile([0.5, 0.9, 0.8], (2, 1)), abs=0.02)
    soon = model.forecast(2)
    assert soon.low.shape == (2, 3)
    assert list(soon.ends()) == ["low_50", "high_50", "low_90", "high_90", "low_80", "high_80"]
    assert next(iter(soon))[2] == soon.low[0, 1]  # the widest


def test_labels():
    """Any two labels: probabilities of the second, beside the base rate and yesterday's label."""
    rng = np.random.default_rng(4)
    T = 600
    hours = np.arange(T) % 24
    labels = np.where((hours > 8) ^ (rng.random(T) < 0.05), "open", "shut")
    model = nr.Forecaster(nr.AutoClassifier(), time="at", horizon=2)
    replay = model.replay(hourly(T), labels)
    assert model.classes_.tolist() == ["open", "shut"]
    real = replay.ahead[~np.isnan(replay.ahead)]
    assert real.min() >= 0.0
    assert real.max() <= 1.0
    assert all(c.holds for c in model.certificates())
    assert model.scores().skill(2) > 0.1
    assert nr.from_bytes(nr.to_bytes(model)).forecast().forecast == pytest.approx(
        model.forecast().forecast
    )
    with pytest.raises(OutcomeError, match="the labels are 'open' and 'shut'"):
        model.learn_one({"at": START + timedelta(hours=T)}, "ajar")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "time"), [("at", "at"), ("at", None), (None, None)])
def test_an_index_of_dates_is_the_time(name, time) -> None:
    times = pd.date_range("2024-01-01", periods=24 * 21, freq="h", name=name)
    y = 10.0 + np.sin(np.arange(len(times)) * 2 * np.pi / 24)
    wet = pd.DataFrame({"wet": np.cos(np.arange(len(times)))}, index=times)
    model, twin = nr.Forecaster(time=time, horizon=3), nr.Forecaster(time="t", horizon=3)
    column = wet.reset_index(drop=True).assign(t=times)
    known, ahead = slice(0, -3), slice(-3, None)
    assert np.array_equal(
        model.replay(wet[known], y[known]).ahead,
        twin.replay(column[known], y[known]).ahead,
        equal_nan=True,
    )
    assert model.facts().every == "1 h"
    said = model.forecast(rows=wet[ahead])
    assert said.times == twin.forecast(rows=column[ahead]).times
    assert np.array_equal(model.predict(wet[ahead]), twin.predict(column[ahead]))
    with pytest.raises(InputError, match="has no column 'when'"):
        nr.Forecaster(time="when").replay(wet, y)


def test_rows_ahead_must_be_those_of_the_next_steps() -> None:
    times = pd.date_range("2024-01-01", periods=60, freq="D")
    rows = pd.DataFrame({"t": times, "wet": np.arange(60.0)})
    model = nr.Forecaster(time="t", horizon=5)
    model.replay(rows[:50], np.arange(50.0))
    expected = model.forecast(rows=rows[50:55]).forecast
    assert np.array_equal(model.forecast(rows=rows[50:55].drop(columns="t")).forecast, expected)
    with pytest.raises(InputError, match=r"row 0, 2024-02-21.*, is step 2 after the last row"):
        model.forecast(rows=rows[51:56])
    with pytest.raises(InputError, match=r"row 1, .* is step 3 after the last row learned"):
        model.forecast(rows=rows[50:60:2])


# The learner of features as they are --------------------------------------------------------------


def table(T: int = 700) -> tuple[np.ndarray, np.ndarray]:
    """Rows in no order whose outcome bends with a feature: the last outcome says nothing."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(T, 3))
    return X, 50.0 + 8.0 * np.abs(X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=T)


def test_a_table_is_forecast_as_well_as_auto_does_it():
    X, y = table()

    def rmse(learner) -> float:
        return float(np.sqrt(np.mean((learner.replay(X, y).forecast[100:] - y[100:]) ** 2)))

    assert rmse(nr.Forecaster()) <= 1.03 * rmse(nr.Auto())
    assert rmse(nr.Forecaster(nr.Auto(effort="linear"))) >= 2.0 * rmse(nr.Forecaster())


@pytest.mark.parametrize(
    ("parameters", "both"),
    [({}, True), ({"lags": 2}, False), ({"learner": nr.AAR()}, False), ({"horizon": 3}, True)],
)
def test_auto_sees_features_as_they_are_one_step_ahead(parameters, both):
    X, y = table(40)
    model = nr.Forecaster(**parameters)
    model.replay(X, y)
    called = "learner, features as they are"
    assert (called in model.losses_()) is both
    if model.horizon > 1:
        assert called not in model.losses_(2)
    assert model.certificate().holds


def test_states_without_such_a_learner_go_on(tmp_path):
    """Files of before have none: neither written nor asked for."""
    X, y = table(60)
    model = nr.Forecaster(nr.Auto(effort="linear"))
    model.replay(X[:40], y[:40])
    assert model._state.running.plain is None
    model.save(tmp_path / "model.nr")
    again = nr.load(tmp_path / "model.nr")
    np.testing.assert_array_equal(
        again.replay(X[40:], y[40:]).forecast, model.replay(X[40:], y[40:]).forecast
    )


def test_short_stretches_are_replayed_without_a_copy(monkeypatch):
    """As rows between empty outcomes are; they are refused before anything is learned."""
    y, rows = daily_wave(80), hourly(80)
    whole, cut = nr.Forecaster(time="at", horizon=2), nr.Forecaster(time="at", horizon=2)
    said = whole.replay(rows, y).ahead
    cut.replay(rows[:40], y[:40])
    monkeypatch.setattr(Running, "copy", lambda *_, **__: pytest.fail("a copy was made"))
    for start in range(40, 80, 5):
        part = slice(start, start + 5)
        before = cut.certificates()
        with pytest.raises(InputError, match="is not after the last one"):
            cut.replay([rows[start], rows[start + 1], rows[0]], y[:3])
        assert cut.certificates() == before
        assert np.array_equal(cut.replay(rows[part], y[part]).ahead, said[part])
    assert np.array_equal(cut.forecast().forecast, whole.forecast().forecast)
