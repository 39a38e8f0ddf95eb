"""A learner that was stored goes on as if nothing had happened, to the last bit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.errors import NotLearnedError
from noregret.snapshot.kinds import is_learner
from stored import CASES, Case, bits, every_kind, extended, fitted_slog, proofs

ROUNDS = 18


def again(learner: Any, case: Case) -> Any:
    return nr.from_bytes(learner.to_bytes(), **case.given)


def stored_at_every_step(case: Case, T: int) -> None:
    """One learner runs through, its twin is stored and read before and after every round.

    Others are read once, early or late, and then run on.
    """
    one, twin = case.make(), again(case.make(), case)
    late: list[Any] = []
    for t, (x, y) in enumerate(zip(case.xs(T), case.ys(T))):
        if t % 3 != 1:  # now and then a round is learned unseen
            heard = bits(case.predict(one, x))
            for other in (twin, *late):
                assert bits(case.predict(other, x)) == heard, t
        twin = again(twin, case)
        case.learn(one, x, y)
        for other in (twin, *late):
            case.learn(other, x, y)
        file = one.to_bytes()
        for other in (twin, *late):
            assert other.to_bytes() == file, t
        twin = again(twin, case)
        if t in (0, 1, T // 2):
            late.append(again(one, case))
        if t % 8 == 7 or t == T - 1:
            said = proofs(one)
            assert all(proofs(other) == said for other in (twin, *late)), t


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_stored_at_every_step(name: str) -> None:
    stored_at_every_step(CASES[name], ROUNDS)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_stored_at_every_step_of_200(name: str) -> None:
    stored_at_every_step(CASES[name], 200)


def test_every_learner_has_a_case() -> None:
    learners = {type(case.make()) for case in CASES.values()} | {nr.SLOG}
    assert learners == {kind.type for kind in every_kind() if is_learner(kind.type)}
    public = {
        thing for thing in (getattr(nr, name) for name in nr.__all__) if isinstance(thing, type)
    }
    teachable = {kind for kind in public if hasattr(kind, "learn_one") or hasattr(kind, "fit")}
    assert teachable == learners | {nr.Learner, nr.OnlineLearner}


def test_slog() -> None:
    one = fitted_slog()
    twin = nr.from_bytes(one.to_bytes())
    X = np.random.default_rng(1).normal(size=(5, 4))
    assert bits(twin.predict(X)) == bits(one.predict(X))
    assert (twin.n_iter_, twin.n_features_in_) == (one.n_iter_, one.n_features_in_)
    assert not hasattr(nr.from_bytes(nr.SLOG(3.0).to_bytes()), "coef_")
    import pandas as pd

    named = nr.SLOG().fit(pd.DataFrame(X, columns=list("abcd")), X[:, 0])
    assert list(nr.from_bytes(named.to_bytes()).feature_names_in_) == list("abcd")


def test_replays_after_a_file_are_the_same() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 3)), rng.uniform(-1, 1, 40)
    names = ("ridge, drift", "aar, rbf", "aar, nystrom", "oslog", "pool of learners", "auto")
    for name in (*names, "kernel lms", "net", "net, window", "net, family"):
        one = CASES[name].make()
        one.replay(X[:20], y[:20])
        twin = again(one, CASES[name])
        more, less = one.replay(X[20:], y[20:]), twin.replay(X[20:], y[20:])
        assert bits(more.forecast) == bits(less.forecast), name
        assert one.to_bytes() == twin.to_bytes(), name


def test_a_learner_that_learned_nothing() -> None:
    for name, case in CASES.items():
        if name in ("ridge, set anew", "map, labels", "pool with a function"):
            continue
        twin = again(case.make(), case)
        with pytest.raises(NotLearnedError):
            twin.certificate()
        assert repr(twin) == repr(case.make())


VALUES = [
    None,
    True,
    2**53 + 1,
    -(10**40),
    -0.0,
    float("inf"),
    5e-324,
    "\x00\ud800 späť",
    b"\x00\xff",
    (1, [2, (None,)], {"a": {(1, 2): 0.1}}),
    np.float32(0.1),
    np.bool_(True),
    np.str_("abc"),
    np.datetime64("2020-01-01", "ns"),
    np.array([[1, 2], [3, 4]], dtype=np.int16),
    np.array([], dtype=np.float64),
]


@pytest.mark.parametrize("k", range(len(VALUES)))
def test_values_survive_exactly(k: int) -> None:
    value = VALUES[k]
    found = nr.from_bytes(nr.Ridge(value).to_bytes()).prior_precision
    assert type(found) is type(value)
    assert repr(found) == repr(value)
    if isinstance(value, np.ndarray):
        assert found.dtype == value.dtype


def test_nan_keeps_its_bits() -> None:
    odd = np.frombuffer(np.uint64(0x7FF8DEADBEEF0001).tobytes(), np.float64)[0]
    for value in (float(odd), odd):
        found = nr.from_bytes(nr.Ridge(value).to_bytes()).prior_precision
        assert np.float64(found).tobytes() == odd.tobytes()
        assert type(found) is type(value)


CHILD = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
import noregret as nr
from stored import CASES, proofs
folder = Path(sys.argv[1])
for k, (name, case) in enumerate(CASES.items()):
    learner = nr.load(folder / f"{k}.npz", **case.given)
    for x, y in list(zip(case.xs(20), case.ys(20)))[12:]:
        case.predict(learner, x)
        case.learn(learner, x, y)
    (folder / f"{k}.txt").write_text(repr(proofs(learner)))
    learner.save(folder / f"{k}.child.npz")
print("done")
"""


def elsewhere(python: str, folder: Path) -> None:
    """Another process reads every learner, goes on, and stores what has become of it."""
    for k, case in enumerate(CASES.values()):
        learner = extended(case)
        learner.save(folder / f"{k}.npz")
    done = subprocess.run(
        [python, "-c", CHILD, str(folder), str(Path(__file__).parents[1])],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.stdout.endswith("done\n"), done.stdout + done.stderr
    for k, (name, case) in enumerate(CASES.items()):
        learner = extended(case)
        for x, y in list(zip(case.xs(20), case.ys(20)))[12:]:
            case.predict(learner, x)
            case.learn(learner, x, y)
        assert (folder / f"{k}.child.npz").read_bytes() == learner.to_bytes(), name
        assert (folder / f"{k}.txt").read_text() == repr(proofs(learner)), name


@pytest.mark.slow
def test_in_another_process(tmp_path: Path) -> None:
    elsewhere(sys.executable, tmp_path)


def other_pythons() -> list[str]:
    """Interpreters of another minor version that have noregret's dependencies.

    NOREGRET_OTHER_PYTHON may name one.
    """
    found = []
    names = [f"python3.{minor}" for minor in range(11, 16) if minor != sys.version_info.minor]
    for name in [*os.environ.get("NOREGRET_OTHER_PYTHON", "").split(), *names]:
        try:
            code = "import noregret._native, scipy, sklearn, sys; print(sys.version_info[1])"
            told = subprocess.run([name, "-c", code], capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            continue
        if int(told.stdout) != sys.version_info.minor:
            found.append(name)
    return found


@pytest.mark.slow
def test_in_another_python(tmp_path: Path) -> None:
    pythons = other_pythons()
    if not pythons:
        pytest.skip("no Python of another minor version has noregret's dependencies here")
    elsewhere(pythons[0], tmp_path)
