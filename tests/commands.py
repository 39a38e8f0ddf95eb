"""Running the command line inside the test process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from noregret.cli import call

__all__ = ["flat", "forecasts", "narrow", "noregret", "shown", "stream", "write"]


def noregret(*arguments: Any) -> int:
    return call([str(argument) for argument in arguments])


def shown(capsys: Any, *arguments: object) -> str:
    """What a command prints that goes well."""
    capsys.readouterr()
    assert noregret(*arguments) == 0
    return str(capsys.readouterr().out)


def narrow(capsys: Any, *arguments: object) -> str:
    """The same, within 80 columns."""
    text = shown(capsys, *arguments)
    assert max(map(len, text.splitlines())) <= 80
    return text


def flat(text: str) -> str:
    """Without the breaks of long lines."""
    return text.replace("\n    ", " ")


def stream(T: int = 200, seed: int = 0) -> pl.DataFrame:
    """Numbers and a text column that gets new values now and then."""
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((2, T))
    colours = ["red", "green", "blue", "violet"]
    colour = [colours[min(int(t * 5 / T), int(rng.integers(0, 4)))] for t in range(T)]
    y = a - 2.0 * b + np.array([colours.index(c) for c in colour]) + 0.1 * rng.standard_normal(T)
    return pl.DataFrame({"a": a, "b": b, "colour": colour, "y": np.clip(y, -9.0, 9.0)})


def write(frame: pl.DataFrame, path: Path) -> Path:
    """In the format of the path's ending."""
    match path.suffix:
        case ".csv":
            frame.write_csv(path)
        case ".parquet":
            frame.write_parquet(path)
        case ".arrow":
            frame.write_ipc(path, compat_level=pl.CompatLevel.oldest())
        case ".jsonl":
            rows = (json.dumps(row) for row in frame.to_dicts())
            path.write_text("\n".join(rows) + "\n")
    return path


def forecasts(path: Path) -> np.ndarray:
    if path.suffix == ".parquet":
        return pl.read_parquet(path)["forecast"].to_numpy()
    return pl.read_csv(path)["forecast"].to_numpy()
