"""Model files on disk: written whole or not at all, read only if they are plain files."""

from __future__ import annotations

import io
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

from noregret.errors import SnapshotError
from noregret.snapshot.frame import LARGEST_FILE, unpack

__all__ = ["opened", "place", "read", "write"]

CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
CREATE |= getattr(os, "O_CLOEXEC", 0)


def place(path: Any) -> Path:
    """A path from what the caller gave."""
    try:
        return Path(os.fsdecode(path))
    except TypeError:
        raise SnapshotError(f"path = {path!r}: give the name of a file") from None


def write(path: Path, data: bytes) -> None:
    """Put a file in its place: a neighbour is written, flushed to the disk, then renamed.

    Whatever happens, the place holds the old file or the new one, whole.  A file that is replaced
    keeps its permissions; a new one has those that the system gives to new files.
    """
    beside: Path | None = None
    try:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise SnapshotError(
                f"{path} is a link, a folder or a device: give the place of the file itself"
            )
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
        new = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}.tmp")
        fd = os.open(new, CREATE, 0o666 if mode is None else 0o600)  # less what the umask takes
        beside = new
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(fd, mode)
            os.fsync(fd)
        new.replace(path)
        beside = None
        _settle(path.parent)
    except SnapshotError:
        raise
    except (OSError, ValueError) as refusal:
        raise SnapshotError(f"{path} cannot be written: {refusal}") from refusal
    finally:
        if beside is not None:
            with suppress(OSError):
                beside.unlink()


def _settle(folder: Path) -> None:
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


def opened(data: Any) -> tuple[bytes, bytes]:
    """Schema and numbers of a file that is in memory."""
    if not isinstance(data, bytes | bytearray | memoryview):
        raise SnapshotError(f"data is a {type(data).__name__}: give the bytes that to_bytes gave")
    held = bytes(data)
    if len(held) > LARGEST_FILE:
        raise SnapshotError(f"{len(held)} bytes are no model file")
    return unpack(io.BytesIO(held), len(held))
