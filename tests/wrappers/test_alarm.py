"""Alarms go off at the rate they state, and when they should."""

from __future__ import annotations

import numpy as np
import pytest

import noregret as nr
from noregret.errors import InputError, ParameterError


def kinds(alarm: nr.Alarm, missed) -> list[str]:
    """All that goes off over rounds that are missed or not."""
    inside = nr.Interval(-1.0, 1.0)
    found = [alarm.see(inside, 2.0 if miss else 0.0) for miss in missed]
    return [alert.kind for alerts in found for alert in alerts]


@pytest.mark.slow
@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_false_alarms_come_at_the_stated_rate(coverage: float) -> None:
    """Ville: of 400 calibrated streams at most rate x 400 set it off, and chance adds little."""
    rng, rate = np.random.default_rng(0), 0.05
    ever = drifts = 0
    for _ in range(400):
        found = kinds(nr.Alarm(coverage, rate=rate), rng.random(200) > coverage)
        ever += "coverage" in found
        drifts += found.count("drift")
    assert ever <= 400 * rate + 3.0 * np.sqrt(400 * rate)
    assert drifts <= 400 * 200 * rate  # on average, once in 1/rate rounds


@pytest.mark.parametrize("true", [0.7, 1.0])
def test_coverage_that_is_wrong_is_noticed(true: float) -> None:
    rng = np.random.default_rng(1)
    found = kinds(nr.Alarm(0.9), rng.random(400) > true)
    assert "coverage" in found


def test_coverage_that_changes_late_is_noticed_soon() -> None:
    rng = np.random.default_rng(2)
    alarm = nr.Alarm(0.9, rate=0.001)
    calm = kinds(alarm, rng.random(3000) > 0.9)
    assert "coverage" not in calm
    assert "drift" in kinds(alarm, rng.random(60) > 0.5)


def test_a_slack_that_shrinks() -> None:
    def certificate(slack: float) -> nr.Certificate:
        return nr.Certificate.of(
            name="a", kind="upper bound", rounds=1, loss=1.0, comparator=0.0, bound=1.0 + slack,
            statement="",
        )  # fmt: skip

    alarm, inside = nr.Alarm(shrink=0.2), nr.Interval(-1.0, 1.0)
    assert alarm.see(inside, 0.0, certificate(10.0)) == []
    assert alarm.see(inside, 0.0, certificate(3.0)) == []
    (alert,) = alarm.see(inside, 0.0, certificate(1.0))
    assert (alert.kind, alert.round) == ("slack", 3)


def test_hostile_inputs() -> None:
    for bad in ({"coverage": 1.0}, {"rate": 0.0}, {"shrink": 2.0}, {"coverage": "high"}):
        with pytest.raises(ParameterError):
            nr.Alarm(**bad)
    alarm = nr.Alarm()
    for interval, y in [
        (nr.Interval(0.0, 1.0), np.nan),
        (nr.Interval(np.ones(2), np.ones(2)), 1.0),
    ]:
        with pytest.raises(InputError):
            alarm.see(interval, y)
    assert alarm.rounds == 0
