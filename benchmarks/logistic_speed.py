"""Speed of learners of binary outcomes: one round at a time against river, Newton against NumPy."""

from __future__ import annotations

import copy
from itertools import cycle, islice

import numpy as np
from page import Section, microseconds, missed, verdict
from river.linear_model import LogisticRegression
from rows import turns

import noregret as nr
from noregret.reproduce.timing import Job, Race, Ratio, quartiles, race

TITLE = "One row at a time, mappings"
SECONDS = 8.0
RIVER = "river LogisticRegression"
ADF, IMPROPER = 'BayesianLogistic(method="adf")', "ImproperLogistic"
T, N, BATCH = 1_000, 10, 50
STEP, PREDICT, LEARN = "one Newton step, NumPy", "Tierney-Kadane, predict_one", "MAP, learn_one"
TIMES = 20.0  # target: at most so many steps


def draw(rounds: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels from a logistic model; |x| is about 1."""
    rng = np.random.default_rng(n)
    X = rng.standard_normal((rounds, n)) / np.sqrt(n)
    margins = X @ (3.0 * rng.standard_normal(n))
    return X, (rng.random(rounds) < 1.0 / (1.0 + np.exp(-margins))).astype(int)


def mappings() -> Section:
    section = Section(
        TITLE,
        """
`predict_one` (river: `predict_proba_one`), then `learn_one`, on the same dictionaries of 20 names;
river's model is gradient descent in O(n), ours hold an n by n matrix. Target: no slower. The speed
is a multiple of river's: the median of the ratio within repetitions, in brackets the quartiles.
""",
        ["", "speed, river is 1", "target", "", "ours, us", "river, us"],
    )
    n = 20
    X, y = draw(256, n)
    names = [f"x{j}" for j in range(n)]
    rows = [(dict(zip(names, x)), bool(label)) for x, label in zip(X.tolist(), y)]
    adf, improper, river = average(), nr.ImproperLogistic(), LogisticRegression()
    jobs = {
        ADF: turns(adf.predict_one, adf.learn_one, rows),
        IMPROPER: turns(improper.predict_one, improper.learn_one, rows),
        RIVER: turns(river.predict_proba_one, river.learn_one, rows),
    }
    for job in jobs.values():
        job(len(rows))
    result = race(jobs, seconds=SECONDS)
    for name in (ADF, IMPROPER):
        speed = result.speed(name, RIVER)
        section.notes += missed(name, speed, 1.0)
        section.rows.append(
            [
                name,
                str(speed),
                *verdict(speed.median, 1.0),
                microseconds(result.microseconds(name)),
                microseconds(result.microseconds(RIVER)),
            ]
        )
    return section


def average() -> nr.BayesianLogistic:
    return nr.BayesianLogistic(method="adf")


def newton() -> Section:
    section = Section(
        "Newton's method",
        f"""
Time as a multiple of the dense linear algebra of one Newton step in NumPy, t = {T:,} and n = {N}:
`H = (X * w[:, None]).T @ X` and `np.linalg.solve(H, g)`. Arrays; prior_var 1. A forecast of
Tierney-Kadane at a new x is two solves of Newton's method; MAP learns one row, with t from {T:,} to
{T + BATCH:,}.
""",
        ["", "steps of NumPy", "at most", "", "ours, us", "one step, us"],
    )
    result = race(solvers(), seconds=SECONDS)
    for name, target in ((PREDICT, TIMES), (LEARN, None)):
        times = multiple(result, name)
        section.rows.append(
            [
                name,
                str(times),
                *verdict(times.median, target, at_most=True),
                microseconds(result.microseconds(name)),
                microseconds(result.microseconds(STEP)),
            ]
        )
    return section


def multiple(result: Race, name: str) -> Ratio:
    return quartiles(result.seconds[name] / result.seconds[STEP])


def solvers() -> dict[str, Job]:
    X, y = draw(T + 256, N)
    kadane, mode = nr.BayesianLogistic(1.0, method="tierney-kadane"), nr.MAPLogistic(1.0)
    for learner in (kadane, mode):
        learner.replay(X[:T], y[:T])
    rest = list(zip(list(X[T:]), y[T:].tolist()))
    inputs = cycle([x for x, _ in rest])
    rows, past = np.ascontiguousarray(X[:T]), np.full(T, 0.2)
    slope = rows.T @ past

    def step(rounds: int) -> None:
        for _ in range(rounds):
            np.linalg.solve((rows * past[:, None]).T @ rows, slope)

    def predict(rounds: int) -> None:
        for x in islice(inputs, rounds):
            kadane.predict_one(x)

    def learn(rounds: int) -> None:
        done = 0
        while done < rounds:  # a fresh copy now and then, so that t stays near T
            learner = copy.deepcopy(mode)
            for x, label in rest[: min(BATCH, rounds - done)]:
                learner.learn_one(x, label)
                done += 1

    return {STEP: step, PREDICT: predict, LEARN: learn}
