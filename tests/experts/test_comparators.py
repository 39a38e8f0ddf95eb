"""The best nonnegative combination: as SciPy finds it, and where rounding makes it hard."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

from noregret.experts.comparators import _nonnegative


@pytest.mark.parametrize("seed", range(40))
def test_least_squares_without_negative_entries(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    A, b = rng.normal(size=(n + int(rng.integers(0, 10)), n)), rng.normal(size=n)
    b = np.resize(b, len(A))
    if seed % 3 == 0:
        A[:, n // 2 :] = A[:, : n - n // 2] * (1.0 + 1e-13)  # nearly the same columns
    if seed % 5 == 0:
        A *= 1e-6
    v = _nonnegative(A, b)
    assert (v >= 0.0).all()
    _, least = nnls(A, b)
    assert np.linalg.norm(A @ v - b) == pytest.approx(least, rel=1e-9, abs=1e-12)
