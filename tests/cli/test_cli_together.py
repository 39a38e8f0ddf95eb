"""State and output advance together, and one run at a time has them."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from test_cli_state import MODELS

import noregret as nr
from commands import forecasts, noregret, stream, write
from noregret.cli.session import Session
from noregret.sources.encoding import Encoding

ENDINGS = ["csv", "jsonl", "parquet"]


def rows_in(path: Path) -> pl.DataFrame:
    read = {".csv": pl.read_csv, ".jsonl": pl.read_ndjson, ".parquet": pl.read_parquet}
    return read[path.suffix](path)


def stop_after_every_piece(monkeypatch) -> None:
    plain = Session._write

    def stopping(self, output, piece, played) -> None:
        plain(self, output, piece, played)
        self.stop.signal = signal.SIGINT

    monkeypatch.setattr(Session, "_write", stopping)


@contextmanager
def piped(text: str, *, ends: bool = True) -> Iterator[None]:
    """Standard input that has some text, and may be open still."""
    reader, writer = os.pipe()
    os.write(writer, text.encode())
    if ends:
        os.close(writer)
    with os.fdopen(reader) as file, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", file)
        yield
    if not ends:
        os.close(writer)


# Cuts ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("chosen", "ending"), [*((model, "csv") for model in MODELS), (MODELS[1], "parquet")]
)
def test_a_run_that_stops_anywhere_ends_with_the_same_bytes(
    tmp_path: Path, monkeypatch, chosen, ending
) -> None:
    """Learner, memory, bounds and output do not tell how often a run was stopped."""
    path, out, state = write(stream(120), tmp_path / "d.csv"), tmp_path / "out", tmp_path / "s.nr"
    run = ("run", path, "-y", "y", "-q", *chosen, "--state", state)
    run = (*run, "--out", out.with_suffix(f".{ending}"))
    assert noregret(*run) == 0
    wanted = state.read_bytes(), out.with_suffix(f".{ending}").read_bytes()
    state.unlink()
    stop_after_every_piece(monkeypatch)
    runs = 0
    while noregret(*run, "--save-every", "11") == 130:
        runs += 1
        assert runs < 40
    assert runs > 9
    assert out.with_suffix(f".{ending}").read_bytes() == wanted[1]
    assert state.read_bytes() == wanted[0]


@pytest.mark.parametrize("chosen", [MODELS[0], MODELS[8]], ids=" ".join)
def test_a_signal_is_heard_within_a_block(tmp_path: Path, monkeypatch, chosen) -> None:
    path, out, state = write(stream(3000), tmp_path / "d.csv"), tmp_path / "o.csv", tmp_path / "s"
    stop_after_every_piece(monkeypatch)
    run = ("run", path, "-y", "y", "-q", *chosen, "--features", "a,b")
    assert noregret(*run, "--state", state, "--out", out) == 130
    assert 0 < nr.load(state).n_samples_seen_ == len(forecasts(out)) < 100


def test_a_slow_learner_gets_fewer_rows_at_a_time(tmp_path: Path, monkeypatch) -> None:
    """Pieces of a learner that takes 10 ms a row last a fraction of a second; quick ones grow."""
    from noregret.cli import session as clock
    from noregret.running.player import Player

    now = [0.0]
    monkeypatch.setattr(clock, "perf_counter", lambda: now[0])
    plain, sizes = Player.play, {0.0: [], 0.01: []}
    path = write(stream(3000).select("a", "b", "y"), tmp_path / "d.csv")
    for cost, pieces in sizes.items():

        def slow(self, piece, reading=None, cost=cost, pieces=pieces):
            now[0] += cost * len(piece.y)
            pieces.append(len(piece.y))
            return plain(self, piece, reading)

        monkeypatch.setattr(Player, "play", slow)
        assert noregret("run", path, "-y", "y", "-q") == 0
    assert sum(sizes[0.01]) == sum(sizes[0.0]) == 3000
    assert max(sizes[0.01]) <= 32
    assert max(sizes[0.0]) > 1000


def test_states_are_saved_within_a_block(tmp_path: Path, monkeypatch) -> None:
    from noregret.cli import state as module

    seen = []
    plain = module.snapshot.save
    monkeypatch.setattr(
        module.snapshot,
        "save",
        lambda learner, *rest: (seen.append(learner.n_samples_seen_), plain(learner, *rest)),
    )
    path = write(stream(100).select("a", "b", "y"), tmp_path / "d.csv")
    run = ("run", path, "-y", "y", "-q", "--state", tmp_path / "s.nr", "--save-every", "30")
    assert noregret(*run) == 0
    assert seen == [30, 60, 90, 100]
    seen.clear()
    (tmp_path / "s.nr").unlink()
    monkeypatch.setattr(module, "OFTEN", 0.0)  # always late: after every piece
    monkeypatch.setattr(module, "SHARE", 0.0)
    assert noregret(*run[:-2]) == 0
    assert seen[:2] == [16, 48]


# Output --------------------------------------------------------------------------------------


@pytest.fixture(params=ENDINGS)
def resumable(request, tmp_path: Path):
    """A run over 60 of 100 rows, resumed by the same command; the output that all rows have."""
    frame, path = stream(100), tmp_path / "d.csv"
    out, state = tmp_path / f"out.{request.param}", tmp_path / "s.nr"
    run = ("run", path, "-y", "y", "-q", "--state", state, "--out", out)
    write(frame, path)
    assert noregret(*run) == 0
    wanted = rows_in(out)
    state.unlink()
    write(frame[:60], path)
    assert noregret(*run) == 0
    write(frame, path)
    return run, out, state, wanted


def text_of(out: Path) -> Path:
    """Where the rows are while a run is under way."""
    return out.with_name(f"{out.name}.part.csv") if out.suffix == ".parquet" else out


def killed(out: Path) -> None:
    """Leave Parquet as a run that was killed does: only the text is there."""
    if out.suffix == ".parquet":
        rows_in(out).write_csv(text_of(out))
        out.unlink()


def test_an_output_goes_on(resumable) -> None:
    run, out, _, wanted = resumable
    assert noregret(*run) == 0
    assert rows_in(out).equals(wanted)


def test_rows_after_the_state_are_dropped(resumable) -> None:
    run, out, _, wanted = resumable
    killed(out)
    with text_of(out).open("ab") as file:
        file.write(b"62,0.1,0.1,0.1\n63,0.")
    assert noregret(*run) == 0
    assert rows_in(out).equals(wanted)
    assert not list(out.parent.glob("*.part.csv"))


def test_an_output_that_is_shorter_is_refused(resumable, capsys) -> None:
    run, out, state, _ = resumable
    killed(out)
    kept = text_of(out).read_bytes()[:-7]
    text_of(out).write_bytes(kept)
    before = state.read_bytes()
    assert noregret(*run) == 2
    assert f"--out {out} is 7 bytes shorter than when the state was written" in (
        capsys.readouterr().err
    )
    assert state.read_bytes() == before
    assert text_of(out).read_bytes() == kept


def test_an_output_that_is_another_is_refused(resumable, capsys) -> None:
    run, out, state, _ = resumable
    if out.suffix == ".parquet":
        rows_in(out).with_columns(y=-pl.col("y")).write_parquet(out)
    else:
        out.write_bytes(out.read_bytes().replace(b"1", b"2", 1))
    before, there = state.read_bytes(), out.read_bytes()
    assert noregret(*run) == 2
    assert "the state was written: put it back as it was, or give another file" in (
        capsys.readouterr().err
    )
    assert (state.read_bytes(), out.read_bytes()) == (before, there)


def test_an_output_that_is_gone_or_never_was_of_the_run_is_refused(resumable, capsys) -> None:
    run, out, state, wanted = resumable
    before = state.read_bytes()
    out.unlink()
    assert noregret(*run) == 2
    assert f"--out {out} is gone" in capsys.readouterr().err
    other = out.with_name(f"other{out.suffix}")
    other.write_text("something else\n")
    assert noregret(*run[:-1], other) == 2
    assert "not of the run that this one resumes" in capsys.readouterr().err
    assert state.read_bytes() == before
    other.unlink()
    assert noregret(*run[:-1], other) == 0  # the rows to come
    assert rows_in(other).equals(wanted[60:])


def test_a_format_is_kept(resumable, capsys) -> None:
    run, out, _, _ = resumable
    other = "jsonl" if out.suffix != ".jsonl" else "csv"
    assert noregret(*run, "--out-format", other) == 2
    assert f"was begun as {out.suffix[1:]}: keep to it" in capsys.readouterr().err


def test_parquet_keeps_times_and_odd_numbers(tmp_path: Path) -> None:
    """Through text and back: what Parquet says is what it says without a state."""
    frame = stream(50).with_columns(
        when=pl.Series([f'a "{t}", b\nc' if t % 3 else None for t in range(50)]),
        y=pl.when(pl.int_range(50) % 4 == 1).then(None).otherwise(pl.col("y") * 1e-310),
    )
    path = write(frame, tmp_path / "d.csv")
    run = ("run", path, "-y", "y", "-q", "--features", "a,b", "--time", "when", "--out")
    plain, kept = tmp_path / "plain.parquet", tmp_path / "kept.parquet"
    assert noregret(*run, plain) == 0
    write(frame[:20], path)
    assert noregret(*run, kept, "--state", tmp_path / "s.nr") == 0
    write(frame, path)
    assert noregret(*run, kept, "--state", tmp_path / "s.nr") == 0
    assert pl.read_parquet(kept).equals(pl.read_parquet(plain))


def test_a_device_is_no_output_to_go_on_with(tmp_path: Path) -> None:
    path = write(stream(20), tmp_path / "d.csv")
    run = ("run", path, "-y", "y", "-q", "--state", tmp_path / "s.nr", "--out")
    assert noregret(*run, os.devnull, "--out-format", "csv") == 0
    assert nr.load(tmp_path / "s.nr").n_samples_seen_ == 20


def test_pipes_chain_into_one_output(tmp_path: Path) -> None:
    frame = stream(40)
    whole = write(frame, tmp_path / "d.csv")
    run = ("-y", "y", "-q", "--out")
    assert noregret("run", whole, *run, tmp_path / "whole.csv") == 0
    for part in (frame[:13], frame[13:14], frame[14:]):
        more = ("--state", tmp_path / "s.nr")
        with piped(part.write_csv()):
            assert noregret("run", "-", *run, tmp_path / "out.csv", *more) == 0
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


# Reading -------------------------------------------------------------------------------------


def test_a_state_knows_nothing_of_rows_that_were_only_read(tmp_path: Path, monkeypatch) -> None:
    """A typo beyond the stop settles nothing: a run over the corrected file has numbers there."""
    rows = [f"{t % 7},,{t % 5}\n" for t in range(14_000)]  # more than the state compares
    head, tail = "".join(["a,c,y\n", *rows[:13_900]]), "".join(rows[13_900:])
    good, bad = (head + tail.replace(",,", f",{cell},") for cell in ("3", "3x"))
    path, state, out = tmp_path / "d.csv", tmp_path / "s.nr", tmp_path / "out.csv"
    run = ("run", path, "-y", "y", "-q", "--missing", "zero")
    path.write_text(good)
    assert noregret(*run, "--out", tmp_path / "whole.csv") == 0
    path.write_text(bad)
    with monkeypatch.context() as patch:
        stop_after_every_piece(patch)
        assert noregret(*run, "--out", out, "--state", state) == 130
    path.write_text(good)
    assert noregret(*run, "--out", out, "--state", state) == 0
    assert list(nr.load(state).feature_names_in_) == ["a", "c"]
    assert np.array_equal(forecasts(out), forecasts(tmp_path / "whole.csv"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["int", "term"])
@pytest.mark.parametrize("step", ["_used", "_births", "_fill"])
def test_a_signal_while_a_chunk_of_a_pipe_is_encoded_drops_no_rows(
    tmp_path: Path, monkeypatch, number, step
) -> None:
    frame = stream(60).with_columns(
        a=pl.when(pl.int_range(60) % 5 == 3).then(None).otherwise(pl.col("a"))
    )
    state, out, whole = tmp_path / "s.nr", tmp_path / "out.csv", tmp_path / "whole.csv"
    run = ("-y", "y", "-q", "--missing", "mean", "--out")
    assert noregret("run", write(frame, tmp_path / "d.csv"), *run, whole) == 0
    plain = getattr(Encoding, step)

    def signalled(self, *given):
        signal.raise_signal(number)
        return plain(self, *given)

    with piped(frame[:30].write_csv(), ends=False), monkeypatch.context() as patch:
        patch.setattr(Encoding, step, signalled)
        assert noregret("run", "-", *run, out, "--state", state) == 128 + number
    assert len(forecasts(out)) == nr.load(state).n_samples_seen_ == 30
    with piped(frame[30:].write_csv()):
        assert noregret("run", "-", *run, out, "--state", state) == 0
    assert out.read_bytes() == whole.read_bytes()


# Lock ----------------------------------------------------------------------------------------

HOLDER = """
import fcntl, sys, time
file = open(sys.argv[1], "w")
fcntl.flock(file, fcntl.LOCK_EX)
file.write("12345")
file.flush()
print("held", flush=True)
time.sleep(600)
"""


@pytest.fixture
def holder(tmp_path: Path):
    """Another process that has the state file."""
    lock = tmp_path / ".s.nr.lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(lock)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_state_in_use_is_refused_by_choice(tmp_path: Path, holder, capsys) -> None:
    path = write(stream(20), tmp_path / "d.csv")
    run = ("run", path, "-y", "y", "-q", "--state", tmp_path / "s.nr", "--no-wait")
    assert noregret(*run) == 2
    assert "is in use by another run (process 12345)" in capsys.readouterr().err
    assert not (tmp_path / "s.nr").exists()
    holder.kill()  # the lock dies with its process
    holder.wait()
    assert noregret(*run) == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["d.csv", "s.nr"]


def test_a_run_waits_for_another_and_goes_on_from_its_state(tmp_path: Path, holder) -> None:
    path, other = write(stream(20), tmp_path / "d.csv"), write(stream(30), tmp_path / "e.csv")
    state, first = tmp_path / "s.nr", tmp_path / "first.nr"
    run = [sys.executable, "-m", "noregret", "run", path, "-y", "y", "-q", "--state", state]
    with subprocess.Popen(run, stderr=subprocess.PIPE, text=True) as second:
        assert second.stderr is not None
        said = second.stderr.readline()  # whoever waits says so first
        assert "waiting for another run (process 12345) that uses --state" in said
        assert noregret("run", other, "-y", "y", "-q", "--state", first) == 0
        first.rename(state)
        holder.kill()
        assert second.wait(timeout=60) == 0
    assert nr.load(state).n_samples_seen_ == 50


def test_two_runs_at_once_lose_no_round(tmp_path: Path) -> None:
    paths = [write(stream(300, seed), tmp_path / f"{seed}.csv") for seed in range(4)]
    codes = []

    def run(path: Path) -> None:
        codes.append(noregret("run", path, "-y", "y", "-q", "--state", tmp_path / "s.nr"))

    threads = [threading.Thread(target=run, args=(path,)) for path in paths]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert codes == [0] * 4
    assert nr.load(tmp_path / "s.nr").n_samples_seen_ == 1200
    assert not list(tmp_path.glob(".*"))


def test_what_killed_runs_left_is_swept(tmp_path: Path) -> None:
    path = write(stream(20), tmp_path / "d.csv")
    names = [f".{name}.0123456789abcdef.tmp" for name in ("s.nr", "t.nr", "o.parquet")]
    for name in names:
        (tmp_path / name).write_bytes(b"half")
        os.utime(tmp_path / name, (0.0, 0.0))
    held, young = ".s.nr.0123456789abcdee.tmp", ".s.nr.0123456789abcded.tmp"
    (tmp_path / young).write_bytes(b"about to be renamed")
    with (tmp_path / held).open("wb") as file:  # of a process that is alive
        os.utime(tmp_path / held, (0.0, 0.0))
        fcntl.flock(file, fcntl.LOCK_SH)
        more = ("--state", tmp_path / "s.nr", "--out", tmp_path / "o.parquet")
        assert noregret("run", path, "-y", "y", "-q", *more) == 0
    left = sorted(p.name for p in tmp_path.iterdir() if p.name.startswith("."))
    assert left == sorted([held, young, names[1]])  # that of another file is not ours


@pytest.mark.slow
def test_killed_at_random_instants_nothing_is_lost_or_doubled(tmp_path: Path) -> None:
    """kill -9 of runs over files and pipes; NOREGRET_KILLS=200 for more of them."""
    kills = int(os.environ.get("NOREGRET_KILLS", "40"))
    driver = Path(__file__).parents[1] / "kills.py"
    found = subprocess.run(
        [sys.executable, str(driver), str(tmp_path), str(kills), "1"],
        stdout=subprocess.PIPE,
        check=True,
        timeout=60.0 * kills,
    )
    counted = json.loads(found.stdout)
    assert counted["killed"] >= kills
    assert counted["killed"] > counted["killed before a state"]
    assert counted["resumed to the end"] >= 12
