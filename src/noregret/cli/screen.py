"""The first screen: what was read, how good the forecast is, what comes next, what is proved.

Plain lines of at most 80 columns, the same on a terminal and in a pipe.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from noregret.cli.show import count, number
from noregret.errors import first_of

if TYPE_CHECKING:
    from noregret.running.baselines import Errors
    from noregret.running.summary import Guarantee, Summary

__all__ = ["lines"]

WIDTH = 80
NAME = 24  # columns of the names of forecasts
SHOWN, MANY = 6, 60  # steps to come that are listed, where they are not what was asked for, and are
CALENDAR = "calendar"


def lines(
    found: Summary, notes: Sequence[str] = (), *, steps: int = 0, data: str = ""
) -> Iterator[str]:
    """The screen, line by line; where steps are asked for, their forecasts come first.

    `data` is what the command line said about the data.
    """
    yield from _read(found, notes)
    if steps:
        yield ""
        yield from _coming(found, steps if steps <= MANY else SHOWN)
    if found.errors and found.errors[0].rmse == found.errors[0].rmse:
        yield ""
        yield from _errors(found)
    if middle := list(_middle(found, steps)):
        yield ""
        yield from middle
    yield ""
    yield "Save: --out preds.csv    Page: --report page.html    Proofs: --proofs"
    if found.every and found.horizon == 1 and not found.binary and found.is_file:
        steps = found.day or 12
        yield from _wrapped(f"More steps: noregret forecast {data} --steps {steps}")


def _middle(found: Summary, steps: int) -> Iterator[str]:
    """Intervals, weights, what comes next, what is proved."""
    for one in found.bands or filter(None, [found.intervals]):
        yield from _wrapped(f"{one.words}; +-{number(one.half_width)} on average")
    if found.weights:
        largest = sorted(found.weights.items(), key=lambda one: -abs(one[1]))
        now = ", ".join(f"{name} {weight:.2f}" for name, weight in largest[:SHOWN])
        more = f", and {len(largest) - SHOWN} more" if len(largest) > SHOWN else ""
        yield from _wrapped(f"Weights now: {now}{more}")
    if not steps:
        yield from _coming(found, SHOWN)
    if found.guarantee is not None:
        yield from _guarantee(found.guarantee, found)


# What was read --------------------------------------------------------------------------------


def _read(found: Summary, notes: Sequence[str]) -> Iterator[str]:
    parts = [count(found.rows, "row")]
    if found.learned:
        parts = [f"{count(found.rows, 'new row')}; {found.learned:,} learned in all"]
    if found.first:
        parts.append(f"{found.first} to {found.last}")
    if found.every:
        parts.append(f"every {_step(found.every)}")
        parts.append(f"{count(found.gaps, 'step')} missing" if found.gaps else "no gaps")
    yield from _wrapped(f"{found.data}   {', '.join(parts)}")
    made = [first_of(found.features, 8)]
    made += [CALENDAR] if found.calendar else []
    made += [f"lags {_ranges(found.lags)}"] if found.lags else []
    features = " + ".join(filter(None, made)) or "none: past outcomes only"
    what = "forecasts" if found.weights else "features"
    mean = "" if found.binary or found.mean != found.mean else f" (mean {number(found.mean)})"
    yield from _wrapped(f"  target {found.target}{mean}   {what} {features}")
    for words in (*notes, *found.warnings):
        yield from _wrapped(f"  ! {words}", 4)


def _step(every: str) -> str:
    """The step between rows in words.

    >>> _step("30 min"), _step("2 day"), _step("7 day")
    ('30 min', '2 days', 'week')
    """
    if not every.endswith(" day") or every == "1 day":
        return every
    return "week" if every == "7 day" else f"{every}s"


def _ranges(lags: Sequence[int]) -> str:
    """1-3,24 for 1, 2, 3, 24."""
    found: list[list[int]] = []
    for lag in sorted(lags):
        if found and lag == found[-1][-1] + 1:
            found[-1].append(lag)
        else:
            found.append([lag])
    return ",".join(
        f"{run[0]}-{run[-1]}" if len(run) > 2 else ",".join(map(str, run)) for run in found
    )


def _wrapped(text: str, indent: int = 4) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        subsequent_indent=" " * indent,
        break_on_hyphens=False,
        replace_whitespace=False,
    )


# How good it is -------------------------------------------------------------------------------


def _errors(found: Summary) -> Iterator[str]:
    ahead = "one step ahead" if found.horizon == 1 else f"{found.horizon} steps ahead"
    skip = f" (first {found.left_out:,} left out)" if found.left_out else ""
    if found.binary:
        yield from _labels(found)
        return
    yield (
        f"Typical error, each on the rows it has{skip}"
        if found.weights
        else f"Typical error, {ahead}{skip}"
    )
    yield f"  {'':<{NAME}}{'RMSE':>10}{'MAE':>10}{found.stretch:>17}".rstrip()
    first = found.errors[0]
    rest = sorted(found.errors[1:], key=lambda one: (one.rmse != one.rmse, one.rmse))
    late = bool(found.stretch)
    yield _row(first, "this forecast", late=late) + "   <-"
    yield from (_row(one, one.name, late=late) for one in rest)
    best, skill = found.best, found.skill
    if best is None or skill != skill:
        return
    if abs(skill) < 5e-4:
        yield f"  no better than {best.name}"
    elif skill > 0.0:
        rival = "of these" if found.weights else "naive forecast"
        yield f"  {_percent(skill)} lower RMSE than the best {rival}, {best.name}"
    else:
        yield f"  ! {best.name} has been better: its RMSE is {_percent(-skill / (1 - skill))} lower"
        if late and first.last_rmse < best.last_rmse:
            later = _percent(1.0 - first.last_rmse / best.last_rmse)
            yield f"    but on the {found.stretch} this forecast's is {later} lower"
    least = min((one.last_rmse for one in found.errors[1:]), default=float("nan"))
    if late and skill > 0.0 and least < first.last_rmse:
        whose = "another" if found.weights else "a naive"
        yield f"  ! on the {found.stretch} {whose} forecast was better"


def _labels(found: Summary) -> Iterator[str]:
    """How good probabilities are: log loss and Brier score are better where they are lower."""
    skip = f" (first {found.left_out:,} left out)" if found.left_out else ""
    yield f"How good the probabilities are, one step ahead{skip}"
    yield f"  {'':<{NAME}}{'log loss':>10}{'Brier':>10}{'right':>10}"
    names = ("this forecast", "share so far", "last label")
    for k, (name, one) in enumerate(zip(names, found.errors)):
        log = number(one.log_loss) if one.log_loss < float("inf") else "-"
        right = f"{100 * one.right:.1f} %"
        mark = "   <-" if k == 0 else ""
        yield f"  {name:<{NAME}}{log:>10}{number(one.rmse**2):>10}{right:>10}{mark}"
    ours, share = found.errors[0].log_loss, found.errors[1].log_loss
    if share > 0.0 and ours < share:
        yield f"  {_percent(1 - ours / share)} lower log loss than the share so far"
    elif share < ours:
        yield "  ! the share so far has been better: the features tell it nothing"
    if found.auc == found.auc:
        yield f"  AUC {found.auc:.3f}: the chance that a 1 was given more than a 0"


def _row(one: Errors, name: str, *, late: bool) -> str:
    row = f"  {name:<{NAME}}{number(one.rmse):>10}{number(one.mae):>10}"
    return f"{row}{number(one.last_rmse):>17}" if late else row


def _percent(share: float) -> str:
    """A share with two digits, or all before the point.

    >>> _percent(0.0123), _percent(0.456)
    ('1.2 %', '46 %')
    """
    return f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:.0f} %"


# What comes next, what is proved ---------------------------------------------------------------


def _coming(found: Summary, shown: int) -> Iterator[str]:
    steps = found.coming
    for k, one in enumerate(steps):
        if len(steps) > shown and 3 <= k < len(steps) - 1:
            if k == 3:
                yield f"       ... {len(steps) - 4} more"
            continue
        head = "Next " if k == 0 else "     "
        ends = f"   ({number(one.low)} to {number(one.high)})" if not one.held else ""
        ends = "   (no interval yet)" if one.low == -float("inf") else ends
        ends = "" if one.low != one.low else ends
        ends = f"   chance of {found.positive}" if found.binary else ends
        yield f"{head}  {one.time:<17}{number(one.forecast):>10}{ends}"
    if steps and steps[0].held:
        held = first_of(steps[0].held)
        yield from _wrapped(f"       with {held} as in the last row, so without an interval", 7)


def _guarantee(one: Guarantee, found: Summary) -> Iterator[str]:
    if one.holds is False:
        yield f"The guarantee FAILS on this stream: {one.name} (--proofs)"
        return
    what = "log loss" if found.binary else "RMSE"
    if one.bound != one.bound or one.holds is None:
        why = one.assumed[0] if one.assumed else "nothing is proved of this learner"
        yield from _wrapped(f"No guarantee: {why}", 2)
        return
    whom = f"the best of {one.models} forecasts" if found.weights else one.whom
    ours = found.errors[0].log_loss if found.binary else found.errors[0].rmse
    other = number(one.actual) != number(ours)  # than above: this is proven of all of them
    rows = ", on all rows learned" * bool(found.left_out and other)
    yield from _wrapped(f"Beside {whom}, had you known it ({number(one.best)}){rows}:", 2)
    share = one.actual / one.best - 1.0 if one.best > 0.0 else 0.0
    apart = f"{_percent(abs(share))} {'higher' if share > 0.0 else 'lower'}"
    yield f"  {what} {number(one.actual)}, {apart}; proven, whatever the data:"
    most = f"{_percent(one.within)} higher" if one.within < 10.0 else number(one.bound)
    yield f"  at most {most}   (--proofs)"
