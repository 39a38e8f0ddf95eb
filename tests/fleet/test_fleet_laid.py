"""Labels, Auto's grid, hints, discounts, Intervals in slots: separate learners, bit for bit."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret._native import tracker
from noregret.errors import FeatureError, InputError, NumericalError, OutcomeError, SnapshotError
from noregret.fleet.file import pieces
from noregret.fleet.loose import Loose
from strategies import rows

LABELS = {
    "adf": lambda: nr.BayesianLogistic(0.5, method="adf"),
    "probit": lambda: nr.BayesianLogistic(method="adf", family="probit"),
    "aioli": lambda: nr.ImproperLogistic(2.0, regularisation=0.1),
    "newton": lambda: nr.MAPLogistic(history=False),
}
NUMBERS = {
    "auto": lambda: nr.Auto(effort="linear"),
    "ranged": lambda: nr.Auto((-2, 2), effort="linear"),
    "hint": lambda: nr.AAR(3.0, hint="midrange", fit_intercept=True),
    "around": lambda: nr.AAR(hint=5.0),
    "fading": lambda: nr.Ridge(2.0, discount=0.9),
    "fading aar": lambda: nr.AAR(discount=0.99, hint="last"),
    "intervals": lambda: nr.Intervals(nr.AAR(fit_intercept=True), 0.8),
    "nested": lambda: nr.Intervals(nr.BayesianRidge(noise_var=None, drift=0.01), [0.5, 0.9]),
    "about auto": lambda: nr.Intervals(nr.Auto(effort="linear"), 0.7),
}
KINDS = LABELS | NUMBERS
BYTES = {"adf": 760, "aioli": 760, "auto": 16_384, "hint": 824, "fading": 728, "intervals": 6_112}


def outcomes(name: str, y: np.ndarray) -> np.ndarray:
    return (y > 0).astype(float) if name in LABELS else y


def words(learner) -> list[str]:
    return [str(c) for c in learner.certificates()]


def alone(kind, traffic, *, bands: bool = False) -> tuple[list, list, dict]:
    learners, said, ends = {}, [], []
    for keys, X, y in traffic:
        for key, x, outcome in zip(keys, X, y, strict=True):
            learner = learners.setdefault(key, kind())
            said.append(learner.predict_one(x))
            ends += [learner.interval_one(x)] if bands else []
            learner.learn_one(x, outcome)
    return said, ends, learners


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_a_fleet_is_separate_learners(name, data) -> None:
    """Repeated keys inside a call, late keys, drops, a file in between: bit for bit."""
    stream = data.draw(rows(max_rounds=30))
    T = len(stream.y)
    keys = data.draw(st.lists(st.sampled_from([5, -3, 2**62, 0]), min_size=T, max_size=T))
    cuts = sorted({0, T, *data.draw(st.lists(st.integers(0, T), max_size=4))})
    y = outcomes(name, stream.y)
    traffic = [(keys[a:b], stream.X[a:b], y[a:b]) for a, b in itertools.pairwise(cuts)]
    bands = isinstance(KINDS[name](), nr.Intervals)
    fleet = nr.Fleet(KINDS[name](), threads=data.draw(st.integers(1, 2)))
    assert fleet.compiled
    said, ends, learners = alone(KINDS[name], traffic, bands=bands)
    for k, call in enumerate(traffic):
        found = fleet.round_intervals(*call) if bands else (fleet.round(*call), None)
        assert found[0].tobytes() == np.array(said[: len(call[0])]).tobytes()
        if bands:
            for side in ("low", "high"):
                expected = np.array([getattr(one, side) for one in ends[: len(call[0])]])
                assert getattr(found[1], side).tobytes() == expected.tobytes()
        del said[: len(call[0])], ends[: len(call[0])]
        if k == 1:
            fleet = nr.Fleet.from_bytes(fleet.to_bytes())
    assert sorted(fleet) == sorted(learners)
    x, table = stream.X[:1], fleet.certificates(audit=data.draw(st.booleans()))
    for key, learner in learners.items():
        assert fleet.predict([key], x)[0] == learner.predict_one(x[0])
        assert words(fleet[key]) == words(learner)
        line, main = table.keys.index(key), learner.certificate()
        assert table.loss[line] == main.loss
        assert table.holds[line] is main.holds
        fleet[key] = learner
        assert words(fleet[key]) == words(learner)
    gone = keys[0]
    fleet.drop([gone])
    assert fleet.predict([gone], x)[0] == KINDS[name]().predict_one(x[0])
    new, again = KINDS[name](), fleet.round([gone], x, y[:1])
    assert again[0] == new.predict_one(x[0])
    new.learn_one(x[0], y[0])
    assert words(fleet[gone]) == words(new)


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_features_that_come_later(name) -> None:
    """A name that is new was 0 for every key; forecasts before it is learned know it too."""
    rng = np.random.default_rng(3)
    fleet, learners = nr.Fleet(KINDS[name]()), {}
    for t in range(12):
        features = ["a", "b", "c", "d"][: 2 + t // 4]
        X = [dict(zip(features, rng.normal(size=len(features)).tolist())) for _ in range(3)]
        y = outcomes(name, rng.normal(size=3)).tolist()
        keys = rng.integers(0, 4, 3).tolist()
        later = [row | {"e": 1.5} for row in X]
        said = [learners.setdefault(k, KINDS[name]()).predict_one(x) for k, x in zip(keys, later)]
        assert fleet.predict(keys, later).tolist() == pytest.approx(said, rel=1e-9, abs=1e-9)
        said = []
        for key, x, outcome in zip(keys, X, y, strict=True):
            said.append(learners[key].predict_one(x))
            learners[key].learn_one(x, outcome)
        assert fleet.round(keys, X, y).tolist() == pytest.approx(said, rel=1e-9, abs=1e-9)
    assert all(held is not False for held in fleet.certificates(audit=True).holds)


@pytest.mark.parametrize("name", BYTES)
def test_memory_per_key(name) -> None:
    fleet = nr.Fleet(KINDS[name]())
    fleet.learn([1], np.ones((1, 8)), [1.0])
    assert 8 * fleet._store.packing.wide == BYTES[name]


@pytest.mark.parametrize("name", ["adf", "auto", "intervals"])
def test_threads_parts_and_merges(name) -> None:
    rng = np.random.default_rng(5)
    keys, X = rng.integers(0, 500, 3000), rng.normal(size=(3000, 3))
    y = outcomes(name, rng.normal(size=3000))
    one, two = (nr.Fleet(KINDS[name](), threads=k) for k in (1, 2))
    assert one.round(keys, X, y).tobytes() == two.round(keys, X, y).tobytes()
    assert one.to_bytes() == two.to_bytes()
    whole = nr.Fleet.merged(one.split(3))
    assert whole.round(keys, X, y).tobytes() == two.round(keys, X, y).tobytes()
    part = one.take([int(keys[0])])
    assert words(part[int(keys[0])]) == words(one[int(keys[0])])


def test_files_of_earlier_releases_held_objects() -> None:
    """A fleet of adf was a list of model files; it goes on in slots."""
    rng = np.random.default_rng(6)
    X, y, keys = rng.normal(size=(60, 3)), rng.random(60) < 0.5, rng.integers(0, 5, 60)
    new, old = (nr.Fleet(LABELS["adf"]()) for _ in range(2))
    old._store = Loose(LABELS["adf"]())
    assert old.round(keys, X, y.tolist()).tobytes() == new.round(keys, X, y).tobytes()
    opened = nr.Fleet.from_bytes(b"".join(pieces(old)))
    assert opened.compiled
    assert opened.round(keys, X, y).tobytes() == new.round(keys, X, y).tobytes()


@pytest.mark.parametrize(
    ("name", "X", "y", "error", "why"),
    [
        ("adf", [[1.0], [2.0]], [1.0, 2.0], OutcomeError, r"key 8, row 1: y = 2.0: the labels"),
        ("adf", [[1.0], [2.0]], [1.0, np.nan], OutcomeError, r"key 8, row 1: y\[1\] = nan"),
        ("adf", [[1.0], [1e120]], [1.0, 0.0], FeatureError, r"key 8, row 1: x has an entry"),
        ("adf", [[1.0], [np.nan]], [1.0, 0.0], FeatureError, r"key 8, row 1"),
        ("adf", [[1.0, 2.0]] * 2, [1.0, 0.0], FeatureError, "2"),
        ("adf", [[1.0], [1.0]], [1.0], InputError, "y has 1 entries and X has 2 rows"),
        ("auto", [[1.0], [1.0]], [1.0, 1e200], OutcomeError, r"key 8, row 1"),
        ("auto", [[1.0], [1.0]], [1.0, np.inf], OutcomeError, r"key 8, row 1"),
        ("fading", [[1.0], [1e305]], [1.0, 1.0], FeatureError, r"key 8, row 1"),
        (
            "intervals",
            [[1.0], [1.0]],
            [1.0, 1e154],
            OutcomeError,
            r"key 8, row 1: y\[1\] = 1e\+154",
        ),
    ],
)
def test_a_refused_call_leaves_no_trace(name, X, y, error, why) -> None:
    fleet = nr.Fleet(KINDS[name]())
    fleet.learn([7, 8, 8], [[1e-3], [1e-3], [1e-3]], [1.0, 0.0, 1.0])
    before = fleet.to_bytes()
    with pytest.raises(error, match=why):
        fleet.round([7, 8], X, y)
    with pytest.raises(error, match=why.replace("key 8, row 1", "key 9, row 1")):
        fleet.round([7, 9], X, y)
    assert fleet.to_bytes() == before


def test_an_error_too_large_for_its_trackers() -> None:
    fleet = nr.Fleet(NUMBERS["intervals"]())
    fleet.learn([7, 7], [[1.0]] * 2, [1.0, 2.0])
    before = fleet.to_bytes()
    with pytest.raises(NumericalError, match=r"key 7, row 1: y = 1e\+152: its distance"):
        fleet.round([9, 7], [[1.0]] * 2, [1.0, 1e152])
    assert fleet.to_bytes() == before


def test_learners_that_do_not_fit() -> None:
    fleet = nr.Fleet(LABELS["adf"]())
    fleet.learn([7], [[1.0]], [1])
    other = nr.BayesianLogistic(0.7, method="adf")
    other.learn_one([1.0], 1)
    named = LABELS["adf"]().partial_fit([[1.0], [2.0]], ["no", "yes"])
    for learner in (other, named):
        with pytest.raises(InputError, match="other parameters"):
            fleet[7] = learner
    with pytest.raises(InputError, match="fleet of BayesianLogistic"):
        fleet.intervals([7], [[1.0]])


def test_a_damaged_window_is_refused() -> None:
    """A place outside its ring, as a changed file may have it, is nowhere to write to."""
    fleet = nr.Fleet(NUMBERS["intervals"]())
    fleet.learn([7], [[1.0]], [1.0])
    data = fleet.to_bytes()
    with pytest.raises(SnapshotError):
        nr.Fleet.from_bytes(data[:-40] + bytes(40))
    slot = fleet._store.blocks[0][0]
    for wrong in (-1e9, 1e9, np.nan):
        slot[tracker.PLACE - 1 - tracker.RING] = wrong
        for call in (
            lambda: fleet.round([7], [[1.0]], [1.0]),
            lambda: fleet.predict([7], [[1.0]]),
            lambda: fleet[7],
        ):
            with pytest.raises(NumericalError, match="damaged"):
                call()


def test_intervals_through_the_loop() -> None:
    """Lags make a state that a slot cannot hold; the calls are the same."""
    rng = np.random.default_rng(8)
    X, y, keys = rng.normal(size=(80, 2)), rng.normal(size=80), rng.integers(0, 3, 80).tolist()
    kind = lambda: nr.Intervals(nr.Lagged(nr.AAR(), [1, 2]), [0.5, 0.9])  # noqa: E731
    fleet = nr.Fleet(kind())
    assert not fleet.compiled
    forecasts, (low, high) = fleet.round_intervals(keys, X, y)
    assert (low[3:] <= high[3:]).all()
    said, ends, learners = alone(kind, [(keys, X, y)], bands=True)
    assert forecasts.tolist() == said
    assert np.array_equal(low, np.array([one.low for one in ends]))
    assert np.array_equal(fleet.intervals([0], X[:1]).high[0], learners[0].interval_one(X[0]).high)
    assert fleet.certificates(inside=True).loss.sum() == pytest.approx(((y - said) ** 2).sum())
