"""A round that any part of a learner refuses leaves all of its parts as they were, to the last bit.

Every kind of member in every kind of pool and wrapper, one round at a time and many.  What is
compared is public: forecasts, losses, weights, certificates and rounds of the whole and of each
part; and after the refusal the learner goes on as a twin does that never saw the round.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import SGDRegressor

import noregret as nr
from noregret.errors import NoRegretError, NotLearnedError, NumericalError, ParameterError
from stored import bits, proofs

AA = nr.AggregatingAlgorithm
rng = np.random.default_rng(0)
X = rng.normal(size=(9, 2))
Y = X[:, 0].clip(-1.0, 1.0).round(2)
LABELS = (Y > 0.0).astype(float)


class Moody:
    """A function of the caller's that fails while it is told to."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.fails = function, False

    def __deepcopy__(self, memo: Any) -> Moody:
        return self  # as a plain function is its own copy

    def __call__(self, *given: Any) -> Any:
        if self.fails:
            raise KeyError("not today")
        return self.function(*given)


kernel = Moody(lambda U, V: np.asarray(U) @ np.asarray(V).T)
family = Moody(lambda alpha, U, V: np.exp(-alpha * np.abs(np.subtract.outer(U[:, 0], V[:, 0]))))
drift = Moody(lambda t: 0.1 / t)
learning = Moody(lambda: None)
MOODS = kernel, family, drift, learning


class Foreign:
    """Somebody else's learner."""

    def __init__(self) -> None:
        self.total = 0.0

    def predict_one(self, _: Any) -> float:
        return self.total

    def learn_one(self, _: Any, y: float) -> None:
        learning()
        self.total = 0.9 * self.total + 0.1 * y


class Child(nr.AAR):
    """Somebody's child of one of our learners."""

    def learn_one(self, x: Any, y: Any) -> None:
        learning()
        super().learn_one(x, y)

    def replay(self, X: Any, y: Any) -> Any:
        learning()
        return super().replay(X, y)


class Estimator(SGDRegressor):
    def partial_fit(self, X: Any, y: Any) -> Any:
        learning()
        return super().partial_fit(X, y)


def river() -> Any:
    from noregret.adapters.river import RiverRegressor

    return RiverRegressor(nr.KLMSNet(1.0, nodes=8))


LARGE, OUTSIDE = 1e145, 3.0
MEMBERS: dict[str, tuple[Callable[[], Any], float | Moody]] = {
    "net": (lambda: nr.KLMSNet(1.0, nodes=8), OUTSIDE),
    "net of a family": (lambda: nr.KLMSNet(1.0, family=family, nodes=4), OUTSIDE),
    "net whose family fails": (lambda: nr.KLMSNet(9.0, family=family, nodes=4), family),
    "oslog": (lambda: nr.OSLOG(0.5, start=0.1), LARGE),
    "safe oslog": (lambda: nr.SafeOSLOG(0.5, start=0.1), LARGE),
    "kernel ridge": (lambda: nr.Ridge(0.1, kernel=kernel), kernel),
    "kernel ridge, window": (lambda: nr.Ridge(0.1, kernel=kernel, budget=nr.Window(3)), kernel),
    "nystrom": (lambda: nr.AAR(0.1, kernel=kernel, budget=nr.Nystrom(4)), kernel),
    "kernel lms": (lambda: nr.KernelLMS(kernel, 0.01), kernel),
    "drift": (lambda: nr.Ridge(drift=drift), drift),
    "kernel and drift": (lambda: nr.AAR(kernel="rbf", drift=drift), drift),
    "pool": (lambda: AA([nr.Ridge(), nr.KLMSNet(1.0, nodes=8), nr.OSLOG()]), OUTSIDE),
    "lagged": (lambda: nr.Lagged(nr.KLMSNet(1.0, nodes=8), [1, 2]), OUTSIDE),
    "lagged, horizon 3": (lambda: nr.Lagged(nr.KLMSNet(1.0, nodes=8), [1], 3), OUTSIDE),
    "lagged kernel, horizon 2": (lambda: nr.Lagged(nr.Ridge(kernel=kernel), [1], 2), kernel),
    "in River": (river, OUTSIDE),
    "foreign": (Foreign, learning),
    "child": (Child, learning),
    "estimator": (lambda: Estimator(random_state=0), learning),
}
BINARY: dict[str, Callable[[], Any]] = {
    "map": lambda: nr.MAPLogistic(2.0),
    "map, no history": lambda: nr.MAPLogistic(2.0, history=False),
    "moments": lambda: nr.BayesianLogistic(method="adf"),
    "particles": lambda: nr.BayesianLogistic(method="smc", particles=30),
    "ratio": lambda: nr.BayesianLogistic(method="tierney-kadane"),
    "improper": nr.ImproperLogistic,
    "safe logistic": lambda: nr.SafeLogistic(method="adf"),
}


def signature(learner: Any) -> Any:
    """All that can be seen of a learner and of its parts."""
    model = getattr(learner, "model", learner)  # of River's adapter
    if isinstance(model, Foreign):
        return bits(model.total)
    if isinstance(model, SGDRegressor):
        return bits(model.coef_), model.t_
    seen: list[Any] = [proofs(model), model.n_samples_seen_]
    seen.append(bits([model.predict_one(x) for x in X]))
    for name in ("weights_", "losses_"):
        found = getattr(model, name, ())
        seen.append(bits(list(found.values()) if isinstance(found, dict) else found))
    seen += [signature(part) for part in getattr(model, "experts_", {}).values()]
    return seen


def refused(call: Callable[[], Any], cause: float | Moody) -> None:
    """The call is refused with an error of ours, which keeps the cause."""
    if not isinstance(cause, Moody):
        with pytest.raises(NoRegretError):
            call()
        return
    cause.fails = True
    try:
        with pytest.raises(NoRegretError, match="not today") as caught:
            call()
        assert isinstance(caught.value.__cause__, KeyError)
    finally:
        cause.fails = False


def check(make: Callable[[], Any], good: np.ndarray, cause: float | Moody) -> None:
    learner, twin = make(), make()
    bad = cause if isinstance(cause, float) else 0.25
    calls = [lambda: learner.learn_one(X[6], bad)]
    rows, column = X[6:8], np.array([good[6], bad])
    calls += [lambda name=name: getattr(learner, name)(rows, column) for name in TABLES]
    for x, y in zip(X[:5], good.tolist()):
        learner.learn_one(x, y)
        twin.learn_one(x, y)
    before = signature(learner)
    for call in calls:
        refused(call, cause)
        assert signature(learner) == before
    for x, y in zip(X[5:], good[5:].tolist()):
        learner.learn_one(x, y)
        twin.learn_one(x, y)
    assert signature(learner) == signature(twin)


TABLES = "replay", "partial_fit", "fit"
ROSTERS: dict[str, Callable[[Any], list[Any]]] = {
    "first": lambda bad: [bad(), nr.AAR(), nr.Ridge(drift=0.1)],
    "last": lambda bad: [nr.AAR(), nr.Auto(), bad()],
    "twice": lambda bad: [bad(), nr.AAR(), bad()],
    "among others that may refuse": lambda bad: [
        nr.OSLOG(0.5, start=0.1),
        nr.Ridge(kernel="rbf"),
        bad(),
        Foreign(),
        nr.KernelLMS("rbf", 0.1),
        nr.KLMSNet(1e150 / 2.0, nodes=6),
    ],
}


@pytest.fixture(autouse=True)
def _calm() -> Any:
    yield
    for mood in MOODS:
        mood.fails = False


@pytest.mark.slow
@pytest.mark.parametrize("roster", ROSTERS.values(), ids=ROSTERS)
@pytest.mark.parametrize(("make", "cause"), MEMBERS.values(), ids=MEMBERS)
def test_a_member_that_refuses(make: Any, cause: float | Moody, roster: Any) -> None:
    check(lambda: AA(roster(make)), Y, cause)


@pytest.mark.parametrize("make", BINARY.values(), ids=BINARY)
@pytest.mark.parametrize("place", ["first", "last", "twice"])
def test_a_member_that_takes_labels_only(make: Any, place: str) -> None:
    check(lambda: AA(ROSTERS[place](make)), LABELS, 0.5)


def test_a_mixture_and_exponential_weights() -> None:
    both = [nr.BayesianRidge(), nr.OSLOG(0.5, start=0.1), nr.BayesianRidge(drift=0.1)]
    check(lambda: nr.BayesianAlgorithm(both), Y, LARGE)
    nets = [nr.AAR(), nr.KLMSNet(1.0, nodes=8), nr.KLMSNet(2.0, nodes=8)]
    check(lambda: nr.ExponentialWeights(nets, outcome_range=1.0), Y, OUTSIDE)


@pytest.mark.parametrize("make", [nr.SafeOSLOG, lambda: nr.Lagged(nr.SafeOSLOG(), [1], 2)])
def test_the_pool_of_oslog_and_aar(make: Callable[[], Any]) -> None:
    check(make, Y, LARGE)


LEARNERS = [name for name in MEMBERS if name != "estimator"]
REPLAYED = [name for name in LEARNERS if name not in ("in River", "foreign")]


@pytest.mark.parametrize("name", REPLAYED)
@pytest.mark.parametrize("horizon", [1, 3])
def test_lagged(name: str, horizon: int) -> None:
    make, cause = MEMBERS[name]
    check(lambda: nr.Lagged(make(), [1, 2], horizon), Y, cause)


@pytest.mark.parametrize("name", LEARNERS)
def test_delayed(name: str) -> None:
    """The ticket goes on waiting, and its outcome is learned when it is good."""
    make, cause = MEMBERS[name]
    delayed, twin = nr.Delayed(make()), nr.Delayed(make())
    for x, y in zip(X, Y.tolist()):
        ticket, same = delayed.predict_one(x), twin.predict_one(x)
        before = delayed.issued_, signature(delayed.learner_) if delayed.issued_.settled else None
        bad = cause if isinstance(cause, float) else y
        delayed.learner_.predict_one(X[0] + 1.0)  # so that no look at x is remembered
        refused(lambda t=ticket, y=bad: delayed.learn_one(t, y), cause)
        now = delayed.issued_, signature(delayed.learner_) if delayed.issued_.settled else None
        assert now == before
        delayed.learn_one(ticket, y)
        twin.learn_one(same, y)
    assert signature(delayed.learner_) == signature(twin.learner_)
    assert delayed.issued_ == twin.issued_


@pytest.mark.parametrize("make", [nr.Ridge, lambda: nr.BayesianRidge(drift=0.1)])
@pytest.mark.parametrize("horizon", [2, 3])
def test_a_loss_beyond_float64_at_a_horizon(make: Any, horizon: int) -> None:
    lagged, twin = (nr.Lagged(make(), [1], horizon) for _ in range(2))
    for x, y in zip(X[:6], Y.tolist()):
        lagged.learn_one(x, y)
        twin.learn_one(x, y)
    before = seen_of(lagged)
    wild = [1e160, -1e160]
    with pytest.raises(NumericalError, match="does not fit in float64"):
        lagged.learn_one(wild, 0.5)
    with pytest.raises(NumericalError, match="does not fit in float64"):
        lagged.replay([X[6], wild], [0.5, 0.5])
    assert seen_of(lagged) == before
    lagged.learn_one(X[6], 0.5)
    twin.learn_one(X[6], 0.5)
    assert seen_of(lagged) == seen_of(twin)


def seen_of(wrapper: Any) -> Any:
    """What can be seen of a wrapper and of the weights that it has learned."""
    inner = bits(wrapper.learner_.coef_), proofs(wrapper.learner_)
    return inner, proofs(wrapper), getattr(wrapper, "issued_", None)


def test_a_loss_beyond_float64_of_a_forecast_that_was_issued() -> None:
    delayed = nr.Delayed(nr.Ridge(1e-3))
    delayed.learn_one(delayed.predict_one([1.0]), 1.0)
    wild = delayed.predict_one([1e160])
    before = seen_of(delayed)
    with pytest.raises(NumericalError, match="does not fit in float64"):
        delayed.learn_one(wild, 1.0)
    assert seen_of(delayed) == before
    delayed.drop(wild)


@pytest.mark.parametrize(
    "make",
    [
        lambda inner: AA([nr.AAR(), inner]),
        nr.Lagged,
        nr.Delayed,
    ],
)
def test_what_forecasts_by_ticket_is_no_part_of_another(make: Callable[[Any], Any]) -> None:
    """It would issue a ticket for a forecast that is then refused."""
    inner = nr.Delayed(nr.AAR())
    with pytest.raises(ParameterError, match="Delayed"):
        make(inner).predict_one([1.0])
    with pytest.raises(NotLearnedError):
        _ = inner.issued_
