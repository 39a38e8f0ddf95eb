"""AutoClassifier, without any setting, on the binary files, against the strongest peers.

    python benchmarks/auto_binary.py [--data FOLDER] [--quick] [--peers FILE]

Writes docs/auto-binary.md; with --quick only the first 500 rows are run and the page is printed.
With --peers the others' figures, which take some ten minutes, are kept in a file of JSON and not
measured again.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from time import perf_counter, process_time

import data
import numpy as np
from lightgbm import LGBMClassifier
from logistic_losses import FILES, RATES, standardised, stream
from page import machine, table
from river.forest import AMFClassifier, ARFClassifier
from river.linear_model import LogisticRegression as Gradient
from river.optim import SGD
from river.preprocessing import StandardScaler
from river.tree import HoeffdingAdaptiveTreeClassifier
from sklearn import linear_model, pipeline, preprocessing
from threadpoolctl import threadpool_limits

import noregret as nr

PAGE = Path(__file__).resolve().parents[1] / "docs" / "auto-binary.md"
ROWS, QUICK, FROM = 4_000, 500, 20
LEAST = (1e-15, 1e-3, 1e-2)  # peers' probabilities are cut there, by what is best in hindsight
STRENGTHS = (0.01, 0.1, 1.0, 10.0)
WINS = 4  # target, of five files

Labels = np.ndarray
Probabilities = np.ndarray
Stream = Callable[[np.ndarray, Labels], Probabilities]
Found = tuple[float, str, float]  # loss, setting, seconds per row


def online(make: Callable[[], object]) -> Stream:
    """A model of river, predict then learn."""

    def run(X: np.ndarray, y: Labels) -> Probabilities:
        model, said = make(), []
        names = [f"x{j}" for j in range(X.shape[1])]
        for row, label in zip(X.tolist(), y.tolist()):
            x = dict(zip(names, row))
            chances = model.predict_proba_one(x)
            total = sum(chances.values())
            said.append(chances.get(True, 0.0) / total if total > 0.0 else 0.5)
            model.learn_one(x, bool(label))
        return np.array(said)

    return run


def refits(rounds: int) -> Iterator[tuple[int, int]]:
    """When a model is fitted anew, and until when it serves."""
    at = [25, 50, 100, *range(200, rounds, 200), rounds]
    yield from ((a, b) for a, b in pairwise(at) if a < b)


def refitted(make: Callable[[], object]) -> Stream:
    """A model of scikit-learn's kind, fitted anew on all rows so far; before that the base rate."""

    def run(X: np.ndarray, y: Labels) -> Probabilities:
        said = (np.concatenate([[0.0], np.cumsum(y)[:-1]]) + 0.5) / (np.arange(len(y)) + 1.0)
        for a, b in refits(len(y)):
            if len(set(y[:a].tolist())) == 2:
                said[a:b] = make().fit(X[:a], y[:a]).predict_proba(X[a:b])[:, 1]
        return said

    return run


def last(_: np.ndarray, y: Labels) -> Probabilities:
    """The last label, with the share of repetitions so far."""
    same = np.concatenate([[0.0], np.cumsum(y[1:] == y[:-1])[:-1], [0.0]])[: len(y) - 1]
    repeats = (same + 0.5) / (np.arange(len(y) - 1) + 1.0)
    return np.concatenate([[0.5], np.where(y[:-1] == 1, repeats, 1.0 - repeats)])


def linear(strength: float) -> Callable[[], object]:
    return lambda: pipeline.make_pipeline(
        preprocessing.StandardScaler(), linear_model.LogisticRegression(C=strength, max_iter=1000)
    )


# By name: settings, of which the best in hindsight counts.
PEERS: dict[str, dict[str, Stream]] = {
    "AMF": {"": online(lambda: AMFClassifier(seed=0))},
    "ARF": {"": online(lambda: ARFClassifier(seed=0))},
    "Hoeffding": {"": online(lambda: HoeffdingAdaptiveTreeClassifier(seed=0))},
    "SGD": {f"{r:g}": online(lambda r=r: StandardScaler() | Gradient(SGD(r))) for r in RATES},
    "refits": {f"C={c:g}": refitted(linear(c)) for c in STRENGTHS},
    "LightGBM": {"": refitted(lambda: LGBMClassifier(n_jobs=1, verbose=-1, random_state=0))},
    "last label": {"": last},
}


def lost(p: Probabilities, y: Labels, least: float = 0.0) -> float:
    """The mean log loss from row 20 on."""
    happened = np.clip(np.where(y == 1, p, 1.0 - p), least, 1.0)[FROM:]
    return float(-np.log(happened).mean())


def peer(settings: dict[str, Stream], X: np.ndarray, y: Labels) -> Found:
    """The least loss, the setting that has it, and seconds per row of one setting."""
    begin = process_time()
    found = [
        (lost(p, y, least), name)
        for name, run in settings.items()
        for p in [run(X, y)]
        for least in LEAST
    ]
    each = (process_time() - begin) / len(y) / len(settings)
    return *min(found), each


def listed(values: tuple[float, ...]) -> str:
    return ", ".join(f"{v:g}" for v in values)


INTRODUCTION = f"""\
# AutoClassifier on every binary file

Written by `make auto`.

`nr.AutoClassifier()`, predict then learn, on the first {ROWS:,} rows at most of each file, in file
order but for `spambase`, which is sorted by class and shuffled once (seed 0); one pass, the same
rows for everybody. Figures are mean log losses from row {FROM} on, and in brackets their ratio to
the best peer's: below 1 ours lost less.

Peers were helped: the best setting in hindsight counts, in square brackets, and their probabilities
are cut at the best of {listed(LEAST)} from both ends; ours are not. *AMF*, *ARF*, *Hoeffding*:
river's AMFClassifier, ARFClassifier and HoeffdingAdaptiveTreeClassifier. *SGD*: river's
LogisticRegression behind StandardScaler, rates {listed(RATES)}.
*refits*: scikit-learn's LogisticRegression on standard units, C = {listed(STRENGTHS)}, and
*LightGBM*: LGBMClassifier, both fitted anew on all rows so far at rows 25, 50, 100, 200 and then
every 200; before that the base rate. *MondrianClassifier* and *adf* (BayesianLogistic on running
standard units) are two of ours alone.

Nothing is chosen for any one file. But the experts were chosen on these five: which features bend,
how trees weigh features, what the stack hears. No other file has been looked at.
"""


def scaled(X: np.ndarray, y: Labels) -> Probabilities:
    rows = np.column_stack([np.ones(len(X)), standardised(X)])
    return nr.BayesianLogistic(method="adf").replay(rows, y).forecast


OURS: dict[str, Stream] = {
    "AutoClassifier": lambda X, y: nr.AutoClassifier().replay(X, y).forecast,
    "MondrianClassifier": lambda X, y: nr.MondrianClassifier().replay(X, y).forecast,
    "adf": scaled,
}


def kept(path: Path | None, name: str, X: np.ndarray, y: Labels) -> dict[str, Found]:
    """What the peers lost on a file of this name, by a file of figures as far as it goes."""
    table = json.loads(path.read_text()) if path and path.exists() else {}
    for k, settings in PEERS.items():
        if f"{name}/{k}" not in table:
            table[f"{name}/{k}"] = peer(settings, X, y)
    if path:
        path.write_text(json.dumps(table, indent=1) + "\n")
    return {k: tuple(table[f"{name}/{k}"]) for k in PEERS}


def section(folder: Path, rows: int, peers: Path | None) -> list[str]:
    """The page but for its introduction, as lines."""
    losses: dict[str, list[str]] = {name: [name] for name in (*OURS, *PEERS)}
    times: dict[str, list[str]] = {name: [name] for name in (*OURS, *PEERS)}
    header, wins, beyond = [""], 0, []
    for name in FILES:
        X, y = stream(folder, name)
        X, y = np.ascontiguousarray(X[:rows]), y[:rows]
        header.append(f"{name}, {len(y):,} x {X.shape[1]}")
        theirs = kept(peers, name, X, y)
        best = min(loss for loss, _, _ in theirs.values())
        for k, run in OURS.items():
            begin = process_time()
            loss = lost(run(X, y), y)
            times[k].append(f"{(process_time() - begin) / len(y) * 1e6:,.0f}")
            losses[k].append(f"{loss:.4f} ({loss / best:.3f})")
            if k == "AutoClassifier":
                wins += loss <= best
                beyond += [] if loss <= best else [f"{name} {loss / best:.3f}"]
        for k, (loss, setting, each) in theirs.items():
            text = f"**{loss:.4f}**" if loss == best else f"{loss:.4f}"
            losses[k].append(f"{text} [{setting}]" if setting else text)
            times[k].append(f"{each * 1e6:,.0f}")
        print(name, *(f"{k} {v[-1]};" for k, v in losses.items()), flush=True)
    verdict = "met" if wins >= WINS else "**missed**"
    lower = f"AutoClassifier lost at most what the best peer did on {wins} of {len(FILES)} files"
    return [
        "## Log loss",
        "",
        *table(header, losses.values()),
        "",
        f"{lower}; target: {WINS} ({verdict}). Elsewhere: {', '.join(beyond) or 'nowhere'}.",
        "",
        "## Microseconds per row",
        "",
        "Processor time to forecast and learn, one setting of each; replays where there are any.",
        "",
        *table(header, times.values()),
        "",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=data.FOLDER)
    parser.add_argument("--quick", action="store_true", help=f"the first {QUICK:,} rows only")
    parser.add_argument("--peers", type=Path, help="a file for the others' figures")
    options = parser.parse_args()
    if not data.there(options.data):
        return
    warnings.filterwarnings("ignore", message="X does not have valid feature names")
    begin = perf_counter()
    with threadpool_limits(1):
        lines = section(options.data, QUICK if options.quick else ROWS, options.peers)
    page = "\n".join([INTRODUCTION, machine(), *lines])
    if options.quick:
        print(page)
        return
    PAGE.write_text(page, encoding="utf-8")
    print(f"wrote docs/{PAGE.name} after {perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
