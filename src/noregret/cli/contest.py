"""Learners side by side: errors beside the naive forecasts, and what is proved of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from noregret.cli.show import number, paid

if TYPE_CHECKING:
    from noregret.running.player import Player
    from noregret.running.summary import Summary

__all__ = ["lines"]

NAME, CELL = 36, 11  # columns of the names, and of the others


def lines(players: Sequence[Player], found: Sequence[Summary], *, bands: bool) -> Iterator[str]:
    """A table of at most 80 columns, the best learner first.

    bands : how many outcomes the intervals covered and how wide they were, instead of the errors
        beside the best naive forecast.
    """
    binary = players[0].binary
    naive = [] if binary else [one for one in players[0].baselines.errors()[1:] if one.rmse > 0.0]
    least = min((one.rmse for one in naive), default=0.0)
    asked = [f"{100 * c:g} %" for c in players[0].coverages] if bands else []
    heads = [head for one in asked for head in (f"in {one}", "width")]
    heads = heads or ["to naive"] * bool(naive)
    yield _row("", ["log loss" if binary else "RMSE", *heads, "at most"])
    for player, one in sorted(zip(players, found), key=lambda pair: paid(pair[0])):
        error = player.loss / max(player.rounds, 1) if binary else player.rmse
        middle = [_beside(error, least)] if naive else []
        if bands:
            cells = (
                (f"{100 * c.share:.1f} %", number(2.0 * c.half_width)) for c in player.covering
            )
            middle = [cell for pair in cells for cell in pair]
        yield _row(player.name, [number(error), *middle, _proved(one)])
    for each in sorted(naive, key=lambda one: one.rmse):
        yield _row(f"{each.name} (naive)", [number(each.rmse)])
    yield ""
    yield "At most: proved of the error so far, whatever the data; both sides: --proofs"


def _row(name: str, cells: Sequence[str]) -> str:
    first, *rest = cells
    return f"  {name:<{NAME}}{first:>{CELL - 3}}" + "".join(f"{cell:>{CELL}}" for cell in rest)


def _beside(error: float, least: float) -> str:
    """How much lower (-) or higher (+) an error is than the least of the naive forecasts."""
    if not least > 0.0 or error != error:
        return "-"
    return f"{100.0 * (error / least - 1.0):+.0f} %"


def _proved(one: Summary) -> str:
    """What is proved of the error; FAILS where a certificate does."""
    guarantee = one.guarantee
    if guarantee is None or guarantee.holds is None or guarantee.bound != guarantee.bound:
        return "-"
    return number(guarantee.bound) if guarantee.holds else "FAILS"
