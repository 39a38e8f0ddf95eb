"""scikit-learn's habits: text, scores, parameters and errors as its own base classes have them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process.kernels import RBF
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV

import noregret as nr
from noregret.errors import NotLearnedError, ParameterError

RNG = np.random.default_rng(5)
LEARNERS = [
    nr.AAR(),
    nr.AAR(2.0, drift=0.1, kernel=RBF(2.0), budget=nr.Nystrom(5)),
    nr.Lagged(nr.AAR(kernel=RBF(3.0)), lags=list(range(50))),
    nr.Lagged(nr.AAR(2.0), lags=(1,)),
    nr.AggregatingAlgorithm(nr.over(nr.AAR, prior_precision=[0.1 * i for i in range(60)])),
    nr.AggregatingAlgorithm([nr.AAR(2.0), nr.Lagged(nr.Ridge(3.0, clip=2.0), lags=[1, 2, 24])]),
    nr.AggregatingAlgorithm({"first": nr.AAR(3.0), "second": nr.Ridge(4.0, fit_intercept=True)}),
    nr.Delayed(nr.Lagged(nr.AggregatingAlgorithm([nr.AAR(1 / 3), nr.Ridge()]), lags=[1])),
    nr.AAR(np.ones(40)),
    nr.BayesianLogistic("x" * 900, method="adf"),
]


def twin(value: object) -> object:
    """The same learners as children of scikit-learn's BaseEstimator."""
    if isinstance(value, list | tuple):
        return type(value)(twin(v) for v in value)
    if isinstance(value, dict):
        return {key: twin(v) for key, v in value.items()}
    if not isinstance(value, nr.OnlineLearner):
        return value
    made = type(type(value).__name__, (BaseEstimator,), {"__init__": type(value).__init__})
    copy = made.__new__(made)
    params = value.get_params(deep=False).items()
    copy.__dict__.update({name: twin(held) for name, held in params})
    return copy


@pytest.mark.parametrize("learner", LEARNERS, ids=range(len(LEARNERS)))
def test_the_text_is_scikit_learns(learner):
    assert repr(learner) == repr(twin(learner))


def test_a_learner_that_holds_itself_has_a_text():
    learner = nr.Lagged(nr.AAR())
    learner.learner = learner
    assert "Recursion on Lagged" in repr(learner)


@pytest.mark.parametrize("learner", LEARNERS[:8], ids=range(8))
@pytest.mark.parametrize("deep", [False, True])
def test_parameters_are_scikit_learns(learner, deep):
    assert list(learner.get_params(deep)) == list(twin(learner).get_params(deep))
    assert repr(clone(learner)) == repr(learner)


def test_parameters_of_what_a_learner_holds_are_set():
    learner = nr.Lagged(nr.AAR(), lags=[1])
    assert learner.set_params() is learner
    learner.set_params(learner=nr.Ridge(), learner__prior_precision=2.0, lags=[3])
    assert repr(learner) == "Lagged(lags=[3], learner=Ridge(prior_precision=2.0))"
    with pytest.raises(ParameterError, match="Invalid parameter 'width' for estimator Lagged"):
        learner.set_params(width=1)


@pytest.mark.parametrize("outcomes", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_of_numbers_are_scikit_learns(outcomes, weighted):
    X, y = RNG.normal(size=(40, 2)), RNG.normal(size=(40, outcomes)) + 3.0
    y[:, -1] = 2.5  # a constant outcome has a rule of its own
    y = y if outcomes > 1 else y[:, 0] + X[:, 0]
    weights = RNG.uniform(size=40) if weighted else None
    learner = nr.AAR().fit(X, y)
    ours, theirs = (
        learner.score(X, y, weights),
        r2_score(y, learner.predict(X), sample_weight=weights),
    )
    assert ours == pytest.approx(theirs, rel=1e-12)
    assert is_regressor(learner)


def test_the_score_of_a_constant_is_1_where_it_is_met_and_0_where_not():
    learner = nr.AAR().fit([[1.0], [2.0]], [0.0, 0.0])
    assert learner.score([[1.0], [2.0]], [0.0, 0.0]) == 1.0
    assert learner.score([[1.0], [2.0]], [3.0, 3.0]) == 0.0
    with pytest.warns(UserWarning, match="fewer than two rows"):
        assert np.isnan(learner.score([[1.0]], [0.0]))


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_of_labels_are_scikit_learns(weighted):
    X = RNG.normal(size=(40, 2))
    y = np.where(X[:, 0] + RNG.normal(size=40) > 0, "yes", "no")
    weights = RNG.uniform(size=40) if weighted else None
    learner = nr.ImproperLogistic().fit(X, y)
    assert learner.score(X, y, weights) == pytest.approx(
        accuracy_score(y, learner.predict(X), sample_weight=weights)
    )
    assert is_classifier(learner)


def test_what_is_not_fitted_is_scikit_learns_error_too():
    with pytest.raises(NotFittedError, match="has learned nothing yet") as caught:
        nr.AAR().coef_  # noqa: B018
    assert isinstance(caught.value, NotLearnedError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value)
    assert str(again) == str(caught.value)


def test_metadata_is_routed_as_scikit_learn_does() -> None:
    X, weights = RNG.normal(size=(30, 2)), RNG.uniform(0.5, 2.0, size=30)
    with config_context(enable_metadata_routing=True):
        with pytest.raises(TypeError, match=r"takes no width"):
            nr.AAR().set_fit_request(width=True)
        learner = clone(
            nr.AAR().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        )
        search = GridSearchCV(learner, {"prior_precision": [2.0]}, cv=2, error_score="raise")
        found = search.fit(X, X[:, 0], sample_weight=weights).best_estimator_
    right = nr.AAR(2.0).fit(X, X[:, 0], sample_weight=weights)
    assert found.coef_.tolist() == right.coef_.tolist()
    assert learner.get_metadata_routing().fit.requests == {"sample_weight": True}
    assert nr.AAR().get_metadata_routing().fit.requests == {"sample_weight": None}


def test_a_notebook_shows_the_diagram():
    html = nr.AAR(2.0)._repr_html_()
    assert html is not None
    assert "AAR" in html
