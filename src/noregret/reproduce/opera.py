"""French electricity load, merged: what the R package opera publishes, and ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import noregret as nr
from noregret.reproduce.merging import LEARNERS, Experts, around, mlpol, pool
from noregret.reproduce.shown import Shown

__all__ = ["MAPE", "REGIONAL", "RMSE", "WEEKLY", "WEIGHTS", "comparators", "files", "tables"]

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

RULES = {
    "MLpol, opera's default, written anew": mlpol,
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


def comparators(e: Experts) -> Any:
    """What could have been had with fixed weights."""
    return nr.aggregate(e.forecasts, e.y).hindsight()


def tables(folder: Path) -> list[Shown]:
    """In hindsight and online, published beside ours."""
    weekly, regional = files(folder)
    rows = []
    found = {c.name.partition(":")[0]: c for c in comparators(weekly)}
    for name, (published, _) in WEEKLY.items():
        ours = f"{found[name].rmse:.2f} / {weekly.mape(found[name].forecast) / 100:.6f}"
        rows.append([f"weekly, {name}, RMSE / MAPE", published, ours])
    weights = ", ".join(f"{w:.2f}" for w in found["best convex"].weights)
    rows.append(["weekly, best convex, weights", WEIGHTS[0], weights])
    said = dict(regional.forecasts) | dict(regional.rest)
    others = {c.name.partition(":")[0]: c for c in comparators(regional)}
    said["uniform"] = others["uniform"].forecast
    for name, (published, _) in REGIONAL.items():
        ours = f"{regional.mape(np.asarray(said[name])):.3f}"
        rows.append([f"regional, {name}, MAPE in %", published, ours])
    online = [["MLpol, published", "1460", "1.38"]]
    for name, rule in RULES.items():
        w, r = weekly.rmse(rule(weekly)[0]), regional.mape(rule(regional)[0])
        online.append([name, f"{w:.2f}", f"{r:.3f}"])
    notes = [
        "Around the mean: the experts' mean is taken out before and added after.",
        "Weekly: 112 weeks, 3 experts; regional: 398 days, 65 experts. RMSE in MW.",
    ]
    return [
        Shown("In hindsight", ["", "published", "ours"], rows),
        Shown("Online", ["", "weekly RMSE", "regional MAPE, %"], online, notes),
    ]
