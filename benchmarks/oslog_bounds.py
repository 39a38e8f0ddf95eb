"""Where the published bound of OSLOG fails, and what a floor does."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from page import table

import noregret as nr

FLOORS = (0.0, 1e-4, 1e-3, 1e-2)

# What breaks the bound, all with one feature and Y = 1: a, x, y.
ONES = np.ones(200)
COUNTEREXAMPLES = {
    "one round, x = 1, y = -1, a = 1": (1.0, ONES[:1], -ONES[:1]),
    "one round, x = 0, y = 1, a = 100": (100.0, 0.0 * ONES[:1], ONES[:1]),
    "x = y = 1, a = 11, T = 60": (11.0, ONES[:60], ONES[:60]),
    "x = 1/2, y = 1, a = 10.2, T = 200": (10.2, ONES / 2, ONES),
    "16 rounds, y = -1, a = 0.9, abs(w) >= 0.245": (
        0.9,
        np.array([0.4, 0.3, 0.2, 0.1, 0.1, *[0.2] * 8, 0.1, 0.1, -0.3]),
        -ONES[:16],
    ),
    "y_1 = 1/90!, then x = y = 1, a = 1, T = 100": (
        1.0,
        ONES[:100],
        np.array([1.0 / math.factorial(90), *[1.0] * 99]),
    ),
    "y_1 = 1/130!, then x = y = 1, a = 1, T = 140": (
        1.0,
        ONES[:140],
        np.array([1.0 / math.factorial(130), *[1.0] * 139]),
    ),
}


def bounds() -> str:
    """Loss against the published right side, and against bounds that are true."""
    print("bounds", flush=True)
    words = """\
## The published bound is false

Theorem 2 of the paper, with |y| <= Y,

    loss <= inf_w (L(w) + a|D^-1/2 w|^2) + Y^2 (2n ln(16 Y^2/(a sqrt(pi))) + ln det(A/(8 Y^2)))

where D = diag|w_(T-1)| and A = X'X + a D^-1, on streams with one feature and Y = 1. The loss of
OSLOG exceeds it on each of them. Its forecasts are in [-1, 1] throughout or clipped to it here,
which can only help. SafeOSLOG and AAR have the same a, SafeOSLOG the range [-1, 1].
"""
    body = []
    for name, (a, x, y) in COUNTEREXAMPLES.items():
        X = x[:, None]
        oslog, safe, aar = nr.OSLOG(a), nr.SafeOSLOG(a, a, 1.0), nr.AAR(a)
        loss = float(((np.clip(oslog.replay(X, y).forecast, -1.0, 1.0) - y) ** 2).sum())
        played = [float(learner.replay(X, y).loss.sum()) for learner in (safe, aar)]
        claimed = oslog.certificate(outcome_bound=1.0).bound
        proved = [safe.certificate(), aar.certificate(outcome_bound=1.0)]
        if loss <= claimed or not all(c.holds for c in proved):
            raise SystemExit(f"{name}: not what was expected")
        cells = [loss, claimed, played[0], proved[0].bound, played[1], proved[1].bound]
        body.append([name, *(f"{value:.2f}" for value in cells)])
    after = """\
In the last two the loss grows with T and the right side does not: no other constants would save
the theorem. Near 0 the update is w_t = (b_t/a)|w_(t-1)|, so a weight that was told 1/90! needs 90
rounds to come back.
"""
    head = ["", "OSLOG", "published bound", "SafeOSLOG", "its bound", "AAR", "its bound"]
    return "\n".join([words, *table(head, body), "", after, statements()])


def statements() -> str:
    """The statements around Theorem 2, each with the numbers that show it false."""
    print("statements", flush=True)
    eta, w = 1.0 / 8.0, np.linspace(-60.0, 60.0, 40_001)
    weight = np.exp(-eta * w**2 - eta * (1.0 + w) ** 2)  # x = 1, y = -1, a = 1, D = 1
    mass = float(np.trapezoid(weight, w))
    printed = -math.log(0.5 * eta * mass) / eta
    normalised = -math.log(math.sqrt(eta / math.pi) * mass) / eta
    one = float(nr.OSLOG(1.0).replay([[1.0]], [-1.0]).loss.sum())
    dets = float(np.log(1.0 / np.array([1.0, 1e-6])).sum())
    a, T, x = 10.2, 200, 0.5
    oslog, X, y = nr.OSLOG(a), np.full((T, 1), x), np.ones(T)
    replay = oslog.replay(X, y)
    loss = float(((np.clip(replay.forecast, -1.0, 1.0) - y) ** 2).sum())
    corollary = oslog.certificate(outcome_bound=1.0).bound
    aar = nr.AAR(a).fit(X, y).certificate(outcome_bound=1.0).bound
    if not (one > normalised and printed > one and dets > 0.0 and loss > aar > corollary):
        raise SystemExit("statements: not what was expected")
    body = [
        ["Lemma 4", "the loss is an integral over the prior (2)", "one round, x = 1, y = -1, a = 1",
         f"{one:.2f}", f"{printed:.2f}; with a prior that is a density {normalised:.2f}"],
        ["(12)", "ln det A <= n ln((a + CTR^2)/C) if C <= abs(w)_1",
         "w = (1, 1e-6), a = C = 1, X = 0", f"{dets:.2f}", "0.00"],
        ["Corollary 1", "(9) with (12)", "x = 1/2, y = 1, a = 10.2, T = 200", f"{loss:.2f}",
         f"{corollary:.2f}"],
        ["Theorem 3", "OSLOG's guarantee is below AAR's", "the same, a >= 32/pi, w = 1.79",
         f"{loss:.2f}", f"AAR's {aar:.2f}"],
    ]  # fmt: skip
    words = """\
### The statements around it

Lemma 4, from which (9) follows, takes the prior for one density, while D changes in every round,
and (2) is none. (12) bounds each |w_i| from below by |w|_1, which is larger. Corollary 1 and
Theorem 3 rest on both; what Theorem 3 compares with AAR's guarantee is no guarantee.
"""
    head = ["", "says", "stream", "left side", "right side"]
    return "\n".join([words, *table(head, body), ""])


def floors(X: np.ndarray, y: np.ndarray, choose: Callable[[Callable[[float], Any]], float]) -> str:
    """What a floor does where OSLOG is stuck, and what it costs where it is not."""
    print("floors", flush=True)
    rng = np.random.default_rng(0)
    late = rng.standard_normal((300, 2))
    late[:10, 1] = 0.0
    sums = late.sum(axis=1) + 0.1 * rng.standard_normal(300)
    step = np.ones(100)
    step[0] = 0.0
    words = """\
## The floor

D = diag(max(|w|, floor)): no weight is ever lost. Cumulative square loss; a = 1 in the first two.

- *Late feature*: 300 rounds, x_1 and x_2 are N(0, 1), y = x_1 + x_2 + noise of standard deviation
  0.1, and x_2 is 0 in the first 10 rounds. Without a floor its weight is 0 for ever.
- *0, then 1*: 100 rounds, x = 1, y = 0 in round 1 and 1 after it. Without a floor OSLOG forecasts 0
  for ever.
- *ise.csv*, where no feature is late: a chosen as in Table 1 for each, round 1 not counted.
"""
    body = []
    streams = {"late feature": (late, sums), "0, then 1": (np.ones((100, 1)), step)}
    for name, (xs, ys) in streams.items():
        row = [nr.OSLOG(1.0, floor=floor).replay(xs, ys).loss.sum() for floor in FLOORS]
        row += [learner.replay(xs, ys).loss.sum() for learner in (nr.AAR(1.0), nr.Ridge(1.0))]
        body.append([name, *(f"{value:.2f}" for value in row)])
    row = []
    makers = [lambda a, floor=floor: nr.OSLOG(a, floor=floor) for floor in FLOORS]
    for make in (*makers, nr.AAR, nr.Ridge):
        row.append(f"{make(choose(make)).replay(X, y).loss[1:].sum():.4f}")
    body.append(["ise.csv, from round 2", *row])
    head = ["", "floor 0", *(f"{floor:g}" for floor in FLOORS[1:]), "AAR", "Ridge"]
    after = """\
A floor brings OSLOG to within a few units of AAR on the first two; the smaller the floor, the
longer a weight takes to grow. It does not restore the published bound, and no bound is claimed
for it.
"""
    return "\n".join([words, *table(head, body), "", after])
