"""noregret merge: the forecasts of others, merged into one."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from noregret.cli.grouped import Grouped
from noregret.cli.intervals import interval_option, percents, with_intervals
from noregret.cli.options import (
    Options,
    Value,
    append_option,
    as_json,
    columns,
    data_options,
    encoding_of,
    output_options,
    source_of,
)
from noregret.errors import ParameterError, SourceError, first_of
from noregret.running.baselines import Baselines
from noregret.sources import Source
from noregret.sources.block import TIME
from noregret.sources.columns import require
from noregret.types import Vector

__all__ = ["command"]

EXAMPLES = """\b
Examples:
  noregret merge forecasts.csv --target actual
  noregret merge forecasts.csv --target actual --forecasts vendor_a,vendor_b --out merged.csv
  noregret merge today.csv --state merged.nr --out merged.csv            # day by day

\b
Each row has what everybody forecast and, once it is known, what came. Weights follow the record:
they move when another forecast takes the lead. A forecast that is missing in a row sleeps: the
others decide. Rows without an outcome are forecast but not learned.

\b
The screen shows the error of the merged forecast beside each of them, on the rows that it has,
and beside their plain mean; and what is proved of it.

Exit codes: 0 well, 1 a certificate fails, 2 bad input.
"""


@click.command("merge", cls=Grouped, epilog=EXAMPLES)
@data_options
@columns("--forecasts", words="The columns to merge; else all numbers but the target.")
@interval_option
@output_options
@click.option("--state", metavar="FILE", help="Go on from this model file, and write it.")
@append_option
@click.option("--quiet", "-q", is_flag=True, help="No table at the end.")
@click.pass_context
def command(ctx: click.Context, /, **options: Value) -> int:
    """Merge the forecasts in DATA into one, with weights that follow their record."""
    from noregret.cli.check import given_in, keepable, remember

    remember(options, given_in(ctx))
    if options["lags"] or options["features"]:
        raise click.UsageError("merge takes forecasts: --lags and --features go with noregret run")
    printed = as_json(options)
    asked = options.pop("forecasts")
    options["missing"] = "zero"  # of a forecast: it sleeps
    kept = keepable(options | {"missing": "refuse"})
    options |= {"binary": False, "positive": None, "calendar": False}
    intervals = percents(options.pop("intervals"))
    source = source_of(options)
    names, remarks = _names(source, options, asked)
    if options["target"] in names:
        raise ParameterError(f"--forecasts has the target {options['target']!r} in it")
    if len(names) < 2:
        raise ParameterError(f"there is nothing to merge in {', '.join(names) or 'no column'}")
    encoding, _ = encoding_of(options)
    encoding.merge(names)
    from noregret.cli.session import Session
    from noregret.experts.guarded import RulePool

    learner = with_intervals(RulePool(names), intervals)
    session = Session(source, encoding, {"merged": learner}, binary=False)
    session.options = kept | {"forecasts": names, "time": encoding.time}
    session.players[0].baselines = Baselines(others=tuple(names))
    session.remarks = remarks
    return session.run(**options, as_json=printed)


def _names(
    source: Source, options: Options, asked: list[str] | None
) -> tuple[list[str], list[str]]:
    """The columns to merge, asked for or all numbers beside the target, and what is odd of them."""
    known = asked and options["state"] is not None and Path(options["state"]).exists()
    reading = source.reading()
    block = None if known else source.peek(reading)
    if block is not None and options["time"] is None:
        dated = [name for name, kind in block.kinds.items() if kind == TIME]
        options["time"] = dated[0] if len(dated) == 1 else None
    if asked:
        if block is not None:
            require(asked, reading.names, reading)
        return asked, []
    if block is None:
        raise SourceError(f"{source.data}: name the columns to merge with --forecasts")
    left = {options["target"], options["time"], *options["drop"], *reading.unused}
    found = {
        name: column
        for name, column in block.columns.items()
        if name not in left and isinstance(column, np.ndarray)
    }
    y = block.columns.get(options["target"])
    odd = [n for n, said in found.items() if isinstance(y, np.ndarray) and _odd(said, y)]
    if not odd:
        return list(found), []
    rest = [name for name in found if name not in odd]
    look = "is merged too, and does not look like a forecast"
    if len(odd) > 1:
        look = "are merged too, and do not look like forecasts"
    remedy = f": --forecasts {','.join(rest)}" * (len(rest) > 1)
    remark = f"{first_of(odd)} {look} of {options['target']}{remedy}"
    return list(found), [remark]


def _odd(said: Vector, y: Vector) -> bool:
    """Whether numbers count the rows, or are whole and none is where outcomes are."""
    said, y = said[~np.isnan(said)], y[~np.isnan(y)]
    if len(said) < 2 or not len(y) or (said != np.round(said)).any():
        return False
    return bool((np.diff(said) == 1.0).all() or said.min() > y.max() or said.max() < y.min())
