"""How pools are stored: their experts, their book; and Auto's cells and units."""

from __future__ import annotations

from typing import Any

import numpy as np

from noregret._ops import mixing
from noregret._ops.layout import OUTCOMES
from noregret._ops.mixing import AVERAGED, BOOK_ROWS, LIKELIHOOD, NARROW, POOL_ROWS, SUBSTITUTED
from noregret.errors import SnapshotError
from noregret.experts.auto import State
from noregret.experts.core_grid import CoreGrid
from noregret.experts.members import Estimator, Function, Learner, NamedForecast
from noregret.experts.pool import Pool
from noregret.experts.units import Units
from noregret.gaussian.cores import DriftCore
from noregret.inputs.values import abbreviated
from noregret.losses import LARGEST, Game
from noregret.snapshot.kinds import BY_TYPE, Fields, Writer, register
from noregret.snapshot.spaces import MAPS, SPACES, width
from noregret.snapshot.streams import read_drifting, read_fixed, write_core
from noregret.snapshot.values import spread

__all__ = ["MEMBERS", "read_members", "write_members"]

KINDS = {"square": (SUBSTITUTED, AVERAGED), "brier": (SUBSTITUTED,), "log": (LIKELIHOOD,)}
MEMBERS = (NamedForecast, Function, Learner)

# Pools --------------------------------------------------------------------------------------


def _write_game(_: Writer, game: Game) -> dict[str, Any]:
    return {
        "loss": game.loss,
        "kind": game.kind,
        "span": None if game.span is None else list(map(float, game.span)),
        "scale": float(game.scale),
    }


def _read_game(f: Fields) -> Game:
    loss = f.text("loss", KINDS)
    kind = f.whole("kind", 0, LIKELIHOOD)
    span, _ = f.kept("span")
    scale = f.number("scale", 1e-300, 1e300)
    f.done()
    if kind not in KINDS[loss] or (span is None) != (
        kind == LIKELIHOOD or (span is None and loss == "square" and kind == SUBSTITUTED)
    ):
        raise f.wrong("is played in no such way")
    if span is None:
        return Game(loss, kind, None, scale)
    if type(span) is not list or [type(end) for end in span] != [float, float]:
        raise f.wrong("has a range that is none")
    low, high = span
    if not (NARROW <= high - low <= LARGEST and abs(low) <= LARGEST and abs(high) <= LARGEST):
        raise f.wrong("has a range that is none")
    return Game(loss, kind, (low, high), scale)


register(Game, _write_game, _read_game)


def _write_pool(w: Writer, pool: Pool) -> dict[str, Any]:
    return {
        "game": w.thing(pool.game),
        "cells": w.numbers(pool.cells),
        "book": w.numbers(pool.book),
    }


def _read_pool(f: Fields) -> Pool:
    game = f.thing("game", Game)
    size = f.shape("cells", 2)[1]
    cells = f.numbers("cells", POOL_ROWS, size, finite=False)
    book = f.numbers("book", BOOK_ROWS, 2, finite=False)
    f.done()
    counts = np.array([*book[mixing.ROUNDS], *book[mixing.CHANGES], book[mixing.WORST, 1]])
    if size < 1 or not ((counts >= 0.0) & (counts <= 2.0**53)).all():
        raise f.wrong("has no experts, or counts rounds that are none")
    if book[mixing.GAME, 0] != game.kind or not 0.0 <= book[mixing.RATE, 1] < 1.0:
        raise f.wrong("plays another game")
    return Pool(game, cells, book)


register(Pool, _write_pool, _read_pool)


def write_members(w: Writer, members: dict[str, Any]) -> list[Any]:
    """The experts by name."""
    found = []
    for name, expert in members.items():
        if isinstance(expert, Estimator) or (
            isinstance(expert, Learner) and type(expert.model) not in BY_TYPE
        ):
            raise SnapshotError(
                f"expert {name!r} = {abbreviated(expert.model)} cannot be stored: a "
                f"{type(expert.model).__name__} is not noregret's; take it out, or save it by its "
                "own means"
            )
        found.append([w.value(name, "the name of an expert"), _write_member(w, name, expert)])
    return found


def _write_member(w: Writer, name: Any, expert: Any) -> dict[str, Any]:
    if isinstance(expert, NamedForecast):
        return {"name": w.value(expert.name, "name"), "place": expert.place}
    if isinstance(expert, Function):
        return {"function": w.foreign(expert.model, f"experts['{name}']")}
    return {"learner": w.thing(expert.model)}


def read_members(f: Fields, name: str, learners: tuple[type, ...]) -> dict[Any, Any]:
    """The experts by name."""
    listed, where = f.kept(name)
    found: dict[Any, Any] = {}
    if type(listed) is not list:
        raise f.wrong("has no list of experts")
    for k, pair in enumerate(listed):
        if type(pair) is not list or len(pair) != 2 or type(pair[1]) is not dict:
            raise f.wrong(f"has no expert {k}")
    labels = [f.reader.value(label, f"{where}[{k}]") for k, (label, _) in enumerate(listed)]
    try:
        spread(labels)
    except TypeError as unhashable:
        raise f.wrong(f"has an expert's name that cannot be one: {unhashable}") from None
    for k, (label, (_, stored)) in enumerate(zip(labels, listed)):
        if label in found:
            raise f.wrong(f"has an expert's name twice: {abbreviated(label)}")
        inner = Fields(f.reader, stored, f"{where}[{k}]")
        found[label] = _read_member(inner, stored, learners)
        inner.done()
    return found


def _read_member(f: Fields, stored: dict[str, Any], learners: tuple[type, ...]) -> Any:
    if "name" in stored:
        return NamedForecast(f.value("name"), f.whole("place", 0, 2**31))
    if "function" in stored:
        called, where = f.kept("function")
        if type(called) is not dict:
            raise f.wrong("names no function")
        return Function(f.reader.foreign(called, where))
    return Learner(f.thing("learner", *learners))


# Auto ---------------------------------------------------------------------------------------


def _write_units(w: Writer, units: Units) -> dict[str, Any]:
    rows = np.stack([units.scale, units.shift, units.total, units.square])
    return {"count": units.count, "rows": w.numbers(rows)}


def _read_units(f: Fields) -> Units:
    count, n = f.whole("count"), f.shape("rows", 2)[1]
    scale, shift, total, square = f.numbers("rows", 4, n, finite=False)
    f.done()
    if not (scale >= 0.0).all():
        raise f.wrong("has units below 0")
    return Units(scale.copy(), count, shift.copy(), total.copy(), square.copy())


register(Units, _write_units, _read_units)


def _write_cells(w: Writer, cells: CoreGrid) -> dict[str, Any]:
    return {
        "label": cells.label,
        "features": cells.cores[0].shape[0],
        "seen": w.numbers(cells.seen),
        "ledgers": w.numbers(cells.ledgers),
        "cores": [
            {
                "prior_precision": core.prior_precision,
                "walk": core.drift if isinstance(core, DriftCore) else 0.0,
                **write_core(w, core),
            }
            for core in cells.cores
        ],
    }


def _read_cells(f: Fields) -> CoreGrid:
    cells: CoreGrid = object.__new__(CoreGrid)
    cells.label, n = f.text("label"), f.whole("features", 1, 2**31)
    cells.seen = f.numbers("seen", 3)
    count, height, wide = f.shape("ledgers", 3)
    cells.ledgers = f.numbers("ledgers", count, height, wide, finite=False)
    listed, where = f.kept("cores")
    f.done()
    if type(listed) is not list or len(listed) != count or not count:
        raise f.wrong("has not a ledger for each core")
    if (height, wide) != (OUTCOMES + 1, 2):
        raise f.wrong("has ledgers of another shape")
    cores: list[Any] = []
    for k, stored in enumerate(listed):
        if type(stored) is not dict:
            raise f.wrong(f"has no core {k}")
        inner = Fields(f.reader, stored, f"{where}[{k}]")
        precision = inner.number("prior_precision", 1e-300, 1e300)
        drift = inner.number("walk", 0.0, 1e300)
        if drift > 0.0:
            cores.append(read_drifting(inner, precision, drift, n, 1))
        else:
            cores.append(read_fixed(inner, precision, n, 1))
    drifts = [core.drifts for core in cores]
    if drifts != sorted(drifts):
        raise f.wrong("has its cores in another order")
    cells._stack(cores)
    return cells


register(CoreGrid, _write_cells, _read_cells, "Cells")


def _write_auto(w: Writer, state: State) -> dict[str, Any]:
    return {
        "door": w.thing(state.space),
        "units": w.thing(state.units),
        "maps": [w.thing(map_) for map_ in state.maps],
        "cells": [w.thing(group) for group in state.cells],
        "pool": w.thing(state.pool),
    }


def _read_auto(f: Fields) -> State:
    space, units = f.thing("door", *SPACES), f.thing("units", Units)
    maps, cells = f.things("maps", *MAPS, most=8), f.things("cells", CoreGrid, most=9)
    pool = f.thing("pool", Pool)
    f.done()
    n = space.size
    if units.scale.size != n or len(cells) != 1 + len(maps):
        raise f.wrong("has units for other features, or not cells for every map")
    due = [n + 1]
    for map_ in maps:
        inputs, size = width(map_)
        if inputs != n:
            raise f.wrong("has a map for other inputs")
        due.append(size)
    if [group.cores[0].shape[0] for group in cells] != due:
        raise f.wrong("has cells for other features")
    if pool.size != sum(2 * group.size for group in cells):
        raise f.wrong("has another number of experts")
    return State(space, units, tuple(maps), tuple(cells), pool)


register(State, _write_auto, _read_auto, "Auto.State")
