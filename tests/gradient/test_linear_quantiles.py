"""Linear quantiles: the bets, the regret against every weight vector, order, units."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret.gradient.coins import FRACTIONS
from noregret.reference.bets import wealth_and_forecasts

LEVELS = [0.07, 0.5, 0.8]


def pinball(tau: float, y: np.ndarray, q: np.ndarray) -> float:
    e = y - q
    return float(np.maximum(tau * e, (tau - 1.0) * e).sum())


@st.composite
def streams(draw) -> tuple[np.ndarray, np.ndarray]:
    """Random, collinear, badly scaled, drifting, constant, heavy-tailed streams."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    T, n = draw(st.integers(1, 30)), draw(st.integers(1, 3))
    X = rng.normal(size=(T, n)) * 10.0 ** draw(st.integers(-6, 6))
    if draw(st.booleans()):
        X[:, -1] = X[:, 0]
    if draw(st.booleans()):
        X *= 10.0 ** rng.uniform(-4, 4, size=n)
    if draw(st.booleans()):
        X[rng.random((T, n)) < 0.4] = 0.0
    kind = draw(st.sampled_from(["linear", "cauchy", "constant", "zero", "drift"]))
    noise = {"cauchy": rng.standard_cauchy(T), "zero": np.zeros(T)}.get(kind, rng.normal(size=T))
    y = X @ rng.normal(size=n) * (kind == "linear") + noise + 5.0 * (kind == "constant")
    return X, (y + np.arange(T) * (kind == "drift")) * 10.0 ** draw(st.integers(-5, 5))


@settings(max_examples=60, deadline=None)
@given(streams(), st.booleans())
def test_the_bets_are_those_of_the_formula(stream, constant) -> None:
    X, y = stream
    learner = nr.LinearQuantiles(LEVELS, fit_intercept=constant)
    said = learner.replay(X, y).quantiles
    full = np.column_stack([np.ones(len(y)), X]) if constant else X
    twins = [wealth_and_forecasts(full, y, tau) for tau in LEVELS]
    wanted = np.sort(np.array([forecasts for _, forecasts in twins]).T, axis=1)
    scale = np.abs(wanted).max() + np.abs(y).max()
    np.testing.assert_allclose(said, wanted, rtol=1e-9, atol=1e-9 * scale)
    state = learner._state
    wealth = np.array([one for one, _ in twins])
    np.testing.assert_allclose(state.stake - state.spent(), wealth, rtol=1e-9)


@settings(max_examples=60, deadline=None)
@given(streams(), st.integers(0, 2**32 - 1), st.floats(-3, 3))
def test_no_weights_do_better_than_the_bound(stream, seed, size) -> None:
    """(20.10) for random u, for least squares, for 0; and (20.11) is never below it."""
    X, y = stream
    learner = nr.LinearQuantiles(LEVELS)
    learner.replay(X, y)
    assert all(c.holds for c in learner.certificates())
    state = learner._state
    full = np.column_stack([np.ones(len(y)), X])
    rng = np.random.default_rng(seed)
    units = np.maximum(np.abs(full).max(axis=0), 1e-300)
    fitted = np.linalg.lstsq(full / units, y, rcond=None)[0] / units
    others = rng.normal(size=(4, len(units))) * 10.0**size * np.abs(y).max() / units
    for u in (fitted, np.zeros(len(units)), *others):
        bound = learner.regret_bound(u[1:], u[0])
        assert np.array_equal(bound, state.price(u))
        for l, tau in enumerate(LEVELS):
            rival = pinball(tau, y, full @ u)
            own = state.book[l, 0]
            slack = 1e-9 * (own + rival + abs(bound[l]) + state.stake * len(u))
            assert own <= rival + bound[l] + slack
            if u is fitted:
                assert bound[l] <= a_priori(learner, full, y, l, u) + slack


def a_priori(learner: nr.LinearQuantiles, full, y, l: int, u) -> float:
    """(20.11), the best fraction of each weight."""
    state, total = learner._state, 0.0
    if state.stake == 0.0:
        return float("inf") if u.any() else 0.0
    tau, (_, said) = LEVELS[l], wealth_and_forecasts(full, y, LEVELS[l])
    g = -(tau - (y < np.array(said)))[:, None] * full
    first = int(np.flatnonzero(y)[0]) + 1  # the first round in which anybody bets
    for i, w in enumerate(u):
        best = math.inf
        if w == 0.0:
            total += state.stake
            continue
        for v in FRACTIONS[np.sign(FRACTIONS) == np.sign(w)] / max(state.anchor[i], 1e-300):
            plays = np.abs(v) * np.abs(full[:, i]) * max(tau, 1.0 - tau) <= 0.5
            plays[:first] = False
            S, rest = float((g[plays, i] ** 2).sum()), float(g[~plays, i].sum())
            edge = w / v * (math.log(w / (state.stake / 48.0 * v)) - 1.0)
            best = min(best, state.stake + edge + w * v * S - w * rest)
        total += best
    return total


@given(streams())
def test_quantiles_are_in_order_and_sorting_costs_nothing(stream) -> None:
    X, y = stream
    learner = nr.LinearQuantiles(LEVELS)
    said = learner.replay(X, y).quantiles
    assert (np.diff(said, axis=1) >= 0.0).all()
    own, issued = learner._state.book[:, :2].sum(axis=0)
    assert issued <= own * (1.0 + 1e-12)


@given(streams(), st.integers(-30, 30), st.integers(-30, 30))
def test_units_change_nothing(stream, up, along) -> None:
    """Outcomes times a power of two: forecasts times it; a feature in other units: none."""
    X, y = stream
    said = nr.LinearQuantiles(LEVELS).replay(X, y).quantiles
    more = nr.LinearQuantiles(LEVELS).replay(X, y * 2.0**up).quantiles
    assert np.array_equal(more, said * 2.0**up)
    Z = X.copy()
    Z[:, 0] *= 2.0**along
    assert np.array_equal(nr.LinearQuantiles(LEVELS).replay(Z, y).quantiles, said)


def test_it_learns_a_spread_that_depends_on_x() -> None:
    rng = np.random.default_rng(1)
    X = rng.uniform(0.5, 2.0, size=(4000, 1))
    y = 3.0 + X[:, 0] * rng.normal(size=4000)
    said = nr.LinearQuantiles([0.1, 0.9]).replay(X, y).quantiles[2000:]
    wide = said[:, 1] - said[:, 0]
    near, far = X[2000:, 0] < 0.8, X[2000:, 0] > 1.7
    assert wide[far].mean() > 1.5 * wide[near].mean()
    truth = 3.0 + X[2000:] * np.array([[-1.2816, 1.2816]])
    lost = sum(pinball(t, y[2000:], said[:, k]) for k, t in enumerate((0.1, 0.9)))
    least = sum(pinball(t, y[2000:], truth[:, k]) for k, t in enumerate((0.1, 0.9)))
    assert lost < 1.2 * least


def test_a_refused_round_leaves_no_trace() -> None:
    learner = nr.LinearQuantiles([0.5])
    learner.learn_one([1.0], 2.0)
    before = learner.to_bytes()
    for x, y in (([np.inf], 1.0), ([1.0], np.nan), ([1e308], 1.0)):
        with pytest.raises(nr.errors.InputError):
            learner.learn_one(x, y)
    assert learner.to_bytes() == before
    with pytest.raises(nr.errors.FeatureError, match="1 feature"):
        learner.regret_bound([1.0, 2.0])
