"""noregret fleet: one learner per key over one stream."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from noregret.cli.grouped import Grouped
from noregret.cli.options import (
    Value,
    columns,
    data_options,
    encoding_of,
    lagged,
    model_options,
    parameters_of,
    source_of,
)
from noregret.errors import ParameterError
from noregret.registry import MODELS, make, settings

if TYPE_CHECKING:
    from noregret.cli.output import Written
    from noregret.cli.session import Stop
    from noregret.fleet.certified import Certificates
    from noregret.fleet.fleet import Fleet
    from noregret.fleet.replay import Part
    from noregret.learner.base import Learner
    from noregret.running.recent import Recent
    from noregret.sources import Source
    from noregret.sources.block import Reading
    from noregret.sources.encoding import Encoding
    from noregret.types import Vector

__all__ = ["command"]

EXAMPLES = """\b
Examples:
  noregret fleet sales.parquet --key store --target units
  noregret fleet sales.csv --key store --target units --out preds.parquet --report page.html
  noregret fleet day1.csv --key store --target units --state fleet.nr    # learn, and keep it
  noregret fleet day2.csv --key store --target units --state fleet.nr    # go on with new rows

\b
Every key has a learner of its own, which sees only the rows of its key, in their order. Keys are
taken as text; a row without one is an error. Cells, bad rows and missing values are as in noregret
run. The default model is aar; aar, ridge and bayesian-ridge without a kernel go through compiled
arrays, all others through a plain loop, some hundred times slower.

\b
--state FILE is read if it is there, and written at the end and when interrupted, whole or not at
all. DATA is new rows each time: a fleet does not remember which files it has seen.

Exit codes: 0 well, 1 a certificate fails, 2 bad input, 130 or 143 interrupted.
"""
USUAL = "aar"
SHOWN = 5  # keys on the screen


@click.command("fleet", cls=Grouped, epilog=EXAMPLES)
@data_options
@columns("--key", listed=False, words="The column that says whose row it is. Needed.")
@model_options
@click.option("--out", metavar="FILE", help="Forecasts: .csv, .parquet, .jsonl, or - .")
@click.option(
    "--out-format",
    type=click.Choice(["csv", "parquet", "jsonl"]),
    help="If the name does not tell.",
)
@click.option("--report", metavar="FILE", help="A page in HTML that ranks the keys.")
@click.option("--state", metavar="FILE", help="Go on from this fleet, and write it.")
@click.option("--quiet", "-q", is_flag=True, help="No table at the end.")
@click.pass_context
def command(ctx: click.Context, /, **options: Value) -> int:
    """Forecast DATA round by round with one learner per key."""
    from noregret.cli.check import given_in
    from noregret.cli.options import series_of

    given, key = given_in(ctx), options.pop("key")
    if key is None:
        raise click.UsageError("say whose rows they are: --key COLUMN")
    if key == options["target"] or key in (options["features"] or ()):
        raise ParameterError(f"--key {key} is the target or a feature: give another column")
    if options.pop("intervals"):
        raise ParameterError("--intervals: a fleet has none yet; noregret run has them")
    if "late" in given:
        raise ParameterError("--late: the rows of a fleet are learned as they come, key by key")
    model = options.pop("model") if "model" in given else USUAL
    if MODELS[model].binary:
        raise ParameterError(f"{model} forecasts labels: noregret fleet forecasts numbers")
    options |= {
        "late": "learn",
        "binary": False,
        "positive": None,
        "calendar": False,
        "alone": True,
    }
    options.pop("model", None)
    options["drop"] = [*(options["drop"] or ()), key]
    options["text"] = [*(options["text"] or ()), key]
    parameters = settings(model, parameters_of(options))
    series_of(options, model)
    source = source_of(options)
    encoding, lags = encoding_of(options)
    learner = lagged(make(model, parameters), lags, 1)
    run = _Run(source, encoding, key, learner, chosen=bool({"model", *parameters, "lags"} & given))
    return run.all(**options)


class _Run:
    """One pass over a source with a fleet."""

    def __init__(
        self, source: Source, encoding: Encoding, key: str, learner: Learner, *, chosen: bool
    ) -> None:
        self.source, self.encoding, self.key = source, encoding, key
        self.learner, self.chosen = learner, chosen
        self.rows = self.learned = 0
        self.loss = 0.0
        self.recent: Recent | None = None
        self.reading: Reading = source.reading()

    def all(
        self,
        *,
        out: str | None,
        out_format: str | None,
        report: str | None,
        state: str | None,
        quiet: bool,
    ) -> int:
        """Play the source; the exit code."""
        from contextlib import nullcontext

        from noregret.cli.apart import keep_apart
        from noregret.cli.lock import locked
        from noregret.cli.session import Stop

        keep_apart(self.source, out=out, state=state, report=report)
        stop = Stop()
        self.reading.waiting = stop.may_interrupt
        if report is not None:
            from noregret.running.recent import Recent

            self.recent = Recent()
        with nullcontext() if state is None else locked(state, wait=True):
            fleet = self._fleet(state)
            self._play(fleet, stop, out, out_format, quiet=quiet)
            if state is not None and self.rows:
                fleet.save(state)
        table = fleet.certificates()
        if report is not None and len(table):
            self._write(report, fleet, table)
        failed = [key for key, held in zip(table.keys, table.holds, strict=True) if held is False]
        if not quiet:
            self._tell(fleet, table, report, err=out == "-")
        for key in failed[:SHOWN]:
            click.echo(f"this certificate fails: key {key!r}\n{fleet[key].certificate()}", err=True)
        return 128 + stop.signal if stop.signal else int(bool(failed))

    def _fleet(self, state: str | None) -> Fleet:
        from noregret.fleet.fleet import Fleet

        if state is None or not Path(state).exists():
            return Fleet(self.learner)
        fleet = Fleet.open(state, verify=True)
        if self.chosen and repr(fleet.learner) != repr(self.learner):
            raise ParameterError(
                f"--state {state} is a fleet of {fleet.learner!r}: leave out the options of the "
                "model, or give another file"
            )
        return fleet

    def _play(
        self, fleet: Fleet, stop: Stop, out: str | None, out_format: str | None, *, quiet: bool
    ) -> None:
        from contextlib import suppress

        from noregret.cli.output import named, open_output
        from noregret.cli.session import Interrupted
        from noregret.cli.show import Progress
        from noregret.fleet.replay import parts_of_source, play

        with named(out):
            output = open_output(out, out_format)
        progress = Progress(quiet=quiet)
        try:
            with stop.heard(), suppress(Interrupted):
                for part in parts_of_source(self.source, self.reading, self.encoding, self.key):
                    forecasts = play(fleet, part)
                    self._note(fleet, part, forecasts)
                    loss = (part.y - forecasts) ** 2
                    keys: Written = part.keys if isinstance(part.keys, np.ndarray) else [*part.keys]
                    kept: dict[str, Written] = {self.reading.unit: part.places, self.key: keys}
                    with named(out):
                        output.write(kept | {"y": part.y, "forecast": forecasts, "loss": loss})
                    progress.tell(lambda seconds: self._words(fleet, seconds))
                    if stop.signal:
                        break
        finally:
            progress.close()
            with named(out):
                output.close()

    def _note(self, fleet: Fleet, part: Part, forecasts: Vector) -> None:
        met = ~np.isnan(part.y)
        losses = (part.y - forecasts)[met] ** 2
        self.rows, self.learned = self.rows + len(met), self.learned + int(met.sum())
        self.loss += float(losses.sum())
        if self.recent is not None:
            keys = [part.keys[i] for i in np.flatnonzero(met).tolist()]
            self.recent.add(fleet._found(keys), losses)

    def _words(self, fleet: Fleet, seconds: float) -> str:
        rate = self.rows / max(seconds, 1e-9)
        return f"{self.rows:,} rows, {rate:,.0f}/s, {len(fleet):,} keys, RMSE {self._rmse():.3g}"

    def _rmse(self) -> float:
        return math.sqrt(self.loss / self.learned) if self.learned else math.nan

    def _tell(self, fleet: Fleet, table: Certificates, report: str | None, *, err: bool) -> None:
        from noregret.cli.notes import notes
        from noregret.cli.show import console, count, grid, number

        screen = console(err=err)
        features = count(len(self.encoding.slots), "feature")
        keys = count(len(fleet), "key")
        said = [f"{count(self.rows, 'row')} of {self.reading.name}, {keys}, {features}"]
        if self.reading.bad:
            bad = count(self.reading.bad, f"bad {self.reading.unit}")
            said.append(f"{bad} left out, the first: {self.reading.first}")
        said += notes(self.encoding, self.reading, binary=False)
        if self.learned:
            said += ["", f"RMSE {number(self._rmse())} over {count(self.learned, 'outcome')}"]
        for line in said:
            screen.print(line, markup=False, soft_wrap=True)
        if len(table):
            screen.print(str(table.total()), markup=False, soft_wrap=True)
            worst = table.worst(SHOWN)
            lines = [
                [str(key), f"{t:,}", *map(number, values)]
                for key, t, *values in zip(
                    worst.keys,
                    worst.rounds.tolist(),
                    worst.loss.tolist(),
                    worst.comparator.tolist(),
                    worst.bound.tolist(),
                    strict=True,
                )
            ]
            head = ["key", "rounds", "loss", "best in hindsight", "bound"]
            screen.print(grid("Most lost", head, lines))
        if report is not None:
            screen.print(f"Report: {report}", markup=False, soft_wrap=True)

    def _write(self, report: str, fleet: Fleet, table: Certificates) -> None:
        from noregret.report.fleet_page import write_fleet

        assert self.recent is not None
        about = {
            "data": str(self.reading.name),
            "key": self.key,
            "outcome": self.encoding.target,
            "rows": f"{self.rows:,}",
            "keys": f"{len(fleet):,}",
            "learner": repr(fleet.learner),
        }
        title = f"{self.encoding.target} by {self.key} in {Path(str(self.reading.name)).name}"
        recent = self.recent.ratio(fleet._slots())
        write_fleet(report, table, recent, title=title, about=about)
