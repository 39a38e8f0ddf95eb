"""The alphabet of charts: lines, bands and bars as page.js takes them, in as few digits as do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from noregret.types import Integers, Json, Vector

__all__ = ["HUES", "Drawn", "Points", "band", "bars", "between", "hue", "line", "numbers", "view"]

Drawn: TypeAlias = Json
"""A series, a view or a chart, as JSON has it."""
Points = tuple[ArrayLike, ArrayLike]
HUES = 8
"""Colours of page.css; learners beyond them are dashed."""


def numbers(values: ArrayLike) -> list[float | int | None]:
    """As JSON has them: six digits, None where there is no number."""
    return [_number(v) for v in np.asarray(values).tolist()]


def _number(value: float | int) -> float | int | None:
    if isinstance(value, int):
        return value
    return float(f"{value:.6g}") if math.isfinite(value) else None


def steps(x: ArrayLike) -> list[float | int | None]:
    """Where points are: the first, then how far it is to the next, which takes fewer digits."""
    return numbers(np.diff(np.asarray(x), prepend=0))


def line(name: str, x: ArrayLike, y: ArrayLike, colour: int | str, **more: object) -> Drawn:
    """A series of points."""
    return {"kind": "line", "name": name, "c": colour, "dx": steps(x), "y": numbers(y)} | more


def band(name: str, upper: Points, lower: Points, colour: int | str, **more: object) -> Drawn:
    """What lies between two lines, each a pair (x, y)."""
    (x, y), (x2, y2) = upper, lower
    sides = {"dx": steps(x), "y": numbers(y), "dx2": steps(x2), "y2": numbers(y2)}
    return {"kind": "band", "name": name, "c": colour} | sides | more


def between(name: str, upper: str, lower: str, colour: int | str, **more: object) -> Drawn:
    """What lies between two lines of the same view, by name."""
    return {"kind": "band", "name": name, "c": colour, "upper": upper, "lower": lower} | more


def bars(
    name: str,
    heights: Sequence[float] | Vector | Integers,
    colour: int | str,
    edges: Vector | None = None,
) -> Drawn:
    """A histogram over [0, 1], its bars equally wide unless edges are given."""
    edges = np.linspace(0.0, 1.0, len(heights) + 1) if edges is None else edges
    return {"kind": "bars", "name": name, "c": colour, "dx": steps(edges), "y": numbers(heights)}


def view(label: str, series: list[Drawn], y: str, **more: object) -> Drawn:
    """One picture of a chart."""
    return {"label": label, "x": "row", "y": y, "series": series} | more


def hue(k: int) -> Drawn:
    """The colour of the k-th learner."""
    return {"colour": k % HUES} if k < HUES else {"colour": k % HUES, "dash": "long"}
