"""French electricity load, merged: what the R package opera publishes, and ours."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import noregret as nr
from noregret.experts.comparators import Comparator
from noregret.experts.convex import convex
from noregret.reproduce.merging import LEARNERS, Experts, around, named, pool
from noregret.reproduce.shown import Shown

__all__ = [
    "MAPE",
    "PINBALL",
    "REGIONAL",
    "RMSE",
    "WEEKLY",
    "WEIGHTS",
    "comparators",
    "files",
    "tables",
]

# Published by the package, and recomputed from the files with NumPy alone.
WEEKLY = {
    "best expert": ("1480 / 0.0202", "1479.80 / 0.020152"),
    "uniform": ("1560 / 0.0198", "1560.17 / 0.019752"),
    "best convex": ("1440 / 0.0193", "1442.43 / 0.019269"),
    "best linear": ("", "1395.35 / 0.018900"),
}
REGIONAL = {
    "rte_dayahead": ("1.58", "1.584"),
    "nat0.5": ("2.04", "2.035"),
    "uniform": ("", "2.340"),
}
WEIGHTS = ("0.719, 0.201, 0.0799", "0.72, 0.20, 0.08")
RMSE, MAPE = 1457.48, 1.38  # MLpol, weekly recomputed and regional published: the lower ones

# Mean pinball loss of the regional file, worked out anew from the formulas.
PINBALL = {
    "MLpol": (138.2, 205.5, 430.3, 206.3, 128.4),
    "BOA": (166.8, 236.5, 434.5, 198.6, 121.8),
    "best expert": (208.2, 326.4, 560.6, 238.7, 121.6),
}
LEVELS = (0.05, 0.1, 0.5, 0.9, 0.95)

RULES = {
    "nr.aggregate, its default": named(None),
    "MLpol, opera's default": named("mlpol"),
    "BOA": named("boa"),
    "Aggregating Algorithm": pool(),
    "Fixed Share 0.01": pool(share=0.01),
    "Aggregating Algorithm, around the mean": around(pool()),
    "Ridge, around the mean": around(LEARNERS["Ridge"]),
    "pool of Ridge, around the mean": around(LEARNERS["pool of Ridge"]),
    "Auto, around the mean": around(LEARNERS["Auto"]),
}


def files(folder: Path) -> tuple[Experts, Experts]:
    """The weekly and the regional file."""
    return (
        Experts.read(folder / "opera_electric_load_experts.csv", ("week",)),
        Experts.read(folder / "opera_regional_experts.csv", ("time", "rte_dayahead")),
    )


def comparators(e: Experts) -> list[Comparator]:
    """What could have been had with fixed weights."""
    return nr.aggregate(e.forecasts, e.y).hindsight()


def pinball(e: Experts) -> dict[str, list[float]]:
    """Mean pinball loss at each level: by rule, sorted so that none cross, and in hindsight."""
    found: dict[str, list[float]] = {}
    for name, rule in (("MLpol", "mlpol"), ("BOA", "boa")):
        result = nr.aggregate(e.forecasts, e.y, rule=rule, loss="pinball", level=LEVELS)
        found[name] = [float(one.loss.mean()) for one in result.at]
        columns = zip(LEVELS, result.forecast.T)
        found[f"{name}, sorted"] = [
            float(convex("pinball", q).values(g, e.y).mean()) for q, g in columns
        ]
    for found_by_level in zip(*(one.hindsight() for one in result.at)):
        name = found_by_level[0].name.partition(":")[0]
        found[name] = [c.loss / len(e.y) for c in found_by_level]
    return found


def tables(folder: Path) -> list[Shown]:
    """In hindsight and online, published beside ours."""
    weekly, regional = files(folder)
    rows = []
    found = {c.name.partition(":")[0]: c for c in comparators(weekly)}
    for name, (published, _) in WEEKLY.items():
        ours = f"{found[name].rmse:.2f} / {weekly.mape(found[name].forecast) / 100:.6f}"
        rows.append([f"weekly, {name}, RMSE / MAPE", published, ours])
    best = found["best convex"].weights
    assert best is not None
    weights = ", ".join(f"{w:.2f}" for w in best)
    rows.append(["weekly, best convex, weights", WEIGHTS[0], weights])
    said = dict(regional.forecasts) | dict(regional.rest)
    others = {c.name.partition(":")[0]: c for c in comparators(regional)}
    said["uniform"] = others["uniform"].forecast
    for name, (published, _) in REGIONAL.items():
        ours = f"{regional.mape(np.asarray(said[name])):.3f}"
        rows.append([f"regional, {name}, MAPE in %", published, ours])
    online = [["MLpol, published", "1460", "1.38", ""]]
    for name, rule in RULES.items():
        w, g = weekly.rmse(rule(weekly)[0]), rule(regional)[0]
        online.append([name, f"{w:.2f}", f"{regional.mape(g):.3f}", f"{regional.rmse(g):.2f}"])
    notes = [
        "Around the mean: the experts' mean is taken out before and added after.",
        "Weekly: 112 weeks, 3 experts; regional: 398 days, 65 experts. RMSE in MW.",
    ]
    quantiles = []
    for name, means in pinball(regional).items():
        stated = " / ".join(f"{v:.1f}" for v in PINBALL[name]) if name in PINBALL else ""
        quantiles.append([name, stated, " / ".join(f"{v:.1f}" for v in means)])
    heads = ["at levels " + " / ".join(f"{q:g}" for q in LEVELS), "given", "ours"]
    return [
        Shown("In hindsight", ["", "published", "ours"], rows),
        Shown("Online", ["", "weekly RMSE", "regional MAPE, %", "RMSE"], online, notes),
        Shown("Quantiles, regional, mean pinball loss", heads, quantiles),
    ]
