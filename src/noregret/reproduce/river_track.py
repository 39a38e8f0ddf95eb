"""river's regression track: published figures beside ours, same files, predict then learn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

import noregret as nr
from noregret.reproduce.shown import Shown
from noregret.running.player import Playable
from noregret.types import Matrix, Vector

__all__ = ["tables"]

# MAE, RMSE, R2 of October 2023, the last that river's pages had.
PUBLISHED = {
    "chick_weights": {
        "linear regression, SGD 0.01": (23.7587, 37.0377, 0.728),
        "linear regression, l1 = 1": (23.7577, 37.0780, 0.727),
        "passive-aggressive, mode 1": (24.3423, 37.5960, 0.720),
        "k nearest neighbours": (24.8406, 39.2016, 0.695),
        "Hoeffding tree": (23.1619, 36.7336, 0.732),
        "adaptive random forest": (26.1016, 40.8094, 0.670),
        "Mondrian forest": (25.6742, 41.7123, 0.655),
        "bagging": (23.1143, 36.6311, 0.734),
        "mean": (50.2509, 71.1144, -0.003),
    },
    "trump_approval": {
        "linear regression, SGD 0.01": (1.31455, 3.91198, -4.230),
        "linear regression, l1 = 1": (1.15377, 3.82872, -4.010),
        "passive-aggressive, mode 1": (4.98403, 6.97667, -15.64),
        "k nearest neighbours": (0.641679, 1.59417, 0.131),
        "Hoeffding tree": (0.956103, 2.24987, -0.730),
        "adaptive random forest": (0.800378, 2.11495, -0.529),
        "Mondrian forest": (0.268533, 0.349421, 0.958),
        "bagging": (0.908203, 2.23718, -0.711),
        "mean": (1.56755, 2.20286, -0.658),
    },
}
OURS: dict[str, Callable[[], Playable]] = {
    "Ridge": lambda: nr.Ridge(fit_intercept=True),
    "AAR": lambda: nr.AAR(fit_intercept=True),
    "Ridge, drift 0.001": lambda: nr.Ridge(drift=1e-3, fit_intercept=True),
    "Auto": nr.Auto,
}


def tables(files: dict[str, tuple[Matrix, Vector]]) -> list[Shown]:
    """By file: MAE, RMSE and R2, the best RMSE first."""
    shown = []
    for name, (X, y) in files.items():
        found = {f"river, {k}, published": v for k, v in PUBLISHED[name].items()}
        for label, make in OURS.items():
            e = y - make().replay(X, y).forecast
            fit = 1.0 - float((e * e).sum() / ((y - y.mean()) ** 2).sum())
            figures = (float(np.abs(e).mean()), float(np.sqrt(np.mean(e * e))), fit)
            found[f"noregret, {label}, ours"] = figures
        rows = [
            [label, f"{mae:#.4g}", f"{rmse:#.4g}", f"{fit:.3f}"]
            for label, (mae, rmse, fit) in sorted(found.items(), key=lambda item: item[1][1])
        ]
        shown.append(Shown(f"{name}: {len(y):,} rounds", ["", "MAE", "RMSE", "R2"], rows))
    shown[-1].notes.append(
        "river's models have a scaler before them (but for the Mondrian forest); ours have the "
        "features as they are. Round 1 counts: ours forecast 0 there."
    )
    return shown


def paths(folder: Path) -> dict[str, Path]:
    """The files of the track."""
    return {name: folder / f"{name}.csv" for name in PUBLISHED}
