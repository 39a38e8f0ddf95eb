"""Corrupt one stored number of a learner: do its certificates notice?  And do they cry wolf?

`python tests/corruption.py [corruptions] [streams]` prints a table: for every learner, so many
corruptions of one number by a factor, a sign or a swap with its neighbour in the same array, then
50 more rounds; and certificates that fail on sound streams, hard ones included.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import noregret as nr
from noregret._native import mixing
from noregret.errors import NoRegretError

BEFORE, AFTER = 60, 50
VISIBLE = 1e-6  # relative: a forecast that changes by less has not changed


def gaussian(learner: Any) -> list[np.ndarray]:
    state = learner._state
    return [state.core.factor, state.ledger]


def kernel(learner: Any) -> list[np.ndarray]:
    packed, z, _ = learner._state.core.rows()
    return [packed, z, learner._state.ledger]


def recursive(learner: Any) -> list[np.ndarray]:
    state = learner._state
    return [state.posterior.core.factor, state.scatter, state.book]


def mode(learner: Any) -> list[np.ndarray]:
    state = learner._state
    return [state.posterior.w, state.posterior.history.rows, state.scatter, state.book]


KEPT = [mixing.PRIOR, mixing.EXCESS, mixing.PAID, mixing.TRACK, mixing.COURSE]


def pool(learner: Any) -> list[np.ndarray]:
    return [*(learner._state.pool.cells[row] for row in KEPT), learner._state.pool.book]


def oslog(learner: Any) -> list[np.ndarray]:
    state = learner._state
    return [state.gram, *state.state[:3], state.book]


def layer(learner: Any) -> list[np.ndarray]:
    held = learner._state.layer
    return [held.coefs[0, : held.size], learner._state.book]


def auto(learner: Any) -> list[np.ndarray]:
    state = learner._state
    grids = [array for grid in state.cells for array in (grid.fixed, grid.moving, grid.ledgers)]
    return [*pool(learner), *grids]


def named(one: Any) -> tuple[str, ...]:
    """The attributes that a field is of."""
    of = getattr(one, "of", None)
    return (one.name,) if of is None else (of,) if isinstance(of, str) else tuple(of)


def everything(learner: Any) -> list[np.ndarray]:
    """Every array of numbers below a learner's state that its fields name."""
    found: dict[int, np.ndarray] = {}
    known: set[int] = set()

    def walk(held: object) -> None:
        if id(held) in known:
            return
        known.add(id(held))
        if isinstance(held, np.ndarray):
            if held.dtype == np.float64 and held.size and held.flags.writeable:
                found[id(held)] = held
        elif isinstance(held, dict | list | tuple):
            for part in held.values() if isinstance(held, dict) else held:
                walk(part)
        elif type(held).__module__.startswith("noregret."):
            kept = {part for one in getattr(held, "FIELDS", ()) for part in named(one)}
            for name in sorted(kept):  # what follows from these may be shared by many states
                walk(getattr(held, name, None))

    walk(learner._state)
    return [*found.values()]


def forest(learner: Any) -> list[np.ndarray]:
    """Copies: the trees themselves are compiled."""
    return [np.array(part) for part in learner._state.forest.arrays()]


def planted(learner: Any, arrays: list[np.ndarray]) -> None:
    """Go on from these trees."""
    state = learner._state
    learner._state = type(state).restored(state.space, state.game, state.growth, *arrays)


@dataclass(frozen=True)
class Subject:
    """A learner, the arrays that it keeps, and whether its experts are fixed weights."""

    make: Callable[[], Any]
    stored: Callable[[Any], list[np.ndarray]]
    fixed: bool = False
    binary: bool = False
    hard: bool = True  # takes streams of any size
    why: str = ""  # what cannot be found
    put: Callable[[Any, list[np.ndarray]], None] | None = None  # copies back


RULES = "rules behind the proof, of which nothing is claimed"
FEW = "no sum is booked apart: its statements are reports"
SUBJECTS = {
    "Ridge": Subject(lambda: nr.Ridge(0.5), gaussian, fixed=True),
    "Ridge, clipped": Subject(lambda: nr.Ridge(0.5, clip=50.0), gaussian, fixed=True),
    "AAR": Subject(lambda: nr.AAR(0.5, fit_intercept=True), gaussian, fixed=True),
    "BayesianRidge": Subject(lambda: nr.BayesianRidge(0.5, noise_var=0.3), gaussian, fixed=True),
    "AAR, Taylor": Subject(
        lambda: nr.AAR(0.5, budget=nr.Taylor(2)), gaussian, fixed=True, hard=False
    ),
    "AAR, drift": Subject(
        lambda: nr.AAR(0.5, drift=0.01), gaussian, why="only inequalities bind P and w"
    ),
    "AAR, kernel": Subject(
        lambda: nr.AAR(0.5, kernel="rbf"),
        kernel,
        hard=False,
        why="",
    ),
    "AAR, hint": Subject(lambda: nr.AAR(0.5, hint="last"), gaussian, fixed=True),
    "AAR, discount": Subject(
        lambda: nr.AAR(0.5, discount=0.99), gaussian, why="only inequalities bind R and z"
    ),
    "BayesianRidge, noise learned": Subject(
        lambda: nr.BayesianRidge(0.5, noise_var=None), gaussian, fixed=True
    ),
    "pool": Subject(
        lambda: nr.AggregatingAlgorithm(
            {"a": nr.AAR(0.1), "b": nr.Ridge(10.0)}, outcome_range=(-60.0, 60.0)
        ),
        pool,
        why="what the book says of ranges and the best sequence",
    ),
    "MLpol": Subject(
        lambda: nr.MLpol({"a": nr.AAR(0.1), "b": nr.Ridge(10.0)}), everything, why=RULES
    ),
    "RulePool": Subject(
        lambda: nr.RulePool({"a": nr.AAR(0.1), "b": nr.Ridge(10.0)}), everything, why=RULES
    ),
    "RidgeMixture": Subject(
        lambda: nr.RidgeMixture(norm_bound=9.0, outcome_range=60.0, precisions=4),
        everything,
        hard=False,
        why="what the book says of ranges",
    ),
    "Mondrian": Subject(
        lambda: nr.Mondrian(trees=2), forest, hard=False, why="nodes: ridge, box, time", put=planted
    ),
    "KLMSNet": Subject(
        lambda: nr.KLMSNet(60.0), everything, hard=False, why="coefficients: no sum is apart"
    ),
    "LinearQuantiles": Subject(
        lambda: nr.LinearQuantiles([0.1, 0.9]), everything, hard=False, why="one sum per weight"
    ),
    "Auto": Subject(
        lambda: nr.Auto(effort="linear"), auto, hard=False, why="cells that do not lead the chain"
    ),
    "MAPLogistic": Subject(nr.MAPLogistic, mode, binary=True, hard=False),
    "BayesianLogistic": Subject(
        lambda: nr.BayesianLogistic(method="adf"), recursive, binary=True, hard=False, why=FEW
    ),
    "ImproperLogistic": Subject(
        nr.ImproperLogistic,
        recursive,
        binary=True,
        hard=False,
        why="z, and entries of R off the diagonal",
    ),
    "OSLOG": Subject(lambda: nr.OSLOG(0.5), oslog, hard=False, why=FEW),
    "KernelLMS": Subject(
        lambda: nr.KernelLMS("rbf", learning_rate=0.5), layer, hard=False, why=FEW
    ),
}


def rounds(rng: np.random.Generator, T: int, n: int, *, binary: bool) -> tuple[Any, Any]:
    X = rng.normal(size=(T, n)) @ rng.normal(size=(n, n)) / np.sqrt(n)
    margin = X @ rng.normal(size=n) + 0.3 * rng.normal(size=T)
    return X, (margin > 0.0).astype(float) if binary else margin


def corrupt(rng: np.random.Generator, arrays: list[np.ndarray]) -> bool:
    """Change one number, if there is one to change, as seen in the array itself."""
    sizes = [array.size for array in arrays]
    array = arrays[int(rng.choice(len(arrays), p=np.array(sizes) / sum(sizes)))]
    place = np.unravel_index(int(rng.integers(array.size)), array.shape)
    before = array[place]
    how = rng.integers(3)
    if how == 0:
        array[place] = before * 10.0 ** rng.uniform(-3.0, 3.0)
    elif how == 1:
        array[place] = -before
    else:
        other = np.unravel_index(int(rng.integers(array.size)), array.shape)
        array[place], array[other] = array[other], before
    return bool(array[place] != before)


def said(learner: Any, X: Any, y: Any) -> list[float]:
    found = []
    for x, outcome in zip(X, y):
        probability = getattr(learner, "predict_proba_one", None)
        found.append(float(probability(x)[1] if probability else learner.predict_one(x)))
        learner.learn_one(x, outcome)
    return found


def alarmed(learner: Any) -> bool:
    """Whether a certificate, or a check of the state, has found something."""
    found = learner.certificates()
    checks = any(check.ok is False for one in found for check in one.audit)
    return checks or any(one.holds is False for one in found)


@dataclass
class Count:
    """Corruptions that were tried, that changed a forecast, and that were found out."""

    tried: int = 0
    visible: int = 0
    found: int = 0
    missed: int = 0  # visible and not found
    refused: int = 0  # of those found, by an error


def campaign(subject: Subject, corruptions: int, seed: int = 0) -> Count:
    rng, count = np.random.default_rng(seed), Count()
    while count.tried < corruptions:
        n = int(rng.integers(1, 7))
        X, y = rounds(rng, BEFORE + AFTER, n, binary=subject.binary)
        learner = subject.make()
        for x, outcome in zip(X[:BEFORE], y[:BEFORE]):
            learner.learn_one(x, outcome)
        for _ in range(20):
            if count.tried == corruptions:
                break
            sound, wrong = copy.deepcopy(learner), copy.deepcopy(learner)
            arrays = subject.stored(wrong)
            if not corrupt(rng, arrays):
                continue
            count.tried += 1
            wanted = np.array(said(sound, X[BEFORE:], y[BEFORE:]))
            try:
                with np.errstate(all="ignore"):
                    if subject.put is not None:
                        subject.put(wrong, arrays)
                    got = np.array(said(wrong, X[BEFORE:], y[BEFORE:]))
                    alarm = alarmed(wrong)
            except (NoRegretError, ValueError, ArithmeticError, IndexError):
                count.visible, count.found = count.visible + 1, count.found + 1
                count.refused += 1
                continue
            if (np.abs(got - wanted) > VISIBLE * np.abs(wanted))[np.isfinite(wanted)].any():
                count.visible += 1
                count.found += alarm
                count.missed += not alarm
    return count


def hard(rng: np.random.Generator) -> tuple[Any, Any]:
    """A stream of some kind that is hard on arithmetic."""
    T, n = int(rng.integers(1, 60)), int(rng.integers(1, 7))
    X, y = rounds(rng, T, n, binary=False)
    kind = rng.integers(12)
    if kind == 0:
        X = X * 10.0 ** rng.uniform(-6, 6, n)
    elif kind == 1 and n > 1:
        X[:, 1] = X[:, 0] * (1.0 + 1e-8 * rng.normal(size=T))
    elif kind == 2:
        X[:, 0], X[:, 1:] = 1.0, X[:, 1:] + 1e6
    elif kind == 3:
        X, y = X * 1e12, y * 1e12
    elif kind == 4:
        X, y = X * 1e-310, y * 1e-310
    elif kind == 5:
        X[rng.integers(T)] *= 1e100
    elif kind == 6:
        y[rng.integers(T)] = 1e100
    elif kind == 7:
        y = y * 1e-160
    elif kind == 8:
        X[rng.random(X.shape) < 0.7] = 0.0
    elif kind == 9:
        X, y = np.exp(rng.normal(size=X.shape) * 8.0), y * np.exp(rng.normal(size=T) * 8.0)
    elif kind == 10:
        X = np.repeat(X[:1], T, axis=0)
        y = X[:, 0] * 3.0  # what an expert knows exactly
    return X, y


def sound_streams(streams: int, seed: int = 1) -> Iterator[tuple[str, bool]]:
    """Learners on sound streams, and whether a certificate failed."""
    rng = np.random.default_rng(seed)
    names = [*SUBJECTS]
    for k in range(streams):
        name = names[k % len(names)]
        subject = SUBJECTS[name]
        n, T = int(rng.integers(1, 7)), int(rng.integers(1, 60))
        X, y = hard(rng) if subject.hard else rounds(rng, T, n, binary=subject.binary)
        learner = subject.make()
        try:
            if k // len(names) % 2:
                half = len(X) // 2
                said(learner, X[:half], y[:half])
                learner.partial_fit(X[half:], y[half:])
            else:
                said(learner, X, y)
        except NoRegretError:  # refused with a word, before anything was learned
            continue
        yield name, alarmed(learner)


def main() -> None:
    corruptions = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    streams = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    head = ("learner", "corruptions", "change a forecast", "found", "share", "what is not found")
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for name, subject in SUBJECTS.items():
        c = campaign(subject, corruptions)
        share = f"{c.found / max(c.visible, 1):.1%}"
        print(
            f"| {name} | {c.tried} | {c.visible} | {c.found} | {share} | {subject.why} |",
            flush=True,
        )
    alarms = [name for name, wrong in sound_streams(streams) if wrong]
    print(f"\nfalse alarms on {streams:,} sound streams: {len(alarms)} {sorted(set(alarms))}")


if __name__ == "__main__":
    main()
