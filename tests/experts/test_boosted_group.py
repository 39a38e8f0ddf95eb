"""Boosted trees of numbers against the formula in plain Python, and as groups of Auto."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import noregret as nr
from noregret._native.boosting import BINS, COLUMNS, FEWEST, FIRST, Booster
from noregret.errors import SnapshotError
from noregret.experts import boosted_group, ensemble
from noregret.experts.boosted import Shape
from noregret.experts.boosted_group import CHANGES, SHAPES, TREES, BoostedGroup
from noregret.experts.views import Views
from noregret.snapshot import files

SHAPE = Shape(6, 5, 60, 0.5, 0.3)


def started(shape: Shape, n: int) -> Booster:
    return Booster(*shape, False, n, np.zeros((0, n)), np.zeros(0), np.zeros((0, COLUMNS)), 0.0)


def bends(T: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """What lines cannot say."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(T, 3))
    return X, np.where(X[:, 0] * X[:, 1] > 0.0, 5.0, 1.0) + 0.1 * rng.normal(size=T)


# The formula, written out ---------------------------------------------------------------------


def cuts_of(x: np.ndarray) -> list[float]:
    """Up to 63 places between values, as many rows between them as may be."""
    v, found = np.sort(x), []
    for b in range(1, BINS):
        at = b * len(v) // BINS
        above = v[v > v[at - 1]] if at else v[:0]
        if len(above) and (not found or v[at - 1] > found[-1]):
            found.append(v[at - 1] + 0.5 * (above[0] - v[at - 1]))
    return found


def cut_best(X: np.ndarray, g: np.ndarray, rows: np.ndarray) -> tuple[float, int, float]:
    """The gain of the best cut of a leaf, its feature and its place."""
    best = 0.0, -1, 0.0
    worth = g[rows].sum() ** 2 / (len(rows) + 1.0)
    for j in range(X.shape[1]):
        for cut in cuts_of(X[:, j]):
            low, high = rows[X[rows, j] <= cut], rows[X[rows, j] > cut]
            if min(len(low), len(high)) >= FEWEST:
                sides = sum(g[side].sum() ** 2 / (len(side) + 1.0) for side in (low, high))
                best = max(best, (sides - worth, j, cut), key=lambda found: found[0])
    return best


def boosted(
    X: np.ndarray, y: np.ndarray, x: np.ndarray, shape: Shape, outcomes: np.ndarray
) -> float:
    """What trees made of all rows say at x, no farther off than the last outcomes allow."""
    q = np.sort(y)
    k = len(y) - 1
    reach = 20.0 * (q[3 * k // 4] - q[k // 4])
    y = np.clip(y, q[k // 2] - reach, q[k // 2] + reach)
    mean, unit = y.mean(), np.abs(y - y.mean()).mean()
    score, said = np.zeros(len(y)), 0.0
    for _ in range(shape.trees):
        g = score - (y - mean) / unit
        leaves = [(np.arange(len(y)), True)]
        while len(leaves) < shape.leaves:
            found = [cut_best(X, g, rows) for rows, _ in leaves]
            at = max(range(len(found)), key=lambda i: found[i][0])
            gain, j, cut = found[at]
            if gain <= 0.0:
                break
            rows, here = leaves.pop(at)
            leaves.append((rows[X[rows, j] <= cut], here and x[j] <= cut))
            leaves.append((rows[X[rows, j] > cut], here and x[j] > cut))
        for rows, here in leaves:
            value = -shape.step * g[rows].sum() / (len(rows) + 1.0)
            score[rows] += value
            said += value if here else 0.0
    late = np.sort(outcomes[-100:])
    middle = late[len(late) // 2]
    reach = 10.0 * np.abs(late - middle).mean()
    return float(np.clip(mean + unit * said, middle - reach, middle + reach))


@pytest.mark.parametrize("outlier", [False, True])
def test_trees_are_those_of_the_formula(outlier: bool) -> None:
    """More rows than the window has, some values often, and one outcome that is cut."""
    X, y = bends(90)
    X[:, 2] = np.round(X[:, 2])
    y[40] += 1e6 if outlier else 0.0
    trees, said = started(SHAPE, 3), np.empty(90)
    trees.replay(X, y, said)
    assert np.isnan(said[:FIRST]).all()
    assert np.isfinite(said[FIRST:]).all()
    rows, targets, _, since = trees.arrays()
    assert_array_equal(rows, X[-60:])
    assert_array_equal(targets, y[-60:])
    last = 90 - int(since)  # the last fit
    window = slice(last - 60, last)
    assert last - 60 <= 40 < last
    for x in bends(5, seed=1)[0]:
        wanted = boosted(X[window], y[window], x, SHAPE, y[-60:])
        assert_allclose(trees.look(x), wanted, rtol=1e-12)


def test_trees_are_not_sure_of_what_was_never_so_of_late() -> None:
    """Where the last hundred outcomes are one, that one is said."""
    X = np.r_[np.arange(200.0) % 2.0, np.zeros(100), 1.0][:, None]
    y = np.where(X[:, 0] > 0.0, 8.0, 2.0)
    trees, said = started(SHAPE._replace(window=400), 1), np.empty(301)
    trees.replay(X, y, said)
    assert said[199] > 5.0
    assert said[300] == 2.0
    assert trees.look(X[300]) == pytest.approx(2.6)  # 10 mean deviations of the last hundred


def test_constant_outcomes_and_no_features() -> None:
    trees, said = started(SHAPE, 1), np.empty(40)
    trees.replay(np.arange(40.0)[:, None], np.full(40, 7.0), said)
    assert said[-1] == 7.0
    none, said = started(SHAPE, 0), np.empty(200)
    none.replay(np.empty((200, 0)), np.arange(200.0), said)
    assert np.isnan(said).all()
    assert len(none.arrays()[1]) == SHAPE.window


# Groups ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [TREES, CHANGES])
def test_a_group_replays_what_it_says_one_by_one(name: str) -> None:
    X, y = bends(80)
    seen = Views.of(3).observe(X, y)
    said = BoostedGroup.of(name, "high", 3).replay(seen, y)[:, 0]
    group, views = BoostedGroup.of(name, "high", 3), Views.of(3)
    for t in range(80):
        now = views.copy().observe(X[t : t + 1], np.empty(0))
        assert_array_equal(group.look(now), said[t : t + 1])
        group.learn(now, float(y[t]))
        views.observe(X[t : t + 1], y[t : t + 1])
        if t in (10, 30, 50):  # before the first trees, and between fits
            group = copy.deepcopy(group.copy())
    rows, origin = group.rows(seen)
    assert rows.shape == (80, 3 + (5 if name == CHANGES else 0))
    if name == CHANGES:
        assert_array_equal(origin[1:], y[:-1])
        assert_array_equal(rows[30, :5], [y[29], *(y[30 - k] - y[29] for k in (2, 7, 12, 24))])


def test_auto_learns_what_only_boosted_trees_can(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = bends(500)

    def rmse(effort: str) -> float:
        said = nr.Auto(effort=effort).replay(X, y).forecast
        return float(np.sqrt(np.mean((said - y)[250:] ** 2)))

    auto = nr.Auto()
    auto.replay(X, y)
    assert "boosted trees" in auto.explain().splitlines()[1]  # the largest part of the forecast
    with_them = rmse("normal")
    monkeypatch.setattr(ensemble, "BOOSTED", {})
    assert with_them < 0.6 * rmse("normal")


@pytest.mark.parametrize("effort", ["normal", "high"])
def test_files_of_before_go_on_without_them(effort, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state without boosted trees is stored as it was, and goes on as it did."""
    X, y = bends(120)
    with monkeypatch.context() as before:
        before.setattr(ensemble, "BOOSTED", {})
        old = nr.Auto(effort=effort)
        old.replay(X[:60], y[:60])
    data = old.to_bytes()
    assert "boosted" not in str(files.opened(data)[0])
    again = nr.from_bytes(data)
    assert "boosted trees" not in again.weights_
    assert_array_equal(again.replay(X[60:], y[60:]).forecast, old.replay(X[60:], y[60:]).forecast)


def test_a_new_feature_and_a_smaller_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are let go where those of more features would take too much memory."""
    X, y = bends(300)
    group = BoostedGroup.of(TREES, "normal", 3)
    said = np.empty(300)
    group.booster.replay(X, y, said)
    monkeypatch.setattr(boosted_group, "MOST", 256 * 4)
    larger = group.extended(1)
    rows, targets = larger.booster.arrays()[:2]
    assert_array_equal(rows, np.column_stack([X, np.zeros(300)])[-256:])
    assert_array_equal(targets, y[-256:])
    x = np.array([1.0, 2.0, 0.0])
    assert larger.booster.look(np.r_[x, 5.0]) == group.booster.look(x)


def test_memory_ends_with_the_window() -> None:
    group, sizes = BoostedGroup.of(CHANGES, "normal", 1), []
    views = Views.of(1)
    for seed in range(3):
        X, y = bends(SHAPES["normal"].window, seed)
        group.replay(views.observe(np.ascontiguousarray(X[:, :1]), y), y)
        sizes.append([len(part) for part in group.booster.arrays()[:3]])
    assert sizes[1][:2] == sizes[2][:2] == [SHAPES["normal"].window] * 2
    most = SHAPES["normal"].trees * (2 * SHAPES["normal"].leaves - 1)
    assert max(size[2] for size in sizes) <= most


def test_forged_trees_are_refused() -> None:
    X, y = bends(60)
    auto = nr.Auto()
    auto.replay(X, y)
    state = auto._state
    name, effort, rows, targets, nodes, since = state.boosted[0].stored()
    for wrong in (
        BoostedGroup.of(TREES, "normal", 4),  # of other features
        BoostedGroup.restored(TREES, "normal", np.zeros((61, 3)), np.zeros(61), nodes, since),
    ):
        state.boosted = [wrong]
        with pytest.raises(SnapshotError, match="other features"):
            nr.from_bytes(auto.to_bytes())
    nodes[0, 0] = 3.0
    with pytest.raises(ValueError, match="no trees"):
        BoostedGroup.restored(name, effort, rows, targets, nodes, since)
    with pytest.raises(ValueError, match="other columns"):
        BoostedGroup.restored(CHANGES, effort, rows, targets, nodes, since)
