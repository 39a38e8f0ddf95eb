"""Seasons and the calendar: which repeat at a frequency, and what the wall clock says of a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from noregret.errors import ParameterError, abbreviated
from noregret.forecasting.times import DAY, Every
from noregret.types import Matrix, Vector

__all__ = ["Season", "calendar", "clock_face", "parts_of", "seasons_of", "stretch_of"]

YEAR = 365.2425 * DAY
PARTS = ("day", "week", "year")
HARMONICS = {"day": 2, "year": 1}


@dataclass(frozen=True, slots=True)
class Season:
    """A period in steps, and what its last turn is called."""

    steps: int
    name: str

    def lag(self, horizon: int) -> int:
        """The least whole number of periods that reaches back to what is known."""
        return self.steps * -(-horizon // self.steps)


def seasons_of(every: Every) -> list[Season]:
    """The seasons that a frequency has, the shortest first.

    >>> from noregret.forecasting.times import Every
    >>> [season.steps for season in seasons_of(Every.of("30 min"))]
    [48, 336, 17472]
    >>> [season.name for season in seasons_of(Every.of("1 month"))]
    ['same month last year']
    """
    if every.unit != "moment":
        return []
    if every.months:
        turns = 12 / every.months
        whole = turns == int(turns) and turns > 1
        names = {12: "same month last year", 4: "same quarter last year"}
        return [Season(int(turns), names.get(int(turns), "same time last year"))] if whole else []
    if every.weekday is not None:
        return [Season(5, "same day last week"), Season(260, "same day last year")]
    week = 7 * DAY / every.step
    if every.step == 7 * DAY:
        return [Season(52, "same week last year")]
    found = []
    if every.step < DAY and DAY % every.step == 0:
        found.append(Season(round(DAY / every.step), "same time yesterday"))
    if week >= 2 and week == int(week):
        found.append(Season(int(week), "same time last week" if found else "same day last week"))
        found.append(
            Season(
                52 * int(week), "same time last year" if len(found) > 1 else "same day last year"
            )
        )
    return found


def stretch_of(every: Every) -> tuple[int, str]:
    """How many steps the last stretch has, and its name."""
    if every.weekday is not None:
        return 30, "last 30 weekdays"
    if every.unit == "moment" and not every.months and every.step <= DAY:
        return max(round(30 * DAY / every.step), 30), "last 30 days"
    if every.unit == "moment":
        return (12, "last 12 months") if every.months == 1 else (30, "last 30 rows")
    return 1000, "last 1,000 rows"


def parts_of(chosen: object, every: Every) -> list[str]:
    """Which parts of the calendar are features; "auto" takes those that fit the frequency."""
    fits = []
    if every.unit == "moment":
        step = every.step if not every.months else every.months * 30 * DAY
        fits = [
            part
            for part, fit in zip(
                PARTS,
                (step < DAY / 2, step <= DAY and every.weekday is None, step < YEAR / 2),
            )
            if fit
        ]
    if chosen is None or chosen is False:
        return []
    if isinstance(chosen, str) and chosen == "auto":
        return fits
    named = [chosen] if isinstance(chosen, str) else chosen
    if not isinstance(named, Sequence) or not all(part in PARTS for part in named):
        raise ParameterError(
            f'calendar = {abbreviated(chosen)}: give "auto", None, or some of {", ".join(PARTS)}'
        )
    for part in named:
        if part not in fits:
            raise ParameterError(
                f"calendar = {part!r} says nothing of rows that are {every} apart: it needs "
                "times that are closer together"
            )
    return list(named)


def calendar_names(parts: Sequence[str]) -> list[str]:
    """The names of the columns that `calendar` makes."""
    found = []
    for part in parts:
        if part == "week":
            found += ["Saturday", "Sunday"]
        for k in range(1, HARMONICS.get(part, 0) + 1):
            found += [f"sine {k} of the {part}", f"cosine {k} of the {part}"]
    return found


def calendar(parts: Sequence[str], local: Vector) -> Matrix:
    """The columns of the calendar at local times, in microseconds since 1970."""
    columns: list[Vector] = []
    for part in parts:
        if part == "week":
            weekday = _weekday(local)
            columns += [(weekday == 5.0).astype(float), (weekday == 6.0).astype(float)]
        for k in range(1, HARMONICS.get(part, 0) + 1):
            turns = 2.0 * math.pi * k * local / (DAY if part == "day" else YEAR)
            columns += [np.sin(turns), np.cos(turns)]
    return np.column_stack(columns) if columns else np.empty((len(local), 0))


def clock_face(parts: Sequence[str], local: Vector) -> Matrix:
    """Hour, weekday (0 is Monday) and month (0 is January) at local times, as whole numbers.

    >>> noon = np.array(["2024-02-29T12:00"], dtype="datetime64[us]").astype(float)
    >>> clock_face(PARTS, noon).tolist()
    [[12.0, 3.0, 1.0]]
    """
    columns: list[Vector] = []
    for part in parts:
        if part == "day":
            columns.append(np.floor(24.0 * (local % DAY) / DAY))
        elif part == "week":
            columns.append(_weekday(local))
        else:
            months = local.astype("datetime64[us]").astype("datetime64[M]").astype(float)
            columns.append(months % 12.0)
    return np.column_stack(columns) if columns else np.empty((len(local), 0))


def _weekday(local: Vector) -> Vector:
    day: Vector = (np.floor(local / DAY) + 3.0) % 7.0  # 1 January 1970 was a Thursday
    return day
