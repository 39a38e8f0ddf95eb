"""Auto, without any setting, on every regression file, against its own experts and river.

    python benchmarks/auto.py [--data FOLDER] [--quick]

Writes docs/auto.md; with --quick only the first 1,500 rows are run and the page is printed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import data
import numpy as np
from page import Section, table
from river.linear_model import BayesianLinearRegression, LinearRegression
from river.neighbors import KNNRegressor
from river.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import noregret as nr

PAGE = Path(__file__).resolve().parents[1] / "docs" / "auto.md"
QUICK = 1_500
NEAR, ENOUGH = 1.05, 0.8  # target: within 5 % of the best expert, on 80 % of the files
SAME = 0.01  # target: less than 1 % change of the loss in other units

# File, and columns that are not features.
FILES: dict[str, tuple[str, ...]] = {
    "ise": (),
    "opera_electric_load_experts": ("week",),
    "opera_regional_experts": ("rte_dayahead",),
    "france_load_8pm": ("rte_dayahead",),
    "trump_approval": (),
    "chick_weights": (),
    "concrete": (),
    "energy_efficiency": (),
    "power_plant": (),
    "airfoil": (),
    "wine_red": (),
    "wine_white": (),
    "yacht": (),
    "abalone": (),
    "naval": (),
    "protein": (),
    "bike_sharing_hour": (),
    "beijing_pm25": (),
    "air_quality": (),
    "metro_traffic": (),
    "sp500_stocks": (),
    "water_flow": (),
    "appliances_energy_scaled": (),
    "toms_hardware_scaled": (),
}
SCALED = (
    "ise",
    "france_load_8pm",
    "trump_approval",
    "chick_weights",
    "concrete",
    "yacht",
    "bike_sharing_hour",
    "sp500_stocks",
)
OURS: dict[str, Callable[[], nr.Auto]] = {
    "Auto()": nr.Auto,
    "Auto(kernels=True)": lambda: nr.Auto(kernels=True),
}
RIVER = {
    "SGD": LinearRegression,
    "Bayes": BayesianLinearRegression,
    "KNN": KNNRegressor,
}
INTRODUCTION = """\
# Auto on every file

Written by `make auto`.

`nr.Auto()` and `nr.Auto(kernels=True)`, predict then learn, on all rows of every regression file,
in file order, one pass, features as they are. Figures are ratios of cumulative square loss: below 1
Auto lost less.

- *best*: that of the expert of Auto's own grid that was best in hindsight. Auto can be below 1: it
  may change experts, and mixtures can beat all of them.
- *SGD*, *Bayes*, *KNN*: river's LinearRegression, BayesianLinearRegression and KNNRegressor, each
  behind StandardScaler, otherwise with river's defaults. KNN searches approximately, with a random
  start: its figures differ a little from run to run. SGD diverges on some files; a tiny ratio means
  no more than that.

`water_flow` has no feature: all learners get a column of ones, so that Auto's experts can only
follow the level. river's Bayesian regression has no intercept, and none of the three is tuned.

Nothing is chosen for any one file. But Auto's defaults were chosen on these files: of 18 variants
of units and grids the one with the lowest mean loss became the default. Its share 1/(t + 1) was
chosen for its price, a logarithm of the rounds whatever the number of changes: on 21 of these files
a share of 0.0001, whose price is linear in the rounds, lost 2.3 % less (the geometric mean).
"""
WORDS = "Bold: more than 5 % above the best expert, or more loss than river's."
SCALES = f"""\
## Units

Relative change of Auto's loss when all features are multiplied by 1000, or each by its own power of
ten from 0.001 to 1000, or all outcomes by 1000. Target: less than {SAME * 100:g} %.
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What Auto did on one file."""

    loss: float
    best: str
    least: float
    holds: bool
    seconds: float


def read(folder: Path, name: str, rows: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Features and outcomes; a column of ones where there is no feature."""
    X, y = data.load(folder, name, FILES[name])
    X, y = X[:rows], y[:rows]
    return (X if X.shape[1] else np.ones((len(y), 1))), y


def run(make: Callable[[], nr.Auto], X: np.ndarray, y: np.ndarray) -> Outcome:
    begin = perf_counter()
    auto = make()
    loss = float(auto.replay(X, y).loss.sum())
    paid = auto.losses_
    best = min(paid, key=paid.get)
    holds = all(c.holds for c in auto.certificates())
    return Outcome(loss, best, paid[best], holds, perf_counter() - begin)


def peer(model, X: np.ndarray, y: np.ndarray) -> float:
    """What a model of river lost, behind its standard scaler."""
    names = [f"x{j}" for j in range(X.shape[1])]
    pipeline, lost = StandardScaler() | model, 0.0
    for row, v in zip(X.tolist(), y.tolist()):
        x = dict(zip(names, row))
        gap = v - pipeline.predict_one(x)
        lost += gap * gap
        pipeline.learn_one(x, v)
    return lost


def measure(folder: Path, rows: int | None) -> tuple[list[str], dict[str, list[list[float]]]]:
    """Tables as lines; by variant of Auto, one list of ratios per file: to the best, to river's."""
    bodies: dict[str, list[list[str]]] = {name: [] for name in OURS}
    ratios: dict[str, list[list[float]]] = {name: [] for name in OURS}
    for k, name in enumerate(FILES):
        X, y = read(folder, name, rows)
        size = f"{len(y):,} x {X.shape[1]}"
        print(f"{k + 1:2} of {len(FILES)}  {name}, {size}", end="", flush=True)
        peers = [peer(make(), X, y) for make in RIVER.values()]
        for variant, make in OURS.items():
            o = run(make, X, y)
            found = [o.loss / other for other in (o.least, *peers)]
            ratios[variant].append(found)
            cells = [mark(v, limit) for v, limit in zip(found, (NEAR, 1.0, 1.0, 1.0))]
            bodies[variant].append([name, size, *cells, o.best, "hold" if o.holds else "**fail**"])
            print(f"  {found[0]:.3f} {max(found[1:]):.3g}", end="", flush=True)
        print(flush=True)
    others = [f"/ {r}" for r in RIVER]
    header = ["file", "rows x features", "/ best", *others, "best expert", "certificates"]
    lines = []
    for variant, body in bodies.items():
        lines += [f"## {variant}", "", WORDS, "", *table(header, body), ""]
    return lines, ratios


def mark(value: float, limit: float) -> str:
    text = f"{value:.3f}" if value >= 0.001 else f"{value:.0e}"
    return text if value <= limit else f"**{text}**"


def totals(ratios: dict[str, list[list[float]]]) -> list[str]:
    """On how many files each target is met."""
    section = Section(
        "Summary",
        f"Number of files of {len(FILES)}; target: {ENOUGH * 100:g} % each, that is "
        f"{int(np.ceil(ENOUGH * len(FILES)))}.",
        [
            "",
            "within 5 % of the best expert",
            *(f"less loss than {r}" for r in RIVER),
            "less than all three",
        ],
    )
    for variant, found in ratios.items():
        table_ = np.array(found)
        counts = [
            int((table_[:, 0] <= NEAR).sum()),
            *(table_[:, 1:] < 1.0).sum(axis=0).tolist(),
            int((table_[:, 1:] < 1.0).all(axis=1).sum()),
        ]
        cells = [f"{c}" if c >= ENOUGH * len(found) else f"**{c}** (missed)" for c in counts]
        section.rows.append([variant, *cells])
        for title, rows in (
            ("more than 5 % above the best expert", table_[:, 0] > NEAR),
            ("more loss than one of river's", (table_[:, 1:] >= 1.0).any(axis=1)),
        ):
            names = [name for name, row in zip(FILES, rows) if row]
            section.notes.append(f"{variant}, {title}: {', '.join(names) or 'none'}.")
    return [section.markdown()]


def scales(folder: Path, rows: int | None) -> list[str]:
    """How much the loss changes in other units."""
    body, worst = [], 0.0
    for name in SCALED:
        print(f"units  {name}", flush=True)
        X, y = read(folder, name, rows)
        powers = 10.0 ** np.random.default_rng(0).integers(-3, 4, X.shape[1])
        cells = []
        for make in OURS.values():
            loss = run(make, X, y).loss
            others = (
                run(make, 1e3 * X, y).loss,
                run(make, X * powers, y).loss,
                run(make, X, 1e3 * y).loss / 1e6,
            )
            changes = [abs(other / loss - 1.0) for other in others]
            worst = max(worst, *changes)
            cells += [f"{change:.0e}" for change in changes]
        body.append([name, *cells])
    head = [f"{v}, {what}" for v in OURS for what in ("features", "each its own", "outcomes")]
    verdict = "met" if worst < SAME else "**missed**"
    return [SCALES, *table(["file", *head], body), "", f"Largest: {worst:.1e}; {verdict}.", ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=data.FOLDER)
    parser.add_argument("--quick", action="store_true", help=f"the first {QUICK:,} rows only")
    options = parser.parse_args()
    if not data.there(options.data):
        return
    begin, rows = perf_counter(), QUICK if options.quick else None
    with threadpool_limits(1):
        lines, ratios = measure(options.data, rows)
        page = "\n".join([INTRODUCTION, *totals(ratios), *lines, *scales(options.data, rows)])
    if options.quick:
        print(page)
        return
    PAGE.write_text(page, encoding="utf-8")
    print(f"wrote docs/{PAGE.name} after {perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
