"""A process that has loaded everything once, and forks runs of the command that it kills.

    python tests/kills.py FOLDER KILLS SEED

Runs of `noregret run --state --out` are killed (SIGKILL) at random instants and resumed until they
are done; one line of JSON tells what came of it.  Polars must not be used before a fork, only
imported: threads do not outlive one.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl  # noqa: F401  # loaded before the fork
import pyarrow.csv
import pyarrow.parquet  # noqa: F401  # loaded before the fork
from sklearn.gaussian_process.kernels import RBF

import noregret as nr
import noregret.cli.group
import noregret.cli.kept
import noregret.cli.run
import noregret.cli.session
import noregret.cli.state
import noregret.running.player
from noregret.cli import main

T = 240
MODELS = {
    "linear": ("-m", "aar", "--drift", "0.01", "--missing", "mean"),
    "kernel": ("-m", "bayesian-ridge", "--kernel", "rbf", "--budget", "window:60"),
}


def data(path: Path) -> list[bytes]:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((T, 2))
    y = X @ [1.0, -2.0] + 0.1 * rng.standard_normal(T)
    rows = [f"{t},{a!r},{b!r},{z!r}\n" for t, ((a, b), z) in enumerate(zip(X.tolist(), y.tolist()))]
    lines = [line.encode() for line in ["t,a,b,y\n", *rows]]
    path.write_bytes(b"".join(lines))
    return lines


def run(arguments: list[str], fed: bytes | None, instant: float, rng: random.Random) -> int | None:
    """The exit code; None if the run was killed at its instant."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(reader, 0)
        os.close(writer)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        main(arguments)
    os.close(reader)
    end = time.monotonic() + instant
    if fed is not None:  # in two parts, all of it less than a pipe holds
        cut = rng.randrange(len(fed))
        for part in (fed[:cut], fed[cut:]):
            try:
                os.write(writer, part)
            except BrokenPipeError:
                break
            time.sleep(min(instant / 2, rng.uniform(0.0, 0.05)))
    os.close(writer)
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return None if code == -signal.SIGKILL else code


def rest_of(lines: list[bytes], state: Path) -> bytes:
    """The header, and the rows that a state has not learned."""
    seen = nr.load(state).n_samples_seen_ if state.exists() else 0
    return b"".join([lines[0], *lines[1 + seen :]])


def no_rows() -> None:
    """A file is read on by itself."""


def campaign(folder: Path, kills: int, seed: int) -> dict[str, int]:
    """Kill and resume, for every kind of run in turn; stops at the first that is not as it was."""
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    rng = random.Random(seed)
    nr.from_bytes(nr.AAR(kernel=RBF(), budget=nr.Window(2)).fit([[1.0], [2.0]], [1, 2]).to_bytes())
    found = {"killed": 0, "resumed to the end": 0, "killed before a state": 0}
    kinds = list(itertools.product(("csv", "parquet", "jsonl"), MODELS, ("file", "pipe")))
    path = folder / "data.csv"
    lines = data(path)
    for turn in itertools.count():
        if found["killed"] >= kills and turn >= len(kinds):
            return found
        ending, model, source = kinds[turn % len(kinds)]
        state, out = folder / "s.nr", folder / f"out.{ending}"
        arguments = ["run", "-" if source == "pipe" else str(path), "-y", "y", "-q"]
        arguments += ["--features", "a,b", *MODELS[model], "--save-every", "20"]
        arguments += ["--state", str(state), "--out", str(out)]

        rest = partial(rest_of, lines, state) if source == "pipe" else no_rows
        begin = time.monotonic()
        assert run(arguments, rest(), 600.0, rng) == 0
        whole = time.monotonic() - begin
        wanted = state.read_bytes(), out.read_bytes()
        state.unlink()
        out.unlink()
        code = None
        while code is None:
            code = run(arguments, rest(), rng.uniform(0.0, whole), rng)
            found["killed"] += code is None
            found["killed before a state"] += code is None and not state.exists()
        assert code == 0, (code, arguments)
        assert out.read_bytes() == wanted[1], arguments
        assert state.read_bytes() == wanted[0], arguments
        found["resumed to the end"] += 1
        left = {p.name for p in folder.iterdir()} - {"data.csv", "s.nr", out.name}
        assert all(name.endswith(".tmp") for name in left), left
        for name in left:
            os.utime(folder / name, (0.0, 0.0))
        assert run(arguments, rest(), 600.0, rng) == 0  # no row is left, the rest is swept
        assert state.read_bytes() == wanted[0], arguments
        assert out.read_bytes() == wanted[1], arguments
        assert {p.name for p in folder.iterdir()} == {"data.csv", "s.nr", out.name}
        found["swept"] = found.get("swept", 0) + len(left)
        state.unlink()
        out.unlink()
    raise AssertionError


if __name__ == "__main__":
    sys.stdout.write(json.dumps(campaign(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
    sys.stdout.flush()
