"""What is known of a step when it is forecast h steps before: features, and naive forecasts.

Step s is forecast from its origin s - h: outcomes up to the origin, the calendar at s, features at
s where they are known ahead, at the origin where they are not.  Outcomes enter relative to a base
(the seasonal mean at s; the last outcome where there is no season) and in units of the deviation so
far, cut at 50 of them: so the level and the unit of the series change nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from noregret.forecasting.history import MEAN, OFFSET, QUICK, SCALE, SLOW, History, Y
from noregret.forecasting.seasons import Season, calendar, calendar_names, clock_face
from noregret.forecasting.times import DAY, Every, Moments, _offsets
from noregret.types import Integers, Matrix, Vector

__all__ = ["FAR", "AsTheyAre", "Design", "reach_of"]

FAR = 50.0  # deviations
RECENT = 3  # last outcomes


@dataclass(frozen=True, slots=True)
class Design:
    """Which features are made, for one grid of times; all that follows from the parameters."""

    every: Every
    origin: float  # the time of step 0
    zone: str
    seasons: tuple[Season, ...]  # the shortest first
    lags: tuple[int, ...] | None  # as given; None: chosen by season and horizon
    parts: tuple[str, ...]  # of the calendar
    features: tuple[str, ...]
    ahead: tuple[bool, ...]  # by feature: known at the step that is forecast
    binary: bool = False  # outcomes are 0 and 1
    warm: int = 0  # first steps, which showed the frequency: nothing was forecast there
    first: ClassVar[int] = 1  # the step that is learned first: there is a past

    # Naive forecasts ------------------------------------------------------------------------

    @property
    def echoes(self) -> tuple[Season, ...]:
        """What may repeat: the seasons, and the lags that were given."""
        steps = {season.steps for season in self.seasons}
        given = [Season(lag, f"{lag} steps before") for lag in self.lags or () if lag not in steps]
        return (*self.seasons, *given)

    @property
    def turns(self) -> list[int]:
        """How many steps in a row an echo must have been exact before it is followed exactly."""
        given = self.lags or ()
        return [
            e.steps if e.steps in given and e.steps > 1 else max(e.steps, 6) for e in self.echoes
        ]

    @property
    def baselines(self) -> list[str]:
        """The names of the naive forecasts."""
        return ["mean so far", "last value", *(echo.name for echo in self.echoes)]

    def naive(self, past: History, steps: Integers, h: int) -> Matrix:
        """The naive forecasts of these steps, one column each.

        What a season has not yet seen comes from the next shorter one, at last from the last value.
        """
        origin = past.columns(steps - h)
        last = past.table[Y, origin]
        columns = [past.table[MEAN, origin], last]
        below = last
        for echo in self.echoes:
            lag = echo.lag(h)
            value = past.table[Y, past.columns(steps - lag)]
            below = np.where(steps >= lag, value, below)
            columns.append(below)
        return np.column_stack(columns)

    # Features -------------------------------------------------------------------------------

    @property
    def means(self) -> tuple[Season, ...]:
        """Seasons whose means are kept: those within a year, if there are some."""
        if self.lags is not None:
            return ()
        return tuple(s for s in self.seasons if "year" not in s.name) or self.seasons

    @property
    def years(self) -> tuple[Season, ...]:
        """The year, where a step is a day or more: less, and one step of last year is but noise."""
        if self.lags is not None or not (self.every.months or self.every.step >= DAY):
            return ()
        return tuple(season for season in self.seasons if season not in self.means)

    def names(self, h: int) -> list[str]:
        """The features at horizon h, in words."""
        if self.lags is not None:
            found = [f"lag {lag}" for lag in self.lags]
        else:
            found = [f"lag {h + k}" for k in range(RECENT)]
            found += ["level, quick", "level, slow"]
            for season in self.means:
                lag = season.lag(h)
                found += [
                    f"lag {lag}",
                    f"lag {lag + h}",
                    f"mean of lags {lag}, {lag + season.steps}, ...",
                ]
                found += [f"mean {h} steps before"]
            for year in self.years:
                found += [f"lag {year.lag(h)}", f"lag {year.lag(h) + h}"]
        found += calendar_names(self.parts)
        return [
            *found,
            *(n if a else f"{n} {h} steps before" for n, a in zip(self.features, self.ahead)),
        ]

    def rows(
        self, past: History, steps: Integers, h: int, given: Matrix | None = None
    ) -> tuple[Matrix, Vector, Vector]:
        """Features of these steps, the base and the unit of each; `given` has features ahead."""
        table, origin = past.table, past.columns(steps - h)
        unit = table[SCALE, origin]
        columns: list[Vector] = []
        if self.lags is not None:
            columns += [table[Y, past.columns(steps - lag)] for lag in self.lags]
            base = table[SLOW, origin]
        else:
            base = table[Y, origin]
            columns += [table[Y, past.columns(steps - h - k)] for k in range(RECENT)]
            columns += [table[QUICK, origin], table[SLOW, origin]]
            for k, season in enumerate(self.means):
                mean, lag = table[past.row(k)], season.lag(h)
                base = np.where(steps >= lag, mean[past.columns(steps - lag)], base)
                columns += [
                    np.where(steps >= lag, table[Y, past.columns(steps - lag)], base),
                    table[Y, past.columns(steps - h - lag)],
                    base,
                    mean[past.columns(steps - h - season.steps)],
                ]
            for year in self.years:
                lag = year.lag(h)
                for back in (lag, lag + h):
                    value = table[Y, past.columns(steps - back)]
                    columns.append(np.where(steps >= back, value, base))
        found = [(column - base) / unit for column in columns]
        if self.parts:
            found += list(self.calendar(past, steps, origin).T)
        for j, value in enumerate(self.values(past, steps, h, given)):
            row = past.own(j)
            found.append((value - table[row + 1, origin]) / table[row + 2, origin])
        rows = np.column_stack(found) if found else np.empty((len(steps), 0))
        return np.clip(rows, -FAR, FAR), base, unit

    def values(
        self, past: History, steps: Integers, h: int, given: Matrix | None = None
    ) -> list[Vector]:
        """The features themselves, at the step where they are known ahead, else at its origin."""
        table, origin, found = past.table, past.columns(steps - h), []
        for j, ahead in enumerate(self.ahead):
            where = past.columns(steps) if ahead and given is None else origin
            own = table[past.own(j), where]
            found.append(own if not ahead or given is None else given[:, j])
        return found

    def target(self, y: Vector, base: Vector, unit: Vector) -> Vector:
        """Outcomes as a learner of these rows sees them."""
        return np.clip((y - base) / unit, -FAR, FAR)

    def calendar(self, past: History, steps: Integers, origin: Integers) -> Matrix:
        """The calendar at steps."""
        return calendar(self.parts, self.local(past, steps, origin))

    def local(self, past: History, steps: Integers, origin: Integers) -> Vector:
        """The wall clock at steps, by the zone's rules or the offset known at the origin."""
        at = self.every.at(steps, self.origin)
        local: Vector = at + (_offsets(at, self.zone) if self.zone else past.table[OFFSET, origin])
        return local

    def times(self, steps: Integers, offset: float) -> Moments:
        """The times of steps to come; where rows are counted, though they have times, the count."""
        at = self.every.at(steps, self.origin if self.every.unit != "rows" else 0.0)
        offsets = _offsets(at, self.zone) if self.zone else np.full(len(at), offset)
        return Moments(self.every.unit, at, offsets, self.zone)


@dataclass(frozen=True, slots=True)
class AsTheyAre:
    """Features and outcomes as they are, and the calendar, also in whole numbers; no lag.

    For a learner that has units, bends and a memory of outcomes of its own, as Auto has: outcomes
    relative to the last one would hide from it what depends on the features alone.
    """

    design: Design
    first: ClassVar[int] = 0  # the step that is learned first

    def rows(
        self, past: History, steps: Integers, h: int, given: Matrix | None = None
    ) -> tuple[Matrix, Vector, Vector]:
        """Features of these steps; base 0, unit 1."""
        parts, found = self.design.parts, self.design.values(past, steps, h, given)
        if parts:
            local = self.design.local(past, steps, past.columns(steps - h))
            found += [*calendar(parts, local).T, *clock_face(parts, local).T]
        none, one = np.zeros(len(steps)), np.ones(len(steps))
        return np.column_stack(found or [one]), none, one

    def target(self, y: Vector, base: Vector, unit: Vector) -> Vector:  # noqa: ARG002
        """Outcomes as a learner of these rows sees them."""
        return y


def reach_of(design: Design, horizon: int) -> int:
    """How many steps of the past are needed: the longest lag, twice the horizon, and some more."""
    longest = max([1, *(echo.lag(horizon) for echo in design.echoes)])
    return longest + 3 * horizon + max((s.steps for s in design.means), default=1) + 64
