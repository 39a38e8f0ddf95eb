"""How yes-or-no learners are stored: labels, account, and the engine that holds the posterior."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from noregret._ops import account, margin
from noregret._ops.layout import AT, CEILING, LARGEST_FEATURE
from noregret.glm.engines import History, Mode, Particles, Recursive, TierneyKadane
from noregret.glm.exact import Exact
from noregret.glm.families import Family
from noregret.glm.yesno import LARGEST, Belief
from noregret.snapshot.kinds import Fields, Writer, register
from noregret.snapshot.spaces import DOORS
from noregret.snapshot.streams import read_fixed, write_core

__all__ = ["ENGINES"]

ENGINES = (Recursive, Mode, TierneyKadane, Exact, Particles)
HUGE = sys.float_info.max


def _features(engine: Any) -> int:
    """How many features an engine holds."""
    if isinstance(engine, Recursive):
        return engine.core.shape[0]
    return int(engine.history.held.shape[1])


def _write_recursive(w: Writer, engine: Recursive) -> dict[str, Any]:
    return {
        "kind": engine.kind,
        "family": w.thing(engine.family),
        "bound": engine.bound,
        "prior_precision": engine.core.prior_precision,
        "core": write_core(w, engine.core),
    }


def _read_recursive(f: Fields) -> Recursive:
    kind, family = f.whole("kind", margin.ADF, margin.AIOLI), f.thing("family", Family)
    bound, precision = f.number("bound", 0.0, 1e300), f.number("prior_precision", 1e-300, HUGE)
    inner = f.inner("core")
    f.done()
    core = read_fixed(inner, precision, inner.shape("factor", 2)[0], 1)
    core.work[AT, CEILING] = LARGEST_FEATURE
    return Recursive(kind, family, core, bound)


register(Recursive, _write_recursive, _read_recursive)


def _write_history(w: Writer, history: History) -> dict[str, Any]:
    return {"rows": w.numbers(history.rows)}


def _read_history(f: Fields) -> History:
    count, n = f.shape("rows", 2)
    rows = f.numbers("rows", count, n)
    f.done()
    if rows.size and not np.abs(rows).max() <= LARGEST:
        raise f.wrong("has a round that could not have been learned")
    history: History = object.__new__(History)
    room = 16
    while room <= count:  # as appending one by one has left it
        room *= 2
    history.count = count
    history.held, history.scratch = np.zeros((room, n)), np.zeros((room, n))
    history.held[:count] = rows
    return history


register(History, _write_history, _read_history)


def _write_mode(w: Writer, engine: Mode) -> dict[str, Any]:
    fields = {
        "family": w.thing(engine.family),
        "prior_precision": engine.precision,
        "history": w.thing(engine.history),
        "w": w.numbers(engine.w),
        "curve": w.numbers(engine.curve),
        "F": float(engine.F),
        "gradient": float(engine.gradient),
        "log_det": float(engine.log_det),
    }
    if isinstance(engine, Exact):
        fields |= {"error": float(engine.error), "strict": engine.strict}
    return fields


def _read_mode(type_: type[Mode]) -> Any:
    def read(f: Fields) -> Mode:
        engine: Mode = object.__new__(type_)
        engine.family = f.thing("family", Family)
        engine.precision = f.number("prior_precision", 1e-300, HUGE)
        engine.history = f.thing("history", History)
        n = engine.history.held.shape[1]
        engine.w, engine.curve = f.numbers("w", n), f.numbers("curve", n, n, finite=False)
        engine.work = np.zeros((2, n))
        engine.F, engine.gradient = f.number("F"), f.number("gradient")
        engine.log_det = f.number("log_det")
        if isinstance(engine, Exact):
            engine.error, engine.strict = f.number("error"), f.flag("strict")
        f.done()
        return engine

    return read


for _type in (Mode, TierneyKadane, Exact):
    register(_type, _write_mode, _read_mode(_type))


def _write_particles(w: Writer, engine: Particles) -> dict[str, Any]:
    state: Any = engine.rng.bit_generator.state
    return {
        "family": w.thing(engine.family),
        "prior_precision": engine.precision,
        "history": w.thing(engine.history),
        "cloud": w.numbers(engine.cloud),
        "logs": w.numbers(engine.logs),
        "moves": engine.moves,
        "generator": state["bit_generator"],
        "state": state["state"]["state"],
        "inc": state["state"]["inc"],
        "has_uint32": state["has_uint32"],
        "uinteger": state["uinteger"],
    }


def _read_particles(f: Fields) -> Particles:
    engine: Particles = object.__new__(Particles)
    engine.family = f.thing("family", Family)
    engine.precision = f.number("prior_precision", 1e-300, HUGE)
    engine.history = f.thing("history", History)
    n = engine.history.held.shape[1]
    size = f.shape("cloud", 2)[0]
    engine.cloud, engine.logs = f.numbers("cloud", size, n), f.numbers("logs", size)
    engine.moves = f.whole("moves")
    f.text("generator", ("PCG64",))
    engine.rng = np.random.Generator(np.random.PCG64(0))
    engine.rng.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": f.whole("state", 0, 2**128 - 1), "inc": f.whole("inc", 0, 2**128 - 1)},
        "has_uint32": f.whole("has_uint32", 0, 1),
        "uinteger": f.whole("uinteger", 0, 2**32 - 1),
    }
    f.done()
    if size < 1:
        raise f.wrong("has no particles")
    return engine


register(Particles, _write_particles, _read_particles)


def _write_belief(w: Writer, belief: Belief) -> dict[str, Any]:
    return {
        "door": w.thing(belief.door),
        "classes": w.value(belief.classes, "classes"),
        "engine": w.thing(belief.engine),
        "book": w.numbers(belief.book),
        "scatter": w.numbers(belief.scatter),
    }


def _read_belief(f: Fields) -> Belief:
    door, classes = f.thing("door", *DOORS), f.value("classes")
    engine = f.thing("engine", *ENGINES)
    book = f.numbers("book", account.BOOK_ROWS, 2, finite=False)
    scatter = f.numbers("scatter", door.size, door.size)
    f.done()
    if type(classes) is not tuple or len(classes) != 2:
        raise f.wrong("has not two labels")
    if _features(engine) != door.size:
        raise f.wrong(f"has an engine of {_features(engine)} features for {door.size}")
    if not 0.0 <= book[account.ROUNDS, 0] <= 2.0**53:
        raise f.wrong("counts rounds that are none")
    return Belief(door, engine, book, scatter, classes)


register(Belief, _write_belief, _read_belief)
