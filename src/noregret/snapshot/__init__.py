"""Model files: what a learner has learned, in a file that can be trusted and read for ever.

A file is an npz of three arrays without any pickle (docs/model-files.md): a schema in JSON, all
numbers, a digest.  A learner that is read back goes on bit for bit as if nothing had happened.

Reading executes nothing.  Only noregret's own learners are on the list of what a file may hold,
each with its fields; every field is checked for type, range and shape.  All that can come out of a
damaged, forged or foreign file is a SnapshotError.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from noregret.errors import SnapshotError
from noregret.inputs.values import abbreviated
from noregret.snapshot import files, frame
from noregret.snapshot.header import parsed, written
from noregret.snapshot.kinds import Reader, Writer, is_learner
from noregret.snapshot.values import forged
from noregret.types import Json

__all__ = ["extra_in", "from_bytes", "load", "save", "to_bytes"]

FORMAT = "noregret model file"
VERSION = 1
RELEASE: str = import_module("noregret").__version__


def to_bytes(learner: object, extra: Json | None = None) -> bytes:
    """A learner as the bytes of a model file; `extra` is whatever JSON can hold beside it.

    >>> import noregret as nr
    >>> learner = nr.AAR(0.5)
    >>> learner.learn_one({"one": 1.0}, 2.0)
    >>> twin = nr.from_bytes(nr.to_bytes(learner))
    >>> twin.predict_one({"one": 1.0}) == learner.predict_one({"one": 1.0})
    True
    """
    if not is_learner(type(learner)):
        raise SnapshotError(
            f"learner = {abbreviated(learner)}: only noregret's own learners can be stored, "
            f"and this is a {type(learner).__module__}.{type(learner).__qualname__}"
        )
    writer = Writer()
    schema = {
        "format": FORMAT,
        "version": VERSION,
        "release": RELEASE,
        "learner": writer.thing(learner),
    }
    if extra is not None:
        schema["extra"] = extra
    return frame.pack(written(schema), writer.pieces)


def from_bytes(data: object, /, **given: object) -> Any:
    """The learner that `to_bytes` or `save` stored; `given` as in `load`.

    >>> import noregret as nr
    >>> nr.from_bytes(nr.Ridge(0.5, clip=1.0).to_bytes())
    Ridge(clip=1.0, prior_precision=0.5)
    >>> nr.from_bytes(b"something else")
    Traceback (most recent call last):
    noregret.errors.SnapshotError: the model file is damaged: it ends after 14 bytes; ...
    """
    return _read(*files.opened(data), given)


def save(learner: object, path: object, extra: Json | None = None) -> None:
    """Store a learner in a file, whole or not at all, whatever happens meanwhile.

    `extra`, whatever JSON can hold, is kept beside it; `extra_in` reads it back.

    A file of that name is replaced and keeps its permissions; a symbolic link is refused.  What a
    file cannot hold is refused by name: experts of other libraries, inputs of a kernel that are
    neither numbers nor text nor containers of them.  Functions are only named: see `load`.

    >>> import noregret as nr, tempfile, os
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     nr.save(nr.AAR(0.5), os.path.join(folder, "demand.npz"))
    ...     nr.load(os.path.join(folder, "demand.npz"))
    AAR(prior_precision=0.5)
    """
    path = files.place(path)
    files.write(path, to_bytes(learner, extra))


def load(path: object, /, **given: object) -> Any:
    """The learner in a file.

    Functions that were not stored are given back by the name under which they were used: a kernel,
    a family of them, a drift, or an expert of a pool, `load(path, kernel=f)`.  A symbolic link is
    refused.

    >>> import noregret as nr, tempfile, os
    >>> def slowing(t):
    ...     return 1.0 / t**2
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "demand.npz")
    ...     nr.AAR(drift=slowing).save(path)
    ...     nr.load(path, drift=slowing).drift is slowing
    True
    """
    return _read(*files.read(files.place(path)), given)


def extra_in(path: object) -> dict[str, object] | None:
    """What was stored beside the learner in a file, None if nothing was.

    >>> import noregret as nr, tempfile, os
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "demand.npz")
    ...     nr.save(nr.AAR(), path, extra={"rows": 7})
    ...     extra_in(path)
    {'rows': 7}
    """
    header, _ = files.read(files.place(path))
    extra = parsed(header).get("extra")
    if extra is not None and type(extra) is not dict:
        raise forged("extra", "has no fields")
    return extra


def _read(header: bytes, numbers: bytes, given: dict[str, object]) -> object:
    schema = parsed(header)
    try:
        if schema.get("format") != FORMAT:
            raise forged("the header", "is not that of a model file")
        version = schema.get("version")
        if type(version) is not int or version < 1:
            raise forged("the version", f"= {abbreviated(version)}")
        if version > VERSION:
            raise SnapshotError(
                f"the model file has version {version}, written by noregret "
                f"{abbreviated(schema.get('release'))}; this is noregret {RELEASE}, which reads "
                f"versions up to {VERSION}: upgrade it"
            )
        if set(schema) - {"extra"} != {"format", "version", "release", "learner"}:
            raise forged("the header", "has other fields")
        reader = Reader(numbers, given)
        learner = reader.learner(schema["learner"], "learner")
        reader.finish()
    except SnapshotError:
        raise
    except (ValueError, RecursionError, MemoryError) as wrong:
        raise forged("the header", f"cannot be read: {abbreviated(wrong)}") from None
    return learner
