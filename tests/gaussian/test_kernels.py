"""Kernel learners: equal to dense twins, certified, on any inputs, exact and behind budgets."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.gaussian_process import kernels as sk

import noregret as nr
from noregret.errors import FeatureError, MergeError, NumericalError, ParameterError
from noregret.kernels import horizon_drift, horizon_precision
from noregret.reference import kernel as dense
from strategies import drift_schedules

RTOL = 1e-8
KERNELS = [
    sk.RBF(0.7),
    sk.Matern(1.3, nu=1.5),
    sk.RationalQuadratic(),
    sk.DotProduct(0.5) ** 2,
    sk.RBF(1.0) + 0.5 * sk.DotProduct(1.0),
    sk.RBF(2.0) * sk.Matern(0.5, nu=0.5),
    2.0 * sk.RBF([0.5, 2.0]),
]
precisions = st.sampled_from([1e-6, 1e-3, 0.1, 1.0, 7.0, 1e3])


@st.composite
def inputs(draw, max_rounds: int = 25):
    """Points of the plane, some of them near duplicates or the same, and bounded outcomes."""
    T = draw(st.integers(1, max_rounds))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.uniform(-2.0, 2.0, size=(T, 2))
    for t in range(1, T):
        kind = draw(st.sampled_from(["new", "new", "near", "same"]))
        if kind != "new":
            X[t] = X[rng.integers(t)] + (1e-6 * rng.standard_normal(2) if kind == "near" else 0.0)
    return X, np.sin(2.0 * X[:, 0]) + 0.3 * rng.standard_normal(T)


def one_at_a_time(learner, X, y) -> np.ndarray:
    forecasts = []
    for x, outcome in zip(X, y, strict=True):
        forecasts.append(learner.predict_one(x))
        learner.learn_one(x, float(outcome))
    return np.array(forecasts)


@pytest.mark.slow
@settings(max_examples=120, deadline=None)
@given(inputs(), precisions, st.sampled_from(KERNELS))
def test_fixed_functions_equal_dense_solves(data, a, kernel) -> None:
    X, y = data
    K = kernel(X)
    mean, spread = dense.looks(K, y[:, None], a)
    atol = RTOL * np.abs(y).max()
    assert_allclose(one_at_a_time(nr.Ridge(a, kernel=kernel), X, y), mean[:, 0], atol=atol)
    aar = (mean / spread[:, None])[:, 0]
    assert_allclose(one_at_a_time(nr.AAR(a, kernel=kernel), X, y), aar, atol=atol)
    replay = nr.BayesianRidge(a, noise_var=0.4, kernel=kernel).replay(X, y)
    assert_allclose(replay.mean, mean[:, 0], atol=atol)
    assert_allclose(replay.spread, spread, rtol=RTOL)
    best = dense.best_loss(K, y[:, None], a)
    floor = RTOL * float(y @ y)
    assert replay.certificate.holds is True
    comparator = nr.AAR(a, kernel=kernel).replay(X, y).certificate.comparator
    assert comparator == pytest.approx(best, rel=RTOL, abs=floor)


@settings(max_examples=80, deadline=None)
@given(st.data(), inputs(15), st.sampled_from(KERNELS))
def test_changing_functions_equal_the_papers_formula(data_, data, kernel) -> None:
    X, y = data
    a_t = data_.draw(drift_schedules(len(X) + 1)).clip(1e-3, 1e4)
    learner = nr.AAR(a_t[0], kernel=kernel, drift=lambda t: 1.0 / a_t[t - 1])
    many = copy.deepcopy(learner).replay(X, y)
    truth = dense.kaarch(kernel(X), y, a_t[:-1])
    atol = RTOL * np.abs(y).max()
    assert_allclose(one_at_a_time(learner, X, y), truth, atol=atol)
    assert_allclose(many.forecast, truth, atol=atol)
    for certificate in learner.certificates():
        assert certificate.holds is True, str(certificate)
    # V + Y^2 ln det(I + Kbar), Theorem 4
    log_det = np.linalg.slogdet(np.eye(len(X)) + dense.extended(kernel(X), a_t[:-1]))[1]
    main = learner.certificate()
    assert main.name == "Busuttil-Kalnishkan Theorem 4"
    price = (main.bound - main.comparator) / np.abs(y).max() ** 2
    assert price == pytest.approx(log_det, rel=RTOL, abs=RTOL)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(inputs(20), precisions, st.sampled_from([0.0, 0.2]), st.sampled_from(KERNELS))
def test_every_certificate_holds_in_every_round(data, a, drift, kernel) -> None:
    X, y = data
    Y = float(np.abs(y).max())
    for learner in (
        nr.Ridge(a, kernel=kernel, drift=drift),
        nr.Ridge(a, kernel=kernel, drift=drift, clip=Y, fit_intercept=True),
        nr.BayesianRidge(a, kernel=kernel, drift=drift, noise_var=0.2),
        nr.AAR(a, kernel=kernel, drift=drift),
    ):
        for x, outcome in zip(X, y, strict=True):
            learner.predict_one(x)
            learner.learn_one(x, float(outcome))
            for certificate in learner.certificates():
                assert certificate.holds is True, str(certificate)


def test_names_of_the_theorems() -> None:
    X, y = np.arange(4.0)[:, None], np.arange(4.0)
    rbf = sk.RBF()
    names = {
        "Zhdanov-Vovk Theorem 3": nr.Ridge(kernel=rbf),
        "Zhdanov-Vovk Corollary 4": nr.Ridge(kernel=rbf, clip=5.0),
        "Zhdanov-Vovk Theorem 4": nr.BayesianRidge(kernel=rbf),
        "Busuttil-Kalnishkan Theorem 2": nr.AAR(kernel=rbf),
        "Busuttil-Kalnishkan Theorem 4": nr.AAR(kernel=rbf, drift=0.1),
    }
    for name, learner in names.items():
        assert learner.replay(X, y).certificate.name == name


def test_horizon_precision_gives_the_square_root_bound() -> None:
    """a = (Yc/d) sqrt(T): regret at most 2Ycd sqrt(T) against functions of norm at most d."""
    rng = np.random.default_rng(0)
    T, Y, d = 200, 1.0, 2.0
    X, y = rng.uniform(-1, 1, (T, 1)), rng.choice([-1.0, 1.0], T)
    a = horizon_precision(T, Y, norm=d)
    learner = nr.AAR(a, kernel=sk.RBF(0.3))
    learner.replay(X, y)
    best = learner.hindsight()
    by_name = {c.name: c for c in learner.certificates()}
    corollary = by_name["Busuttil-Kalnishkan Corollary 1"]
    assert corollary.holds is True
    assert corollary.bound - corollary.comparator == pytest.approx(Y * d * np.sqrt(T))
    # For the minimiser itself, whose norm is below d here: L <= L(f) + 2 Y c d sqrt(T).
    assert best.norm <= d
    assert corollary.loss <= best.loss + 2 * Y * d * np.sqrt(T)


def test_horizon_drift_gives_corollary_two() -> None:
    """a_1 and a for an announced T: regret at most 2Yc(d_1 sqrt(T) + sqrt(s T(T-1)/2))."""
    rng = np.random.default_rng(3)
    T, Y, d, s = 120, 1.0, 1.5, 0.02
    X, y = rng.uniform(-1, 1, (T, 1)), rng.choice([-1.0, 1.0], T)
    a, drift = horizon_precision(T, Y, norm=d), horizon_drift(T, Y, change=s)
    learner = nr.AAR(a, kernel=sk.RBF(0.3), drift=drift)
    learner.replay(X, y)
    corollary = learner.certificates()[-1]
    assert corollary.name == "Busuttil-Kalnishkan Corollary 2 (9)"
    assert corollary.holds is True
    allowed = Y * (d * np.sqrt(T) + np.sqrt(s * T * (T - 1) / 2))
    assert corollary.bound - corollary.comparator == pytest.approx(allowed)


@pytest.mark.parametrize("budget", [None, nr.Nystrom(50), nr.Window(50)])
def test_the_callers_buffer_may_be_used_again(budget) -> None:
    """One array that is overwritten in every round, as streams often come."""
    rng = np.random.default_rng(12)
    X, y = rng.standard_normal((20, 2)), rng.standard_normal(20)
    one, other = (nr.AAR(kernel=sk.RBF(), budget=budget) for _ in range(2))
    buffer = np.empty(2)
    for t in range(20):
        buffer[:] = X[t]
        assert one.predict_one(buffer) == other.predict_one(X[t])
        buffer[:] = X[(t + 7) % 20]
        one.predict_one(buffer)
        buffer[:] = X[t]
        one.learn_one(buffer, y[t])
        other.learn_one(X[t], y[t])
        buffer[:] = np.nan
    assert one.predict_one(X[0]) == other.predict_one(X[0])


@pytest.mark.parametrize("drift", [0.0, 0.05])
def test_linear_kernel_is_the_weight_space_core(drift: float) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((60, 3)), rng.standard_normal((60, 2))
    for intercept in (False, True):
        weights = nr.AAR(0.3, drift=drift, fit_intercept=intercept).replay(X, y)
        functions = nr.AAR(0.3, drift=drift, fit_intercept=intercept, kernel="linear").replay(X, y)
        assert_allclose(functions.forecast, weights.forecast, rtol=1e-9, atol=1e-11)
        assert_allclose(functions.spread, weights.spread, rtol=1e-10)
        assert functions.certificate.bound == pytest.approx(weights.certificate.bound, rel=1e-10)


@pytest.mark.parametrize("drift", [0.0, 0.05])
@pytest.mark.parametrize("degree", [1, 2, 4])
def test_polynomial_budget_equals_the_dual(degree: int, drift: float) -> None:
    rng = np.random.default_rng(2)
    X, y = rng.uniform(-1, 1, (120, 3)), rng.standard_normal(120)
    kernel = sk.DotProduct(sigma_0=1.0) ** degree
    dual = nr.AAR(0.2, kernel=kernel, drift=drift).replay(X, y)
    primal = nr.AAR(0.2, budget=nr.Polynomial(degree), drift=drift)
    assert_allclose(one_at_a_time(primal, X, y), dual.forecast, rtol=1e-8, atol=1e-10)
    assert primal.certificate().bound == pytest.approx(dual.certificate.bound, rel=1e-8)
    left_out = primal.certificates()[-1]
    assert left_out.kind == "report"
    assert left_out.loss == pytest.approx(0.0, abs=1e-8)


BUDGETS = [
    (sk.RBF(0.8), nr.Nystrom(30)),
    (sk.RBF(0.8), nr.Nystrom(1000, tolerance=1e-3)),
    (None, nr.RandomFourier(40, width=0.8, seed=3)),
    (None, nr.Taylor(4, width=0.8)),
    (None, nr.Polynomial(3)),
    (sk.RBF(0.8), nr.Window(25)),
]


@pytest.mark.parametrize("drift", [0.0, 0.02])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(("kernel", "budget"), BUDGETS, ids=lambda v: repr(v)[:24])
def test_budgets_replay_as_they_go(kernel, budget, drift, intercept) -> None:
    rng = np.random.default_rng(4)
    X, y = rng.uniform(-1, 1, (90, 2)), rng.standard_normal(90)
    settings_ = {"kernel": kernel, "budget": budget, "drift": drift, "fit_intercept": intercept}
    one, many = nr.AAR(0.5, **settings_), nr.AAR(0.5, **settings_)
    forecasts = one_at_a_time(one, X, y)
    parts = [many.replay(X[s], y[s]) for s in (slice(40), slice(40, None))]
    assert_allclose(np.concatenate([p.forecast for p in parts]), forecasts, rtol=1e-8, atol=1e-9)
    assert_allclose(many.predict(X[:5]), [one.predict_one(x) for x in X[:5]], rtol=1e-8, atol=1e-9)
    window = isinstance(budget, nr.Window)
    for certificate in one.certificates():
        if window:
            assert certificate.kind == "report"
            assert certificate.holds is None
            assert certificate.bound is None
        elif certificate.kind != "report":
            assert certificate.holds is True, str(certificate)
            assert any("features of" in a.text for a in certificate.assumptions)
    if not window:
        assert one.certificates()[-1].name == "what the budget left out"


def test_a_dictionary_of_everything_is_the_exact_core() -> None:
    rng = np.random.default_rng(5)
    X, y = rng.uniform(-2, 2, (60, 2)), rng.standard_normal(60)
    exact = nr.Ridge(0.5, kernel=sk.RBF(0.3)).replay(X, y)
    learner = nr.Ridge(0.5, kernel=sk.RBF(0.3), budget=nr.Nystrom(60, tolerance=1e-14))
    assert_allclose(learner.replay(X, y).forecast, exact.forecast, rtol=1e-6, atol=1e-7)
    assert learner.certificates()[-1].loss < 1e-9


def test_a_window_is_the_exact_core_on_the_last_rounds() -> None:
    rng = np.random.default_rng(6)
    X, y = rng.uniform(-1, 1, (80, 2)), rng.standard_normal((80, 2))
    learner = nr.Ridge(0.1, kernel=sk.Matern(0.5), budget=nr.Window(30))
    for t, (x, outcome) in enumerate(zip(X, y, strict=True)):
        if t in (29, 30, 31, 60, 79):
            last = slice(max(t - 30, 0), t)
            fresh = nr.Ridge(0.1, kernel=sk.Matern(0.5)).fit(X[last], y[last])
            assert_allclose(learner.predict_one(x), fresh.predict_one(x), rtol=1e-9)
        learner.learn_one(x, outcome)
    assert learner._state.core.size == 30
    assert len(learner._state.core._z) <= 64


def test_any_objects_will_do() -> None:
    """Documents forecast a number: a kernel on strings, kept as a list."""

    def shared_words(X, Z):
        return np.array([[len(set(x.split()) & set(z.split())) for z in Z] for x in X], float)

    documents = ["good film", "bad film", "very good plot", "bad bad plot", "good good"]
    stars = [4.0, 1.0, 5.0, 1.0, 5.0]
    learner = nr.AAR(1.0, kernel=shared_words)
    for text, star in zip(documents, stars, strict=True):
        learner.predict_one(text)
        learner.learn_one(text, star)
    assert learner.predict_one("good plot") > learner.predict_one("bad plot")
    twin = nr.AAR(1.0, kernel=shared_words)
    twin.replay(documents, stars)
    assert_allclose(twin.predict(["good plot"]), learner.predict_one("good plot"), rtol=1e-12)
    assert learner.certificate().holds is True
    on_a_budget = nr.AAR(1.0, kernel=shared_words, budget=nr.Nystrom(3))
    on_a_budget.replay(documents, stars)
    assert on_a_budget.certificate().holds is True
    with pytest.raises(AttributeError, match="objects"):
        learner.n_features_in_  # noqa: B018  # asking is the test
    dicts = nr.AAR(kernel=lambda X, Z: np.array([[float(len(x & z)) for z in Z] for x in X]))
    dicts.learn_one(frozenset("ab"), 1.0)
    assert dicts.predict_one(frozenset("b")) > 0


def test_names_work_with_kernels() -> None:
    rng = np.random.default_rng(7)
    X, y = rng.standard_normal((20, 2)), rng.standard_normal(20)
    by_name, by_position = nr.AAR(kernel=sk.RBF()), nr.AAR(kernel=sk.RBF())
    for t, (x, outcome) in enumerate(zip(X, y, strict=True)):
        named = {"b": x[1], "a": x[0]} if t else {"a": x[0], "b": x[1]}
        assert by_name.predict_one(named) == by_position.predict_one(x)
        by_name.learn_one(named, float(outcome))
        by_position.learn_one(x, float(outcome))
    assert list(by_name.feature_names_in_) == ["a", "b"]
    with pytest.raises(FeatureError, match="new features"):
        by_name.learn_one({"a": 1.0, "c": 2.0}, 1.0)


@pytest.mark.parametrize(
    "kernel",
    [
        lambda X, Z: -(X @ Z.T),
        lambda X, Z: np.tanh(X @ Z.T - 2.0),
        lambda X, Z: (X[:, :1] - Z[:, :1].T) ** 2,
        sk.ExpSineSquared(1.0, 2.0),  # a kernel on the line, not on the plane
    ],
    ids=["negative", "sigmoid", "distance", "periodic"],
)
def test_what_is_not_a_kernel_is_refused_and_changes_nothing(kernel) -> None:
    rng = np.random.default_rng(8)
    X, y = rng.standard_normal((40, 2)), rng.standard_normal(40)
    learner = nr.AAR(0.01, kernel=kernel)
    with pytest.raises(NumericalError, match=r"round \d+.*not positive semi-definite"):
        one_at_a_time(learner, X, y)
    before = learner.to_bytes()
    with pytest.raises(NumericalError, match="not positive semi-definite"):
        learner.replay(X, y)
    assert learner.to_bytes() == before
    with pytest.raises(NumericalError, match="not positive semi-definite"):
        nr.AAR(0.01, kernel=kernel).replay(X, y)


def test_bad_kernels_and_budgets_are_refused_by_name() -> None:
    x = np.array([1.0, 2.0])
    for settings_, words in (
        ({"kernel": "rfb"}, "the names are"),
        ({"kernel": 3}, "callable"),
        ({"budget": 300}, "give one of Nystrom"),
        ({"budget": nr.Nystrom(10)}, "needs a kernel"),
        ({"kernel": "rbf", "budget": nr.Taylor(2)}, "leave kernel=None"),
        ({"budget": nr.Taylor(0)}, "degree = 0"),
        ({"budget": nr.RandomFourier(3)}, "size = 3"),
        ({"budget": nr.RandomFourier(4, seed=None)}, "seed = None"),
        ({"budget": nr.Taylor(2, width=1e-200)}, "width = 1e-200"),
        ({"kernel": "rbf", "budget": nr.Nystrom(0)}, "size = 0"),
        ({"kernel": "rbf", "budget": nr.Nystrom(5, tolerance=-1.0)}, "tolerance = -1.0"),
        ({"kernel": "rbf", "budget": nr.Window(1.5)}, "size = 1.5"),
    ):
        with pytest.raises(ParameterError, match=words):
            nr.AAR(**settings_).learn_one(x, 1.0)
    with pytest.raises(FeatureError, match="matrix of shape"):
        nr.AAR(kernel=lambda *_: np.ones(3)).learn_one(x, 1.0)
    with pytest.raises(FeatureError, match="kernel gave nan"):
        nr.AAR(kernel=lambda X, Z: np.full((len(X), len(Z)), np.nan)).learn_one(x, 1.0)
    one = nr.AAR(kernel="rbf").fit(x[None], [1.0])
    with pytest.raises(MergeError, match="cannot be merged"):
        one.merge(nr.AAR(kernel="rbf").fit(x[None], [1.0]))
    with pytest.raises(AttributeError, match="no coefficients"):
        one.coef_  # noqa: B018  # asking is the test
    maps = [nr.Ridge(budget=nr.Taylor(2)).fit(np.eye(3), np.arange(3.0)) for _ in range(2)]
    assert maps[0].merge(maps[1]).certificate().holds is True


def test_memory_is_asked_for_before_it_is_taken(monkeypatch) -> None:
    from noregret.gaussian.cores import memory

    monkeypatch.setattr(memory, "available", lambda: 1_000_000)
    X = np.random.default_rng(0).standard_normal((400, 2))
    with pytest.raises(NumericalError, match="budget="):
        nr.AAR(kernel="rbf").replay(X, X[:, 0])


def test_hindsight_is_the_function_that_the_certificate_compares_with() -> None:
    rng = np.random.default_rng(9)
    X, y = rng.uniform(-1, 1, (30, 2)), rng.standard_normal(30)
    kernel, a = sk.RBF(0.5), 0.3
    learner = nr.AAR(a, kernel=kernel)
    learner.replay(X, y)
    best = learner.hindsight()
    c = np.linalg.solve(a * np.eye(30) + kernel(X), y)
    assert_allclose(best.values, kernel(X) @ c, rtol=1e-9, atol=1e-11)
    assert best.norm == pytest.approx(np.sqrt(c @ kernel(X) @ c), rel=1e-9)
    assert best.loss == pytest.approx(((y - kernel(X) @ c) ** 2).sum(), rel=1e-9)
    assert best.regularised_loss == pytest.approx(learner.certificate().comparator, rel=1e-9)
    moving = nr.AAR(a, kernel=kernel, drift=0.1)
    moving.replay(X, y)
    assert moving.hindsight().norm is None
    assert moving.hindsight().regularised_loss == pytest.approx(moving.certificate().comparator)
    weights = nr.Ridge(a).fit(X, y)
    assert weights.hindsight().norm == pytest.approx(np.linalg.norm(weights.coef_))
    residual = ((y - X @ weights.coef_) ** 2).sum()
    assert weights.hindsight().loss == pytest.approx(residual, rel=1e-9)
    with pytest.raises(AttributeError, match="leave no trace"):
        nr.Ridge(a, drift=0.1).fit(X, y).hindsight()


def test_a_forecast_may_be_written_to() -> None:
    X, Y = np.random.default_rng(0).standard_normal((2, 20, 2))
    for learner in (nr.Ridge(0.1, kernel=sk.RBF()), nr.BayesianRidge(0.1, kernel=sk.RBF())):
        learner.fit(X, Y)
        first = learner.predict_one(X[0]).copy()
        learner.predict_one(X[0])[:] += 100.0
        assert_array_equal(learner.predict_one(X[0]), first)


def test_white_noise_in_a_kernel_counts_the_same_everywhere() -> None:
    X, y = np.random.default_rng(1).standard_normal((25, 2)), np.arange(25.0)
    kernel = sk.RBF() + sk.WhiteKernel(0.5)
    for budget in (None, nr.Nystrom(50), nr.Window(10)):
        one, many = (nr.AAR(1.0, kernel=kernel, budget=budget) for _ in range(2))
        loop = one_at_a_time(one, X, y)
        assert_allclose(many.replay(X, y).forecast, loop, rtol=1e-9, atol=1e-9)
        assert_allclose(many.predict(X[:3]), [one.predict_one(x) for x in X[:3]], rtol=1e-9)


def test_what_was_learned_does_not_follow_the_callers_kernel() -> None:
    X, y = np.random.default_rng(2).standard_normal((25, 2)), np.arange(25.0)
    kernel = sk.RBF(1.0)
    learner = nr.Ridge(1.0, kernel=kernel).fit(X, y)
    before = learner.predict(X)
    learner.set_params(kernel__length_scale=5.0)
    assert_array_equal(learner.predict(X), before)
    learner.learn_one(X[0], y[0])
    assert learner.certificate().holds is True


def test_what_does_not_fit_in_float64_is_refused() -> None:
    big = nr.Ridge(1e-10, kernel="linear")
    with pytest.raises(NumericalError, match="does not fit"):
        big.learn_one(np.array([1e150]), 1.0)
    with pytest.raises(NumericalError, match="does not fit"):
        big.replay([[1e150], [1.0]], [1.0, 2.0])
    steep = nr.Ridge(1.0, kernel="rbf", drift=lambda _: 1e308)
    with pytest.raises(NumericalError, match="does not fit"):
        one_at_a_time(steep, np.ones((4, 1)), np.ones(4))
    fine = nr.AAR(1e-3, kernel="linear").fit(np.ones((3, 2)), np.ones(3))
    with pytest.raises(NumericalError, match="does not fit"):
        fine.predict([[1e153, 1e153]])
    assert fine.certificate().holds is True


def test_a_kernels_own_matrix_is_never_written_to() -> None:
    K = np.array([[2.0, 1.0], [1.0, 2.0]])
    kept = K.copy()

    def precomputed(A, B):
        i, j = ([int(x[0]) for x in part] for part in (A, B))
        return K if i == j == [0, 1] else K[np.ix_(i, j)]

    nr.Ridge(0.5, kernel=precomputed).replay([[0.0], [1.0]], [1.0, 2.0])
    assert_array_equal(K, kept)


def test_objects_may_be_arrays() -> None:
    """Images, adjacency matrices, arrays of words: whatever the kernel takes."""

    def overlap(A, B):
        return np.array([[float((a * b).sum()) for b in B] for a in A])

    images = [np.eye(3) * k for k in (1.0, 2.0, 3.0)]
    one, many = nr.Ridge(kernel=overlap), nr.Ridge(kernel=overlap)
    loop = one_at_a_time(one, images, [1.0, 2.0, 3.0])
    assert_allclose(many.replay(images, [1.0, 2.0, 3.0]).forecast, loop, rtol=1e-10)

    def letters(A, B):
        return np.array([[float(len(set(a) & set(b))) for b in B] for a in A])

    words = nr.Ridge(kernel=letters)
    words.replay(np.array(["ab", "bc"]), [1.0, 2.0])
    assert words.predict_one("abc") > 0.0
    with pytest.raises(FeatureError, match="not a sequence"):
        words.predict(None)
    with pytest.raises(FeatureError, match="no matrix"):
        nr.Ridge(kernel=lambda *_: [[1.0], [2.0, 3.0]]).learn_one("a", 1.0)
    rows = nr.Ridge(kernel=lambda A, B: A @ B.T)
    rows.learn_one(list(np.array([1, 2])), 1.0)
    assert rows.predict_one([1.0, 2.0]) > 0.0


@pytest.mark.slow
def test_near_duplicates_under_a_tiny_prior_against_fifty_digits() -> None:
    """160 points, half of them 1e-6 from another, a = 1e-8: forecasts within 1e-6."""
    mpmath = pytest.importorskip("mpmath")
    rng = np.random.default_rng(10)
    X = rng.uniform(-1, 1, (160, 2))
    X[1::2] = X[::2] + 1e-6 * rng.standard_normal((80, 2))
    y = np.sin(3 * X[:, 0]) + 0.1 * rng.standard_normal(160)
    a = 1e-8

    def function(P, Q):
        return np.exp(-((P[:, None] - Q[None]) ** 2).sum(axis=2) / 2)

    K = function(X, X)  # the float64 matrix itself is the problem that both are given
    replay = nr.Ridge(a, kernel=function).replay(X, y)
    loop = one_at_a_time(nr.Ridge(a, kernel=function), X, y)
    with mpmath.workdps(50):
        truth = fifty_digits(mpmath, K, y, a)
    scale = np.abs(truth).max()
    assert np.abs(replay.forecast - truth).max() <= 1e-6 * scale
    assert np.abs(loop - truth).max() <= 1e-6 * scale


def fifty_digits(mpmath, K, y, a) -> np.ndarray:
    """One growing Cholesky factor in 50 digits."""
    L, z, means = [], [], []
    for t in range(len(K)):
        l = []
        for j in range(t):
            dot = mpmath.fdot(l, L[j][:j]) if j else 0
            l.append((mpmath.mpf(K[t, j]) - dot) / L[j][j])
        mean = mpmath.fdot(l, z) if t else mpmath.mpf(0)
        u = mpmath.mpf(a) + mpmath.mpf(K[t, t]) - (mpmath.fdot(l, l) if t else 0)
        l.append(mpmath.sqrt(u))
        L.append(l)
        z.append((mpmath.mpf(y[t]) - mean) / l[-1])
        means.append(float(mean))
    return np.array(means)


def resident() -> int:
    """Resident memory of this process, where the system tells."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * 4096 if statm.exists() else 0


@pytest.mark.slow
def test_memory_of_a_budget_is_flat() -> None:
    """Nothing in a budgeted learner grows once its dictionary is full."""
    rng = np.random.default_rng(11)
    learner = nr.AAR(1.0, kernel=sk.RBF(1.0), budget=nr.Nystrom(20))
    X, y = rng.standard_normal((1000, 2)), rng.standard_normal(1000)
    for _ in range(20):
        learner.replay(X, y)
    size = sum(v.nbytes for v in (learner._state.core.factor, learner._state.ledger))
    before = resident()
    for _ in range(981):
        learner.replay(X, y)
    assert resident() - before < 1_000_000
    assert learner.n_samples_seen_ == 1_001_000
    after = sum(v.nbytes for v in (learner._state.core.factor, learner._state.ledger))
    assert after == size
    assert learner._state.space.size == 20
    assert learner.certificate().holds is True


@pytest.mark.slow
@pytest.mark.data
def test_budgets_on_protein_reach_the_published_losses(shared_data: Path) -> None:
    """Gaussian kernel of width 1, regularisation 1: Taylor degree 3 has a mean loss of 0.0606."""
    rows = np.loadtxt(shared_data / "protein.csv.gz", delimiter=",", skiprows=1)
    rows = rows[np.random.default_rng(0).permutation(len(rows))]
    X, y = rows[:, :-1], 2.0 * rows[:, -1] - 1.0
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    y /= y.max()
    assert X.shape == (45_730, 9)
    taylor = nr.Ridge(1.0, budget=nr.Taylor(3, width=1.0)).replay(X, y)
    assert taylor.loss.mean() == pytest.approx(0.0606, abs=2e-4)
    for learner in (
        nr.Ridge(1.0, kernel=sk.RBF(1.0), budget=nr.Nystrom(300)),
        nr.Ridge(1.0, budget=nr.RandomFourier(300, width=1.0)),
    ):
        replay = learner.replay(X, y)
        assert replay.loss.mean() <= 0.0610
        assert replay.certificate.holds is True
