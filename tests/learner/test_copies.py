"""Copies of a learner, and files of it: nothing is shared, nothing lost, nothing else in them.

A file is a function of the rounds that were learned: forecasts, refusals and questions in between
leave its bytes as they are.
"""

from __future__ import annotations

import copy
import gc
import itertools
import math
import pickle
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import noregret as nr
from noregret.errors import NoRegretError
from stored import (
    CASES,
    Case,
    arrays,
    bits,
    chances,
    extended,
    issue,
    labels,
    learn,
    mappings,
    numbers,
    proofs,
    settle,
)

ROUNDS = 16

WRAPPED: dict[str, Case] = {
    "auto, arrays": Case(nr.Auto),
    "lagged auto": Case(lambda: nr.Lagged(nr.Auto(), [1, 2])),
    "lagged auto, horizon 2": Case(lambda: nr.Lagged(nr.Auto(), [1, 2], 2)),
    "lagged pool, horizon 3": Case(
        lambda: nr.Lagged(nr.AggregatingAlgorithm([nr.AAR(), nr.Auto(1.0)]), [1], 3)
    ),
    "lagged kernel, horizon 2": Case(lambda: nr.Lagged(nr.AAR(kernel="rbf"), [1], 2)),
    "lagged net, horizon 2": Case(lambda: nr.Lagged(nr.KLMSNet(1.0, nodes=5), [1], 2)),
    "delayed auto": Case(
        lambda: nr.Delayed(nr.Auto()), mappings, numbers, predict=issue, learn=settle
    ),
    "delayed averaging": Case(
        lambda: nr.Delayed(nr.BayesianLogistic(2.0, method="smc", particles=20)),
        arrays,
        labels,
        predict=issue,
        learn=settle,
    ),
    "delayed pool": Case(
        lambda: nr.Delayed(nr.AggregatingAlgorithm([nr.Auto(), nr.OSLOG()])),
        predict=issue,
        learn=settle,
    ),
    "safe logistic, auto": Case(nr.SafeLogistic, lambda T: arrays(T, 1), chances),
    "exponential weights of auto": Case(
        lambda: nr.ExponentialWeights([nr.Auto(), nr.Ridge()], outcome_range=2.0)
    ),
}
ALL = CASES | WRAPPED


def by_clone_of_file(learner: Any, case: Case) -> Any:
    """A file, read; of that a copy, pickled."""
    return pickle.loads(pickle.dumps(copy.copy(nr.from_bytes(learner.to_bytes(), **case.given))))


COPIES: dict[str, Callable[[Any, Case], Any]] = {
    "copy": lambda learner, _: copy.copy(learner),
    "deepcopy": lambda learner, _: copy.deepcopy(learner),
    "pickle": lambda learner, _: pickle.loads(pickle.dumps(learner)),
    "file": lambda learner, case: nr.from_bytes(learner.to_bytes(), **case.given),
    "all of them": by_clone_of_file,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_a_copy_goes_on_and_its_file_has_all_of_it(name: str) -> None:
    """Learn, copy, learn on: forecasts, proofs and files are those of one learner that ran on."""
    case = ALL[name]
    xs, ys = case.xs(ROUNDS + 1), case.ys(ROUNDS)
    plain = case.make()
    made: dict[str, Any] = {}
    for t in range(ROUNDS):
        if t == 4:
            made = {how: copied(plain, case) for how, copied in COPIES.items()}
        if t == 5:  # what a copy learns, the others do not
            assert all(one.to_bytes() == made["copy"].to_bytes() for one in made.values())
        for one in (plain, *made.values()):
            case.predict(one, xs[t])
            case.learn(one, xs[t], ys[t])
    wanted, file = proofs(plain), plain.to_bytes()
    said = bits(case.predict(copy.deepcopy(plain), xs[ROUNDS]))
    for how, one in made.items():
        assert one.to_bytes() == file, how
        assert proofs(one) == wanted, how
        read = nr.from_bytes(one.to_bytes(), **case.given)
        assert bits(case.predict(read, xs[ROUNDS])) == said, how
        assert bits(case.predict(one, xs[ROUNDS])) == said, how


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_copies_share_nothing(name: str) -> None:
    """What one learns, no copy of it has learned; a clone has learned nothing."""
    case = ALL[name]
    learner = extended(case, 5)
    twins = {how: copied(learner, case) for how, copied in COPIES.items()}
    files = {how: twin.to_bytes() for how, twin in twins.items()}
    fresh = clone(learner)
    nothing = fresh.to_bytes()
    for x, y in zip(case.xs(12)[5:], case.ys(12)[5:]):
        case.predict(learner, x)
        case.learn(learner, x, y)
    assert {how: twin.to_bytes() for how, twin in twins.items()} == files
    assert fresh.to_bytes() == nothing


def arrays_of(learner: Any) -> list[np.ndarray]:
    """Every array that can be reached from a learner, classes and modules aside."""
    found: dict[int, np.ndarray] = {}
    seen: set[int] = set()
    left = [learner]
    while left:
        thing = left.pop()
        if id(thing) in seen or isinstance(thing, type) or callable(thing):
            continue
        seen.add(id(thing))
        if isinstance(thing, np.ndarray):
            found[id(thing)] = thing
        ours = type(thing).__module__.startswith("noregret.")
        if ours or isinstance(thing, dict | list | tuple):
            left += gc.get_referents(thing)
    return list(found.values())


@pytest.mark.parametrize("name", ALL)
def test_no_two_arrays_of_a_state_overlap(name: str) -> None:
    """An array that is a view of another one parts from it in a copy."""
    learner = extended(ALL[name], 5)
    held = [a for a in arrays_of(learner) if a.size and a.dtype == np.float64]
    assert held or name == "pool of names" or name.startswith("mondrian")  # in memory of its own
    for one, other in itertools.combinations(held, 2):
        assert not np.may_share_memory(one, other), (one.shape, other.shape)


# What a file is a function of ---------------------------------------------------------------

WRONG: list[Any] = [
    np.array([math.nan, 1.0, 2.0]),
    np.array([1.0] * 17),
    np.full(3, 1e300),
    np.full(2, -1e300),
    np.array([1e300]),
    {"hot": math.nan},
    {"hot": 1e300, 7: -1e300},
    {"hot": "cold"},
    [1.0, None],
    object(),
]


def turned(x: Any) -> Any:
    """The same x, zeros of the other sign."""
    if isinstance(x, np.ndarray):
        return np.where(x == 0.0, -x, x) if x.dtype == np.float64 else x
    if isinstance(x, dict):
        return {k: -v if isinstance(v, float) and v == 0.0 else v for k, v in x.items()}
    return x


def asked(case: Case, learner: Any, xs: list[Any], turn: int) -> None:
    """Ask for forecasts, some of which are refused, and for all that can be known."""
    rows = xs[turn : turn + 3]
    wrong = WRONG[turn % len(WRONG)], WRONG[(3 * turn + 1) % len(WRONG)]
    for x in (*map(turned, rows), *rows, *wrong, turned(xs[turn])):
        with suppress(Exception):  # which error it is, other tests ask
            case.predict(learner, x)
    for name in ("weights_", "losses_", "coef_", "error_", "hindsight", "certificates"):
        with suppress(AttributeError, NoRegretError):
            value = getattr(learner, name)
            if callable(value):
                value()


def refused(learner: Any, x: Any, y: Any) -> bool:
    """Whether a round was refused; a learner that takes it learns it as a copy."""
    try:
        copy.deepcopy(learner).learn_one(x, y)
    except Exception as refusal:  # which error it is, other tests ask
        with pytest.raises(type(refusal)):
            learner.learn_one(x, y)
        return True
    return False


@pytest.mark.parametrize("name", [name for name, case in ALL.items() if case.learn is learn])
def test_a_file_is_what_was_learned(name: str) -> None:
    """The twin is only taught; the other is asked, and refuses, between any two rounds."""
    case = ALL[name]
    T = 8
    xs, ys = case.xs(T + 3), case.ys(T)
    plain, busy = case.make(), case.make()
    count = 0
    for t in range(T):
        file = plain.to_bytes()
        asked(case, busy, xs, t)
        assert busy.to_bytes() == file, t
        if t:
            for x, y in ((xs[t], math.nan), (xs[t], "?"), (WRONG[t], ys[t]), (WRONG[9], ys[t])):
                count += refused(busy, x, y)
            assert busy.to_bytes() == file, t
        case.learn(plain, xs[t], ys[t])
        case.predict(busy, xs[t])
        case.learn(busy, xs[t], ys[t])
    assert busy.to_bytes() == plain.to_bytes()
    assert count >= T


@pytest.mark.parametrize("name", [name for name, case in ALL.items() if case.learn is settle])
def test_a_refused_ticket_leaves_the_file(name: str) -> None:
    case = ALL[name]
    learner = extended(case, 9)
    file = learner.to_bytes()
    waiting = learner.pending_
    for x in (np.full(3, math.nan), {"hot": math.nan}, [1.0, None]):
        with pytest.raises(NoRegretError):
            learner.predict_one(x)
        assert learner.to_bytes() == file
    for ticket, y in ((waiting[0], math.nan), (waiting[-1], None), (10**6, 1.0), ("?", 1.0)):
        with pytest.raises(NoRegretError):
            learner.learn_one(ticket, y)
        assert learner.to_bytes() == file
    learner.certificates()
    assert learner.to_bytes() == file
