"""The page itself: one file, no network, what it is made of inside.

Charts are drawn by page.js from JSON in the page, as SVG: some 20 kB of script instead of the
megabyte of a plotting library, vectors that print, colours that follow the theme, and a test can
read what was drawn.  A content security policy lets nothing be loaded and only this script run.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from importlib import import_module
from importlib.resources import files
from pathlib import Path

from noregret.errors import InputError
from noregret.report import verdicts, words
from noregret.report.charts import charts
from noregret.report.series import Drawn
from noregret.running.recording import Recording
from noregret.running.summary import Summary

__all__ = ["frame_of", "page", "section", "write"]

CERTIFICATE = (
    "Each theorem as a picture: what was lost stays below the bound, whatever the data. "
    "Shaded: what the theorem would still have allowed."
)
LEVERAGE = (
    "1 - 1/d with d = 1 + x'A⁻¹x: near 1 for an input unlike any before, near 0 for one "
    "of a kind seen often. The bound grows by what is new."
)
SECTIONS = (
    ("forecasts", "Forecasts", "Each was made before its outcome was known. Drag to zoom."),
    (
        "losses",
        "Errors over time",
        "What was lost, row by row, beside naive forecasts: lower is better.",
    ),
    ("certificate", "Certificates", CERTIFICATE),
    (
        "intervals",
        "Intervals",
        "Do they cover as often as they say? Shaded: where chance alone would leave the share.",
    ),
    ("calibration", "Calibration", "Are as many outcomes inside each interval as promised?"),
    ("coefficients", "Coefficients", "The weight of every feature, as the learner learned."),
    ("weights", "Weights of experts", "Whom the pool trusted: the weights add up to 1."),
    ("leverage", "How new was this input", LEVERAGE),
)
RELIABLE = "Of the rows that were given 70 %, do 70 % have the outcome 1? Likewise for every share."
WORDS = "Both sides of every theorem with the numbers of these rows, and what it assumes."


def write(
    path: str | Path,
    runs: Sequence[Recording],
    *,
    title: str = "A run of noregret",
    about: Mapping[str, str] | None = None,
    verdict: Summary | None = None,
) -> None:
    """Write a report of one learner or several as one HTML file that needs no network.

    runs : recordings of the same rows, from `noregret.report.play`.
    title, about : the heading, and facts about the run for the top of the page.
    verdict : how good the forecast is, in numbers, which then comes first.

    Size: under 5 MB however long the run; curves keep their extremes.

    >>> import noregret as nr
    >>> from noregret import report
    >>> run = report.play(nr.AAR(), [[1.0], [1.0], [2.0]], [1.0, 1.0, 2.0])
    >>> report.write("/dev/null", [run], title="Three rounds")
    """
    text = page(runs, title=title, about=about, verdict=verdict)
    Path(path).write_bytes(text.encode("utf-8", "xmlcharrefreplace"))  # names of files may be odd


def page(
    runs: Sequence[Recording],
    *,
    title: str = "A run of noregret",
    about: Mapping[str, str] | None = None,
    verdict: Summary | None = None,
) -> str:
    """The report as text."""
    if not runs:
        raise InputError("runs is empty: give at least one recording")
    runs = sorted(runs, key=lambda run: run.paid if run.paid == run.paid else float("inf"))
    drawn = charts(runs)
    leads = {"calibration": RELIABLE} if runs[0].binary else {}
    sections = {
        (key, head): section(key, head, leads.get(key, lead), _figures(key, drawn))
        for key, head, lead in SECTIONS
    }
    proofs = "".join(map(words.certificates, runs))
    sections["proofs", "In words"] = section("proofs", "The certificates in words", WORDS, proofs)
    run = f'<section id="run">{words.facts(about or {})}{words.summary(runs)}</section>'
    top, below = (run, "") if verdict is None else (verdicts.section(verdict), run)
    return frame_of(title, top, sections, below, drawn, _clock(runs))


def frame_of(
    title: str,
    top: str,
    sections: Mapping[tuple[str, str], str],
    below: str = "",
    drawn: object = (),
    clock: object = None,
) -> str:
    """The whole page around its sections; `drawn` is what the script draws."""
    style, script = _own("page.css"), _own("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    release = escape(import_module("noregret").__version__)
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    links = "".join(
        f'<a href="#{key}">{escape(head)}</a>' for (key, head), made in sections.items() if made
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body>
<header>
<h1>{escape(title)}</h1>
<button id="theme" type="button" title="Light or dark">◐ <span>theme</span></button>
</header>
<nav>{links}</nav>
<main>
{top}
<noscript><p class="note">The charts are drawn by a script in this page, which is off. \
Tables and certificates are complete without it.</p></noscript>
{"".join(sections.values())}
{below}
</main>
<footer>Written by noregret {release} on {when}. This page is one file and loads \
nothing.</footer>
<script type="application/json" id="data">{_json(drawn)}</script>
<script type="application/json" id="clock">{_json(clock or {})}</script>
<script>{script}</script>
</body>
</html>
"""


def _clock(runs: Sequence[Recording]) -> Drawn:
    """Times of some rows, for dates on the axes; empty where rows have none."""
    line = runs[0].timeline
    return {"rows": line.rows, "at": line.at} if len(line.rows) > 1 else {}


def _figures(key: str, drawn: list[Drawn]) -> str:
    """Where the charts of a section go; empty if it has none."""
    here = [k for k, chart in enumerate(drawn) if chart["key"] == key]
    figures = "".join(f'<figure data-chart="{k}"></figure>' for k in here)
    many = " many" if len(here) > 1 else ""
    return f'<div class="figures{many}">{figures}</div>' if here else ""


def section(key: str, head: str, lead: str, body: str) -> str:
    """A heading, a sentence, what is below; nothing where there is nothing below."""
    top = f'<h2>{escape(head)}</h2><p class="lead">{escape(lead)}</p>'
    return f'<section id="{key}">{top}{body}</section>\n' if body else ""


def _own(name: str) -> str:
    return files("noregret.report").joinpath(name).read_text(encoding="utf-8")


def _json(value: object) -> str:
    """JSON that no tag can end: <, > and & are escapes, as are the two odd line ends."""
    text = json.dumps(value, allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
