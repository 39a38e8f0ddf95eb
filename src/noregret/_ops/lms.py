"""Layer one of K-LMS-NET: kernel LMS for many Gaussian widths at once.

    p_j = sum_s coef_sj exp(-s0 alpha_j |x_s - x|^2)                                    (1)

Patterns lie in tiles of 128, dimension by dimension, and their coefficients node by node, so that
one tile stays in cache.  The nodes' steps alpha_j - alpha_{j-1} take few values, each a power of
two of a unit: a pattern needs one exponential for every second of these values, a square for the
others, and then one product a node.
"""

from __future__ import annotations

import numba as nb

from noregret._ops import BLOCK, ROW, compiled
from noregret._ops.vectors import exponentials
from noregret.types import Integers, Matrix, Vector

TILE = 128
CUBE = nb.float64[:, :, ::1]
LEVELS = nb.int64[::1]
TINY = 1e-290  # a product below counts as 0: what follows would be denormal, and slow
FARTHEST = -800.0  # exponents below are all the same: exp is 0
SUMS = {"nnan", "nsz", "reassoc", "contract"}

# Rows of `work`, each TILE wide.
DISTANCE = 0
POWER = 1
STEPS = 2  # from here on: exp(-s0 step |x_s - x|^2), a row for each size of a step

# Columns of `facts`, a row a pattern.
COUNT = 0  # rounds with this pattern
MEAN = 1  # of their outcomes
SPREAD = 2  # sum of squares about that mean
LAST = 3  # the last round with this pattern
FACTS = 4


@compiled(nb.float64(CUBE, nb.int64, ROW, ROW), fastmath=SUMS, forceinline=False)
def distances(points: Matrix, b: int, x: Vector, out: Vector) -> float:
    """|x_s - x|^2 for a tile of patterns; return the least."""
    for k in range(TILE):
        out[k] = 0.0
    for i in range(x.shape[0]):
        row, xi = points[b, i], x[i]
        for k in range(TILE):
            out[k] += (row[k] - xi) * (row[k] - xi)
    least: float = out[0]
    for k in range(TILE):
        least = min(least, out[k])
    return least


@compiled(nb.int64(CUBE, nb.int64, ROW, ROW), forceinline=False)
def equal(points: Matrix, b: int, x: Vector, distance: Vector) -> int:
    """Which pattern of a tile is x itself; -1 if none (a distance of 0 may have underflowed)."""
    for k in range(TILE):
        if distance[k] == 0.0:
            same = True
            for i in range(x.shape[0]):
                same = same and points[b, i, k] == x[i]
            if same:
                return k
    return -1


@compiled(nb.void(ROW, nb.float64, ROW), fastmath=SUMS, forceinline=False)
def decays(distance: Vector, rate: float, out: Vector) -> None:
    """exp(-rate distance)."""
    for k in range(TILE):
        out[k] = max(-rate * distance[k], FARTHEST)
    exponentials(out, 0.0)


@compiled(nb.void(ROW, ROW, BLOCK, nb.int64, ROW), fastmath=SUMS, forceinline=False)
def advance(power: Vector, step: Vector, coef: Matrix, j: int, out: Vector) -> None:
    """power <- power step; node j gets its product with the coefficients."""
    row, added = coef[j], 0.0
    for k in range(TILE):
        p = power[k] * step[k]
        p = p if p > TINY else 0.0
        added += p * row[k]
        power[k] = p
    out[j] += added


@compiled(nb.void(ROW, ROW, BLOCK, nb.int64, ROW), fastmath=SUMS, forceinline=False)
def advance_by_four(power: Vector, step: Vector, coef: Matrix, j: int, out: Vector) -> None:
    """The same for nodes j to j + 3 after equal steps: the powers stay in registers."""
    one, two, three, four = coef[j], coef[j + 1], coef[j + 2], coef[j + 3]
    a = b = c = d = 0.0
    for k in range(TILE):
        e = step[k]
        p = power[k] * e
        p = p if p > TINY else 0.0
        a += p * one[k]
        p *= e
        p = p if p > TINY else 0.0
        b += p * two[k]
        p *= e
        p = p if p > TINY else 0.0
        c += p * three[k]
        p *= e
        p = p if p > TINY else 0.0
        d += p * four[k]
        power[k] = p
    out[j] += a
    out[j + 1] += b
    out[j + 2] += c
    out[j + 3] += d


@compiled(nb.int64(CUBE, CUBE, nb.int64, ROW, BLOCK, LEVELS, BLOCK, ROW), forceinline=False)
def outputs(
    points: Matrix,
    coefs: Matrix,
    size: int,
    x: Vector,
    rates: Matrix,
    levels: Integers,
    work: Matrix,
    out: Vector,
) -> int:
    """(1) for every node; return which pattern x is, -1 if it is new.

    rates: for each kind of step its s0 step, and 1.0 if it is twice the one before.
    levels: of which kind the step to node j is.
    """
    J, match = out.shape[0], -1
    distance, power = work[DISTANCE], work[POWER]
    out[:] = 0.0
    for b in range((size + TILE - 1) // TILE):
        if distances(points, b, x, distance) == 0.0 and match < 0:
            k = equal(points, b, x, distance)
            if 0 <= k < size - b * TILE:
                match = b * TILE + k
        for q in range(rates.shape[0]):
            if rates[q, 1] == 1.0:
                row, half = work[STEPS + q], work[STEPS + q - 1]
                for k in range(TILE):
                    row[k] = half[k] * half[k]
            else:
                decays(distance, rates[q, 0], work[STEPS + q])
        coef = coefs[b]
        added = 0.0
        for k in range(TILE):
            power[k] = 1.0
            added += coef[0, k]
        out[0] += added
        j = 1
        while j < J:
            step = work[STEPS + levels[j]]
            run = j + 4 <= J and levels[j] == levels[j + 1] == levels[j + 2] == levels[j + 3]
            if run:
                advance_by_four(power, step, coef, j, out)
                j += 4
            else:
                advance(power, step, coef, j, out)
                j += 1
    return match


@compiled(nb.void(BLOCK, nb.int64, nb.float64))
def remember(facts: Matrix, slot: int, y: float) -> None:
    """The outcomes of a pattern: how many, their mean, the squares about it (Welford)."""
    fact = facts[slot]
    fact[COUNT] += 1.0
    off = y - fact[MEAN]
    fact[MEAN] += off / fact[COUNT]
    fact[SPREAD] += off * (y - fact[MEAN])


@compiled(nb.void(CUBE, CUBE, BLOCK, nb.int64, nb.int64, ROW, ROW, nb.float64, nb.float64))
def keep(
    points: Matrix,
    coefs: Matrix,
    facts: Matrix,
    slot: int,
    known: int,
    x: Vector,
    out: Vector,
    y: float,
    eta: float,
) -> None:
    """(3): eta (y - p_j) goes to the coefficients of x, in its slot; `known` if it is there."""
    b, k = slot // TILE, slot % TILE
    if known == 0:
        for i in range(x.shape[0]):
            points[b, i, k] = x[i]
        for j in range(out.shape[0]):
            coefs[b, j, k] = 0.0
        facts[slot, :] = 0.0
    for j in range(out.shape[0]):
        coefs[b, j, k] += eta * (y - out[j])  # unclipped
    remember(facts, slot, y)


@compiled(nb.int64(BLOCK, nb.int64))
def oldest(facts: Matrix, size: int) -> int:
    """The pattern that was met longest ago."""
    slot = 0
    for s in range(1, size):
        if facts[s, LAST] < facts[slot, LAST]:
            slot = s
    return slot


@compiled(nb.void(BLOCK, ROW, nb.float64, BLOCK))
def follow(gram: Matrix, ys: Vector, eta: float, outs: Matrix) -> None:
    """One node over many rounds: p_t += eta sum_{s<t} (y_s - p_s) k(x_s, x_t), in outs[0].

    outs[0] holds what patterns before these rounds say; outs[1] gets eta (y - p).
    """
    p, steps = outs[0], outs[1]
    for t in range(ys.shape[0]):
        added = 0.0
        for s in range(t):
            added += steps[s] * gram[s, t]
        p[t] += added
        steps[t] = eta * (ys[t] - p[t])
