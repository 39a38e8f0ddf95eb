"""K-LMS-NET equals its formula: the finite mixture exactly, the integral within the tolerance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import noregret as nr
from klms_streams import STREAMS, Stream
from noregret.lms.nodes import grid, weights_for
from noregret.reference import continuum as twin

ROUNDING = 1e-13  # errors below are rounding's, and estimates of them mean nothing


def net_for(s: Stream, **more) -> nr.KLMSNet:
    return nr.KLMSNet(s.span, scale=s.scale, learning_rate=s.eta, **more)


@pytest.mark.parametrize("substitution", [False, True])
@pytest.mark.parametrize("s", STREAMS, ids=str)
def test_the_finite_mixture_is_its_formula(s: Stream, substitution: bool) -> None:
    learner = net_for(s, nodes=21, substitution=substitution)
    forecasts = learner.replay(s.X, s.y).forecast
    rule = grid(21)
    p = twin.layer_one(s.X, s.y, s.eta, s.scale, rule.alphas)
    expected = twin.merged(p, s.y, rule.weights, s.span, substitution=substitution)
    assert_allclose(forecasts, expected, rtol=0.0, atol=1e-12)
    paid = ((s.y[:, None] - np.clip(p, *s.span)) ** 2).sum(axis=0)
    assert_allclose(learner.losses_, paid, rtol=1e-12)
    posterior = np.log(rule.weights) - paid / learner._state.book[1, 0]
    posterior = np.exp(posterior - posterior.max())
    assert_allclose(learner.weights_, posterior / posterior.sum(), rtol=1e-10, atol=1e-300)


@pytest.mark.parametrize("s", STREAMS, ids=str)
def test_the_integral_within_the_tolerance_and_the_estimate_within_a_factor_of_5(s: Stream) -> None:
    truth = twin.net(s.X, s.y, s.eta, s.scale, s.span)
    for wanted in ({"nodes": 32}, {"nodes": 64}, {"tolerance": 1e-3}):
        learner = net_for(s, **wanted)
        error = np.abs(learner.replay(s.X, s.y).forecast - truth).max()
        assert error <= wanted.get("tolerance", np.inf)
        if max(error, learner.error_) > ROUNDING:
            assert error / 5.0 <= learner.error_ <= 5.0 * error


@pytest.mark.slow
@pytest.mark.parametrize("s", STREAMS, ids=str)
def test_the_integral_within_a_smaller_tolerance(s: Stream) -> None:
    truth = twin.net(s.X, s.y, s.eta, s.scale, s.span)
    learner = net_for(s, tolerance=1e-4)
    assert np.abs(learner.replay(s.X, s.y).forecast - truth).max() <= 1e-4
    assert learner.error_ <= 1e-4


def test_substitution_against_the_integral() -> None:
    s = STREAMS[10]
    truth = twin.net(s.X, s.y, s.eta, s.scale, s.span, substitution=True)
    forecasts = net_for(s, substitution=True).replay(s.X, s.y).forecast
    assert_allclose(forecasts, truth, rtol=0.0, atol=1e-6)


@settings(max_examples=20, deadline=None)
@given(nodes=st.integers(4, 100))
def test_rules_are_positive_exact_and_nested(nodes: int) -> None:
    rule = grid(nodes)
    parts = (rule.finer.size - 1) // (nodes - 1)
    assert_allclose(rule.finer[::parts], rule.alphas, rtol=0.0, atol=1e-15)
    assert rule.alphas[0] == 0.0
    assert rule.alphas[-1] == 1.0
    for alphas, weights in ((rule.alphas, rule.weights), (rule.finer, rule.audit)):
        assert (weights > 0.0).all()
        assert weights.sum() == pytest.approx(1.0, abs=1e-13)
        for degree in range(1 + nodes // 2):  # at the least; 64 nodes have degree 47
            x = np.polynomial.legendre.Legendre.basis(degree, domain=[0.0, 1.0])
            assert weights @ x(alphas) == pytest.approx(float(degree == 0), abs=1e-12)
            assert_allclose(rule.lift[0] @ x(rule.alphas), x(rule.finer), rtol=0.0, atol=1e-10)

    cube = rule.alphas**3
    assert_allclose(rule.lift[1] @ cube, rule.finer**3, rtol=0.0, atol=1e-12)


def test_weights_on_nodes_of_any_kind() -> None:
    """Simpson's rule, and the trapezoidal one where there is nothing better."""
    found, degree = weights_for(np.array([0.0, 0.5, 1.0]), 2)
    assert_allclose(found, [1 / 6, 4 / 6, 1 / 6], rtol=1e-12)
    assert degree == 2
    assert_allclose(weights_for(np.array([0.0, 1.0]), 1)[0], [0.5, 0.5])


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    n=st.integers(1, 5),
    scale=st.floats(1e-3, 1e4),
    eta=st.floats(0.01, 0.99),
    nodes=st.integers(4, 40),
    substitution=st.booleans(),
    grid_points=st.integers(1, 4),
)
def test_streams_that_repeat_patterns(
    seed, n, scale, eta, nodes, substitution, grid_points
) -> None:
    """One coefficient a distinct pattern, and forecasts as if each had its own."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-grid_points, grid_points + 1, size=(60, n)) / 2.0
    X[X == 0.0] = rng.choice([0.0, -0.0], size=int((X == 0.0).sum()))
    y = rng.uniform(-2.0, 5.0, size=60)
    learner = nr.KLMSNet(
        (-2.0, 5.0), scale=scale, learning_rate=eta, nodes=nodes, substitution=substitution
    )
    forecasts = learner.replay(X, y).forecast
    rule = grid(nodes)
    p = twin.layer_one(X, y, eta, scale, rule.alphas)
    expected = twin.merged(p, y, rule.weights, (-2.0, 5.0), substitution=substitution)
    assert_allclose(forecasts, expected, rtol=0.0, atol=1e-11)
    assert learner.patterns_ == len({tuple(x) for x in (X + 0.0).tolist()})


def test_powers_keep_their_accuracy() -> None:
    """Layer one against one exponential a node and pattern, with 512 nodes."""
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(400, 3)), rng.uniform(-1.0, 1.0, size=400)
    learner = nr.KLMSNet(1.0, scale=40.0, nodes=512, audit=False).fit(X, y)
    held = learner._state
    x = rng.uniform(size=3)
    learner.predict_one(x)
    tiles = held.coefs.transpose(0, 2, 1).reshape(-1, 512)[:400]
    k = np.exp(-40.0 * ((X - x) ** 2).sum(axis=1)[:, None] * held.alphas)
    size = (np.abs(tiles) * k).sum(axis=0)
    assert np.abs(held.said[0] - (tiles * k).sum(axis=0)).max() <= 2e-14 * size.max()


def gaussians(alpha, X, Z):
    return np.exp(-7.0 * alpha * ((X[:, None] - Z[None]) ** 2).sum(-1))


@pytest.mark.parametrize("substitution", [False, True])
def test_a_family_of_gaussians_is_the_net(substitution: bool) -> None:
    s = STREAMS[5]
    common = {"learning_rate": 0.3, "nodes": 16, "substitution": substitution}
    plain = nr.KLMSNet(s.span, scale=7.0, **common)
    family = nr.KLMSNet(s.span, family=gaussians, **common)
    a, b = plain.replay(s.X, s.y), family.replay(s.X, s.y)
    assert_allclose(a.forecast, b.forecast, rtol=0.0, atol=1e-12)
    assert_allclose(plain.losses_, family.losses_, rtol=1e-11)
    assert family.error_ == pytest.approx(plain.error_, rel=1e-6, abs=1e-13)
    h = plain.hindsight(0.3)
    for one, other in zip(plain.certificates(comparator=h), family.certificates(comparator=h)):
        assert one.bound == pytest.approx(other.bound, rel=1e-9, abs=1e-12)


def words(alpha, X, Z):
    """Two kernels on texts, convexly combined: common words and common letters."""
    same = [[len(set(x.split()) & set(z.split())) / 4.0 for z in Z] for x in X]
    near = [[len(set(x) & set(z)) / 26.0 for z in Z] for x in X]
    return (1.0 - alpha) * np.array(same) + alpha * np.array(near)


def test_strings() -> None:
    net = nr.KLMSNet((1.0, 5.0), family=words, nodes=8, learning_rate=0.7)
    texts = ["a good film", "a bad film", "good fun", "no fun", "a good film"] * 6
    stars = [4.0, 1.0, 5.0, 2.0, 4.0] * 6
    for text, star in zip(texts, stars):
        net.predict_one(text)
        net.learn_one(text, star)
    other = nr.KLMSNet((1.0, 5.0), family=words, nodes=8, learning_rate=0.7)
    other.replay(texts, stars)
    assert net.patterns_ == other.patterns_ == 4
    assert_allclose(net.losses_, other.losses_, rtol=1e-12)
    assert net.predict_one("good film") > net.predict_one("bad film")
    assert all(c.holds for c in net.certificates())


def test_kernel_lms_is_its_formula() -> None:
    s = STREAMS[8]
    K = gaussians(0.5, s.X, s.X)

    def kernel(X, Z):
        return gaussians(0.5, X, Z)

    learner = nr.KernelLMS(kernel, 0.6)
    expected = twin.kernel_lms(K, s.y, 0.6)
    assert_allclose(learner.replay(s.X, s.y).forecast, expected, rtol=0.0, atol=1e-13)
    h = learner.expansion()
    values = gaussians(0.5, s.X[:5], np.asarray(h.points)) @ h.coefficients
    assert_allclose(learner.predict(s.X[:5]), values, atol=1e-13)
