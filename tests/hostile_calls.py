"""What nobody should give a learner: rows, outcomes, tables, and the calls that take them.

Shared by the state machine and by the campaign.  A hostile value is made anew for every call, as
some can be used only once.  Those of `NEVER` are no numbers, or none that float64 could hold:
whoever takes numbers refuses them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

import noregret as nr
from hostile_inputs import INF, NAN, Rude

HUGE = 10**400


def endless() -> list[Any]:
    """A list that holds itself."""
    found: list[Any] = []
    found.append(found)
    return found


# Entries that are no numbers, or none that float64 could hold.
NEVER: dict[str, Callable[[], Any]] = {
    "nan": lambda: NAN,
    "inf": lambda: INF,
    "-inf": lambda: -INF,
    "None": lambda: None,
    "word": lambda: "abc",
    "digits": lambda: "1.5",
    "bytes": lambda: b"1",
    "complex": lambda: 1.0 + 1.0j,
    "integer beyond float64": lambda: HUGE,
    "-integer beyond float64": lambda: -HUGE,
    "fraction beyond float64": lambda: Fraction(HUGE, 3),
    "decimal beyond float64": lambda: Decimal("1e400"),
    "decimal NaN": lambda: Decimal("NaN"),
    "decimal sNaN": lambda: Decimal("sNaN"),
    "decimal infinity": lambda: Decimal("-Infinity"),
    "integer between floats": lambda: 2**53 + 1,
    "longdouble": lambda: np.longdouble("1e310"),
    "numpy nan": lambda: np.float32(NAN),
    "NaT": lambda: np.datetime64("NaT"),
    "date": lambda: dt.date(2024, 2, 29),
    "masked": lambda: np.ma.masked,
    "pandas NA": lambda: pd.NA,
    "list": lambda: [1.0],
    "empty list": list,
    "endless list": endless,
    "mapping": dict,
    "set": lambda: {1.0},
    "object": object,
    "rude object": Rude,
    "function": lambda: abs,
    "type": lambda: float,
    "slice": lambda: slice(3),
    "ellipsis": lambda: ...,
    "beyond 2^1000": lambda: 1.2e301,
}

# Numbers that float64 holds, and that not every learner can use.
LARGE: dict[str, Callable[[], Any]] = {
    "1e8": lambda: 1e8,
    "1e30": lambda: 1e30,
    "-1e99": lambda: -1e99,
    "1e140": lambda: 1e140,
    "1e155": lambda: 1e155,
    "-1e160": lambda: -1e160,
    "1e300": lambda: 1e300,
    "1e-300": lambda: 1e-300,
    "denormal": lambda: 5e-324,
}

# Outcomes that no learner takes, whatever its outcomes are.
OUTCOMES: dict[str, Callable[[], Any]] = {
    **{k: v for k, v in NEVER.items() if k not in ("integer between floats", "list")},
    "1e200": lambda: 1e200,
    "-1e155": lambda: -1e155,
    "vector with nan": lambda: np.array([1.0, NAN]),
    "matrix": lambda: np.ones((2, 2)),
    "words": lambda: ["a", "b"],
}
# Outcomes that some learners take and others must not.
ODD_OUTCOMES: dict[str, Callable[[], Any]] = {
    "three outcomes": lambda: [1.0, 2.0, 3.0],
    "half": lambda: 0.5,
    "two": lambda: 2,
    "minus three": lambda: -3.0,
    "1e100": lambda: 1e100,
    "1e141": lambda: 1e141,
    "yes": lambda: "yes",
    "one in a list": lambda: [1.0],
    "pair": lambda: [1.0, 0.0],
    "true": lambda: np.bool_(True),
    "float16": lambda: np.float16(1.0),
    "decimal": lambda: Decimal("0.1"),
    "-0.0": lambda: -0.0,
    "denormal": lambda: 5e-324,
}


def _vectors(x: np.ndarray, k: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Hostile rows by position; the k-th entry is the one that is bad."""

    def listed(value: Any) -> list[Any]:
        row: list[Any] = x.tolist()
        row[k] = value
        return row

    for name, value in {**NEVER, **LARGE}.items():
        yield f"entry: {name}", lambda value=value: listed(value())
    for name in ("nan", "inf", "1e30", "1e140", "1e300"):
        value = {**NEVER, **LARGE}[name]
        yield f"array: {name}", lambda value=value: np.array(listed(value()))
    yield "all nan", lambda: x * NAN
    yield "all 1e160", lambda: np.full(len(x), 1e160)
    yield "short", lambda: x[:-1].copy()  # noqa: PLW0108  # made anew
    yield "long", lambda: np.append(x, 1.0)
    yield "empty", lambda: np.empty(0)
    yield "very long", lambda: np.zeros(20)
    yield "two rows", lambda: np.stack([x, x])
    yield "number", lambda: np.array(1.0)
    yield "words", lambda: x.astype(str)
    yield "complex array", lambda: x + 1j
    yield "objects", lambda: np.array([object()] * len(x))
    yield "dates", lambda: np.array(["2024-02-29"] * len(x), dtype="M8[D]")
    yield "masked array", lambda: np.ma.array(x, mask=[True] * len(x))
    yield "structured", lambda: np.zeros(len(x), dtype=[("a", float)])
    yield "sparse row", lambda: scipy.sparse.csr_matrix(x[None])
    yield "mapping", lambda: {"a": 1.0}
    yield "frame", lambda: pd.DataFrame(np.stack([x, x]))
    yield "series of words", lambda: pd.Series(["a"] * len(x))
    yield from _anything()


def _mappings(x: dict[Any, Any], k: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Hostile rows by name."""
    names = list(x)
    name = names[k % len(names)]
    for kind, value in {**NEVER, **LARGE}.items():
        yield f"entry: {kind}", lambda value=value: {**x, name: value()}
        yield f"new name: {kind}", lambda value=value: {**x, "never seen": value()}
    yield "nan for a name", lambda: {**x, NAN: 1.0}
    yield "empty", dict
    yield "only new", lambda: {"never seen": 1.0}
    yield "array", lambda: np.ones(len(x))
    yield "series of words", lambda: pd.Series(dict.fromkeys(map(str, x), "a"))
    yield "two names alike", lambda: pd.Series([1.0, 2.0], index=["a", "a"])
    yield "frame", lambda: pd.DataFrame({"a": [1.0, 2.0]})
    yield from _anything()


def _anything() -> Iterator[tuple[str, Callable[[], Any]]]:
    """What is no row at all."""
    wrong = ("None", "word", "bytes", "nan", "integer beyond float64", "complex", "set", "object")
    for name in (*wrong, "rude object", "function", "type", "endless list", "ellipsis"):
        yield f"instead of x: {name}", NEVER[name]
    yield "iterator", lambda: iter([1.0, 2.0])
    yield "ragged", lambda: [[1.0], [1.0, 2.0]]
    yield "nested", lambda: [[[1.0]]]


def rows(x: Any, k: int) -> dict[str, Callable[[], Any]]:
    """Hostile rows in the place of x."""
    if isinstance(x, np.ndarray):
        return dict(_vectors(x, k % len(x)))
    if isinstance(x, dict):
        return dict(_mappings(x, k)) if x else dict(_anything())
    return dict(_anything())


def refused_by_all(kind: str) -> bool:
    """Whether whoever takes numbers must refuse this row."""
    place, _, name = kind.partition(": ")
    return place in ("entry", "array", "new name") and name in NEVER


def columns(ys: list[Any]) -> dict[str, Callable[[], Any]]:
    """Hostile outcomes of a table."""
    found: dict[str, Callable[[], Any]] = {
        f"last: {name}": lambda value=value: [*ys[:-1], value()] for name, value in OUTCOMES.items()
    }
    for name in ("None", "word", "nan", "object", "set", "function", "endless list"):
        found[f"instead of y: {name}"] = NEVER[name]
    return found | {
        "one too few": lambda: ys[:-1],
        "one too many": lambda: [*ys, ys[0]],
        "none": list,
        "cube": lambda: np.zeros((len(ys), 1, 2)),
        "ragged": lambda: [[1.0], *[[1.0, 2.0]] * (len(ys) - 1)],
        "first: half": lambda: [0.5, *ys[1:]],
        "all 1e150": lambda: [1e150] * len(ys),
        "words": lambda: np.array(["a"] * len(ys)),
        "complex": lambda: np.full(len(ys), 1j),
        "dates": lambda: np.array(["2024-02-29"] * len(ys), dtype="M8[D]"),
    }


def tables(xs: list[Any], k: int) -> dict[str, Callable[[], Any]]:
    """Hostile tables: the last row is bad, or the whole of it."""
    found: dict[str, Callable[[], Any]] = {
        f"last: {name}": lambda row=row: [*xs[:-1], row()] for name, row in rows(xs[-1], k).items()
    }
    for name in ("None", "word", "nan", "object", "set", "function", "endless list", "mapping"):
        found[f"instead of X: {name}"] = NEVER[name]
    return found | {
        "none": list,
        "no rows": lambda: np.empty((0, 3)),
        "no columns": lambda: np.empty((len(xs), 0)),
        "cube": lambda: np.zeros((len(xs), 1, 2)),
        "vector": lambda: np.ones(len(xs)),
        "wide": lambda: np.ones((len(xs), 9)),
        "words": lambda: np.array([["a", "b", "c"]] * len(xs)),
        "frame of words": lambda: pd.DataFrame({"a": ["x"] * len(xs)}),
        "frame with gaps": lambda: pd.DataFrame({"a": [None] * len(xs)}),
    }


# Calls --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """One hostile call: what it is called, whom it calls how, whether it might teach something,
    and whether it must be refused."""

    kind: str
    call: Callable[[Any], Any]
    learns: bool = False
    never: bool = False

    def __call__(self, learner: Any) -> Any:
        return self.call(learner)


def calls(learner: Any, xs: list[Any], ys: list[Any], k: int) -> Iterator[Call]:
    """Every hostile call in the place of the good rounds xs, ys; k says which entry is bad."""
    yield from _one_round(learner, xs[-1], ys[-1], k)
    yield from _many_rounds(learner, xs, ys, k)
    yield from _others(learner)


def _one_round(learner: Any, x: Any, y: Any, k: int) -> Iterator[Call]:
    numeric = takes_numbers(learner, x)
    delayed = isinstance(learner, nr.Delayed)
    for kind, row in rows(x, k).items():
        never = numeric and refused_by_all(kind)
        for verb in ("predict_one", "predictive", "learn_one"):
            if not hasattr(learner, verb) or (delayed and verb == "learn_one"):
                continue
            learns = delayed or verb == "learn_one"
            rest = (y,) if verb == "learn_one" else ()

            def call(it: Any, verb: str = verb, row: Any = row, rest: Any = rest) -> Any:
                return getattr(it, verb)(row(), *rest)

            yield Call(f"{verb}, x {kind}", call, learns, never)
    for kind, value in {**OUTCOMES, **ODD_OUTCOMES}.items():

        def learn(it: Any, value: Any = value) -> Any:
            where = next(iter(it.pending_), 0) if delayed else x
            return it.learn_one(where, value())

        yield Call(f"learn_one, y {kind}", learn, learns=True, never=kind in OUTCOMES)
    if delayed:
        for kind, value in NEVER.items():
            for verb, rest in (("learn_one", (y,)), ("drop", ())):

                def settle(it: Any, verb: str = verb, value: Any = value, rest: Any = rest) -> Any:
                    return getattr(it, verb)(value(), *rest)

                yield Call(f"{verb}, ticket {kind}", settle, learns=True, never=True)


def _many_rounds(learner: Any, xs: list[Any], ys: list[Any], k: int) -> Iterator[Call]:
    numeric = takes_numbers(learner, xs[-1])
    alike = len({x.shape if isinstance(x, np.ndarray) else None for x in xs}) == 1
    good: Any = np.array(xs) if alike and isinstance(xs[0], np.ndarray) else xs
    for kind, table in tables(xs, k).items():
        never = numeric and refused_by_all(kind.removeprefix("last: "))
        for verb in ("predict", "predict_proba", "replay", "partial_fit", "fit"):
            if not hasattr(learner, verb):
                continue
            learns = not verb.startswith("predict")
            rest = (list(ys),) if learns else ()

            def call(it: Any, verb: str = verb, table: Any = table, rest: Any = rest) -> Any:
                return getattr(it, verb)(table(), *rest)

            yield Call(f"{verb}, X {kind}", call, learns, never)
    for kind, column in columns(ys).items():
        for verb in ("replay", "partial_fit", "fit"):

            def learn(it: Any, verb: str = verb, column: Any = column) -> Any:
                return getattr(it, verb)(good, column())

            if hasattr(learner, verb):
                yield Call(f"{verb}, y {kind}", learn, learns=True, never=kind.startswith("last: "))


def _others(learner: Any) -> Iterator[Call]:
    for kind, value in {**NEVER, **LARGE, "another learner": nr.SLOG}.items():
        yield Call(f"merge, {kind}", lambda it, v=value: it.merge(v()), learns=True, never=True)
        if isinstance(learner, nr.Ridge | nr.AAR | nr.BayesianRidge | nr.OSLOG):
            yield Call(
                f"certificates, outcome_bound {kind}",
                lambda it, v=value: it.certificates(outcome_bound=v()),
            )
        if hasattr(learner, "join"):
            yield Call(
                f"join, weight {kind}",
                lambda it, v=value: it.join(nr.AAR(), v()),
                learns=True,
                never=kind in NEVER,
            )
            yield Call(f"join, expert {kind}", lambda it, v=value: it.join(v(), 0.1), learns=True)


def takes_numbers(learner: Any, x: Any) -> bool:
    """Whether every entry of x must be a number: not where x gives the forecasts of experts that
    may sleep, nor where a kernel of the caller's takes objects."""
    if isinstance(learner, nr.Delayed | nr.Lagged):
        return takes_numbers(learner.learner, x)
    if isinstance(learner, nr.AggregatingAlgorithm | nr.ExponentialWeights):
        return not all(isinstance(e, str) or callable(e) for e in learner.experts)
    given = getattr(learner, "kernel", None), getattr(learner, "family", None)
    return isinstance(x, np.ndarray | dict) and not any(map(callable, given))
