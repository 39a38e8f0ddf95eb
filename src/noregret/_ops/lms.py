"""Layer one of K-LMS-NET: kernel LMS for many Gaussian widths at once.

    p_j = sum_s coef_sj exp(-s0 alpha_j |x_s - x|^2)                                    (1)

Patterns lie in tiles of 256, dimension by dimension, and their coefficients node by node, so that
one tile stays in cache.  The nodes' steps alpha_j - alpha_{j-1} take few values, each a power of
two of a unit: a pattern needs an exponential for every third of these values or so, squares for
the others, and then one product a node.
"""

from __future__ import annotations

import numba as nb

from noregret._ops import BLOCK, ROW, compiled
from noregret._ops.vectors import exponentials, total
from noregret.types import Integers, Matrix, Vector

TILE = 256
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


@compiled(nb.void(ROW, nb.float64, ROW), fastmath=SUMS, forceinline=False)
def squares(half: Vector, times: float, out: Vector) -> None:
    """The step of twice the size, or of four times."""
    for k in range(TILE):
        e = half[k] * half[k]
        out[k] = e if times == 1.0 else e * e


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
def advance_by_eight(power: Vector, step: Vector, coef: Matrix, j: int, out: Vector) -> None:
    """The same for nodes j to j + 7 after equal steps: the powers stay in registers."""
    c0, c1, c2, c3 = coef[j], coef[j + 1], coef[j + 2], coef[j + 3]
    c4, c5, c6, c7 = coef[j + 4], coef[j + 5], coef[j + 6], coef[j + 7]
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    for k in range(TILE):
        e = step[k]
        p = power[k] * e
        s0 += p * c0[k]
        p *= e
        s1 += p * c1[k]
        p *= e
        s2 += p * c2[k]
        p *= e
        s3 += p * c3[k]
        p *= e
        p = p if p > TINY else 0.0
        s4 += p * c4[k]
        p *= e
        s5 += p * c5[k]
        p *= e
        s6 += p * c6[k]
        p *= e
        s7 += p * c7[k]
        power[k] = p if p > TINY else 0.0
    out[j] += s0
    out[j + 1] += s1
    out[j + 2] += s2
    out[j + 3] += s3
    out[j + 4] += s4
    out[j + 5] += s5
    out[j + 6] += s6
    out[j + 7] += s7


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

    rates: for each kind of step its s0 step, and how often to square the one before it to get it.
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
            if rates[q, 1] == 0.0:
                decays(distance, rates[q, 0], work[STEPS + q])
            else:
                squares(work[STEPS + q - 1], rates[q, 1], work[STEPS + q])
        coef = coefs[b]
        power[:] = 1.0
        out[0] += total(coef[0])  # alpha = 0
        j = 1
        while j < J:
            step = work[STEPS + levels[j]]
            run = 1  # equal steps ahead
            while run < 8 and j + run < J and levels[j + run] == levels[j]:
                run += 1
            if run == 8:
                advance_by_eight(power, step, coef, j, out)
                j += 8
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
