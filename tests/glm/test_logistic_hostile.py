"""Yes-or-no learners and bad input: the right error, the right words, and no trace."""

from __future__ import annotations

import decimal
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

import noregret as nr
from noregret.errors import (
    FeatureError,
    InputError,
    NotLearnedError,
    NumericalError,
    OutcomeError,
    ParameterError,
)

NAN, INF = math.nan, math.inf
LEARNERS: dict[str, Any] = {
    "map": lambda: nr.MAPLogistic(3.0),
    "newton": lambda: nr.MAPLogistic(3.0, history=False),
    "exact": lambda: nr.BayesianLogistic(3.0, method="exact"),
    "tierney-kadane": lambda: nr.BayesianLogistic(3.0, method="tierney-kadane"),
    "smc": lambda: nr.BayesianLogistic(3.0, method="smc", particles=50),
    "adf": lambda: nr.BayesianLogistic(3.0, method="adf"),
    "aioli": lambda: nr.ImproperLogistic(2.0, regularisation=0.5),
}
EACH = pytest.mark.parametrize("name", LEARNERS)
X = np.array([[0.5, -1.0], [1.0, 0.25], [-0.75, 0.5], [0.2, 0.1], [1.0, 1.0]])
Y = [1, 0, 1, 1, 0]
GOOD = np.array([0.3, 0.4])


def state(learner: Any) -> bytes:
    """All that was learned, as its file has it."""
    return learner.to_bytes() if learner.__sklearn_is_fitted__() else b"fresh"


def taught(name: str) -> Any:
    return LEARNERS[name]().partial_fit(X, Y)


def refused(learner: Any, call: Any, error: type[Exception], *words: str) -> None:
    before = state(learner)
    with pytest.raises(error) as caught:
        call()
    for word in words:
        assert word in str(caught.value)
    assert state(learner) == before


BAD_X = [
    (np.array([NAN, 1.0]), FeatureError),
    (np.array([1.0, INF]), FeatureError),
    (np.array([-INF, 0.0]), FeatureError),
    (np.array([1.0]), FeatureError),
    (np.array([1.0, 2.0, 3.0]), FeatureError),
    (np.array([]), FeatureError),
    (np.array(["1.0", "2.0"]), FeatureError),
    (np.array([[1.0, 2.0]]), FeatureError),
    ([1.0, None], FeatureError),
    (["a", 1.0], FeatureError),
    (None, FeatureError),
    ("ab", FeatureError),
    (7.0, FeatureError),
    ({"a": 1.0, "b": 1.0}, FeatureError),
    (np.array([1.0 + 1.0j, 0.0]), FeatureError),
    (np.array([1e101, 0.0]), FeatureError),
    (np.array([1e308, 1e308]), FeatureError),
]
BAD_Y = [2, -1, 0.5, None, NAN, INF, "1", "yes", b"1", [1], (0,), {}, {1: 2}, 1e-300]
STRANGE_Y = [np.array([0, 1]), np.array([]), np.array([[1, 0]]), pd.NA, pd.NaT, pd.Series([1, 0])]


@EACH
@pytest.mark.parametrize(("x", "error"), BAD_X, ids=lambda v: repr(v)[:40])
def test_a_bad_x(name: str, x: Any, error: type[Exception]) -> None:
    learner = taught(name)
    refused(learner, lambda: learner.learn_one(x, 1), error)
    refused(learner, lambda: learner.predict_one(x), error)


@EACH
def test_the_words_for_a_bad_x(name: str) -> None:
    learner = taught(name)
    refused(learner, lambda: learner.learn_one(np.array([NAN, 0.0]), 1), FeatureError, "nan")
    refused(learner, lambda: learner.learn_one(GOOD * 1e101, 1), FeatureError, "rescale")
    refused(learner, lambda: learner.learn_one(np.ones(3), 1), FeatureError, "3", "2")


@EACH
@pytest.mark.parametrize("y", BAD_Y, ids=lambda v: repr(v)[:30])
def test_a_bad_label(name: str, y: Any) -> None:
    learner = taught(name)
    words = ("the labels are 0 and 1, give one", f"y = {y!r}")
    refused(learner, lambda: learner.learn_one(GOOD, y), OutcomeError, *words)
    fresh = LEARNERS[name]()
    refused(fresh, lambda: fresh.learn_one(GOOD, y), OutcomeError, *words)


@pytest.mark.parametrize("y", STRANGE_Y, ids=lambda v: " ".join(repr(v).split())[:30])
def test_a_label_that_cannot_be_compared(y: Any) -> None:
    learner = taught("map")
    refused(learner, lambda: learner.learn_one(GOOD, y), OutcomeError, "give one")


@pytest.mark.parametrize(
    "y", [1, 1.0, True, np.True_, np.int8(1), np.float32(1), np.array(1), decimal.Decimal(1)]
)
def test_a_label_that_is_1(y: Any) -> None:
    learner, twin = taught("adf"), taught("adf")
    learner.learn_one(GOOD, y)
    twin.learn_one(GOOD, 1)
    assert state(learner) == state(twin)


def test_labels_after_words() -> None:
    learner = nr.MAPLogistic().fit(X, ["yes", "no", "yes", "yes", "no"])
    for y in (1, 0, True, "maybe", None):
        refused(learner, lambda y=y: learner.learn_one(GOOD, y), OutcomeError, "'no' and 'yes'")
    other = nr.MAPLogistic().fit(X, [3, 1, 3, 3, 1])
    refused(other, lambda: other.learn_one(GOOD, True), OutcomeError, "1 and 3")


@EACH
@pytest.mark.parametrize("method", ["replay", "partial_fit", "fit"])
@pytest.mark.parametrize("spoiled", ["x", "y", "short", "wide"])
def test_a_bad_row_in_the_middle_of_many(name: str, method: str, spoiled: str) -> None:
    learner = taught(name)
    table, labels = np.tile(X, (3, 1)), Y * 3
    error: type[Exception] = FeatureError
    if spoiled == "x":
        table[7, 1] = NAN
    elif spoiled == "y":
        labels[7], error = 2, OutcomeError
    elif spoiled == "short":
        labels, error = labels[:-1], InputError
    elif method == "fit":
        table = table[:, :0]
    else:
        table = np.hstack([table, table])
    refused(learner, lambda: getattr(learner, method)(table, labels), error)


@pytest.mark.parametrize(
    "labels",
    [
        [None, 1, 0, 1, 1],
        [0, "a", 0, "a", 0],
        [0.0, NAN, 0.0, 0.0, 0.0],
        [0, 1, 2, 1, 0],
        [2, 2, 2, 2, 2],
        [[0, 1]] * 5,
        0,
        [],
        None,
    ],
    ids=repr,
)
def test_labels_that_make_no_classes(labels: Any) -> None:
    learner = nr.MAPLogistic()
    refused(learner, lambda: learner.fit(X, labels), OutcomeError)
    learner = taught("map")
    refused(learner, lambda: learner.partial_fit(X, labels), OutcomeError)


def test_words_and_numbers_are_not_the_same_label() -> None:
    """NumPy turns [0, 'a'] into strings: 0 would become '0' without a word."""
    learner = nr.MAPLogistic()
    refused(learner, lambda: learner.fit(X, [0, "a", 0, "a", 0]), OutcomeError)


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_a_bad_table(method: str) -> None:
    learner = taught("adf")
    for bad in (X * NAN, X[:, :1], np.hstack([X, X]), X[0], X.astype(str), X * 1e101):
        refused(learner, lambda bad=bad: getattr(learner, method)(bad), FeatureError)


@EACH
def test_asked_before_it_has_learned(name: str) -> None:
    learner = LEARNERS[name]()
    assert 0.0 <= learner.predict_one(GOOD) <= 1.0
    assert learner.predict_one(GOOD) == pytest.approx(0.5, abs=0.1)
    for ask in (
        lambda: learner.predict(X),
        lambda: learner.predict_proba(X),
        lambda: learner.classes_,
        lambda: learner.coef_,
        lambda: learner.log_loss_,
        learner.certificate,
        lambda: learner.n_samples_seen_,
    ):
        with pytest.raises(NotLearnedError):
            ask()


@pytest.mark.parametrize("value", [0.0, -1.0, NAN, INF, None, "1", True, 1j, 1e301])
def test_parameters_that_make_no_sense(value: Any) -> None:
    for learner, field in (
        (nr.MAPLogistic(value), "prior_var"),
        (nr.BayesianLogistic(value), "prior_var"),
        (nr.ImproperLogistic(value), "margin_bound"),
        (nr.ImproperLogistic(regularisation=value), "regularisation"),
    ):
        refused(learner, lambda m=learner: m.learn_one(GOOD, 1), ParameterError, f"{field} = ")


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({"method": "mcmc"}, "method"),
        ({"method": None}, "method"),
        ({"particles": 1}, "particles"),
        ({"particles": 10.0}, "particles"),
        ({"particles": True}, "particles"),
        ({"seed": -1}, "seed"),
        ({"seed": None}, "seed"),
        ({"horizon": 0}, "horizon"),
        ({"horizon": "long"}, "horizon"),
        ({"horizon": NAN}, "horizon"),
        ({"family": "cauchy"}, "family"),
        ({"family": None}, "family"),
    ],
    ids=repr,
)
def test_settings_that_make_no_sense(parameters: dict[str, Any], field: str) -> None:
    learner = nr.BayesianLogistic(**parameters)
    refused(learner, lambda: learner.learn_one(GOOD, 1), ParameterError, f"{field} = ")


def test_a_history_that_is_neither_true_nor_false() -> None:
    learner = nr.MAPLogistic(history=1)
    refused(learner, lambda: learner.learn_one(GOOD, 1), ParameterError, "history = 1")


def test_a_large_number_of_the_callers_stays_the_callers() -> None:
    for name in LEARNERS:
        x, table = GOOD.copy(), X.copy()
        learner = taught(name)
        learner.learn_one(x, 1)
        before = state(learner)
        learner.predict_one(x)
        x[:] = 9.0
        assert state(learner) == before
        learner.partial_fit(table, Y)
        assert np.array_equal(table, X)


# Streams that strain ------------------------------------------------------------------------


def strained(learner: Any, table: np.ndarray, labels: np.ndarray) -> None:
    """Probabilities in [0, 1], finite losses; warnings are errors."""
    for x, label in zip(table, labels):
        assert 0.0 <= learner.predict_one(x) <= 1.0
        learner.learn_one(x, int(label))
    p = learner.predict_proba(table)
    assert ((p >= 0.0) & (p <= 1.0)).all()
    assert math.isfinite(learner.log_loss_)
    assert learner.log_loss_ >= 0.0
    assert 0.0 <= learner.brier_ <= len(table)
    assert np.isfinite(learner.coef_).all()
    for certificate in learner.certificates():
        assert certificate.holds is not False, str(certificate)


STRAINED: dict[str, Any] = {
    "map": nr.MAPLogistic,
    "newton": lambda v: nr.MAPLogistic(v, history=False),
    "map-probit": lambda v: nr.MAPLogistic(v, family="probit"),
    "tierney-kadane": lambda v: nr.BayesianLogistic(v, method="tierney-kadane"),
    "smc": lambda v: nr.BayesianLogistic(v, method="smc", particles=100),
    "adf": lambda v: nr.BayesianLogistic(v, method="adf"),
    "adf-probit": lambda v: nr.BayesianLogistic(v, method="adf", family="probit"),
    "aioli": lambda v: nr.ImproperLogistic(50.0, regularisation=0.5 / v),
}
EVERY = pytest.mark.parametrize("name", STRAINED)


@EVERY
def test_one_positive_in_a_thousand(name: str) -> None:
    rng = np.random.default_rng(0)
    T = 1000 if name not in ("smc", "tierney-kadane", "map", "map-probit") else 300
    labels = np.zeros(T, dtype=int)
    labels[T // 2] = 1
    strained(STRAINED[name](16.0), np.column_stack([np.ones(T), rng.normal(size=T)]), labels)


@EVERY
def test_separable_with_huge_features_and_a_wide_prior(name: str) -> None:
    rng = np.random.default_rng(1)
    table = 1e3 * rng.normal(size=(60, 3))
    strained(STRAINED[name](1e6), table, (table @ [1.0, -2.0, 0.5] > 0.0).astype(int))


@EVERY
def test_huge_features_and_labels_that_cannot_be_known(name: str) -> None:
    """A surprise after certainty costs much, but it is data, and no error."""
    rng = np.random.default_rng(2)
    table = 1e3 * rng.normal(size=(40, 2))
    strained(STRAINED[name](1e6), table, rng.integers(0, 2, size=40))


@EVERY
@pytest.mark.parametrize("size", [1e-300, 1e-100, 1e50, 1e100])
def test_features_at_the_ends_of_what_is_taken(name: str, size: float) -> None:
    """Taken, or refused as too large for float64 without a trace."""
    learner = STRAINED[name](2.0)
    rng = np.random.default_rng(3)
    for t, x in enumerate(size * rng.choice([-1.0, 1.0], size=(6, 2))):
        before = state(learner)
        try:
            assert 0.0 <= learner.predict_one(x) <= 1.0
            learner.learn_one(x, t % 2)
        except NumericalError:
            assert state(learner) == before
            continue
        assert math.isfinite(learner.log_loss_)
        for certificate in learner.certificates():
            assert certificate.holds is not False, str(certificate)


@pytest.mark.parametrize("prior_var", [1e-12, 1e12])
@EVERY
def test_priors_of_any_width(name: str, prior_var: float) -> None:
    rng = np.random.default_rng(4)
    table = rng.normal(size=(30, 2))
    strained(STRAINED[name](prior_var), table, rng.integers(0, 2, size=30))


def test_exact_averaging_that_fails_leaves_no_trace() -> None:
    """A grid that would be too large: two weights, a wide prior, labels that separate.

    At right angles to the first x, and as long, the axes of the box would be anyone's choice.
    """
    learner = nr.BayesianLogistic(1e6, method="exact")
    learner.learn_one(np.array([1.0, 2.0]), 1)
    for x in (np.array([2.0, -1.5]), np.array([1.0, -1.0]), 1e6 * GOOD):
        refused(learner, lambda x=x: learner.learn_one(x, 0), NumericalError, "tierney-kadane")


@pytest.mark.slow
def test_a_probability_of_0_leaves_no_trace() -> None:
    learner = nr.BayesianLogistic(1.0, method="exact")
    learner.replay(np.ones((600, 1)), np.arange(600) % 8 > 0)
    before = state(learner)
    try:
        learner.learn_one(np.array([1e5]), 0)
    except NumericalError:
        assert state(learner) == before
    else:
        assert math.isfinite(learner.log_loss_)


@pytest.mark.parametrize("size", [1e6, 1e20, 1e30, 1e99])
def test_particles_end_whatever_comes(size: float) -> None:
    """Labels that contradict each other at features beyond all measure: 81 moves a round."""
    rng = np.random.default_rng(0)
    one, other = (nr.BayesianLogistic(method="smc", particles=50, seed=1) for _ in range(2))
    for t in range(8):
        x = size * rng.normal(size=2)
        one.learn_one(x, t % 2)
        other.learn_one(x, t % 2)
        p = one.predict_one(x)
        assert 0.0 <= p <= 1.0
        assert p == other.predict_one(x)
    assert np.isfinite(one.coef_).all()
    assert one._state.posterior.moves <= 8 * 81
