"""How kernel LMS and K-LMS-NET are stored: patterns, coefficients, what every node has paid.

Nodes, steps and the audits' polynomials are made anew from their number.  The widths are stored
all the same, and must be those: coefficients belong to them.  Room to grow is not stored.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from noregret._ops.continuum import (
    BOOK,
    BOX,
    BUDGETS,
    CELLS,
    COUNTS,
    ERROR,
    GAME,
    PAID,
    PEAK,
    PRIOR,
    RANGE,
    RATE,
    WORST,
)
from noregret._ops.layout import LARGEST_FEATURE, LARGEST_OUTCOME
from noregret._ops.lms import COUNT, FACTS, LAST, MEAN, SPREAD, TILE
from noregret._ops.mixing import NARROW
from noregret.inputs.kernel_spaces import KernelInputs
from noregret.kernels import Kernel
from noregret.lms import kernel_lms
from noregret.lms.family import FamilyNetState
from noregret.lms.gaussians import AUDITS, GaussianNetState, NetGame
from noregret.lms.kernel_lms import Held
from noregret.lms.kernels import KernelLayer, pattern_key
from noregret.lms.nodes import FEWEST, MOST, grid
from noregret.lms.rates import SLOWEST
from noregret.lms.totals import Budgets
from noregret.losses import LARGEST
from noregret.snapshot.kinds import LARGEST_COUNT, Fields, Writer, register
from noregret.snapshot.spaces import read_points, write_points
from noregret.snapshot.values import spread
from noregret.types import Matrix

__all__ = ["read_kernel_lms", "read_net", "write_kernel_lms", "write_net"]

HUGE = 1e300


def _counts(*values: Any) -> bool:
    """Whether these are whole numbers that float64 can count with."""
    return all(
        bool(((v >= 0.0) & (v <= LARGEST_COUNT) & (v == np.floor(v))).all())
        for v in map(np.asarray, values)
    )


def _patterns(f: Fields, facts: Matrix, rounds: int, window: int) -> None:
    """Whether facts are those of patterns that a stream of so many rounds has left."""
    size, counts, last = len(facts), facts[:, COUNT], facts[:, LAST]
    if not (1 <= size <= rounds and (window == 0 or size <= window)):
        raise f.wrong(f"has {size} patterns after {rounds} rounds")
    if not (_counts(counts, last) and counts.min() >= 1.0 and last.min() >= 1.0):
        raise f.wrong("counts rounds that are none")
    if last.max() > rounds or np.unique(last).size != size:
        raise f.wrong("has two patterns in one round, or one that is still to come")
    counted = counts.sum()
    if counted > rounds or (window == 0 and counted != rounds):
        raise f.wrong(f"has {counted:.0f} rounds of {rounds}")
    means = np.abs(facts[:, MEAN])
    if not ((means <= LARGEST_OUTCOME).all() and (facts[:, SPREAD] >= 0.0).all()):
        raise f.wrong("has outcomes that are none")


# Any kernel ---------------------------------------------------------------------------------


def _write_layer(w: Writer, layer: KernelLayer) -> dict[str, Any]:
    return {
        "inputs": w.thing(layer.inputs),
        "points": write_points(w, layer.patterns(), layer.inputs),
        "coefs": w.numbers(layer.coefs[:, : layer.size]),
        "facts": w.numbers(layer.facts[: layer.size]),
        "rounds": layer.rounds,
    }


def _read_layer(f: Fields) -> KernelLayer:
    inputs = f.thing("inputs", KernelInputs)
    points = read_points(f, "points", inputs)
    size, nodes = len(points), f.shape("coefs", 2)[0]
    coefs, facts = f.numbers("coefs", nodes, size), f.numbers("facts", size, FACTS, finite=False)
    rounds = f.whole("rounds", 1)
    f.done()
    if isinstance(points, list) != (inputs.space is None):
        raise f.wrong("has no patterns")
    if inputs.space is not None and points.size and np.abs(points).max() > LARGEST_FEATURE:
        raise f.wrong("has a pattern that could not have been learned")
    spread(map(pattern_key, points))
    layer = KernelLayer(inputs, points, coefs, facts, size, rounds)
    if len(layer._index) != sum(pattern_key(x) is not None for x in points):
        raise f.wrong("has a pattern twice")
    return layer


register(KernelLayer, _write_layer, _read_layer)


def write_kernel_lms(w: Writer, held: Held) -> Any:
    """The state of KernelLMS."""
    budgets = held.budgets
    return {
        "kernel": w.thing(held.kernel),
        "layer": w.thing(held.layer),
        "book": w.numbers(held.book),
        "eta": held.eta,
        "window": held.window,
        "loss_budget": 0.0 if budgets is None else budgets.loss,
        "norm_budget": 0.0 if budgets is None else budgets.norm,
        "peak": held.peak,
    }


def read_kernel_lms(f: Fields, _: Any) -> Held:
    """The state of KernelLMS."""
    kernel, layer = f.thing("kernel", Kernel), f.thing("layer", KernelLayer)
    book, eta = f.numbers("book", 2, 2, finite=False), f.number("eta", SLOWEST, HUGE)
    window = f.whole("window")
    given = f.number("loss_budget", 0.0, HUGE), f.number("norm_budget", 0.0, HUGE)
    peak = f.number("peak", 1e-300, HUGE)
    f.done()
    if len(layer.coefs) != 1:
        raise f.wrong(f"has {len(layer.coefs)} functions")
    if not (0.0 <= book[kernel_lms.PEAK, 0] < np.inf and book[kernel_lms.LOSS, 0] >= 0.0):
        raise f.wrong("has a loss or a peak that is none")
    if (given[0] > 0.0) != (given[1] > 0.0):
        raise f.wrong("has one budget without the other")
    _patterns(f, layer.facts, layer.rounds, window)
    return Held(kernel, layer, book, eta, window, Budgets(*given) if given[1] else None, peak)


# Nets ---------------------------------------------------------------------------------------


def write_net(w: Writer, held: Any) -> Any:
    """The state of KLMSNet."""
    return {"net": w.thing(held)}


def read_net(f: Fields, _: Any) -> Any:
    """The state of KLMSNet."""
    net = f.thing("net", GaussianNetState, FamilyNetState)
    f.done()
    return net


def _write_nodes(w: Writer, held: GaussianNetState | FamilyNetState) -> dict[str, Any]:
    return {
        "alphas": w.numbers(held.alphas),
        "cells": w.numbers(held.cells),
        "finer": w.numbers(held.finer),
        "book": w.numbers(held.book),
    }


def _read_nodes(f: Fields) -> tuple[Any, Any, Any, Any]:
    """Widths, cells of the nodes and of the audits, and the book."""
    (J,), audits = f.shape("alphas", 1), f.shape("finer", 3)[0]
    if not FEWEST <= J <= MOST or audits not in (0, AUDITS):
        raise f.wrong(f"has {J} nodes and {audits} audits")
    alphas, cells = f.numbers("alphas", J), f.numbers("cells", CELLS, J)
    rule = grid(J)
    if not np.array_equal(alphas, rule.alphas):
        raise f.wrong("has other widths than these nodes have here")
    finer = f.numbers("finer", audits, CELLS, rule.finer.size)
    book = f.numbers("book", BOOK, 2)
    for some in (cells, *finer):
        priors = np.exp(np.minimum(some[PRIOR], 1.0))  # all are below 0, if they are right
        if not (some[PAID] >= 0.0).all() or abs(priors.sum() - 1.0) > 1e-9:
            raise f.wrong("has weights that do not add up to 1, or a loss below 0")
    return rule.alphas, cells, finer, book


def _book(f: Fields, book: Matrix) -> tuple[int, int, int]:
    """Rounds, patterns and window of a book in which everything is possible."""
    (low, high), (price, substitution), (eta, window) = book[[RANGE, GAME, RATE]].tolist()
    (rounds, size), (peak, forgotten) = book[[COUNTS, PEAK]].tolist()
    if not _counts(rounds, size, window, forgotten, book[WORST, 1]):
        raise f.wrong("counts rounds or patterns that are none")
    if not 1.0 <= book[WORST, 1] <= rounds or forgotten > rounds:
        raise f.wrong("knows of a round that is still to come")
    if not (abs(low) <= LARGEST and abs(high) <= LARGEST and NARROW <= high - low <= LARGEST):
        raise f.wrong("has a range that is none")
    game = NetGame(low, high, eta, substitution == 1.0, int(window), (0.0, 0.0), audit=True)
    if substitution not in (0.0, 1.0) or price != game.price:
        raise f.wrong("has another price than its game")
    if not (SLOWEST <= eta <= HUGE and peak >= 0.0 and (book[ERROR] >= 0.0).all()):
        raise f.wrong("has a rate, a peak or an error that is none")
    L_hat, H_hat = book[BUDGETS].tolist()
    if not (0.0 <= L_hat <= HUGE and 0.0 <= H_hat <= HUGE and (L_hat > 0.0) == (H_hat > 0.0)):
        raise f.wrong("has budgets that are none")
    return int(rounds), int(size), int(window)


def _write_gaussians(w: Writer, held: GaussianNetState) -> dict[str, Any]:
    size, J = held.size, held.alphas.size
    return {
        "inputs": w.thing(held.inputs),
        "scale": held.scale,
        **_write_nodes(w, held),
        "points": w.numbers(held.patterns()),
        "coefs": w.numbers(held.coefs.transpose(1, 0, 2).reshape(J, -1)[:, :size]),
        "facts": w.numbers(held.facts[:size]),
    }


def _read_gaussians(f: Fields) -> GaussianNetState:
    inputs, scale = f.thing("inputs", KernelInputs), f.number("scale", 1e-300, HUGE)
    alphas, cells, finer, book = _read_nodes(f)
    rounds, size, window = _book(f, book)
    if inputs.space is None:
        raise f.wrong("has objects where vectors are due")
    n, J = inputs.space.size, alphas.size
    points, coefs = f.numbers("points", size, n), f.numbers("coefs", J, size)
    facts = f.numbers("facts", size, FACTS)
    f.done()
    _patterns(f, facts, rounds, window)
    low, high = book[BOX].tolist()
    if not -LARGEST_FEATURE <= low <= high <= LARGEST_FEATURE:
        raise f.wrong("has a box that is none")
    if points.size and not (low <= points.min() and points.max() <= high):
        raise f.wrong("has a pattern outside of its box")
    if book[RATE, 0] >= 1.0 or (book[PEAK, 1] > 0.0) != (facts[:, COUNT].sum() < rounds):
        raise f.wrong("has a rate that no net has, or has forgotten what it has not")
    tiles = -(-size // TILE)
    room = tiles * TILE - size
    points = np.pad(points, ((0, room), (0, 0))).reshape(tiles, TILE, n).transpose(0, 2, 1)
    coefs = np.pad(coefs, ((0, 0), (0, room))).reshape(J, tiles, TILE).transpose(1, 0, 2)
    rule = grid(J)
    return GaussianNetState(
        *(inputs, scale, alphas, rule.rates(scale), rule.levels),
        *(np.ascontiguousarray(points), np.ascontiguousarray(coefs)),
        *(np.pad(facts, ((0, room), (0, 0))), cells, finer, book),
    )


register(GaussianNetState, _write_gaussians, _read_gaussians, "Gaussians")


def _write_family(w: Writer, held: FamilyNetState) -> dict[str, Any]:
    return {
        "family": w.value(held.family, "family"),
        "layer": w.thing(held.layer),
        **_write_nodes(w, held),
    }


def _read_family(f: Fields) -> FamilyNetState:
    family, layer = f.value("family"), f.thing("layer", KernelLayer)
    alphas, cells, finer, book = _read_nodes(f)
    f.done()
    rounds, size, window = _book(f, book)
    if not callable(family):
        raise f.wrong("has no function")
    if len(layer.coefs) != alphas.size or (layer.size, layer.rounds) != (size, rounds):
        raise f.wrong("has a layer of another size")
    _patterns(f, layer.facts, rounds, window)
    if book[PEAK, 1] != rounds - layer.facts[:, COUNT].sum():
        raise f.wrong("has forgotten what it has not")
    return FamilyNetState(family, layer, alphas, cells, finer, book)


register(FamilyNetState, _write_family, _read_family, "KernelFamily")
