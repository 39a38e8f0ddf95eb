"""What Gaussian learners add to the base class: fast ways in, tables read once, honest tags."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_regressors_train

import noregret as nr
from noregret.inputs.spaces import Names

LEARNERS = [nr.Ridge, nr.BayesianRidge, nr.AAR]


class Counted:
    """A table that counts how often it is read."""

    def __init__(self, rows: Any) -> None:
        self.rows, self.times = np.array(rows), 0

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        self.times += 1
        return self.rows


@pytest.mark.parametrize("kernel", [None, "rbf"])
@pytest.mark.parametrize("call", ["fit", "partial_fit", "replay"])
@pytest.mark.parametrize("kind", LEARNERS)
def test_a_table_is_read_once(kind: Any, call: str, kernel: Any) -> None:
    table = Counted([[1.0, 2.0], [0.5, -1.0], [2.0, 0.0]])
    getattr(kind(kernel=kernel), call)(table, [1.0, 2.0, 3.0])
    assert table.times == 1


@pytest.mark.parametrize("names", [["a"], ["a", "b"]])
def test_a_mapping_takes_the_fast_way_however_few_its_names(names: list[str]) -> None:
    space = Names(names)
    row = {name: float(k) for k, name in enumerate(names, start=1)}
    vector = space.encode_fast(row)
    assert vector is not None
    assert vector.tolist() == list(row.values())
    for wrong in ({"other": 1.0}, {**row, "more": 1.0}, dict.fromkeys(names, "1"), {}):
        assert space.encode_fast(wrong) is None


@pytest.mark.parametrize("kind", LEARNERS)
def test_one_name_by_the_fast_way_and_by_the_careful_one(kind: Any) -> None:
    fast, careful = kind(0.5), kind(0.5)
    for t in range(20):
        x, y = float(np.sin(t)), float(np.cos(t))
        assert fast.predict_one({"a": x}) == careful.predict_one({"a": np.float64(x)})
        fast.learn_one({"a": x}, y)
        careful.learn_one({"a": np.float64(x)}, y)
    assert fast.to_bytes() == careful.to_bytes()


@pytest.mark.parametrize("kind", LEARNERS)
@pytest.mark.parametrize("drift", [0.5, lambda t: 1.0 / t])
def test_experts_that_change_need_not_fit_a_whole_table(kind: Any, drift: Any) -> None:
    learner = kind(drift=drift)
    assert learner.__sklearn_tags__().regressor_tags.poor_score
    assert not kind().__sklearn_tags__().regressor_tags.poor_score
    check_regressors_train(kind.__name__, learner)


def test_distributions_of_a_table_are_of_one_state() -> None:
    X = np.array([[1.0], [2.0], [-1.0]])
    learner = nr.BayesianRidge(0.5, noise_var=0.25).fit(X, [1.0, 2.5, -1.0])
    means, stds = learner.predict(X, return_std=True)
    for x, mean, std in zip(X, means, stds, strict=True):
        said = learner.predictive(x)
        assert (mean, std) == pytest.approx((said.mean, said.std), rel=1e-15)
