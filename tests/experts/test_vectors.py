"""The Aggregating Algorithm over several outcomes a round: a dense twin, the bound, sleepers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import InputError, ParameterError


def dense(said, ys, ranges, prior) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """By the formulas, without logarithms: forecasts, losses of the mixture, weights."""
    lo, hi = ranges.T
    rates = 2.0 / (hi - lo) ** 2
    eta, w = 2.0 / ((hi - lo) ** 2).sum(), prior.copy()
    forecasts, mixed, weights = [], [], []
    for f, y in zip(said, ys):
        weights.append(w / w.sum())
        awake = ~np.isnan(f).any(axis=1)
        p = w[awake] / w[awake].sum()
        g = []
        for i in range(len(lo)):
            ends = [-np.log(p @ np.exp(-rates[i] * (f[awake, i] - e) ** 2)) / rates[i]
                    for e in (lo[i], hi[i])]  # fmt: skip
            g.append(0.5 * (lo[i] + hi[i]) + 0.5 * (ends[0] - ends[1]) / (hi[i] - lo[i]))
        forecasts.append(g)
        shrunk = np.exp(-eta * ((f[awake] - y) ** 2).sum(axis=1))
        mixed.append(-np.log(p @ shrunk) / eta)
        w[awake] *= shrunk
        w[~awake] *= p @ shrunk
    return np.array(forecasts), np.array(mixed), np.array(weights)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 3), st.booleans())
def test_the_dense_twin_and_the_bound(seed: int, N: int, k: int, sleep: bool) -> None:
    rng = np.random.default_rng(seed)
    T, prior = 25, rng.dirichlet(np.ones(N)) + 0.01
    prior /= prior.sum()
    ranges = np.sort(rng.normal(size=(k, 2)), axis=1) + np.array([-0.1, 0.1])
    ys = rng.uniform(*ranges.T, size=(T, k))
    if seed % 3 == 0:  # at an end, where nothing is left over
        ys = np.where(rng.random((T, k)) < 0.5, *ranges.T)
    noise = rng.normal(size=(T, N, k)) * np.diff(ranges)[:, 0]
    said = ys[:, None, :] + noise * rng.choice([0.1, 0.5, 1.0])
    if sleep and N > 1:
        said[rng.random(T) < 0.3, 0, rng.integers(k)] = np.nan
    found = nr.aggregate(said, ys, rule="aggregating", outcome_range=ranges, prior=prior)
    forecasts, mixed, weights = dense(said, ys, ranges, prior)
    np.testing.assert_allclose(found.forecast, forecasts, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.weights, weights, rtol=1e-9, atol=1e-12)
    assert (found.loss <= mixed + 1e-12 * (1.0 + mixed)).all()  # (23.6), round by round
    assert found.certificate.holds
    best = np.where(np.isnan(found.expert_losses), mixed[:, None], found.expert_losses).sum(axis=0)
    wide = 0.5 * ((ranges[:, 1] - ranges[:, 0]) ** 2).sum()
    assert found.certificate.bound == pytest.approx((best - wide * np.log(prior)).min(), rel=1e-9)


def test_one_outcome_is_the_pool_of_one() -> None:
    rng = np.random.default_rng(1)
    y = rng.uniform(-1, 1, size=200)
    said = y[:, None] + rng.normal(size=(200, 3)) * [0.1, 0.3, 2.0]
    one = nr.aggregate(said, y, rule="aggregating", outcome_range=1.0)
    same = nr.aggregate(said[:, :, None], y[:, None], rule="aggregating", outcome_range=1.0)
    np.testing.assert_allclose(same.forecast[:, 0], one.forecast, rtol=1e-9, atol=1e-9)
    assert same.certificate.bound == pytest.approx(one.certificate.bound, rel=1e-9)
    assert same.hindsight()[0].name.startswith("best expert")


def test_what_does_not_fit_is_said() -> None:
    said, y = np.zeros((5, 2, 3)), np.zeros((5, 3))
    beyond = nr.aggregate(said, y + 2.0, rule="aggregating", outcome_range=1.0)
    assert beyond.certificate.holds is None
    for given_, words in [
        ({}, "outcome_range = None"),
        ({"outcome_range": [(0, 1), (0, 1)]}, "has 2 pairs"),
        ({"outcome_range": [(0, 1), (0,), (0, 1)]}, "outcome_range"),
        ({"outcome_range": np.array(np.nan)}, "outcome_range"),
        ({"outcome_range": "wide"}, "outcome_range"),
        ({"outcome_range": 1.0, "share": 0.1}, "share = 0.1"),
    ]:
        with pytest.raises(ParameterError, match=words):
            nr.aggregate(said, y, rule="aggregating", **given_)
    said[3] = np.nan
    with pytest.raises(InputError, match=r"forecasts\[3\]: all experts sleep"):
        nr.aggregate(said, y, rule="aggregating", outcome_range=1.0)
