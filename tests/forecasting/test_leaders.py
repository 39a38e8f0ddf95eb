"""The compiled weights and their guard, against what the formulas say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noregret._native import leaders


def twin(said, y, delay, discount, power):
    """Each row from scratch: all losses known by then, discounted and cut, then the weights."""
    T, K = said.shape
    out = np.empty(T)
    for t in range(T):
        D, n = np.zeros(K), 0.0
        for s in range(t - delay + 1):
            if np.isnan(y[s]):
                continue
            cut = 25.0 * D.min() / n if n >= 20.0 and D.min() > 0.0 else np.inf
            D, n = discount * D + np.minimum((y[s] - said[s]) ** 2, cut), discount * n + 1.0
        best = D.min()
        ratio = D / best if best > 0.0 else np.where(D == 0.0, 1.0, np.inf)
        w = np.exp(-0.5 * power * n * (ratio - 1.0)) if n else np.ones(K)
        out[t] = w @ said[t] / w.sum()
    return out


@pytest.mark.parametrize("delay", [1, 2, 5])
def test_weights_are_those_of_the_formula(delay):
    rng = np.random.default_rng(delay)
    T, K = 60, 4
    said, y = rng.normal(size=(T, K)), rng.normal(size=T)
    said[:, 0] = y + 0.1 * rng.normal(size=T)
    y[rng.random(T) < 0.1] = np.nan
    rates = np.array([[1.0, 0.5], [0.9, 0.05]])
    counts, D, out = np.zeros(2), np.zeros((2, K)), np.empty((T, 2))
    leaders.late(said, y, delay, rates, counts, D, out)
    for g, (discount, power) in enumerate(rates):
        assert out[:, g] == pytest.approx(twin(said, y, delay, discount, power), rel=1e-12)
    # In two pieces, the second with the rows that wait.
    counts, D = np.zeros(2), np.zeros((2, K))
    first, second = np.empty((25, 2)), np.empty((T - 25, 2))
    leaders.late(said[:25].copy(), y[:25], delay, rates, counts, D, first)
    start = 25 - delay + 1
    leaders.late(said[start:].copy(), y[start:], delay, rates, counts, D, second)
    assert np.array_equal(np.vstack([first, second]), out)


def test_an_expert_that_never_errs_takes_all():
    y = np.arange(6.0)
    said = np.column_stack([y, y + 1.0])
    out = np.empty((6, 1))
    leaders.late(said, y, 1, np.array([[1.0, 0.5]]), np.zeros(1), np.zeros((1, 2)), out)
    assert out[0, 0] == 0.5
    assert np.array_equal(out[1:, 0], y[1:])


NUMBER = st.floats(-5.0, 5.0)


@settings(max_examples=100, deadline=None)
@given(
    rows=st.lists(st.tuples(NUMBER, NUMBER, st.floats(-1.0, 1.0)), min_size=5, max_size=60),
    copies=st.integers(1, 4),
    budget=st.sampled_from([0.0, 0.5, 4.0]),
)
def test_the_guard_keeps_its_budget(rows, copies, budget):
    """Outcomes in [-1, 1]: what quick forecasts cost more than safe ones is within the budget."""
    quick, safe, y = (np.array(column) for column in zip(*rows))
    low, high = np.full(len(y), -1.0), np.full(len(y), 1.0)
    accounts, over, issued = np.zeros(copies), np.zeros(2), np.empty(len(y))
    leaders.guard(quick, safe, y, low, high, budget, 0, accounts, over, issued)
    assert np.isin(issued, np.r_[quick, safe]).all()
    assert over[0] <= 1e-12
    for k in range(copies):
        mine = slice(k, None, copies)
        excess = ((y - issued) ** 2 - (y - safe) ** 2)[mine].sum()
        assert excess == pytest.approx(accounts[k], abs=1e-9)
        assert accounts[k] <= 4.0 * budget + 1e-9


def test_outcomes_beyond_the_range_are_measured():
    one = np.ones(1)
    accounts, over, issued = np.zeros(1), np.zeros(2), np.empty(1)
    leaders.guard(0.5 * one, 0.0 * one, -9.0 * one, -one, one, 4.0, 0, accounts, over, issued)
    assert issued[0] == 0.5
    assert accounts[0] + over[0] == pytest.approx(9.5**2 - 9.0**2)
    assert accounts[0] == pytest.approx(0.5 * 2.5)
