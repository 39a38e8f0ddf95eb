"""K-LMS-NET and kernel LMS under bad input, endless extremes, copies and odd inputs."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.gaussian_process import kernels as sk

import noregret as nr
from noregret.errors import FeatureError, NumericalError, OutcomeError, ParameterError


def arrays(thing) -> dict[str, np.ndarray]:
    """Every learned array of a net, by name."""
    held = thing._state
    names = ("points", "coefs", "facts", "cells", "finer", "book")
    return {name: np.array(getattr(held, name), copy=True) for name in names}


def healthy(net: nr.KLMSNet) -> None:
    weights = net.weights_
    assert np.isfinite(weights).all()
    assert (weights >= 0.0).all()
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)
    for name, value in arrays(net).items():
        assert np.isfinite(value).all(), name
    assert all(c.holds for c in net.certificates())


def test_a_hundred_thousand_identical_points() -> None:
    net = nr.KLMSNet(1.0, scale=10.0)
    X, y = np.full((100_000, 2), 0.25), np.ones(100_000)
    net.replay(X, y)
    healthy(net)
    assert net.patterns_ == 1
    assert net._state.coefs.size == 64 * 256
    assert net.predict_one([0.25, 0.25]) == pytest.approx(1.0, abs=1e-9)
    before = net.predict_one([0.9, 0.1])
    net.replay(X[:1000], -y[:1000])  # and then the opposite
    healthy(net)
    assert net.patterns_ == 1
    assert net.predict_one([0.9, 0.1]) < before


@pytest.mark.parametrize("substitution", [False, True])
def test_outcomes_at_the_ends_for_ever(substitution: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(3000, 1)).round(2)
    for y in (np.ones(3000), np.where(rng.uniform(size=3000) < 0.5, -1.0, 1.0)):
        net = nr.KLMSNet(1.0, scale=1e4, substitution=substitution, learning_rate=0.9)
        net.replay(X, y)
        healthy(net)
        assert net.patterns_ == len(np.unique(X))


def test_one_width_far_behind_the_others() -> None:
    """Losses apart by thousands of nats: weights underflow to 0, and nothing else happens."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(40_000, 3)) * 1.0
    y = np.where(X.sum(axis=1) % 2 == 1, 1.0, -1.0)  # parity: a constant kernel learns nothing
    net = nr.KLMSNet(1.0, scale=50.0)
    net.replay(X, y)
    healthy(net)
    assert net.patterns_ == 8
    assert net.weights_.min() == 0.0
    assert net.certificate().loss < 100.0


def test_widths_make_no_difference() -> None:
    net = nr.KLMSNet(1.0)
    net.replay(np.zeros((500, 1)), np.sin(np.arange(500.0)))
    healthy(net)
    rule = np.exp(net._state.cells[0])
    np.testing.assert_allclose(net.weights_, rule, rtol=1e-12)
    assert net.error_ <= 1e-14  # rounding


@pytest.mark.parametrize("bad", [1.0000001, -5.0, 1e100])
def test_outcomes_outside_are_refused_by_name_of_round(bad: float) -> None:
    X, y = np.linspace(0.0, 1.0, 12)[:, None], np.zeros(12)
    net = nr.KLMSNet(1.0, nodes=8).fit(X, y)
    before = arrays(net)
    with pytest.raises(OutcomeError, match=r"round 13: y = .* is outside outcome_range = \[-1"):
        net.learn_one(X[0], bad)
    y[7] = bad
    with pytest.raises(OutcomeError, match=r"round 20: y\[7\] = .* is outside"):
        net.replay(X, y)
    with pytest.raises(OutcomeError, match=r"round 8: y\[7\]"):
        nr.KLMSNet(1.0).fit(X, y)
    for name, value in arrays(net).items():
        assert_array_equal(value, before[name])


def test_refusals_change_nothing() -> None:
    net = nr.KLMSNet(1.0, nodes=8).fit([[0.0, 1.0], [1.0, 0.0]], [0.5, -0.5])
    before = arrays(net)
    nan = np.array([np.nan, 0.0])
    for x, y in ((nan, 0.0), ([1.0], 0.0), ({"a": 1.0}, 0.0), ([1.0, 2.0], None), ("ab", 0.0)):
        with pytest.raises((FeatureError, OutcomeError)):
            net.learn_one(x, y)
    for X, y in (([[1.0, np.inf]], [0.0]), ([[0.0, 1.0]] * 2, [0.0]), ([[1.0, 1.0]], [[0.0, 1.0]])):
        with pytest.raises((FeatureError, OutcomeError)):
            net.replay(X, y)
    for name, value in arrays(net).items():
        assert_array_equal(value, before[name])


def test_far_and_tiny_inputs() -> None:
    """Squared distances overflow or underflow: kernels are 0 or 1, patterns stay apart."""
    X = np.array([[1e200], [-1e200], [1e-200], [2e-200], [0.0], [-0.0], [1e200]])
    net = nr.KLMSNet(1.0, scale=5.0, nodes=8)
    net.replay(X, np.ones(7))
    healthy(net)
    assert net.patterns_ == 5


def test_hindsight_of_far_inputs() -> None:
    """Squared distances overflow: the kernel is 0 there, but 1 at the width 0."""
    X, y = np.array([[1e200], [-1e200], [0.0]]), np.array([0.5, 1.0, -0.5])
    net = nr.KLMSNet(1.0, scale=5.0, nodes=8, learning_rate=0.5)
    net.replay(X, y)
    assert_allclose(net.hindsight(0.5).coefficients, y / 2.0)  # a = (1 - eta)/eta = 1
    assert_allclose(net.hindsight(0.0).coefficients.sum(), y.sum() / 4.0)
    for width in (0.0, 0.5, 1.0):
        found = net.certificates(comparator=net.hindsight(width))
        assert all(c.holds is not False for c in found)


def test_a_diverging_rate_is_refused_in_time() -> None:
    def large(X, Z):
        return 1e200 * np.ones((len(X), len(Z)))

    learner = nr.KernelLMS(large, 1.0).fit([[0.0]], [1.0])
    before = copy.deepcopy(learner._state)
    with pytest.raises(NumericalError, match="round 2: the outputs do not fit"):
        learner.learn_one([1.0], 1.0)
    assert_array_equal(before.layer.coefs, learner._state.layer.coefs)
    assert learner.n_samples_seen_ == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"outcome_range": None},
        {"outcome_range": (1.0, 0.0)},
        {"outcome_range": "wide"},
        {"scale": 0.0},
        {"scale": np.nan},
        {"learning_rate": 1.0},
        {"learning_rate": -0.5},
        {"learning_rate": 0.5, "loss_budget": 1.0, "norm_budget": 1.0},
        {"loss_budget": 1.0},
        {"norm_budget": 1.0},
        {"nodes": 3},
        {"nodes": 513},
        {"nodes": 8.0},
        {"nodes": True},
        {"tolerance": 0.0},
        {"tolerance": 1e-9},
        {"substitution": 1},
        {"audit": None},
        {"family": "rbf"},
        {"budget": 10},
        {"domain": 1.0},
        {"domain": (1.0, 1.0)},
    ],
    ids="-".join,
)
def test_parameters_that_make_no_sense(wrong: dict) -> None:
    settings = {"outcome_range": 1.0, **wrong}
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        nr.KLMSNet(**settings).learn_one([1.0], 0.0)


def test_expansions_that_make_no_sense() -> None:
    with pytest.raises(ParameterError, match="one coefficient per point"):
        nr.Expansion([[0.0]], [1.0, 2.0])
    with pytest.raises(ParameterError, match=r"width = 1\.5"):
        nr.Expansion([[0.0]], [1.0], 1.5)
    net = nr.KLMSNet(1.0).fit([[0.0]], [1.0])
    with pytest.raises(ParameterError, match="give the expansion a width"):
        net.certificates(comparator=nr.Expansion([[0.0]], [1.0]))
    with pytest.raises(ParameterError, match="points have 2 features"):
        net.certificates(comparator=nr.Expansion([[0.0, 1.0]], [1.0], 0.5))


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    split=st.integers(1, 59),
    window=st.sampled_from([None, 5, 300]),
    family=st.booleans(),
)
def test_rounds_one_by_one_in_parts_and_after_copies(seed, split, window, family) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.uniform(size=(60, 2)).round(1), rng.uniform(-1.0, 1.0, 60)
    budget = None if window is None else nr.Window(window)
    net = nr.KLMSNet(1.0, nodes=6, scale=4.0, budget=budget, family=wide if family else None)
    whole, parts, single = clone(net), clone(net), clone(net)
    expected = whole.replay(X, y)
    first = parts.replay(X[:split], y[:split])
    parts = pickle.loads(pickle.dumps(parts))
    second = parts.replay(X[split:], y[split:])
    close = 1e-13 if family else 0.0  # kernel values come in other chunks
    for a, b in zip([*first.forecast, *second.forecast], expected.forecast):
        assert abs(a - b) <= close
    for x, outcome, forecast in zip(X, y, expected.forecast):
        assert abs(single.predict_one(x) - forecast) <= close
        single.learn_one(list(x), outcome)
        single = copy.deepcopy(single)
    np.testing.assert_allclose(single.losses_, whole.losses_, rtol=1e-12)
    np.testing.assert_allclose(single.predict(X[:3]), whole.predict(X[:3]), rtol=0, atol=1e-13)


def wide(alpha, X, Z):
    return np.exp(-alpha * np.abs(X[:, None] - Z[None]).sum(-1))


def test_frames_and_names() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(30, 2)), rng.uniform(-1.0, 1.0, 30)
    frame = pd.DataFrame(X, columns=["a", "b"])
    plain, named = nr.KLMSNet(1.0), nr.KLMSNet(1.0)
    other = named.replay(frame[["b", "a"]], y)  # distances add up in another order
    np.testing.assert_allclose(plain.replay(X, y).forecast, other.forecast, rtol=0, atol=1e-13)
    named = nr.KLMSNet(1.0)
    named.replay(frame, y)
    assert plain.predict_one(X[0]) == named.predict_one({"b": X[0, 1], "a": X[0, 0]})
    with pytest.raises(FeatureError, match="new features"):
        named.learn_one({"a": 1.0, "c": 2.0}, 0.0)
    assert list(named.replay(frame, y).to_frame().columns) == ["forecast", "loss"]


def narrow(alpha, X, Z):
    return wide(9.0 * alpha, X, Z)


@pytest.mark.parametrize("kind", ["lms", "net"])
def test_a_state_keeps_the_kernel_it_was_learned_with(kind: str) -> None:
    """Parameters set anew wait for the next fit, also in copies, pickles and files."""
    X, y = [[0.0], [0.4], [1.0]], [0.0, 0.5, 1.0]
    other: dict[str, Any]
    if kind == "lms":
        learner, other = nr.KernelLMS(sk.RBF(1.0), 0.1).fit(X, y), {"kernel": sk.RBF(0.1)}
    else:
        learner, other = nr.KLMSNet(1.0, nodes=8, family=wide).fit(X, y), {"family": narrow}
    before = learner.predict(X)
    proved = learner.certificate()
    learner.set_params(**other)
    functions = {} if kind == "lms" else {"wide": wide, "narrow": narrow}
    copies = [copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))]
    copies.append(nr.from_bytes(learner.to_bytes(), **functions))
    with pytest.raises(FeatureError):
        learner.fit([[np.nan]], [0.0])
    for one in (learner, *copies):
        np.testing.assert_array_equal(one.predict(X), before)
        assert one.certificate() == proved
        one.partial_fit([[0.2]], [0.3])
        np.testing.assert_array_equal(one.predict(X), learner.predict(X))
    anew = learner.fit(X, y).predict(X)
    assert np.abs(anew - before).max() > 1e-3


def test_budgets_that_make_no_rate_are_refused() -> None:
    budgets = {"loss_budget": 1e300, "norm_budget": 1e-300}
    for learner in (nr.KLMSNet(1.0, **budgets), nr.KernelLMS("rbf", **budgets)):
        with pytest.raises(ParameterError, match="does not fit"):
            learner.learn_one([1.0], 0.5)


def test_a_window_of_any_size() -> None:
    for learner in (
        nr.KLMSNet(1.0, nodes=4, budget=nr.Window(10**400)),
        nr.KernelLMS("rbf", 0.1, budget=nr.Window(10**400)),
    ):
        learner.fit([[0.0], [1.0]], [0.0, 1.0])
        assert nr.from_bytes(learner.to_bytes()).patterns_ == 2


def test_zeros_of_either_sign_are_one_pattern() -> None:
    """A look with one sign and a round with the other leave the same state."""
    looked, learned = nr.KLMSNet(1.0, nodes=8), nr.KLMSNet(1.0, nodes=8)
    for x in ([0.0, 1.0], [-0.0, 1.0]):
        looked.predict_one(np.array([0.0, 1.0]))
        looked.learn_one(np.array(x), 0.5)
        learned.learn_one(np.array(x), 0.5)
    assert looked.patterns_ == 1
    assert looked.to_bytes() == learned.to_bytes()
