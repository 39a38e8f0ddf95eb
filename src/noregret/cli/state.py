"""State files: a model file, and beside the learner what a run needs to go on exactly.

The file is the learner's own (`noregret.load` reads it), so a state written here can be used in
Python and a learner trained in Python can go on here.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noregret import snapshot
from noregret.errors import ParameterError, SnapshotError

if TYPE_CHECKING:
    from noregret.cli.session import Session

__all__ = ["recall", "store"]

HEAD = 1 << 16  # bytes at the beginning of a file that tell whether it is still the same
FIELDS = ("target", "features", "time", "calendar", "missing")


def recall(path: str, session: Session) -> bool:
    """Let a session go on from a state file; False if there is none."""
    if not Path(path).exists():
        if not Path(path).resolve().parent.is_dir():
            raise ParameterError(f"--state {path}: there is no such folder")
        return False
    learner = snapshot.load(path)
    player = session.players[0]
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
        raise SnapshotError(f"{path}: what it says about the last run makes no sense") from None
    return True


def _chosen(learner: Any) -> str:
    return repr({k: repr(v) for k, v in sorted(learner.get_params(deep=False).items())})


def _go_on(path: str, session: Session, kept: dict[str, Any]) -> None:
    encoding = session.encoding
    if kept["run"]["calendar"] and encoding.time is None:
        encoding.time = kept["run"]["time"]  # it was found, not given
    asked = _asked(session)
    for name, before in kept["run"].items():
        if asked[name] != before:
            raise ParameterError(
                f"--state {path} is of a run with {name} = {before!r}, and this one has "
                f"{asked[name]!r}: keep to it, or give another file"
            )
    encoding.recall(kept["encoding"])
    session.reading.kinds |= {str(k): str(v) for k, v in kept["kinds"].items()}
    source, key = kept["source"], session.source.key
    if key and source["key"] == key:
        session.reading.past = session.last = int(source["last"])
        if source["head"] is not None and _head(key, source["head"][0]) != source["head"]:
            raise ParameterError(
                f"{session.source.data} has changed since {path} was written: its beginning is "
                "not what it was; give another --state"
            )


def store(path: str, session: Session) -> None:
    """Write the state file, whole or not at all."""
    key = session.source.key
    extra = {
        "run": _asked(session),
        "encoding": session.encoding.memory(),
        "kinds": session.reading.kinds,
        "source": {"key": key, "last": session.last, "head": _head(key, HEAD)},
    }
    snapshot.save(session.players[0].learner, path, extra)


def _asked(session: Session) -> dict[str, Any]:
    encoding = session.encoding
    chosen = {name: getattr(encoding, name) for name in FIELDS}
    return {name: list(v) if isinstance(v, tuple) else v for name, v in chosen.items()}


def _head(key: str, size: int) -> list[Any] | None:
    """How long the beginning of a file is, up to a size, and its digest."""
    path = Path(key)
    if not key or not path.is_file():
        return None
    with path.open("rb") as file:
        head = file.read(int(size))
    return [len(head), hashlib.sha256(head).hexdigest()]
