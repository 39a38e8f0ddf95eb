"""A pool of distributions as a learner: one round at a time, files, refusals, late experts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

import noregret as nr
from strategies import normal_tables

LO, HI = -2.0, 3.0


def rounds(said: np.ndarray) -> list[dict[str, object]]:
    """Normal distributions by name; those who sleep are absent, None or NaN in turn."""
    found: list[dict[str, object]] = []
    for t, row in enumerate(said):
        x: dict[str, object] = {}
        for j, (mean, var) in enumerate(row.tolist()):
            if not math.isnan(mean):
                x[f"e{j}"] = nr.Normal(mean, var)
            elif (t + j) % 3:
                x[f"e{j}"] = (None, math.nan)[(t + j) % 3 - 1]
        found.append(x)
    return found


@settings(max_examples=25, deadline=None)
@given(normal_tables(LO, HI))
def test_rounds_one_by_one_are_those_of_the_table(table) -> None:
    said, y = table
    whole = nr.aggregate(said, y, loss="crps", outcome_range=(LO, HI))
    names = [f"e{j}" for j in range(said.shape[1])]
    pool = nr.DistributionPool(names, outcome_range=(LO, HI))
    again = nr.DistributionPool(names, outcome_range=(LO, HI))
    for t, x in enumerate(rounds(said)):
        found = pool.predictive(x)
        np.testing.assert_array_equal(found.steps, whole.cdf[t])
        assert pool.predict_one(x) == pytest.approx(whole.forecast[t], abs=1e-12)
        assert found.quantile(0.3) == whole.quantiles([0.3])[t, 0]
        pool.learn_one(x, y[t])
        pool = nr.from_bytes(pool.to_bytes())
    assert pool.certificate() == whole.certificate
    assert pool.certificate().holds
    replayed = again.replay(rounds(said), y)
    np.testing.assert_array_equal(replayed.loss, whole.loss)
    np.testing.assert_array_equal(replayed.expert_losses, whole.expert_losses)
    assert again.to_bytes() == pool.to_bytes()


def test_quantile_grids_numbers_mixtures_and_students() -> None:
    levels = [0.1, 0.5, 0.9]
    x = {
        "grid": [-1.0, 0.0, 1.0],
        "point": 0.5,
        "mixture": nr.Mixture(
            np.array([0.3, 0.7]), (nr.Normal(0.0, 1.0), nr.Student(1.0, 0.5, 3.0))
        ),
        "student": nr.Student(0.0, math.inf, 1.0),  # nothing is known yet
    }
    pool = nr.DistributionPool(list(x), outcome_range=4, levels=levels)
    for t in range(20):
        pool.learn_one(x, math.sin(t))
    found = pool.predictive(x)
    assert (np.diff(found.steps) >= 0.0).all()
    assert found.quantile(0.05) <= found.quantile(0.5) <= found.quantile(0.95)
    assert found.cdf(-5.0) == 0.0
    assert found.cdf(4.0) == 1.0
    assert -4.0 < found.mean < 4.0
    assert 0.0 < found.std < 4.0
    assert pool.certificate().holds
    alone = {name: nr.DistributionPool([name], outcome_range=4, levels=levels) for name in x}
    for name, one in alone.items():
        one.replay([{name: x[name]}] * 20, np.sin(np.arange(20.0)))
        assert one.certificate().loss == pytest.approx(pool.losses_[name], rel=1e-12)


def test_a_distribution_of_steps_has_the_moments_of_its_atoms() -> None:
    """Jumps at the left edge of each cell, the last at hi."""
    rng = np.random.default_rng(0)
    edges, steps = np.linspace(-1.0, 3.0, 9), np.sort(rng.random(8))
    atoms = np.diff(np.concatenate([[0.0], steps, [1.0]]))
    mean = atoms @ edges
    found = nr.DistributionPool(["a"], outcome_range=1).predictive({"a": 0.0})
    made = type(found)(edges, steps)
    assert made.mean == pytest.approx(mean, rel=1e-12)
    assert made.var == pytest.approx(atoms @ (edges - mean) ** 2, rel=1e-12)


@pytest.mark.parametrize(
    ("x", "y", "error", "words"),
    [
        ({"a": 1.0, "b": 2.0}, 7.0, nr.errors.OutcomeError, "outside outcome_range"),
        ({"a": 1.0, "b": 2.0}, math.nan, nr.errors.OutcomeError, "nan"),
        ({}, 1.0, nr.errors.InputError, "every expert sleeps"),
        ({"a": [1.0, 2.0]}, 1.0, nr.errors.InputError, "2 quantiles for 0 levels"),
        ({"a": "much"}, 1.0, nr.errors.InputError, "much"),
        ({"a": nr.Normal(0.0, -1.0)}, 1.0, nr.errors.InputError, "rise"),
    ],
)
def test_a_refused_round_leaves_no_trace(x, y, error, words) -> None:
    pool = nr.DistributionPool(["a", "b"], outcome_range=(0, 5))
    pool.learn_one({"a": 1.0, "b": nr.Normal(2.0, 1.0)}, 1.0)
    before = pool.to_bytes()
    with pytest.raises(error, match=words):
        pool.learn_one(x, y)
    assert pool.to_bytes() == before


def test_a_member_that_refuses_keeps_the_others_from_learning() -> None:
    pool = nr.DistributionPool([nr.BayesianRidge(), nr.Ridge()], outcome_range=5)
    pool.learn_one([1.0, 2.0], 1.0)
    before = pool.to_bytes()
    for x, y in (([1.0, math.nan], 1.0), ([1.0, 2.0], 6.0)):
        with pytest.raises(nr.errors.InputError):
            pool.learn_one(x, y)
        assert pool.to_bytes() == before


def test_late_experts_count_as_having_slept() -> None:
    pool = nr.DistributionPool(["a"], outcome_range=1)
    for _ in range(5):
        pool.learn_one({"a": 0.9}, -0.5)
    pool.join("b", 0.25)
    assert pool.weights_ == pytest.approx({"a": 0.75, "b": 0.25})
    for _ in range(50):
        pool.learn_one({"a": 0.9, "b": nr.Normal(-0.5, 0.01)}, -0.5)
    assert pool.weights_["b"] > 0.99
    assert pool.certificate().holds
    assert pool.predictive({"a": 0.9, "b": -0.5}).quantile(0.5) == pytest.approx(-0.5, abs=0.01)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"outcome_range": None}, "needs Y or"),
        ({"levels": [0.9, 0.1]}, "ascending"),
        ({"levels": [1.5]}, "levels"),
        ({"experts": []}, "empty"),
        ({"prior": [1.0]}, "prior"),
    ],
)
def test_parameters(change, words) -> None:
    given = {"experts": ["a", "b"], "outcome_range": 1.0} | change
    with pytest.raises(nr.errors.ParameterError, match=words):
        nr.DistributionPool(**given).learn_one({"a": 0.0}, 0.0)
