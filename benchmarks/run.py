"""Measure everything and write docs/benchmarks.md; the entry point of `make bench`."""

from __future__ import annotations

import os
from pathlib import Path
from time import perf_counter

for library in ("OPENBLAS", "MKL", "OMP", "VECLIB_MAXIMUM", "BLIS"):
    os.environ[f"{library}_NUM_THREADS"] = "1"  # read when NumPy is imported, below

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"


def main() -> None:
    import one_at_a_time
    import page
    import processes
    import replay_blocks
    import replay_speed
    from threadpoolctl import threadpool_limits

    begin = perf_counter()
    with threadpool_limits(1):
        sections = [
            *one_at_a_time.fixed(),
            *replay_speed.sections(),
            one_at_a_time.drifting(),
            processes.start_up(),
            processes.memory(),
            replay_blocks.section(),
        ]
    page.write(PAGE, sections)
    print(f"wrote docs/{PAGE.name} after {perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
