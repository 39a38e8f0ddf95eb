"""Every mutant of tests/mutants can be made: its text is there, once, and Python stays Python."""

from __future__ import annotations

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
