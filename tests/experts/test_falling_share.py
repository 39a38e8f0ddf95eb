"""Fixed Share with s_t = 1/(t + 1): a price for every number of switches at once, no rate named."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import ParameterError
from noregret.experts import auto as auto_module
from noregret.experts.pool import Pool
from noregret.losses import game
from pools import Game, games


@settings(max_examples=60, deadline=None)
@given(games())
def test_the_price_of_k_switches_is_k_plus_1_times_ln_NT_for_every_k(each: Game) -> None:
    result = nr.aggregate(
        each.said, each.y, rule="aggregating", outcome_range=each.range, share="falling"
    )
    T, N = each.said.shape
    for k in range(6):
        best = nr.best_sequence(each.losses, k)[1]
        price = (k + 1) * (math.log(N) + math.log(T)) / each.eta
        assert result.loss.sum() <= best + price + 1e-9 * (1.0 / each.eta + best)
        certificate = result.tracking(k)
        assert certificate.holds is True
        assert certificate.bound == pytest.approx(best + price, rel=1e-12)


def test_one_expert_costs_ln_T_more_and_the_sentence_says_so() -> None:
    rng = np.random.default_rng(0)
    y = rng.uniform(0.0, 1.0, 50)
    said = np.column_stack([y, rng.uniform(0.0, 1.0, 50)])
    shared, one = nr.aggregate(
        said, y, rule="aggregating", outcome_range=(0, 1), share="falling"
    ).certificates[:2]
    assert one.name == "Fixed Share, one expert"
    assert one.statement == "sum (y - g)^2 <= min_j (L_j + (hi-lo)^2/2 ln T/p_j)"
    assert one.bound == pytest.approx(0.5 * math.log(2.0 * 50.0), rel=1e-12)
    assert shared.bound == pytest.approx(one.bound, rel=1e-12)
    assert "t+1 for a switch after round t, (t+1)/t for staying after it" in shared.statement


def test_a_long_stream_costs_a_logarithm_not_a_line() -> None:
    """With s = 1e-3 the price of staying is linear in T: here 8 times that of a falling share."""
    T = 100_000
    prices = {}
    for share in (1e-3, "falling"):
        pool = Pool.start(game("square", (0.0, 1.0)), np.full(40, 1 / 40), share)
        pool.replay(np.zeros((T, 40)), np.zeros(T))
        prices[share] = float(np.min(pool.totals().staying))
    assert prices["falling"] == pytest.approx(0.5 * math.log(T), rel=1e-9)
    assert prices[1e-3] == pytest.approx(-0.5 * (T - 1) * math.log1p(-1e-3 * (1 - 1 / 40)))
    assert prices[1e-3] > 7 * prices["falling"]


@given(st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_keeping_to_one_expert_is_not_charged_less_when_the_last_round_widens(seed: int) -> None:
    """It was: 1/eta after the last round was taken off, where that of before had been added."""
    rng = np.random.default_rng(seed)
    T = int(rng.integers(3, 12))
    y = rng.normal(size=T) * 10.0 ** rng.integers(-1, 2, T)
    said = rng.normal(size=(T, 2))
    for share in (0.3, "falling"):
        steps = nr.aggregate(said[:1], y[:1], rule="aggregating", share=share).pool
        owed = 0.0
        for t in range(1, T):
            before = steps.totals()
            s = share if share == 0.3 else 1.0 / (t + 1)
            stay = 1 - s + s / 2 if share == 0.3 else 1 - s
            owed += -math.log(stay) / before.rate  # at the latest rate: the most it can be
            steps.replay(said[t : t + 1], y[t : t + 1])
            after = steps.totals()  # it is the difference of sums of the size of 1/eta
            assert after.staying[0] >= owed - 1e-14 * (owed + 1.0 / after.rate)


def test_auto_files_of_before_keep_their_share(tmp_path, monkeypatch) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    monkeypatch.setattr(auto_module, "SHARE", 1e-4)
    old = nr.Auto(effort="linear").partial_fit(X[:30], y[:30])
    whole = nr.Auto(effort="linear").replay(X, y).forecast
    nr.save(old, tmp_path / "auto.nr")
    monkeypatch.undo()
    again = nr.load(tmp_path / "auto.nr")
    assert again.replay(X[30:], y[30:]).forecast.tolist() == whole[30:].tolist()
    assert "s = 0.0001" in again.certificates()[0].statement
    assert "s = 0.0001" not in nr.Auto(effort="linear").fit(X, y).certificates()[0].statement


def test_what_is_neither_a_share_nor_falling_is_refused() -> None:
    for bad in ("rising", 1.0, -0.1):
        with pytest.raises(ParameterError, match='or "falling"'):
            nr.aggregate([[0.5, 0.5]], [1.0], rule="aggregating", share=bad)
