"""How yes-or-no learners are stored: labels, account, and the posterior that holds the posterior."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from noregret._ops import account, margin
from noregret._ops.layout import AT, CEILING, LARGEST_FEATURE
from noregret.glm.binary import LARGEST, PosteriorState
from noregret.glm.exact import Exact
from noregret.glm.families import Family
from noregret.glm.posteriors import History, Mode, Particles, Recursive, TierneyKadane
from noregret.snapshot.kinds import Fields, Writer, register
from noregret.snapshot.spaces import SPACES
from noregret.snapshot.streams import read_fixed, write_core

__all__ = ["ENGINES"]

ENGINES = (Recursive, Mode, TierneyKadane, Exact, Particles)
HUGE = sys.float_info.max


def _features(posterior: Any) -> int:
    """How many features an posterior holds."""
    if isinstance(posterior, Recursive):
        return posterior.core.shape[0]
    return int(posterior.history.held.shape[1])


def _write_recursive(w: Writer, posterior: Recursive) -> dict[str, Any]:
    return {
        "kind": posterior.kind,
        "family": w.thing(posterior.family),
        "bound": posterior.bound,
        "prior_precision": posterior.core.prior_precision,
        "core": write_core(w, posterior.core),
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


def _write_mode(w: Writer, posterior: Mode) -> dict[str, Any]:
    fields = {
        "family": w.thing(posterior.family),
        "prior_precision": posterior.precision,
        "history": w.thing(posterior.history),
        "w": w.numbers(posterior.w),
        "curve": w.numbers(posterior.curve),
        "F": float(posterior.F),
        "gradient": float(posterior.gradient),
        "log_det": float(posterior.log_det),
    }
    if isinstance(posterior, Exact):
        fields |= {"error": float(posterior.error), "strict": posterior.strict}
    return fields


def _read_mode(type_: type[Mode]) -> Any:
    def read(f: Fields) -> Mode:
        posterior: Mode = object.__new__(type_)
        posterior.family = f.thing("family", Family)
        posterior.precision = f.number("prior_precision", 1e-300, HUGE)
        posterior.history = f.thing("history", History)
        n = posterior.history.held.shape[1]
        posterior.w, posterior.curve = f.numbers("w", n), f.numbers("curve", n, n, finite=False)
        posterior.work = np.zeros((2, n))
        posterior.F, posterior.gradient = f.number("F"), f.number("gradient")
        posterior.log_det = f.number("log_det")
        if isinstance(posterior, Exact):
            posterior.error, posterior.strict = f.number("error"), f.flag("strict")
        f.done()
        return posterior

    return read


for _type in (Mode, TierneyKadane, Exact):
    register(_type, _write_mode, _read_mode(_type))


def _write_particles(w: Writer, posterior: Particles) -> dict[str, Any]:
    state: Any = posterior.rng.bit_generator.state
    return {
        "family": w.thing(posterior.family),
        "prior_precision": posterior.precision,
        "history": w.thing(posterior.history),
        "cloud": w.numbers(posterior.cloud),
        "logs": w.numbers(posterior.logs),
        "moves": posterior.moves,
        "generator": state["bit_generator"],
        "state": state["state"]["state"],
        "inc": state["state"]["inc"],
        "has_uint32": state["has_uint32"],
        "uinteger": state["uinteger"],
    }


def _read_particles(f: Fields) -> Particles:
    posterior: Particles = object.__new__(Particles)
    posterior.family = f.thing("family", Family)
    posterior.precision = f.number("prior_precision", 1e-300, HUGE)
    posterior.history = f.thing("history", History)
    n = posterior.history.held.shape[1]
    size = f.shape("cloud", 2)[0]
    posterior.cloud, posterior.logs = f.numbers("cloud", size, n), f.numbers("logs", size)
    posterior.moves = f.whole("moves")
    f.text("generator", ("PCG64",))
    posterior.rng = np.random.Generator(np.random.PCG64(0))
    posterior.rng.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": f.whole("state", 0, 2**128 - 1), "inc": f.whole("inc", 0, 2**128 - 1)},
        "has_uint32": f.whole("has_uint32", 0, 1),
        "uinteger": f.whole("uinteger", 0, 2**32 - 1),
    }
    f.done()
    if size < 1:
        raise f.wrong("has no particles")
    return posterior


register(Particles, _write_particles, _read_particles)


def _write_belief(w: Writer, belief: PosteriorState) -> dict[str, Any]:
    return {
        "door": w.thing(belief.space),
        "classes": w.value(belief.classes, "classes"),
        "engine": w.thing(belief.posterior),
        "book": w.numbers(belief.book),
        "scatter": w.numbers(belief.scatter),
    }


def _read_belief(f: Fields) -> PosteriorState:
    space, classes = f.thing("door", *SPACES), f.value("classes")
    posterior = f.thing("engine", *ENGINES)
    book = f.numbers("book", account.BOOK_ROWS, 2, finite=False)
    scatter = f.numbers("scatter", space.size, space.size)
    f.done()
    if type(classes) is not tuple or len(classes) != 2:
        raise f.wrong("has not two labels")
    if _features(posterior) != space.size:
        raise f.wrong(f"has an posterior of {_features(posterior)} features for {space.size}")
    if not 0.0 <= book[account.ROUNDS, 0] <= 2.0**53:
        raise f.wrong("counts rounds that are none")
    return PosteriorState(space, posterior, book, scatter, classes)


register(PosteriorState, _write_belief, _read_belief, "Belief")
