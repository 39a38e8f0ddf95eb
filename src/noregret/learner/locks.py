"""The lock of a learner, and what becomes of it when the process forks.

A child has only the thread that forked.  A lock that another thread held would be held for ever
there, over a state in the middle of a call.  So a fork waits, as that of `logging` does, until no
call is under way: the child's copies are whole, and free.
"""

from __future__ import annotations

import os
import time
from threading import get_ident
from weakref import WeakValueDictionary

from noregret._native.learner import Lock

__all__ = ["new_lock"]

WAIT = 10.0
"""Seconds that a fork waits at the most.  A learner whose call lasts longer (or that forks inside
its own kernel) keeps its lock as it is: in the child it cannot be used until that call ends."""

_LOCKS: WeakValueDictionary[int, Lock] = WeakValueDictionary()
_HELD: dict[int, list[Lock]] = {}  # by thread: what it holds while it forks


def new_lock() -> Lock:
    """A lock that forks wait for."""
    lock = Lock()
    _LOCKS[id(lock)] = lock
    return lock


def _hold() -> None:
    """Take every lock; while one is not to be had, hold none, so that nobody waits in a circle."""
    end = time.monotonic() + WAIT
    while True:
        locks = [lock for ref in _LOCKS.valuerefs() if (lock := ref()) is not None]
        held = [lock for lock in locks if lock.acquire(blocking=False)]
        if len(held) == len(locks) or time.monotonic() > end:
            _HELD[get_ident()] = held
            return
        for lock in held:
            lock.release()
        time.sleep(0.001)


def _release() -> None:
    for lock in _HELD.pop(get_ident(), ()):
        lock.release()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(before=_hold, after_in_parent=_release, after_in_child=_release)
