"""noregret compare: several learners over one stream, in one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from noregret.cli.grouped import Grouped
from noregret.cli.intervals import interval_option, with_intervals
from noregret.cli.options import (
    Listed,
    Value,
    as_json,
    data_options,
    encoding_of,
    forecaster,
    label_options,
    lagged,
    output_options,
    round_options,
    source_of,
)
from noregret.registry import MODELS, make, settings

if TYPE_CHECKING:
    from noregret.running.player import Playable

__all__ = ["command"]

SPREAD = (
    "ridge:fit_intercept=yes",
    "ridge:fit_intercept=yes:drift=0.001",
    "aar:fit_intercept=yes",
    "safe-oslog:start=0.001",
    "auto",
)
BINARY = (
    "auto-classifier",
    "bayesian-logistic:method=adf",
    "map-logistic:history=no",
    "improper-logistic",
)

EXAMPLES = """\b
Examples:
  noregret compare data.csv --target y
  noregret compare data.csv --target y --models aar,aar:drift=0.001,auto --out losses.csv
  noregret compare series.csv --target y --lags 1,2,24 --horizon 24
  noregret compare labels.csv --target y --binary
  noregret compare data.csv --target y --intervals 90        # how often each covers, how wide

\b
A model is its name, with parameters after colons: aar:drift=0.001:prior_precision=0.1.
See noregret models. By default a spread of them with Auto. --peers adds the usual picks of river
and scikit-learn (a scaler and SGD each), which prove nothing and take most of the time.

The best is first: the least cumulative square loss, with --binary log loss.

Exit codes: 0 well, 1 a certificate fails, 2 bad input.
"""


@click.command("compare", cls=Grouped, epilog=EXAMPLES)
@data_options
@round_options
@click.option("--models", type=Listed(), help="The learners; else a good spread.")
@label_options
@interval_option
@click.option("--peers/--no-peers", default=False, help="Add river and scikit-learn: slow.")
@output_options
def command(**options: Value) -> int:
    """Play several learners on DATA side by side: losses, best in hindsight, bounds."""
    from noregret.errors import ParameterError

    binary, models = options["binary"], options.pop("models")
    intervals = options.pop("intervals")
    chosen: dict[str, tuple[str, dict[str, object]]] = {}
    for spec in models or (BINARY if binary else SPREAD):
        name, *given = spec.split(":")
        pairs = [setting.partition("=") for setting in given]
        if name in MODELS and MODELS[name].binary != binary:
            kind = "numbers: leave out --binary" if binary else "0 and 1: add --binary"
            raise ParameterError(f"{name} forecasts outcomes that are {kind}")
        if name in MODELS and MODELS[name].quantiles:
            raise ParameterError(
                f"{name} has pinball loss: noregret run has it, others can compare"
            )
        if spec in chosen:
            raise ParameterError(f"--models has {spec} twice")
        parameters = {key.replace("-", "_"): value for key, _, value in pairs}
        chosen[spec] = name, settings(name, parameters)
    printed = as_json(options)
    options["series"] = series = "auto" in chosen and not options["lags"]
    source = source_of(options)
    horizon = options.pop("horizon")
    encoding, lags = encoding_of(options)
    learners: dict[str, Playable] = {spec: make(*one) for spec, one in chosen.items()}
    if options.pop("peers"):
        from noregret.cli.peers import peers

        click.echo("noregret: --peers learn row by row, which takes its time", err=True)
        learners |= peers(binary=binary)
    learners = {name: lagged(learner, lags, horizon) for name, learner in learners.items()}
    learners = {name: with_intervals(one, intervals) for name, one in learners.items()}
    if series:  # as noregret run has it
        encoding.series = True
        usual = {"known": None, "every": None, "intervals": intervals}
        learners["auto"] = forecaster({}, [], horizon, usual)
    from noregret.cli.session import Session

    session = Session(source, encoding, learners, binary=binary)
    session.intervals = bool(intervals)
    return session.run(**options, as_json=printed)
