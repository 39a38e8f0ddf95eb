"""The naive forecasts beside a learner's: by definition, however rows are cut."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noregret.running.baselines import Baselines
from noregret.running.traces import Timeline


def by_definition(y: np.ndarray, forecast: np.ndarray) -> list[float]:
    mean = np.array([y[:t].mean() for t in range(1, len(y))])
    said = np.stack([forecast[1:], mean, y[:-1]])
    return np.sqrt(((y[1:] - said) ** 2).mean(axis=1)).tolist()


@given(st.integers(2, 400), st.lists(st.integers(1, 399), max_size=4), st.integers(0, 99))
def test_errors_are_those_of_the_definition(T: int, cuts: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    y, forecast = rng.normal(size=T), rng.normal(size=T)
    whole, pieces = Baselines(), Baselines()
    whole.add(y, forecast)
    ends = sorted({0, T, *(c for c in cuts if c < T)})
    for start, stop in pairwise(ends):
        pieces.add(y[start:stop], forecast[start:stop])
    assert [one.rmse for one in whole.errors()] == pytest.approx(by_definition(y, forecast))
    assert [(e.rmse, e.mae) for e in whole.errors()] == [(e.rmse, e.mae) for e in pieces.errors()]
    assert whole.stretch == pieces.stretch
    late = [e.last_rmse for e in whole.errors()]
    assert [e.last_rmse for e in pieces.errors()] == pytest.approx(late, rel=1e-12)


def test_the_last_stretch_is_a_tenth_however_long_the_run() -> None:
    beside = Baselines()
    for _ in range(40):
        beside.add(np.ones(250), np.ones(250))
    assert 0.1 <= beside.stretch / beside.rows <= 0.12


def test_rows_that_were_not_forecast_are_not_scored() -> None:
    beside = Baselines()
    beside.add(np.array([1.0, 2.0, 3.0]), np.array([np.nan, np.nan, 3.5]))
    assert [round(e.rmse, 3) for e in beside.errors()] == [0.5, 1.5, 1.0]


def test_a_timeline_keeps_the_first_row_and_a_bounded_number() -> None:
    line = Timeline(most=10)
    for start in range(0, 1000, 50):
        line.add(start, np.arange(start, start + 50) * 60.0)
    assert len(line.rows) <= 10
    assert line.rows[0] == 1
    assert line.at == [(row - 1) * 60.0 for row in line.rows]
