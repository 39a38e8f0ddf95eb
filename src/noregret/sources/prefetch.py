"""The next blocks are made while the last one is learned."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
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

    def some() -> list[T]:
        return list(islice(made, 1))

    worker = ThreadPoolExecutor(1, "noregret prefetch")
    coming = deque(worker.submit(some) for _ in range(3))
    try:
        while True:
            done = False
            while not done:
                with held():
                    done = bool(wait(list(coming)[:1], timeout=0.5).done)  # a signal may come
            things = coming.popleft().result()
            if not things:
                return
            coming.append(worker.submit(some))
            yield things[0]
    finally:
        worker.shutdown(cancel_futures=True)
        getattr(made, "close", int)()
