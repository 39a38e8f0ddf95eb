"""The parts of the page that are words and tables.  Whatever comes from data is escaped here."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from noregret.certificates import Certificate
from noregret.report.paths import compares
from noregret.running.recording import Recording

__all__ = ["certificate", "certificates", "facts", "summary"]

VERDICTS = {True: ("holds", "holds"), False: ("fails", "FAILS"), None: ("silent", "no claim")}


def number(value: float | None) -> str:
    """Six digits, or whole where it is large; - where there is no number."""
    if value is None or not math.isfinite(value):
        return "-"
    return f"{value:,.0f}" if 1e6 <= abs(value) < 1e12 else f"{value:,.6g}"


def facts(about: Mapping[str, str]) -> str:
    """What was run."""
    lines = [f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in about.items()]
    return f"<dl>{''.join(lines)}</dl>"


def summary(runs: Sequence[Recording]) -> str:
    """One line per learner, with its main certificate."""
    kind = "log loss" if runs[0].binary else "square loss"
    error = "Brier" if runs[0].binary else "RMSE"
    head = ("learner", error, kind, "theorem's loss", "best in hindsight", "bound", "slack")
    body = []
    for k, run in enumerate(runs):
        found, sides = run.certificates(), ["-"] * 4
        theorem, verdict = "nothing is proved", ""
        if found:
            main = found[0]
            theorem, verdict = main.name, badge(main)
            if compares(main):
                values = (main.loss, main.comparator, main.bound, main.slack)
                sides = [number(value) for value in values]
            if main.kind == "equality" and main.holds:
                sides[-1] = "equal"  # to rounding
        small = f"{theorem}, {run.rounds:,} round{'s' * (run.rounds != 1)}"
        row = [f'<th scope="row"><i class="key c{k % 8}"></i>{escape(run.name)} {verdict}']
        row.append(f"<small>{escape(small)}</small></th>")
        cells = [number(run.rmse**2 if run.binary else run.rmse), number(run.paid), *sides]
        row += [f"<td>{cell}</td>" for cell in cells]
        body.append(f"<tr>{''.join(row)}</tr>")
    names = "".join(f'<th scope="col">{name}</th>' for name in head)
    return (
        f'<div class="wide"><table><thead><tr>{names}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def badge(one: Certificate) -> str:
    """Whether it holds."""
    style, word = VERDICTS[one.holds]
    return f'<span class="badge {style}">{word}</span>'


def certificates(run: Recording) -> str:
    """All of a learner's, the main one open."""
    found = run.certificates()
    if not found:
        return f"<h3>{escape(run.name)}</h3><p>Nothing is proved of this learner.</p>"
    each = "".join(certificate(one, opened=not k) for k, one in enumerate(found))
    return f"<h3>{escape(run.name)}</h3>{each}"


def certificate(one: Certificate, *, opened: bool = False) -> str:
    """One theorem in words, its assumptions ticked."""
    ticks = "".join(
        f'<li class="{"met" if a.met else "broken"}">'
        f"<b>{'☑' if a.met else '☐'}</b> {escape(a.text)}{'' if a.met else ' (not met)'}</li>"
        for a in one.assumptions
    )
    nothing = "<p>It assumes nothing of x and y.</p>"
    if "f(x)" in one.statement or "_t|f_t|" in one.statement:
        nothing = "<p>It assumes nothing of the outcomes, and that k is a kernel.</p>"
    listed = f'<ul class="ticks">{ticks}</ul>' if ticks else nothing
    return (
        f"<details{' open' if opened else ''}><summary>{badge(one)} {escape(one.name)} "
        f'<span class="kind">{escape(one.kind)}</span></summary>'
        f'<p class="statement">{escape(one.statement)}</p><p>{said(one)}</p>{listed}</details>'
    )


def said(one: Certificate) -> str:
    """Both sides, as a sentence."""
    if not compares(one):
        return f"After {one.rounds:,} rounds: loss {number(one.loss)}. Nothing is claimed."
    begin = (
        f"After {one.rounds:,} rounds: loss {number(one.loss)}, "
        f"best in hindsight {number(one.comparator)}. "
    )
    bound, slack = number(one.bound), number(one.slack)
    if one.kind == "report":
        theirs = "" if one.bound is None else f" The formula gives {bound}."
        return f"{begin}A report of numbers, not a claim.{theirs}"
    if one.bound is None:
        return f"{begin}An assumption is not met, so nothing is claimed."
    if one.kind == "equality":
        verb = "equals" if one.holds else "should equal"
        return f"{begin}The loss {verb} {bound}, to rounding (difference {slack})."
    if one.holds:
        return f"{begin}The theorem allows {bound}; {slack} of that was not needed."
    return f"{begin}The theorem allows only {bound}: it is broken by {number(-(one.slack or 0.0))}."
