"""The learners that can be stored: one line each, at the end of the file.

A learner is its parameters as the user gave them, and its state.  A state knows what it was learned
with (parameters may have been set anew since), so both are stored.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from noregret._ops import layout, margin
from noregret.gaussian.kernel_stream import KernelStream
from noregret.gaussian.learners import AAR, BayesianRidge, Ridge
from noregret.gaussian.stream import Stream
from noregret.glm.binary import PosteriorState
from noregret.glm.exact import Exact
from noregret.glm.learners import BayesianLogistic, ImproperLogistic, MAPLogistic
from noregret.glm.posteriors import Mode, Particles, Recursive, TierneyKadane
from noregret.lms.kernel_lms import KernelLMS
from noregret.lms.net import KLMSNet
from noregret.snapshot.kinds import Fields, Writer, declare, kind_called, register
from noregret.snapshot.lms import read_kernel_lms, read_net, write_kernel_lms, write_net
from noregret.snapshot.spaces import SPACES
from noregret.snapshot.yesno import ENGINES
from noregret.sparse.oslog import OSLOG
from noregret.sparse.slog import SLOG
from noregret.wrappers.delayed import Delayed, PendingForecasts
from noregret.wrappers.lagged import LagBuffer, Lagged

__all__ = ["LEARNERS"]

LEARNERS: list[type] = []
"""Every learner that can be stored."""

HUGE = sys.float_info.max
WriteState = Callable[[Writer, Any], Any]
ReadState = Callable[[Fields, Any], Any]


def learner(type_: type, write: WriteState, read: ReadState, slot: str = "_state") -> None:
    """Register a learner that keeps its state in a slot, under a lock.

    `write` gives the state as JSON and `read` takes it back from the field "state", with the
    learner as its parameters make it; neither is called where nothing was learned.
    """
    names = _names(type_)

    def write_learner(w: Writer, one: Any) -> dict[str, Any]:
        with one._lock:
            held = getattr(one, slot)
            return {
                "parameters": _parameters(w, one, names),
                "state": None if held is None else write(w, held),
            }

    def read_learner(f: Fields) -> Any:
        one, state = _made(type_, f), f.optional("state")
        if state is not None:
            setattr(one, slot, read(state, one))
        f.done()
        return one

    register(type_, write_learner, read_learner)
    LEARNERS.append(type_)


def _names(type_: Any) -> list[str]:
    """The parameters of a learner; scikit-learn would look them up each time."""
    return list(type_._get_param_names())


def _parameters(w: Writer, one: Any, names: list[str]) -> dict[str, Any]:
    return {name: w.value(getattr(one, name), name) for name in names}


def _made(type_: Any, f: Fields) -> Any:
    """A learner with its parameters, which are checked when they are used."""
    chosen = f.values("parameters")
    if set(chosen) != set(_names(type_)):
        raise f.wrong(f"has the parameters {', '.join(sorted(chosen))}")
    return type_(**chosen)


# Gaussian learners --------------------------------------------------------------------------


def _write_stream(w: Writer, stream: Any) -> Any:
    return {"stream": w.thing(stream)}


def _read_stream(*codes: int) -> ReadState:
    def read(f: Fields, _: Any) -> Any:
        stream = f.thing("stream", Stream, KernelStream)
        f.done()
        if stream.plan.rule.code not in codes:
            raise f.wrong("has the rule of another learner")
        return stream

    return read


# Sparse learners ----------------------------------------------------------------------------


def _write_slog(w: Writer, one: SLOG) -> dict[str, Any]:
    fields: dict[str, Any] = {"parameters": _parameters(w, one, _names(SLOG)), "state": None}
    if hasattr(one, "_fit"):
        space, coef, intercept = one._fit
        fields["state"] = {
            "door": w.thing(space),
            "coef": w.numbers(coef),
            "intercept": intercept,
            "n_iter": one.n_iter_,
        }
    return fields


def _read_slog(f: Fields) -> SLOG:
    one, state = _made(SLOG, f), f.optional("state")
    f.done()
    if state is not None:
        space = state.thing("door", *SPACES)
        coef, intercept = state.numbers("coef", space.size), state.number("intercept")
        one._keep(space, coef, intercept, state.whole("n_iter"))
        state.done()
    return one  # type: ignore[no-any-return]  # as _made has it


# Yes-or-no learners -------------------------------------------------------------------------


def _write_belief(w: Writer, belief: PosteriorState) -> Any:
    return {"belief": w.thing(belief)}


def _read_belief(kind: int, *engines: type) -> ReadState:
    assert set(engines) <= set(ENGINES)

    def read(f: Fields, _: Any) -> PosteriorState:
        belief: PosteriorState = f.thing("belief", PosteriorState)
        f.done()
        posterior = belief.posterior
        recursive = isinstance(posterior, Recursive)
        if not (posterior.kind == kind if recursive else type(posterior) in engines):
            raise f.wrong("has the engine of another learner")
        return belief

    return read


# Delayed outcomes ---------------------------------------------------------------------------


def _write_waiting(w: Writer, held: PendingForecasts) -> Any:
    return {
        "learner": w.value(held.learner, "learner"),
        "pending": [
            [number, w.value(x, f"the x of ticket {number}"), w.value(said, "forecast")]
            for number, (x, said) in held.pending.items()
        ],
        "issued": held.issued,
        "dropped": held.dropped,
        "settled": held.settled,
        "book": w.numbers(held.book),
    }


def _read_waiting(f: Fields, _: Any) -> PendingForecasts:
    one = f.thing("learner", *LEARNERS)
    listed, where = f.kept("pending")
    held = PendingForecasts(one)
    held.issued, held.dropped = f.whole("issued"), f.whole("dropped")
    held.settled = f.whole("settled")
    if type(listed) is not list:
        raise f.wrong("has no list of tickets")
    last = -1
    for entry in listed:
        if type(entry) is not list or len(entry) != 3 or type(entry[0]) is not int:
            raise f.wrong("has a ticket that is none")
        number = entry[0]
        if not last < number < held.issued:
            raise f.wrong(f"has ticket {number} out of order")
        said = f.reader.value(entry[2], where)
        if type(said) is not float and not isinstance(said, np.ndarray):
            raise f.wrong(f"has a forecast of ticket {number} that is none")
        held.pending[number] = f.reader.value(entry[1], where), said
        last = number
    held.book = f.numbers("book", 2, 2, finite=False)
    f.done()
    if held.settled + held.dropped + len(held.pending) != held.issued:
        raise f.wrong("has lost a ticket")
    return held


# Series -------------------------------------------------------------------------------------


def _write_line(w: Writer, held: LagBuffer) -> Any:
    return {
        "learner": w.value(held.learner, "learner"),
        "ahead": w.value(held.ahead, "ahead"),
        "past": w.numbers(held.past),
        "waiting": [[w.value(x, "a round that waits"), w.value(y, "y")] for x, y in held.waiting],
        "rounds": held.rounds,
        "loss": w.numbers(held.loss),
    }


def _read_line(f: Fields, one: Any) -> LagBuffer:
    held = LagBuffer(f.thing("learner", *LEARNERS), max(one._lags()))
    held.ahead = f.thing("ahead", *LEARNERS, optional=one._horizon() == 1)
    if held.ahead is not None and (type(held.ahead) is not type(held.learner)):
        raise f.wrong("has a twin of another kind")
    held.past = f.numbers("past", len(held.past))
    listed, where = f.kept("waiting")
    held.rounds = f.whole("rounds")
    if type(listed) is not list or len(listed) > min(held.rounds, one._horizon() - 1):
        raise f.wrong("has no list of rounds that wait, or too long a one")
    for entry in listed:
        if type(entry) is not list or len(entry) != 2:
            raise f.wrong("has a round that is none")
        x, y = (f.reader.value(part, where) for part in entry)
        if type(y) is not float or not isinstance(x, np.ndarray | dict):
            raise f.wrong("has a round that is none")
        held.waiting.append((x, y))
    held.loss = f.numbers("loss", 2, finite=False)
    f.done()
    return held


# The list -----------------------------------------------------------------------------------

learner(Ridge, _write_stream, _read_stream(layout.RIDGE, layout.CLIPPED), "_state")
learner(BayesianRidge, _write_stream, _read_stream(layout.BAYES), "_state")
learner(AAR, _write_stream, _read_stream(layout.AAR), "_state")
declare("OSLOG", OSLOG)
LEARNERS.append(OSLOG)
learner(MAPLogistic, _write_belief, _read_belief(margin.LAPLACE, Mode))
learner(BayesianLogistic, _write_belief, _read_belief(margin.ADF, Exact, TierneyKadane, Particles))
learner(ImproperLogistic, _write_belief, _read_belief(margin.AIOLI))
POOLS = ("AggregatingAlgorithm", "BayesianAlgorithm", "ExponentialWeights", "SafeOSLOG")
LEARNERS += [kind_called(name).type for name in (*POOLS, "SafeLogistic", "Auto")]
learner(KernelLMS, write_kernel_lms, read_kernel_lms)
learner(KLMSNet, write_net, read_net)
learner(Delayed, _write_waiting, _read_waiting)
learner(Lagged, _write_line, _read_line)
register(SLOG, _write_slog, _read_slog)
LEARNERS.append(SLOG)
