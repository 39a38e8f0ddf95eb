"""The learners that can be stored: one line each, at the end of the file.

A learner is its parameters as the user gave them, and its state.  A state knows what it was learned
with (parameters may have been set anew since), so both are stored.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from noregret._ops import layout, margin
from noregret.experts.aggregating import AggregatingAlgorithm, BayesianAlgorithm, ExponentialWeights
from noregret.experts.auto import Auto, State
from noregret.experts.pool import Pool
from noregret.experts.safe import SafeLogistic, SafeOSLOG
from noregret.gaussian.learners import AAR, BayesianRidge, Ridge
from noregret.glm.binary import PosteriorState
from noregret.glm.exact import Exact
from noregret.glm.families import Family
from noregret.glm.learners import BayesianLogistic, ImproperLogistic, MAPLogistic
from noregret.glm.posteriors import Mode, Particles, Recursive, TierneyKadane
from noregret.lms.kernel_lms import KernelLMS
from noregret.lms.net import KLMSNet
from noregret.snapshot.kinds import Fields, Writer, kind_of, register
from noregret.snapshot.lms import read_kernel_lms, read_net, write_kernel_lms, write_net
from noregret.snapshot.pools import read_members, write_members
from noregret.snapshot.yesno import ENGINES
from noregret.sparse.oslog import OSLOG
from noregret.sparse.slog import SLOG
from noregret.wrappers.delayed import Delayed
from noregret.wrappers.lagged import Lagged

__all__ = ["LEARNERS"]

LEARNERS: list[type] = []
"""Every learner that can be stored."""

HUGE = sys.float_info.max
WriteState = Callable[[Writer, Any], Any]
ReadState = Callable[[Fields, Any], Any]


def learner(
    type_: type, write: WriteState, read: ReadState, slot: str = "_state", *, labelled: bool = False
) -> None:
    """Register a learner that keeps its state in a slot, under a lock; two labels beside it.

    `write` gives the state as JSON and `read` takes it back from the field "state", with the
    learner as its parameters make it; neither is called where nothing was learned.
    """
    names = _names(type_)

    def write_learner(w: Writer, one: Any) -> dict[str, Any]:
        with one._lock:
            held = getattr(one, slot)
            fields = {
                "parameters": _parameters(w, one, names),
                "state": None if held is None else write(w, held),
            }
            return fields | {"labels": w.value(one._labels, "labels")} if labelled else fields

    def read_learner(f: Fields) -> Any:
        one, state = _made(type_, f), f.optional("state")
        if labelled:
            one._classes = f.value("labels")
            if type(one._classes) is not tuple or len(one._classes) != 2:
                raise f.wrong("has labels that are not two")
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


# Pools --------------------------------------------------------------------------------------


def _write_pool(w: Writer, held: Any) -> Any:
    members, pool = held
    return {"experts": write_members(w, members), "pool": w.thing(pool)}


def _read_pool(f: Fields, one: Any) -> Any:
    members = read_members(f, "experts", tuple(LEARNERS))
    pool = f.thing("pool", Pool)
    f.done()
    if pool.size != len(members):
        raise f.wrong(f"has {len(members)} experts for {pool.size} weights")
    if isinstance(one, SafeOSLOG | SafeLogistic) and not set(one.experts) <= set(members):
        raise f.wrong("lacks one of its experts")
    return members, pool


def _write_auto(w: Writer, state: State) -> Any:
    return {"auto": w.thing(state)}


def _read_auto(f: Fields, _: Any) -> Any:
    state = f.thing("auto", State)
    f.done()
    return state


# The list -----------------------------------------------------------------------------------

learner(Ridge, _write_stream, _read_stream(layout.RIDGE, layout.CLIPPED), "_state")
learner(BayesianRidge, _write_stream, _read_stream(layout.BAYES), "_state")
learner(AAR, _write_stream, _read_stream(layout.AAR), "_state")
learner(MAPLogistic, _write_belief, _read_belief(margin.LAPLACE, Mode))
learner(BayesianLogistic, _write_belief, _read_belief(margin.ADF, Exact, TierneyKadane, Particles))
learner(ImproperLogistic, _write_belief, _read_belief(margin.AIOLI))
for _pool in (AggregatingAlgorithm, BayesianAlgorithm, ExponentialWeights, SafeOSLOG):
    learner(_pool, _write_pool, _read_pool)
learner(SafeLogistic, _write_pool, _read_pool, labelled=True)
learner(Auto, _write_auto, _read_auto)
learner(KernelLMS, write_kernel_lms, read_kernel_lms)
learner(KLMSNet, write_net, read_net)
for _type in (OSLOG, SLOG, Delayed, Lagged):
    kind_of(_type)
    LEARNERS.append(_type)
