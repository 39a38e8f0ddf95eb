"""A pytest plugin for mutants of plain Python: a failure is enough, nobody wants it smaller."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, settings


def quick(_) -> None:
    """Hypothesis without shrinking, at a tenth of its leisure."""
    settings.register_profile(
        "mutants",
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    settings.load_profile("mutants")


pytest_configure = quick
