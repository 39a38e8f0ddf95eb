"""Yes-or-no learners among learners: replay, names, copies, labels, scikit-learn's habits."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import noregret as nr
from noregret.errors import FeatureError

LEARNERS: dict[str, Any] = {
    "map": lambda: nr.MAPLogistic(3.0),
    "newton": lambda: nr.MAPLogistic(3.0, history=False),
    "map-probit": lambda: nr.MAPLogistic(3.0, family="probit"),
    "exact": lambda: nr.BayesianLogistic(3.0, method="exact"),
    "tierney-kadane": lambda: nr.BayesianLogistic(3.0, method="tierney-kadane"),
    "smc": lambda: nr.BayesianLogistic(3.0, method="smc", particles=200, seed=7),
    "adf": lambda: nr.BayesianLogistic(3.0, method="adf"),
    "adf-probit": lambda: nr.BayesianLogistic(3.0, method="adf", family="probit"),
    "auto": lambda: nr.BayesianLogistic(3.0),
    "aioli": lambda: nr.ImproperLogistic(4.0, regularisation=0.3),
}
LONG = ("exact", "auto")  # a grid of two weights takes long
NAMES = [pytest.param(n, marks=pytest.mark.slow) if n in LONG else n for n in LEARNERS]
EACH = pytest.mark.parametrize("name", NAMES)
SAFE = {"safe": lambda: nr.SafeLogistic(3.0, method="adf")}
ALL = pytest.mark.parametrize("name", [*NAMES, "safe"])


def make(name: str) -> Any:
    return (LEARNERS | SAFE)[name]()


def labelled(n: int = 2, T: int = 25, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """X with |x| <= 1, and labels from a logistic model."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(T, n))
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1))[:, None]
    chances = 1.0 / (1.0 + np.exp(-(X @ (rng.normal(size=n) * 3.0))))
    return X, (rng.random(T) < chances).astype(int)


@ALL
def test_replay_is_the_loop(name: str) -> None:
    X, y = labelled()
    one, many = make(name), make(name)
    forecasts = []
    for x, label in zip(X, y):
        forecasts.append(one.predict_one(x))
        one.learn_one(x, int(label))
    replay = many.replay(X, y)
    assert_allclose(replay.forecast, forecasts, rtol=1e-10, atol=1e-12)
    assert_allclose(many.predict(X), one.predict(X), rtol=1e-10, atol=1e-12)
    assert one.predict_one(X[0]) == many.predict_one(X[0])
    assert replay.certificate.rounds == len(X) == many.n_samples_seen_


@ALL
def test_forecasting_changes_nothing(name: str) -> None:
    X, y = labelled()
    quiet, chatty = make(name), make(name)
    for x, label in zip(X, y):
        for probe in X[:3] * 5.0:
            chatty.predict_one(probe)
        quiet.learn_one(x, int(label))
        chatty.learn_one(x, int(label))
        assert quiet.predict_one(x) == chatty.predict_one(x)


@EACH
def test_what_is_booked_is_what_was_forecast(name: str) -> None:
    X, y = labelled()
    learner = make(name)
    p = np.array([])
    for x, label in zip(X, y):
        p = np.append(p, learner.predict_one(x))
        assert learner.predictive(x).probability == p[-1]
        learner.learn_one(x, int(label))
    right = np.where(y, p, 1.0 - p)
    assert_allclose(learner.log_loss_, -np.log(right).sum(), rtol=1e-9)
    assert_allclose(learner.brier_, ((y - p) ** 2).sum(), rtol=1e-9)
    assert_allclose(learner.certificate().loss, learner.log_loss_, rtol=1e-12)


@EACH
def test_names_in_any_order(name: str) -> None:
    X, y = labelled()
    positions, names = make(name), make(name)
    for x, label in zip(X, y):
        positions.learn_one(x, int(label))
        point = {"a": x[0], "b": x[1]}
        names.learn_one(point if label else dict(reversed(point.items())), bool(label))
        if name != "smc" or y[0]:
            assert_allclose(
                names.predict_one({"b": x[1], "a": x[0]}), positions.predict_one(x), rtol=1e-12
            )


@pytest.mark.parametrize("name", [k for k in LEARNERS if k != "smc"])
def test_a_name_that_comes_late_was_0_before(name: str) -> None:
    X, y = labelled()
    X[:10, 1] = 0.0
    late, early = make(name), make(name)
    for t, (x, label) in enumerate(zip(X, y)):
        point = {"a": x[0], "b": x[1]}
        known = {"a": x[0]} if t < 10 else point
        assert_allclose(late.predict_one(known), early.predict_one(point), rtol=0.0, atol=1e-9)
        late.learn_one(known, int(label))
        early.learn_one(point, int(label))
    assert late.n_features_in_ == 2
    assert_allclose(late.log_loss_, early.log_loss_, rtol=0.0, atol=1e-8)
    for one, other in zip(late.certificates(), early.certificates(), strict=True):
        assert_allclose(one.comparator, other.comparator, rtol=0.0, atol=1e-8)


def test_particles_of_a_name_that_comes_late() -> None:
    """The forecast with the new name is the one that is then charged."""
    learner = make("smc")
    for t in range(15):
        learner.learn_one({"a": 1.0 - 0.1 * t}, t % 3 == 0)
    before = learner.log_loss_
    p = learner.predict_one({"a": 0.5, "b": 1.0})
    learner.learn_one({"a": 0.5, "b": 1.0}, 1)
    assert_allclose(learner.log_loss_ - before, -math.log(p), rtol=1e-12)
    assert learner.n_features_in_ == 2


@ALL
def test_copies_go_on_alike_and_apart(name: str) -> None:
    X, y = labelled()
    learner = make(name)
    learner.partial_fit(X[:12], y[:12])
    before = learner.predict_one(X[0])
    one, other = copy.deepcopy(learner), copy.deepcopy(learner)
    one.partial_fit(X[12:], y[12:])
    assert learner.predict_one(X[0]) == before
    other.partial_fit(X[12:], y[12:])
    assert_array_equal(one.predict(X), other.predict(X))
    assert one.predict_one(X[3]) == other.predict_one(X[3])
    fresh = clone(learner)
    assert fresh.get_params() == learner.get_params()
    assert not fresh.__sklearn_is_fitted__()


@ALL
def test_pickles_go_on_bit_for_bit(name: str) -> None:
    X, y = labelled()
    learner = make(name)
    learner.partial_fit(X[:12], y[:12])
    back = pickle.loads(pickle.dumps(learner))
    learner.partial_fit(X[12:], y[12:])
    back.partial_fit(X[12:], y[12:])
    assert back.predict_one(X[0]) == learner.predict_one(X[0])
    assert str(back.certificate()) == str(learner.certificate())


@pytest.mark.parametrize("name", ["map", "adf", "aioli"])
def test_a_pickle_of_an_unfitted_learner(name: str) -> None:
    back = pickle.loads(pickle.dumps(make(name)))
    assert back.get_params() == make(name).get_params()


@EACH
def test_fit_forgets(name: str) -> None:
    X, y = labelled()
    once, twice = make(name).fit(X, y), make(name).fit(X[::-1], y[::-1]).fit(X, y)
    assert once.predict_one(X[0]) == twice.predict_one(X[0])
    assert once.log_loss_ == twice.log_loss_


def test_particles_by_seed() -> None:
    X, y = labelled()

    def forecasts(seed: int) -> np.ndarray:
        return (
            nr.BayesianLogistic(3.0, method="smc", particles=100, seed=seed).replay(X, y).forecast
        )

    assert_array_equal(forecasts(1), forecasts(1))
    assert not np.array_equal(forecasts(1), forecasts(2))


# Labels -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([0, 1], [0, 1]),
        ([0.0, 1.0], [0, 1]),
        ([False, True], [0, 1]),
        (["no", "yes"], ["no", "yes"]),
        ([-1, 1], [-1, 1]),
        ([3, 7], [3, 7]),
    ],
)
def test_labels_of_any_kind(labels: list[Any], classes: list[Any]) -> None:
    X, y = labelled()
    plain = make("map").fit(X, y)
    learner = make("map").fit(X, np.array(labels)[y])
    assert learner.classes_.tolist() == classes
    assert_array_equal(learner.predict_proba(X), plain.predict_proba(X))
    assert_array_equal(learner.predict(X), np.array(classes)[plain.predict(X)])
    assert learner.log_loss_ == plain.log_loss_
    learner.learn_one(X[0], labels[1])
    plain.learn_one(X[0], 1)
    assert learner.predict_one(X[1]) == plain.predict_one(X[1])
    assert learner.score(X, np.array(labels)[y]) == plain.score(X, y)


def test_classes_that_have_not_come_yet() -> None:
    X, y = labelled()
    one = make("map").partial_fit(X[:1], ["b"], classes=["b", "a"])
    assert one.classes_.tolist() == ["a", "b"]
    one.partial_fit(X[1:], np.where(y[1:], "b", "a"))
    other = make("map").fit(X, np.append(1, y[1:]))
    assert_array_equal(one.predict_proba(X), other.predict_proba(X))


def test_one_class_only_is_0_or_1() -> None:
    X, _ = labelled()
    assert make("map").fit(X, np.ones(len(X), dtype=int)).classes_.tolist() == [0, 1]


@pytest.mark.slow
def test_probabilities_add_up() -> None:
    X, y = labelled()
    for name in LEARNERS:
        learner = make(name).fit(X, y)
        table = learner.predict_proba(X)
        assert table.shape == (len(X), 2)
        assert_allclose(table.sum(axis=1), 1.0, rtol=1e-15)
        assert_array_equal(learner.predict(X), (table[:, 1] > 0.5).astype(int))
        assert table[3, 1] == learner.predict_one(X[3])


# What auto does -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "horizon", "says"),
    [
        (1, None, "exact"),
        (2, None, "exact"),
        (3, None, "adf"),
        (3, 500, "tierney-kadane"),
        (3, 10_000, "adf"),
    ],
)
def test_auto_says_what_it_runs(n: int, horizon: int | None, says: str) -> None:
    learner = nr.BayesianLogistic(2.0, horizon=horizon)
    assert "runs" not in repr(learner)
    learner.learn_one(np.ones(n), 1)
    assert f"runs '{says}'" in repr(learner)
    engine = type(learner._state.posterior).__name__
    assert engine == {"exact": "Exact", "adf": "Recursive", "tierney-kadane": "TierneyKadane"}[says]


def test_auto_says_what_it_runs_when_names_have_grown() -> None:
    learner = nr.BayesianLogistic(2.0)
    learner.learn_one({"a": 1.0}, 1)
    learner.learn_one({"a": 1.0, "b": 0.5, "c": 0.2}, 0)
    kinds = {"Exact": "exact", "Recursive": "adf", "TierneyKadane": "tierney-kadane"}
    assert f"runs '{kinds[type(learner._state.posterior).__name__]}'" in repr(learner)


def test_exact_averaging_of_three_features_is_refused() -> None:
    learner = nr.BayesianLogistic(2.0, method="exact")
    with pytest.raises(nr.errors.FeatureError, match="exact averaging is for 1 or 2"):
        learner.learn_one(np.ones(3), 1)
    with pytest.raises(nr.errors.FeatureError, match="exact averaging is for 1 or 2"):
        learner.fit(np.ones((4, 3)), [0, 1, 0, 1])


def test_exact_averaging_that_grows_to_three_features_is_refused() -> None:
    learner = nr.BayesianLogistic(2.0, method="exact")
    learner.learn_one({"a": 1.0}, 1)
    before = learner.predict_one({"a": 1.0})
    with pytest.raises(nr.errors.FeatureError, match="exact averaging is for 1 or 2"):
        learner.learn_one({"a": 1.0, "b": 0.5, "c": 0.2}, 0)
    assert learner.n_samples_seen_ == 1
    assert learner.predict_one({"a": 1.0}) == before


@pytest.mark.parametrize(
    "change",
    [
        (lambda: nr.MAPLogistic(64.0), {"prior_var": 1e-6}),
        (lambda: nr.BayesianLogistic(64.0, method="exact"), {"prior_var": 1e-6}),
        (lambda: nr.ImproperLogistic(10.0), {"margin_bound": 0.01}),
        (lambda: nr.MAPLogistic(64.0), {"family": "probit"}),
    ],
)
def test_parameters_set_after_the_first_round_wait_for_the_next_fit(change: Any) -> None:
    """A certificate speaks of the learner that ran, not of the one that would run now."""
    build, new = change
    X, y = np.ones((40, 1)), np.arange(40) % 2
    learner = build()
    learner.replay(X, y)
    before = [(c.name, c.bound, c.comparator) for c in learner.certificates()]
    learner.set_params(**new)
    assert [(c.name, c.bound, c.comparator) for c in learner.certificates()] == before


# The fast lane ------------------------------------------------------------------------------

QUICK = pytest.mark.parametrize("name", ["adf", "adf-probit", "newton", "aioli"])


@QUICK
def test_dictionaries_arrays_and_lists_give_the_same_bits(name: str) -> None:
    """A dict, an array, a strided view and a list of numbers take different ways in."""
    X, y = labelled(n=3, T=60)
    names = ["a", "b", "c"]
    learners = [make(name) for _ in range(4)]
    wide = np.repeat(X, 2, axis=1)
    for t, (x, label) in enumerate(zip(X, y.tolist())):
        rounds = [dict(zip(names, x.tolist())), x, wide[t, ::2], x.tolist()]
        said = {learner.predict_one(way) for learner, way in zip(learners, rounds)}
        assert len(said) == 1
        for k, (learner, way) in enumerate(zip(learners, rounds)):
            learner.learn_one(way, (label, bool(label), float(label), np.int64(label))[k])
    assert len({learner.log_loss_ for learner in learners}) == 1
    assert len({learner.certificate().bound for learner in learners}) == 1


@QUICK
@pytest.mark.parametrize("bad", [math.nan, math.inf, 1e101, 2**53 + 1, "1", None, 1j])
def test_a_value_that_is_no_number_or_too_large_is_found_in_a_dictionary(
    name: str, bad: Any
) -> None:
    learner = make(name)
    for t in range(5):
        learner.learn_one({"a": 0.1 * t, "b": 1.0}, t % 2)
    before = learner.log_loss_, learner.coef_.tobytes(), learner.n_samples_seen_
    for call in (learner.predict_one, lambda x: learner.learn_one(x, 1)):
        with pytest.raises(FeatureError, match="a"):
            call({"a": bad, "b": 1.0})
    assert before == (learner.log_loss_, learner.coef_.tobytes(), learner.n_samples_seen_)
