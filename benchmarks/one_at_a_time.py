"""predict_one, then learn_one: AAR against its peers, fixed experts and drifting ones."""

from __future__ import annotations

import csv
import io
from itertools import cycle, islice
from typing import Any

import numpy as np
from page import Section, microseconds, missed, verdict
from peers import NumpyRLS, PadasipRLS, RandomWalkKalman
from river.linear_model import BayesianLinearRegression, LinearRegression
from rows import Rows, draw, must_agree, turns

import noregret as nr
from noregret.reproduce.timing import Job, Race, quartiles, race

OURS, RLS, BAYES = "AAR", "NumPy RLS", "river BayesianLinearRegression"
BAYES_SPREAD, SGD = "the same with its spread", "river LinearRegression (SGD)"
PADASIP, FILTERPY = "padasip FilterRLS", "filterpy KalmanFilter"

ARRAYS, EXACT = "arrays: zip(X, y)", "arrays, outcomes as Python floats"
NARROW, LISTS = "float32 rows", "lists"
MAPPINGS, SCALARS = "mappings: csv.DictReader and float", "mappings of NumPy scalars"
TARGETS = {  # against NumPy RLS, at n = 5, 20, 100
    ARRAYS: (60.0, 30.0, 6.0),
    EXACT: (60.0, 30.0, 6.0),
    NARROW: (40.0, 15.0, 4.0),
    LISTS: (40.0, 15.0, 4.0),
    MAPPINGS: (30.0, 8.0, 3.0),
    SCALARS: (30.0, 8.0, 3.0),
}
MAPPING_TARGETS = {(20, BAYES): 10.0, (20, SGD): 2.0}
SIZES = (5, 20, 100)
DRIFT = 1e-3
DRIFT_TARGET = 15.0
LONG = 1e3
FAMILY_TARGET = 2.0  # times AAR's time, at most
EMPTY, NOTHING = "empty loop", "two methods that do nothing"
HEADER = ["n", "against", "AAR is x times as fast", "target", "", "AAR, us", "other, us"]


def fixed() -> list[Section]:
    """Whatever the caller holds against NumPy RLS, then AAR against river and padasip."""
    held = Section(
        "One row at a time, whatever the caller holds",
        """
`predict_one` and then `learn_one`, against NumPy RLS on arrays: Sherman-Morrison on the covariance
with the forecast's products kept for the learning step. Outcomes are what iterating over the
array gives, `np.float64`, except in lists, the first kind of mapping, and where it says so.
""",
        [
            "n",
            "what the caller holds",
            "x times as fast as RLS",
            "target",
            "",
            "AAR, us",
            "RLS, us",
        ],
    )
    peers = Section(
        "One row at a time, against others",
        """
Mappings of n names on both sides; padasip takes arrays, and so does AAR beside it. FilterRLS forms
an n^3 product; LinearRegression is gradient descent in O(n), with neither spread nor guarantee: it
is there for scale.
""",
        HEADER,
    )
    for k, n in enumerate(SIZES):
        print(f"one at a time, n = {n}", flush=True)
        result = race(_contestants(n), seconds=12.0)
        for form, targets in TARGETS.items():
            _add(held, n, form, result, (form, RLS), targets[k])
        empty, nothing = (microseconds(result.microseconds(name)) for name in (EMPTY, NOTHING))
        held.notes.append(
            f"The floor, n = {n}: `for x, y in zip(X, y): pass` {empty} us a round, with two calls "
            f"of compiled methods that do nothing {nothing} us: at most "
            f"{result.speed(NOTHING, RLS).median:.0f} times as fast as RLS."
        )
        for peer in (BAYES, BAYES_SPREAD, SGD, PADASIP):
            ours = ARRAYS if peer == PADASIP else MAPPINGS
            _add(peers, n, peer, result, (ours, peer), MAPPING_TARGETS.get((n, peer)))
    return [held, peers, families()]


def _add(
    section: Section, n: int, label: str, result: Race, pair: tuple[str, str], target: float | None
) -> None:
    speed = result.speed(*pair)
    section.notes += missed(f"n = {n}, {label}", speed, target)
    times = [microseconds(result.microseconds(name)) for name in pair]
    section.rows.append([str(n), label, str(speed), *verdict(speed.median, target), *times])


def _forms(rows: Rows) -> dict[str, list[tuple[Any, Any]]]:
    """The same rounds as callers hold them."""
    X, y = rows.X, rows.y
    names = [f"x{j}" for j in range(X.shape[1])]
    file = io.StringIO()
    csv.writer(file).writerows([names, *X.tolist()])
    file.seek(0)
    read = [{name: float(text) for name, text in row.items()} for row in csv.DictReader(file)]
    return {
        ARRAYS: list(zip(X, y)),
        EXACT: rows.arrays,
        NARROW: list(zip(X.astype(np.float32), y)),
        LISTS: list(zip(X.tolist(), y.tolist())),
        MAPPINGS: list(zip(read, y.tolist())),
        SCALARS: [(dict(zip(names, x)), v) for x, v in zip(X, y)],
    }


def _contestants(n: int) -> dict[str, Job]:
    rows = draw(256, n)
    forms = _forms(rows)
    ours = {form: nr.AAR() for form in forms}
    rls, padasip = NumpyRLS(n), PadasipRLS(n)
    bayes, spread, sgd = BayesianLinearRegression(), BayesianLinearRegression(), LinearRegression()
    jobs = {f: turns(ours[f].predict_one, ours[f].learn_one, forms[f]) for f in forms}
    idle = {}.get  # a compiled method of one or two arguments
    jobs |= {
        EMPTY: _loop(forms[ARRAYS]),
        NOTHING: turns(idle, idle, [(k, 0.0) for k in range(len(rows.y))]),
        RLS: turns(rls.predict, rls.learn, forms[ARRAYS]),
        BAYES: turns(bayes.predict_one, bayes.learn_one, forms[MAPPINGS]),
        BAYES_SPREAD: turns(
            lambda x: spread.predict_one(x, with_dist=True), spread.learn_one, forms[MAPPINGS]
        ),
        SGD: turns(sgd.predict_one, sgd.learn_one, forms[MAPPINGS]),
        PADASIP: turns(padasip.predict, padasip.learn, forms[ARRAYS]),
    }
    for job in jobs.values():
        job(len(rows.y))
    right = ours[ARRAYS].coef_
    for name, weights in (
        *((form, ours[form].coef_) for form in forms if form != NARROW),  # it has other rows
        (RLS, rls.w),
        (PADASIP, padasip.w),
        (BAYES, np.array([bayes.predict_one({name: 1.0}) for name in forms[MAPPINGS][0][0]])),
    ):
        must_agree(name, right, weights)
    must_agree(f"the forecast of {RLS}", *_forecasts(ours[ARRAYS], rls, rows))
    return jobs


def _loop(rows: list[tuple[Any, Any]]) -> Job:
    stream = cycle(rows)

    def job(rounds: int) -> None:
        for _x, _y in islice(stream, rounds):
            pass

    return job


def families() -> Section:
    """The other learners beside AAR."""
    section = Section(
        "One row at a time, the other learners",
        """
Arrays, outcomes straight from them; labels are 0.0 and 1.0. Target: at most twice AAR's time at the
same n.
""",
        ["", "n", "times AAR's time", "target", "", "us", "AAR, us"],
    )
    for n, makers in (
        (
            20,
            {
                "AAR, drift": lambda: nr.AAR(drift=DRIFT),
                "Ridge, clip": lambda: nr.Ridge(clip=2.0),
                "BayesianRidge": nr.BayesianRidge,
                "BayesianLogistic, adf": lambda: nr.BayesianLogistic(method="adf"),
                "ImproperLogistic": nr.ImproperLogistic,
                "MAPLogistic, history=False": lambda: nr.MAPLogistic(history=False),
            },
        ),
        (12, {"OSLOG": lambda: nr.OSLOG(0.1, start=0.1)}),
    ):
        rows = draw(256, n)
        labels = (rows.y > 0.0).astype(float)
        learners = {OURS: nr.AAR(), **{name: make() for name, make in makers.items()}}
        jobs = {}
        for name, learner in learners.items():
            binary = hasattr(learner, "predict_proba")
            stream = list(zip(rows.X, labels if binary else rows.y))
            jobs[name] = turns(learner.predict_one, learner.learn_one, stream)
        result = race(jobs, seconds=6.0)
        for name in makers:
            times = quartiles(result.seconds[name] / result.seconds[OURS])
            met = verdict(times.median, FAMILY_TARGET, at_most=True)
            both = [microseconds(result.microseconds(each)) for each in (name, OURS)]
            section.rows.append([name, str(n), str(times), *met, *both])
    return section


def _forecasts(ours: nr.AAR, rls: NumpyRLS, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    return ours.predict(rows.X), np.array([rls.predict(x) for x in rows.X])


def drifting() -> Section:
    """The Kalman filter of a random walk."""
    section = Section(
        "One row at a time, experts that drift",
        f"""
`AAR(drift={DRIFT:g})` against filterpy's `KalmanFilter` with the same model: F = I, Q = drift I,
H = x, R = 1. Rows of length 1 are learned in the covariance, O(n^2) per round. Rows of length
{LONG:g} need its triangular root, (2/3) n^3 flops per round; no target is set there.
""",
        ["n", "length of x", "AAR is x times as fast", "target", "", "AAR, us", "filterpy, us"],
    )
    for length in (1.0, LONG):
        for n in (5, 20, 50, 100):
            print(f"drift, n = {n}, |x| = {length:g}", flush=True)
            result = race(_drifters(n, length), seconds=4.0)
            speed = result.speed(OURS, FILTERPY)
            target = DRIFT_TARGET if length == 1.0 else None
            section.notes += missed(f"n = {n}", speed, target)
            section.rows.append(
                [
                    str(n),
                    f"{length:g}",
                    str(speed),
                    *verdict(speed.median, target),
                    microseconds(result.microseconds(OURS)),
                    microseconds(result.microseconds(FILTERPY)),
                ]
            )
    return section


def _drifters(n: int, length: float) -> dict[str, Job]:
    rows = draw(256, n)
    arrays = Rows(length * rows.X, rows.y).arrays
    ours, kalman = nr.AAR(drift=DRIFT), RandomWalkKalman(n, DRIFT)
    jobs = {
        OURS: turns(ours.predict_one, ours.learn_one, arrays),
        FILTERPY: turns(kalman.predict, kalman.learn, arrays),
    }
    for job in jobs.values():
        job(len(arrays))
    must_agree(FILTERPY, ours.coef_, kalman.w)
    return jobs
