"""The command line on a large file: throughput, memory, how long help takes, an interrupted run.

    python benchmarks/command_line.py [--rows N] [--folder FOLDER]

Writes docs/command-line.md.  The file is made in FOLDER (a temporary one by default): 2.2 GB for
ten million rows.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import signal
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import polars as pl
from page import _processor, table

PAGE = Path(__file__).resolve().parents[1] / "docs" / "command-line.md"
FEATURES, PART = 10, 500_000
SHARE, MEMORY, START = 0.6, 600.0, 0.1
COMMAND = [sys.executable, "-m", "noregret"]

# What anybody would do by hand: Polars parses, replay learns, all of it in memory.
BY_HAND = """
import sys, time, numpy as np, polars as pl, noregret as nr
nr.AAR().replay(np.ones((9, 10)), np.ones(9))
begin = time.perf_counter()
frame = pl.read_csv(sys.argv[1])
parsed = time.perf_counter()
X, y = np.ascontiguousarray(frame.drop("y").to_numpy()), frame["y"].to_numpy()
del frame
middle = time.perf_counter()
nr.AAR().replay(X, y)
print(parsed - begin, time.perf_counter() - middle)
"""


def make(path: Path, rows: int) -> None:
    rng = np.random.default_rng(0)
    w = rng.standard_normal(FEATURES)
    with path.open("wb") as file:
        for start in range(0, rows, PART):
            X = rng.standard_normal((min(PART, rows - start), FEATURES))
            frame = pl.DataFrame({f"x{j}": X[:, j] for j in range(FEATURES)})
            frame = frame.with_columns(y=X @ w + rng.standard_normal(len(X)))
            frame.write_csv(file, include_header=not start)


def timed(*command: str) -> tuple[float, float]:
    """Seconds, and the largest resident memory in MB, of a process."""
    begin = perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return perf_counter() - begin, usage.ru_maxrss / 1024.0


def by_hand(path: Path) -> tuple[float, float]:
    """Seconds to parse, and to replay."""
    done = subprocess.run(
        [sys.executable, "-c", BY_HAND, str(path)], capture_output=True, text=True, check=True
    )
    parse, replay = map(float, done.stdout.split())
    return parse, replay


def speed(path: Path, rows: int) -> tuple[list[list[str]], list[float], float]:
    """The command and the same by hand, in turns: rows of a table, shares, the most memory."""
    body, shares, worst = [], [], 0.0
    for turn in range(3):
        print(f"turn {turn + 1}", flush=True)
        parse, replay = by_hand(path)
        seconds, memory = timed(*COMMAND, "run", str(path), "--target", "y")
        shares.append((parse + replay) / seconds)
        worst = max(worst, memory)
        times = [f"{value:.1f}" for value in (parse, replay, seconds)]
        speed = [f"{rows / seconds:,.0f}", f"{shares[-1]:.2f}", f"{memory:.0f}"]
        body.append([str(turn + 1), *times, *speed])
    return body, shares, worst


def start_up() -> list[list[str]]:
    """Medians of the time of a whole process, taken in turns."""
    jobs = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "noregret --help": [*COMMAND, "--help"],
        "noregret run --help": [*COMMAND, "run", "--help"],
        "noregret models": [*COMMAND, "models"],
    }
    taken: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(15):
        for name, command in jobs.items():
            taken[name].append(timed(*command)[0])
    bare = median(taken["python -c pass"])
    rows = []
    for name, times in taken.items():
        limit = 2.0 * bare + START
        verdict = "" if name == "python -c pass" else "met" if median(times) <= limit else "missed"
        rows.append([f"`{name}`", f"{1e3 * median(times):.0f}", f"{1e3 * limit:.0f}", verdict])
    return rows


def interrupted(path: Path, folder: Path, rows: int) -> str:
    """SIGINT halfway, then the rest: all forecasts against those of one run."""
    whole, parts, state = folder / "whole.csv", folder / "parts.csv", folder / "model.nr"
    timed(*COMMAND, "run", str(path), "-y", "y", "-q", "--out", str(whole))
    run = [*COMMAND, "run", str(path), "-y", "y", "-q", "--out", str(parts), "--state", str(state)]
    process = subprocess.Popen(run)
    while not parts.exists() or parts.stat().st_size < whole.stat().st_size / 3:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    code = process.wait()
    done = sum(1 for _ in parts.open("rb")) - 1
    timed(*run)
    if code != 128 + signal.SIGINT or whole.read_bytes()[:64] != parts.read_bytes()[:64]:
        raise SystemExit(f"interrupted: exit code {code}")
    one, two = (pl.read_csv(p, columns=["forecast"])["forecast"] for p in (whole, parts))
    if len(one) != rows or not (one == two).all():
        raise SystemExit("forecasts of the resumed run differ")
    return (
        f"Interrupted by SIGINT after {done:,} rows (exit code {code}) and resumed from its state "
        f"file: all {rows:,} forecasts are equal to those of one run, bit for bit."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        path = folder / "data.csv"
        print("writing the file", flush=True)
        make(path, options.rows)
        size = path.stat().st_size / 1e9
        timed(*COMMAND, "run", str(path), "-y", "y", "--help")
        body, shares, worst = speed(path, options.rows)
        written, more = timed(
            *(*COMMAND, "run", str(path), "--target", "y"), *("--out", str(folder / "out.parquet"))
        )
        print("interrupted", flush=True)
        chained = interrupted(path, folder, options.rows)
        print("start-up", flush=True)
        starts = start_up()
    verdicts = (
        f"Share of the throughput by hand: {median(shares):.2f}, target {SHARE}: "
        f"{'met' if median(shares) >= SHARE else '**missed**'}. Memory: {worst:.0f} MB at most, "
        f"target {MEMORY:.0f}: {'met' if worst <= MEMORY else '**missed**'}. "
        f"With `--out` to Parquet {written:.1f} s and {more:.0f} MB."
    )
    head = [
        *("turn", "Polars parses, s", "`replay`, s", "`noregret run`, s", "rows/s"),
        *("share", "MB"),
    ]
    packages = ", ".join(f"{k} {version(k)}" for k in ("polars", "pyarrow", "numpy"))
    page = f"""\
# The command line: throughput, memory, start-up

Written by `python benchmarks/command_line.py`.

## {options.rows:,} rows x {FEATURES} features, CSV

A file of {size:.1f} GB. By hand: `polars.read_csv`, then `AAR().replay` from memory, both timed
inside a process that is warm. `noregret run data.csv --target y` is a whole process, from its start
to its table. Share: the time by hand over that of the command. All in turns, on a machine that was
not idle.

{chr(10).join(table(head, body))}

{verdicts}

{chained}

## Start-up

Medians of 15 processes each, in turns. Limit: twice `python -c pass` and 100 ms.

{chr(10).join(table(["", "ms", "limit", ""], starts))}

Machine: {_processor()}, {os.cpu_count()} cores; Python {platform.python_version()}, {packages}.
"""
    if options.rows < 10_000_000:
        print(page)
        return
    PAGE.write_text(page, encoding="utf-8")
    print(
        f"wrote docs/{PAGE.name}; {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB"
    )


if __name__ == "__main__":
    main()
