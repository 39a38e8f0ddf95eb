"""Features by name: order never matters, a missing one is 0, a new one has always been 0."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose

import noregret as nr
from hostile import bits, state_bytes

RTOL = 1e-12
NAMES = tuple("abcdef")
RNG = np.random.default_rng(2024)
ROWS = [dict(zip(NAMES, x)) for x in RNG.normal(size=(30, 6)).tolist()]
OUTCOMES = RNG.normal(size=30).tolist()

DRIFTS: dict[str, Any] = {
    "fixed": 0.0,
    "drift": 0.3,
    "drift by round": lambda t: 0.5 / t,
    "drift that pauses": lambda t: 0.2 if t % 3 == 0 else 0.0,
}
each_drift = pytest.mark.parametrize("drift", DRIFTS.values(), ids=DRIFTS.keys())
each_intercept = pytest.mark.parametrize("intercept", [False, True], ids=["", "intercept"])
each_learner = pytest.mark.parametrize(
    "make",
    [
        lambda **k: nr.Ridge(0.4, **k),
        lambda **k: nr.Ridge(0.4, clip=0.8, **k),
        lambda **k: nr.BayesianRidge(2.5, noise_var=0.3, **k),
        lambda **k: nr.AAR(0.4, **k),
    ],
    ids=["ridge", "clipped", "bayes", "aar"],
)
Make = Callable[..., Any]


def growing(rows: list[dict[str, float]], *, step: int = 5) -> list[dict[str, float]]:
    """Only a and b to begin with; every `step` rounds one name more."""
    return [
        {name: x[name] for name in NAMES[: min(2 + t // step, len(NAMES))]}
        for t, x in enumerate(rows)
    ]


def padded(x: dict[str, float]) -> dict[str, float]:
    return {name: x.get(name, 0.0) for name in NAMES}


def loop(learner: Any, rows: Any, outcomes: list[Any]) -> np.ndarray:
    """Predict, then learn, round by round."""
    forecasts = []
    for x, y in zip(rows, outcomes, strict=True):
        forecast = learner.predict_one(x)  # of a fresh learner: 0, whatever the outcomes will be
        forecasts.append(np.broadcast_to(forecast, np.shape(y)))
        learner.learn_one(x, y)
    return np.array(forecasts)


def weights(learner: Any) -> dict[str, float]:
    return dict(zip(learner.feature_names_in_, learner.coef_, strict=True))


def alike(learner: Any, other: Any, rtol: float = RTOL) -> None:
    """Same weights by name, same intercept, same sums in the ledger."""
    mine, theirs = weights(learner), weights(other)
    assert set(mine) == set(theirs)
    scale = max(map(abs, theirs.values()))
    for name, w in theirs.items():
        assert mine[name] == pytest.approx(w, rel=rtol, abs=rtol * scale)
    assert learner.intercept_ == pytest.approx(other.intercept_, rel=rtol, abs=rtol * scale)
    assert learner.n_samples_seen_ == other.n_samples_seen_
    for one, two in zip(learner.certificates(), other.certificates(), strict=True):
        assert one.name == two.name
        assert one.loss == pytest.approx(two.loss, rel=1e-10)
        assert one.comparator == pytest.approx(two.comparator, rel=1e-10)
        assert (one.bound is None) == (two.bound is None)
        if one.bound is not None:
            assert one.bound == pytest.approx(two.bound, rel=1e-10)


# Mappings and arrays ------------------------------------------------------------------------


@each_learner
@each_drift
@each_intercept
def test_mappings_equal_arrays_to_the_last_bit(make: Make, drift: Any, intercept: bool) -> None:
    named, plain = (make(drift=drift, fit_intercept=intercept) for _ in range(2))
    arrays = [np.array(list(x.values())) for x in ROWS]
    assert bits(loop(named, ROWS, OUTCOMES)) == bits(loop(plain, arrays, OUTCOMES))
    assert bits(named.coef_) == bits(plain.coef_)
    assert bits(named.intercept_) == bits(plain.intercept_)
    assert named.certificate().to_json() == plain.certificate().to_json()
    assert bits(named.predict(ROWS)) == bits(plain.predict(np.array(arrays)))


@each_drift
def test_vectors_of_outcomes_by_name(drift: Any) -> None:
    named, plain = nr.Ridge(0.4, drift=drift), nr.Ridge(0.4, drift=drift)
    pairs = [[y, 1.0 - y] for y in OUTCOMES]
    arrays = [np.array(list(x.values())) for x in ROWS]
    assert bits(loop(named, ROWS, pairs)) == bits(loop(plain, arrays, pairs))
    assert bits(named.coef_) == bits(plain.coef_)


@each_drift
@each_intercept
def test_names_need_not_be_text(drift: Any, intercept: bool) -> None:
    keys = (7, ("lag", 1), "c", None, frozenset("x"), 2.5)
    odd, plain = (nr.AAR(drift=drift, fit_intercept=intercept) for _ in range(2))
    strange = [dict(zip(keys, x.values())) for x in ROWS]
    assert bits(loop(odd, strange, OUTCOMES)) == bits(loop(plain, ROWS, OUTCOMES))
    assert bits(odd.coef_) == bits(plain.coef_)
    with pytest.raises(nr.errors.NotLearnedError, match="not all are strings"):
        _ = odd.feature_names_in_


def test_one_feature_and_none() -> None:
    """The smallest mappings: no name at all, then one, then two."""
    learner, twin = nr.AAR(0.5, fit_intercept=True), nr.AAR(0.5, fit_intercept=True)
    rounds = [{}, {"a": 1.0}, {}, {"a": -0.5, "b": 2.0}, {"b": 1.0}]
    for x, y in zip(rounds, OUTCOMES):
        full = np.array([x.get("a", 0.0), x.get("b", 0.0)])
        assert learner.predict_one(x) == pytest.approx(twin.predict_one(full), rel=RTOL)
        learner.learn_one(x, y)
        twin.learn_one(full, y)
    assert_allclose(learner.coef_, twin.coef_, rtol=RTOL)
    assert learner.intercept_ == pytest.approx(twin.intercept_, rel=RTOL)


# Order --------------------------------------------------------------------------------------


@each_learner
@each_drift
def test_order_of_keys_never_matters(make: Make, drift: Any) -> None:
    """Every round in another order, the same bits; the first one says where a name stands."""
    learner, shuffled = make(drift=drift), make(drift=drift)
    rng = np.random.default_rng(5)
    mixed = [ROWS[0], *({name: x[name] for name in rng.permutation(NAMES)} for x in ROWS[1:])]
    assert any(list(x) != list(NAMES) for x in mixed)
    assert bits(loop(learner, ROWS, OUTCOMES)) == bits(loop(shuffled, mixed, OUTCOMES))
    assert state_bytes(learner) == state_bytes(shuffled)


@each_drift
def test_order_in_the_forecast_and_in_the_round_may_differ(drift: Any) -> None:
    learner, other = nr.AAR(drift=drift), nr.AAR(drift=drift)
    for x, y in zip(ROWS, OUTCOMES, strict=True):
        backwards = dict(reversed(x.items()))
        assert bits(learner.predict_one(x)) == bits(other.predict_one(x))
        assert bits(learner.predict_one(backwards)) == bits(other.predict_one(x))
        learner.learn_one(x, y)
        other.learn_one(backwards if other.__sklearn_is_fitted__() else x, y)
    assert state_bytes(learner) == state_bytes(other)


@each_drift
@each_intercept
def test_order_of_the_first_round_matters_to_rounding_only(drift: Any, intercept: bool) -> None:
    """It decides which feature is rotated in first, as the order of columns in an array does."""
    first = dict(reversed(ROWS[0].items()))
    learner, other = (nr.AAR(drift=drift, fit_intercept=intercept) for _ in range(2))
    assert_allclose(
        loop(learner, ROWS, OUTCOMES), loop(other, [first, *ROWS[1:]], OUTCOMES), rtol=1e-11
    )
    alike(learner, other)
    assert list(other.feature_names_in_) == list(reversed(NAMES))


@each_drift
def test_order_of_columns_never_matters(drift: Any) -> None:
    """Frames and lists of mappings, in batch, any order: the same bits."""
    frame = pd.DataFrame(ROWS)
    orders = [list(NAMES), list(reversed(NAMES)), ["c", "a", "f", "b", "e", "d"]]
    results = []
    for order in orders:
        learner = nr.AAR(0.6, drift=drift)
        learner.learn_one(ROWS[0], 0.0)
        first = learner.replay(frame[order], OUTCOMES)
        second = learner.replay(pl.DataFrame(ROWS)[order], OUTCOMES)
        third = learner.replay([{k: x[k] for k in order} for x in ROWS], OUTCOMES)
        forecasts = learner.predict(frame[order])
        results.append([*map(bits, (first, second, third, forecasts)), state_bytes(learner)])
    assert results[0] == results[1] == results[2]


# Missing ------------------------------------------------------------------------------------


@each_learner
@each_drift
@each_intercept
def test_a_missing_feature_counts_as_0(make: Make, drift: Any, intercept: bool) -> None:
    learner, twin = (make(drift=drift, fit_intercept=intercept) for _ in range(2))
    rng = np.random.default_rng(6)
    sparse = [{k: v for k, v in x.items() if rng.random() < 0.5} for x in ROWS]
    sparse[0] = ROWS[0]  # all names are known from the first round on
    assert any(len(x) < 3 for x in sparse)
    full = [padded(x) for x in sparse]
    assert bits(loop(learner, sparse, OUTCOMES)) == bits(loop(twin, full, OUTCOMES))
    assert state_bytes(learner) == state_bytes(twin)
    assert bits(learner.predict(sparse)) == bits(twin.predict(full))
    assert bits(learner.replay(sparse, OUTCOMES)) == bits(twin.replay(full, OUTCOMES))
    assert state_bytes(learner) == state_bytes(twin)


@each_drift
def test_missing_columns_count_as_0(drift: Any) -> None:
    learner, twin = nr.AAR(drift=drift), nr.AAR(drift=drift)
    for each in (learner, twin):
        each.fit(ROWS, OUTCOMES)
    frame = pd.DataFrame(ROWS)
    assert bits(learner.predict(frame[["e", "b"]])) == bits(
        twin.predict(frame.assign(a=0.0, c=0.0, d=0.0, f=0.0))
    )
    one = learner.replay(frame[["e", "b"]], OUTCOMES)
    two = twin.replay(frame.assign(a=0.0, c=0.0, d=0.0, f=0.0), OUTCOMES)
    assert bits(one) == bits(two)
    assert state_bytes(learner) == state_bytes(twin)


# New ----------------------------------------------------------------------------------------


@each_learner
@each_drift
@each_intercept
def test_a_new_feature_has_always_been_0(make: Make, drift: Any, intercept: bool) -> None:
    """One name more every five rounds, against a learner that had all columns from the start."""
    learner, twin = (make(drift=drift, fit_intercept=intercept) for _ in range(2))
    rows = growing(ROWS)
    assert len(rows[0]) == 2
    assert len(rows[-1]) == 6
    forecasts = loop(learner, rows, OUTCOMES)
    expected = loop(twin, [padded(x) for x in rows], OUTCOMES)
    assert_allclose(forecasts, expected, rtol=RTOL, atol=RTOL)
    alike(learner, twin)
    assert list(learner.feature_names_in_) == list(NAMES)


@each_drift
@each_intercept
def test_new_features_with_vectors_of_outcomes(drift: Any, intercept: bool) -> None:
    learner, twin = (nr.Ridge(0.4, drift=drift, fit_intercept=intercept) for _ in range(2))
    pairs = [[y, y * y] for y in OUTCOMES]
    rows = growing(ROWS)
    forecasts = loop(learner, rows, pairs)
    assert_allclose(forecasts, loop(twin, [padded(x) for x in rows], pairs), rtol=RTOL, atol=RTOL)
    assert_allclose(learner.coef_, twin.coef_, rtol=RTOL, atol=RTOL)


@each_drift
@each_intercept
@pytest.mark.parametrize("form", ["mappings", "pandas", "polars"])
def test_new_features_in_batch(form: str, drift: Any, intercept: bool) -> None:
    """Batches with new, missing and reordered columns equal one array that has them all."""
    learner, twin = (nr.AAR(0.4, drift=drift, fit_intercept=intercept) for _ in range(2))
    columns = [["a", "b"], ["c", "b", "a"], ["d", "b"], ["f", "a", "e", "d", "c", "b"]]
    sizes = [7, 1, 5, 17]
    start = 0
    for names, size in zip(columns, sizes, strict=True):
        part = slice(start, start + size)
        start += size
        rows = [{name: x[name] for name in names} for x in ROWS[part]]
        made = {"mappings": list, "pandas": pd.DataFrame, "polars": pl.DataFrame}[form](rows)
        full = [padded(x) for x in rows]
        if not learner.__sklearn_is_fitted__():
            learner.partial_fit(made, OUTCOMES[part])
            twin.partial_fit(full, OUTCOMES[part])
        one = learner.replay(made, OUTCOMES[part])
        two = twin.replay(full, OUTCOMES[part])
        for mine, theirs in (
            (one.forecast, two.forecast),
            (one.mean, two.mean),
            (one.spread, two.spread),
            (one.loss, two.loss),
        ):
            assert_allclose(mine, theirs, rtol=RTOL, atol=RTOL)
    known = {"a", "b", "c", "d", "e", "f"}
    assert set(learner.feature_names_in_) == known
    alike(learner, twin)


@each_drift
@each_intercept
def test_batch_equals_one_at_a_time_when_names_grow(drift: Any, intercept: bool) -> None:
    one, many = (nr.AAR(0.4, drift=drift, fit_intercept=intercept) for _ in range(2))
    rows = growing(ROWS)
    forecasts = loop(one, rows, OUTCOMES)
    assert_allclose(many.replay(rows, OUTCOMES).forecast, forecasts, rtol=1e-11, atol=RTOL)
    alike(one, many)


@each_drift
def test_a_name_that_comes_after_an_empty_start(drift: Any) -> None:
    """Rounds without any feature pass, and the weights drift on all the same."""
    learner, twin = nr.AAR(0.4, drift=drift), nr.AAR(0.4, drift=drift)
    rows = [*[{}] * 5, {"a": 0.0}, *[{}] * 5, *({"a": x["a"], "b": x["b"]} for x in ROWS[:10])]
    full = [{"a": x.get("a", 0.0), "b": x.get("b", 0.0)} for x in rows]
    outcomes = OUTCOMES[: len(rows)]
    assert_allclose(loop(learner, rows, outcomes), loop(twin, full, outcomes), rtol=RTOL, atol=RTOL)
    alike(learner, twin)


@each_drift
def test_all_ways_to_bring_in_names_agree(drift: Any) -> None:
    """One at a time or together, alone or with others: the weights do not remember which."""
    finals = []
    for order in itertools.permutations("abc"):
        learner = nr.Ridge(0.7, drift=drift)
        learner.learn_one({}, 1.0)
        for k in range(3):
            learner.learn_one({order[k]: 0.0}, 0.0)  # only makes the name known
        for x, y in zip(ROWS, OUTCOMES, strict=True):
            learner.learn_one({name: x[name] for name in "abc"}, y)
        finals.append(weights(learner))
    for final in finals[1:]:
        assert final == pytest.approx(finals[0], rel=1e-11, abs=1e-13)


# Forecasts at names not seen yet ------------------------------------------------------------


@each_drift
@each_intercept
def test_the_spread_at_an_unknown_name(drift: Any, intercept: bool) -> None:
    """A weight not seen yet has its whole prior variance: 1/a plus all drift so far."""
    learner, twin = (
        nr.BayesianRidge(0.4, noise_var=0.6, drift=drift, fit_intercept=intercept) for _ in range(2)
    )
    probe = {**ROWS[-1], "new": 1.75}
    for x, y in zip(ROWS[:12], OUTCOMES):
        known = {name: x[name] for name in "abc"}
        mine = learner.predictive(probe)
        theirs = twin.predictive(probe)
        assert mine.mean == pytest.approx(theirs.mean, rel=RTOL, abs=RTOL)
        assert mine.var == pytest.approx(theirs.var, rel=RTOL)
        learner.learn_one(known, y)
        twin.learn_one({**dict.fromkeys((*NAMES, "new"), 0.0), **known}, y)
    mine, theirs = learner.predictive(probe), twin.predictive(probe)
    assert mine.mean == pytest.approx(theirs.mean, rel=RTOL)
    assert mine.var == pytest.approx(theirs.var, rel=RTOL)
    unseen = {"d": 3.0, "new": -2.0}
    mine, theirs = learner.predictive(unseen), twin.predictive(unseen)
    assert mine.mean == pytest.approx(theirs.mean, rel=RTOL, abs=RTOL)
    assert mine.var == pytest.approx(theirs.var, rel=RTOL)
    if drift == 0.0 and not intercept:
        assert mine.mean == 0.0
        assert mine.var == pytest.approx(0.6 * (1.0 + (9.0 + 4.0) / 0.4), rel=RTOL)


@each_learner
@each_drift
@each_intercept
def test_a_forecast_at_unknown_names_learns_nothing(
    make: Make, drift: Any, intercept: bool
) -> None:
    """Neither the state nor the rounds after it show that unknown names were asked for."""
    learner, twin = (make(drift=drift, fit_intercept=intercept) for _ in range(2))
    for x, y in zip(ROWS, OUTCOMES, strict=True):
        before = state_bytes(learner)
        learner.predict_one({**x, "new": 2.0})
        learner.predict_one({"other": 1.0})
        assert state_bytes(learner) == before
        assert bits(learner.predict_one(x)) == bits(twin.predict_one(x))
        learner.predict_one({**x, "new": 2.0})
        learner.learn_one(x, y)
        twin.learn_one(x, y)
    assert state_bytes(learner) == state_bytes(twin)
    assert list(learner.feature_names_in_) == list(NAMES)


@each_learner
@each_drift
def test_forecasts_at_unknown_names_equal_zero_columns(make: Make, drift: Any) -> None:
    """AAR shrinks by the spread, so the unknown name must show in its forecast."""
    learner, twin = make(drift=drift), make(drift=drift)
    for x, y in zip(ROWS[:10], OUTCOMES):
        learner.learn_one({k: x[k] for k in "ab"}, y)
        twin.learn_one({k: x[k] if k in "ab" else 0.0 for k in NAMES}, y)
    for x in ROWS[10:]:
        assert learner.predict_one(x) == pytest.approx(twin.predict_one(x), rel=1e-11, abs=RTOL)


@each_drift
@each_intercept
@pytest.mark.parametrize("extra", [["c"], ["c", "d"], ["d", "b", "c", "a"]], ids="".join)
def test_batch_forecasts_with_unknown_columns(
    extra: list[str], drift: Any, intercept: bool
) -> None:
    learner, twin = (
        nr.BayesianRidge(0.4, noise_var=0.6, drift=drift, fit_intercept=intercept) for _ in range(2)
    )
    for x, y in zip(ROWS[:10], OUTCOMES):
        learner.learn_one({k: x[k] for k in "ab"}, y)
        twin.learn_one({k: x[k] if k in "ab" else 0.0 for k in NAMES}, y)
    order = extra if "a" in extra else ["a", "b", *extra]
    frame = pd.DataFrame(ROWS)[order]
    before = state_bytes(learner)
    mean, std = learner.predict(frame, return_std=True)
    assert state_bytes(learner) == before
    expected_mean, expected_std = twin.predict(frame, return_std=True)
    assert_allclose(mean, expected_mean, rtol=1e-11, atol=RTOL)
    assert_allclose(std, expected_std, rtol=RTOL)


def test_a_first_forecast_by_name_learns_no_names() -> None:
    learner = nr.BayesianRidge(0.5, noise_var=2.0)
    assert learner.predict_one({"a": 1.0}) == 0.0
    assert learner.predictive({"a": 3.0}).var == pytest.approx(2.0 * (1.0 + 9.0 / 0.5))
    learner.learn_one(np.array([1.0]), 1.0)  # still free to go by position
    assert learner.n_features_in_ == 1


# Frames without names -----------------------------------------------------------------------


def test_a_frame_without_names_goes_by_position() -> None:
    """pandas numbers columns that nobody named; a row of such a frame has positions too."""
    X = np.array([list(x.values()) for x in ROWS])
    learner, twin = nr.Ridge(), nr.Ridge()
    learner.fit(pd.DataFrame(X), pd.Series(OUTCOMES))
    twin.fit(X, OUTCOMES)
    assert state_bytes(learner) == state_bytes(twin)
    assert bits(learner.predict_one(pd.DataFrame(X).iloc[3])) == bits(twin.predict_one(X[3]))
    assert bits(learner.predict(pd.DataFrame(X))) == bits(twin.predict(X))


def test_columns_keep_their_order_in_coef() -> None:
    """coef_[j] belongs to column j of the frame it was fitted on, as scikit-learn's does."""
    frame = pd.DataFrame(ROWS)[["f", "b", "a", "e"]]
    learner = nr.Ridge().fit(frame, OUTCOMES)
    assert list(learner.feature_names_in_) == ["f", "b", "a", "e"]
    plain = nr.Ridge().fit(frame.to_numpy(), OUTCOMES)
    assert bits(learner.coef_) == bits(plain.coef_)
