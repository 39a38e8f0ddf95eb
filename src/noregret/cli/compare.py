"""noregret compare: several learners over one stream, in one pass."""

from __future__ import annotations

from typing import Any

import click

from noregret.cli.options import Listed, data_options, source_of
from noregret.registry import MODELS, make

__all__ = ["command"]

SPREAD = (
    "ridge:fit_intercept=yes",
    "ridge:fit_intercept=yes:drift=0.001",
    "aar:fit_intercept=yes",
    "safe-oslog:start=0.001",
    "auto",
)
YES_NO = ("bayesian-logistic:method=adf", "map-logistic:history=no", "improper-logistic")

EXAMPLES = """\b
Examples:
  noregret compare data.csv --target y
  noregret compare data.csv --target y --models aar,aar:drift=0.001,auto --out losses.csv
  noregret compare series.csv --target y --lags 1,2,24 --horizon 24
  noregret compare labels.csv --target y --yes-no

\b
A model is its name, with parameters after colons: aar:drift=0.001:prior_precision=0.1.
See noregret models. By default a spread of them with Auto, and, where they are installed, the
usual picks of river and scikit-learn (a scaler and SGD each), which prove nothing.

The best is first: the least cumulative square loss, with --yes-no log loss.

Exit codes: 0 well, 1 a certificate fails, 2 bad input.
"""


@click.command("compare", epilog=EXAMPLES)
@data_options
@click.option("--models", type=Listed(), help="The learners; else a good spread.")
@click.option("--yes-no", is_flag=True, help="Outcomes are 0 and 1: the learners for that.")
@click.option("--peers/--no-peers", default=True, help="river and scikit-learn, if installed.")
@click.option("--out", metavar="FILE", help="Forecasts and losses: .csv, .parquet, .jsonl, or - .")
@click.option("--out-format", type=click.Choice(["csv", "parquet", "jsonl"]))
@click.option("--report", metavar="FILE", help="A page in HTML about the run.")
def command(**options: Any) -> int:
    """Play several learners on DATA side by side: losses, best in hindsight, bounds."""
    from noregret.cli.peers import peers
    from noregret.cli.session import Session
    from noregret.errors import ParameterError
    from noregret.wrappers.lagged import Lagged

    source, encoding, lags = source_of(options)
    specs = options["models"] or (YES_NO if options["yes_no"] else SPREAD)
    learners = {}
    for spec in specs:
        name, *settings = spec.split(":")
        pairs = [setting.partition("=") for setting in settings]
        if name in MODELS and MODELS[name].yes_no != options["yes_no"]:
            kind = "0 and 1: add --yes-no" if MODELS[name].yes_no else "numbers: leave out --yes-no"
            raise ParameterError(f"{name} forecasts outcomes that are {kind}")
        if spec in learners:
            raise ParameterError(f"--models has {spec} twice")
        learners[spec] = make(name, {key.replace("-", "_"): value for key, _, value in pairs})
    if options["peers"]:
        learners |= peers(yes_no=options["yes_no"])
    if lags:
        learners = {k: Lagged(v, lags, options["horizon"]) for k, v in learners.items()}
    elif options["horizon"] > 1:
        raise click.UsageError("--horizon needs --lags: features of x are taken as they are")
    session = Session(source, encoding, learners, yes_no=options["yes_no"])
    return session.run(
        out=options["out"], out_format=options["out_format"], report=options["report"]
    )
