"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeVar

import click

from noregret.declare.parameters import PARAMETERS, Flag
from noregret.registry import MODELS

if TYPE_CHECKING:
    from noregret.running.player import Playable
    from noregret.sources import Source
    from noregret.sources.encoding import Encoding

__all__ = [
    "Listed",
    "counted",
    "data_options",
    "lagged",
    "model_options",
    "output_options",
    "parameters_of",
    "source_of",
]

F = TypeVar("F", bound=Callable[..., object])
SOURCE = ("data", "format", "delimiter", "names", "query", "missing_words", "text", "skip_bad")
ENCODING = ("target", "features", "time", "calendar", "missing", "max_features")
FORMATS = ["csv", "parquet", "arrow", "jsonl", "npz", "libsvm"]
OUTPUTS = click.Choice(["csv", "parquet", "jsonl"])
TAKEN = [name for name in PARAMETERS if any(name in model.parameters for model in MODELS.values())]
"""The parameters that some model takes from the command line."""


class Listed(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """a,b,c"""  # noqa: D400  # Click shows it

    name = "a,b,..."

    def convert(self, value: object, *_: object) -> list[str]:
        """The parts, blanks around them left out."""
        if isinstance(value, list):
            return value
        return [part.strip() for part in str(value).split(",") if part.strip()]


class ModelName(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A learner by its name in the registry."""

    name = "name"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """The name, if there is such a learner."""
        if value in MODELS:
            return str(value)
        return self.fail(f"{value!r} is not one of {', '.join(MODELS)}.", param, ctx)


def _together(*options: Callable[[F], F]) -> Callable[[F], F]:
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


def counted(flag: str, least: int, default: int, words: str) -> Callable[[F], F]:
    """An option that is a whole number."""
    return click.option(
        flag,
        type=click.IntRange(least),
        default=default,
        show_default=True,
        metavar="N",
        help=words,
    )


data_options = _together(
    click.argument("data"),
    click.option("--target", "-y", required=True, metavar="COLUMN", help="The outcome."),
    click.option("--features", type=Listed(), help="Else all columns but target and time."),
    click.option("--text", type=Listed(), default="", help="Columns of codes: text, not numbers."),
    click.option("--time", metavar="COLUMN", help="Dates or times; copied to the output."),
    click.option("--calendar", is_flag=True, help="Hour, weekday and time of year as features."),
    click.option("--lags", type=Listed(), default="", help="Past outcomes as features: 1,2,24."),
    counted("--horizon", 1, 1, "Forecast so many rounds ahead: later outcomes are not used."),
    click.option(
        "--missing",
        type=click.Choice(["refuse", "zero", "last", "mean"]),
        default="refuse",
        show_default=True,
        help="What to take for a feature that is missing.",
    ),
    click.option(
        "--na", "missing_words", multiple=True, metavar="WORD", help="One more word for missing."
    ),
    counted("--skip-bad", 0, 0, "Leave out up to N bad rows, and count them."),
    counted("--max-features", 1, 2000, "Stop where text makes more features than that."),
    click.option("--query", metavar="SQL", help="Rows of sqlite:FILE or duckdb:FILE."),
    click.option(
        "--format", type=click.Choice(FORMATS), help="If the name of the file does not tell."
    ),
    click.option("--delimiter", metavar="C", help="Of CSV; else found in the header. tab, space."),
    click.option("--names", type=Listed(), help="Column names of a CSV without a header."),
)


def _model_option(name: str) -> Callable[[F], F]:
    parameter = PARAMETERS[name]
    models = [model for model, entry in MODELS.items() if name in entry.parameters]
    words = f"{parameter.help}. [{', '.join(models)}]"
    flag = "--" + name.replace("_", "-")
    if isinstance(parameter.kind, Flag):
        return click.option(f"{flag}/--no-{flag[2:]}", name, default=None, help=words)
    return click.option(flag, name, metavar=parameter.kind.metavar, help=words)


model_options = _together(
    click.option(
        "--model",
        "-m",
        default="aar",
        show_default=True,
        type=ModelName(),
        metavar="NAME",
        help="A learner: see noregret models.",
    ),
    *(_model_option(name) for name in TAKEN),
)

output_options = _together(
    click.option("--out", metavar="FILE", help="Forecasts: .csv, .parquet, .jsonl, or - ."),
    click.option("--out-format", type=OUTPUTS, help="If the name does not tell."),
    click.option("--report", metavar="FILE", help="A page in HTML about the run."),
)


def parameters_of(options: dict[str, Any]) -> dict[str, object]:
    """Take the parameters of a learner out of all options."""
    taken = {name: options.pop(name, None) for name in TAKEN}
    return {name: value for name, value in taken.items() if value is not None}


def lagged(learner: Playable, lags: list[int], horizon: int) -> Playable:
    """A learner with past outcomes as features, if there are lags."""
    if not lags and horizon > 1:
        raise click.UsageError("--horizon needs --lags: features of x are taken as they are")
    if not lags:
        return learner
    from noregret.wrappers.lagged import Lagged

    return Lagged(learner, lags, horizon)


def source_of(options: dict[str, Any]) -> tuple[Source, Encoding, list[int]]:
    """Take source, encoding and lags out of all options."""
    from noregret.errors import ParameterError
    from noregret.sources import Source
    from noregret.sources.encoding import Encoding

    source = Source(**{name: options.pop(name) for name in SOURCE})
    encoding = Encoding(**{name: options.pop(name) for name in ENCODING})
    if encoding.features and encoding.target in encoding.features:
        raise ParameterError(f"--features has the target {encoding.target!r} in it")
    lags: list[str] = options.pop("lags")
    if not all(lag.isdecimal() and int(lag) > 0 for lag in lags):
        raise ParameterError(f"--lags {','.join(lags)}: give whole numbers from 1 on")
    return source, encoding, [int(lag) for lag in lags]
