"""A pool's compiled rounds: the same bits as its members and its weights by themselves."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import noregret as nr
from noregret import losses
from noregret.errors import NoRegretError
from noregret.experts.pool import Pool
from noregret.experts.state import PoolState
from pools import Game, bits_of, games, learned, state

T, N = 40, 4
RNG = np.random.default_rng(7)
X = RNG.normal(size=(T, N))
Y = X @ np.array([1.0, -0.5, 0.25, 0.0]) + 0.1 * RNG.normal(size=T)
NAMES = ["a", "b", "c", "d"]

LEARNERS: dict[str, Callable[[], Any]] = {
    "AAR": lambda: nr.AAR(0.1),
    "intercept": lambda: nr.AAR(2.0, fit_intercept=True),
    "ridge": lambda: nr.Ridge(3.0),
    "clipped": lambda: nr.Ridge(clip=1.0),
    "drift": lambda: nr.AAR(drift=1e-3),
    "Auto": lambda: nr.Auto(effort="linear"),
    "net": lambda: nr.KLMSNet(10.0),
    "pool": lambda: nr.AggregatingAlgorithm([nr.AAR(), nr.Ridge(7.0)], outcome_range=4.0),
}
ROWS: dict[str, Callable[[np.ndarray], Any]] = {
    "arrays": lambda x: x,
    "strided": lambda x: np.repeat(x, 3)[::3],
    "lists": lambda x: x.tolist(),
    "mappings": lambda x: dict(zip(NAMES, x.tolist())),
    "numpy scalars": lambda x: dict(zip(NAMES, x)),
}


def alone(make: Iterable[Callable[[], Any]]) -> tuple[list[Any], Pool]:
    """Members by themselves, and a pool that hears what they say."""
    models = [m() for m in make]
    weights = np.full(len(models), 1.0 / len(models))
    return models, Pool.start(losses.game("square", None), weights)


def round_of(models: list[Any], pool: Pool, x: Any, y: float) -> float:
    said = np.array([m.predict_one(x) for m in models])
    g = pool.forecast(said)
    pool.learn(said, y)
    for m in models:
        m.learn_one(x, y)
    return g


def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on, no pool asks its members one by one."""

    def heard(*_: object) -> None:
        raise AssertionError("the careful way")

    monkeypatch.setattr(PoolState, "heard", heard)


@pytest.mark.parametrize("rows", ROWS)
def test_members_and_weights_as_by_themselves(rows: str, monkeypatch: pytest.MonkeyPatch) -> None:
    merger = nr.AggregatingAlgorithm({name: make() for name, make in LEARNERS.items()})
    models, pool = alone(LEARNERS.values())
    for t, (x, y) in enumerate(zip(map(ROWS[rows], X), Y)):
        if t == 4:  # Auto has its units, each member its state
            compiled(monkeypatch)
        assert merger.predict_one(x) == round_of(models, pool, x, float(y))
        merger.learn_one(x, y)
    for member, model in zip(merger.experts_.values(), models):
        assert bits_of(member) == bits_of(model)
    assert list(merger.losses_.values()) == pool.totals().paid.tolist()
    assert list(merger.weights_.values()) == pool.weights().tolist()


def test_log_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    def make() -> Any:
        return nr.BayesianAlgorithm(nr.over(nr.BayesianRidge, noise_var=[0.01, 1.0, 100.0]))

    carefully, quickly = make(), make()
    for x, y in zip(X[:20], Y):
        carefully.learn_one(list(map(Decimal, x.tolist())), Decimal(float(y)))
    quickly.learn_one(X[0], Y[0])
    compiled(monkeypatch)
    for x, y in zip(X[1:20], Y[1:]):
        quickly.predict_one(x)
        quickly.learn_one(x, y)
    assert state(quickly) == state(carefully)
    monkeypatch.undo()
    whole = make().replay(X[:20], Y[:20])
    twin = make()
    said = []
    for x, y in zip(X[:20], Y):
        said.append(twin.predict_one(x))
        twin.learn_one(x, y)
    np.testing.assert_array_equal(whole.forecast, said)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (X[0], np.nan),
        (X[0], 1e151),
        (X[0], 1e3),  # the net's range is 10
        (X[0], "1"),
        (X[0], None),
        (np.array([1.0, np.nan, 0.0, 0.0]), 0.5),
        (np.array([1.0, 1e305, 0.0, 0.0]), 0.5),
        (X[0, :3], 0.5),
        ([[1.0]], 0.5),
        ("text", 0.5),
        (None, 0.5),
        ({"a": 1.0}, 0.5),
    ],
)
def test_a_refused_round_is_learned_by_nobody(x: Any, y: Any) -> None:
    merger = nr.AggregatingAlgorithm({name: make() for name, make in LEARNERS.items()})
    for row, outcome in zip(X[:6], Y):
        merger.learn_one(row, outcome)
    before = state(merger)
    with pytest.raises(NoRegretError):
        merger.learn_one(x, y)
    assert state(merger) == before
    merger.predict_one(X[6])
    assert state(merger) == before


@pytest.mark.parametrize(("x", "y"), [([0.5, -1e151], 0.5), ([0.5, 0.75], -1e151)])
def test_numbers_beyond_the_limit(x: list[float], y: float) -> None:
    pool = nr.AggregatingAlgorithm(["a", "b"])
    pool.learn_one([0.5, 0.25], 0.5)
    before = state(pool)
    with pytest.raises(NoRegretError, match="151"):
        pool.learn_one(x, y)
    assert state(pool) == before


def test_a_member_that_learns_by_itself() -> None:
    merger = nr.AggregatingAlgorithm({name: make() for name, make in LEARNERS.items()})
    models, pool = alone(LEARNERS.values())
    for t, (x, y) in enumerate(zip(X, Y.tolist())):
        if t in (9, 20):
            for model, member in zip(models, merger.experts_.values()):
                model.learn_one(X[t + 1], 0.5)
                member.learn_one(X[t + 1], 0.5)
        if t == 15:
            for model, member in zip(models, merger.experts_.values()):
                model.partial_fit(X[:3], Y[:3])
                member.partial_fit(X[:3], Y[:3])
        assert merger.predict_one(x) == round_of(models, pool, x, y)
        merger.predict_one(X[0])  # another look between a forecast and its outcome
        merger.learn_one(x, y)


def test_new_features_and_files_midway() -> None:
    merger = nr.AggregatingAlgorithm([nr.AAR(), nr.Ridge(2.0), nr.AAR(drift=0.01)])
    models, pool = alone([nr.AAR, lambda: nr.Ridge(2.0), lambda: nr.AAR(drift=0.01)])
    for t, (row, y) in enumerate(zip(X, Y.tolist())):
        x = dict(zip(NAMES[: 2 + t // 10], row.tolist()))
        assert merger.predict_one(x) == round_of(models, pool, x, y)
        merger.learn_one(x, y)
        if t % 7 == 3:
            merger = nr.from_bytes(merger.to_bytes())


def test_members_of_others_among_ours() -> None:
    def last(x: Any) -> float:
        return float(x[0])

    merger = nr.AggregatingAlgorithm({"AAR": nr.AAR(), "first": last})
    model, (_, pool) = nr.AAR(), alone([nr.AAR, nr.AAR])
    for x, y in zip(X, Y.tolist()):
        said = np.array([model.predict_one(x), last(x)])
        assert merger.predict_one(x) == pool.forecast(said)
        merger.learn_one(x, y)
        pool.learn(said, y)
        model.learn_one(x, y)


def test_a_joiner_among_compiled_rounds() -> None:
    merger = nr.AggregatingAlgorithm({"AAR": nr.AAR()})
    for x, y in zip(X[:5], Y):
        merger.learn_one(x, y)
    merger.join(nr.Ridge(), 0.5, name="late")
    models = [nr.AAR().partial_fit(X[:5], Y[:5]), nr.Ridge()]
    for x, y in zip(X[5:], Y[5:].tolist()):
        said = [m.predict_one(x) for m in models]
        assert min(said) <= merger.predict_one(x) <= max(said) or len(set(said)) == 1
        merger.learn_one(x, y)
        for m in models:
            m.learn_one(x, y)
    assert [bits_of(m) for m in merger.experts_.values()] == [bits_of(m) for m in models]


def test_what_a_replay_gave_back_stays() -> None:
    merger = nr.AggregatingAlgorithm([nr.AAR(), nr.Ridge()])
    replay = merger.replay(X[:20], Y[:20])
    before = learned(replay.pool)
    for x, y in zip(X[20:], Y[20:]):
        merger.learn_one(x, y)
    assert learned(replay.pool) == before


def test_a_member_whose_lock_is_taken_is_waited_for() -> None:
    merger = nr.AggregatingAlgorithm({"Auto": nr.Auto(effort="linear"), "net": nr.KLMSNet(10.0)})
    for x, y in zip(X[:5], Y):
        merger.learn_one(x, y)
    member = merger.experts_["Auto"]
    learner = threading.Thread(target=merger.learn_one, args=(X[5], Y[5]))
    with member._lock:
        learner.start()
        learner.join(0.05)
        assert learner.is_alive()
        assert merger._state.pool.rounds == 5
    learner.join()
    assert merger.n_samples_seen_ == 6
    assert member.n_samples_seen_ == 6


@given(games(max_rounds=20, mad=False))
def test_names_one_at_a_time_and_in_a_table(game: Game) -> None:
    names = [f"x{j}" for j in range(game.said.shape[1])]
    whole = nr.aggregate(
        game.said, game.y, rule="aggregating", outcome_range=game.range, prior=game.prior
    )
    mappings, rows = (
        nr.AggregatingAlgorithm(names, outcome_range=game.range, prior=game.prior) for _ in range(2)
    )
    for x, y, g in zip(game.said, game.y, whole.forecast):
        named = dict(zip(names, x.tolist()))
        assert mappings.predict_one(named) == rows.predict_one(x) == g
        mappings.learn_one(named, float(y))
        rows.learn_one(x, y)
    assert learned(mappings._state.pool) == learned(rows._state.pool) == learned(whole.pool)


@given(games(max_rounds=30))
def test_a_sleeper_without_weight_changes_nothing(game: Game) -> None:
    """The way that finds a leader first, which a sleeper needs, and the plain one agree."""
    said = np.column_stack([game.said, np.full(len(game.y), np.nan)])
    plain = nr.aggregate(
        game.said, game.y, rule="aggregating", outcome_range=game.range, prior=game.p
    )
    careful = nr.aggregate(
        said, game.y, rule="aggregating", outcome_range=game.range, prior=[*game.p, 1e-9]
    )
    np.testing.assert_allclose(careful.forecast, plain.forecast, rtol=0, atol=1e-12 * game.size)


@given(games(max_rounds=40, max_experts=20))
def test_cuts_leave_no_trace(game: Game) -> None:
    names = [f"x{j}" for j in range(game.said.shape[1])]
    whole, parts = (nr.AggregatingAlgorithm(names, prior=game.prior) for _ in range(2))
    forecast = whole.replay(game.said, game.y).forecast
    cuts = sorted({0, len(game.y) // 3, len(game.y) // 2, len(game.y)})
    pieces = [parts.replay(game.said[a:b], game.y[a:b]).forecast for a, b in pairwise(cuts)]
    np.testing.assert_array_equal(np.concatenate(pieces), forecast)
    assert learned(parts._state.pool) == learned(whole._state.pool)


@pytest.mark.parametrize("said", [[0.2, 0.9], [0.9, 0.2], [0.1] * 11 + [0.9, 0.3]])
def test_an_outcome_far_outside_the_range(said: list[float]) -> None:
    y = np.array([0.5, 1e4, 0.5])
    result = nr.aggregate(np.tile(said, (3, 1)), y, rule="aggregating", outcome_range=(0.0, 1.0))
    lost = result.pool.totals().paid
    np.testing.assert_allclose(lost, ((y[:, None] - said) ** 2).sum(axis=0), rtol=1e-15)
    np.testing.assert_allclose(np.diff(result.pool.excess), np.diff(lost), rtol=1e-10)
    assert result.pool.totals().outside == 1
    best = lost.min()  # without a share the mix is -ln(mean of exp(-eta L))/eta, and eta is 2
    mix = best - 0.5 * math.log(np.exp(-2.0 * (lost - best)).mean())
    assert result.pool.totals().mix == pytest.approx(mix, rel=1e-12)


@pytest.mark.parametrize("asleep", [False, True])
@pytest.mark.parametrize("parts", [[0.3, 2.0**53, 0.8], [2.0**53, 0.8, 0.8, 0.8]])
def test_losses_of_experts_are_compensated(parts: list[float], asleep: bool) -> None:
    """Squares of which some are below the last digit of others; the other expert may sleep."""
    y = np.sqrt(np.array(parts) * 2.0**-53)
    said = np.zeros((len(y), 2))
    if asleep:
        said[:, 1] = np.nan
    totals = nr.aggregate(said, y, rule="aggregating", outcome_range=1.0).pool.totals()
    assert totals.paid[0] == math.fsum((y * y).tolist()) > 1.0


def test_losses_add_up_as_if_exactly() -> None:
    tiny = 0.75 * 2.0**-53
    y = np.sqrt(np.array([tiny, 1.0, tiny]))
    totals = nr.aggregate(np.zeros((3, 1)), y, rule="aggregating", outcome_range=2.0).pool.totals()
    assert totals.paid[0] == math.fsum((y * y).tolist()) > 1.0
    assert totals.reach == 1.0


def test_experts_that_agree_are_followed_to_the_last_bit() -> None:
    said = np.repeat(RNG.uniform(0.0, 1.0, 50)[:, None], 11, axis=1)
    result = nr.aggregate(
        said, RNG.uniform(0.0, 1.0, 50), rule="aggregating", outcome_range=(0.0, 1.0)
    )
    np.testing.assert_array_equal(result.forecast, said[:, 0])


@pytest.mark.parametrize("switches", [0, 1, 2, 5])
def test_the_best_sequence_by_trying_all(switches: int) -> None:
    costs = np.random.default_rng(switches).integers(0, 4, (6, 3)).astype(float)
    costs[2, 1] = np.nan
    path, least = nr.best_sequence(costs, switches)
    found = np.where(np.isnan(costs), np.inf, costs)
    every = (np.array(p) for p in np.ndindex(*[3] * 6))
    fit = [found[np.arange(6), p].sum() for p in every if (np.diff(p) != 0).sum() <= switches]
    assert least == min(fit) == found[np.arange(6), path].sum()
    assert (np.diff(path) != 0).sum() <= switches


def test_auto_gets_its_units_one_by_one() -> None:
    rows = X.copy()
    rows[:10, 0] = rows[:3] = 0.0
    one, many = nr.Auto(), nr.Auto()
    said = []
    for x, y in zip(rows, Y):
        said.append(one.predict_one(x.tolist()))
        one.learn_one(x, y)
    np.testing.assert_array_equal(many.replay(rows, Y).forecast, said)
    assert one.to_bytes() == many.to_bytes()
    assert [one.predict_one(x) for x in X[:3]] == one.predict(X[:3]).tolist()
