"""Merging is exact for fixed experts: two learners become the one that saw both streams."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import noregret as nr
from noregret.errors import MergeError
from noregret.reference import exact
from noregret.testing import HARD_STREAMS
from strategies import Rows, precisions, rows

LEARNERS = [nr.Ridge, nr.BayesianRidge, nr.AAR]


@settings(max_examples=150, deadline=None)
@given(
    rows(max_rounds=24, max_outcomes=2),
    precisions,
    st.sampled_from(LEARNERS),
    st.booleans(),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_merged_learner_equals_one_that_saw_all(data, a, kind, intercept, first, second) -> None:
    T = len(data.X)
    cuts = sorted({round(first * T), round(second * T)})
    parts = [p for p in np.split(np.arange(T), cuts) if len(p)]
    whole = kind(a, fit_intercept=intercept).fit(data.X, data.Y)
    merged = kind(a, fit_intercept=intercept)
    for part in parts:
        merged.merge(kind(a, fit_intercept=intercept).fit(data.X[part], data.Y[part]))
    forecast = whole.predict(data.X)
    scale = max(np.abs(data.Y).max(), np.abs(forecast).max())
    assert_allclose(merged.predict(data.X), forecast, rtol=1e-9, atol=1e-9 * scale)
    assert merged.n_samples_seen_ == T
    one, all_ = whole.certificates(), merged.certificates()
    size = float((data.Y**2).sum())
    for c, d in zip(one, all_, strict=True):
        assert d.holds is True, str(d)
        assert d.comparator == pytest.approx(c.comparator, rel=1e-9, abs=1e-9 * size)
        if len(parts) > 1:
            assert d.kind == c.kind
            assert any("merged" in a.text for a in d.assumptions)
    # The log-determinant of the triangle itself does not depend on the order either.
    log_det = [learner._state.core.log_determinant() for learner in (whole, merged)]
    assert log_det[0] == pytest.approx(log_det[1], rel=1e-9, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(rows(max_rounds=20), rows(max_rounds=10), precisions)
def test_certificates_hold_for_rounds_after_a_merge(before: Rows, after: Rows, a: float) -> None:
    n = min(before.X.shape[1], after.X.shape[1])
    half = len(before.X) // 2
    Y = max(np.abs(before.Y).max(), np.abs(after.Y).max(), 1e-3)
    for make in (
        lambda: nr.Ridge(a),
        lambda: nr.Ridge(a, clip=Y),
        lambda: nr.BayesianRidge(a, noise_var=0.5),
        lambda: nr.AAR(a),
    ):
        learner = make()
        for part in (slice(half), slice(half, None)):
            if len(before.X[part]):
                learner.merge(make().fit(before.X[part, :n], before.y[part]))
        learner.replay(after.X[:, :n], after.y)
        for certificate in learner.certificates():
            assert certificate.holds is True, str(certificate)


@pytest.mark.parametrize("name", ["collinear", "scaled", "tiny prior", "identical columns"])
def test_merging_keeps_its_digits_on_hard_streams(name: str) -> None:
    """Sixteen workers, against rational arithmetic: taking priors out costs no digits."""
    stream = HARD_STREAMS[name](0)
    X, y, a = stream.X, stream.y, stream.prior_precision
    merged = nr.Ridge(a)
    for part in np.array_split(np.arange(len(X)), 6):
        merged.merge(nr.Ridge(a).fit(X[part], y[part]))
    probe = [*X.tolist(), X[0].tolist()]
    means, _ = exact.looks(probe, [*y.tolist(), 0.0], a)
    forecast = merged.predict_one(X[0])
    scale = float(np.abs(y).max())
    assert abs(forecast - float(means[-1])) <= 10 * stream.tolerance * scale
    best = float(exact.best_loss(X.tolist(), y.tolist(), a))
    assert merged.certificate().comparator == pytest.approx(best, rel=1e-9)
    det = exact.determinant(X.tolist(), a)
    log_det = math.log(det.numerator) - math.log(det.denominator)
    assert merged._state.core.log_determinant() == pytest.approx(log_det, rel=1e-9)


def test_names_are_matched_and_new_ones_enter() -> None:
    rounds = [({"a": 1.0, "b": 2.0}, 1.0), ({"b": 1.0}, 0.5), ({"c": 3.0, "a": -1.0}, 2.0)]
    whole, left, right = nr.AAR(0.3), nr.AAR(0.3), nr.AAR(0.3)
    for x, y in rounds:
        whole.learn_one(x, y)
    left.learn_one(*rounds[2])
    for x, y in rounds[:2]:
        right.learn_one(x, y)
    left.merge(right)
    probe = {"a": 0.3, "b": -0.7, "c": 0.2}
    assert left.predict_one(probe) == pytest.approx(whole.predict_one(probe), rel=1e-12)
    assert set(left.feature_names_in_) == {"a", "b", "c"}
    assert right.n_features_in_ == 2  # untouched
    empty = nr.AAR(0.3)
    assert empty.merge(left).predict_one(probe) == left.predict_one(probe)
    left.learn_one(probe, 1.0)
    assert empty.n_samples_seen_ == 3  # a copy, not a view
    assert left.merge(nr.AAR(0.3)).n_samples_seen_ == 4


def test_what_cannot_merge_says_why() -> None:
    X, y = np.eye(2), np.ones(2)

    def refused(one, other, words: str) -> None:
        before = one.coef_.copy()
        with pytest.raises(MergeError, match=words):
            one.merge(other)
        assert_allclose(one.coef_, before, rtol=0)

    fitted = nr.AAR(1.0).fit(X, y)
    refused(fitted, nr.Ridge().fit(X, y), "cannot merge Ridge into AAR")
    refused(fitted, nr.AAR(2.0).fit(X, y), "parameters differ")
    refused(fitted, nr.AAR().fit(np.eye(3), np.ones(3)), "2 features by position, the other 3")
    refused(fitted, nr.AAR().fit(X, np.ones((2, 2))), "different numbers of outcomes")
    named = nr.AAR()
    named.learn_one({"a": 1.0}, 1.0)
    refused(fitted, named, "by name")
    refused(nr.AAR(drift=0.1).fit(X, y), nr.AAR(drift=0.1).fit(X, y), "drift cannot be merged")


def test_merging_a_learner_with_itself_counts_everything_twice() -> None:
    X, y = np.eye(2), np.array([1.0, 2.0])
    learner = nr.Ridge(1.0).fit(X, y)
    learner.merge(learner)
    twice = nr.Ridge(1.0).fit(np.vstack([X, X]), np.concatenate([y, y]))
    assert_allclose(learner.coef_, twice.coef_, rtol=1e-14)
