"""From recordings to charts: which curves, under which names.  page.js draws them.

A chart has choices (a menu: one per learner, or per theorem), each with views (buttons), each with
series: line, band (between two lines), bars or dots.  What no learner has is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from noregret.report import paths
from noregret.report.series import HUES, Drawn, Points, band, bars, between, hue, line, view
from noregret.running.calibration import LEVELS, Intervals, Reliability
from noregret.running.covering import pit
from noregret.running.recording import NAIVE, Recording
from noregret.running.traces import Trace

__all__ = ["charts"]

FAR = 20.0  # a learner that lost so many times the least is drawn on request
LINES, BANDS = 10, 8  # coefficients and experts with a name of their own


def charts(runs: Sequence[Recording]) -> list[Drawn]:
    """All that these runs have to show, in the order of the page."""
    made = [forecasts(runs), losses(runs), *(certificate(run, k) for k, run in enumerate(runs))]
    made += [
        _each("intervals", runs, _intervals),  # how often they cover, how wide they are
        _each("calibration", runs, _calibrated),  # whether distributions mean what they say
        _each("coefficients", runs, _coefficient),  # the largest ones
        _each("weights", runs, _weight),  # those of a pool's experts, as bands that add up to 1
        _each("leverage", runs, _leverage),  # how new every input was: 1 - 1/d
    ]
    return [chart for chart in made if chart is not None]


def _chart(key: str, choices: list[Drawn], **more: object) -> Drawn | None:
    return {"key": key, "choices": choices, "start": 0} | more if choices else None


def _each(
    key: str, runs: Sequence[Recording], make: Callable[[Recording, int], Drawn | None]
) -> Drawn | None:
    """A chart with one choice per learner, of those that have one."""
    found = [(run, make(run, k)) for k, run in enumerate(runs)]
    choices = [{"label": run.name} | made for run, made in found if made is not None]
    return _chart(key, choices)


def thinned(trace: Trace) -> str:
    """What was left out, in words; nothing where nothing was."""
    if trace.width <= 2:  # both are drawn
        return ""
    return f"Of every {trace.width:,} rows the least and the greatest value are drawn."


# Losses ---------------------------------------------------------------------------------------


def losses(runs: Sequence[Recording]) -> Drawn | None:
    """Cumulative and running average loss of all learners."""
    kind = "log loss" if runs[0].binary else "square loss"
    least = min((run.paid for run in runs if run.rounds), default=0.0)
    views, far = [], []
    for label, key, unit in (
        ("cumulative", "loss", f"cumulative {kind}"),
        ("running average", "average", f"average {kind}"),
    ):
        series = []
        for k, run in enumerate(runs):
            if len(run.curves[key]):
                off = least > 0.0 and not run.paid <= FAR * least
                series.append(line(run.name, *run.curves[key].points(), **hue(k), off=off))
                far += [run.name] if off and key == "loss" else []
        if key == "loss" and not runs[0].binary:
            series += _naive(runs[0], least)
        views.append(view(label, series, unit, log=True, zero=key == "loss"))
    note = [thinned(runs[0].curves["loss"])]
    if far:
        note.append(f"More than {FAR:g} times the least, shown on a click: {', '.join(far)}.")
    choices: list[Drawn] = [{"label": "", "views": views, "note": " ".join(filter(None, note))}]
    return _chart("losses", choices) if views[0]["series"] else None


def _naive(run: Recording, least: float) -> list[Drawn]:
    """The naive forecasts of the same rows; one that is far off is drawn on request."""
    return [
        line(name, *run.curves[name].points(), "muted", dash=dash, off=lost > FAR * least > 0.0)
        for name, dash, lost in zip(NAIVE, ("dot", "long"), run.naive)
        if len(run.curves[name])
    ]


# Certificates ---------------------------------------------------------------------------------


def certificate(run: Recording, k: int) -> Drawn | None:
    """Loss, best in hindsight and bound of each theorem, at every checkpoint."""
    choices = [_sides(run, one, k) for one in paths.sides(run)]
    return _chart("certificate", choices, heading=run.name)


def _sides(run: Recording, one: paths.Sides, k: int) -> Drawn:
    last, views = one.last, []
    for label, base, unit in (
        ("loss", np.zeros(len(one.rows)), "cumulative loss"),
        ("regret", one.best, "above the best in hindsight"),
    ):
        drawn = [line("best in hindsight", one.rows, one.best - base, "muted", dash="dot")]
        drawn.append(line("loss", one.rows, one.loss - base, **hue(k)))
        if np.isfinite(one.bound).any():
            drawn.append(line(one.label, one.rows, one.bound - base, "ink", dash="long"))
            if last.kind == "upper bound":
                drawn.insert(0, between("slack", "bound", "loss", k % HUES, quiet=True))
        views.append(view(label, drawn, unit, log=label == "loss", zero=True))
    note = [f"Worked out every {run.every:,} rows."] if run.every > 1 else []
    if last.rounds > run.rounds:
        note.append(f"{last.rounds - run.rounds:,} rounds of earlier runs count too.")
    return {"label": last.name, "views": views, "note": " ".join(note)}


# Forecasts ------------------------------------------------------------------------------------


def forecasts(runs: Sequence[Recording]) -> Drawn | None:
    """Outcomes, forecasts and intervals: all rows, and the last ones in full."""
    chart = _each("forecasts", runs, _forecast)
    if chart is not None:
        shown = [[one["name"] for one in c["views"][-1]["series"]] for c in chart["choices"]]
        with_intervals = [len(names) > 2 for names in shown]
        chart["start"] = with_intervals.index(True) if any(with_intervals) else 0
    return chart


def _forecast(run: Recording, k: int) -> Drawn | None:
    curves = run.curves
    if not len(curves["forecast"]):
        return None
    interval = f"{100 * run.level:g} % interval"
    spread = len(curves["low"]) > 0
    dots = "always" if run.binary else "few"
    whole = _long(curves, k) if curves["forecast"].width > 2 else _all(curves, k, dots)
    if spread:
        sides = _reach(curves["high"], curves["low"])
        whole = [band(interval, *sides, k % HUES, quiet=curves["low"].width > 2), *whole]
    views = [view("all rows", whole, "outcome")]
    if run.rows > 2 * run.tail.size:
        rows, (y, forecast, low, high) = run.tail.rows(), run.tail.table().T
        last = [line("outcome", rows, y, "muted", dots=dots)]
        if spread:
            known = np.isfinite(low)
            sides = (rows[known], high[known]), (rows[known], low[known])
            last = [band(interval, *sides, k % HUES), *last]
        last.append(line("forecast", rows, forecast, k % HUES))
        views.append(view(f"the last {len(rows)}", last, "outcome"))
    width = curves["forecast"].width
    note = f"Drawn of every {width:,} rows: the least, the greatest and the mean."
    return {"views": views, "note": note if width > 2 else ""}


def _all(curves: dict[str, Trace], k: int, dots: str) -> list[Drawn]:
    """All of them; probabilities as dots, as they jump."""
    outcome = line("outcome", *curves["y"].points(), "muted", dots=dots)
    more = {"dots": dots} if dots == "always" else {}
    return [outcome, line("forecast", *curves["forecast"].points(), k % HUES, **more)]


def _long(curves: dict[str, Trace], k: int) -> list[Drawn]:
    """So many that lines would cover one another: from the least to the greatest, and means."""
    y, said = curves["y"], curves["forecast"]
    return [
        band("outcomes", *_reach(y, y), "muted"),
        band("forecasts", *_reach(said, said), k % HUES),
        line("mean outcome", *y.means(), "ink"),
        line("mean forecast", *said.means(), k % HUES),
    ]


def _reach(above: Trace, below: Trace) -> tuple[Points, Points]:
    return above.ends(greatest=True), below.ends(greatest=False)


# Intervals ------------------------------------------------------------------------------------


def _intervals(run: Recording, k: int) -> Drawn | None:
    """Coverage over time beside what chance allows, widths, and where outcomes fell."""
    share, width, p = run.curves["inside"], run.curves["width"], run.level
    if not len(share):
        return None
    rows, inside = share.points()
    off = 1.96 * np.sqrt(p * (1.0 - p) / np.maximum(np.arange(1, run.rows + 1)[rows - 1], 1))
    chance = band(
        "95 % by chance",
        (rows, np.minimum(p + off, 1.0)),
        (rows, np.maximum(p - off, 0.0)),
        "ink",
        quiet=True,
    )
    level = line("as asked", [1, run.rows], [p, p], "muted", dash="dot")
    least = max(0.0, min(float(inside[len(inside) // 20 :].min()), p) - 0.1)
    drawn = [chance, level, line("inside so far", rows, inside, k % HUES)]
    views = [view("coverage", drawn, "share of outcomes inside", range=[least, 1.0])]
    if len(width):
        wide = [line("width", *width.points(), k % HUES)]
        if width.width > 2:
            wide[0] |= {"faint": True, "name": "least and greatest"}
            wide.append(line(f"mean of {width.width:,} rows", *width.means(), k % HUES))
        views.append(view("width", wide, "width", log=True, zero=True))
    counted = [one for one in run.covering if one.outcomes]
    if counted:
        edges, heights = pit(counted)
        axis = {"x": "quantile as issued", "fixed": [0.0, 1.0]}
        shares = bars("share of outcomes", heights, k % HUES, edges)
        flat = line("as it should be", [0.0, 1.0], [1.0, 1.0], "muted", dash="dot")
        views.append(view("where outcomes fell", [shares, flat], "share / expected share", **axis))
    return {"views": views, "note": _covered(run)}


def _covered(run: Recording) -> str:
    one = run.drawn
    words = f"{100 * run.level:g} % intervals covered {100 * one.share:.1f} % of {one.outcomes:,}"
    return f"{words} outcomes. {thinned(run.curves['inside'])}".strip()


# Calibration ----------------------------------------------------------------------------------


def _calibrated(run: Recording, k: int) -> Drawn | None:
    counted = run.calibration
    if not counted.rounds:
        return None
    diagonal = line("as it should be", [0.0, 1.0], [0.0, 1.0], "muted", dash="dot")
    if isinstance(counted, Reliability):
        said, came, n = counted.curve()
        dots = line("share of 1", said, came, k % HUES, mark=True)
        how_many = bars("rounds", counted.count, "muted")
        axis = {"x": "forecast probability of 1", "fixed": [0.0, 1.0]}
        return {
            "views": [
                view("reliability", [diagonal, dots], "share of outcomes 1", **axis),
                view("how often", [how_many], "rounds", **axis),
            ],
            "note": f"{int(n.sum()):,} forecasts.",
        }
    assert isinstance(counted, Intervals)
    shares = counted.pit / counted.rounds * len(counted.pit)
    least, most = counted.band()
    chance = band(
        "95% by chance", ([0.0, 1.0], [most, most]), ([0.0, 1.0], [least, least]), "ink", quiet=True
    )
    ratio, heights = "share / expected share", bars("share of outcomes", shares, k % HUES)
    level = line("uniform", [0.0, 1.0], [1.0, 1.0], "muted", dash="dot")
    axis = {"x": "probability given to outcomes below the one that came", "fixed": [0.0, 1.0]}
    central = {"x": "central interval", "fixed": [0.0, 1.0]}
    covered = counted.coverage()
    inside = line("inside", LEVELS, covered, k % HUES, mark=True)
    words = ", ".join(f"{share:.1%} in the {p:.0%} interval" for p, share in zip(LEVELS, covered))
    return {
        "views": [
            view("histogram", [heights, chance, level], ratio, **axis, zero=True),
            view("coverage", [diagonal, inside], "share of outcomes inside", **central),
        ],
        "note": f"Of {counted.rounds:,} outcomes {words}.",
    }


# Coefficients, weights, leverage --------------------------------------------------------------


def _taken(run: Recording) -> list[str]:
    return [f"Looked at every {run.every:,} rows."] if run.every > 1 else []


def _coefficient(run: Recording, _: int) -> Drawn | None:
    found = paths.coefficients(run, LINES)
    if found is None:
        return None
    series = [
        line(name, found.rows, found.table[:, k], **hue(k)) for k, name in enumerate(found.names)
    ]
    more = [f"{found.others:,} that stayed smaller are not drawn."] if found.others else []
    views = [view("", series, "coefficient", zero=True)]
    return {"views": views, "note": " ".join([*_taken(run), *more])}


def _weight(run: Recording, _: int) -> Drawn | None:
    found = paths.weights(run, BANDS)
    if found is None:
        return None
    floor, series = np.zeros(len(found.rows)), []
    for k, name in enumerate(found.names):
        top = floor + found.table[:, k]
        series.append(band(name, (found.rows, top), (found.rows, floor), k % HUES, solid=True))
        floor = top
    if found.others:
        name, one = f"{found.others:,} others", np.maximum(floor, 1.0)
        series.append(band(name, (found.rows, one), (found.rows, floor), "muted", solid=True))
    views = [view("", series, "weight", range=[0.0, 1.0])]
    return {"views": views, "note": " ".join(_taken(run))}


def _leverage(run: Recording, k: int) -> Drawn | None:
    trace = run.curves["leverage"]
    if not len(trace):
        return None
    drawn = [line("1 - 1/d", *trace.points(), k % HUES)]
    if trace.width > 2:
        drawn[0] |= {"faint": True, "name": "least and greatest"}
        drawn.append(line(f"mean of {trace.width:,} rows", *trace.means(), k % HUES))
    return {"views": [view("", drawn, "1 - 1/d", log=True, zero=True)], "note": thinned(trace)}
