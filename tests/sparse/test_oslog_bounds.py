"""What was published of OSLOG fails where MATH.md says so, and SafeOSLOG's certificates hold."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import noregret as nr
from noregret.errors import ParameterError
from noregret.reference import oslog as twin
from noregret.reference.exact import best_loss
from strategies import Rows, rows

# Counterexamples to (9) ---------------------------------------------------------------------


class Refutation(NamedTuple):
    """A stream with |y| <= 1, n = 1, and both sides of (9) as MATH.md prints them."""

    a: float
    x: list[float]
    y: list[float]
    loss: str
    published: str
    repaired: str  # prior normalised and 4Y^2
    smallest: float = 0.0  # all weights are at least this large


def tiny_first(k: int, T: int) -> list[float]:
    return [1.0 / math.factorial(k), *[1.0] * (T - 1)]


DIPS = [0.4, 0.3, 0.2, 0.1, 0.1, *[0.2] * 8, 0.1, 0.1, -0.3]
REFUTATIONS = {
    "one round": Refutation(1.0, [1.0], [-1.0], "4", "3.514", "3.273"),
    "negative price": Refutation(100.0, [0.0], [1.0], "1", "-1.284", "1"),
    "constant": Refutation(11.0, [1.0] * 60, [1.0] * 60, "28.15", "12.87", "17.81"),
    "dips": Refutation(0.9, DIPS, [-1.0] * 16, "15.08", "12.06", "14.48", 0.2447),
    "1/90!": Refutation(1.0, [1.0] * 100, tiny_first(90, 100), "91.44", "8.92", "20.36"),
    "1/130!": Refutation(1.0, [1.0] * 140, tiny_first(130, 140), "131.44", "9.26", "21.72"),
    "Corollary 1": Refutation(10.2, [0.5] * 200, [1.0] * 200, "57.86", "22.11", ""),
}
refutations = pytest.mark.parametrize("case", REFUTATIONS.values(), ids=REFUTATIONS)


def printed(value: Any, digits: str) -> bool:
    """Whether the value rounds to what is printed."""
    places = len(digits.partition(".")[2])
    return mpmath.almosteq(round(float(value), places), float(digits), 1e-12)


@refutations
def test_the_published_bound_fails(case: Refutation) -> None:
    X, y = np.array(case.x)[:, None], np.array(case.y)
    learner = nr.OSLOG(case.a)
    replay = learner.replay(X, y)
    exact = twin.account(X.tolist(), y.tolist(), case.a)
    assert printed(exact.loss, case.loss)
    assert printed(exact.published, case.published)
    assert exact.loss > exact.published
    if case.repaired:
        assert printed(exact.repaired, case.repaired)
        assert exact.loss >= exact.repaired
    assert np.abs(replay.weights).min() >= case.smallest
    assert_allclose(replay.weights, np.array(exact.weights, dtype=float), rtol=1e-9)
    certificate = learner.certificate(outcome_bound=1.0)
    assert certificate == learner.certificates(outcome_bound=1.0)[0]
    assert certificate.kind == "report"
    assert certificate.holds is None
    assert certificate.loss == pytest.approx(float(exact.loss), rel=1e-11)
    assert certificate.bound == pytest.approx(float(exact.published), rel=1e-9)
    assert "it FAILED" in certificate.statement
    assert "no claim" in str(certificate)
    assert replay.certificate.bound == certificate.bound  # the largest outcome is 1
    assert all(a.met for a in certificate.assumptions)


@refutations
@pytest.mark.parametrize("outcome_range", [1.0, None, (-1.5, 1.0)])
def test_the_certificates_of_safe_oslog_hold_there(case: Refutation, outcome_range: Any) -> None:
    X, y = np.array(case.x)[:, None], np.array(case.y)
    learner = nr.SafeOSLOG(case.a, 0.5, outcome_range)
    learner.replay(X, y)
    check_safe(learner, X, y)


def test_regret_is_linear() -> None:
    """y_1 = 1/k!, then x = y = 1: OSLOG loses about k, the best expert almost nothing."""
    for k in (30, 60, 90, 120):
        X, y = np.ones((k + 10, 1)), np.array(tiny_first(k, k + 10))
        learner, safe = nr.OSLOG(), nr.SafeOSLOG(outcome_range=1.0)
        learner.replay(X, y)
        safe.replay(X, y)
        report, meter = learner.certificates()
        assert report.loss > k
        assert report.bound < 10.0
        assert meter.name == "regret meter"
        assert meter.kind == "report"
        assert meter.comparator < 2.0
        assert meter.regret > k - 2.0
        assert safe.certificate().loss < 6.0


def test_the_guarantee_of_aar_is_missed_too() -> None:
    """MATH.md, JB Theorem 3: 57.86 beside AAR's bound 35.66, with w_(T-1) = 1.79."""
    case = REFUTATIONS["Corollary 1"]
    X, y = np.array(case.x)[:, None], np.array(case.y)
    replay = nr.OSLOG(case.a).replay(X, y)
    bound = nr.AAR(case.a).replay(X, y).certificate.bound
    assert printed(bound, "35.66")
    assert replay.loss.sum() > bound
    assert printed(replay.weights[-2, 0], "1.79")


@settings(max_examples=60, deadline=None)
@given(rows(max_rounds=8, max_features=3), st.sampled_from([0.3, 2.0, 50.0]))
def test_the_published_bound_is_the_formula(data: Rows, a: float) -> None:
    """Wherever it speaks, in 50 digits."""
    learner = nr.OSLOG(a, start=0.5).fit(data.X, data.y)
    Y = 2.0 * max(float(np.abs(data.y).max()), 0.5)
    found = learner.certificate(outcome_bound=Y)
    if found.bound is None:
        assert not all(a.met for a in found.assumptions)
        return
    exact = twin.account(data.X.tolist(), data.y.tolist(), a, Y, 0.5)
    largest = float(data.y @ data.y) + Y * Y * data.X.shape[1] * 100.0
    assert found.loss == pytest.approx(float(exact.loss), rel=1e-6)
    assert found.bound == pytest.approx(float(exact.published), abs=1e-6 * largest)
    assert ("it FAILED" in found.statement) == (found.loss > found.bound)
    assert found.holds is None


def test_the_report_is_withdrawn_where_the_theorem_does_not_speak() -> None:
    X, y = np.ones((5, 2)), np.ones(5)
    for learner, words in (
        (nr.OSLOG(floor=1e-3), "no floor"),
        (nr.OSLOG(passes=2), "one pass a round"),
    ):
        certificate = learner.replay(X, y).certificate
        assert certificate.bound is None
        assert any(words in a.text and not a.met for a in certificate.assumptions)
    learner = nr.OSLOG().fit(X * [1.0, 0.0], y)
    assert learner.certificate().bound is None
    assert "does not speak" in learner.certificate().statement
    learner = nr.OSLOG().fit(X, y)
    assert learner.certificate(outcome_bound=0.5).bound is None
    assert learner.certificate(outcome_bound=2.0).bound != learner.certificate().bound
    with pytest.raises(ParameterError, match="outcome_bound = -1"):
        learner.certificate(outcome_bound=-1)


# SafeOSLOG ----------------------------------------------------------------------------------


def check_safe(learner: nr.SafeOSLOG, X: np.ndarray, y: np.ndarray) -> None:
    """Every certificate holds, and the main one is AAR's bound + (hi-lo)^2/2 ln 2 (+ beyond)."""
    for certificate in learner.certificates():
        assert certificate.holds is True, str(certificate)
        assert certificate.rounds == len(y)
    main, totals = learner.certificate(), learner._state.pool.totals()
    aar, alone = (
        nr.AAR(learner.prior_precision),
        nr.OSLOG(learner.shrinkage, start=learner.start, floor=learner.floor),
    )
    theirs, other = aar.replay(X, y).certificate, alone.replay(X, y)
    price = totals.width**2 / 2.0 * math.log(2.0)
    if learner.outcome_range is None:
        price += totals.over
        assert totals.over >= 0.0
    assert main.name == f"the pool and {theirs.name}"
    assert main.bound == pytest.approx(theirs.bound + price, rel=1e-9, abs=1e-12)
    assert main.comparator == pytest.approx(theirs.comparator, rel=1e-9, abs=1e-12)
    better = min(theirs.loss, float(other.loss.sum()))
    assert main.loss <= (better + price) * (1.0 + 1e-9) + 1e-12
    losses = learner.losses_
    assert losses["AAR"] == pytest.approx(theirs.loss, rel=1e-9, abs=1e-12)
    assert losses["OSLOG"] == pytest.approx(float(other.loss.sum()), rel=1e-9, abs=1e-12)


@settings(max_examples=150, deadline=None)
@given(
    rows(),
    st.sampled_from([0.05, 0.7, 20.0]),
    st.sampled_from([1e-3, 0.3, 5.0]),
    st.sampled_from(["learned", "Y", "pair"]),
    st.sampled_from([1.0, 0.1, -0.5]),
    st.sampled_from([0.0, 1e-3]),
)
def test_the_certificates_of_safe_oslog_hold(
    data: Rows, shrinkage: float, precision: float, kind: str, start: float, floor: float
) -> None:
    y = data.y
    lo, hi = float(y.min()) - 0.5, float(y.max()) + 0.25
    span = {"learned": None, "Y": max(abs(lo), abs(hi)), "pair": (lo, hi)}[kind]
    learner = nr.SafeOSLOG(shrinkage, precision, span, start=start, floor=floor)
    for t in range(len(y)):
        learner.predict_one(data.X[t])
        learner.learn_one(data.X[t], float(y[t]))
        main = learner.certificate()
        assert main.holds is True, str(main)
    check_safe(learner, data.X, y)


def test_an_outcome_beyond_the_given_range_withdraws_the_claim() -> None:
    learner = nr.SafeOSLOG(outcome_range=1.0)
    learner.replay(np.ones((3, 1)), [0.5, 2.0, 0.5])
    assert learner.certificate().holds is None
    assert "round 2" in str(learner.certificate())


def test_safe_oslog_certifies_identical_columns_under_a_small_shrinkage() -> None:
    """OSLOG's regret meter solves with M + aI, singular in float64: LinAlgError comes out."""
    X, y = np.full((50, 2), 1e5), np.ones(50)
    learner = nr.SafeOSLOG(1e-6, outcome_range=1.0, start=1e-7)
    learner.replay(X, y)
    assert learner.certificate().holds is True


def test_a_certificate_needs_no_regular_matrix() -> None:
    """the same by OSLOG alone."""
    learner = nr.OSLOG(1e-6, start=1e-7).fit(np.full((50, 2), 1e5), np.ones(50))
    assert learner.certificates()[1].comparator == pytest.approx(0.0, abs=1e-6)


def test_the_regret_meter_sees_columns_of_every_size() -> None:
    """least squares cut off what is 1e-16 of the largest: 50.2 where 0.01 is right."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)) * [1e5, 1e-4]
    y = 1e4 * X[:, 1]
    meter = nr.OSLOG(1e-10, start=1e-3).fit(X, y).certificates()[1]
    best = float(best_loss(X.tolist(), y.tolist(), 1e-10))
    assert meter.comparator == pytest.approx(best, rel=1e-6)


def test_sparsity_of_the_leader() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 30))
    y = np.clip(2.0 * X[:, 0] - X[:, 1], -6.0, 6.0)
    sparse = nr.SafeOSLOG(5.0, 1.0, 6.0, start=0.05)
    sparse.replay(X, y)
    assert sparse.weights_["OSLOG"] > 0.5
    assert sparse.sparsity_ == sparse.experts_["OSLOG"].sparsity_ > 0.8
    dull = nr.SafeOSLOG(outcome_range=1.0)
    dull.replay(np.ones((50, 1)), [0.0] + [1.0] * 49)
    assert dull.weights_["AAR"] > 0.99
    assert dull.sparsity_ == 0.0


# Traps --------------------------------------------------------------------------------------


def test_a_late_feature_is_dead_without_a_floor() -> None:
    """As MATH.md's `oslog_late_feature`: loss 304.6 against 21.4 of AAR."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(120, 2))
    X[:10, 1] = 0.0
    y = X @ [0.5, -1.7]
    dead, alive, aar = nr.OSLOG(), nr.OSLOG(floor=1e-3), nr.AAR()
    losses = [float(learner.replay(X, y).loss.sum()) for learner in (dead, alive, aar)]
    assert losses[0] > 10.0 * losses[2]
    assert losses[1] < 2.0 * losses[2]
    assert (dead.dead_, dead.sparsity_, dead.coef_[1]) == (1, 0.5, 0.0)
    assert (alive.dead_, alive.sparsity_) == (0, 0.0)
    assert_allclose(alive.coef_, [0.5, -1.7], atol=0.02)
    safe = nr.SafeOSLOG()
    safe.replay(X, y)
    assert safe.certificate().holds
    assert safe.certificate().loss < losses[0] / 4.0


def test_a_first_outcome_of_0_is_for_ever() -> None:
    """x = 1, y = 0, 1, 1, ...: 1 is lost in each of 100 rounds, and AAR's bound is 6.6."""
    X, y = np.ones((100, 1)), np.array([0.0] + [1.0] * 99)
    learner = nr.OSLOG()
    replay = learner.replay(X, y)
    assert replay.loss.tolist() == [1.0] * 100
    assert (learner.dead_, learner.sparsity_) == (1, 1.0)
    assert "does not speak" in replay.certificate.statement
    assert printed(nr.AAR().replay(X, y).certificate.bound, "6.6")
    mended = nr.OSLOG(floor=1e-3)
    assert mended.replay(X, y).loss.sum() < 8.0
    assert mended.dead_ == 0


def test_the_start_is_the_first_forecast() -> None:
    x = np.array([1.0, 2.0, -0.5])
    for start in (1.0, 0.125, -2.0, np.float64(0.5), 3):
        assert nr.OSLOG(start=start).predict_one(x) == pytest.approx(2.5 * start, rel=1e-15)
    assert nr.OSLOG().predict_one({"a": 1.0, "b": 2.0}) == 3.0


# Table 1 ------------------------------------------------------------------------------------

EIGHTH: Callable[[float], Any] = lambda a: nr.OSLOG(a, start=1 / 8)  # noqa: E731  # as the classes are


@pytest.mark.data
@pytest.mark.parametrize(
    ("make", "a", "all_rounds", "without_first", "correlation"),
    [
        (nr.AAR, 0.0025, "0.03199", "0.03052", "0.8738"),
        (nr.Ridge, 0.000112, "0.02321", "0.02173", "0.9030"),
        (nr.OSLOG, 0.0000224, "0.02582", "0.02075", "0.8939"),
        (nr.OSLOG, 0.00002, "0.02588", "0.02081", "0.8938"),
        (EIGHTH, 0.00002, "0.02143", "0.02082", "0.9107"),
    ],
)
def test_published_figures(
    shared_data: Path,
    make: Callable[[float], Any],
    a: float,
    all_rounds: str,
    without_first: str,
    correlation: str,
) -> None:
    """ISE, 8 features, no intercept: JB Table 1 as in REFERENCE-RESULTS.md, section 1."""
    data = np.genfromtxt(shared_data / "ise.csv", delimiter=",", skip_header=1)[:, 1:]
    X, y = np.ascontiguousarray(data[:, :-1]), np.ascontiguousarray(data[:, -1])
    replay = make(a).replay(X, y)
    assert printed(replay.loss.sum(), all_rounds)
    assert printed(replay.loss[1:].sum(), without_first)
    assert printed(np.corrcoef(replay.forecast, y)[0, 1] ** 2, correlation)
    grid = 10.0 ** (np.arange(-120, 1) / 20.0)
    tuned = [make(b).replay(X[:107], y[:107]).loss.sum() for b in grid.tolist()]
    best = grid[int(np.argmin(tuned))]
    assert 0.88 < a / best < 1.13  # a step of the grid


def test_a_bound_on_outcomes_whose_square_underflows() -> None:
    learner = nr.OSLOG().fit([[1.0, 2.0], [2.0, 1.0]], [1.0, 2.0])
    report = learner.certificates(outcome_bound=1e-300)[0]
    assert report.kind == "report"
    assert report.holds is None
