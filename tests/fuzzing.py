"""What the fuzzers share: Atheris where it is installed, else random changes from a seed."""

from __future__ import annotations

import faulthandler
import importlib.util
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

__all__ = ["GUIDED", "instrumented", "run"]

GUIDED = importlib.util.find_spec("atheris") is not None
SLOWEST = 5  # seconds for one input
SEED = os.environ.get("FUZZ_SEED", "")  # the same inputs, in the same order; none: at random
RUNS = int(os.environ.get("FUZZ_RUNS", "0")) or sys.maxsize  # inputs at the most


def instrumented(names: list[str]) -> Any:
    """A block in which imports are watched by Atheris, if it is there."""
    if not GUIDED:
        return nullcontext()
    import atheris

    return atheris.instrument_imports(include=names)


def run(
    name: str,
    one: Callable[[bytes], bool],
    mutate: Callable[[bytes, random.Random], bytes],
    seeds: list[bytes],
    seconds: int,
    watched: list[str],
) -> None:
    """Try inputs for so many seconds; whatever `one` raises ends the run, and the input is kept.

    `one` says whether an input was read (or refused); the last line has the counts.
    """
    with instrumented(watched):
        for module in watched:
            importlib.import_module(module)
    faulthandler.dump_traceback_later(seconds + 120, exit=True)  # what no signal interrupts
    warnings.simplefilter("error")
    counts = {True: 0, False: 0}
    kept = Path(tempfile.gettempdir()) / f"fuzz-{name}-{os.getpid()}"

    begin = time.monotonic()
    end = begin + seconds

    def over() -> bool:
        return sum(counts.values()) >= RUNS or time.monotonic() > end

    def tell() -> None:
        how = "Atheris" if GUIDED else "a seeded mutator, for Atheris is not installed"
        total, took = sum(counts.values()), time.monotonic() - begin
        print(
            f"fuzz {name}: {total} inputs in {took:.0f} s by {how}: "
            f"{counts[True]} read, {counts[False]} refused",
            flush=True,
        )

    def tried(data: bytes) -> None:
        try:
            with _limited():
                counts[one(data)] += 1
        except BaseException:
            kept.write_bytes(data)
            traceback.print_exc()
            print(f"fuzz {name}: failed on the input in {kept}", flush=True)
            os._exit(1)

    for seed in seeds:
        tried(seed)
    if GUIDED:
        _guided(tried, mutate, seeds, over, tell)
    else:
        rng, pool = random.Random(SEED or None), list(seeds)
        while not over():
            data = mutate(rng.choice(pool), rng)
            tried(data)
            if len(data) < 100_000 and rng.random() < 0.05:  # changes add up
                pool[len(seeds) + rng.randrange(200) :] = [data]
        tell()


def _guided(tried: Any, mutate: Any, seeds: list[bytes], over: Any, tell: Any) -> None:
    import atheris

    def changed(data: bytes, size: int, seed: int) -> bytes:
        rng = random.Random(seed)
        made = atheris.Mutate(data, size) if rng.random() < 0.3 else mutate(data, rng)
        return bytes(made[:size])

    with tempfile.TemporaryDirectory() as folder:
        for k, seed in enumerate(seeds):
            (Path(folder) / str(k)).write_bytes(seed)

        def timed(data: bytes) -> None:
            tried(data)
            if over():  # libFuzzer would leave without a word
                tell()
                shutil.rmtree(folder)
                os._exit(0)

        options = ["-rss_limit_mb=2048", "-max_len=1200000", "-verbosity=0", "-timeout=60"]
        options += [f"-seed={SEED}"] if SEED else []
        atheris.Setup([sys.argv[0], folder, *options], timed, custom_mutator=changed)
        atheris.Fuzz()


@contextmanager
def _limited() -> Iterator[None]:
    """Raise where one input takes too long."""

    def late(*_: Any) -> None:
        raise TimeoutError(f"an input took over {SLOWEST} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SLOWEST)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
