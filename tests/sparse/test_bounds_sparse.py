"""OSLOG round by round against the formula, the lasso's conditions, and what its reports say."""

from __future__ import annotations

import math

import numpy as np
import pytest

import noregret as nr
from noregret.errors import InputError, NumericalError
from noregret.reference import oslog as twin

RNG = np.random.default_rng(7)
X = np.round(RNG.normal(size=(14, 4)), 2) * [1.0, 1.0, 0.3, 2.0]
X[:, 2] *= 1e-6  # a weight that hardly counts
Y = X @ [1.0, 0.0, 0.0, -0.5] + 0.2 * RNG.normal(size=14)
Y[6] = -3.0  # the largest outcome is negative


@pytest.mark.parametrize("floor", [0.0, 0.01])
@pytest.mark.parametrize("passes", [1, 3])
def test_passes_are_the_formula(floor: float, passes: int) -> None:
    a = 0.4
    learner = nr.OSLOG(a, passes=passes, floor=floor)
    gram, moment, w, loss = np.zeros((4, 4)), np.zeros(4), np.ones(4), 0.0
    for x, y in zip(X, Y, strict=True):
        forecast = learner.predict_one(x)
        assert forecast == pytest.approx(float(w @ x), rel=1e-8, abs=1e-12)
        loss += (y - forecast) ** 2
        learner.learn_one(x, float(y))
        gram, moment = gram + np.outer(x, x), moment + y * x
        for _ in range(passes):
            w = twin.one_pass(gram, moment, w, a, floor)
        assert learner.coef_ == pytest.approx(w, rel=1e-8, abs=1e-14)
        w = learner.coef_.copy()
    meter = next(c for c in learner.certificates() if c.name == "regret meter")
    best = np.linalg.solve(gram + a * np.eye(4), moment)
    least = float(((Y - X @ best) ** 2).sum() + a * best @ best)
    assert meter.loss == pytest.approx(loss, rel=1e-9)
    assert meter.comparator == pytest.approx(least, rel=1e-9)


def test_endless_passes_are_the_lasso() -> None:
    """b - Mw is a sign(w_i) where w_i counts and at most a elsewhere, after every round."""
    a = 1.5
    learner = nr.OSLOG(a, passes=math.inf)
    gram, moment = np.zeros((4, 4)), np.zeros(4)
    for x, y in zip(X, Y, strict=True):
        learner.learn_one(x, float(y))
        gram, moment = gram + np.outer(x, x), moment + y * x
        w = learner.coef_
        pull = (moment - gram @ w) / a
        counts = np.abs(w) * np.diag(gram) > 1e-6 * a
        assert np.abs(pull[counts] - np.sign(w[counts])).max(initial=0.0) <= 1e-8
        assert np.abs(pull[~counts]).max(initial=0.0) <= 1.0 + 1e-6
    assert (np.abs(learner.coef_) > 1e-6).sum() < 4


def test_a_weight_that_died_comes_back_when_the_lasso_asks_for_it() -> None:
    a, rng = 1.0, np.random.default_rng(2)
    learner = nr.OSLOG(a, passes=math.inf)
    gram, moment = np.zeros((2, 2)), np.zeros(2)
    for t in range(40):
        x = rng.normal(size=2)
        y = 2.0 * x[0] if t < 20 else 0.3 * x[1]
        learner.learn_one(x, float(y))
        gram, moment = gram + np.outer(x, x), moment + y * x
        pull = (moment - gram @ learner.coef_) / a
        counts = np.abs(learner.coef_) * np.diag(gram) > 1e-6 * a
        assert np.abs(pull[~counts]).max(initial=0.0) <= 1.0 + 1e-6, t
        assert np.abs(pull[counts] - np.sign(learner.coef_[counts])).max(initial=0.0) <= 1e-8
    assert abs(learner.coef_[1]) > 0.01


def test_what_is_refused_changes_nothing() -> None:
    learner, other = nr.OSLOG(0.4), nr.OSLOG(0.4)
    for each in (learner, other):
        each.fit(X, Y)
    before = learner.to_bytes()
    for x, y in (
        ([1.0, math.nan, 1.0, 1.0], 1.0),
        ([1.0, 1e141, 1.0, 1.0], 1.0),
        ([1.0, 1.0, 1.0, 1.0], 1e141),
        ([1.0, 1.0, 1.0, 1.0], math.nan),
    ):
        with pytest.raises((InputError, NumericalError)):
            learner.learn_one(np.array(x), y)
        assert learner.to_bytes() == before
    with pytest.raises(InputError):
        learner.predict_one(np.array([1.0, math.nan, 1.0, 1.0]))


def test_a_loss_that_overflows_is_refused() -> None:
    """w of 1e138 at x = 1e20: the forecast fits, its square does not."""
    learner = nr.OSLOG(1e-6)
    learner.learn_one(np.array([1.0]), 1e138)
    learner.learn_one(np.array([1.0]), 1e138)
    before = learner.to_bytes()
    assert math.isfinite(learner.predict_one(np.array([1e20])))
    with pytest.raises((InputError, NumericalError)):
        learner.learn_one(np.array([1e20]), 1.0)
    assert learner.to_bytes() == before


def test_the_published_bound() -> None:
    """One round at x = 1, y = -1, a = 1 has loss 4 and bound 3.51; largest |y| has no sign."""
    learner = nr.OSLOG(1.0)
    learner.learn_one(np.array([1.0]), -1.0)
    report = next(c for c in learner.certificates() if "Theorem 2" in c.name)
    assert report.loss == 4.0
    price = 2 * math.log(16 / math.sqrt(math.pi)) + math.log(2.0 / 8.0)
    assert report.bound == pytest.approx(report.comparator + price, rel=1e-12)
    assert report.comparator == pytest.approx(0.5, rel=1e-12)
    assert "Y = 1," in report.assumptions[0].text
    assert "it FAILED" in report.statement
    again = nr.OSLOG(1.0, passes=2)
    again.learn_one(np.array([1.0]), -1.0)
    report = next(c for c in again.certificates() if "Theorem 2" in c.name)
    assert report.bound is None
    assert any("one pass" in a.text and not a.met for a in report.assumptions)


def test_the_loss_is_compensated() -> None:
    y = np.array([10.0] * 100 + [1e10] + [10.0] * 1000)
    learner = nr.OSLOG(1.0)
    learner.fit(np.zeros((len(y), 1)), y)
    meter = next(c for c in learner.certificates() if c.name == "regret meter")
    exactly = math.fsum((y * y).tolist())
    assert meter.loss == exactly
    assert meter.comparator == exactly
