"""Counts of intervals, however the rows are cut."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from noregret.running.covering import LONG, Covering, pit


@given(
    seed=st.integers(0, 2**32 - 1),
    cuts=st.lists(st.integers(0, 1300), max_size=5),
    rate=st.floats(0.0, 1.0),
)
def test_counts_do_not_depend_on_the_cuts(seed: int, cuts: list[int], rate: float) -> None:
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(1300) < rate, rng.choice([-9.0, 9.0], 1300), 0.0)
    y[rng.random(1300) < 0.1] = np.nan
    low, high = np.full(1300, -1.0), np.full(1300, 1.5)
    low[:3] = -np.inf
    one = Covering(0.9)
    ends = [0, *sorted(cuts), 1300]
    for start, stop in pairwise(ends):
        one.add(y[start:stop], low[start:stop], high[start:stop])
    known = np.isfinite(y)
    inside = ((low <= y) & (y <= high))[known]
    windows = np.lib.stride_tricks.sliding_window_view(inside, LONG)
    assert one.outcomes == known.sum()
    assert abs(one.share - inside.mean()) < 1e-12
    assert one.worst == windows.mean(axis=1).min()
    assert one.half_width == 1.25
    edges, heights = pit([one])
    assert abs(float(heights @ np.diff(edges)) - 1.0) < 1e-12
