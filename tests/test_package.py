"""The package: what is exported, what an import costs, what it needs to write."""

from __future__ import annotations

import ast
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
from noregret.registry import MODELS

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


FOREIGN = (  # the editable installation has a module of its own
    "import sys; known = {m.partition('.')[0] for m in sys.modules} - sys.stdlib_module_names;"
    "print(sorted(m for m in known if m[0] != '_' and 'editable' not in m))"
)


def test_a_first_forecast_needs_numpy_alone() -> None:
    code = "import noregret as nr; nr.AAR().predict_one([1.0, 2.0]); "
    assert finish(run(code + FOREIGN)).strip() == "['noregret', 'numpy']"


def test_a_run_on_a_small_file_needs_numpy_click_and_rich_alone(tmp_path: Path) -> None:
    path = tmp_path / "small.csv"
    path.write_text("a,b,y\n" + "".join(f"{t},{t % 7},{t % 5}\n" for t in range(500)))
    code = f"from noregret.cli import call; call(['run', {str(path)!r}, '--target', 'y']); "
    allowed = {"click", "markdown_it", "mdurl", "noregret", "numpy", "pygments", "rich"}
    allowed |= {"cython_runtime"}  # no package: what numpy.random leaves behind
    known = finish(run(code + FOREIGN)).splitlines()[-1]
    assert set(ast.literal_eval(known)) <= allowed, known


ABSENT = (  # as if they were not installed
    "import sys; sys.modules.update(dict.fromkeys(['duckdb', 'joblib', 'matplotlib', 'narwhals', "
    "'pandas', 'polars', 'pyarrow', 'river', 'scipy', 'sklearn', 'threadpoolctl']));"
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("nr.AAR(kernel='rbf').predict_one([1.0])", "kernel = 'rbf' needs scikit-learn: [sklearn]"),
        ("nr.AAR().replay([[1.0]], [2.0]).to_frame()", "to_frame needs pandas: [frames]"),
        ("Source('a.parquet').blocks().__next__()", "reading Parquet needs pyarrow: [io]"),
        ("Source('a.svm').blocks().__next__()", "reading libsvm needs scikit-learn: [sklearn]"),
        ("nr.plot.losses(PLAYED)", "plot.losses needs matplotlib: [plot]"),
        ("import noregret.adapters.river", "noregret.adapters.river needs river: [river]"),
        ("smallest(None, None, None, 1)", "the reference mode needs scipy: [scipy]"),
    ],
)
def test_a_library_that_is_missing_is_one_line(call: str, words: str, tmp_path: Path) -> None:
    for name in ("a.parquet", "a.svm"):
        (tmp_path / name).write_text("1 1:2\n")
    code = (
        f"{ABSENT} import os; os.chdir({str(tmp_path)!r}); import noregret as nr\n"
        "from noregret.errors import NoRegretError; from noregret.sources import Source\n"
        "from noregret.reference.logistic import smallest\n"
        "PLAYED = nr.report.play(nr.AAR(), [[1.0]], [2.0])\n"
        f"try: {call}\nexcept NoRegretError as error: print(error)"
    )
    said = finish(run(code)).strip()
    what, _, extra = words.partition(": ")
    assert said.endswith(f"{what}: pip install 'noregret{extra}'")


@pytest.mark.slow
def test_every_learner_works_where_nothing_but_numpy_is_installed() -> None:
    """Rounds, replay, certificates, text, score and files of every kind that takes vectors."""
    code = """
import numpy as np, noregret as nr
from noregret.registry import MODELS, make
rng = np.random.default_rng(0)
X = rng.normal(size=(30, 2))
for name, model in MODELS.items():
    y = (X[:, 0] > 0).astype(float) if model.binary else X[:, 0]
    given = {"kernel": lambda X, Z: X @ Z.T, "outcome_range": 3.0}
    learner = make(name, {key: given[key] for key in model.needs})
    for x, outcome in zip(X, y):
        learner.predict_one(x)
        learner.learn_one(x, outcome)
    learner.replay(X, y)
    learner.certificates()
    learner.score(X, y)
    if name != "kernel-lms":  # a function is not kept in files
        assert repr(nr.from_bytes(learner.to_bytes())) == repr(learner)
    print(name)
"""
    assert finish(run(ABSENT + code)).split() == list(MODELS)


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
