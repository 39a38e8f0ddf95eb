"""Regret of each learner on the streams of the lower-bound proofs, as the stream grows.

    python benchmarks/adversaries.py

Writes docs/adversaries.md and docs/adversaries.svg.
"""

from __future__ import annotations

import math
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot as plt
from page import table

from noregret.adversaries import doubling, reversal
from noregret.reproduce.lower_bounds import (
    CONTESTANTS,
    FEATURES,
    LIMIT,
    ROUNDS,
    log_det,
    margin,
    on_opponent,
    on_stream,
)

DOCS = Path(__file__).resolve().parents[1] / "docs"
INTRODUCTION = """\
# Adversaries

Written by `python benchmarks/adversaries.py`.

The streams of `noregret.adversaries` come from the proofs of lower bounds: they show what a
learner, or any learner, cannot do better. All learners have a = 1. Regret is loss minus V, the
least regularised loss of any expert in hindsight; it is negative where a learner pays less. In
square loss `BayesianRidge` is `Ridge`: their means agree.

![Regret on three adversaries as the number of rounds grows](adversaries.svg)
"""
DOUBLING = f"""\
## Doubling: how large the factor of clipped ridge must be

x = 2^t, y = (-1)^t (Vovk 2001, Theorem 3; Zhdanov and Vovk, after (3)); square loss. The theorem
about clipped ridge allows a regret of 4Λ, where Λ = ln det(I + X'X/a); AAR's allows Λ. In brackets:
regret divided by Λ. Ridge forecasts nearly -y, which the clip admits, and comes as near to
3/(2 ln 2) = {LIMIT:.4f} as one likes, from below: no smaller number could stand in place of the 4.
AAR forecasts a quarter of that and tends to 9/(32 ln 2) = {9 / (32 * math.log(2)):.4f}.
"""
BAYES = f"""\
## Opponent of Bayes: no learner does better

Kakade and Ng, Theorem 2.3, with {FEATURES} features and noise variance 1; log loss, where a
number g counts as the forecast N(g, 1). The opponent sees each forecast and picks an outcome to
which Bayesian ridge gave no less density. So no learner has a regret below the bound, which is
1/2 Σ ln(1 + T_k/a) with T_k the rounds of feature k, and `BayesianRidge` meets it exactly. Ridge
has the same means with too small a variance, which costs less than one nat in all. AAR's means
are shrunk: the opponent answers on the far side, and as nothing bounds its outcomes, they grow
slowly.
"""
REVERSAL = """\
## Reversal: ridge pays for every round

Kakade and Ng, Theorem 3.2: T - 1 times x = 1/√(T - 1), y = 1, then x = 1, y = 0; square loss, twice
that of the paper. In brackets: regret divided by T - 1. Ridge forecasts √(T - 1)/2 in the last
round, so its regret exceeds (T - 1)/12, though no x or y is larger than 1. The paper's figures give
three times that: its loss of the best expert leaves out the last round. AAR divides by d = 3/2
there, because x is new, and the clip limits the forecast to 1: both pay less than V on long
streams.
"""

Found = list[dict[str, float]]
"""For each number of rounds, regret by contestant."""


def shown(
    found: Found, head: str, column: list[float], units: list[float] | None = None
) -> list[str]:
    """A row for each number of rounds: regrets, what the theorem says, regrets in its units."""
    body = []
    for i, (T, row) in enumerate(zip(ROUNDS, found, strict=True)):
        cells = [f"{v:.2f}" + (f" ({v / units[i]:.3f})" if units else "") for v in row.values()]
        body.append([f"{T:,}", f"{column[i]:.2f}", *cells])
    return [*table(["rounds", head, *CONTESTANTS], body), ""]


def draw(ax, found: Found, units: list[float]) -> None:
    for k, name in enumerate(CONTESTANTS):
        ax.plot(
            ROUNDS,
            [row[name] / unit for row, unit in zip(found, units, strict=True)],
            marker="osD^vP*X"[k % 8],
            markerfacecolor="none",
            markersize=11 - 2 * (k % 4),  # learners that coincide are all seen
            linestyle=("-", "--", "-", ":")[k % 4],
            color=f"C{k}",
            label=name,
        )
    ax.set(xscale="log", xlabel="rounds T")
    ax.set_xticks(ROUNDS, [f"{T:,}" for T in ROUNDS])
    ax.set_xticks([], minor=True)
    ax.grid(visible=True, alpha=0.25)


def say(ax, words: str, x: float, y: float, shift: int) -> None:
    right = x == ROUNDS[-1]
    ax.annotate(
        words, (x, y), (0, shift), textcoords="offset points", ha="right" if right else "left"
    )


def main() -> None:
    logs = [log_det(T) for T in ROUNDS]
    margins = [margin(T) for T in ROUNDS]
    ones, lengths = [1.0] * len(ROUNDS), [T - 1.0 for T in ROUNDS]
    doubled = [on_stream(*doubling(T)) for T in ROUNDS]
    answered = [on_opponent(T) for T in ROUNDS]
    turned = [on_stream(*reversal(T)) for T in ROUNDS]
    parts = [
        *(INTRODUCTION, DOUBLING, *shown(doubled, "4Λ", [4.0 * v for v in logs], logs)),
        *(BAYES, *shown(answered, "bound", margins)),
        *(REVERSAL, *shown(turned, "(T - 1)/12", [v / 12.0 for v in lengths], lengths)),
    ]
    (DOCS / "adversaries.md").write_text("\n".join(parts), encoding="utf-8")

    mpl.rcParams.update({"svg.hashsalt": "noregret", "font.size": 9})
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(10.5, 3.9), layout="constrained")
    figure.get_layout_engine().set(wspace=0.06)
    grey = {"color": "0.4", "linewidth": 1.0, "zorder": 0}
    draw(left, doubled, logs)
    for height, words in (
        (4.0, "allowed to clipped ridge"),
        (LIMIT, "3/(2 ln 2)"),
        (1.0, "allowed to AAR"),
    ):
        left.axhline(height, linestyle="-.", **grey)
        say(left, words, ROUNDS[0], height, 8)
    left.set(title="Doubling", ylabel="regret / ln det(I + X'X/a)")
    left.margins(y=0.12)
    draw(middle, answered, ones)
    middle.fill_between(ROUNDS, 1.0, margins, color="0.88", zorder=0)
    say(middle, "nobody can be here", ROUNDS[-1], 1.0, 12)
    middle.set(
        title="Opponent of Bayes", ylabel="regret in log loss", yscale="log", ylim=(1.0, None)
    )
    middle.set_yticks([1, 3, 10, 30, 100], ["1", "3", "10", "30", "100"])
    middle.set_yticks([], minor=True)
    draw(right, turned, lengths)
    for height, words in ((1.0 / 12.0, "1/12"), (0.0, "best expert")):
        right.axhline(height, linestyle="-.", **grey)
        say(right, words, ROUNDS[-1], height, -17)
    right.set(title="Reversal", ylabel="regret / (T - 1)")
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figure.savefig(DOCS / "adversaries.svg", metadata={"Date": None})
    print("wrote docs/adversaries.md, docs/adversaries.svg")


if __name__ == "__main__":
    main()
