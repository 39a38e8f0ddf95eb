"""Cumulative log loss on real streams of binary outcomes: ours, river's and scikit-learn's."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import data
import numpy as np
from page import table
from river.linear_model import LogisticRegression
from river.optim import SGD
from river.preprocessing import StandardScaler
from sklearn.linear_model import SGDClassifier

import noregret as nr

LEAST = 1e-15  # of a peer's probability
PRIOR_VAR = 1.0
PRIOR_VARS = [0.01, 0.1, 1.0, 10.0]
BOUNDS = [1.0, 10.0]
RATES = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5)
PENALTIES = (1e-4, 1e-3, 1e-2, 1e-1)
WINS = 4  # target, of five files

SMALL = ("ionosphere", "phishing")
FILES = (*SMALL, "spambase", "phishing_websites", "a9a")
SHUFFLED = ("spambase",)

Make = Callable[[], object]


def average(**more: object) -> nr.BayesianLogistic:
    return nr.BayesianLogistic(PRIOR_VAR, **more)


def mixture(*, improper: bool) -> nr.BayesianAlgorithm:
    """prior_var averaged over, and AIOLI with two bounds."""
    experts = nr.over(nr.BayesianLogistic, method=["adf"], prior_var=PRIOR_VARS)
    if improper:
        experts = [*experts, *nr.over(nr.ImproperLogistic, margin_bound=BOUNDS)]
    return nr.BayesianAlgorithm(experts)


# Name, how to make it, files on which it is fast enough.
OURS: dict[str, tuple[Make, tuple[str, ...]]] = {
    "BayesianLogistic, adf": (lambda: average(method="adf"), FILES),
    "MAPLogistic, history=False": (lambda: nr.MAPLogistic(PRIOR_VAR, history=False), FILES),
    "ImproperLogistic": (nr.ImproperLogistic, FILES),
    "adf, prior_var averaged": (lambda: mixture(improper=False), FILES),
    "the same with ImproperLogistic": (lambda: mixture(improper=True), FILES),
    "MAPLogistic": (lambda: nr.MAPLogistic(PRIOR_VAR), SMALL),
    "SafeLogistic": (lambda: nr.SafeLogistic(PRIOR_VAR), SMALL),
    "BayesianLogistic, tierney-kadane": (lambda: average(method="tierney-kadane"), SMALL),
    "BayesianLogistic, smc": (lambda: average(method="smc"), SMALL),
}
RIVER, RIVER_OURS, SKLEARN = "river", "river, our scaling", "scikit-learn"
PEERS = (RIVER, RIVER_OURS, SKLEARN)

WORDS = f"""\
## Losses on real streams

Cumulative log loss in nats, and per round in brackets; one pass, predict then learn; the lowest of
a column is bold. Rows come in file order, but `spambase`, which is sorted by class, is shuffled
once (seed 0). Empty cells would take too long: exact MAP costs t n^2 in round t, Tierney-Kadane
three times that, particles more.

Features are standardised online: by mean and deviation of the rows so far, the present x included
and its label not; a feature that has not varied yet is 0. Ours get a constant feature besides.
`prior_var` is {PRIOR_VAR:g} and all else the default, for all files. *prior_var averaged* is
`BayesianAlgorithm` over adf with prior_var {", ".join(f"{v:g}" for v in PRIOR_VARS)}; the row below
it adds `ImproperLogistic` with margin_bound {" and ".join(f"{v:g}" for v in BOUNDS)}, an addition
made after `phishing_websites` was seen. Our probabilities are not clipped.

The others have an advantage, the setting that is best in hindsight for each file (in square
brackets), and their probabilities are clipped at {LEAST:g}. *river* is
`StandardScaler | LogisticRegression`, whose scaler learns x after the forecast; *river, our
scaling* gets our standardised features instead; both have the best of {len(RATES)} learning rates
of `optim.SGD`, {", ".join(f"{v:g}" for v in RATES)}.
*scikit-learn* is `SGDClassifier(loss="log_loss")`, `partial_fit` on one row at a time, our
standardised features (what its `StandardScaler` gives after `partial_fit` on the present x), the
best of alpha {", ".join(f"{v:g}" for v in PENALTIES)}; its first forecast, before any row, is 1/2.
"""


def stream(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    X, y = data.load(folder, name)
    if name in SHUFFLED:
        order = np.random.default_rng(0).permutation(len(y))
        X, y = X[order], y[order]
    return X, y.astype(int)


def standardised(X: np.ndarray) -> np.ndarray:
    """Each row by mean and deviation of the rows up to it."""
    found = np.zeros_like(X)
    mean, scatter = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for t, x in enumerate(X):
        gap = x - mean
        mean += gap / (t + 1)
        scatter += gap * (x - mean)
        np.divide(x - mean, np.sqrt(scatter / (t + 1)), out=found[t], where=scatter > 0.0)
    return found


def ours(make: Make, Z: np.ndarray, y: np.ndarray) -> float:
    """What one of ours lost, with a constant feature."""
    learner = make()
    rows = np.column_stack([np.ones(len(Z)), Z])
    return float(learner.replay(rows, y).loss.sum())


def cost(p: float, label: int) -> float:
    """The log loss of a peer."""
    p = p if label else 1.0 - p
    return -math.log(max(p, LEAST))


def river(rate: float, X: np.ndarray, y: np.ndarray, *, scaler: bool) -> float:
    model = LogisticRegression(SGD(rate))
    if scaler:
        model = StandardScaler() | model
    names = [f"x{j}" for j in range(X.shape[1])]
    lost = 0.0
    for row, label in zip(X.tolist(), y.tolist()):
        x = dict(zip(names, row))
        lost += cost(model.predict_proba_one(x)[True], label)
        model.learn_one(x, bool(label))
    return lost


def sklearn(alpha: float, Z: np.ndarray, y: np.ndarray) -> float:
    model = SGDClassifier(loss="log_loss", alpha=alpha, random_state=0)
    lost = cost(0.5, y[0])
    model.partial_fit(Z[:1], y[:1], classes=[0, 1])
    for t in range(1, len(y)):
        lost += cost(float(model.predict_proba(Z[t : t + 1])[0, 1]), y[t])
        model.partial_fit(Z[t : t + 1], y[t : t + 1])
    return lost


def peers(X: np.ndarray, Z: np.ndarray, y: np.ndarray) -> dict[str, tuple[float, float]]:
    """By name: the least loss, and the setting that has it."""
    return {
        RIVER: min((river(r, X, y, scaler=True), r) for r in RATES),
        RIVER_OURS: min((river(r, Z, y, scaler=False), r) for r in RATES),
        SKLEARN: min((sklearn(a, Z, y), a) for a in PENALTIES),
    }


def losses(folder: Path) -> list[str]:
    """The section, as lines."""
    header, cells = [""], {name: [name] for name in (*OURS, *PEERS)}
    margins: dict[str, dict[str, float]] = {name: {} for name in OURS}
    for name in FILES:
        X, y = stream(folder, name)
        Z = standardised(X)
        begin = perf_counter()
        found = {k: ours(make, Z, y) for k, (make, files) in OURS.items() if name in files}
        theirs = peers(X, Z, y)
        print(f"{name}  {perf_counter() - begin:.0f} s", flush=True)
        for k, loss in (*found.items(), *theirs.items()):
            print(f"  {k}: {loss}", flush=True)
        rival = min(loss for loss, _ in theirs.values())
        least = min(rival, *found.values())
        header.append(f"{name}, {len(y):,} x {X.shape[1]}")
        for k in OURS:
            cells[k].append(shown(found[k], len(y), least) if k in found else "")
            if k in found:
                margins[k][name] = found[k] / rival - 1.0
        for k, (loss, setting) in theirs.items():
            cells[k].append(f"{shown(loss, len(y), least)} [{setting:g}]")
    return [WORDS, *table(header, cells.values()), "", *verdicts(margins), ""]


def shown(loss: float, rounds: int, least: float) -> str:
    text = f"{loss:,.1f}"
    return f"{f'**{text}**' if loss == least else text} ({loss / rounds:.4f})"


def verdicts(margins: dict[str, dict[str, float]]) -> list[str]:
    """On how many files each of ours lost less than the best of the others."""
    lines = [
        f"Against the best of the three others on a file; target: lower on {WINS} of {len(FILES)}.",
        "Differences in per cent, where not lower:",
        "",
    ]
    for name, found in margins.items():
        lower = sum(margin < 0.0 for margin in found.values())
        rest = [f"{f} {100.0 * m:+.1f} %" for f, m in found.items() if m >= 0.0]
        short = "" if len(found) < len(FILES) else " (met)" if lower >= WINS else " (**missed**)"
        beyond = f"; {', '.join(rest)}" if rest else ""
        lines.append(f"- {name}: lower on {lower} of {len(found)}{short}{beyond}.")
    return lines
