"""One value as its column has it, or the reason why it cannot be."""

from __future__ import annotations

import math

from noregret.errors import abbreviated
from noregret.sources.cells import ISO, NUMBER, NUMERIC, OTHER, TIME, Numbers
from noregret.sources.dates import Dates
from noregret.sources.survey import Style

__all__ = ["fitted", "number_in"]

DATE_FORMAT = ": give --date-format if they are written in another way"


def fitted(kind: str, value: object, style: Style | None, *, typed: bool) -> float | str:
    """The value as its column has it, or the reason why it cannot be."""
    if style is not None and (isinstance(value, str) or isinstance(style, Dates)):
        return _styled(value, style)
    if kind == NUMBER:
        return number_in(value, typed=typed)
    if kind == OTHER:
        raise ValueError(f"{abbreviated(value)} is neither a number nor text")
    if not isinstance(value, str):
        what = "times" if kind == TIME else "text"
        raise ValueError(f"{abbreviated(value)} in a column of {what}")  # noqa: TRY004  # a bad row
    if kind == TIME and not ISO.fullmatch(value):
        raise ValueError(
            f"{abbreviated(value)} in a column of times: write them as 2024-02-29T12:00, or give "
            "--date-format"
        )
    return value


def _styled(value: object, style: Style) -> float | str:
    """The value of a column whose cells are written in their own way."""
    read = style.read(value if isinstance(value, str) else repr(value))
    if read is None:
        numbers = f"numbers written as {style.said}" if isinstance(style, Numbers) else "times"
        more = "" if isinstance(style, Numbers) else DATE_FORMAT
        raise ValueError(f"{abbreviated(value)} in a column of {numbers}{more}")
    if isinstance(read, float) and not math.isfinite(read):
        raise ValueError(f"{abbreviated(value)} is not a finite number")
    return read


def number_in(value: object, *, typed: bool) -> float:
    """A finite float64, exactly what was written.

    >>> number_in("2.5", typed=False)
    2.5
    """
    if isinstance(value, str) and not typed and NUMERIC.fullmatch(value):
        taken = float(value)
    elif isinstance(value, bool | int | float):
        try:
            taken = float(value)
        except OverflowError:
            taken = math.inf
        if isinstance(value, int) and taken != value:
            raise ValueError(f"{abbreviated(value)} is a whole number that float64 cannot hold")
    else:
        raise ValueError(f"{abbreviated(value)} in a column of numbers")  # a bad row
    if not math.isfinite(taken):
        raise ValueError(f"{abbreviated(value)} is not a finite number")
    return taken
