"""What yes-or-no learners claim, number by number, on a few fixed streams (docs/theory.md, 14)."""

from __future__ import annotations

import math

import numpy as np
import pytest

import noregret as nr
from noregret.glm.families import LOGISTIC
from noregret.glm.theorems import gaussian_bound
from noregret.reference import logistic as twin

RNG = np.random.default_rng(3)
X = np.round(RNG.normal(size=(14, 2)) * [1.0, 0.4], 3)
SIGNS = np.where(X @ [2.0, -1.0] + RNG.logistic(size=14) > 0, 1.0, -1.0)
LABELS = (SIGNS > 0).astype(int)


def by_name(learner) -> dict:
    return {c.name: c for c in learner.certificates()}


@pytest.mark.parametrize(("scale", "nu2"), [(1.0, 4.0), (0.3, 0.25), (0.2, 0.05)])
def test_the_mode(scale: float, nu2: float) -> None:
    rows = scale * X
    T, n = rows.shape
    learner = nr.MAPLogistic(nu2)
    losses = learner.replay(rows, LABELS).loss
    ws = [np.zeros(n), *(twin.mode(rows[:t], SIGNS[:t], nu2)[0] for t in range(1, T + 1))]
    before = [float(twin.loss(s * (x @ w))) for x, s, w in zip(rows, SIGNS, ws)]
    after = [float(twin.loss(s * (x @ w))) for x, s, w in zip(rows, SIGNS, ws[1:])]
    F = twin.mode(rows, SIGNS, nu2)[1]
    assert losses == pytest.approx(before, rel=1e-9)
    assert learner.brier_ == pytest.approx(sum((1 - math.exp(-l)) ** 2 for l in before), rel=1e-9)
    found = by_name(learner)
    assert found["MAP, live form"].bound == pytest.approx(F + sum(before) - sum(after), rel=1e-9)
    Z2 = float((rows**2).sum(axis=1).max())
    factor = 1.0 + nu2 * Z2 * min(1.0, 0.4074 * math.exp(nu2 * Z2))
    assert found["MAP, (1 + nu^2 Z^2) min F"].bound == pytest.approx(factor * F, rel=1e-9)
    theorem = found["Kakade-Ng Theorem 3.3"]
    if nu2 <= 0.25 and Z2 <= 1.0:
        published = 4 * F + 2 * n * math.log1p(T * nu2 / n)
        assert theorem.bound == pytest.approx(published, rel=1e-9)
    else:
        assert theorem.bound is None
    assert all(c.comparator == pytest.approx(F, rel=1e-9) for c in found.values())


def test_conditions_of_theorem_3_3_at_their_edges() -> None:
    for nu2, size, speaks in (
        (0.25, 1.0, True),
        (0.250001, 1.0, False),
        (0.25, 1.000001, False),
    ):
        learner = nr.MAPLogistic(nu2)
        learner.learn_one(np.array([size]), 1)
        assert (by_name(learner)["Kakade-Ng Theorem 3.3"].bound is not None) is speaks


def test_a_mode_that_was_not_found_withdraws_every_claim() -> None:
    """The proofs are about exact modes: F is off by up to nu^2 |gradient|^2/2 in each round."""
    learner = nr.MAPLogistic(0.25).fit(0.3 * X, LABELS)
    assert all(c.bound is not None for c in learner.certificates())
    learner._state.posterior.gradient = 1e-3
    for certificate in learner.certificates():
        assert (certificate.bound, certificate.holds) == (None, None)
        (broken,) = (a.text for a in certificate.assumptions if not a.met)
        assert "|gradient| <= 0.001" in broken


def evidence(rows: np.ndarray, signs: np.ndarray, nu2: float, nodes: int = 481) -> float:
    """-ln of the integral of exp(-F) against the prior, by a dense sum."""
    axis = np.linspace(-12.0, 12.0, nodes) * math.sqrt(nu2)
    n = rows.shape[1]
    mesh = np.stack([g.ravel() for g in np.meshgrid(*[axis] * n, indexing="ij")], axis=1)
    losses = np.logaddexp(0.0, -(mesh @ rows.T) * signs).sum(axis=1)
    logs = -losses - (mesh**2).sum(axis=1) / (2 * nu2)
    step = axis[1] - axis[0]
    total = np.exp(logs).sum() * step**n / (2 * math.pi * nu2) ** (n / 2)
    return -math.log(total)


@pytest.mark.parametrize("n", [1, 2])
def test_exact_averaging(n: int) -> None:
    """The loss is the evidence to 1e-9: a coarser integral would show."""
    nu2, rows = 2.0, X[:9, :n]
    learner = nr.BayesianLogistic(nu2, method="exact")
    learner.replay(rows, LABELS[:9])
    assert learner.log_loss_ == pytest.approx(evidence(rows, SIGNS[:9], nu2), abs=1e-9)
    F = twin.mode(rows, SIGNS[:9], nu2)[1]
    spread = 0.5 * np.linalg.slogdet(np.eye(n) + 0.25 * nu2 * rows.T @ rows)[1]
    Z2 = float((rows**2).sum(axis=1).max())
    published = 0.5 * n * math.log1p(0.25 * 9 * nu2 * Z2 / n)
    main, kakade_ng, below = learner.certificates()
    assert main.bound == pytest.approx(F + spread, rel=1e-9)
    assert kakade_ng.bound == pytest.approx(F + published, rel=1e-9)
    assert (below.loss, below.bound) == pytest.approx((F, learner.log_loss_), rel=1e-9)
    assert {c.kind for c in (main, kakade_ng, below)} == {"upper bound"}


def test_exact_averaging_where_level_sets_lean() -> None:
    """Rows that nearly agree, and one far out: the box must reach along the ridge."""
    rows = np.array([[1.0, 0.97], [1.0, 1.0], [0.9, 0.93], [6.0, 6.1], [3.0, -2.9]])
    signs = np.array([1.0, -1.0, 1.0, 1.0, -1.0])
    learner = nr.BayesianLogistic(9.0, method="exact")
    learner.replay(rows, (signs > 0).astype(int))
    assert learner.log_loss_ == pytest.approx(evidence(rows, signs, 9.0), abs=1e-8)


def test_exact_averaging_where_a_long_row_turns_the_axes() -> None:
    """Axes of sum xx' are far from those of the posterior, flat along a row that it is sure of."""
    rows = np.array([[3.0, 0.0]] * 6 + [[6.0, 6.0]])
    signs = np.array([1.0, 1.0, -1.0, 1.0, 1.0, -1.0, 1.0])
    learner = nr.BayesianLogistic(4.0, method="exact")
    learner.replay(rows, (signs > 0).astype(int))
    assert learner.log_loss_ == pytest.approx(evidence(rows, signs, 4.0), abs=1e-10)


def test_exact_averaging_where_the_first_grid_is_too_coarse() -> None:
    """Rows of many lengths: every rule is halved until it is as good as its certificate says."""
    rows = np.array([[-0.1], [14.9], [-0.5], [0.6], [-44.3]])
    signs = np.array([-1.0, 1.0, -1.0, 1.0, 1.0])
    learner = nr.BayesianLogistic(9.0, method="exact")
    learner.replay(rows, (signs > 0).astype(int))
    assert learner.log_loss_ == pytest.approx(evidence(rows, signs, 9.0, 200_001), abs=5e-10)
    assert learner._state.posterior.error <= 1e-10
    assert "right to about 1e-10" in learner.certificate().assumptions[0].text


@pytest.mark.parametrize("nu2", [0.25, 1.0, 9.0])
def test_a_gaussian_pays_its_divergence_from_the_prior(nu2: float) -> None:
    """Lemma 2.1 for labels at x = 0, where every w has the loss ln 2."""
    mean, sds = np.array([0.5, -2.0]), np.array([0.3, 1.5])
    rows, labels = np.zeros((3, 2)), np.array([0, 1, 1])
    apart = sum(
        math.log(math.sqrt(nu2) / sd) + (sd * sd + m * m) / (2.0 * nu2) - 0.5
        for m, sd in zip(mean.tolist(), sds.tolist(), strict=True)
    )
    bound = gaussian_bound(rows, labels, mean, np.diag(sds**2), prior_var=nu2, family=LOGISTIC)
    assert bound == pytest.approx(3.0 * math.log(2.0) + apart, rel=1e-12)
    prior = gaussian_bound(
        rows, labels, np.zeros(2), nu2 * np.eye(2), prior_var=nu2, family=LOGISTIC
    )
    assert prior == pytest.approx(3.0 * math.log(2.0), rel=1e-12)


def test_approximations_only_report() -> None:
    learner = nr.BayesianLogistic(2.0, method="tierney-kadane").fit(X, LABELS)
    assert [c.kind for c in learner.certificates()] == ["report", "report"]


@pytest.mark.parametrize(("bound", "weight"), [(0.7, 0.4), (5.0, 0.1)])
def test_improper_learning(bound: float, weight: float) -> None:
    right = twin.improper(X, SIGNS, bound, weight)
    learner = nr.ImproperLogistic(bound, regularisation=weight)
    losses = learner.replay(X, LABELS).loss
    assert losses == pytest.approx(right.losses, abs=1e-9)
    live, a_priori = learner.certificates()
    least, C1 = right.least, 1.0 + bound
    assert live.comparator == pytest.approx(least, abs=1e-9)
    assert live.bound == pytest.approx(least + C1 * right.log_det, abs=1e-9)
    top = 2 * math.log1p(float((X**2).sum()) / (8 * 2 * weight * C1))
    assert a_priori.bound == pytest.approx(least + C1 * top, abs=1e-9)


@pytest.mark.parametrize("family", ["logistic", "probit"])
def test_losses_of_margins_at_every_size(family: str) -> None:
    """l, l' and l'' against 40 digits, also where the probit's series takes over."""
    import mpmath

    from noregret.glm.families import PROBIT

    one = LOGISTIC if family == "logistic" else PROBIT

    def chance(z):
        return 1 / (1 + mpmath.exp(-z)) if family == "logistic" else mpmath.ncdf(z)

    with mpmath.workdps(60):
        for z in (-60.0, -38.5, -37.5, -36.0, -35.1, -34.9, -5.0, -0.5, 0.0, 0.5, 5.0):
            exactly = [mpmath.diff(lambda v: -mpmath.log(chance(v)), z, k) for k in range(3)]
            assert one.loss_and_derivatives(z)[:2] == pytest.approx(
                [float(v) for v in exactly[:2]], rel=1e-12
            )
            exact = 2e-11 if family == "probit" and z < -35.0 else 1e-9  # the series, or not
            assert one.loss_and_derivatives(z)[2] == pytest.approx(float(exactly[2]), rel=exact)


def test_moment_matching_of_probits() -> None:
    """P(1) is Phi(mu/sqrt(1 + q)) before and after a round."""
    from scipy.special import ndtr

    q, x = 2.5, np.array([2.0])
    learner = nr.BayesianLogistic(q, method="adf", family="probit")
    learner.learn_one(x, 1)
    a = np.linspace(-14.0, 14.0, 40_001) * math.sqrt(4.0 * q)
    weight = np.exp(-(a**2) / (8.0 * q)) * ndtr(a)
    mean = float((weight * a).sum() / weight.sum())
    var = float((weight * (a - mean) ** 2).sum() / weight.sum())
    assert learner.predict_one(x) == pytest.approx(float(ndtr(mean / math.sqrt(1 + var))), rel=1e-9)


def test_online_newton_is_its_definition() -> None:
    """Each round the mode of w'x under the Gaussian so far, and the curvature there."""
    from scipy.optimize import brentq
    from scipy.special import expit

    losses = nr.MAPLogistic(4.0, history=False).replay(3.0 * X, LABELS).loss
    A, b = np.eye(2) / 4.0, np.zeros(2)
    for x, s, loss in zip(3.0 * X, SIGNS, losses, strict=True):
        mu, q = s * (x @ np.linalg.solve(A, b)), x @ np.linalg.solve(A, x)
        assert loss == pytest.approx(float(twin.loss(mu)), rel=1e-9)
        z = brentq(lambda z, mu=mu, q=q: z - mu - q * expit(-z), mu, mu + q, xtol=1e-14)
        c = expit(z) * expit(-z)
        A += c * np.outer(x, x)
        b += c * s * (z + expit(-z) / c) * x


def test_the_mode_after_a_great_surprise() -> None:
    """Where the loss is straight a full step of Newton's goes far beyond: it is halved."""
    rows = np.array([[1.0]] * 12 + [[60.0]] + [[-1.0], [30.0]])
    signs = np.array([1.0] * 12 + [-1.0, 1.0, 1.0])
    learner = nr.MAPLogistic(1e4)
    for t, (x, s) in enumerate(zip(rows, signs, strict=True), start=1):
        learner.learn_one(x, int(s > 0))
        F = twin.mode(rows[:t], signs[:t], 1e4)[1]
        found = by_name(learner)["MAP, live form"]
        assert found.comparator == pytest.approx(F, rel=1e-9)
        assert found.holds is True


@pytest.mark.parametrize("q", [0.3, 9.0, 400.0])
@pytest.mark.parametrize("mu", [-7.0, -0.4, 0.0, 2.5])
def test_moment_matching_of_one_round(mu: float, q: float) -> None:
    """The mean and variance of w'x after a label, against a dense integral."""
    learner = nr.BayesianLogistic(q, method="adf")
    x = np.array([1.0])
    a = np.linspace(-14.0, 14.0, 40_001) * math.sqrt(q)
    prior = np.exp(-(a**2) / (2 * q))
    p = 1 / (1 + np.exp(-a))
    learner.learn_one(x, 1)
    weight = prior * p
    mean = float((weight * a).sum() / weight.sum())
    var = float((weight * (a - mean) ** 2).sum() / weight.sum())
    density = np.exp(-((a - mean) ** 2) / (2 * var))
    expected = float((density * p).sum() / density.sum())
    assert learner.predict_one(x) == pytest.approx(expected, rel=1e-7)
    scaled = np.array([mu / mean if mean else 0.0])
    width = abs(float(scaled[0])) * math.sqrt(var)
    b = mu + np.linspace(-14.0, 14.0, 40_001) * max(width, 1e-12)
    density = np.exp(-((b - mu) ** 2) / (2 * max(width, 1e-12) ** 2))
    expected = float((density / (1 + np.exp(-b))).sum() / density.sum())
    assert learner.predict_one(scaled) == pytest.approx(expected, rel=1e-6)
