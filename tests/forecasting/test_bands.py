"""Tracked intervals: the quick loop is the recursion as it is written, to the last bit."""

from __future__ import annotations

import numpy as np

from noregret.forecasting.bands import (
    ABOVE,
    BELOW,
    INSIDE,
    KNOWN,
    LEVEL,
    SCORED,
    START,
    WIDTH,
    Bands,
)

STEP, RATE = 0.05, 0.01


def twin(errors: np.ndarray, coverage: float) -> tuple[np.ndarray, np.ndarray]:
    """Step by step; the widths as issued, and the trackers at the end."""
    T, H = errors.shape
    track, alpha = np.zeros((7, H)), 0.5 * (1.0 - coverage)
    track[[BELOW, ABOVE]] = START
    found = np.full((T, H, 2), np.inf)
    issued: list[np.ndarray] = []
    for s in range(T):
        for h in range(H):
            low, high = issued[s - h - 1][h] if s > h else (np.inf, np.inf)
            found[s, h], e, k = (low, high), errors[s, h], track[:, h]
            if np.isnan(e):
                continue
            if k[KNOWN] > 0.0:
                k[BELOW] += STEP * (float(-e > low) - alpha)
                k[ABOVE] += STEP * (float(e > high) - alpha)
            k[LEVEL] += max(1.0 / (k[KNOWN] + 1.0), RATE) * (abs(e) - k[LEVEL])
            k[KNOWN] += 1.0
            if np.isfinite(low):
                k[INSIDE] += float(-e <= low and e <= high)
                k[WIDTH] += low + high
                k[SCORED] += 1.0
        wide = np.where(track[KNOWN] > 0.0, track[LEVEL], np.inf)
        issued.append(np.stack([track[BELOW] * wide, track[ABOVE] * wide], axis=1))
    return found, track


def test_the_quick_loop_is_the_recursion_however_it_is_cut() -> None:
    rng = np.random.default_rng(5)
    errors = rng.standard_t(2, size=(300, 4))
    errors[rng.random(errors.shape) < 0.2] = np.nan
    errors[:, 3] = np.nan
    found, track = twin(errors, 0.9)
    bands = Bands.start(4)
    parts = [bands.run(part, [0.9])[:, :, 0] for part in np.split(errors, [1, 2, 5, 100, 250])]
    np.testing.assert_array_equal(np.concatenate(parts), found)
    np.testing.assert_array_equal(bands.track, track)
    np.testing.assert_array_equal(bands.now([0.9])[3, 0], [np.inf, np.inf])
