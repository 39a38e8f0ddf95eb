"""The team of groups against the formulas in plain NumPy; what sleeps; who carries the forecast."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import noregret as nr
from noregret.experts.team import Team
from noregret.experts.views import Views

NEAR, FAR = 5.0, 10.0


def decay(t: int) -> float:
    return min(0.995, 1.0 - 1.0 / (2.0 + (t + 1) / 4.0))


class Error:
    """A running mean of square errors, (24.1)."""

    def __init__(self) -> None:
        self.v = self.n = 0.0

    def add(self, square: float, t: int) -> None:
        square = min(square, 25.0 * self.v) if self.v > 0.0 else square
        n = decay(t) * self.n
        self.v, self.n = (n * self.v + square) / (n + 1.0), n + 1.0


class Weights:
    """(23.1)."""

    def __init__(self, N: int, share: float, power: float) -> None:
        self.prior = np.full(N, 1.0 / N)
        self.w, self.share, self.power, self.error = self.prior, share, power, Error()

    def say(self, f: np.ndarray) -> float:
        self.g = float(self.w @ f)
        return self.g

    def learn(self, f: np.ndarray, y: float, t: int) -> None:
        self.error.add((y - self.g) ** 2, t)
        if self.error.v > 0.0:
            lost = (y - f) ** 2
            nats = np.minimum((lost - lost.min()) * self.power / (2.0 * self.error.v), 30.0)
            w = self.w * np.exp(-nats)
            self.w = (1.0 - self.share) * w / w.sum() + self.share * self.prior


class Pol:
    """(22.3)."""

    def __init__(self, N: int) -> None:
        self.R, self.D, self.B = np.zeros(N), np.zeros(N), 0.0

    def say(self, f: np.ndarray) -> float:
        w = np.where(self.R > 0.0, self.R / np.where(self.D > 0.0, self.D, 1.0), 0.0)
        self.w = w / w.sum() if w.sum() > 0.0 else np.full(len(f), 1.0 / len(f))
        self.g = float(self.w @ f)
        return self.g

    def learn(self, f: np.ndarray, y: float) -> None:
        r = 2.0 * (self.g - y) * (self.g - f)
        B = max(self.B, float((r**2).max()))
        self.R, self.D, self.B = self.R + r, self.D + r**2 + (B - self.B), B


class Stack:
    """(23.2), with z and targets cut."""

    def __init__(self, N: int, precision: float, step: float) -> None:
        self.P, self.w, self.step = np.eye(N) / precision, np.zeros(N), step
        self.error, self.rounds = Error(), 0

    def say(self, f: np.ndarray, b: float) -> float:
        s = np.sqrt(self.error.v)
        if s > 0.0:
            self.z = np.clip((f - b) / s, -NEAR, NEAR)
        if self.rounds < 100 or s == 0.0:
            return b
        return b + s * float(np.clip(self.w @ self.z, -NEAR, NEAR))

    def learn(self, b: float, y: float, t: int) -> None:
        s = np.sqrt(self.error.v)
        if s > 0.0:
            p = self.P @ self.z
            d, e = 1.0 + self.z @ p, np.clip((y - b) / s, -NEAR, NEAR) - self.w @ self.z
            self.w, self.P = self.w + p * e / d, self.P - np.outer(p, p) / d
        self.P = self.P + self.step * np.eye(len(self.w))
        self.error.add((y - b) ** 2, t)
        self.rounds += 1


def twin(said: np.ndarray, y: np.ndarray, sizes: list[int]) -> np.ndarray:
    """What the groups and their team say, round by round."""
    G, edges = len(sizes), np.cumsum([0, *sizes])
    groups = [Weights(size, 1e-4, 0.5) for size in sizes]
    rules, pol = [Weights(G, 1e-4, 0.5), Weights(G, 1e-2, 0.5)], Pol(G)
    stacks = [Stack(G, 1.0, 0.0), Stack(G, 10.0, 1e-4), Stack(G, 100.0, 1e-3)]
    merger, heard = Weights(6, 1e-3, 0.25), np.empty((len(y), G + 1))
    for t, (f, v) in enumerate(zip(said, y)):
        parts = [f[a:b] for a, b in pairwise(edges)]
        x = np.array([group.say(part) for group, part in zip(groups, parts)])
        known = np.concatenate([y[:t], x])
        low, high = known.min(), known.max()
        b = pol.say(x)
        spoken = [rule.say(x) for rule in rules] + [b]
        tall = [stack.say(x, b) for stack in stacks]
        words = np.array(spoken + [float(np.clip(g, low, high)) if t else g for g in tall])
        heard[t] = [*x, merger.say(words)]
        if t == 0:
            continue
        for group, part in zip(groups, parts):
            group.learn(part, v, t)
        for rule in rules:
            rule.learn(x, v, t)
        merger.learn(words, v, t)
        reach = FAR * np.sqrt(stacks[0].error.v) or np.inf
        for stack in stacks:
            stack.learn(b, v, t)
        pol.learn(x, float(np.clip(v, b - reach, b + reach)))
    return heard


def test_a_stack_says_nothing_that_none_has_learned() -> None:
    """One group far off, whom the stacks trusted, took the team along."""
    rng = np.random.default_rng(1)
    y = rng.normal(size=400)
    said = np.column_stack([y + rng.normal(size=400), y + 0.1 * rng.normal(size=400)])
    said[300] = [300.0, 5000.0]
    heard = Team.of([1, 1]).replay(said, y)
    assert_allclose(heard, twin(said, y, [1, 1]), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_the_team_is_its_formulas(seed: int) -> None:
    rng = np.random.default_rng(seed)
    T, sizes = 260, [4, 1, 3]
    y = np.cumsum(rng.normal(size=T)) + 10.0
    said = y[:, None] + rng.normal(size=(T, 8)) * rng.uniform(0.2, 2.0, 8) + rng.normal(size=8)
    y[150] += 100.0  # an outlier: all the cuts
    assert_allclose(Team.of(sizes).replay(said, y), twin(said, y, sizes), rtol=1e-9, atol=1e-9)


def test_a_group_that_sleeps_says_nothing_and_keeps_its_weights() -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=80)
    said = y[:, None] + rng.normal(size=(80, 3))
    said[:40, 2] = np.nan
    team = Team.of([2, 1])
    heard = team.replay(said, y)
    assert np.isnan(heard[:40, 1]).all()
    assert np.isfinite(heard[:, [0, 2]]).all()
    assert_allclose(heard[:40, 2], heard[:40, 0], rtol=1e-12)
    weights, errors = team.weights(said[-1])
    assert weights.sum() == pytest.approx(1.0)
    assert (errors > 0.0).all()


def test_asking_teaches_nothing() -> None:
    team = Team.of([2, 1])
    team.replay(np.ones((5, 3)) * [1.0, 2.0, 3.0], np.arange(5.0))
    before = team.memory.copy()
    team.replay(np.ones((1, 3)), np.empty(0))
    team.weights(np.ones(3))
    assert_array_equal(team.memory, before)


def test_views_are_what_they_say() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(5.0, 2.0, size=(400, 2)), rng.normal(size=400)
    seen = Views.of(2).observe(X, y)
    for t in (20, 127, 128, 399):
        past = X[: t + 1]
        assert_allclose(seen.standard[t], (X[t] - past.mean(0)) / past.std(0), rtol=1e-9)
        last = np.sort(past[-128:], axis=0)
        k = len(last) - 1
        range_ = last[3 * k // 4] - last[k // 4]
        assert_allclose(seen.robust[t], 1.35 * (X[t] - last[k // 2]) / range_, rtol=1e-9)
    lags = {0: 1, 2: 3, 6: 24, 12: 336}
    for k, lag in lags.items():
        assert seen.naive[399, k] == y[399 - lag]
        z = (y[399 - lag] - y[:399].mean()) / y[:399].std()
        assert seen.past[399, k] == pytest.approx(z, rel=1e-9)
    assert seen.naive[399, 16] == pytest.approx(y[:399].mean())
    assert_array_equal(seen.soft, y)


def test_a_wild_first_value_or_outlier_is_soon_forgotten() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(2.0, 1.0, size=(1500, 3))
    y = 5.0 + X @ [1.0, -2.0, 3.0] + 0.5 * rng.normal(size=1500)
    plain = nr.Auto().replay(X, y).loss[20:].mean()
    for row, size in ((0, 1e6), (100, 1e6)):
        wild = X.copy()
        wild[row, 0] = size
        lost = nr.Auto().replay(wild, y).loss
        lost[row] = 0.0
        assert lost[20:].mean() < 1.3 * plain


def test_it_explains_itself() -> None:
    rng = np.random.default_rng(3)
    hour = np.arange(1500.0) % 24
    shape = rng.normal(size=24)
    y = shape[hour.astype(int)] * 10.0 + rng.normal(size=1500)
    auto = nr.Auto()
    auto.replay(np.column_stack([hour, rng.normal(size=1500)]), y)
    text = auto.explain()
    assert "1500 rounds" in text
    assert "a level for each value of whole-numbered features (values): " in text
    assert f"% more RMSE than the best of {len(auto.losses_)} experts" in text
    assert "% of all weight" in nr.Auto(effort="linear").fit([[1.0], [2.0]], [1.0, 2.0]).explain()
