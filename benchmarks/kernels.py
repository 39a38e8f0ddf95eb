"""Measure kernel learners and budgets; writes docs/kernels.md.

    python benchmarks/kernels.py [--large] [--data FOLDER]

--large also replays 20,000 rounds, once; without it, the page keeps what it said of that.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from time import perf_counter

for library in ("OPENBLAS", "MKL", "OMP", "VECLIB_MAXIMUM", "BLIS"):
    os.environ[f"{library}_NUM_THREADS"] = "1"  # read when NumPy is imported, below

PAGE = Path(__file__).resolve().parents[1] / "docs" / "kernels.md"
INTRODUCTION = """\
# Kernels: speed and budgets

Written by `python benchmarks/kernels.py --large`; run it again to get the figures of your machine.

Contestants take turns in one process with one BLAS thread. Ratios are taken within one turn: the
median over all turns, in brackets the quartiles. The machine was not idle: trust ratios, not
seconds. Contestants must first agree on the answer (to 1e-8), or the run stops.
"""


def main() -> None:
    import data
    import kernel_protein
    import kernel_speed
    import page
    from threadpoolctl import threadpool_limits

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--data", type=Path, default=data.FOLDER)
    options = parser.parse_args()
    begin = perf_counter()
    with threadpool_limits(1):
        parts = [kernel_speed.exact().markdown()]
        if options.large:
            parts.append(kernel_speed.large(run=True).markdown())
        else:
            parts.append(_kept(kernel_speed.large(run=False)))
        if data.there(options.data):
            parts.append(kernel_protein.section(options.data).markdown())
        else:
            parts.append("## Budgets\n\nThe data folder was absent: not measured.\n")
    PAGE.write_text("\n".join([INTRODUCTION, page.machine(), *parts]), encoding="utf-8")
    print(f"wrote docs/{PAGE.name} after {perf_counter() - begin:.0f} s")


def _kept(section) -> str:
    """The same section of the page that is there, or the section without figures."""
    old = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    title = f"## {section.title}\n"
    if title not in old:
        return section.markdown()
    return title + old.partition(title)[2].partition("\n## ")[0].rstrip("\n") + "\n"


if __name__ == "__main__":
    main()
