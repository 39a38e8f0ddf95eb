"""noregret fleet: one learner per key over one stream."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from noregret.cli.grouped import Grouped
from noregret.cli.intervals import with_intervals
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
from noregret.errors import ParameterError, SnapshotError
from noregret.registry import MODELS, make, settings

if TYPE_CHECKING:
    from noregret.cli.output import Written
    from noregret.cli.session import Stop
    from noregret.fleet.certified import Certificates
    from noregret.fleet.fleet import Fleet
    from noregret.fleet.replay import Part
    from noregret.running.covering import Covering
    from noregret.running.player import Playable
    from noregret.running.recent import Recent
    from noregret.sources import Source
    from noregret.sources.block import Reading
    from noregret.sources.encoding import Encoding
    from noregret.types import Matrix, Vector

__all__ = ["command"]

EXAMPLES = """\b
Examples:
  noregret fleet sales.parquet --key store --target units
  noregret fleet sales.csv --key store --target units --out preds.parquet --report page.html
  noregret fleet day1.csv --key store --target units --state fleet.nr    # learn, and keep it
  noregret fleet day2.csv --key store --target units --state fleet.nr    # go on with new rows
  noregret fleet sales.csv --key store --target units --intervals 50,90 --out preds.csv

\b
Every key has a learner of its own, which sees only the rows of its key, in their order. Keys are
taken as text; a row without one is a bad row. Cells, bad rows (--skip-bad) and missing values are
as in noregret run. The default model is aar; aar, ridge and bayesian-ridge without a kernel, and
auto with --effort linear, go through compiled arrays, all others through a plain loop, some
hundred times slower, and the screen says so. --intervals adds the columns low and high (of several
coverages low_50, high_50, ...): every key has its own, which know its past alone.

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
    intervals = options.pop("intervals")
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
    learner = with_intervals(lagged(make(model, parameters), lags, 1), intervals)
    chosen = bool({"model", *parameters, "lags", "intervals"} & given)
    run = _Run(source, encoding, key, learner, chosen=chosen)
    return run.all(**options)


class _Run:
    """One pass over a source with a fleet."""

    def __init__(
        self, source: Source, encoding: Encoding, key: str, learner: Playable, *, chosen: bool
    ) -> None:
        self.source, self.encoding, self.key = source, encoding, key
        self.learner, self.chosen = learner, chosen
        self.rows = self.learned = 0
        self.loss = 0.0
        self.recent: Recent | None = None
        self.covering: list[Covering] = []  # one for each coverage
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
            self.covering = _coverings(fleet)
            self._play(fleet, stop, out, out_format, quiet=quiet)
            if state is not None and self.rows:
                fleet.save(state)
        table = fleet.certificates(inside=True)
        covered = fleet.certificates() if self.covering else None
        if report is not None and len(table):
            self._write(report, fleet, table, covered)
        failed = [
            key
            for one in filter(None, [table, covered])
            for key, held in zip(one.keys, one.holds, strict=True)
            if held is False
        ]
        if not quiet:
            self._tell(fleet, table, err=out == "-")
            if covered is not None and len(covered):
                self._tell_covered(covered, err=out == "-")
            if report is not None:
                click.echo(f"Report: {report}", err=out == "-")
        for key in dict.fromkeys(failed[:SHOWN]):
            broken = next(c for c in fleet[key].certificates() if c.holds is False)
            click.echo(f"this certificate fails: key {key!r}\n{broken}", err=True)
        return 128 + stop.signal if stop.signal else int(bool(failed))

    def _fleet(self, state: str | None) -> Fleet:
        from noregret.fleet.fleet import Fleet

        if state is None or not Path(state).exists():
            return Fleet(self.learner)
        try:
            fleet = Fleet.open(state, verify=True)
        except SnapshotError as refusal:
            raise SnapshotError(f"--state {state}: {refusal}") from None
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
                    bands = self._room(len(part.y))
                    forecasts = play(fleet, part, bands)
                    self._note(fleet, part, forecasts)
                    loss = (part.y - forecasts) ** 2
                    keys: Written = part.keys if isinstance(part.keys, np.ndarray) else [*part.keys]
                    kept: dict[str, Written] = {self.reading.unit: part.places, self.key: keys}
                    kept |= {"y": part.y, "forecast": forecasts, **self._ends(part.y, bands)}
                    with named(out):
                        output.write(kept | {"loss": loss})
                    progress.tell(lambda seconds: self._words(fleet, seconds))
                    if stop.signal:
                        break
        finally:
            progress.close()
            with named(out):
                output.close()

    def _room(self, rows: int) -> tuple[Matrix, Matrix] | None:
        """Room for the lower and upper ends of so many rows."""
        size = rows, len(self.covering)
        return (np.empty(size), np.empty(size)) if self.covering else None

    def _ends(self, y: Vector, bands: tuple[Matrix, Matrix] | None) -> dict[str, Vector]:
        """The ends as columns, counted on the way."""
        if bands is None:
            return {}
        from noregret.learner.replay import ends_as_columns

        pairs = list(zip(bands[0].T, bands[1].T, strict=True))
        for one, (low, high) in zip(self.covering, pairs, strict=True):
            one.add(y, low, high)
        return ends_as_columns([one.asked for one in self.covering], pairs)

    def _covered(self) -> list[str]:
        """How often intervals covered, in words."""
        from noregret.running.summary import interval_of

        counted = [interval_of(one) for one in self.covering if one.outcomes]
        return [f"{one.words}; +-{_number(one.half_width)} on average" for one in counted]

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

    def _tell(self, fleet: Fleet, table: Certificates, *, err: bool) -> None:
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
            said += self._covered()
        if not fleet.compiled:
            said.append(
                "Keys went one by one through a plain loop: aar, ridge and bayesian-ridge without "
                "lags and kernels, and auto with --effort linear, have a faster way"
            )
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

    def _tell_covered(self, covered: Certificates, *, err: bool) -> None:
        from noregret.cli.show import console, grid

        screen = console(err=err)
        screen.print(str(covered.total()), markup=False, soft_wrap=True)
        share = 1.0 - covered.loss / np.maximum(covered.rounds, 1)
        least = np.argsort(share, kind="stable")[:SHOWN].tolist()
        lines = [
            [str(covered.keys[i]), f"{covered.rounds[i]:,}", f"{100 * share[i]:.1f} %"]
            for i in least
        ]
        inside = f"inside, asked {100 * self.covering[0].asked:g} %"
        screen.print(grid("Least covered", ["key", "rounds", inside], lines))

    def _write(
        self, report: str, fleet: Fleet, table: Certificates, covered: Certificates | None
    ) -> None:
        from noregret.report.fleet_page import fleet_page

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
        page = fleet_page(
            table, recent, title=title, about=about, covered=covered, said=self._covered()
        )
        Path(report).write_bytes(page.encode("utf-8", "xmlcharrefreplace"))


def _coverings(fleet: Fleet) -> list[Covering]:
    """What counts the intervals of a fleet, if it has any."""
    from noregret.running.covering import Covering
    from noregret.wrappers.intervals import Intervals

    learner = fleet.learner
    given = np.atleast_1d(learner.coverage).tolist() if isinstance(learner, Intervals) else []
    return [Covering(coverage) for coverage in given]


def _number(value: float) -> str:
    from noregret.cli.show import number

    return number(value)
