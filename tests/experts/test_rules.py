"""MLpol and BOA: equal to their formulas, certificates on any stream, any loss, sleepers, files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import InputError, NoRegretError, NumericalError, ParameterError
from noregret.experts.convex import convex
from noregret.reference import regrets as twin
from pools import Game, games, refused, seeds

RULES = ("mlpol", "boa")
LOSSES: dict[str, dict[str, Any]] = {
    "square": {"loss": "square"},
    "absolute": {"loss": "absolute"},
    "pinball": {"loss": "pinball", "level": 0.83},
    "low": {"loss": "pinball", "level": 0.02},
    "huber": {"loss": "huber", "width": 0.3},
}
rules = st.sampled_from(RULES)
losses = st.sampled_from(list(LOSSES.values()))


def fourth(g: float, y: float) -> float:
    return (g - y) ** 4


def fourth_slope(g: float, y: float) -> float:
    return 4.0 * (g - y) ** 3


class Cosh:
    """An object with a loss and a slope."""

    def loss(self, g: float, y: float) -> float:
        return float(np.cosh(g - y))

    def slope(self, g: float, y: float) -> float:
        return float(np.sinh(g - y))


def noisy(seed: int, T: int = 60, N: int = 5, asleep: float = 0.0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.normal(size=T)
    said = y[:, None] + rng.normal(size=(T, N)) * rng.uniform(0.1, 2.0, N) + rng.normal(size=N)
    naps = rng.random((T, N)) < asleep
    naps[np.arange(T), rng.integers(0, N, T)] = False
    return np.where(naps, np.nan, said), y


@pytest.mark.slow
@given(seed=seeds, rule=rules, kind=losses, asleep=st.sampled_from([0.0, 0.4]), even=st.booleans())
@settings(max_examples=60, deadline=None)
def test_equal_to_the_formulas(
    seed: int, rule: str, kind: dict[str, Any], asleep: float, even: bool
) -> None:
    said, y = noisy(seed, asleep=asleep)
    prior = None if even else np.random.default_rng(seed).uniform(0.01, 1.0, said.shape[1])
    result = nr.aggregate(said, y, rule=rule, prior=prior, **kind)
    slope = convex(kind["loss"], kind.get("level"), kind.get("width")).slopes
    dense = getattr(twin, rule)(said, y, slope, prior)
    np.testing.assert_allclose(result.forecast, dense.forecasts, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(result.weights, dense.weights, rtol=1e-8, atol=1e-9)
    totals = result.pool.totals()
    np.testing.assert_allclose(totals.regret, dense.r.sum(axis=0), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(totals.price, dense.allowed, rtol=1e-8, atol=1e-8)


@pytest.mark.slow
@given(game=games(), rule=rules, kind=losses, asleep=st.booleans(), seed=seeds)
@settings(max_examples=300, deadline=None)
def test_certificates_hold_on_any_stream(
    game: Game, rule: str, kind: dict[str, Any], asleep: bool, seed: int
) -> None:
    game = game.asleep(seed) if asleep else game
    result = nr.aggregate(game.said, game.y, rule=rule, prior=game.prior, **kind)
    assert [c.holds for c in result.certificates] == [True, True]
    totals = result.pool.totals()
    # The theorem itself, for every expert: R_k <= what is allowed.
    tiny = 1e-9 * (np.abs(totals.regret).max() + totals.reach)
    assert (totals.regret <= totals.price + tiny).all()
    lost = result.expert_losses
    paid = np.where(np.isnan(lost), result.loss[:, None], lost).sum(axis=0)
    np.testing.assert_allclose(totals.paid, paid, rtol=1e-9, atol=1e-300)
    assert result.certificate.comparator == pytest.approx(paid.min(), rel=1e-9)


def adversary(rule: str, kind: dict[str, Any], T: int, N: int, seed: int) -> tuple[Any, Any]:
    """Outcomes that are as far as can be from the forecast of the moment."""
    rng = np.random.default_rng(seed)
    said, y = rng.uniform(-1.0, 1.0, (T, N)), np.zeros(T)
    pool = {"mlpol": nr.MLpol, "boa": nr.BOA}[rule]([f"e{j}" for j in range(N)], **kind)
    for t in range(T):
        y[t] = -1.0 if pool.predict_one(said[t]) > 0.0 else 1.0
        pool.learn_one(said[t], y[t])
    return said, y


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", LOSSES.values(), ids=LOSSES)
def test_adversaries_constants_and_the_huge(rule: str, kind: dict[str, Any]) -> None:
    said, y = adversary(rule, kind, 200, 4, 1)
    streams = [
        (said, y),
        (np.ones((30, 3)), np.ones(30)),
        (np.ones((30, 3)), np.zeros(30)),
        (1e140 * said, 1e140 * y),
        (1e-140 * said, 1e-140 * y),
        (np.where(np.arange(200)[:, None] < 100, 1e-60, 1e30) * said, y),
    ]
    for words, outcomes in streams:
        result = nr.aggregate(words, outcomes, rule=rule, **kind)
        assert np.isfinite(result.forecast).all()
        for c in result.certificates:
            assert c.holds is True or not np.isfinite(c.loss + c.comparator)


@pytest.mark.parametrize("rule", RULES)
def test_where_all_agree_the_forecast_is_theirs(rule: str) -> None:
    said = np.repeat(np.random.default_rng(0).normal(size=(50, 1)), 3, axis=1)
    result = nr.aggregate(said, np.arange(50.0), rule=rule)
    assert (result.forecast == said[:, 0]).all()


@given(seed=seeds, rule=rules, scale=st.sampled_from([2.0**-30, 1e-3, 1000.0, 2.0**40]))
@settings(max_examples=40, deadline=None)
def test_units_do_not_matter(seed: int, rule: str, scale: float) -> None:
    said, y = noisy(seed, asleep=0.2)
    for kind in ({"loss": "square"}, {"loss": "absolute"}, {"loss": "pinball", "level": 0.3}):
        one = nr.aggregate(said, y, rule=rule, **kind)
        two = nr.aggregate(scale * said, scale * y, rule=rule, **kind)
        np.testing.assert_allclose(two.forecast, scale * one.forecast, rtol=1e-9, atol=1e-9 * scale)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("loss", [(fourth, fourth_slope), Cosh()], ids=["pair", "object"])
def test_losses_of_the_caller(rule: str, loss: Any) -> None:
    said, y = noisy(3, asleep=0.2)
    result = nr.aggregate(said, y, rule=rule, loss=loss)
    assert [c.holds for c in result.certificates] == [True, True]
    best, even, mixed = result.hindsight()
    assert mixed.loss <= min(best.loss, even.loss) * (1.0 + 1e-12)
    same = nr.aggregate(
        said, y, rule=rule, loss=(lambda g, y: (g - y) ** 2, lambda g, y: 2 * (g - y))
    )
    np.testing.assert_allclose(same.forecast, nr.aggregate(said, y, rule=rule).forecast, rtol=1e-9)


def test_a_loss_that_is_not_convex_withdraws_the_claim() -> None:
    said, y = noisy(4)
    loss = (lambda g, y: -((g - y) ** 2), lambda g, y: -2.0 * (g - y))
    certificate = nr.aggregate(said, y, rule="boa", loss=loss).certificate
    assert certificate.holds is None
    assert "tangents" in str(certificate)


@given(seed=seeds, kind=losses, rule=rules, asleep=st.booleans())
@settings(max_examples=25, deadline=None)
def test_hindsight_is_the_best_and_the_regret_to_it_is_bounded(
    seed: int, kind: dict[str, Any], rule: str, asleep: bool
) -> None:
    said, y = noisy(seed, T=40, N=3, asleep=0.3 if asleep else 0.0)
    result = nr.aggregate(said, y, rule=rule, **kind)
    best, _, mixed = result.hindsight()
    game = result.pool.game
    filled = np.where(np.isnan(said), result.forecast[:, None], said)
    grid = np.array([(a, b, 20 - a - b) for a in range(21) for b in range(21 - a)]) / 20.0
    least = min(float(game.values(filled @ w, y).sum()) for w in grid)
    assert mixed.loss <= least * (1.0 + 1e-6)
    assert mixed.weights.min() >= 0.0
    assert mixed.weights.sum() == pytest.approx(1.0)
    assert best.loss == pytest.approx(result.certificate.comparator)
    combinations = result.certificates[1]
    assert result.loss.sum() - mixed.loss <= combinations.loss + 1e-9 * result.loss.sum()


@given(seed=seeds, rule=rules)
@settings(max_examples=40, deadline=None)
def test_quantiles_never_cross_and_sorting_never_costs(seed: int, rule: str) -> None:
    said, y = noisy(seed, asleep=0.2)
    levels = [0.9, 0.05, 0.5, 0.6]
    result = nr.aggregate(said, y, rule=rule, loss="pinball", level=levels)
    assert list(result.levels) == sorted(levels)
    assert (np.diff(result.forecast, axis=1) >= 0.0).all()
    before = np.sum([one.loss for one in result.at], axis=0)
    assert (result.loss <= before + 1e-12 * (1.0 + before)).all()
    assert result.certificate.holds


@pytest.mark.parametrize("rule", RULES)
def test_several_outcomes_share_the_weights(rule: str) -> None:
    rng = np.random.default_rng(5)
    y = rng.normal(size=(80, 3))
    said = y[:, None, :] + rng.normal(size=(80, 4, 3)) * np.array([0.1, 1.0, 1.0, 2.0])[:, None]
    said[3:9, 0, 1] = np.nan
    result = nr.aggregate(said, y, rule=rule, loss="absolute")
    assert result.forecast.shape == (80, 3)
    assert result.weights[5, 0] == 0.0
    assert [c.holds for c in result.certificates] == [True, True]
    assert result.hindsight()[0].name == "best expert: expert_0"
    one = nr.aggregate(said[:, :, :1], y[:, :1], rule=rule)
    flat = nr.aggregate(said[:, :, 0], y[:, 0], rule=rule)
    assert (one.forecast[:, 0] == flat.forecast).all()


@pytest.mark.parametrize("make", [nr.MLpol, nr.BOA])
@pytest.mark.parametrize("kind", LOSSES.values(), ids=LOSSES)
def test_rounds_one_by_one_are_the_replay_and_files_go_on(make: Any, kind: dict[str, Any]) -> None:
    said, y = noisy(6, asleep=0.3)
    names = [f"e{j}" for j in range(said.shape[1])]
    whole, single = make(names, **kind), make(names, **kind)
    result = whole.replay(said, y)
    for t, (x, outcome) in enumerate(zip(said, y.tolist())):
        assert single.predict_one(x) == result.forecast[t]
        single.learn_one(x, outcome)
        if t in (0, 20):
            single = nr.from_bytes(single.to_bytes())
    assert single.to_bytes() == whole.to_bytes()
    assert single.certificates() == list(result.certificates)
    np.testing.assert_array_equal(single.predict(said[:3]), whole.predict(said[:3]))


def test_files_give_the_functions_back() -> None:
    said, y = noisy(7)
    pool = nr.MLpol([f"e{j}" for j in range(5)], loss=(fourth, fourth_slope))
    pool.replay(said, y)
    again = nr.from_bytes(pool.to_bytes(), fourth=fourth, fourth_slope=fourth_slope)
    assert again.to_bytes() == pool.to_bytes()
    again.learn_one(said[0], 0.0)
    with pytest.raises(NoRegretError, match="fourth"):
        nr.from_bytes(pool.to_bytes())


@pytest.mark.parametrize("make", [nr.MLpol, nr.BOA])
def test_late_joiners(make: Any) -> None:
    rng = np.random.default_rng(8)
    pool = make({"bad": lambda _: 3.0, "mean": lambda _: 0.5}, loss="absolute")
    for t in range(200):
        if t == 50:
            pool.join(lambda x: x["x"], 0.2, name="late")
            assert pool.certificate().holds
        pool.learn_one({"x": float(t % 2)}, t % 2 + 0.01 * rng.normal())
    assert max(pool.weights_, key=pool.weights_.get) == "late"
    assert [c.holds for c in pool.certificates()] == [True, True]


@pytest.mark.parametrize("make", [nr.MLpol, nr.BOA])
def test_over_learners(make: Any) -> None:
    rng = np.random.default_rng(9)
    X = rng.normal(size=(150, 3))
    y = X @ [1.0, -2.0, 0.5] + 0.1 * rng.normal(size=150)
    pool, same = make([nr.AAR(), nr.Ridge(0.1)]), make([nr.AAR(), nr.Ridge(0.1)])
    result = pool.replay(X, y)
    for x, outcome in zip(X, y.tolist()):
        same.learn_one(x, outcome)
    np.testing.assert_allclose(same.predict(X[:5]), pool.predict(X[:5]), rtol=1e-9)
    assert result.certificate.holds
    assert pool.n_features_in_ == 3


def test_refusals() -> None:
    said, y = noisy(10)
    for wrong, words in (
        (
            {"rule": "best"},
            "rule = 'best': give one of rules, adaptive, stacking, aggregating, mlpol, boa",
        ),
        ({"rule": "boa", "loss": "log"}, "loss = 'log': give square"),
        ({"rule": "boa", "loss": "pinball"}, "level = None"),
        ({"rule": "boa", "loss": "pinball", "level": 1.0}, "level = 1.0"),
        ({"rule": "boa", "loss": "huber"}, "width = None"),
        ({"rule": "boa", "level": 0.5}, "it is for loss"),
        ({"rule": "boa", "share": 0.1}, 'it is for rule="rules" or "aggregating"'),
        ({"rule": "mlpol", "outcome_range": 1.0}, 'it is for rule="rules" or "aggregating"'),
        ({"level": 0.5}, 'it is for rule="mlpol"'),
    ):
        with pytest.raises(ParameterError, match=words):
            nr.aggregate(said, y, **wrong)
    with pytest.raises(InputError, match="every expert sleeps in row 2"):
        nr.aggregate([[1.0], [2.0], [np.nan]], [1.0, 2.0, 3.0], rule="mlpol")
    with pytest.raises(NumericalError, match="row 0"):
        nr.aggregate([[1e150, -1e150]], [0.0], rule="boa", loss=(fourth_size, huge_slope))
    pool = nr.BOA(["a", "b"], loss=(nothing, fourth_slope))
    with pytest.raises(InputError, match="must be finite"):
        pool.learn_one([1.0, 2.0], 0.0)
    pool = nr.MLpol(["a", "b"])
    pool.learn_one([1.0, 2.0], 0.0)
    refused(pool, InputError, ("y = 1e+200",), lambda: pool.learn_one([1.0, 2.0], 1e200))
    refused(pool, InputError, ("every expert sleeps",), lambda: pool.predict_one([np.nan, np.nan]))


def nothing(*_: float) -> float:
    return float("nan")


def fourth_size(g: float, y: float) -> float:
    return abs(g - y)


def huge_slope(*_: float) -> float:
    return 1e300


def test_a_million_rounds_take_no_memory_of_their_own() -> None:
    pool = nr.BOA(["a", "b"])
    pool.replay(np.ones((10, 2)), np.zeros(10))
    size = len(pool.to_bytes())
    pool.replay(np.ones((5000, 2)), np.zeros(5000))
    assert abs(len(pool.to_bytes()) - size) < 20
