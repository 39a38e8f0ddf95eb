"""--intervals: intervals about the forecasts of any learner."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from noregret.running.player import Playable

__all__ = ["interval_option", "percents", "with_intervals"]


class Percents(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """90 or 50,90"""  # noqa: D400  # Click shows it

    name = "90|50,90"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[float]:
        """The percentages, each once, in the order given."""
        if isinstance(value, list):
            return value
        found: list[float] = []
        for part in str(value).split(","):
            try:
                percent = float(part.strip().removesuffix("%"))
            except ValueError:
                percent = 0.0
            if not 1.0 <= percent <= 99.9 or percent in found:
                self.fail(f"{part!r}: give percentages from 1 to 99.9, none twice", param, ctx)
            found.append(percent)
        return found or self.fail("give percentages, as 90 or 50,90", param, ctx)


interval_option = click.option(
    "--intervals",
    type=Percents(),
    help="Intervals about the forecasts, of these coverages in percent.  [auto: 90, else none]",
)


def percents(value: object) -> list[float] | None:
    """Coverages of intervals; a state file of an earlier version has one number."""
    return [float(value)] if isinstance(value, int | float) else value  # type: ignore[return-value]  # as Percents has it


def with_intervals(learner: Playable, percents: list[float] | None) -> Playable:
    """A learner with intervals about its forecasts, if there are percentages."""
    if not percents:
        return learner
    if hasattr(learner, "predict_proba"):
        raise click.UsageError("--intervals are of numbers: probabilities say how sure they are")
    from noregret.wrappers.intervals import Intervals

    coverages = [percent / 100.0 for percent in percents]
    return Intervals(learner, coverages[0] if len(coverages) == 1 else coverages)
