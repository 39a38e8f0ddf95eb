"""What is proved of tracked ends: docs/theory.md, section 20.

The coverage identity is a sum that telescopes, so it holds on any data; the others speak where
every end was issued as its own tracker had it, which the book counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from noregret._native import tracker as at
from noregret.certificates import Assumption, Certificate
from noregret.types import Vector
from noregret.wrappers.tracking import Trackers

__all__ = ["coverage_certificates", "level_certificates"]

CONSTANTS = np.arange(at.TRACKERS) - 3.0


def coverage_certificates(trackers: Trackers, coverages: Sequence[float]) -> Iterator[Certificate]:
    """Of intervals: for every coverage the identity first, then what follows from it."""
    for coverage in coverages:
        pair = _pair(trackers, coverage)
        title = f"{100.0 * coverage:g} % intervals"
        yield _identity(trackers, pair, f"{title}, coverage identity")
        yield from (_identity(trackers, [l], f"{title}, {_side(trackers, l)}") for l in pair)
        yield _rate(trackers, pair, f"{title}, rate of coverage")
        yield _best_tracker(trackers, pair, f"{title}, best tracker")
        yield _best_constant(trackers, pair, f"{title}, best constant")
        yield from _windows(trackers, pair, title)


def level_certificates(trackers: Trackers) -> Iterator[Certificate]:
    """Of quantiles: the same for every level."""
    for l, level in enumerate(trackers.levels.tolist()):
        title = f"quantile {level:g}"
        yield _identity(trackers, [l], f"{title}, coverage identity")
        yield _rate(trackers, [l], f"{title}, rate of coverage")
        yield _best_tracker(trackers, [l], f"{title}, best tracker")
        yield _best_constant(trackers, [l], f"{title}, best constant")


def _pair(trackers: Trackers, coverage: float) -> list[int]:
    """The two levels of a coverage."""
    low = int(np.argmin(np.abs(trackers.levels - 0.5 * (1.0 - coverage))))
    return [low, len(trackers.levels) - 1 - low]


def _side(trackers: Trackers, level: int) -> str:
    return "outcomes above" if trackers.book[level, at.SIDE] > 0.0 else "outcomes below"


def _identity(trackers: Trackers, levels: list[int], name: str) -> Certificate:
    """misses = alpha T + (r - r_1)/eta, each side counted apart from the trackers; (20.2)."""
    book, T = trackers.book[levels], trackers.rounds
    misses, expected = float(book[:, at.MISSES].sum()), float(book[:, at.ALPHA].sum()) * T
    return Certificate.of(
        name=name,
        kind="equality",
        rounds=T,
        loss=misses,
        comparator=expected,
        bound=expected + float(book[:, at.LAST].sum()) / at.ETA,
        statement=(
            f"misses = alpha T + (r - r_1)/eta, alpha = {book[:, at.ALPHA].sum():.6g}, "
            f"eta = {at.ETA:g}: coverage {1.0 - misses / max(T, 1):.4f} of T rounds"
        ),
        scale=float(T),
    )


def _reach(trackers: Trackers, level: int) -> tuple[float, list[Assumption]]:
    """How far r can be from 0, in steps of eta, and what must hold for that; (20.3), (20.4).

    Where an inner end moved this one out, r may have fallen as far as the inner one rose.
    """
    book = trackers.book
    row = book[level]
    steps = float(row[at.REACH]) / at.ETA + 1.0 + float(row[at.ALPHA] * row[at.OPEN])
    as_tracked = bool(row[at.LATE] == row[at.CROSSED] == 0.0)
    text = "ends did not cross, and were issued from all rounds before"
    assumed = [Assumption(text, met=as_tracked)]
    if row[at.NESTED] > 0.0:
        inner = level - int(row[at.SIDE])
        more, theirs = _reach(trackers, inner)
        return steps + 2.0 * more, assumed + theirs
    return steps, assumed


def _rate(trackers: Trackers, levels: list[int], name: str) -> Certificate:
    """|misses - alpha T| <= B/eta + 1 + alpha F for every end: coverage comes at the rate 1/T."""
    reached = [_reach(trackers, level) for level in levels]
    book = trackers.book[levels]
    apart = np.abs(book[:, at.MISSES] - book[:, at.ALPHA] * trackers.rounds)
    assumed = dict.fromkeys(one for _, more in reached for one in more)
    return Certificate.of(
        name=name,
        kind="upper bound",
        rounds=trackers.rounds,
        loss=float(apart.sum()),
        comparator=0.0,
        bound=sum(steps for steps, _ in reached),
        statement=(
            "sum over ends of |misses - alpha T| <= B/eta + 1 + alpha F, "
            f"B = {book[:, at.REACH].max():.4g} the largest |s - P|/u so far, "
            f"F = {book[:, at.OPEN].max():.0f} rounds with infinite ends"
        ),
        assumptions=tuple(assumed),
        scale=float(trackers.rounds),
    )


def _own(trackers: Trackers, levels: list[int]) -> tuple[Assumption]:
    moved = trackers.book[levels][:, [at.NESTED, at.CROSSED, at.LATE]].sum()
    text = "every end was issued as its own tracker had it, from all rounds before"
    return (Assumption(text, met=bool(moved == 0.0)),)


def _push(row: Vector) -> float:
    """What the tracker last may lose against the merge; it has moved in rounds with open ends."""
    moved, open_ = float(row[at.ALPHA] * row[at.OPEN]), float(row[at.OPEN])
    begin = (1.0 + at.EARLY / (open_ + at.CALM)) * moved * moved
    return 0.5 * at.ETA * (float(row[at.PUSH]) + begin)


def _best_tracker(trackers: Trackers, levels: list[int], name: str) -> Certificate:
    """(20.6): pinball loss <= min_k (tracker k's + sqrt(D_k sum r^2/D)) + eta/2 sum (err - a)^2."""
    best = bound = 0.0
    for level in levels:
        row, paid = trackers.book[level], trackers.track[level, at.PAID]
        price = np.sqrt(trackers.track[level, at.WORTH] * row[at.PRICE])
        best += float(paid.min())
        bound += float((paid + price).min()) + _push(row)
    return _pinball(trackers, levels, name, best, bound, "min_k (that of tracker k + sqrt(D_k S))")


def _best_constant(trackers: Trackers, levels: list[int], name: str) -> Certificate:
    """(20.7): against constants, by way of the tracker with small steps."""
    best = bound = 0.0
    for level in levels:
        row, track = trackers.book[level], trackers.track[level]
        start = float(row[at.START])
        constants = start + CONSTANTS * (0.25 + 0.2 * abs(start))
        last = max(at.STEADY_STEP, 1.0 / (1.0 + float(row[at.ALPHA]) * (trackers.rounds - 1.0)))
        far = np.maximum(np.abs(row[at.LOW] - constants), np.abs(row[at.HIGH] - constants))
        paid = track[at.FIXED]
        merging = math.sqrt(float(track[at.WORTH, at.STEADY]) * float(row[at.PRICE]))
        walk = far * far / (2.0 * last) + 0.5 * float(row[at.STEPS])
        best += float(paid.min())
        bound += float((paid + walk).min()) + merging + _push(row)
    return _pinball(
        trackers, levels, name, best, bound, "min_c (that of the constant c + walk) + sqrt(D S)"
    )


def _pinball(
    trackers: Trackers, levels: list[int], name: str, best: float, bound: float, words: str
) -> Certificate:
    return Certificate.of(
        name=name,
        kind="upper bound",
        rounds=trackers.rounds,
        loss=float(trackers.book[levels, at.LOSS].sum()),
        comparator=best,
        bound=bound,
        statement=(
            f"pinball loss <= {words} + eta/2 sum (err - alpha)^2, "
            "in units of the mean |y - forecast| before each round"
        ),
        assumptions=_own(trackers, levels),
    )


def _windows(trackers: Trackers, pair: list[int], title: str) -> list[Certificate]:
    """The worst coverage of 100 and of 500 rounds in a row: no claim, numbers to watch."""
    ring, T = trackers.ring[pair[0]], trackers.rounds
    alpha = float(trackers.book[pair, at.ALPHA].sum())
    found = []
    for size, column in ((at.SHORT, at.MOST_SHORT), (at.LONG, at.MOST_LONG)):
        misses, seen = float(ring[column]), min(size, T)
        found.append(
            Certificate(
                name=f"{title}, worst {size} in a row",
                kind="report",
                rounds=T,
                loss=misses,
                comparator=alpha * seen,
                bound=None,
                statement=(
                    f"most misses in {seen} rounds in a row: coverage "
                    f"{1.0 - misses / max(seen, 1):.3f} at the worst"
                ),
                assumptions=(),
            )
        )
    return found
