"""What pools claim, number by number, from a plain simulation with weights as they are defined."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import noregret as nr
from noregret.certificates import LOG
from noregret.errors import OutcomeError
from noregret.experts.theorems import chain
from noregret.losses import game

LO, HI, PRIOR, SHARE = -1.0, 2.0, np.array([0.2, 0.5, 0.3]), 0.15
ETA = 2.0 / (HI - LO) ** 2
RNG = np.random.default_rng(8)
T = 8
Y = np.array([1.9, -0.9, 1.2, 0.3, -1.0, 2.0, 0.5, 1.1])
SAID = np.column_stack([Y + 0.4, np.where(np.arange(T) < 5, Y, -Y), RNG.uniform(LO, HI, T)])


def simulated(said, y, eta, share=0.0, span=(LO, HI), average=False) -> dict:
    """Weights, mixes and forecasts as the definitions have them; NaN sleeps and pays the mix."""
    v, paid, loss, mixes, forecasts = PRIOR.copy(), np.zeros(3), 0.0, [], []
    lo, hi = span
    worst = -math.inf, 0
    for t, (row, outcome) in enumerate(zip(said, y, strict=True)):
        awake = ~np.isnan(row)
        w = np.where(awake, v, 0.0) / v[awake].sum()
        told = np.where(awake, row, 0.0)

        def mixed(z, w=w, told=told) -> float:
            return -math.log((w * np.exp(-eta * (z - told) ** 2)).sum()) / eta

        g = (lo + hi) / 2 + (mixed(lo) - mixed(hi)) / (2 * (hi - lo))
        g = float(w @ told) if average else g
        mix, l = mixed(outcome), (outcome - told) ** 2
        v = np.where(awake, v * np.exp(-eta * (l - mix)), v)
        v = (1 - share) * v + share * PRIOR
        paid += np.where(awake, l, mix)
        loss += (outcome - g) ** 2
        size = max((outcome - g) ** 2, abs(mix), 1 / eta)
        if lo <= outcome <= hi:
            worst = max(worst, (((outcome - g) ** 2 - mix) / size, t + 1))
        mixes.append(mix)
        forecasts.append(g)
    return {"paid": paid, "loss": loss, "mixes": mixes, "g": np.array(forecasts), "worst": worst}


def certificate_of(result, name: str):
    return next(c for c in result.certificates if c.name == name)


def sleepy(asleep: bool) -> np.ndarray:
    said = SAID.copy()
    if asleep:
        said[1, 0] = said[2, 2] = said[3, 0] = said[6, 1] = math.nan
    return said


@pytest.mark.parametrize("asleep", [False, True])
def test_the_aggregating_algorithm(asleep: bool) -> None:
    said = sleepy(asleep)
    result = nr.aggregate(said, Y, rule="aggregating", outcome_range=(LO, HI), prior=PRIOR)
    s = simulated(said, Y, ETA)
    assert result.forecast == pytest.approx(s["g"], abs=1e-12)
    best, mixture, each = result.certificates
    assert best.loss == pytest.approx(s["loss"], rel=1e-12)
    assert best.comparator == pytest.approx(s["paid"].min(), rel=1e-12)
    assert best.bound == pytest.approx((s["paid"] - np.log(PRIOR) / ETA).min(), rel=1e-12)
    potential = -math.log((PRIOR * np.exp(-ETA * s["paid"])).sum()) / ETA
    assert mixture.bound == pytest.approx(potential, rel=1e-12)
    assert sum(s["mixes"]) == pytest.approx(potential, rel=1e-12)
    assert result.pool.totals().mix == pytest.approx(potential, rel=1e-12)
    assert each.loss == pytest.approx(s["worst"][0], abs=1e-12)
    assert f"worst in round {s['worst'][1]}" in each.statement


def price(path: tuple[int, ...], share: float) -> float:
    """ln of 1 over the probability of a sequence of experts, as the theorem charges it."""
    total = -math.log(PRIOR[path[0]])
    for i, j in itertools.pairwise(path):
        stay = 1 - share + share * PRIOR[i]
        total -= math.log(stay) if i == j else math.log(share * PRIOR[j])
    return total


@pytest.mark.parametrize("asleep", [False, True])
def test_fixed_share(asleep: bool) -> None:
    """Against every one of the 3^8 sequences, where it pays to take turns."""
    said = sleepy(asleep)
    said[3:6, 0] += 8.0
    said[[0, 1, 2, 6, 7], 1] -= 8.0
    said[:, 2] += 9.0
    result = nr.aggregate(
        said, Y, rule="aggregating", outcome_range=(LO, HI), prior=PRIOR, share=SHARE
    )
    s = simulated(said, Y, ETA, SHARE)
    assert result.forecast == pytest.approx(s["g"], abs=1e-12)
    told = np.where(np.isnan(said), 0.0, said)
    l = np.where(np.isnan(said), np.array(s["mixes"])[:, None], (Y[:, None] - told) ** 2)
    every = {
        path: sum(l[t, j] for t, j in enumerate(path))
        for path in itertools.product(range(3), repeat=T)
    }
    best = min(every, key=lambda path: every[path] + price(path, SHARE) / ETA)
    shared, one = result.certificates[:2]
    assert shared.name == "Fixed Share"
    assert shared.bound == pytest.approx(every[best] + price(best, SHARE) / ETA, rel=1e-12)
    assert shared.comparator == pytest.approx(every[best], rel=1e-12)
    turns = sum(i != j for i, j in itertools.pairwise(best))
    assert turns == 2
    assert f"here {turns} switches" in shared.statement
    alone = min(s["paid"][j] + price((j,) * T, SHARE) / ETA for j in range(3))
    assert one.bound == pytest.approx(alone, rel=1e-12)
    assert one.comparator == pytest.approx(s["paid"].min(), rel=1e-12)


def test_no_turn_is_taken_that_does_not_pay() -> None:
    """Two experts that say the same: a sequence that stays is never dearer."""
    said = np.column_stack([Y, Y])
    result = nr.aggregate(said, Y, rule="aggregating", outcome_range=(LO, HI), share=0.5)
    assert "here 0 switches" in result.certificates[0].statement


@pytest.mark.parametrize("k", [0, 1, 3])
def test_tracking(k: int) -> None:
    result = nr.aggregate(SAID, Y, rule="aggregating", outcome_range=(LO, HI), share=SHARE)
    l = (Y[:, None] - SAID) ** 2
    best = min(
        sum(l[t, j] for t, j in enumerate(path))
        for path in itertools.product(range(3), repeat=T)
        if sum(i != j for i, j in itertools.pairwise(path)) <= k
    )
    nats = (k + 1) * math.log(3) - k * math.log(SHARE)
    nats -= (T - 1 - k) * math.log(1 - SHARE + SHARE / 3)
    found = result.tracking(k)
    assert found.comparator == pytest.approx(best, rel=1e-12)
    assert found.bound == pytest.approx(best + nats / ETA, rel=1e-12)
    without = nr.aggregate(SAID, Y, rule="aggregating", outcome_range=(LO, HI)).tracking(k)
    assert (without.bound is None) is (k > 0)
    assert without.holds is (None if k else True)
    met = {a.text: a.met for a in without.assumptions}
    assert met["share > 0, or no switch at all"] is (k == 0)


def test_outcomes_beyond_a_given_range_withdraw_the_claim() -> None:
    y = Y.copy()
    y[[3, 5]] = [-1.25, 2.25]
    result = nr.aggregate(SAID, y, rule="aggregating", outcome_range=(LO, HI), prior=PRIOR)
    best = result.certificate
    assert best.bound is None
    assert "2 outcomes were outside, the first in round 4" in best.assumptions[0].text
    once = nr.aggregate(
        SAID[:4], y[:4], rule="aggregating", outcome_range=(LO, HI), prior=PRIOR
    ).certificate
    assert once.bound is None
    totals = result.pool.totals()
    assert totals.outside == 2
    s = simulated(SAID, y, ETA)
    over = [(y[t] - s["g"][t]) ** 2 - s["mixes"][t] for t in (3, 5)]
    assert totals.over == pytest.approx(sum(max(o, 0.0) for o in over), rel=1e-12)
    assert (totals.worst, totals.worst_round) == pytest.approx(s["worst"], abs=1e-12)


def test_a_learned_range_charges_what_lies_beyond() -> None:
    result = nr.aggregate(SAID, Y, rule="aggregating", prior=PRIOR)
    totals, best = result.pool.totals(), result.certificate
    assert totals.width >= Y.max() - Y.min()
    assert totals.rate == 2.0 / totals.width**2
    assert totals.over > 0.0
    bound = (totals.paid - np.log(PRIOR) / totals.rate).min() + totals.over
    assert best.bound == pytest.approx(bound, rel=1e-12)
    assert totals.paid == pytest.approx(((Y[:, None] - SAID) ** 2).sum(axis=0), rel=1e-12)
    assert (totals.seen, totals.outside > 0) == ((-1.0, 2.0), True)


@pytest.mark.parametrize("rate", [None, 0.05, 0.06, 0.7])
def test_exponential_weights(rate: float | None) -> None:
    names = ["a", "b", "c"]
    pool = nr.ExponentialWeights(names, outcome_range=(LO, HI), learning_rate=rate, prior=PRIOR)
    said = np.clip(SAID, LO, HI)
    for row, y in zip(said, Y, strict=True):
        pool.learn_one(dict(zip(names, row.tolist())), float(y))
    eta = 1 / (2 * (HI - LO) ** 2) if rate is None else rate
    s = simulated(said, Y, eta, average=True)
    extra = eta * T * (HI - LO) ** 4 / 8 if eta > 1 / (2 * (HI - LO) ** 2) + 1e-9 else 0.0
    (found,) = pool.certificates()
    assert found.loss == pytest.approx(s["loss"], rel=1e-12)
    assert found.bound == pytest.approx((s["paid"] - np.log(PRIOR) / eta).min() + extra, rel=1e-12)
    pool.learn_one(dict(zip(names, [0.0, -3.5, 0.0])), 0.0)  # |y - g| = 3.5 > hi - lo
    assert pool.certificates()[0].bound is None


def test_brier_and_log() -> None:
    p = np.array([[0.2, 0.7], [0.4, 0.9], [0.5, 0.1]])
    y = np.array([1.0, 1.0, 0.0])
    brier = nr.aggregate(p, y, loss="brier")
    L = ((y[:, None] - p) ** 2).sum(axis=0)
    assert brier.certificate.bound == pytest.approx((L + math.log(2) / 2).min(), rel=1e-12)
    log = nr.aggregate(p, y, loss="log")
    L = -np.log(np.where(y[:, None] == 1.0, p, 1 - p)).sum(axis=0)
    assert log.certificate.bound == pytest.approx(-math.log(np.exp(-L).sum() / 2), rel=1e-12)
    assert log.certificate.loss == pytest.approx(log.certificate.bound, rel=1e-12)
    with pytest.raises(OutcomeError, match="Brier"):
        nr.aggregate(p, [1.0, 0.5, 0.0], loss="brier")


@pytest.mark.parametrize("ridge", [0.2, 0.9])
def test_the_chain_from_the_pool_to_a_cell_to_its_best_expert(ridge: float) -> None:
    """The least over cells of the cell's own bound on the loss that it was charged, and its price.

    Ridge's first statement is about weighted losses, so its second is the one that counts.
    """
    rng = np.random.default_rng(4)
    X = 0.3 * rng.normal(size=(30, 2))
    y = np.clip(X @ [1.0, -1.0] + 0.1 * rng.normal(size=30), -1, 1)
    prior = [ridge, 0.6 * (1 - ridge), 0.4 * (1 - ridge)]
    cells = [nr.Ridge(0.1), nr.AAR(50.0), nr.AAR(0.1)]
    pool = nr.AggregatingAlgorithm(cells, outcome_range=1.0, prior=prior)
    pool.replay(X, y)
    alone = [cell.fit(X, y) for cell in (nr.Ridge(0.1), nr.AAR(50.0), nr.AAR(0.1))]
    bounds = [c.certificates()[k].bound for c, k in zip(alone, (1, 0, 0), strict=True)]
    totals = [b - 2.0 * math.log(p) for b, p in zip(bounds, prior, strict=True)]
    chain = pool.certificates()[-1]
    assert chain.name.startswith("the pool and")
    assert chain.bound == pytest.approx(min(totals), rel=1e-12)
    best = int(np.argmin(totals))
    assert chain.comparator == pytest.approx(alone[best].certificates()[0].comparator, rel=1e-12)


def test_the_chain_takes_only_certificates_of_the_loss_that_was_charged() -> None:
    """Log loss and squares may add up to the same number: they are not the same loss."""
    rng = np.random.default_rng(4)
    X, y = 0.3 * rng.normal(size=(20, 2)), rng.uniform(-1, 1, 20)
    pool = nr.AggregatingAlgorithm([nr.AAR(0.5), nr.AAR(2.0)], outcome_range=1.0)
    pool.replay(X, y)
    played, totals = pool._state.pool.game, pool._state.pool.totals()
    own = nr.AAR(0.5).fit(X, y).certificate()
    assert len(chain(played, totals, [("a", [own])])) == 1
    assert chain(played, totals, [("a", [replace(own, about=LOG)])]) == []
    assert chain(played, totals, [("a", [replace(own, about="")])]) == []


@pytest.mark.parametrize("loss", ["square", "log", "brier"])
@pytest.mark.parametrize("y", [math.nan, math.inf, -math.inf, 1.1e150])
def test_no_game_is_played_with_outcomes_that_have_no_square(loss: str, y: float) -> None:
    with pytest.raises(OutcomeError):
        game(loss, None).outcome(y)
    assert game(loss, None).outcome(1.0) == 1.0


def test_losses_are_compensated() -> None:
    """One expert that says 0: its loss and the pool's are sums of squares, to the last bit."""
    y = np.array([10.0] * 100 + [1e10] + [10.0] * 1000)
    result = nr.aggregate(np.zeros((len(y), 1)), y, rule="aggregating", outcome_range=1e10)
    exactly = math.fsum((y * y).tolist())
    totals = result.pool.totals()
    assert totals.paid[0] == exactly
    assert totals.loss == exactly
    assert totals.mix == exactly
    assert result.certificate.loss == exactly


def test_a_replay_goes_on_from_what_was_learned_and_copies_share_nothing() -> None:
    one = nr.AggregatingAlgorithm(["a", "b", "c"], outcome_range=(LO, HI), share=SHARE)
    parts = nr.AggregatingAlgorithm(["a", "b", "c"], outcome_range=(LO, HI), share=SHARE)
    rows = [dict(zip("abc", row.tolist())) for row in SAID]
    one.replay(rows, Y)
    parts.replay(rows[:3], Y[:3])
    before = parts.certificate()
    twin = nr.from_bytes(parts.to_bytes())
    parts.replay(rows[3:], Y[3:])
    assert twin.certificate() == before
    assert [c.bound for c in parts.certificates()] == [c.bound for c in one.certificates()]
    assert parts.losses_ == one.losses_


def test_a_joiner_has_paid_what_the_mixture_paid() -> None:
    pool = nr.AggregatingAlgorithm(["a", "b"], outcome_range=(LO, HI), share=SHARE)
    for row, y in zip(SAID[:4], Y[:4], strict=True):
        pool.learn_one({"a": float(row[0]), "b": float(row[1])}, float(y))
    mix = pool._state.pool.totals().mix
    pool.join("c", 0.25)
    assert pool.losses_["c"] == pytest.approx(mix, rel=1e-12)
    totals = pool._state.pool.totals()
    assert np.exp(totals.log_prior) == pytest.approx([0.375, 0.375, 0.25], rel=1e-12)
    stay = -np.log(1 - SHARE + SHARE * np.array([0.375, 0.375, 0.25])) * 3 / ETA
    assert totals.staying == pytest.approx(stay, rel=1e-12)
    assert sum(pool.weights_.values()) == pytest.approx(1.0, rel=1e-12)
