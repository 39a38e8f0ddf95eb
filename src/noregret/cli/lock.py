"""One run at a time on a state file: a lock beside it that dies with its process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from noregret.errors import ParameterError

try:
    import fcntl
except ImportError:  # Windows: nothing is locked
    fcntl = None  # type: ignore[assignment]

__all__ = ["locked"]


@contextmanager
def locked(state: str, *, wait: bool) -> Iterator[None]:
    """Hold a state file for this run; if another run has it, wait for its end or refuse."""
    path = Path(state).resolve()
    if not path.parent.is_dir():
        raise ParameterError(f"--state {state}: there is no such folder")
    if fcntl is None:
        yield
        return
    beside = path.with_name(f".{path.name}.lock")
    try:
        fd = _acquired(beside, state, wait=wait)
    except OSError as problem:
        said = problem.strerror or problem
        raise ParameterError(f"--state {state}: its lock {beside} fails: {said}") from None
    try:
        yield
    finally:
        with suppress(OSError):
            beside.unlink()  # while it is held
        os.close(fd)


def _acquired(beside: Path, state: str, *, wait: bool) -> int:
    """The lock file, open and held by this process."""
    told = False
    while True:
        fd = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(fd, 20, 0).decode(errors="replace").strip()
            who = f"another run{f' (process {holder})' if holder.isdecimal() else ''}"
            if not wait:
                os.close(fd)
                raise ParameterError(
                    f"--state {state} is in use by {who}: wait for its end, or give another file"
                ) from None
            if not told:
                click.echo(f"noregret: waiting for {who} that uses --state {state} ...", err=True)
                told = True
            try:
                fcntl.flock(fd, fcntl.LOCK_EX)
            except BaseException:
                os.close(fd)
                raise
        with suppress(FileNotFoundError):  # the run before removed it, and a third made a new one
            if os.path.samestat(os.fstat(fd), beside.stat()):
                os.truncate(fd, 0)
                os.pwrite(fd, str(os.getpid()).encode(), 0)
                return fd
        os.close(fd)
