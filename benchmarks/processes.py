"""What only whole processes show: start-up, the first forecast, memory over a million rounds."""

from __future__ import annotations

import os
import subprocess
import sys
from time import perf_counter

import numpy as np
from page import Section, verdict

from noregret.reproduce.timing import quartiles

BARE, IMPORT, RIVER = "bare interpreter", "import noregret", "import river.linear_model"
FIRST, RIVER_FIRST = "AAR, first forecast and round", "river, first forecast and round"

SCRIPTS = {
    BARE: "pass",
    IMPORT: "import noregret",
    RIVER: "import river.linear_model",
    FIRST: """
from noregret import AAR
learner = AAR()
learner.predict_one({"a": 1.0, "b": 2.0})
learner.learn_one({"a": 1.0, "b": 2.0}, 3.0)
""",
    RIVER_FIRST: """
from river.linear_model import BayesianLinearRegression
learner = BayesianLinearRegression()
learner.predict_one({"a": 1.0, "b": 2.0})
learner.learn_one({"a": 1.0, "b": 2.0}, 3.0)
""",
}
BASELINES = {IMPORT: RIVER, FIRST: RIVER_FIRST}
REPETITIONS = 9

MEMORY = """
import sys
from itertools import cycle, islice
from pathlib import Path
from resource import getpagesize
import numpy as np
from noregret import AAR

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * getpagesize()

rng = np.random.default_rng(0)
rows = [(rng.standard_normal(10), float(rng.standard_normal())) for _ in range(256)]
if sys.argv[1] == "mappings":
    rows = [({f"x{j}": v for j, v in enumerate(x.tolist())}, y) for x, y in rows]
learner, stream = AAR(), cycle(rows)

def learn(rounds):
    for x, y in islice(stream, rounds):
        learner.learn_one(x, y)

learn(20_000)
before = resident()
learn(1_000_000)
print(resident() - before)
"""
MEMORY_TARGET = 1000.0  # kB


def start_up() -> Section:
    taken: dict[str, list[float]] = {name: [] for name in SCRIPTS}
    for script in SCRIPTS.values():
        _seconds(script)  # byte code and compiled code go to their caches
    for k in range(REPETITIONS):
        print(f"start-up, {k + 1} of {REPETITIONS}", flush=True)
        for name, script in SCRIPTS.items():
            taken[name].append(_seconds(script))
    section = Section(
        "Start-up",
        """
Wall time of a whole process, interpreter included.  `import noregret` is light because names are
imported when first used; the first forecast then pays for what was put off, most of it
NumPy.  Nothing is compiled at first use.
""",
        ["process", "ms", "x times as fast as river", "target", ""],
    )
    for name, times in taken.items():
        speed, target = "", ("", "")
        if name in BASELINES:
            ratio = quartiles(np.array(taken[BASELINES[name]]) / np.array(times))
            speed, target = str(ratio), verdict(ratio.median, 1.0 if name == IMPORT else None)
        section.rows.append([name, f"{1e3 * float(np.median(times)):.0f}", speed, *target])
    return section


def memory() -> Section:
    section = Section(
        "Memory",
        "Growth of resident memory over a million `learn_one` at n = 10, after 20,000 to warm up.",
        ["features", "growth, kB", "target, less than kB", ""],
    )
    for kind in ("arrays", "mappings"):
        print(f"memory, {kind}", flush=True)
        command = [sys.executable, "-c", MEMORY, kind]
        growth = int(subprocess.run(command, check=True, capture_output=True).stdout) / 1000
        met = "met" if growth < MEMORY_TARGET else "**missed**"
        section.rows.append([kind, f"{growth:.0f}", f"{MEMORY_TARGET:g}", met])
    return section


def _seconds(script: str, **environment: str) -> float:
    begin = perf_counter()
    subprocess.run([sys.executable, "-c", script], check=True, env=os.environ | environment)
    return perf_counter() - begin
