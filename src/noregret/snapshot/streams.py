"""How cores, plans and streams are stored: all that a Gaussian learner has learned.

A core's `work` is scratch, except for the scalars in work[AT].  A look that `predict_one` has left
there is not stored, since a file is what was learned and a look that is made anew has the same
bits; files of earlier releases may hold one.  Arrays with room to grow are stored without it: room
decides where numbers lie, not which.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from noregret._ops import layout
from noregret._ops.layout import (
    AT,
    DRIFT,
    FRESH,
    NORM,
    OUTCOMES,
    PASSED,
    PEAK,
    ROOT,
    ROOTED,
    ROWS,
    SCALARS,
)
from noregret.errors import NoRegretError
from noregret.gaussian import rules
from noregret.gaussian.cores import DriftCore, PrimalCore
from noregret.gaussian.cores.dual import DualCore
from noregret.gaussian.kernel_stream import KernelStream
from noregret.gaussian.rules import Rule
from noregret.gaussian.stream import Plan, Stream
from noregret.inputs.kernel_spaces import KernelInputs, MappedSpace, NystromSpace
from noregret.kernels import Kernel
from noregret.snapshot.kinds import Fields, Writer, register
from noregret.snapshot.spaces import BUDGETS, SPACES, read_points, write_points
from noregret.types import Matrix

__all__ = ["read_drifting", "read_fixed", "read_ledger", "write_core"]

MOST = 2**26  # outcomes a round
HUGE = 1e300

# Cores in weight space ----------------------------------------------------------------------


def write_core(w: Writer, core: Any) -> dict[str, Any]:
    """The factor, and how it is to be read."""
    at = core.work[AT]
    return {
        "factor": w.numbers(core.factor),
        "look": None,
        "rooted": bool(at[ROOTED]),
        "passed": int(at[PASSED]),
        "drift": float(at[DRIFT]),
        "walked": getattr(core, "_walked", 0.0),
    }


def _work(f: Fields, rows: int, wide: int) -> Matrix:
    """The scratch array, with a look or without."""
    work = f.numbers_or_none("look", rows, wide)
    if work is None:
        work = np.zeros((rows, wide))
    at = work[AT]
    look = at[[ROOT, NORM, PEAK]].tolist()
    if not all(0.0 <= size < math.inf for size in look) or at[FRESH] not in (0.0, 1.0):
        raise f.wrong("has a look that is none")
    fresh = at[FRESH]
    at[:] = 0.0  # a stream sets its own
    at[[ROOT, NORM, PEAK]], at[FRESH] = look, fresh
    at[ROOTED], at[PASSED] = f.flag("rooted"), f.whole("passed")
    at[DRIFT] = f.number("drift", 0.0, sys.float_info.max)
    return work


def read_fixed(f: Fields, precision: float, n: int, m: int) -> PrimalCore:
    """Fixed experts."""
    factor = f.numbers("factor", n, n + m)
    work = _work(f, ROWS, max(n + m, SCALARS))
    f.number("walked", 0.0, 0.0)
    f.done()
    return PrimalCore.over(precision, factor, work)


def read_drifting(f: Fields, precision: float, drift: Any, n: int, m: int) -> DriftCore:
    """Experts that change."""
    factor = f.numbers("factor", n + m, n)
    work = _work(f, ROWS + n, max(n + m, SCALARS))
    walked = f.number("walked", 0.0)
    f.done()
    if not callable(drift) and work[AT, DRIFT] != drift:
        raise f.wrong("has another drift than its plan")
    return DriftCore.over(precision, drift, factor, work, walked)


def read_ledger(f: Fields, name: str, m: int) -> Matrix:
    """A ledger of m outcomes."""
    ledger = f.numbers(name, OUTCOMES + m, 2, finite=False)
    counts = ledger[layout.ROUNDS]
    if not ((counts >= 0.0) & (counts <= 2.0**53) & (counts == np.floor(counts))).all():
        raise f.wrong("counts rounds that are none")
    return ledger


# Plans --------------------------------------------------------------------------------------


def _write_rule(_: Writer, rule: Rule) -> dict[str, Any]:
    return {"code": rule.code, "level": float(rule.level)}


def _read_rule(f: Fields) -> Rule:
    code, level = f.whole("code", 0, layout.BAYES), f.number("level", 0.0, HUGE)
    f.done()
    if (level > 0.0) != (code in (layout.CLIPPED, layout.BAYES)):
        raise f.wrong("has a level that does not go with it")
    return rules.Rule(code, level)


register(Rule, _write_rule, _read_rule)


def _write_plan(w: Writer, plan: Plan) -> dict[str, Any]:
    return {
        "rule": w.thing(plan.rule),
        "prior_precision": plan.prior_precision,
        "drift": w.value(plan.drift, "drift"),
        "intercept": plan.intercept,
        "kernel": w.thing(plan.kernel),
        "budget": w.thing(plan.budget),
    }


def _read_plan(f: Fields) -> Plan:
    rule, precision = f.thing("rule", Rule), f.number("prior_precision", 1e-300, HUGE)
    drift, intercept = f.value("drift"), f.flag("intercept")
    kernel = f.thing("kernel", Kernel, optional=True)
    budget = f.thing("budget", *BUDGETS, optional=True)
    f.done()
    if not callable(drift) and not (type(drift) is float and 0.0 <= drift <= HUGE):
        raise f.wrong("has a drift that is none")
    return Plan(rule, precision, drift, intercept, kernel, budget)


register(Plan, _write_plan, _read_plan)

# Streams ------------------------------------------------------------------------------------


def _write_stream(w: Writer, stream: Stream) -> dict[str, Any]:
    with stream.closed():
        return {
            "plan": w.thing(stream.plan),
            "door": w.thing(stream.space),
            "scalar": stream.scalar,
            "outcomes": stream.core.shape[1],
            "ledger": w.numbers(stream.ledger),
            "core": write_core(w, stream.core),
        }


def _read_stream(f: Fields) -> Stream:
    plan = f.thing("plan", Plan)
    space = f.thing("door", *SPACES, MappedSpace, NystromSpace)
    scalar, m = f.flag("scalar"), f.whole("outcomes", 1, MOST)
    if scalar and m != 1:
        raise f.wrong(f"has {m} outcomes that are one number")
    ledger = read_ledger(f, "ledger", m)
    inner = f.inner("core")
    f.done()
    n, precision = space.size + plan.intercept, plan.prior_precision
    core: Any
    if callable(plan.drift) or plan.drift > 0.0:
        core = read_drifting(inner, precision, plan.drift, n, m)
    else:
        core = read_fixed(inner, precision, n, m)
    return Stream(plan, core, ledger, space, scalar=scalar)


register(Stream, _write_stream, _read_stream)


def _write_kernel_stream(w: Writer, stream: KernelStream) -> dict[str, Any]:
    core = stream.core
    t = core.size
    return {
        "plan": w.thing(stream.plan),
        "inputs": w.thing(stream.inputs),
        "scalar": stream.scalar,
        "outcomes": core.outcomes,
        "rounds": core.rounds,
        "size": t,
        "prior": core.prior,
        "priors": core.priors,
        "ledger": w.numbers(stream.ledger),
        "points": write_points(w, core.inputs, stream.inputs),
        "triangle": w.numbers(core._packed[: t * (t + 1) // 2]),
        "z": w.numbers(core._z[:t]),
        "row_priors": w.numbers(core._priors[:t]),
    }


def _read_kernel_stream(f: Fields) -> KernelStream:
    plan, inputs = f.thing("plan", Plan), f.thing("inputs", KernelInputs)
    scalar, m = f.flag("scalar"), f.whole("outcomes", 1, MOST)
    window = None
    if plan.budget is not None:
        try:
            plan.budget.check()
        except (NoRegretError, AttributeError) as wrong:
            raise f.wrong(f"has a budget that makes no sense: {wrong}") from None
        window = int(plan.budget.size)
    if plan.kernel is None or (scalar and m != 1):
        raise f.wrong("has no kernel, or several outcomes that are one number")
    core: DualCore = object.__new__(DualCore)
    core.kernel, core.prior_precision, core.drift = plan.kernel, plan.prior_precision, plan.drift
    core.window, core._last, core.peak = window, None, 0.0
    core.rounds = f.whole("rounds")
    core.size = t = f.whole("size", 1, core.rounds if window is None else min(core.rounds, window))
    core.prior, core.priors = f.number("prior", 0.0, sys.float_info.max), f.number("priors", 0.0)
    if window is None and t != core.rounds:
        raise f.wrong("has forgotten rounds without a window")
    ledger = read_ledger(f, "ledger", m)
    core._inputs = read_points(f, "points", inputs)
    if len(core._inputs) != t:
        raise f.wrong(f"has {len(core._inputs)} inputs for {t} rounds")
    core._packed = f.numbers("triangle", t * (t + 1) // 2)
    core._z = f.numbers("z", t, m)
    core._priors = f.numbers("row_priors", t)
    f.done()
    return KernelStream(plan, core, ledger, inputs, scalar=scalar)


register(KernelStream, _write_kernel_stream, _read_kernel_stream)
