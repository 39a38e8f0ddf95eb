"""Figure 2 of the paper of OSLOG: sparsity and multicollinearity, simulated and drawn."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from os import cpu_count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret import sparse
from noregret.declare.extras import module
from noregret.experts.safe import SafeOSLOG
from noregret.gaussian import learners as gaussian
from noregret.reproduce.shown import Shown
from noregret.running.player import Playable
from noregret.types import Matrix, Vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Results", "Setting", "draw", "figure2", "results", "trial"]

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


@dataclass(frozen=True, slots=True)
class Setting:
    """What is simulated: how many predictors count, and Cov_ij = m^|i-j|."""

    active: int
    m: float = 0.0
    positive: bool = False

    def __str__(self) -> str:
        return f"{self.active} active, coefficients {'|N(0, 1)|' if self.positive else 'N(0, 1)'}"

    def draw(self, seed: int) -> tuple[Matrix, Vector]:
        """Predictors and outcomes of one seed."""
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
    """By setting: RMSE by seed, learner and span; and the a that was chosen."""

    errors: dict[Setting, Matrix]
    chosen: dict[Setting, Matrix]

    def of(self, setting: Setting, learner: str, span: str) -> Vector:
        """One number per seed."""
        return self.errors[setting][:, LEARNERS.index(learner), list(SPANS).index(span)]

    def mean(self, setting: Setting, learner: str, span: str = ALL) -> float:
        """The mean over seeds."""
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


def trial(setting: Setting, seed: int) -> tuple[Matrix, Vector]:
    """RMSE by learner and span, and a by learner, of one seed."""
    X, y = setting.draw(seed)
    makers: dict[str, Callable[[float], Playable]] = {
        OSLOG: sparse.OSLOG,
        FLOORED: lambda a: sparse.OSLOG(a, floor=FLOOR),
        AAR: gaussian.AAR,
        RIDGE: gaussian.Ridge,
    }
    chosen = {}
    for name, make in makers.items():
        values = GRID if name in (AAR, RIDGE) else SHORT
        trials = [make(a).replay(X[:TUNED], y[:TUNED]).loss.sum() for a in values]
        chosen[name] = float(values[int(np.argmin(trials))])
    losses = {name: make(chosen[name]).replay(X, y).loss for name, make in makers.items()}
    losses[SAFE] = SafeOSLOG(chosen[OSLOG], chosen[AAR]).replay(X, y).loss
    chosen[SAFE] = chosen[OSLOG]
    errors = [[np.sqrt(losses[k][s:].mean()) for s in SPANS.values()] for k in LEARNERS]
    return np.array(errors), np.array([chosen[k] for k in LEARNERS])


def results(seeds: int = SEEDS) -> Results:
    """Everything, on all cores."""
    settings = [Setting(k) for k in ACTIVE]
    settings += [replace(kind, m=m) for kind in KINDS for m in CORRELATIONS]
    cases = [(setting, seed) for setting in settings for seed in range(seeds)]
    alone = module("threadpoolctl", "the simulation").threadpool_limits
    with ProcessPoolExecutor(cpu_count(), initializer=alone, initargs=(1,)) as workers:
        found = list(workers.map(trial, *zip(*cases), chunksize=5))
    parts = [found[i : i + seeds] for i in range(0, len(found), seeds)]
    return Results(
        {s: np.array([errors for errors, _ in p]) for s, p in zip(settings, parts)},
        {s: np.array([chosen for _, chosen in p]) for s, p in zip(settings, parts)},
    )


def _lines(
    ax: Axes, found: Results, across: tuple[float, ...], settings: list[Setting], span: str
) -> None:
    """Mean and two standard errors either way, one line per learner."""
    for k, learner in enumerate(LEARNERS):
        values = np.array([found.of(setting, learner, span) for setting in settings])
        values -= float(span == LATE)  # the noise
        middle = values.mean(axis=1)
        error = 2.0 * values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
        ax.fill_between(across, middle - error, middle + error, color=f"C{k}", alpha=0.18, lw=0)
        style: dict[str, Any] = {
            "marker": "osD^v"[k],
            "markerfacecolor": "none",
            "markersize": 8 - k,
        }
        style |= {"linestyle": ("-", "--", ":", "-", "-")[k], "color": f"C{k}"}
        ax.plot(across, middle, label=learner, **style)
    if span == LATE:
        ticks = module("matplotlib.ticker", "figure 2")
        ax.set_yscale("log")
        ax.yaxis.set_major_locator(ticks.LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.yaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_minor_locator(ticks.NullLocator())
    else:
        ax.axhline(1.0, color="0.4", linestyle="-.", linewidth=1.0, zorder=0)
        ax.annotate("noise", (max(across), 1.0), (0, 4), textcoords="offset points", ha="right")
    ax.grid(visible=True, alpha=0.25)


def draw(found: Results, docs: Path) -> None:
    """Both plots, as SVG files."""
    mpl, plt = module("matplotlib", "figure 2"), module("matplotlib.pyplot", "figure 2")
    mpl.rcParams.update({"svg.hashsalt": "noregret", "font.size": 9})
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 4.0), layout="constrained")
    for ax, span in zip(axes, (ALL, LATE)):
        _lines(ax, found, ACTIVE, [Setting(k) for k in ACTIVE], span)
        ax.set(title=span.capitalize(), xlabel=f"active predictors, of {FEATURES}")
        ax.set_ylabel("RMSE" if span == ALL else "RMSE - 1")
    _save(figure, axes[0], docs / "oslog-sparsity.svg")
    plt.close(figure)

    figure, grid = plt.subplots(2, 3, figsize=(10.5, 6.6), layout="constrained", sharex=True)
    for row, span in zip(grid, (ALL, LATE)):
        for ax, kind in zip(row, KINDS):
            _lines(ax, found, CORRELATIONS, [replace(kind, m=m) for m in CORRELATIONS], span)
        row[0].set_ylabel(f"RMSE{' - 1' if span == LATE else ''}, {span}")
    for top, bottom, kind in zip(grid[0], grid[1], KINDS):
        top.set_title(str(kind))
        bottom.set(xlabel="m", xticks=CORRELATIONS)
    _save(figure, grid[0, 0], docs / "oslog-collinearity.svg")
    plt.close(figure)


def _save(figure: Figure, ax: Axes, path: Path) -> None:
    """A figure with the legend of one of its axes, as SVG."""
    handles = ax.get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=len(LEARNERS))
    figure.savefig(path, metadata={"Date": None})


def figure2(folder: Path, *, seeds: int = 3) -> list[Shown]:
    """The simulations: two plots in a folder, and the means behind them."""
    found = results(seeds)
    draw(found, folder)
    shown = []
    for title, head, settings in (
        ("Sparsity: RMSE", "active", {str(k): Setting(k) for k in ACTIVE}),
        *(
            (
                f"Multicollinearity: RMSE, {kind}",
                "m",
                {f"{m:g}": replace(kind, m=m) for m in CORRELATIONS},
            )
            for kind in KINDS
        ),
    ):
        rows = [
            [name, *(f"{found.mean(setting, learner):.2f}" for learner in LEARNERS)]
            for name, setting in settings.items()
        ]
        shown.append(Shown(title, [head, *LEARNERS], rows))
    said = (
        'The paper, in words only: "as the sparsity decreases, the RMSE increases for both AAR and '
        'OSLOG"; "as multicollinearity increases, RMSE also increases" for AAR, "no clear pattern" '
        "for OSLOG. The first is seen here; the second with coefficients of one sign only."
    )
    shown[-1].notes.append(said)
    shown[-1].notes.append(f"Means over {seeds} seeds, one step ahead, all rounds.")
    shown[-1].notes.append("Plots: oslog-sparsity.svg, oslog-collinearity.svg")
    return shown
