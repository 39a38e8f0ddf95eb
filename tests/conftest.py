"""Settings shared by all tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

pytest.register_assert_rewrite("hostile")
settings.register_profile("steady", derandomize=True, print_blob=True)
settings.load_profile("steady")

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Where the real data sets are, or a skip that says so."""
    if not SHARED.is_dir():
        pytest.skip(f"the real data sets are not beside this checkout ({SHARED.name}/ is absent)")
    return SHARED
