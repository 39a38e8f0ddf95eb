"""Pools of experts, and Auto, the pool of linear learners."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from page import Section, microseconds, missed, verdict
from peers import NumpyRLS
from river.base import Regressor
from river.ensemble import EWARegressor
from rows import draw, must_agree, turns

import noregret as nr
from noregret.reproduce.timing import Job, Race, quartiles, race, race_rounds

OURS, SHARED = "Aggregating Algorithm", "with share"
DEFAULT = "nr.aggregate, its default"
ONE, RIVER, BARE = "one at a time", "river EWARegressor", "bare loop"
COLUMNS = (OURS, SHARED, DEFAULT, ONE, RIVER, BARE)
ROUNDS, EXPERTS = 1_000_000, 20
FEW = 20_000  # rounds of those who take them one at a time
SPEED_TARGET = 150.0
SHARE = 0.01
RATE = 0.5  # of exponential weights, for outcomes in [0, 1]
CHECKED = 256

AUTO, AAR = "Auto", "AAR"
FEATURES = 10
COST_TARGET, PACE_TARGET = 60.0, 20_000.0
RLS, POOL, FOUR_KINDS, NAMED = "NumPy RLS", "pool of five AAR", "pool of four kinds", "mappings"
LINEAR = 'Auto(effort="linear")'
LEARNERS_TARGETS = {POOL: 0.5, FOUR_KINDS: 0.5, f"{POOL}, {NAMED}": 0.5, LINEAR: 1.2, AUTO: 1.2}


def sections() -> list[Section]:
    return [many(), sizes(), learners(), auto()]


class Told(Regressor):
    """A model of river that hands over one number of x and learns nothing."""

    def __init__(self, name: str) -> None:
        self.name = name

    def predict_one(self, x: dict[str, float]) -> float:
        return x[self.name]

    def learn_one(self, x: dict[str, float], y: float) -> None:
        pass


class BareWeights:
    """Exponential weights over dictionaries, as few lines of Python as they take."""

    def __init__(self, names: list[str]) -> None:
        self.weights = dict.fromkeys(names, 1.0 / len(names))

    def predict(self, x: dict[str, float]) -> float:
        return sum(w * x[name] for name, w in self.weights.items())

    def learn(self, x: dict[str, float], y: float) -> None:
        weights = {k: w * math.exp(-RATE * (y - x[k]) ** 2) for k, w in self.weights.items()}
        total = sum(weights.values())
        self.weights = {k: w / total for k, w in weights.items()}


def forecasts(rounds: int, N: int) -> tuple[np.ndarray, np.ndarray]:
    """Outcomes in [0, 1], and experts that know them more or less well."""
    rng = np.random.default_rng(N)
    y = rng.random(rounds)
    return np.clip(y[:, None] + rng.normal(0.0, np.linspace(0.1, 0.5, N), (rounds, N)), 0, 1), y


def contestants(F: np.ndarray, y: np.ndarray) -> dict[str, Job]:
    """All contestants in turns on the same forecasts; those that do the same must agree first."""
    N = F.shape[1]
    names = [f"x{j}" for j in range(N)]
    rows = [
        (dict(zip(names, f)), v) for f, v in zip(F[:2048].tolist(), y[:2048].tolist(), strict=True)
    ]
    river = EWARegressor([Told(name) for name in names], learning_rate=RATE)
    bare = BareWeights(names)
    pool = nr.AggregatingAlgorithm(names, outcome_range=(0, 1))
    exponential = nr.ExponentialWeights(names, outcome_range=(0, 1), learning_rate=RATE)
    _check(exponential, river, bare, rows)
    return {
        OURS: lambda _: _used(nr.aggregate(F, y, rule="aggregating", outcome_range=(0, 1))),
        SHARED: lambda _: _used(
            nr.aggregate(F, y, rule="aggregating", outcome_range=(0, 1), share=SHARE)
        ),
        DEFAULT: lambda _: _used(nr.aggregate(F, y, outcome_range=(0, 1))),
        ONE: turns(pool.predict_one, pool.learn_one, rows),
        RIVER: turns(river.predict_one, river.learn_one, rows),
        BARE: turns(bare.predict, bare.learn, rows),
    }


def _used(result: Any) -> None:
    assert result.certificate.holds


def _check(ours: Any, river: EWARegressor, bare: BareWeights, rows: list[Any]) -> None:
    for x, y in rows[:CHECKED]:
        ours.learn_one(x, y)
        river.learn_one(x, y)
        bare.learn(x, y)
    found = np.array(list(ours.weights_.values()))
    must_agree(RIVER, found, np.array(river.weights))
    must_agree(BARE, found, np.array(list(bare.weights.values())))


def _race(rounds: int, N: int, few: int, seconds: float) -> Race:
    F, y = forecasts(rounds, N)
    jobs = contestants(F, y)
    turn = {OURS: rounds, SHARED: rounds, DEFAULT: rounds, ONE: few, RIVER: few, BARE: few}
    for name, job in jobs.items():
        job(turn[name])  # compiles, and warms up
    return race_rounds(jobs, turn, seconds=seconds)


def many() -> Section:
    """A million rounds."""
    print(f"pools, {ROUNDS:,} x {EXPERTS}", flush=True)
    result = _race(ROUNDS, EXPERTS, FEW, 40.0)
    section = Section(
        "Pools",
        f"""
`nr.aggregate` over a table of {ROUNDS:,} x {EXPERTS} forecasts, by the Aggregating Algorithm and by
its default, a pool of rules with stacking and a falling share, from checking the input to the
certificate, against `predict_one` and `learn_one` of river's
`EWARegressor` with {EXPERTS} models that merely read their number from the mapping, and
against a bare Python loop of exponential weights over dictionaries; both take {FEW:,} rounds.
Those two forecast weighted means; their weights are those of our `ExponentialWeights` at the same
learning rate. The Aggregating Algorithm takes three exponentials per expert where they take one.
`share` is {SHARE:g}.
""",
        ["against", "x times as fast", "target", "", "ours, us per round", "other, us per round"],
    )
    for ours, other, target in (
        (OURS, RIVER, SPEED_TARGET),
        (OURS, BARE, None),
        (SHARED, RIVER, None),
        (SHARED, BARE, None),
        (DEFAULT, RIVER, None),
        (DEFAULT, BARE, None),
    ):
        speed = result.speed(ours, other)
        label = other if ours == OURS else f"{other}; ours: {ours}"
        section.notes += missed(label, speed, target)
        section.rows.append(
            [
                label,
                str(speed),
                *verdict(speed.median, target),
                microseconds(result.microseconds(ours)),
                microseconds(result.microseconds(other)),
            ]
        )
    return section


def sizes() -> Section:
    """Time per round, by the number of experts."""
    section = Section(
        "Pools, time per round",
        """
Microseconds per round with N experts. "One at a time" is `AggregatingAlgorithm` over names, with
`predict_one` and `learn_one` on dictionaries, as river and the bare loop are used here.
""",
        ["N", "rounds", *COLUMNS],
    )
    for N, rounds in ((5, 200_000), (20, 100_000), (100, 20_000)):
        print(f"pools, N = {N}", flush=True)
        result = _race(rounds, N, 40_000 // N, 6.0)
        cells = [microseconds(result.microseconds(k)) for k in COLUMNS]
        section.rows.append([str(N), f"{rounds:,}", *cells])
    return section


def five() -> nr.AggregatingAlgorithm:
    return nr.AggregatingAlgorithm(nr.over(nr.AAR, prior_precision=[0.01, 0.1, 1.0, 10.0, 100.0]))


def four_kinds() -> nr.AggregatingAlgorithm:
    return nr.AggregatingAlgorithm(
        [nr.AAR(), nr.Ridge(0.1), nr.Ridge(clip=3.0), nr.BayesianRidge(), nr.AAR(drift=1e-3)]
    )


def learners() -> Section:
    """Pools of learners and Auto, one round at a time, as multiples of NumPy RLS."""
    print("pools of learners, one at a time", flush=True)
    rows = draw(4_000, FEATURES)
    straight = list(zip(rows.X, rows.y))  # outcomes are np.float64
    names = [f"x{j}" for j in range(FEATURES)]
    mappings = [(dict(zip(names, x.tolist())), float(v)) for x, v in straight]
    rls = NumpyRLS(FEATURES)
    jobs = {RLS: turns(rls.predict, rls.learn, straight)}
    for name, pool, taken in (
        (POOL, five(), straight),
        (FOUR_KINDS, four_kinds(), straight),
        (f"{POOL}, {NAMED}", five(), mappings),
        (LINEAR, nr.Auto(effort="linear"), straight),
        (AUTO, nr.Auto(), straight),
    ):
        jobs[name] = turns(pool.predict_one, pool.learn_one, taken)
    result = race(jobs, seconds=12.0)
    section = Section(
        "Pools of learners",
        f"""
`predict_one` and then `learn_one` of a pool of five learners, and of `Auto`, as a multiple of the
time of plain NumPy RLS (a single learner) in the same run; n = {FEATURES}; rows and outcomes
straight from arrays, or mappings of names to floats. The groups of `Auto()` are not compiled for
single rounds; in `replay` they are.
""",
        ["", "x times the time of NumPy RLS", "target, at most", "", "us per round"],
    )
    for name, target in LEARNERS_TARGETS.items():
        cost = quartiles(result.seconds[name] / result.seconds[RLS])
        verdicts = verdict(cost.median, target, at_most=True)
        section.rows.append([name, str(cost), *verdicts, microseconds(result.microseconds(name))])
    return section


def auto() -> Section:
    """Auto as a multiple of one of its forty experts."""
    rows = draw(20_000, FEATURES)
    section = Section(
        "Auto",
        f"""
`Auto(effort="linear")`: 40 linear experts, 20 cores of which 15 drift, as a multiple of the time
of one `AAR(fit_intercept=True)` in the same run; n = {FEATURES}.
""",
        [
            "",
            "x times the time of AAR",
            "target, at most",
            "",
            "Auto, us per round",
            "AAR, us per round",
        ],
    )
    print("Auto, one at a time", flush=True)
    both = {AUTO: nr.Auto(effort="linear"), AAR: nr.AAR(fit_intercept=True)}
    result = race(
        {k: turns(v.predict_one, v.learn_one, rows.arrays) for k, v in both.items()}, seconds=8.0
    )
    _costs(section, "one at a time", result)
    print("Auto, replay", flush=True)
    jobs: dict[str, Job] = {
        AUTO: lambda _: nr.Auto(effort="linear").replay(rows.X, rows.y),
        AAR: lambda _: nr.AAR(fit_intercept=True).replay(rows.X, rows.y),
    }
    for job in jobs.values():
        job(0)
    result = race_rounds(jobs, dict.fromkeys(jobs, len(rows.y)), seconds=15.0)
    _costs(section, "replay", result)
    pace = float(np.median(1.0 / result.seconds[AUTO]))
    target, met = verdict(pace, PACE_TARGET)
    section.notes.append(
        f"Replay: {round(pace, -2):,.0f} rounds per second; target {float(target):,.0f}, {met}."
    )
    return section


def _costs(section: Section, label: str, result: Race) -> None:
    cost = quartiles(result.seconds[AUTO] / result.seconds[AAR])
    section.rows.append(
        [
            label,
            str(cost),
            *verdict(cost.median, COST_TARGET, at_most=True),
            microseconds(result.microseconds(AUTO)),
            microseconds(result.microseconds(AAR)),
        ]
    )


if __name__ == "__main__":
    for part in sections():
        print(part.markdown())
