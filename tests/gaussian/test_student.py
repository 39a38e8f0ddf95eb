"""Noise of unknown variance: Student's distributions and their exact log loss."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import noregret as nr
from noregret.reference.student import log_losses
from strategies import precisions, rows


@settings(deadline=None)
@given(stream=rows(), a=precisions)
def test_losses_equal_the_dense_twin(stream, a) -> None:
    learner = nr.BayesianRidge(a, noise_var=None)
    said = learner.replay(stream.X, stream.y)
    assert learner.certificate().holds
    if stream.shape in ("random", "drifting", "zeros") and a >= 1e-3:
        assert said.loss == pytest.approx(log_losses(stream.X, stream.y, a), rel=1e-7, abs=1e-7)


@settings(deadline=None)
@given(stream=rows(max_outcomes=3), a=precisions, drift=st.sampled_from([0.0, 0.05]))
def test_the_identity_holds(stream, a, drift) -> None:
    learner = nr.BayesianRidge(a, noise_var=None, drift=drift)
    for x, y in zip(stream.X, stream.Y, strict=True):
        learner.learn_one(x, y)
    certificate = learner.certificate()
    assert certificate.name.startswith("Student identity")
    assert certificate.kind == "equality"
    assert certificate.holds


def test_log_loss_is_that_of_the_forecasts() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = X @ [1.0, -2.0, 0.5] + 0.1 * rng.normal(size=80)
    learner, paid = nr.BayesianRidge(0.1, noise_var=None), []
    for x, v in zip(X, y):
        paid.append(-learner.predictive(x).log_density(v))
        learner.learn_one(x, v)
    assert paid[0] == math.inf
    assert learner.log_loss_ == pytest.approx(sum(paid[1:]), rel=1e-12)
    assert nr.BayesianRidge(0.1, noise_var=None).replay(X, y).loss[1:] == pytest.approx(paid[1:])


@pytest.mark.parametrize("factor", [1000.0, 2.0**-50])
def test_any_unit_of_y(factor: float) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(50, 2)), rng.normal(size=50)
    one, two = (nr.BayesianRidge(noise_var=None).fit(X, c * y) for c in (1.0, factor))
    assert two.log_loss_ == pytest.approx(one.log_loss_ + 49 * math.log(factor), rel=1e-12)
    assert two.predictive(X[0]).scale == pytest.approx(factor * one.predictive(X[0]).scale)


def test_exact_rounds_at_first_set_no_unit() -> None:
    learner, x = nr.BayesianRidge(noise_var=None), np.ones(1)
    for y in (0.0, 0.0, 2.0):
        assert learner.predictive(x).scale == math.inf
        assert learner.predictive(x).quantile(0.9) == math.inf
        learner.learn_one(x, y)
    assert learner.predictive(x).degrees == 1.0
    assert learner.log_loss_ == 0.0
    learner.learn_one(x, 1.0)
    assert learner.certificate().holds
    assert learner.log_loss_ > 0.0


def test_the_noise_is_found() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(4000, 2))
    y = X @ [1.0, 2.0] + 0.3 * rng.normal(size=4000)
    learner = nr.BayesianRidge(noise_var=None).fit(X, y)
    assert learner.predictive(X[0]).std == pytest.approx(0.3, rel=0.05)
    std = learner.predict(X[:5], return_std=True)[1]
    assert std == pytest.approx([learner.predictive(x).std for x in X[:5]])


def test_merged_learners_know_all_rounds() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    whole = nr.BayesianRidge(noise_var=None).fit(X, y)
    parts = [nr.BayesianRidge(noise_var=None).fit(X[k::2], y[k::2]) for k in (0, 1)]
    merged = nr.merge(parts)
    assert merged.predictive(X[0]).scale == pytest.approx(whole.predictive(X[0]).scale)
    assert all(c.holds is not False for c in merged.certificates())
    assert "Student identity" not in {c.name for c in merged.certificates()}


@pytest.mark.parametrize("degrees", [1.0, 2.0, 5.0, 40.0, 1e4])
def test_student_is_scipy_s(degrees: float) -> None:
    ours, theirs = nr.Student(0.5, 2.0, degrees), stats.t(degrees, 0.5, 2.0)
    for level in (1e-6, 0.025, 0.3, 0.5, 0.9, 0.999):
        assert ours.quantile(level) == pytest.approx(theirs.ppf(level), rel=1e-9, abs=1e-9)
    for y in (-7.0, 0.5, 1.0, 30.0):
        assert ours.cdf(y) == pytest.approx(theirs.cdf(y), rel=1e-10)
        assert ours.log_density(y) == pytest.approx(theirs.logpdf(y), rel=1e-10)
