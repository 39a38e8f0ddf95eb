"""Which n the blocks of replay should start at, and how large they should be.

Justifies CROSSOVER, BLOCK and PANEL of noregret.gaussian.cores.blocks.
"""

from __future__ import annotations

import numpy as np
from page import Section, table
from rows import draw, must_agree
from threadpoolctl import threadpool_limits

from noregret._native.primal import stream
from noregret.gaussian.cores import PrimalCore, blocks
from noregret.reproduce.timing import Job, Race, race_rounds

LOOP = "loop"
SIZES = (100, 200, 300, 400, 500, 640, 800, 1000)
SHAPES = ((32, 32), (64, 16), (64, 32), (128, 16), (128, 32), (128, 64), (256, 32))
ROUNDS = 512


def section() -> Section:
    shapes = [f"{block} / {panel}" for block, panel in SHAPES]
    now = f"{blocks.CROSSOVER}, {blocks.BLOCK} and {blocks.PANEL}"
    made = Section(
        "Loop or blocks",
        f"""
Replay of one stream in blocks of B rows, reflecting P columns at a time, as a multiple of the
speed of the compiled loop over rows (medians). CROSSOVER, BLOCK and PANEL in
`noregret.gaussian.cores.blocks` are {now}.
""",
        ["n", "loop, us per row", *(f"B / P = {shape}" for shape in shapes)],
    )
    for n in SIZES:
        print(f"loop or blocks, n = {n}", flush=True)
        result = _measure(n)
        speeds = [result.speed(shape, LOOP).median for shape in shapes]
        best = max(speeds)
        cells = [f"**{s:.2f}**" if s == best else f"{s:.2f}" for s in speeds]
        made.rows.append([str(n), f"{result.microseconds(LOOP):.1f}", *cells])
    return made


def _measure(n: int) -> Race:
    rows = draw(ROUNDS, n)
    xs, ys = rows.X, rows.y[:, None]
    mean, root, fit = np.empty((ROUNDS, 1)), np.empty(ROUNDS), np.zeros(2)

    def loop(_: int) -> None:
        core = PrimalCore(1.0, n, 1)
        stream(core.factor, core.work, xs, ys, mean, root, fit)

    def in_blocks(block: int, panel: int) -> Job:
        def job(_: int) -> None:
            blocks.BLOCK, blocks.PANEL = block, panel
            core = PrimalCore(1.0, n, 1)
            blocks.stream_in_blocks(core.factor, core.work, xs, ys, mean, root, fit)

        return job

    kept = blocks.BLOCK, blocks.PANEL
    jobs = {LOOP: loop} | {f"{b} / {p}": in_blocks(b, p) for b, p in SHAPES}
    loop(ROUNDS)
    means = mean.copy()
    for name, job in jobs.items():
        job(ROUNDS)
        must_agree(name, means, mean)
    result = race_rounds(jobs, dict.fromkeys(jobs, ROUNDS), seconds=3.0, least=5)
    blocks.BLOCK, blocks.PANEL = kept
    return result


if __name__ == "__main__":
    with threadpool_limits(1):
        found = section()
    print("\n".join(table(found.header, found.rows)))
