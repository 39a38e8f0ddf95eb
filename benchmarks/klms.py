"""K-LMS-NET: its quadrature rule, its speed, real data, and the posterior over widths.

    python benchmarks/klms.py [--data FOLDER]

Writes docs/klms.md and docs/klms-posterior.svg.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from time import perf_counter

for library in ("OPENBLAS", "MKL", "OMP", "VECLIB_MAXIMUM", "BLIS"):
    os.environ[f"{library}_NUM_THREADS"] = "1"  # read when NumPy is imported, below

DOCS = Path(__file__).resolve().parents[1] / "docs"
INTRODUCTION = """\
# K-LMS-NET: every kernel width at once

Written by `make klms`; run it again to get the figures of your machine. Contestants take turns in
one process with one BLAS thread; ratios are taken within one turn: the median over all turns, in
brackets the quartiles. The machine was not idle: trust ratios, not microseconds.
"""
POSTERIOR = """\
## Posterior over widths

![Posterior over widths as the stream runs](klms-posterior.svg)

Posterior of the width alpha as the rounds go by: median, and the bands that hold 50 % and 90 % of
the weight. Narrow kernels (large alpha) start with most of it, because the prior is uniform in
alpha.
"""


def main() -> None:
    import data
    import klms_losses
    import klms_rules
    import klms_speed
    import page
    from threadpoolctl import threadpool_limits

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=data.FOLDER)
    options = parser.parse_args()
    begin = perf_counter()
    with threadpool_limits(1):
        parts = [klms_rules.section().markdown(), klms_speed.section().markdown()]
        if data.there(options.data):
            parts.append(klms_losses.section(options.data).markdown())
            klms_losses.figure(options.data, DOCS / "klms-posterior.svg")
            parts.append(POSTERIOR)
    text = "\n".join([INTRODUCTION, page.machine(), *parts])
    (DOCS / "klms.md").write_text(text, encoding="utf-8")
    print(f"wrote docs/klms.md after {perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
