"""Make every mutant of the table in a scratch copy of the tree, and see whether the tests notice.

    python tests/mutants/run.py [--jobs 2] [--only TEXT|TEXT] [--done LOG ...]

Compiling (compiled.py) needs cmake, ninja and nanobind, in the environment or elsewhere: CMAKE_ARGS
may say where.  The mutants of native/ are compiled together and chosen at run time (switched.py);
those that have no such form are compiled one by one, and one that does not compile is an error of
the table.  A child is forked for each, so that libraries are loaded once.  What fails or crashes is
killed, and what takes half a minute of the processor more than twice the time without a mutant;
what passes survives.  A survivor of its own tests meets all those of their rooms, and must be in
EQUIVALENT with the reason otherwise.  Of files the fast tests are run, a named test in any case.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, field, replace
from pathlib import Path

import compiled
import switched

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path("src/noregret")
MEMORY = 4 * 2**30  # bytes of data: some mutants would take all there is
REWRITTEN = "ignore::pytest.PytestAssertRewriteWarning"  # hypothesis is there before pytest
COMPILING = 1800.0  # seconds that a module of its own may take, beside others
BROKEN = 3  # what a child answers that has no answer of pytest: it did not compile, perhaps
USUAL = ["-q", "-p", "no:cacheprovider", "--tb=line", "-W", REWRITTEN]


@dataclass(frozen=True)
class Mutant:
    """One change: where, from what, to what, why it matters, and the tests that should notice."""

    path: str
    old: str
    new: str
    why: str
    tests: tuple[str, ...]
    number: int = 0

    @property
    def native(self) -> bool:
        """Whether it is in compiled code."""
        return self.path.startswith("native/")

    def place(self, root: Path = ROOT) -> Path:
        """The file, wherever it has been moved to: its text must be there, and only once."""
        there = root / self.path if self.native else root / PACKAGE / self.path
        files = [there] if there.is_file() else sorted((root / PACKAGE).rglob(there.name))
        found = [file for file in files if file.read_text().count(self.old) == 1]
        if len(found) != 1:
            raise SystemExit(f"{self}: the old text is once in {len(found)} files, not in one")
        return found[0].relative_to(root)

    def text(self, root: Path = ROOT) -> str:
        """The whole file with the change in it; Python must be Python."""
        changed = (root / self.place(root)).read_text().replace(self.old, self.new)
        if not self.native:
            compile(changed, self.path, "exec")
        return changed

    def rooms(self) -> tuple[str, ...]:
        """The folders of its tests, and the tests themselves that are in none."""
        places = [Path(test.partition("::")[0]) for test in self.tests]
        inner = [place if place.parent == Path("tests") else place.parent for place in places]
        return tuple(dict.fromkeys(map(str, inner)))

    def dead_in(self, log: str) -> bool:
        """Whether a log says that it was killed."""
        return re.search(rf"^(killed|HUNG) .*{re.escape(str(self))}", log, re.MULTILINE) is not None

    def __str__(self) -> str:
        old, new = (" ".join(text.split())[:70] for text in (self.old, self.new))
        return f"{self.path}: {old} -> {new or 'nothing'} ({self.why})"


@dataclass
class Run:
    """A child under way."""

    mutant: Mutant | None
    folder: Path
    tests: list[str]
    start: float
    module: Path | None
    place: Path | None = None
    before: str = ""
    stamp: tuple[int, int] = (0, 0)
    limit: float = 0.0

    def overdue(self) -> bool:
        """Whether it waits for what does not come: the processor has a limit of its own."""
        compiling = COMPILING if self.module is None else 0.0
        return time.monotonic() - self.start > 10.0 * self.limit + compiling


def child(run: Run) -> None:
    """Run the tests in the scratch copy, compiled here if no module is given; never returns."""
    folder, tests = run.folder, run.tests
    os.setsid()
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    code = BROKEN
    try:
        out = os.open(folder / "out.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        os.chdir(folder)
        sys.path[:0] = [str(folder / "src"), str(folder / "tests")]
        os.environ["PYTHONPATH"] = str(folder / "src")
        import pytest

        if run.module is None:
            compiled.build(folder)
        else:
            compiled.use(folder, run.module)
            os.environ[switched.SWITCH] = str(run.mutant.number if run.mutant else 0)
        if run.limit:
            limit = int(time.process_time() + run.limit)
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        compiled.prefer()
        for test in tests:
            how = ["-x", *USUAL] if "::" in test else ["-x", "-m", "not slow", *USUAL]
            code = int(pytest.main([*how, "-p", "plain", test]))
            if code:
                break
    except BaseException:  # whatever it is belongs into the output
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def started(
    mutant: Mutant | None, folder: Path, tests: list[str], module: Path | None, limit: float = 0.0
) -> tuple[int, Run]:
    """Put the change into the scratch copy, unless the module has it, and fork."""
    run = Run(mutant, folder, tests, time.monotonic(), module, limit=limit)
    if mutant is not None and not (mutant.native and module):
        run.place = folder / mutant.place(folder)
        run.before = run.place.read_text()
        stamp = run.place.stat()
        run.stamp = stamp.st_atime_ns, stamp.st_mtime_ns
        run.place.write_text(mutant.text(folder))
        if not mutant.native:  # ninja compiles what is newer than its object
            os.utime(run.place, ns=(run.stamp[0], run.stamp[1] + 10**9))
        for stale in (run.place.parent / "__pycache__").glob(f"{run.place.stem}.*.pyc"):
            stale.unlink()
    pid = os.fork()
    if pid == 0:
        child(run)
    return pid, run


def ended(run: Run) -> None:
    """Take the change out again."""
    if run.place is not None and run.mutant is not None:
        run.place.write_text(run.before)
        if not run.mutant.native:
            os.utime(run.place, ns=run.stamp)


def baseline(folder: Path, tests: list[str], module: Path) -> float:
    """The seconds without any mutant; the tests must pass."""
    pid, run = started(None, folder, tests, module)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code:
        text = (folder / "out.txt").read_text()
        raise SystemExit(f"without any mutant the tests fail ({code}):\n{text}")
    return time.monotonic() - run.start


def killer(folder: Path) -> str:
    """Which test failed, from what pytest printed."""
    text = (folder / "out.txt").read_text(errors="replace")
    found = re.search(r"^(?:FAILED|ERROR) (?:tests/)?(\S+)", text, re.MULTILINE)
    return found[1] if found else text.strip()[-100:]


def mutants() -> list[Mutant]:
    """Every mutant of the table."""
    import table

    every = [
        (path, *change, tuple(f"tests/{test}" for test in tests))
        for path, (tests, changes) in table.MUTANTS.items()
        for change in changes
    ]
    return [Mutant(*said, number) for number, said in enumerate(every, start=1)]


def together(mutants: list[Mutant], folder: Path) -> tuple[Path, set[int]]:
    """One module with all mutants of C++ that can be chosen at run time, and their numbers."""
    compiled.copied(ROOT, folder)
    (folder / "native" / switched.HEADER).write_text(switched.DECLARATION)
    having: set[int] = set()
    for path in {mutant.path for mutant in mutants if mutant.native}:
        changes = {m.number: (m.old, m.new, m.why) for m in mutants if m.path == path}
        text, done = switched.switched(path, (folder / path).read_text(), changes)
        (folder / path).write_text(text)
        having |= done
    return compiled.build(folder), having


def main() -> int:
    """Run the table; 0 if every survivor is known to be equivalent."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument(
        "--only", default="", help="mutants whose line contains one of these texts, with | between"
    )
    parser.add_argument("--done", nargs="*", default=[], help="logs of runs: the killed stay dead")
    chosen = parser.parse_args()
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True  # a mutant's must not be found by the next
    import hypothesis  # noqa: F401  # loaded once, for all children
    import pytest  # noqa: F401  # as above
    import scipy.linalg  # noqa: F401  # as above
    import sklearn.gaussian_process.kernels  # noqa: F401  # as above
    import table

    due = mutants()
    for mutant in due:
        mutant.text()
    wanted = chosen.only.split("|")
    due = [mutant for mutant in due if any(text in str(mutant) for text in wanted)]
    dead = "".join(Path(log).read_text() for log in chosen.done)
    due = [mutant for mutant in due if not mutant.dead_in(dead)]
    with tempfile.TemporaryDirectory(prefix="mutants-") as base:
        return play(due, Path(base), chosen.jobs, table.EQUIVALENT)


@dataclass
class Trial:
    """Scratch copies, a module with all mutants that can be chosen, and how long tests take."""

    free: list[Path]
    module: Path
    having: set[int]
    usual: dict[tuple[str, ...], float] = field(default_factory=dict)

    def survivors(self, mutants: list[Mutant]) -> list[Mutant]:
        """Run the tests on each, so many at a time; print what became of it."""
        alone = [mutant for mutant in mutants if mutant.native and mutant.number not in self.having]
        waiting = [*alone, *(mutant for mutant in reversed(mutants) if mutant not in alone)]
        survived: list[Mutant] = []
        running: dict[int, Run] = {}
        while waiting or running:
            while waiting and self.free:
                mutant, folder = waiting.pop(), self.free.pop()
                limit = self.limit(folder, mutant.tests)
                chosen = None if mutant in alone else self.module
                pid, run = started(mutant, folder, list(mutant.tests), chosen, limit)
                running[pid] = run
            time.sleep(0.02)
            for pid, run in list(running.items()):
                done, status = os.waitpid(pid, os.WNOHANG)  # it may have ended long ago
                late = not done and run.overdue()
                if late:
                    os.killpg(pid, signal.SIGKILL)
                    done, status = os.waitpid(pid, 0)
                if not done:
                    continue
                if judged(run, os.waitstatus_to_exitcode(status), late=late):
                    assert run.mutant is not None
                    survived.append(run.mutant)
                ended(run)
                self.free.append(run.folder)
                del running[pid]
        return survived

    def limit(self, folder: Path, tests: tuple[str, ...]) -> float:
        """Seconds of the processor after which a mutant counts as hanging."""
        if tests not in self.usual:
            self.usual[tests] = baseline(folder, list(tests), self.module)
            print(f"# {' '.join(tests)}: {self.usual[tests]:.0f} s", flush=True)
        return 30.0 + 2.0 * self.usual[tests]


def judged(run: Run, code: int, *, late: bool) -> bool:
    """Print what became of a mutant; whether it survived."""
    if code in (BROKEN, 4, 5) and not late:
        said = (run.folder / "out.txt").read_text(errors="replace")
        raise SystemExit(f"{run.mutant}: no answer of the tests ({code}):\n{said}")
    late = late or code == -signal.SIGXCPU
    word = "HUNG" if late else "killed" if code else "SURVIVED"
    by = killer(run.folder) if word == "killed" else ""
    print(f"{word} {time.monotonic() - run.start:5.1f} s  {run.mutant}  {by}", flush=True)
    return word == "SURVIVED"


def play(mutants: list[Mutant], base: Path, jobs: int, known: dict[tuple[str, str], str]) -> int:
    """All mutants by their own tests, the survivors by all fast tests of their rooms; 0 or 1."""
    begun = time.monotonic()
    module, having = together(mutants, base / "together" / ROOT.name)
    free = [compiled.copied(ROOT, base / f"tree{k}" / ROOT.name) for k in range(jobs)]
    trial = Trial(free, module, having)
    first = trial.survivors(mutants)
    alike = [mutant for mutant in first if (mutant.path, mutant.why) in known]
    left = [replace(mutant, tests=mutant.rooms()) for mutant in first if mutant not in alike]
    left = trial.survivors(left)
    total, alive = len(mutants), len(alike) + len(left)
    minutes = (time.monotonic() - begun) / 60.0
    print(
        f"{total - alive} of {total} mutants died ({1 - alive / total:.1%}), {minutes:.1f} minutes"
    )
    for mutant in alike:
        print(f"survived: {mutant}: {known[mutant.path, mutant.why]}")
    for mutant in left:
        print(f"survived: {mutant}: NO REASON KNOWN")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
