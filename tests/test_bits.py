"""Other builds: the same bits in every version of the module, whatever threads are at work."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

import bits
import builds


def test_the_tests_that_run_under_sanitizers_exist() -> None:
    assert [file for file in builds.HOSTILE if not (builds.ROOT / file).exists()] == []


@pytest.mark.slow
def test_plain_code_has_the_bits_of_what_runs_here(capsys) -> None:
    """Compiled for any processor, without the versions for larger vectors."""
    if not (builds.ROOT / "native").is_dir():
        pytest.skip("it is built where the sources are")
    if shutil.which("c++") is None:
        pytest.skip("there is no compiler here but that of ziglang, whose code is plain")
    assert builds.versions(["baseline"]) == 0, capsys.readouterr().out


@pytest.mark.slow
def test_threads_at_work_change_no_bits() -> None:
    alone = bits.main()
    with ThreadPoolExecutor(2) as threads:
        together = [threads.submit(bits.main) for _ in range(2)]
        assert [one.result() for one in together] == [alone, alone]
