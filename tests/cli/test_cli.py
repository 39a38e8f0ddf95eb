"""The command line: every command, every output, exit codes, what help costs."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import noregret as nr
from commands import forecasts, noregret, stream, write
from noregret.cli import COMMANDS
from noregret.inputs.tables import Frame
from noregret.registry import MODELS, make


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write(stream(), tmp_path / "data.csv")


def test_help_names_every_command_and_has_examples(capsys) -> None:
    assert noregret("--help") == 0
    shown = capsys.readouterr().out
    for name in COMMANDS:
        assert f"\n  {name} " in shown
        assert noregret(name, "--help") == 0
        assert f"  noregret {name}" in capsys.readouterr().out, f"{name} has no example"
    assert noregret("--version") == 0


def test_help_loads_nothing_heavy() -> None:
    heavy = "numpy scipy numba sklearn pandas polars pyarrow duckdb matplotlib rich"
    code = (
        "import sys, noregret.cli; noregret.cli.call(['run', '--help']);"
        f"sys.exit(','.join(m for m in '{heavy}'.split() if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""


def test_run_equals_replay_in_every_output(tmp_path: Path, data: Path, capfd) -> None:
    frame = stream()
    names = ["a", "b"]
    X = np.column_stack([frame[name] for name in names])
    expected = nr.BayesianRidge(0.5, noise_var=0.1).replay(Frame(names, X), frame["y"].to_numpy())
    chosen = ("--features", "a,b", "--model", "bayesian-ridge", "--prior-precision", "0.5")
    for name in ("out.csv", "out.parquet", "out.jsonl", "-"):
        out = name if name == "-" else tmp_path / name
        capfd.readouterr()
        code = noregret(
            "run", data, "-y", "y", *chosen, "--noise-var", "0.1", "--out", out, "--proofs"
        )
        shown = capfd.readouterr()
        assert code == 0
        if name == "-":
            found = pl.read_csv(shown.out.encode())
            assert "Zhdanov-Vovk Theorem 2" in shown.err
        elif name == "out.parquet":
            found = pl.read_parquet(out)
        else:
            found = pl.read_csv(out) if name == "out.csv" else pl.read_ndjson(out)
        assert np.array_equal(found["forecast"], expected.forecast)
        assert np.array_equal(found["std"], np.sqrt(0.1 * expected.spread))
        assert np.array_equal(found["loss"], expected.loss)
        assert found["line"].to_list() == list(range(2, 202))


@pytest.mark.slow
@pytest.mark.parametrize(
    "chosen",
    [
        ["--model", "aar", "--drift", "0.01"],
        ["--model", "aar", "--hint", "last", "--discount", "0.9"],
        ["--model", "aar", "--hint", "midrange"],
        ["--model", "aar", "--hint", "-2.5"],
        ["--model", "ridge"],
        ["--model", "ridge", "--clip", "9"],
        ["--model", "bayesian-ridge", "--noise-var", "0.3", "--fit-intercept"],
        ["--model", "aar", "--lags", "1,3"],
    ],
    ids=" ".join,
)
def test_the_running_bound_is_that_of_the_certificate(tmp_path: Path, data: Path, chosen) -> None:
    out = tmp_path / "out.csv"
    assert noregret("run", data, "-y", "y", "--features", "a,b", "--out", out, *chosen) == 0
    bound = pl.read_csv(out)["bound"].to_numpy()
    given = dict(zip(chosen[::2], chosen[1::2]))
    name = given.pop("--model")
    lags = given.pop("--lags", None)
    given.pop("--fit-intercept", None)
    parameters = {key[2:].replace("-", "_"): value for key, value in given.items()}
    if "--fit-intercept" in chosen:
        parameters["fit_intercept"] = "yes"
    learner = make(name, parameters)
    learner = nr.Lagged(learner, [1, 3]) if lags else learner
    for t, row in enumerate(stream().iter_rows(named=True)):
        learner.learn_one({"a": row["a"], "b": row["b"]}, row["y"])
        assert bound[t] == pytest.approx(learner.certificate().bound, rel=1e-9), t


@pytest.mark.parametrize("model", MODELS)
def test_every_model_tells_the_bound_of_every_row(tmp_path: Path, model: str) -> None:
    """`--bounds`: after each row the bound of the certificate that a learner has there."""
    rows = stream().head(24)
    if MODELS[model].binary:
        rows = rows.with_columns(y=(pl.col("y") > 0.0).cast(pl.Int64))
    given = {"kernel": "rbf", "outcome_range": "100"}
    parameters = {name: given[name] for name in MODELS[model].needs}
    options = [(f"--{name.replace('_', '-')}", value) for name, value in parameters.items()]
    more = ["--alone"] if model == "auto" else []
    data, out = write(rows, tmp_path / "few.csv"), tmp_path / "out.csv"
    chosen = ("-y", "y", "--features", "a,b", "-m", model, "--bounds", "-q", *more)
    assert noregret("run", data, *chosen, "--out", out, *itertools.chain(*options)) == 0
    bounds = pl.read_csv(out)["bound"].to_list()
    learner = make(model, parameters)
    for row, bound in zip(rows.iter_rows(named=True), bounds, strict=True):
        learner.learn_one({"a": row["a"], "b": row["b"]}, row["y"])
        expected = learner.certificate().bound
        assert bound == (None if expected is None else pytest.approx(expected, rel=1e-9))
    assert any(bound is not None for bound in bounds)


@pytest.mark.parametrize("horizon", [1, 3])
def test_the_default_tells_the_bound_of_every_row_when_asked(tmp_path: Path, horizon: int) -> None:
    data, out = write(stream().head(40), tmp_path / "few.csv"), tmp_path / "out.csv"
    chosen = ("run", data, "-y", "y", "-m", "auto", "--horizon", horizon, "-q", "--out", out)
    assert noregret(*chosen) == 0
    assert "bound" not in pl.read_csv(out).columns
    plain = pl.read_csv(out)
    assert noregret(*chosen, "--bounds") == 0
    found = pl.read_csv(out)
    assert found.drop("bound").equals(plain)
    known = found.filter(pl.col("bound").is_not_null())
    assert len(known) > 30
    assert (known["loss"].cum_sum() <= known["bound"] * (1.0 + 1e-12)).all()


@pytest.mark.slow
@pytest.mark.parametrize("model", [name for name, entry in MODELS.items() if not entry.binary])
def test_every_model_runs(data: Path, model: str) -> None:
    given = {"kernel": "rbf", "outcome_range": "100"}
    more = [(f"--{key.replace('_', '-')}", given[key]) for key in MODELS[model].needs]
    if "lms" in model:
        more.append(("--features", "a,b"))  # a kernel's inputs keep their features
    assert noregret("run", data, "-y", "y", "-m", model, "-q", *itertools.chain(*more)) == 0


def test_a_model_that_needs_a_parameter_says_so(data: Path, capsys) -> None:
    assert noregret("run", data, "-y", "y", "-m", "klms-net", "-q") == 2
    assert "klms-net needs outcome_range: Y for [-Y, Y]" in capsys.readouterr().err


@pytest.mark.parametrize("model", [name for name, entry in MODELS.items() if entry.binary])
def test_every_yes_no_model_runs(tmp_path: Path, model: str, capsys) -> None:
    frame = stream(60).with_columns(y=(pl.col("y") > 0).cast(pl.Int64))
    path = write(frame, tmp_path / "data.csv")
    assert noregret("run", path, "-y", "y", "-m", model, "-q") == 0
    path.write_text(path.read_text().replace(",1\n", ",2\n", 1))
    assert noregret("run", path, "-y", "y", "-m", model, "-q") == 2
    assert "the outcome 2 is neither 0 nor 1" in capsys.readouterr().err


def test_rows_without_outcome_are_forecast_only(tmp_path: Path, data: Path) -> None:
    rows = data.read_text().splitlines()
    rows[5] = rows[5].rpartition(",")[0] + ","
    data.write_text("\n".join(rows))
    noregret("run", data, "-y", "y", "-q", "--features", "a,b", "--out", tmp_path / "gap.csv")
    found = pl.read_csv(tmp_path / "gap.csv")
    assert found["y"].null_count() == found["loss"].null_count() == 1
    assert found["forecast"].null_count() == 0
    del rows[5]
    data.write_text("\n".join(rows))
    noregret("run", data, "-y", "y", "-q", "--features", "a,b", "--out", tmp_path / "without.csv")
    rest = np.delete(found["forecast"].to_numpy(), 4)
    assert np.array_equal(rest, forecasts(tmp_path / "without.csv"))


def test_a_row_that_the_learner_refuses_has_its_place(data: Path, capsys) -> None:
    text = data.read_text().splitlines()
    text[7] = "1e305,1,red,2"
    data.write_text("\n".join(text))
    assert noregret("run", data, "-y", "y") == 2
    error = capsys.readouterr().err
    assert "data.csv, line 8: " in error
    assert "rescale the feature" in error
    assert noregret("run", data, "-y", "y", "--skip-bad", "1") == 0
    assert "1 bad line left out" in capsys.readouterr().out


@pytest.mark.slow
def test_compare(tmp_path: Path, data: Path, capsys) -> None:
    assert noregret("compare", data, "-y", "y", "--peers", "--out", tmp_path / "all.csv") == 0
    shown = capsys.readouterr()
    assert "auto" in shown.out
    assert "scikit-learn" in shown.out
    assert "slack" not in shown.out
    assert max(map(len, shown.out.splitlines()[1:])) <= 80  # the first has the place of the file
    assert "--peers learn row by row" in shown.err
    columns = pl.read_csv(tmp_path / "all.csv").columns
    assert "auto forecast" in columns
    models = "aar:drift=0.001:prior-precision=0.5,auto"
    assert noregret("compare", data, "-y", "y", "--models", models, "--proofs") == 0
    text = capsys.readouterr().out
    assert "scikit-learn" not in text
    assert "slack" in text
    assert max(map(len, text.splitlines()[1:])) <= 80
    assert noregret("compare", data, "-y", "y", "--lags", "2,3", "--horizon", "2") == 0
    capsys.readouterr()  # how far a slow run was, perhaps
    for wrong in ("nothing", "aar:clip=1", "aar,aar", "map-logistic"):
        assert noregret("compare", data, "-y", "y", "--models", wrong) == 2
    assert capsys.readouterr().err.count("\n") == 4


def test_compare_yes_no(tmp_path: Path, capsys) -> None:
    frame = stream(80).with_columns(y=(pl.col("y") > 0).cast(pl.Int64))
    assert noregret("compare", write(frame, tmp_path / "d.csv"), "-y", "y", "--yes-no") == 0
    assert "improper-logistic" in capsys.readouterr().out


def test_series(tmp_path: Path) -> None:
    hours = [f"2024-01-{1 + t // 24:02d}T{t % 24:02d}:00" for t in range(200)]
    y = np.sin(np.arange(200) / 24.0 * 2.0 * np.pi)
    path = write(pl.DataFrame({"time": hours, "y": y}), tmp_path / "series.csv")
    chosen = ("--time", "time", "--lags", "2,25", "--horizon", "2", "--calendar", "-q")
    assert noregret("run", path, "-y", "y", *chosen, "--out", tmp_path / "out.csv") == 0
    found = pl.read_csv(tmp_path / "out.csv")
    assert found["time"].to_list() == hours
    assert noregret("run", path, "-y", "y") == 2
    assert noregret("run", path, "-y", "y", "--horizon", "2") == 2
    assert noregret("run", path, "-y", "y", "-m", "auto", "--horizon", "2") == 0


@pytest.mark.data
def test_water_flow(shared_data: Path, tmp_path: Path) -> None:
    """A time and an outcome, nothing else."""
    out = tmp_path / "out.csv"
    path = shared_data / "water_flow.csv"
    chosen = ("--lags", "1,2,24", "--fit-intercept", "--prior-precision", "0.1", "--out", out)
    assert noregret("run", path, "--target", "y", *chosen) == 0
    found = pl.read_csv(out)
    y, g = (found[name].to_numpy()[len(found) // 2 :] for name in ("y", "forecast"))
    assert np.sqrt(np.mean((y - g) ** 2)) < 0.5 * y.std()


@pytest.mark.slow
def test_models_adversary_demo_bench(capsys, tmp_path: Path) -> None:
    assert noregret("models", "--json") == 0
    assert set(json.loads(capsys.readouterr().out)) == set(MODELS)
    assert noregret("models", "aar") == 0
    assert "--prior-precision" in capsys.readouterr().out
    assert noregret("adversary", "doubling", "--model", "ridge", "--clip", "1") == 0
    assert noregret("adversary", "reversal", "--rounds", "20") == 0
    assert noregret("adversary", "bayes-opponent", "-m", "bayesian-ridge", "--rounds", "20") == 0
    assert "nobody's regret is below" in capsys.readouterr().out
    pages = ("--data", tmp_path / "demo.csv", "--report", tmp_path / "demo.html")
    assert noregret("demo", "--rounds", "60", *pages) == 0
    assert "0 fail" in capsys.readouterr().out
    assert noregret("compare", tmp_path / "demo.csv", "--target", "load", "--no-peers") == 0
    out = {}
    for name in ("demo.csv", "demo.parquet", "demo.db"):
        path = tmp_path / name
        assert noregret("demo", "--rounds", "50", "--data", path) == 0
        data = [path]
        if name == "demo.db":
            data = [f"sqlite:{path}", "--query", "SELECT * FROM stream"]
        out[name] = tmp_path / f"{name}.csv"
        assert noregret("run", *data, "--target", "load", "-q", "--out", out[name]) == 0
    said = [forecasts(path).tolist() for path in out.values()]
    assert said[0] == said[1] == said[2]
    assert noregret("demo", "--rounds", "50", "--data", tmp_path / "demo.xls") == 2
    assert noregret("bench", "--models", "aar", "--rounds", "50") == 0


def test_a_failing_certificate_is_exit_code_1(data: Path, monkeypatch, capsys) -> None:
    from noregret.certificates import Certificate

    monkeypatch.setattr(Certificate, "holds", property(lambda _: False))
    assert noregret("run", data, "-y", "y", "-q") == 1
    assert "this certificate fails" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["run"],
        ["run", "nowhere.csv"],
        ["run", "nowhere.csv", "-y", "y"],
        ["run", "DATA", "-y", "y", "--model", "nothing"],
        ["run", "DATA", "-y", "y", "--clip", "1"],
        ["run", "DATA", "-y", "y", "--prior-precision", "-1"],
        ["run", "DATA", "-y", "y", "--prior-precision", "much"],
        ["run", "DATA", "-y", "y", "--lags", "0"],
        ["run", "DATA", "-y", "y", "--features", "a,y"],
        ["run", "DATA", "-y", "y", "--features", "a,nothing"],
        ["run", "DATA", "-y", "y", "--out", "forecasts.xls"],
        ["run", "DATA", "-y", "y", "--out", "no/such/folder.csv"],
        ["run", "DATA", "-y", "y", "--state", "no/such/folder.nr"],
        ["run", "DATA", "-y", "y", "--delimiter", "ab"],
        ["run", "DATA", "-y", "y", "--query", "SELECT 1"],
        ["run", "DATA", "-y", "y", "--calendar"],
        ["run", "DATA", "-y", "y", "--time", "a", "--calendar"],
        ["run", "DATA", "-y", "colour"],
        ["run", "DATA", "-y", "y", "--budget", "nystrom"],
        ["run", ".", "-y", "y"],
        ["run", "sqlite:nowhere.db", "-y", "y", "--query", "SELECT 1"],
        ["certify", "DATA"],
        ["certify", "nowhere.nr"],
        ["nothing"],
    ],
    ids=" ".join,
)
def test_bad_input_is_one_line_and_exit_code_2(data: Path, arguments, capsys, monkeypatch) -> None:
    monkeypatch.chdir(data.parent)
    assert noregret(*(str(data) if word == "DATA" else word for word in arguments)) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith("noregret: ")
    assert shown.err.count("\n") == 1
    assert "Traceback" not in shown.err


def test_a_missing_extra_is_named(data: Path, monkeypatch, capsys) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert noregret("run", data, "-y", "y", "--out", data.parent / "out.parquet") == 2
    assert "writing Parquet needs pyarrow: pip install 'noregret[io]'" in capsys.readouterr().err


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_text_needs_no_extra(data: Path, ending: str, monkeypatch, capsys) -> None:
    """Without Polars the same numbers come out, in the same rows and columns."""
    out, plain = data.parent / f"out.{ending}", data.parent / f"plain.{ending}"
    assert noregret("run", data, "-y", "y", "--out", out) == 0
    monkeypatch.setitem(sys.modules, "polars", None)
    assert noregret("run", data, "-y", "y", "--out", plain) == 0
    monkeypatch.undo()
    capsys.readouterr()
    read = pl.read_csv if ending == "csv" else pl.read_ndjson
    assert read(out).equals(read(plain))
