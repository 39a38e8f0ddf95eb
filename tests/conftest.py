"""Settings shared by all tests."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import pytest
from hypothesis import settings

pytest.register_assert_rewrite("hostile")

# Tests are the same every day.  The nightly exploration (`make explore`) is not: every test of
# Hypothesis draws at random then, from a seed that is printed and repeats it.  No test asks how
# long an example takes: a busy machine would fail it.
EXPLORE = int(os.environ.get("NOREGRET_EXPLORE", "0"))  # how many runs of the state machine
if EXPLORE:  # workers of xdist inherit it
    os.environ.setdefault("NOREGRET_SEED", str(secrets.randbits(32)))
SEED = int(os.environ.get("NOREGRET_SEED", "0"))
settings.register_profile("steady", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("nightly", deadline=None, print_blob=True)
settings.load_profile("nightly" if EXPLORE else "steady")


@pytest.hookimpl(tryfirst=True)  # before Hypothesis reads it
def pytest_configure(config: pytest.Config) -> None:
    if EXPLORE and config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(SEED)


def pytest_report_header() -> str:
    return f"hypothesis: {EXPLORE} runs, NOREGRET_SEED={SEED}" if EXPLORE else "hypothesis: steady"


@pytest.fixture(autouse=True)
def plain_learner(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mechanics of commands are tried with a plain learner, unless a test names one."""
    if request.path.parent.name in ("cli", "sources", "report"):
        monkeypatch.setenv("NOREGRET_MODEL", "aar")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests on real data ran here: where the data are absent, they skip."""
    ran = {
        outcome: sum("data" in report.keywords for report in terminalreporter.getreports(outcome))
        for outcome in ("passed", "failed", "skipped")
    }
    if any(ran.values()):
        words = ", ".join(f"{count} {outcome}" for outcome, count in ran.items() if count)
        terminalreporter.write_line(f"of them on the real data sets: {words}")


SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Where the real data sets are, or a skip that says so."""
    if not SHARED.is_dir():
        pytest.skip(f"the real data sets are not beside this checkout ({SHARED.name}/ is absent)")
    return SHARED
