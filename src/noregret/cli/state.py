"""State files: a model file, and beside the learner what a run needs to go on exactly.

The file is the learner's own (`noregret.load` reads it), so a state written here can be used in
Python and a learner trained in Python can go on here.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from noregret import snapshot
from noregret.cli.output import Mark, Output
from noregret.errors import ParameterError, SnapshotError, abbreviated
from noregret.forecasting.forecaster import Forecaster
from noregret.running.player import Playable
from noregret.snapshot import files
from noregret.sources.cells import Numbers
from noregret.sources.dates import Dates
from noregret.sources.survey import Style
from noregret.types import Json

if TYPE_CHECKING:
    from noregret.cli.session import Session

__all__ = ["Saving", "recall"]

HEAD = 1 << 16  # bytes at the beginning of a file that tell whether it is still the same
OFTEN = 30.0  # seconds after which a state is written, however few the rows,
SHARE = 20.0  # or so many times as long as it took the last time
FIELDS = ("target", "features", "time", "calendar", "missing", "drop")
MOST = 1_000  # files that a state remembers
LEAST = 200  # bytes that tell a file from another


def recall(path: str, session: Session) -> bool:
    """Let a session go on from a state file; False if there is none."""
    files.sweep(Path(path).resolve())
    if not Path(path).exists():
        return False
    learner = snapshot.load(path)
    player = session.players[0]
    if isinstance(learner, Forecaster) and isinstance(player.learner, Forecaster):
        if player.learner.every is None:
            player.learner.every = learner.every
        player.learner.time = learner.time  # it was found, or is in the options of the run before
    if type(learner) is not type(player.learner) or _chosen(learner) != _chosen(player.learner):
        raise ParameterError(
            f"--state {path} holds {learner!r}, and this run asks for {player.learner!r}: "
            "give the same model and parameters, or another file"
        )
    player.learner = learner
    kept = snapshot.extra_in(path)
    if kept is None:  # a learner saved in Python
        return True
    try:
        _go_on(path, session, kept)
    except (KeyError, TypeError, ValueError, AttributeError) as wrong:
        if isinstance(wrong, ParameterError):
            raise
        raise SnapshotError(f"{path}: what it says about the last run is invalid") from None
    return True


def _chosen(learner: Playable) -> dict[str, str]:
    """The parameters, as text: arrays and kernels in them have no other equality."""
    parameters: dict[str, object] = getattr(learner, "get_params")(deep=False)  # noqa: B009  # of ours
    return {name: repr(value) for name, value in parameters.items()}


def _go_on(path: str, session: Session, kept: Json) -> None:
    encoding = session.encoding
    if (kept["run"]["calendar"] or encoding.series) and encoding.time is None:
        encoding.time = kept["run"]["time"]  # it was found, not given
    settings = _settings(session)
    session.seen = [dict(one) for one in kept.get("seen", [])]
    for name, before in kept["run"].items():
        if settings[name] != before:
            raise ParameterError(
                f"--state {path} is of a run with {name} = {before!r}, and this one has "
                f"{settings[name]!r}: keep to it, or give another file"
            )
    encoding.recall(kept["encoding"])
    encoding.kinds = {str(k): str(v) for k, v in kept["kinds"].items()}
    session.reading.kinds |= encoding.kinds
    reading, said = session.reading, session.reading.declared.dates
    for name, style in ((n, _style(v)) for n, v in kept.get("styles", {}).items()):
        undecided = isinstance(style, Dates) and bool(style.other)
        reading.styles[name] = said if undecided and said is not None else style
    if (sums := kept.get("running")) is not None:
        session.players[0].resume(sums)
    source, key = kept["source"], session.source.key
    same = source["key"] == key
    if same and key and source["head"] is not None:
        same = _head(key, source["head"][0]) == source["head"]
        if not same and encoding.clock.late == "refuse" and not _timed(kept):
            raise ParameterError(
                f"{session.source.data} has changed since {path} was written: its beginning is "
                "not what it was; --late learn takes all of it for new rows"
            )
    session.earlier = _mark(kept.get("output"))
    if same:  # a pipe is taken to go on where the last one ended
        session.resumed, session.mark = True, session.earlier
        session.last = int(source["last"])
    if source["key"] == key and key and not same:
        encoding.clock.changed = _changed(session, kept)
    if "clock" in kept["encoding"]:
        encoding.clock.recall(kept["encoding"]["clock"], elsewhere=not key or not same)
    if not same:
        _refuse_old(path, session, key)
    elif key:
        session.reading.past = session.last


def _changed(session: Session, kept: Json) -> str:
    """Why rows that were learned come again: the beginning of their file is another one."""
    reading = session.source.reading()
    reading.allowed = sys.maxsize
    session.source.peek(reading)
    new = [name for name in reading.names if name not in kept["kinds"]]
    what = f"it has a new column {abbreviated(new[0])}" if new else "it was written anew"
    return f"it does not begin as it did ({what}), so all of it is read again"


def _timed(kept: Json) -> bool:
    """Whether the times of new rows tell that they are new."""
    clock = kept["encoding"].get("clock") or {}
    return clock.get("last") is not None and not clock.get("backward")


def _refuse_old(path: str, session: Session, key: str) -> None:
    """Refuse a file that was learned before, or begins like one; --late says what else to do."""
    for one in session.seen:
        size = int(one["head"][0]) if one["head"] else 0
        if size < LEAST or _head(key, size) != one["head"]:
            continue
        last, late = int(one["last"]), session.encoding.clock.late
        if late == "refuse":
            same = "was learned" if one["key"] == key else f"begins like {one['key']}, learned"
            again = "--late learn all of it again"
            if session.encoding.series and session.encoding.time is not None:
                again = "another --state all of it anew"  # steps of a series come once
            raise ParameterError(
                f"{session.source.data} {same} before, up to {session.reading.unit} {last}, says "
                f"--state {path}: --late skip learns what follows, {again}"
            )
        if late == "skip":
            session.reading.past = max(session.reading.past, last)
            session.encoding.clock.edge = None  # rows that were learned are told by their lines


def _style(kept: list[str]) -> Style:
    """How a column's cells are written."""
    kind, *rest = map(str, kept)
    if kind != "numbers":
        return Dates(*rest)
    decimal, thousands, unit, partly, brackets = [*rest, "", "", ""][:5]
    return Numbers(decimal, thousands, unit, partly, bool(brackets))


def _styled(style: Style) -> list[str]:
    if isinstance(style, Numbers):
        kept = ["numbers", style.decimal, style.thousands]
        if style.brackets:
            return [*kept, style.unit, style.partly, "brackets"]
        return [*kept, *filter(None, [style.unit, style.partly])]
    return ["dates", style.form, style.other]


def _mark(kept: Json | None) -> Mark | None:
    """Where the output was, in a form that makes sense."""
    if kept is None:
        return None
    words: Mark = {name: str(kept[name]) for name in ("path", "kind", "sha256")}
    return words | {"length": int(kept["length"])}


def _store(path: str, session: Session, mark: Mark | None) -> None:
    """Write the state file, whole or not at all; `mark` says how far the output is on the disk."""
    key = session.source.key
    running = session.players[0].running
    last, memory = session.last, session.encoding.memory()
    if session.settled is not None:  # rows after the last outcome come again, and are learned then
        last, memory, mark = session.settled
    source: Json = {"key": key, "last": last, "head": _head(key, _learned_bytes(session, last))}
    seen = [one for one in session.seen if one["key"] != key]
    known = session.encoding.kinds
    styles = {k: _styled(v) for k, v in sorted(session.reading.styles.items()) if k in known}
    extra: Json = {
        "run": _settings(session),
        "options": session.options,
        "encoding": memory,
        "kinds": dict(sorted(session.encoding.kinds.items())),
        "styles": styles,
        "source": source,
        "seen": [*seen, source][-MOST:] if key else seen,
        "output": mark,
        "running": None if running is None else running.stored(),
    }
    snapshot.save(session.players[0].learner, path, extra)


def _settings(session: Session) -> dict[str, object]:
    encoding = session.encoding
    chosen = {name: getattr(encoding, name) for name in FIELDS}
    return {name: list(v) if isinstance(v, tuple) else v for name, v in chosen.items()}


def _learned_bytes(session: Session, last: int) -> int:
    """How many bytes tell a file: of text none beyond what was learned, for the rest may change."""
    source = session.source
    text = source.kind() in ("csv", "jsonl") and not source.key.endswith(".gz")
    if not text or not Path(source.key).is_file():  # a database's key is the query
        return HEAD
    with Path(source.key).open("rb") as file:
        lines = file.read(HEAD).splitlines(keepends=True)
    return sum(map(len, lines[:last]))


def _head(key: str, size: int) -> list[int | str] | None:
    """How long the beginning of a file is, up to a size, and its digest."""
    path = Path(key)
    if not key or not path.is_file():
        return None
    with path.open("rb") as file:
        head = file.read(int(size))
    return [len(head), hashlib.sha256(head).hexdigest()]


class Saving:
    """When a state is written, and where: every so many rows, and every now and then."""

    def __init__(self, path: str, every: int) -> None:
        self.path, self.every = path, every
        self.rows = 0  # at the last time
        self.at, self.cost = perf_counter(), 0.0

    def left(self, rows: int) -> int:
        """How many rows may come before the next time."""
        return max(1, self.rows + self.every - rows)

    def due(self, rows: int) -> bool:
        """Whether it is time; large states are not written so often that they slow a run down."""
        late = perf_counter() - self.at > max(OFTEN, self.cost * SHARE)
        return late or rows - self.rows >= self.every

    def store(self, session: Session, output: Output) -> None:
        """Write the output to the disk, then the state that says how far it is."""
        begin = perf_counter()
        _store(self.path, session, output.mark())
        self.rows, self.at = session.rows, perf_counter()
        self.cost = self.at - begin
