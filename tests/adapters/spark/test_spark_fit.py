"""`fit`: partitions learned apart and merged are one learner of all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import noregret as nr
from noregret.adapters import spark
from noregret.errors import InputError, MergeError

NAMES = ["a", "b", "c"]


def table(rows: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3)) * [1.0, 1e3, 1e-3]
    return X, X @ [1.0, -2e-3, 500.0] + 0.1 * rng.normal(size=rows)


def frame(session: Any, X: Any, y: Any, parts: int) -> Any:
    import pandas as pd

    wide = pd.DataFrame(X, columns=NAMES).assign(y=y)
    return session.createDataFrame(wide).repartition(parts)


@pytest.mark.parametrize("parts", [5, 35])  # 35: two steps of the tree
def test_it_is_the_learner_that_saw_all_rows(session: Any, parts: int) -> None:
    X, y = table(2_000)
    learner = nr.BayesianRidge(0.3, noise_var=0.5, fit_intercept=True)
    whole = nr.BayesianRidge(0.3, noise_var=0.5, fit_intercept=True).fit(X, y)
    found = spark.fit(frame(session, X, y, parts), NAMES, "y", learner)
    assert found.rows == found.learner.n_samples_seen_ == 2_000
    assert_allclose(found.learner.coef_, whole.coef_, rtol=1e-9)
    assert_allclose(found.learner.intercept_, whole.intercept_, rtol=1e-9)
    assert_allclose(found.best_loss, whole.hindsight().regularised_loss, rtol=1e-9)
    assert_allclose(found.log_loss, whole.log_loss_, rtol=1e-9)
    rows = np.column_stack([np.ones(len(X)), X])
    _, log_det = np.linalg.slogdet(np.eye(4) + rows.T @ rows / 0.3)
    assert_allclose(found.log_det, log_det, rtol=1e-9)
    assert all(c.holds is not False for c in found.learner.certificates())
    assert learner.__sklearn_is_fitted__() is False
    assert list(found.learner.feature_names_in_) == NAMES


def test_vectors_in_one_column_and_what_was_learned_before(session: Any) -> None:
    X, y = table(300)
    before = nr.AAR(0.3).fit(X[:100], y[:100])
    rows = [(row.tolist(), value) for row, value in zip(X[100:], y[100:].tolist())]
    df = session.createDataFrame(rows, "x array<double>, y double").repartition(3)
    found = spark.fit(df, "x", "y", before, width=3)
    assert_allclose(found.learner.coef_, nr.AAR(0.3).fit(X, y).coef_, rtol=1e-9)
    assert (found.rows, before.n_samples_seen_, found.log_loss) == (300, 100, None)


@pytest.mark.parametrize(
    ("learner", "why"),
    [
        (nr.AAR(drift=0.1), "learners with drift cannot be merged"),
        (nr.AAR(kernel="rbf"), "kernel"),
        (nr.OSLOG(), "cannot be merged exactly: what a round teaches"),
        ("Ridge", "it is no learner that could"),
    ],
)
def test_learners_that_do_not_merge_say_so(session: Any, learner: Any, why: str) -> None:
    df = session.createDataFrame([(1.0, 2.0)], "a double, y double")
    with pytest.raises(MergeError, match=why):
        spark.fit(df, ["a"], "y", learner)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"features": ["A"]}, "no column 'A'; did you mean 'a'?"),
        ({"features": ["word"]}, "'word' is of type string"),
        ({"features": "x"}, "give width="),
        ({"features": ["a"], "width": 2}, "leave it out"),
        ({"features": ["a", "y"]}, "'y' is the target"),
        ({"features": []}, "give names of columns"),
        ({"features": ["a", "a"]}, "occurs twice"),
        ({"features": ["a"], "target": "z"}, "target: the DataFrame has no column 'z'"),
    ],
)
def test_wrong_columns_are_named(session: Any, options: Any, why: str) -> None:
    schema = "a double, word string, x array<double>, y double"
    df = session.createDataFrame([(1.0, "w", [1.0], 2.0)], schema)
    with pytest.raises(InputError) as refusal:
        spark.fit(df, **{"target": "y", "learner": nr.AAR(), **options})
    assert why in str(refusal.value)


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ((None, 1, [1.0, 1.0], 1.0), "X['a'] is null"),
        ((NAN, 1, [1.0, 1.0], 1.0), "X['a'] = nan: only finite numbers"),
        ((INF, 1, [1.0, 1.0], 1.0), "X['a'] = inf: only finite numbers"),
        ((1e302, 1, [1.0, 1.0], 1.0), "beyond 2^1000"),
        ((1.0, 2**53 + 1, [1.0, 1.0], 1.0), "an integer that float64 cannot hold"),
        ((1.0, 1, [1.0, 1.0], None), "'y' is null"),
        ((1.0, 1, [1.0, 1.0], NAN), "'y' = nan"),
    ],
)
def test_a_wrong_row_ends_the_job_by_name(session: Any, row: Any, why: str) -> None:
    schema = "a double, k bigint, x array<double>, y double"
    rows = [(1.0, 2**53, [1.0, 2.0], 3.0)] * 3 + [row]
    df = session.createDataFrame(rows, schema).coalesce(1)
    with pytest.raises(Exception) as refusal:  # noqa: B017, PT011  # Spark's, around ours
        spark.fit(df, ["a", "k"], "y", nr.AAR())
    assert "row 3 of partition 0" in str(refusal.value)
    assert why in str(refusal.value)


@pytest.mark.parametrize(
    ("vector", "why"),
    [
        ([1.0], "x has 1 numbers, but width = 2"),
        (None, "'x' is null"),
        ([1.0, None], "x[1] is null"),
        ([NAN, 1.0], "x[0] = nan"),
    ],
)
def test_a_wrong_vector_ends_the_job_by_name(session: Any, vector: Any, why: str) -> None:
    rows = [([1.0, 2.0], 3.0), (vector, 1.0), ([0.0, 1.0], 2.0)]
    df = session.createDataFrame(rows, "x array<double>, y double").coalesce(1)
    with pytest.raises(Exception) as refusal:  # noqa: B017, PT011  # Spark's, around ours
        spark.fit(df, "x", "y", nr.AAR(), width=2)
    assert f"row 1 of partition 0: {why}" in str(refusal.value)


def test_no_rows(session: Any) -> None:
    df = session.createDataFrame([], "a double, y double")
    with pytest.raises(InputError, match="df has no rows"):
        spark.fit(df, ["a"], "y", nr.AAR())
