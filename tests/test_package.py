"""The package: what is exported, what an import costs, what it needs to write."""

from __future__ import annotations

import importlib
import os
import pkgutil
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

import noregret as nr
from conftest import EXPLORE
from noregret import _native

ROOT = Path(nr.__file__).parent


def run(code: str, **environment: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **environment},
    )


def finish(process: subprocess.Popen) -> str:
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0, output
    return output


def test_every_public_name_can_be_had_and_is_documented() -> None:
    assert set(dir(nr)) == set(nr.__all__)
    for name in nr.__all__:
        thing = getattr(nr, name)
        if name != "__version__":
            assert ">>>" in thing.__doc__, f"{name} has no runnable example"
    with pytest.raises(AttributeError, match="no attribute 'Rigde'"):
        nr.Rigde  # noqa: B018  # asking is the test


def test_every_module_keeps_its_promises() -> None:
    for info in pkgutil.walk_packages([str(ROOT)], "noregret."):
        module = importlib.import_module(info.name)
        assert module.__doc__, f"{info.name} has no docstring"
        for name in getattr(module, "__all__", ()):
            assert hasattr(module, name), f"{info.name}.{name}"


def test_hypothesis_draws_the_same_every_day_and_at_random_by_night(request) -> None:
    drawn = [item.obj for item in request.session.items if item.get_closest_marker("hypothesis")]
    for test in drawn:
        chosen = test._hypothesis_internal_use_settings
        assert chosen.derandomize is not bool(EXPLORE), test.__name__
    assert settings.default.derandomize is not bool(EXPLORE)  # the state machine takes this one


def test_import_brings_nothing_heavy() -> None:
    heavy = "numpy scipy numba sklearn pandas polars matplotlib"
    code = f"import sys, noregret; print([m for m in '{heavy}'.split() if m in sys.modules])"
    assert finish(run(code)).strip() == "[]"


# An editable installation would be found first.
AWAY = "import sys; sys.meta_path = [f for f in sys.meta_path if 'Redirecting' not in repr(f)];"
ROUND = (
    "import noregret as nr; l = nr.AAR(drift=0.1); l.learn_one([1.0, 2.0], 1.0);"
    "import noregret; print(noregret.__file__, l.predict_one([1.0, 2.0]), end='')"
)


def test_works_where_nothing_can_be_written(tmp_path: Path) -> None:
    """Nothing is compiled or kept at first use, neither beside the package nor at home."""
    package = tmp_path / "site" / "noregret"
    shutil.copytree(ROOT, package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(_native.__file__, package)
    (tmp_path / "home").write_text("a file where a directory would have to be")
    before = sorted(tmp_path.rglob("*"))
    output = finish(
        run(
            f"{AWAY} {ROUND}",
            PYTHONPATH=str(tmp_path / "site"),
            PYTHONDONTWRITEBYTECODE="1",
            HOME=str(tmp_path / "home"),
            XDG_CACHE_HOME=str(tmp_path / "home"),
        )
    )
    assert output.startswith(str(package))
    assert sorted(tmp_path.rglob("*")) == before


def test_the_stubs_of_the_native_module_are_true() -> None:
    stubs = ROOT.parents[1] / "native" / "stubs.py"
    if not stubs.exists():
        pytest.skip("stubs are compared where the sources are")
    done = subprocess.run([sys.executable, str(stubs), "--check"], check=False)
    assert done.returncode == 0, "run python native/stubs.py"


@pytest.mark.slow
def test_memory_is_flat_over_a_million_rounds() -> None:
    """The process grows by less than 1 MB over a million learn_one calls at n = 10."""
    code = """
import numpy as np, noregret as nr
def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096
rng = np.random.default_rng(0)
X, y = rng.standard_normal((1000, 10)), rng.standard_normal(1000).tolist()
rows, named = list(X), [{f"f{i}": float(v) for i, v in enumerate(x)} for x in X]
learners = [(nr.AAR(), rows), (nr.BayesianRidge(drift=1e-3), rows), (nr.Ridge(), named)]
def learn(times):
    for learner, data in learners:
        for _ in range(times):
            for x, outcome in zip(data, y):
                learner.predict_one(x)
                learner.learn_one(x, outcome)
learn(20)
before = resident()
learn(1000)
print(resident() - before)
"""
    if not Path("/proc/self/statm").exists():
        pytest.skip("resident memory is read from /proc, which this system does not have")
    assert int(finish(run(code))) < 1_000_000


@pytest.mark.data
def test_real_data_reproduces_published_figures(shared_data: Path) -> None:
    """ISE returns, Jamil and Bouchachia Table 1: AAR 0.032 / 0.873, ridge 0.0232 / 0.903."""
    rows = np.genfromtxt(shared_data / "ise.csv", delimiter=",", skip_header=1)[:, 1:]
    X, y = np.ascontiguousarray(rows[:, :-1]), np.ascontiguousarray(rows[:, -1])
    assert X.shape == (536, 8)
    for learner, loss, r2 in ((nr.AAR(0.0025), 0.032, 0.873), (nr.Ridge(0.000112), 0.0232, 0.903)):
        replay = learner.replay(X, y)
        assert replay.loss.sum() == pytest.approx(loss, abs=5e-5)
        correlation = np.corrcoef(replay.forecast, y)[0, 1] ** 2
        assert correlation == pytest.approx(r2, abs=1e-3)
    certificate = nr.Ridge(1e-4).replay(X, y).certificate
    assert certificate.loss == pytest.approx(0.017294100973587, abs=1e-15)
    assert certificate.comparator == pytest.approx(0.017294100973587, abs=1e-15)
    assert certificate.holds is True
