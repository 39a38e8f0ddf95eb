"""noregret demo: a stream made up here, several learners, their proofs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from noregret.types import Matrix, Vector

__all__ = ["command", "load_stream"]

FEATURES = ("day sin", "day cos", "half-day cos", "weekend", "cold", "hot")
REMARKS = {"ridge": " (1)", "bayesian-ridge": " (2)", "aar, drift 0.001": " (3)"}
PAGE = "noregret-demo.html"
LARGEST = 2.5  # |y| never exceeds this; only clipped ridge is told

EXAMPLES = """\b
Examples:
  noregret demo
  noregret demo --data demo.csv               # keep the stream, to play with
  noregret demo --report page.html            # where the page goes
  noregret compare demo.csv --target load
  noregret demo --rounds 500 --data demo.db   # a table `stream` of SQLite

Exit codes: 0 all certificates hold, 1 one does not.
"""


def load_stream(rounds: int, seed: int = 7) -> tuple[Matrix, Vector]:
    """Features (T, 6) and the load, in gigawatts above or below the usual level."""
    import numpy as np

    rng = np.random.default_rng(seed)
    hour = np.arange(rounds)
    day = 2.0 * np.pi * hour / 24.0
    weather = np.zeros(rounds)
    for t in range(1, rounds):
        weather[t] = 0.98 * weather[t - 1] + 0.7 * rng.normal()
    celsius = 16.0 + weather - 4.0 * np.cos(day)
    X = np.column_stack(
        [
            np.sin(day),
            np.cos(day),
            np.cos(2.0 * day),
            (hour // 24) % 7 >= 5,
            np.clip(15.0 - celsius, 0.0, None) / 10.0,
            np.clip(celsius - 20.0, 0.0, None) / 10.0,
        ]
    )
    start = np.array([-0.3, -0.7, 0.2, -0.5, 0.8, 0.6])
    weights = start + np.cumsum(0.015 * rng.normal(size=(rounds, start.size)), axis=0)
    level = np.where(hour < rounds // 2, 0.0, 0.6)  # the new customer
    y = level + np.einsum("tj,tj->t", X, weights) + 0.1 * rng.normal(size=rounds)
    return X, np.clip(y, -LARGEST, LARGEST)


def _keep(place: str, table: Matrix) -> None:
    """The stream as a file: CSV, Parquet, or a table `stream` of SQLite."""
    import sqlite3

    from noregret.cli.output import open_output
    from noregret.errors import ParameterError

    names = [*FEATURES, "load"]
    if place.endswith((".csv", ".parquet")):
        output = open_output(place, None)
        output.write(dict(zip(names, table.T)))
        output.close()
    elif place.endswith(".db"):
        connection = sqlite3.connect(place)
        with connection:
            columns = ", ".join(f'"{name}" REAL' for name in names)
            connection.execute("DROP TABLE IF EXISTS stream")
            connection.execute(f"CREATE TABLE stream ({columns})")
            marks = ", ".join("?" * len(names))
            connection.executemany(f"INSERT INTO stream VALUES ({marks})", table.tolist())  # noqa: S608
        connection.close()
    else:
        raise ParameterError(f"--data {place}: end it in .csv, .parquet or .db")


@click.command("demo", epilog=EXAMPLES)
@click.option("--rounds", type=click.IntRange(10, 1_000_000), default=2000, show_default=True)
@click.option("--data", metavar="FILE", help="Keep the stream: .csv, .parquet or .db.")
@click.option("--report", metavar="FILE", default=PAGE, show_default=True, help="A page in HTML.")
def command(rounds: int, data: str | None, report: str) -> int:
    """Forecast an hourly electricity load with five learners, and check every proof.

    The stream is synthetic: the load follows the hour, the weekend and the weather, but how
    strongly it follows them wanders from week to week, and halfway a large customer moves in. No
    learner is told.
    """
    import numpy as np

    from noregret import report as reports
    from noregret.cli import show
    from noregret.cli.session import record, recorded
    from noregret.inputs.tables import Frame
    from noregret.registry import make
    from noregret.running.player import Player
    from noregret.sources.encoding import Piece

    X, y = load_stream(rounds)
    if data is not None:
        _keep(data, np.column_stack([X, y]))
    screen = show.console()
    screen.print(
        f"{rounds:,} hours of load; features: {', '.join(FEATURES)}, and a constant.\n"
        "Each hour: forecast first, then see the load and learn it.\n"
    )
    learners = {
        "ridge": make("ridge", {"fit_intercept": True}),
        "ridge, clipped": make("ridge", {"fit_intercept": True, "clip": LARGEST}),
        "bayesian-ridge": make("bayesian-ridge", {"fit_intercept": True, "noise_var": 0.1}),
        "aar": make("aar", {"fit_intercept": True}),
        "aar, drift 0.001": make("aar", {"fit_intercept": True, "drift": 1e-3}),
        "auto": make("auto"),
    }
    piece = Piece(Frame(FEATURES, X), y, np.arange(1, rounds + 1), None)
    players = [Player(name, learner) for name, learner in learners.items()]
    record(report, players)
    rows, every = [], []
    for player in players:
        name = player.name + REMARKS.get(player.name, "")
        player.play(piece)
        found = player.certificates()
        every += found
        rows.append([name, f"{player.rmse:.3f}", *show.sides(found[0])])
    screen.print(show.grid("", ["learner", "RMSE", *show.HEAD], rows))
    screen.print(
        "(1) an equality, so no slack: the loss shown is the weighted sum of (y - m)^2/d\n"
        "(2) an equality too: the loss shown is the log loss, -ln of the density at the outcome\n"
        "(3) its experts may change at a charge: the best of them does better, and so does it\n"
    )
    screen.print(f"As the library prints it:\n\n{learners['aar'].certificate()}\n", markup=False)
    verdicts = [one.holds for one in every]
    screen.print(f"{verdicts.count(True)} certificates hold, {verdicts.count(False)} fail.")
    about = {
        "data": f"{rounds:,} hours of a made-up electricity load, in gigawatts above the usual",
        "features": f"{', '.join(FEATURES)}, and a constant",
        "learners": "\n".join(" ".join(repr(one).split()) for one in learners.values()),
        "story": "how the load follows its features wanders; halfway a large customer moves in",
    }
    reports.write(report, recorded(players), title="Forecasting an hourly load", about=about)
    screen.print(f"Report: {report}", markup=False, soft_wrap=True)
    return show.exit_code(every)
