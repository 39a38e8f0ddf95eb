"""What can be known before anything heavy is loaded: options, the file, its columns."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from noregret.errors import NoRegretError, ParameterError, SnapshotError, SourceError

if TYPE_CHECKING:
    from noregret.cli.options import Options
    from noregret.sources import Source
    from noregret.sources.block import Reading

__all__ = ["check", "given_in", "keepable", "remember"]

PASSING = frozenset(
    (
        "data",
        "out",
        "out_format",
        "report",
        "state",
        "save_every",
        "wait",
        "quiet",
        "late",
        "format",
        "printed",
        "proofs",
        "append",
        "bounds",
    )
)
"""Options that belong to one run: a state file does not remember them."""


def given_in(ctx: click.Context) -> set[str]:
    """The options that stand on the command line."""
    source = click.core.ParameterSource
    elsewhere = (None, source.DEFAULT, source.ENVIRONMENT)
    return {n for n in ctx.params if ctx.get_parameter_source(n) not in elsewhere}


def keepable(options: Options) -> Options:
    """What a state file remembers of a run: options whose value is not the usual one."""
    kept = {name: value for name, value in options.items() if name not in PASSING}
    return {
        name: [list(v) if isinstance(v, tuple) else v for v in value]
        if isinstance(value, list | tuple)
        else value
        for name, value in kept.items()
        if value not in (None, (), [], "", False)
    }


def remember(options: Options, given: set[str]) -> None:
    """Take options that were not given from the run that a state file is of, if it is there."""
    state = options["state"]
    if state is None or not Path(state).is_file():
        return
    from noregret import snapshot
    from noregret.cli.options import TAKEN

    try:
        extra = snapshot.extra_in(state) or {}
    except SnapshotError:
        if options["target"] is None:
            raise
        return  # it may be the data: that is told later
    before = extra.get("options") or extra.get("run")
    if not isinstance(before, dict):
        return
    other = "model" in given and options["model"] != before.get("model")
    skipped = PASSING | set(TAKEN if other else ())
    for name, value in before.items():
        if name in options and name not in given and name not in skipped and value is not None:
            options[name] = value


def check(source: Source, options: Options) -> None:
    """Refuse what the names and first bytes of things already tell."""
    from noregret.cli.options import encoding_of

    target, features, time = options["target"], options["features"], options["time"]
    if features and target in features:
        raise ParameterError(f"--features has the target {target!r} in it")
    if time is not None and time == target:
        raise ParameterError(f"--time is the target {target!r}: give the column of times")
    series = options.pop("series", False)
    if not series and not options["lags"] and options.get("horizon", 1) > 1:
        raise click.UsageError("--horizon needs --lags: features of x are taken as they are")
    if options["positive"] is not None and not options["binary"]:
        raise ParameterError("--positive needs --binary: it names the label that counts as 1")
    _check_places(options)
    reading = source.reading()
    fresh = not (options.get("state") and Path(options["state"]).exists())
    encoding, lags = encoding_of(dict(options))
    encoding.series = series
    reading.wanted = encoding.wanted() if target is not None else None
    if not fresh:  # what a state knows of its columns, and which rows are past, is not known here
        reading.allowed = sys.maxsize
    reading.declared = replace(reading.declared, time=time, series=series)
    try:
        block = source.peek(reading)
    except NoRegretError:
        _check_names(source, options, reading)  # a misspelt column is the better reason
        raise
    _check_names(source, options, reading)
    if block is None or not fresh:
        return
    rows = known = 0
    for piece in encoding.pieces(block, reading):
        rows, known = rows + len(piece.y), known + int(np.isfinite(piece.y).sum())
    if reading.complete:
        encoding.finish(reading)
        if not options.get("state"):  # with one, more rows may come
            _check_reach(options.get("horizon", 1), known)
    if rows and not encoding.slots and not lags and not series:
        raise SourceError(
            "there is no feature to forecast from: give --lags, --calendar or other --features"
        )


def _check_reach(horizon: int, known: int) -> None:
    """Refuse a horizon at which nothing could be scored."""
    if horizon > 1 and horizon >= known:
        most = f"at most {known - 1:,}" if known > 1 else "more are needed"
        outcomes = "1 row has an outcome" if known == 1 else f"{known:,} rows have an outcome"
        raise ParameterError(f"--horizon {horizon}: {outcomes}, so {most}")


def _check_names(source: Source, options: Options, reading: Reading) -> None:
    """Refuse columns that the file does not have."""
    from noregret.sources import columns
    from noregret.sources.calendar import parts_of

    target, time, names = options["target"], options["time"], reading.names
    if target is None:
        known = f"; the columns are {', '.join(names)[:300]}" if names else ""
        raise ParameterError(f"say what to forecast with --target COLUMN{known}")
    if names and source.kind() not in ("jsonl", "libsvm"):
        wanted = [target, *(options["features"] or ()), *options["drop"], *source.text]
        columns.require([*wanted, *parts_of(time, names)], names, reading)


def _check_places(options: Options) -> None:
    """Refuse outputs that cannot be: no folder, an ending that no format has."""
    for option in ("out", "report", "state"):
        place = options.get(option)
        if place and place != "-" and not Path(place).parent.is_dir():
            folder = Path(place).parent
            raise ParameterError(f"--{option} {place}: there is no folder {folder}")
        if place and Path(place).is_dir():
            raise ParameterError(f"--{option} {place} is a folder: name a file in it")
    out, kind = options.get("out"), options.get("out_format")
    if out and out != "-" and not kind:
        from noregret.cli.endings import ending

        ending(out)
