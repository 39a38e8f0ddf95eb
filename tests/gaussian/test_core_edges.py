"""The numeric core where it is easy to get wrong: edges of float64, sums, forms, stale looks."""

from __future__ import annotations

import copy
import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, DotProduct

import noregret as nr
from hostile import state_bytes
from noregret._native import layout, rounds, vectors
from noregret.errors import InputError, NumericalError, OutcomeError, ParameterError
from noregret.gaussian.cores import DriftCore, PrimalCore
from noregret.gaussian.ledger import add, open_ledger, totals
from noregret.reference import exact

DRIFTS = pytest.mark.parametrize("drift", [0.0, 0.25])
HUGE = 2.0**1000


def refused(learner, call) -> None:
    """The call is refused and nothing of the state has changed."""
    before = state_bytes(learner)
    with pytest.raises(NumericalError, match="does not fit in float64"):
        call()
    assert state_bytes(learner) == before


# What does not fit in float64 ---------------------------------------------------------------


@DRIFTS
@pytest.mark.parametrize("m", [1, 2])
def test_a_spread_that_overflows_beside_a_mean_of_zero(drift: float, m: int) -> None:
    """Each v_i fits, |v| does not; the mean is 0, so that only the spread tells."""
    learner = nr.Ridge(1e-14, drift=drift)
    zero = 0.0 if m == 1 else [0.0] * m
    learner.learn_one(np.zeros(3), zero)
    fits, too_long = np.array([HUGE, HUGE, 0.0]), np.full(3, HUGE)
    assert np.all(learner.predict_one(fits) == 0.0)
    refused(learner, lambda: learner.predict_one(too_long))
    refused(learner, lambda: learner.predict([fits, too_long]))
    refused(learner, lambda: learner.learn_one(too_long, zero))
    refused(learner, lambda: learner.replay([np.zeros(3), too_long], [zero, zero]))


@DRIFTS
@pytest.mark.parametrize("m", [1, 2])
def test_a_mean_that_overflows_beside_a_finite_spread(drift: float, m: int) -> None:
    """Weights of 1e303 at x = 1e10; the second of two outcomes alone overflows."""
    learner, y = nr.Ridge(1e-300, drift=0.0 if not drift else 1e-10), 2.0**511
    large = y if m == 1 else [0.0, y]
    zero = 0.0 if m == 1 else [0.0, 0.0]
    learner.learn_one(np.array([1e-150]), large)
    assert np.isfinite(learner.coef_).all()
    far = np.array([1e10])
    refused(learner, lambda: learner.predict_one(far))
    refused(learner, lambda: learner.predict([far]))
    refused(learner, lambda: learner.learn_one(far, zero))
    refused(learner, lambda: learner.replay([far], [zero]))
    refused(learner, lambda: learner.replay([[0.0], far], [zero, zero]))


def test_a_new_name_whose_spread_overflows() -> None:
    learner = nr.BayesianRidge(1e-14)
    learner.learn_one({"a": 1.0}, 1.0)
    more = {"a": 0.0, "b": HUGE, "c": HUGE, "d": HUGE}
    refused(learner, lambda: learner.predictive(more))
    refused(learner, lambda: learner.predict([more]))
    spread = learner.predictive({"a": 0.0, "b": 3.0}).var
    assert spread == pytest.approx(1.0 + 9.0 / 1e-14, rel=1e-12)


def test_kernel_looks_that_overflow() -> None:
    """A spread, a mean and a spread in a table of a kernel learner."""
    learner = nr.Ridge(1e-300, kernel=DotProduct(0.0), budget=nr.Window(2))
    learner.learn_one(np.array([1e-150]), 2.0**511)
    before = learner.to_bytes()
    with pytest.raises(NumericalError, match="does not fit"):
        learner.predict_one(np.array([1e10]))
    with pytest.raises(NumericalError, match="does not fit"):
        learner.predict_one(np.array([1e100]))
    with pytest.raises(NumericalError, match="does not fit"):
        learner.replay([[1e-150], [1e-151], [1e10]], [1.0, 1.0, 1.0])  # half of it is learned
    assert learner.to_bytes() == before


def test_what_is_no_number_is_never_learned() -> None:
    for learner in (nr.Ridge(), nr.AAR(drift=0.1), nr.BayesianRidge()):
        learner.learn_one(np.ones(2), 1.0)
        before = state_bytes(learner)
        with pytest.raises(OutcomeError):
            learner.learn_one(np.ones(2), math.nan)
        with pytest.raises(OutcomeError):
            learner.learn_one(np.ones(2), 2.0**512)
        with pytest.raises(InputError):
            learner.learn_one(np.array([1.0, math.nan]), 1.0)
        with pytest.raises(InputError):
            learner.predict_one(np.array([math.nan, 1.0]))
        assert state_bytes(learner) == before


@pytest.mark.parametrize("n", [1, 4, 5, 9, 20])
@pytest.mark.parametrize("bad", [2.0**1001, -math.inf, math.nan])
def test_what_is_beyond_the_limit_is_refused_wherever_it_stands(n: int, bad: float) -> None:
    """And again if it comes again: what was refused is not kept for the next call."""
    learner = nr.AAR()
    learner.learn_one(np.ones(n), 1.0)
    before = state_bytes(learner)
    for place in range(n):
        x = np.ones(n)
        x[place] = bad
        for _ in range(2):
            with pytest.raises(InputError):
                learner.predict_one(x)
            with pytest.raises(InputError):
                learner.learn_one(x, 1.0)
    assert state_bytes(learner) == before


@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 2), (2, 3), (9, 1), (9, 2)])
def test_a_row_whose_square_overflows_is_learned(n: int, m: int) -> None:
    """Its length does not; with A = I, the forecast at x after (x, y) is y |x|^2/(1 + |x|^2)."""
    learner, y = nr.Ridge(1.0), np.arange(1.0, m + 1)
    learner.learn_one(np.full(n, 1e200), y[0] if m == 1 else y)
    assert learner.predict_one(np.full(n, 1e200)) == pytest.approx(y[0] if m == 1 else y, rel=1e-12)


# Sums ---------------------------------------------------------------------------------------

SMALL_LARGE_SMALL = np.array([10.0] * 100 + [1e10] + [10.0] * 1000)
"""Squares of 100 around one of 1e20: what rounding takes is seen before and after."""


def fed(learner, X, y, way: str) -> None:
    """All rounds, one by one or at once."""
    if way == "replay":
        learner.replay(X, y)
    else:
        for x, outcome in zip(X, y, strict=True):
            learner.learn_one(x, float(outcome))


@DRIFTS
@pytest.mark.parametrize("way", ["learn_one", "replay"])
def test_the_fit_is_a_compensated_sum(drift: float, way: str) -> None:
    """At x = 0 a round adds y^2 exactly, so the sum must be right to the last bit."""
    learner, y = nr.Ridge(1.0, drift=drift), SMALL_LARGE_SMALL
    X = np.zeros((len(y), 1))
    fed(learner, X, y, way)
    exactly = math.fsum((y * y).tolist())
    identity = learner.certificates()[0]
    assert identity.comparator == exactly
    assert identity.bound == exactly
    assert identity.loss == exactly


@pytest.mark.parametrize("way", ["learn_one", "replay"])
def test_every_sum_of_squares_is_compensated(way: str) -> None:
    """Not only those that the identity reads: the squares paid, and the energy of outcomes."""
    learner, y = nr.AAR(1.0), SMALL_LARGE_SMALL
    X = np.zeros((len(y), 1))
    fed(learner, X, y, way)
    exactly = math.fsum((y * y).tolist())
    for row in (layout.LOSS, layout.SQUARE, layout.WEIGHTED, layout.ENERGY):
        assert sum(learner._state.ledger[row]) == exactly
        assert learner._state.ledger[row, 1] != 0.0


@pytest.mark.parametrize("n", [8, 9, 16, 30])
@pytest.mark.parametrize("place", [0, 7, -1])
def test_the_largest_feature_wherever_it_stands(n: int, place: int) -> None:
    x = np.ones(n)
    x[place] = -7.0
    one, many = nr.AAR(), nr.AAR()
    one.learn_one(x, 1.0)
    many.replay([x], [1.0])
    for learner in (one, many):
        assert learner._state.ledger[layout.WIDEST, 0] == 7.0
        assert learner._state.ledger[layout.LONGEST, 0] == math.sqrt(n + 48.0)


@DRIFTS
@pytest.mark.parametrize("n", [3, 12])
def test_a_look_is_not_kept_beyond_its_round(n: int, drift: float) -> None:
    """The same x again: it is looked at anew."""
    x, other = np.linspace(1.0, 2.0, n), np.ones(n)
    for predicted in (False, True):
        kept, anew = nr.Ridge(1.0, drift=drift), nr.Ridge(1.0, drift=drift)
        for y in (1.0, 5.0, -2.0):
            for learner in (kept, anew):
                if predicted:
                    learner.predict_one(x)
                learner.learn_one(x, y)
            anew.predict_one(other)
            assert kept.predict_one(x) == anew.predict_one(x)


def test_a_cores_own_fit_is_a_compensated_sum() -> None:
    """A core that is replayed by itself, without a ledger."""
    y = SMALL_LARGE_SMALL[:, None]
    for core in (PrimalCore(1.0, 1, 1), DriftCore(1.0, 0.25, 1, 1)):
        track = core.replay(np.zeros((len(y), 1)), y)
        assert track.fit == math.fsum((y * y)[:, 0].tolist())


def test_a_cores_own_fit_beyond_float64_is_infinite_and_not_nan() -> None:
    for core in (PrimalCore(1.0, 1, 1), DriftCore(1.0, 0.25, 1, 1)):
        assert core.replay(np.zeros((6, 1)), np.full((6, 1), 2.0**511)).fit == math.inf


@DRIFTS
@pytest.mark.parametrize("way", ["learn_one", "replay"])
def test_a_fit_beyond_float64_is_infinite_and_not_nan(drift: float, way: str) -> None:
    learner, y = nr.Ridge(1.0, drift=drift), np.full(6, 2.0**511)
    X = np.zeros((6, 1))
    fed(learner, X, y, way)
    assert learner.certificates()[0].comparator == math.inf
    assert learner.certificates()[0].loss == math.inf


def test_sums_of_both_signs_are_compensated() -> None:
    """Log losses may be negative: the larger term is the one of larger size."""
    for sign in (1.0, -1.0):
        ledger = open_ledger(1)
        for term in [3.0] * 1000 + [sign * 1e20] + [-7.0] * 999 + [5.0, -sign * 1e20]:
            add(ledger, layout.LOSS, term)
        assert totals(ledger).loss == 3000.0 - 7.0 * 999 + 5.0
    add(ledger, layout.LOSS, -math.inf)
    add(ledger, layout.LOSS, 1.0)
    assert totals(ledger).loss == -math.inf


def test_merged_sums_keep_their_compensation() -> None:
    y = SMALL_LARGE_SMALL
    parts = [nr.Ridge(1.0).fit(np.zeros((len(p), 1)), p) for p in (y[:500], y[500:], y[:50])]
    whole = np.concatenate([y, y[:50]])
    for order in (parts, parts[::-1]):
        loss = nr.merge(order).certificates()[0].loss
        assert loss == math.fsum((whole * whole).tolist())


def test_oslogs_loss_is_compensated() -> None:
    learner = nr.OSLOG(1.0)
    for y in SMALL_LARGE_SMALL.tolist():
        learner.learn_one(np.zeros(1), y)
    meter = next(c for c in learner.certificates() if c.name == "regret meter")
    exactly = math.fsum((SMALL_LARGE_SMALL**2).tolist())
    assert meter.loss == exactly
    assert meter.comparator == exactly


# The two forms of a drifting core -----------------------------------------------------------


def covariance(core: DriftCore) -> np.ndarray:
    """P from whichever form the factor has."""
    n, _ = core.shape
    lower = np.tril(core.factor[:n])
    if core.work[layout.AT, layout.ROOTED] == 1.0:
        return lower.T @ lower
    return lower + np.tril(lower, -1).T


def rooted(core: DriftCore) -> bool:
    return bool(core.work[layout.AT, layout.ROOTED])


def test_which_form_a_round_is_done_in() -> None:
    """Covariance while sum P_jj x_j^2 <= 1000, the root beyond, and back when that is over."""
    core, P = DriftCore(1.0, 1.0, 2, 1), np.eye(2)

    def absorb(*x: float) -> None:
        nonlocal P
        row = np.array(x)
        core.absorb(row, np.array([1.0]))
        Px = P @ row
        P = P - np.outer(Px, Px) / (1.0 + row @ Px) + np.eye(2)
        assert np.allclose(covariance(core), P, rtol=1e-9, atol=0.0)

    absorb(math.sqrt(999.0 / 1.0), 0.0)
    assert not rooted(core)
    absorb(0.0, -math.sqrt(1001.0 / P[1, 1]))  # the gauge is of squares
    assert rooted(core)
    for _ in range(29):
        absorb(0.5, 1.0)
        assert rooted(core)  # asked every 32 rounds only
    assert core.rounds == 31
    absorb(40.0, -40.0)  # that round is too large to go back
    assert core.rounds == 32
    assert 250.0 < 1600.0 * np.trace(P - np.eye(2)) < 1e5
    assert rooted(core)
    for _ in range(31):
        absorb(1.0, -1.0)
        assert rooted(core)
    absorb(1.0, -0.5)
    assert core.rounds == 64
    assert not rooted(core)


def test_the_gauge_of_a_root_counts_whole_columns() -> None:
    """Weights that are known together only: the diagonal of the root is small, P is not."""
    core = DriftCore(1.0, 1e-9, 2, 1)
    core.absorb(np.array([1e6, 1e6]), np.array([1.0]))
    assert rooted(core)
    for _ in range(30):
        core.absorb(np.array([1.0, 1.0]), np.array([1.0]))
    T = np.tril(core.factor[:2])
    assert T[0, 0] ** 2 < 1e-3 * covariance(core)[0, 0]
    core.absorb(np.array([20.0, 20.0]), np.array([1.0]))
    assert core.rounds == 32
    assert 400.0 * np.trace(covariance(core)) == pytest.approx(400.0, rel=1e-3)
    assert rooted(core)  # beyond 250, though the diagonal of the root says 200


@pytest.mark.parametrize("scale", [1e2, 1e3, 1e4])
@pytest.mark.parametrize("drift", [1e-12, 0.25, "none"])
def test_drifting_forecasts_are_right_where_the_covariance_loses_digits(
    scale: float, drift: float | str
) -> None:
    """Near-collinear columns of this size, against rational arithmetic, and both lanes alike."""
    rng = np.random.default_rng(3)
    X = scale * (1.0 + 1e-3 * rng.integers(-99, 100, size=(24, 3)) / 128.0)
    X[:8] = rng.integers(-99, 100, size=(8, 3)) / 64.0  # then the covariance is full
    y = rng.integers(-99, 100, size=24) / 64.0
    q = 0.0 if drift == "none" else drift
    a_t = [0.5, *[math.inf if q == 0.0 else 1.0 / q] * 23]
    if q == 0.0:
        means = exact.looks(X.tolist(), y.tolist(), 0.5)[0]
    else:
        means = exact.changing_looks(X.tolist(), y.tolist(), a_t)[0]
    truth = np.array([float(Fraction(m)) for m in means])
    step = (lambda _: 0.0) if q == 0.0 else q
    loop, many = nr.Ridge(0.5, drift=step), nr.Ridge(0.5, drift=step)
    forecasts = []
    for x, outcome in zip(X, y, strict=True):
        forecasts.append(loop.predict_one(x))
        loop.learn_one(x, float(outcome))
    assert np.abs(np.array(forecasts) - truth).max() <= 1e-11 * np.abs(truth).max()
    assert (many.replay(X, y).forecast == np.array(forecasts)).all()


def test_a_failed_replay_leaves_form_drift_and_look_as_they_were() -> None:
    for drift in (0.25, lambda t: 1.0 / t):
        learner, twin = (nr.Ridge(1e-16, drift=drift) for _ in range(2))
        rows = [[1e-9, 0.0, 0.0], [0.0, 1e-10, 0.0], [0.0, 0.0, 1e-10]]
        for each in (learner, twin):
            each.replay(rows * 3, [1.0] * 9)
            each.predict_one(np.array(rows[0]))
        before = state_bytes(learner)
        with pytest.raises(NumericalError, match="row 1"):
            learner.replay([[1e5, 1.0, 2.0], [HUGE] * 3], [1.0, 1.0])
        assert state_bytes(learner) == before
        refused(learner, partial(learner.learn_one, np.full(3, HUGE), 1.0))
        for each in (learner, twin):
            each.learn_one(np.array(rows[0]), -1.0)
        assert state_bytes(learner) == state_bytes(twin)


def grows(drift, first: list[float]) -> None:
    """A name that comes late is a column that was 0 before."""
    late, full = nr.BayesianRidge(0.3, drift=drift), nr.BayesianRidge(0.3, drift=drift)
    for t, value in enumerate(first):
        late.learn_one({"a": value}, 1.0 + t)
        full.learn_one(np.array([value, 0.0, 0.0]), 1.0 + t)
    for t, row in enumerate([(0.5, 2.0, 0.0), (1.0, -1.0, 3.0), (1.0, 1.0, 1.0)]):
        for names in (("a", "b"), ("a", "b", "c")):
            x = dict(zip(names, row))
            wide = np.array([x.get(name, 0.0) for name in "abc"])
            assert late.predictive(x).var == pytest.approx(full.predictive(wide).var, rel=1e-12)
            assert late.predict_one(x) == pytest.approx(full.predict_one(wide), rel=1e-12)
        late.learn_one(dict(zip(("a", "b", "c")[: 2 + (t > 0)], row)), float(t))
        full.learn_one(np.array(row), float(t))
    assert late.coef_ == pytest.approx(full.coef_, rel=1e-11)


@pytest.mark.parametrize("first", [[1.0, 2.0, 0.5], [1e6, 1.0, 2.0]])
@pytest.mark.parametrize("drift", [0.0, 0.25, lambda t: t / 7.0])
def test_late_features_in_both_forms(drift, first: list[float]) -> None:
    grows(drift, first)


def test_a_varying_drift_after_growing_and_replaying() -> None:
    """How far experts have walked is the same whichever way the rounds came."""

    def drift(t: int) -> float:
        return t / 7.0

    learner = nr.Ridge(0.5, drift=drift)
    learner.replay([{"a": 1.0}] * 3, [1.0, 2.0, 3.0])
    learner.learn_one({"a": 1.0, "b": 1.0}, 1.0)
    learner.learn_one({"a": 1.0, "b": 2.0}, 1.0)
    norm = learner.certificates()[1]
    S = 2.0 + sum(t / 7.0 for t in range(2, 7))
    assert norm.bound == pytest.approx((1.0 + 5.0 * S) * norm.comparator, rel=1e-12)


def test_a_replay_leaves_the_same_file_as_its_rounds_one_by_one() -> None:
    """Also where the drift varies: files keep the last one."""
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(5, 2)), rng.normal(size=5)
    for drift in (0.0, 0.25, lambda t: 1.0 / t):
        loop, many = nr.Ridge(0.5, drift=drift), nr.Ridge(0.5, drift=drift)
        for x, outcome in zip(X, y, strict=True):
            loop.learn_one(x, float(outcome))
        many.replay(X[:3], y[:3])
        many.replay(X[3:], y[3:])
        assert many.to_bytes() == loop.to_bytes()


def test_drifts_that_make_no_sense() -> None:
    learner = nr.Ridge(drift=lambda _: -0.1)
    with pytest.raises(ParameterError, match="drift"):
        learner.learn_one(np.ones(1), 1.0)


# Looks that are left for the round to come ----------------------------------------------------


@DRIFTS
def test_a_look_is_for_one_round_only(drift: float) -> None:
    learner, twin = nr.AAR(0.3, drift=drift), nr.AAR(0.3, drift=drift)
    for x, y in (([1.0, 2.0], 1.0), ([1.0, 2.0], -1.0), ([2.0, 1.0], 3.0), ([1.0, 2.0], 1.0)):
        row = np.array(x)
        learner.predict_one(row)
        learner.learn_one(row, y)
        twin.replay([x], [y])
        assert learner.predict_one(row) == twin.predict_one(row)
        learner.predict([[9.0, 9.0], [5.0, -5.0]])
        learner.learn_one(np.array([5.0, -5.0]), y)
        twin.replay([[5.0, -5.0]], [y])
        assert state_bytes(learner) == state_bytes(twin)
        learner.predict_one(np.array([3.0, 1.0]))
        learner.replay([[1.0, 1.0]], [y])
        twin.replay([[1.0, 1.0]], [y])
        learner.learn_one(np.array([3.0, 1.0]), y)
        twin.replay([[3.0, 1.0]], [y])
        assert state_bytes(learner) == state_bytes(twin)


def test_a_copy_trusts_no_look_that_it_has_not_made() -> None:
    for learner in (nr.Ridge(0.3), nr.Ridge(0.3, drift=0.1)):
        learner.learn_one(np.array([1.0, 2.0]), 1.0)
        learner.predict_one(np.array([3.0, 1.0]))
        twin = copy.deepcopy(learner)
        twin.learn_one(np.array([3.0, 1.0]), 1.0)
        learner.learn_one(np.array([3.0, 1.0]), 1.0)
        assert state_bytes(twin) == state_bytes(learner)


@DRIFTS
def test_a_larger_copy_trusts_no_look_either(drift: float) -> None:
    """The row of zeros in a new core's scratch is not the x that was looked at."""
    learner, twin = nr.Ridge(0.3, drift=drift), nr.Ridge(0.3, drift=drift)
    for each in (learner, twin):
        each.learn_one({"a": 1.0}, 1.0)
    learner.predict_one({"a": 3.0})
    for each in (learner, twin):
        each.learn_one({"a": 0.0, "b": 0.0}, 1.0)
    assert state_bytes(learner) == state_bytes(twin)


@DRIFTS
def test_small_fits_are_booked(drift: float) -> None:
    learner = nr.Ridge(0.3, drift=drift)
    for x in (1.0, 2.0, 3.0, 1.0):
        learner.learn_one(np.array([x]), 1e-5 * x * x)
    assert learner.certificate().comparator > 0.0
    assert learner.certificate().holds is True


def test_an_integer_that_lost_digits_is_refused_after_any_look() -> None:
    """Named features are packed unseen, so integers beyond 2^53 take the careful lane."""
    learner = nr.Ridge()
    learner.learn_one({"a": 1.0, "b": 1.0}, 1.0)
    for size in (2.0**60, 2.0**61):
        learner.predict_one({"a": size, "b": 0.0})  # a float of that size is what it says
        for wrong in (2**60 + 1, 2**61 + 1, 2**62 + 1):
            with pytest.raises(InputError, match="float64"):
                learner.predict_one({"a": wrong, "b": 0.0})
        learner.learn_one({"a": size, "b": 0.0}, 1.0)
        for wrong in (2**60 + 1, 2**61 + 1, 2**62 + 1):
            with pytest.raises(InputError, match="float64"):
                learner.learn_one({"a": wrong, "b": 0.0}, 1.0)


def test_rounds_wait_while_a_state_is_closed_and_for_ever_once_it_is_replaced() -> None:
    learner = nr.Ridge()
    learner.learn_one({"a": 1.0}, 1.0)
    stream = learner._state
    x = np.array([1.0])

    def answer() -> int:
        return rounds.admit_and_look(stream.core.factor, stream.core.work, x)

    assert answer() == layout.OK
    with stream.closed():
        assert answer() == layout.BUSY
    assert answer() == layout.OK
    learner.learn_one({"a": 1.0, "b": 2.0}, 1.0)
    assert learner._state is not stream
    assert answer() == layout.BUSY


# Sizes of rows ------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e-200, 1e-3, 1.0, 1e200])
@pytest.mark.parametrize("way", ["learn_one", "replay"])
def test_lengths_of_rows_of_any_size(size: float, way: str) -> None:
    learner = nr.Ridge(fit_intercept=size < 1.0)
    rows = np.array([[3.0, -4.0], [1.0, 0.0], [0.0, 0.0]]) * size
    if way == "replay":
        learner.replay(rows, [1.0, 1.0, 1.0])
    else:
        for row in rows:
            learner.learn_one(row, 1.0)
    Z = math.sqrt(1.0 + 25.0 * size * size) if size < 1.0 else 5.0 * size
    norm = learner.certificates()[1]
    assert any(a.text.startswith(f"|x|_2 <= Z = {Z:.6g},") for a in norm.assumptions)
    aar = nr.AAR(fit_intercept=size < 1.0).fit(rows, np.ones(3))
    widest = 1.0 if size < 1.0 else 4.0 * size
    a_priori = aar.certificates()[-1]
    assert any(a.text.startswith(f"|x|_inf <= X = {widest:.6g},") for a in a_priori.assumptions)


def test_weights_of_rounds() -> None:
    X, y = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5]]), np.array([1.0, 2.0, 3.0])
    weighted = nr.Ridge(0.3).fit(X, y, sample_weight=[4.0, 0.0, 9.0])
    keep = [0, 2]
    roots = np.array([2.0, 3.0])
    plain = nr.Ridge(0.3).fit(X[keep] * roots[:, None], y[keep] * roots)
    assert weighted.n_samples_seen_ == 2
    assert (weighted.coef_ == plain.coef_).all()


def test_exponentials_are_right_to_an_ulp_and_vanish_far_below() -> None:
    x = np.concatenate([np.linspace(-707.9, 0.0, 997), [-0.3, -1e-9, -1e-300]])
    found = x.copy()
    total = vectors.exponentials(found, 0.0)
    assert np.abs(found / np.exp(x) - 1.0).max() <= 4.5e-16
    assert total == pytest.approx(math.fsum(np.exp(x).tolist()), rel=1e-14)
    far = np.array([-708.1, -720.0, -1000.0, -1e300, -math.inf, 0.0])
    vectors.exponentials(far, 0.0)
    assert far.tolist() == [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    assert vectors.place(np.array([3.0, 5.0, 2.0, 2.0]), 2.0) == 2


# Windows of a kernel core ---------------------------------------------------------------------


@pytest.mark.parametrize("drift", [0.0, 0.3])
@pytest.mark.parametrize("m", [1, 2])
def test_a_window_is_the_dense_solution_on_the_last_rounds(drift: float, m: int) -> None:
    """Kbar of the rounds kept, with S as of their own time."""
    rng = np.random.default_rng(5)
    X, Y, a, size = rng.normal(size=(13, 2)), rng.normal(size=(13, m)), 0.4, 4
    kernel = RBF(1.3)
    learner = nr.BayesianRidge(a, kernel=kernel, drift=drift, budget=nr.Window(size))
    many = nr.BayesianRidge(a, kernel=kernel, drift=drift, budget=nr.Window(size))
    replayed = many.replay(X, Y[:, 0] if m == 1 else Y)
    S = 1.0 / a + drift * np.arange(14)
    for t in range(13):
        kept = np.arange(max(0, t - size), t)
        K = kernel(X[kept]) * S[np.minimum(kept[:, None], kept[None])]
        k = kernel(X[kept], X[t : t + 1])[:, 0] * S[kept]
        w = np.linalg.solve(np.eye(len(kept)) + K, np.column_stack([k, Y[kept]]))
        var = 1.0 + S[t] - k @ w[:, 0]
        look = learner.predictive(X[t])
        assert np.allclose(look.mean, k @ w[:, 1:], rtol=1e-10, atol=1e-12)
        assert np.allclose(look.var, var, rtol=1e-12)
        learner.learn_one(X[t], float(Y[t, 0]) if m == 1 else Y[t])
        assert np.allclose(np.reshape(replayed.mean[t], m), k @ w[:, 1:], rtol=1e-10, atol=1e-12)
    for c, d in zip(learner.certificates(), many.certificates(), strict=True):
        assert d.loss == pytest.approx(c.loss, rel=1e-9)
        assert d.comparator == pytest.approx(c.comparator, rel=1e-9)
        assert [a.text for a in d.assumptions] == [a.text for a in c.assumptions]


def test_a_kernel_learner_replays_on_top_of_what_it_knows() -> None:
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    for drift in (0.0, 0.3):
        one = nr.AAR(0.4, kernel=RBF(1.3), drift=drift)
        parts = nr.AAR(0.4, kernel=RBF(1.3), drift=drift)
        forecasts = []
        for x, outcome in zip(X, y, strict=True):
            forecasts.append(one.predict_one(x))
            one.learn_one(x, float(outcome))
        found = [parts.replay(X[c], y[c]).forecast for c in (slice(0, 7), slice(7, 20))]
        assert np.allclose(np.concatenate(found), forecasts, rtol=1e-11, atol=1e-13)
        again = X[3] + 0.1
        assert parts.predict_one(again) == pytest.approx(one.predict_one(again), rel=1e-11)
        for c, d in zip(one.certificates(), parts.certificates(), strict=True):
            assert d.bound == pytest.approx(c.bound, rel=1e-11)
            assert d.loss == pytest.approx(c.loss, rel=1e-11)


def test_a_kernel_spread_is_never_below_that_of_the_noise() -> None:
    """The same input again and again: what is left of k(x, x) is rounding."""
    learner = nr.BayesianRidge(1e-12, kernel=RBF(1.0))
    rng = np.random.default_rng(1)
    for x in np.repeat(rng.normal(size=(4, 1)), 6, axis=0):
        learner.learn_one(x, 1.0)
        for z in (x, x * (1 + 1e-15)):
            assert learner.predictive(z).var >= 1.0


@pytest.mark.parametrize(("beyond", "a"), [(1e-5, 1e-8), (0.0747, 0.1)])
def test_what_is_hardly_no_kernel_is_refused(beyond: float, a: float) -> None:
    """k(x, z) > sqrt(k(x, x) k(z, z)): by a little, or with a pivot of 1/2 that has a root."""

    def kernel(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        return np.where(Z.T == X, 1.0, 1.0 + beyond)

    learner = nr.Ridge(a, kernel=kernel)
    learner.learn_one(np.array([0.0]), 1.0)
    with pytest.raises(NumericalError, match=r"round 2.*not positive semi-definite"):
        learner.learn_one(np.array([1.0]), 1.0)
    with pytest.raises(NumericalError, match="not positive semi-definite"):
        nr.Ridge(a, kernel=kernel).replay([[0.0], [1.0]], [1.0, 1.0])


@pytest.mark.parametrize("cut", [0, 1, 4, 5])
def test_what_no_kernel_says_withdraws_the_bound_even_where_pivots_are_well(cut: int) -> None:
    """k(x, z)^2 > k(x, x) k(z, z) at one pair, the last: round by round, at once, or on top."""

    def kernel(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        K = np.exp(-((X - Z.T) ** 2))
        return np.where(np.abs(X - Z.T) == 4.0, 1.2, K)

    X, y = np.arange(5.0)[:, None], np.ones(5)
    for last, holds in ((4.0, None), (4.5, True)):
        X[4] = last
        learner = nr.Ridge(50.0, kernel=kernel)
        for part in (slice(0, cut), slice(cut, 5)) if cut else (slice(t, t + 1) for t in range(5)):
            if len(X[part]) > 1:
                learner.replay(X[part], y[part])
            elif len(X[part]):
                learner.learn_one(X[part][0], 1.0)
        assert learner.certificate().holds is holds, last


def test_a_kernel_look_is_for_one_round_only() -> None:
    learner, x = nr.Ridge(1.0, kernel=RBF(1.0)), np.array([1.0])
    for t in range(1, 4):
        learner.predict_one(x)
        learner.learn_one(x, 1.0)
        assert learner.predict_one(x) == pytest.approx(t / (t + 1.0), rel=1e-12)


def test_a_kernel_mean_that_overflows_beside_a_finite_spread() -> None:
    """36 outcomes of 2^511 at 1/6: the mean at x is x 2^511 6/2, the spread 1 + x^2/2."""
    learner = nr.Ridge(1.0, kernel=DotProduct(0.0))
    for _ in range(36):
        learner.learn_one(np.array([1.0 / 6.0]), 2.0**511)
    assert math.isfinite(learner.predict_one(np.array([0.8e154])))
    with pytest.raises(NumericalError, match="does not fit"):
        learner.predict_one(np.array([1.3e154]))
