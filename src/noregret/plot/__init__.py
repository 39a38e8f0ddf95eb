"""The plots of a report, with matplotlib, from Python: certificate, losses, forecasts and more.

Each takes a recording, made by `noregret.report.play`, and returns the axes; those that need no
more than a replay take that too.  Needs matplotlib (pip install 'noregret[plot]').

>>> import numpy as np
>>> import noregret as nr
>>> from matplotlib.figure import Figure
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(200, 2))
>>> y = X @ [1.0, -2.0] + 0.3 * rng.normal(size=200)
>>> run = nr.report.play(nr.BayesianRidge(noise_var=0.09), X, y)
>>> figure = Figure()
>>> top, below = figure.subplots(2)
>>> nr.plot.certificate(run, ax=top).get_title()
'BayesianRidge: Zhdanov-Vovk Theorem 2'
>>> nr.plot.forecasts(run, last=50, ax=below).get_ylabel()
'outcome'
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from noregret.declare.extras import module
from noregret.errors import InputError
from noregret.learner.replay import Replay
from noregret.report import paths
from noregret.running.calibration import LEVELS, Intervals, Reliability
from noregret.running.recording import LEVEL, Recording

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "calibration",
    "certificate",
    "coefficients",
    "forecasts",
    "leverage",
    "losses",
    "weights",
]


def _axes(ax: Axes | None, wanted_by: str) -> Axes:
    if ax is not None:
        return ax
    made: Axes = module("matplotlib.pyplot", f"plot.{wanted_by}").subplots()[1]
    return made


def _missing(run: object, what: str, remedy: str) -> InputError:
    name = getattr(run, "name", type(run).__name__)
    return InputError(f"{name} has no {what} to plot: {remedy}")


PLAY = "make a recording with noregret.report.play(learner, X, y)"


def certificate(
    run: Recording | Replay, *, name: str | None = None, ax: Axes | None = None
) -> Axes:
    """Both sides of a theorem over the rows: loss, best in hindsight, bound, slack shaded.

    name : which of the first four certificates; the main one by default.

    A replay knows the best in hindsight and the bound at its end only: horizontal lines.

    >>> import noregret as nr
    >>> from matplotlib.figure import Figure
    >>> run = nr.report.play(nr.AAR(), [[1.0], [1.0], [2.0]], [1.0, 1.0, 2.0])
    >>> ax = certificate(run, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['slack', 'best in hindsight', 'loss', 'bound']
    """
    if isinstance(run, Replay):
        return _at_the_end(run, _axes(ax, "certificate"))
    found = paths.sides(run)
    if not found:
        raise _missing(run, "certificate", "it needs two rounds and a learner with a theorem")
    one = next((each for each in found if name in (None, each.last.name)), None)
    if one is None:
        there = ", ".join(each.last.name for each in found)
        raise InputError(f"name = {name!r}: the certificates that can be drawn are {there}")
    ax = _axes(ax, "certificate")
    if np.isfinite(one.bound).any() and one.last.kind == "upper bound":
        ax.fill_between(one.rows, one.loss, one.bound, alpha=0.15, linewidth=0.0, label="slack")
    ax.plot(one.rows, one.best, ":", color="grey", label="best in hindsight")
    ax.plot(one.rows, one.loss, label="loss")
    if np.isfinite(one.bound).any():
        ax.plot(one.rows, one.bound, "--", color="black", linewidth=1.0, label=one.label)
    ax.set(xlabel="row", ylabel="cumulative loss", title=f"{run.name}: {one.last.name}")
    ax.legend()
    return ax


def _at_the_end(replay: Replay, ax: Axes) -> Axes:
    last = replay.certificate
    ax.plot(np.arange(1, len(replay) + 1), np.cumsum(replay.loss), label="loss paid")
    if np.isfinite(last.comparator):
        ax.axhline(last.comparator, linestyle=":", color="grey", label="best in hindsight")
    if last.bound is not None:
        ax.axhline(last.bound, linestyle="--", color="grey", label="bound")
    ax.set(xlabel="round", ylabel="cumulative loss", title=last.name)
    ax.legend()
    return ax


def losses(
    runs: Recording | Replay | Sequence[Recording], *, average: bool = False, ax: Axes | None = None
) -> Axes:
    """Cumulative loss of one learner or several; with `average`, the running average.

    Recordings are compared by square loss of their forecasts (binary outcomes: log loss); of a
    replay the loss is its own.

    >>> import noregret as nr
    >>> from matplotlib.figure import Figure
    >>> X, y = [[1.0], [1.0], [2.0]], [1.0, 1.0, 2.0]
    >>> runs = [nr.report.play(learner, X, y) for learner in (nr.AAR(), nr.Ridge())]
    >>> ax = losses(runs, average=True, ax=Figure().subplots())
    >>> [line.get_label() for line in ax.lines], ax.get_ylabel()
    (['AAR', 'Ridge'], 'average square loss')
    """
    if isinstance(runs, Replay):
        ax, rounds = _axes(ax, "losses"), np.arange(1, len(runs) + 1)
        paid = np.cumsum(runs.loss)
        ax.plot(rounds, paid / rounds if average else paid)
        ax.set(xlabel="round", ylabel="average loss" if average else "cumulative loss")
        return ax
    several = [runs] if isinstance(runs, Recording) else list(runs)
    if not several:
        raise InputError(f"runs is empty: {PLAY}")
    ax = _axes(ax, "losses")
    for run in several:
        ax.plot(*run.curves["average" if average else "loss"].points(), label=run.name)
    kind = "log loss" if several[0].binary else "square loss"
    ax.set(xlabel="row", ylabel=f"{'average' if average else 'cumulative'} {kind}")
    ax.legend()
    return ax


def forecasts(run: Recording, *, last: int | None = None, ax: Axes | None = None) -> Axes:
    """Outcomes and forecasts, with the central 90 % interval where the learner has one.

    last : only so many rows at the end, all of them (at most 500); else all rows, of which long
        runs show the least and the greatest values.

    >>> import noregret as nr
    >>> from matplotlib.figure import Figure
    >>> run = nr.report.play(nr.BayesianRidge(), [[1.0], [1.0], [2.0]], [1.0, 1.0, 2.0])
    >>> ax = forecasts(run, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['90% interval', 'outcome', 'forecast']
    """
    if last is not None and not (isinstance(last, int) and 0 < last <= run.tail.size):
        raise InputError(f"last = {last!r}: it must be a whole number from 1 to {run.tail.size}")
    ax = _axes(ax, "forecasts")
    label = f"{LEVEL:.0%} interval"
    if last is None:
        y, said = run.curves["y"].points(), run.curves["forecast"].points()
        at, low = run.curves["low"].ends(greatest=False)
        at_high, high = run.curves["high"].ends(greatest=True)
        if len(at):
            edge = np.concatenate([at, at_high[::-1]]), np.concatenate([low, high[::-1]])
            ax.fill(*edge, alpha=0.2, linewidth=0.0, label=label)
    else:
        rows, table = run.tail.rows()[-last:], run.tail.table()[-last:].T
        y, said = (rows, table[0]), (rows, table[1])
        if np.isfinite(table[2]).any():
            ax.fill_between(rows, table[2], table[3], alpha=0.2, linewidth=0.0, label=label)
    ax.plot(*y, ".", color="grey", markersize=3.0, label="outcome")
    ax.plot(*said, linewidth=1.0, label="forecast")
    ax.set(xlabel="row", ylabel="outcome", title=run.name)
    ax.legend()
    return ax


def calibration(run: Recording, *, ax: Axes | None = None) -> Axes:
    """The histogram of F(y), flat if the distributions mean what they say; binary: reliability.

    >>> import noregret as nr
    >>> from matplotlib.figure import Figure
    >>> run = nr.report.play(nr.BayesianRidge(), [[1.0], [1.0], [2.0]], [1.0, 1.0, 2.0])
    >>> calibration(run, ax=Figure().subplots()).get_title()
    'BayesianRidge: 100% of outcomes in the 90% interval'
    """
    counted = run.calibration
    if not counted.rounds:
        raise _missing(run, "distributions", "take a learner that has them, such as BayesianRidge")
    ax = _axes(ax, "calibration")
    if isinstance(counted, Reliability):
        said, came, _ = counted.curve()
        ax.plot([0.0, 1.0], [0.0, 1.0], ":", color="grey")
        ax.plot(said, came, "o-")
        ax.set(xlabel="forecast probability of 1", ylabel="share of outcomes 1", title=run.name)
        return ax
    assert isinstance(counted, Intervals)
    bins = len(counted.pit)
    edges = np.linspace(0.0, 1.0, bins + 1)
    ax.bar(edges[:-1], counted.pit / counted.rounds * bins, 1.0 / bins, align="edge", alpha=0.6)
    ax.axhspan(*counted.band(), color="grey", alpha=0.2)
    ax.axhline(1.0, linestyle=":", color="grey")
    share = counted.coverage()[LEVELS.index(LEVEL)]
    ax.set(
        xlabel="probability given to outcomes below the one that came",
        ylabel="share / expected share",
        title=f"{run.name}: {100.0 * share:.3g}% of outcomes in the {LEVEL:.0%} interval",
    )
    return ax


def coefficients(run: Recording, *, most: int = 10, ax: Axes | None = None) -> Axes:
    """The largest coefficients over the rows.

    >>> import noregret as nr
    >>> from matplotlib.figure import Figure
    >>> run = nr.report.play(nr.AAR(), [[1.0, 0.0], [1.0, 1.0], [2.0, 0.0]], [1.0, 1.0, 2.0])
    >>> [line.get_label() for line in coefficients(run, ax=Figure().subplots()).lines]
    ['feature 1', 'feature 2']
    """
    found = paths.coefficients(run, most)
    if found is None:
        raise _missing(run, "coefficients", "take a linear learner without kernel or budget")
    ax = _axes(ax, "coefficients")
    for name, values in zip(found.names, found.table.T):
        ax.plot(found.rows, values, label=name, linewidth=1.2)
    ax.set(xlabel="row", ylabel="coefficient", title=run.name)
    ax.legend(fontsize="small")
    return ax


def weights(run: Recording | Replay, *, most: int = 8, ax: Axes | None = None) -> Axes:
    """The weights of a pool's experts over the rows, as bands that add up to 1.

    >>> import noregret as nr
    >>> from matplotlib.figure import Figure
    >>> run = nr.report.play(nr.SafeOSLOG(), [[1.0], [1.0], [2.0]], [1.0, 1.0, 2.0])
    >>> ax = weights(run, ax=Figure().subplots())
    >>> sorted(text.get_text() for text in ax.get_legend().get_texts())
    ['AAR', 'OSLOG']
    """
    if isinstance(run, Replay):
        if not hasattr(run, "experts"):
            raise _missing(run, "weights of experts", "take the replay of a pool")
        drawn: Axes = run.plot_weights(_axes(ax, "weights"))  # type: ignore[attr-defined]  # a pool's
        return drawn
    found = paths.weights(run, most)
    if found is None:
        raise _missing(run, "weights of experts", "take a pool, such as Auto")
    ax = _axes(ax, "weights")
    table, names = found.table, found.names
    if found.others:
        rest = np.maximum(1.0 - table.sum(axis=1), 0.0)
        table, names = np.column_stack([table, rest]), [*names, f"{found.others} others"]
    ax.stackplot(found.rows, table.T, labels=names, linewidth=0.0)
    limits = (found.rows[0], found.rows[-1])
    ax.set(xlabel="row", ylabel="weight", ylim=(0, 1), xlim=limits, title=run.name)
    ax.legend(loc="upper left", fontsize="small")
    return ax


def leverage(run: Recording | Replay, *, ax: Axes | None = None) -> Axes:
    """How new every input was: 1 - 1/d, near 1 for an input unlike any before.

    >>> import noregret as nr
    >>> from matplotlib.figure import Figure
    >>> replay = nr.AAR().replay([[1.0], [1.0], [2.0]], [1.0, 1.0, 2.0])
    >>> leverage(replay, ax=Figure().subplots()).lines[0].get_ydata().round(3).tolist()
    [0.5, 0.333, 0.571]
    """
    if isinstance(run, Replay):
        if run.spread is None:
            raise _missing(run, "spread", "take a Gaussian learner, such as AAR")
        points = np.arange(1, len(run) + 1), 1.0 - 1.0 / run.spread
        ax = _axes(ax, "leverage")
        ax.plot(*points, linewidth=1.0)
    else:
        trace = run.curves["leverage"]
        if not len(trace):
            raise _missing(run, "spread", "take a Gaussian learner, such as AAR")
        ax = _axes(ax, "leverage")
        long = trace.width > 2
        ax.plot(*trace.points(), linewidth=0.8, alpha=0.4 if long else 1.0)
        if long:
            ax.plot(*trace.means(), color="C0", linewidth=1.2)
        ax.set_title(run.name)
    ax.set(xlabel="row", ylabel="1 - 1/d: how new", ylim=(0.0, None))
    return ax
