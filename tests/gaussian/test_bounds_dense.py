"""Every number of every certificate of a Gaussian learner, from the formulas of docs/theory.md.

A bound that is looser than its theorem's number fails here, not only one that is violated.  All
comes from one dense matrix, the covariance I + Kbar of the outcomes, and nothing of the learner.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, DotProduct

import noregret as nr
from noregret._native import layout
from noregret.certificates import Assumption, Audit, Certificate

RNG = np.random.default_rng(14)
T, A, S2, CLIP, Q = 17, 0.3, 0.2, 2.5, 0.05
X = RNG.normal(size=(T, 3)) * [0.5, 1.0, 3.0]
X[4] = [0.0, -7.0, 0.5]  # the longest and the widest row, neither first nor last
X[12] = [-6.0, 0.0, 0.0]  # forecasts below -CLIP
Y = np.column_stack(
    [np.clip(X @ [1.0, -0.5, 0.2], -2, 2) + 0.3 * RNG.normal(size=T), 0.3 * X[:, 0]]
)
Y[5, 0] = -2.4  # the largest outcome is negative
KERNEL = 2.0 * RBF(1.5) + 0.1 * DotProduct(1.0)
GIVEN = {"outcome_bound": 2.45, "feature_bound": 8.0, "norm_bound": 9.0}


def close(value: float | None, dense: float, size: float) -> bool:
    return value is not None and abs(value - dense) <= 1e-9 * size


@dataclass(frozen=True)
class Dense:
    """The stream in one matrix; K_ij = k(x_i, x_j), S_t the sum of 1/a_s up to round t."""

    K: np.ndarray
    S: np.ndarray
    y: np.ndarray  # (T, m)
    n: int
    widest: float
    longest: float

    @cached_property
    def L(self) -> np.ndarray:
        t = np.arange(len(self.y))
        return np.linalg.cholesky(np.eye(len(t)) + self.S[np.minimum(t[:, None], t[None])] * self.K)

    @cached_property
    def d(self) -> np.ndarray:
        return np.diag(self.L) ** 2

    @cached_property
    def mean(self) -> np.ndarray:
        s = np.linalg.solve(self.L, self.y)
        return self.y - np.diag(self.L)[:, None] * s

    @property
    def V(self) -> float:
        return float((np.linalg.solve(self.L, self.y) ** 2).sum())

    @property
    def log_det(self) -> float:
        return float(np.linalg.slogdet(self.L @ self.L.T)[1])

    @property
    def leverage(self) -> float:
        return float((1.0 - 1.0 / self.d).sum())

    @property
    def square_loss(self) -> float:
        return float(((self.y - self.mean) ** 2).sum())


def expected(name: str, s: Dense, given: dict, *, fixed: bool, kernel: bool) -> dict:
    """By certificate: loss, comparator and bound, in the order of sections 5, 6 and 11."""
    rounds, m = s.y.shape
    V, lam, lev, d = s.V, s.log_det, s.leverage, s.d[:, None]
    Z = given.get("norm_bound", s.longest)
    W = Z if kernel else given.get("feature_bound", s.widest)
    a_priori = rounds * math.log1p(Z * Z / A) if kernel else s.n * math.log1p(rounds * W * W / A)
    kn = 0.0 if kernel else s.n * math.log1p(rounds * Z * Z / (A * s.n))
    s2 = S2 if name == "Bayes" else 1.0
    ridge = {
        "identity": (float(((s.y - s.mean) ** 2 / d).sum()), V, V),
        "norm": (s.square_loss, V, (1.0 + Z * Z * s.S[-1]) * V),
    }
    kn_square = (s.square_loss, V, (1.0 + Z * Z / A) * (V + s2 * m * kn))
    if name == "Ridge":
        return ridge | ({"KN 3.1": kn_square} if fixed and not kernel else {})
    if name == "clipped":
        g = np.clip(s.mean, -CLIP, CLIP)
        loss = float(((s.y - g) ** 2).sum())
        found = {
            "Corollary 1": (loss, V, V + 4 * m * CLIP**2 * lam),
            "leverage": (loss, V, V + 4 * m * CLIP**2 * lev),
        }
        if fixed:
            found["a priori"] = (loss, V, V + 4 * m * CLIP**2 * a_priori)
        found["identity"] = ridge["identity"]
        if kernel:
            priors = Z * Z * float(s.S[:-1].sum())
            found["horizon"] = (loss, V, V + 4 * m * CLIP**2 * priors)
        return found
    if name == "Bayes":
        e2 = (s.y - s.mean) ** 2
        loss = float((0.5 * np.log(2 * math.pi * S2 * d) + e2 / (2 * S2 * d)).sum())
        best = 0.5 * m * rounds * math.log(2 * math.pi * S2) + V / (2 * S2)
        found = {"Theorem 2": (loss, best, best + m * lam / 2), **ridge}
        if fixed:
            found["a priori"] = (loss, best, best + m * a_priori / 2)
        if fixed and not kernel:
            found |= {"KN 2.2": (loss, best, best + m * kn / 2), "KN 3.1": kn_square}
        return found
    g = s.mean / d
    loss = float(((s.y - g) ** 2).sum())
    Y2 = float((np.abs(s.y).max(axis=0) ** 2).sum())
    Y2 = m * given["outcome_bound"] ** 2 if "outcome_bound" in given else Y2
    exact = V + float((s.y**2 * (1 - 1 / d)).sum()) - float(((d - 1) * g**2).sum())
    found = {
        "Theorem 1": (loss, V, V + Y2 * lam),
        "leverage": (loss, V, V + Y2 * lev),
        "exact loss": (loss, V, exact),
        "identity": ridge["identity"],
    }
    if kernel:
        found["horizon"] = (loss, V, V + Y2 * Z * Z * float(s.S[:-1].sum()))
    elif fixed:
        found["a priori"] = (loss, V, V + Y2 * a_priori)
    return found


def make(name: str, **options) -> object:
    if name == "clipped":
        return nr.Ridge(A, clip=CLIP, **options)
    if name == "Bayes":
        return nr.BayesianRidge(A, noise_var=S2, **options)
    return getattr(nr, name)(A, **options)


def compare(found: list[Certificate], dense: dict) -> None:
    assert len(found) == len(dense)
    for certificate, (name, numbers) in zip(found, dense.items(), strict=True):
        size = max(map(abs, numbers))
        for value, number in zip(
            (certificate.loss, certificate.comparator, certificate.bound), numbers, strict=True
        ):
            assert close(value, number, size), f"{name}: {numbers}\n{certificate}"
        assert certificate.holds is True
        equality = name in ("identity", "exact loss", "Theorem 2")
        assert (certificate.kind == "equality") is equality, name


def varying(t: int) -> float:
    return Q * t / 4.0


def stream_of(*, kernel: bool, drift: float | str, m: int, intercept: bool) -> Dense:
    rows = np.hstack([np.ones((T, 1)), X]) if intercept else X
    K = KERNEL(X) if kernel else rows @ rows.T
    steps = [varying(t) if drift == "varying" else drift for t in range(2, T + 2)]
    S = 1.0 / A + np.cumsum([0.0, *steps])  # the norm bound is for the round to come too
    widest = float(np.abs(rows).max())
    return Dense(K, S, Y[:, :m], rows.shape[1], widest, math.sqrt(np.diag(K).max()))


@pytest.mark.parametrize("name", ["Ridge", "clipped", "Bayes", "AAR"])
@pytest.mark.parametrize("drift", [0.0, Q, "varying"])
@pytest.mark.parametrize(
    ("kernel", "intercept", "m"), [(False, False, 1), (False, True, 2), (True, False, 2)]
)
def test_certificates_are_the_theorems_numbers(
    name: str, drift: float | str, kernel: bool, intercept: bool, m: int
) -> None:
    s = stream_of(kernel=kernel, drift=drift, m=m, intercept=intercept)
    chosen = {"drift": varying if drift == "varying" else drift}
    chosen |= {"kernel": KERNEL} if kernel else {"fit_intercept": intercept}
    ys = [float(v[0]) for v in s.y] if m == 1 else s.y
    loop, replayed = make(name, **chosen), make(name, **chosen)
    forecasts = []
    for x, y in zip(X, ys, strict=True):
        forecasts.append(np.ravel(loop.predict_one(x)) if forecasts else np.zeros(m))
        loop.learn_one(x, y)
    replayed.replay(X[:7], ys[:7])
    result = replayed.replay(X[7:], ys[7:])
    mean = s.mean if name != "AAR" else s.mean / s.d[:, None]
    mean = np.clip(mean, -CLIP, CLIP) if name == "clipped" else mean
    assert np.allclose(np.asarray(result.forecast).reshape(10, m), mean[7:], rtol=0, atol=1e-9)
    assert np.allclose(np.reshape(forecasts, (T, m)), mean, rtol=0, atol=1e-9)
    for learner in (loop, replayed):
        for given in ({}, GIVEN):
            dense = expected(name, s, given, fixed=drift == 0.0, kernel=kernel)
            compare(learner.certificates(**given), dense)


@pytest.mark.parametrize("name", ["Ridge", "clipped", "Bayes", "AAR"])
def test_certificates_of_merged_learners(name: str) -> None:
    """Sums over the workers (section 9.2), p n ln(1 + T X^2/(p a)) a priori (9.3)."""
    cuts = [slice(0, 5), slice(5, 6), slice(6, None)]
    merged = nr.merge([make(name).fit(X[c], Y[c]) for c in cuts])
    parts = []
    for c in cuts:
        s = stream_of(kernel=False, drift=0.0, m=2, intercept=False)
        parts.append(Dense(s.K[c, c], s.S[: len(Y[c]) + 1], Y[c], 3, s.widest, s.longest))
    whole = stream_of(kernel=False, drift=0.0, m=2, intercept=False)
    V, p = sum(s.V for s in parts), len(parts)
    lam, lev = sum(s.log_det for s in parts), sum(s.leverage for s in parts)
    X2, Z2 = whole.widest**2, whole.longest**2
    a_priori = p * 3 * math.log1p(T * X2 / (p * A))
    kn = p * 3 * math.log1p(T * Z2 / (3 * p * A))
    Y2 = float((np.abs(Y).max(axis=0) ** 2).sum())
    half = T * math.log(2 * math.pi * S2) + V / (2 * S2)
    s2 = S2 if name == "Bayes" else 1.0
    bounds = {
        "Ridge": [V, (1 + Z2 / A) * V, (1 + Z2 / A) * (V + 2 * kn)],
        "clipped": [V + 8 * CLIP**2 * price for price in (lam, lev, a_priori)] + [V],
        "Bayes": [
            *(half + lam, V, (1 + Z2 / A) * V, half + a_priori, half + kn),
            (1 + Z2 / A) * (V + 2 * s2 * kn),
        ],
        "AAR": [V + Y2 * lam, V + Y2 * lev, None, V, V + Y2 * a_priori],
    }[name]
    found = merged.certificates()
    assert len(found) == len(bounds)
    for certificate, bound in zip(found, bounds, strict=True):
        if bound is not None:
            assert certificate.bound == pytest.approx(bound, rel=1e-9)
        best = whole.V
        if certificate.statement.startswith("log loss"):
            best = T * math.log(2 * math.pi * S2) + best / (2 * S2)
        assert certificate.comparator == pytest.approx(best, rel=1e-9)
    if name == "Bayes":
        chain = 0.5 * (2 * (T * math.log(2 * math.pi * S2) + whole.log_det) + whole.V / S2)
        assert merged.log_loss_ == pytest.approx(chain, rel=1e-12)


def test_the_identity_compares_two_sums_that_do_not_know_of_one_another() -> None:
    """One from the looks, one from what the rotations left over: a wrong one would show."""
    for row in (layout.FIT, layout.WEIGHTED):
        for learner in (nr.Ridge(A).fit(X, Y[:, 0]), nr.Ridge(A, drift=Q).fit(X, Y[:, 0])):
            assert learner.certificate().holds is True
            learner._state.ledger[row, 0] *= 1.0 + 1e-7
            assert learner.certificate().holds is False


def test_bounds_that_are_given_and_just_kept_or_just_broken() -> None:
    learner = nr.AAR(A).fit(X, Y[:, 0])
    assert learner.certificate(outcome_bound=2.4).holds is True
    assert learner.certificate(outcome_bound=np.nextafter(2.4, 0.0)).holds is None
    a_priori = {c.name: c for c in learner.certificates(feature_bound=7.0)}
    assert a_priori["Busuttil-Kalnishkan Theorem 1, a priori"].holds is True
    broken = {c.name: c for c in learner.certificates(feature_bound=6.99)}
    assert broken["Busuttil-Kalnishkan Theorem 1, a priori"].holds is None


def test_a_window_reports_and_forgets() -> None:
    learner = nr.AAR(A, kernel=KERNEL, budget=nr.Window(5))
    learner.replay(X[:5], Y[:5, 0])
    for certificate in learner.certificates():
        assert certificate.kind == "report"
        assert certificate.holds is None
        assert certificate.bound is not None  # nothing has been forgotten yet
    learner.learn_one(X[5], Y[5, 0])
    for certificate in learner.certificates():
        assert certificate.bound is None
        assert any("window" in a.text and not a.met for a in certificate.assumptions)


def test_what_a_budget_leaves_out() -> None:
    learner = nr.Ridge(A, kernel=KERNEL, budget=nr.Nystrom(4)).fit(X, Y[:, 0])
    report = learner.certificates()[-1]
    assert report.name == "what the budget left out"
    kept = np.linalg.solve(KERNEL(X[:4]), KERNEL(X[:4], X))
    left = float(np.diag(KERNEL(X)).sum() - (KERNEL(X[:4], X) * kept).sum())
    assert report.loss == pytest.approx(left, rel=1e-6)
    assert report.comparator == pytest.approx(float(np.diag(KERNEL(X)).sum()), rel=1e-9)


# Certificates themselves ----------------------------------------------------------------------


def certificate(loss: float, bound: float, kind: str = "upper bound", **more) -> Certificate:
    return Certificate.of(
        name="", kind=kind, rounds=1, loss=loss, comparator=0.0, bound=bound, statement="", **more
    )


def test_what_holds_holds_to_rounding() -> None:
    """One round: 19 roundings of 2e-16, in units of the terms."""
    assert certificate(1.0 + 4e-15, 1.0).holds is True
    assert certificate(1.0 + 5e-15, 1.0).holds is False
    assert certificate(2e-20, 1e-20).holds is False  # however small the terms are
    assert certificate(1.0, 2.0).holds is True
    assert certificate(1.0, 1.0 + 5e-15, "equality").holds is False
    assert certificate(1.0, 1.0 - 5e-15, "equality").holds is False
    assert certificate(1.0, 1.0 + 4e-15, "equality").holds is True
    assert certificate(4e-15, 0.0, scale=1.0).holds is True
    assert certificate(4e-15, 0.0, scale=0.9).holds is False
    assert certificate(1e-3, 0.0, taken=1.01e-3).holds is True
    assert certificate(1e-3, 0.0, taken=0.99e-3).holds is False
    assert certificate(2.0, 1.0, "report").holds is None


def test_a_failed_audit_fails_the_certificate() -> None:
    wrong, unknown = Audit("a", 2.0, 1.0), Audit("b", math.nan, 1.0)
    assert certificate(1.0, 2.0, audit=(unknown,)).holds is True
    failed = certificate(1.0, 2.0, audit=(unknown, wrong))
    assert failed.holds is False
    assert "FAILS: a: off by 2" in str(failed)
    assert "cannot be checked: b" in str(failed)
    assert [check["ok"] for check in failed.to_dict()["audit"]] == [None, False]
    assert certificate(1.0, 2.0, "report", audit=(wrong,)).holds is None


def test_every_assumption_counts_and_every_number_is_finite() -> None:
    one, other = Assumption("one", met=True), Assumption("other", met=False)
    assert certificate(1.0, 2.0, assumptions=(one, other)).bound is None
    assert certificate(1.0, 2.0, assumptions=(one,)).bound == 2.0
    for loss, bound in ((math.inf, 1.0), (1.0, math.inf), (1.0, math.nan)):
        said = certificate(loss, bound)
        assert said.bound is None
        assert said.assumptions[-1].text == "every sum fits in float64"


def test_the_bayesian_tolerance_is_rounding_of_its_terms() -> None:
    """The two sides cancel, so the scale is that of their terms, and no more."""
    learner = nr.BayesianRidge(A, noise_var=S2).fit(X, Y[:, 0])
    s = stream_of(kernel=False, drift=0.0, m=1, intercept=False)
    size = abs(0.5 * T * math.log(2 * math.pi * S2)) + s.V / (2 * S2) + 0.5 * s.log_det
    energy = float(Y[:, 0] @ Y[:, 0]) * (1.0 + X.shape[0]) / (2 * S2)
    assert 1e-15 * size < learner.certificate().allowance < 1e-13 * (size + energy)
