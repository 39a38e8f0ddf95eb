"""Comparators in hindsight for every loss, also where experts sleep."""

from __future__ import annotations

import numpy as np
import pytest

import noregret as nr

T, N = 120, 4
LOSSES = {
    "square": {"loss": "square", "outcome_range": 5.0},
    "brier": {"loss": "brier"},
    "log": {"loss": "log"},
    "normal": {"loss": "log"},
    "mlpol": {"rule": "mlpol", "loss": "absolute"},
    "boa": {"rule": "boa", "loss": "pinball", "level": 0.8},
    "huber": {"rule": "mlpol", "loss": "huber", "width": 0.5},
    "given": {"rule": "boa", "loss": (lambda g, y: (g - y) ** 4, lambda g, y: 4 * (g - y) ** 3)},
}


def table(kind: str, *, sleepers: bool) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    if kind in ("brier", "log"):
        said, y = rng.uniform(0.05, 0.95, (T, N)), (rng.random(T) < 0.6).astype(float)
    else:
        y = rng.normal(size=T).clip(-5, 5)
        said = 0.5 * y[:, None] + rng.normal(size=(T, N))
    if sleepers:
        said[rng.random((T, N)) < 0.3] = np.nan
        said[np.isnan(said).all(axis=1), 0] = 0.5
    return (np.stack([said, np.full((T, N), 1.5)], axis=2) if kind == "normal" else said), y


def cost(
    kind: str, result: nr.Aggregation, w: np.ndarray, said: np.ndarray, y: np.ndarray
) -> float:
    """What fixed weights lose, sleepers saying what the pool says, from the formulas."""
    asleep = np.isnan(said)
    if kind in ("log", "normal"):
        own = np.exp(-np.where(asleep, result.loss[:, None], result.costs))
        return float(-np.log(own @ w).sum())
    g = np.where(asleep, result.forecast[:, None], said) @ w
    e = g - y
    return float({
        "square": e**2, "brier": e**2, "mlpol": np.abs(e),
        "boa": np.where(e > 0, 0.2 * e, -0.8 * e),
        "huber": np.where(np.abs(e) <= 0.5, 0.5 * e**2, 0.5 * (np.abs(e) - 0.25)),
        "given": e**4,
    }[kind].sum())  # fmt: skip


@pytest.mark.parametrize("sleepers", [False, True])
@pytest.mark.parametrize("kind", LOSSES)
def test_the_best_combination_is_the_best(kind: str, sleepers: bool) -> None:
    said, y = table(kind, sleepers=sleepers)
    result = nr.aggregate(said, y, **LOSSES[kind])
    flat = said[:, :, 0] if kind == "normal" else said
    found = result.hindsight()
    assert [c.name.partition(":")[0] for c in found[:2]] == ["best expert", "uniform"]
    assert len(found) == (4 if kind in ("square", "brier") and not sleepers else 3)
    for one in found[:3]:
        assert one.loss == pytest.approx(cost(kind, result, one.weights, flat, y), rel=1e-9)
    best = found[2]
    assert (best.weights >= 0.0).all()
    assert best.weights.sum() == pytest.approx(1.0)
    rng = np.random.default_rng(0)
    rivals = [*np.eye(N), *rng.dirichlet(np.ones(N), 200)]
    near = [0.98 * best.weights + 0.02 * w for w in rivals]
    least = min(cost(kind, result, w, flat, y) for w in [*rivals, *near])
    assert best.loss <= least + 1e-6 * abs(least)


def test_several_outcomes_share_their_weights_also_with_sleepers() -> None:
    rng = np.random.default_rng(2)
    y = rng.normal(size=(60, 3))
    said = y[:, None, :] + rng.normal(size=(60, N, 1)) * np.array([0.2, 0.5, 1.0, 2.0])[:, None]
    said[rng.random((60, N)) < 0.3] = np.nan
    said[np.isnan(said[:, :, 0]).all(axis=1), 0] = 0.0
    for rule in ("mlpol", "boa"):
        result = nr.aggregate(said, y, rule=rule, loss="absolute")
        assert result.forecast.shape == (60, 3)
        assert result.certificate.holds
        best, _, mixed = result.hindsight()
        filled = np.where(np.isnan(said), result.forecast[:, None, :], said)
        each = np.abs(filled - y[:, None, :]).sum(axis=(0, 2))
        assert best.loss == pytest.approx(each.min(), rel=1e-12)
        assert mixed.loss <= best.loss + 1e-9


def test_an_expert_that_thought_an_outcome_impossible_is_in_no_mixture_alone() -> None:
    best, even, mixed = nr.aggregate([[0.5, 0.9], [1.0, 0.3]], [1.0, 0.0], loss="log").hindsight()
    assert best.name == "best expert: expert_1"
    assert np.isfinite([even.loss, mixed.loss]).all()
    assert mixed.loss <= best.loss
