"""scikit-learn's and River's own checks, at default parameters and at others."""

from __future__ import annotations

import pytest

from conformance import LEARNERS, in_river, river, scikit_learn

# Other parameters than the default ones take long; `make conformance` counts them all.
NAMES = [pytest.param(n, marks=pytest.mark.slow) if "," in n else n for n in LEARNERS]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_scikit_learns_checks(name: str) -> None:
    found = scikit_learn(LEARNERS[name]())
    failed = {
        check["check_name"]: check["exception"] for check in found if check["status"] == "failed"
    }
    assert failed == {}
    assert sum(check["status"] == "passed" for check in found) >= 40


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_rivers_checks(name: str) -> None:
    pytest.importorskip("river")
    model = in_river(name, LEARNERS[name]())
    if model is None:
        pytest.skip("its features cannot come and go, as River's do")
    found = dict(river(model))
    assert {check: failure for check, failure in found.items() if failure} == {}
    assert len(found) >= 20
