"""Model files on disk: whole or not at all; files of every version are read for ever."""

from __future__ import annotations

import io
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import noregret as nr
from noregret.errors import SnapshotError
from noregret.snapshot import files
from stored import CASES, bits, extended, fitted_slog

GOLDEN = Path(__file__).parents[1] / "golden" / "v1"


def slug(name: str) -> str:
    return re.sub(r"\W+", "-", name)


def contents(file: bytes) -> tuple[object, bytes]:
    held = np.load(io.BytesIO(file), allow_pickle=False)
    return json.loads(held["header"].tobytes())["learner"], held["numbers"].tobytes()


LARGE = ("auto, kernels", "auto, normal", "auto, high")  # 0.2 MB and more


def golden_rounds(name: str) -> int:
    return 2 if name.startswith("auto") else 5


@pytest.mark.parametrize("name", [*(name for name in CASES if name not in LARGE), "slog"])
def test_golden_files_of_version_1(name: str) -> None:
    """Read, and written again as they were; forecasts to what another machine may round."""
    if name == "slog":
        learner, case = nr.load(GOLDEN / "slog.npz"), None
    else:
        case = CASES[name]
        learner = nr.load(GOLDEN / f"{slug(name)}.npz", **case.given)
    assert contents(learner.to_bytes()) == contents((GOLDEN / f"{slug(name)}.npz").read_bytes())
    wanted = np.array(json.loads((GOLDEN / "forecasts.json").read_text())[name])
    if case is None:
        said = learner.predict(np.eye(4))
    else:
        said = np.atleast_1d(case.predict(learner, case.xs(20)[golden_rounds(name)]))
    np.testing.assert_allclose(said, wanted, rtol=1e-9, atol=1e-9)


def write_golden() -> None:
    """How the files of version 1 were made; one that is there is never made again."""
    GOLDEN.mkdir(parents=True, exist_ok=True)
    table = GOLDEN / "forecasts.json"
    wanted = json.loads(table.read_text()) if table.exists() else {}
    for name, case in CASES.items():
        if name in LARGE or (GOLDEN / f"{slug(name)}.npz").exists():
            continue
        learner = case.make()
        T = golden_rounds(name)
        xs = case.xs(20)
        for x, y in zip(xs[:T], case.ys(20)):
            case.predict(learner, x)
            case.learn(learner, x, y)
        learner.save(GOLDEN / f"{slug(name)}.npz")
        wanted[name] = np.atleast_1d(case.predict(learner, xs[T])).tolist()
    if not (GOLDEN / "slog.npz").exists():
        slog = fitted_slog()
        slog.save(GOLDEN / "slog.npz")
        wanted["slog"] = slog.predict(np.eye(4)).tolist()
    table.write_text(json.dumps(wanted, indent=1) + "\n")


def test_a_file_is_an_npz(tmp_path: Path) -> None:
    learner = extended(CASES["ridge"])
    learner.save(tmp_path / "model.npz")
    held = np.load(tmp_path / "model.npz", allow_pickle=False)
    assert sorted(held) == ["digest", "header", "numbers"]
    assert held["numbers"].dtype == np.float64
    twin = nr.load(str(tmp_path / "model.npz"))
    assert twin.to_bytes() == learner.to_bytes() == nr.to_bytes(learner)
    assert bits(twin.coef_) == bits(learner.coef_)


def test_permissions(tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    before = os.umask(0o027)
    try:
        nr.AAR().save(path)
        assert path.stat().st_mode & 0o777 == 0o640
        path.chmod(0o600)
        nr.Ridge().save(path)
        assert path.stat().st_mode & 0o777 == 0o600
        assert isinstance(nr.load(path), nr.Ridge)
    finally:
        os.umask(before)


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failure_leaves_the_old_file(tmp_path: Path, monkeypatch, step: str) -> None:
    path = tmp_path / "model.npz"
    nr.AAR(0.5).save(path)
    before = path.read_bytes()

    def fail(*_, **__):
        raise OSError(28, "no space left")

    if step == "fsync":
        monkeypatch.setattr(files.os, "fsync", fail)
    else:
        monkeypatch.setattr(files.Path, "replace", fail)
    with pytest.raises(SnapshotError, match="no space left"):
        nr.Ridge().save(path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["model.npz"]


VICTIM = """
import sys
import numpy as np
import noregret as nr
learners = []
for k in (1, 2):
    learner = nr.Ridge(float(k))
    learner.fit(np.random.default_rng(k).normal(size=(150, 100)), np.ones(150))
    learners.append(learner)
for k in (0, 1):
    learners[k].save(sys.argv[k + 2])
print("ready", flush=True)
t = 0
while True:
    learners[t % 2].save(sys.argv[1])
    t += 1
"""


@pytest.mark.slow
def test_killed_while_saving(tmp_path: Path) -> None:
    """kill -9 at 200 random instants: the file is always one of the two, whole."""
    folder = tmp_path / "kept"
    folder.mkdir()
    path, one, two = folder / "model.npz", tmp_path / "one.npz", tmp_path / "two.npz"
    rng = random.Random(0)
    command = [sys.executable, "-c", VICTIM, str(path), str(one), str(two)]
    killed = 0
    seen: dict[bytes, int] = {}
    while killed < 200:  # each driver learns once, then forks 100 victims
        arguments = [FORKS, *command[2:], "100", str(rng.randrange(2**30))]
        with subprocess.Popen(
            [sys.executable, "-c", *arguments], stdout=subprocess.PIPE, text=True
        ) as driver:
            for line in driver.stdout:
                assert line == "killed\n"
                killed += 1
                found = path.read_bytes()
                assert found in (one.read_bytes(), two.read_bytes())
                seen[found] = seen.get(found, 0) + 1
                nr.load(path)
                os.kill(driver.pid, signal.SIGUSR1)  # on to the next
        assert driver.returncode == 0
    assert killed == 200
    assert len(seen) == 2  # both were met
    left = [p for p in folder.iterdir() if p != path]
    assert len(left) <= 200


FORKS = """
import os, random, signal, sys, time
signal.signal(signal.SIGUSR1, lambda *_: None)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
code, arguments, times, seed = sys.argv[1], sys.argv[2:5], int(sys.argv[5]), int(sys.argv[6])
head, body = code.split('print("ready", flush=True)')
sys.argv[1:] = arguments
exec(head)
learners[0].save(sys.argv[1])
rng = random.Random(seed)
for _ in range(times):
    child = os.fork()
    if child == 0:
        exec(body)
    time.sleep(rng.uniform(0.0, 0.03))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    print("killed", flush=True)
    signal.sigwait([signal.SIGUSR1])
"""


def test_saving_again_and_again_leaves_one_file(tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    for k in range(20):
        nr.Ridge(1.0 + k).save(path)
    assert [p.name for p in tmp_path.iterdir()] == ["model.npz"]
    assert nr.load(path).prior_precision == 20.0
    assert time.time() - path.stat().st_mtime < 60


def test_no_way_to_execute_a_file() -> None:
    """No pickle, eval, exec, marshal or yaml.load in the package, comments and docstrings aside."""
    import tokenize

    root = Path(nr.__file__).parent
    scanned = 0
    for source in root.rglob("*.py"):
        with source.open("rb") as file:
            code = [
                token.string
                for token in tokenize.tokenize(file.readline)
                if token.type not in (tokenize.COMMENT, tokenize.STRING)
            ]
        scanned += 1
        for banned in [
            "pickle",
            "marshal",
            "eval",
            "exec",
            "shelve",
            "joblib",
            "dill",
            "__import__",
        ]:
            assert banned not in code, f"{source.name}: {banned}"
        text = source.read_text()
        assert "yaml.load" not in text, source.name
        assert "allow_pickle=True" not in text.replace(" ", ""), source.name
    assert scanned > 90
