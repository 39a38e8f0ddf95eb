"""What checkpoints say of one thing over the rows, as arrays: for charts and plots."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from noregret.certificates import Certificate
from noregret.running.recording import Checkpoint, Recording
from noregret.types import Integers, Matrix, Vector

__all__ = ["Paths", "Sides", "coefficients", "compares", "sides", "weights"]


class Sides(NamedTuple):
    """A theorem over the rows: both sides, and the certificate at the end."""

    rows: Integers
    loss: Vector
    best: Vector
    bound: Vector  # NaN where nothing is claimed
    last: Certificate

    @property
    def label(self) -> str:
        """What the bound is called."""
        names = {"equality": "the other side", "report": "the formula, not a claim"}
        return names.get(self.last.kind, "bound")


class Paths(NamedTuple):
    """Some numbers by name over the rows; `table` has one row per checkpoint."""

    rows: Integers
    names: list[str]
    table: Matrix
    others: int  # how many were left out


def compares(one: Certificate) -> bool:
    """Whether there is another side: a report without a theorem repeats the loss."""
    return one.kind != "report" or one.bound != one.loss


def sides(run: Recording) -> list[Sides]:
    """The first theorems of a learner, the main one first; none with fewer than two checkpoints."""
    path = [one for one in run.path() if one.certificates]
    found = []
    for last in path[-1].certificates if path else ():
        same = [(one.row, c) for one in path for c in one.certificates if c.name == last.name]
        bounds = [math.nan if c.bound is None else c.bound for _, c in same]
        made = Sides(
            np.array([row for row, _ in same]),
            np.array([c.loss for _, c in same]),
            np.array([c.comparator for _, c in same]),
            np.array(bounds),
            last,
        )
        if len(same) > 1 and np.isfinite(made.best).any() and compares(last):
            found.append(made)
    return found


def coefficients(run: Recording, most: int) -> Paths | None:
    """The coefficients that were largest at any moment; NaN before a feature had come."""
    path = [one for one in run.path() if one.coefficients is not None]
    names = run.names()
    if not names or len(path) < 2:
        return None
    table = np.full((len(path), len(names)), np.nan)
    for row, one in zip(table, path):
        assert one.coefficients is not None
        row[: one.coefficients.size] = one.coefficients
    order = np.argsort(-np.nanmax(np.abs(table), axis=0), kind="stable")[:most]
    return _picked(path, names, table, order)


def weights(run: Recording, most: int) -> Paths | None:
    """The weights of the experts that were heaviest on the whole, the heaviest at the end first."""
    path = [one for one in run.path() if one.weights]
    if len(path) < 2:
        return None
    names = list(path[-1].weights or {})
    table = np.array([[(one.weights or {}).get(name, 0.0) for name in names] for one in path])
    order = np.argsort(-table.mean(axis=0), kind="stable")[:most]
    order = order[np.argsort(-table[-1, order], kind="stable")]
    return _picked(path, names, table, order)


def _picked(path: list[Checkpoint], names: list[str], table: Matrix, order: Integers) -> Paths:
    rows = np.array([one.row for one in path])
    return Paths(rows, [names[j] for j in order], table[:, order], len(names) - len(order))
