"""prior="fleet": exact in its bookkeeping, and worth having on real keys."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import noregret as nr
from noregret.errors import FeatureError, InputError, MergeError
from noregret.fleet.prior import Moments, learned

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "chick_weights.csv"


def population(keys: int = 40, rounds: int = 12, n: int = 3, spread: float = 0.1, seed: int = 0):
    """Keys one after the other, whose weights are near one another."""
    rng = np.random.default_rng(seed)
    m = rng.normal(size=n) * 5
    for key in range(keys):
        w = m + spread * rng.normal(size=n)
        X = rng.normal(size=(rounds, n))
        yield key, X, X @ w + 0.3 * rng.normal(size=rounds)


def taught(kind=nr.Ridge, prior="fleet", **more) -> tuple[nr.Fleet, dict]:
    fleet, seen = nr.Fleet(kind(0.5), prior=prior), {}
    for key, X, y in population(**more):
        seen[key] = X, y, fleet.round([key] * len(y), X, y)
    return fleet, seen


def best(prior, X, y, a: float) -> float:
    """min_w |y - Xw|^2 + (w - m)'P(w - m), from the formula."""
    n = X.shape[1]
    m, P = (np.zeros(n), a * np.eye(n)) if prior is None else (prior.mean, prior.precision)
    w = np.linalg.solve(X.T @ X + P, X.T @ y + P @ m)
    return float(((y - X @ w) ** 2).sum() + (w - m) @ P @ (w - m))


@pytest.mark.parametrize("kind", [nr.Ridge, nr.AAR, nr.BayesianRidge])
def test_the_certificate_says_against_what_it_compares(kind) -> None:
    fleet, seen = taught(kind)
    table = fleet.certificates(audit=True)
    assert all(table.holds)
    assert fleet.certificate().holds
    assert "(w - m)'P(w - m)" in table.statement
    later = [key for key in seen if fleet.prior(key) is not None]
    assert len(later) > 20
    for key, (X, y, _) in seen.items():
        prior, learner = fleet.prior(key), fleet[key]
        V = learner._state.facts().totals.fit
        assert pytest.approx(best(prior, X, y, 0.5), rel=1e-9) == V
        P = 0.5 * np.eye(3) if prior is None else prior.precision
        log_det = np.linalg.slogdet(np.eye(3) + np.linalg.solve(P, X.T @ X))[1]
        assert learner._state.facts().totals.log_det == pytest.approx(log_det, rel=1e-9)


def test_forecasts_are_those_of_the_formula() -> None:
    fleet, seen = taught(nr.Ridge)
    key = 39
    X, y, said = seen[key]
    prior = fleet.prior(key)
    for t in range(len(y)):
        A = X[:t].T @ X[:t] + prior.precision
        w = np.linalg.solve(A, X[:t].T @ y[:t] + prior.precision @ prior.mean)
        assert said[t] == pytest.approx(w @ X[t], rel=1e-9)
    assert fleet.predict([1000], X[:1])[0] == pytest.approx(
        fleet._priors.known[-1].mean @ X[0], rel=1e-12
    )


def test_new_keys_lose_less_where_keys_are_alike() -> None:
    def late(prior) -> float:
        _, seen = taught(nr.Ridge, prior)
        return sum(((y - said) ** 2).sum() for key, (_, y, said) in seen.items() if key >= 20)

    assert late("fleet") < 0.2 * late(None)


def test_the_strength_follows_how_alike_keys_are() -> None:
    def strength(spread: float) -> float:
        moments = []
        for _, X, y in population(60, spread=spread):
            moments.append(Moments(X.T @ X, X.T @ y, float(y @ y), len(y)))
        return float(np.trace(learned(moments, 1e-6, 60).precision))

    assert strength(0.01) > 10 * strength(0.5) > 100 * strength(10.0)


def test_no_prior_is_learned_from_what_does_not_fit() -> None:
    fleet = nr.Fleet(nr.Ridge(), prior="fleet")
    for key in range(20):
        fleet.learn([key] * 3, [[1e180, 1.0]] * 3, [1.0] * 3)
    assert fleet.prior(19) is None
    twins = [Moments(np.ones((2, 2)), np.ones(2), 1.0, 1) for _ in range(9)]
    assert learned(twins, 1e-30, 9) is None


def test_moments_turn_back() -> None:
    fleet, seen = taught(nr.AAR)
    store = fleet._store
    for key in (0, 39):
        X, y, _ = seen[key]
        row = store.take(fleet._found(np.array([key])))[0]
        found = fleet._priors._moments(row, store.packing)
        np.testing.assert_allclose(found.S, X.T @ X, rtol=1e-8)
        np.testing.assert_allclose(found.b, X.T @ y, rtol=1e-8)
        assert found.square == pytest.approx(y @ y, rel=1e-8)


def test_files_parts_and_refusals() -> None:
    fleet, seen = taught(nr.AAR)
    X, y, _ = seen[39]
    again = nr.Fleet.from_bytes(fleet.to_bytes())
    whole = nr.Fleet.merged(fleet.split(3))
    for other in (again, whole):
        assert (
            other.predict([39, 5, 77], X[:3]).tolist() == fleet.predict([39, 5, 77], X[:3]).tolist()
        )
        assert other.prior(39).mean.tolist() == fleet.prior(39).mean.tolist()
    assert (
        again.round([39, 50], X[:2], y[:2]).tolist() == fleet.round([39, 50], X[:2], y[:2]).tolist()
    )
    before = fleet.to_bytes()
    with pytest.raises(MergeError, match="do not merge"):
        fleet.merge(again)
    with pytest.raises(MergeError, match="has not"):
        nr.Fleet(nr.AAR(0.5)).merge(fleet)
    with pytest.raises(InputError, match="not with prior"):
        fleet[3] = nr.AAR(0.5).fit(X, y)
    assert fleet.to_bytes() == before
    fleet.drop([39])
    fleet.learn([39], X[:1], y[:1])
    assert fleet.prior(39).keys >= 8
    named = nr.Fleet(nr.AAR(), prior="fleet")
    for k in range(20):
        named.learn([k], [{"a": 1.0}], [1.0])
    with pytest.raises(FeatureError, match="stay as they begin"):
        named.learn([1], [{"a": 1.0, "b": 1.0}], [1.0])
    for wrong in (nr.AAR(drift=0.1), nr.Ridge(clip=1.0), nr.AAR(fit_intercept=True), nr.Auto()):
        with pytest.raises(InputError, match="without drift"):
            nr.Fleet(wrong, prior="fleet")
    with pytest.raises(InputError, match='give "fleet"'):
        nr.Fleet(nr.AAR(), prior="flet")
    assert nr.Fleet(nr.AAR()).prior is not None


@pytest.mark.data
def test_chicks_learn_from_the_chicks_before_them() -> None:
    """Weights by age, one chick after the other: the square loss of all rounds, 12 a chick."""
    if not DATA.exists():
        pytest.skip("needs the shared data beside the checkout")
    frame = pd.read_csv(DATA).sort_values(["chick", "age_days"], kind="stable")
    losses = {}
    for prior in (None, "fleet"):
        fleet, total = nr.Fleet(nr.Ridge(), prior=prior), 0.0
        for key, rows in frame.groupby("chick"):
            age = rows.age_days.to_numpy() / 10.0
            X = np.column_stack([np.ones_like(age), age, age**2])
            y = rows.y.to_numpy(dtype=float)
            total += float(((y - fleet.round([int(key)] * len(y), X, y)) ** 2).sum())
        losses[prior] = total
    assert losses["fleet"] < 0.6 * losses[None]
