"""The native module compiled in other ways, each in a scratch copy, and what must hold of it.

`python tests/builds.py sanitize`: ASan and UBSan over the hostile and the threaded tests.
`python tests/builds.py versions`: one set of instructions at a time, the same bits.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "mutants"))

import compiled  # noqa: E402  # found by the line above

HOSTILE = (
    "tests/test_native.py",
    "tests/numerics",
    "tests/inputs",
    "tests/gaussian/test_cascade.py",
    "tests/gaussian/test_columns.py",
    "tests/learner/test_threads.py",
    "tests/learner/test_reader_threads.py",
    "tests/learner/test_refused_rounds.py",
    "tests/experts/test_pool_hostile.py",
    "tests/experts/test_pool_threads.py",
    "tests/glm/test_logistic_hostile.py",
    "tests/lms/test_klms_hostile.py",
    "tests/sparse/test_oslog_hostile.py",
    "tests/snapshot/test_snapshot_hostile.py",
)
SANITIZERS = "-fsanitize=address,undefined -fno-sanitize-recover=undefined -g1 -DNOREGRET_CALLS"
VERSIONS = {"baseline": "", "avx2": "-mavx2", "avx512f": "-mavx512f"}


def flags(more: str, optimise: str) -> list[str]:
    """Options of CMake for one plain version with these flags of the compiler."""
    return [f"-DCMAKE_CXX_FLAGS=-DNOREGRET_BASELINE {more}", f"-DNOREGRET_OPTIMISE={optimise}"]


def in_copy(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a scratch copy, with its module."""
    chosen = {"PYTHONPATH": f"{folder / 'src'}:{folder / 'tests'}", **environment}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, **chosen},
        text=True,
        check=False,
        stdout=subprocess.PIPE if "-m" not in arguments else None,
    )


def sanitize(more: list[str]) -> int:
    """Tests under the sanitizers; their exit code."""
    compiler = os.environ.get("CXX", "c++")
    found = [
        subprocess.run(
            [compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in ("libasan.so", "libubsan.so", "libstdc++.so.6")
    ]
    with tempfile.TemporaryDirectory() as base:
        folder = compiled.copied(ROOT, Path(base) / "tree")
        compiled.build(folder, flags(SANITIZERS, "-O0"))
        tests = ["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "not slow"]
        done = in_copy(
            folder,
            *tests,
            *(more or HOSTILE),
            LD_PRELOAD=" ".join(found),
            # Python keeps what it has until the end, and handles its own failed allocations.
            ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1:handle_segv=1",
            UBSAN_OPTIONS="print_stacktrace=1",
            PYTHONMALLOC="malloc",
        )
    return done.returncode


def bits(folder: Path | None = None) -> list[str]:
    """What tests/bits.py prints, in a scratch copy or here."""
    done = (
        in_copy(folder, "tests/bits.py") if folder else in_copy(ROOT, str(ROOT / "tests/bits.py"))
    )
    assert done.returncode == 0
    return done.stdout.splitlines()


def versions(wanted: list[str]) -> int:
    """The bits of each version that this processor has against those of the module in use."""
    has = Path("/proc/cpuinfo").read_text().split()
    right, failed = bits(), 0
    for name in wanted or [v for v in VERSIONS if v == "baseline" or v in has]:
        with tempfile.TemporaryDirectory() as base:
            folder = compiled.copied(ROOT, Path(base) / "tree")
            compiled.build(folder, flags(VERSIONS[name], "-O3"))
            found = bits(folder)
        wrong = [line.split(maxsplit=1)[1] for line in right if line not in found]
        failed += bool(wrong)
        print(f"{name}: " + (f"differs in {', '.join(wrong)}" if wrong else "the same bits"))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit({"sanitize": sanitize, "versions": versions}[sys.argv[1]](sys.argv[2:]))
