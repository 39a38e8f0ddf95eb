"""Measure everything and write docs/benchmarks.md; the entry point of `make bench`.

    python benchmarks/run.py [--only GROUP]

With --only, the sections of one group take the place of those in the page; the rest stays.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from time import perf_counter

for library in ("OPENBLAS", "MKL", "OMP", "VECLIB_MAXIMUM", "BLIS"):
    os.environ[f"{library}_NUM_THREADS"] = "1"  # read when NumPy is imported, below

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
HEADING = "\n## "


def replaced(text: str, titles: dict[str, str]) -> str:
    """The page with sections of these titles in place of the old ones, new titles at its end."""
    head, *old = text.split(HEADING)
    sections = {section.partition("\n")[0]: section for section in old}
    sections |= {title: body.removeprefix(HEADING.lstrip()) for title, body in titles.items()}
    return HEADING.join([head, *sections.values()])


def main() -> None:
    import one_at_a_time
    import page
    import pool_speed
    import processes
    import replay_blocks
    import replay_speed
    from threadpoolctl import threadpool_limits

    groups = {
        "fixed": one_at_a_time.fixed,
        "replay": replay_speed.sections,
        "drift": lambda: [one_at_a_time.drifting()],
        "processes": lambda: [processes.start_up(), processes.memory()],
        "blocks": lambda: [replay_blocks.section()],
        "pools": pool_speed.sections,
    }
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=groups, help="measure one group of sections")
    only = parser.parse_args().only
    begin = perf_counter()
    with threadpool_limits(1):
        chosen = [only] if only else list(groups)
        sections = [section for name in chosen for section in groups[name]()]
    if only:
        found = {section.title: section.markdown() for section in sections}
        PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")
    else:
        page.write(PAGE, sections)
    print(f"wrote docs/{PAGE.name} after {perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
