"""The page about a fleet: what is proved of all keys together, and the keys to look at first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from noregret.certificates import Certificate
from noregret.fleet.certified import Certificates
from noregret.report import words
from noregret.report.page import frame_of, section
from noregret.types import Integers, Vector

__all__ = ["fleet_page"]

SHOWN = 25  # keys in each table
HEAD = ("key", "rounds", "mean loss", "loss", "best in hindsight", "bound", "slack", "recent")
TABLES = (
    ("loss", "Most lost", "Keys by what their learners have paid: where to look first."),
    ("slack", "Closest to their bounds", "Keys by what their theorems would still have allowed."),
    (
        "drift",
        "Worse of late",
        "Keys by the mean loss of some 32 last rounds beside that of all: above 1, try a drift.",
    ),
)


def fleet_page(
    table: Certificates,
    recent: Vector,
    *,
    title: str,
    about: Mapping[str, str],
    covered: Certificates | None = None,
    said: Sequence[str] = (),
) -> str:
    """The page as one HTML text that needs no network.

    `recent` says of every key how its last rounds went, NaN if not known;
    `covered` are certificates of intervals, and `said` how often these covered, in words.
    """
    total = table.total()
    sections = {("proof", "In total"): _total(total)}
    orders = {
        "loss": np.argsort(-table.loss, kind="stable"),
        "slack": np.argsort(table.slack, kind="stable"),
        "drift": np.argsort(-np.where(np.isnan(recent), -1.0, recent), kind="stable"),
    }
    for key, head, lead in TABLES:
        body = _table(table, recent, orders[key][:SHOWN])
        sections[key, head] = section(key, head, lead, body)
    if covered is not None:
        sections["intervals", "Intervals"] = _covered(covered, said)
    run = f'<section id="run">{words.facts(about)}</section>'
    return frame_of(title, run, sections)


def _total(total: Certificate) -> str:
    lead = "Losses, comparators and bounds add over keys: each has a best expert of its own."
    return section("proof", "All keys together", lead, words.certificate(total, opened=True))


def _covered(covered: Certificates, said: Sequence[str]) -> str:
    """How often intervals covered, what is proved of it, and the keys where it was least."""
    share = 1.0 - covered.loss / np.maximum(covered.rounds, 1)
    rows = [
        f'<tr><th scope="row">{escape(str(covered.keys[i]))}</th>'
        f"<td>{int(covered.rounds[i]):,}</td><td>{100 * share[i]:.1f} %</td></tr>"
        for i in np.argsort(share, kind="stable")[:SHOWN].tolist()
    ]
    heads = "".join(f'<th scope="col">{name}</th>' for name in ("key", "rounds", "inside"))
    body = "".join(f"<p>{escape(words_)}.</p>" for words_ in said)
    body += words.certificate(covered.total(), opened=False)
    body += f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    lead = "How often outcomes were inside, and the keys where they were least often."
    return section("intervals", "Do intervals cover?", lead, body)


def _table(table: Certificates, recent: Vector, order: Integers) -> str:
    rows = []
    for i in order.tolist():
        rounds = int(table.rounds[i])
        numbers = (table.loss[i] / max(rounds, 1), table.loss[i], table.comparator[i])
        cells = [words.number(float(v)) for v in (*numbers, table.bound[i], table.slack[i])]
        cells.append("-" if np.isnan(recent[i]) else f"{recent[i]:.2f}")
        shown = "".join(f"<td>{escape(cell)}</td>" for cell in [f"{rounds:,}", *cells])
        rows.append(f'<tr><th scope="row">{escape(str(table.keys[i]))}</th>{shown}</tr>')
    head = "".join(f'<th scope="col">{name}</th>' for name in HEAD)
    body = f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return f'<div class="wide"><table>{body}</table></div>'
