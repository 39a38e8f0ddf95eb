"""Forecasts of every learner on a stream of its own, recorded to the last bit.

`python tests/recorded.py record` writes the file; `compare` says how far the forecasts of this
tree are from it.  A change of layout must not move a bit; a change of arithmetic says how much.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from stored import CASES, Case

RECORDED = Path(__file__).parent / "golden" / "streams.json"
ROUNDS, REPLAYED = 40, 20


def rounds_of(name: str) -> int:
    return 6 if name.startswith(("auto, kernels", "net, tolerance")) else ROUNDS


def forecasts(name: str, case: Case) -> list[float]:
    """One round at a time, then a replay by a second learner where there is one."""
    learner, said = case.make(), []
    T = rounds_of(name)
    xs, ys = case.xs(T), case.ys(T)
    for x, y in zip(xs, ys):
        said.append(np.ravel(case.predict(learner, x)))
        case.learn(learner, x, y)
    if hasattr(learner, "replay") and case.xs.__name__ in ("arrays", "two", "line", "few"):
        k = min(T, REPLAYED)
        said.append(np.ravel(case.make().replay(np.array(xs[:k]), np.array(ys[:k])).forecast))
    return np.concatenate(said).tolist()


def versions() -> dict[str, str]:
    return {"numpy": np.__version__, "machine": f"{sys.platform} {np.dtype(float).byteorder}"}


def record() -> None:
    found: dict[str, Any] = {name: forecasts(name, case) for name, case in CASES.items()}
    hexed = {name: [value.hex() for value in values] for name, values in found.items()}
    RECORDED.write_text(json.dumps({"versions": versions(), "streams": hexed}, indent=0) + "\n")


def recorded() -> dict[str, list[float]]:
    streams = json.loads(RECORDED.read_text())["streams"]
    return {name: [float.fromhex(value) for value in values] for name, values in streams.items()}


def compare() -> None:
    worst, unequal = 0.0, []
    for name, wanted in recorded().items():
        said = np.array(forecasts(name, CASES[name]))
        if said.tobytes() != np.array(wanted).tobytes():
            unequal.append(name)
            apart = np.abs(said - wanted) / np.maximum(np.abs(wanted), 1e-3)
            worst = max(worst, float(apart.max()))
    print(f"{len(CASES)} streams, {len(unequal)} not bit-equal, worst {worst:.3g} relative")
    for name in unequal:
        print(f"  {name}")


if __name__ == "__main__":
    {"record": record, "compare": compare}[sys.argv[1]]()
