"""A fleet is separate learners, bit for bit; refused calls leave no trace."""

from __future__ import annotations

import itertools
import pickle
import threading

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret._native.fleet import BLOCK
from noregret.errors import FeatureError, InputError, MergeError, NumericalError, OutcomeError
from strategies import rows

LEARNERS = {
    "ridge": lambda: nr.Ridge(0.7),
    "clipped": lambda: nr.Ridge(1e-3, clip=0.8, fit_intercept=True),
    "aar": lambda: nr.AAR(3.0, fit_intercept=True),
    "bayes": lambda: nr.BayesianRidge(0.1, noise_var=0.3),
    "student": lambda: nr.BayesianRidge(0.1, noise_var=None),
    "drifting": lambda: nr.AAR(0.5, drift=0.03),
    "drifting student": lambda: nr.BayesianRidge(10.0, noise_var=None, drift=1e-8),
    "drifting ridge": lambda: nr.Ridge(1e-3, drift=30.0, clip=2.0, fit_intercept=True),
}
LOOSE = {
    "logistic": lambda: nr.MAPLogistic(0.5),
    "callable": lambda: nr.AAR(drift=lambda t: 1.0 / t),
    "auto": nr.Auto,
    "pool": lambda: nr.AggregatingAlgorithm([nr.AAR(), nr.Ridge(2.0)], outcome_range=(-1, 2)),
}


def state(learner) -> tuple[bytes, ...]:
    stream = learner._state
    return stream.core.factor.tobytes(), stream.ledger.tobytes()


def alone(kind, traffic) -> tuple[list[float], dict]:
    """What separate learners say and are after (keys, X, y) calls."""
    learners, said = {}, []
    for keys, X, y in traffic:
        for key, x, outcome in zip(keys, X, y, strict=True):
            learner = learners.setdefault(key, kind())
            said.append(learner.predict_one(x))
            learner.learn_one(x, outcome)
    return said, learners


def same(fleet: nr.Fleet, learners: dict) -> None:
    assert sorted(fleet.keys()) == sorted(learners)
    for key, learner in learners.items():
        assert state(fleet[key]) == state(learner)


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNERS)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_a_fleet_is_separate_learners(name, data) -> None:
    """Repeated keys inside a call, late keys, several calls: forecasts and states, bit for bit."""
    stream = data.draw(rows(max_rounds=40))
    T = len(stream.y)
    pool = data.draw(st.sampled_from([[5, -3, 2**62], ["a", "", "späť", "a" * 30]]))
    keys = data.draw(st.lists(st.sampled_from(pool), min_size=T, max_size=T))
    cuts = sorted({0, T, *data.draw(st.lists(st.integers(0, T), max_size=4))})
    traffic = [(keys[a:b], stream.X[a:b], stream.y[a:b]) for a, b in itertools.pairwise(cuts)]
    said, learners = alone(LEARNERS[name], traffic)
    fleet = nr.Fleet(LEARNERS[name](), threads=data.draw(st.integers(1, 3)))
    assert fleet.compiled
    found = np.concatenate([fleet.round(*call) for call in traffic])
    assert found.tobytes() == np.array(said).tobytes()
    same(fleet, learners)
    x = stream.X[:1]
    for key, learner in learners.items():
        assert fleet.predict([key], x)[0] == learner.predict_one(x[0])
        whole, line = learner.certificate(), fleet.take([key]).certificates(audit=True)
        bound = np.nan if whole.bound is None else whole.bound
        np.testing.assert_array_equal(line.bound, bound)
        assert (line.loss[0], line.comparator[0]) == (whole.loss, whole.comparator)
        assert line.holds[0] is whole.holds
        assert fleet.take([key]).certificates().bound.tobytes() == line.bound.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNERS)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_many_keys_in_a_call_are_separate_learners(name, data) -> None:
    """Every key once or twice in each call; zeros, tiny and huge rows too."""
    stream = data.draw(rows(max_rounds=14, max_features=9))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    odd = data.draw(st.sampled_from([1.0, 0.0, -0.0, 1e-170, 1e40]))
    traffic = []
    for x, y in zip(stream.X, stream.y, strict=True):
        X = x * rng.choice([1.0, 1.0, 1.0, odd, -0.5], (20, len(x)))
        traffic.append(([*rng.permutation(19).tolist(), 3], X, y * rng.normal(size=20)))
    said, learners = alone(LEARNERS[name], traffic)
    fleet = nr.Fleet(LEARNERS[name]())
    found = np.concatenate([fleet.round(*call) for call in traffic])
    assert found.tobytes() == np.array(said).tobytes()
    same(fleet, learners)


@pytest.mark.parametrize("n", [1, 7, 22, 23, 24, 40])
def test_any_number_of_features(n) -> None:
    rng = np.random.default_rng(n)
    calls = [(list(range(30)), rng.normal(size=(30, n)), rng.normal(size=30)) for _ in range(6)]
    for kind in (
        lambda: nr.AAR(0.5),
        lambda: nr.BayesianRidge(0.5, fit_intercept=True),
        lambda: nr.Ridge(0.5, drift=1e-2),
    ):
        said, learners = alone(kind, calls)
        fleet = nr.Fleet(kind())
        assert np.concatenate([fleet.round(*call) for call in calls]).tolist() == said
        same(fleet, learners)


def test_a_damaged_state_is_no_forecast() -> None:
    """What a file that was changed on the disk may hold: an error, not NaN."""
    fleet = nr.Fleet(nr.AAR())
    fleet.learn(range(20), np.ones((20, 2)), np.ones(20))
    fleet._store.blocks[0][5, :] = np.nan
    with pytest.raises(NumericalError, match="key 5, row 5"):
        fleet.round(range(20), np.ones((20, 2)), np.ones(20))


@pytest.mark.parametrize("name", LOOSE)
def test_others_go_through_a_loop(name) -> None:
    rng = np.random.default_rng(1)
    X, keys = rng.normal(size=(60, 2)), rng.integers(0, 4, 60).tolist()
    y = (X[:, 0] > 0).astype(float)
    fleet = nr.Fleet(LOOSE[name]())
    assert not fleet.compiled
    found = np.concatenate(
        [fleet.round(keys[:30], X[:30], y[:30]), fleet.round(keys[30:], X[30:], y[30:])]
    )
    said, learners = alone(LOOSE[name], [(keys, X, y)])
    assert found.tolist() == said
    assert fleet.predict([9], X[:1]).tolist() == [LOOSE[name]().predict_one(X[0])]
    table = fleet.certificates()
    assert all(table.holds)
    assert table.rounds.sum() == 60
    with pytest.raises(InputError, match="key 3, row 1"):
        fleet.round([0, 3], X[:2], [1.0, np.nan])
    assert fleet[0].predict_one(X[0]) == learners[0].predict_one(X[0])
    parts = nr.Fleet.merged(fleet.split(3))
    assert parts[2].predict_one(X[0]) == learners[2].predict_one(X[0])
    if name != "callable":
        again = nr.Fleet.from_bytes(fleet.to_bytes())
        assert again.round(keys, X, y).tobytes() == fleet.round(keys, X, y).tobytes()


def many(T: int = 6000, n: int = 3, keys: int = 3000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    return rng.integers(0, keys, T), rng.normal(size=(T, n)), rng.normal(size=T)


@pytest.mark.parametrize("name", ["aar", "drifting ridge"])
def test_threads_change_nothing(name) -> None:
    keys, X, y = many()
    one, three = (nr.Fleet(LEARNERS[name](), threads=k) for k in (1, 3))
    for _ in range(2):
        assert one.round(keys, X, y).tobytes() == three.round(keys, X, y).tobytes()
    assert one.to_bytes() == three.to_bytes()
    assert len(one) > 2 * BLOCK


def test_calls_of_several_threads_come_one_after_the_other() -> None:
    """Each thread has its own keys, so the order of calls does not matter."""
    fleet, X = nr.Fleet(nr.AAR()), np.random.default_rng(2).normal(size=(50, 2))

    def teach(k: int) -> None:
        for t in range(40):
            fleet.round([k * 100 + j for j in range(50)], X * (t + 1), X[:, 0])

    threads = [threading.Thread(target=teach, args=(k,)) for k in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    alone_ = nr.Fleet(nr.AAR())
    for k in range(4):
        for t in range(40):
            alone_.learn([k * 100 + j for j in range(50)], X * (t + 1), X[:, 0])
    assert len(fleet) == 200
    assert all(state(fleet[key]) == state(alone_[key]) for key in alone_)


def test_keys_of_every_library() -> None:
    X, y = np.ones((3, 1)), [1.0, 2.0, 3.0]
    texts = ["a", "b", "a"]
    for keys in (
        texts,
        tuple(texts),
        np.array(texts),
        np.array(texts, dtype=object),
        pd.Series(texts),
        pd.Series(texts, dtype="category"),
        pl.Series(texts),
        pa.array(texts),
        pa.chunked_array([texts[:1], texts[1:]]),
        pa.array(texts).dictionary_encode(),
    ):
        fleet = nr.Fleet(nr.AAR())
        fleet.round(keys, X, y)
        assert fleet.keys() == ["a", "b"]
    for keys in (
        [7, -1, 7],
        np.array([7, -1, 7], dtype=np.int8),
        np.array([7, 2**64 - 1, 7], dtype=np.uint64)[::2].repeat([2, 1]),
        pd.Series([7, 8, 7]),
        pl.Series([7, 8, 7]),
        pa.array([7, 8, 7]),
        [np.int64(7), 8, 7],
        range(7, 10),
    ):
        fleet = nr.Fleet(nr.AAR())
        fleet.round(keys, X, y)
        assert 7 in fleet


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ([1, None], "row 1: key = None is no key"),
        ([1, float("nan")], "row 1: key = nan is no key"),
        ([1.0, 2.0], "row 0: key = 1.0 is no key"),
        (np.array([1.0, 2.0]), "row 0: key = 1.0 is no key"),
        ([1, True], "row 1: key = True is no key"),
        (np.array([True, False]), "row 0: key = True is no key"),
        (["a", 1], "row 1: key = 1 but key 0 was 'a'"),
        ([1, "a"], "row 1: key = 'a' but key 0 was 1"),
        ([1, b"a"], "row 1: key = b'a' is no key"),
        ([1, 2**63], "row 1: key = 9223372036854775808 is beyond 64 bits"),
        (np.array([1, 2**63], dtype=np.uint64), "beyond 64 bits"),
        (["a", "\ud800"], "row 1: .* UTF-8"),
        ([1, (2, 3)], r"row 1: key = \(2, 3\) is no key"),
        (pa.array([1, None]), "row 1: key = None is no key"),
        (pd.Series([1, None]), "row 0: key = 1.0 is no key"),
        ("ab", "give a list of keys"),
        (5, "give a list of keys"),
        (np.ones((2, 1), dtype=int), r"keys has shape \(2, 1\)"),
        ([1], "keys has 1 entries and X has 2 rows"),
    ],
)
def test_hostile_keys(keys, why) -> None:
    fleet = nr.Fleet(nr.AAR())
    fleet.round([1, 2], [[1.0], [2.0]], [1.0, 2.0])
    before = fleet.to_bytes()
    for call in (
        lambda: fleet.round(keys, [[1.0], [2.0]], [1.0, 2.0]),
        lambda: fleet.predict(keys, [[1.0], [2.0]]),
    ):
        with pytest.raises(InputError, match=why):
            call()
    assert fleet.to_bytes() == before


def test_one_kind_of_keys() -> None:
    fleet = nr.Fleet(nr.AAR())
    fleet.learn([1], [[1.0]], [1.0])
    with pytest.raises(
        InputError, match="row 0: key = 'a' but this fleet's keys are whole numbers"
    ):
        fleet.learn(["a"], [[1.0]], [1.0])
    assert "1" not in fleet
    assert 1 in fleet
    with pytest.raises(KeyError):
        fleet["a"]


@pytest.mark.parametrize(
    ("X", "y", "why", "kind"),
    [
        ([[1.0], [np.nan]], [1.0, 2.0], r"key 'new', row 1: X\[1, 0\] = nan", FeatureError),
        ([[1.0], [2.0**1001]], [1.0, 2.0], r"key 'new', row 1: X\[1, 0\]", FeatureError),
        ([[1.0], ["x"]], [1.0, 2.0], r"key 'new', row 1: X\[1, 0\] = 'x'", FeatureError),
        ([[1.0], [2.0]], [1.0, np.inf], r"key 'new', row 1: y\[1\] = inf", OutcomeError),
        ([[1.0], [2.0]], [1.0, None], r"key 'new', row 1: y\[1\] = None", OutcomeError),
        ([[1.0], [2.0]], [1.0, 1e200], r"key 'new', row 1: y\[1\] = 1e\+200", OutcomeError),
        ([[1.0], [2.0]], [1.0], "y has shape", OutcomeError),
        ([[1.0], [2.0]], [[1.0], [1.0]], "one outcome per row", InputError),
        ([[1.0, 2.0], [2.0, 1.0]], [1.0, 1.0], "expecting 1 features", FeatureError),
        ([{"a": 1.0}, {"a": 2.0}], [1.0, 1.0], "positions only", FeatureError),
    ],
)
def test_hostile_rows(X, y, why, kind) -> None:
    fleet = nr.Fleet(nr.AAR())
    fleet.learn(["old"], [[1.0]], [1.0])
    before = fleet.to_bytes()
    with pytest.raises(kind, match=why):
        fleet.round(["old", "new"], X, y)
    assert fleet.to_bytes() == before


@pytest.mark.parametrize("n", [1, 5000])
def test_a_row_that_overflows_leaves_no_trace(n) -> None:
    """The look fails in the middle of a call, when other keys have learned already."""
    fleet = nr.Fleet(nr.Ridge(1e-300), threads=2)
    fleet.learn(list(range(n)), np.full((n, 1), 1e-150), np.full(n, 1.0))
    before = fleet.to_bytes()
    X = np.full((n + 2, 1), 1e-150)
    X[n] = 2.0**999
    with pytest.raises(NumericalError, match=f"key {n + 7}, row {n}: the look at x does not fit"):
        fleet.round([*range(n), n + 7, 0], X, np.full(n + 2, 1.0))
    assert fleet.to_bytes() == before
    with pytest.raises(NumericalError, match="key 0, row 0"):
        fleet.predict([0], [[2.0**999]])


def test_keys_forecast_in_one_call_know_nothing_of_one_another() -> None:
    """The same x for all of them, a key that is new in between."""
    kind, x = LEARNERS["clipped"], [1.0, -2.0, 0.5]
    fleet, learners = nr.Fleet(kind()), {"a": kind(), "b": kind(), "new": kind()}
    for key, y in (("a", 3.0), ("b", -1.0)):
        fleet.learn([key], [x], [y])
        learners[key].learn_one(x, y)
    keys = ["a", "new", "b"]
    assert fleet.predict(keys, [x] * 3).tolist() == [learners[k].predict_one(x) for k in keys]


def test_a_spread_that_overflows_by_a_new_name_is_no_forecast() -> None:
    fleet = nr.Fleet(nr.AAR(1e-300))
    fleet.learn(["a"], [{"hot": 1e-150}], [1.0])
    with pytest.raises(NumericalError, match="key 'a', row 0: the look at x does not fit"):
        fleet.predict(["a"], [{"hot": 1e-150, "unheard": 1e200}])


def test_named_features_grow() -> None:
    """A name that is new was 0 for every key; forecasts are those of learners that met it alike."""
    for kind in (lambda: nr.AAR(0.5, fit_intercept=True), lambda: nr.AAR(0.5, drift=0.1)):
        fleet, learners = nr.Fleet(kind()), {"a": kind(), "b": kind()}
        calls = [
            (["a", "b"], [{"hot": 1.0}, {"hot": 2.0}], [1.0, 2.0]),
            (["b", "a"], [{"hot": 1.0, "wet": 1.0}, {"hot": 3.0, "wet": 2.0}], [0.5, 2.0]),
            (["a", "b"], [{"wet": 1.0}, {"wet": 1.0, "old": -1.0}], [1.0, 2.0]),
        ]
        for keys, X, y in calls:
            mine = fleet.round(keys, X, y)
            for t, key in enumerate(keys):
                assert mine[t] == pytest.approx(
                    learners[key].predict_one(X[t]), rel=1e-12, abs=1e-12
                )
                learners[key].learn_one(X[t], y[t])
        assert all(fleet.certificates(audit=True).holds)
        new = {"hot": 1.0, "unheard": 5.0}
        assert fleet.predict(["a"], [new])[0] == pytest.approx(
            learners["a"].predict_one(new), rel=1e-12
        )
        before = fleet.to_bytes()
        with pytest.raises(FeatureError, match="key 'b', row 0"):
            fleet.round(["b"], [{"brand": np.nan}], [1.0])
        assert fleet.to_bytes() == before


def test_frames() -> None:
    for frame in (pd.DataFrame, pl.DataFrame, pa.table):
        fleet = nr.Fleet(nr.Ridge())
        fleet.round(["a", "a"], frame({"hot": [1.0, 2.0], "wet": [0, 1]}), [1.0, 2.0])
        assert fleet["a"].feature_names_in_.tolist() == ["hot", "wet"]


def test_learners_out_and_in() -> None:
    fleet = nr.Fleet(nr.AAR(0.5))
    fleet.learn(["a", "b"], [[1.0], [2.0]], [1.0, 2.0])
    mine = fleet["a"]
    mine.learn_one([3.0], 1.0)
    assert fleet["a"].n_samples_seen_ == 1  # a copy
    fleet["a"] = mine
    assert state(fleet["a"]) == state(mine)
    other = nr.AAR(0.5).fit([[1.0]], [4.0])
    mine.merge(other)  # its ledger has more than slots keep: they get wider
    b = state(fleet["b"])
    fleet["new"] = mine
    assert state(fleet["new"]) == state(mine)
    assert state(fleet["b"]) == b
    mine.learn_one([1.0], 1.0)
    fleet.learn(["new"], [[1.0]], [1.0])
    assert state(fleet["new"]) == state(mine)
    assert fleet["new"].certificate() == mine.certificate()
    weighted = nr.AAR(0.5).fit([[1.0], [2.0]], [4.0, 1.0], sample_weight=[2.0, 0.5])
    fleet["weighted"] = weighted
    assert state(nr.Fleet.from_bytes(fleet.to_bytes())["weighted"]) == state(weighted)
    for wrong, why in (
        (nr.Ridge(0.5), "give one like AAR"),
        (nr.AAR(0.7).fit([[1.0]], [1.0]), "other parameters"),
        (nr.AAR(0.5).fit([[1.0, 2.0]], [1.0]), "features differ"),
        (nr.AAR(0.5).fit([[1.0]], [[1.0, 2.0]]), "several outcomes"),
    ):
        with pytest.raises((InputError, FeatureError), match=why):
            fleet["c"] = wrong
        assert "c" not in fleet


def test_dropped_keys_are_forgotten() -> None:
    rng = np.random.default_rng(3)
    fleet, learners = nr.Fleet(nr.AAR()), {}
    for _ in range(60):
        keys = rng.integers(0, 300, 40).tolist()
        X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
        fleet.learn(keys, X, y)
        for key, x, outcome in zip(keys, X, y, strict=True):
            learners.setdefault(key, nr.AAR()).learn_one(x, outcome)
        gone = rng.choice(sorted(learners), 20, replace=False).tolist()
        fleet.drop(gone)
        for key in gone:
            del learners[key]
    same(fleet, learners)
    with pytest.raises(KeyError, match="1000"):
        fleet.drop([next(iter(learners)), 1000])
    same(fleet, learners)
    del fleet[next(iter(learners))]
    assert len(fleet) == len(learners) - 1


def test_expiry() -> None:
    fleet = nr.Fleet(nr.AAR())
    for day in range(5):
        fleet.learn(
            [k for k in range(5) if k <= 5 - day],
            np.ones((min(5, 6 - day), 1)),
            np.ones(min(5, 6 - day)),
            now=day,
        )
    assert fleet.expire(10) == []
    assert fleet.expire(2) == [4]
    assert nr.Fleet.from_bytes(fleet.to_bytes()).expire(0) == [2, 3]
    with pytest.raises(InputError, match="not before the last"):
        fleet.learn([1], [[1.0]], [1.0], now=3)
    with pytest.raises(InputError, match="age"):
        fleet.expire(float("nan"))


@pytest.mark.slow
def test_merge_and_split() -> None:
    keys, X, y = many()
    fleet = nr.Fleet(nr.AAR())
    fleet.learn(keys, X, y)
    parts = fleet.split(7)
    assert [p.keys() for p in parts] == [
        p.keys() for p in nr.Fleet.from_bytes(fleet.to_bytes()).split(7)
    ]
    whole = nr.Fleet.merged(parts)
    assert sorted(whole) == sorted(fleet)
    for key in list(fleet)[::5]:
        assert state(whole[key]) == state(fleet[key])
    assert whole.certificate().loss == pytest.approx(fleet.certificate().loss, rel=1e-14)
    half = nr.Fleet(nr.AAR())
    half.learn(keys[:3000], X[:3000], y[:3000])
    rest = nr.Fleet(nr.AAR())
    rest.learn(keys[3000:], X[3000:], y[3000:])
    merged, one = nr.Fleet.merged([half, rest]), int(keys[0])
    assert merged[one].coef_ == pytest.approx(fleet[one].coef_, rel=1e-9)
    assert all(merged.take(merged.keys()[:50]).certificates(audit=True).holds)
    drifting = nr.Fleet(nr.AAR(drift=0.1))
    drifting.learn([1, 2], X[:2], y[:2])
    before = drifting.to_bytes()
    with pytest.raises(MergeError, match="drift"):
        drifting.merge(drifting)
    assert drifting.to_bytes() == before
    with pytest.raises(MergeError, match="same learner"):
        drifting.merge(fleet)


def test_certificates_add_up() -> None:
    keys, X, y = many(800, keys=20)
    fleet = nr.Fleet(nr.Ridge(clip=1.0))
    fleet.learn(keys, X, np.clip(y, -1, 1))
    table, total = fleet.certificates(), fleet.certificate()
    assert total.holds
    assert total.loss == pytest.approx(sum(fleet[k].certificate().loss for k in fleet), rel=1e-13)
    assert total.bound == pytest.approx(sum(fleet[k].certificate().bound for k in fleet), rel=1e-13)
    worst = table.worst(3, by="slack")
    assert worst.slack.tolist() == sorted(table.slack.tolist())[:3]
    assert table.worst(1).loss[0] == table.loss.max()
    assert pd.DataFrame(table.as_dict()).shape == (20, 7)
    fleet.learn([0], X[:1], [2.0])  # beyond the clip
    assert fleet.certificates().holds[fleet.keys().index(0)] is None
    assert fleet.certificate().holds is None
    with pytest.raises(InputError, match="did you mean 'slack'"):
        table.worst(3, by="slak")


def test_what_a_fleet_takes() -> None:
    for wrong in (nr.AAR, 5, None, nr.Delayed(nr.AAR())):
        with pytest.raises(InputError, match="give a learner"):
            nr.Fleet(wrong)
    with pytest.raises(InputError, match="has learned something"):
        nr.Fleet(nr.AAR().fit([[1.0]], [1.0]))
    with pytest.raises(InputError, match="threads"):
        nr.Fleet(nr.AAR(), threads=0)
    with pytest.raises(InputError, match="nothing to certify"):
        nr.Fleet(nr.AAR()).certificate()
    assert repr(nr.Fleet(nr.AAR())) == "Fleet(AAR()) of 0 keys"


def test_pickle_goes_on() -> None:
    keys, X, y = many(300, keys=9)
    fleet = nr.Fleet(nr.AAR(drift=0.1))
    fleet.learn(keys, X, y)
    twin = pickle.loads(pickle.dumps(fleet))
    assert twin.round(keys, X, y).tobytes() == fleet.round(keys, X, y).tobytes()


def test_memory_per_key() -> None:
    """At n = 8: at most 700 bytes, the hash table included."""
    n, fleet = 8, nr.Fleet(nr.AAR())
    keys = np.arange(50 * BLOCK)
    fleet.learn(keys, np.ones((len(keys), n)), np.ones(len(keys)))
    held = sum(block.nbytes for block in fleet._store.blocks) + fleet._index.room()
    assert held / len(keys) <= 700
    assert fleet._store.packing.wide * 8 == 600
