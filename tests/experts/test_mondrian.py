"""Mondrian trees against every pruning written out, and what is proved of them."""

from __future__ import annotations

import copy
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret._native import mixing
from noregret._native.mondrian import (
    BIRTH,
    COLUMNS,
    CUT,
    DEEPEST,
    FIT,
    GAIN,
    HEIGHT,
    LEFT,
    PAID,
    RIGHT,
    ROUNDS,
    TIME,
    draws,
)
from noregret.reference.mondrian import mondrian, prunings, uniforms
from strategies import rows

DATA = Path(__file__).parents[3] / "shared" / "data"

settings = st.fixed_dictionaries(
    {
        "trees": st.integers(1, 3),
        "price": st.sampled_from([0.05, 0.3, 2.0]),
        "prior_precision": st.sampled_from([1e-3, 0.1, 2.0]),
        "node": st.sampled_from(["ridge", "mean"]),
        "seed": st.sampled_from([0, 1, 12345]),
    }
)


def twin(stream, given_, span=None, cap=10**9):
    return mondrian(
        stream.X,
        stream.y,
        trees=given_["trees"],
        price=given_["price"],
        a=given_["prior_precision"],
        seed=given_["seed"],
        linear=given_["node"] == "ridge",
        span=span,
        cap=cap,
    )


def arrays(learner):
    return learner._state.forest.arrays()


def wavy(T: int, n: int = 3, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(T, n))
    return X, np.sin(3.0 * X[:, 0]) + np.where(X[:, -1] > 0.3, 1.0, -1.0) + 0.1 * rng.normal(size=T)


@given(rows(max_rounds=9, max_features=3), settings, st.booleans())
def test_forecasts_and_bounds_are_those_of_every_pruning_written_out(stream, how, learned) -> None:
    y, size = stream.y, 1.0 + float(np.abs(stream.y).max())
    span = None if learned else (-size, 2.0 * size)
    g, eta, trees, mixes = twin(stream, how, span)
    learner = nr.Mondrian(span, **how)
    replay = learner.replay(stream.X, y)
    np.testing.assert_allclose(replay.forecast, g, rtol=1e-9, atol=1e-9 * size)
    assert learner.nodes_ == sum(tree.size for tree in trees)
    best, mixture, *_ = learner.certificates()
    over = arrays(learner)[4][mixing.OVER].sum() if learned else 0.0
    exact = {"rtol": 1e-9, "atol": 1e-9 * size**2}
    wanted = np.mean([tree.best(eta, y) for tree in trees])
    np.testing.assert_allclose(best.bound, wanted + over, **exact)
    wanted = np.mean([tree.evidence(eta, y) for tree in trees])
    np.testing.assert_allclose(mixture.bound, wanted + over, **exact)
    mix = arrays(learner)[4][mixing.MIX].sum()
    np.testing.assert_allclose(mix, mixes.mean(axis=1).sum(), **exact)


@given(rows(max_rounds=60), settings, st.sampled_from([6, 30, 1000]))
def test_every_certificate_holds(stream, how, cap) -> None:
    learner = nr.Mondrian(max_nodes=cap, **how)
    learner.replay(stream.X, stream.y)
    for certificate in learner.certificates():
        assert certificate.holds, str(certificate)
    telescoping = learner.certificates()[3]
    assert telescoping.kind == "equality"
    np.testing.assert_allclose(telescoping.loss, telescoping.bound, rtol=1e-9, atol=1e-12)
    assert learner.nodes_ <= max(cap, how["trees"])


@given(rows(max_rounds=8, max_features=2), settings)
def test_the_prior_adds_up_to_1_and_a_split_changes_no_evidence(stream, how) -> None:
    _, eta, trees, _ = twin(stream, how)
    for tree in trees:
        total = math.fsum(math.exp(p) for _, p in prunings(tree.root, tree.price))
        assert total == pytest.approx(1.0, rel=1e-12)
        before = tree.evidence(eta, stream.y)
        z = np.hstack([np.ones((len(stream.X), 1)), np.zeros((len(stream.X), stream.X.shape[1]))])
        z = z if how["node"] == "ridge" else np.ones((len(stream.X), 1))
        for t in range(len(stream.y), len(stream.y) + 5):
            tree.grow(stream.X[0] + 3.0**t, t, z, stream.y, room=True)
        after = tree.evidence(eta, stream.y)
        assert after == pytest.approx(before, rel=1e-9, abs=1e-9)


@given(rows(max_rounds=30, max_features=3), settings)
def test_ridge_in_every_cell_pays_what_the_theorem_says(stream, how) -> None:
    """L_v <= FIT + CHARGE in every node, and FIT is the cell's best regularised loss."""
    learner = nr.Mondrian(**how)
    learner.replay(stream.X, stream.y)
    nodes, _, factors, _, book = arrays(learner)
    first = float(book[-1, 0])
    size = 1.0 + float(np.square(stream.y).sum())
    for v, node in enumerate(nodes):
        paid, fit = node[PAID : PAID + 2].sum(), node[FIT : FIT + 2].sum()
        charge = node[FIT + 2 : FIT + 4].sum()
        began = first if paid + first <= fit + charge + 1e-9 * size else 0.0
        assert paid + began <= fit + charge + 1e-9 * size
        assert node[ROUNDS] >= 1
        assert (np.diag(factors[v]) > 0.0).all()


@given(rows(max_rounds=12, max_features=3), settings)
def test_units_and_origins_do_not_matter(stream, how) -> None:
    """A power of 2 changes no bit; any shift changes rounding alone."""
    learner, scaled, turned = (nr.Mondrian(**how) for _ in range(3))
    plain = learner.replay(stream.X, stream.y).forecast
    units = 2.0 ** np.arange(-3, stream.X.shape[1] - 3)
    np.testing.assert_array_equal(scaled.replay(stream.X * units, stream.y).forecast, plain)
    doubled = turned.replay(stream.X, 4.0 * stream.y).forecast
    np.testing.assert_allclose(doubled, 4.0 * plain, rtol=1e-9, atol=1e-9 * np.abs(stream.y).max())


def test_an_origin_does_not_matter() -> None:
    X, y = wavy(80)
    X = np.round(X * 1024.0) / 1024.0  # so that the shift is exact
    plain = nr.Mondrian().replay(X, y).forecast
    moved = nr.Mondrian().replay(X + np.array([1024.0, -512.0, 64.0]), y).forecast
    np.testing.assert_allclose(moved, plain, rtol=1e-7, atol=1e-7)


def test_random_numbers_are_those_of_the_formula() -> None:
    found = np.empty(50)
    for seed, tree, at in [(0, 0, 0), (2**53, 7, 123456), (5, 1, 2)]:
        draws(seed, tree, at, found)
        assert found.tolist() == uniforms(seed, tree, at, 50)
    assert 0.0 <= found.min() < found.max() < 1.0


def test_the_outcomes_do_not_shape_the_trees() -> None:
    X, y = wavy(200)
    one, two = nr.Mondrian().fit(X, y), nr.Mondrian().fit(X, np.cos(y) * 100.0)
    for column in (LEFT, RIGHT, BIRTH, TIME):
        np.testing.assert_array_equal(arrays(one)[0][:, column], arrays(two)[0][:, column])


def test_one_by_one_is_the_replay_and_asking_changes_nothing() -> None:
    X, y = wavy(150)
    whole, single = nr.Mondrian(seed=3), nr.Mondrian(seed=3)
    forecasts = whole.replay(X, y).forecast
    for x, v, wanted in zip(X, y, forecasts):
        for other in X[:3]:
            single.predict_one(other)
        assert single.predict_one(x) == wanted
        single.learn_one(list(x), float(v))
    assert single.predict(X[:5]).tolist() == [whole.predict_one(x) for x in X[:5]]
    for mine, theirs in zip(arrays(single), arrays(whole)):
        np.testing.assert_array_equal(mine, theirs)
    assert nr.Mondrian(seed=4).replay(X, y).forecast.tolist() != forecasts.tolist()


def test_a_new_feature_has_been_0_all_along() -> None:
    X, y = wavy(60)
    X[:30, 2] = 0.0
    known, late = nr.Mondrian(), nr.Mondrian()
    for t, (x, v) in enumerate(zip(X.tolist(), y.tolist())):
        row = dict(zip("abc", x))
        known.learn_one(row, v)
        late.learn_one(row if t >= 30 else {"a": x[0], "b": x[1]}, v)
    for mine, theirs in zip(arrays(late), arrays(known)):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("cap", [1, 7, 40])
def test_full_trees_go_on_learning_in_constant_memory(cap: int) -> None:
    X, y = wavy(400)
    learner = nr.Mondrian(trees=3, max_nodes=cap)
    learner.replay(X[:200], y[:200])
    nodes = learner.nodes_
    learner.replay(X[200:], y[200:])
    assert learner.nodes_ == nodes <= max(cap, 3)
    assert arrays(learner)[0][:3, ROUNDS].tolist() == [400.0] * 3
    assert learner.certificate().holds


def test_no_path_is_longer_than_said() -> None:
    X = 3.0 ** np.arange(300.0)[:, None]
    learner = nr.Mondrian(trees=2)
    learner.replay(X, np.arange(300.0) % 2)
    assert arrays(learner)[0][:, HEIGHT].max() <= DEEPEST
    assert all(c.holds for c in learner.certificates())


def test_a_path_of_65_nodes_is_not_made_longer() -> None:
    """A chain as long as may be: inputs beyond all its boxes are learned and split nothing."""
    learner = nr.Mondrian(trees=1, prior_precision=1.0)
    learner.replay([[0.0], [1.0]], [0.0, 1.0])
    state = learner._state
    *_, units, book = state.forest.arrays()
    depth = int(DEEPEST)
    nodes = np.zeros((2 * depth + 1, COLUMNS))
    boxes = np.zeros((len(nodes), 2))
    for i in range(depth + 1):  # node 2i - 1 below its leaf 2i; the first is the root, 0
        v = max(2 * i - 1, 0)
        nodes[v, [BIRTH, TIME, HEIGHT, ROUNDS]] = i, i + 1, depth - i, 1
        boxes[v] = i, depth
        if i < depth:
            nodes[v, [LEFT, RIGHT, CUT]] = 2 * i + 2, 2 * i + 1, i + 0.5
            nodes[2 * i + 2, [BIRTH, TIME, ROUNDS]] = i + 1, math.inf, 1
            boxes[2 * i + 2] = i
    nodes[2 * depth - 1, TIME] = math.inf
    factors = np.tile(np.eye(2, 3), (len(nodes), 1, 1))
    state.forest = state.growth.forest(1, nodes, boxes, factors, units, book)
    state.renew()
    for k in range(20):
        learner.learn_one([depth + 10.0 * k], float(k % 2))
    assert learner.nodes_ == len(nodes)
    assert arrays(learner)[0][0, [HEIGHT, ROUNDS]].tolist() == [depth, 21]


def test_a_far_origin_of_the_outcomes_costs_the_first_round_alone() -> None:
    """Weights rest on small numbers: 1e6 more leaves the other forecasts as they were."""
    X, y = wavy(200)
    y = np.round(1024.0 * y) / 1024.0  # so that the shift is exact
    near, far = nr.Mondrian(), nr.Mondrian()
    plain, moved = near.replay(X, y), far.replay(X, y + 2.0**20)
    np.testing.assert_allclose(moved.forecast[1:] - 2.0**20, plain.forecast[1:], atol=1e-6)
    assert moved.forecast[0] == plain.forecast[0] == 0.0
    assert all(c.holds for c in far.certificates())


def test_outcomes_beyond_a_given_range_withdraw_the_bound() -> None:
    X, y = wavy(50)
    learner = nr.Mondrian(0.5).fit(X, y)
    certificate = learner.certificate()
    assert certificate.bound is None
    assert certificate.holds is None


def test_constant_outcomes_are_forecast_after_one_round() -> None:
    X, _ = wavy(20)
    replay = nr.Mondrian().replay(X, np.full(20, 7.0))
    assert replay.forecast.tolist() == [0.0, *[7.0] * 19]
    assert replay.certificate.holds


def test_a_state_that_is_not_what_was_booked_fails() -> None:
    X, y = wavy(100)
    learner = nr.Mondrian().fit(X, y)
    state = learner._state
    nodes, *others = state.forest.arrays()
    nodes[0, PAID] *= 0.5
    state.forest = state.growth.forest(3, nodes, *others)
    assert learner.certificate().holds is False


@pytest.mark.parametrize(
    ("column", "value"),
    [
        (LEFT, 0.0),
        (LEFT, 1.5),
        (LEFT, 1e9),
        (RIGHT, 5.0),
        (BIRTH, 5.0),
        (HEIGHT, 70.0),
        (2, 3.0),
        (GAIN, math.nan),
        (TIME, math.inf),
    ],
)
def test_nodes_that_are_no_trees_are_refused(column: int, value: float) -> None:
    X, y = wavy(40)
    state = nr.Mondrian().fit(X, y)._state
    values = list(state.stored())
    values[3] = values[3].copy()
    values[3][0, column] = value
    with pytest.raises(ValueError, match="has"):
        type(state).restored(*values)


def test_nodes_of_no_tree_and_children_born_at_another_time_are_refused() -> None:
    X, y = wavy(40)
    state = nr.Mondrian().fit(X, y)._state
    values = list(state.stored())
    more = [np.concatenate([part, part[-1:]]) for part in values[3:6]]
    more[0][-1, [LEFT, RIGHT, HEIGHT, TIME]] = 0.0, 0.0, 0.0, math.inf
    with pytest.raises(ValueError, match="no trees"):
        type(state).restored(*values[:3], *more, *values[6:])
    nodes = values[3].copy()
    nodes[int(nodes[0, LEFT]), BIRTH] *= 0.5
    with pytest.raises(ValueError, match="no trees"):
        type(state).restored(*values[:3], nodes, *values[4:])


def test_numbers_that_do_not_fit_are_refused_and_leave_no_trace() -> None:
    X, y = wavy(30)
    learner = nr.Mondrian().fit(X, y)
    learner.learn_one([1e-300, 0.0, 0.0], 0.0)
    before = copy.deepcopy(arrays(learner))
    for x, v in [([1e308, 0.0, 0.0], 1.0), ([0.0, 0.0, 0.0], 1e200)]:
        with pytest.raises(nr.errors.NoRegretError):
            learner.learn_one(x, v)
    for mine, theirs in zip(arrays(learner), before):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "most"),
    [("concrete", 65150.0), ("energy_efficiency", 4141.0), ("trump_approval", 240.0)],
)
def test_losses_on_real_data(name: str, most: float) -> None:
    path = DATA / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"{path.name} is not here")
    table = np.genfromtxt(path, delimiter=",", skip_header=1)
    y = table[:, -1]
    learner = nr.Mondrian()
    forecasts = learner.replay(table[:, :-1], y).forecast
    assert np.square(y - forecasts)[100:].sum() < most
    assert all(c.holds for c in learner.certificates())
