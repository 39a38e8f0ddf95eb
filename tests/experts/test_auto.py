"""Auto: a stack of ordinary learners on features in their own units, under Fixed Share."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import noregret as nr
from noregret.errors import FeatureError, InputError, NotLearnedError, ParameterError
from noregret.experts.auto import DRIFTS, PRECISIONS, SHARE
from noregret.experts.units import CONSTANT, Units
from strategies import rows

EFFORTS = ("linear", "low", "normal", "high")
EFFORT = st.sampled_from(EFFORTS)


def stream(T: int = 120, n: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(2.0, 1.0, size=(T, n))
    return X, 5.0 + X @ rng.normal(size=n) + 0.3 * rng.normal(size=T)


def in_units(X: np.ndarray) -> np.ndarray:
    """Each column over the size of its first entry that is not 0, behind the constant."""
    first = [abs(c[c != 0.0][0]) if c.any() else 1.0 for c in X.T]
    return np.column_stack([np.full(len(X), CONSTANT), X / first])


def experts(X: np.ndarray, y: np.ndarray) -> tuple[list[str], np.ndarray]:
    """The forecasts of the forty experts, from learners of their own."""
    Z, names, columns = in_units(X), [], []
    hi = np.maximum.accumulate(np.concatenate([[-np.inf], y[:-1]]))
    lo = np.minimum.accumulate(np.concatenate([[np.inf], y[:-1]]))
    lo[0] = hi[0] = 0.0
    for drift in DRIFTS:
        for a in PRECISIONS:
            replay = nr.AAR(a, drift=drift).replay(Z, y)
            walk = f" drift={drift:.3g}" if drift else ""
            names += [f"ridge a={a:.3g}{walk}", f"AAR a={a:.3g}{walk}"]
            columns += [np.clip(replay.mean, lo, hi), replay.forecast]
    return names, np.column_stack(columns)


@given(rows(max_rounds=25, max_features=3))
@settings(max_examples=40, deadline=None)
def test_auto_is_a_pool_of_ordinary_learners(data) -> None:
    names, said = experts(data.X, data.y)
    auto = nr.Auto(effort="linear")
    replay = auto.replay(data.X, data.y)
    twin = nr.aggregate(said, data.y, rule="aggregating", share=SHARE)
    size = max(1e-300, np.abs(said).max(), np.abs(data.y).max())
    assert_allclose(replay.forecast / size, twin.forecast / size, rtol=0.0, atol=1e-9)
    assert list(auto.losses_) == names
    paid = ((data.y[:, None] - said) ** 2).sum(axis=0)
    assert_allclose(list(auto.losses_.values()), paid, rtol=1e-9, atol=1e-12 * size**2)


@pytest.mark.slow
@given(rows(max_rounds=30, max_features=4), st.sampled_from([None, 64.0, 1e9]), EFFORT)
@settings(max_examples=80, deadline=None)
def test_every_certificate_holds_in_every_round(data, outcome_range, effort) -> None:
    auto = nr.Auto(outcome_range, effort=effort)
    for x, y in zip(data.X, data.y):
        auto.predict_one(x)
        auto.learn_one(x, y)
        for certificate in auto.certificates():
            broken = any(not a.met for a in certificate.assumptions)
            assert certificate.holds is (None if broken else True), str(certificate)


@pytest.mark.parametrize("effort", EFFORTS)
def test_the_loop_forecasts_what_replay_does(effort: str) -> None:
    X, y = stream(300)
    X[:, 2] = np.floor(2.0 * X[:, 2])  # few values: they get columns as they come
    loop, whole, halves = (nr.Auto(effort=effort) for _ in range(3))
    forecasts = []
    for x, outcome in zip(X, y):
        forecasts.append(loop.predict_one(x))
        loop.learn_one(x, outcome)
    replay = whole.replay(X, y)
    assert_array_equal(replay.forecast, forecasts)
    parts = [halves.replay(X[:50], y[:50]).forecast, halves.replay(X[50:], y[50:]).forecast]
    assert_array_equal(np.concatenate(parts), forecasts)
    assert_array_equal(whole.predict(X), halves.predict(X))
    assert whole.losses_ == loop.losses_


@pytest.mark.parametrize("effort", EFFORTS)
@pytest.mark.parametrize("kernels", [False, True])
def test_units_do_not_matter(kernels: bool, effort: str) -> None:
    def make() -> nr.Auto:
        return nr.Auto(kernels=kernels, effort=effort)

    X, y = stream(300)
    plain = make().replay(X, y)
    scales = np.array([2.0**20, 2.0**-9, 2.0**3])
    powers = make().replay(X * scales, y * 2.0**30)
    assert_array_equal(powers.forecast, plain.forecast * 2.0**30)
    thousands = make().replay(X * 1000.0, y * 1000.0)
    assert_allclose(thousands.loss.sum(), 1e6 * plain.loss.sum(), rtol=1e-6)


@pytest.mark.parametrize("effort", ["linear", "low"])
def test_a_name_that_turns_up_late_was_0_before(effort: str) -> None:
    X, y = stream(60)
    X[:30, 2] = 0.0
    late, known = nr.Auto(effort=effort), nr.Auto(effort=effort)
    for t, (x, outcome) in enumerate(zip(X, y)):
        everything = dict(zip("abc", x.tolist()))
        some = {name: v for name, v in everything.items() if name != "c" or t >= 30}
        assert_allclose(late.predict_one(some), known.predict_one(everything), rtol=1e-9)
        late.learn_one(some, outcome)
        known.learn_one(everything, outcome)
    assert late.n_features_in_ == known.n_features_in_ == 3


def test_it_finds_out_that_experts_take_turns() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(4000, 2))
    w = np.where(np.arange(4000)[:, None] % 1000 < 500, [1.0, 2.0], [-2.0, 1.0])
    y = (w * X).sum(axis=1) + 0.05 * rng.normal(size=4000)
    auto = nr.Auto(effort="linear")
    loss = auto.replay(X, y).loss.sum()
    still = [paid for name, paid in auto.losses_.items() if "drift" not in name]
    assert loss < 0.4 * min(still)
    assert auto.certificate().holds


@pytest.mark.parametrize("effort", ["linear", "low"])
def test_kernels_join_in(effort: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(800, 2)) * [1.0, 1e4]
    y = np.sin(3 * X[:, 0]) * np.cos(X[:, 1] / 5e3)
    linear, curved = nr.Auto(effort="linear"), nr.Auto(kernels=True, effort=effort)
    assert curved.replay(X, y).loss.sum() < 0.5 * linear.replay(X, y).loss.sum()
    assert any("cosines" in name for name in curved.weights_)
    assert all(c.holds for c in curved.certificates())
    curved_names = nr.Auto(kernels=True, effort=effort)
    curved_names.learn_one({"a": 1.0}, 1.0)
    with pytest.raises(FeatureError, match="new features"):
        curved_names.learn_one({"a": 1.0, "b": 2.0}, 1.0)


def test_standard_units_use_nothing_to_come() -> None:
    X, _ = stream(50)
    z, _ = Units.of(3).standardised(np.column_stack([np.ones(50), X]))
    for t in range(2, 50):
        past = X[: t + 1]
        assert_allclose(z[t], (X[t] - past.mean(axis=0)) / past.std(axis=0), rtol=1e-9)


def test_standard_units_do_not_depend_on_how_rows_are_cut_into_tables() -> None:
    table = np.column_stack([np.ones(30), stream(30)[0]])
    whole, after = Units.of(3).standardised(table)
    units, parts = Units.of(3), []
    for part in (table[:1], table[1:2], table[2:17], table[17:]):
        z, units = units.standardised(part)
        parts.append(z)
    assert_allclose(np.concatenate(parts), whole, rtol=1e-9, atol=1e-12)
    assert_array_equal(units.shift, after.shift)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([1.0, np.nan, 1.0], 0.0),
        ([1.0, np.inf, 1.0], 0.0),
        ([1.0, 2.0], 0.0),
        ([1.0, "2", 1.0], 0.0),
        ({"a": 1.0}, 0.0),
        ([1.0, 2.0, 3.0], np.nan),
        ([1.0, 2.0, 3.0], 1e151),
        ([1.0, 2.0, 3.0], "1"),
        ([1.0, 2.0, 3.0], [1.0, 2.0]),
    ],
)
@pytest.mark.parametrize("effort", EFFORTS)
def test_what_is_refused_changes_nothing(x, y, effort: str) -> None:
    X, ys = stream(30)
    auto = nr.Auto(effort=effort)
    auto.replay(X, ys)
    twin = copy.deepcopy(auto)
    with pytest.raises(InputError):
        auto.learn_one(np.array(x) if isinstance(x, list) and "2" not in x else x, y)
    with pytest.raises(InputError):
        auto.replay([*X.tolist(), x] if isinstance(x, list) else [x], [*ys.tolist(), y])
    assert auto.losses_ == twin.losses_
    assert_array_equal(auto.replay(X, ys).forecast, twin.replay(X, ys).forecast)


def test_a_first_row_may_be_read_only() -> None:
    x = np.arange(3.0)
    plain = nr.Auto()
    plain.learn_one(x, 1.0)
    x.flags.writeable = False
    learner = nr.Auto()
    assert learner.predict_one(x) == nr.Auto().predict_one(np.arange(3.0))
    learner.learn_one(x, 1.0)
    assert learner.to_bytes() == plain.to_bytes()


def test_parameters_are_checked() -> None:
    with pytest.raises(ParameterError, match="kernels"):
        nr.Auto(kernels="yes").learn_one([1.0], 1.0)
    with pytest.raises(ParameterError, match="outcome_range"):
        nr.Auto((1.0, 1.0)).learn_one([1.0], 1.0)
    with pytest.raises(NotLearnedError, match="nothing yet"):
        nr.Auto().certificate()
    with pytest.raises(ParameterError, match="effort"):
        nr.Auto(effort="much").learn_one([1.0], 1.0)
    given_ = {"outcome_range": 3.0, "kernels": True, "effort": "low"}
    assert nr.Auto(3.0, kernels=True, effort="low").get_params() == given_


@pytest.mark.parametrize("effort", ["linear", "low"])
def test_a_forecast_in_between_changes_nothing_that_is_learned(effort: str) -> None:
    """What is learned is the row given with the outcome, whichever was forecast last."""
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    plain, asked = nr.Auto(effort=effort), nr.Auto(effort=effort)
    for x, outcome in zip(X, y, strict=True):
        plain.learn_one(x, outcome)
        asked.predict_one(-x)
        asked.learn_one(x, outcome)
    assert asked.predict_one(X[0]) == plain.predict_one(X[0])
    assert asked.predict_one(X[1]) == plain.predict_one(X[1])
