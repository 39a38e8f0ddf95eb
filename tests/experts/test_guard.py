"""The guard of Auto's team against the rule in plain Python, and its certificates."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import noregret as nr
from noregret.experts.guard import Guard
from noregret.experts.pool import Pool
from noregret.experts.theorems import statements
from noregret.losses import game

SIZES = st.sampled_from([0.0, 1e-3, 1.0, 30.0, 1e6])
NUMBERS = st.builds(lambda size, u: size * u, SIZES, st.floats(-1.0, 1.0))
ROUNDS = st.lists(st.tuples(*[NUMBERS] * 4), min_size=1, max_size=40)


def by_rule(quick, safe, ys, span=None):
    """What is issued, from the words of section 24."""
    account, issued, lo, hi = 0.0, [], 0.0, 0.0
    for t, (q, s, y) in enumerate(zip(quick, safe, ys)):
        if span is not None:
            lo, hi = span
        w = abs(q - s) * max(abs(q + s - 2.0 * lo), abs(q + s - 2.0 * hi))
        speaks = q == s or account + w <= (hi - lo) ** 2
        issued.append(q if speaks else s)
        account += min((y - q) ** 2 - (y - s) ** 2, w) if speaks else 0.0
        lo, hi = (min(lo, y), max(hi, y)) if t else (y, y)
    return issued


def played(rounds, outcome_range):
    """A pool of two experts, and a third that speaks in its place."""
    table = np.array(rounds)
    said, quick, ys = table[:, :2], table[:, 2].copy(), table[:, 3].copy()
    if outcome_range is not None:
        ys = np.clip(ys, *outcome_range)
    pool = Pool.start(game("square", outcome_range), np.array([0.4, 0.6]), "falling")
    return pool, np.ascontiguousarray(said), quick, ys


@settings(max_examples=150)
@given(ROUNDS, st.sampled_from([None, (-40.0, 35.0)]))
def test_the_guard_is_its_rule_and_its_certificates_hold(rounds, outcome_range) -> None:
    pool, said, quick, ys = played(rounds, outcome_range)
    one, other, guard = pool.copy(), Guard.of(), Guard.of()
    span = Guard.spans(pool, ys)
    safe = pool.replay(said, ys)[0]
    issued, losses = guard.replay(quick, safe, ys, span)
    assert_array_equal(losses, (ys - issued) ** 2)
    assert issued.tolist() == by_rule(quick.tolist(), safe.tolist(), ys.tolist(), outcome_range)
    for row, q, y, g in zip(said, quick.tolist(), ys, issued.tolist()):  # one at a time
        now = Guard.spans(one, np.empty(0))
        assert other.forecast(q, one.forecast(row), now) == g
        met = np.array([y])
        now = Guard.spans(one, met)
        other.replay(np.array([q]), np.array([one.learn(row, y)[0]]), met, now)
    assert_array_equal(other.account, guard.account)
    assert_array_equal(other.paid, guard.paid)
    for certificate in statements(pool.game, guard.totals(pool)):
        assert certificate.holds is True, certificate


def test_a_team_that_is_always_wrong_costs_a_budget() -> None:
    ys = np.tile([0.0, 10.0], 500)
    pool = Pool.start(game("square", (0.0, 10.0)), np.array([1.0]))
    guard, span = Guard.of(), Guard.spans(pool, ys)
    safe = pool.replay(np.full((1000, 1), 5.0), ys)[0]
    issued, losses = guard.replay(np.where(ys > 5.0, 4.0, 6.0), safe, ys, span)
    assert losses.sum() - 25.0 * 1000 <= 100.0
    assert 5 < int((issued != safe).sum()) == int(guard.over[1]) < 20


@pytest.mark.parametrize("effort", ["low", "normal", "high"])
def test_one_wild_outcome_does_little_harm(effort: str) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(900, 4))
    y = X @ [1.0, -2.0, 0.5, 3.0] + 5.0 + 0.5 * rng.normal(size=900)
    clean = nr.Auto(effort=effort).replay(X, y).loss[600:].mean()
    y[100] = 1e6
    auto = nr.Auto(effort=effort)
    assert auto.replay(X, y).loss[600:].mean() < 2.0 * clean
    assert all(c.holds for c in auto.certificates())


def test_what_is_said_in_words_is_so() -> None:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(400, 3))
    y = np.where(np.arange(400) < 200, 1.0, 40.0) * X[:, 0] + rng.normal(size=400)
    auto = nr.Auto(effort="low")
    lost = auto.replay(X, y).loss.sum()
    said = {c.name: c.words for c in auto.certificates()}
    found = re.fullmatch(
        r"at most (\S+) % more RMSE than the best of (\d+) experts", said["Fixed Share, one expert"]
    )
    assert int(found[2]) == len(auto.losses_)
    best = min(auto.losses_.values())
    assert math.sqrt(lost / best) <= (1.0 + float(found[1]) / 100.0) * 1.005  # three digits
    assert said["Fixed Share, one expert"] in auto.explain()
    assert said["every round"] == ""
    assert "% more RMSE than the pool" in said["the team in the pool's place"]


@pytest.mark.parametrize("effort", ["low", "normal"])
def test_rounds_are_compiled_but_for_those_that_plan(effort: str) -> None:
    """And a forecast leaves no trace, of whatever else was forecast in between."""
    rng = np.random.default_rng(7)
    X = np.column_stack([rng.normal(size=70), rng.integers(0, 5, 70)])
    y = X @ [1.0, 2.0] + rng.normal(size=70)
    auto, twin, taken = nr.Auto(effort=effort), nr.Auto(effort=effort), 0
    for t, (x, v) in enumerate(zip(X, y.tolist())):
        auto.learn_one(x, v)
        if t < 5:
            twin.learn_one(x.tolist(), v)
            continue
        if t % 20 == 5:
            before, said = twin.to_bytes(), twin.predict_one(x)
            twin.predict(X[t - 3 : t])  # the careful way, at other rows
            twin.predict_one(X[0])
            assert twin.predict_one(x) == said
            assert twin.to_bytes() == before
            twin.predict(X[t - 1 : t])
        if twin._state.fast.learn(x, v):
            taken += 1
        else:
            twin.learn_one(x, v)
    assert taken == 65 - 2  # not those after which 32 and 64 rounds are learned
    assert twin.to_bytes() == auto.to_bytes()
