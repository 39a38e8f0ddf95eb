"""What a reader of results should know about the rows: what was left out, how they were read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noregret.errors import abbreviated, first_of
from noregret.sources.cells import Numbers
from noregret.sources.dates import EPOCHS, Dates

if TYPE_CHECKING:
    from noregret.sources.block import Reading
    from noregret.sources.encoding import Encoding

__all__ = ["notes"]

ORDERS = {"dmY": "day first", "mdY": "month first", "Ymd": "year first"}
PERIODS = {
    "year": "years are the times of rows",
    "period": "months, quarters and weeks are read as their first day",
    "named": "times are read with the month's name",
}
REMEDIES = {"times": " (--calendar)", "values differ": " (--text takes it)", "--drop": ""}


def notes(
    encoding: Encoding, reading: Reading, *, binary: bool, weekdays: bool = False
) -> list[str]:
    """One line for each thing that was decided or found; weekdays: no row is due on others."""
    lines = [line for line in (reading.said, reading.spread) if line]
    for column, why in encoding.left_out.items():
        if why:
            remedy = next((words for part, words in REMEDIES.items() if part in why), "")
            remedy = "" if encoding.series and "--calendar" in remedy else remedy  # it has its own
            lines.append(f"column {abbreviated(column)} {why}: left out{remedy}")
    for column, style in reading.styles.items():
        if isinstance(style, Numbers) and style.brackets:
            lines.append(f"column {abbreviated(column)}: numbers in brackets are read as negative")
        if isinstance(style, Numbers) and style.unit:
            unit = f"numbers are read without their unit {style.unit!r}"
            if style.partly:
                unit += f", which {style.partly} have: the others are taken to be in it"
            lines.append(f"column {abbreviated(column)}: {unit}")
        elif isinstance(style, Numbers) and reading.declared.numbers is None and not style.plain:
            lines.append(f"column {abbreviated(column)}: numbers are read as {style.said}")
        elif isinstance(style, Dates) and reading.declared.dates is None:
            how = ORDERS.get(style.form) or (
                f"{style.form} from 1970" if style.form in EPOCHS else style.form
            )
            words = reading.undecided(column) or PERIODS.get(
                style.form, f"times are read with {how}"
            )
            lines.append(f"column {abbreviated(column)}: {words}")
    if encoding.apart is not None:
        lines.append(f"columns {encoding.apart} together are the time of a row (--time)")
    if encoding.labels is not None and encoding.labels.said:
        lines.append(encoding.labels.said)
    if "no time" in encoding.counted:
        lines.append(f"{encoding.counted}: rows are counted")
    said = encoding.clock.said(series=encoding.series and not encoding.counted)
    if weekdays:
        said = [line for line in said if " in time (" not in line]  # weekends are no gaps
    if encoding.series:  # its lags count steps, and it counts missing ones itself
        said = [line.replace("; lags count rows", "") for line in said]
    lines += said
    if encoding.silent:
        rows = "1 row has" if encoding.silent == 1 else f"{encoding.silent:,} rows have"
        first = f"; the first: {encoding.silent_at}" if encoding.silent > 1 else ""
        where = first or f": {encoding.silent_at}"
        lines.append(f"{rows} none of the forecasts, and get none: left out{where}")
    if encoding.filled:
        many, names = sum(encoding.filled.values()), list(encoding.filled)
        share = 100 * many / (max(encoding.rows, 1) * len(names))
        shown = first_of(names)
        cells = "1 cell" if many == 1 else f"{many:,} cells"
        digits = ".2g" if share < 99.5 else ".0f"
        lines.append(f"--missing {encoding.missing} filled {cells} ({share:{digits}} %) of {shown}")
    before = encoding.summed - encoding.final
    if abs(encoding.final) > 3 * encoding.peak > 0 and abs(encoding.final / before - 1) < 0.01:
        total = (
            f"the last {encoding.target} ({encoding.final:,.6g}) is about the sum of all before it"
        )
        lines.append(f"{total}: if it is a total, delete that row")
    if not binary and encoding.distinct == {0.0, 1.0}:
        lines.append(f"{encoding.target} is 0 or 1 in all rows: --binary forecasts probabilities")
    elif not binary and len(encoding.distinct) == 1 and encoding.outcomes > 1:
        lines.append(f"{encoding.target} is {min(encoding.distinct):g} in all rows")
    return lines
