"""noregret bench: rounds per second on this machine."""

from __future__ import annotations

import click

from noregret.registry import MODELS, make

__all__ = ["command"]

EXAMPLES = """\b
Examples:
  noregret bench
  noregret bench --models aar,auto --n 50 --rounds 20000

Times are medians of five runs in memory, compilation not counted; on a busy machine trust ratios.
"""


@click.command("bench", epilog=EXAMPLES)
@click.option("--models", default="ridge,aar,bayesian-ridge,oslog,auto", show_default=True)
@click.option("--n", type=click.IntRange(1, 5_000), default=10, show_default=True, help="Features.")
@click.option("--rounds", type=click.IntRange(10), default=5_000, show_default=True)
def command(models: str, n: int, rounds: int) -> None:
    """How many rounds per second the learners do here, one at a time and replayed."""
    from statistics import median
    from time import perf_counter

    import numpy as np

    from noregret.cli import show
    from noregret.errors import ParameterError

    rng = np.random.default_rng(0)
    X = rng.standard_normal((rounds, n))
    y = X @ rng.standard_normal(n) + rng.standard_normal(rounds)
    few = list(zip(list(X), y.tolist()))[: max(10, rounds // 10)]
    rows = []
    for name in models.split(","):
        if name in MODELS and MODELS[name].binary:
            raise ParameterError(f"{name} takes binary outcomes: bench plays numbers")
        make(name).replay(X[:9], y[:9])
        singles, replays = [], []
        for turn in range(6):
            learner, begin = make(name), perf_counter()
            for x, outcome in few:
                learner.predict_one(x)
                learner.learn_one(x, outcome)
            middle, other = perf_counter(), make(name)
            between = perf_counter()
            other.replay(X, y)
            if turn:  # the first one warms up
                singles.append((middle - begin) / len(few))
                replays.append((perf_counter() - between) / rounds)
        rows.append([name, *(f"{1.0 / median(times):,.0f}" for times in (singles, replays))])
    head = ["learner", "rounds/s, one at a time", "rounds/s, replayed"]
    show.console().print(show.grid(f"{n} features, {rounds:,} rounds", head, rows))
