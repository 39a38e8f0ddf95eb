"""--state: runs chain exactly, whatever stops them."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import noregret as nr
from commands import forecasts, noregret, stream, write

MODELS = [
    ["-m", "aar"],
    ["-m", "aar", "--drift", "0.01"],
    ["-m", "aar", "--hint", "midrange", "--discount", "0.95"],
    ["-m", "bayesian-ridge", "--fit-intercept"],
    ["-m", "auto", "--alone"],
    ["-m", "auto", "--features", "a,b"],
    ["-m", "safe-oslog", "--floor", "0.001"],
    ["-m", "aar", "--lags", "1,2,5"],
    ["-m", "aar", "--lags", "3,4,7", "--horizon", "3"],
    ["-m", "auto", "--alone", "--lags", "1,2"],
    ["-m", "auto", "--lags", "2,3", "--horizon", "2", "--features", "a,b"],
    ["-m", "aar", "--kernel", "rbf", "--features", "a,b"],
    ["-m", "aar", "--budget", "fourier:30", "--features", "a,b"],
]


def parts(tmp_path: Path, frame: pl.DataFrame, cuts: list[int]) -> list[Path]:
    ends = [0, *cuts, len(frame)]
    return [
        write(frame[a:b], tmp_path / f"part{k}.csv")
        for k, (a, b) in enumerate(itertools.pairwise(ends))
    ]


@pytest.mark.slow
@pytest.mark.parametrize("chosen", MODELS, ids=" ".join)
def test_files_chain_to_the_last_bit(tmp_path: Path, chosen) -> None:
    frame = stream(160)
    whole = write(frame, tmp_path / "whole.csv")
    common = ("-y", "y", "-q", *chosen)
    assert noregret("run", whole, *common, "--out", tmp_path / "whole-out.csv") == 0
    found = []
    for part in parts(tmp_path, frame, [1, 37, 38, 99]):
        out = part.with_suffix(".parquet")
        assert noregret("run", part, *common, "--state", tmp_path / "s.nr", "--out", out) == 0
        found.append(forecasts(out))
    assert np.array_equal(
        np.concatenate(found), forecasts(tmp_path / "whole-out.csv"), equal_nan=True
    )
    assert noregret("certify", tmp_path / "s.nr") == 0


@pytest.mark.parametrize("missing", ["zero", "last", "mean"])
def test_what_is_missing_is_remembered(tmp_path: Path, missing: str) -> None:
    frame = stream(80).with_columns(
        a=pl.when(pl.int_range(80) % 5 == 3).then(None).otherwise(pl.col("a")),
        colour=pl.when(pl.int_range(80) % 7 == 2).then(None).otherwise(pl.col("colour")),
    )
    common = ("-y", "y", "-q", "--missing", missing)
    whole = write(frame, tmp_path / "whole.csv")
    assert noregret("run", whole, *common, "--out", tmp_path / "whole-out.csv") == 0
    found = []
    for part in parts(tmp_path, frame, [3, 4, 40]):
        out = part.with_suffix(".parquet")
        assert noregret("run", part, *common, "--state", tmp_path / "s.nr", "--out", out) == 0
        found.append(forecasts(out))
    assert np.array_equal(
        np.concatenate(found), forecasts(tmp_path / "whole-out.csv"), equal_nan=True
    )


@pytest.mark.parametrize("missing", ["refuse", "mean"])
def test_stopped_anywhere_in_a_block_it_goes_on_exactly(
    tmp_path: Path, monkeypatch, missing
) -> None:
    """Features are born in the middle of a block, and a run may stop there."""
    frame = stream(120)
    if missing == "mean":
        frame = frame.with_columns(
            a=pl.when(pl.int_range(120) % 5 == 3).then(None).otherwise(pl.col("a")),
            colour=pl.when(pl.int_range(120) % 7 == 2).then(None).otherwise(pl.col("colour")),
        )
    path, out, state = write(frame, tmp_path / "d.csv"), tmp_path / "out.csv", tmp_path / "s.nr"
    common = ("-y", "y", "-q", "--drift", "0.01", "--missing", missing)
    assert noregret("run", path, *common, "--out", tmp_path / "whole.csv") == 0
    from noregret.cli.session import Session

    plain = Session._write

    def stopping(self, output, piece, played) -> None:
        plain(self, output, piece, played)
        self.stop.signal = signal.SIGINT  # after every piece

    monkeypatch.setattr(Session, "_write", stopping)
    runs = 0
    while noregret("run", path, *common, "--out", out, "--state", state) == 130:
        runs += 1
        assert runs < 20
    assert runs > 3
    assert np.array_equal(forecasts(out), forecasts(tmp_path / "whole.csv"))


@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
def test_rows_that_a_killed_run_wrote_too_much_are_dropped(tmp_path: Path, ending: str) -> None:
    frame = stream(100)
    path, out, state = tmp_path / "d.csv", tmp_path / f"out{ending}", tmp_path / "s.nr"
    common = ("-y", "y", "-q", "--state", state, "--out", out)
    write(frame[:60], path)
    assert noregret("run", path, *common) == 0
    kept = state.read_bytes()
    write(frame[:80], path)
    assert noregret("run", path, *common) == 0
    out.write_bytes(out.read_bytes()[:-7])  # cut off in the middle of a row
    state.write_bytes(kept)
    write(frame, path)
    assert noregret("run", path, *common) == 0
    rows = pl.read_csv(out) if ending == ".csv" else pl.read_ndjson(out)
    assert rows["line"].to_list() == list(range(2, 102))


def test_a_file_that_grows_is_read_on(tmp_path: Path, capsys) -> None:
    frame = stream(100)
    path, out = tmp_path / "log.csv", tmp_path / "out.csv"
    common = ("-y", "y", "--state", tmp_path / "s.nr", "--out", out)
    for rows in (40, 40, 100):
        write(frame[:rows], path)
        assert noregret("run", path, *common) == 0
    assert "no new rows" in capsys.readouterr().out
    assert noregret("run", path, "-y", "y", "-q", "--out", tmp_path / "once.csv") == 0
    assert np.array_equal(forecasts(out), forecasts(tmp_path / "once.csv"))
    write(stream(100, seed=1), path)
    assert noregret("run", path, *common) == 2
    assert "has changed since" in capsys.readouterr().err


def test_a_state_of_another_run_is_refused(tmp_path: Path, capsys) -> None:
    path, state = write(stream(50), tmp_path / "data.csv"), tmp_path / "s.nr"
    assert noregret("run", path, "-y", "y", "--state", state) == 0
    before = state.read_bytes()
    for other in (
        ("-y", "y", "-m", "ridge"),
        ("-y", "y", "--prior-precision", "2"),
        ("-y", "y", "--lags", "1"),
        ("-y", "a"),
        ("-y", "y", "--features", "a"),
        ("-y", "y", "--missing", "zero"),
    ):
        assert noregret("run", path, *other, "--state", state) == 2
    assert capsys.readouterr().err.count("\n") == 6
    assert state.read_bytes() == before


def test_kinds_of_columns_are_remembered(tmp_path: Path) -> None:
    """A column of text stays one, whatever the next file begins with."""
    state = tmp_path / "s.nr"
    for k, rows in enumerate(("red,1\n7,2\n", "7,3\nred,4\n")):
        path = tmp_path / f"part{k}.csv"
        path.write_text("code,y\n" + rows)
        assert noregret("run", path, "-y", "y", "--state", state) == 0
    assert list(nr.load(state).feature_names_in_) == ["code=red", "code=7"]


def test_a_state_and_python_share_learners(tmp_path: Path) -> None:
    frame, state = stream(60), tmp_path / "s.nr"
    path = write(frame, tmp_path / "data.csv")
    assert noregret("run", path, "-y", "y", "--features", "a,b", "--state", state) == 0
    learner = nr.load(state)
    assert learner.n_samples_seen_ == 60
    learner.learn_one({"a": 1.0, "b": 2.0}, 3.0)
    learner.save(tmp_path / "python.nr")
    more = ("-y", "y", "--features", "a,b", "--state", tmp_path / "python.nr")
    assert noregret("run", path, *more) == 0
    assert nr.load(tmp_path / "python.nr").n_samples_seen_ == 121


def test_bad_rows_of_an_earlier_run_are_not_counted_twice(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("a,y\n1,2\nx,3\n2,3\n")
    common = ("-y", "y", "--state", tmp_path / "s.nr", "--skip-bad", "1")
    assert noregret("run", path, *common) == 0
    with path.open("a") as file:
        file.write("4,5\nx,1\n5,6\n")
    assert noregret("run", path, *common) == 0
    assert nr.load(tmp_path / "s.nr").n_samples_seen_ == 4


def test_an_error_halfway_leaves_a_state_to_go_on_from(tmp_path: Path) -> None:
    """Rows before the block with the bad line are learned, and a corrected file is read on."""
    frame = stream(60_000).select("a", "b", "y")
    path, state = write(frame, tmp_path / "data.csv"), tmp_path / "s.nr"
    assert noregret("run", path, "-y", "y", "-q", "--out", tmp_path / "whole.csv") == 0
    good = path.read_text()
    lines = good.splitlines(keepends=True)
    lines[-5] = "bad,1,2\n"
    path.write_text("".join(lines))
    out = tmp_path / "out.csv"
    from noregret.sources import lines as reader

    read, reader.READ = reader.READ, 1 << 18
    try:
        assert noregret("run", path, "-y", "y", "--state", state, "--out", out) == 2
    finally:
        reader.READ = read
    path.write_text(good)
    assert noregret("run", path, "-y", "y", "-q", "--state", state, "--out", out) == 0
    assert np.array_equal(forecasts(out), forecasts(tmp_path / "whole.csv"))


@pytest.mark.parametrize(
    "number",
    [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)],
    ids=["int", "term"],
)
def test_a_signal_halfway_then_resumed_is_one_run(tmp_path: Path, number) -> None:
    frame = stream(200_000).select("a", "b", "y")
    path, out, state = write(frame, tmp_path / "data.csv"), tmp_path / "out.csv", tmp_path / "s.nr"
    command = [sys.executable, "-m", "noregret", "run", str(path), "-y", "y", "-m", "auto"]
    more = ["--state", str(state), "--out", str(out), "-q"]
    process = subprocess.Popen([*command, *more], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while not (out.exists() and out.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(number)
    _, error = process.communicate(timeout=120)
    assert process.returncode == 128 + number, error
    done = nr.load(state).n_samples_seen_
    assert 0 < done < 200_000
    assert len(forecasts(out)) == done
    rest = tmp_path / "rest.csv"
    small = write(frame[: done + 1_000], path)
    assert noregret("run", small, "-y", "y", "-m", "auto", "-q", "--out", rest) == 0
    assert noregret("run", small, "-y", "y", "-m", "auto", *more) == 0
    assert np.array_equal(forecasts(out), forecasts(rest), equal_nan=True)


def test_a_pipe_that_waits_is_interrupted_and_saved(tmp_path: Path) -> None:
    state = tmp_path / "s.nr"
    command = [sys.executable, "-m", "noregret", "run", "-", "-y", "y", "--state", str(state)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"a,y\n1,2\n")
    process.stdin.flush()
    process.stdout.readline()
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert nr.load(state).n_samples_seen_ == 1


@pytest.mark.slow
def test_live_a_forecast_is_out_before_the_next_line_is_written(tmp_path: Path) -> None:
    """Line k + 1 is written only after the forecast of line k was read."""
    frame = stream(60)
    expected = tmp_path / "expected.csv"
    noregret("run", write(frame, tmp_path / "d.csv"), "-y", "y", "-q", "--out", expected)
    for kind in ("csv", "jsonl"):
        lines = write(frame, tmp_path / f"live.{kind}").read_bytes().splitlines(keepends=True)
        command = [sys.executable, "-m", "noregret", "run", "-", "-y", "y", "-q", "--format", kind]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(os.environ)
        )
        assert process.stdin is not None
        assert process.stdout is not None
        if kind == "csv":
            process.stdin.write(lines.pop(0))
        found = []
        for t, line in enumerate(lines):
            process.stdin.write(line)
            process.stdin.flush()
            if not t:
                header = process.stdout.readline().decode().strip().split(",")
            found.append(process.stdout.readline().decode().split(","))
        process.communicate(timeout=60)
        assert process.returncode == 0
        said = [float(row[header.index("forecast")]) for row in found]
        assert said == forecasts(expected).tolist()
