"""Exact kernel learners against the bare linear algebra, and against refitting."""

from __future__ import annotations

import os
import subprocess
import sys
from time import perf_counter

import numpy as np
from page import Section, verdict
from rows import must_agree
from scipy.linalg import blas, lapack
from scipy.spatial.distance import cdist
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

import noregret as nr
from noregret.reproduce.timing import quartiles, race_rounds

FEATURES, WIDTH, ROUNDS, LARGE = 10, 3.0, 5_000, 20_000
KERNEL = RBF(WIDTH, "fixed")
OURS, BARE, SOLVE = "ours", "bare", "dtpsv"
REFITS = 500
EVERY = 10  # rounds at which the refit is timed
HEADER = ["what", "against", "ratio", "target", "", "ours", "other"]

LARGE_SCRIPT = """
import resource, sys, time
import numpy as np
from sklearn.gaussian_process.kernels import RBF
import noregret as nr
rounds, n, width = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
rng = np.random.default_rng(0)
X = rng.standard_normal((rounds, n))
y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(rounds)
kernel = RBF(width, "fixed")
nr.AAR(1.0, kernel=kernel).replay(X[:100], y[:100])
begin = time.perf_counter()
nr.AAR(1.0, kernel=kernel).replay(X, y)
print(time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)
"""


def stream(rounds: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rounds, FEATURES))
    return X, np.sin(X[:, 0]) + 0.1 * rng.standard_normal(rounds)


def exact() -> Section:
    section = Section(
        "Exact core",
        f"""
`AAR(1.0, kernel=RBF({WIDTH:g}))` on {FEATURES} features. Bare is `exp(-cdist(X, X)/2w^2)`, 1 added
to the diagonal, and LAPACK's dpotrf on it: no forecasts, no certificate. dtpsv is one packed
triangular solve of the same size.
""",
        HEADER,
    )
    section.rows += [_replay(), _one_round(), _refits()]
    return section


def bare_factor(X: np.ndarray) -> np.ndarray:
    K = np.exp(cdist(X, X, "sqeuclidean") * (-0.5 / WIDTH**2))
    K[np.diag_indices_from(K)] += 1.0
    factor, info = lapack.dpotrf(K.T, lower=0, clean=0, overwrite_a=1)
    assert info == 0
    return factor


def _replay() -> list[str]:
    print(f"replay of {ROUNDS:,} rounds", flush=True)
    X, y = stream(ROUNDS)
    replay = nr.AAR(1.0, kernel=KERNEL).replay(X, y)
    must_agree("dpotrf", np.sqrt(replay.spread), np.diagonal(bare_factor(X)))
    jobs = {
        OURS: lambda _: nr.AAR(1.0, kernel=KERNEL).replay(X, y),
        BARE: lambda _: bare_factor(X),
    }
    result = race_rounds(jobs, dict.fromkeys(jobs, 1), seconds=0.0)
    ratio = result.speed(BARE, OURS)
    return [
        f"replay of {ROUNDS:,} rounds, time",
        "kernel matrix + dpotrf",
        str(ratio),
        *_at_most(ratio.median, 1.5),
        *(f"{1e-6 * result.microseconds(name):.2f} s" for name in (OURS, BARE)),
    ]


def _one_round() -> list[str]:
    print(f"learn_one at t = {ROUNDS:,}", flush=True)
    X, y = stream(ROUNDS + 200)
    learner = nr.AAR(1.0, kernel=KERNEL)
    learner.replay(X[:ROUNDS], y[:ROUNDS])
    learner.learn_one(X[ROUNDS], y[ROUNDS])  # makes room for half as many again, once
    rest = iter(zip(X[ROUNDS + 1 :], y[ROUNDS + 1 :].tolist()))
    packed = np.random.default_rng(0).standard_normal(ROUNDS * (ROUNDS + 1) // 2)
    packed[np.arange(1, ROUNDS + 1).cumsum() - 1] = 100.0  # rows of a tame triangle
    right = np.ones(ROUNDS)
    jobs = {
        OURS: lambda _: learner.learn_one(*next(rest)),
        SOLVE: lambda _: blas.dtpsv(ROUNDS, packed, right, trans=1),
    }
    result = race_rounds(jobs, dict.fromkeys(jobs, 1), seconds=0.0, least=100)
    ratio = result.speed(SOLVE, OURS)
    return [
        f"learn_one at t = {ROUNDS:,}, time",
        "dtpsv",
        str(ratio),
        *_at_most(ratio.median, 2.0),
        *(f"{1e-3 * result.microseconds(name):.1f} ms" for name in (OURS, SOLVE)),
    ]


def _refits() -> list[str]:
    print(f"refitting GaussianProcessRegressor, {REFITS} rounds", flush=True)
    X, y = stream(REFITS)
    taken, means = [], []
    for t in range(EVERY, REFITS, EVERY):
        begin = perf_counter()
        model = GaussianProcessRegressor(KERNEL, alpha=1.0, optimizer=None)
        means.append(model.fit(X[:t], y[:t]).predict(X[t : t + 1])[0])
        taken.append(perf_counter() - begin)
    replay = nr.AAR(1.0, kernel=KERNEL).replay(X, y)
    must_agree("GaussianProcessRegressor", replay.mean[EVERY::EVERY], np.array(means))
    times = []
    for _ in range(30):
        begin = perf_counter()
        nr.AAR(1.0, kernel=KERNEL).replay(X, y)
        times.append(perf_counter() - begin)
    refits = sum(taken) * EVERY
    ratio = quartiles(refits / np.array(times))
    return [
        f"replay of {REFITS} rounds, x times as fast",
        f"a refit each round (every {EVERY}th timed, times {EVERY})",
        str(ratio),
        *verdict(ratio.median, 200.0),
        f"{1e3 * float(np.median(times)):.1f} ms",
        f"{refits:.1f} s",
    ]


def large(*, run: bool) -> Section:
    section = Section(
        "A long replay",
        f"""
One process: `AAR(1.0, kernel=RBF({WIDTH:g})).replay` of {LARGE:,} rounds of {FEATURES} features;
peak resident memory of the whole process. The matrix alone is {LARGE**2 * 8e-9:.1f} GB, the
packed factor that the learner keeps {LARGE**2 * 4e-9:.1f} GB.
""",
        ["rounds", "seconds", "peak, GB"],
    )
    if not run:
        return section
    print(f"replay of {LARGE:,} rounds", flush=True)
    command = [sys.executable, "-c", LARGE_SCRIPT, str(LARGE), str(FEATURES), str(WIDTH)]
    found = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ)
    seconds, peak = (float(v) for v in found.stdout.split())
    section.rows.append([f"{LARGE:,}", f"{seconds:.0f}", f"{peak:.1f}"])
    return section


def _at_most(value: float, target: float) -> tuple[str, str]:
    shown, met = verdict(value, target, at_most=True)
    return f"<= {shown}", met
