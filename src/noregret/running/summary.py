"""What came of a run, as facts: all that the first screen, JSON and the page say.

A forecast first, then its proof: what was read, how large the errors are beside the naive ones,
how wide the intervals, what comes next, and what is proved.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Sized
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from typing import Any

import numpy as np

from noregret.certificates import Certificate
from noregret.errors import InputError, NoRegretError, first_of
from noregret.experts.classifier import AutoClassifier
from noregret.experts.guarded import RulePool
from noregret.forecasting.forecaster import Forecaster
from noregret.forecasting.results import Facts
from noregret.forecasting.stream import WARM
from noregret.gradient.quantiles import LinearQuantiles
from noregret.inputs.tables import Frame
from noregret.running.baselines import Errors
from noregret.running.covering import LONG, Covering
from noregret.running.inside import within
from noregret.running.player import Later, Player
from noregret.types import Json, Vector
from noregret.wrappers.lagged import Lagged

__all__ = ["Guarantee", "Interval", "Next", "Summary", "interval_of", "summarise", "when"]


DAYS = {"15 min": 96, "30 min": 48, "1 h": 24, "1 day": 7, "weekday": 5}
"""How many steps people ask for at a frequency."""
EARLY = 0.25  # of the rows scored, from which on it matters that a season had not been there
OFTEN = 0.05  # of the rows, from which on a forecast outside its own interval is worth a word
LABELS = ("share so far", "last label")  # the naive forecasts of labels


@dataclass(frozen=True, slots=True)
class Interval:
    """Intervals issued with the forecasts: what was asked for, and what came of it."""

    asked: float  # share of outcomes inside
    covered: float
    half_width: float  # on average, of those that are finite
    outcomes: int = 0  # how many were counted
    worst: float = math.nan  # the least share inside of 500 outcomes in a row

    @property
    def words(self) -> str:
        """A sentence.

        >>> Interval(0.9, 0.897, 1.5, 12_345, 0.84).words
        '90 % intervals covered 89.7 % of 12,345 outcomes; worst 500 in a row: 84 %'
        """
        many = f"{self.outcomes:,} outcomes" if self.outcomes else "outcomes"
        said = f"{100 * self.asked:g} % intervals covered {100 * self.covered:.1f} % of {many}"
        if self.worst != self.worst:
            return said
        return f"{said}; worst {LONG} in a row: {100 * self.worst:.0f} %"


@dataclass(frozen=True, slots=True)
class Next:
    """A forecast of a step to come."""

    time: str  # as people read it
    at: str  # with its seconds, as files have it
    forecast: float
    low: float
    high: float
    held: tuple[str, ...] = ()  # features that are taken as in the last row
    ends: Mapping[str, float] = field(default_factory=dict)  # low_50, ... where there are several


@dataclass(frozen=True, slots=True)
class Guarantee:
    """The main theorem in numbers that a forecaster reads: errors per row."""

    holds: bool | None
    actual: float  # the RMSE itself (of labels: the mean log loss), on the rounds it speaks of
    bound: float  # what is proved of it
    best: float  # the same of the best in hindsight
    models: int  # how many it is the best of; 0: a whole class
    name: str
    assumed: tuple[str, ...]  # conditions that the stream has not met

    @property
    def whom(self) -> str:
        """Whose error `best` is."""
        return f"the best of {self.models} models" if self.models else "the best of its class"

    @property
    def within(self) -> float:
        """By how much, at most, the error is above the best one's, as a share; inf if that is 0."""
        return self.bound / self.best - 1.0 if self.best > 0.0 else math.inf


@dataclass(slots=True)
class Summary:
    """One learner's run over one file."""

    data: str
    target: str
    learner: str
    rows: int  # with an outcome, of this run
    outcomes: int  # that were forecast
    learned: int = 0  # rows that a state has learned in all, where those are more
    first: str = ""  # times of the first and the last row
    last: str = ""
    every: str = ""  # "30 min"; empty: rows are counted
    day: int = 0  # steps that make a day, or a week of days; 0: neither
    is_file: bool = True
    gaps: int = 0  # steps without a row
    mean: float = math.nan  # of the target
    features: tuple[str, ...] = ()
    calendar: tuple[str, ...] = ()
    lags: tuple[int, ...] = ()
    horizon: int = 1
    binary: bool = False
    left_out: int = 0  # steps at the start that are not scored
    errors: list[Errors] = field(default_factory=list)  # of the forecast first, then the naive ones
    stretch: str = ""  # what the last stretch is; empty: all rows
    auc: float = math.nan  # of probabilities, where the learner counts it
    intervals: Interval | None = None  # the widest ones
    bands: list[Interval] = field(default_factory=list)  # of every coverage
    coming: list[Next] = field(default_factory=list)
    positive: str = "1"  # of labels, the one whose chance is forecast
    guarantee: Guarantee | None = None
    warnings: list[str] = field(default_factory=list)
    weights: dict[str, float] = field(default_factory=dict)  # of the forecasts that are merged

    @property
    def best(self) -> Errors | None:
        """The best naive forecast, or of those that are merged; of labels, the share so far."""
        if self.binary:
            return self.errors[1] if len(self.errors) > 1 else None
        naive = [one for one in self.errors[1:] if one.rmse == one.rmse]
        return min(naive, key=lambda one: one.rmse, default=None)

    @property
    def skill(self) -> float:
        """1 - RMSE / RMSE of the best naive forecast; NaN where nothing can be said.

        Of probabilities: 1 - log loss / log loss of the share so far.
        """
        best = self.best
        if self.binary:
            share = best.log_loss if best else math.nan
            return 1.0 - self.errors[0].log_loss / share if share > 0.0 else math.nan
        return 1.0 - self.errors[0].rmse / best.rmse if best and best.rmse > 0.0 else math.nan

    def to_dict(self) -> Json:
        """Plain Python, for JSON: what is not finite is None."""
        found = asdict(self)
        found["skill"] = self.skill
        for one in found["errors"] if self.binary else ():
            one["brier"] = one["rmse"] ** 2
        if self.guarantee is not None:
            found["guarantee"]["within"] = self.guarantee.within
        for step in found["coming"]:
            step.update(step.pop("ends"))
        plain: Json = _plain(found)
        return plain


def _plain(value: object) -> Any:
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def summarise(
    player: Player,
    *,
    data: str,
    target: str,
    features: Sequence[str],
    strict: bool = False,
    told: int = 0,
) -> Summary:
    """What came of a player's run.

    told : rows whose time had come before, as far as that is said elsewhere.
    strict : next steps need the features that are said to be known; else these are held.
    """
    beside, inner = player.baselines, within(player.learner)
    found = Summary(
        data=data,
        target=target,
        learner=player.name,
        rows=beside.rows,
        outcomes=player.rounds,
        mean=beside.total / beside.rows if beside.rows else math.nan,
        features=tuple(features),
        lags=_lags(inner),
        horizon=inner.horizon if isinstance(inner, Forecaster | Lagged) else 1,
        binary=player.binary,
        left_out=int(beside.rows > 1),  # the first row: nothing was known
        errors=beside.errors(),
        stretch=f"last {beside.stretch:,} rows",
    )
    if player.binary:
        names = dict(zip((one.name for one in found.errors[1:]), LABELS))
        found.errors = [replace(one, name=names.get(one.name, one.name)) for one in found.errors]
    if isinstance(player.learner, Forecaster):
        _of_series(found, player.learner, player, strict=strict, told=told)
    found.bands = [interval_of(one) for one in player.covering if one.finite]
    if found.bands:
        found.intervals = max(found.bands, key=lambda one: one.asked)
    if isinstance(player.learner, AutoClassifier) and player.rounds:
        found.auc = player.learner.auc_
    if isinstance(inner, RulePool) and beside.others and player.rounds:
        found.weights = inner.weights_
    if not isinstance(player.learner, Forecaster):
        found.coming = [_later(one) for one in player.later]
    if np.abs(player.astray).sum() > OFTEN * len(player.astray):
        found.warnings.append(_biased(player.astray))
    if player.certificate is not None:
        found.guarantee = guarantee(player, player.certificate)
    if player.beyond and not strict:
        found.warnings.append(
            f"{player.beyond:,} rows without an outcome are more than {found.horizon} "
            f"step{'s' * (found.horizon > 1)} ahead, which no model here was scored at: noregret "
            f"forecast --steps {sum(map(len, player.ahead)) or 'N'} has one for each step"
        )
    return found


def _later(one: Later) -> Next:
    """A row after the last outcome."""
    try:
        time: object = datetime.fromisoformat(one.at)
    except ValueError:
        time = one.at
    return Next(when(time), one.at, one.forecast, one.low, one.high)


def _biased(astray: Vector) -> str:
    share, side = np.abs(astray).mean(), "too low" if astray.sum() < 0.0 else "too high"
    return (
        f"in {100.0 * share:.0f} % of the last {len(astray)} rows the forecast was outside its own "
        f"interval: the model is {side}, and the interval, which follows the outcomes, is not; "
        "--fit-intercept, --lags or --model auto may help"
    )


def interval_of(one: Covering) -> Interval:
    """What came of intervals that were counted."""
    return Interval(one.asked, one.share, one.half_width, one.outcomes, one.worst)


def _lags(learner: object) -> tuple[int, ...]:
    """How far back past outcomes are from the forecast's time."""
    if not isinstance(learner, Lagged):
        return ()
    return tuple(lag + learner.horizon - 1 for lag in learner.lags)


def _of_series(
    found: Summary, learner: Forecaster, player: Player, *, strict: bool, told: int
) -> None:
    """What a Forecaster knows: the grid of times, errors at its horizon, intervals, next steps."""
    facts = learner.facts()
    found.every = "" if facts.every == "row" else facts.every
    found.day = DAYS.get(facts.every, 0)
    found.first, found.last = when(facts.first), when(facts.last)
    found.gaps = facts.gaps
    left_out = facts.skipped + facts.weekends
    found.learned = facts.rows if facts.rows > found.rows + left_out else 0
    found.calendar, found.lags = facts.calendar, facts.lags
    if facts.skipped > told:
        rows = "1 row repeats" if facts.skipped == 1 else f"{facts.skipped:,} rows repeat"
        found.warnings.append(f"{rows} a time that was learned: left out")
    if facts.weekends:
        rows = "1 row is" if facts.weekends == 1 else f"{facts.weekends:,} rows are"
        found.warnings.append(
            f"{rows} on a weekend, and the first {WARM} had weekdays only: left out; "
            '--every "1 day" takes all days'
        )
    if facts.irregular:
        found.warnings.append(
            'times are irregular: rows are counted; --every "15 min" puts them on a grid'
        )
    if not facts.every:  # the first rows only show the frequency
        found.warnings.append(
            f"{facts.rows} row{'s' * (facts.rows > 1)} with an outcome: too few for a forecast; "
            f"the first {WARM} show the step between them"
        )
        return
    if found.learned:
        found.mean = facts.mean
    h = learner.horizon
    scores = learner.scores()
    every = [Errors(s.name, s.rmse, s.mae, s.last_rmse) for s in scores.at(h)]
    found.errors = [
        one
        for before, one in zip([None, *every], every)
        if before is None
        or not (one.name.startswith("same") and before.name.startswith("same"))
        or (one.rmse, one.mae) != (before.rmse, before.mae)
    ]  # a season that is longer than the past is the one before it
    found.stretch, found.left_out = scores.stretch, scores.left_out
    if all(math.isclose(one.rmse, one.last_rmse, rel_tol=1e-9) for one in found.errors):
        found.stretch = ""  # it is all that was scored
    found.warnings += _before_its_time(learner, found)
    if not player.covering:  # of earlier runs only
        asked = learner._coverages()
        widest = int(np.argmax(asked))
        covered = float(np.atleast_1d(learner.coverage_[h - 1])[widest])
        width = float(np.atleast_1d(learner.width_[h - 1])[widest])
        if width > 0.0 or covered > 0.0:
            found.intervals = Interval(asked[widest], covered, width / 2.0)
    if facts.assumed:
        several = len(facts.assumed) > 1
        names = first_of(facts.assumed)
        found.warnings.append(
            f"{names} {'are' if several else 'is'} used at the forecast's time: "
            f"{'are they' if several else 'is it'} known then? (--known)"
        )
    known = learner.known if isinstance(learner.known, list | tuple) else ()
    held = [name for name in facts.features if name not in known]
    if strict and player.ahead and held and not facts.assumed:
        ahead = sum(map(len, player.ahead))
        found.warnings.append(
            f"after the last outcome {ahead:,} row{'s have' if ahead > 1 else ' has'} "
            f"{', '.join(held[:4])}: --known {','.join(held[:4])} uses "
            f"{'them' if len(held) > 1 else 'it'} at the forecast's time"
        )
    found.coming = _coming(learner, player, facts, strict=strict)


def _before_its_time(learner: Forecaster, found: Summary) -> list[str]:
    """Naive forecasts whose season had not been there yet in many of the rows that are scored."""
    design, shown = learner._ran().design, {one.name for one in found.errors}
    scored = learner.scores().at(learner.horizon)[0].rounds
    said = []
    for before, echo in pairwise(design.echoes):
        early = echo.lag(learner.horizon) - found.left_out
        if echo.name in shown and early > EARLY * scored:
            said.append(
                f"{echo.name} is {before.name} in the first {early:,} steps scored: it had not "
                "been there yet"
            )
    return said


def _coming(learner: Forecaster, player: Player, facts: Facts, *, strict: bool) -> list[Next]:
    """The next steps; what must be known ahead comes from rows that are there, else is held."""
    held: tuple[str, ...] = ()
    rows: Frame | None = None
    if player.ahead:
        rows = Frame(player.ahead[-1].columns, np.vstack([part.values for part in player.ahead]))
    try:
        said = learner.forecast(rows=rows if rows is not None and facts.features else None)
    except InputError:
        if strict:
            raise
        if player.latest is None:
            return []
        held = tuple(facts.features)
        try:
            said = learner.forecast(rows=player.latest.repeated(learner.horizon))
        except NoRegretError:
            return []
    days = all(_midnight(time) for time in (facts.last, *said.times))
    ends = said.ends() if isinstance(said.coverage, tuple) else {}
    return [
        Next(
            when(time, day=days),
            at(time),
            g,
            *((math.nan, math.nan) if held else (low, high)),
            held,
            {name: math.nan if held else float(end[k]) for name, end in ends.items()},
        )
        for k, (time, g, low, high) in enumerate(said)
    ]


def _midnight(time: object) -> bool:
    return isinstance(time, datetime) and (time.hour, time.minute, time.second) == (0, 0, 0)


def when(time: object, *, day: bool | None = None) -> str:
    """A time as people write it: a date where it is a day (by default: midnight), else a minute."""
    if time is None:
        return ""
    if isinstance(time, datetime):
        days = _midnight(time) if day is None else day
        return f"{time:%Y-%m-%d}" if days else f"{time:%Y-%m-%d %H:%M}"
    return f"{time}"


def at(time: object) -> str:
    """A time as files have it."""
    return time.isoformat(sep=" ") if isinstance(time, datetime) else f"{time}"


def guarantee(player: Player, main: Certificate) -> Guarantee | None:
    """The first theorem that bounds the square or log loss, per row; None where there is none.

    Of several models it is the one that speaks of the best of them: not of some that take turns.
    """
    if isinstance(within(player.learner), LinearQuantiles):  # pinball loss
        return None
    series = isinstance(player.learner, Forecaster)
    found = [main] if series else player.of_loss()
    bounds = [one for one in found if one.kind == "upper bound"] or [
        one for one in found if one.kind == "equality"
    ]
    if not bounds or not bounds[0].rounds:
        return None
    one = next((c for c in bounds if c.beside.startswith("the best")), bounds[0])
    root = (
        (lambda total: max(total, 0.0) / one.rounds)
        if player.binary
        else (lambda total: math.sqrt(max(total, 0.0) / one.rounds))
    )
    models = 0
    if isinstance(player.learner, Forecaster):
        models = len(player.learner.losses_(player.learner.horizon))
    elif (weights := _weights(within(player.learner))) is not None:
        models = len(weights)
    unmet = tuple(a.text for a in one.assumptions if not a.met)
    bound = math.nan if one.bound is None else root(one.bound)
    return Guarantee(
        one.holds, root(one.loss), bound, root(one.comparator), models, one.name, unmet
    )


def _weights(learner: object) -> Sized | None:
    try:
        return getattr(learner, "weights_", None)
    except NoRegretError:
        return None
