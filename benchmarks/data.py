"""The data files, in a folder beside the project; a benchmark says so when it is not there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data"


def there(folder: Path) -> bool:
    """Whether the folder is there; says a word if not."""
    if folder.is_dir():
        return True
    print("no data folder (../shared/data, or --data): skipped")
    return False


def load(folder: Path, name: str, drop: tuple[str, ...] = ()) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and outcomes in file order; time stamps are not inputs."""
    path = next(p for p in (folder / f"{name}.csv", folder / f"{name}.csv.gz") if p.exists())
    frame = pd.read_csv(path).drop(columns=["time", *drop], errors="ignore")
    values = frame.to_numpy(dtype=np.float64)
    return np.ascontiguousarray(values[:, :-1]), values[:, -1].copy()
