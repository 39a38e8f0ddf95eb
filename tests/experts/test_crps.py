"""Pools of distributions: the score, the bound, order, sleepers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret.experts.crps import CELLS, crps
from strategies import normal_tables

LO, HI = -2.0, 3.0
EDGES = np.linspace(LO, HI, CELLS + 1)


def score(F: np.ndarray, y: float) -> float:
    """The integral cell by cell, the cell of y cut in two."""
    total = 0.0
    for a, b, f in zip(EDGES[:-1], EDGES[1:], F):
        below = min(max(y - a, 0.0), b - a)
        total += f * f * below + (1.0 - f) ** 2 * (b - a - below)
    return total


@settings(max_examples=40, deadline=None)
@given(normal_tables(LO, HI), st.integers(0, 2**32 - 1))
def test_the_bound_holds_and_is_that_of_the_formula(table, seed) -> None:
    said, y = table
    T, N = said.shape[:2]
    prior = np.random.default_rng(seed).dirichlet(np.ones(N))
    result = nr.aggregate(said, y, loss="crps", outcome_range=(LO, HI), prior=prior)
    middles = 0.5 * (EDGES[1:] + EDGES[:-1])
    totals = np.zeros(N)
    for t in range(T):
        w = prior * np.exp(-2.0 / (HI - LO) * (totals - totals.min()))
        awake = ~np.isnan(said[t, :, 0])
        w = np.where(awake, w, 0.0) / w[awake].sum()
        F = np.zeros((N, CELLS))
        for j in np.flatnonzero(awake):
            m, v = said[t, j]
            F[j] = [0.5 * math.erfc((m - u) / math.sqrt(2.0 * v)) for u in middles]
        zero, one = w @ np.exp(-2.0 * F**2), w @ np.exp(-2.0 * (1.0 - F) ** 2)
        merged = 0.5 - 0.25 * np.log(zero / one)
        np.testing.assert_allclose(result.cdf[t], merged, rtol=0.0, atol=1e-9)
        lost = score(merged, y[t])
        assert abs(result.loss[t] - lost) <= 1e-9
        totals += [score(F[j], y[t]) if awake[j] else lost for j in range(N)]
        assert (np.diff(result.cdf[t]) >= -1e-12).all()
    bound = (totals + 0.5 * (HI - LO) * np.log(1.0 / prior)).min()
    assert result.certificate.bound == pytest.approx(bound, rel=1e-9)
    assert result.certificate.holds
    mixture = -0.5 * (HI - LO) * math.log(float(prior @ np.exp(-2.0 / (HI - LO) * totals)))
    assert result.loss.sum() <= mixture + 1e-9
    assert result.hindsight()[1] == pytest.approx(totals.min(), rel=1e-9)


@settings(deadline=None)
@given(normal_tables(LO, HI))
def test_quantiles_are_in_order_and_scale_with_the_outcomes(table) -> None:
    said, y = table
    levels = [0.05, 0.3, 0.5, 0.9]
    result = nr.aggregate(said, y, loss="crps", outcome_range=(LO, HI))
    found = result.quantiles(levels)
    assert (np.diff(found, axis=1) >= 0.0).all()
    more = nr.aggregate(
        said * [1024.0, 1024.0**2], y * 1024.0, loss="crps", outcome_range=(LO * 1024, HI * 1024)
    )
    assert np.array_equal(more.quantiles(levels), found * 1024.0)


def test_quantile_grids_of_a_normal_are_nearly_that_normal() -> None:
    from statistics import NormalDist

    levels = np.linspace(0.01, 0.99, 99)
    grid = np.array([NormalDist(0.5, 0.4).inv_cdf(q) for q in levels])
    y = np.linspace(LO, HI, 50)
    two = np.tile(np.stack([grid, grid - 1.0]), (50, 1, 1))
    said = np.tile([[0.5, 0.16], [-0.5, 0.16]], (50, 1, 1))
    by_grid = nr.aggregate(two, y, loss="crps", outcome_range=(LO, HI), level=levels.tolist())
    by_normal = nr.aggregate(said, y, loss="crps", outcome_range=(LO, HI))
    np.testing.assert_allclose(by_grid.cdf, by_normal.cdf, atol=0.02)
    assert by_grid.certificate.holds


def test_the_score_of_a_normal_is_the_published_formula() -> None:
    """sigma (z (2 Phi(z) - 1) + 2 phi(z) - 1/sqrt(pi)) (Gneiting and Raftery 2007)."""
    middles, z = 0.5 * (EDGES[1:] + EDGES[:-1]), (0.7 - 0.5) / 0.3
    F = np.array([[0.5 * math.erfc((0.5 - u) / (0.3 * math.sqrt(2.0))) for u in middles]])
    phi, Phi = math.exp(-z * z / 2) / math.sqrt(2 * math.pi), 0.5 * math.erfc(-z / math.sqrt(2))
    wanted = 0.3 * (z * (2 * Phi - 1) + 2 * phi - 1 / math.sqrt(math.pi))
    assert crps(F, 0.7, EDGES)[0] == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"outcome_range": None}, nr.errors.ParameterError, "needs Y or"),
        ({"outcome_range": (1.0, 1.0)}, nr.errors.ParameterError, "hi - lo must be"),
        ({"outcome_range": (-0.1, 0.1)}, nr.errors.OutcomeError, "outside outcome_range"),
        ({"rule": "mlpol"}, nr.errors.ParameterError, "aggregating"),
        ({"share": 0.1}, nr.errors.ParameterError, "share"),
        ({"width": 1.0}, nr.errors.ParameterError, "width"),
        ({"level": [0.5, 0.1]}, nr.errors.ParameterError, "ascending"),
        ({"forecasts": np.zeros((3, 2))}, nr.errors.InputError, "T x N x 2"),
        ({"forecasts": np.zeros((3, 1, 2))}, nr.errors.InputError, "variance"),
        ({"forecasts": np.full((3, 1, 2), np.nan)}, nr.errors.InputError, "every expert sleeps"),
        (
            {"forecasts": np.tile([1.0, 0.0], (3, 1, 1)), "level": [0.1, 0.9]},
            nr.errors.InputError,
            "not ascending",
        ),
    ],
)
def test_refusals(change, error, words) -> None:
    given = {"forecasts": np.ones((3, 1, 2)), "outcome_range": 2.0, "loss": "crps"} | change
    with pytest.raises(error, match=words):
        nr.aggregate(y=[0.0, 0.5, 1.0], **given)
