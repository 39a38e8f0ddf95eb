"""The worked example of CONTRIBUTING.md: a learner in one file passes all that ours pass."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from commands import noregret
from noregret import report
from noregret.registry import MODELS, Model
from noregret.snapshot import kinds
from noregret.testing import CHECKS

FILE = Path(__file__).parents[2] / "examples" / "running_mean.py"


@pytest.fixture(scope="module")
def RunningMean() -> Iterator[Any]:  # a class
    """The class, on the lists of model files and of the command line while these tests run."""
    name = "noregret.running_mean"  # where a contributor would put it
    spec = importlib.util.spec_from_file_location(name, FILE)
    assert spec is not None
    assert spec.loader is not None
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kinds.declare("RunningMean", module.RunningMean)
    MODELS["running-mean"] = Model("running_mean.RunningMean", "an equality", "O(1)", ())
    yield module.RunningMean
    del MODELS["running-mean"], sys.modules[name]
    del kinds.BY_TYPE[module.RunningMean], kinds.BY_NAME["RunningMean"]


def test_it_is_short() -> None:
    assert len(FILE.read_text().splitlines()) <= 60


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_contract(RunningMean: Any, check: Any) -> None:
    check(RunningMean())


def test_it_is_the_mean(RunningMean: Any) -> None:
    y = np.random.default_rng(0).normal(5.0, size=50)
    learner = RunningMean()
    replay = learner.replay(np.ones((50, 1)), y)
    np.testing.assert_allclose(replay.forecast[1:], np.cumsum(y)[:-1] / np.arange(1, 50))
    certificate = learner.certificate()
    assert certificate.holds
    assert certificate.comparator == pytest.approx(((y - y.mean()) ** 2).sum(), rel=1e-12)


def test_it_is_saved_and_goes_on(RunningMean: Any, tmp_path: Path) -> None:
    learner = RunningMean().fit([[1.0], [1.0]], [2.0, 4.0])
    learner.save(tmp_path / "mean.npz")
    twin = nr.load(tmp_path / "mean.npz")
    for one in (learner, twin):
        one.learn_one(np.array([1.0]), 9.0)
    assert twin.predict_one([1.0]) == learner.predict_one([1.0]) == 5.0
    assert twin.to_bytes() == learner.to_bytes()


def test_it_runs_on_the_command_line_and_in_a_report(RunningMean: Any, tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("x,y\n" + "".join(f"{t},{t % 3}\n" for t in range(40)))
    page, out = tmp_path / "page.html", tmp_path / "out.csv"
    arguments = ["-y", "y", "-m", "running-mean", "--report", page, "--out", out]
    assert noregret("run", data, *arguments, "--state", tmp_path / "state.npz") == 0
    assert "RunningMean" in page.read_text() or "running-mean" in page.read_text()
    forecasts = [float(line.split(",")[2]) for line in out.read_text().splitlines()[1:]]
    assert forecasts[3] == pytest.approx(1.0)
    recording = report.play(RunningMean(), np.ones((10, 1)), np.arange(10.0))
    assert recording.rounds == 10
