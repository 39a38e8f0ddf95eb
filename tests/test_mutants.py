"""Every mutant of tests/mutants can be made: its text is there, once, and Python stays Python.

Those of C++ are compiled together, and a switch chooses: each is what one would write by hand.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "mutants"


@pytest.fixture(scope="module", autouse=True)
def tables():
    sys.path.insert(0, str(FOLDER))
    yield
    sys.path.remove(str(FOLDER))


def test_every_mutant_can_be_made() -> None:
    import run

    lost = []
    for mutant in run.mutants():
        try:
            mutant.text()
        except (SystemExit, SyntaxError) as reason:
            lost.append(f"{mutant}: {reason!r}")
    assert not lost, "\n".join(lost)


def test_the_tests_that_should_notice_exist() -> None:
    import run

    files = {test.partition("::")[0] for mutant in run.mutants() for test in mutant.tests}
    assert [file for file in sorted(files) if not (run.ROOT / file).exists()] == []


def test_reasons_belong_to_mutants() -> None:
    import run
    import table

    known = {(mutant.path, mutant.why) for mutant in run.mutants()}
    assert [key for key in table.EQUIVALENT if key not in known] == []


PROGRAM = """
#include <cstdio>
struct Pair { int a, b; };
constexpr int LIMIT = 7;  // { in a comment
int brace(char c) { return c == '{' ? 1 : 0; }
int sum(int n) {
    Pair pair{n, 2};
    int total = pair.a;
    for (int k = 0; k < n; ++k) {
        if (k % 2) continue;
        total += k;
    }
    auto twice = [&](int x) { return 2 * x; };
    switch (n) {
        case 3: total += 100; break;
        default: break;
    }
    return twice(total) + pair.b;
}
int main() { std::printf("%d %d {}\\n", sum(3) < LIMIT ? 0 : sum(3), brace('{')); }
"""
CHANGES = {  # number: old, new, and what the program prints then
    1: ("total += k;", "total -= k;", "204 1"),
    2: ("if (k % 2) continue;", "", "214 1"),
    3: ("return 2 * x;", "return x;", "107 1"),
    4: ("total += 100;", "total += 10;", "32 1"),
    5: ("case 3: total += 100; break;", "case 3: total += 100;", "212 1"),
    6: ("int total = pair.a;", "int total = 0;", "206 1"),
    7: ("pair{n, 2}", "pair{2, n}", "211 1"),
    8: ("? 1 : 0", "? 5 : 0", "212 5"),
    9: ("for (int k = 0; k < n; ++k) {\n        if", "{ int k = 2; if", None),
    10: ("LIMIT = 7;", "LIMIT = 999;", None),
}


def test_mutants_of_one_file_are_chosen_at_run_time(tmp_path: Path) -> None:
    """A loop, a lambda, a case, an initialiser, a brace in quotes; a constant has no branch."""
    import switched

    if shutil.which("c++") is None:
        pytest.skip("there is no compiler here")
    wanted = {k: (old, new, "why") for k, (old, new, _) in CHANGES.items() if k != 9}
    text, done = switched.switched("program.cpp", PROGRAM, wanted)
    assert done == set(wanted) - {10}
    (tmp_path / switched.HEADER).write_text(switched.DECLARATION)
    (tmp_path / "program.cpp").write_text(text)
    subprocess.run(["c++", "-std=c++17", "-O0", "program.cpp"], cwd=tmp_path, check=True)
    for number in (0, *sorted(done)):
        told = {**os.environ, switched.SWITCH: str(number)}
        found = subprocess.run([tmp_path / "a.out"], env=told, capture_output=True, check=True)
        expected = CHANGES[number][2] if number else "212 1"
        assert found.stdout.decode() == f"{expected} {{}}\n", number


def test_a_change_that_opens_a_brace_is_in_a_block_that_closes_it() -> None:
    import switched

    old, new, _ = CHANGES[9]  # the loop is gone, its closing brace is not
    text, done = switched.switched("program.cpp", PROGRAM, {9: (old, new, 'a "why"')})
    assert done == {9}
    branch = text[text.index("mutant == 9") :]
    assert "Pair pair" in branch[: branch.index("else")]
    assert "program.cpp, mutant 9: a 'why'" in branch
