"""noregret forecast: the next steps of a series, after learning its past."""

from __future__ import annotations

import click

from noregret.cli.grouped import Grouped
from noregret.cli.intervals import percents
from noregret.cli.options import (
    Value,
    as_json,
    data_options,
    encoding_of,
    forecaster,
    output_options,
    series_options,
    source_of,
    spelled,
)
from noregret.errors import ParameterError

__all__ = ["command"]

EXAMPLES = """\b
Examples:
  noregret forecast load.csv --target MW --steps 48
  noregret forecast load.csv --target MW --steps 48 --known temperature,holiday --out next.csv
  noregret forecast sales.csv --target units --steps 7 --report page.html
  noregret forecast today.csv --target MW --steps 48 --state load.nr      # day by day: a cron job

\b
The past is replayed first: each horizon has models of its own, scored at that horizon beside the
naive forecasts (mean so far, last value, same time yesterday, last week, last year). Then come the
forecasts of the next steps, with intervals.

\b
Features named in --known are used at the forecast's time: DATA must end with rows that have them
and no outcome, one for each step (a weather forecast, holidays). The other features are used as
they were in the last row with an outcome.

\b
With --state FILE what was learned is kept, and the next call learns the new rows only; options that
are not given are those of the call before.

Exit codes: 0 well, 1 a certificate fails, 2 bad input.
"""


@click.command("forecast", cls=Grouped, epilog=EXAMPLES)
@data_options
@click.option("--steps", type=click.IntRange(1, 1_000), metavar="N", help="How many steps.")
@series_options
@output_options
@click.option("--state", metavar="FILE", help="Go on from this model file, and write it.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing.")
@click.pass_context
def command(ctx: click.Context, /, **options: Value) -> int:
    """Forecast the next steps of the series in DATA, with intervals."""
    from noregret.cli.check import given_in, keepable, remember

    remember(options, given_in(ctx))
    if options["steps"] is None:
        raise click.UsageError("say how many steps: --steps 48 is a day of half-hours")
    printed, said = as_json(options), spelled(ctx.command, options)
    kept = keepable(options) | {"known": options["known"] or []}
    steps, out, out_format = (options.pop(name) for name in ("steps", "out", "out_format"))
    series = {name: options.pop(name) for name in ("known", "every")}
    series["intervals"] = percents(options.pop("intervals"))
    series["known"] = series["known"] or []
    options |= {"series": True, "binary": False, "positive": None, "calendar": False}
    source = source_of(options)
    if source.live:
        raise ParameterError("forecast reads a file; noregret run - forecasts a pipe line by line")
    encoding, lags = encoding_of(options)
    encoding.series = True
    learner = forecaster({}, lags, steps, series)
    from noregret.cli.session import Session

    session = Session(source, encoding, {"auto": learner}, binary=False)
    session.said = said
    session.options, session.steps, session.next_out = kept, steps, (out, out_format)
    return session.run(**options, as_json=printed)
