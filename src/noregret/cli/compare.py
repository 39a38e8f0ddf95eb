"""noregret compare: several learners over one stream, in one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from noregret.cli.options import Listed, data_options, lagged, output_options, source_of
from noregret.registry import MODELS, make

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
BINARY = ("bayesian-logistic:method=adf", "map-logistic:history=no", "improper-logistic")

EXAMPLES = """\b
Examples:
  noregret compare data.csv --target y
  noregret compare data.csv --target y --models aar,aar:drift=0.001,auto --out losses.csv
  noregret compare series.csv --target y --lags 1,2,24 --horizon 24
  noregret compare labels.csv --target y --binary

\b
A model is its name, with parameters after colons: aar:drift=0.001:prior_precision=0.1.
See noregret models. By default a spread of them with Auto, and, where they are installed, the
usual picks of river and scikit-learn (a scaler and SGD each), which prove nothing.

The best is first: the least cumulative square loss, with --binary log loss.

Exit codes: 0 well, 1 a certificate fails, 2 bad input.
"""


@click.command("compare", epilog=EXAMPLES)
@data_options
@click.option("--models", type=Listed(), help="The learners; else a good spread.")
@click.option("--binary", "--yes-no", "binary", is_flag=True, help="Outcomes are 0 and 1.")
@click.option("--peers/--no-peers", default=True, help="river and scikit-learn, if installed.")
@output_options
def command(**options: Any) -> int:
    """Play several learners on DATA side by side: losses, best in hindsight, bounds."""
    from noregret.cli.peers import peers
    from noregret.cli.session import Session
    from noregret.errors import ParameterError

    binary, horizon, models = (options.pop(name) for name in ("binary", "horizon", "models"))
    source, encoding, lags = source_of(options)
    specs = models or (BINARY if binary else SPREAD)
    learners: dict[str, Playable] = {}
    for spec in specs:
        name, *settings = spec.split(":")
        pairs = [setting.partition("=") for setting in settings]
        if name in MODELS and MODELS[name].binary != binary:
            kind = "numbers: leave out --binary" if binary else "0 and 1: add --binary"
            raise ParameterError(f"{name} forecasts outcomes that are {kind}")
        if spec in learners:
            raise ParameterError(f"--models has {spec} twice")
        learners[spec] = make(name, {key.replace("-", "_"): value for key, _, value in pairs})
    if options.pop("peers"):
        learners |= peers(binary=binary)
    learners = {name: lagged(learner, lags, horizon) for name, learner in learners.items()}
    return Session(source, encoding, learners, binary=binary).run(**options)
