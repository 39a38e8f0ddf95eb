"""A cloud of weighted particles for the posterior of a yes-or-no model."""

from __future__ import annotations

import math

import numba as nb

from noregret._ops import BLOCK, ROW, compiled
from noregret._ops.families import bend
from noregret._ops.sparse import dot
from noregret.types import Matrix, Vector


@compiled(nb.float64(nb.int64, BLOCK, ROW, ROW))
def chance(family: int, cloud: Matrix, logs: Vector, x: Vector) -> float:
    """The weighted mean of P(label 1 | x, w); weights are exp(logs) and add up to 1."""
    total = 0.0
    for i in range(cloud.shape[0]):
        total += math.exp(logs[i] - bend(family, dot(cloud[i], x))[0])
    return total


@compiled(nb.float64(nb.int64, BLOCK, ROW, ROW))
def weigh(family: int, cloud: Matrix, logs: Vector, row: Vector) -> float:
    """Take a round into the weights; return how many particles they are worth."""
    N = cloud.shape[0]
    top = -math.inf
    for i in range(N):
        logs[i] -= bend(family, dot(cloud[i], row))[0]
        top = max(top, logs[i])
    total = square = 0.0
    for i in range(N):
        w = math.exp(logs[i] - top)
        total += w
        square += w * w
    shift = top + math.log(total)
    for i in range(N):
        logs[i] -= shift
    return total * total / square


@compiled(nb.float64(nb.int64, BLOCK, nb.float64, ROW))
def height(family: int, rows: Matrix, a: float, w: Vector) -> float:
    """-F(w), the log posterior up to a constant."""
    total = -0.5 * a * dot(w, w)
    for i in range(rows.shape[0]):
        total -= bend(family, dot(rows[i], w))[0]
    return total


@compiled(nb.int64(nb.int64, BLOCK, nb.float64, BLOCK, BLOCK, BLOCK, BLOCK))
def move(
    family: int,
    rows: Matrix,
    a: float,
    cloud: Matrix,
    root: Matrix,
    noise: Matrix,
    luck: Matrix,
) -> int:
    """Metropolis steps, one a row of `luck`: w + root' noise, accepted by luck; how many were.

    `noise` has a block of as many rows as the cloud for each step.
    """
    N, n = cloud.shape
    trial = noise[0].copy()
    accepted = 0
    for i in range(N):
        here = height(family, rows, a, cloud[i])
        for k in range(luck.shape[0]):
            z = noise[k * N + i]
            for j in range(n):
                trial[j] = cloud[i, j]
            for r in range(n):
                for j in range(n):
                    trial[j] += z[r] * root[r, j]
            there = height(family, rows, a, trial)
            if math.log(luck[k, i]) < there - here:
                here = there
                accepted += 1
                for j in range(n):
                    cloud[i, j] = trial[j]
    return accepted


@compiled(nb.void(nb.int64, BLOCK, nb.float64, BLOCK, ROW))
def heights(family: int, rows: Matrix, a: float, nodes: Matrix, found: Vector) -> None:
    """The log posterior, up to a constant, at every node."""
    for i in range(nodes.shape[0]):
        found[i] = height(family, rows, a, nodes[i])
