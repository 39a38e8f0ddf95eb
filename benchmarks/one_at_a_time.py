"""predict_one, then learn_one: AAR against its peers, fixed experts and drifting ones."""

from __future__ import annotations

import numpy as np
from page import Section, microseconds, missed, verdict
from peers import NumpyRLS, PadasipRLS, RandomWalkKalman
from river.linear_model import BayesianLinearRegression, LinearRegression
from rows import Rows, draw, must_agree, turns

import noregret as nr
from noregret.reproduce.timing import Job, race

OURS, OURS_NAMED = "AAR", "AAR, mappings"
RLS, BAYES = "NumPy RLS", "river BayesianLinearRegression"
BAYES_SPREAD, SGD = "the same with its spread", "river LinearRegression (SGD)"
PADASIP, FILTERPY = "padasip FilterRLS", "filterpy KalmanFilter"

ARRAY_TARGETS = {(5, RLS): 5.0, (20, RLS): 5.0, (100, RLS): 3.0, (20, BAYES): 12.0}
MAPPING_TARGETS = {(20, BAYES): 5.0}
DRIFT = 1e-3
DRIFT_TARGET = 15.0
LONG = 1e3
HEADER = ["n", "against", "AAR is x times as fast", "target", "", "AAR, us", "other, us"]


def fixed() -> list[Section]:
    """Arrays on our side, then mappings on both."""
    arrays = Section(
        "One row at a time, arrays",
        """
`predict_one` and then `learn_one`; peers get what they take, river dictionaries and the others
arrays. NumPy RLS is Sherman-Morrison on the covariance with the forecast's products kept for the
learning step. FilterRLS forms an n^3 product; LinearRegression is gradient descent in O(n), with
neither spread nor guarantee: it is there for scale.
""",
        HEADER,
    )
    mappings = Section(
        "One row at a time, mappings",
        "The same race with dictionaries of n names on both sides.",
        HEADER,
    )
    for n in (5, 20, 100):
        print(f"one at a time, n = {n}", flush=True)
        result = race(_contestants(n), seconds=8.0)
        for section, ours, peers, targets in (
            (arrays, OURS, (RLS, BAYES, BAYES_SPREAD, SGD, PADASIP), ARRAY_TARGETS),
            (mappings, OURS_NAMED, (BAYES, BAYES_SPREAD, SGD), MAPPING_TARGETS),
        ):
            for peer in peers:
                speed, target = result.speed(ours, peer), targets.get((n, peer))
                section.notes += missed(f"n = {n} against {peer}", speed, target)
                section.rows.append(
                    [
                        str(n),
                        peer,
                        str(speed),
                        *verdict(speed.median, target),
                        microseconds(result.microseconds(ours)),
                        microseconds(result.microseconds(peer)),
                    ]
                )
    return [arrays, mappings]


def _contestants(n: int) -> dict[str, Job]:
    rows = draw(256, n)
    arrays, mappings = rows.arrays, rows.mappings
    ours, named = nr.AAR(), nr.AAR()
    rls, padasip = NumpyRLS(n), PadasipRLS(n)
    bayes, spread, sgd = BayesianLinearRegression(), BayesianLinearRegression(), LinearRegression()
    jobs = {
        OURS: turns(ours.predict_one, ours.learn_one, arrays),
        OURS_NAMED: turns(named.predict_one, named.learn_one, mappings),
        RLS: turns(rls.predict, rls.learn, arrays),
        BAYES: turns(bayes.predict_one, bayes.learn_one, mappings),
        BAYES_SPREAD: turns(
            lambda x: spread.predict_one(x, with_dist=True), spread.learn_one, mappings
        ),
        SGD: turns(sgd.predict_one, sgd.learn_one, mappings),
        PADASIP: turns(padasip.predict, padasip.learn, arrays),
    }
    for job in jobs.values():
        job(len(arrays))
    for name, weights in (
        (OURS_NAMED, named.coef_),
        (RLS, rls.w),
        (PADASIP, padasip.w),
        (BAYES, np.array([bayes.predict_one({name: 1.0}) for name in mappings[0][0]])),
    ):
        must_agree(name, ours.coef_, weights)
    must_agree(f"the forecast of {RLS}", *_forecasts(ours, rls, rows))
    return jobs


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
