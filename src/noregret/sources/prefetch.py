"""The next blocks are made while the last one is learned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import TypeVar

__all__ = ["prefetch"]

T = TypeVar("T")


def prefetch(
    made: Iterator[T], held: Callable[[], AbstractContextManager[None]] = nullcontext
) -> Iterator[T]:
    """The same things in the same order, made a few ahead in a thread; an error comes in its turn.

    `held` is entered while nothing is done but wait for the next one.

    >>> list(prefetch(iter([1, 2, 3])))
    [1, 2, 3]
    """
    waiting: Queue[tuple[list[T], BaseException | None]] = Queue(maxsize=3)
    stop = Event()

    def hand_over(things: list[T], error: BaseException | None = None) -> None:
        while not stop.is_set():
            try:
                waiting.put((things, error), timeout=0.05)
            except Full:
                continue
            return

    def work() -> None:
        try:
            for thing in made:
                hand_over([thing])
                if stop.is_set():
                    return
            hand_over([])
        except BaseException as error:  # noqa: BLE001  # whoever takes the things raises it
            hand_over([], error)
        finally:
            getattr(made, "close", int)()

    thread = Thread(target=work, name="noregret reads ahead", daemon=True)
    thread.start()
    try:
        while True:
            try:
                with held():
                    things, error = waiting.get(timeout=0.5)  # a signal may come meanwhile
            except Empty:
                continue
            if error is not None:
                try:
                    raise error
                finally:
                    error = None  # else it would hold itself, and open files, by its traceback
            if not things:
                return
            yield things[0]
    finally:
        stop.set()
        thread.join()
