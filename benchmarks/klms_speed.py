"""K-LMS-NET against NumPy with one exponential for each node and past point."""

from __future__ import annotations

from time import perf_counter

import numpy as np
from page import Section, missed, verdict
from rows import must_agree

import noregret as nr
from noregret.reproduce.timing import quartiles, race_rounds

FEATURES, NODES, ROUNDS, SCALE, ETA = 5, 64, 5_000, 10.0, 0.5
OURS, PLAIN, NUMPY = "ours", "no audit", "NumPy"
TURN = 20  # rounds a turn


class NumpyNet:
    """The same finite mixture, one exponential for each node and past point."""

    def __init__(self, alphas: np.ndarray, weights: np.ndarray, room: int) -> None:
        self.alphas, self.logs, self.t = alphas, np.log(weights), 0
        self.X, self.residuals = np.empty((room, FEATURES)), np.empty((alphas.size, room))
        self.losses = np.zeros(alphas.size)

    def round(self, x: np.ndarray, y: float) -> float:
        t = self.t
        distance = ((self.X[:t] - x) ** 2).sum(axis=1)
        k = np.exp(-SCALE * self.alphas[:, None] * distance)
        p = ETA * (k * self.residuals[:, :t]).sum(axis=1)
        said = np.clip(p, -1.0, 1.0)
        v = np.exp(self.logs - self.losses / 8.0 - (self.logs - self.losses / 8.0).max())
        self.X[t], self.residuals[:, t], self.t = x, y - p, t + 1
        self.losses += (y - said) ** 2
        return float(v @ said / v.sum())


def stream(rounds: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(rounds, FEATURES))
    y = np.sin(4.0 * X[:, 0]) * X[:, 1] + 0.1 * rng.standard_normal(rounds)
    return X, np.clip(y, -1.0, 1.0)


def net(*, audit: bool) -> nr.KLMSNet:
    return nr.KLMSNet(1.0, scale=SCALE, learning_rate=ETA, nodes=NODES, audit=audit)


def section() -> Section:
    table = Section(
        "Speed",
        f"""
{NODES} widths, {FEATURES} features, float64, distinct patterns. A round is a forecast and then
learning its outcome. NumPy computes `exp(-s0 alpha |x_s - x|^2)` for every width and past point,
then sums; it forecasts the same to 1e-8, and has no audit.
Its replay is a loop over the rounds, run once; ours is run five times.
""",
        ["what", "against", "times as fast", "target", "", "ours", "NumPy"],
    )
    X, y = stream(ROUNDS + 4000)
    print(f"replay of {ROUNDS:,} rounds", flush=True)
    begin = perf_counter()
    slow = NumpyNet(net(audit=True).fit(X[:1], y[:1]).widths_, _weights(), len(X))
    forecasts = [slow.round(x, float(v)) for x, v in zip(X[:ROUNDS], y[:ROUNDS])]
    taken = perf_counter() - begin
    rows = []
    for audit in (True, False):
        times = []
        for _ in range(5):
            learner = net(audit=audit)
            begin = perf_counter()
            replay = learner.replay(X[:ROUNDS], y[:ROUNDS])
            times.append(perf_counter() - begin)
        must_agree("NumPy", replay.forecast, np.array(forecasts))
        ratio = quartiles(taken / np.array(times))
        name = "replay" if audit else "replay, no audit"
        mine = f"{1e3 * float(np.median(times)):.0f} ms"
        rows.append((name, ratio, 10.0, mine, f"{1e3 * taken:.0f} ms"))
    print(f"one round at t = {ROUNDS:,}", flush=True)
    rows[:0] = _rounds(slow, X, y)
    for name, ratio, target, mine, other in rows:
        shown, met = verdict(ratio.median, target)
        what = f"{name}, {ROUNDS:,} rounds" if "replay" in name else f"{name} at t = {ROUNDS:,}"
        table.rows.append([what, NUMPY, str(ratio), shown, met, mine, other])
        table.notes += missed(what, ratio, target)
    return table


def _weights() -> np.ndarray:
    from noregret.lms.nodes import grid

    return grid(NODES).weights


def _rounds(slow: NumpyNet, X: np.ndarray, y: np.ndarray) -> list[tuple]:
    """Both go on from round 5,000, in turns; every turn starts from there again."""
    learners = {OURS: net(audit=True), PLAIN: net(audit=False)}
    for learner in learners.values():
        learner.replay(X[:ROUNDS], y[:ROUNDS])
    rest = {name: iter(zip(list(X[ROUNDS:]), y[ROUNDS:].tolist())) for name in learners}

    def ours(name):
        def job(rounds: int) -> None:
            learner = learners[name]
            for _ in range(rounds):
                x, outcome = next(rest[name])
                learner.predict_one(x)
                learner.learn_one(x, outcome)

        return job

    def other(rounds: int) -> None:
        for i in range(rounds):
            slow.t = ROUNDS  # the state is not read again
            slow.round(X[ROUNDS + i], float(y[ROUNDS + i]))

    jobs = {OURS: ours(OURS), PLAIN: ours(PLAIN), NUMPY: other}
    result = race_rounds(jobs, dict.fromkeys(jobs, TURN), seconds=0.0, least=25)
    found = []
    for name, title in ((OURS, "one round"), (PLAIN, "one round, no audit")):
        us = [f"{result.microseconds(side):.0f} us" for side in (name, NUMPY)]
        found.append((title, result.speed(name, NUMPY), 20.0, *us))
    return found
