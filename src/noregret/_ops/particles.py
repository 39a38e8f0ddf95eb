"""A cloud of weighted particles for the posterior of a yes-or-no model."""

from __future__ import annotations

import math

import numba as nb

from noregret._ops import BLOCK, ROW, compiled
from noregret._ops.families import bend
from noregret._ops.sparse import dot
from noregret.types import Matrix, Vector


@compiled(nb.float64(nb.int64, BLOCK, ROW, ROW))
def price(family: int, cloud: Matrix, logs: Vector, row: Vector) -> float:
    """-ln of the weighted mean of P(row's label | w); weights are exp(logs) and add up to 1.

    Where the mean is above 1/2, what it lacks to 1 is added up instead: neither end is lost.
    """
    least, most, missing = math.inf, -math.inf, 0.0
    for i in range(cloud.shape[0]):
        z = dot(cloud[i], row)
        loss = bend(family, z)[0] - logs[i]
        least = min(least, loss)
        most = max(most, loss)
        missing += math.exp(logs[i] - bend(family, -z)[0])
    if not most < math.inf:
        return math.nan
    if missing < 0.5:
        return -math.log1p(-missing)
    total = 0.0
    for i in range(cloud.shape[0]):
        total += math.exp(least - bend(family, dot(cloud[i], row))[0] + logs[i])
    return max(least - math.log(total), 0.0)


@compiled(nb.float64(nb.int64, BLOCK, ROW, ROW, nb.float64))
def weigh(family: int, cloud: Matrix, logs: Vector, row: Vector, part: float) -> float:
    """Take a power of a round's likelihood into the weights; how many particles they are worth."""
    N = cloud.shape[0]
    top = -math.inf
    for i in range(N):
        logs[i] -= part * bend(family, dot(cloud[i], row))[0]
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


@compiled(nb.float64(nb.int64, BLOCK, ROW, ROW, nb.float64, nb.float64))
def bearable(
    family: int, cloud: Matrix, logs: Vector, row: Vector, most: float, least: float
) -> float:
    """The largest most/2^k that leaves the weights worth a fifth of the particles.

    From `least` on it is taken as it is: a cloud that is still too wide then loses particles.
    """
    part = most
    while part > least:
        tried = logs.copy()
        if weigh(family, cloud, tried, row, part) >= 0.2 * cloud.shape[0]:
            break
        part *= 0.5
    return part


@compiled(nb.float64(nb.int64, BLOCK, nb.float64, nb.float64, ROW))
def height(family: int, rows: Matrix, a: float, part: float, w: Vector) -> float:
    """-F(w), the log posterior up to a constant; the last row counts for `part` of a row."""
    total, last = -0.5 * a * dot(w, w), rows.shape[0] - 1
    for i in range(last):
        total -= bend(family, dot(rows[i], w))[0]
    return total - part * bend(family, dot(rows[last], w))[0]


@compiled(nb.int64(nb.int64, BLOCK, nb.float64, nb.float64, BLOCK, BLOCK, BLOCK, BLOCK))
def move(
    family: int,
    rows: Matrix,
    a: float,
    part: float,
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
        here = height(family, rows, a, part, cloud[i])
        for k in range(luck.shape[0]):
            z = noise[k * N + i]
            for j in range(n):
                trial[j] = cloud[i, j]
            for r in range(n):
                for j in range(n):
                    trial[j] += z[r] * root[r, j]
            there = height(family, rows, a, part, trial)
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
        found[i] = height(family, rows, a, 1.0, nodes[i])
