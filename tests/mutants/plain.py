"""A pytest plugin for mutants: a failure is enough, nobody wants it smaller."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, settings


def pytest_configure() -> None:
    """Hypothesis without shrinking, and without its clock."""
    settings.register_profile(
        "mutants",
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    settings.load_profile("mutants")
