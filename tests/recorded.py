"""Forecasts of every learner on a stream of its own, recorded to the last bit.

`python tests/recorded.py record` writes the file; `compare` says how far the forecasts of this
tree are from it.  A change of layout must not move a bit; a change of arithmetic says how much.

The last bits of what BLAS and NumPy add up depend on how wide a processor's vectors are.  So both
run as a processor with AVX2 would have it, whatever is wider here; the native module needs no care.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from stored import CASES, Case

RECORDED = Path(__file__).parent / "golden" / "streams.json"
ROUNDS, REPLAYED = 40, 20
CLOSE = 1e-10  # relative: what rounding may do on another processor; it was 1e-12
NARROW = {
    "OPENBLAS_NUM_THREADS": "1",
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL",
}


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
    tickets = hasattr(learner, "drop")  # no table has any
    if not tickets and case.xs.__name__ in ("arrays", "two", "line", "few"):
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


def apart(said: list[float], wanted: list[float]) -> float:
    """The largest relative difference; 0 where the bits are the same."""
    if np.array(said).tobytes() == np.array(wanted).tobytes():
        return 0.0
    gap = np.abs(np.subtract(said, wanted)) / np.maximum(np.abs(wanted), 1e-3)
    return float(np.nextafter(gap.max(), 1.0))


def compare() -> int:
    """Print what is not bit-equal, and how far off it is; how many streams these are."""
    found = {name: apart(forecasts(name, CASES[name]), w) for name, w in recorded().items()}
    unequal = {name: gap for name, gap in found.items() if gap}
    worst = max(found.values())
    print(f"{len(found)} streams, {len(unequal)} not bit-equal, worst {worst:.3g} relative")
    for name, gap in unequal.items():
        print(f"  {name}: {gap:.3g}")
    return len(unequal)


def narrow() -> dict[str, str]:
    """The environment of a processor with AVX2."""
    return os.environ | NARROW


if __name__ == "__main__":
    if os.environ.get("OPENBLAS_CORETYPE") != NARROW["OPENBLAS_CORETYPE"]:
        os.execve(sys.executable, [sys.executable, *sys.argv], narrow())
    sys.exit({"record": record, "compare": compare}[sys.argv[1]]())
