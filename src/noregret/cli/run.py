"""noregret run: one learner over one stream."""

from __future__ import annotations

from typing import Any

import click

from noregret.cli.options import (
    counted,
    data_options,
    lagged,
    model_options,
    output_options,
    parameters_of,
    source_of,
)
from noregret.registry import MODELS, make

__all__ = ["command"]

EXAMPLES = """\b
Examples:
  noregret run data.csv --target y
  noregret run data.parquet --target y --model bayesian-ridge --noise-var 0.1 --out preds.parquet
  noregret run series.csv --target y --time time --lags 1,2,24 --calendar
  noregret run data.csv.gz --target y --state model.nr      # go on where the last run stopped
  tail -f log.csv | noregret run - --target y               # one forecast per line, as it arrives
  noregret run sqlite:shop.db --query "SELECT * FROM sales ORDER BY day" --target units
  noregret run duckdb: --query "SELECT * FROM 'part-*.parquet'" --target y

\b
DATA is a file (.csv .tsv .txt, gzip or not; .parquet .arrow .feather .jsonl .ndjson .npz .svm
.libsvm), - for standard input, or sqlite:FILE or duckdb:FILE with --query.

\b
How cells are read:
  a column is numbers, times (ISO 8601) or text, by its first value
  text becomes features on the fly: colour=red is 1 in rows that are red
  dates and times are not features; --calendar makes some from the time column
  an empty cell, NA and null are missing (--na adds words); NaN and inf are bad
  a row without an outcome is forecast but not learned, and is no round for --lags
  a row without a feature is bad unless --missing says what to take

\b
The output has one row per round: its line (or row), time, y, forecast, std (where the learner has a
predictive distribution), loss, and the bound on the cumulative loss (where it was worked out).
In CSV, text that a spreadsheet would take for a formula (it begins with = + - @ and is not a
number) gets a ' in front of it; numbers, Parquet and JSON lines are as they are.

\b
--state FILE is read if it is there, and written at the end, when interrupted (Ctrl-C, SIGTERM),
every --save-every rows and every half minute. A file that it has seen is read on from where it
stopped; another one is new rounds. Runs chain exactly: the forecasts are those of one long run,
bit for bit. It says how far --out was: a run that goes on drops rows that were written later, and
adds to it (a pipe to what the pipe before wrote). Until its end a run with --state and Parquet
keeps the rows in FILE.parquet.part.csv. One run at a time uses a state.

Exit codes: 0 well, 1 a certificate fails, 2 bad input, 130 or 143 interrupted.
"""


@click.command("run", epilog=EXAMPLES)
@data_options
@model_options
@output_options
@click.option("--state", metavar="FILE", help="Go on from this model file, and write it.")
@counted("--save-every", 1, 1_000_000, "Rows between two writings of --state.")
@click.option(
    "--wait/--no-wait",
    default=True,
    help="If another run uses --state: wait for its end, or stop.  [default: wait]",
)
@click.option("--quiet", "-q", is_flag=True, help="No table at the end.")
def command(**options: Any) -> int:
    """Forecast DATA round by round with one learner: predict, see the outcome, learn."""
    from noregret.cli.session import Session

    model, horizon = options.pop("model"), options.pop("horizon")
    parameters = parameters_of(options)
    source, encoding, lags = source_of(options)
    learner = lagged(make(model, parameters), lags, horizon)
    if source.live and not options["out"]:
        options["out"] = "-"
    session = Session(source, encoding, {model: learner}, binary=MODELS[model].binary)
    return session.run(**options)
