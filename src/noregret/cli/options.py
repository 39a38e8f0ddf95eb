"""Options that several commands share."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import click
from click.shell_completion import CompletionItem

from noregret.cli.completion import complete_columns
from noregret.cli.intervals import interval_option
from noregret.declare.parameters import PARAMETERS, Flag
from noregret.errors import suggestion
from noregret.registry import MODELS

if TYPE_CHECKING:
    from noregret.running.player import Playable
    from noregret.sources import Source
    from noregret.sources.encoding import Encoding

__all__ = [
    "Listed",
    "Options",
    "Value",
    "as_json",
    "columns",
    "counted",
    "data_options",
    "encoding_of",
    "forecaster",
    "label_options",
    "lagged",
    "model_options",
    "output_options",
    "parameters_of",
    "round_options",
    "series_of",
    "series_options",
    "source_of",
    "spelled",
]

Value: TypeAlias = Any
"""What Click made of an option: of the type that the option declares, None if it is not given."""
Options: TypeAlias = dict[str, Value]
"""Options by name; what one step uses, it takes out."""
F = TypeVar("F", bound=Callable[..., object])
SOURCE = (
    *("data", "format", "delimiter", "names", "query", "missing_words", "text", "skip_bad"),
    *("encoding", "decimal", "thousands", "date_format", "skip_lines", "sheet"),
)
ENCODING = (
    *("target", "features", "drop", "time", "calendar", "missing", "max_features", "max_values"),
    "late",
)
READ = tuple(name for name in ENCODING if name not in ("calendar", "late"))
FORMATS = ["csv", "parquet", "arrow", "jsonl", "npz", "libsvm", "excel"]
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


class Words(Listed):
    """a,b,c, each time that the option is given"""  # noqa: D400  # Click shows it

    name = "word,..."


class Lags(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """1,2,24 or 1-24,48"""  # noqa: D400  # Click shows it

    name = "1,2,24|1-24"
    MOST = 2_000

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[int]:
        """The lags, ranges written out, each once, in the order given."""
        if isinstance(value, list):
            return value
        found: dict[int, None] = {}
        for part in Listed().convert(value):
            low, dash, high = part.partition("-")
            ends = (low.strip(), high.strip() if dash else low.strip())
            if not all(end.isdecimal() and 0 < int(end) < 10**9 for end in ends):
                self.fail(f"{part!r}: give whole numbers from 1 on, as 1,2,24 or 1-24", param, ctx)
            first, last = map(int, ends)
            if last < first or last - first >= self.MOST:
                self.fail(f"{part!r}: a range goes up, by less than {self.MOST:,}", param, ctx)
            found.update(dict.fromkeys(range(first, last + 1)))
        return list(found)


class ModelName(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A learner by its name in the registry."""

    name = "name"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """The name, if there is such a learner."""
        if value in MODELS:
            return str(value)
        from noregret.cli.names import PAPERS

        if (paper := PAPERS.get(str(value).lower())) is not None:
            options = f" {paper.options}" if paper.options else ""
            self.fail(f"{value!r} is here --model {paper.model}{options}.", param, ctx)
        meant = suggestion(str(value), MODELS) or f"; the models are {', '.join(MODELS)}."
        return self.fail(f"there is no {value!r}{meant}", param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The models that begin like this."""
        del ctx, param
        return [CompletionItem(name) for name in MODELS if name.startswith(incomplete)]


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


def columns(flag: str, *more: str, listed: bool = True, words: str) -> Callable[[F], F]:
    """An option that names columns of the file."""
    return click.option(
        flag,
        *more,
        type=Listed() if listed else str,
        metavar=None if listed else "COLUMN",
        help=words,
        shell_complete=complete_columns,
    )


data_options = _together(
    click.argument("data", type=click.Path()),
    columns(
        "--target", "-y", listed=False, words="What to forecast. Needed, unless --state knows."
    ),
    columns("--features", words="Else all columns but target and time."),
    columns("--drop", words="Columns that are not to be features."),
    columns("--text", words="Columns of codes: text, not numbers."),
    columns("--time", listed=False, words="Dates or times, in order; or two: Date,Time."),
    click.option("--lags", type=Lags(), default="", help="Past outcomes as features."),
    click.option(
        "--late",
        type=click.Choice(["refuse", "skip", "learn"]),
        default="refuse",
        show_default=True,
        help="Rows older than what was learned: stop, leave them out, or learn them.",
    ),
    click.option(
        "--missing",
        type=click.Choice(["refuse", "zero", "last", "mean"]),
        default="refuse",
        show_default=True,
        help="What to take for a feature that is missing.",
    ),
    click.option(
        "--na", "missing_words", multiple=True, type=Words(), help="More words for missing."
    ),
    counted("--skip-bad", 0, 0, "Leave out up to N bad rows, and count them."),
    counted("--max-features", 1, 2000, "Stop where text makes more features than that."),
    counted("--max-values", 1, 200, "Stop where a text column has more different values."),
    click.option("--query", metavar="SQL", help="Rows of sqlite:FILE or duckdb:FILE."),
    click.option(
        "--input-format",
        "format",
        type=click.Choice(FORMATS),
        help="If the name of the file does not tell.",
    ),
    click.option("--delimiter", metavar="C", help="Of CSV: , ; | tab space. Else found out."),
    click.option("--decimal", metavar="C", help="Decimal mark of numbers: . or , Else found out."),
    click.option("--thousands", metavar="C", help="Mark between thousands: , . or ' for 1'000."),
    click.option(
        "--date-format",
        metavar="F",
        help="d/m/Y, m/d/Y, d.m.y (year of two digits), d.m.Y H:M, %d %b %Y, s, ms.",
    ),
    counted("--skip-lines", 0, 0, "Lines above the header of a CSV."),
    click.option("--sheet", metavar="NAME", help="Of an Excel workbook; else the first."),
    click.option("--encoding", metavar="NAME", help="Of text, if not UTF-8: cp1252, latin-1, ..."),
    click.option("--names", type=Listed(), help="Column names of a CSV without a header."),
)

round_options = _together(
    click.option("--calendar", is_flag=True, help="Hour, weekday and time of year as features."),
    counted("--horizon", 1, 1, "Forecast so many rounds ahead: later outcomes are not used."),
)

label_options = _together(
    click.option(
        "--binary",
        "--yes-no",
        "binary",
        is_flag=True,
        help="The target has two labels: 0/1, yes/no.",
    ),
    click.option("--positive", metavar="LABEL", help="The label that counts as 1."),
)


def _model_option(name: str) -> Callable[[F], F]:
    parameter = PARAMETERS[name]
    models = [model for model, entry in MODELS.items() if name in entry.parameters]
    words = f"{parameter.help}. [{', '.join(models)}]"
    flag = "--" + name.replace("_", "-")
    if isinstance(parameter.kind, Flag):
        return click.option(f"{flag}/--no-{flag[2:]}", name, default=None, help=words)
    return click.option(flag, name, metavar=parameter.kind.metavar, help=words)


series_options = _together(
    columns("--known", words="Features known ahead; the others enter as they last were."),
    click.option("--every", metavar="STEP", help='Between rows, as "30 min"; else found.'),
    interval_option,
)

model_options = _together(
    click.option(
        "--model",
        "-m",
        default="auto",
        show_default=True,
        type=ModelName(),
        metavar="NAME",
        envvar="NOREGRET_MODEL",
        help="A learner: see noregret models. NOREGRET_MODEL in the environment sets the default.",
    ),
    click.option(
        "--alone",
        is_flag=True,
        help="auto: its linear experts alone, without naive forecasts, lags and calendar; fast.",
    ),
    series_options,
    *(_model_option(name) for name in TAKEN),
)

output_options = _together(
    click.option("--out", metavar="FILE", help="Forecasts: .csv, .parquet, .jsonl, or - ."),
    click.option("--out-format", type=OUTPUTS, help="If the name does not tell."),
    click.option("--report", metavar="FILE", help="A page in HTML about the run."),
    click.option("--proofs", is_flag=True, help="Both sides of every theorem, after the screen."),
    click.option(
        "--format",
        "printed",
        type=click.Choice(["text", "json", *FORMATS]),
        default="text",
        show_default=True,
        metavar="text|json",
        help="How results are printed; of DATA (csv, parquet, ...) as --input-format.",
    ),
)


def as_json(options: Options) -> bool:
    """Whether results are printed as JSON; a format of DATA goes to --input-format."""
    printed: str = options.pop("printed")
    if printed in FORMATS:
        options["format"] = options["format"] or printed
    return printed == "json"


def series_of(options: Options, model: str) -> Options | None:
    """Take out what only the automatic forecaster has; None where another learner is asked for."""
    chosen = {name: options.pop(name) for name in ("known", "every")}
    if options.pop("alone") or model != "auto":
        for name, usual in (("known", None), ("every", None)):
            if chosen[name] != usual:
                raise click.UsageError(f"--{name} goes with --model auto, which knows about time")
        return None
    options["series"] = True
    options["calendar"] = False  # it makes its own
    return chosen


def forecaster(
    parameters: Mapping[str, object], lags: list[int], horizon: int, chosen: Options
) -> Playable:
    """The automatic forecaster: Auto and the naive forecasts, on lags and the calendar."""
    usual = chosen.get("intervals") or [90.0]
    from noregret.forecasting.forecaster import Forecaster
    from noregret.registry import make

    known = "all" if chosen["known"] is None else chosen["known"]
    inner = make("auto", parameters) if parameters else None
    found = Forecaster(
        inner,
        horizon=horizon,
        lags=lags or "auto",
        late="skip",
        **chosen | {"known": known, "intervals": usual[0] if len(usual) == 1 else usual},
    )
    found._begin()  # what is wrong with the parameters is said before the data are read
    return found


append_option = click.option(
    "--append", is_flag=True, help="Add to the --out of the run before that --state is of."
)


def parameters_of(options: Options) -> dict[str, object]:
    """Take the parameters of a learner out of all options."""
    taken = {name: options.pop(name, None) for name in TAKEN}
    return {name: value for name, value in taken.items() if value is not None}


def lagged(learner: Playable, lags: list[int], horizon: int) -> Playable:
    """A learner with past outcomes as features, if there are lags."""
    if not lags:
        return learner
    from noregret.wrappers.lagged import Lagged

    for lag in lags:
        if lag < horizon:
            raise click.UsageError(
                f"--lags {lag} is below --horizon {horizon}: a lag counts back from the forecast's "
                f"time, and the outcome {lag} before it is not known {horizon} ahead"
            )
    # A learner counts back from the last outcome that is known, h - 1 rounds before the forecast's.
    return Lagged(learner, [lag - horizon + 1 for lag in lags], horizon)


def source_of(options: Options) -> Source:
    """Take the source out of all options, and check it and the columns: nothing heavy is loaded."""
    from noregret.cli.check import check
    from noregret.sources import Source

    options["missing_words"] = [w for words in options["missing_words"] for w in words]
    options["text"] = options["text"] or ()
    options["drop"] = options["drop"] or ()
    source = Source(**{name: options.pop(name) for name in SOURCE})
    check(source, options)
    return source


def spelled(command: click.Command, options: Mapping[str, object]) -> str:
    """What was said about the data and their columns, as a shell reads it again."""
    words = [str(options["data"])]
    for one in command.params:
        if one.name not in {*SOURCE, *READ} - {"data"}:
            continue
        value = options[one.name]
        if value in (None, (), [], one.default):
            continue
        parts = value if isinstance(value, tuple) else [value]  # given several times
        for part in parts:
            words += [one.opts[0], ",".join(part) if isinstance(part, list) else str(part)]
    return shlex.join(words)


def encoding_of(options: Options) -> tuple[Encoding, list[int]]:
    """Take encoding and lags out of all options."""
    from noregret.sources.encoding import Encoding
    from noregret.sources.labels import Labels

    binary, positive = options.pop("binary"), options.pop("positive")
    labels = Labels(positive) if binary else None
    chosen = {name: options.pop(name) for name in ENCODING}
    return Encoding(**chosen, labels=labels), options.pop("lags")
