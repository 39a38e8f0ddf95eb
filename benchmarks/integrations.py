"""Integrations: the checks of other libraries counted, and the cost of the River adapter.

    python benchmarks/integrations.py

Writes docs/integrations.md.
"""

from __future__ import annotations

import sys
from itertools import cycle, islice
from pathlib import Path

import numpy as np
from page import Section, machine
from rows import draw

import noregret as nr
from noregret.adapters.river import RiverRegressor
from noregret.reproduce.timing import race

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests"))

from conformance import LEARNERS, counted, expected, expected_in_river  # noqa: E402  # found by the path above

MOST = 3.0  # microseconds, target

INTRODUCTION = """\
# Integrations: the checks of scikit-learn and River

Written by `python benchmarks/integrations.py`; `make conformance` prints the counts alone.
"""


def checks() -> Section:
    """How many checks each learner passes."""
    section = Section(
        "Checks",
        """
`sklearn.utils.estimator_checks.check_estimator` and River's `checks.yield_checks`, of the releases
above, for each learner and set of parameters. None fails except those that are expected to; the one
that scikit-learn skips needs an array library that is not installed. Learners with kernels or
budgets have no River column, because River's features come and go, and neither has `SLOG`, which
is not an online learner.
""",
        ["", "scikit-learn: passed", "skipped", "expected to fail", "River: passed"],
    )
    reasons: dict[str, list[str]] = {}
    for name, make in LEARNERS.items():
        section.rows.append([name, *counted(name, make)])
        for check, reason in {**expected(make()), **expected_in_river(make())}.items():
            reasons.setdefault(reason, []).append(check)
    section.notes += ["Expected to fail:"]
    section.notes += [
        f"- {reason}: {', '.join(f'`{check}`' for check in dict.fromkeys(found))}"
        for reason, found in reasons.items()
    ]
    return section


def overhead() -> Section:
    """What a call through the River adapter costs beyond the learner's own."""
    rows = draw(256, 20).mappings
    bare, adapted = nr.AAR(), RiverRegressor(nr.AAR())
    jobs = {}
    for name, one in (("learn_one", bare.learn_one), ("River", adapted.learn_one)):
        turn = cycle(rows)

        def job(count: int, one=one, turn=turn) -> None:
            for x, y in islice(turn, count):
                one(x, y)

        jobs[name] = job
        job(len(rows))
    result = race(jobs, seconds=8.0)
    more = 1e6 * float(np.median(result.seconds["River"] - result.seconds["learn_one"]))
    section = Section(
        "The River adapter",
        f"`learn_one`, dictionaries of 20 names, `AAR`; target: at most {MOST:g} us more per call.",
        ["learner, us", "through River, us", "difference within turns, us", ""],
    )
    figures = [result.microseconds("learn_one"), result.microseconds("River"), more]
    verdict = "met" if more <= MOST else "**missed**"
    section.rows.append([*(f"{figure:.2f}" for figure in figures), verdict])
    return section


def main() -> None:
    parts = [INTRODUCTION, machine(), checks().markdown(), overhead().markdown()]
    page = ROOT / "docs" / "integrations.md"
    page.write_text("\n".join(parts), encoding="utf-8")
    print(f"wrote docs/{page.name}")


if __name__ == "__main__":
    main()
