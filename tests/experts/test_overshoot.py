"""What rounds beyond a learned range cost, and forecasts where experts leave the range."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr

seeds = st.integers(0, 10**6)


@settings(max_examples=150, deadline=None)
@given(seeds)
def test_what_lies_beyond_costs_at_most_twice_the_width_times_the_spread(seed: int) -> None:
    """(12.5): O_T <= 2 W_T max |g_tj - g_t| after the first round, whatever experts say."""
    rng = np.random.default_rng(seed)
    T, N = int(rng.integers(2, 30)), int(rng.integers(1, 5))
    y = rng.normal(size=T) * 10.0 ** rng.integers(-1, 2, T)
    if rng.random() < 0.3:
        y[: T // 2] = y[0]
    said = y[:, None] * rng.random() + rng.normal(size=(T, N)) * 10.0 ** rng.uniform(-1, 1)
    result = nr.aggregate(said, y, rule="aggregating")
    totals, first = (
        result.pool.totals(),
        nr.aggregate(said[:1], y[:1], rule="aggregating").pool.totals(),
    )
    spread = float(np.abs(said - result.forecast[:, None]).max())
    width = float(y.max() - y.min())
    assert totals.over - first.over <= 2.0 * width * spread * (1.0 + 1e-9) + 1e-9
    assert width <= totals.width * (1.0 + 1e-12)


@settings(max_examples=150, deadline=None)
@given(seeds)
def test_the_substitution_costs_no_more_than_the_mix_wherever_experts_are(seed: int) -> None:
    """(12.3), with experts far outside the range on one side, on both, or within it."""
    rng = np.random.default_rng(seed)
    N = int(rng.integers(1, 5))
    said = rng.uniform(0, 1, N) * 10.0 ** rng.uniform(-1, 1.5) + rng.choice([0.0, 1.0, -3.0])
    prior = rng.dirichlet(np.ones(N)) + 1e-3
    prior /= prior.sum()
    g = nr.aggregate(
        said[None], [0.5], rule="aggregating", outcome_range=(0, 1), prior=prior
    ).forecast[0]
    for v in np.linspace(0.0, 1.0, 21):
        gaps = (v - said) ** 2
        mix = -np.log((prior * np.exp(-2.0 * (gaps - gaps.min()))).sum()) / 2.0 + gaps.min()
        assert (v - g) ** 2 <= mix + 1e-9 * (1.0 + gaps.max())
