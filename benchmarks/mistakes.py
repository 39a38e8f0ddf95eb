"""How long a mistake on the command line takes to be told: whole processes, one for each.

python benchmarks/mistakes.py [repetitions]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "cli"))
from mistakes import MISTAKES, files

TARGET = 0.5  # seconds


def seconds(words: str, folder: Path) -> tuple[float, float]:
    """Wall time and processor time of one command."""
    before = os.times()
    begin = perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "noregret", *words.split()],
        cwd=folder,
        env={**os.environ, "NOREGRET_MODEL": "aar"},  # as the tests have it
        capture_output=True,
        check=False,
    )
    taken, after = perf_counter() - begin, os.times()
    assert done.returncode == 2, (words, done)
    used = after.children_user + after.children_system
    return taken, used - before.children_user - before.children_system


def main() -> None:
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        files(folder)
        seconds("run", folder)  # byte code goes to its cache
        found = {}
        for words in MISTAKES:
            runs = [seconds(words, folder) for _ in range(repetitions)]
            found[words] = median(run[0] for run in runs), median(run[1] for run in runs)
    for words, (wall, used) in sorted(found.items(), key=lambda one: -one[1][0])[:10]:
        print(f"{wall:6.3f} s, {used:6.3f} s of processor   noregret {words}")
    walls, useds = zip(*found.values())
    print(f"{len(found)} mistakes, {repetitions} runs each, medians:")
    print(f"  wall time       median {median(walls):.3f} s, largest {max(walls):.3f} s")
    print(f"  processor time  median {median(useds):.3f} s, largest {max(useds):.3f} s")
    print(f"  within {TARGET} s: {sum(wall < TARGET for wall in walls)} of {len(found)}")


if __name__ == "__main__":
    main()
