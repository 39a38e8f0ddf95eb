"""The top of the page: how good the forecast is, what comes next, what is proved, in words."""

from __future__ import annotations

import math
from html import escape

from noregret.running.baselines import Errors
from noregret.running.summary import Guarantee, Summary

__all__ = ["section"]

SHOWN = 12  # steps to come


def number(value: float) -> str:
    """Three digits, or all before the point."""
    if not math.isfinite(value):
        return "-" if value != value else ("\N{MINUS SIGN}" if value < 0 else "") + "\N{INFINITY}"
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.3g}"


def section(found: Summary) -> str:
    """The section, as HTML."""
    parts = [f'<p class="verdict">{escape(headline(found))}</p>']
    parts += [f'<p class="warn">{escape(words)}</p>' for words in found.warnings]
    parts.append(_errors(found))
    parts += [
        f"<p>{one.words}; \N{PLUS-MINUS SIGN}{number(one.half_width)} on average.</p>"
        for one in found.bands or filter(None, [found.intervals])
    ]
    parts.append(_coming(found))
    if found.guarantee is not None:
        parts.append(f"<p>{escape(proved(found.guarantee, binary=found.binary))}</p>")
    return f'<section id="verdict"><h2>Is it any good?</h2>{"".join(parts)}</section>'


def headline(found: Summary) -> str:
    """The verdict in a sentence."""
    best, skill = found.best, found.skill
    if best is None or skill != skill or not found.errors:
        return f"Too few rows to compare the forecast of {found.target} with naive ones."
    if found.binary:
        return _labelled(found, skill)
    rmse = number(found.errors[0].rmse)
    if skill > 0.0:
        return (
            f"The forecast of {found.target} is typically off by {rmse} (RMSE), "
            f"{100 * skill:.0f} % less than the best naive forecast, {best.name}."
        )
    return (
        f"A naive forecast is better: {best.name} is typically off by {number(best.rmse)} (RMSE), "
        f"this forecast of {found.target} by {rmse}."
    )


def _labelled(found: Summary, skill: float) -> str:
    """The verdict on probabilities."""
    ours, share = (number(one.log_loss) for one in found.errors[:2])
    if skill > 0.0:
        return (
            f"The probabilities of {found.target} have a log loss of {ours}, {100 * skill:.0f} % "
            f"less than the share so far ({share})."
        )
    return (
        f"The share so far is better: its log loss is {share}, that of these probabilities of "
        f"{found.target} {ours}."
    )


def _scores(found: Summary) -> str:
    """How good probabilities are, beside those of naive forecasts."""
    rows = [("this forecast", found.errors[0]), *((one.name, one) for one in found.errors[1:])]
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{_finite(one.log_loss)}</td>'
        f"<td>{number(one.rmse**2)}</td><td>{100 * one.right:.1f} %</td></tr>"
        for name, one in rows
    )
    area = ""
    if found.auc == found.auc:
        area = f"<p>AUC {found.auc:.3f}: the chance that a 1 was given more than a 0.</p>"
    return _table(("one step ahead", "log loss", "Brier", "right"), body) + area


def _finite(value: float) -> str:
    return number(value) if math.isfinite(value) else "-"


def _errors(found: Summary) -> str:
    if found.binary:
        return _scores(found)
    ahead = "one step ahead" if found.horizon == 1 else f"{found.horizon} steps ahead"
    rest = sorted(found.errors[1:], key=lambda one: (one.rmse != one.rmse, one.rmse))
    rows = [("this forecast", found.errors[0]), *((one.name, one) for one in rest)]
    body = "".join(_row(name, one) for name, one in rows)
    return _table((ahead, "RMSE", "MAE", found.stretch or "all rows"), body)


def _table(head: tuple[str, ...], body: str) -> str:
    names = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    return (
        f'<div class="wide plain"><table><thead><tr>{names}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _row(name: str, one: Errors) -> str:
    cells = "".join(f"<td>{number(value)}</td>" for value in (one.rmse, one.mae, one.last_rmse))
    return f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>'


def _coming(found: Summary) -> str:
    if not found.coming:
        return ""
    ends = any(one.low == one.low for one in found.coming)
    body = "".join(
        f'<tr><th scope="row">{escape(one.time)}</th><td>{number(one.forecast)}</td>'
        + f"<td>{number(one.low)}</td><td>{number(one.high)}</td>" * ends
        + "</tr>"
        for one in found.coming[:SHOWN]
    )
    said = f"chance of {found.positive}" if found.binary else "forecast"
    more = len(found.coming) - SHOWN
    note = (
        f'<p class="note">{more:,} more step{"s" * (more > 1)} in the output.</p>'
        if more > 0
        else ""
    )
    if held := found.coming[0].held:
        note += f'<p class="note">With {escape(", ".join(held))} as in the last row.</p>'
    return _table(("next", said, *(("from", "to") if ends else ())), body) + note


def proved(one: Guarantee, *, binary: bool) -> str:
    """The guarantee in a sentence."""
    what = "mean log loss" if binary else "RMSE"
    if one.holds is False:
        return f"The guarantee fails on this stream: {one.name}."
    if one.holds is None or one.bound != one.bound:
        return "Nothing is guaranteed: " + (one.assumed[0] if one.assumed else "no theorem applies")
    return (
        f"Beside {one.whom}, had you known it: {what} {number(one.actual)} against "
        f"{number(one.best)}. Guaranteed whatever the data: at most {number(one.bound)} "
        f"({one.name})."
    )
