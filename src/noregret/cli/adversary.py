"""noregret adversary: a learner against the stream of a lower-bound proof."""

from __future__ import annotations

import click

from noregret.cli.options import model_options, parameters_of
from noregret.registry import make

__all__ = ["command"]

NAMES = ("doubling", "reversal", "bayes-opponent")

EXAMPLES = """\b
Examples:
  noregret adversary doubling --model ridge --clip 1
  noregret adversary reversal --model ridge --rounds 1000
  noregret adversary bayes-opponent --model bayesian-ridge --n 5

\b
The adversaries:
  doubling        x = 2^t, y = (-1)^t (Vovk 2001): how large clipped ridge's factor must be
  reversal        ridge pays for every round (Kakade and Ng, Theorem 3.2)
  bayes-opponent  sees each forecast; nobody does better than Bayes (Theorem 2.3); log loss

Exit codes: 0 well, 1 a certificate fails, 2 bad input.
"""


@click.command("adversary", epilog=EXAMPLES)
@click.argument("name", type=click.Choice(NAMES), metavar="NAME")
@model_options
@click.option("--rounds", type=click.IntRange(2), default=100, show_default=True)
@click.option("--n", type=click.IntRange(1), default=3, show_default=True, help="Its features.")
def command(name: str, model: str, rounds: int, n: int, **options: object) -> int:
    """Play a learner against NAME, the stream of a lower-bound proof."""
    from noregret import adversaries
    from noregret.cli import show

    learner = make(model, parameters_of(options))
    screen = show.console()
    if name == "bayes-opponent":
        opponent = adversaries.BayesOpponent(rounds, n)
        loss = float(adversaries.play(opponent, learner).loss.sum())
        rows = [
            ["log loss", show.number(loss)],
            ["best in hindsight", show.number(opponent.best)],
            ["regret", show.number(loss - opponent.best)],
            ["nobody's regret is below", show.number(opponent.margin)],
        ]
    else:
        X, y = getattr(adversaries, name)(rounds)
        loss = float(adversaries.play((X, y), learner).loss.sum())
        best = make("ridge").fit(X, y).certificate().comparator
        rows = [
            ["square loss", show.number(loss)],
            ["best in hindsight (a = 1)", show.number(best)],
            ["regret", show.number(loss - best)],
        ]
    screen.print(show.grid(f"{model} against {name}, {rounds} rounds", ["", ""], rows))
    found = learner.certificates()
    screen.print(show.certificates(found))
    return show.exit_code(found)
