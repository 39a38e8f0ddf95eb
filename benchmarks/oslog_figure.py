"""Figure 2 of the paper of OSLOG: sparsity and multicollinearity, simulated."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from os import cpu_count
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.ticker import LogLocator, NullLocator
from page import table
from threadpoolctl import threadpool_limits

import noregret as nr

ROUNDS, FEATURES, SEEDS, TUNED = 1_000, 100, 20, 200
GRID = np.geomspace(0.01, 10_000.0, 13)  # of a for AAR and Ridge
SHORT = GRID[1:9]  # for OSLOG, whose rounds cost more
FLOOR = 1e-3
ACTIVE = (2, 5, 10, 20, 40, 60, 80, 100)
CORRELATIONS = tuple(round(0.1 * k, 1) for k in range(1, 10))
OSLOG, FLOORED, SAFE, AAR, RIDGE = "OSLOG", f"OSLOG, floor {FLOOR:g}", "SafeOSLOG", "AAR", "Ridge"
LEARNERS = (OSLOG, FLOORED, SAFE, AAR, RIDGE)
SPANS = {"all rounds": 0, "from round 2": 1, f"from round {TUNED + 1}": TUNED}
ALL, SECOND, LATE = SPANS

WORDS = f"""\
## Figure 2: sparsity and multicollinearity

y = w'x + noise, {ROUNDS:,} rounds, {FEATURES} predictors; the RMSE is that of forecasts one step
ahead. For sparsity the paper gives these numbers and that 2 to 100 predictors are active; for
multicollinearity only Cov_ij = m^|i-j|. Chosen here, because it says nothing of them: coefficients
N(0, 1), at random places; noise of standard deviation 1, which is the RMSE of who knows w; no
scaling, no intercept, `start = 1`. Every learner takes, for every seed, the a with the least loss
on the first {TUNED} rounds; then all rounds are played from the start. AAR and Ridge choose from
{len(GRID)} values, {GRID[0]:g} to {GRID[-1]:,.0f}, OSLOG from {len(SHORT)}, {SHORT[0]:.2g} to
{SHORT[-1]:g}, two a decade (it takes the least in @ % of the cases). SafeOSLOG has the a of OSLOG
and of AAR and learns its range. Means over {SEEDS} seeds; the bands are two standard errors either
way. A seed has the same noise, coefficients and underlying normal numbers in all settings. The
figures show RMSE - 1 for the rounds after {TUNED}, on a log scale, as most of it is close to 1.

In the tables: RMSE over all rounds / from round 2 / from round {TUNED + 1}; and in how many of the
{SEEDS} seeds OSLOG is below AAR, and below Ridge, over all rounds.
"""
COLLINEARITY = """\
The same with correlated predictors, for three kinds of coefficients.
"""


@dataclass(frozen=True, slots=True)
class Setting:
    """What is simulated: how many predictors count, and Cov_ij = m^|i-j|."""

    active: int
    m: float = 0.0
    positive: bool = False

    def __str__(self) -> str:
        return f"{self.active} active, coefficients {'|N(0, 1)|' if self.positive else 'N(0, 1)'}"

    def draw(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        X, noise = rng.standard_normal((ROUNDS, FEATURES)), rng.standard_normal(ROUNDS)
        w, order = rng.standard_normal(FEATURES), rng.permutation(FEATURES)
        for j in range(1, FEATURES):
            X[:, j] = self.m * X[:, j - 1] + np.sqrt(1.0 - self.m**2) * X[:, j]
        if self.positive:
            w = np.abs(w)
        w[order[self.active :]] = 0.0
        return X, X @ w + noise


KINDS = (Setting(10), Setting(FEATURES), Setting(FEATURES, positive=True))
"""What multicollinearity is tried on."""


@dataclass(frozen=True, slots=True)
class Results:
    """By setting: RMSE, a row a seed, a column a learner, a layer a span; and a chosen."""

    errors: dict[Setting, np.ndarray]
    chosen: dict[Setting, np.ndarray]

    def of(self, setting: Setting, learner: str, span: str) -> np.ndarray:
        """One number a seed."""
        return self.errors[setting][:, LEARNERS.index(learner), list(SPANS).index(span)]

    def mean(self, setting: Setting, learner: str, span: str = ALL) -> float:
        return float(self.of(setting, learner, span).mean())

    def span(self, settings: list[Setting], learner: str, span: str = ALL) -> str:
        """From the first setting to the last, in words."""
        ends = [self.mean(setting, learner, span) for setting in (settings[0], settings[-1])]
        return f"{ends[0]:.2f} to {ends[1]:.2f}"

    def smallest(self) -> float:
        """The share of cases in which OSLOG took the smallest a."""
        chosen = np.array([found[:, LEARNERS.index(OSLOG)] for found in self.chosen.values()])
        return float((chosen == SHORT[0]).mean())

    def wins(self, setting: Setting, learner: str, other: str, span: str = ALL) -> int:
        """In how many seeds the learner has the lower RMSE."""
        return int((self.of(setting, learner, span) < self.of(setting, other, span)).sum())


def trial(setting: Setting, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """RMSE by learner and span, and a by learner, of one seed."""
    X, y = setting.draw(seed)
    makers: dict[str, Callable[[float], Any]] = {
        OSLOG: nr.OSLOG,
        FLOORED: lambda a: nr.OSLOG(a, floor=FLOOR),
        AAR: nr.AAR,
        RIDGE: nr.Ridge,
    }
    chosen = {}
    for name, make in makers.items():
        values = GRID if name in (AAR, RIDGE) else SHORT
        trials = [make(a).replay(X[:TUNED], y[:TUNED]).loss.sum() for a in values]
        chosen[name] = float(values[int(np.argmin(trials))])
    losses = {name: make(chosen[name]).replay(X, y).loss for name, make in makers.items()}
    losses[SAFE] = nr.SafeOSLOG(chosen[OSLOG], chosen[AAR]).replay(X, y).loss
    chosen[SAFE] = chosen[OSLOG]
    errors = [[np.sqrt(losses[k][s:].mean()) for s in SPANS.values()] for k in LEARNERS]
    return np.array(errors), np.array([chosen[k] for k in LEARNERS])


def results() -> Results:
    """Everything, on all cores."""
    settings = [Setting(k) for k in ACTIVE]
    settings += [replace(kind, m=m) for kind in KINDS for m in CORRELATIONS]
    cases = [(setting, seed) for setting in settings for seed in range(SEEDS)]
    with ProcessPoolExecutor(cpu_count(), initializer=threadpool_limits, initargs=(1,)) as workers:
        found = list(workers.map(trial, *zip(*cases), chunksize=5))
    parts = [found[i : i + SEEDS] for i in range(0, len(found), SEEDS)]
    return Results(
        {s: np.array([errors for errors, _ in p]) for s, p in zip(settings, parts)},
        {s: np.array([chosen for _, chosen in p]) for s, p in zip(settings, parts)},
    )


def shown(found: Results, head: str, rows: Iterable[tuple[str, Setting]]) -> list[str]:
    """RMSE of all rounds / from round 2 / after the tuning rounds."""
    body = []
    for name, setting in rows:
        cells = [
            " / ".join(f"{found.mean(setting, learner, span):.2f}" for span in SPANS)
            for learner in LEARNERS
        ]
        won = [found.wins(setting, OSLOG, other) for other in (AAR, RIDGE)]
        body.append([name, *cells, f"{won[0]}, {won[1]}"])
    return [*table([head, *LEARNERS, "OSLOG below AAR, Ridge"], body), ""]


def lines(
    ax, found: Results, across: tuple[float, ...], settings: list[Setting], span: str
) -> None:
    """Mean and two standard errors either way, a line a learner."""
    for k, learner in enumerate(LEARNERS):
        values = np.array([found.of(setting, learner, span) for setting in settings])
        values -= float(span == LATE)  # the noise
        middle = values.mean(axis=1)
        error = 2.0 * values.std(axis=1, ddof=1) / np.sqrt(SEEDS)
        ax.fill_between(across, middle - error, middle + error, color=f"C{k}", alpha=0.18, lw=0)
        ax.plot(
            across,
            middle,
            color=f"C{k}",
            marker="osD^v"[k],
            markerfacecolor="none",
            markersize=8 - k,
            linestyle=("-", "--", ":", "-", "-")[k],
            label=learner,
        )
    if span == LATE:
        ax.set_yscale("log")
        ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.yaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_minor_locator(NullLocator())
    else:
        ax.axhline(1.0, color="0.4", linestyle="-.", linewidth=1.0, zorder=0)
        ax.annotate("noise", (max(across), 1.0), (0, 4), textcoords="offset points", ha="right")
    ax.grid(visible=True, alpha=0.25)


def draw(found: Results, docs: Path) -> None:
    mpl.rcParams.update({"svg.hashsalt": "noregret", "font.size": 9})
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 4.0), layout="constrained")
    for ax, span in zip(axes, (ALL, LATE)):
        lines(ax, found, ACTIVE, [Setting(k) for k in ACTIVE], span)
        ax.set(title=span.capitalize(), xlabel=f"active predictors, of {FEATURES}")
        ax.set_ylabel("RMSE" if span == ALL else "RMSE - 1")
    handles = axes[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=len(LEARNERS))
    figure.savefig(docs / "oslog-sparsity.svg", metadata={"Date": None})
    plt.close(figure)

    figure, grid = plt.subplots(2, 3, figsize=(10.5, 6.6), layout="constrained", sharex=True)
    for row, span in zip(grid, (ALL, LATE)):
        for ax, kind in zip(row, KINDS):
            lines(ax, found, CORRELATIONS, [replace(kind, m=m) for m in CORRELATIONS], span)
        row[0].set_ylabel(f"RMSE{' - 1' if span == LATE else ''}, {span}")
    for top, bottom, kind in zip(grid[0], grid[1], KINDS):
        top.set_title(str(kind))
        bottom.set(xlabel="m", xticks=CORRELATIONS)
    handles = grid[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=len(LEARNERS))
    figure.savefig(docs / "oslog-collinearity.svg", metadata={"Date": None})
    plt.close(figure)


def sparsity_words(found: Results) -> str:
    """The paper's words beside these figures."""
    few = [Setting(k) for k in ACTIVE]
    last = max(k for k in ACTIVE if found.mean(Setting(k), OSLOG) < found.mean(Setting(k), RIDGE))
    return f"""\
The paper: "as the sparsity decreases, the RMSE increases for both AAR and OSLOG", and OSLOG handles
sparsity better. Both are seen here. From {ACTIVE[0]} to {ACTIVE[-1]} active predictors the RMSE
over all rounds goes from {found.span(few, OSLOG)} for OSLOG and from {found.span(few, AAR)} for
AAR; but from {found.span(few, RIDGE)} for Ridge too, as more active predictors are a larger y to
learn from nothing. From round {TUNED + 1} OSLOG rises from {found.span(few, OSLOG, LATE)} only,
AAR from {found.span(few, AAR, LATE)}: AAR divides its forecasts by 1 + x'A^-1 x, which costs most
where there are many predictors. Ridge, which the paper leaves out of this figure, is the better
comparison: OSLOG has the lower mean up to {last} active predictors and the higher one beyond.
SafeOSLOG follows OSLOG, the later the wider the range of the outcomes: its learning rate is
2/(hi - lo)^2. The floor lowers the RMSE a little.
"""


def collinearity_words(found: Results) -> str:
    """The paper's words beside these figures."""
    few, many, positive = [[replace(kind, m=m) for m in CORRELATIONS] for kind in KINDS]
    above = ", ".join(f"{s.m}" for s in few if found.mean(s, OSLOG) > found.mean(s, AAR))
    below = max(s.m for s in few if found.mean(s, OSLOG) < found.mean(s, RIDGE))
    dense = (*many, *positive)
    apart = max(abs(found.mean(s, OSLOG, LATE) - found.mean(s, RIDGE, LATE)) for s in dense)
    if (
        any(found.mean(s, OSLOG, SECOND) > found.mean(s, RIDGE, SECOND) for s in few)
        or any(found.mean(s, OSLOG) < found.mean(s, RIDGE) for s in dense)
        or any(found.mean(s, OSLOG) > found.mean(s, AAR) for s in dense)
    ):
        raise SystemExit("the words about multicollinearity are not true of this run")
    return f"""\
The paper: "no clear pattern" for OSLOG, "as multicollinearity increases, RMSE also increases" for
AAR, and OSLOG handles it better. From m = {CORRELATIONS[0]} to {CORRELATIONS[-1]}, all rounds:

- With coefficients of either sign the opposite is seen for AAR: its RMSE falls, from
  {found.span(few, AAR)} with 10 active and from {found.span(many, AAR)} with 100; so does that of
  Ridge.
- OSLOG rises from {found.span(few, OSLOG)} with 10 active, but only because of round 1: the first
  forecast is the sum of all features, and its variance grows with m. From round 2 it falls, from
  {found.span(few, OSLOG, SECOND)}. With 100 active it falls in any case, from
  {found.span(many, OSLOG)}.
- With coefficients of one sign AAR rises as the paper says, from {found.span(positive, AAR)}, and
  OSLOG a little, from {found.span(positive, OSLOG)}; Ridge stays, {found.span(positive, RIDGE)}.
  The variance of y grows with m there. So the paper's plot may have had such coefficients; it does
  not say.
- OSLOG has a lower mean than AAR everywhere but, over all rounds, with 10 active and m = {above}.
  Ridge it beats only with 10 active: over all rounds up to m = {below}, from round 2 at every m.
  With 100 active Ridge wins; from round {TUNED + 1} the two are within {apart:.2f}.
- SafeOSLOG falls behind OSLOG where m is large: what OSLOG lost in round 1 counts against it, and a
  wide range of outcomes makes the pool slow.
"""


def part(docs: Path) -> str:
    """The figures, and the part of the page that shows them."""
    print("figure 2", flush=True)
    found = results()
    draw(found, docs)
    parts = [
        WORDS.replace("@", f"{100.0 * found.smallest():.0f}"),
        *("### Sparsity\n", "![RMSE as more predictors count](oslog-sparsity.svg)\n"),
        *shown(found, "active", [(str(k), Setting(k)) for k in ACTIVE]),
        sparsity_words(found),
        *("### Multicollinearity\n", "![RMSE as correlation grows](oslog-collinearity.svg)\n"),
        COLLINEARITY,
    ]
    for kind in KINDS:
        rows = [(f"{m:g}", replace(kind, m=m)) for m in CORRELATIONS[::2]]
        parts += [f"{kind}:\n", *shown(found, "m", rows)]
    return "\n".join([*parts, collinearity_words(found)])
