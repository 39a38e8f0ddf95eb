"""One pass over a source with one learner or several: reading, playing, writing, stopping."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from noregret.cli import contest, show
from noregret.cli.apart import keep_apart
from noregret.cli.lock import locked
from noregret.cli.notes import notes
from noregret.cli.output import Mark, Output, Written, named, open_output
from noregret.cli.screen import lines
from noregret.errors import InputError, ParameterError, SourceError, in_one_line
from noregret.forecasting.forecaster import Forecaster
from noregret.forecasting.stream import WARM
from noregret.learner.replay import ends_as_columns
from noregret.running.player import Playable, Player, rounds_of
from noregret.running.recording import Played, Recording
from noregret.running.summary import Summary, summarise
from noregret.sources import Source
from noregret.sources.block import Reading
from noregret.sources.encoding import Encoding, Piece
from noregret.types import Json, Vector

if TYPE_CHECKING:
    from noregret.cli.state import Saving

__all__ = ["Session"]


COLUMNS = ("forecast", "std", "loss", "bound")  # of one learner's output
SERIES = ("forecast", "loss")  # of a Forecaster's
MOMENT = 0.2  # seconds that a piece should take at most
GRACE = 3.0  # seconds in which a piece must end after a signal
PIECE = 2_048  # rows that a Forecaster takes at once: each piece is paid for at every horizon


class Interrupted(Exception):  # noqa: N818  # nothing went wrong
    """A signal came while nothing was under way."""


class Settled(NamedTuple):
    """How far a run has learned: the last line or row, what features need, where the output is."""

    last: int
    memory: Json
    mark: Mark | None


class Stop:
    """SIGINT and SIGTERM: what is under way is finished, a wait for input is not.

    What takes longer than GRACE is given up: output and state are then those of the last saving.
    """

    def __init__(self) -> None:
        self.signal = 0
        self.waiting = False

    def __call__(self, number: int, _: FrameType | None) -> None:
        """A signal has come."""
        self.signal = number
        if self.waiting:
            self.waiting = False
            raise Interrupted
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, GRACE)

    def give_up(self, *_: object) -> None:
        """What was under way when a signal came takes too long."""
        raise SystemExit(128 + self.signal)

    @contextmanager
    def may_interrupt(self) -> Iterator[None]:
        """A wait for input, which a signal ends; also one that came just before."""
        self.waiting = True
        try:
            if self.signal:
                raise Interrupted
            yield
        finally:
            self.waiting = False

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Listen to both signals; only the main thread can."""
        before = {}
        try:
            for number in (signal.SIGINT, signal.SIGTERM):
                before[number] = signal.signal(number, self)
            if hasattr(signal, "SIGALRM"):
                before[signal.SIGALRM] = signal.signal(signal.SIGALRM, self.give_up)
        except ValueError:
            pass
        try:
            yield
        finally:
            if signal.SIGTERM in before and hasattr(signal, "setitimer"):
                signal.setitimer(signal.ITIMER_REAL, 0.0)
            for number, handler in before.items():
                signal.signal(number, handler)


class Pace:
    """How many rows the next piece may have: twice as many as long as they are quick."""

    def __init__(self, least: int = 1) -> None:
        self.least = least  # where a piece costs much beside its rows
        self.rows = max(least, 16)

    @contextmanager
    def taken(self, rows: int) -> Iterator[None]:
        """Time a piece of so many rows."""
        begin = perf_counter()
        yield
        seconds = perf_counter() - begin
        if seconds > MOMENT:
            self.rows = max(self.least, int(rows * MOMENT / seconds / 2))
        elif rows == self.rows and seconds < MOMENT / 2:
            self.rows *= 2


def record(path: str, players: Sequence[Player]) -> None:
    """Keep what a report at this path needs, in bounded memory, from now on."""
    folder = Path(path).parent
    if not folder.is_dir():
        raise SourceError(f"--report {path}: there is no folder {folder}")
    for player in players:
        every = PIECE if isinstance(player.learner, Forecaster) else 1
        player.recording = Recording(player.name, binary=player.binary, every=every)


def recorded(players: Sequence[Player]) -> list[Recording]:
    """What was kept."""
    return [player.recording for player in players if player.recording is not None]


class Session:
    """A source, how its columns become features, and the learners."""

    def __init__(
        self, source: Source, encoding: Encoding, learners: dict[str, Playable], *, binary: bool
    ) -> None:
        self.source, self.encoding = source, encoding
        self.players = [Player(name, learner, binary=binary) for name, learner in learners.items()]
        self.reading: Reading = source.reading()
        self.reading.wanted = encoding.wanted()
        self.reading.declared = replace(
            self.reading.declared, time=encoding.time, series=encoding.series
        )
        self.seen: list[Json] = []  # the files that a state has learned from
        self.options: dict[str, object] = {}  # what a state file remembers beside the settings
        self.said = ""  # what the command line said about the data
        self.remarks: list[str] = []  # that a command makes on the columns
        self.stop = Stop()
        self.reading.waiting = self.stop.may_interrupt
        self.intervals = False  # whether all learners were asked for them
        self.pace = Pace(PIECE if encoding.series else 1)
        self.quiet = False
        self.resumed = False  # whether a state was of this source
        self.mark: Mark | None = None  # where the output is that this run goes on with
        self.earlier: Mark | None = None  # that of the run before, also over another file
        self.append = False  # whether to add to that one
        self.replaced = ""  # the output of the run before, if this one takes its place
        self.rows = 0  # of this run
        self.last = 0  # the line or row that was taken last
        self.settled: Settled | None = None  # where a run goes on that ends with rows ahead
        self.shift = 0  # lines of the pipes that this one goes on from
        self.steps = 0  # that are forecast after the last row, where that is what is asked for,
        self.next_out: tuple[str | None, str | None] = None, None  # and where they go

    def run(
        self,
        *,
        out: str | None = None,
        out_format: str | None = None,
        state: str | None = None,
        save_every: int = 1_000_000,
        wait: bool = True,
        report: str | None = None,
        quiet: bool = False,
        append: bool = False,
        proofs: bool = False,
        as_json: bool = False,
    ) -> int:
        """Play the whole source; the exit code."""
        if quiet and as_json:
            raise ParameterError("--quiet prints nothing: leave it out, or --format json")
        if append and (state is None or out in (None, "-")):
            raise ParameterError(
                "--append goes on with a file: give --out FILE, and --state, which knows its end"
            )
        self.append = append
        keep_apart(self.source, out=out, state=state, report=report)
        self.quiet = quiet
        if report is not None:
            record(report, self.players)
        if state is None:
            self._play_to(out, out_format, None)
        else:
            from noregret.cli.state import Saving, recall  # it knows every learner: takes time

            with locked(state, wait=wait):
                recall(state, self)
                self._play_to(out, out_format, Saving(state, save_every))
        found = []
        if (report is not None or not quiet or self.steps) and (self.rows or self.steps):
            found = [self.summary(player) for player in self.players]
        if self.steps and not found[0].coming:
            rows = show.count(found[0].learned or found[0].rows, "row")
            raise SourceError(
                f"{self.reading.name}: {rows} with an outcome are too few for a forecast: the "
                f"first {WARM} show the step between them"
            )
        if self.steps and self.next_out[0] is not None:
            self.write_next(found[0], *self.next_out)  # before anything is printed
        if report is not None:
            from noregret import report as reports

            title = f"{self.encoding.target} in {str(self.reading.name).rpartition('/')[2]}"
            verdict = found[0] if len(found) == 1 and self.rows else None
            reports.write(
                report, recorded(self.players), title=title, about=self._about(), verdict=verdict
            )
        failed = [c for p in self.players for c in p.certificates() if c.holds is False]
        if not quiet:
            self._tell(found, err=out == "-", proofs=proofs, as_json=as_json)
            if report is not None and not as_json:
                screen = show.console(err=out == "-")
                screen.print(f"Report: {report}", markup=False, soft_wrap=True)
        for one in failed:
            show.console(err=True).print(f"this certificate fails:\n{one}", markup=False)
        if self.stop.signal:
            return 128 + self.stop.signal
        return 1 if failed else 0

    def _play_to(self, out: str | None, out_format: str | None, saving: Saving | None) -> None:
        with named(out):
            if saving is None or out is None or out == "-" or _device(out):
                output = open_output(out, out_format)
            else:
                from noregret.cli.kept import open_kept

                output = open_kept(
                    out, out_format, self._mark(out), resumed=self.resumed or self.append
                )
                if self.source.live and output.resumed:
                    self.shift = self.last - self.source.headed
        try:
            with self.stop.heard():
                self._play(output, out, saving)
        finally:
            with named(out):
                output.close()

    def _mark(self, out: str) -> Mark | None:
        """Where the output is that this run goes on with; None: it begins one."""
        before = self.earlier
        if self.append and before is not None:
            return before
        if self.mark is None and before is not None and before["path"] == str(Path(out).resolve()):
            self.replaced = out
        return self.mark

    def _play(self, output: Output, out: str | None, saving: Saving | None) -> None:
        progress = show.Progress(quiet=self.quiet)
        whole = True  # whether all rows of a piece were taken
        memory = self.encoding.memory()
        try:
            for piece in self._pieces(saving):
                whole = False
                ahead = self.encoding.series and bool(np.isnan(piece.y).all())
                if not ahead:
                    self.settled = None
                elif self.settled is None and saving is not None:  # they may come again, learned
                    self.settled = Settled(self.last, memory, output.mark())
                if not self.rows:
                    time = None if self.encoding.counted else self.encoding.time
                    for player in self.players:
                        player.begin(time, piece)
                with self.pace.taken(len(piece.y)):
                    played = [player.play(piece, self.reading) for player in self.players]
                    with named(out):
                        self._write(output, piece, played)
                self.rows += len(piece.y)
                self.last, whole = int(piece.places[-1]) + self.shift, True
                if saving is not None and self.encoding.series and not ahead:
                    memory = self.encoding.memory()
                progress.tell(self._how_far)
                if saving is not None and saving.due(self.rows):
                    saving.store(self, output)
                if self.stop.signal and not self.source.live:  # what a pipe gave is gone from it
                    break
        finally:
            progress.close()
            if saving is not None and whole and self.rows > saving.rows:
                saving.store(self, output)

    def _how_far(self, seconds: float) -> str:
        return show.progress(self.rows, seconds, self.players[0])

    def _pieces(self, saving: Saving | None) -> Iterator[Piece]:
        """The pieces; waiting for the next one may be interrupted."""

        def most() -> int:
            return self.pace.rows if saving is None else min(self.pace.rows, saving.left(self.rows))

        blocks = self.source.blocks(self.reading)
        limit = None if self.source.live else most
        with suppress(Interrupted):
            yield from rounds_of(blocks, self.encoding, self.reading, limit)

    def _write(self, output: Output, piece: Piece, played: list[Played]) -> None:
        columns: dict[str, Written] = {self.reading.unit: piece.places + self.shift}
        if piece.times is not None:
            columns["time"] = piece.times
            if self.reading.yearly(self.encoding.time):
                columns["time"] = [time if time is None else str(time)[:4] for time in piece.times]
        columns["y"] = piece.y
        if len(played) == 1:
            names = SERIES if self.encoding.series else COLUMNS
            if self.players[0].every_bound and "bound" not in names:
                names = (*names, "bound")
            said = {name: getattr(played[0], name) for name in names}
            ends = self._ends(self.players[0], played[0])
            for level, column in zip(self.players[0].levels, played[0].quantiles.T):
                ends[f"q_{level:g}"] = column
            columns |= {"forecast": said.pop("forecast")} | ends | said
        else:
            for player, one in zip(self.players, played):
                columns |= {
                    f"{player.name} forecast": one.forecast,
                    f"{player.name} loss": one.loss,
                }
                ends = self._ends(player, one) if self.intervals else {}
                columns |= {f"{player.name} {name}": end for name, end in ends.items()}
        output.write(columns)

    @staticmethod
    def _ends(player: Player, played: Played) -> dict[str, Vector]:
        return ends_as_columns(player.coverages, played.pairs())

    def _about(self) -> dict[str, str]:
        """What was run, for the top of a report."""
        reading, names = self.reading, list(self.encoding.slots)
        more = f" and {len(names) - 12:,} more" if len(names) > 12 else ""
        about = {"data": str(reading.name), "outcome": self.encoding.target}
        about["features"] = (", ".join(map(in_one_line, names[:12])) + more) or "past outcomes only"
        about["rows"] = f"{self.rows:,}"
        if reading.bad:
            about["left out"] = f"{reading.bad:,} bad {reading.unit}s, the first: {reading.first}"
        if said := self._notes():
            about["notes"] = "\n".join(said)
        learners = [player.learner for player in self.players]
        ours = [one for one in learners if hasattr(one, "get_params")]
        about["learners"] = "\n".join(" ".join(repr(one).split()) for one in ours)
        return about

    def _notes(self) -> list[str]:
        """What a reader should know about the rows."""
        first = self.players[0]
        learner = first.learner
        weekdays = isinstance(learner, Forecaster) and learner.__sklearn_is_fitted__()
        if isinstance(learner, Forecaster) and weekdays:
            weekdays = learner.facts().every == "weekday"
        said = notes(self.encoding, self.reading, binary=first.binary, weekdays=weekdays)
        return [*said, *self.remarks]

    def summary(self, player: Player) -> Summary:
        """What came of a learner's run."""
        try:
            found = summarise(
                player,
                data=str(self.reading.name),
                target=self.encoding.target,
                features=list(self.encoding.slots),
                strict=bool(self.steps),
                told=self.encoding.clock.again,
            )
        except InputError as wrong:
            known = getattr(player.learner, "known", None)
            if not self.steps or not known:
                raise
            raise ParameterError(
                f"--known {','.join(known)}: {self.reading.name} must end with {self.steps} rows "
                "that have it and no outcome; without --known its last value is used"
            ) from wrong
        if self.encoding.clock.utc:  # times of UTC are written as such
            found.coming = [
                replace(one, at=one.at if "+" in one.at else f"{one.at}+00:00")
                for one in found.coming
            ]
        if self.reading.yearly(self.encoding.time):  # years are written as such
            found.first, found.last = found.first[:4], found.last[:4]
            found.coming = [replace(one, at=one.at[:4], time=one.time[:4]) for one in found.coming]
        labels = self.encoding.labels
        if labels is not None and labels.one is not None:
            found.positive = labels.one
        found.is_file = not self.source.live and not self.source.database
        return found

    def _tell(self, found: list[Summary], *, err: bool, proofs: bool, as_json: bool) -> None:
        """What came of it."""
        screen = show.console(err=err)

        def say(words: str) -> None:
            screen.print(words, markup=False, soft_wrap=True)

        reading, first = self.reading, self.players[0]
        if not self.rows and not as_json:
            say(f"{reading.name}: no new rows")
            if not self.steps:
                return
        said = self._notes()
        if self.replaced and self.rows:
            said.append(
                f"{self.replaced} had the forecasts of the run before, and now has these: --append "
                "adds to them"
            )
        if not self.rows:
            said.insert(0, f"{reading.name}: no new rows")
        if reading.bad:
            bad = show.count(reading.bad, f"bad {reading.unit}")
            said.insert(0, f"{bad} left out, the first: {reading.first}")
        if as_json:
            say(json.dumps(self._as_dict(found, said, proofs=proofs), allow_nan=False, indent=1))
            return
        if len(self.players) > 1:
            rows, features = show.count(self.rows, "row"), len(self.encoding.slots)
            say(f"{rows} of {reading.name}, {show.count(features, 'feature')}")
            for line in (*(f"  ! {words}" for words in said), ""):
                say(line)
            for line in contest.lines(self.players, found, bands=self.intervals):
                say(line)
            if proofs:
                screen.print(show.contest(self.players))
            return
        for line in lines(found[0], said, steps=self.steps, data=self.said):
            say(line)
        if proofs and first.rounds:
            screen.print(show.certificates(first.certificates()))

    def write_next(self, found: Summary, out: str | None, out_format: str | None) -> None:
        """Write the forecasts of the steps to come."""
        coming = found.coming
        columns: dict[str, Written] = {"time": [one.at for one in coming]}
        for name in ("forecast", "low", "high"):
            columns[name] = np.array([getattr(one, name) for one in coming])
        if coming and coming[0].ends:  # of several coverages, by name
            del columns["low"], columns["high"]
            columns |= {
                name: np.array([one.ends[name] for one in coming]) for name in coming[0].ends
            }
        with named(out):
            output = open_output(out, out_format)
            output.write(columns)
            output.close()

    def _as_dict(self, found: list[Summary], said: list[str], *, proofs: bool) -> Json:
        """The screen for machines; of several learners, one after the other."""
        each = []
        for player, one in zip(self.players, found):
            proved = [c.to_dict() for c in player.certificates()] if proofs else []
            each.append(one.to_dict() | {"certificates": proved})
        result = each[0] if len(each) == 1 else {"learners": each} if each else {"rows": 0}
        return result | {"notes": said}


def _device(place: str) -> bool:
    return Path(place).exists() and not Path(place).is_file()
