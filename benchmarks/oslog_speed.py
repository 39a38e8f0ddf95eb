"""Running times of OSLOG: beside AAR and ridge, as in the paper, and against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from page import Section, microseconds, missed, verdict
from rows import must_agree

import noregret as nr
from noregret._native.sparse import LIVE, MOMENT, SCALES, WEIGHTS
from noregret.reproduce.oslog import TIMES, run
from noregret.reproduce.timing import Job, quartiles, race_rounds

SEEN, SHRINKAGE, NOISE, IDLE = 1_000, 20.0, 0.1, 1e-20
CASES = {(12, 12): 400, (100, 10): 100, (100, 50): 60, (500, 50): 30, (500, 500): 10}
"""Features and how many of them are live; rounds in a turn."""
TARGETS = {(12, 12): 8.0, (500, 50): 8.0}
OURS, NUMPY = "OSLOG", "NumPy"


class NumpyOSLOG:
    """Algorithm 1 as it is printed."""

    def __init__(self, n: int, a: float, start: float = 1.0) -> None:
        self.M, self.b, self.w, self.ridge = np.zeros((n, n)), np.zeros(n), np.full(n, start), a
        self.prior = a * np.eye(n)

    def predict(self, x: np.ndarray) -> float:
        return float(self.w @ x)

    def learn(self, x: np.ndarray, y: float) -> None:
        self.M += np.outer(x, x)
        self.b += y * x
        s = np.sqrt(np.abs(self.w))
        self.w = s * np.linalg.solve(self.prior + np.outer(s, s) * self.M, s * self.b)


class NumpyRidge:
    """AAR and ridge with one solve per round; AAR takes x in before it forecasts."""

    def __init__(self, n: int, a: float, *, first: bool) -> None:
        self.A, self.b, self.first = a * np.eye(n), np.zeros(n), first

    def predict(self, x: np.ndarray) -> float:
        if self.first:
            self.A += np.outer(x, x)
        return float(self.b @ np.linalg.solve(self.A, x))

    def learn(self, x: np.ndarray, y: float) -> None:
        if not self.first:
            self.A += np.outer(x, x)
        self.b += y * x


def whole_runs(X: np.ndarray, y: np.ndarray, chosen: dict[str, float]) -> Section:
    """Table 2: AAR, ORR and OSLOG over the file, as multiples of AAR's time."""
    print("speed, whole runs", flush=True)
    n, rows = X.shape[1], list(zip(list(X), y.tolist()))
    ours = {
        "AAR": lambda: nr.AAR(chosen["AAR"]),
        "ORR": lambda: nr.Ridge(chosen["ORR"]),
        "OSLOG": lambda: nr.OSLOG(chosen["OSLOG"]),
    }
    plain = {
        "AAR": lambda: NumpyRidge(n, chosen["AAR"], first=True),
        "ORR": lambda: NumpyRidge(n, chosen["ORR"], first=False),
        "OSLOG": lambda: NumpyOSLOG(n, chosen["OSLOG"]),
    }
    for name, make in ours.items():
        must_agree(name, make().replay(X, y).forecast[:100], run(plain[name], rows[:100]))
    ways: dict[str, dict[str, Job]] = {
        "one at a time": {k: lambda _, f=f: run(f, rows) for k, f in ours.items()},
        "`replay`": {
            k: lambda times, f=f: [f().replay(X, y) for _ in range(times)] for k, f in ours.items()
        },
        "NumPy, one solve per round": {k: lambda _, f=f: run(f, rows) for k, f in plain.items()},
    }
    section = Section(
        "Table 2: running times",
        f"""
Time of a run over ise.csv ({len(y)} rounds, 8 features) as a multiple of AAR's: medians, and
quartiles over repetitions in which all take turns. The paper's are ratios of its medians. Its
algorithms solve or invert a system every round, all three; so do the NumPy loops here, and then
OSLOG costs more than the others, not less: what made it faster in the paper is not in the
algorithm. AAR and Ridge here update a factor in O(n^2) and solve nothing; OSLOG has no such update,
as D changes in every entry every round.
""",
        ["", "AAR", "ORR", "OSLOG", "OSLOG, microseconds per round"],
    )
    for name, times in TIMES.items():
        cells = [f"{value / times[0]:.2f}" for value in times]
        section.rows.append([f"paper, {name}", *cells, ""])
    for way, jobs in ways.items():
        times = dict.fromkeys(jobs, 20 if way == "`replay`" else 1)
        for name, job in jobs.items():
            job(times[name])
        seconds = race_rounds(jobs, times, seconds=4.0, least=15).seconds
        cells = [str(quartiles(seconds[name] / seconds["AAR"])) for name in ("ORR", "OSLOG")]
        each = 1e6 * float(np.median(seconds["OSLOG"])) / len(y)
        section.rows.append([way, "1", *cells, microseconds(each)])
    return section


class Prepared:
    """A state with so many live weights and the others tiny, and rows to learn from there."""

    def __init__(self, n: int, live: int, rounds: int) -> None:
        rng = np.random.default_rng(n + live)
        self.n, self.live = n, live
        X = rng.standard_normal((SEEN + rounds, n))
        active = rng.permutation(n)[:live]
        w = np.zeros(n)
        w[active] = rng.choice([-1.0, 1.0], live)
        y = X @ w + NOISE * rng.standard_normal(len(X))
        self.M, self.b = X[:SEEN].T @ X[:SEEN], X[:SEEN].T @ y[:SEEN]
        self.w = np.where(w == 0.0, IDLE, w)
        self.rows = list(zip(list(X[SEEN:]), y[SEEN:].tolist()))
        self.ours, self.numpy = nr.OSLOG(SHRINKAGE), NumpyOSLOG(n, SHRINKAGE)
        self.ours.learn_one(X[0], float(y[0]))

    def reset(self, learner: Any) -> None:
        if learner is self.numpy:
            learner.M[:], learner.b[:], learner.w = self.M, self.b, self.w.copy()
        else:
            held = learner._state
            held.gram[:], held.state[MOMENT] = self.M, self.b
            held.state[WEIGHTS], held.state[SCALES] = self.w, np.abs(self.w)

    def job(self, learner: Any, *, predict: bool) -> Job:
        """A turn: from the prepared state on, learning only, or with a forecast before."""
        learn = getattr(learner, "learn_one", None) or learner.learn
        forecast = getattr(learner, "predict_one", None) or learner.predict

        def learning(rounds: int) -> None:
            self.reset(learner)
            for x, y in self.rows[:rounds]:
                learn(x, y)

        def both(rounds: int) -> None:
            self.reset(learner)
            for x, y in self.rows[:rounds]:
                forecast(x)
                learn(x, y)

        return both if predict else learning

    def check(self) -> None:
        """Both must arrive at the same weights, as many of them live as was said."""
        for learner in (self.ours, self.numpy):
            self.job(learner, predict=True)(len(self.rows))
        must_agree(NUMPY, self.ours.coef_, self.numpy.w)
        held = self.ours._state
        counts = np.abs(self.ours.coef_) * np.diagonal(held.gram) > LIVE * SHRINKAGE
        if counts.sum() != self.live or not self.ours.coef_.all():
            raise SystemExit(f"{counts.sum()} of {self.n} weights are live, not {self.live}")


def one_round() -> Section:
    """Against a NumPy solve of the same system."""
    section = Section(
        "One round against NumPy",
        f"""
`learn_one`, and `predict_one` with `learn_one`, against the plain NumPy round: `M += outer(x, x)`,
`b += y * x`, `s = sqrt(abs(w))`, `w = s * solve(a I + outer(s, s) * M, s * b)`; the forecast is
`w @ x`. One BLAS thread. A weight is live if |w_i| M_ii > {LIVE:g} a; the others are {IDLE:g} here,
not 0, so that they take part. Both sides start every turn from the same state after {SEEN:,} rounds
(a = {SHRINKAGE:g}) and must have arrived at the same weights, to 1e-8, before the race starts.
Speeds are medians with quartiles; trust ratios, not microseconds.
""",
        [
            *("n", "live", "learning: OSLOG is x times as fast", "target", ""),
            *("with the forecast", "target", "", "OSLOG learning, us", "NumPy learning, us"),
        ],
    )
    for (n, live), rounds in CASES.items():
        print(f"speed, n = {n}, {live} live", flush=True)
        case = Prepared(n, live, rounds)
        case.check()
        jobs = {
            f"{name}{', both' if predict else ''}": case.job(learner, predict=predict)
            for name, learner in ((OURS, case.ours), (NUMPY, case.numpy))
            for predict in (False, True)
        }
        result = race_rounds(jobs, dict.fromkeys(jobs, rounds), seconds=6.0, least=11)
        target = TARGETS.get((n, live))
        cells = []
        for what in ("", ", both"):
            speed = result.speed(OURS + what, NUMPY + what)
            section.notes += missed(f"n = {n}, {live} live{what}", speed, target)
            cells += [str(speed), *verdict(speed.median, target)]
        each = [microseconds(result.microseconds(name)) for name in (OURS, NUMPY)]
        section.rows.append([str(n), str(live), *cells, *each])
    return section
