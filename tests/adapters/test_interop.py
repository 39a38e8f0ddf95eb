"""At home in other libraries: pipelines, searches, weights, frames, sparse matrices, River."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.gaussian_process.kernels import RBF
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import noregret as nr
from noregret.errors import InputError, NotLearnedError, OutcomeError

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
Y = X @ [1.0, -2.0, 0.5] + 0.1 * rng.normal(size=60)
NAMES = ["a", "b", "c"]


# scikit-learn -------------------------------------------------------------------------------


def test_a_pipeline_in_a_search_over_time() -> None:
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), nr.AAR())
    grid = {"aar__prior_precision": [1e-3, 1e3]}
    search = GridSearchCV(pipeline, grid, cv=TimeSeriesSplit(3)).fit(X, Y)
    assert search.best_params_ == {"aar__prior_precision": 1e-3}
    assert search.best_estimator_["aar"].certificate().holds
    names = search.best_estimator_["aar"].feature_names_in_
    assert_array_equal(names, ["x0", "x1", "x2"])


@pytest.mark.parametrize("kind", [nr.Ridge, nr.AAR, nr.BayesianRidge])
@pytest.mark.parametrize("intercept", [False, True])
def test_a_weight_is_a_number_of_repetitions(kind: Any, intercept: bool) -> None:
    weights = rng.integers(0, 4, size=60)
    weighted = kind(0.7, fit_intercept=intercept).fit(X, Y, sample_weight=weights)
    repeated = kind(0.7, fit_intercept=intercept).fit(
        np.repeat(X, weights, 0), np.repeat(Y, weights)
    )
    assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-12)
    # a forecast near 0 is what larger terms leave: rounding is measured against those
    assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-12, atol=1e-14)
    assert weighted.n_samples_seen_ == np.count_nonzero(weights)


def test_certificates_speak_of_the_weighted_stream() -> None:
    weights = rng.uniform(0.1, 9.0, size=60)
    learner = nr.AAR(0.5).fit(X, Y, sample_weight=weights)
    root = np.sqrt(weights)
    twin = nr.AAR(0.5)
    twin.replay(X * root[:, None], Y * root)
    for mine, right in zip(learner.certificates(), twin.certificates(), strict=True):
        assert mine.holds
        assert (mine.loss, mine.bound, mine.comparator) == (
            right.loss,
            right.bound,
            right.comparator,
        )


@pytest.mark.parametrize(
    ("learner", "weights", "words"),
    [
        (nr.AAR(), -np.ones(60), ">= 0"),
        (nr.AAR(), np.zeros(60), "zero"),
        (nr.AAR(), np.ones(59), "59"),
        (nr.AAR(), np.full(60, np.nan), "sample_weight"),
        (nr.Ridge(clip=1.0), np.ones(60), "clip"),
        (nr.AAR(drift=0.1), np.ones(60), "drift=0"),
        (nr.AAR(kernel=RBF()), np.ones(60), "kernel"),
    ],
    ids=["negative", "zero", "short", "nan", "clip", "drift", "kernel"],
)
def test_weights_that_are_refused(learner: Any, weights: np.ndarray, words: str) -> None:
    with pytest.raises(InputError, match=words):
        learner.fit(X, Y, sample_weight=weights)
    with pytest.raises(NotLearnedError):
        learner.predict(X)


def test_a_column_of_outcomes_is_taken_with_a_warning() -> None:
    for learner in (nr.OSLOG(), nr.Auto(), nr.AggregatingAlgorithm([nr.AAR()])):
        with pytest.warns(DataConversionWarning, match="column-vector"):
            learner.fit(X, Y[:, None])
        with pytest.raises(OutcomeError, match="one outcome"):
            learner.fit(X, np.column_stack([Y, Y]))


# Frames and sparse matrices -----------------------------------------------------------------

FRAMES = {
    "pandas": lambda: pd.DataFrame(X, columns=NAMES),
    "polars": lambda: pl.DataFrame(X, schema=NAMES),
    "pyarrow": lambda: pa.table(dict(zip(NAMES, X.T))),
}


@pytest.mark.parametrize("library", FRAMES)
def test_frames_of_each_library(library: str) -> None:
    frame = FRAMES[library]()
    learner, twin = nr.AAR(), nr.AAR()
    replay = learner.replay(frame, Y)
    assert_array_equal(replay.forecast, twin.replay(X, Y).forecast)
    assert_array_equal(learner.predict(frame), twin.predict(X))
    assert type(replay.to_frame()) is type(frame)
    assert list(learner.feature_names_in_) == NAMES
    assert learner.predict_one(frame[:1]) == twin.predict_one(X[0])


def test_whatever_streams_arrow_batches() -> None:
    class Stranger:
        def __arrow_c_stream__(self, schema: Any = None) -> Any:
            return pa.table(dict(zip(NAMES, X.T))).__arrow_c_stream__(schema)

    assert_array_equal(nr.Ridge().fit(Stranger(), Y).coef_, nr.Ridge().fit(X, Y).coef_)


@pytest.mark.parametrize(
    "learner",
    [
        nr.AAR(),
        nr.OSLOG(),
        nr.SLOG(),
        nr.Auto(),
        nr.AggregatingAlgorithm([nr.AAR(), nr.Ridge()]),
        nr.KLMSNet(20.0),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_stream_that_can_be_read_only_once(learner: Any) -> None:
    table = pa.table(dict(zip(NAMES, X.T)))
    said = learner.fit(table.to_reader(), Y).predict(table)
    assert_array_equal(said, learner.fit(table, Y).predict(table))


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_matrices(make: Any) -> None:
    thin = np.where(np.abs(X) > 1.0, X, 0.0)
    learners = nr.AAR(), nr.OSLOG(), nr.Auto(), nr.AggregatingAlgorithm([nr.AAR()])
    for learner in learners:
        said = learner.fit(make(thin), Y).predict(make(thin))
        assert_array_equal(said, learner.fit(thin, Y).predict(thin))


def test_contiguous_numbers_are_not_copied() -> None:
    from noregret.inputs import values as features

    assert np.shares_memory(features.table(X)[0], X)
    assert np.shares_memory(features.outcome_table(Y, 60)[0], Y)


# River --------------------------------------------------------------------------------------

river = pytest.importorskip("river")


def rounds() -> list[tuple[dict[str, float], float]]:
    return [(dict(zip(NAMES, x.tolist())), float(y)) for x, y in zip(X, Y)]


def test_pipelines_bagging_and_targets_of_river() -> None:
    from river import compose, ensemble, evaluate, metrics, preprocessing

    from noregret.adapters.river import RiverRegressor

    scaled = preprocessing.StandardScaler() | RiverRegressor(nr.AAR())
    evaluate.progressive_val_score(rounds(), scaled, metrics.MAE(), delay=3)
    assert scaled["RiverRegressor"].certificate().holds
    bagged = ensemble.BaggingRegressor(RiverRegressor(nr.Ridge()), n_models=3, seed=1)
    evaluate.progressive_val_score(rounds(), bagged, metrics.MAE())
    assert len({model.predict_one({"a": 1.0}) for model in bagged}) == 3
    turned = preprocessing.TargetStandardScaler(RiverRegressor(nr.BayesianRidge()))
    evaluate.progressive_val_score(rounds(), turned, metrics.MAE())
    named = compose.Select("a") | RiverRegressor(nr.Auto())
    evaluate.progressive_val_score(rounds(), named, metrics.MAE())


def test_progressive_validation_is_the_loop() -> None:
    from river import evaluate, metrics

    from noregret.adapters.river import RiverRegressor

    learner, total = nr.AAR(0.3, drift=0.01), 0.0
    for x, y in rounds():
        total += abs(y - learner.predict_one(x))
        learner.learn_one(x, y)
    found = evaluate.progressive_val_score(
        rounds(), RiverRegressor(nr.AAR(0.3, drift=0.01)), metrics.MAE()
    )
    assert_allclose(found.get(), total / 60, rtol=1e-12)


def test_the_distribution_that_river_gets() -> None:
    from noregret.adapters.river import RiverRegressor

    model, twin = RiverRegressor(nr.BayesianRidge(noise_var=0.3)), nr.BayesianRidge(noise_var=0.3)
    for x, y in rounds():
        model.learn_one(x, y)
        twin.learn_one(x, y)
    x = rounds()[0][0]
    found, right = model.predict_one(x, with_dist=True), twin.predictive(x)
    assert_allclose([found.mu, found.sigma], [right.mean, right.std], rtol=1e-12)
    with pytest.raises(NotImplementedError, match="BayesianRidge"):
        RiverRegressor(nr.AAR()).predict_one(x, with_dist=True)


def test_labels_of_river() -> None:
    from noregret.adapters.river import RiverClassifier

    model = RiverClassifier(nr.ImproperLogistic())
    assert model.predict_proba_one({"a": 1.0}) == {False: 0.5, True: 0.5}
    model.learn_one({"a": 1.0}, "spam")
    assert model.predict_proba_one({"a": 1.0}) == {"spam": 1.0}
    model.learn_one({"a": -1.0}, "ham")
    assert model.predict_one({"a": -1.0}) == "ham"
    with pytest.raises(OutcomeError, match="'spam' and 'ham'"):
        model.learn_one({"a": 1.0}, "eggs")


@pytest.mark.parametrize("y", [float("nan"), None, [1]])
def test_what_is_no_label_for_river(y: Any) -> None:
    from noregret.adapters.river import RiverClassifier

    model = RiverClassifier(nr.ImproperLogistic())
    for first in ((), ("a",)):
        for label in first:
            model.learn_one({"x": 1.0}, label)
        with pytest.raises(OutcomeError, match="a number or a word"):
            model.learn_one({"x": 1.0}, y)
        assert model.labels == list(first)


def test_a_safe_learner_replays_words() -> None:
    X, y = np.array([[1.0], [-1.0], [2.0]]), ["yes", "no", "yes"]
    replayed, fitted = nr.SafeLogistic(method="adf"), nr.SafeLogistic(method="adf")
    replayed.replay(X, y)
    assert list(replayed.classes_) == ["no", "yes"]
    assert replayed.to_bytes() == fitted.fit(X, y).to_bytes()


def test_models_of_river_and_scikit_learn_as_experts() -> None:
    from river import linear_model, tree
    from sklearn.linear_model import SGDRegressor

    pool = nr.AggregatingAlgorithm(
        {
            "river": linear_model.LinearRegression(),
            "tree": tree.HoeffdingTreeRegressor(),
            "scikit-learn": SGDRegressor(),
            "ours": nr.AAR(),
        },
        outcome_range=10.0,
    )
    for x, y in rounds():
        pool.predict_one(x)
        pool.learn_one(x, y)
    assert pool.certificate().holds
    assert pool.weights_["ours"] > pool.weights_["tree"]
