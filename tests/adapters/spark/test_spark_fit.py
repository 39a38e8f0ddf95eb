"""`fit`: partitions learned apart and merged are one learner of all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import noregret as nr
from noregret.adapters import spark
from noregret.errors import InputError

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


def test_two_million_rows_in_sixteen_partitions(session: Any) -> None:
    from pyspark.sql import functions as f

    names = [f"x{j}" for j in range(8)]
    df = session.range(0, 2_000_000, 1, 16).select(
        *(f.randn(j).alias(x) for j, x in enumerate(names))
    )
    df = df.withColumn("y", sum((f.col(name) for name in names), f.randn(99)))
    assert df.rdd.getNumPartitions() == 16
    found = spark.fit(df, names, "y", nr.BayesianRidge())
    rows = df.toPandas()
    whole = nr.BayesianRidge().fit(rows[names], rows["y"])
    assert found.rows == len(rows) == 2_000_000
    assert_allclose(found.learner.coef_, whole.coef_, rtol=1e-9)
    assert_allclose(found.best_loss, whole.hindsight().regularised_loss, rtol=1e-9)
    assert_allclose(found.log_loss, whole.log_loss_, rtol=1e-9)


def test_vectors_in_one_column_and_what_was_learned_before(session: Any) -> None:
    X, y = table(300)
    before = nr.AAR(0.3).fit(X[:100], y[:100])
    rows = [(row.tolist(), value) for row, value in zip(X[100:], y[100:].tolist())]
    df = session.createDataFrame(rows, "x array<double>, y double").repartition(3)
    found = spark.fit(df, "x", "y", before, width=3)
    assert_allclose(found.learner.coef_, nr.AAR(0.3).fit(X, y).coef_, rtol=1e-9)
    assert (found.rows, before.n_samples_seen_, found.log_loss) == (300, 100, None)


def test_a_wrong_row_ends_the_job_by_name(session: Any) -> None:
    rows = [(1.0, 3.0)] * 3 + [(float("nan"), 1.0)]
    df = session.createDataFrame(rows, "a double, y double").coalesce(1)
    with pytest.raises(Exception) as refusal:  # Spark's, around ours
        spark.fit(df, ["a"], "y", nr.AAR())
    assert "row 3 of task 0: X['a'] = nan: only finite numbers" in str(refusal.value)


def test_no_rows(session: Any) -> None:
    df = session.createDataFrame([], "a double, y double")
    with pytest.raises(InputError, match="df has no rows"):
        spark.fit(df, ["a"], "y", nr.AAR())
