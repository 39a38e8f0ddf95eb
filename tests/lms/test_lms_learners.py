"""What the LMS learners have from the one base class, and what their states declare."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import noregret as nr
from noregret.errors import FeatureError, NotLearnedError
from noregret.lms.family_net import FamilyNetState
from noregret.lms.gaussian_net import GaussianNetState
from noregret.lms.layer import KernelLayer
from noregret.lms.state import KernelLMSState


def family(alpha, X, Z):
    return np.exp(-alpha * np.abs(np.asarray(X)[:, None] - np.asarray(Z)[None]).sum(-1))


def letters(X, Z):
    return np.array([[len(set(x) & set(z)) for z in Z] for x in X], dtype=float)


MAKERS = {
    "kernel lms": lambda: nr.KernelLMS("rbf", 0.3),
    "net": lambda: nr.KLMSNet(1.0, nodes=6),
    "net of a family": lambda: nr.KLMSNet(1.0, nodes=4, family=family),
}
X = np.random.default_rng(0).uniform(size=(12, 2)).round(2)
Y = np.linspace(-0.5, 0.5, 12)


@pytest.mark.parametrize("name", MAKERS)
def test_frames_come_back_in_the_library_they_came_from(name: str) -> None:
    columns = {"a": X[:, 0], "b": X[:, 1]}
    expected = MAKERS[name]().replay(X, Y).forecast
    for frame, kind in (
        (pd.DataFrame(columns), pd.DataFrame),
        (pl.DataFrame(columns), pl.DataFrame),
        (pa.table(columns), pa.Table),
    ):
        learner = MAKERS[name]()
        replay = learner.replay(frame, Y)
        assert type(replay.to_frame()) is kind
        np.testing.assert_array_equal(replay.forecast, expected)
        assert learner.feature_names_in_.tolist() == ["a", "b"]
        assert learner.n_features_in_ == 2


@pytest.mark.parametrize("name", MAKERS)
def test_arrays_have_no_names(name: str) -> None:
    learner = MAKERS[name]()
    for _ in range(2):  # before the first round, and after it
        with pytest.raises(NotLearnedError):
            _ = learner.feature_names_in_
        learner.learn_one(X[0], 0.5)
    assert learner.n_features_in_ == 2


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize(
    "empty",
    [[], (), np.zeros((0, 2)), np.zeros((3, 0)), pd.DataFrame(), pa.table({"a": np.zeros(0)})],
    ids=["list", "tuple", "no rows", "no columns", "pandas", "arrow"],
)
def test_an_empty_table_is_refused_as_everywhere(name: str, empty) -> None:
    for learner in (MAKERS[name](), nr.AAR(), nr.OSLOG()):
        for call in (learner.fit, learner.partial_fit, learner.replay):
            with pytest.raises(FeatureError):
                call(empty, np.zeros(len(empty)))
        with pytest.raises(NotLearnedError):
            learner.certificate()
    known = MAKERS[name]().fit(X, Y)
    with pytest.raises(FeatureError):
        known.partial_fit(empty, np.zeros(len(empty)))
    assert known.n_samples_seen_ == 12


@pytest.mark.parametrize(
    "learner",
    [nr.KernelLMS(letters, 0.05), nr.KLMSNet(1.0, nodes=4, family=lambda _, U, V: letters(U, V))],
    ids=["kernel lms", "net"],
)
def test_objects_have_no_features(learner) -> None:
    learner.fit(["ab", "bc", "ca"], [0.1, 0.2, 0.3])
    assert learner._state.space is None
    for name in ("n_features_in_", "feature_names_in_"):
        with pytest.raises(NotLearnedError, match="objects"):
            getattr(learner, name)
    with pytest.raises(FeatureError):
        learner.replay([], [])
    assert learner.n_samples_seen_ == 3


@pytest.mark.parametrize("kind", [KernelLayer, KernelLMSState, FamilyNetState, GaussianNetState])
def test_every_slot_is_a_field_or_scratch(kind) -> None:
    slots = {slot for base in kind.__mro__ for slot in getattr(base, "__slots__", ())}
    fields = {field.of or field.name for field in kind.FIELDS}
    scratch = set(getattr(kind, "SCRATCH", ()))
    assert fields | scratch == slots
    assert not fields & scratch


def test_many_patterns_that_cannot_be_hashed_are_read_back() -> None:
    def common(U, V):
        return np.array([[len(set(u) & set(v)) for v in V] for u in U], dtype=float)

    learner = nr.KernelLMS(common, 1e-3)
    for t in range(70):
        learner.learn_one({"key": t, t: 0}, 0.5)
    twin = nr.from_bytes(learner.to_bytes(), kernel=common)
    assert twin.patterns_ == 70
    assert twin.to_bytes() == learner.to_bytes()
