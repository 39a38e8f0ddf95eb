"""Forecast an hourly electricity load with five learners, one round at a time, with proofs.

`noregret demo` does the same in one command.  The stream is synthetic: the load follows the hour,
the weekend and the weather, but how strongly it follows them wanders from week to week, and halfway
a large customer moves in.  No learner is told.  Exit code 1 if any certificate fails.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import numpy.typing as npt

import noregret as nr
from noregret.cli.demo import FEATURES, LARGEST, load_stream

Floats = npt.NDArray[np.float64]
Learner = nr.Ridge | nr.BayesianRidge | nr.AAR

ROUNDS = 2000
ROW = "{:<26} {:>6} {:>10} {:>10} {:>10} {:>9} {:>6} {:>9}"


@dataclass(frozen=True)
class Run:
    """One learner after the whole stream."""

    name: str
    certificates: list[nr.Certificate]
    rmse: float
    microseconds: float

    def row(self) -> str:
        """One line of the table, from the main certificate."""
        main = self.certificates[0]
        return ROW.format(
            self.name,
            f"{self.rmse:.3f}",
            f"{main.loss:.2f}",
            f"{main.comparator:.2f}",
            "-" if main.bound is None else f"{main.bound:.2f}",
            "-" if main.slack is None else f"{round(main.slack, 2) + 0.0:.2f}",
            {True: "yes", False: "NO", None: "-"}[main.holds],
            f"{self.microseconds:.1f}",
        )


def run(name: str, learner: Learner, X: Floats, y: Floats) -> Run:
    """Predict, then learn, round by round: no forecast has seen its own outcome."""
    xs, ys = list(X), y.tolist()
    forecasts = np.empty(len(ys))
    spent = np.empty(len(ys))
    for t, (x, outcome) in enumerate(zip(xs, ys)):
        start = perf_counter()
        forecasts[t] = learner.predict_one(x)
        learner.learn_one(x, outcome)
        spent[t] = perf_counter() - start
    rmse = float(np.sqrt(np.mean((y - forecasts) ** 2)))
    return Run(name, learner.certificates(), rmse, 1e6 * float(np.median(spent)))


def in_words(name: str, one: nr.Certificate) -> str:
    """The same numbers as sentences."""
    return f"""In words, for {name}:
  Over {one.rounds} rounds it paid {one.loss:.2f}.  An expert of its class who saw the whole stream
  beforehand would have paid {one.comparator:.2f}, what it is charged for changing included.
  The theorem allows {one.bound:.2f}, however the load comes about; this condition is checked:
  {one.assumptions[0].text}."""


def main() -> int:
    """Run the stream through every learner, print, and count what fails."""
    print(f"{ROUNDS} hours of load; features: {', '.join(FEATURES)}, and a constant.")
    print("Each hour: forecast first, then see the load and learn it.\n")
    X, y = load_stream(ROUNDS)
    learners: dict[str, Learner] = {
        "Ridge (1)": nr.Ridge(fit_intercept=True),
        "Ridge, clipped": nr.Ridge(clip=LARGEST, fit_intercept=True),
        "BayesianRidge (2)": nr.BayesianRidge(noise_var=0.1, fit_intercept=True),
        "AAR": nr.AAR(fit_intercept=True),
        "AAR with drift (AARCh) (3)": nr.AAR(drift=1e-3, fit_intercept=True),
    }
    run("warm-up", nr.AAR(drift=1e-3), X[:9], y[:9])
    runs = [run(name, learner, X, y) for name, learner in learners.items()]

    print(ROW.format("", "", "", "best in", "", "", "", "us per"))
    print(ROW.format("learner", "RMSE", "loss", "hindsight", "bound", "slack", "holds", "round"))
    for done in runs:
        print(done.row())
    print("\n(1) an equality, so no slack: the loss shown is the weighted sum of (y - m)^2/d")
    print("(2) an equality too: the loss shown is the log loss, -ln of the density at the outcome")
    print("(3) its experts may change at a charge: the best of them does better, and so does it\n")

    every = [(done.name, one) for done in runs for one in done.certificates]
    chosen = runs[-1].certificates[0]
    if chosen.bound is not None:
        print(in_words("AAR with drift", chosen), end="\n\n")
    print(f"As the library prints it:\n\n{chosen}\n")

    failed = [(name, one) for name, one in every if one.holds is not True]
    for name, one in failed:
        print(f"{name}\n{one}\n", file=sys.stderr)
    print(f"{len(every) - len(failed)} of {len(every)} certificates of these learners hold.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
