"""Model files on disk: written whole or not at all, read only if they are plain files."""

from __future__ import annotations

import io
import os
import re
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import time
from typing import IO, Any

from noregret.errors import SnapshotError
from noregret.snapshot.frame import LARGEST_FILE, unpack

try:
    import fcntl
except ImportError:  # Windows: nothing is locked, and nothing swept
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "fsync_directory",
    "opened",
    "place",
    "read",
    "replaced",
    "sweep",
    "write",
    "write_pieces",
]

CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
CREATE |= getattr(os, "O_CLOEXEC", 0)
YOUNG = 10.0  # seconds: its process may not hold it yet, or not any more and be about to rename it


def place(path: Any) -> Path:
    """A path from what the caller gave."""
    try:
        return Path(os.fsdecode(path))
    except TypeError:
        raise SnapshotError(f"path = {path!r}: give the name of a file") from None


def write(path: Path, data: bytes) -> None:
    """Put a file in its place, whole or not at all, as `write_pieces` does."""
    write_pieces(path, [data])


def write_pieces(path: Path, pieces: Iterable[bytes]) -> None:
    """Put a file in its place: a neighbour is written, flushed to the disk, then renamed.

    Whatever happens, the place holds the old file or the new one, whole.  A file that is replaced
    keeps its permissions; a new one has those that the system gives to new files.
    """
    try:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise SnapshotError(
                f"{path} is a link, a folder or a device: give the place of the file itself"
            )
        with replaced(path) as file:
            file.writelines(pieces)
    except SnapshotError:
        raise
    except (OSError, ValueError) as refusal:
        raise SnapshotError(f"{path} cannot be written: {refusal}") from refusal


@contextmanager
def replaced(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to that takes the place of another one when it is whole and on the disk."""
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
    new = path.with_name(f"{_stem(path)}{secrets.token_hex(8)}.tmp")
    fd = os.open(new, CREATE, 0o666 if mode is None else 0o600)  # less what the umask takes
    try:
        with os.fdopen(fd, "wb") as file:
            _hold(fd)
            yield file
            file.flush()
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(fd, mode)
            os.fsync(fd)
        new.replace(path)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise
    fsync_directory(path.parent)


def sweep(path: Path) -> None:
    """Remove what processes that were killed while they wrote this file have left beside it."""
    if fcntl is None:
        return
    ours = re.compile(re.escape(_stem(path)) + r"[0-9a-f]{16}\.tmp")
    for left in path.parent.iterdir():
        if ours.fullmatch(left.name):
            with suppress(OSError), left.open("rb") as file:  # one that is held has its process
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if time() - left.stat().st_mtime > YOUNG:
                    left.unlink()


def _stem(path: Path) -> str:
    return f".{path.name[:100]}."


def _hold(fd: int) -> None:
    """Show that a file has a process: the lock dies with it."""
    if fcntl is not None:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)


def fsync_directory(folder: Path) -> None:
    """Flush the folder itself, so that the new name outlasts a power cut; not on Windows."""
    if os.name == "posix":
        fd = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def read(path: Path) -> tuple[bytes, bytes]:
    """Schema and numbers of a file; links, folders, pipes and devices are not even read."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    flags |= getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        if path.is_symlink():
            raise SnapshotError(f"{path} is a link: give the place of the file itself")
        fd = os.open(path, flags)
    except SnapshotError:
        raise
    except (OSError, ValueError) as refusal:
        raise SnapshotError(f"{path} cannot be read: {refusal}") from refusal
    try:
        facts = os.fstat(fd)
        if not stat.S_ISREG(facts.st_mode):
            raise SnapshotError(f"{path} is no plain file: a model file is one")
        with os.fdopen(fd, "rb", buffering=0, closefd=False) as file:
            return unpack(file, facts.st_size)
    except OSError as refusal:
        raise SnapshotError(f"{path} cannot be read: {refusal}") from refusal
    finally:
        os.close(fd)


def opened(data: object) -> tuple[bytes, bytes]:
    """Schema and numbers of a file that is in memory."""
    if not isinstance(data, bytes | bytearray | memoryview):
        raise SnapshotError(f"data is a {type(data).__name__}: give the bytes that to_bytes gave")
    held = bytes(data)
    if len(held) > LARGEST_FILE:
        raise SnapshotError(f"{len(held)} bytes are no model file")
    return unpack(io.BytesIO(held), len(held))
