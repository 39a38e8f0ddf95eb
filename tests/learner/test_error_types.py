"""Whatever is refused, the error is one of ours; what the caller's own code raised is its cause."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import noregret as nr
from noregret.errors import (
    FeatureError,
    InputError,
    NoRegretError,
    OutcomeError,
    ParameterError,
)
from stored import bits

HUGE = 10**400
NUMBERS = [HUGE, -HUGE, Fraction(HUGE, 3), Decimal("sNaN"), Decimal("NaN"), Decimal("Infinity")]
LABELLED: dict[str, Callable[[], Any]] = {
    "map": nr.MAPLogistic,
    "moments": lambda: nr.BayesianLogistic(method="adf"),
    "averaging": nr.BayesianLogistic,
    "improper": nr.ImproperLogistic,
    "safe": lambda: nr.SafeLogistic(method="adf"),
    "delayed": lambda: nr.Delayed(nr.ImproperLogistic()),
}


def taught(make: Callable[[], Any]) -> Any:
    learner = make()
    for x, y in (([0.5], 1), ([-0.5], 0)):
        ticket = learner.predict_one(x)
        learner.learn_one(ticket if isinstance(learner, nr.Delayed) else x, y)
    return learner


@pytest.mark.parametrize("label", NUMBERS, ids=lambda y: f"{type(y).__name__} {y!s:.9}")
@pytest.mark.parametrize("make", LABELLED.values(), ids=LABELLED)
def test_labels_that_no_float64_holds(make: Callable[[], Any], label: Any) -> None:
    learner = taught(make)
    if isinstance(learner, nr.Delayed):
        ticket = learner.predict_one([1.0])
        with pytest.raises(OutcomeError):
            learner.learn_one(ticket, label)
        assert learner.pending_ == [ticket.number]
        return
    before = bits(learner.predict_one([0.25]))
    with pytest.raises(OutcomeError):
        learner.learn_one([1.0], label)
    for call in (learner.fit, learner.partial_fit, learner.replay):
        with pytest.raises(OutcomeError):
            call([[1.0], [2.0]], [0, label])
    with pytest.raises(OutcomeError):
        make().partial_fit([[1.0], [2.0]], [0, 0], classes=[0, label])
    assert bits(learner.predict_one([0.25])) == before
    assert learner.n_samples_seen_ == 2


@pytest.mark.parametrize("label", NUMBERS, ids=lambda y: f"{type(y).__name__} {y!s:.9}")
def test_labels_of_the_river_adapter(label: Any) -> None:
    pytest.importorskip("river")
    from noregret.adapters.river import RiverClassifier

    model = RiverClassifier(nr.ImproperLogistic())
    model.learn_one({"a": 1.0}, True)
    before = model.predict_proba_one({"a": 1.0})
    with pytest.raises(OutcomeError):
        model.learn_one({"a": 1.0}, label)
    assert model.predict_proba_one({"a": 1.0}) == before


RAGGED = [[1.0, 2.0], [3.0]]


@pytest.mark.parametrize("horizon", [1, 2])
@pytest.mark.parametrize("X", [RAGGED, iter(RAGGED), 5, "rows", [[1.0], "a"], [{"a": 1.0}, [2.0]]])
def test_tables_that_lagged_cannot_read(X: Any, horizon: int) -> None:
    lagged = nr.Lagged(nr.AAR(), [1], horizon)
    lagged.learn_one([1.0, 2.0], 0.5)
    for call in (lagged.replay, lagged.partial_fit, lagged.fit):
        with pytest.raises(InputError):
            call(X, [1.0, 2.0])
    with pytest.raises(InputError):
        lagged.predict(X)
    assert lagged.n_samples_seen_ == 1


@pytest.mark.parametrize("y", [iter([1.0]), 5.0, None, [[1.0, 2.0]]])
def test_outcomes_that_lagged_cannot_read(y: Any) -> None:
    with pytest.raises(InputError):
        nr.Lagged(nr.AAR()).replay(None, y)


def test_a_bare_series_may_come_with_rows_of_nothing() -> None:
    series = np.sin(np.arange(9.0))
    expected = nr.Lagged(nr.AAR()).replay(None, series).forecast
    for X in (np.empty((9, 0)), [[] for _ in series], [() for _ in series], [{} for _ in series]):
        assert nr.Lagged(nr.AAR()).replay(X, series).forecast.tolist() == expected.tolist()
        assert nr.Lagged(nr.AAR()).fit(X, series).predict(X[:2]).shape == (2,)


# The caller's own code ----------------------------------------------------------------------


class Trouble(Exception):  # noqa: N818  # no child of ours, and of none that is caught by habit
    """What a caller's code raises."""


class Failing:
    """A kernel, or a family of kernels, that fails from some call on."""

    def __init__(self, calls: float = math.inf) -> None:
        self.left = calls

    def __call__(self, *given: Any) -> Any:
        self.left -= 1
        if self.left < 0:
            raise Trouble("out of order")
        return np.asarray(given[-2]) @ np.asarray(given[-1]).T


KERNELS: dict[str, Callable[[Any], Any]] = {
    "ridge": lambda k: nr.Ridge(kernel=k),
    "bayes, drift": lambda k: nr.BayesianRidge(kernel=k, drift=0.1),
    "window": lambda k: nr.AAR(kernel=k, budget=nr.Window(3)),
    "nystrom": lambda k: nr.AAR(kernel=k, budget=nr.Nystrom(3)),
    "kernel lms": lambda k: nr.KernelLMS(k, 0.01),
    "net": lambda k: nr.KLMSNet(9.0, family=k, nodes=4),
    "lagged": lambda k: nr.Lagged(nr.Ridge(kernel=k)),
    "lagged, horizon": lambda k: nr.Lagged(nr.Ridge(kernel=k), [1], 2),
    "pool": lambda k: nr.AggregatingAlgorithm([nr.AAR(), nr.Ridge(kernel=k)]),
}
ROWS = np.random.default_rng(0).normal(size=(6, 2))


@pytest.mark.parametrize("make", KERNELS.values(), ids=KERNELS)
def test_a_kernel_that_fails(make: Callable[[Any], Any]) -> None:
    """At every single call of it: the error is ours, the cause is kept, the state stays."""
    for calls in range(40):
        kernel = Failing()
        learner = make(kernel)
        for x, y in zip(ROWS[:4], ROWS[:4, 0].tolist()):
            learner.learn_one(x, y)
        parts = [learner, *getattr(learner, "experts_", {}).values()]
        inner = getattr(learner, "learner_", None)
        parts += [] if inner is None else [inner]
        for part in parts:  # a pool has a copy of the kernel
            held = getattr(part, "kernel", None)
            kernel = held if isinstance(held, Failing) else kernel
        before = bits(learner.predict_one(ROWS[4])), learner.n_samples_seen_
        kernel.left = calls
        try:
            learner.learn_one(ROWS[5], 0.5)
        except NoRegretError as error:
            assert isinstance(error, FeatureError)  # noqa: PT017  # one of many rounds
            assert isinstance(error.__cause__, Trouble)  # noqa: PT017  # not all raise
            assert "out of order" in str(error)  # noqa: PT017  # not all raise
        else:
            assert calls > 0
            break
        kernel.left = math.inf
        assert (bits(learner.predict_one(ROWS[4])), learner.n_samples_seen_) == before
        learner.learn_one(ROWS[5], 0.5)
        assert learner.n_samples_seen_ == before[1] + 1
    else:
        pytest.fail("it never learned")


@pytest.mark.parametrize("make", KERNELS.values(), ids=KERNELS)
def test_a_kernel_that_fails_from_the_first_call(make: Callable[[Any], Any]) -> None:
    calls = [lambda one: one.learn_one(ROWS[0], 0.5), lambda one: one.fit(ROWS, ROWS[:, 0])]
    for call in calls:
        learner = make(Failing(0))
        with pytest.raises(FeatureError, match="out of order") as caught:
            call(learner)
        assert isinstance(caught.value.__cause__, Trouble)
        assert not learner.__sklearn_is_fitted__()


class Custom(RBF):
    """A kernel of scikit-learn's kind with a diagonal that fails."""

    def diag(self, _: Any) -> Any:
        raise Trouble("no diagonal")


def test_a_diagonal_that_fails() -> None:
    learner = nr.Ridge(kernel=Custom())
    with pytest.raises(FeatureError, match="no diagonal") as caught:
        learner.fit(ROWS, ROWS[:, 0])
    assert isinstance(caught.value.__cause__, Trouble)


@pytest.mark.parametrize("make", KERNELS.values(), ids=KERNELS)
def test_a_kernel_of_another_width(make: Callable[[Any], Any]) -> None:
    """scikit-learn's RBF with a length for each of three features, on inputs of two."""
    widths = RBF([1.0, 2.0, 3.0, 4.0])
    learner = make((lambda _, U, V: widths(U, V)) if make is KERNELS["net"] else widths)
    for call in (lambda: learner.learn_one(ROWS[0], 1.0), lambda: learner.fit(ROWS, ROWS[:, 0])):
        with pytest.raises(FeatureError) as caught:
            call()
        assert isinstance(caught.value.__cause__, ValueError)


def test_a_drift_that_fails() -> None:
    def drift(t: int) -> float:
        if t > 4:
            raise Trouble("no longer")
        return 0.1

    for make in (nr.Ridge, lambda **given: nr.AAR(kernel="rbf", **given)):
        learner = make(drift=drift)
        for x in ROWS[:3]:
            learner.learn_one(x, 0.5)
        before = bits(learner.predict_one(ROWS[0]))
        for call in (
            lambda one=learner: one.learn_one(ROWS[3], 0.5),
            lambda one=learner: one.replay(ROWS, ROWS[:, 0]),
        ):
            with pytest.raises(ParameterError, match="round 5 raised Trouble") as caught:
                call()
            assert isinstance(caught.value.__cause__, Trouble)
            assert bits(learner.predict_one(ROWS[0])) == before
            assert learner.n_samples_seen_ == 3


class Expert:
    """A learner, an estimator or a function that fails in one of its methods."""

    def __init__(self, method: str) -> None:
        self.method = method

    def _or_fail(self, method: str, found: Any) -> Any:
        if method == self.method:
            raise Trouble(method)
        return found


class ALearner(Expert):
    def predict_one(self, _: Any) -> Any:
        return self._or_fail("predict_one", 0.5)

    def learn_one(self, _: Any, __: float) -> None:
        self._or_fail("learn_one", None)


class AnEstimator(Expert):
    def predict(self, X: Any) -> Any:
        return self._or_fail("predict", np.zeros(len(X)))

    def partial_fit(self, _: Any, __: Any) -> None:
        self._or_fail("partial_fit", None)
        self.fitted_ = True


class Density:
    """A forecast whose density fails."""

    mean = 0.0

    def log_density(self, _: float) -> float:
        raise Trouble("log_density")


def failing(_: Any) -> float:
    raise Trouble("a function")


EXPERTS: dict[str, tuple[Any, str]] = {
    "predict_one": (ALearner("predict_one"), "square"),
    "learn_one": (ALearner("learn_one"), "square"),
    "predict": (AnEstimator("predict"), "square"),
    "partial_fit": (AnEstimator("partial_fit"), "square"),
    "function": (failing, "square"),
    "density": (lambda _: Density(), "log"),
}


@pytest.mark.parametrize(("expert", "loss"), EXPERTS.values(), ids=EXPERTS)
def test_an_expert_that_fails(expert: Any, loss: str) -> None:
    pool = nr.AggregatingAlgorithm({"good": nr.BayesianRidge(), "bad": expert}, loss=loss)
    if expert is EXPERTS["predict"][0]:
        pool.learn_one(ROWS[0], 0.5)  # an estimator forecasts from its second round on
    fitted = pool.__sklearn_is_fitted__()
    for call in (
        lambda: pool.learn_one(ROWS[1], 0.5),
        lambda: pool.replay(ROWS[:3], ROWS[:3, 0]),
        lambda: pool.fit(ROWS[:3], ROWS[:3, 0]),
    ):
        with pytest.raises(InputError, match="expert 'bad' raised Trouble") as caught:
            call()
        assert isinstance(caught.value.__cause__, Trouble)
        assert pool.__sklearn_is_fitted__() == fitted
    if fitted:
        assert pool.n_samples_seen_ == pool.experts_["good"].n_samples_seen_ == 1


@pytest.mark.parametrize("method", ["predict_one", "learn_one"])
@pytest.mark.parametrize("wrap", [nr.Lagged, nr.Delayed])
def test_a_learner_in_a_wrapper_that_fails(wrap: Callable[[Any], Any], method: str) -> None:
    wrapper = wrap(ALearner(method))
    with pytest.raises(InputError, match=f"raised Trouble: {method}") as caught:
        wrapper.learn_one(wrapper.predict_one([1.0]) if wrap is nr.Delayed else [1.0], 0.5)
    assert isinstance(caught.value.__cause__, Trouble)


@pytest.mark.parametrize("outcome_range", [HUGE, (0, HUGE), (-(10**5000), 1), Fraction(HUGE)])
def test_a_range_that_no_float64_holds(outcome_range: Any) -> None:
    for make in (nr.Auto, nr.KLMSNet, lambda r: nr.AggregatingAlgorithm(["a"], outcome_range=r)):
        with pytest.raises(ParameterError, match="outcome_range"):
            make(outcome_range).predict_one([1.0])


def test_what_interrupts_is_left_alone() -> None:
    """Only exceptions are wrapped: a signal must get through."""

    def interrupted(_: Any, __: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        nr.Ridge(kernel=interrupted).learn_one([1.0], 1.0)
