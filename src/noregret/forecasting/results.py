"""What a Forecaster gives back: forecasts of the steps to come, and a replay by horizon."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo

from noregret.forecasting.times import EPOCH, Moments
from noregret.learner.replay import Replay, ends_as_columns, module
from noregret.types import Matrix, Vector

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Facts", "ForecastReplay", "Forecasts", "clock"]


Time = datetime | float
"""A time as the rows had it: a datetime, a number, or a step counted from the first row."""


class Band(NamedTuple):
    """Intervals of one coverage."""

    coverage: float
    low: Vector
    high: Vector


@dataclass(frozen=True, slots=True, eq=False)
class Forecasts:
    """Forecasts of the next steps: times, forecasts, and intervals of the coverage asked for.

    times are datetimes, numbers, or steps counted from the first row, as the rows had them.  Where
    several coverages were asked for, low and high have a column for each.
    """

    times: list[Time]
    forecast: Vector
    low: Vector
    high: Vector
    coverage: float | tuple[float, ...]

    def __len__(self) -> int:
        return len(self.forecast)

    def __iter__(self) -> Iterator[tuple[Time, float, float, float]]:
        """Time, forecast, and the ends of the widest interval."""
        _, low, high = self.widest()
        return iter(zip(self.times, self.forecast.tolist(), low.tolist(), high.tolist()))

    def bands(self) -> list[Band]:
        """Every coverage, with the lower and the upper ends of its intervals."""
        if isinstance(self.coverage, float):
            return [Band(self.coverage, self.low, self.high)]
        return [Band(*one) for one in zip(self.coverage, self.low.T, self.high.T)]

    def widest(self) -> Band:
        """The intervals of the largest coverage."""
        return max(self.bands(), key=lambda one: one.coverage)

    def ends(self) -> dict[str, Vector]:
        """low and high by name; of several coverages low_50, high_50, ..."""
        bands = self.bands()
        return ends_as_columns([one.coverage for one in bands], [one[1:] for one in bands])

    def to_frame(self) -> pd.DataFrame:
        """A pandas frame with columns time, forecast, low and high (low_50, ... of several)."""
        columns = {"time": self.times, "forecast": self.forecast}
        return module("pandas", "to_frame").DataFrame(columns | self.ends())

    def __str__(self) -> str:
        widest = self.widest().coverage
        lines = [f"{'time':<19}{'forecast':>12}   {100 * widest:g} % interval"]
        rows = list(self)
        for k, (time, forecast, low, high) in enumerate(rows):
            if len(rows) > 12 and 6 <= k < len(rows) - 6:
                lines += [f"... {len(rows) - 12} more"] * (k == 6)
                continue
            lines.append(f"{_text(time):<19}{forecast:>12,.5g}   {low:,.5g} to {high:,.5g}")
        return "\n".join(lines)


def _text(time: object) -> str:
    return f"{time:%Y-%m-%d %H:%M}" if isinstance(time, datetime) else f"{time}"


def clock(times: Moments) -> list[Time]:
    """Times as people write them: datetimes of the local clock, numbers, or steps."""
    if times.kind == "rows":
        return [int(t) for t in times.at.tolist()]
    if times.kind == "number":
        return list(times.at.tolist())
    found: list[Time] = []
    for at, offset in zip(times.at.tolist(), times.offset.tolist()):
        moment = EPOCH + timedelta(microseconds=at)
        if times.zone:
            found.append(moment.astimezone(ZoneInfo(times.zone)))
        elif offset:
            found.append(moment.astimezone(timezone(timedelta(microseconds=offset))))
        else:
            found.append(moment.astimezone(UTC).replace(tzinfo=None))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class ForecastReplay(Replay):
    """A replay by horizon; `forecast` and `loss` are as the loop has them.

    So they are of horizon 1, and after a gap of the horizon that reaches over it.

    ahead : (T, H), the forecast of each row made h = 1..H steps before, NaN where there was none.
    low, high : (T, H), the intervals issued with them; (T, H, C) of several coverages.
    """

    ahead: Matrix | None = None
    low: Matrix | None = None
    high: Matrix | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """What was found in the rows: all that a summary says of them."""

    rows: int
    every: str  # "30 min", "1 month", "row", or "" while it is not known
    first: Time | None  # times as in Forecasts, None where there are none
    last: Time | None
    gaps: int  # steps without a row
    skipped: int  # rows at a time that was learned already
    seasons: tuple[str, ...]  # the naive forecasts that the frequency has
    lags: tuple[int, ...]  # at horizon 1
    calendar: tuple[str, ...]  # "day", "week", "year"
    features: tuple[str, ...]
    assumed: tuple[str, ...]
    """Features used at the forecast's time because nothing else was said: are they known then?"""
    irregular: bool = False  # there are times, but no step between them: rows are counted
    mean: float = math.nan  # of all outcomes
    weekends: int = 0  # rows on a weekend, where the steps are weekdays: left out
