"""replay: the whole stream in one call, against the loop over NumPy RLS and against dgemm."""

from __future__ import annotations

import numpy as np
from page import Section, microseconds, missed, verdict
from peers import NumpyRLS
from rows import draw, must_agree, turns

import noregret as nr
from noregret.gaussian.cores.blocks import BLOCK, CROSSOVER
from noregret.reproduce.timing import quartiles, race_rounds

OURS, RLS, DGEMM = "AAR", "NumPy RLS", "dgemm"
ROUNDS = {5: 50_000, 20: 20_000, 100: 5_000, 200: 4_000, 500: 2_000, 1000: 1_000}
SPEED_TARGETS = {5: 71.0, 20: 25.0, 100: 8.0, 500: 8.6}
SHARE_TARGETS = {500: 40.0}
SLOT = 0.008
SIDE = 500  # of the square matrices that dgemm multiplies


def sections() -> list[Section]:
    speeds = Section(
        "Replay",
        """
`AAR().replay(X, y)`, from checking the input to the certificate, against forecasting and learning
row by row with NumPy RLS.
""",
        [
            "n",
            "rows",
            "replay is x times as fast",
            "target",
            "",
            "replay, us per row",
            "RLS, us per row",
        ],
    )
    shares = Section(
        "Replay against matrix multiplication",
        f"""
How much of the machine's own rate of matrix multiplication (dgemm, n = {SIDE}, in the same run)
the whole replay reaches. A row counts as 3 n^2 + nB + B^2/3 flops, its cost in blocks of
B = {BLOCK} rows, also below n = {CROSSOVER}, where a compiled loop takes the rows one by one.
""",
        ["n", "share of dgemm, %", "target, %", "", "replay, Gflop/s", "dgemm, Gflop/s"],
    )
    for n, rounds in ROUNDS.items():
        print(f"replay, n = {n}", flush=True)
        _measure(n, rounds, speeds, shares if n >= 200 else None)
    return [speeds, shares]


def _measure(n: int, rounds: int, speeds: Section, shares: Section | None) -> None:
    rows = draw(rounds, n)
    arrays = rows.arrays
    rls = NumpyRLS(n)
    forecasts = nr.AAR().replay(rows.X, rows.y).forecast[:256]
    must_agree(RLS, forecasts, np.array([_step(rls, x, y) for x, y in arrays[:256]]))

    def replay(_: int) -> None:
        nr.AAR().replay(rows.X, rows.y)

    jobs = {OURS: replay, RLS: turns(rls.predict, rls.learn, arrays)}
    turn = {OURS: rounds, RLS: max(4, round(SLOT / (1e-5 + 2e-9 * n * n)))}
    if shares is not None:
        a, b, c = (np.ones((SIDE, SIDE)) for _ in range(3))
        jobs[DGEMM] = lambda _: np.dot(a, b, out=c)
        turn[DGEMM] = 1
    result = race_rounds(jobs, turn, seconds=7.0)
    speed = result.speed(OURS, RLS)
    speeds.notes += missed(f"n = {n}", speed, SPEED_TARGETS.get(n))
    speeds.rows.append(
        [
            str(n),
            f"{rounds:,}",
            str(speed),
            *verdict(speed.median, SPEED_TARGETS.get(n)),
            microseconds(result.microseconds(OURS)),
            microseconds(result.microseconds(RLS)),
        ]
    )
    if shares is None:
        return
    ours = (3 * n**2 + n * BLOCK + BLOCK**2 / 3) / result.seconds[OURS] / 1e9
    dgemm = 2 * SIDE**3 / result.seconds[DGEMM] / 1e9
    share = quartiles(100 * ours / dgemm)
    shares.notes += missed(f"n = {n}", share, SHARE_TARGETS.get(n))
    shares.rows.append(
        [
            str(n),
            str(share),
            *verdict(share.median, SHARE_TARGETS.get(n)),
            f"{np.median(ours):.1f}",
            f"{np.median(dgemm):.1f}",
        ]
    )


def _step(rls: NumpyRLS, x: np.ndarray, y: float) -> float:
    forecast = rls.predict(x)
    rls.learn(x, y)
    return forecast
