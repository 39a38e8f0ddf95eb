"""Features of any size: every call answers soon and within bounds, rightly or with a refusal."""

from __future__ import annotations

import itertools
import json
import math
import os
import resource
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

import noregret as nr
from noregret.errors import NoRegretError, NumericalError

LEARNERS = {
    "averaging": nr.BayesianLogistic,
    "averaging, wide": lambda: nr.BayesianLogistic(100.0),
    "averaging, probit": lambda: nr.BayesianLogistic(family="probit"),
    "exact": lambda: nr.BayesianLogistic(method="exact"),
    "tierney-kadane": lambda: nr.BayesianLogistic(method="tierney-kadane"),
    "smc": lambda: nr.BayesianLogistic(method="smc", particles=200),
    "adf": lambda: nr.BayesianLogistic(method="adf"),
    "map": nr.MAPLogistic,
    "map, probit": lambda: nr.MAPLogistic(4.0, family="probit"),
    "map, no history": lambda: nr.MAPLogistic(history=False),
    "improper": nr.ImproperLogistic,
    "safe": nr.SafeLogistic,
}
SIZES = [1.7e9, 1e30, 1e300, 1e3, 1e4, 1e5, 1e6, 1e8, 1e12, 1e16, 1e60, 1e99, 1e101, 1e150]
MEMORY = 256 * 2**20  # of one call
SECONDS = 10.0  # of one call: many times what any of them takes


def streams(size: float, n: int) -> dict[str, list[tuple[list[float], int]]]:
    """Rounds of this size, alone, behind ordinary ones, and as a clock beside them."""
    few = [([1.0, -0.5][:n], 1), ([-0.5, 2.0][:n], 1), ([2.0, 0.3][:n], 0)]
    huge = [([size, size / 3.0][:n], 1), ([-size, size / 7.0][:n], 1), ([size, size][:n], 0)]
    clock = [([size * (1.0 + 1e-5 * t), 0.1 * t][-n:], t % 2) for t in range(4)]
    return {"after": [*few, *huge], "alone": huge, "clock": [(x[::-1], y) for x, y in clock]}


def guarded(call: Any, *given: Any) -> tuple[str, float, int]:
    """What came of a call, its seconds, its bytes."""
    tracemalloc.reset_peak()
    before, start = tracemalloc.get_traced_memory()[0], time.process_time()
    try:
        said = call(*given)
        word = "answered" if said is None or 0.0 <= said <= 1.0 else f"said {said!r}"
    except NoRegretError as refusal:
        word = "refused" if "rescale" in str(refusal) else f"refused with {refusal}"
    return word, time.process_time() - start, tracemalloc.get_traced_memory()[1] - before


def worst_calls(sizes: list[float]) -> dict[str, Any]:
    """Every learner on every stream; in a process of its own, where it can do no harm."""
    here = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (here + 2**30, here + 2**30))
    tracemalloc.start()
    words: dict[str, int] = {}
    seconds, held, odd = 0.0, 0, []
    for (name, make), size, n in itertools.product(LEARNERS.items(), sizes, (1, 2)):
        for kind, rounds in streams(size, n).items():
            learner = make()
            for x, y in rounds:
                for call, given in ((learner.predict_one, ()), (learner.learn_one, (y,))):
                    word, took, more = guarded(call, np.array(x), *given)
                    words[word] = words.get(word, 0) + 1
                    seconds, held = max(seconds, took), max(held, more)
                    if word not in ("answered", "refused") or took > SECONDS or more > MEMORY:
                        odd.append(
                            f"{name}, {kind}, {call.__name__}({x}): {word}, {took} s, {more}"
                        )
    return {"words": words, "seconds": seconds, "bytes": held, "odd": odd[:20]}


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="limits memory as Linux does")
@pytest.mark.slow
def test_every_call_answers_or_refuses() -> None:
    child = subprocess.run(
        [sys.executable, "-W", "error", __file__, *map(str, SIZES)],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert child.returncode == 0, child.stderr
    found = json.loads(child.stdout)
    assert found["odd"] == []
    assert found["words"]["answered"] > 2 * found["words"]["refused"]


def chance_of(rows: list[float], x: float) -> float:
    """The posterior mean of sigma(x w), prior N(0, 1), piece by piece about w = 0."""

    def density(w: float) -> float:
        return math.exp(-0.5 * w * w - sum(np.logaddexp(0.0, -row * w) for row in rows))

    def yes(w: float) -> float:
        return density(w) * math.exp(-np.logaddexp(0.0, -x * w))

    ends = np.geomspace(1e-3 / max(abs(x), *map(abs, rows)), 10.0, 60)
    pieces = list(itertools.pairwise([*-ends[::-1], *ends]))
    total, part = (
        math.fsum(quad(f, a, b, epsabs=0.0)[0] for a, b in pieces) for f in (density, yes)
    )
    return part / total


@pytest.mark.parametrize("size", [1e3, 1e5, 1.7e9, 1e30, 1e90])
def test_one_feature_of_any_size_is_averaged_exactly(size: float) -> None:
    learner = nr.BayesianLogistic()
    for x, y in ((1.0, 1), (0.5, 0), (2.0, 1)):
        learner.learn_one([x], y)
    rows = [1.0, -0.5, 2.0]
    assert learner.predict_one([size]) == pytest.approx(chance_of(rows, size), abs=1e-9)
    learner.learn_one([size], 0)
    rows.append(-size)
    for x in (1.0, -3.0, size):
        assert learner.predict_one([x]) == pytest.approx(chance_of(rows, x), abs=1e-9), x


def test_a_grid_that_would_be_too_large_is_refused_before_it_is_made() -> None:
    learner = nr.BayesianLogistic()
    for x, y in (([1.0, -0.5], 1), ([-0.5, 2.0], 1), ([2.0, 0.3], 0), ([1e8, 3e8], 1)):
        learner.learn_one(x, y)
    before = learner.to_bytes()
    with pytest.raises(NumericalError, match=r"tierney-kadane.*rescale x"):
        learner.predict_one([1e8, -2e8])
    assert learner.to_bytes() == before
    assert 0.0 < learner.predict_one([1.0, 1.0]) < 1.0


if __name__ == "__main__":
    sys.stdout.write(json.dumps(worst_calls([float(size) for size in sys.argv[1:]])))


def test_exact_averaging_of_hardly_anything() -> None:
    """No feature at all, and one so small that its inverse is infinite: nothing is known yet."""
    assert nr.BayesianLogistic(method="exact").predict_one({}) == 0.5
    assert nr.BayesianLogistic(method="exact").predict_one([5e-324]) == 0.5
