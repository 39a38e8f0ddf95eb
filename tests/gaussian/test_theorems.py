"""A theorem is a test: every certificate on every kind of stream, at non-default parameters."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import ParameterError
from noregret.reference import exact, linear
from strategies import Rows, drift_schedules, drifts, precisions, rows


def learners(a: float, drift, Y: float) -> list:
    return [
        nr.Ridge(a, drift=drift),
        nr.Ridge(a, drift=drift, clip=Y, fit_intercept=True),
        nr.BayesianRidge(a, noise_var=0.3, drift=drift),
        nr.BayesianRidge(a, noise_var=7.0, drift=drift, fit_intercept=True),
        nr.AAR(a, drift=drift),
        nr.AAR(a, drift=drift, fit_intercept=True),
    ]


def check_all(learner, data: Rows, Y: np.ndarray) -> None:
    for x, y in zip(data.X, Y, strict=True):
        learner.predict_one(x)
        learner.learn_one(x, float(y) if Y.ndim == 1 else y)
        for certificate in learner.certificates():
            assert certificate.holds is True, str(certificate)
    final = learner.certificates()
    assert len({c.name for c in final}) == len(final)
    for certificate in final:
        assert certificate.rounds == len(data.X)
        assert json.loads(certificate.to_json())["holds"] is True


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(rows(), precisions)
def test_every_certificate_holds_in_every_round_fixed(data: Rows, a: float) -> None:
    Y = max(float(np.abs(data.Y).max()), 1e-3)
    for learner in learners(a, 0.0, Y):
        check_all(learner, data, data.y)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(rows(), precisions, drifts)
def test_every_certificate_holds_in_every_round_drifting(data: Rows, a: float, q: float) -> None:
    Y = max(float(np.abs(data.Y).max()), 1e-3)
    for learner in learners(a, q, Y):
        check_all(learner, data, data.y)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(rows(max_outcomes=3), precisions, st.sampled_from([0.0, 0.05]))
def test_every_certificate_holds_with_several_outcomes(data: Rows, a: float, q: float) -> None:
    Y = max(float(np.abs(data.Y).max()), 1e-3)
    for learner in learners(a, q, Y):
        check_all(learner, data, data.Y)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(rows(), precisions)
def test_comparator_is_the_batch_solution(data: Rows, a: float) -> None:
    """min_w |y - Xw|^2 + a|w|^2 and ln det(I + X'X/a), in rational arithmetic."""
    best = float(exact.best_loss(data.X.tolist(), data.y.tolist(), a))
    log_det = math.log(exact.determinant(data.X.tolist(), a))
    for learner in (nr.Ridge(a), nr.AAR(a)):
        certificate = learner.fit(data.X, data.y).certificate()
        # A perfect fit leaves rounding errors of the outcomes, squared.
        floor = 1e-9 * max(best, float((data.Y**2).sum()) * 1e-9)
        assert certificate.comparator == pytest.approx(best, rel=1e-9, abs=floor)
    bound = nr.AAR(a).fit(data.X, data.y).certificate().bound
    Y2 = float(np.abs(data.y).max()) ** 2
    assert bound == pytest.approx(best + Y2 * log_det, rel=1e-9, abs=1e-9 * (best + Y2))


@settings(max_examples=100, deadline=None)
@given(rows(), precisions, st.sampled_from([0.05, 1.0, 12.0]))
def test_bayesian_log_loss_is_the_density_of_the_forecasts(
    data: Rows, a: float, noise: float
) -> None:
    """Log loss added up from `predictive`, against min + ln det/2 (Zhdanov-Vovk Theorem 2)."""
    learner = nr.BayesianRidge(a, noise_var=noise)
    paid = 0.0
    for x, y in zip(data.X, data.y, strict=True):
        paid -= learner.predictive(x).log_density(y)
        learner.learn_one(x, float(y))
    best = float(exact.best_loss(data.X.tolist(), data.y.tolist(), a))
    log_det = math.log(exact.determinant(data.X.tolist(), a))
    T = len(data.X)
    right = 0.5 * T * math.log(2 * math.pi * noise) + best / (2 * noise) + 0.5 * log_det
    size = 0.5 * T * abs(math.log(2 * math.pi * noise)) + best / (2 * noise) + 0.5 * log_det
    assert paid == pytest.approx(right, rel=1e-9, abs=1e-9 * size)
    certificate = learner.certificate()
    assert certificate.kind == "equality"
    assert certificate.loss == pytest.approx(paid, rel=1e-9, abs=1e-9 * size)
    assert certificate.bound == pytest.approx(right, rel=1e-9, abs=1e-9 * size)


@settings(max_examples=60, deadline=None)
@given(st.data(), rows(max_rounds=8, max_features=3))
def test_changing_experts_comparator_and_determinant(data_, data: Rows) -> None:
    X = data.X / max(np.abs(data.X).max(), 1.0)
    a_t = data_.draw(drift_schedules(len(X) + 1)).clip(1e-2, 1e4)
    learner = nr.AAR(a_t[0], drift=lambda t: 1.0 / a_t[t - 1]).fit(X, data.y)
    K = linear.changing_kernel(X, a_t[:-1])
    log_det = np.linalg.slogdet(np.eye(len(X)) + K)[1]
    certificate = learner.certificate()
    assert certificate.name == "Busuttil-Kalnishkan Theorem 3"
    Y2 = float(np.abs(data.y).max()) ** 2
    assert certificate.bound - certificate.comparator == pytest.approx(
        Y2 * log_det, rel=1e-9, abs=1e-9 * (Y2 + certificate.comparator)
    )


@pytest.mark.slow
@settings(max_examples=500)
@given(m=st.floats(-1e3, 1e3), log_d=st.floats(0, 30), y=st.floats(-1, 1), s2=st.floats(1e-3, 1e3))
def test_price_of_one_round(m: float, log_d: float, y: float, s2: float) -> None:
    """The four lines at the top of rules.py, on scalars: no matrix, no luck."""
    d = math.exp(log_d)
    fit, leverage, e = (y - m) ** 2 / d, 1.0 - 1.0 / d, y - m
    size = 1e-12 * (1.0 + e * e + m * m)
    assert e * e == pytest.approx(fit + e * e * leverage, abs=size)
    clipped = (y - min(max(m, -1.0), 1.0)) ** 2
    assert clipped <= fit + 4.0 * leverage + size
    g = m / d
    aar = (y - g) ** 2
    assert aar == pytest.approx(fit + y * y * leverage - (d - 1.0) * g * g, abs=size)
    assert aar <= fit + leverage + size
    assert leverage <= log_d + 1e-15
    log_loss = -nr.Normal(mean=m, var=s2 * d).log_density(y)
    assert log_loss == pytest.approx(
        fit / (2 * s2) + 0.5 * math.log(2 * math.pi * s2) + log_d / 2, rel=1e-10
    )


def test_a_bound_that_the_user_vouched_for_and_the_stream_broke() -> None:
    learner = nr.AAR(0.5)
    for y in (0.5, -0.5):
        learner.learn_one(np.array([1.0, 2.0]), y)
    fine = learner.certificate(outcome_bound=1.0)
    assert fine.holds is True
    assert fine.bound > learner.certificate().bound
    learner.learn_one(np.array([1.0, 2.0]), 1.5)
    broken = learner.certificate(outcome_bound=1.0)
    assert broken.holds is None
    assert broken.bound is None
    assert broken.slack is None
    assert any("reached 1.5" in a.text and not a.met for a in broken.assumptions)
    assert "withdrawn" in str(broken)
    assert json.loads(broken.to_json())["bound"] is None
    assert learner.certificate().holds is True  # nothing declared, nothing broken

    by_name = {
        c.name: c for c in learner.certificates(feature_bound=1.0, norm_bound=9.0, outcome_bound=2)
    }
    assert by_name["Busuttil-Kalnishkan Theorem 1, a priori"].holds is None
    assert by_name["AAR, exact loss"].holds is True

    ridge = nr.Ridge(0.5).fit([[3.0, 4.0]], [1.0])
    names = {c.name: c.holds for c in ridge.certificates(norm_bound=4.0)}
    assert names["Zhdanov-Vovk Corollary 2"] is None
    assert names["Zhdanov-Vovk Theorem 1"] is True
    with pytest.raises(ParameterError, match="outcome_bound = -1"):
        learner.certificate(outcome_bound=-1)


def test_clipping_with_a_broken_bound_claims_nothing() -> None:
    learner = nr.Ridge(1.0, clip=1.0)
    learner.learn_one(np.array([1.0]), 0.5)
    assert learner.certificate().holds is True
    learner.learn_one(np.array([1.0]), 3.0)
    certificate = learner.certificate()
    assert certificate.holds is None
    assert any("|y| <= Y = 1" in a.text and not a.met for a in certificate.assumptions)


def test_a_loss_beyond_float64_is_said_and_not_claimed() -> None:
    """Ridge forecasts 1e200 after learning weights of size 1: its own loss is 1e400."""
    learner = nr.Ridge(1.0)
    for k in range(5):
        learner.learn_one(np.array([1.0 + k]), 2.0 + k)
    learner.predict_one(np.array([1e200]))
    learner.learn_one(np.array([1e200]), 1.0)
    names = {c.name: c for c in learner.certificates()}
    assert names["Zhdanov-Vovk Theorem 1"].holds is True  # weighted losses fit
    corollary = names["Zhdanov-Vovk Corollary 2"]
    assert corollary.holds is None
    assert corollary.bound is None
    assert any("float64" in a.text for a in corollary.assumptions)
    assert json.loads(corollary.to_json())["loss"] is None
    learner.learn_one(np.array([2.0]), 1.0)
    assert math.isfinite(learner.predict_one(np.array([2.0])))


def test_lower_bound_stream_shows_that_clipping_needs_more_than_a_factor_two() -> None:
    """x_t = 2^t, y_t = (-1)^t: clipped ridge pays 4T, so (2) fails with 4 replaced by 2."""
    T = 400
    learner = nr.Ridge(1.0, clip=1.0)
    for t in range(T):
        learner.learn_one(np.array([2.0**t]), (-1.0) ** t)
    certificate = learner.certificate()
    assert certificate.holds is True
    price = (certificate.bound - certificate.comparator) / 4.0
    needed = certificate.regret / price
    assert 2.15 < needed < 3 / (2 * math.log(2))
    sharper = learner.certificates()[1]
    assert sharper.name == "clipped ridge, leverage form"
    assert sharper.holds is True


def test_sums_are_compensated() -> None:
    """A hundred thousand small losses after a large one: a plain sum would lose them."""
    from noregret._native.layout import LOSS
    from noregret.gaussian.ledger import add, open_ledger, totals

    ledger = open_ledger(1)
    add(ledger, LOSS, 1e16)
    for _ in range(100_000):
        add(ledger, LOSS, 0.125)
    add(ledger, LOSS, -1e16)
    assert totals(ledger).loss == 12_500.0
    add(ledger, LOSS, math.inf)
    assert totals(ledger).loss == math.inf
