"""noregret run: one learner over one stream."""

from __future__ import annotations

import click

from noregret.cli.grouped import Grouped
from noregret.cli.intervals import percents, with_intervals
from noregret.cli.options import (
    Value,
    append_option,
    as_json,
    counted,
    data_options,
    encoding_of,
    forecaster,
    label_options,
    lagged,
    model_options,
    output_options,
    parameters_of,
    round_options,
    series_of,
    source_of,
    spelled,
)
from noregret.errors import ParameterError
from noregret.registry import MODELS, make, settings

__all__ = ["command"]

EXAMPLES = """\b
Examples:
  noregret run data.csv --target y
  noregret run load.csv --target MW --report page.html
  noregret run data.parquet --target y --model bayesian-ridge --noise-var 0.1 --out preds.parquet
  noregret run data.csv --target y --model aar --intervals 50,90   # that cover on any data
  noregret run data.csv --target y --model linear-quantiles --levels 0.1,0.5,0.9 --out q.csv
  noregret run series.csv --target y --model ridge --time time --lags 1-24,48 --calendar
  noregret run sensor.csv --target alarm --binary            # any two labels: 0/1, ok/fault
  noregret run day1.csv --target y --state model.nr          # learn, and keep what was learned
  noregret run day2.csv --state model.nr                     # go on: same target, columns, model
  tail -f log.csv | noregret run - --target y               # one forecast per line, as it arrives
  noregret run sqlite:shop.db --query "SELECT * FROM sales ORDER BY day" --target units
  noregret run duckdb: --query "SELECT * FROM 'part-*.parquet'" --target y

\b
DATA is a file (.csv .tsv .txt, gzip or not; .parquet .arrow .feather .jsonl .ndjson .npz .svm
.libsvm; .xlsx with openpyxl), - for standard input, or sqlite:FILE or duckdb:FILE with --query.

\b
The default, auto, knows about time: it finds the column of times and the step between rows, makes
lags and calendar features, and merges forty linear experts with the naive forecasts (last value,
same time yesterday, ...). --horizon 24 forecasts 24 steps ahead; noregret forecast gives the next
steps. Features are used at the forecast's time; --known says which of them are known then. Text
values that the first 1,000 rows do not have count as none of those. --alone leaves all that out:
features only, some 50 times faster. Other models take --lags and --calendar as given.

\b
How cells are read:
  a column is numbers, times or text by most of the first 1,000 rows (of a pipe: those that are
    there when it starts); a cell that does not fit is a bad row, named with its line
  numbers may have a decimal comma, marks between thousands or a unit, times be
    2024-12-31T13:45, 31.12.2024 24:00, 12/31/2024 1:45 PM, 31-Dec-2024, 2024-12, 2024Q4 or
    seconds from 1970; what can be read in two ways is asked for
  text becomes features on the fly: colour=red is 1 in rows that are red; text of which most
    values differ, an index column and times are left out, and it is said
  --calendar makes features from the time column
  an empty cell, NA, N/A, NaN, null, None, -, ? are missing (--na adds words); inf is bad
  a row without an outcome is forecast but not learned, and is no round for --lags
  a row without a feature is bad unless --missing says what to take

\b
The output has one row per round: its line (or row), time, y, forecast, low and high (with
--intervals; of several coverages low_50, high_50, ...), q_0.1, ... (of linear-quantiles, whose
forecast is the median), std (where the learner has a predictive distribution), loss, and the bound
on the cumulative loss (of aar, ridge and bayesian-ridge after every row, of the others now and
then, or after every row with --bounds).
In CSV, text that a spreadsheet would take for a formula (it begins with = + - @ and is not a
number) gets a ' in front of it; numbers, Parquet and JSON lines are as they are.

\b
--state FILE is read if it is there, and written at the end, when interrupted (Ctrl-C, SIGTERM),
every --save-every rows and every half minute. A file that it has seen is read on from where it
stopped; another one is new rounds, and options that are not given are those of the run before.
Rows whose times are not newer than what was learned are refused, as is a file that begins like
one that was learned (--late skip or learn). Runs chain exactly: the forecasts are those of one
long run, bit for bit. It says how far --out was: a run that goes on drops rows that were written
later, and adds to it (a pipe to what the pipe before wrote; another file with --append). Until
its end a run with --state and Parquet keeps the rows in FILE.parquet.part.csv. One run at a time
uses a state.

Exit codes: 0 well, 1 a certificate fails, 2 bad input, 130 or 143 interrupted.
"""


LABELS = "auto-classifier"  # the learner of labels, where none is given


@click.command("run", cls=Grouped, epilog=EXAMPLES)
@data_options
@round_options
@label_options
@model_options
@output_options
@click.option("--state", metavar="FILE", help="Go on from this model file, and write it.")
@counted("--save-every", 1, 1_000_000, "Rows between two writings of --state.")
@click.option(
    "--wait/--no-wait",
    default=True,
    help="If another run uses --state: wait for its end, or stop.  [default: wait]",
)
@append_option
@click.option(
    "--bounds",
    is_flag=True,
    help="The bound after every row of --out, also of models that tell it now and then; slower.",
)
@click.option("--quiet", "-q", is_flag=True, help="No table at the end.")
@click.pass_context
def command(ctx: click.Context, /, **options: Value) -> int:
    """Forecast DATA round by round with one learner: predict, see the outcome, learn."""
    from noregret.cli.check import given_in, keepable, remember

    given = given_in(ctx)
    remember(options, given)
    model = options["model"]
    if options["binary"] and "model" not in given and not MODELS[model].binary:
        model = options["model"] = LABELS
    options["binary"] = options["binary"] or MODELS[model].binary
    if not MODELS[model].binary and options["binary"]:
        labels = ", ".join(name for name, one in MODELS.items() if one.binary)
        raise ParameterError(f"{model} forecasts numbers: leave out --binary, or take {labels}")
    printed = as_json(options)
    kept, said = keepable(options), spelled(ctx.command, options)
    del options["model"]
    bounds = options.pop("bounds")
    parameters = settings(model, parameters_of(options))
    intervals = percents(options.pop("intervals"))
    series = series_of(options, model)
    source = source_of(options)
    horizon = options.pop("horizon")
    encoding, lags = encoding_of(options)
    if lags and MODELS[model].quantiles:
        raise ParameterError(f"{model} takes no --lags: give past outcomes as columns")
    if series is None:
        learner = with_intervals(lagged(make(model, parameters), lags, horizon), intervals)
    else:
        encoding.series = True
        learner = forecaster(parameters, lags, horizon, series | {"intervals": intervals})
    if source.live and not options["out"]:
        options["out"] = "-"
    from noregret.cli.session import Session

    session = Session(source, encoding, {model: learner}, binary=MODELS[model].binary)
    session.options, session.said = kept, said
    session.players[0].every_bound = bounds
    return session.run(**options, as_json=printed)
