"""Steps from Monday to Friday: found, forecast, kept in files; weekends are no gaps."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pandas as pd
import pytest

import noregret as nr
from noregret.errors import InputError
from noregret.forecasting.times import Every, infer, read


def day(text: str) -> datetime:
    """Midnight of the wall clock."""
    return datetime.fromisoformat(text)


def prices(rows: int, start: str = "2024-01-02", tz: str | None = None) -> pd.DataFrame:
    """Weekdays, with the same value on every Friday and so on."""
    times = pd.bdate_range(start, periods=rows, tz=tz)
    return pd.DataFrame({"time": times, "y": 10.0 + times.day_of_week})


@pytest.mark.parametrize("start", ["2024-01-01", "2024-01-02", "2024-01-05"])
@pytest.mark.parametrize("tz", [None, "Europe/Paris", "America/New_York"])
def test_weekdays_are_found_and_forecast(start: str, tz: str | None) -> None:
    frame = prices(60, start, tz)
    model = nr.Forecaster(time="time", horizon=10)
    model.replay(frame[["time"]], frame["y"])
    facts = model.facts()
    assert (facts.every, facts.gaps, facts.seasons[0]) == ("weekday", 0, "same day last week")
    coming = model.forecast()
    wanted = pd.bdate_range(start, periods=70)[60:]
    assert [f"{t:%Y-%m-%d}" for t in coming.times] == [f"{t:%Y-%m-%d}" for t in wanted]
    np.testing.assert_allclose(coming.forecast, 10.0 + wanted.day_of_week, atol=1e-9)


def test_a_holiday_is_a_gap() -> None:
    frame = prices(60).drop(index=[17, 40])
    model = nr.Forecaster(time="time")
    model.replay(frame[["time"]], frame["y"])
    assert (model.facts().every, model.facts().gaps) == ("weekday", 2)


def test_days_with_a_weekend_or_few_of_them_stay_days() -> None:
    assert str(infer(read(pd.date_range("2024-01-01", periods=10), "t"))) == "1 day"
    assert str(infer(read(pd.bdate_range("2024-01-01", periods=9), "t"))) == "1 day"


def test_a_row_on_a_weekend_is_refused_or_left_out() -> None:
    frame = prices(30)
    late = {"time": day("2024-02-17")}  # a Saturday
    model = nr.Forecaster(time="time")
    model.replay(frame[["time"]], frame["y"])
    with pytest.raises(InputError, match=r'on a weekend.*every="1 day" takes all days'):
        model.learn_one(late, 3.0)
    with pytest.raises(InputError, match="on a weekend"):
        model.predict_one(late)
    assert model.facts().rows == 30
    model = nr.Forecaster(time="time", late="skip")
    model.replay(frame[["time"]], frame["y"])
    model.learn_one(late, 3.0)
    model.learn_one({"time": day("2024-02-19")}, 10.0)
    facts = model.facts()
    assert (facts.rows, facts.weekends, facts.skipped) == (31, 1, 0)


def test_weekdays_go_through_files(tmp_path) -> None:
    frame = prices(40)
    model = nr.Forecaster(time="time", horizon=3)
    model.replay(frame[["time"]], frame["y"])
    nr.save(model, tmp_path / "m.nr")
    assert nr.load(tmp_path / "m.nr").forecast().times == model.forecast().times


@pytest.mark.parametrize("every", ["weekday", "1 weekday", "weekdays", "1 business day"])
def test_weekdays_can_be_asked_for(every: str) -> None:
    assert str(Every.of(every)) == "weekday"
    model = nr.Forecaster(time="time", every=every)
    model.learn_one({"time": day("2024-01-05")}, 1.0)
    assert model.forecast(1).times == [day("2024-01-08")]
    with pytest.raises(InputError, match="the first row is on a weekend"):
        nr.Forecaster(time="time", every=every).learn_one({"time": day("2024-01-06")}, 1.0)


def test_steps_and_times_are_inverse() -> None:
    for weekday in range(5):
        every = Every("moment", 86_400_000_000.0, weekday=weekday)
        origin = 86_400_000_000.0 * (4 + weekday)  # 5 January 1970 was a Monday
        steps = np.arange(-12, 40)
        at = every.at(steps, origin)
        times = read(at.astype("int64").astype("datetime64[us]"), "t")
        assert every.slots(times, origin).tolist() == steps.tolist()
        assert not every.weekend(times, origin).any()
